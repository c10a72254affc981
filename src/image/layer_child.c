/* SPDX-License-Identifier: Apache-2.0 */
#include "image/layer_child.h"

#include "base/sanitizer.h"
#include "base/sys.h"
#include "codec/inflate_fast.h"
#include "image/layer_wire.h"
#include "image/table_child.h"
#include "wasm/confine.h"
#include "wasm/confine_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIPE_BYTES = 1 << 20, INPUT_BYTES = 256 << 10, BYTES_PER_CPU_S = 4 << 20, CPU_S_MIN = 60 };

/* ---- the child ---- */

static void limit(int what, uint64_t value)
{
    const struct rlimit want = { .rlim_cur = (rlim_t)value, .rlim_max = (rlim_t)value };
    (void)setrlimit((__rlimit_resource_t)what, &want);
}

#if !HAS_SANITIZER
/* The standard error of the parent may be a terminal, which can be read, or a log. */
static int leave_stderr(struct err *err)
{
    scoped(fd_scoped) int null = sys_openat(AT_FDCWD, "/dev/null", O_WRONLY, 0);
    if (null < 0 || dup2(null, STDERR_FILENO) < 0)
        return err_sys(err, null < 0 ? null : -errno, "open '/dev/null'");
    return 0;
}
#endif

/* A second thread pays where a second processor is free for it. */
static void start_threads(struct layer_parser *p)
{
    cpu_set_t cpus;
    if (p && sched_getaffinity(0, sizeof cpus, &cpus) == 0 && CPU_COUNT(&cpus) > 1)
        layer_parser_hash_beside(p);
}

/* Threads start between the namespaces, which take a process with one thread, and the filter, which
 * is for all threads and allows none to start. */
int layer_child_confine(struct layer_parser *p, uint64_t max_bytes, bool ends_with_thread,
                        struct err *err)
{
    (void)close_range(STDERR_FILENO + 1, UINT_MAX, 0);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_CPU, CPU_S_MIN + max_bytes / BYTES_PER_CPU_S);
#if HAS_SANITIZER /* which needs files and memory of its own */
    start_threads(p);
    return 0;
#else
    static const int writing[] = { SYS_writev };
    static const struct confine_calls calls = { .allowed = writing,
                                                .n_allowed = ARRAY_LEN(writing) };
    struct confine_report ignored; /* runners say the same */
    limit(RLIMIT_DATA, LAYER_CHILD_MEMORY_BYTES);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return err_sys(err, -errno, "prctl");
    confine_oom();
    int r = leave_stderr(err);
    r = r < 0 ? r : confine_enter(&ignored, err);
    if (r < 0)
        return r;
    start_threads(p);
    limit(RLIMIT_NOFILE, STDERR_FILENO + 1);
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
        (ends_with_thread && prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0))
        return err_sys(err, -errno, "prctl");
    return confine_filter(&calls, err);
#endif
}

static int parse_all(struct layer_parser *p, struct layer_facts *facts, struct err *err)
{
    scoped(free_scoped) char *in = mem_try(INPUT_BYTES);
    if (!in)
        return err_set(err, -ENOMEM, "read a layer");
    for (;;) {
        ssize_t n = read(STDIN_FILENO, in, INPUT_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_sys(err, -errno, "read");
        if (n == 0)
            return layer_parser_end(p, facts, err);
        int r = layer_parser_add(p, str_n(in, (size_t)n), err);
        if (r < 0)
            return r;
    }
}

int layer_child_main(int argc, char **argv)
{
    uint64_t max_bytes;
    struct err err = { 0 };
    struct layer_facts facts = { 0 };
    if (argc == 3 && str_is(str_of(argv[2]), TABLE_CHILD_WORD))
        return table_child_main();
    scoped(free_scoped) struct layer_wire_out *out = xnew(struct layer_wire_out);
    if (argc != 4 || parse_u64(str_of(argv[2]), 1, UINT64_MAX, &max_bytes) < 0)
        return 2; /* it is no command for people */
    bool is_raw = str_is(str_of(argv[3]), "raw");
    out->fd = STDOUT_FILENO;
    /* First, because libraries are read from files: that of hashes its configuration, too. */
    (void)inflate_fast_load();
    scoped(layer_parser_free_scoped) struct layer_parser *p =
        layer_parser_new(is_raw ? &layer_wire_raw_ops : &layer_wire_ops, out, max_bytes);
    int r = layer_child_confine(p, max_bytes, true, &err);
    r = r < 0 ? r : parse_all(p, &facts, &err);
    return layer_wire_end(out, r, &facts, &err) < 0;
}

/* ---- the parent ---- */

/* How far the parent is with the blob. */
enum feeding { FEEDING_SOURCE, FEEDING_CHILD, FEEDING_OVER };

struct layer_child {
    int pid;
    int to, from; /* pipes; -1: closed */
    struct layer_wire_in in;
    _Atomic int feeding; /* the state that the feeding thread waits for */
    bool is_gone;        /* feeding thread: the child does not read any more */
};

static int spawn(struct layer_child *c, const struct layer_read_opts *o, bool is_raw,
                 struct err *err)
{
    char name[] = "dormouse", word[] = LAYER_CHILD_WORD, raw[] = "raw", content[] = "content";
    char max[24];
    (void)snprintf(max, sizeof max, "%llu", (unsigned long long)o->max_bytes);
    char *argv[] = { name, word, max, is_raw ? raw : content, NULL };
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) < 0)
        return err_sys(err, -errno, "pipe");
    if (pipe2(out, O_CLOEXEC) < 0) {
        int r = err_sys(err, -errno, "pipe");
        (void)close(in[0]), (void)close(in[1]);
        return r;
    }
    (void)fcntl(in[1], F_SETPIPE_SZ, PIPE_BYTES); /* fewer switches; the default works too */
    (void)fcntl(out[0], F_SETPIPE_SZ, PIPE_BYTES);
    char *envp[] = { NULL };
    const int fds[] = { in[0], out[1], STDERR_FILENO };
    const struct confine_child child = { .path = o->program ? o->program : "/proc/self/exe",
                                         .argv = argv,
                                         .envp = envp,
                                         .fds = fds,
                                         .n_fds = ARRAY_LEN(fds) };
    c->pid = confine_spawn(&child, err);
    (void)close(in[0]);
    (void)close(out[1]);
    c->to = in[1];
    c->from = out[0];
    return c->pid < 0 ? c->pid : 0;
}

