/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a ReplicaSet or a ReplicationController does: pure functions of its pods. The rules are
 * upstream's (pkg/controller/replicaset, controller_utils.go).
 */
#pragma once

#include "workload/frame/controller.h"

enum { REPLICAS_BURST = 500 }; /* pods that one call makes or deletes */

struct replicas_need {
    size_t n_create, n_delete; /* at most one of them is not 0 */
};
/* n_active: pods that are not finished and not being deleted. */
struct replicas_need replicas_need(int64_t wanted, size_t n_active);

/*
 * Move the n_delete pods that are to be deleted to the front, those to delete first at the front:
 * not assigned before assigned, pending before running, not ready before ready, cheaper before
 * dearer (annotation pod-deletion-cost), on a node with more of `related` before one with fewer,
 * ready for a shorter time, restarted more often, younger. Times are compared by their logarithm,
 * so that among pods of about the same age it is not always the youngest; then the uid decides.
 *
 * related: the pods of all sets that have the same controller as this one, its own included.
 */
void replicas_rank(struct arena *a, struct workload_claim *active, size_t n, size_t n_delete,
                   const struct workload_claims *related, int64_t now_ms);

struct replicas_counts {
    int64_t replicas, fully_labeled, ready, available, terminating;
    uint64_t again_ms; /* until the next ready pod becomes available; 0: none will */
};
/*
 * pods: all that belong to it. template_labels: of the pod template; NULL: none. min_ready_s: how
 * long a pod has to be ready to be available.
 */
struct replicas_counts replicas_count(const struct workload_claims *pods,
                                      const struct json *template_labels, int64_t min_ready_s,
                                      int64_t now_ms);

/*
 * The new status: a copy of the object's with these counts, observedGeneration, and the condition
 * ReplicaFailure if `failure` says why pods could not be made or deleted, "": they could.
 */
struct json *replicas_status(struct arena *a, const struct json *object,
                             const struct replicas_counts *counts, const char *reason,
                             struct str failure, int64_t now_ms);
