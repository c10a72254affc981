/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the control plane has sent: functions, the addresses of their sandboxes, the policies of
 * namespaces. It stays valid, and requests are served with it, while no control plane is connected.
 *
 * A new stream numbers all functions again. Functions are matched by namespace and name, sandboxes
 * by their ids, so running and waiting requests are not disturbed. What a welcome does not name is
 * removed after its last message.
 */
#include "fn/gateway/gateway_int.h"

#include <errno.h>

typedef Dormouse__Fn__V1__Function function_message;
typedef Dormouse__Fn__V1__Endpoint endpoint_message;

static struct str number_key(const uint32_t *n)
{
    return str_n(n, sizeof *n);
}

static struct str id_key(const uint64_t *id)
{
    return str_n(id, sizeof *id);
}

/* ---------------------------------------------------------------- specs */

static struct gateway_spec *spec_ref(struct gateway *g, struct str text)
{
    struct gateway_spec *s = map_get(&g->dir.specs, text);
    if (!s) {
        s = xnew(struct gateway_spec);
        (void)map_put(&g->dir.specs, text, s);
        s->text = map_find(&g->dir.specs, text)->key;
    }
    s->refs++;
    return s;
}

static void spec_forget(struct gateway_spec *s)
{
    list_remove(&s->node);
    arena_fini(&s->arena);
    s->parsed = NULL;
}

static void spec_unref(struct gateway *g, struct gateway_spec *s)
{
    if (!s)
        return;
    assert(s->refs > 0);
    if (--s->refs)
        return;
    assert(s->awake == 0);
    spec_forget(s);
    (void)map_del(&g->dir.specs, s->text);
    free(s);
}

static void on_trim(struct defer *d)
{
    struct gateway *g = container_of(d, struct gateway, dir.trim);
    list_each_safe (node, &g->dir.parsed) {
        struct gateway_spec *s = list_entry(node, struct gateway_spec, node);
        if (!s->awake)
            spec_forget(s);
    }
}

static const struct fn_spec *spec_read(struct gateway *g, struct gateway_spec *s)
{
    if (s->parsed || s->is_bad)
        return s->parsed;
    struct err err = { 0 };
    struct json *json;
    struct fn_spec *parsed = arena_new(&s->arena, struct fn_spec);
    const struct json_parse_opts opts = { 0 };
    int r = json_parse(&s->arena, s->text, &opts, &json, &err);
    if (r >= 0)
        r = fn_spec_read(&s->arena, json, parsed, &err);
    if (r < 0) {
        log_error("gateway: a function's spec cannot be read", "error=\"%s\"", err_text(&err));
        s->is_bad = true;
        arena_fini(&s->arena);
        return NULL;
    }
    s->parsed = parsed;
    list_push_back(&g->dir.parsed, &s->node);
    defer_start(g->loop, &g->dir.trim, on_trim);
    return parsed;
}

const struct fn_spec *gateway_function_spec(struct gateway *g, struct gateway_function *f)
{
    return spec_read(g, f->spec);
}

/* ---------------------------------------------------------------- functions */

struct gateway_function *directory_find(const struct gateway *g, struct str namespace,
                                        struct str name)
{
    char key[2 * FN_NAME_MAX + 1];
    if (namespace.n + name.n + 1 > sizeof key)
        return NULL;
    memcpy(key, namespace.p, namespace.n);
    key[namespace.n] = '/';
    memcpy(key + namespace.n + 1, name.p, name.n);
    return map_get(&g->dir.functions, str_n(key, namespace.n + name.n + 1));
}

struct gateway_function *directory_find_host(const struct gateway *g, struct str host)
{
    return g->dir.hosts.n ? map_get(&g->dir.hosts, host) : NULL;
}

/* The longest path of a spec that is the target's or a beginning of whole segments of it. */
struct gateway_function *directory_find_path(const struct gateway *g, struct str target)
{
    if (g->dir.paths.n == 0)
        return NULL;
    struct str path, query;
    (void)str_cut(target, '?', &path, &query);
    if (route_is_reserved(path))
        return NULL;
    /* A target of slashes alone would cost a lookup for each of them. */
    for (size_t n = MIN(path.n, g->dir.longest_path); n > 0; n--) {
        bool is_end = n == path.n || path.p[n] == '/';
        struct gateway_function *f = is_end ? map_get(&g->dir.paths, str_slice(path, 0, n)) : NULL;
        if (f)
            return f;
    }
    return NULL;
}

