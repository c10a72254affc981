/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of programs; see pod_exec.h. */
#include "agent/network/pod_exec.h"

#include "base/buf.h"
#include "base/sys.h"
#include "io/process.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

enum { CHUNK = 16 << 10 };

struct exec_stream {
    struct pod_exec *e;
    uv_poll_t poll;
    int fd;
    struct buf text;
    bool cuts; /* what is beyond the maximum is dropped, and not an error */
};

struct pod_exec {
    struct loop *loop;
    struct process *process;
    struct timer deadline;
    struct exec_stream out, err_out;
    unsigned n_handles;
    int r, status;
    void (*done)(void *arg, int r, int status, struct str out, struct str err_out);
    void *arg;
};

static void stop_with(struct pod_exec *e, int r)
{
    if (e->r == 0)
        e->r = r;
    if (e->process)
        process_signal(e->process, SIGKILL);
}

static void add_text(struct exec_stream *s, const char *p, size_t n)
{
    size_t room = s->text.max - s->text.n;
    if (n > room && !s->cuts)
        stop_with(s->e, E_LIMIT);
    (void)buf_add(&s->text, p, MIN(n, room));
}

/* What is there now. Not until the end of the stream: another process may have inherited it. */
static void drain(struct exec_stream *s)
{
    char chunk[CHUNK];
    for (int i = 0; i < 64; i++) {
        ssize_t n = read(s->fd, chunk, sizeof chunk);
        if (n > 0)
            add_text(s, chunk, (size_t)n);
        else {
            if (n == 0)
                (void)uv_poll_stop(&s->poll);
            return;
        }
    }
}

static void on_readable(uv_poll_t *h, int status, int events)
{
    drain(h->data);
}

static void on_closed(uv_handle_t *h)
{
    struct exec_stream *s = h->data;
    struct pod_exec *e = s->e;
    (void)close(s->fd);
    assert(e->n_handles > 0);
    if (--e->n_handles > 0)
        return;
    e->done(e->arg, e->r, e->status, buf_str(&e->out.text), buf_str(&e->err_out.text));
    buf_fini(&e->out.text);
    buf_fini(&e->err_out.text);
    free(e);
}

static void on_exit_of(struct process *p, int status, void *arg)
{
    struct pod_exec *e = arg;
    e->process = NULL;
    e->status = status;
    timer_stop(e->loop, &e->deadline);
    drain(&e->out);
    drain(&e->err_out);
    uv_close((uv_handle_t *)&e->out.poll, on_closed);
    uv_close((uv_handle_t *)&e->err_out.poll, on_closed);
}

static void on_deadline(struct timer *t)
{
    stop_with(container_of(t, struct pod_exec, deadline), -ETIMEDOUT);
}

/* A file in memory: the program can read it at its own pace. */
static int input_of(struct str text, struct err *err)
{
    int fd = sys_memfd("input");
    int r = fd < 0 ? fd : sys_write_all(fd, text.p, text.n);
    if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
        r = -errno;
    if (r == 0)
        return fd;
    if (fd >= 0)
        (void)close(fd);
    return err_sys(err, r, "input of a program");
}

static int pipe_of(int ends[2], struct err *err)
{
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_sys(err, -errno, "pipe");
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return 0;
}

static void watch(struct pod_exec *e, struct exec_stream *s, int fd, size_t max, bool cuts)
{
    s->e = e;
    s->fd = fd;
    s->cuts = cuts;
    buf_init(&s->text, max);
    s->poll.data = s;
    int r = uv_poll_init(&e->loop->uv, &s->poll, fd);
    if (r == 0)
        r = uv_poll_start(&s->poll, UV_READABLE, on_readable);
    if (r < 0)
        abort(); /* a new pipe can be polled */
    e->n_handles++;
}

int pod_exec_start(struct loop *loop, const struct pod_exec_opts *o, struct pod_exec **ret,
                   struct err *err)
{
    scoped(fd_scoped) int in = input_of(o->input, err);
    scoped(free_scoped) struct pod_exec *e = xnew(struct pod_exec);
    scoped(fd_scoped) int out_r = -1, out_w = -1, err_r = -1, err_w = -1;
    int ends[2];
    if (in < 0)
        return in;
    int r = pipe_of(ends, err);
    if (r < 0)
        return r;
    out_r = ends[0], out_w = ends[1];
    r = pipe_of(ends, err);
    if (r < 0)
        return r;
    err_r = ends[0], err_w = ends[1];
    struct process_opts po = { .argv = o->argv,
                               .env = o->env,
                               .in = in,
                               .out = out_w,
                               .err_out = err_w,
                               .on_exit = on_exit_of,
                               .arg = e };
    r = process_spawn(loop, &po, &e->process, err);
    if (r < 0)
        return r;
    e->loop = loop;
    e->done = o->done;
    e->arg = o->arg;
    watch(e, &e->out, take_fd(&out_r), o->out_max, false);
    watch(e, &e->err_out, take_fd(&err_r), o->err_max, true);
    timer_start(loop, &e->deadline, o->timeout_ms, on_deadline);
    *ret = take_ptr(&e);
    return 0;
}
