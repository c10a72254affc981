/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a request.
 *
 *     NEW ----------------> QUEUED --room--> RUNNING --head--> ANSWERING --> OVER
 *      |                    ^ |  ^              | `----101---> TUNNEL --------^
 *      `-small-> BUFFERING -' |  `----retry-----'
 *                             `--> NEW: it leaves the queue    and from every state to OVER
 *
 * From NEW and BUFFERING a request goes directly to RUNNING where a sandbox has room, or where
 * another gateway owns the function.
 *
 * BUFFERING: a body of known, small length is read before the request takes a sandbox, so that a
 * slow client holds no sandbox. Other bodies stay with the client until the sandbox is assigned.
 * OVER: the client has its answer or has left. The record is freed when neither the exchange nor
 * the invocation can call back any more.
 *
 * The body of the request has states of its own:
 *
 *     UNREAD --sandbox assigned--> READING <--back-pressure--> PAUSED
 *                                     `--end--> WHOLE            READING also for a tunnel's bytes
 *
 * Every attempt ends in attempt_ended(). This function gives the room in the sandbox back, and the
 * oldest waiting request takes it.
 */
#include "fn/gateway/call.h"

#include <errno.h>
#include <stdio.h>

enum { CALL_KEEP_BYTES = 4096 }; /* of fields, and of a body, in a record that waits for the next */

static const struct sm_state call_table[] = {
    [CALL_NEW] = { "new", EDGE(CALL_BUFFERING) | EDGE(CALL_QUEUED) | EDGE(CALL_RUNNING) |
                              EDGE(CALL_OVER) },
    [CALL_BUFFERING] = { "buffering", EDGE(CALL_QUEUED) | EDGE(CALL_RUNNING) | EDGE(CALL_OVER) },
    [CALL_QUEUED] = { "queued", EDGE(CALL_NEW) | EDGE(CALL_RUNNING) },
    [CALL_RUNNING] = { "running", EDGE(CALL_QUEUED) | EDGE(CALL_RUNNING) | EDGE(CALL_ANSWERING) |
                                      EDGE(CALL_TUNNEL) | EDGE(CALL_OVER) },
    [CALL_ANSWERING] = { "answering", EDGE(CALL_OVER) },
    [CALL_TUNNEL] = { "tunnel", EDGE(CALL_OVER) },
    [CALL_OVER] = { "over", 0 },
};

static const struct sm_state call_body_table[] = {
    [CALL_BODY_NONE] = { "none", EDGE(CALL_BODY_READING) }, /* of a tunnel */
    [CALL_BODY_UNREAD] = { "unread", EDGE(CALL_BODY_READING) },
    [CALL_BODY_READING] = { "reading", EDGE(CALL_BODY_PAUSED) | EDGE(CALL_BODY_WHOLE) },
    [CALL_BODY_PAUSED] = { "paused", EDGE(CALL_BODY_READING) | EDGE(CALL_BODY_WHOLE) },
    [CALL_BODY_WHOLE] = { "whole", EDGE(CALL_BODY_READING) }, /* of a tunnel */
};

/* The only function that changes the state of a call. */
void call_move(struct gateway_call *c, enum call_at to)
{
    bool is_linked = list_is_linked(&c->waiting.node);
    sm_move(&c->sm, to);
    assert(is_linked == (to == CALL_QUEUED));
    switch (to) {
    case CALL_NEW:
        assert(!c->invocation && !c->sandbox && !c->peer);
        break;
    case CALL_BUFFERING:
        assert(c->x && c->pool && c->body.at == CALL_BODY_UNREAD);
        break;
    case CALL_QUEUED:
        assert(c->pool && !c->invocation && !c->sandbox && !c->peer);
        break;
    case CALL_RUNNING:
        assert(!c->sandbox != !c->peer && c->invoker && !c->invocation);
        break;
    case CALL_ANSWERING:
    case CALL_TUNNEL:
        assert(c->invocation && (c->x || c->inside.events));
        break;
    case CALL_OVER:
        break;
    }
}

void call_body_move(struct gateway_call *c, enum call_body_at to)
{
    assert(call_body_table[c->body.at].next & EDGE(to));
    assert(c->sm.at != CALL_OVER);
    c->body.at = to;
}

/* The head of the answer has been sent, and the answer has not ended. */
static bool call_is_answering(const struct gateway_call *c)
{
    return c->sm.at == CALL_ANSWERING || c->sm.at == CALL_TUNNEL;
}

/* ---------------------------------------------------------------- records */

static void on_tick(struct timer *t);

struct gateway_call *call_new(struct gateway *g)
{
    struct gateway_call *c = g->calls.idle.n ? g->calls.idle.p[--g->calls.idle.n] : NULL;
    if (!c) {
        c = xnew(struct gateway_call);
        buf_init(&c->body.kept, GATEWAY_SUBMIT_BODY_BYTES + GATEWAY_KEEP_BYTES);
    }
    assert(!c->g && !c->pool && !c->x && !c->invocation);
    c->g = g;
    c->times.arrived_us = gateway_now_us();
    c->attempt.deadline_ms = c->answer.left = UINT64_MAX;
    c->attempt.moved_ms = loop_now_ms(g->loop);
    sm_init(&c->sm, call_table, CALL_NEW);
    list_push_back(&g->calls.live, &c->live);
    g->calls.n_live++;
    return c;
}

