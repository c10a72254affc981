/* SPDX-License-Identifier: Apache-2.0 */
/* The scale subresource: autoscaling/v1 Scale from and to the paths that a resource names. */
#pragma once

#include "kube/model/resource.h"

/* obj: the whole object in the request's version. */
struct json *scale_of(struct arena *a, const struct kube_resource *res, const struct json *obj);
/* Write scale's spec.replicas into obj. E_INVALID: not a number that is not negative. */
int scale_apply(struct arena *a, const struct kube_resource *res, struct json *obj,
                const struct json *scale, struct err *err);
