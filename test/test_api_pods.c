/* SPDX-License-Identifier: Apache-2.0 */
/* The API server: Pods and what is special about them, scale, services. */
#include "api_fixture.h"

#define PODS     "/api/v1/namespaces/default/pods"
#define SERVICES "/api/v1/namespaces/default/services"

static struct json *make_pod(struct fixture *f, const char *name, const char *extra)
{
    scoped(free_scoped) char *body = xasprintf(
        "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"app\":\"%s\"}},\"spec\":{\"containers\":[{"
        "\"name\":\"c\",\"image\":\"i:1\"}]%s}}",
        name, name, extra);
    return want(f, 201, "POST", PODS, body);
}

static void bind_pod(struct fixture *f, int status, const char *name, const char *node)
{
    scoped(free_scoped) char *path = xasprintf(PODS "/%s/binding", name);
    scoped(free_scoped) char *body =
        xasprintf("{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":\"%s\"},"
                  "\"target\":{\"kind\":\"Node\",\"name\":\"%s\"}}",
                  name, node);
    const struct json *s = want(f, status, "POST", path, body);
    if (status == 201)
        CHECK_STR(json_get_str(s, "status"), "Success");
}

static struct str message_of(struct fixture *f, int status, const char *method, const char *path,
                             const char *body)
{
    return json_get_str(want(f, status, method, path, body), "message");
}

TEST(a_pod_begins_pending_with_its_quality_of_service)
{
    struct fixture f;
    fixture_init(&f);
    struct json *pod = make_pod(&f, "p", "");
    CHECK_STR(text_at(pod, "status", "phase"), "Pending");
    CHECK_STR(text_at(pod, "status", "qosClass"), "BestEffort");
    CHECK_INT(json_int_or(json_path(pod, "metadata", "generation", NULL), 0), 1);
    fixture_fini(&f);
}

/* So that whoever reads the pod, schedulers above all, needs to know of selectors alone. */
TEST(label_keys_become_a_part_of_selectors)
{
#define MERGED(operator) "{\"key\":\"app\",\"operator\":\"" operator"\",\"values\":[\"p\"]}"
#define TERM             "\"topologyKey\":\"zone\",\"labelSelector\":"
    struct fixture f;
    fixture_init(&f);
    struct json *spec = json_getc(
        make_pod(
            &f, "p",
            ",\"affinity\":{\"podAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"
            "[{" TERM "{},\"matchLabelKeys\":[\"app\",\"none\"]}]},\"podAntiAffinity\":{"
            "\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":1,"
            "\"podAffinityTerm\":{" TERM "{\"matchLabels\":{\"a\":\"b\"}},"
            "\"mismatchLabelKeys\":[\"app\"]}}]}},\"topologySpreadConstraints\":[{\"maxSkew\":1,"
            "\"whenUnsatisfiable\":\"DoNotSchedule\"," TERM "{},\"matchLabelKeys\":[\"app\"]}]"),
        "spec");
    struct buf text = BUF_INIT(1 << 16);
    json_write(&text, json_getc(spec, "affinity"));
    json_write(&text, json_getc(spec, "topologySpreadConstraints"));
    static const char *const parts[] = {
        "\"podAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{"
        "\"labelSelector\":{\"matchExpressions\":[" MERGED("In") "]}",
        "\"labelSelector\":{\"matchLabels\":{\"a\":\"b\"},\"matchExpressions\":[" MERGED(
            "NotIn") "]}",
        "\"DoNotSchedule\",\"labelSelector\":{\"matchExpressions\":[" MERGED("In") "]}",
    };
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (str_find(buf_str(&text), str_of(parts[i])) < 0)
            TEST_FAIL("%s is not in %s", parts[i], buf_cstr(&text));
    buf_fini(&text);
    CHECK_STR(message_of(&f, 422, "POST", PODS,
                         "{\"metadata\":{\"name\":\"q\",\"labels\":{\"app\":\"q\"}},\"spec\":{"
                         "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],"
                         "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"whenUnsatisfiable\":"
                         "\"DoNotSchedule\"," TERM "{\"matchLabels\":{\"app\":\"q\"}},"
                         "\"matchLabelKeys\":[\"app\"]}]}}"),
              "Pod \"q\" is invalid: spec.topologySpreadConstraints[0][0]: Invalid value: \"app\": "
              "exists in both matchLabelKeys and labelSelector");
    fixture_fini(&f);
#undef MERGED
#undef TERM
}

TEST(what_is_allowed_may_be_worth_a_warning)
{
    struct fixture f;
    fixture_init(&f);
    struct answer a = ask(&f, "POST", SERVICES, "application/json", NULL,
                          "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"externalName\":\"a.b\","
                          "\"ports\":[{\"port\":1}]}}");
    CHECK_INT(a.status, 201);
    CHECK_STR(headers_get(&a.headers, "warning"),
              "299 - \"spec.externalName is ignored when spec.type is not \\\"ExternalName\\\"\"");
    answer_fini(&a);
    a = ask(&f, "POST", PODS, "application/json", NULL,
            "{\"metadata\":{\"name\":\"a.b\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":"
            "\"i\"}]}}");
    CHECK(str_find(headers_get(&a.headers, "warning"), STR("a DNS label is recommended")) > 0);
    answer_fini(&a);
    fixture_fini(&f);
}

