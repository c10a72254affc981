/* SPDX-License-Identifier: Apache-2.0 */
/* What the plugins about volumes share. */
#pragma once

#include "sched/framework/framework.h"
#include "sched/object/pv.h"
#include "sched/object/pvc.h"
#include "sched/object/storage_class.h"

static inline bool sched_volume_has_claim(const struct sched_volume *v)
{
    return v->source == SCHED_VOLUME_CLAIM || v->source == SCHED_VOLUME_EPHEMERAL;
}
/* NULL: not found. All borrowed until the cache changes. */
const struct sched_pvc *sched_find_pvc(const struct sched_framework *f, struct str namespace,
                                       struct str name);
const struct sched_pv *sched_find_pv(const struct sched_framework *f, struct str name);
const struct sched_storage_class *sched_find_class(const struct sched_framework *f,
                                                   struct str name);
/*
 * Does the pod have a volume with this claim? or_ephemeral: claims of its ephemeral volumes count
 * too.
 */
bool sched_pod_uses_claim(const struct sched_pod *pod, const struct sched_object *claim,
                          bool or_ephemeral);
/*
 * Checks that the claim of an ephemeral volume is owned by the pod. NULL: it is; else a status with
 * this code and upstream's text.
 */
const struct sched_status *sched_check_ephemeral(struct arena *a, enum sched_code code,
                                                 const struct sched_pod *pod,
                                                 const struct sched_pvc *pvc);
/* Has the node handed this in-tree volume over to its CSI driver? */
bool sched_is_migrated(const struct sched_framework *f, const struct sched_pv *pv,
                       const struct sched_node *node);
/* The in-tree kind of a volume in a pod's spec; NONE: it is not one of those. */
enum sched_in_tree sched_volume_in_tree(const struct sched_volume *v);
