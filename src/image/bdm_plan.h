/* SPDX-License-Identifier: Apache-2.0 */
/* The deployment manifest of a plan: what image_orchestrate() decided, as image/bdm.h. Pure. */
#pragma once

#include "image/bdm.h"
#include "image/cluster_file.h"

struct image_bdm_plan {
    const struct image_cluster_file *file; /* with `image`, digests of layers and urls */
    const struct image_tasks *tasks;       /* for file->o.node */
    struct str key;                        /* of the cluster */
    const char *deploy;                    /* UUID; borrowed as long as the result */
    uint64_t deadline_ms;
    bool is_prefetch;
    /* Peers are to push what they have; not with is_prefetch, nor what they have to get first. */
    bool is_push;
    int64_t wall_s; /* tokens hold from now until the deadline, and a minute more */
};
/*
 * In the arena. A source without a url is left out; a layer that is on its way to the node already
 * is asked for at the registry, which costs nothing while the node shares the import. Errors:
 * E_INVALID: the file lacks what this needs, or nothing that has a layer can be asked.
 */
int image_bdm_plan(struct arena *a, const struct image_bdm_plan *p, struct image_bdm *ret,
                   struct err *err);
