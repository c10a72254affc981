/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dormouse-compile: one Wasm module in, machine code and a description of the module out.
 *
 * The only program with a compiler in it. It runs once per module, as a child of the module cache,
 * because compiling hostile input is outside the engine's security promise: before it looks at the
 * module it gives up everything but reading, writing and memory, by resource limits and a
 * list of allowed system calls. Running out of memory inside the compiler aborts; every end but
 * status 0 means that the module is rejected. Statuses are in wasm/compile_exit.h.
 *
 *     dormouse-compile [--names] [--quick] [--background] WASM CODE INFO
 *     dormouse-compile --version
 *
 * Each is a path or fd:N, an inherited descriptor. --quick: code that is there soon and runs slower
 * (quick.h). --background: no request waits, so it takes one core at the lowest priority; otherwise
 * a large module takes several cores, and the limit of processor time is low.
 */
#include "compile/quick.h"
#include "version.h" /* made by meson: what was built */
#include "wasm/compile_exit.h"
#include "wasm/confine.h"
#include "wasm/confine_calls.h"
#include "wasm/engine_config.h"
#include "wasm/instrument.h"

#include "base/sanitizer.h"
#include "base/sys.h"

#include <dm_engine.h>

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Smaller modules are done before a second thread has begun. */
#define THREADS_FROM_BYTES ((uint64_t)256 << 10)

struct compile_job {
    unsigned flags;
    bool is_quick, is_background;
    unsigned threads;
    int wasm_fd, code_fd, info_fd;
    uint64_t wasm_bytes;
    wasm_engine_t *engine;
    struct quick *quick; /* NULL unless is_quick */
};

static int open_arg(const char *arg, int flags, struct err *err)
{
    if (str_has_prefix(str_of(arg), STR("fd:"))) {
        uint64_t fd;
        if (parse_u64(str_of(arg + 3), 0, 1 << 20, &fd) < 0)
            return err_set(err, -EINVAL, "'%s' is not fd: and a number", arg);
        return (int)fd;
    }
    int fd = sys_openat(AT_FDCWD, arg, flags, 0600);
    return fd < 0 ? err_sys(err, fd, "open '%s'", arg) : fd;
}

static int open_args(struct compile_job *job, int argc, char **argv, struct err *err)
{
    int at = 1;
    for (; at < argc && argv[at][0] == '-'; at++) {
        if (strcmp(argv[at], "--names") == 0)
            job->flags |= INSTRUMENT_KEEP_NAMES;
        else if (strcmp(argv[at], "--quick") == 0)
            job->is_quick = true;
        else if (strcmp(argv[at], "--background") == 0)
            job->is_background = true;
        else
            break;
    }
    if (argc - at != 3)
        return err_set(err, -EINVAL,
                       "usage: dormouse-compile [--names] [--quick] [--background] WASM CODE INFO "
                       "(each a path or fd:N)");
    job->wasm_fd = open_arg(argv[at], O_RDONLY, err);
    if (job->wasm_fd < 0)
        return job->wasm_fd;
    job->code_fd = open_arg(argv[at + 1], O_WRONLY | O_CREAT | O_TRUNC, err);
    if (job->code_fd < 0)
        return job->code_fd;
    job->info_fd = open_arg(argv[at + 2], O_WRONLY | O_CREAT | O_TRUNC, err);
    if (job->info_fd < 0)
        return job->info_fd;

    struct stat st;
    if (fstat(job->wasm_fd, &st) < 0)
        return err_sys(err, -errno, "stat the module");
    if (!S_ISREG(st.st_mode))
        return err_set(err, -EINVAL, "the module is not a regular file");
    if (st.st_size <= 0 || (uint64_t)st.st_size > MODULE_WASM_BYTES_MAX)
        return err_set(err, E_LIMIT, "the module has %jd bytes; 1 to %ju are accepted",
                       (intmax_t)st.st_size, (uintmax_t)MODULE_WASM_BYTES_MAX);
    job->wasm_bytes = (uint64_t)st.st_size;
    return 0;
}

static int limit_both(int what, uint64_t soft, uint64_t hard, struct err *err)
{
    struct rlimit now;
    if (getrlimit((__rlimit_resource_t)what, &now) < 0)
        return err_sys(err, -errno, "getrlimit");
    struct rlimit want = { .rlim_cur = MIN((rlim_t)soft, now.rlim_max),
                           .rlim_max = MIN((rlim_t)hard, now.rlim_max) };
    if (setrlimit((__rlimit_resource_t)what, &want) < 0)
        return err_sys(err, -errno, "setrlimit");
    return 0;
}

