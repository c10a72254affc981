/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rights of the runner's process after sandbox_enter(), tested by child processes that call it;
 * and the state of a running compiler.
 */
#include "namespaces.h"
#include "process_status.h"

#include "runner/sandbox.h"
#include "wasm/compile_exit.h"
#include "wasm/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct runner runner;
static int sock, report; /* what a deed may use */

/* Run `deed` confined. Returns its result, or minus the signal that ended it. */
static int confined(int (*deed)(void))
{
    int pair[2], status, pipe_fds[2];
    CHECK_OK(pipe(pipe_fds));
    CHECK_OK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair));
    int pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        struct err err = { 0 };
        sock = pair[0];
        report = pipe_fds[1];
        if (sandbox_prepare(&runner, &err) < 0 || sandbox_enter(&runner, &err) < 0) {
            (void)fprintf(stderr, "%s\n", err_text(&err));
            _exit(100);
        }
        _exit(deed());
    }
    CHECK_INT(waitpid(pid, &status, 0), pid);
    for (int i = 0; i < 2; i++) {
        (void)close(pair[i]);
        (void)close(pipe_fds[i]);
    }
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static int own_signal(void)
{
    (void)fcntl(sock, F_SETOWN, 1);
    return 0;
}

static int choose_signal(void)
{
    (void)fcntl(sock, F_SETSIG, SIGKILL);
    return 0;
}

static int be_asynchronous(void)
{
    (void)fcntl(sock, F_SETFL, O_ASYNC);
    return 0;
}

static int own_by_struct(void)
{
    struct f_owner_ex owner = { .type = F_OWNER_PID, .pid = 1 };
    (void)fcntl(sock, F_SETOWN_EX, &owner);
    return 0;
}

static int stat_by_name(void)
{
    struct stat st;
    (void)syscall(SYS_newfstatat, AT_FDCWD, "/etc/shadow", &st, 0);
    return 0;
}

static int open_by_name(void)
{
    (void)syscall(SYS_openat, AT_FDCWD, "/etc/hostname", O_RDONLY);
    return 0;
}

static int make_socket(void)
{
    (void)socket(AF_INET, SOCK_STREAM, 0);
    return 0;
}

static int kill_somebody(void)
{
    (void)kill(1, 0);
    return 0;
}

static int lift_limit(void)
{
    const struct rlimit more = { RLIM_INFINITY, RLIM_INFINITY };
    (void)setrlimit(RLIMIT_FSIZE, &more);
    return 0;
}

static int become_root(void)
{
    if (setresuid(0, 0, 0) < 0)
        return 1;
    return 0;
}

TEST(what_reaches_beyond_the_process_ends_it)
{
    static int (*const deeds[])(
        void) = { own_signal,   choose_signal, be_asynchronous, own_by_struct, stat_by_name,
                  open_by_name, make_socket,   kill_somebody,   lift_limit,    become_root };
    for (size_t i = 0; i < ARRAY_LEN(deeds); i++)
        if (confined(deeds[i]) != -SIGSYS)
            TEST_FAIL("deed %zu was allowed", i);
}

/* 0: no file has this name. The flag that fstat() needs lets the filter see no difference. */
static int stat_with_flag(void)
{
    struct stat st;
    return syscall(SYS_newfstatat, AT_FDCWD, "/etc/passwd", &st, AT_EMPTY_PATH) == 0 ? 1
           : errno == ENOENT                                                         ? 0
                                                                                     : 2;
}

TEST(names_lead_nowhere)
{
    if (geteuid() != 0)
        SKIP("only root has a mount namespace everywhere");
    if (unshare(CLONE_NEWNS) < 0)
        SKIP("no mount namespaces here");
    CHECK_INT(confined(stat_with_flag), 0);
}

static int do_what_runners_do(void)
{
    struct stat st;
    int fd = memfd_create("test", MFD_ALLOW_SEALING | MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, 4096) < 0 || fstat(fd, &st) < 0 || st.st_size != 4096)
        return 1;
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (copy < 0 || fcntl(copy, F_ADD_SEALS, F_SEAL_SHRINK) < 0 ||
        fcntl(fd, F_GET_SEALS) != F_SEAL_SHRINK)
        return 2;
    return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0) == MAP_FAILED ? 3 : 0;
}

TEST(what_runners_do_is_allowed)
{
    CHECK_INT(confined(do_what_runners_do), 0);
}

static bool can_have(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    if (p == MAP_FAILED)
        return false;
    (void)munmap(p, bytes);
    return true;
}

static int take_memory(void)
{
    const size_t guest = (size_t)3 << 30;
    if (can_have((size_t)2 * SANDBOX_MEMORY_BYTES) || !can_have(SANDBOX_MEMORY_BYTES / 2))
        return 1;
    runner.guest_bytes = guest;
    sandbox_allow_memory(&runner);
    if (!can_have(guest) || can_have(guest + (size_t)2 * SANDBOX_MEMORY_BYTES))
        return 2;
    runner.guest_bytes = 0;
    sandbox_allow_memory(&runner);
    return can_have(guest) ? 3 : 0;
}

