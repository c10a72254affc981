/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One SQLite connection to a store file: creation and checks of the file, statements, rows.
 *
 * The file holds an append-only log with one row for each change and a table of current keys that
 * points into it:
 *
 *     log  id = revision << 7 | index in its transaction; the newest row is never deleted, so the
 *          revision counter needs no place of its own
 *          key, create_rev, version, value      version 0, value NULL: the key was deleted
 *          prev       id of the key's previous change, or 0
 *          jump       id of an earlier change of the key, or 0; jump_len changes back
 *          sum        checksum of all the others; see db_sum()
 *     cur  key -> id of its newest change, dead: that one is a deletion
 *     meta compacted: revisions below are gone; swept: log rows below this id have been cleaned up;
 *          floor: revisions up to this one may have been given and lost, 0 without
 *
 * Version 1 had no sums. db_upgrade() adds them, in small transactions; the last one moves the
 * version, so a program that knows version 1 only can use the file after every earlier step.
 *
 * Older states of a key are found by following prev and jump from its newest row: the jumps form a
 * skew-binary list (Myers, "An applicative random-access stack", 1983), so that a key changed n
 * times since costs O(log n) rows, without an index by key and revision that each write would have
 * to keep.
 *
 * A connection belongs to one thread at a time.
 */
#pragma once

#include "base/mem.h"
#include "store/store.h"

#include <sqlite3.h>

enum {
    DB_PAGE_BYTES = 4096,
    DB_APPLICATION_ID = 0x646f726d, /* "dorm" */
    DB_SCHEMA_VERSION = 2,
    DB_SUB_BITS = 7
};
_Static_assert(STORE_TXN_MAX_OPS <= 1 << DB_SUB_BITS, "a change's index must fit its id");

static inline int64_t db_id(uint64_t rev, size_t sub)
{
    return (int64_t)(rev << DB_SUB_BITS | sub);
}
static inline uint64_t db_rev(int64_t id)
{
    return (uint64_t)id >> DB_SUB_BITS;
}

/* One row of log: one change of one key. */
struct db_row {
    int64_t id;
    uint64_t create_rev;
    uint64_t version; /* 0: a deletion */
    int64_t prev, jump, jump_len;
    struct str key, value; /* borrowed until the next call on the same connection */
    bool has_sum;          /* as read; always, but in a file of version 1 */
};

#define DB_ROW(from, value_column)                                                                 \
    "SELECT " from ".id, " from                                                                    \
    ".key, l.create_rev, l.version, l.prev, l.jump, l.jump_len, " value_column ", l.sum FROM "
#define DB_CURRENT "cur c LEFT JOIN log l ON l.id = c.id WHERE "

