/* SPDX-License-Identifier: Apache-2.0 */
/* src/container/exec: further programs in containers that run. */
#include "container/exec.h"
#include "container_rig.h"

#include <dirent.h>
#include <sys/wait.h>

struct reported {
    int started, ended, rooms, r, status;
    char text[300];
    struct buf out, err_out;
    struct container_exec *e;
    const char *stop_at; /* stops when this was printed */
    size_t n_printed;    /* without limit, unlike out */
};

static void on_started(void *arg)
{
    struct reported *t = arg;
    CHECK_INT(t->ended, 0);
    t->started++;
}

static void on_output(void *arg, enum container_stream stream, struct str bytes)
{
    struct reported *t = arg;
    struct buf *to = stream == CONTAINER_STDOUT ? &t->out : &t->err_out;
    CHECK_INT(t->ended, 0);
    CHECK(bytes.n > 0);
    t->n_printed += bytes.n;
    if (t->n_printed < 1 << 20)
        (void)buf_add_str(to, bytes);
    if (t->stop_at && str_find(buf_str(to), str_of(t->stop_at)) >= 0)
        container_exec_stop(t->e);
}

static void on_room(void *arg)
{
    ((struct reported *)arg)->rooms++;
}

static void on_ended(void *arg, const struct container_exec_end *end)
{
    struct reported *t = arg;
    t->ended++;
    t->r = end->r;
    t->status = end->status;
    (void)snprintf(t->text, sizeof t->text, "%s", end->text);
}

static const struct container_exec_events exec_events = {
    .on_started = on_started, .on_output = on_output, .on_room = on_room, .on_ended = on_ended
};

static void reported_fini(struct reported *t)
{
    buf_fini(&t->out);
    buf_fini(&t->err_out);
}

static int begin_process(struct rig_container *c, struct reported *t,
                         struct container_process process, bool has_input, struct err *err)
{
    const struct container_exec_opts o = {
        .process = &process, .has_input = has_input, .events = &exec_events, .arg = t
    };
    *t = (struct reported){ .out = BUF_INIT(2 << 20), .err_out = BUF_INIT(2 << 20) };
    if (!process.user)
        process.user = &rig_root_user;
    int r = container_exec_start(c->c, &o, &t->e, err);
    CHECK_INT(t->started + t->ended, 0);
    return r;
}

/* /program with these commands. */
static void begin(struct rig_container *c, struct reported *t, const char *commands, bool has_input)
{
    struct str words[RIG_WORDS_MAX];
    const struct container_strings args = rig_words(commands, words);
    CHECK_OK(begin_process(c, t, (struct container_process){ .args = &args, .n_args = 1 },
                           has_input, NULL));
}

static void begin_terminal(struct rig_container *c, struct reported *t, const char *commands)
{
    struct str words[RIG_WORDS_MAX];
    const struct container_strings args = rig_words(commands, words);
    CHECK_OK(begin_process(
        c, t,
        (struct container_process){
            .args = &args, .n_args = 1, .has_terminal = true, .columns = 77, .rows = 33 },
        true, NULL));
}

static void finish(struct rig *r, struct reported *t)
{
    UNTIL(r, t->ended);
    CHECK_INT(t->ended, 1);
    reported_fini(t);
}

static bool exec_open(struct rig *r, struct rig_container *c)
{
    if (!rig_open(r))
        return false;
    rig_run_waiting(r, c, "one", (struct container_spec){ .has_terminals = true },
                    (struct container_opts){ 0 });
    return true;
}

static void exec_close(struct rig *r, struct rig_container *c)
{
    rig_stop(r, c);
    rig_close(r);
    siginfo_t left = { 0 };
    struct process_facts f;
    while (waitid(P_ALL, 0, &left, WEXITED | WNOHANG | WNOWAIT) == 0 && left.si_pid) {
        CHECK_OK(process_facts(left.si_pid, &f));
        CHECK(strcmp(f.name, "program") != 0); /* but perhaps the last helper of crun */
        CHECK_INT(waitpid(left.si_pid, NULL, 0), left.si_pid);
        left.si_pid = 0;
    }
}

/* ---- ends ---- */

