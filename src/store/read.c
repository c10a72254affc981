/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads of a SQLite store: one key, or a page of keys, at a revision. They are queued until the
 * next turn of the loop and then run synchronously on the reader connection.
 */
#include "store/sqlite.h"

#include "base/clock.h"
#include "base/log.h"

#include <assert.h>
#include <errno.h>

enum {
    READ_TURN_MAX_NS = 2000000, /* time for reads in one turn of the loop */
    DAMAGE_LOG_MS = 60000
};

struct read {
    struct list node;
    enum { READ_GET, READ_RANGE } kind;
    char *key, *after, *index; /* key or prefix */
    struct store_range range;  /* its strings point to those above */
    union {
        store_get_cb get;
        store_range_cb range;
    } cb;
    void *arg;
};

static void read_free(struct read *rd)
{
    assert(!list_is_linked(&rd->node));
    free(rd->key);
    free(rd->after);
    free(rd->index);
    free(rd);
}

static int copy_row(struct arena *mem, const struct db_row *row, struct store_kv *ret,
                    struct err *err)
{
    *ret = (struct store_kv){ .key = row->key,
                              .value = row->value,
                              .create_rev = row->create_rev,
                              .mod_rev = db_rev(row->id),
                              .version = row->version };
    if (!db_keep(mem, &ret->key) || !db_keep(mem, &ret->value))
        return err_sys(err, -ENOMEM, "read '" STR_FMT "'", STR_ARG(row->key));
    return 0;
}

/* The revision of the read, and the first id after it. */
static int read_point(const struct sqlite_store *s, uint64_t at_rev, uint64_t *ret_rev,
                      int64_t *ret_limit, struct err *err)
{
    if (s->closing)
        return err_set(err, -ECANCELED, "the store is closing");
    if (at_rev > s->revision)
        return err_set(err, E_FUTURE, "revision %llu is in the future, the newest is %llu",
                       (unsigned long long)at_rev, (unsigned long long)s->revision);
    if (at_rev && at_rev < s->compacted)
        return err_set(err, E_EXPIRED, "revision %llu is gone, the oldest is %llu",
                       (unsigned long long)at_rev, (unsigned long long)s->compacted);
    *ret_rev = at_rev ? at_rev : s->revision;
    assert(*ret_rev >= s->compacted && *ret_rev <= s->revision);
    *ret_limit = db_id(*ret_rev + 1, 0);
    return 0;
}

/* 1 with *ret set; 0: absent. */
static int find_at(struct sqlite_store *s, struct str key, int64_t limit, struct arena *mem,
                   struct store_kv *ret, struct err *err)
{
    struct db_row row;
    int r = db_find(&s->reader, key, true, &row, err);
    if (r > 0 && row.id >= limit)
        r = db_row_before(&s->reader, row.id, limit, true, &row, err);
    if (r > 0 && row.version == 0)
        r = 0;
    if (r > 0) {
        r = copy_row(mem, &row, ret, err);
        r = r < 0 ? r : 1;
    }
    db_done(&s->reader, DB_FIND);
    db_done(&s->reader, DB_ROW_BY_ID);
    db_done(&s->reader, DB_KEY_BY_ID);
    return r;
}

static void run_get(struct sqlite_store *s, struct read *rd)
{
    struct err err = { 0 };
    struct arena mem = { 0 };
    struct store_kv kv;
    uint64_t rev = 0;
    int64_t limit;
    int r = read_point(s, rd->range.at_rev, &rev, &limit, &err);
    bool is_newest = r >= 0 && rev == s->revision;
    const struct store_kv *hot = is_newest ? hot_find(&s->hot, rd->range.prefix) : NULL;
    if (hot) {
        rd->cb.get(rd->arg, 0, hot, rev, &err);
        return;
    }
    if (r >= 0)
        r = find_at(s, rd->range.prefix, limit, &mem, &kv, &err);
    if (r > 0 && is_newest)
        hot_note(&s->hot, &kv);
    rd->cb.get(rd->arg, r < 0 ? r : 0, r > 0 ? &kv : NULL, rev, &err);
    arena_fini(&mem);
}

struct store_read_page {
    struct arena mem;
    VEC(struct store_kv) rows;
    size_t bytes, left_out;
    bool more;
};

static bool is_full(const struct store_read_page *page, const struct store_range *range,
                    const struct db_row *row)
{
    size_t max_rows = STORE_PAGE_MAX_ROWS;
    if (range->limit && range->limit < max_rows)
        max_rows = range->limit;
    return page->rows.n && (page->rows.n >= max_rows ||
                            page->bytes + row->key.n + row->value.n > STORE_PAGE_MAX_BYTES);
}

