/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The delta of a layer: what a node that has an older version of an image lacks of a layer of the
 * newer one, made in advance and kept in a registry as a blob. Little-endian:
 *
 *     8 "DMLDELTA", u32 version (1), u32 parcels, u64 bytes of the tree manifest
 *     for each parcel: u64 bytes of its request, u64 bytes of its answer
 *     the tree manifest (oci/tree_manifest.h), then requests and answers in turn
 *     (oci/file_parcel.h): a request says of which files the answer is, and which files of the
 *     older version are its bases
 *
 * The deltas of an image are the layers of an artifact, a manifest of the type
 * OCI_DELTA_ARTIFACT_TYPE whose subject is the manifest of the image. Its annotation
 * OCI_DELTA_FROM names the DiffIDs, with commas between them, in which files and bases are;
 * OCI_DELTA_OF of each of its layers names the DiffID that is made with it.
 *
 * Pure; any thread.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"

enum {
    OCI_LAYER_DELTA_VERSION = 1,
    OCI_LAYER_DELTA_PARCELS_MAX = 256,
    OCI_LAYER_DELTA_MAX = 256 << 20, /* bytes of one; whoever reads it holds it */
};
#define OCI_LAYER_DELTA_TYPE    "application/vnd.dormouse.image.layer-delta.v1"
#define OCI_DELTA_ARTIFACT_TYPE "application/vnd.dormouse.image.delta.v1"
#define OCI_DELTA_FROM          "image.dormouse.dev/delta-from"
#define OCI_DELTA_OF            "image.dormouse.dev/delta-of"

struct oci_layer_delta {
    struct str tree;
    struct {
        struct str request, answer;
    } parcels[OCI_LAYER_DELTA_PARCELS_MAX];
    size_t n;
};

/* Errors: those of `to`. */
int oci_layer_delta_write(const struct oci_layer_delta *d, struct buf *to, struct err *err);
/* Borrowed from `bytes`; its parts are not read. Errors: E_PARSE, E_VERSION, E_LIMIT. */
int oci_layer_delta_read(struct str bytes, struct oci_layer_delta *ret, struct err *err);
