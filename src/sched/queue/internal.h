/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the queue share.
 *
 *     queue.c      the interface: put, delete, pop, back
 *     moves.c      which pods an event moves, and where to; PreEnqueue; time
 *     index.c      which plugins want which events; unschedulable pods by the plugins that refused
 *     heaps.c      the four orders: active, back-off, error back-off, unschedulable by time
 *     in_flight.c  events that arrived while pods were in flight
 */
#pragma once

#include "base/list.h"
#include "base/map.h"
#include "base/vec.h"
#include "sched/queue/queue.h"

/* ---- heaps ---- */

struct queued;
typedef bool (*pod_less_fn)(const struct queued *a, const struct queued *b);
struct pod_heap {
    VEC(struct queued *) items;
    pod_less_fn less;
};

/* ---- index ---- */

enum { ACTION_COUNT = 14 };
_Static_assert(SCHED_ALL_ACTIONS == (1 << ACTION_COUNT) - 1, "a bit for each action");

/* A plugin's interest in an event. */
struct interest {
    struct sched_event_reg reg;
    struct sched_plugin *plugin;
    uint64_t bit; /* bit of the plugin's position */
};

/* Pods that can be popped. */
struct queue_orders {
    struct pod_heap active, backoff;
};

/* What the queue computes for a profile when its first pod arrives. */
struct profile_index {
    const struct sched_profile *profile;
    struct sched_plugin *sort; /* QueueSort; NULL: first come, first served */
    VEC(struct interest) interests;
    uint64_t wants[SCHED_RESOURCE_COUNT][ACTION_COUNT]; /* plugins by position */
    uint64_t wants_wildcard;                            /* plugins that registered the wildcard */
    struct queue_orders *orders; /* the orders of its pods: the queue's, or its own (is_apart) */
};

/*
 * Unschedulable pods that every event treats alike: same profile, same plugins that refused, same
 * gate. An event checks a group once, so pods that no event moves cost nothing.
 */
struct queue_group {
    struct list pods; /* struct queued.in_group */
    const struct profile_index *profile;
    uint64_t rejectors; /* rejected_by | pending_by */
    uint64_t gate;      /* bit of the gating plugin; 0: not gated */
};

/* ---- pods ---- */

enum queue_place {
    IN_ACTIVE,
    IN_BACKOFF,
    IN_ERROR_BACKOFF,
    IN_UNSCHEDULABLE, /* gated ones too */
    IN_FLIGHT,
    IN_NOTHING, /* between two places */
};

/* A node in the list of in-flight events: a pod's mark, or an event. */
struct in_flight_node {
    struct list link;
    bool is_event;
};

struct queued {
    struct sched_queued pub;
    const struct sched_pod *newer; /* the current object, while an older one is in flight */
    const struct profile_index *profile;
    enum queue_place place;
    uint32_t heap_at;    /* 0: in no heap */
    uint64_t seq;        /* tie-breaker for equal added_ms */
    uint64_t backoff_ms; /* when its back-off ends, aligned; 0: none */
    uint64_t flush_ms;   /* when it is tried again without an event; UINT64_MAX: never */
    struct sched_plugin *gate;
    struct queue_group *group; /* of IN_UNSCHEDULABLE */
    struct list in_group;
    struct in_flight_node mark; /* its position among the events; if IN_FLIGHT */
    bool is_deleted;            /* in flight, and deleted meanwhile */
    bool lost_events;           /* in flight: not all of its events were kept */
    bool is_stale;              /* in flight for plugins that no longer exist */
};

/* ---- moves ---- */

enum queue_strategy { STAY, AFTER_BACKOFF, AT_ONCE };
struct queue_candidate {
    struct queued *pod;
    enum queue_strategy strategy;
};
struct matches {
    const struct interest **p;
    size_t n, cap;
};

/* ---- causes of moves, for metrics ---- */

#define CAUSES(X)                                                                                  \
    X(ATTEMPT_FAILED, "ScheduleAttemptFailure")                                                    \
    X(BACKOFF_ENDED, "BackoffComplete")                                                            \
    X(POPPED_EARLY, "PopFromBackoffQ")                                                             \
    X(ACTIVATED, "ForceActivate")                                                                  \
    X(TIMED_OUT, "UnschedulableTimeout")
