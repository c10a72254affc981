/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer thread; see writer.h.
 *
 * Reading order: work() is the thread's loop, run_batch() one commit, apply() one transaction,
 * compact_step() one step of compaction.
 */
#include "store/writer.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>

enum {
    REPLACED_MAX_BYTES = 64 << 20 /* values that one transaction replaces, kept for its events */
};

/* ------------------------------------------------------------------ messages */

struct txn *writer_txn_new(const struct store_op *ops, size_t n, size_t bytes)
{
    assert(n > 0 && n <= STORE_TXN_MAX_OPS);
    struct txn *t = xnew(struct txn);
    t->ops = arena_alloc_n(&t->mem, sizeof *ops, n);
    t->n_ops = n;
    t->bytes = bytes;
    for (size_t i = 0; i < n; i++) {
        t->ops[i] = ops[i];
        if (ops[i].kind != STORE_PUT)
            t->ops[i].value = STR("");
        if (!db_keep(&t->mem, &t->ops[i].key) || !db_keep(&t->mem, &t->ops[i].value)) {
            writer_txn_free(t);
            return NULL;
        }
    }
    t->mem.max_bytes = t->mem.total_bytes + REPLACED_MAX_BYTES;
    return t;
}

void writer_txn_free(struct txn *t)
{
    if (!t)
        return;
    assert(!list_is_linked(&t->node)); /* neither queued nor in a report */
    arena_fini(&t->mem);
    free(t);
}

static void on_post(struct post *post)
{
    struct writer_report *rep = container_of(post, struct writer_report, post);
    assert(rep->first_rev <= rep->last_rev && (rep->last_rev != 0) == (rep->events.n > 0));
    rep->writer->on_report(rep->writer->arg, rep);
}

static struct writer_report *report_new(struct writer *w)
{
    struct writer_report *rep = xnew(struct writer_report);
    rep->writer = w;
    rep->post.run = on_post;
    list_init(&rep->txns);
    return rep;
}

void writer_report_free(struct writer_report *rep)
{
    assert(list_is_empty(&rep->txns));
    vec_fini(&rep->events);
    free(rep);
}

static void send_report(struct writer *w, struct writer_report *rep)
{
    assert(rep->writer == w && !list_is_linked(&rep->post.node));
    assert(w->compacted <= w->revision);
    rep->swept = db_rev(w->swept_id);
    rep->is_full = w->is_full;
    loop_post(w->loop, &rep->post);
}

/* ------------------------------------------------------------------ one transaction */

/* What the store holds under the key of an operation before the transaction. */
struct writer_found {
    int64_t id; /* 0: the key has never existed */
    uint64_t create_rev, version;
    int64_t jump, jump_len;
    struct str value;
    bool is_damaged; /* set for STORE_DELETE_DAMAGED only; then only id is known */
};

static bool is_alive(const struct writer_found *f)
{
    return f->version > 0;
}

static int look_up(struct writer *w, struct txn *t, const struct store_op *op,
                   struct writer_found *ret)
{
    struct db_row row;
    bool changes = op->kind != STORE_CHECK;
    assert(op->key.n > 0 && op->key.n <= STORE_KEY_MAX_BYTES);
    int r = db_find(&w->db, op->key, changes, &row, &t->err);
    *ret = (struct writer_found){ 0 };
    if (r == E_DIGEST && op->kind == STORE_DELETE_DAMAGED) {
        *ret = (struct writer_found){ .id = row.id, .version = 1, .is_damaged = true };
        t->err = (struct err){ 0 };
        r = 1;
    } else if (r > 0) {
        *ret = (struct writer_found){ .id = row.id,
                                      .create_rev = row.create_rev,
                                      .version = row.version,
                                      .jump = row.jump,
                                      .jump_len = row.jump_len,
                                      .value = row.value };
        if (!db_keep(&t->mem, &ret->value))
            r = err_set(&t->err, -EMSGSIZE, "transaction replaces more than %d bytes",
                        REPLACED_MAX_BYTES);
    }
    db_done(&w->db, changes ? DB_FIND : DB_FIND_KEY);
    return r;
}

