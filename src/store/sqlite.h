/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop side of the SQLite back end, shared by sqlite.c (opening, reads, transactions,
 * compaction) and watch.c. Loop thread only; the writer thread's side is writer.h.
 *
 * `revision` and `compacted` here decide what is visible: the reader connection may already see
 * commits whose report has not arrived, so every read names its revision.
 */
#pragma once

#include "base/log.h"
#include "base/vec.h"
#include "store/hot.h"
#include "store/store_backend.h"
#include "store/writer.h"

enum { SQLITE_STORE_SAMPLES = 32, SQLITE_STORE_DAMAGE_LOGS = 64 };

struct sqlite_store {
    struct store base;
    struct loop *loop;
    int lock_fd; /* flock()ed while the store is open */
    struct db reader;
    struct writer writer;
    uint64_t revision, compacted;
    size_t pending_bytes; /* of transactions at the writer */
    struct store_stats stats;

    struct hot hot;
    struct list singles, ranges; /* struct read */
    struct defer reads_due;
    struct left_memo {
        uint64_t hash, left;
    } left_memos[4]; /* where counted lists stopped, and how many rows were left there */
    unsigned next_left_memo;

    struct list watches; /* struct watch; moved to watch_mark while they are visited */
    struct list watch_mark;
    struct defer watches_due;

    uint64_t history_ms, history_revisions;
    struct sqlite_sample {
        uint64_t ms, rev;            /* revision at that time */
    } samples[SQLITE_STORE_SAMPLES]; /* oldest first */
    size_t n_samples;
    struct timer compact_timer;
    struct list compactions; /* struct compaction */

    struct log_rate upkeep_log;
    struct log_rate damage_logs[SQLITE_STORE_DAMAGE_LOGS]; /* by a hash of the key */

    uint64_t idle_ms;
    struct timer idle_timer;
    uint64_t active_ms; /* last read or commit */
    bool untidy;        /* committed since the writer was last asked to tidy */

    bool closing;
    bool is_full; /* as the writer last reported */
    struct defer close_due;
    void (*closed)(void *arg);
    void *closed_arg;
};

static inline struct sqlite_store *sqlite_store_of(const struct store *s)
{
    return container_of(s, struct sqlite_store, base);
}

/* Lock the store against other processes until *ret_fd is closed. -EWOULDBLOCK: it is locked. */
int sqlite_lock(const char *path, int *ret_fd, struct err *err);

int sqlite_refuse_closing(const struct sqlite_store *s, struct err *err);
/* Postpones the idle timer. */
void sqlite_note_activity(struct sqlite_store *s);

int sqlite_get(struct store *s, struct str key, uint64_t at_rev, store_get_cb cb, void *arg,
               struct err *err);
int sqlite_range(struct store *s, const struct store_range *range, store_range_cb cb, void *arg,
                 struct err *err);

int sqlite_watch_start(struct store *s, struct str prefix, uint64_t from_rev,
                       const struct store_watch_ops *ops, void *arg, struct store_watch **ret,
                       struct err *err);
void sqlite_watch_pause(struct store_watch *w);
void sqlite_watch_resume(struct store_watch *w);
void sqlite_watch_cancel(struct store_watch *w);
uint64_t sqlite_watch_progress(const struct store_watch *w);

/* A commit became visible: s->revision is last_rev. */
void sqlite_watch_deliver_all(struct sqlite_store *s, const struct store_event *ev, size_t n,
                              uint64_t last_rev);
/* End the watches whose history was compacted, from the loop. */
void sqlite_watch_expire_soon(struct sqlite_store *s);
void sqlite_watch_end_all(struct sqlite_store *s, int r, const char *why);
