/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of guests and what moves them; see guest.h.
 *
 * Everything goes through one place: whoever changes something that may let a guest act puts it on
 * the ready list, and pump(), which runs from the loop, sends the next command of each ready guest.
 * on_answer() takes what comes back. What only a guest with work or memory needs is in struct
 * active; a sleeping guest without work has none.
 */
#include "wasm/guest.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/sm.h"
#include "wasm/guest_queue.h"
#include "wasm/pressure.h"
#include "wasm/proto.h"
#include "wasm/runner_pool.h"
#include "wasm/sleep_policy.h"
#include "wasm/swap.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum {
    PUMP_MAX = 64,              /* commands sent in one turn */
    BATCH_BYTES_MAX = 32 << 10, /* small deliveries that share one command */
    SWAP_QUOTA_DEFAULT = 1 << 30,
    IDLE_MS_DEFAULT = 1000,
    INSTANCE_BYTES = 14 << 10, /* an awake guest beside its memory */
    SUSPEND_RETRY_MS = 30000,  /* after a full disk */
    AWAKE_MAX = 4096,          /* beyond, the longest idle one goes to sleep */
    TRUST_ACTIVATIONS = 16,    /* of a guest that took a runner down, before it has company again */
    CLOSE_MS = 2000,           /* for running activations */
    LOG_LINES_PER_S = 200,     /* of one guest, */
    LOG_LINES_BURST = 1000,    /* after silence */
    WAKE_BUCKETS = 88          /* 4 for each power of two, up to 4 s */
};

/* The numbers of guest_op.kind travel in messages. */
_Static_assert(GUEST_OP_REQUEST == 0 && GUEST_OP_DELAY == 1 && GUEST_OP_WATCH == 2,
               "proto_op.kind");
_Static_assert((int)GUEST_OPS_MAX <= (int)PROTO_OPS_MAX &&
                   (int)GUEST_PAYLOAD_MAX_BYTES < (int)PROTO_OPS_BYTES_MAX &&
                   (int)GUEST_PAYLOAD_MAX_BYTES + (int)PROTO_SETUP_MAX + 4096 < (int)PROTO_BODY_MAX,
               "limits of guest.h and proto.h");

static const struct sm_state guest_table[] = {
    [GUEST_COLD] = { "Cold", EDGE(GUEST_RUNNING) | EDGE(GUEST_FAILED) },
    [GUEST_RUNNING] = { "Running", EDGE(GUEST_AWAKE) | EDGE(GUEST_ASLEEP) | EDGE(GUEST_FAILED) |
                                       EDGE(GUEST_COLD) },
    [GUEST_AWAKE] = { "Awake", EDGE(GUEST_RUNNING) | EDGE(GUEST_ASLEEP) | EDGE(GUEST_FAILED) |
                                   EDGE(GUEST_COLD) },
    [GUEST_ASLEEP] = { "Asleep", EDGE(GUEST_RUNNING) | EDGE(GUEST_FAILED) | EDGE(GUEST_COLD) },
    [GUEST_FAILED] = { "Failed", EDGE(GUEST_COLD) },
};

/* A guest that is awake, has work, or waits for its next start. */
struct active {
    struct guest *guest;
    struct tenant tenant;
    struct list ready; /* on host->ready */
    struct list idle;  /* on host->idle: awake without work, longest first */
    struct guest_queue queue;
    struct list sent;    /* deliveries of the command in flight */
    bool is_done;        /* its activations have ended, its suspend not yet */
    uint32_t sent_flags; /* RUN_ of that command, */
    uint64_t sent_ns;    /* when it was decided */
    struct timer timer;  /* idle or back-off */
    uint64_t idle_since_ms, no_sleep_until_ms;
    uint32_t dirty_pages;
    bool has_swap_fd; /* the runner has the file */
    bool sleep_wanted;
    bool room_wanted; /* -EBUSY was said */
};

struct guest {
    struct list node;
    struct guest_host *host;
    const struct guest_ops *ops;
    void *arg;
    struct module *module;
    struct active *active;
    char *name;  /* "namespace\0name\0uid\0" */
    char *setup; /* proto_add_setup(); NULL when empty */
    uint64_t serial, generation;
    uint64_t next_id, clock_offset_ns;
    uint64_t *outstanding; /* id << 1 | is a stream of G1 */
    uint32_t n_outstanding, outstanding_cap;
    uint32_t setup_n;
    char *globals; /* of the record */
    uint32_t globals_n, memory_pages;
    uint64_t memory_max, swap_bytes;
    uint32_t activation_ms, idle_ms;
    uint32_t incarnation;
    uint32_t suspends, restarts, wake_us_last;
    uint64_t activations, wakes;
    uint64_t last_ms, started_ms;           /* last: end of the last activation */
    uint32_t gap_ms, resume_us, suspend_us; /* averages */
    uint32_t backoff_ms;
    uint32_t log_at_s;
    uint16_t log_tokens;
    uint16_t name_at, uid_at;
    uint8_t suspect; /* activations it must survive alone; 0: trusted */
    uint8_t state;   /* enum guest_state */
    uint8_t abi;
    bool start_wanted; /* cold, and to be started */
    bool has_snapshot; /* the record and the swap file can be woken */
    bool has_file;     /* there is a swap file, */
    bool has_image;    /* and it holds the module's image */
    bool is_kept;      /* asleep, but its instance stays in the runner */
    bool is_dead;      /* guest_free() was called */
    bool fail_wanted;
    uint8_t *wake_buckets;
    char *last_error;
};

