/* SPDX-License-Identifier: Apache-2.0 */
/* Processes by pidfd; see process.h. */
#include "io/process.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/sys.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    ADOPTION_MS = 5, /* between checks whether its parent has ended too, */
    ADOPTION_TRIES = 200,
    UNKNOWN_YET = PROCESS_UNKNOWN - 1
};

struct process {
    struct loop *loop;
    uv_poll_t poll;
    struct timer adoption; /* it has ended but is not a child of this process yet */
    unsigned tries;
    bool will_be_ours;
    int fd, pid;
    process_exit_cb on_exit;
    void *arg;
};

static void on_closed(uv_handle_t *h)
{
    struct process *p = h->data;
    assert(p->fd >= 0 && !timer_is_armed(&p->adoption));
    (void)close(p->fd);
    free(p);
}

static int read_status(const struct process *p)
{
    siginfo_t info = { 0 };
    int r;
    do
        r = waitid(P_PIDFD, (id_t)p->fd, &info, WEXITED | WNOHANG);
    while (r < 0 && errno == EINTR);
    if (r < 0 || info.si_pid == 0)
        return p->will_be_ours && p->tries < ADOPTION_TRIES ? UNKNOWN_YET : PROCESS_UNKNOWN;
    return info.si_code == CLD_EXITED ? info.si_status : -info.si_status;
}

static void on_adoption(struct timer *t);

static void tell(struct process *p)
{
    assert(!uv_is_closing((uv_handle_t *)&p->poll) && !timer_is_armed(&p->adoption));
    int code = read_status(p);
    if (code == UNKNOWN_YET) {
        assert(p->will_be_ours && p->tries < ADOPTION_TRIES);
        p->tries++;
        timer_start(p->loop, &p->adoption, ADOPTION_MS, on_adoption);
        return;
    }
    uv_close((uv_handle_t *)&p->poll, on_closed);
    p->on_exit(p, code, p->arg);
}

static void on_adoption(struct timer *t)
{
    tell(container_of(t, struct process, adoption));
}

static void on_ready(uv_poll_t *h, int status, int events)
{
    (void)uv_poll_stop(h);
    tell(h->data);
}

static bool is_from(int pid, uint64_t start_ticks)
{
    struct process_facts f;
    return process_facts(pid, &f) == 0 && f.start_ticks == start_ticks;
}

int process_watch(struct loop *loop, int pid, uint64_t start_ticks, bool will_be_ours,
                  process_exit_cb on_exit, void *arg, struct process **ret, struct err *err)
{
    assert(on_exit);
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0)
        return err_sys(err, -errno, "process %d", pid);
    if (start_ticks && !is_from(pid, start_ticks)) { /* checked while fd pins the process */
        (void)close(fd);
        return err_sys(err, -ESRCH, "process %d", pid);
    }
    struct process *p = xnew(struct process);
    *p = (struct process){ .loop = loop,
                           .will_be_ours = will_be_ours,
                           .fd = fd,
                           .pid = pid,
                           .on_exit = on_exit,
                           .arg = arg };
    int r = uv_poll_init(&loop->uv, &p->poll, fd);
    if (r < 0) {
        (void)close(fd);
        free(p);
        return err_sys(err, r, "watch process %d", pid);
    }
    p->poll.data = p;
    (void)uv_poll_start(&p->poll, UV_READABLE, on_ready);
    *ret = p;
    return 0;
}

/*
 * Runs in the child, which shares our memory until execve(): system calls only. Returns the errno
 * of the call that failed.
 */
static int become(const struct process_opts *o)
{
    struct sigaction plain = { .sa_handler = SIG_DFL };
    sigset_t none;
    for (int s = 1; s < NSIG; s++)
        if (s != SIGKILL && s != SIGSTOP)
            (void)sigaction(s, &plain, NULL);
    (void)sigemptyset(&none);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (o->has_session)
        (void)setsid();
    /* Covered, not unmounted: that would wait for an RCU grace period, and the parent with it.
     * Private, so that it is not covered elsewhere. */
    if (o->covered &&
        (unshare(CLONE_NEWNS) < 0 || mount("none", o->covered_in, NULL, MS_PRIVATE, NULL) < 0 ||
         mount("none", o->covered, "tmpfs", 0, "mode=755") < 0))
        return errno;
    if (dup2(o->in, 0) < 0 || dup2(o->out, 1) < 0 || dup2(o->err_out, 2) < 0)
        return errno;
    (void)syscall(SYS_close_range, 3, ~0U, 4 /* CLOSE_RANGE_CLOEXEC */);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)execve(o->argv[0], (char *const *)(uintptr_t)o->argv, (char *const *)(uintptr_t)o->env);
    return errno;
}