TEST(what_a_program_prints_and_how_it_ends_is_told)
{
    struct rig r;
    struct rig_container c;
    struct reported t;
    if (!exec_open(&r, &c))
        return;
    begin(&c, &t, "say hello err problem exit 3", false);
    UNTIL(&r, t.ended);
    CHECK_INT(t.started, 1);
    CHECK_INT(t.r, 0);
    CHECK_INT(t.status, 3);
    CHECK_STR(buf_str(&t.out), "hello\n");
    CHECK_STR(buf_str(&t.err_out), "problem\n");
    finish(&r, &t);
    begin(&c, &t, "kill 9", false);
    UNTIL(&r, t.ended);
    CHECK_INT(t.r, 0);
    CHECK_INT(t.status, -SIGKILL);
    finish(&r, &t);
    begin(&c, &t, "cat exit 0", false); /* its input is empty */
    UNTIL(&r, t.ended);
    CHECK_INT(t.status, 0);
    finish(&r, &t);
    exec_close(&r, &c);
}

TEST(a_program_that_cannot_be_started_is_told_from_one_that_fails)
{
    static const struct {
        const char *program;
        int r;
    } cases[] = { { "no-such-program", -ENOENT },
                  { "/no/such/program", -ENOENT },
                  { "/etc", -EACCES },
                  { "/bad", -ENOEXEC } };
    struct rig r;
    struct rig_container c;
    struct reported t;
    if (!exec_open(&r, &c))
        return;
    const char *program = getenv("OCI_PROGRAM");
    bool is_crun = !program || container_program_is_crun(program);
    scoped(free_scoped) char *bad = xasprintf("%s/bad", r.root);
    int fd = sys_openat(AT_FDCWD, bad, O_WRONLY | O_CREAT, 0755);
    CHECK_OK(sys_write_all(fd, "no program\n", 11));
    (void)close(fd);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct str word = str_of(cases[i].program);
        const struct container_strings args = { &word, 1 };
        CHECK_OK(begin_process(&c, &t, (struct container_process){ .args = &args, .n_args = 1 },
                               false, NULL));
        UNTIL(&r, t.ended);
        if (t.r != cases[i].r && (is_crun || i != 3))
            TEST_FAIL("'%s': %s (%s), status %d", cases[i].program, err_name(t.r), t.text,
                      t.status);
        CHECK(t.text[0] || !is_crun);
        CHECK_INT(t.out.n, 0);
        finish(&r, &t);
    }
    exec_close(&r, &c);
}

TEST(a_program_is_another_user_in_another_directory)
{
    static const struct container_user user = { .uid = 1000, .gid = 1001 };
    const struct str env = STR("WHO=me");
    const struct container_strings vars = { &env, 1 };
    struct str words[RIG_WORDS_MAX];
    const struct container_strings args = rig_words("read environ write /dev/stderr", words);
    const struct container_process p = { .args = &args,
                                         .n_args = 1,
                                         .env = &vars,
                                         .n_env = 1,
                                         .user = &user,
                                         .cwd = STR("/proc/self") };
    struct rig r;
    struct rig_container c;
    struct reported t;
    if (!exec_open(&r, &c))
        return;
    CHECK_OK(begin_process(&c, &t, p, false, NULL));
    UNTIL(&r, t.ended);
    CHECK(str_find(buf_str(&t.out), STR("WHO=me")) >= 0);
    CHECK(str_has_suffix(buf_str(&t.out), STR("written\n"))); /* its pipes are its own */
    CHECK_STR(buf_str(&t.err_out), "x");
    finish(&r, &t);
    exec_close(&r, &c);
}

TEST(bad_programs_are_refused_at_once)
{
    const struct str none = STR(""), nul = STR("a\0b");
    const struct container_strings empty = { &none, 1 }, bad = { &nul, 1 };
    struct rig r;
    struct rig_container c;
    struct reported t;
    if (!exec_open(&r, &c))
        return;
    CHECK_ERR(begin_process(&c, &t, (struct container_process){ .args = &empty, .n_args = 1 }, true,
                            NULL),
              E_INVALID);
    reported_fini(&t);
    CHECK_ERR(
        begin_process(&c, &t, (struct container_process){ .args = &bad, .n_args = 1 }, true, NULL),
        E_INVALID);
    reported_fini(&t);
    exec_close(&r, &c);
}

/* ---- input and output ---- */

