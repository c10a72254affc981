/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two sides of the driver: driver_thread.c runs on its own thread, the rest on the loop thread.
 * A lane of the scheduler (scheduler.h) with work gets another thread, which ends when no work is
 * left; `turn` decides which of the threads runs the scheduler.
 */
#pragma once

#include "base/sm.h"
#include "base/token_bucket.h"
#include "oci/lookup.h"
#include "sched/driver/driver.h"
#include "sched/driver/inbox.h"
#include "sched/driver/turn.h"
#include "sched/extender/extender.h"
#include "sched/wasm/plugins.h"

enum {
    DRIVER_STACK_BYTES = 2 << 20,      /* of the thread: guests need 1 MiB */
    DRIVER_INBOX_MAX_BYTES = 64 << 20, /* watch events that the thread has not read yet */
    DRIVER_CALLS_MAX = 512,            /* requests under way; more wait */
    DRIVER_ANSWER_MAX_BYTES = 4 << 20,
    DRIVER_STEPS = 32,     /* cycles between two reads of the inbox */
    DRIVER_ROUND_MS = 100, /* no further cycle after this time: a plugin may take seconds */
    DRIVER_GATHER_MS = 1,  /* between two rounds while lanes run */
    DRIVER_STOP_MS = 2000,
    DRIVER_BOUND_MAX = 4096,   /* bound pods not yet reported to the loop: more are dropped */
    DRIVER_LANES_MAX = 32,     /* threads of lanes; more lanes wait */
    DRIVER_ABSENT_MS = 600000, /* retry for a kind that the API did not have */
};

/* A request of the thread; owned by the side that holds it. */
struct driver_call {
    struct list node;
    struct sched_driver *d;
    bool is_image; /* a lookup of driver_images.c */
    char *method, *target, *body;
    size_t n_body;
    const char *patch_type;
    sched_api_done done;
    void *arg;
    struct exchange *running;
    int r, status;
    struct err err;
    struct buf answer;
};

/* For opts.on_bound, in one allocation. */
struct bound_pod {
    struct list node;
    struct sched_bound b;
    char texts[];
};

struct driver_question {
    struct list node;
    struct sched_driver *d;
    struct sched_asked asked;
    char *namespace, *name;
    void (*done)(void *arg, int r, struct str text, const struct err *err);
    void *arg;
    int r;
    struct err err;
    struct buf text;
};

struct reload {
    struct sched_driver *d;
    const struct sched_config *config;
    struct wplugins *plugins;
    void (*done)(void *arg, int r, const struct err *err);
    void *arg;
    int r;
    struct err err;
    bool rereads; /* the thread waits for pods and nodes to be listed again: it did not keep their
                     JSON before */
};

struct sched_thread; /* driver_thread.c */

/* Messages from the thread to the loop; see take_outbox(). */
struct outbox {
    struct list calls, questions;
    struct list bound; /* struct bound_pod */
    size_t n_bound;
    struct reload *reload;
    bool started, has_ended;
    int start_r;
    struct err start_err;
    bool drained; /* the inbox was empty */
};

/*
 * The driver's state; it moves on the loop thread.
 *
 *     ASLEEP --a pod--> LOADING --plugins are loaded--> STARTING --the scheduler exists--> LISTING
 *       \-------------- no Wasm plugins ------------------/|                                 |
 *                          \---- cannot be loaded, --------+--> FAILED                       |
 *                                cannot be created                |     each kind is listed  |
 *                                                                 |                          v
 *     sched_driver_stop(), in each of these -----------------+----+----------------------- SYNCED
 *                                                            v
 *     STOPPING --the thread has ended--> DRAINING --no request, load or Lease is left--> ENDED
 */
enum driver_state {
    DRIVER_ASLEEP,   /* watches pods without a node; no thread */
    DRIVER_LOADING,  /* the first set of plugins; no thread yet */
    DRIVER_STARTING, /* the thread creates the scheduler */
    DRIVER_LISTING,  /* the first lists of all kinds */
    DRIVER_SYNCED,
    DRIVER_FAILED,   /* it can only be stopped */
    DRIVER_STOPPING, /* bindings and lanes end, then the thread */
    DRIVER_DRAINING, /* there is no thread; requests are cancelled */
    DRIVER_ENDED,    /* freed on a later turn */
};

