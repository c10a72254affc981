/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dormouse fn deploy: a project, a module or a bundle becomes a Function, by server-side apply, and
 * is waited for.
 *
 * A module goes into the directory `functions` of a server on this machine, named by its digest, or
 * else into a ConfigMap of the namespace.
 */
#include "base/backoff.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/sys.h"
#include "cmd/cmd.h"
#include "cmd/fn_client.h"
#include "cmd/project.h"
#include "codec/base64.h"
#include "codec/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    MODULE_MAX_BYTES = 64 << 20,
    CONFIG_MAP_MAX_BYTES = 1000000, /* of a module in a ConfigMap, which may have 1 MiB in all */
    POLL_FIRST_MS = 5,              /* of the object's status; doubles */
    POLL_MAX_MS = 250
};

static struct fn_args args;
static const char *name, *bundle, *url, *sha256, *memory, *cpu, *protocol, *call_path, *sdk, *image,
    *pull_policy;
static struct cmd_list env, guest_args, hosts, commands, pull_secrets;
static uint64_t concurrency = UINT64_MAX, scale_min = UINT64_MAX, scale_initial = 1, scale_max,
                port, request_ms;
static uint64_t wait_ms = 120000;
static bool reuse, is_fake, no_wait;

static const struct cmd_opt opts[] = {
    CMD_SECTION("Where, and what"),
    FN_ARGS_OPTS(args),
    FN_GATEWAY_OPT(args),
    { "name", 0, "NAME", "of the function (that of the project or file)", CMD_STRING, &name, 0, 0 },
    { "call", 0, "PATH", "then call it, and print the answer", CMD_STRING, &call_path, 0, 0 },
    { "image", 0, "REFERENCE",
      "a container: an image of a registry, or oci:, oci-archive:, docker-archive: on the workers",
      CMD_STRING, &image, 0, 0 },
    { "pull-policy", 0, "WORD", "IfNotPresent, Always or Never (IfNotPresent)", CMD_STRING,
      &pull_policy, 0, 0 },
    { "pull-secret", 0, "NAME", "a Secret with credentials for the registry; repeatable", CMD_LIST,
      &pull_secrets, 0, 0 },
    { "bundle", 0, "DIR", "a container: an OCI bundle on the workers", CMD_STRING, &bundle, 0, 0 },
    { "url", 0, "URL", "the module is fetched from here; with --sha256", CMD_STRING, &url, 0, 0 },
    { "sha256", 0, "HEX", "of the module at --url", CMD_STRING, &sha256, 0, 0 },
    { "fake", 0, NULL, "a function that answers by itself, to try things", CMD_FLAG, &is_fake, 0,
      0 },
    CMD_SECTION("What it is given"),
    { "env", 'e', "NAME=VALUE", "a variable of the environment; repeatable", CMD_LIST, &env, 0, 0 },
    { "command", 0, "WORD", "in the place of a container's program; repeatable", CMD_LIST,
      &commands, 0, 0 },
    { "arg", 0, "WORD", "an argument; repeatable", CMD_LIST, &guest_args, 0, 0 },
    { "host", 0, "NAME", "also answer to this host; repeatable", CMD_LIST, &hosts, 0, 0 },
    { "reuse", 0, NULL, "keep a Wasm instance's memory between requests", CMD_FLAG, &reuse, 0, 0 },
    CMD_SECTION("Sandboxes"),
    { "concurrency", 0, "N", "requests in one sandbox at a time (Wasm 1, containers 0: any)",
      CMD_U64, &concurrency, 0, 100000 },
    { "min", 0, "N", "sandboxes that are always ready (0)", CMD_U64, &scale_min, 0, 100000 },
    { "initial", 0, "N", "sandboxes that are made at once; ready means that they are (1)", CMD_U64,
      &scale_initial, 0, 100000 },
    { "max", 0, "N", "sandboxes at most (any)", CMD_U64, &scale_max, 1, 100000 },
    { "memory", 0, "SIZE", "of a sandbox (64Mi)", CMD_STRING, &memory, 0, 0 },
    { "cpu", 0, "CORES", "of a sandbox (100m)", CMD_STRING, &cpu, 0, 0 },
    { "port", 0, "N", "where a container listens (8080)", CMD_U64, &port, 1, 65535 },
    { "protocol", 0, "NAME", "http1, h2c or grpc (http1)", CMD_STRING, &protocol, 0, 0 },
    { "request-timeout", 0, "TIME", "of one request (5m)", CMD_DURATION, &request_ms, 0, 0 },
    CMD_SECTION("The command"),
    { "no-wait", 0, NULL, "do not wait until it is ready", CMD_FLAG, &no_wait, 0, 0 },
    { "wait", 0, "TIME", "until it is ready, at most (2m)", CMD_DURATION, &wait_ms, 0, 0 },
    { "sdk", 0, "DIR", "as of 'fn build'", CMD_STRING, &sdk, 0, 0 },
    { .name = NULL },
};

