/* SPDX-License-Identifier: Apache-2.0 */
/* Failing calls, caught by the linker, and the runs that make each of them fail; see torture.h. */
#include "torture.h"

#include "base/mem.h"
#include "base/sanitizer.h"
#include "io/loop.h"
#include "test.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#if HAS_ASAN
#include <sanitizer/lsan_interface.h>
#endif

enum {
    RUNS_SAMPLED = 120,   /* failures of a scenario, unless all are asked for */
    RUN_SECONDS_MAX = 60, /* a child that takes longer waits for what never comes */
    LASTS_MAX =
        1000, /* a failure that lasts ends after so many calls: some are tried until it does */
    WAYS_MAX = 16,
    FRAMES_MAX = 24,
};

/* ------------------------------------------------------------------ what fails, and how */

enum way_kind { WAY_ONCE, WAY_LASTS, WAY_EINTR, WAY_SHORT };

struct way {
    enum way_kind kind;
    int error;
};

/* Shared by a run and the test that watches it. */
static struct page {
    bool is_on, is_sequence_kept;
    unsigned calls;    /* since torture_on() */
    unsigned nth, way; /* what fails; 0: nothing */
    /* What has: */
    bool has_struck;
    struct way struck;
    unsigned lasted;
    unsigned n_ways; /* that the call has */
    char call[24];
    void *frames[FRAMES_MAX];
    int n_frames;
} * page;

/* This thread is inside the injection, or in code of the test. */
static _Thread_local bool is_inside;

/* errno values that fit a call, ended by 0. The first ones are the likely ones. */
struct kind {
    const char *name;
    const int errors[4];
    bool is_interruptible, can_be_short;
};

static unsigned ways_of(const struct kind *k, const int *errors, bool is_stream, struct way ways[])
{
    unsigned n = 0;
    for (const int *e = errors; *e; e++)
        ways[n++] = (struct way){ WAY_ONCE, *e };
    for (const int *e = errors; *e; e++)
        ways[n++] = (struct way){ WAY_LASTS, *e };
    if (k->is_interruptible)
        ways[n++] = (struct way){ WAY_EINTR, EINTR };
    if (k->can_be_short && is_stream)
        ways[n++] = (struct way){ WAY_SHORT, 0 };
    return n;
}

static bool has_error(const int *errors, int error)
{
    for (; *errors; errors++)
        if (*errors == error)
            return true;
    return false;
}

static void note_strike(const struct kind *k, struct way way, unsigned n_ways)
{
    page->struck = way;
    page->n_ways = n_ways;
    (void)snprintf(page->call, sizeof page->call, "%s", k->name);
    page->n_frames = backtrace(page->frames, FRAMES_MAX);
    __atomic_store_n(&page->has_struck, true, __ATOMIC_RELEASE);
}

/* 0: make the call. Else an errno value, or -1: make it with less than what was asked for. */
static int strike(const struct kind *k, const int *errors, bool is_stream)
{
    struct way ways[WAYS_MAX];
    if (!page || !__atomic_load_n(&page->is_on, __ATOMIC_ACQUIRE) || is_inside)
        return 0;
    unsigned n_ways = ways_of(k, errors, is_stream, ways);
    if (n_ways == 0)
        return 0;
    if (__atomic_load_n(&page->has_struck, __ATOMIC_ACQUIRE) && page->struck.kind == WAY_LASTS) {
        bool fails = has_error(errors, page->struck.error) &&
                     __atomic_add_fetch(&page->lasted, 1, __ATOMIC_RELAXED) < LASTS_MAX;
        return fails ? page->struck.error : 0;
    }
    unsigned at = __atomic_add_fetch(&page->calls, 1, __ATOMIC_RELAXED);
    if (at != page->nth)
        return 0;
    is_inside = true;
    struct way way = ways[page->way % n_ways];
    note_strike(k, way, n_ways);
    is_inside = false;
    return way.kind == WAY_SHORT ? -1 : way.error;
}

static int strike_call(const struct kind *k)
{
    return strike(k, k->errors, true);
}

