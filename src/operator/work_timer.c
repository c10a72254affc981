/* SPDX-License-Identifier: Apache-2.0 */
/* A binary heap by hard end, index 1 first; each node knows its place. */
#include "operator/work_timer.h"

#include <assert.h>

static void put(struct work_timers *ts, size_t at, struct work_timer *t)
{
    ts->heap[at] = t;
    t->heap_at = at;
}

static void sift_up(struct work_timers *ts, size_t at, struct work_timer *t)
{
    while (at > 1 && ts->heap[at / 2]->hard_us > t->hard_us) {
        put(ts, at, ts->heap[at / 2]);
        at /= 2;
    }
    put(ts, at, t);
}

static void sift_down(struct work_timers *ts, size_t at, struct work_timer *t)
{
    while (at * 2 <= ts->n) {
        size_t child = at * 2;
        if (child < ts->n && ts->heap[child + 1]->hard_us < ts->heap[child]->hard_us)
            child++;
        if (ts->heap[child]->hard_us >= t->hard_us)
            break;
        put(ts, at, ts->heap[child]);
        at = child;
    }
    put(ts, at, t);
}

void work_timers_fini(struct work_timers *ts)
{
    assert(ts->n == 0);
    free(ts->heap);
    ts->heap = NULL;
    ts->cap = 0;
}

void work_timers_set(struct work_timers *ts, struct work_timer *t, uint64_t soft_us,
                     uint64_t hard_us)
{
    assert(soft_us <= hard_us && hard_us != WORK_NEVER && t->run);
    t->soft_us = soft_us;
    t->hard_us = hard_us;
    if (t->heap_at == 0) {
        if (ts->n + 1 >= ts->cap) {
            ts->cap = ts->cap ? ts->cap * 2 : 16;
            ts->heap = xrealloc(ts->heap, ts->cap * sizeof *ts->heap);
        }
        put(ts, ++ts->n, t);
    }
    sift_up(ts, t->heap_at, t);
    sift_down(ts, t->heap_at, t);
}

void work_timers_clear(struct work_timers *ts, struct work_timer *t)
{
    size_t at = t->heap_at;
    if (at == 0)
        return;
    t->heap_at = 0;
    struct work_timer *last = ts->heap[ts->n--];
    if (last != t) {
        put(ts, at, last);
        sift_up(ts, at, last);
        sift_down(ts, last->heap_at, last);
    }
    if (ts->n == 0) {
        free(ts->heap);
        ts->heap = NULL;
        ts->cap = 0;
    }
}

uint64_t work_timers_due_us(const struct work_timers *ts)
{
    return ts->n ? ts->heap[1]->hard_us : WORK_NEVER;
}

size_t work_timers_run(struct work_timers *ts, uint64_t now_us)
{
    size_t n = 0;
    /* The bound: nodes that arm themselves for the past wait for the next call. */
    for (size_t max = ts->n; n < max && ts->n > 0 && ts->heap[1]->soft_us <= now_us; n++) {
        struct work_timer *t = ts->heap[1];
        work_timers_clear(ts, t);
        t->run(t, now_us);
    }
    if (n > 0)
        ts->n_wakeups++;
    return n;
}