static const struct cmd_opt *fn_deploy_opts(void)
{
    return opts;
}

/* ---------------------------------------------------------------- the module */

struct fn_deploy_module {
    char *path; /* of the file to send; NULL: nothing is sent */
    struct buf bytes;
    char digest[SHA256_HEX_SIZE];
};

/* What is deployed: a project is built first. */
static int find_module(const char *from, struct fn_deploy_module *m, struct err *err)
{
    struct stat st;
    if (stat(from, &st) < 0)
        return err_sys(err, -errno, "open '%s'", from);
    m->path = xstrdup(from);
    if (S_ISDIR(st.st_mode)) {
        int r = project_build(&project_function, from, sdk, err);
        if (r < 0)
            return r;
        free(m->path);
        m->path = xasprintf("%s/%s", from, FUNCTION_MODULE);
    }
    int r = sys_read_file(AT_FDCWD, m->path, &m->bytes, err);
    if (r < 0)
        return r;
    if (m->bytes.n < 8 || memcmp(m->bytes.p, "\0asm", 4) != 0)
        return err_set(err, E_INVALID, "'%s' is no Wasm module", m->path);
    uint8_t digest[SHA256_BYTES];
    sha256_of(buf_str(&m->bytes), digest);
    hex_format(digest, sizeof digest, m->digest);
    return 0;
}

/* Into the directory of the server, whole or not at all; -ENOENT: it is not on this machine. */
static int put_file(const struct kube_client *c, const struct fn_deploy_module *m, struct err *err)
{
    scoped(free_scoped) char *base = cmd_server_data_dir(args.data_dir);
    scoped(free_scoped) char *dir = xasprintf("%s/functions", base);
    scoped(free_scoped) char *path = xasprintf("%s/%s.wasm", dir, m->digest);
    if (access(dir, W_OK) < 0 || !kube_client_is_of(c, base))
        return -ENOENT;
    if (access(path, R_OK) == 0)
        return 0;
    return sys_write_file_atomic(AT_FDCWD, path, buf_str(&m->bytes), 0600, err);
}

static int put_config_map(struct kube_client *c, struct arena *a, const char *namespace,
                          const char *map, const struct fn_deploy_module *m, struct err *err)
{
    if (m->bytes.n > CONFIG_MAP_MAX_BYTES)
        return err_set(err, -EMSGSIZE,
                       "'%s' has %zu bytes, a ConfigMap holds %d: deploy on the server's machine "
                       "(--data-dir), or from a --url",
                       m->path, m->bytes.n, CONFIG_MAP_MAX_BYTES);
    scoped(buf_fini_scoped) struct buf body = BUF_INIT((size_t)4 << 20);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT((size_t)4 << 20);
    (void)base64_encode(&text, buf_str(&m->bytes), BASE64_STD);
    (void)buf_printf(&body,
                     "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"%s\"},"
                     "\"binaryData\":{\"module.wasm\":\"" STR_FMT "\"}}",
                     map, STR_ARG(buf_str(&text)));
    scoped(free_scoped) char *target = xasprintf(
        "/api/v1/namespaces/%s/configmaps/%s?fieldManager=dormouse-fn&force=true", namespace, map);
    struct kube_answer answer;
    return kube_client_ask(c, a, "PATCH", target, "application/apply-patch+yaml", buf_str(&body),
                           &answer, err);
}

/* ---------------------------------------------------------------- the object */

static int add_env(struct arena *a, struct json *spec, struct err *err)
{
    struct json *list = env.n ? json_new_array(a) : NULL;
    for (size_t i = 0; i < env.n; i++) {
        struct str key, value;
        if (!str_cut(str_of(env.at[i]), '=', &key, &value) || !key.n)
            return err_set(err, -EINVAL, "--env: '%s' is not NAME=VALUE", env.at[i]);
        struct json *item = json_new_object(a);
        json_set_str(a, item, "name", key);
        json_set_str(a, item, "value", value);
        json_add(list, item);
    }
    if (list)
        json_setc(a, spec, "env", list);
    return 0;
}

