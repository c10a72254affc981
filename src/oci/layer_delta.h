/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The delta of a layer: the data of a layer of a newer image that a node with an older version of
 * the image lacks. It is made in advance and kept in a registry as a blob. Little-endian:
 *
 *     8 "DMLDELTA", u32 version (1), u32 parcels, u64 bytes of the tree manifest
 *     for each parcel: u64 bytes of its request, u64 bytes of its answer
 *     the tree manifest (oci/tree_manifest.h), then requests and answers in turn
 *     (oci/file_parcel.h): a request names the files of the answer, and the files of the older
 *     version that are its bases
 *
 * The deltas of an image are the layers of an artifact, a manifest of the type
 * OCI_DELTA_ARTIFACT_TYPE whose subject is the manifest of the image. Its annotation
 * OCI_DELTA_FROM lists the DiffIDs, separated by commas, of the layers that have the files and
 * bases; OCI_DELTA_OF of each of its layers names the DiffID of the layer that it makes.
 *
 * Pure; any thread.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"

enum {
    OCI_LAYER_DELTA_VERSION = 1,
    OCI_LAYER_DELTA_PARCELS_MAX = 256,
    OCI_LAYER_DELTA_MAX = 256 << 20, /* bytes of one; a reader holds it in memory */
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
