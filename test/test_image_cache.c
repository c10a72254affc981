/* SPDX-License-Identifier: Apache-2.0 */
/* The layer cache: ARC in bytes against the textbook's ARC, LRU and LFU against naive twins, rules.
 */
#include "base/vec.h"
#include "image/cache.h"
#include "test.h"

#include <math.h>

static const uint8_t *key_of(uint64_t id)
{
    static uint8_t keys[8][SHA256_BYTES];
    static unsigned next;
    uint8_t *k = keys[next++ % 8];
    memset(k, 0, SHA256_BYTES);
    memcpy(k, &id, sizeof id);
    return k;
}

static uint64_t id_of(const uint8_t *key)
{
    uint64_t id;
    memcpy(&id, key, sizeof id);
    return id;
}

static enum image_cache_result ask(struct image_cache *c, uint64_t id, uint64_t size,
                                   uint64_t deploy)
{
    return image_cache_access(
        c, &(struct image_cache_request){ .key = key_of(id), .size = size, .deploy = deploy });
}

/* ---- the textbook: ARC(c) of Megiddo and Modha, figure 4, with arrays; [0] is the LRU ---- */

typedef VEC(uint64_t) id_list;

struct textbook {
    id_list t1, t2, b1, b2;
    size_t c;
    double p;
};

static ptrdiff_t position(const id_list *l, uint64_t id)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->p[i] == id)
            return (ptrdiff_t)i;
    return -1;
}

static bool take(id_list *l, uint64_t id)
{
    ptrdiff_t at = position(l, id);
    if (at >= 0)
        vec_remove(l, (size_t)at);
    return at >= 0;
}

static void move_lru(id_list *from, id_list *to)
{
    CHECK(from->n > 0);
    vec_push(to, from->p[0]);
    vec_remove(from, 0);
}

static void textbook_replace(struct textbook *t, bool in_b2)
{
    double n = (double)t->t1.n;
    if (t->t1.n >= 1 && ((in_b2 && n == t->p) || n > t->p))
        move_lru(&t->t1, &t->b1);
    else
        move_lru(&t->t2, &t->b2);
}

static void textbook_new_page(struct textbook *t, uint64_t id)
{
    size_t l1 = t->t1.n + t->b1.n, l2 = t->t2.n + t->b2.n;
    if (l1 == t->c) {
        if (t->t1.n < t->c) {
            vec_remove(&t->b1, 0);
            textbook_replace(t, false);
        } else {
            vec_remove(&t->t1, 0);
        }
    } else if (l1 + l2 >= t->c) {
        if (l1 + l2 == 2 * t->c)
            vec_remove(&t->b2, 0);
        textbook_replace(t, false);
    }
    vec_push(&t->t1, id);
}

static void textbook_access(struct textbook *t, uint64_t id)
{
    double b1 = (double)t->b1.n, b2 = (double)t->b2.n;
    if (take(&t->t1, id) || take(&t->t2, id)) {
        vec_push(&t->t2, id);
    } else if (position(&t->b1, id) >= 0) {
        t->p = fmin((double)t->c, t->p + fmax(1, b2 / b1));
        textbook_replace(t, false);
        (void)take(&t->b1, id);
        vec_push(&t->t2, id);
    } else if (position(&t->b2, id) >= 0) {
        t->p = fmax(0, t->p - fmax(1, b1 / b2));
        textbook_replace(t, true);
        (void)take(&t->b2, id);
        vec_push(&t->t2, id);
    } else {
        textbook_new_page(t, id);
    }
}

static bool collect(void *arg, const uint8_t *key, uint64_t size)
{
    id_list *l = arg;
    vec_push(l, id_of(key));
    return true;
}

static void check_list(const struct image_cache *c, enum image_cache_list list, const id_list *want)
{
    id_list got = { 0 };
    image_cache_each(c, list, collect, &got);
    CHECK_INT(got.n, want->n);
    CHECK(got.n == 0 || memcmp(got.p, want->p, got.n * sizeof *got.p) == 0);
    vec_fini(&got);
}

