/* SPDX-License-Identifier: Apache-2.0 */
#include "container/raw.h"

#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <unistd.h>

/* ---- output ---- */

struct container_raw {
    struct loop *loop;
    uv_poll_t poll;
    int fd;
    const struct container_raw_events *events;
    void *arg;
    struct defer finish; /* reads without waiting for the poll */
    bool is_paused, is_finishing, has_ended, is_closed;
};

static void end(struct container_raw *o)
{
    o->has_ended = true;
    (void)uv_poll_stop(&o->poll);
    o->events->on_end(o->arg);
}

/* One read. false: nothing is there, or the callback has closed it. */
static bool read_once(struct container_raw *o)
{
    char *scratch = loop_scratch(o->loop);
    ssize_t n = read(o->fd, scratch, LOOP_SCRATCH_BYTES);
    if (n < 0 && errno == EINTR)
        return true;
    if (n < 0 && errno == EAGAIN && !o->is_finishing)
        return false;
    if (n <= 0) { /* a terminal ends with EIO */
        end(o);
        return false;
    }
    o->events->on_bytes(o->arg, str_n(scratch, (size_t)n));
    return !o->is_closed;
}

static void on_raw_finish(struct defer *d);

static void on_raw_readable(uv_poll_t *h, int status, int events)
{
    struct container_raw *o = h->data;
    (void)read_once(o);
}

static void resume(struct container_raw *o)
{
    if (o->is_paused || o->has_ended || o->is_closed)
        return;
    if (o->is_finishing)
        defer_start(o->loop, &o->finish, on_raw_finish);
    else
        (void)uv_poll_start(&o->poll, UV_READABLE, on_raw_readable);
}

static void on_raw_finish(struct defer *d)
{
    struct container_raw *o = container_of(d, struct container_raw, finish);
    if (read_once(o))
        resume(o); /* on a later turn, so that others have theirs */
}

int container_raw_start(struct loop *loop, int fd, const struct container_raw_events *events,
                        void *arg, struct container_raw **ret, struct err *err)
{
    struct container_raw *o = xnew(struct container_raw);
    int r = uv_poll_init(&loop->uv, &o->poll, fd);
    if (r < 0) {
        free(o);
        return err_sys(err, r, "read what a container prints");
    }
    o->loop = loop;
    o->poll.data = o;
    o->fd = fd;
    o->events = events;
    o->arg = arg;
    resume(o);
    *ret = o;
    return 0;
}

void container_raw_pause(struct container_raw *o, bool is_paused)
{
    if (o->is_closed || o->is_paused == is_paused)
        return;
    o->is_paused = is_paused;
    if (is_paused) {
        (void)uv_poll_stop(&o->poll);
        defer_cancel(&o->finish);
    } else {
        resume(o);
    }
}

void container_raw_finish(struct container_raw *o)
{
    if (o->is_finishing || o->is_closed || o->has_ended)
        return;
    o->is_finishing = true;
    (void)uv_poll_stop(&o->poll);
    resume(o);
}

int container_raw_fd(const struct container_raw *o)
{
    return o->fd;
}

static void on_raw_closed(uv_handle_t *h)
{
    struct container_raw *o = h->data;
    (void)close(o->fd);
    free(o);
}

void container_raw_close(struct container_raw *o)
{
    if (!o || o->is_closed)
        return;
    o->is_closed = true;
    defer_cancel(&o->finish);
    uv_close((uv_handle_t *)&o->poll, on_raw_closed);
}

/* ---- input ---- */

struct container_feed {
    uv_poll_t poll;
    int fd;
    void (*on_room)(void *arg);
    void *arg;
    bool is_closed;
};

static void on_feed_writable(uv_poll_t *h, int status, int events)
{
    struct container_feed *f = h->data;
    (void)uv_poll_stop(h);
    f->on_room(f->arg);
}

int container_feed_start(struct loop *loop, int fd, void (*on_room)(void *arg), void *arg,
                         struct container_feed **ret, struct err *err)
{
    struct container_feed *f = xnew(struct container_feed);
    int r = uv_poll_init(&loop->uv, &f->poll, fd);
    if (r < 0) {
        free(f);
        return err_sys(err, r, "write to a container");
    }
    f->poll.data = f;
    f->fd = fd;
    f->on_room = on_room;
    f->arg = arg;
    *ret = f;
    return 0;
}

ssize_t container_feed_write(struct container_feed *f, struct str bytes)
{
    size_t taken = 0;
    assert(!f->is_closed);
    while (taken < bytes.n) {
        ssize_t n = write(f->fd, bytes.p + taken, bytes.n - taken);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN)
            return errno == EIO ? -EPIPE : -errno; /* EIO: of a terminal */
        if (n < 0)
            break;
        taken += (size_t)n;
    }
    if (taken < bytes.n)
        (void)uv_poll_start(&f->poll, UV_WRITABLE, on_feed_writable);
    return (ssize_t)taken;
}

static void on_feed_closed(uv_handle_t *h)
{
    struct container_feed *f = h->data;
    (void)close(f->fd);
    free(f);
}

void container_feed_close(struct container_feed *f)
{
    if (!f || f->is_closed)
        return;
    f->is_closed = true;
    uv_close((uv_handle_t *)&f->poll, on_feed_closed);
}
