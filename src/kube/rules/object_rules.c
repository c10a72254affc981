/* SPDX-License-Identifier: Apache-2.0 */
/* Turns request bodies into objects; see object_rules.h. */
#include "kube/rules/object_rules.h"

#include "base/clock.h"
#include "kube/cel/cel_rules.h"
#include "kube/model/builtin.h"
#include "kube/model/crd.h"
#include "kube/model/embedded.h"
#include "kube/model/meta.h"
#include "kube/model/status.h"
#include "kube/rules/kinds/defaults.h"
#include "kube/rules/object_order.h"
#include "kube/rules/validate/validate.h"

#include <errno.h>

int object_field_validation_parse(struct str s, enum field_validation *ret)
{
    if (s.n == 0 || str_is(s, "Warn"))
        *ret = FIELD_VALIDATION_WARN;
    else if (str_is(s, "Strict"))
        *ret = FIELD_VALIDATION_STRICT;
    else if (str_is(s, "Ignore"))
        *ret = FIELD_VALIDATION_IGNORE;
    else
        return -EINVAL;
    return 0;
}

/* ---- warnings ---- */

static void warn(struct object_warnings *w, const char *what, struct str path)
{
    if (!w || w->n >= OBJECT_MAX_WARNINGS)
        return;
    w->text[w->n++] = str_of(arena_printf(w->a, "%s field \"" STR_FMT "\"", what, STR_ARG(path)));
}

void object_on_duplicate(void *warnings, struct str path)
{
    warn(warnings, "duplicate", path);
}

static void on_unknown(void *warnings, struct str path)
{
    warn(warnings, "unknown", path);
}

/* Paths inside metadata arrive without "metadata". */
static void on_unknown_meta(void *warnings, struct str path)
{
    struct object_warnings *w = warnings;
    on_unknown(w, str_of(arena_printf(w->a, "metadata." STR_FMT, STR_ARG(path))));
}

static struct json *cannot_handle(struct arena *a, const struct kube_resource *res, const char *why)
{
    const char *m = arena_printf(
        a, STR_FMT " in version \"" STR_FMT "\" cannot be handled as a " STR_FMT ": %s",
        STR_ARG(res->kind), STR_ARG(res->version), STR_ARG(res->kind), why);
    return status_bad_request(a, str_of(m));
}

static void strict_text(struct buf *to, const struct object_warnings *warnings)
{
    for (size_t i = 0; i < warnings->n; i++) {
        (void)buf_add_cstr(to, i ? ", " : "strict decoding error: ");
        (void)buf_add_str(to, warnings->text[i]);
    }
}

struct json *object_strict_status(struct arena *a, const struct kube_resource *res,
                                  const struct object_warnings *warnings)
{
    if (warnings->n == 0)
        return NULL;
    struct buf b = BUF_INIT(64 * 1024);
    strict_text(&b, warnings);
    struct json *s = cannot_handle(a, res, buf_cstr(&b));
    buf_fini(&b);
    return s;
}

/* ---- decoding ---- */

static int bad(struct json **ret_status, struct json *status)
{
    *ret_status = status;
    return E_INVALID;
}

/* The name of upstream's package of internal types: "core", "apps", "rbac". */
static struct str internal_package(const struct kube_resource *res)
{
    struct str head, tail;
    if (res->group.n == 0)
        return STR("core");
    (void)str_cut(res->group, '.', &head, &tail);
    return head;
}

/* The error for a body that names another kind than `res`. */
static struct json *another_kind(struct arena *a, const struct kube_resource *res, struct str group,
                                 struct str version, struct str kind)
{
    bool known = builtin_schema(group, version, kind) ||
                 (group.n == 0 && str_is(version, "v1") && str_is(kind, "List"));
    const char *why =
        known ? arena_printf(a,
                             "converting (" STR_FMT "." STR_FMT ") to (" STR_FMT "." STR_FMT
                             "): unknown conversion",
                             STR_ARG(version), STR_ARG(kind), STR_ARG(internal_package(res)),
                             STR_ARG(res->kind))
              : arena_printf(a,
                             "no kind \"" STR_FMT "\" is registered for version \"" STR_FMT
                             "%s" STR_FMT "\" in scheme \"pkg/api/legacyscheme/scheme.go:30\"",
                             STR_ARG(kind), STR_ARG(group), group.n ? "/" : "", STR_ARG(version));
    return status_bad_request(
        a, str_of(arena_printf(
               a, STR_FMT " in version \"" STR_FMT "\" cannot be handled as a " STR_FMT ": %s",
               STR_ARG(kind), STR_ARG(version), STR_ARG(res->kind), why)));
}

