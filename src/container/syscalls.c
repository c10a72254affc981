/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The allow list has the calls that programs of any language need, on any architecture, without
 * those that change the machine, its kernel, namespaces, mounts, clocks or other processes. It also
 * excludes, beyond what the missing capabilities prevent: bpf, perf_event_open, userfaultfd,
 * io_uring, keyctl, ptrace and similar calls, all of which have been used to escape from
 * containers. clone is allowed if it makes no namespace; clone3, whose flags a filter cannot read,
 * does not exist for containers, and libraries then use clone. Sockets to the hypervisor (AF_VSOCK)
 * would bypass every network namespace. A filter sees 64 bits of a family, and the kernel uses 32:
 * so the allow list has the families below that one, and the refuse list checks the lower half.
 *
 * The default list is that of other container runtimes: the allow list, what debuggers need, and
 * what each capability of the container is good for.
 *
 * The refuse list has calls that reach the kernel's state, other namespaces, or code in which many
 * flaws were found. Calls that need a capability are on it for programs that gain one through a
 * flaw.
 */
#include "container/syscalls.h"

#include "base/mem.h"
#include "base/sys.h"
#include "codec/base64.h"

#include <assert.h>
#include <errno.h>
#include <seccomp.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CLONE_NAMESPACES = 0x7e020000, /* flags that clone() must not have */
    CLONE_NEW_USER = 0x10000000,
    SOCKET_VSOCK = 40, /* the family that socket() must not be asked for */
    SOCKET_FAMILIES = 46,
    INT_BITS = 0xffffffff,
    ERRNO_PERM = 1,
    ERRNO_NOSYS = 38
};

