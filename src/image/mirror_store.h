/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks up in the node store what a client of the registry mirror requests.
 *
 * What is private to a tenant (image/layer_rights.h) is reported as missing: layers by the digests
 * of their blobs and of their tars, manifests, indexes and configurations, and whole images with a
 * private layer. Knowing a digest gives a client no access. Only a request with a token of the
 * cluster for one blob gets that blob in any case.
 *
 * An image whose compressed blobs are kept is served as it was pulled. For an image whose layers
 * are only kept as tars or files (the forms "raw" and "cas") its tag refers to a manifest made
 * here, with the tars as layers: other digests than in the registry, the same file system. Such a
 * manifest is also served by its digest, as long as it is among the last MIRROR_MADE_MAX that were
 * made.
 *
 * The content of a manifest that was served stays available for MIRROR_KEEP_MS, even if gc,
 * eviction or another process removes it in the meantime: its files are held open. So are answers
 * to requests for trees and files, which are unnamed files: on the disk they do not count for the
 * quota.
 *
 * Blocking calls, by any thread.
 */
#pragma once

#include "image/mirror.h"
#include "oci/store.h"

enum {
    MIRROR_MADE_MAX = 64,
    MIRROR_KEEP_MS = 5 * 60 * 1000,
    MIRROR_KEPT_MAX = 512, /* files; past it the oldest is closed */
    MIRROR_ANSWERS_MAX = 64,
    MIRROR_ANSWERS_BYTES_MAX = 64 << 20, /* or one answer that alone has more */
    MIRROR_BODY_MAX = OCI_DOCUMENT_MAX,
    MIRROR_TYPE_MAX = 127,
};

struct mirror;
struct mirror *mirror_new(struct oci_store *store); /* kept */
void mirror_free(struct mirror *m);

struct mirror_found {
    struct buf body; /* of documents, tags and referrers; mirror_found_fini() */
    int fd;          /* of a blob; -1: it is in the tar or in the body. The caller closes it. */
    struct oci_store_tar *tar; /* of a layer whose files are objects; NULL: none */
    uint64_t size;             /* of any of them */
    struct oci_digest digest;
    bool has_digest;
    struct oci_digest stored; /* by tag: the manifest that the store has under the name, */
    bool is_refactored;       /* and whether that is a refactored form (oci/refactored.h) */
    char media_type[MIRROR_TYPE_MAX + 1];
    char next[OCI_TAG_MAX + 1]; /* of tags: more follow this one; empty: none */
};
void mirror_found_fini(struct mirror_found *f);

/* n bytes of what is found, from its fd or tar, or fewer at its end. */
ssize_t mirror_found_read(const struct mirror_found *f, char *to, size_t n, uint64_t offset);

/*
 * Close what was held open until `now_ms`; UINT64_MAX: all of it. Returns when the next is due,
 * UINT64_MAX: nothing is held.
 */
uint64_t mirror_sweep(struct mirror *m, uint64_t now_ms);

/*
 * accepts_index: by tag, an index where the image was chosen from one. *ret: given,
 * mirror_found_fini(). Errors: -ENOENT, the store lacks it, or lacks a layer of the image;
 * E_CORRUPT.
 */
int mirror_find(struct mirror *m, const struct mirror_request *q, bool accepts_index,
                struct mirror_found *ret, struct err *err);
