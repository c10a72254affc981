/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and removes damaged values in a store that no process has open; see store_check(). */
#include "store/sqlite.h"

#include "base/sys.h"

#include <errno.h>
#include <stdlib.h>

enum { CHECK_CACHE_KIB = 4096 };

struct store_check {
    struct db db;
    int lock_fd;
    void (*on_damage)(void *arg, const struct store_damage *d);
    void *arg;
    struct store_check_result result;
    VEC(int64_t) now, old; /* ids of damaged rows */
};

static void check_fini(struct store_check *c)
{
    db_close(&c->db);
    fd_scoped(&c->lock_fd);
    vec_fini(&c->now);
    vec_fini(&c->old);
}

static int open_for_check(struct store_check *c, const char *path, struct err *err)
{
    int r = sqlite_lock(path, &c->lock_fd, err);
    if (r >= 0)
        r = db_check_file(path, err);
    if (r >= 0)
        r = db_open(&c->db, path, CHECK_CACHE_KIB, err);
    if (r >= 0)
        r = db_check_structure(&c->db, err);
    if (r >= 0)
        r = db_read_version(&c->db, err);
    if (r >= 0 && c->db.unsummed)
        r = err_set(err, E_VERSION,
                    "store '%s' is of a version without checksums: start the server once", path);
    return r;
}

static int compare_ids(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool is_found(const struct store_check *c, int64_t id)
{
    return c->now.n && bsearch(&id, c->now.p, c->now.n, sizeof id, compare_ids);
}

static void tell(struct store_check *c, const struct db_row *row, bool is_current)
{
    const struct store_damage d = { row->key, db_rev(row->id), is_current };
    if (is_current)
        c->result.damaged_now++;
    else
        c->result.damaged_old++;
    c->on_damage(c->arg, &d);
}

/* Check the current value of each key, then every stored change. */
static int find_damage(struct store_check *c, struct err *err)
{
    struct db_scan scan;
    struct db_row row;
    int r = db_scan_keys(&scan, &c->db, STR(""), STR(""), true, err);
    while (r >= 0 && (r = db_scan_next(&scan, &row, err)) != 0) {
        if (r < 0 && r != E_DIGEST)
            break;
        if (r == E_DIGEST) {
            vec_push(&c->now, row.id);
            tell(c, &row, true);
        }
        c->result.keys += r == E_DIGEST || row.version > 0;
        r = 0;
    }
    db_scan_end(&scan);
    if (c->now.n)
        qsort(c->now.p, c->now.n, sizeof *c->now.p, compare_ids);
    if (r >= 0)
        r = db_scan_log(&scan, &c->db, 0, INT64_MAX, true, err);
    while (r >= 0 && (r = db_scan_next(&scan, &row, err)) != 0) {
        if (r < 0 && r != E_DIGEST)
            break;
        if (r == E_DIGEST && !is_found(c, row.id)) {
            vec_push(&c->old, row.id);
            tell(c, &row, false);
        }
        r = 0;
    }
    db_scan_end(&scan);
    return r;
}

static int remove_key(struct store_check *c, int64_t id, struct err *err)
{
    scoped(free_scoped) char *sql =
        xasprintf("DELETE FROM cur WHERE id = %lld; DELETE FROM log WHERE id = %lld", (long long)id,
                  (long long)id);
    return db_exec(&c->db, sql, "remove damage", err);
}

/* If the key's current value can be read, only the copy of the key in the log is damaged. */
static int mend_key(struct store_check *c, int64_t id, struct err *err)
{
    scoped(free_scoped) char *sql =
        xasprintf("UPDATE log SET key = (SELECT key FROM cur WHERE id = %lld)"
                  " WHERE id = %lld AND id IN (SELECT id FROM cur)",
                  (long long)id, (long long)id);
    return db_exec(&c->db, sql, "remove damage", err);
}

/*
 * All history is removed together with the damaged rows: a damaged change may point into it, and
 * watchers have to list again in any case to notice that objects are gone.
 */
static int remove_damage(struct store_check *c, struct err *err)
{
    uint64_t newest;
    int r = db_newest(&c->db, &newest, err);
    if (r >= 0)
        r = db_run(&c->db, DB_BEGIN, err);
    vec_each (id, &c->now)
        if (r >= 0)
            r = remove_key(c, *id, err);
    vec_each (id, &c->old)
        if (r >= 0)
            r = mend_key(c, *id, err);
    if (r >= 0)
        r = db_exec(&c->db,
                    "DELETE FROM log WHERE version = 0 OR id NOT IN (SELECT id FROM cur);"
                    "DELETE FROM cur WHERE id NOT IN (SELECT id FROM log);"
                    "UPDATE cur SET dead = 0;",
                    "remove damage", err);
    if (r >= 0)
        r = db_set_meta(&c->db, "floor", (int64_t)newest + 2, err);
    if (r >= 0)
        r = db_set_meta(&c->db, "compacted", (int64_t)newest + 2, err);
    return r < 0 ? r : db_run(&c->db, DB_COMMIT, err);
}

int store_check(const char *path, bool remove,
                void (*on_damage)(void *arg, const struct store_damage *d), void *arg,
                struct store_check_result *ret, struct err *err)
{
    struct store_check c = { .lock_fd = -1, .on_damage = on_damage, .arg = arg };
    int r = open_for_check(&c, path, err);
    if (r >= 0)
        r = find_damage(&c, err);
    if (r >= 0 && remove && (c.now.n || c.old.n)) {
        r = remove_damage(&c, err);
        if (r < 0)
            (void)db_run(&c.db, DB_ROLLBACK, NULL);
        else
            db_trust(&c.db);
    }
    if (r >= 0)
        *ret = c.result;
    check_fini(&c);
    return r;
}