bool gateway_function_has(const struct gateway_function *f, uint32_t revision)
{
    for (size_t i = 0; i < f->n_revisions; i++)
        if (f->revisions[i] == revision)
            return true;
    return false;
}

static void forget_routes_in(struct map *m, const struct gateway_function *f)
{
    VEC(struct str) keys = { 0 };
    map_each (e, m)
        if (e->value == f)
            vec_push(&keys, str_n(str_dup(e->key), e->key.n));
    vec_each (key, &keys) {
        (void)map_del(m, *key);
        free((char *)key->p);
    }
    vec_fini(&keys);
}

static bool is_older(const struct gateway_function *a, const struct gateway_function *b)
{
    if (a->created_s != b->created_s)
        return a->created_s < b->created_s;
    return str_cmp(a->key, b->key) < 0;
}

/*
 * If two functions want a host or a path, the older one gets it, whatever the order in which they
 * become known.
 */
static void add_route(struct gateway *g, struct map *m, const char *what, struct str text,
                      struct gateway_function *f)
{
    struct gateway_function *other = map_get(m, text);
    if (other == f)
        return;
    bool is_mine = !other || is_older(f, other);
    if (other) {
        g->dir.has_rivals = true;
        log_warn("gateway: two functions want the same route",
                 "%s=" STR_FMT " first=" STR_FMT " ignored=" STR_FMT, what, STR_ARG(text),
                 STR_ARG((is_mine ? f : other)->key), STR_ARG((is_mine ? other : f)->key));
    }
    if (!is_mine)
        return;
    if (other) {
        assert(other->n_own_routes > 0);
        other->n_own_routes--;
    }
    (void)map_put(m, text, f);
    f->n_own_routes++;
}

static void leave_out_route(const char *what, struct str text, const struct gateway_function *f)
{
    log_warn("gateway: a spec may not claim this route", "%s=" STR_FMT " function=" STR_FMT, what,
             STR_ARG(text), STR_ARG(f->key));
}

static void add_routes(struct gateway *g, struct gateway_function *f)
{
    /* Most functions declare none, and most texts show it. */
    if (str_find(f->spec->text, STR("\"hosts\"")) < 0 &&
        str_find(f->spec->text, STR("\"paths\"")) < 0)
        return;
    const struct fn_spec *spec = gateway_function_spec(g, f);
    for (size_t i = 0; spec && i < spec->n_hosts; i++) {
        char clean[ROUTE_HOST_MAX + 1];
        struct str host = route_clean_host(spec->hosts[i], clean);
        if (route_is_below(host, str_of(g->domain)))
            leave_out_route("host", host, f); /* of the function that it names */
        else if (host.n)
            add_route(g, &g->dir.hosts, "host", host, f);
    }
    for (size_t i = 0; spec && i < spec->n_paths; i++) {
        struct str path = spec->paths[i];
        if (path.n > 1 && path.p[path.n - 1] == '/')
            path.n--;
        if (route_is_reserved(path))
            leave_out_route("path", path, f);
        else if (path.n && path.n <= ROUTE_PATH_MAX)
            add_route(g, &g->dir.paths, "path", path, f);
        g->dir.longest_path = MAX(g->dir.longest_path, MIN(path.n, (size_t)ROUTE_PATH_MAX));
    }
}

/* Another function may want a route that was released. */
static void on_rivals(struct defer *d)
{
    struct gateway *g = container_of(d, struct gateway, dir.rivals);
    g->dir.has_rivals = false; /* unless two meet again */
    map_each (e, &g->dir.functions)
        add_routes(g, e->value);
}

static void forget_routes(struct gateway *g, struct gateway_function *f)
{
    if (f->n_own_routes == 0)
        return;
    forget_routes_in(&g->dir.hosts, f);
    forget_routes_in(&g->dir.paths, f);
    f->n_own_routes = 0;
    if (g->dir.has_rivals)
        defer_start(g->loop, &g->dir.rivals, on_rivals);
}

