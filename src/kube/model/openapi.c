/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenAPI documents; see openapi.h.
 *
 * One writer for both versions. They differ in where schemas are ("components/schemas" or
 * "definitions") and how bodies and parameters are described; version 2 has no combinations (oneOf
 * and the like) and no nullable.
 */
#include "kube/model/openapi.h"

#include "base/version.h"
#include "codec/digest.h"
#include "kube/model/builtin.h"
#include "kube/model/builtin_docs.h"
#include "kube/model/builtin_tables.h"
#include "kube/model/openapi_proto.h"

#include <errno.h>
#include <string.h>

#define META_V1 "io.k8s.apimachinery.pkg.apis.meta.v1."

struct openapi_doc {
    struct arena *a;
    bool v2;
    const struct builtin_docs *docs;
    struct json *schemas; /* name -> schema; grows while references are followed */
    struct json *paths;
};

static struct json *schema_json(struct openapi_doc *d, const struct schema *s);

static struct json *typed(struct arena *a, const char *type, const char *format)
{
    struct json *o = json_new_object(a);
    if (type[0])
        json_set_str(a, o, "type", str_of(type));
    if (format[0])
        json_set_str(a, o, "format", str_of(format));
    return o;
}

static struct json *ref(struct openapi_doc *d, struct str name)
{
    struct json *o = json_new_object(d->a);
    json_set_str(d->a, o, "$ref",
                 str_of(arena_printf(d->a, "#/%s/" STR_FMT,
                                     d->v2 ? "definitions" : "components/schemas", STR_ARG(name))));
    return o;
}

/* ---- built-in types ---- */

/* The OpenAPI name of a type in BUILTIN_LEAVES; others are described by their structure. */
static const char *leaf_name(enum schema_type type)
{
    switch ((int)type) {
#define LEAF_NAME(leaf, name)                                                                      \
    case leaf:                                                                                     \
        return name;
        BUILTIN_LEAVES(LEAF_NAME)
#undef LEAF_NAME
    }
    return NULL;
}

/* text is borrowed; "" adds nothing. */
static void describe(struct openapi_doc *d, struct json *to, struct str text)
{
    if (text.n == 0)
        return;
    struct json *v = arena_new(d->a, struct json);
    *v = (struct json){ .type = JSON_STRING, .s = text };
    json_setc(d->a, to, "description", v);
}

static struct json *either(struct arena *a, const char *x, const char *y)
{
    struct json *o = json_new_object(a), *list = json_new_array(a);
    json_add(list, typed(a, x, ""));
    json_add(list, typed(a, y, ""));
    json_setc(a, o, "oneOf", list);
    return o;
}

static struct json *leaf_json(struct openapi_doc *d, const struct schema *s)
{
    if (!d->v2 && s->type == SCHEMA_QUANTITY)
        return either(d->a, "string", "number");
    if (!d->v2 && s->type == SCHEMA_INT_OR_STRING) {
        struct json *o = either(d->a, "integer", "string");
        json_set_str(d->a, o, "format", STR("int-or-string"));
        return o;
    }
    return typed(d->a, schema_type_name(s), schema_type_format(s));
}

static struct json *define_leaf(struct openapi_doc *d, const struct schema *s, const char *name)
{
    if (!json_getc(d->schemas, name)) {
        struct json *leaf = leaf_json(d, s);
        describe(d, leaf, builtin_doc_leaf(d->docs, (enum schema_type)s->type));
        json_setc(d->a, d->schemas, name, leaf);
    }
    return ref(d, str_of(name));
}

static void add_gvk(struct arena *a, struct json *to, struct str group, struct str version,
                    struct str kind)
{
    struct json *list = json_getc(to, "x-kubernetes-group-version-kind"), *gvk = json_new_object(a);
    if (!list) {
        list = json_new_array(a);
        json_setc(a, to, "x-kubernetes-group-version-kind", list);
    }
    json_set_str(a, gvk, "group", group);
    json_set_str(a, gvk, "kind", kind);
    json_set_str(a, gvk, "version", version);
    json_add(list, gvk);
}

/*
 * Patch strategy of an object, given at its place of use; add_list_extensions() does it for lists.
 */
static const char *patch_strategy(const struct schema *s)
{
    if (!s || s->type != SCHEMA_OBJECT)
        return NULL;
    return s->flags & SCHEMA_PATCH_RETAIN_KEYS ? "retainKeys"
           : s->flags & SCHEMA_PATCH_REPLACE   ? "replace"
                                               : NULL;
}

/*
 * Add the parts of a property that depend on its place of use; returns the property. s: NULL:
 * without a patch strategy.
 */
static struct json *used_as(struct openapi_doc *d, struct json *p, struct str text,
                            const struct json *def, const struct schema *s)
{
    const char *strategy = patch_strategy(s);
    /* In version 3 a reference may have no siblings. */
    if (!d->v2 && json_getc(p, "$ref") && (text.n || def || strategy)) {
        struct json *wrapped = json_new_object(d->a), *all = json_new_array(d->a);
        json_add(all, p);
        json_setc(d->a, wrapped, "allOf", all);
        p = wrapped;
    }
    describe(d, p, text);
    if (strategy)
        json_set_str(d->a, p, "x-kubernetes-patch-strategy", str_of(strategy));
    if (def && !json_getc(p, "$ref"))
        json_setc(d->a, p, "default", json_clone(d->a, def));
    return p;
}

