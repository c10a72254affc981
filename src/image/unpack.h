/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images written as directories. Everything is made in a sibling of the result, which gets its name
 * when the digest of every blob and every DiffID were right; a failure, a full disk or kill -9
 * leave no part of the result. What a killed process left is removed by the next one beside it.
 * Blocking calls, for commands and worker threads.
 */
#pragma once

#include "image/layer_child.h"
#include "image/layer_dir.h"
#include "oci/store.h"

enum {
    UNPACK_RATIO_MAX = 100,    /* bytes of a layer's tar for each of its blob ... */
    UNPACK_LAYERS_AT_ONCE = 4, /* by unpack_layers(), no more than there are processors */
};
#define UNPACK_BYTES_MIN ((uint64_t)256 << 20) /* ... or this, if it is more */

/* An image and where its layers are: one of the two. */
struct unpack_from {
    const struct oci_image *image;
    struct oci_source *source;
    struct oci_store *store;
};

struct unpack_opts {
    struct layer_dir_opts dir; /* form: LAYER_DIR_OVERLAY_USER in a user namespace */
    uint64_t max_bytes;        /* of each layer's tar; 0: by UNPACK_RATIO_MAX */
    bool is_not_durable;       /* do not wait until it is on the disk */
    const char *program;       /* as in struct layer_read_opts */
};

/*
 * Write the root file system of an image as the directory `path`, which must not exist or be empty.
 * Errors: -EEXIST, E_DIGEST, those of layer_read() and of struct layer_dir.
 */
int unpack_image(const struct unpack_from *from, const char *path, const struct unpack_opts *opts,
                 struct layer_dir_counts *ret, struct err *err);

/*
 * Write each layer of an image as a directory that overlayfs takes as a lower one (opts->dir.form):
 * `path`/0 is the bottom. Several at once, the largest first; a layer that fails lets no further
 * one begin, and the error is that of the lowest that failed. A hard link to a file of a lower
 * layer is E_PARSE, and a directory for which its layer has no entry gets mode 0755, owner 0 and
 * time 0.
 */
int unpack_layers(const struct unpack_from *from, const char *path, const struct unpack_opts *opts,
                  struct layer_dir_counts *ret, struct err *err);

/* The same as unpack_image() into a directory that is there and empty; gone_fd as in
 * layer_dir_new(). After an error the caller removes what was written. */
int unpack_into(const struct unpack_from *from, int root_fd, int gone_fd,
                const struct unpack_opts *opts, struct layer_dir_counts *ret, struct err *err);

/*
 * Give layer `i` to the ops, with its DiffID compared unless they get the raw tar, which they have
 * to hash themselves; they undo what they did after an error.
 * max_bytes as in struct unpack_opts.
 */
int unpack_layer(const struct unpack_from *from, size_t i, const struct unpack_opts *opts,
                 const struct layer_ops *ops, void *arg, struct err *err);

/* ---- a directory that gets its name when it is complete ---- */

struct unpack_stage {
    char *parent, *name; /* of the result */
    char *temporary;     /* its name in the parent */
    int parent_fd, fd;   /* of the temporary directory, locked */
    int root, gone;      /* directories in it: the result, and what is removed */
};

/* Errors: -EEXIST (the result exists), of the system calls. On success unpack_stage_fini(). */
int unpack_stage_init(struct unpack_stage *s, const char *path, struct err *err);
/* Give `root` its name. */
int unpack_stage_commit(struct unpack_stage *s, bool is_durable, struct err *err);
/* Remove what is temporary. */
void unpack_stage_fini(struct unpack_stage *s);
