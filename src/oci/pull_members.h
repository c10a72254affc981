/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a layer from the gzip members of its blob that have files which the store lacks
 * (oci/layer_tree.h); the other files come from the tree manifest and the store:
 *
 *     tree -> which files are missing -> ranges of the blob, the rest as stored members -> import
 *
 * The stream is compressed like the blob, and the same confined process inflates it. Its digest
 * differs from that of the blob, so only the DiffID is compared; that verifies the layer. Blocking;
 * several layers at once.
 */
#pragma once

#include "oci/contents.h"
#include "oci/pull.h"

struct oci_table_reader;

enum {
    OCI_PULL_MEMBERS_SKIP_BYTES = 64 << 10, /* shorter gaps are fetched instead of skipped */
    OCI_PULL_MEMBERS_RANGES_MAX = 64,       /* beyond this, longer gaps are fetched, too */
};

struct oci_pull_members {
    struct oci_store *s;
    struct oci_contents *contents;
    const struct oci_origin *origin; /* with parts */
    const struct oci_descriptor *blob;
    struct oci_import_opts import; /* diff_id, reading and bounds */
    struct oci_table_reader *tables;
    struct str tree; /* of the layer, as attached */
};

struct oci_pull_members_result {
    uint64_t n_bytes;     /* fetched, also when it fails */
    uint64_t n_tar_bytes; /* of the layer */
};

/*
 * Errors: -EEXIST, the store has the layer now; E_UNSUPPORTED, the store has too little of it, or
 * the origin supports no ranges; after all others the caller must fetch the blob, too.
 */
int oci_pull_members(const struct oci_pull_members *how, struct oci_pull_members_result *ret,
                     struct err *err);