/* Named types that accept any value; the names are kept for tools that know them. */
#define API_EXTENSIONS "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."

static const struct {
    const char *field, *type, *around; /* around: keyword of the list or map that contains it */
} json_fields[] = {
    { "additionalItems", API_EXTENSIONS "JSONSchemaPropsOrBool", NULL },
    { "additionalProperties", API_EXTENSIONS "JSONSchemaPropsOrBool", NULL },
    { "default", API_EXTENSIONS "JSON", NULL },
    { "dependencies", API_EXTENSIONS "JSONSchemaPropsOrStringArray", "additionalProperties" },
    { "enum", API_EXTENSIONS "JSON", "items" },
    { "example", API_EXTENSIONS "JSON", NULL },
    { "items", API_EXTENSIONS "JSONSchemaPropsOrArray", NULL },
};

static struct json *define_json(struct openapi_doc *d, const char *name)
{
    const char *text = "Any JSON value.";
    if (str_has_suffix(str_of(name), STR("OrBool")))
        text = "A schema, or true for anything and false for nothing.";
    else if (str_has_suffix(str_of(name), STR("OrStringArray")))
        text = "A schema, or a list of names of properties.";
    else if (str_has_suffix(str_of(name), STR("OrArray")))
        text = "A schema, or a list of schemas.";
    if (!json_getc(d->schemas, name))
        json_set_str(d->a, json_obj(d->a, d->schemas, name), "description", str_of(text));
    return ref(d, str_of(name));
}

/* The property p of a type, or its replacement in a JSONSchemaProps. */
static struct json *json_field(struct openapi_doc *d, const struct schema *of, struct str field,
                               struct json *p)
{
    if (!str_is(builtin_type_name(of), API_EXTENSIONS "JSONSchemaProps"))
        return p;
    for (size_t i = 0; i < ARRAY_LEN(json_fields); i++) {
        if (!str_is(field, json_fields[i].field))
            continue;
        struct json *any = define_json(d, json_fields[i].type);
        if (!json_fields[i].around)
            return any;
        json_setc(d->a, p, json_fields[i].around, any);
    }
    return p;
}

/* Fields explicitly marked granular, the default, because their type is marked otherwise. */
static bool is_granular(const struct schema *of, struct str field)
{
    struct str name = builtin_type_name(of);
    return (str_is(field, "claimRef") && str_is(name, "io.k8s.api.core.v1.PersistentVolumeSpec")) ||
           (str_is(field, "allocatedResourceStatuses") &&
            str_is(name, "io.k8s.api.core.v1.PersistentVolumeClaimStatus"));
}

static struct json *object_json(struct openapi_doc *d, const struct schema *s)
{
    struct json *o = typed(d->a, "object", ""), *props = json_new_object(d->a);
    struct json *required = json_new_array(d->a);
    size_t n;
    const struct schema_field *f = schema_fields(s, &n);
    describe(d, o, builtin_doc_type(d->docs, s));
    for (size_t i = 0; i < n; i++) {
        struct json *p = json_field(d, s, f[i].name, schema_json(d, f[i].schema));
        struct str text = builtin_doc_field(d->docs, s, i);
        p = used_as(d, p, text, f[i].schema->def, f[i].schema);
        if (is_granular(s, f[i].name))
            json_set_str(d->a, p, "x-kubernetes-map-type", STR("granular"));
        json_set(d->a, props, f[i].name, p);
        if (f[i].flags & FIELD_IS_REQUIRED)
            json_add(required, json_new_str(d->a, f[i].name));
    }
    if (n)
        json_setc(d->a, o, "properties", props);
    if (required->n)
        json_setc(d->a, o, "required", required);
    return o;
}

/* Kinds that exist in every group count as core's; a LabelSelector is not a kind. */
static void add_kind(struct arena *a, struct json *to, struct str group, struct str version,
                     struct str kind)
{
    bool own = str_has_prefix(kind, STR("Table")) || str_has_prefix(kind, STR("Partial"));
    if (str_is(kind, "LabelSelector"))
        return;
    add_gvk(a, to, str_is(group, "meta.k8s.io") && !own ? STR("") : group, version, kind);
}

/*
 * Define the type of an object schema, once; the name is registered before its fields are followed.
 */
static struct json *define_object(struct openapi_doc *d, const struct schema *s)
{
    struct str name = builtin_type_name(s);
    if (!json_get(d->schemas, name)) {
        struct json *slot = json_new_object(d->a);
        json_set(d->a, d->schemas, name, slot);
        json_replace(slot, object_json(d, s));
        for (uint16_t i = 0; i < builtin_n_kinds; i++) {
            const struct builtin_kind_row *k = &builtin_kinds[i];
            if (k->type + 1 == s->builtin)
                add_kind(d->a, slot, str_of(builtin_strings + k->group),
                         str_of(builtin_strings + k->version), str_of(builtin_strings + k->kind));
        }
    }
    return ref(d, name);
}

