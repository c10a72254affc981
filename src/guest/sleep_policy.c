/* SPDX-License-Identifier: Apache-2.0 */
/* When guests sleep, and when they are woken ahead of work; see sleep_policy.h. */
#include "guest/sleep_policy.h"

#include "base/mem.h"

#define DEV_MAX ((1u << 29) - 1)

uint32_t sleep_average(uint32_t average, uint64_t sample)
{
    uint32_t s = (uint32_t)MIN(sample, (uint64_t)UINT32_MAX);
    if (average == 0)
        return MAX(s, 1u);
    int64_t next = (int64_t)average + ((int64_t)s - (int64_t)average) / 4;
    return (uint32_t)MAX(next, (int64_t)1);
}

/* Jacobson's estimator: the deviation is taken from the average before the sample. */
void sleep_note_gap(struct sleep_history *h, uint64_t gap_ms)
{
    uint64_t gap = MIN(gap_ms, (uint64_t)UINT32_MAX), before = h->gap_ms;
    uint64_t off = gap > before ? gap - before : before - gap;
    uint32_t dev = h->n == 0 ? (uint32_t)(gap / 2) : sleep_average(h->dev_ms, off);
    h->dev_ms = MIN(dev, DEV_MAX) & DEV_MAX;
    h->gap_ms = sleep_average(h->gap_ms, gap);
    h->n = (h->n < 7 ? h->n + 1u : 7u) & 7;
}

bool sleep_is_regular(const struct sleep_history *h)
{
    return h->n >= SLEEP_REGULAR_GAPS && h->gap_ms &&
           (uint64_t)h->dev_ms * SLEEP_REGULAR_PARTS <= h->gap_ms;
}

/* The cost of holding the memory for this long. */
static uint64_t hold_us(const struct sleep_costs *c, uint64_t ms)
{
    uint64_t kib = c->resident_bytes / 1024 + 1;
    uint64_t rate = (uint64_t)SLEEP_RATE_US * MAX(c->rate_times, 1u);
    return MIN(ms, (uint64_t)UINT32_MAX) * kib * rate / 1024 / 1000;
}

/* The time for which holding costs as much as a cycle. */
static uint64_t even_ms(const struct sleep_costs *c)
{
    uint64_t kib = c->resident_bytes / 1024 + 1;
    uint64_t rate = (uint64_t)SLEEP_RATE_US * MAX(c->rate_times, 1u);
    return (uint64_t)c->cycle_us * 1000 * 1024 / (kib * rate);
}

static uint64_t bounded(const struct sleep_costs *c, uint64_t ms)
{
    return MAX((uint64_t)SLEEP_MIN_MS, MIN(ms, c->default_ms * SLEEP_MAX_TIMES));
}

/* Work is expected at due_ms, plus or minus dev_ms. */
static struct sleep_plan plan_for(const struct sleep_costs *c, uint64_t due_ms, uint64_t dev_ms)
{
    uint64_t slack = dev_ms * SLEEP_WINDOW_TIMES, lead = SLEEP_AHEAD_LEAD_MS + c->wake_us / 1000;
    if (!c->is_asleep && due_ms <= even_ms(c) && due_ms + slack <= c->default_ms * SLEEP_MAX_TIMES)
        return (struct sleep_plan){ .sleep_ms = bounded(c, due_ms + slack + SLEEP_MIN_MS) };
    struct sleep_plan p = { .sleep_ms = SLEEP_MIN_MS };
    uint64_t early = dev_ms * 2 + lead; /* most of the window before due_ms */
    bool pays = c->wake_us >= SLEEP_AHEAD_MIN_US &&
                hold_us(c, early + dev_ms) < (uint64_t)c->wake_us * SLEEP_REACTION_WORTH;
    if (pays && due_ms > early + SLEEP_MIN_MS) {
        p.wake_ms = due_ms - early;
        p.give_up_ms = due_ms + MAX(slack, (uint64_t)SLEEP_MIN_MS);
    }
    return p;
}

struct sleep_plan sleep_make_plan(const struct sleep_costs *c, const struct sleep_history *h,
                                  uint64_t due_ms)
{
    if (c->cycle_us == 0)
        return (struct sleep_plan){ .sleep_ms = c->default_ms };
    bool regular = sleep_is_regular(h);
    uint64_t latest = h->gap_ms + (uint64_t)h->dev_ms * SLEEP_WINDOW_TIMES;
    if (due_ms && (!regular || due_ms <= latest)) /* otherwise the regular event is earlier */
        return plan_for(c, due_ms, 0);
    if (regular)
        return plan_for(c, h->gap_ms, h->dev_ms);
    uint64_t wait = even_ms(c);
    if (h->gap_ms > 4 * wait)
        wait /= 4;
    else if (h->gap_ms && h->gap_ms <= wait)
        wait *= 2;
    return (struct sleep_plan){ .sleep_ms = bounded(c, wait) };
}
