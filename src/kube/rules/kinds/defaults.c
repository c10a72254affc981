/* SPDX-License-Identifier: Apache-2.0 */
/* Defaults of built-in kinds; see defaults.h. */
#include "kube/rules/kinds/defaults.h"

#include "base/clock.h"
#include "base/map.h"
#include "kube/model/builtin.h"
#include "kube/model/meta.h"
#include "kube/model/quantity.h"

#include <assert.h>

/* ------------------------------------------------------------------ constant defaults */

/*
 * Type, without the prefix "io.k8s.api.", and its defaults. Sorted by type. Arrays of characters
 * instead of pointers, so that they need no relocation.
 */
static const struct {
    char type[60];
    char json[168];
} rows[] = {
    { "apps.v1.DaemonSetSpec", "{\"revisionHistoryLimit\":10}" },
    { "apps.v1.DaemonSetUpdateStrategy", "{\"type\":\"RollingUpdate\"}" },
    { "apps.v1.DeploymentSpec",
      "{\"replicas\":1,\"revisionHistoryLimit\":10,\"progressDeadlineSeconds\":600}" },
    { "apps.v1.DeploymentStrategy", "{\"type\":\"RollingUpdate\"}" },
    { "apps.v1.ReplicaSetSpec", "{\"replicas\":1}" },
    { "apps.v1.RollingUpdateDaemonSet", "{\"maxUnavailable\":1,\"maxSurge\":0}" },
    { "apps.v1.RollingUpdateDeployment", "{\"maxUnavailable\":\"25%\",\"maxSurge\":\"25%\"}" },
    { "apps.v1.RollingUpdateStatefulSetStrategy", "{\"partition\":0}" },
    { "apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy",
      "{\"whenDeleted\":\"Retain\",\"whenScaled\":\"Retain\"}" },
    { "apps.v1.StatefulSetSpec",
      "{\"podManagementPolicy\":\"OrderedReady\",\"persistentVolumeClaimRetentionPolicy\":{},"
      "\"replicas\":1,\"revisionHistoryLimit\":10}" },
    { "autoscaling.v1.HorizontalPodAutoscalerSpec", "{\"minReplicas\":1}" },
    { "autoscaling.v2.HorizontalPodAutoscalerSpec", "{\"minReplicas\":1}" },
    { "batch.v1.CronJobSpec",
      "{\"concurrencyPolicy\":\"Allow\",\"suspend\":false,\"successfulJobsHistoryLimit\":3,"
      "\"failedJobsHistoryLimit\":1}" },
    { "batch.v1.PodFailurePolicyOnPodConditionsPattern", "{\"status\":\"True\"}" },
    { "core.v1.ConfigMapVolumeSource", "{\"defaultMode\":420}" },
    { "core.v1.Container", "{\"terminationMessagePath\":\"/dev/"
                           "termination-log\",\"terminationMessagePolicy\":\"File\"}" },
    { "core.v1.DownwardAPIVolumeSource", "{\"defaultMode\":420}" },
    { "core.v1.EndpointPort", "{\"protocol\":\"TCP\"}" },
    { "core.v1.EphemeralContainer", "{\"terminationMessagePath\":\"/dev/"
                                    "termination-log\",\"terminationMessagePolicy\":\"File\"}" },
    { "core.v1.HTTPGetAction", "{\"path\":\"/\",\"scheme\":\"HTTP\"}" },
    { "core.v1.HostPathVolumeSource", "{\"type\":\"\"}" },
    { "core.v1.NamespaceStatus", "{\"phase\":\"Active\"}" },
    { "core.v1.ObjectFieldSelector", "{\"apiVersion\":\"v1\"}" },
    { "core.v1.PersistentVolumeClaimSpec", "{\"volumeMode\":\"Filesystem\"}" },
    { "core.v1.PersistentVolumeClaimStatus", "{\"phase\":\"Pending\"}" },
    { "core.v1.PersistentVolumeSpec",
      "{\"persistentVolumeReclaimPolicy\":\"Retain\",\"volumeMode\":\"Filesystem\"}" },
    { "core.v1.PersistentVolumeStatus", "{\"phase\":\"Pending\"}" },
    { "core.v1.PodSpec",
      "{\"restartPolicy\":\"Always\",\"terminationGracePeriodSeconds\":30,\"dnsPolicy\":"
      "\"ClusterFirst\",\"securityContext\":{},\"schedulerName\":\"default-scheduler\"}" },
    { "core.v1.Probe",
      "{\"timeoutSeconds\":1,\"periodSeconds\":10,\"successThreshold\":1,\"failureThreshold\":3}" },
    { "core.v1.ProjectedVolumeSource", "{\"defaultMode\":420}" },
    { "core.v1.ReplicationControllerSpec", "{\"replicas\":1}" },
    { "core.v1.SecretVolumeSource", "{\"defaultMode\":420}" },
    { "core.v1.ServiceAccountTokenProjection", "{\"expirationSeconds\":3600}" },
    { "core.v1.ServicePort", "{\"protocol\":\"TCP\"}" },
    { "core.v1.ServiceSpec", "{\"sessionAffinity\":\"None\",\"type\":\"ClusterIP\"}" },
};

