/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the snapshotter share: snapshotter.c (state and answers), snapshot_dirs.c (its
 * directories and mounts), snapshot_layer.c (layers as directories). */
#pragma once

#include "base/map.h"
#include "image/snapshot_journal.h"
#include "image/snapshotter.h"

#include <pthread.h>

struct snapshotter {
    struct oci_store *store;
    const char *program;
    bool is_not_durable;
    char *root; /* absolute */
    int root_fd, lock_fd, dirs_fd, tmp_fd, trash_fd;
    pthread_mutex_t mutex; /* of what follows */
    struct snapshot_state *state;
    struct snapshot_journal *journal;
    struct map pins;   /* DiffID -> size_t: requests that are about to use the layer */
    uint64_t last_dir; /* number that was given out */
};

#define SNAPSHOTTER_JOURNAL "journal" /* name in the root */
enum { SNAPSHOTTER_DIR_NAME = 24 };   /* bytes, of the name of a numbered directory */

/* ---- directories ---- */

/* Open and make what belongs to the root, and take the lock. E_INVALID: it has other files, and no
 * journal. */
int snapshotter_open_dirs(struct snapshotter *s, const char *root, struct err *err);
/* Whether dirs/, tmp/ or trash/ has anything in it: there was a journal then. */
bool snapshotter_has_dirs(const struct snapshotter *s);
/* Move directories that the state does not know to the trash, and remove its content; the root gets
 * the mode 0700. After the state was read. */
int snapshotter_sort_dirs(struct snapshotter *s, struct err *err);
void snapshotter_dir_name(uint64_t dir, char ret[SNAPSHOTTER_DIR_NAME]);
/* With the mutex. */
uint64_t snapshotter_next_dir(struct snapshotter *s);
/* Make dirs/<dir> with fs, as `like`/fs has its attributes (0: none), and work; synced. */
int snapshotter_make_dir(struct snapshotter *s, uint64_t dir, uint64_t like, struct err *err);
/* Move a directory of `from_fd` to the trash. *ret: its name there, for snapshotter_empty(). */
int snapshotter_discard(struct snapshotter *s, int from_fd, const char *name, char ret[17],
                        struct err *err);
/* Remove one that was discarded; without the mutex. */
void snapshotter_empty(struct snapshotter *s, const char *name);
/* What to mount for it. With the mutex. */
int snapshotter_describe(struct snapshotter *s, const struct snapshot_info *info,
                         struct snapshotter_mount *ret, struct err *err);

/* ---- layers ---- */

/* With the mutex. */
bool snapshotter_is_pinned(const struct snapshotter *s, const struct oci_digest *diff_id);
/* The layer that makes `ref` from the parent's chain ID (NULL: no parent), among the public ones of
 * the store. Without the mutex. */
bool snapshotter_find_stored(struct snapshotter *s, const struct oci_digest *parent,
                             const struct oci_digest *ref, struct oci_digest *ret);
/* If no snapshot uses the layer, and no request is about to, it is no layer any more. *ret as of
 * snapshotter_discard(), "" if it stays. With the mutex. */
int snapshotter_drop_layer(struct snapshotter *s, const struct oci_digest *diff_id, char ret[17],
                           struct err *err);
