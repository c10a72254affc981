/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program of a keeper (keeper.h): it starts the runtime, becomes the parent of the container's
 * first process, and waits for it. Freestanding, since it stays in memory with each container: no C
 * library, no heap, a few pages.
 *
 *     keeper PID-FILE EXIT-FILE INPUT MODE WAYS GROUP HIERARCHIES PROGRAM ARGUMENT...
 *
 *     0          a socket to the owner: gets the status of the runtime, with the terminal
 *     1, 2       of the runtime; 1 with a terminal: the socket on which the runtime gives it
 *     INPUT      a path for standard input; MODE: "r" to read, "w" to read and write (a named pipe
 *                without an end), "e": empty, INPUT is not used
 *     WAYS       two characters: "t" with a terminal; "u" the runtime does not see the second
 *                hierarchy of control groups, in a mount namespace of its own
 *     GROUP      the control group that it moves to, with a '/' in front; "": none
 *     HIERARCHIES  where: names of directories in /sys/fs/cgroup with ' ' between them, "" for
 *                version 2. It moves itself, before it starts the runtime: what that starts is
 *                nowhere in the group of the owner then, and a move can wait for the kernel, which
 *                must not keep the owner
 *     ARGUMENT   with a character in front, so that the list of processes does not show a runtime
 *
 * When the container has ended, EXIT-FILE has "STATUS MILLISECONDS\n": the exit status or -SIGNAL,
 * the time since 1970. Then the keeper waits until it is killed: it holds the pipes with what the
 * container has printed, and its terminal.
 */
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/mount.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/signal.h>
#include <linux/time.h>

enum {
    KEEPER_CONTROL = 10, /* descriptors; the owner knows that of the terminal */
    KEEPER_CONSOLE = 11,
    KEEPER_TERMINAL = 12,
    MNT_DETACH = 2,
    ENDED_MAX = 64, /* children that end before the runtime does */
    ARGS_FIRST = 8,
    GROUP_PATH_SIZE = 256, /* small: the page of the stack stays in memory */
    ERRNO_EINTR = 4,
    LEVEL_SOCKET = 1,
    RIGHTS = 1,
    NO_SIGNAL = 0x4000,
    CLOEXEC_MESSAGE = 0x40000000
};

/* ---- system calls ---- */

#if defined __x86_64__
__asm__(".globl _start\n_start:\n\txor %ebp, %ebp\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall "
        "keeper_main\n\thlt\n");