static void notify_listeners(struct gateway *g, struct gateway_function *f, bool is_there)
{
    const struct fn_spec *spec =
        is_there && g->dir.listeners.n ? gateway_function_spec(g, f) : NULL;
    vec_each (l, &g->dir.listeners)
        l->fn(l->arg, function_namespace(f), function_name(f), spec);
}

static void failure_remove(struct gateway_function *f, uint32_t revision)
{
    for (struct gateway_failure **at = &f->failures; *at; at = &(*at)->next)
        if ((*at)->revision == revision) {
            struct gateway_failure *gone = *at;
            *at = gone->next;
            free(gone->reason);
            free(gone->message);
            free(gone);
            return;
        }
}

const struct gateway_failure *gateway_function_failure(const struct gateway_function *f,
                                                       uint32_t revision)
{
    for (const struct gateway_failure *x = f->failures; x; x = x->next)
        if (x->revision == revision)
            return x;
    return NULL;
}

static void pool_set_spec(struct gateway *g, struct gateway_pool *p, struct gateway_spec *s)
{
    if (p->spec == s)
        return;
    if (p->spec) {
        assert(p->spec->awake > 0);
        p->spec->awake--;
    }
    p->spec = s;
    if (s)
        s->awake++;
    defer_start(g->loop, &g->dir.trim, on_trim);
}

static void pool_configure(struct gateway *g, struct gateway_pool *p)
{
    pool_set_spec(g, p, p->fn->spec);
    const struct fn_spec *spec = gateway_function_spec(g, p->fn);
    if (!spec)
        return;
    balance_set(&p->balance, spec->balance, spec->concurrency, spec->scale.target);
    p->queue.max = spec->queue_max;
}

static void function_remove(struct gateway *g, struct gateway_function *f)
{
    assert(map_get(&g->dir.functions, f->key) == f);
    notify_listeners(g, f, false);
    forget_routes(g, f);
    if (f->number)
        (void)map_del(&g->dir.numbers, number_key(&f->number));
    for (struct gateway_pool *p = f->pools, *next; p; p = next) {
        next = p->next;
        p->fn = NULL;
        pool_set_spec(g, p, NULL);
        load_forget(g, p);
        p->n_calls++; /* not while it is looked at */
        gateway_pool_refuse_all(g, p);
        gateway_pool_unref(g, p);
    }
    while (f->failures)
        failure_remove(f, f->failures->revision);
    stats_free(f);
    free(f->revisions);
    spec_unref(g, f->spec);
    (void)map_del(&g->dir.functions, f->key);
    free(f);
}

static void set_revisions(struct gateway_function *f, const function_message *m)
{
    size_t n = MIN(m->n_revisions, 4 * (size_t)FN_REVISIONS_MAX);
    f->latest = m->latest;
    if (f->n_revisions != n) {
        free(f->revisions);
        f->revisions = n ? xnew_n(uint32_t, n) : NULL;
        f->n_revisions = (uint16_t)n;
    }
    uint32_t newest = 0;
    for (size_t i = 0; i < n; i++) {
        f->revisions[i] = m->revisions[i]->revision;
        newest = MAX(newest, f->revisions[i]);
    }
    if (!f->latest)
        f->latest = newest;
    stats_fold(f);
}

static struct gateway_function *function_add(struct gateway *g, const function_message *m)
{
    struct str namespace = str_of(m->namespace_), name = str_of(m->name);
    struct gateway_function *f = directory_find(g, namespace, name);
    if (f)
        return f;
    if (!route_is_label(namespace) || !route_is_label(name) ||
        g->dir.functions.n >= GATEWAY_FUNCTIONS_MAX) {
        log_error("gateway: function ignored", "namespace=%s name=%s functions=%zu", m->namespace_,
                  m->name, g->dir.functions.n);
        return NULL;
    }
    scoped(free_scoped) char *key = xasprintf("%s/%s", m->namespace_, m->name);
    f = xnew(struct gateway_function);
    (void)map_put(&g->dir.functions, str_of(key), f);
    f->key = map_find(&g->dir.functions, str_of(key))->key;
    f->namespace_n = (uint16_t) namespace.n;
    return f;
}

