/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations: how expressions see a schema, and the maximal sizes of values. See cel_static.h. */
#include "kube/cel/cel_static.h"

#include "codec/json.h"
#include "kube/cel/cel_int.h"

/* Sizes of JSON texts, as upstream assumes them. */
enum {
    REQUEST_MAX_BYTES = 3 << 20,
    MIN_TEXT = 2,       /* "" */
    MIN_BOOL = 4,       /* true */
    MIN_NUMBER = 1,     /* 0 */
    MIN_DURATION = 3,   /* "0" */
    MIN_DATE = 12,      /* "2006-01-02" */
    MIN_DATE_TIME = 21, /* "2006-01-02T15:04:05Z" less 1 */
    MAX_TIME = 32       /* of a duration or date-time */
};

#define STATIC(name_, kind_) const struct cel_static name_ = { .kind = kind_ }
STATIC(cel_static_dyn, CEL_KIND_DYN);
STATIC(cel_static_bool, CEL_KIND_BOOL);
STATIC(cel_static_int, CEL_KIND_INT);
STATIC(cel_static_string, CEL_KIND_STRING);
STATIC(cel_static_timestamp, CEL_KIND_TIMESTAMP);
static STATIC(static_double, CEL_KIND_DOUBLE);
static STATIC(static_bytes, CEL_KIND_BYTES);
static STATIC(static_duration, CEL_KIND_DURATION);
const struct cel_static cel_static_authorizer = { .kind = CEL_KIND_OBJECT,
                                                  .name = "kubernetes.authorization.Authorizer" };
const struct cel_static cel_static_request_resource = {
    .kind = CEL_KIND_OBJECT, .name = "kubernetes.authorization.ResourceCheck"
};

const struct cel_static *cel_static_list(struct arena *a, const struct cel_static *of)
{
    struct cel_static *t = arena_new(a, struct cel_static);
    *t = (struct cel_static){ .kind = CEL_KIND_LIST, .n = 1, .open = of->open, .params = { of } };
    return t;
}

const struct cel_static *cel_static_map(struct arena *a, const struct cel_static *of)
{
    struct cel_static *t = arena_new(a, struct cel_static);
    *t = (struct cel_static){
        .kind = CEL_KIND_MAP, .n = 2, .open = of->open, .params = { &cel_static_string, of }
    };
    return t;
}

const struct cel_static *cel_static_optional(struct arena *a, const struct cel_static *of)
{
    struct cel_static *t = arena_new(a, struct cel_static);
    *t = (struct cel_static){
        .kind = CEL_KIND_OPAQUE, .n = 1, .open = of->open, .name = "optional_type", .params = { of }
    };
    return t;
}

/* ------------------------------------------------------------------ from a schema */

static uint64_t limit_or(int64_t limit, uint64_t otherwise)
{
    return limit == SCHEMA_NO_LIMIT ? otherwise : (uint64_t)MAX(limit, (int64_t)0);
}

static uint64_t longest(const struct json *texts)
{
    uint64_t n = 0;
    json_each (v, texts)
        if (v->type == JSON_STRING)
            n = MAX(n, (uint64_t)json_str(v).n);
    return n;
}

/* A character takes up to four bytes. */
static uint64_t text_max(const struct schema_rules *r)
{
    if (r && r->max_length != SCHEMA_NO_LIMIT)
        return limit_or(r->max_length, 0) * 4;
    if (r && json_first(r->enum_values))
        return longest(r->enum_values);
    return REQUEST_MAX_BYTES - 2;
}

/* In the schema of a CustomResourceDefinition the type is "string" whatever the format is. */
static void declare_text(struct cel_decl *d, struct str format)
{
    const struct schema_rules *r = d->schema->rules;
    d->type = &cel_static_string;
    d->min_bytes = MIN_TEXT;
    d->max_elements = text_max(r);
    if (str_is(format, "byte")) {
        d->type = &static_bytes;
        d->max_elements = limit_or(r ? r->max_length : SCHEMA_NO_LIMIT, REQUEST_MAX_BYTES - 2);
    } else if (str_is(format, "duration")) {
        d->type = &static_duration;
        d->min_bytes = MIN_DURATION;
        d->max_elements = MAX_TIME;
    } else if (str_is(format, "date")) {
        d->type = &cel_static_timestamp;
        d->min_bytes = d->max_elements = MIN_DATE;
    } else if (str_is(format, "date-time")) {
        d->type = &cel_static_timestamp;
        d->min_bytes = MIN_DATE_TIME;
        d->max_elements = MAX_TIME;
    }
}

