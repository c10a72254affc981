/* SPDX-License-Identifier: Apache-2.0 */
/* Specs of functions; see function.h. */
#include "fn/function.h"

#include "base/buf.h"
#include "base/cron.h"
#include "codec/bind.h"
#include "codec/digest.h"
#include "kube/model/meta.h"
#include "kube/model/quantity.h"

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

/* ---------------------------------------------------------------- keywords */

/*
 * The schema has the bounds of these tables; they are checked again, since a cluster may have an
 * older one. Messages are "PATH TEXT".
 */
static int report(struct bind *b, const struct bind_problem *p)
{
    struct bind_problem q = *p;
    q.code = E_INVALID;
    if (p->fault == BIND_NO_SUCH_NAME)
        q.text = arena_printf(b->arena, "'" STR_FMT "' is none of the values it may have",
                              STR_ARG(json_str(p->value)));
    return bind_report(b, &q);
}

static int read_spec(struct arena *a, const struct bind_table *t, const struct json *spec, void *to,
                     struct err *err)
{
    const struct fpath root = fpath_child(NULL, STR("spec"));
    struct bind b = { .arena = a, .err = err, .at = &root, .between = " ", .report = report };
    return bind_read(&b, t, spec, to);
}

/*
 * Name of a Secret or ConfigMap. It becomes part of a path that is requested with the control
 * plane's rights: "../" or "?" would lead out of the namespace.
 */
static bool is_object_name(struct str s)
{
    return s.n && meta_check_dns1123_subdomain(s).n == 0;
}

/* ---------------------------------------------------------------- template */

#define TEMPLATE struct fn_template

static int check_config_map(struct bind *b, const struct json *v, void *at)
{
    return is_object_name(*(struct str *)at) ? 0 : BIND_FAIL(b, "is no name of a ConfigMap");
}

static int check_sha256(struct bind *b, const struct json *v, void *at)
{
    const struct str *s = at;
    uint8_t digest[SHA256_BYTES];
    return s->n == 0 || hex_parse(*s, digest, sizeof digest)
               ? 0
               : BIND_FAIL(b, "is not 64 hexadecimal digits");
}

static int check_module(struct bind *b, const struct json *v, void *at)
{
    struct fn_template *t = at;
    bool has_map = json_getc(v, "configMap"), has_url = json_getc(v, "url");
    if ((json_getc(v, "file") != NULL) + has_map + has_url != 1)
        return BIND_FAIL(b, "needs one of file, configMap and url");
    if (!t->file.n && !t->config_map.n && !t->url.n)
        return BIND_FAIL(b, "names nothing");
    if (has_map && !t->key.n)
        t->key = STR("module.wasm");
    if (has_url && !t->sha256.n)
        return bind_fail_in(b, "url", E_INVALID, "needs spec.module.sha256");
    return 0;
}

static const struct bind_field config_map_fields[] = {
    BIND_STR("name", TEMPLATE, config_map, .check = check_config_map),
    BIND_STR("key", TEMPLATE, key),
};
static const struct bind_table config_map_table = BIND_TABLE(config_map_fields);
static const struct bind_field module_fields[] = {
    BIND_STR("file", TEMPLATE, file),
    BIND_INLINE("configMap", &config_map_table),
    BIND_STR("url", TEMPLATE, url),
    BIND_STR("sha256", TEMPLATE, sha256, .check = check_sha256),
};
static const struct bind_table module_table = BIND_TABLE(module_fields, .check = check_module);

static int check_image(struct bind *b, const struct json *v, void *at)
{
    const struct fn_template *t = at;
    return !t->image.n == !t->bundle.n ? BIND_FAIL(b, "needs one of reference and bundle") : 0;
}

static const char *const pull_policies[] = { [CONTAINER_PULL_IF_NOT_PRESENT] = "IfNotPresent",
                                             [CONTAINER_PULL_ALWAYS] = "Always",
                                             [CONTAINER_PULL_NEVER] = "Never" };
