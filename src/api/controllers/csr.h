/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CertificateSigningRequests: the server records the requesting user in the object, approving and
 * signing need separate rights, and approved requests to the signers below are signed with the
 * cluster's authority.
 *
 *     kubernetes.io/kube-apiserver-client           any user but members of system:masters
 *     kubernetes.io/kube-apiserver-client-kubelet   system:node:NAME in group system:nodes
 *
 *     create -> a user approves -> certificate, or condition Failed with the reason
 */
#pragma once

#include "api/admission.h"
#include "api/controllers/controllers.h"

enum {
    CSR_MIN_S = 600,            /* validation refuses less */
    CSR_MAX_S = 365 * 24 * 3600 /* longest validity of a certificate */
};

/*
 * Registers the stages of a write: restore fields that clients cannot set; check the right to
 * approve or to sign.
 */
void csr_register(struct admission_chain *c);
/* Sign the request if it has been approved. */
void csr_written(struct controllers *c, const struct written *w);
/*
 * Sign requests that are approved but not signed, because an earlier process ended or the store
 * failed.
 */
void csr_start(struct controllers *c);
void csr_stop(struct controllers *c);
