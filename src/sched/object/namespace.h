/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Namespace as the scheduler needs it: its labels, for the namespace selectors of pod affinity.
 */
#pragma once

#include "sched/object/match.h"

struct sched_namespace {
    struct sched_object o;
    struct intern *name;
    struct sched_labels labels;
};
static inline const struct sched_namespace *sched_namespace_of(const struct sched_object *o)
{
    return (const struct sched_namespace *)o;
}
