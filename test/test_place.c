/* SPDX-License-Identifier: Apache-2.0 */
/* Capacity books, filters, scores, placement policies and eviction. */
#include "place/evict.h"
#include "place/place.h"
#include "test.h"

#include <errno.h>

#define MIB ((int64_t)1 << 20)

static struct place_amounts amounts(int64_t cpu, int64_t memory)
{
    return (
        struct place_amounts){ .at = { [PLACE_CPU_MILLI] = cpu, [PLACE_MEMORY_BYTES] = memory } };
}

static uint32_t add_node(struct place_books *b, int64_t cpu, int64_t memory)
{
    struct place_amounts capacity = amounts(cpu, memory);
    struct err err = { 0 };
    int r = place_node_add(b, &capacity, &err);
    CHECK_OK(r);
    return (uint32_t)r;
}

static struct place_books *cluster(uint32_t n)
{
    struct place_books *b = place_books_new();
    for (uint32_t i = 0; i < n; i++)
        (void)add_node(b, 4000, 8192 * MIB);
    return b;
}

/* ---- scores ---- */

#define SHARES(...)                                                                                \
    (const struct place_share[])                                                                   \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

TEST(least_allocated_gives_the_integers_of_kube_scheduler)
{
    CHECK_INT(place_score_least_allocated(SHARES({ 4000, 3000, 1 }, { 10000, 6000, 1 }), 2), 32);
    CHECK_INT(place_score_least_allocated(SHARES({ 6000, 2000, 1 }, { 10000, 4000, 1 }), 2), 63);
    /* over in one resource: nothing for that one */
    CHECK_INT(place_score_least_allocated(SHARES({ 4000, 5000, 1 }, { 10000, 5000, 1 }), 2), 25);
    CHECK_INT(place_score_least_allocated(SHARES({ 4000, 3000, 2 }, { 10000, 6000, 1 }), 2), 30);
    CHECK_INT(place_score_least_allocated(SHARES({ 4000, 3000, 2 }, { 0, 6000, 1 }), 2), 25);
    CHECK_INT(place_score_least_allocated(SHARES({ 0, 0, 1 }), 1), 0);
}

TEST(most_allocated_is_full_for_what_is_over)
{
    CHECK_INT(place_score_most_allocated(SHARES({ 4000, 3000, 1 }, { 10000, 6000, 1 }), 2), 67);
    CHECK_INT(place_score_most_allocated(SHARES({ 4000, 5000, 1 }, { 10000, 5000, 1 }), 2), 75);
    CHECK_INT(place_score_most_allocated(SHARES({ 4000, 3000, 2 }, { 10000, 6000, 1 }), 2), 70);
}

TEST(a_shape_is_linear_between_its_points_and_constant_outside)
{
    static const struct place_shape_point one[] = { { 20, 70 } };
    static const struct place_shape_point zigzag[] = { { 10, 100 }, { 30, 0 }, { 90, 50 } };
    CHECK_INT(place_shape_at(one, 1, 0), 70);
    CHECK_INT(place_shape_at(one, 1, 20), 70);
    CHECK_INT(place_shape_at(one, 1, 100), 70);
    static const int64_t at[] = { 0, 10, 11, 20, 30, 31, 60, 89, 90, 100 };
    static const int64_t want[] = { 100, 100, 95, 50, 0, 0, 25, 49, 50, 50 };
    for (size_t i = 0; i < ARRAY_LEN(at); i++)
        CHECK_INT(place_shape_at(zigzag, 3, at[i]), want[i]);
}

TEST(a_score_by_shape_rounds_and_leaves_out_what_scores_nothing)
{
    static const struct place_shape_point fuller[] = { { 0, 0 }, { 100, 100 } };
    static const struct place_shape_point emptier[] = { { 0, 100 }, { 100, 0 } };
    CHECK_INT(place_score_shape(SHARES({ 4000, 3000, 1 }, { 10000, 5000, 1 }), 2, fuller, 2), 63);
    CHECK_INT(place_score_shape(SHARES({ 4000, 0, 1 }, { 10000, 5000, 1 }), 2, fuller, 2), 50);
    CHECK_INT(place_score_shape(SHARES({ 4000, 9000, 1 }, { 10000, 5000, 3 }), 2, fuller, 2), 63);
    CHECK_INT(place_score_shape(SHARES({ 4000, 9000, 1 }, { 10000, 5000, 3 }), 2, emptier, 2), 50);
    CHECK_INT(place_score_shape(SHARES({ 4000, 4000, 1 }), 1, emptier, 2), 0);
}

