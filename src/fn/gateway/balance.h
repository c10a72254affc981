/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the sandbox of a revision for the next request: the policies of a spec's "balance". Pure:
 * randomness comes from the seed, and nothing waits here.
 *
 * A place with room is taken and given back. Taking a place reserves it, so a limit is never
 * exceeded.
 *
 *     FIRST_FREE  the one used last, until it is full: the others stay idle and can be removed
 *     P2C         the better of two random ones
 *     ROUND_ROBIN in turn, full ones are skipped
 *     LEAST...    the one with the fewest requests, ties at random
 *     RANDOM      any with room
 *
 * Without a hard limit FIRST_FREE fills sandboxes to the soft target and then distributes evenly.
 */
#pragma once

#include "base/list.h"
#include "base/random.h"
#include "base/vec.h"
#include "fn/function.h"

struct balance_place { /* inside of a sandbox */
    struct list room;  /* linked while it has room */
    uint32_t running;
    uint32_t at; /* in balance.places */
};

struct balance {
    enum fn_balance policy;
    uint32_t limit; /* hard; 0: none */
    uint32_t soft;  /* of FIRST_FREE where limit is 0; 0: none */
    struct rng random;
    struct list room; /* the next one first */
    VEC(struct balance_place *) places;
    uint32_t n_room; /* places[0..n_room) are those of `room` */
};

void balance_init(struct balance *b, enum fn_balance policy, uint32_t limit, uint32_t soft,
                  uint64_t seed);
void balance_fini(struct balance *b);
/* Change policy and limits; takes effect immediately. */
void balance_set(struct balance *b, enum fn_balance policy, uint32_t limit, uint32_t soft);
/* Kept until removed; p->running counts. */
void balance_add(struct balance *b, struct balance_place *p);
void balance_remove(struct balance *b, struct balance_place *p);
static inline bool balance_has(const struct balance_place *p)
{
    return p->at != UINT32_MAX;
}
/* Of a place that is in no balance; before the first balance_add(). */
static inline void balance_place_init(struct balance_place *p)
{
    *p = (struct balance_place){ .at = UINT32_MAX };
}
/* running + 1; NULL: all are full. */
struct balance_place *balance_take(struct balance *b);
/* running - 1; also for a place that has been removed since. */
void balance_give(struct balance *b, struct balance_place *p);
