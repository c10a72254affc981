/* SPDX-License-Identifier: Apache-2.0 */
/* Which sandboxes to remove when a function scales down. */
#pragma once

#include "base/random.h"
#include "place/books.h"

enum place_eviction {
    PLACE_EVICT_IDLEST, /* idle first, then idle longest, then on the fullest node, then newest */
    PLACE_EVICT_RANDOM, /* uniform, also busy ones */
};

struct place_victim {
    uint32_t node;
    uint32_t inflight;      /* busy while > 0 */
    uint64_t idle_since_ms; /* of an idle one; the smallest is removed first */
    uint64_t sequence;      /* of its creation */
};

/*
 * Choose n_victims (<= n) of the sandboxes; ret_at gets their positions, the first to remove in
 * front. With the same books, sandboxes and rng the choice is the same, whatever the order of the
 * sandboxes (random: in the same order).
 */
void place_evict(const struct place_books *b, enum place_eviction how,
                 const struct place_victim *sandboxes, size_t n, size_t n_victims, struct rng *rng,
                 size_t *ret_at);
/* The larger of the reserved shares of CPU and memory, in thousandths. */
uint32_t place_reserved_share(const struct place_node *node);
