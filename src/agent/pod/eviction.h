/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which pod a node that runs short ends first, and which pod uses more storage than it may
 * (Kubernetes, "Node-pressure Eviction", "Local ephemeral storage"). Pure, any thread.
 */
#pragma once

#include "agent/pod/spec.h"

#define POD_EVICTED "Evicted" /* status.reason */

enum {
    POD_EVICTION_TEXT_MAX = 1024,
    POD_PRIORITY_CRITICAL = 2000000000 /* of system-cluster-critical */
};

/* ---- the machine runs short ---- */

enum pod_eviction_resource { POD_EVICTION_MEMORY, POD_EVICTION_STORAGE, POD_EVICTION_PROCESSES };

struct pod_eviction_candidate {
    int32_t priority;
    bool is_protected;        /* static, or critical: pod_is_critical() */
    uint64_t used, requested; /* bytes; processes: requested is not used */
};

bool pod_is_critical(const struct pod_spec *p);
/*
 * The index of the one to end: of those that use more than they have requested, or else of all, the
 * one of the lowest priority that exceeds its request by most. Processes: of the lowest priority
 * the one with most. SIZE_MAX: none that may be ended.
 */
size_t pod_eviction_choose(enum pod_eviction_resource resource,
                           const struct pod_eviction_candidate *list, size_t n);

/* ---- a pod uses more storage than it may ---- */

struct pod_storage {   /* in bytes */
    struct str name;   /* of a volume, or of a container */
    uint64_t used;     /* of a container: its writable layer and its logs */
    bool is_ephemeral; /* a volume that counts for the pod */
};

/* The pod has a limit of ephemeral storage or an emptyDir on disk with one: it has to be measured.
 */
bool pod_storage_is_limited(const struct pod_spec *p);
/* Whether it exceeds one of its limits; text: POD_EVICTION_TEXT_MAX, kubelet's message. */
bool pod_storage_exceeds(const struct pod_spec *p, const struct pod_storage *volumes,
                         size_t n_volumes, const struct pod_storage *containers,
                         size_t n_containers, char *text);
/* ephemeral-storage that the pod has requested. */
uint64_t pod_storage_requested(const struct pod_spec *p);
