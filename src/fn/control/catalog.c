/* SPDX-License-Identifier: Apache-2.0 */
/* Function objects and their revisions; see catalog.h. */
#include "fn/control/catalog_impl.h"

#include "base/log.h"
#include "kube/model/meta.h"

#include <errno.h>
#include <inttypes.h>

struct str catalog_key(char buf[ENTRY_KEY_MAX], struct str namespace, struct str name)
{
    int n = snprintf(buf, ENTRY_KEY_MAX, STR_FMT "/" STR_FMT, STR_ARG(namespace), STR_ARG(name));
    return str_n(buf, MIN((size_t)n, (size_t)ENTRY_KEY_MAX - 1));
}

/* ---------------------------------------------------------------- entries */

static struct catalog_entry *find_entry(const struct catalog *c, struct str namespace,
                                        struct str name)
{
    char key[ENTRY_KEY_MAX];
    return map_get(&c->entries, catalog_key(key, namespace, name));
}

static void set_names(struct catalog_entry *e, struct str namespace, struct str name,
                      struct str uid)
{
    char *block = xalloc(namespace.n + name.n + uid.n + 3);
    memcpy(block, namespace.p, namespace.n);
    memcpy(block + namespace.n + 1, name.p, name.n);
    if (uid.n)
        memcpy(block + namespace.n + name.n + 2, uid.p, uid.n);
    free(e->namespace);
    e->namespace = block;
    e->name = block + namespace.n + 1;
    e->uid = block + namespace.n + name.n + 2;
}

static struct catalog_entry *need_entry(struct catalog *c, struct str namespace, struct str name)
{
    char key[ENTRY_KEY_MAX];
    struct catalog_entry *e = find_entry(c, namespace, name);
    if (e)
        return e;
    e = xnew(struct catalog_entry);
    e->c = c;
    set_names(e, namespace, name, STR(""));
    (void)map_put(&c->entries, catalog_key(key, namespace, name), e);
    return e;
}

static void drop_revisions(struct catalog_entry *e)
{
    vec_each (r, &e->revisions)
        free(r->template);
    vec_fini(&e->revisions);
}

/* Counts are stored in the pointers: one number needs no struct. */
static void count(struct catalog *c, struct str namespace, intptr_t by)
{
    intptr_t n = (intptr_t)map_get(&c->counts, namespace) + by;
    if (n)
        (void)map_put(&c->counts, namespace, (void *)n);
    else
        (void)map_del(&c->counts, namespace);
}

void catalog_retry_refused(struct catalog *c, struct str namespace)
{
    bool any = false;
    map_each (at, &c->entries) {
        struct catalog_entry *e = at->value;
        if (e->reason && strcmp(e->reason, REASON_QUOTA) == 0 &&
            str_eq(str_of(e->namespace), namespace)) {
            e->generation = 0; /* as if it had never been looked at */
            any = true;
        }
    }
    if (any && c->functions && !c->closed)
        reflector_relist(c->functions);
}

/* Remove it from the plane; it has no object. */
static void forget_function(struct catalog_entry *e)
{
    struct catalog *c = e->c;
    if (e->number) {
        plane_drop_function(c->opts.plane, e->number);
        c->by_number.p[e->number] = NULL;
        count(c, str_of(e->namespace), -1);
        if (map_has(&c->rules, str_of(e->namespace))) /* another function may fit now */
            catalog_retry_refused(c, str_of(e->namespace));
    }
    if (e->write) {
        ask_cancel(take_ptr(&e->write));
        c->n_writes--;
    }
    list_remove(&e->dirty);
    catalog_end_search(e);
    free(take_ptr(&e->reason));
    free(take_ptr(&e->message));
    e->number = e->ready = 0;
    e->generation = e->status_hash = e->wanted_hash = e->other_hash = 0;
    e->uid[0] = '\0';
}

static void free_entry(struct catalog_entry *e)
{
    char key[ENTRY_KEY_MAX];
    forget_function(e);
    drop_revisions(e);
    (void)map_del(&e->c->entries, catalog_key(key, str_of(e->namespace), str_of(e->name)));
    free(e->namespace);
    free(e);
}

