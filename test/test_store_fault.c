/* SPDX-License-Identifier: Apache-2.0 */
/* store/: full and bad disks, power cuts, damaged and foreign files. */
#include "base/buf.h"
#include "base/vec.h"
#include "fault_vfs.h"
#include "store/mark.h"

/* ------------------------------------------------------------------ the n-th write fails */

enum { SLOTS = 4, VALUE_BYTES = 9000 };

/* What a store must hold: each slot is one transaction over two keys with the same number. */
struct expected {
    uint64_t rev;
    int slot[SLOTS]; /* 0: absent */
};

static void slot_keys(int slot, char a[16], char b[16])
{
    (void)snprintf(a, 16, "/a/%d", slot);
    (void)snprintf(b, 16, "/b/%d", slot);
}

static void check_slot(struct fixture *fx, int slot, int number)
{
    char a[16], b[16];
    slot_keys(slot, a, b);
    struct fx_got ga = fx_get(fx, a, 0), gb = fx_get(fx, b, 0);
    CHECK_OK(ga.r);
    CHECK_OK(gb.r);
    CHECK_INT(ga.found, number != 0);
    CHECK_INT(gb.found, number != 0);
    CHECK_INT(ga.mod_rev, gb.mod_rev);
    if (!number)
        return;
    uint64_t got;
    CHECK_OK(parse_u64(str_n(ga.value, 6), 0, UINT64_MAX, &got));
    CHECK_INT(got, number);
    CHECK(memcmp(ga.value, gb.value, 6) == 0);
}

static void check_expected(struct fixture *fx, const struct expected *e)
{
    CHECK_INT(store_revision(fx->store), e->rev);
    for (int i = 0; i < SLOTS; i++)
        check_slot(fx, i, e->slot[i]);
}

/* Write the number into the slot (0: delete), or change nothing. */
static int write_slot(struct fixture *fx, struct expected *e, int slot, int number)
{
    char a[16], b[16], value[VALUE_BYTES];
    slot_keys(slot, a, b);
    memset(value, 'v', sizeof value);
    (void)snprintf(value, sizeof value, "%06d", number);
    struct store_op ops[] = { { .kind = number ? STORE_PUT : STORE_DELETE, .key = str_of(a) },
                              { .kind = number ? STORE_PUT : STORE_DELETE, .key = str_of(b) } };
    ops[0].value = ops[1].value = str_n(value, sizeof value);
    struct store_txn_result res = fx_txn(fx, ops, 2);
    if (res.r == 0) {
        e->rev = res.rev;
        e->slot[slot] = number;
    }
    CHECK_INT(res.rev, e->rev);
    return res.r;
}

static bool is_disk_error(int r)
{
    return r == 0 || r == -ENOSPC || r == -EIO;
}

static bool scenario(struct fixture *fx, enum fault_kind kind, unsigned nth, bool sticky,
                     bool while_closing)
{
    struct expected e = { .rev = 0 };
    fx_open(fx);
    CHECK_OK(write_slot(fx, &e, 0, 1));
    CHECK_OK(write_slot(fx, &e, 1, 2));
    fault_arm(kind, nth, sticky);
    for (int i = 3; i < 9; i++) {
        int r = write_slot(fx, &e, i % SLOTS, i == 7 ? 0 : i);
        CHECK(is_disk_error(r));
        if (kind == FAULT_WRITE)
            CHECK(r == 0 || r == -ENOSPC);
        check_expected(fx, &e);
    }
    CHECK(is_disk_error(fx_compact(fx, e.rev)));
    check_expected(fx, &e);
    bool fired;
    if (while_closing) {
        fx_close(fx);
        fired = fault_disarm();
    } else {
        fired = fault_disarm();
        CHECK_OK(write_slot(fx, &e, 0, 99)); /* there is room again */
        CHECK_OK(fx_compact(fx, e.rev));
        check_expected(fx, &e);
        fx_close(fx);
    }
    fx_open(fx);
    check_expected(fx, &e);
    CHECK_OK(write_slot(fx, &e, 1, 100));
    fx_close(fx);
    fx_clean_dir(fx);
    return fired;
}

static void torture(enum fault_kind kind, bool sticky, bool while_closing)
{
    struct fixture fx;
    fault_install();
    fx_init(&fx);
    unsigned nth = 1;
    while (scenario(&fx, kind, nth, sticky, while_closing))
        nth++;
    CHECK(nth > 5); /* the faults did strike */
    (void)printf("# %u faults\n", nth - 1);
    fx_fini(&fx);
}

TEST(a_disk_that_is_full_for_a_while_fails_transactions_whole)
{
    torture(FAULT_WRITE, true, false);
}

TEST(any_single_write_may_fail)
{
    torture(FAULT_WRITE, false, false);
}

TEST(any_single_sync_may_fail)
{
    torture(FAULT_SYNC, false, false);
}

TEST(a_full_disk_while_closing_loses_nothing)
{
    torture(FAULT_WRITE, true, true);
    torture(FAULT_SYNC, true, true);
}

