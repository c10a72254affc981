/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ownership of fields; see managed_fields.h.
 *
 * An update reads only those owners' sets that its changes touch: the changes are looked up in the
 * stored FieldsV1 (field_set_touches()), and only entries that share a field are parsed. Other
 * entries are written back unchanged. This is correct because stored sets are canonical: every set
 * passes through managed_write() before it is stored.
 */
#include "kube/model/managed_fields.h"

#include "base/clock.h"
#include "codec/utf8.h"
#include "kube/model/builtin.h"
#include "kube/model/meta.h"
#include "kube/model/object.h"

#include <assert.h>
#include <errno.h>

#define OLD_UPDATERS      "ancient-changes"
#define SCALE_API_VERSION "autoscaling/v1"

/* ---- names of managers ---- */

/*
 * Roughly unicode.IsPrint: false for anything but letters, marks, numbers, signs and plain blanks.
 */
static bool is_print(uint32_t cp)
{
    static const struct {
        uint32_t from, to;
    } not [] = { { 0, 0x1f },        { 0x7f, 0xa0 },       { 0xad, 0xad },       { 0x1680, 0x1680 },
                 { 0x180e, 0x180e }, { 0x2000, 0x200f },   { 0x2028, 0x202f },   { 0x205f, 0x206f },
                 { 0x3000, 0x3000 }, { 0xd800, 0xf8ff },   { 0xfeff, 0xfeff },   { 0xfff0, 0xfffb },
                 { 0xfffe, 0xffff }, { 0xe0000, 0xe00ff }, { 0xf0000, 0x10ffff } };
    for (size_t i = 0; i < ARRAY_LEN(not ); i++)
        if (cp >= not [i].from && cp <= not [i].to)
            return false;
    return true;
}

void managed_check_manager(struct str manager, struct field_errors *errs)
{
    struct fpath at = fpath_child(NULL, STR("fieldManager"));
    if (manager.n > MANAGED_MANAGER_MAX_BYTES)
        field_error(errs, FIELD_TOO_LONG, &at, NULL, "may not be more than %d bytes",
                    (int)MANAGED_MANAGER_MAX_BYTES);
    for (size_t i = 0, n; i < manager.n; i += n) {
        uint32_t cp = 0xfffd;
        n = utf8_decode(manager.p + i, manager.n - i, &cp);
        if (n == 0)
            n = 1;
        if (!is_print(cp))
            field_error_str(errs, FIELD_INVALID, &at, manager,
                            "invalid character U+%04X (at position %zu)", (unsigned)cp, i);
    }
}

struct str managed_agent(struct arena *a, struct str user_agent)
{
    struct str name, rest;
    (void)str_cut(user_agent, '/', &name, &rest);
    char *out = arena_alloc(a, MANAGED_MANAGER_MAX_BYTES);
    size_t at = 0;
    for (size_t i = 0, n; i < name.n; i += n) {
        uint32_t cp = 0xfffd;
        n = utf8_decode(name.p + i, name.n - i, &cp);
        if (n == 0) {
            n = 1;
            cp = 0;
        }
        if (!is_print(cp))
            continue;
        if (at + n > MANAGED_MANAGER_MAX_BYTES)
            break;
        memcpy(out + at, name.p + i, n);
        at += n;
    }
    return str_n(out, at);
}

/* ---- writers ---- */

struct str managed_api_version(struct arena *a, const struct managed_writer *w)
{
    return w->res ? kube_api_version(a, w->res) : STR(SCALE_API_VERSION);
}

struct typed managed_type(const struct managed_writer *w)
{
    return w->res ? typed_resource(w->res) : typed_scale();
}

struct json *managed_empty(struct arena *a, const struct kube_resource *res)
{
    struct json *obj = json_new_object(a);
    json_set_str(a, obj, "apiVersion", kube_api_version(a, res));
    json_set_str(a, obj, "kind", res->kind);
    if (res->schema->flags & SCHEMA_BUILTIN)
        (void)schema_normalize(a, res->schema, obj, "", NULL, NULL, NULL);
    return obj;
}

