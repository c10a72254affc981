/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the operator that starts the next activation; see dispatch_impl.h.
 *
 * Every change that can make an operator startable calls dispatch_update(): an operator is in the
 * heap exactly while it could begin an activation. The pump, a deferred call, takes the first
 * operator of the heap, begins one activation, and puts the operator back. So activations never
 * begin inside a caller's call.
 *
 * Virtual time is CPU time times DISPATCH_WEIGHT_DEFAULT by weight. An activation is charged what
 * its operator's activations cost lately when it begins, and the difference when it ends, since
 * several of one operator may be under way before the first has ended.
 */
#include "base/heap.h"
#include "base/log.h"
#include "operator/v1/dispatch_impl.h"

enum {
    STARTS_PER_TURN = 64,
    SCALE_DEPTH = 4,           /* ready keys per instance above which another one is started */
    SCALE_RETRY_US = 10000000, /* after an instance could not be started */
    IDLE_SLACK_US = 10000000,  /* slack, so that ending an instance shares a wake-up */
    CREDIT_US = 10000          /* of virtual time, for an operator that was idle */
};

static void on_pump(struct defer *defer);

void dispatch_pump_later(struct dispatch *d)
{
    if (!d->in_pump)
        defer_start(d->loop, &d->pump, on_pump);
}

/* ---- the heap of operators that can start something ---- */

static bool operator_before(const void *a, const void *b, const void *arg)
{
    return (*(struct dispatch_operator *const *)a)->vtime <
           (*(struct dispatch_operator *const *)b)->vtime;
}

static void operator_placed(void *entry, size_t place)
{
    (*(struct dispatch_operator **)entry)->heap_at = place;
}

static const struct heap_kind by_vtime = { sizeof(struct dispatch_operator *), operator_before,
                                           operator_placed };

/* An operator that was idle, or waited for its instance, keeps a small credit of time, no more. */
static void startable_add(struct dispatch_operator *o)
{
    struct dispatch *d = o->d;
    assert(!o->heap_at && !o->holds && o->n_instances > 0);
    o->vtime = MAX(o->vtime, d->vtime > CREDIT_US ? d->vtime - CREDIT_US : 0);
    heap_push(&by_vtime, NULL, &d->startable, o);
}

void dispatch_startable_remove(struct dispatch_operator *o)
{
    struct dispatch *d = o->d;
    assert(o->heap_at && o->heap_at <= d->startable.n && d->startable.p[o->heap_at - 1] == o);
    heap_remove(&by_vtime, NULL, &d->startable, o->heap_at);
    if (d->startable.n == 0)
        vec_fini(&d->startable);
}

void dispatch_charge(struct dispatch_operator *o, int64_t us)
{
    int64_t by = us * DISPATCH_WEIGHT_DEFAULT / (int64_t)o->weight;
    o->vtime = by < 0 && o->vtime < (uint64_t)-by ? 0 : o->vtime + (uint64_t)by;
    if (o->heap_at)
        heap_fix(&by_vtime, NULL, &o->d->startable, o->heap_at);
}

/* ---- startable operators ---- */

bool dispatch_may_configure(const struct dispatch_instance *in, uint64_t now)
{
    return in->state == INSTANCE_IDLE && in->configs && in->config_after_us <= now;
}

struct dispatch_instance *dispatch_idle_instance(struct dispatch_operator *o)
{
    for (unsigned i = 0; i < o->n_instances; i++) {
        if (o->instances[i].state == INSTANCE_IDLE)
            return &o->instances[i];
    }
    return NULL;
}

int dispatch_next_controller(const struct dispatch_operator *o)
{
    int best = -1;
    enum work_priority best_priority = WORK_LOW;
    for (unsigned n = 0; n < o->n_controllers; n++) {
        unsigned i = (o->next_controller + n) % o->n_controllers;
        const struct dispatch_controller *c = &o->controllers[i];
        if (c->is_held || work_queue_depth(c->queue) == 0 ||
            work_queue_running(c->queue) >= c->concurrency)
            continue;
        enum work_priority priority = WORK_HIGH;
        while (priority > WORK_LOW && work_queue_depth_of(c->queue, priority) == 0)
            priority--;
        if (best >= 0 && priority <= best_priority)
            continue;
        best = (int)i;
        best_priority = priority;
    }
    return best;
}

static bool can_start(struct dispatch_operator *o, uint64_t now)
{
    if (o->holds)
        return false;
    for (unsigned i = 0; i < o->n_instances; i++) {
        if (dispatch_may_configure(&o->instances[i], now))
            return true;
    }
    return o->n_active < DISPATCH_ACTIVE_PER_OPERATOR && dispatch_idle_instance(o) &&
           dispatch_next_controller(o) >= 0;
}

