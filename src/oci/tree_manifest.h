/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree manifest: what the tars of layers are made of, so that a node that has most of their
 * files makes the tars again, bit for bit, and fetches only the other files. Of each layer its
 * index (oci/layer_index.h: the exact attributes and the digest of every file) and its skeleton,
 * the tar without the contents of files that are not sparse. Little-endian:
 *
 *     8 "DMTREEMF", u32 version (1), u32 layers
 *     for each layer: u64 bytes of its index, u64 bytes of its packed skeleton
 *     for each layer: its index, its skeleton packed by zstd
 *     u64 base/sum.h of all that precedes it
 *
 * The checksum finds damage; a reader trusts nothing else. What was made from it counts only once
 * its digest is the DiffID. Any thread.
 */
#pragma once

#include "base/buf.h"
#include "base/vec.h"
#include "oci/image.h"
#include "oci/layer.h"

enum {
    OCI_TREE_MANIFEST_VERSION = 1,
    OCI_TREE_LAYERS_MAX =
        1, /* a reader holds all of them unpacked: a few KB packed can be 64 MiB */
    OCI_TREE_SKELETON_MAX = 64 << 20, /* bytes of a layer's: headers, and sparse files */
    OCI_TREE_MANIFEST_MAX = 256 << 20,
};
#define OCI_TREE_MANIFEST_TYPE "application/vnd.dormouse.image.tree.v1"

/* A file whose content is not in the skeleton, and where in the skeleton it belongs. */
struct oci_tree_piece {
    const struct oci_entry *file;
    uint64_t at;
};

struct oci_tree_layer {
    struct oci_layer *layer;
    VEC(struct oci_tree_piece) pieces; /* in the order of the tar */
    char *skeleton;
    uint64_t n_skeleton;
};

struct oci_tree_manifest {
    struct oci_tree_layer *layers;
    size_t n;
};

/*
 * Append the manifest of these layers, whose tars are open in tar_fds. Errors: E_LIMIT, a skeleton
 * is too large, or too many layers; E_CORRUPT, tar and index do not fit; those of `to` and of
 * reading.
 */
int oci_tree_manifest_write(const struct oci_layer *const *layers, const int *tar_fds, size_t n,
                            struct buf *to, struct err *err);
/* *ret: given, oci_tree_manifest_fini(). Errors: E_CORRUPT, E_VERSION, E_LIMIT, -ENOMEM. */
int oci_tree_manifest_read(struct str bytes, struct oci_tree_manifest *ret, struct err *err);
void oci_tree_manifest_fini(struct oci_tree_manifest *m);
/* What the checksum of these bytes, without it, has to be; for tests that forge a manifest. */
uint64_t oci_tree_manifest_sum(struct str bytes);

/*
 * Gives the tar of a layer, from its beginning to its end. content: writes the content of a file to
 * the sink. Errors: what either returned.
 */
typedef int (*oci_tree_sink)(void *arg, struct str bytes, struct err *err);
typedef int (*oci_tree_content)(void *arg, const struct oci_entry *file, oci_tree_sink sink,
                                void *sink_arg, struct err *err);
int oci_tree_layer_make(const struct oci_tree_layer *l, oci_tree_content content, void *content_arg,
                        oci_tree_sink sink, void *sink_arg, struct err *err);
