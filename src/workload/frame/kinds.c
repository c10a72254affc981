/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds that controllers follow, and the facts of their objects. */
#include "base/clock.h"
#include "workload/frame/controller.h"

#define DELETION_COST "controller.kubernetes.io/pod-deletion-cost"

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

static uint32_t restarts_of(const struct json *status)
{
    int64_t most = 0;
    json_each (c, json_getc(status, "containerStatuses"))
        most = MAX(most, json_int_or(json_getc(c, "restartCount"), 0));
    return (uint32_t)MIN(most, (int64_t)UINT32_MAX);
}

static void read_pod(const struct json *object, void *facts)
{
    struct workload_pod *p = facts;
    const struct json *meta = json_getc(object, "metadata"), *status = json_getc(object, "status");
    struct str node = json_str(json_path(object, "spec", "nodeName", NULL));
    p->node = node.n ? str_hash(node, 0) | 1 : 0;
    p->created_s = seconds_of(json_getc(meta, "creationTimestamp"));
    p->phase = (uint16_t)phase_of(status);
    p->n_restarts = restarts_of(status);
    json_each (c, json_getc(status, "conditions"))
        if (str_is(json_get_str(c, "type"), "Ready")) {
            p->is_ready = str_is(json_get_str(c, "status"), "True");
            p->ready_since_s = seconds_of(json_getc(c, "lastTransitionTime"));
        }
    (void)parse_i64(json_str(json_path(meta, "annotations", DELETION_COST, NULL)), INT32_MIN,
                    INT32_MAX, &p->deletion_cost);
}

const struct workload_kind workload_pods = { .group_version = "v1",
                                             .plural = "pods",
                                             .kind = "Pod",
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
