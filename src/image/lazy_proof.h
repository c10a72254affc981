/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves what a lazy start showed: the manifest of an image has the digests of whole tars, but the
 * container saw names, attributes and digests from the registry. Two conditions must hold: the tar
 * that is built from this data has the DiffID, and its headers match the data of the registry.
 *
 * E_DIGEST means only this: the data of the registry is wrong. All other errors come from this
 * machine and say nothing about it. Blocking; any thread.
 * machine and say nothing of it. Blocking; any thread.
 */
#pragma once

#include "image/lazy_trees.h"

/* Whether both have the same entries and whiteouts, in the same order. `declared`: from the
 * registry. Errors: E_DIGEST. */
int lazy_proof_same(const struct oci_layer *declared, const struct oci_layer *is, struct err *err);

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
 * -EIO, a content does not match its digest; those of reading the tar, after its DiffID was
 * confirmed.
 */
int lazy_proof_layer(const struct lazy_proof_opts *o, struct err *err);
/* The contents of a layer alone. Errors: those of `content`, -EIO. */
int lazy_proof_contents(const struct lazy_proof_opts *o, struct err *err);