/* ---- fields that are never owned, or not through this path ---- */

#define NODE(text, sibling, child, member)                                                         \
    {                                                                                              \
        .next = (sibling), .first = (child),                                                       \
        .elem = { FIELD_ELEM_NAME, { text, sizeof(text) - 1 }, NULL }, .is_member = (member)       \
    }

const struct field_set *managed_strip_set(void)
{
    static struct field_set meta[] = { NODE("clusterName", &meta[1], NULL, true),
                                       NODE("creationTimestamp", &meta[2], NULL, true),
                                       NODE("generation", &meta[3], NULL, true),
                                       NODE("managedFields", &meta[4], NULL, true),
                                       NODE("name", &meta[5], NULL, true),
                                       NODE("namespace", &meta[6], NULL, true),
                                       NODE("resourceVersion", &meta[7], NULL, true),
                                       NODE("selfLink", &meta[8], NULL, true),
                                       NODE("uid", NULL, NULL, true) };
    static struct field_set top[] = { NODE("apiVersion", &top[1], NULL, true),
                                      NODE("kind", &top[2], NULL, true),
                                      NODE("metadata", NULL, meta, true) };
    static const struct field_set root = { .first = top };
    return &root;
}

/*
 * Metadata that a write of the status does not change, for kinds where it changes other metadata.
 */
static const struct {
    const char *group, *plural, *meta;
} status_resets[] = { { "", "pods", "deletionTimestamp" },
                      { "", "pods", "ownerReferences" },
                      { "apps", "deployments", "labels" } };

static const struct field_set *status_reset(struct arena *a, const struct kube_resource *res)
{
    struct field_set *set = field_set_of(a, "spec", NULL);
    if (res->crd || res->strategy->fixed_meta_in_status)
        return field_set_union(a, set, field_set_of(a, "metadata", NULL));
    for (size_t i = 0; i < ARRAY_LEN(status_resets); i++)
        if (str_is(res->group, status_resets[i].group) &&
            str_is(res->plural, status_resets[i].plural))
            set = field_set_union(a, set, field_set_of(a, "metadata", status_resets[i].meta, NULL));
    return set;
}

static const struct field_set *reset_fields(struct arena *a, const struct managed_writer *w)
{
    if (str_is(w->subresource, "status"))
        return status_reset(a, w->res);
    bool splits = kube_subresource(w->res, STR("status")) != NULL;
    const struct field_set *set = splits ? field_set_of(a, "status", NULL) : NULL;
    if (w->subresource.n == 0 && w->res->strategy->fixed_spec) /* cannot be changed */
        set = field_set_union(a, set, field_set_of(a, "spec", NULL));
    return set;
}

/* Subresources that write only these parts; "*" matches every item. */
static const struct {
    const char *name;
    const char *path[4];
} parts[] = { { "ephemeralcontainers", { "spec", "ephemeralContainers" } },
              { "resize", { "spec", "containers", "*", "resources" } },
              { "resize", { "spec", "containers", "*", "resizePolicy" } } };

/* The members of x on the way to the path, or below its end. */
static struct field_set *on_path(struct arena *a, const struct field_set *x,
                                 const char *const path[4], size_t at)
{
    struct field_set *first = NULL, **end = &first;
    assert(at <= ARRAY_LEN(parts[0].path));
    for (; x; x = x->next) {
        bool whole = at == ARRAY_LEN(parts[0].path) || !path[at];
        if (!whole && strcmp(path[at], "*") != 0 && !str_is(x->elem.text, path[at]))
            continue;
        struct field_set *c = arena_new(a, struct field_set);
        *c = (struct field_set){ .elem = x->elem, .is_member = x->is_member };
        c->first = whole ? x->first : on_path(a, x->first, path, at + 1);
        if (!c->first && !c->is_member)
            continue;
        *end = c;
        end = &c->next;
    }
    return first;
}

