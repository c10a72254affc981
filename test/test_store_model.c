/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store/ against a naive twin that keeps every event in one array and answers by looking through
 * it.
 *
 * Random transactions (several in flight), reads, lists in pages, watches, pauses, compactions and
 * reopenings; every answer is compared. TEST_SEED replays, STORE_STEPS sets the length.
 */
#include "store_util.h"

#include "base/vec.h"

enum { STEPS = 6000, KEYS = 60, WATCHES = 6, IN_FLIGHT = 40 };

/* ------------------------------------------------------------------ the twin */

struct twin_event {
    struct store_event ev; /* strings are given */
    ssize_t before;        /* the previous event of the key in the array, or -1 */
};

static VEC(struct twin_event) events; /* in revision order */
static uint64_t twin_rev;             /* of everything submitted */

static bool alive(ssize_t at)
{
    return at >= 0 && events.p[at].ev.kind == STORE_EV_PUT;
}

/* The newest event of the key up to a revision, or -1. */
static ssize_t twin_find(struct str key, uint64_t rev)
{
    for (ssize_t i = (ssize_t)events.n - 1; i >= 0; i--)
        if (events.p[i].ev.kv.mod_rev <= rev && str_eq(events.p[i].ev.kv.key, key))
            return i;
    return -1;
}

static void twin_change(const struct store_op *op, uint64_t rev)
{
    ssize_t before = twin_find(op->key, rev - 1);
    struct twin_event t = { .before = before };
    t.ev.kv.key = str_n(str_dup(op->key), op->key.n);
    t.ev.kv.mod_rev = rev;
    t.ev.kind = op->kind == STORE_PUT ? STORE_EV_PUT : STORE_EV_DELETE;
    if (op->kind == STORE_PUT) {
        t.ev.kv.value = str_n(str_dup(op->value), op->value.n);
        t.ev.kv.create_rev = alive(before) ? events.p[before].ev.kv.create_rev : rev;
        t.ev.kv.version = alive(before) ? events.p[before].ev.kv.version + 1 : 1;
    }
    t.ev.has_prev = alive(before);
    if (t.ev.has_prev)
        t.ev.prev = events.p[before].ev.kv;
    vec_push(&events, t);
}

static bool twin_holds(const struct store_op *op)
{
    ssize_t at = twin_find(op->key, twin_rev);
    switch (op->cmp) {
    case STORE_ANY:
        return true;
    case STORE_ABSENT:
        return !alive(at);
    case STORE_MOD_REV:
        return alive(at) && events.p[at].ev.kv.mod_rev == op->cmp_rev;
    }
    abort();
}

static struct store_txn_result twin_txn(const struct store_op *ops, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!twin_holds(&ops[i]))
            return (struct store_txn_result){ .r = E_CONFLICT, .rev = twin_rev, .failed_op = i };
    uint64_t rev = twin_rev + 1;
    bool changed = false;
    for (size_t i = 0; i < n; i++) {
        if (ops[i].kind == STORE_CHECK)
            continue;
        if (ops[i].kind == STORE_DELETE && !alive(twin_find(ops[i].key, twin_rev)))
            continue;
        twin_change(&ops[i], rev);
        changed = true;
    }
    if (changed)
        twin_rev = rev;
    return (struct store_txn_result){ .r = 0, .rev = twin_rev };
}

static void check_kv(const struct store_kv *a, const struct store_kv *b)
{
    CHECK(str_eq(a->key, b->key));
    CHECK(str_eq(a->value, b->value));
    CHECK_INT(a->create_rev, b->create_rev);
    CHECK_INT(a->mod_rev, b->mod_rev);
    CHECK_INT(a->version, b->version);
}

/* ------------------------------------------------------------------ random things */

static struct fixture fx;
static unsigned pending; /* calls that have not come back */
static char keys[KEYS][24];
static size_t n_keys[KEYS];

static void make_keys(void)
{
    static const struct {
        const char *before, *behind;
    } forms[] = {
        { "/a/", "" }, { "/a/b/", "" }, { "/ab", "" }, { "\xff\xff", "" }, { "/a/", "\xff" }
    };
    for (size_t i = 0; i < KEYS; i++) {
        size_t form = i % ARRAY_LEN(forms);
        n_keys[i] = (size_t)snprintf(keys[i], sizeof keys[i], "%s%zu%s", forms[form].before, i / 10,
                                     forms[form].behind);
        if (i % 10 >= 5)
            keys[i][n_keys[i]++] = '\0'; /* the same key with a zero byte behind it */
    }
}

