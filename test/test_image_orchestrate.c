/* SPDX-License-Identifier: Apache-2.0 */
/* Transfer plans: properties of random ones, the best possible for small ones, joins and storms. */
#include "base/mem.h"
#include "image/orchestrate.h"
#include "test.h"

#include <math.h>

#define MB   ((int64_t)1000000)
#define MBIT ((int64_t)1000000)

enum { NODES_MAX = 24, LAYERS_MAX = 40, FLIGHTS_MAX = 20 };

struct world {
    struct image_orchestrate_layer layers[LAYERS_MAX];
    struct image_orchestrate_node nodes[NODES_MAX];
    struct image_orchestrate_flight flights[FLIGHTS_MAX];
    struct image_orchestrate o;
};

static void world_init(struct world *w, size_t layers, size_t nodes)
{
    memset(w, 0, sizeof *w);
    w->o = (struct image_orchestrate){ .layers = w->layers,
                                       .n_layers = layers,
                                       .nodes = w->nodes,
                                       .n_nodes = nodes,
                                       .flights = w->flights,
                                       .registry_bps = 100 * MBIT };
    for (size_t i = 0; i < layers; i++)
        w->layers[i].size = 10 * MB;
    for (size_t i = 0; i < nodes; i++) {
        w->nodes[i].slots = IMAGE_ORCHESTRATE_SLOTS;
        w->nodes[i].uplink_bps = 100 * MBIT;
    }
}

static void draw_world(struct world *w)
{
    world_init(w, 1 + test_random_below(LAYERS_MAX), 1 + test_random_below(NODES_MAX));
    w->o.node = (uint32_t)test_random_below(w->o.n_nodes);
    w->o.registry_bps = (int64_t)test_random_below(5) * 40 * MBIT;
    w->o.downlink_bps = (int64_t)test_random_below(3) * 200 * MBIT;
    w->o.unpack_bytes_per_second = (int64_t)test_random_below(2) * 100 * MB;
    for (size_t i = 0; i < w->o.n_layers; i++) {
        w->layers[i].size = (int64_t)test_random_below(test_random_below(3) ? 20000000 : 150000000);
        w->layers[i].is_urgent = test_random_below(5) == 0;
    }
    for (size_t i = 0; i < w->o.n_nodes; i++) {
        struct image_orchestrate_node *n = &w->nodes[i];
        uint64_t of = 1 + test_random_below(6);
        for (size_t l = 0; l < w->o.n_layers; l++)
            if (test_random_below(of) == 0)
                place_break_put(&n->holds, l);
        n->silent_ms = test_random_below(40000);
        n->slots = (unsigned)test_random_below(4);
        n->uplink_bps = (int64_t)test_random_below(300) * MBIT;
        n->queued_bytes = (int64_t)test_random_below(3) * 10 * MB;
    }
    w->o.n_flights = test_random_below(FLIGHTS_MAX + 1);
    for (size_t i = 0; i < w->o.n_flights; i++)
        w->flights[i] =
            (struct image_orchestrate_flight){ .layer = (uint32_t)test_random_below(w->o.n_layers),
                                               .to = (uint32_t)test_random_below(w->o.n_nodes),
                                               .from = (int)test_random_below(w->o.n_nodes + 1) - 1,
                                               .left_ms = (int64_t)test_random_below(5000) };
}

static bool may_send(const struct world *w, int node, uint32_t layer)
{
    const struct image_orchestrate_node *n = &w->nodes[node];
    return node != (int)w->o.node && place_break_in(&n->holds, layer) && n->slots > 0 &&
           n->silent_ms <= 30000 && n->uplink_bps > 0;
}

static void check_alternatives(const struct world *w, const struct image_task *t)
{
    for (uint32_t k = 0; k < t->n_alternatives; k++) {
        int a = t->alternatives[k];
        CHECK(a != t->source);
        if (a == PLACE_BREAK_REGISTRY)
            CHECK_INT(k, t->n_alternatives - 1);
        else
            CHECK(may_send(w, a, t->layer));
        for (uint32_t j = 0; j < k; j++)
            CHECK(t->alternatives[j] != a);
    }
    if (t->source != PLACE_BREAK_REGISTRY && t->kind != IMAGE_TASK_JOIN && w->o.registry_bps > 0)
        CHECK(t->n_alternatives > 0 &&
              t->alternatives[t->n_alternatives - 1] == PLACE_BREAK_REGISTRY);
}

