/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches of a SQLite store.
 *
 *     replay: behind; reads the log from next_rev, one page per turn, until it has seen s->revision
 *     live:   next_rev is the next commit; gets it from memory, with the writer's report
 *     paused: missed events stay in the log; they are only counted, so that a watcher that never
 *             resumes ends
 *
 *     start -> replay <-> paused
 *              |   ^       ^
 *              v   |       |
 *              live -------+        any -> ended
 *
 * The change from replay to live leaves no gap: both run on the loop thread, and s->revision
 * changes only there, between turns. A slow watcher holds no memory: the events that it misses are
 * in the file.
 */
#include "store/sqlite.h"

#include <assert.h>
#include <errno.h>

enum {
    REPLAY_MAX_ROWS = 512, /* log rows that one watch reads in one turn */
    REPLAY_MAX_BYTES = 1 << 20
};

enum store_watch_state { WATCH_REPLAY, WATCH_LIVE, WATCH_PAUSED, WATCH_ENDED };

struct store_watcher {
    struct store_watch base;
    struct list node;
    enum store_watch_state state;
    char *prefix;
    size_t n_prefix;
    const struct store_watch_ops *ops;
    void *arg;
    uint64_t next_rev;
    size_t missed_bytes; /* while paused */
};

static struct store_watcher *watch_of(const struct store_watch *w)
{
    return container_of(w, struct store_watcher, base);
}

static struct sqlite_store *owner(const struct store_watcher *w)
{
    return sqlite_store_of(w->base.store);
}

static bool wants(const struct store_watcher *w, const struct store_event *ev)
{
    return str_has_prefix(ev->kv.key, str_n(w->prefix, w->n_prefix));
}

static void watch_free(struct store_watcher *w)
{
    assert(!list_is_linked(&w->node));
    free(w->prefix);
    free(w);
}

/* The watch is no longer one of the store's. */
static void leave(struct store_watcher *w)
{
    assert(list_is_linked(&w->node) && owner(w)->stats.watchers > 0);
    list_remove(&w->node);
    owner(w)->stats.watchers--;
}

/* The last call to the owner, which may call cancel from it. */
static void end(struct store_watcher *w, int r, const struct err *err)
{
    leave(w);
    w->state = WATCH_ENDED;
    w->ops->on_end(w->arg, r, err);
    watch_free(w);
}

/*
 * Visit every watch once. The visitor may end or cancel any watch and start others: a mark in the
 * list, after the watch being visited, keeps the position.
 */
static void visit_all(struct sqlite_store *s, void (*visit)(struct store_watcher *w, void *arg),
                      void *arg)
{
    struct list *mark = &s->watch_mark;
    list_push_front(&s->watches, mark); /* asserts that visits do not nest */
    while (mark->next != &s->watches) {
        struct list *node = mark->next;
        list_remove(mark);
        list_push_front(node, mark); /* directly after it */
        visit(list_entry(node, struct store_watcher, node), arg);
    }
    list_remove(mark);
}

/* ------------------------------------------------------------------ from memory */

struct store_watch_delivery {
    const struct store_event *ev;
    size_t n;
    uint64_t last_rev;
    VEC(struct store_event) wanted;
};

static size_t event_bytes(const struct store_event *ev)
{
    return sizeof *ev + ev->kv.key.n + ev->kv.value.n + ev->prev.value.n;
}

/* The error with which a replay of the same event from the log would end. */
static void end_lost(struct store_watcher *w, const struct store_event *ev)
{
    struct err err = { 0 };
    (void)err_set(&err, E_DIGEST, "'" STR_FMT "' was deleted at revision %llu without being read",
                  STR_ARG(ev->kv.key), (unsigned long long)ev->kv.mod_rev);
    end(w, E_DIGEST, &err);
}

static void deliver(struct store_watcher *w, struct store_watch_delivery *d)
{
    d->wanted.n = 0;
    assert(w->state == WATCH_LIVE && d->n > 0);
    for (size_t i = 0; i < d->n; i++) {
        if (!wants(w, &d->ev[i]))
            continue;
        assert(d->ev[i].kv.mod_rev <= d->last_rev);
        if (d->ev[i].lost_prev) {
            end_lost(w, &d->ev[i]);
            return;
        }
        vec_push(&d->wanted, d->ev[i]);
    }
    w->next_rev = d->last_rev + 1;
    if (d->wanted.n)
        w->ops->on_events(w->arg, d->wanted.p, d->wanted.n, d->last_rev); /* w may be freed */
}

