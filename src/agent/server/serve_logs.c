/* SPDX-License-Identifier: Apache-2.0 */
/* /containerLogs/NS/POD/CONTAINER */
#include "agent/server/server_int.h"

#include <errno.h>

enum { SECOND_US = 1000000 };

/* ------------------------------------------------------------------ the query */

/* 400: it cannot be read. 422: it can, and is not valid. 0: fine. */
static int read_number(const struct agent_call *c, const char *name, int64_t min, bool *ret_has,
                       uint64_t *ret)
{
    struct str text = url_query_get(&c->url, name);
    int64_t v;
    if (!text.p)
        return 0;
    if (parse_i64(text, INT64_MIN, INT64_MAX, &v) < 0)
        return 400;
    if (v < min)
        return 422;
    *ret_has = true;
    *ret = (uint64_t)v;
    return 0;
}

static int read_since(const struct agent_call *c, struct podlog_query *q)
{
    bool has_seconds = false;
    uint64_t seconds = 0;
    struct str time = url_query_get(&c->url, "sinceTime");
    int status = read_number(c, "sinceSeconds", 1, &has_seconds, &seconds);
    if (status == 0 && time.n && rfc3339_parse(time, &q->since_us) < 0)
        status = 400;
    if (status == 0 && time.n && has_seconds)
        status = 422;
    q->has_since = time.n || has_seconds;
    if (has_seconds)
        q->since_us = clock_wall_us() -
                      (int64_t)MIN(seconds, (uint64_t)INT64_MAX / SECOND_US / 2) * SECOND_US;
    return status;
}

static int read_stream(const struct agent_call *c, struct podlog_query *q)
{
    struct str stream = url_query_get(&c->url, "stream");
    q->no_stdout = str_is(stream, "Stderr");
    q->no_stderr = str_is(stream, "Stdout");
    bool is_one = q->no_stdout || q->no_stderr;
    if (stream.n && !is_one && !str_is(stream, "All"))
        return 422;
    return is_one && q->has_tail ? 422 : 0; /* as upstream: the tail is that of both */
}

static int read_query(const struct agent_call *c, struct podlog_query *q)
{
    struct str tail = url_query_get(&c->url, "tail"); /* of old clients; "all" is none */
    const char *name = tail.n ? "tail" : "tailLines";
    *q = (struct podlog_query){ .follow = url_query_bool(&c->url, "follow"),
                                .timestamps = url_query_bool(&c->url, "timestamps") };
    int status = str_is(tail, "all") ? 0 : read_number(c, name, 0, &q->has_tail, &q->tail_lines);
    if (status == 0)
        status = read_number(c, "limitBytes", 1, &q->has_limit, &q->limit_bytes);
    if (status == 0)
        status = read_since(c, q);
    return status ? status : read_stream(c, q);
}

/* ------------------------------------------------------------------ the answer */

/* A client that follows sees at once that it does. */
static void begin(void *arg)
{
    struct agent_call *c = arg;
    struct headers h = { 0 };
    assert(!c->has_head);
    c->has_head = true;
    (void)headers_addc(&h, "content-type", "text/plain");
    http_respond(c->x, 200, &h, HTTP_CHUNKED);
    headers_fini(&h);
}

static bool on_data(void *arg, struct str bytes)
{
    struct agent_call *c = arg;
    return http_write(c->x, bytes);
}

static void forget_log(struct agent_call *c)
{
    assert(c->has_log && c->server->n_logs > 0);
    c->has_log = false;
    c->reader = NULL;
    c->server->n_logs--;
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct agent_call *c = arg;
    forget_log(c);
    if (r < 0 && !c->has_head) {
        agent_call_refuse(c, 400, "%s", err_text(err));
    } else if (r < 0) {
        http_abort(c->x);
    } else {
        http_end(c->x);
    }
}

void agent_logs_gone(struct agent_call *c)
{
    if (!c->has_log)
        return;
    podlog_reader_cancel(c->reader);
    forget_log(c);
}

void agent_logs_writable(struct agent_call *c)
{
    if (c->reader)
        podlog_reader_resume(c->reader);
}

static void start_reader(struct agent_call *c, const struct agent_log *log,
                         const struct podlog_query *q)
{
    static const struct podlog_reader_events events = { .on_open = begin,
                                                        .on_data = on_data,
                                                        .on_end = on_end };
    c->has_log = true;
    c->server->n_logs++;
    c->reader = podlog_reader_start(c->server->loop, log->path, log->writer, q, &events, c);
}

void agent_serve_logs(struct agent_call *c)
{
    struct agent_server *s = c->server;
    struct err err = { 0 };
    struct podlog_query q;
    struct agent_log log = { 0 };
    struct str uid;
    const struct agent_ref ref = { .ns = agent_call_segment(c, 0),
                                   .pod = agent_call_segment(c, 1),
                                   .container = agent_call_segment(c, 2) };
    int status = read_query(c, &q);
    if (status) {
        agent_call_refuse(c, status, "{\"message\": \"%s\"}",
                          status == 400 ? "Unable to decode query." : "Invalid request.");
        return;
    }
    enum agent_found found = s->ops->find(s->arg, &ref, &uid);
    if (found == AGENT_NO_POD) {
        agent_call_refuse(c, 404, "pod \"" STR_FMT "\" does not exist", STR_ARG(ref.pod));
    } else if (found == AGENT_NO_CONTAINER) {
        agent_call_refuse(c, 404, "container \"" STR_FMT "\" not found in pod \"" STR_FMT "\"",
                          STR_ARG(ref.container), STR_ARG(ref.pod));
    } else if (s->n_logs >= AGENT_SERVER_LOGS_MAX) {
        agent_call_refuse(c, 429, "too many logs are read");
    } else if (s->ops->log(s->arg, &ref, url_query_bool(&c->url, "previous"), &log, &err) < 0) {
        agent_call_refuse(c, 400, "%s", err_text(&err));
    } else {
        start_reader(c, &log, &q);
        free(log.path);
    }
}
