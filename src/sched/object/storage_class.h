/* SPDX-License-Identifier: Apache-2.0 */
/* A StorageClass as the scheduler needs it. */
#pragma once

#include "sched/object/storage.h"

enum sched_binding_mode {
    SCHED_BINDING_UNSET,
    SCHED_BINDING_IMMEDIATE,
    SCHED_BINDING_WAITS, /* WaitForFirstConsumer */
};
struct sched_storage_class {
    struct sched_object o;
    struct intern *name, *provisioner; /* never NULL */
    enum sched_binding_mode mode;
    struct sched_selector *topologies; /* allowedTopologies; a term without requirements, or with a
                                          requirement without values, is `nothing` */
    uint32_t n_topologies;
};
static inline const struct sched_storage_class *sched_storage_class_of(const struct sched_object *o)
{
    return (const struct sched_storage_class *)o;
}
/* May its volumes be made for this node? True if there are no terms, or one matches. */
bool sched_storage_class_allows(const struct sched_storage_class *class,
                                const struct sched_node *node);
bool sched_storage_class_same_topologies(const struct sched_storage_class *a,
                                         const struct sched_storage_class *b);