static void apply_function(struct gateway *g, const function_message *m)
{
    struct gateway_function *f = function_add(g, m);
    if (!f)
        return;
    if (f->number != m->function) {
        if (f->number)
            (void)map_del(&g->dir.numbers, number_key(&f->number));
        f->number = m->function;
        struct gateway_function *other = map_put(&g->dir.numbers, number_key(&f->number), f);
        if (other)
            other->number = 0;
    }
    f->is_confirmed = true;
    set_revisions(f, m);
    struct gateway_spec *former = f->spec;
    f->spec = spec_ref(g, str_n(m->spec.data, m->spec.len));
    bool is_changed = f->spec != former, is_another = f->created_s != m->created_s;
    f->created_s = m->created_s;
    if (is_changed || is_another) {
        forget_routes(g, f);
        add_routes(g, f);
    }
    if (is_changed) {
        for (struct gateway_pool *p = f->pools; p; p = p->next)
            pool_configure(g, p);
    }
    spec_unref(g, former);
    if (is_changed)
        notify_listeners(g, f, true);
    for (struct gateway_pool *p = f->pools, *next; p; p = next) {
        next = p->next;
        gateway_pool_hand_off(g, p); /* the limit may have grown */
    }
}

static struct gateway_function *by_number(const struct gateway *g, uint32_t number)
{
    return map_get(&g->dir.numbers, number_key(&number));
}

static void apply_failure(struct gateway *g, const Dormouse__Fn__V1__Failure *m)
{
    struct gateway_function *f = by_number(g, m->function);
    if (!f)
        return;
    failure_remove(f, m->revision);
    if (!m->reason[0])
        return;
    struct gateway_failure *x = xnew(struct gateway_failure);
    *x =
        (struct gateway_failure){ .next = f->failures,
                                  .revision = m->revision,
                                  .is_permanent = m->is_permanent,
                                  .reason = xstrndup(m->reason, MIN(strlen(m->reason), (size_t)64)),
                                  .message =
                                      xstrndup(m->message, MIN(strlen(m->message), (size_t)512)) };
    f->failures = x;
    if (!x->is_permanent)
        return;
    for (struct gateway_pool *p = f->pools; p; p = p->next)
        if (p->revision == m->revision && p->n_sandboxes == 0) {
            p->n_calls++;
            gateway_pool_fail_waiting(g, p, x);
            gateway_pool_unref(g, p);
            return;
        }
}

/* ---------------------------------------------------------------- pools */

struct gateway_pool *gateway_pool_get(struct gateway *g, struct gateway_function *f,
                                      uint32_t revision)
{
    for (struct gateway_pool *p = f->pools; p; p = p->next)
        if (p->revision == revision)
            return p;
    struct gateway_pool *p = xnew(struct gateway_pool);
    assert(f->spec && f->spec->refs > 0);
    p->fn = f;
    p->revision = revision;
    p->next = f->pools;
    f->pools = p;
    queue_init(&p->queue, FN_QUEUE_MAX_DEFAULT);
    balance_init(&p->balance, FN_FIRST_FREE, 1, 0, rng_next(&g->random));
    pool_configure(g, p);
    return p;
}

static void pool_drop_if_unused(struct gateway *g, struct gateway_pool *p)
{
    if (p->n_calls || p->n_sandboxes || list_is_linked(&p->active))
        return;
    assert(!p->running && !p->queued && !p->queue.n && !p->is_handing);
    assert(!list_is_linked(&p->urgent) && p->balance.places.n == 0);
    for (struct gateway_pool **at = p->fn ? &p->fn->pools : NULL; at && *at; at = &(*at)->next)
        if (*at == p) {
            *at = p->next;
            break;
        }
    pool_set_spec(g, p, NULL);
    balance_fini(&p->balance);
    free(p);
}

void gateway_pool_unref(struct gateway *g, struct gateway_pool *p)
{
    assert(p->n_calls > 0);
    p->n_calls--;
    pool_drop_if_unused(g, p);
}

