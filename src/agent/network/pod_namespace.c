/* SPDX-License-Identifier: Apache-2.0 */
/* Named network namespaces; see pod_namespace.h. */
#include "agent/network/pod_namespace.h"

#include "base/mem.h"
#include "base/sys.h"
#include "container/netlink.h"
#include "container/user_namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { LOOPBACK = 1 };

#define OWN "/proc/thread-self/ns/net"

int pod_namespace_write_sysctl(const char *path, const char *text, struct err *err)
{
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, path, O_WRONLY, 0);
    int r = fd < 0 ? fd : sys_write_all(fd, text, strlen(text));
    return r < 0 ? err_sys(err, r, "write '%s'", path) : 0;
}

/* What containerd sets as well: the pod has the ports to itself. A kernel without them: nothing is
 * lost but convenience. */
static void relax(void)
{
    (void)pod_namespace_write_sysctl("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0", NULL);
    (void)pod_namespace_write_sysctl("/proc/sys/net/ipv4/ping_group_range", "0 2147483647", NULL);
}

/* In the new namespace. */
static int set_up(const char *path, int *ret_inner, struct err *err)
{
    scoped(fd_scoped) int inner = netlink_open(err);
    if (inner < 0)
        return inner;
    int r = netlink_set_up(inner, LOOPBACK, err);
    if (r < 0)
        return r;
    relax();
    if (mount(OWN, path, NULL, MS_BIND, NULL) < 0)
        return err_sys(err, -errno, "mount a network namespace on '%s'", path);
    *ret_inner = take_fd(&inner);
    return 0;
}

/* This thread is in the new one then. */
static int enter_new(const char *user, struct err *err)
{
    int r;
    if (!user) {
        r = unshare(CLONE_NEWNET) < 0 ? -errno : 0;
    } else {
        scoped(fd_scoped) int ns = user_namespace_open_new(user, CLONE_NEWNET, err);
        if (ns < 0)
            return ns;
        r = setns(ns, CLONE_NEWNET) < 0 ? -errno : 0;
    }
    return r < 0 ? err_sys(err, r == -EPERM ? E_UNSUPPORTED : r, "make a network namespace") : 0;
}

static int make(const char *path, const char *user, int *ret_ns, int *ret_inner, struct err *err)
{
    scoped(fd_scoped) int own = sys_openat(AT_FDCWD, OWN, O_RDONLY, 0);
    if (own < 0)
        return err_sys(err, own, "open our network namespace");
    int e = enter_new(user, err);
    if (e < 0)
        return e;
    int inner = -1, ns = sys_openat(AT_FDCWD, OWN, O_RDONLY, 0);
    int r = ns < 0 ? err_sys(err, ns, "open a network namespace") : set_up(path, &inner, err);
    if (setns(own, CLONE_NEWNET) < 0)
        abort(); /* this thread would continue in the wrong network */
    if (r < 0) {
        if (ns >= 0)
            (void)close(ns);
        return r;
    }
    *ret_ns = ns;
    *ret_inner = inner;
    return 0;
}

int pod_namespace_make(const char *path, const char *user, int *ret_ns, int *ret_inner,
                       struct err *err)
{
    scoped(fd_scoped) int ns = -1, inner = -1;
    scoped(fd_scoped) int file = sys_openat(AT_FDCWD, path, O_RDONLY | O_CREAT | O_EXCL, 0444);
    if (file < 0)
        return err_sys(err, file, "make '%s'", path);
    int r = make(path, user, &ns, &inner, err);
    if (r < 0) {
        (void)unlink(path);
        return r;
    }
    if (ret_ns)
        *ret_ns = take_fd(&ns);
    if (ret_inner)
        *ret_inner = take_fd(&inner);
    return 0;
}

int pod_namespace_remove(const char *path, struct err *err)
{
    /* Not a mount: the machine has booted since, or the process was killed in between. */
    while (umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
        ;
    if (errno != EINVAL && errno != ENOENT)
        return err_sys(err, -errno, "unmount '%s'", path);
    if (unlink(path) < 0 && errno != ENOENT)
        return err_sys(err, -errno, "remove '%s'", path);
    return 0;
}

bool pod_namespace_exists(const char *path)
{
    struct statfs fs;
    return statfs(path, &fs) == 0 && fs.f_type == NSFS_MAGIC;
}
