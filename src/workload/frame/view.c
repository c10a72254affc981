/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/frame/view.h"

#include "base/log.h"
#include "kube/model/meta.h"

#include <assert.h>

/* ---------------------------------------------------------------- reading */

static char *key_of(struct str namespace, struct str name)
{
    return xasprintf(STR_FMT "/" STR_FMT, STR_ARG(namespace), STR_ARG(name));
}

static const struct json *controller_ref(const struct json *object)
{
    json_each (ref, json_path(object, "metadata", "ownerReferences", NULL))
        if (json_bool(json_getc(ref, "controller")))
            return ref;
    return NULL;
}

struct selector workload_selector_of(struct arena *a, enum workload_selector how,
                                     const struct json *object)
{
    struct selector s = { .nothing = true };
    const struct json *v = json_path(object, "spec", "selector", NULL);
    if (how == WORKLOAD_MAP_SELECTOR && json_first(v)) {
        struct json *whole = json_new_object(a);
        json_setc(a, whole, "matchLabels", json_copy(a, v));
        v = whole;
    }
    if (how == WORKLOAD_NO_SELECTOR || !json_first(v) || selector_from_object(a, v, &s, NULL) < 0 ||
        s.n == 0)
        s = (struct selector){ .nothing = true };
    return s;
}

/* Given; NULL: it selects nothing. */
static char *read_selector(enum workload_selector how, const struct json *object)
{
    struct arena a = { 0 };
    char *text = NULL;
    struct selector s = workload_selector_of(&a, how, object);
    if (!s.nothing) {
        struct str found = selector_text(&a, &s);
        text = found.n <= WORKLOAD_SELECTOR_MAX_BYTES ? str_dup(found) : NULL;
    }
    arena_fini(&a);
    return text;
}

static struct intern *read_labels(struct workload_view *v, const struct json *object)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    const struct json *labels = json_path(object, "metadata", "labels", NULL);
    if (!json_first(labels) || json_write(&text, labels) < 0)
        return NULL;
    return intern_get(v->labels, buf_str(&text));
}

static struct intern *read_detail(struct workload_table *t, const struct json *object)
{
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    const struct json *detail = t->kind->detail ? t->kind->detail(&a, object) : NULL;
    struct intern *found = NULL;
    if (detail && json_write(&text, detail) >= 0)
        found = intern_get(t->view->labels, buf_str(&text));
    arena_fini(&a);
    return found;
}

struct json *workload_object_detail(const struct workload_object *o, struct arena *a)
{
    struct json *detail = NULL;
    if (o->detail && json_parse(a, intern_str(o->detail), NULL, &detail, NULL) < 0)
        return NULL;
    return detail;
}

struct json *workload_object_labels(const struct workload_object *o, struct arena *a)
{
    struct json *labels = NULL;
    if (o->labels && json_parse(a, intern_str(o->labels), NULL, &labels, NULL) < 0)
        return NULL;
    return labels;
}

bool workload_object_selects(const struct workload_object *o, const struct json *labels)
{
    struct arena a = { 0 };
    struct selector s;
    bool selects = o->selector && selector_parse_labels(&a, str_of(o->selector), &s, NULL) >= 0 &&
                   selector_matches_labels(&s, labels);
    arena_fini(&a);
    return selects;
}

struct str workload_object_namespace(const struct workload_object *o)
{
    return str_n(o->key, o->namespace_n);
}

struct str workload_object_name(const struct workload_object *o)
{
    return str_of(o->key + o->namespace_n + 1);
}

struct str workload_object_uid(const struct workload_object *o)
{
    return str_of(o->uid);
}

const struct workload_kind *workload_object_kind(const struct workload_object *o)
{
    return o->table->kind;
}

/* ---------------------------------------------------------------- groups */

static void group_free(struct workload_group *g)
{
    free(g->key);
    free(g->kind);
    free(g->name);
    free(g->uid);
    free(g);
}

