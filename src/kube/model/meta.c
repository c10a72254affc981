/* SPDX-License-Identifier: Apache-2.0 */
/* Object metadata; see meta.h. The rules are hand-written scanners: they run for every write. */
#include "kube/model/meta.h"

#include "base/map.h"

#include <inttypes.h>

struct str meta_name(const struct json *obj)
{
    return json_get_str(json_getc(obj, "metadata"), "name");
}

struct str meta_namespace(const struct json *obj)
{
    return json_get_str(json_getc(obj, "metadata"), "namespace");
}

struct str meta_uid(const struct json *obj)
{
    return json_get_str(json_getc(obj, "metadata"), "uid");
}

struct str meta_resource_version(const struct json *obj)
{
    return json_get_str(json_getc(obj, "metadata"), "resourceVersion");
}

struct json *meta_of(struct arena *a, struct json *obj)
{
    return json_obj(a, obj, "metadata");
}

bool meta_is_deleting(const struct json *obj)
{
    return json_is(json_path(obj, "metadata", "deletionTimestamp", NULL), JSON_STRING);
}

bool meta_has_finalizers(const struct json *obj)
{
    const struct json *f = json_path(obj, "metadata", "finalizers", NULL);
    return json_is(f, JSON_ARRAY) && f->n > 0;
}

void meta_set_resource_version(struct arena *a, struct json *obj, uint64_t rev)
{
    struct json *meta = meta_of(a, obj);
    (void)json_del(meta, STR("resourceVersion"));
    if (rev)
        json_set_str(a, meta, "resourceVersion", str_of(arena_printf(a, "%" PRIu64, rev)));
}

struct str meta_generate_name(struct arena *a, struct str prefix, uint64_t random)
{
    /* Without vowels and the digits that resemble them, so that no words are formed. */
    static const char alphabet[] = "bcdfghjklmnpqrstvwxz2456789";
    char suffix[META_GENERATED_SUFFIX + 1] = { 0 };
    for (size_t i = 0; i < META_GENERATED_SUFFIX; i++) {
        suffix[i] = alphabet[random % (sizeof alphabet - 1)];
        random /= sizeof alphabet - 1;
    }
    prefix = str_slice(prefix, 0, META_GENERATED_MAX_BYTES - META_GENERATED_SUFFIX);
    return str_of(arena_printf(a, STR_FMT "%s", STR_ARG(prefix), suffix));
}

/* ---- rules ---- */

#define LABEL_RE     "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define SUBDOMAIN_RE LABEL_RE "(\\." LABEL_RE ")*"
#define LABEL_MSG                                                                                  \
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "   \
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex "     \
    "used for validation is '" LABEL_RE "')"
#define SUBDOMAIN_MSG                                                                              \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "   \
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "  \
    "for validation is '" SUBDOMAIN_RE "')"
#define DNS1035_MSG                                                                                \
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "   \
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "           \
    "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
#define QUALIFIED_RE "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
#define QUALIFIED_MSG                                                                              \
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "    \
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "         \
    "validation is '" QUALIFIED_RE "')"
#define LABEL_VALUE_MSG                                                                            \
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "    \
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "             \
    "'my_value',  or '12345', regex used for validation is '(" QUALIFIED_RE ")?')"
#define CONFIG_KEY_MSG                                                                             \
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "           \
    "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
/*
 * Upstream counts bytes everywhere, but its messages mention bytes only for labels and their keys.
 */
#define MAX_63        "must be no more than 63 characters"
#define MAX_253       "must be no more than 253 characters"
#define MAX_63_BYTES  "must be no more than 63 bytes"
#define MAX_253_BYTES "must be no more than 253 bytes"

enum { LABEL_MAX = 63, SUBDOMAIN_MAX = 253 };

static void add(struct meta_problems *p, const char *text)
{
    if (p->n < ARRAY_LEN(p->text))
        p->text[p->n++] = text;
}

static bool is_lower_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c)
{
    return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

static bool is_label(struct str s)
{
    if (s.n == 0 || !is_lower_alnum(s.p[0]) || !is_lower_alnum(s.p[s.n - 1]))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!is_lower_alnum(s.p[i]) && s.p[i] != '-')
            return false;
    return true;
}

