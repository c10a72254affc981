/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQLite back end, loop side: opening and closing, passing transactions to the writer, handling its
 * reports, scheduling compaction and idle work. See sqlite.h, writer.h, db.h; reads are in read.c.
 */
#include "store/sqlite.h"

#include "base/log.h"
#include "base/sys.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

enum {
    HISTORY_MS = 300000,
    HISTORY_REVISIONS = 10000,
    READER_CACHE_KIB = 512,
    WRITER_CACHE_KIB = 1024,
    TXN_OVERHEAD_BYTES = 4096 + sizeof(struct txn), /* a block of its arena */
    UPKEEP_LOG_MS = 60000,
    IDLE_MS = 2000 /* after this long without activity: checkpoint, release memory */
};

/* ------------------------------------------------------------------ idle */

static void on_idle(struct timer *t)
{
    struct sqlite_store *s = container_of(t, struct sqlite_store, idle_timer);
    uint64_t quiet_ms = loop_now_ms(s->loop) - s->active_ms;
    if (quiet_ms < s->idle_ms) {
        timer_start(s->loop, t, s->idle_ms - quiet_ms, on_idle);
        return;
    }
    db_trim(&s->reader);
    hot_reset(&s->hot);
    if (s->untidy)
        writer_tidy(&s->writer);
    s->untidy = false;
    /* A burst fragments the heap: with 1,000 operators started and asleep, 6 of 10 MiB are free. */
    (void)malloc_trim(0);
}

void sqlite_note_activity(struct sqlite_store *s)
{
    s->active_ms = loop_now_ms(s->loop);
    if (!timer_is_armed(&s->idle_timer) && !s->closing)
        timer_start(s->loop, &s->idle_timer, s->idle_ms, on_idle);
}

/* ------------------------------------------------------------------ transactions */

int sqlite_refuse_closing(const struct sqlite_store *s, struct err *err)
{
    return s->closing ? err_set(err, -ECANCELED, "the store is closing") : 0;
}

static int sqlite_txn(struct store *base, const struct store_op *ops, size_t n, size_t n_bytes,
                      store_txn_cb cb, void *arg, struct err *err)
{
    struct sqlite_store *s = sqlite_store_of(base);
    int r = sqlite_refuse_closing(s, err);
    if (r < 0)
        return r;
    size_t bytes = n_bytes + n * sizeof *ops + TXN_OVERHEAD_BYTES;
    if (s->pending_bytes && s->pending_bytes + bytes > STORE_PENDING_MAX_BYTES)
        return err_set(err, -EBUSY, "more than %d bytes wait to be written",
                       STORE_PENDING_MAX_BYTES);
    struct txn *t = writer_txn_new(ops, n, bytes);
    if (!t)
        return err_sys(err, -ENOMEM, "queue a transaction");
    t->cb = cb;
    t->arg = arg;
    s->pending_bytes += bytes;
    loop_hold(s->loop);
    writer_submit(&s->writer, t);
    return 0;
}

/* ------------------------------------------------------------------ compaction */

struct compaction {
    struct list node;
    uint64_t rev;
    store_compact_cb cb;
    void *arg;
};

/* Revisions below rev disappear for readers at once, and from the file step by step. */
static void compact_to(struct sqlite_store *s, uint64_t rev)
{
    assert(rev <= s->revision);
    if (rev > s->compacted) {
        s->compacted = rev;
        sqlite_watch_expire_soon(s);
    }
    writer_compact(&s->writer, rev);
}

static void finish_compactions(struct sqlite_store *s, const struct writer_report *rep)
{
    struct list batch;
    list_move_all(&s->compactions, &batch);
    struct list *node;
    while ((node = list_pop_front(&batch))) {
        struct compaction *c = list_entry(node, struct compaction, node);
        bool done = rep->swept >= c->rev;
        if (!done && !rep->compaction_failed && !rep->last) {
            list_push_back(&s->compactions, node);
            continue;
        }
        int r = done ? 0 : rep->compaction_failed ? rep->upkeep_r : -ECANCELED;
        loop_release(s->loop);
        c->cb(c->arg, r, &rep->upkeep_err);
        free(c);
    }
}

