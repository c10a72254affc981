/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the worker's role share. */
#pragma once

#include "base/crowd.h"
#include "base/log.h"
#include "base/random.h"
#include "base/sm.h"
#include "base/vec.h"
#include "fn/worker/node_facts.h"
#include "fn/worker/revisions.h"
#include "fn/worker/worker.h"

enum sandbox_at { SANDBOX_CREATING, SANDBOX_READY, SANDBOX_DESTROYING, SANDBOX_STATES };

struct sandbox {
    uint64_t id;
    struct sm sm;
    struct runtime *rt;
    struct worker_revision *revision; /* NULL: of an earlier process */
    char *uid;
    uint32_t revision_number;
    char *address; /* NULL: only to be called in this process */
    bool by_worker;
    char *direct;               /* proxy: its own address */
    struct http_invoker *proxy; /* made with the first call; NULL */
    bool is_adopted;            /* the control plane of this stream has adopted it */
};

struct created {
    uint64_t sandbox;
    bool is_error, is_permanent, is_image, by_worker; /* is_image: it cannot be had */
    char *text;                                       /* the error or the address; may be NULL */
    Dormouse__Fn__V1__Breakdown breakdown;
};
struct gone {
    uint64_t sandbox;
    char *reason;
};
struct label {
    char *key, *value;
};

struct worker_invoker_call;

struct worker {
    struct loop *loop;
    char *name, *address;
    uint64_t incarnation, cpu_milli, memory_bytes;
    struct fn_dialer *dialer;
    VEC(struct label) labels;
    struct runtime *runtimes[WORKER_RUNTIMES_MAX];
    size_t n_runtimes;
    struct runtime *recovering; /* inside its recover() */
    bool is_simulated, is_proxy;
    struct guest_logs *logs;
    struct map *index;
    void (*on_synced)(void *arg);
    void *arg;

    enum { WORKER_AWAY, WORKER_HELLO, WORKER_WELCOME } at; /* no stream, hello sent, welcome */
    struct fn_stream *stream;
    char *dial_address; /* of a redirect; NULL: any */
    uint64_t term;      /* the highest seen */
    uint64_t seq, sent_ms, lease_ms, backoff_ms;
    struct timer dial_timer; /* AWAY: until the next dial; HELLO: until the welcome must arrive */
    struct timer lease, orphans, stop_timer;
    struct rng rng;
    struct log_rate lost_rate, refused_rate;

    struct defer report;
    VEC(struct created) created; /* since the last report */
    VEC(struct gone) gone;
    VEC(uint64_t) compiling, pulling; /* as those; sandboxes */
    struct arena scratch;             /* while a message is made */

    struct revisions revisions;
    struct map sandboxes; /* 8 bytes -> struct sandbox */
    struct crowd crowd;
    uint32_t n_in[SANDBOX_STATES];
    struct worker_counts total; /* only what has happened ever */

    struct node_load node;
    uint64_t load_ms, memory_used;
    uint32_t cpu_used;

    struct invoker invoker;
    uint32_t n_running;
    struct worker_invoker_call *spare_calls;

    bool is_stopping, is_closing; /* closing: no sandbox is left */
    void (*done)(void *arg);
    void *done_arg;
};

/* NULL: unknown. */
struct sandbox *worker_sandbox(const struct worker *w, uint64_t id);

void worker_invoker_init(struct worker *w);
void worker_invoker_fini(struct worker *w);

/* ---- worker_report.c: sent once in a turn of the loop, while a control plane is connected ---- */

/* All sandboxes, as the first message of a stream. */
void worker_report_hello(struct worker *w);
/* breakdown NULL: it has been reported before. */
void worker_report_ready(struct worker *w, const struct sandbox *s,
                         const Dormouse__Fn__V1__Breakdown *breakdown);
void worker_report_failed(struct worker *w, uint64_t sandbox, int r, const struct err *err);
void worker_report_gone(struct worker *w, uint64_t sandbox, const char *reason);
void worker_report_compiling(struct worker *w, uint64_t sandbox);
void worker_report_pulling(struct worker *w, uint64_t sandbox);
/* Even if there is nothing to report. */
void worker_report_want(struct worker *w);
/* What waits leaves now. */
void worker_report_flush(struct worker *w);
/* Drop what has not been sent: the stream has ended, and the next hello reports everything. */
void worker_report_clear(struct worker *w);
/* Send heartbeats for w->lease_ms from now on; 0: none. */
void worker_report_keep_lease(struct worker *w);
