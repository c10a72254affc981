/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds struct schema from the OpenAPI v3 schema of a CustomResourceDefinition.
 *
 * There are two kinds of nodes: structural ones define the value (type, properties, items,
 * defaults, extensions); below allOf, anyOf, oneOf and not there are only value rules, which become
 * schemas of type SCHEMA_ANY whose fields and items carry more rules. Each rule needs a structural
 * counterpart ("completeness"), so that pruning and defaulting never depend on a combination.
 */
#include "kube/model/schema.h"

#include "base/map.h"

enum level { LEVEL_ROOT, LEVEL_ITEM, LEVEL_FIELD };

struct schema_openapi_build {
    struct arena *a;
    struct field_errors *errs;
    const struct json *stored;   /* the stored definition, or NULL */
    struct map *stored_patterns; /* patterns in it; NULL until needed */
    size_t n_nodes;
    unsigned depth;
};

static const struct schema preserve_any = { .type = SCHEMA_ANY,
                                            .flags = SCHEMA_PRESERVE_UNKNOWN | SCHEMA_NULLABLE };

static const struct schema *build(struct schema_openapi_build *b, const struct json *spec,
                                  enum level level, const struct fpath *at);
static const struct schema *build_rule(struct schema_openapi_build *b, const struct json *spec,
                                       bool allow_types, const struct fpath *at);

static bool flag(const struct json *spec, const char *key)
{
    return json_bool(json_getc(spec, key));
}

static bool has_members(const struct json *v)
{
    return v && v->type >= JSON_ARRAY && v->n > 0;
}

/* ---- errors ---- */

static void required(struct schema_openapi_build *b, const struct fpath *at, const char *key,
                     const char *text)
{
    struct fpath child = fpath_child(at, str_of(key));
    field_error(b->errs, FIELD_REQUIRED, &child, NULL, "%s", text);
}

static void forbidden(struct schema_openapi_build *b, const struct fpath *at, const char *key,
                      const char *text)
{
    struct fpath child = fpath_child(at, str_of(key));
    field_error(b->errs, FIELD_FORBIDDEN, &child, NULL, "%s", text);
}

static void invalid(struct schema_openapi_build *b, const struct fpath *at, const char *key,
                    const struct json *value, const char *text)
{
    struct fpath child = fpath_child(at, str_of(key));
    field_error(b->errs, FIELD_INVALID, &child, value, "%s", text);
}

/* ---- value rules ---- */

static int64_t limit(const struct json *spec, const char *key)
{
    int64_t v = json_int_or(json_getc(spec, key), SCHEMA_NO_LIMIT);
    return v < 0 ? SCHEMA_NO_LIMIT : v;
}

static bool number(const struct json *spec, const char *key, double *ret)
{
    return json_float(json_getc(spec, key), ret) == 0;
}

static void collect_patterns(struct map *into, const struct json *v)
{
    struct str pattern = json_is(v, JSON_OBJECT) ? json_get_str(v, "pattern") : STR("");
    if (pattern.n)
        (void)map_put(into, pattern, (void *)v);
    if (v && v->type >= JSON_ARRAY)
        json_each (m, v)
            collect_patterns(into, m);
}

static bool is_stored_pattern(struct schema_openapi_build *b, struct str pattern)
{
    if (!b->stored)
        return false;
    if (!b->stored_patterns) {
        b->stored_patterns = xnew(struct map);
        b->stored_patterns->borrows_keys = true;
        collect_patterns(b->stored_patterns, b->stored);
    }
    return map_has(b->stored_patterns, pattern);
}

static void set_pattern(struct schema_openapi_build *b, struct schema_rules *r,
                        const struct fpath *at)
{
    struct err err = { 0 };
    if (r->pattern.n == 0 || schema_regex_new(r->pattern, &r->regex, &err) == 0)
        return;
    (void)schema_regex_new_stored(r->pattern, &r->regex, NULL);
    if (is_stored_pattern(b, r->pattern))
        return;
    struct fpath child = fpath_child(at, STR("pattern"));
    field_error_str(b->errs, FIELD_INVALID, &child, r->pattern,
                    "must be a valid regular expression, but isn't: %s", err_text(&err));
}

