/* SPDX-License-Identifier: Apache-2.0 */
/* store/: single behaviours; the model test is test_store_model.c, faults are test_store_fault.c.
 */
#include "store_util.h"

#include "store/sqlite.h"

#include <sqlite3.h>

/* ------------------------------------------------------------------ transactions and reads */

TEST(what_was_put_is_read_back_with_its_revisions)
{
    struct fixture fx;
    fx_init(&fx);
    fx_open(&fx);
    CHECK_INT(store_revision(fx.store), 0);
    CHECK_INT(fx_put(&fx, "/a", "one"), 1);
    CHECK_INT(fx_put(&fx, "/b", ""), 2);
    CHECK_INT(fx_put(&fx, "/a", "two"), 3);
    struct fx_got g = fx_get(&fx, "/a", 0);
    CHECK_OK(g.r);
    CHECK_STR(str_of(g.value), "two");
    CHECK_INT(g.create_rev, 1);
    CHECK_INT(g.mod_rev, 3);
    CHECK_INT(g.version, 2);
    CHECK_INT(g.rev, 3);
    CHECK(fx_get(&fx, "/b", 0).found);
    CHECK(!fx_get(&fx, "/c", 0).found);
    CHECK_STR(str_of(fx_get(&fx, "/a", 2).value), "one");
    CHECK(!fx_get(&fx, "/b", 1).found);
    CHECK_ERR(fx_get(&fx, "/a", 4).r, E_FUTURE);
    fx_fini(&fx);
}

TEST(a_key_that_is_read_often_is_in_memory_and_as_new_as_any_other)
{
    struct fixture fx;
    fx_init(&fx);
    fx_open(&fx);
    const struct hot *hot = &sqlite_store_of(fx.store)->hot;
    fx_put(&fx, "/ns", "one");
    fx_put(&fx, "/other", "x");
    CHECK(fx_get(&fx, "/ns", 0).found);
    CHECK_INT(hot->n, 0);
    CHECK(fx_get(&fx, "/ns", 0).found);
    CHECK_INT(hot->n, 1);
    for (int i = 0; i < 3; i++) {
        struct fx_got g = fx_get(&fx, "/ns", 0);
        CHECK_STR(str_of(g.value), "one");
        CHECK_INT(g.mod_rev, 1);
        CHECK_INT(g.create_rev, 1);
        CHECK_INT(g.version, 1);
        CHECK_INT(g.rev, 2 + (unsigned)i); /* the revision that was read at moves on */
        fx_put(&fx, "/other", "y");
        CHECK_INT(hot->n, 1);
    }
    fx_put(&fx, "/ns", "two");
    CHECK_INT(hot->n, 0);
    CHECK_STR(str_of(fx_get(&fx, "/ns", 0).value), "two");
    CHECK_STR(str_of(fx_get(&fx, "/ns", 0).value), "two");
    CHECK_STR(str_of(fx_get(&fx, "/ns", 1).value), "one"); /* an older revision is not there */
    fx_delete(&fx, "/ns");
    CHECK(!fx_get(&fx, "/ns", 0).found);
    CHECK(!fx_get(&fx, "/ns", 0).found);
    CHECK_INT(hot->n, 0);
    fx_fini(&fx);
}

TEST(what_is_kept_in_memory_for_reads_is_bounded)
{
    struct hot hot = { 0 };
    static char bytes[HOT_MAX_BYTES + 1];
    struct store_kv large = { .key = STR("/"), .value = str_n(bytes, HOT_MAX_BYTES) };
    for (int i = 0; i < 3; i++)
        hot_note(&hot, &large);
    CHECK_INT(hot.n, 0);
    for (unsigned i = 0; i < 4000; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "/%u", i / 2);
        struct store_kv kv = { .key = str_of(key), .value = STR("v"), .mod_rev = i };
        hot_note(&hot, &kv);
        CHECK(hot.n <= HOT_SLOTS);
        const struct store_kv *found = hot_find(&hot, kv.key);
        CHECK_INT(found != NULL, i % 2);
        CHECK(!found || found->mod_rev == i);
    }
    CHECK_INT(hot.n, HOT_SLOTS);
    struct store_kv kept = hot.slots[0].kv;
    struct store_kv once = { .key = STR("/once"), .value = STR("v") };
    for (int i = 0; i < 3; i++) { /* its slot's own key is read in between */
        for (unsigned k = 0; k < HOT_SLOTS; k++)
            CHECK(hot_find(&hot, hot.slots[k].kv.key));
        hot_note(&hot, &once);
    }
    CHECK(!hot_find(&hot, once.key));
    CHECK(hot_find(&hot, kept.key));
    hot_reset(&hot);
    CHECK_INT(hot.n, 0);
    CHECK(!hot_find(&hot, STR("/1999")));
}

