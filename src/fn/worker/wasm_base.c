/* SPDX-License-Identifier: Apache-2.0 */
/* Templates of a revision in runners, and the seats beside them; see wasm_impl.h. */
#include "fn/worker/wasm_impl.h"

#include "base/clock.h"

#include <assert.h>
#include <errno.h>

static void base_free(struct wasm_base *b)
{
    struct wasm_revision *rev = b->rev;
    assert(b->n_seats == 0);
    list_remove(&b->node);
    list_remove(&b->used);
    rev->n_bases--;
    rev->rt->n_bases--;
    pool_drop(&b->seat.tenant);
    free(b);
}

static void seat_free(struct wasm_seat *seat)
{
    list_remove(&seat->node);
    seat->base->n_seats--;
    free(seat);
}

static void drop_idle_seat(struct wasm_base *b, struct wasm_seat *seat)
{
    b->n_free--;
    pool_drop(&seat->tenant);
    seat_free(seat);
}

static void free_idle_seats(struct wasm_base *b)
{
    while (!list_is_empty(&b->free))
        drop_idle_seat(b, list_first(&b->free, struct wasm_seat, node));
}

static void free_if_done(struct wasm_base *b)
{
    if (!b->is_old || b->n_busy)
        return;
    free_idle_seats(b);
    base_free(b);
}

void wasm_base_retire(struct wasm_base *b)
{
    b->is_old = true;
    free_if_done(b);
}

void wasm_bases_retire(struct wasm_revision *rev)
{
    list_each_safe (node, &rev->bases)
        wasm_base_retire(list_entry(node, struct wasm_base, node));
}

bool wasm_has_base(const struct wasm_revision *rev)
{
    list_each (node, &rev->bases)
        if (!list_entry(node, struct wasm_base, node)->is_old)
            return true;
    return false;
}

/*
 * The idle base that was not used for longest gives way, in any runner or in this one. Its revision
 * stays as it is, and makes another one for its next request.
 */
static bool make_room(struct wasm_rt *rt, const struct pool_runner *where)
{
    list_each (node, &rt->bases) {
        struct wasm_base *b = list_entry(node, struct wasm_base, used);
        if (b->n_busy || (where && b->seat.tenant.runner != where))
            continue;
        wasm_base_retire(b);
        return true;
    }
    return false;
}

/* ---- making ---- */