static bool is_subdomain(struct str s)
{
    struct str label;
    for (bool more = true; more;) {
        more = str_cut(s, '.', &label, &s);
        if (!is_label(label))
            return false;
    }
    return true;
}

/* ([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9] */
static bool is_qualified_part(struct str s)
{
    if (s.n == 0 || !is_alnum(s.p[0]) || !is_alnum(s.p[s.n - 1]))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!is_alnum(s.p[i]) && s.p[i] != '-' && s.p[i] != '_' && s.p[i] != '.')
            return false;
    return true;
}

struct meta_problems meta_check_dns1123_label(struct str s)
{
    struct meta_problems p = { 0 };
    if (s.n > LABEL_MAX)
        add(&p, MAX_63);
    if (!is_label(s))
        add(&p, is_subdomain(s) ? "must not contain dots" : LABEL_MSG);
    return p;
}

struct meta_problems meta_check_dns1123_subdomain(struct str s)
{
    struct meta_problems p = { 0 };
    if (s.n > SUBDOMAIN_MAX)
        add(&p, MAX_253);
    if (!is_subdomain(s))
        add(&p, SUBDOMAIN_MSG);
    return p;
}

struct meta_problems meta_check_dns1035_label(struct str s)
{
    struct meta_problems p = { 0 };
    if (s.n > LABEL_MAX)
        add(&p, MAX_63);
    if (!is_label(s) || (s.p[0] >= '0' && s.p[0] <= '9'))
        add(&p, DNS1035_MSG);
    return p;
}

struct meta_problems meta_check_path_segment(struct str s)
{
    struct meta_problems p = { 0 };
    if (str_is(s, ".")) {
        add(&p, "may not be '.'");
        return p;
    }
    if (str_is(s, "..")) {
        add(&p, "may not be '..'");
        return p;
    }
    if (str_find_char(s, '/') >= 0)
        add(&p, "may not contain '/'");
    if (str_find_char(s, '%') >= 0)
        add(&p, "may not contain '%'");
    return p;
}

struct meta_problems meta_check_qualified_name(struct str s)
{
    struct meta_problems p = { 0 };
    struct str prefix = STR(""), name = s, rest;
    if (str_cut(s, '/', &prefix, &rest)) {
        name = rest;
        if (str_find_char(name, '/') >= 0) {
            add(&p, "a valid label key " QUALIFIED_MSG
                    " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')");
            return p;
        }
        if (prefix.n == 0)
            add(&p, "prefix part must be non-empty");
        if (prefix.n > SUBDOMAIN_MAX)
            add(&p, "prefix part " MAX_253_BYTES);
        if (prefix.n && !is_subdomain(prefix))
            add(&p, "prefix part " SUBDOMAIN_MSG);
    }
    if (name.n == 0)
        add(&p, "name part must be non-empty");
    else if (name.n > LABEL_MAX)
        add(&p, "name part " MAX_63_BYTES);
    if (!is_qualified_part(name))
        add(&p, "name part " QUALIFIED_MSG);
    return p;
}

struct meta_problems meta_check_label_value(struct str s)
{
    struct meta_problems p = { 0 };
    if (s.n > LABEL_MAX)
        add(&p, MAX_63_BYTES);
    if (s.n && !is_qualified_part(s))
        add(&p, LABEL_VALUE_MSG);
    return p;
}

struct meta_problems meta_check_config_key(struct str s)
{
    struct meta_problems p = { 0 };
    if (s.n > SUBDOMAIN_MAX)
        add(&p, MAX_253);
    bool fine = s.n > 0;
    for (size_t i = 0; i < s.n; i++)
        fine = fine && (is_alnum(s.p[i]) || s.p[i] == '-' || s.p[i] == '_' || s.p[i] == '.');
    if (!fine)
        add(&p, CONFIG_KEY_MSG);
    if (str_is(s, "."))
        add(&p, "must not be '.'");
    else if (str_is(s, ".."))
        add(&p, "must not be '..'");
    else if (str_has_prefix(s, STR("..")))
        add(&p, "must not start with '..'");
    return p;
}