static bool holds(const struct store_op *op, const struct writer_found *f)
{
    if (op->kind == STORE_DELETE_DAMAGED)
        return f->is_damaged;
    switch (op->cmp) {
    case STORE_ANY:
        return true;
    case STORE_ABSENT:
        return !is_alive(f);
    case STORE_MOD_REV:
        return is_alive(f) && db_rev(f->id) == op->cmp_rev;
    }
    assert(false);
    return false;
}

static void refuse(struct writer *w, struct txn *t, size_t at, const struct writer_found *f)
{
    const struct store_op *op = &t->ops[at];
    assert(at < t->n_ops);
    t->res = (struct store_txn_result){ .r = E_CONFLICT, .rev = w->revision, .failed_op = at };
    if (!is_alive(f))
        (void)err_set(&t->err, E_CONFLICT, "key '" STR_FMT "' does not exist", STR_ARG(op->key));
    else if (op->kind == STORE_DELETE_DAMAGED)
        (void)err_set(&t->err, E_CONFLICT, "key '" STR_FMT "' is not damaged", STR_ARG(op->key));
    else if (op->cmp == STORE_ABSENT)
        (void)err_set(&t->err, E_CONFLICT, "key '" STR_FMT "' exists", STR_ARG(op->key));
    else
        (void)err_set(
            &t->err, E_CONFLICT, "key '" STR_FMT "' was changed at revision %llu, expected %llu",
            STR_ARG(op->key), (unsigned long long)db_rev(f->id), (unsigned long long)op->cmp_rev);
}

/*
 * The jump of a new row on top of `f`: if the next two jumps have equal length they become one,
 * like carrying in skew-binary numbers. A row that was compacted away ends the list.
 */
static int set_jump(struct writer *w, const struct writer_found *f, struct db_row *row,
                    struct err *err)
{
    row->prev = f->id;
    if (!f->id)
        return 0;
    row->jump = f->id;
    row->jump_len = 1;
    if (!f->jump)
        return 0;
    struct db_row below;
    int r = db_row(&w->db, f->jump, false, &below, err);
    if (r == E_DIGEST) /* the list ends at a damaged row */
        r = 0;
    if (r > 0 && below.jump && below.jump_len == f->jump_len) {
        row->jump = below.jump;
        row->jump_len = 1 + 2 * f->jump_len;
    }
    db_done(&w->db, DB_KEY_BY_ID);
    return r;
}

static int write_change(struct writer *w, const struct store_op *op, const struct writer_found *f,
                        int64_t id, struct writer_report *rep, struct err *err)
{
    bool dead = op->kind == STORE_DELETE || op->kind == STORE_DELETE_DAMAGED;
    assert(op->kind != STORE_CHECK && (!dead || is_alive(f)));
    assert(db_rev(id) == w->revision + 1); /* which is taken when all operations are written */
    struct db_row row = { .id = id, .key = op->key, .value = op->value };
    if (!dead) {
        row.create_rev = is_alive(f) ? f->create_rev : db_rev(id);
        row.version = f->version + 1;
    }
    int r = set_jump(w, f, &row, err);
    if (r >= 0)
        r = db_add_row(&w->db, &row, err);
    if (r >= 0)
        r = db_set_key(&w->db, f->id ? DB_SET_KEY : DB_ADD_KEY, op->key, id, dead, err);
    if (r < 0)
        return r;
    struct store_event ev = { .kind = dead ? STORE_EV_DELETE : STORE_EV_PUT,
                              .kv = { .key = op->key,
                                      .value = row.value,
                                      .create_rev = row.create_rev,
                                      .mod_rev = db_rev(id),
                                      .version = row.version },
                              .has_prev = is_alive(f) && !f->is_damaged,
                              .lost_prev = f->is_damaged };
    if (ev.has_prev)
        ev.prev = (struct store_kv){ .key = op->key,
                                     .value = f->value,
                                     .create_rev = f->create_rev,
                                     .mod_rev = db_rev(f->id),
                                     .version = f->version };
    vec_push(&rep->events, ev);
    rep->rows_added += dead ? -1 : ev.has_prev ? 0 : 1;
    return 0;
}

