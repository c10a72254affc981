/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A layer of a refactored image as a blob: its entries sorted by the bytes of their paths, so that
 * parents precede what is in them, as a tar (codec/tar_write.h) in gzip (codec/gzip_members.h). Of
 * the names of an inode the first holds the content, the others are hard links to it. The same
 * entries give the same bytes.
 */
#pragma once

#include "image/spool.h"
#include "oci/image.h"

struct image_item {
    struct str path, link;
    const struct oci_entry *entry; /* rights, size, content; NULL: a directory 0755 0:0, or a whiteout */
    const void *inode;             /* items with the same one are hard links; NULL: none is */
    int64_t mtime_s;
    uint32_t mtime_ns;
    uint8_t type; /* enum tar_type; TAR_SYMLINK with an entry of a file: a link in its place */
};

struct image_layer_blob {
    struct oci_digest diff_id, digest;
    uint64_t size, tar_size; /* compressed or not */
    uint64_t n_files;
};

/* Sorts `items`. `fd`: gets the blob. Errors: those of the spool, of tar_write_header(), what
 * writing gives. */
int image_layer_write(struct image_item *items, size_t n, const struct image_spool *spool, int fd,
                      struct image_layer_blob *ret, struct err *err);
