/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admission of writes by nodes, as upstream's plugin NodeRestriction. A node may write its own
 * Node, Lease and CSINode, and what belongs to the pods on it, so that an attacker who controls one
 * node cannot attract other pods or gain what they may read.
 *
 *     nodes                         no labels, taints or owners that affect scheduling
 *     pods                          mirror pods that need nothing of the API; deletion
 *     pods/status, pods/eviction    of pods on the node
 *     persistentvolumeclaims        the status, and only the fields that a node knows
 *     serviceaccounts/token         bound to a pod on the node, for an audience that the pod names
 *     leases, csinodes              of the node's name
 *     resourceslices                of the node's devices
 *     certificatesigningrequests    to the signers of nodes, in its own name
 *
 * Active with RBAC, for every user that is a node (identity.h), whatever its roles.
 */
#pragma once

#include "api/admission.h"

/* Whether the user is a node; its name may be "". */
bool node_restricts(const struct request *rq, struct str *ret_node);
/*
 * apply() for a TokenRequest (admission.input) for the account in the request's path. Reads the pod
 * that the token is bound to, then the CSI drivers of the pod's volumes, until one of them names
 * the audience.
 */
struct json *node_token_apply(void *self, struct admission *ad, void *state);
