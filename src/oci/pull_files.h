/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A layer made from files that the store has and others that the origin gives by their digests,
 * packed against older versions of them:
 *
 *     tree manifest -> which files are missing -> parcels -> the tar -> an import like any other
 *
 * The import compares the DiffID, so whatever the origin sent, what becomes visible is the layer.
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
    struct oci_table_reader *tables; /* NULL: this process, for trees that it made itself */
    uint64_t blob_size;              /* of what is fetched otherwise */
    /* Instead of the origin: the bytes of a delta (oci/layer_delta.h) that was made in advance;
     * empty: none. */
    struct str delta;
};

struct oci_pull_files_result {
    uint64_t n_bytes;     /* received and sent, also when it fails */
    uint64_t n_tar_bytes; /* of the layer */
    uint64_t n_reused;    /* of them from the store */
};

/*
 * Errors: -EEXIST, the store has the layer by now; E_UNSUPPORTED, the origin or the store has too
 * little of it; -ENOSPC; others likewise mean that the blob has to be fetched.
 */
int oci_pull_files(const struct oci_pull_files *how, struct oci_pull_files_result *ret,
                   struct err *err);
/* Ask the origin for the same, compare the files with their digests, and make no layer: for whoever
 * keeps the answers. Errors: likewise. */
int oci_pull_files_ask(const struct oci_pull_files *how, struct oci_pull_files_result *ret,
                       struct err *err);
