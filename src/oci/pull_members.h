/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A layer from those gzip members of its blob in which files are that the store lacks
 * (oci/layer_tree.h); what the others hold comes from the tree manifest and the store:
 *
 *     tree -> which files are missing -> ranges of the blob, and the rest as stored members ->
 * import
 *
 * The stream is compressed like the blob, and the same confined process inflates it; its digest is
 * another one, so the DiffID alone is compared, and proves the layer. Blocking; several layers at
 * once.
 */
#pragma once

#include "oci/contents.h"
#include "oci/pull.h"

struct oci_table_reader;

enum {
    OCI_PULL_MEMBERS_SKIP_BYTES = 64 << 10, /* less is fetched rather than left out */
    OCI_PULL_MEMBERS_RANGES_MAX = 64,       /* then longer gaps are fetched, too */
};

struct oci_pull_members {
    struct oci_store *s;
    struct oci_contents *contents;
    const struct oci_origin *origin; /* with parts */
    const struct oci_descriptor *blob;
    struct oci_import_opts import; /* diff_id, reading and bounds */
    struct oci_table_reader *tables;
    struct str tree; /* of the layer, as it was attached */
};

struct oci_pull_members_result {
    uint64_t n_bytes;     /* fetched, also when it fails */
    uint64_t n_tar_bytes; /* of the layer */
};

/*
 * Errors: -EEXIST, the store has the layer by now; E_UNSUPPORTED, the store has too little of it,
 * or the origin gives no ranges; others likewise mean that the blob has to be fetched.
 */
int oci_pull_members(const struct oci_pull_members *how, struct oci_pull_members_result *ret,
                     struct err *err);
