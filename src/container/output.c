/* SPDX-License-Identifier: Apache-2.0 */
/* What a container prints; see output.h. */
#include "container/output.h"

#include "base/buf.h"
#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <unistd.h>

enum {
    PAUSE_MS = 10,
    PIECE_COST = 128 << 10, /* of one read, as far as the lines before tell */
    PIECE_MIN = 4 << 10,
    PIECE_FIRST = 16 << 10
};

struct container_output {
    struct container_output_reader *reader;
    struct loop *loop;
    struct list queued;
    uv_poll_t poll;
    int fd;
    struct buf rest; /* of a line that has not ended */
    struct timer pause;
    uint32_t rate;
    int64_t budget; /* what may be read now */
    uint64_t budget_ms;
    size_t piece;   /* bytes of the next read */
    size_t n_lines; /* delivered */
    container_output_cb on_line;
    void (*on_bytes)(void *arg, struct str bytes); /* NULL: none */
    void *arg;
    char last[CONTAINER_OUTPUT_LAST_MAX + 1];
    bool is_closed, is_paused;
    bool has_ended; /* a terminal that was hung up, which can be read for ever */
};

static void keep_last(struct container_output *o, struct str line)
{
    struct str shown = str_slice(str_trim(line), 0, CONTAINER_OUTPUT_LAST_MAX);
    if (shown.n == 0)
        return;
    memcpy(o->last, shown.p, shown.n);
    o->last[shown.n] = '\0';
}

/* has_more: of the line, after these bytes. */
static void deliver(struct container_output *o, struct str line, bool has_more)
{
    keep_last(o, line);
    o->n_lines++;
    while (line.n > CONTAINER_OUTPUT_LINE_MAX) {
        o->on_line(o->arg, str_slice(line, 0, CONTAINER_OUTPUT_LINE_MAX), true);
        line = str_slice(line, CONTAINER_OUTPUT_LINE_MAX, line.n);
    }
    o->on_line(o->arg, line, has_more);
}

static void take(struct container_output *o, struct str bytes)
{
    struct str line;
    if (o->on_bytes)
        o->on_bytes(o->arg, bytes);
    while (str_find_char(bytes, '\n') >= 0) {
        (void)str_cut(bytes, '\n', &line, &bytes);
        if (o->rest.n == 0) {
            deliver(o, line, false);
            continue;
        }
        (void)buf_add_str(&o->rest, line);
        deliver(o, buf_str(&o->rest), false);
        buf_reset(&o->rest);
    }
    while (o->rest.n + bytes.n > CONTAINER_OUTPUT_LINE_MAX) {
        size_t room = CONTAINER_OUTPUT_LINE_MAX - o->rest.n;
        (void)buf_add(&o->rest, bytes.p, room);
        deliver(o, buf_str(&o->rest), true);
        buf_reset(&o->rest);
        bytes = str_slice(bytes, room, bytes.n);
    }
    (void)buf_add_str(&o->rest, bytes);
}

/* ------------------------------------------------------------------ rates */

static int64_t refill(int64_t budget, uint64_t *at_ms, uint64_t now_ms, uint32_t rate, int64_t max)
{
    uint64_t ms = MIN(now_ms - *at_ms, (uint64_t)10000);
    *at_ms = now_ms;
    return MIN(budget + (int64_t)ms * rate / 1000, max);
}

static bool may_read(struct container_output *o)
{
    if (o->rate != CONTAINER_OUTPUT_ALL)
        o->budget =
            refill(o->budget, &o->budget_ms, loop_now_ms(o->loop), o->rate, CONTAINER_OUTPUT_BURST);
    return o->rate == CONTAINER_OUTPUT_ALL || o->budget > 0;
}

static void on_readable(uv_poll_t *h, int status, int events);

static void on_pause(struct timer *t);

/* Wait for what it waits for next. */
static void watch(struct container_output *o)
{
    if (o->is_closed || o->is_paused || o->has_ended)
        return;
    if (!may_read(o))
        timer_start(o->loop, &o->pause, PAUSE_MS, on_pause);
    else if (!uv_is_active((uv_handle_t *)&o->poll))
        (void)uv_poll_start(&o->poll, UV_READABLE, on_readable);
}

static void unwatch(struct container_output *o)
{
    list_remove(&o->queued);
    timer_stop(o->loop, &o->pause);
    (void)uv_poll_stop(&o->poll);
}

static void on_pause(struct timer *t)
{
    watch(container_of(t, struct container_output, pause));
}

/* ------------------------------------------------------------------ reading */

/* Lines that are short cost more than their bytes: fewer bytes of them next time. */
static void set_piece(struct container_output *o, size_t n, size_t cost)
{
    size_t piece = (size_t)PIECE_COST * n / cost;
    o->piece = MIN(MAX(piece, (size_t)PIECE_MIN), (size_t)LOOP_SCRATCH_BYTES);
}

/* What it has cost. */
static size_t read_piece(struct container_output *o)
{
    char *scratch = loop_scratch(o->loop);
    size_t before = o->n_lines;
    ssize_t n = read(o->fd, scratch, o->piece);
    if (n <= 0) {
        o->has_ended = n == 0 || (errno != EAGAIN && errno != EINTR);
        return 0;
    }
    take(o, str_n(scratch, (size_t)n));
    size_t cost = (size_t)n + (o->n_lines - before) * CONTAINER_OUTPUT_LINE_COST;
    set_piece(o, (size_t)n, cost);
    return cost;
}