static int limit(int what, uint64_t value, struct err *err)
{
    return limit_both(what, value, value, err);
}

static unsigned count_threads(const struct compile_job *job)
{
    cpu_set_t set;
    if (job->is_background || job->wasm_bytes < THREADS_FROM_BYTES ||
        sched_getaffinity(0, sizeof set, &set) < 0)
        return 1;
    return MIN((unsigned)CPU_COUNT(&set), COMPILE_THREADS_MAX);
}

static void on_gave_up(int signal)
{
    _exit(signal == SIGXCPU ? COMPILE_CPU_TIME : COMPILE_GAVE_UP);
}

static int set_limits(struct compile_job *job, struct err *err)
{
    char text[16];
    uint64_t cpu_s =
        job->is_background ? COMPILE_CPU_S(job->wasm_bytes) : COMPILE_WAITED_CPU_S(job->wasm_bytes);
    job->threads = count_threads(job);
    (void)snprintf(text, sizeof text, "%u", job->threads);
    (void)setenv("RAYON_NUM_THREADS", text, 1); /* the engine takes the number from here */
    (void)mallopt(M_ARENA_MAX, (int)job->threads);
#if !HAS_SANITIZER /* its shadow memory alone is terabytes of address space */
    int r = limit(RLIMIT_AS,
                  COMPILE_MEMORY_BYTES(job->wasm_bytes) + job->threads * COMPILE_THREAD_BYTES, err);
    if (r < 0)
        return r;
#endif
    /* The soft limit is a signal of its own; SIGKILL would look like the end of the memory. */
    if (limit_both(RLIMIT_CPU, cpu_s, cpu_s + 1, err) < 0 ||
        limit(RLIMIT_FSIZE, COMPILE_FILE_BYTES, err) < 0 || limit(RLIMIT_CORE, 0, err) < 0)
        return err->code;
    (void)signal(SIGXCPU, on_gave_up);
    (void)signal(SIGABRT, on_gave_up);
    /* Too large a file is an error to report, not a signal. */
    (void)signal(SIGXFSZ, SIG_IGN);
    if (job->is_background)
        (void)setpriority(PRIO_PROCESS, 0, 19);
    return 0;
}

/* A module of a few functions: compiling it starts the engine's threads, which the system call
 * filter prevents later. */
static const uint8_t warm_up_wasm[] = { 0, 'a', 's',  'm', 1, 0,    0, 0, 1,    4,  1,  0x60,
                                        0, 0,   3,    5,   4, 0,    0, 0, 0,    10, 13, 4,
                                        2, 0,   0x0b, 2,   0, 0x0b, 2, 0, 0x0b, 2,  0,  0x0b };

static void ignore_code(void *env, const uint8_t *bytes, size_t n)
{
}

static int make_engine(struct compile_job *job, struct err *err)
{
    bool threads = job->threads > 1;
    int r = job->is_quick ? quick_new(threads, &job->quick, err)
                          : engine_new_compiler(ENGINE_BEST, threads, &job->engine, err);
    if (r < 0 || !threads)
        return r;
    wasmtime_error_t *e =
        dm_engine_precompile(job->is_quick ? quick_engine(job->quick) : job->engine, warm_up_wasm,
                             sizeof warm_up_wasm, ignore_code, NULL);
    return e ? engine_err(err, E_INVALID, e, "start the compiler") : 0;
}

/* For a thread that was created before the filter and runs its first code after it. */
static const int allowed_calls[] = { SCMP_SYS(sched_getaffinity), SCMP_SYS(set_robust_list),
                                     SCMP_SYS(rseq) };

/* The engine's language looks for symbols when it aborts; it does without. */
static const int refused_calls[] = { SCMP_SYS(getcwd), SCMP_SYS(openat), SCMP_SYS(readlink) };

static const struct confine_calls calls = { allowed_calls, ARRAY_LEN(allowed_calls), refused_calls,
                                            ARRAY_LEN(refused_calls) };

