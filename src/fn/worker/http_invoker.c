/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of a sandbox by HTTP; see http_invoker.h. */
#include "fn/worker/http_invoker.h"

#include "base/mem.h"
#include "io/http.h"

#include <errno.h>
#include <stdio.h>

enum { HOST_MAX = 64 };

struct http_invoker {
    struct invoker invoker;
    struct loop *loop;
    struct http_client *client; /* NULL: closed */
    unsigned n_calls;
};

struct carried { /* a struct invocation */
    struct http_invoker *v;
    struct http_call *call;
    const struct invoke_ops *ops;
    void *arg;
    struct timer deadline;
    bool is_late, is_cancelled;
};

static void free_if_over(struct http_invoker *v)
{
    if (!v->client && v->n_calls == 0)
        free(v);
}

/* ---------------------------------------------------------------- from the sandbox */

static void on_head(void *arg, int status, const struct headers *h)
{
    struct carried *c = arg;
    c->ops->on_head(c->arg, status, h);
}

static void on_data(void *arg, struct str chunk)
{
    struct carried *c = arg;
    c->ops->on_data(c->arg, chunk);
}

static void on_trailers(void *arg, const struct headers *trailers)
{
    struct carried *c = arg;
    if (c->ops->on_trailers)
        c->ops->on_trailers(c->arg, trailers);
}

static void on_writable(void *arg)
{
    struct carried *c = arg;
    if (c->ops->on_writable)
        c->ops->on_writable(c->arg);
}

/* The code for a caller that must know whether the sandbox may have received the request. */
static int result_of(const struct carried *c, int r, const char **ret_reason)
{
    if (r == 0 || c->is_cancelled) {
        *ret_reason = "";
        return r;
    }
    if (c->is_late) {
        *ret_reason = "RequestTimeout";
        return -ETIMEDOUT;
    }
    if (!http_call_was_sent(c->call)) {
        *ret_reason = "SandboxRefused";
        return -ECONNREFUSED;
    }
    *ret_reason = "SandboxBroke";
    return r == -ECANCELED ? -ECONNRESET : r; /* the client was closed under it */
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct carried *c = arg;
    struct http_invoker *v = c->v;
    const char *reason;
    r = result_of(c, r, &reason);
    timer_stop(v->loop, &c->deadline);
    c->ops->on_end(c->arg, r, reason, err);
    free(c);
    v->n_calls--;
    free_if_over(v);
}

static const struct http_call_ops call_ops = { .on_head = on_head,
                                               .on_data = on_data,
                                               .on_end = on_end,
                                               .on_trailers = on_trailers,
                                               .on_writable = on_writable };

/* ---------------------------------------------------------------- from the caller */

static void on_deadline(struct timer *t)
{
    struct carried *c = container_of(t, struct carried, deadline);
    c->is_late = true;
    http_call_cancel(c->call);
}

static int start(struct invoker *i, const struct invoke_request *req, const struct invoke_ops *ops,
                 void *arg, struct invocation **ret, struct err *err)
{
    struct http_invoker *v = container_of(i, struct http_invoker, invoker);
    struct headers h = { 0 };
    int r = req->headers ? headers_copy(&h, req->headers) : 0;
    if (r == 0 && req->authority.n)
        r = headers_set(&h, STR("host"), req->authority);
    struct carried *c = xnew(struct carried);
    *c = (struct carried){ .v = v, .ops = ops, .arg = arg };
    struct http_call_opts o = { .method = req->method,
                                .target = req->target,
                                .headers = &h,
                                .body = req->body,
                                .ops = &call_ops,
                                .arg = c,
                                .streams = req->has_body && !req->body_is_whole,
                                .body_n = req->body_bytes };
    if (r == 0)
        r = http_call_start(v->client, &o, &c->call, err);
    headers_fini(&h);
    if (r < 0) {
        free(c);
        return r;
    }
    v->n_calls++;
    uint64_t now = loop_now_ms(v->loop);
    if (req->deadline_ms)
        timer_start(v->loop, &c->deadline, req->deadline_ms > now ? req->deadline_ms - now : 0,
                    on_deadline);
    *ret = (struct invocation *)c;
    return 0;
}

static bool write_body(struct invoker *v, struct invocation *x, struct str chunk)
{
    return http_call_write(((struct carried *)x)->call, chunk);
}

static void end_body(struct invoker *v, struct invocation *x, const struct headers *trailers)
{
    http_call_end_body(((struct carried *)x)->call, trailers);
}

static void pause_answer(struct invoker *v, struct invocation *x)
{
    http_call_pause(((struct carried *)x)->call);
}

static void resume_answer(struct invoker *v, struct invocation *x)
{
    http_call_resume(((struct carried *)x)->call);
}

static void cancel(struct invoker *v, struct invocation *x)
{
    struct carried *c = (struct carried *)x;
    c->is_cancelled = true;
    http_call_cancel(c->call);
}

static const struct invoker_ops invoker_ops = { .start = start,
                                                .write = write_body,
                                                .end_body = end_body,
                                                .pause = pause_answer,
                                                .resume = resume_answer,
                                                .cancel = cancel };

/* ---------------------------------------------------------------- new and close */

int http_invoker_new(struct loop *loop, const char *address, bool h2c, struct http_invoker **ret,
                     struct err *err)
{
    struct str host, port;
    char name[HOST_MAX];
    uint64_t n;
    (void)str_cut(str_of(address), ':', &host, &port);
    if (host.n == 0 || host.n >= sizeof name || parse_u64(port, 1, 65535, &n) < 0)
        return err_set(err, E_INVALID, "'%s' is not the address of a sandbox", address);
    (void)snprintf(name, sizeof name, STR_FMT, STR_ARG(host));
    struct http_invoker *v = xnew(struct http_invoker);
    v->invoker.ops = &invoker_ops;
    v->loop = loop;
    struct http_client_opts o = { .host = name,
                                  .port = (uint16_t)n,
                                  .max_connections = HTTP_INVOKER_CONNECTIONS,
                                  .connect_timeout_ms = HTTP_INVOKER_CONNECT_MS,
                                  .http2 = h2c };
    int r = http_client_new(loop, &o, &v->client, err);
    if (r < 0)
        free(v);
    else
        *ret = v;
    return r;
}

void http_invoker_close(struct http_invoker *v)
{
    if (!v)
        return;
    http_client_close(take_ptr(&v->client));
    free_if_over(v);
}

struct invoker *http_invoker_get(struct http_invoker *v)
{
    return &v->invoker;
}
