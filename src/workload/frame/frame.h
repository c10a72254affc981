/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame that runs controllers: tables (view.h), a queue of keys for each controller, and calls.
 * A call's way, one at a time for each key:
 *
 *     GET --> CLAIM --> BODIES --> ROUND --> END
 *      |        |         |        |  ^       ^
 *      |        |         |        +--+       |
 *      `--------+---------+-------------------'  not found, failed, conflict
 *
 * Without the object: from GET to ROUND, if the controller has gone().
 */
#pragma once

#include "base/sm.h"
#include "client/ask.h"
#include "client/event_recorder.h"
#include "client/work_queue.h"
#include "workload/frame/view.h"

enum workload_call_at { CALL_GET, CALL_CLAIM, CALL_BODIES, CALL_ROUND, CALL_END };

/* A controller in this process. */
struct workload_runner {
    struct workload *w;
    const struct workload_controller *c;
    struct work_queue *queue;
    struct event_recorder *events;
    char *user; /* of its requests */
    struct kube_identity identity;
    size_t n_calls;
};

struct workload {
    struct loop *loop;
    struct transport *transport;
    struct workload_view view;
    struct work_queues *queues;
    struct workload_runner *runners;
    size_t n_runners;
    struct list calls;
    struct defer turn;
    struct timer timer;
    uint64_t armed_us; /* the timer; WORK_NEVER: it is not */
    bool is_stopped;
};

struct workload_request { /* an effect that is under way */
    struct workload_running *run;
    struct workload_effect *effect;
    struct client_ask *ask;
};

struct workload_effects { /* a VEC() */
    struct workload_effect **p;
    size_t n, cap;
};

struct workload_running { /* a call that is under way */
    struct workload_call call;
    struct list node;
    struct workload_runner *runner;
    struct work_item *item;
    struct selector selector;              /* of the object */
    struct sm sm;                          /* enum workload_call_at */
    struct workload_effects effects, done; /* of this round, and of the round before */
    struct workload_request requests[WORKLOAD_EFFECTS_AT_ONCE];
    size_t next, n_asked; /* effects that have begun; those that wait for their answer */
    size_t create_batch;  /* creates that may begin now */
    size_t n_batch_left;  /* of the batch, that have not begun */
    bool no_more_creates, is_failed, is_conflict;
    uint64_t again_ms; /* 0: not by time */
};

/* ---- effects (effect.c) ---- */

/* An effect in the call's arena, added to the round. */
struct workload_effect *workload_effect_add(struct workload_running *run,
                                            const struct workload_effect *effect);
/*
 * Carry out what the round has, and workload_call_run() when all is done. With no effects: false,
 * and the call goes on at once.
 */
bool workload_effects_start(struct workload_running *run);
void workload_effects_cancel(struct workload_running *run);

/* ---- calls (call.c) ---- */

void workload_call_start(struct workload_runner *r, struct work_item *item);
/* Advance until something must be waited for. May end the call and free it. */
void workload_call_run(struct workload_running *run);
/* Free it without an end, when the frame stops. */
void workload_call_drop(struct workload_running *run);
static inline struct workload_running *workload_running_of(struct workload_call *call)
{
    return container_of(call, struct workload_running, call);
}

/* ---- the frame (frame.c) ---- */

/* A call has ended; the item is finished. */
void workload_call_ended(struct workload_runner *r, struct work_item *item, enum work_end end,
                         uint64_t again_ms);