/* Ids with favourites, that change from time to time, and scans. */
static uint64_t draw_id(size_t step, uint64_t n)
{
    uint64_t at = step / 500 * 7;
    switch (test_random_below(4)) {
    case 0:
        return step % n;
    case 1:
        return (at + test_random_below(n)) % n;
    default:
        return (at + test_random_below(n / 4 + 1)) % n;
    }
}

TEST(with_all_sizes_one_it_is_the_arc_of_the_textbook_step_by_step)
{
    for (int round = 0; round < 60; round++) {
        struct textbook t = { .c = 1 + test_random_below(40) };
        uint64_t n = 1 + test_random_below(4 * t.c + 4);
        struct image_cache_options o = { .capacity = t.c, .bypass_percent = 100 };
        struct image_cache *c = image_cache_new(&o);
        for (size_t step = 0; step < 3000; step++) {
            uint64_t id = draw_id(step, n);
            textbook_access(&t, id);
            (void)ask(c, id, 1, 0);
            CHECK(image_cache_target(c) == t.p);
            check_list(c, IMAGE_CACHE_T1, &t.t1);
            check_list(c, IMAGE_CACHE_T2, &t.t2);
            check_list(c, IMAGE_CACHE_B1, &t.b1);
            check_list(c, IMAGE_CACHE_B2, &t.b2);
        }
        image_cache_free(c);
        vec_fini(&t.t1);
        vec_fini(&t.t2);
        vec_fini(&t.b1);
        vec_fini(&t.b2);
    }
}

/* ---- LRU and LFU against twins that search ---- */

struct naive {
    struct {
        uint64_t id, size, uses, last;
    } at[512];
    size_t n;
    uint64_t used, now;
    bool by_use;
};

static size_t naive_victim(const struct naive *v)
{
    size_t best = 0;
    for (size_t i = 1; i < v->n; i++)
        if (v->by_use && v->at[i].uses != v->at[best].uses ? v->at[i].uses < v->at[best].uses
                                                           : v->at[i].last < v->at[best].last)
            best = i;
    return best;
}

static bool naive_access(struct naive *v, uint64_t id, uint64_t size, uint64_t capacity)
{
    v->now++;
    for (size_t i = 0; i < v->n; i++) {
        if (v->at[i].id != id)
            continue;
        v->at[i].uses++;
        v->at[i].last = v->now;
        return true;
    }
    if (size > capacity / 2)
        return false;
    while (v->used + size > capacity) {
        size_t out = naive_victim(v);
        v->used -= v->at[out].size;
        v->at[out] = v->at[--v->n];
    }
    v->at[v->n].id = id;
    v->at[v->n].size = size;
    v->at[v->n].uses = 1;
    v->at[v->n++].last = v->now;
    v->used += size;
    return false;
}

static uint64_t size_of(uint64_t id)
{
    return 1 + id * 7919 % 97;
}

TEST(lru_and_lfu_do_what_naive_twins_do)
{
    for (int round = 0; round < 20; round++) {
        enum image_cache_policy policy = round % 2 ? IMAGE_CACHE_LRU : IMAGE_CACHE_LFU;
        uint64_t capacity = 200 + 2 * test_random_below(1000), n = 20 + test_random_below(150);
        struct naive *v = xnew(struct naive);
        v->by_use = policy == IMAGE_CACHE_LFU;
        struct image_cache *c = image_cache_new(
            &(struct image_cache_options){ .policy = policy, .capacity = capacity });
        for (size_t step = 0; step < 4000; step++) {
            uint64_t id = draw_id(step, n);
            bool hit = naive_access(v, id, size_of(id), capacity);
            CHECK((ask(c, id, size_of(id), 0) == IMAGE_CACHE_IS_HIT) == hit);
            CHECK_INT(image_cache_used(c), v->used);
            CHECK_INT(image_cache_count(c, IMAGE_CACHE_B1), 0);
        }
        image_cache_free(c);
        free(v);
    }
}

