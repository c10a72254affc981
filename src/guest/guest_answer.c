/* SPDX-License-Identifier: Apache-2.0 */
/* Handles messages from runners: results, failures, the end of a runner; see guest_impl.h. */
#include "guest/guest_impl.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "base/slab.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

enum { TRUST_ACTIVATIONS = 16 }; /* activations alone for a guest that took a runner down */

/* The values of guest_op.kind are part of the protocol. */
_Static_assert(GUEST_OP_REQUEST == 0 && GUEST_OP_DELAY == 1 && GUEST_OP_WATCH == 2,
               "proto_op.kind");

/* ---- failure ---- */

static void on_backoff(struct timer *timer)
{
    struct guest *g = container_of(timer, struct active, timer)->guest;
    g->start_wanted = true;
    g->restarts++;
    guest_move(g, GUEST_COLD, NULL);
    if (!g->is_dead)
        guest_make_ready(g);
}

/* End the current incarnation: operations, queue, snapshot. */
static void end_incarnation(struct guest *g)
{
    struct active *a = guest_get_active(g);
    pool_drop(&a->tenant);
    guest_release_swap(g);
    guest_note_kept_awake(g, NULL);
    timer_stop(g->host->loop, &a->timer);
    timer_stop(g->host->loop, &a->parked);
    list_remove(&a->idle);
    list_remove(&a->ready);
    list_remove(&a->short_of_swap);
    guest_free_sent(a);
    guest_queue_fini(&a->queue);
    guest_end_command(a);
    a->want = GUEST_WANT_NOTHING;
    a->has_swap_fd = false;
    a->calling = GUEST_CALLING_NONE;
    a->dirty_pages = 0;
    guest_remove_swap(g);
    assert(list_is_empty(&a->sent) && a->queue.n == 0 && a->swap_reserved == 0);
    assert(!a->tenant.runner && a->command == GUEST_COMMAND_NONE);
    g->incarnation++;
    g->next_id = 0;
    g->n_outstanding = 0;
    g->rest = GUEST_REST_NONE;
    g->start_wanted = g->fail_wanted = false;
    g->memory_pages = 0;
}

/* is_strike: the failure is the guest's own fault; otherwise it restarts at once. */
void guest_end(struct guest *g, const struct err *why, bool is_strike)
{
    struct guest_host *h = g->host;
    end_incarnation(g);
    guest_set_error(g, why);
    if (!is_strike) {
        g->start_wanted = true;
        g->restarts++;
        if (g->state == GUEST_COLD)
            guest_report(g, why);
        else
            guest_move(g, GUEST_COLD, why);
        if (!g->is_dead)
            guest_make_ready(g);
        return;
    }
    if (g->started_ms && clock_mono_ms() - g->started_ms > GUEST_BACKOFF_RESET_MS)
        g->backoff_ms = 0;
    g->backoff_ms =
        (uint32_t)backoff_next(g->backoff_ms, GUEST_BACKOFF_FIRST_MS, GUEST_BACKOFF_MAX_MS);
    timer_start(h->loop, &g->active->timer, g->backoff_ms, on_backoff);
    guest_move(g, GUEST_FAILED, why);
}

/* ---- answers ---- */

static int check_ops(const struct guest *g, const struct proto_answer *a, struct err *err)
{
    struct rd r = a->ops;
    struct proto_op op;
    if (a->n_ops > GUEST_OPS_MAX - g->n_outstanding)
        return err_set(err, E_INVALID, "more operations than may be outstanding");
    for (uint32_t i = 0; i < a->n_ops; i++) {
        proto_next_op(&r, &op);
        if (op.id != g->next_id + i)
            return err_set(err, E_INVALID, "operation %llu where %llu is next",
                           (unsigned long long)op.id, (unsigned long long)(g->next_id + i));
        if (op.kind == GUEST_OP_WATCH && g->abi != GUEST_ABI_G1)
            return err_set(err, E_INVALID, "an operation that its ABI lacks");
    }
    if (a->next_id != g->next_id + a->n_ops && !(a->flags & ANSWER_TRAPPED))
        return err_set(err, E_INVALID, "operations are missing");
    return 0;
}

static size_t globals_size(const struct guest *g)
{
    size_t n = 0;
    for (size_t i = 0; i < g->module->info->globals.n; i++)
        n += g->module->info->globals.p[i] == 'v' ? 16 : 8;
    return n;
}

