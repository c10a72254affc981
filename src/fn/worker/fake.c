/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime `fake`; see fake.h. A sandbox is a record. A call sleeps, sends its head, then moves
 * bytes until both bodies are complete.
 */
#include "fn/worker/fake.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/random.h"

#include <errno.h>
#include <string.h>

enum { PIECE = 16 << 10, PIECES_PER_TURN = 16, SPARE_CALLS_MAX = 256, SPARE_BUF_MAX = 16 << 10 };

struct fake {
    struct runtime base;
    struct invoker invoker;
    struct loop *loop;
    struct rng rng;
    uint32_t fail_permille;
    struct map sandboxes;    /* 8 bytes -> struct fake_sandbox */
    struct fake_call *spare; /* calls that have ended, with their memory */
    unsigned n_spare;
    size_t n_owed; /* sandboxes and calls; closed when there are none */
    void (*done)(void *arg);
    void *done_arg;
    struct defer released;
};

struct fake_sandbox {
    struct fake *f;
    uint64_t id, work_ms, started_ns;
    bool is_ready, is_going; /* is_going: on_destroyed() has to be called */
    struct timer timer;      /* until it is ready; then for pending callbacks */
    struct list calls;
};

enum fake_end { END_WELL, END_TRAP, END_RESET, END_REFUSE, END_BUSY, END_DIE };

struct fake_call {
    struct exchange x;
    struct list node;
    struct fake *f;
    struct fake_sandbox *s; /* NULL: it has been removed */
    struct timer timer;     /* sleeps */
    struct defer turn;
    int status;
    enum fake_end end;
    uint64_t n_bytes, chunk_ms; /* of an answer made up */
    bool is_made_up;
    struct buf echo; /* of the request, to be sent back */
    struct buf out;  /* what of it is being sent */
    struct fake_call *next_spare;
    struct headers head;
    char *trailer;
    bool is_past_head, is_body_whole, is_paused, is_full; /* is_full: write() has returned false */
    int failed;                                           /* for on_end, or 0 */
    const char *reason;
};

static struct fake *of(struct runtime *rt)
{
    return container_of(rt, struct fake, base);
}

/* ---------------------------------------------------------------- calls */

static void on_turn(struct defer *d);

static void wake(struct fake_call *c)
{
    if (!timer_is_armed(&c->timer))
        defer_start(c->f->loop, &c->turn, on_turn);
}

static void free_call(struct fake_call *c)
{
    buf_fini(&c->echo);
    buf_fini(&c->out);
    headers_fini(&c->head);
    free(c);
}

static void give_back_call(struct fake *f, struct fake_call *c)
{
    free(c->trailer);
    if (f->n_spare == SPARE_CALLS_MAX || c->echo.cap + c->out.cap > SPARE_BUF_MAX) {
        free_call(c);
        return;
    }
    c->next_spare = f->spare;
    f->spare = c;
    f->n_spare++;
}

static struct fake_call *take_call(struct fake *f)
{
    struct fake_call *c = f->spare;
    if (!c) {
        c = xnew(struct fake_call);
        buf_init(&c->echo, SIZE_MAX / 2);
        buf_init(&c->out, SIZE_MAX / 2);
        return c;
    }
    f->spare = c->next_spare;
    f->n_spare--;
    struct fake_call kept = *c;
    *c = (struct fake_call){ .echo = kept.echo, .out = kept.out, .head = kept.head };
    buf_reset(&c->echo);
    buf_reset(&c->out);
    headers_reset(&c->head);
    return c;
}

static void on_released(struct defer *d)
{
    struct fake *f = container_of(d, struct fake, released);
    void (*done)(void *) = f->done;
    void *arg = f->done_arg;
    while (f->spare) {
        struct fake_call *c = f->spare;
        f->spare = c->next_spare;
        free_call(c);
    }
    map_fini(&f->sandboxes);
    free(f);
    done(arg);
}

static void give_back(struct fake *f)
{
    if (--f->n_owed == 0 && f->done)
        defer_start(f->loop, &f->released, on_released);
}

