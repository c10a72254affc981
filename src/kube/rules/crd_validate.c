/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Validation of CustomResourceDefinition objects, with upstream's texts and paths.
 *
 * Where all versions have the same schema, subresources or columns, upstream's internal form has
 * them once for the whole definition, and reports errors at "spec.validation" instead of
 * "spec.versions[0].schema". Users search for those texts, so the paths are the same here.
 */
#include "kube/rules/crd_validate.h"

#include "codec/base64.h"
#include "io/tls.h"
#include "kube/cel/cel_rules.h"
#include "kube/model/meta.h"
#include "kube/rules/crd_status.h"

enum { CRD_MAX_SELECTABLE_FIELDS = 8 };

/* All sentences joined by ",", as upstream does for definitions. */
static const char *joined(struct arena *a, struct meta_problems p)
{
    const char *text = p.n ? p.text[0] : "";
    for (size_t i = 1; i < p.n; i++)
        text = arena_printf(a, "%s,%s", text, p.text[i]);
    return text;
}

static void check(struct field_errors *errs, const struct fpath *at, struct str value,
                  struct meta_problems p, const char *prefix)
{
    if (p.n)
        field_error_str(errs, FIELD_INVALID, at, value, "%s%s", prefix, joined(errs->a, p));
}

/* ---- names ---- */

static void check_name_list(const struct json *names, const char *key, const struct fpath *up,
                            struct field_errors *errs)
{
    struct fpath list = fpath_child(up, str_of(key));
    size_t i = 0;
    json_each (n, json_getc(names, key)) {
        struct fpath at = fpath_index(&list, i++);
        check(errs, &at, json_str(n), meta_check_dns1035_label(json_str(n)), "");
    }
}

static void check_names(const struct json *names, const struct fpath *up, bool need_all,
                        struct field_errors *errs)
{
    static const struct {
        const char *key;
        bool mixed_case;
    } keys[] = {
        { "plural", false }, { "singular", false }, { "kind", true }, { "listKind", true }
    };
    for (size_t i = 0; need_all && i < ARRAY_LEN(keys); i++) {
        struct fpath at = fpath_child(up, str_of(keys[i].key));
        if (json_get_str(names, keys[i].key).n == 0)
            field_error(errs, FIELD_REQUIRED, &at, NULL, "%s", "");
    }
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        struct str v = json_get_str(names, keys[i].key);
        struct fpath at = fpath_child(up, str_of(keys[i].key));
        if (v.n)
            check(errs, &at, v,
                  meta_check_dns1035_label(keys[i].mixed_case ? str_lower_arena(errs->a, v) : v),
                  keys[i].mixed_case ? "may have mixed case, but should otherwise match: " : "");
    }
    check_name_list(names, "shortNames", up, errs);
    struct str kind = json_get_str(names, "kind"), list = json_get_str(names, "listKind");
    struct fpath list_at = fpath_child(up, STR("listKind"));
    if (kind.n && str_eq(kind, list))
        field_error_str(errs, FIELD_INVALID, &list_at, list,
                        "kind and listKind may not be the same");
    check_name_list(names, "categories", up, errs);
}

/* ---- paths in objects ---- */

/* A path that does not parse is not an error, as upstream: the column stays empty. */
static void check_path(struct str path, const struct fpath *at, struct field_errors *errs)
{
    if (!str_has_prefix(path, STR(".")))
        field_error_str(errs, FIELD_INVALID, at, path,
                        "must be a simple json path starting with .");
}