static void leave_group(struct workload_object *o)
{
    struct workload_group *g = take_ptr(&o->group);
    list_remove(&o->in_group);
    if (--g->n > 0)
        return;
    (void)map_del(&o->table->groups, str_of(g->key));
    group_free(g);
}

static char *group_key(struct str namespace, const struct json *ref)
{
    return ref ? key_of(namespace, json_get_str(ref, "uid")) : key_of(STR(""), namespace);
}

static void join_group(struct workload_object *o, const struct json *ref)
{
    scoped(free_scoped) char *key = group_key(workload_object_namespace(o), ref);
    struct workload_group *g = map_get(&o->table->groups, str_of(key));
    if (!g) {
        g = xnew(struct workload_group);
        list_init(&g->members);
        g->key = take_ptr(&key);
        g->kind = ref ? str_dup(json_get_str(ref, "kind")) : NULL;
        g->name = ref ? str_dup(json_get_str(ref, "name")) : NULL;
        g->uid = ref ? str_dup(json_get_str(ref, "uid")) : NULL;
        (void)map_put(&o->table->groups, str_of(g->key), g);
    }
    list_push_back(&g->members, &o->in_group);
    g->n++;
    o->group = g;
}

static bool is_in_group(const struct workload_object *o, const struct json *ref)
{
    scoped(free_scoped) char *key = group_key(workload_object_namespace(o), ref);
    return str_is(str_of(key), o->group->key);
}

struct workload_group *workload_table_owned(const struct workload_table *t, struct str namespace,
                                            struct str uid)
{
    scoped(free_scoped) char *key = key_of(namespace, uid);
    return map_get(&t->groups, str_of(key));
}

struct workload_group *workload_table_orphans(const struct workload_table *t, struct str namespace)
{
    scoped(free_scoped) char *key = group_key(namespace, NULL);
    return map_get(&t->groups, str_of(key));
}

/* ---------------------------------------------------------------- changes */

static void tell(const struct workload_object *o, enum workload_change change, bool is_visible)
{
    const struct workload_view_opts *opts = &o->table->view->opts;
    opts->on_change(opts->arg, o, change, is_visible);
}

static void object_free(struct workload_object *o)
{
    intern_unref(o->table->view->labels, o->labels);
    intern_unref(o->table->view->labels, o->detail);
    free(o->selector);
    free(o->key);
    free(o);
}

static void remove_object(struct workload_object *o)
{
    tell(o, WORKLOAD_LEAVES, true);
    (void)map_del(&o->table->objects, str_of(o->key));
    leave_group(o);
    object_free(o);
}

static void set_facts(struct workload_object *o, const struct json *object, uint64_t rv)
{
    const struct workload_kind *kind = o->table->kind;
    free(o->selector);
    o->selector = read_selector(kind->selector, object);
    o->rv = rv;
    o->is_deleting |= meta_is_deleting(object);
    memset(o->facts, 0, kind->facts_bytes);
    if (kind->read)
        kind->read(object, o->facts);
}

static void add_object(struct workload_table *t, struct str namespace, const struct json *object,
                       uint64_t rv)
{
    struct workload_object *o = xalloc(sizeof *o + t->kind->facts_bytes);
    struct str uid = str_slice(meta_uid(object), 0, WORKLOAD_UID_MAX_BYTES);
    o->table = t;
    o->key = key_of(namespace, meta_name(object));
    o->namespace_n = (uint32_t) namespace.n;
    o->list_no = t->list_no;
    o->labels = read_labels(t->view, object);
    o->detail = read_detail(t, object);
    memcpy(o->uid, uid.p, uid.n);
    set_facts(o, object, rv);
    join_group(o, controller_ref(object));
    t->objects.borrows_keys = true;
    (void)map_put(&t->objects, str_of(o->key), o);
    tell(o, WORKLOAD_APPEARS, true);
}

