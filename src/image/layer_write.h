/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A layer of a refactored image as a blob: its entries sorted by the bytes of their paths, so that
 * parents precede their children, as a tar (codec/tar_write.h) in gzip (codec/pieces.h). The first
 * name of an inode has the content, the others are hard links to it. Equal entries give equal
 * bytes.
 *
 * An eStargz blob is the same, with members that begin and end with the contents of files, and
 * three more entries: a landmark and the table of contents (oci/chunked_write.h). Files that the
 * start of an image opens come first, with their parent directories.
 *
 * A zstd:chunked blob is the same tar in zstd, with frames that begin and end with contents; the
 * table, the tar-split (oci/tar_split.h) and a footer come after the tar, in skippable frames.
 */
#pragma once

#include "base/map.h"
#include "image/spool.h"
#include "oci/chunked_write.h"
#include "oci/layer_tree.h"

enum image_layer_kind { IMAGE_LAYER_GZIP, IMAGE_LAYER_ESTARGZ, IMAGE_LAYER_ZSTD_CHUNKED };

struct image_item {
    struct str path, link;
    const struct oci_entry
        *entry;        /* rights, size, content; NULL: a directory 0755 0:0, or a whiteout */
    const void *inode; /* items with the same one are hard links; NULL: none is */
    int64_t mtime_s;
    uint32_t mtime_ns;
    uint8_t type; /* enum tar_type; TAR_SYMLINK with an entry of a file: replaced by a link */
};

struct image_layer_blob {
    struct oci_digest diff_id, digest;
    uint64_t size, tar_size; /* compressed or not */
    uint64_t n_files;
    enum image_layer_kind kind;
    struct oci_digest table;           /* of eStargz: of its JSON */
    struct oci_zstd_chunked_tail tail; /* of zstd:chunked */
    struct oci_member *members;        /* of the blob, in its order; of zstd:chunked none */
    size_t n_members;
};
void image_layer_blob_fini(struct image_layer_blob *b);

/* How blobs are written. */
struct image_layer_form {
    enum image_layer_kind kind;
    const struct map *start; /* of eStargz: SHA-256 of contents to put first; NULL: none */
};

/* Sorts `items`. `fd`: receives the blob. *ret: given, image_layer_blob_fini(). Errors: those of
 * the spool, of tar_write_header(), of oci_toc_add(), of writing. */
int image_layer_write(struct image_item *items, size_t n, const struct image_spool *spool,
                      const struct image_layer_form *form, int fd, struct image_layer_blob *ret,
                      struct err *err);
