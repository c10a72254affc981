/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals shared by the files of the dispatcher.
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

/* Allocated when a controller is activated first. */
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
    bool is_list_new;   /* and must start from its beginning */
    bool is_overflowed; /* a key was dropped: list again when there is room */
};

struct dispatch {
    struct loop *loop;
    uint64_t (*now_us)(void);
    struct work_queues *queues;
    struct list operators;
    VEC(struct dispatch_operator *) startable; /* a heap by vtime */
    uint64_t vtime;                            /* vtime of the operator that started last */
    uint64_t last_token;
    unsigned n_busy, n_active, max_busy;
    struct list growths; /* operators that want an instance or more keys of a list */
    struct list drained; /* operators whose callback is due */
    struct timer timer;
    uint64_t armed_us; /* time for which the timer is armed */
    struct defer pump;
    bool in_pump;       /* the pump is running and will see the change */
    struct buf payload; /* of the activation being started */
};

enum instance_state {
    INSTANCE_NONE,   /* no guest */
    INSTANCE_COMING, /* starting, or restarting after a failure */
    INSTANCE_IDLE,
    INSTANCE_ACTIVE
};

struct dispatch_instance {
    uint8_t state; /* enum instance_state */
    bool is_parked;
    uint8_t config_failures;
    uint8_t config;         /* the configuration that is being delivered */
    uint8_t controller;     /* of item */
    uint16_t configs;       /* bits of the configurations to deliver */
    struct work_item *item; /* NULL while active: a configuration is being delivered */
    uint64_t token;
    uint64_t began_us, parked_us;
    uint64_t since_us; /* IDLE, COMING: start of this state; is_parked: start of the parking */
    uint64_t config_after_us;
    uint64_t retry_us; /* COMING after a failed activate(): idle again at this time; 0: not set */
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
    uint32_t weight, cost_us; /* cost_us: average of recent activations */
    uint32_t holds;
    unsigned n_controllers, n_instances, n_active, n_parked, next_controller;
    struct dispatch_controller *controllers;
    struct dispatch_instance *instances;
    char **config_names;     /* [DISPATCH_CONFIGS_MAX]; NULL until one has changed */
    struct work_timer timer; /* due: configurations to deliver again, instances to end */
    uint64_t start_after_us; /* no further instance is started before this */
    void (*drained)(void *arg);
    void *drained_arg;
    uint64_t n_activations, n_failures;
    struct dispatch_last *last;
};

/* ---- dispatch_turn.c ---- */

/* Update the dispatcher's lists after a change of the operator. */
void dispatch_update(struct dispatch_operator *o);
/* Look at all operators on the next turn. */
void dispatch_pump_later(struct dispatch *d);
/* Add CPU time that the operator has used, or subtract time that it did not use. */
void dispatch_charge(struct dispatch_operator *o, int64_t us);
void dispatch_startable_remove(struct dispatch_operator *o);
bool dispatch_may_configure(const struct dispatch_instance *in, uint64_t now);
struct dispatch_instance *dispatch_idle_instance(struct dispatch_operator *o);
/*
 * The controller whose next key is first: highest priority, round robin among equals. -1: none.
 */
int dispatch_next_controller(const struct dispatch_operator *o);
/* Arm the operator's timer: configurations to deliver again, instances to end. */
void dispatch_arm_operator(struct dispatch_operator *o);
void dispatch_on_operator_timer(struct work_timer *t, uint64_t now);
void dispatch_on_ready(struct work_queue *q, void *arg);

/* ---- dispatch_activation.c ---- */

/* Start one activation: for a changed configuration first, else for a key. There must be one. */
void dispatch_start_one(struct dispatch_operator *o, uint64_t now);
void dispatch_set_inactive(struct dispatch_operator *o, struct dispatch_instance *in,
                           enum instance_state state, uint64_t now);

/* ---- dispatch_metrics.c ---- */
