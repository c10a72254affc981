/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What plugins about volumes cost: microseconds for PreFilter, nanoseconds for each node, by plugin
 * and kind of pod, on a cluster in memory. Each node has ten pods with a CSI volume each, a limit
 * of 39 volumes, a free local volume, and a storage capacity of its own.
 *
 *     sched-volumes-bench [NODES]
 *
 * "churn": between attempts a volume changes and another one is attached, as when pods come and go.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "sched/framework/framework.h"
#include "sched/plugins/registry.h"

#include <stdio.h>
#include <time.h>

enum { PODS_ON_A_NODE = 10, ROUNDS_FOR_NS = 200000000 };

struct world {
    struct sched_framework framework;
    struct sched_plugin *plugin;
    unsigned nodes;
    uint64_t rv;
};

__attribute__((noreturn)) static void die(const char *text)
{
    (void)fprintf(stderr, "%s\n", text);
    exit(1);
}

/* Of this thread: the machine may have more to do. */
static uint64_t cpu_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t on_random(void *arg)
{
    return 4; /* by a fair die */
}

static struct sched_object *read_text(struct world *w, enum sched_kind kind, char *text)
{
    struct arena a = { 0 };
    struct json *json;
    struct sched_object *o = NULL;
    struct err err = { 0 };
    for (char *p = text; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    if (json_parse(&a, str_of(text), NULL, &json, &err) < 0 ||
        sched_object_read(w->framework.words, kind, json, false, &o, &err) < 0)
        die(err.text);
    arena_fini(&a);
    return o;
}

/* Into the cache, told as core does. ' stands for ". */
static void put(struct world *w, enum sched_kind kind, enum sched_resource resource,
                const char *fmt, ...) __attribute__((format(printf, 4, 5)));
static void put(struct world *w, enum sched_kind kind, enum sched_resource resource,
                const char *fmt, ...)
{
    char text[2048];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    struct sched_object *o = read_text(w, kind, text), *old = NULL;
    if (sched_cache_put(w->framework.cache, o, &old, NULL) < 0)
        die("the cache is full");
    struct sched_event event = { resource, old ? SCHED_UPDATE : SCHED_ADD, old, o };
    if (w->plugin && w->plugin->ops->changed)
        w->plugin->ops->changed(w->plugin, &event);
    sched_object_unref(w->framework.words, old);
    sched_object_unref(w->framework.words, o);
}

static void put_bound(struct world *w, unsigned volume, unsigned node)
{
    put(w, SCHED_PV, SCHED_ON_PERSISTENT_VOLUME,
        "{'metadata':{'name':'pv%u','resourceVersion':'%llu','labels':{'topology.kubernetes.io/"
        "zone':'z%u'}},'spec':{'capacity':{'storage':'1Gi'},'csi':{'driver':'d','volumeHandle':"
        "'h%u'},'claimRef':{'namespace':'d','name':'b%u','uid':'u'},'nodeAffinity':{'required':{"
        "'nodeSelectorTerms':[{'matchExpressions':[{'key':'topology.kubernetes.io/zone',"
        "'operator':'In','values':['z%u']}]}]}}}}",
        volume, (unsigned long long)++w->rv, node % 3, volume, volume, node % 3);
}

static void put_node(struct world *w, unsigned i)
{
    put(w, SCHED_NODE, SCHED_ON_NODE,
        "{'metadata':{'name':'n%u','labels':{'kubernetes.io/hostname':'n%u',"
        "'topology.kubernetes.io/zone':'z%u'}}}",
        i, i, i % 3);
    put(w, SCHED_CSI_NODE, SCHED_ON_CSI_NODE,
        "{'metadata':{'name':'n%u'},'spec':{'drivers':[{'name':'d','nodeID':'n%u','allocatable':{"
        "'count':39}}]}}",
        i, i);
    put(w, SCHED_CSI_CAPACITY, SCHED_ON_CSI_STORAGE_CAPACITY,
        "{'metadata':{'name':'c%u','namespace':'d'},'storageClassName':'made','capacity':'100Gi',"
        "'nodeTopology':{'matchLabels':{'kubernetes.io/hostname':'n%u'}}}",
        i, i);
    put(w, SCHED_PV, SCHED_ON_PERSISTENT_VOLUME,
        "{'metadata':{'name':'local%u'},'spec':{'storageClassName':'local','accessModes':["
        "'ReadWriteOnce'],'capacity':{'storage':'%uGi'},'nodeAffinity':{'required':{"
        "'nodeSelectorTerms':[{'matchExpressions':[{'key':'kubernetes.io/hostname','operator':'In',"
        "'values':['n%u']}]}]}}},'status':{'phase':'Available'}}",
        i, 1 + i % 10, i);
    for (unsigned k = i * PODS_ON_A_NODE; k < (i + 1) * PODS_ON_A_NODE; k++) {
        put_bound(w, k, i);
        put(w, SCHED_PVC, SCHED_ON_PERSISTENT_VOLUME_CLAIM,
            "{'metadata':{'name':'b%u','namespace':'d','annotations':{"
            "'pv.kubernetes.io/bind-completed':'yes'}},'spec':{'volumeName':'pv%u'}}",
            k, k);
        put(w, SCHED_POD, SCHED_ON_ASSIGNED_POD,
            "{'metadata':{'name':'p%u','namespace':'d','uid':'p%u'},'spec':{'nodeName':'n%u',"
            "'containers':[{'name':'c','image':'i'}],'volumes':[{'name':'v',"
            "'persistentVolumeClaim':{'claimName':'b%u'}}]}}",
            k, k, i, k);
    }
}

static void put_classes(struct world *w)
{
    static const char *const classes[][2] = { { "local", "kubernetes.io/no-provisioner" },
                                              { "made", "d" } };
    put(w, SCHED_CSI_DRIVER, SCHED_ON_CSI_DRIVER,
        "{'metadata':{'name':'d'},'spec':{'storageCapacity':true}}");
    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        put(w, SCHED_STORAGE_CLASS, SCHED_ON_STORAGE_CLASS,
            "{'metadata':{'name':'%s'},'provisioner':'%s','volumeBindingMode':"
            "'WaitForFirstConsumer'}",
            classes[i][0], classes[i][1]);
        put(w, SCHED_PVC, SCHED_ON_PERSISTENT_VOLUME_CLAIM,
            "{'metadata':{'name':'%s','namespace':'d','uid':'%s'},'spec':{'storageClassName':'%s',"
            "'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'5Gi'}}}}",
            classes[i][0], classes[i][0], classes[i][0]);
    }
}

