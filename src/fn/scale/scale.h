/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many sandboxes a function should have: pure policies, driven by the caller's clock. The
 * control plane and `dormouse replay` run this same code.
 *
 *     asleep --(report of a request)--> awake --(nothing to do, and nothing to undo)--> asleep
 *
 * An idle function is a struct scale of some ten words: no samples, no timer. Rings of samples
 * exist while it is awake. What hybrid and escargot have learnt about a function is kept.
 *
 * There are three counts: desired (here), creating and ready (of the caller). The caller calls
 * scale_report() for every report of a gateway, scale_tick() when `next_ms` of the last decision is
 * reached, and scale_recount() after a creation failed or a sandbox died. Each returns a decision.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

/* enum, name in specs and on the command line, one line of documentation */
#define SCALE_POLICIES(X)                                                                          \
    X(SCALE_KPA, "kpa", "Knative's autoscaler, and a start as soon as requests queue")             \
    X(SCALE_DIRIGENT, "dirigent", "the same formulas with Dirigent's samples and parameters")      \
    X(SCALE_MU, "mu", "rate over capacity, and the queue within the latency goal")                 \
    X(SCALE_ESCARGOT, "escargot", "predicts the next hour from the last by its harmonics")         \
    X(SCALE_HYBRID, "hybrid", "keeps and pre-warms by the histogram of idle times")

enum scale_policy {
#define SCALE_POLICY_ENUM(id, name, doc) id,
    SCALE_POLICIES(SCALE_POLICY_ENUM)
#undef SCALE_POLICY_ENUM
        SCALE_POLICY_COUNT
};

enum scale_metric { SCALE_CONCURRENCY, SCALE_RPS };

enum {
    SCALE_TICK_MS = 2000,
    SCALE_BUCKET_MS = 1000,
    SCALE_WINDOW_MIN_MS = 6000, /* of the stable window; other values are clamped */
    SCALE_WINDOW_MAX_MS = 3600000,
    SCALE_DELAY_MAX_MS = 3600000,
    /*
     * A gateway that counts requests reports at least each tick. Without reports for this time
     * there is no data, and without data no decision.
     */
    SCALE_NO_DATA_MS = 10000,
};

/*
 * Of a function's revision; borrowed by every call, never kept: it may differ at the next call
 * (samples are kept, call scale_recount() immediately). scale_config_default() fills it, the caller
 * changes single members, and scale_config_check() clamps them.
 */
struct scale_config {
    enum scale_policy policy;
    enum scale_metric metric;
    uint32_t concurrency;   /* hard limit of one sandbox, CC; 0: none */
    double target;          /* soft: for one sandbox; 0: CC, 100 without; 200 for rps */
    double utilization;     /* fraction of the target at which a sandbox counts as full */
    uint32_t min, max;      /* UINT32_MAX: no maximum */
    uint32_t initial;       /* of a new revision, until that many were ready once */
    uint32_t activation;    /* the first creation makes at least this many */
    uint64_t stable_ms;     /* window */
    uint64_t panic_ms;      /* window */
    double panic_threshold; /* 2: twice the present count */
    double up_rate, down_rate;
    uint64_t down_delay_ms; /* the largest wanted count in this time applies */
    uint64_t idle_ms; /* without a request for this time, everything above min is removed; 0: the
                         policy's */
    double burst;     /* target burst capacity; -1: the owner of the queue is always on the path */
    uint64_t tick_ms;
    bool averaged;     /* samples are averages over time in 1 s buckets, else momentary counts */
    bool eager;        /* a queue starts sandboxes immediately, not at the next tick */
    bool limit_starts; /* queued requests start only sandboxes that shorten the queue */
    uint64_t start_ms; /* expected time from decision to ready, before any was measured */
};

void scale_config_default(struct scale_config *c, enum scale_policy policy);
/* Dirigent's preset of the cold start sweep: windows 6 s and 2 s, at most one sandbox. */
void scale_config_sweep(struct scale_config *c);
void scale_config_check(struct scale_config *c);
struct fn_scale;
/* Of a function's spec; `concurrency` is that of its template. Checked. */
void scale_config_of(struct scale_config *c, const struct fn_scale *f, uint32_t concurrency);
/* T of the formulas: what one sandbox should have. */
double scale_target(const struct scale_config *c);
/* The same before `utilization` is taken off. */
double scale_total(const struct scale_config *c);
/* By name; SCALE_POLICY_COUNT: unknown name. */
enum scale_policy scale_policy_of(struct str name);
const char *scale_policy_name(enum scale_policy policy);

