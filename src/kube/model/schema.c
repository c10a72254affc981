/* SPDX-License-Identifier: Apache-2.0 */
/* Schemas: access, pruning, defaulting; see schema.h. */
#include "kube/model/schema.h"

#include "kube/model/builtin_tables.h"

static const struct {
    const char *type, *format;
} type_names[] = {
#define SCHEMA_TYPE_ROW(name, type, format) [name] = { type, format },
    SCHEMA_TYPES(SCHEMA_TYPE_ROW)
#undef SCHEMA_TYPE_ROW
};

const struct schema_field *schema_fields(const struct schema *s, size_t *ret_n)
{
    if (s->builtin && !s->fields) {
        struct schema *mut =
            (struct schema *)s; /* the lazily filled part of an otherwise constant struct */
        mut->fields = builtin_expand((uint16_t)(s->builtin - 1), &mut->n_fields);
    }
    *ret_n = s->n_fields;
    return s->fields;
}

/* A long field list is followed by its indexes (uint32_t) in the order of the names. */
enum { SORTED_MIN = 32 };

struct schema_field *schema_fields_new(struct arena *a, struct schema *s, size_t n)
{
    size_t order = n > SORTED_MIN ? n * sizeof(uint32_t) : 0;
    s->fields = arena_alloc(a, n * sizeof *s->fields + order);
    return s->fields;
}

static int cmp_fields(const void *x, const void *y, void *arg)
{
    const struct schema_field *f = arg;
    return str_cmp(f[*(const uint32_t *)x].name, f[*(const uint32_t *)y].name);
}

void schema_fields_done(struct schema *s)
{
    uint32_t *order = (uint32_t *)(s->fields + s->n_fields);
    if (s->n_fields <= SORTED_MIN)
        return;
    for (uint32_t i = 0; i < s->n_fields; i++)
        order[i] = i;
    qsort_r(order, s->n_fields, sizeof *order, cmp_fields, s->fields);
}

static const struct schema_field *find_sorted(const struct schema_field *f, size_t n,
                                              struct str name)
{
    const uint32_t *order = (const uint32_t *)(f + n);
    size_t from = 0, to = n;
    while (from < to) {
        size_t at = from + (to - from) / 2;
        int r = str_cmp(f[order[at]].name, name);
        if (r == 0)
            return &f[order[at]];
        if (r < 0)
            from = at + 1;
        else
            to = at;
    }
    return NULL;
}

const struct schema_field *schema_field(const struct schema *s, struct str name)
{
    size_t n;
    const struct schema_field *f = schema_fields(s, &n);
    if (n > SORTED_MIN && !s->builtin) /* built-in types have few fields */
        return find_sorted(f, n, name);
    for (size_t i = 0; i < n; i++)
        if (str_eq(f[i].name, name))
            return &f[i];
    return NULL;
}

const char *schema_type_name(const struct schema *s)
{
    return type_names[s->type].type;
}

const char *schema_type_format(const struct schema *s)
{
    return type_names[s->type].format;
}

const struct schema *schema_child(const struct schema *s, struct str key)
{
    if (!s)
        return NULL;
    const struct schema_field *f = schema_field(s, key);
    if (f)
        return f->schema;
    return s->type == SCHEMA_MAP ? s->items : NULL;
}

/* ---- pruning ---- */

struct prune {
    schema_unknown_fn unknown;
    void *arg;
};

static bool is_object_meta(struct str key)
{
    return str_is(key, "apiVersion") || str_is(key, "kind") || str_is(key, "metadata");
}

static void tell_unknown(struct prune *p, const struct fpath *at)
{
    if (!p->unknown)
        return;
    struct buf b = BUF_INIT(16 * 1024);
    fpath_write(&b, at);
    p->unknown(p->arg, buf_str(&b));
    buf_fini(&b);
}

static void prune(struct prune *p, const struct schema *s, struct json *v, bool is_resource,
                  const struct fpath *at);

