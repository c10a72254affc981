/* SPDX-License-Identifier: Apache-2.0 */
/* Functions, revisions and namespaces of the plane, and its leading; see plane.h. */
#include "fn/control/plane_impl.h"

#include "base/log.h"
#include "base/sys.h"
#include "codec/json.h"

#include <errno.h>
#include <inttypes.h>

struct control_plane_function *plane_function(const struct plane *p, uint32_t number)
{
    return number < p->functions.n ? p->functions.p[number] : NULL;
}

static struct control_plane_revision *find_revision(const struct control_plane_function *f,
                                                    uint32_t number)
{
    for (uint32_t i = 0; i < f->n_revisions; i++)
        if (f->revisions[i]->number == number)
            return f->revisions[i];
    return NULL;
}

struct control_plane_revision *plane_revision_of(const struct plane *p, uint32_t function,
                                                 uint32_t revision)
{
    const struct control_plane_function *f = plane_function(p, function);
    return f ? find_revision(f, revision) : NULL;
}

void plane_changed(struct plane *p, struct control_plane_function *f)
{
    assert(p->functions.p[f->number] == f);
    if (f->dirty || f->dropped)
        return;
    f->dirty = true;
    vec_push(&p->changed, f->number);
    plane_send_later(p);
}

void plane_notify_change(struct control_plane_revision *rev)
{
    if (!rev->f->dropped)
        rev->p->opts.ops->on_change(rev->p->opts.arg, rev->f->number);
}

static void on_flush(struct defer *d)
{
    struct plane *p = container_of(d, struct plane, flush);
    plane_flush_workers(p);
    plane_flush_gateways(p);
}

void plane_send_later(struct plane *p)
{
    if (p->leads)
        defer_start(p->loop, &p->flush, on_flush);
}

/* ---------------------------------------------------------------- namespaces */

static struct plane_namespace *need_namespace(struct plane *p, struct str name)
{
    struct plane_namespace *ns = map_get(&p->namespaces, name);
    if (ns)
        return ns;
    ns = xnew(struct plane_namespace);
    ns->policy.sandboxes = UINT32_MAX;
    ns->policy.memory = UINT64_MAX;
    (void)map_put(&p->namespaces, name, ns);
    ns->name = map_find(&p->namespaces, name)->key;
    return ns;
}

static void tidy_namespace(struct plane *p, struct plane_namespace *ns)
{
    if (ns->functions || ns->sandboxes || ns->has_policy || ns->dirty)
        return;
    (void)map_del(&p->namespaces, ns->name);
    free(ns);
}

void plane_set_policy(struct plane *p, struct str name, const struct plane_policy *policy)
{
    struct plane_namespace *ns = need_namespace(p, name);
    free((void *)ns->policy.tokens);
    ns->policy = (struct plane_policy){ .sandboxes = UINT32_MAX, .memory = UINT64_MAX };
    ns->has_policy = policy != NULL;
    if (policy) {
        ns->policy = *policy;
        uint8_t(*tokens)[32] = xalloc_n(sizeof *tokens, policy->n_tokens + 1);
        for (size_t i = 0; i < policy->n_tokens; i++)
            memcpy(tokens[i], policy->tokens[i], sizeof tokens[i]);
        ns->policy.tokens = (const uint8_t(*)[32])tokens;
    }
    ns->dirty = true;
    p->policies_changed = true;
    plane_send_later(p);
    plane_retry_pending(p);
}

/* ---------------------------------------------------------------- configurations */

static const char *const runtime_labels[] = { [FN_WASM] = "runtime.dormouse.dev/wasm",
                                              [FN_OCI] = "runtime.dormouse.dev/oci",
                                              [FN_FAKE] = "runtime.dormouse.dev/fake" };

static int fill_selector(struct plane *p, struct arena *a, const struct fn_template *t,
                         struct plane_config *c, struct err *err)
{
    c->selector = arena_new_n(a, struct place_label, t->n_node_selector + 1);
    for (size_t i = 0; i <= t->n_node_selector; i++) {
        bool own = i == t->n_node_selector;
        int key = place_word(
            p->books, own ? str_of(runtime_labels[t->runtime]) : t->node_selector[i].name, err);
        int value = place_word(p->books, own ? STR("true") : t->node_selector[i].value, err);
        if (key < 0 || value < 0)
            return MIN(key, value);
        c->selector[i] = (struct place_label){ (uint32_t)key, (uint32_t)value };
    }
    c->n_selector = (uint32_t)t->n_node_selector + 1;
    return 0;
}