static int sqlite_compact(struct store *base, uint64_t rev, store_compact_cb cb, void *arg,
                          struct err *err)
{
    struct sqlite_store *s = sqlite_store_of(base);
    int r = sqlite_refuse_closing(s, err);
    if (r < 0)
        return r;
    if (rev > s->revision)
        return err_set(err, -EINVAL, "compact to revision %llu, the newest is %llu",
                       (unsigned long long)rev, (unsigned long long)s->revision);
    struct compaction *c = xnew(struct compaction);
    *c = (struct compaction){ .rev = rev, .cb = cb, .arg = arg };
    list_push_back(&s->compactions, &c->node);
    loop_hold(s->loop);
    compact_to(s, rev);
    return 0;
}

static void add_sample(struct sqlite_store *s)
{
    if (s->n_samples == SQLITE_STORE_SAMPLES) {
        memmove(s->samples, s->samples + 1, (SQLITE_STORE_SAMPLES - 1) * sizeof *s->samples);
        s->n_samples--;
    }
    assert(s->n_samples < SQLITE_STORE_SAMPLES);
    assert(!s->n_samples || s->samples[s->n_samples - 1].rev <= s->revision);
    s->samples[s->n_samples++] = (struct sqlite_sample){ loop_now_ms(s->loop), s->revision };
}

/* The newest revision known to be older than the window, and the time of the next one. */
static uint64_t old_revision(const struct sqlite_store *s, uint64_t *ret_next_ms)
{
    uint64_t rev = 0, now = loop_now_ms(s->loop);
    *ret_next_ms = now + s->history_ms;
    for (size_t i = 0; i < s->n_samples; i++) {
        if (s->samples[i].ms + s->history_ms > now) {
            *ret_next_ms = s->samples[i].ms + s->history_ms;
            break;
        }
        rev = s->samples[i].rev;
    }
    return rev;
}

/* A deletion frees no space before its history is gone, so a full disk keeps no history. */
static uint64_t kept_revisions(const struct sqlite_store *s)
{
    return s->is_full ? 0 : s->history_revisions;
}

/*
 * Compact what both windows allow; the timer waits only for revisions that the count already allows
 * to compact.
 */
static void on_compact_due(struct timer *t)
{
    struct sqlite_store *s = container_of(t, struct sqlite_store, compact_timer);
    if (s->n_samples == 0 || s->samples[s->n_samples - 1].rev < s->revision)
        add_sample(s);
    if (s->revision <= kept_revisions(s))
        return;
    uint64_t next_ms, countable = s->revision - kept_revisions(s);
    uint64_t rev = s->is_full ? countable : MIN(old_revision(s, &next_ms), countable);
    if (rev > s->compacted)
        compact_to(s, rev);
    if (!s->is_full && countable > s->compacted) {
        uint64_t now = loop_now_ms(s->loop);
        timer_start(s->loop, t, next_ms > now ? next_ms - now : 1, on_compact_due);
    }
}

static void note_history(struct sqlite_store *s)
{
    uint64_t step_ms = MAX(s->history_ms * 2 / SQLITE_STORE_SAMPLES, UINT64_C(1));
    if (s->n_samples == 0 || loop_now_ms(s->loop) - s->samples[s->n_samples - 1].ms >= step_ms)
        add_sample(s);
    if (!s->closing && !timer_is_armed(&s->compact_timer) &&
        s->revision > s->compacted + kept_revisions(s))
        on_compact_due(&s->compact_timer);
}

/* ------------------------------------------------------------------ reports of the writer */

static void finish_close(struct sqlite_store *s);

/* Rate limited: on a full disk upkeep fails repeatedly. */
static void log_upkeep(struct sqlite_store *s, const struct err *err)
{
    uint64_t skipped;
    if (log_rate_ok(&s->upkeep_log, UPKEEP_LOG_MS, &skipped))
        log_warn("store upkeep failed, going on", "error=\"%s\" skipped=%llu", err_text(err),
                 (unsigned long long)skipped);
}

