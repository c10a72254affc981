/* SPDX-License-Identifier: Apache-2.0 */
/* Which sandbox goes; see evict.h. */
#include "place/evict.h"

#include <assert.h>

uint32_t place_reserved_share(const struct place_node *node)
{
    int64_t most = 0;
    for (size_t i = PLACE_CPU_MILLI; i <= PLACE_MEMORY_BYTES; i++)
        if (node->capacity.at[i] > 0)
            most = MAX(most, (int64_t)((__int128)node->used.at[i] * 1000 / node->capacity.at[i]));
    return (uint32_t)MIN(most, UINT32_MAX);
}

/* Does `a` go before `b`? */
static bool goes_before(const struct place_books *books, const struct place_victim *a,
                        const struct place_victim *b)
{
    if ((a->inflight == 0) != (b->inflight == 0))
        return a->inflight == 0;
    if (a->inflight != b->inflight)
        return a->inflight < b->inflight;
    if (a->inflight == 0 && a->idle_since_ms != b->idle_since_ms)
        return a->idle_since_ms < b->idle_since_ms;
    const struct place_node *na = place_node(books, a->node), *nb = place_node(books, b->node);
    uint32_t share_a = na ? place_reserved_share(na) : UINT32_MAX;
    uint32_t share_b = nb ? place_reserved_share(nb) : UINT32_MAX;
    if (share_a != share_b)
        return share_a > share_b;
    return a->sequence > b->sequence;
}

/* Keep ret_at[0..n) a heap whose top is the one that goes last of those chosen. */
static void sift_down(const struct place_books *b, const struct place_victim *s, size_t *at,
                      size_t n, size_t i)
{
    for (;;) {
        size_t last = i, left = 2 * i + 1, right = left + 1;
        if (left < n && goes_before(b, &s[at[last]], &s[at[left]]))
            last = left;
        if (right < n && goes_before(b, &s[at[last]], &s[at[right]]))
            last = right;
        if (last == i)
            return;
        size_t t = at[i];
        at[i] = at[last];
        at[last] = t;
        i = last;
    }
}

static void evict_idlest(const struct place_books *b, const struct place_victim *s, size_t n,
                         size_t k, size_t *at)
{
    for (size_t i = 0; i < k; i++)
        at[i] = i;
    for (size_t i = k / 2; i-- > 0;)
        sift_down(b, s, at, k, i);
    for (size_t i = k; i < n; i++) {
        if (!goes_before(b, &s[i], &s[at[0]]))
            continue;
        at[0] = i;
        sift_down(b, s, at, k, 0);
    }
    for (size_t left = k; left > 1; left--) {
        size_t t = at[0];
        at[0] = at[left - 1];
        at[left - 1] = t;
        sift_down(b, s, at, left - 1, 0);
    }
}

/* Reservoir, then shuffled by taking each place from what came before. */
static void evict_random(size_t n, size_t k, struct rng *rng, size_t *at)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t to = rng_below(rng, (uint32_t)i + 1);
        if (i < k && to != i)
            at[i] = at[to];
        if (to < k)
            at[to] = i;
    }
}

void place_evict(const struct place_books *b, enum place_eviction how,
                 const struct place_victim *sandboxes, size_t n, size_t n_victims, struct rng *rng,
                 size_t *ret_at)
{
    assert(n_victims <= n && n <= UINT32_MAX - 1);
    if (n_victims == 0)
        return;
    switch (how) {
    case PLACE_EVICT_IDLEST:
        evict_idlest(b, sandboxes, n, n_victims, ret_at);
        return;
    case PLACE_EVICT_RANDOM:
        evict_random(n, n_victims, rng, ret_at);
        return;
    }
}
