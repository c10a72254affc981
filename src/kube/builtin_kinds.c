/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in resources that are served: names, strategies, columns, selectable fields. What is
 * the same for all kinds comes from their schemas; here stands only what upstream does by hand.
 */
#include "codec/base64.h"
#include "kube/builtin.h"
#include "kube/crd.h"
#include "kube/meta.h"
#include "kube/table.h"

#include <assert.h>

enum { SECRET_MAX_BYTES = 1 << 20 }; /* of the values of one ConfigMap or Secret */

#define S(text)                                                                                    \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }
#define STRS(...)                                                                                  \
    (const struct str[])                                                                           \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define COUNT(...) (sizeof((const struct str[]){ __VA_ARGS__ }) / sizeof(struct str))

static const char immutable_text[] = "field is immutable when `immutable` is set";

static bool same(const struct json *a, const struct json *b)
{
    return (!a && !b) || (a && b && json_equal(a, b));
}

/* ---- ConfigMap ---- */

static void report_key(struct field_errors *errs, const struct fpath *at, struct str key)
{
    struct meta_problems p = meta_check_config_key(key);
    for (size_t i = 0; i < p.n; i++)
        field_error_str(errs, FIELD_INVALID, at, key, "%s", p.text[i]);
}

static size_t decoded_bytes(struct str base64)
{
    size_t pad = 0;
    while (pad < base64.n && base64.p[base64.n - 1 - pad] == '=')
        pad++;
    return (base64.n - pad) / 4 * 3 + ((base64.n - pad) % 4 * 3) / 4;
}

static size_t validate_bag(const struct json *obj, const char *bag, const char *other, bool encoded,
                           struct field_errors *errs)
{
    size_t total = 0;
    struct fpath up = fpath_child(NULL, str_of(bag));
    struct map others = { 0 }; /* both may hold very many keys */
    json_each (v, other ? json_getc(obj, other) : NULL)
        (void)map_put(&others, v->key, v);
    json_each (v, json_getc(obj, bag)) {
        struct fpath at = fpath_key(&up, v->key);
        report_key(errs, &at, v->key);
        if (map_has(&others, v->key))
            field_error_str(errs, FIELD_INVALID, &at, v->key, "duplicate of key present in %s",
                            other);
        total += encoded ? decoded_bytes(json_str(v)) : json_str(v).n;
    }
    map_fini(&others);
    return total;
}

/* An object marked immutable stays so, with these members. */
static void validate_immutable(const struct json *obj, const struct json *old,
                               const char *const *members, size_t n, struct field_errors *errs)
{
    if (!json_bool(json_getc(old, "immutable")))
        return;
    struct fpath at = fpath_child(NULL, STR("immutable"));
    if (!json_bool(json_getc(obj, "immutable")))
        field_error(errs, FIELD_FORBIDDEN, &at, NULL, "%s", immutable_text);
    for (size_t i = 0; i < n; i++) {
        struct fpath member = fpath_child(NULL, str_of(members[i]));
        if (!same(json_getc(obj, members[i]), json_getc(old, members[i])))
            field_error(errs, FIELD_FORBIDDEN, &member, NULL, "%s", immutable_text);
    }
}

static void configmap_validate(const struct json *obj, const struct json *old,
                               struct field_errors *errs)
{
    static const char *const members[] = { "data", "binaryData" };
    size_t total = validate_bag(obj, "data", "binaryData", false, errs) +
                   validate_bag(obj, "binaryData", "data", true, errs);
    if (total > SECRET_MAX_BYTES)
        field_error(errs, FIELD_TOO_LONG, NULL, NULL, "may not be more than %d bytes",
                    SECRET_MAX_BYTES);
    if (old)
        validate_immutable(obj, old, members, ARRAY_LEN(members), errs);
}

static struct json *cell_count(struct arena *a, const struct json *obj, const char *bag)
{
    const struct json *v = json_getc(obj, bag);
    return json_new_int(a, json_is(v, JSON_OBJECT) || json_is(v, JSON_ARRAY) ? v->n : 0);
}

static struct json *cell_name(struct arena *a, const struct json *obj, int64_t now_s)
{
    return table_default_columns[0].cell(a, obj, now_s);
}

static struct json *cell_age(struct arena *a, const struct json *obj, int64_t now_s)
{
    return table_default_columns[1].cell(a, obj, now_s);
}