static void note_report(struct sqlite_store *s, const struct writer_report *rep)
{
    s->stats.commits += rep->commits;
    s->stats.fsyncs += rep->fsyncs;
    s->stats.conflicts += rep->conflicts;
    s->stats.rows += (uint64_t)rep->rows_added;
    if (rep->upkeep_r < 0)
        log_upkeep(s, &rep->upkeep_err);
}

static void answer_txns(struct sqlite_store *s, struct writer_report *rep)
{
    struct list *node;
    while ((node = list_pop_front(&rep->txns))) {
        struct txn *t = list_entry(node, struct txn, node);
        assert(s->pending_bytes >= t->bytes && t->res.rev <= s->revision);
        s->pending_bytes -= t->bytes;
        s->stats.txns++;
        loop_release(s->loop);
        t->cb(t->arg, &t->res, &t->err);
        writer_txn_free(t);
    }
}

static void note_full(struct sqlite_store *s, bool is_full)
{
    if (s->is_full == is_full)
        return;
    s->is_full = is_full;
    if (is_full)
        log_warn("the store's disk is full: until there is space only deletions and changes that "
                 "make nothing larger are written, and no history is kept",
                 "path=%s", s->reader.path);
    else
        log_info("the store has space again", "path=%s", s->reader.path);
    if (is_full && !s->closing)
        on_compact_due(&s->compact_timer);
}

/* Watchers first: a client that reads a reply can rely on every watcher having been notified. */
static void on_report(void *arg, struct writer_report *rep)
{
    struct sqlite_store *s = arg;
    assert(rep->writer == &s->writer);
    note_report(s, rep);
    note_full(s, rep->is_full);
    if (rep->events.n) {
        for (size_t i = 0; i < rep->events.n; i++)
            hot_forget(&s->hot, rep->events.p[i].kv.key);
        assert(rep->first_rev == s->revision + 1 && rep->last_rev >= rep->first_rev);
        s->revision = rep->last_rev;
        s->untidy = true;
        note_history(s);
        sqlite_note_activity(s);
        sqlite_watch_deliver_all(s, rep->events.p, rep->events.n, rep->last_rev);
    }
    answer_txns(s, rep);
    finish_compactions(s, rep);
    bool last = rep->last;
    writer_report_free(rep);
    if (last)
        finish_close(s);
}

/* ------------------------------------------------------------------ opening and closing */

static void sqlite_store_free(struct sqlite_store *s)
{
    if (!s)
        return;
    hot_reset(&s->hot);
    db_close(&s->reader);
    db_close(&s->writer.db);
    mark_fini(&s->writer.mark);
    reserve_fini(&s->writer.reserve);
    fd_scoped(&s->lock_fd);
    free(s);
}
DEFINE_SCOPED(sqlite_store, sqlite_store_free)

static void finish_close(struct sqlite_store *s)
{
    assert(s->closing && s->pending_bytes == 0 && list_is_empty(&s->compactions));
    assert(list_is_empty(&s->watches) && list_is_empty(&s->singles) && list_is_empty(&s->ranges));
    assert(!timer_is_armed(&s->idle_timer) && !timer_is_armed(&s->compact_timer));
    void (*closed)(void *arg) = s->closed;
    void *arg = s->closed_arg;
    struct loop *loop = s->loop;
    writer_fini(&s->writer);
    sqlite_store_free(s);
    loop_release(loop);
    closed(arg);
}

static void on_close_due(struct defer *d)
{
    struct sqlite_store *s = container_of(d, struct sqlite_store, close_due);
    sqlite_watch_end_all(s, -ECANCELED, "the store is closing");
    if (!list_is_empty(&s->singles) ||
        !list_is_empty(&s->ranges)) { /* answered before the reader is closed */
        defer_start(s->loop, d, on_close_due);
        return;
    }
    writer_stop(&s->writer);
}

