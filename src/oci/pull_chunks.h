/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A layer from ranges of its blob, where the blob says in which of them its files are
 * (oci/chunked.h): what the store has of them is not fetched.
 *
 *     table of contents -> which chunks are here -> ranges, and chunks as stored frames -> import
 *
 * Several ranges are one request where the origin knows that, so that small files are worth leaving
 * out; it is tried, and what it did not give is fetched range by range.
 *
 * What is put together is a compressed stream like the blob, so that the same confined process
 * inflates it; its digest is another one, so the DiffID alone is compared, and proves the layer.
 * Blocking; several layers at once.
 */
#pragma once

#include "oci/contents.h"
#include "oci/pull.h"

#include <stdatomic.h>

struct oci_table_reader;

enum {
    /* Where each range is a request: fewer bytes are fetched rather than left out; requests for a
     * layer, then longer gaps are fetched, too. */
    OCI_PULL_SKIP_BYTES = 64 << 10,
    OCI_PULL_RANGES_MAX = 64,
    /* The same where a request has OCI_RANGES_MAX of them. */
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
    /* Set when the origin has answered a request for several ranges with something else: it gets
     * one range in a request from then on. A broken connection is no answer. */
    atomic_bool *knows_one_range;
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
