/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asynchronous calls; see async.h. This file: the database, what is read of it into lanes, when the
 * next call runs, when results go, notes, figures. submit.c puts calls on disk, run.c runs them,
 * take.c and serve.c speak with clients.
 */
#include "fn/async/async_int.h"

#include "base/log.h"
#include "base/sys.h"
#include "base/vec.h"
#include "codec/digest.h"
#include "io/tls.h"

#include <errno.h>
#include <unistd.h>

enum {
    HISTORY_MS = 1000, /* nobody reads the past of calls */
    HISTORY_REVISIONS = 1,
    SWEEP_MIN_MS = 1000, /* results that expire close together go together */
    SWEEP_PAGE = 64,
    SWEEP_OPS = 100,
    RETRY_MS = 1000, /* after the store has failed */
    LOOK_MS = 60000  /* while calls wait: a wall clock that was put forward is noticed so late */
};

/* ------------------------------------------------------------------ time */

static uint64_t boot_ms(void)
{
    struct timespec ts;
    (void)clock_gettime(CLOCK_BOOTTIME, &ts);
    return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000 + clock_skipped_ms();
}

static uint64_t wall_ms(void)
{
    int64_t ms = clock_wall_ms();
    return ms > 0 ? (uint64_t)ms : 0;
}

uint64_t async_wall_ms(const struct async *a)
{
    return MAX(wall_ms(), a->begin_wall_ms + (boot_ms() - a->begin_boot_ms));
}

/* ------------------------------------------------------------------ life */

static int open_store(struct async *a, struct err *err)
{
    struct store_opts opts = { .path = a->path,
                               .history_ms = HISTORY_MS,
                               .history_revisions = HISTORY_REVISIONS };
    int r = store_open(a->loop, &opts, &a->store, err);
    return r < 0 ? err_ctx(err, r, "asynchronous calls") : 0;
}

int async_db(struct async *a, struct err *err)
{
    if (a->closing)
        return err_set(err, -ECANCELED, "closing");
    return a->store ? 0 : open_store(a, err);
}

int async_open(const struct async_opts *opts, struct async **ret, struct err *err)
{
    struct async *a = xnew(struct async);
    *a = (struct async){
        .loop = opts->loop,
        .path = xstrdup(opts->path),
        .owner = async_owner(str_of(opts->name)),
        .allow_private_urls = opts->allow_private_urls,
        .is_mine = opts->is_mine,
        .is_mine_arg = opts->arg,
        .running_max = opts->running_max ? opts->running_max : ASYNC_RUNNING_MAX,
        .pending_max = opts->pending_max ? opts->pending_max : ASYNC_PENDING_MAX,
        .function_pending_max =
            opts->function_pending_max ? opts->function_pending_max : ASYNC_FUNCTION_PENDING_MAX,
        .begin_wall_ms = wall_ms(),
        .begin_boot_ms = boot_ms(),
        .wall_expires_ms = UINT64_MAX,
        .rng = { sys_random_u64() },
    };
    lanes_init(&a->lanes,
               opts->function_running_max ? opts->function_running_max : ASYNC_FUNCTION_RUNNING_MAX,
               ASYNC_WINDOWS_MAX);
    if (access(opts->path, F_OK) == 0) {
        int r = open_store(a, err);
        if (r < 0) {
            lanes_fini(&a->lanes);
            free(a->path);
            free(a);
            return r;
        }
    }
    *ret = a;
    return 0;
}

struct gateway_async async_hooks(struct async *a)
{
    return (struct gateway_async){ .take = async_take, .serve = async_serve, .arg = a };
}

void async_set_events(struct async *a, const struct async_events *events)
{
    a->events = events ? *events : (struct async_events){ .arg = NULL };
}

static void on_store_closed(void *arg)
{
    struct async *a = arg;
    void (*done)(void *) = a->on_closed;
    void *done_arg = a->closed_arg;
    lanes_fini(&a->lanes);
    map_fini(&a->runs);
    tls_ctx_free(a->tls);
    free(a->path);
    free(a);
    done(done_arg);
}