/* skip_types: the list is part of the int-or-string pattern, which may contain types. */
static const struct schema *const *alternatives(struct schema_openapi_build *b,
                                                const struct json *list, const char *key,
                                                bool skip_types, const struct fpath *at,
                                                size_t *ret_n)
{
    if (!json_is(list, JSON_ARRAY) || list->n == 0) {
        *ret_n = 0;
        return NULL;
    }
    const struct schema **out = arena_new_n(b->a, const struct schema *, list->n);
    struct fpath up = fpath_child(at, str_of(key));
    size_t n = 0;
    json_each (item, list) {
        struct fpath child = fpath_index(&up, n);
        out[n++] = build_rule(b, item, skip_types, &child);
    }
    *ret_n = n;
    return out;
}

static bool is_type_only(const struct json *spec, const char *type)
{
    return spec && spec->n == 1 && str_is(json_get_str(spec, "type"), type);
}

/* [{type: integer}, {type: string}] */
static bool is_int_or_string_list(const struct json *list)
{
    return json_is(list, JSON_ARRAY) && list->n == 2 && is_type_only(list->first, "integer") &&
           is_type_only(json_last(list), "string");
}

static bool has_rules(const struct json *spec)
{
    static const char *const keys[] = { "minimum",
                                        "maximum",
                                        "multipleOf",
                                        "minLength",
                                        "maxLength",
                                        "minItems",
                                        "maxItems",
                                        "minProperties",
                                        "maxProperties",
                                        "uniqueItems",
                                        "pattern",
                                        "format",
                                        "enum",
                                        "allOf",
                                        "anyOf",
                                        "oneOf",
                                        "not",
                                        "required",
                                        "x-kubernetes-validations" };
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (json_getc(spec, keys[i]))
            return true;
    return false;
}

static struct schema_rules *rules_of(struct schema_openapi_build *b, const struct json *spec,
                                     const struct fpath *at)
{
    if (!has_rules(spec))
        return NULL;
    struct schema_rules *r = arena_new(b->a, struct schema_rules);
    r->has_minimum = number(spec, "minimum", &r->minimum);
    r->has_maximum = number(spec, "maximum", &r->maximum);
    r->has_multiple_of = number(spec, "multipleOf", &r->multiple_of);
    r->exclusive_minimum = flag(spec, "exclusiveMinimum");
    r->exclusive_maximum = flag(spec, "exclusiveMaximum");
    r->min_length = limit(spec, "minLength");
    r->max_length = limit(spec, "maxLength");
    r->min_items = limit(spec, "minItems");
    r->max_items = limit(spec, "maxItems");
    r->min_properties = limit(spec, "minProperties");
    r->max_properties = limit(spec, "maxProperties");
    r->unique_items = flag(spec, "uniqueItems");
    r->pattern = json_get_str(spec, "pattern");
    r->format = json_get_str(spec, "format");
    set_pattern(b, r, at);
    if (json_is(json_getc(spec, "enum"), JSON_ARRAY))
        r->enum_values = json_getc(spec, "enum");
    if (has_members(json_getc(spec, "required")))
        r->required = json_getc(spec, "required");
    r->cel = json_getc(spec, "x-kubernetes-validations");

    const struct json *any = json_getc(spec, "anyOf"), *all = json_getc(spec, "allOf");
    bool in_all = json_is(all, JSON_ARRAY) && all->first &&
                  is_int_or_string_list(json_getc(all->first, "anyOf"));
    r->any_of = alternatives(b, any, "anyOf", is_int_or_string_list(any), at, &r->n_any_of);
    r->all_of = alternatives(b, all, "allOf", in_all, at, &r->n_all_of);
    r->one_of = alternatives(b, json_getc(spec, "oneOf"), "oneOf", false, at, &r->n_one_of);
    if (json_is(json_getc(spec, "not"), JSON_OBJECT)) {
        struct fpath child = fpath_child(at, STR("not"));
        r->not_schema = build_rule(b, json_getc(spec, "not"), false, &child);
    }
    return r;
}

static bool too_big(struct schema_openapi_build *b, const struct fpath *at)
{
    if (++b->n_nodes <= SCHEMA_MAX_NODES && b->depth <= SCHEMA_MAX_DEPTH)
        return false;
    if (b->n_nodes <= SCHEMA_MAX_NODES + 1)
        field_error(b->errs, FIELD_FORBIDDEN, at, NULL, "schema is too large");
    return true;
}

