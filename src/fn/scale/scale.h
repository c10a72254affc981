/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many sandboxes a function should have: pure policies, driven by whatever clock the caller
 * has. The control plane and `dormouse replay` run this same code.
 *
 *     asleep --(report of a request)--> awake --(nothing to do, and nothing to undo)--> asleep
 *
 * A function that sleeps is a struct scale of some ten words: no samples, no timer. Rings of
 * samples exist while it is awake. What hybrid and escargot have learnt about a function stays.
 *
 * The caller keeps three counts: desired (here), creating and ready (its own books). It calls
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
    SCALE_WINDOW_MIN_MS = 6000, /* of the stable window; others are moved into the bounds */
    SCALE_WINDOW_MAX_MS = 3600000,
    SCALE_DELAY_MAX_MS = 3600000,
    /* A gateway that counts requests reports at least each tick; without reports for so long there
     * is no data, and without data no decision. */
    SCALE_NO_DATA_MS = 10000,
};

/*
 * Of a function's revision; borrowed by every call, never kept: it may be another one at the next
 * call (samples are kept, call scale_recount() at once). scale_config_default() fills it,
 * then single members are changed, then scale_config_check() puts them into their bounds.
 */
struct scale_config {
    enum scale_policy policy;
    enum scale_metric metric;
    uint32_t concurrency; /* hard limit of one sandbox, CC; 0: none */
    double target;        /* soft: that one sandbox should have; 0: CC, 100 without; 200 for rps */
    double utilization;   /* fraction of the target at which a sandbox counts as full */
    uint32_t min, max;    /* UINT32_MAX: no maximum */
    uint32_t initial;     /* of a new revision, until that many were ready once */
    uint32_t activation;  /* from nothing at least to this */
    uint64_t stable_ms;   /* window */
    uint64_t panic_ms;    /* window */
    double panic_threshold; /* 2: twice of what there is */
    double up_rate, down_rate;
    uint64_t down_delay_ms; /* the largest wish of this long counts */
    uint64_t
        idle_ms;  /* without a request for so long, everything above min goes; 0: the policy's */
    double burst; /* target burst capacity; -1: the queue's owner stays in the path */
    uint64_t tick_ms;
    bool averaged;     /* samples are averages over time in 1 s buckets, else momentary counts */
    bool eager;        /* a queue starts sandboxes at once, not at the next tick */
    bool limit_starts; /* queued requests ask for no more than what clears the queue sooner */
    uint64_t start_ms; /* expected time from decision to ready, where none was measured */
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
/* By name; SCALE_POLICY_COUNT: there is none of that name. */
enum scale_policy scale_policy_of(struct str name);
const char *scale_policy_name(enum scale_policy policy);
const char *scale_policy_doc(enum scale_policy policy);

/* What gateways say. `running` and `queued` are of all gateways together, now; the others of the
 * gateway that reports, since its previous report. */
struct scale_report {
    uint32_t running, queued;
    uint64_t interval_ms;    /* that the following cover; 0: it is not known */
    uint64_t concurrency_us; /* integral of running + queued over it */
    uint32_t arrived, finished;
    uint64_t duration_us; /* of those finished, summed */
};

/* What the caller's books say. */
struct scale_counts {
    uint32_t ready, creating;
    bool unreachable; /* no traffic can reach this revision any more: it may go at once */
};

struct scale_decision {
    uint32_t desired;
    uint32_t create, remove; /* the way there from ready + creating; one of them is 0 */
    bool changed;            /* desired is another than before */
    bool panic;
    bool decided;   /* false: there was no data, desired is as before */
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
    uint64_t gap_since_ms; /* the last call that was told of */
    uint16_t n_zeros;      /* momentary samples it went to sleep with, all of them 0 */
    bool initial_reached;  /* config's initial was ready once */
};

void scale_init(struct scale *s);
void scale_fini(struct scale *s);
bool scale_is_awake(const struct scale *s);

/* A revision begins: what min and initial ask for. */
void scale_begin(struct scale *s, const struct scale_config *c, uint64_t now_ms,
                 const struct scale_counts *counts, struct scale_decision *ret);
/*
 * A gateway reports at the first request after rest, when a request has to wait, and each tick
 * while it counts any; the last report of a function that comes to rest says 0.
 *
 * The first report with a request wakes the function and asks for `activation` at once. Afterwards
 * a report decides only where the queue asks for more than is coming (config's eager). Returns
 * whether *ret holds something to do; it is filled in any case.
 */
bool scale_report(struct scale *s, const struct scale_config *c, uint64_t now_ms,
                  const struct scale_report *r, const struct scale_counts *counts,
                  struct scale_decision *ret);
void scale_tick(struct scale *s, const struct scale_config *c, uint64_t now_ms,
                const struct scale_counts *counts, struct scale_decision *ret);
/* The counts or the configuration changed without a decision: the same wish within the bounds of
 * now, with what it takes. */
void scale_recount(struct scale *s, const struct scale_config *c, uint64_t now_ms,
                   const struct scale_counts *counts, struct scale_decision *ret);
/* A new leader found n sandboxes: no scale-down below n for one stable window. */
void scale_recover(struct scale *s, const struct scale_config *c, uint64_t now_ms, uint32_t n,
                   struct scale_decision *ret);
/*
 * escargot: level what many functions have planned, so that the cluster does not create or remove
 * too many sandboxes in one epoch; at most every 15 minutes. Others are passed over.
 */
void scale_level(struct scale *const *s, size_t n, uint64_t now_ms);
/* A creation took so long; expected starts follow it. */
void scale_started(struct scale *s, uint64_t took_ms);

/*
 * How many more sandboxes clear a queue of `queued` requests of duration_ms, where `ready`
 * sandboxes of `slots` requests each are busy and `coming` ones are being created. A start takes
 * start_ms. What the ready ones finish in that time needs no other, each that comes takes what fits
 * into it, and one start does not stand for one request but for all that it finishes while another
 * would start. duration_ms 0 is unknown: then one sandbox at all.
 */
uint32_t scale_starts_for_queue(uint32_t queued, uint32_t ready, uint32_t coming, uint32_t slots,
                                double duration_ms, double start_ms);
