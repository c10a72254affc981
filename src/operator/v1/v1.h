/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One operator of guest ABI v1: what its guests declare, the watches, queues, configurations,
 * events and metrics that follow from it, and its guests' calls.
 *
 *     guest_ops.on_call(DECLARE) -> declaration.h -> interests.h, config.h, guest_metrics.h
 *     dispatch.h   -> guest_activate()  ...  guest_ops.on_activated -> dispatch.h
 *     guest_ops.on_call -> host_calls.h -> guest_reply()
 *     guest_ops.on_post -> log, events.h, guest_metrics.h, dispatch.h
 *
 * A struct v1 lives as long as its operator is of this ABI: over the replacement of its guests,
 * over failures and pauses. Its queues, and its watches while the declaration stays the same, go
 * on. Guests come and go by v1_attach() and v1_detach(); the operator (operator.h) makes and starts
 * them with v1_guest_ops(). Loop thread only.
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
    struct guest_logs *logs;     /* kept; NULL: lines of guests go to the host's log alone */
    unsigned runners;            /* 0: one per core */
};
struct v1_host *v1_host_new(const struct v1_host_opts *opts);
/* Every v1 must have been freed. NULL is fine. */
void v1_host_free(struct v1_host *h);
/* Prometheus text: controllers' metrics, and those of guests. */
void v1_host_metrics(struct v1_host *h, struct buf *to);

struct v1_ops {
    /* As guest_ops.on_state, of the first instance; after v1 has acted on it. */
    void (*on_state)(struct guest *g, enum guest_state state, const struct err *why, void *arg);
    /* As guest_ops.on_log. */
    void (*on_log)(struct guest *g, int fd, struct str line, void *arg);
    /* As guest_ops.on_limit. */
    void (*on_limit)(struct guest *g, enum guest_limit which, uint64_t figure, void *arg);
    /* As guest_ops.on_kept_awake, of the first instance. */
    void (*on_kept_awake)(struct guest *g, const struct err *why, void *arg);
    /* What v1_summary() says may have changed. */
    void (*on_change)(void *arg);
};

struct v1_opts {
    struct v1_host *host;
    const char *namespace, *name; /* kept */
    const struct v1_ops *ops;     /* kept */
    void *arg;
};
struct v1 *v1_new(const struct v1_opts *opts);
/* Its guest must be detached. NULL is fine. */
void v1_free(struct v1 *v);

/* ---- guests ---- */

/* What guest_new() wants: the functions and their argument. */
const struct guest_ops *v1_guest_ops(void);
void *v1_guest_arg(struct v1 *v);

/* What a generation of the operator may do. All borrowed until v1_detach(). */
struct v1_rights {
    struct transport *transport; /* speaks as the operator */
    struct identity *identity;   /* NULL: the host's own */
    const struct allow *allow;   /* NULL: all */
    unsigned weight;             /* CPU share; 0: default */
};
/* A guest that was made with v1_guest_ops() and not started yet. It may declare anything. */
void v1_attach(struct v1 *v, struct guest *g, const struct v1_rights *rights);
/*
 * The guest is about to be freed. Keys that are being worked on are worked on again by the next
 * one; queues and watches stay.
 */
void v1_detach(struct v1 *v);

/* For holds (paused, leader, replacement, stop) and draining. */
struct dispatch_operator *v1_dispatch(struct v1 *v);

/* ---- looking at it ---- */

enum { V1_SUMMARY_MAX = 512 };
struct v1_summary {
    bool declared;
    bool synced;                /* every controller can work */
    char waits[V1_SUMMARY_MAX]; /* what is missing, in words; "" when synced */
    size_t n_controllers, n_watches, n_synced;
    uint64_t reconciles, failures;
};
void v1_get_summary(const struct v1 *v, struct v1_summary *ret);
/*
 * All there is to know, one JSON object: declaration, watches with their states, controllers with
 * queue, last reconcile and next timer, what the guest waits for.
 */
void v1_describe(const struct v1 *v, struct buf *to);
/* To listen to what its activations do. */
struct v1_trace *v1_trace(struct v1 *v);
/* An activation runs, or a key is ready and nothing holds it. */
bool v1_is_busy(const struct v1 *v);