static void count_missed(struct store_watcher *w, const struct store_watch_delivery *d)
{
    assert(w->state == WATCH_PAUSED);
    for (size_t i = 0; i < d->n; i++)
        if (wants(w, &d->ev[i]))
            w->missed_bytes += event_bytes(&d->ev[i]);
    if (w->missed_bytes <= STORE_WATCH_QUEUE_MAX_BYTES)
        return;
    struct err err = { 0 };
    (void)err_set(&err, -EMSGSIZE, "watcher too slow: more than %d bytes wait for it",
                  STORE_WATCH_QUEUE_MAX_BYTES);
    end(w, -EMSGSIZE, &err);
}

static void visit_commit(struct store_watcher *w, void *arg)
{
    struct store_watch_delivery *d = arg;
    if (w->next_rev > d->last_rev) /* started just now by the callback of another watch */
        return;
    switch (w->state) {
    case WATCH_LIVE:
        deliver(w, d);
        break;
    case WATCH_PAUSED:
        count_missed(w, d);
        break;
    case WATCH_REPLAY: /* will read it from the log */
    case WATCH_ENDED:
        break;
    }
}

void sqlite_watch_deliver_all(struct sqlite_store *s, const struct store_event *ev, size_t n,
                              uint64_t last_rev)
{
    struct store_watch_delivery d = { .ev = ev, .n = n, .last_rev = last_rev };
    assert(n > 0 && s->revision == last_rev && ev[n - 1].kv.mod_rev == last_rev);
    visit_all(s, visit_commit, &d);
    vec_fini(&d.wanted);
}

/* ------------------------------------------------------------------ from the log */

struct store_watch_page {
    struct arena mem;
    VEC(struct store_event) events;
    size_t rows, bytes;
    uint64_t progress; /* the page has everything up to this revision */
};

static int add_prev(struct sqlite_store *s, struct store_watch_page *page, int64_t prev_id,
                    struct store_event *ev, struct err *err)
{
    struct db_row prev;
    int r = prev_id ? db_row(&s->reader, prev_id, true, &prev, err) : 0;
    if (r > 0 && prev.version) {
        ev->has_prev = true;
        ev->prev = (struct store_kv){ .key = ev->kv.key,
                                      .value = prev.value,
                                      .create_rev = prev.create_rev,
                                      .mod_rev = db_rev(prev.id),
                                      .version = prev.version };
        if (!db_keep(&page->mem, &ev->prev.value))
            r = err_sys(err, -ENOMEM, "replay");
    }
    db_done(&s->reader, DB_ROW_BY_ID);
    return r < 0 ? r : 0;
}

static int add_event(struct sqlite_store *s, struct store_watch_page *page,
                     const struct db_row *row, struct err *err)
{
    struct store_event ev = { .kind = row->version ? STORE_EV_PUT : STORE_EV_DELETE,
                              .kv = { .key = row->key,
                                      .value = row->value,
                                      .create_rev = row->create_rev,
                                      .mod_rev = db_rev(row->id),
                                      .version = row->version } };
    if (!db_keep(&page->mem, &ev.kv.key) || !db_keep(&page->mem, &ev.kv.value))
        return err_sys(err, -ENOMEM, "replay");
    int r = add_prev(s, page, row->prev, &ev, err);
    if (r < 0)
        return r;
    page->bytes += event_bytes(&ev);
    vec_push(&page->events, ev);
    return 0;
}

/* Read whole transactions from w->next_rev on. */
static int read_page(struct store_watcher *w, struct store_watch_page *page, struct err *err)
{
    struct sqlite_store *s = owner(w);
    struct db_scan scan;
    struct db_row row;
    page->progress = s->revision;
    uint64_t last_rev = 0;
    assert(w->state == WATCH_REPLAY && w->next_rev <= s->revision);
    int r =
        db_scan_log(&scan, &s->reader, db_id(w->next_rev, 0), db_id(s->revision + 1, 0), true, err);
    while (r >= 0 && (r = db_scan_next(&scan, &row, err)) > 0) {
        bool full = page->rows >= REPLAY_MAX_ROWS || page->bytes >= REPLAY_MAX_BYTES;
        if (full && db_rev(row.id) != last_rev) {
            page->progress = last_rev;
            break;
        }
        assert(db_rev(row.id) >= MAX(last_rev, w->next_rev)); /* in order */
        last_rev = db_rev(row.id);
        page->rows++;
        if (str_has_prefix(row.key, str_n(w->prefix, w->n_prefix)))
            r = add_event(s, page, &row, err);
    }
    db_scan_end(&scan);
    return r < 0 ? r : 0;
}

static void on_watches_due(struct defer *d);