/* ------------------------------------------------------------------ setting members */

static size_t field_index(const struct schema *s, struct str name)
{
    size_t n, i = 0;
    const struct schema_field *f = schema_fields(s, &n);
    while (i < n && !str_eq(f[i].name, name))
        i++;
    return i;
}

static void put(const struct schema *s, struct json *obj, struct json *member)
{
    size_t place = field_index(s, member->key);
    struct json *at = obj->first;
    while (at && field_index(s, at->key) < place)
        at = at->next;
    json_insert_before(obj, at, member);
}

void defaults_put(struct arena *a, const struct schema *s, struct json *obj, const char *name,
                  struct json *v)
{
    (void)json_del(obj, str_of(name));
    v->key = str_copy_arena(a, str_of(name));
    put(s, obj, v);
}

static void put_str(struct arena *a, const struct schema *s, struct json *obj, const char *name,
                    const char *v)
{
    defaults_put(a, s, obj, name, json_new_cstr(a, v));
}

static void put_int(struct arena *a, const struct schema *s, struct json *obj, const char *name,
                    int64_t v)
{
    defaults_put(a, s, obj, name, json_new_int(a, v));
}

/* Parses a constant of this file. Fails when the arena is full, which a large object can cause. */
static struct json *parse_constant(struct arena *a, const char *json)
{
    struct json *v;
    size_t limit = a->max_bytes;
    a->max_bytes = 0;
    int r = json_parse(a, str_of(json), NULL, &v, NULL);
    assert(r == 0);
    a->max_bytes = limit;
    return v;
}

static void put_text(struct arena *a, const struct schema *s, struct json *obj, const char *name,
                     const char *json)
{
    defaults_put(a, s, obj, name, parse_constant(a, json));
}

/* The member as an object, created when it is absent. */
static struct json *sub_object(struct arena *a, const struct schema *s, struct json *obj,
                               const char *name)
{
    if (!json_getc(obj, name))
        defaults_put(a, s, obj, name, json_new_object(a));
    return json_getc(obj, name);
}

/* Copies members of `from` that `to` does not have. */
static void fill_from(struct arena *a, struct json *to, const struct json *from)
{
    struct map have = { 0 };
    json_each (m, to)
        (void)map_put(&have, m->key, m);
    json_each (m, from)
        if (!map_has(&have, m->key))
            json_add_member(to, m->key, json_clone(a, m));
    map_fini(&have);
}

/* ------------------------------------------------------------------ pods */

/*
 * Tag of an image name as upstream's parser sees it: "latest" if there is neither tag nor digest,
 * "" if there is only a digest or the name does not parse.
 */
static struct str image_tag(struct str image)
{
    struct str name, digest, domain, behind, tag = STR("");
    bool by_digest = str_cut(image, '@', &name, &digest);
    bool has_domain = str_cut(name, '/', &domain, &behind) &&
                      (str_find_char(domain, '.') >= 0 || str_find_char(domain, ':') >= 0 ||
                       str_is(domain, "localhost"));
    struct str rest = has_domain ? behind : name;
    ptrdiff_t slash = -1;
    for (size_t i = 0; i < rest.n; i++)
        if (rest.p[i] == '/')
            slash = (ptrdiff_t)i;
    struct str last = str_slice(rest, (size_t)(slash + 1), rest.n);
    bool tagged = str_cut(last, ':', &last, &tag);
    size_t n_path = tagged ? rest.n - tag.n - 1 : rest.n;
    for (size_t i = 0; i < n_path; i++)
        if (rest.p[i] >= 'A' && rest.p[i] <= 'Z')
            return STR(""); /* repository names are in lower case */
    if (last.n == 0)
        return STR("");
    return tagged || by_digest ? tag : STR("latest");
}

