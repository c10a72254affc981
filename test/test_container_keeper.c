/* SPDX-License-Identifier: Apache-2.0 */
/*
 * src/container: input and terminals of containers, their keepers, and what is known of them after
 * the process that made them was killed. The program also plays that process:
 * `test_container_keeper --hold DIR COMMANDS KIND`.
 */
#include "base/clock.h"
#include "container/exec.h"
#include "container_rig.h"

#include <dirent.h>
#include <sys/wait.h>

/* ---- keepers ---- */

/* name: "!" in front: all but those. */
static bool has_name(const struct process_facts *f, const char *name)
{
    return !name || (name[0] == '!' ? strcmp(f->name, name + 1) != 0 : strcmp(f->name, name) == 0);
}

/* A process whose words have this one. 0: none. */
static int find_process(const char *name, const char *word)
{
    DIR *dir = opendir("/proc");
    struct dirent *e;
    uint64_t pid;
    int found = 0;
    CHECK(dir);
    while (!found && (e = readdir(dir))) {
        struct process_facts f;
        scoped(buf_fini_scoped) struct buf words = BUF_INIT(64 << 10);
        char path[300];
        (void)snprintf(path, sizeof path, "/proc/%s/cmdline", e->d_name);
        if (parse_u64(str_of(e->d_name), 2, INT32_MAX, &pid) == 0 &&
            process_facts((int)pid, &f) == 0 && has_name(&f, name) &&
            sys_read_file(AT_FDCWD, path, &words, NULL) == 0 &&
            str_find(buf_str(&words), str_of(word)) >= 0)
            found = (int)pid;
    }
    (void)closedir(dir);
    return found;
}

static int find_keeper(const struct rig *r)
{
    return find_process("dormouse-keeper", r->run);
}

/* Not that of another test which runs at the same time. */
static int find_runtime(const struct rig *r)
{
    return find_process("!dormouse-keeper", r->run);
}

static void check_nothing_left(const struct rig *r)
{
    scoped(free_scoped) char *dir = xasprintf("%s/one", r->run);
    CHECK(access(dir, F_OK) < 0);
    int pid = find_process(NULL, r->run);
    if (pid) {
        scoped(buf_fini_scoped) struct buf words = BUF_INIT(64 << 10);
        char path[64];
        (void)snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
        (void)sys_read_file(AT_FDCWD, path, &words, NULL);
        for (size_t i = 0; i < words.n; i++)
            words.p[i] = words.p[i] ? words.p[i] : ' ';
        TEST_FAIL("process %d is left: " STR_FMT, pid, STR_ARG(buf_str(&words)));
    }
}

/* In no hierarchy in the group of this process: a service manager that ends it does not end them.
 * Groups of cpuset may have no processors, and then take no process. */
static void check_groups(int pid)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(64 << 10);
    struct str line, rest;
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/cgroup", pid);
    CHECK_OK(sys_read_file(AT_FDCWD, path, &text, NULL));
    rest = buf_str(&text);
    while (str_cut(rest, '\n', &line, &rest)) {
        if (line.n && str_find(line, STR(":cpuset:")) < 0 && str_find(line, STR("/dormouse-")) < 0)
            TEST_FAIL("process %d: " STR_FMT, pid, STR_ARG(line));
    }
}

static const struct container_opts kept = { .has_keeper = true };

TEST(a_container_with_a_keeper_ends_as_one_without)
{
    struct rig r;
    struct rig_container t;
    if (!rig_open(&r))
        return;
    int64_t before = clock_wall_ms();
    CHECK_OK(rig_start(&r, &t, "one", "say hello err problem exit 3", (struct container_spec){ 0 },
                       kept, NULL));
    UNTIL(&r, t.removed);
    CHECK_INT(t.started, 1);
    CHECK_STR(str_of(t.text), "the container has ended with status 3; it said: problem");
    CHECK_INT(t.status, 3);
    CHECK_STR(buf_str(&t.out), "hello\n");
    CHECK(t.wall_started_ms >= before && t.wall_ended_ms >= before &&
          t.wall_ended_ms <= clock_wall_ms());
    check_nothing_left(&r);
    rig_forget(&t);
    rig_run_waiting(&r, &t, "one", (struct container_spec){ 0 }, kept);
    CHECK(find_keeper(&r));
    check_groups(container_pid(t.c));
    check_groups(find_keeper(&r));
    container_stop(t.c, 0);
    UNTIL(&r, t.removed);
    CHECK_INT(t.status, -SIGKILL);
    check_nothing_left(&r);
    rig_forget(&t);
    rig_close(&r);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0); /* its keeper has waited for all */
}

