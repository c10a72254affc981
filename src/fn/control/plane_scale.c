/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives autoscaling and placement: load comes in, creations and deletions go out. A revision at
 * rest has no struct plane_active and no timer.
 */
#include "fn/control/plane_impl.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <inttypes.h>

enum {
    TICK_GRID_MS =
        250, /* ticks of all revisions are aligned to it, so that the process wakes once for all */
    PENDING_MISSES_MAX = 32, /* unsuccessful revisions tried when room is free */
    DRAIN_CHECK_MS = 1000,
    IDLE_MAX = 64, /* of the idle sandboxes in a report */
};

static const double start_bounds_us[PLANE_BOUNDS] = { 100,  250,  500,   1e3,   2500, 5e3, 10e3,
                                                      25e3, 50e3, 100e3, 250e3, 1e6,  5e6, 30e6 };
const struct histogram_kind plane_start_kind = { start_bounds_us, PLANE_BOUNDS, 1e6, 6, NULL };

static uint64_t now_ms(const struct plane *p)
{
    return loop_now_ms(p->loop);
}

static struct scale_counts counts_of(const struct control_plane_revision *rev)
{
    return (struct scale_counts){ .ready = rev->ready,
                                  .creating = rev->creating,
                                  .unreachable = !rev->reachable };
}

/* ---------------------------------------------------------------- awake or at rest */

static void on_tick(struct timer *t);
static void on_retry(struct timer *t);

static struct plane_active *need_active(struct control_plane_revision *rev)
{
    if (rev->active)
        return rev->active;
    rev->active = xnew(struct plane_active);
    rev->active->rev = rev;
    rev->p->n_awake++;
    return rev->active;
}

void plane_revision_rest(struct control_plane_revision *rev)
{
    struct plane_active *a = take_ptr(&rev->active);
    if (!a)
        return;
    timer_stop(rev->p->loop, &a->tick);
    timer_stop(rev->p->loop, &a->retry);
    list_remove(&a->pending);
    vec_fini(&a->shares);
    vec_fini(&a->idle);
    free(a);
    assert(rev->p->n_awake > 0);
    rev->p->n_awake--;
}

static void rest_if_idle(struct control_plane_revision *rev)
{
    struct plane_active *a = rev->active;
    if (a && !timer_is_armed(&a->tick) && !timer_is_armed(&a->retry) && a->shares.n == 0 &&
        !list_is_linked(&a->pending) && !a->waits_env && rev->creating == 0)
        plane_revision_rest(rev);
}

static void arm_tick(struct control_plane_revision *rev, uint64_t next_ms)
{
    struct plane *p = rev->p;
    uint64_t now = now_ms(p);
    if (next_ms == 0) {
        if (rev->active)
            timer_stop(p->loop, &rev->active->tick);
        return;
    }
    uint64_t at = (MAX(next_ms, now + 1) + TICK_GRID_MS - 1) / TICK_GRID_MS * TICK_GRID_MS;
    timer_start(p->loop, &need_active(rev)->tick, at - now, on_tick);
}

/* ---------------------------------------------------------------- obstacles */

static void send_failure(struct control_plane_revision *rev)
{
    struct plane_failure f = { rev->f->number, rev->number };
    vec_push(&rev->p->failures, f);
    plane_send_later(rev->p);
}

static void set_trouble(struct control_plane_revision *rev, const char *reason, const char *message,
                        bool is_permanent)
{
    bool same = rev->reason && strcmp(rev->reason, reason) == 0 && rev->message &&
                strcmp(rev->message, message) == 0 && rev->is_permanent == is_permanent;
    if (same && !is_permanent)
        return;
    if (!same) {
        free(rev->reason);
        free(rev->message);
        rev->reason = xstrdup(reason);
        rev->message = xstrdup(message);
        rev->is_permanent = is_permanent;
        plane_notify_change(rev);
    }
    send_failure(rev);
}

static void clear_trouble(struct control_plane_revision *rev)
{
    if (!rev->reason)
        return;
    free(take_ptr(&rev->reason));
    free(take_ptr(&rev->message));
    rev->is_permanent = false;
    send_failure(rev);
    plane_notify_change(rev);
}

/* No creation for some time. */
static void back_off(struct control_plane_revision *rev, bool is_permanent)
{
    struct plane_active *a = need_active(rev);
    uint64_t ms = is_permanent
                      ? (uint64_t)PLANE_PERMANENT_MS
                      : backoff_wait(PLANE_RETRY_FIRST_MS, PLANE_RETRY_MAX_MS, a->failures);
    a->failures++;
    a->retry_at_ms = now_ms(rev->p) + ms;
    timer_start(rev->p->loop, &a->retry, ms, on_retry);
}

/* ---------------------------------------------------------------- creations */

