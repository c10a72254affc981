/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trying again what the store could not do: a timer that waits twice as long each time. It is armed
 * only while something has to be repeated; a server that is well has none.
 */
#pragma once

#include "base/backoff.h"
#include "io/loop.h"

enum {
    RETRY_FIRST_MS = 100,
    RETRY_DOUBLINGS = 12 /* the longest wait is seven minutes */
};

/* Zeroed: nothing failed. Its owner stops it before it goes. */
struct retry {
    struct timer timer;
    unsigned n; /* failures in a row, RETRY_DOUBLINGS at most */
};

/* After a failure. No-op while armed. */
static inline void retry_arm(struct loop *loop, struct retry *r, void (*run)(struct timer *t))
{
    if (timer_is_armed(&r->timer))
        return;
    timer_start(loop, &r->timer, backoff_wait(RETRY_FIRST_MS, UINT64_MAX, r->n), run);
    r->n += r->n < RETRY_DOUBLINGS;
}

/* Something went well: the next failure is a first one, if none is waiting. */
static inline void retry_settle(struct retry *r)
{
    if (!timer_is_armed(&r->timer))
        r->n = 0;
}

/* All is well, or nobody waits any more. */
static inline void retry_stop(struct loop *loop, struct retry *r)
{
    timer_stop(loop, &r->timer);
    r->n = 0;
}
