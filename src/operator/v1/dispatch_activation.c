/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One activation: from a key to a payload, and from a result to the key's next state; see
 * dispatch_impl.h.
 *
 *     NONE --instance_start--> COMING --ready--> IDLE --activate--> ACTIVE --activated--> IDLE
 *      ^                         ^                 |                   |
 *      `---- instance_end, gone without reason ----+-------------------+-- gone with one --> COMING
 */
#include "base/backoff.h"
#include "base/log.h"
#include "codec/json.h"
#include "operator/v1/dispatch_impl.h"

#include <assert.h>
#include <errno.h>

enum {
    CONFIG_BACKOFF_US = 100000, /* doubles, up to 2^10 times this */
    CONFIG_BACKOFF_MAX = 10,
    ACTIVATE_RETRY_US = 1000000,
    PAYLOAD_KEEP_BYTES = 16 << 10 /* a larger buffer is freed after use */
};

static unsigned instance_number(const struct dispatch_operator *o,
                                const struct dispatch_instance *in)
{
    return (unsigned)(in - o->instances);
}

/* Returns whether the object has to be read first. */
static bool add_object(struct dispatch_operator *o, unsigned controller, struct work_key key,
                       struct buf *to)
{
    size_t before = to->n;
    (void)buf_add_str(to, STR(",\"object\":"));
    size_t from = to->n;
    int r = o->ops->object(o->arg, controller, key, to);
    if (r == -ENOENT) {
        to->n = from;
        (void)buf_add_str(to, STR("null"));
    } else if (r < 0 || to->failed || to->n - from > DISPATCH_OBJECT_MAX_BYTES) {
        to->n = before;
        to->failed = 0;
    }
    return r == -EAGAIN;
}

void dispatch_add_object(struct str payload, struct str object, struct buf *to)
{
    assert(payload.n && payload.p[payload.n - 1] == '}');
    (void)buf_add_str(to, str_slice(payload, 0, payload.n - 1));
    if (object.n <= DISPATCH_OBJECT_MAX_BYTES) {
        (void)buf_add_str(to, STR(",\"object\":"));
        (void)buf_add_str(to, object.n ? object : STR("null"));
    }
    (void)buf_add_char(to, '}');
}

/* Returns whether the object has to be read first. */
static bool build_reconcile(struct dispatch_operator *o, unsigned controller,
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
    bool lacks_object = add_object(o, controller, task->key, to);
    (void)buf_add_char(to, '}');
    return lacks_object;
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
    assert(in->state == INSTANCE_IDLE && !in->is_parked && o->d->n_active < DISPATCH_ACTIVE_MAX);
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

void dispatch_set_inactive(struct dispatch_operator *o, struct dispatch_instance *in,
                           enum instance_state state, uint64_t now)
{
    assert(in->state == INSTANCE_ACTIVE && o->n_active > 0 && o->d->n_active > 0);
    assert(in->is_parked ? o->n_parked > 0 : o->d->n_busy > 0);
    if (in->is_parked)
        o->n_parked--;
    else
        o->d->n_busy--;
    o->d->n_active--;
    o->n_active--;
    in->is_parked = false;
    in->state = (uint8_t)state;
    in->since_us = now;
    in->item = NULL;
}

/* The activation could not be passed to the guest: restore the state before it was taken. */
static void give_back(struct dispatch_operator *o, struct dispatch_instance *in, uint64_t now)
{
    if (in->item)
        (void)work_queue_finish(o->controllers[in->controller].queue, in->item, WORK_BACK, 0, now);
    else
        in->configs |= (uint16_t)(1u << in->config);
    dispatch_charge(o, -(int64_t)in->charged_us);
}

static void begin(struct dispatch_operator *o, struct dispatch_instance *in, uint64_t now)
{
    struct dispatch *d = o->d;
    bool lacks_object = false;
    set_active(o, in, now);
    dispatch_charge(o, (int64_t)in->charged_us);
    buf_reset(&d->payload);
    if (in->item) {
        struct work_task task;
        work_item_get(in->item, &task);
        lacks_object = build_reconcile(o, in->controller, &task, &d->payload);
    } else {
        build_config(o, in->config, &d->payload);
    }
    struct err err = { 0 };
    int r = d->payload.failed;
    if (r == 0)
        r = o->ops->activate(o->arg, instance_number(o, in), in->token, buf_str(&d->payload),
                             lacks_object, &err);
    if (d->payload.cap > PAYLOAD_KEEP_BYTES) {
        buf_fini(&d->payload);
        buf_init(&d->payload, DISPATCH_PAYLOAD_MAX_BYTES);
    }
    if (r >= 0)
        return;
    log_warn("cannot activate a guest", "operator=%s error=%s", o->name,
             err.code ? err_text(&err) : err_strerror(r));
    give_back(o, in, now);
    dispatch_set_inactive(o, in, INSTANCE_COMING, now);
    in->retry_us = r == -ESTALE ? 0 : now + ACTIVATE_RETRY_US;
    dispatch_arm_operator(o);
}

void dispatch_start_one(struct dispatch_operator *o, uint64_t now)
{
    for (unsigned i = 0; i < o->n_instances; i++) {
        struct dispatch_instance *in = &o->instances[i];
        if (!dispatch_may_configure(in, now))
            continue;
        in->config = (uint8_t)__builtin_ctz(in->configs);
        in->configs &= (uint16_t)(in->configs - 1);
        in->item = NULL;
        begin(o, in, now);
        return;
    }
    struct dispatch_instance *in = dispatch_idle_instance(o);
    int at = dispatch_next_controller(o);
    assert(in && at >= 0);
    struct dispatch_controller *c = &o->controllers[at];
    uint64_t waited_us = 0;
    o->next_controller = ((unsigned)at + 1) % o->n_controllers;
    in->controller = (uint8_t)at;
    in->item = work_queue_take(c->queue, now, &waited_us);
    assert(in->item && work_queue_running(c->queue) <= c->concurrency);
    if (!c->counts)
        c->counts = xnew(struct dispatch_counts);
    histogram_add(&dispatch_times_kind, &c->counts->queued, waited_us);
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
    histogram_add(&dispatch_times_kind, &c->worked, result->work_us);
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

/*
 * If a configuration could not be delivered, deliver it again later, unless the guest restarts and
 * reads it then.
 */
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
    uint64_t delay_us = backoff_wait(CONFIG_BACKOFF_US, UINT64_MAX, in->config_failures);
    if (in->config_failures < CONFIG_BACKOFF_MAX)
        in->config_failures++;
    in->configs |= (uint16_t)(1u << in->config);
    in->config_after_us = now + delay_us;
    result->delay_ms = delay_us / 1000;
}

/* End the activation of an instance. */
static void end(struct dispatch_operator *o, struct dispatch_instance *in,
                struct dispatch_result *result, uint64_t delay_us, enum instance_state next)
{
    uint64_t now = o->d->now_us();
    struct work_item *item = in->item;
    assert(in->state == INSTANCE_ACTIVE && next != INSTANCE_ACTIVE);
    struct dispatch_controller *c = item ? &o->controllers[in->controller] : NULL;
    uint64_t parked_us = in->parked_us + (in->is_parked ? now - in->since_us : 0);
    result->instance = instance_number(o, in);
    result->work_us = now - in->began_us;
    result->busy_us = result->work_us - MIN(parked_us, result->work_us);
    if (o->ops->cpu_us) {
        uint64_t cpu_us = cpu_us_of(o, in);
        result->busy_us = cpu_us > in->cpu_us ? cpu_us - in->cpu_us : 0;
    }
    dispatch_charge(o, (int64_t)result->busy_us - (int64_t)in->charged_us);
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
    dispatch_set_inactive(o, in, next, now);
    /*
     * A failed key waits, so its name stays valid; otherwise the name may be freed by the finish.
     */
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
    dispatch_arm_operator(o);
    dispatch_update(o);
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
    assert(in->state == INSTANCE_ACTIVE || (!in->item && !in->is_parked));
    if (in->state == INSTANCE_IDLE || in->state == INSTANCE_ACTIVE)
        return;
    in->state = INSTANCE_IDLE;
    in->retry_us = 0;
    in->since_us = o->d->now_us();
    dispatch_arm_operator(o);
    dispatch_update(o);
}

void dispatch_instance_gone(struct dispatch_operator *o, unsigned instance, const struct err *why)
{
    if (instance >= o->n_instances)
        return;
    struct dispatch_instance *in = &o->instances[instance];
    enum instance_state next = why ? INSTANCE_COMING : INSTANCE_NONE;
    in->configs = 0; /* the guest reads them when it restarts */
    in->config_failures = 0;
    in->retry_us = 0;
    if (in->state == INSTANCE_ACTIVE) {
        struct dispatch_result result = {
            .end = why ? WORK_FAILED : WORK_BACK,
            .message = why ? str_of(err_text(why)) : STR(""),
            .trapped = why != NULL,
        };
        end(o, in, &result, 0, next);
        return;
    }
    in->state = (uint8_t)next;
    in->since_us = o->d->now_us();
    dispatch_arm_operator(o);
    dispatch_update(o);
}

void dispatch_parked(struct dispatch_operator *o, unsigned instance, bool parked)
{
    if (instance >= o->n_instances)
        return;
    struct dispatch_instance *in = &o->instances[instance];
    if (in->state != INSTANCE_ACTIVE || in->is_parked == parked)
        return;
    uint64_t now = o->d->now_us();
    assert(parked ? o->d->n_busy > 0 : o->n_parked > 0);
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
        dispatch_update(o);
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