TEST(opening_on_a_full_disk_fails_and_succeeds_later)
{
    struct fixture fx;
    fault_install();
    fx_init(&fx);
    bool fired = true;
    for (unsigned nth = 1; fired; nth++) {
        struct err err = { 0 };
        fault_arm(nth % 2 ? FAULT_WRITE : FAULT_SYNC, (nth + 1) / 2, true);
        int r = fx_try_open(&fx, &err);
        fired = fault_disarm();
        CHECK(is_disk_error(r));
        if (r == 0)
            fx_close(&fx);
        fx_open(&fx);
        fx_put(&fx, "/a", "x");
        fx_close(&fx);
        fx_clean_dir(&fx);
    }
    fx_fini(&fx);
}

/* ------------------------------------------------------------------ power cuts */

enum { CUTS = 30, CUT_SLOTS = 16, WRITES_BETWEEN_CUTS = 60 };

static int acked[CUT_SLOTS]; /* numbers whose transaction was acknowledged */
static uint64_t acked_rev;
static unsigned in_flight;

struct cut_txn {
    int slot, number;
};

static void on_cut_txn(void *arg, const struct store_txn_result *res, const struct err *err)
{
    struct cut_txn *t = arg;
    CHECK_OK(res->r);
    acked[t->slot] = t->number;
    acked_rev = res->rev;
    in_flight--;
    free(t);
}

static void submit_cut_txn(struct fixture *fx, int number)
{
    static char value[20000];
    struct cut_txn *t = xnew(struct cut_txn);
    *t = (struct cut_txn){ .slot = number % CUT_SLOTS, .number = number };
    char a[16], b[16];
    slot_keys(t->slot, a, b);
    memset(value, 'v', sizeof value);
    (void)snprintf(value, sizeof value, "%06d", number);
    struct store_op ops[] = { op_put(a, ""), op_put(b, "") };
    ops[0].value = ops[1].value = str_n(value, 6 + test_random_below(sizeof value - 6));
    ops[1].value.n = 6;
    CHECK_OK(store_txn(fx->store, ops, 2, on_cut_txn, t, NULL));
    in_flight++;
}

/* Whatever was acknowledged before the cut is in the copy, and nothing in halves. */
static void check_after_cut(struct fixture *cut)
{
    fx_open(cut);
    CHECK(store_revision(cut->store) >= acked_rev);
    for (int i = 0; i < CUT_SLOTS; i++) {
        char a[16], b[16];
        slot_keys(i, a, b);
        struct fx_got ga = fx_get(cut, a, 0), gb = fx_get(cut, b, 0);
        CHECK_INT(ga.mod_rev, gb.mod_rev);
        CHECK(memcmp(ga.value, gb.value, 6) == 0);
        uint64_t got = 0;
        if (ga.found)
            CHECK_OK(parse_u64(str_n(ga.value, 6), 0, UINT64_MAX, &got));
        CHECK(got >= (uint64_t)acked[i]);
    }
    CHECK(fx_put(cut, "/after", "x") > acked_rev);
    fx_close(cut);
    fx_clean_dir(cut);
}

TEST(a_power_cut_takes_nothing_that_was_acknowledged)
{
    struct fixture fx, shadow, cut;
    fault_install();
    fx_init(&fx);
    fx_init(&shadow);
    fx_init(&cut);
    fx_open(&fx);
    fx_close(&fx);
    fault_watch(fx.dir, shadow.dir);
    fx.opts.history_revisions = 50;
    fx.opts.history_ms = 1; /* compaction goes on meanwhile */
    fx_open(&fx);
    int number = 0;
    for (int i = 0; i < CUTS; i++) {
        uint64_t n = 1 + test_random_below(WRITES_BETWEEN_CUTS);
        while (n--) {
            submit_cut_txn(&fx, ++number);
            while (in_flight > test_random_below(8))
                fx_turn(&fx);
        }
        cut_power(cut.dir);
        check_after_cut(&cut);
    }
    while (in_flight)
        fx_turn(&fx);
    fx_fini(&fx);
    fault_watch("", "");
    fx_fini(&shadow);
    fx_fini(&cut);
}

/* ------------------------------------------------------------------ damaged and foreign files */

static void fill(struct fixture *fx)
{
    char key[32], value[1500];
    memset(value, 'v', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    fx_open(fx);
    for (int i = 0; i < 200; i++) {
        (void)snprintf(key, sizeof key, "/k/%03d", i);
        fx_queue(fx, op_put(key, value));
    }
    fx_wait_rev(fx, 200);
    fx_close(fx);
}

static void read_all(const char *path, struct buf *to)
{
    CHECK_OK(sys_read_file(AT_FDCWD, path, to, NULL));
}

static void write_at(const char *path, uint64_t at, const void *p, size_t n)
{
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, path, O_RDWR | O_CREAT, 0600);
    CHECK_OK(fd);
    CHECK_OK(sys_pwrite_all(fd, p, n, at));
}