TEST(a_container_with_a_keeper_that_cannot_be_started_leaves_nothing)
{
    struct rig r;
    struct rig_container t;
    if (!rig_open(&r))
        return;
    const struct container_opts nowhere = { .has_keeper = true, .network = "/no/such/network" };
    CHECK_OK(rig_start(&r, &t, "one", "wait", (struct container_spec){ 0 }, nowhere, NULL));
    UNTIL(&r, t.removed);
    CHECK_INT(t.started, 1);
    CHECK_ERR(t.r, -EIO);
    CHECK(strstr(t.text, "network"));
    check_nothing_left(&r);
    rig_forget(&t);
    rig_close(&r);
}

TEST(a_container_outlives_its_keeper)
{
    struct rig r;
    struct rig_container t;
    if (!rig_open(&r))
        return;
    rig_run_waiting(&r, &t, "one", (struct container_spec){ 0 }, kept);
    int keeper = find_keeper(&r), pid = container_pid(t.c);
    CHECK(keeper);
    CHECK_OK(kill(keeper, SIGKILL));
    while (find_keeper(&r))
        (void)loop_turn(&r.loop, false);
    CHECK_OK(kill(pid, 0));
    CHECK_INT(t.ended, 0);
    CHECK_OK(kill(pid, SIGUSR1));
    UNTIL(&r, t.removed);
    CHECK_INT(t.status, 7); /* it has become ours */
    check_nothing_left(&r);
    rig_forget(&t);
    rig_close(&r);
}

TEST(a_runtime_or_keeper_that_is_killed_at_any_moment_leaves_nothing)
{
    enum { TRIES = 40, STEP = 400 };
    struct rig r;
    unsigned n_killed = 0;
    if (!rig_open(&r))
        return;
    for (unsigned i = 0; i < TRIES; i++) {
        struct rig_container t;
        int pid = 0;
        CHECK_OK(rig_start(&r, &t, "one", "wait", (struct container_spec){ 0 }, kept, NULL));
        while (!t.started && !(pid = i % 2 ? find_keeper(&r) : find_runtime(&r)))
            (void)loop_turn(&r.loop, false);
        for (unsigned k = 0; k < i * STEP; k++)
            (void)sched_yield();
        bool was_hit = pid && kill(pid, SIGKILL) == 0;
        UNTIL(&r, t.started);
        CHECK(t.r == 0 || was_hit);
        n_killed += t.r < 0;
        if (t.r == 0)
            container_stop(t.c, 0);
        UNTIL(&r, t.removed);
        check_nothing_left(&r);
        rig_forget(&t);
    }
    (void)printf("# killed %u of %d times before it was done\n", n_killed, TRIES);
    CHECK(n_killed > 0);
    rig_close(&r);
}

/* Proportional, in KiB: what one more keeper costs. */
static uint64_t pss_of(int pid)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(64 << 10);
    char path[64];
    uint64_t kib = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/smaps_rollup", pid);
    CHECK_OK(sys_read_file(AT_FDCWD, path, &text, NULL));
    ptrdiff_t at = str_find(buf_str(&text), STR("Pss:"));
    CHECK(at >= 0);
    struct str left = str_slice(buf_str(&text), (size_t)at + 4, text.n), number;
    left = str_trim(left);
    (void)str_cut(left, ' ', &number, &left);
    CHECK_OK(parse_u64(number, 0, UINT64_MAX, &kib));
    return kib;
}

TEST(keepers_are_not_in_the_control_group_of_their_owner)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(64 << 10);
    char path[64];
    struct rig r;
    struct rig_container t;
    if (!rig_open(&r))
        return;
    if (!r.machine.cgroup) {
        rig_close(&r);
        return;
    }
    rig_run_waiting(&r, &t, "one", (struct container_spec){ 0 }, kept);
    scoped(free_scoped) char *group =
        xasprintf(":%s/keepers-%s\n", r.machine.cgroup, strrchr(r.run, '-') + 1);
    scoped(free_scoped) char *dir =
        xasprintf("/sys/fs/cgroup%s%s/keepers-%s", r.machine.is_cgroup2 ? "" : "/pids",
                  r.machine.cgroup, strrchr(r.run, '-') + 1);
    (void)snprintf(path, sizeof path, "/proc/%d/cgroup", find_keeper(&r));
    CHECK_OK(sys_read_file(AT_FDCWD, path, &text, NULL));
    CHECK(str_find(buf_str(&text), str_of(group)) >= 0);
    rig_stop(&r, &t);
    CHECK_OK(access(dir, F_OK));
    rig_close_host(&r);
    CHECK(access(dir, F_OK) < 0);
    rig_fini(&r);
}

