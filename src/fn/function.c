/* SPDX-License-Identifier: Apache-2.0 */
/* Specs of functions; see function.h. */
#include "fn/function.h"

#include "base/buf.h"
#include "codec/digest.h"
#include "fn/cron/cron.h"
#include "kube/model/meta.h"
#include "kube/model/quantity.h"

#include <errno.h>
#include <inttypes.h>

enum { CPU_MILLI_MAX = 1024000 };
#define MEMORY_MIN ((uint64_t)64 << 10)
#define MEMORY_MAX ((uint64_t)1 << 40)
#define BYTES_MAX  ((uint64_t)1 << 50)
#define WEEK_MS    ((uint64_t)7 * 86400000)

extern const struct str fn_crd_json;

struct str fn_crds(void)
{
    return fn_crd_json;
}

/* The members that sandboxes depend on, in canonical order. */
static const char *const template_keys[] = {
    "abi",    "args",         "command", "env",      "fake",      "image",     "imagePullSecrets",
    "module", "nodeSelector", "port",    "protocol", "readiness", "resources", "reuse",
    "secrets"
};

void fn_template_json(const struct json *spec, struct buf *to)
{
    const char *between = "{";
    for (size_t i = 0; i < ARRAY_LEN(template_keys); i++) {
        const struct json *v = json_getc(spec, template_keys[i]);
        if (!v)
            continue;
        buf_printf(to, "%s\"%s\":", between, template_keys[i]);
        (void)json_write_sorted(to, v);
        between = ",";
    }
    buf_add_cstr(to, *between == '{' ? "{}" : "}");
}

/* ---------------------------------------------------------------- scalars */

/*
 * The schema has these bounds; they are checked again, since a cluster may have an older one. A
 * member that is not there leaves *ret.
 */
static int read_u64(const struct json *at, const char *path, const char *key, uint64_t min,
                    uint64_t max, uint64_t *ret, struct err *err)
{
    const struct json *v = json_getc(at, key);
    int64_t n = 0;
    if (!v)
        return 0;
    if (json_int(v, &n) < 0 || n < 0 || (uint64_t)n < min || (uint64_t)n > max)
        return err_set(err, E_INVALID,
                       "spec.%s%s must be an integer between %" PRIu64 " and %" PRIu64, path, key,
                       min, max);
    *ret = (uint64_t)n;
    return 0;
}

static int read_u32(const struct json *at, const char *path, const char *key, uint64_t min,
                    uint64_t max, uint32_t *ret, struct err *err)
{
    uint64_t n = *ret;
    int r = read_u64(at, path, key, min, max, &n, err);
    if (r >= 0)
        *ret = (uint32_t)n;
    return r;
}

/* A quantity, in thousandths if `is_milli`. */
static int read_quantity(const struct json *at, const char *path, const char *key, bool is_milli,
                         uint64_t min, uint64_t max, uint64_t *ret, struct err *err)
{
    const struct json *v = json_getc(at, key);
    struct quantity q;
    if (!v)
        return 0;
    int r =
        quantity_parse(v->type == JSON_STRING || v->type == JSON_NUMBER ? v->s : STR(""), &q, err);
    if (r < 0)
        return err_ctx(err, r, "spec.%s%s", path, key);
    int64_t n = is_milli ? quantity_milli(q) : quantity_value(q);
    if (n < 0 || (uint64_t)n < min || (uint64_t)n > max)
        return err_set(err, E_INVALID, "spec.%s%s must be between %" PRIu64 " and %" PRIu64 "%s",
                       path, key, min, max, is_milli ? " thousandths" : "");
    *ret = (uint64_t)n;
    return 0;
}

struct word {
    const char *text;
    int value;
};

static int read_word(const struct json *at, const char *path, const char *key,
                     const struct word *words, size_t n, int *ret, struct err *err)
{
    const struct json *v = json_getc(at, key);
    if (!v)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (str_is(json_str(v), words[i].text)) {
            *ret = words[i].value;
            return 0;
        }
    return err_set(err, E_INVALID, "spec.%s%s '" STR_FMT "' is none of the values it may have",
                   path, key, STR_ARG(json_str(v)));
}