static const uint8_t sandbox_edges[] = {
    [SANDBOX_FREE] = EDGE(SANDBOX_CREATING) | EDGE(SANDBOX_READY), /* ready: recovered */
    [SANDBOX_CREATING] = EDGE(SANDBOX_READY) | EDGE(SANDBOX_DELETING) | EDGE(SANDBOX_FREE),
    [SANDBOX_READY] = EDGE(SANDBOX_DRAINING) | EDGE(SANDBOX_DELETING) | EDGE(SANDBOX_FREE),
    [SANDBOX_DRAINING] = EDGE(SANDBOX_DELETING) | EDGE(SANDBOX_FREE),
    [SANDBOX_DELETING] = EDGE(SANDBOX_FREE),
};

static uint32_t *count_in(struct control_plane_revision *rev, enum sandbox_state state)
{
    switch (state) {
    case SANDBOX_CREATING:
        return &rev->creating;
    case SANDBOX_READY:
        return &rev->ready;
    case SANDBOX_DRAINING:
    case SANDBOX_DELETING:
        return &rev->draining;
    case SANDBOX_FREE:
        return NULL;
    }
    return NULL;
}

/* The only place that changes the state of a sandbox; the counts of its revision follow. */
static void sandbox_move(struct control_plane_revision *rev, struct plane_sandbox *s,
                         enum sandbox_state to)
{
    uint32_t *from = count_in(rev, s->state), *count = count_in(rev, to);
    assert(s->id && sandbox_edges[s->state] & EDGE(to));
    assert(!from || *from > 0);
    if (from)
        --*from;
    if (count)
        ++*count;
    s->state = (uint8_t)to;
}

static void link_slot(struct control_plane_revision *rev, uint32_t slot)
{
    struct sandbox_table *t = &rev->p->table;
    assert(t->at[slot].next == TABLE_NONE && t->at[slot].prev == TABLE_NONE);
    t->at[slot].function = rev->f->number;
    t->at[slot].revision = rev->number;
    t->at[slot].next = rev->first;
    if (rev->first != TABLE_NONE)
        t->at[rev->first].prev = slot;
    rev->first = slot;
    plane_wake_revision(rev);
}

static void unlink_slot(struct control_plane_revision *rev, uint32_t slot)
{
    struct sandbox_table *t = &rev->p->table;
    struct plane_sandbox *s = &t->at[slot];
    assert(s->function == rev->f->number && s->revision == rev->number);
    assert((s->prev == TABLE_NONE) == (rev->first == slot));
    if (s->prev != TABLE_NONE)
        t->at[s->prev].next = s->next;
    else
        rev->first = s->next;
    if (s->next != TABLE_NONE)
        t->at[s->next].prev = s->prev;
}

static void charge(struct control_plane_revision *rev, struct plane_worker *w,
                   struct plane_sandbox *s)
{
    uint64_t memory = (uint64_t)rev->config->need.at[PLACE_MEMORY_BYTES];
    s->worker = w->index;
    s->memory_kib = (uint32_t)MIN(memory >> 10, (uint64_t)UINT32_MAX);
    w->n_sandboxes++;
    rev->f->ns->sandboxes++;
    rev->f->ns->memory += (uint64_t)s->memory_kib << 10;
}

/* The quota of its namespace has room for one more. */
static bool is_within_quota(struct control_plane_revision *rev, char why[160])
{
    const struct plane_namespace *ns = rev->f->ns;
    uint64_t memory = (uint64_t)rev->config->need.at[PLACE_MEMORY_BYTES];
    if (ns->sandboxes >= ns->policy.sandboxes)
        (void)snprintf(why, 160, "the namespace has %u sandboxes, its quota is %u", ns->sandboxes,
                       ns->policy.sandboxes);
    else if (ns->memory + memory > ns->policy.memory)
        (void)snprintf(why, 160,
                       "sandboxes of the namespace have %" PRIu64 " MiB, its quota is %" PRIu64
                       " MiB",
                       ns->memory >> 20, ns->policy.memory >> 20);
    else
        return true;
    return false;
}

/* Waits until there is room: a worker connects, a sandbox is deleted, or a quota is raised. */
static void wait_for_room(struct control_plane_revision *rev, const char *reason,
                          const char *message)
{
    struct plane_active *a = need_active(rev);
    set_trouble(rev, reason, message, false);
    if (!list_is_linked(&a->pending))
        list_push_back(&rev->p->pending, &a->pending);
}

/* Workers that can run it have a label for the runtime. */
static bool has_runtime(const struct plane *p, const struct plane_config *c)
{
    struct place_label want = c->selector[c->n_selector - 1];
    for (size_t i = 0; i < p->workers.n; i++) {
        const struct place_node *node =
            p->workers.p[i] ? place_node(p->books, p->workers.p[i]->node) : NULL;
        for (uint16_t k = 0; node && k < node->n_labels; k++)
            if (node->labels[k].key == want.key && node->labels[k].value == want.value)
                return true;
    }
    return false;
}

