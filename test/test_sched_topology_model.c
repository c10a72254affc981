/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PodTopologySpread and InterPodAffinity against a twin that counts all pods of all nodes each
 * time, under random changes of a small cluster.
 */
#include "test.h"

#include "base/buf.h"
#include "sched/object/namespace.h"
#include "sched/object/service.h"
#include "sched/object/workload.h"
#include "sched/plugins/registry.h"
#include "sched/plugins/tally.h"

#include <math.h>

enum {
    NODES = 10,
    PODS = 40,
    NAMESPACES = 3,
    SERVICES = 3,
    WAITING = 12,
    STEPS = 4000,
    CHANGES = 4,
    RULES_MAX = 8
};

static const char *const keys[] = { "topology.kubernetes.io/zone", "kubernetes.io/hostname",
                                    "rack" };

/* ---- random objects ---- */

static bool chance(unsigned percent)
{
    return test_random_below(100) < percent;
}
static unsigned below(unsigned n)
{
    return (unsigned)test_random_below(n);
}

static void put_labels(struct buf *b)
{
    const char *comma = "";
    buf_add_char(b, '{');
    if (chance(90)) {
        buf_printf(b, "\"app\":\"%c\"", 'a' + below(3));
        comma = ",";
    }
    if (chance(50)) {
        buf_printf(b, "%s\"tier\":\"%c\"", comma, 'x' + below(2));
        comma = ",";
    }
    if (chance(10))
        buf_printf(b, "%s\"unique\":\"%u\"", comma, below(1000));
    buf_add_char(b, '}');
}

static void put_selector(struct buf *b, const char *name)
{
    switch (below(7)) {
    case 0:
        return;
    case 1:
        buf_printf(b, ",\"%s\":{}", name);
        return;
    case 2:
        buf_printf(b, ",\"%s\":{\"matchExpressions\":[{\"key\":\"tier\",\"operator\":\"%s\"}]}",
                   name, chance(50) ? "Exists" : "DoesNotExist");
        return;
    case 3:
        buf_printf(b,
                   ",\"%s\":{\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"%s\","
                   "\"values\":[\"a\",\"b\"]}]}",
                   name, chance(50) ? "In" : "NotIn");
        return;
    default:
        buf_printf(b, ",\"%s\":{\"matchLabels\":{\"app\":\"%c\"}}", name, 'a' + below(3));
    }
}

static void put_term(struct buf *b)
{
    buf_printf(b, "{\"topologyKey\":\"%s\"", keys[below(3)]);
    put_selector(b, "labelSelector");
    if (chance(30))
        buf_printf(b, ",\"namespaces\":[\"n%u\",\"n%u\"]", below(3), below(3));
    if (chance(40)) {
        static const char *const selectors[] = {
            "{}", "{\"matchLabels\":{\"team\":\"t0\"}}",
            "{\"matchExpressions\":[{\"key\":\"team\",\"operator\":\"DoesNotExist\"}]}"
        };
        buf_printf(b, ",\"namespaceSelector\":%s", selectors[below(3)]);
    }
    buf_add_char(b, '}');
}

static void put_terms(struct buf *b, const char *kind)
{
    buf_printf(b, "\"%s\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[", kind);
    unsigned n = chance(50) ? 0 : 1 + below(2);
    for (unsigned i = 0; i < n; i++) {
        buf_add_cstr(b, i ? "," : "");
        put_term(b);
    }
    buf_add_cstr(b, "],\"preferredDuringSchedulingIgnoredDuringExecution\":[");
    n = chance(60) ? 0 : 1 + below(2);
    for (unsigned i = 0; i < n; i++) {
        buf_printf(b, "%s{\"weight\":%u,\"podAffinityTerm\":", i ? "," : "", 1 + below(100));
        put_term(b);
        buf_add_char(b, '}');
    }
    buf_add_cstr(b, "]}");
}

static void put_spreads(struct buf *b)
{
    unsigned n = chance(40) ? 0 : 1 + below(3);
    buf_add_cstr(b, "\"topologySpreadConstraints\":[");
    for (unsigned i = 0; i < n; i++) {
        bool hard = chance(60);
        buf_printf(b, "%s{\"topologyKey\":\"%s\",\"maxSkew\":%u,\"whenUnsatisfiable\":\"%s\"",
                   i ? "," : "", keys[below(3)], 1 + below(3),
                   hard ? "DoNotSchedule" : "ScheduleAnyway");
        if (hard && chance(30))
            buf_printf(b, ",\"minDomains\":%u", 1 + below(4));
        if (chance(30))
            buf_printf(b, ",\"nodeAffinityPolicy\":\"%s\"", chance(50) ? "Ignore" : "Honor");
        if (chance(30))
            buf_printf(b, ",\"nodeTaintsPolicy\":\"%s\"", chance(30) ? "Ignore" : "Honor");
        if (chance(20))
            buf_add_cstr(b, ",\"matchLabelKeys\":[\"tier\"]");
        put_selector(b, "labelSelector");
        buf_add_char(b, '}');
    }
    buf_add_char(b, ']');
}

