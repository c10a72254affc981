/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree manifests of an image (oci/tree_manifest.h) that starts lazily, held until its layers
 * are made of them. One thread; several may read once all are added.
 */
#pragma once

#include "oci/tree_manifest.h"

enum {
    LAZY_TREES_MAX = 256 << 20, /* bytes of their texts */
    /* Bytes of their layers in memory: a text of a few KB can unpack to the most that one layer may
     * have (OCI_LAYER_MEMORY_MAX). One layer more may be in memory when it is refused. */
    LAZY_TREES_MEMORY_MAX = 512 << 20,
};

struct lazy_trees {
    size_t n; /* layers */
    /* Their own. */
    const struct oci_digest *diff_ids;
    struct oci_tree_manifest *all; /* the first of equal layers alone */
    struct buf *texts;             /* of which they borrow */
    size_t *of;                    /* layer -> index of `all` */
    uint64_t text_left, memory_left;
};

/* diff_ids: kept. */
void lazy_trees_init(struct lazy_trees *t, const struct oci_digest *diff_ids, size_t n);
void lazy_trees_fini(struct lazy_trees *t); /* zeroed is fine */

/* Whether a layer is the first one with its DiffID: the others take its tree. */
bool lazy_trees_is_first(const struct lazy_trees *t, size_t i);
/*
 * Add that of a layer which is the first of its kind. text: taken, also by a failure.
 * max_tar_bytes: of the layer. Errors: E_LIMIT; E_PARSE, it is that of another layer; those of
 * oci_tree_manifest_read().
 */
int lazy_trees_add(struct lazy_trees *t, size_t i, struct buf *text, uint64_t max_tar_bytes,
                   struct err *err);
/* That of a layer; borrowed. */
const struct oci_tree_layer *lazy_trees_get(const struct lazy_trees *t, size_t i);
