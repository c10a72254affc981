/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guests as the main process sees them: records, delivery queues, sleep and wake, runner processes.
 *
 * The main process holds no engine. A guest runs in a runner process; this
 * module starts, feeds, watches and ends runners, decides where a guest goes, and when it sleeps.
 * The ABI half that meets the outside (HTTP, watches, timers) belongs to the service that made the
 * guest: it gets the operations a guest started and delivers their completions.
 *
 *                 start             on_done              idle, pressure
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
    GUEST_MEMORY_MAX_DEFAULT = 64 << 20, /* linear memory, and so the swap file */
    GUEST_ACTIVATION_MS_DEFAULT =
        2000, /* CPU time of one activation: stopped by epoch after this */
    GUEST_ACTIVATION_MS_MAX = 600000,
    GUEST_QUEUE_MAX_EVENTS =
        4096, /* deliveries waiting for one guest: -EBUSY beyond, sources pause */
    GUEST_QUEUE_MAX_BYTES = 8 << 20,
    GUEST_OPS_MAX = 1024, /* operations outstanding at once; one more traps the guest */
    GUEST_MESSAGE_MAX_BYTES = 64 << 10, /* larger payloads travel in sealed memfds */
    GUEST_PAYLOAD_MAX_BYTES = 16 << 20, /* one request or delivery */
    GUEST_CALL_MS_MAX = 310000, /* a parked call without guest_reply() for so long times out, */
    GUEST_ACTIVATION_WALL_MS_MAX = 600000, /* an activation with all that it waited for fails */
    GUEST_BACKOFF_FIRST_MS = 1000,         /* restart after a failure; doubles */
    GUEST_BACKOFF_MAX_MS = 300000,
    GUEST_BACKOFF_RESET_MS = 600000 /* healthy this long: back to the first */
};

struct guest_host_opts {
    const char *swap_dir;        /* made with mode 0700; swap files of guests */
    struct runner_pool *runners; /* kept; of the process: guests get a class of it */
    uint64_t swap_quota_bytes;   /* of all swap files; 0: 1 GiB. Never exceeded */
    uint64_t
        idle_ms; /* sleep after this long without work when the cost model has no data; 0: 1000 */
    bool sleep_always;  /* hibernate after every activation (benchmark) */
    bool sleep_never;   /* (benchmark) */
    bool force_pagemap; /* find dirty pages by /proc/self/pagemap instead of PAGEMAP_SCAN (test) */
    unsigned max_runners; /* 0: one per core */
};

int guest_host_new(struct loop *loop, const struct guest_host_opts *opts, struct guest_host **ret,
                   struct err *err);
/*
 * Before a shutdown after which another process goes on: nothing new begins, guests of V1 fall
 * asleep, and the snapshots of those asleep outlive guest_free() and this process, which may end
 * in any way then. done() follows once, within 2 s. Without it a killed process leaves the
 * snapshots of those that slept.
 *
 * A guest that is started for the first time in a process goes on from the snapshot of an earlier
 * one when names, uid, generation, module, arguments, environment, limits, engine and boot of the
 * machine are the same: its service gets on_call() with DECLARE as at any start, and answers it; 0
 * makes it ASLEEP instead of AWAKE, anything else lets it start anew, with another DECLARE.
 */
void guest_host_drain(struct guest_host *h, void (*done)(void *arg), void *arg);
/* Dissolve what is awake (2 s, then by force), end its runners; done() last. Guests must be freed
 * before or by done. */
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
    uint64_t memory_max_bytes; /* 0: default */
    uint64_t activation_ms;    /* 0: default */
    uint64_t idle_ms;          /* 0: the host's */
    uint64_t swap_max_bytes;   /* of its swap file; it stays awake rather than exceed it. 0: any */
    uint32_t log_lines_per_s;  /* 0: 200, and 1,000 after silence */
    bool log_debug;            /* V1: lines of level 0 are wanted */
};

/* One operation that the guest started during an activation, in the order of the ids. */
struct guest_op {
    enum { GUEST_OP_REQUEST, GUEST_OP_DELAY, GUEST_OP_WATCH } kind;
    uint64_t id;
    uint32_t incarnation;
    bool stream;        /* REQUEST: body wanted in pieces */
    uint64_t delay_ms;  /* DELAY */
    struct str payload; /* REQUEST: HttpRequest, WATCH: WatchRequest, bincode; borrowed;
                           NOT validated, the receiver must check it */
};