/* ---- invariants under everything at once; a second cache repeats the events ---- */

enum { IDS = 120 };

struct world {
    struct image_cache *c, *twin;
    bool is_there[IDS];
    unsigned pins[IDS];
    unsigned holders[IDS];
};

static void on_event(void *arg, const struct image_cache_event *e)
{
    struct world *w = arg;
    uint64_t id = id_of(e->key);
    if (e->op == IMAGE_CACHE_EVICT) {
        CHECK(w->is_there[id]);
        CHECK_INT(w->pins[id], 0);
    }
    w->is_there[id] = e->list >= IMAGE_CACHE_T1 && e->list <= IMAGE_CACHE_DEAD;
    image_cache_repeat(w->twin, e);
}

static unsigned holders_of(void *arg, const uint8_t *key)
{
    return ((struct world *)arg)->holders[id_of(key)];
}

static void check_world(const struct world *w, uint64_t capacity)
{
    uint64_t bytes[IMAGE_CACHE_LISTS];
    for (int l = 0; l < IMAGE_CACHE_LISTS; l++) {
        id_list ids = { 0 };
        enum image_cache_list list = (enum image_cache_list)l;
        bytes[l] = image_cache_bytes(w->c, list);
        if (list != IMAGE_CACHE_NONE) {
            image_cache_each(w->c, list, collect, &ids);
            check_list(w->twin, list, &ids);
            CHECK_INT(image_cache_bytes(w->twin, list), bytes[l]);
        }
        vec_fini(&ids);
    }
    uint64_t used = bytes[IMAGE_CACHE_T1] + bytes[IMAGE_CACHE_T2] + bytes[IMAGE_CACHE_DEAD];
    CHECK(used <= capacity);
    CHECK(image_cache_pinned(w->c) <= used);
    CHECK(bytes[IMAGE_CACHE_T1] + bytes[IMAGE_CACHE_B1] <= capacity);
    CHECK(used - bytes[IMAGE_CACHE_DEAD] + bytes[IMAGE_CACHE_B1] + bytes[IMAGE_CACHE_B2] <=
          2 * capacity);
    CHECK(image_cache_target(w->c) >= 0 && image_cache_target(w->c) <= (double)capacity);
    CHECK(image_cache_target(w->c) == image_cache_target(w->twin));
    CHECK(image_cache_count(w->c, IMAGE_CACHE_B1) + image_cache_count(w->c, IMAGE_CACHE_B2) <= 30);
    for (uint64_t id = 0; id < IDS; id++) {
        CHECK(image_cache_has(w->c, key_of(id)) == w->is_there[id]);
        CHECK(w->pins[id] == 0 || w->is_there[id]);
    }
}

static bool may_evict(void *arg, const uint8_t *key, uint64_t size)
{
    return test_random_below(3) > 0;
}

static void step_world(struct world *w, size_t step)
{
    uint64_t id = draw_id(step, IDS);
    const uint8_t *key = key_of(id);
    switch (test_random_below(12)) {
    case 0:
        w->pins[id] += image_cache_pin(w->c, key);
        break;
    case 1:
    case 2:
        for (uint64_t i = 0; i < IDS; i++)
            if (w->pins[i] && test_random_below(2)) {
                image_cache_unpin(w->c, key_of(i));
                w->pins[i]--;
            }
        break;
    case 3:
        (void)image_cache_touch(w->c, key);
        break;
    case 4:
        if (test_random_below(4) == 0)
            (void)image_cache_demote(w->c, key);
        break;
    case 5:
        if (w->pins[id] == 0 && test_random_below(4) == 0)
            (void)image_cache_remove(w->c, key);
        break;
    case 6:
        (void)image_cache_prefetch(w->c, key, size_of(id), may_evict, NULL);
        break;
    default:
        (void)image_cache_access(
            w->c, &(struct image_cache_request){ .key = key,
                                                 .size = size_of(id),
                                                 .deploy = 1 + step / 3,
                                                 .refetch_s = (double)test_random_below(10) });
    }
}

