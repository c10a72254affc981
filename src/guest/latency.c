/* SPDX-License-Identifier: Apache-2.0 */
/* Latency histogram; see latency.h. */
#include "guest/latency.h"

#include "base/mem.h"

enum { LATENCY_BUCKETS = 88 };

struct latency {
    uint8_t n[LATENCY_BUCKETS];
};

static unsigned bucket_of(uint64_t us)
{
    if (us < 4)
        return (unsigned)us;
    unsigned octave = 63 - (unsigned)__builtin_clzll(us);
    unsigned at = octave * 4 + (unsigned)(us >> (octave - 2) & 3) - 4;
    return MIN(at, LATENCY_BUCKETS - 1u);
}

static uint64_t bucket_us(unsigned at)
{
    if (at < 4)
        return at;
    unsigned octave = (at + 4) / 4;
    return (4 + (uint64_t)(at & 3)) << (octave - 2);
}

void latency_add(struct latency **l, uint64_t us)
{
    if (!*l)
        *l = xnew(struct latency);
    uint8_t *b = &(*l)->n[bucket_of(us)];
    if (*b == UINT8_MAX)
        for (unsigned i = 0; i < LATENCY_BUCKETS; i++)
            (*l)->n[i] /= 2;
    ++*b;
}

uint64_t latency_percentile(const struct latency *l, unsigned percent)
{
    unsigned total = 0, seen = 0;
    for (unsigned i = 0; l && i < LATENCY_BUCKETS; i++)
        total += l->n[i];
    for (unsigned i = 0; total && i < LATENCY_BUCKETS; i++) {
        seen += l->n[i];
        if (seen * 100 >= total * percent)
            return bucket_us(i);
    }
    return 0;
}
