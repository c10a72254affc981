/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests from inside this process: asynchronous calls, triggers. The request is copied, and every
 * early end is reported on a later turn.
 */
#include "fn/gateway/call.h"

#include <errno.h>

static struct gateway_call *call_of(struct exchange *x)
{
    return container_of(x, struct gateway_call, inside);
}

static bool write_body(struct exchange *x, struct str chunk)
{
    struct gateway_call *c = call_of(x);
    if (c->sm.at == CALL_OVER)
        return true;
    return call_take_body(c, chunk);
}

static void end_body(struct exchange *x, const struct headers *trailers)
{
    struct gateway_call *c = call_of(x);
    if (c->sm.at == CALL_OVER || call_has_whole_body(c))
        return;
    call_body_move(c, CALL_BODY_WHOLE);
    if (c->invocation)
        exchange_end_body(c->invocation, NULL); /* callers in this process have no trailers */
}

static void pause_answer(struct exchange *x)
{
    struct gateway_call *c = call_of(x);
    c->is_inside_paused = true;
    if (c->invocation)
        exchange_pause(c->invocation);
}

static void resume_answer(struct exchange *x)
{
    struct gateway_call *c = call_of(x);
    c->is_inside_paused = false;
    if (c->invocation)
        exchange_resume(c->invocation);
}

static void cancel(struct exchange *x)
{
    struct gateway_call *c = call_of(x);
    if (c->sm.at == CALL_OVER)
        return;
    stats_answered(c->g, c, STATS_CLIENT_GONE, gateway_now_us());
    call_leave_queue(c);
    call_report_end(c, -ECANCELED, "Canceled");
    call_over(c);
}

static const struct exchange_ops inside_ops = { .write = write_body,
                                                .end_body = end_body,
                                                .pause = pause_answer,
                                                .resume = resume_answer,
                                                .cancel = cancel };

int gateway_submit(struct gateway *g, struct str namespace, struct str name,
                   const struct invoke_request *req, const struct exchange_events *events,
                   void *arg, struct exchange **ret, struct err *err)
{
    struct gateway_function *f = directory_find(g, namespace, name);
    const struct fn_spec *spec = f ? gateway_function_spec(g, f) : NULL;
    size_t member = 0;
    uint32_t revision;
    if (!f)
        return err_set(err, -ENOENT, "no function '" STR_FMT "/" STR_FMT "'", STR_ARG(namespace),
                       STR_ARG(name));
    if (!spec)
        return err_set(err, E_INVALID, "the spec of '" STR_FMT "' cannot be read", STR_ARG(f->key));
    if (req->body.n > GATEWAY_SUBMIT_BODY_BYTES && !req->body_is_whole)
        return err_set(err, -EMSGSIZE, "the beginning of a body");
    bool is_owner = directory_owns(g, f, &member);
    struct fields asked = { .tag = STR("") };
    if (req->headers)
        fields_scan(req->headers, &asked);
    if (split_choose(&f->split, &g->random, spec, asked.tag, req->headers, f->latest, &revision) <
        0)
        return err_set(err, -ENOENT, "no revision of '" STR_FMT "' has the tag '" STR_FMT "'",
                       STR_ARG(f->key), STR_ARG(asked.tag));
    if (is_owner) {
        const struct gateway_pool *p = f->pools;
        while (p && p->revision != revision)
            p = p->next;
        if (p && p->queue.n >= p->queue.max)
            return err_set(err, -EBUSY, "the queue of '" STR_FMT "' is full", STR_ARG(f->key));
    }
    struct gateway_call *c = call_new(g);
    c->inside = (struct exchange){ &inside_ops, events, arg, NULL };
    c->from.arena = xnew(struct arena);
    struct headers *h = arena_new(c->from.arena, struct headers);
    int r = req->headers ? headers_copy(h, req->headers) : 0;
    /* A whole body may be as long as the function allows; others are written piece by piece. */
    c->body.kept.max = MAX(c->body.kept.max, req->body.n + 1);
    if (r >= 0)
        r = buf_add_str(&c->body.kept, req->body);
    c->from.headers = h;
    c->from.method = str_copy_arena(c->from.arena, req->method);
    c->from.target = str_copy_arena(c->from.arena, req->target);
    c->from.peer_address = str_copy_arena(c->from.arena, req->peer);
    fields_scan(h, &c->from.fields);
    c->from.fields.is_async = false;
    c->from.fields.host =
        str_of(arena_printf(c->from.arena, STR_FMT "." STR_FMT, STR_ARG(name), STR_ARG(namespace)));
    if (r >= 0)
        r = headers_set(h, STR("host"), c->from.fields.host);
    if (r < 0) {
        call_move(c, CALL_OVER);
        call_free(c);
        return err_sys(err, r, "copy a request");
    }
    fields_scan(h, &c->from.fields); /* the list may have moved */
    c->body.at = !req->has_body       ? CALL_BODY_NONE
                 : req->body_is_whole ? CALL_BODY_WHOLE
                                      : CALL_BODY_READING;
    c->body.bytes = req->body_bytes;
    c->from.is_tls = req->is_tls;
    if (req->call_id.n && req->call_id.n < sizeof c->from.call_id)
        memcpy(c->from.call_id, req->call_id.p, req->call_id.n);
    else
        call_id_make(c);
    call_use_spec(c, spec);
    call_use_function(c, f, revision);
    *ret = &c->inside;
    if (is_owner) {
        call_use_pool(c, f);
        call_place(c);
    } else {
        call_forward(c, member);
    }
    return 0;
}
