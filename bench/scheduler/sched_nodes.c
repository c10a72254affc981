/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What plugins that look at one node at a time cost: nanoseconds for each node, by plugin and step,
 * on a cluster in memory with bound pods, images and a few taints.
 *
 *     sched-nodes-bench [NODES]
 *
 * Filters are asked about all nodes; scores, with PreScore and Normalize, about SCORED of them, as
 * core does by default with 5,000.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "sched/plugins/registry.h"

#include <stdio.h>

enum { SCORED = 500, PODS_ON_A_NODE = 10, IMAGES_ON_A_NODE = 40, LAYERS_ON_A_NODE = 1000 };
enum { ROUNDS_FOR_NS = 200000000 };

struct world {
    struct intern_table *words;
    struct sched_cache *cache;
    struct sched_profile profile;
};

static void die(const char *text)
{
    (void)fprintf(stderr, "%s\n", text);
    exit(1);
}

static int64_t wall_ms(void *arg)
{
    return 1790000000000;
}

/* ' stands for ". */
static struct json *parse(struct arena *a, const char *text)
{
    char *copy = arena_strndup(a, text, strlen(text));
    struct json *json;
    struct err err = { 0 };
    for (char *p = copy; *p; p++)
        if (*p == '\'')
            *p = '"';
    if (json_parse(a, str_of(copy), NULL, &json, &err) < 0)
        die(err.text);
    return json;
}

static struct sched_object *read_text(struct world *w, enum sched_kind kind, const char *text)
{
    struct arena a = { 0 };
    struct sched_object *o;
    struct err err = { 0 };
    if (sched_object_read(w->words, kind, parse(&a, text), false, &o, &err) < 0)
        die(err.text);
    arena_fini(&a);
    return o;
}

static void put(struct world *w, enum sched_kind kind, const char *text)
{
    struct err err = { 0 };
    struct sched_object *o = read_text(w, kind, text);
    if (sched_cache_put(w->cache, o, NULL, &err) < 0)
        die(err.text);
    sched_object_unref(w->words, o);
}

static void put_node(struct world *w, unsigned i)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(1 << 20);
    (void)buf_printf(&b,
                     "{'metadata': {'name': 'n%u', 'labels': {'zone': 'z%u', "
                     "'kubernetes.io/hostname': 'n%u', 'disk': 'ssd', 'arch': 'amd64'}}, "
                     "'spec': {'taints': [%s]}, 'status': {'allocatable': {'cpu': '16', 'memory': "
                     "'64Gi', 'ephemeral-storage': '200Gi', 'pods': '110', 'x.y/gpu': '8'}, "
                     "'images': [",
                     i, i % 10, i,
                     i % 10 == 0 ? "{'key': 'a', 'value': 'b', 'effect': 'PreferNoSchedule'}" : "");
    for (unsigned k = 0; k < IMAGES_ON_A_NODE; k++)
        (void)buf_printf(&b, "%s{'names': ['registry/image-%u:v1'], 'sizeBytes': %u}",
                         k ? ", " : "", (i + k) % 200, 100000000 + k);
    (void)buf_add_cstr(&b, "]}}");
    put(w, SCHED_NODE, buf_cstr(&b));
    for (unsigned k = 0; k < PODS_ON_A_NODE; k++) {
        buf_reset(&b);
        (void)buf_printf(&b,
                         "{'metadata': {'name': 'p%u-%u', 'namespace': 'd', 'uid': 'p%u-%u'}, "
                         "'spec': {'nodeName': 'n%u', 'containers': [{'name': 'c', 'image': 'i', "
                         "'ports': [{'containerPort': 80%s}], 'resources': {'requests': {'cpu': "
                         "'500m', 'memory': '1Gi'}}}]}}",
                         i, k, i, k, i, k == 0 ? ", 'hostPort': 80" : "");
        put(w, SCHED_POD, buf_cstr(&b));
    }
}

