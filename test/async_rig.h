/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asynchronous calls with a gateway and functions that a test plays: a server that offers requests
 * to async's hooks as a gateway does (path /fn/NAMESPACE/NAME), a client that waits for answers,
 * and functions that answer what the test says.
 */
#pragma once

#include "test.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/sys.h"
#include "base/vec.h"
#include "fn/async/async_int.h"
#include "io/http.h"
#include "store_util.h"
#include "temp_dir.h"

#include <sys/stat.h>

struct played_call {
    struct exchange x;
    struct list node; /* in rig.calls: runs */
    struct defer turn;
    char *function, *method, *target, *id;
    struct headers headers;
    struct buf body;
    int canceled;
};

/* What the next calls are answered with, one after the other; the last one stays. */
struct played_answer {
    int status; /* 0: r */
    int r;
    const char *reason;
    struct str body;           /* p NULL: that of the request */
    bool hold;                 /* until the test ends it */
    const char *const *fields; /* name, value, ..., NULL */
    const char *id;            /* field ce-id; NULL: none */
    int refuse;                /* submit returns it */
};

struct rig {
    struct loop loop;
    char dir[TEMP_DIR_BYTES], path[96];
    struct async *async;
    struct fn_spec spec;
    struct http_server *server;
    struct http_client *client;
    struct list calls;
    size_t n_calls, n_running, n_running_most;
    struct played_answer answers[16];
    size_t n_answers, at_answer;
    const char *peer;
    bool unknown; /* no function is known */
    bool asks_for_tokens;
    size_t room, n_refused; /* of calls at a time; 0: any number */
    struct async_opts opts;
    /* Instead of `answers`, if set: what a call that begins is answered with. */
    struct played_answer (*decide)(const struct played_call *c);
    VEC(char *) order; /* functions of the calls, as they began */
};

struct answer {
    int status, r;
    struct headers headers;
    struct buf body;
    bool done;
};

/* ------------------------------------------------------------------ functions */

static inline void played_free(struct played_call *c)
{
    list_remove(&c->node);
    defer_cancel(&c->turn);
    free(c->function);
    free(c->method);
    free(c->target);
    free(c->id);
    headers_fini(&c->headers);
    buf_fini(&c->body);
    free(c);
}

static inline void played_end(struct rig *g, struct played_call *c, const struct played_answer *a)
{
    g->n_running--;
    if (a->status) {
        struct headers h = { 0 };
        (void)headers_addc(&h, "content-type", "application/x-test");
        (void)headers_addc(&h, "connection", "close");
        (void)headers_addc(&h, "x-of-function", c->function);
        for (const char *const *f = a->fields; f && *f; f += 2)
            CHECK_OK(headers_addc(&h, f[0], f[1]));
        if (a->id)
            CHECK_OK(headers_addc(&h, "ce-id", a->id));
        exchange_report_head(&c->x, a->status, &h);
        headers_fini(&h);
        struct str body = a->body.p ? a->body : buf_str(&c->body);
        for (size_t at = 0; at < body.n; at += 65536)
            exchange_report_data(&c->x, str_slice(body, at, at + 65536));
    }
    struct err err = { 0 };
    c->x.reason = c->canceled ? "Canceled" : a->reason ? a->reason : "";
    exchange_report_end(&c->x, c->canceled ? -ECANCELED : a->r, &err);
    played_free(c);
}

static struct rig *the_rig;

static inline struct played_answer next_answer(struct rig *g)
{
    if (g->n_answers == 0)
        return (struct played_answer){ .status = 200 };
    size_t at = MIN(g->at_answer, g->n_answers - 1);
    g->at_answer++;
    return g->answers[at];
}

static inline void on_played_turn(struct defer *d)
{
    struct played_call *c = container_of(d, struct played_call, turn);
    struct played_answer a = { .r = -ECANCELED };
    if (!c->canceled)
        a = the_rig->decide ? the_rig->decide(c) : next_answer(the_rig);
    if (!a.hold)
        played_end(the_rig, c, &a);
}

static inline void played_cancel(struct exchange *x)
{
    struct played_call *c = container_of(x, struct played_call, x);
    c->canceled = 1;
    defer_start(&the_rig->loop, &c->turn, on_played_turn);
}

static const struct exchange_ops played_ops = { .cancel = played_cancel };

