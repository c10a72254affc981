/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses and sends a guest's next command, and decides when it sleeps; see guest_impl.h. */
#include "guest/guest_impl.h"

#include "base/clock.h"
#include "wasm/snapshot.h"

#include <errno.h>
#include <unistd.h>

enum { BATCH_BYTES_MAX = 32 << 10 }; /* small deliveries that share one command */

_Static_assert((int)GUEST_OPS_MAX <= (int)PROTO_OPS_MAX &&
                   (int)GUEST_MESSAGE_MAX_BYTES == (int)PROTO_MESSAGE_MAX &&
                   (int)GUEST_PAYLOAD_MAX_BYTES < (int)PROTO_OPS_BYTES_MAX &&
                   (int)GUEST_PAYLOAD_MAX_BYTES + (int)PROTO_SETUP_MAX + 4096 < (int)PROTO_BODY_MAX,
               "limits of guest.h and proto.h");

/* ---- commands ---- */

/* The swap file to send with this command; -1: none is needed. */
static int open_swap(struct guest *g, struct proto_run *run, struct err *err)
{
    char name[SWAP_NAME_MAX];
    struct active *a = g->active;
    if (run->flags & RUN_WAKE) {
        guest_swap_name(g, name);
        int fd = swap_open(&g->host->swap, name, err);
        if (fd >= 0 && guest_swap_mtime_ns(fd) != g->swap_mtime_ns) {
            (void)close(fd); /* not changed by us */
            return err_set(err, E_CORRUPT, "its swap file was changed while it slept");
        }
        return fd;
    }
    if (!(run->flags & RUN_SUSPEND))
        return -1;
    if (!g->has_image)
        run->flags |= RUN_FIRST;
    if (a->has_swap_fd)
        return -1;
    guest_swap_name(g, name);
    uint64_t bytes = run->flags & RUN_RECORD ? snapshot_file_bytes(g->memory_max) : g->memory_max;
    int fd = swap_create(&g->host->swap, name, bytes, err);
    g->has_file = g->has_file || fd >= 0;
    return fd;
}

static void take_deliveries(struct guest *g, struct proto_run *run)
{
    struct active *a = g->active;
    size_t bytes = 0;
    const struct delivery *next;
    while (run->n_deliveries < PROTO_DELIVERIES_MAX && (next = guest_queue_peek(&a->queue))) {
        bytes += next->n;
        if (run->n_deliveries && bytes > BATCH_BYTES_MAX)
            break;
        struct delivery *d = guest_queue_pop(&a->queue);
        list_push_back(&a->sent, &d->node);
        run->deliveries[run->n_deliveries++] =
            (struct proto_delivery){ .id = d->flags & DELIVERY_ACTIVATE ? d->token : d->id,
                                     .flags = d->flags,
                                     .payload = str_n(d->payload, d->n) };
    }
}

static uint32_t order_flags(struct guest *g)
{
    const struct guest_host *h = g->host;
    uint32_t flags = h->opts.force_pagemap ? RUN_PAGEMAP : 0;
    if (g->log_debug)
        flags |= RUN_LOG_DEBUG;
    if (g->state == GUEST_COLD || g->rest == GUEST_REST_NOWHERE)
        flags |= RUN_START;
    else if (g->state == GUEST_ASLEEP && g->rest != GUEST_REST_KEPT)
        flags |= RUN_WAKE;
    if (guest_has_record(g))
        flags |= RUN_RECORD | (flags & RUN_WAKE && g->rest == GUEST_REST_ADOPTED ? RUN_VERIFY : 0);
    bool is_wanted = g->active->sleep_wanted || h->opts.sleep_always;
    bool may_sleep = !h->opts.sleep_never && clock_mono_ms() >= g->active->no_sleep_until_ms;
    if (!g->is_stateless && is_wanted && may_sleep && guest_reserve_swap(g))
        flags |= RUN_SUSPEND;
    return flags;
}

