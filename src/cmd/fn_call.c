/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse fn call: one request to a function. */
#include "base/mem.h"
#include "base/sys.h"
#include "cmd/cmd.h"
#include "cmd/fn_client.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BODY_MAX_BYTES = 64 << 20 };

static struct fn_args args;
static const char *method, *data, *token;
static struct cmd_list fields;
static bool is_async, show_head;
static uint64_t timeout_ms = 300000;

static const struct cmd_opt opts[] = {
    FN_GATEWAY_OPT(args),
    FN_ARGS_OPTS(args),
    { "data", 'd', "TEXT", "body of the request; @FILE: of a file, @-: of standard input",
      CMD_STRING, &data, 0, 0 },
    { "request", 'X', "METHOD", "(GET, with --data POST)", CMD_STRING, &method, 0, 0 },
    { "header", 'H', "NAME: VALUE", "a field of the request; repeatable", CMD_LIST, &fields, 0, 0 },
    { "async", 0, NULL, "do not wait for the result: print the id of the call", CMD_FLAG, &is_async,
      0, 0 },
    { "token", 0, "TOKEN", "where the namespace asks for one", CMD_STRING, &token, 0, 0 },
    { "include", 'i', NULL, "print status and fields of the answer as well", CMD_FLAG, &show_head,
      0, 0 },
    { "timeout", 0, "TIME", "for the beginning of the answer (5m)", CMD_DURATION, &timeout_ms, 0,
      0 },
    { .name = NULL },
};

static const struct cmd_opt *fn_call_opts(void)
{
    return opts;
}

static int read_body(struct buf *to, struct err *err)
{
    if (!data)
        return 0;
    if (data[0] != '@')
        return buf_add_cstr(to, data);
    if (strcmp(data, "@-") != 0)
        return sys_read_file(AT_FDCWD, data + 1, to, err);
    return sys_read_file(AT_FDCWD, "/dev/stdin", to, err);
}

static int make_fields(struct headers *h)
{
    struct str name, value;
    for (size_t i = 0; i < fields.n; i++)
        if (!str_cut(str_of(fields.at[i]), ':', &name, &value) ||
            headers_add(h, name, str_trim(value)) < 0)
            return cmd_failf(CMD_USAGE, "--header: '%s' is not 'NAME: VALUE'", fields.at[i]);
    if (is_async)
        (void)headers_addc(h, "prefer", "respond-async");
    if (token) {
        scoped(free_scoped) char *bearer = xasprintf("Bearer %s", token);
        if (headers_addc(h, "authorization", bearer) < 0)
            return cmd_failf(CMD_USAGE, "--token is no token");
    }
    return 0;
}

static void print_head(int status, const struct headers *h)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1 << 20);
    (void)buf_printf(&text, "%d\n", status);
    for (size_t i = 0; i < h->n; i++) {
        cmd_add_safe(&text, headers_name(h, i));
        (void)buf_add_cstr(&text, ": ");
        cmd_add_safe(&text, headers_value(h, i));
        (void)buf_add_char(&text, '\n');
    }
    (void)fwrite(text.p, 1, text.n, stderr);
}

/* No option names the gateway, but one names a cluster, which knows gateway and namespace. */
static bool asks_cluster(void)
{
    const char *gateway = getenv("DORMOUSE_GATEWAY");
    return !args.gateway && !(gateway && *gateway) && !args.data_dir &&
           (args.kubeconfig || args.context || getenv("KUBECONFIG"));
}

static int run(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    int r = cmd_parse(&cmd_fn_call, opts, argc, argv, 2, &n);
    if (r)
        return r - 1;
    if (n == 0 || !fn_is_name(argv[0]))
        return cmd_failf(CMD_USAGE, "which function? 'dormouse fn call NAME [PATH]'");
    if (n == 2 && argv[1][0] != '/')
        return cmd_failf(CMD_USAGE, "'%s': a path begins with '/'", argv[1]);
    scoped(kube_client_close_scoped) struct kube_client *c = NULL;
    const char *namespace = args.in_namespace ? args.in_namespace : "default";
    if (asks_cluster() && (r = fn_open(&args, &c, &namespace)))
        return r;
    if (!fn_is_name(namespace))
        return cmd_failf(CMD_USAGE, "--namespace: '%s' is no name", namespace);
    scoped(free_scoped) char *gateway = fn_gateway(&args, c, namespace, argv[0], &err);
    if (!gateway)
        return cmd_fail(err.code == E_INVALID ? CMD_FAILED : CMD_UNAVAILABLE, &err);
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(BODY_MAX_BYTES);
    struct headers sent = { 0 }, got = { 0 };
    if (read_body(&body, &err) < 0)
        return cmd_fail(CMD_FAILED, &err);
    if ((r = make_fields(&sent)) == 0) {
        struct fn_request q = { .gateway = gateway,
                                .namespace = namespace,
                                .name = argv[0],
                                .method = str_of(method ? method
                                                 : data ? "POST"
                                                        : "GET"),
                                .path = n == 2 ? str_of(argv[1]) : STR("/"),
                                .headers = &sent,
                                .body = buf_str(&body),
                                .timeout_ms = timeout_ms,
                                .silent_status = is_async ? 202 : 0 };
        int status = fn_call(&q, STDOUT_FILENO, &got, &err);
        if (status < 0) {
            r = cmd_fail_request(status, &err);
        } else {
            struct str reason = headers_get(&got, "x-dormouse-reason");
            if (show_head)
                print_head(status, &got);
            if (is_async && status == 202)
                (void)printf(STR_FMT "\n", STR_ARG(headers_get(&got, "x-dormouse-call-id")));
            r = status < 400 ? CMD_OK
                             : cmd_failf(CMD_FAILED, "%s answered %d%s" STR_FMT, argv[0], status,
                                         reason.n ? ": " : "", STR_ARG(reason));
        }
    }
    headers_fini(&sent);
    headers_fini(&got);
    return r;
}

const struct cmd cmd_fn_call = {
    .name = "fn call",
    .args = "NAME [PATH]",
    .doc = "call a function and print its answer",
    .help = "The answer's body goes to standard output as it comes. The exit status is 1 when the "
            "answer is 400 or more.\n"
            "\n"
            "  dormouse fn call hello\n"
            "  dormouse fn call hello /orders?id=7 -d @order.json -H 'content-type: "
            "application/json'\n"
            "  dormouse fn call hello --async -d work\n",
    .run = run,
    .opts = fn_call_opts,
};
