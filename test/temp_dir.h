/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directories of a test, in memory where that is possible, that leave nothing behind: they go by
 * temp_dir_remove(), else at exit() or abort() of the process that made them. A debugger stops
 * before that. Not for threads.
 */
#pragma once

#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEMP_DIR_BYTES = 64, TEMP_DIRS_MAX = 8 };

static struct {
    char paths[TEMP_DIRS_MAX][TEMP_DIR_BYTES]; /* "": none */
    pid_t owner;                               /* forked children leave them alone */
    struct sigaction before;                   /* of SIGABRT, as a fuzzer has it */
} temp_dirs;

/* Takes no memory: abort() may come from malloc(). */
static inline void temp_dir_unlink(char path[TEMP_DIR_BYTES])
{
    char rm[] = "rm", flags[] = "-rf", *argv[] = { rm, flags, path, NULL }, *env[] = { NULL };
    pid_t pid;
    int status;
    if (path[0] && posix_spawn(&pid, "/bin/rm", NULL, NULL, argv, env) == 0)
        (void)waitpid(pid, &status, 0);
    path[0] = '\0';
}

static inline void temp_dirs_unlink(void)
{
    if (getpid() != temp_dirs.owner)
        return;
    for (int i = 0; i < TEMP_DIRS_MAX; i++)
        temp_dir_unlink(temp_dirs.paths[i]);
}

static inline void temp_dirs_on_abort(int sig)
{
    temp_dirs_unlink();
    (void)sigaction(sig, &temp_dirs.before, NULL);
    (void)raise(sig); /* delivered when this returns */
}

/* `name`-XXXXXX in /dev/shm, else in /tmp. ret: a copy. false: it cannot be made. */
static inline bool temp_dir_make(const char *name, char ret[TEMP_DIR_BYTES])
{
    int i = 0;
    if (temp_dirs.owner == 0) {
        temp_dirs.owner = getpid();
        (void)atexit(temp_dirs_unlink);
        const struct sigaction on_abort = { .sa_handler = temp_dirs_on_abort };
        (void)sigaction(SIGABRT, &on_abort, &temp_dirs.before);
    }
    while (i < TEMP_DIRS_MAX && temp_dirs.paths[i][0])
        i++;
    (void)snprintf(ret, TEMP_DIR_BYTES, "%s/%s-XXXXXX",
                   access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", name);
    if (i == TEMP_DIRS_MAX || !mkdtemp(ret))
        return false;
    if (getpid() == temp_dirs.owner)
        memcpy(temp_dirs.paths[i], ret, TEMP_DIR_BYTES);
    return true;
}

static inline void temp_dir_remove(char path[TEMP_DIR_BYTES])
{
    for (int i = 0; i < TEMP_DIRS_MAX; i++)
        if (strcmp(temp_dirs.paths[i], path) == 0)
            temp_dirs.paths[i][0] = '\0';
    temp_dir_unlink(path);
}