/* ------------------------------------------------------------------ the calls */

/*
 * CAUGHT(result on error, result, name, parameters, arguments, errors..): __wrap_NAME() is what the
 * program calls, __real_NAME() what libc has.
 */
#define REAL(type, name, params) type __real_##name params
#define CAUGHT(type, name, params, args, bad, ...)                                                 \
    REAL(type, name, params);                                                                      \
    type __wrap_##name params;                                                                     \
    type __wrap_##name params                                                                      \
    {                                                                                              \
        static const struct kind kind = { #name, __VA_ARGS__ };                                    \
        int e = strike_call(&kind);                                                                \
        if (e == 0)                                                                                \
            return __real_##name args;                                                             \
        errno = e;                                                                                 \
        return bad;                                                                                \
    }
#define ERRORS(...) .errors = { __VA_ARGS__, 0 }

/* A new descriptor. */
static const struct kind opening = { "open", ERRORS(EMFILE, EIO) };
static const struct kind creating = { "open to write", ERRORS(ENOSPC, EMFILE, EIO) };

static int strike_open(int flags)
{
    bool writes = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
    int e = strike_call(writes ? &creating : &opening);
    if (e)
        errno = e;
    return e;
}

#define CAUGHT_OPEN(name, params, args)                                                            \
    REAL(int, name, params);                                                                       \
    int __wrap_##name params;                                                                      \
    int __wrap_##name params                                                                       \
    {                                                                                              \
        return strike_open(flags) ? -1 : __real_##name args;                                       \
    }
CAUGHT_OPEN(open, (const char *path, int flags, mode_t mode), (path, flags, mode))
CAUGHT_OPEN(open64, (const char *path, int flags, mode_t mode), (path, flags, mode))
CAUGHT_OPEN(openat, (int dir, const char *path, int flags, mode_t mode), (dir, path, flags, mode))
CAUGHT_OPEN(openat64, (int dir, const char *path, int flags, mode_t mode), (dir, path, flags, mode))
CAUGHT_OPEN(__open64_2, (const char *path, int flags), (path, flags))
CAUGHT(FILE *, fopen, (const char *path, const char *mode), (path, mode), NULL, ERRORS(EMFILE, EIO))
CAUGHT(FILE *, fopen64, (const char *path, const char *mode), (path, mode), NULL,
       ERRORS(EMFILE, EIO))
CAUGHT(DIR *, opendir, (const char *path), (path), NULL, ERRORS(EMFILE, EIO))
CAUGHT(DIR *, fdopendir, (int fd), (fd), NULL, ERRORS(ENOMEM))
CAUGHT(int, mkstemp64, (char *template), (template), -1, ERRORS(ENOSPC, EMFILE))
CAUGHT(char *, mkdtemp, (char *template), (template), NULL, ERRORS(ENOSPC))
CAUGHT(int, memfd_create, (const char *name, unsigned flags), (name, flags), -1,
       ERRORS(EMFILE, ENOMEM))
CAUGHT(int, pipe2, (int fds[2], int flags), (fds, flags), -1, ERRORS(EMFILE))
CAUGHT(int, socket, (int domain, int type, int protocol), (domain, type, protocol), -1,
       ERRORS(EMFILE, ENOBUFS))
CAUGHT(int, socketpair, (int domain, int type, int protocol, int fds[2]),
       (domain, type, protocol, fds), -1, ERRORS(EMFILE, ENOMEM))
CAUGHT(int, epoll_create1, (int flags), (flags), -1, ERRORS(EMFILE))
CAUGHT(int, eventfd, (unsigned value, int flags), (value, flags), -1, ERRORS(EMFILE))
CAUGHT(int, inotify_init1, (int flags), (flags), -1, ERRORS(EMFILE))
CAUGHT(int, inotify_add_watch, (int fd, const char *path, uint32_t mask), (fd, path, mask), -1,
       ERRORS(ENOSPC))
CAUGHT(int, dup3, (int from, int to, int flags), (from, to, flags), -1, ERRORS(EMFILE))

/* Files and directories. */
CAUGHT(int, fsync, (int fd), (fd), -1, ERRORS(EIO, ENOSPC))
CAUGHT(int, fdatasync, (int fd), (fd), -1, ERRORS(EIO, ENOSPC))
CAUGHT(int, rename, (const char *from, const char *to), (from, to), -1, ERRORS(ENOSPC, EIO))
CAUGHT(int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to), -1,
       ERRORS(ENOSPC, EIO))
