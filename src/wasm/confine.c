/* SPDX-License-Identifier: Apache-2.0 */
/* Dropping access to files, networks and privileges; see confine.h. */
#include "wasm/confine.h"

#include "base/mem.h"
#include "base/sanitizer.h"
#include "base/sys.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

void confine_oom(void)
{
    char text[16];
    scoped(fd_scoped) int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    int n = snprintf(text, sizeof text, "%d", CONFINE_OOM_SCORE);
    if (fd >= 0)
        (void)sys_write_all(fd, text, (size_t)n);
}

static bool has_memory_group;

int confine_take_memory(void)
{
    struct statfs fs;
    if (fstatfs(STDIN_FILENO, &fs) < 0 ||
        (fs.f_type != CGROUP_SUPER_MAGIC && fs.f_type != CGROUP2_SUPER_MAGIC))
        return -1;
    int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    (void)close(STDIN_FILENO);
    (void)open("/dev/null", O_RDONLY); /* gets the lowest free number */
    has_memory_group = fd >= 0;
    return fd;
}

void confine_join_memory(int procs_fd)
{
    if (procs_fd < 0)
        return;
    (void)sys_write_all(procs_fd, "0", 1); /* a cgroup that was removed meanwhile limits nothing */
    (void)close(procs_fd);
}

const char *confine_word(enum confine_part part)
{
    static const char *const words[] = {
#define CONFINE_WORD(name, word) word,
        CONFINE_PARTS(CONFINE_WORD)
#undef CONFINE_WORD
    };
    return words[part];
}

/* r: 0, or a negative code. */
static void note(struct confine_report *to, enum confine_part part, int r)
{
    if (r >= 0)
        to->in_force |= 1u << part;
    else if (!to->refused)
        to->refused = r;
}

/* Make an empty file system the root and detach the old tree. It is mounted over /proc because that
 * directory exists. */
static int hide_files(void)
{
    static const char dir[] = "/proc";
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("none", dir, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
              "size=4k,mode=555") < 0 ||
        chdir(dir) < 0)
        return -errno;
    if (syscall(SYS_pivot_root, ".", ".") == 0)
        (void)umount2(".", MNT_DETACH);
    else if (chroot(".") < 0) /* the root is not a mount point */
        return -errno;
    return chdir("/") < 0 ? -errno : 0;
}

static int unshare_one(int flag)
{
    return unshare(flag) < 0 ? -errno : 0;
}

static void make_namespaces(struct confine_report *to)
{
    int r = geteuid() != 0 ? unshare_one(CLONE_NEWUSER) : 0;
    note(to, CONFINE_PROCESSES, getpid() == 1 ? 0 : -EPERM);
    note(to, CONFINE_NETWORK, r < 0 ? r : unshare_one(CLONE_NEWNET));
    note(to, CONFINE_IPC, r < 0 ? r : unshare_one(CLONE_NEWIPC));
    note(to, CONFINE_FILES, r < 0 ? r : hide_files());
}

/* Root in a container may lack the right to change its identity, or the id may not be mapped: then
 * the process keeps its identity. */
static int drop_root(struct err *err)
{
    if (geteuid() != 0)
        return 0;
    if (setgroups(0, NULL) < 0 && errno != EPERM)
        return err_sys(err, -errno, "leave the supplementary groups");
    if (setresgid(CONFINE_ID, CONFINE_ID, CONFINE_ID) < 0 && errno != EPERM && errno != EINVAL)
        return err_sys(err, -errno, "change the group");
    if (setresuid(CONFINE_ID, CONFINE_ID, CONFINE_ID) < 0 && errno != EPERM && errno != EINVAL)
        return err_sys(err, -errno, "change the user");
    return 0;
}

static int drop_capabilities(struct err *err)
{
    (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };
    if (syscall(SYS_capset, &header, none) < 0)
        return err_sys(err, -errno, "drop the capabilities");
    return 0;
}

int confine_enter(struct confine_report *ret, struct err *err)
{
    struct confine_report report = { 0 };
    make_namespaces(&report);
    /* Changing the bounding set needs a capability that the change of user removes. */
    for (unsigned long cap = 0; prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0; cap++)
        continue;
    int r = drop_root(err);
    if (r >= 0)
        r = drop_capabilities(err);
    if (r < 0)
        return r;
    note(&report, CONFINE_MEMORY, has_memory_group ? 0 : -ENOENT);
    note(&report, CONFINE_USER, getuid() == CONFINE_ID ? 0 : -EPERM);
    *ret = report;
    return 0;
}

/* ---- starting ---- */

enum { SPAWN_STACK_BYTES = 64 << 10, SPAWN_FDS_MAX = 8 };

/* ThreadSanitizer keeps its state in memory and would attribute the child's accesses to this
 * process. */
enum { SPAWN_FLAGS = CLONE_VFORK | SIGCHLD | (HAS_TSAN ? 0 : CLONE_VM) };

/*
 * The data that the child reads and writes before its exec. Until then it shares our memory
 * (CLONE_VM) and this thread waits (CLONE_VFORK), as in posix_spawn(), which cannot create
 * namespaces. So the child has its own stack, makes only system calls, and runs no signal handler,
 * because all signals are blocked. This struct is in memory that is shared in any case; the stack
 * comes from malloc(), so that AddressSanitizer knows when it is not in use any more.
 */
