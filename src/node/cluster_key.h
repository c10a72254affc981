/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The key with which the nodes of a cluster share images (image/bdm.h), in a Secret:
 *
 *     kube-system/dormouse-images    data.key: 64 hexadecimal digits
 *
 * `dormouse up --share-images` makes the Secret. Nodes may read it (api/auth/node_rules.c; in
 * another cluster a Role for the group system:nodes). Without it no node shares images. Loop thread
 * only.
 */
#pragma once

#include "client/transport.h"

#define CLUSTER_KEY_NAMESPACE "kube-system"
#define CLUSTER_KEY_NAME      "dormouse-images"

struct cluster_key;

/*
 * makes: create the Secret if there is none. done() runs once, never within the call, unless
 * cluster_key_cancel() comes first. key: borrowed, empty with an error: -ENOENT, there is no
 * Secret, or it may not be read; -EIO, the API did not answer; E_INVALID, it has no such key.
 */
int cluster_key_get(struct transport *t, const struct kube_identity *identity, bool makes,
                    void (*done)(void *arg, int r, struct str key, const struct err *err),
                    void *arg, struct cluster_key **ret, struct err *err);
/* NULL is fine; not after done(). */
void cluster_key_cancel(struct cluster_key *k);
