/* SPDX-License-Identifier: Apache-2.0 */
/* fn/stream: both ends of a stream in one process. */
#include "fn/fn.pb-c.h"
#include "fn/stream.h"
#include "test.h"

#include <errno.h>

struct side {
    struct fn_stream *s;
    unsigned messages, ends;
    uint64_t seq;
    int r;
    bool close_on_message, answer;
};

static void on_report(void *arg, const ProtobufCMessage *m)
{
    struct side *side = arg;
    side->messages++;
    side->seq = ((const Dormouse__Fn__V1__WorkerReport *)m)->seq;
    if (side->answer) {
        Dormouse__Fn__V1__WorkerOrder order = DORMOUSE__FN__V1__WORKER_ORDER__INIT;
        fn_stream_send(side->s, &order.base);
    }
    if (side->close_on_message)
        fn_stream_close(take_ptr(&side->s));
}

static void on_order(void *arg, const ProtobufCMessage *m)
{
    struct side *side = arg;
    side->messages++;
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct side *side = arg;
    side->ends++;
    side->r = r;
}

static const struct fn_stream_ops report_ops = { .on_message = on_report, .on_end = on_end };
static const struct fn_stream_ops order_ops = { .on_message = on_order, .on_end = on_end };

struct rig {
    struct loop loop;
    struct side worker, control;
};

static void rig_init(struct rig *r)
{
    *r = (struct rig){ 0 };
    CHECK_OK(loop_init(&r->loop, NULL));
    fn_stream_pair(&r->loop, &dormouse__fn__v1__worker_order__descriptor,
                   &dormouse__fn__v1__worker_report__descriptor, &r->worker.s, &r->control.s);
    fn_stream_set(r->worker.s, &order_ops, &r->worker);
    fn_stream_set(r->control.s, &report_ops, &r->control);
}

static void turn(struct rig *r)
{
    for (int i = 0; i < 10; i++)
        (void)loop_turn(&r->loop, false);
}

static void rig_fini(struct rig *r)
{
    fn_stream_close(r->worker.s);
    fn_stream_close(r->control.s);
    turn(r);
    loop_fini(&r->loop);
}

static void report(struct rig *r, uint64_t seq)
{
    Dormouse__Fn__V1__WorkerReport m = DORMOUSE__FN__V1__WORKER_REPORT__INIT;
    m.seq = seq;
    fn_stream_send(r->worker.s, &m.base);
}

TEST(messages_arrive_in_order_and_never_inside_send)
{
    struct rig r;
    rig_init(&r);
    r.control.answer = true;
    for (uint64_t i = 1; i <= 1000; i++)
        report(&r, i);
    CHECK_INT(r.control.messages, 0);
    CHECK(fn_stream_pending(r.worker.s) > 0);
    turn(&r);
    CHECK_INT(r.control.messages, 1000);
    CHECK_INT(r.control.seq, 1000);
    CHECK_INT(r.worker.messages, 1000);
    CHECK_INT(fn_stream_pending(r.worker.s), 0);
    rig_fini(&r);
}

TEST(what_was_sent_before_close_arrives_and_then_the_end)
{
    struct rig r;
    rig_init(&r);
    report(&r, 7);
    fn_stream_close(take_ptr(&r.worker.s));
    CHECK_INT(r.control.ends, 0);
    turn(&r);
    CHECK_INT(r.control.messages, 1);
    CHECK_INT(r.control.ends, 1);
    CHECK_INT(r.control.r, 0);
    turn(&r);
    CHECK_INT(r.control.ends, 1);
    rig_fini(&r);
}

TEST(closing_inside_a_callback_ends_callbacks)
{
    struct rig r;
    rig_init(&r);
    r.control.close_on_message = true;
    report(&r, 1);
    report(&r, 2);
    turn(&r);
    CHECK_INT(r.control.messages, 1);
    CHECK_INT(r.control.ends, 0);
    CHECK_INT(r.worker.ends, 1);
    report(&r, 3); /* to nobody */
    rig_fini(&r);
}

TEST(a_peer_that_takes_nothing_fails_the_stream_at_the_limit)
{
    struct rig r;
    rig_init(&r);
    scoped(free_scoped) char *name = xalloc(1 << 20);
    memset(name, 'x', (1 << 20) - 1);
    Dormouse__Fn__V1__WorkerHello hello = DORMOUSE__FN__V1__WORKER_HELLO__INIT;
    Dormouse__Fn__V1__WorkerReport m = DORMOUSE__FN__V1__WORKER_REPORT__INIT;
    hello.name = name;
    m.hello = &hello;
    for (int i = 0; i < 20; i++)
        fn_stream_send(r.worker.s, &m.base);
    CHECK(fn_stream_pending(r.worker.s) <= FN_STREAM_QUEUE);
    turn(&r);
    CHECK_INT(r.worker.ends, 1);
    CHECK_INT(r.worker.r, -ENOBUFS);
    CHECK_INT(r.control.messages, 15);
    fn_stream_close(take_ptr(&r.worker.s));
    turn(&r);
    CHECK_INT(r.control.ends, 1);
    rig_fini(&r);
}

TEST_MAIN