static int read_strings(struct arena *a, const struct json *list, const char *key, size_t max,
                        struct str **ret, size_t *ret_n, struct err *err)
{
    if (list && list->n > max)
        return err_set(err, E_INVALID, "spec.%s has more than %zu entries", key, max);
    *ret = arena_new_n(a, struct str, list ? list->n : 0);
    *ret_n = 0;
    json_each (item, list) {
        if (!json_is(item, JSON_STRING))
            return err_set(err, E_INVALID, "spec.%s[%zu] is no string", key, *ret_n);
        (*ret)[(*ret_n)++] = json_str(item);
    }
    return 0;
}

/* Of a Secret or ConfigMap. It becomes a part of a path that is asked with the control plane's
 * rights: "../" or "?" in it would lead out of the namespace. */
static bool is_object_name(struct str s)
{
    return s.n && meta_check_dns1123_subdomain(s).n == 0;
}

/* ---------------------------------------------------------------- template */

static int read_module(const struct json *module, struct fn_template *t, struct err *err)
{
    const struct json *file = json_getc(module, "file"), *map = json_getc(module, "configMap"),
                      *url = json_getc(module, "url");
    uint8_t digest[SHA256_BYTES];
    if ((file != NULL) + (map != NULL) + (url != NULL) != 1)
        return err_set(err, E_INVALID, "spec.module needs one of file, configMap and url");
    t->runtime = FN_WASM;
    t->file = json_str(file);
    t->config_map = json_get_str(map, "name");
    t->key = json_get_str(map, "key");
    if (map && !t->key.n)
        t->key = STR("module.wasm");
    t->url = json_str(url);
    t->sha256 = json_get_str(module, "sha256");
    if (!t->file.n && !t->config_map.n && !t->url.n)
        return err_set(err, E_INVALID, "spec.module names nothing");
    if (map && !is_object_name(t->config_map))
        return err_set(err, E_INVALID, "spec.module.configMap.name is no name of a ConfigMap");
    if (t->sha256.n && !hex_parse(t->sha256, digest, sizeof digest))
        return err_set(err, E_INVALID, "spec.module.sha256 is not 64 hexadecimal digits");
    if (url && !t->sha256.n)
        return err_set(err, E_INVALID, "spec.module.url needs spec.module.sha256");
    return 0;
}

static int read_env(struct arena *a, const struct json *list, struct fn_template *t,
                    struct err *err)
{
    if (list && list->n > FN_ENV_MAX)
        return err_set(err, E_INVALID, "spec.env has more than %d entries", FN_ENV_MAX);
    t->env = arena_new_n(a, struct fn_env, list ? list->n : 0);
    json_each (item, list) {
        struct fn_env *e = &t->env[t->n_env];
        const struct json *value = json_getc(item, "value"), *from = json_getc(item, "valueFrom"),
                          *secret = json_getc(from, "secretKeyRef"),
                          *map = json_getc(from, "configMapKeyRef"), *ref = secret ? secret : map;
        *e = (struct fn_env){ .name = json_get_str(item, "name"),
                              .value = json_str(value),
                              .is_secret = secret != NULL,
                              .object = json_get_str(ref, "name"),
                              .key = json_get_str(ref, "key"),
                              .is_optional = json_bool(json_getc(ref, "optional")) };
        if (!e->name.n || memchr(e->name.p, '=', e->name.n) || memchr(e->name.p, 0, e->name.n))
            return err_set(err, E_INVALID, "spec.env[%zu].name is no name of a variable", t->n_env);
        if ((value && from) || (secret && map) || (from && (!e->object.n || !e->key.n)))
            return err_set(err, E_INVALID,
                           "spec.env[%zu] needs one of value, valueFrom.secretKeyRef and "
                           "valueFrom.configMapKeyRef, these with name and key",
                           t->n_env);
        if (from && !is_object_name(e->object))
            return err_set(err, E_INVALID,
                           "spec.env[%zu].valueFrom has a name that is none of a Secret or "
                           "ConfigMap",
                           t->n_env);
        if (memchr(e->value.p ? e->value.p : "", 0, e->value.n))
            return err_set(err, E_INVALID, "spec.env[%zu].value contains NUL", t->n_env);
        t->n_env++;
    }
    return 0;
}