/* ---- validation ---- */

static void report(struct field_errors *errs, const struct fpath *at, struct str value,
                   struct meta_problems p)
{
    for (size_t i = 0; i < p.n; i++)
        field_error_str(errs, FIELD_INVALID, at, value, "%s", p.text[i]);
}

void meta_validate_labels(const struct json *labels, const struct fpath *at,
                          struct field_errors *errs)
{
    json_each (l, labels) {
        report(errs, at, l->key, meta_check_qualified_name(l->key));
        report(errs, at, json_str(l), meta_check_label_value(json_str(l)));
    }
}

void meta_validate_annotations(const struct json *annotations, const struct fpath *at,
                               struct field_errors *errs)
{
    size_t total = 0;
    json_each (an, annotations) {
        report(errs, at, an->key, meta_check_qualified_name(str_lower_arena(errs->a, an->key)));
        total += an->key.n + json_str(an).n;
    }
    if (total > META_ANNOTATIONS_MAX_BYTES)
        field_error(errs, FIELD_TOO_LONG, at, NULL, "may not be more than %d bytes",
                    META_ANNOTATIONS_MAX_BYTES);
}

static void require_of_owner(const struct json *ref, const char *key, const struct fpath *up,
                             struct field_errors *errs)
{
    struct fpath at = fpath_child(up, str_of(key));
    if (json_get_str(ref, key).n == 0)
        field_error_str(errs, FIELD_INVALID, &at, STR(""), "must not be empty");
}

static bool is_api_version(struct str s)
{
    struct str head, tail, more;
    if (!str_cut(s, '/', &head, &tail))
        return s.n > 0;
    return tail.n > 0 && !str_cut(tail, '/', &head, &more);
}

/* at: of the list. */
static void validate_owner(const struct json *ref, const struct fpath *at,
                           struct field_errors *errs)
{
    struct str version = json_get_str(ref, "apiVersion");
    struct fpath version_at = fpath_child(at, STR("apiVersion"));
    if (!is_api_version(version))
        field_error_str(errs, FIELD_INVALID, &version_at, version, "version must not be empty");
    require_of_owner(ref, "kind", at, errs);
    require_of_owner(ref, "name", at, errs);
    require_of_owner(ref, "uid", at, errs);
    if (str_is(version, "v1") && str_is(json_get_str(ref, "kind"), "Event"))
        field_error(errs, FIELD_INVALID, at, ref,
                    "/v1, Kind=Event is disallowed from being an owner");
}

static void validate_owners(const struct json *refs, const struct fpath *at,
                            struct field_errors *errs)
{
    const char *controller = NULL;
    json_each (ref, refs) {
        validate_owner(ref, at, errs); /* upstream's path has no index */
        if (!json_bool(json_getc(ref, "controller")))
            continue;
        const char *name =
            arena_printf(errs->a, STR_FMT "/" STR_FMT, STR_ARG(json_get_str(ref, "kind")),
                         STR_ARG(json_get_str(ref, "name")));
        if (controller)
            field_error(errs, FIELD_INVALID, at, refs,
                        "Only one reference can have Controller set to true. Found \"true\" in "
                        "references for %s and %s",
                        controller, name);
        else
            controller = name;
    }
}

static void validate_finalizers(const struct json *finalizers, const struct fpath *at,
                                struct field_errors *errs)
{
    bool orphan = false, foreground = false;
    json_each (f, finalizers) {
        struct str s = json_str(f);
        report(errs, at, s, meta_check_qualified_name(s));
        orphan = orphan || str_is(s, "orphan");
        foreground = foreground || str_is(s, "foregroundDeletion");
    }
    if (orphan && foreground)
        field_error(errs, FIELD_INVALID, at, finalizers,
                    "finalizer orphan and foregroundDeletion cannot be both set");
}

enum { MANAGER_MAX_BYTES = 128, SUBRESOURCE_MAX_BYTES = 256 };

