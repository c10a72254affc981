/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directory trees that users write to, seen from the host. Every step goes through a descriptor of
 * the parent directory, no symbolic link is followed, and no mount point is crossed: neither a
 * link that is exchanged at the wrong moment nor a mount leads out of the tree. Blocking, any
 * thread.
 */
#pragma once

#include "base/err.h"

#include <stdint.h>
#include <sys/types.h>

/*
 * Open `path` below dir_fd. Links in it are followed as long as they stay below dir_fd; absolute
 * links do not (-EXDEV). Returns a descriptor or -errno.
 */
int volume_tree_open(int dir_fd, const char *path, int flags);
/* Open the directory `name`, one name and no link, on the same mount as dir_fd (else -EXDEV). */
int volume_tree_open_child(int dir_fd, const char *name);

/*
 * As mkdir -p for a path below dir_fd, by the rules of volume_tree_open(). New directories get
 * exactly `mode`.
 */
int volume_tree_make(int dir_fd, const char *path, mode_t mode);

/*
 * Remove dir_fd/name and everything in it; fine if it does not exist. -EBUSY, -EXDEV: it has a
 * mount point, which stays, as do the directories above it; the rest is removed.
 */
int volume_tree_remove(int dir_fd, const char *name, struct err *err);

struct volume_tree_size {
    uint64_t bytes;  /* allocated blocks */
    uint64_t inodes; /* files with several links count once */
    bool is_cut;     /* a limit was reached */
};
/* Add what is below dir_fd, itself included, to *size; at most max_inodes in all. */
void volume_tree_measure(int dir_fd, uint64_t max_inodes, struct volume_tree_size *size);

struct volume_ownership {
    gid_t gid;
    bool is_read_only; /* the group may read and not write */
};
/* What fsGroup asks for: group, permissions of the group, and set-group-ID for directories. */
mode_t volume_ownership_mode(const struct volume_ownership *o, mode_t mode);
/* Of dir_fd alone. */
int volume_tree_own(int dir_fd, const struct volume_ownership *o);
bool volume_tree_is_owned(int dir_fd, const struct volume_ownership *o);
/*
 * Of dir_fd and all below, the directory dir_fd last: an interrupted change shows. Entries that
 * vanish meanwhile are skipped. Errors: the first one, after all others were tried.
 */
int volume_tree_own_all(int dir_fd, const struct volume_ownership *o, struct err *err);
