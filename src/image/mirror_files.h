/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the registry mirror gives besides what registries do, from layers whose tars or files
 * the store keeps: tree manifests, and files by their digests, packed against what the client has.
 * Both end in a file without a name, so that no answer is held in memory while it is sent. Layers
 * that are private to a tenant (image/layer_rights.h) count as missing.
 *
 * Blocking calls, by any thread.
 */
#pragma once

#include "oci/store.h"

/*
 * The tree manifest (oci/tree_manifest.h) of a layer. *ret: an open descriptor; *ret_size: its
 * bytes. Errors: -ENOENT, the store lacks the layer or keeps only its blob; E_CORRUPT, E_LIMIT.
 */
int mirror_files_tree(struct oci_store *s, const struct oci_digest *diff_id, int *ret,
                      uint64_t *ret_size, struct err *err);
/*
 * The answer to a request for files (oci/file_parcel.h). Bases that are not here are left out, and
 * so are files. Errors: E_PARSE, E_VERSION, E_LIMIT, of the request; -ENOENT, no layer that it
 * names is here.
 */
int mirror_files_parcel(struct oci_store *s, struct str request, int *ret, uint64_t *ret_size,
                        struct err *err);