static void check_columns(const struct json *list, const struct fpath *up,
                          struct field_errors *errs)
{
    static const char *const types[] = { "boolean", "date", "integer", "number", "string" };
    static const char *const formats[] = { "byte",  "date",  "date-time", "double",
                                           "float", "int32", "int64",     "password" };
    size_t i = 0;
    json_each (c, list) {
        struct fpath at = fpath_index(up, i++);
        struct fpath name_at = fpath_child(&at, STR("name")),
                     type_at = fpath_child(&at, STR("type"));
        struct fpath format_at = fpath_child(&at, STR("format"));
        struct fpath path_at = fpath_child(&at, STR("JSONPath"));
        struct str type = json_get_str(c, "type"), format = json_get_str(c, "format");
        struct str path = json_get_str(c, "jsonPath");
        bool known = false, known_format = format.n == 0;
        for (size_t k = 0; k < ARRAY_LEN(types); k++)
            known = known || str_is(type, types[k]);
        for (size_t k = 0; k < ARRAY_LEN(formats); k++)
            known_format = known_format || str_is(format, formats[k]);
        if (json_get_str(c, "name").n == 0)
            field_error(errs, FIELD_REQUIRED, &name_at, NULL, "%s", "");
        if (type.n == 0)
            field_error(errs, FIELD_REQUIRED, &type_at, NULL,
                        "must be one of boolean,date,integer,number,string");
        else if (!known)
            field_error_str(errs, FIELD_INVALID, &type_at, type,
                            "must be one of boolean,date,integer,number,string");
        if (!known_format)
            field_error_str(errs, FIELD_INVALID, &format_at, format,
                            "must be one of byte,date,date-time,double,float,int32,int64,password");
        if (path.n == 0)
            field_error(errs, FIELD_REQUIRED, &path_at, NULL, "%s", "");
        else
            check_path(path, &path_at, errs);
    }
}

static void check_scale_path(const struct json *scale, const char *key, const char *const *below,
                             const char *text, bool needed, const struct fpath *up,
                             struct field_errors *errs)
{
    struct fpath at = fpath_child(up, str_of(arena_printf(errs->a, "scale.%s", key)));
    struct str path = json_get_str(scale, key);
    if (path.n == 0) {
        if (needed)
            field_error(errs, FIELD_REQUIRED, &at, NULL, "%s", "");
        return;
    }
    size_t before = errs->n;
    check_path(path, &at, errs);
    bool fits = false;
    for (size_t i = 0; below[i]; i++)
        fits = fits || str_has_prefix(path, str_of(below[i]));
    if (errs->n == before && !fits)
        field_error_str(errs, FIELD_INVALID, &at, path, "%s", text);
}

static void check_subresources(const struct json *sub, const struct fpath *up,
                               struct field_errors *errs)
{
    static const char *const spec[] = { ".spec.", NULL }, *const status[] = { ".status.", NULL };
    static const char *const either[] = { ".spec.", ".status.", NULL };
    const struct json *scale = json_getc(sub, "scale");
    if (!json_is(scale, JSON_OBJECT))
        return;
    check_scale_path(scale, "specReplicasPath", spec, "should be a json path under .spec", true, up,
                     errs);
    check_scale_path(scale, "statusReplicasPath", status, "should be a json path under .status",
                     true, up, errs);
    check_scale_path(scale, "labelSelectorPath", either,
                     "should be a json path under either .spec or .status", false, up, errs);
}

/* ---- schemas ---- */

static void check_status_root(const struct json *schema, const struct fpath *at,
                              struct field_errors *errs)
{
    static const char names[] =
        "Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength "
        "MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties "
        "ExternalDocs Example XPreserveUnknownFields XValidations";
    struct fpath type_at = fpath_child(at, STR("type"));
    struct str type = json_get_str(schema, "type");
    if (type.n && !str_is(type, "object"))
        field_error_str(errs, FIELD_INVALID, &type_at, type,
                        "only \"object\" is allowed as the type at the root of the schema if the "
                        "status subresource is enabled");
    json_each (m, schema) {
        struct str rest = str_of(names), name;
        bool known = str_is(m->key, "x-kubernetes-preserve-unknown-fields") ||
                     str_is(m->key, "x-kubernetes-validations");
        for (bool more = true; more && !known;) {
            more = str_cut(rest, ' ', &name, &rest);
            known = str_ieq(name, m->key);
        }
        if (known)
            continue;
        field_error(
            errs, FIELD_INVALID, at, schema,
            "only [%s] fields are allowed at the root of the schema if the status subresource is "
            "enabled",
            names);
        return;
    }
}