TEST(a_keeper_is_small)
{
    enum { LIMIT_KIB = 200 };
    struct rig r;
    struct rig_container t;
    if (!rig_open(&r))
        return;
    rig_run_waiting(&r, &t, "one", (struct container_spec){ 0 }, kept);
    uint64_t kib = pss_of(find_keeper(&r));
    (void)printf("# a keeper has %u KiB\n", (unsigned)kib);
    CHECK(kib > 0 && kib < LIMIT_KIB);
    rig_stop(&r, &t);
    rig_close(&r);
}

/* ---- input ---- */

TEST(input_of_a_container_stays_open)
{
    const struct container_opts o = { .input = CONTAINER_INPUT_OPEN };
    struct rig r;
    struct rig_container t;
    if (!rig_open(&r))
        return;
    CHECK_OK(rig_start(&r, &t, "one", "cat exit 0", (struct container_spec){ 0 }, o, NULL));
    CHECK_INT(container_write(t.c, STR("early\n")), 0);
    UNTIL(&r, t.started);
    CHECK_INT(container_write(t.c, STR("one\n")), 4);
    UNTIL(&r, str_find(buf_str(&t.out), STR("one\n")) >= 0);
    container_end_input(t.c); /* without effect */
    CHECK_INT(container_write(t.c, STR("two\n")), 4);
    UNTIL(&r, str_find(buf_str(&t.out), STR("two\n")) >= 0);
    CHECK_STR(buf_str(&t.bytes), "one\ntwo\n");
    rig_stop(&r, &t);
    rig_close(&r);
}

TEST(input_of_a_container_ends_where_that_was_said)
{
    static char much[1 << 19];
    static const struct container_user user = { .uid = 1000, .gid = 1000 };
    const struct container_opts o = { .input = CONTAINER_INPUT_ONCE, .uid = 1000, .gid = 1000 };
    const struct container_spec s = { .process = { .user = &user } };
    struct rig r;
    struct rig_container t;
    if (!rig_open(&r))
        return;
    memset(much, 'z', sizeof much);
    CHECK_OK(rig_start(&r, &t, "one", "cat exit 5", s, o, NULL));
    UNTIL(&r, t.started);
    container_pause_output(t.c, true);
    struct str left = str_n(much, sizeof much);
    for (int rooms = -1; rooms != t.rooms;) {
        rooms = t.rooms;
        ssize_t n = container_write(t.c, left);
        CHECK_OK(n);
        left = str_slice(left, (size_t)n, left.n);
        for (int i = 0; i < 50 && rooms == t.rooms; i++) {
            (void)loop_turn(&r.loop, false);
            (void)sched_yield();
        }
    }
    CHECK(left.n > 0 && t.bytes.n == 0); /* both pipes are full */
    container_pause_output(t.c, false);
    while (left.n) {
        ssize_t n = container_write(t.c, left);
        CHECK_OK(n);
        left = str_slice(left, (size_t)n, left.n);
        (void)loop_turn(&r.loop, left.n > 0);
    }
    container_end_input(t.c);
    CHECK_ERR(container_write(t.c, STR("late")), -EPIPE);
    UNTIL(&r, t.removed);
    CHECK_INT(t.status, 5);
    CHECK_INT(t.bytes.n, sizeof much);
    rig_forget(&t);
    rig_run_waiting(&r, &t, "one", (struct container_spec){ 0 }, kept);
    CHECK_ERR(container_write(t.c, STR("x")), -EPIPE); /* it has no input */
    rig_stop(&r, &t);
    rig_close(&r);
}

/* ---- terminals ---- */

static const struct container_spec terminal_spec = { .process = { .has_terminal = true },
                                                     .has_terminals = true };
static const struct container_opts terminal_opts = { .has_terminal = true };