static void cut_file(const char *path, uint64_t size)
{
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, path, O_RDWR | O_CREAT, 0600);
    CHECK_OK(fd);
    CHECK_OK(sys_ftruncate(fd, size));
}

/* The error names the file, and the file is left as it was. */
static void check_refused(struct fixture *fx, int code)
{
    struct buf before = BUF_INIT(BUF_MAX_DEFAULT), after = BUF_INIT(BUF_MAX_DEFAULT);
    read_all(fx->path, &before);
    struct err err = { 0 };
    int r = fx_try_open(fx, &err);
    if (r != code)
        TEST_FAIL("%s (%s), expected %s", err_name(r), err.text, err_name(code));
    CHECK(str_find(str_of(err.text), str_of(fx->path)) >= 0);
    read_all(fx->path, &after);
    CHECK(str_eq(buf_str(&before), buf_str(&after)));
    buf_fini(&before);
    buf_fini(&after);
}

TEST(files_that_are_no_store_are_refused_and_left_alone)
{
    struct fixture fx;
    fx_init(&fx);
    cut_file(fx.path, 0);
    check_refused(&fx, E_CORRUPT);
    write_at(fx.path, 0, "just a text\n", 12);
    check_refused(&fx, E_CORRUPT);
    cut_file(fx.path, 8192);
    check_refused(&fx, E_CORRUPT);
    fx_clean_dir(&fx);
    sqlite3 *db;
    CHECK(sqlite3_open(fx.path, &db) == SQLITE_OK);
    CHECK(sqlite3_exec(db, "CREATE TABLE log (id)", NULL, NULL, NULL) == SQLITE_OK);
    (void)sqlite3_close(db);
    check_refused(&fx, E_INVALID);
    fx_fini(&fx);
}

TEST(a_store_of_a_newer_version_is_refused)
{
    struct fixture fx;
    fx_init(&fx);
    fill(&fx);
    write_at(fx.path, 60, "\0\0\0\3", 4);
    check_refused(&fx, E_VERSION);
    write_at(fx.path, 60, "\0\0\0\2", 4);
    fx_open(&fx);
    fx_fini(&fx);
}

TEST(a_damaged_store_is_refused_and_left_alone)
{
    struct fixture fx;
    fx_init(&fx);
    fill(&fx);
    struct buf good = BUF_INIT(BUF_MAX_DEFAULT);
    read_all(fx.path, &good);
    CHECK(good.n > 50 * 4096);

    write_at(fx.path, 0, "SQLite?", 7);
    check_refused(&fx, E_CORRUPT);
    write_at(fx.path, 0, good.p, good.n);

    cut_file(fx.path, good.n / 2);
    check_refused(&fx, E_CORRUPT);
    cut_file(fx.path, good.n - 100);
    check_refused(&fx, E_CORRUPT);
    write_at(fx.path, 0, good.p, good.n);

    static char noise[4096];
    memset(noise, 0xa5, sizeof noise);
    for (uint64_t page = 1; page < good.n / 4096; page += 7) {
        write_at(fx.path, page * 4096, noise, sizeof noise);
        check_refused(&fx, E_CORRUPT);
        write_at(fx.path, 0, good.p, good.n);
    }
    fx_open(&fx); /* nothing of all this has left a trace */
    CHECK_INT(store_revision(fx.store), 200);
    buf_fini(&good);
    fx_fini(&fx);
}

/* Damage that SQLite cannot see: rows that contradict each other. */
TEST(rows_that_contradict_each_other_are_noticed)
{
    static const char *const edits[] = {
        "UPDATE meta SET value = 999 WHERE name = 'compacted'",
        "DELETE FROM cur WHERE key = (SELECT key FROM log ORDER BY id DESC LIMIT 1)",
        "DROP TABLE cur",
        "DROP TABLE meta",
        "DELETE FROM log",
    };
    struct fixture fx;
    fx_init(&fx);
    for (size_t i = 0; i < ARRAY_LEN(edits); i++) {
        fill(&fx);
        sqlite3 *db;
        CHECK(sqlite3_open(fx.path, &db) == SQLITE_OK);
        CHECK(sqlite3_exec(db, edits[i], NULL, NULL, NULL) == SQLITE_OK);
        (void)sqlite3_close(db);
        check_refused(&fx, E_CORRUPT);
        fx_clean_dir(&fx);
    }
    fx_fini(&fx);
}