/*
 * V1: a call that parks. Its guest waits until guest_reply(), which may be called at once, from
 * on_call(), or later. One per guest. The strings are borrowed and NOT validated; only their
 * sizes are within the limits of abi.h.
 */
struct guest_call {
    uint64_t id;
    uint32_t incarnation;
    uint64_t token; /* of the activation that makes it; 0 for DECLARE */
    enum guest_call_kind kind;
    struct str head; /* DECLARE: the declaration; API_REQUEST: the head; reads: the query or name */
    struct str body; /* API_REQUEST */
};

/* V1: a posted call, in the order in which they were made. */
struct guest_post {
    enum guest_post_kind kind;
    uint32_t incarnation;
    uint64_t token;  /* as above; 0 while the guest starts */
    uint32_t number; /* LOG: the level, 0 to 3; METRIC: its index */
    double value;    /* METRIC */
    struct str head; /* LOG: text; ENQUEUE, EVENT: the object; METRIC: labels */
    struct str body; /* LOG: key-values */
};

/* What a guest was kept from, without failing. */
enum guest_limit { GUEST_LIMIT_SWAP, GUEST_LIMIT_LOG };

struct guest_ops {
    /* After the activation that made it has ended, before on_done. The id counts as outstanding
     * until a delivery with last = true has been made for it. */
    void (*on_op)(struct guest *g, const struct guest_op *op, void *arg);
    /* The queue has room again after guest_deliver() said -EBUSY. */
    void (*on_room)(struct guest *g, void *arg);
    /* Any change of state; FAILED carries the reason. incarnation grew: every outstanding operation
     * of the old one is dead, its deliveries would be refused with -ESTALE. */
    void (*on_state)(struct guest *g, enum guest_state state, const struct err *why, void *arg);
    /* One line of the guest's standard output (1) or error (2), without newline, rate-limited. */
    void (*on_log)(struct guest *g, int fd, struct str line, void *arg);

    /* A limit of its spec was hit; `figure`: bytes that it would have needed, lines left out. May
     * be NULL. */
    void (*on_limit)(struct guest *g, enum guest_limit which, uint64_t figure, void *arg);

    /* It should sleep and cannot: E_LIMIT, the host's swap quota is used up; else its file could
     * not be made or written. NULL: that is over. Once for each code. Must not free the guest.
     * May be NULL. */
    void (*on_kept_awake)(struct guest *g, const struct err *why, void *arg);

    /* The rest concerns V1 only. A guest calls DECLARE once while it starts, before it becomes
     * AWAKE or ASLEEP for the first time; if its start fails FAILED follows, with its own words. */
    void (*on_call)(struct guest *g, const struct guest_call *c, void *arg);
    /* When its activation has ended or makes a call, before either is told. A log line counts in
     * the rate limit of on_log. */
    void (*on_post)(struct guest *g, const struct guest_post *p, void *arg);
    /* The activation returned `result`, one of those that the ABI knows. message: of
     * fail_message(), or "". */
    void (*on_activated)(struct guest *g, uint64_t token, uint32_t incarnation, int64_t result,
                         struct str message, void *arg);
};

int guest_new(struct guest_host *h, const struct guest_spec *spec, const struct guest_ops *ops,
              void *arg, struct guest **ret, struct err *err);
/*
 * Another guest of the same spec, for one that may run several instances at a time; number: from 1,
 * told apart by it. Shares nothing with `of` but the module, and outlives it.
 */
int guest_new_instance(const struct guest *of, unsigned number, const struct guest_ops *ops,
                       void *arg, struct guest **ret, struct err *err);
/* Ends it wherever it is, drops queue and swap file. No callback comes any more. */
void guest_free(struct guest *g);
/* First activation (_start or run). */
int guest_start(struct guest *g, struct err *err);

