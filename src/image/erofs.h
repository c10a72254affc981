/* SPDX-License-Identifier: Apache-2.0 */
/*
 * EROFS images without file data (Linux, filesystems/erofs.rst, and fs/erofs/erofs_fs.h for the
 * layout): directories, attributes and, for each regular file, the position of its content in
 * another file. Those files, uncompressed tars of layers, are the extra devices of the image.
 * Blocks have 512 bytes, as in tars, so every file is one extent that begins at a block.
 *
 * Pure: the same input gives the same bytes. One thread at a time.
 */
#pragma once

#include "base/buf.h"
#include "oci/tree.h"

enum {
    EROFS_BLOCK_BYTES = 512,
    EROFS_IMAGE_MAX = 1 << 30, /* bytes of metadata */
    EROFS_DEVICES_MAX = 2 * 1024,
};

/* A layer of the tree, and the devices with the content of its files, numbered from 1. */
struct erofs_layer {
    const struct oci_layer *layer;
    uint16_t device;        /* the tar; oci_entry.data_offset is an offset in it */
    uint16_t sparse_device; /* for is_sparse: the same for their content, holes included; 0: none */
    /* No device: the content of a file is "/ab/<hex>", by its SHA-256, in a data directory of the
     * overlay that is mounted over the image (struct mount_overlay). Without that, files are zeros.
     */
    bool has_objects;
};

struct erofs_image {
    const struct oci_tree *tree;
    const struct erofs_layer *layers; /* of the tree */
    size_t n_layers;
    const uint64_t *device_bytes; /* device 1 first */
    size_t n_devices;
    uint8_t uuid[16];
    /* Directories that hide what lower layers have, for an image that is a lower layer of
     * overlayfs; NULL: none. */
    const struct map *opaque;
};

struct erofs_counts {
    uint64_t inodes;
    uint64_t xattrs; /* skipped: EROFS cannot hold their names */
};

/*
 * Append the image to `to`, which is empty. Errors: E_LIMIT (too large, a device beyond 2 TiB),
 * E_UNSUPPORTED (a file whose content is on no device).
 */
int erofs_write(const struct erofs_image *image, struct buf *to, struct erofs_counts *ret,
                struct err *err);