/* After a crash the write-ahead log is there too; a refused store keeps both as they were. */
TEST(a_damaged_store_with_a_log_keeps_the_log)
{
    struct fixture fx, copy;
    fx_init(&fx);
    fx_init(&copy);
    fill(&fx);
    fx_open(&fx);
    fx_put(&fx, "/k/new", "x");
    char wal[128], wal_copy[128];
    (void)snprintf(wal, sizeof wal, "%s-wal", fx.path);
    (void)snprintf(wal_copy, sizeof wal_copy, "%s-wal", copy.path);
    copy_file(fx.path, copy.path);
    copy_file(wal, wal_copy);
    static char noise[4096];
    memset(noise, 0xa5, sizeof noise);
    struct buf before = BUF_INIT(BUF_MAX_DEFAULT), after = BUF_INIT(BUF_MAX_DEFAULT);
    read_all(wal_copy, &before);
    CHECK(before.n > 0);
    write_at(copy.path, 20 * 4096, noise, sizeof noise);
    check_refused(&copy, E_CORRUPT);
    read_all(wal_copy, &after);
    CHECK(str_eq(buf_str(&before), buf_str(&after)));
    copy_file(fx.path, copy.path);
    fx_open(&copy);
    CHECK_INT(store_revision(copy.store), 201);
    buf_fini(&before);
    buf_fini(&after);
    fx_fini(&fx);
    fx_fini(&copy);
}

TEST(damage_found_while_running_stops_writes_but_not_the_process)
{
    struct fixture fx;
    fx_init(&fx);
    fill(&fx);
    fx_open(&fx);
    struct stat st;
    CHECK_OK(stat(fx.path, &st));
    static char noise[4096];
    memset(noise, 0xa5, sizeof noise);
    for (off_t at = 8 * 4096; at < st.st_size; at += 4096)
        write_at(fx.path, (uint64_t)at, noise, sizeof noise);
    CHECK_ERR(fx_get(&fx, "/k/150", 0).r, E_CORRUPT);
    CHECK_ERR(fx_range(&fx, (struct store_range){ .prefix = STR("/k/") }).r, E_CORRUPT);
    struct store_op op = op_put("/k/150", "x");
    struct fx_txn t = { .done = false };
    CHECK_OK(store_txn(fx.store, &op, 1, fx_on_txn, &t, NULL));
    while (!t.done)
        fx_turn(&fx);
    CHECK_ERR(t.res.r, E_CORRUPT);
    CHECK(str_find(str_of(t.err.text), str_of(fx.path)) >= 0);
    op = op_put("/new", "x");
    CHECK_ERR(fx_txn(&fx, &op, 1).r, E_CORRUPT);
    CHECK_INT(store_revision(fx.store), 200);
    fx_fini(&fx);
}

TEST(a_store_has_one_user_at_a_time)
{
    struct fixture fx;
    fx_init(&fx);
    fx_open(&fx);
    struct store *second;
    struct err err = { 0 };
    CHECK_ERR(store_open(&fx.loop, &fx.opts, &second, &err), -EWOULDBLOCK);
    CHECK(str_find(str_of(err.text), str_of(fx.path)) >= 0);
    CHECK_INT(fx_put(&fx, "/a", "x"), 1); /* the first is not disturbed */
    fx_close(&fx);
    fx_open(&fx);
    fx_fini(&fx);
}

TEST(a_directory_that_is_missing_or_closed_is_a_clear_error)
{
    struct fixture fx;
    fx_init(&fx);
    struct err err = { 0 };
    fx.opts.path = "/nonexistent-directory/store.db";
    CHECK_ERR(fx_try_open(&fx, &err), -ENOENT);
    CHECK(str_find(str_of(err.text), STR("/nonexistent-directory/store.db")) >= 0);
    fx.opts.path = fx.path;
    if (geteuid() != 0) { /* root may do everything */
        CHECK_OK(chmod(fx.dir, 0500));
        CHECK_ERR(fx_try_open(&fx, &err), -EACCES);
        CHECK_OK(chmod(fx.dir, 0700));
    }
    fx_fini(&fx);
}

TEST(a_creation_that_was_interrupted_is_started_again)
{
    struct fixture fx;
    fx_init(&fx);
    char name[128];
    (void)snprintf(name, sizeof name, "%s.new", fx.path);
    write_at(name, 0, "half", 4);
    fx_open(&fx);
    CHECK_INT(fx_put(&fx, "/a", "x"), 1);
    CHECK(access(name, F_OK) < 0);
    fx_fini(&fx);
}

/* ------------------------------------------------------------------ damaged values */

enum { FILLED_KEYS = 200, FILLED_BYTES = 1499 };

static void flip_bit(const char *path, uint64_t at, unsigned bit)
{
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, path, O_RDWR, 0);
    unsigned char c;
    CHECK_OK(fd);
    CHECK(sys_pread_full(fd, &c, 1, at) == 1);
    c ^= (unsigned char)(1u << bit);
    CHECK_OK(sys_pwrite_all(fd, &c, 1, at));
}

/* Damage the value of the n-th key in the file as it lies there; where it was. */
static uint64_t damage_value(struct fixture *fx, unsigned nth)
{
    struct buf file = BUF_INIT(BUF_MAX_DEFAULT);
    char value[FILLED_BYTES + 1];
    memset(value, 'v', FILLED_BYTES);
    read_all(fx->path, &file);
    struct str rest = buf_str(&file);
    ptrdiff_t at = 0;
    for (unsigned i = 0; i <= nth; i++) {
        rest = str_slice(buf_str(&file), (size_t)at, file.n);
        ptrdiff_t found = str_find(rest, str_n(value, FILLED_BYTES));
        CHECK(found >= 0);
        at += found + FILLED_BYTES;
    }
    buf_fini(&file);
    flip_bit(fx->path, (uint64_t)at - 700, 3);
    return (uint64_t)at - 700;
}

