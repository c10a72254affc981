/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ReplicationControllers, ReplicaSets and StatefulSets as the scheduler needs them: which pods they
 * own, for default spread constraints.
 */
#pragma once

#include "sched/object/match.h"

struct sched_workload {
    struct sched_object o;
    struct sched_selector selector; /* a ReplicationController's map, or a LabelSelector */
};
static inline const struct sched_workload *sched_workload_of(const struct sched_object *o)
{
    return (const struct sched_workload *)o;
}