/* ---- main ---- */

enum { NO_NAMESPACES = 77 };

/* As the program that main starts: which number is not its own namespace's, it cannot signal. */
static int be_inside(int outer)
{
    struct confine_report in;
    struct err err = { 0 };
    if (getpid() != 1)
        return NO_NAMESPACES;
    if (kill(outer, 0) == 0 || errno != ESRCH)
        return 1;
    if (kill(-1, 0) == 0 || errno != ESRCH) /* every process that it could signal */
        return 2;
    if (confine_enter(&in, &err) < 0)
        return 3;
    if (!(in.in_force >> CONFINE_PROCESSES & 1) || !(in.in_force >> CONFINE_NETWORK & 1))
        return 4;
    if (in.in_force >> CONFINE_FILES & 1 && open("/proc/self/status", O_RDONLY) >= 0)
        return 5;
    return 0;
}

static int start_inside(void)
{
    char program[] = "test", word[] = "--inside", pid_text[16];
    char *argv[] = { program, word, pid_text, NULL }, *envp[] = { NULL };
    const int fds[] = { -1, STDOUT_FILENO, STDERR_FILENO };
    const struct confine_child child = {
        .path = "/proc/self/exe", .argv = argv, .envp = envp, .fds = fds, .n_fds = ARRAY_LEN(fds)
    };
    struct err err = { 0 };
    int status;
    (void)snprintf(pid_text, sizeof pid_text, "%d", (int)getpid());
    int pid = confine_spawn(&child, &err);
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        (void)fprintf(stderr, "%s\n", err_text(&err));
        return 100;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 101;
}

/* This program is what it starts, too. */
__attribute__((constructor)) static void be_another(int argc, char **argv)
{
    uint64_t pid;
    if (argc == 3 && strcmp(argv[1], "--inside") == 0 &&
        parse_u64(str_of(argv[2]), 1, INT32_MAX, &pid) == 0)
        _exit(be_inside((int)pid));
    if (argc == 2 && strcmp(argv[1], "--unprivileged") == 0)
        _exit(start_inside());
}

TEST(a_process_that_confine_spawn_starts_reaches_no_other)
{
    int status = start_inside();
    if (status == NO_NAMESPACES && !namespaces_are_there(geteuid()))
        SKIP("no PID namespaces here");
    CHECK_INT(status, 0);
}

TEST(it_reaches_no_other_without_root_either)
{
    if (geteuid() != 0)
        SKIP("the test before has shown it");
    if (!namespaces_are_there(CONFINE_ID))
        SKIP("no user namespaces here");
    int status, pid = fork();
    if (pid == 0) {
        if (setresgid(CONFINE_ID, CONFINE_ID, CONFINE_ID) < 0 ||
            setresuid(CONFINE_ID, CONFINE_ID, CONFINE_ID) < 0)
            _exit(102);
        (void)execl("/proc/self/exe", "test", "--unprivileged", (char *)NULL);
        _exit(103);
    }
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 0);
}

TEST(a_program_that_is_not_there_is_an_error_of_starting_it)
{
    char program[] = "none";
    char *argv[] = { program, NULL }, *envp[] = { NULL };
    const struct confine_child child = {
        .path = "/none", .argv = argv, .envp = envp, .fds = NULL, .n_fds = 0
    };
    struct err err = { 0 };
    CHECK_ERR(confine_spawn(&child, &err), -ENOENT);
    CHECK_ERR(waitpid(-1, NULL, WNOHANG) < 0 ? -errno : 0, -ECHILD);
}

/* Root in a container may change the user of a child, and not be allowed to signal it then. */
static int signal_without_the_right(void)
{
    int pid = fork(), status;
    if (pid == 0) {
        if (setresuid(CONFINE_ID, CONFINE_ID, CONFINE_ID) < 0)
            _exit(1);
        for (;;)
            (void)pause();
    }
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &header, caps) < 0)
        return 2;
    caps[0].effective &= ~(1u << CAP_KILL);
    caps[0].permitted &= ~(1u << CAP_KILL);
    if (syscall(SYS_capset, &header, caps) < 0)
        return 3;
    while (kill(pid, 0) == 0)
        (void)sched_yield(); /* it has not changed its user yet */
    if (errno != EPERM)
        return 4;
    if (confine_signal(pid, SIGKILL) < 0)
        return 5;
    return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) ? 0 : 6;
}

TEST(root_without_the_right_to_signal_ends_its_children)
{
    if (geteuid() != 0)
        SKIP("only root gives its children another user");
    int status, pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        _exit(signal_without_the_right());
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK_INT(status, 0);
}