TEST(input_is_passed_on_with_back_pressure)
{
    static char much[1 << 20];
    struct rig r;
    struct rig_container c;
    struct reported t;
    if (!exec_open(&r, &c))
        return;
    memset(much, 'y', sizeof much);
    begin(&c, &t, "cat exit 4", true);
    CHECK_INT(container_exec_write(t.e, STR("early")), 0); /* not yet */
    UNTIL(&r, t.rooms);
    container_exec_pause(t.e, CONTAINER_STDOUT, true);
    struct str left = str_n(much, sizeof much);
    for (int rooms = -1; rooms != t.rooms && left.n;) {
        rooms = t.rooms;
        ssize_t n = container_exec_write(t.e, left);
        CHECK_OK(n);
        left = str_slice(left, (size_t)n, left.n);
        for (int i = 0; i < 50 && rooms == t.rooms; i++) {
            (void)loop_turn(&r.loop, false);
            (void)sched_yield();
        }
    }
    CHECK(left.n > 0 && t.n_printed == 0); /* both pipes are full */
    container_exec_pause(t.e, CONTAINER_STDOUT, false);
    while (left.n) {
        ssize_t n = container_exec_write(t.e, left);
        CHECK_OK(n);
        left = str_slice(left, (size_t)n, left.n);
        (void)loop_turn(&r.loop, left.n > 0);
    }
    container_exec_end_input(t.e);
    CHECK_ERR(container_exec_write(t.e, STR("late")), -EPIPE);
    UNTIL(&r, t.ended);
    CHECK_INT(t.n_printed, sizeof much);
    CHECK_INT(t.status, 4);
    finish(&r, &t);
    exec_close(&r, &c);
}

TEST(input_that_nobody_reads_is_an_error)
{
    struct rig r;
    struct rig_container c;
    struct reported t;
    if (!exec_open(&r, &c))
        return;
    begin(&c, &t, "exit 0", true);
    UNTIL(&r, t.started);
    ssize_t n = 0;
    for (; n >= 0 && !t.ended; (void)loop_turn(&r.loop, false))
        n = container_exec_write(t.e, STR("x"));
    CHECK(t.ended || n == -EPIPE);
    finish(&r, &t);
    begin(&c, &t, "wait", false);
    UNTIL(&r, t.started);
    CHECK_ERR(container_exec_write(t.e, STR("x")), -EPIPE); /* it was not asked for */
    container_exec_stop(t.e);
    finish(&r, &t);
    exec_close(&r, &c);
}

TEST(all_that_was_printed_comes_before_the_end)
{
    struct rig r;
    struct rig_container c;
    struct reported t;
    if (!exec_open(&r, &c))
        return;
    begin(&c, &t, "fill 5000000 exit 1", false);
    UNTIL(&r, t.ended);
    CHECK_INT(t.n_printed, 5000000);
    CHECK_INT(t.status, 1);
    finish(&r, &t);
    begin(&c, &t, "fill 1000", false);
    UNTIL(&r, t.started);
    container_exec_pause(t.e, CONTAINER_STDOUT, true);
    size_t before = t.n_printed;
    for (int i = 0; i < 100; i++) {
        (void)loop_turn(&r.loop, false);
        (void)sched_yield();
    }
    CHECK(t.ended == (before == 1000)); /* it waits for the one who pauses */
    if (!t.ended)
        container_exec_pause(t.e, CONTAINER_STDOUT, false);
    UNTIL(&r, t.ended);
    CHECK_INT(t.n_printed, 1000);
    finish(&r, &t);
    exec_close(&r, &c);
}

/* ---- terminals ---- */

TEST(a_terminal_has_a_size_and_can_get_another_one)
{
    struct rig r;
    struct rig_container c;
    struct reported t;
    if (!exec_open(&r, &c))
        return;
    begin_terminal(&c, &t, "size-is 77x33 size-is 100x50");
    UNTIL(&r, t.out.n >= 7);
    CHECK_STR(buf_str(&t.out), "77x33\r\n");
    container_exec_resize(t.e, 100, 50);
    UNTIL(&r, t.ended);
    CHECK(str_find(buf_str(&t.out), STR("100x50\r\n")) >= 0);
    CHECK_INT(t.err_out.n, 0);
    CHECK_INT(t.r, 0);
    finish(&r, &t);
    begin(&c, &t, "size", false);
    UNTIL(&r, t.ended);
    CHECK_STR(buf_str(&t.out), "no terminal\n");
    finish(&r, &t);
    exec_close(&r, &c);
}

TEST(what_is_typed_at_a_terminal_arrives)
{
    struct rig r;
    struct rig_container c;
    struct reported t;
    if (!exec_open(&r, &c))
        return;
    begin_terminal(&c, &t, "say ready cat say bye exit 6");
    UNTIL(&r, str_find(buf_str(&t.out), STR("ready\r\n")) >= 0);
    CHECK_INT(container_exec_write(t.e, STR("abc\n")), 4);
    UNTIL(&r, str_find(buf_str(&t.out), STR("abc\r\nabc\r\n")) >= 0); /* the echo, and cat */
    container_exec_end_input(t.e);                                    /* without effect */
    CHECK_INT(container_exec_write(t.e, STR("\x04")), 1);             /* end of file */
    UNTIL(&r, t.ended);
    CHECK(str_has_suffix(buf_str(&t.out), STR("bye\r\n")));
    CHECK_INT(t.status, 6);
    finish(&r, &t);
    exec_close(&r, &c);
}

