/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stages of the admission chain (admission.h) that set fields from, or refuse a write because of,
 * other objects, as upstream's plugins do that are on by default.
 *
 *     NamespaceLifecycle          everything in a namespace; namespaces that always exist
 *     LimitRanger                 pods, persistentvolumeclaims
 *     ServiceAccount, Priority, DefaultTolerationSeconds, RuntimeClass      pods
 *     DefaultStorageClass         persistentvolumeclaims
 *     NodeRestriction             what nodes write (node_restriction.h)
 *     (addresses and ports)       Services (claims.c)
 *     ResourceQuota               everything in a namespace that has one, including updates that
 *                                 can use more
 *     ValidatingAdmissionPolicy   whatever a policy matches (policies.h)
 *
 * A write of a kind that no rule covers reads nothing.
 */
#pragma once

#include "api/admission.h"

/* What the stages need from other parts of the server. */
struct admit_needs {
    /* Whether there may be a quota in the namespace. */
    bool (*has_quota)(void *arg, struct str ns);
    void *arg;
};

struct admit {
    struct api *api;
    struct admit_needs needs;
    struct policies *policies; /* NULL until they are in force */
};

/* Sets api->admit. */
void admit_init(struct api *api, const struct admit_needs *needs);
/* Adds the part that keeps policies in force. */
void admit_add_part(struct admit *ad);
/* Registers the stages of the chain. */
void admit_register(struct admit *ad, struct admission_chain *c);

/* One per file, in the order in which admit.c calls them. */
void namespace_lifecycle_register(struct admit *ad, struct admission_chain *c);
void node_restriction_register(struct admit *ad, struct admission_chain *c);
void claims_register(struct admit *ad, struct admission_chain *c);
void quota_register(struct admit *ad, struct admission_chain *c);

/* ---- the rules, which do not read the store (admit_rules.c); *why is shown to the client ---- */

/* account: NULL if absent, which is allowed only for the name "default". */
bool admit_account(struct arena *a, struct json *pod, const struct json *account, uint64_t random,
                   const char **why);
/* classes: candidate PriorityClasses; all of them if the pod names none. */
bool admit_priority(struct arena *a, struct json *pod, const struct json *classes,
                    const char **why);
void admit_tolerations(struct arena *a, struct json *pod);
/*
 * runtime: the RuntimeClass that the pod names; NULL: it names none, or the class does not exist.
 */
bool admit_runtime(struct arena *a, struct json *pod, const struct json *runtime, const char **why);
bool admit_limits(struct arena *a, struct json *pod, const struct json *ranges, const char **why);
bool admit_claim_limits(struct arena *a, const struct json *claim, const struct json *ranges,
                        const char **why);
void admit_storage_class(struct arena *a, struct json *claim, const struct json *classes);