static void validate_managed_fields(const struct json *list, const struct fpath *at,
                                    struct field_errors *errs)
{
    static const struct str operations[] = { { "Apply", 5 }, { "Update", 6 } };
    size_t i = 0;
    json_each (m, list) {
        struct fpath item = fpath_index(at, i++);
        struct str op = json_get_str(m, "operation"), type = json_get_str(m, "fieldsType");
        struct fpath op_at = fpath_child(&item, STR("operation"));
        struct fpath type_at = fpath_child(&item, STR("fieldsType"));
        struct str manager = json_get_str(m, "manager"), sub = json_get_str(m, "subresource");
        struct fpath manager_at = fpath_child(&item, STR("manager"));
        struct fpath sub_at = fpath_child(&item, STR("subresource"));
        if (manager.n > MANAGER_MAX_BYTES)
            field_error(errs, FIELD_TOO_LONG, &manager_at, NULL, "may not be more than %d bytes",
                        (int)MANAGER_MAX_BYTES);
        if (sub.n > SUBRESOURCE_MAX_BYTES)
            field_error(errs, FIELD_TOO_LONG, &sub_at, NULL, "may not be more than %d bytes",
                        (int)SUBRESOURCE_MAX_BYTES);
        if (op.n == 0)
            field_error(errs, FIELD_REQUIRED, &op_at, NULL, "must not be empty");
        else if (!str_is(op, "Apply") && !str_is(op, "Update"))
            field_error_enum(errs, &op_at, json_getc(m, "operation"), operations, 2);
        if (type.n && !str_is(type, "FieldsV1"))
            field_error_str(errs, FIELD_INVALID, &type_at, type, "must be `FieldsV1`");
    }
}

static void validate_common(const struct json *meta, const struct fpath *at,
                            struct field_errors *errs)
{
    struct fpath labels = fpath_child(at, STR("labels"));
    struct fpath annotations = fpath_child(at, STR("annotations"));
    struct fpath owners = fpath_child(at, STR("ownerReferences"));
    struct fpath managed = fpath_child(at, STR("managedFields"));
    meta_validate_labels(json_getc(meta, "labels"), &labels, errs);
    meta_validate_annotations(json_getc(meta, "annotations"), &annotations, errs);
    validate_owners(json_getc(meta, "ownerReferences"), &owners, errs);
    validate_managed_fields(json_getc(meta, "managedFields"), &managed, errs);
}

/* A trailing dash of a prefix is allowed, since more text follows it. */
static struct str without_trailing_dash(struct arena *a, struct str s)
{
    if (s.n <= 1 || s.p[s.n - 1] != '-')
        return s;
    return str_of(arena_printf(a, STR_FMT "a", STR_ARG(str_slice(s, 0, s.n - 2))));
}

void meta_validate(const struct json *obj, bool namespaced, meta_rule rule,
                   void (*own_rule)(const struct json *obj, struct field_errors *errs),
                   struct field_errors *errs)
{
    const struct json *meta = json_getc(obj, "metadata");
    struct fpath at = fpath_child(NULL, STR("metadata"));
    struct fpath name_at = fpath_child(&at, STR("name"));
    struct fpath generate_at = fpath_child(&at, STR("generateName"));
    struct fpath namespace_at = fpath_child(&at, STR("namespace"));
    struct fpath generation_at = fpath_child(&at, STR("generation"));
    struct fpath finalizers_at = fpath_child(&at, STR("finalizers"));
    struct str name = json_get_str(meta, "name"), generate = json_get_str(meta, "generateName");
    struct str ns = json_get_str(meta, "namespace");

    if (generate.n)
        report(errs, &generate_at, generate, rule(without_trailing_dash(errs->a, generate)));
    if (name.n == 0)
        field_error(errs, FIELD_REQUIRED, &name_at, NULL, "name or generateName is required");
    else
        report(errs, &name_at, name, rule(name));
    if (name.n && own_rule)
        own_rule(obj, errs);
    if (namespaced && ns.n == 0)
        field_error(errs, FIELD_REQUIRED, &namespace_at, NULL, "%s", "");
    else if (namespaced)
        report(errs, &namespace_at, ns, meta_check_dns1123_label(ns));
    else if (ns.n)
        field_error(errs, FIELD_FORBIDDEN, &namespace_at, NULL, "not allowed on this type");
    if (json_int_or(json_getc(meta, "generation"), 0) < 0)
        field_error(errs, FIELD_INVALID, &generation_at, json_getc(meta, "generation"),
                    "must be greater than or equal to 0");
    validate_common(meta, &at, errs);
    validate_finalizers(json_getc(meta, "finalizers"), &finalizers_at, errs);
}

