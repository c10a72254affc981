/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Space on the disk that a store keeps for the time when there is no other: a file beside it,
 * allocated and never written. Released, it lets deletions and the checkpoints behind them succeed
 * on a disk that is full.
 *
 * Belongs to one thread at a time.
 */
#pragma once

#include "base/err.h"

#include <stdint.h>

enum {
    RESERVE_BYTES = 8 << 20, /* two write-ahead logs of the usual size: one that is copied into
                              * the file, which grows by it, and one that is written meanwhile */
    RESERVE_SHARE = 8,       /* this part of the file system at most, */
    RESERVE_START_BYTES = 64 << 10, /* what opening the store takes */
    RESERVE_MIN_BYTES = 512 << 10   /* and so much at least */
};

struct reserve {
    char *path;
    uint64_t bytes; /* its size here, once it was tried */
    bool is_held;
};

/* The path alone; nothing is read or written. */
void reserve_init(struct reserve *r, const char *store_path);
void reserve_fini(struct reserve *r); /* the file stays; fine when zeroed */
/*
 * Have the space, from before or from now on. -ENOSPC or -EDQUOT: there is none; other errors: the
 * file system cannot do it, and there is no reserve.
 */
int reserve_take(struct reserve *r);
/* False: there was none, also not from before. */
bool reserve_release(struct reserve *r);
/* The store is closed: keep what there is on a disk that is full, so that it can be opened again.
 */
void reserve_keep_some(struct reserve *r);