TEST(balanced_allocation_gives_the_integers_of_kube_scheduler)
{
    CHECK_INT(place_score_balanced(SHARES({ 10000, 6000, 1 }, { 20000, 5000, 1 }), 2), 82);
    CHECK_INT(place_score_balanced(SHARES({ 10000, 6000, 1 }, { 50000, 10000, 1 }), 2), 80);
    CHECK_INT(place_score_balance_change(82, 82), 75);
    CHECK_INT(place_score_balance_change(100, 50), 100);
    CHECK_INT(place_score_balance_change(50, 100), 50);
    CHECK_INT(place_score_balance_change(82, 85), 73);
}

TEST(balanced_allocation_of_three_resources_uses_the_standard_deviation)
{
    /* deviation 0.2449 */
    CHECK_INT(place_score_balanced(SHARES({ 100, 10, 1 }, { 100, 40, 1 }, { 100, 70, 1 }), 3), 75);
    /* a node without it: of two */
    CHECK_INT(place_score_balanced(SHARES({ 100, 10, 1 }, { 100, 40, 1 }, { 0, 70, 1 }), 3), 85);
    CHECK_INT(place_score_balanced(SHARES({ 100, 10, 1 }), 1), 100);
}

TEST(scores_of_amounts_near_the_end_of_the_numbers_do_not_overflow)
{
    const struct place_share *s =
        SHARES({ INT64_MAX, INT64_MAX / 2, 1 }, { INT64_MAX, INT64_MAX / 4, 1 });
    CHECK_INT(place_score_least_allocated(s, 2), 62);
    CHECK_INT(place_score_most_allocated(s, 2), 36);
}

TEST(image_score_grows_with_size_and_spread)
{
    CHECK_INT(place_score_images(0, 50 * MIB, 1000 * MIB), 0);
    CHECK_INT(place_score_images(1000 * MIB, 50 * MIB, 1000 * MIB), 100);
    CHECK_INT(place_score_images(2000 * MIB, 50 * MIB, 1000 * MIB), 100);
    CHECK_INT(place_score_images(525 * MIB, 50 * MIB, 1000 * MIB), 50);
    CHECK_INT(place_score_images(place_image_weight(525 * MIB, 1, 10), 50 * MIB, 1000 * MIB), 0);
    CHECK_INT(place_score_images(20 * MIB, 50 * MIB, 1000 * MIB), 0);
    CHECK_INT(place_score_images(20 * MIB, 50 * MIB, 50 * MIB), 0);
}

/* ---- filters ---- */

TEST(a_request_that_does_not_fit_names_the_resource)
{
    struct place_amounts capacity = amounts(1000, 100), used = amounts(900, 10);
    struct place_amounts need = amounts(100, 90);
    CHECK_INT(place_fit_resources(&capacity, &used, &need), PLACE_FITS);
    need = amounts(101, 90);
    CHECK_INT(place_fit_resources(&capacity, &used, &need), PLACE_NO_CPU);
    need = amounts(100, 91);
    CHECK_INT(place_fit_resources(&capacity, &used, &need), PLACE_NO_MEMORY);
    need = amounts(0, 0);
    need.at[PLACE_FIRST_EXTENDED + 1] = 1;
    CHECK_INT(place_fit_resources(&capacity, &used, &need), PLACE_NO_EXTENDED);
    used = amounts(5000, 500); /* overcommitted: what asks for nothing still fits */
    need = amounts(0, 0);
    CHECK_INT(place_fit_resources(&capacity, &used, &need), PLACE_FITS);
}

