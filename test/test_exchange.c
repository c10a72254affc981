/* SPDX-License-Identifier: Apache-2.0 */
/* The forward of decorators, between a caller and an exchange that the test plays by hand. */
#include "io/exchange.h"

#include "base/mem.h"
#include "test.h"

#include <errno.h>

static struct {
    struct exchange x;
    unsigned writes, body_ends, pauses, resumes, cancels;
    bool is_full;
} played;

static bool played_write(struct exchange *x, struct str chunk)
{
    CHECK(x == &played.x);
    played.writes++;
    return !played.is_full;
}

static void played_end_body(struct exchange *x, const struct headers *trailers)
{
    played.body_ends++;
}

static void played_pause(struct exchange *x)
{
    played.pauses++;
}

static void played_resume(struct exchange *x)
{
    played.resumes++;
}

static void played_cancel(struct exchange *x)
{
    played.cancels++;
}

static const struct exchange_ops played_ops = { .write = played_write,
                                                .end_body = played_end_body,
                                                .pause = played_pause,
                                                .resume = played_resume,
                                                .cancel = played_cancel };

/* The caller at the other end of the forward. */
struct caller {
    struct exchange *x;
    int status, r;
    unsigned heads, chunks, trailers, writables, ends;
    const char *reason;
};

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct caller *c = arg;
    c->heads++;
    c->status = status;
}

static void on_data(void *arg, struct str chunk)
{
    struct caller *c = arg;
    CHECK_STR(chunk, "chunk");
    c->chunks++;
}

static void on_trailers(void *arg, const struct headers *trailers)
{
    struct caller *c = arg;
    c->trailers++;
}

static void on_writable(void *arg)
{
    struct caller *c = arg;
    c->writables++;
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct caller *c = arg;
    c->ends++;
    c->r = r;
    c->reason = exchange_reason(c->x);
}

static const struct exchange_events caller_events = { .on_head = on_head,
                                                      .on_data = on_data,
                                                      .on_trailers = on_trailers,
                                                      .on_writable = on_writable,
                                                      .on_end = on_end };

/* A decorator that answers with its own status and inherits the rest. */
struct decorator {
    struct exchange_forward forward;
    bool is_over;
};

static void on_under_head(void *arg, int status, const struct headers *headers)
{
    exchange_forward_head(arg, status + 1, headers);
}

static void on_under_end(void *arg, int r, const struct err *err)
{
    struct decorator *d = container_of(arg, struct decorator, forward);
    exchange_forward_end(arg, r, err);
    d->is_over = true;
}

static const struct exchange_events under_events = { .on_head = on_under_head,
                                                     .on_data = exchange_forward_data,
                                                     .on_trailers = exchange_forward_trailers,
                                                     .on_writable = exchange_forward_writable,
                                                     .on_end = on_under_end };

static void begin(struct decorator *d, const struct exchange_events *events, struct caller *c)
{
    memset(&played, 0, sizeof played);
    *c = (struct caller){ .x = &d->forward.x };
    *d = (struct decorator){ 0 };
    exchange_forward_init(&d->forward, &exchange_forward_ops, events, c);
}

static void start(struct decorator *d)
{
    played.x = (struct exchange){ &played_ops, &under_events, &d->forward, NULL };
    d->forward.under = &played.x;
    exchange_forward_started(&d->forward);
}

static void play_all(int r)
{
    struct headers h = { 0 };
    exchange_report_head(&played.x, 200, &h);
    exchange_report_data(&played.x, STR("chunk"));
    exchange_report_writable(&played.x);
    exchange_report_trailers(&played.x, &h);
    exchange_report_end(&played.x, r, NULL);
}

TEST(a_decorator_changes_the_head_and_inherits_the_rest)
{
    struct decorator d;
    struct caller c;
    begin(&d, &caller_events, &c);
    start(&d);
    play_all(0);
    CHECK_INT(c.status, 201);
    CHECK(c.heads == 1 && c.chunks == 1 && c.trailers == 1 && c.writables == 1 && c.ends == 1);
    CHECK_INT(c.r, 0);
    CHECK(c.reason == NULL);
    CHECK(d.is_over);
}

TEST(controls_reach_the_exchange_below)
{
    struct decorator d;
    struct caller c;
    begin(&d, &caller_events, &c);
    start(&d);
    CHECK(exchange_write(c.x, STR("a")));
    played.is_full = true;
    CHECK(!exchange_write(c.x, STR("b")));
    exchange_end_body(c.x, NULL);
    exchange_pause(c.x);
    exchange_resume(c.x);
    exchange_cancel(c.x);
    CHECK(played.writes == 2 && played.body_ends == 1);
    CHECK(played.pauses == 1 && played.resumes == 1 && played.cancels == 1);
}

TEST(a_pause_before_the_start_is_passed_on_at_the_start)
{
    struct decorator d;
    struct caller c;
    begin(&d, &caller_events, &c);
    exchange_pause(c.x);
    exchange_cancel(c.x); /* the decorator ends it; there is nothing below yet */
    start(&d);
    CHECK(played.pauses == 1 && played.cancels == 0);
    exchange_resume(c.x);
    CHECK_INT(played.resumes, 1);
    begin(&d, &caller_events, &c);
    exchange_pause(c.x);
    exchange_resume(c.x);
    start(&d);
    CHECK(played.pauses == 0 && played.resumes == 0);
}

TEST(the_reason_comes_from_below_unless_the_decorator_has_one)
{
    struct decorator d;
    struct caller c;
    begin(&d, &caller_events, &c);
    start(&d);
    played.x.reason = "Below";
    play_all(-EIO);
    CHECK_INT(c.r, -EIO);
    CHECK_STR(str_of(c.reason), "Below");
    begin(&d, &caller_events, &c);
    start(&d);
    played.x.reason = "Below";
    d.forward.x.reason = "Own";
    play_all(-EIO);
    CHECK_STR(str_of(c.reason), "Own");
}

TEST(any_event_may_be_left_out)
{
    static const struct exchange_events none;
    struct decorator d;
    struct caller c;
    begin(&d, &none, &c);
    start(&d);
    play_all(0);
    CHECK(d.is_over);
    CHECK(c.heads == 0 && c.ends == 0);
}

TEST_MAIN
