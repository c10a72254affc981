/* SPDX-License-Identifier: Apache-2.0 */
/* On which nodes a DaemonSet has pods, and how it replaces them. */
#include "test.h"
#include "workload/daemonset/plan.h"

enum { NOW_S = 1000000, NODES_MAX = 6, PODS_MAX = 8 };

static struct json *parse(struct arena *a, const char *text)
{
    struct json *v = NULL;
    CHECK_OK(json_parse(a, str_of(text), NULL, &v, NULL));
    return v;
}

/* ---------------------------------------------------------------- nodes */

#define AFFINITY(terms)                                                                            \
    "{\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"        \
    "\"nodeSelectorTerms\":[" terms "]}}}}"
#define LABEL(op, values)                                                                          \
    "{\"matchExpressions\":[{\"key\":\"disk\",\"operator\":\"" op "\"" values "}]}"

/* Cases like those of upstream's TestNodeShouldRunDaemonPod; the node "n" has the label disk=3. */
TEST(a_node_fits_by_name_labels_and_taints)
{
    static const struct {
        const char *spec, *taints;
        bool should_run, may_stay;
    } rows[] = {
        { "{}", NULL, true, true },
        { "{\"nodeName\":\"n\"}", NULL, true, true },
        { "{\"nodeName\":\"m\"}", NULL, false, false },
        { "{\"nodeSelector\":{\"disk\":\"3\"}}", NULL, true, true },
        { "{\"nodeSelector\":{\"disk\":\"4\"}}", NULL, false, false },
        { "{\"nodeSelector\":{\"cpu\":\"3\"}}", NULL, false, false },
        { AFFINITY(LABEL("In", ",\"values\":[\"9\",\"3\"]")), NULL, true, true },
        { AFFINITY(LABEL("NotIn", ",\"values\":[\"3\"]")), NULL, false, false },
        { AFFINITY(LABEL("Exists", "")), NULL, true, true },
        { AFFINITY(LABEL("DoesNotExist", "")), NULL, false, false },
        { AFFINITY(LABEL("Gt", ",\"values\":[\"2\"]")), NULL, true, true },
        { AFFINITY(LABEL("Lt", ",\"values\":[\"2\"]")), NULL, false, false },
        { AFFINITY(
              "{},{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":["
              "\"n\"]}]}"),
          NULL, true, true },
        { AFFINITY("{}"), NULL, false, false },
        { "{}", "[{\"key\":\"a\",\"value\":\"b\",\"effect\":\"NoSchedule\"}]", false, true },
        { "{}", "[{\"key\":\"a\",\"value\":\"b\",\"effect\":\"NoExecute\"}]", false, false },
        { "{}", "[{\"key\":\"a\",\"effect\":\"PreferNoSchedule\"}]", true, true },
        { "{}", "[{\"key\":\"node.kubernetes.io/unschedulable\",\"effect\":\"NoSchedule\"}]", true,
          true },
        { "{}", "[{\"key\":\"node.kubernetes.io/not-ready\",\"effect\":\"NoExecute\"}]", true,
          true },
        { "{}", "[{\"key\":\"node.kubernetes.io/network-unavailable\",\"effect\":\"NoSchedule\"}]",
          false, true },
        { "{\"hostNetwork\":true}",
          "[{\"key\":\"node.kubernetes.io/network-unavailable\",\"effect\":\"NoSchedule\"}]", true,
          true },
        { "{\"tolerations\":[{\"operator\":\"Exists\"}]}",
          "[{\"key\":\"a\",\"effect\":\"NoExecute\"}]", true, true },
        { "{\"tolerations\":[{\"key\":\"a\",\"value\":\"b\",\"effect\":\"NoSchedule\"}]}",
          "[{\"key\":\"a\",\"value\":\"b\",\"effect\":\"NoSchedule\"}]", true, true },
        { "{\"tolerations\":[{\"key\":\"a\",\"value\":\"c\"}]}",
          "[{\"key\":\"a\",\"value\":\"b\",\"effect\":\"NoSchedule\"}]", false, true },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a = { 0 };
        struct json *spec = parse(&a, rows[i].spec);
        const struct workload_claim node = { .name = STR("n"),
                                             .labels = parse(&a, "{\"disk\":\"3\"}"),
                                             .detail = rows[i].taints ? parse(&a, rows[i].taints)
                                                                      : NULL };
        daemonset_add_tolerations(&a, spec);
        struct daemon_fit fit = daemonset_node_fit(&a, spec, &node);
        CHECK(fit.should_run == rows[i].should_run);
        CHECK(fit.may_stay == rows[i].may_stay);
        arena_fini(&a);
    }
}

/* ---------------------------------------------------------------- pods */

struct rig {
    struct arena a;
    struct workload_claim nodes[NODES_MAX], pods[PODS_MAX];
    struct workload_pod facts[PODS_MAX];
    size_t n_nodes, n_pods;
    struct daemon_plan *p;
};

static const char *const names[] = { "n0", "n1", "n2", "n3", "n4", "n5" };

/* hash: "new" or "old". */
static struct workload_pod *rig_pod(struct rig *r, size_t node, const char *hash, bool is_ready)
{
    size_t i = r->n_pods++;
    r->facts[i] = (struct workload_pod){ .node = workload_node_hash(str_of(names[node])),
                                         .created_s = 100 + (int64_t)i,
                                         .phase = WORKLOAD_RUNNING,
                                         .is_ready = is_ready };
    struct json *labels = json_new_object(&r->a);
    json_set_str(&r->a, labels, DAEMON_HASH_LABEL, str_of(hash));
    r->pods[i] = (struct workload_claim){ .name = str_of(arena_printf(&r->a, "p%zu", i)),
                                          .labels = labels,
                                          .facts = &r->facts[i] };
    return &r->facts[i];
}

static struct daemon_plan *plan(struct rig *r, size_t n_nodes, const char *strategy)
{
    struct json *spec = json_new_object(&r->a);
    const struct json *object =
        parse(&r->a, arena_printf(&r->a, "{\"spec\":{\"updateStrategy\":%s}}", strategy));
    for (size_t i = 0; i < n_nodes; i++)
        r->nodes[i] = (struct workload_claim){ .name = str_of(names[i]) };
    const struct workload_claims nodes = { r->nodes, n_nodes }, pods = { r->pods, r->n_pods };
    r->p = daemonset_read(&r->a, object, spec, &nodes, &pods, STR("new"), (int64_t)NOW_S * 1000);
    daemonset_manage(r->p, (int64_t)NOW_S * 1000);
    daemonset_roll(&r->a, r->p);
    return r->p;
}

#define ON_DELETE "{\"type\":\"OnDelete\"}"
#define ROLLING(surge, unavailable)                                                                \
    "{\"type\":\"RollingUpdate\",\"rollingUpdate\":{\"maxSurge\":" surge                           \
    ",\"maxUnavailable\":" unavailable "}}"

TEST(each_node_has_one_pod)
{
    struct rig r = { 0 };
    (void)rig_pod(&r, 1, "new", true);
    (void)rig_pod(&r, 2, "new", true);
    (void)rig_pod(&r, 2, "new", true); /* one too many */
    struct daemon_plan *p = plan(&r, 4, ON_DELETE);
    CHECK(p->nodes[0].needs_pod && p->nodes[3].needs_pod && p->n_create == 2);
    CHECK(p->n_delete == 1 && p->pods[2].is_removed);
    const struct json *status = daemonset_status(&r.a, parse(&r.a, "{}"), p);
    CHECK_INT(json_int_or(json_getc(status, "desiredNumberScheduled"), 0), 4);
    CHECK_INT(json_int_or(json_getc(status, "currentNumberScheduled"), 0), 2);
    CHECK_INT(json_int_or(json_getc(status, "numberUnavailable"), 0), 2);
    arena_fini(&r.a);
}

TEST(pods_that_have_ended_are_replaced_failed_ones_after_a_while)
{
    struct rig r = { 0 };
    rig_pod(&r, 0, "new", false)->phase = WORKLOAD_SUCCEEDED;
    struct workload_pod *late = rig_pod(&r, 1, "new", false), *now = rig_pod(&r, 2, "new", false);
    struct workload_pod *waits = rig_pod(&r, 0, "new", false);
    late->phase = now->phase = WORKLOAD_FAILED;
    late->finished_s = NOW_S - 60;
    now->finished_s = NOW_S - 4;
    waits->node = 0;
    waits->node_wanted = workload_node_hash(STR("gone"));
    struct daemon_plan *p = plan(&r, 3, ON_DELETE);
    CHECK(p->pods[0].is_removed && p->pods[1].is_removed && !p->pods[2].is_removed);
    CHECK(p->pods[3].is_removed); /* for a node that is gone */
    CHECK_INT(p->again_ms, 6000);
    arena_fini(&r.a);
}

TEST(a_rolling_update_deletes_as_many_as_may_be_missing)
{
    static const struct {
        const char *strategy;
        bool old_ready[4]; /* pods of the old template */
        bool has_new, new_ready;
        const char *want; /* of the pods: '-': deleted */
    } rows[] = {
        { ROLLING("0", "1"), { true, true, true, true }, false, false, "-..." },
        { ROLLING("0", "2"), { true, true, true, true }, false, false, "--.." },
        { ROLLING("0", "\"30%\""), { true, true, true, true }, false, false, "--.." },
        { ROLLING("0", "1"), { true, false, true, true }, false, false, ".-.." },
        { ROLLING("0", "1"), { true, true, true, true }, true, false, "....." },
        { ROLLING("0", "1"), { true, true, true, true }, true, true, "-...." },
        { ON_DELETE, { true, true, true, true }, false, false, "...." },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig r = { 0 };
        for (size_t k = 0; k < 4; k++)
            (void)rig_pod(&r, k, "old", rows[i].old_ready[k]);
        if (rows[i].has_new)
            (void)rig_pod(&r, 4, "new", rows[i].new_ready);
        const struct daemon_plan *p = plan(&r, rows[i].has_new ? 5 : 4, rows[i].strategy);
        for (size_t k = 0; rows[i].want[k]; k++)
            CHECK(p->pods[k].is_removed == (rows[i].want[k] == '-'));
        CHECK_INT(p->n_create, 0);
        arena_fini(&r.a);
    }
}

TEST(with_a_surge_the_new_pod_comes_first)
{
    struct rig r = { 0 };
    (void)rig_pod(&r, 0, "old", true);
    (void)rig_pod(&r, 1, "old", true);
    struct daemon_plan *p = plan(&r, 2, ROLLING("1", "0"));
    CHECK(p->nodes[0].needs_pod && !p->nodes[1].needs_pod && p->n_delete == 0);
    (void)rig_pod(&r, 0, "new", false);
    p = plan(&r, 2, ROLLING("1", "0"));
    CHECK(p->n_create == 0 && p->n_delete == 0); /* it does not serve yet */
    r.facts[2].is_ready = 1;
    p = plan(&r, 2, ROLLING("1", "0"));
    CHECK(p->pods[0].is_removed && p->n_delete == 1);
    arena_fini(&r.a);
}

TEST_MAIN