struct spawning {
    const struct confine_child *child;
    bool has_user_namespace;
    char uid_map[64], gid_map[64];
    int error; /* errno of the call that failed */
};

static bool write_proc(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool is_written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        (void)close(fd);
    return is_written;
}

/* Without a mapping the runner could not create its own namespaces (user_namespaces(7)). */
static bool map_ids(const struct spawning *s)
{
    return write_proc("/proc/self/setgroups", "deny") &&
           write_proc("/proc/self/uid_map", s->uid_map) &&
           write_proc("/proc/self/gid_map", s->gid_map);
}

/* First copy all descriptors beyond the target numbers, so that none is closed before it was
 * copied. */
static bool place_fds(const struct confine_child *c)
{
    int copies[SPAWN_FDS_MAX];
    for (size_t i = 0; i < c->n_fds; i++) {
        int from = c->fds[i] < 0 ? open("/dev/null", O_RDWR | O_CLOEXEC) : c->fds[i];
        copies[i] = from < 0 ? -1 : fcntl(from, F_DUPFD_CLOEXEC, SPAWN_FDS_MAX);
        if (copies[i] < 0)
            return false;
    }
    for (size_t i = 0; i < c->n_fds; i++)
        if (dup2(copies[i], (int)i) < 0)
            return false;
    return true;
}

static void default_signals(void)
{
    const struct sigaction plain = { .sa_handler = SIG_DFL };
    sigset_t none;
    for (int i = 1; i < NSIG; i++)
        (void)sigaction(i, &plain, NULL); /* SIGKILL and SIGSTOP cannot be changed */
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static int spawned_main(void *arg)
{
    struct spawning *s = arg;
    if ((!s->has_user_namespace || map_ids(s)) && place_fds(s->child)) {
        default_signals();
        (void)execve(s->child->path, s->child->argv, s->child->envp);
    }
    s->error = errno;
    _exit(127);
}

/* 0: the child has executed its program. */
static int spawn_with(struct spawning *s, char *stack, int flags, int *ret_pid)
{
    s->error = 0;
    s->has_user_namespace = (flags & CLONE_NEWUSER) != 0;
    int pid = clone(spawned_main, stack + SPAWN_STACK_BYTES, flags | SPAWN_FLAGS, s);
    if (pid < 0)
        return -errno;
    if (s->error == 0) {
        *ret_pid = pid;
        return 0;
    }
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    return -s->error;
}

#if HAS_SANITIZER
enum { ENVIRONMENT_MAX = 16 };

/* The child's environment, and this process's sanitizer variables, for its reports. */
static void add_sanitizer_options(const struct confine_child *child, char *ret[ENVIRONMENT_MAX])
{
    size_t n = 0;
    for (; child->envp[n]; n++) {
        assert(n + 4 < ENVIRONMENT_MAX);
        ret[n] = child->envp[n];
    }
    for (char **e = environ; *e; e++)
        if (strncmp(*e, "ASAN_OPTIONS=", 13) == 0 || strncmp(*e, "UBSAN_OPTIONS=", 14) == 0 ||
            strncmp(*e, "TSAN_OPTIONS=", 13) == 0)
            if (n + 1 < ENVIRONMENT_MAX)
                ret[n++] = *e;
    ret[n] = NULL;
}
#endif

int confine_spawn(const struct confine_child *child, struct err *err)
{
    int flags = geteuid() == 0 ? CLONE_NEWPID : CLONE_NEWPID | CLONE_NEWUSER, pid;
#if HAS_SANITIZER /* it looks up its threads in /proc by their ids in main's namespace */
    flags = 0;
    char *environment[ENVIRONMENT_MAX];
    add_sanitizer_options(child, environment);
    struct confine_child reporting = *child;
    reporting.envp = environment;
    child = &reporting;
#endif
    if (child->shares_namespaces)
        flags = 0;
    sigset_t all, old;
    void *shared;
    assert(child->n_fds <= SPAWN_FDS_MAX);
    scoped(free_scoped) char *stack = mem_try(SPAWN_STACK_BYTES);
    if (!stack)
        return err_set(err, -ENOMEM, "start '%s'", child->path);
    int r = sys_mmap(NULL, sizeof(struct spawning), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0, &shared);
    if (r < 0)
        return err_sys(err, r, "start '%s'", child->path);
    struct spawning *s = shared;
    s->child = child;
    (void)snprintf(s->uid_map, sizeof s->uid_map, "%u %u 1", geteuid(), geteuid());
    (void)snprintf(s->gid_map, sizeof s->gid_map, "%u %u 1", getegid(), getegid());
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &old);
    r = spawn_with(s, stack, flags, &pid);
    if (r < 0 && flags)
        r = spawn_with(s, stack, 0, &pid);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    (void)munmap(shared, sizeof(struct spawning));
    return r < 0 ? err_sys(err, r, "start '%s'", child->path) : pid;
}

int confine_signal(int pid, int signal)
{
    if (kill(pid, signal) == 0)
        return 0;
    if (errno != EPERM || geteuid() != 0)
        return -errno;
    int status, helper = fork();
    if (helper < 0)
        return -errno;
    if (helper == 0) {
        if (syscall(SYS_setresuid, CONFINE_ID, CONFINE_ID, CONFINE_ID) < 0 || kill(pid, signal) < 0)
            _exit(1);
        _exit(0);
    }
    while (waitpid(helper, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EPERM;
}
