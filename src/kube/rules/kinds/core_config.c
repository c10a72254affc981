/* SPDX-License-Identifier: Apache-2.0 */
/* ConfigMaps and Secrets. */
#include "codec/base64.h"
#include "kube/model/meta.h"
#include "kube/rules/kinds/kinds.h"

enum { SECRET_MAX_BYTES = 1 << 20 }; /* of the values of one ConfigMap or Secret */

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
    struct map others = { 0 }; /* a map, because both may have very many keys */
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

/* An object marked immutable cannot change, nor these members. */
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
    struct fpath whole = fpath_child(NULL, STR("[]")); /* upstream's path */
    if (old)
        validate_immutable(obj, old, members, ARRAY_LEN(members), errs);
    size_t total = validate_bag(obj, "data", "binaryData", false, errs) +
                   validate_bag(obj, "binaryData", NULL, true, errs);
    if (total > SECRET_MAX_BYTES)
        field_error(errs, FIELD_TOO_LONG, &whole, NULL, "may not be more than %d bytes",
                    SECRET_MAX_BYTES);
}

static struct json *cell_configmap_data(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return json_new_int(a, json_int_or(kind_cell_count(a, obj, "data"), 0) +
                               json_int_or(kind_cell_count(a, obj, "binaryData"), 0));
}

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
    if (old && !same(json_getc(obj, "type"), json_getc(old, "type")))
        field_error(errs, FIELD_INVALID, &type, json_getc(obj, "type"), "field is immutable");
    if (old)
        validate_immutable(obj, old, members, ARRAY_LEN(members), errs);
    if (validate_bag(obj, "data", NULL, true, errs) > SECRET_MAX_BYTES)
        field_error(errs, FIELD_TOO_LONG, &data, NULL, "may not be more than %d bytes",
                    SECRET_MAX_BYTES);
    validate_secret_type(obj, errs);
}

static struct json *cell_secret_type(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return json_new_str(a, json_get_str(obj, "type"));
}

static struct json *cell_data(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return kind_cell_count(a, obj, "data");
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

static struct kube_resource rows[] = { { .version = S("v1"),
                                         .kind = S("ConfigMap"),
                                         .list_kind = S("ConfigMapList"),
                                         .plural = S("configmaps"),
                                         .singular = S("configmap"),
                                         SHORT(S("cm")),
                                         .namespaced = true,
                                         .verbs = KUBE_VERBS_ALL,
                                         .strategy = &configmap_strategy,
                                         COLUMNS(configmap_columns) },
                                       { .version = S("v1"),
                                         .kind = S("Secret"),
                                         .list_kind = S("SecretList"),
                                         .plural = S("secrets"),
                                         .singular = S("secret"),
                                         .namespaced = true,
                                         .verbs = KUBE_VERBS_ALL,
                                         .strategy = &secret_strategy,
                                         COLUMNS(secret_columns),
                                         SELECT(S("type")) } };

const struct kind_list kinds_core_config = { rows, ARRAY_LEN(rows) };