static void end_call(struct fake_call *c)
{
    struct err err = { 0 };
    struct fake *f = c->f;
    struct fake_sandbox *dies = c->end == END_DIE && c->failed == -ECONNRESET ? c->s : NULL;
    uint64_t id = dies ? dies->id : 0;
    if (c->failed)
        (void)err_set(&err, c->failed, "fake sandbox: %s", c->reason);
    list_remove(&c->node);
    c->x.reason = c->failed ? c->reason : "";
    exchange_report_end(&c->x, c->failed, &err);
    timer_stop(f->loop, &c->timer);
    defer_cancel(&c->turn);
    give_back_call(f, c);
    struct fake_sandbox *s = dies ? map_get(&f->sandboxes, str_n(&id, sizeof id)) : NULL;
    if (s && !s->is_going) {
        map_del(&f->sandboxes, str_n(&id, sizeof id));
        list_each_safe (node, &s->calls) {
            struct fake_call *other = list_entry(node, struct fake_call, node);
            list_remove(node);
            other->s = NULL;
            other->failed = -ECONNRESET;
            other->reason = "SandboxDied";
            timer_stop(f->loop, &other->timer);
            wake(other);
        }
        timer_stop(f->loop, &s->timer);
        free(s);
        f->base.events->on_gone(f->base.events_arg, id, "a request asked it to die");
        give_back(f);
    }
    give_back(f);
}

static void on_timer(struct timer *t)
{
    struct fake_call *c = container_of(t, struct fake_call, timer);
    defer_start(c->f->loop, &c->turn, on_turn);
}

/* Failures that a request can ask for instead of an answer. */
static bool decide_end(struct fake_call *c)
{
    static const struct {
        int code;
        const char *reason;
    } ends[] = { [END_TRAP] = { E_TRAP, "GuestTrapped" },
                 [END_RESET] = { -ECONNRESET, "ConnectionLost" },
                 [END_REFUSE] = { -ECONNREFUSED, "ConnectionRefused" },
                 [END_BUSY] = { -EBUSY, "NoRoom" },
                 [END_DIE] = { -ECONNRESET, "SandboxDied" } };
    if (c->end == END_WELL)
        return false;
    c->failed = ends[c->end].code;
    c->reason = ends[c->end].reason;
    return true;
}

/* Send generated bytes. true: all of them were sent. */
static bool send_made_up(struct fake_call *c)
{
    static char piece[PIECE];
    if (!piece[0])
        memset(piece, 'x', sizeof piece);
    for (int i = 0; i < PIECES_PER_TURN && c->n_bytes && !c->is_paused && !c->failed; i++) {
        size_t n = (size_t)MIN(c->n_bytes, (uint64_t)sizeof piece);
        c->n_bytes -= n;
        exchange_report_data(&c->x, str_n(piece, n));
        if (c->n_bytes && c->chunk_ms) {
            timer_start(c->f->loop, &c->timer, c->chunk_ms, on_timer);
            return false;
        }
    }
    return c->n_bytes == 0;
}

static bool send_echo(struct fake_call *c)
{
    if (c->echo.n && !c->is_paused) {
        struct buf next = c->out; /* for chunks that are added during the call */
        c->out = c->echo;
        c->echo = next;
        exchange_report_data(&c->x, buf_str(&c->out));
        buf_reset(&c->out);
    }
    return c->is_body_whole && c->echo.n == 0;
}

static void send_trailer(struct fake_call *c)
{
    struct headers h = { 0 };
    if (!c->trailer)
        return;
    if (headers_addc(&h, "x-fake-trailer", c->trailer) == 0)
        exchange_report_trailers(&c->x, &h);
    headers_fini(&h);
}

static void on_turn(struct defer *d)
{
    struct fake_call *c = container_of(d, struct fake_call, turn);
    if (c->failed || (!c->is_past_head && decide_end(c))) {
        end_call(c);
        return;
    }
    if (!c->is_past_head) {
        c->is_past_head = true;
        exchange_report_head(&c->x, c->status, &c->head);
    }
    bool whole = c->failed || c->is_paused ? false : c->is_made_up ? send_made_up(c) : send_echo(c);
    if (!c->failed && c->is_full && c->echo.n < FAKE_BODY_HIGH) {
        c->is_full = false;
        exchange_report_writable(&c->x);
    }
    if (!c->failed && whole && !c->is_paused) {
        send_trailer(c);
        end_call(c);
    } else if (c->failed || (c->is_made_up && c->n_bytes && !c->is_paused))
        wake(c);
}

