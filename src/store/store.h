/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Revisioned key-value store with watch (the model of etcd's API, version 3).
 *
 * Keys are byte strings, by convention paths ("/registry/configmaps/default/a"). Every transaction
 * that changes something gets the next revision of one global counter; revisions are never reused,
 * also not after a crash. A transaction is acknowledged, and seen by readers and watchers, only
 * after the fsync that contains it. Older revisions are kept for a window, then compacted.
 *
 * Two back ends behind one interface: SQLite and etcd. That is why reads call back too: with SQLite
 * the callback comes on the next turn of the loop at no cost worth naming.
 *
 * Loop thread only. All callbacks run on the loop, exactly once, never before the call has
 * returned.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "io/loop.h"

struct store;

enum {
    STORE_KEY_MAX_BYTES = 1024,
    STORE_VALUE_MAX_BYTES = 8 << 20,
    STORE_TXN_MAX_OPS = 128,
    STORE_PENDING_MAX_BYTES = 64 << 20, /* queued transactions; beyond: -EBUSY */
    STORE_PAGE_MAX_ROWS = 500,          /* one range page */
    STORE_PAGE_MAX_BYTES = 4 << 20,
    STORE_WATCH_QUEUE_MAX_BYTES = 4 << 20 /* one slow watcher; beyond it ends with -EMSGSIZE */
};

struct store_opts {
    const char *path;           /* SQLite file; its directory must exist */
    uint64_t history_ms;        /* keep old revisions this long; 0: 300000 */
    uint64_t history_revisions; /* and at least this many; 0: 10000 */
    uint64_t idle_ms;           /* give memory back after so much quiet; 0: 2000 */
};

/*
 * Blocks for the time the checks take; for use before the loop runs.
 * Errors: E_VERSION (written by a newer program), E_CORRUPT (damaged: says which check failed and
 * leaves the file untouched), E_INVALID (another program's database), -EWOULDBLOCK (another process
 * has it open), -EACCES, -ENOSPC, ...
 */
int store_open(struct loop *loop, const struct store_opts *opts, struct store **ret,
               struct err *err);
/*
 * Drain the writer, checkpoint, release; done() when finished. Watches and reads that wait end with
 * -ECANCELED first, transactions that wait are committed. Calls from then on return -ECANCELED.
 */
void store_close(struct store *s, void (*done)(void *arg), void *arg);

/* Newest durable revision, and the oldest that can still be read. Revision 0: empty store. */
uint64_t store_revision(const struct store *s);
uint64_t store_compacted(const struct store *s); /* revisions below this are gone */

struct store_kv {
    struct str key, value;
    uint64_t create_rev, mod_rev;
    uint64_t version; /* 1 at creation, +1 per change */
};

/* kv: NULL when absent. Borrowed until the callback returns. rev: the revision that was read at. */
typedef void (*store_get_cb)(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                             const struct err *err);
/* at_rev 0: newest. Errors: E_EXPIRED, E_FUTURE, I/O. */
int store_get(struct store *s, struct str key, uint64_t at_rev, store_get_cb cb, void *arg,
              struct err *err);

struct store_range {
    struct str prefix;
    struct str
        after;       /* start behind this key; "" from the beginning (keys are compared bytewise) */
    size_t limit;    /* rows; 0: as many as fit one page */
    uint64_t at_rev; /* 0: newest */
    bool keys_only;  /* values stay empty */
    /*
     * Rows that are damaged are left out and logged with their keys, instead of E_DIGEST. For
     * whoever reads many objects and can do without one: the start of the server must not depend on
     * each.
     */
    bool skip_damaged;
    bool count_left; /* fill `left` */
    /*
     * Read through an index, "" for none: instead of all keys with `prefix` only those for which
     * the index has a key, which is `index` in place of the first index_root bytes. Rows that the
     * index names and that are not there are left out. Not with keys_only and count_left.
     */
    struct str index;
    size_t index_root;
};
struct store_page {
    const struct store_kv *kv; /* in key order */
    size_t n;
    bool more;       /* continue with after = kv[n - 1].key and at_rev = rev */
    uint64_t left;   /* rows behind this page, when asked for */
    uint64_t rev;    /* revision that was read at */
    size_t left_out; /* rows that skip_damaged left out */
};
typedef void (*store_range_cb)(void *arg, int r, const struct store_page *page,
                               const struct err *err);
int store_range(struct store *s, const struct store_range *range, store_range_cb cb, void *arg,
                struct err *err);

enum store_cmp { STORE_ANY, STORE_ABSENT, STORE_MOD_REV };
struct store_op {
    /*
     * STORE_DELETE_DAMAGED deletes a key only if its value cannot be read (E_DIGEST), and compares
     * nothing else; E_CONFLICT if the value can be read or there is none. What the value was is
     * lost, so watches that want the key end with E_DIGEST.
     */
    enum { STORE_PUT, STORE_DELETE, STORE_CHECK, STORE_DELETE_DAMAGED } kind;
    struct str key, value; /* copied */
    enum store_cmp cmp;    /* compared before anything is changed */
    uint64_t cmp_rev;      /* for STORE_MOD_REV */
};
/*
 * All or nothing. Errors at once: -EINVAL (a key without bytes or too long, one changed twice),
 * -EMSGSIZE (a value, or all of it), -EBUSY (too much waits already). r: 0 with the revision;
 * E_CONFLICT with failed_op = index of the first comparison that did not hold (nothing changed, rev
 * = the revision seen); -ENOSPC and other I/O errors: nothing changed; -EMSGSIZE: it would replace
 * more than 64 MiB, the same. A transaction of only checks, or that deletes only absent keys, takes
 * no revision.
 */
struct store_txn_result {
    int r;
    uint64_t rev;
    size_t failed_op;
};
typedef void (*store_txn_cb)(void *arg, const struct store_txn_result *res, const struct err *err);
int store_txn(struct store *s, const struct store_op *ops, size_t n, store_txn_cb cb, void *arg,
              struct err *err);

struct store_event {
    enum { STORE_EV_PUT, STORE_EV_DELETE } kind;
    struct store_kv kv;       /* DELETE: key and mod_rev (revision of the deletion) */
    bool has_prev, lost_prev; /* lost: of STORE_DELETE_DAMAGED; no watch gets such an event */
    struct store_kv prev;     /* value before this event, if there was one */
};
struct store_watch;
struct store_watch_ops {
    /*
     * All events of one or more whole transactions, in revision order. Borrowed until it returns.
     * progress_rev: everything up to this revision has been delivered.
     */
    void (*on_events)(void *arg, const struct store_event *ev, size_t n, uint64_t progress_rev);
    /*
     * Last call, once: -ECANCELED, E_EXPIRED (history gone), E_DIGEST (history damaged: read all
     * again), -EMSGSIZE (too slow), or I/O.
     */
    void (*on_end)(void *arg, int r, const struct err *err);
};
/* from_rev: first revision wanted; 0: from now on. E_EXPIRED, E_FUTURE are returned at once. */
int store_watch_start(struct store *s, struct str prefix, uint64_t from_rev,
                      const struct store_watch_ops *ops, void *arg, struct store_watch **ret,
                      struct err *err);
/* Stop and go on delivering; while paused events wait in the store, bounded as said above. */
void store_watch_pause(struct store_watch *w);
void store_watch_resume(struct store_watch *w);
/* No callback comes any more, not even on_end. After on_end there is nothing left to cancel. */
void store_watch_cancel(struct store_watch *w);
/* Everything up to this revision has been delivered: what a bookmark may say. */
uint64_t store_watch_progress(const struct store_watch *w);

/* Forget revisions below rev. -EINVAL beyond the newest. */
typedef void (*store_compact_cb)(void *arg, int r, const struct err *err);
int store_compact(struct store *s, uint64_t rev, store_compact_cb cb, void *arg, struct err *err);

struct store_stats {
    uint64_t commits, txns, conflicts, fsyncs, rows, bytes_on_disk, watchers;
    uint64_t bytes_reusable; /* of those on disk: free, for what is written next */
};
void store_stats(const struct store *s, struct store_stats *ret);

/* A change whose checksum does not match. */
struct store_damage {
    struct str key; /* as far as it can be read; borrowed until the callback returns */
    uint64_t rev;
    bool is_current; /* what the key holds now; else an older state, or a deletion */
};
struct store_check_result {
    uint64_t keys;                     /* with a value, damaged ones among them */
    uint64_t damaged_now, damaged_old; /* what on_damage was called for */
};
/*
 * Read a whole SQLite store that no process has open, and report damaged changes. remove: delete
 * them with all history, so that the rest can be used; watchers list again. Blocks, and needs no
 * loop.
 * Errors: as store_open(); E_CORRUPT: the file's structure is damaged, which cannot be repaired;
 * E_VERSION also for a file that an older program wrote and no server has opened since.
 */
int store_check(const char *path, bool remove,
                void (*on_damage)(void *arg, const struct store_damage *d), void *arg,
                struct store_check_result *ret, struct err *err);
