/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Revisioned key-value store with watch (the model of etcd's API, version 3).
 *
 * Keys are byte strings, by convention paths ("/registry/configmaps/default/a"). Every transaction
 * that changes something gets the next revision of one global counter; revisions are never reused,
 * not even after a crash. A transaction is acknowledged, and seen by readers and watchers, only
 * after the fsync that contains it. The store keeps older revisions for a window, then compacts
 * them.
 *
 * Two back ends share this interface: SQLite and etcd. Reads therefore have callbacks too; with
 * SQLite the callback runs on the next turn of the loop, at negligible cost.
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
    STORE_PENDING_MAX_BYTES = 64 << 20, /* of queued transactions; beyond: -EBUSY */
    STORE_PAGE_MAX_ROWS = 500,          /* per range page */
    STORE_PAGE_MAX_BYTES = 4 << 20,
    STORE_WATCH_QUEUE_MAX_BYTES = 4 << 20 /* per watch; beyond, it ends with -EMSGSIZE */
};

struct store_opts {
    const char *path;           /* SQLite file; its directory must exist */
    uint64_t history_ms;        /* keep old revisions this long; 0: 300000 */
    uint64_t history_revisions; /* and at least this many; 0: 10000 */
    uint64_t idle_ms;           /* release memory after this long without activity; 0: 2000 */
};

/*
 * Open the store. Blocks while it checks the file; call it before the loop runs.
 *
 * Errors: E_VERSION (written by a newer program), E_CORRUPT (damaged; the error says which check
 * failed, the file is left untouched), E_INVALID (another program's database), -EWOULDBLOCK
 * (another process has it open), -EACCES, -ENOSPC, ...
 */
int store_open(struct loop *loop, const struct store_opts *opts, struct store **ret,
               struct err *err);
/*
 * Drain the writer, checkpoint and release the store; done() runs at the end. Watches and pending
 * reads end with -ECANCELED first; queued transactions are committed. Later calls return
 * -ECANCELED.
 */
void store_close(struct store *s, void (*done)(void *arg), void *arg);

/* The newest durable revision (0: empty store), and the oldest revision that can still be read. */
uint64_t store_revision(const struct store *s);
uint64_t store_compacted(const struct store *s); /* revisions below this are gone */

struct store_kv {
    struct str key, value;
    uint64_t create_rev, mod_rev;
    uint64_t version; /* 1 at creation, +1 per change */
};

/*
 * kv: NULL if the key is absent; borrowed until the callback returns. rev: the revision of the
 * read.
 */
typedef void (*store_get_cb)(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                             const struct err *err);
/* at_rev 0: newest. Errors: E_EXPIRED, E_FUTURE, I/O. */
int store_get(struct store *s, struct str key, uint64_t at_rev, store_get_cb cb, void *arg,
              struct err *err);

struct store_range {
    struct str prefix;
    struct str
        after;       /* start after this key; "": from the beginning (keys are compared bytewise) */
    size_t limit;    /* rows; 0: as many as fit one page */
    uint64_t at_rev; /* 0: newest */
    bool keys_only;  /* values stay empty */
    /*
     * Leave out damaged rows and log their keys, instead of failing with E_DIGEST. For callers that
     * read many objects and can do without some: the server must start even if one object is
     * damaged.
     */
    bool skip_damaged;
    bool count_left; /* fill `left` */
    /*
     * Read through an index; "": none. Of the keys with `prefix`, only those are read for which the
     * index has a key: the object's key with its first index_root bytes replaced by `index`. Index
     * entries whose object is absent are skipped. Not with keys_only or count_left.
     */
    struct str index;
    size_t index_root;
};
struct store_page {
    const struct store_kv *kv; /* in key order */
    size_t n;
    bool more;       /* continue with after = kv[n - 1].key and at_rev = rev */
    uint64_t left;   /* rows after this page, with count_left */
    uint64_t rev;    /* revision of the read */
    size_t left_out; /* rows that skip_damaged left out */
};
typedef void (*store_range_cb)(void *arg, int r, const struct store_page *page,
                               const struct err *err);