/* ---- being stopped ---- */

TEST(a_program_can_be_stopped_at_any_time)
{
    struct rig r;
    struct rig_container c;
    if (!exec_open(&r, &c))
        return;
    for (int turns = 0; turns < 30; turns++) {
        struct reported t;
        begin(&c, &t, "say hello wait", false);
        for (int i = 0; i < turns && !t.out.n; i++) {
            (void)loop_turn(&r.loop, false);
            (void)usleep(100);
        }
        container_exec_stop(t.e);
        container_exec_stop(t.e);
        size_t n = t.n_printed;
        UNTIL(&r, t.ended);
        CHECK_INT(t.n_printed, n); /* nothing more is told */
        CHECK(t.r == -ECANCELED || (t.r == 0 && t.status == -SIGKILL));
        finish(&r, &t);
    }
    struct reported t;
    begin(&c, &t, "say hello say world wait", false);
    t.stop_at = "hello";
    UNTIL(&r, t.ended);
    CHECK_INT(t.status, -SIGKILL);
    finish(&r, &t);
    exec_close(&r, &c);
}

TEST(there_is_a_limit_of_programs_and_all_of_them_get_their_turn)
{
    static struct reported t[CONTAINER_EXECS_MAX + 1];
    struct rig r;
    struct rig_container c;
    struct str words[RIG_WORDS_MAX];
    if (!exec_open(&r, &c))
        return;
    for (int i = 0; i < CONTAINER_EXECS_MAX; i++)
        begin(&c, &t[i], "say hello", false);
    const struct container_strings args = rig_words("exit 0", words);
    CHECK_ERR(begin_process(&c, &t[CONTAINER_EXECS_MAX],
                            (struct container_process){ .args = &args, .n_args = 1 }, true, NULL),
              E_LIMIT);
    reported_fini(&t[CONTAINER_EXECS_MAX]);
    for (int i = 0; i < CONTAINER_EXECS_MAX; i++) {
        UNTIL(&r, t[i].ended);
        CHECK_STR(str_of(t[i].text), "");
        CHECK_INT(t[i].r, 0);
        CHECK_INT(t[i].status, 0);
        CHECK_STR(buf_str(&t[i].out), "hello\n");
        finish(&r, &t[i]);
    }
    exec_close(&r, &c);
}

/* ---- the container ends ---- */

TEST(programs_end_with_their_container)
{
    struct rig r;
    struct rig_container c;
    struct reported t[3];
    if (!exec_open(&r, &c))
        return;
    begin(&c, &t[0], "say hello wait", false);
    begin(&c, &t[1], "fill 1000 wait", false);
    UNTIL(&r, t[0].out.n && t[1].started);
    container_exec_pause(t[1].e, CONTAINER_STDOUT, true); /* even if what it prints is not wanted */
    begin(&c, &t[2], "say hello wait", false);
    container_stop(c.c, 0);
    UNTIL(&r, c.removed);
    rig_forget(&c);
    rig_close(&r);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(t[i].ended, 1);
        CHECK(t[i].status == -SIGKILL || (i == 2 && (t[i].r == -ESRCH || t[i].r == -EIO)));
        reported_fini(&t[i]);
    }
}

TEST(programs_start_during_the_grace_of_a_container_and_not_after_it)
{
    struct rig r;
    struct rig_container c;
    struct reported t, late;
    if (!exec_open(&r, &c))
        return;
    container_stop(c.c, 3600 * 1000); /* it has no handler of this signal */
    begin(&c, &t, "say hello exit 3", false);
    UNTIL(&r, t.ended);
    CHECK_INT(t.status, 3);
    finish(&r, &t);
    container_stop(c.c, 0);
    UNTIL(&r, c.ended);
    CHECK_ERR(begin_process(&c, &late, (struct container_process){ 0 }, false, NULL), -ESRCH);
    reported_fini(&late);
    UNTIL(&r, c.removed);
    rig_forget(&c);
    rig_close(&r);
}