static struct json *cell_configmap_data(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return json_new_int(a, json_int_or(cell_count(a, obj, "data"), 0) +
                               json_int_or(cell_count(a, obj, "binaryData"), 0));
}

#define COLUMN(title, kind, text, prio, fn)                                                        \
    {                                                                                              \
        .name = S(title), .type = S(kind), .description = S(text), .priority = (prio),             \
        .cell = (fn)                                                                               \
    }
#define COLUMN_NAME                                                                                \
    {                                                                                              \
        .name = S("Name"), .type = S("string"), .format = S("name"),                               \
        .description = S("Name of the object, unique among its kind in its namespace."),           \
        .cell = cell_name                                                                          \
    }
#define COLUMN_AGE COLUMN("Age", "string", "Time since the object was created.", 0, cell_age)

static const struct kube_column configmap_columns[] = {
    COLUMN_NAME,
    COLUMN("Data", "string", "Number of entries.", 0, cell_configmap_data),
    COLUMN_AGE,
};

static const struct kube_strategy configmap_strategy = { .validate = configmap_validate,
                                                         .unconditional_update = true };

/* ---- Secret ---- */

static void secret_set_defaults(struct arena *a, struct json *obj)
{
    struct json *clear = json_getc(obj, "stringData");
    json_each (v, clear) {
        struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
        if (base64_encode(&b, json_str(v), BASE64_STD) == 0)
            json_set(a, json_obj(a, obj, "data"), v->key, json_new_str(a, buf_str(&b)));
        buf_fini(&b);
    }
    if (clear)
        (void)json_del(obj, STR("stringData"));
    if (json_get_str(obj, "type").n == 0)
        json_set_str(a, obj, "type", STR("Opaque"));
}

static bool is_json_object(struct arena *a, struct str base64)
{
    struct buf b = BUF_INIT(SECRET_MAX_BYTES * 2);
    struct json *v;
    bool ok = base64_decode(&b, base64, BASE64_LENIENT) == 0 &&
              json_parse(a, str_copy_arena(a, buf_str(&b)), NULL, &v, NULL) == 0 &&
              v->type == JSON_OBJECT;
    buf_fini(&b);
    return ok;
}

static void require_key(const struct json *data, const char *key, struct field_errors *errs)
{
    struct fpath up = fpath_child(NULL, STR("data"));
    struct fpath at = fpath_key(&up, str_of(key));
    if (!json_getc(data, key))
        field_error(errs, FIELD_REQUIRED, &at, NULL, "%s", "");
}

static void require_json(const struct json *data, const char *key, struct field_errors *errs)
{
    struct fpath up = fpath_child(NULL, STR("data"));
    struct fpath at = fpath_key(&up, str_of(key));
    require_key(data, key, errs);
    if (json_getc(data, key) && !is_json_object(errs->a, json_get_str(data, key)))
        field_error_str(errs, FIELD_INVALID, &at, STR("<secret contents redacted>"),
                        "invalid character in the JSON document");
}

static void validate_secret_type(const struct json *obj, struct field_errors *errs)
{
    struct str type = json_get_str(obj, "type");
    const struct json *data = json_getc(obj, "data");
    if (str_is(type, "kubernetes.io/service-account-token")) {
        struct fpath meta = fpath_child(NULL, STR("metadata"));
        struct fpath annotations = fpath_child(&meta, STR("annotations"));
        struct fpath at = fpath_key(&annotations, STR("kubernetes.io/service-account.name"));
        if (json_str(json_path(obj, "metadata", "annotations", "kubernetes.io/service-account.name",
                               NULL))
                .n == 0)
            field_error(errs, FIELD_REQUIRED, &at, NULL, "%s", "");
    } else if (str_is(type, "kubernetes.io/dockercfg")) {
        require_json(data, ".dockercfg", errs);
    } else if (str_is(type, "kubernetes.io/dockerconfigjson")) {
        require_json(data, ".dockerconfigjson", errs);
    } else if (str_is(type, "kubernetes.io/basic-auth")) {
        if (!json_getc(data, "username") && !json_getc(data, "password")) {
            require_key(data, "username", errs);
            require_key(data, "password", errs);
        }
    } else if (str_is(type, "kubernetes.io/ssh-auth")) {
        require_key(data, "ssh-privatekey", errs);
    } else if (str_is(type, "kubernetes.io/tls")) {
        require_key(data, "tls.crt", errs);
        require_key(data, "tls.key", errs);
    }
}

