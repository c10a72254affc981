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
 * It holds with RBAC, for every user that is a node (identity.h) whatever roles it has.
 */
#pragma once

#include "api/admission.h"

/* The user is a node, which may have the name "". */
bool node_restricts(const struct request *rq, struct str *ret_node);
/*
 * apply() for a TokenRequest (admission.input) for the account in the request's path: reads the pod
 * that it is bound to, and the CSI drivers of its volumes as long as no volume before them names
 * the audience.
 */
struct json *node_token_apply(void *self, struct admission *ad, void *state);