static bool has_facts(const struct workload_object *o, const struct json *object)
{
    const struct workload_kind *kind = o->table->kind;
    uint64_t facts[WORKLOAD_FACTS_MAX_BYTES / sizeof(uint64_t)] = { 0 };
    if (!kind->read)
        return false;
    kind->read(object, facts);
    return memcmp(facts, o->facts, kind->facts_bytes) == 0;
}

static void change_object(struct workload_object *o, const struct json *object, uint64_t rv)
{
    struct workload_table *t = o->table;
    const struct json *ref = controller_ref(object);
    struct intern *labels = read_labels(t->view, object);
    struct intern *detail = read_detail(t, object);
    bool moves = labels != o->labels || !is_in_group(o, ref);
    bool is_visible = moves || meta_is_deleting(object) != o->is_deleting ||
                      !has_facts(o, object) || detail != o->detail;
    if (moves)
        tell(o, WORKLOAD_LEAVES, true);
    intern_unref(t->view->labels, o->labels);
    intern_unref(t->view->labels, o->detail);
    o->labels = labels;
    o->detail = detail;
    set_facts(o, object, rv);
    if (moves) {
        leave_group(o);
        join_group(o, ref);
    }
    tell(o, moves ? WORKLOAD_APPEARS : WORKLOAD_CHANGES, is_visible);
}

/* The object is at this state now, or has been. */
static void put_object(struct workload_table *t, const struct json *object, uint64_t rv)
{
    struct str namespace = meta_namespace(object);
    struct workload_object *o = workload_table_find(t, namespace, meta_name(object));
    if (o && str_eq(str_slice(meta_uid(object), 0, WORKLOAD_UID_MAX_BYTES), str_of(o->uid))) {
        o->list_no = t->list_no;
        if (rv > o->rv)
            change_object(o, object, rv);
        return;
    }
    if (o && rv <= o->rv)
        return;
    if (o)
        remove_object(o);
    add_object(t, namespace, object, rv);
}

struct workload_object *workload_table_find(const struct workload_table *t, struct str namespace,
                                            struct str name)
{
    scoped(free_scoped) char *key = key_of(namespace, name);
    return map_get(&t->objects, str_of(key));
}

static uint64_t version_of(const struct json *object)
{
    uint64_t rv = 0;
    (void)parse_u64(meta_resource_version(object), 0, UINT64_MAX, &rv);
    return rv;
}

void workload_table_wrote(struct workload_table *t, const struct json *object)
{
    uint64_t rv = version_of(object);
    if (rv > t->rv) /* else the watch has delivered it, and what came after it */
        put_object(t, object, rv);
}

void workload_table_deleted(struct workload_table *t, struct str namespace, struct str name,
                            struct str uid)
{
    struct workload_object *o = workload_table_find(t, namespace, name);
    if (!o || o->is_deleting || (uid.n && !str_eq(uid, str_of(o->uid))))
        return;
    o->is_deleting = true;
    tell(o, WORKLOAD_CHANGES, true);
}

/* ---------------------------------------------------------------- events */

void workload_table_seen(struct workload_table *t, const struct json *object)
{
    uint64_t rv = version_of(object);
    put_object(t, object, rv);
    t->rv = t->is_synced && !t->is_listing ? MAX(t->rv, rv) : t->rv;
}

void workload_table_removed(struct workload_table *t, struct str namespace, struct str name,
                            uint64_t rv)
{
    struct workload_object *o = workload_table_find(t, namespace, name);
    t->rv = t->is_synced && !t->is_listing ? MAX(t->rv, rv) : t->rv;
    if (o && (o->rv <= rv || rv == 0))
        remove_object(o);
}

static void on_object(void *arg, const struct json *object)
{
    workload_table_seen(arg, object);
}

static void on_removed(void *arg, struct str namespace, struct str name, uint64_t rv)
{
    workload_table_removed(arg, namespace, name, rv);
}

void workload_table_list_begins(struct workload_table *t)
{
    t->list_no++;
    t->is_listing = true;
}

