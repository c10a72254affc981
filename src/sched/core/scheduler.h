/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler: profiles, cache and queue put together, scheduling cycles and binding cycles.
 *
 *     pop -> PreFilter, Filter (with nominated pods), extenders -> PostFilter where nothing fits
 *         -> PreScore, Score, Normalize, extenders -> the highest (ties by reservoir) -> assume
 *         -> Reserve, Permit          (here the cycle ends and the next pod's begins)
 *         -> wait for Permit -> PreBind -> Bind -> PostBind; failing: Unreserve, forget, back to
 *            the queue
 *
 * Profiles with plugins from outside (Wasm) beside other profiles have a *lane*: a queue order, a
 * copy of the cache, and a thread that the caller provides (struct sched_lanes). Only one thread at
 * a time runs the scheduler, and the caller takes care of that; but while a lane calls a guest it
 * lets other threads run it. So a plugin that takes long delays the pods of its own profile alone.
 * Without sched_opts.lanes, with one profile, or with extenders (which hold up everything anyway)
 * all profiles run in sched_step().
 *
 * A state machine on one thread, without a clock, a socket or a watch of its own: objects are told
 * to it, requests leave through struct sched_api, time is an argument. driver.h runs it on a thread
 * of its own against a transport; `simulate`, `explain` and tests run it by hand.
 * Upstream: pkg/scheduler/schedule_one.go, eventhandlers.go.
 */
#pragma once

#include "base/list.h"
#include "sched/config/config.h"
#include "sched/queue/queue.h"

struct sched;
struct sched_lane;

/* How a lane lets others run the scheduler. Called by the thread that is in sched_lane_run(). */
struct sched_lanes {
    void (*leave)(void *arg);
    /* Until no other thread runs the scheduler. true: one did meanwhile. */
    bool (*enter)(void *arg);
    uint64_t (*now_ms)(void *arg);
};

struct sched_opts {
    const struct sched_config *config;          /* kept */
    struct sched_api *api;                      /* kept */
    const struct sched_foreign *foreign;        /* NULL: native plugins alone */
    const struct sched_extender_ops *extenders; /* used while the configuration has some */
    void *extenders_arg;
    uint64_t seed;
    bool keeps_json;   /* of pods and nodes: for Wasm plugins and extenders */
    bool finds_layers; /* api answers questions about images (sched_api_request.is_image) */
    int64_t (*wall_ms)(void *arg);
    void *arg;
    /* A pod was bound, and the API knows it. node NULL: it has gone meanwhile. NULL: not wanted. */
    void (*on_bound)(void *arg, const struct sched_pod *pod, struct str name,
                     const struct sched_node *node);
    void *on_bound_arg;
    const struct sched_lanes *lanes; /* kept; NULL: no profile has a lane */
    void *lanes_arg;
    /* Each decision, for `explain`, `simulate` and tests; NULL: none. */
    const struct sched_observer *observer;
    void *observer_arg;
};

/* What happened in an attempt. All borrowed for the call. */
struct sched_observer {
    void (*refused)(void *arg, const struct sched_pod *pod, const struct sched_node_info *node,
                    const struct sched_status *status);
    /* Of one plugin, normalized and weighted. */
    void (*scored)(void *arg, const struct sched_pod *pod, struct str plugin,
                   const struct sched_node_info *const *nodes, size_t n, const int64_t *scores);
    /* Before the attempt is explained: the pod has a node already, and its binding waits for this
     * plugin; or (node NULL) the plugin keeps it from being tried. May be NULL. */
    void (*waits)(void *arg, const struct sched_pod *pod, const struct intern *node,
                  struct str plugin, struct str what);
    /* node NULL: none; status says why. */
    void (*decided)(void *arg, const struct sched_pod *pod, const struct intern *node,
                    const struct sched_status *status);
};

/* Errors: E_INVALID with upstream's text (an unknown plugin, wrong arguments, no QueueSort, ...).
 */
int sched_new(const struct sched_opts *opts, struct sched **ret, struct err *err);
/* Calls to the API that are under way are no longer heard. No lane has a thread. */
void sched_free(struct sched *s);
DEFINE_SCOPED(sched, sched_free)

/* Of a kind that SCHED_KINDS has; json is borrowed. Errors: as sched_object_read(), E_LIMIT; the
 * scheduler goes on without it. */
int sched_put(struct sched *s, enum sched_kind kind, const struct json *json, uint64_t now_ms,
              struct err *err);
void sched_del(struct sched *s, enum sched_kind kind, struct str namespace, struct str name,
               uint64_t now_ms);
/* The names of all objects of a kind that it knows, for whoever compares them with a list. */
void sched_each_name(const struct sched *s, enum sched_kind kind,
                     void (*each)(void *arg, struct str namespace, struct str name), void *arg);
/* All kinds have been listed once: before this no pod is tried. */
void sched_synced(struct sched *s);
/* Something has to be put again: no pod is tried until sched_synced(). */
void sched_unsynced(struct sched *s);
bool sched_keeps_json(const struct sched *s);
/* Leads, or does not: who does not keeps its picture of the cluster and places nothing. */
void sched_lead(struct sched *s, bool leads);

/* ---- lanes ---- */

/* One that has something to do and no thread: the caller's now, until sched_lane_run() answers
 * false. NULL: there is none. To be asked after everything that was done. */
struct sched_lane *sched_lane_next(struct sched *s);
/* One attempt, one step of a binding or one explanation. false: nothing was left to do, and the
 * lane is not the caller's any more. */
bool sched_lane_run(struct sched_lane *l);
/* So much has changed while a lane was in a call that the caller keeps further objects back
 * (sched_put(), sched_del()) until this is false again: when the call has ended. */
bool sched_lane_is_full(const struct sched *s);
/* By a thread that runs the scheduler without a lane, after others may have: before anything else.
 */
void sched_resume(struct sched *s);
/* Run this where sched_explain() can answer about the pod: at once, or later by its lane, which has
 * sched_free() at the latest. asked: kept until then. */
struct sched_asked {
    struct list node;
    void (*run)(struct sched_asked *asked);
};
void sched_ask(struct sched *s, struct str namespace, struct str name, struct sched_asked *asked);

/* One attempt, if a pod is active that is not of a lane. false: there was none. */
bool sched_step(struct sched *s, uint64_t now_ms);
/* Timers that are due; returns when it wants to be called again, UINT64_MAX: never. */
uint64_t sched_tick(struct sched *s, uint64_t now_ms);

/*
 * Why a pod is (not) placed, now: an attempt that ends before Reserve and changes nothing, all
 * nodes looked at. The observer hears of it. One that has a node is looked at as if it came now
 * and were not there. Errors: -ENOENT; -EAGAIN: sched_ask() first; -ECANCELED.
 */
int sched_explain(struct sched *s, struct str namespace, struct str name, uint64_t now_ms,
                  const struct sched_observer *observer, void *arg, struct err *err);

/*
 * Plugins are made anew from another configuration; pods in Permit and bindings go on with the old
 * ones. foreign: kept, instead of that of the options; what the old ones were made from may go when
 * the last of them was destroyed. keeps_json: from now on; objects that came before have to be put
 * again when it was false. Errors: as sched_new(); then nothing has changed.
 */
int sched_reload(struct sched *s, const struct sched_config *config,
                 const struct sched_foreign *foreign, bool keeps_json, struct err *err);

struct sched_stats {
    size_t nodes, pods, assumed, binding, waiting;
    struct sched_queue_count queue;
    uint64_t attempts, scheduled, unschedulable, errors, preemptions, victims;
};
void sched_stats(const struct sched *s, struct sched_stats *ret);
/* In Prometheus' text format, with upstream's names (scheduler_*). */
void sched_metrics(const struct sched *s, struct buf *out);