static void put_state(struct world *w, unsigned i)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(1 << 20);
    (void)buf_printf(&b,
                     "{'metadata': {'name': 'n%u'}, 'spec': {'reportedAt': '2026-09-21T14:13:00Z', "
                     "'freeUploadSlots': 3, 'network': {'measuredAt': '2026-09-21T14:13:00Z', "
                     "'uplinkBitsPerSecond': %u, 'rttMicroseconds': %u}, 'disk': "
                     "{'capacityBytes': 1000000000000, 'usedBytes': 5}, 'layers': "
                     "{'generation': 1, 'prefixes': '",
                     i, 1000000 + i * 7919 % 1000000, 1000 + i * 104729 % 50000);
    for (unsigned k = 0; k < LAYERS_ON_A_NODE; k++) { /* 48 bits, spread evenly */
        uint64_t v = ((uint64_t)k << 48) / LAYERS_ON_A_NODE + i % 97;
        for (int shift = 42; shift >= 0; shift -= 6)
            (void)buf_add_char(&b, digits[v >> shift & 63]);
    }
    (void)buf_add_cstr(&b, "'}}}");
    put(w, SCHED_NODE_IMAGE_STATE, buf_cstr(&b));
}

struct run {
    struct world *w;
    struct sched_plugin *plugin;
    struct sched_cycle cycle;
    struct arena arena;
    const struct sched_node_info *const *nodes;
    size_t n;
    int64_t *scores;
};

static void begin(struct run *r)
{
    arena_reset(&r->arena);
    r->cycle.arena = &r->arena;
    r->cycle.states = arena_new(&r->arena, void *);
}

/* The whole step for one pod; returns nodes that it was for, 0: skipped. */
static size_t filter(struct run *r)
{
    struct sched_node_set set = { .all = true };
    const struct sched_plugin_ops *ops = r->plugin->ops;
    begin(r);
    if (ops->pre_filter && sched_code(ops->pre_filter(r->plugin, &r->cycle, &set)) == SCHED_SKIP)
        return 0;
    for (size_t i = 0; i < r->n; i++)
        (void)ops->filter(r->plugin, &r->cycle, r->nodes[i]);
    return r->n;
}

static size_t score(struct run *r)
{
    const struct sched_plugin_ops *ops = r->plugin->ops;
    size_t n = MIN(r->n, (size_t)SCORED);
    begin(r);
    if (ops->pre_score &&
        sched_code(ops->pre_score(r->plugin, &r->cycle, r->nodes, n)) == SCHED_SKIP)
        return 0;
    (void)ops->score(r->plugin, &r->cycle, r->nodes, n, r->scores);
    if (ops->normalize)
        (void)ops->normalize(r->plugin, &r->cycle, r->nodes, n, r->scores);
    return n;
}

static void print_cost(const char *step, struct run *r, size_t (*run)(struct run *))
{
    uint64_t began = clock_mono_ns(), ns = 0;
    size_t rounds = 0, nodes = 0;
    while (ns < ROUNDS_FOR_NS) {
        nodes = run(r);
        rounds++;
        ns = clock_mono_ns() - began;
    }
    if (nodes == 0)
        (void)printf("  %-6s skipped", step);
    else
        (void)printf("  %-6s %6.1f us, %5.1f ns each", step, (double)ns / (double)rounds / 1000,
                     (double)ns / (double)rounds / (double)nodes);
}