static void repeat_one(void *arg, const struct image_cache_event *e)
{
    image_cache_repeat(arg, e);
}

TEST(whatever_happens_bounds_hold_pins_hold_and_events_tell_all)
{
    for (int round = 0; round < 24; round++) {
        struct world *w = xnew(struct world);
        uint64_t capacity = 100 + test_random_below(2500);
        struct image_cache_options o = { .policy = (enum image_cache_policy)(round % 3),
                                         .capacity = capacity,
                                         .ghosts_max = 30,
                                         .best_fit = round & 4,
                                         .holders = round & 8 ? holders_of : NULL,
                                         .by_refetch = round & 16,
                                         .on_event = on_event,
                                         .arg = w };
        struct image_cache_options twin = o;
        twin.on_event = NULL;
        w->c = image_cache_new(&o);
        w->twin = image_cache_new(&twin);
        for (size_t i = 0; i < IDS; i++)
            w->holders[i] = (unsigned)test_random_below(4);
        for (size_t step = 0; step < 1500; step++) {
            step_world(w, step);
            check_world(w, capacity);
        }
        image_cache_free(w->twin);
        w->twin = image_cache_new(&twin);
        image_cache_snapshot(w->c, repeat_one, w->twin);
        check_world(w, capacity);
        image_cache_free(w->c);
        image_cache_free(w->twin);
        free(w);
    }
}

/* ---- rules ---- */

static struct image_cache *arc(uint64_t capacity)
{
    return image_cache_new(&(struct image_cache_options){ .capacity = capacity });
}

TEST(one_deployment_is_one_reference)
{
    scoped(image_cache_free_scoped) struct image_cache *c = arc(100);
    CHECK_INT(ask(c, 1, 10, 7), IMAGE_CACHE_IS_STORED);
    CHECK_INT(ask(c, 1, 10, 7), IMAGE_CACHE_IS_HIT);
    CHECK_INT(image_cache_where(c, key_of(1)), IMAGE_CACHE_T1);
    CHECK_INT(ask(c, 1, 10, 8), IMAGE_CACHE_IS_HIT);
    CHECK_INT(image_cache_where(c, key_of(1)), IMAGE_CACHE_T2);
    CHECK_INT(image_cache_stats(c)->local.n, 2);
    CHECK_INT(image_cache_stats(c)->miss.bytes, 10);
}

TEST(a_request_of_a_peer_makes_a_layer_recent_and_not_frequent)
{
    scoped(image_cache_free_scoped) struct image_cache *c = arc(100);
    (void)ask(c, 1, 40, 1);
    (void)ask(c, 2, 40, 2);
    CHECK(image_cache_touch(c, key_of(1)));
    CHECK(!image_cache_touch(c, key_of(3)));
    CHECK_INT(image_cache_where(c, key_of(1)), IMAGE_CACHE_T1);
    (void)ask(c, 3, 40, 3);
    CHECK(!image_cache_has(c, key_of(2)) && image_cache_has(c, key_of(1)));
    CHECK(!image_cache_touch(c, key_of(2)));
}

TEST(a_layer_larger_than_half_the_cache_is_not_kept)
{
    scoped(image_cache_free_scoped) struct image_cache *c = arc(101);
    CHECK_INT(ask(c, 1, 51, 1), IMAGE_CACHE_IS_BYPASSED);
    CHECK_INT(ask(c, 2, 50, 1), IMAGE_CACHE_IS_STORED);
    CHECK_INT(ask(c, 3, UINT64_MAX, 1), IMAGE_CACHE_IS_BYPASSED);
    CHECK_INT(image_cache_stats(c)->bypassed.n, 2);
    CHECK_INT(image_cache_used(c), 50);
}