static void on_nothing_to_close(struct defer *d)
{
    on_store_closed(container_of(d, struct async, pump));
}

void async_check_closed(struct async *a)
{
    if (!a->closing || a->runs.n > 0)
        return;
    if (a->store)
        store_close(a->store, on_store_closed, a);
    else
        defer_start(a->loop, &a->pump, on_nothing_to_close);
}

void async_close(struct async *a, void (*done)(void *arg), void *arg)
{
    assert(!a->closing);
    a->closing = true;
    a->on_closed = done;
    a->closed_arg = arg;
    timer_stop(a->loop, &a->due_timer);
    timer_stop(a->loop, &a->sweep_timer);
    defer_cancel(&a->pump);
    VEC(struct run *) runs = { 0 };
    map_each (e, &a->runs)
        vec_push(&runs, (struct run *)e->value);
    vec_each (run, &runs)
        run_cut(*run);
    bool is_last = runs.n == 0;
    vec_fini(&runs);
    if (is_last)
        async_check_closed(a);
}

/* ------------------------------------------------------------------ pages of a lane */

struct page_read {
    struct async *a;
    char lane[ASYNC_LANE_MAX];
};

static bool is_running(void *arg, const struct async_id *id)
{
    struct async *a = arg;
    char text[ASYNC_ID_TEXT];
    async_id_text(id, text);
    return map_has(&a->runs, str_of(text));
}

static size_t take_page(struct async *a, struct lane *l, const struct store_kv *kv, size_t n,
                        bool more)
{
    struct due *dues = xnew_n(struct due, n ? n : 1);
    size_t n_dues = 0;
    for (size_t i = 0; i < n; i++) {
        struct str lane;
        struct due *d = &dues[n_dues];
        if (async_key_due_parse(kv[i].key, &lane, &d->wall_ms, &d->id))
            n_dues++;
        else
            log_error("row of a call does not read back, ignoring", "key=" STR_FMT,
                      STR_ARG(kv[i].key));
    }
    size_t n_new = lane_page(&a->lanes, l, dues, n_dues, more, is_running, a);
    free(dues);
    return n_new;
}

static void try_pages_later(struct async *a)
{
    a->pages_failed = true;
    async_pump(a);
}

static void on_page(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct page_read *pr = arg;
    struct async *a = pr->a;
    struct lane *l = map_get(&a->lanes.by_key, str_of(pr->lane));
    free(pr);
    assert(l); /* one that reads stays */
    if (r < 0) {
        lane_page_failed(l);
        if (r != -ECANCELED) {
            log_error("calls cannot be read, trying again", "err=\"%s\"", err_text(err));
            try_pages_later(a);
        }
        return;
    }
    (void)take_page(a, l, page->kv, page->n, page->more);
    async_pump(a);
}

static void read_page(struct async *a, struct lane *l)
{
    struct page_read *pr = xnew(struct page_read);
    struct async_key prefix, after = { .n = 0 };
    pr->a = a;
    assert(l->key.n < sizeof pr->lane);
    memcpy(pr->lane, l->key.p, l->key.n);
    prefix.n = (size_t)snprintf(prefix.p, sizeof prefix.p, "d/" STR_FMT "/", STR_ARG(l->key));
    if (l->has_edge)
        async_key_due(&after, l->key, l->edge.wall_ms, &l->edge.id);
    struct store_range range = { .prefix = async_key_str(&prefix),
                                 .after = async_key_str(&after),
                                 .limit = ASYNC_WINDOW,
                                 .keys_only = true };
    if (store_range(a->store, &range, on_page, pr, NULL) < 0) {
        free(pr);
        try_pages_later(a);
        return;
    }
    lane_reading(l);
}

/* ------------------------------------------------------------------ after a start */