static struct cel_decl *part_of(const struct cel_decl *up, struct str part, const struct schema *s,
                                bool is_resource);

static bool declare_items(struct cel_decl *d)
{
    const struct schema *s = d->schema;
    const struct schema_rules *r = s->rules;
    bool list = s->type == SCHEMA_ARRAY;
    d->items = s->items ? part_of(d, list ? STR("@idx") : STR("@elem"), s->items,
                                  s->items->flags & SCHEMA_EMBEDDED)
                        : NULL;
    if (!d->items)
        return false;
    d->min_bytes = 2;
    d->type = list ? cel_static_list(d->a, d->items->type) : cel_static_map(d->a, d->items->type);
    int64_t given = !r ? SCHEMA_NO_LIMIT : list ? r->max_items : r->max_properties;
    uint64_t each = d->items->min_bytes + (list ? 1 : 6);
    d->max_elements = limit_or(given, (REQUEST_MAX_BYTES - 2) / each);
    return true;
}

static const struct schema text_schema = { .type = SCHEMA_STRING };
static struct schema_field meta_fields[] = { { .name = { "name", 4 }, .schema = &text_schema },
                                             { .name = { "generateName", 12 },
                                               .schema = &text_schema } };
static const struct schema object_meta = { .type = SCHEMA_OBJECT,
                                           .n_fields = ARRAY_LEN(meta_fields),
                                           .fields = meta_fields };
static const char *const meta_names[3] = { "apiVersion", "kind", "metadata" };

static bool has_field(const struct schema *s, const char *name, bool is_object)
{
    const struct schema_field *f = schema_field(s, str_of(name));
    return f && f->schema->type == (is_object ? SCHEMA_OBJECT : SCHEMA_STRING);
}

/* The schema declares the fields that every resource has. */
static bool tells_meta(const struct schema *s)
{
    const struct schema_field *f = schema_field(s, STR("metadata"));
    return has_field(s, "kind", false) && has_field(s, "apiVersion", false) &&
           has_field(s, "metadata", true) && has_field(f->schema, "name", false) &&
           has_field(f->schema, "generateName", false);
}

static const struct schema *meta_of(const struct cel_decl *d, struct str name, size_t *ret_i)
{
    for (size_t i = 0; d->is_resource && i < ARRAY_LEN(meta_names); i++) {
        if (!str_is(name, meta_names[i]))
            continue;
        *ret_i = i;
        return i < 2 ? &text_schema : d->metadata ? d->metadata : &object_meta;
    }
    return NULL;
}

/* The i-th field of the schema; NULL: not visible to expressions. */
static const struct cel_decl *field_at(struct cel_decl *d, size_t i)
{
    size_t n;
    const struct schema_field *f = schema_fields(d->schema, &n);
    size_t meta;
    const struct schema *s = meta_of(d, f[i].name, &meta);
    if (!d->fields)
        d->fields = arena_new_n(d->a, struct cel_decl *, n);
    if (!d->fields[i])
        d->fields[i] = part_of(d, f[i].name, s ? s : f[i].schema,
                               !s && (f[i].schema->flags & SCHEMA_EMBEDDED));
    return d->fields[i];
}

/* Minimal size: {} and the required fields that have no default. */
static uint64_t object_min(struct cel_decl *d)
{
    size_t n;
    const struct schema_field *f = schema_fields(d->schema, &n);
    uint64_t bytes = 2;
    for (size_t i = 0; i < n; i++) {
        if (!(f[i].flags & FIELD_IS_REQUIRED) || f[i].schema->def)
            continue;
        const struct cel_decl *field = field_at(d, i);
        if (field)
            bytes += f[i].name.n + field->min_bytes + 4;
    }
    return bytes;
}

static bool is_builtin(const struct schema *s)
{
    return s->flags & SCHEMA_BUILTIN;
}