/* For a custom resource any kind is decoded; only validation reports that it is the wrong one. */
static struct json *wrong_custom_kind(struct arena *a, const struct kube_resource *res,
                                      const struct json *obj)
{
    struct field_errors errs = field_errors_init(a);
    struct fpath at = fpath_child(NULL, STR("kind"));
    struct str kind = json_get_str(obj, "kind");
    field_error_str(&errs, FIELD_INVALID, &at, kind, "must be " STR_FMT, STR_ARG(res->kind));
    return status_invalid(a, res->group, kind, meta_name(obj), &errs);
}

/* apiVersion and kind must name the resource; those missing in a built-in object are filled in. */
static int check_kind(struct arena *a, const struct kube_resource *res, struct json *obj,
                      struct json **ret_status)
{
    struct str want = kube_api_version(a, res), got = json_get_str(obj, "apiVersion");
    struct str kind = json_get_str(obj, "kind"), group, version;
    if (!str_cut(got.n ? got : want, '/', &group, &version)) {
        version = group;
        group = STR("");
    }
    bool custom = !(res->schema->flags & SCHEMA_BUILTIN);
    if (got.n && group.n == 0 && !str_eq(got, version)) { /* "/v1": an empty group */
        got = version;
        json_set_str(a, obj, "apiVersion", version);
    }
    if (kind.n && !str_eq(kind, res->kind) && custom && str_eq(got, want))
        return bad(ret_status, wrong_custom_kind(a, res, obj));
    if (kind.n && !str_eq(kind, res->kind))
        return bad(ret_status, another_kind(a, res, group, version, kind));
    if (got.n && !str_eq(got, want) && res->schema->flags & SCHEMA_BUILTIN &&
        !builtin_schema(group, version, res->kind))
        return bad(ret_status, another_kind(a, res, group, version, res->kind));
    if ((got.n || custom) && !str_eq(got, want))
        return bad(
            ret_status,
            status_bad_request(
                a, str_of(arena_printf(a,
                                       "the API version in the data (" STR_FMT
                                       ") does not match the expected API version (" STR_FMT ")",
                                       STR_ARG(got), STR_ARG(want)))));
    if (got.n == 0)
        json_set_str(a, obj, "apiVersion", want);
    if (kind.n == 0)
        json_set_str(a, obj, "kind", res->kind);
    return 0;
}

static int decode_builtin(struct arena *a, const struct kube_resource *res, struct json *obj,
                          struct object_warnings *w, struct err *err)
{
    const char *type = str_dup_arena(a, res->kind);
    return schema_normalize(a, res->schema, obj, type, w ? on_unknown : NULL, w, err);
}

/* Go reads 2.0 and 2e0 as the number 2, and writes 2. */
static void canonical_numbers(struct arena *a, struct json *v)
{
    double d;
    int64_t i;
    bool plain = true;
    if (v->type == JSON_NUMBER) {
        for (size_t k = 0; k < v->s.n; k++)
            plain = plain && v->s.p[k] != '.' && v->s.p[k] != 'e' && v->s.p[k] != 'E';
        if (!plain && json_int(v, &i) == 0)
            json_replace(v, json_new_int(a, i));
        else if ((!plain || json_int(v, &i) < 0) && json_float(v, &d) == 0)
            json_replace(v, json_new_float(a, d));
    }
    json_each (child, v) {
        canonical_numbers(a, child);
    }
}

