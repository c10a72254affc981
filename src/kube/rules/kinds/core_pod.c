/* SPDX-License-Identifier: Apache-2.0 */
/* Pods, PodTemplates and Bindings. */
#include "base/clock.h"
#include "kube/model/meta.h"
#include "kube/model/quantity.h"
#include "kube/model/table.h"
#include "kube/rules/kinds/kinds.h"
#include "kube/rules/kinds/pods.h"
#include "kube/rules/kinds/row.h"
#include "kube/rules/validate/validate.h"

/* ------------------------------------------------------------------ quality of service */

enum { QOS_CPU, QOS_MEMORY, QOS_N };
static const char *const qos_names[QOS_N] = { "cpu", "memory" };

struct qos_sum {
    __int128 requests[QOS_N], limits[QOS_N];
    bool limited[QOS_N]; /* every container has a limit */
    bool any;            /* a request or limit is set */
};

static __int128 positive(const struct json *list, const char *name)
{
    struct quantity q = { 0 };
    if (quantity_parse(json_get_str(list, name), &q, NULL) < 0)
        return 0;
    return MAX(q.nano, 0);
}

static void qos_add(struct qos_sum *sum, const struct json *resources)
{
    for (size_t i = 0; i < QOS_N; i++) {
        __int128 request = positive(json_getc(resources, "requests"), qos_names[i]);
        __int128 limit = positive(json_getc(resources, "limits"), qos_names[i]);
        sum->requests[i] += request;
        sum->limits[i] += limit;
        sum->limited[i] = sum->limited[i] && limit > 0;
        sum->any = sum->any || request || limit;
    }
}

const char *kind_pod_qos_class(const struct json *pod)
{
    static const char *const lists[] = { "initContainers", "containers" };
    const struct json *spec = json_getc(pod, "spec"), *whole = json_getc(spec, "resources");
    struct qos_sum sum = { .limited = { true, true } };
    if (whole) {
        qos_add(&sum, whole);
    } else {
        for (size_t i = 0; i < ARRAY_LEN(lists); i++)
            json_each (c, json_getc(spec, lists[i]))
                qos_add(&sum, json_getc(c, "resources"));
    }
    if (!sum.any)
        return "BestEffort";
    for (size_t i = 0; i < QOS_N; i++)
        if (!sum.limited[i] || sum.requests[i] != sum.limits[i])
            return "Burstable";
    return "Guaranteed";
}

/* ------------------------------------------------------------------ writes */

void kind_pod_add_condition(struct arena *a, struct json *pod, const char *type, const char *status,
                            const char *reason, const char *message, int64_t now_s)
{
    struct json *st = json_obj(a, pod, "status"), *list = json_getc(st, "conditions"), *c = NULL;
    if (!json_is(list, JSON_ARRAY)) {
        list = json_new_array(a);
        json_setc(a, st, "conditions", list);
    }
    json_each (old, list)
        if (str_is(json_get_str(old, "type"), type))
            c = old;
    bool changed = !c || !str_is(json_get_str(c, "status"), status);
    if (!c) {
        c = json_new_object(a);
        json_set_str(a, c, "type", str_of(type));
        json_add(list, c);
    }
    json_set_str(a, c, "status", str_of(status));
    if (!json_getc(c, "lastProbeTime"))
        json_setc(a, c, "lastProbeTime", json_new_null(a));
    if (now_s && changed) {
        char now[RFC3339_MAX];
        rfc3339_format(now_s, now);
        json_set_str(a, c, "lastTransitionTime", str_of(now));
    } else if (!json_getc(c, "lastTransitionTime")) {
        json_setc(a, c, "lastTransitionTime", json_new_null(a));
    }
    if (*reason)
        json_set_str(a, c, "reason", str_of(reason));
    else
        (void)json_del(c, STR("reason"));
    if (*message)
        json_set_str(a, c, "message", str_of(message));
    else
        (void)json_del(c, STR("message"));
}

/*
 * For a term with a selector: the pod's own labels with the keys in matchLabelKeys, or
 * mismatchLabelKeys, are added to the selector.
 */