static void check_task(const struct world *w, const struct image_task *t)
{
    CHECK(!place_break_in(&w->nodes[w->o.node].holds, t->layer));
    CHECK(t->from >= 0 && t->to <= w->layers[t->layer].size);
    CHECK(t->expect_ms >= 0);
    switch (t->kind) {
    case IMAGE_TASK_REGISTRY:
        CHECK_INT(t->source, PLACE_BREAK_REGISTRY);
        CHECK(w->o.registry_bps > 0);
        break;
    case IMAGE_TASK_PEER:
        CHECK(may_send(w, t->source, t->layer));
        break;
    case IMAGE_TASK_AFTER:
        CHECK(t->source != (int)w->o.node);
        break;
    case IMAGE_TASK_JOIN:
        break;
    }
    check_alternatives(w, t);
}

static void check_all(const struct world *w, const struct image_tasks *tasks)
{
    uint32_t last_priority = 0;
    int64_t covered[LAYERS_MAX] = { 0 };
    bool seen[LAYERS_MAX] = { false };
    for (size_t i = 0; i < tasks->all.n; i++) {
        const struct image_task *t = &tasks->all.p[i];
        check_task(w, t);
        CHECK(t->priority == last_priority || t->priority == last_priority + 1);
        last_priority = t->priority;
        CHECK_INT(t->from, covered[t->layer]); /* ranges follow each other without a gap */
        covered[t->layer] = t->to;
        seen[t->layer] = true;
        for (size_t k = 0; k < i; k++)
            CHECK(!w->layers[t->layer].is_urgent || w->layers[tasks->all.p[k].layer].is_urgent);
    }
    for (uint32_t l = 0; l < w->o.n_layers; l++) {
        bool missing = !place_break_in(&w->nodes[w->o.node].holds, l);
        CHECK(seen[l] == missing);
        CHECK_INT(covered[l], missing ? w->layers[l].size : 0);
    }
}

TEST(random_plans_fetch_each_missing_layer_once_from_where_it_is)
{
    struct world *w = xnew(struct world);
    unsigned planned = 0;
    for (int round = 0; round < 4000; round++) {
        struct image_tasks tasks, again;
        draw_world(w);
        if (!image_orchestrate(&w->o, &tasks)) {
            CHECK_INT(w->o.registry_bps, 0); /* the registry has everything */
            continue;
        }
        planned++;
        check_all(w, &tasks);
        CHECK(image_orchestrate(&w->o, &again));
        CHECK_INT(again.all.n, tasks.all.n);
        CHECK(tasks.all.n == 0 ||
              memcmp(again.all.p, tasks.all.p, tasks.all.n * sizeof *tasks.all.p) == 0);
        image_tasks_fini(&again);
        image_tasks_fini(&tasks);
    }
    CHECK(planned > 1000);
    free(w);
}

TEST(peers_make_no_deployment_slower_than_the_registry_alone)
{
    struct world *w = xnew(struct world);
    for (int round = 0; round < 2000; round++) {
        struct image_tasks with, alone;
        draw_world(w);
        w->o.n_flights = 0;
        w->o.registry_bps = 50 * MBIT;
        CHECK(image_orchestrate(&w->o, &with));
        for (size_t i = 0; i < w->o.n_nodes; i++)
            w->nodes[i].slots = 0;
        CHECK(image_orchestrate(&w->o, &alone));
        CHECK(with.seconds <= alone.seconds + 1e-9);
        image_tasks_fini(&with);
        image_tasks_fini(&alone);
    }
    free(w);
}

/* ---- the best possible, by trying all ---- */

static double best_of_all(const struct world *w, size_t layer, double *load)
{
    double best = HUGE_VAL;
    if (layer == w->o.n_layers) {
        double worst = 0;
        for (size_t i = 0; i <= w->o.n_nodes; i++)
            worst = fmax(worst, load[i]);
        return worst;
    }
    for (size_t i = 0; i <= w->o.n_nodes; i++) {
        bool registry = i == w->o.n_nodes;
        if (!registry && (i == w->o.node || !may_send(w, (int)i, (uint32_t)layer)))
            continue;
        double rate = (double)(registry ? w->o.registry_bps : w->nodes[i].uplink_bps) / 8;
        double took = (double)w->layers[layer].size / rate;
        load[i] += took;
        best = fmin(best, best_of_all(w, layer + 1, load));
        load[i] -= took;
    }
    return best;
}