/* Custom resources: metadata is upstream's struct, the rest follows the definition. */
static int decode_custom(struct arena *a, const struct kube_resource *res, struct json *obj,
                         struct object_warnings *w, struct err *err)
{
    const struct schema *meta = builtin_type("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
    struct json *m = meta_of(a, obj);
    int r = schema_normalize(a, meta, m, "ObjectMeta", w ? on_unknown_meta : NULL, w, err);
    if (r < 0)
        return r;
    schema_prune(res->schema, obj, true, w ? on_unknown : NULL, w);
    r = embedded_normalize(a, res->schema, obj, w ? on_unknown : NULL, w, err);
    if (r < 0)
        return r;
    canonical_numbers(a, obj);
    return 0;
}

/*
 * For a built-in kind "managedFields": [] ends the tracking like [{}], but omitempty would drop it.
 * For a custom object it counts as absent.
 */
static void keep_reset(struct arena *a, const struct json *obj)
{
    struct json *managed = json_path(obj, "metadata", "managedFields", NULL);
    if (json_is(managed, JSON_ARRAY) && managed->n == 0)
        json_add(managed, json_new_object(a));
}

static int decode(struct arena *a, const struct kube_resource *res, struct json *obj,
                  struct object_warnings *w, struct err *err)
{
    if (res->schema->flags & SCHEMA_BUILTIN)
        keep_reset(a, obj);
    return res->schema->flags & SCHEMA_BUILTIN ? decode_builtin(a, res, obj, w, err)
                                               : decode_custom(a, res, obj, w, err);
}

int object_decode_applied(struct arena *a, const struct kube_resource *res, struct json *obj,
                          struct json **ret_status)
{
    struct err err = { 0 };
    int r = check_kind(a, res, obj, ret_status);
    if (r < 0)
        return r;
    if (decode(a, res, obj, NULL, &err) < 0)
        return bad(ret_status, cannot_handle(a, res, err_text(&err)));
    if (res->schema->flags & SCHEMA_BUILTIN)
        object_default(a, res, obj);
    else
        schema_default_applied(a, res->schema, obj);
    return 0;
}

int object_decode_tree(struct arena *a, const struct kube_resource *res, struct json *obj,
                       enum field_validation fv, struct object_warnings *warnings,
                       struct json **ret_status)
{
    if (obj->type != JSON_OBJECT)
        return bad(
            ret_status,
            status_bad_request(a, STR("couldn't get version/kind; json parse error: json: cannot "
                                      "unmarshal into Go value of type struct { APIVersion "
                                      "string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
                                      "\"json:\\\"kind,omitempty\\\"\" }")));
    int r = check_kind(a, res, obj, ret_status);
    if (r < 0)
        return r;
    struct object_warnings *w = fv == FIELD_VALIDATION_IGNORE ? NULL : warnings;
    struct err err = { 0 };
    if (decode(a, res, obj, w, &err) < 0)
        return bad(ret_status, cannot_handle(a, res, err_text(&err)));
    if (w && w->json.n)
        object_order_warnings(w, w->json);
    struct json *strict =
        fv == FIELD_VALIDATION_STRICT && w ? object_strict_status(a, res, w) : NULL;
    if (strict)
        return bad(ret_status, strict);
    object_default(a, res, obj);
    return 0;
}

/*
 * "json: cannot unmarshal number into Go struct field X.y of type string", in the words of
 * upstream's converter from maps to structs.
 */
static const char *converter_words(struct arena *a, const char *text)
{
    static const struct {
        const char *json, *go;
    } kinds[] = { { "string", "string" },
                  { "bool", "bool" },
                  { "array", "slice" },
                  { "object", "map" },
                  { "number", "int64" } };
    struct str t = str_of(text), head = STR("json: cannot unmarshal ");
    ptrdiff_t of = str_find(t, STR(" of type "));
    if (!str_has_prefix(t, head) || of < 0)
        return text;
    struct str type = str_slice(t, (size_t)of + 9, t.n), rest = str_slice(t, head.n, t.n);
    const char *kind = "int64";
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_has_prefix(rest, str_of(kinds[i].json)))
            kind = kinds[i].go;
    if (str_has_prefix(type, STR("[]")))
        return arena_printf(a, "cannot restore slice from %s", kind);
    if (str_has_prefix(type, STR("map[")))
        return arena_printf(a, "cannot restore map from %s", kind);
    if (str_find_char(type, '.') >= 0)
        return arena_printf(a, "cannot restore struct from: %s", kind);
    if (str_is(type, "string") && strcmp(kind, "int64") == 0)
        return "cannot convert int64 to string";
    return arena_printf(a, "unrecognized type: " STR_FMT, STR_ARG(type));
}

