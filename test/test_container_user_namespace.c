/* SPDX-License-Identifier: Apache-2.0 */
/* User namespaces that are kept by a file, and what belongs to them. Needs root. */
#include "base/mem.h"
#include "container/user_namespace.h"
#include "temp_dir.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

enum { BASE = 7 * 65536, N = 65536 };

struct rig {
    char dir[TEMP_DIR_BYTES], user[TEMP_DIR_BYTES + 8];
};

/* false: not possible here. */
static bool start(struct rig *g)
{
    struct err err = { 0 };
    *g = (struct rig){ 0 };
    CHECK(temp_dir_make("user-namespace", g->dir));
    (void)snprintf(g->user, sizeof g->user, "%s/user", g->dir);
    int r = geteuid() == 0 ? user_namespace_make(g->user, BASE, N, &err) : E_UNSUPPORTED;
    if (r == E_UNSUPPORTED) {
        test_skipped = "no user namespaces here, or not root";
        temp_dir_remove(g->dir);
        return false;
    }
    CHECK_OK(r);
    return true;
}

static void stop(struct rig *g)
{
    user_namespace_remove(g->user);
    CHECK(access(g->user, F_OK) < 0);
    user_namespace_remove(g->user); /* fine again */
    temp_dir_remove(g->dir);
}

static ino_t inode_of(int fd)
{
    struct stat st;
    CHECK(fd >= 0 && fstat(fd, &st) == 0);
    return st.st_ino;
}

TEST(other_namespaces_belong_to_it)
{
    static const int types[] = { CLONE_NEWNET, CLONE_NEWIPC };
    struct rig g;
    if (!start(&g))
        return;
    scoped(fd_scoped) int user = open(g.user, O_RDONLY | O_CLOEXEC);
    scoped(fd_scoped) int own = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
    CHECK(inode_of(user) != inode_of(own));
    CHECK_OK(user_namespace_make(g.user, BASE, N, NULL)); /* it is there */
    scoped(fd_scoped) int same = open(g.user, O_RDONLY | O_CLOEXEC);
    CHECK(inode_of(user) == inode_of(same));
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        scoped(fd_scoped) int fd = user_namespace_open_new(g.user, types[i], NULL);
        scoped(fd_scoped) int owner = ioctl(fd, NS_GET_USERNS);
        CHECK_INT(ioctl(fd, NS_GET_NSTYPE), types[i]);
        CHECK(inode_of(owner) == inode_of(user));
    }
    struct err err = { 0 };
    CHECK(user_namespace_open_new(g.dir, CLONE_NEWNET, &err) < 0 && err.text[0]);
    CHECK_ERR(user_namespace_open_new("/nonexistent", CLONE_NEWNET, &err), -ENOENT);
    stop(&g);
}

TEST(owners_of_files_are_mapped)
{
    struct rig g;
    struct stat st;
    if (!start(&g))
        return;
    scoped(free_scoped) char *path = xasprintf("%s/file", g.dir);
    scoped(fd_scoped) int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CHECK(file >= 0 && fchown(file, 5, 6) == 0);
    struct err err = { 0 };
    scoped(fd_scoped) int tree = user_namespace_map_mount(g.user, g.dir, &err);
    if (tree == E_UNSUPPORTED) {
        test_skipped = "the file system cannot map owners";
    } else {
        CHECK(tree >= 0 && fstatat(tree, "file", &st, 0) == 0);
        CHECK(st.st_uid == BASE + 5 && st.st_gid == BASE + 6);
        CHECK(stat(path, &st) == 0 && st.st_uid == 5);
    }
    CHECK_ERR(user_namespace_map_mount(g.user, "/proc", &err), E_UNSUPPORTED);
    CHECK(strstr(err.text, "/proc"));
    stop(&g);
}

TEST_MAIN
