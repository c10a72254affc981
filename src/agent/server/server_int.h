/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the agent inside server/: server.c admits them, the others answer. */
#pragma once

#include "agent/log/podlog_reader.h"
#include "agent/server/server.h"
#include "codec/url.h"
#include "io/http.h"

struct agent_server {
    struct loop *loop;
    struct http_server *http;
    struct tls_ctx *tls;
    char *ca;
    struct agent_access *access;
    const struct agent_server_ops *ops;
    void *arg;
    size_t n_streams, n_logs;
    struct list calls; /* struct agent_call */
    void (*done)(void *arg);
    void *done_arg;
    uint64_t n_requests, n_refused; /* for /metrics */
};

struct agent_call;

struct agent_route {
    const char *path;    /* the first segment, or "metrics/cadvisor" */
    size_t n_min, n_max; /* segments after it */
    bool may_post;       /* GET otherwise */
    void (*serve)(struct agent_call *c);
};

/* One request until it is answered, or until a stream takes its exchange. */
struct agent_call {
    struct list node;
    struct agent_server *server;
    struct http_exchange *x;
    const struct http_request *rq;
    struct arena arena;
    struct url_target url;
    const struct agent_route *route;
    size_t n_path; /* segments of the route's path */
    struct agent_check check;
    struct podlog_reader *reader; /* of a log */
    bool has_log, has_head;
    bool waits_stats; /* the call outlives its exchange until they are there */
};

/* ---- answers ---- */

void agent_call_reply(struct agent_call *c, int status, const char *type, struct str body);
/* A text with its line feed, as Go's http.Error() writes it. */
void agent_call_refuse(struct agent_call *c, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The exchange belongs to another owner now: the call is freed. Returns the exchange. */
struct http_exchange *agent_call_release(struct agent_call *c);
/* A segment after the route's path; "" when there is none. */
struct str agent_call_segment(const struct agent_call *c, size_t i);

/* ---- routes ---- */

void agent_serve_logs(struct agent_call *c);
void agent_serve_exec(struct agent_call *c);
void agent_serve_attach(struct agent_call *c);
void agent_serve_forward(struct agent_call *c);
void agent_serve_pods(struct agent_call *c);
void agent_serve_running(struct agent_call *c);
void agent_serve_summary(struct agent_call *c);
void agent_serve_metrics(struct agent_call *c);
void agent_serve_cadvisor(struct agent_call *c);
void agent_serve_resource(struct agent_call *c);
void agent_serve_probes(struct agent_call *c);
void agent_serve_config(struct agent_call *c);
void agent_serve_health(struct agent_call *c);
/* A client that left while its log was read. */
void agent_logs_gone(struct agent_call *c);
void agent_logs_writable(struct agent_call *c);
