/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/ipc.h"

#include "base/mem.h"
#include "container/user_namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

struct making {
    struct job job;
    char *dir;
    bool has_users;
    int r;
    struct err err;
    void (*done)(void *arg, int r, const struct err *err);
    void *arg;
};

static bool is_mounted(const char *dir, const char *name)
{
    struct stat a, b;
    scoped(free_scoped) char *path = xasprintf("%s/%s", dir, name);
    return stat(dir, &a) == 0 && stat(path, &b) == 0 && a.st_dev != b.st_dev;
}

static int keep_foreign(const char *user, const char *path, struct err *err)
{
    char source[48];
    scoped(fd_scoped) int fd = user_namespace_open_new(user, CLONE_NEWIPC, err);
    if (fd < 0)
        return fd;
    (void)snprintf(source, sizeof source, "/proc/thread-self/fd/%d", fd);
    int r = mount(source, path, NULL, MS_BIND, NULL) < 0 ? -errno : 0;
    return r < 0 ? err_sys(err, r, "keep an IPC namespace") : 0;
}

/* The thread goes back to the namespace of the process before it returns. */
static int keep_namespace(const char *path, struct err *err)
{
    scoped(fd_scoped) int own = open("/proc/thread-self/ns/ipc", O_RDONLY | O_CLOEXEC);
    if (own < 0 || unshare(CLONE_NEWIPC) < 0)
        return err_sys(err, -errno, "make an IPC namespace");
    int r = mount("/proc/thread-self/ns/ipc", path, NULL, MS_BIND, NULL) < 0 ? -errno : 0;
    if (setns(own, CLONE_NEWIPC) < 0)
        abort(); /* else this thread would go on in a foreign namespace */
    return r < 0 ? err_sys(err, r, "keep an IPC namespace") : 0;
}

static int make_ipc(const char *dir, bool has_users, struct err *err)
{
    scoped(free_scoped) char *path = xasprintf("%s/ipc", dir);
    if (is_mounted(dir, "ipc"))
        return 0;
    scoped(fd_scoped) int fd = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_sys(err, -errno, "create %s", path);
    scoped(free_scoped) char *user = xasprintf("%s/user", dir);
    return has_users ? keep_foreign(user, path, err) : keep_namespace(path, err);
}

static int make_shm(const char *dir, struct err *err)
{
    scoped(free_scoped) char *path = xasprintf("%s/shm", dir);
    char options[48];
    if (is_mounted(dir, "shm"))
        return 0;
    (void)snprintf(options, sizeof options, "mode=1777,size=%d", AGENT_SHM_BYTES);
    if (mkdir(path, 0755) < 0 && errno != EEXIST)
        return err_sys(err, -errno, "mkdir %s", path);
    if (mount("shm", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options) < 0)
        return err_sys(err, -errno, "mount %s", path);
    return 0;
}

static void work(struct job *j)
{
    struct making *m = container_of(j, struct making, job);
    m->r = make_ipc(m->dir, m->has_users, &m->err);
    if (m->r >= 0)
        m->r = make_shm(m->dir, &m->err);
}

static void done(struct job *j, int r)
{
    struct making *m = container_of(j, struct making, job);
    m->done(m->arg, r < 0 ? r : m->r, &m->err);
    free(m->dir);
    free(m);
}

void agent_ipc_make(struct loop *loop, const char *dir, bool has_users,
                    void (*cb)(void *arg, int r, const struct err *err), void *arg)
{
    struct making *m = xnew(struct making);
    *m = (struct making){ .job = { .work = work, .done = done },
                          .dir = xstrdup(dir),
                          .has_users = has_users,
                          .done = cb,
                          .arg = arg };
    int r = job_start(loop, &m->job);
    assert(r == 0);
    (void)r;
}