TEST(everything_is_there_after_closing_and_opening_again)
{
    struct fixture fx;
    fx_init(&fx);
    fx_open(&fx);
    fx_put(&fx, "/a", "one");
    fx_put(&fx, "/b", "two");
    fx_delete(&fx, "/a");
    fx_close(&fx);
    fx_open(&fx);
    CHECK_INT(store_revision(fx.store), 3);
    CHECK(!fx_get(&fx, "/a", 0).found);
    CHECK_STR(str_of(fx_get(&fx, "/a", 2).value), "one");
    struct store_stats stats;
    store_stats(fx.store, &stats);
    CHECK_INT(stats.rows, 1);
    CHECK_INT(fx_put(&fx, "/a", "again"), 4);
    CHECK_INT(fx_get(&fx, "/a", 0).create_rev, 4);
    CHECK_INT(fx_get(&fx, "/a", 0).version, 1);
    fx_fini(&fx);
}

TEST(a_failed_comparison_changes_nothing_and_says_which)
{
    struct fixture fx;
    fx_init(&fx);
    fx_open(&fx);
    uint64_t rev = fx_put(&fx, "/a", "one");
    struct store_op ops[] = { op_put("/b", "x"), op_put("/a", "two") };
    ops[1].cmp = STORE_MOD_REV;
    ops[1].cmp_rev = rev + 1;
    struct store_txn_result res = fx_txn(&fx, ops, 2);
    CHECK_ERR(res.r, E_CONFLICT);
    CHECK_INT(res.failed_op, 1);
    CHECK_INT(res.rev, rev);
    CHECK(!fx_get(&fx, "/b", 0).found);
    ops[1].cmp_rev = rev;
    ops[0].cmp = STORE_ABSENT;
    CHECK_OK(fx_txn(&fx, ops, 2).r);
    res = fx_txn(&fx, ops, 2);
    CHECK_ERR(res.r, E_CONFLICT);
    CHECK_INT(res.failed_op, 0);
    struct store_op check = { .kind = STORE_CHECK, .key = STR("/a"), .cmp = STORE_ABSENT };
    CHECK_ERR(fx_txn(&fx, &check, 1).r, E_CONFLICT);
    check.key = STR("/none");
    res = fx_txn(&fx, &check, 1);
    CHECK_OK(res.r);
    CHECK_INT(res.rev, 2); /* and takes no revision */
    fx_fini(&fx);
}

TEST(deleting_what_is_absent_takes_no_revision)
{
    struct fixture fx;
    fx_init(&fx);
    fx_open(&fx);
    fx_put(&fx, "/a", "one");
    CHECK_INT(fx_delete(&fx, "/b"), 1);
    CHECK_INT(fx_delete(&fx, "/a"), 2);
    CHECK_INT(fx_delete(&fx, "/a"), 2);
    fx_fini(&fx);
}

/* All in one batch: each sees those before it, and a failed one leaves no trace in the others. */
TEST(transactions_of_one_batch_see_each_other_and_fail_alone)
{
    struct fixture fx;
    fx_init(&fx);
    fx_open(&fx);
    enum { N = 200 };
    struct fx_txn t[N] = { 0 };
    for (size_t i = 0; i < N; i++) {
        struct store_op ops[] = { op_put("/only-one-wins", "x"), op_put("/counter", "x") };
        ops[1].cmp = i ? STORE_MOD_REV : STORE_ABSENT;
        ops[1].cmp_rev = i;
        ops[0].cmp = i % 3 == 2 ? STORE_ABSENT : STORE_ANY; /* every third fails */
        if (i % 3 == 2)
            ops[1].cmp = STORE_ANY;
        CHECK_OK(store_txn(fx.store, ops, 2, fx_on_txn, &t[i], NULL));
    }
    while (!t[N - 1].done)
        fx_turn(&fx);
    CHECK_OK(t[0].res.r);
    CHECK_OK(t[1].res.r);
    CHECK_ERR(t[2].res.r, E_CONFLICT);
    CHECK_ERR(t[3].res.r, E_CONFLICT); /* expects revision 3, but only two succeeded */
    CHECK_INT(t[3].res.failed_op, 1);
    CHECK_INT(store_revision(fx.store), 2);
    CHECK_INT(fx_get(&fx, "/counter", 0).version, 2);
    fx_fini(&fx);
}