/*
 * The instance to start when all instances are busy and slow (they wait for host calls, or many
 * keys wait for them); 0: none.
 */
static unsigned missing_instance(const struct dispatch_operator *o, uint64_t now)
{
    if (o->holds || o->n_instances < 2 || o->n_active >= DISPATCH_ACTIVE_PER_OPERATOR ||
        !o->ops->instance_start || o->start_after_us > now)
        return 0;
    unsigned n = 0, none = 0;
    for (unsigned i = 0; i < o->n_instances; i++) {
        switch ((enum instance_state)o->instances[i].state) {
        case INSTANCE_NONE:
            if (i > 0 && none == 0)
                none = i;
            break;
        case INSTANCE_COMING:
        case INSTANCE_IDLE:
            return 0;
        case INSTANCE_ACTIVE:
            n++;
            break;
        }
    }
    int c = none && n ? dispatch_next_controller(o) : -1;
    if (c < 0)
        return 0;
    bool is_slow =
        o->n_parked > 0 || work_queue_depth(o->controllers[c].queue) > (size_t)n * SCALE_DEPTH;
    return is_slow ? none : 0;
}

static void scale_up(struct dispatch_operator *o, uint64_t now)
{
    unsigned number = missing_instance(o, now);
    if (number == 0)
        return;
    struct err err = { 0 };
    struct dispatch_instance *in = &o->instances[number];
    assert(in->state == INSTANCE_NONE && !in->item);
    *in = (struct dispatch_instance){ .state = INSTANCE_COMING, .since_us = now };
    if (o->ops->instance_start(o->arg, number, &err) >= 0)
        return;
    log_warn("cannot start another instance", "operator=%s instance=%u error=%s", o->name, number,
             err_text(&err));
    in->state = INSTANCE_NONE;
    o->start_after_us = now + SCALE_RETRY_US;
}

static size_t low_depth(const struct dispatch_controller *c)
{
    return work_queue_depth_of(c->queue, WORK_LOW) - work_queue_depth_of(c->queue, WORK_NORMAL);
}

static bool wants_list(const struct dispatch_controller *c)
{
    return c->has_list && !c->is_held && low_depth(c) < DISPATCH_REFILL / 2;
}

static bool wants_growth(const struct dispatch_operator *o, uint64_t now)
{
    if (missing_instance(o, now))
        return true;
    for (unsigned i = 0; !o->holds && o->ops->refill && i < o->n_controllers; i++) {
        if (wants_list(&o->controllers[i]))
            return true;
    }
    return false;
}

void dispatch_update(struct dispatch_operator *o)
{
    struct dispatch *d = o->d;
    uint64_t now = d->now_us();
    bool can = can_start(o, now);
    if (can && !o->heap_at)
        startable_add(o);
    else if (!can && o->heap_at)
        dispatch_startable_remove(o);
    assert((o->heap_at != 0) == can);
    assert(o->n_parked <= o->n_active && o->n_active <= o->n_instances);
    if (!list_is_linked(&o->growth_node) && wants_growth(o, now))
        list_push_back(&d->growths, &o->growth_node);
    if (o->n_active == 0 && o->drained && !list_is_linked(&o->drain_node))
        list_push_back(&d->drained, &o->drain_node);
    dispatch_pump_later(d);
}

void dispatch_on_ready(struct work_queue *q, void *arg)
{
    struct dispatch_operator *o = arg;
    /* An operator that is already startable stays so, and the pump will run. */
    if (!o->heap_at)
        dispatch_update(o);
}

/* ---- timers ---- */

static void on_loop_timer(struct timer *t)
{
    struct dispatch *d = container_of(t, struct dispatch, timer);
    d->armed_us = WORK_NEVER;
    dispatch_pump_later(d);
}

/* Only the pump arms the loop's timer: every change of a wait runs the pump. */
static void arm(struct dispatch *d, uint64_t now)
{
    uint64_t due_us = work_timers_due_us(work_queues_timers(d->queues));
    if (due_us == d->armed_us)
        return;
    d->armed_us = due_us;
    if (due_us == WORK_NEVER)
        timer_stop(d->loop, &d->timer);
    else
        timer_start(d->loop, &d->timer, due_us > now ? (due_us - now + 999) / 1000 : 0,
                    on_loop_timer);
}

