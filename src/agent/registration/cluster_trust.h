/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a machine that joins learns which CA to trust: from the ConfigMap kube-public/cluster-info,
 * read over a connection that proves nothing, with a bootstrap token or the hash of the CA's key as
 * the proof. Pure, any thread.
 */
#pragma once

#include "codec/json.h"

#define CLUSTER_TRUST_TARGET "/api/v1/namespaces/kube-public/configmaps/cluster-info"

enum { CLUSTER_TRUST_HASH_BYTES = 32 };

/* Split "ID.SECRET" of [a-z0-9]{6}.[a-z0-9]{16}. false: it is no token. */
bool cluster_trust_split(struct str token, struct str *ret_id, struct str *ret_secret);
/* "sha256:HEX" of the CA's SubjectPublicKeyInfo, as kubeadm prints it. E_INVALID. */
int cluster_trust_read_hash(const char *text, uint8_t ret[CLUSTER_TRUST_HASH_BYTES],
                            struct err *err);
/*
 * Take the CA out of the ConfigMap. token, if not empty: it must have signed the contents. hash, if
 * not NULL: all certificates must have this key. At least one of them is given; with both, both
 * must be right. ret_ca_pem: in the arena. Errors: E_INVALID: nothing proves the contents, and why;
 * E_PARSE.
 */
int cluster_trust_take(struct arena *a, const struct json *map, struct str token,
                       const uint8_t *hash, struct str *ret_ca_pem, struct err *err);