int process_spawn(struct loop *loop, const struct process_opts *o, struct process **ret,
                  struct err *err)
{
    volatile int failed = 0;
    sigset_t all, before;
    /* So dup2() does not overwrite one of them. */
    assert(o->in > 2 && o->out > 2 && o->err_out > 2);
    assert(o->argv && o->argv[0]);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = vfork(); // NOLINT: posix_spawn() cannot make a namespace
    if (pid == 0) {
        failed = become(o); // NOLINT: system calls only
        _exit(127);
    }
    int code = errno;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (pid < 0)
        return err_sys(err, -code, "start '%s'", o->argv[0]);
    if (failed) {
        (void)waitpid(pid, NULL, 0);
        return err_sys(err, -failed, "start '%s'", o->argv[0]);
    }
    int r = process_watch(loop, pid, 0, true, o->on_exit, o->arg, ret, err);
    if (r < 0) {
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
    }
    return r;
}

void process_release(struct process *p)
{
    timer_stop(p->loop, &p->adoption);
    uv_close((uv_handle_t *)&p->poll, on_closed);
}

int process_pid(const struct process *p)
{
    return p->pid;
}

void process_signal(struct process *p, int signum)
{
    assert(p->fd >= 0);
    (void)syscall(SYS_pidfd_send_signal, p->fd, signum, NULL, 0);
}

bool process_kill_if(int pid, bool (*is_it)(void *arg, int pid), void *arg)
{
    scoped(fd_scoped) int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0 || !is_it(arg, pid))
        return false;
    (void)syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0); /* no effect if it has ended */
    return true;
}

/* /proc/PID/stat: the name, which may hold any character (proc(5)), then fields 3, 4, 6, 22 and
 * 23. */
int process_facts(int pid, struct process_facts *ret)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(4096);
    char path[64];
    struct err ignored;
    uint64_t n[24] = { 0 };
    (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
    if (sys_read_file(AT_FDCWD, path, &text, &ignored) < 0)
        return -ESRCH;
    const char *name = strchr(buf_cstr(&text), '('), *end = strrchr(buf_cstr(&text), ')');
    struct str left = str_trim(str_of(end ? end + 1 : "")), word = STR_NULL;
    char state = left.n ? left.p[0] : '?';
    for (int field = 3; field <= 23; field++) {
        (void)str_cut(left, ' ', &word, &left);
        (void)parse_u64(word, 0, UINT64_MAX, &n[field]);
    }
    *ret = (struct process_facts){ .state = state,
                                   .parent = (int)n[4],
                                   .session = (int)n[6],
                                   .start_ticks = n[22],
                                   .has_memory = n[23] > 0 };
    if (name && end > name)
        (void)snprintf(ret->name, sizeof ret->name, "%.*s", (int)(end - name - 1), name + 1);
    return 0;
}

/* runc's children set their name to "runc:[1:CHILD]". */
bool process_is_program(const struct process_facts *f, const char *program)
{
    size_t n = strnlen(program, PROCESS_NAME_SIZE - 1);
    return strncmp(f->name, program, n) == 0 && (f->name[n] == '\0' || f->name[n] == ':');
}

bool process_is_helper(const struct process_facts *f, const char *program)
{
    size_t n = strnlen(program, PROCESS_NAME_SIZE - 1);
    return process_is_program(f, program) && f->name[n] == ':';
}

bool process_reap_stray(int pid, const char *program)
{
    struct process_facts f;
    if (process_facts(pid, &f) < 0 || f.parent != getpid() || f.state != 'Z' ||
        f.session == getsid(0))
        return false;
    if (f.session == pid && !(program && process_is_program(&f, program)))
        return false;
    return waitpid(pid, NULL, WNOHANG) == pid;
}

bool process_reap_helper(int pid, const char *program)
{
    struct process_facts f;
    return process_reap_stray(pid, NULL) ||
           (process_facts(pid, &f) == 0 && process_is_helper(&f, program) &&
            process_reap_stray(pid, program));
}

bool process_reap_any_stray(void)
{
    enum { CHILDREN_MAX_BYTES = 1 << 20 };
    char path[64];
    struct err ignored;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(CHILDREN_MAX_BYTES);
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    if (sys_read_file(AT_FDCWD, path, &text, &ignored) < 0)
        return false; /* the kernel may lack this file */
    bool found = false;
    struct str left = str_trim(buf_str(&text)), word;
    while (left.n) {
        uint64_t pid;
        (void)str_cut(left, ' ', &word, &left);
        if (parse_u64(word, 2, INT_MAX, &pid) >= 0)
            found |= process_reap_stray((int)pid, NULL);
    }
    return found;
}
