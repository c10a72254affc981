/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What PodTopologySpread and InterPodAffinity cost by themselves: a cluster in memory, pods placed
 * one after the other, each assumed and (half of them) confirmed before the next.
 *
 *     sched-topology-bench [NODES [PODS-THERE [PODS-TO-PLACE]]]
 *
 * One line for each shape: microseconds of a pod's cycle in the two plugins, by step, of the first
 * one, of a node that preemption tries, and what the counts hold in memory. Filters are asked about
 * all nodes, scores about SCORED of them, as core does by default with this many nodes.
 */
#include "base/buf.h"
#include "sched/plugins/registry.h"
#include "sched/plugins/tally.h"

#include <malloc.h>
#include <stdio.h>
#include <time.h>

enum { SCORED = 500, ZONES = 10 };

static const char *const zone_key = "topology.kubernetes.io/zone";

#define TERM(key, labels)                                                                          \
    "{'topologyKey': '" key "', 'labelSelector': {'matchLabels': {" labels "}}}"
#define WEIGHTED(term) "{'weight': 1, 'podAffinityTerm': " term "}"
#define REQUIRED(kind, term)                                                                       \
    "'affinity': {'" kind "': {'requiredDuringSchedulingIgnoredDuringExecution': [" term "]}}"
#define PREFERRED(kind, term)                                                                      \
    "'affinity': {'" kind                                                                          \
    "': {'preferredDuringSchedulingIgnoredDuringExecution': [" WEIGHTED(term) "]}}"
#define SPREAD(key, skew, when)                                                                    \
    "{'maxSkew': " skew ", 'topologyKey': '" key "', 'whenUnsatisfiable': '" when "', "            \
    "'labelSelector': {'matchLabels': {'color': 'blue'}}}"
#define ZONE "topology.kubernetes.io/zone"
#define HOST "kubernetes.io/hostname"

/* What pods are like. %u in labels: the number of the pod modulo `kinds`. */
struct shape {
    const char *name;
    const char *there, *placed; /* spec of pods that are there, and of those to be placed */
    const char *labels;
    unsigned kinds;
    bool has_services;
    unsigned zones;         /* 0: ZONES */
    unsigned n_constraints; /* spec of pods to be placed: so many, each with a key of its own */
    enum { NODES_STAY, NODES_BEAT, NODES_MOVE } nodes; /* before each pod one node is updated */
};
static const struct shape shapes[] = {
    { "nothing", "", "", "'color': 'blue'", 1, false, 0, 0, NODES_STAY },
    { "default constraints, 100 services", "", "", "'app': 'a%u'", 100, true, 0, 0, NODES_STAY },
    { "default constraints, 1000 services", "", "", "'app': 'a%u'", 1000, true, 0, 0, NODES_STAY },
    { "spread by zone", "", "'topologySpreadConstraints': [" SPREAD(ZONE, "5", "DoNotSchedule") "]",
      "'color': 'blue'", 1, false, 0, 0, NODES_STAY },
    { "spread by host and zone", "",
      "'topologySpreadConstraints': [" SPREAD(ZONE, "5", "DoNotSchedule") "," SPREAD(
          HOST, "5", "DoNotSchedule") "]",
      "'color': 'blue'", 1, false, 0, 0, NODES_STAY },
    { "prefer spread by zone and host", "",
      "'topologySpreadConstraints': [" SPREAD(ZONE, "5", "ScheduleAnyway") "," SPREAD(
          HOST, "5", "ScheduleAnyway") "]",
      "'color': 'blue'", 1, false, 0, 0, NODES_STAY },
    { "affinity by zone", "", REQUIRED("podAffinity", TERM(ZONE, "'color': 'blue'")),
      "'color': 'blue'", 1, false, 0, 0, NODES_STAY },
    { "affinity by zone, all have it", REQUIRED("podAffinity", TERM(ZONE, "'color': 'blue'")),
      REQUIRED("podAffinity", TERM(ZONE, "'color': 'blue'")), "'color': 'blue'", 1, false, 0, 0,
      NODES_STAY },
    { "anti-affinity by host", "", REQUIRED("podAntiAffinity", TERM(HOST, "'color': 'green'")),
      "'color': 'blue'", 1, false, 0, 0, NODES_STAY },
    { "anti-affinity by host, all have it",
      REQUIRED("podAntiAffinity", TERM(HOST, "'color': 'green'")),
      REQUIRED("podAntiAffinity", TERM(HOST, "'color': 'green'")), "'color': 'blue'", 1, false, 0,
      0, NODES_STAY },
    { "prefer affinity by host", PREFERRED("podAffinity", TERM(HOST, "'color': 'blue'")),
      PREFERRED("podAffinity", TERM(HOST, "'color': 'blue'")), "'color': 'blue'", 1, false, 0, 0,
      NODES_STAY },
    { "prefer anti-affinity by host, 100 kinds",
      PREFERRED("podAntiAffinity", TERM(HOST, "'color': 'blue'")),
      PREFERRED("podAntiAffinity", TERM(HOST, "'color': 'blue'")), "'color': 'blue', 'app': 'a%u'",
      100, false, 0, 0, NODES_STAY },
    { "anti-affinity by host, 1000 kinds",
      REQUIRED("podAntiAffinity", TERM(HOST, "'color': 'green'")),
      REQUIRED("podAntiAffinity", TERM(HOST, "'color': 'green'")), "'color': 'blue', 'app': 'a%u'",
      1000, false, 0, 0, NODES_STAY },
    { "spread by zone, every pod its own labels", "",
      "'topologySpreadConstraints': [" SPREAD(ZONE, "5", "DoNotSchedule") "]",
      "'color': 'blue', 'index': 'i%u'", 1000000, false, 0, 0, NODES_STAY },
    { "affinity by zone, every pod its own labels", "",
      REQUIRED("podAffinity", TERM(ZONE, "'color': 'blue'")), "'color': 'blue', 'index': 'i%u'",
      1000000, false, 0, 0, NODES_STAY },
    { .name = "spread by 1000 zones and host",
      .there = "",
      .placed = "'topologySpreadConstraints': [" SPREAD(ZONE, "5", "DoNotSchedule") "," SPREAD(
          HOST, "5", "DoNotSchedule") "]",
      .labels = "'color': 'blue'",
      .kinds = 1,
      .zones = 1000 },
    { .name = "spread by 100 keys",
      .there = "",
      .labels = "'color': 'blue'",
      .kinds = 1,
      .n_constraints = 100 },
    { .name = "spread and anti-affinity, a node beats",
      .there = REQUIRED("podAntiAffinity", TERM(HOST, "'color': 'green'")),
      .placed = "'topologySpreadConstraints': [" SPREAD(ZONE, "5", "DoNotSchedule") "]," REQUIRED(
          "podAntiAffinity", TERM(HOST, "'color': 'green'")),
      .labels = "'color': 'blue'",
      .kinds = 1,
      .nodes = NODES_BEAT },
    { .name = "spread and anti-affinity, a node moves",
      .there = REQUIRED("podAntiAffinity", TERM(HOST, "'color': 'green'")),
      .placed = "'topologySpreadConstraints': [" SPREAD(ZONE, "5", "DoNotSchedule") "]," REQUIRED(
          "podAntiAffinity", TERM(HOST, "'color': 'green'")),
      .labels = "'color': 'blue'",
      .kinds = 1,
      .nodes = NODES_MOVE },
};

