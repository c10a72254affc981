/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seeded randomness for decisions that must replay: placement, policies, drawn load. Not for keys,
 * tokens or anything that must be hard to guess.
 *
 * The state is one word, passed in by its owner; the sequence depends on the seed alone, on every
 * machine. (splitmix64: passes the usual batteries, and any seed is a good one.)
 */
#pragma once

#include <math.h>
#include <stdint.h>

struct rng {
    uint64_t state;
};

static inline uint64_t rng_next(struct rng *r)
{
    uint64_t z = (r->state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Uniform in [0, n), n > 0: the high half of a product, and another draw where the product would
 * favour small numbers (Lemire, ACM TOMACS 29(1), 2019). */
static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
    uint64_t m = (rng_next(r) >> 32) * n;
    if ((uint32_t)m < n) {
        uint32_t low = -n % n;
        while ((uint32_t)m < low)
            m = (rng_next(r) >> 32) * n;
    }
    return (uint32_t)(m >> 32);
}

/* Uniform in [0, 1). */
static inline double rng_unit(struct rng *r)
{
    return (double)(rng_next(r) >> 11) * 0x1p-53;
}

/* Exponential with mean 1. */
static inline double rng_exponential(struct rng *r)
{
    return -log1p(-rng_unit(r));
}

/* Normal with the given mean and standard deviation (Box and Muller; the second value is dropped,
 * so that the state stays one word). */
static inline double rng_normal(struct rng *r, double mean, double deviation)
{
    double radius = sqrt(2 * rng_exponential(r));
    return mean + deviation * radius * cos(6.283185307179586 * rng_unit(r));
}

/* A generator for one part of a whole: the same for the same (seed, a, b), unrelated to others. */
static inline struct rng rng_fork(uint64_t seed, uint64_t a, uint64_t b)
{
    struct rng r = { seed };
    r.state = rng_next(&r) ^ a;
    r.state = rng_next(&r) ^ b;
    r.state = rng_next(&r);
    return r;
}
