/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CSI volumes of each node: those of its pods, and those attached without a pod
 * (VolumeAttachments). Counted once for each state of a node and cached: an event drops the counts
 * of the nodes that it concerns, a change without an event drops all.
 */
#pragma once

#include "sched/object/csi_node.h"
#include "sched/plugins/volumes.h"

/* A volume as its driver identifies it. Equal hashes mean the same volume. */
struct counted_volume {
    uint64_t hash;   /* of driver and handle */
    uint32_t driver; /* hash of its name */
    /* Hashes of the names by which it was found, so that their events find it; hash 0: it belongs
     * to no driver now, but may later. */
    uint32_t claim, volume;
    bool of_pod;
};
struct volume_list { /* by hash */
    struct counted_volume *p;
    size_t n, cap;
};

struct volume_counts;
struct volume_counts *volume_counts_new(struct sched_framework *f);
void volume_counts_free(struct volume_counts *c); /* NULL is fine */
void volume_counts_changed(struct volume_counts *c, const struct sched_event *event);

/*
 * The volume of a claim, existing or to be provisioned. ret_driver (or NULL): the driver's name,
 * NULL if no object has it. hash 0: it belongs to no driver.
 */
struct counted_volume volume_counts_claim(const struct volume_counts *c,
                                          const struct sched_pvc *pvc,
                                          const struct intern **ret_driver);
/*
 * The same for a volume in a pod's spec. ret_failed: set if it cannot be converted to its driver's
 * volume; in the arena.
 */
struct counted_volume volume_counts_inline(const struct volume_counts *c, struct arena *a,
                                           const struct sched_volume *v,
                                           const struct intern **ret_driver,
                                           const struct sched_status **ret_failed);
/* NULL: the node has no CSINode. */
const struct sched_csi_node *volume_counts_csi_node(struct volume_counts *c,
                                                    const struct sched_node_info *node);
/*
 * All volumes of a node; borrowed until the next call. Fails with the status of the first pod whose
 * volumes are invalid.
 */
const struct sched_status *volume_counts_of(struct volume_counts *c, struct arena *a,
                                            const struct sched_node_info *node,
                                            const struct volume_list **ret);
