/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods that wait for a node. Upstream: backend/queue.
 *
 *          PreEnqueue refuses                    event, hint says Queue
 *     add ---------> gated <------+   +--- unschedulable <--+--- 5 minutes
 *      |                          |   |         ^           |
 *      +-------> active ----- pop ----|---> in flight ------+  refused: waits for an event
 *                  ^                  v         |
 *                  +--- time --- back-off <-----+              failed, or an event came meanwhile
 *
 * active: a heap, ordered by the QueueSort plugin. back-off: 1 s, doubling to 10 s with each
 * attempt, configurable; pods whose attempts ended in errors have a heap of their own. Events that
 * arrive while a pod is in flight are kept, and decide where the pod goes when it comes back. A pod
 * is in one place at a time.
 *
 * Pure: no clock, no thread; time is an argument and never decreases.
 */
#pragma once

#include "sched/framework/nominator.h"
#include "sched/framework/profile.h"

enum {
    SCHED_QUEUE_PODS_MAX = 1000000,
    SCHED_UNSCHEDULABLE_MS = 300000, /* after this a pod is tried again without an event */
    /* Beyond this limit, pods in flight come back as if an event had helped them. */
    SCHED_IN_FLIGHT_EVENTS_MAX = 100000,
};

/* A pod in the queue. Read by others; changed by the queue. */
struct sched_queued {
    const struct sched_pod *pod; /* the current object; a reference */
    uint64_t added_ms;           /* when it was added, or came back from its last attempt */
    uint64_t first_attempt_ms;   /* when it was first active; 0: never */
    uint32_t attempts, unschedulable_count, error_count;
    uint64_t rejected_by; /* plugins by position that refused it; events are matched with them */
    uint64_t pending_by;  /* plugins that returned Pending */
    bool is_gated;
    struct str gated_by; /* the gating plugin */
    bool was_flushed; /* became active by time and not by an event: a hint of a plugin may be wrong
                       */
};

struct sched_queue_opts {
    struct intern_table *words;
    /* The profile for a pod's schedulerName; NULL: not one of ours. */
    const struct sched_profile *(*profile)(void *arg, struct str scheduler_name);
    void *arg;
    uint64_t backoff_first_ms, backoff_max_ms; /* 0: 1000, 10000 */
    uint64_t unschedulable_ms;                 /* 0: as above */
    size_t pods_max;                           /* 0: as above */
};
struct sched_queue;
struct sched_queue *sched_queue_new(const struct sched_queue_opts *opts);
void sched_queue_free(struct sched_queue *q);
DEFINE_SCOPED(sched_queue, sched_queue_free)
/* Takes effect with the next failed attempt. */
void sched_queue_set_backoff(struct sched_queue *q, uint64_t first_ms, uint64_t max_ms);

/*
 * A pending pod of our profiles was added or changed: adds it to the queue, or updates it, which
 * may move it. A reference is taken. Errors: E_LIMIT.
 */
int sched_queue_put(struct sched_queue *q, const struct sched_pod *pod, uint64_t now_ms,
                    struct err *err);
/*
 * Replaces the object of a pod in flight; this is no event for it: the change takes effect when the
 * pod comes back. A reference is taken.
 */
void sched_queue_renew(struct sched_queue *q, const struct sched_pod *pod);
/* The pod was deleted or bound. */
void sched_queue_del(struct sched_queue *q, struct str uid);
/*
 * Pops the first pod of the profiles that share an order (profile NULL), or of one that has its own
 * (sched_profile.is_apart). The pod is in flight until sched_queue_done() or sched_queue_back(). If
 * no pod is active, a pod in back-off is popped: an idle scheduler need not wait (except for pods
 * whose attempt ended in an error). NULL: neither. Borrowed until done or back; so is its `pod`,
 * whatever sched_queue_put() stores meanwhile.
 */
const struct sched_queued *sched_queue_pop_of(struct sched_queue *q,
                                              const struct sched_profile *profile, uint64_t now_ms);
static inline const struct sched_queued *sched_queue_pop(struct sched_queue *q, uint64_t now_ms)
{
    return sched_queue_pop_of(q, NULL, now_ms);
}
/* Would sched_queue_pop_of() return a pod? */
bool sched_queue_has(const struct sched_queue *q, const struct sched_profile *profile);
/* The attempt succeeded, or the pod was deleted. */
void sched_queue_done(struct sched_queue *q, struct str uid);
/*
 * The attempt ended without a node. rejected_by: plugins (by position) that refused the pod;
 * pending_by: plugins that returned Pending; both 0: an error, so the pod comes back after its
 * back-off.
 */
void sched_queue_back(struct sched_queue *q, struct str uid, uint64_t rejected_by,
                      uint64_t pending_by, uint64_t now_ms);
/* An event: moves the pods whose plugins say that it may help. */
void sched_queue_event(struct sched_queue *q, const struct sched_event *event, uint64_t now_ms);
/*
 * The same, only for waiting pods for which `wants` returns true (NULL: all); pods in flight get
 * the event anyway.
 */
struct sched_queue_check {
    bool (*wants)(void *arg, const struct sched_pod *pod);
    void *arg;
};
void sched_queue_event_where(struct sched_queue *q, const struct sched_event *event,
                             const struct sched_queue_check *check, uint64_t now_ms);
/* Makes this pod active, whatever it waits for; at the request of kubectl or a plugin. */
void sched_queue_activate(struct sched_queue *q, struct str uid, uint64_t now_ms);
/* Moves pods that have waited long enough. Returns the time of the next call; UINT64_MAX: never. */
uint64_t sched_queue_tick(struct sched_queue *q, uint64_t now_ms);
/*
 * The profiles were replaced, see opts.profile(). The queue does not touch the old plugins any
 * more. Every pod is tried again; pods without a profile are dropped.
 */
void sched_queue_reload(struct sched_queue *q, uint64_t now_ms);

/* Nominated pods: filters count them as if they were on their node (nominator.h). */
/* node "": withdraws the nomination. Does nothing for a pod that is not in the queue. */
void sched_queue_nominate(struct sched_queue *q, const struct sched_pod *pod, struct str node);
/* All nominations; borrowed, valid as long as the queue. */
const struct sched_nominator *sched_queue_nominator(const struct sched_queue *q);

const struct sched_queued *sched_queue_get(const struct sched_queue *q, struct str uid);
struct sched_queue_count {
    size_t active, backoff, unschedulable, gated, in_flight;
};
void sched_queue_count(const struct sched_queue *q, struct sched_queue_count *ret);
/*
 * Every pod, in arbitrary order, with its place ("active", "backoff", "unschedulable", "gated",
 * "in-flight").
 */
void sched_queue_each(const struct sched_queue *q,
                      void (*each)(void *arg, const struct sched_queued *pod, const char *where),
                      void *arg);
/* pending_pods, unschedulable_pods, queue_incoming_pods_total, inflight_events and
 * pod_scheduled_after_flush_total, as upstream's. */
void sched_queue_metrics(const struct sched_queue *q, struct buf *out);
