/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that a node store has, by the digests of their contents and by their paths: what a pull
 * need not fetch, and what a new version of a file is likely to resemble. Made from the indexes of
 * the layers whose tars or files are kept (forms "raw", "both", "cas"), those used last first, as
 * far as the limits reach.
 *
 * Blocking. Any number of threads once it is made.
 */
#pragma once

#include "oci/store.h"

enum {
    OCI_CONTENTS_LAYERS_MAX = 256, /* also the descriptors that it may hold open */
    OCI_CONTENTS_ENTRIES_MAX = 1 << 20,
};

struct oci_contents;

struct oci_content {
    /* Of the tar, borrowed until oci_contents_free(): the layer may be removed meanwhile. -1: it is
     * an object, which may leave the store. */
    int fd;
    uint64_t at, size;
    struct oci_digest digest, layer;
};

/* *ret: given, oci_contents_free(). Layers that cannot be read are left out, and so are those for
 * which may_show says no; NULL: all may be shown. */
int oci_contents_new(struct oci_store *s, oci_layer_filter may_show, struct oci_contents **ret,
                     struct err *err);
/* The same of these layers alone, the first ones before the others. */
struct oci_contents *oci_contents_of(struct oci_store *s, const struct oci_digest *layers, size_t n,
                                     oci_layer_filter may_show);
void oci_contents_free(struct oci_contents *c);
DEFINE_SCOPED(oci_contents, oci_contents_free)

/* How many layers and files it knows. */
size_t oci_contents_n_layers(const struct oci_contents *c);
size_t oci_contents_n(const struct oci_contents *c);
/* A file with this content. false: there is none, or its layer is gone. */
bool oci_contents_find(struct oci_contents *c, const struct oci_digest *digest, uint64_t size,
                       struct oci_content *ret);
/* The same of any size. */
bool oci_contents_get(struct oci_contents *c, const struct oci_digest *digest,
                      struct oci_content *ret);
/*
 * A file that is likely an older version of the one at `path`: of the same path, or of one that
 * differs in numbers alone ("libz.so.1.2.11" for "libz.so.1.2.13"). false: there is none.
 */
bool oci_contents_like(struct oci_contents *c, struct str path, struct oci_content *ret);
/*
 * n bytes of the content from `offset` on, which it has. They are NOT compared with its digest.
 * Errors: E_CORRUPT, it is shorter than the index says; -ENOENT, it has left the store.
 */
int oci_contents_read(const struct oci_contents *c, const struct oci_content *from, char *to,
                      size_t n, uint64_t offset, struct err *err);
/*
 * r: of making something with this content. Where it says that the bytes are wrong (E_DIGEST,
 * E_PARSE, E_CORRUPT), the content is read and compared with its digest: -EIO, it is damaged here,
 * so that nothing is known of the other bytes. Else r, and err as it is.
 */
int oci_contents_judge(const struct oci_contents *c, const struct oci_content *from, int r,
                       struct err *err);
