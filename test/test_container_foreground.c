/* SPDX-License-Identifier: Apache-2.0 */
/* A container that a command waits for; the runtime is a script. */
#include "base/mem.h"
#include "base/sys.h"
#include "container/foreground.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct bundle {
    char dir[40];
    char *program;
};

static const char *why_not(void)
{
    int status, pid = fork(); /* what it changes is not for other tests */
    CHECK(pid >= 0);
    if (pid == 0)
        _exit(unshare(CLONE_NEWPID | CLONE_NEWNS) < 0);
    CHECK_INT(waitpid(pid, &status, 0), pid);
    return status ? "namespaces take root" : NULL;
}

static void bundle_init(struct bundle *b, const char *script)
{
    *b = (struct bundle){ .dir = "/tmp/dormouse-foreground-XXXXXX" };
    CHECK(mkdtemp(b->dir));
    b->program = xasprintf("%s/runtime.sh", b->dir);
    int fd = open(b->program, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
    CHECK(fd >= 0);
    CHECK_OK(sys_write_all(fd, script, strlen(script)));
    CHECK(close(fd) == 0);
}

static void bundle_fini(struct bundle *b)
{
    CHECK(unlink(b->program) == 0 && rmdir(b->dir) == 0);
    free(b->program);
}

static void *nothing(void *arg)
{
    return arg;
}

TEST(the_status_is_that_of_the_runtime)
{
    static const struct {
        const char *script;
        int status;
    } cases[] = { { "#!/bin/sh\nexit 7\n", 7 },
                  { "#!/bin/sh\ntest $$ = 1 && test \"$1\" = --root && exit 0\n", 0 },
                  { "#!/nowhere/sh\n", 127 } };
    if (why_not())
        SKIP(why_not());
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct bundle b;
        int status = -1;
        bundle_init(&b, cases[i].script);
        CHECK_OK(container_foreground_run(b.program, b.dir, "a", &status, NULL));
        CHECK_INT(status, cases[i].status);
        bundle_fini(&b);
    }
}

TEST(processes_and_threads_start_after_it)
{
    struct bundle b;
    pthread_t thread;
    int status = -1;
    struct stat before, after;
    if (why_not())
        SKIP(why_not());
    bundle_init(&b, "#!/bin/sh\nexit 0\n");
    CHECK(stat("/proc/self/ns/pid_for_children", &before) == 0);
    CHECK_OK(container_foreground_run(b.program, b.dir, "a", &status, NULL));
    CHECK(stat("/proc/self/ns/pid_for_children", &after) == 0);
    CHECK(before.st_ino == after.st_ino);
    int pid = fork();
    if (pid == 0)
        _exit(3);
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 3);
    CHECK_INT(pthread_create(&thread, NULL, nothing, NULL), 0);
    CHECK_INT(pthread_join(thread, NULL), 0);
    bundle_fini(&b);
}

TEST(a_thread_ends_it)
{
    struct bundle b;
    sigset_t set;
    int status = -1;
    if (why_not())
        SKIP(why_not());
    bundle_init(&b, "#!/bin/sh\nread line\n");
    (void)sigemptyset(&set);
    (void)sigaddset(&set, CONTAINER_FOREGROUND_KILL);
    CHECK_INT(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
    int in[2], old = dup(STDIN_FILENO); /* nothing comes, and no end */
    CHECK(old >= 0 && pipe2(in, O_CLOEXEC) == 0 && dup2(in[0], STDIN_FILENO) == STDIN_FILENO);
    container_foreground_kill(); /* kept until there is a container */
    CHECK_OK(container_foreground_run(b.program, b.dir, "a", &status, NULL));
    CHECK_INT(status, 128 + SIGKILL);
    CHECK(dup2(old, STDIN_FILENO) == STDIN_FILENO);
    CHECK(close(old) == 0 && close(in[0]) == 0 && close(in[1]) == 0);
    bundle_fini(&b);
}

TEST_MAIN