static struct json *patch_invalid(struct arena *a, struct str shown, const char *why)
{
    struct field_errors errs = field_errors_init(a);
    struct fpath at = fpath_child(NULL, STR("patch"));
    field_error_str(&errs, FIELD_INVALID, &at, shown, "%s", why);
    return status_invalid(a, STR(""), STR(""), STR(""), &errs);
}

int object_decode_patched(struct arena *a, const struct kube_resource *res, struct json *obj,
                          enum field_validation fv, struct object_warnings *warnings,
                          struct str (*show)(void *arg), void *arg, bool strategic,
                          struct json **ret_status)
{
    struct err err = { 0 };
    struct object_warnings *w = fv == FIELD_VALIDATION_IGNORE ? NULL : warnings;
    if (obj->type != JSON_OBJECT)
        return bad(ret_status, patch_invalid(a, show(arg), "the result is no object"));
    int r = check_kind(a, res, obj, ret_status);
    if (r < 0)
        return r;
    if (decode(a, res, obj, w, &err) < 0)
        return bad(ret_status,
                   patch_invalid(a, show(arg),
                                 strategic ? converter_words(a, err_text(&err)) : err_text(&err)));
    if (fv == FIELD_VALIDATION_STRICT && w->n) {
        scoped(buf_fini_scoped) struct buf why = BUF_INIT(64 * 1024);
        strict_text(&why, w);
        return bad(ret_status, patch_invalid(a, show(arg), buf_cstr(&why)));
    }
    object_default(a, res, obj);
    return 0;
}

int object_decode(struct arena *a, const struct kube_resource *res, struct str body,
                  enum field_validation fv, struct object_warnings *warnings, struct json **ret,
                  struct json **ret_status)
{
    struct err err = { 0 };
    struct json *obj;
    struct json_parse_opts opts = { .on_duplicate =
                                        fv == FIELD_VALIDATION_IGNORE ? NULL : object_on_duplicate,
                                    .arg = warnings };
    int r = json_parse(a, body, &opts, &obj, &err);
    if (r < 0)
        return bad(
            ret_status,
            status_bad_request(a, str_of(arena_printf(a,
                                                      "the object provided is unrecognized (must "
                                                      "be of type " STR_FMT
                                                      "): couldn't get version/kind; json parse "
                                                      "error: %s",
                                                      STR_ARG(res->kind), err_text(&err)))));
    if (warnings && (res->schema->flags & SCHEMA_BUILTIN))
        warnings->json = body;
    r = object_decode_tree(a, res, obj, fv, warnings, ret_status);
    if (r < 0)
        return r;
    *ret = obj;
    return 0;
}

void object_default(struct arena *a, const struct kube_resource *res, struct json *obj)
{
    if (res->strategy->set_defaults)
        res->strategy->set_defaults(a, obj);
    if (res->schema->flags & SCHEMA_BUILTIN)
        defaults_apply(a, res->schema, obj);
    else
        schema_default(a, res->schema, obj);
}

/* ---- system metadata ---- */

static int check_namespace(struct arena *a, const struct kube_resource *res, struct json *meta,
                           struct str wanted, struct json **ret_status)
{
    struct str own = json_get_str(meta, "namespace");
    if (!res->namespaced) {
        (void)json_del(meta, STR("namespace")); /* ignored, as upstream */
        return 0;
    }
    if (own.n == 0 && wanted.n)
        json_set_str(a, meta, "namespace", wanted);
    else if (!str_eq(own, wanted))
        return bad(ret_status, status_bad_request(
                                   a, STR("the namespace of the provided object does not match the "
                                          "namespace sent on the request")));
    return 0;
}

static void set_time(struct arena *a, struct json *meta, const char *key, int64_t now_s)
{
    char text[RFC3339_MAX];
    rfc3339_format(now_s, text);
    json_set_str(a, meta, key, str_of(text));
}

/* The kind has a status subresource, so only that writes the status. */
static bool splits_status(const struct kube_resource *res)
{
    return kube_subresource(res, STR("status")) != NULL;
}