static struct json *strings_json(struct arena *a, const struct str *s, size_t n)
{
    struct json *list = json_new_array(a);
    for (size_t i = 0; i < n; i++)
        json_add(list, json_new_str(a, s[i]));
    return list;
}

static void add_list_extensions(struct openapi_doc *d, const struct schema *s, struct json *o)
{
    static const char *const names[] = { "atomic", "set", "map" };
    if (s->list_type != SCHEMA_LIST_ATOMIC || s->flags & SCHEMA_ATOMIC_LIST)
        json_set_str(d->a, o, "x-kubernetes-list-type", str_of(names[s->list_type]));
    if (s->n_list_keys)
        json_setc(d->a, o, "x-kubernetes-list-map-keys",
                  strings_json(d->a, s->list_keys, s->n_list_keys));
    if (s->patch_key.n)
        json_set_str(d->a, o, "x-kubernetes-patch-merge-key", s->patch_key);
    bool merges = s->flags & SCHEMA_PATCH_MERGE, retains = s->flags & SCHEMA_PATCH_RETAIN_KEYS;
    if (merges || retains)
        json_set_str(d->a, o, "x-kubernetes-patch-strategy",
                     str_of(merges && retains ? "merge,retainKeys"
                            : merges          ? "merge"
                                              : "retainKeys"));
}

static struct json *schema_json(struct openapi_doc *d, const struct schema *s)
{
    const char *leaf = leaf_name((enum schema_type)s->type);
    if (leaf)
        return define_leaf(d, s, leaf);
    if (s->type == SCHEMA_OBJECT)
        return define_object(d, s);
    struct json *o = typed(d->a, schema_type_name(s), schema_type_format(s));
    if (s->type == SCHEMA_MAP)
        json_setc(d->a, o, "additionalProperties", schema_json(d, s->items));
    else if (s->type == SCHEMA_ARRAY)
        json_setc(d->a, o, "items", schema_json(d, s->items));
    if (s->flags & SCHEMA_ATOMIC_MAP)
        json_set_str(d->a, o, "x-kubernetes-map-type", STR("atomic"));
    if (s->rules && s->rules->enum_values)
        json_setc(d->a, o, "enum", json_clone(d->a, s->rules->enum_values));
    add_list_extensions(d, s, o);
    return o;
}

/* ---- custom resources ---- */

/* com.example.v1.Ring */
static struct str custom_name(struct arena *a, const struct kube_resource *r, struct str kind)
{
    struct buf b = BUF_INIT(4096);
    struct str rest = r->group;
    while (rest.n) {
        size_t dot = rest.n;
        while (dot > 0 && rest.p[dot - 1] != '.')
            dot--;
        (void)buf_add_str(&b, str_slice(rest, dot, rest.n));
        (void)buf_add_char(&b, '.');
        rest = str_slice(rest, 0, dot ? dot - 1 : 0);
    }
    (void)buf_add_str(&b, r->version);
    (void)buf_add_char(&b, '.');
    (void)buf_add_str(&b, kind);
    struct str out = str_copy_arena(a, buf_str(&b));
    buf_fini(&b);
    return out;
}

/* Version 2 has no combinations; a node whose type it cannot express is left open. */
static void strip_for_v2(struct json *s)
{
    static const char *const unknown[] = { "oneOf", "anyOf",    "allOf",
                                           "not",   "nullable", "x-kubernetes-validations" };
    if (!json_is(s, JSON_OBJECT))
        return;
    for (size_t i = 0; i < ARRAY_LEN(unknown); i++)
        (void)json_del(s, str_of(unknown[i]));
    if (json_bool(json_getc(s, "x-kubernetes-preserve-unknown-fields"))) {
        (void)json_del(s, STR("properties"));
        (void)json_del(s, STR("items"));
        (void)json_del(s, STR("required"));
    }
    json_each (p, json_getc(s, "properties")) {
        strip_for_v2(p);
    }
    strip_for_v2(json_getc(s, "items"));
    strip_for_v2(json_getc(s, "additionalProperties"));
}

static void add_meta_properties(struct openapi_doc *d, struct json *s, const char *meta)
{
    struct json *props = json_obj(d->a, s, "properties");
    const struct schema *m = builtin_type(arena_printf(d->a, META_V1 "%s", meta));
    const struct schema *every = builtin_type(META_V1 "PartialObjectMetadata");
    size_t n;
    const struct schema_field *f = schema_fields(every, &n);
    for (size_t i = 0; i < n; i++) { /* kind, apiVersion, metadata */
        bool is_meta = f[i].schema->type == SCHEMA_OBJECT;
        struct json *p = is_meta ? define_object(d, m) : schema_json(d, f[i].schema);
        json_set(d->a, props, f[i].name,
                 used_as(d, p, builtin_doc_field(d->docs, every, i), NULL, NULL));
    }
}

