/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mounts the root file system of an image before the contents of its files are present. In a state
 * directory, which root_umount() removes (image/root.h):
 *
 *     meta.erofs  lower/   the directories and attributes of the image; its files name contents
 *     data/                contents, served by the guardian (image/lazy_guard.h)
 *     upper/ work/         written files
 *
 * Blocking calls, for commands with one thread: the mounts are in the namespace of the caller.
 */
#pragma once

#include "image/lazy_guard.h"
#include "image/root.h"

/*
 * Mount at `target`; `state` must not exist. guard->target is ignored. *ret: given,
 * lazy_guard_free() after root_umount(). Errors: E_UNSUPPORTED, the kernel cannot mount such
 * images; those of mount.h, of lazy_guard_start(). On error nothing is mounted and there is no
 * state.
 */
int lazy_root_mount(const struct lazy_view *view, const char *state, const char *target,
                    const struct root_opts *opts, const struct lazy_guard_opts *guard,
                    struct lazy_guard **ret, struct err *err);