int store_range(struct store *s, const struct store_range *range, store_range_cb cb, void *arg,
                struct err *err);

enum store_cmp { STORE_ANY, STORE_ABSENT, STORE_MOD_REV };
struct store_op {
    /*
     * STORE_DELETE_DAMAGED deletes a key only if its value cannot be read (E_DIGEST) and makes no
     * other comparison; E_CONFLICT if the value can be read or the key is absent. The old value is
     * lost, so watches that cover the key end with E_DIGEST.
     */
    enum { STORE_PUT, STORE_DELETE, STORE_CHECK, STORE_DELETE_DAMAGED } kind;
    struct str key, value; /* copied */
    enum store_cmp cmp;    /* compared before anything is changed */
    uint64_t cmp_rev;      /* for STORE_MOD_REV */
};
/*
 * All or nothing.
 *
 * Returned at once: -EINVAL (a key is empty or too long, or changed twice), -EMSGSIZE (a value or
 * the whole transaction is too large), -EBUSY (STORE_PENDING_MAX_BYTES are queued).
 *
 * r: 0 with the revision; E_CONFLICT: nothing changed, failed_op is the index of the first
 * comparison that did not hold and rev the revision compared with; -EMSGSIZE: the transaction would
 * replace more than 64 MiB, nothing changed; -ENOSPC and other I/O errors: nothing changed. A
 * transaction that only checks, or only deletes absent keys, takes no revision.
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
    bool has_prev, lost_prev; /* lost: by STORE_DELETE_DAMAGED; not delivered to watches */
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
     * The last call, once: -ECANCELED, E_EXPIRED (history compacted), E_DIGEST (history damaged:
     * list again), -EMSGSIZE (the watcher is too slow), or an I/O error.
     */
    void (*on_end)(void *arg, int r, const struct err *err);
};
/* from_rev: first revision wanted; 0: from now on. E_EXPIRED, E_FUTURE are returned at once. */
int store_watch_start(struct store *s, struct str prefix, uint64_t from_rev,
                      const struct store_watch_ops *ops, void *arg, struct store_watch **ret,
                      struct err *err);
/*
 * Pause and resume delivery. Events of a paused watch wait in the store, up to
 * STORE_WATCH_QUEUE_MAX_BYTES.
 */
void store_watch_pause(struct store_watch *w);
void store_watch_resume(struct store_watch *w);
/*
 * No callback runs any more, not even on_end. Allowed, without effect, from on_end; not after it.
 */
void store_watch_cancel(struct store_watch *w);
/* Everything up to this revision has been delivered; a bookmark may carry it. */
uint64_t store_watch_progress(const struct store_watch *w);

/* Compact revisions below rev. -EINVAL: rev is beyond the newest. */
typedef void (*store_compact_cb)(void *arg, int r, const struct err *err);
int store_compact(struct store *s, uint64_t rev, store_compact_cb cb, void *arg, struct err *err);

struct store_stats {
    uint64_t commits, txns, conflicts, fsyncs, rows, bytes_on_disk, watchers;
    uint64_t bytes_reusable; /* of bytes_on_disk: free pages of the file, reused by later writes */
};
void store_stats(const struct store *s, struct store_stats *ret);

/* A change whose checksum does not match. */
struct store_damage {
    struct str key; /* as far as it can be read; borrowed until the callback returns */
    uint64_t rev;
    bool is_current; /* the key's current row; else an older one, or a deletion */
};
struct store_check_result {
    uint64_t keys;                     /* that have a value, damaged ones included */
    uint64_t damaged_now, damaged_old; /* calls of on_damage */
};
/*
 * Read a whole SQLite store that no process has open, and report damaged changes. remove: delete
 * the damaged keys with all history, so that the rest can be used; watchers list again. Blocks;
 * needs no loop.
 *
 * Errors: as store_open(); E_CORRUPT: the file's structure is damaged and cannot be repaired;
 * E_VERSION also for a file that an older program wrote and no server has opened since.
 */
int store_check(const char *path, bool remove,
                void (*on_damage)(void *arg, const struct store_damage *d), void *arg,
                struct store_check_result *ret, struct err *err);