/* Whether the command in flight, or the rest of it, can end like this. */
static bool is_expected(const struct active *act, const struct proto_answer *a)
{
    bool may_suspend_now = (act->sent_flags & RUN_SUSPEND) != 0;
    bool is_suspending = act->command == GUEST_COMMAND_SUSPENDING;
    switch (a->flags) {
    case ANSWER_TRAPPED:
    case ANSWER_DONE:
        return !is_suspending;
    case ANSWER_DONE | ANSWER_MORE:
    case ANSWER_DONE | ANSWER_SUSPENDED:
    case ANSWER_DONE | ANSWER_SUSPENDED | ANSWER_KEPT:
    case ANSWER_DONE | ANSWER_SUSPEND_FAILED:
        return may_suspend_now && !is_suspending;
    case ANSWER_SUSPENDED:
    case ANSWER_SUSPENDED | ANSWER_KEPT:
    case ANSWER_SUSPEND_FAILED:
        return is_suspending && a->n_ops == 0 && a->activations == 0;
    default:
        return false;
    }
}

/* Check every field of the answer that could be wrong: runners are not trusted. */
static int check_answer(const struct guest *g, const struct proto_answer *a, struct err *err)
{
    bool suspended = (a->flags & ANSWER_SUSPENDED) != 0;
    if (a->incarnation != g->incarnation)
        return err_set(err, E_INVALID, "another incarnation");
    if (!is_expected(g->active, a))
        return err_set(err, E_INVALID, "flags %x make no sense", a->flags);
    if ((uint64_t)a->memory_pages * MODULE_PAGE_BYTES > g->memory_max ||
        (uint64_t)a->dirty_pages * 4096 > g->memory_max || a->swap_bytes > 2 * g->memory_max)
        return err_set(err, E_INVALID, "more memory than it may have");
    if (suspended && (a->globals.n != globals_size(g) ||
                      (a->flags & ANSWER_KEPT ? 1 : 0) == g->module->info->is_dissolvable))
        return err_set(err, E_INVALID, "not a record of its module");
    if (a->clock_offset_ns < g->clock_offset_ns)
        return err_set(err, E_INVALID, "its clock goes back");
    if (g->abi == GUEST_ABI_V1 ? a->n_ops || a->n_logs : a->n_notes)
        return err_set(err, E_INVALID, "what its ABI lacks");
    int r = guest_check_notes(g, a->n_notes, a->notes, (a->flags & ANSWER_DONE) != 0, err);
    return r < 0 ? r : check_ops(g, a, err);
}

bool guest_may_log(struct guest *g)
{
    if (g->log_per_s)
        return guest_log_allows(&g->log_lines, g->log_per_s, 2u * g->log_per_s);
    return guest_log_allows(&g->log_lines, GUEST_LOG_LINES_PER_S, GUEST_LOG_LINES_BURST);
}

void guest_say_left_out(struct guest *g, uint32_t left_out)
{
    if (left_out && !g->is_dead && g->log_per_s && g->ops->on_limit)
        g->ops->on_limit(g, GUEST_LIMIT_LOG, left_out, g->arg);
    if (left_out && !g->is_dead && g->ops->on_log) {
        char text[48];
        int n = snprintf(text, sizeof text, "(%u lines left out)", left_out);
        g->ops->on_log(g, 2, str_n(text, (size_t)n), g->arg);
    }
}

static void hand_out_logs(struct guest *g, const struct proto_answer *a)
{
    struct rd r = a->logs;
    uint32_t left_out = a->logs_left_out;
    for (uint32_t i = 0; i < a->n_logs && !g->is_dead; i++) {
        struct proto_log log;
        proto_next_log(&r, &log);
        if (!guest_may_log(g))
            left_out++;
        else if (g->ops->on_log)
            g->ops->on_log(g, (int)log.fd, log.line, g->arg);
    }
    guest_say_left_out(g, left_out);
}

static void hand_out_ops(struct guest *g, const struct proto_answer *a)
{
    struct rd r = a->ops;
    uint32_t incarnation = g->incarnation;
    for (uint32_t i = 0; i < a->n_ops && !g->is_dead && g->incarnation == incarnation; i++) {
        struct proto_op op;
        proto_next_op(&r, &op);
        struct guest_op o = { .kind = op.kind,
                              .id = op.id,
                              .incarnation = incarnation,
                              .stream = op.stream,
                              .delay_ms = op.delay_ms,
                              .payload = op.payload };
        g->ops->on_op(g, &o, g->arg);
    }
}

