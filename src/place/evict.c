/* SPDX-License-Identifier: Apache-2.0 */
/* Which sandboxes to remove; see evict.h. */
#include "place/evict.h"

#include "base/heap.h"

uint32_t place_reserved_share(const struct place_node *node)
{
    int64_t most = 0;
    for (size_t i = PLACE_CPU_MILLI; i <= PLACE_MEMORY_BYTES; i++)
        if (node->capacity.at[i] > 0)
            most = MAX(most, (int64_t)((__int128)node->used.at[i] * 1000 / node->capacity.at[i]));
    return (uint32_t)MIN(most, UINT32_MAX);
}

/* Is `a` removed before `b`? */
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

struct victims {
    const struct place_books *books;
    const struct place_victim *sandboxes;
};

/* The heap of chosen sandboxes has on top the one that is removed last. */
static bool goes_after(const void *a, const void *b, const void *arg)
{
    const struct victims *v = arg;
    return goes_before(v->books, &v->sandboxes[*(const size_t *)b],
                       &v->sandboxes[*(const size_t *)a]);
}

static const struct heap_kind by_going = { sizeof(size_t), goes_after, NULL };

static void evict_idlest(const struct place_books *b, const struct place_victim *s, size_t n,
                         size_t k, size_t *at)
{
    struct victims v = { b, s };
    VEC(size_t) chosen = { .p = at, .cap = k };
    for (size_t i = 0; i < n; i++)
        heap_offer(&by_going, &v, &chosen, i, k);
    while (chosen.n > 1) {
        size_t last = at[0];
        heap_remove(&by_going, &v, &chosen, 1);
        at[chosen.n] = last;
    }
}

/* An inside-out shuffle (Fisher-Yates) that keeps only the first k positions. */
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
