/* SPDX-License-Identifier: Apache-2.0 */
#include "container/program.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define VERSION_PREFIX "crun version "

enum { VERSION_SIZE = 1024 };

/* After those of PATH: a service may have a short one. */
#define USUAL_DIRS "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static char *find_in(struct str dirs, const char *name)
{
    struct str dir;
    while (dirs.n) {
        (void)str_cut(dirs, ':', &dir, &dirs);
        scoped(free_scoped) char *path = xasprintf(STR_FMT "/%s", STR_ARG(dir), name);
        if (dir.n && dir.p[0] == '/' && access(path, X_OK) == 0)
            return realpath(path, NULL);
    }
    return NULL;
}

static char *find_one(const char *name)
{
    char *found = find_in(str_of(getenv("PATH")), name);
    return found ? found : find_in(STR(USUAL_DIRS), name);
}

int container_program_find(const char *name, char **ret, struct err *err)
{
    char *found;
    if (name && strchr(name, '/')) {
        found = access(name, X_OK) == 0 ? realpath(name, NULL) : NULL;
        if (!found)
            return err_sys(err, -errno, "'%s'", name);
    } else {
        found = find_one(name ? name : "crun");
        if (!found && !name)
            found = find_one("runc");
    }
    if (!found)
        return err_set(err, -ENOENT, "there is no '%s' on this machine",
                       name ? name : "crun' or 'runc");
    *ret = found;
    return 0;
}

/* Until the program closes its end, or text is full. */
static int read_text(int fd, char *text, size_t size)
{
    uint64_t end_ms = clock_mono_ms() + CONTAINER_PROGRAM_VERSION_MS;
    size_t n = 0;
    for (;;) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        uint64_t now_ms = clock_mono_ms();
        int r = poll(&p, 1, now_ms < end_ms ? (int)(end_ms - now_ms) : 0);
        if (r == 0)
            return -ETIMEDOUT;
        ssize_t got = r < 0 ? -1 : read(fd, text + n, size - 1 - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        n += (size_t)got;
        text[n] = '\0';
        if (got == 0 || n == size - 1)
            return 0;
    }
}

static int spawn_version(const char *path, int out, pid_t *ret)
{
    posix_spawn_file_actions_t actions;
    char *argv[] = { (char *)"crun", (char *)"--version", NULL };
    char *env[] = { NULL };
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    (void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int r = -posix_spawn(ret, path, &actions, NULL, argv, env);
    (void)posix_spawn_file_actions_destroy(&actions);
    return r;
}

static int parse_version(struct str text)
{
    struct str line, rest, major, minor;
    uint64_t a, b;
    (void)str_cut(text, '\n', &line, &rest);
    if (!str_has_prefix(line, STR(VERSION_PREFIX)))
        return -EBADMSG;
    (void)str_cut(str_slice(line, strlen(VERSION_PREFIX), line.n), '.', &major, &rest);
    (void)str_cut(rest, '.', &minor, &rest);
    size_t digits = 0;
    while (digits < minor.n && minor.p[digits] >= '0' && minor.p[digits] <= '9')
        digits++; /* "1.21-dirty" */
    if (parse_u64(major, 0, 999, &a) < 0 || parse_u64(str_slice(minor, 0, digits), 0, 999, &b) < 0)
        return -EBADMSG;
    return (int)(1000 * a + b);
}

int container_program_crun_version(const char *path)
{
    char text[VERSION_SIZE] = "";
    pid_t pid;
    int ends[2], r = pipe2(ends, O_CLOEXEC) < 0 ? -errno : 0;
    if (r < 0)
        return r;
    r = spawn_version(path, ends[1], &pid);
    (void)close(ends[1]);
    if (r >= 0) {
        r = read_text(ends[0], text, sizeof text);
        (void)kill(pid, SIGKILL); /* it has said what it had to */
        (void)waitpid(pid, NULL, 0);
    }
    (void)close(ends[0]);
    return r < 0 ? r : parse_version(str_of(text));
}

bool container_program_is_crun(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strstr(slash ? slash : path, "crun") != NULL;
}
