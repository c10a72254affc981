/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A PodDisruptionBudget: how many of the pods it selects may be evicted now. The disruption
 * controller writes its status. Without that controller no disruption is allowed, so every selected
 * victim counts as a violation, which preemption avoids if it can.
 */
#pragma once

#include "sched/object/pod.h"

struct sched_pdb {
    struct sched_object o;
    struct intern *namespace_word;
    struct sched_selector selector; /* `nothing` if it is absent, empty or invalid */
    int32_t disruptions_allowed;
    struct str *disrupted; /* sorted names of pods whose eviction is already counted */
    uint32_t n_disrupted;
    char *strings;
};
static inline const struct sched_pdb *sched_pdb_of(const struct sched_object *o)
{
    return (const struct sched_pdb *)o;
}
/* Evicting the pod would use one disruption of the budget. A pod without labels is in no budget. */
bool sched_pdb_counts(const struct sched_pdb *pdb, const struct sched_pod *pod);