TEST(limits_are_refused_at_once)
{
    struct fixture fx;
    fx_init(&fx);
    fx_open(&fx);
    static char big[STORE_VALUE_MAX_BYTES + 1];
    memset(big, 'x', sizeof big);
    struct store_op op = { .kind = STORE_PUT, .key = STR("") };
    CHECK_ERR(store_txn(fx.store, &op, 1, fx_on_txn, NULL, NULL), -EINVAL);
    op.key = str_n(big, STORE_KEY_MAX_BYTES + 1);
    CHECK_ERR(store_txn(fx.store, &op, 1, fx_on_txn, NULL, NULL), -EINVAL);
    CHECK_ERR(store_get(fx.store, op.key, 0, fx_on_get, NULL, NULL), -EINVAL);
    op.key = str_n(big, STORE_KEY_MAX_BYTES);
    op.value = str_n(big, sizeof big);
    CHECK_ERR(store_txn(fx.store, &op, 1, fx_on_txn, NULL, NULL), -EMSGSIZE);
    CHECK_ERR(store_txn(fx.store, &op, 0, fx_on_txn, NULL, NULL), -EINVAL);
    struct store_op twice[] = { op_put("/a", "1"), op_put("/b", "2"), op_delete("/a") };
    CHECK_ERR(store_txn(fx.store, twice, 3, fx_on_txn, NULL, NULL), -EINVAL);
    twice[2].kind = STORE_CHECK;
    CHECK_OK(fx_txn(&fx, twice, 3).r);
    static struct store_op many[STORE_TXN_MAX_OPS + 1];
    static char keys[STORE_TXN_MAX_OPS + 1][8];
    for (size_t i = 0; i < ARRAY_LEN(many); i++) {
        (void)snprintf(keys[i], sizeof keys[i], "/%zu", i);
        many[i] = op_put(keys[i], "x");
    }
    CHECK_ERR(store_txn(fx.store, many, ARRAY_LEN(many), fx_on_txn, NULL, NULL), -EINVAL);
    CHECK_OK(fx_txn(&fx, many, STORE_TXN_MAX_OPS).r);
    op.value.n--; /* the largest key with the largest value */
    CHECK_OK(fx_txn(&fx, &op, 1).r);
    struct fx_page p = fx_range(&fx, (struct store_range){ .prefix = STR("xxx") });
    CHECK_INT(p.n, 1);
    CHECK_INT(p.bytes, STORE_VALUE_MAX_BYTES);
    fx_fini(&fx);
}

TEST(too_much_waiting_is_refused_and_goes_through_later)
{
    struct fixture fx;
    fx_init(&fx);
    fx_open(&fx);
    static char big[STORE_VALUE_MAX_BYTES];
    struct store_op op = { .kind = STORE_PUT, .key = STR("/a"), .value = { big, sizeof big } };
    struct fx_txn t[10] = { 0 };
    size_t n = 0;
    int r = 0;
    while (n < ARRAY_LEN(t) && (r = store_txn(fx.store, &op, 1, fx_on_txn, &t[n], NULL)) == 0)
        n++;
    CHECK_ERR(r, -EBUSY);
    CHECK_INT(n, STORE_PENDING_MAX_BYTES / STORE_VALUE_MAX_BYTES - 1);
    while (!t[n - 1].done)
        fx_turn(&fx);
    CHECK_OK(fx_txn(&fx, &op, 1).r);
    fx_fini(&fx);
}

TEST(a_transaction_that_replaces_too_much_fails_alone)
{
    struct fixture fx;
    fx_init(&fx);
    fx_open(&fx);
    static char big[STORE_VALUE_MAX_BYTES];
    enum { N = 9 }; /* 72 MiB */
    char keys[N][8];
    struct store_op ops[N];
    for (int i = 0; i < N; i++) {
        (void)snprintf(keys[i], sizeof keys[i], "/%d", i);
        struct store_op op = { .kind = STORE_PUT,
                               .key = str_of(keys[i]),
                               .value = { big, sizeof big } };
        CHECK_OK(fx_txn(&fx, &op, 1).r);
        ops[i] = op_delete(keys[i]);
    }
    struct fx_txn all = { .done = false };
    CHECK_OK(store_txn(fx.store, ops, N, fx_on_txn, &all, NULL));
    CHECK_INT(fx_put(&fx, "/other", "x"), N + 1); /* in the same batch */
    CHECK_ERR(all.res.r, -EMSGSIZE);
    CHECK_OK(fx_txn(&fx, ops, N - 2).r);
    fx_fini(&fx);
}

/* ------------------------------------------------------------------ ranges */

TEST(ranges_are_pages_in_bytewise_order)
{
    struct fixture fx;
    fx_init(&fx);
    fx_open(&fx);
    static const char *const keys[] = { "/a/1", "/a/10", "/a/2", "/a", "/b", "/a/\xff", "/a0" };
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        fx_put(&fx, keys[i], "value");
    uint64_t rev = fx_delete(&fx, "/a/2");
    struct fx_page p = fx_range(&fx, (struct store_range){ .prefix = STR("/a/") });
    CHECK_STR(str_of(p.keys), "/a/1,/a/10,/a/\xff");
    CHECK(!p.more);
    p = fx_range(&fx, (struct store_range){ .prefix = STR("/a"), .limit = 2, .count_left = true });
    CHECK_STR(str_of(p.keys), "/a,/a/1");
    CHECK(p.more);
    CHECK_INT(p.left, 3);
    p = fx_range(&fx, (struct store_range){ .prefix = STR("/a"),
                                            .after = STR("/a/1"),
                                            .limit = 2,
                                            .count_left = true,
                                            .at_rev = p.rev });
    CHECK_STR(str_of(p.keys), "/a/10,/a/\xff");
    CHECK_INT(p.left, 1);
    p = fx_range(
        &fx, (struct store_range){ .prefix = STR("/a/"), .at_rev = rev - 1, .keys_only = true });
    CHECK_STR(str_of(p.keys), "/a/1,/a/10,/a/2,/a/\xff");
    CHECK_INT(p.bytes, 0);
    p = fx_range(&fx, (struct store_range){ .prefix = STR("/a/\xff") });
    CHECK_INT(p.n, 1);
    p = fx_range(&fx, (struct store_range){ .limit = 1, .count_left = true });
    CHECK_INT(p.left, 5);
    p = fx_range(&fx, (struct store_range){ .prefix = STR("/c"), .count_left = true });
    CHECK_INT(p.n, 0);
    CHECK_INT(p.left, 0);
    p = fx_range(&fx, (struct store_range){ .prefix = STR("/a"), .after = STR("/zz") });
    CHECK_INT(p.n, 0);
    fx_fini(&fx);
}