const struct field_set *managed_writable(struct arena *a, const struct managed_writer *w,
                                         const struct field_set *set)
{
    const struct field_set *kept = NULL;
    bool partial = false;
    if (!w->res)
        return set;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (!str_is(w->subresource, parts[i].name))
            continue;
        struct field_set *part = arena_new(a, struct field_set);
        part->first = on_path(a, set->first, parts[i].path, 0);
        kept = field_set_union(a, kept, part);
        partial = true;
    }
    if (partial)
        return kept;
    const struct field_set *reset = reset_fields(a, w);
    return reset ? field_set_recursive_difference(a, set, reset) : set;
}

/* ---- entries ---- */

static int read_entry(const struct json *v, struct managed_entry *e)
{
    struct str operation = json_get_str(v, "operation");
    int64_t us;
    *e = (struct managed_entry){ .manager = json_get_str(v, "manager"),
                                 .subresource = json_get_str(v, "subresource"),
                                 .api_version = json_get_str(v, "apiVersion"),
                                 .time = json_get_str(v, "time"),
                                 .applied = str_is(operation, "Apply"),
                                 .fields = json_getc(v, "fieldsV1"),
                                 .source = v };
    if (!e->applied && !str_is(operation, "Update"))
        return E_PARSE;
    if (e->api_version.n == 0 || !str_is(json_get_str(v, "fieldsType"), "FieldsV1"))
        return E_PARSE;
    if (!e->applied)
        e->id_version = e->api_version;
    if (rfc3339_parse(e->time, &us) == 0)
        e->time_s = us / 1000000;
    else
        e->time = STR("");
    return 0;
}

struct managed_entry *managed_find(const struct managed *m, const struct managed_entry *like)
{
    for (struct managed_entry *e = m->first; e; e = e->next)
        if (e->applied == like->applied && str_eq(e->manager, like->manager) &&
            str_eq(e->subresource, like->subresource) && str_eq(e->id_version, like->id_version))
            return e;
    return NULL;
}

int managed_read(struct arena *a, const struct json *managed_fields, struct managed *ret)
{
    struct managed m = { .a = a };
    struct managed_entry **end = &m.first;
    if (json_is(managed_fields, JSON_ARRAY) && managed_fields->n > MANAGED_MAX_ENTRIES)
        return E_LIMIT;
    json_each (v, managed_fields) {
        struct managed_entry now;
        int r = read_entry(v, &now);
        if (r < 0)
            return r;
        struct managed_entry *e = managed_find(&m, &now); /* the last of equal entries counts */
        if (!e) {
            e = arena_new(a, struct managed_entry);
            *end = e;
            end = &e->next;
        }
        now.next = e->next;
        *e = now;
    }
    *ret = m;
    return 0;
}

static int parse_set(struct managed *m, struct managed_entry *e)
{
    struct field_set *set;
    int r = field_set_parse(m->a, e->fields, &set, NULL);
    if (r >= 0)
        e->set = set;
    return r;
}

int managed_read_all(struct arena *a, const struct json *managed_fields, struct managed *ret)
{
    struct managed m;
    int r = managed_read(a, managed_fields, &m);
    for (struct managed_entry *e = m.first; r >= 0 && e; e = e->next) {
        r = parse_set(&m, e);
        e->changed = true; /* possibly not written by us: write it canonically */
    }
    if (r < 0)
        return r;
    *ret = m;
    return 0;
}

const struct field_set *managed_set(struct managed *m, struct managed_entry *e)
{
    if (!e->set && parse_set(m, e) < 0)
        e->set = arena_new(m->a, struct field_set);
    return e->set;
}

void managed_put(struct managed_entry *e, const struct field_set *set)
{
    e->set = set;
    e->changed = true;
}

void managed_touch(struct arena *a, struct managed_entry *e, int64_t now_s)
{
    char text[RFC3339_MAX];
    rfc3339_format(now_s, text);
    e->time = str_copy_arena(a, str_of(text));
    e->time_s = now_s;
    e->changed = true;
}

