/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removing directory trees that others named: links are never followed, and neither descriptors nor
 * stack grow with the depth. Nothing else may change the trees meanwhile.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"

/* The names in a directory, without "." and "..". */
struct tree_names {
    VEC(char *) all;
};
void tree_names_fini(struct tree_names *n);
static inline void tree_names_fini_scoped(struct tree_names *n)
{
    tree_names_fini(n);
}
int tree_names_read(int dir_fd, struct tree_names *ret, struct err *err);

/* Move the directory `name` into `gone_fd`, of the same file system, where it is out of sight.
 * *n_gone: names used there so far. */
int tree_remove_detach(int dir_fd, const char *name, int gone_fd, uint64_t *n_gone,
                       struct err *err);
/* Remove all that is in the directory. Errors: of the system calls. */
int tree_remove_children(int dir_fd, struct err *err);
/* Remove the directory and all that is in it. */
int tree_remove(int parent_fd, const char *name, struct err *err);
/*
 * Remove the directories in `parent_fd` whose names begin with `mark` and whose process has ended:
 * they are no longer locked (flock). Only directories of this user with the mode 0700, since
 * another user could have planted others.
 */
void tree_remove_stale(int parent_fd, struct str mark);
