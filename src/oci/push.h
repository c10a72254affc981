/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pushing an image from any source into a repository of a registry: blobs first, then manifests,
 * then the tag, so that the tag always names a complete image. Manifests are pushed bit for bit and
 * keep their digests; for docker-archive, which has none, an OCI manifest is made. Blocks.
 */
#pragma once

#include "oci/source.h"

enum { OCI_PUSH_DOCUMENTS_MAX = 4096 }; /* manifests and indexes of a push, each counted once */

struct oci_push_news {
    const struct oci_descriptor *blob;
    bool is_done;
    uint64_t n_bytes;    /* sent so far */
    enum oci_pushed how; /* set when it is done */
};

struct oci_push_opts {
    struct oci_platform platform; /* of an index */
    bool all;                     /* instead: the index, with all manifests that it lists */
    void (*news)(void *arg, const struct oci_push_news *news); /* NULL: none */
    void *arg;
};

struct oci_push_result {
    struct oci_digest digest; /* of the manifest or index that the tag names now */
    size_t n_uploaded, n_mounted, n_existed;
    uint64_t n_bytes; /* uploaded */
};

/*
 * The reference of `to` has a tag. Errors: those of the source and of oci/remote.h; E_INVALID: the
 * reference has a digest; E_LIMIT: too many documents.
 */
int oci_push(struct oci_source *from, struct oci_remote *to, const struct oci_push_opts *opts,
             struct oci_push_result *ret, struct err *err);
