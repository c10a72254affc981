/* SPDX-License-Identifier: Apache-2.0 */
#include "image/layer_child.h"

#include "base/sys.h"
#include "codec/inflate_fast.h"
#include "image/layer_wire.h"
#include "wasm/confine.h"
#include "wasm/confine_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif

enum { PIPE_BYTES = 1 << 20, INPUT_BYTES = 256 << 10, BYTES_PER_CPU_S = 4 << 20, CPU_S_MIN = 60 };

/* ---- the child ---- */

static void limit(int what, uint64_t value)
{
    const struct rlimit want = { .rlim_cur = (rlim_t)value, .rlim_max = (rlim_t)value };
    (void)setrlimit((__rlimit_resource_t)what, &want);
}

#ifndef HAS_SANITIZER
/* The standard error of the parent may be a terminal, which can be read, or a log. */
static int leave_stderr(struct err *err)
{
    scoped(fd_scoped) int null = sys_openat(AT_FDCWD, "/dev/null", O_WRONLY, 0);
    if (null < 0 || dup2(null, STDERR_FILENO) < 0)
        return err_sys(err, null < 0 ? null : -errno, "open '/dev/null'");
    return 0;
}
#endif

static int confine(uint64_t max_bytes, struct err *err)
{
    (void)close_range(STDERR_FILENO + 1, UINT_MAX, 0);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_CPU, CPU_S_MIN + max_bytes / BYTES_PER_CPU_S);
#ifdef HAS_SANITIZER /* which needs files and memory of its own */
    return 0;
#else
    static const struct confine_calls none = { 0 };
    struct confine_report ignored; /* runners say the same */
    limit(RLIMIT_DATA, LAYER_CHILD_MEMORY_BYTES);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return err_sys(err, -errno, "prctl");
    confine_oom();
    int r = leave_stderr(err);
    r = r < 0 ? r : confine_enter(&ignored, err);
    if (r < 0)
        return r;
    limit(RLIMIT_NOFILE, STDERR_FILENO + 1);
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
        return err_sys(err, -errno, "prctl");
    return confine_filter(&none, err);
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
    scoped(free_scoped) struct layer_wire_out *out = xnew(struct layer_wire_out);
    if (argc != 4 || parse_u64(str_of(argv[2]), 1, UINT64_MAX, &max_bytes) < 0)
        return 2; /* it is no command for people */
    bool is_raw = str_is(str_of(argv[3]), "raw");
    out->fd = STDOUT_FILENO;
    /* First, because libraries are read from files: that of hashes its configuration, too. */
    (void)inflate_fast_load();
    scoped(layer_parser_free_scoped) struct layer_parser *p =
        layer_parser_new(is_raw ? &layer_wire_raw_ops : &layer_wire_ops, out, max_bytes);
    int r = confine(max_bytes, &err);
    r = r < 0 ? r : parse_all(p, &facts, &err);
    return layer_wire_end(out, r, &facts, &err) < 0;
}

/* ---- the parent ---- */

enum feeding { FEEDING_SOURCE, FEEDING_CHILD, FEEDING_OVER };

struct child {
    int pid;
    int to, from; /* pipes; -1: closed */
    layer_feed feed;
    void *feed_arg;
    _Atomic int feeding; /* what the feeder waits for */
    bool is_gone;        /* feeder: the child does not read any more */
    int fed;             /* result of feed */
    struct err fed_err;
};