/* A path that begins at the root and has no "." or ".." in it. */
static bool is_plain_path(struct str path)
{
    if (!path.n || path.p[0] != '/' || memchr(path.p, 0, path.n))
        return false;
    for (size_t at = 0; at < path.n;) {
        const char *end = memchr(path.p + at + 1, '/', path.n - at - 1);
        size_t next = end ? (size_t)(end - path.p) : path.n;
        struct str part = { path.p + at + 1, next - at - 1 };
        if (str_is(part, ".") || str_is(part, ".."))
            return false;
        at = next;
    }
    return true;
}

static int read_secrets(struct arena *a, const struct json *list, struct fn_template *t,
                        struct err *err)
{
    if (list && list->n > FN_SECRETS_MAX)
        return err_set(err, E_INVALID, "spec.secrets has more than %d entries", FN_SECRETS_MAX);
    t->secrets = arena_new_n(a, struct fn_secret_file, list ? list->n : 0);
    json_each (item, list) {
        struct fn_secret_file s = { json_get_str(item, "secretName"),
                                    json_get_str(item, "mountPath") };
        if (!s.secret.n || !is_plain_path(s.path) || s.path.n == 1)
            return err_set(err, E_INVALID,
                           "spec.secrets[%zu] needs secretName, and a mountPath below /",
                           t->n_secrets);
        if (!is_object_name(s.secret))
            return err_set(err, E_INVALID, "spec.secrets[%zu].secretName is no name of a Secret",
                           t->n_secrets);
        t->secrets[t->n_secrets++] = s;
    }
    return 0;
}

static int read_pull_secrets(struct arena *a, const struct json *list, struct fn_template *t,
                             struct err *err)
{
    if (list && list->n > FN_PULL_SECRETS_MAX)
        return err_set(err, E_INVALID, "spec.imagePullSecrets has more than %d entries",
                       FN_PULL_SECRETS_MAX);
    t->pull_secrets = arena_new_n(a, struct str, list ? list->n : 0);
    json_each (item, list) {
        struct str name = json_get_str(item, "name");
        if (!is_object_name(name))
            return err_set(err, E_INVALID, "spec.imagePullSecrets[%zu].name is no name of a Secret",
                           t->n_pull_secrets);
        t->pull_secrets[t->n_pull_secrets++] = name;
    }
    return 0;
}

static int read_image(const struct json *image, struct fn_template *t, struct err *err)
{
    static const struct word policies[] = { { "IfNotPresent", FN_PULL_IF_NOT_PRESENT },
                                            { "Always", FN_PULL_ALWAYS },
                                            { "Never", FN_PULL_NEVER } };
    int policy = FN_PULL_IF_NOT_PRESENT;
    t->runtime = FN_OCI;
    t->image = json_get_str(image, "reference");
    t->bundle = json_get_str(image, "bundle");
    if (!t->image.n == !t->bundle.n)
        return err_set(err, E_INVALID, "spec.image needs one of reference and bundle");
    int r = read_word(image, "image.", "pullPolicy", policies, ARRAY_LEN(policies), &policy, err);
    t->pull = (enum fn_pull)policy;
    return r;
}

static int read_node_selector(struct arena *a, const struct json *map, struct fn_template *t,
                              struct err *err)
{
    t->node_selector = arena_new_n(a, struct fn_name_value, map ? map->n : 0);
    json_each (item, map) {
        if (!json_is(item, JSON_STRING))
            return err_set(err, E_INVALID, "spec.nodeSelector has a value that is no string");
        t->node_selector[t->n_node_selector++] =
            (struct fn_name_value){ item->key, json_str(item) };
    }
    return 0;
}