TEST(labels_and_taints_keep_sandboxes_away)
{
    scoped(place_books_free_scoped) struct place_books *b = cluster(1);
    struct err err = { 0 };
    CHECK_OK(place_node_label(b, 0, STR("zone"), STR("a"), &err));
    CHECK_OK(place_node_label(b, 0, STR("zone"), STR("b"), &err));
    CHECK_INT(place_node(b, 0)->n_labels, 1);
    struct place_label want = { .key = (uint32_t)place_word(b, STR("zone"), &err),
                                .value = (uint32_t)place_word(b, STR("b"), &err) };
    struct place_constraints c = { .selector = &want, .n_selector = 1 };
    struct place_amounts need = amounts(1, 1);
    CHECK_INT(place_filter(place_node(b, 0), &need, &c), PLACE_FITS);
    want.value = (uint32_t)place_word(b, STR("a"), &err);
    CHECK_INT(place_filter(place_node(b, 0), &need, &c), PLACE_NO_LABEL);
    c.n_selector = 0;

    CHECK_OK(place_node_taint(b, 0, STR("soft"), STR(""), PLACE_PREFER_NO_SCHEDULE, &err));
    CHECK_INT(place_filter(place_node(b, 0), &need, NULL), PLACE_FITS);
    CHECK_OK(place_node_taint(b, 0, STR("gpu"), STR("yes"), PLACE_NO_SCHEDULE, &err));
    CHECK_INT(place_filter(place_node(b, 0), &need, NULL), PLACE_TAINTED);
    struct place_toleration t = { .key = (uint32_t)place_find_word(b, STR("gpu")),
                                  .value = (uint32_t)place_find_word(b, STR("yes")),
                                  .effect = PLACE_NO_SCHEDULE };
    c.tolerations = &t;
    c.n_tolerations = 1;
    CHECK_INT(place_filter(place_node(b, 0), &need, &c), PLACE_FITS);
    t.effect = PLACE_NO_EXECUTE;
    CHECK_INT(place_filter(place_node(b, 0), &need, &c), PLACE_TAINTED);
    t = (struct place_toleration){ .exists = true, .all_effects = true };
    CHECK_INT(place_filter(place_node(b, 0), &need, &c), PLACE_FITS);
    place_node_strip(b, 0);
    CHECK_INT(place_filter(place_node(b, 0), &need, NULL), PLACE_FITS);
    CHECK_ERR(place_find_word(b, STR("never seen")), -ENOENT);
}

/* ---- books ---- */

TEST(a_late_release_for_a_node_that_was_replaced_changes_nothing)
{
    scoped(place_books_free_scoped) struct place_books *b = cluster(2);
    struct place_amounts need = amounts(500, MIB);
    place_reserve(b, 1, &need);
    uint32_t epoch = place_node(b, 1)->epoch;
    place_node_remove(b, 1);
    CHECK(!place_release(b, 1, epoch, &need));
    CHECK_INT(add_node(b, 4000, MIB), 1);
    place_reserve(b, 1, &need);
    CHECK(!place_release(b, 1, epoch, &need));
    CHECK_INT(place_node(b, 1)->used.at[PLACE_CPU_MILLI], 500);
    CHECK(place_release(b, 1, place_node(b, 1)->epoch, &need));
    CHECK_INT(place_node(b, 1)->used.at[PLACE_CPU_MILLI], 0);
}

TEST(extended_resources_get_small_indices_until_there_are_no_more)
{
    scoped(place_books_free_scoped) struct place_books *b = place_books_new();
    struct err err = { 0 };
    char name[16];
    for (int i = PLACE_FIRST_EXTENDED; i < PLACE_RESOURCES; i++) {
        (void)snprintf(name, sizeof name, "gpu-%d", i);
        CHECK_INT(place_resource(b, str_of(name), &err), i);
        CHECK_INT(place_resource(b, str_of(name), &err), i);
    }
    CHECK_ERR(place_resource(b, STR("one-more"), &err), E_LIMIT);
}

