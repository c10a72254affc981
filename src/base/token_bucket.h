/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Token bucket: at most a burst at once, and so many in a time on average. Tokens are counted in the
 * time in which they come back (the generic cell rate algorithm), so that the state is one number
 * and nothing is lost by rounding: with 100 requests a second and microseconds a request costs
 * 10,000, and a bucket of 500 requests holds 5,000,000.
 *
 * Pure: `now` is passed in, in a unit that the caller chooses, and does not go back. cost <= held.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Zeroed: full. */
struct token_bucket {
    uint64_t full_at; /* when all tokens are back */
};

static inline uint64_t token_bucket_owed(const struct token_bucket *b, uint64_t now)
{
    return b->full_at > now ? b->full_at - now : 0;
}

/* How long until `cost` is there, 0: it is; held: what the full bucket holds. */
static inline uint64_t token_bucket_wait(const struct token_bucket *b, uint64_t held, uint64_t cost,
                                         uint64_t now)
{
    uint64_t owed = token_bucket_owed(b, now) + cost;
    return owed > held ? owed - held : 0;
}

/* Take `cost` whether it is there or not; returns how long the caller has to wait for it, behind
 * everybody who took some before. */
static inline uint64_t token_bucket_reserve(struct token_bucket *b, uint64_t held, uint64_t cost,
                                            uint64_t now)
{
    uint64_t wait = token_bucket_wait(b, held, cost, now);
    b->full_at = now + token_bucket_owed(b, now) + cost;
    return wait;
}

/* false: it is not there, nothing was taken. */
static inline bool token_bucket_take(struct token_bucket *b, uint64_t held, uint64_t cost,
                                     uint64_t now)
{
    return token_bucket_wait(b, held, cost, now) == 0 &&
           token_bucket_reserve(b, held, cost, now) == 0;
}
