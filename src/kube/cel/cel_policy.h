/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ValidatingAdmissionPolicies, without a store: which requests a policy matches, and its verdict on
 * a request. (api/admit/policies.h reads the stored objects.)
 */
#pragma once

#include "kube/cel/cel.h"
#include "kube/model/field.h"
#include "kube/model/resource.h"

enum { POLICY_COST_MAX = 10000000 }; /* of all expressions of a policy for one request */

/* A write before it is made. */
struct policy_request {
    const struct kube_resource *res;
    struct str subresource, name, ns;
    const char *operation;                   /* "CREATE", "UPDATE", "DELETE" */
    const struct json *object, *old;         /* NULL: not present */
    const struct json *user;                 /* {username, uid, groups, extra} */
    const struct json *options;              /* or NULL */
    const struct json *space;                /* the Namespace of the object; NULL: cluster-scoped */
    const struct cel_authorizer *authorizer; /* never NULL when an expression is evaluated */
    bool dry_run;
};

/*
 * match: spec.matchConstraints of a policy or spec.matchResources of a binding; NULL matches
 * everything. Namespace selectors are checked only if rq->space is set.
 */
bool cel_policy_matches(struct arena *a, const struct json *match, const struct policy_request *rq);

/* Called for each expression that is false; message and reason are borrowed. */
typedef void (*policy_denied_fn)(void *arg, struct str message, struct str reason);

/* Evaluate the policy. params: NULL when the policy has no paramKind. */
void cel_policy_evaluate(struct arena *a, const struct json *policy,
                         const struct policy_request *rq, const struct json *params,
                         policy_denied_fn denied, void *arg);
/*
 * Parameters that cannot be read and expressions that fail deny the request: failurePolicy is not
 * Ignore.
 */
bool cel_policy_fails_closed(const struct json *policy);

/* Report expressions of a policy that cannot be used. stored: the stored policy, or NULL. */
void cel_policy_validate_expressions(const struct json *policy, const struct json *stored,
                                     struct field_errors *errs);

enum {
    POLICY_TYPES_MAX = 10, /* types against which expressions are checked, upstream's limit */
    POLICY_TYPE_CHECK_BYTES = 1 << 20 /* of expressions, times types; beyond: unchecked */
};

/* The schema of a kind. */
struct policy_type {
    struct str group, version, kind;
    const struct schema *schema;
};

/*
 * The contents of status.typeChecking.expressionWarnings of a policy: a list of {fieldRef, warning}
 * in the arena. types: n of them, in the order in which they are reported. params: the type of
 * paramKind, NULL where it is not known.
 */
struct json *cel_policy_type_warnings(struct arena *a, const struct json *policy,
                                      const struct policy_type *types, size_t n,
                                      const struct schema *params);