/* Whether the transaction lets the store shrink once compaction has passed. */
static bool shrinks(const struct txn *t, const struct writer_found *found)
{
    for (size_t i = 0; i < t->n_ops; i++)
        if (t->ops[i].kind == STORE_PUT &&
            (!is_alive(&found[i]) ||
             t->ops[i].value.n > found[i].value.n + WRITER_FULL_GROWTH_BYTES))
            return false;
    return true;
}

/* 0 also for a conflict, which is a result; negative if the file does not allow to continue. */
static int apply(struct writer *w, struct txn *t, struct writer_report *rep)
{
    struct writer_found found[STORE_TXN_MAX_OPS];
    assert(t->n_ops <= STORE_TXN_MAX_OPS && !sqlite3_get_autocommit(w->db.sql));
    for (size_t i = 0; i < t->n_ops; i++) {
        int r = look_up(w, t, &t->ops[i], &found[i]);
        /* The error concerns only this transaction, or one key, and nothing has been written
         * yet. */
        if (r == -EMSGSIZE || r == E_DIGEST) {
            t->res = (struct store_txn_result){ .r = r, .rev = w->revision };
            return 0;
        }
        if (r < 0)
            return r;
        if (!holds(&t->ops[i], &found[i])) {
            refuse(w, t, i, &found[i]);
            rep->conflicts++;
            return 0;
        }
    }
    if (w->is_full && !shrinks(t, found)) {
        int r = err_set(&t->err, -ENOSPC, "store '%s': no space left on device", w->db.path);
        t->res = (struct store_txn_result){ .r = r, .rev = w->revision };
        return 0;
    }
    uint64_t rev = w->revision + 1;
    size_t changes = 0;
    for (size_t i = 0; i < t->n_ops; i++) {
        const struct store_op *op = &t->ops[i];
        if (op->kind == STORE_CHECK || (op->kind == STORE_DELETE && !is_alive(&found[i])))
            continue;
        int r = write_change(w, op, &found[i], db_id(rev, changes++), rep, &t->err);
        if (r < 0)
            return r;
    }
    assert(changes <= t->n_ops);
    if (changes)
        w->revision = rev;
    t->res = (struct store_txn_result){ .r = 0, .rev = w->revision };
    return 0;
}

/* ------------------------------------------------------------------ one commit */

/* End the SQLite transaction; SQLite may have ended it already when the disk was full. */
static void roll_back(struct writer *w)
{
    if (!sqlite3_get_autocommit(w->db.sql))
        (void)db_run(&w->db, DB_ROLLBACK, NULL);
}

static void note_damage(struct writer *w, int r, const struct err *err)
{
    if (r == E_CORRUPT && !w->broken) {
        w->broken = r;
        w->broken_err = *err;
    }
}

/* Restore the state before the batch. */
static void undo_batch(struct writer *w, struct writer_report *rep, uint64_t before)
{
    assert(before <= w->revision);
    roll_back(w);
    w->revision = before;
    rep->events.n = 0;
    rep->rows_added = 0;
    rep->conflicts = 0;
}

/* The same error for all transactions, conflicting ones included. */
static void fail_batch(struct writer *w, struct writer_report *rep, int r, const struct err *err)
{
    assert(r < 0 && rep->events.n == 0); /* undo_batch() has run */
    note_damage(w, r, err);
    list_each (node, &rep->txns) {
        struct txn *t = list_entry(node, struct txn, node);
        t->err = *err;
        t->res = (struct store_txn_result){ .r = r, .rev = w->revision };
    }
}

/* One sync for the changes, and one for the header when the log restarts. */
static void note_commit(struct writer *w, struct writer_report *rep)
{
    assert(rep->commits == 0 && sqlite3_get_autocommit(w->db.sql));
    rep->commits = 1;
    rep->fsyncs += w->log_restarted ? 2 : 1;
}

/* On failure writes continue without the mark, which matters only after a second fault. */
static void reserve(struct writer *w, struct writer_report *rep)
{
    int r = mark_reserve(&w->mark, w->revision, &rep->upkeep_err);
    if (r < 0)
        rep->upkeep_r = r;
    else
        rep->fsyncs += (uint64_t)r;
}

