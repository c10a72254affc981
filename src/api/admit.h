/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admission of new objects, as the plugins do it that are on in every cluster of upstream's: what
 * an object gets from, or is refused because of, other objects.
 *
 *     ServiceAccount, Priority, DefaultTolerationSeconds    pods
 *     LimitRanger                                           pods, persistentvolumeclaims
 *     DefaultStorageClass                                   persistentvolumeclaims
 *     (the token controller)                                secrets of ServiceAccounts' tokens
 *
 * First the other objects are read, once for a request; then the rules are applied to each attempt
 * at making the object. Nothing is read for kinds that no rule is about.
 */
#pragma once

#include "api/core.h"

struct admission;

/* Whether a rule is about objects of this kind. */
bool admit_wanted(const struct kube_resource *res);
/*
 * input: the body, decoded or an apply configuration. done: once, from the loop, with `admission` in the request's arena; r < 0: the request has been
 * answered, or its client is gone, and the caller does nothing more.
 */
void admit_read(struct request *rq, const struct json *input,
                void (*done)(void *arg, int r, struct admission *admission), void *arg);
/* Change the new object; NULL, or the Status that refuses it. admission NULL: no rule. */
struct json *admit_new(struct request *rq, const struct admission *admission, struct json *obj);

/* Once it has its name: Secrets that are to hold a ServiceAccount's token get it. */
void admit_named(struct request *rq, const struct admission *admission, struct json *obj);

/* ---- the rules, which know no store (admit_rules.c); *why is said to the client ---- */

/* account: NULL where there is none, which only the name "default" may be. */
bool admit_account(struct arena *a, struct json *pod, const struct json *account, uint64_t random,
                   const char **why);
/* classes: PriorityClasses to choose from; all of them if the pod names none. */
bool admit_priority(struct arena *a, struct json *pod, const struct json *classes,
                    const char **why);
void admit_tolerations(struct arena *a, struct json *pod);
bool admit_limits(struct arena *a, struct json *pod, const struct json *ranges, const char **why);
bool admit_claim_limits(struct arena *a, const struct json *claim, const struct json *ranges,
                        const char **why);
void admit_storage_class(struct arena *a, struct json *claim, const struct json *classes);
