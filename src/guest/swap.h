/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory of swap files: one sparse file per guest, as large as its memory may become. Nobody
 * keeps a file open while its guest sleeps.
 *
 * An old file is unlinked and never truncated, since a runner may still have it mapped. Unlinking
 * can take milliseconds (a file system that discards waits for its device), so swap_remove() only
 * moves the file into DIR/removed, which a thread empties while there is something in it. What it
 * has not got to when the process ends is left to the next one.
 *
 * Files with a record (snapshot.h) outlive their process: the next one finds them in DIR/left,
 * under their names without the serial number, until their guest claims them or nobody does.
 *
 * One thread; the sweeping thread touches nothing but DIR/removed.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

enum { SWAP_NAME_MAX = 256 };

struct sweeper;

struct swap {
    int dir_fd, left_fd;
    bool has_left;           /* something may be in DIR/left, */
    uint64_t left_bytes;     /* and it takes so much of the disk */
    struct sweeper *sweeper; /* of DIR/removed */
};

/* Makes the directory with mode 0700; puts files of an earlier process aside that have a record,
 * and begins to remove the others. */
int swap_init(struct swap *s, const char *dir, struct err *err);
/* Waits for at most the one file that is being unlinked. */
void swap_fini(struct swap *s);
/*
 * The file's name; bytes that no name may hold are replaced. serial: of the guest in this process,
 * since the next guest of an operator may be there before the last one is gone. has_record: it may
 * outlive this process.
 */
void swap_name(char out[SWAP_NAME_MAX], const char *uid, uint64_t generation,
               const char *module_hash, uint64_t serial, bool has_record);
/* Take what an earlier process left for this guest: a descriptor (given), and the file has `name`.
 * -ENOENT: nothing. */
int swap_claim(struct swap *s, const char *name);
/* Nobody will claim what is left. */
void swap_drop_left(struct swap *s);
/* An empty file of this size, replacing an older one. Returns a descriptor (given). */
int swap_create(struct swap *s, const char *name, uint64_t size_bytes, struct err *err);
/* Returns a descriptor (given). */
int swap_open(struct swap *s, const char *name, struct err *err);
/* The name is free at once, the disk's blocks soon. Nothing if there is no such file. */
void swap_remove(struct swap *s, const char *name);
