/* SPDX-License-Identifier: Apache-2.0 */
#include "container/foreground.h"

#include "base/mem.h"
#include "container/program.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum { STATUS_SIGNAL = 128, STATUS_NO_RUNTIME = 127, STACK_BYTES = 64 << 10 };

struct foreground_runtime {
    const char *const *argv;
    int alive[2]; /* closed with the parent, which may end before the child asks for its signal */
};

/* ---- the runtime ---- */

/* In a user namespace the mounts of the one above cannot be undone, only covered. */
static void hide_second_hierarchy(void)
{
    static const char path[] = "/sys/fs/cgroup/unified";
    struct statfs fs;
    (void)umount2(path, MNT_DETACH);
    if (statfs(path, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC)
        (void)mount("tmpfs", path, "tmpfs", MS_RDONLY, NULL);
}

/*
 * The first process of the PID namespace, in its own mount namespace: /proc must show this
 * namespace, and crun refuses machines with both versions of cgroups unless the second is hidden.
 * Other threads of the parent may have held locks of its memory: only system calls are allowed.
 */
static int be_runtime(void *arg)
{
    const struct foreground_runtime *r = arg;
    const char *const *argv = r->argv;
    sigset_t none;
    struct pollfd parent = { .fd = r->alive[0], .events = POLLIN };
    const char *what = "prepare the runtime";
    (void)sigemptyset(&none);
    (void)close(r->alive[1]);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 && poll(&parent, 1, 0) == 0 &&
        unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0 &&
        mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0) {
        hide_second_hierarchy();
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
        what = argv[0];
        (void)execv(argv[0], (char *const *)argv);
    }
    (void)dprintf(STDERR_FILENO, "error: %s: %s\n", what, err_strerror(-errno));
    _exit(STATUS_NO_RUNTIME);
}

static int start(const char *program, const char *bundle, const char *id, struct err *err)
{
    scoped(free_scoped) char *root = xasprintf("%s/runtime", bundle);
    const char *argv[12] = { program, "--root", root };
    size_t n = 3;
    if (container_program_is_crun(program))
        argv[n++] = "--cgroup-manager=disabled";
    argv[n++] = "run";
    argv[n++] = "--bundle";
    argv[n++] = bundle;
    argv[n++] = id;
    struct foreground_runtime runtime = { .argv = argv };
    scoped(free_scoped) char *stack = xalloc(STACK_BYTES); /* the child has a copy of it */
    if (pipe2(runtime.alive, O_CLOEXEC) < 0)
        return err_sys(err, -errno, "pipe");
    /* Not unshare(): after it this thread could start nothing more once the runtime has ended. */
    int pid = clone(be_runtime, stack + STACK_BYTES, CLONE_NEWPID | SIGCHLD, &runtime);
    int r = pid < 0 ? err_sys(err, -errno, "start '%s'", program) : pid;
    (void)close(runtime.alive[0]); /* the other end stays open until this process ends */
    return r;
}

/* ---- waiting ---- */

/* A terminal sends its signals to all processes in its foreground, the runtime among them. */
static bool is_to_pass_on(const siginfo_t *s)
{
    return s->si_signo != SIGCHLD && s->si_code <= 0;
}

static int wait_for(int pid, const sigset_t *signals)
{
    for (;;) {
        int status;
        siginfo_t s;
        if (waitpid(pid, &status, WNOHANG) == pid)
            return WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_SIGNAL + WTERMSIG(status);
        if (sigwaitinfo(signals, &s) <= 0)
            continue;
        if (s.si_signo == CONTAINER_FOREGROUND_KILL)
            (void)kill(pid, s.si_pid == getpid() ? SIGKILL : s.si_signo);
        else if (is_to_pass_on(&s))
            (void)kill(pid, s.si_signo);
    }
}

void container_foreground_kill(void)
{
    (void)kill(getpid(), CONTAINER_FOREGROUND_KILL);
}

int container_foreground_run(const char *program, const char *bundle, const char *id,
                             int *ret_status, struct err *err)
{
    static const int passed[] = { SIGCHLD, SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                                  SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH };
    sigset_t signals;
    (void)sigemptyset(&signals);
    for (size_t i = 0; i < ARRAY_LEN(passed); i++)
        (void)sigaddset(&signals, passed[i]);
    (void)sigaddset(&signals, CONTAINER_FOREGROUND_KILL);
    if (sigprocmask(SIG_BLOCK, &signals, NULL) < 0)
        return err_sys(err, -errno, "block signals");
    struct termios terminal; /* the runtime makes it raw, and back unless it is killed */
    bool has_terminal = tcgetattr(STDIN_FILENO, &terminal) == 0;
    int pid = start(program, bundle, id, err);
    if (pid < 0)
        return pid;
    *ret_status = wait_for(pid, &signals);
    if (has_terminal && *ret_status == STATUS_SIGNAL + SIGKILL)
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &terminal);
    return 0;
}
