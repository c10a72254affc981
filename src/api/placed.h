/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index of pods by node, in the store: the pods of each node, and the objects that they refer
 * to. It answers the queries of the Node authorizer (auth/node_graph.h) without reading the pods.
 *
 *     /placed/<node>/<namespace>/<pod>     '1', then for each reference a byte of enum
 *                                          pod_reference, a 16-bit length, the name
 *
 * Entries are ordinary keys outside of /registry/, written in the transaction that writes the pod,
 * so the index is always consistent and takes no memory. A pod without a node has no entry. The
 * entry of a mirror pod holds no references: a node makes such pods itself, and must not gain
 * rights by them. Pure code.
 */
#pragma once

#include "kube/rules/kinds/references.h"
#include "store/store.h"

#define PLACED_PREFIX "/placed/"

enum {
    PLACED_OPS_MAX = 2,           /* entries that one write may change */
    PLACED_VALUE_MAX = 256 << 10, /* of one pod; further references give the node no rights */
    PLACED_NAME_MAX = 253         /* longest name of an object */
};

/*
 * Append the changes of the index for a write of `key`; old or obj may be NULL: absent. No-op for
 * objects that are not pods. Strings live in the arena.
 */
void placed_ops(struct arena *a, struct str key, const struct json *old, const struct json *obj,
                struct store_op *ops, size_t *n);

/*
 * Whether this is a valid node name. Others, in particular those with a '/', would form other keys.
 */
bool placed_is_node(struct str node);
/*
 * Prefix of the entries of a node's pods; ns "": in all namespaces. `node` must pass
 * placed_is_node().
 */
struct str placed_prefix(struct arena *a, struct str node, struct str ns);
/* The namespace of the pod in an entry of this node; borrowed from the key. */
struct str placed_namespace(struct str key, struct str node);

/* Whether the value of an entry names this object. */
bool placed_refers(struct str value, enum pod_reference what, struct str name);
/* Call fn for each reference of the value. Names are borrowed. */
void placed_each(struct str value, pod_reference_fn fn, void *arg);
