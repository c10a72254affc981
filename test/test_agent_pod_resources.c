/* SPDX-License-Identifier: Apache-2.0 */
/* Requests, limits, QoS classes and control groups of pods. */
#include "agent/pod/resources.h"
#include "agent_pod_kit.h"

#define MI   (1024 * 1024LL)
#define META "metadata: {name: p, namespace: ns, uid: u-1}\n"

static struct pod_need need_of(const struct pod_spec *p)
{
    struct pod_need need;
    struct err err = { 0 };
    CHECK_OK(pod_need_of_pod(p, &need, &err));
    return need;
}

TEST(amounts_of_containers_are_added)
{
    const struct pod_spec *p = kit_pod(META "spec:\n"
                                            "  containers:\n"
                                            "  - name: a\n"
                                            "    resources: {requests: {cpu: 100m, memory: 64Mi}, "
                                            "limits: {memory: 128Mi}}\n"
                                            "  - name: b\n"
                                            "    resources: {limits: {cpu: '1', memory: 128Mi, "
                                            "ephemeral-storage: 1Gi}}\n");
    struct pod_need need = need_of(p);
    CHECK_INT(need.requests.cpu_milli, 1100); /* of b: its limit */
    CHECK_INT(need.requests.memory_bytes, 192 * MI);
    CHECK_INT(need.limits.cpu_milli, 1000);
    CHECK_INT(need.limits.memory_bytes, 256 * MI);
    CHECK_INT(need.limits.ephemeral_bytes, 1024 * MI);
    kit_reset();
}

/* The example of KEP-753: an init container runs beside the sidecars started before it. */
TEST(init_containers_count_with_the_sidecars_before_them)
{
    const struct pod_spec *p =
        kit_pod(META "spec:\n"
                     "  initContainers:\n"
                     "  - {name: i1, resources: {requests: {cpu: '5'}}}\n"
                     "  - {name: s1, restartPolicy: Always, resources: {requests: {cpu: '1'}}}\n"
                     "  - {name: i2, resources: {requests: {cpu: '6'}}}\n"
                     "  - {name: s2, restartPolicy: Always, resources: {requests: {cpu: '2'}}}\n"
                     "  containers:\n"
                     "  - {name: c, resources: {requests: {cpu: '1'}}}\n");
    CHECK_INT(need_of(p).requests.cpu_milli, 7000); /* i2 with s1, above c + s1 + s2 = 4 */
    CHECK_INT(need_of(p).requests.memory_bytes, POD_AMOUNT_NONE);
    kit_reset();
}

TEST(resources_of_the_pod_replace_sums_and_overhead_is_added)
{
    const struct pod_spec *p =
        kit_pod(META "spec:\n"
                     "  resources: {requests: {cpu: '2'}, limits: {cpu: '3'}}\n"
                     "  overhead: {cpu: 250m, memory: 10Mi}\n"
                     "  containers:\n"
                     "  - {name: c, resources: {requests: {cpu: '1', memory: 5Mi}}}\n");
    struct pod_need need = need_of(p);
    CHECK_INT(need.requests.cpu_milli, 2250);
    CHECK_INT(need.requests.memory_bytes, 15 * MI);
    CHECK_INT(need.limits.cpu_milli, 3250);
    CHECK_INT(need.limits.memory_bytes, POD_AMOUNT_NONE);
    kit_reset();
}

TEST(a_quantity_that_does_not_parse_names_container_and_resource)
{
    const struct pod_spec *p =
        kit_pod(META "spec: {containers: [{name: c, resources: {requests: {cpu: lots}}}]}");
    struct pod_need need;
    struct err err = { 0 };
    CHECK_ERR(pod_need_of_pod(p, &need, &err), E_INVALID);
    CHECK(strstr(err.text, "container 'c': resource 'cpu': "));
    kit_reset();
}

static enum pod_qos qos_of(const char *containers)
{
    return pod_qos_class(
        kit_pod(arena_printf(&kit_arena, META "spec: {containers: [%s]}", containers)));
}

TEST(the_qos_class_follows_from_cpu_and_memory)
{
    CHECK(qos_of("{name: a}") == POD_QOS_BEST_EFFORT);
    CHECK(qos_of("{name: a, resources: {limits: {ephemeral-storage: 1Gi}}}") ==
          POD_QOS_BEST_EFFORT);
    CHECK(qos_of("{name: a, resources: {requests: {cpu: '0'}}}") == POD_QOS_BEST_EFFORT);
    CHECK(qos_of("{name: a, resources: {requests: {cpu: 1m}}}") == POD_QOS_BURSTABLE);
    CHECK(qos_of("{name: a, resources: {limits: {cpu: 1m}}}") == POD_QOS_BURSTABLE);
    CHECK(qos_of("{name: a, resources: {limits: {cpu: '1', memory: 1Gi}}}") == POD_QOS_GUARANTEED);
    CHECK(
        qos_of("{name: a, resources: {limits: {cpu: '1', memory: 1Gi}, requests: {cpu: 1000m}}}") ==
        POD_QOS_GUARANTEED);
    CHECK(
        qos_of("{name: a, resources: {limits: {cpu: '1', memory: 1Gi}, requests: {cpu: 999m}}}") ==
        POD_QOS_BURSTABLE);
    CHECK(qos_of("{name: a, resources: {limits: {cpu: '1', memory: 1Gi}}}, {name: b}") ==
          POD_QOS_BURSTABLE);
    CHECK_STR(str_of(pod_qos_name(POD_QOS_BURSTABLE)), "Burstable");
    kit_reset();
}

