/* SPDX-License-Identifier: Apache-2.0 */
/* An image and the nodes of a running cluster, as image/cluster_file.h describes them. */
#pragma once

#include "cmd/image_args.h"
#include "image/cluster_file.h"

enum { IMAGE_PLAN_PAGE = 500 }; /* objects of one answer */

struct image_plan_cluster {
    struct image_args *args; /* checked */
    const char *reference;   /* of the store; else as of image_open(), without docker://, too */
    const char *kubeconfig, *context;
};

/*
 * The nodes are those that have a NodeImageState. All of it is in the arena. Errors: those of
 * image_open() and kube_client_ask(); E_LIMIT, too many nodes or layers; -ENOENT, no node has a
 * report.
 */
int image_plan_cluster_read(const struct image_plan_cluster *p, struct arena *a,
                            struct image_cluster_file *ret, struct err *err);