static void add_selectable_fields(struct openapi_doc *d, struct json *s,
                                  const struct kube_resource *r)
{
    struct json *list = json_new_array(d->a);
    for (size_t i = 0; i < r->n_selectable_fields; i++) {
        struct json *field = json_new_object(d->a);
        json_set_str(d->a, field, "fieldPath", r->selectable_fields[i]);
        json_add(list, field);
    }
    if (list->n)
        json_setc(d->a, s, "x-kubernetes-selectable-fields", list);
}

static struct str define_custom(struct openapi_doc *d, const struct kube_resource *r)
{
    struct str name = custom_name(d->a, r, r->kind);
    if (json_get(d->schemas, name))
        return name;
    struct json *s =
        r->schema->source ? json_clone(d->a, r->schema->source) : typed(d->a, "object", "");
    /* kubectl would take the properties of version 2 as the only allowed ones. */
    bool open = d->v2 && json_bool(json_getc(s, "x-kubernetes-preserve-unknown-fields"));
    if (open)
        s = typed(d->a, "object", "");
    else if (d->v2)
        strip_for_v2(s);
    add_selectable_fields(d, s, r);
    if (!open)
        add_meta_properties(d, s, "ObjectMeta");
    add_gvk(d->a, s, r->group, r->version, r->kind);
    json_set(d->a, d->schemas, name, s);
    return name;
}

static struct str define_custom_list(struct openapi_doc *d, const struct kube_resource *r)
{
    struct str name = custom_name(d->a, r, r->list_kind);
    if (json_get(d->schemas, name))
        return name;
    struct json *s = typed(d->a, "object", ""), *items = typed(d->a, "array", "");
    struct json *required = json_new_array(d->a);
    json_add(required, json_new_cstr(d->a, "items"));
    json_set_str(d->a, s, "description",
                 str_of(arena_printf(d->a, "A list of " STR_FMT " objects.", STR_ARG(r->kind))));
    json_setc(d->a, s, "required", required);
    json_setc(d->a, items, "items", ref(d, define_custom(d, r)));
    json_set_str(d->a, items, "description", STR("The objects."));
    json_setc(d->a, json_obj(d->a, s, "properties"), "items", items);
    add_meta_properties(d, s, "ListMeta");
    add_gvk(d->a, s, r->group, r->version, r->list_kind);
    json_set(d->a, d->schemas, name, s);
    return name;
}

static struct str define_kind(struct openapi_doc *d, const struct kube_resource *r)
{
    if (!(r->schema->flags & SCHEMA_BUILTIN))
        return define_custom(d, r);
    (void)define_object(d, r->schema);
    return builtin_type_name(r->schema);
}

static struct str define_list(struct openapi_doc *d, const struct kube_resource *r)
{
    const struct schema *list = builtin_schema(r->group, r->version, r->list_kind);
    if (!(r->schema->flags & SCHEMA_BUILTIN) || !list)
        return define_custom_list(d, r);
    (void)define_object(d, list);
    return builtin_type_name(list);
}

static struct str define_meta(struct openapi_doc *d, const char *type)
{
    const char *name = arena_printf(d->a, META_V1 "%s", type);
    const struct schema *s = builtin_type(name);
    if (s) {
        (void)define_object(d, s);
    } else if (!json_getc(d->schemas, name)) { /* Patch: accepts anything */
        struct json *patch = typed(d->a, "object", "");
        describe(d, patch, STR("A patch of the kind that the content type says."));
        json_setc(d->a, d->schemas, name, patch);
    }
    return str_of(name);
}

/* ---- paths ---- */

struct parameter {
    const char *name, *type, *text;
};

static const struct parameter list_parameters[] = {
    { "allowWatchBookmarks", "boolean", "Send bookmark events while watching." },
    { "continue", "string", "Where a list with a limit goes on, from the answer before." },
    { "fieldSelector", "string", "Only objects whose fields match." },
    { "labelSelector", "string", "Only objects whose labels match." },
    { "limit", "integer", "At most so many objects in one answer." },
    { "resourceVersion", "string", "The version of the data that is wanted." },
    { "resourceVersionMatch", "string", "How resourceVersion is meant: Exact or NotOlderThan." },
    { "sendInitialEvents", "boolean", "Begin a watch with the objects that are there." },
    { "timeoutSeconds", "integer", "End the call after this time." },
    { "watch", "boolean", "Send changes as they happen instead of a list." },
};
static const struct parameter write_parameters[] = {
    { "dryRun", "string", "All: check everything, change nothing." },
    { "fieldManager", "string", "Who is recorded as the author of the change." },
    { "fieldValidation", "string", "What to do about unknown fields: Ignore, Warn or Strict." },
};
static const struct parameter apply_parameters[] = {
    { "force", "boolean", "Take over fields that others manage." },
};
static const struct parameter delete_parameters[] = {
    { "dryRun", "string", "All: check everything, change nothing." },
    { "gracePeriodSeconds", "integer", "Time the object is given to end." },
    { "propagationPolicy", "string",
      "What happens to dependents: Orphan, Background or Foreground." },
};

