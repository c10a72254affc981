/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exponential back-off: how long to wait before an attempt is repeated. The wait doubles each time,
 * up to a limit, and can be given jitter so that clients that failed together do not retry
 * together. Pure: times are in a unit that the caller chooses. The caller keeps the state, either
 * the number of failures so far or the latest wait, and resets it to 0 after a success.
 */
#pragma once

#include "base/random.h"

#include <stdint.h>

/* failures: earlier ones; 0: the wait is `first`. max: upper limit of every wait, the first
 * included. */
static inline uint64_t backoff_wait(uint64_t first, uint64_t max, unsigned failures)
{
    return failures < 64 && first <= max >> failures ? first << failures : max;
}

/* The wait that follows `last` (0: there was none yet): at least `first`, at most `max`. */
static inline uint64_t backoff_next(uint64_t last, uint64_t first, uint64_t max)
{
    uint64_t doubled = last > max / 2 ? max : last * 2;
    uint64_t wait = doubled > first ? doubled : first;
    return wait < max ? wait : max;
}

/* Uniform in [low, high], which are less than 2^32 apart. */
static inline uint64_t backoff_jitter(struct rng *rng, uint64_t low, uint64_t high)
{
    return low < high ? low + rng_below(rng, (uint32_t)(high - low) + 1) : low;
}

/* Uniform in the upper half of `wait`, which is less than 2^32. */
static inline uint64_t backoff_upper_half(struct rng *rng, uint64_t wait)
{
    return backoff_jitter(rng, wait / 2, wait / 2 * 2);
}
