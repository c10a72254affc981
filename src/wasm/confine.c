/* SPDX-License-Identifier: Apache-2.0 */
/* Giving up files, networks and privileges; see confine.h. */
#include "wasm/confine.h"

#include "base/mem.h"
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

void confine_oom(void)
{
    char text[16];
    scoped(fd_scoped) int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    int n = snprintf(text, sizeof text, "%d", CONFINE_OOM_SCORE);
    if (fd >= 0)
        (void)sys_write_all(fd, text, (size_t)n);
}

/* Make an empty file system the root and detach the old tree. It is mounted over /proc because that
 * directory exists. */
static void hide_files(void)
{
    static const char dir[] = "/proc";
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("none", dir, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
              "size=4k,mode=555") < 0 ||
        chdir(dir) < 0)
        return;
    if (syscall(SYS_pivot_root, ".", ".") == 0)
        (void)umount2(".", MNT_DETACH);
    else if (chroot(".") < 0) /* the root is no mount point of its own */
        return;
    if (chdir("/") < 0)
        return; /* the working directory stays in the same empty file system */
}

static void make_namespaces(void)
{
    if (geteuid() != 0 && unshare(CLONE_NEWUSER) < 0)
        return;
    (void)unshare(CLONE_NEWNET);
    (void)unshare(CLONE_NEWIPC);
    if (unshare(CLONE_NEWNS) == 0)
        hide_files();
}

/* Root in a container may lack the right to change its identity, or the id may not be mapped: then
 * the process keeps its identity. */
static int drop_root(struct err *err)
{
    if (geteuid() != 0)
        return 0;
    if (setgroups(0, NULL) < 0 && errno != EPERM)
        return err_sys(err, -errno, "leave the supplementary groups");
    if (setresgid(CONFINE_ID, CONFINE_ID, CONFINE_ID) < 0 && errno != EPERM && errno != EINVAL)
        return err_sys(err, -errno, "change the group");
    if (setresuid(CONFINE_ID, CONFINE_ID, CONFINE_ID) < 0 && errno != EPERM && errno != EINVAL)
        return err_sys(err, -errno, "change the user");
    return 0;
}

static int drop_capabilities(struct err *err)
{
    (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };
    if (syscall(SYS_capset, &header, none) < 0)
        return err_sys(err, -errno, "drop the capabilities");
    return 0;
}

int confine_enter(struct err *err)
{
    make_namespaces();
    /* The bounding set can be changed only with a capability that the change of user takes away. */
    for (unsigned long cap = 0; prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0; cap++)
        continue;
    int r = drop_root(err);
    return r < 0 ? r : drop_capabilities(err);
}