TEST(a_program_that_comes_too_late_is_told_so)
{
    struct rig r;
    struct rig_container c;
    if (!rig_open(&r))
        return;
    for (int i = 0; i < 20; i++) {
        struct reported t;
        rig_run_waiting(&r, &c, "one", (struct container_spec){ 0 }, (struct container_opts){ 0 });
        begin(&c, &t, "say hello wait", false);
        for (int k = 0; k < i; k++) {
            (void)loop_turn(&r.loop, false);
            (void)usleep(200);
        }
        CHECK_OK(kill(container_pid(c.c), SIGKILL));
        UNTIL(&r, c.removed);
        CHECK_INT(t.ended, 1);
        CHECK(t.r == -ESRCH || t.r == -EIO || (t.r == 0 && t.status == -SIGKILL));
        reported_fini(&t);
        rig_forget(&c);
    }
    rig_close(&r);
}

TEST(a_program_that_outlives_its_pod_namespace_is_killed_with_its_container)
{
    struct rig r;
    struct rig_container first, c;
    struct reported t;
    char pid_ns[64];
    if (!rig_open(&r))
        return;
    if (!r.machine.cgroup) {
        rig_close(&r);
        return;
    }
    rig_run_waiting(&r, &first, "first", (struct container_spec){ 0 },
                    (struct container_opts){ 0 });
    (void)snprintf(pid_ns, sizeof pid_ns, "/proc/%d/ns/pid", container_pid(first.c));
    rig_run_waiting(&r, &c, "one", (struct container_spec){ .pid = pid_ns },
                    (struct container_opts){ 0 });
    begin(&c, &t, "say hello wait", false);
    UNTIL(&r, t.out.n);
    CHECK_OK(kill(container_pid(c.c), SIGKILL));
    UNTIL(&r, c.removed);
    CHECK_INT(t.ended, 1);
    CHECK_INT(t.status, -SIGKILL);
    reported_fini(&t);
    rig_forget(&c);
    rig_stop(&r, &first);
    rig_close(&r);
}

/* ---- crun is killed ---- */

/* A crun exec of this host. 0: none. */
static int find_crun(const struct rig *r)
{
    DIR *dir = opendir("/proc");
    struct dirent *e;
    uint64_t pid;
    int found = 0;
    CHECK(dir);
    while (!found && (e = readdir(dir))) {
        scoped(buf_fini_scoped) struct buf words = BUF_INIT(64 << 10);
        char path[300];
        (void)snprintf(path, sizeof path, "/proc/%s/cmdline", e->d_name);
        if (parse_u64(str_of(e->d_name), 2, INT32_MAX, &pid) == 0 &&
            sys_read_file(AT_FDCWD, path, &words, NULL) == 0 &&
            str_find(buf_str(&words), str_of(r->run)) >= 0 &&
            str_find(buf_str(&words), STR("--process")) >= 0)
            found = (int)pid;
    }
    (void)closedir(dir);
    return found;
}

static unsigned n_in_group(struct rig_container *c)
{
    struct container_usage u;
    CHECK_OK(container_usage(c->c, &u));
    return (unsigned)u.pids;
}

static void kill_at_any_moment(bool has_terminal)
{
    enum { TRIES = 40, STEP = 300 };
    struct rig r;
    struct rig_container c;
    unsigned n_killed = 0;
    if (!exec_open(&r, &c))
        return;
    for (unsigned i = 0; i < TRIES; i++) {
        struct reported t;
        if (has_terminal)
            begin_terminal(&c, &t, "say hello wait");
        else
            begin(&c, &t, "say hello wait", false);
        int pid = 0;
        while (!t.started && !t.ended && (pid = find_crun(&r)) == 0)
            (void)loop_turn(&r.loop, false);
        for (unsigned k = 0; k < i * STEP; k++)
            (void)sched_yield();
        bool was_hit = pid && kill(pid, SIGKILL) == 0;
        UNTIL(&r, t.started || t.ended);
        if (!t.ended)
            container_exec_stop(t.e);
        UNTIL(&r, t.ended);
        CHECK(t.r == 0 || was_hit);
        n_killed += t.r < 0;
        if (r.machine.cgroup)
            while (n_in_group(&c) > 1) /* that of a terminal gets a signal, and may need a moment */
                (void)sched_yield();
        reported_fini(&t);
    }
    (void)printf("# crun killed %u of %d times before it was done\n", n_killed, TRIES);
    CHECK(n_killed > 0);
    exec_close(&r, &c);
}

TEST(a_crun_that_is_killed_at_any_moment_leaves_no_program)
{
    kill_at_any_moment(false);
}

TEST(a_crun_that_is_killed_with_a_terminal_leaves_no_program)
{
    kill_at_any_moment(true);
}

TEST_MAIN