static const struct bind_field image_fields[] = {
    BIND_STR("reference", TEMPLATE, image),
    BIND_STR("bundle", TEMPLATE, bundle),
    BIND_ENUM("pullPolicy", TEMPLATE, pull, pull_policies),
};
static const struct bind_table image_table = BIND_TABLE(image_fields, .check = check_image);
static const struct bind_field fake_fields[] = {
    BIND_UINT("createMilliseconds", TEMPLATE, fake_create_ms, .max = 600000),
    BIND_UINT("workMilliseconds", TEMPLATE, fake_work_ms, .max = 600000),
};
static const struct bind_table fake_table = BIND_TABLE(fake_fields);

static int check_variable(struct bind *b, const struct json *v, void *at)
{
    struct str s = *(struct str *)at;
    return s.n && str_find_char(s, '=') < 0 ? 0 : BIND_FAIL(b, "is no name of a variable");
}

static int check_env(struct bind *b, const struct json *v, void *at)
{
    struct fn_env *e = at;
    const struct json *from = json_getc(v, "valueFrom");
    bool has_map = json_getc(from, "configMapKeyRef");
    e->is_secret = json_getc(from, "secretKeyRef");
    if ((json_getc(v, "value") && from) || (e->is_secret && has_map) ||
        (from && (!e->object.n || !e->key.n)))
        return BIND_FAIL(b, "needs one of value, valueFrom.secretKeyRef and "
                            "valueFrom.configMapKeyRef, these with name and key");
    if (from && !is_object_name(e->object))
        return bind_fail_in(b, "valueFrom", E_INVALID,
                            "has a name that is none of a Secret or ConfigMap");
    return 0;
}

static const struct bind_field reference_fields[] = {
    BIND_STR("name", struct fn_env, object),
    BIND_STR("key", struct fn_env, key),
    BIND_BOOL("optional", struct fn_env, is_optional),
};
static const struct bind_table reference_table = BIND_TABLE(reference_fields);
static const struct bind_field value_from_fields[] = {
    BIND_INLINE("secretKeyRef", &reference_table),
    BIND_INLINE("configMapKeyRef", &reference_table),
};
static const struct bind_table value_from_table = BIND_TABLE(value_from_fields);
static const struct bind_field env_fields[] = {
    BIND_STR("name", struct fn_env, name, .check = check_variable, .flags = BIND_REQUIRED),
    BIND_STR("value", struct fn_env, value),
    BIND_INLINE("valueFrom", &value_from_table),
};
static const struct bind_table env_table = BIND_TABLE(env_fields, .check = check_env);

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

static int check_secret(struct bind *b, const struct json *v, void *at)
{
    const struct fn_secret_file *s = at;
    if (!s->secret.n || !is_plain_path(s->path) || s->path.n == 1)
        return BIND_FAIL(b, "needs secretName, and a mountPath below /");
    return is_object_name(s->secret)
               ? 0
               : bind_fail_in(b, "secretName", E_INVALID, "is no name of a Secret");
}

static int check_pull_secret(struct bind *b, const struct json *v, void *at)
{
    return is_object_name(*(struct str *)at) ? 0 : BIND_FAIL(b, "is no name of a Secret");
}

static int check_readiness_path(struct bind *b, const struct json *v, void *at)
{
    const struct str *s = at;
    return s->n && s->p[0] != '/' ? BIND_FAIL(b, "does not begin with '/'") : 0;
}

