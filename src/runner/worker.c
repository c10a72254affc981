/* SPDX-License-Identifier: Apache-2.0 */
/* Threads, the baton, parked guests; see worker.h. */
#include "runner/worker.h"

#include "runner/code.h"
#include "runner/function.h"
#include "runner/orders.h"
#include "runner/sandbox.h"

#include "base/log.h"

#include <assert.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

enum {
    FLUSH_NOTES = 512, /* notes that are sent before the next activation of a command */
    FLUSH_BYTES = 32 << 10,
    WORKER_BYTES = 80 << 10,   /* heap memory of a worker */
    OUT_BYTES_KEPT = 256 << 10 /* a larger buffer is freed after the message */
};
_Static_assert((int)PROTO_NOTES_MAX >=
                   (int)FLUSH_NOTES + (int)GUEST_V1_POSTS_MAX + (int)PROTO_LOGS_MAX + 1,
               "what one activation may add fits");
_Static_assert((int)PROTO_NOTES_BYTES_MAX >=
                   (int)FLUSH_BYTES + (int)GUEST_V1_POSTS_MAX * ((int)GUEST_V1_EVENT_MAX + 64) +
                       (int)PROTO_LOGS_MAX * ((int)PROTO_LOG_LINE_MAX + 64),
               "and its bytes");

/* ---- life ---- */

void worker_outcome_reset(struct runner_outcome *o)
{
    buf_reset(&o->ops);
    buf_reset(&o->logs);
    buf_reset(&o->notes);
    o->n_ops = o->n_logs = o->n_notes = o->logs_left_out = o->n_lines = 0;
}

static struct runner_worker *worker_new(struct runner *r)
{
    struct runner_worker *w = xnew(struct runner_worker);
    w->runner = r;
    w->msg = w->order = PROTO_IN_INIT;
    (void)pthread_cond_init(&w->turn, NULL);
    buf_init(&w->out, PROTO_FRAME_BYTES + PROTO_BODY_MAX);
    buf_init(&w->outcome.ops, PROTO_OPS_BYTES_MAX + PROTO_OPS_MAX * 32);
    buf_init(&w->outcome.logs, PROTO_LOGS_BYTES_MAX + 16);
    buf_init(&w->outcome.notes, PROTO_NOTES_BYTES_MAX);
    buf_init(&w->outcome.data, FUNCTION_GATHER);
    return w;
}

static void worker_free(struct runner_worker *w)
{
    proto_in_fini(&w->msg);
    proto_in_fini(&w->order);
    buf_fini(&w->out);
    buf_fini(&w->outcome.ops);
    buf_fini(&w->outcome.logs);
    buf_fini(&w->outcome.notes);
    buf_fini(&w->outcome.data);
    (void)pthread_cond_destroy(&w->turn);
    free(w);
}

/* Called by the thread that finds the reason. The process holds no state that main lacks. */
static _Noreturn void end_process(int status, const struct err *err)
{
    if (status == E_EOF || status == -EPIPE || status == -ECONNRESET)
        exit(0); /* the main process has ended */
    log_error("runner ends", "reason=\"%s\"", err_text(err));
    exit(1);
}

/* ---- the baton ---- */

/* Pass baton and message to `to`. Until await_baton() the caller must not touch shared state. */
static void pass_baton(struct runner_worker *w, struct runner_worker *to)
{
    struct runner *r = w->runner;
    const struct proto_in msg = to->msg;
    assert(to != w);
    to->msg = w->msg;
    w->msg = msg;
    (void)pthread_mutex_lock(&r->lock);
    assert(!to->has_baton && !w->has_baton); /* this thread has it by running */
    to->has_baton = true;
    (void)pthread_cond_signal(&to->turn);
    (void)pthread_mutex_unlock(&r->lock);
}

static void await_baton(struct runner_worker *w)
{
    (void)pthread_mutex_lock(&w->runner->lock);
    while (!w->has_baton)
        (void)pthread_cond_wait(&w->turn, &w->runner->lock);
    w->has_baton = false;
    (void)pthread_mutex_unlock(&w->runner->lock);
}

static void serve(struct runner_worker *w);

static void *worker_main(void *arg)
{
    struct runner_worker *w = arg;
    await_baton(w);
    serve(w);
    worker_free(w);
    return NULL;
}

