/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mounts that images need (Linux, filesystems/overlayfs.rst, erofs.rst). Files are named by
 * descriptors, so the length of paths does not matter. Blocking calls, any thread. Errors: those of
 * the system calls; -EPERM with what would help.
 */
#pragma once

#include "base/err.h"

#include <stddef.h>

struct mount_opts {
    bool is_read_only;
    bool has_suid; /* set-user-ID and devices work; else nosuid,nodev */
    bool by_loop;  /* EROFS: over loop devices even where the kernel mounts files; for tests */
    bool by_text;  /* overlays: as for kernels before 6.8; for tests */
};

/*
 * Mount an EROFS image that is a regular file, with its devices in their order. Where the kernel
 * mounts no files (before 6.12, or without CONFIG_EROFS_FS_BACKED_BY_FILE), over loop devices that
 * end with the mount. Errors: also E_UNSUPPORTED, neither is possible: no EROFS, blocks of 512
 * bytes are too small for it (before 6.4), no loop devices.
 */
int mount_erofs(int image_fd, const int *device_fds, size_t n_devices, const char *target,
                const struct mount_opts *opts, struct err *err);

struct mount_overlay {
    const int *lower_fds; /* top first */
    size_t n_lowers;
    /* Directories with the content of files of lower ones (erofs.h), which show no names of their
     * own; the first that has it counts. Linux 6.5; not with is_user before 6.16. */
    const int *data_fds;
    size_t n_data;
    int upper_fd, work_fd; /* of one file system; -1: read-only */
    bool is_user;          /* attributes user.overlay.*: in a user namespace */
    bool is_volatile;      /* the upper directory does not outlive a crash of the machine */
};

/* One lower directory without an upper one and data is bound instead. Errors: also E_LIMIT, more
 * directories than kernels before 6.8 take. */
int mount_overlay(const struct mount_overlay *o, const char *target, const struct mount_opts *opts,
                  struct err *err);

/* A file system that the process serves which has `fuse_fd`, a descriptor of /dev/fuse, as well:
 * read-only, nosuid, nodev, for this user alone. It may serve later: that is not waited for.
 * max_read: bytes that the kernel reads at once, whatever the size of its pages. */
int mount_fuse(int fuse_fd, const char *target, unsigned max_read, struct err *err);

/* Whether this kernel, and this process, can mount EROFS images with devices on the file system of
 * the directory (tmpfs does not support it): tries it there, which takes a millisecond. */
bool mount_can_erofs(int dir_fd);
/* The same for EROFS images whose content is in a data directory of an overlay. */
bool mount_can_objects(int dir_fd);

/* -EBUSY: something uses it. */
int mount_remove(const char *target, struct err *err);
/* Something is mounted there. */
bool mount_is_point(const char *target);
