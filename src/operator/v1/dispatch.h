/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the queues of operators to their guests and back (guest ABI v1, docs/guest-abi.md section
 * 4).
 *
 *     controllers' queues --> which operator is next? --> free instance --> payload --> activate
 *          ^      ^            (least CPU time for its weight)                             |
 *          |      `---- back-off, requeue after, done <---- result, trap, loss <-----------'
 *     events (controller.h), enqueue, resync
 *
 * An operator's queues outlive its guests: between two of them keys wait here. A key is never
 * active twice; an instance has one activation at a time. An operator hands out nothing while
 * something holds it (enum dispatch_hold), and `drained` tells when the running activations have
 * ended.
 *
 * Fairness: activations are started in the order of the CPU time that operators have used, divided
 * by their weight, and no more than `max_busy` are on their way to or in runners at once, so that
 * one with 10,000 keys is a small step ahead of one with a single key, never its length. An
 * activation that is parked in a host call does not count as busy.
 *
 * Guests are reached through dispatch_ops alone. Loop thread only; ops are called from the loop,
 * never inside a call made here, except where one says so. They must not free or declare.
 */
#pragma once

#include "base/buf.h"
#include "io/loop.h"
#include "operator/work_queue.h"

struct dispatch;
struct dispatch_operator;

enum {
    DISPATCH_BUSY_PER_RUNNER = 16, /* activations on their way to or in one runner */
    DISPATCH_ACTIVE_MAX = 1024,    /* all activations, parked ones too */
    DISPATCH_ACTIVE_PER_OPERATOR =
        32,                        /* of one operator: half of what one runner can have parked */
    DISPATCH_CONTROLLERS_MAX = 32, /* of one operator (docs/guest-abi.md, section 9) */
    DISPATCH_CONFIGS_MAX = 16,     /* the same */
    DISPATCH_INSTANCES_MAX = 64,   /* of one operator */
    DISPATCH_INSTANCE_IDLE_MS = 30000, /* an instance beside the first ends after this long idle */
    DISPATCH_OBJECT_MAX_BYTES = 256 << 10, /* a larger one is left out of the activation */
    DISPATCH_REFILL = 1024,                /* keys of a first list or resync that wait at once */
    DISPATCH_METRICS_DETAILED = 2000, /* with more active controllers histograms have no buckets */
    DISPATCH_WEIGHT_DEFAULT = 100
};

struct dispatch_opts {
    unsigned runners;         /* 0: one per core */
    uint64_t (*now_us)(void); /* NULL: the monotonic clock; for tests */
};
struct dispatch *dispatch_new(struct loop *loop, const struct dispatch_opts *opts);
/* Every operator must have been freed; not from a callback. NULL is fine. */
void dispatch_free(struct dispatch *d);
/* Prometheus text of all controllers, with controller-runtime's names. */
void dispatch_metrics(const struct dispatch *d, struct buf *to);

/* What became of one activation; for logs, status, traces. Borrowed for the call. */
struct dispatch_result {
    unsigned instance;
    const char *controller; /* NULL: a configuration's */
    struct work_task task;  /* its key's name is the configuration's then */
    enum work_end end;
    uint64_t delay_ms;  /* AGAIN; FAILED: until it is tried again */
    struct str message; /* what the guest or the host says of a failure */
    bool trapped;       /* or its runner was lost, or it was ended by its limits */
    uint64_t work_us;   /* begun to ended */
    uint64_t busy_us;   /* of these not parked in host calls */
};

/* An operator's own half: its cache, its guests. arg: of the operator. */
struct dispatch_ops {
    /*
     * Append the primary of a key, one JSON object. -ENOENT: it is not there (null); -EAGAIN: it
     * takes a read, which is for activate(). What is appended then, or is larger than
     * DISPATCH_OBJECT_MAX_BYTES, is left out.
     */
    int (*object)(void *arg, unsigned controller, struct work_key key, struct buf *to);
    /*
     * Begin an activation, by guest_activate(); dispatch_activated() or dispatch_instance_gone()
     * must follow, later. payload is borrowed for the call. lacks_object: object() has answered
     * -EAGAIN; dispatch_add_object() adds what a read brings. -ESTALE: the guest is gone, and the
     * instance useless until it is ready anew. Other errors: tried again after a second.
     */
    int (*activate)(void *arg, unsigned instance, uint64_t token, struct str payload,
                    bool lacks_object, struct err *err);
    /*
     * Start another instance (never 0); dispatch_instance_ready() follows when it has declared, or
     * dispatch_instance_gone(). NULL: there is only one.
     */
    int (*instance_start)(void *arg, unsigned instance, struct err *err);
    /* Not needed any more; it is gone for dispatch when this returns. */
    void (*instance_end)(void *arg, unsigned instance);
    /*
     * A first list or resync goes on, or (anew) begins: add at most `room` keys of it with WORK_LOW
     * by dispatch_add(), inside this call. Returns whether there are more. NULL: never asked.
     */
    bool (*refill)(void *arg, unsigned controller, bool anew, size_t room);
    /* CPU time of an instance's guest so far. NULL: the time until it answers counts instead. */
    uint64_t (*cpu_us)(void *arg, unsigned instance);
    /* From dispatch_activated() and dispatch_instance_gone(). May be NULL. */
    void (*on_result)(void *arg, const struct dispatch_result *result);
};

/*
 * A payload that lacks its object, with it; object.n 0: there is none (null). One larger than
 * DISPATCH_OBJECT_MAX_BYTES is left out: the guest reads it.
 */
void dispatch_add_object(struct str payload, struct str object, struct buf *to);

/* name: "namespace/name", for the label `operator`; kept, as ops is. It begins held by
 * DISPATCH_HOLD_START. */
struct dispatch_operator *dispatch_operator_new(struct dispatch *d, const char *name,
                                                const struct dispatch_ops *ops, void *arg);
/* Its keys are dropped, running activations forgotten. No call of ops any more. NULL is fine. */
void dispatch_operator_free(struct dispatch_operator *o);
/* CPU share against the others', 1 to 10,000. */
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
 * What a guest has declared. Controllers are known by their position from now on. One whose name
 * was declared before keeps its queue, so that keys survive the replacement of a guest; others'
 * keys are dropped. Nothing may be running. Errors: E_LIMIT.
 */
int dispatch_declare(struct dispatch_operator *o,
                     const struct dispatch_controller_opts *controllers, size_t n,
                     unsigned instances, struct err *err);

/* ---- work ---- */

/*
 * Errors: -EINVAL (work_queue_add()); E_LIMIT: the queue is full, the key is dropped, and when
 * there is room again the controller is listed anew by ops.refill, as after dispatch_refill().
 */
int dispatch_add(struct dispatch_operator *o, unsigned controller, struct work_key key,
                 enum work_reason reason, enum work_priority priority, struct err *err);
int dispatch_add_after(struct dispatch_operator *o, unsigned controller, struct work_key key,
                       enum work_reason reason, enum work_priority priority, uint64_t delay_ms,
                       struct err *err);
/*
 * There is a list to work through from its beginning: ops.refill is called, first with `anew`,
 * whenever few keys of low priority wait. So a first list costs no more than DISPATCH_REFILL keys.
 */
void dispatch_refill(struct dispatch_operator *o, unsigned controller);
/* Tell every instance that configuration `index` (called `name`; copied) has changed. */
void dispatch_config(struct dispatch_operator *o, unsigned index, const char *name);

/* ---- when not to ---- */

enum dispatch_hold {
    DISPATCH_HOLD_START,   /* no guest has declared yet */
    DISPATCH_HOLD_SYNC,    /* caches or required configurations are not there yet */
    DISPATCH_HOLD_PAUSED,  /* by its user */
    DISPATCH_HOLD_LEADER,  /* another host leads */
    DISPATCH_HOLD_REPLACE, /* its guest is being replaced */
    DISPATCH_HOLD_STOP     /* the host is being stopped */
};
void dispatch_hold(struct dispatch_operator *o, enum dispatch_hold why);
void dispatch_release(struct dispatch_operator *o, enum dispatch_hold why);
/* The same for one controller, for instance until its primary's cache is synced. */
void dispatch_hold_controller(struct dispatch_operator *o, unsigned controller, bool held);
/*
 * Call done() once, from the loop, when no activation runs. Together with a hold this is a drain.
 * One at a time; a second call replaces the first. done NULL: no longer.
 */
void dispatch_on_drained(struct dispatch_operator *o, void (*done)(void *arg), void *arg);

/* ---- what guests say ---- */

/* The instance has declared and may be activated, asleep or awake. */
void dispatch_instance_ready(struct dispatch_operator *o, unsigned instance);
/*
 * It failed (why: borrowed) and will be ready again: its key counts as failed. why NULL: it was
 * ended, and its key goes back as it was.
 */
void dispatch_instance_gone(struct dispatch_operator *o, unsigned instance, const struct err *why);
/*
 * For guest_ops.on_activated: value is one that the ABI knows, message what fail_message() said. A
 * token that is not the instance's current one is ignored.
 */
void dispatch_activated(struct dispatch_operator *o, unsigned instance, uint64_t token,
                        int64_t value, struct str message);
/* Its activation waits for a host call, or goes on. */
void dispatch_parked(struct dispatch_operator *o, unsigned instance, bool parked);
/* The running activation of an instance; false: none. */
bool dispatch_current(const struct dispatch_operator *o, unsigned instance,
                      unsigned *ret_controller, struct work_task *ret);

/* ---- looking at it ---- */

/* Loop time of the next wait that ends (WORK_NEVER: none), or now if a key is ready: when a guest
 * will be needed next. */
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
/* Borrowed until the next declaration; for depth and work_queue_each(). */
const struct work_queue *dispatch_queue(const struct dispatch_operator *o, unsigned controller);
