/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data that a node needs to fetch only the parts of a layer's blob that have files which it
 * lacks: the tree manifest (oci/tree_manifest.h), and the positions of the gzip members in the
 * blob. It is kept in a registry as a blob beside that of the layer. Little-endian:
 *
 *     8 "DMLTREE1", u64 members
 *     for each member: u32 bytes in the blob, u32 bytes of the tar
 *     the tree manifest of the layer
 *
 * The trees of an image are the layers of an artifact (oci/delta_artifact.h), a manifest of the
 * type OCI_TREES_ARTIFACT_TYPE whose subject is the manifest of the image; OCI_TREE_OF of each of
 * its layers names the DiffID.
 *
 * Pure; any thread.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"

enum {
    OCI_MEMBERS_MAX = 1 << 20,
    OCI_LAYER_TREE_MAX = 64 << 20, /* bytes of one; a reader holds it in memory */
};
#define OCI_LAYER_TREE_TYPE     "application/vnd.dormouse.image.layer-tree.v1"
#define OCI_TREES_ARTIFACT_TYPE "application/vnd.dormouse.image.trees.v1"
#define OCI_TREE_OF             "image.dormouse.dev/tree-of"

struct oci_member {
    uint32_t packed, raw;
};

/* Errors: E_LIMIT, more than OCI_MEMBERS_MAX; those of `to`. */
int oci_layer_tree_write(const struct oci_member *members, size_t n, struct str tree,
                         struct buf *to, struct err *err);

struct oci_layer_tree {
    struct str tree;
    size_t n_members;
    uint64_t packed, raw; /* of all members */
    struct str members;   /* oci_layer_tree_member() reads them */
};
/* Borrowed from `bytes`; the tree is not read. Errors: E_PARSE, E_LIMIT. */
int oci_layer_tree_read(struct str bytes, struct oci_layer_tree *ret, struct err *err);
/* i < n_members */
struct oci_member oci_layer_tree_member(const struct oci_layer_tree *t, size_t i);
