/* SPDX-License-Identifier: Apache-2.0 */
/* Server-side apply; see apply.h. */
#include "kube/model/apply.h"

#include "kube/model/meta.h"
#include "kube/model/object.h"
#include "kube/model/status.h"

#define BEFORE_FIRST_APPLY "before-first-apply"
#define KUBECTL            "kubectl"

enum { WHY_MAX = 32 * 1024, MESSAGE_MAX = 256 * 1024 };

struct apply {
    struct arena *a;
    const struct managed_writer *w;
    const struct json *live, *config;
    struct typed type;
    struct str api_version;
    struct managed managed;
    struct managed_entry *self;
    const struct field_set *last; /* the set that self owned before; NULL: empty */
    struct str last_version;
};

/* ---- checks before merging ---- */

/* "apps/v1, Kind=Deployment", from the object's own fields. */
static const char *gvk_text(struct arena *a, const struct json *obj)
{
    struct str version = json_get_str(obj, "apiVersion"), kind = json_get_str(obj, "kind");
    const char *slash = str_find_char(version, '/') < 0 ? "/" : "";
    return arena_printf(a, "%s" STR_FMT ", Kind=" STR_FMT, slash, STR_ARG(version), STR_ARG(kind));
}

static struct str expected_kind(const struct managed_writer *w)
{
    return w->res ? w->res->kind : STR("Scale");
}

static int check_config(struct apply *p, struct json **ret_status)
{
    struct arena *a = p->a;
    const struct json *config = p->config;
    if (!str_eq(json_get_str(config, "apiVersion"), p->api_version) ||
        !str_eq(json_get_str(config, "kind"), expected_kind(p->w))) {
        *ret_status = status_bad_request(
            a, str_of(arena_printf(a, "invalid object type: %s", gvk_text(a, config))));
        return E_INVALID;
    }
    if (json_is(json_path(config, "metadata", "managedFields", NULL), JSON_ARRAY)) {
        *ret_status = status_bad_request(a, STR("metadata.managedFields must be nil"));
        return E_INVALID;
    }
    struct buf why = BUF_INIT(WHY_MAX);
    int r = typed_check(p->type, config, false, &why);
    if (r < 0) {
        const char *text =
            arena_printf(a, "failed to create typed patch object (" STR_FMT "/" STR_FMT "; %s): %s",
                         STR_ARG(meta_namespace(config)), STR_ARG(meta_name(config)),
                         gvk_text(a, config), buf_cstr(&why));
        *ret_status = status_new(a, 500, "", str_of(text));
    }
    buf_fini(&why);
    return r;
}

/* ---- initial entries ---- */

/* The fields of an untracked object get an entry for "before-first-apply". */
static void adopt_existing(struct apply *p)
{
    struct managed_writer before = *p->w;
    before.manager = STR(BEFORE_FIRST_APPLY);
    struct json *empty = p->w->res ? managed_empty(p->a, p->w->res) : json_new_object(p->a);
    struct managed_diff d = { .a = p->a, .w = &before, .from = empty, .to = p->live };
    const struct managed_diff_version *v = managed_diff_of(&d, p->api_version);
    const struct field_set *own = field_set_difference(p->a, v->taken, managed_strip_set());
    if (field_set_is_empty(own))
        return;
    struct managed_entry *e = managed_of_writer(&p->managed, &before, false);
    managed_put(e, own);
    managed_touch(p->a, e, before.now_s);
}

static size_t count_entries(const struct managed *m)
{
    size_t n = 0;
    for (const struct managed_entry *e = m->first; e; e = e->next)
        n++;
    return n;
}