TEST(what_pins_do_not_leave_room_for_evicts_nothing)
{
    scoped(image_cache_free_scoped) struct image_cache *c = arc(100);
    (void)ask(c, 1, 40, 1);
    (void)ask(c, 2, 40, 1);
    CHECK(image_cache_pin(c, key_of(1)));
    CHECK(image_cache_pin(c, key_of(2)));
    (void)ask(c, 3, 10, 1);
    CHECK_INT(ask(c, 4, 30, 1), IMAGE_CACHE_IS_REFUSED);
    CHECK(image_cache_has(c, key_of(3)));
    image_cache_unpin(c, key_of(1));
    CHECK_INT(ask(c, 4, 30, 1), IMAGE_CACHE_IS_STORED);
    CHECK(image_cache_has(c, key_of(2)) && !image_cache_has(c, key_of(1)));
    CHECK_INT(image_cache_stats(c)->refused.bytes, 30);
}

TEST(a_removed_layer_keeps_its_pins_until_they_are_returned)
{
    scoped(image_cache_free_scoped) struct image_cache *c = arc(100);
    (void)ask(c, 1, 40, 1);
    CHECK(image_cache_pin(c, key_of(1)));
    CHECK(image_cache_remove(c, key_of(1)));
    CHECK(!image_cache_remove(c, key_of(1)));
    CHECK_INT(image_cache_pinned(c), 0);
    (void)ask(c, 1, 30, 2);
    CHECK_INT(image_cache_pinned(c), 30);
    CHECK(image_cache_remove(c, key_of(1)));
    image_cache_unpin(c, key_of(1));
    CHECK_INT(image_cache_used(c), 0);
}

TEST(the_dead_leave_first_and_a_request_revives_them)
{
    scoped(image_cache_free_scoped) struct image_cache *c = arc(100);
    for (uint64_t id = 1; id <= 4; id++)
        (void)ask(c, id, 25, id);
    CHECK(image_cache_demote(c, key_of(3)));
    CHECK(image_cache_demote(c, key_of(4)));
    (void)ask(c, 4, 25, 9);
    CHECK_INT(image_cache_where(c, key_of(4)), IMAGE_CACHE_T2);
    (void)ask(c, 5, 25, 10);
    CHECK_INT(image_cache_where(c, key_of(3)), IMAGE_CACHE_NONE); /* and leaves no ghost */
    CHECK(image_cache_has(c, key_of(1)));
}

static bool never(void *arg, const uint8_t *key, uint64_t size)
{
    ++*(unsigned *)arg;
    return false;
}

TEST(a_prefetched_layer_is_the_next_to_leave_until_it_is_used)
{
    unsigned asked = 0;
    scoped(image_cache_free_scoped) struct image_cache *c = arc(100);
    (void)ask(c, 1, 40, 1);
    CHECK(image_cache_prefetch(c, key_of(2), 40, never, &asked)); /* there is room */
    CHECK_INT(asked, 0);
    CHECK(!image_cache_prefetch(c, key_of(2), 40, NULL, NULL));
    CHECK(!image_cache_prefetch(c, key_of(3), 40, never, &asked));
    CHECK_INT(asked, 1);
    (void)ask(c, 4, 40, 2);
    CHECK_INT(image_cache_where(c, key_of(2)), IMAGE_CACHE_NONE);
    CHECK(image_cache_has(c, key_of(1)));
    CHECK_INT(image_cache_stats(c)->prefetch_wasted.n, 1);

    CHECK(image_cache_prefetch(c, key_of(5), 10, NULL, NULL));
    CHECK_INT(ask(c, 5, 10, 3), IMAGE_CACHE_IS_HIT);
    CHECK_INT(image_cache_where(c, key_of(5)), IMAGE_CACHE_T1);
    CHECK_INT(image_cache_stats(c)->prefetch_used.bytes, 10);
    (void)ask(c, 5, 10, 4);
    CHECK_INT(image_cache_where(c, key_of(5)), IMAGE_CACHE_T2);
}

