/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work queue of one controller, with client-go's semantics: a key that is added several times
 * while it waits is processed once, a key has at most one worker at a time, and a key that is added
 * while it is processed is processed once more afterwards.
 *
 *                  add                 take                    finish DONE, nothing new
 *     (nothing) --------> READY ----------------> RUNNING ---------------------------> (nothing)
 *         |                 ^                      |  |
 *         | add_after       | its time             |  | finish AGAIN, FAILED
 *         `------------> WAITING <-----------------'--'    added meanwhile, or BACK: READY
 *
 * Three priorities, strictly in order, FIFO within each. A later add may raise a key's priority.
 * Delayed adds of a key share one timer, which is set to the earliest. Failures of a key delay it
 * by base * 2^n up to a maximum; all failures together pass a token bucket; the longer delay
 * applies (client-go's MaxOf limiter).
 *
 * Pure: no loop, no clock. Times are microseconds of one monotonic clock, passed in. A key costs
 * about 60 bytes and its name while it waits or runs; a queue at rest has no memory but its struct.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "client/work_timer.h"

enum {
    WORK_SLACK_MAX_MS = 60000,      /* since a percentage of sixty days would be days */
    WORK_QUEUE_MAX_KEYS = 1 << 18,  /* one controller; E_LIMIT beyond */
    WORK_QUEUES_MAX_KEYS = 1 << 21, /* of all queues together */
    /*
     * Additional keys for deleted objects, over either limit, since a list would not return them.
     * As many as a collection of the cache may have.
     */
    WORK_QUEUE_MAX_DELETED = 1 << 20,
    WORK_NAME_MAX = 253,        /* bytes of a name or of a namespace (DNS subdomain) */
    WORK_DELAY_MAX_MS_LOG2 = 40 /* longer waits are cut to 2^40 ms */
};

/* Why a key is reconciled: bit, text in the guest ABI (docs/guest-abi.md, section 4). */
#define WORK_REASONS(X)                                                                            \
    X(WORK_INITIAL, "initial")                                                                     \
    X(WORK_CREATE, "create")                                                                       \
    X(WORK_UPDATE, "update")                                                                       \
    X(WORK_DELETE, "delete")                                                                       \
    X(WORK_OWNED, "owned")                                                                         \
    X(WORK_MAPPED, "mapped")                                                                       \
    X(WORK_RESYNC, "resync")                                                                       \
    X(WORK_REQUEUE, "requeue")                                                                     \
    X(WORK_RETRY, "retry")                                                                         \
    X(WORK_ENQUEUE, "enqueue")                                                                     \
    X(WORK_CONFIG, "config")

enum work_reason {
#define WORK_REASON_ENUM(name, text) name,
    WORK_REASONS(WORK_REASON_ENUM)
#undef WORK_REASON_ENUM
        WORK_REASON_COUNT
};
const char *work_reason_name(enum work_reason reason);

enum work_priority { WORK_LOW, WORK_NORMAL, WORK_HIGH, WORK_PRIORITY_COUNT };

struct work_key {
    struct str namespace, name; /* namespace "" for cluster-scoped objects */
};

/* State shared by all queues of a process: timers, names of namespaces, the limit on keys. */
struct work_queues;
struct work_queues *work_queues_new(void);
/* Every queue must have been freed. */
void work_queues_free(struct work_queues *qs);
/* Other timers may use it to share the wake-up. */
struct work_timers *work_queues_timers(struct work_queues *qs);
size_t work_queues_n_keys(const struct work_queues *qs);

struct work_queue;
struct work_item; /* a key that was taken, until it is finished */

struct work_queue_opts {
    const char *name;                         /* of the controller, for error messages; kept */
    uint64_t backoff_base_us, backoff_max_us; /* 0: 5 ms, 1,000 s */
    double rate_per_second;                   /* of failures; 0: 10 */
    uint32_t rate_burst;                      /* 0: 100 */
    uint32_t slack_percent; /* of a delay, at most 100 and at most WORK_SLACK_MAX_MS */
    /*
     * An event (any add of normal or low priority) is delayed by this time so that further events
     * of its key are merged with it; the first event starts the time. 0: no delay.
     */
    uint64_t debounce_us;
    size_t max_keys; /* 0: WORK_QUEUE_MAX_KEYS */
    /* A key became ready, by an add, a finish or a timer. Must not change the queue. May be NULL.
     */
    void (*on_ready)(struct work_queue *q, void *arg);
    void *arg;
};

struct work_queue *work_queue_new(struct work_queues *qs, const struct work_queue_opts *opts);
/* Applies from now on; waits that have begun are unchanged. */
void work_queue_set(struct work_queue *q, const struct work_queue_opts *opts);
/* Drops waiting and running keys; their items become invalid. NULL is fine. */
void work_queue_free(struct work_queue *q);

/*
 * Add work for a key. Errors: -EINVAL (no name, or longer than WORK_NAME_MAX), E_LIMIT (too many
 * keys; for WORK_DELETE the limit is higher by WORK_QUEUE_MAX_DELETED: the key is dropped, and the
 * caller must list again).
 */
int work_queue_add(struct work_queue *q, struct work_key key, enum work_reason reason,
                   enum work_priority priority, uint64_t now_us, struct err *err);
/*
 * Add after a delay, which the queue's slack may extend. Of two delays for one key the earlier is
 * kept. An add without delay meanwhile does not cancel it. delay_us 0: as work_queue_add().
 */
int work_queue_add_after(struct work_queue *q, struct work_key key, enum work_reason reason,
                         enum work_priority priority, uint64_t delay_us, uint64_t now_us,
                         struct err *err);

/*
 * Take the next key; NULL: none is ready. This cancels a wait that an earlier finish (AGAIN,
 * FAILED) began, since this run's result replaces it. The item is valid until work_queue_finish().
 * ret_waited_us: time since it became ready, or was due. May be NULL.
 */
struct work_item *work_queue_take(struct work_queue *q, uint64_t now_us, uint64_t *ret_waited_us);

enum work_end {
    WORK_DONE,    /* reset its failures */
    WORK_AGAIN,   /* reset its failures, and process again after delay_us */
    WORK_FAILED,  /* process again after the back-off */
    WORK_REFUSED, /* permanent failure: not again until it is added */
    WORK_BACK     /* not processed: returned to the front of the queue, as before take */
};
/* "done", "again", "failed", "refused", "back" */
const char *work_end_name(enum work_end end);
/* Returns the delay after which the key is processed again (AGAIN, FAILED), else 0. */
uint64_t work_queue_finish(struct work_queue *q, struct work_item *item, enum work_end end,
                           uint64_t delay_us, uint64_t now_us);

struct work_task {
    struct work_key key; /* borrowed until the item is finished */
    uint32_t reasons;    /* 1 << enum work_reason */
    uint32_t attempt;    /* failures in a row */
};
void work_item_get(const struct work_item *item, struct work_task *ret);

/* Drop all keys that are not running. */
void work_queue_clear(struct work_queue *q);
size_t work_queue_depth(const struct work_queue *q); /* ready keys */
/* Ready keys with at least this priority. */
size_t work_queue_depth_of(const struct work_queue *q, enum work_priority least);
size_t work_queue_waiting(const struct work_queue *q); /* keys with a timer */
size_t work_queue_running(const struct work_queue *q);
bool work_queue_has(const struct work_queue *q, struct work_key key);
/* The earliest end of a wait, without slack; WORK_NEVER: none. */
uint64_t work_queue_next_due_us(const struct work_queue *q);

/*
 * Visit waiting keys for `describe`: the earliest first, otherwise unordered. fn returns false to
 * stop.
 */
struct work_wait {
    struct work_key key; /* borrowed for the call */
    uint32_t reasons;
    uint32_t attempt;
    uint64_t due_us; /* 0: ready now */
    bool is_running;
};

struct work_queue_stats {
    uint64_t adds;    /* counted as client-go does: merged adds are excluded */
    uint64_t retries; /* as in client-go: delayed adds and adds after a failure */
    uint64_t dropped; /* refused with E_LIMIT */
    size_t depth, waiting, running;
    uint64_t unfinished_us, longest_running_us;
};
void work_queue_get_stats(const struct work_queue *q, uint64_t now_us,
                          struct work_queue_stats *ret);