TEST(a_pod_gets_what_other_objects_say)
{
    struct fixture f;
    fixture_init(&f);
    (void)want(&f, 201, "POST", "/api/v1/namespaces/default/serviceaccounts",
               "{\"metadata\":{\"name\":\"robot\"},\"imagePullSecrets\":[{\"name\":\"s\"}]}");
    (void)want(&f, 201, "POST", "/apis/scheduling.k8s.io/v1/priorityclasses",
               "{\"metadata\":{\"name\":\"high\"},\"value\":1000,\"preemptionPolicy\":"
               "\"Never\"}");
    struct json *spec =
        json_getc(make_pod(&f, "p",
                           ",\"serviceAccountName\":\"robot\",\"priorityClassName\":"
                           "\"high\""),
                  "spec");
    CHECK_STR(json_get_str(spec, "serviceAccount"), "robot");
    CHECK_STR(json_get_str(json_getc(spec, "imagePullSecrets")->first, "name"), "s");
    CHECK_INT(json_int_or(json_getc(spec, "priority"), 0), 1000);
    CHECK_STR(json_get_str(spec, "preemptionPolicy"), "Never");
    CHECK_INT(json_getc(spec, "tolerations")->n, 2);
    struct str volume = json_get_str(json_getc(spec, "volumes")->first, "name");
    CHECK(str_has_prefix(volume, STR("kube-api-access-")) && volume.n == 21);
    const struct json *mount =
        json_getc(json_getc(spec, "containers")->first, "volumeMounts")->first;
    CHECK(str_eq(json_get_str(mount, "name"), volume));
    CHECK_STR(json_get_str(mount, "mountPath"), "/var/run/secrets/kubernetes.io/serviceaccount");

    spec = json_getc(make_pod(&f, "q",
                              ",\"automountServiceAccountToken\":false,\"tolerations\":[{"
                              "\"operator\":\"Exists\"}]"),
                     "spec");
    CHECK_STR(json_get_str(spec, "serviceAccountName"), "default");
    CHECK(!json_getc(spec, "volumes"));
    CHECK_INT(json_getc(spec, "tolerations")->n, 1);
    CHECK_INT(json_int_or(json_getc(spec, "priority"), -1), 0);

    static const struct {
        const char *extra, *message;
    } refused[] = {
        { "\"serviceAccountName\":\"who\"",
          "pods \"r\" is forbidden: error looking up service account default/who: serviceaccount "
          "\"who\" not found" },
        { "\"priorityClassName\":\"low\"",
          "pods \"r\" is forbidden: no PriorityClass with name low was found" },
        { "\"priority\":5",
          "pods \"r\" is forbidden: the integer value of priority (5) must not be provided in pod "
          "spec; priority admission controller computed 0 from the given PriorityClass name" },
    };
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        scoped(free_scoped) char *body =
            xasprintf("{\"metadata\":{\"name\":\"r\"},\"spec\":{\"containers\":[{\"name\":\"c\","
                      "\"image\":\"i\"}],%s}}",
                      refused[i].extra);
        CHECK_STR(message_of(&f, 403, "POST", PODS, body), refused[i].message);
    }
    fixture_fini(&f);
}

TEST(a_runtime_class_shapes_its_pods)
{
    struct fixture f;
    fixture_init(&f);
    (void)want(&f, 201, "POST", "/apis/node.k8s.io/v1/runtimeclasses",
               "{\"metadata\":{\"name\":\"wasm\"},\"handler\":\"wasm\",\"overhead\":{\"podFixed\":{"
               "\"memory\":\"8Mi\"}},\"scheduling\":{\"nodeSelector\":{\"wasm\":\"yes\"},"
               "\"tolerations\":[{\"key\":\"wasm\",\"operator\":\"Exists\"}]}}");
    struct json *spec = json_getc(make_pod(&f, "p", ",\"runtimeClassName\":\"wasm\""), "spec");
    CHECK_STR(text_at(spec, "overhead", "memory"), "8Mi");
    CHECK_STR(text_at(spec, "nodeSelector", "wasm"), "yes");
    CHECK_INT(json_getc(spec, "tolerations")->n, 3);
    static const struct {
        const char *extra, *message;
    } refused[] = {
        { "\"runtimeClassName\":\"none\"",
          "pods \"q\" is forbidden: pod rejected: RuntimeClass \"none\" not found" },
        { "\"overhead\":{\"cpu\":\"1\"}",
          "pods \"q\" is forbidden: pod rejected: Pod Overhead set without corresponding "
          "RuntimeClass defined Overhead" },
        { "\"runtimeClassName\":\"wasm\",\"nodeSelector\":{\"wasm\":\"no\"}",
          "pods \"q\" is forbidden: pod rejected: conflict: "
          "runtimeClass.scheduling.nodeSelector[wasm] = yes; pod.spec.nodeSelector[wasm] = no" },
    };
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        scoped(free_scoped) char *body =
            xasprintf("{\"metadata\":{\"name\":\"q\"},\"spec\":{\"containers\":[{\"name\":\"c\","
                      "\"image\":\"i\"}],%s}}",
                      refused[i].extra);
        CHECK_STR(message_of(&f, 403, "POST", PODS, body), refused[i].message);
    }
    fixture_fini(&f);
}

TEST(limit_ranges_fill_in_and_refuse)
{
    struct fixture f;
    fixture_init(&f);
    (void)want(&f, 201, "POST", "/api/v1/namespaces/default/limitranges",
               "{\"metadata\":{\"name\":\"l\"},\"spec\":{\"limits\":[{\"type\":\"Container\","
               "\"max\":{\"cpu\":\"2\"},\"default\":{\"cpu\":\"1\"},\"defaultRequest\":{\"cpu\":"
               "\"500m\"}},{\"type\":\"Pod\",\"max\":{\"cpu\":\"3\"}},{\"type\":"
               "\"PersistentVolumeClaim\",\"max\":{\"storage\":\"1Gi\"}}]}}");
    struct json *pod = make_pod(&f, "p", "");
    const struct json *r =
        json_getc(json_path(pod, "spec", "containers", NULL)->first, "resources");
    CHECK_STR(json_str(json_path(r, "limits", "cpu", NULL)), "1");
    CHECK_STR(json_str(json_path(r, "requests", "cpu", NULL)), "500m");
    CHECK_STR(text_at(pod, "status", "qosClass"), "Burstable");
    CHECK_STR(
        json_str(json_path(pod, "metadata", "annotations", "kubernetes.io/limit-ranger", NULL)),
        "LimitRanger plugin set: cpu request for container c; cpu limit for container c");
    CHECK_STR(message_of(&f, 403, "POST", PODS,
                         "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"containers\":[{\"name\":"
                         "\"c\",\"image\":\"i\",\"resources\":{\"limits\":{\"cpu\":\"4\"}}}]}}"),
              "pods \"q\" is forbidden: [maximum cpu usage per Container is 2, but limit is 4, "
              "maximum cpu usage per Pod is 3, but limit is 4]");
    CHECK_STR(message_of(&f, 403, "POST", "/api/v1/namespaces/default/persistentvolumeclaims",
                         "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"accessModes\":["
                         "\"ReadWriteOnce\"],\"resources\":{\"requests\":{\"storage\":"
                         "\"2Gi\"}}}}"),
              "persistentvolumeclaims \"c\" is forbidden: maximum storage usage per "
              "PersistentVolumeClaim is 1Gi, but request is 2Gi");
    fixture_fini(&f);
}

