/* SPDX-License-Identifier: Apache-2.0 */
/* Mounts that the agent makes in its own mount namespace. Blocking, any thread. */
#pragma once

#include "base/err.h"

#include <stdint.h>
#include <sys/types.h>

/* Whether the directory or file that fd stands for is the root of a mount. */
bool volume_mount_is_root(int fd);
bool volume_mount_is_tmpfs(int fd);

/*
 * A tmpfs at `path`, a directory without links. size_bytes: 0: half of the memory, as the kernel
 * decides. gid: -1: of root. Pages are not swapped out where the kernel can promise that.
 */
int volume_mount_tmpfs(const char *path, uint64_t size_bytes, mode_t mode, int64_t gid,
                       struct err *err);
/* Bind what fd stands for, without mounts below it, to `path`, which has no links. */
int volume_mount_bind(int fd, const char *path, struct err *err);
/* The topmost mount at `path` itself. A mount in use is detached. */
int volume_mount_end(const char *path, struct err *err);
/*
 * End all mounts at and below `path`, a real path, the newest first. Errors: the first problem,
 * after all others were tried.
 */
int volume_mount_end_below(const char *path, struct err *err);