TEST(a_container_can_have_a_terminal)
{
    struct rig r;
    struct rig_container t;
    if (!rig_open(&r))
        return;
    CHECK_OK(rig_start(&r, &t, "one", "size-is 90x30 cat say bye exit 6", terminal_spec,
                       terminal_opts, NULL));
    UNTIL(&r, t.started);
    CHECK_STR(str_of(t.text), "");
    container_resize(t.c, 90, 30);
    UNTIL(&r, str_find(buf_str(&t.bytes), STR("90x30\r\n")) >= 0);
    CHECK_INT(container_write(t.c, STR("abc\n")), 4);
    UNTIL(&r, str_find(buf_str(&t.bytes), STR("abc\r\nabc\r\n")) >= 0);
    CHECK_INT(container_write(t.c, STR("\x04")), 1);
    UNTIL(&r, t.removed);
    CHECK(str_has_suffix(buf_str(&t.bytes), STR("bye\r\n")));
    CHECK_INT(t.status, 6);
    CHECK_INT(t.err_out.n, 0);
    check_nothing_left(&r);
    rig_forget(&t);
    rig_close(&r);
}

/* ---- the owner is killed ---- */

static const struct hold {
    const char *kind;
    struct container_opts opts;
    struct container_spec spec;
} holds[] = {
    { .kind = "plain" },
    { .kind = "kept", .opts = { .has_keeper = true } },
    { .kind = "input", .opts = { .input = CONTAINER_INPUT_OPEN } },
    { .kind = "terminal",
      .opts = { .has_terminal = true },
      .spec = { .process = { .has_terminal = true }, .has_terminals = true } },
};

static int held(const char *dir, const char *commands, const char *kind)
{
    struct rig r;
    struct rig_container t;
    size_t i = 0;
    rig_init(&r, dir);
    if (rig_open_host(&r, NULL) < 0 || container_host_set_up(r.host, NULL) < 0)
        return 1;
    r.machine = container_host_machine(r.host);
    while (strcmp(holds[i].kind, kind) != 0)
        i++;
    CHECK_OK(rig_start(&r, &t, "one", commands, holds[i].spec, holds[i].opts, NULL));
    UNTIL(&r, t.started);
    CHECK_STR(str_of(t.text), "");
    (void)!write(3, "r", 1);
    for (;;)
        (void)pause();
}

/* Start one in another process, and kill that. */
static void hold_and_kill(struct rig *r, const char *commands, const char *kind)
{
    int out[2];
    char byte;
    rig_close_host(r);
    CHECK_OK(pipe(out));
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        (void)dup2(out[1], 3);
        (void)execl("/proc/self/exe", "test_container_keeper", "--hold", r->dir, commands, kind,
                    NULL);
        _exit(1);
    }
    (void)close(out[1]);
    CHECK_INT(read(out[0], &byte, 1), 1);
    (void)close(out[0]);
    CHECK_OK(kill(pid, SIGKILL));
    CHECK_INT(waitpid(pid, NULL, 0), pid);
    CHECK_OK(rig_open_host(r, NULL));
}

struct found {
    struct rig_container t;
    int n;
    bool is_adopted;
};

static void *on_found(void *arg, struct container *c, const struct container_left *left)
{
    struct found *f = arg;
    f->n++;
    f->is_adopted = left->is_adopted;
    f->t.c = c;
    return &f->t;
}

static void recover(struct rig *r, struct found *f)
{
    *f = (struct found){ 0 };
    rig_prepare(&f->t);
    container_host_recover(r->host, on_found, &rig_events, f);
    CHECK_INT(f->n, 1);
    CHECK_INT(f->t.ended + f->t.removed, 0);
}

TEST(the_end_of_a_container_is_known_after_a_crash)
{
    struct rig r;
    struct found f;
    if (!rig_open(&r))
        return;
    hold_and_kill(&r, "wait", "kept");
    recover(&r, &f);
    CHECK(f.is_adopted);
    CHECK(container_pid(f.t.c) > 1);
    CHECK(find_keeper(&r));
    CHECK(container_wall_started_ms(f.t.c) > 0);
    CHECK_OK(kill(container_pid(f.t.c), SIGUSR1));
    UNTIL(&r, f.t.removed);
    CHECK_INT(f.t.ended, 1);
    CHECK_INT(f.t.status, 7);
    check_nothing_left(&r);
    rig_forget(&f.t);
    rig_close(&r);
}

