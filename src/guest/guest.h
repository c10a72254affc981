/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guests as the main process sees them: records, delivery queues, sleep and wake, runner processes.
 *
 * The main process holds no engine: a guest runs in a runner process. This module starts, feeds,
 * watches and ends runners, decides in which runner a guest runs, and when it sleeps. The service
 * that made the guest implements the outer half of the ABI (HTTP, watches, timers): it receives the
 * operations that the guest started and delivers their completions.
 *
 *                 start              done                idle, pressure
 *     COLD ------------> RUNNING <------------> AWAKE ------------------> ASLEEP
 *       ^                  |  \ deliver                      deliver (wake)  |
 *       |                  |   `<-------------------------------------------'
 *       | back-off         v trap, limit, runner lost
 *       `-------------- FAILED
 *
 * Loop thread only. A guest's callbacks run from the loop, never inside a call made on it.
 */
#pragma once

#include "base/err.h"
#include "base/histogram.h"
#include "base/str.h"
#include "guest/module.h"
#include "io/loop.h"
#include "wasm/abi.h"

struct guest_host;
struct runner_pool;
struct guest;

enum guest_state { GUEST_COLD, GUEST_RUNNING, GUEST_AWAKE, GUEST_ASLEEP, GUEST_FAILED };

enum {
    GUEST_MEMORY_MAX_DEFAULT = 64 << 20, /* bound of linear memory and of the swap file */
    GUEST_ACTIVATION_MS_DEFAULT =
        2000, /* CPU time of one activation; the epoch interrupt stops it after this */
    GUEST_ACTIVATION_MS_MAX = 600000,
    GUEST_QUEUE_MAX_EVENTS =
        4096, /* deliveries waiting for one guest: -EBUSY beyond, and sources pause */
    GUEST_QUEUE_MAX_BYTES = 8 << 20,
    GUEST_OPS_MAX = 1024,               /* outstanding operations; one more traps the guest */
    GUEST_MESSAGE_MAX_BYTES = 64 << 10, /* larger payloads travel in sealed memfds */
    GUEST_PAYLOAD_MAX_BYTES = 16 << 20, /* one request or delivery */
    GUEST_CALL_MS_MAX = 310000, /* a parked call times out after this long without guest_reply() */
    GUEST_ACTIVATION_WALL_MS_MAX = 600000, /* an activation fails after this, waits included */
    GUEST_BACKOFF_FIRST_MS = 1000,         /* before the restart after a failure; doubles */
    GUEST_BACKOFF_MAX_MS = 300000,
    GUEST_BACKOFF_RESET_MS = 600000 /* without failure for this long: first back-off again */
};

struct guest_host_opts {
    const char *swap_dir;        /* directory of swap files; created with mode 0700 */
    struct runner_pool *runners; /* kept; the pool of the process, in which guests open a class */
    uint64_t swap_quota_bytes;   /* total of all swap files, never exceeded; 0: 1 GiB */
    uint64_t
        idle_ms; /* sleep after this long without work while the cost model has no data; 0: 1000 */
    bool sleep_always;  /* hibernate after every activation (benchmark) */
    bool sleep_never;   /* never hibernate (benchmark) */
    bool force_pagemap; /* find dirty pages by /proc/self/pagemap instead of PAGEMAP_SCAN (test) */
    unsigned max_runners; /* 0: one per core */
};

int guest_host_new(struct loop *loop, const struct guest_host_opts *opts, struct guest_host **ret,
                   struct err *err);
/*
 * Prepare a shutdown after which another process continues: start nothing new and put guests of V1
 * to sleep. The snapshots of sleeping guests then outlive guest_free() and this process, however it
 * ends. done() runs once, within 2 s. A process that is killed without this call leaves the
 * snapshots of the guests that slept.
 *
 * When a guest is started for the first time in a process, it resumes from the snapshot of an
 * earlier process if names, uid, generation, module, arguments, environment, limits, engine and
 * boot of the machine are the same. Its service gets on_call() with DECLARE as at any start, and
 * answers it: 0 makes the guest ASLEEP instead of AWAKE, any other value starts it from the
 * beginning, with another DECLARE.
 */
void guest_host_drain(struct guest_host *h, void (*done)(void *arg), void *arg);
/*
 * Put awake guests to sleep (2 s, then by force) and end their runners; done() runs last. The
 * caller frees all guests before done() or in it.
 */
void guest_host_close(struct guest_host *h, void (*done)(void *arg), void *arg);

struct guest_spec {
    const char *namespace, *name; /* copied; for listing and logs */
    const char *uid;              /* names the swap file together with generation and module hash */
    uint64_t generation;
    enum guest_abi abi;
    struct module *module;       /* referenced until the guest is freed */
    const struct guest_env *env; /* copied */
    size_t n_env;
    const struct str *args; /* copied */
    size_t n_args;
    uint64_t memory_max_bytes; /* 0: GUEST_MEMORY_MAX_DEFAULT */
    uint64_t activation_ms;    /* 0: GUEST_ACTIVATION_MS_DEFAULT */
    uint64_t idle_ms;          /* 0: the host's idle_ms */
    uint64_t swap_max_bytes;   /* of its swap file: beyond it the guest stays awake; 0: no limit */
    uint32_t log_lines_per_s;  /* 0: 200, with a burst of 1,000 */
    bool log_debug;            /* V1: log lines of level 0 too */
};

