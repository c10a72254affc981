/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A static pod: a file with a Pod that this node runs without being asked by the API server. Pure.
 */
#pragma once

#include "kube/model/resource.h"

enum { STATIC_MANIFEST_MAX = 1 << 20 }; /* bytes of one file */

struct static_place {
    const struct kube_resource *pods; /* the built-in resource */
    struct str node;                  /* name of this node */
    struct str path;                  /* of the file */
    int64_t wall_s;                   /* now */
};

/*
 * Read YAML or JSON into a Pod as the API server would store it: decoded, defaulted and validated,
 * with the name "NAME-NODE", the namespace "default" unless stated, this node, a toleration of all
 * NoExecute taints, and the annotations kubernetes.io/config.hash, .source ("file") and .seen. The
 * UID, unless stated, is the hash of node, path and content: a changed file is another pod.
 *
 * ret: in the arena. Errors: E_PARSE, E_LIMIT, E_INVALID with upstream's texts: no Pod, violated
 * rules, references to objects of the API server.
 */
int static_manifest_read(struct arena *a, const struct static_place *at, struct str text,
                         struct json **ret, struct err *err);