TEST(a_container_that_ends_while_nobody_looks_is_known_with_what_it_printed)
{
    struct rig r;
    struct found f;
    if (!rig_open(&r))
        return;
    scoped(free_scoped) char *gate = xasprintf("%s/gate", r.root);
    scoped(free_scoped) char *ended = xasprintf("%s/one/exit", r.run);
    CHECK_OK(mkfifo(gate, 0666));
    hold_and_kill(&r, "say before read /gate say after exit 44", "kept");
    int64_t before = clock_wall_ms();
    int fd = open(gate, O_WRONLY | O_CLOEXEC); /* lets it go on */
    CHECK_OK(fd);
    (void)close(fd);
    while (access(ended, F_OK) < 0)
        (void)sched_yield();
    recover(&r, &f);
    CHECK(f.is_adopted);
    CHECK_INT(container_pid(f.t.c), 0);
    UNTIL(&r, f.t.removed);
    CHECK_INT(f.t.ended, 1);
    CHECK_INT(f.t.status, 44);
    CHECK(str_has_suffix(buf_str(&f.t.out), STR("after\n"))); /* "before" may have been read */
    CHECK(f.t.wall_ended_ms >= before && f.t.wall_ended_ms <= clock_wall_ms());
    check_nothing_left(&r);
    rig_forget(&f.t);
    rig_close(&r);
}

TEST(a_terminal_survives_a_crash)
{
    struct rig r;
    struct found f;
    if (!rig_open(&r))
        return;
    hold_and_kill(&r, "say hello size-is 80x20 cat exit 3", "terminal");
    recover(&r, &f);
    UNTIL(&r, f.t.bytes.n);
    container_resize(f.t.c, 80, 20);
    UNTIL(&r, str_find(buf_str(&f.t.bytes), STR("80x20\r\n")) >= 0);
    CHECK_INT(container_write(f.t.c, STR("abc\n\x04")), 5);
    UNTIL(&r, f.t.removed);
    CHECK_INT(f.t.status, 3);
    check_nothing_left(&r);
    rig_forget(&f.t);
    rig_close(&r);
}

TEST(open_input_survives_a_crash)
{
    struct rig r;
    struct found f;
    if (!rig_open(&r))
        return;
    hold_and_kill(&r, "cat exit 0", "input");
    recover(&r, &f);
    CHECK_INT(container_write(f.t.c, STR("abc\n")), 4);
    UNTIL(&r, f.t.out.n);
    CHECK_STR(buf_str(&f.t.out), "abc\n");
    CHECK_INT(f.t.ended, 0);
    rig_stop(&r, &f.t);
    check_nothing_left(&r);
    rig_close(&r);
}

static void on_exec_output(void *arg, enum container_stream stream, struct str bytes)
{
    (void)buf_add_str(arg, bytes);
}

static void on_exec_ended(void *arg, const struct container_exec_end *end)
{
    (void)buf_printf(arg, "%d %d", end->r, end->status);
}

TEST(programs_can_be_started_in_a_container_that_was_adopted)
{
    static const struct container_exec_events events = { .on_output = on_exec_output,
                                                         .on_ended = on_exec_ended };
    static const char *const kinds[] = { "plain", "kept" };
    scoped(buf_fini_scoped) struct buf told = BUF_INIT(4096);
    struct str words[RIG_WORDS_MAX];
    const struct container_strings args = rig_words("say hello exit 4", words);
    const struct container_process p = { .user = &rig_root_user, .args = &args, .n_args = 1 };
    const struct container_exec_opts o = { .process = &p, .events = &events, .arg = &told };
    struct container_exec *e;
    struct rig r;
    struct found f;
    if (!rig_open(&r))
        return;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        buf_reset(&told);
        hold_and_kill(&r, "wait", kinds[i]);
        recover(&r, &f);
        CHECK_OK(container_exec_start(f.t.c, &o, &e, NULL));
        UNTIL(&r, str_has_suffix(buf_str(&told), STR(" 4")));
        CHECK_STR(buf_str(&told), "hello\n0 4");
        rig_stop(&r, &f.t);
        check_nothing_left(&r);
    }
    rig_close(&r);
}

TEST(a_keeper_without_a_state_is_removed)
{
    struct rig r;
    struct found f;
    if (!rig_open(&r))
        return;
    scoped(free_scoped) char *state = xasprintf("%s/one/state.json", r.run);
    hold_and_kill(&r, "wait", "kept");
    CHECK(find_keeper(&r));
    CHECK_OK(unlink(state)); /* as if it had been killed a moment earlier */
    recover(&r, &f);
    CHECK(!f.is_adopted);
    UNTIL(&r, f.t.removed);
    while (find_keeper(&r)) /* it is not our child */
        (void)sched_yield();
    check_nothing_left(&r);
    rig_forget(&f.t);
    rig_close(&r);
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "--hold") == 0)
        return held(argv[2], argv[3], argv[4]);
    return test_main(argc, argv);
}