TEST(a_pod_is_bound_once)
{
    struct fixture f;
    fixture_init(&f);
    (void)make_pod(&f, "p", "");
    bind_pod(&f, 404, "q", "n1");
    bind_pod(&f, 201, "p", "n1");
    struct json *pod = want(&f, 200, "GET", PODS "/p", NULL);
    CHECK_STR(text_at(pod, "spec", "nodeName"), "n1");
    const struct json *c = json_path(pod, "status", "conditions", NULL);
    CHECK_STR(json_get_str(c->first, "type"), "PodScheduled");
    CHECK_STR(json_get_str(c->first, "status"), "True");
    CHECK_STR(message_of(&f, 409, "POST", PODS "/p/binding",
                         "{\"metadata\":{\"name\":\"p\"},\"target\":{\"name\":\"n2\"}}"),
              "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to "
              "node \"n1\"");
    CHECK_STR(message_of(&f, 400, "POST", PODS "/p/binding",
                         "{\"metadata\":{\"name\":\"q\"},\"target\":{\"name\":\"n2\"}}"),
              "name in URL does not match name in Binding object");
    CHECK_STR(message_of(&f, 500, "POST", PODS "/p/binding",
                         "{\"metadata\":{\"name\":\"p\"},\"target\":{\"kind\":\"Rack\"}}"),
              "[target.kind: Unsupported value: \"Rack\": supported values: \"Node\", "
              "\"<empty>\", target.name: Required value]");
    (void)make_pod(&f, "old", "");
    (void)want(&f, 201, "POST", "/api/v1/namespaces/default/bindings",
               "{\"metadata\":{\"name\":\"old\"},\"target\":{\"name\":\"n1\"}}");
    CHECK_STR(text_at(want(&f, 200, "GET", PODS "/old", NULL), "spec", "nodeName"), "n1");
    fixture_fini(&f);
}

TEST(a_bound_pod_is_nominated_no_more)
{
    struct fixture f;
    fixture_init(&f);
    (void)make_pod(&f, "p", "");
    struct answer a = ask(&f, "PATCH", PODS "/p/status", "application/strategic-merge-patch+json",
                          NULL, "{\"status\":{\"nominatedNodeName\":\"n0\"}}");
    CHECK_INT(a.status, 200);
    answer_fini(&a);
    CHECK_STR(text_at(want(&f, 200, "GET", PODS "/p", NULL), "status", "nominatedNodeName"), "n0");
    bind_pod(&f, 201, "p", "n1");
    const struct json *status = json_getc(want(&f, 200, "GET", PODS "/p", NULL), "status");
    CHECK(json_getc(status, "nominatedNodeName") == NULL);
    fixture_fini(&f);
}

TEST(schedulers_select_their_pods_by_fields)
{
    struct fixture f;
    fixture_init(&f);
    (void)make_pod(&f, "ours", "");
    (void)make_pod(&f, "theirs", ",\"schedulerName\":\"theirs\"");
    (void)make_pod(&f, "bound", "");
    bind_pod(&f, 201, "bound", "n1");
    static const struct {
        const char *selector;
        unsigned n;
    } cases[] = {
        { "spec.nodeName%3D", 2 },
        { "spec.nodeName%3Dn1", 1 },
        { "spec.schedulerName%3Dtheirs", 1 },
        { "spec.nodeName%3D,spec.schedulerName%3Ddefault-scheduler", 1 },
        { "status.phase%21%3DSucceeded,status.phase%21%3DFailed", 3 },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char path[256];
        (void)snprintf(path, sizeof path, PODS "?fieldSelector=%s", cases[i].selector);
        CHECK_INT(json_getc(want(&f, 200, "GET", path, NULL), "items")->n, cases[i].n);
    }
    fixture_fini(&f);
}

TEST(a_bound_pod_is_given_time_to_end)
{
    struct fixture f;
    fixture_init(&f);
    (void)make_pod(&f, "free", "");
    struct json *gone = want(&f, 200, "DELETE", PODS "/free", NULL);
    CHECK_STR(json_get_str(gone, "kind"), "Pod");
    CHECK(json_path(gone, "metadata", "deletionTimestamp", NULL));
    (void)want(&f, 404, "GET", PODS "/free", NULL); /* nobody runs it */

    (void)make_pod(&f, "p", "");
    bind_pod(&f, 201, "p", "n1");
    struct json *pod = want(&f, 200, "DELETE", PODS "/p", NULL);
    const struct json *meta = json_getc(pod, "metadata");
    CHECK_INT(json_int_or(json_getc(meta, "deletionGracePeriodSeconds"), 0), 30);
    CHECK_INT(json_int_or(json_getc(meta, "generation"), 0), 2);
    struct str end = json_get_str(meta, "deletionTimestamp");
    /* a longer time changes nothing */
    pod = want(&f, 200, "DELETE", PODS "/p", "{\"gracePeriodSeconds\":40}");
    CHECK(str_eq(text_at(pod, "metadata", "deletionTimestamp"), end));
    /* a shorter one does */
    pod = want(&f, 200, "DELETE", PODS "/p?gracePeriodSeconds=5", NULL);
    CHECK_INT(json_int_or(json_path(pod, "metadata", "deletionGracePeriodSeconds", NULL), 0), 5);
    CHECK(str_cmp(text_at(pod, "metadata", "deletionTimestamp"), end) < 0);
    /* reports of the agent do not end it */
    (void)want(&f, 200, "PATCH", PODS "/p/status", "{\"status\":{\"phase\":\"Running\"}}");
    (void)want(&f, 200, "GET", PODS "/p", NULL);
    CHECK_STR(message_of(&f, 409, "POST", PODS,
                         "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\","
                         "\"image\":\"i\"}]}}"),
              "object is being deleted: pods \"p\" already exists");
    (void)want(&f, 200, "DELETE", PODS "/p", "{\"gracePeriodSeconds\":0}");
    (void)want(&f, 404, "GET", PODS "/p", NULL);

    (void)make_pod(&f, "done", ",\"nodeName\":\"n1\"");
    (void)want(&f, 200, "PATCH", PODS "/done/status", "{\"status\":{\"phase\":\"Succeeded\"}}");
    (void)want(&f, 200, "DELETE", PODS "/done", NULL);
    (void)want(&f, 404, "GET", PODS "/done", NULL);
    fixture_fini(&f);
}