static struct json *parameter_json(struct openapi_doc *d, const struct parameter *p, const char *in,
                                   bool required)
{
    struct json *o = json_new_object(d->a);
    json_set_str(d->a, o, "name", str_of(p->name));
    json_set_str(d->a, o, "in", str_of(in));
    json_set_str(d->a, o, "description", str_of(p->text));
    if (required)
        json_set_bool(d->a, o, "required", true);
    if (d->v2) {
        json_set_str(d->a, o, "type", str_of(p->type));
        json_set_bool(d->a, o, "uniqueItems", true);
    } else {
        json_setc(d->a, o, "schema", typed(d->a, p->type, ""));
    }
    return o;
}

static void add_parameters(struct openapi_doc *d, struct json *to, const struct parameter *p,
                           size_t n)
{
    for (size_t i = 0; i < n; i++)
        json_add(to, parameter_json(d, &p[i], "query", false));
}

static const char *const response_types[] = { "application/json", "application/yaml",
                                              "application/vnd.kubernetes.protobuf" };
static const char *const patch_types[] = { "application/apply-patch+yaml",
                                           "application/json-patch+json",
                                           "application/merge-patch+json",
                                           "application/strategic-merge-patch+json" };

static struct json *content(struct openapi_doc *d, const char *const *types, size_t n,
                            struct str schema)
{
    struct json *o = json_new_object(d->a);
    for (size_t i = 0; i < n; i++)
        json_setc(d->a, json_obj(d->a, o, types[i]), "schema",
                  schema.n ? ref(d, schema) : typed(d->a, "string", ""));
    return o;
}

struct openapi_operation {
    const char *method, *action, *code;
    const struct parameter *parameters;
    size_t n_parameters;
    struct str body, result;    /* schemas; body "": none, result "": plain text */
    const struct schema *query; /* its fields become query parameters; NULL: none */
    bool body_may_lack;
    const char *const *body_types; /* NULL: JSON */
    size_t n_body_types;
};

static void add_body(struct openapi_doc *d, struct json *op, struct json *parameters,
                     const struct openapi_operation *o)
{
    static const char *const any[] = { "*/*" };
    if (d->v2) {
        struct json *body = json_new_object(d->a);
        json_set_str(d->a, body, "name", STR("body"));
        json_set_str(d->a, body, "in", STR("body"));
        if (!o->body_may_lack)
            json_set_bool(d->a, body, "required", true);
        json_setc(d->a, body, "schema", ref(d, o->body));
        json_add(parameters, body);
        return;
    }
    struct json *body = json_obj(d->a, op, "requestBody");
    json_setc(d->a, body, "content",
              o->body_types ? content(d, o->body_types, o->n_body_types, o->body)
                            : content(d, any, 1, o->body));
    if (!o->body_may_lack)
        json_set_bool(d->a, body, "required", true);
}

static void add_query(struct openapi_doc *d, struct json *parameters, const struct schema *options)
{
    size_t n;
    const struct schema_field *f = schema_fields(options, &n);
    for (size_t i = 0; i < n; i++) {
        const struct parameter p = { str_dup_arena(d->a, f[i].name), schema_type_name(f[i].schema),
                                     str_dup_arena(d->a, builtin_doc_field(d->docs, options, i)) };
        if (!str_is(f[i].name, "kind") && !str_is(f[i].name, "apiVersion"))
            json_add(parameters, parameter_json(d, &p, "query", false));
    }
}

static void add_operation(struct openapi_doc *d, struct json *path, const struct kube_resource *r,
                          const char *id_suffix, const struct openapi_operation *o)
{
    struct json *op = json_new_object(d->a), *parameters = json_new_array(d->a);
    struct json *response = json_new_object(d->a), *responses = json_new_object(d->a);
    json_set_str(d->a, op, "operationId",
                 str_of(arena_printf(d->a, "%s" STR_FMT STR_FMT "%s", o->action,
                                     STR_ARG(r->version), STR_ARG(r->kind), id_suffix)));
    add_parameters(d, parameters, o->parameters, o->n_parameters);
    if (str_is(str_of(o->method), "patch"))
        add_parameters(d, parameters, apply_parameters, ARRAY_LEN(apply_parameters));
    if (o->query)
        add_query(d, parameters, o->query);
    if (o->body.n)
        add_body(d, op, parameters, o);
    if (parameters->n)
        json_setc(d->a, op, "parameters", parameters);
    json_set_str(d->a, response, "description", STR("OK"));
    if (d->v2)
        json_setc(d->a, response, "schema",
                  o->result.n ? ref(d, o->result) : typed(d->a, "string", ""));
    else
        json_setc(d->a, response, "content",
                  content(d, response_types, ARRAY_LEN(response_types), o->result));
    json_setc(d->a, responses, o->code, response);
    json_setc(d->a, op, "responses", responses);
    if (d->v2 && o->body_types) {
        struct json *consumes = json_new_array(d->a);
        for (size_t i = 0; i < o->n_body_types; i++)
            json_add(consumes, json_new_cstr(d->a, o->body_types[i]));
        json_setc(d->a, op, "consumes", consumes);
    }
    json_set_str(d->a, op, "x-kubernetes-action", str_of(o->action));
    struct json *gvk = json_obj(d->a, op, "x-kubernetes-group-version-kind");
    json_set_str(d->a, gvk, "group", r->group);
    json_set_str(d->a, gvk, "kind", r->kind);
    json_set_str(d->a, gvk, "version", r->version);
    json_setc(d->a, path, o->method, op);
}

