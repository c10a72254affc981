/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one timer structure of all operators: every queue has a node here, armed for its earliest
 * key, and the loop has one timer, armed for the earliest node. Nothing is armed when nothing
 * waits.
 *
 * A node has a range: it may run from `soft_us` on and must at `hard_us`. Whoever wakes up for the
 * earliest hard end takes along everything whose soft time has come, so that many waits share a
 * wake-up. Pure: the time is passed in (microseconds, monotonic).
 */
#pragma once

#include "base/vec.h"

#define WORK_NEVER UINT64_MAX

struct work_timer {
    uint64_t soft_us, hard_us;
    size_t heap_at; /* 0: not armed */
    /* May arm and disarm any node, this one included, which is disarmed. */
    void (*run)(struct work_timer *t, uint64_t now_us);
};

/* Zero-initialised is valid and empty. */
struct work_timers {
    VEC(struct work_timer *) heap; /* the earliest hard end first */
    uint64_t n_wakeups;            /* calls of work_timers_run() that ran something */
};

/* All nodes must have been disarmed. */
void work_timers_fini(struct work_timers *ts);
/* (Re)arm. t is kept until it ran or was disarmed; hard_us >= soft_us. */
void work_timers_set(struct work_timers *ts, struct work_timer *t, uint64_t soft_us,
                     uint64_t hard_us);
void work_timers_clear(struct work_timers *ts, struct work_timer *t);
/* When work_timers_run() must be called; WORK_NEVER: not at all. */
uint64_t work_timers_due_us(const struct work_timers *ts);
/* Run what may run now; returns how many. A node that arms itself for the past runs at the next
 * call. */
size_t work_timers_run(struct work_timers *ts, uint64_t now_us);