static const struct bind_field secret_fields[] = {
    BIND_STR("secretName", struct fn_secret_file, secret),
    BIND_STR("mountPath", struct fn_secret_file, path),
};
static const struct bind_table secret_table = BIND_TABLE(secret_fields, .check = check_secret);
/* An element of pull_secrets, which is a plain name. */
static const struct bind_field pull_secret_fields[] = {
    { .name = { "name", 4 },
      .kind = BIND_KIND_STR,
      .flags = BIND_REQUIRED,
      .check = check_pull_secret },
};
static const struct bind_table pull_secret_table = BIND_TABLE(pull_secret_fields);
static const struct bind_field resource_fields[] = {
    BIND_CUSTOM("cpu", TEMPLATE, cpu_milli, quantity_bind_milli, .min = 1, .max = CPU_MILLI_MAX,
                .has_at = BIND_HAS(TEMPLATE, has_cpu_limit)),
    BIND_CUSTOM("memory", TEMPLATE, memory, quantity_bind, .min = MEMORY_MIN, .max = MEMORY_MAX),
    BIND_UINT("pids", TEMPLATE, pids_max, .min = 1, .max = 4194304),
};
static const struct bind_table resource_table = BIND_TABLE(resource_fields);
static const struct bind_field readiness_fields[] = {
    BIND_STR("path", TEMPLATE, readiness_path, .check = check_readiness_path),
    BIND_UINT("timeoutMilliseconds", TEMPLATE, readiness_ms, .min = 1, .max = 3600000),
};
static const struct bind_table readiness_table = BIND_TABLE(readiness_fields);

static const char *const abis[] = { [FN_ABI_COMMAND] = "command", [FN_ABI_REACTOR] = "reactor" };
static const char *const protocols[] = {
    [FN_HTTP1] = "http1", [FN_H2C] = "h2c", [FN_GRPC] = "grpc"
};
static const struct bind_field template_fields[] = {
    BIND_INLINE("module", &module_table),
    BIND_INLINE("image", &image_table),
    BIND_INLINE("fake", &fake_table),
    BIND_ENUM("abi", TEMPLATE, abi, abis),
    BIND_BOOL("reuse", TEMPLATE, reuse),
    BIND_ENUM("protocol", TEMPLATE, protocol, protocols),
    BIND_UINT("port", TEMPLATE, port, .min = 1),
    BIND_INLINE("resources", &resource_table),
    BIND_INLINE("readiness", &readiness_table),
    BIND_STRS("args", TEMPLATE, args, n_args, FN_ARGS_MAX),
    BIND_STRS("command", TEMPLATE, command, n_command, FN_ARGS_MAX),
    BIND_OBJECTS("imagePullSecrets", TEMPLATE, pull_secrets, n_pull_secrets, &pull_secret_table,
                 FN_PULL_SECRETS_MAX),
    BIND_OBJECTS("env", TEMPLATE, env, n_env, &env_table, FN_ENV_MAX),
    BIND_OBJECTS("secrets", TEMPLATE, secrets, n_secrets, &secret_table, FN_SECRETS_MAX),
    BIND_STR_MAP("nodeSelector", TEMPLATE, node_selector, n_node_selector, struct fn_name_value,
                 name, value, FN_NODE_SELECTOR_MAX),
};
static const struct bind_table template_table = BIND_TABLE(template_fields);

int fn_template_read(struct arena *a, const struct json *spec, struct fn_template *ret,
                     struct err *err)
{
    bool module = json_getc(spec, "module"), image = json_getc(spec, "image"),
         fake = json_getc(spec, "fake");
    *ret = (struct fn_template){ .runtime = module  ? FN_WASM
                                            : image ? FN_OCI
                                                    : FN_FAKE,
                                 .cpu_milli = image ? FN_CPU_DEFAULT : FN_LIGHT_CPU,
                                 .memory = fake ? FN_LIGHT_MEMORY : FN_MEMORY_DEFAULT,
                                 .pids_max = 1024,
                                 .port = 8080,
                                 .readiness_ms = 30000 };
    if (module + image + fake != 1)
        return err_set(err, E_INVALID, "spec needs one of module, image and fake");
    return read_spec(a, &template_table, spec, ret, err);
}

uint64_t fn_reserved_memory(const struct fn_template *t)
{
    return t->runtime == FN_WASM ? MIN(t->memory, (uint64_t)FN_LIGHT_MEMORY) : t->memory;
}