static void secret_validate(const struct json *obj, const struct json *old,
                            struct field_errors *errs)
{
    static const char *const members[] = { "data" };
    struct fpath data = fpath_child(NULL, STR("data")), type = fpath_child(NULL, STR("type"));
    if (validate_bag(obj, "data", NULL, true, errs) > SECRET_MAX_BYTES)
        field_error(errs, FIELD_TOO_LONG, &data, NULL, "may not be more than %d bytes",
                    SECRET_MAX_BYTES);
    validate_secret_type(obj, errs);
    if (!old)
        return;
    if (!same(json_getc(obj, "type"), json_getc(old, "type")))
        field_error(errs, FIELD_INVALID, &type, json_getc(obj, "type"), "field is immutable");
    validate_immutable(obj, old, members, ARRAY_LEN(members), errs);
}

static struct json *cell_secret_type(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return json_new_str(a, json_get_str(obj, "type"));
}

static struct json *cell_data(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return cell_count(a, obj, "data");
}

static const struct kube_column secret_columns[] = {
    COLUMN_NAME,
    COLUMN("Type", "string", "What the secret is for; decides which keys it must have.", 0,
           cell_secret_type),
    COLUMN("Data", "string", "Number of entries.", 0, cell_data),
    COLUMN_AGE,
};

static const struct kube_strategy secret_strategy = { .set_defaults = secret_set_defaults,
                                                      .validate = secret_validate,
                                                      .unconditional_update = true };

/* ---- Namespace ---- */

static void namespace_set_defaults(struct arena *a, struct json *obj)
{
    if (meta_name(obj).n)
        json_set_str(a, json_obj(a, meta_of(a, obj), "labels"), "kubernetes.io/metadata.name",
                     meta_name(obj));
}

static void namespace_prepare_create(struct arena *a, struct json *obj)
{
    namespace_set_defaults(a, obj); /* the name may have been generated meanwhile */
    struct json *status = json_new_object(a), *spec = json_obj(a, obj, "spec");
    json_set_str(a, status, "phase", STR("Active"));
    json_setc(a, obj, "status", status);
    struct json *finalizers = json_getc(spec, "finalizers");
    if (!json_is(finalizers, JSON_ARRAY)) {
        finalizers = json_new_array(a);
        json_setc(a, spec, "finalizers", finalizers);
    }
    json_each (f, finalizers) {
        if (str_is(json_str(f), "kubernetes"))
            return;
    }
    json_add(finalizers, json_new_cstr(a, "kubernetes"));
}

static void namespace_prepare_update(struct arena *a, struct json *obj, const struct json *old)
{
    const struct json *finalizers = json_path(old, "spec", "finalizers", NULL);
    struct json *spec = json_obj(a, obj, "spec");
    if (finalizers)
        json_setc(a, spec, "finalizers", json_clone(a, finalizers));
    else
        (void)json_del(spec, STR("finalizers"));
}

static void namespace_validate(const struct json *obj, const struct json *old,
                               struct field_errors *errs)
{
    struct fpath spec = fpath_child(NULL, STR("spec")), status = fpath_child(NULL, STR("status"));
    struct fpath finalizers = fpath_child(&spec, STR("finalizers"));
    struct fpath phase_at = fpath_child(&status, STR("phase"));
    size_t i = 0;
    json_each (f, json_path(obj, "spec", "finalizers", NULL)) {
        struct fpath at = fpath_index(&finalizers, i++);
        struct meta_problems p = meta_check_qualified_name(json_str(f));
        for (size_t k = 0; k < p.n; k++)
            field_error_str(errs, FIELD_INVALID, &at, json_str(f), "%s", p.text[k]);
        if (!p.n && str_find_char(json_str(f), '/') < 0 && !str_is(json_str(f), "kubernetes"))
            field_error_str(errs, FIELD_INVALID, &at, json_str(f),
                            "name is neither a standard finalizer name nor is it fully qualified");
    }
    if (!old)
        return;
    const struct json *phase = json_path(obj, "status", "phase", NULL);
    bool deleting = meta_is_deleting(obj);
    if (phase && !str_is(json_str(phase), deleting ? "Terminating" : "Active"))
        field_error(errs, FIELD_INVALID, &phase_at, phase,
                    "may only be '%s' if `deletionTimestamp` is %s",
                    deleting ? "Terminating" : "Active", deleting ? "not empty" : "empty");
}

