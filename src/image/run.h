/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a container of `dormouse image run` lives, and its life: a directory
 *
 *     RUNS/<id>/config.json   the bundle (OCI runtime specification)
 *     RUNS/<id>/root/         where the root file system of the image is mounted
 *     RUNS/<id>/state/        what the mount needs, and what the container wrote (image/root.h)
 *     RUNS/<id>/runtime/      files of the OCI runtime
 *
 * that is locked (flock) while its process lives. All mounts are made in a mount namespace of this
 * process, and the container ends with it (container/foreground.h). So kill -9 leaves files alone,
 * which the next run_place_new() removes. Blocking calls, for a command with one thread.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"

enum { RUN_ID_SIZE = 32 };

struct run_place {
    char id[RUN_ID_SIZE];
    char *runs;                 /* the parent */
    char *dir, *target, *state; /* as above */
    int lock_fd;
};

/* From now on mounts of this process are its own. Errors: -EPERM, not root. */
int run_enter_namespace(struct err *err);

/* Make a place in `runs`, after removing what killed processes left there. lock_ms: as of
 * root_umount(). On success run_place_remove(). */
int run_place_new(const char *runs, uint64_t lock_ms, struct run_place *ret, struct err *err);
/* Unmount and remove all of it; frees what the struct holds, also after an error. */
int run_place_remove(struct run_place *p, uint64_t lock_ms, struct err *err);

/*
 * Remove the devices from the root file system that is mounted, writable, at the target. crun
 * mounts it again without our "nodev", and a node of the machine's disk gives access to the disk to
 * any program that can open it. Errors: of the system calls; then some may remain.
 */
int run_place_remove_devices(const struct run_place *p, struct err *err);