/* When no worker has the runtime, name the runtime in the error instead of its label. */
static void explain_runtime(const struct plane *p, const struct plane_config *c, struct err *err)
{
    if (!p->n_workers || has_runtime(p, c))
        return;
    if (c->runtime == FN_OCI)
        (void)err_set(err, -ENOSPC,
                      "none of %u workers runs containers: a worker needs crun (or runc) on its "
                      "PATH, and --image-registry HOST or --bundles DIR",
                      p->n_workers);
    else if (c->runtime == FN_WASM)
        (void)err_set(err, -ENOSPC, "none of %u workers runs Wasm modules; their logs say why",
                      p->n_workers);
}

static bool create_one(struct control_plane_revision *rev)
{
    struct plane *p = rev->p;
    struct plane_active *a = need_active(rev);
    struct place_choice where;
    struct err err = { 0 };
    char why[160];
    if (!is_within_quota(rev, why)) {
        wait_for_room(rev, "QuotaExceeded", why);
        return false;
    }
    if (p->table.n_used >= PLANE_SANDBOXES_MAX || p->next_sandbox == UINT32_MAX) {
        wait_for_room(rev, "TooManySandboxes", "the control plane's table is full");
        return false;
    }
    if (plane_revision_place(rev, a->avoid, a->n_avoid, &where, &err) < 0) {
        explain_runtime(p, rev->config, &err);
        wait_for_room(rev, "Unschedulable", err_text(&err));
        return false;
    }
    struct plane_worker *w = p->workers.p[where.node];
    assert(w && w->index == where.node);
    uint64_t id = p->term << 32 | p->next_sandbox++;
    while (table_find(&p->table, id) != TABLE_NONE) /* an id that a worker claimed */
        id = p->term << 32 | p->next_sandbox++;
    uint32_t slot = table_add(&p->table, id);
    struct plane_sandbox *s = &p->table.at[slot];
    crowd_is(&p->crowd, p->table.n_used);
    sandbox_move(rev, s, SANDBOX_CREATING);
    s->at = (uint32_t)(clock_mono_ns() / 1000);
    charge(rev, w, s);
    link_slot(rev, slot);
    list_remove(&a->pending);
    plane_order_create(w, id);
    return true;
}

/* Is the environment known and recent enough? false: it has been requested. */
static bool has_env(struct control_plane_revision *rev)
{
    if (!rev->wants_env || (rev->env && now_ms(rev->p) - rev->env_at_ms < PLANE_ENV_MS))
        return true;
    struct plane_active *a = need_active(rev);
    if (!a->waits_env) {
        a->waits_env = true;
        rev->p->opts.ops->on_resolve(rev->p->opts.arg, rev->f->number, rev->number);
    }
    return false;
}

static void create(struct control_plane_revision *rev, uint32_t n)
{
    struct plane_active *a = rev->active;
    if (a && now_ms(rev->p) < a->retry_at_ms)
        return; /* on_retry() continues */
    if (!has_env(rev))
        return;
    for (uint32_t i = 0; i < n; i++)
        if (!create_one(rev))
            return;
}

/* ---------------------------------------------------------------- deletions */

/* While a sandbox drains, `at` is its place among those that do. */
static struct plane_drain *find_drain(struct plane *p, uint32_t slot)
{
    const struct plane_sandbox *s = &p->table.at[slot];
    bool drains = s->state == SANDBOX_DRAINING && s->at < p->draining.n;
    return drains && p->draining.p[s->at].id == s->id ? &p->draining.p[s->at] : NULL;
}

static void drop_drain(struct plane *p, size_t i)
{
    assert(i < p->draining.n);
    struct plane_drain last = p->draining.p[--p->draining.n];
    if (i == p->draining.n)
        return;
    p->draining.p[i] = last;
    uint32_t slot = table_find(&p->table, last.id);
    if (slot != TABLE_NONE && p->table.at[slot].state == SANDBOX_DRAINING)
        p->table.at[slot].at = (uint32_t)i;
}

static void on_drain_timer(struct timer *t)
{
    struct plane *p = container_of(t, struct plane, drain_timer);
    uint64_t now = now_ms(p);
    for (size_t i = p->draining.n; i > 0; i--) {
        struct plane_drain d = p->draining.p[i - 1];
        uint32_t slot = table_find(&p->table, d.id);
        if (d.owed && now < d.due_ms && slot != TABLE_NONE)
            continue;
        drop_drain(p, i - 1);
        if (slot != TABLE_NONE && p->table.at[slot].state == SANDBOX_DRAINING)
            plane_sandbox_delete(p, slot);
    }
    if (p->draining.n)
        timer_start(p->loop, &p->drain_timer, DRAIN_CHECK_MS, on_drain_timer);
}