static const char *pull_policy(struct str image)
{
    return str_is(image_tag(image), "latest") ? "Always" : "IfNotPresent";
}

static void default_container(struct arena *a, const struct schema *s, struct json *c)
{
    if (!json_getc(c, "imagePullPolicy"))
        put_str(a, s, c, "imagePullPolicy", pull_policy(json_get_str(c, "image")));
}

static void default_volume(struct arena *a, const struct schema *s, struct json *v)
{
    size_t n_sources = v->n - (json_getc(v, "name") != NULL);
    if (n_sources == 0)
        defaults_put(a, s, v, "emptyDir", json_new_object(a));
    struct json *image = json_getc(v, "image");
    if (image && !json_getc(image, "pullPolicy"))
        json_set_str(a, image, "pullPolicy", str_of(pull_policy(json_get_str(image, "reference"))));
}

/* The account name has an older second field; both get the same value. */
static void default_pod_spec(struct arena *a, const struct schema *s, struct json *spec)
{
    struct str name = json_get_str(spec, "serviceAccountName");
    if (name.n == 0)
        name = json_get_str(spec, "serviceAccount");
    if (name.n) {
        defaults_put(a, s, spec, "serviceAccountName", json_new_str(a, name));
        defaults_put(a, s, spec, "serviceAccount", json_new_str(a, name));
    }
}

static void requests_from_limits(struct arena *a, struct json *containers)
{
    json_each (c, containers) {
        struct json *resources = json_getc(c, "resources");
        const struct json *limits = json_getc(resources, "limits");
        if (limits && limits->n)
            fill_from(a, json_obj(a, resources, "requests"), limits);
    }
}

static void host_ports(struct arena *a, struct json *containers)
{
    json_each (c, containers) {
        json_each (p, json_getc(c, "ports")) {
            const struct json *port = json_getc(p, "containerPort");
            if (port && !json_getc(p, "hostPort"))
                json_setc(a, p, "hostPort", json_clone(a, port));
        }
    }
}

static struct quantity amount(const struct json *list, struct str name)
{
    struct quantity q = { 0 };
    (void)quantity_parse(json_str(json_get(list, name)), &q, NULL);
    return q;
}

/* The sum over all containers; false: no container requests it. */
static bool containers_request(const struct json *spec, struct str name, struct quantity *ret)
{
    struct quantity sum = { 0 }, sidecars = { 0 }, most = { 0 };
    bool asked = false;
    json_each (c, json_getc(spec, "initContainers")) {
        const struct json *requests = json_path(c, "resources", "requests", NULL);
        struct quantity q = amount(requests, name);
        asked = asked || json_get(requests, name);
        if (q.nano)
            sum.format = q.format;
        if (str_is(json_get_str(c, "restartPolicy"), "Always"))
            sidecars.nano += q.nano;
        else
            q.nano += sidecars.nano;
        most.nano = MAX(most.nano, MAX(q.nano, sidecars.nano));
    }
    json_each (c, json_getc(spec, "containers")) {
        const struct json *requests = json_path(c, "resources", "requests", NULL);
        struct quantity q = amount(requests, name);
        asked = asked || json_get(requests, name);
        sum.nano += q.nano;
        if (q.nano)
            sum.format = q.format;
    }
    sum.nano = MAX(sum.nano + sidecars.nano, most.nano);
    *ret = sum;
    return asked;
}