struct guest_host {
    struct loop *loop;
    struct guest_host_opts opts;
    char *runner_path;
    struct swap swap;
    struct runner_pool *pool;
    struct list guests, ready, idle, dead;
    struct defer pump;
    uint64_t serial, swap_total;
    unsigned n_awake;
    uint64_t wakes, suspends, activations;
    struct log_rate disk_rate;
    struct pressure pressure;
    bool is_closing;
    struct timer closing;
    void (*done)(void *arg);
    void *done_arg;
};

static void pump(struct defer *d);
static void close_if_quiet(struct guest_host *h);
static void fail(struct guest *g, const struct err *why, bool is_strike);
static void rest_awake(struct guest *g);
static void set_error(struct guest *g, const struct err *why);

/* ---- small things ---- */

const char *guest_state_name(enum guest_state state)
{
    return guest_table[state].name;
}

enum guest_state guest_state(const struct guest *g)
{
    return (enum guest_state)g->state;
}

static void report(struct guest *g, const struct err *why)
{
    if (!g->is_dead && g->ops->on_state)
        g->ops->on_state(g, (enum guest_state)g->state, why, g->arg);
}

static bool is_awake(unsigned state)
{
    return state == GUEST_AWAKE || state == GUEST_RUNNING;
}

/* The only place that moves the state. */
static void move_quietly(struct guest *g, enum guest_state to)
{
    assert(guest_table[g->state].next & EDGE(to));
    g->host->n_awake += (unsigned)is_awake(to) - (unsigned)is_awake(g->state);
    g->state = (uint8_t)to;
}

static void move(struct guest *g, enum guest_state to, const struct err *why)
{
    move_quietly(g, to);
    report(g, why);
}

static struct active *activate(struct guest *g)
{
    if (g->active)
        return g->active;
    struct active *a = g->active = xnew(struct active);
    a->guest = g;
    guest_queue_init(&a->queue);
    list_init(&a->sent);
    return a;
}

static void make_ready(struct guest *g)
{
    struct active *a = activate(g);
    if (list_is_linked(&a->ready))
        return;
    list_push_back(&g->host->ready, &a->ready);
    defer_start(g->host->loop, &g->host->pump, pump);
}

static void free_sent(struct active *a)
{
    while (!list_is_empty(&a->sent))
        free(list_entry(list_pop_front(&a->sent), struct delivery, node));
}

/* A guest at rest keeps its record only. */
static void deactivate(struct guest *g)
{
    struct active *a = g->active;
    if (!a)
        return;
    assert(!a->tenant.runner);
    timer_stop(g->host->loop, &a->timer);
    list_remove(&a->ready);
    list_remove(&a->idle);
    guest_queue_fini(&a->queue);
    free_sent(a);
    free(a);
    g->active = NULL;
}

static void set_swap_bytes(struct guest *g, uint64_t bytes)
{
    g->host->swap_total += bytes - g->swap_bytes;
    g->swap_bytes = bytes;
}

static void swap_name_of(const struct guest *g, char out[SWAP_NAME_MAX])
{
    swap_name(out, g->name + g->uid_at, g->generation, g->module->hash, g->serial);
}

static void remove_swap(struct guest *g)
{
    char name[SWAP_NAME_MAX];
    if (!g->has_file)
        return;
    swap_name_of(g, name);
    swap_remove(&g->host->swap, name);
    g->has_file = g->has_image = false;
    set_swap_bytes(g, 0);
}

static uint64_t memory_bytes(const struct guest *g)
{
    return (uint64_t)g->memory_pages * MODULE_PAGE_BYTES;
}

static uint64_t resident_bytes(const struct guest *g)
{
    if (!g->active || !g->active->tenant.runner)
        return 0;
    return (g->is_kept ? 0 : (uint64_t)g->active->dirty_pages * 4096) + INSTANCE_BYTES;
}

/* ---- outstanding operations, sorted by id ---- */