static struct sched_object *read_object(struct intern_table *w, enum sched_kind kind, struct buf *b)
{
    struct arena a = { 0 };
    struct json *json;
    struct sched_object *o;
    struct err err = { 0 };

    CHECK(buf_ok(b));
    CHECK_OK(json_parse(&a, buf_str(b), NULL, &json, &err));
    if (sched_object_read(w, kind, json, false, &o, &err) < 0)
        TEST_FAIL("%s: %s", buf_cstr(b), err.text);
    arena_fini(&a);
    buf_fini(b);
    return o;
}

static struct sched_pod *random_pod(struct intern_table *w, const char *name, int node)
{
    struct buf b = BUF_INIT(65536);
    buf_printf(&b, "{\"metadata\":{\"name\":\"%s\",\"uid\":\"u-%s\",\"namespace\":\"n%u\"", name,
               name, below(NAMESPACES));
    if (chance(10))
        buf_add_cstr(&b, ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"");
    if (chance(20))
        buf_printf(&b,
                   ",\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\","
                   "\"name\":\"r%u\",\"uid\":\"r\",\"controller\":true}]",
                   below(2));
    buf_add_cstr(&b, ",\"labels\":");
    put_labels(&b);
    buf_add_cstr(&b, "},\"spec\":{");
    if (node >= 0)
        buf_printf(&b, "\"nodeName\":\"m%d\",", node);
    if (chance(30))
        buf_printf(&b, "\"nodeSelector\":{\"disk\":\"%s\"},", chance(50) ? "ssd" : "hdd");
    if (chance(30))
        buf_add_cstr(&b, "\"tolerations\":[{\"key\":\"gpu\",\"operator\":\"Exists\"}],");
    buf_add_cstr(&b, "\"affinity\":{");
    if (chance(60)) {
        put_terms(&b, "podAffinity");
        buf_add_char(&b, ',');
        put_terms(&b, "podAntiAffinity");
    }
    buf_add_cstr(&b, "},");
    put_spreads(&b);
    buf_add_cstr(&b, "}}");
    return (struct sched_pod *)read_object(w, SCHED_POD, &b);
}

static struct sched_object *random_node(struct intern_table *w, unsigned i)
{
    struct buf b = BUF_INIT(65536);
    const char *comma = "";
    buf_printf(&b, "{\"metadata\":{\"name\":\"m%u\",\"uid\":\"m%u\",\"labels\":{", i, i);
    if (chance(85)) {
        buf_printf(&b, "\"%s\":\"%s\"", keys[0],
                   (const char *[]){ "z0", "z1", "z2", "" }[chance(95) ? below(3) : 3]);
        comma = ",";
    }
    if (chance(85)) {
        buf_printf(&b, "%s\"%s\":\"h%u\"", comma, keys[1], chance(90) ? i : below(NODES));
        comma = ",";
    }
    if (chance(60)) {
        buf_printf(&b, "%s\"rack\":\"k%u\"", comma, below(100));
        comma = ",";
    }
    if (chance(60))
        buf_printf(&b, "%s\"disk\":\"%s\"", comma, chance(60) ? "ssd" : "hdd");
    buf_add_cstr(&b, "}},\"spec\":{\"taints\":[");
    if (chance(30))
        buf_printf(&b, "{\"key\":\"%s\",\"effect\":\"%s\"}", chance(50) ? "gpu" : "old",
                   (const char *[]){ "NoSchedule", "NoExecute", "PreferNoSchedule" }[below(3)]);
    buf_add_cstr(&b, "]},\"status\":{\"allocatable\":{\"cpu\":\"4\",\"pods\":\"110\"}}}");
    return read_object(w, SCHED_NODE, &b);
}

static struct sched_object *random_namespace(struct intern_table *w, unsigned i)
{
    struct buf b = BUF_INIT(65536);
    buf_printf(&b, "{\"metadata\":{\"name\":\"n%u\",\"uid\":\"n%u\",\"labels\":{", i, i);
    if (chance(60))
        buf_printf(&b, "\"team\":\"t%u\"", below(2));
    buf_add_cstr(&b, "}}}");
    return read_object(w, SCHED_NAMESPACE, &b);
}

static struct sched_object *random_service(struct intern_table *w, unsigned i)
{
    struct buf b = BUF_INIT(65536);
    buf_printf(&b, "{\"metadata\":{\"name\":\"s%u\",\"uid\":\"s%u\",\"namespace\":\"n%u\"},", i, i,
               i % NAMESPACES);
    buf_printf(&b, "\"spec\":{\"selector\":{\"app\":\"%c\"}}}", 'a' + below(3));
    return read_object(w, SCHED_SERVICE, &b);
}