/* name, text; prepared when first used */
#define DB_STATEMENTS(X)                                                                           \
    X(DB_BEGIN, "BEGIN IMMEDIATE")                                                                 \
    X(DB_COMMIT, "COMMIT")                                                                         \
    X(DB_ROLLBACK, "ROLLBACK")                                                                     \
    X(DB_FIND, DB_ROW("c", "l.value") DB_CURRENT "c.key = ?1")                                     \
    X(DB_FIND_KEY, DB_ROW("c", "NULL") DB_CURRENT "c.key = ?1")                                    \
    X(DB_SCAN, DB_ROW("c", "l.value") DB_CURRENT "c.key >= ?1 AND c.key < ?2 ORDER BY c.key")      \
    X(DB_SCAN_KEYS, DB_ROW("c", "NULL") DB_CURRENT "c.key >= ?1 AND c.key < ?2 ORDER BY c.key")    \
    X(DB_COUNT, "SELECT count(*) FILTER (WHERE id < ?3 AND dead = 0),"                             \
                " count(*) FILTER (WHERE id >= ?3) FROM cur WHERE key >= ?1 AND key < ?2")         \
    X(DB_SCAN_NEWER, "SELECT id FROM cur WHERE key >= ?1 AND key < ?2 AND id >= ?3")               \
    X(DB_ROW_BY_ID, DB_ROW("l", "l.value") "log l WHERE l.id = ?1")                                \
    X(DB_KEY_BY_ID, DB_ROW("l", "NULL") "log l WHERE l.id = ?1")                                   \
    X(DB_LOG, DB_ROW("l", "l.value") "log l WHERE l.id >= ?1 AND l.id < ?2 ORDER BY l.id")         \
    X(DB_LOG_KEYS, DB_ROW("l", "NULL") "log l WHERE l.id >= ?1 AND l.id < ?2 ORDER BY l.id")       \
    X(DB_ADD_ROW,                                                                                  \
      "INSERT INTO log (id, key, create_rev, version, prev, jump, jump_len, value, sum)"           \
      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")                                              \
    X(DB_SET_SUM, "UPDATE log SET sum = ?2 WHERE id = ?1")                                         \
    X(DB_DELETE_ROW, "DELETE FROM log WHERE id = ?1")                                              \
    X(DB_ADD_KEY, "INSERT INTO cur (key, id, dead) VALUES (?1, ?2, ?3)")                           \
    X(DB_SET_KEY, "UPDATE cur SET id = ?2, dead = ?3 WHERE key = ?1")                              \
    X(DB_DELETE_KEY, "DELETE FROM cur WHERE key = ?1 AND id = ?2")                                 \
    X(DB_LAST_ID, "SELECT max(id) FROM log")                                                       \
    X(DB_GET_META, "SELECT value FROM meta WHERE name = ?1")                                       \
    X(DB_SET_META, "INSERT OR REPLACE INTO meta (name, value) VALUES (?1, ?2)")

enum db_statement {
#define DB_ENUM(name, text) name,
    DB_STATEMENTS(DB_ENUM)
#undef DB_ENUM
        DB_STATEMENT_COUNT
};

/* Point *s at a copy in the arena. false, and nothing changed: no memory, or the arena's limit. */
bool db_keep(struct arena *mem, struct str *s);

struct db {
    sqlite3 *sql;
    char *path;
    bool unsummed; /* of version 1: rows may be without a sum */
    sqlite3_stmt *statements[DB_STATEMENT_COUNT];
};

/*
 * Make an empty store at `path`, whole or not at all. -EEXIST is not an error here: nothing is
 * done. Blocks; for use before the loop runs.
 */
int db_create(const char *path, struct err *err);
/*
 * Is this a store of ours, of a version that we know, and not cut short? Reads the file without
 * SQLite, which might change it. E_CORRUPT, E_INVALID (another program's), E_VERSION.
 */
int db_check_file(const char *path, struct err *err);

/*
 * The checksum of a row: the upper half is of its key and numbers, the lower one of its value, so
 * that a row read without its value is checked too.
 */
int64_t db_sum(const struct db_row *row);

int db_open(struct db *db, const char *path, int cache_kib, struct err *err);
void db_close(struct db *db); /* fine when zeroed or half open */
/*
 * Check what the rows say of each other, and the structure of the whole file where that is cheap or
 * the last user did not end cleanly (was_clean). The file is left as it is until db_trust().
 */
int db_check(struct db *db, bool was_clean, struct err *err);
/* Of the file, its log included: E_VERSION, E_CORRUPT, and whether rows may be without a sum. */
int db_read_version(struct db *db, struct err *err);
/* Read the whole file and check the structure of its pages. E_CORRUPT. */
int db_check_structure(struct db *db, struct err *err);
/* Upgrade a file of an older version. To be called after db_check(). A crash loses no data. */
int db_upgrade(struct db *db, struct err *err);
/*
 * -EROFS (or -EACCES) if the connection can only read: SQLite opens a file or its log read-only
 * when it cannot open it otherwise, also if there was only no descriptor left, and says nothing.
 */
int db_check_writable(struct db *db, struct err *err);
/* The newest revision given, or the floor. */
int db_newest(struct db *db, uint64_t *ret, struct err *err);
/* Make `floor` the newest revision, and the oldest that can be read. */
int db_raise_floor(struct db *db, uint64_t floor, struct err *err);
/* Closing may tidy the file from now on. */
void db_trust(struct db *db);

/* Turn a result code of SQLite into ours, with the path and what was being done. */
int db_error(struct db *db, int rc, const char *what, struct err *err);

/* Run a text, of several statements too; what: what was being done, for the error. */
int db_exec(struct db *db, const char *sql, const char *what, struct err *err);
/* Run a statement that gives no row. */
int db_run(struct db *db, enum db_statement which, struct err *err);
int db_run_ids(struct db *db, enum db_statement which, int64_t id, struct err *err);
int db_set_key(struct db *db, enum db_statement which, struct str key, int64_t id, bool dead,
               struct err *err);
int db_delete_key(struct db *db, struct str key, int64_t id, struct err *err);
int db_add_row(struct db *db, const struct db_row *row, struct err *err);
int db_get_meta(struct db *db, const char *name, int64_t *ret, struct err *err);
int db_set_meta(struct db *db, const char *name, int64_t value, struct err *err);
int db_last_id(struct db *db, int64_t *ret, struct err *err); /* 0: empty */

/*
 * Looking up one row: 1 with *ret set, 0 when there is none. It is borrowed from the statement,
 * which holds the connection's snapshot until db_done() (one for each kind of lookup). E_DIGEST: a
 * row whose checksum does not match; others can be read, and a scan continues after it.
 */
int db_find(struct db *db, struct str key, bool want_value, struct db_row *ret, struct err *err);
int db_row(struct db *db, int64_t id, bool want_value, struct db_row *ret, struct err *err);
/* The newest row below id `limit` among `at` and the earlier changes of the same key. */
int db_row_before(struct db *db, int64_t at, int64_t limit, bool want_value, struct db_row *ret,
                  struct err *err);
void db_done(struct db *db, enum db_statement which);

/* Keys with a prefix, in order, behind a key; or log rows by id. Both strings are kept until the
 * scan ends. */
struct db_scan {
    struct db *db;
    enum db_statement which;
    char lower[STORE_KEY_MAX_BYTES + 1], upper[STORE_KEY_MAX_BYTES + 1];
};
int db_scan_keys(struct db_scan *scan, struct db *db, struct str prefix, struct str after,
                 bool want_values, struct err *err);
int db_scan_log(struct db_scan *scan, struct db *db, int64_t from, int64_t to, bool want_values,
                struct err *err);
int db_scan_next(struct db_scan *scan, struct db_row *ret, struct err *err); /* 1, 0 at the end */
void db_scan_end(struct db_scan *scan);

/* Keys with a prefix behind a key that had a value at the revision whose ids end before `limit`. */
int db_count(struct db *db, struct str prefix, struct str after, int64_t limit, uint64_t *ret,
             struct err *err);

/* Copy pages from the write-ahead log into the file; *ret_copied: frames of the log done so far. */
int db_checkpoint(struct db *db, int *ret_copied, struct err *err);
/* Of the file: pages that hold nothing. 0 when that cannot be read. */
uint64_t db_free_bytes(struct db *db);
/* Give back the page cache. */
void db_trim(struct db *db);