TEST(pages_are_bounded_by_rows_and_by_bytes)
{
    struct fixture fx;
    fx_init(&fx);
    fx_open(&fx);
    static char value[100 << 10];
    memset(value, 'v', sizeof value);
    char key[32];
    enum { SMALL = 700, LARGE = 60 };
    for (int i = 0; i < SMALL + LARGE; i++) {
        (void)snprintf(key, sizeof key, i < SMALL ? "/small/%04d" : "/large/%04d", i);
        struct store_op op = { .kind = STORE_PUT,
                               .key = str_of(key),
                               .value = { value, i < SMALL ? 10 : sizeof value } };
        fx_queue(&fx, op);
    }
    fx_wait_rev(&fx, SMALL + LARGE);
    struct fx_page p =
        fx_range(&fx, (struct store_range){ .prefix = STR("/small/"), .count_left = true });
    CHECK_INT(p.n, STORE_PAGE_MAX_ROWS);
    CHECK_INT(p.left, SMALL - STORE_PAGE_MAX_ROWS);
    p = fx_range(&fx, (struct store_range){ .prefix = STR("/large/"), .count_left = true });
    CHECK(p.bytes <= STORE_PAGE_MAX_BYTES && p.n == STORE_PAGE_MAX_BYTES / sizeof value);
    CHECK_INT(p.left, LARGE - p.n);
    p = fx_range(&fx, (struct store_range){ .prefix = STR("/large/"), .keys_only = true });
    CHECK_INT(p.n, LARGE);
    fx_fini(&fx);
}

static struct fx_page asked_before;

static void on_overtaking_get(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                              const struct err *err)
{
    CHECK(!asked_before.done);
    *(bool *)arg = true;
}

TEST(one_key_does_not_wait_behind_pages)
{
    struct fixture fx;
    bool done = false;
    fx_init(&fx);
    fx_open(&fx);
    asked_before = (struct fx_page){ .done = false };
    const struct store_range all = { .prefix = STR("/") };
    CHECK_OK(store_range(fx.store, &all, fx_on_page, &asked_before, NULL));
    CHECK_OK(store_get(fx.store, STR("/k"), 0, on_overtaking_get, &done, NULL));
    while (!done || !asked_before.done)
        fx_turn(&fx);
    fx_fini(&fx);
}

/* A list in pages is one moment in time, whatever is written in between. */
TEST(a_list_at_a_revision_does_not_see_later_writes)
{
    struct fixture fx;
    fx_init(&fx);
    fx_open(&fx);
    char key[32];
    for (int i = 0; i < 50; i++) {
        (void)snprintf(key, sizeof key, "/k/%02d", i);
        fx_put(&fx, key, "before");
    }
    struct store_range range = { .prefix = STR("/k/"), .limit = 7, .count_left = true };
    char after[STORE_KEY_MAX_BYTES];
    size_t total = 0;
    for (int round = 0;; round++) {
        struct fx_page p = fx_range(&fx, range);
        CHECK_OK(p.r);
        total += p.n;
        CHECK_INT(p.left, 50 - total);
        if (!p.more)
            break;
        memcpy(after, p.last, p.n_last);
        range.after = str_n(after, p.n_last);
        range.at_rev = p.rev;
        (void)snprintf(key, sizeof key, "/k/%02d", 49 - round);
        fx_delete(&fx, key);
        (void)snprintf(key, sizeof key, "/k/%02dx", 40 + round);
        fx_put(&fx, key, "new");
    }
    CHECK_INT(total, 50);
    CHECK_INT(range.at_rev, 50);
    fx_fini(&fx);
}