static void churn(struct world *w)
{
    unsigned i = (unsigned)(w->rv % (w->nodes * PODS_ON_A_NODE));
    put_bound(w, i, i / PODS_ON_A_NODE);
    put(w, SCHED_VOLUME_ATTACHMENT, SCHED_ON_VOLUME_ATTACHMENT,
        "{'metadata':{'name':'a%u'},'spec':{'attacher':'d','nodeName':'n%u','source':{"
        "'persistentVolumeName':'pv%u'}}}",
        i, i / PODS_ON_A_NODE, i);
}

struct cost {
    uint64_t pre_ns, filter_ns;
    size_t fits;
    bool is_skipped;
};

static struct cost attempt(struct world *w, const struct sched_pod *pod)
{
    struct sched_plugin *p = w->plugin;
    struct arena a = { 0 };
    void *state[1] = { NULL };
    struct sched_cycle cycle = {
        .arena = &a, .pod = pod, .framework = &w->framework, .states = state
    };
    struct sched_node_set all = { .all = true };
    struct cost c = { 0 };
    size_t n;
    const struct sched_node_info *const *nodes = sched_cache_nodes(w->framework.cache, &n);
    uint64_t began = cpu_ns();
    const struct sched_status *s = p->ops->pre_filter(p, &cycle, &all);
    uint64_t then = cpu_ns();
    c.is_skipped = s && s->code == SCHED_SKIP;
    for (size_t i = 0; i < n && !s; i++)
        c.fits += p->ops->filter(p, &cycle, nodes[i]) == NULL;
    c.pre_ns = then - began;
    c.filter_ns = cpu_ns() - then;
    arena_fini(&a);
    return c;
}