static void forbid_structure(struct schema_openapi_build *b, const struct json *spec,
                             bool allow_types, const struct fpath *at)
{
    if (json_get_str(spec, "type").n && !allow_types)
        forbidden(b, at, "type", "must be empty to be structural");
    if (json_getc(spec, "additionalProperties"))
        forbidden(b, at, "additionalProperties", "must be undefined to be structural");
    if (json_getc(spec, "default"))
        forbidden(b, at, "default", "must be undefined to be structural");
    if (json_get_str(spec, "title").n)
        forbidden(b, at, "title", "must be empty to be structural");
    if (json_get_str(spec, "description").n)
        forbidden(b, at, "description", "must be empty to be structural");
    if (flag(spec, "nullable"))
        forbidden(b, at, "nullable", "must be false to be structural");
    if (flag(spec, "x-kubernetes-preserve-unknown-fields"))
        forbidden(b, at, "x-kubernetes-preserve-unknown-fields", "must be false to be structural");
    if (flag(spec, "x-kubernetes-embedded-resource"))
        forbidden(b, at, "x-kubernetes-embedded-resource", "must be false to be structural");
    if (flag(spec, "x-kubernetes-int-or-string"))
        forbidden(b, at, "x-kubernetes-int-or-string", "must be false to be structural");
    if (has_members(json_getc(spec, "x-kubernetes-list-map-keys")))
        forbidden(b, at, "x-kubernetes-list-map-keys", "must be empty to be structural");
    if (json_getc(spec, "x-kubernetes-list-type"))
        forbidden(b, at, "x-kubernetes-list-type", "must be undefined to be structural");
    if (json_getc(spec, "x-kubernetes-map-type"))
        forbidden(b, at, "x-kubernetes-map-type", "must be undefined to be structural");
    if (has_members(json_getc(spec, "x-kubernetes-validations")))
        forbidden(b, at, "x-kubernetes-validations", "must be empty to be structural");
}

static enum schema_type type_of(struct str type)
{
    static const struct {
        const char *name;
        enum schema_type type;
    } names[] = { { "string", SCHEMA_STRING }, { "boolean", SCHEMA_BOOL },
                  { "integer", SCHEMA_INT64 }, { "number", SCHEMA_NUMBER },
                  { "object", SCHEMA_OBJECT }, { "array", SCHEMA_ARRAY } };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(type, names[i].name))
            return names[i].type;
    return SCHEMA_ANY;
}

/* allow_types: part of the int-or-string pattern, directly or one level down. */
static const struct schema *build_rule(struct schema_openapi_build *b, const struct json *spec,
                                       bool allow_types, const struct fpath *at)
{
    if (too_big(b, at) || !json_is(spec, JSON_OBJECT))
        return &preserve_any;
    b->depth++;
    struct schema *s = arena_new(b->a, struct schema);
    s->type = SCHEMA_ANY;
    s->flags = SCHEMA_NULLABLE;
    s->source = spec;
    forbid_structure(b, spec, allow_types, at);
    if (allow_types)
        s->type = (uint8_t)type_of(json_get_str(spec, "type"));
    s->rules = rules_of(b, spec, at);
    const struct json *props = json_getc(spec, "properties");
    if (has_members(props)) {
        (void)schema_fields_new(b->a, s, props->n);
        struct fpath up = fpath_child(at, STR("properties"));
        json_each (p, props) {
            struct fpath child = fpath_key(&up, p->key);
            if (str_is(p->key, "metadata"))
                field_error(b->errs, FIELD_FORBIDDEN, &child, NULL,
                            "must not be specified in a nested context");
            struct schema_field *f = &s->fields[s->n_fields++];
            f->name = p->key;
            f->schema = build_rule(b, p, false, &child);
        }
        schema_fields_done(s);
    }
    if (json_is(json_getc(spec, "items"), JSON_OBJECT)) {
        struct fpath child = fpath_child(at, STR("items"));
        s->items = build_rule(b, json_getc(spec, "items"), false, &child);
    }
    b->depth--;
    return s;
}

/* ---- completeness: every rule has a structural counterpart ---- */

static void complete(struct schema_openapi_build *b, const struct json *rule, const struct json *s,
                     const struct fpath *s_at, const struct fpath *r_at);

static void complete_combinations(struct schema_openapi_build *b, const struct json *rule,
                                  const struct json *s, const struct fpath *s_at,
                                  const struct fpath *r_at)
{
    static const char *const keys[] = { "allOf", "anyOf", "oneOf" };
    for (size_t k = 0; k < ARRAY_LEN(keys); k++) {
        struct fpath up = fpath_child(r_at, str_of(keys[k]));
        size_t i = 0;
        json_each (alt, json_getc(rule, keys[k])) {
            struct fpath child = fpath_index(&up, i++);
            complete(b, alt, s, s_at, &child);
        }
    }
    if (json_getc(rule, "not")) {
        struct fpath child = fpath_child(r_at, STR("not"));
        complete(b, json_getc(rule, "not"), s, s_at, &child);
    }
}

