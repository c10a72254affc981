/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The in-process transport (client/transport.h): the request core without sockets.
 *
 * Callbacks of the transport never run before start() has returned, and cancel() only requests the
 * end: both use a deferred call, so that a callback may start and cancel calls while a watch hub
 * iterates over its watchers.
 */
#include "api/core.h"
#include "api/identity.h"
#include "api/request.h"
#include "client/watch_event.h"
#include "io/http.h"

#include <assert.h>
#include <errno.h>

enum { LOCAL_PENDING_HIGH_BYTES = 256 << 10 }; /* of a paused call; beyond, the core waits */

struct local_call {
    struct exchange x;
    struct api *api;
    struct request *rq;
    void (*on_event)(void *arg, const struct watch_event *ev);
    void *event_arg;
    struct defer defer;
    struct buf pending; /* while paused */
    bool started, paused, cancelled;
    bool ended; /* the core has finished */
    int end_r;
    bool was_full;
};

static void call_turn(struct defer *d);

static void call_later(struct local_call *c)
{
    defer_start(c->api->loop, &c->defer, call_turn);
}

static void sink_head(struct request *rq, int status, const struct headers *headers,
                      uint64_t body_n)
{
    (void)body_n;
    struct local_call *c = rq->sink_data;
    static const struct headers none;
    if (!c->cancelled)
        exchange_report_head(&c->x, status, headers ? headers : &none);
}

static bool sink_write(struct request *rq, struct str chunk)
{
    struct local_call *c = rq->sink_data;
    if (c->cancelled)
        return true;
    if (!c->paused && c->pending.n == 0) {
        exchange_report_data(&c->x, chunk);
        return true;
    }
    (void)buf_add_str(&c->pending, chunk);
    c->was_full = c->pending.n > LOCAL_PENDING_HIGH_BYTES;
    return !c->was_full;
}

static bool sink_event(struct request *rq, const struct watch_event *ev)
{
    struct local_call *c = rq->sink_data;
    if (c->cancelled)
        return true;
    if (!c->on_event || c->paused || c->pending.n)
        return sink_write(rq, str_n(ev->line.p, ev->line.n + 1));
    c->on_event(c->event_arg, ev);
    return true;
}

static size_t sink_pending(const struct request *rq)
{
    const struct local_call *c = rq->sink_data;
    return c->pending.n;
}

static void sink_finish(struct local_call *c, int r)
{
    c->ended = true;
    c->end_r = r;
    call_later(c);
}

static void sink_end(struct request *rq)
{
    struct local_call *c = rq->sink_data;
    sink_finish(c, c->pending.failed);
}

static void sink_abort(struct request *rq)
{
    sink_finish(rq->sink_data, -ECONNRESET);
}

/* The body came with the call. The core asks for it last, possibly after a step that waited. */
static void sink_read_body(struct request *rq, uint64_t max_bytes)
{
    (void)max_bytes;
    request_body_end(rq, 0);
}

static const struct sink_ops local_sink = {
    .head = sink_head,
    .write = sink_write,
    .event = sink_event,
    .pending = sink_pending,
    .end = sink_end,
    .abort = sink_abort,
    .read_body = sink_read_body,
};

static void call_finish(struct local_call *c, int r)
{
    struct err err = { 0 };
    assert(c->cancelled || (c->ended && c->pending.n == 0));
    if (r < 0)
        (void)err_sys(&err, r, "request in process");
    request_gone(c->rq);
    exchange_report_end(&c->x, r, r < 0 ? &err : NULL);
    assert(!list_is_linked(&c->defer.node)); /* no turn of a freed call */
    buf_fini(&c->pending);
    free(c);
}

static void call_begin(struct local_call *c)
{
    assert(!c->started && !c->ended);
    c->started = true;
    request_start(c->rq, c->rq->body.n > 0);
}

static void call_flush(struct local_call *c)
{
    struct buf out = c->pending;
    c->pending = BUF_INIT(out.max);
    if (out.n)
        exchange_report_data(&c->x, buf_str(&out));
    buf_fini(&out);
    if (c->was_full && !c->paused && !c->cancelled) {
        c->was_full = false;
        request_writable(c->rq);
    }
}

/* The only place that decides what to do next for this call. */
static void call_turn(struct defer *d)
{
    struct local_call *c = container_of(d, struct local_call, defer);
    if (c->cancelled) {
        call_finish(c, -ECANCELED);
        return;
    }
    if (!c->started)
        call_begin(c);
    else if (!c->paused && (c->pending.n || c->was_full))
        call_flush(c);
    if (c->ended && c->pending.n == 0 && !list_is_linked(&c->defer.node))
        call_finish(c, c->end_r);
}

static struct str copy_header(struct request *rq, const struct headers *h, const char *name)
{
    return h ? str_copy_arena(&rq->arena, headers_get(h, name)) : STR("");
}

static void copy_identity(struct request *rq, const struct kube_identity *id)
{
    static const struct str masters[] = { { "system:masters", 14 },
                                          { "system:authenticated", 20 } };
    if (!id) {
        rq->identity = (struct kube_identity){ .user = STR(API_OWN_USER),
                                               .groups = masters,
                                               .n_groups = ARRAY_LEN(masters) };
        return;
    }
    rq->identity = identity_copy(&rq->arena, id);
}

static struct local_call *call_of(struct exchange *x)
{
    return container_of(x, struct local_call, x);
}

static void local_pause(struct exchange *x)
{
    call_of(x)->paused = true;
}

static void local_resume(struct exchange *x)
{
    struct local_call *c = call_of(x);
    c->paused = false;
    if (c->pending.n || c->was_full || c->ended)
        call_later(c);
}

static void local_cancel(struct exchange *x)
{
    call_of(x)->cancelled = true;
    call_later(call_of(x));
}

static const struct exchange_ops local_ops = { .pause = local_pause,
                                               .resume = local_resume,
                                               .cancel = local_cancel };

int api_local_start(struct transport *t, const struct kube_request *req,
                    const struct exchange_events *events, void *arg, struct exchange **ret,
                    struct err *err)
{
    struct api *api = container_of(t, struct api, transport);
    if (api->closing)
        return err_set(err, -ECANCELED, "the API server is stopping");
    if (req->body.n > API_BODY_MAX_BYTES)
        return err_set(err, -EMSGSIZE, "request body is larger than %d bytes", API_BODY_MAX_BYTES);
    struct local_call *c = xnew(struct local_call);
    struct request *rq = request_new(api, &local_sink, c);
    *c = (struct local_call){ .x = { &local_ops, events, arg, NULL },
                              .api = api,
                              .rq = rq,
                              .on_event = req->on_event,
                              .event_arg = req->event_arg };
    c->pending = BUF_INIT(BUF_MAX_DEFAULT);
    rq->in_process = true;
    rq->method = str_copy_arena(&rq->arena, req->method);
    rq->target = str_copy_arena(&rq->arena, req->target);
    rq->accept = copy_header(rq, req->headers, "accept");
    rq->content_type = copy_header(rq, req->headers, "content-type");
    rq->user_agent = copy_header(rq, req->headers, "user-agent");
    if (rq->user_agent.n == 0)
        rq->user_agent = STR("dormouse"); /* becomes the field manager */
    rq->if_none_match = copy_header(rq, req->headers, "if-none-match");
    rq->peer = STR("in-process");
    copy_identity(rq, req->identity);
    (void)buf_add_str(&rq->body, req->body);
    call_later(c);
    *ret = &c->x;
    return 0;
}