TEST(small_plans_are_near_the_best_possible)
{
    struct world *w = xnew(struct world);
    double sum = 0, worst = 1;
    enum { ROUNDS = 400 };
    for (int round = 0; round < ROUNDS; round++) {
        struct image_tasks tasks;
        double load[NODES_MAX + 1] = { 0 };
        world_init(w, 1 + test_random_below(6), 1 + test_random_below(4));
        w->o.registry_bps = 40 * MBIT;
        for (size_t l = 0; l < w->o.n_layers; l++)
            w->layers[l].size =
                100000 + (int64_t)test_random_below(30000000); /* too small to split */
        for (size_t i = 1; i < w->o.n_nodes; i++) {
            w->nodes[i].uplink_bps = (int64_t)(20 + test_random_below(200)) * MBIT;
            for (size_t l = 0; l < w->o.n_layers; l++)
                if (test_random_below(2))
                    place_break_put(&w->nodes[i].holds, l);
        }
        CHECK(image_orchestrate(&w->o, &tasks));
        double ratio = tasks.seconds / best_of_all(w, 0, load);
        CHECK(ratio > 0.999 && ratio < 3);
        worst = fmax(worst, ratio);
        sum += ratio;
        image_tasks_fini(&tasks);
    }
    printf("# %d plans: %.3f times the best possible, at worst %.3f\n", (int)ROUNDS, sum / ROUNDS,
           worst);
    CHECK(sum / ROUNDS < 1.1);
    free(w);
}

/* ---- rules ---- */

TEST(a_layer_that_is_on_its_way_to_the_node_is_joined)
{
    struct world w;
    struct image_tasks t;
    world_init(&w, 2, 2);
    w.flights[0] =
        (struct image_orchestrate_flight){ .layer = 1, .to = 0, .from = -1, .left_ms = 5000 };
    w.o.n_flights = 1;
    CHECK(image_orchestrate(&w.o, &t));
    CHECK_INT(t.all.n, 2);
    CHECK_INT(t.all.p[0].kind, IMAGE_TASK_REGISTRY);
    CHECK_INT(t.all.p[1].kind, IMAGE_TASK_JOIN);
    CHECK(t.seconds == 5);
    image_tasks_fini(&t);
}

TEST(what_a_node_told_of_itself_is_followed_and_not_joined)
{
    struct world w;
    struct image_tasks t;
    world_init(&w, 1, 2);
    w.flights[0] = (struct image_orchestrate_flight){
        .layer = 0, .to = 0, .from = -1, .left_ms = 5000, .is_reported = true
    };
    w.o.n_flights = 1;
    CHECK(image_orchestrate(&w.o, &t));
    CHECK_INT(t.all.n, 1);
    CHECK_INT(t.all.p[0].kind, IMAGE_TASK_REGISTRY);
    image_tasks_fini(&t);
    w.o.node = 1;
    CHECK(image_orchestrate(&w.o, &t));
    CHECK_INT(t.all.n, 1);
    CHECK_INT(t.all.p[0].kind, IMAGE_TASK_AFTER);
    CHECK_INT(t.all.p[0].source, 0);
    image_tasks_fini(&t);
}

/* Twelve nodes ask at once for an image that no node has. */
TEST(of_a_storm_every_fourth_node_asks_the_registry)
{
    struct world w;
    unsigned from_registry = 0, served[NODES_MAX] = { 0 };
    world_init(&w, 1, 12);
    for (uint32_t node = 0; node < 12; node++) {
        struct image_tasks t;
        w.o.node = node;
        CHECK(image_orchestrate(&w.o, &t));
        CHECK_INT(t.all.n, 1);
        const struct image_task *task = &t.all.p[0];
        if (task->kind == IMAGE_TASK_REGISTRY) {
            from_registry++;
        } else {
            CHECK_INT(task->kind, IMAGE_TASK_AFTER);
            CHECK_INT(task->alternatives[0], PLACE_BREAK_REGISTRY);
            served[task->source]++;
        }
        w.flights[w.o.n_flights++] = (struct image_orchestrate_flight){
            .layer = 0, .to = node, .from = task->source, .left_ms = task->expect_ms
        };
        image_tasks_fini(&t);
    }
    CHECK_INT(from_registry, 3);
    for (size_t i = 0; i < 12; i++)
        CHECK(served[i] <= IMAGE_ORCHESTRATE_SLOTS);
}