void gateway_pool_rest(struct gateway *g, struct gateway_pool *p)
{
    pool_drop_if_unused(g, p);
}

/* ---------------------------------------------------------------- sandboxes */

static void sandbox_free(struct gateway *g, struct gateway_sandbox *s)
{
    struct gateway_pool *p = s->pool;
    assert(s->place.running == 0 && p->n_sandboxes > 0);
    balance_remove(&p->balance, &s->place);
    list_remove(&s->of_upstream);
    upstream_unref(s->upstream);
    (void)map_del(&g->dir.sandboxes, id_key(&s->id));
    free(s);
    p->n_sandboxes--;
    pool_drop_if_unused(g, p);
}

static void drained(struct gateway *g, uint64_t id)
{
    vec_push(&g->load.drained, id);
    load_report_soon(g);
}

/* It takes no new requests and is freed with the last one. */
static void sandbox_retire(struct gateway *g, struct gateway_sandbox *s)
{
    assert(map_get(&g->dir.sandboxes, id_key(&s->id)) == s);
    balance_remove(&s->pool->balance, &s->place);
    if (s->place.running)
        return;
    if (s->is_draining)
        drained(g, s->id);
    sandbox_free(g, s);
}

void gateway_sandbox_left(struct gateway *g, struct gateway_sandbox *s)
{
    balance_give(&s->pool->balance, &s->place);
    if (s->place.running)
        return;
    s->idle_us = gateway_now_us();
    if (s->is_draining || !(s->is_listed || s->is_doubted))
        sandbox_retire(g, s);
}

void gateway_sandbox_eject(struct gateway *g, struct gateway_sandbox *s)
{
    bool is_address = s->upstream && upstream_is_refusing(s->upstream);
    struct list *same = is_address ? upstream_sandboxes(s->upstream) : NULL;
    if (same) {
        list_each (node, same) {
            struct gateway_sandbox *other = list_entry(node, struct gateway_sandbox, of_upstream);
            if (other->is_ejected)
                continue;
            other->is_ejected = true;
            balance_remove(&other->pool->balance, &other->place);
            vec_push(&g->load.broken, other->id);
            g->stats.n_ejected++;
        }
    } else if (!s->is_ejected) {
        s->is_ejected = true;
        balance_remove(&s->pool->balance, &s->place);
        vec_push(&g->load.broken, s->id);
        g->stats.n_ejected++;
    }
    load_report_soon(g);
}

static int open_endpoint(struct gateway *g, struct gateway_sandbox *s, const struct fn_spec *spec,
                         const endpoint_message *m, struct err *err)
{
    bool is_here =
        m->by_worker && g->opts.local && g->local_worker && strcmp(m->worker, g->local_worker) == 0;
    if (is_here) {
        s->invoker = g->opts.local;
        return 0;
    }
    const struct upstream_opts o = { .address = m->address,
                                     .protocol = spec->t.protocol,
                                     .by_worker = m->by_worker };
    int r = upstream_ref(g, &o, &s->upstream, err);
    if (r < 0)
        return r;
    s->invoker = upstream_invoker(s->upstream);
    list_push_back(upstream_sandboxes(s->upstream), &s->of_upstream);
    return 0;
}

