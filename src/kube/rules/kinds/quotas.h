/* SPDX-License-Identifier: Apache-2.0 */
/* ResourceQuotas: what objects use, and what is left of it. Pure. */
#pragma once

#include "kube/model/quantity.h"
#include "kube/model/resource.h"

enum {
    QUOTA_MAX_USES = 64,
    /*
     * Quotas of one namespace: each that an object uses is written in the transaction that makes
     * the object. One more is refused when it is created; where there are more all the same (stored
     * by an older version, or created at the same moment), nothing that quotas count is created
     * until some are deleted.
     */
    QUOTA_MAX_PER_NAMESPACE = 64
};

struct quota_use {
    struct str name; /* "requests.cpu", "count/jobs.batch" */
    struct quantity amount;
};

/*
 * What one object uses, in the arena or of it. hard: the limits of a quota, of a pod only what they
 * name; NULL: all. Returns the number, at most QUOTA_MAX_USES; further ones are left out.
 */
size_t quota_uses(struct arena *a, const struct kube_resource *res, const struct json *obj,
                  const struct json *hard, struct quota_use *ret);
/* The quota is about this object: its scopes are. */
bool quota_covers(const struct json *quota, const struct kube_resource *res,
                  const struct json *obj);
/* Whether two states of an object are in the same scopes of every possible quota. */
bool quota_same_scopes(const struct kube_resource *res, const struct json *x, const struct json *y);
/* It limits something that objects of the kind can use. */
bool quota_is_about(const struct json *quota, const struct kube_resource *res);

/*
 * Take what a new object uses from the quota, or what it uses more than `old`, which is NULL for a
 * new one: its status.used grows. false: it does not fit, *why says it to the client. changed:
 * something was taken.
 */
bool quota_take(struct arena *a, struct json *quota, const struct kube_resource *res,
                const struct json *obj, const struct json *old, bool *ret_changed,
                const char **why);
/* An update of the object, or of the subresource ("": none), may use more of a quota. */
bool quota_may_grow(const struct kube_resource *res, struct str subresource);

/* Counting from the beginning: an object {hard, used} with every limited resource at zero. */
struct json *quota_status_new(struct arena *a, const struct json *quota);
/*
 * Add what the object uses, as far as the status limits it. a: of the status; scratch: of the call.
 * When the budget of scratch ends, the rest of the object is not counted.
 */
void quota_status_add(struct arena *a, struct arena *scratch, struct json *status,
                      const struct json *quota, const struct kube_resource *res,
                      const struct json *obj);