static int spawn_to(const char *program, char **argv, int in, int out, struct err *err)
{
    char *envp[] = { NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t none;
    (void)sigemptyset(&none);
    int pid, r = posix_spawn_file_actions_init(&actions);
    if (r)
        return err_sys(err, -r, "start the reader of layers");
    (void)posix_spawnattr_init(&attr);
    (void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
    (void)posix_spawnattr_setsigmask(&attr, &none);
    r = posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
#ifndef HAS_SANITIZER
    int spawning = confine_spawn_begin();
#else
    int spawning = -1;
#endif
    if (r == 0)
        r = posix_spawn(&pid, program, &actions, &attr, argv, envp);
    confine_spawn_end(spawning);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attr);
    return r ? err_sys(err, -r, "start '%s'", program) : pid;
}

static int spawn(struct child *c, const struct layer_read_opts *o, bool is_raw, struct err *err)
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
    c->pid = spawn_to(o->program ? o->program : "/proc/self/exe", argv, in[0], out[1], err);
    (void)close(in[0]);
    (void)close(out[1]);
    c->to = in[1];
    c->from = out[0];
    return c->pid < 0 ? c->pid : 0;
}

static int to_child(void *arg, struct str bytes, struct err *err)
{
    struct child *c = arg;
    atomic_store(&c->feeding, FEEDING_CHILD);
    int r = sys_write_all(c->to, bytes.p, bytes.n);
    atomic_store(&c->feeding, FEEDING_SOURCE);
    c->is_gone = r < 0;
    return r < 0 ? err_sys(err, r, "write to the reader of layers") : 0;
}

static void *feed_main(void *arg)
{
    struct child *c = arg;
    sigset_t pipe_signal;
    (void)sigemptyset(&pipe_signal);
    (void)sigaddset(&pipe_signal, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &pipe_signal, NULL); /* EPIPE says the same */
    c->fed = c->feed(c->feed_arg, to_child, c, &c->fed_err);
    fd_scoped(&c->to);
    c->to = -1;
    atomic_store(&c->feeding, FEEDING_OVER);
    return NULL;
}

/* Until there is something to read. */
static int wait_for_child(struct child *c, struct err *err)
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

static int read_records(struct child *c, struct layer_wire_in *in, struct err *err)
{
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
        ptrdiff_t taken = layer_wire_take(in, str_n(buffer, n), err);
        if (taken < 0)
            return (int)taken;
        n -= (size_t)taken;
        memmove(buffer, buffer + taken, n);
    }
    return in->is_over && n == 0 ? 0 : err_set(err, E_EOF, "the reader of layers ended early");
}

/* The child has closed its output or is not wanted any more. It gets no chance to stay: a signal
 * to one that is ending already does not change its status. */
static int reap(struct child *c, int r, struct err *err)
{
    int status;
    (void)close(c->from);
    (void)confine_signal(c->pid, SIGKILL);
    while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (r == E_EOF && WIFSIGNALED(status))
        return err_set(
            err, E_PARSE, "the reader of layers was ended by signal %d%s", WTERMSIG(status),
            WTERMSIG(status) == SIGSYS ? ", for a system call that it must not make" : "");
    return r;
}

int layer_read(const struct layer_read_opts *opts, layer_feed feed, void *feed_arg,
               const struct layer_ops *ops, void *arg, struct layer_facts *ret, struct err *err)
{
    struct child c = { .feed = feed, .feed_arg = feed_arg, .to = -1, .from = -1 };
    struct layer_wire_in in = { .ops = ops, .arg = arg, .max_bytes = opts->max_bytes };
    pthread_t feeder;
    int r = spawn(&c, opts, ops->raw != NULL, err);
    if (r < 0) {
        fd_scoped(&c.to);
        fd_scoped(&c.from);
        return r;
    }
    int started = pthread_create(&feeder, NULL, feed_main, &c);
    r = started ? err_sys(err, -started, "start a thread") : read_records(&c, &in, err);
    r = reap(&c, r, err);
    if (started) {
        fd_scoped(&c.to);
        return r;
    }
    (void)pthread_join(feeder, NULL);
    if (c.fed < 0 && !c.is_gone) { /* what the child said of half a blob explains nothing */
        if (err)
            *err = c.fed_err;
        return c.fed;
    }
    if (r >= 0 && c.fed < 0) /* nothing has compared the digest of the rest */
        return err_set(err, E_PARSE, "the reader of layers ended before its blob did");
    if (r >= 0)
        *ret = in.facts;
    return r;
}
