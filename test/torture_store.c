/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store/ when a call fails: open, write, read, watch, compact, close, open again.
 *
 * What must hold: a call that failed says so and has changed nothing; what was acknowledged is read
 * back, by the open store and by the next one; a watcher has seen each acknowledged revision once
 * and in order, or was told that its watch has ended.
 */
#include "store_util.h"
#include "torture.h"

enum { KEYS = 3, WRITES = 5, BIG_BYTES = 70000 };

/* What the store has acknowledged. */
static struct {
    uint64_t rev;
    int value[KEYS]; /* 0: absent */
} acked;

static struct {
    struct store_watch *w;
    uint64_t rev; /* of the last event */
    int end;      /* what on_end said; 0: the watch lives */
} seen;

static void on_events(void *arg, const struct store_event *ev, size_t n, uint64_t progress_rev)
{
    for (size_t i = 0; i < n; i++) {
        CHECK(ev[i].kv.mod_rev == seen.rev + 1); /* one event per transaction here */
        seen.rev = ev[i].kv.mod_rev;
    }
    CHECK(progress_rev >= seen.rev);
}

static void on_watch_end(void *arg, int r, const struct err *err)
{
    CHECK(r < 0);
    seen.end = r;
    seen.w = NULL;
}

static const struct store_watch_ops watch_ops = { .on_events = on_events, .on_end = on_watch_end };

/* An error needs a cause: a call that has failed. */
static bool check_result(int r)
{
    if (r < 0 && !torture_failed())
        TEST_FAIL("%s, and no call has failed", err_name(r));
    return r >= 0;
}

static void key_of(int i, char to[16])
{
    (void)snprintf(to, 16, "/k/%d", i);
}

static void write_one(struct fixture *fx, int i, int value)
{
    static char bytes[BIG_BYTES];
    char key[16];
    key_of(i, key);
    struct store_op op = value ? op_put(key, "") : op_delete(key);
    memset(bytes, 'v', sizeof bytes);
    (void)snprintf(bytes, sizeof bytes, "%06d", value);
    op.value = str_n(bytes, value % 2 ? sizeof bytes : 6);
    struct fx_txn t = { .done = false };
    int r = store_txn(fx->store, &op, 1, fx_on_txn, &t, NULL);
    if (!check_result(r))
        return;
    while (!t.done)
        fx_turn(fx);
    if (check_result(t.res.r)) {
        acked.value[i] = value;
        acked.rev = t.res.rev;
    }
}

/* A read may fail, but what it finds is what was acknowledged. */
static void read_one(struct fixture *fx, int i, bool must_work)
{
    char key[16];
    uint64_t got = 0;
    key_of(i, key);
    struct fx_got g = { .done = false };
    int r = store_get(fx->store, str_of(key), 0, fx_on_get, &g, NULL);
    while (r >= 0 && !g.done)
        fx_turn(fx);
    r = r < 0 ? r : g.r;
    CHECK(r >= 0 || !must_work);
    if (!check_result(r))
        return;
    CHECK_INT(g.found, acked.value[i] != 0);
    if (g.found)
        CHECK_OK(parse_u64(str_n(g.value, 6), 0, UINT64_MAX, &got));
    CHECK_INT(got, acked.value[i]);
}

static void read_all(struct fixture *fx, bool must_work)
{
    for (int i = 0; i < KEYS; i++)
        read_one(fx, i, must_work);
    struct fx_page p = { .done = false };
    struct store_range range = { .prefix = STR("/k/") };
    int r = store_range(fx->store, &range, fx_on_page, &p, NULL);
    while (r >= 0 && !p.done)
        fx_turn(fx);
    r = r < 0 ? r : p.r;
    CHECK(r >= 0 || !must_work);
    size_t n = 0;
    for (int i = 0; i < KEYS; i++)
        n += acked.value[i] != 0;
    if (check_result(r))
        CHECK_INT(p.n, n);
    CHECK_INT(store_revision(fx->store), acked.rev);
}

/* The watcher has everything, or was told. */
static void wait_for_watcher(struct fixture *fx)
{
    while (!seen.end && seen.rev < acked.rev)
        fx_turn(fx);
    CHECK(seen.end || seen.rev == acked.rev);
    if (seen.end)
        CHECK(torture_failed());
    else
        store_watch_cancel(seen.w);
}

static void work(struct fixture *fx)
{
    struct err err = { 0 };
    seen = (__typeof__(seen)){ .rev = acked.rev };
    int r = store_watch_start(fx->store, STR("/"), 0, &watch_ops, NULL, &seen.w, &err);
    if (!check_result(r))
        seen.end = r;
    for (int i = 0; i < WRITES; i++)
        write_one(fx, i % KEYS, i == 3 ? 0 : 100 + i);
    read_all(fx, false);
    if (acked.rev > 1)
        (void)check_result(fx_compact(fx, acked.rev));
    read_all(fx, false);
}

/* Returns whether it is open. */
static bool try_open(struct fixture *fx)
{
    struct err err = { 0 };
    int r = fx_try_open(fx, &err);
    if (r < 0)
        CHECK(err.text[0]);
    return check_result(r);
}

static void store_scenario(void)
{
    struct fixture fx;
    fx_init(&fx);
    memset(&acked, 0, sizeof acked);
    torture_on();
    bool is_open = try_open(&fx);
    if (is_open) {
        work(&fx);
        torture_off();
        /* The disk is in order again: this store works on, without being opened again. */
        read_all(&fx, true);
        write_one(&fx, 0, 200);
        CHECK_INT(acked.value[0], 200);
        wait_for_watcher(&fx);
        torture_on();
        fx_close(&fx);
        is_open = try_open(&fx);
    }
    torture_off();
    if (!is_open)
        fx_open(&fx);
    read_all(&fx, true);
    write_one(&fx, 1, 300);
    CHECK_INT(acked.value[1], 300);
    fx_close(&fx);
    fx_fini(&fx);
}

TEST(a_store_survives_each_failing_call)
{
    torture_run("the store", store_scenario);
}

TEST_MAIN
