/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators and their controllers: declaration, adds, holds, views; see dispatch.h. Scheduling and
 * activations are in dispatch_turn.c and dispatch_activation.c.
 */
#include "operator/v1/dispatch.h"

#include "base/clock.h"
#include "base/slab.h"
#include "operator/v1/dispatch_impl.h"

#include <assert.h>

enum { COST_FIRST_US = 100 };

static uint64_t mono_us(void)
{
    return clock_mono_ns() / 1000;
}

/* ---- all, and one ---- */

struct dispatch *dispatch_new(struct loop *loop, const struct dispatch_opts *opts)
{
    struct dispatch *d = xnew(struct dispatch);
    unsigned runners = opts->runners ? opts->runners : uv_available_parallelism();
    d->loop = loop;
    d->now_us = opts->now_us ? opts->now_us : mono_us;
    d->queues = work_queues_new();
    d->max_busy = runners * DISPATCH_BUSY_PER_RUNNER;
    d->armed_us = WORK_NEVER;
    list_init(&d->operators);
    list_init(&d->growths);
    list_init(&d->drained);
    buf_init(&d->payload, DISPATCH_PAYLOAD_MAX_BYTES);
    return d;
}

void dispatch_free(struct dispatch *d)
{
    if (!d)
        return;
    assert(list_is_empty(&d->operators) && d->n_active == 0);
    defer_cancel(&d->pump);
    timer_stop(d->loop, &d->timer);
    work_queues_free(d->queues);
    buf_fini(&d->payload);
    vec_fini(&d->startable);
    free(d);
}

struct dispatch_operator *dispatch_operator_new(struct dispatch *d, const char *name,
                                                const struct dispatch_ops *ops, void *arg)
{
    struct dispatch_operator *o = slab_new(struct dispatch_operator);
    o->d = d;
    o->name = name;
    o->ops = ops;
    o->arg = arg;
    o->weight = DISPATCH_WEIGHT_DEFAULT;
    o->cost_us = COST_FIRST_US;
    o->holds = 1u << DISPATCH_HOLD_START;
    o->timer.run = dispatch_on_operator_timer;
    list_push_back(&d->operators, &o->node);
    return o;
}

static void controller_fini(struct dispatch_controller *c)
{
    work_queue_free(c->queue);
    free(c->counts);
}

void dispatch_operator_free(struct dispatch_operator *o)
{
    if (!o)
        return;
    struct dispatch *d = o->d;
    for (unsigned i = 0; i < o->n_instances; i++) {
        if (o->instances[i].state == INSTANCE_ACTIVE)
            dispatch_set_inactive(o, &o->instances[i], INSTANCE_NONE, 0);
    }
    assert(o->n_active == 0 && o->n_parked == 0);
    if (o->heap_at)
        dispatch_startable_remove(o);
    for (unsigned i = 0; i < o->n_controllers; i++)
        controller_fini(&o->controllers[i]);
    work_timers_clear(work_queues_timers(d->queues), &o->timer);
    list_remove(&o->growth_node);
    list_remove(&o->drain_node);
    list_remove(&o->node);
    for (size_t i = 0; o->config_names && i < DISPATCH_CONFIGS_MAX; i++)
        free(o->config_names[i]);
    free(o->config_names);
    free(o->last);
    slab_free(o->controllers);
    slab_free(o->instances);
    slab_free(o);
    dispatch_pump_later(d); /* others may have room now, or the timer may be unnecessary */
}

void dispatch_set_weight(struct dispatch_operator *o, unsigned weight)
{
    assert(weight >= 1 && weight <= 10000);
    o->weight = weight;
}

static struct dispatch_controller reuse_controller(struct dispatch_operator *o, const char *name)
{
    for (unsigned i = 0; i < o->n_controllers; i++) {
        struct dispatch_controller *c = &o->controllers[i];
        if (!c->name || strcmp(c->name, name) != 0)
            continue;
        struct dispatch_controller kept = *c;
        kept.name = name;
        *c = (struct dispatch_controller){ 0 };
        return kept;
    }
    return (struct dispatch_controller){ .name = name };
}

int dispatch_declare(struct dispatch_operator *o,
                     const struct dispatch_controller_opts *controllers, size_t n,
                     unsigned instances, struct err *err)
{
    assert(o->n_active == 0);
    if (n > DISPATCH_CONTROLLERS_MAX || instances == 0 || instances > DISPATCH_INSTANCES_MAX)
        return err_set(err, E_LIMIT, "%zu controllers and %u instances", n, instances);
    struct dispatch_controller *now = slab_alloc(n * sizeof *now);
    for (size_t i = 0; i < n; i++) {
        const struct dispatch_controller_opts *opts = &controllers[i];
        now[i] = reuse_controller(o, opts->name);
        now[i].concurrency = MAX(MIN(opts->concurrency, instances), 1);
        const struct work_queue_opts q = {
            .name = now[i].name,
            .backoff_base_us = opts->backoff_base_ms * UINT64_C(1000),
            .backoff_max_us = opts->backoff_max_ms * UINT64_C(1000),
            .rate_per_second = opts->rate_per_second,
            .rate_burst = opts->rate_burst,
            .slack_percent = opts->slack_percent,
            .debounce_us = opts->debounce_ms * UINT64_C(1000),
            .on_ready = dispatch_on_ready,
            .arg = o,
        };
        if (now[i].queue)
            work_queue_set(now[i].queue, &q);
        else
            now[i].queue = work_queue_new(o->d->queues, &q);
    }
    for (unsigned i = 0; i < o->n_controllers; i++)
        controller_fini(&o->controllers[i]);
    slab_free(o->controllers);
    o->controllers = now;
    o->n_controllers = (unsigned)n;
    o->next_controller = 0;
    for (unsigned i = instances; i < o->n_instances; i++)
        assert(o->instances[i].state == INSTANCE_NONE);
    struct dispatch_instance *kept = o->instances;
    o->instances = slab_alloc(instances * sizeof *o->instances);
    if (kept)
        memcpy(o->instances, kept, MIN(o->n_instances, instances) * sizeof *kept);
    slab_free(kept);
    for (unsigned i = o->n_instances; i < instances; i++)
        o->instances[i] = (struct dispatch_instance){ .state = INSTANCE_NONE };
    o->n_instances = instances;
    dispatch_update(o);
    return 0;
}