int fn_template_read(struct arena *a, const struct json *spec, struct fn_template *ret,
                     struct err *err)
{
    static const struct word abis[] = { { "command", FN_ABI_COMMAND },
                                        { "reactor", FN_ABI_REACTOR } };
    static const struct word protocols[] = { { "http1", FN_HTTP1 },
                                             { "h2c", FN_H2C },
                                             { "grpc", FN_GRPC } };
    const struct json *module = json_getc(spec, "module"), *image = json_getc(spec, "image"),
                      *fake = json_getc(spec, "fake"), *resources = json_getc(spec, "resources"),
                      *readiness = json_getc(spec, "readiness");
    int abi = FN_ABI_AUTO, protocol = FN_HTTP1;
    uint32_t port = 8080;
    int r = 0;
    *ret = (struct fn_template){ .cpu_milli = FN_CPU_DEFAULT,
                                 .memory = FN_MEMORY_DEFAULT,
                                 .pids_max = 1024,
                                 .readiness_ms = 30000,
                                 .reuse = json_bool(json_getc(spec, "reuse")),
                                 .readiness_path = json_get_str(readiness, "path") };
    if ((module != NULL) + (image != NULL) + (fake != NULL) != 1)
        return err_set(err, E_INVALID, "spec needs one of module, image and fake");
    if (!image)
        ret->cpu_milli = FN_LIGHT_CPU;
    if (module) {
        r = read_module(module, ret, err);
    } else if (image) {
        r = read_image(image, ret, err);
    } else {
        ret->runtime = FN_FAKE;
        ret->memory = FN_LIGHT_MEMORY;
        r = read_u64(fake, "fake.", "createMilliseconds", 0, 600000, &ret->fake_create_ms, err);
        if (r >= 0)
            r = read_u64(fake, "fake.", "workMilliseconds", 0, 600000, &ret->fake_work_ms, err);
    }
    if (r < 0 || (r = read_word(spec, "", "abi", abis, ARRAY_LEN(abis), &abi, err)) < 0 ||
        (r = read_word(spec, "", "protocol", protocols, ARRAY_LEN(protocols), &protocol, err)) <
            0 ||
        (r = read_u32(spec, "", "port", 1, 65535, &port, err)) < 0 ||
        (r = read_quantity(resources, "resources.", "cpu", true, 1, CPU_MILLI_MAX, &ret->cpu_milli,
                           err)) < 0 ||
        (r = read_quantity(resources, "resources.", "memory", false, MEMORY_MIN, MEMORY_MAX,
                           &ret->memory, err)) < 0 ||
        (r = read_u64(resources, "resources.", "pids", 1, 4194304, &ret->pids_max, err)) < 0 ||
        (r = read_u64(readiness, "readiness.", "timeoutMilliseconds", 1, 3600000,
                      &ret->readiness_ms, err)) < 0 ||
        (r = read_strings(a, json_getc(spec, "args"), "args", FN_ARGS_MAX, &ret->args, &ret->n_args,
                          err)) < 0 ||
        (r = read_strings(a, json_getc(spec, "command"), "command", FN_ARGS_MAX, &ret->command,
                          &ret->n_command, err)) < 0 ||
        (r = read_pull_secrets(a, json_getc(spec, "imagePullSecrets"), ret, err)) < 0 ||
        (r = read_env(a, json_getc(spec, "env"), ret, err)) < 0 ||
        (r = read_secrets(a, json_getc(spec, "secrets"), ret, err)) < 0 ||
        (r = read_node_selector(a, json_getc(spec, "nodeSelector"), ret, err)) < 0)
        return r;
    ret->has_cpu_limit = json_getc(resources, "cpu") != NULL;
    ret->abi = (enum fn_abi)abi;
    ret->protocol = (enum fn_protocol)protocol;
    ret->port = (uint16_t)port;
    if (ret->readiness_path.n && ret->readiness_path.p[0] != '/')
        return err_set(err, E_INVALID, "spec.readiness.path does not begin with '/'");
    return 0;
}