static void note_activation(struct guest *g, const struct proto_answer *a)
{
    uint64_t now = clock_mono_ms();
    g->activations += a->activations;
    g->host->activations += a->activations;
    if (a->activations && g->last_ms)
        sleep_note_gap(&g->history, now - g->last_ms);
    if (a->activations) {
        g->last_ms = now;
        if (g->expected_ms <= now)
            g->expected_ms = 0;
    }
    if (g->suspect && a->activations >= g->suspect) {
        g->suspect = 0;
        pool_mingle(&g->active->tenant);
    } else if (g->suspect) {
        g->suspect = (uint8_t)(g->suspect - a->activations);
    }
}

static void keep_record(struct guest *g, const struct proto_answer *a)
{
    assert(a->flags & ANSWER_SUSPENDED);
    g->suspends++;
    g->host->suspends++;
    g->suspend_us = sleep_average(g->suspend_us, a->suspend_us);
    g->has_image = true;
    g->rest = a->flags & ANSWER_KEPT ? GUEST_REST_KEPT : GUEST_REST_FILE;
    g->swap_mtime_ns = a->swap_mtime_ns;
    guest_set_swap_bytes(g, a->swap_bytes);
    guest_note_kept_awake(g, NULL);
    if (g->globals_n != a->globals.n) {
        slab_free(g->globals);
        g->globals = slab_alloc(a->globals.n);
        g->globals_n = (uint32_t)a->globals.n;
    }
    if (a->globals.n)
        memcpy(g->globals, a->globals.p, a->globals.n);
}

static void say_room(struct guest *g)
{
    struct active *a = g->active;
    if (g->is_dead || !a || !a->room_wanted || a->queue.n > GUEST_QUEUE_MAX_EVENTS / 2 ||
        a->queue.bytes > GUEST_QUEUE_MAX_BYTES / 2)
        return;
    a->room_wanted = false;
    if (g->ops->on_room)
        g->ops->on_room(g, g->arg);
}

void guest_note_wake(struct guest *g)
{
    struct active *a = g->active;
    if (!(a->sent_flags & RUN_WAKE) || a->command != GUEST_COMMAND_SENT)
        return;
    uint64_t took_us = (clock_mono_ns() - a->sent_ns) / 1000;
    guest_move_command(a, GUEST_COMMAND_WOKEN);
    g->wakes++;
    if (a->is_early) { /* no event was waiting */
        g->host->wake_us.n++;
        g->wakes_ahead = (uint16_t)MIN(g->wakes_ahead + 1, UINT16_MAX);
        return;
    }
    g->wake_us_last = (uint32_t)MIN(took_us, (uint64_t)UINT32_MAX);
    g->wake_us = sleep_average(g->wake_us, took_us);
    latency_add(&g->latency, took_us);
    histogram_add(&guest_wake_kind, &g->host->wake_us, took_us);
}

/* Account for the activations of a command. */
static void take_done(struct guest *g, const struct proto_answer *a)
{
    struct active *act = g->active;
    struct rd r = a->ops;
    assert(act->command == GUEST_COMMAND_SENT || act->command == GUEST_COMMAND_WOKEN);
    if (act->sent_flags & RUN_START)
        g->started_ms = clock_mono_ms();
    if (act->sent_flags & RUN_WAKE)
        g->resume_us = sleep_average(g->resume_us, a->resume_us);
    guest_note_wake(g);
    if (g->abi != GUEST_ABI_V1) /* with V1 the notes say which activations */
        guest_free_sent(act);
    note_activation(g, a);
    guest_note_cost(g, a->cpu_us, a->activations);
    g->next_id = a->next_id;
    g->clock_offset_ns = a->clock_offset_ns;
    for (uint32_t i = 0; i < a->n_ops; i++) {
        struct proto_op op;
        proto_next_op(&r, &op);
        guest_add_op(g, op.id, op.kind == GUEST_OP_WATCH);
    }
    if (g->state == GUEST_RUNNING)
        g->rest = GUEST_REST_NONE;
}

/* Handle the end of a command. */
static void take_end(struct guest *g, const struct proto_answer *a)
{
    struct active *act = g->active;
    g->memory_pages = a->memory_pages;
    act->dirty_pages = a->dirty_pages;
    guest_release_swap(g);
    if (a->flags & ANSWER_SUSPENDED) {
        keep_record(g, a);
        act->has_swap_fd = g->rest == GUEST_REST_KEPT;
        if (g->rest != GUEST_REST_KEPT)
            pool_release(&act->tenant);
    } else if (a->flags & ANSWER_SUSPEND_FAILED) {
        guest_suspend_failed(g, a);
    }
}

