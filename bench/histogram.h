/* SPDX-License-Identifier: Apache-2.0 */
/* Latencies in nanoseconds, exact to 1/128, in a fixed table: linear within each power of two. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
    HISTOGRAM_SUB_BITS = 7,
    HISTOGRAM_BUCKETS = (64 - HISTOGRAM_SUB_BITS) << HISTOGRAM_SUB_BITS
};

struct histogram {
    uint64_t n, max;
    uint64_t buckets[HISTOGRAM_BUCKETS];
};

static inline void histogram_add(struct histogram *h, uint64_t v)
{
    unsigned bits = 0;
    if (v >> HISTOGRAM_SUB_BITS)
        bits = 63 - (unsigned)__builtin_clzll(v) - (HISTOGRAM_SUB_BITS - 1);
    size_t first = bits ? (size_t)bits << (HISTOGRAM_SUB_BITS - 1) : 0;
    h->buckets[first + (size_t)(v >> bits)]++;
    h->n++;
    h->max = v > h->max ? v : h->max;
}

static inline uint64_t histogram_value_of(size_t bucket)
{
    size_t half = (size_t)1 << (HISTOGRAM_SUB_BITS - 1);
    if (bucket < half * 2)
        return bucket;
    size_t bits = bucket / half - 1;
    return (uint64_t)(bucket - bits * half) << bits;
}

/* p: 0 to 100. */
static inline uint64_t histogram_percentile(const struct histogram *h, double p)
{
    uint64_t rank = (uint64_t)((double)h->n * p / 100), seen = 0;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        seen += h->buckets[i];
        if (seen > rank)
            return histogram_value_of(i);
    }
    return h->max;
}