void call_id_make(struct gateway_call *c)
{
    struct rng r = rng_fork(c->g->call_seed, ++c->g->n_calls_ever, 0);
    fields_hex(c->from.call_id, rng_next(&r));
    c->from.call_id[16] = '\0';
}

/* Keep what the next one can use: the memory of its fields and of a small body. */
void call_free(struct gateway_call *c)
{
    struct gateway *g = c->g;
    assert(c->sm.at == CALL_OVER && !list_is_linked(&c->waiting.node));
    assert(!c->invocation && !c->sandbox && !c->peer && !c->x);
    assert(g->calls.n_live > 0);
    list_remove(&c->live);
    g->calls.n_live--;
    if (c->pool)
        gateway_pool_unref(g, c->pool);
    if (c->from.arena) {
        headers_fini((struct headers *)c->from.headers);
        arena_fini(c->from.arena);
        free(c->from.arena);
    }
    headers_reset(&c->answer.fields);
    buf_reset(&c->body.kept);
    if (c->answer.fields.cap > CALL_KEEP_BYTES)
        headers_fini(&c->answer.fields);
    if (c->body.kept.cap > CALL_KEEP_BYTES || g->calls.idle.n >= GATEWAY_IDLE_CALLS) {
        buf_fini(&c->body.kept);
        buf_init(&c->body.kept, GATEWAY_SUBMIT_BODY_BYTES + GATEWAY_KEEP_BYTES);
    }
    if (g->calls.idle.n >= GATEWAY_IDLE_CALLS) {
        headers_fini(&c->answer.fields);
        free(c);
    } else {
        struct headers fields = c->answer.fields;
        struct buf kept = c->body.kept;
        *c = (struct gateway_call){ .answer = { .fields = fields }, .body = { .kept = kept } };
        vec_push(&g->calls.idle, c);
    }
    if (gateway_is_leaving(g) && g->calls.n_live == 0)
        gateway_check_stopped(g);
}

void call_settle(struct gateway_call *c)
{
    if (c->sm.at == CALL_OVER && !c->invocation && !c->x && !c->end.later.node.next)
        call_free(c);
}

void call_use_spec(struct gateway_call *c, const struct fn_spec *spec)
{
    c->revision.queue_ms = (uint32_t)MIN(spec->queue_ms, (uint64_t)UINT32_MAX);
    c->revision.request_ms = (uint32_t)MIN(spec->request_ms, (uint64_t)UINT32_MAX);
    c->revision.idle_ms = (uint32_t)MIN(spec->idle_ms, (uint64_t)UINT32_MAX);
    c->revision.answer_max = spec->response_max;
    c->revision.body_max = spec->body_max;
}

void call_use_function(struct gateway_call *c, const struct gateway_function *f, uint32_t revision)
{
    memcpy(c->function_key, f->key.p, MIN(f->key.n, sizeof c->function_key - 1));
    c->function_key[MIN(f->key.n, sizeof c->function_key - 1)] = 0;
    c->revision.number = revision;
    if (c->g->trace)
        c->times.found_us = gateway_now_us();
}

void call_use_pool(struct gateway_call *c, struct gateway_function *f)
{
    assert(!c->pool && !c->peer);
    c->pool = gateway_pool_get(c->g, f, c->revision.number);
    c->pool->n_calls++;
    c->pool->arrived++;
}

/* ---------------------------------------------------------------- deadlines */

static uint64_t call_due(const struct gateway_call *c)
{
    switch ((enum call_at)c->sm.at) {
    case CALL_QUEUED:
        return c->waiting.due_ms;
    case CALL_RUNNING:
    case CALL_ANSWERING:
    case CALL_TUNNEL:
        return c->revision.idle_ms
                   ? MIN(c->attempt.deadline_ms, c->attempt.moved_ms + c->revision.idle_ms)
                   : c->attempt.deadline_ms;
    case CALL_NEW:
    case CALL_BUFFERING: /* the server has deadlines for these */
    case CALL_OVER:
        return UINT64_MAX;
    }
    return UINT64_MAX;
}

/* One timer for all calls, armed for the earliest; the deadline may have moved when it fires. */
static void tick_by(struct gateway *g, uint64_t due_ms)
{
    if (due_ms == UINT64_MAX || (timer_is_armed(&g->calls.tick) && g->calls.tick.due_ms <= due_ms))
        return;
    uint64_t now = loop_now_ms(g->loop);
    timer_start(g->loop, &g->calls.tick, due_ms > now ? due_ms - now : 0, on_tick);
}

/* ---------------------------------------------------------------- to the client */

/* On a later turn, since the failure may have been found inside a call of the submitter. */
static void on_later(struct defer *d)
{
    struct gateway_call *c = container_of(d, struct gateway_call, end.later);
    assert(c->sm.at == CALL_OVER && c->end.code < 0);
    struct err err = { 0 };
    err_set(&err, c->end.code, "%s", c->end.reason);
    c->end.later.node.next = NULL;
    c->inside.reason = c->end.reason;
    if (c->inside.events)
        exchange_report_end(&c->inside, c->end.code, &err);
    call_settle(c);
}

void call_report_end(struct gateway_call *c, int code, const char *reason)
{
    assert(c->inside.events && code < 0 && !c->end.later.node.next);
    c->end.code = code;
    c->end.reason = reason;
    defer_start(c->g->loop, &c->end.later, on_later);
}

