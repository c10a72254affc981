/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to Wasm functions, as their caller sees them; see wasm_impl.h. */
#include "fn/worker/wasm_impl.h"

#include "base/sm.h"
#include "fn/worker/wasm_http.h"

#include <assert.h>
#include <errno.h>

enum {
    PIECE = 60 << 10,     /* of a body, in one packet to a runner */
    KEPT_BYTES = 64 << 10 /* of a spare invocation's buffers */
};

/* ---- memory ---- */

static struct invocation *invocation_new(struct wasm_rt *rt)
{
    struct invocation *x;
    rt->n_invocations++;
    if (!list_is_empty(&rt->spare)) {
        rt->n_spare--;
        return list_entry(list_pop_front(&rt->spare), struct invocation, node);
    }
    x = xnew(struct invocation);
    x->rt = rt;
    buf_init(&x->head, PROTO_SETUP_MAX);
    buf_init(&x->body, BUF_MAX_DEFAULT);
    buf_init(&x->out, 4 * WASM_BODY_BUFFER);
    buf_init(&x->text, GUEST_FN_HEAD_MAX);
    return x;
}

void wasm_invocation_free(struct invocation *x)
{
    buf_fini(&x->head);
    buf_fini(&x->body);
    buf_fini(&x->out);
    buf_fini(&x->text);
    headers_fini(&x->trailers);
    free(x);
}

static struct buf empty(struct buf b)
{
    if (b.cap > KEPT_BYTES)
        buf_fini(&b);
    buf_reset(&b);
    return b;
}

/* After on_end, the last callback. */
static void recycle(struct invocation *x)
{
    struct wasm_rt *rt = x->rt;
    assert(x->job.state == GUEST_JOB_IDLE && !x->sandbox && !list_is_linked(&x->node));
    defer_cancel(&x->later);
    timer_stop(rt->opts.loop, &x->deadline);
    assert(rt->n_invocations > 0);
    rt->n_invocations--;
    if (rt->n_spare >= WASM_SPARE_MAX || rt->is_closing) {
        wasm_invocation_free(x);
        wasm_free_if_closed(rt);
        return;
    }
    headers_reset(&x->trailers);
    *x = (struct invocation){ .rt = rt,
                              .head = empty(x->head),
                              .body = empty(x->body),
                              .out = empty(x->out),
                              .text = empty(x->text),
                              .trailers = x->trailers };
    list_push_front(&rt->spare, &x->node);
    rt->n_spare++;
}

/* ---- states ---- */

static const struct sm_state answer_table[] = {
    [WASM_ANSWER_AWAITED] = { "awaited", EDGE(WASM_ANSWER_BEGUN) | EDGE(WASM_ANSWER_VOID) |
                                             EDGE(WASM_ANSWER_OVER) },
    [WASM_ANSWER_BEGUN] = { "begun", EDGE(WASM_ANSWER_OVER) },
    [WASM_ANSWER_VOID] = { "void", EDGE(WASM_ANSWER_OVER) },
    [WASM_ANSWER_OVER] = { "over", 0 },
};

void wasm_answer_move(struct invocation *x, enum wasm_answer to)
{
    assert(answer_table[x->answer].next & EDGE(to));
    x->answer = to;
}

/* ---- to a runner ---- */

void wasm_fill_job(struct guest_job *j, struct proto_run *run)
{
    struct invocation *x = wasm_invocation_of(j);
    const struct wasm_revision *rev = x->rev;
    const struct fn_template *t = rev->r->t;
    uint64_t now = loop_now_ms(x->rt->opts.loop);
    uint64_t left = x->deadline_ms > now ? x->deadline_ms - now : 1;
    bool is_command = rev->abi == GUEST_ABI_COMMAND;
    struct str body = str_slice(buf_str(&x->body), 0, GUEST_FN_PIECE_MAX);
    bool is_whole = x->body_ended && body.n == x->body.n;
    assert(x->answer == WASM_ANSWER_AWAITED && x->wants == WASM_WANTS_NOTHING);
    x->token = ++x->rt->serial;
    x->in_run = body.n;
    *run = (struct proto_run){
        .flags = t->reuse ? RUN_KEEP : 0,
        .abi = rev->abi,
        .activation_ms = (uint32_t)MIN(left, (uint64_t)UINT32_MAX),
        .memory_max_bytes = t->memory,
        .setup = is_command ? buf_str(&x->head) : STR_NULL,
        .credit = WASM_BODY_BUFFER,
        .response_max = x->response_max,
        .n_deliveries = 2,
        .deliveries = { { x->token, DELIVERY_ACTIVATE, is_command ? STR_NULL : buf_str(&x->head) },
                        { x->token, is_whole ? DELIVERY_FINISHED : 0, body } }
    };
}