TEST(a_prefetched_layer_that_is_removed_is_wasted_once)
{
    scoped(image_cache_free_scoped) struct image_cache *c = arc(100);
    CHECK(image_cache_prefetch(c, key_of(1), 40, NULL, NULL));
    CHECK(image_cache_prefetch(c, key_of(2), 10, NULL, NULL));
    CHECK(image_cache_remove(c, key_of(1)));
    CHECK_INT(image_cache_stats(c)->prefetch_wasted.bytes, 40);
    CHECK(image_cache_pin(c, key_of(2)));
    CHECK(image_cache_remove(c, key_of(2)));
    CHECK_INT(image_cache_stats(c)->prefetch_wasted.bytes, 50);
    (void)ask(c, 2, 10, 1); /* as any other */
    CHECK(image_cache_remove(c, key_of(2)));
    CHECK_INT(image_cache_stats(c)->prefetch_wasted.bytes, 50);
    CHECK_INT(image_cache_stats(c)->prefetch_wasted.n, 2);
    image_cache_unpin(c, key_of(2));
}

TEST(a_prefetched_ghost_was_seen_before)
{
    scoped(image_cache_free_scoped) struct image_cache *c = arc(100);
    for (uint64_t id = 1; id <= 4; id++)
        (void)ask(c, id, 50, id);
    CHECK_INT(image_cache_where(c, key_of(2)), IMAGE_CACHE_NONE); /* beyond what B1 may hold */
    (void)ask(c, 4, 50, 5);
    (void)ask(c, 5, 30, 6);
    (void)ask(c, 6, 30, 7);
    CHECK_INT(image_cache_where(c, key_of(5)), IMAGE_CACHE_B1);
    CHECK(image_cache_prefetch(c, key_of(5), 20, NULL, NULL));
    (void)ask(c, 5, 20, 8);
    CHECK_INT(image_cache_where(c, key_of(5)), IMAGE_CACHE_T2);
}

TEST(best_fit_frees_the_least_too_much_among_four)
{
    scoped(image_cache_free_scoped) struct image_cache *c =
        image_cache_new(&(struct image_cache_options){ .capacity = 100, .best_fit = true });
    static const uint64_t sizes[] = { 40, 9, 25, 20, 6 };
    for (uint64_t id = 0; id < ARRAY_LEN(sizes); id++)
        (void)ask(c, id, sizes[id], id + 1);
    (void)ask(c, 9, 22, 10);
    CHECK(!image_cache_has(c, key_of(2))); /* 25 alone are enough; 40 are more */
    CHECK_INT(image_cache_used(c), 97);
    (void)ask(c, 10, 45, 11); /* none is enough: the least recent, then for 2 more bytes 6 */
    CHECK(!image_cache_has(c, key_of(0)) && !image_cache_has(c, key_of(4)));
    CHECK_INT(image_cache_used(c), 96);
}

static unsigned odd_are_held(void *arg, const uint8_t *key)
{
    return id_of(key) % 2 ? 2 : 0;
}

TEST(what_no_peer_holds_stays_while_a_copy_of_another_is_left)
{
    scoped(image_cache_free_scoped) struct image_cache *c =
        image_cache_new(&(struct image_cache_options){ .capacity = 100, .holders = odd_are_held });
    for (uint64_t id = 2; id <= 5; id++)
        (void)ask(c, id, 25, id);
    (void)ask(c, 6, 25, 6);
    CHECK(image_cache_has(c, key_of(2)) && !image_cache_has(c, key_of(3)));
}

TEST(a_layer_that_is_slow_to_fetch_moves_the_target_further)
{
    double moved[2];
    for (int slow = 0; slow < 2; slow++) {
        scoped(image_cache_free_scoped) struct image_cache *c =
            image_cache_new(&(struct image_cache_options){ .capacity = 100, .by_refetch = true });
        for (uint64_t id = 1; id <= 4; id++)
            (void)image_cache_access(
                c, &(struct image_cache_request){
                       .key = key_of(id), .size = 30, .deploy = id, .refetch_s = 1 });
        CHECK_INT(image_cache_where(c, key_of(1)), IMAGE_CACHE_NONE);
        (void)ask(c, 4, 30, 5); /* T2, so that B1 may hold one */
        (void)ask(c, 5, 30, 6);
        CHECK_INT(image_cache_where(c, key_of(2)), IMAGE_CACHE_B1);
        (void)image_cache_access(
            c, &(struct image_cache_request){
                   .key = key_of(2), .size = 30, .deploy = 7, .refetch_s = slow ? 3 : 1 });
        moved[slow] = image_cache_target(c);
    }
    CHECK(moved[0] == 30);
    CHECK(moved[1] > 1.5 * moved[0]);
}