TEST(labels_of_a_node_have_a_limit)
{
    scoped(place_books_free_scoped) struct place_books *b = cluster(1);
    struct err err = { 0 };
    char key[16];
    for (int i = 0; i < PLACE_LABELS_MAX; i++) {
        (void)snprintf(key, sizeof key, "k%d", i);
        CHECK_OK(place_node_label(b, 0, str_of(key), STR("v"), &err));
    }
    CHECK_ERR(place_node_label(b, 0, STR("k"), STR("v"), &err), E_LIMIT);
    for (int i = 0; i < PLACE_TAINTS_MAX; i++)
        CHECK_OK(place_node_taint(b, 0, STR("t"), STR("v"), PLACE_NO_EXECUTE, &err));
    CHECK_ERR(place_node_taint(b, 0, STR("t"), STR("v"), PLACE_NO_EXECUTE, &err), E_LIMIT);
}

/* Books against a twin that counts everything anew. */
TEST(lists_of_candidates_and_classes_follow_every_change)
{
    enum { N = 40 };
    scoped(place_books_free_scoped) struct place_books *b = place_books_new();
    struct {
        bool present, schedulable;
        uint32_t n;
    } twin[N] = { 0 };
    struct place_amounts capacity = amounts(1000, 1 << 20), need = amounts(250, 1000);
    for (int step = 0; step < 20000; step++) {
        uint32_t i = (uint32_t)test_random_below(N);
        switch (test_random_below(6)) {
        case 0:
            if (place_n_nodes(b) < N) {
                int at = place_node_add(b, &capacity, NULL);
                CHECK(at >= 0 && at < N && !twin[at].present);
                twin[at].present = twin[at].schedulable = true;
                twin[at].n = 0;
            }
            break;
        case 1:
            if (twin[i].present && test_random_below(4) == 0) {
                place_node_remove(b, i);
                twin[i].present = twin[i].schedulable = false;
            }
            break;
        case 2:
            if (twin[i].present) {
                twin[i].schedulable = !twin[i].schedulable;
                place_node_set_schedulable(b, i, twin[i].schedulable);
            }
            break;
        case 3:
        case 4:
            if (twin[i].present && twin[i].n < 6) {
                place_reserve(b, i, &need);
                twin[i].n++;
            }
            break;
        case 5:
            if (twin[i].present && twin[i].n) {
                CHECK(place_release(b, i, place_node(b, i)->epoch, &need));
                twin[i].n--;
            }
            break;
        }
        uint32_t candidates = 0, classes[PLACE_CLASSES] = { 0 };
        for (uint32_t k = 0; k < N; k++) {
            CHECK((place_node(b, k) != NULL) == twin[k].present);
            if (!twin[k].present || !twin[k].schedulable)
                continue;
            candidates++;
            enum place_class c = twin[k].n == 0  ? PLACE_EMPTY
                                 : twin[k].n < 4 ? PLACE_BUSY
                                                 : PLACE_FULL;
            classes[c]++;
            CHECK_INT(place_candidate(b, place_node(b, k)->candidate_at), k);
            CHECK_INT(place_class_member(b, c, place_node(b, k)->class_at), k);
        }
        CHECK_INT(place_n_candidates(b), candidates);
        for (int c = 0; c < PLACE_CLASSES; c++)
            CHECK_INT(place_n_class(b, (enum place_class)c), classes[c]);
    }
}

TEST(a_tally_counts_as_a_plain_table_does)
{
    struct place_tally t = { 0 };
    uint32_t twin[50] = { 0 };
    for (int step = 0; step < 20000; step++) {
        uint32_t i = (uint32_t)test_random_below(50), n = (uint32_t)test_random_below(4);
        if (test_random_below(2)) {
            place_tally_add(&t, i, n);
            twin[i] += n;
        } else {
            place_tally_sub(&t, i, n);
            twin[i] -= MIN(n, twin[i]);
        }
        if (test_random_below(50) == 0) {
            place_tally_forget(&t, i);
            twin[i] = 0;
        }
        uint64_t total = 0, nodes = 0;
        for (uint32_t k = 0; k < 50; k++) {
            CHECK_INT(place_tally_of(&t, k), twin[k]);
            total += twin[k];
            nodes += twin[k] > 0;
        }
        CHECK_INT(t.total, total);
        CHECK_INT(t.n, nodes);
    }
    place_tally_fini(&t);
    CHECK_INT(place_tally_of(NULL, 3), 0);
}