static void merge_label_keys(struct arena *a, struct json *term, const char *keys, const char *op,
                             const struct json *labels)
{
    struct json *selector = json_getc(term, "labelSelector");
    if (!json_is(selector, JSON_OBJECT))
        return;
    json_each (key, json_getc(term, keys)) {
        const struct json *value = json_get(labels, json_str(key));
        if (!value)
            continue;
        struct json *all = json_getc(selector, "matchExpressions");
        if (!json_is(all, JSON_ARRAY))
            json_setc(a, selector, "matchExpressions", all = json_new_array(a));
        struct json *one = json_new_object(a), *values = json_new_array(a);
        json_set_str(a, one, "key", json_str(key));
        json_set_str(a, one, "operator", str_of(op));
        json_add(values, json_clone(a, value));
        json_setc(a, one, "values", values);
        json_add(all, one);
    }
}

static void merge_term(struct arena *a, struct json *term, const struct json *labels)
{
    merge_label_keys(a, term, "matchLabelKeys", "In", labels);
    merge_label_keys(a, term, "mismatchLabelKeys", "NotIn", labels);
}

static void pod_merge_selectors(struct arena *a, struct json *pod)
{
    static const char *const kinds[] = { "podAffinity", "podAntiAffinity" };
    struct json *spec = json_getc(pod, "spec");
    const struct json *labels = json_path(pod, "metadata", "labels", NULL);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const struct json *affinity = json_path(spec, "affinity", kinds[i], NULL);
        json_each (term, json_getc(affinity, "requiredDuringSchedulingIgnoredDuringExecution"))
            merge_term(a, term, labels);
        json_each (term, json_getc(affinity, "preferredDuringSchedulingIgnoredDuringExecution"))
            merge_term(a, json_getc(term, "podAffinityTerm"), labels);
    }
    json_each (constraint, json_getc(spec, "topologySpreadConstraints"))
        merge_label_keys(a, constraint, "matchLabelKeys", "In", labels);
}

static void pod_prepare_create(struct arena *a, struct json *pod)
{
    pod_merge_selectors(a, pod);
    const struct json *gates = json_path(pod, "spec", "schedulingGates", NULL);
    struct json *status = json_new_object(a);
    json_set_str(a, status, "phase", STR("Pending"));
    json_setc(a, pod, "status", status);
    if (json_int_or(json_path(pod, "spec", "terminationGracePeriodSeconds", NULL), 0) < 0)
        json_set_int(a, json_getc(pod, "spec"), "terminationGracePeriodSeconds", 1);
    if (gates && gates->n)
        kind_pod_add_condition(a, pod, "PodScheduled", "False", "SchedulingGated",
                               "Scheduling is blocked due to non-empty scheduling gates", 0);
    json_set_str(a, status, "qosClass", str_of(kind_pod_qos_class(pod)));
}

/* The kubelet may leave out fields that the server sets. */
static void pod_prepare_status(struct arena *a, struct json *pod, const struct json *old)
{
    struct json *meta = meta_of(a, pod), *status = json_obj(a, pod, "status");
    const struct json *owners = json_path(old, "metadata", "ownerReferences", NULL);
    const struct json *qos = json_path(old, "status", "qosClass", NULL);
    const struct json *seen = json_path(old, "status", "observedGeneration", NULL);
    if (owners)
        json_setc(a, meta, "ownerReferences", json_clone(a, owners));
    else
        (void)json_del(meta, STR("ownerReferences"));
    if (qos && !json_getc(status, "qosClass"))
        json_setc(a, status, "qosClass", json_clone(a, qos));
    if (seen && !json_getc(status, "observedGeneration"))
        json_setc(a, status, "observedGeneration", json_clone(a, seen));
}

static void pod_validate_part(enum object_part part, const struct json *pod, const struct json *old,
                              struct field_errors *errs)
{
    if (part == OBJECT_EPHEMERAL_CONTAINERS)
        validate_pod_ephemeral(pod, old, errs);
    if (part == OBJECT_RESIZE)
        validate_pod_resize(pod, old, errs);
}

static void pod_warn(struct arena *a, const struct json *pod, const struct json *old,
                     void (*say)(void *arg, struct str text), void *arg)
{
    struct meta_problems p = meta_check_dns1123_label(meta_name(pod));
    if (old)
        return;
    if (p.n)
        say(arg, str_of(arena_printf(a,
                                     "metadata.name: this is used in the Pod's hostname, which can "
                                     "result in surprising behavior; a DNS label is recommended: "
                                     "[%s]",
                                     p.text[0])));
    pod_warnings(a, pod, say, arg);
}