TEST(a_key_changed_thousands_of_times_is_found_at_every_revision)
{
    struct fixture fx;
    fx_init(&fx);
    fx_open(&fx);
    enum { N = 3000 };
    char value[32];
    for (int i = 1; i <= N; i++) {
        (void)snprintf(value, sizeof value, "%d", i);
        struct store_op op = i % 500 ? op_put("/hot", value) : op_delete("/hot");
        fx_queue(&fx, op);
        if (i % 100 == 0)
            fx_wait_rev(&fx, (uint64_t)i);
    }
    for (int i = 1; i <= N; i += 7) {
        struct fx_got g = fx_get(&fx, "/hot", (uint64_t)i);
        CHECK_INT(g.found, i % 500 != 0);
        if (g.found) {
            (void)snprintf(value, sizeof value, "%d", i);
            CHECK_STR(str_of(g.value), value);
            CHECK_INT(g.version, i < 500 ? i : i % 500);
        }
    }
    fx_fini(&fx);
}

/* ------------------------------------------------------------------ watches */

struct seen {
    struct store_watch *w;
    size_t n, calls;
    uint64_t progress, revs[4096];
    char text[512]; /* "+/key=value(prev) -/key(prev)" */
    int end;
    bool pause_after_each, cancel_at_once, cancel_at_end, ended;
};

static void on_events(void *arg, const struct store_event *ev, size_t n, uint64_t progress)
{
    struct seen *s = arg;
    CHECK(n > 0 && !s->ended);
    s->calls++;
    for (size_t i = 0; i < n; i++) {
        CHECK(s->n < ARRAY_LEN(s->revs));
        CHECK(ev[i].kv.mod_rev > s->progress && ev[i].kv.mod_rev <= progress);
        s->revs[s->n++] = ev[i].kv.mod_rev;
        size_t at = strlen(s->text);
        (void)snprintf(s->text + at, sizeof s->text - at, "%s%s" STR_FMT, at ? " " : "",
                       ev[i].kind == STORE_EV_PUT ? "+" : "-", STR_ARG(ev[i].kv.key));
        if (ev[i].kv.value.n < 32) {
            at = strlen(s->text);
            (void)snprintf(s->text + at, sizeof s->text - at, "=" STR_FMT "(" STR_FMT ")",
                           STR_ARG(ev[i].kv.value),
                           STR_ARG(ev[i].has_prev ? ev[i].prev.value : STR("")));
        }
    }
    s->progress = progress;
    if (s->pause_after_each)
        store_watch_pause(s->w);
    if (s->cancel_at_once)
        store_watch_cancel(s->w);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct seen *s = arg;
    CHECK(!s->ended && r < 0);
    s->ended = true;
    s->end = r;
    if (s->cancel_at_end) /* too late, and harmless */
        store_watch_cancel(s->w);
}

static const struct store_watch_ops watch_ops = { on_events, on_end };

static void watch(struct fixture *fx, struct seen *s, const char *prefix, uint64_t from)
{
    *s = (struct seen){ .n = 0 };
    CHECK_OK(store_watch_start(fx->store, str_of(prefix), from, &watch_ops, s, &s->w, NULL));
}

TEST(a_watch_gets_history_then_what_comes_without_a_gap)
{
    struct fixture fx;
    fx_init(&fx);
    fx_open(&fx);
    fx_put(&fx, "/a/1", "one");
    fx_put(&fx, "/b/1", "other");
    fx_put(&fx, "/a/1", "two");
    struct seen *all = xnew(struct seen), *past = xnew(struct seen), *now = xnew(struct seen);
    watch(&fx, all, "", 1);
    watch(&fx, past, "/a/", 2);
    watch(&fx, now, "/a/", 0);
    CHECK_INT(store_watch_progress(now->w), 3);
    fx_put(&fx, "/a/2", "three");
    fx_delete(&fx, "/a/1");
    fx_put(&fx, "/c", "x");
    while (store_watch_progress(past->w) < 6 || store_watch_progress(all->w) < 6)
        fx_turn(&fx);
    CHECK_STR(str_of(past->text), "+/a/1=two(one) +/a/2=three() -/a/1=(two)");
    CHECK_STR(str_of(now->text), "+/a/2=three() -/a/1=(two)");
    CHECK_INT(all->n, 6);
    CHECK_INT(store_watch_progress(now->w), 6);
    store_watch_cancel(past->w);
    fx_put(&fx, "/a/9", "nine");
    CHECK_INT(past->n, 3);
    fx_close(&fx);
    CHECK(all->ended && now->ended && !past->ended);
    CHECK_ERR(all->end, -ECANCELED);
    free(all);
    free(past);
    free(now);
    fx_fini(&fx);
}

TEST(a_watch_cannot_start_in_the_future_or_in_compacted_history)
{
    struct fixture fx;
    fx_init(&fx);
    fx_open(&fx);
    struct seen *s = xnew(struct seen);
    for (int i = 0; i < 5; i++)
        fx_put(&fx, "/a", "x");
    CHECK_ERR(store_watch_start(fx.store, STR(""), 7, &watch_ops, s, &s->w, NULL), E_FUTURE);
    CHECK_OK(fx_compact(&fx, 4));
    CHECK_ERR(store_watch_start(fx.store, STR(""), 3, &watch_ops, s, &s->w, NULL), E_EXPIRED);
    watch(&fx, s, "", 4);
    fx_put(&fx, "/a", "last");
    while (store_watch_progress(s->w) < 6)
        fx_turn(&fx);
    CHECK_STR(str_of(s->text), "+/a=x(x) +/a=x(x) +/a=last(x)");
    fx_fini(&fx);
    free(s);
}