/* Objects that the list lacks are gone, unless they were made after it. */
void workload_table_list_ends(struct workload_table *t, uint64_t rv)
{
    VEC(struct workload_object *) gone = { 0 };
    map_each (e, &t->objects) {
        struct workload_object *o = e->value;
        if (o->list_no != t->list_no && o->rv <= rv)
            vec_push(&gone, o);
    }
    vec_each (o, &gone)
        remove_object(*o);
    vec_fini(&gone);
    t->rv = MAX(t->rv, rv);
    t->is_listing = false;
    if (t->is_synced)
        return;
    t->is_synced = true;
    if (workload_view_is_synced(t->view))
        t->view->opts.on_synced(t->view->opts.arg);
}

static void on_list_begin(void *arg)
{
    workload_table_list_begins(arg);
}

static void on_list_end(void *arg, uint64_t rv)
{
    workload_table_list_ends(arg, rv);
}

static void on_trouble(void *arg, int status, const struct err *err)
{
    const struct workload_table *t = arg;
    char why[LOG_QUOTE_MAX];
    log_warn("a collection is not followed at present, retrying", "kind=%s status=%d reason=\"%s\"",
             t->kind->kind, status, log_quote(why, str_of(err_text(err))));
}

static const struct reflector_ops table_ops = { .on_object = on_object,
                                                .on_removed = on_removed,
                                                .on_list_begin = on_list_begin,
                                                .on_list_end = on_list_end,
                                                .on_trouble = on_trouble };

/* ---------------------------------------------------------------- the view */

void workload_view_init(struct workload_view *v, const struct workload_view_opts *opts)
{
    *v = (struct workload_view){ .opts = *opts, .labels = intern_table_new() };
}

struct workload_table *workload_view_table(struct workload_view *v,
                                           const struct workload_kind *kind)
{
    for (struct workload_table *t = v->tables; t < v->tables + v->n_tables; t++)
        if (t->kind == kind)
            return t;
    return NULL;
}

void workload_view_add(struct workload_view *v, const struct workload_kind *kind)
{
    if (workload_view_table(v, kind))
        return;
    assert(v->n_tables < WORKLOAD_KINDS_MAX && kind->facts_bytes <= WORKLOAD_FACTS_MAX_BYTES);
    v->tables[v->n_tables++] = (struct workload_table){ .view = v, .kind = kind };
}

static void stop_following(struct workload_view *v)
{
    for (struct workload_table *t = v->tables; t < v->tables + v->n_tables; t++)
        if (t->reflector)
            reflector_close(take_ptr(&t->reflector));
}

int workload_view_start(struct workload_view *v, struct err *err)
{
    int r = 0;
    for (struct workload_table *t = v->tables; r >= 0 && t < v->tables + v->n_tables; t++) {
        const struct reflector_opts opts = {
            .loop = v->opts.loop,
            .transport = v->opts.transport,
            .hub = v->opts.hub,
            .identity = v->opts.identity,
            .key = { .group_version = str_of(t->kind->group_version),
                     .plural = str_of(t->kind->plural),
                     .identity = v->opts.identity },
            .streams = true,
            .ops = &table_ops,
            .arg = t,
        };
        r = reflector_start(&opts, &t->reflector, err);
    }
    if (r < 0)
        stop_following(v);
    return r;
}

static void table_fini(struct workload_table *t)
{
    map_each (e, &t->objects) {
        struct workload_object *o = e->value;
        leave_group(o);
        object_free(o);
    }
    map_fini(&t->objects);
    map_fini(&t->groups);
}

void workload_view_fini(struct workload_view *v)
{
    stop_following(v);
    for (struct workload_table *t = v->tables; t < v->tables + v->n_tables; t++)
        table_fini(t);
    intern_table_free(v->labels);
}

bool workload_view_is_synced(const struct workload_view *v)
{
    for (const struct workload_table *t = v->tables; t < v->tables + v->n_tables; t++)
        if (!t->is_synced)
            return false;
    return true;
}