/* ---- policies ---- */

static struct place *policy(struct place_books *b, enum place_policy which, uint64_t seed)
{
    struct place_options o = { .policy = which, .seed = seed };
    return place_new(b, &o);
}

static uint32_t decide(struct place *p, const struct place_request *rq)
{
    struct place_choice c;
    struct err err = { 0 };
    CHECK_OK(place_decide(p, rq, &c, &err));
    return c.node;
}

static uint32_t choose(struct place *p, const struct place_request *rq)
{
    struct place_choice c;
    struct err err = { 0 };
    CHECK_OK(place_choose(p, rq, &c, &err));
    return c.node;
}

TEST(names_of_policies_are_found)
{
    for (int i = 0; i < PLACE_POLICY_COUNT; i++)
        CHECK_INT(place_policy_of(str_of(place_policy_name((enum place_policy)i))), i);
    CHECK_INT(place_policy_of(STR("best")), PLACE_POLICY_COUNT);
}

TEST(every_policy_fills_a_cluster_exactly_and_then_says_why_not)
{
    for (int which = 0; which < PLACE_POLICY_COUNT; which++) {
        scoped(place_books_free_scoped) struct place_books *b = cluster(5);
        scoped(place_free_scoped) struct place *p = policy(b, (enum place_policy)which, 1);
        struct place_request rq = { .need = amounts(500, 100 * MIB), .key = 7, .mean_gap_ms = 1 };
        double gap = 1;
        place_set_popularity(p, &gap, 1, 100);
        for (int i = 0; i < 40; i++)
            (void)decide(p, &rq);
        struct place_choice c;
        struct err err = { 0 };
        CHECK_ERR(place_decide(p, &rq, &c, &err), -ENOSPC);
        CHECK_STR(str_of(err.text), "none of 5 nodes fits: 5 too little CPU");
        place_node_set_schedulable(b, 0, false);
        CHECK_ERR(place_decide(p, &rq, &c, &err), -ENOSPC);
        CHECK_STR(str_of(err.text), "none of 5 nodes fits: 4 too little CPU, 1 not schedulable");
        for (uint32_t i = 1; i < 5; i++)
            place_node_set_schedulable(b, i, false);
        CHECK_ERR(place_decide(p, &rq, &c, &err), -ENODEV);
    }
}

TEST(a_large_cluster_with_one_free_node_is_filled_there)
{
    for (int which = 0; which < PLACE_POLICY_COUNT; which++) {
        scoped(place_books_free_scoped) struct place_books *b = cluster(1000);
        scoped(place_free_scoped) struct place *p = policy(b, (enum place_policy)which, 2);
        struct place_amounts all = amounts(4000, MIB);
        for (uint32_t i = 0; i < 1000; i++)
            if (i != 777)
                place_reserve(b, i, &all);
        struct place_request rq = { .need = amounts(100, MIB), .key = 99 };
        CHECK_INT(decide(p, &rq), 777);
    }
}

TEST(the_same_seed_gives_the_same_places)
{
    for (int which = 0; which < PLACE_POLICY_COUNT; which++) {
        uint64_t hash[3] = { 0 };
        for (int run = 0; run < 3; run++) {
            scoped(place_books_free_scoped) struct place_books *b = cluster(600);
            scoped(place_free_scoped) struct place *p =
                policy(b, (enum place_policy)which, run == 2 ? 43 : 42);
            double gaps[] = { 1000, 2000, 3000 };
            place_set_popularity(p, gaps, 3, 50);
            for (uint64_t i = 0; i < 500; i++) {
                struct place_request rq = { .need = amounts(100, MIB),
                                            .key = i % 7,
                                            .mean_gap_ms = 1000 };
                hash[run] = hash[run] * 31 + decide(p, &rq);
            }
        }
        CHECK(hash[0] == hash[1]);
        if (which != PLACE_ROUND_ROBIN)
            CHECK(hash[0] != hash[2]);
    }
}

