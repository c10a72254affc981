/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scale subresource: reads and writes an autoscaling/v1 Scale by the paths that a resource
 * declares.
 */
#pragma once

#include "kube/model/resource.h"

/* obj: the whole object in the request's version. */
struct json *scale_of(struct arena *a, const struct kube_resource *res, const struct json *obj);
/* Write scale's spec.replicas into obj. E_INVALID: not a non-negative number. */
int scale_apply(struct arena *a, const struct kube_resource *res, struct json *obj,
                const struct json *scale, struct err *err);