static struct json *cell_phase(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return json_new_str(a, json_str(json_path(obj, "status", "phase", NULL)));
}

static const struct kube_column namespace_columns[] = {
    COLUMN_NAME,
    COLUMN("Status", "string", "Active, or Terminating while its content is being deleted.", 0,
           cell_phase),
    COLUMN_AGE,
};

static const struct kube_subresource namespace_subresources[] = {
    { .name = S("finalize"), .verbs = KUBE_UPDATE, .version = S("v1"), .kind = S("Namespace") },
    { .name = S("status"),
      .verbs = KUBE_GET | KUBE_PATCH | KUBE_UPDATE,
      .version = S("v1"),
      .kind = S("Namespace") },
};

static const struct kube_strategy namespace_strategy = { .set_defaults = namespace_set_defaults,
                                                         .prepare_create = namespace_prepare_create,
                                                         .prepare_update = namespace_prepare_update,
                                                         .validate = namespace_validate,
                                                         .name_rule = KUBE_NAME_LABEL,
                                                         .unconditional_update = true,
                                                         .has_spec_finalizers = true };

/* ---- ServiceAccount ---- */

static struct json *cell_secrets(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return cell_count(a, obj, "secrets");
}

static const struct kube_column serviceaccount_columns[] = {
    COLUMN_NAME,
    COLUMN("Secrets", "string", "Number of secrets that pods of this account may mount.", 0,
           cell_secrets),
    COLUMN_AGE,
};

static const struct kube_strategy serviceaccount_strategy = { .unconditional_update = true };

/* ---- Lease ---- */

static void lease_validate(const struct json *obj, const struct json *old,
                           struct field_errors *errs)
{
    const struct json *spec = json_getc(obj, "spec");
    struct fpath up = fpath_child(NULL, STR("spec"));
    struct fpath duration_at = fpath_child(&up, STR("leaseDurationSeconds"));
    struct fpath transitions_at = fpath_child(&up, STR("leaseTransitions"));
    struct fpath holder_at = fpath_child(&up, STR("holderIdentity"));
    struct fpath preferred_at = fpath_child(&up, STR("preferredHolder"));
    const struct json *duration = json_getc(spec, "leaseDurationSeconds");
    const struct json *transitions = json_getc(spec, "leaseTransitions");
    const struct json *holder = json_getc(spec, "holderIdentity");
    (void)old;
    if (duration && json_int_or(duration, 1) <= 0)
        field_error(errs, FIELD_INVALID, &duration_at, duration, "must be greater than 0");
    if (transitions && json_int_or(transitions, 0) < 0)
        field_error(errs, FIELD_INVALID, &transitions_at, transitions,
                    "must be greater than or equal to 0");
    if (json_getc(spec, "strategy") && holder && json_str(holder).n == 0)
        field_error(errs, FIELD_INVALID, &holder_at, holder, "must not be empty");
    if (json_get_str(spec, "preferredHolder").n && !json_getc(spec, "strategy"))
        field_error(errs, FIELD_FORBIDDEN, &preferred_at, NULL,
                    "may only be specified when `strategy` is defined");
}

static struct json *cell_holder(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return json_new_str(a, json_str(json_path(obj, "spec", "holderIdentity", NULL)));
}

static const struct kube_column lease_columns[] = {
    COLUMN_NAME,
    COLUMN("Holder", "string", "Who holds the lease now.", 0, cell_holder),
    COLUMN_AGE,
};

static const struct kube_strategy lease_strategy = { .validate = lease_validate,
                                                     .create_on_update = true };

/* ---- Events, of both groups ---- */

/* The two versions name the same things differently. core/v1, events.k8s.io/v1 */
static const char *const event_names[][2] = {
    { "involvedObject", "regarding" },
    { "message", "note" },
    { "source", "deprecatedSource" },
    { "firstTimestamp", "deprecatedFirstTimestamp" },
    { "lastTimestamp", "deprecatedLastTimestamp" },
    { "count", "deprecatedCount" },
    { "reportingComponent", "reportingController" },
};

