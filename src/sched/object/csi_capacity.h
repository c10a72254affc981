/* SPDX-License-Identifier: Apache-2.0 */
/* A CSIStorageCapacity: the largest volume of a class that can be made for some nodes. */
#pragma once

#include "sched/object/storage.h"

struct sched_csi_capacity {
    struct sched_object o;
    struct intern *class; /* never NULL */
    bool has_limit;
    int64_t limit; /* bytes: maximumVolumeSize, else capacity */
    /* The nodes with access; `nothing` if the topology is absent or unreadable. */
    struct sched_selector nodes;
};
static inline const struct sched_csi_capacity *sched_csi_capacity_of(const struct sched_object *o)
{
    return (const struct sched_csi_capacity *)o;
}