static uint32_t *find_outstanding(const struct guest *g, uint64_t id, uint32_t *at)
{
    uint32_t lo = 0, hi = g->n_outstanding;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (g->outstanding[mid] >> 1 < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    *at = lo;
    return lo < g->n_outstanding && g->outstanding[lo] >> 1 == id ? at : NULL;
}

static void add_outstanding(struct guest *g, uint64_t id, bool is_stream)
{
    if (g->n_outstanding == g->outstanding_cap) {
        g->outstanding_cap += g->outstanding_cap < 4 ? 2 : g->outstanding_cap / 2;
        g->outstanding = xrealloc(g->outstanding, g->outstanding_cap * sizeof *g->outstanding);
    }
    g->outstanding[g->n_outstanding++] = id << 1 | is_stream; /* ids only grow */
}

static void remove_outstanding(struct guest *g, uint32_t at)
{
    g->n_outstanding--;
    memmove(g->outstanding + at, g->outstanding + at + 1,
            (g->n_outstanding - at) * sizeof *g->outstanding);
}

/* ---- wake latency ---- */

static unsigned bucket_of(uint64_t us)
{
    if (us < 4)
        return (unsigned)us;
    unsigned octave = 63 - (unsigned)__builtin_clzll(us);
    unsigned at = octave * 4 + (unsigned)(us >> (octave - 2) & 3) - 4;
    return MIN(at, WAKE_BUCKETS - 1u);
}

static uint64_t bucket_us(unsigned at)
{
    if (at < 4)
        return at;
    unsigned octave = (at + 4) / 4;
    return (4 + (uint64_t)(at & 3)) << (octave - 2);
}

static void count_wake(struct guest *g, uint64_t us)
{
    g->wake_us_last = (uint32_t)MIN(us, (uint64_t)UINT32_MAX);
    if (!g->wake_buckets)
        g->wake_buckets = xalloc(WAKE_BUCKETS);
    uint8_t *b = &g->wake_buckets[bucket_of(us)];
    if (*b == UINT8_MAX)
        for (unsigned i = 0; i < WAKE_BUCKETS; i++)
            g->wake_buckets[i] /= 2; /* the past fades */
    ++*b;
}

static uint64_t wake_percentile(const struct guest *g, unsigned percent)
{
    unsigned total = 0, seen = 0;
    if (!g->wake_buckets)
        return 0;
    for (unsigned i = 0; i < WAKE_BUCKETS; i++)
        total += g->wake_buckets[i];
    for (unsigned i = 0; i < WAKE_BUCKETS; i++) {
        seen += g->wake_buckets[i];
        if (seen * 100 >= total * percent)
            return bucket_us(i);
    }
    return 0;
}

/* ---- sending commands ---- */

static bool may_suspend(struct guest *g)
{
    struct guest_host *h = g->host;
    uint64_t quota = h->opts.swap_quota_bytes, skipped;
    if (h->opts.sleep_never || clock_mono_ms() < g->active->no_sleep_until_ms)
        return false;
    /* What it may add: all that it has in memory. */
    if (h->swap_total + (uint64_t)g->active->dirty_pages * 4096 <= quota)
        return true;
    if (log_rate_ok(&h->disk_rate, 60000, &skipped))
        log_warn("swap quota used up, guests stay awake", "quota_bytes=%llu",
                 (unsigned long long)quota);
    g->active->no_sleep_until_ms = clock_mono_ms() + SUSPEND_RETRY_MS;
    return false;
}

/* The file that goes with this command; -1: none is needed. */
static int open_swap(struct guest *g, struct proto_run *run, struct err *err)
{
    char name[SWAP_NAME_MAX];
    struct active *a = g->active;
    if (run->flags & RUN_WAKE) {
        swap_name_of(g, name);
        return swap_open(&g->host->swap, name, err);
    }
    if (!(run->flags & RUN_SUSPEND))
        return -1;
    if (!g->has_image)
        run->flags |= RUN_FIRST;
    if (a->has_swap_fd)
        return -1;
    swap_name_of(g, name);
    int fd = swap_create(&g->host->swap, name, g->memory_max, err);
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
        run->deliveries[run->n_deliveries++] = (struct proto_delivery){
            .id = d->id, .flags = d->flags, .payload = str_n(d->payload, d->n)
        };
    }
}

static uint32_t order_flags(struct guest *g)
{
    const struct guest_host *h = g->host;
    uint32_t flags = h->opts.force_pagemap ? RUN_PAGEMAP : 0;
    if (g->state == GUEST_COLD)
        flags |= RUN_START;
    else if (g->state == GUEST_ASLEEP && !g->is_kept)
        flags |= RUN_WAKE;
    if ((g->active->sleep_wanted || h->opts.sleep_always) && may_suspend(g))
        flags |= RUN_SUSPEND;
    return flags;
}