uint32_t catalog_find(const struct catalog *c, struct str namespace, struct str name)
{
    const struct catalog_entry *e = find_entry(c, namespace, name);
    return e ? e->number : 0;
}

bool catalog_may_add(const struct catalog *c, struct str namespace)
{
    const struct namespace_rule *rule = map_get(&c->rules, namespace);
    return !rule || (uintptr_t)map_get(&c->counts, namespace) < rule->functions;
}

/* ---------------------------------------------------------------- revisions */

static struct known_revision *find_revision(struct catalog_entry *e, uint32_t number)
{
    vec_each (r, &e->revisions)
        if (r->number == number)
            return r;
    return NULL;
}

static struct known_revision *newest(const struct catalog_entry *e)
{
    return e->revisions.n ? &e->revisions.p[e->revisions.n - 1] : NULL;
}

static void add_revision(struct catalog_entry *e, uint32_t number, struct str template,
                         bool is_written)
{
    struct known_revision *r = find_revision(e, number);
    if (r) { /* our own write, seen by the watch; or that of another leader */
        r->is_written |= is_written;
        if (is_written && !str_eq(str_of(r->template), template)) {
            free(r->template);
            r->template = str_dup(template);
        }
        return;
    }
    struct known_revision fresh = { number, is_written, str_dup(template) };
    vec_push(&e->revisions, fresh);
    for (size_t i = e->revisions.n - 1; i > 0 && e->revisions.p[i - 1].number > number; i--) {
        e->revisions.p[i] = e->revisions.p[i - 1];
        e->revisions.p[i - 1] = fresh;
    }
}

static void on_revision(void *arg, const struct json *object)
{
    struct catalog *c = arg;
    const struct json *spec = json_getc(object, "spec");
    struct str function = json_get_str(spec, "function");
    int64_t number = json_int_or(json_getc(spec, "revision"), 0);
    struct arena a = { 0 };
    struct buf template = BUF_INIT(FN_SPEC_MAX_BYTES);
    if (function.n == 0 || number <= 0 || number > UINT32_MAX || meta_is_deleting(object))
        return;
    const struct json *owner = json_first(json_path(object, "metadata", "ownerReferences", NULL));
    struct catalog_entry *e = need_entry(c, meta_namespace(object), function);
    if (e->uid[0] && !str_is(json_get_str(owner, "uid"), e->uid))
        goto out; /* of a Function of the same name that is no more */
    if (!e->uid[0])
        set_names(e, meta_namespace(object), function, json_get_str(owner, "uid"));
    fn_template_json(json_getc(spec, "template"), &template);
    add_revision(e, (uint32_t)number, buf_str(&template), true);
out:
    buf_fini(&template);
    arena_fini(&a);
}

/* NAME-00001 */
static void on_revision_deleted(void *arg, struct str namespace, struct str name)
{
    struct catalog *c = arg;
    size_t dash = name.n;
    uint64_t number;
    while (dash > 0 && name.p[dash - 1] != '-')
        dash--;
    struct catalog_entry *e = dash ? find_entry(c, namespace, str_slice(name, 0, dash - 1)) : NULL;
    if (!e || parse_u64(str_slice(name, dash, name.n), 1, UINT32_MAX, &number) < 0)
        return;
    for (size_t i = 0; i + 1 < e->revisions.n; i++)
        if (e->revisions.p[i].number == number) {
            free(e->revisions.p[i].template);
            vec_remove(&e->revisions, i);
            break;
        }
    if (!e->number && !e->generation && e->revisions.n == 0)
        free_entry(e);
}

/* ---------------------------------------------------------------- functions */

void catalog_set_trouble(struct catalog_entry *e, const char *reason, const char *message)
{
    free(take_ptr(&e->reason));
    free(take_ptr(&e->message));
    if (reason) {
        e->reason = xstrdup(reason);
        e->message = xstrdup(message);
    }
}