enum cause_kind {
    BY_EVENT,
#define CAUSE_ENUM(id, label) BY_##id,
    CAUSES(CAUSE_ENUM)
#undef CAUSE_ENUM
        CAUSE_COUNT
};
/* The cause of a move, as the metrics label it. */
struct cause {
    enum cause_kind kind;
    enum sched_resource resource; /* of BY_EVENT */
    unsigned actions;             /* one bit */
    bool renominates;             /* the pod's status names its nominated node */
};
enum { INTO_ACTIVE, INTO_BACKOFF, INTO_UNSCHEDULABLE, INTO_COUNT };
struct queue_counters {
    uint64_t by_event[INTO_COUNT][SCHED_RESOURCE_COUNT][ACTION_COUNT];
    uint64_t by_kind[INTO_COUNT][CAUSE_COUNT];
    uint64_t placed_after_flush;
};

/* ---- the queue ---- */

struct sched_queue {
    struct sched_queue_opts opts;
    struct map pods; /* by uid: struct queued */
    struct queue_orders shared;
    struct pod_heap error_backoff, unschedulable;
    size_t n_gated, n_in_flight;
    VEC(struct profile_index *) profiles;
    VEC(struct queue_group *) groups;
    struct list in_flight; /* marks of pods, and events, in order of arrival */
    size_t n_events;
    struct sched_nominator nominator;
    struct arena arena;                     /* for PreEnqueue's statuses */
    VEC(struct queue_candidate) candidates; /* pods that an event moves; kept to reuse the memory */
    struct matches matches;                 /* likewise: the plugins that an event concerns */
    uint64_t next_seq;
    struct queue_counters counters;
};

/* heaps.c */
bool queue_less_active(const struct queued *a, const struct queued *b);
bool queue_less_backoff(const struct queued *a, const struct queued *b);
bool queue_less_error_backoff(const struct queued *a, const struct queued *b);
bool queue_less_flush(const struct queued *a, const struct queued *b);
void queue_heap_add(struct pod_heap *h, struct queued *p);
void queue_heap_remove(struct pod_heap *h, struct queued *p);
void queue_heap_fix(struct pod_heap *h, struct queued *p); /* after its order may have changed */
static inline struct queued *queue_heap_first(const struct pod_heap *h)
{
    return h->items.n ? h->items.p[0] : NULL;
}
void queue_orders_init(struct queue_orders *o);
void queue_orders_fini(struct queue_orders *o);

/* index.c */
/* NULL: no profile has this scheduler name. */
const struct profile_index *queue_profile_index_of(struct sched_queue *q,
                                                   struct str scheduler_name);
void queue_profile_indices_fini(struct sched_queue *q);
/* Plugins of a profile that want one of the event's actions. */
uint64_t queue_profile_wants(const struct profile_index *x, const struct sched_event *event);
static inline bool event_is_wildcard(const struct sched_event *e)
{
    return e->resource == SCHED_ON_WILDCARD && e->actions == SCHED_ALL_ACTIONS;
}
void queue_group_add(struct sched_queue *q, struct queued *p);
void queue_group_remove(struct queued *p);
void queue_groups_fini(struct sched_queue *q);

/* in_flight.c */
void in_flight_begin(struct sched_queue *q, struct queued *p);
void in_flight_end(struct sched_queue *q, struct queued *p);
void in_flight_event(struct sched_queue *q, const struct sched_event *event);
/*
 * Calls `each` for every event since the pod was popped, until it returns true; returns the last
 * result.
 */
bool in_flight_since(const struct queued *p, const struct sched_queue *q,
                     bool (*each)(void *arg, const struct sched_event *event), void *arg);
/* Calls `each` for all kept events. */
void in_flight_each(const struct sched_queue *q,
                    void (*each)(void *arg, const struct sched_event *event), void *arg);
void in_flight_lose(struct sched_queue *q);
void in_flight_fini(struct sched_queue *q);

/* metrics.c */
void queue_count_incoming(struct sched_queue *q, unsigned into, const struct cause *why);

/* moves.c */
enum queue_strategy queue_strategy_of(struct sched_queue *q, const struct queued *p,
                                      const struct sched_event *event);
enum queue_strategy queue_strategy_in_flight(struct sched_queue *q, const struct queued *p);
/* Puts a pod in IN_NOTHING where the strategy says; a gate may hold it. */
void queue_requeue(struct sched_queue *q, struct queued *p, enum queue_strategy s,
                   const struct cause *why, uint64_t now_ms);
void move_to_active(struct sched_queue *q, struct queued *p, const struct cause *why,
                    bool skips_gates, uint64_t now_ms);
/* Removes the pod from its heap or group; an IN_FLIGHT pod stays in the list of events. */
void queue_take_out(struct sched_queue *q, struct queued *p);
bool queue_is_backing_off(const struct queued *p, uint64_t now_ms);
uint64_t queue_backoff_end(const struct sched_queue *q, const struct queued *p);

/* queue.c: references */
const struct sched_pod *queue_pod_ref(const struct sched_pod *pod);
void queue_pod_unref(struct sched_queue *q, const struct sched_pod *pod);