struct world {
    struct intern_table *words;
    struct sched_cache *cache;
    struct sched_framework framework;
    struct sched_plugin *plugins[2];
    unsigned n_pods;
};

static uint64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void die(const char *text)
{
    (void)fprintf(stderr, "%s\n", text);
    exit(1);
}

/* ' stands for ". */
static struct sched_object *read_text(struct world *w, enum sched_kind kind, struct buf *b)
{
    struct arena a = { 0 };
    struct json *json;
    struct sched_object *o = NULL;
    struct err err = { 0 };
    for (size_t i = 0; i < b->n; i++)
        if (b->p[i] == '\'')
            b->p[i] = '"';
    if (json_parse(&a, buf_str(b), NULL, &json, &err) < 0 ||
        sched_object_read(w->words, kind, json, false, &o, &err) < 0)
        die(err.text);
    arena_fini(&a);
    buf_fini(b);
    return o;
}

static void put(struct world *w, struct sched_object *o)
{
    struct err err = { 0 };
    if (sched_cache_put(w->cache, o, NULL, &err) < 0)
        die(err.text);
    sched_object_unref(w->words, o);
}

static void put_pattern(struct buf *b, const char *text, unsigned number)
{
    for (; *text; text++)
        if (text[0] == '%' && text[1] == 'u') {
            (void)buf_printf(b, "%u", number);
            text++;
        } else {
            (void)buf_add_char(b, *text);
        }
}

