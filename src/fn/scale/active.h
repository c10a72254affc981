/* SPDX-License-Identifier: Apache-2.0 */
/* What scale.c and the policies share of a function that is awake; see scale.h. */
#pragma once

#include "fn/scale/escargot.h"
#include "fn/scale/hybrid.h"
#include "fn/scale/window.h"

struct scale_active {
    struct scale_window window;
    uint64_t stable_ms, tick_ms, down_delay_ms; /* that it was made for */
    uint64_t next_tick_ms;
    uint64_t last_report_ms;
    uint64_t last_busy_ms; /* there was a request */
    uint64_t progress_ms;  /* a request ended, or the first began */
    bool panic;
    uint64_t panic_at_ms;
    uint32_t max_panic;
    uint32_t hold; /* not below it until hold_until_ms: what was created between ticks */
    uint64_t hold_until_ms;
    uint32_t running, queued;
    bool has_sums; /* reports contain integrals: do not extrapolate counts between reports */
    /* dirigent: the count that its data plane would have reported last, and the time of its next
     * report; 0: not before the next request. */
    uint32_t reported;
    uint64_t next_report_ms;
    bool has_due; /* the tick is late: due_reported is the count that it would have read in time */
    uint32_t due_reported;
    double rate;      /* calls per second, moving mean */
    uint32_t arrived; /* since rate_since_ms */
    uint64_t rate_since_ms;
    uint32_t *delay; /* wanted counts of the last ticks; NULL without down_delay_ms */
    uint32_t n_delay;
    uint64_t delay_newest; /* number of a tick */
};

struct scale_learned {
    enum scale_policy policy; /* the policy that has learnt: HYBRID or ESCARGOT */
    struct hybrid hybrid;
    bool idle; /* no request since idle_since_ms */
    uint64_t idle_since_ms;
    float counts[ESCARGOT_MINUTES]; /* calls of each minute, minute m at m % ESCARGOT_MINUTES */
    uint64_t first_minute, minute;  /* of the first and the newest count */
    uint16_t *plan;                 /* of ESCARGOT_EPOCHS, NULL: no load is expected */
    uint64_t plan_from_ms, planned_ms;
};

/* The inputs of a policy. */
struct scale_view {
    const struct scale_config *c;
    const struct scale_counts *counts;
    uint64_t now_ms;
    double stable, panic; /* means */
    double up, down;      /* bounds of one step */
    uint32_t present;     /* ready and creating */
};

/* The count that the policy wants, before bounds, delay and holds; at least one mean is known. */
uint32_t scale_want(struct scale *s, const struct scale_view *v);
/* hybrid, of an idle function: the count for now, and until when it is valid (0: for ever). */
uint32_t scale_want_idle(const struct scale_learned *l, uint64_t now_ms, uint64_t *ret_next_ms);
/* escargot: make a new plan if one is due. */
void scale_plan(struct scale *s, uint64_t now_ms);
/* What the plan has for now, and when that changes (0: never). */
uint32_t scale_planned(const struct scale_learned *l, uint64_t now_ms, uint64_t *ret_next_ms);
void scale_learned_free(struct scale_learned *l);

/* Momentary metric, without requests that are not worth a start. */
double scale_limited(const struct scale *s, const struct scale_config *c, uint64_t now_ms,
                     const struct scale_counts *counts);
/* Expected duration of requests and starts now. */
double scale_duration_ms(const struct scale *s, uint64_t now_ms);
double scale_start_ms(const struct scale *s, const struct scale_config *c);
static inline uint32_t scale_slots(const struct scale_config *c)
{
    return c->concurrency ? c->concurrency : 100;
}