/*
 * The rows at d/, lane by lane: of a lane with many the first page is read and the others are
 * jumped over, so that what it costs is the number of lanes and not that of calls.
 */
struct scan {
    struct async *a;
    struct buf after;
};
static void scan_next(struct scan *s);
static void sweep(struct async *a);

static void on_counted(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct page_read *pr = arg;
    struct lane *l = map_get(&pr->a->lanes.by_key, str_of(pr->lane));
    if (r >= 0 && l)
        lane_count(&pr->a->lanes, l, page->n + page->left);
    free(pr);
}

/* How many lie behind the window; known a little later. */
static void count_rest(struct async *a, struct lane *l)
{
    struct page_read *pr = xnew(struct page_read);
    struct async_key prefix, after;
    pr->a = a;
    memcpy(pr->lane, l->key.p, l->key.n);
    prefix.n = (size_t)snprintf(prefix.p, sizeof prefix.p, "d/" STR_FMT "/", STR_ARG(l->key));
    async_key_due(&after, l->key, l->edge.wall_ms, &l->edge.id);
    struct store_range range = { .prefix = async_key_str(&prefix),
                                 .after = async_key_str(&after),
                                 .limit = 1,
                                 .keys_only = true,
                                 .count_left = true };
    if (store_range(a->store, &range, on_counted, pr, NULL) < 0)
        free(pr);
}

static bool is_ours(const struct async *a, struct str lane)
{
    uint8_t b[4];
    if (lane.n < 9 || !hex_parse(str_n(lane.p, 8), b, sizeof b))
        return false;
    uint32_t owner = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    return owner == a->owner || !a->is_mine || a->is_mine(a->is_mine_arg, owner);
}

static void scan_end(struct scan *s)
{
    struct async *a = s->a;
    buf_fini(&s->after);
    free(s);
    a->scanning = false;
    if (a->rescan && !a->closing)
        async_rescan(a);
    sweep(a);
    async_pump(a);
}

static void on_scan(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct scan *s = arg;
    struct async *a = s->a;
    if (r < 0) {
        if (r != -ECANCELED) {
            log_error("calls cannot be read, trying again", "err=\"%s\"", err_text(err));
            a->rescan = true; /* by the timer of failed pages */
            a->pages_failed = true;
        }
        buf_fini(&s->after);
        free(s);
        a->scanning = false;
        async_pump(a);
        return;
    }
    bool jumped = false;
    for (size_t i = 0; i < page->n;) {
        struct str lane = { 0 }, other;
        struct due d;
        size_t end = i + 1;
        bool is_row = async_key_due_parse(page->kv[i].key, &lane, &d.wall_ms, &d.id);
        while (is_row && end < page->n &&
               async_key_due_parse(page->kv[end].key, &other, &d.wall_ms, &d.id) &&
               str_eq(lane, other))
            end++;
        bool more = end == page->n && page->more;
        if (is_row && is_ours(a, lane) && !map_has(&a->lanes.by_key, lane)) {
            struct lane *l = lanes_get(&a->lanes, lane);
            lane_reading(l);
            lane_count(&a->lanes, l, take_page(a, l, page->kv + i, end - i, more));
            if (l->more)
                count_rest(a, l);
        }
        if (is_row && more) { /* behind all rows "d/LANE/": '0' follows '/' */
            buf_reset(&s->after);
            (void)buf_printf(&s->after, "d/" STR_FMT "0", STR_ARG(lane));
            jumped = true;
        }
        i = end;
    }
    if (!page->more) {
        scan_end(s);
        return;
    }
    if (!jumped) {
        buf_reset(&s->after);
        (void)buf_add_str(&s->after, page->kv[page->n - 1].key);
    }
    async_pump(a);
    scan_next(s);
}

static void scan_next(struct scan *s)
{
    struct store_range range = {
        .prefix = STR("d/"), .after = buf_str(&s->after), .limit = ASYNC_WINDOW, .keys_only = true
    };
    if (s->a->closing || store_range(s->a->store, &range, on_scan, s, NULL) < 0) {
        buf_fini(&s->after);
        s->a->scanning = false;
        free(s);
    }
}