static void apply_add(struct gateway *g, const endpoint_message *m)
{
    struct gateway_sandbox *s = map_get(&g->dir.sandboxes, id_key(&m->sandbox));
    if (s) {
        bool was_out = !balance_has(&s->place);
        s->is_listed = true;
        s->is_draining = s->is_ejected = s->is_doubted = false;
        if (was_out)
            balance_add(&s->pool->balance, &s->place);
        gateway_pool_hand_off(g, s->pool);
        return;
    }
    struct gateway_function *f = by_number(g, m->function);
    const struct fn_spec *spec = f ? gateway_function_spec(g, f) : NULL;
    struct err err = { 0 };
    if (!spec || g->dir.sandboxes.n >= GATEWAY_SANDBOXES_MAX) {
        log_warn("gateway: sandbox ignored", "sandbox=%llu function=%u sandboxes=%zu",
                 (unsigned long long)m->sandbox, m->function, g->dir.sandboxes.n);
        return;
    }
    s = xnew(struct gateway_sandbox);
    *s = (struct gateway_sandbox){ .id = m->sandbox,
                                   .is_listed = true,
                                   .idle_us = gateway_now_us() };
    balance_place_init(&s->place);
    int r = open_endpoint(g, s, spec, m, &err);
    if (r < 0) {
        log_warn("gateway: sandbox ignored", "sandbox=%llu error=\"%s\"",
                 (unsigned long long)m->sandbox, err_text(&err));
        free(s);
        vec_push(&g->load.broken, m->sandbox);
        load_report_soon(g);
        return;
    }
    s->pool = gateway_pool_get(g, f, m->revision);
    assert(s->pool->fn == f);
    s->pool->n_sandboxes++;
    failure_remove(f, m->revision);
    (void)map_put(&g->dir.sandboxes, id_key(&s->id), s);
    balance_add(&s->pool->balance, &s->place);
    gateway_pool_hand_off(g, s->pool);
}

static void apply_drain(struct gateway *g, uint64_t id)
{
    struct gateway_sandbox *s = map_get(&g->dir.sandboxes, id_key(&id));
    if (!s) {
        drained(g, id);
        return;
    }
    s->is_draining = true;
    s->is_doubted = false;
    sandbox_retire(g, s);
}

static void apply_remove(struct gateway *g, uint64_t id)
{
    struct gateway_sandbox *s = map_get(&g->dir.sandboxes, id_key(&id));
    if (!s)
        return;
    s->is_listed = s->is_draining = s->is_doubted = false;
    balance_remove(&s->pool->balance, &s->place);
    if (s->place.running)
        calls_lose_sandbox(g, s); /* freed with the last of them */
    else
        sandbox_free(g, s);
}

static int apply_endpoints(struct gateway *g, const Dormouse__Fn__V1__EndpointUpdate *u,
                           struct err *err)
{
    if (!u->is_all && (!g->dir.has_endpoints || u->from_version != g->dir.endpoints_version))
        return err_set(err, E_CONFLICT, "endpoints change from version %llu, but are at %llu",
                       (unsigned long long)u->from_version,
                       (unsigned long long)g->dir.endpoints_version);
    if (u->is_all) {
        g->dir.is_all.endpoints = true;
        map_each (e, &g->dir.sandboxes)
            ((struct gateway_sandbox *)e->value)->is_listed = false;
    }
    g->dir.has_endpoints = true;
    g->dir.endpoints_version = u->version;
    for (size_t i = 0; i < u->n_adds; i++)
        apply_add(g, u->adds[i]);
    for (size_t i = 0; i < u->n_drains; i++)
        apply_drain(g, u->drains[i]);
    for (size_t i = 0; i < u->n_removes; i++)
        apply_remove(g, u->removes[i]);
    return 0;
}

/* ---------------------------------------------------------------- policies */

static void policy_free(struct gateway_policy *p)
{
    if (p)
        free(p->tokens);
    free(p);
}

struct gateway_policy *directory_policy(const struct gateway *g, struct str namespace)
{
    return g->dir.policies.n ? map_get(&g->dir.policies, namespace) : NULL;
}

static void apply_policy(struct gateway *g, const Dormouse__Fn__V1__Policy *m)
{
    struct str namespace = str_of(m->namespace_);
    if (m->is_gone) {
        policy_free(map_del(&g->dir.policies, namespace));
        return;
    }
    struct gateway_policy *p = map_get(&g->dir.policies, namespace);
    if (!p) {
        p = xnew(struct gateway_policy);
        (void)map_put(&g->dir.policies, namespace, p);
    }
    p->is_confirmed = true;
    p->require_token = m->require_token;
    p->per_second = m->requests_per_second;
    free(p->tokens);
    p->n_tokens = 0;
    p->tokens = m->n_token_sha256 ? xalloc_n(32, m->n_token_sha256) : NULL;
    for (size_t i = 0; i < m->n_token_sha256; i++)
        if (m->token_sha256[i].len == 32)
            memcpy(p->tokens[p->n_tokens++], m->token_sha256[i].data, 32);
}