void dispatch_arm_operator(struct dispatch_operator *o)
{
    uint64_t due_us = WORK_NEVER, slack_us = 0;
    for (unsigned i = 0; i < o->n_instances; i++) {
        const struct dispatch_instance *in = &o->instances[i];
        if (in->state == INSTANCE_IDLE && in->configs && in->config_after_us < due_us) {
            due_us = in->config_after_us;
            slack_us = 0;
        }
        if (in->state == INSTANCE_COMING && in->retry_us && in->retry_us < due_us) {
            due_us = in->retry_us;
            slack_us = 0;
        }
        uint64_t end_us = in->since_us + (uint64_t)DISPATCH_INSTANCE_IDLE_MS * 1000;
        bool may_end = i > 0 && (in->state == INSTANCE_IDLE || in->state == INSTANCE_COMING);
        if (may_end && end_us < due_us) {
            due_us = end_us;
            slack_us = IDLE_SLACK_US;
        }
    }
    struct work_timers *ts = work_queues_timers(o->d->queues);
    if (due_us == WORK_NEVER)
        work_timers_clear(ts, &o->timer);
    else
        work_timers_set(ts, &o->timer, due_us, due_us + slack_us);
}

void dispatch_on_operator_timer(struct work_timer *t, uint64_t now)
{
    struct dispatch_operator *o = container_of(t, struct dispatch_operator, timer);
    for (unsigned i = 0; i < o->n_instances; i++) {
        struct dispatch_instance *in = &o->instances[i];
        if (in->state == INSTANCE_COMING && in->retry_us && in->retry_us <= now) {
            in->state = INSTANCE_IDLE;
            in->retry_us = 0;
            in->since_us = now;
        }
        if (i == 0)
            continue;
        if (in->state != INSTANCE_IDLE && in->state != INSTANCE_COMING)
            continue;
        if (in->since_us + (uint64_t)DISPATCH_INSTANCE_IDLE_MS * 1000 > now)
            continue;
        assert(!in->item && !in->is_parked);
        *in = (struct dispatch_instance){ .state = INSTANCE_NONE };
        o->ops->instance_end(o->arg, i);
    }
    dispatch_arm_operator(o);
    dispatch_update(o);
}

/* ---- the pump ---- */

static void run_drained(struct dispatch *d)
{
    struct list due;
    list_move_all(&d->drained, &due);
    struct list *node;
    while ((node = list_pop_front(&due))) {
        struct dispatch_operator *o = list_entry(node, struct dispatch_operator, drain_node);
        void (*drained)(void *arg) = o->drained;
        if (o->n_active > 0 || !drained)
            continue;
        o->drained = NULL;
        drained(o->drained_arg); /* may free o */
    }
}

static void refill(struct dispatch_operator *o)
{
    for (unsigned i = 0; !o->holds && o->ops->refill && i < o->n_controllers; i++) {
        struct dispatch_controller *c = &o->controllers[i];
        if (!wants_list(c))
            continue;
        bool is_new = c->is_list_new;
        c->is_list_new = false;
        bool has_more = o->ops->refill(o->arg, i, is_new, DISPATCH_REFILL - low_depth(c));
        /* The callback may have requested a new list meanwhile. */
        c->has_list = has_more || c->is_list_new;
    }
}

static void run_growths(struct dispatch *d, uint64_t now)
{
    struct list due;
    list_move_all(&d->growths, &due);
    struct list *node;
    while ((node = list_pop_front(&due))) {
        struct dispatch_operator *o = list_entry(node, struct dispatch_operator, growth_node);
        scale_up(o, now);
        refill(o);
        dispatch_update(o);
    }
}

static void run_starts(struct dispatch *d, uint64_t now)
{
    unsigned n = 0;
    while (d->startable.n > 0 && d->n_busy < d->max_busy && d->n_active < DISPATCH_ACTIVE_MAX &&
           n++ < STARTS_PER_TURN) {
        struct dispatch_operator *o = d->startable.p[0];
        if (can_start(o, now)) {
            d->vtime = MAX(d->vtime, o->vtime);
            dispatch_start_one(o, now);
        }
        dispatch_update(o);
    }
}

static void on_pump(struct defer *defer)
{
    struct dispatch *d = container_of(defer, struct dispatch, pump);
    uint64_t now = d->now_us();
    assert(!d->in_pump);
    d->in_pump = true;
    /* Run all timers that may run by now, since we are awake. */
    (void)work_timers_run(work_queues_timers(d->queues), now);
    run_drained(d);
    run_growths(d, now);
    run_starts(d, now);
    d->in_pump = false;
    assert(d->n_busy <= d->n_active);
    bool has_room = d->n_busy < d->max_busy && d->n_active < DISPATCH_ACTIVE_MAX;
    if ((d->startable.n > 0 && has_room) || !list_is_empty(&d->growths) ||
        !list_is_empty(&d->drained))
        dispatch_pump_later(d);
    arm(d, d->now_us());
}