static const struct str no_setup = { "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16 };

/* Arguments and environment without a request's. */
static void put_setup(struct buf *to, const struct wasm_revision *rev)
{
    (void)buf_add_str(to, buf_str(&rev->args));
    (void)buf_add_le32(to, rev->n_env);
    (void)buf_add_le32(to, (uint32_t)rev->env.n);
    (void)buf_add_str(to, buf_str(&rev->env));
}

static void send_template(struct wasm_base *b)
{
    static struct proto_run run; /* large, and filled anew each time */
    struct wasm_revision *rev = b->rev;
    const struct fn_template *t = rev->r->t;
    struct buf setup = BUF_INIT(PROTO_SETUP_MAX);
    put_setup(&setup, rev);
    run = (struct proto_run){ .flags = RUN_START | RUN_TEMPLATE,
                              .guest = b->seat.serial,
                              .abi = rev->abi,
                              .activation_ms = WASM_INIT_MS,
                              .memory_max_bytes = t->memory,
                              .skipped_ms = clock_skipped_ms(),
                              .setup = buf_ok(&setup) ? buf_str(&setup) : no_setup };
    pool_send(&b->seat.tenant, &run, -1, WASM_INIT_MS);
    buf_fini(&setup);
}

static bool has_base_there(const struct wasm_revision *rev, const struct wasm_base *b)
{
    list_each (node, &rev->bases) {
        const struct wasm_base *other = list_entry(node, struct wasm_base, node);
        if (other != b && !other->is_old && other->generation == b->generation &&
            other->seat.tenant.runner == b->seat.tenant.runner)
            return true;
    }
    return false;
}

int wasm_base_new(struct wasm_revision *rev, struct err *err)
{
    struct wasm_rt *rt = rev->rt;
    struct wasm_base *b = xnew(struct wasm_base);
    b->rev = rev;
    b->seat.base = b;
    b->seat.serial = ++rt->serial;
    b->seat.tenant.may_park = true;
    b->is_slow = rev->is_slow;
    b->generation = rev->module->generation;
    b->used_ms = loop_now_ms(rt->opts.loop);
    list_init(&b->free);
    list_init(&b->sliced);
    if (rt->n_bases >= rt->opts.templates_max)
        (void)make_room(rt, NULL);
    enum runner_share share = b->is_slow ? RUNNER_SLOW : RUNNER_SHARED;
    int r = pool_place(rt->runners, &b->seat.tenant, rev->module, share, err);
    if (r == -EAGAIN && make_room(rt, NULL))
        r = pool_place(rt->runners, &b->seat.tenant, rev->module, share, err);
    if (r == 0 && (has_base_there(rev, b) || !pool_can_send(&b->seat.tenant))) {
        pool_release(&b->seat.tenant);
        r = err_set(err, -EAGAIN, "no runner has room");
    }
    if (r < 0) {
        free(b);
        return r;
    }
    list_push_back(&rev->bases, &b->node);
    rev->n_bases++;
    rt->n_bases++;
    if (rev->n_bases > 1 && !timer_is_armed(&rt->tidy))
        wasm_tidy(rt);
    send_template(b);
    return 0;
}

bool wasm_is_template(const struct wasm_seat *seat)
{
    return seat == &seat->base->seat;
}

/* Once its successor can take over. */
static void retire_others(struct wasm_revision *rev, const struct wasm_base *b)
{
    list_each_safe (node, &rev->bases) {
        struct wasm_base *other = list_entry(node, struct wasm_base, node);
        if (other != b && (other->is_slow != b->is_slow || other->generation != b->generation))
            wasm_base_retire(other);
    }
}

int wasm_template_answer(struct wasm_seat *seat, const struct proto_answer *a, struct err *err)
{
    struct wasm_base *b = seat->base;
    struct wasm_revision *rev = b->rev;
    if (a->flags == ANSWER_DONE) {
        b->is_ready = true;
        list_push_back(&rev->rt->bases, &b->used);
        retire_others(rev, b);
        if (!b->is_old)
            wasm_revision_ready(rev);
        return 0;
    }
    if (a->flags != ANSWER_TRAPPED || a->code >= 0)
        return err_set(err, E_INVALID, "an answer without a result");
    struct err why = { 0 };
    (void)err_set(&why, a->code, "initialisation: " STR_FMT, STR_ARG(a->text));
    bool was_old = b->is_old;
    b->is_old = true;
    pool_release(&seat->tenant);
    free_if_done(b);
    if (!was_old && rev->r)
        wasm_revision_failed(rev, &why);
    return 0;
}

void wasm_template_lost(struct wasm_seat *seat, enum tenant_lost how, const struct err *why)
{
    struct wasm_base *b = seat->base;
    struct wasm_revision *rev = b->rev;
    bool was_preparing = !b->is_ready, was_old = b->is_old;
    b->is_old = true;
    b->is_ready = false;
    free_if_done(b);
    if (was_old || !rev->r || rev->rt->is_closing)
        return;
    struct err err = { 0 };
    if (was_preparing && how == LOST_RUNNING) {
        (void)err_set(&err, E_TRAP, "initialisation: %s", err_text(why));
        wasm_revision_failed(rev, &err);
    } else {
        wasm_need_base(rev);
    }
}

/* ---- seats ---- */

/* The base for the next request: the first one as long as its runner keeps up. */
static struct wasm_base *choose(const struct wasm_revision *rev, bool *ret_any)
{
    struct wasm_base *best = NULL;
    *ret_any = false;
    list_each (node, &rev->bases) {
        struct wasm_base *b = list_entry(node, struct wasm_base, node);
        if (!b->is_ready || b->is_old)
            continue;
        *ret_any = true;
        if (!pool_can_send(&b->seat.tenant))
            continue;
        unsigned depth = pool_depth(&b->seat.tenant);
        if (depth < RUNNER_COMMANDS_DEEP)
            return b;
        if (!best || depth < pool_depth(&best->seat.tenant))
            best = b;
    }
    return best;
}

/* The runners that it has are behind: one more, if there can be one. */
static void grow(struct wasm_revision *rev)
{
    struct wasm_rt *rt = rev->rt;
    uint64_t now = loop_now_ms(rt->opts.loop);
    if (rev->n_bases >= rt->max_runners || rev->is_slow || now - rev->grow_ms < WASM_GROW_MS ||
        list_is_empty(&rev->bases))
        return;
    rev->grow_ms = now;
    const struct wasm_base *first = list_first(&rev->bases, struct wasm_base, node);
    if (first->is_ready && pool_is_deep(&first->seat.tenant))
        (void)wasm_base_new(rev, NULL);
}

/* The module has been optimized. The old base serves requests until the new one is ready. */
static void renew(struct wasm_revision *rev)
{
    uint64_t now = loop_now_ms(rev->rt->opts.loop);
    uint32_t generation = rev->module->generation;
    if (now - rev->grow_ms < WASM_GROW_MS || generation == rev->lost_generation)
        return;
    list_each (node, &rev->bases)
        if (list_entry(node, struct wasm_base, node)->generation == generation)
            return;
    rev->grow_ms = now;
    /* Its code was removed meanwhile. The old base works, and its successor compiles the module
     * again. */
    if (wasm_base_new(rev, NULL) == E_EXPIRED)
        rev->lost_generation = generation;
}

int wasm_seat_get(struct wasm_revision *rev, struct wasm_seat **ret)
{
    bool any;
    struct wasm_base *b = choose(rev, &any);
    if (!any)
        return -ENOENT;
    if (b)
        list_remove(&b->used); /* not this one gives way to a further one */
    if (b && b->generation != rev->module->generation)
        renew(rev);
    if (!b || pool_depth(&b->seat.tenant) >= RUNNER_COMMANDS_DEEP)
        grow(rev);
    if (!b)
        return -EAGAIN;
    list_push_back(&rev->rt->bases, &b->used);
    struct wasm_seat *seat;
    if (!list_is_empty(&b->free)) {
        seat = list_entry(list_pop_front(&b->free), struct wasm_seat, node);
        b->n_free--;
    } else {
        seat = xnew(struct wasm_seat);
        seat->tenant.may_park = true;
        int r = pool_place_beside(&seat->tenant, &b->seat.tenant, NULL);
        list_remove(&b->used); /* not this one */
        if (r == -EAGAIN && make_room(rev->rt, b->seat.tenant.runner))
            r = pool_place_beside(&seat->tenant, &b->seat.tenant, NULL);
        list_push_back(&rev->rt->bases, &b->used);
        if (r < 0) {
            free(seat);
            return r;
        }
        seat->base = b;
        seat->serial = ++rev->rt->serial;
        b->n_seats++;
    }
    b->n_busy++;
    list_remove(&b->used);
    list_push_back(&rev->rt->bases, &b->used);
    b->used_ms = loop_now_ms(rev->rt->opts.loop);
    *ret = seat;
    return 0;
}

void wasm_seat_put(struct wasm_seat *seat)
{
    struct wasm_base *b = seat->base;
    wasm_slice_over(seat);
    seat->x = NULL;
    b->n_busy--;
    list_push_front(&b->free, &seat->node);
    if (++b->n_free > WASM_SEATS_FREE)
        drop_idle_seat(b, list_entry(b->free.prev, struct wasm_seat, node));
    free_if_done(b);
}

void wasm_seat_drop(struct wasm_seat *seat)
{
    struct wasm_base *b = seat->base;
    wasm_slice_over(seat);
    b->n_busy--;
    pool_drop(&seat->tenant);
    seat_free(seat);
    free_if_done(b);
}

void wasm_seat_lost(struct wasm_seat *seat)
{
    struct wasm_base *b = seat->base;
    wasm_slice_lost(seat);
    if (list_is_linked(&seat->node))
        b->n_free--;
    else
        b->n_busy--;
    seat_free(seat);
    free_if_done(b);
}

/* Move to the fast or the slow runners, unless it is there or the last move was recent. */
static void move(struct wasm_revision *rev, bool is_slow)
{
    uint64_t now = loop_now_ms(rev->rt->opts.loop);
    if (is_slow == rev->is_slow || !rev->r || rev->rt->is_closing ||
        now - rev->grow_ms < WASM_GROW_MS)
        return;
    rev->grow_ms = now;
    rev->is_slow = is_slow; /* the old bases serve until the new one is there */
    if (wasm_base_new(rev, NULL) < 0)
        rev->is_slow = !is_slow;
}

static uint32_t average(const struct wasm_revision *rev, uint64_t cpu_us)
{
    return (uint32_t)((7 * (uint64_t)rev->cost_us + MIN(cpu_us, (uint64_t)1 << 28)) / 8);
}

void wasm_note_cost(struct wasm_revision *rev, uint64_t cpu_us)
{
    rev->cost_us = average(rev, cpu_us);
    move(rev, rev->cost_us > (rev->is_slow ? WASM_QUICK_US : WASM_SLOW_US));
}

void wasm_note_slice(struct wasm_revision *rev, uint64_t cpu_us)
{
    if (rev->is_slow || cpu_us < WASM_LONG_US || rev->rt->n_bases <= rev->n_bases)
        return;
    rev->cost_us = MAX(rev->cost_us, average(rev, cpu_us)); /* the request may run for long */
    move(rev, true);
}

/* ---- a second runner that is not needed any more ---- */

static void on_tidy(struct timer *timer)
{
    wasm_tidy(container_of(timer, struct wasm_rt, tidy));
}

static bool tidy_revision(struct wasm_revision *rev, uint64_t now)
{
    list_each_safe (node, &rev->bases) {
        struct wasm_base *b = list_entry(node, struct wasm_base, node);
        bool is_first = rev->bases.next == node;
        if (!is_first && b->is_ready && !b->is_old && now - b->used_ms >= WASM_TIDY_MS)
            wasm_base_retire(b);
    }
    return rev->n_bases > 1;
}

void wasm_tidy(struct wasm_rt *rt)
{
    bool more = false;
    uint64_t now = loop_now_ms(rt->opts.loop);
    map_each (e, &rt->revisions)
        more |= tidy_revision(e->value, now);
    if (more)
        timer_start(rt->opts.loop, &rt->tidy, WASM_TIDY_MS, on_tidy);
}