static void add_strings(struct arena *a, struct json *spec, const char *key,
                        const struct cmd_list *words)
{
    struct json *list = words->n ? json_new_array(a) : NULL;
    for (size_t i = 0; i < words->n; i++)
        json_add(list, json_new_cstr(a, words->at[i]));
    if (list)
        json_setc(a, spec, key, list);
}

static void add_pull_secrets(struct arena *a, struct json *spec)
{
    struct json *list = json_new_array(a);
    for (size_t i = 0; i < pull_secrets.n; i++) {
        struct json *item = json_new_object(a);
        json_set_str(a, item, "name", str_of(pull_secrets.at[i]));
        json_add(list, item);
    }
    json_setc(a, spec, "imagePullSecrets", list);
}

static int make_spec(struct arena *a, struct json *spec, struct err *err)
{
    if (bundle)
        json_set_str(a, json_obj(a, spec, "image"), "bundle", str_of(bundle));
    if (image)
        json_set_str(a, json_obj(a, spec, "image"), "reference", str_of(image));
    if (image && pull_policy)
        json_set_str(a, json_obj(a, spec, "image"), "pullPolicy", str_of(pull_policy));
    if (pull_secrets.n)
        add_pull_secrets(a, spec);
    if (is_fake)
        (void)json_obj(a, spec, "fake");
    if (reuse)
        json_set_bool(a, spec, "reuse", true);
    if (port)
        json_set_int(a, spec, "port", (int64_t)port);
    if (protocol)
        json_set_str(a, spec, "protocol", str_of(protocol));
    if (memory)
        json_set_str(a, json_obj(a, spec, "resources"), "memory", str_of(memory));
    if (cpu)
        json_set_str(a, json_obj(a, spec, "resources"), "cpu", str_of(cpu));
    if (concurrency != UINT64_MAX)
        json_set_int(a, json_obj(a, spec, "concurrency"), "limit", (int64_t)concurrency);
    if (scale_min != UINT64_MAX)
        json_set_int(a, json_obj(a, spec, "scale"), "min", (int64_t)scale_min);
    json_set_int(a, json_obj(a, spec, "scale"), "initial", (int64_t)scale_initial);
    if (scale_max)
        json_set_int(a, json_obj(a, spec, "scale"), "max", (int64_t)scale_max);
    if (request_ms)
        json_set_int(a, json_obj(a, spec, "timeouts"), "requestMilliseconds", (int64_t)request_ms);
    add_strings(a, spec, "command", &commands);
    add_strings(a, spec, "args", &guest_args);
    add_strings(a, spec, "hosts", &hosts);
    return add_env(a, spec, err);
}

/* The condition Ready of this generation or a later one; NULL: there is none yet. */
static const struct json *ready_condition(const struct json *object, int64_t generation)
{
    const struct json *status = json_getc(object, "status");
    if (json_int_or(json_getc(status, "observedGeneration"), 0) < generation)
        return NULL;
    json_each (condition, json_getc(status, "conditions"))
        if (str_is(json_get_str(condition, "type"), "Ready"))
            return condition;
    return NULL;
}

/* What was applied: its generation, and whether it is one that has failed already. */
struct applied {
    int64_t generation;
    bool has_failed;
};

static int apply(struct kube_client *c, struct arena *a, const char *namespace,
                 const char *function, struct json *spec, struct applied *ret, struct err *err)
{
    struct json *o = json_new_object(a);
    json_set_str(a, o, "apiVersion", STR("dormouse.dev/v1alpha1"));
    json_set_str(a, o, "kind", STR("Function"));
    json_set_str(a, json_obj(a, o, "metadata"), "name", str_of(function));
    json_setc(a, o, "spec", spec);
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(4 << 20);
    (void)json_write(&body, o);
    scoped(free_scoped) char *target =
        xasprintf(FN_FUNCTIONS "/%s?fieldManager=dormouse-fn&force=true", namespace, function);
    struct kube_answer answer;
    int r = kube_client_ask(c, a, "PATCH", target, "application/apply-patch+yaml", buf_str(&body),
                            &answer, err);
    if (r < 0)
        return r;
    int64_t generation = json_int_or(json_path(answer.body, "metadata", "generation", NULL), 0);
    const struct json *ready = ready_condition(answer.body, generation);
    *ret = (struct applied){ .generation = generation,
                             .has_failed = str_is(json_get_str(ready, "status"), "False") };
    return r;
}