/* E_LIMIT: no room for another manager. */
static int read_entries(struct apply *p)
{
    const struct json *list = json_path(p->live, "metadata", "managedFields", NULL);
    if (managed_read(p->a, list, &p->managed) < 0)
        p->managed = (struct managed){ .a = p->a };
    if (!p->managed.first)
        adopt_existing(p);
    p->self = managed_of_writer(&p->managed, p->w, true);
    if (count_entries(&p->managed) > MANAGED_MAX_ENTRIES)
        return E_LIMIT;
    p->last_version = p->self->api_version;
    for (struct managed_entry *e = p->managed.first; e; e = e->next) {
        const struct field_set *set = managed_set(&p->managed, e);
        if (!str_eq(e->api_version, p->api_version))
            continue;
        const struct field_set *now = typed_reconcile(p->a, p->type, set);
        if (now != set)
            managed_put(e, now);
    }
    p->last = p->self->set;
    return 0;
}

/* ---- pruning ---- */

/* An object converted to one version. */
struct versioned {
    struct json *v;
    struct typed type;
    const struct kube_resource *res;
};

/* false: the version is no longer served. */
static bool convert(struct apply *p, struct versioned *o, struct str version)
{
    if (!o->res || str_eq(kube_api_version(p->a, o->res), version))
        return true;
    const struct kube_resource *to =
        p->w->version ? p->w->version(p->w->version_arg, version) : NULL;
    if (!to)
        return false;
    o->v = json_clone(p->a, o->v);
    if (o->v->type == JSON_OBJECT)
        object_convert(p->a, o->v, o->res, to);
    o->res = to;
    o->type = typed_resource(to);
    return true;
}

static struct field_set *fields_of(struct apply *p, const struct versioned *o)
{
    return typed_with_parents(p->a, o->type, typed_fields(p->a, o->type, o->v));
}

/*
 * Put fields of `merged` that other managers, or the new configuration, own in this version back
 * into `pruned`.
 */
static void add_back_owned(struct apply *p, struct versioned merged, struct versioned *pruned,
                           struct str version)
{
    struct arena *a = p->a;
    if (!convert(p, &merged, version) || !convert(p, pruned, version))
        return;
    struct field_set *owned = NULL;
    for (struct managed_entry *e = p->managed.first; e; e = e->next)
        if (str_eq(e->api_version, version))
            owned = field_set_union(a, owned, managed_set(&p->managed, e));
    struct field_set *keep =
        field_set_union(a, fields_of(p, pruned), typed_with_parents(a, merged.type, owned));
    pruned->v = typed_remove(a, merged.type, merged.v,
                             field_set_difference(a, fields_of(p, &merged), keep));
}

static bool seen_version(const struct apply *p, const struct managed_entry *upto)
{
    for (const struct managed_entry *e = p->managed.first; e != upto; e = e->next)
        if (str_eq(e->api_version, upto->api_version))
            return true;
    return str_eq(upto->api_version, p->last_version);
}

/* Remove from `merged` the fields that only this manager owned and no longer applies. */
static struct json *prune(struct apply *p, struct json *merged_v)
{
    struct arena *a = p->a;
    struct versioned merged = { .v = merged_v, .type = p->type, .res = p->w->res };
    if (field_set_is_empty(p->last) || !convert(p, &merged, p->last_version))
        return merged_v;
    struct field_set *last = typed_with_parents(a, merged.type, p->last);
    struct versioned pruned = merged;
    pruned.v = typed_remove(a, merged.type, merged.v, last);
    add_back_owned(p, merged, &pruned, p->last_version);
    for (struct managed_entry *e = p->managed.first; e; e = e->next)
        if (!seen_version(p, e))
            add_back_owned(p, merged, &pruned, e->api_version);
    if (!convert(p, &pruned, p->last_version))
        return merged_v;
    /* Remove only fields that this manager owned; unowned fields below them stay. */
    struct field_set *gone = field_set_difference(a, fields_of(p, &merged), fields_of(p, &pruned));
    struct versioned out = merged;
    out.v = typed_remove(a, merged.type, merged.v, field_set_intersection(a, gone, last));
    return convert(p, &out, p->api_version) ? out.v : merged_v;
}

/* ---- conflicts ---- */