/* To be called while the process has one thread. */
static int give_up_files(struct err *err)
{
#if !HAS_SANITIZER /* which needs files of its own */
    confine_oom();
    confine_join_memory(confine_take_memory());
    struct confine_report ignored; /* runners, which are started alike, say the same */
    int status = confine_enter(&ignored, err);
    if (status < 0)
        return status;
#endif
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* which the change of user has cleared */
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    return 0;
}

static int read_wasm(const struct compile_job *job, char **ret, struct err *err)
{
    scoped(free_scoped) char *p = mem_try(job->wasm_bytes);
    if (!p)
        return err_set(err, -ENOMEM, "no memory to read the module");
    ssize_t n = sys_pread_full(job->wasm_fd, p, job->wasm_bytes, 0);
    if (n < 0)
        return err_set(err, -EIO, "read the module: %s", err_strerror((int)n));
    if ((uint64_t)n != job->wasm_bytes)
        return err_set(err, -EIO, "the module became shorter while it was read");
    *ret = take_ptr(&p);
    return 0;
}

static int write_out(int fd, const void *p, size_t n, struct err *err)
{
    int r = sys_write_all(fd, p, n);
    int code = r == -ENOSPC || r == -EDQUOT ? -ENOSPC : -EIO;
    return r < 0 ? err_set(err, code, "write the result: %s", err_strerror(r)) : 0;
}

struct compile_sink {
    int fd;
    int status;
    struct err *err;
};

static void on_code(void *env, const uint8_t *bytes, size_t n)
{
    struct compile_sink *sink = env;
    sink->status = write_out(sink->fd, bytes, n, sink->err);
}

/* Instrumented module in `out`; its description is written. The original is gone when this returns,
 * so that it does not take memory from the compiler. */
static int rewrite(const struct compile_job *job, struct buf *out, struct err *err)
{
    scoped(free_scoped) char *wasm = NULL;
    scoped(module_info_free_scoped) struct module_info *info = NULL;
    int r = read_wasm(job, &wasm, err);
    if (r == 0)
        r = instrument(str_n(wasm, job->wasm_bytes), job->flags, out, &info, err);
    if (r < 0)
        return r;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    r = module_info_encode(info, &text);
    if (r < 0)
        return err_sys(err, r, "describe the module");
    return write_out(job->info_fd, text.p, text.n, err);
}

static int compile(const struct compile_job *job, struct err *err)
{
    scoped(buf_fini_scoped) struct buf wasm = BUF_INIT(job->wasm_bytes + INSTRUMENT_GROWTH_MAX);
    int r = rewrite(job, &wasm, err);
    if (r < 0)
        return r;
    if (job->quick)
        return quick_compile(job->quick, buf_str(&wasm), job->code_fd, err);
    struct compile_sink sink = { .fd = job->code_fd, .err = err };
    wasmtime_error_t *e =
        dm_engine_precompile(job->engine, (const uint8_t *)wasm.p, wasm.n, on_code, &sink);
    if (e)
        return engine_err(err, E_INVALID, e, "compile");
    return sink.status;
}

static int run(int argc, char **argv, struct err *err)
{
    struct compile_job job = { 0 };
    /* From the first moment: it may be stopped, and would wait for ever for a parent that is gone.
     */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    int r = open_args(&job, argc, argv, err);
    if (r == 0)
        r = set_limits(&job, err);
    if (r == 0)
        r = give_up_files(err);
    if (r == 0)
        r = make_engine(&job, err);
    if (r == 0)
        r = confine_filter(&calls, err);
    if (r == 0)
        r = compile(&job, err);
    return r;
}

static int exit_status(int code)
{
    switch (code) {
#define COMPILE_EXIT_STATUS(name, status, error)                                                   \
    case error:                                                                                    \
        return status;
        COMPILE_EXITS(COMPILE_EXIT_STATUS)
#undef COMPILE_EXIT_STATUS
    default:
        return COMPILE_IO;
    }
}

int main(int argc, char **argv)
{
    struct err err = { 0 };
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        (void)dprintf(STDOUT_FILENO, "dormouse-compile %s\n", strrchr(DORMOUSE_BUILT, ' ') + 1);
        return 0;
    }
    int r = run(argc, argv, &err);
    if (r < 0)
        (void)dprintf(STDERR_FILENO, "%s\n", err_text(&err));
    /* No destructors: nothing is left to release that the kernel does not. */
    _exit(exit_status(r));
}
