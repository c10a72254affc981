/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proving what a lazy start showed: the manifest of an image names the digests of whole tars, and
 * the container saw names, attributes and digests that a registry said. Two things have to hold:
 * the tar made of that word has the DiffID, and the tar says of its files what the registry said.
 *
 * E_DIGEST means one thing here: the word of the registry is wrong. All other errors are of this
 * machine and say nothing of it. Blocking; any thread.
 */
#pragma once

#include "image/lazy_trees.h"

/* Whether both say the same of all entries and whiteouts, in their order. `said`: by the registry.
 * Errors: E_DIGEST. */
int lazy_proof_same(const struct oci_layer *said, const struct oci_layer *is, struct err *err);

struct lazy_proof_opts {
    const struct lazy_trees *trees;
    size_t layer;                 /* of them */
    oci_skeleton_content content; /* as in oci_skeleton_make_tar() */
    void *content_arg;
    const struct layer_reading_ops *reading; /* as in struct oci_import_opts */
    void *reading_arg;
};

/*
 * Compare a layer without keeping it. Errors: E_DIGEST; those of `content`, of lazy_trees_tar();
 * -EIO, a content is not what its digest says; those of reading the tar, once it is known to have
 * the DiffID.
 */
int lazy_proof_layer(const struct lazy_proof_opts *o, struct err *err);
/* The contents of a layer alone. Errors: those of `content`, -EIO. */
int lazy_proof_contents(const struct lazy_proof_opts *o, struct err *err);