static int apply_all(struct writer *w, struct writer_report *rep, struct err *err)
{
    int r = w->broken;
    if (r < 0) {
        *err = w->broken_err;
        return r;
    }
    r = db_run(&w->db, DB_BEGIN, err);
    if (r < 0)
        return r;
    list_each (node, &rep->txns) {
        struct txn *t = list_entry(node, struct txn, node);
        r = apply(w, t, rep);
        if (r < 0) {
            *err = t->err;
            return r;
        }
    }
    if (rep->events.n)
        reserve(w, rep);
    return db_run(&w->db, DB_COMMIT, err);
}

static void checkpoint(struct writer *w);

/* Makes room for the file to grow by the checkpoint's copies, and for the next log. */
static void release_reserve(struct writer *w)
{
    w->is_full = true;
    (void)reserve_release(&w->reserve);
    checkpoint(w);
}

/* Check whether there is space again: on the disk, or in the file after compaction. */
static void regain_reserve(struct writer *w)
{
    int r = reserve_take(&w->reserve);
    w->is_full = (r == -ENOSPC || r == -EDQUOT) && db_free_bytes(&w->db) < w->reserve.bytes;
}

static void run_batch(struct writer *w, struct list *txns)
{
    assert(!list_is_empty(txns));
    struct writer_report *rep = report_new(w);
    list_move_all(txns, &rep->txns);
    uint64_t before = w->revision;
    struct err err = { 0 };
    if (w->is_full)
        regain_reserve(w);
    bool was_full = w->is_full;
    int r = apply_all(w, rep, &err);
    if (r < 0)
        undo_batch(w, rep, before);
    if (r == -ENOSPC && !was_full) {
        release_reserve(w);
        r = apply_all(w, rep, &err);
        if (r < 0)
            undo_batch(w, rep, before);
    }
    if (r < 0) {
        fail_batch(w, rep, r, &err);
    } else if (rep->events.n) {
        assert(w->revision > before);
        rep->first_rev = before + 1;
        rep->last_rev = w->revision;
        mark_note(&w->mark, w->revision);
        note_commit(w, rep);
    }
    send_report(w, rep);
}

/* ------------------------------------------------------------------ compaction */

struct sweep_row {
    int64_t id, prev;
    bool dead;
    char *key; /* set for deletions only */
    size_t n_key;
};
struct writer_sweep {
    struct sweep_row rows[WRITER_COMPACT_ROWS];
    size_t n;
    int64_t next; /* id at which the next sweep starts */
};

static void sweep_fini(struct writer_sweep *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->rows[i].key);
}

/* Collect the next changes whose predecessors revision `compacting_to` no longer needs. */
static int sweep_collect(struct writer *w, struct writer_sweep *s, struct err *err)
{
    struct db_scan scan;
    struct db_row row;
    assert(s->n == 0 && w->compacting_to <= w->revision);
    s->next = db_id(w->compacting_to, 0);
    int r = db_scan_log(&scan, &w->db, w->swept_id, s->next, false, err);
    while (r >= 0 && (r = db_scan_next(&scan, &row, err)) != 0) {
        if (r == E_DIGEST) { /* its pointer is unknown, so its predecessor is kept */
            r = 0;
            continue;
        }
        if (r < 0)
            break;
        if (s->n == WRITER_COMPACT_ROWS) {
            s->next = row.id;
            break;
        }
        assert(row.id >= w->swept_id && row.id < s->next);
        struct sweep_row *at = &s->rows[s->n++];
        *at = (struct sweep_row){ .id = row.id, .prev = row.prev, .dead = row.version == 0 };
        if (at->dead) {
            at->key = str_dup(row.key);
            at->n_key = row.key.n;
        }
    }
    db_scan_end(&scan);
    return r < 0 ? r : 0;
}

/*
 * A change makes its predecessor unreachable. A deletion is itself removed if no change followed;
 * otherwise the sweep of that later change removes it.
 */