static void write_manager(struct buf *to, const struct managed_entry *e)
{
    field_go_quote(to, e->manager);
    if (e->subresource.n) {
        (void)buf_add_cstr(to, " with subresource ");
        field_go_quote(to, e->subresource);
    }
    if (!e->applied)
        (void)buf_printf(to, " using " STR_FMT, STR_ARG(e->api_version));
}

static int cmp_conflicts(const void *x, const void *y)
{
    const struct managed_entry *p = (*(struct managed_conflict *const *)x)->entry,
                               *q = (*(struct managed_conflict *const *)y)->entry;
    int r = str_cmp(p->manager, q->manager);
    if (r == 0)
        r = q->applied - p->applied;
    if (r == 0)
        r = str_cmp(p->api_version, q->api_version);
    return r ? r : str_cmp(p->subresource, q->subresource);
}

struct apply_report {
    struct arena *a;
    struct buf *message;
    struct json *causes;
    const char *before; /* text before each path in the message */
    struct str manager;
};

static void report_field(void *arg, struct str path)
{
    struct apply_report *r = arg;
    struct json *cause = json_new_object(r->a);
    json_set_str(r->a, cause, "reason", STR("FieldManagerConflict"));
    json_set_str(r->a, cause, "message",
                 str_of(arena_printf(r->a, "conflict with " STR_FMT, STR_ARG(r->manager))));
    json_set_str(r->a, cause, "field", path);
    json_add(r->causes, cause);
    (void)buf_printf(r->message, "%s" STR_FMT, r->before, STR_ARG(path));
}

static struct json *conflict_status(struct arena *a, struct managed_conflict *list)
{
    size_t n = 0, n_fields = 0;
    for (struct managed_conflict *c = list; c; c = c->next, n++)
        n_fields += field_set_count(c->set);
    struct managed_conflict **all = arena_new_n(a, struct managed_conflict *, n + 1);
    n = 0;
    for (struct managed_conflict *c = list; c; c = c->next)
        all[n++] = c;
    qsort(all, n, sizeof(void *), cmp_conflicts);

    struct buf message = BUF_INIT(MESSAGE_MAX);
    struct apply_report r = { .a = a,
                              .message = &message,
                              .causes = json_new_array(a),
                              .before = n_fields == 1 ? ": " : "\n- " };
    (void)buf_printf(&message, "Apply failed with %zu conflict%s: ", n_fields,
                     n_fields == 1 ? "" : "s");
    for (size_t i = 0; i < n; i++) {
        struct buf manager = BUF_INIT(4096);
        write_manager(&manager, all[i]->entry);
        r.manager = str_copy_arena(a, buf_str(&manager));
        buf_fini(&manager);
        (void)buf_printf(&message, "%s%s " STR_FMT "%s", i ? "\n" : "",
                         n_fields == 1 ? "conflict with" : "conflicts with", STR_ARG(r.manager),
                         n_fields == 1 ? "" : ":");
        field_set_each(all[i]->set, report_field, &r);
    }
    struct json *status = status_new(a, 409, "Conflict", str_copy_arena(a, buf_str(&message)));
    json_setc(a, json_obj(a, status, "details"), "causes", r.causes);
    buf_fini(&message);
    return status;
}

/* ---- kubectl's client-side apply ---- */

static struct str last_applied(const struct json *obj)
{
    return json_str(json_getc(json_path(obj, "metadata", "annotations", NULL), APPLY_LAST_APPLIED));
}

/*
 * For kubectl's switch from client-side apply: the fields in its annotation whose values are still
 * in the object count as its own, so they do not conflict. NULL: no usable annotation.
 */
