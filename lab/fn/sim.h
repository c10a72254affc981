/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cluster that exists in arithmetic: replays recorded load against an autoscaling and a placement
 * policy in virtual time. Decisions are made by the code that the control plane runs (fn/scale,
 * place); what is simulated is everything around it: requests that take as long as the trace says,
 * one gateway with a queue for each function and direct hand-off, and sandboxes that are ready a
 * fixed time after they were ordered.
 *
 * The same trace, options and seed give the same result, to the last digit.
 */
#pragma once

#include "fn/scale/scale.h"
#include "lab/fn/trace.h"
#include "place/evict.h"
#include "place/place.h"

enum {
    SIM_NODES_MAX = 20000,
    SIM_LINGER_MS = 15 * 60000, /* after the last minute, for calls that are not answered yet */
};

struct sim_options {
    struct scale_config scale; /* of every function */
    struct place_options place;
    enum place_eviction evict;
    uint32_t n_nodes;
    struct place_amounts node; /* capacity */
    int64_t sandbox_cpu_milli; /* what each sandbox reserves; its memory is the function's mean */
    uint32_t cold_start_ms;
    uint32_t image_ms; /* beside it, on a node that does not hold the function's image yet */
    uint64_t image_bytes;
    struct trace_draw draw;
    uint32_t from_minute, to_minute; /* [from, to) */
    uint32_t warmup_minutes;         /* of those, simulated but not counted */
};

/* Two nodes, no surprises: what sim_options have unless changed. Policy kpa, place warm-first. */
void sim_options_default(struct sim_options *o);

struct sim_result {
    /* Of calls that arrived behind the warm-up. */
    uint64_t calls, cold_starts, queued, unanswered;
    uint32_t functions; /* that were called */
    /* Response time over run time, geometric mean of each function; percentiles over functions. */
    double slowdown_p50, slowdown_p90, slowdown_p99;
    double wait_mean_ms, wait_p50_ms, wait_p99_ms;     /* response less run time, over calls */
    double function_wait_p50_ms, function_wait_p99_ms; /* its mean in each function */
    /* Behind the warm-up. */
    uint64_t sandboxes_created, sandboxes_deleted, placements_failed;
    uint32_t sandboxes_most;                /* at one time */
    double memory_mib_s, idle_memory_mib_s; /* of sandboxes; of those, without a request */
    double image_hits;                      /* share of creations on a node that held the image */
    uint64_t ticks, reports;                /* calls of the policy: what it costs */
};

/*
 * Errors: E_INVALID for options that contradict the trace, with what is wrong; what
 * place_node_add() says.
 */
int sim_run(const struct trace *t, const struct sim_options *o, struct sim_result *ret,
            struct err *err);
