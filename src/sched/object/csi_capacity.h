/* SPDX-License-Identifier: Apache-2.0 */
/* A CSIStorageCapacity: how large a volume of a class can be made for some nodes. */
#pragma once

#include "sched/object/storage.h"

struct sched_csi_capacity {
    struct sched_object o;
    struct intern *class; /* never NULL */
    bool has_limit;
    int64_t limit; /* bytes: maximumVolumeSize, else capacity */
    /* Which nodes have access; `nothing` where there is no topology, or none that can be read. */
    struct sched_selector nodes;
};
static inline const struct sched_csi_capacity *sched_csi_capacity_of(const struct sched_object *o)
{
    return (const struct sched_csi_capacity *)o;
}
