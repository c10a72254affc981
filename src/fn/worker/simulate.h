/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many workers with fake sandboxes in one process, to measure how a control plane scales. Each has
 * its own stream, like a worker in its own process.
 */
#pragma once

#include "fn/worker/worker.h"

struct fn_simulation;

enum { SIMULATION_WORKERS_MAX = 10000 };

struct fn_simulation_opts {
    struct loop *loop;
    struct fn_dialer *dialer; /* kept until stopped */
    uint32_t n_workers;
    const char *prefix; /* names: prefix and a number from 0 */
    uint64_t incarnation;
    const char *address;    /* of all, see worker_http.h; "": their sandboxes cannot be called */
    uint32_t fail_permille; /* of creations */
    uint64_t cpu_milli;     /* of each; 0: 8000 */
    uint64_t memory_bytes;  /* 0: 32 GiB */
    uint64_t seed;
    void (*on_synced)(void *arg); /* all are welcome; once */
    void *arg;
};

int simulate_start(const struct fn_simulation_opts *opts, struct fn_simulation **ret,
                   struct err *err);
/* Calls any sandbox of any of them. */
struct invoker *simulate_invoker(struct fn_simulation *s);
/* Sums over all of them. */
void simulate_count(const struct fn_simulation *s, struct worker_counts *ret);
void simulate_stop(struct fn_simulation *s, void (*done)(void *arg), void *arg);
