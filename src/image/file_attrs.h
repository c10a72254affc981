/* SPDX-License-Identifier: Apache-2.0 */
/* Owner, mode, extended attributes and times of files, in the order in which they stay. */
#pragma once

#include "base/err.h"
#include "codec/tar.h"

#include <sys/types.h>
#include <time.h>

struct file_attrs {
    mode_t mode; /* 12 bits */
    uid_t uid;
    gid_t gid;
    struct timespec mtime;
    const struct tar_xattr *xattrs;
    size_t n_xattrs;
    bool keeps_owner; /* leave the owner as it is */
};

/*
 * Set them: owner, mode (a change of owner clears set-user-ID), attributes (it clears
 * security.capability, too), times. *n_left_out is raised by each attribute that the file system or
 * the kernel does not take; security.capability is never left out. Errors: of the system calls,
 * E_UNSUPPORTED for that attribute.
 */
int file_attrs_set(int fd, const struct file_attrs *a, uint64_t *n_left_out, struct err *err);
/* The same for a file that cannot be opened: `name` in a directory, never followed. Not its mode if
 * it is a symbolic link. Needs /proc. */
int file_attrs_set_at(int dir_fd, const char *name, bool is_symlink, const struct file_attrs *a,
                      uint64_t *n_left_out, struct err *err);
