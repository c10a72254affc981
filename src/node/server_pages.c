/* SPDX-License-Identifier: Apache-2.0 */
/* The pages of the admin socket: status and metrics of all services, and what one of them shows. */
#include "node/server_impl.h"

#include "base/clock.h"
#include "base/version.h"
#include "codec/url.h"
#include "io/http.h"
#include "node/shutdown_page.h"
#include "node/trace_page.h"
#include "operator/host/describe.h"

#include <inttypes.h>
#include <unistd.h>

void server_metrics(struct server *s, struct buf *to)
{
    for (const struct service *row = server_services; row < server_services + N_SERVICES; row++)
        if (row->metrics && *server_slot(s, row))
            row->metrics(s, to);
}

static int render_metrics(void *arg, const struct url_target *target, struct buf *to)
{
    server_metrics(arg, to);
    return 200;
}

static int render_guests(void *arg, const struct url_target *target, struct buf *to)
{
    struct server *s = arg;
    if (s->host)
        host_guests_json(s->host, to);
    else
        buf_add_cstr(to, "[]");
    return 200;
}

static int render_status(void *arg, const struct url_target *target, struct buf *to)
{
    struct server *s = arg;
    struct host_counts n = { 0 };
    if (s->host)
        host_get_counts(s->host, &n);
    buf_printf(to,
               "{\"version\":\"%s\",\"pid\":%d,\"uptimeSeconds\":%" PRIu64
               ",\"operators\":%zu,\"guests\":%zu,"
               "\"awake\":%zu,\"asleep\":%zu,\"failed\":%zu,\"runners\":%u,\"wakes\":%" PRIu64
               ",\"activations\":%" PRIu64,
               version_text(), (int)getpid(), (clock_mono_ms() - s->started_ms) / 1000, n.operators,
               n.guests, n.awake, n.asleep, n.failed, n.runners, n.wakes, n.activations);
    for (const struct service *row = server_services; row < server_services + N_SERVICES; row++) {
        if (row->status && *server_slot(s, row)) {
            buf_add_char(to, ',');
            row->status(s, to);
        }
    }
    buf_add_cstr(to, "}\n");
    return 200;
}

static int render_functions(void *arg, const struct url_target *target, struct buf *to)
{
    struct server *s = arg;
    if (s->functions)
        functions_table(s->functions, to);
    else
        buf_add_cstr(to, "[]");
    return 200;
}

/* A client that may use the admin socket may also use functions through it. */
static bool serve_functions(void *arg, struct http_exchange *x, const struct http_request *req)
{
    struct server *s = arg;
    return s->functions && functions_serve(s->functions, x, req);
}

static bool serve_shutdown(void *arg, struct http_exchange *x, const struct http_request *req)
{
    struct server *s = arg;
    return shutdown_page_serve(s->agent, x, req);
}

#define NO_OPERATOR "there is no such operator here; 'dormouse guests' lists them"

static int render_operator(void *arg, const struct url_target *target, struct buf *to)
{
    struct server *s = arg;
    struct operator* o = s->host ? host_find(s->host, target) : NULL;
    if (!o && s->host && host_describe_refused(s->host, target, to))
        return 200;
    if (!o) {
        (void)buf_add_cstr(to, NO_OPERATOR);
        return 404;
    }
    operator_describe(o, loop_now_ms(&s->loop), to);
    return 200;
}

static void stream_trace(void *arg, const struct url_target *target, struct http_exchange *x)
{
    struct server *s = arg;
    uint64_t count = 1;
    struct str text = url_query_get(target, "count");
    struct operator* o = s->host ? host_find(s->host, target) : NULL;
    struct v1_trace *trace = o ? operator_trace(o) : NULL;
    if (text.n && parse_u64(text, 0, UINT32_MAX, &count) < 0)
        http_reply(x, 400, NULL, STR("count is no number"));
    else if (!o)
        http_reply(x, 404, NULL, STR(NO_OPERATOR));
    else if (!trace)
        http_reply(x, 404, NULL, STR("only operators of ABI v1 can be traced, once they run"));
    else
        trace_page_start(x, trace, count);
}

static void explain_pod(void *arg, const struct url_target *target, struct http_exchange *x)
{
    struct server *s = arg;
    if (s->scheduling)
        scheduling_explain(s->scheduling, target, x);
    else
        http_reply(x, 404, NULL, STR("there is no scheduler in this process"));
}

const struct admin_page server_pages[] = {
    { "/metrics", "text/plain; version=0.0.4", .render = render_metrics },
    { "/guests", "application/json", .render = render_guests },
    { "/status", "application/json", .render = render_status },
    { "/functions", "application/json", .render = render_functions },
    { "/operator", "application/json", .render = render_operator },
    { "/trace", .stream = stream_trace },
    { "/scheduler/explain", .stream = explain_pod },
    { .serve = serve_shutdown },
    { .serve = serve_functions },
    { .path = NULL }
};