static void bench(struct world *w, const char *plugin, const char *what, const char *claim,
                  bool churns)
{
    const struct sched_plugin_ops *ops = sched_native_plugin(str_of(plugin));
    struct sched_plugin_env env = { .framework = &w->framework, .ops = ops };
    if (!ops->create)
        w->plugin = xnew(struct sched_plugin);
    else if (ops->create(&env, &w->plugin, NULL) < 0)
        die(plugin);
    w->plugin->ops = ops;
    w->plugin->framework = &w->framework;
    char text[512];
    (void)snprintf(text, sizeof text,
                   "{'metadata':{'name':'p','namespace':'d','uid':'p'},'spec':{'containers':[{"
                   "'name':'c','image':'i'}],'volumes':[{'name':'v',%s%s%s}]}}",
                   claim ? "'persistentVolumeClaim':{'claimName':'" : "'emptyDir':{}",
                   claim ? claim : "", claim ? "'}" : "");
    struct sched_object *pod = read_text(w, SCHED_POD, text);
    struct cost first = attempt(w, sched_pod_of(pod)), sum = { 0 }, c = first;
    size_t rounds = 0;
    for (uint64_t began = clock_mono_ns(); clock_mono_ns() - began < ROUNDS_FOR_NS; rounds++) {
        if (churns)
            churn(w);
        c = attempt(w, sched_pod_of(pod));
        sum.pre_ns += c.pre_ns;
        sum.filter_ns += c.filter_ns;
    }
    (void)printf("%-20s %-22s first %9.1f us  then PreFilter %6.2f us", plugin, what,
                 (double)(first.pre_ns + first.filter_ns) / 1e3,
                 (double)sum.pre_ns / 1e3 / (double)rounds);
    if (c.is_skipped)
        (void)printf(", Skip\n");
    else
        (void)printf(", Filter %6.1f ns a node, %zu fit\n",
                     (double)sum.filter_ns / (double)rounds / w->nodes, c.fits);
    sched_object_unref(w->framework.words, pod);
    if (ops->destroy)
        ops->destroy(w->plugin);
    else
        free(w->plugin);
    w->plugin = NULL;
}

int main(int argc, char **argv)
{
    static const char *const plugins[] = { "VolumeRestrictions", "NodeVolumeLimits",
                                           "VolumeBinding", "VolumeZone" };
    static const struct {
        const char *what, *claim;
        bool churns;
    } pods[] = {
        { "no claim", NULL, false },
        { "bound", "b7", false },
        { "local volume", "local", false },
        { "local volume, churn", "local", true },
        { "volume to be made", "made", false },
        { "to be made, churn", "made", true },
    };
    uint64_t wanted = 5000;
    if (argc > 1 && parse_u64(str_of(argv[1]), 1, SCHED_NODES_MAX, &wanted) < 0)
        die("usage: sched-volumes-bench [NODES]");
    struct world w = { .nodes = (unsigned)wanted };
    w.framework = (struct sched_framework){ .words = intern_table_new(), .random = on_random };
    w.framework.cache = sched_cache_new(w.framework.words);
    put_classes(&w);
    for (unsigned i = 0; i < w.nodes; i++)
        put_node(&w, i);
    (void)printf("%u nodes, %u pods on each\n", w.nodes, PODS_ON_A_NODE);
    for (size_t i = 0; i < ARRAY_LEN(plugins); i++)
        for (size_t k = 0; k < ARRAY_LEN(pods); k++)
            bench(&w, plugins[i], pods[k].what, pods[k].claim, pods[k].churns);
    sched_cache_free(w.framework.cache);
    intern_table_free(w.framework.words);
    return 0;
}
