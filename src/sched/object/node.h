/* SPDX-License-Identifier: Apache-2.0 */
/* A Node as the scheduler needs it. */
#pragma once

#include "sched/object/pod.h"

struct sched_image {
    struct intern *name; /* an image has one entry per name */
    int64_t size;        /* bytes */
};
struct sched_node {
    struct sched_object o;
    struct intern *name;
    struct sched_labels labels;
    struct intern *zone; /* "REGION:\0:ZONE" of the well-known labels, old and new; NULL: neither */
    struct sched_taint *taints;
    uint32_t n_taints;
    bool is_unschedulable;
    uint8_t declared_features;
    struct sched_amounts allocatable; /* negative and absurd values count as 0 */
    int32_t allowed_pods;
    struct sched_image *images; /* by the address of name; each name once */
    uint32_t n_images;
    /* Hashes of conditions (type and status, in any order), annotations and declared features (also
     * unknown ones), to detect changes. */
    uint64_t conditions_hash, annotations_hash, features_hash;
    struct str json;
    struct sched_encoded *encoded; /* as in struct sched_pod */
    char *block;
};
static inline const struct sched_node *sched_node_of(const struct sched_object *o)
{
    return (const struct sched_node *)o;
}
