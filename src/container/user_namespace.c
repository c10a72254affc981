/* SPDX-License-Identifier: Apache-2.0 */
#include "container/user_namespace.h"

#include "base/mem.h"
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---------------------------------------------------------------- the child */

struct user_namespace_child {
    pid_t pid;
    int pipe; /* closed: it ends */
};

/* Only system calls: it has the locks of threads that are not there. Its exit status is an errno.
 */
__attribute__((noreturn)) static void run_child(int user_fd, int type, int hear, int tell)
{
    char byte;
    if (user_fd >= 0 && setns(user_fd, CLONE_NEWUSER) < 0)
        _exit(errno);
    if (type && unshare(type) < 0)
        _exit(errno);
    if (write(tell, "", 1) < 0)
        _exit(errno);
    (void)close(tell);
    while (read(hear, &byte, 1) < 0 && errno == EINTR)
        ;
    _exit(0);
}

static void end_child(struct user_namespace_child *c)
{
    int status;
    (void)close(c->pipe);
    (void)syscall(SYS_kill, c->pid, SIGKILL);
    while (waitpid(c->pid, &status, __WALL) < 0 && errno == EINTR)
        ;
}

/* Why the child has ended: it writes a byte when it is ready. */
static int wait_ready(const struct user_namespace_child *c, int heard, struct err *err)
{
    char byte;
    int status = 0;
    ssize_t n;
    do
        n = read(heard, &byte, 1);
    while (n < 0 && errno == EINTR);
    if (n == 1)
        return 0;
    while (waitpid(c->pid, &status, __WALL) < 0 && errno == EINTR)
        ;
    int why = WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : EIO;
    return err_sys(err, why == EPERM || why == ENOSPC || why == EINVAL ? E_UNSUPPORTED : -why,
                   "make a namespace");
}

/*
 * A process in a new user namespace (user_fd < 0), or in that one with a new namespace of the type.
 * Without an exit signal, so that nobody else waits for it.
 */
static int start_child(int user_fd, int type, struct user_namespace_child *ret, struct err *err)
{
    int down[2], up[2];
    unsigned long flags = user_fd < 0 ? CLONE_NEWUSER : 0;
    if (pipe2(down, O_CLOEXEC) < 0)
        return err_sys(err, -errno, "pipe");
    scoped(fd_scoped) int hear = down[0];
    scoped(fd_scoped) int say = down[1];
    if (pipe2(up, O_CLOEXEC) < 0)
        return err_sys(err, -errno, "pipe");
    scoped(fd_scoped) int heard = up[0];
    scoped(fd_scoped) int tell = up[1];
    pid_t pid = (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);
    if (pid < 0)
        return err_sys(
            err, errno == EPERM || errno == ENOSPC || errno == EINVAL ? E_UNSUPPORTED : -errno,
            "make a user namespace");
    if (pid == 0) {
        (void)close(say);
        run_child(user_fd, type, hear, tell);
    }
    *ret = (struct user_namespace_child){ .pid = pid };
    (void)close(take_fd(&tell));
    int r = wait_ready(ret, heard, err);
    if (r < 0)
        return r;
    ret->pipe = take_fd(&say);
    return 0;
}

/* ---------------------------------------------------------------- user namespaces */

static int write_map(pid_t pid, const char *name, uint32_t base, uint32_t n, struct err *err)
{
    char path[64], text[64];
    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int len = snprintf(text, sizeof text, "0 %u %u\n", base, n);
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, path, O_WRONLY, 0);
    int r = fd < 0 ? fd : sys_write_all(fd, text, (size_t)len);
    return r < 0 ? err_sys(err, r, "write %s", path) : 0;
}

static int keep(pid_t pid, const char *path, struct err *err)
{
    char source[64];
    scoped(fd_scoped) int file = sys_openat(AT_FDCWD, path, O_RDONLY | O_CREAT, 0444);
    (void)snprintf(source, sizeof source, "/proc/%d/ns/user", (int)pid);
    if (file < 0)
        return err_sys(err, file, "make %s", path);
    if (mount(source, path, NULL, MS_BIND, NULL) < 0)
        return err_sys(err, -errno, "mount a user namespace on %s", path);
    return 0;
}

static bool exists(const char *path)
{
    struct statfs fs;
    return statfs(path, &fs) == 0 && fs.f_type == NSFS_MAGIC;
}

int user_namespace_make(const char *path, uint32_t base, uint32_t n, struct err *err)
{
    struct user_namespace_child c;
    if (exists(path))
        return 0;
    int r = start_child(-1, 0, &c, err);
    if (r < 0)
        return r;
    r = write_map(c.pid, "uid_map", base, n, err);
    r = r < 0 ? r : write_map(c.pid, "gid_map", base, n, err);
    r = r < 0 ? r : keep(c.pid, path, err);
    end_child(&c);
    return r;
}

void user_namespace_remove(const char *path)
{
    while (umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
        ;
    (void)unlink(path);
}

/* ---------------------------------------------------------------- what belongs to one */

static int open_user(const char *user_path, struct err *err)
{
    int fd = sys_openat(AT_FDCWD, user_path, O_RDONLY, 0);
    return fd < 0 ? err_sys(err, fd, "open %s", user_path) : fd;
}

int user_namespace_open_new(const char *user_path, int type, struct err *err)
{
    struct user_namespace_child c;
    char path[64];
    scoped(fd_scoped) int user = open_user(user_path, err);
    int r = user < 0 ? user : start_child(user, type, &c, err);
    if (r < 0)
        return r;
    (void)snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)c.pid,
                   type == CLONE_NEWNET ? "net" : "ipc");
    int fd = sys_openat(AT_FDCWD, path, O_RDONLY, 0);
    end_child(&c);
    return fd < 0 ? err_sys(err, fd, "open a new namespace") : fd;
}

int user_namespace_map_mount(const char *user_path, const char *path, struct err *err)
{
    scoped(fd_scoped) int user = open_user(user_path, err);
    if (user < 0)
        return user;
    scoped(fd_scoped) int tree = open_tree(AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (tree < 0)
        return err_sys(err, -errno, "clone the mount of %s", path);
    struct mount_attr attr = { .attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (uint64_t)user };
    if (mount_setattr(tree, "", AT_EMPTY_PATH, &attr, sizeof attr) < 0)
        return err_sys(err, errno == EINVAL || errno == ENOSYS ? E_UNSUPPORTED : -errno,
                       "map the owners of files of %s (the file system or the kernel cannot)",
                       path);
    return take_fd(&tree);
}
