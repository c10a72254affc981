/* SPDX-License-Identifier: Apache-2.0 */
/* apps: Deployments and the other workloads, and core's ReplicationControllers. */
#include "kube/model/meta.h"
#include "kube/rules/kinds/kinds.h"
#include "kube/rules/kinds/row.h"
#include "kube/rules/validate/validate.h"

/* A write of a Deployment's status may not change labels. */
static void deployment_prepare_status(struct arena *a, struct json *obj, const struct json *old)
{
    const struct json *labels = json_path(old, "metadata", "labels", NULL);
    if (labels)
        json_setc(a, meta_of(a, obj), "labels", json_clone(a, labels));
    else
        (void)json_del(meta_of(a, obj), STR("labels"));
}

/* Counts the changes of a DaemonSet's template, in an annotation that clients may not change. */
#define TEMPLATE_GENERATION "deprecated.daemonset.template.generation"

static void set_template_generation(struct arena *a, struct json *obj, int64_t n)
{
    json_set_str(a, json_obj(a, meta_of(a, obj), "annotations"), TEMPLATE_GENERATION,
                 str_of(arena_printf(a, "%lld", (long long)n)));
}

/*
 * Upstream's conversion adds it to every object without it, so a client that did not send it owns
 * it.
 */
static void daemon_set_defaults(struct arena *a, struct json *obj)
{
    if (!json_path(obj, "metadata", "annotations", TEMPLATE_GENERATION, NULL))
        set_template_generation(a, obj, 0);
}

static void daemon_prepare_create(struct arena *a, struct json *obj)
{
    set_template_generation(a, obj, 1);
}

static void daemon_prepare_update(struct arena *a, struct json *obj, const struct json *old)
{
    const struct json *now = json_path(obj, "spec", "template", NULL);
    const struct json *was = json_path(old, "spec", "template", NULL);
    int64_t n = 0;
    (void)parse_i64(json_str(json_path(old, "metadata", "annotations", TEMPLATE_GENERATION, NULL)),
                    0, INT64_MAX - 1, &n);
    bool changed = now && was && !json_equal(now, was);
    if (n || changed)
        set_template_generation(a, obj, n + changed);
}

static void stateful_warn(struct arena *a, const struct json *obj, const struct json *old,
                          void (*say)(void *arg, struct str text), void *arg)
{
    (void)a;
    (void)old;
    if (json_int_or(json_path(obj, "spec", "revisionHistoryLimit", NULL), 0) < 0)
        say(arg,
            STR("spec.revisionHistoryLimit: a negative value retains all historical revisions; "
                "a value >= 0 is recommended"));
}

/* ------------------------------------------------------------------ columns */

static const struct json *template_spec(const struct json *obj)
{
    return json_path(obj, "spec", "template", "spec", NULL);
}

static void row_workload(struct kind_row *r, const char *empty_selector)
{
    row_containers(r, template_spec(r->obj));
    row_selector(r, json_path(r->obj, "spec", "selector", NULL), empty_selector);
}

#define COLUMNS_CONTAINERS                                                                         \
    COLUMN("Containers", "string", "Names of the containers of a pod.", 1, NULL),                  \
        COLUMN("Images", "string", "Images of the containers of a pod.", 1, NULL)
#define COLUMN_SELECTOR COLUMN("Selector", "string", "Which pods belong to it.", 1, NULL)

static void deployment_cells(struct arena *a, const struct json *obj, int64_t now_s,
                             struct json *cells)
{
    struct kind_row r = { a, cells, obj, now_s };
    row_name(&r);
    row_printf(&r, "%lld/%lld", (long long)row_num(obj, "status.readyReplicas"),
               (long long)row_num(obj, "spec.replicas"));
    row_int(&r, row_num(obj, "status.updatedReplicas"));
    row_int(&r, row_num(obj, "status.availableReplicas"));
    row_age(&r);
    row_workload(&r, "");
}

static const struct kube_column deployment_columns[] = {
    COLUMN_NAME,
    COLUMN("Ready", "string", "Pods that are ready, of those wanted.", 0, NULL),
    COLUMN("Up-to-date", "string", "Pods of the newest template.", 0, NULL),
    COLUMN("Available", "string", "Pods that have been ready for long enough.", 0, NULL),
    COLUMN_AGE,
    COLUMNS_CONTAINERS,
    COLUMN_SELECTOR,
};

static void replica_cells(struct arena *a, const struct json *obj, int64_t now_s,
                          struct json *cells)
{
    struct kind_row r = { a, cells, obj, now_s };
    row_name(&r);
    row_int(&r, row_num(obj, "spec.replicas"));
    row_int(&r, row_num(obj, "status.replicas"));
    row_int(&r, row_num(obj, "status.readyReplicas"));
    row_age(&r);
    if (str_is(json_get_str(obj, "kind"), "ReplicationController")) {
        row_containers(&r, template_spec(obj));
        row_labels(&r, json_path(obj, "spec", "selector", NULL));
    } else {
        row_workload(&r, "<none>");
    }
}