TEST(a_paused_watch_goes_on_where_it_was)
{
    struct fixture fx;
    fx_init(&fx);
    fx_open(&fx);
    struct seen *s = xnew(struct seen);
    watch(&fx, s, "/a", 0);
    s->pause_after_each = true;
    char value[16];
    for (int i = 0; i < 20; i++) {
        (void)snprintf(value, sizeof value, "%d", i);
        fx_put(&fx, "/a", value);
        if (i % 5 == 4)
            store_watch_resume(s->w);
    }
    s->pause_after_each = false;
    store_watch_resume(s->w);
    while (store_watch_progress(s->w) < 20)
        fx_turn(&fx);
    CHECK_INT(s->n, 20);
    for (size_t i = 0; i < 20; i++)
        CHECK_INT(s->revs[i], i + 1);
    fx_fini(&fx);
    free(s);
}

TEST(a_watcher_that_stays_paused_ends_when_too_much_waits)
{
    struct fixture fx;
    fx_init(&fx);
    fx_open(&fx);
    struct seen *slow = xnew(struct seen), *fast = xnew(struct seen), *other = xnew(struct seen);
    watch(&fx, slow, "/a", 0);
    watch(&fx, fast, "/a", 0);
    watch(&fx, other, "/b", 0);
    slow->cancel_at_end = true;
    store_watch_pause(slow->w);
    store_watch_pause(other->w);
    static char big[1 << 20];
    struct store_op op = { .kind = STORE_PUT, .key = STR("/a"), .value = { big, sizeof big } };
    int n = 0;
    while (!slow->ended && n++ < 20)
        CHECK_OK(fx_txn(&fx, &op, 1).r);
    CHECK_ERR(slow->end, -EMSGSIZE);
    CHECK_INT(n, 3); /* each brings its value and, from the second on, the previous one */
    CHECK_INT(fast->n, n);
    CHECK(!other->ended);
    fx_fini(&fx);
    free(slow);
    free(fast);
    free(other);
}

TEST(compaction_ends_paused_watches_that_are_behind_it)
{
    struct fixture fx;
    fx_init(&fx);
    fx_open(&fx);
    struct seen *behind = xnew(struct seen), *ahead = xnew(struct seen);
    watch(&fx, behind, "", 0);
    store_watch_pause(behind->w);
    for (int i = 0; i < 5; i++)
        fx_put(&fx, "/a", "x");
    watch(&fx, ahead, "", 0);
    store_watch_pause(ahead->w);
    CHECK_OK(fx_compact(&fx, 3));
    CHECK_ERR(behind->end, E_EXPIRED);
    CHECK(!ahead->ended);
    fx_fini(&fx);
    free(behind);
    free(ahead);
}

/* The first callback cancels its neighbours and itself and starts another one. */
struct meddler {
    struct fixture *fx;
    struct store_watch *own, *before, *after;
    struct seen *late;
    int calls;
};

static void on_meddle(void *arg, const struct store_event *ev, size_t n, uint64_t progress)
{
    struct meddler *m = arg;
    m->calls++;
    store_watch_cancel(m->before);
    store_watch_cancel(m->after);
    store_watch_cancel(m->own);
    watch(m->fx, m->late, "", 0);
}

TEST(callbacks_may_cancel_any_watch_and_start_others)
{
    struct fixture fx;
    fx_init(&fx);
    fx_open(&fx);
    struct seen *before = xnew(struct seen), *after = xnew(struct seen), *late = xnew(struct seen);
    struct meddler m = { .fx = &fx, .late = late };
    static const struct store_watch_ops meddle_ops = { on_meddle, on_end };
    watch(&fx, before, "", 0);
    CHECK_OK(store_watch_start(fx.store, STR(""), 0, &meddle_ops, &m, &m.own, NULL));
    watch(&fx, after, "", 0);
    m.before = before->w;
    m.after = after->w;
    fx_put(&fx, "/a", "x");
    CHECK_INT(before->n, 1);
    CHECK_INT(m.calls, 1);
    CHECK_INT(after->n, 0);
    CHECK_INT(late->n, 0);
    fx_put(&fx, "/a", "y");
    CHECK_INT(late->n, 1);
    CHECK_INT(m.calls, 1);
    struct store_stats stats;
    store_stats(fx.store, &stats);
    CHECK_INT(stats.watchers, 1);
    late->cancel_at_once = true;
    fx_put(&fx, "/a", "z");
    store_stats(fx.store, &stats);
    CHECK_INT(stats.watchers, 0);
    fx_fini(&fx);
    free(before);
    free(after);
    free(late);
}

struct order {
    struct seen *seen;
    bool done;
};