static const struct str no_setup = { "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16 };

static int place(struct guest *g, struct err *err)
{
    if (g->active->tenant.runner)
        return pool_can_send(&g->active->tenant) ? 0 : -EAGAIN;
    int r = pool_place(g->host->pool, &g->active->tenant, g->module, g->suspect > 0, err);
    if (r == 0)
        g->active->has_swap_fd = false;
    return r;
}

/* Send what this guest should do next. -EAGAIN: no runner has room. */
static int send_next(struct guest *g, struct err *err)
{
    static struct proto_run run; /* large, and filled anew each time */
    struct active *a = g->active;
    uint64_t decided_ns = clock_mono_ns();
    uint32_t flags = order_flags(g);
    if (!(flags & (RUN_START | RUN_SUSPEND)) && a->queue.n == 0) {
        a->sleep_wanted = false; /* it may not sleep now */
        rest_awake(g);
        return 0;
    }
    int r = place(g, err);
    if (r < 0)
        return r;
    run = (struct proto_run){ .flags = flags };
    bool was_placed = run.flags & (RUN_START | RUN_WAKE);
    int fd = open_swap(g, &run, err);
    if (fd < 0 && (run.flags & RUN_WAKE)) {
        pool_drop(&a->tenant);
        g->has_file = fd != -ENOENT; /* without it there is nothing to wake */
        return fd;
    }
    if (fd < 0 && fd != -1) { /* it cannot sleep, but it can work */
        log_warn("cannot make a swap file", "guest=%s/%s reason=\"%s\"", g->name,
                 g->name + g->name_at, err_text(err));
        a->no_sleep_until_ms = clock_mono_ms() + SUSPEND_RETRY_MS;
        run.flags &= ~(uint32_t)(RUN_SUSPEND | RUN_FIRST);
        fd = -1;
    }
    a->has_swap_fd = a->has_swap_fd || fd >= 0;
    if (g->state != GUEST_COLD)
        take_deliveries(g, &run);
    run.guest = g->serial;
    run.incarnation = g->incarnation;
    run.abi = (enum guest_abi)g->abi;
    run.activation_ms = g->activation_ms;
    run.memory_max_bytes = g->memory_max;
    run.ops_room = GUEST_OPS_MAX - g->n_outstanding;
    run.next_id = g->next_id;
    run.clock_offset_ns = g->clock_offset_ns;
    if (was_placed)
        run.setup = g->setup ? str_n(g->setup, g->setup_n) : no_setup;
    if (run.flags & RUN_WAKE) {
        run.memory_pages = g->memory_pages;
        run.globals = str_n(g->globals, g->globals_n);
    }
    a->is_done = false;
    a->sent_flags = run.flags;
    a->sent_ns = decided_ns;
    a->sleep_wanted = false;
    g->start_wanted = false;
    list_remove(&a->idle);
    pool_send(&a->tenant, &run, fd, (uint64_t)g->activation_ms * (run.n_deliveries + 1));
    if (run.n_deliveries || (run.flags & RUN_START))
        move(g, GUEST_RUNNING, NULL);
    return 0;
}

/* Without a runner a sleeping guest goes on sleeping, one that was never started has failed. */
static void on_retry(struct timer *timer)
{
    make_ready(container_of(timer, struct active, timer)->guest);
}

static void cannot_send(struct guest *g, const struct err *why)
{
    if (g->state != GUEST_ASLEEP || !g->has_file) {
        fail(g, why, true);
        return;
    }
    set_error(g, why);
    timer_start(g->host->loop, &g->active->timer, GUEST_BACKOFF_FIRST_MS, on_retry);
}

static bool wants_to_act(const struct guest *g)
{
    const struct active *a = g->active;
    if (a->tenant.sent || g->state == GUEST_FAILED || g->state == GUEST_RUNNING)
        return false;
    if (g->state == GUEST_COLD)
        return g->start_wanted;
    return a->queue.n > 0 || (a->sleep_wanted && g->state == GUEST_AWAKE);
}

static void sleep_longest_idle(struct guest_host *h)
{
    struct active *a = list_first(&h->idle, struct active, idle);
    list_remove(&a->idle);
    a->sleep_wanted = true;
    make_ready(a->guest);
}

/* Too many are awake: those that have been idle for longest make room. */
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

static void reap_dead(struct guest_host *h);

static void pump(struct defer *d)
{
    struct guest_host *h = container_of(d, struct guest_host, pump);
    reap_dead(h);
    if (h->is_closing)
        return;
    for (int n = 0; n < PUMP_MAX && !list_is_empty(&h->ready); n++) {
        struct active *a = list_first(&h->ready, struct active, ready);
        struct guest *g = a->guest;
        struct err err = { 0 };
        list_remove(&a->ready);
        if (g->fail_wanted) {
            g->fail_wanted = false;
            (void)err_set(&err, E_TRAP, "%s", g->last_error);
            fail(g, &err, true);
            continue;
        }
        if (!wants_to_act(g))
            continue;
        make_room(h);
        int r = send_next(g, &err);
        if (r == -EAGAIN) {
            list_push_front(&h->ready, &a->ready); /* pool_on_room() goes on */
            return;
        }
        if (r < 0)
            cannot_send(g, &err);
    }
    if (!list_is_empty(&h->ready))
        defer_start(h->loop, &h->pump, pump);
}

static void pool_on_room(void *arg)
{
    struct guest_host *h = arg;
    if (!list_is_empty(&h->ready))
        defer_start(h->loop, &h->pump, pump);
}

/* ---- sleep ---- */

static uint64_t idle_limit_ms(const struct guest *g)
{
    if (g->idle_ms)
        return g->idle_ms;
    uint64_t default_ms = g->host->opts.idle_ms;
    if (!g->suspends || !g->wakes)
        return default_ms;
    return sleep_after_ms(&(struct sleep_costs){ .cycle_us = g->resume_us + g->suspend_us,
                                                 .gap_ms = g->gap_ms,
                                                 .resident_bytes = resident_bytes(g),
                                                 .default_ms = default_ms });
}

/* Armed at the first idle moment and left alone while events come: it looks again when it fires. */
static void on_idle(struct timer *timer)
{
    struct active *a = container_of(timer, struct active, timer);
    struct guest *g = a->guest;
    uint64_t now = clock_mono_ms(), due = a->idle_since_ms + idle_limit_ms(g);
    if (g->state != GUEST_AWAKE || a->tenant.sent)
        return; /* armed again when that ends */
    due = MAX(due, a->no_sleep_until_ms);
    if (now < due) {
        timer_start(g->host->loop, timer, due - now, on_idle);
        return;
    }
    a->sleep_wanted = true;
    make_ready(g);
}

static void rest_awake(struct guest *g)
{
    struct active *a = g->active;
    struct guest_host *h = g->host;
    a->idle_since_ms = clock_mono_ms();
    list_remove(&a->idle);
    list_push_back(&h->idle, &a->idle);
    if (!timer_is_armed(&a->timer) && !h->opts.sleep_never)
        timer_start(h->loop, &a->timer, MAX(idle_limit_ms(g), (uint64_t)1), on_idle);
}

/* ---- failure ---- */

static void on_backoff(struct timer *timer)
{
    struct guest *g = container_of(timer, struct active, timer)->guest;
    g->start_wanted = true;
    g->restarts++;
    move(g, GUEST_COLD, NULL);
    if (!g->is_dead)
        make_ready(g);
}

/* Its current life is over: operations, queue, snapshot. */
static void end_incarnation(struct guest *g)
{
    struct active *a = activate(g);
    pool_drop(&a->tenant);
    timer_stop(g->host->loop, &a->timer);
    list_remove(&a->idle);
    list_remove(&a->ready);
    free_sent(a);
    guest_queue_fini(&a->queue);
    a->sleep_wanted = a->has_swap_fd = false;
    a->dirty_pages = 0;
    remove_swap(g);
    g->incarnation++;
    g->next_id = 0;
    g->n_outstanding = 0;
    g->has_snapshot = g->is_kept = g->start_wanted = g->fail_wanted = false;
    g->memory_pages = 0;
}

static void set_error(struct guest *g, const struct err *why)
{
    free(g->last_error);
    g->last_error = xstrdup(err_text(why));
}

/* is_strike: its own fault; otherwise it starts again at once. */
static void fail(struct guest *g, const struct err *why, bool is_strike)
{
    struct guest_host *h = g->host;
    end_incarnation(g);
    set_error(g, why);
    if (!is_strike) {
        g->start_wanted = true;
        g->restarts++;
        if (g->state == GUEST_COLD)
            report(g, why);
        else
            move(g, GUEST_COLD, why);
        if (!g->is_dead)
            make_ready(g);
        return;
    }
    if (g->started_ms && clock_mono_ms() - g->started_ms > GUEST_BACKOFF_RESET_MS)
        g->backoff_ms = 0;
    g->backoff_ms = g->backoff_ms ? MIN(g->backoff_ms * 2, (uint32_t)GUEST_BACKOFF_MAX_MS)
                                  : (uint32_t)GUEST_BACKOFF_FIRST_MS;
    timer_start(h->loop, &g->active->timer, g->backoff_ms, on_backoff);
    move(g, GUEST_FAILED, why);
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

/* Is this how the command in flight, or what is left of it, can end? */
static bool is_expected(const struct active *act, const struct proto_answer *a)
{
    bool may_suspend_now = (act->sent_flags & RUN_SUSPEND) != 0;
    switch (a->flags) {
    case ANSWER_TRAPPED:
    case ANSWER_DONE:
        return !act->is_done;
    case ANSWER_DONE | ANSWER_MORE:
    case ANSWER_DONE | ANSWER_SUSPENDED:
    case ANSWER_DONE | ANSWER_SUSPENDED | ANSWER_KEPT:
    case ANSWER_DONE | ANSWER_SUSPEND_FAILED:
        return may_suspend_now && !act->is_done;
    case ANSWER_SUSPENDED:
    case ANSWER_SUSPENDED | ANSWER_KEPT:
    case ANSWER_SUSPEND_FAILED:
        return act->is_done && a->n_ops == 0 && a->activations == 0;
    default:
        return false;
    }
}

/* Nothing that a runner says is believed without need. */
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
    return check_ops(g, a, err);
}

static bool take_log_token(struct guest *g)
{
    uint32_t now = (uint32_t)(clock_mono_ms() / 1000);
    uint32_t more = MIN((now - g->log_at_s) * LOG_LINES_PER_S, (uint32_t)LOG_LINES_BURST);
    g->log_tokens = (uint16_t)MIN(g->log_tokens + more, (uint32_t)LOG_LINES_BURST);
    g->log_at_s = now;
    if (g->log_tokens == 0)
        return false;
    g->log_tokens--;
    return true;
}

static void hand_out_logs(struct guest *g, const struct proto_answer *a)
{
    struct rd r = a->logs;
    uint32_t left_out = a->logs_left_out;
    for (uint32_t i = 0; i < a->n_logs && !g->is_dead; i++) {
        struct proto_log log;
        proto_next_log(&r, &log);
        if (!take_log_token(g))
            left_out++;
        else if (g->ops->on_log)
            g->ops->on_log(g, (int)log.fd, log.line, g->arg);
    }
    if (left_out && !g->is_dead && g->ops->on_log) {
        char text[48];
        int n = snprintf(text, sizeof text, "(%u lines left out)", left_out);
        g->ops->on_log(g, 2, str_n(text, (size_t)n), g->arg);
    }
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
        g->gap_ms = sleep_average(g->gap_ms, now - g->last_ms);
    if (a->activations)
        g->last_ms = now;
    if (g->suspect && a->activations >= g->suspect) {
        g->suspect = 0;
        pool_mingle(&g->active->tenant);
    } else if (g->suspect) {
        g->suspect = (uint8_t)(g->suspect - a->activations);
    }
}

static void keep_record(struct guest *g, const struct proto_answer *a)
{
    g->suspends++;
    g->host->suspends++;
    g->suspend_us = sleep_average(g->suspend_us, a->suspend_us);
    g->has_snapshot = g->has_image = true;
    g->is_kept = (a->flags & ANSWER_KEPT) != 0;
    set_swap_bytes(g, a->swap_bytes);
    if (g->globals_n != a->globals.n) {
        g->globals = xrealloc(g->globals, a->globals.n);
        g->globals_n = (uint32_t)a->globals.n;
    }
    if (a->globals.n)
        memcpy(g->globals, a->globals.p, a->globals.n);
}

static void suspend_failed(struct guest *g, const struct proto_answer *a)
{
    uint64_t skipped;
    g->active->no_sleep_until_ms = clock_mono_ms() + SUSPEND_RETRY_MS;
    if (log_rate_ok(&g->host->disk_rate, 60000, &skipped))
        log_warn("cannot suspend a guest, it stays awake", "guest=%s/%s reason=\"" STR_FMT "\"",
                 g->name, g->name + g->name_at, STR_ARG(a->text));
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

/* What the activations of a command did. */
static void take_done(struct guest *g, const struct proto_answer *a)
{
    struct active *act = g->active;
    struct rd r = a->ops;
    if (act->sent_flags & RUN_START)
        g->started_ms = clock_mono_ms();
    if (act->sent_flags & RUN_WAKE) {
        g->wakes++;
        g->host->wakes++;
        g->has_snapshot = false;
        g->resume_us = sleep_average(g->resume_us, a->resume_us);
        count_wake(g, (clock_mono_ns() - act->sent_ns) / 1000);
    }
    free_sent(act);
    note_activation(g, a);
    g->next_id = a->next_id;
    g->clock_offset_ns = a->clock_offset_ns;
    for (uint32_t i = 0; i < a->n_ops; i++) {
        struct proto_op op;
        proto_next_op(&r, &op);
        add_outstanding(g, op.id, op.kind == GUEST_OP_WATCH);
    }
    if (g->state == GUEST_RUNNING)
        g->is_kept = false;
}

/* The end of a command. */
static void take_end(struct guest *g, const struct proto_answer *a)
{
    struct active *act = g->active;
    g->memory_pages = a->memory_pages;
    act->dirty_pages = a->dirty_pages;
    if (a->flags & ANSWER_SUSPENDED) {
        keep_record(g, a);
        act->has_swap_fd = g->is_kept;
        if (!g->is_kept)
            pool_release(&act->tenant);
    } else if (a->flags & ANSWER_SUSPEND_FAILED) {
        suspend_failed(g, a);
    }
}

/* The answer has been taken in: what now? */
static void settle(struct guest *g, const struct proto_answer *a)
{
    bool asleep = (a->flags & ANSWER_SUSPENDED) != 0;
    enum guest_state to = asleep ? GUEST_ASLEEP : GUEST_AWAKE;
    if (g->state != to)
        move(g, to, NULL);
    if (g->is_dead || g->state != to)
        return;
    struct active *act = g->active;
    if (act->queue.n) {
        make_ready(g);
        return;
    }
    if (!asleep)
        rest_awake(g);
    else if (!g->is_kept && !list_is_linked(&act->ready))
        deactivate(g);
}

static int pool_on_answer(struct tenant *t, const struct proto_answer *a, struct err *err)
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
        g->clock_offset_ns = a->clock_offset_ns;
        hand_out_logs(g, a);
        if (!g->is_dead)
            fail(g, &why, true);
        close_if_quiet(h);
        return 0;
    }
    if (a->flags & ANSWER_DONE)
        take_done(g, a);
    act->is_done = (a->flags & ANSWER_MORE) != 0;
    if (!act->is_done)
        take_end(g, a);
    hand_out_logs(g, a);
    if (!g->is_dead && !(a->flags & ANSWER_MORE))
        settle(g, a);
    hand_out_ops(g, a);
    say_room(g);
    close_if_quiet(h);
    return 0;
}

