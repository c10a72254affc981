/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One operator of guest ABI v1: its guests' declaration, the watches, queues, configurations,
 * events and metrics that it declares, and its guests' calls.
 *
 *     guest_ops.on_call(DECLARE) -> declaration.h -> interests.h, config.h, guest_metrics.h
 *     dispatch.h   -> guest_activate()  ...  guest_ops.on_activated -> dispatch.h
 *     guest_ops.on_call -> host_calls.h -> guest_reply()
 *     guest_ops.on_post -> log, events.h, guest_metrics.h, dispatch.h
 *
 * A struct v1 lives as long as its operator is of this ABI, across replacements of guests, failures
 * and pauses. Its queues are kept all this time, its watches while the declaration stays the same.
 * Guests are attached and detached by v1_attach() and v1_detach(); the operator (operator.h)
 * creates and starts them with v1_guest_ops(). Loop thread only.
 */
#pragma once

#include "operator/identity.h"
#include "operator/v1/host_calls.h"
#include "operator/v1/trace.h"

struct v1;

/* Shared by the operators of a host. */
struct v1_host;

struct v1_host_opts {
    struct loop *loop;           /* kept */
    struct discovery *discovery; /* kept */
    struct object_cache *cache;  /* kept */
    struct guest_logs *logs;     /* kept; NULL: guests' lines only go to the host's log */
    unsigned runners;            /* 0: one per core */
};
struct v1_host *v1_host_new(const struct v1_host_opts *opts);
/* Every v1 must have been freed. NULL is fine. */
void v1_host_free(struct v1_host *h);
/* Append Prometheus text: metrics of controllers, and those of guests. */
void v1_host_metrics(struct v1_host *h, struct buf *to);

struct v1_ops {
    /* As guest_ops.on_state, for the first instance; runs after v1 has handled the change. */
    void (*on_state)(struct guest *g, enum guest_state state, const struct err *why, void *arg);
    /* As guest_ops.on_log. */
    void (*on_log)(struct guest *g, int fd, struct str line, void *arg);
    /* As guest_ops.on_limit. */
    void (*on_limit)(struct guest *g, enum guest_limit which, uint64_t figure, void *arg);
    /* As guest_ops.on_kept_awake, for the first instance. */
    void (*on_kept_awake)(struct guest *g, const struct err *why, void *arg);
    /* The result of v1_summary() may have changed. */
    void (*on_change)(void *arg);
};

struct v1_opts {
    struct v1_host *host;
    const char *namespace, *name; /* kept */
    const struct v1_ops *ops;     /* kept */
    void *arg;
};
struct v1 *v1_new(const struct v1_opts *opts);
/* The guest must be detached. NULL is fine. */
void v1_free(struct v1 *v);

/* ---- guests ---- */

/* The functions to pass to guest_new(), and their argument. */
const struct guest_ops *v1_guest_ops(void);
void *v1_guest_arg(struct v1 *v);

/* The rights of one generation of the operator. All borrowed until v1_detach(). */
struct v1_rights {
    struct transport *transport; /* uses the operator's identity */
    struct identity *identity;   /* NULL: the host's own */
    const struct allow *allow;   /* NULL: all */
    unsigned weight;             /* CPU share; 0: default */
};
/*
 * Attach a guest that was made with v1_guest_ops() and is not started yet. Its declaration may
 * differ from the last one.
 */
void v1_attach(struct v1 *v, struct guest *g, const struct v1_rights *rights);
/*
 * Call before the guest is freed. Keys in progress are given to the next guest again; queues and
 * watches stay.
 */
void v1_detach(struct v1 *v);

/* For holds (paused, leader, replacement, stop) and draining. */
struct dispatch_operator *v1_dispatch(struct v1 *v);

/* ---- looking at it ---- */

enum { V1_SUMMARY_MAX = 512 };
struct v1_summary {
    bool declared;
    bool synced;                /* every controller can work */
    char waits[V1_SUMMARY_MAX]; /* what is missing, as text; "" when synced */
    size_t n_controllers, n_watches, n_synced;
    uint64_t reconciles, failures;
};
void v1_get_summary(const struct v1 *v, struct v1_summary *ret);
/*
 * A complete description as one JSON object: declaration, watches with their states, controllers
 * with queue, last reconcile and next timer, what the guest waits for.
 */
void v1_describe(const struct v1 *v, struct buf *to);
/* To attach tracers. */
struct v1_trace *v1_trace(struct v1 *v);
/* An activation runs, or a key is ready and nothing holds it. */
bool v1_is_busy(const struct v1 *v);