static const struct json *event_get(const struct json *obj, const char *core_name)
{
    for (size_t i = 0; i < ARRAY_LEN(event_names); i++)
        if (strcmp(event_names[i][0], core_name) == 0 && json_getc(obj, event_names[i][1]))
            return json_getc(obj, event_names[i][1]);
    return json_getc(obj, core_name);
}

static void event_convert(struct arena *a, struct json *obj, const struct kube_resource *from,
                          const struct kube_resource *to)
{
    (void)from;
    int target = to->group.n ? 1 : 0;
    for (size_t i = 0; i < ARRAY_LEN(event_names); i++) {
        struct json *v = json_getc(obj, event_names[i][!target]);
        if (v)
            v->key = str_of(event_names[i][target]);
    }
    /* Into the order of the other struct; nothing can be unknown or of a wrong type. */
    (void)schema_normalize(a, to->schema, obj, "Event", NULL, NULL, NULL);
}

static void event_validate(const struct json *obj, const struct json *old,
                           struct field_errors *errs)
{
    bool is_core = json_getc(obj, "involvedObject") != NULL;
    struct fpath up = fpath_child(NULL, is_core ? STR("involvedObject") : STR("regarding"));
    struct fpath at = fpath_child(&up, STR("namespace"));
    const struct json *about = event_get(obj, "involvedObject");
    struct str ns = json_get_str(about, "namespace"), own = meta_namespace(obj);
    (void)old;
    bool fits = ns.n ? str_eq(ns, own) : own.n == 0 || str_is(own, "default");
    if (!fits)
        field_error_str(errs, FIELD_INVALID, &at, ns, "does not match event.namespace");
    struct str time = json_get_str(obj, "eventTime");
    if (is_core && time.n == 0)
        return; /* an event in the old style need not say more */
    static const char *const needed[] = { "reportingController", "reportingInstance", "action",
                                          "reason" };
    for (size_t i = 0; i < ARRAY_LEN(needed); i++) {
        struct fpath field = fpath_child(NULL, str_of(needed[i]));
        const struct json *v =
            i == 0 ? event_get(obj, "reportingComponent") : json_getc(obj, needed[i]);
        if (json_str(v).n == 0)
            field_error(errs, FIELD_REQUIRED, &field, NULL, "%s", "");
    }
    struct fpath time_at = fpath_child(NULL, STR("eventTime"));
    if (time.n == 0)
        field_error(errs, FIELD_REQUIRED, &time_at, NULL, "%s", "");
}

static struct str event_time(const struct json *obj, const char *name)
{
    return json_str(event_get(obj, name));
}

static struct str event_first_seen(const struct json *obj)
{
    struct str t = event_time(obj, "firstTimestamp");
    return t.n ? t : json_get_str(obj, "eventTime");
}

static struct json *cell_event_last_seen(struct arena *a, const struct json *obj, int64_t now_s)
{
    struct str t = json_str(json_path(obj, "series", "lastObservedTime", NULL));
    if (t.n == 0)
        t = event_time(obj, "lastTimestamp");
    if (t.n == 0)
        t = event_first_seen(obj);
    return json_new_str(a, table_age(a, t, now_s));
}

static struct json *cell_event_first_seen(struct arena *a, const struct json *obj, int64_t now_s)
{
    return json_new_str(a, table_age(a, event_first_seen(obj), now_s));
}

static struct json *cell_event_type(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return json_new_str(a, json_get_str(obj, "type"));
}

static struct json *cell_event_reason(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return json_new_str(a, json_get_str(obj, "reason"));
}

static struct json *cell_event_object(struct arena *a, const struct json *obj, int64_t now_s)
{
    const struct json *about = event_get(obj, "involvedObject");
    struct str kind = str_lower_arena(a, json_get_str(about, "kind"));
    struct str name = json_get_str(about, "name");
    (void)now_s;
    if (name.n == 0)
        return json_new_str(a, kind);
    return json_new_cstr(a, arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(kind), STR_ARG(name)));
}

static struct json *cell_event_subobject(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return json_new_str(a, json_get_str(event_get(obj, "involvedObject"), "fieldPath"));
}