static void complete(struct schema_openapi_build *b, const struct json *rule, const struct json *s,
                     const struct fpath *s_at, const struct fpath *r_at)
{
    if (!s) {
        field_error(b->errs, FIELD_REQUIRED, s_at, NULL, "because it is defined in " STR_FMT,
                    STR_ARG(fpath_text(b->a, r_at)));
        return;
    }
    complete_combinations(b, rule, s, s_at, r_at);
    if (json_getc(rule, "items")) {
        struct fpath s_child = fpath_child(s_at, STR("items"));
        struct fpath r_child = fpath_child(r_at, STR("items"));
        complete(b, json_getc(rule, "items"), json_getc(s, "items"), &s_child, &r_child);
    }
    struct fpath s_up = fpath_child(s_at, STR("properties"));
    struct fpath r_up = fpath_child(r_at, STR("properties"));
    json_each (p, json_getc(rule, "properties")) {
        struct fpath s_child = fpath_key(&s_up, p->key), r_child = fpath_key(&r_up, p->key);
        complete(b, p, json_get(json_getc(s, "properties"), p->key), &s_child, &r_child);
    }
}

/* ---- structural nodes ---- */

static void check_list_map(struct schema_openapi_build *b, const struct json *spec,
                           const struct fpath *at)
{
    const struct json *keys = json_getc(spec, "x-kubernetes-list-map-keys");
    const struct json *items = json_getc(spec, "items");
    if (!has_members(keys))
        required(b, at, "x-kubernetes-list-map-keys",
                 "must not be empty if x-kubernetes-list-type is map");
    if (!items) {
        required(b, at, "items", "must have a schema if x-kubernetes-list-type is map");
        return;
    }
    struct fpath items_at = fpath_child(at, STR("items"));
    if (!str_is(json_get_str(items, "type"), "object")) {
        invalid(b, &items_at, "type", json_getc(items, "type"),
                "must be object if parent array's x-kubernetes-list-type is map");
        return;
    }
    json_each (k, keys) {
        const struct json *prop = json_get(json_getc(items, "properties"), json_str(k));
        struct str type = json_get_str(prop, "type");
        struct fpath props_at = fpath_child(&items_at, STR("properties"));
        struct fpath key_at = fpath_key(&props_at, json_str(k));
        if (!prop)
            invalid(b, at, "x-kubernetes-list-map-keys", keys,
                    "entries must all be names of item properties");
        else if (str_is(type, "array") || str_is(type, "object"))
            invalid(b, &key_at, "type", json_getc(items, "type"),
                    "must be a scalar type if parent array's x-kubernetes-list-type is map");
        /* A key must be required in every item, or have a default. */
        bool given = prop && json_getc(prop, "default");
        json_each (r, json_getc(items, "required")) {
            given = given || str_eq(json_str(r), json_str(k));
        }
        if (prop && !given)
            field_error(
                b->errs, FIELD_REQUIRED, &(struct fpath){ .up = &key_at, .name = STR("default") },
                NULL,
                "this property is in x-kubernetes-list-map-keys, so it must have a default or "
                "be a required property");
    }
}

/* Elements of a set are compared whole, so they must be atomic. */
static void check_set_items(struct schema_openapi_build *b, const struct json *items,
                            const struct fpath *at)
{
    struct fpath items_at = fpath_child(at, STR("items"));
    const struct json *list_type = json_getc(items, "x-kubernetes-list-type");
    struct json none = { .type = JSON_NULL };
    if (str_is(json_get_str(items, "type"), "object") &&
        !str_is(json_get_str(items, "x-kubernetes-map-type"), "atomic"))
        invalid(b, &items_at, "x-kubernetes-map-type", list_type ? list_type : &none,
                "must be atomic as item of a list with x-kubernetes-list-type=set");
    if (str_is(json_get_str(items, "type"), "array") && list_type &&
        !str_is(json_str(list_type), "atomic"))
        invalid(b, &items_at, "x-kubernetes-list-type", list_type,
                "must be atomic as item of a list with x-kubernetes-list-type=set");
}

