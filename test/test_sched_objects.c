/* SPDX-License-Identifier: Apache-2.0 */
/* Pods and nodes as the scheduler reads them, label and node selectors, tolerations. */
#include "sched_objects_kit.h"

/* ---- requests ---- */

static const int64_t MI = 1 << 20;

static const struct requests_case {
    const char *what, *pod;
    int64_t milli_cpu, memory, nonzero_cpu, nonzero_memory;
} requests_cases[] = {
    { "no container asks for anything", "{spec: {containers: [{name: a}, {name: b}]}}", 0, 0, 200,
      400 * 1048576 },
    { "containers are summed",
      "{spec: {containers: [{name: a, resources: {requests: {cpu: 100m, memory: 1Mi}}},"
      "{name: b, resources: {requests: {cpu: '0.5'}}}]}}",
      600, 1048576, 600, 201 * 1048576 },
    { "an amount of nothing is an amount",
      "{spec: {containers: [{name: a, resources: {requests: {cpu: 0, memory: '0'}}}]}}", 0, 0, 0,
      0 },
    { "an init container that needs more",
      "{spec: {initContainers: [{name: i, resources: {requests: {cpu: 1, memory: 1Mi}}}],"
      "containers: [{name: a, resources: {requests: {cpu: 200m, memory: 2Mi}}}]}}",
      1000, 2 * 1048576, 1000, 2 * 1048576 },
    { "a sidecar counts with the containers, and with init containers after it",
      "{spec: {initContainers: [{name: x, resources: {requests: {cpu: 300m}}},"
      "{name: s, restartPolicy: Always, resources: {requests: {cpu: 100m}}},"
      "{name: y, resources: {requests: {cpu: 400m}}}],"
      "containers: [{name: a, resources: {requests: {cpu: 250m}}}]}}",
      500, 0, 500, 400 * 1048576 },
    { "overhead comes on top",
      "{spec: {overhead: {cpu: 10m, memory: 1Mi}, containers: [{name: a}]}}", 10, 1048576, 110,
      201 * 1048576 },
    { "amounts of the pod stand for the sum",
      "{spec: {resources: {requests: {cpu: 2}}, overhead: {cpu: 10m},"
      "containers: [{name: a, resources: {requests: {cpu: 1, memory: 5Mi}}}, {name: b}]}}",
      2010, 5 * 1048576, 2010, 5 * 1048576 },
    { "what neither the pod nor a container names gets defaults",
      "{spec: {resources: {requests: {cpu: 2}}, containers: [{name: a}, {name: b}]}}", 2000, 0,
      2000, 400 * 1048576 },
    { "limits of the pod alone change nothing",
      "{spec: {resources: {limits: {cpu: 2}}, containers: [{name: a}]}}", 0, 0, 100,
      200 * 1048576 },
    { "fractions are summed before they are rounded",
      "{spec: {containers: [{name: a, resources: {requests: {memory: 500m}}},"
      "{name: b, resources: {requests: {memory: 500m}}}]}}",
      0, 1, 200, 1 },
    { "while it is resized the largest counts",
      "{spec: {containers: [{name: a, resources: {requests: {cpu: 100m, memory: 3Mi}}}]},"
      "status: {containerStatuses: [{name: a, allocatedResources: {cpu: 200m},"
      "resources: {requests: {cpu: 300m, memory: 1Mi}}}]}}",
      300, 3 * 1048576, 300, 3 * 1048576 },
    { "a status without resources tells nothing",
      "{spec: {containers: [{name: a, resources: {requests: {cpu: 100m}}}]},"
      "status: {containerStatuses: [{name: a, allocatedResources: {cpu: 200m}}]}}",
      100, 0, 100, 200 * 1048576 },
    { "what is asked for does not count when it will never be",
      "{spec: {containers: [{name: a, resources: {requests: {cpu: 900m}}}]},"
      "status: {conditions: [{type: PodResizePending, reason: Infeasible}],"
      "containerStatuses: [{name: a, allocatedResources: {cpu: 200m},"
      "resources: {requests: {cpu: 100m}}}]}}",
      200, 0, 200, 200 * 1048576 },
    { "a resize that is put off counts",
      "{spec: {containers: [{name: a, resources: {requests: {cpu: 900m}}}]},"
      "status: {conditions: [{type: PodResizePending, reason: Deferred}],"
      "containerStatuses: [{name: a, allocatedResources: {cpu: 200m},"
      "resources: {requests: {cpu: 100m}}}]}}",
      900, 0, 900, 200 * 1048576 },
    { "a sidecar is resized, another init container is not",
      "{spec: {initContainers: [{name: s, restartPolicy: Always, resources: {requests: {cpu: "
      "100m}}},"
      "{name: i, resources: {requests: {cpu: 10m}}}], containers: [{name: a, resources: {requests: "
      "{cpu: 0}}}]},"
      "status: {initContainerStatuses: [{name: s, resources: {requests: {cpu: 150m}}},"
      "{name: i, resources: {requests: {cpu: 500m}}}]}}",
      160, 0, 160, 400 * 1048576 },
    { "the pod itself is resized",
      "{spec: {resources: {requests: {cpu: 1, memory: 4Mi}}, containers: [{name: a}]},"
      "status: {resources: {requests: {cpu: 2}}, allocatedResources: {memory: 8Mi}}}",
      2000, 8 * 1048576, 2000, 8 * 1048576 },
    { "more than there are numbers for",
      "{spec: {containers: [{name: a, resources: {requests: {cpu: 9E, memory: 8E}}},"
      "{name: b, resources: {requests: {memory: 8E}}}]}}",
      INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX },
};