/* ---------------------------------------------------------------- orders */

static void members_changed(struct gateway *g)
{
    g->dir.members_seen++;
    upstreams_follow_members(g);
    calls_reroute(g);
    if (g->on_members)
        g->on_members(g->on_members_arg);
}

static bool is_named(const Dormouse__Fn__V1__Members *m, const char *name)
{
    for (size_t i = 0; i < m->n_gateways; i++)
        if (strcmp(m->gateways[i]->name, name) == 0)
            return true;
    return false;
}

/* Former members that the new leader may not know yet; strings are given. */
static size_t take_doubted(struct gateway *g, const Dormouse__Fn__V1__Members *m,
                           struct gateway_member *ret)
{
    size_t n = 0;
    for (size_t i = 0; i < g->dir.members.n && timer_is_armed(&g->dir.doubt); i++) {
        struct gateway_member *at = &g->dir.members.at[i];
        if (i == g->dir.members.self || at->is_leaving || is_named(m, at->name))
            continue;
        ret[n++] =
            (struct gateway_member){ .name = xstrdup(at->name), .address = xstrdup(at->address) };
    }
    return n;
}

static void apply_members(struct gateway *g, const Dormouse__Fn__V1__Members *m)
{
    struct gateway_member doubted[MEMBERS_MAX];
    size_t n_doubted = take_doubted(g, m, doubted);
    members_begin(&g->dir.members, m->epoch, str_n(m->secret.data, m->secret.len));
    for (size_t i = 0; i < m->n_gateways; i++) {
        const Dormouse__Fn__V1__Member *at = m->gateways[i];
        if (!members_add(&g->dir.members, str_of(at->name), str_of(at->address),
                         strcmp(at->name, g->name) == 0, at->is_leaving))
            log_error("gateway: too many gateways", "ignored=%s", at->name);
    }
    for (size_t i = 0; i < n_doubted; i++) {
        if (members_add(&g->dir.members, str_of(doubted[i].name), str_of(doubted[i].address), false,
                        false))
            g->dir.members.at[g->dir.members.n - 1].is_doubted = true;
        free(doubted[i].name);
        free(doubted[i].address);
    }
    members_changed(g);
}

bool directory_owns(struct gateway *g, struct gateway_function *f, size_t *ret_member)
{
    const struct members *m = &g->dir.members;
    if (m->n == 0 || (m->n == 1 && m->self == 0))
        return true;
    if (f->owner_epoch != g->dir.members_seen) {
        size_t owner = members_owner(m, f->key, loop_now_ms(g->loop));
        f->owner_epoch = g->dir.members_seen;
        f->owner = owner == SIZE_MAX ? UINT16_MAX : (uint16_t)owner;
    }
    *ret_member = f->owner;
    assert(f->owner == UINT16_MAX || f->owner < m->n);
    return f->owner == UINT16_MAX || f->owner == m->self;
}

static void on_doubt_over(struct timer *t)
{
    struct gateway *g = container_of(t, struct gateway, dir.doubt);
    VEC(struct gateway_sandbox *) gone = { 0 };
    map_each (e, &g->dir.sandboxes) {
        struct gateway_sandbox *s = e->value;
        if (s->is_doubted)
            vec_push(&gone, s);
    }
    vec_each (s, &gone) {
        (*s)->is_doubted = false;
        sandbox_retire(g, *s);
    }
    vec_fini(&gone);
    if (members_drop_doubted(&g->dir.members))
        members_changed(g);
}

void directory_doubt(struct gateway *g)
{
    timer_start(g->loop, &g->dir.doubt, GATEWAY_DOUBT_MS, on_doubt_over);
}

