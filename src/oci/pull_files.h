/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a layer from files of the store and files that the origin supplies by their digests, packed
 * against older versions of them:
 *
 *     tree manifest -> which files are missing -> parcels -> the tar -> an import like any other
 *
 * The import compares the DiffID, so a wrong answer of the origin cannot become a visible layer.
 * Blocking; several layers at once.
 */
#pragma once

#include "oci/contents.h"
#include "oci/pull.h"

struct oci_table_reader;

struct oci_pull_files {
    struct oci_store *s;
    struct oci_contents *contents;
    const struct oci_origin *origin; /* with parts */
    struct oci_import_opts import;   /* diff_id, reading and bounds */
    struct oci_table_reader *tables; /* NULL: parse in this process, for trees of its own */
    uint64_t blob_size;              /* of the blob that would be fetched instead */
    /* The bytes of a delta (oci/layer_delta.h) that was made in advance, used instead of the
     * origin; empty: none. */
    struct str delta;
};

struct oci_pull_files_result {
    uint64_t n_bytes;     /* received and sent, also when it fails */
    uint64_t n_tar_bytes; /* of the layer */
    uint64_t n_reused;    /* of them from the store */
};

/*
 * Errors: -EEXIST, the store has the layer now; E_UNSUPPORTED, the origin or the store has too
 * little of it; -ENOSPC; after all others the caller must fetch the blob, too.
 */
int oci_pull_files(const struct oci_pull_files *how, struct oci_pull_files_result *ret,
                   struct err *err);
/* Ask the origin for the same files and compare them with their digests, but make no layer: for
 * callers that keep the answers. Errors: likewise. */
int oci_pull_files_ask(const struct oci_pull_files *how, struct oci_pull_files_result *ret,
                       struct err *err);