static struct sched_object *random_replica_set(struct intern_table *w, unsigned i)
{
    struct buf b = BUF_INIT(65536);
    buf_printf(&b, "{\"metadata\":{\"name\":\"r%u\",\"uid\":\"r%u\",\"namespace\":\"n%u\"},", i % 2,
               i, i % NAMESPACES);
    buf_printf(&b, "\"spec\":{\"x\":1");
    put_selector(&b, "selector");
    buf_add_cstr(&b, "}}");
    return read_object(w, SCHED_REPLICA_SET, &b);
}

/* ---- the cluster ---- */

struct world {
    struct intern_table *words;
    struct sched_cache *cache;
    struct sched_framework framework;
    struct sched_plugin *spread, *affinity;
    int32_t hard_weight;
    bool is_system_defaulted;
    struct sched_pod *waiting[WAITING];
    uint64_t assumed; /* of waiting */
};

struct extra { /* of a dry run */
    const struct sched_pod *pod;
    const struct sched_node_info *node;
    int sign;
};
struct extras {
    struct extra p[CHANGES];
    unsigned n;
};

static struct sched_plugin *make(struct world *w, const struct sched_plugin_ops *ops,
                                 unsigned position, const char *args)
{
    struct arena a = { 0 };
    struct json *json;
    struct sched_plugin *p;
    struct err err = { 0 };
    CHECK_OK(json_parse(&a, str_of(args), NULL, &json, &err));
    struct sched_plugin_env env = {
        .framework = &w->framework, .name = str_of(ops->name), .args = json, .position = position
    };
    CHECK_OK(ops->create(&env, &p, &err));
    arena_fini(&a);
    return p;
}

/* The two plugins, with some arguments. */
static void profile_init(struct world *w)
{
    w->hard_weight = (int32_t)below(3);
    w->is_system_defaulted = chance(60);
    char args[64];
    (void)snprintf(args, sizeof(args), "{\"hardPodAffinityWeight\":%d}", w->hard_weight);
    w->spread = make(w, &sched_pod_topology_spread_ops, 0,
                     w->is_system_defaulted
                         ? "{\"defaultingType\":\"System\"}"
                         : "{\"defaultingType\":\"List\",\"defaultConstraints\":[{\"maxSkew\":1,"
                           "\"topologyKey\":\"rack\",\"whenUnsatisfiable\":\"DoNotSchedule\"},"
                           "{\"maxSkew\":2,\"topologyKey\":\"kubernetes.io/hostname\","
                           "\"whenUnsatisfiable\":\"ScheduleAnyway\"}]}");
    w->affinity = make(w, &sched_inter_pod_affinity_ops, 1, args);
}

static void profile_fini(struct world *w)
{
    w->spread->ops->destroy(w->spread);
    w->affinity->ops->destroy(w->affinity);
}

static void world_init(struct world *w)
{
    *w = (struct world){ .words = intern_table_new() };
    w->cache = sched_cache_new(w->words);
    w->framework.words = w->words;
    w->framework.cache = w->cache;
    profile_init(w);
}

static void world_fini(struct world *w)
{
    for (unsigned i = 0; i < WAITING; i++)
        sched_object_unref(w->words, w->waiting[i]);
    profile_fini(w);
    CHECK(*sched_cache_derived(w->cache) == NULL);
    sched_cache_free(w->cache);
    intern_table_free(w->words);
}

static void put(struct world *w, struct sched_object *o)
{
    struct err err = { 0 };
    CHECK_OK(sched_cache_put(w->cache, o, NULL, &err));
    sched_object_unref(w->words, o);
}

static void del(struct world *w, enum sched_kind kind, const char *namespace, char letter,
                unsigned i)
{
    char name[32];
    (void)snprintf(name, sizeof(name), "%c%u", letter, i);
    sched_cache_del(w->cache, kind, str_of(namespace), str_of(name), NULL);
}

/* A pod of that number is in one namespace at most. */
static void del_pod(struct world *w, unsigned i)
{
    for (unsigned n = 0; n < NAMESPACES; n++) {
        char namespace[8];
        (void)snprintf(namespace, sizeof(namespace), "n%u", n);
        del(w, SCHED_POD, namespace, 'p', i);
    }
}

static void put_random_pod(struct world *w)
{
    unsigned i = below(PODS);
    char name[16];
    (void)snprintf(name, sizeof(name), "p%u", i);
    del_pod(w, i);
    put(w, (struct sched_object *)random_pod(w->words, name, (int)below(NODES)));
}

static void wait_anew(struct world *w, unsigned i)
{
    char name[16];
    if (w->assumed & UINT64_C(1) << i)
        sched_cache_forget(w->cache, w->waiting[i]->o.uid);
    w->assumed &= ~(UINT64_C(1) << i);
    sched_object_unref(w->words, w->waiting[i]);
    (void)snprintf(name, sizeof(name), "w%u", i);
    w->waiting[i] = random_pod(w->words, name, -1);
}

