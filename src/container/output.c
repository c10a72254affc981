/* SPDX-License-Identifier: Apache-2.0 */
/* What a container prints; see output.h. */
#include "container/output.h"

#include "base/buf.h"
#include "base/mem.h"

#include <errno.h>
#include <unistd.h>

enum { PAUSE_MS = 100 };

struct container_output {
    struct loop *loop;
    uv_poll_t poll;
    int fd;
    struct buf rest; /* of a line that has not ended */
    struct timer pause;
    uint32_t rate;
    int64_t budget; /* bytes that may be read now */
    uint64_t budget_ms;
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

static void on_readable(uv_poll_t *h, int status, int events);

static void refill(struct container_output *o)
{
    if (o->rate == CONTAINER_OUTPUT_ALL) {
        o->budget = CONTAINER_OUTPUT_BURST;
        return;
    }
    uint64_t now = loop_now_ms(o->loop), ms = MIN(now - o->budget_ms, (uint64_t)10000);
    o->budget = MIN(o->budget + (int64_t)ms * o->rate / 1000, (int64_t)CONTAINER_OUTPUT_BURST);
    o->budget_ms = now;
}

static void on_pause(struct timer *t)
{
    struct container_output *o = container_of(t, struct container_output, pause);
    refill(o);
    if (o->is_paused || o->has_ended)
        return;
    if (o->budget > 0)
        (void)uv_poll_start(&o->poll, UV_READABLE, on_readable);
    else
        timer_start(o->loop, &o->pause, PAUSE_MS, on_pause);
}

/* What one turn takes; false at the end. */
static bool read_once(struct container_output *o)
{
    char *scratch = loop_scratch(o->loop);
    ssize_t n = read(o->fd, scratch, LOOP_SCRATCH_BYTES);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    if (n > 0) {
        o->budget -= n;
        take(o, str_n(scratch, (size_t)n));
    }
    return n > 0;
}

static void on_readable(uv_poll_t *h, int status, int events)
{
    struct container_output *o = h->data;
    refill(o);
    bool more = status == 0 && read_once(o);
    if (o->is_closed)
        return;
    o->has_ended |= !more;
    if (!more || o->is_paused)
        (void)uv_poll_stop(&o->poll);
    else if (o->budget <= 0) {
        (void)uv_poll_stop(&o->poll);
        timer_start(o->loop, &o->pause, PAUSE_MS, on_pause);
    }
}

int container_output_start(struct loop *loop, int fd, uint32_t rate, container_output_cb on_line,
                           void *arg, struct container_output **ret, struct err *err)
{
    struct container_output *o = xnew(struct container_output);
    int r = uv_poll_init(&loop->uv, &o->poll, fd);
    if (r < 0) {
        free(o);
        return err_sys(err, r, "read what a container prints");
    }
    o->loop = loop;
    o->poll.data = o;
    o->fd = fd;
    o->rate = rate ? rate : CONTAINER_OUTPUT_RATE;
    o->on_line = on_line;
    o->arg = arg;
    o->budget = CONTAINER_OUTPUT_BURST;
    o->budget_ms = loop_now_ms(loop);
    buf_init(&o->rest, CONTAINER_OUTPUT_LINE_MAX * 5); /* a line, and what one read adds */
    (void)uv_poll_start(&o->poll, UV_READABLE, on_readable);
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
    timer_stop(o->loop, &o->pause);
    if (is_paused)
        (void)uv_poll_stop(&o->poll);
    else
        on_pause(&o->pause);
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
    o->is_closed = true;
    timer_stop(o->loop, &o->pause);
    container_output_drain(o);
    if (o->rest.n)
        deliver(o, buf_str(&o->rest), false);
    uv_close((uv_handle_t *)&o->poll, on_closed);
}

void container_output_release(struct container_output *o)
{
    if (!o || o->is_closed)
        return;
    o->is_closed = true;
    timer_stop(o->loop, &o->pause);
    uv_close((uv_handle_t *)&o->poll, on_closed);
}
