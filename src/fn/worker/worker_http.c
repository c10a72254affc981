/* SPDX-License-Identifier: Apache-2.0 */
/* The listener for sandboxes without an address; see worker_http.h. */
#include "fn/worker/worker_http.h"

#include "io/address.h"
#include "io/tls.h"

#include <errno.h>
#include <string.h>

struct worker_http {
    struct loop *loop;
    struct invoker *invoker; /* NULL: not yet */
    struct http_server *server;
    char *token, *organisation; /* NULL: not required */
    void (*done)(void *arg);
    void *arg;
};

/* One request: of the gateway and to the sandbox, each of which may end first. */
struct bridge {
    struct worker_http *h;
    struct http_exchange *x; /* NULL: the gateway has left */
    struct exchange *i;      /* NULL: it has ended */
    bool is_answered;        /* the head is out */
};

static void free_if_over(struct bridge *b)
{
    if (!b->x && !b->i)
        free(b);
}

/* ---------------------------------------------------------------- from the sandbox */

static bool is_kept_in_answer(struct str name)
{
    static const char *const dropped[] = { "connection", "content-length", "keep-alive",
                                           "transfer-encoding", "upgrade" };
    for (size_t i = 0; i < ARRAY_LEN(dropped); i++)
        if (str_is(name, dropped[i]))
            return false;
    return !str_is(name, "x-dormouse-error") && !str_is(name, "x-dormouse-reason");
}

static void on_head(void *arg, int status, const struct headers *from)
{
    struct bridge *b = arg;
    struct headers h = { 0 };
    uint64_t n = HTTP_CHUNKED;
    if (!b->x)
        return;
    for (size_t i = 0; i < from->n; i++)
        if (is_kept_in_answer(headers_name(from, i)))
            (void)headers_add(&h, headers_name(from, i), headers_value(from, i));
    struct str length = headers_get(from, "content-length");
    if (length.n && parse_u64(length, 0, UINT64_MAX - 1, &n) < 0)
        n = HTTP_CHUNKED;
    b->is_answered = true;
    http_respond(b->x, status, &h, n);
    headers_fini(&h);
}

static void on_data(void *arg, struct str chunk)
{
    struct bridge *b = arg;
    if (b->x && !http_write(b->x, chunk))
        exchange_pause(b->i);
}

static void on_trailers(void *arg, const struct headers *trailers)
{
    struct bridge *b = arg;
    if (b->x)
        http_trailers(b->x, trailers);
}

static void on_writable(void *arg)
{
    struct bridge *b = arg;
    if (b->x)
        http_resume_body(b->x);
}

static void reply_error(struct http_exchange *x, int r, const char *reason, const char *text)
{
    struct headers h = { 0 };
    (void)headers_addc(&h, "content-type", "text/plain");
    (void)headers_addc(&h, "x-dormouse-error", err_name(r));
    (void)headers_addc(&h, "x-dormouse-reason", reason);
    http_reply(x, 502, &h, str_of(text));
    headers_fini(&h);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct bridge *b = arg;
    const char *reason = exchange_reason(b->i);
    b->i = NULL;
    if (!b->x)
        free_if_over(b);
    else if (r == 0)
        http_end(b->x);
    else if (!b->is_answered)
        reply_error(b->x, r, reason ? reason : "", err_text(err));
    else
        http_abort(b->x);
}

static const struct exchange_events sandbox_events = { .on_head = on_head,
                                                       .on_data = on_data,
                                                       .on_trailers = on_trailers,
                                                       .on_writable = on_writable,
                                                       .on_end = on_end };

/* ---------------------------------------------------------------- from the gateway */

static void on_body(struct http_exchange *x, struct str chunk)
{
    struct bridge *b = http_exchange_data(x);
    if (b->i && !exchange_write(b->i, chunk))
        http_pause_body(x);
}

static void on_body_end(struct http_exchange *x, int r)
{
    struct bridge *b = http_exchange_data(x);
    if (b->i && r == 0)
        exchange_end_body(b->i, http_request_trailers(x));
    else if (b->i)
        exchange_cancel(b->i);
}

static void on_exchange_writable(struct http_exchange *x)
{
    struct bridge *b = http_exchange_data(x);
    if (b->i)
        exchange_resume(b->i);
}

static void on_gone(struct http_exchange *x, int r)
{
    struct bridge *b = http_exchange_data(x);
    b->x = NULL;
    if (b->i)
        exchange_cancel(b->i);
    free_if_over(b);
}

static const struct http_exchange_ops exchange_ops = { .on_body = on_body,
                                                       .on_body_end = on_body_end,
                                                       .on_writable = on_exchange_writable,
                                                       .on_gone = on_gone };

static bool is_of_organisation(const struct http_exchange *x, const char *want)
{
    struct arena a = { 0 };
    struct tls_peer peer;
    bool found = false;
    if (http_exchange_peer(x, &a, &peer) && !peer.why)
        for (size_t i = 0; i < peer.n_orgs; i++)
            found = found || str_is(peer.orgs[i], want);
    arena_fini(&a);
    return found;
}

static bool may_call(const struct worker_http *h, const struct http_exchange *x,
                     const struct http_request *req)
{
    return (!h->token || str_is_secret(headers_get(req->headers, "x-dormouse-token"), h->token)) &&
           (!h->organisation || is_of_organisation(x, h->organisation));
}