void wasm_body_begun(struct invocation *x)
{
    assert(x->in_run <= x->body.n);
    if (x->in_run)
        buf_consume(&x->body, x->in_run);
    x->in_run = 0;
}

/* ---- the parked guest ---- */

static void feed_body(struct invocation *x)
{
    if (x->body.n == 0 && !x->body_ended)
        return;
    struct str piece = str_slice(buf_str(&x->body), 0, PIECE);
    bool is_last = x->body_ended && piece.n == x->body.n;
    assert(x->wants == WASM_WANTS_BODY && x->in_run == 0);
    x->wants = WASM_WANTS_NOTHING;
    guest_seat_reply(x->job.seat, is_last ? 0 : 1, piece);
    buf_consume(&x->body, piece.n);
}

/* Answer the call of its guest, if it can be answered. */
static void feed(struct invocation *x)
{
    if (x->wants == WASM_WANTS_BODY) {
        feed_body(x);
    } else if (x->wants == WASM_WANTS_CREDIT && !x->is_paused && x->out.n < WASM_BODY_BUFFER / 2) {
        x->wants = WASM_WANTS_NOTHING;
        guest_seat_reply(x->job.seat, WASM_BODY_BUFFER, STR(""));
    }
}

/* ---- the end ---- */

static void on_later(struct defer *d)
{
    wasm_deliver(container_of(d, struct invocation, later));
}

static void deliver_later(struct invocation *x)
{
    defer_start(x->rt->opts.loop, &x->later, on_later);
}

static void leave_sandbox(struct invocation *x)
{
    struct wasm_sandbox *s = x->sandbox;
    if (!s)
        return;
    x->sandbox = NULL;
    list_remove(&x->in_sandbox);
    assert(s->running > 0);
    s->running--;
    wasm_sandbox_done(s);
}

void wasm_over(struct invocation *x, int end, const char *reason, const char *text)
{
    if (wasm_is_over(x))
        return;
    wasm_answer_move(x, WASM_ANSWER_OVER);
    x->end = end;
    x->exchange.reason = reason;
    if (end < 0)
        (void)err_set(&x->err, end, "%s", text);
    timer_stop(x->rt->opts.loop, &x->deadline);
    guest_job_leave(&x->job);
    leave_sandbox(x);
    x->rev = NULL;
    x->wants = WASM_WANTS_NOTHING;
}

static void end(struct invocation *x)
{
    assert(wasm_is_over(x) && !x->rev && x->wants == WASM_WANTS_NOTHING);
    if (x->end == 0 && x->has_trailers)
        exchange_report_trailers(&x->exchange, &x->trailers); /* may cancel it */
    exchange_report_end(&x->exchange, x->end, &x->err);
    recycle(x);
}

void wasm_deliver(struct invocation *x)
{
    while (x->out.n && !x->is_paused && x->end == 0) {
        struct buf out = x->out;
        buf_init(&x->out, out.max);
        exchange_report_data(&x->exchange, buf_str(&out));
        buf_fini(&out);
    }
    if (wasm_is_over(x)) {
        if (x->end < 0 || x->out.n == 0)
            end(x);
        return; /* or its data was not taken yet */
    }
    feed(x);
    if (x->was_full && x->body.n < WASM_BODY_BUFFER / 2) {
        x->was_full = false;
        exchange_report_writable(&x->exchange);
    }
}

void wasm_fail_held(struct wasm_revision *rev, int code, const char *reason, const struct err *why)
{
    struct guest_job *j;
    while ((j = guest_program_first_held(&rev->program))) {
        struct invocation *x = wasm_invocation_of(j);
        wasm_over(x, code, reason, err_text(why));
        deliver_later(x);
    }
}

void wasm_end_sandbox(struct wasm_sandbox *s, int code, const char *reason)
{
    while (!list_is_empty(&s->invocations)) {
        struct invocation *x = list_first(&s->invocations, struct invocation, in_sandbox);
        wasm_over(x, code, reason, "its sandbox was removed");
        deliver_later(x);
    }
}

static void log_late(struct invocation *x)
{
    wasm_log(x->rev, x, "host", LOG_ERROR,
             STR("RequestTimeout: the request took longer than it may"));
}

static void on_deadline(struct timer *timer)
{
    struct invocation *x = container_of(timer, struct invocation, deadline);
    log_late(x);
    wasm_over(x, -ETIMEDOUT, "RequestTimeout", "the request took longer than it may");
    wasm_deliver(x);
}

/* ---- what callers call ---- */

