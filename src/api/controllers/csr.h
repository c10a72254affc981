/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CertificateSigningRequests: the server records the requesting user in the object, approving and
 * signing need separate rights, and approved requests to the signers below are signed with the
 * cluster's authority.
 *
 *     kubernetes.io/kube-apiserver-client           any user but members of system:masters
 *     kubernetes.io/kube-apiserver-client-kubelet   system:node:NAME in group system:nodes
 *     kubernetes.io/kubelet-serving                 the same, for servers, with names or addresses
 *
 *     create -> a user approves -> certificate, or condition Failed with the reason
 *
 * The server itself approves requests for client certificates of nodes by users that have the right
 * to it (csr_approve.c): nodes that join with a bootstrap token, and nodes that renew theirs; and
 * those of nodes for serving certificates of their own name and address. It decides when the
 * request is written, and again when roles or bindings are.
 */
#pragma once

#include "api/admission.h"
#include "api/controllers/controllers.h"

#define CSR_SIGNER_KUBELET "kubernetes.io/kube-apiserver-client-kubelet"
#define CSR_SIGNER_SERVING "kubernetes.io/kubelet-serving"

/*
 * Annotation of a request for a serving certificate: the address that it came from, as the server
 * saw it; CSR_IN_PROCESS: from this process.
 */
#define CSR_ORIGIN     "dormouse.dev/requested-from"
#define CSR_IN_PROCESS "in-process"

struct x509_subject;

enum {
    CSR_TEXT_MAX_BYTES = 64 << 10,
    CSR_MIN_S = 600,            /* validation refuses less */
    CSR_MAX_S = 365 * 24 * 3600 /* longest validity of a certificate */
};

/*
 * Registers the stages of a write: restore fields that clients cannot set; check the right to
 * approve or to sign.
 */
void csr_register(struct admission_chain *c);
/*
 * A request was written: approve it if that needs no user, sign it if it has been approved. A role
 * or a binding was written: look at all requests again.
 */
void csr_written(struct controllers *c, const struct written *w);
/*
 * Sign requests that are approved but not signed, because an earlier process ended or the store
 * failed.
 */
void csr_start(struct controllers *c);
void csr_stop(struct controllers *c);

/* Append the request's PEM text. false: it cannot be decoded. */
bool csr_text(const struct json *obj, struct buf *to);
/*
 * Whether the request is one that its signer, of this server, signs once it is approved. NULL: yes,
 * and *ret_subject is set; else the reason. Allocated in the arena.
 */
const char *csr_check(const struct json *obj, struct arena *a, struct x509_subject *ret_subject);
/* The message of the approval of a request that needs no user for it; NULL: it needs one. */
const char *csr_auto_approval(const struct controllers *c, const struct json *obj, struct arena *a);