struct found_damage {
    size_t n;
    char keys[4][32];
};

static void on_found_damage(void *arg, const struct store_damage *d)
{
    struct found_damage *f = arg;
    if (f->n < 4)
        (void)snprintf(f->keys[f->n], sizeof f->keys[0], STR_FMT, STR_ARG(d->key));
    f->n++;
}

static struct found_damage run_check(struct fixture *fx, bool remove, int want)
{
    struct found_damage f = { .n = 0 };
    struct store_check_result res;
    struct err err = { 0 };
    int r = store_check(fx->path, remove, on_found_damage, &f, &res, &err);
    if (r != want)
        TEST_FAIL("%s (%s)", err_name(r), err.text);
    if (r == 0)
        CHECK_INT(res.damaged_now + res.damaged_old, f.n);
    return f;
}

struct fx_failure {
    int r;
    bool done;
    char text[244];
};

static void on_failed_get(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                          const struct err *err)
{
    struct fx_failure *f = arg;
    *f = (struct fx_failure){ .r = r, .done = true };
    (void)snprintf(f->text, sizeof f->text, "%s", err->text);
}

TEST(a_flipped_bit_in_a_value_is_told_and_can_be_removed)
{
    struct fixture fx;
    fx_init(&fx);
    fill(&fx);
    CHECK_INT(run_check(&fx, false, 0).n, 0);
    (void)damage_value(&fx, 57);
    struct found_damage found = run_check(&fx, false, 0);
    CHECK_INT(found.n, 1);
    const char *key = found.keys[0];

    fx_open(&fx);
    struct fx_failure f = { .done = false };
    CHECK_OK(store_get(fx.store, str_of(key), 0, on_failed_get, &f, NULL));
    while (!f.done)
        fx_turn(&fx);
    CHECK_ERR(f.r, E_DIGEST);
    CHECK(str_find(str_of(f.text), str_of(key)) >= 0);
    CHECK_ERR(fx_range(&fx, (struct store_range){ .prefix = STR("/k/") }).r, E_DIGEST);
    CHECK_OK(fx_range(&fx, (struct store_range){ .prefix = STR("/k/"), .keys_only = true }).r);
    struct store_op op = op_put(key, "x");
    CHECK_ERR(fx_txn(&fx, &op, 1).r, E_DIGEST);
    CHECK_INT(fx_put(&fx, "/other", "x"), 201); /* the others are not held up */
    CHECK_INT(fx_put(&fx, "/other", "y"), 202);
    CHECK_OK(fx_compact(&fx, 202));
    struct err err = { 0 };
    struct store_check_result res;
    CHECK_ERR(store_check(fx.path, true, on_found_damage, &found, &res, &err), -EWOULDBLOCK);
    fx_close(&fx);

    CHECK_INT(run_check(&fx, true, 0).n, 1);
    CHECK_INT(run_check(&fx, false, 0).n, 0);
    fx_open(&fx);
    CHECK(store_revision(fx.store) > 202);
    CHECK_ERR(fx_get(&fx, key, 202).r, E_EXPIRED); /* clients list again */
    CHECK(!fx_get(&fx, key, 0).found);
    CHECK_INT(fx_range(&fx, (struct store_range){ .prefix = STR("/k/") }).n, FILLED_KEYS - 1);
    (void)fx_put(&fx, key, "new");
    CHECK_STR(str_of(fx_get(&fx, key, 0).value), "new");
    fx_close(&fx);
    CHECK_INT(run_check(&fx, false, 0).n, 0);
    fx_fini(&fx);
}

