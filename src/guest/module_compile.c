/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiler's child process; see module_compile.h. Two handles: the process and the pipe from
 * its stderr. The result is known when the child and the pipe have both ended; memory is freed when
 * both handles have closed.
 */
#include "guest/module_compile.h"

#include "base/str.h"
#include "guest/memory_group.h"
#include "wasm/compile_exit.h"
#include "wasm/confine.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct module_compile {
    struct loop *loop;
    int pid, pidfd;
    uv_poll_t pid_poll;
    uv_pipe_t stderr_pipe;
    struct timer timeout;
    uint64_t left_ms; /* rest of its time limit, while it is paused */
    unsigned n_handles;
    char text[200]; /* the first line of stderr */
    size_t text_n;
    char overflow[512];
    bool has_exited, has_eof, is_paused;
    int64_t exit_status;
    int term_signal;
    int killed_as;        /* the error for which we ended it; 0: we did not */
    module_compile_cb cb; /* NULL: the start failed */
    void *arg;
};

/* Map an exit status from a handler to the signal, as if there had been no handler. */
static int signal_of_exit(int64_t status)
{
    return status == COMPILE_GAVE_UP ? SIGABRT : status == COMPILE_CPU_TIME ? SIGXCPU : 0;
}

/* The child has processed hostile input: its message is cut to one line of printable characters. */
static void clean_text(struct module_compile *c)
{
    size_t n = 0;
    for (; n < c->text_n && c->text[n] != '\n'; n++)
        if ((unsigned char)c->text[n] < 0x20 || c->text[n] == 0x7f)
            c->text[n] = '?';
    c->text[n] = 0;
    if (!str_is_utf8(str_n(c->text, n)))
        for (size_t i = 0; i < n; i++)
            if ((unsigned char)c->text[i] >= 0x80)
                c->text[i] = '?';
}

static int code_of_exit(int64_t status)
{
    switch (status) {
#define COMPILE_EXIT_CODE(name, value, code)                                                       \
    case value:                                                                                    \
        return code;
        COMPILE_EXITS(COMPILE_EXIT_CODE)
#undef COMPILE_EXIT_CODE
    default:
        return E_INVALID;
    }
}

static int judge(const struct module_compile *c, struct err *err)
{
    if (c->killed_as == -ETIMEDOUT)
        return err_set(err, -ETIMEDOUT, "compiling the module took too long");
    if (c->killed_as)
        return err_sys(err, c->killed_as, "compile the module");
    if (c->term_signal == SIGXCPU)
        return err_set(err, E_LIMIT, "compiling the module took more processor time than allowed");
    if (c->term_signal == SIGKILL) /* usually by the kernel, short of memory */
        return err_set(err, -ENOMEM, "the compiler was killed, perhaps for want of memory");
    if (c->term_signal == SIGABRT)
        return err_set(err, E_LIMIT, "the compiler gave up on the module%s%s",
                       c->text[0] ? ": " : "", c->text);
    if (c->term_signal)
        return err_set(err, E_INVALID, "the compiler crashed on the module (signal %d)",
                       c->term_signal);
    int code = code_of_exit(c->exit_status);
    if (code == 0)
        return 0;
    if (!c->text[0])
        return err_set(err, code, "the compiler ended with status %d", (int)c->exit_status);
    return err_set(err, code, "%s", c->text);
}

static void on_closed(uv_handle_t *h)
{
    struct module_compile *c = h->data;
    if (--c->n_handles > 0)
        return;
    if (c->cb) {
        struct err err = { 0 };
        clean_text(c);
        int status = judge(c, &err);
        c->cb(status, &err, c->arg);
    }
    fd_scoped(&c->pidfd);
    free(c);
}

static void close_both(struct module_compile *c)
{
    timer_stop(c->loop, &c->timeout);
    uv_close((uv_handle_t *)&c->pid_poll, on_closed);
    uv_close((uv_handle_t *)&c->stderr_pipe, on_closed);
}

static void on_process_end(uv_poll_t *poll, int r, int events)
{
    struct module_compile *c = poll->data;
    int status;
    (void)r;
    (void)events;
    pid_t pid = waitpid(c->pid, &status, WNOHANG);
    if (pid == 0 || (pid < 0 && errno == EINTR))
        return; /* the callback is called again */
    assert(pid == c->pid);
    c->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    c->term_signal = WIFSIGNALED(status) ? WTERMSIG(status) : signal_of_exit(c->exit_status);
    c->has_exited = true;
    (void)uv_poll_stop(poll);
    if (c->has_eof)
        close_both(c);
}

static void on_alloc(uv_handle_t *h, size_t want, uv_buf_t *ret)
{
    struct module_compile *c = h->data;
    size_t left = sizeof c->text - 1 - c->text_n;
    if (left > 0)
        *ret = uv_buf_init(c->text + c->text_n, (unsigned)left);
    else
        *ret = uv_buf_init(c->overflow, sizeof c->overflow);
}