static void bench(struct world *w, const char *name, const char *pod_name,
                  const struct sched_pod *pod)
{
    const struct sched_plugin_ops *ops = sched_native_plugin(str_of(name));
    struct sched_plugin_env env = { .framework = &w->profile.framework, .name = str_of(name) };
    struct sched_plugin *p = NULL;
    if (!ops->create)
        p = xnew(struct sched_plugin);
    else if (ops->create(&env, &p, NULL) < 0)
        die(name);
    p->ops = ops;
    p->framework = env.framework;
    struct run r = { .w = w, .plugin = p, .cycle = { .pod = pod, .framework = env.framework } };
    r.nodes = sched_cache_nodes(w->cache, &r.n);
    r.scores = xnew_n(int64_t, r.n);
    (void)printf("%-32s %-10s", name, pod_name);
    if (ops->filter)
        print_cost("filter", &r, filter);
    if (ops->score)
        print_cost("score", &r, score);
    (void)printf("\n");
    free(r.scores);
    arena_fini(&r.arena);
    if (ops->destroy)
        ops->destroy(p);
    else
        free(p);
}

int main(int argc, char **argv)
{
    static const char *const plugins[] = {
        "NodeUnschedulable",
        "NodeName",
        "TaintToleration",
        "NodeAffinity",
        "NodePorts",
        "NodeResourcesFit",
        "NodeResourcesBalancedAllocation",
        "ImageLocality",
        "BreakNetwork",
        "BreakBalance",
        "BreakLeastRequested",
        "BreakLayerLocality",
        "BreakDeployTime",
    };
    static const struct {
        const char *name, *text;
    } pods[] = {
        { "plain", "{'metadata': {'name': 'p', 'namespace': 'd'}, 'spec': {'containers': [{'name': "
                   "'c', 'image': 'registry/image-5:v1', 'resources': {'requests': {'cpu': '100m', "
                   "'memory': '500Mi'}}}]}}" },
        { "demanding",
          "{'metadata': {'name': 'p', 'namespace': 'd', 'annotations': "
          "{'image.dormouse.dev/layers': 'sha256:000000000001=5, sha256:200000000001=5, "
          "sha256:400000000001=5, sha256:600000000001=5, sha256:800000000001=5'}}, 'spec': "
          "{'tolerations': [{'key': 'x', 'operator': 'Exists'}, {'key': 'a', 'value': 'b'}], "
          "'nodeSelector': {'disk': 'ssd', 'arch': 'amd64'}, 'affinity': {'nodeAffinity': "
          "{'preferredDuringSchedulingIgnoredDuringExecution': [{'weight': 5, 'preference': "
          "{'matchExpressions': [{'key': 'zone', 'operator': 'In', 'values': ['z1', 'z2']}]}}]}}, "
          "'containers': [{'name': 'c', 'image': 'registry/image-5:v1', 'ports': "
          "[{'containerPort': 8080, 'hostPort': 8080}], 'resources': {'requests': {'cpu': '9', "
          "'memory': '500Mi', 'x.y/gpu': '1'}}}, {'name': 'd', 'image': "
          "'registry/image-6:v1'}]}}" },
    };
    uint64_t wanted = 5000;
    if (argc > 1 && parse_u64(str_of(argv[1]), 1, SCHED_NODES_MAX, &wanted) < 0)
        die("usage: sched-nodes-bench [NODES]");
    unsigned n = (unsigned)wanted;
    struct world w = { .words = intern_table_new() };
    w.cache = sched_cache_new(w.words);
    w.profile.framework = (struct sched_framework){
        .profile = &w.profile, .words = w.words, .cache = w.cache, .wall_ms = wall_ms
    };
    for (unsigned i = 0; i < n; i++) {
        put_node(&w, i);
        put_state(&w, i);
    }
    (void)printf("%u nodes, %u pods and %u images on each; scores of %u\n", n, PODS_ON_A_NODE,
                 IMAGES_ON_A_NODE, MIN(n, SCORED));
    for (size_t i = 0; i < ARRAY_LEN(plugins); i++)
        for (size_t k = 0; k < ARRAY_LEN(pods); k++) {
            struct sched_object *pod = read_text(&w, SCHED_POD, pods[k].text);
            bench(&w, plugins[i], pods[k].name, sched_pod_of(pod));
            sched_object_unref(w.words, pod);
        }
    sched_cache_free(w.cache);
    intern_table_free(w.words);
    return 0;
}