static void leave_out(struct sqlite_store *s, const struct db_row *row, struct err *err)
{
    uint64_t skipped;
    struct log_rate *rate = &s->damage_logs[str_hash(row->key, 0) % SQLITE_STORE_DAMAGE_LOGS];
    if (log_rate_ok(rate, DAMAGE_LOG_MS, &skipped))
        log_error("a stored object is damaged and left out",
                  "key=" STR_FMT " revision=%llu skipped=%llu hint=\"'dormouse store check' shows "
                  "all, with --remove deletes them\"",
                  STR_ARG(row->key), (unsigned long long)db_rev(row->id),
                  (unsigned long long)skipped);
    *err = (struct err){ 0 };
}

/* The row as it was before `limit`; version 0: the key was absent. */
static int row_as_of(struct sqlite_store *s, int64_t limit, bool values, struct db_row *row,
                     struct err *err)
{
    if (row->id < limit)
        return 1;
    int r = db_row_before(&s->reader, row->id, limit, values, row, err);
    if (r == 0)
        row->version = 0;
    return r < 0 ? r : 1;
}

/* `key` with its first n bytes replaced by `root`; out has room for a key. */
static struct str rebase(struct str key, size_t n, struct str root, char *out)
{
    struct str rest = str_slice(key, n, key.n);
    assert(root.n <= STORE_KEY_MAX_BYTES);
    size_t fits = MIN(rest.n, (size_t)STORE_KEY_MAX_BYTES - root.n);
    memcpy(out, root.p, root.n);
    memcpy(out + root.n, rest.p, fits);
    return str_n(out, root.n + fits);
}

/* From a row of the index to the row of the indexed key. */
static int follow_index(struct sqlite_store *s, const struct store_range *range, int64_t limit,
                        struct db_row *row, struct err *err)
{
    char key[STORE_KEY_MAX_BYTES];
    struct str root = str_slice(range->prefix, 0, range->index_root);
    int r = db_find(&s->reader, rebase(row->key, range->index.n, root, key), true, row, err);
    if (r > 0)
        return row_as_of(s, limit, true, row, err);
    row->version = 0;
    return r < 0 ? r : 1;
}

/* Bounds of an index scan; SQLite reads them until the scan ends. */
struct index_keys {
    char prefix[STORE_KEY_MAX_BYTES], after[STORE_KEY_MAX_BYTES];
};

static int scan_begin(struct sqlite_store *s, const struct store_range *range, struct db_scan *scan,
                      struct index_keys *keys, struct err *err)
{
    size_t n = range->index_root;
    if (range->index.n == 0)
        return db_scan_keys(scan, &s->reader, range->prefix, range->after, !range->keys_only, err);
    struct str prefix = rebase(range->prefix, n, range->index, keys->prefix);
    struct str after =
        range->after.n ? rebase(range->after, n, range->index, keys->after) : STR("");
    return db_scan_keys(scan, &s->reader, prefix, after, false, err);
}

/* Read the rows of one page, and determine whether another one follows. */
static int fill_page(struct sqlite_store *s, const struct store_range *range, int64_t limit,
                     struct store_read_page *page, struct err *err)
{
    struct db_scan scan;
    struct db_row row;
    struct index_keys keys;
    bool indexed = range->index.n > 0;
    int r = scan_begin(s, range, &scan, &keys, err);
    while (r >= 0 && (r = db_scan_next(&scan, &row, err)) != 0) {
        if (r > 0)
            r = row_as_of(s, limit, !range->keys_only && !indexed, &row, err);
        if (r > 0 && indexed && row.version)
            r = follow_index(s, range, limit, &row, err);
        if (r == E_DIGEST && range->skip_damaged) {
            leave_out(s, &row, err);
            page->left_out++;
            r = 0;
            continue;
        }
        if (r < 0)
            break;
        if (row.version == 0)
            continue;
        page->more = is_full(page, range, &row);
        if (page->more)
            break;
        struct store_kv kv;
        r = copy_row(&page->mem, &row, &kv, err);
        if (r < 0)
            break;
        page->bytes += kv.key.n + kv.value.n;
        vec_push(&page->rows, kv);
    }
    db_scan_end(&scan);
    db_done(&s->reader, DB_FIND);
    db_done(&s->reader, DB_ROW_BY_ID);
    db_done(&s->reader, DB_KEY_BY_ID);
    return r < 0 ? r : 0;
}

static uint64_t memo_hash(struct str prefix, struct str after, uint64_t rev)
{
    return str_hash(after, str_hash(prefix, rev));
}

/*
 * Counting reads every key after the page. A client that pages through a long list counts
 * repeatedly, so the remaining counts at the ends of the last pages are remembered.
 */
