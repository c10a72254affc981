/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer thread of a SQLite store. It takes all queued transactions, applies them one after the
 * other in one SQLite transaction, commits (one fsync for all), and posts a report to the loop.
 *
 * Between batches it compacts in small steps and copies the write-ahead log into the file. When
 * idle it sleeps on a condition variable; it has no clock.
 *
 * The threads exchange struct txn (to the writer) and struct writer_report (to the loop). The
 * thread that holds one owns it. The functions below are for the loop thread.
 */
#pragma once

#include "base/mem.h"
#include "base/vec.h"
#include "store/db.h"
#include "store/mark.h"
#include "store/reserve.h"

enum {
    WRITER_BATCH_MAX_TXNS = 256,      /* bounds the wait of the next transaction */
    WRITER_BATCH_MAX_BYTES = 4 << 20, /* as above; also keeps a batch in the page cache */
    WRITER_COMPACT_ROWS = 128,        /* one step of compaction, about a millisecond */
    WRITER_TIDY_FRAMES = 64,          /* with fewer frames a tidy-up is not worth two syncs */
    WRITER_CHECKPOINT_FRAMES = 1024,  /* pages in the write-ahead log, 4 MiB */
    /* how much a value may grow on a full disk: a deletion that waits for finalizers adds a
     * timestamp */
    WRITER_FULL_GROWTH_BYTES = 256
};

/* One transaction on its way to the writer and back. */
struct txn {
    struct list node;
    struct arena mem; /* holds everything below, and the previous values of its events */
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

/* The result of one commit, or of one step of upkeep. */
struct writer_report {
    struct post post;
    struct writer *writer;
    struct list txns;               /* in order, each with its result */
    VEC(struct store_event) events; /* of all of them, in revision order; they point into txns */
    uint64_t first_rev, last_rev;   /* of the events; 0 without */
    int64_t rows_added;             /* new keys minus deleted ones */
    uint64_t swept;                 /* compaction is complete up to this revision */
    uint64_t commits, conflicts, fsyncs;
    int upkeep_r; /* a checkpoint, a compaction step or the mark failed; no data is lost */
    struct err upkeep_err;
    bool compaction_failed; /* resumes at the next writer_compact() */
    bool is_full;           /* the disk is full; see struct writer */
    bool last;              /* the thread has ended */
};

struct writer {
    struct loop *loop;
    struct db db;     /* used by the writer thread from writer_start() on */
    struct mark mark; /* likewise */
    void (*on_report)(
        void *arg, struct writer_report *rep); /* loop thread; release with writer_report_free() */
    void *arg;
    uv_thread_t thread;

    uv_mutex_t lock; /* guards the fields that the loop thread sets */
    uv_cond_t wake;
    struct list queue; /* struct txn */
    uint64_t compact_to;
    bool compact, tidy, stop;

    /* used by the writer thread only */
    uint64_t revision, compacted, compacting_to;
    int64_t swept_id;
    int broken; /* not 0: the file is damaged, and every transaction fails with this error */
    struct err broken_err;
    int log_frames, copied_frames; /* frames in the log; of these, copied to the file */
    bool log_restarted;            /* by the last commit */
    struct reserve reserve;
    /* The disk is full and the reserve is released: only writes that let the store shrink are
     * accepted. */
    bool is_full;
};

/*
 * w->db is open and checked, w->mark is read; both are taken on success. compacted and swept_id are
 * those of the file. on_report() runs for each commit, in order.
 */
int writer_start(struct writer *w, struct loop *loop, uint64_t revision, uint64_t compacted,
                 int64_t swept_id, struct err *err);
void writer_submit(struct writer *w, struct txn *t); /* taken */
/* Remove what only revisions below rev can see. A report follows even if there is nothing to do. */
void writer_compact(struct writer *w, uint64_t rev);
/* The store is idle: checkpoint and release memory. */
void writer_tidy(struct writer *w);
/* Finish the queue, checkpoint, close the connection, report `last`. */
void writer_stop(struct writer *w);
/* Call after the last report. */
void writer_fini(struct writer *w);

void writer_report_free(
    struct writer_report *rep); /* not its transactions, which must have been removed */
