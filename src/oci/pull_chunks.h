/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A layer from ranges of its blob, where the blob says in which of them its files are
 * (oci/chunked.h): what the store has of them is not fetched.
 *
 *     table of contents -> which chunks are here -> ranges, and chunks as stored frames -> an
 * import
 *
 * What is put together is a compressed stream like the blob, so that the same confined process
 * inflates it; its digest is another one, so the DiffID alone is compared, and proves the layer.
 * Blocking; several layers at once.
 */
#pragma once

#include "oci/contents.h"
#include "oci/pull.h"

enum {
    OCI_PULL_SKIP_BYTES = 64 << 10, /* fewer bytes are fetched rather than left out */
    OCI_PULL_RANGES_MAX = 64,       /* requests for a layer; then longer gaps are fetched, too */
};

/* Whether the blob's descriptor says that it has a table. */
bool oci_pull_chunks_may(const struct oci_descriptor *blob);

struct oci_pull_chunks {
    struct oci_store *s;
    struct oci_contents *contents;
    const struct oci_origin *origin; /* with parts */
    const struct oci_descriptor *blob;
    struct oci_import_opts import; /* diff_id, reading and bounds */
};

struct oci_pull_chunks_result {
    uint64_t n_bytes;     /* fetched, also when it fails */
    uint64_t n_tar_bytes; /* of the layer */
};

/*
 * Errors: -EEXIST, the store has the layer by now; E_UNSUPPORTED, the store has too little of it,
 * or the origin gives no ranges; others likewise mean that the blob has to be fetched as a whole.
 */
int oci_pull_chunks(const struct oci_pull_chunks *how, struct oci_pull_chunks_result *ret,
                    struct err *err);