/* A pod without a node, or that has ended, needs no grace period. */
static int64_t pod_grace_s(const struct json *pod, const int64_t *requested)
{
    const struct json *spec = json_getc(pod, "spec");
    struct str phase = json_str(json_path(pod, "status", "phase", NULL));
    int64_t period =
        requested ? *requested : json_int_or(json_getc(spec, "terminationGracePeriodSeconds"), 0);
    if (json_get_str(spec, "nodeName").n == 0 || str_is(phase, "Failed") ||
        str_is(phase, "Succeeded"))
        return 0;
    return period < 0 ? 1 : period;
}

/* ------------------------------------------------------------------ columns */

static const struct json *state_of(const struct json *container, const char *state)
{
    return json_path(container, "state", state, NULL);
}

static const struct json *find_named(const struct json *list, struct str name)
{
    json_each (c, list)
        if (str_eq(json_get_str(c, "name"), name))
            return c;
    return NULL;
}

static bool is_sidecar(const struct json *init_container)
{
    return str_is(json_get_str(init_container, "restartPolicy"), "Always");
}

struct pod_row {
    struct arena *a;
    const struct json *spec, *status;
    struct str reason;
    int64_t ready, total, restarts;
    struct str last_restart;
};

static void count_restart(const struct json *container, int64_t *restarts, struct str *last)
{
    struct str finished =
        json_str(json_path(container, "lastState", "terminated", "finishedAt", NULL));
    *restarts += row_num(container, "restartCount");
    if (str_cmp(finished, *last) > 0) /* RFC 3339 in UTC sorts by time */
        *last = finished;
}

/* The reason why a container ended: its reason, or signal, or exit code. */
static struct str ended(struct arena *a, const struct json *terminated)
{
    struct str reason = json_get_str(terminated, "reason");
    if (reason.n)
        return reason;
    int64_t signal = row_num(terminated, "signal");
    return str_of(
        signal ? arena_printf(a, "Signal:%lld", (long long)signal)
               : arena_printf(a, "ExitCode:%lld", (long long)row_num(terminated, "exitCode")));
}

static struct str init_reason(struct arena *a, struct str why)
{
    return str_of(arena_printf(a, "Init:" STR_FMT, STR_ARG(why)));
}

/* Init containers in order, up to the first that is not done; false: all are done. */
static bool row_init_containers(struct pod_row *r, int64_t *side_restarts, struct str *side_last)
{
    const struct json *declared = json_getc(r->spec, "initContainers");
    int64_t i = 0;
    json_each (c, json_getc(r->status, "initContainerStatuses")) {
        bool side = is_sidecar(find_named(declared, json_get_str(c, "name")));
        const struct json *terminated = state_of(c, "terminated");
        struct str waiting = json_get_str(state_of(c, "waiting"), "reason");
        count_restart(c, &r->restarts, &r->last_restart);
        if (side)
            count_restart(c, side_restarts, side_last);
        i++;
        if (terminated && row_num(terminated, "exitCode") == 0)
            continue;
        if (side && json_bool(json_getc(c, "started"))) {
            r->ready += json_bool(json_getc(c, "ready"));
            continue;
        }
        if (terminated)
            r->reason = init_reason(r->a, ended(r->a, terminated));
        else if (waiting.n && !str_is(waiting, "PodInitializing"))
            r->reason = init_reason(r->a, waiting);
        else
            r->reason = str_of(
                arena_printf(r->a, "Init:%lld/%u", (long long)i - 1, declared ? declared->n : 0));
        return true;
    }
    return false;
}

/* The first container with a reason to show decides. */
static void row_main_containers(struct pod_row *r)
{
    bool decided = false, running = false;
    json_each (c, json_getc(r->status, "containerStatuses")) {
        const struct json *terminated = state_of(c, "terminated");
        struct str waiting = json_get_str(state_of(c, "waiting"), "reason");
        count_restart(c, &r->restarts, &r->last_restart);
        if (waiting.n || terminated) {
            if (!decided)
                r->reason = waiting.n ? waiting : ended(r->a, terminated);
            decided = true;
        } else if (json_bool(json_getc(c, "ready")) && state_of(c, "running")) {
            running = true;
            r->ready++;
        }
    }
    if (running && str_is(r->reason, "Completed"))
        r->reason = row_condition(json_getc(r->status, "conditions"), "Ready") ? STR("Running")
                                                                               : STR("NotReady");
}

