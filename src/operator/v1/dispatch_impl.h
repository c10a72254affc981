/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the dispatcher share.
 *
 *     dispatch.c             operators, controllers, holds     dispatch_turn.c     whose turn it is
 *     dispatch_activation.c  one activation, its result        dispatch_metrics.c  text
 */
#pragma once

#include "base/histogram.h"
#include "operator/v1/dispatch.h"

enum { DISPATCH_BOUNDS = 21, DISPATCH_PAYLOAD_MAX_BYTES = DISPATCH_OBJECT_MAX_BYTES + (16 << 10) };

/* Durations in us. */
struct dispatch_times {
    HISTOGRAM_FIELDS(uint32_t, DISPATCH_BOUNDS);
};
extern const struct histogram_kind dispatch_times_kind;

/* Made when a controller is activated first. */
struct dispatch_counts {
    struct dispatch_times queued, worked;
    uint32_t success, again, failed, refused, trapped;
};

struct dispatch_controller {
    const char *name;
    struct work_queue *queue;
    struct dispatch_counts *counts;
    unsigned concurrency;
    bool is_held;
    bool has_list;      /* ops.refill has more */
    bool is_list_new;   /* and is to begin anew */
    bool is_overflowed; /* a key was dropped: list anew when there is room */
};

struct dispatch {
    struct loop *loop;
    uint64_t (*now_us)(void);
    struct work_queues *queues;
    struct list operators;
    VEC(struct dispatch_operator *) startable; /* a heap by vtime */
    uint64_t vtime;                            /* of whoever started last */
    uint64_t last_token;
    unsigned n_busy, n_active, max_busy;
    struct list growths; /* operators that want an instance or more keys of a list */
    struct list drained; /* operators whose callback is due */
    struct timer timer;
    uint64_t armed_us; /* what it is armed for */
    struct defer pump;
    bool in_pump;       /* it will see what changes */
    struct buf payload; /* of the activation being started */
};

enum instance_state {
    INSTANCE_NONE,   /* there is no guest */
    INSTANCE_COMING, /* it starts, or starts again after a failure */
    INSTANCE_IDLE,
    INSTANCE_ACTIVE
};

struct dispatch_instance {
    uint8_t state; /* enum instance_state */
    bool is_parked;
    uint8_t config_failures;
    uint8_t config;         /* being told */
    uint8_t controller;     /* of item */
    uint16_t configs;       /* to be told */
    struct work_item *item; /* NULL while active: a configuration is being told */
    uint64_t token;
    uint64_t began_us, parked_us;
    uint64_t since_us; /* IDLE, COMING: in this state; is_parked: parked */
    uint64_t config_after_us;
    uint64_t retry_us; /* COMING: idle again then, as it could not be activated; 0: not */
    uint64_t charged_us, cpu_us;
};

struct dispatch_operator {
    struct dispatch *d;
    struct list node, growth_node, drain_node;
    const char *name;
    const struct dispatch_ops *ops;
    void *arg;
    size_t heap_at;
    uint64_t vtime;
    uint32_t weight, cost_us; /* cost: of an activation lately */
    uint32_t holds;
    unsigned n_controllers, n_instances, n_active, n_parked, next_controller;
    struct dispatch_controller *controllers;
    struct dispatch_instance *instances;
    char **config_names;     /* [DISPATCH_CONFIGS_MAX]; NULL until one has changed */
    struct work_timer timer; /* configurations to be told again, instances to be ended */
    uint64_t start_after_us; /* no further instance before */
    void (*drained)(void *arg);
    void *drained_arg;
    uint64_t n_activations, n_failures;
    struct dispatch_last *last;
};

/* ---- dispatch_turn.c ---- */

/* Bring what stands in the dispatcher in line with what has changed in the operator. */
void dispatch_update(struct dispatch_operator *o);
/* Look at everybody on the next turn. */
void dispatch_pump_later(struct dispatch *d);
/* CPU time that it has used, or did not use after all. */
void dispatch_charge(struct dispatch_operator *o, int64_t us);
void dispatch_startable_remove(struct dispatch_operator *o);
bool dispatch_may_tell(const struct dispatch_instance *in, uint64_t now);
struct dispatch_instance *dispatch_idle_instance(struct dispatch_operator *o);
/*
 * The controller whose next key comes before the others': higher priority first, in turn among
 * equals. -1: none.
 */
int dispatch_next_controller(const struct dispatch_operator *o);
/* Its own timer: configurations to be told again, instances to be ended. */
void dispatch_arm_operator(struct dispatch_operator *o);
void dispatch_on_operator_timer(struct work_timer *t, uint64_t now);
void dispatch_on_ready(struct work_queue *q, void *arg);

/* ---- dispatch_activation.c ---- */

/* What changed in a configuration first, else a key. There must be something to start. */
void dispatch_start_one(struct dispatch_operator *o, uint64_t now);
void dispatch_set_inactive(struct dispatch_operator *o, struct dispatch_instance *in,
                           enum instance_state state, uint64_t now);

/* ---- dispatch_metrics.c ---- */