static const struct field_set *owned_by_annotation(struct apply *p)
{
    struct json *old;
    struct str text = last_applied(p->live);
    struct buf why = BUF_INIT(WHY_MAX);
    struct typed_changes c;
    if (text.n == 0 || json_parse(p->a, text, NULL, &old, NULL) < 0 || old->type != JSON_OBJECT ||
        !str_eq(json_get_str(old, "apiVersion"), p->api_version))
        return NULL;
    int r = typed_check(p->type, old, false, &why);
    if (r >= 0)
        r = typed_check(p->type, p->live, false, &why);
    buf_fini(&why);
    if (r < 0)
        return NULL;
    typed_compare(p->a, p->type, old, p->live, &c);
    struct field_set *s = field_set_difference(p->a, typed_fields(p->a, p->type, old), c.modified);
    return field_set_difference(p->a, field_set_difference(p->a, s, c.added), c.removed);
}

/* The conflicts that remain. */
static struct managed_conflict *less_allowed(struct apply *p, struct managed_conflict *list)
{
    const struct field_set *allowed =
        str_is(p->w->manager, KUBECTL) ? owned_by_annotation(p) : NULL;
    struct managed_conflict *first = NULL, **end = &first;
    if (!allowed)
        return list;
    for (struct managed_conflict *c = list; c; c = c->next) {
        c->set = field_set_difference(p->a, c->set, allowed);
        if (field_set_is_empty(c->set))
            continue;
        *end = c;
        end = &c->next;
    }
    *end = NULL;
    return first;
}

/* Update the annotation, so that the user can return to client-side apply. */
static void update_annotation(struct apply *p, struct json *obj)
{
    if (!str_is(p->w->manager, KUBECTL) || last_applied(obj).n == 0)
        return;
    struct json *config = json_clone(p->a, p->config);
    (void)json_del(json_path(config, "metadata", "annotations", NULL), STR(APPLY_LAST_APPLIED));
    struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    (void)json_write_sorted(&text, config);
    (void)buf_add_char(&text, '\n');
    struct json *annotations = json_path(obj, "metadata", "annotations", NULL);
    json_set_str(p->a, annotations, APPLY_LAST_APPLIED, buf_str(&text));
    buf_fini(&text);
    size_t total = 0;
    json_each (m, annotations) {
        total += m->key.n + json_str(m).n;
    }
    if (total > META_ANNOTATIONS_MAX_BYTES)
        (void)json_del(annotations, STR(APPLY_LAST_APPLIED));
}

/* ---- apply ---- */

static void strip_self(struct apply *p)
{
    managed_put(p->self, field_set_difference(p->a, p->self->set, managed_strip_set()));
    managed_drop_empty(&p->managed);
}

int apply_config(struct arena *a, const struct managed_writer *w, const struct json *live,
                 const struct json *config, bool force, struct json **ret, struct json **ret_status)
{
    struct apply p = { .a = a,
                       .w = w,
                       .live = live,
                       .config = config,
                       .type = managed_type(w),
                       .api_version = managed_api_version(a, w) };
    if (managed_is_too_large(config) || managed_is_too_large(live)) {
        *ret_status = status_new(a, 413, "RequestEntityTooLarge",
                                 str_of(arena_printf(a,
                                                     "Request entity too large: objects of more "
                                                     "than %d values cannot be applied",
                                                     (int)MANAGED_MAX_VALUES)));
        return E_LIMIT;
    }
    int r = check_config(&p, ret_status);
    if (r < 0)
        return r;
    if (read_entries(&p) < 0) {
        *ret_status = status_bad_request(
            a, str_of(arena_printf(a, "more than %d managers have applied to this object",
                                   (int)MANAGED_MAX_ENTRIES)));
        return E_LIMIT;
    }

    struct json *merged = typed_merge(a, p.type, live, config);
    const struct field_set *set = managed_writable(a, w, typed_fields(a, p.type, config));
    bool set_changed = !field_set_equal(set, p.last);
    if (set_changed || !str_eq(p.last_version, p.api_version))
        managed_put(p.self, set);
    p.self->api_version = p.api_version;
    merged = prune(&p, merged);

    struct managed_diff d = { .a = a, .w = w, .from = live, .to = merged };
    struct managed_conflict *conflicts = force ? NULL : managed_conflicts(&p.managed, &d, p.self);
    if (conflicts)
        conflicts = less_allowed(&p, conflicts);
    if (conflicts) {
        *ret_status = conflict_status(a, conflicts);
        return E_CONFLICT;
    }
    managed_yield(&p.managed, &d, p.self);
    if (!json_equal(live, merged))
        managed_touch(a, p.self, w->now_s);
    strip_self(&p);
    managed_store(a, merged, managed_write(&p.managed));
    update_annotation(&p, merged);
    *ret = merged;
    return 0;
}

