/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Authorization: keeps the compiled policy (rbac.h) in step with the store, writes the default
 * roles and bindings, says no in upstream's words, and lets nobody grant more than he has.
 */
#pragma once

#include "api/admission.h"
#include "api/auth/node_rules.h"
#include "api/auth/rbac.h"
#include "api/permission.h"

struct authz;

/*
 * Read all roles and bindings, follow them, and write the defaults that are missing. ready: when
 * all that has been done. Before it the policy is empty: only system:masters may do anything.
 */
struct authz *authz_start(struct api *api, controller_ready_cb ready, void *arg);
void authz_stop(struct authz *z); /* NULL is fine, in the next two as well */
void authz_free(struct authz *z);
bool authz_is_busy(const struct authz *z);

/*
 * An api_authorize_fn with the struct authz as its argument: the Node authorizer (node_rules.h),
 * then RBAC. What a node may do by its pods alone is refused unless at->related.
 */
bool authz_decide(void *authz, const struct api_attributes *at, struct buf *reason);
struct rbac *authz_policy(struct authz *z);
/* Whether the decision depends on what node_look_up() finds; then *ret is the question. */
bool authz_asks(const struct api *api, const struct api_attributes *at,
                struct node_rules_question *ret);

/*
 * The step of the request path: NULL, or the Status to answer. It waits for the store if a node
 * asks for what its pods refer to.
 */
struct json *authz_step(struct request *rq);

/*
 * The stage before a role or binding is written: its rules, or those of the role it binds, must be
 * covered by the rules that the user has, unless he may escalate or bind.
 */
void authz_register(struct admission_chain *c);