static struct sched_object *make_pod(struct world *w, const struct shape *s, const char *spec,
                                     int node)
{
    struct buf b = BUF_INIT(1 << 18);
    unsigned i = w->n_pods++;
    (void)buf_printf(&b, "{'metadata': {'name': 'p%u', 'uid': 'p%u', 'namespace': 'default', ", i,
                     i);
    (void)buf_add_cstr(&b, "'labels': {");
    put_pattern(&b, s->labels, i % s->kinds);
    (void)buf_add_cstr(&b, "}}, 'spec': {");
    for (unsigned k = 0; node < 0 && k < s->n_constraints; k++)
        (void)buf_printf(&b,
                         "%s{'maxSkew': 1000, 'topologyKey': 'k%u', 'whenUnsatisfiable': "
                         "'DoNotSchedule', 'labelSelector': {'matchLabels': {'color': 'blue'}}}%s",
                         k ? ", " : "'topologySpreadConstraints': [", k,
                         k + 1 == s->n_constraints ? "]" : "");
    (void)buf_add_cstr(&b, spec ? spec : "");
    if (node >= 0)
        (void)buf_printf(&b, "%s'nodeName': 'n%d'", spec && *spec ? "," : "", node);
    (void)buf_add_cstr(&b, "}}");
    return read_text(w, SCHED_POD, &b);
}

static void put_node(struct world *w, const struct shape *s, unsigned i, unsigned zone)
{
    struct buf b = BUF_INIT(1 << 16);
    (void)buf_printf(&b, "{'metadata': {'name': 'n%u', 'labels': {'%s': 'z%u', '%s': 'n%u'", i,
                     zone_key, zone % (s->zones ? s->zones : ZONES), HOST, i);
    for (unsigned k = 0; k < s->n_constraints; k++)
        (void)buf_printf(&b, ", 'k%u': 'v%u'", k, i % (k + 1));
    (void)buf_add_cstr(&b, "}}}");
    put(w, read_text(w, SCHED_NODE, &b));
}

static void world_init(struct world *w, const struct shape *s, unsigned nodes, unsigned pods)
{
    *w = (struct world){ .words = intern_table_new() };
    w->cache = sched_cache_new(w->words);
    w->framework.words = w->words;
    w->framework.cache = w->cache;
    const struct sched_plugin_ops *const ops[] = { &sched_pod_topology_spread_ops,
                                                   &sched_inter_pod_affinity_ops };
    for (unsigned i = 0; i < 2; i++) {
        struct sched_plugin_env env = { .framework = &w->framework,
                                        .name = str_of(ops[i]->name),
                                        .position = i };
        if (ops[i]->create(&env, &w->plugins[i], NULL) < 0)
            die("no plugin");
    }
    for (unsigned i = 0; i < nodes; i++)
        put_node(w, s, i, i);
    for (unsigned i = 0; s->has_services && i < s->kinds; i++) {
        struct buf b = BUF_INIT(1 << 16);
        (void)buf_printf(&b,
                         "{'metadata': {'name': 's%u', 'namespace': 'default'}, 'spec': "
                         "{'selector': {'app': 'a%u'}}}",
                         i, i);
        put(w, read_text(w, SCHED_SERVICE, &b));
    }
    for (unsigned i = 0; i < pods; i++)
        put(w, make_pod(w, s, s->there, (int)(i % nodes)));
}

static void world_fini(struct world *w)
{
    for (unsigned i = 0; i < 2; i++)
        w->plugins[i]->ops->destroy(w->plugins[i]);
    sched_cache_free(w->cache);
    intern_table_free(w->words);
}

struct times {
    uint64_t pre_filter, filter, score, dry_run, refused;
};

/* What preemption asks of DRY nodes: would the pod fit with the node's pods gone; and with one less
 * gone, and so on. */
enum { DRY = 50, DRY_EVERY = 50 };

static void dry_run(struct world *w, struct sched_cycle *cycle, const bool *skip,
                    const struct sched_node_info *node)
{
    struct arena a = { 0 };
    void *states[2] = { 0 };
    struct sched_cycle fork = *cycle;
    fork.arena = &a;
    fork.states = states;
    for (unsigned i = 0; i < 2; i++) {
        const struct sched_plugin_ops *ops = w->plugins[i]->ops;
        if (skip[i])
            continue;
        states[i] = ops->clone_state(w->plugins[i], cycle, &fork);
        for (uint32_t k = 0; k < node->n_pods; k++)
            (void)ops->remove_pod(w->plugins[i], &fork, node->pods[k], node);
        for (uint32_t k = 0; k < node->n_pods; k++) {
            (void)ops->filter(w->plugins[i], &fork, node);
            (void)ops->add_pod(w->plugins[i], &fork, node->pods[k], node);
        }
    }
    arena_fini(&a);
}

static bool skips(const struct sched_status *s)
{
    return s && s->code == SCHED_SKIP;
}