/* Pod-level resources: requests default to the containers' sum, or to the limits. */
static void pod_requests(struct arena *a, const struct json *spec, struct json *resources)
{
    const struct json *limits = json_getc(resources, "limits");
    if (!limits || limits->n == 0)
        return;
    json_each (limit, limits) {
        bool plain = str_is(limit->key, "cpu") || str_is(limit->key, "memory");
        struct json *requests = json_obj(a, resources, "requests");
        struct quantity q;
        if (json_get(requests, limit->key) ||
            !(plain || str_has_prefix(limit->key, STR("hugepages-"))))
            continue;
        if (plain && containers_request(spec, limit->key, &q))
            json_set(a, requests, limit->key, json_new_str(a, quantity_text(a, q)));
        else
            json_set(a, requests, limit->key, json_clone(a, limit));
    }
}

static void default_pod(struct arena *a, const struct schema *s, struct json *pod)
{
    struct json *spec = json_getc(pod, "spec");
    const struct schema *spec_schema = schema_child(s, STR("spec"));
    if (!spec)
        return;
    requests_from_limits(a, json_getc(spec, "containers"));
    requests_from_limits(a, json_getc(spec, "initContainers"));
    if (json_getc(spec, "resources"))
        pod_requests(a, spec, json_getc(spec, "resources"));
    if (!json_getc(spec, "enableServiceLinks"))
        defaults_put(a, spec_schema, spec, "enableServiceLinks", json_new_bool(a, true));
    if (json_bool(json_getc(spec, "hostNetwork"))) {
        host_ports(a, json_getc(spec, "containers"));
        host_ports(a, json_getc(spec, "initContainers"));
    }
}

/* ------------------------------------------------------------------ the rest of core */

/*
 * For a field that later became a list: keeps both, the older field being the first element of the
 * list. member: of the list's elements, NULL when the elements are the values.
 */
static void keep_in_step(struct arena *a, const struct schema *s, struct json *obj, const char *one,
                         const char *list, const char *member)
{
    struct str value = json_get_str(obj, one);
    const struct json *head = json_first(json_getc(obj, list));
    struct str first = member ? json_get_str(head, member) : json_str(head);
    if (value.n == 0 && first.n) {
        defaults_put(a, s, obj, one, json_new_str(a, first));
    } else if (value.n && !str_eq(value, first)) {
        struct json *all = json_new_array(a), *v = json_new_str(a, value);
        if (member) {
            v = json_new_object(a);
            json_set_str(a, v, member, value);
        }
        json_add(all, v);
        defaults_put(a, s, obj, list, all);
    }
}

static void default_pod_status(struct arena *a, const struct schema *s, struct json *status)
{
    keep_in_step(a, s, status, "podIP", "podIPs", "ip");
}

static void default_node_spec(struct arena *a, const struct schema *s, struct json *spec)
{
    keep_in_step(a, s, spec, "podCIDR", "podCIDRs", NULL);
}

static void default_service_port(struct arena *a, const struct schema *s, struct json *port)
{
    const struct json *target = json_getc(port, "targetPort");
    bool unset =
        !target || (target->type == JSON_STRING ? target->s.n == 0 : json_int_or(target, 0) == 0);
    if (unset)
        put_int(a, s, port, "targetPort", json_int_or(json_getc(port, "port"), 0));
}

static void default_affinity(struct arena *a, const struct schema *s, struct json *spec)
{
    const struct json *timeout =
        json_path(spec, "sessionAffinityConfig", "clientIP", "timeoutSeconds", NULL);
    struct str affinity = json_get_str(spec, "sessionAffinity");
    if (str_is(affinity, "None"))
        (void)json_del(spec, STR("sessionAffinityConfig"));
    else if (str_is(affinity, "ClientIP") && !timeout)
        put_text(a, s, spec, "sessionAffinityConfig", "{\"clientIP\":{\"timeoutSeconds\":10800}}");
}

static void default_service_spec(struct arena *a, const struct schema *s, struct json *spec)
{
    struct str type = json_get_str(spec, "type");
    const struct json *external = json_getc(spec, "externalIPs");
    bool balanced = str_is(type, "LoadBalancer"), node_port = str_is(type, "NodePort");
    bool cluster = str_is(type, "ClusterIP");
    default_affinity(a, s, spec);
    if ((balanced || node_port || (cluster && external && external->n)) &&
        !json_getc(spec, "externalTrafficPolicy"))
        put_str(a, s, spec, "externalTrafficPolicy", "Cluster");
    if ((balanced || node_port || cluster) && !json_getc(spec, "internalTrafficPolicy"))
        put_str(a, s, spec, "internalTrafficPolicy", "Cluster");
    if (balanced && !json_getc(spec, "allocateLoadBalancerNodePorts"))
        defaults_put(a, s, spec, "allocateLoadBalancerNodePorts", json_new_bool(a, true));
}