/* For gateways: without secrets, and without fields that only sandboxes need. */
static void write_public_spec(struct arena *a, const struct json *spec, struct buf *to)
{
    static const char *const left_out[] = { "env", "secrets", "args", "nodeSelector", "readiness" };
    struct json *copy = json_clone(a, spec);
    for (size_t i = 0; i < ARRAY_LEN(left_out); i++)
        (void)json_del(copy, str_of(left_out[i]));
    (void)json_write(to, copy);
}

static bool is_named(const struct fn_spec *spec, uint32_t revision)
{
    for (size_t i = 0; i < spec->n_traffic; i++)
        if (spec->traffic[i].revision == revision)
            return true;
    return false;
}

/* Traffic rules may only name what exists. */
static int check_traffic(struct catalog_entry *e, const struct fn_spec *spec, struct err *err)
{
    for (size_t i = 0; i < spec->n_traffic; i++)
        if (spec->traffic[i].revision && !find_revision(e, spec->traffic[i].revision))
            return err_set(err, E_INVALID, "spec.traffic[%zu].revision: there is no revision %u", i,
                           spec->traffic[i].revision);
    return 0;
}

static int set_function(struct catalog_entry *e, struct arena *a, const struct json *object,
                        const struct fn_spec *spec, struct err *err)
{
    struct catalog *c = e->c;
    scoped(buf_fini_scoped) struct buf public = BUF_INIT(FN_SPEC_MAX_BYTES * 2);
    struct plane_revision *revisions = arena_new_n(a, struct plane_revision, e->revisions.n);
    size_t n = 0;
    int r = check_traffic(e, spec, err);
    if (r < 0)
        return r;
    vec_each (k, &e->revisions)
        if (k == newest(e) || k->number == e->ready || is_named(spec, k->number))
            revisions[n++] = (struct plane_revision){ .number = k->number,
                                                      .template = str_of(k->template),
                                                      .is_ready = k->number <= e->ready };
    write_public_spec(a, json_getc(object, "spec"), &public);
    int64_t created_us = 0;
    (void)rfc3339_parse(json_get_str(json_getc(object, "metadata"), "creationTimestamp"),
                        &created_us);
    struct plane_function f = { .uid = str_of(e->uid),
                                .namespace = str_of(e->namespace),
                                .name = str_of(e->name),
                                .generation = e->generation,
                                .created_s = created_us / 1000000,
                                .spec = spec,
                                .spec_json = buf_str(&public),
                                .revisions = revisions,
                                .n_revisions = n };
    c->being_set = e;
    r = plane_set_function(c->opts.plane, &f, err);
    c->being_set = NULL;
    if (r < 0 || e->number)
        return r;
    e->number = (uint32_t)r;
    while (c->by_number.n <= e->number)
        vec_push(&c->by_number, NULL);
    c->by_number.p[e->number] = e;
    count(c, str_of(e->namespace), 1);
    return r;
}

static int apply(struct catalog_entry *e, struct arena *a, const struct json *object,
                 struct err *err)
{
    scoped(buf_fini_scoped) struct buf template = BUF_INIT(FN_SPEC_MAX_BYTES);
    const struct json *spec_json = json_getc(object, "spec");
    struct fn_spec spec;
    if (!e->number && !catalog_may_add(e->c, str_of(e->namespace)))
        return err_set(err, E_DENIED, "the namespace has as many functions as its quota allows");
    int r = fn_spec_read(a, spec_json, &spec, err);
    if (r < 0)
        return r;
    fn_template_json(spec_json, &template);
    if (!buf_ok(&template))
        return err_set(err, E_LIMIT, "the spec is larger than %d bytes", FN_SPEC_MAX_BYTES);
    const struct known_revision *last = newest(e);
    if (!last || !str_eq(str_of(last->template), buf_str(&template)))
        add_revision(e, last ? last->number + 1 : 1, buf_str(&template), false);
    r = set_function(e, a, object, &spec, err);
    if (r >= 0)
        catalog_look_for_module(e, &spec.t);
    return r;
}

