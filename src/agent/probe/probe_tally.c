/* SPDX-License-Identifier: Apache-2.0 */
/* Thresholds and times of probes; see probe_tally.h. */
#include "agent/probe/probe_tally.h"

#include "base/mem.h"

void probe_tally_init(struct probe_tally *t, enum probe_kind kind)
{
    *t = (struct probe_tally){ .value = kind == PROBE_LIVENESS, .reported_ms = UINT64_MAX };
}

static bool set_value(struct probe_tally *t, const struct probe_rules *rules, bool value)
{
    bool has_changed = t->value != value;
    t->value = value;
    t->was_true = t->was_true || value;
    t->is_over = rules->kind == PROBE_STARTUP || (rules->kind == PROBE_LIVENESS && !value);
    return has_changed;
}

bool probe_tally_add(struct probe_tally *t, const struct probe_rules *rules,
                     enum probe_outcome outcome)
{
    bool success = outcome == PROBE_SUCCESS || outcome == PROBE_WARNING;
    if (outcome == PROBE_UNKNOWN || t->is_over)
        return false;
    t->run = t->has_last && t->last == success ? t->run + 1 : 1;
    t->has_last = true;
    t->last = success;
    if (t->run < (success ? rules->success_threshold : rules->failure_threshold))
        return false;
    return set_value(t, rules, success);
}

static uint64_t towards_multiple(uint64_t next, uint64_t period)
{
    uint64_t behind = next % period, slack = period / 10;
    return behind == 0 ? next : next + MIN(period - behind, slack);
}

uint64_t probe_next_ms(struct probe_tally *t, const struct probe_rules *rules, uint64_t due_ms,
                       uint64_t now_ms)
{
    uint64_t period = rules->period_ms;
    if (rules->kind == PROBE_READINESS && rules->is_cheap && !t->was_true && t->has_last &&
        !t->last && t->n_early < 32) {
        uint64_t early = (uint64_t)PROBE_EARLY_MS << t->n_early;
        if (early < period) {
            t->n_early++;
            return now_ms + early;
        }
    }
    uint64_t next = MAX(due_ms + period, now_ms);
    return t->has_last && t->last ? towards_multiple(next, period) : next;
}

bool probe_tally_reports(struct probe_tally *t, const struct probe_rules *rules, uint64_t now_ms)
{
    if (t->reported_ms != UINT64_MAX && t->n_early && !t->was_true &&
        now_ms - t->reported_ms < rules->period_ms)
        return false;
    t->reported_ms = now_ms;
    return true;
}
