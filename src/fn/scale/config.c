/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of autoscaling: names, defaults, bounds; see scale.h. */
#include "fn/scale/scale.h"

#include "base/mem.h"
#include "fn/function.h"

enum {
    SOFT_CONCURRENCY = 100, /* of a sandbox without a limit */
    SOFT_RPS = 200,
    CONCURRENCY_MAX = 1000,
    START_MS = 40, /* of a sandbox, before any was measured */
};
#define TARGET_MIN 0.01

static const char *const policies[] = {
#define SCALE_POLICY_ROW(id, policy_name, policy_doc) [id] = policy_name,
    SCALE_POLICIES(SCALE_POLICY_ROW)
#undef SCALE_POLICY_ROW
};

enum scale_policy scale_policy_of(struct str name)
{
    size_t i = 0;
    while (i < SCALE_POLICY_COUNT && !str_is(name, policies[i]))
        i++;
    return (enum scale_policy)i;
}

const char *scale_policy_name(enum scale_policy policy)
{
    return policy < SCALE_POLICY_COUNT ? policies[policy] : "";
}

void scale_config_default(struct scale_config *c, enum scale_policy policy)
{
    *c = (struct scale_config){
        .policy = policy,
        .utilization = 0.7,
        .max = UINT32_MAX,
        .activation = 1,
        .stable_ms = 60000,
        .panic_ms = 6000,
        .panic_threshold = 2,
        .up_rate = 1000,
        .down_rate = 2,
        .tick_ms = SCALE_TICK_MS,
        .averaged = true,
        .eager = true,
        .limit_starts = true,
        .start_ms = START_MS,
    };
    if (policy != SCALE_DIRIGENT)
        return;
    c->concurrency = 1;
    c->utilization = 1;
    c->averaged = c->eager = c->limit_starts = false;
}

void scale_config_sweep(struct scale_config *c)
{
    scale_config_default(c, SCALE_DIRIGENT);
    c->stable_ms = 6000;
    c->panic_ms = 2000;
    c->max = 1;
}

#define BETWEEN(low, x, high) MIN(MAX(x, low), high)

void scale_config_check(struct scale_config *c)
{
    c->concurrency = MIN(c->concurrency, CONCURRENCY_MAX);
    c->utilization = BETWEEN(0.01, c->utilization, 1.0);
    c->target = MAX(c->target, 0.0);
    c->max = MAX(c->max, 1);
    c->min = MIN(c->min, c->max);
    c->initial = MIN(c->initial, c->max);
    c->activation = BETWEEN(1, c->activation, c->max);
    c->tick_ms = BETWEEN(100, c->tick_ms, SCALE_WINDOW_MIN_MS);
    c->stable_ms = BETWEEN(SCALE_WINDOW_MIN_MS, c->stable_ms, SCALE_WINDOW_MAX_MS);
    c->panic_ms = BETWEEN(1000, c->panic_ms, c->stable_ms);
    c->panic_threshold = BETWEEN(1.1, c->panic_threshold, 10.0);
    c->up_rate = MAX(c->up_rate, 1.01);
    c->down_rate = MAX(c->down_rate, 1.01);
    c->down_delay_ms = MIN(c->down_delay_ms, SCALE_DELAY_MAX_MS);
    c->start_ms = MAX(c->start_ms, 1);
}

_Static_assert((int)FN_SCALE_KPA == SCALE_KPA && (int)FN_SCALE_DIRIGENT == SCALE_DIRIGENT &&
                   (int)FN_SCALE_MU == SCALE_MU && (int)FN_SCALE_ESCARGOT == SCALE_ESCARGOT &&
                   (int)FN_SCALE_HYBRID == SCALE_HYBRID && (int)FN_METRIC_RPS == SCALE_RPS,
               "a spec names the same policies and metrics");

void scale_config_of(struct scale_config *c, const struct fn_scale *f, uint32_t concurrency)
{
    scale_config_default(c, (enum scale_policy)f->policy);
    if (concurrency || f->policy != FN_SCALE_DIRIGENT) /* its sandboxes take one at a time */
        c->concurrency = concurrency;
    c->metric = (enum scale_metric)f->metric;
    c->target = f->target;
    c->utilization = f->utilization / 100.0;
    c->min = f->min;
    c->max = f->max;
    c->initial = f->initial;
    c->activation = f->activation;
    c->stable_ms = f->stable_ms;
    c->panic_ms = f->stable_ms * f->panic_window_percent / 100;
    c->panic_threshold = f->panic_threshold_percent / 100.0;
    c->up_rate = f->up_rate_percent / 100.0;
    c->down_rate = f->down_rate_percent / 100.0;
    c->down_delay_ms = f->down_delay_ms;
    c->idle_ms = f->idle_ms;
    c->burst = (double)f->burst;
    scale_config_check(c);
}

/* What one sandbox takes; the soft target is never above a hard limit. */
double scale_total(const struct scale_config *c)
{
    if (c->metric == SCALE_RPS)
        return c->target > 0 ? c->target : SOFT_RPS;
    double total = c->concurrency ? c->concurrency : SOFT_CONCURRENCY;
    if (c->target > 0)
        total = c->concurrency ? MIN(c->target, total) : c->target;
    return total;
}

double scale_target(const struct scale_config *c)
{
    return MAX(scale_total(c) * c->utilization, TARGET_MIN);
}
