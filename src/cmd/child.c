/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/child.h"

#include "base/clock.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIGNAL_STATUS = 128, EXEC_FAILED = 127, READ_BYTES = 64 << 10 };

struct cmd_child {
    const struct child_opts *opts;
    pid_t pid;
    int out_fd;
    uint64_t tick_at;
};

/* After fork: only calls that are safe there. */
static _Noreturn void become(char *const *argv, int out_fd, pid_t parent)
{
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != parent ||
        dup2(out_fd, STDOUT_FILENO) < 0)
        _exit(EXEC_FAILED);
    (void)execv("/proc/self/exe", argv);
    _exit(EXEC_FAILED);
}

static int start(struct cmd_child *c, struct err *err)
{
    int ends[2];
    pid_t parent = getpid();
    VEC(char *) argv = { 0 };
    vec_push(&argv, (char *)"dormouse");
    for (size_t i = 0; c->opts->words[i]; i++)
        vec_push(&argv, (char *)c->opts->words[i]);
    vec_push(&argv, NULL);
    if (pipe2(ends, O_CLOEXEC) < 0) {
        int r = -errno;
        vec_fini(&argv);
        return err_sys(err, r, "start a child");
    }
    c->pid = fork();
    int code = errno;
    if (c->pid == 0)
        become(argv.p, ends[1], parent);
    (void)close(ends[1]);
    vec_fini(&argv);
    if (c->pid < 0) {
        (void)close(ends[0]);
        return err_sys(err, -code, "start a child");
    }
    c->out_fd = ends[0];
    return 0;
}

static int take_output(struct cmd_child *c, struct buf *out, struct err *err)
{
    static char room[READ_BYTES];
    ssize_t n = read(c->out_fd, room, sizeof room);
    if (n < 0)
        return errno == EINTR ? 1 : err_sys(err, -errno, "read from a child");
    int r = n > 0 ? buf_add(out, room, (size_t)n) : 0;
    return r < 0 ? err_set(err, r, "a child writes too much") : n > 0;
}

static int tick(struct cmd_child *c, struct err *err)
{
    if (!c->opts->tick_ms || clock_mono_ms() < c->tick_at)
        return 0;
    c->tick_at = clock_mono_ms() + c->opts->tick_ms;
    return c->opts->tick(c->opts->arg, err);
}

/* Until it closes its output. */
static int watch(struct cmd_child *c, struct buf *out, struct err *err)
{
    for (;;) {
        struct pollfd fds[2] = { { .fd = c->out_fd, .events = POLLIN },
                                 { .fd = c->opts->stop_fd, .events = POLLIN } };
        uint64_t now = clock_mono_ms();
        int wait = !c->opts->tick_ms ? -1 : c->tick_at > now ? (int)(c->tick_at - now) : 0;
        if (poll(fds, 2, wait) < 0 && errno != EINTR)
            return err_sys(err, -errno, "wait for a child");
        if (fds[1].revents)
            return err_set(err, -ECANCELED, "ended by a signal");
        int r = fds[0].revents ? take_output(c, out, err) : 1;
        if (r <= 0)
            return r;
        r = tick(c, err);
        if (r < 0)
            return r;
    }
}

int child_run(const struct child_opts *opts, struct buf *out, struct err *err)
{
    struct cmd_child c = { .opts = opts, .tick_at = clock_mono_ms() + opts->tick_ms };
    int status = 0, r = start(&c, err);
    if (r < 0)
        return r;
    r = watch(&c, out, err);
    if (r < 0)
        (void)kill(c.pid, SIGKILL);
    (void)close(c.out_fd);
    while (waitpid(c.pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (r < 0)
        return r;
    return WIFEXITED(status) ? WEXITSTATUS(status) : SIGNAL_STATUS + WTERMSIG(status);
}