static void replay(struct store_watcher *w)
{
    struct sqlite_store *s = owner(w);
    struct store_watch_page page = { .progress = 0 };
    struct err err = { 0 };
    int r = read_page(w, &page, &err);
    if (r < 0) {
        end(w, r, &err);
    } else {
        assert(page.progress + 1 >= w->next_rev && page.progress <= s->revision);
        w->next_rev = page.progress + 1;
        if (page.progress == s->revision)
            w->state = WATCH_LIVE;
        else
            defer_start(s->loop, &s->watches_due, on_watches_due);
        if (page.events.n)
            w->ops->on_events(w->arg, page.events.p, page.events.n, page.progress);
    }
    vec_fini(&page.events);
    arena_fini(&page.mem);
}

static void visit_due(struct store_watcher *w, void *arg)
{
    struct sqlite_store *s = owner(w);
    if (w->next_rev < s->compacted) {
        struct err err = { 0 };
        (void)err_set(&err, E_EXPIRED, "revision %llu is gone, the oldest is %llu",
                      (unsigned long long)w->next_rev, (unsigned long long)s->compacted);
        end(w, E_EXPIRED, &err);
        return;
    }
    if (w->state == WATCH_REPLAY)
        replay(w);
}

static void on_watches_due(struct defer *d)
{
    visit_all(container_of(d, struct sqlite_store, watches_due), visit_due, NULL);
}

void sqlite_watch_expire_soon(struct sqlite_store *s)
{
    if (!list_is_empty(&s->watches))
        defer_start(s->loop, &s->watches_due, on_watches_due);
}

/* ------------------------------------------------------------------ interface */

static void go_on(struct store_watcher *w)
{
    struct sqlite_store *s = owner(w);
    assert(w->state != WATCH_ENDED && w->next_rev <= s->revision + 1);
    w->state = w->next_rev > s->revision ? WATCH_LIVE : WATCH_REPLAY;
    if (w->state == WATCH_REPLAY)
        defer_start(s->loop, &s->watches_due, on_watches_due);
}

int sqlite_watch_start(struct store *base, struct str prefix, uint64_t from_rev,
                       const struct store_watch_ops *ops, void *arg, struct store_watch **ret,
                       struct err *err)
{
    struct sqlite_store *s = sqlite_store_of(base);
    if (s->closing)
        return err_set(err, -ECANCELED, "the store is closing");
    if (from_rev == 0)
        from_rev = s->revision + 1;
    if (from_rev < s->compacted)
        return err_set(err, E_EXPIRED, "revision %llu is gone, the oldest is %llu",
                       (unsigned long long)from_rev, (unsigned long long)s->compacted);
    if (from_rev > s->revision + 1)
        return err_set(err, E_FUTURE, "revision %llu is in the future, the newest is %llu",
                       (unsigned long long)from_rev, (unsigned long long)s->revision);
    struct store_watcher *w = xnew(struct store_watcher);
    w->base.store = base;
    w->prefix = str_dup(prefix);
    w->n_prefix = prefix.n;
    w->ops = ops;
    w->arg = arg;
    w->next_rev = from_rev;
    list_push_back(&s->watches, &w->node);
    s->stats.watchers++;
    go_on(w);
    *ret = &w->base;
    return 0;
}

void sqlite_watch_pause(struct store_watch *base)
{
    struct store_watcher *w = watch_of(base);
    if (w->state == WATCH_REPLAY || w->state == WATCH_LIVE)
        w->state = WATCH_PAUSED;
}

void sqlite_watch_resume(struct store_watch *base)
{
    struct store_watcher *w = watch_of(base);
    if (w->state != WATCH_PAUSED)
        return;
    w->missed_bytes = 0;
    go_on(w);
}

void sqlite_watch_cancel(struct store_watch *base)
{
    struct store_watcher *w = watch_of(base);
    if (w->state == WATCH_ENDED) /* called from its own on_end */
        return;
    leave(w);
    watch_free(w);
}

uint64_t sqlite_watch_progress(const struct store_watch *base)
{
    const struct store_watcher *w = watch_of(base);
    return w->next_rev - 1;
}

struct ending {
    int r;
    struct err err;
};

static void visit_ending(struct store_watcher *w, void *arg)
{
    const struct ending *e = arg;
    end(w, e->r, &e->err);
}

void sqlite_watch_end_all(struct sqlite_store *s, int r, const char *why)
{
    struct ending e = { .r = r };
    assert(r < 0);
    (void)err_set(&e.err, r, "%s", why);
    visit_all(s, visit_ending, &e);
    assert(list_is_empty(&s->watches) && s->stats.watchers == 0);
    defer_cancel(&s->watches_due);
}