static void assume_or_forget(struct world *w)
{
    unsigned i = below(WAITING);
    struct err err = { 0 };
    char name[16];
    if (w->assumed & UINT64_C(1) << i) {
        sched_cache_forget(w->cache, w->waiting[i]->o.uid);
    } else {
        (void)snprintf(name, sizeof(name), "m%u", below(NODES));
        struct intern *node = intern_get(w->words, str_of(name));
        CHECK_OK(sched_cache_assume(w->cache, w->waiting[i], node, &err));
        intern_unref(w->words, node);
    }
    w->assumed ^= UINT64_C(1) << i;
}

static void step(struct world *w)
{
    unsigned i;
    switch (below(40)) {
    case 0:
        put(w, random_node(w->words, below(NODES)));
        return;
    case 1:
        del(w, SCHED_NODE, "", 'm', below(NODES));
        return;
    case 2:
        put(w, random_namespace(w->words, below(NAMESPACES)));
        return;
    case 3:
        if (chance(30))
            del(w, SCHED_NAMESPACE, "", 'n', below(NAMESPACES));
        return;
    case 4:
        put(w, random_service(w->words, below(SERVICES)));
        return;
    case 5:
        i = below(SERVICES);
        del(w, SCHED_SERVICE, (const char *[]){ "n0", "n1", "n2" }[i % NAMESPACES], 's', i);
        return;
    case 6:
        put(w, random_replica_set(w->words, below(6)));
        return;
    case 7:
        wait_anew(w, below(WAITING));
        return;
    case 8:
    case 9:
    case 10:
    case 11:
        del_pod(w, below(PODS));
        return;
    case 12:
    case 13:
    case 14:
    case 15:
        assume_or_forget(w);
        return;
    default:
        put_random_pod(w);
    }
}

/* ---- the twin: spread ---- */

struct rule {
    const struct intern *key;
    struct sched_selector selector;
    int32_t max_skew, min_domains;
    bool honors_affinity, honors_taints;
};
struct rules {
    struct rule p[RULES_MAX];
    unsigned n;
    struct sched_requirement wanted[16]; /* of the default selector */
};

static void add_default(struct world *w, struct rules *r, const char *key, int32_t skew,
                        const struct sched_selector *s)
{
    r->p[r->n++] = (struct rule){ .key = intern_find(w->words, str_of(key)),
                                  .selector = *s,
                                  .max_skew = skew,
                                  .min_domains = 1,
                                  .honors_affinity = true };
}

static void twin_default_rules(struct world *w, const struct sched_pod *pod, bool hard,
                               struct rules *r)
{
    struct sched_selector s = { .p = r->wanted };
    map_each (e, sched_cache_all(w->cache, SCHED_SERVICE)) {
        const struct sched_service *service = e->value;
        if (str_eq(service->o.namespace, pod->o.namespace) &&
            sched_selector_matches(&service->selector, &pod->labels))
            s.p[s.n++] = service->selector.p[0]; /* all are app=x, and match the pod */
    }
    if (pod->controller.kind.n > 0) {
        const struct sched_workload *l =
            sched_cache_get(w->cache, SCHED_REPLICA_SET, pod->o.namespace, pod->controller.name);
        for (uint32_t i = 0; l && i < l->selector.n; i++)
            s.p[s.n++] = l->selector.p[i];
    }
    if (s.n == 0)
        return;
    if (w->is_system_defaulted && !hard) {
        add_default(w, r, keys[1], 3, &s);
        add_default(w, r, keys[0], 5, &s);
    } else if (!w->is_system_defaulted) {
        add_default(w, r, hard ? keys[2] : keys[1], hard ? 1 : 2, &s);
    }
}

static void twin_rules(struct world *w, const struct sched_pod *pod, bool hard, struct rules *r)
{
    r->n = 0;
    if (pod->n_spreads == 0)
        twin_default_rules(w, pod, hard, r);
    for (uint32_t i = 0; i < pod->n_spreads; i++) {
        const struct sched_spread *s = &pod->spreads[i];
        if (s->do_not_schedule == hard)
            r->p[r->n++] = (struct rule){ s->topology_key, s->selector,        s->max_skew,
                                          s->min_domains,  s->honors_affinity, s->honors_taints };
    }
}

static struct intern *label(const struct sched_node_info *n, const struct intern *key)
{
    return key ? sched_label_get(&n->node->labels, key) : NULL;
}

static bool has_all(const struct rules *r, const struct sched_node_info *n)
{
    for (unsigned i = 0; i < r->n; i++)
        if (!label(n, r->p[i].key))
            return false;
    return true;
}

static bool twin_counts(const struct rule *r, const struct sched_pod *pod,
                        const struct sched_node_info *n)
{
    if (r->honors_affinity && (!sched_selector_matches(&pod->node_selector, &n->node->labels) ||
                               (pod->has_required_node_affinity &&
                                !sched_node_terms_match(&pod->required_node, n->node))))
        return false;
    for (uint32_t i = 0; r->honors_taints && i < n->node->n_taints; i++)
        if (n->node->taints[i].effect != SCHED_PREFER_NO_SCHEDULE &&
            !sched_tolerates(pod->tolerations, pod->n_tolerations, &n->node->taints[i]))
            return false;
    return true;
}

