/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that travel by HTTP: to sandboxes with an address, to the listener of a worker in
 * another process (worker/worker_http.h), to other gateways. One client for each address and
 * protocol, shared by all sandboxes behind it.
 */
#include "fn/gateway/gateway_int.h"

#include <errno.h>
#include <stdio.h>

enum {
    UPSTREAM_CONNECTIONS = 1024, /* to one address; further calls wait in the client */
    UPSTREAM_USER_TIMEOUT_MS = 10000,
    UPSTREAM_CONNECT_MS = 5000,
    UPSTREAM_PING_MS = 5000 /* HTTP/2, while a call runs and no byte comes */
};

struct upstream {
    struct invoker invoker;
    struct gateway *g;
    struct http_client *client;
    struct list sandboxes;
    struct str key; /* in gateway.upstreams */
    unsigned refs;
    bool by_worker, http2;
    bool is_kept;     /* of a gateway: its connections outlast single calls */
    bool is_refusing; /* while on_end says so */
};

struct upstream_call { /* a struct invocation, to callers */
    struct upstream *up;
    struct http_call *call;
    const struct invoke_ops *ops;
    void *arg;
    int refused;     /* a worker's listener says how the invocation ended */
    char reason[64]; /* and why */
};

struct invoker *upstream_invoker(struct upstream *u)
{
    return &u->invoker;
}

bool upstream_is_refusing(const struct upstream *u)
{
    return u->is_refusing;
}

struct str upstream_address(const struct upstream *u)
{
    return str_slice(u->key, 2, u->key.n);
}

struct list *upstream_sandboxes(struct upstream *u)
{
    return &u->sandboxes;
}

/* ---------------------------------------------------------------- answers */

/* What a worker's listener says instead of an answer: see worker_http.h. */
static bool is_workers_error(struct upstream_call *x, int status, const struct headers *h)
{
    static const struct {
        const char *name;
        int code;
    } codes[] = { { "ECONNREFUSED", -ECONNREFUSED },
                  { "EBUSY", -EBUSY },
                  { "ETIMEDOUT", -ETIMEDOUT },
                  { "E_TRAP", E_TRAP },
                  { "E_PARSE", E_PARSE },
                  { "E_LIMIT", E_LIMIT } };
    struct str name =
        x->up->by_worker && status == 502 ? headers_get(h, "x-dormouse-error") : STR_NULL;
    if (!name.p)
        return false;
    x->refused = -ECONNRESET;
    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        if (str_is(name, codes[i].name))
            x->refused = codes[i].code;
    struct str reason = headers_get(h, "x-dormouse-reason");
    (void)snprintf(x->reason, sizeof x->reason, STR_FMT, STR_ARG(reason));
    return true;
}

static void on_head(void *arg, int status, const struct headers *h)
{
    struct upstream_call *x = arg;
    if (!is_workers_error(x, status, h))
        x->ops->on_head(x->arg, status, h);
}

static void on_data(void *arg, struct str chunk)
{
    struct upstream_call *x = arg;
    if (!x->refused && x->ops->on_data)
        x->ops->on_data(x->arg, chunk);
}

static void on_trailers(void *arg, const struct headers *trailers)
{
    struct upstream_call *x = arg;
    if (!x->refused && x->ops->on_trailers)
        x->ops->on_trailers(x->arg, trailers);
}

static void on_writable(void *arg)
{
    struct upstream_call *x = arg;
    if (x->ops->on_writable)
        x->ops->on_writable(x->arg);
}

/* Whether it may be tried elsewhere depends on what the peer can have seen. */
static int code_of(const struct upstream_call *x, int r)
{
    if (r == 0 || r == -ECANCELED || r == E_PARSE || r == E_LIMIT)
        return r;
    if (http_call_was_sent(x->call))
        return -ECONNRESET;
    return http_call_reset_code(x->call) >= 0 ? -EBUSY : -ECONNREFUSED;
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct upstream_call *x = arg;
    int code = x->refused ? x->refused : code_of(x, r);
    x->up->is_refusing = !x->refused && code == -ECONNREFUSED;
    x->ops->on_end(x->arg, code, x->reason[0] ? x->reason : NULL, err);
    x->up->is_refusing = false;
    upstream_unref(x->up);
    free(x);
}

