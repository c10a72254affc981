/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The default roles and bindings of every cluster, as upstream defines them. Pure; authz.c writes
 * the missing ones.
 */
#pragma once

#include "api/auth/rbac.h"

/*
 * The role, and the binding to system:nodes, by which nodes read each other's Nodes: each routes to
 * the podCIDRs of the others. Only where this server gives them out.
 */
#define RBAC_NODE_ROUTES "dormouse:node-routes"

/* One default object: its kind and name, and its whole JSON as a client would send it. */
struct rbac_default {
    enum rbac_kind kind;
    struct str ns, name;
    struct json *obj;
};
/* fn is called for each, roles before the bindings to them; all of it is borrowed for the call. */
void rbac_defaults(void (*fn)(void *arg, const struct rbac_default *d), void *arg);

/*
 * Add to the stored object, in place, what it lacks of the default: rules that its own do not
 * cover, subjects, selectors of an aggregation, labels and annotations. false: nothing was missing,
 * or the object opts out (annotation autoupdate "false").
 */
bool rbac_reconcile(struct arena *a, const struct rbac_default *d, struct json *stored);