/* `t` of the revision, everything else as the function has it now. */
static int need_config(struct plane *p, const struct fn_spec *spec, const struct fn_template *t,
                       struct plane_config **ret, struct err *err)
{
    struct arena a = { 0 };
    struct plane_config c = { .runtime = t->runtime };
    struct buf key = BUF_INIT(64 << 10);
    scale_config_of(&c.scale, &spec->scale, spec->concurrency);
    c.need.at[PLACE_CPU_MILLI] = (int64_t)t->cpu_milli;
    c.need.at[PLACE_MEMORY_BYTES] = (int64_t)fn_reserved_memory(t);
    c.need.at[PLACE_SANDBOXES] = 1;
    c.grace_ms = (uint32_t)spec->grace_ms;
    c.drain_ms = (uint32_t)MAX(spec->request_ms, (uint64_t)PLANE_DRAIN_MS);
    int r = fill_selector(p, &a, t, &c, err);
    if (r >= 0) {
        buf_add(&key, &spec->scale, sizeof spec->scale);
        buf_printf(&key, "%u %" PRId64 " %" PRId64 " %u %u", spec->concurrency,
                   c.need.at[PLACE_CPU_MILLI], c.need.at[PLACE_MEMORY_BYTES], c.grace_ms,
                   c.drain_ms);
        buf_add(&key, c.selector, c.n_selector * sizeof *c.selector);
        struct plane_config *known = map_get(&p->configs, buf_str(&key));
        if (!known) {
            known = xnew(struct plane_config);
            *known = c;
            known->selector = xnew_n(struct place_label, c.n_selector);
            memcpy(known->selector, c.selector, c.n_selector * sizeof *c.selector);
            (void)map_put(&p->configs, buf_str(&key), known);
            known->key = map_find(&p->configs, buf_str(&key))->key;
        }
        known->refs++;
        *ret = known;
    }
    buf_fini(&key);
    arena_fini(&a);
    return r;
}

static void drop_config(struct plane *p, struct plane_config *c)
{
    if (!c || --c->refs)
        return;
    (void)map_del(&p->configs, c->key);
    free(c->selector);
    free(c);
}

/* ---------------------------------------------------------------- revisions */

static void free_revision(struct control_plane_revision *rev)
{
    plane_revision_rest(rev);
    plane_wake_revision(rev);
    scale_fini(&rev->scale);
    place_tally_fini(&rev->held);
    drop_config(rev->p, rev->config);
    plane_env_free(rev->env);
    free(rev->template);
    free(rev->reason);
    free(rev->message);
    free(rev);
}

static bool wants_env(const struct fn_template *t)
{
    for (size_t i = 0; i < t->n_env; i++)
        if (t->env[i].object.n)
            return true;
    return t->n_secrets > 0 || t->n_pull_secrets > 0;
}

/* New, or with the function's present settings. */
static int set_revision(struct plane *p, struct control_plane_function *f,
                        const struct plane_function *in, const struct plane_revision *r,
                        struct err *err)
{
    struct arena a = { .max_bytes = (size_t)FN_SPEC_MAX_BYTES * 16 };
    struct json *json;
    struct fn_template t;
    struct plane_config *config = NULL;
    struct control_plane_revision *rev = find_revision(f, r->number);
    int e = json_parse(&a, r->template, NULL, &json, err);
    if (e >= 0)
        e = fn_template_read(&a, json, &t, err);
    if (e >= 0)
        e = need_config(p, in->spec, &t, &config, err);
    if (e >= 0 && rev) {
        drop_config(p, rev->config);
        rev->config = config;
        if (r->is_ready && rev->readiness == PLANE_UNREADY)
            plane_revision_move(rev, PLANE_READY);
    } else if (e >= 0) {
        rev = xnew(struct control_plane_revision);
        *rev =
            (struct control_plane_revision){ .p = p,
                                             .f = f,
                                             .number = r->number,
                                             .template = str_dup(r->template),
                                             .template_n = (uint32_t)r->template.n,
                                             .config = config,
                                             .first = TABLE_NONE,
                                             .readiness = r->is_ready ? PLANE_READY : PLANE_UNREADY,
                                             .wants_env = wants_env(&t) };
        scale_init(&rev->scale);
        f->revisions = xrealloc(f->revisions, (f->n_revisions + 1) * sizeof(void *));
        f->revisions[f->n_revisions++] = rev;
        for (uint32_t i = f->n_revisions - 1; i > 0 && f->revisions[i - 1]->number > rev->number;
             i--) {
            f->revisions[i] = f->revisions[i - 1];
            f->revisions[i - 1] = rev;
        }
    }
    arena_fini(&a);
    return e;
}

