/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse fn list, fn delete and fn rollback: functions as the cluster knows them. */
#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/fn_client.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static struct fn_args args;
static const char *output;
static bool all_namespaces;
static uint64_t to_revision;

/* ---------------------------------------------------------------- list */

static const struct cmd_opt list_opts[] = {
    FN_ARGS_OPTS(args),
    { "all-namespaces", 'A', NULL, "functions of all namespaces", CMD_FLAG, &all_namespaces, 0, 0 },
    { "output", 'o', "FORMAT", "text, name or json (text)", CMD_STRING, &output, 0, 0 },
    { .name = NULL },
};

static const struct cmd_opt *fn_list_opts(void)
{
    return list_opts;
}

/* The status of its condition Ready, unless its module is being compiled or its image pulled. */
static struct str ready_of(const struct json *status)
{
    struct str ready = STR("Unknown");
    json_each (condition, json_getc(status, "conditions")) {
        struct str type = json_get_str(condition, "type"), is = json_get_str(condition, "status");
        if (str_is(type, "Progressing") && str_is(is, "True") &&
            (str_is(json_get_str(condition, "reason"), "Compiling") ||
             str_is(json_get_str(condition, "reason"), "ImagePulling")))
            return json_get_str(condition, "reason");
        if (str_is(type, "Ready"))
            ready = is;
    }
    return ready;
}

static const char *runtime_of(const struct json *spec)
{
    return json_getc(spec, "module") ? "wasm" : json_getc(spec, "image") ? "oci" : "fake";
}

static void add_row(struct buf *to, const struct json *o)
{
    const struct json *status = json_getc(o, "status"), *meta = json_getc(o, "metadata");
    struct buf name = BUF_INIT(1024);
    if (all_namespaces)
        (void)buf_printf(&name, STR_FMT "/", STR_ARG(json_get_str(meta, "namespace")));
    cmd_add_safe(&name, json_get_str(meta, "name"));
    (void)buf_printf(to, "%-32.*s %-8s %-9.*s %8" PRId64 "  ", (int)name.n, name.p,
                     runtime_of(json_getc(o, "spec")), STR_ARG(ready_of(status)),
                     json_int_or(json_getc(status, "latestRevision"), 0));
    cmd_add_safe(to, json_get_str(status, "url"));
    (void)buf_add_char(to, '\n');
    buf_fini(&name);
}

static void print_list(const struct json *list, bool names_only)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(64 << 20);
    if (!names_only)
        (void)buf_printf(&text, "%-32s %-8s %-9s %8s  %s\n", "NAME", "RUNTIME", "READY", "REVISION",
                         "URL");
    json_each (o, json_getc(list, "items")) {
        if (names_only)
            (void)buf_printf(&text, "function.dormouse.dev/" STR_FMT "\n",
                             STR_ARG(json_get_str(json_getc(o, "metadata"), "name")));
        else
            add_row(&text, o);
    }
    (void)fwrite(text.p, 1, text.n, stdout);
}

static int run_list(int argc, char **argv)
{
    size_t n;
    const char *namespace;
    struct err err = { 0 };
    struct arena a = { 0 };
    struct kube_answer answer;
    scoped(kube_client_close_scoped) struct kube_client *c = NULL;
    int r = cmd_parse(&cmd_fn_list, list_opts, argc, argv, 0, &n);
    if (r)
        return r - 1;
    if ((r = fn_open(&args, &c, &namespace)) != 0)
        return r;
    struct str format = str_of(output ? output : "text");
    if (!str_is(format, "text") && !str_is(format, "name") && !str_is(format, "json"))
        return cmd_failf(CMD_USAGE, "--output is text, name or json, not '%s'", output);
    scoped(free_scoped) char *target = all_namespaces
                                           ? xstrdup("/apis/dormouse.dev/v1alpha1/functions")
                                           : xasprintf(FN_FUNCTIONS, namespace);
    r = kube_client_ask(c, &a, "GET", target, NULL, STR(""), &answer, &err);
    if (r >= 0 && str_is(format, "json")) {
        scoped(buf_fini_scoped) struct buf text = BUF_INIT(KUBE_CLIENT_ANSWER_MAX_BYTES * 2L);
        (void)json_write_pretty(&text, answer.body, 2);
        (void)printf(STR_FMT "\n", STR_ARG(buf_str(&text)));
    } else if (r >= 0) {
        print_list(answer.body, str_is(format, "name"));
    }
    arena_fini(&a);
    return r < 0 ? cmd_fail_request(r, &err) : CMD_OK;
}

const struct cmd cmd_fn_list = {
    .name = "fn list",
    .doc = "list functions and whether they are ready",
    .help = "  dormouse fn list -A\n",
    .run = run_list,
    .opts = fn_list_opts,
};

/* ---------------------------------------------------------------- delete */

static const struct cmd_opt delete_opts[] = { FN_ARGS_OPTS(args), { .name = NULL } };

