/* SPDX-License-Identifier: Apache-2.0 */
/* What a directory tree takes on the disk, as containerd counts it. Blocking calls, any thread. */
#pragma once

#include "base/err.h"

#include <stdint.h>

enum {
    /* Directories below one another; one descriptor and a few KiB for each. */
    SNAPSHOT_USAGE_DEPTH_MAX = 4096,
    /* Inodes with several names that are remembered; each name of further ones counts. */
    SNAPSHOT_USAGE_LINKS_MAX = 1 << 20,
};

/*
 * Blocks and inodes below `path` and of itself, on its file system; a file with several names once.
 * What disappears meanwhile is not counted. The memory that it takes does not depend on how many
 * files there are. Errors: of the file system, E_LIMIT (too deep).
 */
int snapshot_usage(const char *path, uint64_t *ret_bytes, uint64_t *ret_inodes, struct err *err);