uint64_t fn_reserved_memory(const struct fn_template *t)
{
    return t->runtime == FN_WASM ? MIN(t->memory, (uint64_t)FN_LIGHT_MEMORY) : t->memory;
}

/* ---------------------------------------------------------------- the rest */

static int read_scale(const struct json *spec, struct fn_scale *s, struct err *err)
{
    static const struct word policies[] = { { "kpa", FN_SCALE_KPA },
                                            { "dirigent", FN_SCALE_DIRIGENT },
                                            { "mu", FN_SCALE_MU },
                                            { "escargot", FN_SCALE_ESCARGOT },
                                            { "hybrid", FN_SCALE_HYBRID } };
    static const struct word metrics[] = { { "concurrency", FN_METRIC_CONCURRENCY },
                                           { "rps", FN_METRIC_RPS } };
    const struct json *at = json_getc(spec, "scale"), *c = json_getc(spec, "concurrency"),
                      *burst = json_getc(at, "burstCapacity");
    int policy = FN_SCALE_KPA, metric = FN_METRIC_CONCURRENCY, r;
    *s = (struct fn_scale){ .utilization = 70,
                            .max = UINT32_MAX,
                            .activation = 1,
                            .stable_ms = 60000,
                            .panic_window_percent = 10,
                            .panic_threshold_percent = 200,
                            .up_rate_percent = 100000,
                            .down_rate_percent = 200 };
    const struct {
        const char *key;
        uint64_t min, max;
        uint32_t *to;
    } numbers[] = {
        { "min", 0, 100000, &s->min },
        { "max", 1, 100000, &s->max },
        { "initial", 0, 100000, &s->initial },
        { "activation", 1, 100000, &s->activation },
        { "panicWindowPercent", 1, 100, &s->panic_window_percent },
        { "panicThresholdPercent", 110, 1000, &s->panic_threshold_percent },
        { "maxUpPercent", 101, 100000000, &s->up_rate_percent },
        { "maxDownPercent", 101, 100000000, &s->down_rate_percent },
    };
    r = read_word(at, "scale.", "policy", policies, ARRAY_LEN(policies), &policy, err);
    if (r < 0)
        return r;
    if (policy == FN_SCALE_DIRIGENT)
        s->utilization = 100;
    if ((r = read_word(c, "concurrency.", "metric", metrics, ARRAY_LEN(metrics), &metric, err)) <
            0 ||
        (r = read_u32(c, "concurrency.", "target", 1, 1000000, &s->target, err)) < 0 ||
        (r = read_u32(c, "concurrency.", "utilizationPercent", 1, 100, &s->utilization, err)) < 0 ||
        (r = read_u64(at, "scale.", "stableMilliseconds", 6000, 3600000, &s->stable_ms, err)) < 0 ||
        (r = read_u64(at, "scale.", "downDelayMilliseconds", 0, 3600000, &s->down_delay_ms, err)) <
            0 ||
        (r = read_u64(at, "scale.", "idleMilliseconds", 0, WEEK_MS, &s->idle_ms, err)) < 0)
        return r;
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        if ((r = read_u32(at, "scale.", numbers[i].key, numbers[i].min, numbers[i].max,
                          numbers[i].to, err)) < 0)
            return r;
    if (burst && (json_int(burst, &s->burst) < 0 || s->burst < -1 || s->burst > 1000000))
        return err_set(err, E_INVALID, "spec.scale.burstCapacity must be between -1 and 1000000");
    if (s->min > s->max || s->initial > s->max)
        return err_set(err, E_INVALID, "spec.scale.max is less than min or initial");
    if (s->activation > s->max)
        s->activation = s->max;
    s->policy = (enum fn_scale_policy)policy;
    s->metric = (enum fn_metric)metric;
    return 0;
}

