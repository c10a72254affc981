/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Budgets: what one request may cost in CPU time, counted in steps.
 *
 * One budget belongs to a request and is shared by all work for it: decoding, defaults, validation,
 * patches, apply, expressions, RBAC rules, selectors, table columns. A loop whose length a client
 * decides spends steps before or while it runs, and stops when budget_spend() returns false; the
 * request then fails with 413, and the message names the work that was too expensive. The request's
 * arena (mem.h) points to the budget, so code that has the arena has the budget.
 *
 * A step is about 10 ns of the reference machine (2 cores, 2.x GHz), rounded up: some loops spend
 * one for 3 ns. Steps, unlike a clock, make the same request end the same way each time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    BUDGET_MAX_STEPS = 40000000 /* of one request: others wait for it 0.4 s at most */
};

struct budget {
    uint64_t steps, max_steps;
    const char *over; /* the work that used it up, "validating"; NULL: none */
};

#define BUDGET_INIT ((struct budget){ .max_steps = BUDGET_MAX_STEPS })

static inline bool budget_is_over(const struct budget *w)
{
    return w && w->over;
}

/* Count n steps of `what` (static text). false: the budget is used up, stop. w NULL: no limit. */
static inline bool budget_spend(struct budget *w, uint64_t n, const char *what)
{
    if (!w)
        return true;
    w->steps += n;
    if (__builtin_expect(w->steps > w->max_steps, 0) && !w->over)
        w->over = what;
    return !w->over;
}

/* Allow n more steps, because more data has arrived: a page of a list, an event of a watch. */
static inline void budget_allow(struct budget *w, uint64_t n)
{
    if (w)
        w->max_steps += n;
}
