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

#include "api/admit/admit.h"

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

/*
 * The stage. A policy or binding whose stored value is damaged may be about any write, and forbids
 * it. Warnings are said.
 */
void policies_register(struct admit *ad, struct admission_chain *c);