/* Each of n equal nodes gets its share within 1 % of all decisions. */
TEST(ties_are_uniform_within_one_percent)
{
    static const enum place_policy uniform[] = { PLACE_KUBERNETES, PLACE_RANDOM,
                                                 PLACE_WARM_FIRST, PLACE_IMAGE_LOCALITY,
                                                 PLACE_POWER_OF_D, PLACE_HERMOD };
    enum { NODES = 10, DECISIONS = 200000 };
    for (size_t k = 0; k < ARRAY_LEN(uniform); k++) {
        scoped(place_books_free_scoped) struct place_books *b = cluster(NODES);
        scoped(place_free_scoped) struct place *p = policy(b, uniform[k], 42);
        struct place_request rq = { .need = amounts(100, MIB) };
        int counts[NODES] = { 0 };
        for (int i = 0; i < DECISIONS; i++)
            counts[choose(p, &rq)]++;
        for (int i = 0; i < NODES; i++)
            CHECK(abs(counts[i] - DECISIONS / NODES) < DECISIONS / 100);
    }
}

TEST(kubernetes_takes_the_emptier_and_better_balanced_node)
{
    scoped(place_books_free_scoped) struct place_books *b = cluster(3);
    scoped(place_free_scoped) struct place *p = policy(b, PLACE_KUBERNETES, 1);
    struct place_amounts used = amounts(2000, 4096 * MIB);
    place_reserve(b, 0, &used);
    used = amounts(1000, 0);
    place_reserve(b, 1, &used);
    struct place_request rq = { .need = amounts(500, 1024 * MIB) };
    CHECK_INT(choose(p, &rq), 2);
    place_node_set_schedulable(b, 2, false);
    CHECK_INT(choose(p, &rq), 1);
}

TEST(kubernetes_prefers_a_node_with_the_image_unless_told_not_to)
{
    scoped(place_books_free_scoped) struct place_books *b = cluster(3);
    struct place_tally image = { 0 };
    place_tally_add(&image, 1, 1);
    struct place_request rq = { .need = amounts(100, MIB),
                                .image = &image,
                                .image_bytes = (uint64_t)(3000 * MIB) };
    scoped(place_free_scoped) struct place *p = policy(b, PLACE_KUBERNETES, 1);
    struct place_choice c;
    for (int i = 0; i < 50; i++) {
        CHECK_OK(place_choose(p, &rq, &c, NULL));
        CHECK(c.node == 1 && c.has_image && !c.is_warm);
    }
    struct place_options o = { .policy = PLACE_KUBERNETES, .no_image_locality = true };
    scoped(place_free_scoped) struct place *plain = place_new(b, &o);
    int elsewhere = 0;
    for (int i = 0; i < 50; i++)
        elsewhere += choose(plain, &rq) != 1;
    CHECK(elsewhere > 10);
    place_tally_fini(&image);
}

TEST(warm_first_takes_kept_sandboxes_then_images_then_any)
{
    scoped(place_books_free_scoped) struct place_books *b = cluster(400);
    scoped(place_free_scoped) struct place *p = policy(b, PLACE_WARM_FIRST, 1);
    struct place_tally image = { 0 }, warm = { 0 };
    place_tally_add(&image, 5, 1);
    place_tally_add(&warm, 301, 2);
    struct place_request rq = {
        .need = amounts(4000, MIB), .image = &image, .warm = &warm, .image_bytes = 1
    };
    CHECK_INT(decide(p, &rq), 301);
    CHECK_INT(decide(p, &rq), 5);
    uint32_t third = decide(p, &rq);
    CHECK(third != 301 && third != 5);
    place_tally_fini(&image);
    place_tally_fini(&warm);
}