/* Why it takes time, each reason once. */
static void print_reason(const struct json *condition, char **last_reason)
{
    struct str reason = json_get_str(condition, "reason");
    if (str_is(reason, "RevisionNotReady") || (*last_reason && str_is(reason, *last_reason)))
        return;
    (void)fprintf(stderr, STR_FMT "\n", STR_ARG(json_get_str(condition, "message")));
    free(*last_reason);
    *last_reason = str_dup(reason);
}

/* 1: the revision of this generation is ready, 0: not yet; E_INVALID: it will not be. */
static int look(struct kube_client *c, const char *target, const struct applied *what,
                char **last_reason, struct err *err)
{
    struct arena a = { 0 };
    struct kube_answer answer;
    int r = kube_client_ask(c, &a, "GET", target, NULL, STR(""), &answer, err);
    const struct json *ready = r >= 0 ? ready_condition(answer.body, what->generation) : NULL;
    const struct json *status = ready ? json_getc(answer.body, "status") : NULL;
    struct str is = json_get_str(ready, "status");
    if (str_is(is, "True"))
        r = json_int_or(json_getc(status, "readyRevision"), 0) >=
            json_int_or(json_getc(status, "latestRevision"), 0);
    else if (str_is(is, "False"))
        r = err_set(err, E_INVALID, "%s" STR_FMT ": " STR_FMT,
                    what->has_failed ? "nothing was changed since it failed: " : "",
                    STR_ARG(json_get_str(ready, "reason")),
                    STR_ARG(json_get_str(ready, "message")));
    else if (ready)
        print_reason(ready, last_reason);
    arena_fini(&a);
    return r;
}

static int wait_until_ready(struct kube_client *c, const char *namespace, const char *function,
                            const struct applied *what, struct err *err)
{
    scoped(free_scoped) char *target = xasprintf(FN_FUNCTIONS "/%s", namespace, function);
    scoped(free_scoped) char *last_reason = NULL;
    uint64_t end = clock_mono_ms() + wait_ms, pause = POLL_FIRST_MS;
    int r;
    while ((r = look(c, target, what, &last_reason, err)) == 0) {
        if (clock_mono_ms() >= end)
            return err_set(err, -ETIMEDOUT, "%s is not ready after %llu s", function,
                           (unsigned long long)(wait_ms / 1000));
        struct timespec t = { 0, (long)pause * 1000000 };
        (void)nanosleep(&t, NULL);
        pause = backoff_next(pause, POLL_FIRST_MS, POLL_MAX_MS);
    }
    return r;
}

/* ---------------------------------------------------------------- the command */

static int call_it(const char *gateway, const char *namespace, const char *function,
                   struct err *err)
{
    struct headers got = { 0 };
    struct fn_request q = { .gateway = gateway,
                            .namespace = namespace,
                            .name = function,
                            .method = STR("GET"),
                            .path = str_of(call_path),
                            .timeout_ms = wait_ms };
    (void)fflush(stdout);
    int status = fn_call(&q, STDOUT_FILENO, &got, err);
    headers_fini(&got);
    if (status < 0)
        return status;
    return status < 400 ? 0 : err_set(err, E_INVALID, "%s answered %d", function, status);
}