static void on_txn_after_events(void *arg, const struct store_txn_result *res,
                                const struct err *err)
{
    struct order *o = arg;
    CHECK_INT(res->rev, 1);
    CHECK_INT(o->seen->n, 1);
    o->done = true;
}

TEST(watchers_know_before_the_writer_is_answered)
{
    struct fixture fx;
    fx_init(&fx);
    fx_open(&fx);
    struct order o = { .seen = xnew(struct seen) };
    watch(&fx, o.seen, "", 0);
    struct store_op op = op_put("/a", "x");
    CHECK_OK(store_txn(fx.store, &op, 1, on_txn_after_events, &o, NULL));
    while (!o.done)
        fx_turn(&fx);
    fx_fini(&fx);
    free(o.seen);
}

/* A replay that fills several pages, while new commits arrive. */
TEST(a_long_replay_meets_the_present)
{
    struct fixture fx;
    fx_init(&fx);
    fx_open(&fx);
    char key[32];
    enum { N = 2000, MORE = 300 };
    for (int i = 0; i < N; i++) {
        (void)snprintf(key, sizeof key, "/k/%d", i % 100);
        struct store_op op = op_put(key, "x");
        fx_queue(&fx, op);
    }
    fx_wait_rev(&fx, N);
    struct seen *s = xnew(struct seen);
    watch(&fx, s, "/k/", 1);
    for (int i = 0; i < MORE; i++) {
        struct store_op op = op_put("/k/new", "x");
        fx_queue(&fx, op);
    }
    while (store_revision(fx.store) < N + MORE || store_watch_progress(s->w) < N + MORE)
        fx_turn(&fx);
    CHECK_INT(s->n, N + MORE);
    CHECK(s->calls > 3);
    for (size_t i = 0; i < s->n; i++)
        CHECK_INT(s->revs[i], i + 1);
    fx_fini(&fx);
    free(s);
}

/* ------------------------------------------------------------------ compaction and rest */

static int64_t query(const char *path, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *st;
    CHECK(sqlite3_open(path, &db) == SQLITE_OK);
    CHECK(sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK);
    CHECK(sqlite3_step(st) == SQLITE_ROW);
    int64_t v = sqlite3_column_int64(st, 0);
    (void)sqlite3_finalize(st);
    (void)sqlite3_close(db);
    return v;
}

TEST(compaction_forgets_what_no_readable_revision_needs)
{
    struct fixture fx;
    fx_init(&fx);
    fx_open(&fx);
    char key[32];
    for (int i = 0; i < 1000; i++) { /* each of 100 keys ten times */
        (void)snprintf(key, sizeof key, "/k/%02d", i % 100);
        struct store_op op = op_put(key, "x");
        fx_queue(&fx, op);
        if (i % 100 == 99)
            fx_wait_rev(&fx, (uint64_t)i + 1);
    }
    fx_delete(&fx, "/k/00");
    fx_delete(&fx, "/k/01");
    fx_put(&fx, "/k/01", "back");
    CHECK_ERR(fx_compact(&fx, 1004), -EINVAL);
    CHECK_OK(fx_compact(&fx, 1003));
    CHECK_OK(fx_compact(&fx, 500)); /* nothing left to do */
    CHECK_INT(store_compacted(fx.store), 1003);
    CHECK_ERR(fx_get(&fx, "/k/05", 1002).r, E_EXPIRED);
    CHECK_STR(str_of(fx_get(&fx, "/k/05", 1003).value), "x");
    CHECK_STR(str_of(fx_get(&fx, "/k/01", 1003).value), "back");
    CHECK(!fx_get(&fx, "/k/00", 1003).found);
    CHECK_ERR(fx_range(&fx, (struct store_range){ .at_rev = 1 }).r, E_EXPIRED);
    CHECK_INT(fx_range(&fx, (struct store_range){ .at_rev = 1003 }).n, 99);
    fx_close(&fx);
    CHECK_INT(query(fx.path, "SELECT count(*) FROM cur"), 99);
    /* 98 untouched, the last one, and the deletion that the last one replaced. */
    CHECK_INT(query(fx.path, "SELECT count(*) FROM log"), 100);
    fx_open(&fx);
    CHECK_INT(store_compacted(fx.store), 1003);
    CHECK_INT(store_revision(fx.store), 1003);
    fx_fini(&fx);
}

TEST(a_window_of_time_and_count_is_kept)
{
    struct fixture fx;
    fx_init(&fx);
    fx.opts.history_ms = 5;
    fx.opts.history_revisions = 10;
    fx.opts.idle_ms = 50;
    fx_open(&fx);
    for (int i = 0; i < 10; i++)
        fx_put(&fx, "/a", "x");
    CHECK(fx.loop.timers.n <= 1); /* for resting; there is nothing to compact */
    for (int i = 0; i < 10; i++)
        fx_put(&fx, "/a", "x");
    while (store_compacted(fx.store) < 10) /* the timer does it; nothing else is going on */
        fx_turn(&fx);
    CHECK_INT(store_compacted(fx.store), 10);
    while (fx.loop.timers.n) /* and then there is nothing to wait for */
        fx_turn(&fx);
    CHECK(fx_get(&fx, "/a", 10).found);
    CHECK_ERR(fx_get(&fx, "/a", 9).r, E_EXPIRED);
    fx_fini(&fx);
}