static inline int played_submit(void *arg, struct str namespace, struct str name,
                                const struct invoke_request *req,
                                const struct exchange_events *events, void *events_arg,
                                struct exchange **ret, struct err *err)
{
    struct rig *g = arg;
    if (g->unknown)
        return err_set(err, -ENOENT, "no such function");
    if (g->room && g->n_running >= g->room) {
        g->n_refused++;
        return err_set(err, -EBUSY, "the queue is full");
    }
    size_t at = MIN(g->at_answer, g->n_answers - 1);
    if (g->n_answers > 0 && g->answers[at].refuse) {
        g->at_answer++;
        return err_set(err, g->answers[at].refuse, "refused");
    }
    struct played_call *c = xnew(struct played_call);
    c->x = (struct exchange){ &played_ops, events, events_arg, NULL };
    c->function = xasprintf(STR_FMT "/" STR_FMT, STR_ARG(namespace), STR_ARG(name));
    c->method = str_dup(req->method);
    c->target = str_dup(req->target);
    c->id = str_dup(req->call_id);
    CHECK_OK(headers_copy(&c->headers, req->headers));
    buf_init(&c->body, ASYNC_BODY_MAX);
    CHECK(req->body_is_whole && req->body.n == req->body_bytes);
    CHECK_OK(buf_add_str(&c->body, req->body));
    list_push_back(&g->calls, &c->node);
    g->n_calls++;
    g->n_running++;
    g->n_running_most = MAX(g->n_running_most, g->n_running);
    if (!g->decide)
        vec_push(&g->order, xstrdup(c->function));
    defer_start(&g->loop, &c->turn, on_played_turn);
    *ret = &c->x;
    return 0;
}

static inline const struct fn_spec *played_spec(void *arg, struct str namespace, struct str name)
{
    struct rig *g = arg;
    return g->unknown ? NULL : &g->spec;
}

static inline bool played_is_open(void *arg, struct str namespace, struct str name)
{
    return !((struct rig *)arg)->asks_for_tokens;
}

static inline const char *played_peer(void *arg, uint32_t owner)
{
    return ((struct rig *)arg)->peer;
}

static const struct async_functions_ops played_functions = { played_submit, played_spec,
                                                             played_is_open, played_peer };

/* The oldest call that is held. */
static inline struct played_call *rig_held(struct rig *g)
{
    return list_is_empty(&g->calls) ? NULL : list_first(&g->calls, struct played_call, node);
}

static inline void rig_answers(struct rig *g, size_t n, const struct played_answer *answers)
{
    memcpy(g->answers, answers, n * sizeof *answers);
    g->n_answers = n;
    g->at_answer = 0;
}

/* ------------------------------------------------------------------ gateway */

static inline void rig_on_request(struct http_exchange *x, const struct http_request *req,
                                  void *arg)
{
    struct rig *g = arg;
    struct gateway_async hooks = async_hooks(g->async);
    if (str_has_prefix(req->target, STR("/v1/"))) {
        if (!hooks.serve(hooks.arg, x, req))
            http_reply(x, 404, NULL, STR("no route"));
        return;
    }
    if (str_has_prefix(req->target, STR("/async-function/"))) {
        CHECK(hooks.take(hooks.arg, x, req, STR("shop"), STR("pay"), &g->spec));
        return;
    }
    struct str rest = str_slice(req->target, 4, req->target.n), namespace, name, tail;
    CHECK(str_has_prefix(req->target, STR("/fn/")) && str_cut(rest, '/', &namespace, &rest));
    (void)str_cut(rest, '/', &name, &tail);
    if (!hooks.take(hooks.arg, x, req, namespace, name, &g->spec))
        http_reply(x, 200, NULL, STR("at once"));
}

/* ------------------------------------------------------------------ life */

static inline void rig_open(struct rig *g)
{
    struct err err = { 0 };
    g->opts.loop = &g->loop;
    if (!g->opts.name)
        g->opts.name = "gateway-a";
    g->opts.path = g->path;
    if (async_open(&g->opts, &g->async, &err) < 0)
        TEST_FAIL("%s", err.text);
}

static inline void rig_run(struct rig *g)
{
    async_start(g->async, (struct async_functions){ &played_functions, g });
}

static inline void rig_init(struct rig *g)
{
    *g = (struct rig){ .n_calls = 0 };
    the_rig = g;
    CHECK_OK(loop_init(&g->loop, NULL));
    CHECK(temp_dir_make("async", g->dir));
    (void)snprintf(g->path, sizeof g->path, "%s/async.db", g->dir);
    list_init(&g->calls);
    g->spec = (struct fn_spec){ .body_max = ASYNC_BODY_MAX,
                                .queue_ms = 1000,
                                .request_ms = 1000,
                                .async = async_default_policy };
}

static inline void rig_serve(struct rig *g)
{
    struct http_server_opts s = { .on_request = rig_on_request, .arg = g };
    CHECK_OK(http_server_start(&g->loop, &s, &g->server, NULL));
    struct http_client_opts c = { .host = "127.0.0.1", .port = http_server_port(g->server) };
    CHECK_OK(http_client_new(&g->loop, &c, &g->client, NULL));
}

