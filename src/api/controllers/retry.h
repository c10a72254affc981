/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Retry with exponential backoff after errors of the store. The timer is armed only while something
 * has to be retried; a healthy server has no such timer.
 */
#pragma once

#include "base/backoff.h"
#include "io/loop.h"

#include <assert.h>

enum {
    RETRY_FIRST_MS = 100,
    RETRY_DOUBLINGS = 12 /* the longest wait is seven minutes */
};

/* Zeroed: no failure. The owner stops it before it is freed. */
struct retry {
    struct timer timer;
    unsigned n; /* consecutive failures, at most RETRY_DOUBLINGS */
};

/* After a failure. No-op while armed. */
static inline void retry_arm(struct loop *loop, struct retry *r, void (*run)(struct timer *t))
{
    assert(r->n <= RETRY_DOUBLINGS);
    if (timer_is_armed(&r->timer))
        return;
    timer_start(loop, &r->timer, backoff_wait(RETRY_FIRST_MS, UINT64_MAX, r->n), run);
    r->n += r->n < RETRY_DOUBLINGS;
}

/* An operation succeeded: reset the backoff, unless a retry is pending. */
static inline void retry_settle(struct retry *r)
{
    if (!timer_is_armed(&r->timer))
        r->n = 0;
}

/* Cancel the retry and reset the backoff. */
static inline void retry_stop(struct loop *loop, struct retry *r)
{
    timer_stop(loop, &r->timer);
    r->n = 0;
}