static uint64_t number_field(const struct headers *h, const char *name, uint64_t max,
                             uint64_t otherwise)
{
    uint64_t n;
    struct str text = h ? headers_get(h, name) : STR_NULL;
    return text.n && parse_u64(text, 0, max, &n) == 0 ? n : otherwise;
}

static enum fake_end end_field(const struct headers *h)
{
    static const char *const names[] = {
        [END_WELL] = "well",     [END_TRAP] = "trap", [END_RESET] = "reset",
        [END_REFUSE] = "refuse", [END_BUSY] = "busy", [END_DIE] = "die"
    };
    struct str text = h ? headers_get(h, "x-fake-end") : STR_NULL;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(text, names[i]))
            return (enum fake_end)i;
    return END_WELL;
}

static void read_wishes(struct fake_call *c, const struct headers *h)
{
    c->status = (int)number_field(h, "x-fake-status", 599, 200);
    if (c->status < 200)
        c->status = 200;
    c->end = end_field(h);
    c->n_bytes = number_field(h, "x-fake-bytes", FAKE_BYTES_MAX, UINT64_MAX);
    c->is_made_up = c->n_bytes != UINT64_MAX;
    c->chunk_ms = number_field(h, "x-fake-chunk-ms", FAKE_SLEEP_MAX_MS, 0);
    struct str trailer = h ? headers_get(h, "x-fake-trailer") : STR_NULL;
    c->trailer = trailer.n ? str_dup(trailer) : NULL;
    struct str type = h ? headers_get(h, "content-type") : STR_NULL;
    (void)headers_add(&c->head, STR("content-type"),
                      type.n && !c->is_made_up ? type : STR("text/plain"));
    char id[24];
    (void)snprintf(id, sizeof id, "%llu", (unsigned long long)c->s->id);
    (void)headers_addc(&c->head, "x-fake-sandbox", id);
}

static struct fake_call *call_of(struct exchange *x)
{
    return container_of(x, struct fake_call, x);
}

static bool write_body(struct exchange *x, struct str chunk)
{
    struct fake_call *c = call_of(x);
    if (c->is_made_up || c->failed)
        return true; /* dropped */
    (void)buf_add_str(&c->echo, chunk);
    wake(c);
    c->is_full = c->echo.n >= FAKE_BODY_HIGH;
    return !c->is_full;
}

static void end_body(struct exchange *x, const struct headers *trailers)
{
    struct fake_call *c = call_of(x);
    c->is_body_whole = true;
    wake(c);
}

static void pause_answer(struct exchange *x)
{
    call_of(x)->is_paused = true;
}

static void resume_answer(struct exchange *x)
{
    struct fake_call *c = call_of(x);
    c->is_paused = false;
    wake(c);
}

static void fail_call(struct fake_call *c, int r, const char *reason)
{
    c->failed = r;
    c->reason = reason;
    timer_stop(c->f->loop, &c->timer);
    wake(c);
}

static void cancel(struct exchange *x)
{
    fail_call(call_of(x), -ECANCELED, "Canceled");
}

static const struct exchange_ops call_ops = { .write = write_body,
                                              .end_body = end_body,
                                              .pause = pause_answer,
                                              .resume = resume_answer,
                                              .cancel = cancel };

static int start(struct invoker *v, const struct invoke_request *req,
                 const struct exchange_events *events, void *arg, struct exchange **ret,
                 struct err *err)
{
    struct fake *f = container_of(v, struct fake, invoker);
    struct fake_sandbox *s = map_get(&f->sandboxes, str_n(&req->sandbox, sizeof req->sandbox));
    if (!s || !s->is_ready || s->is_going)
        return err_set(err, -ECONNREFUSED, "there is no fake sandbox %llu",
                       (unsigned long long)req->sandbox);
    struct fake_call *c = take_call(f);
    c->x = (struct exchange){ &call_ops, events, arg, NULL };
    c->f = f;
    c->s = s;
    read_wishes(c, req->headers);
    if (!c->is_made_up)
        (void)buf_add_str(&c->echo, req->body);
    c->is_body_whole = !req->has_body || req->body_is_whole;
    list_push_back(&s->calls, &c->node);
    f->n_owed++;
    uint64_t now = loop_now_ms(f->loop);
    uint64_t sleep_ms =
        number_field(req->headers, "x-fake-sleep-ms", FAKE_SLEEP_MAX_MS, s->work_ms);
    if (req->deadline_ms && now + sleep_ms > req->deadline_ms) {
        c->failed = -ETIMEDOUT;
        c->reason = "RequestTimeout";
        sleep_ms = req->deadline_ms > now ? req->deadline_ms - now : 0;
    }
    if (sleep_ms)
        timer_start(f->loop, &c->timer, sleep_ms, on_timer);
    else
        wake(c);
    *ret = &c->x;
    return 0;
}