/* -EBUSY: not now; a function that cannot start is broken instead. */
static int code_of(const struct gateway_refusal *why)
{
    if (str_is(str_of(why->reason), "CannotStart") ||
        str_is(str_of(why->reason), "InvalidFunction"))
        return -ECONNRESET;
    switch (why->status) {
    case 404:
        return -ENOENT;
    case 503:
        return -EBUSY;
    case 504:
        return -ETIMEDOUT;
    default:
        return -ECONNRESET;
    }
}

void call_leave_queue(struct gateway_call *c)
{
    if (c->sm.at != CALL_QUEUED)
        return;
    queue_remove(&c->pool->queue, &c->waiting);
    load_changed(c->g, c->pool, 0, -1);
    call_move(c, CALL_NEW);
}

void call_over(struct gateway_call *c)
{
    call_move(c, CALL_OVER);
    if (c->invocation)
        exchange_cancel(c->invocation);
}

/* Send an error response, or cut a response that has begun. */
void call_fail(struct gateway_call *c, const struct gateway_refusal *why, const char *text)
{
    struct gateway *g = c->g;
    bool has_begun = call_is_answering(c);
    assert(c->sm.at != CALL_OVER);
    call_leave_queue(c);
    stats_answered(g, c, has_begun ? 502 : why->status, gateway_now_us());
    if (has_begun)
        g->stats.n_aborted++;
    if (c->x && has_begun)
        http_abort(c->x);
    else if (c->x)
        refusal_send(c->x, c->from.fields.is_grpc, why, c->from.call_id, text);
    if (c->inside.events)
        call_report_end(c, code_of(why), why->reason);
    call_over(c);
}

static void call_end(struct gateway_call *c)
{
    assert(call_is_answering(c) && !c->invocation);
    stats_answered(c->g, c, c->attempt.status, gateway_now_us());
    call_move(c, CALL_OVER);
    if (c->x)
        http_end(c->x);
    else if (c->inside.events)
        exchange_report_end(&c->inside, 0, NULL);
}

/* ---------------------------------------------------------------- an attempt */

static void on_head(void *arg, int status, const struct headers *h);
static void on_data(void *arg, struct str chunk);
static void on_trailers(void *arg, const struct headers *trailers);
static void on_writable(void *arg);
static void on_end(void *arg, int r, const struct err *err);
static void attempt_ended(struct gateway_call *c, int r, const char *reason, const struct err *err);

static const struct exchange_events attempt_events = { .on_head = on_head,
                                                       .on_data = on_data,
                                                       .on_trailers = on_trailers,
                                                       .on_writable = on_writable,
                                                       .on_end = on_end };

static int make_fields(struct gateway_call *c, char trace[FIELDS_TRACE_BYTES])
{
    bool has_trace = fields_is_trace(c->from.fields.trace);
    if (!has_trace)
        fields_make_trace(&c->g->random, trace);
    const struct fields_add add = { .peer = c->from.peer_address,
                                    .prefix = c->peer ? STR("") : c->from.prefix,
                                    .call_id = c->from.arena && c->from.fields.call_id.n
                                                   ? c->from.fields.call_id
                                                   : str_of(c->from.call_id),
                                    .trace = has_trace ? NULL : trace,
                                    .is_tls = c->from.is_tls,
                                    .add_host = c->peer || c->sandbox->upstream,
                                    .upgrade = c->from.wants_upgrade,
                                    .is_trusted = c->from.is_forwarded };
    headers_reset(&c->answer.fields);
    if (!c->peer)
        return fields_for_sandbox(&c->answer.fields, c->from.headers, &c->from.fields, &add);
    int r = fields_for_gateway(&c->answer.fields, c->from.headers, &c->from.fields, &add);
    return r < 0 ? r
                 : headers_addc(&c->answer.fields, "x-dormouse-forwarded-by",
                                c->g->dir.members.secret);
}

/* Request the rest of the body from the client. */
static void ask_for_body(struct gateway_call *c)
{
    if (!c->x)
        return;
    if (c->body.at == CALL_BODY_UNREAD) {
        call_body_move(c, CALL_BODY_READING);
        if (c->from.fields.is_grpc || c->revision.idle_ms)
            http_let_body_idle(c->x);
        http_read_body(c->x, c->revision.body_max);
    } else if (c->body.at == CALL_BODY_PAUSED) {
        call_body_move(c, CALL_BODY_READING);
        http_resume_body(c->x);
    }
}