/* The definition has this schema for that version. */
static bool has_schema(const struct json *definition, struct str version, const struct json *schema)
{
    json_each (v, json_path(definition, "spec", "versions", NULL)) {
        const struct json *own = json_path(v, "schema", "openAPIV3Schema", NULL);
        if (str_eq(json_get_str(v, "name"), version))
            return own && json_equal(own, schema);
    }
    return false;
}

/* stored: the stored definition, NULL for a new one. */
static void check_schema(const struct json *version, const struct json *stored, bool has_status,
                         const struct fpath *at, struct field_errors *errs)
{
    const struct json *validation = json_getc(version, "schema");
    const struct json *schema = json_getc(validation, "openAPIV3Schema");
    struct fpath schema_at = fpath_child(at, STR("openAPIV3Schema"));
    const struct schema *built;
    if (!json_is(schema, JSON_OBJECT))
        return;
    if (has_status)
        check_status_root(schema, &schema_at, errs);
    if (has_schema(stored, json_get_str(version, "name"), schema))
        return; /* a schema accepted once is served, even if it would be refused today */
    size_t n = errs->n;
    (void)schema_from_openapi(errs->a, schema, stored, &schema_at, errs, &built);
    if (errs->n == n)
        cel_validate_rules(built, stored, &schema_at, errs);
    schema_release(built);
}

/* ---- versions ---- */

/* All versions have equal values under `key`; absent values are equal. */
static bool all_equal(const struct json *versions, const char *key)
{
    const struct json *first = versions ? json_getc(versions->first, key) : NULL;
    json_each (v, versions) {
        const struct json *own = json_getc(v, key);
        if ((own == NULL) != (first == NULL) || (own && !json_equal(own, first)))
            return false;
    }
    return true;
}

static bool has_status(const struct json *version)
{
    return json_is(json_path(version, "subresources", "status", NULL), JSON_OBJECT);
}

/* Whether the schema of the version has a field at ".a.b". */
static bool has_field(const struct json *version, struct str path)
{
    const struct json *s = json_path(version, "schema", "openAPIV3Schema", NULL);
    struct str name, rest = str_slice(path, 1, path.n);
    while (s && rest.n) {
        (void)str_cut(rest, '.', &name, &rest);
        s = json_get(json_getc(s, "properties"), name);
    }
    return s != NULL;
}

static void check_selectable(const struct json *version, const struct fpath *up,
                             struct field_errors *errs)
{
    struct fpath list_at = fpath_child(up, STR("selectableFields"));
    const struct json *list = json_getc(version, "selectableFields");
    size_t i = 0;
    json_each (f, list) {
        struct fpath item = fpath_index(&list_at, i++), at = fpath_child(&item, STR("jsonPath"));
        struct str path = json_get_str(f, "jsonPath");
        if (path.n == 0)
            field_error(errs, FIELD_REQUIRED, &at, NULL, "%s", "");
        else if (str_has_prefix(path, STR(".metadata.")) || str_is(path, ".metadata"))
            field_error_str(errs, FIELD_INVALID, &at, path, "must not point to fields in metadata");
        else if (!str_has_prefix(path, STR(".")))
            field_error_str(errs, FIELD_INVALID, &at, path,
                            "is an invalid path: expected [ or . but got: " STR_FMT, STR_ARG(path));
        else if (!has_field(version, path))
            field_error_str(errs, FIELD_INVALID, &at, path,
                            "is an invalid path: does not refer to a valid field");
    }
    if (json_is(list, JSON_ARRAY) && list->n > CRD_MAX_SELECTABLE_FIELDS)
        field_error(errs, FIELD_TOO_MANY, &list_at, json_new_int(errs->a, list->n),
                    "must have at most %d items", CRD_MAX_SELECTABLE_FIELDS);
}

