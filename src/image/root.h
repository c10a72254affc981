/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The root file system of an image, mounted. What the mount needs lies in a state directory:
 *
 *     tarfs:  0.tar 0.sparse 1.tar ...  meta.erofs  lower/   the tars as they are, and their
 * metadata dirs:   fs/                                            the merged root file system both:
 * upper/ work/                                   what was written to the mount
 *
 * Blocking calls, for commands and worker threads.
 */
#pragma once

#include "image/mount.h"
#include "image/unpack.h"

enum root_sink {
    ROOT_SINK_BEST,  /* tarfs where the kernel can */
    ROOT_SINK_TARFS, /* tars, with their directories in an EROFS image; needs Linux 6.12 */
    ROOT_SINK_DIRS,  /* files */
};

struct root_opts {
    struct unpack_opts unpack;
    enum root_sink sink;
    bool is_writable; /* what is written is lost with the state */
    bool has_suid;    /* as in struct mount_opts */
};

/*
 * Write what the mount needs into the directory `state`, which must not exist, and mount it at
 * `target`, an existing directory. *ret: what was used. On error nothing is mounted, and `state`
 * does not exist. Errors: those of unpack_image(), of mount.h; -EBUSY, something is mounted there.
 */
int root_mount(const struct unpack_from *from, const char *state, const char *target,
               const struct root_opts *opts, enum root_sink *ret, struct err *err);
/*
 * Unmount and remove the state; also what a killed root_mount() left. Errors: -ENOENT (no state),
 * -EBUSY (something uses it: nothing is changed).
 */
int root_umount(const char *state, const char *target, struct err *err);
