/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ValidatingAdmissionPolicies in force. Policies and bindings are kept as text while there are any
 * bindings to policies; without one a write costs a comparison. They are in force for the first
 * write that begins after the one that made them.
 *
 *     load (policies, bindings) -> in force: told of each write of one (policies_written())
 *
 *     a write -> which bindings is it about? -> its Namespace -> each one's parameters -> verdict
 */
#pragma once

#include "api/core.h"

struct policies;
struct written;

enum { POLICIES_MAX_PARAMS = 500 }; /* of one binding; more is a failure of the policy */

/* ready: when they are in force. */
struct policies *policies_start(struct api *api, controller_ready_cb ready, void *arg);
void policies_stop(struct policies *p); /* NULL is fine here and below */
void policies_free(struct policies *p);
bool policies_is_busy(const struct policies *p);
void policies_written(struct policies *p, const struct written *w);
/* One that could not be read has been deleted. */
void policies_lost(struct policies *p, const struct kube_resource *res, struct str name);

/* What is about to be written; borrowed until `done`. */
struct policy_target {
    const char *operation; /* "CREATE", "UPDATE", "DELETE" */
    struct str name;
    const struct json *object, *old; /* in the request's version; NULL: there is none */
    bool dry_run;
};

/*
 * Whether a policy may be about the request; if not, nothing has to be asked. A policy or binding
 * whose stored value is damaged may be about any write, and forbids it.
 */
bool policies_wanted(const struct request *rq);
/*
 * done: once, with NULL or the Status that refuses it (in the request's arena), from the loop or
 * before the function returns; not at all when the client is gone meanwhile. Warnings are said.
 */
void policies_check(struct request *rq, const struct policy_target *target,
                    void (*done)(void *arg, struct json *status), void *arg);