static void default_service(struct arena *a, const struct schema *s, struct json *svc)
{
    (void)s;
    if (!str_is(json_str(json_path(svc, "spec", "type", NULL)), "LoadBalancer"))
        return;
    json_each (in, json_path(svc, "status", "loadBalancer", "ingress", NULL))
        if (json_getc(in, "ip") && !json_getc(in, "ipMode"))
            json_set_str(a, in, "ipMode", STR("VIP"));
}

static void default_replication_controller(struct arena *a, const struct schema *s, struct json *rc)
{
    struct json *spec = json_getc(rc, "spec"), *meta = json_getc(rc, "metadata");
    const struct json *labels = json_path(spec, "template", "metadata", "labels", NULL);
    if (!labels || labels->n == 0)
        return;
    if (!json_getc(spec, "selector"))
        defaults_put(a, schema_child(s, STR("spec")), spec, "selector", json_clone(a, labels));
    if (meta && !json_getc(meta, "labels"))
        defaults_put(a, schema_child(s, STR("metadata")), meta, "labels", json_clone(a, labels));
}

static void default_node_status(struct arena *a, const struct schema *s, struct json *status)
{
    const struct json *capacity = json_getc(status, "capacity");
    if (capacity && !json_getc(status, "allocatable"))
        defaults_put(a, s, status, "allocatable", json_clone(a, capacity));
}

static void default_limit_range_item(struct arena *a, const struct schema *s, struct json *item)
{
    if (!str_is(json_get_str(item, "type"), "Container"))
        return;
    const struct json *max = json_getc(item, "max"), *min = json_getc(item, "min");
    if (max || json_getc(item, "default"))
        fill_from(a, sub_object(a, s, item, "default"), max);
    if (min || json_getc(item, "default") || json_getc(item, "defaultRequest")) {
        struct json *request = sub_object(a, s, item, "defaultRequest");
        fill_from(a, request, json_getc(item, "default"));
        fill_from(a, request, min);
    }
}

/* ------------------------------------------------------------------ workloads */

static void default_rolling_update(struct arena *a, const struct schema *s, struct json *strategy)
{
    if (str_is(json_get_str(strategy, "type"), "RollingUpdate"))
        (void)sub_object(a, s, strategy, "rollingUpdate");
}

/* Unlike for other kinds, rollingUpdate is set only if the type was absent. */
static void default_stateful_update(struct arena *a, const struct schema *s, struct json *strategy)
{
    if (json_getc(strategy, "type"))
        return;
    put_str(a, s, strategy, "type", "RollingUpdate");
    (void)sub_object(a, s, strategy, "rollingUpdate");
}

/* Upstream's struct has a number in place of the annotation, so the annotation always exists. */
static void default_daemon_set(struct arena *a, const struct schema *s, struct json *obj)
{
    static const char note[] = "deprecated.daemonset.template.generation";
    struct json *meta = json_getc(obj, "metadata");
    (void)s;
    if (meta && !json_path(meta, "annotations", note, NULL))
        json_set_str(a, json_obj(a, meta, "annotations"), note, STR("0"));
}

static void default_claim_templates(struct arena *a, const struct schema *s, struct json *spec)
{
    const struct schema *list = schema_child(s, STR("volumeClaimTemplates"));
    json_each (claim, json_getc(spec, "volumeClaimTemplates")) {
        if (!json_getc(claim, "kind"))
            put_str(a, list->items, claim, "kind", "PersistentVolumeClaim");
        if (!json_getc(claim, "apiVersion"))
            put_str(a, list->items, claim, "apiVersion", "v1");
    }
}

