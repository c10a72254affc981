/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest host: its work per turn of the loop, memory pressure, start and end; see guest_impl.h.
 */
#include "guest/guest_impl.h"

#include <assert.h>
#include <errno.h>

enum {
    PUMP_MAX = 64, /* commands sent in one turn */
    SWAP_QUOTA_DEFAULT = 1 << 30,
    IDLE_MS_DEFAULT = 1000,
    AWAKE_MAX = 4000, /* beyond it the longest idle guest is put to sleep */
    CLOSE_MS = 2000,  /* time for running activations */
    LEFT_MS = 600000  /* guests of an earlier process are claimed within this time */
};
_Static_assert((int)AWAKE_MAX < (int)RUNNER_TENANTS_MAX, "a full runner makes room by itself");

static void reap_dead(struct guest_host *h)
{
    while (!list_is_empty(&h->dead))
        guest_destroy(list_entry(list_pop_front(&h->dead), struct guest, node));
}

static void sleep_longest_idle(struct guest_host *h)
{
    struct active *a = list_first(&h->idle, struct active, idle);
    list_remove(&a->idle);
    guest_want(a->guest, GUEST_WANT_SLEEP);
}

/* Too many guests are awake: put those that have been idle longest to sleep. */
static void make_room(struct guest_host *h)
{
    if (h->n_awake > AWAKE_MAX && !list_is_empty(&h->idle))
        sleep_longest_idle(h);
}

unsigned guest_host_relieve(struct guest_host *h)
{
    unsigned n = 0;
    for (; !list_is_empty(&h->idle); n++)
        sleep_longest_idle(h);
    return n;
}

static void on_pressure(void *arg)
{
    struct guest_host *h = arg;
    unsigned n = h->opts.sleep_never || h->is_closing ? 0 : guest_host_relieve(h);
    if (n)
        log_info("memory is short, putting idle guests to sleep", "guests=%u", n);
}

/* Send the next command of one guest. -EAGAIN: its runner, or every runner, is full. */
static int act(struct guest *g)
{
    struct err err = { 0 };
    if (g->fail_wanted) {
        g->fail_wanted = false;
        (void)err_set(&err, E_TRAP, "%s", g->last_error);
        guest_end(g, &err, true);
        return 0;
    }
    if (g->active->calling == GUEST_CALLING_ADOPTED)
        guest_end_adoption(g);
    if (g->is_dead || !g->active || !guest_wants_to_act(g))
        return 0;
    if (g->state == GUEST_COLD && guest_adopt(g))
        return 0;
    make_room(g->host);
    int r = guest_send_next(g, &err);
    if (r < 0 && r != -EAGAIN)
        guest_cannot_send(g, &err);
    return r == -EAGAIN ? r : 0;
}

void guest_host_pump(struct defer *d)
{
    struct guest_host *h = container_of(d, struct guest_host, pump);
    struct list blocked;
    bool progress = false;
    reap_dead(h);
    if (h->is_closing)
        return;
    list_init(&blocked);
    for (int n = 0; n < PUMP_MAX && !list_is_empty(&h->ready); n++) {
        struct active *a = list_first(&h->ready, struct active, ready);
        list_remove(&a->ready);
        if (act(a->guest) == -EAGAIN)
            list_push_back(&blocked, &a->ready);
        else
            progress = true;
    }
    /*
     * After those that were not looked at yet, so that one full runner does not delay the others.
     */
    while (!list_is_empty(&blocked))
        list_push_back(&h->ready, list_pop_front(&blocked));
    if (progress && !list_is_empty(&h->ready))
        defer_start(h->loop, &h->pump, guest_host_pump); /* otherwise pool_on_room() continues */
}

static void pool_on_room(void *arg)
{
    struct guest_host *h = arg;
    if (!list_is_empty(&h->ready))
        defer_start(h->loop, &h->pump, guest_host_pump);
}

/* ---- life ---- */

static const struct runner_class_ops class_ops = {
    .on_answer = guest_on_answer,
    .on_call = guest_on_call,
    .on_lost = guest_on_lost,
    .on_room = pool_on_room,
};

static void on_left(struct timer *timer)
{
    struct guest_host *h = container_of(timer, struct guest_host, left);
    swap_drop_left(&h->swap);
    guest_swap_has_room(h);
}

int guest_host_new(struct loop *loop, const struct guest_host_opts *opts, struct guest_host **ret,
                   struct err *err)
{
    struct swap swap;
    char boot[BOOT_ID_BYTES];
    int r = guest_read_boot(boot, err);
    r = r < 0 ? r : swap_init(&swap, opts->swap_dir, err);
    if (r < 0)
        return r;
    struct guest_host *h = xnew(struct guest_host);
    h->loop = loop;
    h->opts = *opts;
    h->opts.idle_ms = opts->idle_ms ? opts->idle_ms : IDLE_MS_DEFAULT;
    h->opts.swap_quota_bytes = opts->swap_quota_bytes ? opts->swap_quota_bytes : SWAP_QUOTA_DEFAULT;
    h->opts.swap_dir = NULL; /* not kept */
    h->swap = swap;
    list_init(&h->guests);
    list_init(&h->ready);
    list_init(&h->idle);
    list_init(&h->dead);
    list_init(&h->short_of_swap);
    h->runners = pool_open_class(opts->runners,
                                 &(struct runner_class_opts){ .max_runners = opts->max_runners },
                                 &class_ops, h);
    (void)memcpy(h->boot, boot, sizeof h->boot);
    if (swap.has_left)
        timer_start(loop, &h->left, LEFT_MS, on_left);
    pressure_start(&h->pressure, loop, on_pressure, h);
    *ret = h;
    return 0;
}