/* One operation that the guest started during an activation. Reported in the order of the ids. */
struct guest_op {
    enum { GUEST_OP_REQUEST, GUEST_OP_DELAY, GUEST_OP_WATCH } kind;
    uint64_t id;
    uint32_t incarnation;
    bool stream;        /* REQUEST: deliver the body in pieces */
    uint64_t delay_ms;  /* DELAY */
    struct str payload; /* REQUEST: HttpRequest, WATCH: WatchRequest, bincode; borrowed;
                           NOT validated, the receiver must check it */
};

/*
 * V1: a call that parks. The guest waits until guest_reply(), which may be called inside on_call()
 * or later. A guest has at most one parked call. The strings are borrowed and NOT validated; only
 * their sizes are within the limits of abi.h.
 */
struct guest_call {
    uint64_t id;
    uint32_t incarnation;
    uint64_t token; /* of the activation that makes the call; 0 for DECLARE */
    enum guest_call_kind kind;
    struct str head; /* DECLARE: the declaration; API_REQUEST: the head; reads: the query or name */
    struct str body; /* API_REQUEST */
};

/* V1: a posted call, which the guest does not wait for. Reported in the order of the calls. */
struct guest_post {
    enum guest_post_kind kind;
    uint32_t incarnation;
    uint64_t token;  /* as above; 0 while the guest starts */
    uint32_t number; /* LOG: the level, 0 to 3; METRIC: its index */
    double value;    /* METRIC */
    struct str head; /* LOG: text; ENQUEUE, EVENT: the object; METRIC: labels */
    struct str body; /* LOG: key-values */
};

/* A limit that held the guest back without failing it. */
enum guest_limit { GUEST_LIMIT_SWAP, GUEST_LIMIT_LOG };

struct guest_ops {
    /*
     * Runs when the activation that started the operation has ended, after on_state().
     * The id stays outstanding until a delivery with last = true.
     */
    void (*on_op)(struct guest *g, const struct guest_op *op, void *arg);
    /* The queue has room again after guest_deliver() returned -EBUSY. */
    void (*on_room)(struct guest *g, void *arg);
    /*
     * Runs on each change of state; FAILED carries the reason. When the incarnation has grown,
     * every outstanding operation of the old one is dead: deliveries to it are refused with
     * -ESTALE.
     */
    void (*on_state)(struct guest *g, enum guest_state state, const struct err *why, void *arg);
    /* One line of the guest's standard output (1) or error (2), without newline, rate-limited. */
    void (*on_log)(struct guest *g, int fd, struct str line, void *arg);

    /*
     * A limit of the spec was hit. figure: bytes that the guest would have needed, or lines that
     * were dropped. May be NULL.
     */
    void (*on_limit)(struct guest *g, enum guest_limit which, uint64_t figure, void *arg);

    /*
     * The guest should sleep and cannot. E_LIMIT: the host's swap quota is used up; other codes:
     * its swap file could not be created or written. NULL: it can sleep again. Runs once for each
     * code. Must not free the guest. May be NULL.
     */
    void (*on_kept_awake)(struct guest *g, const struct err *why, void *arg);

    /*
     * The rest concerns V1 only. A guest calls DECLARE once while it starts, before it becomes
     * AWAKE or ASLEEP for the first time. If its start fails, FAILED follows with a reason of its
     * own.
     */
    void (*on_call)(struct guest *g, const struct guest_call *c, void *arg);
    /*
     * Runs when the activation has ended or makes a parked call, before that is reported. Log lines
     * count in the rate limit of on_log.
     */
    void (*on_post)(struct guest *g, const struct guest_post *p, void *arg);
    /*
     * The activation returned `result`, a value that the ABI defines. message: the text of
     * fail_message(), or "".
     */
    void (*on_activated)(struct guest *g, uint64_t token, uint32_t incarnation, int64_t result,
                         struct str message, void *arg);
};

int guest_new(struct guest_host *h, const struct guest_spec *spec, const struct guest_ops *ops,
              void *arg, struct guest **ret, struct err *err);
/*
 * Another guest of the same spec, for an operator that runs several instances at a time. number:
 * from 1, identifies the instance. The new guest shares only the module with `of`, and may outlive
 * it.
 */
int guest_new_instance(const struct guest *of, unsigned number, const struct guest_ops *ops,
                       void *arg, struct guest **ret, struct err *err);
/* End the guest in any state and remove its queue and swap file. No callback runs afterwards. */
void guest_free(struct guest *g);
/* Begin the first activation (_start or run). */
int guest_start(struct guest *g, struct err *err);

