/* SPDX-License-Identifier: Apache-2.0 */
#include "image/lazy_guard.h"

#include "base/clock.h"
#include "base/sanitizer.h"
#include "base/sys.h"
#include "image/lazy_fuse.h"
#include "image/mount.h"
#include "wasm/confine.h"
#include "wasm/confine_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    START_MS = 30 * 1000,                    /* the guardian has so long to begin */
    FILES_MAX = LAZY_GUARD_SOURCES_MAX + 64, /* descriptors of the guardian */
    MEMORY_BYTES = 256 << 20,
};

/* The descriptors of the guardian. */
enum { FD_FUSE, FD_SOCKET, FD_ERRORS, FD_TABLE, FD_COUNT };

enum lazy_guard_kind {
    KIND_UP,     /* guardian: confined */
    KIND_GO,     /* to it: the mount is there */
    KIND_READY,  /* guardian: it serves */
    KIND_WANT,   /* guardian: get a file */
    KIND_SOURCE, /* to it, with a descriptor */
    KIND_HAVE,   /* to it */
    KIND_FAIL,   /* to it */
};

struct lazy_guard_message {
    uint32_t kind, file, source, error;
    uint64_t at;
    uint32_t in_force, padding;
};

/* Its memory has a limit of its own instead of a group. */
#define PARTS                                                                                      \
    (1u << CONFINE_USER | 1u << CONFINE_PROCESSES | 1u << CONFINE_NETWORK | 1u << CONFINE_IPC |    \
     1u << CONFINE_FILES)

/* ---- messages ---- */

/* flags: MSG_DONTWAIT, or 0. fd: -1: none. */
static int send_message(int sock, const struct lazy_guard_message *m, int fd, int flags)
{
    struct lazy_guard_message copy = *m;
    struct iovec part = { &copy, sizeof copy };
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control = { 0 };
    struct msghdr h = { .msg_iov = &part, .msg_iovlen = 1 };
    if (fd >= 0) {
        h.msg_control = control.room;
        h.msg_controllen = sizeof control.room;
        control.head = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof fd),
                                         .cmsg_level = SOL_SOCKET,
                                         .cmsg_type = SCM_RIGHTS };
        memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
    }
    ssize_t n;
    do
        n = sendmsg(sock, &h, flags | MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : 0;
}