static void default_job_spec(struct arena *a, const struct schema *s, struct json *spec)
{
    bool serial = !json_getc(spec, "completions") && !json_getc(spec, "parallelism");
    if (serial)
        put_int(a, s, spec, "completions", 1);
    if (!json_getc(spec, "parallelism"))
        put_int(a, s, spec, "parallelism", 1);
    if (!json_getc(spec, "backoffLimit"))
        put_int(a, s, spec, "backoffLimit",
                json_getc(spec, "backoffLimitPerIndex") ? INT32_MAX : 6);
    if (!json_getc(spec, "completionMode"))
        put_str(a, s, spec, "completionMode", "NonIndexed");
    if (!json_getc(spec, "suspend"))
        defaults_put(a, s, spec, "suspend", json_new_bool(a, false));
    if (!json_getc(spec, "manualSelector"))
        defaults_put(a, s, spec, "manualSelector", json_new_bool(a, false));
    if (!json_getc(spec, "podReplacementPolicy"))
        put_str(a, s, spec, "podReplacementPolicy",
                json_getc(spec, "podFailurePolicy") ? "Failed" : "TerminatingOrFailed");
}

/* Only for a Job itself: the template in a CronJob is unchanged. */
static void default_job(struct arena *a, const struct schema *s, struct json *job)
{
    struct json *spec = json_getc(job, "spec"), *meta = json_getc(job, "metadata");
    const struct json *labels = json_path(spec, "template", "metadata", "labels", NULL);
    if (labels && labels->n && meta && !json_getc(meta, "labels"))
        defaults_put(a, schema_child(s, STR("metadata")), meta, "labels", json_clone(a, labels));
    if (spec)
        default_job_spec(a, schema_child(s, STR("spec")), spec);
}

/* ------------------------------------------------------------------ autoscaling */

static void scaling_rules(struct arena *a, const struct schema *s, struct json *behavior,
                          const char *direction, const char *defaults)
{
    struct json *rules = sub_object(a, s, behavior, direction), *next;
    const struct schema *rules_schema = schema_child(s, str_of(direction));
    for (struct json *m = parse_constant(a, defaults)->first; m; m = next) {
        next = m->next;
        if (!json_get(rules, m->key))
            defaults_put(a, rules_schema, rules, str_dup_arena(a, m->key), json_clone(a, m));
    }
}

static void default_hpa_spec(struct arena *a, const struct schema *s, struct json *spec)
{
    const struct json *metrics = json_getc(spec, "metrics");
    if (!metrics || metrics->n == 0)
        put_text(a, s, spec, "metrics",
                 "[{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\",\"target\":{\"type\":"
                 "\"Utilization\",\"averageUtilization\":80}}}]");
    struct json *behavior = json_getc(spec, "behavior");
    if (!behavior)
        return;
    const struct schema *bs = schema_child(s, STR("behavior"));
    scaling_rules(a, bs, behavior, "scaleUp",
                  "{\"stabilizationWindowSeconds\":0,\"selectPolicy\":\"Max\",\"policies\":[{"
                  "\"type\":\"Pods\",\"value\":4,\"periodSeconds\":15},{\"type\":\"Percent\","
                  "\"value\":100,\"periodSeconds\":15}]}");
    scaling_rules(a, bs, behavior, "scaleDown",
                  "{\"selectPolicy\":\"Max\",\"policies\":[{\"type\":\"Percent\",\"value\":100,"
                  "\"periodSeconds\":15}]}");
}

/* ------------------------------------------------------------------ the walk */

/* Sorted by type. They run after the type's row has been applied. */
static const struct {
    char type[48];
    void (*apply)(struct arena *a, const struct schema *s, struct json *v);
} hooks[] = {
    { "apps.v1.DaemonSet", default_daemon_set },
    { "apps.v1.DaemonSetUpdateStrategy", default_rolling_update },
    { "apps.v1.DeploymentStrategy", default_rolling_update },
    { "apps.v1.StatefulSetSpec", default_claim_templates },
    { "apps.v1.StatefulSetUpdateStrategy", default_stateful_update },
    { "autoscaling.v2.HorizontalPodAutoscalerSpec", default_hpa_spec },
    { "batch.v1.Job", default_job },
    { "core.v1.Container", default_container },
    { "core.v1.EphemeralContainer", default_container },
    { "core.v1.LimitRangeItem", default_limit_range_item },
    { "core.v1.NodeSpec", default_node_spec },
    { "core.v1.NodeStatus", default_node_status },
    { "core.v1.Pod", default_pod },
    { "core.v1.PodSpec", default_pod_spec },
    { "core.v1.PodStatus", default_pod_status },
    { "core.v1.ReplicationController", default_replication_controller },
    { "core.v1.Service", default_service },
    { "core.v1.ServicePort", default_service_port },
    { "core.v1.ServiceSpec", default_service_spec },
    { "core.v1.Volume", default_volume },
};

