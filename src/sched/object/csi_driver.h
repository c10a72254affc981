/* SPDX-License-Identifier: Apache-2.0 */
/* A CSIDriver: whether the driver publishes how much storage is left. */
#pragma once

#include "sched/object/object.h"

struct sched_csi_driver {
    struct sched_object o;
    bool tracks_capacity; /* spec.storageCapacity */
};
static inline const struct sched_csi_driver *sched_csi_driver_of(const struct sched_object *o)
{
    return (const struct sched_csi_driver *)o;
}
