/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slow guests of ABI v1; see guest_impl.h.
 *
 * Guests take turns in a runner, so one guest that computes delays all others in it. After a slice
 * of CPU time it lets those that wait go first, and after some slices, or some long activations in
 * a row, it must move to a runner for slow guests, which the kernel preempts. The key that it is
 * working on counts as failed; its memory is saved unless that alone would delay the others.
 *
 *                SLOW_SLICES in one activation: ended, starts again there
 *                SLOW_IN_A_ROW slow ones, or half of a runner's time that others share, in however
 *                many: sleeps, wakes up there
 *     QUICK -----------------------------------------------------------> SLOW
 *           <----------------------------------------------------------- SLOW_QUICK quick ones in a
 *                row: back when it next sleeps
 */
#include "guest/guest_impl.h"

#include "base/clock.h"

#include <errno.h>

/* Detects many short activations in a row, which keep the runner busy for the others. */
static bool is_busy(struct active *a, uint64_t cpu_us)
{
    uint64_t now = clock_mono_ms(), passed_ms = now - a->busy_since_ms;
    a->busy_us += cpu_us;
    if (passed_ms < SLOW_BUSY_MS)
        return false;
    bool busy = a->busy_us / 10 >= passed_ms * SLOW_BUSY_PERCENT; /* us / 1000 * 100 */
    a->busy_since_ms = now;
    a->busy_us = 0;
    return busy && pool_has_others(&a->tenant) && !pool_is_slow(&a->tenant);
}

void guest_note_cost(struct guest *g, uint32_t cpu_us, uint32_t activations)
{
    struct active *a = g->active;
    g->cpu_us += cpu_us;
    a->cost_us += cpu_us;
    if (activations == 0 || g->abi != GUEST_ABI_V1)
        return;
    bool is_slow = a->cost_us / activations >= RUNNER_SLOW_US;
    if (is_busy(a, a->cost_us))
        g->slow = SLOW_QUICK;
    a->cost_us = 0;
    a->n_slices = 0;
    if (!is_slow) {
        g->n_slow = 0;
        g->slow = (uint8_t)(g->slow > activations ? g->slow - activations : 0);
        return;
    }
    if (g->n_slow < SLOW_IN_A_ROW)
        g->n_slow++;
    if (g->n_slow == SLOW_IN_A_ROW || g->slow)
        g->slow = SLOW_QUICK;
}

static void move_now(struct guest *g, const char *what)
{
    struct err why = { 0 };
    g->slow = SLOW_QUICK;
    (void)err_set(&why, -EAGAIN, "moved to a runner for slow guests: %s", what);
    guest_end(g, &why, false);
}

void guest_note_trap(struct guest *g, uint32_t cpu_us)
{
    g->cpu_us += cpu_us;
    if (g->active->n_slices >= SLOW_START_SLICES)
        g->slow = SLOW_QUICK;
    g->active->n_slices = 0;
}

/* A start may take long, and would take as long in any other runner. */
void guest_on_slice(struct guest *g, bool is_start)
{
    struct active *a = g->active;
    struct err err = { 0 };
    if (clock_mono_ms() - a->begun_ms >= GUEST_ACTIVATION_WALL_MS_MAX) {
        (void)err_set(&err, -ETIMEDOUT, "the activation ran for longer than %d minutes",
                      GUEST_ACTIVATION_WALL_MS_MAX / 60000);
        guest_end(g, &err, true);
    } else if (++a->n_slices >= SLOW_SLICES && !is_start && !pool_is_slow(&a->tenant)) {
        move_now(g, "an activation took long while others waited");
    } else {
        (void)guest_reply(g, a->call_id, g->incarnation, 0, STR(""), &err);
    }
}

bool guest_leave_if_slow(struct guest *g)
{
    struct active *a = g->active;
    if (!g->slow || g->host->opts.sleep_never || pool_is_slow(&a->tenant))
        return false;
    if (!g->is_stateless &&
        (a->dirty_pages > SLOW_SAVE_PAGES || !g->module->info->is_dissolvable)) {
        move_now(g, "its activations take long");
        return true;
    }
    guest_want(g, GUEST_WANT_SLEEP);
    return false;
}
