/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Token bucket: a rate limit with a burst. Tokens are counted by the time that it takes to refill
 * them (the generic cell rate algorithm), so that the state is one number and rounding loses
 * nothing: at 100 requests a second, in microseconds, a request costs 10,000, and a bucket of 500
 * requests holds 5,000,000.
 *
 * Pure: `now` is passed in, in a unit that the caller chooses, and never decreases. cost <= held.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Zeroed: full. */
struct token_bucket {
    uint64_t full_at; /* when the bucket is full again */
};

static inline uint64_t token_bucket_owed(const struct token_bucket *b, uint64_t now)
{
    return b->full_at > now ? b->full_at - now : 0;
}

/* How long until `cost` is available; 0: it is. held: what the full bucket holds. */
static inline uint64_t token_bucket_wait(const struct token_bucket *b, uint64_t held, uint64_t cost,
                                         uint64_t now)
{
    uint64_t owed = token_bucket_owed(b, now) + cost;
    return owed > held ? owed - held : 0;
}

/* Take `cost` whether it is available or not; returns how long the caller must wait for it, after
 * all earlier callers. */
static inline uint64_t token_bucket_reserve(struct token_bucket *b, uint64_t held, uint64_t cost,
                                            uint64_t now)
{
    uint64_t wait = token_bucket_wait(b, held, cost, now);
    b->full_at = now + token_bucket_owed(b, now) + cost;
    return wait;
}

/* Take `cost` if it is available. false: it is not, and nothing was taken. */
static inline bool token_bucket_take(struct token_bucket *b, uint64_t held, uint64_t cost,
                                     uint64_t now)
{
    return token_bucket_wait(b, held, cost, now) == 0 &&
           token_bucket_reserve(b, held, cost, now) == 0;
}