struct managed_entry *managed_of_writer(struct managed *m, const struct managed_writer *w,
                                        bool applied)
{
    struct managed_entry like = { .manager = w->manager.n ? w->manager : STR("unknown"),
                                  .subresource = w->subresource,
                                  .api_version = managed_api_version(m->a, w),
                                  .applied = applied };
    if (!applied)
        like.id_version = like.api_version;
    struct managed_entry *e = managed_find(m, &like);
    if (e)
        return e;
    e = arena_new(m->a, struct managed_entry);
    *e = like;
    e->set = arena_new(m->a, struct field_set);
    e->next = m->first;
    m->first = e;
    return e;
}

static void drop(struct managed *m, const struct managed_entry *gone)
{
    for (struct managed_entry **at = &m->first; *at; at = &(*at)->next) {
        if (*at != gone)
            continue;
        *at = gone->next;
        return;
    }
}

void managed_drop_empty(struct managed *m)
{
    struct managed_entry *next;
    for (struct managed_entry *e = m->first; e; e = next) {
        next = e->next;
        if (e->set && field_set_is_empty(e->set))
            drop(m, e);
    }
}

/* ---- writing ---- */

static struct json *write_entry(struct managed *m, struct managed_entry *e)
{
    struct arena *a = m->a;
    struct json *v = json_new_object(a);
    if (e->manager.n)
        json_set_str(a, v, "manager", e->manager);
    json_set_str(a, v, "operation", e->applied ? STR("Apply") : STR("Update"));
    json_set_str(a, v, "apiVersion", e->api_version);
    if (e->time.n)
        json_set_str(a, v, "time", e->time);
    json_set_str(a, v, "fieldsType", STR("FieldsV1"));
    json_setc(a, v, "fieldsV1", field_set_write(a, managed_set(m, e)));
    if (e->subresource.n)
        json_set_str(a, v, "subresource", e->subresource);
    return v;
}

static int cmp_entries(const void *x, const void *y)
{
    const struct managed_entry *p = *(struct managed_entry *const *)x,
                               *q = *(struct managed_entry *const *)y;
    if (p->applied != q->applied)
        return p->applied ? -1 : 1;
    if (p->time_s != q->time_s)
        return p->time_s < q->time_s ? -1 : 1;
    int r = str_cmp(p->manager, q->manager);
    if (r == 0)
        r = str_cmp(p->api_version, q->api_version);
    return r ? r : str_cmp(p->subresource, q->subresource);
}

static struct managed_entry **sorted_entries(struct managed *m, size_t *ret_n)
{
    size_t n = 0;
    for (struct managed_entry *e = m->first; e; e = e->next)
        n++;
    struct managed_entry **all = arena_new_n(m->a, struct managed_entry *, n + 1);
    size_t i = 0;
    for (struct managed_entry *e = m->first; e; e = e->next)
        all[i++] = e;
    if (n > 1)
        qsort(all, n, sizeof(void *), cmp_entries);
    *ret_n = n;
    return all;
}

struct json *managed_write(struct managed *m)
{
    size_t n;
    struct managed_entry **all = sorted_entries(m, &n);
    if (n == 0)
        return NULL;
    struct json *list = json_new_array(m->a);
    for (size_t i = 0; i < n; i++) {
        bool as_it_was = all[i]->source && !all[i]->changed;
        json_add(list, as_it_was ? json_clone(m->a, all[i]->source) : write_entry(m, all[i]));
    }
    return list;
}

void managed_store(struct arena *a, struct json *obj, struct json *list)
{
    struct json *meta = meta_of(a, obj);
    if (list)
        json_setc(a, meta, "managedFields", list);
    else
        (void)json_del(meta, STR("managedFields"));
}

/* ---- effects on other managers ---- */

static struct json *as_version(struct managed_diff *d, const struct json *obj,
                               const struct kube_resource *res)
{
    struct json *copy = json_clone(d->a, obj);
    object_convert(d->a, copy, d->w->res, res);
    return copy;
}

