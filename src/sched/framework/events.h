/* SPDX-License-Identifier: Apache-2.0 */
/* Events of the cluster for the queue and the plugins. Upstream: fwk.ClusterEvent. */
#pragma once

#include "sched/object/pod.h"

/* The resource of an event; names as upstream's (guests of Wasm plugins use them). */
#define SCHED_RESOURCES(X)                                                                         \
    X(POD, "Pod")                                                                                  \
    X(ASSIGNED_POD, "AssignedPod")                                                                 \
    X(UNSCHEDULED_POD, "UnschedulablePod")                                                         \
    X(NODE, "Node")                                                                                \
    X(PERSISTENT_VOLUME, "PersistentVolume")                                                       \
    X(PERSISTENT_VOLUME_CLAIM, "PersistentVolumeClaim")                                            \
    X(CSI_NODE, "storage.k8s.io/CSINode")                                                          \
    X(CSI_DRIVER, "storage.k8s.io/CSIDriver")                                                      \
    X(VOLUME_ATTACHMENT, "storage.k8s.io/VolumeAttachment")                                        \
    X(CSI_STORAGE_CAPACITY, "storage.k8s.io/CSIStorageCapacity")                                   \
    X(STORAGE_CLASS, "storage.k8s.io/StorageClass")                                                \
    X(NODE_IMAGE_STATE, "nodeimagestates.v1alpha1.dormouse.dev")                                   \
    X(IMAGE_LAYERS, "dormouse.dev/ImageLayers") /* no object: see sched_image_ops */               \
    X(WILDCARD, "*")
enum sched_resource {
#define SCHED_RESOURCE_ENUM(id, name) SCHED_ON_##id,
    SCHED_RESOURCES(SCHED_RESOURCE_ENUM)
#undef SCHED_RESOURCE_ENUM
        SCHED_RESOURCE_COUNT
};

/* Bits, as upstream's fwk.ActionType of v1.36. */
#define SCHED_ACTIONS(X)                                                                           \
    X(ADD, 0, "Add")                                                                               \
    X(DELETE, 1, "Delete")                                                                         \
    X(UPDATE_NODE_ALLOCATABLE, 2, "UpdateNodeAllocatable")                                         \
    X(UPDATE_NODE_LABEL, 3, "UpdateNodeLabel")                                                     \
    X(UPDATE_NODE_TAINT, 4, "UpdateNodeTaint") /* or spec.unschedulable unset */                   \
    X(UPDATE_NODE_CONDITION, 5, "UpdateNodeCondition")                                             \
    X(UPDATE_NODE_ANNOTATION, 6, "UpdateNodeAnnotation")                                           \
    X(UPDATE_NODE_DECLARED_FEATURE, 7, "UpdateNodeDeclaredFeature")                                \
    X(UPDATE_POD_LABEL, 8, "UpdatePodLabel")                                                       \
    X(UPDATE_POD_SCALE_DOWN, 9, "UpdatePodScaleDown")                                              \
    X(UPDATE_POD_TOLERATION, 10, "UpdatePodToleration")                                            \
    X(UPDATE_POD_GATES_ELIMINATED, 11, "UpdatePodSchedulingGatesEliminated")                       \
    X(UPDATE_POD_GENERATED_RESOURCE_CLAIM, 12, "UpdatePodGeneratedResourceClaim")                  \
    X(UPDATE, 13, "Update") /* ours: any update; some kinds have no finer one */
enum sched_action {
#define SCHED_ACTION_ENUM(id, bit, name) SCHED_##id = 1 << (bit),
    SCHED_ACTIONS(SCHED_ACTION_ENUM)
#undef SCHED_ACTION_ENUM
        SCHED_ALL_ACTIONS = (1 << 14) - 1,
    /* As upstream defines them: without a bit for a general update. */
    SCHED_UPSTREAM_ALL = (1 << 13) - 1,
    SCHED_UPSTREAM_UPDATE = SCHED_UPSTREAM_ALL & ~(SCHED_ADD | SCHED_DELETE),
};

struct sched_event {
    enum sched_resource resource;
    unsigned actions;
    /* The object before and after, typed by resource; NULL: did not exist. Borrowed. */
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

/* Which parts of a node have changed; 0: none that matter. */
unsigned sched_node_changes(const struct sched_object *before, const struct sched_object *after);
/* The same for a pod; never 0: SCHED_UPDATE stands for any other change. */
unsigned sched_pod_changes(const struct sched_object *before, const struct sched_object *after);
/* Converts upstream's mask: there all update bits together mean the general update. */
unsigned sched_actions_of_upstream(unsigned mask);
/* Is one of the event's actions registered? SCHED_UPDATE registers every finer one. */
bool sched_event_matches(const struct sched_event_reg *reg, const struct sched_event *event);

/* As upstream names them; together they are the label of an event: "Node", "UpdateNodeLabel". */
const char *sched_resource_name(enum sched_resource resource);
const char *sched_action_name(unsigned action); /* "": several */