static const struct http_call_ops call_ops = { .on_head = on_head,
                                               .on_data = on_data,
                                               .on_trailers = on_trailers,
                                               .on_writable = on_writable,
                                               .on_end = on_end };

/* ---------------------------------------------------------------- requests */

/* For the worker, who takes them out again. */
static int add_for_worker(const struct upstream *u, struct headers *h,
                          const struct invoke_request *req)
{
    char number[24];
    uint64_t now = loop_now_ms(u->g->loop);
    (void)snprintf(number, sizeof number, "%llu", (unsigned long long)req->sandbox);
    int r = headers_addc(h, "x-dormouse-sandbox", number);
    if (r == 0)
        r = headers_add(h, STR("x-dormouse-call-id"), req->call_id);
    if (r == 0)
        r = headers_add(h, STR("x-dormouse-peer"), req->peer);
    if (r == 0 && req->is_tls)
        r = headers_addc(h, "x-dormouse-scheme", "https");
    if (r == 0 && req->script_name.n)
        r = headers_add(h, STR("x-dormouse-script-name"), req->script_name);
    if (r == 0 && req->response_max) {
        (void)snprintf(number, sizeof number, "%llu", (unsigned long long)req->response_max);
        r = headers_addc(h, "x-dormouse-response-max", number);
    }
    if (r == 0 && u->g->worker_token)
        r = headers_addc(h, "x-dormouse-token", u->g->worker_token);
    if (r == 0 && req->deadline_ms) {
        uint64_t left = req->deadline_ms > now ? req->deadline_ms - now : 1;
        (void)snprintf(number, sizeof number, "%llu", (unsigned long long)left);
        r = headers_addc(h, "x-dormouse-timeout-ms", number);
    }
    return r;
}

static int start(struct invoker *v, const struct invoke_request *req, const struct invoke_ops *ops,
                 void *arg, struct invocation **ret, struct err *err)
{
    struct upstream *u = container_of(v, struct upstream, invoker);
    /* The gateway's own record, which it fills anew for each attempt. */
    struct headers *h = (struct headers *)req->headers;
    int r = u->by_worker ? add_for_worker(u, h, req) : 0;
    if (r < 0)
        return err_sys(err, r, "fields for the worker");
    bool streams = req->has_body && !req->body_is_whole;
    const struct http_call_opts opts = { .method = req->method,
                                         .target = req->target,
                                         .headers = h,
                                         .body = req->body,
                                         .ops = &call_ops,
                                         .streams = streams,
                                         .body_n = req->body_bytes == UINT64_MAX ? HTTP_CHUNKED
                                                                                 : req->body_bytes,
                                         .upgrade = !u->http2 && headers_get(h, "upgrade").p };
    struct upstream_call *x = xnew(struct upstream_call);
    struct http_call_opts with = opts;
    *x = (struct upstream_call){ .up = u, .ops = ops, .arg = arg };
    with.arg = x;
    r = http_call_start(u->client, &with, &x->call, err);
    if (r < 0) {
        free(x);
        return r;
    }
    u->refs++;
    *ret = (struct invocation *)x;
    return 0;
}

static struct http_call *http_call_of(struct invocation *x)
{
    return ((struct upstream_call *)x)->call;
}

static bool write_body(struct invoker *v, struct invocation *x, struct str chunk)
{
    return http_call_write(http_call_of(x), chunk);
}

static void end_body(struct invoker *v, struct invocation *x, const struct headers *trailers)
{
    http_call_end_body(http_call_of(x), trailers);
}

static void pause_answer(struct invoker *v, struct invocation *x)
{
    http_call_pause(http_call_of(x));
}

static void resume_answer(struct invoker *v, struct invocation *x)
{
    http_call_resume(http_call_of(x));
}

static void cancel(struct invoker *v, struct invocation *x)
{
    http_call_cancel(http_call_of(x));
}