TEST(requests_of_a_pod_are_upstreams)
{
    struct kit k;
    kit_init(&k);
    for (size_t i = 0; i < ARRAY_LEN(requests_cases); i++) {
        const struct requests_case *c = &requests_cases[i];
        struct json *j = kit_json(&k, c->pod);
        json_set_str(&k.arena, json_obj(&k.arena, j, "metadata"), "name", STR("p"));
        struct buf text = BUF_INIT(4096);
        CHECK_OK(json_write(&text, j));
        const struct sched_pod *p = kit_pod(&k, buf_cstr(&text));
        buf_fini(&text);
        if (p->requests.milli_cpu != c->milli_cpu || p->requests.memory != c->memory ||
            p->nonzero_milli_cpu != c->nonzero_cpu || p->nonzero_memory != c->nonzero_memory)
            TEST_FAIL("%s: %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, c->what,
                      p->requests.milli_cpu, p->requests.memory, p->nonzero_milli_cpu,
                      p->nonzero_memory);
    }
    kit_fini(&k);
}

static int64_t scalar(struct kit *k, const struct sched_amounts *a, const char *name)
{
    const struct intern *w = intern_find(k->words, str_of(name));
    return w ? sched_amounts_scalar(a, w) : 0;
}

TEST(scalars_are_what_upstream_counts)
{
    struct kit k;
    kit_init(&k);
    const struct sched_pod *p = kit_pod(
        &k, "{metadata: {name: p}, spec: {resources: {requests: {hugepages-2Mi: 8Mi}},"
            "initContainers: [{name: i, resources: {requests: {x.io/gpu: 3}}}],"
            "containers: [{name: a, resources: {requests: {x.io/gpu: 1, ephemeral-storage: 5,"
            "hugepages-2Mi: 4Mi, attachable-volumes-aws-ebs: 2, node.kubernetes.io/odd: 1,"
            "pods: 7, storage: 1, requests.x.io/gpu: 9}}},"
            "{name: b, resources: {requests: {x.io/gpu: 1}}}]}}");
    CHECK_INT(p->requests.n_scalars, 4);
    CHECK_INT(p->requests.ephemeral, 5);
    CHECK_INT(scalar(&k, &p->requests, "x.io/gpu"), 3);
    CHECK_INT(scalar(&k, &p->requests, "hugepages-2Mi"), 8 * MI);
    CHECK_INT(scalar(&k, &p->requests, "attachable-volumes-aws-ebs"), 2);
    CHECK_INT(scalar(&k, &p->requests, "node.kubernetes.io/odd"), 1);
    CHECK_INT(scalar(&k, &p->requests, "requests.x.io/gpu"), 0);
    kit_fini(&k);
}

/* ---- the rest of a pod ---- */

