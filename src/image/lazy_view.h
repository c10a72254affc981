/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data of an image that a lazy start needs first: the EROFS image of its directories, and its
 * files, as distinct contents. Contents are served separately (image/lazy_guard.h), by their
 * digests. Pure; any thread after it was made.
 */
#pragma once

#include "base/buf.h"
#include "oci/tree.h"

enum { LAZY_FILES_MAX = 1 << 20 };

struct lazy_file {
    uint8_t digest[SHA256_BYTES];
    uint64_t size;  /* bytes, at least 1 */
    uint64_t at;    /* offset of the content in the layer's tar */
    uint32_t layer; /* a layer that has it, from 0 at the bottom */
};

struct lazy_view {
    struct buf erofs;
    struct lazy_file *files; /* sorted by digest; including files that upper layers hide */
    uint32_t *in_order;      /* their indexes in the order of the layers, bottom first */
    size_t n;
    uint64_t n_bytes; /* of all files */
};

/*
 * layers: bottom first. uuid: of the EROFS image. Errors: E_UNSUPPORTED, a layer has sparse files;
 * E_LIMIT; E_PARSE, one content with two sizes; those of oci_tree_apply() and erofs_write().
 */
int lazy_view_make(struct oci_layer *const *layers, size_t n, enum oci_symlink_parent how,
                   const uint8_t uuid[16], struct lazy_view *ret, struct err *err);
void lazy_view_fini(struct lazy_view *v); /* zeroed is fine */
/* The index of a content, or -1. */
ptrdiff_t lazy_view_find(const struct lazy_view *v, const uint8_t digest[SHA256_BYTES]);