static int64_t matching_on(const struct rule *r, const struct sched_pod *pod,
                           const struct sched_node_info *n)
{
    int64_t count = 0;
    for (uint32_t i = 0; i < n->n_pods; i++)
        count += r->selector.n > 0 && !n->pods[i]->is_terminating &&
                 str_eq(n->pods[i]->o.namespace, pod->o.namespace) &&
                 sched_selector_matches(&r->selector, &n->pods[i]->labels);
    return count;
}

static bool same_value(const struct intern *a, const struct intern *b)
{
    return str_eq(intern_str(a), intern_str(b)); /* none is "" */
}

/* Pods in the domain `value`; -1: no node that counts is in it. */
static int64_t twin_count(struct world *w, const struct rules *rules, unsigned k, bool all,
                          const struct sched_pod *pod, const struct intern *value,
                          const struct extras *x)
{
    const struct rule *r = &rules->p[k];
    size_t n;
    const struct sched_node_info *const *nodes = sched_cache_nodes(w->cache, &n);
    int64_t count = 0;
    bool is_there = false;
    for (size_t i = 0; i < n; i++) {
        if ((all && !has_all(rules, nodes[i])) || !twin_counts(r, pod, nodes[i]) ||
            !same_value(label(nodes[i], r->key), value))
            continue;
        is_there = true;
        count += matching_on(r, pod, nodes[i]);
        for (unsigned j = 0; x && j < x->n; j++)
            if (x->p[j].node == nodes[i] && str_eq(x->p[j].pod->o.namespace, pod->o.namespace) &&
                sched_selector_matches(&r->selector, &x->p[j].pod->labels))
                count += x->p[j].sign;
    }
    return is_there ? count : INT64_MIN;
}

static enum sched_code twin_spread_filter(struct world *w, const struct sched_pod *pod,
                                          const struct sched_node_info *node,
                                          const struct extras *x)
{
    struct rules rules;
    size_t n;
    const struct sched_node_info *const *nodes = sched_cache_nodes(w->cache, &n);
    twin_rules(w, pod, true, &rules);
    for (unsigned k = 0; k < rules.n; k++) {
        const struct rule *r = &rules.p[k];
        const struct intern *value = label(node, r->key);
        if (!value)
            return SCHED_UNRESOLVABLE;
        int64_t min = INT64_MAX, count = twin_count(w, &rules, k, true, pod, value, x);
        const struct intern *seen[NODES];
        int32_t n_domains = 0;
        for (size_t i = 0; i < n; i++) {
            const struct intern *v = label(nodes[i], r->key);
            int64_t c = v ? twin_count(w, &rules, k, true, pod, v, x) : INT64_MIN;
            if (c == INT64_MIN)
                continue;
            min = MIN(min, c);
            int32_t at = 0;
            while (at < n_domains && seen[at] != v)
                at++;
            if (at == n_domains)
                seen[n_domains++] = v;
        }
        if (n_domains < r->min_domains)
            min = 0;
        if ((count == INT64_MIN ? 0 : count) + sched_selector_matches(&r->selector, &pod->labels) -
                min >
            r->max_skew)
            return SCHED_UNSCHEDULABLE;
    }
    return SCHED_SUCCESS;
}

/* false: nothing to score. */
static bool twin_spread_score(struct world *w, const struct sched_pod *pod,
                              const struct sched_node_info *const *nodes, size_t n, int64_t *ret)
{
    struct rules rules;
    bool all = pod->n_spreads > 0 || !w->is_system_defaulted, ignored[NODES];
    int64_t min = INT64_MAX, max = 0;
    double weight[RULES_MAX];
    const struct intern *hostname = intern_find(w->words, str_of(keys[1]));
    twin_rules(w, pod, false, &rules);
    if (rules.n == 0)
        return false;
    size_t n_ignored = 0;
    for (size_t i = 0; i < n; i++) {
        ignored[i] = all && !has_all(&rules, nodes[i]);
        n_ignored += ignored[i];
    }
    for (unsigned k = 0; k < rules.n; k++) {
        size_t values = 0;
        for (size_t i = 0; i < n; i++) {
            bool is_new = !ignored[i];
            for (size_t j = 0; j < i; j++)
                if (!ignored[j] &&
                    same_value(label(nodes[i], rules.p[k].key), label(nodes[j], rules.p[k].key)))
                    is_new = false;
            values += is_new;
        }
        weight[k] = log((double)((rules.p[k].key == hostname ? n - n_ignored : values) + 2));
    }
    for (size_t i = 0; i < n; i++) {
        double score = 0;
        for (unsigned k = 0; !ignored[i] && k < rules.n; k++) {
            const struct rule *r = &rules.p[k];
            const struct intern *v = label(nodes[i], r->key);
            if (!v)
                continue;
            int64_t count = r->key == hostname ? matching_on(r, pod, nodes[i])
                                               : twin_count(w, &rules, k, all, pod, v, NULL);
            if (count == INT64_MIN)
                count = 0;
            score += (double)count * weight[k] + (double)(r->max_skew - 1);
        }
        ret[i] = (int64_t)round(score);
        if (!ignored[i]) {
            min = MIN(min, ret[i]);
            max = MAX(max, ret[i]);
        }
    }
    for (size_t i = 0; i < n; i++)
        ret[i] = ignored[i] ? 0 : max == 0 ? 100 : 100 * (max + min - ret[i]) / max;
    return true;
}