TEST(a_pods_fields_are_read)
{
    struct kit k;
    kit_init(&k);
    const struct sched_pod *p = kit_pod(
        &k,
        "{metadata: {name: p, namespace: ns, uid: u-1, resourceVersion: '77', generation: 3,"
        "labels: {app: web, tier: ''}, creationTimestamp: '2026-01-02T03:04:05Z',"
        "deletionTimestamp: '2026-01-02T03:05:05Z', ownerReferences: ["
        "{apiVersion: v1, kind: X, name: not, uid: it},"
        "{apiVersion: apps/v1, kind: ReplicaSet, name: rs, uid: u-2, controller: true}]},"
        "spec: {priority: 7, preemptionPolicy: Never, schedulerName: mine,"
        "schedulingGates: [{name: g1}, {name: g2}], resourceClaims: [{name: c}],"
        "containers: [{name: a, image: 'x/y'}]},"
        "status: {phase: Running, nominatedNodeName: n9, startTime: '2026-01-02T03:04:06Z',"
        "conditions: [{type: DisruptionTarget, status: 'True', reason: PreemptionByScheduler}]}}");
    CHECK(str_is(p->o.namespace, "ns") && str_is(p->o.name, "p") && str_is(p->o.uid, "u-1"));
    CHECK(str_is(sched_object_key(&p->o), "ns/p"));
    CHECK(str_is(intern_str(p->namespace_word), "ns"));
    CHECK_INT(p->o.rv, 77);
    CHECK_INT(p->generation, 3);
    CHECK_INT(p->labels.n, 2);
    CHECK(str_is(intern_str(sched_label_get(&p->labels, intern_find(k.words, STR("tier")))), ""));
    CHECK_INT(p->created_ms, INT64_C(1767323045000));
    CHECK_INT(p->started_ms, INT64_C(1767323046000));
    CHECK(p->is_terminating && p->never_preempts && p->has_claims && !p->is_done);
    CHECK(p->has_disruption_condition);
    CHECK_INT(p->priority, 7);
    CHECK(str_is(p->scheduler_name, "mine") && str_is(p->nominated_node, "n9"));
    CHECK(str_is(p->controller.api_version, "apps/v1"));
    CHECK(str_is(p->controller.kind, "ReplicaSet"));
    CHECK(str_is(p->controller.name, "rs") && str_is(p->controller.uid, "u-2"));
    CHECK_INT(p->n_gates, 2);
    CHECK(str_is(p->gates[1], "g2"));
    CHECK(p->json.n > 0);
    kit_fini(&k);
}

TEST(what_a_pod_leaves_out_has_defaults)
{
    struct kit k;
    kit_init(&k);
    const struct sched_pod *p = kit_pod(&k, "{metadata: {name: p}}");
    CHECK(str_is(p->scheduler_name, "default-scheduler"));
    CHECK(!p->node_name && p->controller.kind.n == 0 && p->priority == 0);
    CHECK(!p->node_selector.nothing && p->node_selector.n == 0);
    CHECK(!p->has_required_node_affinity && !p->is_terminating);
    kit_fini(&k);
}

TEST(host_ports_are_those_of_what_runs)
{
    struct kit k;
    kit_init(&k);
    const struct sched_pod *p = kit_pod(
        &k, "{metadata: {name: p}, spec: {initContainers: [{name: i, ports: [{hostPort: 1}]},"
            "{name: s, restartPolicy: Always, ports: [{hostPort: 2, protocol: UDP}]}],"
            "containers: [{name: a, ports: [{containerPort: 80}, {hostPort: 3, hostIP: 10.0.0.1,"
            "protocol: SCTP}, {hostPort: 4, protocol: TCP}]}]}}");
    CHECK_INT(p->n_ports, 3);
    CHECK(p->ports[0].port == 2 && p->ports[0].protocol == SCHED_UDP);
    CHECK(str_is(intern_str(p->ports[0].ip), "0.0.0.0"));
    CHECK(p->ports[1].port == 3 && p->ports[1].protocol == SCHED_SCTP);
    CHECK(str_is(intern_str(p->ports[1].ip), "10.0.0.1"));
    CHECK(p->ports[2].port == 4 && p->ports[2].protocol == SCHED_TCP);
    p = kit_pod(&k, "{metadata: {name: q}, spec: {hostNetwork: true, containers: [{name: a,"
                    "ports: [{containerPort: 80}]}]}}");
    CHECK(p->n_ports == 1 && p->ports[0].port == 80);
    kit_fini(&k);
}

TEST(images_get_the_tag_that_nodes_list)
{
    struct kit k;
    kit_init(&k);
    static const char *const want[] = {
        "busybox:latest", "r.io:5000/a:latest", "r.io:5000/a:v1", "a@sha256:abc", "vol/data:latest",
    };
    const struct sched_pod *p = kit_pod(
        &k, "{metadata: {name: p}, spec: {initContainers: [{name: i, image: busybox}],"
            "containers: [{name: a, image: 'r.io:5000/a'}, {name: b, image: "
            "'r.io:5000/a:v1'}, {name: c, image: 'a@sha256:abc'}],"
            "volumes: [{name: v, image: {reference: vol/data}}, {name: e, emptyDir: {}}]}}");
    CHECK_INT(p->n_images, ARRAY_LEN(want));
    CHECK_INT(p->n_containers, 4);
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        CHECK(str_is(intern_str(p->images[i]), want[i]));
    kit_fini(&k);
}