/* Drops a status that the client sent. */
static void reset_status(struct arena *a, const struct kube_resource *res, struct json *obj)
{
    const struct schema_field *f = schema_field(res->schema, STR("status"));
    (void)json_del(obj, STR("status"));
    if (!(res->schema->flags & SCHEMA_BUILTIN) || !f || f->flags & FIELD_OMIT_ZERO)
        return;
    struct json *zero = json_new_object(a);
    (void)schema_normalize(a, f->schema, zero, "Status", NULL, NULL, NULL);
    defaults_put(a, res->schema, obj, "status", zero);
}

void object_wipe_system_fields(struct json *obj)
{
    static const char *const fields[] = { "creationTimestamp", "uid", "deletionTimestamp",
                                          "deletionGracePeriodSeconds", "selfLink" };
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        (void)json_del(json_getc(obj, "metadata"), str_of(fields[i]));
}

int object_prepare_create(struct arena *a, const struct kube_resource *res, struct json *obj,
                          const struct object_env *env, struct json **ret_status)
{
    struct json *meta = meta_of(a, obj);
    int r = check_namespace(a, res, meta, env->namespace, ret_status);
    if (r < 0)
        return r;
    uint64_t rev; /* a text that is not a number, or 0, is not a version and is removed */
    if (parse_u64(json_get_str(meta, "resourceVersion"), 1, UINT64_MAX, &rev) == 0)
        return bad(ret_status,
                   status_new(a, 500, "",
                              STR("resourceVersion should not be set on objects to be created")));
    (void)json_del(meta, STR("resourceVersion"));
    struct str prefix = json_get_str(meta, "generateName");
    if (prefix.n && json_get_str(meta, "name").n == 0)
        json_set_str(a, meta, "name", meta_generate_name(a, prefix, env->random));
    json_set_str(a, meta, "uid", env->uid);
    set_time(a, meta, "creationTimestamp", env->now_s);
    if (res->strategy->has_generation)
        json_set_int(a, meta, "generation", 1);
    if (splits_status(res) && !res->strategy->keeps_status)
        reset_status(a, res, obj);
    if (res->strategy->prepare_create)
        res->strategy->prepare_create(a, obj);
    return 0;
}

/* Take one member from the old object, also its absence. */
static void keep(struct arena *a, struct json *now, const struct json *old, const char *key)
{
    const struct json *v = json_getc(old, key);
    if (v)
        json_setc(a, now, key, json_clone(a, v));
    else
        (void)json_del(now, str_of(key));
}

/* true if anything other than metadata, and status where it is separate, differs. */
static bool spec_changed(const struct kube_resource *res, const struct json *obj,
                         const struct json *old)
{
    bool apart = splits_status(res);
    size_t n = 0, n_old = 0;
    json_each (m, old) {
        n_old += !str_is(m->key, "metadata") && !(apart && str_is(m->key, "status")) &&
                 !str_is(m->key, "apiVersion") && !str_is(m->key, "kind");
    }
    json_each (m, obj) {
        if (str_is(m->key, "metadata") || (apart && str_is(m->key, "status")) ||
            str_is(m->key, "apiVersion") || str_is(m->key, "kind"))
            continue;
        const struct json *was = json_get(old, m->key);
        if (!was || !json_equal(was, m))
            return true;
        n++;
    }
    return n != n_old;
}

static bool annotations_changed(const struct json *obj, const struct json *old)
{
    const struct json *now = json_path(obj, "metadata", "annotations", NULL),
                      *was = json_path(old, "metadata", "annotations", NULL);
    return (now && now->n) || (was && was->n) ? !now || !was || !json_equal(now, was) : false;
}

static int check_name(struct arena *a, const struct json *meta, struct str name,
                      struct json **ret_status)
{
    struct str own = json_get_str(meta, "name");
    if (own.n == 0)
        return bad(ret_status,
                   status_bad_request(
                       a, str_of(arena_printf(a,
                                              "the name of the object (" STR_FMT
                                              " based on URL) was undeterminable: name must be "
                                              "provided",
                                              STR_ARG(name)))));
    if (!str_eq(own, name))
        return bad(ret_status,
                   status_bad_request(
                       a, str_of(arena_printf(a,
                                              "the name of the object (" STR_FMT
                                              ") does not match the name on the URL (" STR_FMT ")",
                                              STR_ARG(own), STR_ARG(name)))));
    return 0;
}

