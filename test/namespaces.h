/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether confine_spawn() can make its namespaces on this machine. Asked in another way than it
 * does: by unshare(2) in a process between. Some machines let a process without privileges make a
 * user namespace and then give it no rights there, so the mapping of its user is tried as well.
 */
#pragma once

#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static inline bool namespaces_write(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool is_written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        (void)close(fd);
    return is_written;
}

/* In the process between. */
static inline bool namespaces_try(uid_t user)
{
    char uids[32], gids[32];
    if (user != geteuid() && (setresgid(user, user, user) < 0 || setresuid(user, user, user) < 0))
        return false;
    if (geteuid() == 0)
        return unshare(CLONE_NEWPID) == 0;
    (void)snprintf(uids, sizeof uids, "%u %u 1", geteuid(), geteuid());
    (void)snprintf(gids, sizeof gids, "%u %u 1", getegid(), getegid());
    return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0 && /* else its files in /proc are root's */
           unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0 &&
           namespaces_write("/proc/self/setgroups", "deny") &&
           namespaces_write("/proc/self/uid_map", uids) &&
           namespaces_write("/proc/self/gid_map", gids) && unshare(CLONE_NEWUSER) == 0 &&
           unshare(CLONE_NEWNET) == 0;
}

/* As `user`, into which root turns first. */
static inline bool namespaces_are_there(uid_t user)
{
    int status, pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        _exit(!namespaces_try(user));
    CHECK_INT(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