static struct json *path_item(struct openapi_doc *d, const char *path, bool in_namespace,
                              bool named)
{
    static const struct parameter ns = { "namespace", "string", "Namespace of the object." };
    static const struct parameter name = { "name", "string", "Name of the object." };
    static const struct parameter pretty = { "pretty", "string", "Indent the answer." };
    struct json *item = json_new_object(d->a), *parameters = json_new_array(d->a);
    if (named)
        json_add(parameters, parameter_json(d, &name, "path", true));
    if (in_namespace)
        json_add(parameters, parameter_json(d, &ns, "path", true));
    json_add(parameters, parameter_json(d, &pretty, "query", false));
    json_setc(d->a, item, "parameters", parameters);
    json_setc(d->a, d->paths, path, item);
    return item;
}

#define PARAMETERS(list) .parameters = (list), .n_parameters = ARRAY_LEN(list)

static void add_collection(struct openapi_doc *d, const struct kube_resource *r, const char *path)
{
    struct str kind = define_kind(d, r);
    struct str list = r->verbs & KUBE_LIST ? define_list(d, r) : STR("");
    struct json *item = path_item(d, path, r->namespaced, false);
    if (r->verbs & KUBE_LIST)
        add_operation(d, item, r, "",
                      &(struct openapi_operation){ .method = "get",
                                                   .action = "list",
                                                   .code = "200",
                                                   PARAMETERS(list_parameters),
                                                   .result = list });
    if (r->verbs & KUBE_CREATE)
        add_operation(d, item, r, "",
                      &(struct openapi_operation){ .method = "post",
                                                   .action = "post",
                                                   .code = "201",
                                                   PARAMETERS(write_parameters),
                                                   .body = kind,
                                                   .result = kind });
    if (r->verbs & KUBE_DELETECOLLECTION)
        add_operation(d, item, r, "Collection",
                      &(struct openapi_operation){ .method = "delete",
                                                   .action = "deletecollection",
                                                   .code = "200",
                                                   PARAMETERS(delete_parameters),
                                                   .body = define_meta(d, "DeleteOptions"),
                                                   .body_may_lack = true,
                                                   .result = define_meta(d, "Status") });
}

static void add_object(struct openapi_doc *d, const struct kube_resource *r, const char *path,
                       unsigned verbs, struct str kind, const char *suffix)
{
    const unsigned any = KUBE_GET | KUBE_UPDATE | KUBE_PATCH | KUBE_DELETE;
    if (!(verbs & (suffix[0] ? any | KUBE_CREATE : any)))
        return;
    struct json *item = path_item(d, path, r->namespaced, true);
    if (verbs & KUBE_GET)
        add_operation(d, item, r, suffix,
                      &(struct openapi_operation){
                          .method = "get", .action = "get", .code = "200", .result = kind });
    if (verbs & KUBE_CREATE && suffix[0])
        add_operation(d, item, r, suffix,
                      &(struct openapi_operation){ .method = "post",
                                                   .action = "post",
                                                   .code = "201",
                                                   PARAMETERS(write_parameters),
                                                   .body = kind,
                                                   .result = kind });
    if (verbs & KUBE_UPDATE)
        add_operation(d, item, r, suffix,
                      &(struct openapi_operation){ .method = "put",
                                                   .action = "put",
                                                   .code = "200",
                                                   PARAMETERS(write_parameters),
                                                   .body = kind,
                                                   .result = kind });
    if (verbs & KUBE_PATCH)
        add_operation(d, item, r, suffix,
                      &(struct openapi_operation){ .method = "patch",
                                                   .action = "patch",
                                                   .code = "200",
                                                   PARAMETERS(write_parameters),
                                                   .body = define_meta(d, "Patch"),
                                                   .result = kind,
                                                   .body_types = patch_types,
                                                   .n_body_types =
                                                       ARRAY_LEN(patch_types) - (r->crd ? 1 : 0) });
    if (verbs & KUBE_DELETE)
        add_operation(d, item, r, suffix,
                      &(struct openapi_operation){ .method = "delete",
                                                   .action = "delete",
                                                   .code = "200",
                                                   PARAMETERS(delete_parameters),
                                                   .body = define_meta(d, "DeleteOptions"),
                                                   .body_may_lack = true,
                                                   .result = define_meta(d, "Status") });
}