/* ---- scale ---- */

/* The path of the replicas in an apiVersion of the kind. false: it is no longer served. */
static bool replicas_path(struct arena *a, const struct managed_writer *w, struct str version,
                          struct field_set **ret)
{
    const struct kube_resource *res = str_eq(version, kube_api_version(a, w->res)) ? w->res
                                      : w->version ? w->version(w->version_arg, version)
                                                   : NULL;
    *ret = NULL;
    if (!res)
        return false;
    struct str path = res->scale_spec_path, name;
    if (!res->crd && path.n == 0)
        path = STR(".spec.replicas");
    struct field_set *root = NULL, *at = NULL;
    while (path.n) {
        (void)str_cut(path, '.', &name, &path);
        if (name.n == 0)
            continue;
        if (!root)
            root = at = arena_new(a, struct field_set);
        at->first = arena_new(a, struct field_set);
        at = at->first;
        at->elem = field_elem_name(name);
    }
    if (at)
        at->is_member = true;
    *ret = root;
    return true;
}

static bool holds(struct arena *a, const struct field_set *set, const struct field_set *path)
{
    return path && !field_set_is_empty(field_set_intersection(a, set, path));
}

struct json *apply_to_scale(struct arena *a, const struct managed_writer *w,
                            const struct json *list)
{
    struct managed m;
    struct field_set *path;
    if (managed_read(a, list, &m) < 0)
        return NULL;
    for (struct managed_entry *e = m.first; e; e = e->next) {
        bool ours =
            replicas_path(a, w, e->api_version, &path) && holds(a, managed_set(&m, e), path);
        managed_put(e, ours ? field_set_of(a, "spec", "replicas", NULL)
                            : arena_new(a, struct field_set));
        e->api_version = STR("autoscaling/v1");
    }
    managed_drop_empty(&m);
    return managed_write(&m);
}

/*
 * Entries of the object lose the replicas; then those whose Scale entry owns them own them again. A
 * new entry for a writer of the Scale has no time: upstream's has none either.
 */
struct json *apply_from_scale(struct arena *a, const struct managed_writer *w,
                              const struct json *list, const struct json *scale_list)
{
    struct managed m, scale;
    struct field_set *path;
    if (managed_read(a, list, &m) < 0 || managed_read(a, scale_list, &scale) < 0)
        return NULL;
    for (struct managed_entry *e = m.first; e; e = e->next) {
        if (!replicas_path(a, w, e->api_version, &path)) {
            managed_put(e, arena_new(a, struct field_set));
            continue;
        }
        if (holds(a, managed_set(&m, e), path))
            managed_put(e, field_set_difference(a, e->set, path));
    }
    struct field_set *replicas = field_set_of(a, "spec", "replicas", NULL);
    (void)replicas_path(a, w, kube_api_version(a, w->res), &path);
    for (struct managed_entry *e = scale.first; e; e = e->next) {
        if (!holds(a, managed_set(&scale, e), replicas))
            continue;
        struct managed_writer as = *w;
        as.manager = e->manager;
        as.subresource = e->subresource;
        struct managed_entry *now = managed_of_writer(&m, &as, e->applied);
        managed_put(now, field_set_union(a, managed_set(&m, now), path));
    }
    managed_drop_empty(&m);
    return managed_write(&m);
}
