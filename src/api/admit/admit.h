/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stages of the admission chain (admission.h): what an object gets from, or is refused because of,
 * other objects, as the plugins do it that are on in every cluster of upstream's.
 *
 *     NamespaceLifecycle          everything in a namespace; namespaces that always exist
 *     LimitRanger                 pods, persistentvolumeclaims
 *     ServiceAccount, Priority, DefaultTolerationSeconds, RuntimeClass      pods
 *     DefaultStorageClass         persistentvolumeclaims
 *     NodeRestriction             what nodes write (node_restriction.h)
 *     (addresses and ports)       Services (claims.c)
 *     ResourceQuota               everything in a namespace that has one, updates that can use more
 *                                 as well
 *     ValidatingAdmissionPolicy   whatever a policy is about (policies.h)
 *
 * Nothing is read for kinds that no rule is about.
 */
#pragma once

#include "api/admission.h"

/* What the stages need of other parts of the server. */
struct admit_needs {
    /* Whether there may be a quota in the namespace. */
    bool (*has_quota)(void *arg, struct str ns);
    void *arg;
};

struct admit {
    struct api *api;
    struct admit_needs needs;
    struct policies *policies; /* NULL before they are in force */
};

/* Sets api->admit. */
void admit_init(struct api *api, const struct admit_needs *needs);
/* The part that keeps policies in force. */
void admit_add_part(struct admit *ad);
/* The stages of the chain. */
void admit_register(struct admit *ad, struct admission_chain *c);

/* Of each file: in the order in which admit.c calls them. */
void namespace_lifecycle_register(struct admit *ad, struct admission_chain *c);
void node_restriction_register(struct admit *ad, struct admission_chain *c);
void claims_register(struct admit *ad, struct admission_chain *c);
void quota_register(struct admit *ad, struct admission_chain *c);

/* ---- the rules, which know no store (admit_rules.c); *why is said to the client ---- */

/* account: NULL where there is none, which only the name "default" may be. */
bool admit_account(struct arena *a, struct json *pod, const struct json *account, uint64_t random,
                   const char **why);
/* classes: PriorityClasses to choose from; all of them if the pod names none. */
bool admit_priority(struct arena *a, struct json *pod, const struct json *classes,
                    const char **why);
void admit_tolerations(struct arena *a, struct json *pod);
/* runtime: the RuntimeClass that the pod names; NULL: it names none, or there is none. */
bool admit_runtime(struct arena *a, struct json *pod, const struct json *runtime, const char **why);
bool admit_limits(struct arena *a, struct json *pod, const struct json *ranges, const char **why);
bool admit_claim_limits(struct arena *a, const struct json *claim, const struct json *ranges,
                        const char **why);
void admit_storage_class(struct arena *a, struct json *claim, const struct json *classes);