static const struct kube_column replica_columns[] = {
    COLUMN_NAME,
    COLUMN("Desired", "integer", "Pods that are wanted.", 0, NULL),
    COLUMN("Current", "integer", "Pods that there are.", 0, NULL),
    COLUMN("Ready", "integer", "Pods that are ready.", 0, NULL),
    COLUMN_AGE,
    COLUMNS_CONTAINERS,
    COLUMN_SELECTOR,
};

static void stateful_cells(struct arena *a, const struct json *obj, int64_t now_s,
                           struct json *cells)
{
    struct kind_row r = { a, cells, obj, now_s };
    row_name(&r);
    row_printf(&r, "%lld/%lld", (long long)row_num(obj, "status.readyReplicas"),
               (long long)row_num(obj, "spec.replicas"));
    row_age(&r);
    row_containers(&r, template_spec(obj));
}

static const struct kube_column stateful_columns[] = {
    COLUMN_NAME,
    COLUMN("Ready", "string", "Pods that are ready, of those wanted.", 0, NULL),
    COLUMN_AGE,
    COLUMNS_CONTAINERS,
};

static void daemon_cells(struct arena *a, const struct json *obj, int64_t now_s, struct json *cells)
{
    struct kind_row r = { a, cells, obj, now_s };
    row_name(&r);
    row_int(&r, row_num(obj, "status.desiredNumberScheduled"));
    row_int(&r, row_num(obj, "status.currentNumberScheduled"));
    row_int(&r, row_num(obj, "status.numberReady"));
    row_int(&r, row_num(obj, "status.updatedNumberScheduled"));
    row_int(&r, row_num(obj, "status.numberAvailable"));
    row_labels(&r, json_getc(template_spec(obj), "nodeSelector"));
    row_age(&r);
    row_workload(&r, "<none>");
}

static const struct kube_column daemon_columns[] = {
    COLUMN_NAME,
    COLUMN("Desired", "integer", "Nodes that should run a pod.", 0, NULL),
    COLUMN("Current", "integer", "Nodes that run one.", 0, NULL),
    COLUMN("Ready", "integer", "Nodes whose pod is ready.", 0, NULL),
    COLUMN("Up-to-date", "integer", "Nodes that run the newest template.", 0, NULL),
    COLUMN("Available", "integer", "Nodes whose pod has been ready for long enough.", 0, NULL),
    COLUMN("Node Selector", "string", "Labels of the nodes that are meant.", 0, NULL),
    COLUMN_AGE,
    COLUMNS_CONTAINERS,
    COLUMN_SELECTOR,
};

static void revision_cells(struct arena *a, const struct json *obj, int64_t now_s,
                           struct json *cells)
{
    struct kind_row r = { a, cells, obj, now_s };
    const struct json *owner = NULL;
    json_each (o, json_path(obj, "metadata", "ownerReferences", NULL))
        if (json_bool(json_getc(o, "controller")))
            owner = o;
    row_name(&r);
    if (owner) {
        struct str kind = str_lower_arena(a, json_get_str(owner, "kind")), group, version;
        if (str_cut(json_get_str(owner, "apiVersion"), '/', &group, &version))
            row_printf(&r, STR_FMT "." STR_FMT "/" STR_FMT, STR_ARG(kind), STR_ARG(group),
                       STR_ARG(json_get_str(owner, "name")));
        else
            row_printf(&r, STR_FMT "/" STR_FMT, STR_ARG(kind),
                       STR_ARG(json_get_str(owner, "name")));
    } else {
        row_str(&r, STR("<none>"));
    }
    row_int(&r, row_num(obj, "revision"));
    row_age(&r);
}

static const struct kube_column revision_columns[] = {
    COLUMN_NAME,
    COLUMN("Controller", "string", "Whose state it keeps.", 0, NULL),
    COLUMN("Revision", "string", "Its number.", 0, NULL),
    COLUMN_AGE,
};

/* ------------------------------------------------------------------ rows */

#define SUB_STATUS(of_group, of_kind)                                                              \
    {                                                                                              \
        .name = S("status"), .verbs = KUBE_GET | KUBE_PATCH | KUBE_UPDATE, .group = S(of_group),   \
        .version = S("v1"), .kind = S(of_kind)                                                     \
    }
#define SUB_SCALE                                                                                  \
    {                                                                                              \
        .name = S("scale"), .verbs = KUBE_GET | KUBE_PATCH | KUBE_UPDATE,                          \
        .group = S("autoscaling"), .version = S("v1"), .kind = S("Scale")                          \
    }
#define SCALE_PATHS                                                                                \
    .scale_spec_path = S(".spec.replicas"), .scale_status_path = S(".status.replicas"),            \
    .scale_selector_path = S(".spec.selector")

static const struct kube_subresource deployment_subs[] = { SUB_SCALE,
                                                           SUB_STATUS("apps", "Deployment") };
