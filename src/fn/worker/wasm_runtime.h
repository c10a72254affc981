/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime `wasm`: functions as guests in runner processes of their own class
 * (docs/function-abi.md describes their view, guest/template.h how they run).
 *
 * A sandbox has no address: requests reach it through the runtime's invoker. It is the right to run
 * requests, as many at a time as its callers start, each in an instance of its own. For each
 * revision that has sandboxes a runner holds one template, the memory after initialisation, and
 * every request gets an instance that starts from it.
 *
 *     prepare: module from its source -> compiled, or from the cache -> template in a runner
 *     create:  ready as soon as the template is, which it usually is
 *     request: RUN -> instance from the template -> ANSWER, one exchange when both bodies are small
 *
 * A revision without sandboxes holds nothing in a runner and no file; a runner without revisions
 * ends.
 *
 * Loop thread only.
 */
#pragma once

#include "fn/worker/runtime.h"
#include "guest/guest_log.h"
#include "guest/module.h"
#include "modules/module_source.h"

enum {
    WASM_BODY_BUFFER =
        256 << 10,           /* of a request or an answer that the receiver has not taken yet */
    WASM_INIT_MS = 10000,    /* CPU time of an initialisation */
    WASM_COMPILING_MS = 250, /* a longer compilation is reported, */
    WASM_COMPILING_AGAIN = 4 /* and after each 4 of these times again */
};

struct runner_pool;

struct wasm_runtime_opts {
    struct loop *loop;
    struct module_cache *modules;   /* kept; may be shared with operators */
    struct module_sources *sources; /* kept; the same */
    struct guest_logs *logs;        /* kept; FN_LOGS_DIR; NULL: nothing is kept */
    /* Directories for spec.module.file; copied and resolved when the runtime is made. */
    const char *const *module_dirs;
    size_t n_module_dirs;
    struct runner_pool *runners; /* kept; of the process: functions get a class of it */
    unsigned max_runners;        /* 0: one per core */
    unsigned templates_max;      /* 0: GUEST_TEMPLATES_MAX */
    uint64_t compiling_ms;       /* on_compiling after this; 0: WASM_COMPILING_MS */
};

/* Starts no process. Freed by ops->close(). Errors: -ENOENT: the runner program is missing. */
int wasm_runtime_new(const struct wasm_runtime_opts *opts, struct runtime **ret, struct err *err);

struct wasm_runtime_stats {
    unsigned runners;
    uint64_t runner_starts, runner_losses;
    unsigned revisions, sandboxes, running, waiting; /* requests: in runners, for room there */
    uint64_t requests, traps; /* in total; traps: requests that failed by their own fault */
    uint64_t cpu_us;          /* of all requests */
};
void wasm_runtime_get_stats(const struct runtime *rt, struct wasm_runtime_stats *ret);
/* Process ids of the runners, for accounting and tests; returns how many were stored. */
size_t wasm_runtime_pids(const struct runtime *rt, int *ret, size_t max);