static const char *const allowed_calls[] = { "_llseek",
                                             "_newselect",
                                             "accept",
                                             "accept4",
                                             "access",
                                             "alarm",
                                             "arch_prctl",
                                             "arm_fadvise64_64",
                                             "arm_sync_file_range",
                                             "bind",
                                             "breakpoint",
                                             "brk",
                                             "cacheflush",
                                             "cachestat",
                                             "capget",
                                             "capset",
                                             "chdir",
                                             "chmod",
                                             "chown",
                                             "chown32",
                                             "clock_getres",
                                             "clock_getres_time64",
                                             "clock_gettime",
                                             "clock_gettime64",
                                             "clock_nanosleep",
                                             "clock_nanosleep_time64",
                                             "close",
                                             "close_range",
                                             "connect",
                                             "copy_file_range",
                                             "creat",
                                             "dup",
                                             "dup2",
                                             "dup3",
                                             "epoll_create",
                                             "epoll_create1",
                                             "epoll_ctl",
                                             "epoll_pwait",
                                             "epoll_pwait2",
                                             "epoll_wait",
                                             "eventfd",
                                             "eventfd2",
                                             "execve",
                                             "execveat",
                                             "exit",
                                             "exit_group",
                                             "faccessat",
                                             "faccessat2",
                                             "fadvise64",
                                             "fadvise64_64",
                                             "fallocate",
                                             "fanotify_mark",
                                             "fchdir",
                                             "fchmod",
                                             "fchmodat",
                                             "fchmodat2",
                                             "fchown",
                                             "fchown32",
                                             "fchownat",
                                             "fcntl",
                                             "fcntl64",
                                             "fdatasync",
                                             "fgetxattr",
                                             "flistxattr",
                                             "flock",
                                             "fork",
                                             "fremovexattr",
                                             "fsetxattr",
                                             "fstat",
                                             "fstat64",
                                             "fstatat64",
                                             "fstatfs",
                                             "fstatfs64",
                                             "fsync",
                                             "ftruncate",
                                             "ftruncate64",
                                             "futex",
                                             "futex_requeue",
                                             "futex_time64",
                                             "futex_wait",
                                             "futex_waitv",
                                             "futex_wake",
                                             "futimesat",
                                             "get_robust_list",
                                             "get_thread_area",
                                             "getcpu",
                                             "getcwd",
                                             "getdents",
                                             "getdents64",
                                             "getegid",
                                             "getegid32",
                                             "geteuid",
                                             "geteuid32",
                                             "getgid",
                                             "getgid32",
                                             "getgroups",
                                             "getgroups32",
                                             "getitimer",
                                             "getpeername",
                                             "getpgid",
                                             "getpgrp",
                                             "getpid",
                                             "getppid",
                                             "getpriority",
                                             "getrandom",
                                             "getresgid",
                                             "getresgid32",
                                             "getresuid",
                                             "getresuid32",
                                             "getrlimit",
                                             "getrusage",
                                             "getsid",
                                             "getsockname",
                                             "getsockopt",
                                             "gettid",
                                             "gettimeofday",
                                             "getuid",
                                             "getuid32",
                                             "getxattr",
                                             "inotify_add_watch",
                                             "inotify_init",
                                             "inotify_init1",
                                             "inotify_rm_watch",
                                             "io_cancel",
                                             "io_destroy",
                                             "io_getevents",
                                             "io_pgetevents",
                                             "io_pgetevents_time64",
                                             "io_setup",
                                             "io_submit",
                                             "ioctl",
                                             "ioprio_get",
                                             "ioprio_set",
                                             "kill",
                                             "landlock_add_rule",
                                             "landlock_create_ruleset",
                                             "landlock_restrict_self",
                                             "lchown",
                                             "lchown32",
                                             "lgetxattr",
                                             "link",
                                             "linkat",
                                             "listen",
                                             "listxattr",
                                             "llistxattr",
                                             "lremovexattr",
                                             "lseek",
                                             "lsetxattr",
                                             "lstat",
                                             "lstat64",
                                             "madvise",
                                             "map_shadow_stack",
                                             "membarrier",
                                             "memfd_create",
                                             "memfd_secret",
                                             "mincore",
                                             "mkdir",
                                             "mkdirat",
                                             "mlock",
                                             "mlock2",
                                             "mlockall",
                                             "mmap",
                                             "mmap2",
                                             "mprotect",
                                             "mq_getsetattr",
                                             "mq_notify",
                                             "mq_open",
                                             "mq_timedreceive",
                                             "mq_timedreceive_time64",
                                             "mq_timedsend",
                                             "mq_timedsend_time64",
                                             "mq_unlink",
                                             "mremap",
                                             "msgctl",
                                             "msgget",
                                             "msgrcv",
                                             "msgsnd",
                                             "msync",
                                             "munlock",
                                             "munlockall",
                                             "munmap",
                                             "nanosleep",
                                             "newfstatat",
                                             "nice",
                                             "open",
                                             "openat",
                                             "openat2",
                                             "pause",
                                             "pidfd_open",
                                             "pidfd_send_signal",
                                             "pipe",
                                             "pipe2",
                                             "pkey_alloc",
                                             "pkey_free",
                                             "pkey_mprotect",
                                             "poll",
                                             "ppoll",
                                             "ppoll_time64",
                                             "prctl",
                                             "pread64",
                                             "preadv",
                                             "preadv2",
                                             "prlimit64",
                                             "process_mrelease",
                                             "pselect6",
                                             "pselect6_time64",
                                             "pwrite64",
                                             "pwritev",
                                             "pwritev2",
                                             "read",
                                             "readahead",
                                             "readlink",
                                             "readlinkat",
                                             "readv",
                                             "recv",
                                             "recvfrom",
                                             "recvmmsg",
                                             "recvmmsg_time64",
                                             "recvmsg",
                                             "removexattr",
                                             "rename",
                                             "renameat",
                                             "renameat2",
                                             "restart_syscall",
                                             "riscv_flush_icache",
                                             "rmdir",
                                             "rseq",
                                             "rt_sigaction",
                                             "rt_sigpending",
                                             "rt_sigprocmask",
                                             "rt_sigqueueinfo",
                                             "rt_sigreturn",
                                             "rt_sigsuspend",
                                             "rt_sigtimedwait",
                                             "rt_sigtimedwait_time64",
                                             "rt_tgsigqueueinfo",
                                             "sched_get_priority_max",
                                             "sched_get_priority_min",
                                             "sched_getaffinity",
                                             "sched_getattr",
                                             "sched_getparam",
                                             "sched_getscheduler",
                                             "sched_rr_get_interval",
                                             "sched_rr_get_interval_time64",
                                             "sched_setaffinity",
                                             "sched_setattr",
                                             "sched_setparam",
                                             "sched_setscheduler",
                                             "sched_yield",
                                             "seccomp",
                                             "select",
                                             "semctl",
                                             "semget",
                                             "semop",
                                             "semtimedop",
                                             "semtimedop_time64",
                                             "send",
                                             "sendfile",
                                             "sendfile64",
                                             "sendmmsg",
                                             "sendmsg",
                                             "sendto",
                                             "set_robust_list",
                                             "set_thread_area",
                                             "set_tid_address",
                                             "set_tls",
                                             "setfsgid",
                                             "setfsgid32",
                                             "setfsuid",
                                             "setfsuid32",
                                             "setgid",
                                             "setgid32",
                                             "setgroups",
                                             "setgroups32",
                                             "setitimer",
                                             "setpgid",
                                             "setpriority",
                                             "setregid",
                                             "setregid32",
                                             "setresgid",
                                             "setresgid32",
                                             "setresuid",
                                             "setresuid32",
                                             "setreuid",
                                             "setreuid32",
                                             "setrlimit",
                                             "setsid",
                                             "setsockopt",
                                             "setuid",
                                             "setuid32",
                                             "setxattr",
                                             "shmat",
                                             "shmctl",
                                             "shmdt",
                                             "shmget",
                                             "shutdown",
                                             "sigaction",
                                             "sigaltstack",
                                             "signal",
                                             "signalfd",
                                             "signalfd4",
                                             "sigpending",
                                             "sigprocmask",
                                             "sigreturn",
                                             "sigsuspend",
                                             "socketcall",
                                             "socketpair",
                                             "splice",
                                             "stat",
                                             "stat64",
                                             "statfs",
                                             "statfs64",
                                             "statx",
                                             "symlink",
                                             "symlinkat",
                                             "sync",
                                             "sync_file_range",
                                             "sync_file_range2",
                                             "syncfs",
                                             "sysinfo",
                                             "tee",
                                             "tgkill",
                                             "time",
                                             "timer_create",
                                             "timer_delete",
                                             "timer_getoverrun",
                                             "timer_gettime",
                                             "timer_gettime64",
                                             "timer_settime",
                                             "timer_settime64",
                                             "timerfd_create",
                                             "timerfd_gettime",
                                             "timerfd_gettime64",
                                             "timerfd_settime",
                                             "timerfd_settime64",
                                             "times",
                                             "tkill",
                                             "truncate",
                                             "truncate64",
                                             "ugetrlimit",
                                             "umask",
                                             "uname",
                                             "unlink",
                                             "unlinkat",
                                             "utime",
                                             "utimensat",
                                             "utimensat_time64",
                                             "utimes",
                                             "vfork",
                                             "vmsplice",
                                             "wait4",
                                             "waitid",
                                             "waitpid",
                                             "write",
                                             "writev",
                                             NULL };