static void on_text(uv_stream_t *stream, ssize_t n, const uv_buf_t *b)
{
    struct module_compile *c = stream->data;
    if (n > 0 && b->base != c->overflow)
        c->text_n += (size_t)n;
    if (n >= 0)
        return;
    (void)uv_read_stop(stream);
    c->has_eof = true;
    if (c->has_exited)
        close_both(c);
}

/* After the child was reaped its pid may belong to another process. */
static void send_signal(struct module_compile *c, int signal)
{
    if (!c->has_exited)
        (void)confine_signal(c->pid, signal);
}

static void on_timeout(struct timer *t)
{
    struct module_compile *c = container_of(t, struct module_compile, timeout);
    c->killed_as = -ETIMEDOUT;
    send_signal(c, SIGKILL);
}

void module_compile_kill(struct module_compile *c)
{
    if (!c->killed_as)
        c->killed_as = -ECANCELED; /* also for a child that has just ended */
    send_signal(c, SIGKILL);
}

void module_compile_pause(struct module_compile *c, bool pause)
{
    if (c->is_paused == pause || c->killed_as || c->has_exited)
        return;
    c->is_paused = pause;
    send_signal(c, pause ? SIGSTOP : SIGCONT);
    if (pause) {
        uint64_t now = loop_now_ms(c->loop);
        c->left_ms = c->timeout.due_ms > now ? c->timeout.due_ms - now : 0;
        timer_stop(c->loop, &c->timeout);
    } else {
        timer_start(c->loop, &c->timeout, c->left_ms, on_timeout);
    }
}

bool module_compile_has_crashed(const struct module_compile *c)
{
    return c->killed_as != -ECANCELED && (c->term_signal || c->killed_as);
}

/* Both pipe ends are open; the read end is taken. */
static int start_child(struct module_compile *c, const struct confine_child *child, int *err_pipe,
                       struct err *err)
{
    c->pid = confine_spawn(child, err);
    if (c->pid < 0)
        return c->pid;
    c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
    int r = c->pidfd < 0 ? -errno : uv_poll_init(&c->loop->uv, &c->pid_poll, c->pidfd);
    if (r < 0) { /* for example, out of descriptors */
        (void)confine_signal(c->pid, SIGKILL);
        while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
        return err_sys(err, r, "watch '%s'", child->path);
    }
    c->n_handles++;
    r = uv_pipe_open(&c->stderr_pipe, *err_pipe);
    assert(r == 0); /* an open pipe with no other handle */
    *err_pipe = -1;
    r = uv_poll_start(&c->pid_poll, UV_READABLE, on_process_end);
    assert(r == 0);
    r = uv_read_start((uv_stream_t *)&c->stderr_pipe, on_alloc, on_text);
    assert(r == 0);
    return 0;
}

static int spawn(struct module_compile *c, const struct module_compile_opts *o, struct err *err)
{
    const char *args[8] = { o->path };
    size_t n = 1;
    if (o->keep_names)
        args[n++] = "--names";
    if (o->is_quick)
        args[n++] = "--quick";
    if (o->is_background)
        args[n++] = "--background";
    args[n++] = "fd:3";
    args[n++] = "fd:4";
    args[n++] = "fd:5";
    char *env[] = { NULL };
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_sys(err, -errno, "start '%s'", o->path);
    const int fds[] = { memory_group_stdin(), -1, ends[1], o->wasm_fd, o->code_fd, o->info_fd };
    const struct confine_child child = { .path = o->path,
                                         .argv = (char *const *)args,
                                         .envp = env,
                                         .fds = fds,
                                         .n_fds = ARRAY_LEN(fds),
                                         .shares_namespaces = o->shares_processes };
    int r = start_child(c, &child, &ends[0], err);
    fd_scoped(&ends[0]);
    fd_scoped(&ends[1]);
    return r;
}

int module_compile_start(struct loop *loop, const struct module_compile_opts *opts,
                         module_compile_cb cb, void *arg, struct module_compile **ret,
                         struct err *err)
{
    struct module_compile *c = xnew(struct module_compile);
    c->loop = loop;
    c->n_handles = 1;
    c->pidfd = -1;
    c->pid_poll.data = c;
    c->stderr_pipe.data = c;
    int r = uv_pipe_init(&loop->uv, &c->stderr_pipe, 0);
    if (r < 0) {
        free(c);
        return err_sys(err, r, "start '%s'", opts->path);
    }
    r = spawn(c, opts, err);
    if (r < 0) {
        uv_close((uv_handle_t *)&c->stderr_pipe, on_closed);
        return r;
    }
    c->cb = cb;
    c->arg = arg;
    timer_start(loop, &c->timeout, opts->timeout_ms, on_timeout);
    *ret = c;
    return 0;
}