static const struct kube_subresource replicaset_subs[] = { SUB_SCALE,
                                                           SUB_STATUS("apps", "ReplicaSet") };
static const struct kube_subresource stateful_subs[] = { SUB_SCALE,
                                                         SUB_STATUS("apps", "StatefulSet") };
static const struct kube_subresource daemon_subs[] = { SUB_STATUS("apps", "DaemonSet") };
static const struct kube_subresource replication_subs[] = {
    SUB_SCALE, SUB_STATUS("", "ReplicationController")
};

#define WORKLOAD(fn) .validate = (fn), .has_generation = true, .unconditional_update = true

static const struct kube_strategy replica_set_strategy = { WORKLOAD(validate_replica_set) };
static const struct kube_strategy daemon_set_strategy = { .set_defaults = daemon_set_defaults,
                                                          .prepare_create = daemon_prepare_create,
                                                          .prepare_update = daemon_prepare_update,
                                                          WORKLOAD(validate_daemon_set) };
static const struct kube_strategy stateful_set_strategy = { .warn = stateful_warn,
                                                            .name_rule = KUBE_NAME_LABEL,
                                                            WORKLOAD(validate_stateful_set) };
/* By default its pods are orphaned, as they were before propagation policies existed. */
static const struct kube_strategy controller_strategy = { WORKLOAD(validate_replication_controller),
                                                          .gc_policy = KUBE_GC_ORPHAN };
static const struct kube_strategy deployment_strategy = { .counts_annotations = true,
                                                          .prepare_status =
                                                              deployment_prepare_status,
                                                          WORKLOAD(validate_deployment) };
static const struct kube_strategy revision_strategy = { .validate = validate_controller_revision,
                                                        .unconditional_update = true };

static struct kube_resource rows[] = {
    { .group = S("apps"),
      .version = S("v1"),
      .kind = S("Deployment"),
      .list_kind = S("DeploymentList"),
      .plural = S("deployments"),
      .singular = S("deployment"),
      SHORT(S("deploy")),
      CATEGORY(S("all")),
      .namespaced = true,
      .verbs = KUBE_VERBS_ALL,
      SUBRESOURCES(deployment_subs),
      SCALE_PATHS,
      .strategy = &deployment_strategy,
      COLUMNS(deployment_columns),
      .cells = deployment_cells },
    { .group = S("apps"),
      .version = S("v1"),
      .kind = S("ReplicaSet"),
      .list_kind = S("ReplicaSetList"),
      .plural = S("replicasets"),
      .singular = S("replicaset"),
      SHORT(S("rs")),
      CATEGORY(S("all")),
      .namespaced = true,
      .verbs = KUBE_VERBS_ALL,
      SUBRESOURCES(replicaset_subs),
      SCALE_PATHS,
      .strategy = &replica_set_strategy,
      COLUMNS(replica_columns),
      .cells = replica_cells },
    { .group = S("apps"),
      .version = S("v1"),
      .kind = S("StatefulSet"),
      .list_kind = S("StatefulSetList"),
      .plural = S("statefulsets"),
      .singular = S("statefulset"),
      SHORT(S("sts")),
      CATEGORY(S("all")),
      .namespaced = true,
      .verbs = KUBE_VERBS_ALL,
      SUBRESOURCES(stateful_subs),
      SCALE_PATHS,
      .strategy = &stateful_set_strategy,
      COLUMNS(stateful_columns),
      .cells = stateful_cells },
    { .group = S("apps"),
      .version = S("v1"),
      .kind = S("DaemonSet"),
      .list_kind = S("DaemonSetList"),
      .plural = S("daemonsets"),
      .singular = S("daemonset"),
      SHORT(S("ds")),
      CATEGORY(S("all")),
      .namespaced = true,
      .verbs = KUBE_VERBS_ALL,
      SUBRESOURCES(daemon_subs),
      .strategy = &daemon_set_strategy,
      COLUMNS(daemon_columns),
      .cells = daemon_cells },
    { .group = S("apps"),
      .version = S("v1"),
      .kind = S("ControllerRevision"),
      .list_kind = S("ControllerRevisionList"),
      .plural = S("controllerrevisions"),
      .singular = S("controllerrevision"),
      .namespaced = true,
      .verbs = KUBE_VERBS_ALL,
      .strategy = &revision_strategy,
      COLUMNS(revision_columns),
      .cells = revision_cells },
    { .version = S("v1"),
      .kind = S("ReplicationController"),
      .list_kind = S("ReplicationControllerList"),
      .plural = S("replicationcontrollers"),
      .singular = S("replicationcontroller"),
      SHORT(S("rc")),
      CATEGORY(S("all")),
      .namespaced = true,
      .verbs = KUBE_VERBS_ALL,
      SUBRESOURCES(replication_subs),
      SCALE_PATHS,
      .strategy = &controller_strategy,
      COLUMNS(replica_columns),
      .cells = replica_cells,
      SELECT(S("status.replicas")) },
};

const struct kind_list kinds_apps = { rows, ARRAY_LEN(rows) };
