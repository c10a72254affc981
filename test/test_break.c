/* SPDX-License-Identifier: Apache-2.0 */
/* BREAK's formulas against the vectors of their specification, and the prediction of times. */
#include "base/mem.h"
#include "base/random.h"
#include "place/break.h"
#include "test.h"

#include <math.h>

#define MIB ((int64_t)1 << 20)
#define CHECK_NEAR(expr, want)                                                                     \
    do {                                                                                           \
        double check_a_ = (expr), check_b_ = (want);                                               \
        if (!(fabs(check_a_ - check_b_) < 0.0005))                                                 \
            TEST_FAIL("%s is %f, expected %f", #expr, check_a_, check_b_);                         \
    } while (0)

TEST(network_scores_are_those_of_the_specification)
{
    static const struct {
        uint32_t bandwidth, rtt;
        double paper;
    } t[] = { { 1, 1, 20 }, { 2, 1, 17.5 }, { 1, 4, 12.5 }, { 4, 4, 5 } };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        CHECK_NEAR(place_break_network(PLACE_BREAK_PAPER, 4, t[i].bandwidth, t[i].rtt), t[i].paper);
        CHECK_NEAR(place_break_network(PLACE_BREAK_NORM, 4, t[i].bandwidth, t[i].rtt),
                   t[i].paper / 2);
    }
}

TEST(balance_and_least_requested_are_those_of_the_specification)
{
    static const struct {
        struct place_break_use use;
        double paper, intended, norm, least_paper, least_norm;
    } t[] = {
        { { 0.5, 0.5, 0.5 }, 0, 10, 10, 8.0, 5.0 },
        { { 0.9, 0.1, 0.5 }, 133.3333, 4.6667, 2.0, 6.0, 3.75 },
        { { 0, 1, 0.5 }, 166.6667, 3.3333, 0, 10.5, 6.5625 },
        { { 0.2, 0.3, 0.1 }, 26.6667, 8.6667, 8.0, 12.4, 7.75 },
        { { 0, 0, 0 }, 0, 10, 10, 16.0, 10.0 },
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        CHECK_NEAR(place_break_balance(PLACE_BREAK_PAPER, t[i].use), t[i].paper);
        CHECK_NEAR(place_break_balance(PLACE_BREAK_INTENDED, t[i].use), t[i].intended);
        CHECK_NEAR(place_break_balance(PLACE_BREAK_NORM, t[i].use), t[i].norm);
        CHECK_NEAR(place_break_least(PLACE_BREAK_PAPER, t[i].use), t[i].least_paper);
        CHECK_NEAR(place_break_least(PLACE_BREAK_NORM, t[i].use), t[i].least_norm);
    }
}

TEST(no_reading_exceeds_its_maximum)
{
    for (int corner = 0; corner < 8; corner++) {
        struct place_break_use use = { corner & 1, corner >> 1 & 1, corner >> 2 & 1 };
        for (int r = 0; r < PLACE_BREAK_READINGS; r++) {
            enum place_break_reading reading = (enum place_break_reading)r;
            double bal = place_break_balance(reading, use), pri = place_break_least(reading, use);
            CHECK(bal >= 0 && bal <= place_break_max(PLACE_BREAK_BALANCE, reading));
            CHECK(pri >= 0 && pri <= place_break_max(PLACE_BREAK_LEAST, reading));
        }
    }
    CHECK_NEAR(place_break_balance(PLACE_BREAK_PAPER, (struct place_break_use){ 1, 0, 0 }), 200);
}

TEST(locality_between_the_thresholds_of_kubernetes_is_that_of_the_specification)
{
    static const struct {
        int64_t mib;
        double hit;
    } t[] = { { 10, 0 }, { 23, 0 }, { 200, 1.8117 }, { 1000, 10 }, { 3000, 10 } };
    for (size_t i = 0; i < ARRAY_LEN(t); i++)
        CHECK_NEAR(place_break_hit(t[i].mib * MIB, 23 * MIB, 1000 * MIB), t[i].hit);
    CHECK_NEAR(place_break_hit(30 * MIB, 0, 120 * MIB), 2.5); /* the proportion that is there */
    CHECK_NEAR(place_break_hit(5, 5, 5), 10);
    CHECK_NEAR(place_break_hit(4, 5, 5), 0);
}

TEST(a_cache_is_free_where_it_is_not_pinned_and_in_the_paper_where_it_is_not_used)
{
    CHECK_NEAR(place_break_available(PLACE_BREAK_PAPER, 100, 90, 20), 0.1);
    CHECK_NEAR(place_break_available(PLACE_BREAK_NORM, 100, 90, 20), 0.8);
    CHECK_NEAR(place_break_available(PLACE_BREAK_NORM, 100, 90, 120), 0); /* a node that lies */
    CHECK_NEAR(place_break_available(PLACE_BREAK_NORM, 0, 0, 0), 0);
}