static struct str random_key(void)
{
    size_t i = test_random_below(4) ? test_random_below(KEYS) : test_random_below(3); /* hot ones */
    return str_n(keys[i], n_keys[i]);
}

static struct str random_prefix(void)
{
    static const struct str prefixes[] = { { "", 0 },        { "/a", 2 },   { "/a/", 3 },
                                           { "/a/b/", 5 },   { "\xff", 1 }, { "\xff\xff", 2 },
                                           { "/a/1\xff", 5 } };
    return prefixes[test_random_below(ARRAY_LEN(prefixes))];
}

static struct str random_value(void)
{
    static char bytes[70000];
    static bool filled;
    if (!filled)
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (char)test_random();
    filled = true;
    size_t n = test_random_below(20) ? test_random_below(100) : test_random_below(sizeof bytes);
    return str_n(bytes + test_random_below(sizeof bytes - n), n);
}

/* Around the newest one, or 0 for it. */
static uint64_t random_rev(void)
{
    uint64_t newest = store_revision(fx.store), back = test_random_below(60);
    if (test_random_below(2))
        return 0;
    return newest - MIN(newest, back) + test_random_below(3);
}

/* ------------------------------------------------------------------ transactions */

struct expected_txn {
    struct store_txn_result res;
};

static void on_txn(void *arg, const struct store_txn_result *res, const struct err *err)
{
    struct expected_txn *e = arg;
    CHECK_INT(res->r, e->res.r);
    CHECK_INT(res->rev, e->res.rev);
    if (res->r == E_CONFLICT)
        CHECK_INT(res->failed_op, e->res.failed_op);
    CHECK(store_revision(fx.store) >= res->rev);
    pending--;
    free(e);
}

static struct store_op random_op(void)
{
    struct store_op op = { .key = random_key() };
    uint64_t kind = test_random_below(10);
    op.kind = kind < 6 ? STORE_PUT : kind < 9 ? STORE_DELETE : STORE_CHECK;
    if (op.kind == STORE_PUT)
        op.value = random_value();
    switch (test_random_below(6)) {
    case 0:
        op.cmp = STORE_ABSENT;
        break;
    case 1:
    case 2: {
        ssize_t at = twin_find(op.key, twin_rev);
        op.cmp = STORE_MOD_REV;
        op.cmp_rev = at < 0 || !test_random_below(4) ? test_random_below(twin_rev + 2)
                                                     : events.p[at].ev.kv.mod_rev;
        break;
    }
    default:
        break;
    }
    return op;
}

static void submit_txn(void)
{
    struct store_op ops[8];
    size_t want = 1 + (test_random_below(3) ? 0 : test_random_below(ARRAY_LEN(ops))), n = 0;
    while (n < want) {
        ops[n] = random_op();
        bool twice = false;
        for (size_t i = 0; i < n; i++)
            twice = twice || str_eq(ops[i].key, ops[n].key);
        if (twice)
            want--;
        else
            n++;
    }
    struct expected_txn *e = xnew(struct expected_txn);
    pending++;
    CHECK_OK(store_txn(fx.store, ops, n, on_txn, e, NULL));
    e->res = twin_txn(ops, n);
}

/* ------------------------------------------------------------------ reads */

struct expected_read {
    struct store_range range;
    char after[32];
    bool no_left; /* the previous page said so */
};

/* What reading at a revision must say; compaction may move on between asking and the answer. */
static bool check_read_point(int r, uint64_t asked, uint64_t rev)
{
    if (asked > store_revision(fx.store)) {
        CHECK_ERR(r, E_FUTURE);
        return false;
    }
    if (asked && asked < store_compacted(fx.store)) {
        CHECK_ERR(r, E_EXPIRED);
        return false;
    }
    CHECK_OK(r);
    CHECK_INT(rev, asked ? asked : store_revision(fx.store));
    return true;
}

static void on_get(void *arg, int r, const struct store_kv *kv, uint64_t rev, const struct err *err)
{
    struct expected_read *e = arg;
    pending--;
    if (check_read_point(r, e->range.at_rev, rev)) {
        ssize_t at = twin_find(e->range.prefix, rev);
        CHECK_INT(kv != NULL, alive(at));
        if (kv)
            check_kv(kv, &events.p[at].ev.kv);
    }
    free(e);
}