static void compute(struct managed_diff *d, struct managed_diff_version *v)
{
    struct arena *a = d->a;
    struct typed_changes *c = &v->changes;
    if (str_eq(v->api_version, managed_api_version(a, d->w))) {
        v->type = managed_type(d->w);
        typed_compare(a, v->type, d->from, d->to, c);
        c->removed = managed_writable(a, d->w, c->removed);
        c->modified = managed_writable(a, d->w, c->modified);
        c->added = managed_writable(a, d->w, c->added);
    } else {
        const struct kube_resource *res =
            d->w->res && d->w->version ? d->w->version(d->w->version_arg, v->api_version) : NULL;
        v->missing = !res;
        if (!res)
            return;
        v->type = typed_resource(res);
        typed_compare(a, v->type, as_version(d, d->from, res), as_version(d, d->to, res), c);
    }
    v->taken = field_set_union(a, c->modified, c->added);
}

const struct managed_diff_version *managed_diff_of(struct managed_diff *d, struct str api_version)
{
    for (struct managed_diff_version *v = d->first; v; v = v->next)
        if (str_eq(v->api_version, api_version))
            return v;
    struct managed_diff_version *v = arena_new(d->a, struct managed_diff_version);
    v->api_version = api_version;
    compute(d, v);
    v->next = d->first;
    d->first = v;
    return v;
}

/* The entry's set, adapted to the current schema, or NULL when the change does not touch it. */
static const struct field_set *concerned(struct managed *m, struct managed_entry *e,
                                         const struct managed_diff_version *v)
{
    if (!e->set && e->fields && !field_set_touches(v->taken, e->fields) &&
        !field_set_touches(v->changes.removed, e->fields))
        return NULL;
    const struct field_set *set = managed_set(m, e), *now = typed_reconcile(m->a, v->type, set);
    if (now != set)
        managed_put(e, now);
    return now;
}

struct managed_conflict *managed_conflicts(struct managed *m, struct managed_diff *d,
                                           const struct managed_entry *self)
{
    struct managed_conflict *first = NULL, **end = &first;
    for (struct managed_entry *e = m->first; e; e = e->next) {
        const struct managed_diff_version *v =
            e != self ? managed_diff_of(d, e->api_version) : NULL;
        const struct field_set *set = v && !v->missing ? concerned(m, e, v) : NULL;
        struct field_set *both = set ? field_set_intersection(m->a, set, v->taken) : NULL;
        if (field_set_is_empty(both))
            continue;
        struct managed_conflict *c = arena_new(m->a, struct managed_conflict);
        *c = (struct managed_conflict){ .entry = e, .set = both };
        *end = c;
        end = &c->next;
    }
    return first;
}

void managed_yield(struct managed *m, struct managed_diff *d, const struct managed_entry *self)
{
    struct managed_entry *next;
    for (struct managed_entry *e = m->first; e; e = next) {
        next = e->next;
        if (e == self)
            continue;
        const struct managed_diff_version *v = managed_diff_of(d, e->api_version);
        const struct field_set *set = v->missing ? NULL : concerned(m, e, v);
        if (v->missing)
            drop(m, e);
        if (!set)
            continue;
        struct field_set *rest = field_set_difference(
            m->a, field_set_difference(m->a, set, v->taken), v->changes.removed);
        if (!field_set_equal(rest, set))
            managed_put(e, rest);
    }
    managed_drop_empty(m);
}

/* ---- too many updaters ---- */

static struct managed_entry *first_of_version(struct managed_entry **seen, size_t n,
                                              struct str api_version)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(seen[i]->api_version, api_version))
            return seen[i];
    return NULL;
}