static void begin_drain(struct control_plane_revision *rev, uint32_t slot)
{
    struct plane *p = rev->p;
    struct plane_drain d = { .id = p->table.at[slot].id,
                             .due_ms = now_ms(p) + rev->config->drain_ms };
    for (uint32_t i = 0; i < PLANE_GATEWAYS_MAX; i++)
        if (p->gateways[i])
            d.owed |= UINT64_C(1) << i;
    sandbox_move(rev, &p->table.at[slot], SANDBOX_DRAINING);
    p->table.at[slot].at = (uint32_t)p->draining.n;
    vec_push(&p->drains, d.id);
    vec_push(&p->draining, d);
    plane_send_later(p);
    if (!timer_is_armed(&p->drain_timer))
        timer_start(p->loop, &p->drain_timer, d.owed ? DRAIN_CHECK_MS : 0, on_drain_timer);
}

/* Sandboxes whose gateways have changed are checked on the next turn. */
static void check_drains(struct plane *p)
{
    if (p->draining.n)
        timer_start(p->loop, &p->drain_timer, 0, on_drain_timer);
}

void plane_sandbox_drained(struct plane *p, uint64_t id, struct plane_gateway *g)
{
    uint32_t slot = table_find(&p->table, id);
    struct plane_drain *d = slot == TABLE_NONE ? NULL : find_drain(p, slot);
    if (!d)
        return;
    d->owed &= ~(UINT64_C(1) << g->bit);
    if (!d->owed)
        check_drains(p);
}

void plane_forget_drains(struct plane *p, struct plane_gateway *g)
{
    for (size_t i = 0; i < p->draining.n; i++)
        p->draining.p[i].owed &= ~(UINT64_C(1) << g->bit);
    check_drains(p);
}

/* Sandboxes being created are removed first, the newest before the others. */
static uint32_t cancel_creations(struct control_plane_revision *rev, uint32_t n)
{
    struct plane *p = rev->p;
    uint32_t done = 0;
    for (uint32_t slot = rev->first, next; slot != TABLE_NONE && done < n; slot = next) {
        next = p->table.at[slot].next;
        if (p->table.at[slot].state != SANDBOX_CREATING)
            continue;
        plane_sandbox_delete(p, slot);
        done++;
    }
    return done;
}

/* Position among those reported idle, the longest idle first; SIZE_MAX: not reported idle. */
static size_t idle_rank(const struct plane_active *a, uint64_t id)
{
    for (size_t i = 0; a && i < a->idle.n; i++)
        if (a->idle.p[i] == id)
            return i;
    return SIZE_MAX;
}

static void shrink(struct control_plane_revision *rev, uint32_t n)
{
    struct plane *p = rev->p;
    VEC(struct place_victim) victims = { 0 };
    numbers slots = { 0 };
    if (p->n_gateways == 0)
        return; /* no gateway could report them empty, and none reports that there is no load */
    n -= cancel_creations(rev, n);
    for (uint32_t slot = rev->first; slot != TABLE_NONE; slot = p->table.at[slot].next) {
        const struct plane_sandbox *s = &p->table.at[slot];
        if (s->state != SANDBOX_READY)
            continue;
        size_t rank = idle_rank(rev->active, s->id);
        struct place_victim v = { .node = p->workers.p[s->worker]->node,
                                  .inflight = rank == SIZE_MAX,
                                  .idle_since_ms = rank == SIZE_MAX ? 0 : rank,
                                  .sequence = s->id };
        vec_push(&victims, v);
        vec_push(&slots, slot);
    }
    n = MIN(n, (uint32_t)victims.n);
    if (n) {
        size_t *at = xnew_n(size_t, n);
        place_evict(p->books, p->opts.eviction, victims.p, victims.n, n, &p->rng, at);
        for (uint32_t i = 0; i < n; i++)
            begin_drain(rev, slots.p[at[i]]);
        free(at);
    }
    vec_fini(&victims);
    vec_fini(&slots);
}

void plane_sandbox_delete(struct plane *p, uint32_t slot)
{
    struct plane_sandbox *s = &p->table.at[slot];
    struct control_plane_revision *rev = plane_revision_of(p, s->function, s->revision);
    assert(s->state != SANDBOX_FREE);
    if (s->state == SANDBOX_DELETING)
        return;
    if (s->state != SANDBOX_CREATING)
        vec_push(&p->removes, s->id);
    sandbox_move(rev, s, SANDBOX_DELETING);
    plane_order_delete(p->workers.p[s->worker], s->id, rev->config->grace_ms);
    plane_send_later(p);
}

void plane_sandbox_withdraw(struct plane *p, uint32_t slot)
{
    struct plane_sandbox *s = &p->table.at[slot];
    struct control_plane_revision *rev = plane_revision_of(p, s->function, s->revision);
    if (s->state == SANDBOX_READY)
        begin_drain(rev, slot);
    else if (s->state == SANDBOX_CREATING)
        plane_sandbox_delete(p, slot);
    else
        return;
    plane_revision_recount(rev);
}