/* ---- the twin: affinity ---- */

static bool in_list(const struct sched_affinity_term *t, const struct sched_pod *p)
{
    for (uint32_t i = 0; i < t->n_namespaces; i++)
        if (str_eq(intern_str(t->namespaces[i]), p->o.namespace))
            return true;
    return false;
}

/* A term of the pod that waits, about one that is there. */
static bool own_matches(struct world *w, const struct sched_affinity_term *t,
                        const struct sched_pod *p)
{
    const struct sched_namespace *ns =
        sched_cache_get(w->cache, SCHED_NAMESPACE, STR(""), p->o.namespace);
    bool everything = !t->namespace_selector.nothing && t->namespace_selector.n == 0;
    static const struct sched_labels none;
    bool is_in = in_list(t, p) || everything ||
                 (ns && sched_selector_matches(&t->namespace_selector, &ns->labels)) ||
                 sched_selector_matches(&t->namespace_selector, &none); /* upstream asks so */
    return is_in && sched_selector_matches(&t->selector, &p->labels);
}

/* A term of a pod that is there, about the one that waits. */
static bool their_matches(struct world *w, const struct sched_affinity_term *t,
                          const struct sched_pod *pod)
{
    static const struct sched_labels none;
    const struct sched_namespace *ns =
        sched_cache_get(w->cache, SCHED_NAMESPACE, STR(""), pod->o.namespace);
    return (in_list(t, pod) ||
            sched_selector_matches(&t->namespace_selector, ns ? &ns->labels : &none)) &&
           sched_selector_matches(&t->selector, &pod->labels);
}

static bool own_match_all(struct world *w, const struct sched_affinity_terms *t,
                          const struct sched_pod *p)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (!own_matches(w, &t->p[i], p))
            return false;
    return t->n > 0;
}

enum what { NEAR, AWAY, THEIRS, SCORE };

/* What one pod that is there adds to a pair of key and value that its node has. */
static int64_t adds(struct world *w, enum what what, const struct sched_pod *pod,
                    const struct sched_pod *p, const struct intern *key)
{
    int64_t sum = 0;
    if (what == NEAR && own_match_all(w, &pod->required_affinity, p))
        for (uint32_t i = 0; i < pod->required_affinity.n; i++)
            sum += pod->required_affinity.p[i].topology_key == key;
    const struct {
        const struct sched_affinity_terms *terms;
        enum what what;
        int64_t weight, each;
        bool own;
    } all[] = {
        { &pod->required_anti, AWAY, 0, 1, true },
        { &p->required_anti, THEIRS, 0, 1, false },
        { &pod->preferred_affinity, SCORE, 1, 0, true },
        { &pod->preferred_anti, SCORE, -1, 0, true },
        { &p->preferred_affinity, SCORE, 1, 0, false },
        { &p->preferred_anti, SCORE, -1, 0, false },
        { &p->required_affinity, SCORE, 0, w->hard_weight, false },
    };
    for (size_t k = 0; k < ARRAY_LEN(all); k++)
        for (uint32_t i = 0; all[k].what == what && i < all[k].terms->n; i++) {
            const struct sched_affinity_term *t = &all[k].terms->p[i];
            if (t->topology_key == key &&
                (all[k].own ? own_matches(w, t, p) : their_matches(w, t, pod)))
                sum += all[k].each + all[k].weight * t->weight;
        }
    return sum;
}

static int64_t pair(struct world *w, enum what what, const struct sched_pod *pod,
                    const struct intern *key, const struct intern *value, const struct extras *x)
{
    size_t n;
    const struct sched_node_info *const *nodes = sched_cache_nodes(w->cache, &n);
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (label(nodes[i], key) != value)
            continue;
        for (uint32_t j = 0; j < nodes[i]->n_pods; j++)
            sum += adds(w, what, pod, nodes[i]->pods[j], key);
        for (unsigned j = 0; x && j < x->n; j++)
            if (x->p[j].node == nodes[i])
                sum += x->p[j].sign * adds(w, what, pod, x->p[j].pod, key);
    }
    return sum;
}