static void prune_object(struct prune *p, const struct schema *s, struct json *v, bool is_resource,
                         const struct fpath *at)
{
    struct json *next;
    for (struct json *m = v->first; m; m = next) {
        next = m->next;
        struct fpath child = fpath_child(at, m->key);
        if (is_resource && is_object_meta(m->key))
            continue;
        const struct schema *sub = schema_child(s, m->key);
        if (sub) {
            prune(p, sub, m, (sub->flags & SCHEMA_EMBEDDED) != 0, &child);
        } else if (!(s->flags & SCHEMA_PRESERVE_UNKNOWN)) {
            tell_unknown(p, &child);
            (void)json_remove(v, m);
        }
    }
}

static void prune(struct prune *p, const struct schema *s, struct json *v, bool is_resource,
                  const struct fpath *at)
{
    if (v->type == JSON_OBJECT) {
        /*
         * A value that is not an object by its schema, like int-or-string, fails validation later.
         */
        if (s->type == SCHEMA_OBJECT || s->type == SCHEMA_MAP || s->flags & SCHEMA_PRESERVE_UNKNOWN)
            prune_object(p, s, v, is_resource, at);
    } else if (v->type == JSON_ARRAY && s->items && s->type == SCHEMA_ARRAY) {
        size_t i = 0;
        json_each (item, v) {
            struct fpath child = fpath_index(at, i++);
            prune(p, s->items, item, (s->items->flags & SCHEMA_EMBEDDED) != 0, &child);
        }
    }
}

void schema_prune(const struct schema *s, struct json *v, bool is_root, schema_unknown_fn unknown,
                  void *arg)
{
    struct prune p = { .unknown = unknown, .arg = arg };
    prune(&p, s, v, is_root, NULL);
}

/* ---- defaulting ---- */

/* Remove nulls of fields that are not nullable, unless a default replaces them. */
static void drop_nulls(const struct schema *s, struct json *v)
{
    struct json *next;
    for (struct json *m = v->first; m; m = next) {
        next = m->next;
        const struct schema *sub = m->type == JSON_NULL ? schema_child(s, m->key) : NULL;
        bool holds_null = sub && (sub->flags & SCHEMA_NULLABLE || sub->def);
        if (sub && !holds_null)
            (void)json_remove(v, m);
    }
}

static void default_fields(struct arena *a, const struct schema *s, struct json *v)
{
    size_t n;
    const struct schema_field *f = schema_fields(s, &n);
    json_index(a, v);
    for (size_t i = 0; i < n; i++) {
        if (!f[i].schema->def)
            continue;
        struct json *m = json_get(v, f[i].name);
        bool nullable = f[i].schema->flags & SCHEMA_NULLABLE;
        if (!m || (m->type == JSON_NULL && !nullable))
            json_set(a, v, f[i].name, json_clone(a, f[i].schema->def));
    }
}

static void fill(struct arena *a, const struct schema *s, struct json *v, bool keep_nulls)
{
    if (arena_is_full(a))
        return;
    if (v->type == JSON_OBJECT && (s->type == SCHEMA_OBJECT || s->type == SCHEMA_MAP)) {
        if (!keep_nulls)
            drop_nulls(s, v);
        default_fields(a, s, v);
        json_each (m, v) {
            const struct schema *sub = schema_child(s, m->key);
            if (!sub)
                continue;
            if (m->type == JSON_NULL && sub->def && s->type == SCHEMA_MAP &&
                !(sub->flags & SCHEMA_NULLABLE))
                json_replace(m, json_clone(a, sub->def));
            fill(a, sub, m, keep_nulls);
        }
    } else if (v->type == JSON_ARRAY && s->type == SCHEMA_ARRAY && s->items) {
        json_each (item, v) {
            if (item->type == JSON_NULL && s->items->def && !(s->items->flags & SCHEMA_NULLABLE))
                json_replace(item, json_clone(a, s->items->def));
            fill(a, s->items, item, keep_nulls);
        }
    }
}

void schema_default(struct arena *a, const struct schema *s, struct json *v)
{
    fill(a, s, v, false);
}

void schema_default_applied(struct arena *a, const struct schema *s, struct json *v)
{
    fill(a, s, v, true);
}