/* ---------------------------------------------------------------- the rest */

#define SCALE struct fn_scale
#define SPEC  struct fn_spec

static int check_scale(struct bind *b, const struct json *v, void *at)
{
    const struct fn_scale *s = at;
    return s->min > s->max || s->initial > s->max
               ? bind_fail_in(b, "max", E_INVALID, "is less than min or initial")
               : 0;
}

static const char *const policies[] = { [FN_SCALE_KPA] = "kpa",
                                        [FN_SCALE_DIRIGENT] = "dirigent",
                                        [FN_SCALE_MU] = "mu",
                                        [FN_SCALE_ESCARGOT] = "escargot",
                                        [FN_SCALE_HYBRID] = "hybrid" };
static const struct bind_field scale_fields[] = {
    BIND_ENUM("policy", SCALE, policy, policies),
    BIND_UINT("stableMilliseconds", SCALE, stable_ms, .min = 6000, .max = 3600000),
    BIND_UINT("downDelayMilliseconds", SCALE, down_delay_ms, .max = 3600000),
    BIND_UINT("idleMilliseconds", SCALE, idle_ms, .max = WEEK_MS),
    BIND_UINT("min", SCALE, min, .max = 100000),
    BIND_UINT("max", SCALE, max, .min = 1, .max = 100000),
    BIND_UINT("initial", SCALE, initial, .max = 100000),
    BIND_UINT("activation", SCALE, activation, .min = 1, .max = 100000),
    BIND_UINT("panicWindowPercent", SCALE, panic_window_percent, .min = 1, .max = 100),
    BIND_UINT("panicThresholdPercent", SCALE, panic_threshold_percent, .min = 110, .max = 1000),
    BIND_UINT("maxUpPercent", SCALE, up_rate_percent, .min = 101, .max = 100000000),
    BIND_UINT("maxDownPercent", SCALE, down_rate_percent, .min = 101, .max = 100000000),
    BIND_INT("burstCapacity", SCALE, burst, .min = -1, .max = 1000000),
};
static const struct bind_table scale_table = BIND_TABLE(scale_fields, .check = check_scale);

static const char *const metrics[] = {
    [FN_METRIC_CONCURRENCY] = "concurrency", [FN_METRIC_RPS] = "rps"
};
static const struct bind_field concurrency_fields[] = {
    BIND_UINT("limit", SPEC, concurrency, .max = 100000),
    BIND_ENUM("metric", SPEC, scale.metric, metrics),
    BIND_UINT("target", SPEC, scale.target, .min = 1, .max = 1000000),
    BIND_UINT("utilizationPercent", SPEC, scale.utilization, .min = 1, .max = 100),
};
static const struct bind_table concurrency_table = BIND_TABLE(concurrency_fields);

static int check_entry(struct bind *b, const struct json *v, void *at)
{
    const struct fn_traffic *t = at;
    const struct json *header = json_getc(v, "header");
    if (header && !t->header.n)
        return bind_fail_in(b, "header", E_INVALID, "has no name");
    if (header && t->percent)
        return BIND_FAIL(b, "has a header and a percentage: two entries are needed for that");
    return 0;
}

static int check_traffic(struct bind *b, const struct json *v, void *at)
{
    const struct fn_spec *s = container_of(at, struct fn_spec, traffic);
    uint64_t sum = 0;
    bool has_percent = false;
    json_each (item, v)
        has_percent |= json_getc(item, "percent") != NULL;
    for (size_t i = 0; i < s->n_traffic; i++)
        sum += s->traffic[i].percent;
    return has_percent && sum != 100
               ? BIND_FAIL(b, "has percentages that add up to %" PRIu64 " instead of 100", sum)
               : 0;
}

