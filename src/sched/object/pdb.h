/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A PodDisruptionBudget: how many of the pods it selects may be evicted now. Its status is written
 * by whoever runs the disruption controller; without one nothing is allowed, so every victim that
 * it selects counts as a violation, which preemption avoids where it can.
 */
#pragma once

#include "sched/object/pod.h"

struct sched_pdb {
    struct sched_object o;
    struct intern *namespace_word;
    struct sched_selector selector; /* `nothing` where it is absent, empty or invalid */
    int32_t disruptions_allowed;
    struct str *disrupted; /* names of pods whose eviction is counted already; sorted */
    uint32_t n_disrupted;
    char *strings;
};
static inline const struct sched_pdb *sched_pdb_of(const struct sched_object *o)
{
    return (const struct sched_pdb *)o;
}
/* The pod would use up one of its disruptions. A pod without labels is in no budget. */
bool sched_pdb_counts(const struct sched_pdb *pdb, const struct sched_pod *pod);
