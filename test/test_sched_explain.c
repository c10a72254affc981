/* SPDX-License-Identifier: Apache-2.0 */
/* What is told about an attempt: the scheduler on three nodes, its words and points as JSON. */
#include "sched/explain/explain.h"
#include "test.h"

static void no_api(struct sched_api *api, const struct sched_api_request *rq, sched_api_done done,
                   void *arg)
{
    TEST_FAIL("explaining asks nobody: %s", rq->method);
}

struct world {
    struct arena a;
    struct sched_config config;
    struct sched_api api;
    struct sched *s;
};

static void put(struct world *w, enum sched_kind kind, const char *text)
{
    struct json *json;
    struct err err = { 0 };
    CHECK_OK(json_parse(&w->a, str_of(text), NULL, &json, &err));
    if (sched_put(w->s, kind, json, 1, &err) < 0)
        TEST_FAIL("%s", err.text);
}

/* Few plugins, so that it is known who refuses and who gives points. */
#define CONFIG                                                                                     \
    "apiVersion: kubescheduler.config.k8s.io/v1\n"                                                 \
    "kind: KubeSchedulerConfiguration\n"                                                           \
    "profiles: [{plugins: {multiPoint: {disabled: [{name: '*'}], enabled: [{name: PrioritySort}, " \
    "{name: NodeUnschedulable}, {name: NodeResourcesFit}, "                                        \
    "{name: NodeResourcesBalancedAllocation, weight: 2}, {name: DefaultBinder}]}}}]\n"

static void begin(struct world *w)
{
    struct buf warnings = BUF_INIT(4096);
    *w = (struct world){ .api.call = no_api };
    CHECK_OK(sched_config_read(&w->a, STR(CONFIG), &w->config, &warnings, NULL));
    struct sched_opts opts = { .config = &w->config, .api = &w->api, .seed = 1 };
    struct err err = { 0 };
    if (sched_new(&opts, &w->s, &err) < 0)
        TEST_FAIL("%s", err.text);
#define NODE(name, cpu, more)                                                                      \
    put(w, SCHED_NODE,                                                                             \
        "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{" more "},\"status\":{\"allocatable\":"   \
        "{\"cpu\":\"" cpu "\",\"memory\":\"4Gi\",\"pods\":\"10\"}}}")
    NODE("small", "1", "");
    NODE("large", "8", "");
    NODE("closed", "8", "\"unschedulable\":true");
    sched_synced(w->s);
}

static void end(struct world *w)
{
    sched_free(w->s);
    arena_fini(&w->a);
}

static const struct json *explain(struct world *w, const char *cpu)
{
    char text[512];
    struct buf out = BUF_INIT(1 << 20);
    struct err err = { 0 };
    struct json *json;
    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\",\"uid\":\"u\"},"
                   "\"spec\":{\"schedulerName\":\"default-scheduler\",\"containers\":[{\"name\":"
                   "\"c\",\"resources\":{\"requests\":{\"cpu\":\"%s\"}}}]}}",
                   cpu);
    put(w, SCHED_POD, text);
    scoped(explain_free_scoped) struct explain *e = explain_new();
    if (sched_explain(w->s, STR("ns"), STR("p"), 2, &explain_observer, e, &err) < 0)
        TEST_FAIL("%s", err.text);
    explain_write(e, &out);
    struct str kept = str_copy_arena(&w->a, buf_str(&out));
    buf_fini(&out);
    CHECK_OK(json_parse(&w->a, kept, NULL, &json, &err));
    CHECK_STR(json_get_str(json, "namespace"), "ns");
    CHECK_STR(json_get_str(json, "name"), "p");
    CHECK_STR(json_get_str(json, "schedulerName"), "default-scheduler");
    return json;
}

static const struct json *node_of(const struct json *json, const char *name)
{
    json_each (n, json_getc(json, "nodes"))
        if (str_is(json_get_str(n, "name"), name))
            return n;
    TEST_FAIL("nothing about %s", name);
}

TEST(a_pod_that_fits_has_points_and_the_best_comes_first)
{
    struct world w;
    begin(&w);
    const struct json *json = explain(&w, "500m"), *nodes = json_getc(json, "nodes");
    CHECK_STR(json_get_str(json, "node"), "large");
    CHECK_STR(json_get_str(json, "code"), "Success");
    CHECK_STR(json_get_str(nodes->first, "name"), "large");
    CHECK_INT(nodes->n, 3);
    int64_t total = 0;
    json_each (points, json_getc(nodes->first, "scores"))
        total += json_int_or(points, -1000000);
    CHECK_INT(json_int_or(json_getc(nodes->first, "total"), -1), total);
    CHECK(json_path(nodes->first, "scores", "NodeResourcesFit", NULL) != NULL);
    const struct json *refused = json_getc(node_of(json, "closed"), "refused");
    CHECK_STR(json_get_str(refused, "plugin"), "NodeUnschedulable");
    CHECK_STR(json_get_str(refused, "code"), "UnschedulableAndUnresolvable");
    CHECK_STR(json_str(json_first(json_getc(refused, "reasons"))), "node(s) were unschedulable");
    end(&w);
}

TEST(a_pod_without_a_node_has_the_reason_of_each)
{
    struct world w;
    begin(&w);
    const struct json *json = explain(&w, "64");
    CHECK(json_is(json_getc(json, "node"), JSON_NULL));
    CHECK_STR(json_get_str(json, "code"), "Unschedulable");
    CHECK(str_find(json_get_str(json, "message"),
                   STR("0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient "
                       "cpu.")) == 0);
    CHECK_STR(json_path(node_of(json, "small"), "refused", "plugin", NULL)->s, "NodeResourcesFit");
    end(&w);
}

TEST(one_node_that_is_left_has_points_too)
{
    struct world w;
    begin(&w);
    const struct json *json = explain(&w, "4");
    CHECK_STR(json_get_str(json, "node"), "large");
    CHECK_INT(json_getc(json, "nodes")->n, 3);
    CHECK(json_getc(node_of(json, "large"), "total") != NULL);
    end(&w);
}

TEST(a_pod_that_has_a_node_is_looked_at_as_if_it_came_now)
{
    struct world w;
    begin(&w);
    for (int i = 0; i < 2; i++) { /* asking changes nothing */
        put(&w, SCHED_POD,
            "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"old\",\"uid\":\"o\"},\"spec\":{"
            "\"nodeName\":"
            "\"large\",\"schedulerName\":\"default-scheduler\",\"containers\":[{\"name\":\"c\","
            "\"resources\":{\"requests\":{\"cpu\":\"6\"}}}]}}");
        scoped(explain_free_scoped) struct explain *e = explain_new();
        struct buf out = BUF_INIT(1 << 20);
        struct json *json;
        CHECK_OK(sched_explain(w.s, STR("ns"), STR("old"), 2, &explain_observer, e, NULL));
        explain_write(e, &out);
        CHECK_OK(json_parse(&w.a, str_copy_arena(&w.a, buf_str(&out)), NULL, &json, NULL));
        buf_fini(&out);
        CHECK_STR(json_get_str(json, "assigned"), "large");
        CHECK_STR(json_get_str(json, "node"), "large"); /* it fits where it is */
    }
    CHECK(json_is(json_getc(explain(&w, "4"), "node"), JSON_NULL)); /* beside it there is no room */
    end(&w);
}

TEST_MAIN