static void check_version(const struct json *v, const struct json *stored, const struct fpath *at,
                          const bool *shared, struct field_errors *errs)
{
    struct fpath name_at = fpath_child(at, STR("name")), schema_at = fpath_child(at, STR("schema"));
    struct fpath sub_at = fpath_child(at, STR("subresources"));
    struct fpath columns_at = fpath_child(at, STR("additionalPrinterColumns"));
    struct fpath warning_at = fpath_child(at, STR("deprecationWarning"));
    struct str name = json_get_str(v, "name");
    check(errs, &name_at, name, meta_check_dns1035_label(name), "");
    if (json_getc(v, "deprecationWarning") && !json_bool(json_getc(v, "deprecated")))
        field_error(errs, FIELD_INVALID, &warning_at, json_getc(v, "deprecationWarning"),
                    "can only be set for deprecated versions");
    if (!shared[0])
        check_schema(v, stored, has_status(v), &schema_at, errs);
    if (!shared[1])
        check_subresources(json_getc(v, "subresources"), &sub_at, errs);
    if (!shared[2])
        check_columns(json_getc(v, "additionalPrinterColumns"), &columns_at, errs);
    if (!shared[3])
        check_selectable(v, at, errs);
}

static void check_unique(const struct json *versions, const struct fpath *at,
                         struct field_errors *errs)
{
    size_t n_storage = 0;
    bool unique = true;
    struct map names = { 0 };
    json_each (v, versions) {
        n_storage += json_bool(json_getc(v, "storage"));
        unique = !map_put(&names, json_get_str(v, "name"), v) && unique;
    }
    map_fini(&names);
    struct json none = { .type = JSON_NULL };
    const struct json *value = versions ? versions : &none;
    if (!unique)
        field_error(errs, FIELD_INVALID, at, value, "must contain unique version names");
    if (n_storage != 1)
        field_error(errs, FIELD_INVALID, at, value,
                    "must have exactly one version marked as storage version");
}

static void check_versions(const struct json *spec, const struct json *stored,
                           const struct fpath *up, struct field_errors *errs)
{
    const struct json *versions = json_getc(spec, "versions");
    struct fpath list_at = fpath_child(up, STR("versions"));
    bool shared[4] = { all_equal(versions, "schema"), all_equal(versions, "subresources"),
                       all_equal(versions, "additionalPrinterColumns"),
                       all_equal(versions, "selectableFields") };
    size_t i = 0;
    json_each (v, versions) {
        struct fpath item = fpath_index(&list_at, i++),
                     schema_at = fpath_child(&item, STR("schema"));
        struct fpath at = fpath_child(&schema_at, STR("openAPIV3Schema"));
        if (!json_is(json_path(v, "schema", "openAPIV3Schema", NULL), JSON_OBJECT))
            field_error(errs, FIELD_REQUIRED, &at, NULL, "%s", "");
    }
    i = 0;
    json_each (v, versions) {
        struct fpath item = fpath_index(&list_at, i++);
        check_version(v, stored, &item, shared, errs);
    }
    check_unique(versions, &list_at, errs);
    const struct json *first = versions ? versions->first : NULL;
    struct fpath validation_at = fpath_child(up, STR("validation"));
    struct fpath sub_at = fpath_child(up, STR("subresources"));
    struct fpath columns_at = fpath_child(up, STR("additionalPrinterColumns"));
    /* Report an invalid first version under its old name. */
    struct fpath version_at = fpath_child(up, STR("version"));
    struct str version = json_get_str(first, "name");
    if (version.n)
        check(errs, &version_at, version, meta_check_dns1035_label(version), "");
    bool any_status = false;
    json_each (v, versions) {
        any_status = any_status || has_status(v);
    }
    if (shared[0])
        check_schema(first, stored, any_status, &validation_at, errs);
    if (shared[1])
        check_subresources(json_getc(first, "subresources"), &sub_at, errs);
    if (shared[2])
        check_columns(json_getc(first, "additionalPrinterColumns"), &columns_at, errs);
    if (shared[3] && first)
        check_selectable(first, up, errs);
}