static void sqlite_close(struct store *base, void (*done)(void *arg), void *arg)
{
    struct sqlite_store *s = sqlite_store_of(base);
    assert(!s->closing);
    s->closing = true;
    s->closed = done;
    s->closed_arg = arg;
    timer_stop(s->loop, &s->idle_timer);
    timer_stop(s->loop, &s->compact_timer);
    loop_hold(s->loop);
    defer_start(s->loop, &s->close_due, on_close_due);
}

int sqlite_lock(const char *path, int *ret_fd, struct err *err)
{
    scoped(free_scoped) char *name = xasprintf("%s.lock", path);
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, name, O_RDWR | O_CREAT, 0600);
    if (fd < 0)
        return err_sys(err, fd, "open '%s'", name);
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno == EWOULDBLOCK)
            return err_set(err, -EWOULDBLOCK, "store '%s' is in use by another process", path);
        return err_sys(err, -errno, "lock '%s'", name);
    }
    *ret_fd = take_fd(&fd);
    return 0;
}

static bool was_closed_cleanly(const char *path)
{
    scoped(free_scoped) char *wal = xasprintf("%s-wal", path);
    struct stat st;
    return stat(wal, &st) < 0 || st.st_size == 0;
}

static int open_connections(struct sqlite_store *s, const char *path, bool clean, struct err *err)
{
    int r = db_open(&s->writer.db, path, WRITER_CACHE_KIB, err);
    if (r >= 0)
        r = db_check(&s->writer.db, clean, err);
    if (r >= 0)
        r = db_upgrade(&s->writer.db, err);
    if (r >= 0)
        r = db_check_writable(&s->writer.db, err);
    if (r >= 0)
        r = db_open(&s->reader, path, READER_CACHE_KIB, err);
    return r;
}

static int open_files(struct sqlite_store *s, const char *path, struct err *err)
{
    int r = sqlite_lock(path, &s->lock_fd, err);
    if (r >= 0)
        r = db_create(path, err);
    if (r >= 0)
        r = db_check_file(path, err);
    if (r < 0)
        return r;
    bool clean = was_closed_cleanly(path);
    reserve_init(&s->writer.reserve, path);
    r = open_connections(s, path, clean, err);
    /* Opening makes SQLite create files; on a full disk only the reserve has room for them. */
    if ((r == -ENOSPC || r == -EDQUOT || r == -EIO) && reserve_release(&s->writer.reserve)) {
        db_close(&s->reader);
        db_close(&s->writer.db);
        r = open_connections(s, path, clean, err);
    }
    return r;
}

/*
 * Revisions never go back. If the file is older than its mark, or may be because the machine
 * stopped while it was open, the store continues above every revision that may have been allocated.
 * Revisions that clients remember are expired, so they list again.
 */
static int resume_above_mark(struct sqlite_store *s, struct err *ret_err)
{
    struct err err = { 0 };
    struct mark_known known;
    struct writer *w = &s->writer;
    const char *path = w->db.path;
    int r = mark_init(&w->mark, path, &known, &err);
    if (r < 0 && r != E_CORRUPT) /* the mark may prevent a reuse of revisions */
        return err_set(ret_err, r, "the mark of the store's revisions: %s", err_text(&err));
    if (r < 0)
        log_warn("the mark of the store's revisions cannot be read, ignoring",
                 "path=%s error=\"%s\"", path, err_text(&err));
    bool behind = known.seen > s->revision;
    if (!behind && known.exact)
        return 0;
    uint64_t before = s->revision;
    s->revision = MAX(MAX(known.reserved, known.seen), before) + 2;
    s->compacted = s->revision;
    r = db_raise_floor(&w->db, s->revision, &err);
    if (r >= 0)
        r = mark_reserve(&w->mark, s->revision + 1, &err);
    if (r < 0)
        log_warn("the store's revision is not on disk yet, going on", "path=%s error=\"%s\"", path,
                 err_text(&err));
    if (behind)
        log_warn("the store has lost acknowledged changes",
                 "path=%s lost_revisions=%llu newest=%llu had=%llu resumes_at=%llu", path,
                 (unsigned long long)(known.seen - before), (unsigned long long)before,
                 (unsigned long long)known.seen, (unsigned long long)s->revision);
    else
        log_info("the machine stopped under the store, revisions go on above what was reserved",
                 "path=%s newest=%llu resumes_at=%llu", path, (unsigned long long)before,
                 (unsigned long long)s->revision);
    return 0;
}

