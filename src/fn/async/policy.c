/* SPDX-License-Identifier: Apache-2.0 */
/* What follows an attempt; see policy.h. */
#include "fn/async/policy.h"

#include "base/backoff.h"

#include <errno.h>

#define ASYNC_DEFAULTS                                                                             \
    .backoff_ms = 1000, .backoff_max_ms = 300000, .age_max_ms = 6 * 3600000,                       \
    .result_ttl_ms = 3600000

static const uint16_t url_retries[] = { 408, 425, 429, 500, 502, 503, 504 };

const struct fn_async async_default_policy = { .attempts = 3, ASYNC_DEFAULTS };
const struct fn_async async_url_policy = { .attempts = ASYNC_URL_ATTEMPTS,
                                           .retry_on = url_retries,
                                           .n_retry_on = ARRAY_LEN(url_retries),
                                           ASYNC_DEFAULTS };

uint16_t async_status_of(int r)
{
    switch (r) {
    case -ENOENT:
        return 404;
    case -EBUSY:
    case -ECONNREFUSED:
    case -EAGAIN:
        return 503;
    case -ETIMEDOUT:
        return 504;
    default:
        return 502;
    }
}

static bool is_retryable(const struct fn_async *p, int status)
{
    for (size_t i = 0; i < p->n_retry_on; i++)
        if (p->retry_on[i] == status)
            return true;
    return p->n_retry_on == 0 && (status == 429 || (status >= 500 && status <= 599));
}

/*
 * Doubles with each attempt; jitter over the upper half, so that calls which failed together do not
 * return together, and none returns immediately.
 */
static uint64_t backoff_ms(const struct fn_async *p, uint32_t attempts, struct rng *rng)
{
    uint64_t most = MAX(p->backoff_max_ms, UINT64_C(1));
    uint64_t ms = backoff_wait(MAX(p->backoff_ms, UINT64_C(1)), most, MAX(attempts, 1U) - 1);
    return ms > 1 ? backoff_jitter(rng, ms - ms / 2, ms - 1) : ms;
}

bool async_is_too_old(const struct fn_async *policy, uint64_t wall_created_ms, uint64_t wall_now_ms)
{
    return policy->age_max_ms > 0 && wall_now_ms > wall_created_ms &&
           wall_now_ms - wall_created_ms > policy->age_max_ms;
}

struct async_verdict async_decide(const struct fn_async *policy, const struct async_outcome *o,
                                  uint32_t attempts, uint64_t wall_created_ms, uint64_t wall_now_ms,
                                  struct rng *rng)
{
    bool has_answer = o->r == 0 && o->status > 0;
    struct async_verdict v = { .status = has_answer ? (uint16_t)o->status : async_status_of(o->r) };
    if (has_answer && v.status < 400) {
        v.state = ASYNC_SUCCEEDED;
        return v;
    }
    v.state = ASYNC_FAILED;
    if (!o->is_final && is_retryable(policy, v.status) && attempts < policy->attempts) {
        uint64_t due = wall_now_ms + backoff_ms(policy, attempts, rng);
        if (!async_is_too_old(policy, wall_created_ms, due)) {
            v.state = ASYNC_PENDING;
            v.wall_due_ms = due;
            return v;
        }
        v.state = ASYNC_EXPIRED;
    }
    v.is_dead = true;
    return v;
}