static void on_pressure_closed(void *arg)
{
    struct guest_host *h = arg;
    h->done(h->done_arg);
    defer_cancel(&h->pump);
    defer_cancel(&h->swap_room);
    reap_dead(h);
    assert(list_is_empty(&h->guests));
    swap_fini(&h->swap);
    free(h);
}

static void on_pool_closed(void *arg)
{
    struct guest_host *h = arg;
    pressure_close(&h->pressure, on_pressure_closed);
}

static void on_closing(struct timer *timer)
{
    struct guest_host *h = container_of(timer, struct guest_host, closing);
    list_each (node, &h->guests) {
        struct guest *g = list_entry(node, struct guest, node);
        if (g->active) {
            timer_stop(h->loop, &g->active->timer);
            timer_stop(h->loop, &g->active->parked);
        }
    }
    pool_close_class(h->runners, on_pool_closed, h);
}

/* ---- sleep before the next process ---- */

static void on_drained(struct timer *timer)
{
    struct guest_host *h = container_of(timer, struct guest_host, drain);
    h->drained(h->drained_arg);
}

static bool may_yet_sleep(const struct guest *g)
{
    return guest_has_record(g) && guest_is_awake(g->state);
}

static void drain_if_quiet(struct guest_host *h)
{
    list_each (node, &h->guests)
        if (may_yet_sleep(list_entry(node, struct guest, node)))
            return;
    timer_start(h->loop, &h->drain, 0, on_drained);
}

void guest_host_drain(struct guest_host *h, void (*done)(void *arg), void *arg)
{
    assert(!h->keeps && !h->is_closing);
    h->keeps = true;
    h->drained = done;
    h->drained_arg = arg;
    timer_start(h->loop, &h->drain, h->opts.sleep_never ? 0 : CLOSE_MS, on_drained);
    list_each_safe (node, &h->idle) {
        struct active *a = list_entry(node, struct active, idle);
        if (!guest_has_record(a->guest))
            continue;
        list_remove(&a->idle);
        a->no_sleep_until_ms = 0;
        guest_want(a->guest, GUEST_WANT_SLEEP);
    }
    drain_if_quiet(h);
}

/* Called after every answer, so that closing ends as soon as the last activation has ended. */
void guest_host_close_if_idle(struct guest_host *h)
{
    if (timer_is_armed(&h->drain))
        drain_if_quiet(h);
    if (!h->is_closing || !timer_is_armed(&h->closing))
        return;
    list_each (node, &h->guests)
        if (list_entry(node, struct guest, node)->state == GUEST_RUNNING)
            return;
    timer_start(h->loop, &h->closing, 0, on_closing);
}

void guest_host_close(struct guest_host *h, void (*done)(void *arg), void *arg)
{
    assert(!h->is_closing);
    h->is_closing = true;
    h->done = done;
    h->done_arg = arg;
    timer_stop(h->loop, &h->left);
    timer_stop(h->loop, &h->drain);
    timer_start(h->loop, &h->closing, CLOSE_MS, on_closing);
    guest_host_close_if_idle(h);
}

void guest_host_each(struct guest_host *h, void (*fn)(struct guest *g, void *arg), void *arg)
{
    list_each (node, &h->guests)
        fn(list_entry(node, struct guest, node), arg);
}

static const double wake_bounds_us[GUEST_WAKE_BOUNDS] = { 50,   100,  200,   400,   800,   1600,
                                                          3200, 6400, 12800, 25600, 51200, 102400 };
const struct histogram_kind guest_wake_kind = { wake_bounds_us, GUEST_WAKE_BOUNDS, 1e6, 6, NULL };

void guest_host_get_stats(const struct guest_host *h, struct guest_host_stats *ret)
{
    struct runner_class_stats pool;
    pool_get_stats(h->runners, &pool);
    *ret = (struct guest_host_stats){
        .runners = pool.runners,
        .commands = pool.commands,
        .confined = pool.confined,
        .awake = h->n_awake,
        .runner_starts = pool.starts,
        .runner_losses = pool.losses,
        .wakes = h->wake_us.n,
        .suspends = h->suspends,
        .activations = h->activations,
        .wake_us = h->wake_us,
    };
    list_each (node, &h->guests) {
        const struct guest *g = list_entry(node, struct guest, node);
        ret->guests++;
        ret->asleep += g->state == GUEST_ASLEEP;
        ret->failed += g->state == GUEST_FAILED;
    }
}

size_t guest_host_pids(const struct guest_host *h, int *ret, size_t max)
{
    return pool_pids(h->runners, ret, max);
}