TEST(an_eviction_asks_the_budget)
{
    struct fixture f;
    fixture_init(&f);
#define BUDGETS  "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
#define EVICTION "{\"metadata\":{\"name\":\"p\"}}"
    (void)want(&f, 404, "POST", PODS "/p/eviction", EVICTION);
    (void)make_pod(&f, "p", ",\"nodeName\":\"n1\"");
    (void)want(&f, 200, "PATCH", PODS "/p/status",
               "{\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":"
               "\"True\"}]}}");
    (void)want(&f, 201, "POST", BUDGETS,
               "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"minAvailable\":1,\"selector\":{"
               "\"matchLabels\":{\"app\":\"p\"}}}}");
    struct json *no = want(&f, 429, "POST", PODS "/p/eviction", EVICTION);
    CHECK_STR(json_get_str(no, "message"),
              "Cannot evict pod as it would violate the pod's disruption budget.");
    CHECK_INT(json_int_or(json_path(no, "details", "retryAfterSeconds", NULL), 0), 10);
    (void)want(&f, 200, "PATCH", BUDGETS "/b/status",
               "{\"status\":{\"observedGeneration\":1,\"desiredHealthy\":1,\"currentHealthy\":1}}");
    no = want(&f, 429, "POST", PODS "/p/eviction", EVICTION);
    CHECK_STR(json_get_str(json_path(no, "details", "causes", NULL)->first, "message"),
              "The disruption budget b needs 1 healthy pods and has 1 currently");
    (void)want(&f, 200, "PATCH", BUDGETS "/b/status",
               "{\"status\":{\"disruptionsAllowed\":1,\"currentHealthy\":2}}");
    (void)want(&f, 201, "POST", PODS "/p/eviction?dryRun=All", EVICTION);
    CHECK(!json_path(want(&f, 200, "GET", PODS "/p", NULL), "metadata", "deletionTimestamp", NULL));
    struct json *yes = want(&f, 201, "POST", PODS "/p/eviction", EVICTION);
    CHECK_STR(json_get_str(yes, "status"), "Success");
    CHECK(json_path(want(&f, 200, "GET", PODS "/p", NULL), "metadata", "deletionTimestamp", NULL));
    struct json *budget = want(&f, 200, "GET", BUDGETS "/b", NULL);
    CHECK_INT(json_int_or(json_path(budget, "status", "disruptionsAllowed", NULL), -1), 0);
    CHECK(json_path(budget, "status", "disruptedPods", "p", NULL));
    (void)want(&f, 400, "POST", PODS "/p/eviction", "{\"metadata\":{\"name\":\"q\"}}");
    fixture_fini(&f);
}

TEST(what_a_node_would_answer_is_refused_with_reason)
{
    struct fixture f;
    fixture_init(&f);
    (void)make_pod(&f, "p", "");
    (void)want(&f, 404, "GET", PODS "/q/log", NULL);
    struct answer a = ask(&f, "GET", PODS "/p/log", NULL, NULL, NULL);
    CHECK_INT(a.status, 200);
    CHECK_INT(a.body.n, 0);
    answer_fini(&a);
    CHECK_STR(message_of(&f, 400, "POST", PODS "/p/exec?command=ls", NULL),
              "pod p does not have a host assigned");
    CHECK_STR(message_of(&f, 400, "GET", PODS "/p/log?container=x", NULL),
              "container x is not valid for pod p");
    bind_pod(&f, 201, "p", "n1");
    CHECK_STR(message_of(&f, 404, "GET", PODS "/p/log", NULL), "nodes \"n1\" not found");
    (void)want(&f, 201, "POST", "/api/v1/nodes",
               "{\"metadata\":{\"name\":\"n1\"},\"status\":{\"addresses\":[{\"type\":"
               "\"InternalIP\",\"address\":\"192.0.2.1\"}]}}");
    CHECK_STR(message_of(&f, 500, "POST", PODS "/p/exec?command=ls", NULL),
              "error dialing backend: dial tcp 192.0.2.1:10250: connect: connection refused");
    CHECK_STR(message_of(&f, 503, "GET", "/api/v1/nodes/n1/proxy/stats/summary/x/y", NULL),
              "error trying to reach service: dial tcp 192.0.2.1:10250: connect: connection "
              "refused");
    (void)want(&f, 404, "GET", "/api/v1/namespaces/default/services/s:http/proxy/", NULL);
    fixture_fini(&f);
}

TEST(parts_of_a_pod_change_alone)
{
    struct fixture f;
    fixture_init(&f);
    (void)make_pod(&f, "p", "");
    struct json *pod =
        want(&f, 200, "PATCH", PODS "/p/ephemeralcontainers",
             "{\"metadata\":{\"labels\":{\"x\":\"y\"}},\"spec\":{\"ephemeralContainers\":[{"
             "\"name\":\"debug\",\"image\":\"busybox\"}],\"priority\":7}}");
    const struct json *list = json_path(pod, "spec", "ephemeralContainers", NULL);
    CHECK_STR(json_get_str(list->first, "imagePullPolicy"), "Always");
    CHECK(!json_path(pod, "metadata", "labels", "x", NULL));
    CHECK_INT(json_int_or(json_path(pod, "metadata", "generation", NULL), 0), 2);
    CHECK_STR(message_of(&f, 422, "PATCH", PODS "/p/resize",
                         "{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i:1\","
                         "\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}"),
              "Pod \"p\" is invalid: spec: Invalid value: \"BestEffort\": Pod QOS Class may not "
              "change as a result of resizing");
    (void)want(&f, 201, "POST", PODS,
               "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":"
               "\"i:1\",\"resources\":{\"requests\":{\"cpu\":\"2\"}}}]}}");
    pod = want(&f, 200, "PATCH", PODS "/q/resize",
               "{\"spec\":{\"nodeName\":\"n\",\"containers\":[{\"name\":\"c\",\"image\":\"other\","
               "\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}");
    const struct json *c = json_path(pod, "spec", "containers", NULL)->first;
    CHECK_STR(json_get_str(c, "image"), "i:1");
    CHECK_STR(json_str(json_path(c, "resources", "requests", "cpu", NULL)), "1");
    CHECK(!json_path(pod, "spec", "nodeName", NULL));
    (void)want(&f, 422, "PATCH", PODS "/p/resize", "{\"spec\":{\"containers\":[]}}");
    fixture_fini(&f);
}