static void pod_summary(struct pod_row *r, const struct json *pod)
{
    struct str phase = json_get_str(r->status, "phase"), why = json_get_str(r->status, "reason");
    const struct json *conditions = json_getc(r->status, "conditions");
    int64_t side_restarts = 0;
    struct str side_last = STR("");
    r->reason = why.n ? why : phase;
    json_each (c, conditions)
        if (str_is(json_get_str(c, "type"), "PodScheduled") &&
            str_is(json_get_str(c, "reason"), "SchedulingGated"))
            r->reason = STR("SchedulingGated");
    r->total = row_count(json_getc(r->spec, "containers"));
    json_each (c, json_getc(r->spec, "initContainers"))
        r->total += is_sidecar(c);
    bool initializing = row_init_containers(r, &side_restarts, &side_last);
    if (!initializing || row_condition(conditions, "Initialized")) {
        r->restarts = side_restarts;
        r->last_restart = side_last;
        row_main_containers(r);
    }
    if (!meta_is_deleting(pod))
        return;
    if (str_is(why, "NodeLost"))
        r->reason = STR("Unknown");
    else if (!str_is(phase, "Succeeded") && !str_is(phase, "Failed"))
        r->reason = STR("Terminating");
}

static void row_restarts(struct kind_row *row, const struct pod_row *r)
{
    struct str since = table_age(r->a, r->last_restart, row->now_s);
    if (r->restarts && r->last_restart.n)
        row_printf(row, "%lld (" STR_FMT " ago)", (long long)r->restarts, STR_ARG(since));
    else
        row_printf(row, "%lld", (long long)r->restarts);
}

static void row_readiness_gates(struct kind_row *row, const struct pod_row *r)
{
    const struct json *gates = json_getc(r->spec, "readinessGates");
    int64_t n_true = 0;
    json_each (g, gates)
        n_true += row_condition(json_getc(r->status, "conditions"),
                                str_dup_arena(r->a, json_get_str(g, "conditionType")));
    if (gates && gates->n)
        row_printf(row, "%lld/%u", (long long)n_true, gates->n);
    else
        row_str(row, STR("<none>"));
}

static void pod_cells(struct arena *a, const struct json *pod, int64_t now_s, struct json *cells)
{
    struct kind_row row = { a, cells, pod, now_s };
    struct pod_row r = { .a = a,
                         .spec = json_getc(pod, "spec"),
                         .status = json_getc(pod, "status"),
                         .last_restart = STR("") };
    const struct json *ips = json_getc(r.status, "podIPs");
    pod_summary(&r, pod);
    row_name(&row);
    row_printf(&row, "%lld/%lld", (long long)r.ready, (long long)r.total);
    row_str(&row, r.reason);
    row_restarts(&row, &r);
    row_age(&row);
    row_or(&row, json_get_str(json_first(ips), "ip"), "<none>");
    row_or(&row, json_get_str(r.spec, "nodeName"), "<none>");
    row_or(&row, json_get_str(r.status, "nominatedNodeName"), "<none>");
    row_readiness_gates(&row, &r);
}

static const struct kube_column pod_columns[] = {
    COLUMN_NAME,
    COLUMN("Ready", "string", "Containers that are ready, of those that the pod has.", 0, NULL),
    COLUMN("Status", "string", "What the pod is doing, or why it does not.", 0, NULL),
    COLUMN("Restarts", "string", "How often containers were restarted, and when last.", 0, NULL),
    COLUMN_AGE,
    COLUMN("IP", "string", "Address of the pod.", 1, NULL),
    COLUMN("Node", "string", "Node that the pod is bound to.", 1, NULL),
    COLUMN("Nominated Node", "string", "Node where room is being made for the pod.", 1, NULL),
    COLUMN("Readiness Gates", "string", "Further conditions of readiness that hold.", 1, NULL),
};

