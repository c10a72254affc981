/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admission of what nodes write, as upstream's plugin NodeRestriction: a node writes its own Node,
 * Lease and CSINode, and what belongs to the pods on it, so that one that was taken over cannot
 * draw other pods, or what they may read, to itself.
 *
 *     nodes                         no labels, taints or owners that decide about scheduling
 *     pods                          mirror pods that need nothing of the API; deletion
 *     pods/status, pods/eviction    of pods on the node
 *     persistentvolumeclaims        the status, and of that what a node knows
 *     serviceaccounts/token         bound to a pod on the node, for an audience that the pod names
 *     leases, csinodes              of the node's name
 *     resourceslices                of the node's devices
 *     certificatesigningrequests    to the signers of nodes, in its own name
 *
 * It holds with RBAC, for every user that is a node (auth/node_rules.h) whatever roles it has. Each
 * function returns NULL, or the Status that refuses the write.
 */
#pragma once

#include "api/core.h"

/* The user is a node, which may have the name "". */
bool node_restricts(const struct request *rq, struct str *ret_node);

/* node: the Node of that user; NULL when there is none; needed for pods alone. */
struct json *node_restrict_create(struct request *rq, const struct json *obj,
                                  const struct json *node);
/* obj: as the client wants it, before the server has changed it. */
struct json *node_restrict_update(struct request *rq, const struct json *obj,
                                  const struct json *old);
struct json *node_restrict_delete(struct request *rq, struct str name, const struct json *old);
struct json *node_restrict_evict(struct request *rq, const struct json *pod);
/* Of a certificate: why it is refused, or NULL. */
const char *node_restrict_request(struct request *rq, struct str signer, struct str common_name);

/*
 * A TokenRequest for the account in the request's path: reads the pod that it is bound to, and the
 * CSI drivers of its volumes as long as no volume before them names the audience. done: once, from
 * the loop or before the function returns; not called once the client has gone.
 */
void node_restrict_token(struct request *rq, const struct json *token,
                         void (*done)(void *arg, struct json *no), void *arg);