/* false: not visible to expressions. */
static bool declare(struct cel_decl *d)
{
    const struct schema *s = d->schema;
    const struct schema_rules *r = s->rules;
    struct cel_static *t;
    switch ((enum schema_type)s->type) {
    case SCHEMA_INT_OR_STRING:
        d->type = &cel_static_dyn;
        d->min_bytes = 1;
        d->max_elements = r && r->max_length != SCHEMA_NO_LIMIT ? limit_or(r->max_length, 0) * 4
                                                                : REQUEST_MAX_BYTES - 2;
        return true;
    case SCHEMA_STRING:
    case SCHEMA_DURATION:
    case SCHEMA_QUANTITY:
        declare_text(d, r ? r->format : STR(""));
        return true;
    case SCHEMA_BYTES:
        declare_text(d, STR("byte"));
        return true;
    case SCHEMA_TIME:
    case SCHEMA_MICRO_TIME:
        declare_text(d, STR("date-time"));
        return true;
    case SCHEMA_BOOL:
        d->type = &cel_static_bool;
        d->min_bytes = MIN_BOOL;
        return true;
    case SCHEMA_INT32:
    case SCHEMA_INT64:
        d->type = &cel_static_int;
        d->min_bytes = MIN_NUMBER;
        return true;
    case SCHEMA_NUMBER:
        d->type = &static_double;
        d->min_bytes = MIN_NUMBER;
        return true;
    case SCHEMA_ARRAY:
    case SCHEMA_MAP:
        return declare_items(d);
    case SCHEMA_OBJECT:
    case SCHEMA_RAW:
    case SCHEMA_FIELDS:
        t = arena_new(d->a, struct cel_static);
        *t = (struct cel_static){ .kind = CEL_KIND_OBJECT, .decl = d };
        d->type = t;
        d->min_bytes = is_builtin(s) ? 2 : object_min(d);
        return true;
    case SCHEMA_ANY:
        return false;
    }
    return false;
}

static struct cel_decl *make(struct cel_decl from)
{
    struct cel_decl *d = arena_new(from.a, struct cel_decl);
    *d = from;
    d->is_resource = d->is_resource && d->schema->type == SCHEMA_OBJECT &&
                     (d->metadata || !tells_meta(d->schema));
    return declare(d) ? d : NULL;
}

static struct cel_decl *part_of(const struct cel_decl *up, struct str part, const struct schema *s,
                                bool is_resource)
{
    return make((struct cel_decl){
        .a = up->a, .schema = s, .up = up, .part = part, .is_resource = is_resource });
}

struct cel_decl *cel_decl_new(struct arena *a, const struct schema *s, bool is_resource,
                              const char *name)
{
    return make((struct cel_decl){ .a = a, .schema = s, .name = name, .is_resource = is_resource });
}

struct cel_decl *cel_decl_resource(struct arena *a, const struct schema *s,
                                   const struct schema *metadata, const char *name)
{
    return make((struct cel_decl){
        .a = a, .schema = s, .name = name, .is_resource = true, .metadata = metadata });
}

struct cel_decl *cel_decl_object(struct arena *a, const char *name,
                                 const struct cel_decl_field *fields, size_t n)
{
    struct cel_decl *d = arena_new(a, struct cel_decl);
    struct cel_static *t = arena_new(a, struct cel_static);
    *t = (struct cel_static){ .kind = CEL_KIND_OBJECT, .decl = d };
    *d =
        (struct cel_decl){ .type = t, .name = name, .given = fields, .n_given = n, .min_bytes = 2 };
    return d;
}

struct cel_decl *cel_decl_of(struct arena *a, const struct cel_static *type)
{
    struct cel_decl *d = arena_new(a, struct cel_decl);
    *d = (struct cel_decl){ .a = a, .type = type };
    return d;
}

const struct cel_decl *cel_decl_field(const struct cel_decl *d, struct str name)
{
    struct cel_decl *changed = (struct cel_decl *)d;
    size_t i, n;
    for (i = 0; i < d->n_given; i++)
        if (str_eq(d->given[i].name, name))
            return d->given[i].decl;
    if (!d->schema || d->schema->type != SCHEMA_OBJECT)
        return NULL;
    struct str plain = cel_unescape(d->a, name);
    const struct schema_field *f = schema_field(d->schema, plain);
    if (f)
        return field_at(changed, (size_t)(f - schema_fields(d->schema, &n)));
    const struct schema *s = meta_of(d, plain, &i);
    if (s && !d->meta[i])
        changed->meta[i] = part_of(d, str_of(meta_names[i]), s, false);
    return s ? d->meta[i] : NULL;
}

const struct cel_decl *cel_decl_part(const struct cel_decl *d, struct str name)
{
    size_t n;
    const struct schema_field *f =
        d->schema && d->schema->type == SCHEMA_OBJECT ? schema_field(d->schema, name) : NULL;
    return f ? field_at((struct cel_decl *)d, (size_t)(f - schema_fields(d->schema, &n))) : NULL;
}

uint64_t cel_decl_cardinality(const struct cel_decl *d)
{
    return REQUEST_MAX_BYTES / (d->min_bytes + 1);
}