void async_rescan(struct async *a)
{
    if (!a->started || a->closing || !a->store)
        return;
    a->rescan = a->scanning;
    if (a->scanning)
        return;
    a->scanning = true;
    struct scan *s = xnew(struct scan);
    s->a = a;
    buf_init(&s->after, STORE_KEY_MAX_BYTES);
    scan_next(s);
}

void async_start(struct async *a, struct async_functions functions)
{
    assert(!a->started);
    a->functions = functions;
    a->started = true;
    async_rescan(a);
}

void async_drain(struct async *a)
{
    a->draining = true;
}

/* ------------------------------------------------------------------ what runs when */

static void on_due(struct timer *t)
{
    struct async *a = container_of(t, struct async, due_timer);
    if (a->pages_failed) {
        a->pages_failed = false;
        if (a->rescan)
            async_rescan(a);
        VEC(struct lane *) wanting = { 0 };
        map_each (e, &a->lanes.by_key)
            if (lane_wants_page(&a->lanes, e->value))
                vec_push(&wanting, (struct lane *)e->value);
        vec_each (l, &wanting)
            read_page(a, *l);
        vec_fini(&wanting);
    }
    async_pump(a);
}

static void on_pump(struct defer *d)
{
    struct async *a = container_of(d, struct async, pump);
    if (!a->started || a->draining || a->closing)
        return;
    uint64_t now = async_wall_ms(a);
    while (a->lanes.running < a->running_max && a->running_bytes < ASYNC_RUNNING_MAX_BYTES) {
        struct due due;
        struct lane *l = lanes_next(&a->lanes, now, &due);
        if (!l)
            break;
        if (lane_wants_page(&a->lanes, l))
            read_page(a, l);
        run_start(a, l, &due);
    }
    uint64_t next = lanes_next_ms(&a->lanes);
    bool is_full = next <= now; /* then whatever ends looks again */
    uint64_t after =
        next == UINT64_MAX || is_full ? UINT64_MAX : MIN(next - now, (uint64_t)LOOK_MS);
    if (a->pages_failed)
        after = MIN(after, (uint64_t)RETRY_MS);
    if (after == UINT64_MAX)
        timer_stop(a->loop, &a->due_timer);
    else
        timer_start(a->loop, &a->due_timer, after, on_due);
}

void async_pump(struct async *a)
{
    if (!a->closing)
        defer_start(a->loop, &a->pump, on_pump);
}

void async_added(struct async *a, struct str lane, const struct due *d)
{
    lane_add(&a->lanes, lanes_get(&a->lanes, lane), d);
    async_pump(a);
}

/* ------------------------------------------------------------------ results go */

static void on_sweep_due(struct timer *t)
{
    sweep(container_of(t, struct async, sweep_timer));
}

static void sweep_later(struct async *a, uint64_t wall_ms)
{
    uint64_t now = async_wall_ms(a);
    a->wall_expires_ms = wall_ms;
    if (wall_ms == UINT64_MAX || a->closing)
        timer_stop(a->loop, &a->sweep_timer);
    else
        timer_start(a->loop, &a->sweep_timer,
                    MAX(wall_ms > now ? wall_ms - now : 0, (uint64_t)SWEEP_MIN_MS), on_sweep_due);
}

void async_finished(struct async *a, uint64_t wall_expires_ms)
{
    if (!a->sweeping && wall_expires_ms < a->wall_expires_ms)
        sweep_later(a, wall_expires_ms);
    else if (a->sweeping)
        a->wall_expires_ms = MIN(a->wall_expires_ms, wall_expires_ms);
}

struct sweeping {
    struct async *a;
    size_t n;
};

