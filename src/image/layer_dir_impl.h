/* SPDX-License-Identifier: Apache-2.0 */
/* Internals that the files of layer_dir share. */
#pragma once

#include "image/file_attrs.h"
#include "image/layer_dir.h"

/* A directory and the attributes that it gets at the end. */
struct layer_dir_record {
    struct str path;
    struct file_attrs attrs;
    bool is_implicit; /* no layer has an entry for it */
    uint32_t layer;   /* that wrote it last */
    bool is_opaque;
    /* If links are followed, a directory has several paths, and a path may refer to another
     * directory later: the intended inode, and the order. */
    uint64_t inode, order;
};

struct layer_dir {
    int root, gone;
    struct layer_dir_opts opts;
    uint32_t layer;
    struct map dirs;    /* path -> struct layer_dir_record */
    struct map written; /* merged: paths that the current layer wrote, and their parents */
    VEC(struct oci_whiteout) whiteouts; /* overlay forms */
    struct arena memory;
    struct arena layer_memory; /* keys of `written` */
    struct str parent;         /* the path of parent_fd */
    int parent_fd;             /* -1: none */
    char parent_room[TAR_PATH_MAX];
    int file; /* the open file; -1: none */
    uint64_t file_at, file_size;
    char name[TAR_NAME_MAX + 1]; /* of the last entry */
    struct oci_entry open;       /* of `file`, with its own memory in `entry_memory` */
    struct arena entry_memory;
    uint64_t n_gone; /* names in `gone` */
    unsigned depth;  /* of the directories that a whiteout deletes */
    uint64_t n_records;
    struct map linked; /* inodes with several names that are counted */
    struct layer_dir_counts counts;
};

/* "a/b/c" -> "a/b", "c" */
struct str layer_dir_split(struct str path, struct str *ret_name);
/* A directory below the root; given, close(). Errors: as openat2(2). */
int layer_dir_open(const struct layer_dir *d, struct str path, int flags);
/* The parent of `path`, created if it is missing; its name in d->name. Owned by `d`. */
int layer_dir_open_parent(struct layer_dir *d, struct str path, struct err *err);
void layer_dir_forget_parent(struct layer_dir *d);

/* The record of a directory, an existing one, that the current layer writes; a new one is zeroed.
 */
struct layer_dir_record *layer_dir_record(struct layer_dir *d, struct str path);
/* The same with the attributes of one that no layer has an entry for. */
void layer_dir_note_implicit(struct layer_dir *d, struct str path);