/* connect operations: a stream, or a proxied answer; the options are query parameters. */
static void add_connection(struct openapi_doc *d, const struct kube_resource *r, const char *path,
                           const struct kube_subresource *s, const struct schema *options)
{
    static const struct {
        unsigned verb;
        const char *name, *id;
    } methods[] = { { KUBE_GET, "get", "Get" },
                    { KUBE_CREATE, "post", "Post" },
                    { KUBE_UPDATE, "put", "Put" },
                    { KUBE_PATCH, "patch", "Patch" },
                    { KUBE_DELETE, "delete", "Delete" } };
    struct json *item = path_item(d, path, r->namespaced, true);
    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        const char *suffix = arena_printf(d->a, "%s" STR_FMT, methods[i].id, STR_ARG(s->name));
        if (s->verbs & methods[i].verb)
            add_operation(d, item, r, suffix,
                          &(struct openapi_operation){ .method = methods[i].name,
                                                       .action = "connect",
                                                       .code = "200",
                                                       .query = options });
    }
}

static void add_resource(struct openapi_doc *d, const struct kube_resource *r)
{
    const char *prefix = r->group.n ? arena_printf(d->a, "/apis/" STR_FMT "/" STR_FMT,
                                                   STR_ARG(r->group), STR_ARG(r->version))
                                    : arena_printf(d->a, "/api/" STR_FMT, STR_ARG(r->version));
    const char *collection =
        arena_printf(d->a, "%s%s/" STR_FMT, prefix, r->namespaced ? "/namespaces/{namespace}" : "",
                     STR_ARG(r->plural));
    const char *object = arena_printf(d->a, "%s/{name}", collection);
    add_collection(d, r, collection);
    add_object(d, r, object, r->verbs, define_kind(d, r), "");
    for (size_t i = 0; i < r->n_subresources; i++) {
        const struct kube_subresource *s = &r->subresources[i];
        const struct schema *other = builtin_schema(s->group, s->version, s->kind);
        struct str kind =
            str_eq(s->kind, r->kind) || !other ? define_kind(d, r) : builtin_type_name(other);
        const char *path = arena_printf(d->a, "%s/" STR_FMT, object, STR_ARG(s->name));
        if (other && str_has_suffix(s->kind, STR("Options"))) {
            add_connection(d, r, path, s, other);
            continue;
        }
        if (other && !str_eq(s->kind, r->kind))
            (void)define_object(d, other);
        add_object(d, r, path, s->verbs, kind, arena_printf(d->a, STR_FMT, STR_ARG(s->name)));
    }
    if (r->namespaced && (r->verbs & KUBE_LIST)) {
        struct json *all = path_item(
            d, arena_printf(d->a, "%s/" STR_FMT, prefix, STR_ARG(r->plural)), false, false);
        add_operation(d, all, r, "ForAllNamespaces",
                      &(struct openapi_operation){ .method = "get",
                                                   .action = "list",
                                                   .code = "200",
                                                   PARAMETERS(list_parameters),
                                                   .result = define_list(d, r) });
    }
}

/* ---- documents ---- */

static struct json *info(struct arena *a)
{
    struct json *o = json_new_object(a);
    json_set_str(a, o, "title", STR("Kubernetes"));
    json_set_str(a, o, "version", str_of(version_text()));
    return o;
}

/* Types that upstream lists besides the kinds: answers of discovery and of watches. */
static void add_common(struct openapi_doc *d)
{
    static const char *const names[] = { "APIResourceList", "WatchEvent", "APIGroupList",
                                         "APIVersions" };
    size_t n = d->v2 ? ARRAY_LEN(names) : 2;
    for (size_t i = 0; i < n; i++)
        if (builtin_type(arena_printf(d->a, META_V1 "%s", names[i])))
            (void)define_meta(d, names[i]);
}

static struct openapi_doc doc_init(struct arena *a, bool v2)
{
    return (struct openapi_doc){ .a = a,
                                 .v2 = v2,
                                 .docs = builtin_docs_new(a),
                                 .schemas = json_new_object(a),
                                 .paths = json_new_object(a) };
}

/* Writes the document in the requested form and frees its arena. */
static int finish(struct openapi_doc *d, struct json *root, enum openapi_form form, struct buf *to)
{
    int r;
    if (form == OPENAPI_JSON)
        r = json_write_sorted(to, root);
    else
        r = d->v2 ? openapi_proto_v2(root, to) : openapi_proto_v3(root, to);
    arena_fini(d->a);
    return r;
}

int openapi_v3(const struct kube_registry *reg, struct str group, struct str version,
               enum openapi_form form, struct buf *to)
{
    if (!kube_registry_has_version(reg, group, version))
        return -ENOENT;
    struct arena a = { 0 };
    struct openapi_doc d = doc_init(&a, false);
    struct json *root = json_new_object(&a);
    bool builtin = false;
    kube_registry_each(r, reg)
    {
        if (!str_eq((*r)->group, group) || !str_eq((*r)->version, version))
            continue;
        add_resource(&d, *r);
        builtin = builtin || !(*r)->crd;
    }
    if (builtin)
        add_common(&d);
    json_set_str(&a, root, "openapi", STR("3.0.0"));
    json_setc(&a, root, "info", info(&a));
    json_setc(&a, root, "paths", d.paths);
    json_setc(&a, json_obj(&a, root, "components"), "schemas", d.schemas);
    return finish(&d, root, form, to);
}