static long call6(long nr, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    long r;
    __asm__ volatile("syscall"
                     : "=a"(r)
                     : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return r;
}
#elif defined __aarch64__
__asm__(".globl _start\n_start:\n\tmov x29, #0\n\tmov x0, sp\n\tbl keeper_main\n\tbrk #0\n");

static long call6(long nr, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = nr, x0 __asm__("x0") = a, x1 __asm__("x1") = b,
                     x2 __asm__("x2") = c, x3 __asm__("x3") = d, x4 __asm__("x4") = e,
                     x5 __asm__("x5") = f;
    __asm__ volatile("svc #0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}
#else
#error "no system calls for this architecture"
#endif

#define CALL(nr, a, b, c, d) call6(__NR_##nr, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

/* The compiler may call it for structs. */
void *memset(void *p, int byte, unsigned long n);
void *memset(void *p, int byte, unsigned long n)
{
    volatile char *to = p;
    while (n--)
        *to++ = (char)byte;
    return p;
}

static int open_file(const char *path, int flags)
{
    return (int)CALL(openat, AT_FDCWD, path, flags, 0600);
}

static int close_fd(int fd)
{
    return (int)CALL(close, fd, 0, 0, 0);
}

static void __attribute__((noreturn)) quit(int status)
{
    for (;;)
        (void)CALL(exit_group, status, 0, 0, 0);
}

/* Make it descriptor `to`, which programs that are started do not get. */
static void move_fd(int from, int to)
{
    (void)CALL(dup3, from, to, O_CLOEXEC, 0);
}

/* ---- the terminal ---- */

struct keeper_part {
    void *p;
    unsigned long n;
};

struct keeper_message { /* struct msghdr of 64 bits */
    void *name;
    int name_n;
    struct keeper_part *parts;
    unsigned long n_parts;
    void *control;
    unsigned long control_n;
    int flags;
};

struct keeper_control { /* struct cmsghdr with one descriptor */
    unsigned long n;
    int level, type;
    int fd, padding;
};

/* -1: the runtime has sent none. */
static int get_terminal(void)
{
    char text[256];
    struct keeper_part part = { text, sizeof text };
    struct keeper_control c = { 0 };
    struct keeper_message m = {
        .parts = &part, .n_parts = 1, .control = &c, .control_n = sizeof c
    };
    int peer = (int)CALL(accept4, KEEPER_CONSOLE, 0, 0, O_CLOEXEC);
    long r = peer < 0 ? peer : CALL(recvmsg, peer, &m, CLOEXEC_MESSAGE, 0);
    if (peer >= 0)
        (void)close_fd(peer);
    return r >= 0 && c.level == LEVEL_SOCKET && c.type == RIGHTS ? c.fd : -1;
}

static void report(int status, int terminal)
{
    struct keeper_part part = { &status, sizeof status };
    struct keeper_control c = {
        .n = sizeof c - sizeof c.padding, .level = LEVEL_SOCKET, .type = RIGHTS, .fd = terminal
    };
    struct keeper_message m = { .parts = &part, .n_parts = 1 };
    if (terminal >= 0) {
        m.control = &c;
        m.control_n = sizeof c;
    }
    (void)CALL(sendmsg, KEEPER_CONTROL, &m, NO_SIGNAL, 0);
}

/* ---- files ---- */

static int read_pid(const char *path)
{
    char text[32];
    int fd = open_file(path, O_RDONLY | O_CLOEXEC);
    long n = fd < 0 ? fd : CALL(read, fd, text, sizeof text, 0);
    int pid = 0;
    if (fd >= 0)
        (void)close_fd(fd);
    for (long i = 0; i < n && text[i] >= '0' && text[i] <= '9'; i++)
        pid = pid * 10 + (text[i] - '0');
    return pid;
}

/* In front of `end`. */
static char *put_number(char *end, long n)
{
    unsigned long left = n < 0 ? -(unsigned long)n : (unsigned long)n;
    do
        *--end = (char)('0' + left % 10);
    while (left /= 10);
    if (n < 0)
        *--end = '-';
    return end;
}

static void write_exit(const char *path, int status)
{
    char new_path[4096], text[64], *end = text + sizeof text, *at = end;
    struct __kernel_timespec now = { 0 };
    unsigned long n = 0;
    for (; path[n] && n < sizeof new_path - 2; n++)
        new_path[n] = path[n];
    new_path[n] = '+';
    new_path[n + 1] = '\0';
    (void)CALL(clock_gettime, CLOCK_REALTIME, &now, 0, 0);
    *--at = '\n';
    at = put_number(at, now.tv_sec * 1000 + now.tv_nsec / 1000000);
    *--at = ' ';
    at = put_number(at, status);
    int fd = open_file(new_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)CALL(write, fd, at, end - at, 0);
    (void)close_fd(fd);
    (void)CALL(renameat2, AT_FDCWD, new_path, AT_FDCWD, path);
}

/* ---- control groups ---- */

/* The rest of the path, or of what fits. */
static unsigned long put_text(char *path, unsigned long n, const char *text, char end)
{
    while (*text && *text != end && n < GROUP_PATH_SIZE - 1)
        path[n++] = *text++;
    path[n] = '\0';
    return n;
}

static void join(const char *hierarchy, const char *group)
{
    char path[GROUP_PATH_SIZE];
    unsigned long n = put_text(path, 0, "/sys/fs/cgroup/", 0);
    n = put_text(path, n, hierarchy, ' ');
    n = put_text(path, n, group, 0);
    (void)put_text(path, n, "/cgroup.procs", 0);
    int fd = open_file(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)CALL(write, fd, "0", 1, 0);
    (void)close_fd(fd);
}

static void join_all(const char *hierarchies, const char *group)
{
    const char *at = hierarchies;
    if (!*group)
        return;
    join(at, group);
    for (; *at; at++)
        if (*at == ' ')
            join(at + 1, group);
}

/* ---- processes ---- */

/* Only system calls; does not return. */
static void __attribute__((noreturn)) be_runtime(long keeper, char **args, char **env)
{
    static const char groups[] = "/sys/fs/cgroup", unified[] = "/sys/fs/cgroup/unified";
    const char *mode = args[3];
    int fds[2];
    (void)CALL(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0);
    if (CALL(getppid, 0, 0, 0, 0) != keeper) /* it was killed before that */
        quit(127);
    if (args[4][1] == 'u' &&
        (CALL(unshare, CLONE_NEWNS, 0, 0, 0) < 0 ||
         call6(__NR_mount, (long)"none", (long)groups, 0, MS_PRIVATE, 0, 0) < 0 ||
         CALL(umount2, unified, MNT_DETACH, 0, 0) < 0))
        quit(127);
    (void)close_fd(0); /* the next one is 0 */
    if (mode[0] == 'e') {
        if (CALL(pipe2, fds, 0, 0, 0) == 0)
            (void)close_fd(fds[1]);
    } else {
        (void)open_file(args[2], mode[0] == 'w' ? O_RDWR : O_RDONLY | O_NONBLOCK);
        (void)CALL(fcntl, 0, F_SETFL, 0, 0);
    }
    for (char **word = args + ARGS_FIRST; *word; word++)
        ++*word; /* the character in front */
    (void)CALL(execve, args[ARGS_FIRST - 1], args + ARGS_FIRST - 1, env, 0);
    quit(127);
}

static int status_of(int raw)
{
    return (raw & 0x7f) == 0 ? raw >> 8 & 0xff : -(raw & 0x7f);
}

static struct {
    int pid, status;
} ended[ENDED_MAX];
static unsigned n_ended;

/* The next child that ends. 0: there is none. */
static int wait_next(int *status)
{
    int raw = 0;
    long pid;
    do
        pid = CALL(wait4, -1, &raw, 0, 0);
    while (pid == -ERRNO_EINTR);
    *status = status_of(raw);
    return pid > 0 ? (int)pid : 0;
}

static int wait_for_runtime(int runtime)
{
    int status, pid;
    while ((pid = wait_next(&status)) != runtime && pid) {
        ended[n_ended % ENDED_MAX].pid = pid;
        ended[n_ended++ % ENDED_MAX].status = status;
    }
    return pid ? status : -SIGKILL;
}

static int wait_for_container(int first)
{
    int status, pid;
    for (unsigned i = 0; i < ENDED_MAX; i++)
        if (ended[i].pid == first)
            return ended[i].status;
    while ((pid = wait_next(&status)) != first && pid)
        ;
    return pid ? status : -SIGKILL;
}

static void hold(int first, const char *exit_file)
{
    int status;
    if (!first) { /* the runtime has failed, and left this */
        while (wait_next(&status))
            ;
        return;
    }
    write_exit(exit_file, wait_for_container(first));
    for (;;)
        (void)CALL(ppoll, 0, 0, 0, 0);
}

/* stack: the number of arguments, the arguments, 0, the environment. */
void keeper_main(long *stack);
void keeper_main(long *stack)
{
    char **args = (char **)stack + 2, **env = (char **)stack + 2 + stack[0];
    if (stack[0] <= ARGS_FIRST)
        quit(2);
    int terminal = -1, has_terminal = args[4][0] == 't';
    (void)CALL(prctl, PR_SET_PDEATHSIG, 0, 0, 0);
    (void)CALL(prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0);
    (void)CALL(prctl, PR_SET_NAME, "dormouse-keeper", 0, 0);
    (void)CALL(setsid, 0, 0, 0, 0);
    join_all(args[6], args[5]);
    move_fd(0, KEEPER_CONTROL);
    if (has_terminal) {
        move_fd(1, KEEPER_CONSOLE);
        (void)CALL(dup3, 2, 1, 0, 0);
    }
    long keeper = CALL(getpid, 0, 0, 0, 0), runtime = CALL(clone, SIGCHLD, 0, 0, 0);
    if (runtime == 0)
        be_runtime(keeper, args, env);
    (void)close_fd(0);
    int status = runtime > 0 ? wait_for_runtime((int)runtime) : 127;
    if (status == 0 && has_terminal && (terminal = get_terminal()) >= 0)
        move_fd(terminal, KEEPER_TERMINAL);
    report(status, terminal);
    if (terminal >= 0)
        (void)close_fd(terminal);
    (void)close_fd(KEEPER_CONTROL);
    if (has_terminal)
        (void)close_fd(KEEPER_CONSOLE);
    hold(status == 0 ? read_pid(args[0]) : 0, args[1]);
    quit(0);
}