CAUGHT(int, link, (const char *from, const char *to), (from, to), -1, ERRORS(ENOSPC, EIO))
CAUGHT(int, linkat, (int a, const char *from, int b, const char *to, int flags),
       (a, from, b, to, flags), -1, ERRORS(ENOSPC, EIO))
CAUGHT(int, unlink, (const char *path), (path), -1, ERRORS(EIO))
CAUGHT(int, unlinkat, (int dir, const char *path, int flags), (dir, path, flags), -1, ERRORS(EIO))
CAUGHT(int, rmdir, (const char *path), (path), -1, ERRORS(EIO))
CAUGHT(int, mkdir, (const char *path, mode_t mode), (path, mode), -1, ERRORS(ENOSPC, EIO))
CAUGHT(int, mkdirat, (int dir, const char *path, mode_t mode), (dir, path, mode), -1,
       ERRORS(ENOSPC, EIO))
CAUGHT(int, ftruncate64, (int fd, off_t size), (fd, size), -1, ERRORS(ENOSPC, EIO))
CAUGHT(int, fallocate64, (int fd, int mode, off_t at, off_t n), (fd, mode, at, n), -1,
       ERRORS(ENOSPC, EIO))
CAUGHT(int, fchmod, (int fd, mode_t mode), (fd, mode), -1, ERRORS(EIO))
CAUGHT(int, fstat64, (int fd, struct stat *ret), (fd, ret), -1, ERRORS(EIO))
CAUGHT(int, stat64, (const char *path, struct stat *ret), (path, ret), -1, ERRORS(EIO))
CAUGHT(int, lstat64, (const char *path, struct stat *ret), (path, ret), -1, ERRORS(EIO))
CAUGHT(int, fstatat64, (int dir, const char *path, struct stat *ret, int flags),
       (dir, path, ret, flags), -1, ERRORS(EIO))
CAUGHT(ssize_t, readlink, (const char *path, char *to, size_t n), (path, to, n), -1, ERRORS(EIO))

/* Memory. */
CAUGHT(void *, mmap, (void *at, size_t n, int prot, int flags, int fd, off_t offset),
       (at, n, prot, flags, fd, offset), MAP_FAILED, ERRORS(ENOMEM))
CAUGHT(void *, mmap64, (void *at, size_t n, int prot, int flags, int fd, off_t offset),
       (at, n, prot, flags, fd, offset), MAP_FAILED, ERRORS(ENOMEM))
CAUGHT(void *, mem_try, (size_t n), (n), NULL, ERRORS(ENOMEM))

/* A small one without a limit fails only as xnew() does, and callers may rely on it as on xnew().
 */
enum { ARENA_SMALL_BYTES = 4096 };
REAL(void *, arena_try, (struct arena * a, size_t n));
void *__wrap_arena_try(struct arena *a, size_t n);
void *__wrap_arena_try(struct arena *a, size_t n)
{
    static const struct kind kind = { "arena_try", ERRORS(ENOMEM) };
    bool may_fail = a->max_bytes || n > ARENA_SMALL_BYTES;
    return may_fail && strike_call(&kind) ? NULL : __real_arena_try(a, n);
}

/* Processes and threads. */
CAUGHT(pid_t, fork, (void), (), -1, ERRORS(EAGAIN))
CAUGHT(int, execve, (const char *path, char *const argv[], char *const env[]), (path, argv, env),
       -1, ERRORS(ENOMEM))
CAUGHT(int, clone, (int (*run)(void *), void *stack, int flags, void *arg),
       (run, stack, flags, arg), -1, ERRORS(EAGAIN))