static const char *const refused_calls[] = {
    "acct",
    "add_key",
    "bpf",
    "clock_adjtime",
    "clock_settime",
    "delete_module",
    "finit_module",
    "fsconfig",
    "fsmount",
    "fsopen",
    "fspick",
    "init_module",
    "io_uring_enter",
    "io_uring_register",
    "io_uring_setup",
    "ioperm",
    "iopl",
    "kcmp",
    "kexec_file_load",
    "kexec_load",
    "keyctl",
    "lookup_dcookie",
    "mount",
    "mount_setattr",
    "move_mount",
    "name_to_handle_at",
    "nfsservctl",
    "open_by_handle_at",
    "open_tree",
    "perf_event_open",
    "pivot_root",
    "process_vm_readv",
    "process_vm_writev",
    "quotactl",
    "quotactl_fd",
    "reboot",
    "request_key",
    "setdomainname",
    "sethostname",
    "setns",
    "settimeofday",
    "swapoff",
    "swapon",
    "syslog",
    "umount2",
    "unshare",
    "userfaultfd",
    "vhangup",
    NULL,
};

/* ---- as JSON ---- */

static void add_names(const char *const *names, struct buf *to)
{
    (void)buf_add_cstr(to, "{\"names\":[");
    for (size_t i = 0; names[i]; i++)
        (void)buf_printf(to, "%s\"%s\"", i ? "," : "", names[i]);
    (void)buf_add_cstr(to, "],");
}

/* A call that is decided by its first argument; value_two: of MASKED_EQ. */
static void add_by_argument(const char *name, bool is_allowed, unsigned value, unsigned value_two,
                            const char *op, struct buf *to)
{
    if (is_allowed)
        (void)buf_printf(to, "{\"names\":[\"%s\"],\"action\":\"SCMP_ACT_ALLOW\",", name);
    else
        (void)buf_printf(to, "{\"names\":[\"%s\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":%d,",
                         name, ERRNO_PERM);
    (void)buf_printf(to, "\"args\":[{\"index\":0,\"value\":%u,\"valueTwo\":%u,\"op\":\"%s\"}]},",
                     value, value_two, op);
}