/* The best node; it is assumed there. */
static const struct sched_node_info *place(struct world *w, const struct sched_pod *pod,
                                           struct arena *a, struct times *t)
{
    void *states[2] = { 0 };
    struct sched_cycle cycle = {
        .arena = a, .pod = pod, .framework = &w->framework, .states = states
    };
    struct sched_node_set set = { .all = true };
    bool skip[2];
    size_t n, n_some = 0;
    static const struct sched_node_info *some[SCORED];
    static int64_t sums[SCORED], scores[SCORED];
    uint64_t t0 = now_ns();
    for (unsigned i = 0; i < 2; i++)
        skip[i] = skips(w->plugins[i]->ops->pre_filter(w->plugins[i], &cycle, &set));
    uint64_t t1 = now_ns();
    const struct sched_node_info *const *nodes = sched_cache_nodes(w->cache, &n);
    size_t from = w->n_pods % n;
    for (size_t k = 0; k < n; k++) {
        const struct sched_node_info *node = nodes[(from + k) % n];
        bool fits = true;
        for (unsigned i = 0; fits && i < 2; i++)
            fits = skip[i] || !w->plugins[i]->ops->filter(w->plugins[i], &cycle, node);
        if (fits && n_some < SCORED)
            some[n_some++] = node;
        t->refused += !fits;
    }
    uint64_t t2 = now_ns();
    if (w->n_pods % DRY_EVERY == 0)
        for (size_t k = 0; k < DRY; k++)
            dry_run(w, &cycle, skip, nodes[(from + k * 97) % n]);
    uint64_t t_dry = now_ns();
    memset(sums, 0, sizeof(sums));
    for (unsigned i = 0; n_some > 0 && i < 2; i++) {
        const struct sched_plugin_ops *ops = w->plugins[i]->ops;
        if (ops->pre_score(w->plugins[i], &cycle, some, n_some))
            continue;
        (void)ops->score(w->plugins[i], &cycle, some, n_some, scores);
        (void)ops->normalize(w->plugins[i], &cycle, some, n_some, scores);
        for (size_t k = 0; k < n_some; k++)
            sums[k] += scores[k];
    }
    uint64_t t3 = now_ns();
    t->pre_filter += t1 - t0;
    t->filter += t2 - t1;
    t->dry_run += t_dry - t2;
    t->score += t3 - t_dry;
    size_t best = 0;
    for (size_t k = 1; k < n_some; k++)
        if (sums[k] > sums[best])
            best = k;
    return n_some ? some[best] : NULL;
}

static void run(const struct shape *s, unsigned nodes, unsigned there, unsigned placed)
{
    struct world w;
    struct arena a = { 0 };
    struct times t = { 0 };
    struct err err = { 0 };
    world_init(&w, s, nodes, there);
    struct sched_object *warm = make_pod(&w, s, s->placed, -1);
    uint64_t t0 = now_ns();
    struct times first = { 0 };
    (void)place(&w, sched_pod_of(warm), &a, &first);
    double first_us = (double)(now_ns() - t0) / 1e3;
    sched_object_unref(w.words, warm);
    for (unsigned i = 0; i < placed; i++) {
        if (s->nodes)
            put_node(&w, s, i % nodes, i % nodes + (s->nodes == NODES_MOVE));
        struct sched_object *pod = make_pod(&w, s, s->placed, -1);
        const struct sched_node_info *node = place(&w, sched_pod_of(pod), &a, &t);
        arena_reset(&a);
        if (node && sched_cache_assume(w.cache, sched_pod_of(pod), node->node->name, &err) < 0)
            die(err.text);
        if (node && i % 2 == 0) {
            struct sched_pod *bound = sched_pod_clone(w.words, sched_pod_of(pod), node->node->name);
            put(&w, &bound->o);
        }
        sched_object_unref(w.words, pod);
    }
    double us = (double)placed * 1e3;
    const struct census *c = (struct census *)*sched_cache_derived(w.cache);
    double all = (double)(t.pre_filter + t.filter + t.score) / us;
    (void)printf("%-45s %8.1f %8.1f %8.1f %8.1f %9.0f %8.0f %8.2f %8u %7zu\n", s->name,
                 (double)t.pre_filter / us, (double)t.filter / us, (double)t.score / us, all,
                 1e6 / all, first_us, (double)t.dry_run / 1e3 / DRY / (placed / DRY_EVERY + 1),
                 c->labels.n_live, tallies_bytes(c->tallies) >> 10);
    (void)fflush(stdout);
    arena_fini(&a);
    world_fini(&w);
}

int main(int argc, char **argv)
{
    uint64_t n[3] = { 5000, 50000, 5000 };
    for (int i = 1; i < argc && i <= 3; i++)
        if (parse_u64(str_of(argv[i]), 1, 1000000, &n[i - 1]) < 0)
            die("usage: sched-topology-bench [NODES [PODS-THERE [PODS-TO-PLACE]]]");
    (void)printf("%-45s %8s %8s %8s %8s %9s %8s %8s %8s %7s\n", "us for each pod", "prefilt",
                 "filter", "score", "all", "pods/s", "first", "dry run", "classes", "KiB");
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
        run(&shapes[i], (unsigned)n[0], (unsigned)n[1], (unsigned)n[2]);
    return 0;
}