/* The storedVersions that a new definition's status would need. */
static void check_new_stored(const struct json *obj, struct field_errors *errs)
{
    struct fpath status_at = fpath_child(NULL, STR("status")),
                 at = fpath_child(&status_at, STR("storedVersions"));
    struct json *stored = json_new_array(errs->a), none = { .type = JSON_NULL };
    struct str last = STR("");
    json_each (v, json_path(obj, "spec", "versions", NULL)) {
        if (!json_bool(json_getc(v, "storage")))
            continue;
        last = json_get_str(v, "name");
        if (stored->n == 0)
            json_add(stored, json_new_str(errs->a, last));
    }
    if (stored->n == 0)
        field_error(errs, FIELD_INVALID, &at, &none, "must have at least one stored version");
    else if (!str_eq(json_str(stored->first), last))
        field_error(errs, FIELD_INVALID, &at, stored, "must have the storage version " STR_FMT,
                    STR_ARG(last));
}

/* ---- conversion ---- */

/* The error in a webhook's CA bundle; NULL: it is valid, or there is none. */
static const char *bundle_problem(const struct json *spec)
{
    struct str given =
        json_str(json_path(spec, "conversion", "webhook", "clientConfig", "caBundle", NULL));
    scoped(buf_fini_scoped) struct buf pem = BUF_INIT(BUF_MAX_DEFAULT);
    int64_t left_s;
    if (given.n == 0)
        return NULL;
    if (base64_decode(&pem, given, BASE64_LENIENT) >= 0 &&
        x509_seconds_left(buf_str(&pem), &left_s, NULL) >= 0)
        return NULL;
    return str_find(buf_str(&pem), STR("-----BEGIN ")) < 0
               ? "unable to load root certificates: unable to parse bytes as PEM block"
               : "unable to load root certificates: no valid certificate authority data seen";
}

bool crd_has_bad_bundle(const struct json *obj)
{
    return bundle_problem(json_getc(obj, "spec")) != NULL;
}

/*
 * A bad bundle is allowed until the definition is established, and if the old one was bad too. A
 * valid or absent bundle must not be replaced by a bad one.
 */
static void check_bundle(const struct json *spec, const struct json *old, const struct fpath *up,
                         struct field_errors *errs)
{
    struct fpath at = fpath_child(up, STR("caBundle"));
    bool strict = old && crd_has_condition(old, "Established");
    const char *why = strict ? bundle_problem(spec) : NULL;
    if (why && !bundle_problem(json_getc(old, "spec")))
        field_error(errs, FIELD_INVALID, &at,
                    json_path(spec, "conversion", "webhook", "clientConfig", "caBundle", NULL),
                    "%s", why);
}

