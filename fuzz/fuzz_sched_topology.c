/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cluster as lines of JSON, and what PodTopologySpread and InterPodAffinity say of its pods.
 *
 * Lines are Nodes, Namespaces, Pods, Services and ReplicaSets; a line that begins with "-" takes
 * such an object away. Pods that name no node are judged after each line, so that counts are kept
 * and follow; at the end the verdicts have to be those of plugins that see the cluster for the
 * first time.
 */
#include "fuzz.h"

#include "base/vec.h"
#include "sched/plugins/registry.h"

enum { OBJECTS_MAX = 64 };

struct side {
    struct intern_table *words;
    struct sched_cache *cache;
    struct sched_framework framework;
    struct sched_plugin *plugins[2];
};

static const struct {
    const char *name;
    enum sched_kind kind;
} kinds[] = {
    { "Node", SCHED_NODE },       { "Namespace", SCHED_NAMESPACE },    { "Pod", SCHED_POD },
    { "Service", SCHED_SERVICE }, { "ReplicaSet", SCHED_REPLICA_SET },
};

static void side_init(struct side *s, struct intern_table *words)
{
    *s = (struct side){ .words = words, .cache = sched_cache_new(words) };
    s->framework.words = words;
    s->framework.cache = s->cache;
    const struct sched_plugin_ops *const ops[] = { &sched_pod_topology_spread_ops,
                                                   &sched_inter_pod_affinity_ops };
    for (unsigned i = 0; i < 2; i++) {
        struct sched_plugin_env env = { .framework = &s->framework,
                                        .name = str_of(ops[i]->name),
                                        .position = i };
        FUZZ_CHECK(ops[i]->create(&env, &s->plugins[i], NULL) >= 0);
    }
}

static void side_fini(struct side *s)
{
    for (unsigned i = 0; i < 2; i++)
        s->plugins[i]->ops->destroy(s->plugins[i]);
    sched_cache_free(s->cache);
}

/* What the plugins say of one node, by name; nodes that are refused have no scores. */
struct verdict {
    struct str name;
    enum sched_code code[2];
    int64_t score[2];
};
typedef VEC(struct verdict) verdicts;

static void judge_dry_run(struct side *s, struct sched_cycle *cycle, uint64_t skips,
                          const struct sched_node_info *const *nodes, size_t n)
{
    struct arena a = { 0 };
    void *states[2] = { 0 };
    struct sched_cycle fork = *cycle;
    fork.arena = &a;
    fork.states = states;
    for (unsigned i = 0; i < 2; i++) {
        const struct sched_plugin_ops *ops = s->plugins[i]->ops;
        states[i] = ops->clone_state(s->plugins[i], cycle, &fork);
        for (size_t k = 0; !(skips & 1u << i) && k < n; k++) {
            for (uint32_t p = 0; p < nodes[k]->n_pods; p++)
                (void)ops->remove_pod(s->plugins[i], &fork, nodes[k]->pods[p], nodes[k]);
            (void)ops->add_pod(s->plugins[i], &fork, cycle->pod, nodes[k]);
            (void)ops->filter(s->plugins[i], &fork, nodes[k]);
        }
    }
    arena_fini(&a);
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(((const struct verdict *)a)->name, ((const struct verdict *)b)->name);
}