TEST(resources_of_the_pod_decide_its_qos_class)
{
    const struct pod_spec *p = kit_pod(
        META "spec: {resources: {limits: {cpu: '1', memory: 1Gi}}, containers: [{name: a}]}");
    CHECK(pod_qos_class(p) == POD_QOS_GUARANTEED);
    p = kit_pod(META "spec: {resources: {limits: {cpu: '1'}}, containers: [{name: a}]}");
    CHECK(pod_qos_class(p) == POD_QOS_BURSTABLE);
    kit_reset();
}

/* Vectors of the kubelet's documentation of CFS shares and quotas. */
TEST(shares_and_quotas_are_those_of_the_kubelet)
{
    CHECK_INT(pod_cpu_shares(0), 2);
    CHECK_INT(pod_cpu_shares(POD_AMOUNT_NONE), 2);
    CHECK_INT(pod_cpu_shares(1), 2);
    CHECK_INT(pod_cpu_shares(100), 102);
    CHECK_INT(pod_cpu_shares(1000), 1024);
    CHECK_INT(pod_cpu_shares(INT64_MAX), 262144);
    CHECK_INT(pod_cpu_quota_us(0), 0);
    CHECK_INT(pod_cpu_quota_us(5), 1000);
    CHECK_INT(pod_cpu_quota_us(250), 25000);
    CHECK_INT(pod_cpu_quota_us(1500), 150000);
    CHECK_INT(pod_cpu_quota_us(INT64_MAX), INT64_MAX);
    CHECK_INT(pod_cpu_weight(2), 1);
    CHECK_INT(pod_cpu_weight(1024), 39);
    CHECK_INT(pod_cpu_weight(262144), 10000);
}

static struct pod_cgroup group_of(const char *containers)
{
    struct pod_cgroup g;
    struct err err = { 0 };
    CHECK_OK(pod_cgroup_of_pod(
        kit_pod(arena_printf(&kit_arena, META "spec: {containers: [%s]}", containers)), &g, &err));
    return g;
}

TEST(the_group_of_a_pod_is_limited_only_if_every_container_is)
{
    struct pod_cgroup g = group_of("{name: a, resources: {limits: {cpu: '1', memory: 1Mi}}}, "
                                   "{name: b, resources: {limits: {memory: 2Mi}}}");
    CHECK_INT(g.cpu_shares, 1024);
    CHECK_INT(g.cpu_quota_us, 0);
    CHECK_INT(g.memory_bytes, 3 * MI);
    g = group_of("{name: a}");
    CHECK(g.cpu_shares == 2 && g.cpu_quota_us == 0 && g.memory_bytes == 0);
    kit_reset();
}

TEST(a_container_without_limits_has_those_of_its_pod)
{
    const struct pod_spec *p =
        kit_pod(META "spec: {resources: {limits: {cpu: '2', memory: 8Mi}}, containers: [{name: a, "
                     "resources: {limits: {cpu: '1'}}}]}");
    struct pod_cgroup g;
    CHECK_OK(pod_cgroup_of_container(p, &p->main[0], &g, NULL));
    CHECK_INT(g.cpu_quota_us, 100000);
    CHECK_INT(g.memory_bytes, 8 * MI);
    kit_reset();
}

TEST(groups_of_pods_lie_below_their_qos_class)
{
    const struct pod_spec *p = kit_pod(META "spec: {containers: [{name: a}]}");
    CHECK_STR(pod_cgroup_path(&kit_arena, p), "besteffort/podu-1");
    p = kit_pod(META "spec: {containers: [{name: a, resources: {requests: {cpu: '1'}}}]}");
    CHECK_STR(pod_cgroup_path(&kit_arena, p), "burstable/podu-1");
    p = kit_pod(META
                "spec: {containers: [{name: a, resources: {limits: {cpu: '1', memory: 1Mi}}}]}");
    CHECK_STR(pod_cgroup_path(&kit_arena, p), "podu-1");
    kit_reset();
}

static int adjust(const char *spec)
{
    const struct pod_spec *p = kit_pod(arena_printf(&kit_arena, META "spec: {%s}", spec));
    return pod_oom_score_adj(p, pod_spec_at(p, 0), 4000000000);
}

TEST(the_out_of_memory_killer_prefers_containers_that_request_little)
{
    CHECK_INT(adjust("containers: [{name: a}]"), 1000);
    CHECK_INT(adjust("containers: [{name: a, resources: {limits: {cpu: 1m, memory: 1M}}}]"), -997);
    CHECK_INT(adjust("containers: [{name: a, resources: {requests: {memory: 2000000000}}}]"), 500);
    CHECK_INT(adjust("containers: [{name: a, resources: {requests: {cpu: 1m}}}]"), 999);
    CHECK_INT(adjust("containers: [{name: a, resources: {requests: {memory: 8E}}}]"), 3);
    CHECK_INT(adjust("priorityClassName: system-node-critical, containers: [{name: a}]"), -997);
    /* A sidecar is not killed before its main containers. */
    CHECK_INT(adjust("initContainers: [{name: s, restartPolicy: Always}], containers: [{name: a, "
                     "resources: {requests: {memory: 2000000000}}}]"),
              500);
    /* What the pod requests beyond its containers is theirs in equal parts. */
    CHECK_INT(adjust("resources: {requests: {memory: 2000000000}}, containers: [{name: a}, "
                     "{name: b}]"),
              750);
    kit_reset();
}

TEST_MAIN