/* ---------------------------------------------------------------- decisions */

static void apply(struct control_plane_revision *rev, const struct scale_decision *d)
{
    if (d->create)
        create(rev, d->create);
    else if (d->remove)
        shrink(rev, d->remove);
    else if (rev->active && list_is_linked(&rev->active->pending)) {
        list_remove(&rev->active->pending);
        clear_trouble(rev);
    }
    arm_tick(rev, d->next_ms);
    rest_if_idle(rev);
}

void plane_revision_begin(struct control_plane_revision *rev)
{
    struct scale_counts counts = counts_of(rev);
    struct scale_decision d = { 0 };
    if (!rev->p->leads)
        return;
    scale_begin(&rev->scale, &rev->config->scale, now_ms(rev->p), &counts, &d);
    apply(rev, &d);
}

void plane_revision_recount(struct control_plane_revision *rev)
{
    struct scale_counts counts = counts_of(rev);
    struct scale_decision d = { 0 };
    if (!rev->p->leads || rev->f->dropped)
        return;
    if (rev->reachable)
        scale_recount(&rev->scale, &rev->config->scale, now_ms(rev->p), &counts, &d);
    else
        scale_tick(&rev->scale, &rev->config->scale, now_ms(rev->p), &counts, &d);
    apply(rev, &d);
}

static void on_tick(struct timer *t)
{
    struct control_plane_revision *rev = container_of(t, struct plane_active, tick)->rev;
    struct scale_counts counts = counts_of(rev);
    struct scale_decision d = { 0 };
    plane_revision_level(rev);
    scale_tick(&rev->scale, &rev->config->scale, now_ms(rev->p), &counts, &d);
    apply(rev, &d);
}

static void on_retry(struct timer *t)
{
    struct control_plane_revision *rev = container_of(t, struct plane_active, retry)->rev;
    if (rev->is_permanent) { /* the next request may trigger a new attempt */
        rev->active->retry_at_ms = 0;
        send_failure(rev);
        rest_if_idle(rev);
    } else {
        plane_revision_recount(rev);
    }
}

void plane_revision_try_again(struct control_plane_revision *rev)
{
    if (rev->active) {
        rev->active->failures = 0;
        rev->active->retry_at_ms = 0;
        timer_stop(rev->p->loop, &rev->active->retry);
    }
    clear_trouble(rev);
    plane_revision_recount(rev);
}

void plane_revision_env(struct control_plane_revision *rev)
{
    if (rev->env)
        plane_revision_recount(rev);
    else if (rev->active)
        back_off(rev, false);
}

static void on_retry_pending(struct defer *d)
{
    struct plane *p = container_of(d, struct plane, retry_pending);
    struct list waiting;
    int misses = 0;
    list_move_all(&p->pending, &waiting);
    for (struct list *node; (node = list_pop_front(&waiting));) {
        struct control_plane_revision *rev = list_entry(node, struct plane_active, pending)->rev;
        if (misses >= PENDING_MISSES_MAX) {
            list_push_back(&p->pending, node);
            continue;
        }
        plane_revision_recount(rev);
        misses += rev->active && list_is_linked(&rev->active->pending);
    }
}

void plane_retry_pending(struct plane *p)
{
    if (!list_is_empty(&p->pending))
        defer_start(p->loop, &p->retry_pending, on_retry_pending);
}

/* ---------------------------------------------------------------- load */

static struct plane_share *find_share(struct plane_active *a, const struct plane_gateway *g)
{
    vec_each (s, &a->shares)
        if (s->gateway == g)
            return s;
    return NULL;
}

static void report(struct control_plane_revision *rev, const struct scale_report *r)
{
    struct scale_counts counts = counts_of(rev);
    struct scale_decision d = { 0 };
    if (scale_report(&rev->scale, &rev->config->scale, now_ms(rev->p), r, &counts, &d)) {
        apply(rev, &d);
    } else {
        arm_tick(rev, d.next_ms);
        rest_if_idle(rev);
    }
}

static void take_idle(struct plane_active *a, const Dormouse__Fn__V1__FunctionLoad *m)
{
    a->idle.n = 0;
    for (size_t i = 0; i < MIN(m->n_idle, (size_t)IDLE_MAX); i++)
        vec_push(&a->idle, m->idle[i]);
}

