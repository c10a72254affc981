/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The high-water mark of a store's revisions, in a separate file beside the store.
 *
 * SQLite recovers from a crash by silently dropping the end of a write-ahead log that is damaged,
 * truncated or missing. The mark tells such a crash from a loss of data, and ensures that no
 * revision is allocated twice. The file is one line:
 *
 *     dormouse mark reserved=N seen=N clean=0 boot=UUID sum=HEX
 *
 *     reserved  no revision above this one was allocated; synced before one is, MARK_STEP at a time
 *     seen      the newest revision committed; written after each commit, but not synced: valid
 *               until the next boot (`boot` is the ID of this one), or after a clean close
 *     clean     1: the store was closed, seen is the newest revision
 *
 * Used by one thread at a time.
 */
#pragma once

#include "base/boot.h"
#include "base/err.h"

#include <stdint.h>

enum { MARK_STEP = 10000 };

struct mark {
    char *path;
    int fd; /* -1 until the first write */
    char boot[BOOT_ID_BYTES];
    uint64_t reserved; /* 0: this process has reserved nothing yet */
    uint64_t retry_at; /* after a failure: retry when revisions reach this one */
    bool was_open;     /* the previous process did not close the store */
};

struct mark_known {
    uint64_t reserved, seen; /* 0: the store has no mark */
    bool clean;              /* the store was closed cleanly */
    bool exact;              /* seen was the newest revision */
};

/*
 * Read the mark of the store at `store_path`; the caller has locked the store. Writes nothing.
 * E_CORRUPT: the file cannot be parsed and counts as absent; `m` can be used. Other errors, such as
 * -EMFILE, are transient: the mark, or the boot ID, could not be read. Call mark_fini() after an
 * error, too.
 */
int mark_init(struct mark *m, const char *store_path, struct mark_known *ret, struct err *err);
void mark_fini(struct mark *m); /* fine when zeroed */

/*
 * Call before revisions up to `rev` are committed. 1: the file was written and synced; 0: nothing
 * to do. After an error the write is retried some revisions later.
 */
int mark_reserve(struct mark *m, uint64_t rev, struct err *err);
/* Call after revisions up to `rev` were committed. */
void mark_note(struct mark *m, uint64_t rev);
/*
 * Call when the store is closed; `rev` is its newest revision. Does nothing if nothing was
 * reserved, unless the previous process did not close the store: otherwise, after the next boot,
 * the mark would look as if the machine had stopped under that process.
 */
int mark_close(struct mark *m, uint64_t rev, struct err *err);