static void check_conversion(const struct json *spec, const struct json *old,
                             const struct fpath *up, struct field_errors *errs)
{
    static const struct str known[] = { { "None", 4 }, { "Webhook", 7 } };
    const struct json *conversion = json_getc(spec, "conversion");
    struct fpath at = fpath_child(up, STR("conversion"));
    struct fpath strategy_at = fpath_child(&at, STR("strategy"));
    struct fpath client_at = fpath_child(&at, STR("webhookClientConfig"));
    struct fpath versions_at = fpath_child(&at, STR("conversionReviewVersions"));
    if (!json_is(conversion, JSON_OBJECT))
        return;
    const struct json *webhook = json_getc(conversion, "webhook");
    const struct json *client = json_getc(webhook, "clientConfig");
    const struct json *versions = json_getc(webhook, "conversionReviewVersions");
    struct str strategy = json_get_str(conversion, "strategy");
    if (strategy.n == 0)
        field_error(errs, FIELD_REQUIRED, &strategy_at, NULL, "%s", "");
    else if (!str_is(strategy, "None") && !str_is(strategy, "Webhook"))
        field_error_enum(errs, &strategy_at, json_getc(conversion, "strategy"), known,
                         ARRAY_LEN(known));
    if (str_is(strategy, "Webhook")) {
        bool has_url = json_getc(client, "url") != NULL,
             has_service = json_getc(client, "service") != NULL;
        if (!client)
            field_error(errs, FIELD_REQUIRED, &client_at, NULL,
                        "required when strategy is set to Webhook");
        else if (has_url == has_service)
            field_error(errs, FIELD_REQUIRED, &client_at, NULL,
                        "exactly one of url or service is required");
        check_bundle(spec, old, &client_at, errs);
        if (!json_is(versions, JSON_ARRAY) || versions->n == 0)
            field_error(errs, FIELD_REQUIRED, &versions_at, NULL, "%s", "");
        return;
    }
    if (client)
        field_error(errs, FIELD_FORBIDDEN, &client_at, NULL,
                    "should not be set when strategy is not set to Webhook");
    if (json_is(versions, JSON_ARRAY) && versions->n)
        field_error(errs, FIELD_FORBIDDEN, &versions_at, NULL,
                    "should not be set when strategy is not set to Webhook");
}

/* ---- the definition ---- */

static void check_group(const struct json *spec, const struct fpath *up, struct field_errors *errs)
{
    static const struct str scopes[] = { { "Cluster", 7 }, { "Namespaced", 10 } };
    struct fpath group_at = fpath_child(up, STR("group")), scope_at = fpath_child(up, STR("scope"));
    struct str group = json_get_str(spec, "group"), scope = json_get_str(spec, "scope");
    struct meta_problems p = meta_check_dns1123_subdomain(group);
    if (group.n == 0)
        field_error(errs, FIELD_REQUIRED, &group_at, NULL, "%s", "");
    else if (p.n)
        check(errs, &group_at, group, p, "");
    else if (str_find_char(group, '.') < 0)
        field_error_str(errs, FIELD_INVALID, &group_at, group,
                        "should be a domain with at least one dot");
    if (scope.n == 0)
        field_error(errs, FIELD_REQUIRED, &scope_at, NULL, "%s", "");
    else if (!str_is(scope, "Cluster") && !str_is(scope, "Namespaced"))
        field_error_enum(errs, &scope_at, json_getc(spec, "scope"), scopes, ARRAY_LEN(scopes));
}

/* An unchanged annotation is not reported. */
static void check_approval(const struct json *obj, const struct json *old,
                           struct field_errors *errs)
{
    struct fpath meta = fpath_child(NULL, STR("metadata"));
    struct fpath annotations = fpath_child(&meta, STR("annotations"));
    struct fpath at = fpath_key(&annotations, STR(CRD_APPROVED_BY));
    struct crd_approval now = crd_approval(errs->a, obj);
    if (old && crd_approval(errs->a, old).state == now.state)
        return;
    if (now.state == CRD_APPROVAL_MISSING)
        field_error(errs, FIELD_REQUIRED, &at, NULL, "%s", now.message);
    else if (now.state == CRD_APPROVAL_INVALID)
        field_error(errs, FIELD_INVALID, &at,
                    json_path(obj, "metadata", "annotations", CRD_APPROVED_BY, NULL), "%s",
                    now.message);
}

void crd_validate_name(const struct json *obj, struct field_errors *errs)
{
    struct fpath meta = fpath_child(NULL, STR("metadata")), at = fpath_child(&meta, STR("name"));
    const struct json *spec = json_getc(obj, "spec");
    const char *wanted = arena_printf(errs->a, STR_FMT "." STR_FMT,
                                      STR_ARG(json_get_str(json_getc(spec, "names"), "plural")),
                                      STR_ARG(json_get_str(spec, "group")));
    if (!str_is(meta_name(obj), wanted))
        field_error_str(errs, FIELD_INVALID, &at, meta_name(obj),
                        "must be spec.names.plural+\".\"+spec.group");
}