/* The newest ready one; if none is ready, the newest. */
static uint32_t latest_ready(const struct control_plane_function *f)
{
    for (uint32_t i = f->n_revisions; i > 0; i--)
        if (f->revisions[i - 1]->readiness != PLANE_UNREADY &&
            f->revisions[i - 1]->number <= f->latest)
            return f->revisions[i - 1]->number;
    return f->latest;
}

static void set_reachable(struct control_plane_function *f, uint32_t number, bool *to)
{
    for (uint32_t i = 0; i < f->n_revisions; i++)
        to[i] |= f->revisions[i]->number == number;
}

/* Which revisions may get requests: those of the traffic rules, and a new one that is still coming
 * up. */
static void update_reachable(struct control_plane_function *f)
{
    bool *now = xnew_n(bool, f->n_revisions + 1);
    uint32_t n = f->n_revisions;
    if (find_revision(f, f->latest)->readiness == PLANE_UNREADY)
        set_reachable(f, f->latest, now);
    if (f->n_traffic == 0)
        set_reachable(f, f->latest_ready, now);
    for (uint32_t i = 0; i < f->n_traffic; i++)
        set_reachable(f, f->traffic[i] ? f->traffic[i] : f->latest_ready, now);
    for (uint32_t i = 0; i < n; i++) {
        struct control_plane_revision *rev = f->revisions[i];
        bool was = rev->reachable;
        rev->reachable = now[i];
        if (f->dropped || was == now[i])
            continue;
        if (now[i])
            plane_revision_begin(rev);
        else
            plane_revision_recount(rev);
    }
    free(now);
}

void plane_revision_move(struct control_plane_revision *rev, enum plane_readiness to)
{
    static const uint8_t edges[] = { [PLANE_UNREADY] = EDGE(PLANE_ASSUMED) | EDGE(PLANE_READY),
                                     [PLANE_ASSUMED] = EDGE(PLANE_UNREADY) | EDGE(PLANE_READY),
                                     [PLANE_READY] = EDGE(PLANE_UNREADY) | EDGE(PLANE_READY) };
    assert(edges[rev->readiness] & EDGE(to));
    rev->readiness = to;
}

void plane_update_ready(struct control_plane_function *f)
{
    struct plane *p = f->revisions[0]->p;
    if (f->dropped)
        return;
    uint32_t now = latest_ready(f);
    if (f->latest_ready != now)
        plane_changed(p, f);
    f->latest_ready = now;
    update_reachable(f);
}

/*
 * The revision before a latest one that has not been proven: it may get the traffic back. A proven
 * one, else the newest ready one.
 */
static const struct control_plane_revision *fallback_of(const struct control_plane_function *f)
{
    const struct control_plane_revision *latest = find_revision(f, f->latest), *best = NULL;
    if (f->dropped || !latest || latest->is_proven)
        return NULL;
    for (uint32_t i = 0; i < f->n_revisions; i++) {
        const struct control_plane_revision *rev = f->revisions[i];
        if (rev != latest && rev->readiness != PLANE_UNREADY &&
            (!best || rev->is_proven || !best->is_proven))
            best = rev;
    }
    return best;
}

void plane_tidy(struct plane *p, struct control_plane_function *f)
{
    uint32_t n = 0;
    const struct control_plane_revision *fallback = fallback_of(f); /* before the list is packed */
    for (uint32_t i = 0; i < f->n_revisions; i++) {
        struct control_plane_revision *rev = f->revisions[i];
        if (rev->reachable || (rev->number == f->latest && !f->dropped) ||
            rev->first != TABLE_NONE || rev == fallback) {
            f->revisions[n++] = rev;
            continue;
        }
        if (f->dropped)
            plane_notify_deleted(rev);
        plane_unlearn(p, f->number, rev->number, f->dropped);
        free_revision(rev);
    }
    f->n_revisions = n;
    if (!f->dropped || n)
        return;
    p->functions.p[f->number] = NULL;
    f->ns->functions--;
    tidy_namespace(p, f->ns);
    free(f->revisions);
    free(f->uid);
    free(f->traffic);
    free(f);
}