/* What the last leader wrote of it. */
static void learn_status(struct catalog_entry *e, const struct json *object)
{
    const struct json *status = json_getc(object, "status");
    int64_t ready = json_int_or(json_getc(status, "readyRevision"), 0), us;
    uint64_t version;
    e->status_hash = catalog_status_hash(status);
    if (parse_u64(meta_resource_version(object), 0, UINT64_MAX, &version) >= 0)
        e->version = version;
    if (e->ready == 0 && ready > 0 && ready <= UINT32_MAX)
        e->ready = (uint32_t)ready;
    json_each (cond, json_getc(status, "conditions")) {
        if (!str_is(json_get_str(cond, "type"), "Ready"))
            continue;
        struct str is = json_get_str(cond, "status");
        e->was_ready = is.n ? is.p[0] : 0;
        if (rfc3339_parse(json_get_str(cond, "lastTransitionTime"), &us) >= 0)
            e->since_s = us / 1000000;
    }
}

/*
 * The status in the API differs from the computed one: another client wrote it, or our own write is
 * seen after a change back. Write it once more, and not again if that does not help.
 */
static void replace_status(struct catalog_entry *e)
{
    bool is_other = e->wanted_hash && e->status_hash != e->wanted_hash;
    bool is_tried = is_other && e->status_hash == e->other_hash;
    e->other_hash = is_other ? e->status_hash : 0;
    if (is_other && !is_tried)
        catalog_entry_touch(e);
}

static void on_function(void *arg, const struct json *object)
{
    struct catalog *c = arg;
    struct arena a = { .max_bytes = (size_t)FN_SPEC_MAX_BYTES * 32 };
    struct err err = { 0 };
    struct str uid = meta_uid(object);
    struct catalog_entry *e = need_entry(c, meta_namespace(object), meta_name(object));
    uint64_t generation =
        (uint64_t)json_int_or(json_path(object, "metadata", "generation", NULL), 1);
    e->seen = true;
    if (e->uid[0] && !str_is(uid, e->uid)) { /* another one of this name */
        forget_function(e);
        drop_revisions(e);
    }
    if (!e->uid[0])
        set_names(e, meta_namespace(object), meta_name(object), uid);
    learn_status(e, object);
    if (e->generation == generation) {
        replace_status(e);
        arena_fini(&a);
        return;
    }
    e->generation = generation;
    c->news_ms = loop_now_ms(c->opts.loop);
    catalog_set_trouble(e, NULL, NULL);
    int r = apply(e, &a, object, &err);
    if (r < 0)
        catalog_set_trouble(e,
                            r == E_DENIED  ? REASON_QUOTA
                            : r == E_LIMIT ? "LimitReached"
                                           : "InvalidSpec",
                            err_text(&err));
    if (e->number)
        catalog_on_change(c, e->number);
    else
        catalog_entry_touch(e);
    arena_fini(&a);
}

static void on_function_deleted(void *arg, struct str namespace, struct str name)
{
    struct catalog_entry *e = find_entry(arg, namespace, name);
    if (e)
        free_entry(e);
}

/* ---------------------------------------------------------------- lists */

static void on_list_begin(void *arg)
{
    struct catalog *c = arg;
    map_each (e, &c->entries)
        ((struct catalog_entry *)e->value)->seen = false;
}

static void on_list_end(void *arg, uint64_t rv)
{
    struct catalog *c = arg;
    VEC(struct catalog_entry *) gone = { 0 };
    map_each (e, &c->entries)
        if (!((struct catalog_entry *)e->value)->seen)
            vec_push(&gone, (struct catalog_entry *)e->value);
    vec_each (e, &gone)
        free_entry(*e);
    vec_fini(&gone);
}

static void ignore_list_begin(void *arg)
{
}

static void ignore_list_end(void *arg, uint64_t rv)
{
}

static void ignore_watching(void *arg)
{
}

static void ignore_progress(void *arg, uint64_t rv)
{
}

static void on_trouble(void *arg, int status, const struct err *err)
{
    static struct log_rate rate;
    uint64_t skipped;
    if (log_rate_ok(&rate, 10000, &skipped))
        log_warn("functions cannot be watched", "status=%d reason=\"%s\"", status, err_text(err));
}

