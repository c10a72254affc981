/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds that controllers follow, and the facts of their objects. */
#include "base/clock.h"
#include "workload/frame/controller.h"

#define DELETION_COST "controller.kubernetes.io/pod-deletion-cost"
#define JOB_INDEX     "batch.kubernetes.io/job-completion-index"
#define JOB_FAILURES  "batch.kubernetes.io/job-index-failure-count"
#define JOB_TRACKING  "batch.kubernetes.io/job-tracking"

static int64_t seconds_of(const struct json *v)
{
    int64_t us = 0;
    return rfc3339_parse(json_str(v), &us) < 0 ? 0 : us / 1000000;
}

static enum workload_phase phase_of(const struct json *status)
{
    static const char *const names[] = { [WORKLOAD_PENDING] = "Pending",
                                         [WORKLOAD_UNKNOWN] = "Unknown",
                                         [WORKLOAD_RUNNING] = "Running",
                                         [WORKLOAD_SUCCEEDED] = "Succeeded",
                                         [WORKLOAD_FAILED] = "Failed" };
    struct str phase = json_get_str(status, "phase");
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(phase, names[i]))
            return (enum workload_phase)i;
    return WORKLOAD_PENDING;
}

static void read_containers(const struct json *statuses, struct workload_pod *p, bool is_init)
{
    json_each (c, statuses) {
        uint32_t n = (uint32_t)json_int_or(json_getc(c, "restartCount"), 0);
        p->n_restarts_all += n;
        if (is_init)
            continue;
        p->n_restarts = MAX(p->n_restarts, n);
        p->finished_s =
            MAX(p->finished_s, seconds_of(json_path(c, "state", "terminated", "finishedAt", NULL)));
    }
}

static void read_job(const struct json *meta, struct workload_pod *p)
{
    const struct json *notes = json_getc(meta, "annotations");
    int64_t index = -1, failures = 0;
    (void)parse_i64(json_get_str(notes, JOB_INDEX), 0, INT32_MAX, &index);
    (void)parse_i64(json_get_str(notes, JOB_FAILURES), 0, INT32_MAX, &failures);
    p->index = (int32_t)index;
    p->index_failures = (int32_t)failures;
    json_each (finalizer, json_getc(meta, "finalizers"))
        p->is_tracked |= str_is(json_str(finalizer), JOB_TRACKING);
}

uint64_t workload_node_hash(struct str name)
{
    return str_hash(name, 0) | 1;
}

/* A pod of a DaemonSet names its node in its only term. */
static uint64_t wanted_node(const struct json *object)
{
    const struct json *terms =
        json_path(object, "spec", "affinity", "nodeAffinity",
                  "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms", NULL);
    json_each (field, json_getc(json_first(terms), "matchFields"))
        if (str_is(json_get_str(field, "key"), "metadata.name") &&
            str_is(json_get_str(field, "operator"), "In"))
            return workload_node_hash(json_str(json_first(json_getc(field, "values"))));
    return 0;
}

static void read_pod(const struct json *object, void *facts)
{
    struct workload_pod *p = facts;
    const struct json *meta = json_getc(object, "metadata"), *status = json_getc(object, "status");
    struct str node = json_str(json_path(object, "spec", "nodeName", NULL));
    p->node = node.n ? workload_node_hash(node) : 0;
    p->node_wanted = wanted_node(object);
    json_each (ip, json_getc(status, "podIPs"))
        p->ips = str_hash(json_get_str(ip, "ip"), p->ips) | 1;
    p->created_s = seconds_of(json_getc(meta, "creationTimestamp"));
    p->phase = (uint16_t)phase_of(status);
    read_job(meta, p);
    read_containers(json_getc(status, "containerStatuses"), p, false);
    read_containers(json_getc(status, "initContainerStatuses"), p, true);
    json_each (c, json_getc(status, "conditions"))
        if (str_is(json_get_str(c, "type"), "Ready")) {
            p->is_ready = str_is(json_get_str(c, "status"), "True");
            p->ready_since_s = seconds_of(json_getc(c, "lastTransitionTime"));
        }
    if (!p->finished_s && (p->phase == WORKLOAD_SUCCEEDED || p->phase == WORKLOAD_FAILED))
        p->finished_s = p->ready_since_s ? p->ready_since_s : p->created_s;
    (void)parse_i64(json_str(json_path(meta, "annotations", DELETION_COST, NULL)), INT32_MIN,
                    INT32_MAX, &p->deletion_cost);
}

const struct workload_kind workload_pods = { .group_version = "v1",
                                             .plural = "pods",
                                             .kind = "Pod",
                                             .is_listed = true,
                                             .facts_bytes = sizeof(struct workload_pod),
                                             .read = read_pod };
const struct workload_kind workload_replica_sets = { .group_version = "apps/v1",
                                                     .plural = "replicasets",
                                                     .kind = "ReplicaSet",
                                                     .selector = WORKLOAD_LABEL_SELECTOR };
const struct workload_kind workload_replication_controllers = { .group_version = "v1",
                                                                .plural = "replicationcontrollers",
                                                                .kind = "ReplicationController",
                                                                .selector = WORKLOAD_MAP_SELECTOR };
const struct workload_kind workload_deployments = { .group_version = "apps/v1",
                                                    .plural = "deployments",
                                                    .kind = "Deployment",
                                                    .selector = WORKLOAD_LABEL_SELECTOR };
const struct workload_kind workload_jobs = { .group_version = "batch/v1",
                                             .plural = "jobs",
                                             .kind = "Job",
                                             .selector = WORKLOAD_LABEL_SELECTOR };
const struct workload_kind workload_cron_jobs = { .group_version = "batch/v1",
                                                  .plural = "cronjobs",
                                                  .kind = "CronJob" };
const struct workload_kind workload_services = { .group_version = "v1",
                                                 .plural = "services",
                                                 .kind = "Service",
                                                 .selector = WORKLOAD_MAP_SELECTOR };
const struct workload_kind workload_endpoint_slices = { .group_version = "discovery.k8s.io/v1",
                                                        .plural = "endpointslices",
                                                        .kind = "EndpointSlice" };
const struct workload_kind workload_daemon_sets = { .group_version = "apps/v1",
                                                    .plural = "daemonsets",
                                                    .kind = "DaemonSet",
                                                    .selector = WORKLOAD_LABEL_SELECTOR };
static void read_nothing(const struct json *object, void *facts)
{
}

const struct workload_kind workload_controller_revisions = { .group_version = "apps/v1",
                                                             .plural = "controllerrevisions",
                                                             .kind = "ControllerRevision" };

/* A node's heartbeat changes nothing that is held. */
static struct json *node_taints(struct arena *a, const struct json *object)
{
    const struct json *taints = json_path(object, "spec", "taints", NULL);
    return json_first(taints) ? json_copy(a, taints) : NULL;
}

const struct workload_kind workload_nodes = { .group_version = "v1",
                                              .plural = "nodes",
                                              .kind = "Node",
                                              .cluster_scoped = true,
                                              .read = read_nothing,
                                              .detail = node_taints };
