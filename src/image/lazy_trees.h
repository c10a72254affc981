/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree manifests (oci/tree_manifest.h) of an image that starts lazily, held until its layers
 * are built. They are untrusted: a confined process reads them (oci/table.h), once for the content
 * of the layers, and later, per layer, for the bytes of the tars that are in no file. One thread
 * until all are added; then any.
 */
#pragma once

#include "oci/image.h"
#include "oci/layer_parse.h"
#include "oci/skeleton.h"

enum {
    LAZY_TREES_MAX = 256 << 20, /* bytes of their texts */
    /* Bytes of their layers in memory: a text of a few KB can unpack to the maximum of a layer
     * (OCI_LAYER_MEMORY_MAX). One more layer may be in memory when it is refused. */
    LAZY_TREES_MEMORY_MAX = 512 << 20,
};

struct oci_table_reader;

struct lazy_tree {
    struct oci_layer *layer;
    struct oci_skeleton skeleton; /* only its parts: oci_skeleton_part() */
    struct buf parts, text;
};

struct lazy_trees {
    size_t n; /* layers */
    /* Internal. */
    const struct oci_digest *diff_ids;
    struct lazy_tree *all; /* one for equal layers */
    size_t *of;            /* layer -> index of `all` */
    uint64_t text_left, memory_left;
    const struct layer_reading_ops *reading;
    void *reading_arg;
    const atomic_bool *stop;
    struct oci_table_reader *reader; /* while they are added */
};

/* diff_ids: kept, and so are reading and reading_arg, as in struct oci_import_opts, and stop, which
 * ends reading with -ECANCELED; NULL: never. */
void lazy_trees_init(struct lazy_trees *t, const struct oci_digest *diff_ids, size_t n,
                     const struct layer_reading_ops *reading, void *reading_arg,
                     const atomic_bool *stop);
void lazy_trees_fini(struct lazy_trees *t); /* zeroed is fine */

/* Whether a layer is the first one with its DiffID; the others share its tree. */
bool lazy_trees_is_first(const struct lazy_trees *t, size_t i);
/*
 * Add the tree of a layer which is the first with its DiffID. text: taken, also on failure.
 * max_tar_bytes: of the layer. Errors: E_LIMIT; E_PARSE, it is the tree of another layer; those of
 * layer_reading_ops.table(), oci_table_layer(), oci_skeleton_of().
 */
int lazy_trees_add(struct lazy_trees *t, size_t i, struct buf *text, uint64_t max_tar_bytes,
                   struct err *err);
/* After all were added: end the process that read them. */
void lazy_trees_end(struct lazy_trees *t);
/* The tree of a layer; borrowed. */
const struct lazy_tree *lazy_trees_get(const struct lazy_trees *t, size_t i);

/* A layer's tar without the contents of its files. */
struct lazy_tar {
    struct buf flat;
    struct oci_skeleton skeleton; /* of which it is a view */
};
/* *ret: given, lazy_tar_fini(). Blocks. Errors: E_DIGEST, no tar can be made from that tree; other
 * errors of layer_reading_ops.table(). */
int lazy_trees_tar(const struct lazy_trees *t, size_t i, struct lazy_tar *ret, struct err *err);
void lazy_tar_fini(struct lazy_tar *t); /* zeroed is fine */