/* c->sandbox or c->peer is set. */
static void attempt_start(struct gateway_call *c)
{
    struct gateway *g = c->g;
    char trace[FIELDS_TRACE_BYTES];
    struct err err = { 0 };
    uint64_t now_ms = loop_now_ms(g->loop);
    c->times.started_us = gateway_now_us();
    c->attempt.is_lost = false;
    c->attempt.moved_ms = now_ms;
    c->attempt.deadline_ms = c->revision.request_ms ? now_ms + c->revision.request_ms : UINT64_MAX;
    call_move(c, CALL_RUNNING);
    tick_by(g, call_due(c));
    int r = make_fields(c, trace);
    if (r < 0)
        (void)err_sys(&err, r, "fields of the request");
    struct str target = str_slice(c->from.target, c->peer ? 0 : c->from.prefix.n, c->from.target.n);
    char rooted[HTTP_URI_MAX_BYTES + 1];
    if (target.n == 0) {
        target = STR("/");
    } else if (target.p[0] == '?') { /* "/fn/a/b?c": the function sees "/?c" */
        size_t n = MIN(target.n, sizeof rooted - 1);
        rooted[0] = '/';
        memcpy(rooted + 1, target.p, n);
        target = str_n(rooted, n + 1);
    }
    const struct invoke_request req = { .sandbox = c->sandbox ? c->sandbox->id : 0,
                                        .method = c->from.method,
                                        .target = target,
                                        .authority = c->from.fields.host,
                                        .headers = &c->answer.fields,
                                        .peer = c->from.peer_address,
                                        .is_tls = c->from.is_tls,
                                        .has_body = c->body.at != CALL_BODY_NONE,
                                        .body_bytes = c->body.bytes,
                                        .body = buf_str(&c->body.kept),
                                        .body_is_whole = call_has_whole_body(c),
                                        .call_id = str_of(c->from.call_id),
                                        .deadline_ms = c->attempt.deadline_ms == UINT64_MAX
                                                           ? 0
                                                           : c->attempt.deadline_ms,
                                        .response_max = c->revision.answer_max,
                                        .script_name = c->from.prefix };
    if (r >= 0)
        r = invoke_start(c->invoker, &req, &attempt_events, c, &c->invocation, &err);
    headers_reset(&c->answer.fields);
    if (r < 0) {
        c->invocation = NULL;
        attempt_ended(c, r, "NotStarted", &err);
        return;
    }
    if (c->is_inside_paused)
        exchange_pause(c->invocation);
    ask_for_body(c);
}

static void run_in(struct gateway_call *c, struct balance_place *place)
{
    c->sandbox = container_of(place, struct gateway_sandbox, place);
    assert(c->sandbox->pool == c->pool && place->running > 0);
    c->attempt.last_sandbox = c->sandbox->id;
    c->invoker = c->sandbox->invoker;
    attempt_start(c);
}

void gateway_pool_hand_off(struct gateway *g, struct gateway_pool *p)
{
    assert(p->queued == p->queue.n);
    if (p->is_handing || p->queue.n == 0)
        return;
    p->is_handing = true;
    p->n_calls++;
    uint64_t offered_us = g->trace ? gateway_now_us() : 0;
    while (p->queue.n) {
        struct balance_place *place = balance_take(&p->balance);
        if (!place)
            break;
        struct queue_item *i = queue_pop(&p->queue);
        load_changed(g, p, 1, -1);
        struct gateway_call *c = container_of(i, struct gateway_call, waiting);
        assert(c->sm.at == CALL_QUEUED && c->pool == p);
        c->times.offered_us = offered_us;
        run_in(c, place);
    }
    p->is_handing = false;
    gateway_pool_unref(g, p);
}

static void refuse_queue_full(struct gateway_call *c)
{
    static const struct gateway_refusal full = { 503, "QueueFull", 1 };
    call_fail(c, &full, "too many requests wait for this function");
}

static void fail_as(struct gateway_call *c, const struct gateway_failure *f)
{
    const struct gateway_refusal why = { 503, "CannotStart", 5 };
    char text[600];
    (void)snprintf(text, sizeof text, "%s: %s", f->reason, f->message);
    call_fail(c, &why, text);
}

/* Start it in a sandbox, else append it to the queue. */
void call_place(struct gateway_call *c)
{
    struct gateway *g = c->g;
    struct gateway_pool *p = c->pool;
    assert(p && c->sm.at != CALL_QUEUED && !c->sandbox && !c->peer && !c->invocation);
    static const struct gateway_refusal gone = { 404, "UnknownFunction", 0 };
    if (!p->fn) {
        call_fail(c, &gone, "the function was deleted");
        return;
    }
    c->times.queued_us = gateway_now_us();
    c->times.offered_us = 0;
    c->attempt.is_cold = p->n_sandboxes == 0;
    struct balance_place *place = p->queue.n ? NULL : balance_take(&p->balance);
    if (place) {
        load_changed(g, p, 1, 0);
        run_in(c, place);
        return;
    }
    const struct gateway_failure *f =
        p->n_sandboxes == 0 ? gateway_function_failure(p->fn, p->revision) : NULL;
    if (f && f->is_permanent) {
        fail_as(c, f);
        return;
    }
    c->waiting.due_ms = loop_now_ms(g->loop) + c->revision.queue_ms;
    if (!queue_push(&p->queue, &c->waiting)) {
        refuse_queue_full(c);
        return;
    }
    call_move(c, CALL_QUEUED);
    load_changed(g, p, 0, 1);
    tick_by(g, c->waiting.due_ms);
}

static bool is_idempotent(struct str method)
{
    static const char *const methods[] = { "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE" };
    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        if (str_is(method, methods[i]))
            return true;
    return false;
}

/*
 * Once, while no byte of an answer has been passed on, the copy of the body is complete, and either
 * nothing was sent or the method is idempotent. Refused connections do not count, up to a limit:
 * each removes a sandbox or a gateway from the choice, and a lost worker may have many.
 */
static bool can_retry(const struct gateway_call *c, int r)
{
    if (c->sm.at != CALL_RUNNING || c->body.is_partial || (c->pool && !c->pool->fn))
        return false;
    if (r == -ECONNREFUSED)
        return c->attempt.n_refused < GATEWAY_REFUSALS_MAX;
    bool may_repeat = r == -EBUSY || ((r == -ECONNRESET || r == -EPIPE || r == E_EOF) &&
                                      is_idempotent(c->from.method));
    return may_repeat && !c->attempt.is_retried;
}

