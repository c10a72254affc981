/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CertificateSigningRequests: who asks is written into the request, approving and signing need a
 * right of their own, and requests to the signers below are signed with the cluster's authority
 * once somebody has approved them.
 *
 *     kubernetes.io/kube-apiserver-client           any user but members of system:masters
 *     kubernetes.io/kube-apiserver-client-kubelet   system:node:NAME in group system:nodes
 *
 *     create -> Approved by somebody -> certificate, or condition Failed with the reason
 */
#pragma once

#include "api/admission.h"
#include "api/controllers/controllers.h"

enum {
    CSR_MIN_S = 600,            /* less is not asked for: validation */
    CSR_MAX_S = 365 * 24 * 3600 /* a certificate is not good for longer */
};

/*
 * The stages of a write: what the client may not set is put right, and he must have the right to
 * approve or to sign.
 */
void csr_register(struct admission_chain *c);
/* Sign what has been approved. */
void csr_written(struct controllers *c, const struct written *w);
/* Sign what is approved and not signed: by an earlier process, or since the store failed. */
void csr_start(struct controllers *c);
void csr_stop(struct controllers *c);