static const struct invoker_ops invoker_ops = { .start = start,
                                                .write = write_body,
                                                .end_body = end_body,
                                                .pause = pause_answer,
                                                .resume = resume_answer,
                                                .cancel = cancel };

/* ---------------------------------------------------------------- clients */

/* "host:port", "[v6]:port" into a copy of the host and a port. */
static int split_address(const char *address, char **ret_host, uint16_t *ret_port, struct err *err)
{
    const char *colon = strrchr(address, ':');
    uint64_t port;
    if (!colon || parse_u64(str_of(colon + 1), 1, UINT16_MAX, &port) < 0 || colon == address)
        return err_set(err, E_INVALID, "'%s' is no host:port", address);
    struct str host = str_n(address, (size_t)(colon - address));
    if (host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']')
        host = str_slice(host, 1, host.n - 1);
    *ret_host = str_dup(host);
    *ret_port = (uint16_t)port;
    return 0;
}

static int open_client(struct upstream *u, const struct upstream_opts *o, struct err *err)
{
    struct gateway *g = u->g;
    bool is_unix = strncmp(o->address, "unix:", 5) == 0;
    scoped(free_scoped) char *host = NULL;
    struct http_client_opts opts = { .unix_path = is_unix ? o->address + 5 : NULL,
                                     .max_connections = UPSTREAM_CONNECTIONS,
                                     .connect_timeout_ms = UPSTREAM_CONNECT_MS,
                                     .http2 = u->http2,
                                     .tls = o->is_gateway  ? g->opts.gateway_tls
                                            : o->by_worker ? g->opts.worker_tls
                                                           : NULL,
                                     .ping_ms = u->http2 ? UPSTREAM_PING_MS : 0,
                                     .user_timeout_ms = is_unix ? 0 : UPSTREAM_USER_TIMEOUT_MS };
    if (!is_unix) {
        int r = split_address(o->address, &host, &opts.port, err);
        if (r < 0)
            return r;
        opts.host = host;
    }
    return http_client_new(g->loop, &opts, &u->client, err);
}

int upstream_ref(struct gateway *g, const struct upstream_opts *o, struct upstream **ret,
                 struct err *err)
{
    bool http2 = o->protocol != FN_HTTP1;
    scoped(free_scoped) char *key = xasprintf("%c%c%s", http2 ? '2' : '1',
                                              o->is_gateway  ? 'g'
                                              : o->by_worker ? 'w'
                                                             : 's',
                                              o->address);
    struct upstream *u = map_get(&g->upstreams, str_of(key));
    if (!u) {
        u = xnew(struct upstream);
        *u = (struct upstream){
            .invoker = { .ops = &invoker_ops }, .g = g, .by_worker = o->by_worker, .http2 = http2
        };
        list_init(&u->sandboxes);
        int r = open_client(u, o, err);
        if (r < 0) {
            free(u);
            return r;
        }
        (void)map_put(&g->upstreams, str_of(key), u);
        u->key = map_find(&g->upstreams, str_of(key))->key;
        u->is_kept = o->is_gateway;
        u->refs = u->is_kept;
    }
    u->refs++;
    *ret = u;
    return 0;
}

void upstream_unref(struct upstream *u)
{
    if (!u || --u->refs)
        return;
    (void)map_del(&u->g->upstreams, u->key);
    http_client_close(u->client);
    free(u);
}

bool upstream_is_member(const struct upstream *u)
{
    const struct members *m = &u->g->members;
    for (size_t i = 0; i < m->n; i++)
        if (str_is(upstream_address(u), m->at[i].address))
            return true;
    return false;
}

void upstreams_follow_members(struct gateway *g)
{
    VEC(struct upstream *) gone = { 0 };
    map_each (e, &g->upstreams) {
        struct upstream *u = e->value;
        if (u->is_kept && !upstream_is_member(u))
            vec_push(&gone, u);
    }
    vec_each (u, &gone) {
        (*u)->is_kept = false;
        upstream_unref(*u);
    }
    vec_fini(&gone);
}