void catalog_check_synced(struct catalog *c)
{
    if (c->synced || !c->functions_synced || !c->policies_synced)
        return;
    map_each (e, &c->rules)
        if (((struct namespace_rule *)e->value)->read)
            return;
    c->synced = true;
    c->opts.on_synced(c->opts.arg);
}

static void on_functions_synced(void *arg)
{
    struct catalog *c = arg;
    c->functions_synced = true;
    catalog_check_synced(c);
}

static const struct reflector_ops function_ops = { .on_object = on_function,
                                                   .on_deleted = on_function_deleted,
                                                   .on_synced = on_functions_synced,
                                                   .on_list_begin = on_list_begin,
                                                   .on_list_end = on_list_end,
                                                   .on_watching = ignore_watching,
                                                   .on_progress = ignore_progress,
                                                   .on_trouble = on_trouble };

static int follow(struct catalog *c, const char *plural, const struct reflector_ops *ops,
                  struct reflector **ret, struct err *err)
{
    struct reflector_opts opts = {
        .loop = c->opts.loop,
        .transport = c->opts.transport,
        .hub = c->opts.hub,
        .identity = c->opts.identity,
        .key = { .group_version = STR(FN_GROUP_VERSION),
                 .plural = str_of(plural),
                 .namespace = str_of(c->opts.namespace ? c->opts.namespace : "") },
        .ops = ops,
        .arg = c,
    };
    return reflector_start(&opts, ret, err);
}

static void on_revisions_synced(void *arg)
{
    struct catalog *c = arg;
    struct err err = { 0 };
    if (follow(c, "functions", &function_ops, &c->functions, &err) < 0)
        log_error("functions cannot be watched", "reason=\"%s\"", err_text(&err));
}

static const struct reflector_ops revision_ops = { .on_object = on_revision,
                                                   .on_deleted = on_revision_deleted,
                                                   .on_synced = on_revisions_synced,
                                                   .on_list_begin = ignore_list_begin,
                                                   .on_list_end = ignore_list_end,
                                                   .on_watching = ignore_watching,
                                                   .on_progress = ignore_progress,
                                                   .on_trouble = on_trouble };

/* ---------------------------------------------------------------- public */

void catalog_on_change(struct catalog *c, uint32_t function)
{
    struct catalog_entry *e = function < c->by_number.n ? c->by_number.p[function] : NULL;
    struct plane_view v;
    if (!e || !plane_view(c->opts.plane, function, &v))
        return;
    e->ready = v.latest_ready;
    catalog_entry_touch(e);
}

void catalog_set_leads(struct catalog *c, bool leads)
{
    c->leads = leads;
    if (!leads)
        return;
    map_each (e, &c->entries)
        if (((struct catalog_entry *)e->value)->generation)
            catalog_entry_touch(e->value);
}

void catalog_set_url(struct catalog *c, const char *url)
{
    c->opts.url = url;
    catalog_set_leads(c, c->leads);
}

bool catalog_is_synced(const struct catalog *c)
{
    return c->synced;
}

int catalog_start(const struct catalog_opts *opts, struct catalog **ret, struct err *err)
{
    struct catalog *c = xnew(struct catalog);
    c->opts = *opts;
    list_init(&c->dirty);
    list_init(&c->resolves);
    list_init(&c->persists);
    list_init(&c->missing_files);
    int r = follow(c, "functionrevisions", &revision_ops, &c->revisions, err);
    if (r >= 0)
        r = catalog_follow_policies(c, err);
    if (r < 0) {
        catalog_close(c);
        return r;
    }
    *ret = c;
    return 0;
}

void catalog_close(struct catalog *c)
{
    struct catalog_entry *e;
    struct map_entry *first;
    if (!c)
        return;
    c->closed = true;
    if (c->functions)
        reflector_close(c->functions);
    if (c->revisions)
        reflector_close(c->revisions);
    timer_stop(c->opts.loop, &c->write_timer);
    catalog_close_env(c);
    catalog_stop_searching(c);
    catalog_end_persists(c);
    while ((first = map_next(&c->entries, NULL))) {
        e = first->value;
        free_entry(e);
    }
    map_fini(&c->entries);
    map_fini(&c->counts);
    vec_fini(&c->by_number);
    free(c);
}