static const struct bind_field header_fields[] = {
    BIND_STR("name", struct fn_traffic, header),
    BIND_STR("value", struct fn_traffic, value),
};
static const struct bind_table header_table = BIND_TABLE(header_fields);
static const struct bind_field traffic_fields[] = {
    BIND_UINT("revision", struct fn_traffic, revision, .min = 1, .max = 1000000),
    BIND_UINT("percent", struct fn_traffic, percent, .max = 100),
    BIND_STR("tag", struct fn_traffic, tag),
    BIND_INLINE("header", &header_table),
};
static const struct bind_table traffic_table = BIND_TABLE(traffic_fields, .check = check_entry);

#define ASYNC struct fn_async
static const struct bind_field http_status = {
    .kind = BIND_KIND_UINT, .size = sizeof(uint16_t), .min = 100, .max = 599
};
static const struct bind_field dead_letter_fields[] = {
    BIND_STR("function", ASYNC, dead_letter_function),
    BIND_STR("url", ASYNC, dead_letter_url),
};
static const struct bind_table dead_letter_table = BIND_TABLE(dead_letter_fields);
static const struct bind_field async_fields[] = {
    BIND_UINT("attempts", ASYNC, attempts, .min = 1, .max = 100),
    BIND_UINT("backoffMilliseconds", ASYNC, backoff_ms, .min = 1, .max = WEEK_MS),
    BIND_UINT("maxBackoffMilliseconds", ASYNC, backoff_max_ms, .min = 1, .max = WEEK_MS),
    BIND_UINT("maxAgeMilliseconds", ASYNC, age_max_ms, .min = 1, .max = WEEK_MS),
    BIND_UINT("resultMilliseconds", ASYNC, result_ttl_ms, .max = WEEK_MS),
    BIND_ARRAY("retryOn", ASYNC, retry_on, n_retry_on, &http_status, FN_RETRY_ON_MAX),
    BIND_INLINE("deadLetter", &dead_letter_table),
};
static const struct bind_table async_table = BIND_TABLE(async_fields);

/* Letters, digits, '.', '-', '_', and up to the given number of slashes. */
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

static int check_watch(struct bind *b, const struct fn_trigger *t)
{
    if (!t->api_version.n || !t->kind_name.n || !(t->on_added || t->on_modified || t->on_deleted))
        return BIND_FAIL(b, "needs apiVersion, kind, and something to watch for");
    if (!is_plain_word(t->api_version, 253, 1) || str_find(t->api_version, STR("..")) >= 0 ||
        !is_plain_word(t->kind_name, 253, 0) ||
        (t->namespace.n && !str_is(t->namespace, "*") &&
         (!is_plain_word(t->namespace, FN_NAME_MAX, 0) || str_find_char(t->namespace, '.') >= 0)))
        return BIND_FAIL(b, "has an apiVersion, kind or namespace that is no name");
    return 0;
}

static int check_schedule(struct bind *b, const struct fn_trigger *t)
{
    struct cron cron;
    struct err why = { 0 };
    if (!t->cron.n)
        return BIND_FAIL(b, "has no schedule");
    if (cron_parse(t->cron, &cron, &why) < 0)
        return BIND_FAIL(b, "schedule of '" STR_FMT "': %s", STR_ARG(t->name), err_text(&why));
    return 0;
}

static int check_trigger(struct bind *b, const struct json *v, void *at)
{
    struct fn_trigger *t = at;
    bool cron = json_getc(v, "cron"), event = json_getc(v, "event"), watch = json_getc(v, "watch");
    if (!t->name.n || cron + event + watch != 1)
        return BIND_FAIL(b, "needs a name, and one of cron, event and watch");
    /* It is part of keys in the store, which are of bounded length. */
    if (!is_plain_word(t->name, FN_NAME_MAX, 0))
        return bind_fail_in(b, "name", E_INVALID,
                            "'" STR_FMT "' is no name: letters, digits, '.', '-', '_', at most %d",
                            STR_ARG(str_slice(t->name, 0, 80)), FN_NAME_MAX);
    if (!t->path.n)
        t->path = STR("/");
    if (t->path.p[0] != '/')
        return bind_fail_in(b, "path", E_INVALID, "does not begin with '/'");
    t->kind = cron ? FN_TRIGGER_CRON : event ? FN_TRIGGER_EVENT : FN_TRIGGER_WATCH;
    return cron ? check_schedule(b, t) : watch ? check_watch(b, t) : 0;
}