/* ---- work ---- */

static int added(struct dispatch_operator *o, unsigned controller, int r)
{
    if (r == E_LIMIT)
        o->controllers[controller].is_overflowed = true;
    dispatch_pump_later(o->d); /* to arm the timer for a wait that began */
    return r;
}

int dispatch_add(struct dispatch_operator *o, unsigned controller, struct work_key key,
                 enum work_reason reason, enum work_priority priority, struct err *err)
{
    assert(controller < o->n_controllers);
    return added(o, controller,
                 work_queue_add(o->controllers[controller].queue, key, reason, priority,
                                o->d->now_us(), err));
}

int dispatch_add_after(struct dispatch_operator *o, unsigned controller, struct work_key key,
                       enum work_reason reason, enum work_priority priority, uint64_t delay_ms,
                       struct err *err)
{
    assert(controller < o->n_controllers);
    uint64_t delay_us = MIN(delay_ms, UINT64_C(1) << WORK_DELAY_MAX_MS_LOG2) * 1000;
    return added(o, controller,
                 work_queue_add_after(o->controllers[controller].queue, key, reason, priority,
                                      delay_us, o->d->now_us(), err));
}

void dispatch_refill(struct dispatch_operator *o, unsigned controller)
{
    assert(controller < o->n_controllers);
    o->controllers[controller].has_list = true;
    o->controllers[controller].is_list_new = true;
    dispatch_update(o);
}

void dispatch_config(struct dispatch_operator *o, unsigned index, const char *name)
{
    assert(index < DISPATCH_CONFIGS_MAX);
    if (!o->config_names)
        o->config_names = xnew_n(char *, DISPATCH_CONFIGS_MAX);
    free(o->config_names[index]);
    o->config_names[index] = xstrdup(name);
    for (unsigned i = 0; i < o->n_instances; i++) {
        struct dispatch_instance *in = &o->instances[i];
        if (in->state != INSTANCE_IDLE && in->state != INSTANCE_ACTIVE)
            continue; /* it reads them when it starts */
        in->configs |= (uint16_t)(1u << index);
        in->config_after_us = 0;
    }
    dispatch_update(o);
}

/* ---- holds ---- */

void dispatch_hold(struct dispatch_operator *o, enum dispatch_hold why)
{
    o->holds |= 1u << why;
    dispatch_update(o);
}

void dispatch_release(struct dispatch_operator *o, enum dispatch_hold why)
{
    o->holds &= ~(1u << why);
    dispatch_update(o);
}

void dispatch_hold_controller(struct dispatch_operator *o, unsigned controller, bool held)
{
    assert(controller < o->n_controllers);
    o->controllers[controller].is_held = held;
    dispatch_update(o);
}

void dispatch_on_drained(struct dispatch_operator *o, void (*done)(void *arg), void *arg)
{
    o->drained = done;
    o->drained_arg = arg;
    dispatch_update(o);
}

/* ---- views ---- */

uint64_t dispatch_next_due_ms(const struct dispatch_operator *o)
{
    uint64_t due_us = WORK_NEVER;
    for (unsigned i = 0; i < o->n_controllers; i++) {
        const struct work_queue *q = o->controllers[i].queue;
        if (work_queue_depth(q) > 0)
            return loop_now_ms(o->d->loop);
        due_us = MIN(due_us, work_queue_next_due_us(q));
    }
    return due_us == WORK_NEVER ? WORK_NEVER : due_us / 1000;
}

void dispatch_get_view(const struct dispatch_operator *o, struct dispatch_view *ret)
{
    *ret = (struct dispatch_view){
        .holds = o->holds,
        .n_controllers = o->n_controllers,
        .instances_max = o->n_instances,
        .active = o->n_active,
        .parked = o->n_parked,
        .activations = o->n_activations,
        .failures = o->n_failures,
        .last = o->last,
    };
    for (unsigned i = 0; i < o->n_instances; i++)
        ret->instances += o->instances[i].state != INSTANCE_NONE;
    for (unsigned i = 0; i < o->n_controllers; i++) {
        ret->ready += work_queue_depth(o->controllers[i].queue);
        ret->waiting += work_queue_waiting(o->controllers[i].queue);
    }
}

const struct work_queue *dispatch_queue(const struct dispatch_operator *o, unsigned controller)
{
    assert(controller < o->n_controllers);
    return o->controllers[controller].queue;
}