static struct place_break_order order_of(const int64_t *values, size_t n, bool largest_is_best)
{
    struct place_break_order o = { .largest_is_best = largest_is_best };
    for (size_t i = 0; i < n; i++)
        place_break_order_put(&o, values[i]);
    return o;
}

TEST(equal_measurements_share_the_better_rank)
{
    static const int64_t bandwidth[] = { 50, 500, 500, 100 };
    struct place_break_order o = order_of(bandwidth, 4, true);
    CHECK_INT(place_break_rank(&o, 4, 50), 4);
    CHECK_INT(place_break_rank(&o, 4, 500), 1);
    CHECK_INT(place_break_rank(&o, 4, 100), 3);
    place_break_order_fini(&o);
    o = order_of(bandwidth, 4, false);
    CHECK_INT(place_break_rank(&o, 4, 50), 1);
    CHECK_INT(place_break_rank(&o, 4, 100), 2);
    CHECK_INT(place_break_rank(&o, 4, 500), 3);
    place_break_order_fini(&o);
}

TEST(a_node_without_a_measurement_stands_in_the_middle)
{
    static const int64_t bandwidth[] = { 0, 10, 30, 20, 0 };
    struct place_break_order o = order_of(bandwidth, 5, true);
    CHECK_INT(place_break_rank(&o, 5, 30), 1);
    CHECK_INT(place_break_rank(&o, 5, 20), 2); /* the median, and those that count as it */
    CHECK_INT(place_break_rank(&o, 5, 0), 2);
    CHECK_INT(place_break_rank(&o, 5, 10), 5);
    place_break_order_fini(&o);
    CHECK_INT(place_break_rank(&o, 2, 0), 1);
}

/* Of those that are known the one in the middle, the better one of two. */
static int64_t naive_median(const int64_t *values, size_t n, bool largest_is_best)
{
    int64_t known[16];
    size_t n_known = 0;
    for (size_t i = 0; i < n; i++)
        if (values[i])
            known[n_known++] = values[i];
    for (size_t i = 1; i < n_known; i++)
        for (size_t k = i;
             k > 0 && (largest_is_best ? known[k] > known[k - 1] : known[k] < known[k - 1]); k--) {
            int64_t v = known[k];
            known[k] = known[k - 1];
            known[k - 1] = v;
        }
    return n_known ? known[(n_known - 1) / 2] : 0;
}

static uint32_t naive_rank(const int64_t *values, size_t n, bool largest_is_best, int64_t value)
{
    int64_t median = naive_median(values, n, largest_is_best);
    uint32_t better = 0;
    value = value ? value : median;
    for (size_t i = 0; i < n; i++) {
        int64_t v = values[i] ? values[i] : median;
        better += largest_is_best ? v > value : v < value;
    }
    return better + 1;
}

TEST(ranks_follow_every_change)
{
    enum { NODES = 9, CHANGES = 2000, VALUES = 6 };
    int64_t values[NODES] = { 0 };
    struct rng rng = { .state = 1 };
    for (int largest = 0; largest < 2; largest++) {
        struct place_break_order o = order_of(values, NODES, largest);
        for (int i = 0; i < CHANGES; i++) {
            int64_t *v = &values[rng_below(&rng, NODES)];
            place_break_order_take(&o, *v);
            *v = rng_below(&rng, VALUES);
            place_break_order_put(&o, *v);
            for (size_t k = 0; k < NODES; k++)
                CHECK_INT(place_break_rank(&o, NODES, values[k]),
                          naive_rank(values, NODES, largest, values[k]));
        }
        place_break_order_fini(&o);
    }
}

TEST(there_is_room_for_what_is_missing_and_a_tenth_counting_what_the_cache_can_give)
{
    CHECK(place_break_has_room(1000, 800, 0, 180));
    CHECK(!place_break_has_room(1000, 800, 0, 182));
    CHECK(place_break_has_room(1000, 1000, 500, 450));
    CHECK(!place_break_has_room(1000, 1000, 500, 460));
    CHECK(!place_break_has_room(1000, 800, 5000, 1000)); /* no more than is in use */
    CHECK(place_break_has_room(0, 0, 0, 1 << 30));
    CHECK(place_break_has_room(1000, 2000, 0, 0));
    CHECK(!place_break_is_full(1000, 900));
    CHECK(place_break_is_full(1000, 901));
    CHECK(!place_break_is_full(0, 5));
}

/* ---- predicted time ---- */

#define MBIT ((int64_t)1000000)
static struct place_break_set set_of(uint64_t bits)
{
    return (struct place_break_set){ { bits } };
}

