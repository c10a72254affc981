/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers written as files below a directory. Two forms: the layers of an image applied one over the
 * other, as OCI image-spec (layer.md, "Applying Changesets") says, which gives a root file system;
 * or one layer as overlayfs expects a lower directory (Linux, filesystems/overlayfs.rst): whiteouts
 * are character devices 0/0, directories that hide what is below have an attribute.
 *
 * No path leaves the directory: the kernel resolves parents below it (openat2, RESOLVE_IN_ROOT) and
 * refuses symbolic links on the way. Nothing else may change the directory meanwhile. Of files the
 * owner is set first, then mode, attributes and times; directories get theirs at the end, deepest
 * first. Blocking calls; one directory for one thread at a time.
 */
#pragma once

#include "oci/layer_parse.h"
#include "oci/tree.h"

enum layer_dir_form {
    LAYER_DIR_MERGED,       /* for any number of layers */
    LAYER_DIR_OVERLAY,      /* for one; attributes trusted.overlay.* */
    LAYER_DIR_OVERLAY_USER, /* for one; user.overlay.*, which a mount with `userxattr` reads */
};

enum {
    LAYER_DIR_OPAQUE_DEPTH_MAX = 256
}; /* directories below one another that whiteouts go through */

struct layer_dir_opts {
    enum layer_dir_form form;
    /* What to do below a symbolic link; in an overlay form, where lower layers are not known, it
     * concerns links of the layer itself. */
    enum oci_symlink_parent symlink_parent;
    /* Without privileges: every file belongs to the caller and has neither the set-user-ID nor the
     * set-group-ID bit, which would lend the caller's rights; devices are left out. */
    bool is_rootless;
    /* Devices are left out: a node of the host's disk is the disk, to any program that sees it. */
    bool has_no_devices;
};

struct layer_dir_counts {
    /* In the directory, after layer_dir_finish(): names, and bytes of files, holes included, a file
     * with several names once. */
    uint64_t entries, bytes;
    uint64_t devices; /* left out */
    uint64_t xattrs;  /* left out: the file system or the kernel does not take them */
    /* Directories below the root for which no layer has an entry: 0755, owner 0, time 0. */
    uint64_t implicit;
};

struct layer_dir;

/*
 * root_fd: a directory, empty at first; gone_fd: an empty directory of the same file system, where
 * what is removed is moved first. Both kept until layer_dir_free().
 */
struct layer_dir *layer_dir_new(int root_fd, int gone_fd, const struct layer_dir_opts *opts);
void layer_dir_free(struct layer_dir *d);
DEFINE_SCOPED(layer_dir, layer_dir_free)

/*
 * What a layer is given to; arg is the struct layer_dir. Errors: those of system calls with the
 * path
 * (-ENOSPC, -EPERM), E_PARSE (a hard link to what is not there, an entry below
 * a symbolic link), E_UNSUPPORTED (an attribute that changes what a program may do cannot be kept).
 * After an error only layer_dir_free().
 */
extern const struct layer_ops layer_dir_ops;
/*
 * Instead of giving an entry of a file with its content: make its path a name of the file `name` in
 * dir_fd, which has both and its attributes. Returns 1, or 0 if that cannot be: there is none, it
 * is on another file system, or has too many names.
 */
int layer_dir_link(struct layer_dir *d, const struct oci_entry *e, int dir_fd, const char *name,
                   struct err *err);
/* Give the file that was written last, completely, one more name elsewhere. Errors: of linkat(). */
int layer_dir_keep(const struct layer_dir *d, int dir_fd, const char *name);
/* Between two layers, and after the last one. */
int layer_dir_end_layer(struct layer_dir *d, struct err *err);
/* After the last one: attributes of directories. */
int layer_dir_finish(struct layer_dir *d, struct err *err);

const struct layer_dir_counts *layer_dir_get_counts(const struct layer_dir *d);