TEST(pods_that_are_hardly_meant_so_are_warned_of)
{
    static const struct {
        const char *spec, *warning;
    } all[] = {
        { "\"hostAliases\":[{\"ip\":\"10.0.0.1\"},{\"ip\":\"10.0.0.1\"}]",
          "spec.hostAliases[1].ip: duplicate ip \\\"10.0.0.1\\\"" },
        { "\"imagePullSecrets\":[{\"name\":\"a\"},{\"name\":\"a\"}]",
          "spec.imagePullSecrets[1].name: duplicate name \\\"a\\\"" },
        { "\"affinity\":{\"podAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{"
          "\"topologyKey\":\"a\"}]}}",
          "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
          "labelSelector: a null labelSelector results in matching no pod" },
    };
    static const struct {
        const char *container, *warning;
    } containers[] = {
        { "\"env\":[{\"name\":\"X\",\"value\":\"1\"},{\"name\":\"X\",\"value\":\"$(X)2\"},{"
          "\"name\":"
          "\"X\",\"value\":\"3\"}]",
          "spec.containers[0].env[2]: hides previous definition of \\\"X\\\", which may be dropped "
          "when using apply" },
        { "\"ports\":[{\"containerPort\":1,\"hostPort\":2},{\"containerPort\":1}]",
          "spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports"
          "[0]" },
        { "\"ports\":[{\"containerPort\":1,\"hostPort\":2},{\"containerPort\":1,\"hostPort\":2,"
          "\"hostIP\":\"10.0.0.1\"}]",
          "spec.containers[0].ports[1]: dangerously ambiguous port definition with "
          "spec.containers[0].ports[0]" },
    };
    struct fixture f;
    fixture_init(&f);
    for (size_t i = 0; i < ARRAY_LEN(all) + ARRAY_LEN(containers); i++) {
        bool own = i < ARRAY_LEN(all);
        const char *container = own ? "" : containers[i - ARRAY_LEN(all)].container;
        const char *warning = own ? all[i].warning : containers[i - ARRAY_LEN(all)].warning;
        scoped(free_scoped) char *body =
            xasprintf("{\"metadata\":{\"name\":\"p\"},\"spec\":{%s%s\"containers\":[{\"name\":"
                      "\"c\",\"image\":"
                      "\"i\"%s%s}]}}",
                      own ? all[i].spec : "", own ? "," : "", own ? "" : ",", container);
        struct answer a = ask(&f, "POST", PODS "?dryRun=All", "application/json", NULL, body);
        scoped(free_scoped) char *line = xasprintf("299 - \"%s\"", warning);
        if (a.status != 201)
            TEST_FAIL("%s: %s", body, buf_cstr(&a.body));
        CHECK_STR(headers_get(&a.headers, "warning"), line);
        answer_fini(&a);
    }
    fixture_fini(&f);
}

TEST(a_wide_table_of_nodes_tells_their_kernel_and_machine)
{
    struct fixture f;
    fixture_init(&f);
    (void)want(&f, 201, "POST", "/api/v1/nodes",
               "{\"metadata\":{\"name\":\"n\"},\"status\":{\"nodeInfo\":{\"kernelVersion\":"
               "\"6.1.0\",\"architecture\":\"amd64\"}}}");
    struct answer t = ask(&f, "GET", "/api/v1/nodes/n", NULL,
                          "application/json;as=Table;v=v1;g=meta.k8s.io", NULL);
    const struct json *cell = json_first(json_getc(json_first(json_getc(t.json, "rows")), "cells"));
    for (int i = 0; i < 8; i++)
        cell = cell->next;
    CHECK_STR(json_str(cell), "6.1.0 (amd64)");
    answer_fini(&t);
    fixture_fini(&f);
}

#define QUOTAS "/api/v1/namespaces/default/resourcequotas"

/* status.used of the quota "q", once it is `wanted`. */
static void wait_used(struct fixture *f, const char *name, const char *wanted)
{
    for (;;) { /* a commit may take its time; whoever waits for nothing is ended from outside */
        const struct json *q = want(f, 200, "GET", QUOTAS "/q", NULL);
        if (str_is(json_str(json_path(q, "status", "used", name, NULL)), wanted))
            return;
    }
}

TEST(a_quota_counts_and_limits)
{
    struct fixture f;
    fixture_init(&f);
    (void)make_pod(&f, "before", "");
    (void)want(&f, 201, "POST", QUOTAS,
               "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"hard\":{\"pods\":\"2\",\"services\":"
               "\"1\",\"services.nodeports\":\"1\",\"count/deployments.apps\":\"1\","
               "\"configmaps\":\"9\"}}}");
    wait_used(&f, "pods", "1");
    wait_used(&f, "services", "0");
    (void)make_pod(&f, "second", "");
    wait_used(&f, "pods", "2");
    CHECK_STR(message_of(&f, 403, "POST", PODS,
                         "{\"metadata\":{\"name\":\"third\"},\"spec\":{\"containers\":[{\"name\":"
                         "\"c\",\"image\":\"i\"}]}}"),
              "pods \"third\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, "
              "limited: pods=2");
    /* what goes makes room, and so does what has ended */
    (void)want(&f, 200, "DELETE", PODS "/before", NULL);
    wait_used(&f, "pods", "1");
    (void)want(&f, 200, "PATCH", PODS "/second/status", "{\"status\":{\"phase\":\"Succeeded\"}}");
    wait_used(&f, "pods", "0");
    CHECK_STR(
        message_of(&f, 403, "POST", "/api/v1/namespaces/default/services",
                   "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"type\":\"NodePort\",\"ports\":[{"
                   "\"name\":\"a\",\"port\":1},{\"name\":\"b\",\"port\":2}]}}"),
        "services \"s\" is forbidden: exceeded quota: q, requested: services.nodeports=2, "
        "used: services.nodeports=0, limited: services.nodeports=1");
    (void)make_map(&f, "counted", "x");
    wait_used(&f, "configmaps", "1");
    /* a change of the quota is counted anew, a restart changes nothing */
    (void)want(&f, 200, "PATCH", QUOTAS "/q",
               "{\"spec\":{\"hard\":{\"secrets\":\"3\",\"requests.cpu\":\"1\"}}}");
    wait_used(&f, "secrets", "0");
    close_server(&f);
    open_server(&f);
    CHECK_STR(message_of(&f, 403, "POST", PODS,
                         "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":"
                         "\"c\",\"image\":\"i\"}]}}"),
              "pods \"p\" is forbidden: failed quota: q: must specify requests.cpu for: c");
    (void)want(&f, 201, "POST", PODS,
               "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":"
               "\"i\",\"resources\":{\"requests\":{\"cpu\":\"600m\"}}}]}}");
    wait_used(&f, "requests.cpu", "600m");
    (void)want(&f, 403, "POST", PODS,
               "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":"
               "\"i\",\"resources\":{\"requests\":{\"cpu\":\"600m\"}}}]}}");
    (void)want(&f, 200, "DELETE", QUOTAS "/q", NULL);
    (void)make_pod(&f, "free", "");
    fixture_fini(&f);
}

