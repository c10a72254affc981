/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Authorization: keeps the compiled policy (rbac.h) in step with the store, writes the default
 * roles and bindings, words refusals as upstream, and prevents users from granting rights that they
 * do not have.
 */
#pragma once

#include "api/admission.h"
#include "api/auth/node_rules.h"
#include "api/auth/rbac.h"
#include "api/permission.h"

struct authz;

/*
 * Read and follow all roles and bindings, and write the missing defaults. ready: when all of that
 * is done. Until then the policy is empty: only system:masters may do anything. with_node_routes:
 * RBAC_NODE_ROUTES is one of the defaults.
 */
struct authz *authz_start(struct api *api, bool with_node_routes, controller_ready_cb ready,
                          void *arg);
void authz_stop(struct authz *z); /* NULL is fine, also for the next two */
void authz_free(struct authz *z);
bool authz_is_busy(const struct authz *z);

/*
 * An api_authorize_fn whose argument is the struct authz: the Node authorizer (node_rules.h), then
 * RBAC. What a node may do only because of its pods is refused unless at->related.
 */
bool authz_decide(void *authz, const struct api_attributes *at, struct buf *reason);
struct rbac *authz_policy(struct authz *z);
/* Whether the decision depends on node_look_up(); then *ret is the query. */
bool authz_asks(const struct api *api, const struct api_attributes *at,
                struct node_rules_question *ret);

/*
 * The step of the request path: NULL, or the Status to answer. It waits for the store if a node
 * asks for something that its pods may refer to.
 */
struct json *authz_step(struct request *rq);

/*
 * Registers the stage before a role or binding is written: its rules, or those of the role it
 * binds, must be covered by the rules of the user, unless the user has the verb escalate or bind.
 */
void authz_register(struct admission_chain *c);
