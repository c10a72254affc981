/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands for users of functions share; see fn_client.h. */
#include "cmd/fn_client.h"

#include "base/mem.h"
#include "base/sys.h"
#include "cmd/cmd.h"
#include "io/http.h"
#include "node/admin_client.h"

#include <errno.h>
#include <string.h>

enum { NAME_MAX_BYTES = 63, STATUS_MAX_BYTES = 4 << 20 };

bool fn_is_name(const char *s)
{
    size_t n = strlen(s);
    return n > 0 && n <= NAME_MAX_BYTES && s[0] != '-' && s[n - 1] != '-' &&
           strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == n;
}

int fn_open(const struct fn_args *args, struct kube_client **ret, const char **ret_namespace)
{
    struct err err = { 0 };
    int r = kube_client_open(args->kubeconfig, args->context, args->data_dir, ret, &err);
    if (r < 0)
        return cmd_fail(CMD_UNAVAILABLE, &err);
    *ret_namespace = args->in_namespace ? args->in_namespace : kube_client_namespace(*ret);
    if (!fn_is_name(*ret_namespace))
        return cmd_failf(CMD_USAGE, "--namespace: '%s' is no name", *ret_namespace);
    return 0;
}

static char *gateway_of_server(const char *data_dir, struct err *err)
{
    scoped(free_scoped) char *dir = cmd_server_data_dir(data_dir);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(STATUS_MAX_BYTES);
    struct arena a = { 0 };
    struct json *status = NULL;
    char *found = NULL;
    int r = admin_get(dir, "/status", &text, err);
    if (r < 0) {
        (void)err_ctx(err, r, "where is the gateway? (--gateway HOST:PORT)");
        return NULL;
    }
    if (json_parse(&a, buf_str(&text), NULL, &status, err) >= 0) {
        struct str address = json_get_str(status, "gateway");
        if (address.n)
            found = str_dup(address);
        else
            (void)err_set(err, -ENOENT, "the server of '%s' has no gateway (--gateway HOST:PORT)",
                          dir);
    }
    arena_fini(&a);
    return found;
}

/* "http://HOST:PORT/fn/..." */
static char *address_of_url(struct str url)
{
    struct str rest = url, host;
    ptrdiff_t scheme = str_find(url, STR("://"));
    if (scheme >= 0)
        rest = str_slice(url, (size_t)scheme + 3, url.n);
    (void)str_cut(rest, '/', &host, &rest);
    return host.n ? str_dup(host) : NULL;
}

/* The gateway in the Function's status. */
static char *gateway_of_function(struct kube_client *c, const char *namespace, const char *name,
                                 struct err *err)
{
    struct arena a = { 0 };
    struct kube_answer answer;
    scoped(free_scoped) char *target = xasprintf(FN_FUNCTIONS "/%s", namespace, name);
    char *found = NULL;
    int r = kube_client_ask(c, &a, "GET", target, NULL, STR(""), &answer, err);
    if (r >= 0 && !(found = address_of_url(json_get_str(json_getc(answer.body, "status"), "url"))))
        (void)err_set(err, -ENOENT, "the status of %s/%s names no gateway (--gateway HOST:PORT)",
                      namespace, name);
    else if (r == -ENOENT) /* the function does not exist, the server does */
        err->code = E_INVALID;
    arena_fini(&a);
    return found;
}

char *fn_gateway(const struct fn_args *args, struct kube_client *c, const char *namespace,
                 const char *name, struct err *err)
{
    const char *env = getenv("DORMOUSE_GATEWAY");
    if (args->gateway || (env && *env))
        return xstrdup(args->gateway ? args->gateway : env);
    if (!c || args->data_dir)
        return gateway_of_server(args->data_dir, err);
    char *found = gateway_of_function(c, namespace, name, err);
    struct err ignored = { 0 };
    bool may_be_here = !found && err->code == -ENOENT; /* the status follows a moment later */
    return may_be_here ? gateway_of_server(NULL, &ignored) : found;
}

/* ---------------------------------------------------------------- a call */

struct calling {
    int fd, silent_status, status, r;
    bool is_over;
    struct headers *fields;
    struct err *err;
};

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct calling *c = arg;
    c->status = status;
    (void)headers_copy(c->fields, headers);
}

static void on_data(void *arg, struct str chunk)
{
    struct calling *c = arg;
    int r = c->status == c->silent_status ? 0 : sys_write_all(c->fd, chunk.p, chunk.n);
    if (r < 0 && c->r == 0)
        c->r = err_sys(c->err, r, "write the answer");
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct calling *c = arg;
    if (r < 0 && c->r == 0) {
        c->r = r;
        *c->err = *err;
    }
    c->is_over = true;
}

int fn_call(const struct fn_request *q, int fd, struct headers *ret, struct err *err)
{
    static const struct exchange_events events = { .on_head = on_head,
                                                   .on_data = on_data,
                                                   .on_end = on_end };
    struct calling calling = {
        .fd = fd, .silent_status = q->silent_status, .fields = ret, .err = err
    };
    struct loop loop;
    struct http_client *client;
    struct exchange *call;
    char host[256];
    uint16_t port;
    int r = cmd_parse_listen(q->gateway, host, sizeof host, &port, err);
    if (r < 0 || (r = loop_init(&loop, err)) < 0)
        return r;
    scoped(free_scoped) char *target =
        xasprintf("/fn/%s/%s" STR_FMT, q->namespace, q->name, STR_ARG(q->path));
    struct http_client_opts opts = { .host = host, .port = port, .max_connections = 1 };
    struct http_call_opts call_opts = { .method = q->method,
                                        .target = str_of(target),
                                        .headers = q->headers,
                                        .body = q->body,
                                        .head_timeout_ms = q->timeout_ms,
                                        .events = &events,
                                        .arg = &calling };
    r = http_client_new(&loop, &opts, &client, err);
    if (r >= 0) {
        r = http_call_start(client, &call_opts, &call, err);
        while (r >= 0 && !calling.is_over)
            (void)loop_turn(&loop, true);
        http_client_close(client);
    }
    while (loop_turn(&loop, false))
        ;
    loop_fini(&loop);
    return r < 0 ? r : calling.r < 0 ? calling.r : calling.status;
}
