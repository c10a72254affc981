/* SPDX-License-Identifier: Apache-2.0 */
/* A SQLite connection to a store file; see db.h. */
#include "store/db.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/sum.h"
#include "base/sys.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HEADER_BYTES = 100,
    CHECK_ALWAYS_MAX_BYTES = 4 << 20,   /* check the whole structure at every open */
    CHECK_UNCLEAN_MAX_BYTES = 64 << 20, /* after a crash, up to this size; about 1 ms per MiB */
    UPGRADE_STEP_ROWS = 500,            /* per transaction */
    UPGRADE_STEP_BYTES = 4 << 20,
    BUSY_TIMEOUT_MS = 5000 /* only our own other connection can hold the lock */
};

static const char *const statement_texts[] = {
#define DB_TEXT(name, text) text,
    DB_STATEMENTS(DB_TEXT)
#undef DB_TEXT
};

/* ------------------------------------------------------------------ errors */

static int last_errno(sqlite3_file *f)
{
    int e = 0;
    bool is_known =
        f && f->pMethods && f->pMethods->xFileControl(f, SQLITE_FCNTL_LAST_ERRNO, &e) == SQLITE_OK;
    return is_known ? e : 0;
}

/*
 * SQLite also reports a file as damaged if the disk fails to read it (SQLITE_IOERR_CORRUPTFS
 * becomes SQLITE_CORRUPT). The last errno of the file or its log tells the two cases apart. It
 * stays set, so real damage after a read error is reported as an I/O error, which is also true.
 */
static bool is_read_error(struct db *db)
{
    static const int files[] = { SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER };
    for (size_t i = 0; db->sql && i < ARRAY_LEN(files); i++) {
        sqlite3_file *f = NULL;
        if (sqlite3_file_control(db->sql, "main", files[i], &f) == SQLITE_OK &&
            last_errno(f) == EIO)
            return true;
    }
    return false;
}

static int code_of(struct db *db, int rc)
{
    int sys = db->sql ? sqlite3_system_errno(db->sql) : 0;
    /* A failure to grow the index of the write-ahead log, which is a file too. */
    if (db->sql && rc != SQLITE_OK && sqlite3_extended_errcode(db->sql) == SQLITE_IOERR_SHMSIZE)
        return -ENOSPC;
    switch (rc & 0xff) {
    case SQLITE_CORRUPT:
        return is_read_error(db) ? -EIO : E_CORRUPT;
    case SQLITE_NOTADB:
    case SQLITE_SCHEMA:
    case SQLITE_ERROR: /* one of our tables or columns is missing */
        return E_CORRUPT;
    case SQLITE_FULL:
        return -ENOSPC;
    case SQLITE_NOMEM:
        return -ENOMEM;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return -EBUSY;
    case SQLITE_READONLY:
        return sys == EACCES ? -EACCES : -EROFS;
    case SQLITE_PERM:
        return -EACCES;
    case SQLITE_TOOBIG:
        return -EMSGSIZE;
    default:
        return sys > 0 ? -sys : -EIO;
    }
}

int db_error(struct db *db, int rc, const char *what, struct err *err)
{
    int code = code_of(db, rc);
    if (code == -ENOSPC || (code == -EIO && (rc & 0xff) == SQLITE_CORRUPT))
        return err_sys(err, code, "store '%s': %s", db->path, what);
    return err_set(err, code, "store '%s': %s: %s", db->path, what,
                   db->sql ? sqlite3_errmsg(db->sql) : sqlite3_errstr(rc));
}

static int damaged(const struct db *db, struct err *err, const char *why)
{
    return err_set(err, E_CORRUPT, "store '%s' is damaged: %s", db->path, why);
}

/* ------------------------------------------------------------------ statements */

/* Returns a statement ready for binding; NULL with *ret_rc set if it cannot be prepared. */
static sqlite3_stmt *statement(struct db *db, enum db_statement which, int *ret_rc)
{
    assert(db->sql && which < DB_STATEMENT_COUNT);
    sqlite3_stmt **slot = &db->statements[which];
    if (!*slot)
        *ret_rc = sqlite3_prepare_v3(db->sql, statement_texts[which], -1, SQLITE_PREPARE_PERSISTENT,
                                     slot, NULL);
    return *slot;
}

void db_done(struct db *db, enum db_statement which)
{
    if (db->statements[which])
        (void)sqlite3_reset(db->statements[which]); /* sqlite3_step() has reported its error */
}

static int bind_str(sqlite3_stmt *st, int at, struct str s)
{
    return sqlite3_bind_blob64(st, at, s.p ? s.p : "", s.n, SQLITE_STATIC);
}