static void serve(struct container_output *o)
{
    struct container_output_reader *r = o->reader;
    int64_t cost = (int64_t)read_piece(o);
    o->budget -= cost;
    r->budget -= cost;
    r->turn_left -= cost;
    if (o->is_closed)
        return;
    if (o->has_ended || o->is_paused || !may_read(o))
        unwatch(o);
    watch(o);
}

static void on_turn(struct defer *d);

static void on_rest(struct timer *t)
{
    struct container_output_reader *r = container_of(t, struct container_output_reader, rest);
    on_turn(&r->turn);
}

/* A turn begins: what waits is served first. */
static void on_turn(struct defer *d)
{
    struct container_output_reader *r = container_of(d, struct container_output_reader, turn);
    r->budget = refill(r->budget, &r->budget_ms, loop_now_ms(r->loop), CONTAINER_OUTPUT_TOTAL_RATE,
                       CONTAINER_OUTPUT_BURST * 4);
    if (r->budget <= 0) {
        r->turn_left = 0;
        timer_start(r->loop, &r->rest, PAUSE_MS, on_rest);
        return;
    }
    r->turn_left = CONTAINER_OUTPUT_TURN;
    while (r->turn_left > 0 && !list_is_empty(&r->queue)) {
        struct list *node = list_pop_front(&r->queue);
        serve(list_entry(node, struct container_output, queued));
    }
    if (r->turn_left < CONTAINER_OUTPUT_TURN)
        defer_start(r->loop, &r->turn, on_turn);
}

static void on_readable(uv_poll_t *h, int status, int events)
{
    struct container_output *o = h->data;
    struct container_output_reader *r = o->reader;
    if (status < 0) {
        o->has_ended = true;
        unwatch(o);
        return;
    }
    if (r->turn_left > 0 && list_is_empty(&r->queue)) {
        serve(o);
    } else {
        unwatch(o);
        list_push_back(&r->queue, &o->queued);
    }
    if (!timer_is_armed(&r->rest))
        defer_start(r->loop, &r->turn, on_turn);
}

/* ------------------------------------------------------------------ life */

void container_output_reader_init(struct container_output_reader *r, struct loop *loop)
{
    *r = (struct container_output_reader){ .loop = loop,
                                           .turn_left = CONTAINER_OUTPUT_TURN,
                                           .budget = CONTAINER_OUTPUT_BURST * 4,
                                           .budget_ms = loop_now_ms(loop) };
    list_init(&r->queue);
}

void container_output_reader_fini(struct container_output_reader *r)
{
    assert(list_is_empty(&r->queue));
    defer_cancel(&r->turn);
    timer_stop(r->loop, &r->rest);
}

int container_output_start(struct container_output_reader *reader, int fd, uint32_t rate,
                           container_output_cb on_line, void *arg, struct container_output **ret,
                           struct err *err)
{
    struct loop *loop = reader->loop;
    struct container_output *o = xnew(struct container_output);
    int r = uv_poll_init(&loop->uv, &o->poll, fd);
    if (r < 0) {
        free(o);
        return err_sys(err, r, "read what a container prints");
    }
    o->reader = reader;
    o->loop = loop;
    o->piece = PIECE_FIRST;
    o->poll.data = o;
    o->fd = fd;
    o->rate = rate ? rate : CONTAINER_OUTPUT_RATE;
    o->on_line = on_line;
    o->arg = arg;
    o->budget = CONTAINER_OUTPUT_BURST;
    o->budget_ms = loop_now_ms(loop);
    buf_init(&o->rest, CONTAINER_OUTPUT_LINE_MAX * 5); /* a line, and what one read adds */
    watch(o);
    *ret = o;
    return 0;
}

void container_output_tap(struct container_output *o, void (*on_bytes)(void *arg, struct str bytes))
{
    o->on_bytes = on_bytes;
}

void container_output_pause(struct container_output *o, bool is_paused)
{
    if (o->is_closed || o->is_paused == is_paused)
        return;
    o->is_paused = is_paused;
    if (is_paused)
        unwatch(o);
    else
        watch(o);
}

const char *container_output_last(const struct container_output *o)
{
    return o ? o->last : "";
}

static void on_closed(uv_handle_t *h)
{
    struct container_output *o = h->data;
    (void)close(o->fd);
    buf_fini(&o->rest);
    free(o);
}

void container_output_drain(struct container_output *o)
{
    if (!o)
        return;
    char *scratch = loop_scratch(o->loop);
    ssize_t n = read(o->fd, scratch, LOOP_SCRATCH_BYTES); /* as much as a pipe holds */
    if (n > 0)
        take(o, str_n(scratch, (size_t)n));
}

void container_output_close(struct container_output *o)
{
    if (!o || o->is_closed)
        return;
    unwatch(o);
    o->is_closed = true;
    container_output_drain(o);
    if (o->rest.n)
        deliver(o, buf_str(&o->rest), false);
    uv_close((uv_handle_t *)&o->poll, on_closed);
}

void container_output_release(struct container_output *o)
{
    if (!o || o->is_closed)
        return;
    unwatch(o);
    o->is_closed = true;
    uv_close((uv_handle_t *)&o->poll, on_closed);
}
