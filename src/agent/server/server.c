/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's HTTP server; see server.h. */
#include "agent/server/server_int.h"

#include "base/log.h"

#include <errno.h>

/* ------------------------------------------------------------------ calls */

static void call_free(struct agent_call *c)
{
    agent_check_fini(&c->check);
    list_remove(&c->node);
    arena_fini(&c->arena);
    free(c);
}

struct http_exchange *agent_call_release(struct agent_call *c)
{
    struct http_exchange *x = c->x;
    call_free(c);
    return x;
}

struct str agent_call_segment(const struct agent_call *c, size_t i)
{
    return c->n_path + i < c->url.n_segments ? c->url.segments[c->n_path + i] : STR("");
}

void agent_call_reply(struct agent_call *c, int status, const char *type, struct str body)
{
    struct headers h = { 0 };
    (void)headers_addc(&h, "content-type", type);
    http_reply(c->x, status, &h, body);
    headers_fini(&h);
}

void agent_call_refuse(struct agent_call *c, int status, const char *fmt, ...)
{
    struct buf b = BUF_INIT(16 << 10);
    struct headers h = { 0 };
    va_list ap;
    va_start(ap, fmt);
    (void)buf_vprintf(&b, fmt, ap);
    va_end(ap);
    (void)buf_add_char(&b, '\n');
    c->server->n_refused++;
    (void)headers_addc(&h, "content-type", "text/plain; charset=utf-8");
    (void)headers_addc(&h, "x-content-type-options", "nosniff");
    if (status == 401)
        (void)headers_addc(&h, "www-authenticate", "Bearer");
    if (status == 405)
        (void)headers_addc(&h, "allow", c->route->may_post ? "GET, POST" : "GET");
    http_reply(c->x, status, &h, buf_str(&b));
    headers_fini(&h);
    buf_fini(&b);
}

static void on_gone(struct http_exchange *x, int r)
{
    struct agent_call *c = http_exchange_data(x);
    c->x = NULL;
    agent_logs_gone(c);
    agent_check_fini(&c->check);
    if (!c->waits_stats)
        call_free(c);
}

static void on_writable(struct http_exchange *x)
{
    agent_logs_writable(http_exchange_data(x));
}

static const struct http_exchange_ops call_ops = { .on_writable = on_writable, .on_gone = on_gone };

/* ------------------------------------------------------------------ routes */

static const struct agent_route routes[] = {
    { "containerLogs", 3, 3, false, agent_serve_logs },
    { "exec", 3, 4, true, agent_serve_exec },
    { "attach", 3, 4, true, agent_serve_attach },
    { "portForward", 2, 3, true, agent_serve_forward },
    { "pods", 0, 0, false, agent_serve_pods },
    { "runningpods", 0, 0, false, agent_serve_running },
    { "stats/summary", 0, 0, true, agent_serve_summary },
    { "metrics/cadvisor", 0, 0, false, agent_serve_cadvisor },
    { "metrics/resource", 0, 0, false, agent_serve_resource },
    { "metrics/probes", 0, 0, false, agent_serve_probes },
    { "metrics", 0, 0, false, agent_serve_metrics },
    { "configz", 0, 0, false, agent_serve_config },
    { "healthz", 0, 1, false, agent_serve_health },
};

/* Segments of the route's path at the front of the URL; 0: they are others. */
static size_t match(const struct agent_route *r, const struct url_target *url)
{
    struct str rest = str_of(r->path), word;
    size_t n = 0;
    bool more = true;
    while (more) {
        more = str_cut(rest, '/', &word, &rest);
        if (n == url->n_segments || !str_eq(url->segments[n], word))
            return 0;
        n++;
    }
    return url->n_segments - n >= r->n_min && url->n_segments - n <= r->n_max ? n : 0;
}

static bool find_route(struct agent_call *c)
{
    for (size_t i = 0; i < ARRAY_LEN(routes); i++) {
        c->n_path = match(&routes[i], &c->url);
        if (c->n_path == 0)
            continue;
        c->route = &routes[i];
        return true;
    }
    return false;
}

static bool is_method_allowed(const struct agent_call *c)
{
    return str_is(c->rq->method, "GET") || (c->route->may_post && str_is(c->rq->method, "POST"));
}

static void serve(struct agent_call *c)
{
    if (!find_route(c))
        agent_call_refuse(c, 404, "404 page not found");
    else if (!is_method_allowed(c))
        agent_call_refuse(c, 405, "Method Not Allowed");
    else
        c->route->serve(c);
}

/* ------------------------------------------------------------------ admission */

static void refuse_forbidden(struct agent_call *c)
{
    const struct agent_check *k = &c->check;
    struct buf subs = BUF_INIT(256);
    for (size_t i = 0; i < k->n_asked; i++)
        (void)buf_printf(&subs, "%s" STR_FMT, i ? " " : "", STR_ARG(k->asked[i]));
    agent_call_refuse(c, 403,
                      "Forbidden (user=" STR_FMT ", verb=" STR_FMT
                      ", resource=nodes, subresource(s)=[%s])",
                      STR_ARG(str_slice(k->who->user, 0, 256)), STR_ARG(k->verb), buf_cstr(&subs));
    buf_fini(&subs);
}