TEST(memory_is_bounded_by_what_the_guests_may_have)
{
    CHECK_INT(confined(take_memory), 0);
}

/* ---- the compiler ---- */

/* A compiler that blocks on its result: the pipe is full and is not read. */
static int waiting_compiler(int *ret_pipe)
{
    char path[512];
    int fds[2];
    (void)snprintf(path, sizeof path, "%s/everything.wasm", getenv("TEST_WASM_DIR"));
    int wasm = open(path, O_RDONLY);
    CHECK(wasm >= 0);
    CHECK_OK(pipe(fds));
    CHECK(fcntl(fds[1], F_SETPIPE_SZ, 4096) >= 4096);
    static const char page[4096];
    CHECK_INT(write(fds[1], page, (size_t)fcntl(fds[1], F_GETPIPE_SZ) / 4096 * 4096), 4096);
    int pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        char in[16], out[16];
        const char *program = getenv("DORMOUSE_COMPILE");
        (void)snprintf(in, sizeof in, "fd:%d", wasm);
        (void)snprintf(out, sizeof out, "fd:%d", fds[1]);
        (void)execl(program, program, in, out, "/dev/null", NULL);
        _exit(127);
    }
    (void)close(wasm);
    (void)close(fds[1]);
    *ret_pipe = fds[0];
    return pid;
}

/* Also as the first process of a PID namespace, which such a signal alone does not end. */
TEST(a_compiler_ends_with_a_status_for_its_limits)
{
    static const int signals[][2] = { { SIGXCPU, COMPILE_CPU_TIME }, { SIGABRT, COMPILE_GAVE_UP } };
    for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
        int status, unread, pid = waiting_compiler(&unread);
        char seccomp[32] = "";
        while (strcmp(seccomp, "2") != 0) {
            CHECK_INT(waitpid(pid, NULL, WNOHANG), 0);
            status_of(pid, "Seccomp", seccomp);
        }
        CHECK_OK(kill(pid, signals[i][0]));
        CHECK_INT(waitpid(pid, &status, 0), pid);
        CHECK(WIFEXITED(status));
        CHECK_INT(WEXITSTATUS(status), signals[i][1]);
        (void)close(unread);
    }
}

/* SIGXCPU comes before SIGKILL, which then means something else. */
static bool has_soft_cpu_limit(int pid)
{
    char path[64], line[256], soft[32] = "", hard[32] = "";
    (void)snprintf(path, sizeof path, "/proc/%d/limits", pid);
    FILE *f = fopen(path, "re");
    CHECK(f);
    while (fgets(line, sizeof line, f)) {
        struct str rest = str_of(line), name = STR("Max cpu time");
        if (!str_has_prefix(rest, name))
            continue;
        const char *p = line + name.n;
        p += strspn(p, " ");
        (void)snprintf(soft, sizeof soft, "%.*s", (int)strcspn(p, " "), p);
        p += strlen(soft);
        p += strspn(p, " ");
        (void)snprintf(hard, sizeof hard, "%.*s", (int)strcspn(p, " "), p);
    }
    (void)fclose(f);
    uint64_t at = 0, to = 0;
    CHECK_OK(parse_u64(str_of(soft), 0, UINT64_MAX, &at));
    CHECK_OK(parse_u64(str_of(hard), 0, UINT64_MAX, &to));
    return at < to;
}

TEST(a_compiler_has_no_privileges_and_is_the_first_to_go)
{
    int unread, pid = waiting_compiler(&unread);
    char seccomp[32] = "", uid[16], path[64], score[16] = "";
    while (strcmp(seccomp, "2") != 0) {
        CHECK_INT(waitpid(pid, NULL, WNOHANG), 0);
        status_of(pid, "Seccomp", seccomp);
    }
    (void)snprintf(uid, sizeof uid, "%d", geteuid() == 0 ? (int)CONFINE_ID : (int)geteuid());
    CHECK(has_field(pid, "Uid", uid));
    CHECK(has_field(pid, "CapEff", "0000000000000000"));
    CHECK(has_field(pid, "CapPrm", "0000000000000000"));
    CHECK(has_field(pid, "NoNewPrivs", "1"));
    (void)snprintf(path, sizeof path, "/proc/%d/oom_score_adj", pid);
    FILE *f = fopen(path, "re");
    CHECK(f && fgets(score, sizeof score, f));
    (void)fclose(f);
    uint64_t value;
    CHECK(has_soft_cpu_limit(pid));
    CHECK_OK(parse_u64(str_n(score, strcspn(score, "\n")), CONFINE_OOM_SCORE, 1000, &value));
    CHECK_OK(kill(pid, SIGKILL));
    CHECK_INT(waitpid(pid, NULL, 0), pid);
    (void)close(unread);
}

TEST_MAIN
