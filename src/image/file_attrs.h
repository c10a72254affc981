/* SPDX-License-Identifier: Apache-2.0 */
/* Sets owner, mode, extended attributes and times of files in an order in which all persist. */
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
 * Set them: owner, mode (a change of owner clears set-user-ID), attributes (it also clears
 * security.capability), times. *n_left_out is incremented for each attribute that the file system
 * or the kernel rejects; security.capability is never skipped. Errors: of the system calls,
 * E_UNSUPPORTED for that attribute.
 */
int file_attrs_set(int fd, const struct file_attrs *a, uint64_t *n_left_out, struct err *err);
/* The same for a file that cannot be opened: `name` in a directory, never followed. The mode of a
 * symbolic link is not set. Needs /proc. */
int file_attrs_set_at(int dir_fd, const char *name, bool is_symlink, const struct file_attrs *a,
                      uint64_t *n_left_out, struct err *err);