/* Take resources and resize policies from the containers of `from` into those of `list`. */
static void take_resources(struct arena *a, struct json *list, const struct json *from)
{
    const struct json *f = json_first(from);
    json_each (c, list) {
        keep(a, c, f, "resources");
        keep(a, c, f, "resizePolicy");
        f = f ? f->next : NULL;
    }
}

static bool same_names(const struct json *a, const struct json *b)
{
    const struct json *y = json_first(b);
    json_each (x, a) {
        if (!y || !str_eq(json_get_str(x, "name"), json_get_str(y, "name")))
            return false;
        y = y->next;
    }
    return !y;
}

/* A part of a Pod's spec is written; metadata and everything else stay. */
static int take_pod_part(struct arena *a, const struct kube_resource *res, enum object_part part,
                         struct json *obj, const struct json *old, struct json **ret_status)
{
    static const char *const lists[] = { "containers", "initContainers" };
    struct json *meta = meta_of(a, obj), *whole = json_clone(a, old);
    struct json *spec = json_obj(a, whole, "spec"), *wanted = json_obj(a, obj, "spec");
    keep(a, meta_of(a, whole), meta, "resourceVersion");
    if (json_getc(meta, "managedFields"))
        keep(a, meta_of(a, whole), meta, "managedFields");
    if (part == OBJECT_EPHEMERAL_CONTAINERS)
        keep(a, spec, wanted, "ephemeralContainers");
    for (size_t i = 0; part == OBJECT_RESIZE && i < ARRAY_LEN(lists); i++) {
        struct json *list = json_getc(spec, lists[i]);
        const struct json *from = json_getc(wanted, lists[i]);
        if (same_names(list, from))
            take_resources(a, list, from);
        else
            keep(a, spec, wanted, lists[i]); /* validation reports it */
    }
    if (part == OBJECT_RESIZE)
        keep(a, spec, wanted, "resources");
    json_replace(obj, whole);
    return 0;
}

/*
 * Only status is written: everything else comes from the old object. Metadata too for custom
 * resources; for built-in kinds metadata may change as in any update.
 */
static void take_status(struct arena *a, const struct kube_resource *res, struct json *obj,
                        const struct json *old)
{
    struct json *meta = meta_of(a, obj), *status = json_getc(obj, "status");
    struct json *whole = json_clone(a, old);
    if ((res->schema->flags & SCHEMA_BUILTIN) && !res->strategy->fixed_meta_in_status) {
        json_setc(a, whole, "metadata", json_clone(a, meta));
    } else {
        keep(a, meta_of(a, whole), meta, "resourceVersion");
        keep(a, meta_of(a, whole), meta, "managedFields");
    }
    json_setc(a, whole, "apiVersion", json_clone(a, json_getc(obj, "apiVersion")));
    if (status)
        json_setc(a, whole, "status", json_clone(a, status));
    else
        (void)json_del(whole, STR("status"));
    json_replace(obj, whole);
}

int object_prepare_update(struct arena *a, const struct kube_resource *res, enum object_part part,
                          struct json *obj, const struct json *old, const struct object_env *env,
                          struct str name, struct json **ret_status)
{
    static const char *const server_owned[] = { "creationTimestamp", "generation" };
    static const char *const immutable[] = { "uid", "deletionTimestamp",
                                             "deletionGracePeriodSeconds" };
    struct json *meta = meta_of(a, obj);
    const struct json *old_meta = json_getc(old, "metadata");
    int r = check_namespace(a, res, meta, env->namespace, ret_status);
    if (r == 0)
        r = check_name(a, meta, name, ret_status);
    if (r < 0)
        return r;
    for (size_t i = 0; i < ARRAY_LEN(server_owned); i++)
        keep(a, meta, old_meta, server_owned[i]);
    for (size_t i = 0; i < ARRAY_LEN(immutable); i++) /* other fields are refused by validation */
        if (!json_getc(meta, immutable[i]) || (i > 0 && json_getc(old_meta, immutable[i])))
            keep(a, meta, old_meta, immutable[i]);
    if (part == OBJECT_STATUS) {
        take_status(a, res, obj, old);
        if (res->strategy->prepare_status)
            res->strategy->prepare_status(a, obj, old);
    } else if (part != OBJECT_WHOLE) {
        r = take_pod_part(a, res, part, obj, old, ret_status);
        if (r < 0)
            return r;
    } else if (splits_status(res)) {
        keep(a, obj, old, "status");
    }
    if (res->strategy->prepare_update)
        res->strategy->prepare_update(a, obj, old);
    bool annotated =
        part == OBJECT_WHOLE && res->strategy->counts_annotations && annotations_changed(obj, old);
    if (res->strategy->has_generation && (annotated || spec_changed(res, obj, old)))
        json_set_int(a, meta_of(a, obj), "generation",
                     json_int_or(json_getc(old_meta, "generation"), 0) + 1);
    return 0;
}

