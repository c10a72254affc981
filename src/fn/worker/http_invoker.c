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

struct carried {
    struct exchange_forward forward; /* by the HTTP client */
    struct http_invoker *v;
    struct timer deadline;
    bool is_late, is_cancelled;
};

static void free_if_over(struct http_invoker *v)
{
    if (!v->client && v->n_calls == 0)
        free(v);
}

/* ---------------------------------------------------------------- from the sandbox */

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
    if (!http_call_was_sent(c->forward.under)) {
        *ret_reason = "SandboxRefused";
        return -ECONNREFUSED;
    }
    *ret_reason = "SandboxBroke";
    return r == -ECANCELED ? -ECONNRESET : r; /* http_invoker_close() */
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct carried *c = container_of(arg, struct carried, forward);
    struct http_invoker *v = c->v;
    r = result_of(c, r, &c->forward.x.reason);
    timer_stop(v->loop, &c->deadline);
    exchange_forward_end(arg, r, err);
    free(c);
    v->n_calls--;
    free_if_over(v);
}

static const struct exchange_events call_events = { .on_head = exchange_forward_head,
                                                    .on_data = exchange_forward_data,
                                                    .on_trailers = exchange_forward_trailers,
                                                    .on_writable = exchange_forward_writable,
                                                    .on_end = on_end };

/* ---------------------------------------------------------------- from the caller */

static void on_deadline(struct timer *t)
{
    struct carried *c = container_of(t, struct carried, deadline);
    c->is_late = true;
    exchange_cancel(c->forward.under);
}

static void cancel(struct exchange *x)
{
    struct carried *c = container_of(x, struct carried, forward.x);
    c->is_cancelled = true;
    exchange_cancel(c->forward.under);
}

static const struct exchange_ops ops = { .write = exchange_forward_write,
                                         .end_body = exchange_forward_end_body,
                                         .pause = exchange_forward_pause,
                                         .resume = exchange_forward_resume,
                                         .cancel = cancel };

static int start(struct invoker *i, const struct invoke_request *req,
                 const struct exchange_events *events, void *arg, struct exchange **ret,
                 struct err *err)
{
    struct http_invoker *v = container_of(i, struct http_invoker, invoker);
    struct headers h = { 0 };
    int r = req->headers ? headers_copy(&h, req->headers) : 0;
    if (r == 0 && req->authority.n)
        r = headers_set(&h, STR("host"), req->authority);
    struct carried *c = xnew(struct carried);
    exchange_forward_init(&c->forward, &ops, events, arg);
    c->v = v;
    struct http_call_opts o = { .method = req->method,
                                .target = req->target,
                                .headers = &h,
                                .body = req->body,
                                .events = &call_events,
                                .arg = &c->forward,
                                .streams = req->has_body && !req->body_is_whole,
                                .body_n = req->body_bytes };
    if (r == 0)
        r = http_call_start(v->client, &o, &c->forward.under, err);
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
    *ret = &c->forward.x;
    return 0;
}

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
    v->invoker.start = start;
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