TEST(without_peers_all_layers_come_from_the_registry)
{
    static const int64_t sizes[] = { 10000000, 2500000 };
    struct place_break_deploy d = { .sizes = sizes, .n_layers = 2, .registry_bps = 100 * MBIT };
    CHECK_NEAR(place_break_deploy_s(&d), 1.0);
    d.downlink_bps = 50 * MBIT;
    CHECK_NEAR(place_break_deploy_s(&d), 2.0);
    d.unpack_bytes_per_second = 5000000; /* the smallest is unpacked last */
    CHECK_NEAR(place_break_deploy_s(&d), 2.5);
    d.present = set_of(1);
    CHECK_NEAR(place_break_deploy_s(&d), 0.4 + 0.5);
    d.present = set_of(3);
    CHECK_NEAR(place_break_deploy_s(&d), 0);
    d.present = set_of(0);
    d.registry_bps = 0;
    CHECK(isinf(place_break_deploy_s(&d)));
}

TEST(the_first_byte_of_a_source_comes_after_two_round_trips)
{
    static const int64_t sizes[] = { 1000000, 20000000 };
    const struct place_break_peer peer = { .holds = set_of(3), .uplink_bps = 80 * MBIT };
    struct place_break_deploy d = { .sizes = sizes,
                                    .n_layers = 2,
                                    .registry_bps = 100 * MBIT,
                                    .registry_rtt_us = 200000,
                                    .peer_rtt_us = 15000 };
    CHECK_NEAR(place_break_deploy_s(&d), 1.68 + 0.4); /* once, for both layers */
    d.present = set_of(2);
    CHECK_NEAR(place_break_deploy_s(&d), 0.08 + 0.4);
    d.present = set_of(3);
    CHECK_NEAR(place_break_deploy_s(&d), 0);
    d.peers = &peer; /* slower, and nearer: it is faster with the small layer alone */
    d.n_peers = 1;
    d.present = set_of(2);
    CHECK_NEAR(place_break_deploy_s(&d), 0.1 + 0.03);
    d.registry_rtt_us = 15000;
    CHECK_NEAR(place_break_deploy_s(&d), 0.08 + 0.03);
    d.registry_rtt_us = -5; /* as if it were none */
    CHECK_NEAR(place_break_deploy_s(&d), 0.08);
}

TEST(layers_come_from_where_they_are_first_the_longest_first)
{
    static const int64_t sizes[] = { 5000000, 20000000, 10000000 };
    struct place_break_peer peers[] = {
        { .holds = set_of(7), .uplink_bps = 100 * MBIT },
        { .holds = set_of(7), .uplink_bps = 90 * MBIT },
    };
    struct place_break_deploy d = {
        .sizes = sizes, .n_layers = 3, .peers = peers, .n_peers = 2, .registry_bps = 8 * MBIT
    };
    /* 20 MB from the first (1.6 s), 10 MB from the second (0.889), 5 MB there as well (1.333). */
    CHECK_NEAR(place_break_deploy_s(&d), 1.6);
    peers[1].queued_bytes = 50000000; /* busy for others: the first gets all */
    CHECK_NEAR(place_break_deploy_s(&d), 2.8);
    d.downlink_bps = 20 * MBIT; /* whatever peers could send */
    peers[1].queued_bytes = 0;
    CHECK_NEAR(place_break_deploy_s(&d), 14);
}

TEST(peers_that_are_slower_than_half_the_registry_are_none)
{
    static const int64_t sizes[] = { 10000000 };
    struct place_break_peer peer = { .holds = set_of(1), .uplink_bps = 49 * MBIT };
    struct place_break_deploy d = {
        .sizes = sizes, .n_layers = 1, .peers = &peer, .n_peers = 1, .registry_bps = 100 * MBIT
    };
    CHECK_NEAR(place_break_deploy_s(&d), 0.8);
    d.registry_bps = 0;
    CHECK_NEAR(place_break_deploy_s(&d), 80.0 / 49);
    peer.uplink_bps = MBIT - 1;
    CHECK(isinf(place_break_deploy_s(&d)));
}

TEST(a_large_layer_comes_from_two_peers_that_are_about_as_fast)
{
    static const int64_t sizes[] = { 100000000 };
    struct place_break_peer peers[] = { { .holds = set_of(1), .uplink_bps = 100 * MBIT },
                                        { .holds = set_of(1), .uplink_bps = 80 * MBIT } };
    struct place_break_deploy d = { .sizes = sizes, .n_layers = 1, .peers = peers, .n_peers = 2 };
    CHECK_NEAR(place_break_deploy_s(&d), 5.0); /* 50 MB from the slower one */
    peers[1].uplink_bps = 60 * MBIT;
    CHECK_NEAR(place_break_deploy_s(&d), 8.0);
}

TEST(times_score_by_their_place_between_the_slowest_and_the_fastest)
{
    CHECK_NEAR(place_break_time(1, 1, 5), 10);
    CHECK_NEAR(place_break_time(2, 1, 5), 7.5);
    CHECK_NEAR(place_break_time(5, 1, 5), 0);
    CHECK_NEAR(place_break_time(3, 3, 3), 10);
    CHECK_NEAR(place_break_time(HUGE_VAL, 1, 5), 0);
}

TEST_MAIN