/* A list that the thread needs since a reload: its plugins see more than was kept before. */
enum driver_reread { REREAD_NONE, REREAD_WANTED, REREAD_BEGUN };

struct driver_feed {
    struct sched_driver *d;
    enum sched_kind kind;
    struct reflector *reflector;
    bool synced, absent, lost;
    enum driver_reread reread;
};

struct sched_driver {
    struct sched_driver_opts opts;
    struct loop *loop;
    char *id;
    struct wplugin_host *plugin_host;
    struct wplugins *plugins;

    /* ---- loop thread ---- */
    struct reflector *sleeper; /* watches pods without a node, while asleep */
    struct driver_feed feeds[SCHED_KIND_COUNT];
    uv_thread_t loop_thread;
    struct sm sm;  /* enum driver_state */
    bool is_ready; /* on_ready() has run: asleep, when the first list of pods is known */
    struct timer absent, refill;
    struct leader *leader;
    struct list waiting, running; /* calls */
    size_t n_running;
    struct list asking; /* struct asked_image */
    size_t n_asking;
    struct oci_lookup *lookup; /* NULL: no lookup yet */
    struct token_bucket rate;  /* of requests */
    struct defer deferred_stop;
    void (*stopped)(void *arg);
    void *stopped_arg;
    bool leader_ends;   /* leader_stop() has not called back yet */
    unsigned n_loading; /* sets of plugins being loaded: the first one, and that of a reload */
    struct post final;

    /* ---- shared, under `lock` ---- */
    uv_mutex_t lock;
    uv_cond_t wake;
    struct driver_inbox inbox;
    bool thread_waits, is_poked; /* is_poked: a lane has changed something */
    struct outbox outbox;
    bool posted;
    struct post post;
    struct sched_stats stats;
    bool wants_metrics;
    struct buf metrics; /* the last text */

    uv_thread_t thread;
    bool has_thread; /* it was started and is not joined yet; loop thread */

    /* ---- of the thread whose turn it is ---- */
    struct turn turn;
    struct list ended; /* struct lane_thread, to be joined */
    unsigned n_lanes;  /* threads of lanes, including the ended ones */
    struct sched *s;
    struct sched_api api;
    const struct sched_config *config;
    const struct sched_foreign *foreign;
    struct sched_extenders *extenders;
};

/* ---- driver_thread.c ---- */
int driver_thread_start(struct sched_driver *d, struct err *err);
void driver_thread_join(struct sched_driver *d);
/* Sends a message to the thread. Loop thread. Takes the message. */
void driver_send(struct sched_driver *d, struct driver_message *m);
/*
 * Called with the lock held, after something was added to the outbox: releases the lock and makes
 * the loop run driver_on_post(). In this order, since the loop takes the lock as soon as it wakes
 * up.
 */
void driver_unlock_and_post(struct sched_driver *d);
void driver_call_free(struct driver_call *c);
void driver_question_free(struct driver_question *q);

/* ---- driver_calls.c ---- */
/* Starts as many calls of d->waiting as the limit allows. */
void driver_start_calls(struct sched_driver *d);
/*
 * Sends the call to the thread. Once the thread has been joined, calls `done` directly, which only
 * frees.
 */
void driver_answer(struct driver_call *c);
void driver_cancel_calls(struct sched_driver *d);

/* ---- driver_images.c ---- */
/* Takes the call and answers it with driver_answer(). */
void driver_ask_image(struct sched_driver *d, struct driver_call *c);
void driver_cancel_images(struct sched_driver *d);

/* ---- driver_feeds.c ---- */
/* Starts the feeds that are wanted and do not run. */
void driver_start_feeds(struct sched_driver *d);
void driver_stop_feeds(struct sched_driver *d);
/* Lists the kinds again whose events found no room in the inbox. */
void driver_relist_lost(struct sched_driver *d);
/* After a reload with `rereads`: lists pods and nodes again. */
void driver_reread(struct sched_driver *d);

/* ---- driver.c ---- */
/* Asserts that the caller runs on the loop thread. */
void driver_assert_loop(const struct sched_driver *d);
static inline bool driver_is_stopping(const struct sched_driver *d)
{
    return d->sm.at >= DRIVER_STOPPING;
}
/* Every kind has been listed: LISTING -> SYNCED. */
void driver_has_all(struct sched_driver *d);
void driver_continue_stop(struct sched_driver *d);
void driver_on_post(struct post *p); /* loop thread */