/* ---------------------------------------------------------------- functions */

static void set_texts(struct control_plane_function *f, const struct plane_function *in)
{
    size_t n = in->uid.n + 1 + in->name.n + 1 + in->spec_json.n + 1;
    char *block = xalloc(n);
    free(f->uid);
    f->uid = block;
    f->name = f->uid + in->uid.n + 1;
    f->spec = f->name + in->name.n + 1;
    f->spec_n = (uint32_t)in->spec_json.n;
    f->generation = in->generation;
    f->created_s = in->created_s;
    memcpy(f->uid, in->uid.p, in->uid.n);
    memcpy(f->name, in->name.p, in->name.n);
    memcpy(f->spec, in->spec_json.p, in->spec_json.n);
    free(f->traffic);
    f->n_traffic = (uint32_t)in->spec->n_traffic;
    f->traffic = f->n_traffic ? xnew_n(uint32_t, f->n_traffic) : NULL;
    for (uint32_t i = 0; i < f->n_traffic; i++)
        f->traffic[i] = in->spec->traffic[i].revision;
}

static struct control_plane_function *new_function(struct plane *p, const struct plane_function *in)
{
    struct control_plane_function *f = xnew(struct control_plane_function);
    if (p->functions.n == 0)
        vec_push(&p->functions, NULL);
    f->number = (uint32_t)p->functions.n;
    f->ns = need_namespace(p, in->namespace);
    f->ns->functions++;
    vec_push(&p->functions, f);
    (void)map_put(&p->by_uid, in->uid, f);
    p->n_functions++;
    return f;
}

int plane_set_function(struct plane *p, const struct plane_function *in, struct err *err)
{
    struct control_plane_function *f = map_get(&p->by_uid, in->uid);
    bool is_new = !f;
    if (!f && p->n_functions >= PLANE_FUNCTIONS_MAX)
        return err_set(err, E_LIMIT, "there are %d functions already", PLANE_FUNCTIONS_MAX);
    if (!f)
        f = new_function(p, in);
    uint32_t before = f->latest;
    int r = 0;
    for (size_t i = 0; i < in->n_revisions && r >= 0; i++)
        r = set_revision(p, f, in, &in->revisions[i], err);
    if (r < 0) {
        if (is_new) { /* it has no name yet and cannot be found */
            (void)map_del(&p->by_uid, in->uid);
            plane_drop_function(p, f->number);
        }
        return r;
    }
    set_texts(f, in);
    f->latest = in->revisions[in->n_revisions - 1].number;
    struct control_plane_revision *rev = find_revision(f, f->latest);
    if (rev->config->scale.initial == 0 && !rev->is_permanent)
        plane_revision_move(rev, PLANE_READY);
    else if (f->latest != before && latest_ready(f) == f->latest && rev->readiness == PLANE_UNREADY)
        plane_revision_move(rev, PLANE_ASSUMED); /* no other revision is ready */
    f->latest_ready = latest_ready(f);
    update_reachable(f);
    plane_tidy(p, f);
    for (uint32_t i = 0; i < f->n_revisions; i++) /* new scale settings apply immediately */
        if (f->revisions[i]->active || f->revisions[i]->first != TABLE_NONE)
            plane_revision_recount(f->revisions[i]);
    plane_changed(p, f);
    return (int)f->number;
}

void plane_drop_function(struct plane *p, uint32_t number)
{
    struct control_plane_function *f = plane_function(p, number);
    if (!f || f->dropped)
        return;
    if (f->uid)
        (void)map_del(&p->by_uid, str_of(f->uid));
    p->n_functions--;
    f->dropped = true;
    if (f->uid)
        vec_push(&p->gone, number);
    for (uint32_t i = 0; i < f->n_revisions; i++) {
        struct control_plane_revision *rev = f->revisions[i];
        rev->reachable = false;
        plane_revision_rest(rev);
        for (uint32_t slot = rev->first, next; slot != TABLE_NONE; slot = next) {
            next = p->table.at[slot].next;
            plane_sandbox_delete(p, slot);
        }
    }
    plane_tidy(p, f);
    plane_send_later(p);
}