static void note_retry(struct gateway_call *c, int r)
{
    if (r == -ECONNREFUSED)
        c->attempt.n_refused++;
    else
        c->attempt.is_retried = true;
    c->g->stats.n_retries++;
}

/* In another sandbox if one has room, else first in the queue. */
static void retry(struct gateway_call *c, struct gateway_sandbox *failed, int r)
{
    struct gateway *g = c->g;
    struct gateway_pool *p = c->pool;
    assert(failed->pool == p && c->sm.at == CALL_RUNNING && !c->sandbox);
    note_retry(c, r);
    bool was_in = balance_has(&failed->place);
    if (was_in)
        balance_remove(&p->balance, &failed->place);
    struct balance_place *place = balance_take(&p->balance);
    if (was_in)
        balance_add(&p->balance, &failed->place);
    if (place) {
        load_changed(g, p, 1, 0);
        run_in(c, place);
        return;
    }
    uint64_t due = loop_now_ms(g->loop) + c->revision.queue_ms;
    c->waiting.due_ms = c->waiting.due_ms ? MIN(due, c->waiting.due_ms) : due;
    c->waiting.due_ms = MAX(c->waiting.due_ms, loop_now_ms(g->loop) + 1000);
    queue_push_front(&p->queue, &c->waiting);
    call_move(c, CALL_QUEUED);
    load_changed(g, p, 0, 1);
    tick_by(g, c->waiting.due_ms);
}

static struct gateway_refusal refusal_of(int r, const char *reason)
{
    if (r == -ETIMEDOUT)
        return (struct gateway_refusal){ 504, reason ? reason : "RequestTimeout", 0 };
    if (r == -EBUSY)
        return (struct gateway_refusal){ 503, reason ? reason : "WorkerBusy", 1 };
    if (r == -ECONNREFUSED)
        return (struct gateway_refusal){ 502, "SandboxRefused", 1 };
    if (r == E_LIMIT)
        return (struct gateway_refusal){ 502, reason ? reason : "HeadTooLarge", 0 };
    if (r == E_PARSE)
        return (struct gateway_refusal){ 502, reason ? reason : "MalformedHead", 0 };
    if (reason && strcmp(reason, "ModuleUnavailable") == 0)
        return (struct gateway_refusal){ 503, reason, 1 };
    return (struct gateway_refusal){ 502, reason ? reason : "SandboxBroke", 0 };
}

static void route_again(struct gateway_call *c);

/* It refused a connection: other gateways own its functions for a while. */
static void suspect(struct gateway *g, const struct upstream *peer)
{
    for (size_t i = 0; i < g->dir.members.n; i++) {
        struct gateway_member *m = &g->dir.members.at[i];
        if (!str_is(upstream_address(peer), m->address))
            continue;
        m->suspect_until_ms = loop_now_ms(g->loop) + GATEWAY_SUSPECT_MS;
        g->dir.members_seen++;
        /* Compute owners again when the suspicion ends. */
        timer_start(g->loop, &g->dir.trust, GATEWAY_SUSPECT_MS, gateway_on_trust);
    }
}

/* Of a forwarded call. */
static void forward_ended(struct gateway_call *c, int r, const struct err *err)
{
    static const struct gateway_refusal lost = { 502, "GatewayLost", 1 };
    if (c->attempt.is_lost && r == -ECANCELED)
        r = -ECONNRESET;
    bool again = c->sm.at != CALL_OVER && r < 0 && can_retry(c, r);
    if (again)
        suspect(c->g, c->peer);
    upstream_unref(c->peer);
    c->peer = NULL;
    if (c->sm.at == CALL_OVER)
        return;
    if (r == 0 && call_is_answering(c)) {
        call_end(c);
    } else if (again) {
        note_retry(c, r);
        route_again(c);
    } else {
        call_fail(c, &lost, err ? err_text(err) : "the gateway of this function");
    }
}

static void attempt_ended(struct gateway_call *c, int r, const char *reason, const struct err *err)
{
    struct gateway *g = c->g;
    struct gateway_sandbox *s = c->sandbox;
    struct gateway_pool *p = c->pool;
    assert(c->sm.at == CALL_RUNNING || call_is_answering(c) || c->sm.at == CALL_OVER);
    assert(!s != !c->peer && (!s || s->pool == p));
    c->invocation = NULL;
    c->sandbox = NULL;
    c->attempt.is_paused = false;
    if (!s) {
        forward_ended(c, r, err);
        call_settle(c);
        return;
    }
    assert(p->running > 0 && s->place.running > 0 && p->n_calls > 0);
    p->n_calls++; /* the pool outlives the call */
    load_changed(g, p, -1, 0);
    p->finished++;
    p->duration_us += gateway_now_us() - c->times.started_us;
    if (r == -ECONNREFUSED)
        gateway_sandbox_eject(g, s);
    if (c->attempt.is_lost && r == -ECANCELED)
        r = -ECONNRESET, reason = "SandboxLost";
    bool has_begun = call_is_answering(c);
    if (r == 0 && (!has_begun || (c->answer.left && c->answer.left != UINT64_MAX)))
        r = E_PARSE, reason = has_begun ? "AnswerCutShort" : "MalformedHead";
    if (c->sm.at == CALL_OVER) {
        /* the client has left, or has its answer */
    } else if (r == 0) {
        call_end(c);
    } else if (can_retry(c, r)) {
        retry(c, s, r);
    } else {
        struct gateway_refusal why = refusal_of(r, reason);
        call_fail(c, &why, err && err->text[0] ? err->text : err_strerror(r));
    }
    gateway_sandbox_left(g, s);
    call_settle(c);
    gateway_pool_hand_off(g, p);
    gateway_pool_unref(g, p);
}

