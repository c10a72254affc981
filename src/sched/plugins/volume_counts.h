/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which volumes of CSI drivers each node has: those of its pods, and those that are attached
 * without one (VolumeAttachments). Counted once for each state of a node and kept: an event drops
 * the counts of the nodes that it concerns, a change that was not told drops all.
 */
#pragma once

#include "sched/object/csi_node.h"
#include "sched/plugins/volumes.h"

/* A volume as its driver knows it. Equal hashes: the same volume. */
struct counted_volume {
    uint64_t hash;   /* of driver and handle */
    uint32_t driver; /* hash of its name */
    /* Hashes of the names that it was found by, so that their events find it; hash 0: it is none
     * of a driver now, and may become one. */
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
 * The volume of a claim, there already or to be made. ret_driver (or NULL): the driver's name;
 * NULL: no object has it. hash 0: none of a driver.
 */
struct counted_volume volume_counts_claim(const struct volume_counts *c,
                                          const struct sched_pvc *pvc,
                                          const struct intern **ret_driver);
/* The same of a volume in a pod's spec. ret_failed: it cannot be its driver's; in the arena. */
struct counted_volume volume_counts_inline(const struct volume_counts *c, struct arena *a,
                                           const struct sched_volume *v,
                                           const struct intern **ret_driver,
                                           const struct sched_status **ret_failed);
/* NULL: the node has none. */
const struct sched_csi_node *volume_counts_csi_node(struct volume_counts *c,
                                                    const struct sched_node_info *node);
/*
 * All volumes of a node; borrowed until the next call. Fails with the status of a pod whose
 * volumes are not as they should be.
 */
const struct sched_status *volume_counts_of(struct volume_counts *c, struct arena *a,
                                            const struct sched_node_info *node,
                                            const struct volume_list **ret);