void plane_set_env(struct plane *p, uint32_t function, uint32_t revision,
                   const struct plane_env *env, int r, const struct err *err)
{
    struct control_plane_revision *rev = plane_revision_of(p, function, revision);
    if (!rev || rev->f->dropped)
        return;
    if (rev->active)
        rev->active->waits_env = false;
    struct env *fresh = NULL;
    if (r >= 0)
        r = plane_env_new(env, &fresh);
    if (r >= 0) {
        bool is_new = !plane_env_equal(rev->env, fresh);
        if (is_new)
            plane_unlearn(p, function, revision, false);
        plane_env_free(rev->env);
        rev->env = fresh;
        if (is_new && rev->reason) { /* the failure was found without it */
            rev->env_at_ms = loop_now_ms(p->loop);
            plane_revision_try_again(rev);
            return;
        }
    } else if (!rev->env) {
        free(rev->reason);
        free(rev->message);
        rev->reason = xstrdup("EnvironmentUnavailable");
        rev->message = xstrdup(err ? err_text(err) : "");
        plane_notify_change(rev);
    }
    rev->env_at_ms = loop_now_ms(p->loop);
    plane_revision_env(rev);
}

void plane_try_again(struct plane *p, uint32_t number)
{
    struct control_plane_function *f = plane_function(p, number);
    struct control_plane_revision *rev = f && !f->dropped ? find_revision(f, f->latest) : NULL;
    if (!rev)
        return;
    plane_revision_try_again(rev);
    if (rev->readiness != PLANE_UNREADY || rev->config->scale.initial > 0)
        return;
    plane_revision_move(rev, PLANE_READY);
    plane_update_ready(f);
    plane_notify_change(rev);
}

bool plane_has_revision(const struct plane *p, uint32_t function, uint32_t revision)
{
    return plane_revision_of(p, function, revision) != NULL;
}

bool plane_view(const struct plane *p, uint32_t number, struct plane_view *ret)
{
    const struct control_plane_function *f = plane_function(p, number);
    if (!f || f->dropped)
        return false;
    *ret = (struct plane_view){ .latest = f->latest };
    /* While the latest is not ready, errors of older revisions say nothing about the spec. */
    const struct control_plane_revision *latest = find_revision(f, f->latest);
    bool is_up = latest && latest->readiness == PLANE_READY;
    for (uint32_t i = 0; i < f->n_revisions; i++) {
        const struct control_plane_revision *rev = f->revisions[i];
        ret->ready += rev->ready;
        ret->creating += rev->creating;
        ret->draining += rev->draining;
        if (rev->active) {
            ret->running += rev->active->running;
            ret->queued += rev->active->queued;
        }
        if (rev->number == f->latest_ready && rev->readiness == PLANE_READY)
            ret->latest_ready = rev->number;
        if (rev == latest && rev->creating > 0) {
            ret->is_compiling = rev->preparing == PLANE_COMPILING;
            ret->is_pulling = rev->preparing == PLANE_PULLING;
        }
        if (rev->reason && (rev == latest || (is_up && rev->reachable && !ret->reason))) {
            ret->reason = rev->reason;
            ret->message = rev->message;
            ret->is_permanent = rev->is_permanent;
        }
    }
    return true;
}

/* ---------------------------------------------------------------- leading */

bool plane_leads(const struct plane *p)
{
    return p->leads;
}

uint64_t plane_term(const struct plane *p)
{
    return p->term;
}

void plane_lead(struct plane *p, uint64_t term)
{
    if (p->leads && term == p->term)
        return;
    if (p->leads)
        plane_follow(p, "");
    p->leads = true;
    if (term != p->term) /* numbers are unique in a term, also if it is led again */
        p->next_sandbox = 1;
    p->term = term;
    p->version = 1;
    p->members_epoch++;
    sys_random(p->secret, sizeof p->secret);
    log_info("functions: leading", "name=%s term=%" PRIu64 " functions=%u", p->opts.name, term,
             p->n_functions);
    for (size_t i = 1; i < p->functions.n; i++) {
        struct control_plane_function *f = p->functions.p[i];
        for (uint32_t k = 0; f && k < f->n_revisions; k++)
            if (f->revisions[k]->reachable)
                plane_revision_begin(f->revisions[k]);
    }
    p->expects = false;
    plane_welcome_callers(p);
    plane_send_later(p);
}

void plane_expect(struct plane *p)
{
    if (p->leads)
        return;
    p->expects = true;
    free(p->leader);
    p->leader = xstrdup("");
}

