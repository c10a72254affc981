/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mounting an image of the node store from the tars that the store keeps. The EROFS image of its
 * directories is written once to images/<manifest>/ (oci/store.h), where gc removes it with the
 * image; its file name has the version of what erofs.c writes and how symbolic links were
 * read, and which layers are kept as objects: the things besides the layers that decide its
 * content.
 *
 * Blocking calls, by the process that writes the store; what it prepared another one may mount, as
 * a reader that has a lease on the image.
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

/* Whether the kernel mounts EROFS images with devices in the file system of the store; for
 * has_objects, those whose content is objects. */
bool stored_can_mount(struct oci_store *store, bool has_objects);

/* Layers of the image are kept as objects (OCI_STORE_CAS): what stored_mount() mounts shows zeros
 * in their files, and an overlay over it with the objects as its data shows their content. */
bool stored_has_objects(const struct stored *s);
/* Keep all layers of the image so; those that cannot be (oci_store_layer_share()) stay as they are.
 */
int stored_share(const struct stored *s, struct err *err);

/*
 * Write the EROFS image, unless it is there and whole. Errors: E_UNSUPPORTED, the store's tars
 * cannot be devices: only the blob of a layer is kept, a tar ends within a block, or has sparse
 * files; -ENOENT, a layer is missing; of oci_tree_apply(), erofs_write() and writing.
 */
int stored_prepare(const struct stored *s, struct err *err);
/* After stored_prepare(). A damaged EROFS image that the kernel refuses is written again, by a
 * writer. Errors: those of stored_prepare() and mount_erofs(). */
int stored_mount(const struct stored *s, const char *target, const struct mount_opts *opts,
                 struct err *err);