TEST(volumes_of_interest_are_kept)
{
    struct kit k;
    kit_init(&k);
    const struct sched_pod *p =
        kit_pod(&k, "{metadata: {name: p}, spec: {volumes: [{name: e, emptyDir: {}},"
                    "{name: c, persistentVolumeClaim: {claimName: data, readOnly: true}},"
                    "{name: t, ephemeral: {volumeClaimTemplate: {}}},"
                    "{name: g, gcePersistentDisk: {pdName: d1}},"
                    "{name: i, iscsi: {iqn: q, targetPortal: x}},"
                    "{name: r, rbd: {monitors: [m1, m2], image: im}}]}}");
    CHECK_INT(p->n_volumes, 5);
    CHECK(p->volumes[0].source == SCHED_VOLUME_CLAIM && p->volumes[0].read_only);
    CHECK(str_is(p->volumes[0].claim, "data") && str_is(p->volumes[0].name, "c"));
    CHECK(p->volumes[1].source == SCHED_VOLUME_EPHEMERAL);
    CHECK(str_is(p->volumes[1].claim, "p-t"));
    CHECK(p->volumes[2].source == SCHED_VOLUME_GCE_DISK && str_is(p->volumes[2].id, "d1"));
    CHECK(p->volumes[3].source == SCHED_VOLUME_ISCSI && str_is(p->volumes[3].id, "q"));
    CHECK(p->volumes[4].source == SCHED_VOLUME_RBD && str_is(p->volumes[4].id, "rbd"));
    CHECK(str_is(p->volumes[4].id2, "im") && p->volumes[4].n_monitors == 2);
    CHECK(str_is(p->volumes[4].monitors[1], "m2"));
    kit_fini(&k);
}

static const char *selector_text(struct kit *k, const struct sched_selector *s)
{
    struct buf out = BUF_INIT(4096);
    sched_selector_text(s, &out);
    const char *text = arena_strndup(&k->arena, buf_cstr(&out), out.n);
    buf_fini(&out);
    return text;
}

#define CHECK_TEXT(k, selector, want)                                                              \
    do {                                                                                           \
        const char *check_t_ = selector_text((k), (selector));                                     \
        if (strcmp(check_t_, (want)) != 0)                                                         \
            TEST_FAIL("\"%s\", expected \"%s\"", check_t_, (want));                                \
    } while (0)

TEST(affinity_terms_know_their_namespaces_and_label_keys)
{
    struct kit k;
    kit_init(&k);
    const struct sched_pod *p = kit_pod(
        &k, "{metadata: {name: p, namespace: me, labels: {app: web, hash: h1}}, spec: {affinity: {"
            "podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: ["
            "{topologyKey: zone, labelSelector: {matchLabels: {app: web}},"
            "matchLabelKeys: [hash, absent], mismatchLabelKeys: [app]},"
            "{topologyKey: host, namespaces: [a, b]}]},"
            "podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: ["
            "{weight: 5, podAffinityTerm: {topologyKey: zone, labelSelector: {},"
            "namespaceSelector: {matchLabels: {team: x}}}}]}}}}");
    CHECK_INT(p->required_affinity.n, 2);
    CHECK_INT(p->preferred_anti.n, 1);
    CHECK(p->required_anti.n == 0 && p->preferred_affinity.n == 0);
    const struct sched_affinity_term *t = &p->required_affinity.p[0];
    CHECK_TEXT(&k, &t->selector, "app=web,app notin (web),hash in (h1)");
    CHECK(t->n_namespaces == 1 && t->namespaces[0] == p->namespace_word);
    CHECK(t->namespace_selector.nothing);
    t = &p->required_affinity.p[1];
    CHECK(t->selector.nothing && t->n_namespaces == 2);
    CHECK(str_is(intern_str(t->topology_key), "host"));
    t = &p->preferred_anti.p[0];
    CHECK(t->weight == 5 && t->n_namespaces == 0 && !t->selector.nothing && t->selector.n == 0);
    CHECK_TEXT(&k, &t->namespace_selector, "team=x");
    kit_fini(&k);
}

TEST(label_keys_that_the_api_server_has_merged_are_not_merged_again)
{
    struct kit k;
    kit_init(&k);
    const struct sched_pod *p = kit_pod(
        &k, "{metadata: {name: p, labels: {hash: h1}}, spec: {topologySpreadConstraints: ["
            "{maxSkew: 2, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, matchLabelKeys: "
            "[hash], labelSelector: {matchExpressions: [{key: hash, operator: In, values: [h1]}]},"
            "nodeAffinityPolicy: Ignore, nodeTaintsPolicy: Honor},"
            "{maxSkew: 1, topologyKey: host, whenUnsatisfiable: DoNotSchedule, minDomains: 3}]}}");
    CHECK_INT(p->n_spreads, 2);
    const struct sched_spread *s = p->spreads;
    CHECK_TEXT(&k, &s[0].selector, "hash in (h1)");
    CHECK(s[0].max_skew == 2 && s[0].min_domains == 1 && !s[0].do_not_schedule);
    CHECK(!s[0].honors_affinity && s[0].honors_taints);
    CHECK(s[1].do_not_schedule && s[1].min_domains == 3 && s[1].selector.nothing);
    CHECK(s[1].honors_affinity && !s[1].honors_taints);
    kit_fini(&k);
}