TEST(a_node_that_just_failed_is_taken_only_when_no_other_fits)
{
    for (int which = 0; which < PLACE_POLICY_COUNT; which++) {
        scoped(place_books_free_scoped) struct place_books *b = cluster(4);
        scoped(place_free_scoped) struct place *p = policy(b, (enum place_policy)which, 5);
        uint32_t avoid[] = { 0, 2 };
        struct place_request rq = { .need = amounts(4000, MIB), .avoid = avoid, .n_avoid = 2 };
        uint32_t a = decide(p, &rq), c = decide(p, &rq);
        CHECK((a == 1 && c == 3) || (a == 3 && c == 1));
        a = decide(p, &rq);
        CHECK(a == 0 || a == 2);
    }
}

TEST(round_robin_goes_around_in_order)
{
    scoped(place_books_free_scoped) struct place_books *b = cluster(4);
    scoped(place_free_scoped) struct place *p = policy(b, PLACE_ROUND_ROBIN, 1);
    struct place_request rq = { .need = amounts(1, 1) };
    place_node_set_schedulable(b, 2, false);
    static const uint32_t want[] = { 0, 1, 3, 0, 1, 3, 0 };
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        CHECK_INT(decide(p, &rq), want[i]);
}

TEST(two_choices_keep_the_fullest_node_near_the_mean)
{
    static const enum place_policy which[] = { PLACE_RANDOM, PLACE_POWER_OF_D };
    uint32_t most[2] = { 0 };
    for (int k = 0; k < 2; k++) {
        scoped(place_books_free_scoped) struct place_books *b = cluster(200);
        scoped(place_free_scoped) struct place *p = policy(b, which[k], 9);
        struct place_request rq = { .need = amounts(40, MIB) };
        for (int i = 0; i < 200 * 40; i++)
            (void)decide(p, &rq);
        for (uint32_t i = 0; i < 200; i++)
            most[k] = MAX(most[k], place_node(b, i)->sandboxes);
    }
    CHECK(most[0] > 50);
    CHECK(most[1] < 48);
}

/* Busy and warm, busy, empty and warm, empty; then the least loaded. */
TEST(hermod_consolidates_while_cores_are_free)
{
    scoped(place_books_free_scoped) struct place_books *b = cluster(5);
    scoped(place_free_scoped) struct place *p = policy(b, PLACE_HERMOD, 1);
    struct place_amounts one = amounts(1000, MIB), two = amounts(2000, MIB);
    place_reserve(b, 1, &two);
    place_reserve(b, 2, &one);
    struct place_tally warm = { 0 };
    place_tally_add(&warm, 2, 1);
    place_tally_add(&warm, 3, 1);
    struct place_request rq = { .need = amounts(1000, MIB), .warm = &warm };
    for (int i = 0; i < 3; i++)
        CHECK_INT(decide(p, &rq), 2); /* busy and warm, until it is full */
    CHECK_INT(decide(p, &rq), 1);
    CHECK_INT(decide(p, &rq), 1); /* busy */
    for (int i = 0; i < 4; i++)
        CHECK_INT(decide(p, &rq), 3); /* empty and warm, then busy */
    place_tally_fini(&warm);

    /* All at their cores: the least loaded, and of equals the warm one. */
    scoped(place_books_free_scoped) struct place_books *full = cluster(3);
    struct place_options o = { .policy = PLACE_HERMOD, .reported_load = true };
    scoped(place_free_scoped) struct place *q = place_new(full, &o);
    for (uint32_t i = 0; i < 3; i++) {
        place_reserve(full, i, &one);
        place_node_set_load(full, i, i == 0 ? 9000 : 5000);
    }
    struct place_tally on_two = { 0 };
    place_tally_add(&on_two, 2, 1);
    rq.warm = &on_two;
    for (int i = 0; i < 10; i++)
        CHECK_INT(choose(q, &rq), 2);
    place_tally_fini(&on_two);
}

TEST(hermod_finds_the_busy_nodes_among_thousands)
{
    scoped(place_books_free_scoped) struct place_books *b = cluster(3000);
    scoped(place_free_scoped) struct place *p = policy(b, PLACE_HERMOD, 1);
    struct place_request rq = { .need = amounts(500, MIB) };
    uint32_t used = 0;
    for (int i = 0; i < 80; i++)
        (void)decide(p, &rq);
    for (uint32_t i = 0; i < 3000; i++)
        used += place_node(b, i)->sandboxes > 0;
    CHECK_INT(used, 10);
}

