/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler's core by itself: no API, no watch, no thread. For ./dev bench scheduler.
 *
 *     sched-core-bench decide SHAPE NODES INIT-PODS PODS
 *     sched-core-bench memory NODES PODS
 *     sched-core-bench read
 *
 * Each prints one JSON object. `decide` tells pods and nodes as a watch would (texts are parsed),
 * answers bindings, deletions and patches at once, and times each attempt; shapes are those of
 * upstream's scheduler_perf. Rates are per second of CPU time, percentiles of wall time.
 */
#include "base/buf.h"
#include "base/vec.h"
#include "sched/core/scheduler.h"

#include <malloc.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

enum { CHURN_EVERY = 100, ROUNDS_MAX = 100000 };

static const char pod_plain[] =
    "\"containers\":[{\"name\":\"pause\",\"image\":\"registry.k8s.io/pause:3.10.2\",\"ports\":"
    "[{\"containerPort\":80,\"protocol\":\"TCP\"}],\"resources\":{\"limits\":{\"cpu\":\"100m\","
    "\"memory\":\"500Mi\"},\"requests\":{\"cpu\":\"100m\",\"memory\":\"500Mi\"}}}]";
#define ONE_CONTAINER(cpu)                                                                         \
    "\"containers\":[{\"name\":\"pause\",\"image\":\"registry.k8s.io/pause:3.10.1\","              \
    "\"resources\":{\"requests\":{\"cpu\":\"" cpu "\",\"memory\":\"500Mi\"}}}]"
static const char affinity[] =
    ",\"affinity\":{\"podAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"
    "[{\"labelSelector\":{\"matchLabels\":{\"color\":\"blue\"}},\"topologyKey\":"
    "\"topology.kubernetes.io/zone\",\"namespaces\":[\"sched-1\",\"sched-0\"]}]}}";
static const char spread[] =
    ",\"topologySpreadConstraints\":[{\"maxSkew\":5,\"topologyKey\":\"topology.kubernetes.io/"
    "zone\",\"whenUnsatisfiable\":\"DoNotSchedule\",\"labelSelector\":{\"matchLabels\":{\"color\":"
    "\"blue\"}}}]";

struct kind { /* of pods */
    const char *containers, *more, *labels, *namespace;
    int priority;
};
#define PLAIN                                                                                      \
    {                                                                                              \
        pod_plain, "", "", "default", 0                                                            \
    }
static const struct kind plain = PLAIN;
static const struct kind unfit = { ONE_CONTAINER("9"), "", "", "default", 10 };

static const struct shape {
    const char *name;
    struct kind init, placed;
    unsigned zones;
    bool churns_pods, churns_all;
} shapes[] = {
    { "SchedulingBasic", PLAIN, PLAIN, 0, false, false },
    { "SchedulingPodAffinity",
      { pod_plain, affinity, "\"color\":\"blue\"", "sched-0", 0 },
      { pod_plain, affinity, "\"color\":\"blue\"", "sched-1", 0 },
      1,
      false,
      false },
    { "TopologySpreading",
      PLAIN,
      { pod_plain, spread, "\"color\":\"blue\"", "default", 0 },
      3,
      false,
      false },
    { "PreemptionBasic",
      { ONE_CONTAINER("900m"), "", "", "default", 0 },
      { ONE_CONTAINER("3"), "", "", "default", 10 },
      0,
      false,
      false },
    { "Unschedulable", PLAIN, PLAIN, 0, true, false },
    { "SchedulingWithMixedChurn", PLAIN, PLAIN, 0, false, true },
};

struct call {
    struct str target, body;
    bool is_delete, is_bind;
    sched_api_done done;
    void *arg;
};

struct world {
    struct sched_api api;
    struct arena arena;
    struct sched_config config;
    struct sched *s;
    VEC(struct call) calls;
    VEC(const struct kind *) pods; /* by number */
    const struct shape *shape;
    uint64_t now_ms, feed_ns, step_cpu_ns;
    unsigned rv, bound, deleted;
};