static inline void rig_start(struct rig *g)
{
    rig_init(g);
    rig_open(g);
    rig_run(g);
    rig_serve(g);
}

static inline void rig_on_done(void *arg)
{
    *(bool *)arg = true;
}

static inline void rig_turn(struct rig *g)
{
    (void)loop_turn(&g->loop, true);
}

/* Until cond holds; asserts that there is something to wait for. */
#define rig_until(g, cond)                                                                         \
    do {                                                                                           \
        while (!(cond))                                                                            \
            rig_turn(g);                                                                           \
    } while (0)

static inline void rig_close_async(struct rig *g)
{
    bool done = false;
    async_close(g->async, rig_on_done, &done);
    rig_until(g, done);
    g->async = NULL;
}

static inline void rig_close_http(struct rig *g)
{
    bool done = false;
    if (!g->server)
        return;
    http_client_close(g->client);
    http_server_close(g->server, 0, rig_on_done, &done);
    rig_until(g, done);
    g->server = NULL;
}

static inline void rig_fini(struct rig *g)
{
    rig_close_http(g);
    if (g->async)
        rig_close_async(g);
    while (loop_turn(&g->loop, false))
        ;
    CHECK(list_is_empty(&g->calls));
    loop_fini(&g->loop);
    vec_each (o, &g->order)
        free(*o);
    vec_fini(&g->order);
    temp_dir_remove(g->dir);
}

/* As after a restart: the same files, another process would see no more. */
static inline void rig_reopen(struct rig *g)
{
    rig_close_async(g);
    rig_open(g);
    rig_run(g);
}

/* ------------------------------------------------------------------ client */

static inline void answer_on_head(void *arg, int status, const struct headers *headers)
{
    struct answer *a = arg;
    a->status = status;
    CHECK_OK(headers_copy(&a->headers, headers));
}
static inline void answer_on_data(void *arg, struct str chunk)
{
    CHECK_OK(buf_add_str(&((struct answer *)arg)->body, chunk));
}
static inline void answer_on_end(void *arg, int r, const struct err *err)
{
    struct answer *a = arg;
    a->r = r;
    a->done = true;
}
static const struct exchange_events answer_events = { .on_head = answer_on_head,
                                                      .on_data = answer_on_data,
                                                      .on_end = answer_on_end };

static inline void answer_fini(struct answer *a)
{
    headers_fini(&a->headers);
    buf_fini(&a->body);
}

/* fields: "name", "value", ..., NULL */
static inline void rig_ask(struct rig *g, struct answer *a, const char *method, const char *target,
                           struct str body, ...)
{
    struct headers h = { 0 };
    va_list ap;
    va_start(ap, body);
    for (const char *name; (name = va_arg(ap, const char *));)
        CHECK_OK(headers_addc(&h, name, va_arg(ap, const char *)));
    va_end(ap);
    *a = (struct answer){ .status = 0 };
    buf_init(&a->body, 64 << 20);
    struct http_call_opts opts = { .method = str_of(method),
                                   .target = str_of(target),
                                   .headers = &h,
                                   .body = body,
                                   .events = &answer_events,
                                   .arg = a };
    struct exchange *call;
    CHECK_OK(http_call_start(g->client, &opts, &call, NULL));
    rig_until(g, a->done);
    headers_fini(&h);
    CHECK_OK(a->r);
}

/* An id that was acknowledged. */
static inline void rig_call(struct rig *g, char id[ASYNC_ID_TEXT], const char *target,
                            struct str body)
{
    struct answer a;
    rig_ask(g, &a, "POST", target, body, "x-faas-invocation-type", "Async", NULL);
    CHECK_INT(a.status, 202);
    struct str got = headers_get(&a.headers, "x-dormouse-call-id");
    CHECK_INT(got.n, ASYNC_ID_TEXT - 1);
    memcpy(id, got.p, got.n);
    id[got.n] = 0;
    answer_fini(&a);
}

static inline void rig_look(struct rig *g, struct answer *a, const char *id)
{
    char target[80];
    (void)snprintf(target, sizeof target, "/v1/async/%s", id);
    rig_ask(g, a, "GET", target, STR(""), NULL);
}

static inline struct async_stats rig_stats(struct rig *g)
{
    struct async_stats s;
    async_get_stats(g->async, &s);
    return s;
}

/* Nothing is written; calls may be held. */
static inline void rig_settle_store(struct rig *g)
{
    do
        (void)loop_turn(&g->loop, false);
    while (!loop_is_idle(&g->loop));
}

/* Nothing runs or is written; retries may still be due. */
static inline void rig_settle(struct rig *g)
{
    while (g->async->runs.n > 0 || !loop_is_idle(&g->loop))
        rig_turn(g);
}