TEST(ch_rlu_keeps_rare_functions_home_and_spills_popular_ones)
{
    scoped(place_books_free_scoped) struct place_books *b = cluster(20);
    scoped(place_free_scoped) struct place *p = policy(b, PLACE_CH_RLU, 3);
    double gaps[10] = { 60000, 60000, 60000, 60000, 60000, 60000, 60000, 60000, 60000, 10 };
    place_set_popularity(p, gaps, 10, 10);
    struct place_request rare = { .need = amounts(1, 1), .key = 17, .mean_gap_ms = 60000 };
    uint32_t home = choose(p, &rare);
    place_node_set_load(b, home, 100000);
    for (int i = 0; i < 20; i++)
        CHECK_INT(choose(p, &rare), home); /* however loaded it is */
    struct place_request popular = rare;
    popular.mean_gap_ms = 10;
    CHECK(choose(p, &popular) != home);
    for (uint32_t i = 0; i < 20; i++)
        place_node_set_load(b, i, 100000);
    CHECK_INT(choose(p, &popular), home); /* nobody has room: home */
}

TEST(ch_rlu_moves_few_functions_when_a_node_goes)
{
    scoped(place_books_free_scoped) struct place_books *b = cluster(20);
    scoped(place_free_scoped) struct place *p = policy(b, PLACE_CH_RLU, 3);
    uint32_t before[500], moved = 0, were_there = 0;
    for (uint64_t k = 0; k < 500; k++) {
        struct place_request rq = { .need = amounts(1, 1), .key = k };
        before[k] = choose(p, &rq);
        were_there += before[k] == 4;
    }
    place_node_set_schedulable(b, 4, false);
    for (uint64_t k = 0; k < 500; k++) {
        struct place_request rq = { .need = amounts(1, 1), .key = k };
        moved += choose(p, &rq) != before[k];
    }
    CHECK_INT(moved, were_there);
    CHECK(were_there > 0 && were_there < 100);
}

/* ---- eviction ---- */

TEST(the_one_idle_longest_goes_first_then_the_fullest_node_then_the_newest)
{
    scoped(place_books_free_scoped) struct place_books *b = cluster(2);
    struct place_amounts need = amounts(1000, MIB);
    place_reserve(b, 1, &need);
    struct place_victim s[] = {
        { .node = 0, .inflight = 3, .sequence = 0 },
        { .node = 0, .idle_since_ms = 200, .sequence = 1 },
        { .node = 0, .idle_since_ms = 100, .sequence = 2 },
        { .node = 1, .idle_since_ms = 100, .sequence = 3 },
        { .node = 0, .idle_since_ms = 100, .sequence = 4 },
        { .node = 0, .inflight = 1, .sequence = 5 },
    };
    static const size_t order[] = { 3, 4, 2, 1, 5, 0 };
    for (size_t k = 0; k <= ARRAY_LEN(s); k++) {
        size_t at[ARRAY_LEN(s)];
        place_evict(b, PLACE_EVICT_IDLEST, s, ARRAY_LEN(s), k, NULL, at);
        for (size_t i = 0; i < k; i++)
            CHECK_INT(at[i], order[i]);
    }
}

TEST(random_eviction_is_uniform_and_takes_nobody_twice)
{
    enum { N = 10, K = 3, RUNS = 100000 };
    scoped(place_books_free_scoped) struct place_books *b = cluster(1);
    struct place_victim s[N] = { 0 };
    struct rng rng = { 42 };
    int counts[N] = { 0 };
    for (int run = 0; run < RUNS; run++) {
        size_t at[K];
        place_evict(b, PLACE_EVICT_RANDOM, s, N, K, &rng, at);
        CHECK(at[0] != at[1] && at[0] != at[2] && at[1] != at[2]);
        for (int i = 0; i < K; i++)
            counts[at[i]]++;
    }
    for (int i = 0; i < N; i++)
        CHECK(abs(counts[i] - RUNS * K / N) < RUNS / 100);
}

TEST_MAIN