static void die(const char *what, const struct err *err)
{
    (void)fprintf(stderr, "sched-core-bench: %s%s%s\n", what, err ? ": " : "",
                  err ? err_text(err) : "");
    exit(1);
}

static uint64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Of this thread; what others on the machine do is not in it. */
static uint64_t cpu_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int64_t on_wall(void *arg)
{
    return INT64_C(1767225600000) + (int64_t)((struct world *)arg)->now_ms;
}

static void on_call(struct sched_api *api, const struct sched_api_request *rq, sched_api_done done,
                    void *arg)
{
    struct world *w = container_of(api, struct world, api);
    struct call c = { .done = done, .arg = arg };
    c.target = str_n(str_dup(rq->target), rq->target.n);
    c.body = str_n(str_dup(rq->body), rq->body.n);
    c.is_delete = strcmp(rq->method, "DELETE") == 0;
    c.is_bind = str_has_suffix(rq->target, STR("/binding"));
    vec_push(&w->calls, c);
}

static void world_init(struct world *w, const struct shape *shape)
{
    struct err err = { 0 };
    struct buf warnings = BUF_INIT(65536);
    *w = (struct world){ .api.call = on_call, .shape = shape, .now_ms = 1000 };
    if (sched_config_read(&w->arena, STR(""), &w->config, &warnings, &err) < 0)
        die("configuration", &err);
    buf_fini(&warnings);
    struct sched_opts opts = {
        .config = &w->config, .api = &w->api, .seed = 1, .wall_ms = on_wall, .arg = w
    };
    if (sched_new(&opts, &w->s, &err) < 0)
        die("scheduler", &err);
}

static void world_fini(struct world *w)
{
    sched_free(w->s);
    vec_fini(&w->calls);
    vec_fini(&w->pods);
    arena_fini(&w->arena);
}

static void put(struct world *w, enum sched_kind kind, struct str text)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    struct json *json;
    uint64_t began = cpu_ns();
    if (json_parse(&a, text, NULL, &json, &err) < 0 ||
        sched_put(w->s, kind, json, w->now_ms, &err) < 0)
        die("object", &err);
    arena_fini(&a);
    w->feed_ns += cpu_ns() - began;
}

static void put_node(struct world *w, const char *prefix, unsigned i, const char *pods)
{
    struct buf b = BUF_INIT(65536);
    unsigned zones = w->shape->zones;
    (void)buf_printf(&b,
                     "{\"metadata\":{\"name\":\"%s-%u\",\"uid\":\"%s-%u\",\"resourceVersion\":"
                     "\"%u\",\"labels\":{\"kubernetes.io/hostname\":\"%s-%u\"",
                     prefix, i, prefix, i, ++w->rv, prefix, i);
    if (zones > 0)
        (void)buf_printf(&b, ",\"topology.kubernetes.io/zone\":\"zone%u\"", i % zones);
    (void)buf_printf(&b,
                     "}},\"spec\":{},\"status\":{\"capacity\":{\"cpu\":\"4\",\"memory\":\"32Gi\","
                     "\"pods\":\"%s\"},\"allocatable\":{\"cpu\":\"4\",\"memory\":\"32Gi\","
                     "\"pods\":\"%s\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}",
                     pods, pods);
    put(w, SCHED_NODE, buf_str(&b));
    buf_fini(&b);
}

