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
 * active: a heap by the QueueSort plugin. back-off: 1 s, doubling to 10 s with each attempt, by
 * configuration; a pod whose attempts ended in errors has a heap of its own. Events that come while
 * a pod is in flight are kept, and decide when it comes back. A pod is in one place at a time.
 *
 * Pure: no clock, no thread; time is an argument and never goes back.
 */
#pragma once

#include "sched/framework/nominator.h"
#include "sched/framework/profile.h"

enum {
    SCHED_QUEUE_PODS_MAX = 1000000,
    SCHED_UNSCHEDULABLE_MS = 300000, /* then a pod is tried again without an event */
    /* Beyond: what is in flight comes back as if an event had helped it. */
    SCHED_IN_FLIGHT_EVENTS_MAX = 100000,
};

/* A pod in the queue. Read by others; changed by the queue. */
struct sched_queued {
    const struct sched_pod *pod; /* as it is now; a reference */
    uint64_t added_ms;           /* when it was put in, or came back from its last attempt */
    uint64_t first_attempt_ms;   /* when it was active first; 0: never */
    uint32_t attempts, unschedulable_count, error_count;
    uint64_t rejected_by; /* plugins by position that refused it; what events are matched with */
    uint64_t pending_by;  /* that answered Pending */
    bool is_gated;
    struct str gated_by; /* the plugin */
    bool was_flushed;    /* came by time and not by an event: a hint of some plugin may be wrong */
};

struct sched_queue_opts {
    struct intern_table *words;
    /* The profile for a pod's schedulerName; NULL: not ours. */
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
/* From the next attempt that fails. */
void sched_queue_set_backoff(struct sched_queue *q, uint64_t first_ms, uint64_t max_ms);

/* A pending pod of ours was seen; it is put in, or what is known of it is updated, and may move by
 * that. A reference is taken. Errors: E_LIMIT. */
int sched_queue_put(struct sched_queue *q, const struct sched_pod *pod, uint64_t now_ms,
                    struct err *err);
/* A pod in flight is this one now, which is nothing that happened to it: the change is seen when it
 * comes back. A reference is taken. */
void sched_queue_renew(struct sched_queue *q, const struct sched_pod *pod);
/* It is gone, or bound. */
void sched_queue_del(struct sched_queue *q, struct str uid);
/*
 * The first pod of the profiles that share an order (profile NULL), or of one that has its own
 * (sched_profile.is_apart), now in flight: until sched_queue_done() or sched_queue_back(). NULL:
 * none is active, nor in back-off: where nothing else is to be done, pods need not wait their
 * back-off out (those whose attempt was an error do). Borrowed until then; so is its `pod`,
 * whatever sched_queue_put() says meanwhile.
 */
const struct sched_queued *sched_queue_pop_of(struct sched_queue *q,
                                              const struct sched_profile *profile, uint64_t now_ms);
static inline const struct sched_queued *sched_queue_pop(struct sched_queue *q, uint64_t now_ms)
{
    return sched_queue_pop_of(q, NULL, now_ms);
}
/* Is there a pod that it would return? */
bool sched_queue_has(const struct sched_queue *q, const struct sched_profile *profile);
/* Its attempt succeeded, or it is gone. */
void sched_queue_done(struct sched_queue *q, struct str uid);
/*
 * Its attempt ended without a node. rejected_by: plugins (by position) that refused it;
 * pending_by: that said Pending; both 0: an error, so it comes back after its back-off.
 */
void sched_queue_back(struct sched_queue *q, struct str uid, uint64_t rejected_by,
                      uint64_t pending_by, uint64_t now_ms);
/* Something happened: pods whose plugins say that it may help are moved. */
void sched_queue_event(struct sched_queue *q, const struct sched_event *event, uint64_t now_ms);
/* The same, for the waiting pods that `wants` says true of (NULL: all); pods in flight hear of it
 * anyway. */
struct sched_queue_check {
    bool (*wants)(void *arg, const struct sched_pod *pod);
    void *arg;
};
void sched_queue_event_where(struct sched_queue *q, const struct sched_event *event,
                             const struct sched_queue_check *check, uint64_t now_ms);
/* As kubectl or a plugin asks: this pod next, whatever it waits for. */
void sched_queue_activate(struct sched_queue *q, struct str uid, uint64_t now_ms);
/* Moves what has waited long enough. Returns when it wants to be called again; UINT64_MAX: never.
 */
uint64_t sched_queue_tick(struct sched_queue *q, uint64_t now_ms);
/*
 * The profiles are others now, as opts.profile() tells; the plugins of the old ones are not touched
 * any more. Every pod is tried again; those whose scheduler is gone are let go.
 */
void sched_queue_reload(struct sched_queue *q, uint64_t now_ms);

/* Pods that will be removed to make room: counted as if they were on their node (nominator). */
/* node "": the nomination is withdrawn. Nothing for a pod that is not in the queue. */
void sched_queue_nominate(struct sched_queue *q, const struct sched_pod *pod, struct str node);
/* Who is nominated where; borrowed, as long as the queue. */
const struct sched_nominator *sched_queue_nominator(const struct sched_queue *q);

const struct sched_queued *sched_queue_get(const struct sched_queue *q, struct str uid);
struct sched_queue_count {
    size_t active, backoff, unschedulable, gated, in_flight;
};
void sched_queue_count(const struct sched_queue *q, struct sched_queue_count *ret);
/* Every pod, in arbitrary order, with where it is ("active", "backoff", "unschedulable", "gated",
 * "in-flight"). */
void sched_queue_each(const struct sched_queue *q,
                      void (*each)(void *arg, const struct sched_queued *pod, const char *where),
                      void *arg);
/* pending_pods, unschedulable_pods, queue_incoming_pods_total, inflight_events and
 * pod_scheduled_after_flush_total, as upstream's. */
void sched_queue_metrics(const struct sched_queue *q, struct buf *out);