TEST(updates_are_limited_by_quotas_as_well)
{
    static const char resize[] = "{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\","
                                 "\"resources\":{\"requests\":{\"cpu\":\"%s\"}}}]}}";
    struct fixture f;
    fixture_init(&f);
    (void)want(&f, 201, "POST", SERVICES,
               "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"ports\":[{\"name\":\"a\",\"port\":1},"
               "{\"name\":\"b\",\"port\":2}]}}");
    (void)want(&f, 201, "POST", PODS,
               "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":"
               "\"i\",\"resources\":{\"requests\":{\"cpu\":\"600m\"}}}]}}");
    (void)want(&f, 201, "POST", QUOTAS,
               "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"hard\":{\"services.nodeports\":\"1\","
               "\"requests.cpu\":\"1\"}}}");
    (void)want(&f, 201, "POST", QUOTAS,
               "{\"metadata\":{\"name\":\"short\"},\"spec\":{\"scopes\":[\"Terminating\"],\"hard\":"
               "{\"pods\":\"0\"}}}");
    wait_used(&f, "requests.cpu", "600m");
    settle(&f);
    /* a Service may change its type */
    CHECK_STR(message_of(&f, 403, "PATCH", SERVICES "/s", "{\"spec\":{\"type\":\"NodePort\"}}"),
              "services \"s\" is forbidden: exceeded quota: q, requested: services.nodeports=2, "
              "used: services.nodeports=0, limited: services.nodeports=1");
    (void)want(&f, 200, "PATCH", SERVICES "/s",
               "{\"spec\":{\"type\":\"NodePort\",\"ports\":[{\"port\":1}]}}");
    wait_used(&f, "services.nodeports", "1");
    (void)want(&f, 200, "PATCH", SERVICES "/s", "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
    /* a pod is resized */
    scoped(free_scoped) char *more = xasprintf(resize, "1200m"), *all = xasprintf(resize, "1"),
                             *less = xasprintf(resize, "500m");
    CHECK_STR(message_of(&f, 403, "PATCH", PODS "/p/resize", more),
              "pods \"p\" is forbidden: exceeded quota: q, requested: requests.cpu=600m, used: "
              "requests.cpu=600m, limited: requests.cpu=1");
    (void)want(&f, 200, "PATCH", PODS "/p/resize", all);
    wait_used(&f, "requests.cpu", "1");
    (void)want(&f, 200, "PATCH", PODS "/p/resize", less);
    wait_used(&f, "requests.cpu", "500m");
    /* or comes into the scope of a quota */
    CHECK_STR(message_of(&f, 403, "PATCH", PODS "/p", "{\"spec\":{\"activeDeadlineSeconds\":9}}"),
              "pods \"p\" is forbidden: exceeded quota: short, requested: pods=1, used: pods=0, "
              "limited: pods=0");
    (void)want(&f, 200, "PATCH", PODS "/p", "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
    fixture_fini(&f);
}

TEST(a_pod_that_leaves_the_scope_of_a_quota_is_counted_no_more)
{
    struct fixture f;
    fixture_init(&f);
    (void)want(&f, 201, "POST", QUOTAS,
               "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"scopes\":[\"NotTerminating\"],\"hard\":"
               "{\"pods\":\"2\"}}}");
    wait_used(&f, "pods", "0");
    (void)make_pod(&f, "p", "");
    wait_used(&f, "pods", "1");
    (void)want(&f, 200, "PATCH", PODS "/p", "{\"spec\":{\"activeDeadlineSeconds\":9}}");
    wait_used(&f, "pods", "0");
    fixture_fini(&f);
}

TEST(quotas_of_cpu_and_memory_want_to_know_of_every_container)
{
    struct fixture f;
    fixture_init(&f);
    (void)want(
        &f, 201, "POST", QUOTAS,
        "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"hard\":{\"cpu\":\"2\",\"limits.memory\":"
        "\"1Gi\",\"requests.example.com/gpu\":\"1\",\"requests.ephemeral-storage\":\"1Gi\"}}}");
    wait_used(&f, "cpu", "0");
    CHECK_STR(message_of(&f, 403, "POST", PODS,
                         "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\","
                         "\"image\":\"i\"}],\"initContainers\":[{\"name\":\"b\",\"image\":\"i\","
                         "\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}"),
              "pods \"p\" is forbidden: failed quota: q: must specify cpu for: c; limits.memory "
              "for: b,c");
    (void)want(
        &f, 201, "POST", PODS,
        "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"resources\":{\"requests\":{\"cpu\":\"1\"}},"
        "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}");
    wait_used(&f, "cpu", "1");
    fixture_fini(&f);
}

/* A pass over the containers for each that is named would take a minute. */
TEST(a_quota_of_cpu_refuses_a_pod_of_many_containers_at_once)
{
    enum { N_CONTAINERS = 10000 };
    struct fixture f;
    fixture_init(&f);
    (void)want(
        &f, 201, "POST", QUOTAS,
        "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"hard\":{\"cpu\":\"1\",\"memory\":\"1Gi\","
        "\"limits.cpu\":\"1\",\"limits.memory\":\"1Gi\",\"requests.cpu\":\"1\","
        "\"requests.memory\":\"1Gi\"}}}");
    wait_used(&f, "cpu", "0");
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(API_BODY_MAX_BYTES);
    (void)buf_add_cstr(&body, "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[");
    for (int i = 0; i < N_CONTAINERS; i++)
        (void)buf_printf(&body, "%s{\"name\":\"c%d\",\"image\":\"i\"}", i ? "," : "", i);
    (void)buf_add_cstr(&body, "]}}");
    CHECK(buf_ok(&body));
    struct str message = message_of(&f, 403, "POST", PODS, buf_cstr(&body));
    CHECK(str_has_prefix(message, STR("pods \"p\" is forbidden: failed quota: q: must specify cpu "
                                      "for: c0,c1,c10,c100,c1000,c1001,")));
    fixture_fini(&f);
}

static struct json *make_service(struct fixture *f, const char *name, const char *spec)
{
    scoped(free_scoped) char *body =
        xasprintf("{\"metadata\":{\"name\":\"%s\"},\"spec\":{%s}}", name, spec);
    return json_getc(want(f, 201, "POST", SERVICES, body), "spec");
}

TEST(a_service_gets_addresses_of_its_own)
{
    struct fixture f;
    fixture_init(&f);
    struct json *spec =
        make_service(&f, "a", "\"selector\":{\"x\":\"y\"},\"ports\":[{\"port\":80}]");
    struct str ip = json_get_str(spec, "clusterIP");
    CHECK(str_has_prefix(ip, STR("10.")));
    CHECK(str_eq(json_str(json_getc(spec, "clusterIPs")->first), ip));
    CHECK_STR(json_get_str(spec, "ipFamilyPolicy"), "SingleStack");
    CHECK_STR(json_str(json_getc(spec, "ipFamilies")->first), "IPv4");

    spec = make_service(&f, "b",
                        "\"clusterIP\":\"10.96.0.10\",\"type\":\"NodePort\",\"ports\":[{"
                        "\"name\":\"m\",\"port\":80,\"nodePort\":30080},{\"name\":\"n\","
                        "\"port\":81}]");
    CHECK_STR(json_get_str(spec, "clusterIP"), "10.96.0.10");
    int64_t port = json_int_or(json_getc(json_last(json_getc(spec, "ports")), "nodePort"), 0);
    CHECK(port >= 30000 && port <= 32767);
    CHECK_STR(
        message_of(&f, 422, "POST", SERVICES,
                   "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"clusterIP\":\"10.96.0.10\","
                   "\"ports\":[{\"port\":80}]}}"),
        "Service \"c\" is invalid: spec.clusterIPs: Invalid value: [\"10.96.0.10\"]: failed to "
        "allocate IP 10.96.0.10: provided IP is already allocated");
    CHECK_STR(
        message_of(&f, 422, "POST", SERVICES,
                   "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"type\":\"NodePort\",\"ports\":[{"
                   "\"port\":80,\"nodePort\":30080}]}}"),
        "Service \"c\" is invalid: spec.ports[0].nodePort: Invalid value: 30080: provided port "
        "is already allocated");
    CHECK_STR(
        message_of(&f, 422, "POST", SERVICES,
                   "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"type\":\"NodePort\",\"ports\":[{"
                   "\"port\":80,\"nodePort\":80}]}}"),
        "Service \"c\" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port is "
        "not in the valid range. The range of valid ports is 30000-32767");

    /* an update that says nothing of them keeps them */
    struct json *kept = json_getc(want(&f, 200, "PUT", SERVICES "/b",
                                       "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"type\":"
                                       "\"NodePort\",\"ports\":[{\"port\":80}]}}"),
                                  "spec");
    CHECK_STR(json_get_str(kept, "clusterIP"), "10.96.0.10");
    CHECK_INT(json_int_or(json_getc(json_getc(kept, "ports")->first, "nodePort"), 0), 30080);
    /* another type gives them back */
    kept = json_getc(want(&f, 200, "PATCH", SERVICES "/b", "{\"spec\":{\"type\":\"ClusterIP\"}}"),
                     "spec");
    CHECK(!json_getc(json_getc(kept, "ports")->first, "nodePort"));
    (void)make_service(&f, "c",
                       "\"type\":\"NodePort\",\"ports\":[{\"port\":1,\"nodePort\":30080}]");
    /* and so does a deletion */
    CHECK_STR(json_get_str(want(&f, 200, "DELETE", SERVICES "/b", NULL), "kind"), "Service");
    (void)make_service(&f, "d", "\"clusterIP\":\"10.96.0.10\",\"ports\":[{\"port\":80}]");

    spec = make_service(&f, "e", "\"type\":\"ExternalName\",\"externalName\":\"a.b\"");
    CHECK(!json_getc(spec, "clusterIP"));
    spec = make_service(&f, "h", "\"clusterIP\":\"None\",\"ports\":[{\"port\":80}]");
    CHECK_STR(json_str(json_getc(spec, "clusterIPs")->first), "None");
    CHECK_STR(json_get_str(spec, "ipFamilyPolicy"), "RequireDualStack");
    CHECK_INT(json_getc(spec, "ipFamilies")->n, 2);
    spec = make_service(&f, "l",
                        "\"type\":\"LoadBalancer\",\"externalTrafficPolicy\":\"Local\","
                        "\"ports\":[{\"port\":80}]");
    CHECK(json_int_or(json_getc(spec, "healthCheckNodePort"), 0) >= 30000);
    fixture_fini(&f);
}

TEST(workloads_can_be_scaled)
{
    struct fixture f;
    fixture_init(&f);
#define DEPLOYMENTS "/apis/apps/v1/namespaces/default/deployments"
    (void)want(&f, 201, "POST", DEPLOYMENTS,
               "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"selector\":{\"matchLabels\":{\"b\":"
               "\"2\",\"a\":\"1\"}},\"template\":{\"metadata\":{\"labels\":{\"a\":\"1\",\"b\":"
               "\"2\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}},"
               "\"status\":{\"replicas\":5}}");
    struct json *scale = want(&f, 200, "GET", DEPLOYMENTS "/d/scale", NULL);
    CHECK_STR(json_get_str(scale, "kind"), "Scale");
    CHECK_STR(text_at(scale, "status", "selector"), "a=1,b=2");
    CHECK_INT(json_int_or(json_path(scale, "spec", "replicas", NULL), 0), 1);
    CHECK_INT(json_int_or(json_path(scale, "status", "replicas", NULL), -1), 0);
    scale = want(&f, 200, "PATCH", DEPLOYMENTS "/d/scale", "{\"spec\":{\"replicas\":3}}");
    CHECK_INT(json_int_or(json_path(scale, "spec", "replicas", NULL), 0), 3);
    struct json *d = want(&f, 200, "GET", DEPLOYMENTS "/d", NULL);
    CHECK_INT(json_int_or(json_path(d, "spec", "replicas", NULL), 0), 3);
    CHECK_INT(json_int_or(json_path(d, "metadata", "generation", NULL), 0), 2);
    CHECK(str_find(
              message_of(&f, 422, "PATCH", DEPLOYMENTS "/d/scale", "{\"spec\":{\"replicas\":-1}}"),
              STR("must be greater than or equal to 0")) >= 0);
    fixture_fini(&f);
}

TEST(field_selectors_see_zeros)
{
    struct fixture f;
    fixture_init(&f);
    (void)want(&f, 201, "POST", "/api/v1/nodes", "{\"metadata\":{\"name\":\"a\"}}");
    (void)want(&f, 201, "POST", "/api/v1/nodes",
               "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"unschedulable\":true}}");
    struct json *list =
        want(&f, 200, "GET", "/api/v1/nodes?fieldSelector=spec.unschedulable%3Dfalse", NULL);
    CHECK_INT(json_getc(list, "items")->n, 1);
    (void)want(&f, 400, "GET", "/api/v1/nodes?fieldSelector=spec.podCIDR%3Dx", NULL);
    (void)want(&f, 201, "POST", "/apis/batch/v1/namespaces/default/jobs",
               "{\"metadata\":{\"name\":\"j\"},\"spec\":{\"template\":{\"spec\":{"
               "\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}");
    list = want(&f, 200, "GET",
                "/apis/batch/v1/namespaces/default/jobs?fieldSelector=status.successful%3D0", NULL);
    CHECK_INT(json_getc(list, "items")->n, 1);
    fixture_fini(&f);
}

/* 30 resources, 1,500 containers, 60 quotas: each quota sums up each resource of all containers. */
TEST(a_pod_pays_for_what_its_quotas_count)
{
    enum { CONTAINERS = 1500, NAMES = 30, N_QUOTAS = 60 };
    struct fixture f;
    fixture_init(&f);
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(2 << 20);
    for (int k = 0; k < NAMES; k++)
        (void)buf_printf(&b, "%s\"requests.e.io/r%d\":\"1000\"", k ? "," : "", k);
    for (int i = 0; i < N_QUOTAS; i++)
        (void)want(&f, 201, "POST", QUOTAS,
                   arena_printf(&f.arena,
                                "{\"metadata\":{\"name\":\"q%d\"},\"spec\":{\"hard\":{%s}}}", i,
                                buf_cstr(&b)));
    settle(&f);
    buf_reset(&b);
    (void)buf_add_cstr(&b, "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[");
    for (int i = 0; i < CONTAINERS; i++) {
        (void)buf_printf(&b, "%s{\"name\":\"c%d\",\"image\":\"i\"", i ? "," : "", i);
        for (int k = 0; i == 0 && k < NAMES; k++)
            (void)buf_printf(&b, "%s\"e.io/r%d\":\"1\"", k ? "," : ",\"resources\":{\"limits\":{",
                             k);
        (void)buf_add_cstr(&b, i == 0 ? "}}}" : "}");
    }
    (void)buf_add_cstr(&b, "]}}");
    struct json *no = want(&f, 413, "POST", PODS, buf_cstr(&b));
    CHECK(str_find(status_message(no), STR("quotas")) >= 0);
    fixture_fini(&f);
}

/* More than a transaction of the store takes; a request that made one would read all of them. */
TEST(large_quotas_are_counted_as_well)
{
    enum { N_QUOTAS = 60, CLASS_BYTES = 1150000 };
    _Static_assert(N_QUOTAS * CLASS_BYTES > STORE_PENDING_MAX_BYTES, "all of them in one");
    struct fixture f;
    fixture_init(&f);
    scoped(free_scoped) char *class = xalloc(CLASS_BYTES + 1);
    memset(class, 'x', CLASS_BYTES);
    scoped(free_scoped) char *grown =
        xasprintf("{\"spec\":{\"scopeSelector\":{\"matchExpressions\":[{\"scopeName\":"
                  "\"PriorityClass\",\"operator\":\"NotIn\",\"values\":[\"%s\"]}]}}}",
                  class);
    (void)make_pod(&f, "p", "");
    for (int i = 0; i < N_QUOTAS; i++)
        (void)want(&f, 201, "POST", QUOTAS,
                   arena_printf(&f.arena,
                                "{\"metadata\":{\"name\":\"q%.0d\"},\"spec\":{\"hard\":{"
                                "\"pods\":\"9\"}}}",
                                i));
    for (int i = N_QUOTAS - 1; i >= 0; i--)
        (void)want(&f, 200, "PATCH", arena_printf(&f.arena, QUOTAS "/q%.0d", i), grown);
    wait_used(&f, "pods", "1");
    (void)want(&f, 200, "DELETE", PODS "/p?gracePeriodSeconds=0", NULL);
    wait_used(&f, "pods", "0");
    fixture_fini(&f);
}

/* What is limited counts, whatever else a pod names before it. */
TEST(a_pod_of_many_resources_hides_nothing_from_its_quota)
{
    enum { NAMES = 80 };
    struct fixture f;
    fixture_init(&f);
    (void)want(&f, 201, "POST", QUOTAS,
               "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"hard\":{\"requests.cpu\":\"3\",\"pods\":"
               "\"5\"}}}");
    settle(&f);
    for (int fits = 1; fits >= 0; fits--) {
        scoped(buf_fini_scoped) struct buf b = BUF_INIT(64 << 10);
        (void)buf_printf(
            &b,
            "{\"metadata\":{\"name\":\"p%d\"},\"spec\":{\"containers\":[{\"name\":\"c\","
            "\"image\":\"i\",\"resources\":{\"limits\":{",
            fits);
        for (int i = 0; i < NAMES; i++)
            (void)buf_printf(&b, "\"e.io/r%d\":\"1\",", i);
        (void)buf_add_cstr(&b, "\"cpu\":\"2\"}}}]}}");
        const struct json *got = want(&f, fits ? 201 : 403, "POST", PODS, buf_cstr(&b));
        if (!fits)
            CHECK(str_find(status_message(got),
                           STR("requested: requests.cpu=2, used: requests.cpu=2, "
                               "limited: requests.cpu=3")) >= 0);
    }
    settle(&f);
    const struct json *q = want(&f, 200, "GET", QUOTAS "/q", NULL);
    CHECK_STR(json_str(json_path(q, "status", "used", "requests.cpu", NULL)), "2");
    fixture_fini(&f);
}

TEST_MAIN