/* Step a statement that returns no row, and reset it. */
static int finish(struct db *db, sqlite3_stmt *st, const char *what, struct err *err)
{
    int rc = sqlite3_step(st);
    int r = rc == SQLITE_DONE ? 0 : db_error(db, rc, what, err);
    (void)sqlite3_reset(st);
    return r;
}

int db_run(struct db *db, enum db_statement which, struct err *err)
{
    int rc = SQLITE_OK;
    sqlite3_stmt *st = statement(db, which, &rc);
    if (!st)
        return db_error(db, rc, "prepare", err);
    return finish(db, st, statement_texts[which], err);
}

int db_run_ids(struct db *db, enum db_statement which, int64_t id, struct err *err)
{
    int rc = SQLITE_OK;
    sqlite3_stmt *st = statement(db, which, &rc);
    if (!st)
        return db_error(db, rc, "prepare", err);
    (void)sqlite3_bind_int64(st, 1, id);
    return finish(db, st, "delete a revision", err);
}

int db_set_key(struct db *db, enum db_statement which, struct str key, int64_t id, bool dead,
               struct err *err)
{
    int rc = SQLITE_OK;
    assert((which == DB_SET_KEY || which == DB_ADD_KEY) && key.n <= STORE_KEY_MAX_BYTES);
    sqlite3_stmt *st = statement(db, which, &rc);
    if (!st)
        return db_error(db, rc, "prepare", err);
    (void)bind_str(st, 1, key);
    (void)sqlite3_bind_int64(st, 2, id);
    (void)sqlite3_bind_int(st, 3, dead);
    return finish(db, st, "write a key", err);
}

int db_delete_key(struct db *db, struct str key, int64_t id, struct err *err)
{
    int rc = SQLITE_OK;
    sqlite3_stmt *st = statement(db, DB_DELETE_KEY, &rc);
    if (!st)
        return db_error(db, rc, "prepare", err);
    (void)bind_str(st, 1, key);
    (void)sqlite3_bind_int64(st, 2, id);
    return finish(db, st, "delete a key", err);
}

static int damaged_row(const struct db_row *row, struct err *err)
{
    return err_set(err, E_DIGEST,
                   "the stored value of '" STR_FMT "' at revision %llu is damaged: 'dormouse store "
                   "check --remove' deletes it while the server is stopped",
                   STR_ARG(row->key), (unsigned long long)db_rev(row->id));
}

int db_add_row(struct db *db, const struct db_row *row, struct err *err)
{
    int rc = SQLITE_OK;
    assert(row->id > 0);
    /* They come from the key's entry and from an older row: the file may be damaged. */
    if (row->prev >= row->id || (row->jump == 0) != (row->jump_len == 0))
        return damaged_row(row, err);
    sqlite3_stmt *st = statement(db, DB_ADD_ROW, &rc);
    if (!st)
        return db_error(db, rc, "prepare", err);
    (void)sqlite3_bind_int64(st, 1, row->id);
    (void)bind_str(st, 2, row->key);
    (void)sqlite3_bind_int64(st, 3, (int64_t)row->create_rev);
    (void)sqlite3_bind_int64(st, 4, (int64_t)row->version);
    (void)sqlite3_bind_int64(st, 5, row->prev);
    (void)sqlite3_bind_int64(st, 6, row->jump);
    (void)sqlite3_bind_int64(st, 7, row->jump_len);
    if (row->version)
        (void)bind_str(st, 8, row->value);
    else
        (void)sqlite3_bind_null(st, 8);
    (void)sqlite3_bind_int64(st, 9, db_sum(row));
    return finish(db, st, "write a revision", err);
}

/* One integer of one row; 0 if there is no row or it is NULL. */
static int one_integer(struct db *db, sqlite3_stmt *st, int64_t *ret, struct err *err)
{
    int rc = sqlite3_step(st);
    int r = rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : db_error(db, rc, "read", err);
    if (r == 0)
        *ret = rc == SQLITE_ROW ? sqlite3_column_int64(st, 0) : 0;
    (void)sqlite3_reset(st);
    return r;
}

int db_last_id(struct db *db, int64_t *ret, struct err *err)
{
    int rc = SQLITE_OK;
    sqlite3_stmt *st = statement(db, DB_LAST_ID, &rc);
    if (!st)
        return db_error(db, rc, "prepare", err);
    return one_integer(db, st, ret, err);
}

