/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The manifest that attaches deltas (oci/layer_delta.h) or trees of layers (oci/layer_tree.h) to an
 * image, and the index in which a registry lists the artifacts that are attached to an image.
 * Pure; any thread.
 */
#pragma once

#include "base/buf.h"
#include "oci/layer_delta.h"
#include "oci/layer_tree.h"
#include "oci/source.h"

enum { OCI_DELTA_REFERRERS_MAX = 16 }; /* artifacts of an image that are read */

struct oci_delta_blob {
    struct oci_digest of; /* the DiffID of the layer of this delta or tree */
    struct oci_descriptor blob;
};

struct oci_delta_artifact {
    bool is_trees; /* else deltas */
    const struct oci_digest
        *from; /* of deltas: DiffIDs of the layers that have the files and bases */
    size_t n_from;
    const struct oci_delta_blob *layers;
    size_t n_layers;
};

/* The configuration of an artifact: "{}" (image-spec, "Guidance for an Empty Descriptor"). */
#define OCI_EMPTY_TYPE "application/vnd.oci.empty.v1+json"
#define OCI_EMPTY_TEXT "{}"

/* subject: an image with a manifest. Errors: those of `to`. */
int oci_delta_artifact_write(const struct oci_delta_artifact *d, const struct oci_image *subject,
                             struct buf *to, struct err *err);
/* `from` is not read. In the arena; texts borrowed from it. Errors: E_PARSE, E_LIMIT. */
int oci_delta_artifact_read(struct arena *a, struct str text, struct oci_delta_artifact *ret,
                            struct err *err);

struct oci_delta_referrer {
    bool is_trees;
    struct oci_digest manifest;
    const struct oci_digest *from; /* of deltas, at least one; of trees, none (ignored) */
    size_t n_from;
};

/* The delta and tree artifacts in an index of referrers, at most OCI_DELTA_REFERRERS_MAX; others
 * and damaged ones are skipped. In the arena. Errors: E_PARSE, it is not an index. */
int oci_delta_referrers(struct arena *a, struct str index, struct oci_delta_referrer **ret,
                        size_t *ret_n, struct err *err);
