/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory of swap files: one sparse file per guest, as large as its memory may become. No
 * process keeps a file open while its guest sleeps.
 *
 * An old file is unlinked and never truncated, since a runner may still have it mapped. Unlinking
 * can take milliseconds (a file system that discards waits for its device), so swap_remove() only
 * moves the file into DIR/removed, and a thread empties that directory while it has entries. Files
 * that are still there when the process ends are removed by the next one.
 *
 * Files with a record (snapshot.h) outlive their process: the next one finds them in DIR/left,
 * under their names without the serial number, until their guests claim them or swap_drop_left() is
 * called.
 *
 * One thread; the sweeping thread only touches DIR/removed.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

enum { SWAP_NAME_MAX = 256 };

struct sweeper;

struct swap {
    int dir_fd, left_fd;
    bool has_left;           /* DIR/left may have entries */
    uint64_t left_bytes;     /* disk space that they take */
    struct sweeper *sweeper; /* thread that empties DIR/removed */
};

/*
 * Create the directory with mode 0700. Move files of an earlier process that have a record into
 * DIR/left, and begin to remove the others.
 */
int swap_init(struct swap *s, const char *dir, struct err *err);
/* Waits at most for the one file that is being unlinked. */
void swap_fini(struct swap *s);
/*
 * Compose the file's name; bytes that are not allowed in names are replaced.
 *
 * serial: of the guest in this process, since the next guest of an operator may exist before the
 * last one is freed.
 * has_record: the file may outlive this process.
 */
void swap_name(char out[SWAP_NAME_MAX], const char *uid, uint64_t generation,
               const char *module_hash, uint64_t serial, bool has_record);
/*
 * Claim the file that an earlier process left for this guest: returns a descriptor (given), and the
 * file is renamed to `name`. -ENOENT: there is none.
 */
int swap_claim(struct swap *s, const char *name);
/* Remove the files in DIR/left that no guest has claimed. */
void swap_drop_left(struct swap *s);
/* Create an empty file of this size, replacing an older one. Returns a descriptor (given). */
int swap_create(struct swap *s, const char *name, uint64_t size_bytes, struct err *err);
/* Open a file. Returns a descriptor (given). */
int swap_open(struct swap *s, const char *name, struct err *err);
/*
 * Remove a file. The name is free at once, the disk's blocks soon after. Does nothing if there is
 * no such file.
 */
void swap_remove(struct swap *s, const char *name);