/* Get an idle worker, or start one. -EAGAIN, -ENOMEM. */
static int spare_worker(struct runner *r, struct runner_worker **ret)
{
    if (!list_is_empty(&r->spares)) {
        *ret = list_entry(list_pop_front(&r->spares), struct runner_worker, node);
        assert(r->n_spares > 0);
        r->n_spares--;
        return 0;
    }
    pthread_t thread;
    pthread_attr_t attr;
    struct runner_worker *w = worker_new(r);
    int status = -pthread_attr_init(&attr);
    if (status == 0) {
        (void)pthread_attr_setstacksize(&attr, WORKER_STACK_BYTES);
        (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
        status = -pthread_create(&thread, &attr, worker_main, w);
        (void)pthread_attr_destroy(&attr);
    }
    if (status < 0)
        worker_free(w);
    else
        *ret = w;
    return status;
}

/* ---- messages ---- */

static int receive(struct runner_worker *w, struct err *err)
{
    struct runner *r = w->runner;
    if (r->dissolved_bytes < RUNNER_TRIM_BYTES)
        return proto_recv(RUNNER_SOCKET, 0, &w->msg, err);
    int status = proto_recv(RUNNER_SOCKET, MSG_DONTWAIT, &w->msg, err);
    if (status != -EAGAIN)
        return status;
    (void)malloc_trim(0); /* the process is idle: return unused memory to the system */
    r->dissolved_bytes = 0;
    return proto_recv(RUNNER_SOCKET, 0, &w->msg, err);
}

/* The parked guest that w->msg concerns; NULL: none. A REPLY must have one. */
static int find_parked(struct runner_worker *w, struct instance **ret, struct err *err)
{
    const struct runner *r = w->runner;
    uint32_t slot;
    struct proto_reply reply = { 0 };
    struct proto_slot drop = { 0 };
    bool is_reply = w->msg.kind == PROTO_REPLY;
    *ret = NULL;
    if (!is_reply && w->msg.kind != PROTO_DROP)
        return 0;
    int status = is_reply ? proto_get_reply(w->msg.body, &reply, err)
                          : proto_get_slot(w->msg.body, &drop, err);
    if (status < 0)
        return status;
    slot = is_reply ? reply.slot : drop.slot;
    struct instance *in = slot < r->slots.n ? r->slots.p[slot] : NULL;
    if (in && in->is_parked) {
        assert(in->worker);
        *ret = in;
    }
    if (is_reply && (!*ret || in->guest != reply.guest || in->next_id != reply.id + 1))
        return err_set(err, E_INVALID, "REPLY to a call that nobody made");
    return 0;
}

/* Carry out w->msg, which concerns no parked guest. */
static int carry_out(struct runner_worker *w, struct err *err)
{
    switch (w->msg.kind) {
    case PROTO_MODULE:
        return order_module(w, err);
    case PROTO_FORGET:
        return order_forget(w, err);
    case PROTO_RUN:
        return order_run(w, err);
    case PROTO_DROP:
        return order_drop(w, err);
    case PROTO_HELLO:
    case PROTO_ANSWER:
    case PROTO_CALL:
    case PROTO_NOTES:
    case PROTO_REPLY:
        break;
    }
    return err_set(err, E_INVALID, "message for the other side");
}

/*
 * The loop of a thread that runs no guest: read messages and carry them out. Returns when it has
 * passed on the baton and there are enough spares.
 */
static void serve(struct runner_worker *w)
{
    struct runner *r = w->runner;
    struct err err = { 0 };
    bool has_message = !w->is_first;
    for (int status = 0;;) {
        struct instance *parked = NULL;
        if (!has_message)
            status = receive(w, &err);
        has_message = false;
        if (status >= 0)
            status = find_parked(w, &parked, &err);
        if (status >= 0 && !parked)
            status = carry_out(w, &err);
        if (status < 0)
            end_process(status, &err);
        if (w->out.cap > OUT_BYTES_KEPT)
            buf_fini(&w->out);
        if (!parked)
            continue;
        bool stays = w->is_first || r->n_spares < WORKER_SPARES_MAX;
        assert(parked->worker != w);
        if (stays) {
            list_push_front(&r->spares, &w->node);
            r->n_spares++;
        } else {
            r->dissolved_bytes += WORKER_BYTES; /* counts towards the next trim */
        }
        pass_baton(w, parked->worker);
        if (!stays)
            return;
        await_baton(w);
        has_message = true;
    }
}

int worker_serve(struct runner *r, struct err *err)
{
    list_init(&r->spares);
    list_init(&r->kept);
    list_init(&r->code);
    (void)pthread_mutex_init(&r->lock, NULL);
    struct runner_worker *w = worker_new(r);
    w->is_first = true;
    proto_begin(&w->out);
    proto_put_hello(&w->out, &(struct proto_hello){ .version = PROTO_VERSION,
                                                    .engine = STR(DM_ENGINE_VERSION),
                                                    .in_force = r->confined.in_force,
                                                    .refused = (uint32_t)-r->confined.refused });
    int status = proto_send(RUNNER_SOCKET, &w->out, -1, err);
    if (status < 0)
        return status;
    sandbox_join_group(r);
    serve(w);
    return 0;
}

/* ---- calls that park ---- */

uint32_t worker_take_cpu_us(struct runner_worker *w)
{
    struct timespec now = { 0 };
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    uint64_t ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    uint64_t us = (ns - w->cpu_ns) / 1000;
    w->cpu_ns = ns;
    return us > UINT32_MAX ? UINT32_MAX : (uint32_t)us;
}

static void send_call(struct instance *in, enum proto_kind kind, struct proto_call *call)
{
    struct runner_worker *w = in->worker;
    struct runner_outcome *o = &w->outcome;
    struct err err = { 0 };
    call->slot = w->run.slot;
    call->incarnation = in->incarnation;
    call->guest = in->guest;
    call->seq = w->run.seq;
    call->token = in->token;
    call->clock_offset_ns = in->wasi.clock_offset_ns;
    call->logs_left_out = o->logs_left_out;
    call->n_notes = o->n_notes;
    call->cpu_us = worker_take_cpu_us(w);
    proto_begin(&w->out);
    proto_put_call(&w->out, kind, call, buf_str(&o->notes));
    int status = proto_send(RUNNER_SOCKET, &w->out, -1, &err);
    if (status < 0)
        end_process(status, &err);
    worker_outcome_reset(o);
    if (w->out.cap > OUT_BYTES_KEPT)
        buf_fini(&w->out);
}

void worker_send_notes(struct instance *in)
{
    send_call(in, PROTO_NOTES, &(struct proto_call){ 0 });
}

int worker_flush(struct instance *in, struct err *err)
{
    const struct runner_outcome *o = &in->worker->outcome;
    if (!buf_ok(&o->notes))
        return err_set(err, -ENOMEM, "no memory for what it has posted");
    if (o->n_notes >= FLUSH_NOTES || o->notes.n >= FLUSH_BYTES)
        worker_send_notes(in);
    return 0;
}

/* Wait until w->msg is the REPLY to `in` or its DROP. */
static void wait_parked(struct instance *in)
{
    struct runner_worker *w = in->worker, *to;
    struct err err = { 0 };
    int status = 0;
    struct instance *parked = NULL;
    while (status >= 0) {
        status = receive(w, &err);
        if (status >= 0)
            status = find_parked(w, &parked, &err);
        if (status >= 0 && parked == in)
            return;
        if (status >= 0 && !parked && w->msg.kind != PROTO_RUN) {
            status = carry_out(w, &err);
            continue;
        }
        if (status >= 0 && parked)
            to = parked->worker;
        else if (status >= 0 && (status = spare_worker(w->runner, &to)) < 0)
            (void)err_sys(&err, status, "start a thread");
        if (status < 0)
            break;
        pass_baton(w, to);
        await_baton(w); /* passed together with the message for `in` */
        return;
    }
    end_process(status, &err);
}

int worker_call(struct instance *in, const struct proto_call *call, int64_t *ret)
{
    struct runner_worker *w = in->worker;
    struct proto_call c = *call;
    struct proto_reply reply;
    uint64_t left = instance_time_left(in);
    assert(!in->is_parked && w->runner->slots.p[w->run.slot] == in);
    c.id = in->next_id++;
    in->result = STR_NULL;
    in->is_parked = true;
    send_call(in, PROTO_CALL, &c);
    wait_parked(in);
    (void)worker_take_cpu_us(w);
    in->is_parked = false;
    assert(in->worker == w);
    if (w->msg.kind == PROTO_DROP)
        return -ECANCELED;
    assert(w->msg.kind == PROTO_REPLY);
    code_used(w->runner, in->module);
    (void)proto_get_reply(w->msg.body, &reply, NULL); /* find_parked() has checked it */
    in->result = reply.bytes;
    *ret = reply.value;
    instance_go_on(in, left);
    return 0;
}

/* Peek at the socket; the message and its descriptors stay in the queue. */
static bool has_message(void)
{
    struct msghdr msg = { 0 };
    return recvmsg(RUNNER_SOCKET, &msg, MSG_PEEK | MSG_DONTWAIT) >= 0;
}

int worker_slice(struct instance *in)
{
    int64_t unused;
    if (!has_message())
        return 0;
    /* The unread rest lies in a message whose buffer the next message reuses. */
    struct str left = in->result;
    scoped(free_scoped) char *copy = left.n ? xstrndup(left.p, left.n) : NULL;
    int status = worker_call(in, &(struct proto_call){ .kind = PROTO_CALL_SLICE }, &unused);
    in->result = str_n(copy, left.n);
    free(in->kept_result);
    in->kept_result = take_ptr(&copy);
    return status;
}
