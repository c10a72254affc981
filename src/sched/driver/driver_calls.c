/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of the scheduler's thread, on the loop thread. */
#include "sched/driver/driver_impl.h"

#include "base/clock.h"

#include <errno.h>

enum { TOKEN_MAX_US = 1000000000 }; /* limit, so that a burst of tokens does not overflow */

void driver_answer(struct driver_call *c)
{
    struct sched_driver *d = c->d;
    driver_assert_loop(d);
    if (!d->has_thread) {
        c->done(c->arg, c->r, c->status, STR(""), &c->err);
        driver_call_free(c);
        return;
    }
    struct driver_message *m = driver_message(MESSAGE_ANSWER, STR(""));
    m->call = c;
    driver_send(d, m);
}

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct driver_call *c = arg;
    c->status = status;
}

static void on_data(void *arg, struct str chunk)
{
    struct driver_call *c = arg;
    (void)buf_add_str(&c->answer, chunk);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct driver_call *c = arg;
    struct sched_driver *d = c->d;
    c->running = NULL;
    c->r = r < 0 ? r : c->answer.failed;
    if (r < 0 && err)
        c->err = *err;
    else if (c->r < 0)
        (void)err_sys(&c->err, c->r, "the API's answer");
    assert(d->n_running > 0);
    list_remove(&c->node);
    d->n_running--;
    driver_answer(c);
    /* also during shutdown: the thread waits for bindings whose calls wait here */
    driver_start_calls(d);
    driver_continue_stop(d);
}

static const struct exchange_events call_events = { .on_head = on_head,
                                                    .on_data = on_data,
                                                    .on_end = on_end };

static void start_call(struct sched_driver *d, struct driver_call *c)
{
    struct headers h = { 0 };
    (void)headers_addc(&h, "accept", "application/json");
    if (c->n_body > 0)
        (void)headers_addc(&h, "content-type", c->patch_type ? c->patch_type : "application/json");
    struct kube_request rq = { .identity = d->opts.identity,
                               .method = str_of(c->method),
                               .target = str_of(c->target),
                               .headers = &h,
                               .body = str_n(c->body, c->n_body) };
    int r = transport_start(d->opts.transport, &rq, &call_events, c, &c->running, &c->err);
    headers_fini(&h);
    if (r < 0) {
        c->r = r;
        driver_answer(c);
        return;
    }
    list_push_back(&d->running, &c->node);
    d->n_running++;
}

static void on_refill(struct timer *t)
{
    driver_start_calls(container_of(t, struct sched_driver, refill));
}

/* Applies clientConnection.qps and burst, if configured. */
static bool take_token(struct sched_driver *d)
{
    const struct sched_config *c = d->opts.config;
    /* during shutdown there is no time to wait */
    if (!c->limits_requests || c->qps < 0 || driver_is_stopping(d))
        return true;
    uint64_t now_us = clock_mono_ms() * 1000;
    uint64_t token_us = (uint64_t)MIN(1e6 / c->qps, (double)TOKEN_MAX_US);
    uint64_t held_us = token_us * (uint64_t)MIN(MAX(c->burst, (int64_t)1), (int64_t)UINT32_MAX);
    if (token_bucket_take(&d->rate, held_us, token_us, now_us))
        return true;
    if (!timer_is_armed(&d->refill))
        timer_start(d->loop, &d->refill,
                    token_bucket_wait(&d->rate, held_us, token_us, now_us) / 1000 + 1, on_refill);
    return false;
}

void driver_start_calls(struct sched_driver *d)
{
    driver_assert_loop(d);
    while (d->n_running < DRIVER_CALLS_MAX && !list_is_empty(&d->waiting) && d->has_thread &&
           take_token(d))
        start_call(d, list_entry(list_pop_front(&d->waiting), struct driver_call, node));
}

void driver_cancel_calls(struct sched_driver *d)
{
    for (struct list *node = list_pop_front(&d->waiting); node;
         node = list_pop_front(&d->waiting)) {
        struct driver_call *c = list_entry(node, struct driver_call, node);
        c->r = -ECANCELED;
        driver_answer(c);
    }
    list_each_safe (node, &d->running) {
        struct driver_call *c = list_entry(node, struct driver_call, node);
        exchange_cancel(c->running);
    }
}