/* 1, or 0: the other end is closed. *ret_fd: given, or -1. */
static int receive_message(int sock, struct lazy_guard_message *ret, int *ret_fd, int flags)
{
    struct iovec part = { ret, sizeof *ret };
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr h = { .msg_iov = &part,
                        .msg_iovlen = 1,
                        .msg_control = control.room,
                        .msg_controllen = sizeof control.room };
    ssize_t n;
    *ret_fd = -1;
    do
        n = recvmsg(sock, &h, flags | MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    const struct cmsghdr *c = CMSG_FIRSTHDR(&h);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
        memcpy(ret_fd, CMSG_DATA(c), sizeof *ret_fd);
    if (n == 0)
        return 0;
    return n == (ssize_t)sizeof *ret ? 1 : -EBADMSG;
}

/* ---- the guardian ---- */

struct guardian {
    struct lazy_fuse *fuse;
    int sources[LAZY_GUARD_SOURCES_MAX];
    size_t n_sources;
    bool is_orphan, is_serving;
    char request[LAZY_FUSE_REQUEST_MAX];
};

static void reply_kernel(void *arg, struct str head, struct str data)
{
    (void)arg;
    const struct iovec parts[] = { { (void *)(uintptr_t)head.p, head.n },
                                   { (void *)(uintptr_t)data.p, data.n } };
    (void)writev(FD_FUSE, parts, data.n ? 2 : 1); /* ENOENT: the caller was interrupted */
}

static bool want(void *arg, uint32_t file)
{
    const struct guardian *g = arg;
    const struct lazy_guard_message m = { .kind = KIND_WANT, .file = file };
    return !g->is_orphan && send_message(FD_SOCKET, &m, -1, MSG_DONTWAIT) >= 0;
}

static int read_source(void *arg, uint32_t source, uint64_t at, void *to, size_t n)
{
    const struct guardian *g = arg;
    if (source >= g->n_sources)
        return -EIO;
    ssize_t got = sys_pread_full(g->sources[source], to, n, at);
    return got < 0 ? (int)got : (size_t)got < n ? -EIO : 0;
}

/* The other side must detect that its messages are ignored. */
static void become_orphan(struct guardian *g)
{
    g->is_orphan = true;
    (void)close(FD_SOCKET);
    lazy_fuse_orphan(g->fuse);
}

/* A descriptor that got lost would give all later ones another number, and files other contents. */
static void add_source(struct guardian *g, int fd)
{
    if (fd < 0 || g->n_sources == LAZY_GUARD_SOURCES_MAX) {
        fd_scoped(&fd);
        become_orphan(g);
        return;
    }
    g->sources[g->n_sources++] = fd;
}

static void take_message(struct guardian *g)
{
    struct lazy_guard_message m;
    int fd, r = receive_message(FD_SOCKET, &m, &fd, MSG_DONTWAIT);
    if (r == -EAGAIN)
        return;
    if (r > 0 && m.kind == KIND_SOURCE)
        add_source(g, take_fd(&fd));
    fd_scoped(&fd);
    if (r <= 0)
        become_orphan(g);
    else if (m.kind == KIND_GO)
        g->is_serving = true;
    else if (m.kind == KIND_HAVE)
        lazy_fuse_have(g->fuse, m.file, m.source, m.at);
    else if (m.kind == KIND_FAIL)
        lazy_fuse_fail(g->fuse, m.file, (int)m.error);
}

/* Errors: -ENODEV, nothing is mounted any more. */
static int take_request(struct guardian *g)
{
    bool is_ready = false;
    ssize_t n = read(FD_FUSE, g->request, sizeof g->request);
    if (n < 0) /* ENOENT: the request was taken back */
        return errno == EINTR || errno == EAGAIN || errno == ENOENT ? 0 : -errno;
    int r =
        lazy_fuse_request(g->fuse, str_n(g->request, (size_t)n), clock_mono_ms(), &is_ready, NULL);
    const struct lazy_guard_message m = { .kind = KIND_READY };
    if (is_ready && !g->is_orphan)
        (void)send_message(FD_SOCKET, &m, -1, 0);
    return r;
}

/* Until nothing is mounted any more. */
static int serve(struct guardian *g)
{
    for (;;) {
        uint64_t left = lazy_fuse_sweep(g->fuse, clock_mono_ms());
        const struct timespec wait = { (time_t)(left / 1000), (long)(left % 1000) * 1000000 };
        struct pollfd on[] = { { .fd = g->is_serving ? FD_FUSE : -1, .events = POLLIN },
                               { .fd = g->is_orphan ? -1 : FD_SOCKET, .events = POLLIN } };
        if (g->is_orphan && !g->is_serving)
            return 0; /* it was never mounted */
        int r = ppoll(on, ARRAY_LEN(on), left == UINT64_MAX ? NULL : &wait, NULL);
        if (r < 0 && errno != EINTR)
            return -errno;
        if (r > 0 && on[1].revents)
            take_message(g);
        if (r > 0 && on[0].revents && (r = take_request(g)) < 0)
            return r == -ENODEV ? 0 : r;
    }
}

static void limit(int what, uint64_t value)
{
    const struct rlimit want = { .rlim_cur = (rlim_t)value, .rlim_max = (rlim_t)value };
    (void)setrlimit((__rlimit_resource_t)what, &want);
}

/* *ret: bits of the confinement that is in force (wasm/confine.h). */
static int confine(uint32_t *ret, struct err *err)
{
    (void)setsid(); /* signals of a terminal are for the command */
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_NOFILE, FILES_MAX);
#if HAS_SANITIZER /* which needs files and memory of its own */
    (void)err;
    *ret = PARTS;
    return 0;
#else
    static const int own[] = { SYS_writev, SYS_ppoll, SYS_recvmsg, SYS_sendmsg };
    static const struct confine_calls calls = { .allowed = own, .n_allowed = ARRAY_LEN(own) };
    struct confine_report report;
    scoped(fd_scoped) int null = sys_openat(AT_FDCWD, "/dev/null", O_WRONLY, 0);
    limit(RLIMIT_DATA, MEMORY_BYTES);
    if (null < 0 || dup2(null, FD_ERRORS) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return err_sys(err, -errno, "prepare the guardian");
    int r = confine_enter(&report, err);
    if (r >= 0)
        *ret = report.in_force & PARTS;
    if (r >= 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        r = err_sys(err, -errno, "prctl");
    return r < 0 ? r : confine_filter(&calls, err);
#endif
}

/* The table of files. *ret stays mapped. */
static int map_table(const struct lazy_fuse_file **ret, size_t *ret_n)
{
    struct stat st;
    void *p = NULL;
    if (fstat(FD_TABLE, &st) < 0)
        return -errno;
    *ret_n = (size_t)st.st_size / sizeof **ret;
    int r = st.st_size ? sys_mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, FD_TABLE, 0, &p)
                       : 0;
    *ret = p;
    (void)close(FD_TABLE);
    return r;
}

int lazy_guard_main(int argc, char **argv)
{
    uint64_t open_ms;
    size_t n = 0;
    const struct lazy_fuse_file *files = NULL;
    struct lazy_guard_message up = { .kind = KIND_UP };
    if (argc != 3 || parse_u64(str_of(argv[2]), 1, LAZY_GUARD_OPEN_MAX_MS, &open_ms) < 0)
        return 2; /* it is no command for people */
    struct guardian *g = xnew(struct guardian);
    const struct lazy_fuse_ops ops = { reply_kernel, want, read_source, g };
    (void)close_range(FD_COUNT, UINT_MAX, 0);
    int r = map_table(&files, &n);
    if (r >= 0)
        g->fuse = lazy_fuse_new(files, n, open_ms, &ops);
    r = r < 0 ? r : confine(&up.in_force, NULL);
    r = r < 0 ? r : send_message(FD_SOCKET, &up, -1, 0);
    r = r < 0 ? r : serve(g);
    _exit(r < 0); /* at once: a process may wait in umount */
}

/* ---- this process ---- */

struct lazy_guard {
    int pid, sock;
    pthread_mutex_t mutex; /* of sources */
    uint32_t n_sources;
    uint32_t missing;     /* bits of PARTS */
    atomic_bool is_woken; /* while the guardian was there */
};

static int make_table(const struct lazy_view *v, struct err *err)
{
    scoped(fd_scoped) int fd = sys_memfd("files");
    scoped(free_scoped) struct lazy_fuse_file *all = xnew_n(struct lazy_fuse_file, v->n + 1);
    for (size_t i = 0; i < v->n; i++) {
        memcpy(all[i].digest, v->files[i].digest, sizeof all[i].digest);
        all[i].size = v->files[i].size;
    }
    int r = fd < 0 ? fd : sys_write_all(fd, all, v->n * sizeof *all);
    return r < 0 ? err_sys(err, r, "list the files for the guardian") : take_fd(&fd);
}

static int spawn(const struct lazy_guard_opts *o, int fuse, int sock, int table, struct err *err)
{
    char name[] = "dormouse", word[] = LAZY_GUARD_WORD, open_ms[24];
    uint64_t ms = o->open_ms ? o->open_ms : LAZY_GUARD_OPEN_MS;
    (void)snprintf(open_ms, sizeof open_ms, "%llu", (unsigned long long)ms);
    char *argv[] = { name, word, open_ms, NULL }, *envp[] = { NULL };
    const int fds[FD_COUNT] = {
        [FD_FUSE] = fuse, [FD_SOCKET] = sock, [FD_ERRORS] = STDERR_FILENO, [FD_TABLE] = table
    };
    const struct confine_child child = { .path = o->program ? o->program : "/proc/self/exe",
                                         .argv = argv,
                                         .envp = envp,
                                         .fds = fds,
                                         .n_fds = ARRAY_LEN(fds) };
    return confine_spawn(&child, err);
}

static int wait_message(struct lazy_guard *g, enum lazy_guard_kind kind, struct err *err)
{
    struct lazy_guard_message m = { 0 };
    struct pollfd on = { .fd = g->sock, .events = POLLIN };
    int fd = -1, r;
    do
        r = poll(&on, 1, START_MS);
    while (r < 0 && errno == EINTR);
    r = r <= 0 ? -ETIMEDOUT : receive_message(g->sock, &m, &fd, 0);
    fd_scoped(&fd);
    if (r <= 0 || m.kind != kind)
        return err_set(err, r < 0 ? r : -EPIPE, "the guardian of the files did not begin");
    if (kind == KIND_UP)
        g->missing = PARTS & ~m.in_force;
    return 0;
}

/* The guardian makes its namespaces before anything is mounted here: it must not hold the mounts.
 */
static int begin(struct lazy_guard *g, int fuse, const char *target, struct err *err)
{
    const struct lazy_guard_message go = { .kind = KIND_GO };
    int r = wait_message(g, KIND_UP, err);
    r = r < 0 ? r : mount_fuse(fuse, target, LAZY_FUSE_READ_MAX, err);
    if (r < 0)
        return r;
    r = send_message(g->sock, &go, -1, 0);
    r = r < 0 ? err_sys(err, r, "start the guardian of the files")
              : wait_message(g, KIND_READY, err);
    if (r < 0)
        (void)mount_remove(target, NULL);
    return r;
}

int lazy_guard_start(const struct lazy_view *view, const struct lazy_guard_opts *o,
                     struct lazy_guard **ret, struct err *err)
{
    int pair[2];
    scoped(fd_scoped) int table = make_table(view, err);
    if (table < 0)
        return table;
    scoped(fd_scoped) int fuse = sys_openat(AT_FDCWD, "/dev/fuse", O_RDWR | O_NONBLOCK, 0);
    if (fuse < 0)
        return err_sys(err, fuse == -ENOENT || fuse == -ENODEV ? E_UNSUPPORTED : fuse,
                       "open '/dev/fuse'");
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return err_sys(err, -errno, "socket");
    struct lazy_guard *g = xnew(struct lazy_guard);
    g->sock = pair[0];
    (void)pthread_mutex_init(&g->mutex, NULL);
    g->pid = spawn(o, fuse, pair[1], table, err);
    (void)close(pair[1]);
    int r = g->pid < 0 ? g->pid : begin(g, fuse, o->target, err);
    if (r < 0) {
        lazy_guard_free(g);
        return r;
    }
    *ret = g;
    return 0;
}

uint32_t lazy_guard_missing(const struct lazy_guard *g)
{
    return g->missing;
}

int lazy_guard_pid(const struct lazy_guard *g)
{
    return g->pid;
}

void lazy_guard_free(struct lazy_guard *g)
{
    if (!g)
        return;
    (void)close(g->sock);
    if (g->pid > 0) {
        (void)confine_signal(g->pid, SIGKILL);
        while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    (void)pthread_mutex_destroy(&g->mutex);
    free(g);
}

static int send_to_guard(struct lazy_guard *g, const struct lazy_guard_message *m, int fd,
                         struct err *err)
{
    int r = send_message(g->sock, m, fd, 0);
    return r < 0 ? err_set(err, -EPIPE, "the guardian of the files has ended") : 0;
}

int lazy_guard_source(struct lazy_guard *g, int fd, struct err *err)
{
    const struct lazy_guard_message m = { .kind = KIND_SOURCE };
    (void)pthread_mutex_lock(&g->mutex);
    int r =
        g->n_sources == LAZY_GUARD_SOURCES_MAX
            ? err_set(err, E_LIMIT, "contents lie in more than %d files", LAZY_GUARD_SOURCES_MAX)
            : send_to_guard(g, &m, fd, err);
    r = r < 0 ? r : (int)g->n_sources++;
    (void)pthread_mutex_unlock(&g->mutex);
    return r;
}

int lazy_guard_have(struct lazy_guard *g, uint32_t file, uint32_t source, uint64_t at,
                    struct err *err)
{
    const struct lazy_guard_message m = {
        .kind = KIND_HAVE, .file = file, .source = source, .at = at
    };
    return send_to_guard(g, &m, -1, err);
}

int lazy_guard_fail(struct lazy_guard *g, uint32_t file, int error, struct err *err)
{
    const struct lazy_guard_message m = { .kind = KIND_FAIL,
                                          .file = file,
                                          .error = (uint32_t)error };
    return send_to_guard(g, &m, -1, err);
}

int lazy_guard_next(struct lazy_guard *g, uint32_t *ret)
{
    for (;;) {
        struct lazy_guard_message m;
        int fd, r = receive_message(g->sock, &m, &fd, 0);
        fd_scoped(&fd);
        if (r <= 0)
            return atomic_load(&g->is_woken) ? 0 : -EPIPE;
        if (m.kind == KIND_WANT) {
            *ret = m.file;
            return 1;
        }
    }
}

void lazy_guard_wake(struct lazy_guard *g)
{
    struct pollfd on = { .fd = g->sock, .events = POLLRDHUP };
    if (poll(&on, 1, 0) <= 0)
        atomic_store(&g->is_woken, true);
    (void)shutdown(g->sock, SHUT_RDWR);
}