static struct json *cell_event_source(struct arena *a, const struct json *obj, int64_t now_s)
{
    const struct json *source = event_get(obj, "source");
    struct str component = json_get_str(source, "component"), host = json_get_str(source, "host");
    (void)now_s;
    if (component.n == 0) {
        component = json_str(event_get(obj, "reportingComponent"));
        host = json_get_str(obj, "reportingInstance");
    }
    if (host.n == 0)
        return json_new_str(a, component);
    return json_new_cstr(a,
                         arena_printf(a, STR_FMT ", " STR_FMT, STR_ARG(component), STR_ARG(host)));
}

static struct json *cell_event_message(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return json_new_str(a, str_trim(json_str(event_get(obj, "message"))));
}

static struct json *cell_event_count(struct arena *a, const struct json *obj, int64_t now_s)
{
    int64_t n = json_int_or(json_path(obj, "series", "count", NULL), 0);
    (void)now_s;
    if (n == 0)
        n = json_int_or(event_get(obj, "count"), 0);
    return json_new_int(a, n ? n : 1);
}

static const struct kube_column event_columns[] = {
    COLUMN("Last Seen", "string", "Time since it was last observed.", 0, cell_event_last_seen),
    COLUMN("Type", "string", "Normal or Warning.", 0, cell_event_type),
    COLUMN("Reason", "string", "Short word for what happened.", 0, cell_event_reason),
    COLUMN("Object", "string", "What it happened to.", 0, cell_event_object),
    COLUMN("Subobject", "string", "Part of the object that is meant.", 1, cell_event_subobject),
    COLUMN("Source", "string", "Who reported it.", 1, cell_event_source),
    COLUMN("Message", "string", "What happened, in words.", 0, cell_event_message),
    COLUMN("First Seen", "string", "Time since it was first observed.", 1, cell_event_first_seen),
    COLUMN("Count", "string", "How often it was observed.", 1, cell_event_count),
    { .name = S("Name"),
      .type = S("string"),
      .format = S("name"),
      .description = S("Name of the event object."),
      .priority = 1,
      .cell = cell_name },
};

static const struct kube_strategy event_strategy = { .validate = event_validate,
                                                     .unconditional_update = true,
                                                     .create_on_update = true,
                                                     .convert = event_convert };

/* ---- CustomResourceDefinition ---- */

static void crd_prepare_create(struct arena *a, struct json *obj)
{
    (void)json_del(obj, STR("status"));
    (void)json_obj(a, obj, "status");
}

static struct json *cell_created_at(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return json_new_str(a, json_str(json_path(obj, "metadata", "creationTimestamp", NULL)));
}

static const struct kube_column crd_columns[] = {
    COLUMN_NAME,
    COLUMN("Created At", "date", "When the object was created.", 0, cell_created_at),
};

static const struct kube_subresource crd_subresources[] = {
    { .name = S("status"),
      .verbs = KUBE_GET | KUBE_PATCH | KUBE_UPDATE,
      .group = S("apiextensions.k8s.io"),
      .version = S("v1"),
      .kind = S("CustomResourceDefinition") },
};

static const struct kube_strategy crd_strategy = { .set_defaults = crd_default,
                                                   .prepare_create = crd_prepare_create,
                                                   .validate = crd_validate,
                                                   .has_generation = true };

/* ---- the list ---- */

#define SHORT(...)      .short_names = STRS(__VA_ARGS__), .n_short_names = COUNT(__VA_ARGS__)
#define CATEGORY(...)   .categories = STRS(__VA_ARGS__), .n_categories = COUNT(__VA_ARGS__)
#define COLUMNS(c)      .columns = (c), .n_columns = ARRAY_LEN(c)
#define SUBRESOURCES(s) .subresources = (s), .n_subresources = ARRAY_LEN(s)
#define SELECT(...)                                                                                \
    .selectable_fields = STRS(__VA_ARGS__), .n_selectable_fields = COUNT(__VA_ARGS__)

enum { EVENT_CORE = 2, EVENT_NEW = 6 }; /* the two faces of events; checked when they are linked */