static void submit_get(void)
{
    struct expected_read *e = xnew(struct expected_read);
    e->range.prefix = random_key();
    e->range.at_rev = random_rev();
    pending++;
    CHECK_OK(store_get(fx.store, e->range.prefix, e->range.at_rev, on_get, e, NULL));
}

static int compare_keys(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static void submit_range(struct expected_read *e);

static void check_page(const struct expected_read *e, const struct store_page *page)
{
    struct str sorted[KEYS];
    size_t n = 0, at = 0;
    for (size_t i = 0; i < KEYS; i++)
        sorted[i] = str_n(keys[i], n_keys[i]);
    qsort(sorted, KEYS, sizeof *sorted, compare_keys);
    for (size_t i = 0; i < KEYS; i++) {
        if (!str_has_prefix(sorted[i], e->range.prefix) || str_cmp(sorted[i], e->range.after) <= 0)
            continue;
        ssize_t found = twin_find(sorted[i], page->rev);
        if (!alive(found))
            continue;
        n++;
        if (at == page->n)
            continue;
        struct store_kv want = events.p[found].ev.kv;
        if (e->range.keys_only)
            want.value = STR("");
        check_kv(&page->kv[at++], &want);
    }
    CHECK_INT(at, page->n);
    CHECK_INT(page->more, n > at);
    if (e->range.count_left)
        CHECK_INT(page->left, n - at);
    CHECK(!e->range.limit || page->n <= e->range.limit);
    CHECK(page->n || !n);
}

static void on_range(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct expected_read *e = arg;
    pending--;
    if (check_read_point(r, e->range.at_rev, page ? page->rev : 0)) {
        check_page(e, page);
        if (page->more) {
            struct str last = page->kv[page->n - 1].key;
            memcpy(e->after, last.p, last.n);
            e->range.after = str_n(e->after, last.n);
            e->range.at_rev = page->rev;
            submit_range(e);
            return;
        }
    }
    free(e);
}

static void submit_range(struct expected_read *e)
{
    if (!e) {
        e = xnew(struct expected_read);
        e->range = (struct store_range){ .prefix = random_prefix(),
                                         .limit = test_random_below(12),
                                         .at_rev = random_rev(),
                                         .keys_only = test_random_below(4) == 0,
                                         .count_left = test_random_below(2) };
        if (test_random_below(3) == 0)
            e->range.after = random_key();
    }
    pending++;
    CHECK_OK(store_range(fx.store, &e->range, on_range, e, NULL));
}

/* ------------------------------------------------------------------ watches */

struct watcher {
    struct store_watch *w; /* NULL: none */
    struct str prefix;
    size_t at; /* the next event in the twin's array */
    uint64_t next_rev;
    bool paused;
};
static struct watcher watchers[WATCHES];
static uint64_t delivered;

static void on_events(void *arg, const struct store_event *ev, size_t n, uint64_t progress)
{
    struct watcher *w = arg;
    CHECK(w->w && !w->paused && n > 0);
    CHECK(progress <= store_revision(fx.store));
    for (size_t i = 0; i < n; i++, w->at++) {
        while (!str_has_prefix(events.p[w->at].ev.kv.key, w->prefix))
            w->at++;
        CHECK(w->at < events.n);
        const struct store_event *want = &events.p[w->at].ev;
        CHECK_INT(ev[i].kind, want->kind);
        check_kv(&ev[i].kv, &want->kv);
        CHECK_INT(ev[i].has_prev, want->has_prev);
        if (want->has_prev)
            check_kv(&ev[i].prev, &want->prev);
        CHECK(ev[i].kv.mod_rev >= w->next_rev && ev[i].kv.mod_rev <= progress);
        delivered++;
    }
    /* Whole transactions: the next event of this prefix belongs to a later revision. */
    for (size_t i = w->at; i < events.n && events.p[i].ev.kv.mod_rev <= progress; i++)
        CHECK(!str_has_prefix(events.p[i].ev.kv.key, w->prefix));
    w->next_rev = progress + 1;
    if (test_random_below(10) == 0) {
        store_watch_cancel(w->w);
        w->w = NULL;
    } else if (test_random_below(10) == 0) {
        store_watch_pause(w->w);
        w->paused = true;
    }
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct watcher *w = arg;
    CHECK(w->w);
    if (r == E_EXPIRED)
        CHECK(w->next_rev < store_compacted(fx.store));
    else if (r == -EMSGSIZE)
        CHECK(w->paused);
    else
        CHECK_ERR(r, -ECANCELED);
    w->w = NULL;
}

static const struct store_watch_ops watch_ops = { on_events, on_end };

static void touch_watch(void)
{
    struct watcher *w = &watchers[test_random_below(WATCHES)];
    if (w->w && w->paused) {
        w->paused = false;
        store_watch_resume(w->w);
    } else if (w->w && test_random_below(2)) {
        w->paused = true;
        store_watch_pause(w->w);
    } else if (!w->w) {
        uint64_t from = random_rev(), now = store_revision(fx.store);
        *w = (struct watcher){ .prefix = random_prefix(), .next_rev = from ? from : now + 1 };
        while (w->at < events.n && events.p[w->at].ev.kv.mod_rev < w->next_rev)
            w->at++;
        int r = store_watch_start(fx.store, w->prefix, from, &watch_ops, w, &w->w, NULL);
        if (from && from < store_compacted(fx.store))
            CHECK_ERR(r, E_EXPIRED);
        else if (from > now + 1)
            CHECK_ERR(r, E_FUTURE);
        else
            CHECK_OK(r);
    }
}

/* ------------------------------------------------------------------ the walk */

static void on_compacted(void *arg, int r, const struct err *err)
{
    CHECK_OK(r);
    pending--;
}

static void submit_compact(void)
{
    uint64_t rev = store_revision(fx.store), back = test_random_below(50);
    rev -= MIN(rev, back);
    pending++;
    CHECK_OK(store_compact(fx.store, rev, on_compacted, NULL, NULL));
    CHECK(store_compacted(fx.store) >= rev);
}

static void settle(void)
{
    while (pending)
        fx_turn(&fx);
}

static void reopen(void)
{
    settle();
    uint64_t compacted = store_compacted(fx.store);
    fx_close(&fx);
    for (size_t i = 0; i < WATCHES; i++)
        CHECK(!watchers[i].w);
    fx_open(&fx);
    CHECK_INT(store_revision(fx.store), twin_rev);
    CHECK_INT(store_compacted(fx.store), compacted);
}

static void step(void)
{
    uint64_t dice = test_random_below(100);
    if (dice < 55)
        submit_txn();
    else if (dice < 70)
        submit_get();
    else if (dice < 80)
        submit_range(NULL);
    else if (dice < 98)
        touch_watch();
    else if (test_random_below(4))
        submit_compact();
    else if (test_random_below(6) == 0)
        reopen();
    while (pending > test_random_below(IN_FLIGHT))
        fx_turn(&fx);
}

static void finish_watches(void)
{
    for (size_t i = 0; i < WATCHES; i++) {
        struct watcher *w = &watchers[i];
        if (w->w && w->paused) {
            w->paused = false;
            store_watch_resume(w->w);
        }
        while (w->w && !w->paused && store_watch_progress(w->w) < twin_rev)
            fx_turn(&fx);
        for (size_t at = w->at; w->w && !w->paused && at < events.n; at++)
            CHECK(!str_has_prefix(events.p[at].ev.kv.key, w->prefix));
    }
}

TEST(the_store_agrees_with_a_naive_twin)
{
    uint64_t steps = STEPS;
    const char *env = getenv("STORE_STEPS");
    if (env)
        CHECK_OK(parse_u64(str_of(env), 1, UINT32_MAX, &steps));
    make_keys();
    fx_init(&fx);
    fx_open(&fx);
    for (uint64_t i = 0; i < steps; i++)
        step();
    settle();
    finish_watches();
    CHECK_INT(store_revision(fx.store), twin_rev);
    struct store_stats stats;
    store_stats(fx.store, &stats);
    uint64_t rows = 0;
    for (size_t i = 0; i < KEYS; i++)
        rows += alive(twin_find(str_n(keys[i], n_keys[i]), twin_rev));
    CHECK_INT(stats.rows, rows);
    (void)printf("# %" PRIu64 " revisions, %" PRIu64 " commits, %" PRIu64 " events delivered\n",
                 twin_rev, stats.commits, delivered);
    fx_fini(&fx);
    vec_each (t, &events) {
        free((char *)t->ev.kv.key.p);
        free((char *)t->ev.kv.value.p);
    }
    vec_fini(&events);
}

TEST_MAIN