/* ---- validation ---- */

static meta_rule name_rule(const struct kube_resource *res)
{
    switch (res->strategy->name_rule) {
    case KUBE_NAME_SUBDOMAIN:
        return meta_check_dns1123_subdomain;
    case KUBE_NAME_LABEL:
        return meta_check_dns1123_label;
    case KUBE_NAME_LABEL_1035:
        return meta_check_dns1035_label;
    case KUBE_NAME_PATH_SEGMENT:
        return meta_check_path_segment;
    }
    return meta_check_dns1123_subdomain;
}

/* Upstream checks these kinds with the validation that its built-in kinds share. */
static bool has_kube_finalizers(const struct kube_resource *res)
{
    return res->schema->flags & SCHEMA_BUILTIN && !str_is(res->group, "apiextensions.k8s.io") &&
           !str_is(res->group, "apiregistration.k8s.io");
}

static void validate_meta(const struct kube_resource *res, const struct json *obj,
                          const struct json *old, struct field_errors *errs)
{
    if (old) {
        /* Once in general and once for the kind: upstream reports these causes twice. */
        meta_validate_update(obj, old, errs);
        meta_validate_update(obj, old, errs);
    } else {
        meta_validate(obj, res->namespaced, name_rule(res), res->strategy->validate_name, errs);
    }
    if (has_kube_finalizers(res))
        meta_validate_finalizer_names(obj, errs);
}

static int validate_all(struct arena *a, const struct kube_resource *res, enum object_part part,
                        const struct json *obj, const struct json *old,
                        struct field_errors *excused, struct json **ret_status)
{
    struct field_errors errs = field_errors_init(a);
    errs.excused = excused;
    bool meta_last = res->strategy->meta_last && !old;
    if (!meta_last)
        validate_meta(res, obj, old, &errs);
    if (!(res->schema->flags & SCHEMA_BUILTIN)) {
        if (schema_validate(res->schema, obj, old, NULL, &errs) < 0)
            return bad(ret_status, status_too_much_work(a));
        crd_validate_scale(res, obj, &errs);
        embedded_validate(res->schema, obj, &errs);
        cel_validate(res->schema, obj, old, &errs);
    }
    if (part > OBJECT_STATUS && res->strategy->validate_part)
        res->strategy->validate_part(part, obj, old, &errs);
    else if (res->strategy->validate)
        res->strategy->validate(obj, old, &errs);
    if (meta_last && errs.n == 0)
        validate_meta(res, obj, old, &errs);
    if (errs.n == 0)
        return 0;
    /* upstream names the version it works with: the storage version */
    const struct kube_resource *as = res->crd || !res->storage ? res : res->storage;
    *ret_status = status_invalid(a, as->group, as->kind, meta_name(obj), &errs);
    return E_INVALID;
}

int object_validate(struct arena *a, const struct kube_resource *res, enum object_part part,
                    const struct json *obj, const struct json *old, struct json **ret_status)
{
    return validate_all(a, res, part, obj, old, NULL, ret_status);
}

int object_validate_update(struct arena *a, const struct kube_resource *res, enum object_part part,
                           const struct json *obj, const struct json *old,
                           struct object_warnings *warnings, struct json **ret_status)
{
    struct field_errors excused = field_errors_init(a);
    int r = validate_all(a, res, part, obj, old, &excused, ret_status);
    for (const struct field_error *e = excused.first; e && warnings->n < OBJECT_MAX_WARNINGS;
         e = e->next)
        warnings->text[warnings->n++] =
            str_of(arena_printf(a, STR_FMT ": " STR_FMT, STR_ARG(e->field), STR_ARG(e->body)));
    return r;
}
