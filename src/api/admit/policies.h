/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ValidatingAdmissionPolicies in force. The texts of policies and bindings are kept while any
 * binding to a policy exists; without one a write costs a comparison. A change is in force for the
 * first write that begins after it.
 *
 *     load (policies, bindings) -> in force: notified of each write of one (policies_written())
 *
 *     a write -> matching bindings -> its Namespace -> each binding's parameters -> verdict
 */
#pragma once

#include "api/admit/admit.h"

struct policies;
struct written;

enum { POLICIES_MAX_PARAMS = 500 }; /* of one binding; with more the policy fails */

/* ready: once, from the loop, when they are in force or could not be read. */
struct policies *policies_start(struct api *api, controller_ready_cb ready, void *arg);
void policies_stop(struct policies *p); /* NULL is fine, also below */
void policies_free(struct policies *p);
bool policies_is_busy(const struct policies *p);
void policies_written(struct policies *p, const struct written *w);
/* A policy or binding that could not be read was deleted. */
void policies_lost(struct policies *p, const struct kube_resource *res, struct str name);

/*
 * Registers the stage. A policy or binding whose stored value is damaged might match any write, so
 * every write is refused. Warnings are sent to the client.
 */
void policies_register(struct admit *ad, struct admission_chain *c);
