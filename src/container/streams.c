/* SPDX-License-Identifier: Apache-2.0 */
/* Input and output of a container: pipes, or a terminal; the same for one that was adopted. */
#include "base/log.h"
#include "base/mem.h"
#include "container/container_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* ---- telling the caller ---- */

static void report_line(struct container *c, enum container_stream stream, struct str line,
                        bool has_more)
{
    if (c->events && c->events->on_line)
        c->events->on_line(c->arg, stream, line, has_more);
}

static void on_out_line(void *arg, struct str line, bool has_more)
{
    report_line(arg, CONTAINER_STDOUT, line, has_more);
}

static void on_err_line(void *arg, struct str line, bool has_more)
{
    report_line(arg, CONTAINER_STDERR, line, has_more);
}

static void report_bytes(struct container *c, enum container_stream stream, struct str bytes)
{
    if (c->events && c->events->on_output)
        c->events->on_output(c->arg, stream, bytes);
}

static void on_out_bytes(void *arg, struct str bytes)
{
    report_bytes(arg, CONTAINER_STDOUT, bytes);
}

static void on_err_bytes(void *arg, struct str bytes)
{
    report_bytes(arg, CONTAINER_STDERR, bytes);
}

static void on_input_room(void *arg)
{
    struct container *c = arg;
    if (c->events && c->events->on_room)
        c->events->on_room(c->arg);
}

/* ---- opening ---- */

/* fd: taken. */
static int listen_to(struct container *c, enum container_stream stream, int fd, struct err *err)
{
    bool is_out = stream == CONTAINER_STDOUT;
    struct container_output **to = is_out ? &c->out : &c->err_out;
    int r = container_output_start(&c->h->reader, fd, c->h->output_rate,
                                   is_out ? on_out_line : on_err_line, c, to, err);
    if (r < 0)
        (void)close(fd);
    else
        container_output_tap(*to, is_out ? on_out_bytes : on_err_bytes);
    return r;
}

/* ret_write: of a new one; NULL: it is there. */
static int read_pipe(struct container *c, enum container_stream stream, int *ret_write,
                     struct err *err)
{
    int fd = -1, r = container_files_pipe(c, stream == CONTAINER_STDOUT ? "out" : "err", &fd,
                                          ret_write, err);
    return r < 0 ? r : listen_to(c, stream, fd, err);
}

static int open_input(struct container *c, bool is_new, struct err *err)
{
    int fd = container_files_input(c, is_new, err);
    int r = fd < 0 ? fd : container_feed_start(c->h->loop, fd, on_input_room, c, &c->feed, err);
    if (r < 0 && fd >= 0)
        (void)close(fd);
    return r;
}

/* fd: taken; a terminal, for both directions. */
static int open_terminal(struct container *c, int fd, struct err *err)
{
    scoped(fd_scoped) int whole = fd;
    scoped(fd_scoped) int in = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    int r = in < 0 ? -errno : container_console_check(fd);
    if (r < 0)
        return err_sys(err, r, "use the terminal of a container");
    r = container_feed_start(c->h->loop, in, on_input_room, c, &c->feed, err);
    if (r < 0)
        return r;
    c->terminal = take_fd(&in); /* of the feed */
    return listen_to(c, CONTAINER_STDOUT, take_fd(&whole), err);
}

int container_streams_open(struct container *c, int *ret_out, int *ret_err_out, struct err *err)
{
    scoped(fd_scoped) int out = -1, err_out = -1;
    scoped(free_scoped) char *console = xasprintf("%s/console", c->dir);
    if (c->has_terminal)
        return container_console_listen(&c->console, console, err);
    int r = read_pipe(c, CONTAINER_STDOUT, &out, err);
    r = r < 0 ? r : read_pipe(c, CONTAINER_STDERR, &err_out, err);
    if (r >= 0 && c->input != CONTAINER_INPUT_NONE)
        r = open_input(c, true, err);
    if (r < 0)
        return r;
    *ret_out = take_fd(&out);
    *ret_err_out = take_fd(&err_out);
    return 0;
}

void container_streams_terminal(struct container *c, int fd)
{
    struct err err = { 0 };
    container_console_close(&c->console);
    if (fd >= 0 && open_terminal(c, fd, &err) < 0)
        log_warn("container runs without being heard", "name=%s error=\"%s\"", c->name,
                 err_text(&err));
}

void container_streams_adopt(struct container *c, int keeper)
{
    struct err err = { 0 };
    int r = 0;
    if (c->has_terminal) {
        int fd = container_keeper_terminal(keeper, &err);
        r = fd < 0 ? fd : open_terminal(c, fd, &err);
    } else {
        r = read_pipe(c, CONTAINER_STDOUT, NULL, &err);
        if (read_pipe(c, CONTAINER_STDERR, NULL, &err) < 0)
            r = err.code;
    }
    if (r >= 0 && !c->has_terminal && c->input == CONTAINER_INPUT_OPEN)
        r = open_input(c, false, &err);
    if (r < 0) /* it runs on without being heard */
        log_warn("container runs without being heard", "name=%s error=\"%s\"", c->name,
                 err_text(&err));
}

/* ---- the end ---- */

void container_streams_drain(struct container *c)
{
    container_output_drain(c->out);
    container_output_drain(c->err_out);
}

void container_streams_close(struct container *c)
{
    container_console_close(&c->console);
    c->terminal = -1;
    container_feed_close(take_ptr(&c->feed));
    container_output_close(take_ptr(&c->out));
    container_output_close(take_ptr(&c->err_out));
}

void container_streams_release(struct container *c)
{
    container_console_close(&c->console);
    c->terminal = -1;
    container_feed_close(take_ptr(&c->feed));
    container_output_release(take_ptr(&c->out));
    container_output_release(take_ptr(&c->err_out));
}

/* ---- what a caller may ask ---- */

ssize_t container_write(struct container *c, struct str bytes)
{
    if (!c->has_terminal && c->input == CONTAINER_INPUT_NONE)
        return -EPIPE;
    if (!c->is_reported && c->sm.at <= CONTAINER_RUNNING)
        return 0; /* on_room() after on_started() */
    return c->feed && c->init ? container_feed_write(c->feed, bytes) : -EPIPE;
}

void container_end_input(struct container *c)
{
    if (c->input == CONTAINER_INPUT_ONCE && !c->has_terminal)
        container_feed_close(take_ptr(&c->feed));
}

void container_resize(struct container *c, uint16_t columns, uint16_t rows)
{
    if (c->terminal >= 0 && columns && rows)
        container_console_resize(c->terminal, columns, rows);
}

void container_pause_output(struct container *c, bool is_paused)
{
    if (c->out)
        container_output_pause(c->out, is_paused);
    if (c->err_out)
        container_output_pause(c->err_out, is_paused);
}