static void on_swept(void *arg, const struct store_txn_result *res, const struct err *err)
{
    struct sweeping *s = arg;
    struct async *a = s->a;
    a->sweeping = false;
    if (res->r >= 0)
        a->stats.results_deleted += s->n;
    else
        log_error("results cannot be deleted, trying again", "err=\"%s\"", err_text(err));
    free(s);
    if (res->r >= 0)
        sweep(a);
    else
        sweep_later(a, async_wall_ms(a) + RETRY_MS);
}

static void add_leftover(struct batch *b, const struct store_kv *kv, const struct async_id *id)
{
    struct async_leftover left;
    struct async_key k;
    if (async_leftover_read(kv->value, &left, NULL) < 0)
        left = (struct async_leftover){ .n_pieces = 0 };
    async_key_call(&k, id);
    batch_delete(b, &k);
    batch_delete_pieces(b, 'a', id, left.n_pieces);
    if (left.by_key.n && left.by_key.n < sizeof k.p) {
        memcpy(k.p, left.by_key.p, left.by_key.n);
        k.n = left.by_key.n;
        batch_delete(b, &k);
    }
}

static void on_expired(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct async *a = arg;
    a->sweeping = false;
    if (r < 0) {
        sweep_later(a, async_wall_ms(a) + RETRY_MS);
        return;
    }
    uint64_t now = async_wall_ms(a), next = UINT64_MAX;
    struct batch b = { .n = 0 };
    size_t n = 0;
    for (size_t i = 0; i < page->n && b.n < SWEEP_OPS; i++) {
        uint64_t at = 0;
        struct async_id id;
        bool is_row = async_key_expires_parse(page->kv[i].key, &at, &id);
        if (is_row && at > now) {
            next = at;
            break;
        }
        if (is_row)
            add_leftover(&b, &page->kv[i], &id);
        struct async_key k = { .n = MIN(page->kv[i].key.n, sizeof k.p) };
        memcpy(k.p, page->kv[i].key.p, k.n);
        batch_delete(&b, &k);
        n++;
    }
    struct sweeping *s = xnew(struct sweeping);
    *s = (struct sweeping){ a, n };
    if (n == 0) {
        free(s);
        sweep_later(a, MIN(next, a->wall_expires_ms));
    } else if (store_txn(a->store, b.ops, b.n, on_swept, s, NULL) < 0) {
        free(s);
        sweep_later(a, now + RETRY_MS);
    } else {
        a->sweeping = true;
    }
    batch_fini(&b);
}

static void sweep(struct async *a)
{
    if (a->sweeping || a->closing || !a->store)
        return;
    struct store_range range = { .prefix = STR("x/"), .limit = SWEEP_PAGE };
    a->wall_expires_ms = UINT64_MAX; /* those that finish meanwhile make it smaller again */
    if (store_range(a->store, &range, on_expired, a, NULL) < 0)
        sweep_later(a, async_wall_ms(a) + RETRY_MS);
    else
        a->sweeping = true;
}

/* ------------------------------------------------------------------ notes */

struct note {
    struct async *a;
    async_note_cb cb;
    void *arg;
    struct defer absent;
};

static void on_note(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                    const struct err *err)
{
    struct note *n = arg;
    n->cb(n->arg, r, kv ? kv->value : STR_NULL, err);
    free(n);
}

static void on_note_put(void *arg, const struct store_txn_result *res, const struct err *err)
{
    struct note *n = arg;
    if (n->cb)
        n->cb(n->arg, res->r, STR_NULL, err);
    free(n);
}

static void on_note_absent(struct defer *d)
{
    struct note *n = container_of(d, struct note, absent);
    if (n->cb)
        n->cb(n->arg, n->a->closing ? -ECANCELED : 0, STR_NULL, NULL);
    free(n);
}

static struct note *note_new(struct async *a, async_note_cb cb, void *arg)
{
    struct note *n = xnew(struct note);
    *n = (struct note){ .a = a, .cb = cb, .arg = arg };
    return n;
}

