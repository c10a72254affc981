/* SPDX-License-Identifier: Apache-2.0 */
/* base/heap, beside an array that is searched. */
#include "base/heap.h"

#include "base/random.h"
#include "test.h"

struct node {
    uint64_t key;
    size_t place;
};

static bool node_before(const void *a, const void *b, const void *arg)
{
    return (*(struct node *const *)a)->key < (*(struct node *const *)b)->key;
}

static void node_placed(void *entry, size_t place)
{
    (*(struct node **)entry)->place = place;
}

static const struct heap_kind by_key = { sizeof(struct node *), node_before, node_placed };

struct value {
    uint32_t key, twin;
    char more[40]; /* an entry that no register holds */
};

static bool value_before(const void *a, const void *b, const void *arg)
{
    const struct value *x = a, *y = b;
    return *(const bool *)arg ? x->key > y->key : x->key < y->key;
}

static const struct heap_kind values = { sizeof(struct value), value_before, NULL };

TEST(entries_leave_in_order)
{
    struct node nodes[] = { { .key = 5 }, { .key = 1 }, { .key = 9 }, { .key = 1 }, { .key = 3 } };
    static const uint64_t want[] = { 1, 1, 3, 5, 9 };
    VEC(struct node *) h = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(nodes); i++)
        heap_push(&by_key, NULL, &h, &nodes[i]);
    for (size_t i = 0; i < ARRAY_LEN(nodes); i++) {
        struct node *first = h.p[0];
        CHECK_INT(first->key, want[i]);
        heap_remove(&by_key, NULL, &h, 1);
        CHECK_INT(first->place, 0);
    }
    CHECK_INT(h.n, 0);
    vec_fini(&h);
}

TEST(an_entry_leaves_from_the_middle_and_others_know_their_places)
{
    struct node nodes[100] = { 0 };
    VEC(struct node *) h = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(nodes); i++) {
        nodes[i].key = (i * 37) % 100;
        heap_push(&by_key, NULL, &h, &nodes[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(nodes); i += 2)
        heap_remove(&by_key, NULL, &h, nodes[i].place);
    CHECK_INT(h.n, 50);
    for (size_t i = 0; i < ARRAY_LEN(nodes); i++)
        CHECK(i % 2 ? h.p[nodes[i].place - 1] == &nodes[i] : nodes[i].place == 0);
    vec_fini(&h);
}

TEST(the_context_of_a_call_decides_the_order)
{
    static const bool highest_first = true;
    VEC(struct value) h = { 0 };
    for (uint32_t i = 0; i < 20; i++)
        heap_push(&values, &highest_first, &h, ((struct value){ .key = i * 7 % 20 }));
    for (uint32_t i = 20; i-- > 0;) {
        CHECK_INT(h.p[0].key, i);
        heap_remove(&values, &highest_first, &h, 1);
    }
    vec_fini(&h);
}

/* The lowest `max` keys of many, however they come. */
TEST(an_offer_keeps_the_last_ones)
{
    static const bool highest_first = true;
    struct rng rng = { test_random() };
    for (size_t max = 1; max <= 40; max += 13) {
        VEC(struct value) h = { 0 };
        uint32_t n_of[50] = { 0 };
        for (int i = 0; i < 500; i++) {
            uint32_t key = rng_below(&rng, 50);
            n_of[key]++;
            heap_offer(&values, &highest_first, &h, ((struct value){ .key = key }), max);
        }
        CHECK_INT(h.n, max);
        size_t left = max;
        for (uint32_t key = 0; key < 50; key++) {
            size_t n = 0;
            for (size_t i = 0; i < h.n; i++)
                n += h.p[i].key == key;
            CHECK_INT(n, MIN(left, (size_t)n_of[key]));
            left -= n;
        }
        vec_fini(&h);
    }
}

enum { N_NODES = 300, N_STEPS = 60000 };

static const struct node *lowest(const struct node *nodes)
{
    const struct node *low = NULL;
    for (size_t i = 0; i < N_NODES; i++)
        if (nodes[i].place && (!low || nodes[i].key < low->key))
            low = &nodes[i];
    return low;
}

static void check_all(struct node *const *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        CHECK_INT(p[i]->place, i + 1);
        CHECK(i == 0 || p[(i - 1) / 2]->key <= p[i]->key);
    }
}

TEST(a_heap_is_as_a_searched_array_under_random_use)
{
    static struct node nodes[N_NODES];
    VEC(struct node *) h = { 0 };
    struct rng rng = { test_random() };
    size_t n = 0;
    for (int step = 0; step < N_STEPS; step++) {
        struct node *at = &nodes[rng_below(&rng, N_NODES)];
        uint64_t key = rng_below(&rng, 200); /* with many equal ones */
        uint32_t what = rng_below(&rng, 10);
        if (!at->place) {
            at->key = key;
            heap_push(&by_key, NULL, &h, at);
            n++;
        } else if (what < 4) {
            at->key = key;
            heap_fix(&by_key, NULL, &h, at->place);
        } else {
            struct node *gone = what < 7 ? at : h.p[0];
            heap_remove(&by_key, NULL, &h, gone->place);
            CHECK_INT(gone->place, 0);
            n--;
        }
        CHECK_INT(h.n, n);
        const struct node *low = lowest(nodes);
        CHECK(!low || h.p[0]->key == low->key);
        if (step % 100 == 0)
            check_all(h.p, h.n);
    }
    vec_fini(&h);
}

/* Values move as a whole: each key comes with the twin it went in with. */
TEST(values_are_as_a_searched_array_under_random_use)
{
    static const bool highest_first = false;
    VEC(struct value) h = { 0 };
    uint32_t n_of[64] = { 0 };
    struct rng rng = { test_random() };
    for (int step = 0; step < N_STEPS; step++) {
        if (h.n == 0 || rng_below(&rng, 100) < (step < N_STEPS / 2 ? 60u : 40u)) {
            uint32_t key = rng_below(&rng, 64);
            n_of[key]++;
            heap_push(&values, &highest_first, &h,
                      ((struct value){ .key = key, .twin = ~key, .more = "whole" }));
            continue;
        }
        uint32_t low = 0;
        while (n_of[low] == 0)
            low++;
        CHECK_INT(h.p[0].key, low);
        size_t place = rng_below(&rng, 3) ? 1 : 1 + rng_below(&rng, (uint32_t)h.n);
        struct value v = h.p[place - 1];
        CHECK(v.twin == ~v.key && strcmp(v.more, "whole") == 0);
        n_of[v.key]--;
        heap_remove(&values, &highest_first, &h, place);
    }
    vec_fini(&h);
}

TEST_MAIN
