/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One SQLite connection to a store file: creation and checks of the file, statements, rows.
 *
 * The file holds an append-only log with one row per change and a table of current keys that point
 * into it:
 *
 *     log  id = revision << 7 | index in its transaction; the newest row is never deleted, so the
 *          revision counter needs no storage of its own
 *          key, create_rev, version, value      version 0, value NULL: the key was deleted
 *          prev       id of the key's previous change, or 0
 *          jump       id of an earlier change of the key, or 0; jump_len changes back
 *          sum        checksum of all other columns; see db_sum()
 *     cur  key -> id of its newest change; dead: that change is a deletion
 *     meta compacted: revisions below are gone; swept: log rows below this id have been cleaned up;
 *          floor: revisions up to this one may have been allocated and lost, 0 if absent
 *
 * Version 1 had no sums. db_upgrade() adds them in small transactions; the last one sets the
 * version, so a program that knows only version 1 can use the file after every earlier step.
 *
 * To find older states of a key, follow prev and jump from its newest row. The jumps form a
 * skew-binary list (Myers, "An applicative random-access stack", 1983), so a key changed n times
 * since costs O(log n) rows, without an index by key and revision that each write would have to
 * maintain.
 *
 * A connection is used by one thread at a time.
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
    bool has_sum;          /* as read; always true except in a file of version 1 */
};

#define DB_ROW(from, value_column)                                                                 \
    "SELECT " from ".id, " from                                                                    \
    ".key, l.create_rev, l.version, l.prev, l.jump, l.jump_len, " value_column ", l.sum FROM "
#define DB_CURRENT "cur c LEFT JOIN log l ON l.id = c.id WHERE "

/* name, text; a statement is prepared on first use */
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

/* Point *s at a copy in the arena. false: no memory, or the arena's limit; nothing has changed. */
bool db_keep(struct arena *mem, struct str *s);

struct db {
    sqlite3 *sql;
    char *path;
    bool unsummed; /* the file has version 1: rows may lack a sum */
    sqlite3_stmt *statements[DB_STATEMENT_COUNT];
};

/*
 * Create an empty store at `path`, whole or not at all. If the file exists, does nothing and
 * returns 0. Blocks; call it before the loop runs.
 */
int db_create(const char *path, struct err *err);
/*
 * Check that the file is a dormouse store of a known version and is not truncated. Reads the file
 * without SQLite, which might change it. E_CORRUPT, E_INVALID (another program's), E_VERSION.
 */
int db_check_file(const char *path, struct err *err);

/*
 * The checksum of a row. The upper half covers the key and the numbers, the lower half the value,
 * so that a row that is read without its value is checked, too.
 */
int64_t db_sum(const struct db_row *row);

int db_open(struct db *db, const char *path, int cache_kib, struct err *err);
void db_close(struct db *db); /* fine when zeroed or half open */
/*
 * Check that rows are consistent with each other; check the structure of the whole file if that is
 * cheap or if the previous process did not close it cleanly (was_clean). The file is not changed
 * until db_trust().
 */
int db_check(struct db *db, bool was_clean, struct err *err);
/*
 * Read the version of the file, log included, and whether rows may lack a sum. E_VERSION,
 * E_CORRUPT.
 */
int db_read_version(struct db *db, struct err *err);
/* Read the whole file and check the structure of its pages. E_CORRUPT. */
int db_check_structure(struct db *db, struct err *err);
/* Upgrade a file of an older version. Call it after db_check(). A crash loses no data. */
int db_upgrade(struct db *db, struct err *err);
/*
 * -EROFS (or -EACCES) if the connection is read-only. SQLite silently opens the file or its log
 * read-only if it cannot open it for writing, even if the process has merely run out of
 * descriptors.
 */
int db_check_writable(struct db *db, struct err *err);
/* The newest revision allocated, or the floor. */
int db_newest(struct db *db, uint64_t *ret, struct err *err);
/* Make `floor` the newest revision, and the oldest that can be read. */
int db_raise_floor(struct db *db, uint64_t floor, struct err *err);
/* Closing may change the file (checkpoint it) from now on. */
void db_trust(struct db *db);

/* Convert a result code of SQLite; the error names the path and the operation, `what`. */
int db_error(struct db *db, int rc, const char *what, struct err *err);

/* Run SQL text, which may contain several statements. what: the operation, for the error. */
int db_exec(struct db *db, const char *sql, const char *what, struct err *err);
/* Run a statement that returns no row. */
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
 * Look up one row: 1 with *ret set, 0 if there is none. The row is borrowed from the statement,
 * which holds the connection's snapshot until db_done() (one for each kind of lookup). E_DIGEST:
 * the row's checksum does not match; other rows can be read, and a scan continues after it.
 */
int db_find(struct db *db, struct str key, bool want_value, struct db_row *ret, struct err *err);
int db_row(struct db *db, int64_t id, bool want_value, struct db_row *ret, struct err *err);
/* The newest row with an id below `limit` among `at` and the earlier changes of the same key. */
int db_row_before(struct db *db, int64_t at, int64_t limit, bool want_value, struct db_row *ret,
                  struct err *err);
void db_done(struct db *db, enum db_statement which);

/*
 * Scan keys with a prefix, in order, after a key; or log rows by id. Both strings are kept until
 * the scan ends.
 */
struct db_scan {
    struct db *db;
    enum db_statement which;
    char lower[STORE_KEY_MAX_BYTES + 1], upper[STORE_KEY_MAX_BYTES + 1];
};
int db_scan_keys(struct db_scan *scan, struct db *db, struct str prefix, struct str after,
                 bool want_values, struct err *err);
int db_scan_log(struct db_scan *scan, struct db *db, int64_t from, int64_t to, bool want_values,
                struct err *err);
int db_scan_next(struct db_scan *scan, struct db_row *ret, struct err *err); /* 1; 0 at the end */
void db_scan_end(struct db_scan *scan);

/*
 * Count the keys with a prefix, after a key, that had a value at the revision whose ids end before
 * `limit`.
 */
int db_count(struct db *db, struct str prefix, struct str after, int64_t limit, uint64_t *ret,
             struct err *err);

/*
 * Copy pages from the write-ahead log into the file; *ret_copied: frames of the log copied so far.
 */
int db_checkpoint(struct db *db, int *ret_copied, struct err *err);
/* Free pages of the file, in bytes. 0 if that cannot be read. */
uint64_t db_free_bytes(struct db *db);
/* Release the page cache. */
void db_trim(struct db *db);
