/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asynchronous calls; see async.h. This file: start and end, which call runs next, notes, figures.
 * submit.c puts calls on disk, pages.c reads which calls there are, run.c runs them, sweep.c
 * deletes results, take.c and serve.c handle requests of clients.
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
    HISTORY_MS = 1000, /* no reader needs old revisions of calls */
    HISTORY_REVISIONS = 1,
    RETRY_MS = 1000, /* after a page could not be read */
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

/* ------------------------------------------------------------------ open and close */

static const struct sm_state async_table[] = {
    [ASYNC_OPEN] = { "open", EDGE(ASYNC_RUNNING) | EDGE(ASYNC_DRAINING) | EDGE(ASYNC_CLOSING) },
    [ASYNC_RUNNING] = { "running", EDGE(ASYNC_DRAINING) | EDGE(ASYNC_CLOSING) },
    [ASYNC_DRAINING] = { "draining", EDGE(ASYNC_CLOSING) },
    [ASYNC_CLOSING] = { "closing", 0 },
};

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
    if (async_is_closing(a))
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
        .peer_tls = opts->peer_tls,
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
    sm_init(&a->sm, async_table, ASYNC_OPEN);
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
    if (!async_is_closing(a) || a->runs.n > 0)
        return;
    if (a->store)
        store_close(a->store, on_store_closed, a);
    else
        defer_start(a->loop, &a->pump, on_nothing_to_close);
}

void async_close(struct async *a, void (*done)(void *arg), void *arg)
{
    sm_move(&a->sm, ASYNC_CLOSING);
    a->on_closed = done;
    a->closed_arg = arg;
    timer_stop(a->loop, &a->due_timer);
    timer_stop(a->loop, &a->sweep_timer);
    defer_cancel(&a->pump);
    VEC(struct async_run *) runs = { 0 };
    map_each (e, &a->runs)
        vec_push(&runs, (struct async_run *)e->value);
    vec_each (run, &runs)
        run_cut(*run);
    bool is_last = runs.n == 0;
    vec_fini(&runs);
    if (is_last)
        async_check_closed(a);
}

/* ------------------------------------------------------------------ scheduling */

void async_start(struct async *a, struct async_functions functions)
{
    assert(functions.ops && !a->functions.ops);
    if (a->sm.at == ASYNC_OPEN)
        sm_move(&a->sm, ASYNC_RUNNING);
    a->functions = functions;
    async_rescan(a);
}

void async_drain(struct async *a)
{
    if (a->sm.at < ASYNC_DRAINING)
        sm_move(&a->sm, ASYNC_DRAINING);
}

static void on_due(struct timer *t)
{
    struct async *a = container_of(t, struct async, due_timer);
    if (a->pages_failed)
        pages_retry(a);
    async_pump(a);
}

static void on_pump(struct defer *d)
{
    struct async *a = container_of(d, struct async, pump);
    if (a->sm.at != ASYNC_RUNNING)
        return;
    uint64_t now = async_wall_ms(a);
    while (a->lanes.running < a->running_max && a->running_bytes < ASYNC_RUNNING_MAX_BYTES) {
        struct due due;
        struct lane *l = lanes_next(&a->lanes, now, &due);
        if (!l)
            break;
        if (lane_wants_page(&a->lanes, l))
            pages_read(a, l);
        run_start(a, l, &due);
    }
    uint64_t next = lanes_next_ms(&a->lanes);
    bool is_full = next <= now; /* then the end of a call checks again */
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
    if (!async_is_closing(a))
        defer_start(a->loop, &a->pump, on_pump);
}

void async_added(struct async *a, struct str lane, const struct due *d)
{
    lane_add(&a->lanes, lanes_get(&a->lanes, lane), d);
    async_pump(a);
}

/* ------------------------------------------------------------------ notes */

struct async_note {
    struct async *a;
    async_note_cb cb;
    void *arg;
    struct defer absent;
};

static void on_note(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                    const struct err *err)
{
    struct async_note *n = arg;
    n->cb(n->arg, r, kv ? kv->value : STR_NULL, err);
    free(n);
}

static void on_note_put(void *arg, const struct store_txn_result *res, const struct err *err)
{
    struct async_note *n = arg;
    if (n->cb)
        n->cb(n->arg, res->r, STR_NULL, err);
    free(n);
}

static void on_note_absent(struct defer *d)
{
    struct async_note *n = container_of(d, struct async_note, absent);
    if (n->cb)
        n->cb(n->arg, async_is_closing(n->a) ? -ECANCELED : 0, STR_NULL, NULL);
    free(n);
}

static struct async_note *note_new(struct async *a, async_note_cb cb, void *arg)
{
    struct async_note *n = xnew(struct async_note);
    *n = (struct async_note){ .a = a, .cb = cb, .arg = arg };
    return n;
}

int async_note_get(struct async *a, struct str note, async_note_cb cb, void *arg, struct err *err)
{
    struct async_key k;
    int r = async_key_note(&k, note, err);
    if (r >= 0 && async_is_closing(a))
        r = err_set(err, -ECANCELED, "closing");
    if (r < 0)
        return r;
    struct async_note *n = note_new(a, cb, arg);
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
    struct async_note *n = note_new(a, cb, arg);
    if (!a->store && !value.p && !async_is_closing(a)) { /* nothing to remove */
        defer_start(a->loop, &n->absent, on_note_absent);
        return 0;
    }
    r = async_db(a, err);
    struct async_batch b = { .n = 0 };
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
