/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Node authorizer: decides what a node may do by its identity and by its request. A node is the
 * user system:node:NAME in the group system:nodes. Pure.
 *
 * Most decisions need the request alone. For the rest the rules ask whether an object concerns the
 * node, which node_graph.h answers:
 *
 *     node <- pod <- secret, configmap, serviceaccount, resourceclaim
 *     node <- pod <- persistentvolumeclaim <- persistentvolume <- secret
 *     node <- volumeattachment, resourceslice
 *
 * A rule never forbids: whatever the rules of nodes do not allow is left to RBAC.
 */
#pragma once

#include "api/auth/rbac_rules.h"
#include "api/server.h"

enum node_thing {
    NODE_POD,
    NODE_SECRET,
    NODE_CONFIG_MAP,
    NODE_ACCOUNT,
    NODE_RESOURCE_CLAIM,
    NODE_CLAIM,
    NODE_VOLUME,
    NODE_ATTACHMENT,
    NODE_SLICE
};

/* Does this object concern this node? Borrowed from the request's attributes. */
struct node_rules_question {
    struct str node;
    enum node_thing what;
    struct str ns, name; /* ns: "" for cluster-scoped objects */
};

enum node_answer { NODE_SILENT, NODE_ALLOWS, NODE_ASKS };

/*
 * fixed: the rules of the default role system:node, for resources that the relations do not narrow.
 * NODE_ASKS: *ret is the query; the request is allowed if the object concerns the node.
 * NODE_SILENT: a reason in upstream's words may have been appended; NULL: not wanted.
 */
enum node_answer node_decide(struct str node, struct rbac_rules fixed,
                             const struct api_attributes *at, struct node_rules_question *ret,
                             struct buf *reason);
/* "no relationship found between node 'n' and this object" */
void node_unrelated_text(struct buf *to, struct str node);