/* ---- after a restart ---- */

static struct image_cache_found found(uint64_t id, uint64_t size, int64_t mtime_s)
{
    struct image_cache_found f = { .size = size, .mtime_s = mtime_s };
    memcpy(f.key, key_of(id), SHA256_BYTES);
    return f;
}

TEST(without_a_journal_all_start_in_t1_by_age_and_the_target_is_half)
{
    scoped(image_cache_free_scoped) struct image_cache *c = arc(100);
    struct image_cache_found f[] = { found(1, 40, 300), found(2, 40, 100), found(3, 40, 200) };
    image_cache_reset(c);
    image_cache_settle(c, f, ARRAY_LEN(f));
    CHECK(image_cache_target(c) == 50);
    CHECK_INT(image_cache_where(c, key_of(1)), IMAGE_CACHE_T1);
    CHECK_INT(image_cache_where(c, key_of(3)), IMAGE_CACHE_T1);
    CHECK(!image_cache_has(c, key_of(2))); /* the oldest had no room */
}

TEST(the_disk_is_the_truth)
{
    scoped(image_cache_free_scoped) struct image_cache *c = arc(100);
    (void)ask(c, 1, 10, 1);
    (void)ask(c, 2, 10, 2);
    (void)ask(c, 2, 10, 3);
    struct image_cache_found f[] = { found(2, 15, 5), found(4, 20, 9) };
    image_cache_settle(c, f, ARRAY_LEN(f));
    CHECK_INT(image_cache_where(c, key_of(1)), IMAGE_CACHE_NONE);
    CHECK_INT(image_cache_where(c, key_of(2)), IMAGE_CACHE_T2);
    CHECK_INT(image_cache_where(c, key_of(4)), IMAGE_CACHE_T1);
    CHECK_INT(image_cache_used(c), 35);
}

TEST(events_that_make_no_sense_change_nothing_that_matters)
{
    for (int round = 0; round < 200; round++) {
        scoped(image_cache_free_scoped) struct image_cache *c =
            image_cache_new(&(struct image_cache_options){
                .policy = (enum image_cache_policy)(round % 3), .capacity = 1000 });
        for (int i = 0; i < 300; i++) {
            struct image_cache_event e = { .op = (enum image_cache_op)test_random_below(12),
                                           .list = (enum image_cache_list)test_random_below(9),
                                           .size = test_random_below(5) ? test_random_below(400)
                                                                        : test_random(),
                                           .target = test_random_below(9) ? 500 : NAN };
            memcpy(e.key, key_of(test_random_below(50)), SHA256_BYTES);
            image_cache_repeat(c, &e);
        }
        struct image_cache_found f[60];
        for (uint64_t i = 0; i < ARRAY_LEN(f); i++)
            f[i] = found(i, test_random_below(100), (int64_t)test_random_below(9));
        image_cache_settle(c, f, ARRAY_LEN(f));
        CHECK(image_cache_used(c) <= 1000);
        CHECK(image_cache_target(c) >= 0 && image_cache_target(c) <= 1000);
        (void)ask(c, 99, 400, 1);
        CHECK(image_cache_has(c, key_of(99)));
    }
}

/* ---- where the caller deletes ---- */

static struct image_cache *new_led(enum image_cache_policy policy)
{
    return image_cache_new(
        &(struct image_cache_options){ .policy = policy, .capacity = 100, .caller_evicts = true });
}