int db_get_meta(struct db *db, const char *name, int64_t *ret, struct err *err)
{
    int rc = SQLITE_OK;
    sqlite3_stmt *st = statement(db, DB_GET_META, &rc);
    if (!st)
        return db_error(db, rc, "prepare", err);
    (void)sqlite3_bind_text(st, 1, name, -1, SQLITE_STATIC);
    return one_integer(db, st, ret, err);
}

int db_set_meta(struct db *db, const char *name, int64_t value, struct err *err)
{
    int rc = SQLITE_OK;
    sqlite3_stmt *st = statement(db, DB_SET_META, &rc);
    if (!st)
        return db_error(db, rc, "prepare", err);
    (void)sqlite3_bind_text(st, 1, name, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(st, 2, value);
    return finish(db, st, "write", err);
}

/* ------------------------------------------------------------------ rows */

bool db_keep(struct arena *mem, struct str *s)
{
    char *p = arena_try(mem, s->n ? s->n : 1);
    if (!p)
        return false;
    if (s->n)
        memcpy(p, s->p, s->n);
    s->p = p;
    return true;
}

static struct str column_str(sqlite3_stmt *st, int at)
{
    const void *p = sqlite3_column_blob(st, at);
    return str_n(p ? p : "", (size_t)sqlite3_column_bytes(st, at));
}

static uint32_t head_sum(const struct db_row *row)
{
    const uint64_t numbers[] = {
        (uint64_t)row->id,   row->create_rev,     row->version,
        (uint64_t)row->prev, (uint64_t)row->jump, (uint64_t)row->jump_len
    };
    uint64_t h = 0;
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        h = sum64_u64(h, numbers[i]);
    h = sum64(row->key, h);
    return (uint32_t)(h ^ h >> 32);
}

static uint32_t value_sum(const struct db_row *row)
{
    uint64_t h = row->version ? sum64(row->value, 0) : 0;
    return (uint32_t)(h ^ h >> 32);
}

int64_t db_sum(const struct db_row *row)
{
    return (int64_t)((uint64_t)head_sum(row) << 32 | value_sum(row));
}

/* at: the column of the sum. */
static bool sum_holds(const struct db *db, sqlite3_stmt *st, int at, const struct db_row *row,
                      bool has_value)
{
    if (!row->has_sum)
        return db->unsummed;
    uint64_t sum = (uint64_t)sqlite3_column_int64(st, at);
    return sum >> 32 == head_sum(row) && (!has_value || (uint32_t)sum == value_sum(row));
}

/* Step a statement made with DB_ROW; has_value: it selects the value, too. */
static int next_row(struct db *db, sqlite3_stmt *st, bool has_value, struct db_row *ret,
                    struct err *err)
{
    int rc = sqlite3_step(st);
    if (rc == SQLITE_DONE)
        return 0;
    if (rc != SQLITE_ROW)
        return db_error(db, rc, "read", err);
    if (sqlite3_column_type(st, 2) == SQLITE_NULL)
        return damaged(db, err, "a key points at a revision that is not there");
    *ret = (struct db_row){
        .id = sqlite3_column_int64(st, 0),
        .key = column_str(st, 1),
        .create_rev = (uint64_t)sqlite3_column_int64(st, 2),
        .version = (uint64_t)sqlite3_column_int64(st, 3),
        .prev = sqlite3_column_int64(st, 4),
        .jump = sqlite3_column_int64(st, 5),
        .jump_len = sqlite3_column_int64(st, 6),
        .value = column_str(st, 7),
        .has_sum = sqlite3_column_type(st, 8) == SQLITE_INTEGER,
    };
    return sum_holds(db, st, 8, ret, has_value) ? 1 : damaged_row(ret, err);
}

int db_find(struct db *db, struct str key, bool want_value, struct db_row *ret, struct err *err)
{
    int rc = SQLITE_OK;
    sqlite3_stmt *st = statement(db, want_value ? DB_FIND : DB_FIND_KEY, &rc);
    if (!st)
        return db_error(db, rc, "prepare", err);
    (void)sqlite3_reset(st);
    (void)bind_str(st, 1, key);
    return next_row(db, st, want_value, ret, err);
}

int db_row(struct db *db, int64_t id, bool want_value, struct db_row *ret, struct err *err)
{
    int rc = SQLITE_OK;
    sqlite3_stmt *st = statement(db, want_value ? DB_ROW_BY_ID : DB_KEY_BY_ID, &rc);
    if (!st)
        return db_error(db, rc, "prepare", err);
    (void)sqlite3_reset(st);
    (void)sqlite3_bind_int64(st, 1, id);
    return next_row(db, st, want_value, ret, err);
}

/*
 * A row that does not exist was compacted away: the key was then absent at every revision before it
 * that can still be read.
 */
int db_row_before(struct db *db, int64_t at, int64_t limit, bool want_value, struct db_row *ret,
                  struct err *err)
{
    while (at >= limit) {
        struct db_row row;
        int r = db_row(db, at, false, &row, err);
        if (r <= 0)
            return r;
        if (row.prev >= at || row.jump >= at)
            return damaged(db, err, "the history of a key runs in a circle");
        at = row.jump >= limit ? row.jump : row.prev;
    }
    return at ? db_row(db, at, want_value, ret, err) : 0;
}

/* ------------------------------------------------------------------ scans */

/* The smallest key after all that begin with prefix; if there is none, a bound after every key. */
static struct str prefix_end(struct str prefix, char out[STORE_KEY_MAX_BYTES + 1])
{
    size_t n = prefix.n;
    assert(n <= STORE_KEY_MAX_BYTES);
    while (n && (unsigned char)prefix.p[n - 1] == 0xff)
        n--;
    if (n == 0) {
        memset(out, 0xff, STORE_KEY_MAX_BYTES + 1);
        return str_n(out, STORE_KEY_MAX_BYTES + 1);
    }
    memcpy(out, prefix.p, n);
    out[n - 1]++;
    return str_n(out, n);
}

/*
 * The smallest key of the scan: the successor of `after` is `after` plus a zero byte, compared
 * bytewise.
 */
static struct str scan_start(struct str prefix, struct str after, char out[STORE_KEY_MAX_BYTES + 1])
{
    if (after.n == 0 || str_cmp(after, prefix) < 0)
        return prefix;
    assert(after.n <= STORE_KEY_MAX_BYTES);
    memcpy(out, after.p, after.n);
    out[after.n] = '\0';
    return str_n(out, after.n + 1);
}

static sqlite3_stmt *bind_scan(struct db_scan *scan, enum db_statement which, struct str prefix,
                               struct str after, int *ret_rc)
{
    scan->which = which; /* db_scan_end() is called after a failure, too */
    sqlite3_stmt *st = statement(scan->db, which, ret_rc);
    if (!st)
        return NULL;
    (void)sqlite3_reset(st);
    (void)bind_str(st, 1, scan_start(prefix, after, scan->lower));
    (void)bind_str(st, 2, prefix_end(prefix, scan->upper));
    return st;
}

int db_scan_keys(struct db_scan *scan, struct db *db, struct str prefix, struct str after,
                 bool want_values, struct err *err)
{
    int rc = SQLITE_OK;
    scan->db = db;
    if (!bind_scan(scan, want_values ? DB_SCAN : DB_SCAN_KEYS, prefix, after, &rc))
        return db_error(db, rc, "prepare", err);
    return 0;
}

int db_scan_log(struct db_scan *scan, struct db *db, int64_t from, int64_t to, bool want_values,
                struct err *err)
{
    int rc = SQLITE_OK;
    scan->db = db;
    scan->which = want_values ? DB_LOG : DB_LOG_KEYS;
    sqlite3_stmt *st = statement(db, scan->which, &rc);
    if (!st)
        return db_error(db, rc, "prepare", err);
    (void)sqlite3_reset(st);
    (void)sqlite3_bind_int64(st, 1, from);
    (void)sqlite3_bind_int64(st, 2, to);
    return 0;
}

int db_scan_next(struct db_scan *scan, struct db_row *ret, struct err *err)
{
    bool has_value = scan->which == DB_SCAN || scan->which == DB_LOG;
    return next_row(scan->db, scan->db->statements[scan->which], has_value, ret, err);
}

void db_scan_end(struct db_scan *scan)
{
    db_done(scan->db, scan->which);
}

/* Few keys have changed since the revision: look up the history of each. */
static int count_newer(struct db_scan *scan, struct str prefix, struct str after, int64_t limit,
                       uint64_t *count, struct err *err)
{
    struct db *db = scan->db;
    int rc = SQLITE_OK, r = 0;
    sqlite3_stmt *st = bind_scan(scan, DB_SCAN_NEWER, prefix, after, &rc);
    if (!st)
        return db_error(db, rc, "prepare", err);
    (void)sqlite3_bind_int64(st, 3, limit);
    while (r >= 0 && (rc = sqlite3_step(st)) == SQLITE_ROW) {
        struct db_row row;
        r = db_row_before(db, sqlite3_column_int64(st, 0), limit, false, &row, err);
        if (r > 0 && row.version)
            (*count)++;
    }
    if (r >= 0)
        r = rc == SQLITE_DONE ? 0 : db_error(db, rc, "count", err);
    db_scan_end(scan);
    db_done(db, DB_KEY_BY_ID);
    return r;
}

int db_count(struct db *db, struct str prefix, struct str after, int64_t limit, uint64_t *ret,
             struct err *err)
{
    struct db_scan scan = { .db = db };
    int rc = SQLITE_OK;
    sqlite3_stmt *st = bind_scan(&scan, DB_COUNT, prefix, after, &rc);
    if (!st)
        return db_error(db, rc, "prepare", err);
    (void)sqlite3_bind_int64(st, 3, limit);
    rc = sqlite3_step(st);
    if (rc != SQLITE_ROW) {
        int r = db_error(db, rc, "count", err);
        db_scan_end(&scan);
        return r;
    }
    uint64_t count = (uint64_t)sqlite3_column_int64(st, 0);
    bool newer = sqlite3_column_int64(st, 1) > 0;
    /* Not reset yet: both queries must see the same snapshot. */
    int r = newer ? count_newer(&scan, prefix, after, limit, &count, err) : 0;
    db_done(db, DB_COUNT);
    if (r == 0)
        *ret = count;
    return r;
}

/* ------------------------------------------------------------------ opening */

static void configure_sqlite(void)
{
    /* One thread uses a connection at a time; SQLite's memory statistics are not used. */
    (void)sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    (void)sqlite3_initialize();
}

static int db_connect(struct db *db, const char *path, int flags, struct err *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, configure_sqlite);
    *db = (struct db){ .path = xstrdup(path) };
    int rc = sqlite3_open_v2(path, &db->sql, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc != SQLITE_OK)
        return db_error(db, rc, "open", err);
    (void)sqlite3_extended_result_codes(db->sql, 1);
    return 0;
}

