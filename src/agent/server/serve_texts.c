/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that are one text: pods, statistics, metrics, configuration, health. */
#include "agent/server/server_int.h"

#include "base/histogram.h"
#include "codec/json.h"

#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* The text is freed. */
static void reply_text(struct agent_call *c, const char *type, struct buf *text)
{
    if (buf_ok(text))
        agent_call_reply(c, 200, type, buf_str(text));
    else
        agent_call_refuse(c, 500, "the answer is too large");
    buf_fini(text);
}

/* ------------------------------------------------------------------ pods */

static void serve_pods(struct agent_call *c, bool running)
{
    struct buf b = BUF_INIT(AGENT_SERVER_TEXT_MAX);
    c->server->ops->pods(c->server->arg, running, &b);
    reply_text(c, "application/json", &b);
}

void agent_serve_pods(struct agent_call *c)
{
    serve_pods(c, false);
}

void agent_serve_running(struct agent_call *c)
{
    serve_pods(c, true);
}

/* ------------------------------------------------------------------ statistics */

static void reply_stats(struct agent_call *c, const struct agent_stats *s)
{
    struct buf b = BUF_INIT(AGENT_SERVER_TEXT_MAX);
    if (c->route->serve == agent_serve_summary) {
        if (s)
            agent_stats_summary(&b, s, url_query_bool(&c->url, "only_cpu_and_memory"));
        else
            agent_call_refuse(c, 500, "Internal Error: the node cannot be measured");
        if (s)
            reply_text(c, "application/json", &b);
    } else if (c->route->serve == agent_serve_cadvisor) {
        if (s)
            agent_stats_cadvisor(&b, s);
        reply_text(c, METRICS_TYPE, &b);
    } else {
        if (s)
            agent_stats_resource(&b, s);
        else
            agent_stats_resource_failed(&b);
        reply_text(c, METRICS_TYPE, &b);
    }
}

static void on_stats(void *arg, const struct agent_stats *s)
{
    struct agent_call *c = arg;
    c->waits_stats = false;
    if (c->x)
        reply_stats(c, s);
    else /* the client has left */
        (void)agent_call_release(c);
}

static void serve_stats(struct agent_call *c)
{
    struct err err = { 0 };
    struct agent_server *s = c->server;
    c->waits_stats = true;
    if (s->ops->stats(s->arg, on_stats, c, &err) >= 0)
        return;
    c->waits_stats = false;
    reply_stats(c, NULL);
}

void agent_serve_summary(struct agent_call *c)
{
    serve_stats(c);
}

void agent_serve_cadvisor(struct agent_call *c)
{
    serve_stats(c);
}

void agent_serve_resource(struct agent_call *c)
{
    serve_stats(c);
}

/* ------------------------------------------------------------------ metrics */

static void add_own(struct buf *to, const struct agent_server *s)
{
    metric_head(to, "dormouse_agent_http_requests_total", "counter",
                "Requests to the agent's server.");
    (void)buf_printf(to, "dormouse_agent_http_requests_total %llu\n",
                     (unsigned long long)s->n_requests);
    metric_head(to, "dormouse_agent_http_refused_total", "counter",
                "Requests to the agent's server that were refused.");
    (void)buf_printf(to, "dormouse_agent_http_refused_total %llu\n",
                     (unsigned long long)s->n_refused);
    metric_head(to, "dormouse_agent_streams", "gauge",
                "Remote commands and port forwardings that are open.");
    (void)buf_printf(to, "dormouse_agent_streams %zu\n", s->n_streams);
    metric_head(to, "dormouse_agent_logs_read", "gauge", "Logs that are read by clients.");
    (void)buf_printf(to, "dormouse_agent_logs_read %zu\n", s->n_logs);
}

void agent_serve_metrics(struct agent_call *c)
{
    struct agent_server *s = c->server;
    struct buf b = BUF_INIT(AGENT_SERVER_TEXT_MAX);
    add_own(&b, s);
    if (s->ops->metrics)
        s->ops->metrics(s->arg, &b);
    reply_text(c, METRICS_TYPE, &b);
}

void agent_serve_probes(struct agent_call *c)
{
    struct agent_server *s = c->server;
    struct buf b = BUF_INIT(AGENT_SERVER_TEXT_MAX);
    if (s->ops->probes)
        s->ops->probes(s->arg, &b);
    reply_text(c, METRICS_TYPE, &b);
}

/* ------------------------------------------------------------------ configuration, health */

void agent_serve_config(struct agent_call *c)
{
    struct agent_server *s = c->server;
    struct buf b = BUF_INIT(AGENT_SERVER_TEXT_MAX);
    (void)buf_add_cstr(&b, "{\"kubeletconfig\":");
    if (s->ops->config)
        s->ops->config(s->arg, &b);
    else
        (void)buf_add_cstr(&b, "{}");
    (void)buf_add_char(&b, '}');
    reply_text(c, "application/json", &b);
}

/* /healthz with everything, /healthz/ping and the like with one of them. */
void agent_serve_health(struct agent_call *c)
{
    struct agent_server *s = c->server;
    struct err err = { 0 };
    struct str one = agent_call_segment(c, 0);
    bool is_syncloop = one.n == 0 || str_is(one, "syncloop");
    if (one.n && !is_syncloop && !str_is(one, "ping") && !str_is(one, "log"))
        agent_call_refuse(c, 404, "404 page not found");
    else if (is_syncloop && s->ops->health && s->ops->health(s->arg, &err) < 0)
        agent_call_refuse(c, 500, "[-]syncloop failed: %s\nhealthz check failed", err_text(&err));
    else
        agent_call_reply(c, 200, "text/plain; charset=utf-8", STR("ok"));
}
