/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated cluster that replays recorded load against an autoscaling policy and a placement
 * policy in virtual time. The code of the control plane (fn/scale, place) makes the decisions. The
 * rest is simulated: each request takes as long as the trace states, one gateway has a queue for
 * each function and passes requests to sandboxes directly, and a sandbox is ready a fixed time
 * after its creation was ordered.
 *
 * The same trace, options and seed give exactly the same result.
 */
#pragma once

#include "fn/scale/scale.h"
#include "lab/fn/trace.h"
#include "place/evict.h"
#include "place/place.h"

enum {
    SIM_NODES_MAX = 20000,
    SIM_LINGER_MS = 15 * 60000, /* after the last minute, for calls without a response */
};

struct sim_options {
    struct scale_config scale; /* of every function */
    struct place_options place;
    enum place_eviction evict;
    uint32_t n_nodes;
    struct place_amounts node; /* capacity */
    int64_t sandbox_cpu_milli; /* what each sandbox reserves; its memory is the function's mean */
    uint32_t cold_start_ms;
    uint32_t image_ms; /* in addition, on a node without the function's image */
    uint64_t image_bytes;
    struct trace_draw draw;
    uint32_t from_minute, to_minute; /* [from, to) */
    uint32_t warmup_minutes;         /* the first of those: simulated, not counted */
};

/* The defaults: policy kpa, placement warm-first, the cluster of the paper. */
void sim_options_default(struct sim_options *o);

struct sim_result {
    /* Of calls that arrived after the warm-up. */
    uint64_t calls, cold_starts, queued, unanswered;
    uint32_t functions; /* functions with at least one call */
    /* Response time over run time, geometric mean of each function; percentiles over functions. */
    double slowdown_p50, slowdown_p90, slowdown_p99;
    double wait_mean_ms, wait_p50_ms, wait_p99_ms;     /* response less run time, over calls */
    double function_wait_p50_ms, function_wait_p99_ms; /* its mean in each function */
    /* After the warm-up. */
    uint64_t sandboxes_created, sandboxes_deleted, placements_failed;
    uint32_t sandboxes_most;                /* at one time */
    double memory_mib_s, idle_memory_mib_s; /* of sandboxes; of those, without a request */
    double image_hits;                      /* share of creations on a node that held the image */
    uint64_t ticks, reports;                /* calls of the policy */
};

/*
 * Errors: E_INVALID: the options contradict the trace, and the text states how; the errors of
 * place_node_add().
 */
int sim_run(const struct trace *t, const struct sim_options *o, struct sim_result *ret,
            struct err *err);