TEST(a_damaged_older_state_does_not_hold_up_the_present)
{
    struct fixture fx;
    fx_init(&fx);
    fill(&fx);
    (void)damage_value(&fx, 100);
    struct found_damage found = run_check(&fx, false, 0);
    CHECK_INT(found.n, 1);
    /* As if it had been changed before the damage: the damaged row is history. */
    sqlite3 *db;
    CHECK(sqlite3_open(fx.path, &db) == SQLITE_OK);
    scoped(free_scoped) char *sql =
        xasprintf("DELETE FROM cur WHERE key = CAST('%s' AS BLOB)", found.keys[0]);
    CHECK(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
    (void)sqlite3_close(db);
    fx_open(&fx);
    CHECK_OK(fx_range(&fx, (struct store_range){ .prefix = STR("/k/") }).r);
    CHECK_INT(fx_put(&fx, found.keys[0], "x"), 201);
    CHECK_OK(fx_compact(&fx, 201));
    fx_close(&fx);
    CHECK_INT(run_check(&fx, true, 0).n, 1);
    fx_open(&fx);
    CHECK_STR(str_of(fx_get(&fx, found.keys[0], 0).value), "x");
    fx_fini(&fx);
}

/* For each damaged bit of the file: opening fails, or a read fails, or the data is unchanged. */
TEST(no_flipped_bit_makes_wrong_data)
{
    struct fixture fx;
    struct buf good = BUF_INIT(BUF_MAX_DEFAULT);
    char value[FILLED_BYTES + 1];
    memset(value, 'v', FILLED_BYTES);
    fx_init(&fx);
    fill(&fx);
    read_all(fx.path, &good);
    unsigned refused = 0, reported = 0, same = 0;
    for (int i = 0; i < 300; i++) {
        flip_bit(fx.path, test_random_below(good.n), (unsigned)test_random_below(8));
        struct err err = { 0 };
        int r = fx_try_open(&fx, &err);
        if (r < 0) {
            CHECK(r == E_CORRUPT || r == E_INVALID || r == E_VERSION || r == -EIO);
            refused++;
        } else {
            bool any = false;
            for (int k = 0; k < FILLED_KEYS; k += 7) {
                char key[32];
                (void)snprintf(key, sizeof key, "/k/%03d", k);
                struct fx_got g = fx_get(&fx, key, 0);
                CHECK(g.r == 0 || g.r == E_DIGEST || g.r == E_CORRUPT);
                if (g.r == 0 && g.found)
                    CHECK(memcmp(g.value, value, sizeof g.value - 1) == 0);
                any = any || g.r < 0;
            }
            struct fx_page p = fx_range(&fx, (struct store_range){ .prefix = STR("/k/") });
            any = any || p.r < 0;
            if (p.r == 0)
                CHECK_INT(p.bytes, p.n * FILLED_BYTES);
            reported += any;
            same += !any;
            fx_close(&fx);
        }
        fx_clean_dir(&fx);
        write_at(fx.path, 0, good.p, good.n);
    }
    CHECK(reported > 100); /* most of the file is values */
    (void)printf("# %u refused, %u told, %u without effect\n", refused, reported, same);
    buf_fini(&good);
    fx_fini(&fx);
}

/* ------------------------------------------------------------------ revisions that never go back
 */

/* What is on disk while the store runs, as a process that was killed leaves it. */
static void copy_running(struct fixture *from, struct fixture *to)
{
    static const char *const suffixes[] = { "", "-wal", ".mark" };
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
        scoped(free_scoped) char *a = xasprintf("%s%s", from->path, suffixes[i]);
        scoped(free_scoped) char *b = xasprintf("%s%s", to->path, suffixes[i]);
        copy_file(a, b);
    }
}

static int fx_watch_from(struct fixture *fx, uint64_t rev)
{
    static const struct store_watch_ops ops = { 0 };
    struct store_watch *w;
    int r = store_watch_start(fx->store, STR("/"), rev, &ops, NULL, &w, NULL);
    if (r >= 0)
        store_watch_cancel(w);
    return r;
}

/* 300 revisions, of which the file behind the log holds none. */
static void write_300(struct fixture *fx)
{
    fx_open(fx);
    for (int i = 0; i < 300; i++)
        CHECK_INT(fx_put(fx, i % 2 ? "/odd" : "/even", "x"), i + 1);
}

static void check_resumed(struct fixture *fx, uint64_t above)
{
    uint64_t newest = store_revision(fx->store);
    CHECK(newest > above);
    for (uint64_t rev = 1; rev <= newest; rev += rev == above - 1 ? 1 : 37)
        CHECK_ERR(fx_watch_from(fx, rev), E_EXPIRED);
    CHECK_ERR(fx_watch_from(fx, above + 1), E_EXPIRED); /* it had seen the last one */
    CHECK_OK(fx_watch_from(fx, newest + 1));
    CHECK_ERR(fx_watch_from(fx, newest + 2), E_FUTURE);
    CHECK_ERR(fx_get(fx, "/odd", above).r, E_EXPIRED);
    CHECK_INT(fx_put(fx, "/new", "x"), newest + 1);
    CHECK_OK(fx_get(fx, "/new", newest + 1).r);
    CHECK_OK(fx_compact(fx, newest + 1));
    fx_close(fx);
    fx_open(fx); /* and it stays so */
    CHECK_INT(store_revision(fx->store), newest + 1);
}

TEST(revisions_never_go_back_when_the_log_is_lost)
{
    enum { REMOVED, CUT, FLIPPED, EMPTY_STORE, LOSSES };
    struct fixture fx, copy;
    fx_init(&fx);
    fx_init(&copy);
    write_300(&fx);
    scoped(free_scoped) char *wal = xasprintf("%s-wal", copy.path);
    for (int loss = 0; loss < LOSSES; loss++) {
        struct stat st;
        copy_running(&fx, &copy);
        CHECK_OK(stat(wal, &st));
        if (loss == CUT)
            cut_file(wal, (uint64_t)st.st_size / 2);
        else if (loss == FLIPPED)
            flip_bit(wal, 9000, 1);
        else
            CHECK_OK(unlink(wal));
        if (loss == EMPTY_STORE)
            CHECK_OK(unlink(copy.path));
        fx_open(&copy);
        check_resumed(&copy, 300);
        fx_close(&copy);
        fx_clean_dir(&copy);
    }
    fx_fini(&fx);
    fx_fini(&copy);
}