/* ---------------------------------------------------------------- the answer */

static const struct gateway_refusal malformed = { 502, "MalformedHead", 0 };
static const struct gateway_refusal too_large = { 502, "ResponseTooLarge", 0 };

static bool has_body_with(const struct gateway_call *c, int status)
{
    return !str_is(c->from.method, "HEAD") && status != 204 && status != 304;
}

static void on_head(void *arg, int status, const struct headers *h)
{
    struct gateway_call *c = arg;
    struct gateway *g = c->g;
    if (c->sm.at == CALL_OVER)
        return;
    assert(c->sm.at == CALL_RUNNING && c->invocation);
    c->times.head_us = gateway_now_us();
    c->attempt.moved_ms = loop_now_ms(g->loop);
    bool is_upgrade = status == 101 && c->from.wants_upgrade && c->x;
    uint64_t length;
    headers_reset(&c->answer.fields);
    if ((!is_upgrade && (status < 200 || status > 599)) ||
        fields_for_client(&c->answer.fields, h, is_upgrade, c->peer != NULL, &length) < 0) {
        call_fail(c, &malformed, "the sandbox's answer");
        return;
    }
    c->attempt.status = status;
    if (c->revision.answer_max && length != UINT64_MAX && length > c->revision.answer_max &&
        has_body_with(c, status)) {
        call_fail(c, &too_large, "the answer is longer than spec.limits.responseBytes");
        return;
    }
    buf_reset(&c->body.kept); /* no retry any more */
    c->body.is_partial = true;
    call_move(c, is_upgrade ? CALL_TUNNEL : CALL_ANSWERING);
    if (c->inside.events) {
        /* without the fields that a function must not set */
        exchange_report_head(&c->inside, status, &c->answer.fields);
        return;
    }
    if (!c->peer) /* else the owner has added it */
        (void)headers_set(&c->answer.fields, STR("x-dormouse-call-id"), str_of(c->from.call_id));
    if (is_upgrade) {
        c->attempt.deadline_ms = UINT64_MAX; /* only idleness ends a tunnel */
        http_upgrade(c->x, &c->answer.fields);
        if (call_has_whole_body(c))
            call_body_move(c, CALL_BODY_READING);
        http_read_body(c->x, UINT64_MAX);
        return;
    }
    /* A gRPC answer that consists of its trailers alone must end with its head. */
    if (c->from.fields.is_grpc && headers_get(h, "grpc-status").p)
        length = 0;
    if (has_body_with(c, status))
        c->answer.left = length;
    http_respond(c->x, status, &c->answer.fields, length == UINT64_MAX ? HTTP_CHUNKED : length);
}

static void on_data(void *arg, struct str chunk)
{
    struct gateway_call *c = arg;
    if (c->sm.at == CALL_OVER)
        return;
    c->attempt.moved_ms = loop_now_ms(c->g->loop);
    c->answer.seen += chunk.n;
    if (c->sm.at == CALL_RUNNING || (c->answer.left != UINT64_MAX && chunk.n > c->answer.left)) {
        call_fail(c, &malformed, "the answer is longer than its content-length");
        return;
    }
    if (c->revision.answer_max && c->sm.at != CALL_TUNNEL &&
        c->answer.seen > c->revision.answer_max) {
        call_fail(c, &too_large, "the answer is longer than spec.limits.responseBytes");
        return;
    }
    if (c->answer.left != UINT64_MAX)
        c->answer.left -= chunk.n;
    if (c->inside.events) {
        exchange_report_data(&c->inside, chunk);
        return;
    }
    if (!http_write(c->x, chunk) && !c->attempt.is_paused) {
        c->attempt.is_paused = true;
        exchange_pause(c->invocation);
    }
}

static void on_trailers(void *arg, const struct headers *trailers)
{
    struct gateway_call *c = arg;
    if (!call_is_answering(c))
        return;
    headers_reset(&c->answer.fields);
    if (fields_trailers(&c->answer.fields, trailers, c->peer != NULL) < 0)
        return;
    if (c->x)
        http_trailers(c->x, &c->answer.fields);
    else if (c->inside.events)
        exchange_report_trailers(&c->inside, &c->answer.fields);
}

static void on_writable(void *arg)
{
    struct gateway_call *c = arg;
    if (c->sm.at == CALL_OVER)
        return;
    c->attempt.moved_ms = loop_now_ms(c->g->loop);
    if (c->inside.events) {
        exchange_report_writable(&c->inside);
        return;
    }
    if (c->body.at == CALL_BODY_PAUSED) {
        call_body_move(c, CALL_BODY_READING);
        http_resume_body(c->x);
    }
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct gateway_call *c = arg;
    attempt_ended(c, r, exchange_reason(c->invocation), err);
}

/* ---------------------------------------------------------------- the request's body */