int async_note_get(struct async *a, struct str note, async_note_cb cb, void *arg, struct err *err)
{
    struct async_key k;
    int r = async_key_note(&k, note, err);
    if (r >= 0 && a->closing)
        r = err_set(err, -ECANCELED, "closing");
    if (r < 0)
        return r;
    struct note *n = note_new(a, cb, arg);
    if (!a->store) {
        defer_start(a->loop, &n->absent, on_note_absent);
        return 0;
    }
    r = store_get(a->store, async_key_str(&k), 0, on_note, n, err);
    if (r < 0)
        free(n);
    return r;
}

int async_note_put(struct async *a, struct str note, struct str value, async_note_cb cb, void *arg,
                   struct err *err)
{
    struct async_key k;
    int r = async_key_note(&k, note, err);
    if (r < 0)
        return r;
    struct note *n = note_new(a, cb, arg);
    if (!a->store && !value.p && !a->closing) { /* nothing to remove */
        defer_start(a->loop, &n->absent, on_note_absent);
        return 0;
    }
    r = async_db(a, err);
    struct batch b = { .n = 0 };
    if (value.p)
        batch_put(&b, &k, value);
    else
        batch_delete(&b, &k);
    if (r >= 0)
        r = store_txn(a->store, b.ops, b.n, on_note_put, n, err);
    batch_fini(&b);
    if (r < 0)
        free(n);
    return r;
}

/* ------------------------------------------------------------------ figures */

void async_get_stats(const struct async *a, struct async_stats *ret)
{
    *ret = a->stats;
    ret->pending = a->lanes.pending;
    ret->running = a->lanes.running;
    ret->lanes = a->lanes.by_key.n;
    ret->window_entries = a->lanes.entries;
    uint64_t now = async_wall_ms(a), oldest = now;
    map_each (e, &a->lanes.by_key) {
        const struct lane *l = e->value;
        if (l->n > 0)
            oldest = MIN(oldest, l->window[l->first].wall_ms);
    }
    ret->lag_ms = now - oldest;
}

void async_metrics(const struct async *a, struct buf *to)
{
    struct async_stats s;
    async_get_stats(a, &s);
    static const char total[] = "dormouse_function_async_calls_total";
    (void)buf_printf(to,
                     "# HELP %s Asynchronous calls that were acknowledged, and how they ended.\n"
                     "# TYPE %s counter\n",
                     total, total);
    const struct {
        const char *state;
        uint64_t n;
    } states[] = { { "accepted", s.accepted }, { "repeated", s.repeated },
                   { "refused", s.refused },   { "succeeded", s.succeeded },
                   { "failed", s.failed },     { "expired", s.expired },
                   { "canceled", s.canceled } };
    for (size_t i = 0; i < ARRAY_LEN(states); i++)
        (void)buf_printf(to, "%s{state=\"%s\"} %llu\n", total, states[i].state,
                         (unsigned long long)states[i].n);
    const struct {
        const char *name, *type, *help;
        double v;
    } rest[] = {
        { "retries_total", "counter", "Attempts that were followed by another.",
          (double)s.retries },
        { "dead_letters_total", "counter", "Dead letters that were made.", (double)s.dead_letters },
        { "callbacks_total", "counter", "Callbacks that were made.", (double)s.callbacks },
        { "results_deleted_total", "counter", "Results whose time was over.",
          (double)s.results_deleted },
        { "pending", "gauge", "Calls that wait or run.", (double)s.pending },
        { "running", "gauge", "Calls that run.", (double)s.running },
        { "lag_seconds", "gauge", "How long the call that is most overdue has been due.",
          (double)s.lag_ms / 1000 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rest); i++)
        (void)buf_printf(to,
                         "# HELP dormouse_function_async_%s %s\n"
                         "# TYPE dormouse_function_async_%s %s\n"
                         "dormouse_function_async_%s %g\n",
                         rest[i].name, rest[i].help, rest[i].name, rest[i].type, rest[i].name,
                         rest[i].v);
}