int db_exec(struct db *db, const char *sql, const char *what, struct err *err)
{
    int rc = sqlite3_exec(db->sql, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? 0 : db_error(db, rc, what, err);
}

void db_close(struct db *db)
{
    for (size_t i = 0; i < DB_STATEMENT_COUNT; i++)
        (void)sqlite3_finalize(db->statements[i]);
    int rc = sqlite3_close(db->sql);
    assert(rc == SQLITE_OK); /* busy only if a statement was left open */
    free(db->path);
    *db = (struct db){ 0 };
}

static const char schema[] =
    "PRAGMA page_size = 4096;"
    "PRAGMA journal_mode = DELETE;"
    "BEGIN IMMEDIATE;"
    "CREATE TABLE log (id INTEGER PRIMARY KEY, key BLOB NOT NULL, create_rev INTEGER NOT NULL,"
    " version INTEGER NOT NULL, prev INTEGER NOT NULL, jump INTEGER NOT NULL,"
    " jump_len INTEGER NOT NULL, sum INTEGER, value BLOB);"
    "CREATE TABLE cur (key BLOB PRIMARY KEY, id INTEGER NOT NULL, dead INTEGER NOT NULL)"
    " WITHOUT ROWID;"
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
    "INSERT INTO meta VALUES ('compacted', 0), ('swept', 0), ('floor', 0);"
    "PRAGMA application_id = %d;"
    "PRAGMA user_version = %d;"
    "COMMIT;"
    "PRAGMA journal_mode = WAL;";

static int fill(const char *path, struct err *err)
{
    struct db db;
    scoped(free_scoped) char *sql = xasprintf(schema, DB_APPLICATION_ID, DB_SCHEMA_VERSION);
    int r = db_connect(&db, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err);
    if (r >= 0)
        r = db_exec(&db, sql, "create", err);
    db_close(&db);
    return r;
}

/*
 * Create the file under a temporary name first: a store under its final name has its whole schema
 * in the file itself, so the checks before SQLite opens it can rely on the header.
 */
int db_create(const char *path, struct err *err)
{
    struct stat st;
    if (stat(path, &st) == 0)
        return 0;
    if (errno != ENOENT)
        return err_sys(err, -errno, "look at store '%s'", path);
    scoped(free_scoped) char *tmp = xasprintf("%s.new", path);
    scoped(free_scoped) char *wal = xasprintf("%s-wal", path);
    /* Remains of an interrupted creation, and the log of a deleted store. */
    if ((unlink(tmp) < 0 && errno != ENOENT) || (unlink(wal) < 0 && errno != ENOENT))
        return err_sys(err, -errno, "create store '%s'", path);
    int r = sys_openat(AT_FDCWD, tmp, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (r < 0)
        return err_sys(err, r, "create store '%s'", path);
    (void)close(r);
    r = fill(tmp, err);
    if (r >= 0) {
        r = sys_renameat(AT_FDCWD, tmp, AT_FDCWD, path);
        if (r < 0)
            (void)err_sys(err, r, "rename '%s'", tmp);
    }
    if (r >= 0)
        r = sys_sync_parent(path, err);
    if (r < 0)
        (void)unlink(tmp);
    return r;
}

static uint32_t be32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static bool file_has_bytes(const char *path, const char *suffix)
{
    scoped(free_scoped) char *name = xasprintf("%s%s", path, suffix);
    struct stat st;
    return stat(name, &st) == 0 && st.st_size > 0;
}

/* The database header: SQLite's "Database File Format", section 1.3. */
static int check_header(const char *path, const unsigned char *h, uint64_t size, struct err *err)
{
    if (memcmp(h, "SQLite format 3", 16) != 0)
        return err_set(err, E_CORRUPT, "store '%s' is damaged or not a store: no SQLite header",
                       path);
    if (be32(h + 68) != DB_APPLICATION_ID)
        return err_set(err, E_INVALID, "'%s' is not a store: another program's database", path);
    if (be32(h + 60) > DB_SCHEMA_VERSION)
        return err_set(err, E_VERSION,
                       "store '%s' was written by a newer dormouse (version %u, this one knows %d)",
                       path, be32(h + 60), DB_SCHEMA_VERSION);
    uint32_t page = (uint32_t)h[16] << 8 | h[17];
    if (page != DB_PAGE_BYTES || be32(h + 60) == 0)
        return err_set(err, E_CORRUPT, "store '%s' is damaged: impossible header", path);
    uint64_t want = (uint64_t)be32(h + 28) * page;
    /* With a log the file may be shorter than its header says. */
    if (size < want && !file_has_bytes(path, "-wal"))
        return err_set(err, E_CORRUPT, "store '%s' is damaged: cut short at %llu of %llu bytes",
                       path, (unsigned long long)size, (unsigned long long)want);
    return 0;
}

int db_check_file(const char *path, struct err *err)
{
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, path, O_RDWR, 0);
    if (fd < 0)
        return err_sys(err, fd, "open store '%s'", path);
    struct stat st;
    if (fstat(fd, &st) < 0)
        return err_sys(err, -errno, "open store '%s'", path);
    if (!S_ISREG(st.st_mode))
        return err_set(err, E_INVALID, "'%s' is not a store: not a regular file", path);
    unsigned char header[HEADER_BYTES];
    ssize_t n = sys_pread_full(fd, header, sizeof header, 0);
    if (n < 0)
        return err_sys(err, (int)n, "read store '%s'", path);
    if (n < HEADER_BYTES)
        return err_set(err, E_CORRUPT, "store '%s' is damaged or not a store: only %zd bytes", path,
                       n);
    return check_header(path, header, (uint64_t)st.st_size, err);
}

int db_open(struct db *db, const char *path, int cache_kib, struct err *err)
{
    int r = db_connect(db, path, SQLITE_OPEN_READWRITE, err);
    if (r < 0)
        return r;
    (void)sqlite3_busy_timeout(db->sql, BUSY_TIMEOUT_MS);
    (void)sqlite3_db_config(db->sql, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    (void)sqlite3_db_config(db->sql, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    /* The writer starts checkpoints, after it has reported the commit. */
    scoped(free_scoped) char *pragmas =
        xasprintf("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;"
                  "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;"
                  "PRAGMA secure_delete = OFF; PRAGMA temp_store = MEMORY;"
                  "PRAGMA cache_size = -%d;",
                  cache_kib);
    return db_exec(db, pragmas, "open", err);
}

int db_check_writable(struct db *db, struct err *err)
{
    if (sqlite3_db_readonly(db->sql, "main") != 0)
        return db_error(db, SQLITE_READONLY, "the file was opened read-only", err);
    /* A read-only log is noticed only when a write transaction begins. */
    int r = db_run(db, DB_BEGIN, err);
    return r < 0 ? r : db_run(db, DB_ROLLBACK, err);
}

void db_trust(struct db *db)
{
    (void)sqlite3_db_config(db->sql, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
}

static int pragma_integer(struct db *db, const char *sql, int64_t *ret, struct err *err)
{
    sqlite3_stmt *st;
    int rc = sqlite3_prepare_v2(db->sql, sql, -1, &st, NULL);
    if (rc != SQLITE_OK)
        return db_error(db, rc, "check", err);
    int r = one_integer(db, st, ret, err);
    (void)sqlite3_finalize(st);
    return r;
}

int db_check_structure(struct db *db, struct err *err)
{
    sqlite3_stmt *st;
    int rc = sqlite3_prepare_v2(db->sql, "PRAGMA quick_check(1)", -1, &st, NULL);
    if (rc != SQLITE_OK)
        return db_error(db, rc, "check", err);
    rc = sqlite3_step(st);
    int r = 0;
    if (rc != SQLITE_ROW)
        r = db_error(db, rc, "check", err);
    else if (strcmp((const char *)sqlite3_column_text(st, 0), "ok") != 0)
        r = damaged(db, err, (const char *)sqlite3_column_text(st, 0));
    (void)sqlite3_finalize(st);
    return r;
}

/* The newest change must be the current one of its key. */
static const char newest_is_current[] =
    "SELECT l.id = c.id FROM log l LEFT JOIN cur c ON c.key = l.key ORDER BY l.id DESC LIMIT 1";

int db_newest(struct db *db, uint64_t *ret, struct err *err)
{
    int64_t last = 0, floor = 0;
    int r = db_last_id(db, &last, err);
    if (r >= 0)
        r = db_get_meta(db, "floor", &floor, err);
    if (r < 0)
        return r;
    if (last < 0 || floor < 0)
        return damaged(db, err, "its newest revision is below zero");
    *ret = MAX(db_rev(last), (uint64_t)floor);
    return 0;
}

static int check_rows(struct db *db, struct err *err)
{
    uint64_t newest = 0, n_keys = 0;
    int64_t compacted = 0, swept = 0, last = 0, is_current = 0;
    int r = db_newest(db, &newest, err);
    if (r >= 0)
        r = db_get_meta(db, "compacted", &compacted, err);
    if (r >= 0)
        r = db_get_meta(db, "swept", &swept, err);
    if (r >= 0)
        r = db_last_id(db, &last, err);
    if (r < 0)
        return r;
    if (compacted < 0 || swept < 0 || (uint64_t)compacted > newest)
        return damaged(db, err, "it is compacted beyond its newest revision");
    if (last == 0) {
        r = db_count(db, STR(""), STR(""), INT64_MAX, &n_keys, err);
        return n_keys ? damaged(db, err, "it has keys but no revisions") : r;
    }
    r = pragma_integer(db, newest_is_current, &is_current, err);
    if (r < 0)
        return r;
    return is_current ? 0 : damaged(db, err, "the newest revision is not the one of its key");
}

int db_read_version(struct db *db, struct err *err)
{
    int64_t version = 0, application = 0;
    int r = pragma_integer(db, "PRAGMA application_id", &application, err);
    if (r >= 0)
        r = pragma_integer(db, "PRAGMA user_version", &version, err);
    if (r < 0)
        return r;
    if (version > DB_SCHEMA_VERSION)
        return err_set(err, E_VERSION,
                       "store '%s' was written by a newer dormouse (version %lld, this one knows "
                       "%d)",
                       db->path, (long long)version, DB_SCHEMA_VERSION);
    if (application != DB_APPLICATION_ID || version < 1)
        return damaged(db, err, "impossible header");
    db->unsummed = version < 2;
    return 0;
}

int db_check(struct db *db, bool was_clean, struct err *err)
{
    int64_t pages = 0;
    int r = db_read_version(db, err);
    if (r >= 0)
        r = pragma_integer(db, "PRAGMA page_count", &pages, err);
    if (r < 0)
        return r;
    int64_t limit = was_clean ? CHECK_ALWAYS_MAX_BYTES : CHECK_UNCLEAN_MAX_BYTES;
    if (pages * DB_PAGE_BYTES <= limit)
        r = db_check_structure(db, err);
    return r < 0 ? r : check_rows(db, err);
}

/* ------------------------------------------------------------------ upgrading */

struct missing_sum {
    int64_t id, sum;
};

/*
 * Find the next rows without a sum; *from moves past them, and does not change at the end of the
 * log.
 */
static int find_unsummed(struct db *db, int64_t *from, struct missing_sum *found, size_t *ret_n,
                         struct err *err)
{
    struct db_scan scan;
    struct db_row row;
    size_t bytes = 0;
    *ret_n = 0;
    int r = db_scan_log(&scan, db, *from, INT64_MAX, true, err);
    while (r >= 0 && *ret_n < UPGRADE_STEP_ROWS && bytes < UPGRADE_STEP_BYTES) {
        r = db_scan_next(&scan, &row, err);
        if (r == 0)
            break;
        if (r < 0 && r != E_DIGEST) /* E_DIGEST: the row has a sum; reads of it report the damage */
            break;
        *from = row.id + 1;
        if (r > 0 && !row.has_sum)
            found[(*ret_n)++] = (struct missing_sum){ row.id, db_sum(&row) };
        bytes += row.value.n;
        r = 0;
    }
    db_scan_end(&scan);
    return r;
}

static int set_sum(struct db *db, const struct missing_sum *m, struct err *err)
{
    int rc = SQLITE_OK;
    sqlite3_stmt *st = statement(db, DB_SET_SUM, &rc);
    if (!st)
        return db_error(db, rc, "prepare", err);
    (void)sqlite3_bind_int64(st, 1, m->id);
    (void)sqlite3_bind_int64(st, 2, m->sum);
    return finish(db, st, "write a checksum", err);
}

/* One transaction; the last one, which finds no rows, sets the file's version. */
static int upgrade_step(struct db *db, int64_t *from, bool *ret_done, struct err *err)
{
    static struct missing_sum found[UPGRADE_STEP_ROWS];
    int64_t start = *from;
    size_t n = 0;
    int copied;
    int r = find_unsummed(db, from, found, &n, err);
    if (r < 0)
        return r;
    *ret_done = *from == start;
    r = db_run(db, DB_BEGIN, err);
    for (size_t i = 0; r >= 0 && i < n; i++)
        r = set_sum(db, &found[i], err);
    if (r >= 0 && *ret_done)
        r = db_exec(db, "INSERT OR IGNORE INTO meta VALUES ('floor', 0); PRAGMA user_version = 2;",
                    "upgrade", err);
    if (r >= 0)
        r = db_run(db, DB_COMMIT, err);
    if (r < 0) {
        if (!sqlite3_get_autocommit(db->sql))
            (void)db_run(db, DB_ROLLBACK, NULL);
        return r;
    }
    return db_checkpoint(db, &copied, err); /* keeps the write-ahead log small */
}

static int add_sum_column(struct db *db, struct err *err)
{
    int64_t has = 0;
    int r = pragma_integer(db, "SELECT count(*) FROM pragma_table_info('log') WHERE name = 'sum'",
                           &has, err);
    if (r < 0 || has)
        return r;
    return db_exec(db, "ALTER TABLE log ADD COLUMN sum INTEGER", "upgrade", err);
}

int db_upgrade(struct db *db, struct err *err)
{
    if (!db->unsummed)
        return 0;
    int64_t from = 0;
    bool done = false;
    int r = add_sum_column(db, err);
    while (r >= 0 && !done)
        r = upgrade_step(db, &from, &done, err);
    if (r < 0)
        return err_ctx(err, r, "upgrade it to version %d", DB_SCHEMA_VERSION);
    db->unsummed = false;
    log_info("store upgraded", "path=%s version=%d", db->path, DB_SCHEMA_VERSION);
    return 0;
}

int db_raise_floor(struct db *db, uint64_t floor, struct err *err)
{
    int r = db_run(db, DB_BEGIN, err);
    if (r >= 0)
        r = db_set_meta(db, "floor", (int64_t)floor, err);
    if (r >= 0)
        r = db_set_meta(db, "compacted", (int64_t)floor, err);
    if (r >= 0)
        r = db_run(db, DB_COMMIT, err);
    if (r < 0 && !sqlite3_get_autocommit(db->sql))
        (void)db_run(db, DB_ROLLBACK, NULL);
    return r;
}

/* ------------------------------------------------------------------ upkeep */

int db_checkpoint(struct db *db, int *ret_copied, struct err *err)
{
    int log, copied;
    int rc = sqlite3_wal_checkpoint_v2(db->sql, NULL, SQLITE_CHECKPOINT_PASSIVE, &log, &copied);
    if ((rc & 0xff) == SQLITE_BUSY) /* a read is running; the next checkpoint copies the rest */
        return 0;
    if (rc != SQLITE_OK)
        return db_error(db, rc, "checkpoint", err);
    *ret_copied = copied;
    return 0;
}

uint64_t db_free_bytes(struct db *db)
{
    int64_t pages = 0;
    int r = pragma_integer(db, "PRAGMA freelist_count", &pages, NULL);
    return r < 0 || pages < 0 ? 0 : (uint64_t)pages * DB_PAGE_BYTES;
}

void db_trim(struct db *db)
{
    (void)sqlite3_db_release_memory(db->sql);
}