/* Merge the oldest entries of each version, until few enough are left. */
static void cap_updaters(struct managed *m)
{
    size_t n, n_updaters = 0, n_seen = 0;
    for (struct managed_entry *e = m->first; e; e = e->next)
        n_updaters += !e->applied;
    if (n_updaters <= MANAGED_MAX_UPDATERS)
        return;
    struct managed_entry **all = sorted_entries(m, &n);
    struct managed_entry **seen = arena_new_n(m->a, struct managed_entry *, n);
    for (size_t i = 0; i < n && n_updaters > MANAGED_MAX_UPDATERS; i++) {
        struct managed_entry *e = all[i];
        if (e->applied)
            continue;
        struct managed_entry *first = first_of_version(seen, n_seen, e->api_version);
        if (!first) {
            seen[n_seen++] = e;
            continue;
        }
        struct managed_entry like = { .manager = STR(OLD_UPDATERS), .id_version = e->id_version };
        struct managed_entry *bucket = managed_find(m, &like);
        if (bucket == e)
            continue;
        if (!bucket) { /* turn the first entry into the merged one */
            bucket = first;
            bucket->manager = like.manager;
            bucket->subresource = STR("");
        }
        managed_put(bucket, field_set_union(m->a, managed_set(m, e), managed_set(m, bucket)));
        bucket->time = e->time;
        bucket->time_s = e->time_s;
        drop(m, e);
        n_updaters--;
    }
}

/* ---- updates ---- */

/* `[]` and `[{}]` */
static bool is_reset(const struct json *sent)
{
    return json_is(sent, JSON_ARRAY) &&
           (sent->n == 0 ||
            (sent->n == 1 && json_is(sent->first, JSON_OBJECT) && sent->first->n == 0));
}

/* The initial entries: the client's if it may send them and they are valid, else live's. */
static void start(struct arena *a, const struct managed_writer *w, const struct json *live,
                  const struct json *obj, struct managed *m)
{
    const struct json *sent = json_path(obj, "metadata", "managedFields", NULL);
    const struct json *have = json_path(live, "metadata", "managedFields", NULL);
    *m = (struct managed){ .a = a };
    if (w->subresource.n == 0 && is_reset(sent))
        return;
    bool other = w->subresource.n == 0 && sent && !json_equal(sent, have);
    if (other && managed_read_all(a, sent, m) == 0 && m->first)
        return;
    if (managed_read(a, have, m) < 0)
        *m = (struct managed){ .a = a };
}

/* Counts values, up to the limit. */
static size_t count_values(const struct json *v, size_t n)
{
    json_each (child, v) {
        if (++n > MANAGED_MAX_VALUES)
            return n;
        n = count_values(child, n);
    }
    return n;
}

bool managed_is_too_large(const struct json *obj)
{
    return count_values(obj, 0) > MANAGED_MAX_VALUES;
}

void managed_update(struct arena *a, const struct managed_writer *w, const struct json *live,
                    struct json *obj)
{
    struct managed m;
    bool is_create = meta_uid(live).n == 0;
    start(a, w, live, obj, &m);
    managed_store(a, obj, NULL);
    if (managed_is_too_large(obj) || managed_is_too_large(live))
        return;
    if (!m.first && !is_create)
        return;
    struct managed_diff d = { .a = a, .w = w, .from = live, .to = obj };
    const struct managed_diff_version *v = managed_diff_of(&d, managed_api_version(a, w));
    const struct field_set *own = field_set_difference(a, v->taken, managed_strip_set());
    managed_yield(&m, &d, NULL);
    if (!field_set_is_empty(own)) {
        struct managed_entry *e = managed_of_writer(&m, w, false);
        managed_put(e, field_set_union(a, own, managed_set(&m, e)));
        managed_touch(a, e, w->now_s);
    }
    cap_updaters(&m);
    managed_store(a, obj, managed_write(&m));
}

/* ---- comparing ---- */

static bool same_entry(const struct json *x, const struct json *y)
{
    size_t nx = 0, ny = 0;
    json_each (v, x) {
        if (str_is(v->key, "time"))
            continue;
        if (!json_equal(v, json_get(y, v->key)))
            return false;
        nx++;
    }
    json_each (v, y) {
        ny += !str_is(v->key, "time");
    }
    return nx == ny;
}

bool managed_same(const struct json *obj, const struct json *other)
{
    const struct json *x = json_first(json_path(obj, "metadata", "managedFields", NULL)),
                      *y = json_first(json_path(other, "metadata", "managedFields", NULL));
    for (; x && y; x = x->next, y = y->next)
        if (!same_entry(x, y))
            return false;
    return !x && !y;
}