static bool none_near(struct world *w, const struct sched_pod *pod, const struct extras *x)
{
    size_t n;
    const struct sched_node_info *const *nodes = sched_cache_nodes(w->cache, &n);
    for (uint32_t k = 0; k < pod->required_affinity.n; k++)
        for (size_t i = 0; i < n; i++) {
            const struct intern *key = pod->required_affinity.p[k].topology_key;
            if (label(nodes[i], key) && pair(w, NEAR, pod, key, label(nodes[i], key), x) != 0)
                return false;
        }
    return true;
}

static const char *twin_affinity_filter(struct world *w, const struct sched_pod *pod,
                                        const struct sched_node_info *node, const struct extras *x)
{
    bool near = true;
    for (uint32_t i = 0; i < pod->required_affinity.n; i++) {
        const struct intern *key = pod->required_affinity.p[i].topology_key, *v = label(node, key);
        if (!v)
            return "node(s) didn't match pod affinity rules";
        near = near && pair(w, NEAR, pod, key, v, x) > 0;
    }
    if (!near && !(none_near(w, pod, x) && own_match_all(w, &pod->required_affinity, pod)))
        return "node(s) didn't match pod affinity rules";
    for (uint32_t i = 0; i < pod->required_anti.n; i++) {
        const struct intern *key = pod->required_anti.p[i].topology_key, *v = label(node, key);
        if (v && pair(w, AWAY, pod, key, v, x) > 0)
            return "node(s) didn't match pod anti-affinity rules";
    }
    for (uint32_t i = 0; i < node->node->labels.n; i++)
        if (pair(w, THEIRS, pod, node->node->labels.p[i].key, node->node->labels.p[i].value, x) > 0)
            return "node(s) didn't satisfy existing pods anti-affinity rules";
    return "";
}

static void twin_affinity_score(struct world *w, const struct sched_pod *pod,
                                const struct sched_node_info *const *nodes, size_t n, int64_t *ret)
{
    int64_t min = INT64_MAX, max = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        ret[i] = 0;
        for (uint32_t k = 0; k < nodes[i]->node->labels.n; k++)
            ret[i] += pair(w, SCORE, pod, nodes[i]->node->labels.p[k].key,
                           nodes[i]->node->labels.p[k].value, NULL);
        min = MIN(min, ret[i]);
        max = MAX(max, ret[i]);
    }
    for (size_t i = 0; i < n; i++)
        ret[i] = max > min ? (int64_t)(100.0 * ((double)(ret[i] - min) / (double)(max - min))) : 0;
}

/* ---- both ---- */

static void check_filters(struct world *w, struct sched_cycle *cycle, const struct extras *x,
                          bool spread_skips, bool affinity_skips)
{
    size_t n;
    const struct sched_node_info *const *nodes = sched_cache_nodes(w->cache, &n);
    for (size_t i = 0; i < n; i++) {
        const struct sched_status *s =
            spread_skips ? NULL : w->spread->ops->filter(w->spread, cycle, nodes[i]);
        enum sched_code want = spread_skips ? twin_spread_filter(w, cycle->pod, nodes[i], NULL)
                                            : twin_spread_filter(w, cycle->pod, nodes[i], x);
        CHECK_INT(sched_code(s), want);
        s = affinity_skips ? NULL : w->affinity->ops->filter(w->affinity, cycle, nodes[i]);
        CHECK_STR(s ? s->reasons[0] : STR(""),
                  twin_affinity_filter(w, cycle->pod, nodes[i], affinity_skips ? NULL : x));
    }
}

static void check_dry_run(struct world *w, struct sched_cycle *cycle, bool spread_skips,
                          bool affinity_skips)
{
    struct arena a = { 0 };
    void *states[2] = { 0 };
    struct sched_cycle fork = *cycle;
    struct extras x = { 0 };
    size_t n;
    const struct sched_node_info *const *nodes = sched_cache_nodes(w->cache, &n);

    fork.arena = &a;
    fork.states = states;
    fork.is_dry_run = true;
    states[0] = w->spread->ops->clone_state(w->spread, cycle, &fork);
    states[1] = w->affinity->ops->clone_state(w->affinity, cycle, &fork);
    for (unsigned i = 0; i < CHANGES && n > 0; i++) {
        const struct sched_node_info *node = nodes[below((unsigned)n)];
        const struct sched_pod *pod = w->waiting[below(WAITING)];
        bool removes = node->n_pods > 0 && chance(50);
        if (removes)
            pod = node->pods[below(node->n_pods)];
        for (unsigned j = 0; j < x.n; j++)
            if (x.p[j].pod == pod)
                goto next; /* a pod goes once */
        x.p[x.n++] = (struct extra){ pod, node, removes ? -1 : 1 };
        struct sched_plugin *const both[] = { w->spread, w->affinity };
        for (size_t k = 0; k < 2; k++)
            if (!(k ? affinity_skips : spread_skips))
                (void)(removes ? both[k]->ops->remove_pod : both[k]->ops->add_pod)(both[k], &fork,
                                                                                   pod, node);
    next:;
    }
    check_filters(w, &fork, &x, spread_skips, affinity_skips);
    arena_fini(&a);
}

