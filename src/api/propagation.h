/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens to the dependents of an object that is deleted: the options propagationPolicy and
 * orphanDependents of a delete, and the finalizers they put on the object for the garbage
 * collector (gc.c) to act upon.
 */
#pragma once

#include "api/request.h"
#include "kube/model/resource.h"

struct propagation {
    enum { PROPAGATE_DEFAULT, PROPAGATE_BACKGROUND, PROPAGATE_FOREGROUND, PROPAGATE_ORPHAN } policy;
    bool not_orphaned; /* orphanDependents: false, in these words */
};

/* From the decoded DeleteOptions, or from the query when body is NULL. NULL, or the Status. */
struct json *propagation_parse(struct request *rq, const struct json *body,
                               struct propagation *ret);

/*
 * Set the finalizers that the options, those on the object, or the kind's default ask for, in this
 * order of weight. Returns whether something changed.
 */
bool propagation_apply(struct arena *a, const struct kube_resource *res, struct json *obj,
                       const struct propagation *p);
/* What upstream tells those who delete a Job without a word about its pods. */
void propagation_warn(struct request *rq, const struct propagation *p);
