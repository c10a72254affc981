/* SPDX-License-Identifier: Apache-2.0 */
/* Specs of Operator objects; see object_spec.h. */
#include "operator/host/object_spec.h"

#include "base/buf.h"
#include "codec/digest.h"
#include "kube/model/meta.h"
#include "kube/model/quantity.h"
#include "modules/module_fetch.h"
#include "modules/pull_secrets.h"

#include <errno.h>
#include <string.h>

enum { SIZE_MIN = 64 << 10, SECRET_NAME_MAX = 254 /* SECRET_NAME_MAX includes a blank */ };
#define SIZE_LIMIT (INT64_C(4) << 30)

static int read_allow(struct arena *a, const struct json *list, struct allow **ret, struct err *err)
{
    json_each (rule, list) {
        struct json *verbs = json_getc(rule, "verbs"), *paths = json_getc(rule, "paths");
        size_t n_verbs = 0, n_paths = 0;
        struct str *v = arena_new_n(a, struct str, verbs ? verbs->n : 0);
        struct str *p = arena_new_n(a, struct str, paths ? paths->n : 0);
        json_each (item, verbs)
            v[n_verbs++] = json_str(item);
        json_each (item, paths)
            p[n_paths++] = json_str(item);
        int r = allow_add(ret, v, n_verbs, p, n_paths, err);
        if (r < 0)
            return err_ctx(err, r, "spec.allow");
    }
    return 0;
}

/*
 * The schema has the same bounds; they are checked again, since a cluster may have an older schema.
 */
#define SPEC struct operator_spec
static const struct bind_field limit_fields[] = {
    BIND_CUSTOM("memory", SPEC, memory_max_bytes, quantity_bind, .min = SIZE_MIN,
                .max = SIZE_LIMIT),
    BIND_CUSTOM("swap", SPEC, swap_max_bytes, quantity_bind, .min = SIZE_MIN, .max = SIZE_LIMIT),
    BIND_UINT("activationMilliseconds", SPEC, activation_ms, .min = 1,
              .max = GUEST_ACTIVATION_MS_MAX),
    BIND_UINT("idleMilliseconds", SPEC, idle_ms, .min = 1, .max = INT64_MAX / 2),
    BIND_UINT("cpuShare", SPEC, cpu_share, .min = 1, .max = OPERATOR_CPU_SHARE_MAX),
    BIND_UINT("requestsPerSecond", SPEC, requests_per_second, .min = 1, .max = OPERATOR_RATE_MAX),
    BIND_UINT("burst", SPEC, request_burst, .min = 1, .max = OPERATOR_BURST_MAX),
    BIND_UINT("logLinesPerSecond", SPEC, log_lines_per_second, .min = 1,
              .max = OPERATOR_LOG_RATE_MAX),
};
static const struct bind_table limit_table = BIND_TABLE(limit_fields);

static int read_limits(const struct json *limits, struct operator_spec *spec, struct err *err)
{
    const struct fpath root = fpath_child(NULL, STR("spec.limits"));
    struct bind b = { .err = err, .at = &root };
    int r = limits ? bind_read(&b, &limit_table, limits, spec) : 0;
    if (r >= 0 && spec->request_burst && !spec->requests_per_second)
        return err_set(err, E_INVALID, "spec.limits.burst is nothing without requestsPerSecond");
    return r;
}

static int read_module(struct arena *a, const struct json *module,
                       const struct object_spec_opts *opts, struct operator_spec *ret,
                       struct err *err)
{
    const struct json *file = json_getc(module, "file"), *map = json_getc(module, "configMap"),
                      *url = json_getc(module, "url");
    struct str sha256 = json_get_str(module, "sha256"), key = json_get_str(map, "key");
    struct module_origin *o = &ret->origin;
    uint8_t digest[SHA256_BYTES];
    if ((file != NULL) + (map != NULL) + (url != NULL) != 1)
        return err_set(err, E_INVALID, "spec.module needs one of file, configMap and url");
    if (sha256.n && !hex_parse(sha256, digest, sizeof digest))
        return err_set(err, E_INVALID, "spec.module.sha256 is not 64 hexadecimal digits");
    if (sha256.n) {
        char *text = arena_alloc(a, SHA256_HEX_SIZE);
        hex_format(digest, sizeof digest, text);
        o->sha256 = text;
    }
    if (map) {
        o->from = MODULE_FROM_CONFIG_MAP;
        o->namespace = ret->namespace;
        o->name = str_dup_arena(a, json_get_str(map, "name"));
        o->key = key.n ? str_dup_arena(a, key) : "module.wasm";
        return 0;
    }
    if (url) {
        o->from = MODULE_FROM_URL;
        o->url = str_dup_arena(a, json_str(url));
        if (!o->sha256)
            return err_set(err, E_INVALID, "spec.module.url needs a sha256");
        int r = module_url_check(o->url, err);
        return r < 0 ? err_ctx(err, r, "spec.module.url") : 0;
    }
    o->from = MODULE_FROM_FILE;
    scoped(free_scoped) char *path = NULL;
    int r = module_find_file(opts->module_dirs, opts->n_module_dirs, json_str(file), &path, err);
    if (r == 0)
        o->path = arena_printf(a, "%s", path);
    return r;
}

