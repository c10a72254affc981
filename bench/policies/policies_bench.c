/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What decisions cost, one thread: placement among N nodes that are half full, and autoscaling of
 * functions that are busy. Prints results as members of a JSON array.
 *
 *     policies-bench MILLISECONDS     of each measurement
 */
#include "base/clock.h"
#include "base/err.h"
#include "fn/scale/scale.h"
#include "place/evict.h"
#include "place/place.h"

#include <inttypes.h>
#include <stdio.h>

enum { ROUND = 256, FUNCTIONS = 4000, SANDBOX_CPU = 100 };
#define MIB ((int64_t)1 << 20)

static const char *separator = "";

static void result(const char *metric, const char *labels, double n, uint64_t ns)
{
    double value = n * 1e9 / (double)ns;
    (void)printf("%s  {\"metric\": \"%s\", \"labels\": {%s}, \"unit\": \"1/s\", \"value\": %.0f}",
                 separator, metric, labels, value);
    (void)fprintf(stderr, "%-28s %-48s %12.0f per second\n", metric, labels, value);
    separator = ",\n";
}

/* ---- placement: each round places as many as it takes away ---- */

struct spot {
    uint32_t node, epoch;
};

static void fill(struct place_books *b, uint32_t n_nodes, struct spot *spots, uint32_t n,
                 const struct place_amounts *need)
{
    struct place_amounts capacity = {
        .at = { [PLACE_CPU_MILLI] = 10000, [PLACE_MEMORY_BYTES] = 65536 * MIB }
    };
    struct rng rng = { 1 };
    for (uint32_t i = 0; i < n_nodes; i++)
        (void)place_node_add(b, &capacity, NULL);
    for (uint32_t i = 0; i < n; i++) {
        spots[i].node = rng_below(&rng, n_nodes);
        spots[i].epoch = place_node(b, spots[i].node)->epoch;
        place_reserve(b, spots[i].node, need);
    }
}

static void bench_place(enum place_policy policy, uint32_t n_nodes, uint64_t for_ns)
{
    uint32_t n = n_nodes * 50;
    scoped(place_books_free_scoped) struct place_books *b = place_books_new();
    scoped(free_scoped) struct spot *spots = xnew_n(struct spot, n);
    struct place_options o = { .policy = policy, .seed = 42 };
    scoped(place_free_scoped) struct place *p = place_new(b, &o);
    struct place_request rq = {
        .need = { .at = { [PLACE_CPU_MILLI] = SANDBOX_CPU, [PLACE_MEMORY_BYTES] = 128 * MIB } },
        .image_bytes = (uint64_t)(100 * MIB)
    };
    struct place_tally image = { 0 };
    fill(b, n_nodes, spots, n, &rq.need);
    for (uint32_t i = 0; i < MIN(n_nodes, 20); i++)
        place_tally_add(&image, i * (n_nodes / 20 + 1) % n_nodes, 1);
    rq.image = &image;
    struct rng rng = { 2 };
    uint64_t began = clock_mono_ns(), ns = 0, decisions = 0;
    while (ns < for_ns) {
        for (int i = 0; i < ROUND; i++) {
            struct spot *s = &spots[rng_below(&rng, n)];
            (void)place_release(b, s->node, s->epoch, &rq.need);
            struct place_choice c;
            rq.key = rng_next(&rng);
            if (place_decide(p, &rq, &c, NULL) < 0)
                exit(1);
            *s = (struct spot){ c.node, c.epoch };
        }
        decisions += ROUND;
        ns = clock_mono_ns() - began;
    }
    char labels[128];
    (void)snprintf(labels, sizeof labels, "\"policy\": \"%s\", \"nodes\": %u",
                   place_policy_name(policy), n_nodes);
    result("placement_decisions_per_second", labels, (double)decisions, ns);
    place_tally_fini(&image);
}

/* ---- autoscaling: a report and a tick of each function in turn ---- */

static void bench_scale(enum scale_policy policy, uint64_t for_ns)
{
    struct scale_config c;
    scale_config_default(&c, policy);
    c.concurrency = 1;
    scoped(free_scoped) struct scale *s = xnew_n(struct scale, FUNCTIONS);
    scoped(free_scoped) struct scale_counts *counts = xnew_n(struct scale_counts, FUNCTIONS);
    struct rng rng = { 3 };
    struct scale_decision d;
    uint64_t began = clock_mono_ns(), ns = 0, ticks = 0, now_ms = 3600000;
    for (; ns < for_ns; now_ms += SCALE_TICK_MS) {
        for (int i = 0; i < FUNCTIONS; i++) {
            struct scale_report r = { .running = rng_below(&rng, 5),
                                      .interval_ms = SCALE_TICK_MS,
                                      .arrived = 10,
                                      .finished = 10,
                                      .duration_us = 1000000,
                                      .concurrency_us = 2000000 };
            if (scale_report(&s[i], &c, now_ms, &r, &counts[i], &d))
                counts[i].ready = d.desired;
            scale_tick(&s[i], &c, now_ms, &counts[i], &d);
            counts[i].ready = d.desired;
        }
        ticks += FUNCTIONS;
        ns = clock_mono_ns() - began;
    }
    for (int i = 0; i < FUNCTIONS; i++)
        scale_fini(&s[i]);
    char labels[64];
    (void)snprintf(labels, sizeof labels, "\"policy\": \"%s\"", scale_policy_name(policy));
    result("scale_ticks_per_second", labels, (double)ticks, ns);
}

int main(int argc, char **argv)
{
    static const uint32_t nodes[] = { 10, 93, 1000, 5000 };
    uint64_t ms;
    if (argc != 2 || parse_u64(str_of(argv[1]), 1, 60000, &ms) < 0) {
        (void)fprintf(stderr, "usage: policies-bench MILLISECONDS\n");
        return 2;
    }
    for (int policy = 0; policy < PLACE_POLICY_COUNT; policy++)
        for (size_t i = 0; i < ARRAY_LEN(nodes); i++)
            bench_place((enum place_policy)policy, nodes[i], ms * 1000000);
    for (int policy = 0; policy < SCALE_POLICY_COUNT; policy++)
        bench_scale((enum scale_policy)policy, ms * 1000000);
    (void)printf("\n");
    return 0;
}
