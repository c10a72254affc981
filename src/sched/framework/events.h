/* SPDX-License-Identifier: Apache-2.0 */
/* What happens in a cluster, as the queue and the plugins see it. Upstream: fwk.ClusterEvent. */
#pragma once

#include "sched/object/pod.h"

/* What something happened to; names as upstream's (guests of Wasm plugins use them). */
#define SCHED_RESOURCES(X)                                                                         \
    X(POD, "Pod")                                                                                  \
    X(ASSIGNED_POD, "AssignedPod")                                                                 \
    X(UNSCHEDULED_POD, "UnscheduledPod")                                                           \
    X(NODE, "Node")                                                                                \
    X(PERSISTENT_VOLUME, "PersistentVolume")                                                       \
    X(PERSISTENT_VOLUME_CLAIM, "PersistentVolumeClaim")                                            \
    X(CSI_NODE, "storage.k8s.io/CSINode")                                                          \
    X(CSI_DRIVER, "storage.k8s.io/CSIDriver")                                                      \
    X(VOLUME_ATTACHMENT, "storage.k8s.io/VolumeAttachment")                                        \
    X(CSI_STORAGE_CAPACITY, "storage.k8s.io/CSIStorageCapacity")                                   \
    X(STORAGE_CLASS, "storage.k8s.io/StorageClass")                                                \
    X(NODE_IMAGE_STATE, "nodeimagestates.v1alpha1.dormouse.dev")                                   \
    X(WILDCARD, "*")
enum sched_resource {
#define SCHED_RESOURCE_ENUM(id, name) SCHED_ON_##id,
    SCHED_RESOURCES(SCHED_RESOURCE_ENUM)
#undef SCHED_RESOURCE_ENUM
        SCHED_RESOURCE_COUNT
};

/* Bits, as upstream's fwk.ActionType of v1.36. */
enum sched_action {
    SCHED_ADD = 1 << 0,
    SCHED_DELETE = 1 << 1,
    SCHED_UPDATE_NODE_ALLOCATABLE = 1 << 2,
    SCHED_UPDATE_NODE_LABEL = 1 << 3,
    SCHED_UPDATE_NODE_TAINT = 1 << 4,
    SCHED_UPDATE_NODE_CONDITION = 1 << 5,
    SCHED_UPDATE_NODE_ANNOTATION = 1 << 6,
    SCHED_UPDATE_POD_LABEL = 1 << 7,
    SCHED_UPDATE_POD_SCALE_DOWN = 1 << 8,
    SCHED_UPDATE_POD_TOLERATION = 1 << 9,
    SCHED_UPDATE_POD_GATES_ELIMINATED = 1 << 10,
    SCHED_UPDATE_POD_GENERATED_RESOURCE_CLAIM = 1 << 11,
    SCHED_UPDATE = 1 << 12, /* of kinds that have no finer ones; of the others: any */
    SCHED_ALL_ACTIONS = (1 << 13) - 1,
};

struct sched_event {
    enum sched_resource resource;
    unsigned actions;
    /* The object before and after, typed by resource; NULL: there was, or is, none. Borrowed. */
    const struct sched_object *before, *after;
};

enum sched_hint { SCHED_HINT_SKIP, SCHED_HINT_QUEUE };

struct sched_plugin;
struct sched_event_reg {
    enum sched_resource resource;
    unsigned actions;
    /* May this event make the pod schedulable? NULL: always. An error counts as yes. */
    enum sched_hint (*hint)(struct sched_plugin *p, const struct sched_pod *pod,
                            const struct sched_event *event);
};

/* What of a node or pod has changed; 0: nothing of interest. */
unsigned sched_node_changes(const struct sched_object *before, const struct sched_object *after);
unsigned sched_pod_changes(const struct sched_object *before, const struct sched_object *after);
bool sched_event_matches(const struct sched_event_reg *reg, const struct sched_event *event);