TEST(a_killed_process_goes_on_at_the_next_revision)
{
    struct fixture fx, copy;
    fx_init(&fx);
    fx_init(&copy);
    write_300(&fx);
    copy_running(&fx, &copy);
    fx_open(&copy);
    CHECK_INT(store_revision(copy.store), 300);
    CHECK_OK(fx_watch_from(&copy, 100));
    CHECK_INT(fx_put(&copy, "/new", "x"), 301);
    fx_close(&copy);
    fx_open(&copy);
    CHECK_INT(fx_put(&copy, "/new", "x"), 302);
    fx_fini(&fx);
    fx_fini(&copy);
}

/* What was written last may be lost with the machine, the note of it too; the reservation is not.
 */
TEST(after_a_power_cut_revisions_go_on_above_those_reserved)
{
    struct fixture fx, copy;
    fx_init(&fx);
    fx_init(&copy);
    write_300(&fx);
    copy_running(&fx, &copy);
    struct mark m;
    struct mark_known known;
    CHECK_OK(mark_init(&m, copy.path, &known, NULL));
    CHECK(known.exact);
    CHECK_INT(known.seen, 300);
    memset(m.boot, '0', sizeof m.boot - 1); /* another run of the kernel */
    CHECK_INT(mark_reserve(&m, 200, NULL), 1);
    mark_fini(&m);
    fx_open(&copy);
    check_resumed(&copy, 199 + MARK_STEP);
    CHECK_INT(fx_get(&copy, "/odd", 0).mod_rev, 300); /* nothing was lost, as it happens */
    fx_fini(&fx);
    fx_fini(&copy);
}

/* Where there is no boot to read, what is not closed may be of another one. */
TEST(without_an_id_of_the_boot_the_machine_may_have_stopped)
{
    struct fixture fx, copy;
    struct mark m;
    struct mark_known known;
    fx_init(&fx);
    fx_init(&copy);
    write_300(&fx);
    copy_running(&fx, &copy);
    sys_fail_nth(SYS_OPENAT, 1, ENOENT);
    CHECK_OK(mark_init(&m, copy.path, &known, NULL));
    sys_fail_nth(SYS_OPENAT, 0, 0);
    CHECK(!known.exact);
    CHECK_INT(known.seen, 300);
    mark_fini(&m);
    fx_fini(&fx);
    fx_fini(&copy);
}

/* The next opening has to find what this one has not. */
TEST(a_mark_or_boot_that_cannot_be_read_for_a_moment_costs_no_revisions)
{
    static const int codes[] = { EMFILE, ENOMEM };
    struct fixture fx, copy;
    fx_init(&fx);
    fx_init(&copy);
    write_300(&fx);
    size_t n_refused = 0;
    for (size_t c = 0; c < ARRAY_LEN(codes); c++)
        for (unsigned nth = 1, is_over = 0; !is_over; nth++) {
            struct err err = { 0 };
            copy_running(&fx, &copy);
            sys_fail_nth(SYS_OPENAT, nth, codes[c]);
            int r = fx_try_open(&copy, &err);
            is_over = sys_call_count(SYS_OPENAT) < nth;
            sys_fail_nth(SYS_OPENAT, 0, 0);
            CHECK(r >= 0 || r == -codes[c]);
            n_refused += r < 0 && strstr(err_text(&err), "mark of the store's revisions");
            if (r < 0)
                fx_open(&copy);
            CHECK_INT(store_revision(copy.store), 300);
            CHECK_OK(fx_watch_from(&copy, 100));
            fx_close(&copy);
            fx_clean_dir(&copy);
        }
    CHECK_INT(n_refused, 4); /* the boot and the mark, with each code */
    fx_fini(&fx);
    fx_fini(&copy);
}

/* A process was killed, the next one wrote nothing and was stopped: then the machine may restart.
 */
TEST(a_store_that_was_closed_after_a_kill_is_closed)
{
    struct fixture fx, copy;
    struct mark m;
    struct mark_known known;
    fx_init(&fx);
    fx_init(&copy);
    write_300(&fx);
    copy_running(&fx, &copy);
    CHECK_OK(mark_init(&m, copy.path, &known, NULL));
    CHECK(known.exact && !known.clean);
    mark_fini(&m);
    fx_open(&copy);
    fx_close(&copy);
    CHECK_OK(mark_init(&m, copy.path, &known, NULL));
    CHECK(known.clean);
    CHECK_INT(known.seen, 300);
    mark_fini(&m);
    fx_fini(&fx);
    fx_fini(&copy);
}