/* Back to before the command was sent: nothing of it had begun. */
static void take_back(struct guest *g)
{
    struct active *a = g->active;
    guest_queue_put_back(&a->queue, &a->sent);
    if (a->sent_flags & RUN_START)
        g->start_wanted = true;
    enum guest_state before = a->sent_flags & RUN_START ? GUEST_COLD : GUEST_ASLEEP;
    a->has_swap_fd = false;
    if (g->state != before)
        move(g, before, NULL);
    if (!g->is_dead)
        make_ready(g);
}

static void pool_on_lost(struct tenant *t, enum tenant_lost how, const struct err *why)
{
    struct active *a = container_of(t, struct active, tenant);
    struct guest *g = a->guest;
    struct err err = *why;
    (void)err_ctx(&err, E_EOF, "runner lost");
    bool begun = how == LOST_RUNNING || how == LOST_RESTING;
    if (how == LOST_AT_START && (a->sent_flags & RUN_START)) {
        fail(g, &err, true); /* there is nothing to lose, and somebody should know */
        return;
    }
    if (!begun && (a->sent_flags & (RUN_START | RUN_WAKE))) {
        set_error(g, &err);
        take_back(g);
        return;
    }
    if (how == LOST_RUNNING)
        g->suspect = TRUST_ACTIVATIONS;
    fail(g, &err, how == LOST_RUNNING);
}

