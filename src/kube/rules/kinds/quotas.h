/* SPDX-License-Identifier: Apache-2.0 */
/* ResourceQuotas: how much objects use, and how much is left. Pure. */
#pragma once

#include "kube/model/quantity.h"
#include "kube/model/resource.h"

enum {
    QUOTA_MAX_USES = 64,
    /*
     * Limit of quotas in one namespace, because each quota that an object uses is written in the
     * transaction that creates the object. Creating one more is refused. If there are more all the
     * same (stored by an older version, or created at the same moment), no object that quotas count
     * can be created until some are deleted.
     */
    QUOTA_MAX_PER_NAMESPACE = 64
};

struct quota_use {
    struct str name; /* "requests.cpu", "count/jobs.batch" */
    struct quantity amount;
};

/*
 * The amounts that one object uses, in the arena or borrowed from the object. hard: the limits of a
 * quota, used to filter a pod's amounts; NULL: all. Returns the number, at most QUOTA_MAX_USES;
 * further amounts are left out.
 */
size_t quota_uses(struct arena *a, const struct kube_resource *res, const struct json *obj,
                  const struct json *hard, struct quota_use *ret);
/* The object matches the scopes of the quota. */
bool quota_covers(const struct json *quota, const struct kube_resource *res,
                  const struct json *obj);
/* Two states of an object match the same scopes of every possible quota. */
bool quota_same_scopes(const struct kube_resource *res, const struct json *x, const struct json *y);
/* The quota limits something that objects of the kind can use. */
bool quota_is_about(const struct json *quota, const struct kube_resource *res);

/*
 * Charge the quota for a new object, or for the increase over `old` (NULL for a new object): its
 * status.used grows. false: it does not fit, *why is the text for the client. changed: the quota
 * was charged.
 */
bool quota_take(struct arena *a, struct json *quota, const struct kube_resource *res,
                const struct json *obj, const struct json *old, bool *ret_changed,
                const char **why);
/* An update of the object, or of the subresource ("": none), may use more of a quota. */
bool quota_may_grow(const struct kube_resource *res, struct str subresource);

/* Starts a recount: an object {hard, used} with every limited resource at zero. */
struct json *quota_status_new(struct arena *a, const struct json *quota);
/*
 * Add the usage of the object for the resources in the status. a: of the status; scratch: of the
 * call. When the budget of scratch is used up, the rest of the object is not counted.
 */
void quota_status_add(struct arena *a, struct arena *scratch, struct json *status,
                      const struct json *quota, const struct kube_resource *res,
                      const struct json *obj);