/* As an API server tells a pod of a Deployment, about 2 KB. node: "" while it waits. */
static void pod_text(struct buf *b, unsigned i, unsigned rv, const struct kind *k, struct str node)
{
    (void)buf_printf(
        b,
        "{\"metadata\":{\"name\":\"pod-%u\",\"generateName\":\"pod-\",\"namespace\":\"%s\","
        "\"uid\":\"6e0c9a1d-7f0b-4a53-9d6c-%012u\",\"resourceVersion\":\"%u\",\"generation\":1,"
        "\"creationTimestamp\":\"2026-01-02T03:04:05Z\",\"labels\":{%s},\"ownerReferences\":"
        "[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"web-5d4f8c7b9\",\"uid\":"
        "\"0d9f0f34-26a6-4a0c-93b4-1f6f2c1f7d10\",\"controller\":true,\"blockOwnerDeletion\":"
        "true}],\"managedFields\":[{\"manager\":\"kube-controller-manager\",\"operation\":"
        "\"Update\",\"apiVersion\":\"v1\",\"time\":\"2026-01-02T03:04:05Z\",\"fieldsType\":"
        "\"FieldsV1\",\"fieldsV1\":{\"f:metadata\":{\"f:generateName\":{},\"f:labels\":{\".\":{}}},"
        "\"f:spec\":{\"f:containers\":{\"k:{\\\"name\\\":\\\"pause\\\"}\":{\".\":{},\"f:image\":{},"
        "\"f:name\":{}}}}}}]},\"spec\":{",
        i, k->namespace, i, rv, k->labels);
    (void)buf_printf(
        b,
        "\"volumes\":[{\"name\":\"kube-api-access\",\"projected\":{\"sources\":[{"
        "\"serviceAccountToken\":{\"expirationSeconds\":3607,\"path\":\"token\"}}],"
        "\"defaultMode\":420}}],%s%s,\"restartPolicy\":\"Always\","
        "\"terminationGracePeriodSeconds\":30,\"dnsPolicy\":\"ClusterFirst\","
        "\"serviceAccountName\":\"default\",\"securityContext\":{},\"schedulerName\":"
        "\"default-scheduler\",\"tolerations\":[{\"key\":\"node.kubernetes.io/not-ready\","
        "\"operator\":\"Exists\",\"effect\":\"NoExecute\",\"tolerationSeconds\":300},{\"key\":"
        "\"node.kubernetes.io/unreachable\",\"operator\":\"Exists\",\"effect\":\"NoExecute\","
        "\"tolerationSeconds\":300}],\"priority\":%d,\"enableServiceLinks\":true,"
        "\"preemptionPolicy\":\"PreemptLowerPriority\",\"nodeName\":\"" STR_FMT
        "\"},\"status\":{\"phase\":\"Pending\",\"qosClass\":\"Burstable\"}}",
        k->containers, k->more, k->priority, STR_ARG(node));
}

static void put_pod(struct world *w, unsigned i, struct str node)
{
    struct buf b = BUF_INIT(65536);
    pod_text(&b, i, ++w->rv, w->pods.p[i], node);
    put(w, SCHED_POD, buf_str(&b));
    buf_fini(&b);
}

static unsigned add_pod(struct world *w, const struct kind *k, struct str node)
{
    vec_push(&w->pods, k);
    put_pod(w, (unsigned)w->pods.n - 1, node);
    return (unsigned)w->pods.n - 1;
}

/* The number in ".../pods/pod-N" and whatever follows. */
static unsigned pod_of(struct str target)
{
    static const char before[] = "/pods/pod-";
    ptrdiff_t at = str_find(target, str_of(before));
    unsigned n = 0;
    if (at < 0)
        die("a request about something else", NULL);
    for (size_t i = (size_t)at + strlen(before);
         i < target.n && target.p[i] >= '0' && target.p[i] <= '9'; i++)
        n = n * 10 + (unsigned)(target.p[i] - '0');
    return n;
}

static void answer(struct world *w, const struct call *c)
{
    c->done(c->arg, 0, c->is_bind ? 201 : 200, STR("{}"), NULL);
    if (c->is_bind) {
        struct arena a = { 0 };
        struct json *json;
        if (json_parse(&a, c->body, NULL, &json, NULL) < 0)
            die("binding", NULL);
        put_pod(w, pod_of(c->target), json_str(json_path(json, "target", "name", NULL)));
        w->bound++;
        arena_fini(&a);
    } else if (c->is_delete) {
        unsigned i = pod_of(c->target);
        char name[32];
        (void)snprintf(name, sizeof name, "pod-%u", i);
        sched_del(w->s, SCHED_POD, str_of(w->pods.p[i]->namespace), str_of(name), w->now_ms);
        w->deleted++;
    }
}