static int count_left(struct sqlite_store *s, const struct store_range *range, int64_t limit,
                      const struct store_read_page *page, uint64_t rev, uint64_t *ret,
                      struct err *err)
{
    *ret = 0;
    if (!page->more)
        return 0;
    assert(page->rows.n > 0); /* a page without rows is never full */
    struct str last = page->rows.p[page->rows.n - 1].key;
    uint64_t from = memo_hash(range->prefix, range->after, rev);
    struct left_memo *memo = NULL;
    for (size_t i = 0; i < ARRAY_LEN(s->left_memos); i++)
        if (s->left_memos[i].left && s->left_memos[i].hash == from)
            memo = &s->left_memos[i];
    if (memo && memo->left > page->rows.n) {
        memo->left -= page->rows.n;
    } else {
        uint64_t left;
        int r = db_count(&s->reader, range->prefix, last, limit, &left, err);
        if (r < 0)
            return r;
        memo = &s->left_memos[s->next_left_memo++ % ARRAY_LEN(s->left_memos)];
        memo->left = left;
    }
    memo->hash = memo_hash(range->prefix, last, rev);
    *ret = memo->left;
    return 0;
}

static void run_range(struct sqlite_store *s, struct read *rd)
{
    struct err err = { 0 };
    struct store_read_page page = { .more = false };
    struct store_page out = { .n = 0 };
    int64_t limit;
    int r = read_point(s, rd->range.at_rev, &out.rev, &limit, &err);
    if (r >= 0)
        r = fill_page(s, &rd->range, limit, &page, &err);
    if (r >= 0 && rd->range.count_left)
        r = count_left(s, &rd->range, limit, &page, out.rev, &out.left, &err);
    out.kv = page.rows.p;
    out.n = page.rows.n;
    out.more = page.more;
    out.left_out = page.left_out;
    rd->cb.range(rd->arg, r, r < 0 ? NULL : &out, &err);
    vec_fini(&page.rows);
    arena_fini(&page.mem);
}

/*
 * Run the reads of one queue until the time of the turn is used up, at least one. Reads that are
 * queued meanwhile wait for the next turn.
 */
static void run_queue(struct sqlite_store *s, struct list *queue, uint64_t start)
{
    struct list batch, *node;
    list_move_all(queue, &batch);
    do {
        node = list_pop_front(&batch);
        if (!node)
            break;
        struct read *rd = list_entry(node, struct read, node);
        if (rd->kind == READ_GET)
            run_get(s, rd);
        else
            run_range(s, rd);
        read_free(rd);
    } while (clock_mono_ns() - start < READ_TURN_MAX_NS);
    while ((node = list_pop_front(queue)))
        list_push_back(&batch, node);
    list_move_all(&batch, queue);
}

/*
 * One key takes microseconds, a page milliseconds: reads of single keys do not queue behind pages.
 */
static void on_reads_due(struct defer *d)
{
    struct sqlite_store *s = container_of(d, struct sqlite_store, reads_due);
    uint64_t start = clock_mono_ns();
    run_queue(s, &s->singles, start);
    run_queue(s, &s->ranges, start);
    if (!list_is_empty(&s->singles) || !list_is_empty(&s->ranges))
        defer_start(s->loop, &s->reads_due, on_reads_due);
    sqlite_note_activity(s);
}

static struct read *read_new(struct sqlite_store *s, struct list *queue, struct str key,
                             struct str after, void *arg)
{
    struct read *rd = xnew(struct read);
    rd->key = str_dup(key);
    rd->after = str_dup(after);
    rd->range.prefix = str_n(rd->key, key.n);
    rd->range.after = str_n(rd->after, after.n);
    rd->arg = arg;
    assert(!s->closing);
    list_push_back(queue, &rd->node);
    defer_start(s->loop, &s->reads_due, on_reads_due);
    return rd;
}

int sqlite_get(struct store *base, struct str key, uint64_t at_rev, store_get_cb cb, void *arg,
               struct err *err)
{
    struct sqlite_store *s = sqlite_store_of(base);
    int r = sqlite_refuse_closing(s, err);
    if (r < 0)
        return r;
    struct read *rd = read_new(s, &s->singles, key, STR(""), arg);
    rd->kind = READ_GET;
    rd->range.at_rev = at_rev;
    rd->cb.get = cb;
    return 0;
}

int sqlite_range(struct store *base, const struct store_range *range, store_range_cb cb, void *arg,
                 struct err *err)
{
    struct sqlite_store *s = sqlite_store_of(base);
    int r = sqlite_refuse_closing(s, err);
    if (r < 0)
        return r;
    struct read *rd = read_new(s, &s->ranges, range->prefix, range->after, arg);
    struct str prefix = rd->range.prefix, after = rd->range.after;
    rd->kind = READ_RANGE;
    rd->range = *range;
    rd->range.prefix = prefix;
    rd->range.after = after;
    rd->index = str_dup(range->index);
    rd->range.index = str_n(rd->index, range->index.n);
    rd->cb.range = cb;
    return 0;
}
