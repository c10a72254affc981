/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mounting an image of the node store from the tars that the store keeps. The EROFS image of its
 * directories is written once to images/<manifest>/ (oci/store.h), where gc removes it with the
 * image; its file name has the version of what erofs.c writes and how symbolic links were
 * read, the two things besides the layers that decide its content.
 *
 * Blocking calls, by the process that writes the store.
 */
#pragma once

#include "image/mount.h"
#include "oci/source.h"
#include "oci/store.h"
#include "oci/tree.h"

/* Where the manifest of `image` is the one that the store has. */
struct stored {
    struct oci_store *store;
    const struct oci_image *image;
    enum oci_symlink_parent symlink_parent;
};

/* Whether the kernel mounts EROFS images with devices in the file system of the store. */
bool stored_can_mount(struct oci_store *store);

/*
 * Write the EROFS image, unless it is there. Errors: E_UNSUPPORTED, the store's tars cannot be
 * devices: only the blob of a layer is kept, a tar ends within a block, or has sparse files;
 * -ENOENT, a layer is missing; of oci_tree_apply(), erofs_write() and writing.
 */
int stored_prepare(const struct stored *s, struct err *err);
/* After stored_prepare(). A damaged EROFS image that the kernel refuses is written again. Errors:
 * those of stored_prepare() and mount_erofs(). */
int stored_mount(const struct stored *s, const char *target, const struct mount_opts *opts,
                 struct err *err);