static void answer_all(struct world *w)
{
    (void)sched_tick(w->s, w->now_ms);
    for (size_t i = 0; i < w->calls.n; i++) { /* answers may make further ones */
        struct call c = w->calls.p[i];
        answer(w, &c);
        free((char *)c.target.p);
        free((char *)c.body.p);
    }
    w->calls.n = 0;
    (void)sched_tick(w->s, w->now_ms);
}

static void churn(struct world *w, unsigned n)
{
    struct buf b = BUF_INIT(4096);
    if (n % CHURN_EVERY != 0)
        return;
    if (w->shape->churns_pods)
        (void)add_pod(w, &unfit, STR(""));
    if (!w->shape->churns_all)
        return;
    put_node(w, "churn", 0, "0");
    unsigned pod = add_pod(w, &unfit, STR(""));
    (void)buf_printf(&b,
                     "{\"metadata\":{\"name\":\"s\",\"namespace\":\"default\",\"uid\":\"s\","
                     "\"resourceVersion\":\"%u\"},\"spec\":{\"selector\":{\"app\":\"foo\"}}}",
                     ++w->rv);
    put(w, SCHED_SERVICE, buf_str(&b));
    answer_all(w);
    buf_reset(&b);
    (void)buf_printf(&b, "pod-%u", pod);
    sched_del(w->s, SCHED_POD, STR("default"), buf_str(&b), w->now_ms);
    sched_del(w->s, SCHED_NODE, STR(""), STR("churn-0"), w->now_ms);
    sched_del(w->s, SCHED_SERVICE, STR("default"), STR("s"), w->now_ms);
    buf_fini(&b);
}

typedef VEC(uint64_t) times;