TEST(a_mark_that_is_damaged_or_cannot_be_written_stops_nothing)
{
    struct fixture fx;
    fx_init(&fx);
    write_300(&fx);
    fx_close(&fx);
    scoped(free_scoped) char *mark = xasprintf("%s.mark", fx.path);
    write_at(mark, 20, "x", 1);
    fx_open(&fx);
    CHECK_INT(store_revision(fx.store), 300);
    sys_fail_nth(SYS_PWRITE, 1, ENOSPC);
    CHECK_INT(fx_put(&fx, "/a", "x"), 301);
    CHECK_INT(sys_call_count(SYS_PWRITE), 1);
    sys_fail_nth(SYS_PWRITE, 0, 0);
    CHECK_INT(fx_put(&fx, "/a", "y"), 302);
    fx_close(&fx);
    CHECK_OK(unlink(mark));
    fx_open(&fx);
    CHECK_INT(fx_put(&fx, "/a", "z"), 303);
    fx_close(&fx);
    struct mark m;
    struct mark_known known;
    CHECK_OK(mark_init(&m, fx.path, &known, NULL));
    CHECK_INT(known.seen, 303);
    CHECK_INT(known.reserved, 303);
    mark_fini(&m);
    fx_fini(&fx);
}

/* ------------------------------------------------------------------ a file of version 1 */

enum { OLD_KEYS = 1300 }; /* more than one step of the upgrade */

static void make_version_1(struct fixture *fx)
{
    char key[32];
    fx_open(fx);
    for (int i = 0; i < OLD_KEYS; i++) {
        (void)snprintf(key, sizeof key, "/k/%04d", i);
        fx_queue(fx, op_put(key, key));
    }
    fx_queue(fx, op_delete("/k/0003"));
    fx_wait_rev(fx, OLD_KEYS + 1);
    fx_close(fx);
    sqlite3 *db;
    CHECK(sqlite3_open(fx->path, &db) == SQLITE_OK);
    CHECK(sqlite3_exec(db,
                       "ALTER TABLE log DROP COLUMN sum; DELETE FROM meta WHERE name = 'floor';"
                       "PRAGMA user_version = 1; PRAGMA wal_checkpoint(TRUNCATE)",
                       NULL, NULL, NULL) == SQLITE_OK);
    (void)sqlite3_close(db);
    scoped(free_scoped) char *mark = xasprintf("%s.mark", fx->path);
    CHECK_OK(unlink(mark));
}

static void check_upgraded(struct fixture *fx)
{
    CHECK_INT(store_revision(fx->store), OLD_KEYS + 1);
    for (int i = 0; i < OLD_KEYS; i += 13) {
        char key[32];
        (void)snprintf(key, sizeof key, "/k/%04d", i);
        struct fx_got g = fx_get(fx, key, OLD_KEYS);
        CHECK_OK(g.r);
        CHECK_STR(str_of(g.value), key);
        CHECK_INT(g.mod_rev, i + 1);
    }
    CHECK(!fx_get(fx, "/k/0003", 0).found);
    CHECK_OK(fx_watch_from(fx, 1));
}

TEST(a_store_of_the_version_before_is_upgraded)
{
    struct fixture fx;
    fx_init(&fx);
    make_version_1(&fx);
    CHECK_INT(run_check(&fx, false, E_VERSION).n, 0);
    fx_open(&fx);
    check_upgraded(&fx);
    fx_close(&fx);
    CHECK_INT(run_check(&fx, false, 0).n, 0);
    sqlite3 *db;
    CHECK(sqlite3_open(fx.path, &db) == SQLITE_OK);
    CHECK(sqlite3_exec(db, "UPDATE log SET value = CAST('/k/0778' AS BLOB) WHERE id = 778 << 7",
                       NULL, NULL, NULL) == SQLITE_OK);
    (void)sqlite3_close(db);
    fx_open(&fx);
    CHECK_ERR(fx_get(&fx, "/k/0777", 0).r, E_DIGEST);
    fx_fini(&fx);
}

/* The upgrade fails at each write and each sync, and continues at the next opening. */
TEST(an_upgrade_that_is_interrupted_goes_on)
{
    static const enum fault_kind kinds[] = { FAULT_WRITE, FAULT_SYNC };
    struct fixture fx, copy;
    fault_install();
    fx_init(&fx);
    fx_init(&copy);
    make_version_1(&copy);
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        bool fired = true;
        for (unsigned nth = 1; fired; nth += nth < 20 ? 1 : 11) {
            struct err err = { 0 };
            copy_file(copy.path, fx.path);
            fault_arm(kinds[k], nth, true);
            int r = fx_try_open(&fx, &err);
            fired = fault_disarm();
            CHECK(r == 0 || str_find(str_of(err.text), str_of(fx.path)) >= 0);
            if (r == 0)
                fx_close(&fx);
            fx_open(&fx);
            check_upgraded(&fx);
            fx_close(&fx);
            CHECK_INT(run_check(&fx, false, 0).n, 0);
            fx_clean_dir(&fx);
        }
    }
    fx_fini(&fx);
    fx_fini(&copy);
}

TEST_MAIN