/* The answer has been processed: choose what the guest does next. */
static void settle(struct guest *g, const struct proto_answer *a)
{
    bool asleep = (a->flags & ANSWER_SUSPENDED) != 0;
    assert(g->active->command == GUEST_COMMAND_NONE && !g->active->tenant.sent);
    enum guest_state to = asleep ? GUEST_ASLEEP : GUEST_AWAKE;
    if (g->state != to)
        guest_move(g, to, NULL);
    if (g->is_dead || g->state != to)
        return;
    struct active *act = g->active;
    if (act->queue.n && !g->host->keeps) {
        guest_make_ready(g);
        return;
    }
    if (!asleep && guest_leave_if_slow(g))
        return;
    if (!asleep)
        guest_rest_awake(g);
    else if (g->rest != GUEST_REST_KEPT && !list_is_linked(&act->ready) && !guest_rest_asleep(g))
        guest_deactivate(g);
}

int guest_on_answer(struct tenant *t, const struct proto_answer *a, struct err *err)
{
    struct active *act = container_of(t, struct active, tenant);
    struct guest *g = act->guest;
    struct guest_host *h = g->host;
    int r = check_answer(g, a, err);
    if (r < 0)
        return r;
    if (a->flags & ANSWER_TRAPPED) {
        struct err why = { 0 };
        (void)err_set(&why, a->code < 0 ? a->code : E_TRAP, STR_FMT, STR_ARG(a->text));
        pool_release(t);
        guest_end_command(act);
        g->clock_offset_ns = a->clock_offset_ns;
        guest_note_trap(g, a->cpu_us);
        hand_out_logs(g, a);
        guest_hand_out_notes(g, a->n_notes, a->notes);
        bool is_damaged = a->code == E_CORRUPT && (act->sent_flags & RUN_WAKE);
        if (!g->is_dead)
            guest_end(g, &why, !is_damaged);
        guest_host_close_if_idle(h);
        return 0;
    }
    if (a->flags & ANSWER_DONE)
        take_done(g, a);
    else
        g->cpu_us += a->cpu_us;
    if (a->flags & ANSWER_MORE) {
        guest_move_command(act, GUEST_COMMAND_SUSPENDING);
    } else {
        guest_end_command(act);
        take_end(g, a);
    }
    hand_out_logs(g, a);
    guest_hand_out_notes(g, a->n_notes, a->notes);
    say_room(g); /* before guest_deactivate() of a sleeping guest discards room_wanted */
    if (!g->is_dead && !(a->flags & ANSWER_MORE))
        settle(g, a);
    hand_out_ops(g, a);
    guest_host_close_if_idle(h);
    return 0;
}

/* Return to the state before the command was sent: nothing of it had begun. */
static void take_back(struct guest *g)
{
    struct active *a = g->active;
    assert(!a->tenant.runner && a->calling == GUEST_CALLING_NONE);
    guest_release_swap(g);
    guest_queue_put_back(&a->queue, &a->sent);
    bool was_cold = (a->sent_flags & RUN_START) && g->rest != GUEST_REST_NOWHERE;
    if (was_cold)
        g->start_wanted = true;
    enum guest_state before = was_cold ? GUEST_COLD : GUEST_ASLEEP;
    a->has_swap_fd = false;
    if (g->state != before)
        guest_move(g, before, NULL);
    if (!g->is_dead)
        guest_make_ready(g);
}

void guest_on_lost(struct tenant *t, enum tenant_lost how, const struct err *why)
{
    struct active *a = container_of(t, struct active, tenant);
    struct guest *g = a->guest;
    struct err err = *why;
    (void)err_ctx(&err, E_EOF, "runner lost");
    a->calling = GUEST_CALLING_NONE;
    guest_end_command(a);
    timer_stop(g->host->loop, &a->parked);
    if (how == LOST_AT_START && (a->sent_flags & RUN_START)) {
        guest_end(g, &err, true); /* there is nothing to lose, and the service must be notified */
        return;
    }
    if (pool_is_unbegun(how) && (a->sent_flags & (RUN_START | RUN_WAKE))) {
        guest_set_error(g, &err);
        take_back(g);
        return;
    }
    if (how == LOST_RUNNING)
        g->suspect = TRUST_ACTIVATIONS;
    guest_end(g, &err, how == LOST_RUNNING);
}
