/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the plan of image_orchestrate() to a deployment manifest (image/bdm.h). Pure. */
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
    /* Peers must push what they have; not with is_prefetch, and not what they must fetch first. */
    bool is_push;
    int64_t wall_s; /* tokens are valid from now until one minute after the deadline */
};
/*
 * In the arena. Sources without a url are skipped. A layer that is already in transfer to the node
 * is requested from the registry, which costs nothing while the node shares the import. Errors:
 * E_INVALID: the file lacks necessary data, or no source of a layer can be asked.
 */
int image_bdm_plan(struct arena *a, const struct image_bdm_plan *p, struct image_bdm *ret,
                   struct err *err);