/* Its flags are in memory, where no filter can read them: libraries fall back to clone(). */
static void add_no_clone3(struct buf *to)
{
    (void)buf_printf(to, "{\"names\":[\"clone3\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":%d}",
                     ERRNO_NOSYS);
}

/* ---- by default ---- */

/* Besides allowed_calls. */
static const char *const default_calls[] = { "adjtimex",
                                             "file_getattr",
                                             "file_setattr",
                                             "getxattrat",
                                             "ipc",
                                             "listmount",
                                             "listxattrat",
                                             "lsm_get_self_attr",
                                             "lsm_list_modules",
                                             "lsm_set_self_attr",
                                             "mknod",
                                             "mknodat",
                                             "modify_ldt",
                                             "mseal",
                                             "name_to_handle_at",
                                             "pidfd_getfd",
                                             "process_madvise",
                                             "process_vm_readv",
                                             "process_vm_writev",
                                             "ptrace",
                                             "remap_file_pages",
                                             "removexattrat",
                                             "riscv_hwprobe",
                                             "setxattrat",
                                             "statmount",
                                             "uretprobe",
                                             NULL };

/* What each capability allows in addition; kernels check the capability as well. */
static const struct {
    const char *capability;
    const char *calls[24];
} default_by_capability[] = {
    { "CAP_BPF", { "bpf" } },
    { "CAP_DAC_READ_SEARCH", { "open_by_handle_at" } },
    { "CAP_PERFMON", { "perf_event_open" } },
    { "CAP_SYSLOG", { "syslog" } },
    { "CAP_SYS_ADMIN",
      { "bpf",         "fanotify_init",   "fsconfig", "fsmount",       "fsopen",
        "fspick",      "lookup_dcookie",  "mount",    "mount_setattr", "move_mount",
        "open_tree",   "perf_event_open", "quotactl", "quotactl_fd",   "setdomainname",
        "sethostname", "setns",           "syslog",   "umount",        "umount2",
        "unshare" } },
    { "CAP_SYS_BOOT", { "reboot" } },
    { "CAP_SYS_CHROOT", { "chroot" } },
    { "CAP_SYS_MODULE", { "delete_module", "finit_module", "init_module", "query_module" } },
    { "CAP_SYS_NICE", { "get_mempolicy", "mbind", "set_mempolicy", "set_mempolicy_home_node" } },
    { "CAP_SYS_PACCT", { "acct" } },
    { "CAP_SYS_PTRACE", { "kcmp" } },
    { "CAP_SYS_RAWIO", { "ioperm", "iopl" } },
    { "CAP_SYS_TIME",
      { "clock_adjtime", "clock_adjtime64", "clock_settime", "clock_settime64", "settimeofday",
        "stime" } },
    { "CAP_SYS_TTY_CONFIG", { "vhangup" } },
};

static bool has_word(const char *const *words, const char *word)
{
    while (words && *words && strcmp(*words, word) != 0)
        words++;
    return words && *words;
}

static void add_allowed(const char *const *names, struct buf *to)
{
    add_names(names, to);
    (void)buf_add_cstr(to, "\"action\":\"SCMP_ACT_ALLOW\"},");
}

static void add_equal(const char *name, unsigned value, struct buf *to)
{
    add_by_argument(name, true, value, 0, "SCMP_CMP_EQ", to);
}

/* The families after AF_VSOCK too, and the personalities of Linux with and without 32 bits. */
static void add_default_arguments(struct buf *to)
{
    static const unsigned personalities[] = { 0, 8, 0x20000, 0x20008, INT_BITS };
    add_by_argument("socket", true, SOCKET_VSOCK, 0, "SCMP_CMP_LT", to);
    for (unsigned family = SOCKET_VSOCK + 1; family < SOCKET_FAMILIES; family++)
        add_equal("socket", family, to);
    for (size_t i = 0; i < ARRAY_LEN(personalities); i++)
        add_equal("personality", personalities[i], to);
}

