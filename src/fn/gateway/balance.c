/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Balancing; see balance.h. Places with room are kept in two orders: in a list, for the policies
 * with an order, and at the front of the vector, for those that choose at random. Every operation
 * except the search for the fewest requests takes constant time.
 */
#include "fn/gateway/balance.h"

void balance_init(struct balance *b, enum fn_balance policy, uint32_t limit, uint32_t soft,
                  uint64_t seed)
{
    *b = (struct balance){ .policy = policy, .limit = limit, .soft = soft, .random = { seed } };
    list_init(&b->room);
}

void balance_fini(struct balance *b)
{
    vec_fini(&b->places);
}

static uint32_t capacity(const struct balance *b)
{
    if (b->limit)
        return b->limit;
    return b->policy == FN_FIRST_FREE && b->soft ? b->soft : UINT32_MAX;
}

static void swap(struct balance *b, uint32_t i, uint32_t j)
{
    assert(i < b->places.n && j < b->places.n);
    struct balance_place *p = b->places.p[i], *q = b->places.p[j];
    assert(p->at == i && q->at == j);
    b->places.p[i] = q;
    b->places.p[j] = p;
    q->at = i;
    p->at = j;
}

/* Update list and vector to match p->running. `first`: insert at the front of the list. */
static void settle(struct balance *b, struct balance_place *p, bool first)
{
    bool has_room = p->running < capacity(b);
    if (list_is_linked(&p->room)) {
        list_remove(&p->room);
        if (!has_room)
            swap(b, p->at, --b->n_room);
    } else if (has_room) {
        swap(b, p->at, b->n_room++);
    }
    if (has_room && first)
        list_push_front(&b->room, &p->room);
    else if (has_room)
        list_push_back(&b->room, &p->room);
    assert(b->n_room <= b->places.n && list_is_linked(&p->room) == (p->at < b->n_room));
}

void balance_set(struct balance *b, enum fn_balance policy, uint32_t limit, uint32_t soft)
{
    if (b->policy == policy && b->limit == limit && b->soft == soft)
        return;
    b->policy = policy;
    b->limit = limit;
    b->soft = soft;
    while (list_pop_front(&b->room))
        ;
    b->n_room = 0;
    for (uint32_t i = 0; i < b->places.n; i++)
        settle(b, b->places.p[i], false);
}

void balance_add(struct balance *b, struct balance_place *p)
{
    assert(!balance_has(p));
    p->at = (uint32_t)b->places.n;
    vec_push(&b->places, p);
    settle(b, p, false); /* after the warm ones */
}

void balance_remove(struct balance *b, struct balance_place *p)
{
    if (!balance_has(p))
        return;
    if (list_is_linked(&p->room)) {
        list_remove(&p->room);
        swap(b, p->at, --b->n_room);
    }
    swap(b, p->at, (uint32_t)b->places.n - 1);
    b->places.n--;
    p->at = UINT32_MAX;
}

/* Of places[0..n), n > 0. */
static struct balance_place *least(struct balance *b, uint32_t n)
{
    struct balance_place *best = b->places.p[0];
    uint32_t ties = 1;
    for (uint32_t i = 1; i < n; i++) {
        struct balance_place *p = b->places.p[i];
        if (p->running < best->running) {
            best = p;
            ties = 1;
        } else if (p->running == best->running && rng_below(&b->random, ++ties) == 0) {
            best = p;
        }
    }
    return best;
}

static struct balance_place *better_of_two(struct balance *b)
{
    uint32_t i = rng_below(&b->random, b->n_room), j = i;
    if (b->n_room > 1) {
        j = rng_below(&b->random, b->n_room - 1);
        j += j >= i;
    }
    struct balance_place *p = b->places.p[i], *q = b->places.p[j];
    return q->running < p->running ? q : p;
}

static struct balance_place *choose(struct balance *b)
{
    if (b->n_room == 0) {
        if (b->limit || b->places.n == 0)
            return NULL;
        return least(b, (uint32_t)b->places.n); /* all are past their target */
    }
    switch (b->policy) {
    case FN_FIRST_FREE:
    case FN_ROUND_ROBIN:
        return list_first(&b->room, struct balance_place, room);
    case FN_P2C:
        return better_of_two(b);
    case FN_LEAST_IN_FLIGHT:
        return least(b, b->n_room);
    case FN_RANDOM:
        return b->places.p[rng_below(&b->random, b->n_room)];
    }
    return NULL;
}

struct balance_place *balance_take(struct balance *b)
{
    struct balance_place *p = choose(b);
    if (!p)
        return NULL;
    assert(balance_has(p) && (!b->limit || p->running < b->limit));
    p->running++;
    settle(b, p, b->policy == FN_FIRST_FREE);
    return p;
}

void balance_give(struct balance *b, struct balance_place *p)
{
    assert(p->running > 0);
    p->running--;
    if (!balance_has(p))
        return;
    bool keeps_place = b->policy == FN_ROUND_ROBIN && list_is_linked(&p->room);
    if (!keeps_place)
        settle(b, p, b->policy == FN_FIRST_FREE);
}