/* Sockets. */
CAUGHT(int, bind, (int fd, const struct sockaddr *to, socklen_t n), (fd, to, n), -1,
       ERRORS(EADDRINUSE))
CAUGHT(int, listen, (int fd, int backlog), (fd, backlog), -1, ERRORS(EADDRINUSE))
CAUGHT(int, accept4, (int fd, struct sockaddr *from, socklen_t *n, int flags), (fd, from, n, flags),
       -1, ERRORS(EMFILE, ECONNABORTED), .is_interruptible = true)
CAUGHT(int, connect, (int fd, const struct sockaddr *to, socklen_t n), (fd, to, n), -1,
       ERRORS(ECONNREFUSED, EAGAIN))
CAUGHT(ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags), (fd, m, flags), -1,
       ERRORS(ENOBUFS, ECONNRESET), .is_interruptible = true)
CAUGHT(ssize_t, recvmsg, (int fd, struct msghdr *m, int flags), (fd, m, flags), -1,
       ERRORS(ECONNRESET), .is_interruptible = true)

/* Through syscall(), for what libc has no function; of these some make descriptors. */
REAL(long, syscall, (long n, long a, long b, long c, long d, long e, long f));
long __wrap_syscall(long n, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long n, long a, long b, long c, long d, long e, long f)
{
    static const struct kind kind = { "syscall", ERRORS(EMFILE, ENOMEM) };
    int error = n == SYS_pidfd_open || n == SYS_openat2 ? strike_call(&kind) : 0;
    if (error == 0)
        return __real_syscall(n, a, b, c, d, e, f);
    errno = error;
    return -1;
}