/* ---- guests ---- */

static int set_names(struct guest *g, const struct guest_spec *spec)
{
    const char *uid = spec->uid ? spec->uid : "";
    size_t ns = strlen(spec->namespace) + 1, name = strlen(spec->name) + 1, id = strlen(uid) + 1;
    if (ns + name + id > UINT16_MAX)
        return -ENAMETOOLONG;
    g->name = xalloc(ns + name + id);
    g->name_at = (uint16_t)ns;
    g->uid_at = (uint16_t)(ns + name);
    memcpy(g->name, spec->namespace, ns);
    memcpy(g->name + g->name_at, spec->name, name);
    memcpy(g->name + g->uid_at, uid, id);
    return 0;
}

static int set_setup(struct guest *g, const struct guest_spec *spec, struct err *err)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(PROTO_SETUP_MAX + 64);
    if (spec->n_args + spec->n_env == 0)
        return 0;
    int r = proto_add_setup(&b, spec->args, spec->n_args, spec->env, spec->n_env);
    if (r < 0)
        return err_sys(err, r, "arguments and environment of '%s'", spec->name);
    size_t n = b.n;
    g->setup = xrealloc(buf_take(&b, &n), n);
    g->setup_n = (uint32_t)n;
    return 0;
}

static void guest_destroy(struct guest *g)
{
    if (!g)
        return;
    module_unref(g->module);
    free(g->name);
    free(g->setup);
    free(g->outstanding);
    free(g->globals);
    free(g->wake_buckets);
    free(g->last_error);
    free(g);
}
DEFINE_SCOPED(guest, guest_destroy)