static void judge(struct side *s, const struct sched_pod *pod, verdicts *ret)
{
    struct arena a = { 0 };
    void *states[2] = { 0 };
    struct sched_cycle cycle = {
        .arena = &a, .pod = pod, .framework = &s->framework, .states = states
    };
    struct sched_node_set set = { .all = true };
    uint64_t skips = 0;
    size_t n, n_fit = 0;

    for (unsigned i = 0; i < 2; i++)
        if (sched_code(s->plugins[i]->ops->pre_filter(s->plugins[i], &cycle, &set)) == SCHED_SKIP)
            skips |= 1u << i;
    const struct sched_node_info *const *nodes = sched_cache_nodes(s->cache, &n);
    const struct sched_node_info **fit = arena_new_n(&a, const struct sched_node_info *, n);
    int64_t *scores = arena_new_n(&a, int64_t, n);
    ret->n = 0;
    for (size_t k = 0; k < n; k++) {
        struct verdict v = { .name = intern_str(nodes[k]->node->name) };
        for (unsigned i = 0; i < 2; i++)
            if (!(skips & 1u << i))
                v.code[i] = sched_code(s->plugins[i]->ops->filter(s->plugins[i], &cycle, nodes[k]));
        if (!v.code[0] && !v.code[1])
            fit[n_fit++] = nodes[k];
        vec_push(ret, v);
    }
    for (unsigned i = 0; i < 2 && n_fit > 0; i++) {
        const struct sched_plugin_ops *ops = s->plugins[i]->ops;
        if (ops->pre_score(s->plugins[i], &cycle, fit, n_fit))
            continue;
        (void)ops->score(s->plugins[i], &cycle, fit, n_fit, scores);
        (void)ops->normalize(s->plugins[i], &cycle, fit, n_fit, scores);
        for (size_t k = 0, at = 0; k < n; k++)
            if (at < n_fit && nodes[k] == fit[at]) {
                FUZZ_CHECK(scores[at] >= 0 && scores[at] <= SCHED_SCORE_MAX);
                ret->p[k].score[i] = scores[at++];
            }
    }
    judge_dry_run(s, &cycle, skips, nodes, n);
    if (ret->n)
        qsort(ret->p, ret->n, sizeof(*ret->p), by_name);
    arena_fini(&a);
}

static struct sched_object *read_line(struct intern_table *w, struct str line)
{
    struct arena a = { .max_bytes = 4 << 20 };
    struct json *json;
    struct sched_object *o = NULL;
    if (json_parse(&a, line, NULL, &json, NULL) >= 0)
        for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
            if (str_is(json_get_str(json, "kind"), kinds[i].name) &&
                sched_object_read(w, kinds[i].kind, json, false, &o, NULL) < 0)
                o = NULL;
    arena_fini(&a);
    return o;
}

static bool is_waiting(const struct sched_object *o)
{
    return o->kind == SCHED_POD && !sched_pod_of(o)->node_name;
}

static void apply(struct side *s, const struct sched_object *o, bool deletes)
{
    if (is_waiting(o))
        return;
    if (deletes)
        sched_cache_del(s->cache, o->kind, o->namespace, o->name, NULL);
    else
        (void)sched_cache_put(s->cache, o, NULL, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct sched_object *objects[OBJECTS_MAX];
    bool deletes[OBJECTS_MAX];
    size_t n_objects = 0;
    struct intern_table *w = intern_table_new();
    struct side kept, fresh;
    struct str rest = str_n(data, n), line;
    verdicts a = { 0 }, b = { 0 };

    side_init(&kept, w);
    while (rest.n > 0 && n_objects < OBJECTS_MAX) {
        (void)str_cut(rest, '\n', &line, &rest);
        bool is_minus = line.n > 0 && line.p[0] == '-';
        struct sched_object *o = read_line(w, str_slice(line, is_minus, line.n));
        if (!o)
            continue;
        deletes[n_objects] = is_minus;
        objects[n_objects++] = o;
        apply(&kept, o, is_minus);
        for (size_t i = 0; i < n_objects; i++)
            if (is_waiting(objects[i]))
                judge(&kept, sched_pod_of(objects[i]), &a);
    }
    side_init(&fresh, w);
    for (size_t i = 0; i < n_objects; i++)
        apply(&fresh, objects[i], deletes[i]);
    for (size_t i = 0; i < n_objects; i++) {
        if (!is_waiting(objects[i]))
            continue;
        judge(&kept, sched_pod_of(objects[i]), &a);
        judge(&fresh, sched_pod_of(objects[i]), &b);
        FUZZ_CHECK(a.n == b.n);
        for (size_t k = 0; k < a.n; k++) {
            FUZZ_CHECK(str_eq(a.p[k].name, b.p[k].name));
            for (unsigned j = 0; j < 2; j++)
                FUZZ_CHECK(a.p[k].code[j] == b.p[k].code[j] && a.p[k].score[j] == b.p[k].score[j]);
        }
    }
    side_fini(&kept);
    side_fini(&fresh);
    vec_fini(&a);
    vec_fini(&b);
    for (size_t i = 0; i < n_objects; i++)
        sched_object_unref(w, objects[i]);
    intern_table_free(w);
    return 0;
}
