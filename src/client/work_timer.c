/* SPDX-License-Identifier: Apache-2.0 */
/* A heap by hard end. */
#include "client/work_timer.h"

#include "base/heap.h"

static bool timer_before(const void *a, const void *b, const void *arg)
{
    return (*(struct work_timer *const *)a)->hard_us < (*(struct work_timer *const *)b)->hard_us;
}

static void timer_placed(void *entry, size_t place)
{
    (*(struct work_timer **)entry)->heap_at = place;
}

static const struct heap_kind by_hard_end = { sizeof(struct work_timer *), timer_before,
                                              timer_placed };

void work_timers_fini(struct work_timers *ts)
{
    assert(ts->heap.n == 0);
    vec_fini(&ts->heap);
}

void work_timers_set(struct work_timers *ts, struct work_timer *t, uint64_t soft_us,
                     uint64_t hard_us)
{
    assert(soft_us <= hard_us && hard_us != WORK_NEVER && t->run);
    assert(!t->heap_at || ts->heap.p[t->heap_at - 1] == t);
    t->soft_us = soft_us;
    t->hard_us = hard_us;
    if (t->heap_at)
        heap_fix(&by_hard_end, NULL, &ts->heap, t->heap_at);
    else
        heap_push(&by_hard_end, NULL, &ts->heap, t);
}

void work_timers_clear(struct work_timers *ts, struct work_timer *t)
{
    if (t->heap_at == 0)
        return;
    assert(t->heap_at <= ts->heap.n && ts->heap.p[t->heap_at - 1] == t);
    heap_remove(&by_hard_end, NULL, &ts->heap, t->heap_at);
    assert(t->heap_at == 0);
    if (ts->heap.n == 0)
        vec_fini(&ts->heap);
}

uint64_t work_timers_due_us(const struct work_timers *ts)
{
    return ts->heap.n ? ts->heap.p[0]->hard_us : WORK_NEVER;
}

size_t work_timers_run(struct work_timers *ts, uint64_t now_us)
{
    size_t n = 0;
    /* The bound ensures that nodes that arm themselves for the past wait for the next call. */
    for (size_t max = ts->heap.n; n < max && ts->heap.n > 0 && ts->heap.p[0]->soft_us <= now_us;
         n++) {
        struct work_timer *t = ts->heap.p[0];
        work_timers_clear(ts, t);
        t->run(t, now_us);
    }
    if (n > 0)
        ts->n_wakeups++;
    return n;
}