void plane_revision_load(struct control_plane_revision *rev, struct plane_gateway *g,
                         const Dormouse__Fn__V1__FunctionLoad *m)
{
    struct plane_active *a = need_active(rev);
    struct plane_share *s = find_share(a, g);
    uint64_t now = now_ms(rev->p);
    struct scale_report r = { .concurrency_us = m->concurrency_us,
                              .arrived = m->arrived,
                              .finished = m->finished,
                              .duration_us = m->duration_us };
    if (s) {
        assert(a->running >= s->running && a->queued >= s->queued && now >= s->at_ms);
        r.interval_ms = now - s->at_ms;
        a->running -= s->running;
        a->queued -= s->queued;
    } else {
        struct plane_share fresh = { .gateway = g };
        vec_push(&a->shares, fresh);
        s = &a->shares.p[a->shares.n - 1];
    }
    /* Of all gateways at most UINT32_MAX, so that the sums cannot overflow. */
    s->running = MIN(m->running, UINT32_MAX / PLANE_GATEWAYS_MAX);
    s->queued = MIN(m->queued, UINT32_MAX / PLANE_GATEWAYS_MAX);
    s->at_ms = now;
    a->running += s->running;
    a->queued += s->queued;
    take_idle(a, m);
    r.running = a->running;
    r.queued = a->queued;
    if (s->running == 0 && s->queued == 0)
        vec_remove(&a->shares, (size_t)(s - a->shares.p));
    report(rev, &r);
}

static void drop_share(struct control_plane_revision *rev, struct plane_gateway *g)
{
    struct plane_active *a = rev->active;
    struct plane_share *s = a ? find_share(a, g) : NULL;
    if (!s)
        return;
    assert(a->running >= s->running && a->queued >= s->queued);
    a->running -= s->running;
    a->queued -= s->queued;
    vec_remove(&a->shares, (size_t)(s - a->shares.p));
    struct scale_report r = { .running = a->running, .queued = a->queued };
    report(rev, &r);
}

void plane_drop_shares(struct plane *p, struct plane_gateway *g)
{
    for (size_t i = 1; i < p->functions.n; i++)
        for (uint32_t k = 0; p->functions.p[i] && k < p->functions.p[i]->n_revisions; k++)
            drop_share(p->functions.p[i]->revisions[k], g);
}

/* ---------------------------------------------------------------- results of creations */

static uint64_t trace_creation(struct plane *p, const struct plane_sandbox *s,
                               const Dormouse__Fn__V1__Created *m, bool ok)
{
    const Dormouse__Fn__V1__Breakdown *b = m ? m->breakdown : NULL;
    const struct control_plane_revision *rev = plane_revision_of(p, s->function, s->revision);
    uint64_t us = (uint32_t)(clock_mono_ns() / 1000) - s->at;
    if (ok && b) {
        uint32_t phases[] = { b->image_fetch,     b->sandbox_create,
                              b->sandbox_start,   b->network_setup,
                              b->readiness_probe, b->snapshot_creation,
                              b->find_snapshot,   b->total };
        for (size_t i = 0; i < ARRAY_LEN(phases); i++)
            histogram_add(&plane_start_kind, &p->start[i], phases[i]);
    }
    if (ok)
        histogram_add(&plane_start_kind, &p->start[8], us);
    struct plane_created c = { .namespace = rev->f->ns->name,
                               .name = str_of(rev->f->name),
                               .sandbox = s->id,
                               .revision = s->revision,
                               .ok = ok,
                               .decided_us = us,
                               .breakdown = b };
    p->opts.ops->on_created(p->opts.arg, &c);
    return us;
}

void plane_sandbox_set_address(struct plane *p, uint32_t slot, const char *address, bool by_worker)
{
    struct plane_sandbox *s = &p->table.at[slot];
    const struct plane_worker *w = p->workers.p[s->worker];
    struct str at = str_of(address), port;
    uint64_t number;
    s->flags &= (uint8_t)~SANDBOX_BY_WORKER;
    s->port = 0;
    if (by_worker) {
        s->flags |= SANDBOX_BY_WORKER;
        return;
    }
    if (w->host.n && str_has_prefix(at, w->host) && at.n > w->host.n && at.p[w->host.n] == ':') {
        port = str_slice(at, w->host.n + 1, at.n);
        if (parse_u64(port, 1, UINT16_MAX, &number) >= 0) {
            s->port = (uint16_t)number;
            return;
        }
    }
    table_set_address(&p->table, slot, at.n <= PLANE_NAME_MAX ? address : "");
}

void plane_sandbox_add_address(const struct plane *p, uint32_t slot, struct buf *to)
{
    const struct plane_sandbox *s = &p->table.at[slot];
    const struct plane_worker *w = p->workers.p[s->worker];
    if (s->flags & SANDBOX_BY_WORKER)
        buf_add_cstr(to, w->peer.address);
    else if (s->flags & SANDBOX_HAS_TEXT)
        buf_add_cstr(to, table_address(&p->table, slot));
    else
        buf_printf(to, STR_FMT ":%u", STR_ARG(w->host), s->port);
}

