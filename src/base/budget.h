/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Budgets: what one request may cost in CPU time, counted in steps.
 *
 * One budget belongs to a request and is shared by all that is done for it: decoding, defaults,
 * validation, patches, apply, expressions, rules of roles, selectors, columns of tables. Code that
 * loops over what a client decides spends steps before or while it loops, and stops when
 * budget_spend() says no; the request then ends with 413, which names what took too much. The
 * budget hangs on the request's arena (mem.h), so whatever has the arena has the budget.
 *
 * A step is about 10 ns of the reference machine (2 cores, 2.x GHz), rounded up: some loops spend
 * one for 3 ns. Steps, unlike a clock, make the same request end the same way each time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    BUDGET_MAX_STEPS = 40000000 /* of one request: 0.4 s, so that others wait no longer than that */
};

struct budget {
    uint64_t steps, max_steps;
    const char
        *over; /* what was being done when the budget ended, "validating"; NULL: it has not */
};

#define BUDGET_INIT ((struct budget){ .max_steps = BUDGET_MAX_STEPS })

static inline bool budget_is_over(const struct budget *w)
{
    return w && w->over;
}

/* Count n steps of `what` (static text). False: the budget is used up, stop. w NULL: no bound. */
static inline bool budget_spend(struct budget *w, uint64_t n, const char *what)
{
    if (!w)
        return true;
    w->steps += n;
    if (__builtin_expect(w->steps > w->max_steps, 0) && !w->over)
        w->over = what;
    return !w->over;
}

/* More data is there that may be worked on: a page of a list, an event of a watch. */
static inline void budget_allow(struct budget *w, uint64_t n)
{
    if (w)
        w->max_steps += n;
}