static const struct cmd_opt *fn_delete_opts(void)
{
    return delete_opts;
}

static int run_delete(int argc, char **argv)
{
    size_t n;
    const char *namespace;
    struct err err = { 0 };
    struct arena a = { 0 };
    struct kube_answer answer;
    scoped(kube_client_close_scoped) struct kube_client *c = NULL;
    int r = cmd_parse(&cmd_fn_delete, delete_opts, argc, argv, 64, &n), worst = 0;
    if (r)
        return r - 1;
    if (n == 0)
        return cmd_failf(CMD_USAGE, "which function? 'dormouse fn delete NAME'");
    if ((r = fn_open(&args, &c, &namespace)) != 0)
        return r;
    for (size_t i = 0; i < n; i++) {
        if (!fn_is_name(argv[i]))
            return cmd_failf(CMD_USAGE, "'%s' is no name of a function", argv[i]);
        scoped(free_scoped) char *target = xasprintf(FN_FUNCTIONS "/%s", namespace, argv[i]);
        r = kube_client_ask(c, &a, "DELETE", target, NULL, STR(""), &answer, &err);
        if (r < 0)
            worst = r == -ENOENT
                        ? cmd_failf(CMD_FAILED, "there is no function %s/%s", namespace, argv[i])
                        : cmd_fail_request(r, &err);
        else
            (void)fprintf(stderr, "%s/%s: deleted\n", namespace, argv[i]);
    }
    arena_fini(&a);
    return worst;
}

const struct cmd cmd_fn_delete = {
    .name = "fn delete",
    .args = "NAME...",
    .doc = "remove functions; requests that are running finish",
    .help = "  dormouse fn delete hello\n",
    .run = run_delete,
    .opts = fn_delete_opts,
};

/* ---------------------------------------------------------------- rollback */

static const struct cmd_opt rollback_opts[] = {
    FN_ARGS_OPTS(args),
    { "to", 0, "REVISION", "its number (the one before the latest)", CMD_U64, &to_revision, 1,
      1000000 },
    { .name = NULL },
};

static const struct cmd_opt *fn_rollback_opts(void)
{
    return rollback_opts;
}

static int rollback(struct kube_client *c, struct arena *a, const char *namespace, const char *name,
                    struct err *err)
{
    scoped(free_scoped) char *target = xasprintf(FN_FUNCTIONS "/%s", namespace, name);
    struct kube_answer answer;
    int r = kube_client_ask(c, a, "GET", target, NULL, STR(""), &answer, err);
    if (r < 0)
        return r;
    int64_t latest = json_int_or(json_path(answer.body, "status", "readyRevision", NULL), 0);
    int64_t to = to_revision ? (int64_t)to_revision : latest - 1;
    if (to < 1)
        return err_set(err, -ENOENT, "%s has no revision before %" PRId64, name, latest);
    scoped(free_scoped) char *revision =
        xasprintf("/apis/dormouse.dev/v1alpha1/namespaces/%s/functionrevisions/%s-%05" PRId64,
                  namespace, name, to);
    r = kube_client_ask(c, a, "GET", revision, NULL, STR(""), &answer, err);
    if (r < 0)
        return r;
    const char *body = arena_printf(
        a, "{\"spec\":{\"traffic\":[{\"revision\":%" PRId64 ",\"percent\":100}]}}", to);
    r = kube_client_ask(c, a, "PATCH", target, "application/merge-patch+json", str_of(body),
                        &answer, err);
    if (r >= 0)
        (void)fprintf(stderr, "%s/%s: all requests go to revision %" PRId64 "\n", namespace, name,
                      to);
    return r;
}

static int run_rollback(int argc, char **argv)
{
    size_t n;
    const char *namespace;
    struct err err = { 0 };
    struct arena a = { 0 };
    scoped(kube_client_close_scoped) struct kube_client *c = NULL;
    int r = cmd_parse(&cmd_fn_rollback, rollback_opts, argc, argv, 1, &n);
    if (r)
        return r - 1;
    if (n == 0 || !fn_is_name(argv[0]))
        return cmd_failf(CMD_USAGE, "which function? 'dormouse fn rollback NAME'");
    if ((r = fn_open(&args, &c, &namespace)) != 0)
        return r;
    r = rollback(c, &a, namespace, argv[0], &err);
    arena_fini(&a);
    return r < 0 ? cmd_fail_request(r, &err) : CMD_OK;
}

const struct cmd cmd_fn_rollback = {
    .name = "fn rollback",
    .args = "NAME",
    .doc = "send all requests to an earlier revision, at once",
    .help =
        "The revision stays until spec.traffic says something else; to follow the latest again:\n"
        "\n"
        "  dormouse fn rollback hello\n"
        "  kubectl patch fn hello --type merge -p '{\"spec\":{\"traffic\":null}}'\n",
    .run = run_rollback,
    .opts = fn_rollback_opts,
};