static off_t wal_size(const struct fixture *fx)
{
    scoped(free_scoped) char *wal = xasprintf("%s-wal", fx->path);
    struct stat st;
    return stat(wal, &st) < 0 ? 0 : st.st_size;
}

TEST(what_was_deleted_and_forgotten_is_free_for_what_comes)
{
    enum { BYTES = 1 << 20 };
    struct fixture fx;
    fx_init(&fx);
    fx_open(&fx);
    char *large = xalloc(BYTES + 1);
    memset(large, 'x', BYTES);
    struct store_stats stats;
    fx_put(&fx, "/large", large);
    store_stats(fx.store, &stats);
    CHECK(stats.bytes_reusable < BYTES);
    (void)fx_delete(&fx, "/large");
    CHECK_OK(fx_compact(&fx, fx_put(&fx, "/small", "x"))); /* that event knows the value no more */
    do { /* compaction goes on behind its answer */
        fx_put(&fx, "/small", "x");
        store_stats(fx.store, &stats);
    } while (stats.bytes_reusable < BYTES);
    CHECK(stats.bytes_reusable <= stats.bytes_on_disk);
    fx_fini(&fx);
    free(large);
}

TEST(an_idle_store_has_checkpointed_and_arms_nothing)
{
    struct fixture fx;
    fx_init(&fx);
    fx.opts.idle_ms = 20;
    fx_open(&fx);
    char key[32];
    for (int i = 0; i < 100; i++) {
        (void)snprintf(key, sizeof key, "/k/%d", i);
        fx_put(&fx, key, "x");
    }
    CHECK_INT(fx.loop.timers.n, 1);
    while (fx.loop.timers.n)
        fx_turn(&fx);
    struct store_stats stats;
    do { /* the writer reports its checkpoint when another report wakes the loop, at the latest */
        CHECK_OK(fx_compact(&fx, 0));
        store_stats(fx.store, &stats);
    } while (stats.fsyncs < stats.commits + 3);
    fx_get(&fx, "/k/1", 0); /* a read makes it rest again */
    CHECK_INT(fx.loop.timers.n, 1);
    while (fx.loop.timers.n)
        fx_turn(&fx);
    fx_close(&fx);
    CHECK_INT(wal_size(&fx), 0);
    CHECK_INT(query(fx.path, "SELECT count(*) FROM cur"), 100);
    fx_fini(&fx);
}

/* ------------------------------------------------------------------ closing */

TEST(closing_answers_everything_that_was_asked)
{
    struct fixture fx;
    fx_init(&fx);
    fx_open(&fx);
    struct fx_txn t[50] = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        struct store_op op = op_put("/a", "x");
        CHECK_OK(store_txn(fx.store, &op, 1, fx_on_txn, &t[i], NULL));
    }
    struct fx_got got = { .done = false };
    struct fx_compacted compacted = { .done = false };
    struct seen *s = xnew(struct seen);
    watch(&fx, s, "", 0);
    CHECK_OK(store_get(fx.store, STR("/a"), 0, fx_on_get, &got, NULL));
    CHECK_OK(store_compact(fx.store, 0, fx_on_compacted, &compacted, NULL));
    fx_close(&fx);
    for (size_t i = 0; i < ARRAY_LEN(t); i++)
        CHECK(t[i].done && t[i].res.r == 0);
    CHECK(got.done && compacted.done);
    CHECK_ERR(got.r, -ECANCELED);
    CHECK_ERR(s->end, -ECANCELED);
    fx_open(&fx);
    CHECK_INT(store_revision(fx.store), ARRAY_LEN(t));
    fx_fini(&fx);
    free(s);
}

static void on_closed_refuse(void *arg)
{
    *(bool *)arg = true;
}

TEST(a_closing_store_refuses_new_work)
{
    struct fixture fx;
    fx_init(&fx);
    fx_open(&fx);
    bool done = false;
    store_close(fx.store, on_closed_refuse, &done);
    CHECK(!done);
    struct store_op op = op_put("/a", "x");
    struct seen s;
    CHECK_ERR(store_txn(fx.store, &op, 1, fx_on_txn, NULL, NULL), -ECANCELED);
    CHECK_ERR(store_get(fx.store, op.key, 0, fx_on_get, NULL, NULL), -ECANCELED);
    CHECK_ERR(store_compact(fx.store, 0, fx_on_compacted, NULL, NULL), -ECANCELED);
    CHECK_ERR(store_watch_start(fx.store, STR(""), 0, &watch_ops, &s, &s.w, NULL), -ECANCELED);
    while (!done)
        fx_turn(&fx);
    fx.store = NULL;
    fx_fini(&fx);
}

TEST_MAIN
