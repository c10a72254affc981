/* SPDX-License-Identifier: Apache-2.0 */
/* Confinement of the runner; see sandbox.h. */
#include "runner/sandbox.h"

#include "base/mem.h"
#include "base/sanitizer.h"
#include "wasm/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

void sandbox_allow_memory(struct runner *r)
{
    uint64_t want = SANDBOX_MEMORY_BYTES + r->guest_bytes;
    want += SANDBOX_MEMORY_STEP - want % SANDBOX_MEMORY_STEP;
    if (want <= r->data_max && r->data_max - want <= SANDBOX_MEMORY_STEP)
        return;
#if !HAS_SANITIZER /* sanitizers need much memory */
    const struct rlimit limit = { .rlim_cur = want, .rlim_max = RLIM_INFINITY };
    if (setrlimit(RLIMIT_DATA, &limit) == 0)
        r->data_max = want;
#endif
}

static void *join_group(void *arg)
{
    confine_join_memory(((struct runner *)arg)->group_fd);
    return NULL;
}

void sandbox_join_group(struct runner *r)
{
    enum { STACK_BYTES = 64 << 10 };
    pthread_attr_t attr;
    pthread_t thread;
    if (r->group_fd < 0 || pthread_attr_init(&attr) != 0)
        return;
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&thread, &attr, join_group, r) != 0)
        confine_join_memory(r->group_fd);
    (void)pthread_attr_destroy(&attr);
}

int sandbox_prepare(struct runner *r, struct err *err)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return err_sys(err, -errno, "prctl");
    confine_oom();
    (void)close_range(4, UINT_MAX, 0); /* only the socket, 3, should be open */
    r->group_fd = confine_take_memory();
    /* With huge pages one write to a large memory would dirty 512 pages. */
    if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) < 0)
        return err_sys(err, -errno, "disable huge pages");
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max; /* one per awake guest that has slept, one per module */
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    const struct rlimit none = { 0, 0 };
    struct rlimit file_size;
    (void)getrlimit(RLIMIT_FSIZE, &file_size);
    /* A 32-bit memory and its record. */
    file_size.rlim_max = MIN(file_size.rlim_max, ((rlim_t)4 << 30) + ((rlim_t)8 << 20));
    file_size.rlim_cur = file_size.rlim_max;
    if (setrlimit(RLIMIT_CORE, &none) < 0 || setrlimit(RLIMIT_FSIZE, &file_size) < 0)
        return err_sys(err, -errno, "set resource limits");
    (void)signal(SIGXFSZ, SIG_IGN);
    (void)signal(SIGPIPE, SIG_IGN);
    sandbox_allow_memory(r);
    return 0;
}

/* PAGEMAP_SCAN; see hibernate.c. */
#define PM_SCAN_REQUEST 0xc0606610u

static const int allowed[] = {
    SCMP_SYS(read),
    SCMP_SYS(write),
    SCMP_SYS(pread64),
    SCMP_SYS(pwrite64),
    SCMP_SYS(recvmsg),
    SCMP_SYS(sendmsg),
    SCMP_SYS(close),
    SCMP_SYS(fstat),
    SCMP_SYS(lseek),
    SCMP_SYS(fallocate),
    SCMP_SYS(ftruncate),
    SCMP_SYS(memfd_create),
    SCMP_SYS(mmap),
    SCMP_SYS(munmap),
    SCMP_SYS(mprotect),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(brk),
    SCMP_SYS(futex),
    SCMP_SYS(getrandom),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(gettid),
    SCMP_SYS(getpid),
    SCMP_SYS(sched_yield),
    SCMP_SYS(set_robust_list), /* at the start of a thread, like the next one */
    SCMP_SYS(rseq),
};

enum { LIBC_SIGSETXID = 33 };

/* clone(2) is allowed for threads of this process alone. */
enum {
    THREAD_FLAGS = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD,
    NO_THREAD_FLAGS = CLONE_VFORK | CLONE_PTRACE | CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
                      CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET
};

/* Allow a call with this value of an argument. SCMP_A1() and similar macros would leave a field
 * uninitialised. */
static int allow_value(scmp_filter_ctx ctx, int call, unsigned arg, uint64_t value)
{
    const struct scmp_arg_cmp is_value = { .arg = arg, .op = SCMP_CMP_EQ, .datum_a = value };
    return seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, call, 1, &is_value);
}

/* The commands that the engine and the C library use; other commands could make a socket send
 * signals. */
static const int fcntl_commands[] = { F_DUPFD_CLOEXEC, F_ADD_SEALS, F_GET_SEALS };

static int add_rules(scmp_filter_ctx ctx)
{
    for (size_t i = 0; i < ARRAY_LEN(allowed); i++) {
        int r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, allowed[i], 0);
        if (r < 0)
            return r;
    }
    int r = allow_value(ctx, SCMP_SYS(ioctl), 1, PM_SCAN_REQUEST);
    for (size_t i = 0; i < ARRAY_LEN(fcntl_commands) && r == 0; i++)
        r = allow_value(ctx, SCMP_SYS(fcntl), 1, (uint64_t)fcntl_commands[i]);
    /* The C library's fstat(). With this flag a name would still be looked up, but in an empty
     * root. */
    if (r == 0)
        r = allow_value(ctx, SCMP_SYS(newfstatat), 3, AT_EMPTY_PATH);
    /* sandbox_allow_memory() */
    const struct scmp_arg_cmp is_own_data[] = {
        { .arg = 0, .op = SCMP_CMP_EQ, .datum_a = 0 },
        { .arg = 1, .op = SCMP_CMP_EQ, .datum_a = RLIMIT_DATA },
    };
    if (r == 0)
        r = seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), ARRAY_LEN(is_own_data),
                                   is_own_data);
    const struct scmp_arg_cmp is_thread = { .arg = 0,
                                            .op = SCMP_CMP_MASKED_EQ,
                                            .datum_a = THREAD_FLAGS | NO_THREAD_FLAGS,
                                            .datum_b = THREAD_FLAGS };
    if (r == 0)
        r = seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1, &is_thread);
    /* The C library's internal signal, whose handler the first thread installs. */
    if (r == 0)
        r = allow_value(ctx, SCMP_SYS(rt_sigaction), 0, LIBC_SIGSETXID);
    /* The flags of clone3 lie in memory, which the filter cannot read; the C library falls back to
     * clone. */
    if (r == 0)
        r = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    /* Standard libraries fall back to fstat. */
    if (r == 0)
        r = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(statx), 0);
    return r;
}

int sandbox_enter(struct runner *r, struct err *err)
{
#if !HAS_SANITIZER /* sanitizers need files and further system calls at any time */
    int status = confine_enter(&r->confined, err);
    if (status < 0)
        return status;
#endif
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
        return err_sys(err, -errno, "prctl");
#if HAS_SANITIZER
    return 0;
#endif
    scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
    if (!ctx)
        return err_set(err, -ENOMEM, "seccomp");
    int loaded = add_rules(ctx);
    if (loaded == 0)
        loaded = seccomp_load(ctx);
    seccomp_release(ctx);
    return loaded < 0 ? err_sys(err, loaded, "load the system call filter") : 0;
}