static int sweep_row(struct writer *w, const struct sweep_row *row, struct err *err)
{
    assert(row->dead == (row->key != NULL));
    int r = row->prev ? db_run_ids(&w->db, DB_DELETE_ROW, row->prev, err) : 0;
    if (r < 0 || !row->dead)
        return r;
    r = db_delete_key(&w->db, str_n(row->key, row->n_key), row->id, err);
    if (r < 0 || sqlite3_changes(w->db.sql) == 0)
        return r;
    return db_run_ids(&w->db, DB_DELETE_ROW, row->id, err);
}

static int sweep_all(struct writer *w, const struct writer_sweep *s, struct err *err)
{
    int r = db_run(&w->db, DB_BEGIN, err);
    if (r >= 0 && w->compacted < w->compacting_to)
        r = db_set_meta(&w->db, "compacted", (int64_t)w->compacting_to, err);
    for (size_t i = 0; r >= 0 && i < s->n; i++)
        r = sweep_row(w, &s->rows[i], err);
    if (r >= 0)
        r = db_set_meta(&w->db, "swept", s->next, err);
    return r < 0 ? r : db_run(&w->db, DB_COMMIT, err);
}

static void compact_step(struct writer *w)
{
    struct writer_report *rep = report_new(w);
    struct writer_sweep s = { .n = 0 };
    int r = w->broken;
    if (r >= 0)
        r = sweep_collect(w, &s, &rep->upkeep_err);
    if (r >= 0)
        r = sweep_all(w, &s, &rep->upkeep_err);
    if (r < 0) {
        roll_back(w);
        note_damage(w, r, &rep->upkeep_err);
        rep->upkeep_r = r;
        rep->compaction_failed = true;
        w->compacting_to = 0;
    } else {
        assert(w->swept_id <= s.next);
        w->compacted = MAX(w->compacted, w->compacting_to); /* a failure has reset the latter */
        w->swept_id = s.next;
        note_commit(w, rep);
    }
    sweep_fini(&s);
    send_report(w, rep);
}

static bool is_compacting(const struct writer *w)
{
    return w->swept_id < db_id(w->compacting_to, 0);
}

/* ------------------------------------------------------------------ the thread */

/* Runs after each commit. The log restarts at its beginning once all of it has been copied. */
static int on_wal(void *arg, sqlite3 *sql, const char *name, int frames)
{
    struct writer *w = arg;
    assert(frames >= 0 && sql == w->db.sql);
    w->log_restarted = frames < w->log_frames || w->log_frames == 0;
    if (w->log_restarted)
        w->copied_frames = 0;
    w->log_frames = frames;
    return SQLITE_OK;
}

/* A failure is only logged: the write-ahead log keeps everything. */
static void checkpoint(struct writer *w)
{
    if (w->broken)
        return;
    struct writer_report *rep = report_new(w);
    rep->upkeep_r = db_checkpoint(&w->db, &w->copied_frames, &rep->upkeep_err);
    rep->fsyncs = 2; /* the log, then the file */
    send_report(w, rep);
}

struct writer_orders {
    struct list txns;
    bool compact, tidy, stop;
};

static bool has_orders(struct writer *w)
{
    return !list_is_empty(&w->queue) || w->compact || w->tidy || w->stop;
}

/* Wait for orders and take them. */
static void take_orders(struct writer *w, struct writer_orders *o)
{
    list_init(&o->txns);
    size_t n = 0, bytes = 0;
    uv_mutex_lock(&w->lock);
    while (!has_orders(w) && !is_compacting(w))
        uv_cond_wait(&w->wake, &w->lock);
    while (n < WRITER_BATCH_MAX_TXNS && bytes < WRITER_BATCH_MAX_BYTES &&
           !list_is_empty(&w->queue)) {
        struct list *node = list_pop_front(&w->queue);
        list_push_back(&o->txns, node);
        bytes += list_entry(node, struct txn, node)->bytes;
        n++;
    }
    if (w->compact)
        w->compacting_to = MAX(w->compacting_to, w->compact_to);
    o->compact = w->compact;
    o->tidy = w->tidy;
    w->compact = w->tidy = false;
    o->stop = w->stop && list_is_empty(&w->queue);
    assert(n <= WRITER_BATCH_MAX_TXNS && (n > 0) == !list_is_empty(&o->txns));
    uv_mutex_unlock(&w->lock);
}