static const struct str no_setup = { "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16 };

static int place(struct guest *g, struct err *err)
{
    if (g->active->tenant.runner)
        return pool_can_send(&g->active->tenant) ? 0 : -EAGAIN;
    g->active->tenant.may_park = g->abi == GUEST_ABI_V1;
    enum runner_share share = g->suspect ? RUNNER_ALONE : g->slow ? RUNNER_SLOW : RUNNER_SHARED;
    int r = pool_place(g->host->runners, &g->active->tenant, g->module, share, err);
    if (r == 0)
        g->active->has_swap_fd = false;
    return r;
}

/* Work has arrived before the planned wake. */
static void timer_stop_ahead(struct active *a)
{
    if (a->wake_at_ms)
        timer_stop(a->guest->host->loop, &a->timer);
}

/* Send the guest's next command. -EAGAIN: no runner has room. */
int guest_send_next(struct guest *g, struct err *err)
{
    static struct proto_run run; /* static because it is large; filled for each command */
    struct active *a = g->active;
    const struct guest_host *h = g->host;
    uint64_t decided_ns = clock_mono_ns();
    uint32_t flags = order_flags(g);
    bool is_ahead = a->wake_wanted && a->queue.n == 0 && (flags & RUN_WAKE);
    a->wake_wanted = false;
    if (is_ahead) {
        flags = (flags | RUN_AHEAD) & ~(uint32_t)RUN_SUSPEND;
        guest_release_swap(g);
    }
    if (!(flags & (RUN_START | RUN_SUSPEND | RUN_AHEAD)) && a->queue.n == 0) {
        bool dissolve = a->sleep_wanted && g->is_stateless && !h->opts.sleep_never;
        a->sleep_wanted = false;
        if (dissolve)
            guest_dissolve(g);
        else
            guest_rest_awake(g); /* it must not sleep now */
        return 0;
    }
    int r = place(g, err);
    if (r < 0) {
        guest_release_swap(g);
        return r;
    }
    run = (struct proto_run){ .flags = flags };
    bool was_placed = run.flags & (RUN_START | RUN_WAKE);
    int fd = open_swap(g, &run, err);
    if (fd < 0 && (run.flags & RUN_WAKE)) {
        pool_drop(&a->tenant);
        guest_release_swap(g);
        g->has_file = fd != -ENOENT; /* without the file there is nothing to wake */
        return fd;
    }
    if (fd < 0 && fd != -1) { /* the guest cannot sleep, but it can work */
        uint64_t skipped;
        if (log_rate_ok(&g->host->disk_rate, 60000, &skipped))
            log_warn("cannot make a swap file", "guest=%s/%s reason=\"%s\"", g->name,
                     g->name + g->name_at, err_text(err));
        a->no_sleep_until_ms = clock_mono_ms() + SUSPEND_RETRY_MS;
        guest_release_swap(g);
        guest_note_kept_awake(g, err);
        run.flags &= ~(uint32_t)(RUN_SUSPEND | RUN_FIRST);
        fd = -1;
    }
    a->has_swap_fd = a->has_swap_fd || fd >= 0;
    if (g->state != GUEST_COLD && !h->keeps)
        take_deliveries(g, &run);
    run.guest = g->serial;
    run.incarnation = g->incarnation;
    run.abi = (enum guest_abi)g->abi;
    run.activation_ms = g->activation_ms;
    run.memory_max_bytes = g->memory_max;
    run.ops_room = GUEST_OPS_MAX - g->n_outstanding;
    run.next_id = g->next_id;
    run.clock_offset_ns = g->clock_offset_ns;
    run.skipped_ms = clock_skipped_ms();
    run.swap_room_bytes = a->swap_reserved;
    if (was_placed)
        run.setup = g->setup ? str_n(g->setup, g->setup_n) : no_setup;
    if (run.flags & RUN_WAKE) {
        run.memory_pages = g->memory_pages;
        run.globals = str_n(g->globals, g->globals_n);
    }
    uint8_t identity[SNAPSHOT_IDENTITY_BYTES];
    if ((run.flags & RUN_RECORD) && (run.flags & RUN_SUSPEND)) {
        guest_get_identity(g, identity);
        run.identity = str_n((const char *)identity, sizeof identity);
    }
    timer_stop_ahead(a);
    a->is_early = is_ahead;
    a->is_done = a->has_woken = false;
    a->begun_ms = decided_ns / 1000000;
    a->sent_flags = run.flags;
    a->sent_ns = decided_ns;
    a->sleep_wanted = false;
    g->start_wanted = false;
    list_remove(&a->idle);
    pool_send(&a->tenant, &run, fd, (uint64_t)g->activation_ms * (run.n_deliveries + 1));
    if (run.n_deliveries || (run.flags & (RUN_START | RUN_AHEAD)))
        guest_move(g, GUEST_RUNNING, NULL);
    return 0;
}

/* If there is still no runner, a sleeping guest keeps sleeping; one that never started fails. */
static void on_retry(struct timer *timer)
{
    guest_make_ready(container_of(timer, struct active, timer)->guest);
}

void guest_cannot_send(struct guest *g, const struct err *why)
{
    if (why->code == E_CORRUPT) {
        guest_end(g, why, false);
        return;
    }
    if (g->state != GUEST_ASLEEP || !(g->has_file || g->rest == GUEST_REST_NOWHERE)) {
        guest_end(g, why, true);
        return;
    }
    guest_set_error(g, why);
    timer_start(g->host->loop, &g->active->timer, GUEST_BACKOFF_FIRST_MS, on_retry);
}

bool guest_wants_to_act(const struct guest *g)
{
    const struct active *a = g->active;
    if (a->tenant.sent || g->state == GUEST_FAILED || g->state == GUEST_RUNNING)
        return false;
    if (g->host->keeps) /* nothing new is started */
        return a->sleep_wanted && g->state == GUEST_AWAKE;
    if (g->state == GUEST_COLD)
        return g->start_wanted;
    return a->queue.n > 0 || (a->sleep_wanted && g->state == GUEST_AWAKE) ||
           (a->wake_wanted && g->state == GUEST_ASLEEP && g->rest != GUEST_REST_KEPT &&
            g->rest != GUEST_REST_NOWHERE);
}

/* ---- sleep ---- */

static struct sleep_plan plan_of(const struct guest *g, uint64_t now)
{
    struct guest_host *h = g->host;
    if (g->idle_ms)
        return (struct sleep_plan){ .sleep_ms = g->idle_ms };
    bool is_measured = g->suspends && g->wakes;
    const struct sleep_costs costs = { .cycle_us = is_measured ? g->resume_us + g->suspend_us : 0,
                                       .wake_us = g->wake_us,
                                       .resident_bytes = guest_resident_bytes(g),
                                       .default_ms = h->opts.idle_ms,
                                       .is_asleep = g->state == GUEST_ASLEEP,
                                       .rate_times = pressure_times(&h->pressure) };
    /* A missed rhythm is no longer a rhythm. */
    uint64_t latest = g->history.gap_ms + (uint64_t)g->history.dev_ms * SLEEP_WINDOW_TIMES;
    static const struct sleep_history none;
    const struct sleep_history *history = now - g->last_ms > latest ? &none : &g->history;
    return sleep_make_plan(&costs, history, g->expected_ms > now ? g->expected_ms - now : 0);
}

/* Plan the coming idle time. */
static void make_plan(struct guest *g, uint64_t now)
{
    struct active *a = g->active;
    if (a->is_early) { /* keep the plan made when it fell asleep */
        a->sleep_at_ms = MAX(a->give_up_ms, now + SLEEP_MIN_MS);
        a->wake_at_ms = 0;
        return;
    }
    struct sleep_plan p = plan_of(g, now);
    a->sleep_at_ms = now + MAX(p.sleep_ms, (uint64_t)1);
    a->wake_at_ms = p.wake_ms && !g->is_stateless ? now + p.wake_ms : 0;
    a->give_up_ms = now + p.give_up_ms;
}

/*
 * The timer is not rearmed for each event unless it would fire too late: it checks when it fires.
 */
static void on_idle(struct timer *timer)
{
    struct active *a = container_of(timer, struct active, timer);
    struct guest *g = a->guest;
    uint64_t now = clock_mono_ms(), due = MAX(a->sleep_at_ms, a->no_sleep_until_ms);
    if (g->state != GUEST_AWAKE || a->tenant.sent)
        return; /* armed again when the command ends */
    if (now < due) {
        a->timer_at_ms = due;
        timer_start(g->host->loop, timer, due - now, on_idle);
        return;
    }
    a->sleep_wanted = true;
    guest_make_ready(g);
}

static void on_wake_ahead(struct timer *timer)
{
    struct active *a = container_of(timer, struct active, timer);
    struct guest *g = a->guest;
    a->wake_at_ms = 0;
    if (g->state != GUEST_ASLEEP || a->tenant.sent || g->host->keeps)
        return;
    a->wake_wanted = true;
    guest_make_ready(g);
}

bool guest_rest_asleep(struct guest *g)
{
    struct active *a = g->active;
    uint64_t now = clock_mono_ms();
    a->is_early = false;
    if (!a->wake_at_ms || g->host->opts.sleep_always || g->host->keeps)
        return false;
    uint64_t wait = a->wake_at_ms > now ? a->wake_at_ms - now : 0;
    timer_start(g->host->loop, &a->timer, wait, on_wake_ahead);
    return true;
}

void guest_expect(struct guest *g, uint64_t loop_ms)
{
    g->expected_ms = loop_ms;
    if (g->state != GUEST_ASLEEP || g->rest == GUEST_REST_KEPT ||
        (g->active && g->active->tenant.sent))
        return; /* handled when the guest is idle */
    uint64_t now = clock_mono_ms();
    struct sleep_plan p = plan_of(g, now);
    if (!p.wake_ms || g->is_stateless)
        return;
    struct active *a = guest_get_active(g);
    a->wake_at_ms = now + p.wake_ms;
    a->give_up_ms = now + p.give_up_ms;
    if (a->queue.n == 0)
        (void)guest_rest_asleep(g);
}

void guest_rest_awake(struct guest *g)
{
    struct active *a = g->active;
    struct guest_host *h = g->host;
    a->idle_since_ms = clock_mono_ms();
    make_plan(g, a->idle_since_ms);
    list_remove(&a->idle);
    list_push_back(&h->idle, &a->idle);
    bool may_sleep = !h->opts.sleep_never && a->idle_since_ms >= a->no_sleep_until_ms;
    bool last_sleep = h->keeps && guest_has_record(g) && may_sleep;
    /* A guest that is never idle for long also has to switch to the better code. */
    bool leaves_code = may_sleep && !g->is_stateless && g->module->info->is_dissolvable &&
                       pool_is_outdated(&a->tenant);
    if (last_sleep || leaves_code || (h->opts.sleep_always && g->is_stateless)) {
        a->sleep_wanted = true; /* not with its activation: there may be nothing to write */
        guest_make_ready(g);
        return;
    }
    uint64_t due = MAX(a->sleep_at_ms, a->no_sleep_until_ms);
    bool is_late = timer_is_armed(&a->timer) && a->timer_at_ms > due;
    if ((is_late || !timer_is_armed(&a->timer)) && !h->opts.sleep_never) {
        a->timer_at_ms = due;
        timer_start(h->loop, &a->timer, due - a->idle_since_ms, on_idle);
    }
}
