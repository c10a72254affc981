/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dispatches keys from the queues of operators to their guests, and their results back (guest ABI
 * v1, docs/guest-abi.md section 4).
 *
 *     controllers' queues --> which operator is next? --> free instance --> payload --> activate
 *          ^      ^            (least CPU time for its weight)                             |
 *          |      `---- back-off, requeue after, done <---- result, trap, loss <-----------'
 *     events (interests.h), enqueue, resync
 *
 * An operator's queues outlive its guests: keys wait here while there is no guest. A key is never
 * active twice; an instance has one activation at a time. A held operator (enum dispatch_hold)
 * starts no activation, and dispatch_on_drained() reports when the running ones have ended.
 *
 * Fairness: activations start in the order of the CPU time that operators have used, divided by
 * their weight, and at most `max_busy` are on their way to runners or in them at once. So an
 * operator with 10,000 keys delays one with a single key by a short time, not by the length of its
 * queue. An activation that is parked in a host call does not count as busy.
 *
 * Guests are only reached through dispatch_ops. Loop thread only; ops are called from the loop,
 * never inside a call made here, unless their comment says so. Ops must not free operators or
 * declare.
 */
#pragma once

#include "base/buf.h"
#include "client/work_queue.h"
#include "io/loop.h"

struct dispatch;
struct dispatch_operator;

enum {
    DISPATCH_BUSY_PER_RUNNER = 16, /* activations on their way to one runner or in it */
    DISPATCH_ACTIVE_MAX = 1024,    /* all activations, parked ones included */
    DISPATCH_ACTIVE_PER_OPERATOR =
        32,                        /* of one operator: half of what one runner can hold parked */
    DISPATCH_CONTROLLERS_MAX = 32, /* of one operator (docs/guest-abi.md, section 9) */
    DISPATCH_CONFIGS_MAX = 16,     /* the same */
    DISPATCH_INSTANCES_MAX = 64,   /* of one operator */
    DISPATCH_INSTANCE_IDLE_MS = 30000,     /* an additional instance ends after this idle time */
    DISPATCH_OBJECT_MAX_BYTES = 256 << 10, /* a larger object is omitted from the payload */
    DISPATCH_REFILL = 1024,           /* keys of a first list or resync that are queued at once */
    DISPATCH_METRICS_DETAILED = 2000, /* with more active controllers, histograms have no buckets */
    DISPATCH_WEIGHT_DEFAULT = 100
};

struct dispatch_opts {
    unsigned runners;         /* 0: one per core */
    uint64_t (*now_us)(void); /* NULL: the monotonic clock; for tests */
};
struct dispatch *dispatch_new(struct loop *loop, const struct dispatch_opts *opts);
/* Every operator must have been freed; not from a callback. NULL is fine. */
void dispatch_free(struct dispatch *d);
/* Append Prometheus text of all controllers, with controller-runtime's names. */
void dispatch_metrics(const struct dispatch *d, struct buf *to);

/* The result of one activation; for logs, status, traces. Borrowed for the call. */
struct dispatch_result {
    unsigned instance;
    const char *controller; /* NULL: the activation was for a configuration */
    struct work_task task;  /* for a configuration, the key's name is the configuration's name */
    enum work_end end;
    uint64_t delay_ms;  /* AGAIN; FAILED: time until the next attempt */
    struct str message; /* the failure's message, from the guest or the host */
    bool trapped;       /* trapped, or its runner was lost, or it exceeded its limits */
    uint64_t work_us;   /* from its begin to its end */
    uint64_t busy_us;   /* work_us without the time parked in host calls */
};

/* The operator's side: its cache and its guests. arg: of the operator. */
struct dispatch_ops {
    /*
     * Append the primary of a key as one JSON object. -ENOENT: it does not exist (null); -EAGAIN:
     * activate() has to read it. In both cases, and over DISPATCH_OBJECT_MAX_BYTES, the appended
     * bytes are discarded.
     */
    int (*object)(void *arg, unsigned controller, struct work_key key, struct buf *to);
    /*
     * Begin an activation by guest_activate(); dispatch_activated() or dispatch_instance_gone()
     * must follow, later. payload is borrowed for the call.
     *
     * lacks_object: object() returned -EAGAIN; dispatch_add_object() inserts the object once it is
     * read.
     * Errors: -ESTALE: the guest is gone, and the instance unusable until it is ready again. Other
     * errors: retried after a second.
     */
    int (*activate)(void *arg, unsigned instance, uint64_t token, struct str payload,
                    bool lacks_object, struct err *err);
    /*
     * Start another instance (never 0). dispatch_instance_ready() follows when it has declared,
     * else dispatch_instance_gone(). NULL: there is only one.
     */
    int (*instance_start)(void *arg, unsigned instance, struct err *err);
    /* End an instance that is no longer needed; for dispatch it is gone when this returns. */
    void (*instance_end)(void *arg, unsigned instance);
    /*
     * Continue a first list or resync, or begin it (is_new): add at most `room` of its keys with
     * WORK_LOW by dispatch_add(), inside this call. Returns whether there are more. NULL: never
     * called.
     */
    bool (*refill)(void *arg, unsigned controller, bool is_new, size_t room);
    /*
     * CPU time of an instance's guest so far. NULL: elapsed time until the result counts instead.
     */
    uint64_t (*cpu_us)(void *arg, unsigned instance);
    /* Called inside dispatch_activated() and dispatch_instance_gone(). May be NULL. */
    void (*on_result)(void *arg, const struct dispatch_result *result);
};

/*
 * Write a payload with its missing object inserted. object.n 0: it does not exist (null). An object
 * larger than DISPATCH_OBJECT_MAX_BYTES is omitted: the guest reads it.
 */
void dispatch_add_object(struct str payload, struct str object, struct buf *to);

/*
 * name: "namespace/name", for the label `operator`; kept, as is ops. The operator starts with the
 * hold DISPATCH_HOLD_START.
 */
struct dispatch_operator *dispatch_operator_new(struct dispatch *d, const char *name,
                                                const struct dispatch_ops *ops, void *arg);
/*
 * Its keys are dropped and running activations ignored. No op is called afterwards. NULL is fine.
 */
void dispatch_operator_free(struct dispatch_operator *o);
/* CPU share relative to other operators, 1 to 10,000. */
void dispatch_set_weight(struct dispatch_operator *o, unsigned weight);

struct dispatch_controller_opts {
    const char *name; /* kept until the next dispatch_declare() has returned */
    unsigned concurrency;
    uint32_t backoff_base_ms, backoff_max_ms; /* 0: the defaults of work_queue.h */
    double rate_per_second;
    uint32_t rate_burst;
    uint32_t slack_percent;
    uint32_t debounce_ms;
};
/*
 * Apply a guest's declaration. From now on controllers are identified by their index. A controller
 * whose name was declared before keeps its queue, so that keys survive the replacement of a guest;
 * keys of other controllers are dropped. No activation may be running. Errors: E_LIMIT.
 */
int dispatch_declare(struct dispatch_operator *o,
                     const struct dispatch_controller_opts *controllers, size_t n,
                     unsigned instances, struct err *err);

/* ---- work ---- */

/*
 * Errors: -EINVAL (work_queue_add()); E_LIMIT: the queue is full and the key was dropped. When
 * there is room again, ops.refill lists the controller from the beginning, as after
 * dispatch_refill().
 */
int dispatch_add(struct dispatch_operator *o, unsigned controller, struct work_key key,
                 enum work_reason reason, enum work_priority priority, struct err *err);
int dispatch_add_after(struct dispatch_operator *o, unsigned controller, struct work_key key,
                       enum work_reason reason, enum work_priority priority, uint64_t delay_ms,
                       struct err *err);
/*
 * Work through a list from its beginning: ops.refill is called, the first time with `is_new`,
 * whenever few keys of low priority wait. So a first list never queues more than DISPATCH_REFILL
 * keys.
 */
void dispatch_refill(struct dispatch_operator *o, unsigned controller);
/* Notify every instance that configuration `index` (called `name`; copied) has changed. */
void dispatch_config(struct dispatch_operator *o, unsigned index, const char *name);

/* ---- when not to ---- */

enum dispatch_hold {
    DISPATCH_HOLD_START,   /* no guest has declared */
    DISPATCH_HOLD_SYNC,    /* caches or required configurations are not synced */
    DISPATCH_HOLD_PAUSED,  /* paused by its user */
    DISPATCH_HOLD_LEADER,  /* another host leads */
    DISPATCH_HOLD_REPLACE, /* its guest is being replaced */
    DISPATCH_HOLD_STOP     /* the host is stopping */
};
void dispatch_hold(struct dispatch_operator *o, enum dispatch_hold why);
void dispatch_release(struct dispatch_operator *o, enum dispatch_hold why);
/* Hold one controller, for instance until its primary's cache is synced. */
void dispatch_hold_controller(struct dispatch_operator *o, unsigned controller, bool held);
/*
 * Run done() once, from the loop, when no activation is running. Together with a hold this is a
 * drain. Only one at a time: a second call replaces the first. done NULL: cancel.
 */
void dispatch_on_drained(struct dispatch_operator *o, void (*done)(void *arg), void *arg);

/* ---- what guests say ---- */

/* The instance has declared and may be activated, asleep or awake. */
void dispatch_instance_ready(struct dispatch_operator *o, unsigned instance);
/*
 * The instance failed (why: borrowed) and will be ready again: its key counts as failed. why NULL:
 * it was ended on purpose, and its key returns to the queue unchanged.
 */
void dispatch_instance_gone(struct dispatch_operator *o, unsigned instance, const struct err *why);
/*
 * For guest_ops.on_activated: value is one that the ABI defines, message the text of
 * fail_message(). A token other than the instance's current one is ignored.
 */
void dispatch_activated(struct dispatch_operator *o, unsigned instance, uint64_t token,
                        int64_t value, struct str message);
/* The activation waits for a host call, or continues. */
void dispatch_parked(struct dispatch_operator *o, unsigned instance, bool parked);
/* The running activation of an instance; false: there is none. */
bool dispatch_current(const struct dispatch_operator *o, unsigned instance,
                      unsigned *ret_controller, struct work_task *ret);

/* ---- looking at it ---- */

/*
 * Loop time at which a guest is needed next: the earliest end of a wait (WORK_NEVER: none), or now
 * if a key is ready.
 */
uint64_t dispatch_next_due_ms(const struct dispatch_operator *o);

struct dispatch_view {
    uint32_t holds; /* 1 << enum dispatch_hold */
    unsigned n_controllers, instances_max, instances, active, parked;
    uint64_t activations, failures;
    size_t ready, waiting;
    const struct dispatch_last *last; /* NULL: never ran */
};
struct dispatch_last {
    unsigned controller;
    uint32_t reasons;
    uint64_t began_ms, work_us; /* loop time */
    enum work_end end;
    char key[]; /* "namespace/name" */
};
void dispatch_get_view(const struct dispatch_operator *o, struct dispatch_view *ret);
/* Borrowed until the next declaration; for depths. */
const struct work_queue *dispatch_queue(const struct dispatch_operator *o, unsigned controller);