static void check_scores(struct world *w, struct sched_cycle *cycle)
{
    const struct sched_node_info *some[NODES];
    int64_t got[NODES], want[NODES];
    size_t n, n_some = 0;
    const struct sched_node_info *const *nodes = sched_cache_nodes(w->cache, &n);
    for (size_t i = 0; i < n; i++)
        if (chance(80))
            some[n_some++] = nodes[i];
    if (n_some == 0)
        return;
    struct sched_plugin *const both[] = { w->spread, w->affinity };
    for (size_t k = 0; k < 2; k++) {
        const struct sched_plugin_ops *ops = both[k]->ops;
        const struct sched_status *s = ops->pre_score(both[k], cycle, some, n_some);
        memset(got, 0, sizeof(got));
        if (!s) {
            CHECK(ops->score(both[k], cycle, some, n_some, got) == NULL);
            CHECK(ops->normalize(both[k], cycle, some, n_some, got) == NULL);
        }
        if (k == 0)
            CHECK_INT(!s, twin_spread_score(w, cycle->pod, some, n_some, want));
        else
            twin_affinity_score(w, cycle->pod, some, n_some, want);
        for (size_t i = 0; (k == 1 || !s) && i < n_some; i++)
            CHECK_INT(got[i], want[i]);
    }
}

static void check(struct world *w)
{
    struct arena a = { 0 };
    void *states[2] = { 0 };
    struct sched_node_set set = { .all = true };
    struct sched_cycle cycle = {
        .arena = &a, .pod = w->waiting[below(WAITING)], .framework = &w->framework, .states = states
    };
    const struct sched_status *s = w->spread->ops->pre_filter(w->spread, &cycle, &set);
    bool spread_skips = sched_code(s) == SCHED_SKIP;
    s = w->affinity->ops->pre_filter(w->affinity, &cycle, &set);
    bool affinity_skips = sched_code(s) == SCHED_SKIP;
    const struct extras none = { 0 };
    check_filters(w, &cycle, &none, spread_skips, affinity_skips);
    check_dry_run(w, &cycle, spread_skips, affinity_skips);
    check_filters(w, &cycle, &none, spread_skips, affinity_skips);
    check_scores(w, &cycle);
    arena_fini(&a);
}

static void run(size_t bytes_max, unsigned steps)
{
    struct world w;
    world_init(&w);
    for (unsigned i = 0; i < NODES - 2; i++)
        put(&w, random_node(w.words, i));
    for (unsigned i = 0; i < WAITING; i++)
        wait_anew(&w, i);
    for (unsigned i = 0; i < steps; i++) {
        step(&w);
        if (chance(40))
            check(&w);
        struct census *c = (struct census *)*sched_cache_derived(w.cache);
        if (c && bytes_max)
            c->tally_bytes_max = bytes_max;
    }
    world_fini(&w);
}

TEST(counts_that_are_kept_equal_counts_of_all_pods)
{
    run(0, STEPS);
}

TEST(counts_that_have_to_go_are_made_anew)
{
    for (unsigned i = 0; i < 4; i++)
        run(4096, STEPS / 4);
}

/* Profiles share what is counted; one that is made anew finds it there. */
TEST(profiles_share_counts)
{
    struct world w;
    world_init(&w);
    struct world other = w;
    profile_init(&other);
    for (unsigned i = 0; i < NODES - 2; i++)
        put(&w, random_node(w.words, i));
    for (unsigned i = 0; i < WAITING; i++)
        wait_anew(&w, i);
    for (unsigned i = 0; i < STEPS / 2; i++) {
        step(&w);
        if (chance(1)) {
            profile_fini(&other);
            profile_init(&other);
        }
        memcpy(other.waiting, w.waiting, sizeof(w.waiting));
        if (chance(40))
            check(chance(50) ? &w : &other);
        struct sched_derived *d = *sched_cache_derived(w.cache);
        if (d)
            container_of(d, struct census, derived)->tally_bytes_max = 8192;
    }
    profile_fini(&other);
    world_fini(&w);
}

/* A tally that is asked for again after more changes than the log holds. */
TEST(counts_that_are_far_behind_are_made_anew)
{
    struct world w;
    world_init(&w);
    for (unsigned i = 0; i < NODES - 2; i++)
        put(&w, random_node(w.words, i));
    for (unsigned i = 0; i < WAITING; i++)
        wait_anew(&w, i);
    for (unsigned i = 0; i < 200; i++)
        check(&w);
    for (unsigned round = 0; round < 3; round++) {
        struct census *c = (struct census *)*sched_cache_derived(w.cache);
        uint64_t end = c->labels.log_end + CENSUS_LOG + 100;
        while (c->labels.log_end < end) {
            step(&w);
            census_sync(c);
        }
        for (unsigned i = 0; i < 50; i++)
            check(&w);
    }
    world_fini(&w);
}

TEST_MAIN