static void become_ready(struct control_plane_revision *rev)
{
    struct plane_active *a = rev->active;
    if (a) {
        a->failures = 0;
        a->n_avoid = 0;
        a->retry_at_ms = 0;
        timer_stop(rev->p->loop, &a->retry);
    }
    rev->is_proven = true;
    clear_trouble(rev);
    if (rev->readiness == PLANE_READY || rev->ready < MAX(rev->config->scale.initial, 1u))
        return;
    bool was_ready = rev->readiness != PLANE_UNREADY;
    plane_revision_move(rev, PLANE_READY);
    if (!was_ready)
        plane_update_ready(rev->f);
    plane_notify_change(rev);
}

void plane_persisted(struct plane *p, uint64_t sandbox)
{
    uint32_t slot = table_find(&p->table, sandbox);
    if (slot == TABLE_NONE || p->table.at[slot].state != SANDBOX_READY)
        return;
    vec_push(&p->adds, sandbox);
    plane_send_later(p);
}

/* A creation takes a while, for a reason that its first sandbox alone can have. */
static void begin_preparing(struct plane *p, uint32_t slot, enum plane_preparing what)
{
    const struct plane_sandbox *s = &p->table.at[slot];
    struct control_plane_revision *rev = plane_revision_of(p, s->function, s->revision);
    if (s->state != SANDBOX_CREATING || rev->ready || rev->preparing == what)
        return;
    rev->preparing = what;
    plane_notify_change(rev);
}

void plane_sandbox_compiling(struct plane *p, uint32_t slot)
{
    begin_preparing(p, slot, PLANE_COMPILING);
}

void plane_sandbox_pulling(struct plane *p, uint32_t slot)
{
    begin_preparing(p, slot, PLANE_PULLING);
}

/* A sandbox of it was created, or could not be. */
static void end_preparing(struct control_plane_revision *rev)
{
    if (rev->preparing == PLANE_PREPARED)
        return;
    rev->preparing = PLANE_PREPARED;
    plane_notify_change(rev);
}

/* A recovered sandbox is ready: scale_recover() counted the initial sandboxes as made. */
static void stop_assuming(struct control_plane_revision *rev)
{
    if (rev->readiness != PLANE_ASSUMED)
        return;
    plane_revision_move(rev, PLANE_READY);
    plane_notify_change(rev);
}

void plane_sandbox_ready(struct plane *p, uint32_t slot, const Dormouse__Fn__V1__Created *m)
{
    struct plane_sandbox *s = &p->table.at[slot];
    struct control_plane_revision *rev = plane_revision_of(p, s->function, s->revision);
    if (s->state != SANDBOX_CREATING)
        return;
    p->created++;
    scale_started(&rev->scale, trace_creation(p, s, m, true) / 1000);
    sandbox_move(rev, s, SANDBOX_READY);
    s->at = (uint32_t)now_ms(p);
    end_preparing(rev);
    plane_revision_held_by(rev, p->workers.p[s->worker]->node);
    plane_sandbox_set_address(p, slot, m->address, m->by_worker);
    if (p->opts.persists)
        p->opts.ops->on_persist(p->opts.arg, rev->f->number, s->id, false);
    else
        plane_persisted(p, s->id);
    if (s->flags & SANDBOX_RECOVERED)
        stop_assuming(rev);
    become_ready(rev);
    rest_if_idle(rev);
}

/* Out of the books; the slot is free. */
static void drop_slot(struct plane *p, uint32_t slot, struct control_plane_revision *rev)
{
    struct plane_sandbox *s = &p->table.at[slot];
    struct plane_worker *w = p->workers.p[s->worker];
    if (s->state == SANDBOX_CREATING)
        end_preparing(rev);
    if (s->state == SANDBOX_READY || s->state == SANDBOX_DRAINING)
        vec_push(&p->removes, s->id);
    sandbox_move(rev, s, SANDBOX_FREE);
    if (p->opts.persists)
        p->opts.ops->on_persist(p->opts.arg, rev->f->number, s->id, true);
    assert(w->n_sandboxes > 0 && rev->f->ns->sandboxes > 0);
    assert(rev->f->ns->memory >= (uint64_t)s->memory_kib << 10);
    rev->f->ns->sandboxes--;
    rev->f->ns->memory -= (uint64_t)s->memory_kib << 10;
    w->n_sandboxes--;
    (void)place_release(p->books, w->node, w->epoch, &rev->config->need);
    unlink_slot(rev, slot);
    table_del(&p->table, slot);
    if (rev->first == TABLE_NONE)
        plane_rest_revision(rev);
    crowd_is(&p->crowd, p->table.n_used);
    plane_send_later(p);
}

static void avoid(struct plane_active *a, uint32_t node)
{
    for (uint32_t i = 0; i < a->n_avoid; i++)
        if (a->avoid[i] == node)
            return;
    a->avoid[a->n_avoid < ARRAY_LEN(a->avoid) ? a->n_avoid++ : a->failures % ARRAY_LEN(a->avoid)] =
        node;
}