/* After the last message of a welcome: what it has not named. */
static void sweep(struct gateway *g)
{
    if (g->dir.is_all.functions) {
        VEC(struct gateway_function *) gone = { 0 };
        map_each (e, &g->dir.functions) {
            struct gateway_function *f = e->value;
            if (!f->is_confirmed)
                vec_push(&gone, f);
        }
        vec_each (f, &gone)
            function_remove(g, *f);
        vec_fini(&gone);
    }
    if (g->dir.is_all.endpoints) {
        VEC(struct gateway_sandbox *) gone = { 0 };
        map_each (e, &g->dir.sandboxes) {
            struct gateway_sandbox *s = e->value;
            if (!s->is_listed)
                vec_push(&gone, s);
        }
        /*
         * A new leader may welcome this gateway before the workers have reported to it. So these
         * sandboxes stay in use for a while; one that is really gone refuses connections and is
         * ejected then.
         */
        vec_each (s, &gone) {
            (*s)->is_doubted = g->dir.is_new_leader;
            if (!g->dir.is_new_leader)
                sandbox_retire(g, *s); /* running requests may end normally */
        }
        g->dir.is_new_leader = false;
        vec_fini(&gone);
    }
    if (g->dir.is_all.policies) {
        VEC(char *) gone = { 0 };
        map_each (e, &g->dir.policies)
            if (!((struct gateway_policy *)e->value)->is_confirmed)
                vec_push(&gone, str_dup(e->key));
        vec_each (name, &gone) {
            policy_free(map_del(&g->dir.policies, str_of(*name)));
            free(*name);
        }
        vec_fini(&gone);
    }
    g->dir.is_all.functions = g->dir.is_all.endpoints = g->dir.is_all.policies = false;
}

static void begin_all(struct gateway *g, const Dormouse__Fn__V1__GatewayOrder *o)
{
    if (o->functions_are_all) {
        g->dir.is_all.functions = true;
        map_fini(&g->dir.numbers);
        map_each (e, &g->dir.functions) {
            struct gateway_function *f = e->value;
            f->number = 0;
            f->is_confirmed = false;
            while (f->failures)
                failure_remove(f, f->failures->revision);
        }
    }
    if (o->policies_are_all) {
        g->dir.is_all.policies = true;
        map_each (e, &g->dir.policies)
            ((struct gateway_policy *)e->value)->is_confirmed = false;
    }
}

int directory_apply(struct gateway *g, const Dormouse__Fn__V1__GatewayOrder *o, struct err *err)
{
    begin_all(g, o);
    for (size_t i = 0; i < o->n_functions; i++)
        apply_function(g, o->functions[i]);
    for (size_t i = 0; i < o->n_functions_gone; i++) {
        struct gateway_function *f = by_number(g, o->functions_gone[i]);
        if (f)
            function_remove(g, f);
    }
    int r = o->endpoints ? apply_endpoints(g, o->endpoints, err) : 0;
    if (r < 0)
        return r;
    for (size_t i = 0; i < o->n_failures; i++)
        apply_failure(g, o->failures[i]);
    for (size_t i = 0; i < o->n_policies; i++)
        apply_policy(g, o->policies[i]);
    if (o->members)
        apply_members(g, o->members);
    if (!o->more)
        sweep(g);
    return 0;
}

/* ---------------------------------------------------------------- init and fini */

void directory_init(struct gateway *g)
{
    list_init(&g->dir.parsed);
    g->dir.members.self = SIZE_MAX;
}

/* No call is left. */
void directory_fini(struct gateway *g)
{
    g->dir.listeners.n = 0;
    while (g->dir.sandboxes.n) {
        struct gateway_sandbox *s = map_next(&g->dir.sandboxes, NULL)->value;
        load_forget(g, s->pool);
        sandbox_free(g, s);
    }
    while (g->dir.functions.n)
        function_remove(g, map_next(&g->dir.functions, NULL)->value);
    map_each (e, &g->dir.policies)
        policy_free(e->value);
    members_fini(&g->dir.members);
    upstreams_follow_members(g);
    defer_cancel(&g->dir.trim);
    defer_cancel(&g->dir.rivals);
    timer_stop(g->loop, &g->dir.doubt);
    struct map *maps[] = {
        &g->dir.functions, &g->dir.numbers,   &g->dir.hosts,    &g->dir.paths,
        &g->dir.specs,     &g->dir.sandboxes, &g->dir.policies, &g->dir.upstreams
    };
    for (size_t i = 0; i < ARRAY_LEN(maps); i++)
        map_fini(maps[i]);
    vec_fini(&g->dir.listeners);
}
