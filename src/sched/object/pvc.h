/* SPDX-License-Identifier: Apache-2.0 */
/* A PersistentVolumeClaim as the scheduler needs it. */
#pragma once

#include "sched/object/storage.h"

struct sched_pvc {
    struct sched_object o;
    struct intern *class; /* never NULL; "" of none */
    bool has_request;
    struct quantity request; /* of storage; 0: none */
    unsigned access_modes;
    bool is_block;           /* volumeMode */
    bool is_lost;            /* status.phase */
    bool is_terminating;     /* deletionTimestamp is set */
    bool has_bind_completed; /* annotation pv.kubernetes.io/bind-completed */
    bool has_annotations;
    bool has_selected_node; /* annotation volume.kubernetes.io/selected-node */
    struct str selected_node;
    struct str volume_name;      /* "": not bound */
    struct str attributes_class; /* "" of none */
    bool has_selector;
    bool has_bad_selector; /* its selector is invalid: which volumes it wants is unknown */
    struct sched_selector selector;
    struct str controller_uid; /* of the controlling owner; "": none */
};
static inline const struct sched_pvc *sched_pvc_of(const struct sched_object *o)
{
    return (const struct sched_pvc *)o;
}
static inline bool sched_pvc_is_bound(const struct sched_pvc *pvc)
{
    return pvc->volume_name.n > 0 && pvc->has_bind_completed;
}
