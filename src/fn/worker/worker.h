/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker's role: holds the sandboxes of one node. It dials the control plane, reports all
 * sandboxes, executes orders, and reports in batches, one for each turn of the loop.
 *
 *     dial -> hello -> welcome -> orders and reports -> (stream ends) -> dial
 *
 * Sandboxes keep running while no control plane is connected; the next hello reports them. Those
 * that a control plane does not adopt are removed. A stream whose term is lower than the highest
 * seen is ended.
 *
 * Loop thread only.
 */
#pragma once

#include "base/buf.h"
#include "base/map.h"
#include "fn/stream.h"
#include "fn/worker/runtime.h"

struct worker;
struct guest_logs;

enum {
    WORKER_SANDBOXES_MAX = 16384, /* of all states: a hello with all of them is one message */
    WORKER_REVISIONS_MAX = 100000,
    WORKER_RUNTIMES_MAX = 4,
    WORKER_REPORT_MAX = 4096,       /* entries of one report; the rest follows in the next */
    WORKER_RECONNECT_FIRST_MS = 10, /* doubles, */
    WORKER_RECONNECT_MAX_MS = 500,  /* up to this */
    WORKER_WELCOME_MS = 5000,       /* for the answer to a hello; then it dials again */
    WORKER_ORPHAN_MS = 5000 /* from a welcome: sandboxes that are not adopted by then are removed */
};

struct worker_label {
    const char *key, *value;
};

struct worker_opts { /* strings are copied */
    struct loop *loop;
    const char *name; /* of the node: unique, the same after a restart; worker_identity() */
    uint64_t incarnation;
    struct fn_dialer *dialer; /* kept until stopped */
    const char *address;      /* host:port of by_worker sandboxes (worker_http.h); "": none */
    uint64_t cpu_milli;       /* what it offers; 0: all that the machine has */
    uint64_t memory_bytes;    /* 0: all that the machine has */
    const struct worker_label *labels;
    size_t n_labels;
    struct runtime *runtimes[WORKER_RUNTIMES_MAX]; /* taken */
    size_t n_runtimes;
    /*
     * Gateways on other machines cannot reach the addresses of sandboxes: they use `address`, and
     * this worker passes their requests on. Without upgrades (WebSockets).
     */
    bool is_proxy;
    struct guest_logs *logs; /* kept; removes those of deleted functions; NULL: none */
    struct map *
        index; /* kept, may be shared by several workers: sandbox (8 bytes) -> worker; NULL: none */
    bool is_simulated;            /* its load is that of its sandboxes, not of the machine */
    void (*on_synced)(void *arg); /* after the first welcome; once; may be NULL */
    void *arg;
};

/* Recovers what earlier processes left, then dials. Errors: E_INVALID a wrong option. */
int worker_start(const struct worker_opts *opts, struct worker **ret, struct err *err);
/*
 * Report that the worker leaves, so that the control plane drains and deletes its sandboxes; wait
 * for that up to grace_ms, remove the remaining ones, then done().
 */
void worker_stop(struct worker *w, uint64_t grace_ms, void (*done)(void *arg), void *arg);

/*
 * For by_worker sandboxes: used by a gateway in this process, or by worker_http.h. Valid until
 * worker_stop(). For an unknown sandbox invoke_start() fails with -ECONNREFUSED.
 */
struct invoker *worker_invoker(struct worker *w);

struct worker_counts {
    uint32_t creating, ready, destroying;               /* sandboxes */
    uint32_t running;                                   /* requests through worker_invoker() */
    uint32_t revisions;                                 /* known */
    uint64_t created, failed, gone, destroyed, refused; /* ever; refused: orders of a lower term */
    uint64_t term;                                      /* the highest seen */
    bool is_welcome;
};
void worker_count(const struct worker *w, struct worker_counts *ret);
/* Prometheus text. */
void worker_metrics(const struct worker *w, struct buf *to);

/*
 * The identity of this node: dir/worker.json stores the name and counts starts. `wanted`: the name
 * at the first start, or instead of the stored one; "": the stored one, or the host's name and four
 * random digits. Given: *ret_name, free(). Errors: of reading and writing; E_CORRUPT the file has
 * another format.
 */
int worker_identity(const char *dir, const char *wanted, char **ret_name, uint64_t *ret_incarnation,
                    struct err *err);