/* ---------------------------------------------------------------- sandboxes */

static void on_ready(struct timer *t)
{
    struct fake_sandbox *s = container_of(t, struct fake_sandbox, timer);
    struct fake *f = s->f;
    uint64_t id = s->id;
    Dormouse__Fn__V1__Breakdown b = DORMOUSE__FN__V1__BREAKDOWN__INIT;
    b.sandbox_create = b.total = (uint32_t)((clock_mono_ns() - s->started_ns) / 1000);
    if (rng_below(&f->rng, 1000) >= f->fail_permille) {
        s->is_ready = true;
        f->base.events->on_created(f->base.events_arg, id, 0, NULL, &b, NULL);
        return;
    }
    struct err err = { 0 };
    (void)err_set(&err, -EIO, "this creation was to fail");
    map_del(&f->sandboxes, str_n(&id, sizeof id));
    free(s);
    f->base.events->on_created(f->base.events_arg, id, -EIO, NULL, &b, &err);
    give_back(f);
}

static void create(struct runtime *rt, uint64_t id, struct runtime_revision *r)
{
    struct fake *f = of(rt);
    struct fake_sandbox *s = xnew(struct fake_sandbox);
    s->f = f;
    s->id = id;
    s->work_ms = r->t->fake_work_ms;
    s->started_ns = clock_mono_ns();
    list_init(&s->calls);
    void *old = map_put(&f->sandboxes, str_n(&id, sizeof id), s);
    assert(!old);
    f->n_owed++;
    timer_start(f->loop, &s->timer, r->t->fake_create_ms, on_ready);
}

struct fake_farewell { /* A pending on_destroyed(), also for an unknown sandbox */
    struct defer turn;
    struct fake *f;
    uint64_t id;
};

static void on_farewell(struct defer *d)
{
    struct fake_farewell *w = container_of(d, struct fake_farewell, turn);
    struct fake *f = w->f;
    uint64_t id = w->id;
    free(w);
    f->base.events->on_destroyed(f->base.events_arg, id);
    give_back(f);
}

static void destroy(struct runtime *rt, uint64_t id, uint32_t grace_ms)
{
    struct fake *f = of(rt);
    struct fake_sandbox *s = map_del(&f->sandboxes, str_n(&id, sizeof id));
    struct fake_farewell *w = xnew(struct fake_farewell);
    w->f = f;
    w->id = id;
    f->n_owed++;
    defer_start(f->loop, &w->turn, on_farewell);
    if (!s)
        return;
    list_each_safe (node, &s->calls) {
        struct fake_call *c = list_entry(node, struct fake_call, node);
        list_remove(node);
        c->s = NULL;
        fail_call(c, -ECONNRESET, "SandboxDeleted");
    }
    timer_stop(f->loop, &s->timer);
    free(s);
    give_back(f);
}

static void nothing(struct runtime *rt)
{
}

static void nothing_of(struct runtime *rt, struct runtime_revision *r)
{
}

static void close_runtime(struct runtime *rt, void (*done)(void *arg), void *arg)
{
    struct fake *f = of(rt);
    f->done = done;
    f->done_arg = arg;
    f->n_owed++;
    while (f->sandboxes.n) {
        struct map_entry *e = map_next(&f->sandboxes, NULL);
        destroy(rt, ((struct fake_sandbox *)e->value)->id, 0);
    }
    give_back(f);
}

static const struct runtime_ops fake_ops = { .name = "fake",
                                             .prepare = nothing_of,
                                             .forget = nothing_of,
                                             .create = create,
                                             .destroy = destroy,
                                             .recover = nothing,
                                             .close = close_runtime };

struct runtime *fake_runtime_new(struct loop *loop, uint32_t fail_permille, uint64_t seed)
{
    struct fake *f = xnew(struct fake);
    f->base.ops = &fake_ops;
    f->base.invoker = &f->invoker;
    f->invoker.start = start;
    f->loop = loop;
    f->fail_permille = fail_permille;
    f->rng.state = seed;
    return &f->base;
}