/*
 * A revision whose sandboxes cannot be made, and that never had one, returns traffic to the
 * previous one.
 */
static void lose_ready(struct control_plane_revision *rev)
{
    if (rev->is_proven || rev->readiness == PLANE_UNREADY)
        return;
    plane_revision_move(rev, PLANE_UNREADY);
    plane_update_ready(rev->f);
}

/*
 * The kubelet's reasons for images: one for the first failure, another for those that follow at
 * growing intervals.
 */
static const char *failure_reason(const struct control_plane_revision *rev,
                                  const Dormouse__Fn__V1__Created *m)
{
    if (strcmp(m->reason, "ErrImagePull") == 0)
        return rev->active && rev->active->failures > 1 ? "ImagePullBackOff" : "ErrImagePull";
    return m->reason[0] ? m->reason : "SandboxFailed";
}

void plane_sandbox_failed(struct plane *p, uint32_t slot, const Dormouse__Fn__V1__Created *m)
{
    struct plane_sandbox *s = &p->table.at[slot];
    struct control_plane_revision *rev = plane_revision_of(p, s->function, s->revision);
    struct plane_worker *w = p->workers.p[s->worker];
    bool was_wanted = s->state == SANDBOX_CREATING;
    char why[LOG_QUOTE_MAX];
    p->failed++;
    if (was_wanted) {
        (void)trace_creation(p, s, m, false);
        /* Log a failure that repeats after each back-off at debug level. */
        bool is_known = rev->message && strcmp(rev->message, m->error) == 0;
        log_write(is_known ? LOG_DEBUG : LOG_WARN, "sandbox not made",
                  "function=" STR_FMT "/%s revision=%u worker=%s reason=\"%s\"",
                  STR_ARG(rev->f->ns->name), rev->f->name, rev->number, w->peer.name,
                  log_quote(why, str_of(m->error)));
        avoid(need_active(rev), w->node);
    }
    drop_slot(p, slot, rev);
    if (!place_tally_of(&rev->held, w->node))
        plane_unlearn_at(w, rev);
    if (was_wanted && !rev->f->dropped) {
        bool is_permanent = m->is_permanent && rev->ready == 0;
        back_off(rev, is_permanent);
        set_trouble(rev, failure_reason(rev, m), m->error, is_permanent);
        if (is_permanent)
            lose_ready(rev);
    }
    plane_retry_pending(p);
    plane_tidy(p, rev->f);
}

void plane_sandbox_gone(struct plane *p, uint32_t slot, const char *reason)
{
    struct plane_sandbox *s = &p->table.at[slot];
    struct control_plane_revision *rev = plane_revision_of(p, s->function, s->revision);
    bool died = s->state == SANDBOX_READY;
    bool was_wanted = died || s->state == SANDBOX_CREATING;
    bool young = died && (uint32_t)now_ms(p) - s->at < PLANE_CRASH_MS && reason[0];
    if (was_wanted) {
        p->died++;
        log_warn("sandbox lost", "function=" STR_FMT "/%s revision=%u worker=%s reason=\"%s\"",
                 STR_ARG(rev->f->ns->name), rev->f->name, rev->number,
                 p->workers.p[s->worker]->peer.name, reason);
    } else {
        p->deleted++;
    }
    drop_slot(p, slot, rev);
    if (young && !rev->f->dropped)
        back_off(rev, false);
    if (was_wanted)
        plane_revision_recount(rev);
    rest_if_idle(rev);
    plane_retry_pending(p);
    plane_tidy(p, rev->f);
}

uint32_t plane_sandbox_recover(struct control_plane_revision *rev, struct plane_worker *w,
                               uint64_t id, bool is_ready)
{
    struct plane *p = rev->p;
    if (p->table.n_used >= PLANE_SANDBOXES_MAX)
        return TABLE_NONE;
    uint32_t slot = table_add(&p->table, id);
    struct plane_sandbox *s = &p->table.at[slot];
    struct scale_decision d = { 0 };
    sandbox_move(rev, s, is_ready ? SANDBOX_READY : SANDBOX_CREATING);
    s->flags = SANDBOX_RECOVERED;
    s->at = is_ready ? (uint32_t)now_ms(p) : (uint32_t)(clock_mono_ns() / 1000);
    place_reserve(p->books, w->node, &rev->config->need);
    charge(rev, w, s);
    link_slot(rev, slot);
    rev->is_proven |= is_ready;
    if (!rev->is_permanent) /* "there is no node" held until this worker connected */
        clear_trouble(rev);
    if (is_ready) {
        stop_assuming(rev);
        plane_revision_held_by(rev, w->node);
    }
    scale_recover(&rev->scale, &rev->config->scale, now_ms(p), rev->ready + rev->creating, &d);
    arm_tick(rev, d.next_ms);
    return slot;
}