static int read_traffic(struct arena *a, const struct json *list, struct fn_spec *s,
                        struct err *err)
{
    uint64_t sum = 0;
    bool has_percent = false;
    if (list && list->n > FN_TRAFFIC_MAX)
        return err_set(err, E_INVALID, "spec.traffic has more than %d entries", FN_TRAFFIC_MAX);
    s->traffic = arena_new_n(a, struct fn_traffic, list ? list->n : 0);
    json_each (item, list) {
        struct fn_traffic *t = &s->traffic[s->n_traffic++];
        const struct json *header = json_getc(item, "header");
        *t = (struct fn_traffic){ .tag = json_get_str(item, "tag"),
                                  .header = json_get_str(header, "name"),
                                  .value = json_get_str(header, "value") };
        int r = read_u32(item, "traffic.", "revision", 1, 1000000, &t->revision, err);
        if (r >= 0)
            r = read_u32(item, "traffic.", "percent", 0, 100, &t->percent, err);
        if (r < 0)
            return r;
        if (header && !t->header.n)
            return err_set(err, E_INVALID, "spec.traffic[%zu].header has no name",
                           s->n_traffic - 1);
        if (header && t->percent)
            return err_set(err, E_INVALID,
                           "spec.traffic[%zu] has a header and a percentage: two entries are "
                           "needed for that",
                           s->n_traffic - 1);
        has_percent |= json_getc(item, "percent") != NULL;
        sum += t->percent;
    }
    if (has_percent && sum != 100)
        return err_set(err, E_INVALID,
                       "the percentages of spec.traffic add up to %" PRIu64 " instead of 100", sum);
    return 0;
}

static int read_async(struct arena *a, const struct json *at, struct fn_async *s, struct err *err)
{
    const struct json *list = json_getc(at, "retryOn"), *dead = json_getc(at, "deadLetter");
    int r;
    *s = (struct fn_async){ .attempts = 3,
                            .backoff_ms = 1000,
                            .backoff_max_ms = 300000,
                            .age_max_ms = 6 * 3600000,
                            .result_ttl_ms = 3600000,
                            .dead_letter_function = json_get_str(dead, "function"),
                            .dead_letter_url = json_get_str(dead, "url") };
    if ((r = read_u32(at, "async.", "attempts", 1, 100, &s->attempts, err)) < 0 ||
        (r = read_u64(at, "async.", "backoffMilliseconds", 1, WEEK_MS, &s->backoff_ms, err)) < 0 ||
        (r = read_u64(at, "async.", "maxBackoffMilliseconds", 1, WEEK_MS, &s->backoff_max_ms,
                      err)) < 0 ||
        (r = read_u64(at, "async.", "maxAgeMilliseconds", 1, WEEK_MS, &s->age_max_ms, err)) < 0 ||
        (r = read_u64(at, "async.", "resultMilliseconds", 0, WEEK_MS, &s->result_ttl_ms, err)) < 0)
        return r;
    if (list && list->n > 64)
        return err_set(err, E_INVALID, "spec.async.retryOn has more than 64 entries");
    uint16_t *statuses = arena_new_n(a, uint16_t, list ? list->n : 0);
    json_each (item, list) {
        int64_t n = json_int_or(item, 0);
        if (n < 100 || n > 599)
            return err_set(err, E_INVALID, "spec.async.retryOn has a value that is no status");
        statuses[s->n_retry_on++] = (uint16_t)n;
    }
    s->retry_on = statuses;
    return 0;
}

/* Letters, digits, '.', '-', '_', and as many slashes as said. */
static bool is_plain_word(struct str s, size_t max, unsigned n_slashes)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
        if (!is_plain && (c != '/' || n_slashes-- == 0))
            return false;
    }
    return s.n > 0 && s.n <= max;
}

static int check_watch(const struct fn_trigger *t, struct err *err)
{
    if (!t->api_version.n || !t->kind_name.n || !(t->on_added || t->on_modified || t->on_deleted))
        return err_set(err, E_INVALID,
                       "spec.triggers: '" STR_FMT
                       "' needs apiVersion, kind, and something to watch for",
                       STR_ARG(t->name));
    if (!is_plain_word(t->api_version, 253, 1) || str_find(t->api_version, STR("..")) >= 0 ||
        !is_plain_word(t->kind_name, 253, 0) ||
        (t->namespace.n && !str_is(t->namespace, "*") &&
         (!is_plain_word(t->namespace, FN_NAME_MAX, 0) || str_find_char(t->namespace, '.') >= 0)))
        return err_set(err, E_INVALID,
                       "spec.triggers: apiVersion, kind or namespace of '" STR_FMT "' is no name",
                       STR_ARG(t->name));
    return 0;
}