static int deploy(struct kube_client *c, struct arena *a, const char *namespace,
                  const char *function, struct fn_deploy_module *m, struct err *err)
{
    struct json *spec = json_new_object(a);
    struct applied what = { 0 };
    int r = make_spec(a, spec, err);
    if (r < 0)
        return r;
    if (m->path || url) {
        struct json *module = json_obj(a, spec, "module");
        if (url) {
            json_set_str(a, module, "url", str_of(url));
            json_set_str(a, module, "sha256", str_of(sha256));
        } else if ((r = put_file(c, m, err)) >= 0) {
            json_set_str(a, module, "file", str_of(arena_printf(a, "%s.wasm", m->digest)));
            json_set_str(a, module, "sha256", str_of(m->digest));
        } else if (r == -ENOENT) {
            const char *map = arena_printf(a, "%s-%.12s", function, m->digest);
            r = put_config_map(c, a, namespace, map, m, err);
            json_set_str(a, json_obj(a, module, "configMap"), "name", str_of(map));
            json_set_str(a, module, "sha256", str_of(m->digest));
        }
    }
    if (r >= 0)
        r = apply(c, a, namespace, function, spec, &what, err);
    if (r >= 0 && !no_wait)
        r = wait_until_ready(c, namespace, function, &what, err);
    if (r < 0)
        return err_ctx(err, r, "deploy %s", function);
    struct err none = { 0 };
    scoped(free_scoped) char *gateway = fn_gateway(&args, c, namespace, function, &none);
    (void)fprintf(stderr, "%s/%s: %s%s%s\n", namespace, function, no_wait ? "applied" : "ready",
                  gateway ? " at http://" : "",
                  gateway ? arena_printf(a, "%s/fn/%s/%s/", gateway, namespace, function) : "");
    if (!call_path)
        return 0;
    if (!gateway)
        return err_set(err, -ENOENT, "%s", err_text(&none));
    return call_it(gateway, namespace, function, err);
}

/* The name for a directory or a file: its last part without ".wasm". */
static char *name_of(const char *from)
{
    scoped(free_scoped) char *real = realpath(from, NULL);
    const char *path = real ? real : from, *slash = strrchr(path, '/');
    struct str last = str_of(slash ? slash + 1 : path);
    if (str_has_suffix(last, STR(".wasm")))
        last.n -= strlen(".wasm");
    return str_dup(last);
}

static int run(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    const char *namespace;
    scoped(kube_client_close_scoped) struct kube_client *c = NULL;
    int r = cmd_parse(&cmd_fn_deploy, opts, argc, argv, 1, &n);
    if (r)
        return r - 1;
    if (n + (bundle != NULL) + (image != NULL) + (url != NULL) + is_fake != 1)
        return cmd_failf(CMD_USAGE, "what is deployed? one of DIR, MODULE.wasm, --image, --bundle, "
                                    "--url and --fake");
    if (pull_policy && !image)
        return cmd_failf(CMD_USAGE, "--pull-policy goes with --image");
    if (pull_secrets.n && !image && !url)
        return cmd_failf(CMD_USAGE, "--pull-secret goes with --image and with --url");
    if ((url != NULL) != (sha256 != NULL))
        return cmd_failf(CMD_USAGE, "--url and --sha256 go together");
    if (call_path && call_path[0] != '/')
        return cmd_failf(CMD_USAGE, "--call: '%s' does not begin with '/'", call_path);
    scoped(free_scoped) char *function = name ? xstrdup(name) : n ? name_of(argv[0]) : NULL;
    if (!function || !fn_is_name(function))
        return cmd_failf(CMD_USAGE,
                         "'%s' is no name for a function: --name, of lower case "
                         "letters, digits and '-'",
                         function ? function : "");
    struct fn_deploy_module m = { .bytes = BUF_INIT(MODULE_MAX_BYTES) };
    struct arena a = { 0 };
    if ((r = n ? find_module(argv[0], &m, &err) : 0) < 0)
        r = cmd_fail(CMD_FAILED, &err);
    else if ((r = fn_open(&args, &c, &namespace)) == 0 &&
             (r = deploy(c, &a, namespace, function, &m, &err)) < 0)
        r = r == -EINVAL ? cmd_fail(CMD_USAGE, &err) : cmd_fail_request(r, &err);
    free(m.path);
    buf_fini(&m.bytes);
    arena_fini(&a);
    return r > 0 ? r : CMD_OK;
}

const struct cmd cmd_fn_deploy = {
    .name = "fn deploy",
    .args = "[DIR | MODULE.wasm]",
    .doc = "make or change a function, and wait until it is ready",
    .help = "DIR is a project of 'fn init', and is built. The options describe the "
            "whole function:\n"
            "an option of an earlier deploy that is missing now returns to its default; fields "
            "that other\nclients have set stay.\n"
            "\n"
            "  dormouse fn deploy hello --call /\n"
            "  dormouse fn deploy hello.wasm --name shop --env GREETING=hi --max 10\n"
            "  dormouse fn deploy --image docker.io/library/nginx:1.27 --name web --port 80\n"
            "  dormouse fn deploy --bundle web --name web --port 80 --concurrency 50\n",
    .run = run,
    .opts = fn_deploy_opts,
};