TEST(a_clone_shares_words_alone)
{
    struct kit k;
    kit_init(&k);
    struct sched_object *o = kit_read(
        &k, SCHED_POD,
        "{metadata: {name: p, labels: {a: b}, ownerReferences: [{kind: Job, name: j, uid: u,"
        "controller: true}]}, spec: {nodeSelector: {disk: ssd}, schedulingGates: [{name: g}],"
        "tolerations: [{key: k, operator: Exists}], volumes: [{name: r, rbd: {monitors: [m], "
        "image: i}}], affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
        "{nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]}}"
        "}, containers: [{name: a, ports: [{hostPort: 5}], resources: {requests: {x.io/g: 2}}}]},"
        "status: {nominatedNodeName: n2}}");
    struct intern *node = intern_get(k.words, STR("n1"));
    struct sched_pod *c = sched_pod_clone(k.words, sched_pod_of(o), node);
    intern_unref(k.words, node);
    sched_object_unref(k.words, o);
    CHECK(str_is(sched_object_key(&c->o), "default/p") && str_is(c->o.uid, "p"));
    CHECK(str_is(intern_str(c->node_name), "n1") && str_is(c->nominated_node, "n2"));
    CHECK(str_is(intern_str(c->labels.p[0].value), "b") && str_is(c->controller.name, "j"));
    CHECK_TEXT(&k, &c->node_selector, "disk=ssd");
    CHECK(str_is(c->gates[0], "g") && c->ports[0].port == 5);
    CHECK(str_is(c->volumes[0].monitors[0], "m"));
    CHECK(c->required_node.p[0].fields[0].values[0] == c->node_name);
    CHECK_INT(scalar(&k, &c->requests, "x.io/g"), 2);
    struct sched_pod *again = sched_pod_clone(k.words, c, NULL);
    CHECK(again->node_name == c->node_name);
    sched_object_unref(k.words, c);
    sched_object_unref(k.words, again);
    kit_fini(&k);
}