static bool is_for_sandbox(struct str name)
{
    static const char *const dropped[] = { "connection",      "content-length",    "host",
                                           "keep-alive",      "transfer-encoding", "upgrade",
                                           "proxy-connection" };
    for (size_t i = 0; i < ARRAY_LEN(dropped); i++)
        if (str_is(name, dropped[i]))
            return false;
    static const char *const ours[] = { "sandbox", "token",      "call-id",      "peer",
                                        "scheme",  "timeout-ms", "response-max", "script-name" };
    if (!str_has_prefix(name, STR("x-dormouse-")))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(ours); i++)
        if (str_is(str_slice(name, 11, name.n), ours[i]))
            return false;
    return true;
}

static uint64_t number_of(const struct headers *h, const char *name)
{
    uint64_t n;
    return parse_u64(headers_get(h, name), 0, UINT64_MAX / 2, &n) == 0 ? n : 0;
}

static int start(struct bridge *b, const struct http_request *req, uint64_t sandbox,
                 struct err *err)
{
    struct headers h = { 0 };
    const struct headers *all = req->headers;
    if (!b->h->invoker)
        return err_set(err, -ECONNREFUSED, "this worker only starts");
    for (size_t i = 0; i < all->n; i++)
        if (is_for_sandbox(headers_name(all, i)))
            (void)headers_add(&h, headers_name(all, i), headers_value(all, i));
    struct str peer = headers_get(all, "x-dormouse-peer");
    uint64_t timeout_ms = number_of(all, "x-dormouse-timeout-ms");
    struct invoke_request r = {
        .sandbox = sandbox,
        .method = req->method,
        .target = req->target,
        .authority = headers_get(all, "host"),
        .headers = &h,
        .peer = peer.n ? peer : req->peer,
        .is_tls = str_is(headers_get(all, "x-dormouse-scheme"), "https"),
        .has_body = req->has_body,
        .body_bytes = req->has_body ? req->content_length : 0,
        .call_id = headers_get(all, "x-dormouse-call-id"),
        .deadline_ms = timeout_ms ? loop_now_ms(b->h->loop) + timeout_ms : 0,
        .response_max = number_of(all, "x-dormouse-response-max"),
        .script_name = headers_get(all, "x-dormouse-script-name"),
    };
    int code = invoke_start(b->h->invoker, &r, &sandbox_events, b, &b->i, err);
    headers_fini(&h);
    return code;
}

static void on_request(struct http_exchange *x, const struct http_request *req, void *arg)
{
    struct worker_http *h = arg;
    uint64_t sandbox;
    struct err err = { 0 };
    if (!may_call(h, x, req)) {
        http_reply(x, 401, NULL, STR("only gateways of this cluster may call\n"));
        return;
    }
    if (parse_u64(headers_get(req->headers, "x-dormouse-sandbox"), 1, UINT64_MAX, &sandbox) < 0) {
        http_reply(x, 400, NULL, STR("the field x-dormouse-sandbox names no sandbox\n"));
        return;
    }
    struct bridge *b = xnew(struct bridge);
    b->h = h;
    int r = start(b, req, sandbox, &err);
    if (r < 0) {
        free(b);
        reply_error(x, r, "", err_text(&err));
        return;
    }
    b->x = x;
    http_exchange_set(x, &exchange_ops, b);
    if (!req->has_body)
        return;
    http_let_body_idle(x); /* the gateway limits how long a body may pause */
    http_read_body(x, UINT64_MAX);
}

/* ---------------------------------------------------------------- start and close */

static int check(const struct worker_http_opts *o, struct err *err)
{
    if (o->token && strlen(o->token) < WORKER_TOKEN_MIN)
        return err_set(err, E_INVALID, "a worker's token has at least %d bytes", WORKER_TOKEN_MIN);
    if (o->organisation && !o->tls)
        return err_set(err, E_INVALID, "without TLS there are no certificates of an organisation");
    if (o->host && !address_is_loopback_text(o->host) && !o->token && !o->organisation)
        return err_set(err, E_INVALID,
                       "a worker that listens on '%s' needs a token, or TLS and an organisation",
                       o->host);
    return 0;
}

static void free_listener(struct worker_http *h)
{
    free(h->token);
    free(h->organisation);
    free(h);
}

int worker_http_start(const struct worker_http_opts *o, struct worker_http **ret, struct err *err)
{
    int r = check(o, err);
    if (r < 0)
        return r;
    struct worker_http *h = xnew(struct worker_http);
    h->loop = o->loop;
    h->token = o->token ? xstrdup(o->token) : NULL;
    h->organisation = o->organisation ? xstrdup(o->organisation) : NULL;
    struct http_server_opts opts = { .host = o->host,
                                     .port = o->port,
                                     .tls = o->tls,
                                     .on_request = on_request,
                                     .arg = h,
                                     .http2 = true };
    r = http_server_start(o->loop, &opts, &h->server, err);
    if (r < 0) {
        free_listener(h);
        return err_ctx(err, r, "worker's listener");
    }
    *ret = h;
    return 0;
}

uint16_t worker_http_port(const struct worker_http *h)
{
    return http_server_port(h->server);
}

void worker_http_serve(struct worker_http *h, struct invoker *invoker)
{
    h->invoker = invoker;
}

static void on_closed(void *arg)
{
    struct worker_http *h = arg;
    void (*done)(void *) = h->done;
    void *done_arg = h->arg;
    free_listener(h);
    if (done)
        done(done_arg);
}

void worker_http_close(struct worker_http *h, uint64_t grace_ms, void (*done)(void *arg), void *arg)
{
    h->done = done;
    h->arg = arg;
    http_server_close(h->server, grace_ms, on_closed, h);
}
