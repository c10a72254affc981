/* SPDX-License-Identifier: Apache-2.0 */
/* io/process: how processes begin and end. */
#include "base/mem.h"
#include "io/process.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void drain(struct loop *loop)
{
    while (loop_turn(loop, false))
        ;
    loop_fini(loop);
}

struct ended {
    int n, status;
};

static void on_exit_of(struct process *p, int status, void *arg)
{
    struct ended *e = arg;
    e->n++;
    e->status = status;
}

static struct process *spawn(struct loop *loop, const char *script, int out, struct ended *e)
{
    const char *const argv[] = { "/bin/sh", "-c", script, NULL }, *const env[] = { "A=b", NULL };
    struct process *p;
    struct process_opts o = { .argv = argv,
                              .env = env,
                              .in = out,
                              .out = out,
                              .err_out = out,
                              .on_exit = on_exit_of,
                              .arg = e };
    *e = (struct ended){ 0 };
    CHECK_OK(process_spawn(loop, &o, &p, NULL));
    return p;
}

TEST(a_process_is_told_how_it_ended)
{
    struct loop loop;
    struct ended e;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    CHECK_OK(loop_init(&loop, NULL));
    (void)spawn(&loop, "exit 7", null, &e);
    while (!e.n)
        (void)loop_turn(&loop, true);
    CHECK_INT(e.status, 7);
    struct process *p = spawn(&loop, "while :; do :; done", null, &e);
    process_signal(p, SIGTERM);
    while (!e.n)
        (void)loop_turn(&loop, true);
    CHECK_INT(e.status, -SIGTERM);
    (void)close(null);
    drain(&loop);
}

TEST(a_process_gets_its_environment_and_three_descriptors)
{
    struct loop loop;
    struct ended e;
    char text[200];
    int ends[2], stray = open("/dev/null", O_RDONLY); /* without O_CLOEXEC */
    CHECK_OK(loop_init(&loop, NULL));
    CHECK_OK(pipe2(ends, O_CLOEXEC));
    (void)spawn(&loop, "echo $A; for f in /proc/self/fd/*; do [ -e $f ] && echo ${f##*/}; done",
                ends[1], &e);
    while (!e.n)
        (void)loop_turn(&loop, true);
    ssize_t n = read(ends[0], text, sizeof text - 1);
    CHECK(n > 0);
    text[n] = '\0';
    CHECK_STR(str_of(text), "b\n0\n1\n2\n");
    (void)close(ends[0]);
    (void)close(ends[1]);
    (void)close(stray);
    drain(&loop);
}

TEST(a_program_that_is_not_there_is_an_error_at_once)
{
    struct loop loop;
    struct process *p;
    struct err err = { 0 };
    const char *const argv[] = { "/no/such/program", NULL };
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    CHECK_OK(loop_init(&loop, NULL));
    struct process_opts o = { .argv = argv, .env = argv + 1 };
    o.in = o.out = o.err_out = null;
    CHECK_ERR(process_spawn(&loop, &o, &p, &err), -ENOENT);
    CHECK(strstr(err.text, "/no/such/program"));
    (void)close(null);
    drain(&loop);
}

TEST(who_a_process_is_can_be_told_for_ever)
{
    struct process_facts me, again;
    CHECK_OK(process_facts(getpid(), &me));
    CHECK_INT(me.parent, getppid());
    CHECK_INT(me.session, getsid(0));
    CHECK(me.state == 'R' || me.state == 'S');
    CHECK_OK(process_facts(getpid(), &again));
    CHECK(me.start_ticks && me.start_ticks == again.start_ticks);
    CHECK(me.has_memory);
    CHECK_ERR(process_facts(0x3ffffffe, &me), -ESRCH);
    CHECK(!process_reap_stray(getpid(), NULL));
}

static bool is_nobody(void *arg, int pid)
{
    (*(int *)arg)++;
    return false;
}

static bool is_me(void *arg, int pid)
{
    (*(int *)arg)++;
    return true;
}

TEST(a_process_that_has_the_id_of_another_is_not_taken_for_it)
{
    struct loop loop;
    struct ended e = { 0 };
    struct process *p = NULL;
    struct process_facts f;
    struct err err = { 0 };
    int n_asked = 0;
    CHECK_OK(loop_init(&loop, NULL));
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        for (;;)
            (void)pause();
    CHECK_OK(process_facts(pid, &f));
    CHECK_ERR(process_watch(&loop, pid, f.start_ticks + 1, true, on_exit_of, &e, &p, &err), -ESRCH);
    CHECK_OK(process_watch(&loop, pid, f.start_ticks, true, on_exit_of, &e, &p, &err));
    CHECK(!process_kill_if(pid, is_nobody, &n_asked));
    CHECK_INT(waitpid(pid, NULL, WNOHANG), 0);
    CHECK(process_kill_if(pid, is_me, &n_asked));
    while (!e.n)
        (void)loop_turn(&loop, true);
    CHECK_INT(e.status, -SIGKILL);
    CHECK(!process_kill_if(pid, is_me, &n_asked)); /* there is none */
    CHECK_INT(n_asked, 2);
    drain(&loop);
}

TEST(a_child_with_a_session_of_its_own_is_waited_for_by_its_name_alone)
{
    struct process_facts f;
    siginfo_t info;
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        (void)prctl(PR_SET_NAME, "stray:[1]");
        (void)setsid();
        _exit(0);
    }
    CHECK_INT(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    CHECK_OK(process_facts(pid, &f));
    CHECK(f.state == 'Z' && f.session == pid && !f.has_memory);
    CHECK_STR(str_of(f.name), "stray:[1]");
    CHECK(!process_reap_stray(pid, NULL) && !process_reap_any_stray());
    CHECK(!process_reap_stray(pid, "stra") && !process_reap_stray(pid, "strays"));
    CHECK(process_reap_stray(pid, "stray"));
    CHECK(waitpid(pid, NULL, 0) < 0);
}

static void end_named(const char *name, bool has_session)
{
    (void)prctl(PR_SET_NAME, name);
    if (has_session)
        (void)setsid();
    _exit(0);
}

/* A program with a session of its own is watched by somebody; its helpers are not. */
TEST(a_helper_with_a_session_of_its_own_is_waited_for_and_its_program_is_not)
{
    static const struct {
        const char *name;
        bool has_session, is_helper;
    } cases[] = { { "stray:[1]", true, true },
                  { "stray", true, false },
                  { "other:[1]", true, false },
                  { "stray:[1]", false, false } };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct process_facts f;
        siginfo_t info;
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0)
            end_named(cases[i].name, cases[i].has_session);
        CHECK_INT(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
        CHECK_OK(process_facts(pid, &f));
        CHECK(f.state == 'Z');
        CHECK_INT(process_reap_helper(pid, "stray"), cases[i].is_helper);
        CHECK_INT(waitpid(pid, NULL, 0), cases[i].is_helper ? -1 : pid);
    }
}

TEST_MAIN