void meta_validate_finalizer_names(const struct json *obj, struct field_errors *errs)
{
    struct fpath meta = fpath_child(NULL, STR("metadata"));
    struct fpath list = fpath_child(&meta, STR("finalizers"));
    struct str head, tail;
    size_t i = 0;
    json_each (f, json_path(obj, "metadata", "finalizers", NULL)) {
        struct fpath at = fpath_index(&list, i++);
        struct str s = json_str(f);
        if (!str_cut(s, '/', &head, &tail) && !str_is(s, "kubernetes") && !str_is(s, "orphan") &&
            !str_is(s, "foregroundDeletion"))
            field_error_str(errs, FIELD_INVALID, &at, s,
                            "name is neither a standard finalizer name nor is it fully qualified");
    }
}

static void validate_no_new_finalizers(const struct json *meta, const struct json *old,
                                       const struct fpath *at, struct field_errors *errs)
{
    struct buf extra = BUF_INIT(64 * 1024);
    struct map known = { 0 };
    json_each (f, json_getc(old, "finalizers"))
        (void)map_put(&known, json_str(f), f);
    json_each (f, json_getc(meta, "finalizers")) {
        if (map_has(&known, json_str(f)))
            continue;
        if (extra.n)
            (void)buf_add_cstr(&extra, ", ");
        field_go_quote(&extra, json_str(f));
    }
    if (extra.n)
        field_error(errs, FIELD_FORBIDDEN, at, NULL,
                    "no new finalizers can be added if the object is being deleted, found new "
                    "finalizers []string{%s}",
                    buf_cstr(&extra));
    map_fini(&known);
    buf_fini(&extra);
}

void meta_validate_update(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    static const char *const immutable[] = { "name",
                                             "namespace",
                                             "uid",
                                             "creationTimestamp",
                                             "deletionTimestamp",
                                             "deletionGracePeriodSeconds" };
    const struct json *meta = json_getc(obj, "metadata"), *old_meta = json_getc(old, "metadata");
    struct fpath at = fpath_child(NULL, STR("metadata"));
    struct fpath finalizers_at = fpath_child(&at, STR("finalizers"));
    struct fpath generation_at = fpath_child(&at, STR("generation"));
    validate_finalizers(json_getc(meta, "finalizers"), &finalizers_at, errs);
    if (meta_is_deleting(old))
        validate_no_new_finalizers(meta, old_meta, &finalizers_at, errs);
    if (json_int_or(json_getc(meta, "generation"), 0) <
        json_int_or(json_getc(old_meta, "generation"), 0))
        field_error(errs, FIELD_INVALID, &generation_at, json_getc(meta, "generation"),
                    "must not be decremented");
    for (size_t i = 0; i < ARRAY_LEN(immutable); i++) {
        struct fpath field = fpath_child(&at, str_of(immutable[i]));
        const struct json *now = json_getc(meta, immutable[i]),
                          *was = json_getc(old_meta, immutable[i]);
        bool same = (!now && !was) || (now && was && json_equal(now, was));
        struct json none = { .type = JSON_NULL };
        if (!same)
            field_error(errs, FIELD_INVALID, &field, now ? now : &none, "field is immutable");
    }
    validate_common(meta, &at, errs);
}

void meta_name_item(struct arena *a, const struct json *list, struct json *item)
{
    struct str kind = json_get_str(list, "kind"), version = json_get_str(list, "apiVersion");
    if (json_get_str(item, "kind").n || !str_has_suffix(kind, STR("List")))
        return;
    (void)json_del(item, STR("apiVersion"));
    (void)json_del(item, STR("kind"));
    struct json *v = json_new_str(a, str_slice(kind, 0, kind.n - 4));
    v->key = STR("kind");
    json_insert_before(item, json_first(item), v);
    v = json_new_str(a, version);
    v->key = STR("apiVersion");
    json_insert_before(item, json_first(item), v);
}