static void template_cells(struct arena *a, const struct json *obj, int64_t now_s,
                           struct json *cells)
{
    struct kind_row r = { a, cells, obj, now_s };
    row_name(&r);
    row_containers(&r, json_path(obj, "template", "spec", NULL));
    row_labels(&r, json_path(obj, "template", "metadata", "labels", NULL));
}

static const struct kube_column template_columns[] = {
    COLUMN_NAME,
    COLUMN("Containers", "string", "Names of the containers.", 0, NULL),
    COLUMN("Images", "string", "Images of the containers.", 0, NULL),
    COLUMN("Pod Labels", "string", "Labels that pods of the template get.", 0, NULL),
};

/* ------------------------------------------------------------------ rows */

#define POD_SUB(sub, how, of)                                                                      \
    {                                                                                              \
        .name = S(sub), .verbs = (how), .version = S("v1"), .kind = S(of)                          \
    }

static const struct kube_subresource pod_subresources[] = {
    POD_SUB("attach", KUBE_CREATE | KUBE_GET, "PodAttachOptions"),
    POD_SUB("binding", KUBE_CREATE, "Binding"),
    POD_SUB("ephemeralcontainers", KUBE_GET | KUBE_PATCH | KUBE_UPDATE, "Pod"),
    { .name = S("eviction"),
      .verbs = KUBE_CREATE,
      .group = S("policy"),
      .version = S("v1"),
      .kind = S("Eviction") },
    POD_SUB("exec", KUBE_CREATE | KUBE_GET, "PodExecOptions"),
    POD_SUB("log", KUBE_GET, "Pod"),
    POD_SUB("portforward", KUBE_CREATE | KUBE_GET, "PodPortForwardOptions"),
    POD_SUB("proxy", KUBE_CREATE | KUBE_DELETE | KUBE_GET | KUBE_PATCH | KUBE_UPDATE,
            "PodProxyOptions"),
    POD_SUB("resize", KUBE_GET | KUBE_PATCH | KUBE_UPDATE, "Pod"),
    POD_SUB("status", KUBE_GET | KUBE_PATCH | KUBE_UPDATE, "Pod"),
};

static const struct kube_strategy pod_strategy = { .prepare_create = pod_prepare_create,
                                                   .validate = validate_pod,
                                                   .validate_part = pod_validate_part,
                                                   .prepare_status = pod_prepare_status,
                                                   .grace_s = pod_grace_s,
                                                   .warn = pod_warn,
                                                   .has_generation = true,
                                                   .returns_deleted = true,
                                                   .unconditional_update = true };
static const struct kube_strategy template_strategy = { .validate = validate_pod_template,
                                                        .has_generation = true,
                                                        .returns_deleted = true,
                                                        .create_on_update = true,
                                                        .unconditional_update = true };
static const struct kube_strategy binding_strategy = { 0 };

static struct kube_resource rows[] = {
    { .version = S("v1"),
      .kind = S("Pod"),
      .list_kind = S("PodList"),
      .plural = S("pods"),
      .singular = S("pod"),
      SHORT(S("po")),
      CATEGORY(S("all")),
      .namespaced = true,
      .verbs = KUBE_VERBS_ALL,
      SUBRESOURCES(pod_subresources),
      .strategy = &pod_strategy,
      COLUMNS(pod_columns),
      .cells = pod_cells,
      SELECT(S("spec.nodeName"), S("spec.restartPolicy"), S("spec.schedulerName"),
             S("spec.serviceAccountName"), S("spec.hostNetwork"), S("status.phase"),
             S("status.podIP"), S("status.nominatedNodeName")) },
    { .version = S("v1"),
      .kind = S("PodTemplate"),
      .list_kind = S("PodTemplateList"),
      .plural = S("podtemplates"),
      .singular = S("podtemplate"),
      .namespaced = true,
      .verbs = KUBE_VERBS_ALL,
      .strategy = &template_strategy,
      COLUMNS(template_columns),
      .cells = template_cells },
    { .version = S("v1"),
      .kind = S("Binding"),
      .list_kind = S("BindingList"),
      .plural = S("bindings"),
      .singular = S("binding"),
      .namespaced = true,
      .verbs = KUBE_CREATE,
      .strategy = &binding_strategy },
};

const struct kind_list kinds_core_pod = { rows, ARRAY_LEN(rows) };
