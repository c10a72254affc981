/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pulls a layer by ranges of its blob, if the blob has a table of its files (oci/chunked.h): files
 * that the store has are not fetched.
 *
 *     table of contents -> which chunks are stored -> ranges, and chunks as stored frames -> import
 *
 * Several ranges go into one request if the origin supports it, so that small files can be skipped,
 * too. It is tried once; ranges that the origin did not return are fetched one by one.
 *
 * The assembled data is a compressed stream like the blob, so that the same confined process
 * inflates it. Its digest differs from that of the blob, so only the DiffID is compared; that
 * verifies the layer. Blocking; several layers at once.
 */
#pragma once

#include "oci/contents.h"
#include "oci/pull.h"

#include <stdatomic.h>

struct oci_table_reader;

enum {
    /* With one range per request: shorter gaps are fetched instead of skipped; the maximum of
     * requests for a layer, beyond which longer gaps are fetched, too. */
    OCI_PULL_SKIP_BYTES = 64 << 10,
    OCI_PULL_RANGES_MAX = 64,
    /* The same if a request has up to OCI_RANGES_MAX ranges. */
    OCI_PULL_SKIP_MANY_BYTES = 512,
    OCI_PULL_RANGES_MANY_MAX = 4096,
};

/* Whether the blob's descriptor says that it has a table. */
bool oci_pull_chunks_may(const struct oci_descriptor *blob);

struct oci_pull_chunks {
    struct oci_store *s;
    struct oci_contents *contents;
    const struct oci_origin *origin; /* with parts */
    const struct oci_descriptor *blob;
    struct oci_import_opts import; /* diff_id, reading and bounds */
    struct oci_table_reader *tables;
    /* Set when the origin has answered a request for several ranges with something else: from then
     * on each request has one range. A broken connection is not an answer. */
    atomic_bool *knows_one_range;
};

struct oci_pull_chunks_result {
    uint64_t n_bytes;     /* fetched, also when it fails */
    uint64_t n_tar_bytes; /* of the layer */
};

/*
 * Errors: -EEXIST, the store has the layer now; E_UNSUPPORTED, the store has too little of it, or
 * the origin supports no ranges; after all others the caller must fetch the whole blob, too.
 */
int oci_pull_chunks(const struct oci_pull_chunks *how, struct oci_pull_chunks_result *ret,
                    struct err *err);