/* Values of later versions are ignored. */
static int read_on(struct bind *b, const struct bind_field *f, const struct json *v, void *to)
{
    struct fn_trigger *t = to;
    json_each (word, v) {
        t->on_added |= str_is(json_str(word), "Added");
        t->on_modified |= str_is(json_str(word), "Modified");
        t->on_deleted |= str_is(json_str(word), "Deleted");
    }
    return 0;
}

static int check_watched(struct bind *b, const struct json *v, void *at)
{
    struct fn_trigger *t = at;
    if (!json_first(json_getc(v, "on")))
        t->on_added = t->on_modified = t->on_deleted = true;
    return 0;
}

#define TRIGGER struct fn_trigger
static const struct bind_field cron_fields[] = {
    BIND_STR("schedule", TRIGGER, cron),
    BIND_STR("timeZone", TRIGGER, time_zone),
    BIND_STR("body", TRIGGER, body),
};
static const struct bind_table cron_table = BIND_TABLE(cron_fields);
static const struct bind_field event_fields[] = {
    BIND_STR("type", TRIGGER, type),
    BIND_STR("source", TRIGGER, source),
};
static const struct bind_table event_table = BIND_TABLE(event_fields);
static const struct bind_field watch_fields[] = {
    BIND_STR("apiVersion", TRIGGER, api_version),
    BIND_STR("kind", TRIGGER, kind_name),
    BIND_STR("namespace", TRIGGER, namespace),
    BIND_STR("labelSelector", TRIGGER, label_selector),
    BIND_WHOLE("on", read_on),
};
static const struct bind_table watch_table = BIND_TABLE(watch_fields, .check = check_watched);
static const struct bind_field trigger_fields[] = {
    BIND_STR("name", TRIGGER, name),    BIND_STR("path", TRIGGER, path),
    BIND_INLINE("cron", &cron_table),   BIND_INLINE("event", &event_table),
    BIND_INLINE("watch", &watch_table),
};
static const struct bind_table trigger_table = BIND_TABLE(trigger_fields, .check = check_trigger);

static int check_triggers(struct bind *b, const struct json *v, void *at)
{
    const struct fn_spec *s = container_of(at, struct fn_spec, triggers);
    for (size_t i = 0; i < s->n_triggers; i++)
        for (size_t j = 0; j < i; j++)
            if (str_eq(s->triggers[i].name, s->triggers[j].name))
                return BIND_FAIL(b, "has two of the name '" STR_FMT "'",
                                 STR_ARG(s->triggers[i].name));
    return 0;
}

static int check_path(struct bind *b, const struct json *v, void *at)
{
    struct str s = *(struct str *)at;
    return is_plain_path(s) && s.n > 1 ? 0 : BIND_FAIL(b, "is no path below /");
}

static int check_host(struct bind *b, const struct json *v, void *at)
{
    return is_plain_word(*(struct str *)at, FN_HOST_MAX, 0) ? 0
                                                            : BIND_FAIL(b, "is no name of a host");
}