/* When to copy the log into the file. The growth of the file by then must fit in the reserve. */
static int enough_frames(const struct writer *w, const struct writer_orders *o)
{
    if (o->stop || w->is_full)
        return 1;
    int room = w->reserve.bytes ? (int)(w->reserve.bytes / 2 / DB_PAGE_BYTES) : INT_MAX;
    return MIN(o->tidy ? (int)WRITER_TIDY_FRAMES : (int)WRITER_CHECKPOINT_FRAMES, room);
}

static void work(void *arg)
{
    struct writer *w = arg;
    (void)pthread_setname_np(pthread_self(), "store-writer");
    for (;;) {
        struct writer_orders o;
        take_orders(w, &o);
        if (!list_is_empty(&o.txns))
            run_batch(w, &o.txns);
        if (is_compacting(w) && !o.stop)
            compact_step(w);
        else if (o.compact)
            send_report(w, report_new(w)); /* done already */
        if (w->log_frames - w->copied_frames >= enough_frames(w, &o))
            checkpoint(w);
        if (o.tidy)
            db_trim(&w->db);
        if (o.stop)
            break;
    }
    assert(list_is_empty(&w->queue)); /* after stop nothing is submitted */
    db_close(&w->db);
    reserve_keep_some(&w->reserve);
    struct writer_report *rep = report_new(w);
    rep->upkeep_r = mark_close(&w->mark, w->revision, &rep->upkeep_err);
    mark_fini(&w->mark);
    rep->last = true;
    send_report(w, rep);
}

int writer_start(struct writer *w, struct loop *loop, uint64_t revision, uint64_t compacted,
                 int64_t swept_id, struct err *err)
{
    assert(w->db.sql && w->mark.path && w->on_report && compacted <= revision);
    w->loop = loop;
    w->revision = revision;
    w->compacted = w->compacting_to = compacted;
    w->swept_id = swept_id;
    list_init(&w->queue);
    regain_reserve(w);
    (void)sqlite3_wal_hook(w->db.sql, on_wal, w);
    int r = uv_mutex_init(&w->lock);
    assert(r == 0);
    r = uv_cond_init(&w->wake);
    assert(r == 0);
    /* Signals are for the main thread. */
    sigset_t all, old;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    uv_thread_options_t options = { .flags = UV_THREAD_HAS_STACK_SIZE, .stack_size = 512 << 10 };
    r = uv_thread_create_ex(&w->thread, &options, work, w);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (r < 0) {
        uv_cond_destroy(&w->wake);
        uv_mutex_destroy(&w->lock);
        return err_sys(err, r, "start the store's writer thread");
    }
    return 0;
}

/*
 * Called with the lock held, after an order was added; releases it. The thread takes the lock as
 * soon as it wakes up: a signal before the release made it run into the lock and sleep again, which
 * cost two more waits for each transaction that comes alone.
 */
static void unlock_and_wake(struct writer *w)
{
    uv_mutex_unlock(&w->lock);
    uv_cond_signal(&w->wake);
}

void writer_submit(struct writer *w, struct txn *t)
{
    assert(t->cb && !list_is_linked(&t->node));
    uv_mutex_lock(&w->lock);
    assert(!w->stop);
    list_push_back(&w->queue, &t->node);
    unlock_and_wake(w);
}

void writer_compact(struct writer *w, uint64_t rev)
{
    uv_mutex_lock(&w->lock);
    w->compact_to = MAX(w->compact_to, rev);
    w->compact = true;
    unlock_and_wake(w);
}

void writer_tidy(struct writer *w)
{
    uv_mutex_lock(&w->lock);
    w->tidy = true;
    unlock_and_wake(w);
}

void writer_stop(struct writer *w)
{
    uv_mutex_lock(&w->lock);
    assert(!w->stop);
    w->stop = true;
    unlock_and_wake(w);
}

void writer_fini(struct writer *w)
{
    (void)uv_thread_join(&w->thread);
    assert(w->stop && list_is_empty(&w->queue));
    uv_cond_destroy(&w->wake);
    uv_mutex_destroy(&w->lock);
}