static void check_list_type(struct schema_openapi_build *b, const struct json *spec,
                            struct schema *s, const struct fpath *at)
{
    static const struct str known[] = { { "atomic", 6 }, { "set", 3 }, { "map", 3 } };
    const struct json *v = json_getc(spec, "x-kubernetes-list-type");
    const struct json *keys = json_getc(spec, "x-kubernetes-list-map-keys");
    struct str type = json_str(v), own = json_get_str(spec, "type");
    if (has_members(keys) && !v)
        required(b, at, "x-kubernetes-list-type",
                 "must be map if x-kubernetes-list-map-keys is non-empty");
    else if (has_members(keys) && !str_is(type, "map"))
        invalid(b, at, "x-kubernetes-list-type", v,
                "must be map if x-kubernetes-list-map-keys is non-empty");
    if (!v)
        return;
    struct fpath here = fpath_child(at, STR("x-kubernetes-list-type"));
    if (!str_is(type, "atomic") && !str_is(type, "set") && !str_is(type, "map"))
        field_error_enum(b->errs, &here, v, known, ARRAY_LEN(known));
    if (own.n == 0)
        required(b, at, "type", "must be array if x-kubernetes-list-type is specified");
    else if (!str_is(own, "array"))
        invalid(b, at, "type", json_getc(spec, "type"),
                "must be array if x-kubernetes-list-type is specified");
    if (str_is(type, "set")) {
        s->list_type = SCHEMA_LIST_SET;
        check_set_items(b, json_getc(spec, "items"), at);
    }
    if (!str_is(type, "map"))
        return;
    size_t before = b->errs->n;
    check_list_map(b, spec, at);
    if (b->errs->n > before) /* the elements cannot be told apart */
        return;
    s->list_type = SCHEMA_LIST_MAP;
    struct str *names = arena_new_n(b->a, struct str, keys && keys->n ? keys->n : 1);
    json_each (k, keys) {
        if (s->n_list_keys < UINT16_MAX)
            names[s->n_list_keys++] = json_str(k);
    }
    s->list_keys = names;
}

static void check_map_type(struct schema_openapi_build *b, const struct json *spec,
                           struct schema *s, const struct fpath *at)
{
    static const struct str known[] = { { "atomic", 6 }, { "granular", 8 } };
    const struct json *v = json_getc(spec, "x-kubernetes-map-type");
    struct str own = json_get_str(spec, "type");
    if (!v)
        return;
    struct fpath here = fpath_child(at, STR("x-kubernetes-map-type"));
    if (own.n == 0)
        required(b, at, "type", "must be object if x-kubernetes-map-type is specified");
    else if (!str_is(own, "object"))
        invalid(b, at, "type", json_getc(spec, "type"),
                "must be object if x-kubernetes-map-type is specified");
    if (str_is(json_str(v), "atomic"))
        s->flags |= SCHEMA_ATOMIC_MAP;
    else if (!str_is(json_str(v), "granular"))
        field_error_enum(b->errs, &here, v, known, ARRAY_LEN(known));
}

/* Upstream cannot make a structural schema of it, and reports nothing more. */
static bool is_unsupported(const struct json *spec)
{
    return json_get_str(spec, "$ref").n || json_get_str(spec, "id").n ||
           has_members(json_getc(spec, "patternProperties")) ||
           has_members(json_getc(spec, "definitions")) ||
           has_members(json_getc(spec, "dependencies"));
}

static void check_type(struct schema_openapi_build *b, const struct json *spec, enum level level,
                       const struct fpath *at)
{
    static const struct str known[] = { { "array", 5 },  { "boolean", 7 }, { "integer", 7 },
                                        { "number", 6 }, { "object", 6 },  { "string", 6 } };
    struct str type = json_get_str(spec, "type");
    const struct json *node = json_getc(spec, "type");
    bool embedded = flag(spec, "x-kubernetes-embedded-resource");
    bool free_form = flag(spec, "x-kubernetes-int-or-string") ||
                     flag(spec, "x-kubernetes-preserve-unknown-fields");
    struct fpath here = fpath_child(at, STR("type"));
    if (type.n && type_of(type) == SCHEMA_ANY) {
        field_error_enum(b->errs, &here, node, known, ARRAY_LEN(known));
    } else if (embedded && type.n == 0) {
        required(b, at, "type", "must be object if x-kubernetes-embedded-resource is true");
    } else if (embedded && !str_is(type, "object")) {
        invalid(b, at, "type", node, "must be object if x-kubernetes-embedded-resource is true");
    } else if (type.n == 0 && !free_form && !is_unsupported(spec)) {
        static const char *const text[] = {
            [LEVEL_ROOT] = "must not be empty at the root",
            [LEVEL_ITEM] = "must not be empty for specified array items",
            [LEVEL_FIELD] = "must not be empty for specified object fields",
        };
        required(b, at, "type", text[level]);
    }
    if (level == LEVEL_ROOT && type.n && !str_is(type, "object"))
        invalid(b, at, "type", node, "must be object at the root");
}