/*
 * A gateway's report. `running` and `queued` are the present sums over all gateways; the others are
 * of the reporting gateway, since its previous report.
 */
struct scale_report {
    uint32_t running, queued;
    uint64_t interval_ms;    /* the time that the next fields cover; 0: not known */
    uint64_t concurrency_us; /* integral of running + queued over it */
    uint32_t arrived, finished;
    uint64_t duration_us; /* of those finished, summed */
};

/* The counts of the caller. */
struct scale_counts {
    uint32_t ready, creating;
    bool unreachable; /* no traffic can reach this revision any more: it may be removed immediately
                       */
};

struct scale_decision {
    uint32_t desired;
    uint32_t create, remove; /* the difference to ready + creating; one of them is 0 */
    bool changed;            /* desired is another than before */
    bool panic;
    bool decided;   /* false: there was no data, desired is unchanged */
    int64_t excess; /* burst capacity beyond the target; < 0: too little, keep the queue's owner in
                     * the path */
    uint64_t next_ms; /* when to call scale_tick() again; 0: not before the next report */
};

struct scale_active;  /* while awake */
struct scale_learned; /* of hybrid and escargot */
struct scale {
    struct scale_active *active;
    struct scale_learned *learned;
    uint32_t desired;
    uint32_t floor; /* not below it until floor_until_ms: recovered sandboxes */
    uint64_t floor_until_ms;
    float duration_ms;     /* moving mean of requests, 0: unknown */
    float start_ms;        /* moving mean of measured starts, 0: unknown */
    float gap_ms;          /* moving mean between two calls, for placement; 0: unknown */
    uint64_t gap_since_ms; /* the last reported call */
    uint16_t n_zeros;      /* momentary samples before it became idle, all of them 0 */
    bool initial_reached;  /* config's initial was ready once */
};

void scale_init(struct scale *s);
void scale_fini(struct scale *s);
bool scale_is_awake(const struct scale *s);

/* A revision begins: apply min and initial. */
void scale_begin(struct scale *s, const struct scale_config *c, uint64_t now_ms,
                 const struct scale_counts *counts, struct scale_decision *ret);
/*
 * A gateway reports at the first request after rest, when a request has to wait, and each tick
 * while it counts any; the last report of a function that becomes idle has the count 0.
 *
 * The first report with a request wakes the function and wants `activation` immediately. After that
 * a report decides only where the queue needs more than is being created (config's eager). Returns
 * whether *ret has something to do; it is filled in any case.
 */
bool scale_report(struct scale *s, const struct scale_config *c, uint64_t now_ms,
                  const struct scale_report *r, const struct scale_counts *counts,
                  struct scale_decision *ret);
void scale_tick(struct scale *s, const struct scale_config *c, uint64_t now_ms,
                const struct scale_counts *counts, struct scale_decision *ret);
/*
 * The counts or the configuration changed without a decision: apply the present bounds to the same
 * wanted count.
 */
void scale_recount(struct scale *s, const struct scale_config *c, uint64_t now_ms,
                   const struct scale_counts *counts, struct scale_decision *ret);
/* A new leader found n sandboxes: no scale-down below n for one stable window. */
void scale_recover(struct scale *s, const struct scale_config *c, uint64_t now_ms, uint32_t n,
                   struct scale_decision *ret);
/*
 * escargot: level the plans of many functions, so that the cluster does not create or remove too
 * many sandboxes in one epoch; at most every 15 minutes. Functions without a plan are skipped.
 */
void scale_level(struct scale *const *s, size_t n, uint64_t now_ms);
/* The duration of a creation; expected start times follow it. */
void scale_started(struct scale *s, uint64_t took_ms);

/*
 * How many more sandboxes clear a queue of `queued` requests of duration_ms, where `ready`
 * sandboxes of `slots` requests each are busy and `coming` ones are being created. A start takes
 * start_ms. Requests that the ready ones finish in that time need no other sandbox. Each sandbox
 * being created takes the requests that fit into it, and a start counts for all requests that it
 * finishes while another would start. duration_ms 0: unknown, then one sandbox in total.
 */
uint32_t scale_starts_for_queue(uint32_t queued, uint32_t ready, uint32_t coming, uint32_t slots,
                                double duration_ms, double start_ms);
