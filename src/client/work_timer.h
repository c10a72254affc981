/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timers of all operators in one structure: every queue has a node, armed for its earliest key,
 * and the loop has one timer, armed for the earliest node. No timer is armed while nothing waits.
 *
 * A node has a range: it may run from `soft_us` on and must run at `hard_us`. A wake-up for the
 * earliest hard end also runs every node whose soft time has passed, so that many waits share a
 * wake-up. Pure: the time is passed in (microseconds, monotonic).
 */
#pragma once

#include "base/vec.h"

#define WORK_NEVER UINT64_MAX

struct work_timer {
    uint64_t soft_us, hard_us;
    size_t heap_at; /* 0: not armed */
    /* May arm and disarm any node, including this one, which is disarmed before the call. */
    void (*run)(struct work_timer *t, uint64_t now_us);
};

/* Zero-initialised is valid and empty. */
struct work_timers {
    VEC(struct work_timer *) heap; /* ordered by hard end */
    uint64_t n_wakeups;            /* calls of work_timers_run() that ran something */
};

/* Every node must be disarmed. */
void work_timers_fini(struct work_timers *ts);
/* Arm, or arm again. t is kept until it has run or was disarmed; hard_us >= soft_us. */
void work_timers_set(struct work_timers *ts, struct work_timer *t, uint64_t soft_us,
                     uint64_t hard_us);
void work_timers_clear(struct work_timers *ts, struct work_timer *t);
/* When to call work_timers_run(); WORK_NEVER: no node is armed. */
uint64_t work_timers_due_us(const struct work_timers *ts);
/*
 * Run all nodes that are due; returns how many. A node that arms itself for the past runs at the
 * next call.
 */
size_t work_timers_run(struct work_timers *ts, uint64_t now_us);