static void check_extensions(struct schema_openapi_build *b, const struct json *spec,
                             const struct fpath *at)
{
    const struct json *preserve = json_getc(spec, "x-kubernetes-preserve-unknown-fields");
    bool int_or_string = flag(spec, "x-kubernetes-int-or-string");
    if (preserve && preserve->type == JSON_FALSE)
        invalid(b, at, "x-kubernetes-preserve-unknown-fields", preserve,
                "must be true or undefined");
    if (int_or_string && json_bool(preserve))
        invalid(b, at, "x-kubernetes-preserve-unknown-fields", preserve,
                "must be false if x-kubernetes-int-or-string is true");
    if (int_or_string && flag(spec, "x-kubernetes-embedded-resource"))
        invalid(b, at, "x-kubernetes-embedded-resource",
                json_getc(spec, "x-kubernetes-embedded-resource"),
                "must be false if x-kubernetes-int-or-string is true");
    if (flag(spec, "uniqueItems"))
        forbidden(
            b, at, "uniqueItems",
            "uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
    if (has_members(json_getc(spec, "patternProperties")))
        forbidden(b, at, "patternProperties", "patternProperties is not supported");
    if (has_members(json_getc(spec, "definitions")))
        forbidden(b, at, "definitions", "definitions is not supported");
    if (has_members(json_getc(spec, "dependencies")))
        forbidden(b, at, "dependencies", "dependencies is not supported");
    if (json_get_str(spec, "$ref").n)
        forbidden(b, at, "$ref", "$ref is not supported");
    if (json_get_str(spec, "id").n)
        forbidden(b, at, "id", "id is not supported");
}

/* metadata may only restrict name and generateName, at the root. */
static bool is_plain_metadata(const struct json *spec)
{
    json_each (m, spec) {
        if (!str_is(m->key, "type") && !str_is(m->key, "properties") && !str_is(m->key, "default"))
            return false;
    }
    json_each (p, json_getc(spec, "properties")) {
        if (!str_is(p->key, "name") && !str_is(p->key, "generateName"))
            return false;
    }
    return true;
}

static void check_resource(struct schema_openapi_build *b, const struct json *spec,
                           enum level level, const struct fpath *at)
{
    bool embedded = flag(spec, "x-kubernetes-embedded-resource");
    const struct json *props = json_getc(spec, "properties");
    struct fpath up = fpath_child(at, STR("properties"));
    if (embedded && json_getc(spec, "additionalProperties"))
        forbidden(b, at, "additionalProperties",
                  "must not be used if x-kubernetes-embedded-resource is set");
    if (embedded && !flag(spec, "x-kubernetes-preserve-unknown-fields") && !has_members(props))
        required(b, at, "properties",
                 "must not be empty if x-kubernetes-embedded-resource is true without "
                 "x-kubernetes-preserve-unknown-fields");
    if (level != LEVEL_ROOT && !embedded)
        return;
    static const char *const strings[] = { "kind", "apiVersion" };
    for (size_t i = 0; i < ARRAY_LEN(strings); i++) {
        const struct json *p = json_getc(props, strings[i]);
        struct fpath child = fpath_key(&up, str_of(strings[i]));
        if (p && !str_is(json_get_str(p, "type"), "string"))
            invalid(b, &child, "type", json_getc(p, "type"), "must be string");
    }
    const struct json *meta = json_getc(props, "metadata");
    struct fpath meta_at = fpath_key(&up, STR("metadata"));
    if (meta && !str_is(json_get_str(meta, "type"), "object"))
        invalid(b, &meta_at, "type", json_getc(meta, "type"), "must be object");
    if (meta && level == LEVEL_ROOT && !is_plain_metadata(meta))
        field_error(b->errs, FIELD_FORBIDDEN, &meta_at, NULL,
                    "must not specify anything other than name and generateName, but metadata is "
                    "implicitly specified");
}

static void build_fields(struct schema_openapi_build *b, const struct json *spec, struct schema *s,
                         const struct fpath *at)
{
    const struct json *props = json_getc(spec, "properties");
    if (!has_members(props))
        return;
    (void)schema_fields_new(b->a, s, props->n);
    struct fpath up = fpath_child(at, STR("properties"));
    json_each (p, props) {
        struct fpath child = fpath_key(&up, p->key);
        struct schema_field *f = &s->fields[s->n_fields++];
        f->name = p->key;
        f->schema = build(b, p, LEVEL_FIELD, &child);
    }
    schema_fields_done(s);
    json_each (r, json_getc(spec, "required")) {
        struct schema_field *f = (struct schema_field *)schema_field(s, json_str(r));
        if (f)
            f->flags |= FIELD_IS_REQUIRED;
    }
}

static void build_additional(struct schema_openapi_build *b, const struct json *spec,
                             struct schema *s, enum level level, const struct fpath *at)
{
    const struct json *more = json_getc(spec, "additionalProperties");
    if (!more)
        return;
    struct fpath child = fpath_child(at, STR("additionalProperties"));
    if (level == LEVEL_ROOT)
        field_error(b->errs, FIELD_FORBIDDEN, &child, NULL, "must not be used at the root");
    if (has_members(json_getc(spec, "properties")) && json_is(more, JSON_OBJECT))
        field_error(b->errs, FIELD_FORBIDDEN, &child, NULL,
                    "additionalProperties and properties are mutual exclusive");
    if (more->type == JSON_FALSE) /* only the declared properties, which is the default anyway */
        return;
    if (s->type == SCHEMA_OBJECT)
        s->type = SCHEMA_MAP;
    s->items = more->type == JSON_TRUE ? &preserve_any : build(b, more, LEVEL_FIELD, &child);
}

static void build_items(struct schema_openapi_build *b, const struct json *spec, struct schema *s,
                        const struct fpath *at)
{
    const struct json *items = json_getc(spec, "items");
    struct fpath child = fpath_child(at, STR("items"));
    if (json_is(items, JSON_ARRAY))
        field_error(b->errs, FIELD_FORBIDDEN, &child, NULL,
                    "items must be a schema object and not an array");
    else if (items)
        s->items = build(b, items, LEVEL_ITEM, &child);
    else if (s->type == SCHEMA_ARRAY)
        field_error(b->errs, FIELD_REQUIRED, &child, NULL, "must be specified");
    if (s->type == SCHEMA_ARRAY && !s->items)
        s->items = &preserve_any;
}

/* Lets evaluators of rules skip parts without rules. */
static void mark_ruled(struct schema *s)
{
    unsigned ruled = s->rules && json_first(s->rules->cel) ? SCHEMA_RULED : 0;
    if (s->items)
        ruled |= s->items->flags & SCHEMA_RULED;
    for (uint32_t i = 0; i < s->n_fields; i++)
        ruled |= s->fields[i].schema->flags & SCHEMA_RULED;
    s->flags |= (uint16_t)ruled;
}

static const struct schema *build(struct schema_openapi_build *b, const struct json *spec,
                                  enum level level, const struct fpath *at)
{
    if (too_big(b, at) || !json_is(spec, JSON_OBJECT))
        return &preserve_any;
    b->depth++;
    struct schema *s = arena_new(b->a, struct schema);
    s->source = spec;
    s->type = (uint8_t)type_of(json_get_str(spec, "type"));
    s->description = json_get_str(spec, "description");
    s->def = json_getc(spec, "default");
    if (json_is(s->def, JSON_NULL))
        s->def = NULL;
    if (flag(spec, "nullable"))
        s->flags |= SCHEMA_NULLABLE;
    if (flag(spec, "x-kubernetes-preserve-unknown-fields"))
        s->flags |= SCHEMA_PRESERVE_UNKNOWN;
    if (flag(spec, "x-kubernetes-embedded-resource"))
        s->flags |= SCHEMA_EMBEDDED;
    if (flag(spec, "x-kubernetes-int-or-string"))
        s->type = SCHEMA_INT_OR_STRING;
    else if (s->type == SCHEMA_INT64 && str_is(json_get_str(spec, "format"), "int32"))
        s->type = SCHEMA_INT32;
    check_extensions(b, spec, at);
    check_resource(b, spec, level, at);
    check_list_type(b, spec, s, at);
    check_map_type(b, spec, s, at);
    if (level == LEVEL_ROOT && flag(spec, "nullable"))
        forbidden(b, at, "nullable", "nullable cannot be true at the root");
    s->rules = rules_of(b, spec, at);
    check_type(b, spec, level, at);
    if (level == LEVEL_ROOT) /* upstream checks the rules of the root only */
        complete_combinations(b, spec, spec, at, at);
    build_fields(b, spec, s, at);
    build_additional(b, spec, s, level, at);
    if (s->type != SCHEMA_MAP)
        build_items(b, spec, s, at);
    mark_ruled(s);
    b->depth--;
    return s;
}

/* ---- defaults must be valid ---- */

static void note_unknown(void *arg, struct str path)
{
    (void)path;
    *(bool *)arg = true;
}

/* Report errors in the value of a default, below the default's path. */
static void report_below(struct schema_openapi_build *b, const struct fpath *at,
                         const struct field_errors *own)
{
    for (const struct field_error *e = own->first; e; e = e->next) {
        struct fpath child = fpath_child(at, e->field);
        field_error_again(b->errs, e, e->field.n ? &child : at);
    }
}

static void check_default(struct schema_openapi_build *b, const struct schema *s,
                          const struct fpath *at)
{
    struct fpath here = fpath_child(at, STR("default"));
    struct json *copy = json_clone(b->a, s->def);
    struct field_errors own = field_errors_init(b->a);
    bool unknown = false;
    schema_prune(s, copy, (s->flags & SCHEMA_EMBEDDED) != 0, note_unknown, &unknown);
    if (unknown)
        field_error(b->errs, FIELD_INVALID, &here, s->def, "must not have unknown fields");
    if (schema_validate(s, s->def, NULL, NULL, &own) < 0)
        field_error(b->errs, FIELD_INVALID, &here, NULL, "takes too much work to validate");
    report_below(b, &here, &own);
}

/* Defaults inside additionalProperties are not checked, as in upstream. */
static void check_defaults(struct schema_openapi_build *b, const struct schema *s,
                           const struct fpath *at)
{
    if (s->def)
        check_default(b, s, at);
    struct fpath props = fpath_child(at, STR("properties")), items = fpath_child(at, STR("items"));
    for (uint32_t i = 0; i < s->n_fields; i++) {
        struct fpath child = fpath_key(&props, s->fields[i].name);
        check_defaults(b, s->fields[i].schema, &child);
    }
    if (s->items && s->type != SCHEMA_MAP)
        check_defaults(b, s->items, &items);
}

/* A definition cannot set defaults for the fields that every object has. */
static void forbid_defaults(struct schema_openapi_build *b, const struct schema *s,
                            const char *where, const struct fpath *at)
{
    struct fpath here = fpath_child(at, STR("default")), props = fpath_child(at, STR("properties"));
    if (s->def)
        field_error(b->errs, FIELD_FORBIDDEN, &here, NULL, "must not be set in top-level %s",
                    where);
    for (uint32_t i = 0; i < s->n_fields; i++) {
        struct fpath child = fpath_key(&props, s->fields[i].name);
        forbid_defaults(b, s->fields[i].schema, where, &child);
    }
}

static void check_root_defaults(struct schema_openapi_build *b, const struct schema *s,
                                const struct fpath *at)
{
    static const char *const own[] = { "apiVersion", "kind", "metadata" };
    struct fpath props = fpath_child(at, STR("properties")), here = fpath_child(at, STR("default"));
    size_t before = b->errs->n;
    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        const struct schema_field *f = schema_field(s, str_of(own[i]));
        struct fpath child = fpath_key(&props, str_of(own[i])),
                     missing = fpath_child(&here, str_of(own[i]));
        if (f)
            forbid_defaults(b, f->schema, own[i], &child);
        if (i < 2 && s->def && json_get_str(s->def, own[i]).n == 0)
            field_error(b->errs, FIELD_REQUIRED, &missing, NULL, "%s", "");
    }
    if (b->errs->n == before)
        check_defaults(b, s, at);
}

int schema_from_openapi(struct arena *a, const struct json *spec, const struct json *stored,
                        const struct fpath *at, struct field_errors *errs,
                        const struct schema **ret)
{
    struct schema_openapi_build b = { .a = a, .errs = errs, .stored = stored };
    size_t before = errs->n;
    const struct schema *s = build(&b, spec, LEVEL_ROOT, at);
    if (errs->n == before)
        check_root_defaults(&b, s, at);
    if (b.stored_patterns)
        map_fini(b.stored_patterns);
    free(b.stored_patterns);
    *ret = s;
    return errs->n == before ? 0 : E_INVALID;
}

static void release_all(const struct schema *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        schema_release(list[i]);
}

void schema_release(const struct schema *s)
{
    if (!s || s == &preserve_any)
        return;
    for (uint32_t i = 0; i < s->n_fields; i++)
        schema_release(s->fields[i].schema);
    schema_release(s->items);
    if (!s->rules)
        return;
    schema_regex_free(s->rules->regex);
    release_all(s->rules->all_of, s->rules->n_all_of);
    release_all(s->rules->any_of, s->rules->n_any_of);
    release_all(s->rules->one_of, s->rules->n_one_of);
    schema_release(s->rules->not_schema);
}