/* false: full. */
bool call_take_body(struct gateway_call *c, struct str chunk)
{
    assert(c->body.at == CALL_BODY_READING || c->body.at == CALL_BODY_PAUSED);
    c->attempt.moved_ms = loop_now_ms(c->g->loop);
    bool room = true;
    if (c->invocation)
        room = exchange_write(c->invocation, chunk);
    if (c->body.is_partial)
        return room;
    if (c->invocation && c->body.kept.n + chunk.n > GATEWAY_KEEP_BYTES) {
        buf_fini(&c->body.kept);
        buf_init(&c->body.kept, GATEWAY_SUBMIT_BODY_BYTES + GATEWAY_KEEP_BYTES);
        c->body.is_partial = true;
        return room;
    }
    if (buf_add_str(&c->body.kept, chunk) < 0)
        c->body.is_partial = true; /* the submitter ignored back-pressure */
    return room && (c->invocation || c->body.kept.n < GATEWAY_KEEP_BYTES);
}

static void x_on_body(struct http_exchange *x, struct str chunk)
{
    struct gateway_call *c = http_exchange_data(x);
    if (c->sm.at == CALL_OVER)
        return;
    if (!call_take_body(c, chunk) && c->sm.at != CALL_BUFFERING) {
        if (c->body.at == CALL_BODY_READING)
            call_body_move(c, CALL_BODY_PAUSED);
        http_pause_body(x);
    }
}

static void x_on_body_end(struct http_exchange *x, int r)
{
    static const struct gateway_refusal large = { 413, "BodyTooLarge", 0 };
    struct gateway_call *c = http_exchange_data(x);
    if (c->sm.at == CALL_OVER || r == -ECANCELED)
        return;
    if (r == -EMSGSIZE) {
        call_fail(c, &large, "the request is longer than spec.limits.bodyBytes");
        return;
    }
    if (r < 0) { /* the server reports the error to the client, if it is still connected */
        stats_answered(c->g, c, STATS_CLIENT_GONE, gateway_now_us());
        call_leave_queue(c);
        call_over(c);
        return;
    }
    const struct headers *trailers = c->sm.at == CALL_TUNNEL ? NULL : http_request_trailers(x);
    struct headers passed = { 0 };
    call_body_move(c, CALL_BODY_WHOLE);
    if (trailers && fields_trailers(&passed, trailers, c->from.is_forwarded) < 0)
        headers_reset(&passed);
    if (c->sm.at == CALL_BUFFERING)
        call_place(c);
    else if (c->invocation)
        exchange_end_body(c->invocation, passed.n ? &passed : NULL);
    headers_fini(&passed);
}

static void x_on_writable(struct http_exchange *x)
{
    struct gateway_call *c = http_exchange_data(x);
    c->attempt.moved_ms = loop_now_ms(c->g->loop);
    if (c->attempt.is_paused && c->invocation) {
        c->attempt.is_paused = false;
        exchange_resume(c->invocation);
    }
}

static void x_on_gone(struct http_exchange *x, int r)
{
    struct gateway_call *c = http_exchange_data(x);
    c->x = NULL;
    if (c->sm.at != CALL_OVER) {
        stats_answered(c->g, c, STATS_CLIENT_GONE, gateway_now_us());
        call_leave_queue(c);
        call_over(c);
    }
    call_settle(c);
}

const struct http_exchange_ops call_exchange_ops = { .on_body = x_on_body,
                                                     .on_body_end = x_on_body_end,
                                                     .on_writable = x_on_writable,
                                                     .on_gone = x_on_gone };

/* ---------------------------------------------------------------- forwarding */

void call_forward(struct gateway_call *c, size_t member)
{
    static const struct gateway_refusal lost = { 502, "GatewayLost", 1 };
    struct gateway *g = c->g;
    struct err err = { 0 };
    assert(member < g->dir.members.n && member != g->dir.members.self && !c->pool && !c->peer);
    const struct upstream_opts o = { .address = g->dir.members.at[member].address,
                                     .protocol = c->from.is_http2 ? FN_H2C : FN_HTTP1,
                                     .is_gateway = true };
    int r = upstream_ref(g, &o, &c->peer, &err);
    if (r < 0) {
        c->peer = NULL;
        call_fail(c, &lost, err_text(&err));
        return;
    }
    /* The owner applies the deadlines and the queue; it answers in time. */
    c->revision.request_ms = c->revision.idle_ms = 0;
    c->invoker = upstream_invoker(c->peer);
    g->stats.n_forwarded++;
    attempt_start(c);
}

/* Place a call again whose function or whose gateway has changed. */
static void route_again(struct gateway_call *c)
{
    static const struct gateway_refusal gone = { 404, "UnknownFunction", 0 };
    struct gateway *g = c->g;
    assert(c->sm.at == CALL_RUNNING && !c->peer && !c->sandbox);
    struct gateway_function *f = map_get(&g->dir.functions, str_of(c->function_key));
    size_t member;
    if (!f) {
        call_fail(c, &gone, "the function was deleted");
        return;
    }
    if (!directory_owns(g, f, &member)) {
        call_forward(c, member);
        return;
    }
    const struct fn_spec *spec = gateway_function_spec(g, f);
    if (!c->pool && spec) {
        call_use_spec(c, spec);
        if (split_choose(&f->split, &g->random, spec, c->from.fields.tag, c->from.headers,
                         f->latest, &c->revision.number) < 0)
            c->revision.number = f->latest;
        call_use_pool(c, f);
    }
    if (c->pool)
        call_place(c);
    else
        call_fail(c, &gone, "the function's spec cannot be read here");
}