TEST(once_a_node_has_the_layer_it_is_a_source_like_any_other)
{
    struct world w;
    struct image_tasks t;
    world_init(&w, 1, 3);
    place_break_put(&w.nodes[1].holds, 0);
    w.flights[0] =
        (struct image_orchestrate_flight){ .layer = 0, .to = 2, .from = -1, .left_ms = 10 };
    w.o.n_flights = 1;
    CHECK(image_orchestrate(&w.o, &t));
    CHECK_INT(t.all.p[0].kind, IMAGE_TASK_PEER);
    CHECK_INT(t.all.p[0].source, 1);
    image_tasks_fini(&t);
    w.nodes[1].slots = 0; /* it has it and cannot send: the other one, later */
    CHECK(image_orchestrate(&w.o, &t));
    CHECK_INT(t.all.p[0].kind, IMAGE_TASK_AFTER);
    image_tasks_fini(&t);
}

TEST(a_large_layer_comes_in_two_ranges_with_one_priority)
{
    struct world w;
    struct image_tasks t;
    world_init(&w, 2, 4);
    w.layers[0].size = 101 * MB + 1;
    w.layers[1].is_urgent = true;
    for (size_t i = 1; i < 4; i++)
        place_break_put(&w.nodes[i].holds, 0);
    w.nodes[3].uplink_bps = 60 * MBIT;
    w.o.registry_bps = 20 * MBIT;
    CHECK(image_orchestrate(&w.o, &t));
    CHECK_INT(t.all.n, 3);
    CHECK_INT(t.all.p[0].layer, 1); /* urgent, though smaller */
    CHECK_INT(t.all.p[1].priority, 1);
    CHECK_INT(t.all.p[2].priority, 1);
    CHECK_INT(t.all.p[1].to, t.all.p[2].from);
    CHECK_INT(t.all.p[2].to, 101 * MB + 1);
    CHECK(t.all.p[1].source != t.all.p[2].source);
    CHECK_INT(t.all.p[1].n_alternatives, 3);
    image_tasks_fini(&t);
}

TEST(silent_busy_and_slow_nodes_are_no_sources)
{
    for (int why = 0; why < 4; why++) {
        struct world w;
        struct image_tasks t;
        world_init(&w, 1, 2);
        place_break_put(&w.nodes[1].holds, 0);
        w.nodes[1].silent_ms = why == 1 ? 30001 : 30000;
        w.nodes[1].slots = why == 2 ? 0 : 1;
        w.nodes[1].uplink_bps = why == 3 ? 49 * MBIT : 101 * MBIT;
        CHECK(image_orchestrate(&w.o, &t));
        CHECK_INT(t.all.p[0].kind, why ? IMAGE_TASK_REGISTRY : IMAGE_TASK_PEER);
        image_tasks_fini(&t);
    }
}

TEST(without_a_registry_and_a_peer_there_is_no_plan)
{
    struct world w;
    struct image_tasks t;
    world_init(&w, 1, 2);
    w.o.registry_bps = 0;
    CHECK(!image_orchestrate(&w.o, &t));
}

TEST(a_node_that_keeps_a_layer_as_a_tar_alone_is_no_source_and_needs_no_other)
{
    struct world w;
    struct image_tasks t;
    world_init(&w, 1, 2);
    w.o.node = 0;
    w.nodes[1].uplink_bps = 1000 * MBIT;
    place_break_put(&w.nodes[1].holds, 0);
    CHECK(image_orchestrate(&w.o, &t));
    CHECK_INT(t.all.p[0].kind, IMAGE_TASK_PEER);
    image_tasks_fini(&t);
    place_break_put(&w.nodes[1].unsendable, 0);
    CHECK(image_orchestrate(&w.o, &t));
    CHECK_INT(t.all.p[0].kind, IMAGE_TASK_REGISTRY);
    CHECK_INT(t.all.p[0].n_alternatives, 0);
    image_tasks_fini(&t);
    w.o.node = 1; /* it has it */
    CHECK(image_orchestrate(&w.o, &t));
    CHECK_INT(t.all.n, 0);
    image_tasks_fini(&t);
}

TEST_MAIN
