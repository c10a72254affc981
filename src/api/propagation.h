/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deletion propagation: the options propagationPolicy and orphanDependents of a delete, and the
 * finalizers that they put on the object for the garbage collector (gc.c).
 */
#pragma once

#include "api/request.h"
#include "kube/model/resource.h"

struct propagation {
    enum { PROPAGATE_DEFAULT, PROPAGATE_BACKGROUND, PROPAGATE_FOREGROUND, PROPAGATE_ORPHAN } policy;
    bool not_orphaned; /* orphanDependents: false was given literally */
};

/* From the decoded DeleteOptions, or from the query if body is NULL. NULL, or the Status. */
struct json *propagation_parse(struct request *rq, const struct json *body,
                               struct propagation *ret);

/*
 * Set the finalizers that the options, those on the object, or the kind's default ask for, in this
 * order of precedence. Returns whether something changed.
 */
bool propagation_apply(struct arena *a, const struct kube_resource *res, struct json *obj,
                       const struct propagation *p);
/* Upstream's warning for a delete of a Job that does not say what happens to its pods. */
void propagation_warn(struct request *rq, const struct propagation *p);
