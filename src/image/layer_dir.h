/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers written as files below a directory, in one of two forms: the layers of an image applied
 * one over the other (OCI image-spec, layer.md, "Applying Changesets"), which gives a root file
 * system; or one layer as overlayfs expects a lower directory (Linux, filesystems/overlayfs.rst):
 * whiteouts are character devices 0/0, directories that hide lower ones have an attribute.
 *
 * No path leaves the directory: the kernel resolves parents below it (openat2, RESOLVE_IN_ROOT) and
 * rejects symbolic links on the way. No other process may change the directory at the same time.
 * For files the owner is set first, then mode, attributes and times; directories get theirs at the
 * end, deepest first. Blocking calls; one thread at a time per directory.
 */
#pragma once

#include "oci/layer_parse.h"
#include "oci/tree.h"

enum layer_dir_form {
    LAYER_DIR_MERGED,       /* for any number of layers */
    LAYER_DIR_OVERLAY,      /* for one; attributes trusted.overlay.* */
    LAYER_DIR_OVERLAY_USER, /* for one; user.overlay.*, which a mount with `userxattr` reads */
};

enum { LAYER_DIR_OPAQUE_DEPTH_MAX = 256 }; /* nested directories that a whiteout deletes */

struct layer_dir_opts {
    enum layer_dir_form form;
    /* What to do below a symbolic link; in an overlay form, without the lower layers, only for
     * links of the layer itself. */
    enum oci_symlink_parent symlink_parent;
    /* Without privileges: every file belongs to the caller and has neither the set-user-ID nor the
     * set-group-ID bit, which would grant the caller's rights; devices are skipped. */
    bool is_rootless;
    /* Skip devices: a node of the host's disk gives access to the disk to any program that sees it.
     */
    bool has_no_devices;
};

struct layer_dir_counts {
    /* In the directory, after layer_dir_finish(): names, and bytes of files, holes included; a file
     * with several names counts once. */
    uint64_t entries, bytes;
    uint64_t devices; /* skipped */
    uint64_t xattrs;  /* skipped: not supported by the file system or the kernel */
    /* Directories below the root for which no layer has an entry: 0755, owner 0, time 0. */
    uint64_t implicit;
};

struct layer_dir;

/*
 * root_fd: a directory, empty at first; gone_fd: an empty directory of the same file system, to
 * which removed files are moved first. Both kept until layer_dir_free().
 */
struct layer_dir *layer_dir_new(int root_fd, int gone_fd, const struct layer_dir_opts *opts);
void layer_dir_free(struct layer_dir *d);
DEFINE_SCOPED(layer_dir, layer_dir_free)

/*
 * The receiver of a layer; arg is the struct layer_dir. Errors: those of system calls with the path
 * (-ENOSPC, -EPERM), E_PARSE (a hard link to a missing path, an entry below a symbolic link),
 * E_UNSUPPORTED (an attribute that affects what a program may do cannot be set). After an error
 * only layer_dir_free() may be called.
 */
extern const struct layer_ops layer_dir_ops;
/*
 * Create a file as a hard link, instead of its entry and content: its path becomes a name of the
 * file `name` in dir_fd, which has the content and the attributes. Returns 1, or 0 if that is not
 * possible: there is none, it is on another file system, or has too many names.
 */
int layer_dir_link(struct layer_dir *d, const struct oci_entry *e, int dir_fd, const char *name,
                   struct err *err);
/* Give the last complete file one more name elsewhere. Errors: of linkat(). */
int layer_dir_keep(const struct layer_dir *d, int dir_fd, const char *name);
/* Between two layers, and after the last one. */
int layer_dir_end_layer(struct layer_dir *d, struct err *err);
/* After the last one: attributes of directories. */
int layer_dir_finish(struct layer_dir *d, struct err *err);

const struct layer_dir_counts *layer_dir_get_counts(const struct layer_dir *d);