/* What was forwarded to a gateway that is lost has failed; one that leaves still answers. */
static void lose_gateways(struct gateway *g)
{
    list_each (node, &g->calls.live) {
        struct gateway_call *c = list_entry(node, struct gateway_call, live);
        if (!c->peer || !c->invocation || c->attempt.is_lost || c->sm.at == CALL_OVER ||
            upstream_is_member(c->peer))
            continue;
        c->attempt.is_lost = true;
        exchange_cancel(c->invocation);
    }
}

void calls_reroute(struct gateway *g)
{
    VEC(struct gateway_call *) away = { 0 };
    lose_gateways(g);
    list_each (node, &g->calls.live) {
        struct gateway_call *c = list_entry(node, struct gateway_call, live);
        size_t member;
        if (c->sm.at == CALL_QUEUED && !c->from.is_forwarded && c->pool->fn &&
            !directory_owns(g, c->pool->fn, &member))
            vec_push(&away, c);
    }
    vec_each (at, &away) {
        struct gateway_call *c = *at;
        size_t member;
        /* The owner may have changed again, if the call before this one found its gateway lost. */
        if (directory_owns(g, c->pool->fn, &member))
            continue;
        call_leave_queue(c);
        gateway_pool_unref(g, c->pool);
        c->pool = NULL;
        call_forward(c, member);
    }
    vec_fini(&away);
}

/* ---------------------------------------------------------------- from the control plane */

void gateway_pool_refuse_all(struct gateway *g, struct gateway_pool *p)
{
    static const struct gateway_refusal gone = { 404, "UnknownFunction", 0 };
    while (p->queue.n) {
        struct gateway_call *c = container_of(queue_first(&p->queue), struct gateway_call, waiting);
        call_fail(c, &gone, "the function was deleted");
        call_settle(c);
    }
}

void gateway_pool_fail_waiting(struct gateway *g, struct gateway_pool *p,
                               const struct gateway_failure *why)
{
    while (p->queue.n) {
        struct gateway_call *c = container_of(queue_first(&p->queue), struct gateway_call, waiting);
        fail_as(c, why);
        call_settle(c);
    }
}

void calls_lose_sandbox(struct gateway *g, struct gateway_sandbox *s)
{
    list_each (node, &g->calls.live) {
        struct gateway_call *c = list_entry(node, struct gateway_call, live);
        if (c->sandbox == s && c->invocation && !c->attempt.is_lost) {
            c->attempt.is_lost = true;
            exchange_cancel(c->invocation);
        }
    }
}

/* ---------------------------------------------------------------- overdue */

/* It waited in the queue until its deadline; give the reason if the control plane has sent one. */
static void waited_too_long(struct gateway_call *c)
{
    static const struct gateway_refusal queue_timeout = { 503, "QueueTimeout", 1 };
    const struct gateway_failure *f =
        c->pool && c->pool->fn ? gateway_function_failure(c->pool->fn, c->pool->revision) : NULL;
    if (f && c->pool->n_sandboxes == 0)
        fail_as(c, f);
    else
        call_fail(c, &queue_timeout, "no sandbox had room in time");
}

static void on_tick(struct timer *t)
{
    static const struct gateway_refusal request_timeout = { 504, "RequestTimeout", 0 };
    static const struct gateway_refusal idle_timeout = { 504, "IdleTimeout", 0 };
    struct gateway *g = container_of(t, struct gateway, calls.tick);
    uint64_t now = loop_now_ms(g->loop), next = UINT64_MAX;
    list_each_safe (node, &g->calls.live) {
        struct gateway_call *c = list_entry(node, struct gateway_call, live);
        uint64_t due = call_due(c);
        if (due > now) {
            next = MIN(next, due);
            continue;
        }
        if (c->sm.at == CALL_QUEUED)
            waited_too_long(c);
        else if (c->attempt.deadline_ms <= now)
            call_fail(c, &request_timeout,
                      "the function took longer than spec.timeouts.requestMilliseconds");
        else
            call_fail(c, &idle_timeout, "no byte came for spec.timeouts.idleMilliseconds");
        call_settle(c);
    }
    if (next != UINT64_MAX)
        tick_by(g, MAX(next, now + GATEWAY_TICK_MIN_MS));
}

/* ---------------------------------------------------------------- init and fini */

void calls_init(struct gateway *g)
{
    list_init(&g->calls.live);
}

void calls_trim(struct gateway *g)
{
    vec_each (c, &g->calls.idle) {
        headers_fini(&(*c)->answer.fields);
        buf_fini(&(*c)->body.kept);
        free(*c);
    }
    vec_fini(&g->calls.idle);
}

void calls_fini(struct gateway *g)
{
    assert(g->calls.n_live == 0);
    timer_stop(g->loop, &g->calls.tick);
    calls_trim(g);
}

/* Requests that have not ended when the grace period is over. */
void calls_cut(struct gateway *g)
{
    static const struct gateway_refusal leaving = { 503, "GatewayStopped", 1 };
    list_each_safe (node, &g->calls.live) {
        struct gateway_call *c = list_entry(node, struct gateway_call, live);
        if (c->sm.at == CALL_OVER)
            continue;
        call_fail(c, &leaving, "the gateway stops");
        call_settle(c);
    }
}
