/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files in a node store, by the digest of the content and by path. A pull need not fetch them,
 * and may use them as bases for new versions. Made from the indexes of the layers whose tars or
 * files are kept (forms "raw", "both", "cas"), the most recently used first, up to the limits
 * below.
 *
 * Blocking. Any number of threads after it was made.
 */
#pragma once

#include "oci/store.h"

enum {
    OCI_CONTENTS_LAYERS_MAX = 256, /* also the maximum of descriptors that it holds open */
    OCI_CONTENTS_ENTRIES_MAX = 1 << 20,
};

struct oci_contents;

struct oci_content {
    /* Of the tar, borrowed until oci_contents_free(): the layer may be removed in the meantime. -1:
     * it is an object, which may be removed from the store. */
    int fd;
    uint64_t at, size;
    struct oci_digest digest, layer;
};

/* *ret: given, oci_contents_free(). Skips layers that cannot be read, and layers for which may_show
 * returns false; NULL: all may be shown. */
int oci_contents_new(struct oci_store *s, oci_layer_filter may_show, struct oci_contents **ret,
                     struct err *err);
/* The same of these layers only; the first ones take precedence. */
struct oci_contents *oci_contents_of(struct oci_store *s, const struct oci_digest *layers, size_t n,
                                     oci_layer_filter may_show);
void oci_contents_free(struct oci_contents *c);
DEFINE_SCOPED(oci_contents, oci_contents_free)

/* How many layers and files it knows. */
size_t oci_contents_n_layers(const struct oci_contents *c);
size_t oci_contents_n(const struct oci_contents *c);
/* A file with this content. false: there is none, or its layer was removed. */
bool oci_contents_find(struct oci_contents *c, const struct oci_digest *digest, uint64_t size,
                       struct oci_content *ret);
/* The same of any size. */
bool oci_contents_get(struct oci_contents *c, const struct oci_digest *digest,
                      struct oci_content *ret);
/*
 * A file that is probably an older version of the one at `path`: it has the same path, or one that
 * differs only in numbers ("libz.so.1.2.11" for "libz.so.1.2.13"). false: there is none.
 */
bool oci_contents_like(struct oci_contents *c, struct str path, struct oci_content *ret);
/*
 * Read n bytes of the content from `offset` on. They are NOT compared with the digest. Errors:
 * E_CORRUPT, it is shorter than the index says; -ENOENT, it was removed from the store.
 */
int oci_contents_read(const struct oci_contents *c, const struct oci_content *from, char *to,
                      size_t n, uint64_t offset, struct err *err);
/*
 * Explain the error r of an operation that used this content. If r says that the result is wrong
 * (E_DIGEST, E_PARSE, E_CORRUPT), the content is read and compared with its digest. Returns -EIO if
 * it is damaged here, so that r says nothing about the received data; else r, and err is unchanged.
 */
int oci_contents_explain_error(const struct oci_contents *c, const struct oci_content *from, int r,
                               struct err *err);
