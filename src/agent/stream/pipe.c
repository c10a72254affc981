/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of byte streams; see pipe.h. */
#include "agent/stream/pipe.h"

#include "base/buf.h"
#include "base/sm.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_BYTES = 32 << 10 };

/*
 *     OPEN --end()--> ENDING --all is written--> ENDED
 *       `------------- writing fails ------------^
 */
enum pipe_out { PIPE_OUT_OPEN, PIPE_OUT_ENDING, PIPE_OUT_ENDED };

static const struct sm_state pipe_out_table[] = {
    [PIPE_OUT_OPEN] = { "open", EDGE(PIPE_OUT_ENDING) | EDGE(PIPE_OUT_ENDED) },
    [PIPE_OUT_ENDING] = { "ending", EDGE(PIPE_OUT_ENDED) },
    [PIPE_OUT_ENDED] = { "ended", 0 },
};

struct stream_pipe {
    struct loop *loop;
    uv_poll_t poll;
    int fd;
    const struct stream_pipe_events *events;
    void *arg;
    struct sm out;
    struct buf waiting; /* to be written */
    int broken;         /* writing failed, not reported yet */
    bool is_reading, at_eof, was_full, is_closed;
    struct defer later; /* what happened inside a call */
};

static void on_ready(uv_poll_t *h, int status, int events);
static void on_later(struct defer *d);

/* Poll for what is wanted. */
static void poll_again(struct stream_pipe *p)
{
    bool reads = p->is_reading && !p->at_eof;
    int events = (reads ? UV_READABLE : 0) | (p->waiting.n ? UV_WRITABLE : 0);
    if (p->is_closed)
        return;
    if (events)
        (void)uv_poll_start(&p->poll, events, on_ready);
    else
        (void)uv_poll_stop(&p->poll);
}

static void break_output(struct stream_pipe *p, int r)
{
    buf_fini(&p->waiting);
    p->broken = r;
    sm_move(&p->out, PIPE_OUT_ENDED);
    defer_start(p->loop, &p->later, on_later);
}

/* A socket may still be read; the writing end of a pipe ends with its descriptor. */
static void end_if_written(struct stream_pipe *p)
{
    if (p->out.at != PIPE_OUT_ENDING || p->waiting.n)
        return;
    sm_move(&p->out, PIPE_OUT_ENDED);
    if (shutdown(p->fd, SHUT_WR) == 0 || errno != ENOTSOCK)
        return;
    p->at_eof = true;
    (void)uv_poll_stop(&p->poll);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC); /* the number stays ours until the end */
    if (null >= 0) {
        (void)dup3(null, p->fd, O_CLOEXEC);
        (void)close(null);
    }
}

/* Bytes written now; the rest waits. */
static size_t write_some(struct stream_pipe *p, struct str bytes)
{
    size_t done = 0;
    while (done < bytes.n) {
        ssize_t n = write(p->fd, bytes.p + done, bytes.n - done);
        if (n >= 0) {
            done += (size_t)n;
        } else if (errno == EAGAIN) {
            break;
        } else if (errno != EINTR) {
            break_output(p, -errno);
            return bytes.n;
        }
    }
    return done;
}

bool stream_pipe_write(struct stream_pipe *p, struct str bytes)
{
    if (p->is_closed || p->out.at != PIPE_OUT_OPEN)
        return true;
    size_t n = p->waiting.n ? 0 : write_some(p, bytes);
    if (n < bytes.n)
        (void)buf_add_str(&p->waiting, str_slice(bytes, n, bytes.n));
    poll_again(p);
    p->was_full = p->waiting.n > STREAM_PIPE_HIGH_BYTES;
    return !p->was_full;
}

void stream_pipe_end(struct stream_pipe *p)
{
    if (p->is_closed || p->out.at != PIPE_OUT_OPEN)
        return;
    sm_move(&p->out, PIPE_OUT_ENDING);
    end_if_written(p);
}

static void on_later(struct defer *d)
{
    struct stream_pipe *p = container_of(d, struct stream_pipe, later);
    int r = p->broken;
    p->broken = 0;
    if (r < 0 && p->events->on_broken)
        p->events->on_broken(p->arg, r);
}

static void write_waiting(struct stream_pipe *p)
{
    if (p->waiting.n == 0)
        return;
    struct buf waiting = p->waiting;
    p->waiting = BUF_INIT(BUF_MAX_DEFAULT);
    size_t n = write_some(p, buf_str(&waiting));
    if (n == waiting.n) {
        buf_fini(&waiting);
    } else {
        buf_consume(&waiting, n);
        p->waiting = waiting;
    }
    end_if_written(p);
    poll_again(p);
    if (p->was_full && p->waiting.n <= STREAM_PIPE_HIGH_BYTES / 2) {
        p->was_full = false;
        if (p->events->on_writable)
            p->events->on_writable(p->arg);
    }
}

/* A terminal whose other side was closed fails with EIO. */
static void read_some(struct stream_pipe *p)
{
    char bytes[READ_BYTES];
    ssize_t n = read(p->fd, bytes, sizeof bytes);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0) {
        p->events->on_data(p->arg, str_n(bytes, (size_t)n));
        return;
    }
    p->at_eof = true;
    poll_again(p);
    if (p->events->on_eof)
        p->events->on_eof(p->arg);
}

static void on_ready(uv_poll_t *h, int status, int events)
{
    struct stream_pipe *p = h->data;
    if (status < 0)
        events = UV_READABLE | UV_WRITABLE;
    if (events & UV_WRITABLE)
        write_waiting(p);
    if ((events & UV_READABLE) && !p->is_closed && p->is_reading && !p->at_eof)
        read_some(p);
}

struct stream_pipe *stream_pipe_open(struct loop *loop, int fd,
                                     const struct stream_pipe_events *events, void *arg)
{
    struct stream_pipe *p = xnew(struct stream_pipe);
    *p = (struct stream_pipe){
        .loop = loop, .fd = fd, .events = events, .arg = arg, .waiting = BUF_INIT(BUF_MAX_DEFAULT)
    };
    sm_init(&p->out, pipe_out_table, PIPE_OUT_OPEN);
    p->poll.data = p;
    int r = uv_poll_init(&loop->uv, &p->poll, fd); /* makes it not block */
    assert(r == 0);                                /* a descriptor that can be polled */
    return p;
}

void stream_pipe_pause(struct stream_pipe *p)
{
    p->is_reading = false;
    poll_again(p);
}

void stream_pipe_resume(struct stream_pipe *p)
{
    p->is_reading = true;
    poll_again(p);
}

static void on_pipe_closed(uv_handle_t *h)
{
    struct stream_pipe *p = h->data;
    (void)close(p->fd);
    buf_fini(&p->waiting);
    free(p);
}

void stream_pipe_close(struct stream_pipe *p)
{
    if (!p || p->is_closed)
        return;
    p->is_closed = true;
    defer_cancel(&p->later);
    uv_close((uv_handle_t *)&p->poll, on_pipe_closed);
}
