/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ValidatingAdmissionPolicies, without a store: which requests they are about, and what they say
 * of one. (api/admit/policies.h reads what they need.)
 */
#pragma once

#include "kube/cel/cel.h"
#include "kube/model/field.h"
#include "kube/model/resource.h"

enum { POLICY_COST_MAX = 10000000 }; /* of all expressions of a policy for one request */

/* A write that is about to be made. */
struct policy_request {
    const struct kube_resource *res;
    struct str subresource, name, ns;
    const char *operation;                   /* "CREATE", "UPDATE", "DELETE" */
    const struct json *object, *old;         /* NULL: there is none */
    const struct json *user;                 /* {username, uid, groups, extra} */
    const struct json *options;              /* or NULL */
    const struct json *space;                /* the Namespace it is in; NULL: in none */
    const struct cel_authorizer *authorizer; /* never NULL when something is evaluated */
    bool dry_run;
};

/*
 * match: spec.matchConstraints of a policy or spec.matchResources of a binding; NULL is about
 * everything. Namespaces are looked at only with `space`.
 */
bool cel_policy_matches(struct arena *a, const struct json *match, const struct policy_request *rq);
/* The labels of the namespace decide about some of its requests. */
bool cel_policy_asks_namespace(const struct json *match);

/* Called for each expression that is not true; message and reason are borrowed. */
typedef void (*policy_denied_fn)(void *arg, struct str message, struct str reason);

/* Evaluate the policy. params: NULL where it has no kind of them. */
void cel_policy_evaluate(struct arena *a, const struct json *policy,
                         const struct policy_request *rq, const struct json *params,
                         policy_denied_fn denied, void *arg);
/* What could not be read or evaluated denies as well, unless failurePolicy is Ignore. */
bool cel_policy_fails_closed(const struct json *policy);

/* Report expressions of a policy that cannot be used. stored: the policy as it is now, or NULL. */
void cel_policy_validate_expressions(const struct json *policy, const struct json *stored,
                                     struct field_errors *errs);

enum {
    POLICY_TYPES_MAX = 10,            /* that expressions are checked with, as upstream's */
    POLICY_TYPE_CHECK_BYTES = 1 << 20 /* of expressions, times types; beyond it none is checked */
};

/* What objects of a kind look like. */
struct policy_type {
    struct str group, version, kind;
    const struct schema *schema;
};

/*
 * What status.typeChecking.expressionWarnings of a policy has to say: a list of {fieldRef, warning}
 * in the arena. types: n of them, sorted as they are to be told. params: of objects of paramKind,
 * NULL where they are not known.
 */
struct json *cel_policy_type_warnings(struct arena *a, const struct json *policy,
                                      const struct policy_type *types, size_t n,
                                      const struct schema *params);
