/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The high-water mark of a store's revisions, in a file of its own beside the store.
 *
 * SQLite silently drops the end of a write-ahead log that is damaged, cut or missing: that is how
 * it recovers from a crash. The mark distinguishes a crash from a loss, and ensures that no
 * revision is given twice. The file is one line:
 *
 *     dormouse mark reserved=N seen=N clean=0 boot=UUID sum=HEX
 *
 *     reserved  no revision above this one was given; synced before one is, MARK_STEP at a time
 *     seen      the newest revision committed; written after each commit, but not synced: right
 *               while the kernel runs that wrote it, which `boot` names, or when closed cleanly
 *     clean     1: the store was closed, seen is the newest revision
 *
 * Belongs to one thread at a time.
 */
#pragma once

#include "base/boot.h"
#include "base/err.h"

#include <stdint.h>

enum { MARK_STEP = 10000 };

struct mark {
    char *path;
    int fd; /* -1 until something is written */
    char boot[BOOT_ID_BYTES];
    uint64_t reserved; /* 0: nothing yet, by this process */
    uint64_t retry_at; /* after a failure: the revision to try again at */
    bool was_open;     /* the process before did not close the store */
};

struct mark_known {
    uint64_t reserved, seen; /* 0: the store has no mark */
    bool clean;              /* the store was closed */
    bool exact;              /* seen was the newest revision */
};

/*
 * Read the mark of the store at `store_path`, which is locked by the caller. Nothing is written.
 * E_CORRUPT: the file does not read back; it is as if there were none, and `m` can be used. Other
 * errors, as -EMFILE, are of this moment: what the mark says, or whether it is of this boot, could
 * not be found out. mark_fini() has to follow all the same.
 */
int mark_init(struct mark *m, const char *store_path, struct mark_known *ret, struct err *err);
void mark_fini(struct mark *m); /* fine when zeroed */

/*
 * Before revisions up to `rev` are committed. 1: the file was written and synced; 0: nothing to do.
 * After an error it is tried again some revisions later.
 */
int mark_reserve(struct mark *m, uint64_t rev, struct err *err);
/* After revisions up to `rev` were committed. */
void mark_note(struct mark *m, uint64_t rev);
/*
 * The store is closed and `rev` its newest revision. Nothing is done if nothing was reserved,
 * unless the process before did not close the store: a restart of the machine must not look as if
 * it had stopped under that process.
 */
int mark_close(struct mark *m, uint64_t rev, struct err *err);