/* Schemas are filled in when they are registered. */
static struct kube_resource served[] = {
    { .version = S("v1"),
      .kind = S("Namespace"),
      .list_kind = S("NamespaceList"),
      .plural = S("namespaces"),
      .singular = S("namespace"),
      SHORT(S("ns")),
      .verbs = KUBE_VERBS_ALL & ~KUBE_DELETECOLLECTION,
      SUBRESOURCES(namespace_subresources),
      .strategy = &namespace_strategy,
      COLUMNS(namespace_columns),
      SELECT(S("name"), S("status.phase")) },
    { .version = S("v1"),
      .kind = S("ConfigMap"),
      .list_kind = S("ConfigMapList"),
      .plural = S("configmaps"),
      .singular = S("configmap"),
      SHORT(S("cm")),
      .namespaced = true,
      .verbs = KUBE_VERBS_ALL,
      .strategy = &configmap_strategy,
      COLUMNS(configmap_columns) },
    [EVENT_CORE] = { .version = S("v1"),
                     .kind = S("Event"),
                     .list_kind = S("EventList"),
                     .plural = S("events"),
                     .singular = S("event"),
                     SHORT(S("ev")),
                     .namespaced = true,
                     .verbs = KUBE_VERBS_ALL,
                     .strategy = &event_strategy,
                     COLUMNS(event_columns),
                     SELECT(S("involvedObject.kind"), S("involvedObject.namespace"),
                            S("involvedObject.name"), S("involvedObject.uid"),
                            S("involvedObject.apiVersion"), S("involvedObject.resourceVersion"),
                            S("involvedObject.fieldPath"), S("reason"), S("reportingComponent"),
                            S("source"), S("type")) },
    { .version = S("v1"),
      .kind = S("Secret"),
      .list_kind = S("SecretList"),
      .plural = S("secrets"),
      .singular = S("secret"),
      .namespaced = true,
      .verbs = KUBE_VERBS_ALL,
      .strategy = &secret_strategy,
      COLUMNS(secret_columns),
      SELECT(S("type")) },
    { .version = S("v1"),
      .kind = S("ServiceAccount"),
      .list_kind = S("ServiceAccountList"),
      .plural = S("serviceaccounts"),
      .singular = S("serviceaccount"),
      SHORT(S("sa")),
      .namespaced = true,
      .verbs = KUBE_VERBS_ALL,
      .strategy = &serviceaccount_strategy,
      COLUMNS(serviceaccount_columns) },
    { .group = S("coordination.k8s.io"),
      .version = S("v1"),
      .kind = S("Lease"),
      .list_kind = S("LeaseList"),
      .plural = S("leases"),
      .singular = S("lease"),
      .namespaced = true,
      .verbs = KUBE_VERBS_ALL,
      .strategy = &lease_strategy,
      COLUMNS(lease_columns) },
    [EVENT_NEW] = { .group = S("events.k8s.io"),
                    .version = S("v1"),
                    .kind = S("Event"),
                    .list_kind = S("EventList"),
                    .plural = S("events"),
                    .singular = S("event"),
                    SHORT(S("ev")),
                    .namespaced = true,
                    .verbs = KUBE_VERBS_ALL,
                    .strategy = &event_strategy,
                    COLUMNS(event_columns),
                    SELECT(S("regarding.kind"), S("regarding.namespace"), S("regarding.name"),
                           S("regarding.uid"), S("regarding.apiVersion"),
                           S("regarding.resourceVersion"), S("regarding.fieldPath"), S("reason"),
                           S("reportingController"), S("type")) },
    { .group = S("apiextensions.k8s.io"),
      .version = S("v1"),
      .kind = S("CustomResourceDefinition"),
      .list_kind = S("CustomResourceDefinitionList"),
      .plural = S("customresourcedefinitions"),
      .singular = S("customresourcedefinition"),
      SHORT(S("crd"), S("crds")),
      CATEGORY(S("api-extensions")),
      .verbs = KUBE_VERBS_ALL,
      SUBRESOURCES(crd_subresources),
      .strategy = &crd_strategy,
      COLUMNS(crd_columns) },
};

void builtin_register(struct registry *reg)
{
    for (size_t i = 0; i < ARRAY_LEN(served); i++) {
        struct kube_resource *r = &served[i];
        r->schema = builtin_schema(r->group, r->version, r->kind);
        assert(r->schema);
        r->storage = i == EVENT_NEW ? &served[EVENT_CORE] : r;
        int added = registry_add(reg, r, NULL);
        assert(added == 0);
    }
    assert(str_is(served[EVENT_CORE].plural, "events") &&
           str_is(served[EVENT_NEW].plural, "events"));
}