/* Waiting. */
#define CAUGHT_WAIT(type, name, params, args, waits)                                               \
    REAL(type, name, params);                                                                      \
    type __wrap_##name params;                                                                     \
    type __wrap_##name params                                                                      \
    {                                                                                              \
        static const struct kind kind = { #name, .is_interruptible = true };                       \
        int e = (waits) ? strike_call(&kind) : 0;                                                  \
        if (e == 0)                                                                                \
            return __real_##name args;                                                             \
        errno = e;                                                                                 \
        return -1;                                                                                 \
    }
CAUGHT_WAIT(pid_t, waitpid, (pid_t pid, int *status, int options), (pid, status, options),
            !(options & WNOHANG))
CAUGHT_WAIT(int, poll, (struct pollfd * fds, nfds_t n, int timeout_ms), (fds, n, timeout_ms),
            timeout_ms != 0)
CAUGHT_WAIT(int, epoll_pwait,
            (int fd, struct epoll_event *events, int n, int timeout_ms, const sigset_t *mask),
            (fd, events, n, timeout_ms, mask), timeout_ms != 0)

/*
 * Reads and writes, whose errors depend on the descriptor. Those of a pipe are only interrupted;
 * libuv ends the process on an error of its own ones. Those of an event descriptor never fail.
 */
static const int no_error[] = { 0 };
static const int file_read_errors[] = { EIO, 0 };
static const int file_write_errors[] = { ENOSPC, EIO, 0 };
static const int socket_errors[] = { ECONNRESET, 0 };

/* A file of /proc or of a control group takes what one write() gives. */
static bool is_of_kernel(int fd)
{
    struct statfs fs;
    return fstatfs(fd, &fs) == 0 &&
           (fs.f_type == PROC_SUPER_MAGIC || fs.f_type == SYSFS_MAGIC ||
            fs.f_type == CGROUP_SUPER_MAGIC || fs.f_type == CGROUP2_SUPER_MAGIC);
}

static int strike_transfer(const struct kind *k, int fd, bool writes)
{
    struct stat st;
    if (!page || !__atomic_load_n(&page->is_on, __ATOMIC_ACQUIRE) || is_inside)
        return 0;
    int saved = errno;
    mode_t kind = __real_fstat64(fd, &st) < 0 ? 0 : st.st_mode & S_IFMT;
    errno = saved;
    if (kind == 0)
        return 0;
    const int *errors = no_error;
    if (kind == S_IFREG)
        errors = writes ? file_write_errors : file_read_errors;
    else if (kind == S_IFSOCK)
        errors = socket_errors;
    /* A datagram is whole, and so is what libuv's own pipes and the kernel's own files transfer. */
    return strike(k, errors, kind == S_IFREG && !is_of_kernel(fd));
}

#define CAUGHT_TRANSFER(name, writes, params, args, short_args)                                    \
    REAL(ssize_t, name, params);                                                                   \
    ssize_t __wrap_##name params;                                                                  \
    ssize_t __wrap_##name params                                                                   \
    {                                                                                              \
        static const struct kind kind = { #name, .is_interruptible = true, .can_be_short = true }; \
        int e = strike_transfer(&kind, fd, writes);                                                \
        if (e == 0)                                                                                \
            return __real_##name args;                                                             \
        if (e < 0)                                                                                 \
            return __real_##name short_args;                                                       \
        errno = e;                                                                                 \
        return -1;                                                                                 \
    }
#define LESS(n) ((n) > 1 ? (n) / 2 : (n))
CAUGHT_TRANSFER(read, false, (int fd, void *p, size_t n), (fd, p, n), (fd, p, LESS(n)))
CAUGHT_TRANSFER(pread64, false, (int fd, void *p, size_t n, off_t at), (fd, p, n, at),
                (fd, p, LESS(n), at))
CAUGHT_TRANSFER(write, true, (int fd, const void *p, size_t n), (fd, p, n), (fd, p, LESS(n)))
CAUGHT_TRANSFER(pwrite64, true, (int fd, const void *p, size_t n, off_t at), (fd, p, n, at),
                (fd, p, LESS(n), at))
CAUGHT_TRANSFER(writev, true, (int fd, const struct iovec *v, int n), (fd, v, n), (fd, v, LESS(n)))

/* ------------------------------------------------------------------ runs */

void torture_on(void)
{
    __atomic_store_n(&page->is_on, true, __ATOMIC_RELEASE);
}

void torture_off(void)
{
    __atomic_store_n(&page->is_on, false, __ATOMIC_RELEASE);
}

void torture_own(bool is_own)
{
    is_inside = is_own;
}

bool torture_struck(void)
{
    return __atomic_load_n(&page->has_struck, __ATOMIC_ACQUIRE);
}

bool torture_failed(void)
{
    return torture_error() != 0;
}

int torture_error(void)
{
    bool is_error = torture_struck() && page->struck.kind <= WAY_LASTS;
    return is_error ? page->struck.error : 0;
}

static unsigned count_fds(void)
{
    unsigned n = 0;
    DIR *d = opendir("/proc/self/fd");
    CHECK(d);
    while (readdir(d))
        n++;
    (void)closedir(d);
    return n;
}

/* In a child: the scenario from an ordinary state to an ordinary state. */
static void run_here(void (*scenario)(void))
{
    struct loop loop; /* libuv's pipe for signals stays open once it is there */
    CHECK_OK(loop_init(&loop, NULL));
    loop_fini(&loop);
    unsigned fds = count_fds();
    scenario();
    torture_off();
    CHECK_INT(count_fds(), fds);
    if (__real_waitpid(-1, NULL, WNOHANG) >= 0)
        TEST_FAIL("a child process stays behind");
#if HAS_ASAN
    if (__lsan_do_recoverable_leak_check())
        abort();
#endif
}

static int run_child(void (*scenario)(void))
{
    int status;
    (void)fflush(stdout);
    (void)fflush(stderr);
    pid_t pid = __real_fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        (void)alarm(RUN_SECONDS_MAX);
        run_here(scenario);
        _exit(0);
    }
    while (__real_waitpid(pid, &status, 0) < 0)
        CHECK(errno == EINTR);
    return status;
}

static void reset(unsigned nth, unsigned way)
{
    *page = (struct page){ .nth = nth, .way = way };
}

static const char *way_text(struct way way)
{
    static char text[64];
    if (way.kind == WAY_SHORT)
        return "transferred less";
    (void)snprintf(text, sizeof text, "%s%s", strerrorname_np(way.error),
                   way.kind == WAY_LASTS ? ", and so all later ones" : "");
    return text;
}

/* Where the call was made: by name, if the machine has addr2line. */
static void print_frames(void)
{
    char command[1024];
    Dl_info info;
    int n = -1;
    if (page->n_frames > 0 && dladdr(page->frames[0], &info) && info.dli_fbase)
        n = snprintf(command, sizeof command, "addr2line -spife '%s'", info.dli_fname);
    for (int i = 0; n > 0 && i < page->n_frames; i++)
        n += snprintf(command + n, sizeof command - (size_t)n, " %#zx",
                      (size_t)((char *)page->frames[i] - (char *)info.dli_fbase) - 1);
    (void)fflush(stderr);
    if (n < 0 || (size_t)n >= sizeof command || system(command) != 0)
        backtrace_symbols_fd(page->frames, page->n_frames, STDERR_FILENO);
}

static void fail_run(const char *name, unsigned nth, unsigned way, int status)
{
    (void)fprintf(stderr, "torture of %s: call %u, way %u, ", name, nth, way);
    if (!page->has_struck)
        (void)fprintf(stderr, "nothing has failed yet\n");
    else
        (void)fprintf(stderr, "%s: %s, from:\n", page->call, way_text(page->struck));
    print_frames();
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        TEST_FAIL("%s does not end (TORTURE_CALL=%u TORTURE_WAY=%u)", name, nth, way);
    TEST_FAIL("%s ends with status 0x%x (TORTURE_CALL=%u TORTURE_WAY=%u)", name, status, nth, way);
}

/* Whether the failure has come about. */
static bool run_one(const char *name, void (*scenario)(void), unsigned nth, unsigned way)
{
    reset(nth, way);
    int status = run_child(scenario);
    if (status != 0)
        fail_run(name, nth, way, status);
    return page->has_struck;
}

static bool env_number(const char *name, unsigned *ret)
{
    uint64_t v;
    const char *text = getenv(name);
    if (!text || parse_u64(str_of(text), 0, UINT32_MAX, &v) < 0)
        return false;
    *ret = (unsigned)v;
    return true;
}

static unsigned run_all(const char *name, void (*scenario)(void), unsigned calls)
{
    unsigned n = 0;
    for (unsigned nth = 1; nth <= calls; nth++)
        for (unsigned way = 0, n_ways = 1; way < n_ways; way++) {
            if (!run_one(name, scenario, nth, way))
                break;
            n_ways = page->n_ways;
            n++;
        }
    return n;
}

/* Neighbouring samples fail in different ways. */
static unsigned run_samples(const char *name, void (*scenario)(void), unsigned calls)
{
    unsigned n = 0, runs = MIN(calls, (unsigned)RUNS_SAMPLED);
    for (unsigned i = 0; i < runs; i++)
        n += run_one(name, scenario, 1 + (unsigned)((uint64_t)i * calls / runs), i);
    return n;
}

void torture_run(const char *name, void (*scenario)(void))
{
    unsigned nth, way = 0;
    const char *how = getenv("TORTURE");
    page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(page != MAP_FAILED);
    if (env_number("TORTURE_CALL", &nth)) {
        (void)env_number("TORTURE_WAY", &way);
        reset(nth, way);
        run_here(scenario);
        return;
    }
    (void)run_one(name, scenario, 0, 0);
    unsigned calls = page->calls;
    CHECK(calls > 0);
    bool is_all = how && strcmp(how, "all") == 0;
    unsigned n = (is_all ? run_all : run_samples)(name, scenario, calls);
    CHECK(n > 0);
    (void)printf("# torture of %s: %u calls, %u failures%s\n", name, calls, n,
                 is_all ? "" : ", evenly spread");
    CHECK(munmap(page, sizeof *page) == 0);
    page = NULL;
}