struct guest_delivery {
    uint64_t id;
    uint32_t incarnation;
    bool finished; /* G2: the `finished` argument; G1: ignored */
    bool last;     /* the id is dead afterwards */
    bool null; /* ptr == 0: no value; otherwise an empty payload still gets a non-null pointer */
    struct str payload; /* copied */
};
/*
 * Queue a completion, waking the guest. Delivered FIFO per id, round robin over ids with something
 * to deliver. Errors: -EBUSY (queue full, nothing taken, on_room
 * follows), -ESTALE (old incarnation, or the id is not outstanding).
 */
int guest_deliver(struct guest *g, const struct guest_delivery *d, struct err *err);

/*
 * V1: queue one activation, waking the guest. payload: copied; the guest reads it as result bytes.
 * token: the caller's, not 0. FIFO, one at a time. on_activated follows, or on_state with another
 * incarnation: then this activation, and every other one not yet told of, is dead, whether it had
 * begun or not. May be called before the guest has started.
 * Errors: -EBUSY (queue full, nothing taken, on_room follows), -EMSGSIZE, -ENOMEM.
 */
int guest_activate(struct guest *g, uint64_t token, struct str payload, struct err *err);
/*
 * V1: answer a call. bytes: copied, the guest's result; value: what the call returns.
 * Errors: -ESTALE that call is not outstanding any more; -EMSGSIZE over GUEST_PAYLOAD_MAX_BYTES
 * (answer something else then).
 */
int guest_reply(struct guest *g, uint64_t call_id, uint32_t incarnation, int64_t value,
                struct str bytes, struct err *err);
/* V1: its memory need not be kept: to sleep is to end, to wake is to start (and to declare) again,
 * in the same incarnation. */
void guest_set_stateless(struct guest *g, bool is_stateless);
/* V1: from its next activation on. */
void guest_set_log_debug(struct guest *g, bool wanted);
/*
 * Work is expected at this time of the loop's clock (a timer of the service's), 0: not any more. A
 * hint: what wakes slowly is awake by then, and nothing stays awake for a time that is far off. The
 * latest one counts; it is forgotten with the first activation after it.
 */
void guest_expect(struct guest *g, uint64_t loop_ms);
/* Sleep now if it is awake and idle; for tests and `sleep_always`. -EBUSY otherwise. */
int guest_sleep(struct guest *g);
/* End the current incarnation with this reason, as if it had trapped (protocol violation seen by
 * the service). */
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
    uint64_t wakes_ahead; /* of the wakes: before there was work */
    uint64_t wake_us_last, wake_us_p50,
        wake_us_p99; /* from the decision to deliver until DONE was read, wakes only */
    uint64_t queued, outstanding;
    uint64_t cpu_us; /* of all its activations, wakes and suspends */
    bool is_parked;  /* V1: waits for guest_reply() */
    bool is_slow;    /* V1: its activations take long, and it shares a runner with others like it */
    bool dissolvable;
    char last_error[200];
};
void guest_get_stats(const struct guest *g, struct guest_stats *ret);
/* Walk all guests; fn must not free guests. */
void guest_host_each(struct guest_host *h, void (*fn)(struct guest *g, void *arg), void *arg);

/* As guest_stats.cpu_us; cheap. */
uint64_t guest_cpu_us(const struct guest *g);

enum { GUEST_WAKE_BOUNDS = 12 };
/* Of wakes, in us; those ahead of time are counted (n) without a duration. */
struct guest_wake_times {
    HISTOGRAM_FIELDS(uint64_t, GUEST_WAKE_BOUNDS);
};
extern const struct histogram_kind guest_wake_kind;
struct guest_host_stats {
    unsigned runners, guests, awake, asleep, failed;
    unsigned commands; /* to runners, without an answer yet */
    uint32_t confined; /* runners, as in struct confine_report (wasm/confine.h) */
    uint64_t runner_starts, runner_losses, wakes, suspends, activations;
    struct guest_wake_times wake_us;
};
void guest_host_get_stats(const struct guest_host *h, struct guest_host_stats *ret);
/* Put every idle guest to sleep now, as under memory pressure; returns how many. */
unsigned guest_host_relieve(struct guest_host *h);
/* Process ids of the runners, for accounting and tests; returns how many were stored. */
size_t guest_host_pids(const struct guest_host *h, int *ret, size_t max);