/* Join names with blanks, as in struct module_origin; NULL: none. */
static int read_pull_secrets(struct arena *a, const struct json *list, const char **ret,
                             struct err *err)
{
    scoped(buf_fini_scoped) struct buf names = BUF_INIT(PULL_SECRETS_MAX * SECRET_NAME_MAX);
    if (!list || !list->n)
        return 0;
    if (list->n > PULL_SECRETS_MAX)
        return err_set(err, E_INVALID, "spec.imagePullSecrets has more than %d entries",
                       PULL_SECRETS_MAX);
    json_each (item, list) {
        struct str name = json_get_str(item, "name");
        if (!name.n || meta_check_dns1123_subdomain(name).n)
            return err_set(err, E_INVALID, "spec.imagePullSecrets has a name of no Secret");
        (void)buf_printf(&names, "%s" STR_FMT, names.n ? " " : "", STR_ARG(name));
    }
    *ret = str_dup_arena(a, buf_str(&names));
    return 0;
}

static int read_abi(struct str abi)
{
    static const char *const names[] = { [OPERATOR_ABI_AUTO] = "auto",
                                         [OPERATOR_ABI_G1] = "g1",
                                         [OPERATOR_ABI_G2] = "g2",
                                         [OPERATOR_ABI_V1] = "v1" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(abi, names[i]))
            return (int)i;
    return OPERATOR_ABI_AUTO;
}

int object_spec_read(struct arena *a, const struct json *object,
                     const struct object_spec_opts *opts, struct operator_spec *ret,
                     struct err *err)
{
    const struct json *meta = json_getc(object, "metadata"), *body = json_getc(object, "spec");
    const struct json *env = json_getc(body, "env"), *args = json_getc(body, "args");
    const struct json *create = json_getc(body, "createServiceAccount");
    struct str account = json_get_str(body, "serviceAccountName");
    struct operator_spec spec = {
        .namespace = str_dup_arena(a, json_get_str(meta, "namespace")),
        .name = str_dup_arena(a, json_get_str(meta, "name")),
        .uid = str_dup_arena(a, json_get_str(meta, "uid")),
        .generation = (uint64_t)json_int_or(json_getc(meta, "generation"), 1),
        .abi = read_abi(json_get_str(body, "abi")),
        .paused = json_bool(json_getc(body, "paused")),
        .log_debug = str_is(json_get_str(body, "logLevel"), "debug"),
        .env = arena_new_n(a, struct guest_env, env ? env->n : 0),
        .args = arena_new_n(a, struct str, args ? args->n : 0),
        .create_account = !create || json_bool(create),
    };
    spec.account = account.n ? str_dup_arena(a, account) : spec.name;
    json_each (item, env)
        spec.env[spec.n_env++] =
            (struct guest_env){ json_get_str(item, "name"), json_get_str(item, "value") };
    json_each (item, args)
        spec.args[spec.n_args++] = json_str(item);
    int r = read_limits(json_getc(body, "limits"), &spec, err);
    if (r >= 0)
        r = read_module(a, json_getc(body, "module"), opts, &spec, err);
    if (r >= 0)
        r = read_pull_secrets(a, json_getc(body, "imagePullSecrets"), &spec.origin.pull_secrets,
                              err);
    if (r >= 0 && spec.origin.from == MODULE_FROM_URL)
        spec.origin.namespace = spec.namespace;
    if (r >= 0)
        r = read_allow(a, json_getc(body, "allow"), &spec.allow, err);
    if (r < 0) {
        allow_free(spec.allow);
        return r;
    }
    *ret = spec;
    return 0;
}
