/* SPDX-License-Identifier: Apache-2.0 */
/* The documents of a refactored image: equal input gives equal bytes. Pure. */
#pragma once

#include "base/buf.h"
#include "image/layer_write.h"
#include "oci/source.h"

#define IMAGE_ANNOTATION "image.dormouse.dev/"

struct image_document_layer {
    const struct image_layer_blob *blob;
    uint32_t n_sharers; /* images of the group that have it; 1: only this image */
};

/*
 * The configuration with other layers: rootfs.diff_ids and history are replaced, everything else is
 * kept. The history keeps the original steps, marked as without layers, and gets one step for each
 * layer; steps of an earlier refactoring are dropped. Errors: E_PARSE, those of `to`.
 */
int image_config_rewrite(struct str source, const struct image_document_layer *layers, size_t n,
                         struct buf *to, struct err *err);
/* The manifest. Its source and subject are those of `source` if that is a refactored form itself,
 * else `source`. `plan`: text of the annotation that describes the method. newest: creation time of
 * the newest image of the group (RFC 3339), anything else: not known. */
int image_manifest_write(const struct oci_image *source, const struct oci_digest *config,
                         uint64_t config_size, const struct image_document_layer *layers, size_t n,
                         struct str plan, struct str newest, struct buf *to, struct err *err);

/* The same for a version that has the layers of an older one and a delta on top: `below` are the
 * DiffIDs of those. */
int image_config_append(struct str source, const struct oci_digest *below, size_t n_below,
                        const struct image_layer_blob *delta, struct buf *to, struct err *err);
/* `below`: the manifest of the older version, whose descriptors of layers are copied. */
int image_manifest_append(struct str below, const struct oci_image *source,
                          const struct oci_digest *config, uint64_t config_size,
                          const struct image_layer_blob *delta, struct str newest, struct buf *to,
                          struct err *err);
