/* SPDX-License-Identifier: Apache-2.0 */
/* A PersistentVolume as the scheduler needs it. */
#pragma once

#include "sched/object/storage.h"

struct sched_claim_ref {
    bool is_set;
    struct str namespace, name, uid; /* uid "": a user has reserved the volume for a claim */
};

struct sched_pv {
    struct sched_object o;
    struct sched_labels labels;
    struct intern *class; /* never NULL; "" of none */
    struct quantity capacity;
    unsigned access_modes;
    bool is_block;               /* volumeMode */
    bool is_available;           /* status.phase */
    bool is_terminating;         /* deletionTimestamp is set */
    bool is_bound_by_controller; /* annotation pv.kubernetes.io/bound-by-controller */
    struct str attributes_class; /* "" of none */
    struct sched_claim_ref claim;

    bool has_affinity; /* spec.nodeAffinity.required */
    struct sched_node_terms affinity;

    /* Of a CSI volume, or of the CSI driver that an in-tree volume was migrated to. NULL, "":
     * neither. */
    struct intern *driver;
    struct str handle;
    enum sched_in_tree in_tree;
    struct str translation_error; /* upstream's text; "": no error */
    bool has_migrated_affinity;   /* the affinity with the driver's zone label differs */
    struct sched_node_terms migrated_affinity;
};
static inline const struct sched_pv *sched_pv_of(const struct sched_object *o)
{
    return (const struct sched_pv *)o;
}
/* Can the volume be used on this node? is_migrated: check it as a volume of the CSI driver. */
bool sched_pv_fits_node(const struct sched_pv *pv, const struct sched_node *node, bool is_migrated);