struct guest_delivery {
    uint64_t id;
    uint32_t incarnation;
    bool finished;      /* G2: the `finished` argument; G1: ignored */
    bool last;          /* the id is dead after this delivery */
    bool null;          /* pass ptr == 0 (no value); an empty payload has a non-null one */
    struct str payload; /* copied */
};
/*
 * Queue a completion and wake the guest. Deliveries are FIFO per id, and round robin over the ids
 * that have some. Errors: -EBUSY (queue full, nothing taken, on_room follows), -ESTALE (old
 * incarnation, or the id is not outstanding).
 */
int guest_deliver(struct guest *g, const struct guest_delivery *d, struct err *err);

/*
 * V1: queue one activation and wake the guest. Activations run FIFO, one at a time. May be called
 * before the guest has started.
 *
 * payload: copied; the guest reads it as result bytes.
 * token: chosen by the caller, not 0.
 *
 * on_activated follows, or on_state with another incarnation: then this activation and all others
 * that have not been reported are dead, whether or not they had begun.
 * Errors: -EBUSY (queue full, nothing taken, on_room follows), -EMSGSIZE, -ENOMEM.
 */
int guest_activate(struct guest *g, uint64_t token, struct str payload, struct err *err);
/*
 * V1: answer a parked call. bytes: copied, the result that the guest reads; value: what the call
 * returns.
 * Errors: -ESTALE, the call is no longer outstanding; -EMSGSIZE over GUEST_PAYLOAD_MAX_BYTES (the
 * caller then answers with an error).
 */
int guest_reply(struct guest *g, uint64_t call_id, uint32_t incarnation, int64_t value,
                struct str bytes, struct err *err);
/*
 * V1: the guest's memory need not be kept. It then sleeps by ending, and wakes by starting (and
 * declaring) again, in the same incarnation.
 */
void guest_set_stateless(struct guest *g, bool is_stateless);
/* V1: takes effect with the next activation. */
void guest_set_log_debug(struct guest *g, bool wanted);
/*
 * Hint that the service expects work at this time of the loop's clock, as when a timer is due; 0:
 * no longer. A guest that wakes slowly is woken before that time, and no guest stays awake for a
 * time that is far off. The latest hint counts; the first activation after it clears it.
 */
void guest_expect(struct guest *g, uint64_t loop_ms);
/* Sleep now if the guest is awake and idle; for tests and `sleep_always`. -EBUSY otherwise. */
int guest_sleep(struct guest *g);
/*
 * End the current incarnation with this reason, as if it had trapped (the service saw a violation
 * of the protocol).
 */
void guest_fail(struct guest *g, const struct err *why);

enum guest_state guest_state(const struct guest *g);
const char *guest_state_name(
    enum guest_state state); /* "Cold", "Running", "Awake", "Asleep", "Failed" */

struct guest_stats {
    const char *namespace, *name;
    enum guest_abi abi;
    enum guest_state state;
    uint32_t incarnation;
    uint64_t memory_bytes;   /* linear memory */
    uint64_t resident_bytes; /* dirty pages plus 14 KiB while awake, else 0 */
    uint64_t swap_bytes;     /* blocks of the swap file */
    uint64_t activations, wakes, suspends, restarts;
    uint64_t wakes_ahead; /* of `wakes`: those before there was work */
    uint64_t wake_us_last, wake_us_p50,
        wake_us_p99; /* of wakes only: from the decision to deliver until DONE was read */
    uint64_t queued, outstanding;
    uint64_t cpu_us; /* of all its activations, wakes and suspends */
    bool is_parked;  /* V1: parked until guest_reply() */
    bool is_slow;    /* V1: its activations take long; it shares a runner with other slow guests */
    bool dissolvable;
    char last_error[200];
};
void guest_get_stats(const struct guest *g, struct guest_stats *ret);
/* Visit all guests; fn must not free guests. */
void guest_host_each(struct guest_host *h, void (*fn)(struct guest *g, void *arg), void *arg);

/* As guest_stats.cpu_us; cheap. */
uint64_t guest_cpu_us(const struct guest *g);

enum { GUEST_WAKE_BOUNDS = 12 };
/* Durations of wakes, in us. Wakes ahead of work are counted (n) without a duration. */
struct guest_wake_times {
    HISTOGRAM_FIELDS(uint64_t, GUEST_WAKE_BOUNDS);
};
extern const struct histogram_kind guest_wake_kind;
struct guest_host_stats {
    unsigned runners, guests, awake, asleep, failed;
    unsigned commands; /* sent to runners and not yet answered */
    uint32_t confined; /* of runners, as in struct confine_report (wasm/confine.h) */
    uint64_t runner_starts, runner_losses, wakes, suspends, activations;
    struct guest_wake_times wake_us;
};
void guest_host_get_stats(const struct guest_host *h, struct guest_host_stats *ret);
/* Put every idle guest to sleep now, as under memory pressure. Returns how many. */
unsigned guest_host_relieve(struct guest_host *h);
/* Process ids of the runners, for accounting and tests; returns how many were stored. */
size_t guest_host_pids(const struct guest_host *h, int *ret, size_t max);