int guest_new(struct guest_host *h, const struct guest_spec *spec, const struct guest_ops *ops,
              void *arg, struct guest **ret, struct err *err)
{
    const struct module_info *info = spec->module->info;
    int r = abi_check(info, spec->abi, err);
    if (r < 0)
        return r;
    scoped(guest_destroy_scoped) struct guest *g = xnew(struct guest);
    g->host = h;
    g->ops = ops;
    g->arg = arg;
    g->abi = (uint8_t)spec->abi;
    g->generation = spec->generation;
    g->memory_max = spec->memory_max_bytes ? spec->memory_max_bytes : GUEST_MEMORY_MAX_DEFAULT;
    g->memory_max = MIN(g->memory_max, (uint64_t)MODULE_PAGES_MAX * MODULE_PAGE_BYTES) &
                    ~(uint64_t)(MODULE_PAGE_BYTES - 1);
    g->activation_ms = (uint32_t)MIN(spec->activation_ms ? spec->activation_ms
                                                         : (uint64_t)GUEST_ACTIVATION_MS_DEFAULT,
                                     (uint64_t)GUEST_ACTIVATION_MS_MAX);
    g->idle_ms = (uint32_t)MIN(spec->idle_ms, (uint64_t)UINT32_MAX);
    g->log_tokens = LOG_LINES_BURST;
    if ((uint64_t)info->memory_min_pages * MODULE_PAGE_BYTES > g->memory_max)
        return err_set(err, E_LIMIT, "the module needs %llu bytes of memory, %llu are allowed",
                       (unsigned long long)info->memory_min_pages * MODULE_PAGE_BYTES,
                       (unsigned long long)g->memory_max);
    r = set_names(g, spec);
    if (r < 0)
        return err_sys(err, r, "name of the guest");
    r = set_setup(g, spec, err);
    if (r < 0)
        return r;
    g->module = module_ref(spec->module);
    g->serial = ++h->serial;
    list_push_back(&h->guests, &g->node);
    *ret = take_ptr(&g);
    return 0;
}

/* The memory goes in the next turn: callbacks of this guest may be on the stack. */
void guest_free(struct guest *g)
{
    if (!g)
        return;
    struct guest_host *h = g->host;
    assert(!g->is_dead);
    g->is_dead = true;
    if (g->active)
        pool_drop(&g->active->tenant);
    deactivate(g);
    remove_swap(g);
    h->n_awake -= (unsigned)is_awake(g->state);
    list_remove(&g->node);
    list_push_back(&h->dead, &g->node);
    defer_start(h->loop, &h->pump, pump);
}

static void reap_dead(struct guest_host *h)
{
    while (!list_is_empty(&h->dead))
        guest_destroy(list_entry(list_pop_front(&h->dead), struct guest, node));
}

int guest_start(struct guest *g, struct err *err)
{
    if (g->state != GUEST_COLD || g->start_wanted)
        return err_set(err, -EALREADY, "guest '%s' was started before", g->name + g->name_at);
    if (g->host->is_closing)
        return err_set(err, -ESHUTDOWN, "shutting down");
    g->start_wanted = true;
    make_ready(g);
    return 0;
}

int guest_deliver(struct guest *g, const struct guest_delivery *d, struct err *err)
{
    uint32_t at, *found = find_outstanding(g, d->id, &at);
    if (d->incarnation != g->incarnation || !found)
        return err_set(err, -ESTALE, "operation %llu of incarnation %u is not outstanding",
                       (unsigned long long)d->id, d->incarnation);
    if (d->payload.n > GUEST_PAYLOAD_MAX_BYTES)
        return err_set(err, -EMSGSIZE, "payload of %zu bytes is over the limit", d->payload.n);
    struct active *a = activate(g);
    if (a->queue.n >= GUEST_QUEUE_MAX_EVENTS ||
        (a->queue.n && a->queue.bytes + d->payload.n > GUEST_QUEUE_MAX_BYTES)) {
        a->room_wanted = true;
        return err_set(err, -EBUSY, "the queue of '%s' is full", g->name + g->name_at);
    }
    uint32_t flags = (d->finished ? DELIVERY_FINISHED : 0) | (d->null ? DELIVERY_NULL : 0) |
                     (g->outstanding[at] & 1 ? DELIVERY_STREAM : 0);
    int r = guest_queue_add(&a->queue, d->id, flags, d->null ? STR_NULL : d->payload);
    if (r < 0)
        return err_sys(err, r, "queue a delivery");
    if (d->last)
        remove_outstanding(g, at);
    make_ready(g);
    return 0;
}

