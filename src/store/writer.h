/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer thread of a SQLite store: takes every transaction that waits, applies them one after
 * the other in one SQLite transaction, commits (one fsync for all), and posts a report to the loop.
 *
 * Between batches it compacts in small steps and copies the write-ahead log into the file. With
 * nothing to do it sleeps on a condition variable; it has no clock.
 *
 * What the threads exchange: struct txn to the writer, struct writer_report to the loop. Whoever
 * holds one owns it; the functions below are for the loop thread.
 */
#pragma once

#include "base/mem.h"
#include "base/vec.h"
#include "store/db.h"
#include "store/mark.h"
#include "store/reserve.h"

enum {
    WRITER_BATCH_MAX_TXNS = 256,      /* bounds the wait of the next one */
    WRITER_BATCH_MAX_BYTES = 4 << 20, /* as above; also keeps a batch in the page cache */
    WRITER_COMPACT_ROWS = 128,        /* one step of compaction, about a millisecond */
    WRITER_TIDY_FRAMES = 64,          /* fewer are not worth two syncs when it gets quiet */
    WRITER_CHECKPOINT_FRAMES = 1024,  /* pages in the write-ahead log, 4 MiB */
    /* What a value may grow by on a full disk: a deletion that waits for finalizers adds a time. */
    WRITER_FULL_GROWTH_BYTES = 256
};

/* One transaction on its way to the writer and back. */
struct txn {
    struct list node;
    struct arena mem; /* everything below, and the previous values of its events */
    struct store_op *ops;
    size_t n_ops, bytes;
    store_txn_cb cb;
    void *arg;
    struct store_txn_result res;
    struct err err;
};
struct txn *writer_txn_new(const struct store_op *ops, size_t n,
                           size_t bytes); /* NULL: no memory */
void writer_txn_free(struct txn *t);

/* What one commit, or one piece of upkeep, has done. */
struct writer_report {
    struct post post;
    struct writer *writer;
    struct list txns;               /* in order, each with its result */
    VEC(struct store_event) events; /* of all of them, in revision order; they point into txns */
    uint64_t first_rev, last_rev;   /* of the events; 0 without */
    int64_t rows_added;             /* keys that came into being less those deleted */
    uint64_t swept;                 /* compaction is done up to here */
    uint64_t commits, conflicts, fsyncs;
    int upkeep_r; /* a checkpoint, a step of compaction or the mark failed; no data is lost by that
                   */
    struct err upkeep_err;
    bool compaction_failed; /* it goes on when asked for again */
    bool is_full;           /* the disk; see struct writer */
    bool last;              /* the thread has ended */
};

struct writer {
    struct loop *loop;
    struct db db;     /* the thread's, from writer_start() on */
    struct mark mark; /* as well */
    void (*on_report)(
        void *arg, struct writer_report *rep); /* loop thread; release with writer_report_free() */
    void *arg;
    uv_thread_t thread;

    uv_mutex_t lock; /* guards what the loop tells */
    uv_cond_t wake;
    struct list queue; /* struct txn */
    uint64_t compact_to;
    bool compact, tidy, stop;

    /* the thread's own */
    uint64_t revision, compacted, compacting_to;
    int64_t swept_id;
    int broken; /* the file turned out to be damaged: refuse everything with this */
    struct err broken_err;
    int log_frames, copied_frames; /* of the write-ahead log; those that the file has too */
    bool log_restarted;            /* by the last commit */
    struct reserve reserve;
    /* The disk is full and the reserve released: of what is to be written only that which lets the
     * store shrink is. */
    bool is_full;
};

/*
 * w->db is open and checked, w->mark read; compacted and swept as the file says. Takes both on
 * success.
 * on_report() comes for each commit, in order.
 */
int writer_start(struct writer *w, struct loop *loop, uint64_t revision, uint64_t compacted,
                 int64_t swept_id, struct err *err);
void writer_submit(struct writer *w, struct txn *t); /* taken */
/* Remove what only revisions below rev can see; a report follows also when there is nothing to do.
 */
void writer_compact(struct writer *w, uint64_t rev);
/* Nothing is going on: checkpoint and give memory back. */
void writer_tidy(struct writer *w);
/* Finish what waits, checkpoint, close the connection, report `last`. */
void writer_stop(struct writer *w);
/* After the last report. */
void writer_fini(struct writer *w);

void writer_report_free(
    struct writer_report *rep); /* without its transactions, which must be gone */
