/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A layer as its uncompressed tar and its index, for erofs.h: one sequential write instead of a
 * file for each entry. The content of sparse files, whose pieces are not in block order in the tar,
 * is in a second file, with holes. One thread at a time per layer.
 */
#pragma once

#include "oci/layer_parse.h"

struct layer_tar;

/* tar_fd, sparse_fd: empty files, written from their beginning; kept until layer_tar_free(). */
struct layer_tar *layer_tar_new(int tar_fd, int sparse_fd);
void layer_tar_free(struct layer_tar *t);
DEFINE_SCOPED(layer_tar, layer_tar_free)

/* The receiver of the layer; arg is the struct layer_tar. Errors: of writing, E_LIMIT. */
extern const struct layer_ops layer_tar_ops;

struct layer_tar_result {
    struct oci_layer *layer; /* given, oci_layer_free(); entries have no digests. data_offset is one
                                in the tar, or of sparse files in the second file */
    uint64_t tar_bytes, sparse_bytes; /* multiples of 512 */
};

/* After the last byte. The layer's DiffID is that of the bytes which were written. Errors: of
 * writing. */
int layer_tar_end(struct layer_tar *t, struct layer_tar_result *ret, struct err *err);
