/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dispatcher; see dispatch.h.
 *
 * Everything that can make an operator startable ends in update(): it stands in the heap exactly
 * while it could begin an activation. The pump, a deferred call, takes the first one of the heap,
 * begins one activation of it, and puts it back behind; so begins and bookkeeping never happen
 * inside a caller's call.
 *
 *     NONE --instance_start--> COMING --ready--> IDLE --activate--> ACTIVE --activated--> IDLE
 *      ^                         ^                 |                   |
 *      `---- instance_end, gone without reason ----+-------------------+-- gone with one --> COMING
 *
 * Virtual time is CPU time times DISPATCH_WEIGHT_DEFAULT by weight. An activation is charged what
 * its operator's activations cost lately when it begins, and the difference when it ends, since
 * several of one operator may be under way before the first has ended.
 */
#include "operator/v1/dispatch.h"

#include "base/clock.h"
#include "base/log.h"
#include "codec/json.h"
#include "operator/v1/dispatch_impl.h"

#include <assert.h>
#include <errno.h>

enum {
    STARTS_PER_TURN = 64,
    SCALE_DEPTH = 4,            /* ready keys per instance that call for another one */
    SCALE_RETRY_US = 10000000,  /* after an instance could not be started */
    IDLE_SLACK_US = 10000000,   /* ending an instance can share a wake-up */
    CONFIG_BACKOFF_US = 100000, /* doubles, 2^10 times at most */
    CONFIG_BACKOFF_MAX = 10,
    COST_FIRST_US = 100,
    CREDIT_US = 10000, /* of virtual time */
    PAYLOAD_MAX_BYTES = DISPATCH_OBJECT_MAX_BYTES + (16 << 10),
    PAYLOAD_KEEP_BYTES = 16 << 10 /* a larger buffer is given back after use */
};

static uint64_t mono_us(void)
{
    return clock_mono_ns() / 1000;
}

static void on_pump(struct defer *defer);

static void pump_later(struct dispatch *d)
{
    if (!d->in_pump)
        defer_start(d->loop, &d->pump, on_pump);
}

/* ---- the heap of operators that can start something ---- */

static void heap_put(struct dispatch *d, size_t at, struct dispatch_operator *o)
{
    d->heap[at] = o;
    o->heap_at = at;
}

static void heap_sift(struct dispatch *d, size_t at, struct dispatch_operator *o)
{
    while (at > 1 && d->heap[at / 2]->vtime > o->vtime) {
        heap_put(d, at, d->heap[at / 2]);
        at /= 2;
    }
    while (at * 2 <= d->n_heap) {
        size_t child = at * 2;
        if (child < d->n_heap && d->heap[child + 1]->vtime < d->heap[child]->vtime)
            child++;
        if (d->heap[child]->vtime >= o->vtime)
            break;
        heap_put(d, at, d->heap[child]);
        at = child;
    }
    heap_put(d, at, o);
}

/* Whoever had nothing to do, or waited for its instance, has saved up a little time, no more. */
static void heap_add(struct dispatch_operator *o)
{
    struct dispatch *d = o->d;
    if (d->n_heap + 1 >= d->heap_cap) {
        d->heap_cap = d->heap_cap ? d->heap_cap * 2 : 16;
        d->heap = xrealloc(d->heap, d->heap_cap * sizeof(struct dispatch_operator *));
    }
    o->vtime = MAX(o->vtime, d->vtime > CREDIT_US ? d->vtime - CREDIT_US : 0);
    heap_sift(d, ++d->n_heap, o);
}

static void heap_remove(struct dispatch_operator *o)
{
    struct dispatch *d = o->d;
    size_t at = o->heap_at;
    o->heap_at = 0;
    struct dispatch_operator *last = d->heap[d->n_heap--];
    if (last != o)
        heap_sift(d, at, last);
    if (d->n_heap == 0) {
        free(d->heap);
        d->heap = NULL;
        d->heap_cap = 0;
    }
}

static void charge(struct dispatch_operator *o, int64_t us)
{
    int64_t by = us * DISPATCH_WEIGHT_DEFAULT / (int64_t)o->weight;
    o->vtime = by < 0 && o->vtime < (uint64_t)-by ? 0 : o->vtime + (uint64_t)by;
    if (o->heap_at)
        heap_sift(o->d, o->heap_at, o);
}

/* ---- what could be started ---- */

static bool may_tell_config(const struct dispatch_instance *in, uint64_t now)
{
    return in->state == INSTANCE_IDLE && in->configs && in->config_after_us <= now;
}

static struct dispatch_instance *idle_instance(struct dispatch_operator *o)
{
    for (unsigned i = 0; i < o->n_instances; i++) {
        if (o->instances[i].state == INSTANCE_IDLE)
            return &o->instances[i];
    }
    return NULL;
}

/*
 * The controller whose next key comes before the others': higher priority first, in turn among
 * equals. -1: none.
 */
static int next_controller(const struct dispatch_operator *o)
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
        if (may_tell_config(&o->instances[i], now))
            return true;
    }
    return idle_instance(o) && next_controller(o) >= 0;
}

/*
 * The instance to start when all are busy and slow (they wait for host calls, or many keys wait for
 * them); 0: none.
 */
static unsigned missing_instance(const struct dispatch_operator *o, uint64_t now)
{
    if (o->holds || o->n_instances < 2 || !o->ops->instance_start || o->start_after_us > now)
        return 0;
    unsigned n = 0, none = 0;
    for (unsigned i = 0; i < o->n_instances; i++) {
        switch (o->instances[i].state) {
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
    int c = none && n ? next_controller(o) : -1;
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

/* Bring what stands in the dispatcher in line with what has changed in the operator. */
static void update(struct dispatch_operator *o)
{
    struct dispatch *d = o->d;
    uint64_t now = d->now_us();
    bool can = can_start(o, now);
    if (can && !o->heap_at)
        heap_add(o);
    else if (!can && o->heap_at)
        heap_remove(o);
    if (!list_is_linked(&o->growth_node) && wants_growth(o, now))
        list_push_back(&d->growths, &o->growth_node);
    if (o->n_active == 0 && o->drained && !list_is_linked(&o->drain_node))
        list_push_back(&d->drained, &o->drain_node);
    pump_later(d);
}

static void on_ready(struct work_queue *q, void *arg)
{
    struct dispatch_operator *o = arg;
    /* While it can start something already, nothing changes; the pump is on its way. */
    if (!o->heap_at)
        update(o);
}

/* ---- timers ---- */

static void on_loop_timer(struct timer *t)
{
    struct dispatch *d = container_of(t, struct dispatch, timer);
    d->armed_us = WORK_NEVER;
    pump_later(d);
}

/* Only the pump arms the loop's timer: whatever changes a wait leads there. */
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

static void arm_operator(struct dispatch_operator *o)
{
    uint64_t due_us = WORK_NEVER, slack_us = 0;
    for (unsigned i = 0; i < o->n_instances; i++) {
        const struct dispatch_instance *in = &o->instances[i];
        if (in->state == INSTANCE_IDLE && in->configs && in->config_after_us < due_us) {
            due_us = in->config_after_us;
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

static void on_operator_timer(struct work_timer *t, uint64_t now)
{
    struct dispatch_operator *o = container_of(t, struct dispatch_operator, timer);
    for (unsigned i = 1; i < o->n_instances; i++) {
        struct dispatch_instance *in = &o->instances[i];
        if (in->state != INSTANCE_IDLE && in->state != INSTANCE_COMING)
            continue;
        if (in->since_us + (uint64_t)DISPATCH_INSTANCE_IDLE_MS * 1000 > now)
            continue;
        *in = (struct dispatch_instance){ .state = INSTANCE_NONE };
        o->ops->instance_end(o->arg, i);
    }
    arm_operator(o);
    update(o);
}

/* ---- an activation ---- */

static unsigned instance_number(const struct dispatch_operator *o,
                                const struct dispatch_instance *in)
{
    return (unsigned)(in - o->instances);
}

static void add_object(struct dispatch_operator *o, unsigned controller, struct work_key key,
                       struct buf *to)
{
    size_t before = to->n;
    (void)buf_add_str(to, STR(",\"object\":"));
    int r = o->ops->object(o->arg, controller, key, to);
    if (r == -ENOENT) {
        to->n = before;
        (void)buf_add_str(to, STR(",\"object\":null"));
    } else if (r < 0) {
        to->n = before;
        to->failed = 0;
    }
}

static void build_reconcile(struct dispatch_operator *o, unsigned controller,
                            const struct work_task *task, struct buf *to)
{
    (void)buf_add_str(to, STR("{\"type\":\"reconcile\",\"controller\":"));
    (void)json_write_str(to, str_of(o->controllers[controller].name));
    (void)buf_add_str(to, STR(",\"namespace\":"));
    (void)json_write_str(to, task->key.namespace);
    (void)buf_add_str(to, STR(",\"name\":"));
    (void)json_write_str(to, task->key.name);
    (void)buf_add_str(to, STR(",\"reasons\":["));
    const char *comma = "";
    for (unsigned i = 0; i < WORK_REASON_COUNT; i++) {
        if (!(task->reasons & 1u << i))
            continue;
        (void)buf_printf(to, "%s\"%s\"", comma, work_reason_name((enum work_reason)i));
        comma = ",";
    }
    (void)buf_printf(to, "],\"attempt\":%u", task->attempt);
    add_object(o, controller, task->key, to);
    (void)buf_add_char(to, '}');
}

static void build_config(const struct dispatch_operator *o, unsigned config, struct buf *to)
{
    (void)buf_add_str(to, STR("{\"type\":\"config\",\"name\":"));
    (void)json_write_str(to, str_of(o->config_names[config]));
    (void)buf_add_char(to, '}');
}

static uint64_t cpu_us_of(const struct dispatch_operator *o, const struct dispatch_instance *in)
{
    return o->ops->cpu_us ? o->ops->cpu_us(o->arg, instance_number(o, in)) : 0;
}

static void set_active(struct dispatch_operator *o, struct dispatch_instance *in, uint64_t now)
{
    in->state = INSTANCE_ACTIVE;
    in->is_parked = false;
    in->parked_us = 0;
    in->began_us = now;
    in->token = ++o->d->last_token;
    in->charged_us = o->cost_us;
    in->cpu_us = cpu_us_of(o, in);
    o->n_active++;
    o->d->n_active++;
    o->d->n_busy++;
}

static void set_inactive(struct dispatch_operator *o, struct dispatch_instance *in,
                         enum instance_state state, uint64_t now)
{
    if (in->is_parked)
        o->n_parked--;
    else
        o->d->n_busy--;
    o->d->n_active--;
    o->n_active--;
    in->is_parked = false;
    in->state = state;
    in->since_us = now;
    in->item = NULL;
}

/* It could not be given to the guest: as if it had never been taken. */
static void give_back(struct dispatch_operator *o, struct dispatch_instance *in, uint64_t now)
{
    if (in->item)
        (void)work_queue_finish(o->controllers[in->controller].queue, in->item, WORK_BACK, 0, now);
    else
        in->configs |= (uint16_t)(1u << in->config);
    charge(o, -(int64_t)in->charged_us);
}

static void begin(struct dispatch_operator *o, struct dispatch_instance *in, uint64_t now)
{
    struct dispatch *d = o->d;
    set_active(o, in, now);
    charge(o, (int64_t)in->charged_us);
    buf_reset(&d->payload);
    if (in->item) {
        struct work_task task;
        work_item_get(in->item, &task);
        build_reconcile(o, in->controller, &task, &d->payload);
    } else {
        build_config(o, in->config, &d->payload);
    }
    struct err err = { 0 };
    int r = d->payload.failed;
    if (r == 0)
        r = o->ops->activate(o->arg, instance_number(o, in), in->token, buf_str(&d->payload), &err);
    if (d->payload.cap > PAYLOAD_KEEP_BYTES) {
        buf_fini(&d->payload);
        buf_init(&d->payload, PAYLOAD_MAX_BYTES);
    }
    if (r >= 0)
        return;
    log_warn("cannot activate a guest", "operator=%s error=%s", o->name,
             err.code ? err_text(&err) : err_strerror(r));
    give_back(o, in, now);
    set_inactive(o, in, INSTANCE_COMING, now);
}

/* One activation, what changed in a configuration first. */
static void start_one(struct dispatch_operator *o, uint64_t now)
{
    for (unsigned i = 0; i < o->n_instances; i++) {
        struct dispatch_instance *in = &o->instances[i];
        if (!may_tell_config(in, now))
            continue;
        in->config = (uint8_t)__builtin_ctz(in->configs);
        in->configs &= (uint16_t)(in->configs - 1);
        in->item = NULL;
        begin(o, in, now);
        return;
    }
    struct dispatch_instance *in = idle_instance(o);
    int at = next_controller(o);
    assert(in && at >= 0);
    struct dispatch_controller *c = &o->controllers[at];
    uint64_t waited_us = 0;
    o->next_controller = ((unsigned)at + 1) % o->n_controllers;
    in->controller = (uint8_t)at;
    in->item = work_queue_take(c->queue, now, &waited_us);
    if (!c->counts)
        c->counts = xnew(struct dispatch_counts);
    dispatch_times_add(&c->counts->queued, waited_us);
    begin(o, in, now);
}

static void remember(struct dispatch_operator *o, const struct dispatch_result *result,
                     const struct dispatch_instance *in)
{
    struct str space = result->task.key.namespace, name = result->task.key.name;
    size_t size = offsetof(struct dispatch_last, key) + space.n + name.n + 2;
    struct dispatch_last *last = xrealloc(o->last, MAX(size, sizeof *last));
    *last = (struct dispatch_last){
        .controller = in->controller,
        .reasons = result->task.reasons,
        .began_ms = in->began_us / 1000,
        .work_us = result->work_us,
        .end = result->end,
    };
    (void)snprintf(last->key, space.n + name.n + 2, STR_FMT "%s" STR_FMT, STR_ARG(space),
                   space.n ? "/" : "", STR_ARG(name));
    o->last = last;
}

static void count(struct dispatch_operator *o, const struct dispatch_result *result,
                  struct dispatch_counts *c)
{
    o->n_activations++;
    dispatch_times_add(&c->worked, result->work_us);
    c->trapped += result->trapped;
    switch (result->end) {
    case WORK_DONE:
        c->success++;
        break;
    case WORK_AGAIN:
        c->again++;
        break;
    case WORK_FAILED:
        c->failed++;
        o->n_failures++;
        break;
    case WORK_REFUSED:
        c->refused++;
        o->n_failures++;
        break;
    case WORK_BACK:
        assert(false);
    }
}

/* A configuration is told again later if that failed, unless the guest starts anew and reads it. */
static void end_config(struct dispatch_operator *o, struct dispatch_instance *in,
                       struct dispatch_result *result, uint64_t now)
{
    result->task = (struct work_task){
        .key.name = str_of(o->config_names[in->config]),
        .reasons = 1u << WORK_CONFIG,
        .attempt = in->config_failures,
    };
    if (result->end != WORK_FAILED || result->trapped) {
        in->config_failures = 0;
        return;
    }
    uint64_t delay_us = (uint64_t)CONFIG_BACKOFF_US << in->config_failures;
    if (in->config_failures < CONFIG_BACKOFF_MAX)
        in->config_failures++;
    in->configs |= (uint16_t)(1u << in->config);
    in->config_after_us = now + delay_us;
    result->delay_ms = delay_us / 1000;
}

/* The activation of an instance has ended. */
static void end(struct dispatch_operator *o, struct dispatch_instance *in,
                struct dispatch_result *result, uint64_t delay_us, enum instance_state next)
{
    uint64_t now = o->d->now_us();
    struct work_item *item = in->item;
    struct dispatch_controller *c = item ? &o->controllers[in->controller] : NULL;
    uint64_t parked_us = in->parked_us + (in->is_parked ? now - in->since_us : 0);
    result->instance = instance_number(o, in);
    result->work_us = now - in->began_us;
    result->busy_us = result->work_us - MIN(parked_us, result->work_us);
    if (o->ops->cpu_us) {
        uint64_t cpu_us = cpu_us_of(o, in);
        result->busy_us = cpu_us > in->cpu_us ? cpu_us - in->cpu_us : 0;
    }
    charge(o, (int64_t)result->busy_us - (int64_t)in->charged_us);
    o->cost_us = (uint32_t)((o->cost_us * UINT64_C(7) + MIN(result->busy_us, UINT32_MAX)) / 8);
    if (item) {
        result->controller = c->name;
        work_item_get(item, &result->task);
        if (result->end != WORK_BACK) {
            remember(o, result, in);
            count(o, result, c->counts);
        }
    } else {
        end_config(o, in, result, now);
    }
    set_inactive(o, in, next, now);
    /* A key that failed waits, and its name stays; another's may go when it is finished. */
    if (item && result->end == WORK_FAILED)
        result->delay_ms = work_queue_finish(c->queue, item, WORK_FAILED, 0, now) / 1000;
    if (o->ops->on_result && result->end != WORK_BACK)
        o->ops->on_result(o->arg, result);
    if (item && result->end != WORK_FAILED)
        (void)work_queue_finish(c->queue, item, result->end, delay_us, now);
    if (c && c->is_overflowed && work_queue_depth(c->queue) < DISPATCH_REFILL / 2) {
        c->is_overflowed = false;
        c->has_list = c->is_list_new = true;
    }
    arm_operator(o);
    update(o);
}

void dispatch_activated(struct dispatch_operator *o, unsigned instance, uint64_t token,
                        int64_t value, struct str message)
{
    if (instance >= o->n_instances)
        return;
    struct dispatch_instance *in = &o->instances[instance];
    if (in->state != INSTANCE_ACTIVE || in->token != token)
        return;
    struct dispatch_result result = { .message = message };
    uint64_t delay_ms = 0;
    if (value > 0) {
        result.end = WORK_AGAIN;
        delay_ms = MIN((uint64_t)value, UINT64_C(1) << WORK_DELAY_MAX_MS_LOG2);
        result.delay_ms = delay_ms;
    } else if (value == 0) {
        result.end = WORK_DONE;
    } else {
        result.end = value == -2 ? WORK_REFUSED : WORK_FAILED;
    }
    end(o, in, &result, delay_ms * 1000, INSTANCE_IDLE);
}

void dispatch_instance_ready(struct dispatch_operator *o, unsigned instance)
{
    assert(instance < o->n_instances);
    struct dispatch_instance *in = &o->instances[instance];
    if (in->state == INSTANCE_IDLE || in->state == INSTANCE_ACTIVE)
        return;
    in->state = INSTANCE_IDLE;
    in->since_us = o->d->now_us();
    arm_operator(o);
    update(o);
}

void dispatch_instance_gone(struct dispatch_operator *o, unsigned instance, const struct err *why)
{
    if (instance >= o->n_instances)
        return;
    struct dispatch_instance *in = &o->instances[instance];
    enum instance_state next = why ? INSTANCE_COMING : INSTANCE_NONE;
    in->configs = 0; /* it reads them anew */
    in->config_failures = 0;
    if (in->state == INSTANCE_ACTIVE) {
        struct dispatch_result result = {
            .end = why ? WORK_FAILED : WORK_BACK,
            .message = why ? str_of(err_text(why)) : STR(""),
            .trapped = why != NULL,
        };
        end(o, in, &result, 0, next);
        return;
    }
    in->state = next;
    in->since_us = o->d->now_us();
    arm_operator(o);
    update(o);
}

void dispatch_parked(struct dispatch_operator *o, unsigned instance, bool parked)
{
    if (instance >= o->n_instances)
        return;
    struct dispatch_instance *in = &o->instances[instance];
    if (in->state != INSTANCE_ACTIVE || in->is_parked == parked)
        return;
    uint64_t now = o->d->now_us();
    in->is_parked = parked;
    if (parked) {
        in->since_us = now;
        o->n_parked++;
        o->d->n_busy--;
    } else {
        in->parked_us += now - in->since_us;
        o->n_parked--;
        o->d->n_busy++;
    }
    if (parked)
        update(o);
}

bool dispatch_current(const struct dispatch_operator *o, unsigned instance,
                      unsigned *ret_controller, struct work_task *ret)
{
    if (instance >= o->n_instances || o->instances[instance].state != INSTANCE_ACTIVE ||
        !o->instances[instance].item)
        return false;
    *ret_controller = o->instances[instance].controller;
    work_item_get(o->instances[instance].item, ret);
    return true;
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
        bool anew = c->is_list_new;
        c->is_list_new = false;
        bool has_more = o->ops->refill(o->arg, i, anew, DISPATCH_REFILL - low_depth(c));
        /* It may have been asked to begin anew meanwhile. */
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
        update(o);
    }
}

static void run_starts(struct dispatch *d, uint64_t now)
{
    unsigned n = 0;
    while (d->n_heap > 0 && d->n_busy < d->max_busy && d->n_active < DISPATCH_ACTIVE_MAX &&
           n++ < STARTS_PER_TURN) {
        struct dispatch_operator *o = d->heap[1];
        if (can_start(o, now)) {
            d->vtime = MAX(d->vtime, o->vtime);
            start_one(o, now);
        }
        update(o);
    }
}

static void on_pump(struct defer *defer)
{
    struct dispatch *d = container_of(defer, struct dispatch, pump);
    uint64_t now = d->now_us();
    d->in_pump = true;
    /* What may run by now goes along with whatever woke us. */
    (void)work_timers_run(work_queues_timers(d->queues), now);
    run_drained(d);
    run_growths(d, now);
    run_starts(d, now);
    d->in_pump = false;
    bool has_room = d->n_busy < d->max_busy && d->n_active < DISPATCH_ACTIVE_MAX;
    if ((d->n_heap > 0 && has_room) || !list_is_empty(&d->growths) || !list_is_empty(&d->drained))
        pump_later(d);
    arm(d, d->now_us());
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
    buf_init(&d->payload, PAYLOAD_MAX_BYTES);
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
    free(d->heap);
    free(d);
}

struct dispatch_operator *dispatch_operator_new(struct dispatch *d, const char *name,
                                                const struct dispatch_ops *ops, void *arg)
{
    struct dispatch_operator *o = xnew(struct dispatch_operator);
    o->d = d;
    o->name = xstrdup(name);
    o->ops = ops;
    o->arg = arg;
    o->weight = DISPATCH_WEIGHT_DEFAULT;
    o->cost_us = COST_FIRST_US;
    o->holds = 1u << DISPATCH_HOLD_START;
    o->timer.run = on_operator_timer;
    list_push_back(&d->operators, &o->node);
    return o;
}

static void controller_fini(struct dispatch_controller *c)
{
    work_queue_free(c->queue);
    free(c->counts);
    free(c->name);
}

void dispatch_operator_free(struct dispatch_operator *o)
{
    if (!o)
        return;
    struct dispatch *d = o->d;
    for (unsigned i = 0; i < o->n_instances; i++) {
        if (o->instances[i].state == INSTANCE_ACTIVE)
            set_inactive(o, &o->instances[i], INSTANCE_NONE, 0);
    }
    if (o->heap_at)
        heap_remove(o);
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
    free(o->controllers);
    free(o->instances);
    free(o->name);
    free(o);
    pump_later(d); /* there may be room for others, or nothing to be armed for */
}

void dispatch_set_weight(struct dispatch_operator *o, unsigned weight)
{
    assert(weight >= 1 && weight <= 10000);
    o->weight = weight;
}

static struct dispatch_controller take_controller(struct dispatch_operator *o, const char *name)
{
    for (unsigned i = 0; i < o->n_controllers; i++) {
        struct dispatch_controller *c = &o->controllers[i];
        if (!c->name || strcmp(c->name, name) != 0)
            continue;
        struct dispatch_controller taken = *c;
        *c = (struct dispatch_controller){ 0 };
        return taken;
    }
    return (struct dispatch_controller){ .name = xstrdup(name) };
}

int dispatch_declare(struct dispatch_operator *o,
                     const struct dispatch_controller_opts *controllers, size_t n,
                     unsigned instances, struct err *err)
{
    assert(o->n_active == 0);
    if (n > DISPATCH_CONTROLLERS_MAX || instances == 0 || instances > DISPATCH_INSTANCES_MAX)
        return err_set(err, E_LIMIT, "%zu controllers and %u instances", n, instances);
    struct dispatch_controller *now = xnew_n(struct dispatch_controller, MAX(n, 1));
    for (size_t i = 0; i < n; i++) {
        const struct dispatch_controller_opts *opts = &controllers[i];
        now[i] = take_controller(o, opts->name);
        now[i].concurrency = MAX(MIN(opts->concurrency, instances), 1);
        const struct work_queue_opts q = {
            .name = now[i].name,
            .backoff_base_us = opts->backoff_base_ms * UINT64_C(1000),
            .backoff_max_us = opts->backoff_max_ms * UINT64_C(1000),
            .rate_per_second = opts->rate_per_second,
            .rate_burst = opts->rate_burst,
            .slack_percent = opts->slack_percent,
            .debounce_us = opts->debounce_ms * UINT64_C(1000),
            .on_ready = on_ready,
            .arg = o,
        };
        if (now[i].queue)
            work_queue_set(now[i].queue, &q);
        else
            now[i].queue = work_queue_new(o->d->queues, &q);
    }
    for (unsigned i = 0; i < o->n_controllers; i++)
        controller_fini(&o->controllers[i]);
    free(o->controllers);
    o->controllers = now;
    o->n_controllers = (unsigned)n;
    o->next_controller = 0;
    for (unsigned i = instances; i < o->n_instances; i++)
        assert(o->instances[i].state == INSTANCE_NONE);
    o->instances = xrealloc(o->instances, instances * sizeof *o->instances);
    for (unsigned i = o->n_instances; i < instances; i++)
        o->instances[i] = (struct dispatch_instance){ .state = INSTANCE_NONE };
    o->n_instances = instances;
    update(o);
    return 0;
}

/* ---- work ---- */

static int added(struct dispatch_operator *o, unsigned controller, int r)
{
    if (r == E_LIMIT)
        o->controllers[controller].is_overflowed = true;
    pump_later(o->d); /* for what it began to wait for */
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
    update(o);
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
    update(o);
}

/* ---- when not to ---- */

void dispatch_hold(struct dispatch_operator *o, enum dispatch_hold why)
{
    o->holds |= 1u << why;
    update(o);
}

void dispatch_release(struct dispatch_operator *o, enum dispatch_hold why)
{
    o->holds &= ~(1u << why);
    update(o);
}

void dispatch_hold_controller(struct dispatch_operator *o, unsigned controller, bool held)
{
    assert(controller < o->n_controllers);
    o->controllers[controller].is_held = held;
    update(o);
}

void dispatch_on_drained(struct dispatch_operator *o, void (*done)(void *arg), void *arg)
{
    o->drained = done;
    o->drained_arg = arg;
    update(o);
}

/* ---- looking at it ---- */

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