static int check_schedule(const struct fn_trigger *t, struct err *err)
{
    struct cron cron;
    struct err why = { 0 };
    if (!t->cron.n)
        return err_set(err, E_INVALID, "spec.triggers: '" STR_FMT "' has no schedule",
                       STR_ARG(t->name));
    if (cron_parse(t->cron, &cron, &why) < 0)
        return err_set(err, E_INVALID, "spec.triggers: schedule of '" STR_FMT "': %s",
                       STR_ARG(t->name), err_text(&why));
    return 0;
}

static int read_trigger(const struct json *item, struct fn_trigger *t, struct err *err)
{
    const struct json *cron = json_getc(item, "cron"), *event = json_getc(item, "event"),
                      *watch = json_getc(item, "watch"), *on = json_getc(watch, "on");
    *t = (struct fn_trigger){ .name = json_get_str(item, "name"),
                              .path = json_get_str(item, "path") };
    if (!t->name.n || (cron != NULL) + (event != NULL) + (watch != NULL) != 1)
        return err_set(err, E_INVALID,
                       "an entry of spec.triggers needs a name, and one of cron, event and watch");
    /* It is part of the keys of what it makes, which are of bounded length. */
    if (!is_plain_word(t->name, FN_NAME_MAX, 0))
        return err_set(err, E_INVALID,
                       "spec.triggers: '" STR_FMT
                       "' is no name: letters, digits, '.', '-', '_', at most %d",
                       STR_ARG(str_slice(t->name, 0, 80)), FN_NAME_MAX);
    if (!t->path.n)
        t->path = STR("/");
    if (t->path.p[0] != '/')
        return err_set(err, E_INVALID,
                       "spec.triggers: path of '" STR_FMT "' does not begin with '/'",
                       STR_ARG(t->name));
    if (cron) {
        t->kind = FN_TRIGGER_CRON;
        t->cron = json_get_str(cron, "schedule");
        t->time_zone = json_get_str(cron, "timeZone");
        t->body = json_get_str(cron, "body");
        return check_schedule(t, err);
    }
    if (event) {
        t->kind = FN_TRIGGER_EVENT;
        t->type = json_get_str(event, "type");
        t->source = json_get_str(event, "source");
        return 0;
    }
    t->kind = FN_TRIGGER_WATCH;
    t->api_version = json_get_str(watch, "apiVersion");
    t->kind_name = json_get_str(watch, "kind");
    t->namespace = json_get_str(watch, "namespace");
    t->label_selector = json_get_str(watch, "labelSelector");
    t->on_added = t->on_modified = t->on_deleted = json_first(on) == NULL;
    json_each (word, on) {
        t->on_added |= str_is(json_str(word), "Added");
        t->on_modified |= str_is(json_str(word), "Modified");
        t->on_deleted |= str_is(json_str(word), "Deleted");
    }
    return check_watch(t, err);
}

static int read_triggers(struct arena *a, const struct json *list, struct fn_spec *s,
                         struct err *err)
{
    if (list && list->n > FN_TRIGGERS_MAX)
        return err_set(err, E_INVALID, "spec.triggers has more than %d entries", FN_TRIGGERS_MAX);
    s->triggers = arena_new_n(a, struct fn_trigger, list ? list->n : 0);
    json_each (item, list) {
        int r = read_trigger(item, &s->triggers[s->n_triggers], err);
        if (r < 0)
            return r;
        for (size_t i = 0; i < s->n_triggers; i++)
            if (str_eq(s->triggers[i].name, s->triggers[s->n_triggers].name))
                return err_set(err, E_INVALID, "spec.triggers has two of the name '" STR_FMT "'",
                               STR_ARG(s->triggers[i].name));
        s->n_triggers++;
    }
    return 0;
}