static int find(const void *table, size_t n, size_t row_size, struct str type)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        int c = str_cmp(type, str_of((const char *)table + mid * row_size));
        if (c == 0)
            return (int)mid;
        if (c < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return -1;
}

/* Go would write the default: it is not the zero value of a field with omitempty. */
static bool is_written(const struct schema_field *f)
{
    const struct json *v = f->schema->def;
    if (!(f->flags & FIELD_OMIT_EMPTY) || f->flags & FIELD_POINTER)
        return true;
    return !((v->type == JSON_STRING && v->s.n == 0) || v->type == JSON_FALSE ||
             (v->type == JSON_NUMBER && json_int_or(v, 1) == 0));
}

/* Upstream treats Go's zero value as absent; for a pointer only nil. */
static bool is_given(const struct schema *s, const struct json *obj, struct str name)
{
    const struct json *v = json_get(obj, name);
    const struct schema_field *f = schema_field(s, name);
    if (!v || v->type == JSON_NULL)
        return false;
    return v->type != JSON_STRING || v->s.n > 0 || (f && f->flags & FIELD_POINTER);
}

static void apply_type(struct arena *a, const struct schema *s, struct json *obj)
{
    static const struct str prefix = { "io.k8s.api.", 11 };
    struct str type = builtin_type_name(s);
    size_t n;
    const struct schema_field *f = schema_fields(s, &n);
    for (size_t i = 0; i < n; i++)
        if (f[i].schema->def && !is_given(s, obj, f[i].name) && is_written(&f[i]))
            defaults_put(a, s, obj, str_dup_arena(a, f[i].name), json_clone(a, f[i].schema->def));
    if (!str_has_prefix(type, prefix))
        return;
    type = str_slice(type, prefix.n, type.n);
    int row = find(rows, ARRAY_LEN(rows), sizeof rows[0], type);
    if (row >= 0) {
        struct json *next;
        for (struct json *d = parse_constant(a, rows[row].json)->first; d; d = next) {
            next = d->next;
            if (is_given(s, obj, d->key))
                continue;
            (void)json_del(obj, d->key);
            put(s, obj, d);
        }
    }
    int hook = find(hooks, ARRAY_LEN(hooks), sizeof hooks[0], type);
    if (hook >= 0)
        hooks[hook].apply(a, s, obj);
}

/* Amounts in resource lists are rounded up to a thousandth. */
static void round_quantities(struct arena *a, struct json *map)
{
    enum { NANO_PER_MILLI = 1000000 };
    json_each (v, map) {
        struct quantity q;
        if (quantity_parse(json_str(v), &q, NULL) < 0)
            continue;
        __int128 rest = q.nano % NANO_PER_MILLI;
        if (rest == 0)
            continue;
        q.nano += rest > 0 ? NANO_PER_MILLI - rest : -rest;
        v->s = quantity_text(a, q);
    }
}

/* Stops when the arena is full: the caller then refuses the object. */
static void walk(struct arena *a, const struct schema *s, struct json *v)
{
    if (arena_is_full(a))
        return;
    if (s->type == SCHEMA_OBJECT && v->type == JSON_OBJECT) {
        apply_type(a, s, v);
        json_each (m, v) {
            const struct schema_field *f = schema_field(s, m->key);
            if (f && m->type >= JSON_ARRAY && !str_is(m->key, "metadata"))
                walk(a, f->schema, m);
        }
    } else if (s->type == SCHEMA_MAP && s->items->type == SCHEMA_QUANTITY) {
        round_quantities(a, v);
    } else if ((s->type == SCHEMA_ARRAY || s->type == SCHEMA_MAP) && v->type >= JSON_ARRAY) {
        json_each (item, v)
            if (item->type >= JSON_ARRAY)
                walk(a, s->items, item);
    }
}

void defaults_apply(struct arena *a, const struct schema *s, struct json *obj)
{
    walk(a, s, obj);
}