static void forget_sandboxes(struct plane *p)
{
    for (size_t i = 1; i < p->functions.n; i++) {
        struct control_plane_function *f = p->functions.p[i];
        for (uint32_t k = 0; f && k < f->n_revisions; k++) {
            struct control_plane_revision *rev = f->revisions[k];
            plane_revision_rest(rev);
            plane_wake_revision(rev);
            scale_fini(&rev->scale);
            place_tally_fini(&rev->held);
            scale_init(&rev->scale);
            rev->first = TABLE_NONE;
            rev->ready = rev->creating = rev->draining = 0;
        }
        if (f) {
            f->dirty = false;
            plane_tidy(p, f);
        }
    }
    map_each (e, &p->namespaces) {
        struct plane_namespace *ns = e->value;
        ns->sandboxes = 0;
        ns->memory = 0;
    }
    table_fini(&p->table);
}

void plane_follow(struct plane *p, const char *leader)
{
    free(p->leader);
    p->leader = xstrdup(leader);
    if (!p->leads && leader[0]) {
        p->expects = false;
        plane_redirect_callers(p);
    }
    if (!p->leads)
        return;
    p->leads = false;
    log_info("functions: following", "name=%s term=%" PRIu64, p->opts.name, p->term);
    plane_end_callers(p);
    plane_end_gateways(p);
    plane_end_workers(p);
    forget_sandboxes(p);
    defer_cancel(&p->flush);
    defer_cancel(&p->retry_pending);
    timer_stop(p->loop, &p->drain_timer);
    timer_stop(p->loop, &p->lease_timer);
    p->adds.n = p->drains.n = p->removes.n = p->changed.n = p->gone.n = 0;
    p->failures.n = p->draining.n = p->dirty_workers.n = 0;
}

/* ---------------------------------------------------------------- new and free */

struct plane *plane_new(const struct plane_opts *opts)
{
    struct plane *p = xnew(struct plane);
    p->opts = *opts;
    p->loop = opts->loop;
    p->lease_ms = opts->lease_ms ? opts->lease_ms : PLANE_LEASE_MS;
    p->leader = xstrdup("");
    p->books = place_books_new();
    p->place = place_new(p->books, &opts->place);
    p->rng = rng_fork(opts->place.seed, 1, 0);
    list_init(&p->pending);
    list_init(&p->resting);
    list_init(&p->callers);
    table_init(&p->table);
    return p;
}

static void free_namespaces(struct plane *p)
{
    map_each (e, &p->namespaces) {
        struct plane_namespace *ns = e->value;
        free((void *)ns->policy.tokens);
        free(ns);
    }
    map_fini(&p->namespaces);
}

void plane_free(struct plane *p)
{
    if (!p)
        return;
    plane_follow(p, "");
    plane_end_callers(p);
    for (size_t i = 1; i < p->functions.n; i++)
        if (p->functions.p[i])
            plane_drop_function(p, (uint32_t)i);
    defer_cancel(&p->flush);
    defer_cancel(&p->retry_pending);
    vec_fini(&p->functions);
    map_fini(&p->by_uid);
    free_namespaces(p);
    map_fini(&p->configs);
    table_fini(&p->table);
    place_free(p->place);
    place_books_free(p->books);
    vec_fini(&p->workers);
    map_fini(&p->workers_by_name);
    vec_fini(&p->adds);
    vec_fini(&p->drains);
    vec_fini(&p->removes);
    vec_fini(&p->changed);
    vec_fini(&p->gone);
    vec_fini(&p->failures);
    vec_fini(&p->dirty_workers);
    vec_fini(&p->draining);
    free(p->leader);
    free(p);
}

/* ---------------------------------------------------------------- status */

void plane_count(const struct plane *p, struct plane_counts *ret)
{
    *ret = (struct plane_counts){ .functions = p->n_functions,
                                  .workers = p->n_workers,
                                  .gateways = p->n_gateways,
                                  .awake = p->n_awake,
                                  .created = p->created,
                                  .failed = p->failed,
                                  .died = p->died,
                                  .deleted = p->deleted,
                                  .orphans = p->orphans,
                                  .refused = p->refused,
                                  .endpoints_version = p->version };
    for (uint32_t i = 0; i < p->table.n; i++) {
        enum sandbox_state state = p->table.at[i].id ? p->table.at[i].state : SANDBOX_FREE;
        ret->creating += state == SANDBOX_CREATING;
        ret->ready += state == SANDBOX_READY;
        ret->draining += state == SANDBOX_DRAINING || state == SANDBOX_DELETING;
    }
}
