/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler: profiles, cache and queue, scheduling cycles and binding cycles.
 *
 *     pop -> PreFilter, Filter (with nominated pods), extenders -> PostFilter if no node fits
 *         -> PreScore, Score, Normalize, extenders -> the highest (ties by reservoir) -> assume
 *         -> Reserve, Permit          (here the cycle ends and the next pod's begins)
 *         -> wait for Permit -> PreBind -> Bind -> PostBind; on failure: Unreserve, forget, back to
 *            the queue
 *
 * If there are several profiles, each profile with foreign (Wasm) plugins has a *lane*: its own
 * queue order, its own copy of the cache, and a thread that the caller provides (struct
 * sched_lanes). Only one thread at a time runs the scheduler, which the caller ensures; but while a
 * lane calls a guest it lets other threads run the scheduler. So a slow plugin delays only the pods
 * of its own profile. Without sched_opts.lanes, with one profile, or with extenders (which block
 * everything anyway) all profiles run in sched_step().
 *
 * A state machine on one thread, without a clock, socket or watch of its own: the caller reports
 * objects and passes the time, requests leave through struct sched_api. driver.h runs it on its own
 * thread against a transport; `simulate`, `explain` and tests run it by hand.
 *
 * Upstream: pkg/scheduler/schedule_one.go, eventhandlers.go.
 */
#pragma once

#include "base/list.h"
#include "sched/config/config.h"
#include "sched/queue/queue.h"

struct sched;
struct sched_lane;

/* How a lane lets other threads run the scheduler. Called by the thread in sched_lane_run(). */
struct sched_lanes {
    void (*leave)(void *arg);
    /* Blocks until no other thread runs the scheduler. Returns true if one did meanwhile. */
    bool (*enter)(void *arg);
    uint64_t (*now_ms)(void *arg);
};

struct sched_opts {
    const struct sched_config *config;          /* kept */
    struct sched_api *api;                      /* kept */
    const struct sched_foreign *foreign;        /* NULL: native plugins only */
    const struct sched_extender_ops *extenders; /* used while the configuration names extenders */
    void *extenders_arg;
    uint64_t seed;
    bool keeps_json;   /* keep the JSON of pods and nodes, for extenders */
    bool finds_layers; /* `api` answers lookups of images (sched_api_request.is_image) */
    int64_t (*wall_ms)(void *arg);
    void *arg;
    /* A pod was bound and the API has confirmed it. node NULL: the node was deleted meanwhile.
     * NULL: not called. */
    void (*on_bound)(void *arg, const struct sched_pod *pod, struct str name,
                     const struct sched_node *node);
    void *on_bound_arg;
    /* Bindings have the annotation image.dormouse.dev/plan, which the API copies to the pod: its
     * node waits a moment for the plan that follows on_bound(). */
    bool announces_plans;
    const struct sched_lanes *lanes; /* kept; NULL: no profile has a lane */
    void *lanes_arg;
    /* Gets each decision, for `explain`, `simulate` and tests; NULL: none. */
    const struct sched_observer *observer;
    void *observer_arg;
};

/* Reports what happened in an attempt. All arguments are borrowed for the call. */
struct sched_observer {
    void (*refused)(void *arg, const struct sched_pod *pod, const struct sched_node_info *node,
                    const struct sched_status *status);
    /* The scores of one plugin, normalized and weighted. */
    void (*scored)(void *arg, const struct sched_pod *pod, struct str plugin,
                   const struct sched_node_info *const *nodes, size_t n, const int64_t *scores);
    /* Called before the attempt is explained: the pod already has a node, and its binding waits for
     * this plugin; or (node NULL) the plugin keeps the pod out of the queue. May be NULL. */
    void (*waits)(void *arg, const struct sched_pod *pod, const struct intern *node,
                  struct str plugin, struct str what);
    /* node NULL: no node was chosen; status says why. */
    void (*decided)(void *arg, const struct sched_pod *pod, const struct intern *node,
                    const struct sched_status *status);
};

/* Errors: E_INVALID with upstream's text (an unknown plugin, wrong arguments, no QueueSort, ...).
 */
int sched_new(const struct sched_opts *opts, struct sched **ret, struct err *err);
/* Answers to API calls under way are ignored afterwards. No lane may have a thread. */
void sched_free(struct sched *s);
DEFINE_SCOPED(sched, sched_free)

/*
 * kind: one of SCHED_KINDS; json is borrowed. Errors: as sched_object_read(), E_LIMIT; the
 * scheduler continues without the object.
 */
int sched_put(struct sched *s, enum sched_kind kind, const struct json *json, uint64_t now_ms,
              struct err *err);
void sched_del(struct sched *s, enum sched_kind kind, struct str namespace, struct str name,
               uint64_t now_ms);
/* The names of all objects of a kind that the scheduler knows, for comparison with a list. */
void sched_each_name(const struct sched *s, enum sched_kind kind,
                     void (*each)(void *arg, struct str namespace, struct str name), void *arg);
/* All kinds have been listed once. No pod is tried before. */
void sched_synced(struct sched *s);
/* Objects have to be put again: no pod is tried until sched_synced(). */
void sched_unsynced(struct sched *s);
bool sched_keeps_json(const struct sched *s);
/*
 * Sets whether this scheduler leads. A scheduler that does not lead still keeps its view of the
 * cluster up to date, but places no pods.
 */
void sched_lead(struct sched *s, bool leads);

/* ---- lanes ---- */

/*
 * A lane that has work and no thread; it belongs to the caller until sched_lane_run() returns
 * false. NULL: none. Call it after every function that may create work.
 */
struct sched_lane *sched_lane_next(struct sched *s);
/*
 * Runs one attempt, one step of a binding or one explanation. Returns false if no work was left;
 * the lane then does not belong to the caller any more.
 */
bool sched_lane_run(struct sched_lane *l);
/*
 * So many changes are logged for a lane in a call that the caller must hold back further objects
 * (sched_put(), sched_del()) until this is false again, after the call has ended.
 */
bool sched_lane_is_full(const struct sched *s);
/*
 * Called by a thread that runs the scheduler without a lane, after other threads may have run it,
 * before any other function.
 */
void sched_resume(struct sched *s);
/*
 * Whether sched_explain() can answer about the pod here and now.
 *
 * SCHED_ASK_NOW:   it can; `run` is not called.
 * SCHED_ASK_LATER: the pod belongs to a lane, which calls `run`, where it can; at the latest in
 *                  sched_free(), never inside this function. asked: kept until then.
 */
enum sched_ask { SCHED_ASK_NOW, SCHED_ASK_LATER };
struct sched_asked {
    struct list node;
    void (*run)(struct sched_asked *asked);
};
enum sched_ask sched_ask(struct sched *s, struct str namespace, struct str name,
                         struct sched_asked *asked);

/* One attempt, if a pod without a lane is active. Returns false if none is. */
bool sched_step(struct sched *s, uint64_t now_ms);
/* Runs due timers; returns the time of the next call, UINT64_MAX: never. */
uint64_t sched_tick(struct sched *s, uint64_t now_ms);

/*
 * Explains why a pod is (not) placed now: an attempt over all nodes that ends before Reserve and
 * changes nothing. The observer gets the results. A pod that has a node is treated as if it were
 * new and not on that node. Errors: -ENOENT; -EAGAIN: call sched_ask() first; -ECANCELED.
 */
int sched_explain(struct sched *s, struct str namespace, struct str name, uint64_t now_ms,
                  const struct sched_observer *observer, void *arg, struct err *err);

/*
 * Creates new plugins from another configuration; pods in Permit and bindings under way continue
 * with the old ones. foreign: kept, replaces that of the options; the source of the old plugins may
 * be freed after the last of them was destroyed. keeps_json: from now on; if it was false before,
 * earlier objects have to be put again. Errors: as sched_new(); then nothing has changed.
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