static void write_default(const char *const *capabilities, struct buf *to)
{
    (void)buf_printf(to, "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":%d,",
                     ERRNO_PERM);
#ifdef __aarch64__
    (void)buf_add_cstr(to, "\"architectures\":[\"SCMP_ARCH_AARCH64\",\"SCMP_ARCH_ARM\"],");
#endif
    (void)buf_add_cstr(to, "\"syscalls\":[");
    add_allowed(allowed_calls, to);
    add_allowed(default_calls, to);
    for (size_t i = 0; i < ARRAY_LEN(default_by_capability); i++)
        if (has_word(capabilities, default_by_capability[i].capability))
            add_allowed(default_by_capability[i].calls, to);
    add_default_arguments(to);
    if (has_word(capabilities, "CAP_SYS_ADMIN")) {
        (void)buf_add_cstr(to,
                           "{\"names\":[\"clone\",\"clone3\"],\"action\":\"SCMP_ACT_ALLOW\"}]}");
        return;
    }
    add_by_argument("clone", true, CLONE_NAMESPACES, 0, "SCMP_CMP_MASKED_EQ", to);
    add_no_clone3(to);
    (void)buf_add_cstr(to, "]}");
}

void container_syscalls_write(enum container_syscalls kind, const char *const *capabilities,
                              struct buf *to)
{
    bool allows = kind == CONTAINER_SYSCALLS_ALLOW_LIST;
    assert(kind <= CONTAINER_SYSCALLS_DEFAULT);
    if (kind == CONTAINER_SYSCALLS_DEFAULT) {
        write_default(capabilities, to);
        return;
    }
    if (allows)
        (void)buf_printf(to, "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":%d,",
                         ERRNO_PERM);
    else
        (void)buf_add_cstr(to, "{\"defaultAction\":\"SCMP_ACT_ALLOW\",");
    (void)buf_add_cstr(to, "\"syscalls\":[");
    add_names(allows ? allowed_calls : refused_calls, to);
    if (allows) {
        (void)buf_add_cstr(to, "\"action\":\"SCMP_ACT_ALLOW\"},");
        add_by_argument("clone", true, CLONE_NAMESPACES, 0, "SCMP_CMP_MASKED_EQ", to);
        add_by_argument("socket", true, SOCKET_VSOCK, 0, "SCMP_CMP_LT", to);
    } else {
        (void)buf_printf(to, "\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":%d},", ERRNO_PERM);
        add_by_argument("clone", false, CLONE_NEW_USER, CLONE_NEW_USER, "SCMP_CMP_MASKED_EQ", to);
        add_by_argument("socket", false, INT_BITS, SOCKET_VSOCK, "SCMP_CMP_MASKED_EQ", to);
    }
    add_no_clone3(to);
    (void)buf_add_cstr(to, "]}");
}

/* ---- compiled ---- */

static int add_rules(scmp_filter_ctx f)
{
    int r = 0;
    for (size_t i = 0; allowed_calls[i] && r == 0; i++) {
        int nr = seccomp_syscall_resolve_name(allowed_calls[i]);
        if (nr >= 0) /* others are of other architectures */
            r = seccomp_rule_add(f, SCMP_ACT_ALLOW, nr, 0);
    }
    if (r == 0)
        r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                             SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_NAMESPACES, 0));
    if (r == 0)
        r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
                             SCMP_A0(SCMP_CMP_LT, SOCKET_VSOCK, 0));
    if (r == 0)
        r = seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    return r;
}

/* A binary tree instead of a list of comparisons: each call of the guest passes through it. */
static int compile(scmp_filter_ctx f, struct buf *to)
{
    struct stat st;
    char *at;
    scoped(fd_scoped) int fd = sys_memfd("seccomp");
    int r = fd < 0 ? fd : add_rules(f);
    (void)seccomp_attr_set(f, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    if (r == 0)
        r = seccomp_export_bpf(f, fd);
    if (r < 0 || fstat(fd, &st) < 0)
        return r < 0 ? r : -errno;
    r = buf_reserve(to, (size_t)st.st_size, &at);
    if (r < 0)
        return r;
    ssize_t n = sys_pread_full(fd, at, (size_t)st.st_size, 0);
    if (n < 0)
        return (int)n;
    buf_advance(to, (size_t)n);
    return 0;
}

int container_syscalls_compile(char **ret, struct err *err)
{
    scoped(buf_fini_scoped) struct buf program = BUF_INIT(1 << 20), text = BUF_INIT(2 << 20);
    scmp_filter_ctx f = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    int r = f ? compile(f, &program) : -ENOMEM;
    seccomp_release(f);
    if (r < 0)
        return err_sys(err, r, "compile the filter of system calls");
    (void)base64_encode(&text, buf_str(&program), BASE64_STD);
    *ret = xstrdup(buf_cstr(&text));
    return 0;
}
