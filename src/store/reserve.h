/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Disk space that a store keeps in reserve: a file beside it, allocated and never written. When the
 * disk is full, the reserve is released so that deletions and the checkpoints after them succeed.
 *
 * Used by one thread at a time.
 */
#pragma once

#include "base/err.h"

#include <stdint.h>

enum {
    /*
     * Two write-ahead logs of the usual size: one that is being copied into the file, which grows
     * by it, and one that is written meanwhile.
     */
    RESERVE_BYTES = 8 << 20,
    RESERVE_SHARE = 8,              /* at most 1/8 of the file system */
    RESERVE_START_BYTES = 64 << 10, /* what opening the store needs */
    RESERVE_MIN_BYTES = 512 << 10   /* and at least this much */
};

struct reserve {
    char *path;
    uint64_t bytes; /* size of the file, once reserve_take() has run */
    bool is_held;
};

/* Sets the path only; reads and writes nothing. */
void reserve_init(struct reserve *r, const char *store_path);
void reserve_fini(struct reserve *r); /* the file stays; fine when zeroed */
/*
 * Allocate the reserve, or find it allocated already. -ENOSPC or -EDQUOT: no space; other errors:
 * the file system cannot allocate, and there is no reserve.
 */
int reserve_take(struct reserve *r);
/* false: there was no reserve file, not even of an earlier process. */
bool reserve_release(struct reserve *r);
/*
 * The store is closed: on a full disk keep as much as there is, so that the store can be opened
 * again.
 */
void reserve_keep_some(struct reserve *r);
