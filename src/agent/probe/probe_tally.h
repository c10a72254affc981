/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a sequence of outcomes means for one probe, and when the next attempt is due. Pure.
 */
#pragma once

#include "agent/probe/probe.h"

enum { PROBE_EARLY_MS = 100 }; /* first extra attempt of a readiness probe, see probe_next_ms() */

struct probe_rules {
    enum probe_kind kind;
    uint32_t success_threshold, failure_threshold;
    uint64_t period_ms;
    /* An attempt costs little: more of them are made until a container is ready for the first
     * time. */
    bool is_cheap;
};

struct probe_tally {
    bool value;    /* what the probe says now */
    bool has_last; /* there was an outcome that counts */
    bool last;     /* a success */
    bool is_over;  /* no attempt follows: liveness or startup failed, or startup succeeded */
    bool was_true; /* the value was true once, beside liveness's first */
    uint32_t run;  /* equal outcomes in a row */
    uint32_t n_early;
    uint64_t reported_ms; /* of the last failure */
};

void probe_tally_init(struct probe_tally *t, enum probe_kind kind);
/* true: the value has changed. */
bool probe_tally_add(struct probe_tally *t, const struct probe_rules *rules,
                     enum probe_outcome outcome);
/*
 * When the attempt after this one is due. due_ms: when this one was; now_ms: it has ended.
 *
 * After a success: up to a tenth of the period later than the period says, towards a multiple of
 * the period. After a failure: not later. A readiness probe that has never succeeded is tried again
 * after PROBE_EARLY_MS, and twice as long each time, as the API allows ("to make the Pod ready
 * faster").
 */
uint64_t probe_next_ms(struct probe_tally *t, const struct probe_rules *rules, uint64_t due_ms,
                       uint64_t now_ms);
/* Whether a failure is reported: extra attempts do not make more events than ordinary ones. */
bool probe_tally_reports(struct probe_tally *t, const struct probe_rules *rules, uint64_t now_ms);