static enum image_cache_result arrive(struct image_cache *c, uint8_t id, uint64_t size)
{
    const uint8_t key[SHA256_BYTES] = { id };
    return image_cache_access(c, &(struct image_cache_request){ .key = key, .size = size });
}

static uint8_t leave(struct image_cache *c)
{
    uint8_t key[SHA256_BYTES];
    uint64_t size;
    if (!image_cache_next(c, 1, key, &size))
        return 0;
    image_cache_evict(c, key);
    return key[0];
}

TEST(where_the_caller_deletes_nothing_leaves_by_itself)
{
    struct image_cache *c = new_led(IMAGE_CACHE_ARC);
    for (uint8_t i = 1; i <= 9; i++)
        CHECK_INT(arrive(c, i, 30), IMAGE_CACHE_IS_STORED);
    CHECK_INT(image_cache_used(c), 270);
    const uint8_t first[SHA256_BYTES] = { 1 };
    CHECK(image_cache_pin(c, first));
    CHECK_INT(leave(c), 2);
    CHECK_INT(leave(c), 3);
    image_cache_unpin(c, first);
    CHECK_INT(leave(c), 1);
    CHECK_INT(image_cache_used(c), 180);
    image_cache_free(c);
}

TEST(where_the_caller_deletes_a_layer_that_is_too_large_leaves_next)
{
    struct image_cache *c = new_led(IMAGE_CACHE_ARC);
    CHECK_INT(arrive(c, 1, 30), IMAGE_CACHE_IS_STORED);
    CHECK_INT(arrive(c, 2, 60), IMAGE_CACHE_IS_BYPASSED);
    CHECK_INT(arrive(c, 2, 60), IMAGE_CACHE_IS_HIT); /* still too large */
    CHECK_INT(leave(c), 2);
    CHECK_INT(leave(c), 1);
    CHECK_INT(leave(c), 0);
    image_cache_free(c);
}

TEST(an_expected_ghost_moves_the_target_once_and_before_room_is_made)
{
    struct image_cache *c = new_led(IMAGE_CACHE_ARC);
    const uint8_t key[SHA256_BYTES] = { 1 };
    CHECK_INT(arrive(c, 1, 20), IMAGE_CACHE_IS_STORED);
    CHECK_INT(arrive(c, 2, 20), IMAGE_CACHE_IS_STORED);
    CHECK_INT(leave(c), 1);
    CHECK_INT(image_cache_where(c, key), IMAGE_CACHE_B1);
    image_cache_expect(c, key);
    CHECK(image_cache_target(c) == 20);
    image_cache_expect(c, key); /* it failed to come, and is tried again */
    CHECK_INT(arrive(c, 1, 25), IMAGE_CACHE_IS_STORED);
    CHECK(image_cache_target(c) == 20);
    CHECK_INT(image_cache_where(c, key), IMAGE_CACHE_T2);
    image_cache_free(c);
}

static void repeat_in(void *arg, const struct image_cache_event *e)
{
    image_cache_repeat(arg, e);
}

TEST(how_often_layers_were_used_outlives_a_snapshot)
{
    struct image_cache *c = new_led(IMAGE_CACHE_LFU), *again = new_led(IMAGE_CACHE_LFU);
    for (uint8_t i = 1; i <= 3; i++)
        CHECK_INT(arrive(c, i, 10), IMAGE_CACHE_IS_STORED);
    for (int i = 0; i < 3; i++)
        CHECK_INT(arrive(c, 1, 10), IMAGE_CACHE_IS_HIT);
    image_cache_snapshot(c, repeat_in, again);
    for (int i = 0; i < 2; i++)
        CHECK_INT(arrive(again, 2, 10), IMAGE_CACHE_IS_HIT);
    CHECK_INT(leave(again), 3);
    CHECK_INT(leave(again), 2); /* used three times, the first four times */
    CHECK_INT(leave(again), 1);
    image_cache_free(c);
    image_cache_free(again);
}

TEST_MAIN