int fn_spec_read(struct arena *a, const struct json *spec, struct fn_spec *ret, struct err *err)
{
    static const struct word balances[] = { { "first-free", FN_FIRST_FREE },
                                            { "p2c", FN_P2C },
                                            { "round-robin", FN_ROUND_ROBIN },
                                            { "least-in-flight", FN_LEAST_IN_FLIGHT },
                                            { "random", FN_RANDOM } };
    const struct json *timeouts = json_getc(spec, "timeouts"), *limits = json_getc(spec, "limits"),
                      *paths = json_getc(spec, "paths");
    int balance = FN_FIRST_FREE, r;
    *ret = (struct fn_spec){ .request_ms = FN_REQUEST_MS_DEFAULT,
                             .queue_ms = FN_QUEUE_MS_DEFAULT,
                             .queue_max = FN_QUEUE_MAX_DEFAULT,
                             .grace_ms = FN_GRACE_MS_DEFAULT,
                             .body_max = FN_BODY_MAX_DEFAULT,
                             .is_public = json_bool(json_getc(spec, "public")) };
    if ((r = fn_template_read(a, spec, &ret->t, err)) < 0)
        return r;
    ret->concurrency = ret->t.runtime == FN_OCI ? 0 : 1;
    if ((r = read_u32(json_getc(spec, "concurrency"), "concurrency.", "limit", 0, 100000,
                      &ret->concurrency, err)) < 0 ||
        (r = read_scale(spec, &ret->scale, err)) < 0 ||
        (r = read_u64(timeouts, "timeouts.", "requestMilliseconds", 1, FN_REQUEST_MS_MAX,
                      &ret->request_ms, err)) < 0 ||
        (r = read_u64(timeouts, "timeouts.", "queueMilliseconds", 1, FN_REQUEST_MS_MAX,
                      &ret->queue_ms, err)) < 0 ||
        (r = read_u64(timeouts, "timeouts.", "idleMilliseconds", 0, FN_REQUEST_MS_MAX,
                      &ret->idle_ms, err)) < 0 ||
        (r = read_u64(timeouts, "timeouts.", "graceMilliseconds", 0, 600000, &ret->grace_ms, err)) <
            0 ||
        (r = read_u32(json_getc(spec, "queue"), "queue.", "max", 0, FN_QUEUE_MAX, &ret->queue_max,
                      err)) < 0 ||
        (r = read_quantity(limits, "limits.", "bodyBytes", false, 0, BYTES_MAX, &ret->body_max,
                           err)) < 0 ||
        (r = read_quantity(limits, "limits.", "responseBytes", false, 0, BYTES_MAX,
                           &ret->response_max, err)) < 0 ||
        (r = read_word(spec, "", "balance", balances, ARRAY_LEN(balances), &balance, err)) < 0 ||
        (r = read_strings(a, json_getc(spec, "hosts"), "hosts", FN_HOSTS_MAX, &ret->hosts,
                          &ret->n_hosts, err)) < 0 ||
        (r = read_strings(a, paths, "paths", FN_HOSTS_MAX, &ret->paths, &ret->n_paths, err)) < 0 ||
        (r = read_traffic(a, json_getc(spec, "traffic"), ret, err)) < 0 ||
        (r = read_async(a, json_getc(spec, "async"), &ret->async, err)) < 0 ||
        (r = read_triggers(a, json_getc(spec, "triggers"), ret, err)) < 0)
        return r;
    for (size_t i = 0; i < ret->n_paths; i++)
        if (!is_plain_path(ret->paths[i]) || ret->paths[i].n < 2)
            return err_set(err, E_INVALID, "spec.paths[%zu] is no path below /", i);
    for (size_t i = 0; i < ret->n_hosts; i++)
        if (!is_plain_word(ret->hosts[i], FN_HOST_MAX, 0))
            return err_set(err, E_INVALID, "spec.hosts[%zu] is no name of a host", i);
    ret->balance = (enum fn_balance)balance;
    return 0;
}