int guest_sleep(struct guest *g)
{
    struct active *a = g->active;
    if (g->state != GUEST_AWAKE || a->tenant.sent || a->queue.n)
        return -EBUSY;
    a->sleep_wanted = true;
    a->no_sleep_until_ms = 0;
    make_ready(g);
    return 0;
}

void guest_fail(struct guest *g, const struct err *why)
{
    if (g->state == GUEST_FAILED || (g->state == GUEST_COLD && !g->start_wanted))
        return;
    set_error(g, why);
    g->fail_wanted = true;
    make_ready(g);
}

void guest_get_stats(const struct guest *g, struct guest_stats *ret)
{
    const struct active *a = g->active;
    *ret = (struct guest_stats){
        .namespace = g->name,
        .name = g->name + g->name_at,
        .abi = (enum guest_abi)g->abi,
        .state = (enum guest_state)g->state,
        .incarnation = g->incarnation,
        .memory_bytes = memory_bytes(g),
        .resident_bytes = resident_bytes(g),
        .swap_bytes = g->swap_bytes,
        .activations = g->activations,
        .wakes = g->wakes,
        .suspends = g->suspends,
        .restarts = g->restarts,
        .wake_us_last = g->wake_us_last,
        .wake_us_p50 = wake_percentile(g, 50),
        .wake_us_p99 = wake_percentile(g, 99),
        .queued = a ? a->queue.n : 0,
        .outstanding = g->n_outstanding,
        .dissolvable = g->module->info->is_dissolvable,
    };
    if (g->last_error)
        (void)snprintf(ret->last_error, sizeof ret->last_error, "%s", g->last_error);
}

/* ---- the host ---- */

static const struct runner_pool_ops pool_ops = {
    .on_answer = pool_on_answer,
    .on_lost = pool_on_lost,
    .on_room = pool_on_room,
};

/* $DORMOUSE_RUNNER, else the program of that name beside ours. */
static char *find_runner_path(const char *given)
{
    const char *env = getenv("DORMOUSE_RUNNER");
    if (given || env)
        return xstrdup(given ? given : env);
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self);
    while (n > 0 && self[n - 1] != '/')
        n--;
    return xasprintf("%.*sdormouse-runner", n > 0 ? (int)n : 0, self);
}

int guest_host_new(struct loop *loop, const struct guest_host_opts *opts, struct guest_host **ret,
                   struct err *err)
{
    struct swap swap;
    int r = swap_init(&swap, opts->swap_dir, err);
    if (r < 0)
        return r;
    struct guest_host *h = xnew(struct guest_host);
    h->loop = loop;
    h->opts = *opts;
    h->opts.idle_ms = opts->idle_ms ? opts->idle_ms : IDLE_MS_DEFAULT;
    h->opts.swap_quota_bytes = opts->swap_quota_bytes ? opts->swap_quota_bytes : SWAP_QUOTA_DEFAULT;
    h->opts.swap_dir = NULL; /* not kept */
    h->opts.runner_path = h->runner_path = find_runner_path(opts->runner_path);
    h->swap = swap;
    list_init(&h->guests);
    list_init(&h->ready);
    list_init(&h->idle);
    list_init(&h->dead);
    h->pool = pool_new(loop,
                       &(struct runner_pool_opts){ .runner_path = h->runner_path,
                                                   .max_runners = opts->max_runners },
                       &pool_ops, h);
    pressure_start(&h->pressure, loop, on_pressure, h);
    *ret = h;
    return 0;
}

static void on_pressure_closed(void *arg)
{
    struct guest_host *h = arg;
    h->done(h->done_arg);
    defer_cancel(&h->pump);
    reap_dead(h);
    assert(list_is_empty(&h->guests));
    swap_fini(&h->swap);
    free(h->runner_path);
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
        if (g->active)
            timer_stop(h->loop, &g->active->timer);
    }
    pool_close(h->pool, on_pool_closed, h);
}

/* Called after every answer: the sooner the last activation ends, the sooner we do. */
static void close_if_quiet(struct guest_host *h)
{
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
    timer_start(h->loop, &h->closing, CLOSE_MS, on_closing);
    close_if_quiet(h);
}

void guest_host_each(struct guest_host *h, void (*fn)(struct guest *g, void *arg), void *arg)
{
    list_each (node, &h->guests)
        fn(list_entry(node, struct guest, node), arg);
}

void guest_host_get_stats(const struct guest_host *h, struct guest_host_stats *ret)
{
    struct runner_pool_stats pool;
    pool_get_stats(h->pool, &pool);
    *ret = (struct guest_host_stats){
        .runners = pool.runners,
        .awake = h->n_awake,
        .runner_starts = pool.starts,
        .runner_losses = pool.losses,
        .wakes = h->wakes,
        .suspends = h->suspends,
        .activations = h->activations,
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
    return pool_pids(h->pool, ret, max);
}