static int to_child(void *arg, struct str bytes, struct err *err)
{
    struct layer_child *c = arg;
    atomic_store(&c->feeding, FEEDING_CHILD);
    int r = sys_write_all(c->to, bytes.p, bytes.n);
    atomic_store(&c->feeding, FEEDING_SOURCE);
    c->is_gone = r < 0;
    return r < 0 ? err_sys(err, r, "write to the reader of layers") : 0;
}

/* The blob is complete, or there is no more of it. */
static void close_input(struct layer_child *c)
{
    fd_scoped(&c->to);
    c->to = -1;
    atomic_store(&c->feeding, FEEDING_OVER);
}

/* Until there is something to read. */
static int wait_for_child(struct layer_child *c, struct err *err)
{
    for (;;) {
        struct pollfd p = { .fd = c->from, .events = POLLIN };
        int r = poll(&p, 1, LAYER_CHILD_STALL_MS);
        if (r > 0)
            return 0;
        if (r < 0 && errno != EINTR)
            return err_sys(err, -errno, "poll");
        if (r == 0 && atomic_load(&c->feeding) != FEEDING_SOURCE)
            return err_set(err, -ETIMEDOUT, "the reader of layers does nothing");
    }
}

static int read_records(struct layer_child *c, struct err *err)
{
    struct layer_wire_in *in = &c->in;
    scoped(free_scoped) char *buffer = mem_try(LAYER_WIRE_BUFFER);
    size_t n = 0;
    if (!buffer)
        return err_set(err, -ENOMEM, "read a layer");
    for (;;) {
        int r = wait_for_child(c, err);
        if (r < 0)
            return r;
        ssize_t got = read(c->from, buffer + n, LAYER_WIRE_BUFFER - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_sys(err, -errno, "read a layer");
        if (got == 0)
            break;
        n += (size_t)got;
        ptrdiff_t taken = layer_wire_add(in, str_n(buffer, n), err);
        if (taken < 0)
            return (int)taken;
        n -= (size_t)taken;
        memmove(buffer, buffer + taken, n);
    }
    return in->is_over && n == 0 ? 0 : err_set(err, E_EOF, "the reader of layers ended early");
}

/* The child has closed its output or is not wanted any more. It gets no chance to stay: a signal
 * to one that is ending already does not change its status. */
static void stop_child(struct layer_child *c)
{
    (void)close(c->from);
    (void)confine_signal(c->pid, SIGKILL);
}

/* After stop_child(). r: of the records. */
static int reap(struct layer_child *c, int r, struct err *err)
{
    int status = 0;
    while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (r == E_EOF && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return err_set(err, -ENOMEM,
                       "the reader of layers was killed: no memory, or too much processor time");
    if (r == E_EOF && WIFSIGNALED(status))
        return err_set(
            err, E_PARSE, "the reader of layers was ended by signal %d%s", WTERMSIG(status),
            WTERMSIG(status) == SIGSYS ? ", for a system call that it must not make" : "");
    return r;
}

static int start_child(struct layer_child *c, const struct layer_read_opts *o,
                       const struct layer_ops *ops, void *arg, struct err *err)
{
    *c = (struct layer_child){ .to = -1, .from = -1 };
    c->in = (struct layer_wire_in){ .ops = ops, .arg = arg, .max_bytes = o->max_bytes };
    int r = spawn(c, o, ops->raw != NULL, err);
    if (r >= 0)
        return 0;
    fd_scoped(&c->to);
    fd_scoped(&c->from);
    return r;
}

/* The digest of the bytes that the child did not read was not compared. */
static int left_early(struct err *err)
{
    return err_set(err, E_PARSE, "the reader of layers ended before its blob did");
}

/* ---- a function supplies the blob ---- */

struct feeder {
    struct layer_child *c;
    layer_feed feed;
    void *arg;
    int r; /* of feed */
    struct err err;
};

static void *feed_main(void *arg)
{
    struct feeder *f = arg;
    sigset_t pipe_signal;
    (void)sigemptyset(&pipe_signal);
    (void)sigaddset(&pipe_signal, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &pipe_signal, NULL); /* EPIPE reports the same */
    f->r = f->feed(f->arg, to_child, f->c, &f->err);
    close_input(f->c);
    return NULL;
}

int layer_read(const struct layer_read_opts *opts, layer_feed feed, void *feed_arg,
               const struct layer_ops *ops, void *arg, struct layer_facts *ret, struct err *err)
{
    struct layer_child c;
    struct feeder f = { .c = &c, .feed = feed, .arg = feed_arg };
    pthread_t feeder;
    int r = start_child(&c, opts, ops, arg, err);
    if (r < 0)
        return r;
    int started = pthread_create(&feeder, NULL, feed_main, &f);
    r = started ? err_sys(err, -started, "start a thread") : read_records(&c, err);
    stop_child(&c);
    r = reap(&c, r, err);
    if (started) {
        fd_scoped(&c.to);
        return r;
    }
    (void)pthread_join(feeder, NULL);
    if (f.r < 0 && !c.is_gone) { /* the child's error for half a blob is not the cause */
        if (err)
            *err = f.err;
        return f.r;
    }
    if (r >= 0 && f.r < 0)
        return left_early(err);
    if (r >= 0)
        *ret = c.in.facts;
    return r;
}

/* ---- the blob is given piece by piece ---- */

struct layer_child_reading {
    struct layer_child c;
    pthread_t thread; /* reads the records */
    bool is_joined;
    int r; /* of the records, valid once it is joined */
    struct err err;
};

static void *records_main(void *arg)
{
    struct layer_child_reading *g = arg;
    g->r = read_records(&g->c, &g->err);
    stop_child(&g->c); /* which ends a write of the feeding thread */
    return NULL;
}

/* Signals are for the other threads. */
static int start_records(struct layer_child_reading *g)
{
    sigset_t all, old;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &old);
    int r = pthread_create(&g->thread, NULL, records_main, g);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    return -r;
}

static int reading_start(void *arg, uint64_t max_bytes, const struct layer_ops *ops, void *ops_arg,
                         void **ret, struct err *err)
{
    const struct layer_read_opts *given = arg;
    const struct layer_read_opts opts = { given ? given->program : NULL, max_bytes };
    struct layer_child_reading *g = xnew(struct layer_child_reading);
    int r = start_child(&g->c, &opts, ops, ops_arg, err);
    if (r >= 0 && (r = start_records(g)) < 0) {
        close_input(&g->c);
        stop_child(&g->c);
        (void)reap(&g->c, 0, NULL);
        r = err_sys(err, r, "start a thread");
    }
    if (r < 0) {
        free(g);
        return r;
    }
    *ret = g;
    return 0;
}

/* No more bytes come: the records end, since the child does. */
static int join(struct layer_child_reading *g, struct err *err)
{
    close_input(&g->c);
    (void)pthread_join(g->thread, NULL);
    g->is_joined = true;
    g->r = reap(&g->c, g->r, &g->err);
    if (g->r < 0 && err)
        *err = g->err;
    return g->r;
}

static int reading_add(void *reading, struct str bytes, struct err *err)
{
    struct layer_child_reading *g = reading;
    int r = to_child(&g->c, bytes, err);
    if (r >= 0)
        return 0;
    r = join(g, err);
    return r < 0 ? r : left_early(err);
}

static int reading_end(void *reading, struct layer_facts *ret, struct err *err)
{
    struct layer_child_reading *g = reading;
    int r = join(g, err);
    if (r < 0)
        return r;
    *ret = g->c.in.facts;
    return 0;
}

static void reading_free(void *reading)
{
    struct layer_child_reading *g = reading;
    if (g && !g->is_joined) {
        (void)confine_signal(g->c.pid, SIGKILL); /* it was not reaped: the number is its own */
        (void)join(g, NULL);
    }
    free(g);
}

static int reading_table(void *arg, void **process, const struct oci_table *t,
                         const atomic_bool *stop, struct buf *to, struct err *err)
{
    const struct layer_read_opts *given = arg;
    struct table_child *child = *process;
    int r = table_child_read(given ? given->program : NULL, &child, t, stop, to, err);
    *process = child;
    return r;
}

static void reading_end_tables(void *process)
{
    table_child_free(process);
}

const struct layer_reading_ops layer_child_reading = {
    .start = reading_start,
    .add = reading_add,
    .end = reading_end,
    .free = reading_free,
    .table = reading_table,
    .end_tables = reading_end_tables,
};