static int start(struct sqlite_store *s, struct err *err)
{
    int64_t compacted = 0, swept = 0;
    int r = db_newest(&s->writer.db, &s->revision, err);
    if (r >= 0)
        r = db_get_meta(&s->writer.db, "compacted", &compacted, err);
    if (r >= 0)
        r = db_get_meta(&s->writer.db, "swept", &swept, err);
    if (r >= 0)
        r = db_count(&s->reader, STR(""), STR(""), INT64_MAX, &s->stats.rows, err);
    if (r < 0)
        return r;
    s->compacted = (uint64_t)compacted;
    assert(s->compacted <= s->revision); /* checked when the file was opened */
    r = resume_above_mark(s, err);
    if (r < 0)
        return r;
    db_trim(&s->writer.db); /* the checks have cached pages that may never be read */
    db_trim(&s->reader);
    s->writer.on_report = on_report;
    s->writer.arg = s;
    return writer_start(&s->writer, s->loop, s->revision, s->compacted, swept, err);
}

static uint64_t sqlite_revision(const struct store *s)
{
    return sqlite_store_of(s)->revision;
}

static uint64_t sqlite_compacted(const struct store *s)
{
    return sqlite_store_of(s)->compacted;
}

static uint64_t file_bytes(const char *path, const char *suffix)
{
    scoped(free_scoped) char *name = xasprintf("%s%s", path, suffix);
    struct stat st;
    return stat(name, &st) < 0 ? 0 : (uint64_t)st.st_size;
}

static void sqlite_stats(const struct store *base, struct store_stats *ret)
{
    struct sqlite_store *s = sqlite_store_of(base);
    *ret = s->stats;
    ret->bytes_reusable = db_free_bytes(&s->reader);
    ret->bytes_on_disk = file_bytes(s->reader.path, "") + file_bytes(s->reader.path, "-wal");
}

static const struct store_backend sqlite_backend = {
    .close = sqlite_close,
    .revision = sqlite_revision,
    .compacted = sqlite_compacted,
    .get = sqlite_get,
    .range = sqlite_range,
    .txn = sqlite_txn,
    .watch_start = sqlite_watch_start,
    .watch_pause = sqlite_watch_pause,
    .watch_resume = sqlite_watch_resume,
    .watch_cancel = sqlite_watch_cancel,
    .watch_progress = sqlite_watch_progress,
    .compact = sqlite_compact,
    .stats = sqlite_stats,
};

int sqlite_store_open(struct loop *loop, const struct store_opts *opts, struct store **ret,
                      struct err *err)
{
    scoped(sqlite_store_free_scoped) struct sqlite_store *s = xnew(struct sqlite_store);
    s->base.backend = &sqlite_backend;
    s->loop = loop;
    s->lock_fd = -1;
    s->history_ms = opts->history_ms ? opts->history_ms : HISTORY_MS;
    s->history_revisions = opts->history_revisions ? opts->history_revisions : HISTORY_REVISIONS;
    s->idle_ms = opts->idle_ms ? opts->idle_ms : IDLE_MS;
    list_init(&s->singles);
    list_init(&s->ranges);
    list_init(&s->watches);
    list_init(&s->compactions);
    int r = open_files(s, opts->path, err);
    if (r < 0)
        return r;
    r = start(s, err);
    if (r < 0)
        return r;
    /* All checks passed: closing may merge the log into the file and remove it. */
    db_trust(&s->reader);
    note_history(s);
    *ret = &take_ptr(&s)->base;
    return 0;
}