static const struct bind_field path_item = { .kind = BIND_KIND_STR, .check = check_path };
static const struct bind_field host_item = { .kind = BIND_KIND_STR, .check = check_host };
static const struct bind_field timeout_fields[] = {
    BIND_UINT("requestMilliseconds", SPEC, request_ms, .min = 1, .max = FN_REQUEST_MS_MAX),
    BIND_UINT("queueMilliseconds", SPEC, queue_ms, .min = 1, .max = FN_REQUEST_MS_MAX),
    BIND_UINT("idleMilliseconds", SPEC, idle_ms, .max = FN_REQUEST_MS_MAX),
    BIND_UINT("graceMilliseconds", SPEC, grace_ms, .max = 600000),
};
static const struct bind_table timeout_table = BIND_TABLE(timeout_fields);
static const struct bind_field queue_fields[] = {
    BIND_UINT("max", SPEC, queue_max, .max = FN_QUEUE_MAX),
};
static const struct bind_table queue_table = BIND_TABLE(queue_fields);
static const struct bind_field limit_fields[] = {
    BIND_CUSTOM("bodyBytes", SPEC, body_max, quantity_bind, .max = BYTES_MAX),
    BIND_CUSTOM("responseBytes", SPEC, response_max, quantity_bind, .max = BYTES_MAX),
};
static const struct bind_table limit_table = BIND_TABLE(limit_fields);
static const char *const balances[] = { [FN_FIRST_FREE] = "first-free",
                                        [FN_P2C] = "p2c",
                                        [FN_ROUND_ROBIN] = "round-robin",
                                        [FN_LEAST_IN_FLIGHT] = "least-in-flight",
                                        [FN_RANDOM] = "random" };
static const struct bind_field spec_fields[] = {
    BIND_INLINE("concurrency", &concurrency_table),
    BIND_OBJECT("scale", SPEC, scale, &scale_table),
    BIND_INLINE("timeouts", &timeout_table),
    BIND_INLINE("queue", &queue_table),
    BIND_INLINE("limits", &limit_table),
    BIND_ENUM("balance", SPEC, balance, balances),
    BIND_BOOL("public", SPEC, is_public),
    BIND_ARRAY("hosts", SPEC, hosts, n_hosts, &host_item, FN_HOSTS_MAX),
    BIND_ARRAY("paths", SPEC, paths, n_paths, &path_item, FN_HOSTS_MAX),
    BIND_OBJECTS("traffic", SPEC, traffic, n_traffic, &traffic_table, FN_TRAFFIC_MAX,
                 .check = check_traffic),
    BIND_OBJECT("async", SPEC, async, &async_table),
    BIND_OBJECTS("triggers", SPEC, triggers, n_triggers, &trigger_table, FN_TRIGGERS_MAX,
                 .check = check_triggers),
};
static const struct bind_table spec_table = BIND_TABLE(spec_fields);

int fn_spec_read(struct arena *a, const struct json *spec, struct fn_spec *ret, struct err *err)
{
    *ret = (struct fn_spec){ .request_ms = FN_REQUEST_MS_DEFAULT,
                             .queue_ms = FN_QUEUE_MS_DEFAULT,
                             .queue_max = FN_QUEUE_MAX_DEFAULT,
                             .grace_ms = FN_GRACE_MS_DEFAULT,
                             .body_max = FN_BODY_MAX_DEFAULT,
                             .scale = { .max = UINT32_MAX,
                                        .activation = 1,
                                        .stable_ms = 60000,
                                        .panic_window_percent = 10,
                                        .panic_threshold_percent = 200,
                                        .up_rate_percent = 100000,
                                        .down_rate_percent = 200 },
                             .async = { .attempts = 3,
                                        .backoff_ms = 1000,
                                        .backoff_max_ms = 300000,
                                        .age_max_ms = 6 * 3600000,
                                        .result_ttl_ms = 3600000 } };
    int r = fn_template_read(a, spec, &ret->t, err);
    if (r < 0)
        return r;
    ret->concurrency = ret->t.runtime == FN_OCI ? 0 : 1;
    r = read_spec(a, &spec_table, spec, ret, err);
    if (!ret->scale.utilization)
        ret->scale.utilization = ret->scale.policy == FN_SCALE_DIRIGENT ? 100 : 70;
    ret->scale.activation = MIN(ret->scale.activation, ret->scale.max);
    return r;
}
