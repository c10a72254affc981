/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long to wait before something is tried again: twice as long each time, up to a limit, and
 * spread so that those that failed together do not come back together. Pure: times are in whatever
 * unit the caller has, and the state is the caller's, either the number of failures so far or the
 * latest wait. An answer resets either to 0.
 */
#pragma once

#include "base/random.h"

#include <stdint.h>

/* failures: before this one; 0: the wait is `first`. max: at most, also of the first. */
static inline uint64_t backoff_wait(uint64_t first, uint64_t max, unsigned failures)
{
    return failures < 64 && first <= max >> failures ? first << failures : max;
}

/* The wait after `last`, which is 0 before the first: at least `first`, at most `max`. */
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