/* Until so many more are bound. */
static void run(struct world *w, unsigned n, times *attempts)
{
    unsigned until = w->bound + n, steps = 0;
    for (unsigned idle = 0; w->bound < until && idle < ROUNDS_MAX;) {
        uint64_t began = now_ns(), cpu = cpu_ns();
        bool was_one = sched_step(w->s, w->now_ms);
        w->step_cpu_ns += cpu_ns() - cpu;
        uint64_t took = now_ns() - began;
        if (was_one && attempts)
            vec_push(attempts, took);
        answer_all(w);
        if (was_one && attempts)
            churn(w, ++steps);
        idle = was_one ? 0 : idle + 1;
        w->now_ms += was_one ? steps % 4 == 0 : 50;
    }
    if (w->bound < until)
        die("pods are left that nobody places", NULL);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static double at(const times *t, double part)
{
    return t->n ? (double)t->p[(size_t)((double)(t->n - 1) * part)] / 1e3 : 0;
}

static int decide(const char *name, unsigned nodes, unsigned init, unsigned placed)
{
    const struct shape *shape = NULL;
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
        if (strcmp(shapes[i].name, name) == 0)
            shape = &shapes[i];
    if (!shape)
        die("no such shape", NULL);
    struct world w;
    times t = { 0 };
    world_init(&w, shape);
    for (unsigned i = 0; i < nodes; i++)
        put_node(&w, "node", i, "110");
    sched_synced(w.s);
    sched_lead(w.s, true);
    for (unsigned i = 0; i < init; i++)
        (void)add_pod(&w, &shape->init, STR(""));
    run(&w, init, NULL);
    w.feed_ns = w.step_cpu_ns = 0;
    for (unsigned i = 0; i < placed; i++)
        (void)add_pod(&w, &shape->placed, STR(""));
    uint64_t fed_ns = w.feed_ns, began = cpu_ns();
    run(&w, placed, &t);
    double all = (double)(cpu_ns() - began + fed_ns) / 1e9;
    qsort(t.p, t.n, sizeof *t.p, compare);
    (void)printf("{\"decisions_per_second\": %.0f, \"pods_per_second\": %.0f, \"attempts\": %zu, "
                 "\"p50_us\": %.1f, \"p90_us\": %.1f, \"p99_us\": %.1f, \"max_us\": %.1f, "
                 "\"feed_us_per_pod\": %.2f, \"deleted\": %u}\n",
                 (double)t.n / ((double)w.step_cpu_ns / 1e9), (double)placed / all, t.n,
                 at(&t, 0.5), at(&t, 0.9), at(&t, 0.99), at(&t, 1),
                 (double)w.feed_ns / 1e3 / placed, w.deleted);
    vec_fini(&t);
    world_fini(&w);
    return 0;
}

/* Of this process, in KiB. */
static size_t resident(void)
{
    unsigned long size = 0, pages = 0;
    (void)malloc_trim(0);
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%lu %lu", &size, &pages) != 2)
        die("statm", NULL);
    (void)fclose(f);
    return pages * 4;
}

static int memory(unsigned nodes, unsigned pods)
{
    struct world w;
    world_init(&w, &shapes[0]);
    size_t before = resident();
    for (unsigned i = 0; i < nodes; i++)
        put_node(&w, "node", i, "110");
    size_t with_nodes = resident();
    uint64_t began = now_ns();
    for (unsigned i = 0; i < pods; i++) {
        char node[32];
        (void)snprintf(node, sizeof node, "node-%u", i % nodes);
        (void)add_pod(&w, &plain, str_of(node));
    }
    double took = (double)(now_ns() - began);
    size_t with_pods = resident();
    (void)printf("{\"mib\": %.1f, \"empty_mib\": %.1f, \"bytes_per_node\": %zu, "
                 "\"bytes_per_pod\": %zu, \"put_us\": %.2f}\n",
                 (double)with_pods / 1024, (double)before / 1024,
                 (with_nodes - before) * 1024 / nodes, (with_pods - with_nodes) * 1024 / pods,
                 took / 1e3 / pods);
    world_fini(&w);
    return 0;
}

static int read_alone(void)
{
    enum { N = 20000 };
    struct intern_table *w = intern_table_new();
    struct arena a = { 0 };
    struct json *json;
    struct sched_object *o, *held = NULL;
    struct buf b = BUF_INIT(65536);
    pod_text(&b, 1, 1, &plain, STR("node-1"));
    uint64_t t0 = now_ns();
    for (int i = 0; i < N; i++) {
        arena_reset(&a);
        if (json_parse(&a, buf_str(&b), NULL, &json, NULL) < 0)
            die("text", NULL);
    }
    uint64_t t1 = now_ns();
    for (int i = 0; i < N; i++) {
        if (sched_object_read(w, SCHED_POD, json, false, &o, NULL) < 0)
            die("pod", NULL);
        sched_object_unref(w, held);
        held = o;
    }
    uint64_t t2 = now_ns();
    for (int i = 0; i < N; i++)
        sched_object_unref(w, sched_pod_clone(w, sched_pod_of(held), NULL));
    uint64_t t3 = now_ns();
    (void)printf("{\"text_bytes\": %zu, \"parse_us\": %.2f, \"read_us\": %.2f, \"clone_us\": %.2f, "
                 "\"struct_bytes\": %zu}\n",
                 b.n, (double)(t1 - t0) / 1e3 / N, (double)(t2 - t1) / 1e3 / N,
                 (double)(t3 - t2) / 1e3 / N, sizeof(struct sched_pod));
    sched_object_unref(w, held);
    buf_fini(&b);
    arena_fini(&a);
    intern_table_free(w);
    return 0;
}

int main(int argc, char **argv)
{
    uint64_t n[3] = { 0 };
    const char *what = argc > 1 ? argv[1] : "";
    int from = strcmp(what, "decide") == 0 ? 3 : 2, count = argc - from;
    bool ok = count <= 3;
    for (int i = 0; ok && i < count; i++)
        ok = parse_u64(str_of(argv[from + i]), 0, 10000000, &n[i]) == 0;
    if (ok && strcmp(what, "decide") == 0 && count == 3)
        return decide(argv[2], (unsigned)n[0], (unsigned)n[1], (unsigned)n[2]);
    if (ok && strcmp(what, "memory") == 0 && count == 2 && n[0] > 0 && n[1] > 0)
        return memory((unsigned)n[0], (unsigned)n[1]);
    if (ok && strcmp(what, "read") == 0 && count == 0)
        return read_alone();
    die("usage: decide SHAPE NODES INIT-PODS PODS | memory NODES PODS | read", NULL);
    return 1;
}