static void admit(struct agent_call *c, enum agent_verdict v)
{
    switch (v) {
    case AGENT_PENDING:
        return;
    case AGENT_ALLOWED:
        serve(c);
        return;
    case AGENT_UNAUTHORIZED:
        agent_call_refuse(c, 401, "Unauthorized");
        return;
    case AGENT_FORBIDDEN:
        refuse_forbidden(c);
        return;
    case AGENT_BUSY:
        agent_call_refuse(c, 429, "too many reviews are under way");
        return;
    case AGENT_UNKNOWN:
        agent_call_refuse(c, 500,
                          "Authorization error (user=" STR_FMT ", verb=" STR_FMT
                          ", resource=nodes, subresource=" STR_FMT ")",
                          STR_ARG(str_slice(c->check.who->user, 0, 256)), STR_ARG(c->check.verb),
                          STR_ARG(c->check.asked[c->check.at]));
        return;
    }
}

static void on_checked(struct agent_check *k, enum agent_verdict v)
{
    admit(container_of(k, struct agent_call, check), v);
}

static void start_check(struct agent_call *c)
{
    struct tls_peer peer;
    bool has_peer = http_exchange_peer(c->x, &c->arena, &peer);
    c->check.done = on_checked;
    c->check.verb = agent_access_verb(c->rq->method);
    /* Decoded, as routes are found. */
    const char *first = c->url.n_segments ? str_dup_arena(&c->arena, c->url.segments[0]) : "";
    c->check.n_asked = agent_access_subresources(str_of(first), c->check.asked);
    admit(c, agent_check_start(c->server->access, &c->check, has_peer ? &peer : NULL,
                               headers_get(c->rq->headers, "authorization")));
}

static void on_request(struct http_exchange *x, const struct http_request *rq, void *arg)
{
    struct agent_server *s = arg;
    struct agent_call *c = xnew(struct agent_call);
    *c = (struct agent_call){ .server = s, .x = x, .rq = rq, .arena = { .max_bytes = 1 << 20 } };
    s->n_requests++;
    list_push_back(&s->calls, &c->node);
    http_exchange_set(x, &call_ops, c);
    if (url_parse(&c->arena, rq->target, &c->url, NULL) < 0)
        agent_call_refuse(c, 400, "Bad Request");
    else
        start_check(c);
}

/* ------------------------------------------------------------------ life */

static void server_free(struct agent_server *s)
{
    agent_access_free(s->access);
    tls_ctx_free(s->tls);
    free(s->ca);
    free(s);
}

int agent_server_start(const struct agent_server_opts *opts, struct agent_server **ret,
                       struct err *err)
{
    struct agent_server *s = xnew(struct agent_server);
    *s = (struct agent_server){ .loop = opts->loop,
                                .access = agent_access_new(opts->loop, opts->reviewer, opts->node),
                                .ca = str_dup(opts->ca),
                                .ops = opts->ops,
                                .arg = opts->arg };
    list_init(&s->calls);
    int r = tls_ctx_new_server(opts->cert, opts->key, opts->ca, &s->tls, err);
    if (r >= 0) {
        const struct http_server_opts http = { .host = opts->host,
                                               .port = opts->port,
                                               .tls = s->tls,
                                               .http2 = true,
                                               .on_request = on_request,
                                               .arg = s };
        r = http_server_start(opts->loop, &http, &s->http, err);
    }
    if (r < 0) {
        server_free(s);
        return r;
    }
    *ret = s;
    return 0;
}

uint16_t agent_server_port(const struct agent_server *s)
{
    return http_server_port(s->http);
}

int agent_server_set_tls(struct agent_server *s, struct str cert, struct str key, struct str ca,
                         struct err *err)
{
    bool same = ca.n == 0 || str_is(ca, s->ca);
    int r = tls_ctx_set_server(s->tls, cert, key, same ? str_of(s->ca) : ca, err);
    if (r < 0 || same)
        return r;
    free(s->ca);
    s->ca = str_dup(ca);
    agent_access_forget(s->access);
    return 0;
}

static void on_closed(void *arg)
{
    struct agent_server *s = arg;
    void (*done)(void *) = s->done;
    void *done_arg = s->done_arg;
    list_each (node, &s->calls) /* their exchanges are gone; statistics are awaited */
        list_entry(node, struct agent_call, node)->server = NULL;
    while (!list_is_empty(&s->calls))
        list_remove(s->calls.next);
    server_free(s);
    if (done)
        done(done_arg);
}

void agent_server_close(struct agent_server *s, uint64_t grace_ms, void (*done)(void *arg),
                        void *arg)
{
    s->done = done;
    s->done_arg = arg;
    http_server_close(s->http, grace_ms, on_closed, s);
}
