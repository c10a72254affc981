/* SPDX-License-Identifier: Apache-2.0 */
#include "wasm/confine_calls.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* The calls for memory allocation, reading, writing, aborting and exiting. */
static const int allowed_calls[] = {
    SCMP_SYS(read),          SCMP_SYS(pread64),         SCMP_SYS(write),
    SCMP_SYS(lseek),         SCMP_SYS(fstat),           SCMP_SYS(close),
    SCMP_SYS(munmap),        SCMP_SYS(mremap),          SCMP_SYS(madvise),
    SCMP_SYS(brk),           SCMP_SYS(futex),           SCMP_SYS(sigaltstack),
    SCMP_SYS(rt_sigaction),  SCMP_SYS(rt_sigprocmask),  SCMP_SYS(rt_sigreturn),
    SCMP_SYS(clock_gettime), SCMP_SYS(getrandom),       SCMP_SYS(sched_yield),
    SCMP_SYS(gettid),        SCMP_SYS(getpid),          SCMP_SYS(exit),
    SCMP_SYS(exit_group),    SCMP_SYS(restart_syscall),
};

static int add_rules(scmp_filter_ctx ctx, const struct confine_calls *calls)
{
    int r = 0;
    for (size_t i = 0; i < calls->n_refused && r == 0; i++)
        r = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), calls->refused[i], 0);
    for (size_t i = 0; i < ARRAY_LEN(allowed_calls) && r == 0; i++)
        r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, allowed_calls[i], 0);
    for (size_t i = 0; i < calls->n_allowed && r == 0; i++)
        r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, calls->allowed[i], 0);
    /* The C library's fstat(). With this flag a name would still be looked up, but in an empty
     * root. */
    if (r == 0)
        r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(newfstatat), 1,
                             SCMP_A3(SCMP_CMP_EQ, AT_EMPTY_PATH, 0));
    /* Only mappings that are not executable. */
    if (r == 0)
        r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
                             SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    if (r == 0)
        r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
                             SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    if (r == 0)
        r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 1,
                             SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME, 0));
    /* abort() sends a signal to itself. */
    if (r == 0)
        r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
                             SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0));
    return r;
}

int confine_filter(const struct confine_calls *calls, struct err *err)
{
    scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
    if (!ctx)
        return err_set(err, -ENOMEM, "no memory for the system call filter");
    int r = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_TSYNC, 1); /* for all threads */
    if (r == 0)
        r = add_rules(ctx, calls);
    if (r == 0)
        r = seccomp_load(ctx);
    seccomp_release(ctx);
    return r < 0 ? err_sys(err, r, "load the system call filter") : 0;
}
