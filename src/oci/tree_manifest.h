/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree manifest: a description of the tars of layers. A node that has most of the files
 * rebuilds the tars with it, bit for bit, and fetches only the other files. It has for each layer
 * its index (oci/layer_index.h: the exact attributes and the digest of every file) and its
 * skeleton, the tar without the contents of files that are not sparse. Little-endian:
 *
 *     8 "DMTREEMF", u32 version (1), u32 layers
 *     for each layer: u64 bytes of its index, u64 bytes of its packed skeleton
 *     for each layer: its index, its skeleton packed by zstd
 *     u64 base/sum.h of all that precedes it
 *
 * The checksum detects damage; a reader must validate everything else. A tar that was rebuilt from
 * it is valid only if its digest is the DiffID. Any thread.
 */
#pragma once

#include "base/buf.h"
#include "oci/image.h"
#include "oci/skeleton.h"

enum {
    OCI_TREE_MANIFEST_VERSION = 1,
    OCI_TREE_LAYERS_MAX =
        1, /* a reader holds the indexes of all of them: a few KB packed can be 64 MiB */
    OCI_TREE_SKELETON_MAX = 64 << 20, /* unpacked bytes of a layer's: headers, and sparse files */
    OCI_TREE_LEVEL = 12,              /* zstd level of its frames */
    OCI_TREE_MANIFEST_MAX = 256 << 20,
};
#define OCI_TREE_MANIFEST_TYPE "application/vnd.dormouse.image.tree.v1"

/* A layer: its index, and its skeleton (oci/skeleton.h), whose parts are the files of the index
 * that have content and are not sparse, in the order of the tar. */
struct oci_tree_layer {
    struct oci_layer *layer;
    struct oci_skeleton skeleton;
    struct buf parts;
};

struct oci_tree_manifest {
    struct oci_tree_layer *layers;
    size_t n;
};

/* The input for a layer: `frame` is that of its skeleton, packed by zstd. */
struct oci_tree_source {
    const struct oci_layer *layer;
    struct str frame;
};

/*
 * Append the manifest of these layers. Errors: E_LIMIT, a skeleton is too large, or too many
 * layers; E_CORRUPT, the files of a layer are not in order; those of `to`.
 */
int oci_tree_manifest_write(const struct oci_tree_source *layers, size_t n, struct buf *to,
                            struct err *err);
/*
 * *ret: given, oci_tree_manifest_fini(); its frames are borrowed from `bytes`. Frames are unpacked
 * only by oci_skeleton_make_tar(), which passes on no more bytes than the layer has. Errors:
 * E_CORRUPT, E_VERSION, E_LIMIT, -ENOMEM.
 */
int oci_tree_manifest_read(struct str bytes, struct oci_tree_manifest *ret, struct err *err);
/* The index of the first layer, which is not read. *ret: borrowed from `bytes`. Errors:
 * E_CORRUPT, E_VERSION, E_LIMIT; E_PARSE, there is no layer. */
int oci_tree_manifest_index(struct str bytes, struct str *ret, struct err *err);
void oci_tree_manifest_fini(struct oci_tree_manifest *m);
/* The checksum that these bytes (without the checksum) must have; for tests that forge one. */
uint64_t oci_tree_manifest_sum(struct str bytes);
