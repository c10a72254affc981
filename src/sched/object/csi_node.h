/* SPDX-License-Identifier: Apache-2.0 */
/* A CSINode: the drivers of a node, and how many volumes each may attach there. */
#pragma once

#include "sched/object/storage.h"

struct sched_csi_node_driver {
    struct intern *name;
    bool has_limit;
    int32_t limit;
};
struct sched_csi_node {
    struct sched_object o;
    struct sched_csi_node_driver *drivers;
    uint32_t n_drivers;
    bool has_limits;
    /* Annotation storage.alpha.kubernetes.io/migrated-plugins: the plugins that the node has handed
     * over to CSI drivers, as bits of enum sched_in_tree, and the annotation's text. */
    unsigned migrated;
    struct str migrated_text;
};
static inline const struct sched_csi_node *sched_csi_node_of(const struct sched_object *o)
{
    return (const struct sched_csi_node *)o;
}
/* n may be NULL: a node without a CSINode has migrated nothing. */
static inline bool sched_csi_node_has_migrated(const struct sched_csi_node *n,
                                               enum sched_in_tree tree)
{
    return n && tree && (n->migrated & 1u << tree) != 0;
}
/* NULL: the node does not have the driver. */
const struct sched_csi_node_driver *sched_csi_node_driver(const struct sched_csi_node *n,
                                                          const struct intern *name);