static int put_request(struct invocation *x, const struct invoke_request *q, struct err *err)
{
    const struct wasm_revision *rev = x->rev;
    if (rev->abi == GUEST_ABI_HTTP) {
        wasm_put_head(&x->head, q);
    } else {
        (void)buf_add_str(&x->head, buf_str(&rev->args));
        size_t at = x->head.n;
        (void)buf_add_le64(&x->head, 0);
        uint32_t n = wasm_put_cgi(&x->head, q) + rev->n_env;
        (void)buf_add_str(&x->head, buf_str(&rev->env)); /* last: the first of a name counts */
        if (buf_ok(&x->head)) {
            struct buf counts = BUF_INIT(16);
            (void)buf_add_le32(&counts, n);
            (void)buf_add_le32(&counts, (uint32_t)(x->head.n - at - 8));
            memcpy(x->head.p + at, counts.p, 8);
            buf_fini(&counts);
        }
    }
    (void)buf_add_str(&x->body, q->body);
    if (!buf_ok(&x->head) || !buf_ok(&x->body))
        return err_set(err, -EMSGSIZE, "the request is too large for its function");
    return 0;
}

static struct invocation *invocation_of(struct exchange *e)
{
    return container_of(e, struct invocation, exchange);
}

static bool write_body(struct exchange *e, struct str chunk)
{
    struct invocation *x = invocation_of(e);
    if (wasm_is_over(x))
        return true; /* on_end follows */
    if (buf_add_str(&x->body, chunk) < 0) {
        wasm_over(x, -ENOMEM, "BodyTooLarge", "no memory for the request's body");
        deliver_later(x);
        return true;
    }
    if (x->wants == WASM_WANTS_BODY)
        feed_body(x);
    x->was_full = x->body.n >= WASM_BODY_BUFFER;
    return !x->was_full;
}

static void end_body(struct exchange *e, const struct headers *trailers)
{
    struct invocation *x = invocation_of(e);
    x->body_ended = true; /* the ABI has no trailers of requests */
    if (x->wants == WASM_WANTS_BODY) /* never once it is over */
        feed_body(x);
}

static void pause_answer(struct exchange *e)
{
    invocation_of(e)->is_paused = true;
}

static void resume_answer(struct exchange *e)
{
    struct invocation *x = invocation_of(e);
    x->is_paused = false;
    deliver_later(x);
}

static void cancel(struct exchange *e)
{
    struct invocation *x = invocation_of(e);
    if (!wasm_is_over(x) && loop_now_ms(x->rt->opts.loop) >= x->deadline_ms)
        log_late(x); /* the caller has the same deadline, and was first */
    if (wasm_is_over(x))
        x->end = -ECANCELED;
    else
        wasm_over(x, -ECANCELED, "Canceled", "the caller has gone");
    deliver_later(x);
}

static const struct exchange_ops invocation_ops = { .write = write_body,
                                                    .end_body = end_body,
                                                    .pause = pause_answer,
                                                    .resume = resume_answer,
                                                    .cancel = cancel };

int wasm_invoke_start(struct invoker *v, const struct invoke_request *q,
                      const struct exchange_events *events, void *arg, struct exchange **ret,
                      struct err *err)
{
    struct wasm_rt *rt = container_of(v, struct wasm_rt, invoker);
    struct wasm_sandbox *s = wasm_find_sandbox(rt, q->sandbox);
    uint64_t now = loop_now_ms(rt->opts.loop);
    if (!s || !s->is_ready || s->is_leaving || rt->is_closing)
        return err_set(err, -ECONNREFUSED, "there is no such sandbox");
    if (guest_program_is_full(&s->rev->program))
        return err_set(err, -EBUSY, "too many requests wait for a runner");
    struct invocation *x = invocation_new(rt);
    x->rev = s->rev;
    int r = put_request(x, q, err);
    if (r < 0) {
        recycle(x);
        return r;
    }
    x->exchange = (struct exchange){ &invocation_ops, events, arg, NULL };
    x->body_ended = !q->has_body || q->body_is_whole;
    x->response_max = q->response_max;
    x->has_no_body = str_is(q->method, "HEAD");
    x->length = x->still_here = UINT64_MAX;
    x->deadline_ms = q->deadline_ms ? MAX(q->deadline_ms, now + 1) : now + FN_REQUEST_MS_DEFAULT;
    size_t n = MIN(q->call_id.n, sizeof x->call_id - 1);
    if (n)
        memcpy(x->call_id, q->call_id.p, n);
    x->call_id[n] = '\0';
    x->sandbox = s;
    s->running++;
    list_push_back(&s->invocations, &x->in_sandbox);
    rt->requests++;
    timer_start(rt->opts.loop, &x->deadline, x->deadline_ms - now, on_deadline);
    guest_job_start(&x->job, &s->rev->program);
    *ret = &x->exchange;
    return 0;
}
