/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admission of new objects, as the plugins do it that are on in every cluster of upstream's: what
 * an object gets from, or is refused because of, other objects.
 *
 *     ServiceAccount, Priority, DefaultTolerationSeconds    pods
 *     RuntimeClass                                          pods
 *     LimitRanger                                           pods, persistentvolumeclaims
 *     DefaultStorageClass                                   persistentvolumeclaims
 *     ResourceQuota                                         everything in a namespace that has one,
 *                                                           updates that can use more as well
 *     (the token controller)                                secrets of ServiceAccounts' tokens
 *
 * First the other objects are read, once for a request; then the rules are applied to each attempt
 * at making the object. Nothing is read for kinds that no rule is about.
 */
#pragma once

#include "api/core.h"

struct admission;

/* Whether a rule may be about the new object. */
bool admit_wanted(const struct request *rq);
/*
 * input: the body, decoded or an apply configuration. done: once, with `admission` in the
 * request's arena, from the loop or, when there is nothing to read, before the function returns;
 * r < 0: the request has been answered, or its client is gone, and the caller does nothing more.
 */
void admit_read(struct request *rq, const struct json *input,
                void (*done)(void *arg, int r, struct admission *admission), void *arg);
/* The same for an update: only quotas are about it. */
bool admit_update_wanted(const struct request *rq);
void admit_read_quotas(struct request *rq,
                       void (*done)(void *arg, int r, struct admission *admission), void *arg);
/* Change the new object; NULL, or the Status that refuses it. admission NULL: no rule. */
struct json *admit_new(struct request *rq, const struct admission *admission, struct json *obj);

/* The Node of the user, if that is a node and makes a pod; else NULL. admission may be NULL. */
const struct json *admission_node(const struct admission *admission);

/* Once it has its name: Secrets that are to hold a ServiceAccount's token get it. */
void admit_named(struct request *rq, const struct admission *admission, struct json *obj);

/*
 * Count the object, which is complete by now, in the quotas of its namespace; old: as it was, NULL
 * for a new one. NULL, or the Status that refuses it. admission NULL: there is no quota.
 */
struct json *admit_quota(struct request *rq, struct admission *admission, const struct json *obj,
                         const struct json *old);
/* Append the writes of the quotas. ops has room for STORE_TXN_MAX_OPS; E_LIMIT. */
int admit_ops(struct request *rq, struct admission *admission, struct store_op *ops, size_t *n,
              struct err *err);
/* The object is counted in all quotas that it belongs to. */
bool admit_counted(const struct admission *admission);
/* The transaction failed at a quota, which somebody else has written: admission must be read again.
 */
bool admit_lost(const struct admission *admission, size_t failed_op);

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