int openapi_v2(const struct kube_registry *reg, enum openapi_form form, struct buf *to)
{
    struct arena a = { 0 };
    struct openapi_doc d = doc_init(&a, true);
    struct json *root = json_new_object(&a);
    kube_registry_each(r, reg)
    {
        add_resource(&d, *r);
    }
    add_common(&d);
    json_set_str(&a, root, "swagger", STR("2.0"));
    json_setc(&a, root, "info", info(&a));
    json_setc(&a, root, "paths", d.paths);
    json_setc(&a, root, "definitions", d.schemas);
    return finish(&d, root, form, to);
}

/* Hashes everything a document is made from, much cheaper than making the document. */
static void hash_resource(struct sha256 *h, const struct kube_resource *r)
{
    const struct str parts[] = { r->group, r->version, r->plural, r->kind, r->list_kind };
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        sha256_add(h, parts[i].p, parts[i].n);
        sha256_add(h, "", 1);
    }
    const unsigned facts[] = { r->verbs, r->namespaced };
    sha256_add(h, facts, sizeof facts);
    for (size_t i = 0; i < r->n_subresources; i++) {
        const struct kube_subresource *s = &r->subresources[i];
        sha256_add(h, s->name.p, s->name.n);
        sha256_add(h, &s->verbs, sizeof s->verbs);
    }
    for (size_t i = 0; i < r->n_selectable_fields; i++) {
        sha256_add(h, r->selectable_fields[i].p, r->selectable_fields[i].n);
        sha256_add(h, "", 1);
    }
    sha256_add(h, r->source.sha256, sizeof r->source.sha256);
}

/* group.p NULL: everything. */
static void hash_registry(const struct kube_registry *reg, struct str group, struct str version,
                          char out[OPENAPI_HASH_MAX])
{
    scoped(sha256_free_scoped) struct sha256 *h = sha256_new();
    struct str texts = builtin_docs_tag();
    sha256_add(h, version_text(), strlen(version_text()) + 1);
    sha256_add(h, texts.p, texts.n);
    kube_registry_each(r, reg)
    {
        if (!group.p || (str_eq((*r)->group, group) && str_eq((*r)->version, version)))
            hash_resource(h, *r);
    }
    uint8_t digest[SHA256_BYTES];
    sha256_end(h, digest);
    hex_format(digest, sizeof digest, out);
    for (char *p = out; *p; p++)
        *p = *p >= 'a' && *p <= 'f' ? (char)(*p - 'a' + 'A') : *p;
}

void openapi_v2_hash(const struct kube_registry *reg, char out[OPENAPI_HASH_MAX])
{
    hash_registry(reg, STR_NULL, STR_NULL, out);
}

int openapi_v3_hash(const struct kube_registry *reg, struct str group, struct str version,
                    char out[OPENAPI_HASH_MAX])
{
    if (!kube_registry_has_version(reg, group, version))
        return -ENOENT;
    hash_registry(reg, group.p ? group : STR(""), version, out);
    return 0;
}

/* Measured: schemas of strings, with sorting, writing and compressing. */
enum { STEPS_PER_VALUE = 32, STEPS_PER_BYTE = 1 };

uint64_t openapi_cost(const struct kube_registry *reg, struct str group, struct str version)
{
    uint64_t steps = 0;
    kube_registry_each(at, reg)
    {
        const struct kube_resource *r = *at;
        if (!group.p || (str_eq(r->group, group) && str_eq(r->version, version)))
            steps += STEPS_PER_VALUE * (uint64_t)r->source.n_values +
                     STEPS_PER_BYTE * (uint64_t)r->source.n_bytes;
    }
    return steps;
}

int openapi_v3_index(const struct kube_registry *reg, struct buf *to)
{
    struct arena a = { 0 };
    struct json *root = json_new_object(&a), *paths = json_obj(&a, root, "paths");
    kube_registry_each(at, reg)
    {
        const struct kube_resource *r = *at;
        const char *path = r->group.n ? arena_printf(&a, "apis/" STR_FMT "/" STR_FMT,
                                                     STR_ARG(r->group), STR_ARG(r->version))
                                      : arena_printf(&a, "api/" STR_FMT, STR_ARG(r->version));
        char hash[OPENAPI_HASH_MAX];
        if (json_getc(paths, path) || openapi_v3_hash(reg, r->group, r->version, hash) < 0)
            continue;
        const char *url = arena_printf(&a, "/openapi/v3/%s?hash=%s", path, hash);
        json_set_str(&a, json_obj(&a, paths, path), "serverRelativeURL", str_of(url));
    }
    int r = json_write(to, root);
    arena_fini(&a);
    return r;
}
