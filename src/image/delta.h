/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deltas of an image in a registry against an older version of it (oci/layer_delta.h), made from a
 * node store that keeps the tars or the files of both. A delta is read back and compared with the
 * digests of its files before it is pushed.
 *
 * Blocking; one thread.
 */
#pragma once

#include "oci/pull.h"

struct image_deltas_opts {
    struct oci_store *store;
    const struct oci_image *image; /* in the registry, with a manifest */
    const struct oci_digest *from; /* DiffIDs of the older version's layers */
    size_t n_from;
};

struct image_deltas_result {
    struct oci_digest manifest; /* of the artifact */
    size_t n_layers;            /* that have a delta now */
    size_t n_common;            /* that the older version also has */
    size_t n_left;              /* whose delta would be too large, or whose tar the store lacks */
    uint64_t n_bytes;           /* of the deltas */
    uint64_t n_blob_bytes;      /* of the blobs that need not be fetched */
};

/*
 * Push them into the repository of `to` and attach them. Errors: -ENOENT, no layer has a useful
 * delta; those of oci/remote.h, of reading the store.
 */
int image_deltas_push(const struct image_deltas_opts *opts, struct oci_remote *to,
                      struct image_deltas_result *ret, struct err *err);