/* Fields that an established definition must not change. */
static void check_immutable(const struct json *obj, const struct json *old,
                            struct field_errors *errs)
{
    static const char *const fields[] = { "group", "scope" };
    const struct json *spec = json_getc(obj, "spec"), *old_spec = json_getc(old, "spec");
    struct fpath up = fpath_child(NULL, STR("spec")), names_at = fpath_child(&up, STR("names"));
    struct fpath kind_at = fpath_child(&names_at, STR("kind"));
    struct fpath plural_at = fpath_child(&names_at, STR("plural"));
    bool established = crd_has_condition(old, "Established");
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        struct fpath at = fpath_child(&up, str_of(fields[i]));
        if (i == 1 && !established)
            continue;
        if (!str_eq(json_get_str(spec, fields[i]), json_get_str(old_spec, fields[i])))
            field_error_str(errs, FIELD_INVALID, &at, json_get_str(spec, fields[i]),
                            "field is immutable");
    }
    struct str kind = json_get_str(json_getc(spec, "names"), "kind");
    struct str plural = json_get_str(json_getc(spec, "names"), "plural");
    if (established && !str_eq(kind, json_get_str(json_getc(old_spec, "names"), "kind")))
        field_error_str(errs, FIELD_INVALID, &kind_at, kind, "field is immutable");
    if (!str_eq(plural, json_get_str(json_getc(old_spec, "names"), "plural")))
        field_error_str(errs, FIELD_INVALID, &plural_at, plural, "field is immutable");
}

/* Versions in which objects may be stored cannot be removed. */
static void check_stored(const struct json *obj, struct field_errors *errs)
{
    struct fpath status = fpath_child(NULL, STR("status"));
    struct fpath list_at = fpath_child(&status, STR("storedVersions"));
    size_t i = 0;
    json_each (s, json_path(obj, "status", "storedVersions", NULL)) {
        struct fpath at = fpath_index(&list_at, i++);
        bool found = false;
        json_each (v, json_path(obj, "spec", "versions", NULL)) {
            found = found || str_eq(json_get_str(v, "name"), json_str(s));
        }
        if (!found)
            field_error(
                errs, FIELD_INVALID, &at, s,
                "missing from spec.versions; " STR_FMT
                " was previously a storage version, and must remain in spec.versions until a "
                "storage migration ensures no data remains persisted in " STR_FMT
                " and removes " STR_FMT " from status.storedVersions",
                STR_ARG(json_str(s)), STR_ARG(json_str(s)), STR_ARG(json_str(s)));
    }
}

void crd_validate(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    const struct json *spec = json_getc(obj, "spec");
    struct fpath at = fpath_child(NULL, STR("spec")), names_at = fpath_child(&at, STR("names"));
    struct fpath preserve_at = fpath_child(&at, STR("preserveUnknownFields"));
    struct fpath status = fpath_child(NULL, STR("status"));
    struct fpath accepted_at = fpath_child(&status, STR("acceptedNames"));
    check_group(spec, &at, errs);
    check_versions(spec, old, &at, errs);
    check_names(json_getc(spec, "names"), &names_at, true, errs);
    check_conversion(spec, old, &at, errs);
    check_names(json_path(obj, "status", "acceptedNames", NULL), &accepted_at, false, errs);
    if (old) {
        check_immutable(obj, old, errs);
        check_stored(obj, errs);
    } else {
        check_new_stored(obj, errs);
    }
    check_approval(obj, old, errs);
    if (json_bool(json_getc(spec, "preserveUnknownFields")) &&
        !json_bool(json_getc(json_getc(old, "spec"), "preserveUnknownFields")))
        field_error(errs, FIELD_INVALID, &preserve_at, json_getc(spec, "preserveUnknownFields"),
                    "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
                    "spec.versions[*].schema instead");
}
