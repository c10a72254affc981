/* SPDX-License-Identifier: Apache-2.0 */
/* Build a project whenever its source changes; see operator_watch.h. */
#include "cmd/operator_watch.h"

#include "base/mem.h"
#include "base/vec.h"
#include "cmd/project.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct operator_watch {
    const char *dir, *sdk;
    int inotify;
    int n_dirs;
};

/* ---- what is source ---- */

/* What builds leave behind, and what belongs to tools. */
static bool is_ignored(const char *name)
{
    static const char *const names[] = { OPERATOR_MODULE, "target", "vendor", "node_modules" };
    if (name[0] == '.' || name[0] == '#' || name[strlen(name) - 1] == '~')
        return true;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static bool is_directory(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Watching the same directory again changes nothing. */
static void add_tree(struct operator_watch *w, const char *path)
{
    const uint32_t events = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM;
    if (w->n_dirs++ >= OPERATOR_WATCH_DIRS_MAX ||
        inotify_add_watch(w->inotify, path, events | IN_ONLYDIR) < 0)
        return;
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        scoped(free_scoped) char *below = xasprintf("%s/%s", path, e->d_name);
        if (!is_ignored(e->d_name) && is_directory(below))
            add_tree(w, below);
    }
    if (d)
        (void)closedir(d);
}

/* Whether one of the events that wait concerns source. */
static bool take_events(const struct operator_watch *w)
{
    _Alignas(struct inotify_event) char events[8192];
    bool found = false;
    ssize_t n;
    while ((n = read(w->inotify, events, sizeof events)) > 0) {
        const struct inotify_event *e;
        for (const char *p = events; p < events + n; p += sizeof *e + e->len) {
            e = (const struct inotify_event *)(const void *)p;
            found = found || e->len == 0 || !is_ignored(e->name);
        }
    }
    return found;
}

/* ---- building ---- */

static int build(const struct operator_watch *w, struct err *err)
{
    (void)fprintf(stderr, "building %s\n", w->dir);
    int r = project_build(&project_operator, w->dir, w->sdk, err);
    if (r < 0)
        (void)fprintf(stderr, "error: %s; waiting for a change\n", err_text(err));
    else
        (void)fprintf(stderr, "built %s/%s\n", w->dir, OPERATOR_MODULE);
    return r;
}

/* Several files may be saved at once: wait until nothing changes for a moment. */
static void settle(const struct operator_watch *w)
{
    struct pollfd p = { .fd = w->inotify, .events = POLLIN };
    while (poll(&p, 1, OPERATOR_WATCH_SETTLE_MS) > 0)
        (void)take_events(w);
}

/* ---- the parent ---- */

static int watch_until_end(struct operator_watch *w, pid_t child, int signals)
{
    struct pollfd p[2] = { { .fd = signals, .events = POLLIN },
                           { .fd = w->inotify, .events = POLLIN } };
    for (;;) {
        struct signalfd_siginfo info;
        int status;
        if (poll(p, 2, -1) < 0 && errno != EINTR)
            return -errno;
        if (p[0].revents && read(signals, &info, sizeof info) == sizeof info &&
            info.ssi_signo != SIGCHLD)
            (void)kill(child, (int)info.ssi_signo);
        if (waitpid(child, &status, WNOHANG) == child)
            return 1 + (WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
        if (p[1].revents && take_events(w)) {
            struct err err = { 0 };
            settle(w);
            (void)build(w, &err);
            w->n_dirs = 0;
            add_tree(w, w->dir);
        }
    }
}

static int fork_server(const sigset_t *before, pid_t *ret, struct err *err)
{
    pid_t parent = getpid();
    *ret = fork();
    if (*ret < 0)
        return err_sys(err, -errno, "start the server");
    if (*ret == 0) {
        (void)sigprocmask(SIG_SETMASK, before, NULL);
        (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent)
            _exit(1); /* it ended meanwhile */
    }
    return 0;
}

int operator_watch(const char *dir, const char *sdk, struct err *err)
{
    struct operator_watch w = { .dir = dir, .sdk = sdk };
    int r = build(&w, err);
    if (r < 0 && r != E_INVALID) /* source that does not compile may soon */
        return r;
    w.inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (w.inotify < 0)
        return err_sys(err, -errno, "watch '%s'", dir);
    add_tree(&w, dir);

    sigset_t wanted, before;
    pid_t child;
    (void)sigemptyset(&wanted);
    (void)sigaddset(&wanted, SIGINT);
    (void)sigaddset(&wanted, SIGTERM);
    (void)sigaddset(&wanted, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &wanted, &before);
    int signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    r = signals < 0 ? err_sys(err, -errno, "watch '%s'", dir) : fork_server(&before, &child, err);
    if (r == 0 && child > 0)
        r = watch_until_end(&w, child, signals);
    (void)close(w.inotify);
    if (signals >= 0)
        (void)close(signals);
    return r;
}