TEST(what_the_api_server_would_have_refused_is_an_error)
{
    struct kit k;
    kit_init(&k);
    static const struct {
        enum sched_kind kind;
        const char *text, *want;
    } cases[] = {
        { SCHED_POD, "{}", "metadata.name: Required value" },
        { SCHED_POD, "{metadata: {name: p, labels: [1]}}",
          "pods 'default/p': metadata: labels: not an object" },
        { SCHED_POD, "{metadata: {name: p, labels: {a: 1}}}",
          "pods 'default/p': metadata: labels[a]: not a string" },
        { SCHED_POD, "{metadata: {name: p}, spec: {containers: {}}}",
          "pods 'default/p': spec.containers: not an array" },
        { SCHED_POD,
          "{metadata: {name: p}, spec: {containers: [{name: c, resources: {requests: {cpu: "
          "-1}}}]}}",
          "pods 'default/p': container 'c': resources[cpu]: must be greater than or equal to 0" },
        { SCHED_POD, "{metadata: {name: p}, spec: {containers: [{ports: [{hostPort: 70000}]}]}}",
          "pods 'default/p': hostPort: must be between 1 and 65535, inclusive" },
        { SCHED_POD, "{metadata: {name: p}, spec: {priority: 99999999999}}",
          "pods 'default/p': spec.priority: out of range" },
        { SCHED_POD,
          "{metadata: {name: p}, spec: {affinity: {podAffinity: {"
          "requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchExpressions: "
          "[{key: a, operator: Gt, values: ['1']}]}}]}}}}",
          "pods 'default/p': spec.affinity.podAffinity: labelSelector: matchExpressions: \"Gt\" is "
          "not a valid label selector operator" },
        { SCHED_POD, "{metadata: {name: p}, spec: {topologySpreadConstraints: [{maxSkew: 0}]}}",
          "pods 'default/p': spec.topologySpreadConstraints[0]: maxSkew: must be greater than "
          "zero" },
        { SCHED_NODE, "{metadata: {name: node, labels: 3}}",
          "nodes 'node': labels: not an object" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *got = kit_read_error(&k, cases[i].kind, cases[i].text);
        if (strcmp(got, cases[i].want) != 0)
            TEST_FAIL("%s: \"%s\", expected \"%s\"", cases[i].text, got, cases[i].want);
    }
    kit_fini(&k);
}

TEST(an_object_takes_only_so_much)
{
    struct kit k;
    kit_init(&k);
    enum { MANY = 300000 };
    struct json *pod = kit_json(&k, "{metadata: {name: p, namespace: d, labels: {}}}");
    struct json *labels = json_path(pod, "metadata", "labels", NULL);
    for (int i = 0; i < MANY; i++)
        json_add_member(labels, str_of(arena_printf(&k.arena, "k%d", i)),
                        json_new_str(&k.arena, STR("v")));
    struct sched_object *o;
    struct err err = { 0 };
    CHECK_ERR(sched_object_read(k.words, SCHED_POD, pod, false, &o, &err), E_INVALID);
    CHECK(strcmp(err.text, "pods 'd/p': larger than 4194304 bytes") == 0);
    kit_fini(&k); /* no label was left */
}

/* ---- nodes ---- */

TEST(a_nodes_fields_are_read)
{
    struct kit k;
    kit_init(&k);
    const struct sched_node *n =
        kit_node(&k,
                 "{metadata: {name: node, labels: {a: b}}, spec: {unschedulable: true, taints: ["
                 "{key: k, value: v, effect: NoSchedule}, {key: e, effect: NoExecute},"
                 "{key: new, effect: Unheard}]},"
                 "status: {capacity: {cpu: 8}, allocatable: {cpu: 3500m, memory: 2Gi,"
                 "ephemeral-storage: 5G, pods: '110', x.io/gpu: 4},"
                 "images: [{names: ['a@sha256:1', 'a:v1'], sizeBytes: 100},"
                 "{names: ['b:v1', 'a:v1'], sizeBytes: 7}]}}")
            ->node;
    CHECK(n->is_unschedulable && n->n_taints == 2);
    CHECK(n->taints[0].effect == SCHED_NO_SCHEDULE && str_is(intern_str(n->taints[0].value), "v"));
    CHECK(n->taints[1].effect == SCHED_NO_EXECUTE && !n->taints[1].value);
    CHECK_INT(n->allocatable.milli_cpu, 3500);
    CHECK_INT(n->allocatable.memory, INT64_C(2) << 30);
    CHECK_INT(n->allocatable.ephemeral, INT64_C(5000000000));
    CHECK_INT(n->allowed_pods, 110);
    CHECK_INT(scalar(&k, &n->allocatable, "x.io/gpu"), 4);
    CHECK_INT(n->n_images, 3);
    for (uint32_t i = 0; i < n->n_images; i++) {
        CHECK(i == 0 || n->images[i - 1].name < n->images[i].name);
        CHECK_INT(n->images[i].size, str_is(intern_str(n->images[i].name), "b:v1") ? 7 : 100);
    }
    kit_fini(&k);
}

TEST(a_node_that_lies_has_nothing)
{
    struct kit k;
    kit_init(&k);
    const struct sched_node *n =
        kit_node_with(&k, "node",
                      "cpu: -4, memory: lots, pods: 99999999999, ephemeral-storage: 99E, "
                      "x.io/gpu: -1, y.io/gpu: [1]",
                      "")
            ->node;
    CHECK(n->allocatable.milli_cpu == 0 && n->allocatable.memory == 0);
    CHECK_INT(n->allocatable.ephemeral, INT64_MAX);
    CHECK_INT(n->allowed_pods, INT32_MAX);
    CHECK_INT(scalar(&k, &n->allocatable, "x.io/gpu"), 0);
    CHECK_INT(scalar(&k, &n->allocatable, "y.io/gpu"), 0);
    n = kit_node(&k, "{metadata: {name: m}, status: {capacity: {cpu: 2}}}")->node;
    CHECK_INT(n->allocatable.milli_cpu, 2000);
    kit_fini(&k);
}

TEST(a_zone_comes_from_old_labels_first)
{
    struct kit k;
    kit_init(&k);
    static const struct {
        const char *labels;
        struct str want;
    } cases[] = {
        { "a: b", { "", 0 } },
        { "topology.kubernetes.io/zone: z", { ":\0:z", 4 } },
        { "topology.kubernetes.io/region: r", { "r:\0:", 4 } },
        { "topology.kubernetes.io/region: r, topology.kubernetes.io/zone: z", { "r:\0:z", 5 } },
        { "failure-domain.beta.kubernetes.io/zone: o, topology.kubernetes.io/zone: z",
          { ":\0:o", 4 } },
        { "failure-domain.beta.kubernetes.io/zone: '', topology.kubernetes.io/zone: z", { "", 0 } },
        { "failure-domain.beta.kubernetes.io/region: o, topology.kubernetes.io/zone: z",
          { "o:\0:z", 5 } },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct sched_node *n = kit_node_with(&k, "node", "", cases[i].labels)->node;
        CHECK(str_eq(intern_str(n->zone), cases[i].want));
        CHECK((n->zone == NULL) == (cases[i].want.n == 0));
    }
    kit_fini(&k);
}

/* ---- selectors ---- */

static const struct selector_case {
    const char *selector, *text;
    bool plain, labelled; /* does it match {} and {app: web, num: '5'} */
} selector_cases[] = {
    { "null", "", false, false },
    { "{}", "", true, true },
    { "{matchLabels: {num: '5', app: web}}", "app=web,num=5", false, true },
    { "{matchLabels: {app: other}}", "app=other", false, false },
    { "{matchExpressions: [{key: app, operator: In, values: [web, a]}]}", "app in (a,web)", false,
      true },
    { "{matchExpressions: [{key: app, operator: NotIn, values: [web]}]}", "app notin (web)", true,
      false },
    { "{matchExpressions: [{key: app, operator: Exists}, {key: x, operator: DoesNotExist}]}",
      "app,!x", false, true },
    { "{matchExpressions: [{key: x, operator: DoesNotExist}]}", "!x", true, true },
};

TEST(label_selectors_match_and_read_as_upstreams)
{
    struct kit k;
    kit_init(&k);
    struct sched_labels none = { 0 }, some;
    CHECK_OK(sched_labels_read(k.words, kit_json(&k, "{app: web, num: '5'}"), &some, NULL));
    for (size_t i = 0; i < ARRAY_LEN(selector_cases); i++) {
        const struct selector_case *c = &selector_cases[i];
        struct sched_selector s;
        CHECK_OK(sched_selector_read(k.words, kit_json(&k, c->selector), &s, NULL));
        CHECK_TEXT(&k, &s, c->text);
        CHECK_INT(sched_selector_matches(&s, &none), c->plain);
        CHECK_INT(sched_selector_matches(&s, &some), c->labelled);
        sched_selector_fini(k.words, &s);
    }
    sched_labels_fini(k.words, &some);
    kit_fini(&k);
}

static const struct term_case {
    const char *terms;
    bool matches; /* node n1 with {disk: ssd, cores: '08'} */
} term_cases[] = {
    { "[]", false },
    { "[{}]", false },
    { "[{matchExpressions: [{key: disk, operator: In, values: [hdd, ssd]}]}]", true },
    { "[{matchExpressions: [{key: disk, operator: In, values: [hdd]}]},"
      "{matchExpressions: [{key: disk, operator: Exists}]}]",
      true },
    { "[{matchExpressions: [{key: cores, operator: Gt, values: ['7']}]}]", true },
    { "[{matchExpressions: [{key: cores, operator: Gt, values: ['8']}]}]", false },
    { "[{matchExpressions: [{key: cores, operator: Lt, values: ['+9']}]}]", true },
    { "[{matchExpressions: [{key: disk, operator: Lt, values: ['9']}]}]", false },
    { "[{matchExpressions: [{key: absent, operator: Lt, values: ['9']}]}]", false },
    { "[{matchExpressions: [{key: cores, operator: Gt, values: [many]}]}]", false },
    { "[{matchExpressions: [{key: disk, operator: Near}]}]", false },
    { "[{matchExpressions: [{key: disk, operator: Near}]},"
      "{matchExpressions: [{key: disk, operator: Exists}]}]",
      true },
    { "[{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]", true },
    { "[{matchFields: [{key: metadata.name, operator: In, values: [n2]}]}]", false },
    { "[{matchFields: [{key: metadata.name, operator: NotIn, values: [n2]}]}]", true },
    { "[{matchFields: [{key: metadata.name, operator: In, values: [n1, n2]}]}]", false },
    { "[{matchFields: [{key: spec.x, operator: In, values: [n1]}]}]", false },
    { "[{matchFields: [{key: metadata.name, operator: In, values: [n1]}],"
      "matchExpressions: [{key: disk, operator: In, values: [hdd]}]}]",
      false },
};

TEST(node_selector_terms_match_as_upstreams)
{
    struct kit k;
    kit_init(&k);
    const struct sched_node *n = kit_node_with(&k, "n1", "", "disk: ssd, cores: '08'")->node;
    for (size_t i = 0; i < ARRAY_LEN(term_cases); i++) {
        struct sched_node_terms t;
        CHECK_OK(sched_node_terms_read(k.words, kit_json(&k, term_cases[i].terms), &t, NULL));
        if (sched_node_terms_match(&t, n) != term_cases[i].matches)
            TEST_FAIL("%s", term_cases[i].terms);
        sched_node_terms_fini(k.words, &t);
    }
    kit_fini(&k);
}

TEST(preferred_terms_without_weight_are_left_out)
{
    struct kit k;
    kit_init(&k);
    const struct sched_pod *p = kit_pod(
        &k, "{metadata: {name: p}, spec: {affinity: {nodeAffinity: {"
            "requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []},"
            "preferredDuringSchedulingIgnoredDuringExecution: ["
            "{weight: 0, preference: {matchExpressions: [{key: a, operator: Exists}]}},"
            "{weight: 9, preference: {matchExpressions: [{key: b, operator: Exists}]}}]}}}}");
    CHECK(p->has_required_node_affinity && p->required_node.n == 0);
    CHECK(p->preferred_node.n == 1 && p->preferred_node.p[0].weight == 9);
    kit_fini(&k);
}

static const struct toleration_case {
    const char *tolerations;
    bool plain, numeric; /* {key: k, value: v, NoSchedule}, {key: num, value: '5', NoExecute} */
} toleration_cases[] = {
    { "[]", false, false },
    { "[{operator: Exists}]", true, true },
    { "[{operator: Exists, effect: NoExecute}]", false, true },
    { "[{key: k, operator: Exists}]", true, false },
    { "[{key: k, value: v}]", true, false },
    { "[{key: k, operator: Equal, value: v, effect: NoSchedule}]", true, false },
    { "[{key: k, value: w}]", false, false },
    { "[{key: k}]", false, false },
    { "[{value: v}]", true, false },
    { "[{key: num, operator: Gt, value: '4'}]", false, true },
    { "[{key: num, operator: Gt, value: '5'}]", false, false },
    { "[{key: num, operator: Lt, value: '6'}]", false, true },
    { "[{key: num, operator: Lt, value: '06'}]", false, false },
    { "[{key: k, operator: Lt, value: '6'}]", false, false },
    { "[{key: k, operator: Unheard}]", false, false },
    { "[{key: k, operator: Exists, effect: Unheard}]", false, false },
};

TEST(tolerations_match_as_upstreams)
{
    struct kit k;
    kit_init(&k);
    const struct sched_node *n =
        kit_node(&k,
                 "{metadata: {name: node}, spec: {taints: [{key: k, value: v, effect: NoSchedule},"
                 "{key: num, value: '5', effect: NoExecute}]}}")
            ->node;
    for (size_t i = 0; i < ARRAY_LEN(toleration_cases); i++) {
        const struct toleration_case *c = &toleration_cases[i];
        const struct sched_pod *p =
            kit_pod(&k, arena_printf(&k.arena, "{metadata: {name: p}, spec: {tolerations: %s}}",
                                     c->tolerations));
        if (sched_tolerates(p->tolerations, p->n_tolerations, &n->taints[0]) != c->plain ||
            sched_tolerates(p->tolerations, p->n_tolerations, &n->taints[1]) != c->numeric)
            TEST_FAIL("%s", c->tolerations);
    }
    kit_fini(&k);
}

TEST(labels_are_found_among_many)
{
    struct kit k;
    kit_init(&k);
    struct json *map = json_new_object(&k.arena);
    for (int i = 0; i < 100; i++)
        json_set_str(&k.arena, map, arena_printf(&k.arena, "k%d", i),
                     str_of(arena_printf(&k.arena, "v%d", i)));
    struct sched_labels l;
    CHECK_OK(sched_labels_read(k.words, map, &l, NULL));
    for (int i = 0; i < 100; i++) {
        const struct intern *key = intern_find(k.words, str_of(arena_printf(&k.arena, "k%d", i)));
        CHECK(str_is(intern_str(sched_label_get(&l, key)), arena_printf(&k.arena, "v%d", i)));
    }
    struct intern *other = intern_get(k.words, STR("other"));
    CHECK(sched_label_get(&l, other) == NULL);
    intern_unref(k.words, other);
    sched_labels_fini(k.words, &l);
    kit_fini(&k);
}

TEST(a_plain_pod_is_small)
{
    struct kit k;
    kit_init(&k);
    struct sched_object *o = kit_read(&k, SCHED_POD, "{metadata: {name: p}}");
    CHECK(sizeof(struct sched_pod) <= 560);
    CHECK(intern_end(k.words) <= 8);
    sched_object_unref(k.words, o);
    kit_fini(&k);
}

TEST_MAIN
