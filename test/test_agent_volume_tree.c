/* SPDX-License-Identifier: Apache-2.0 */
/* Directory trees that users write to: nothing leads out of them. */
#include "agent/volume/tree.h"

#include "agent/volume/mount.h"
#include "agent_volume_kit.h"

/* A new directory DIR/name, opened. */
static int make(const char *name)
{
    kit_mkdir(kit_path("%s", name));
    int fd = open(kit_path("%s", name), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(fd >= 0);
    return fd;
}

static int open_and_close(int fd, const char *path)
{
    int r = volume_tree_open(fd, path, O_PATH);
    if (r >= 0)
        CHECK(close(r) == 0);
    return r < 0 ? r : 0;
}

TEST(links_are_followed_only_below_the_directory)
{
    int fd = make("open/in");
    kit_write(kit_path("open/outside"), "x");
    kit_write(kit_path("open/in/file"), "x");
    CHECK(symlinkat("file", fd, "good") == 0);
    CHECK(symlinkat("../outside", fd, "up") == 0);
    CHECK(symlinkat(kit_path("open/in/file"), fd, "absolute") == 0);
    CHECK(symlinkat("/proc/self/root", fd, "magic") == 0);
    CHECK_OK(open_and_close(fd, "good"));
    CHECK_ERR(open_and_close(fd, "up"), -EXDEV);
    CHECK_ERR(open_and_close(fd, "absolute"), -EXDEV);
    CHECK_ERR(open_and_close(fd, "magic"), -EXDEV);
    CHECK_ERR(open_and_close(fd, "../outside"), -EXDEV);
    CHECK_ERR(open_and_close(fd, "/etc"), -EXDEV);
    CHECK_ERR(open_and_close(fd, "none"), -ENOENT);
    CHECK(close(fd) == 0);
    kit_reset();
}

TEST(directories_are_made_below_the_directory_with_the_exact_mode)
{
    int fd = make("make/in");
    kit_mkdir(kit_path("make/out"));
    CHECK_OK(volume_tree_make(fd, "a/b//c", 02777));
    CHECK_INT(kit_stat(kit_path("make/in/a/b/c")).st_mode & 07777, 02777);
    CHECK_OK(volume_tree_make(fd, "a/b", 0700)); /* it is there */
    CHECK_INT(kit_stat(kit_path("make/in/a/b")).st_mode & 07777, 02777);
    CHECK(symlinkat("../out", fd, "up") == 0);
    CHECK(symlinkat("a", fd, "good") == 0);
    CHECK_ERR(volume_tree_make(fd, "up/d", 0755), -EXDEV);
    CHECK(!kit_exists(kit_path("make/out/d")));
    CHECK_OK(volume_tree_make(fd, "good/e", 0755));
    CHECK(kit_exists(kit_path("make/in/a/e")));
    kit_write(kit_path("make/in/file"), "x");
    CHECK_ERR(volume_tree_make(fd, "file/d", 0755), -ENOTDIR);
    CHECK(close(fd) == 0);
    kit_reset();
}

TEST(removal_does_not_follow_links)
{
    int fd = make("remove");
    kit_mkdir(kit_path("remove/tree/a/b"));
    kit_mkdir(kit_path("remove/kept"));
    kit_write(kit_path("remove/kept/file"), "x");
    kit_write(kit_path("remove/tree/a/b/file"), "x");
    CHECK(symlink("../../kept", kit_path("remove/tree/a/link")) == 0);
    CHECK(symlink("../kept/file", kit_path("remove/tree/link")) == 0);
    CHECK(mkfifo(kit_path("remove/tree/fifo"), 0600) == 0);
    CHECK_OK(volume_tree_remove(fd, "tree", NULL));
    CHECK(!kit_exists(kit_path("remove/tree")));
    CHECK(kit_exists(kit_path("remove/kept/file")));
    CHECK_OK(volume_tree_remove(fd, "tree", NULL));
    CHECK(symlink("kept", kit_path("remove/top")) == 0);
    CHECK_OK(volume_tree_remove(fd, "top", NULL));
    CHECK(kit_exists(kit_path("remove/kept/file")));
    CHECK(close(fd) == 0);
    kit_reset();
}

/* As deep as a program in a container can make it, beyond any path that a system call takes. */
TEST(a_tree_deeper_than_all_paths_is_removed)
{
    int top = make("deep"), at = dup(top);
    for (int i = 0; i < 3000; i++) {
        CHECK(mkdirat(at, "directory", 0755) == 0);
        int next = openat(at, "directory", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        CHECK(next >= 0);
        CHECK(close(at) == 0);
        at = next;
    }
    CHECK(close(at) == 0);
    struct volume_tree_size size = { 0 };
    volume_tree_measure(top, 1 << 20, &size);
    CHECK(size.is_cut && size.inodes > 500);
    CHECK_OK(volume_tree_remove(top, "directory", NULL));
    CHECK(!kit_exists(kit_path("deep/directory")));
    CHECK(close(top) == 0);
    kit_reset();
}

TEST(mounts_are_neither_entered_nor_removed)
{
    if (!kit_can_mount)
        SKIP("mounting needs root");
    int fd = make("mounts");
    struct err err = { 0 };
    kit_mkdir(kit_path("mounts/host"));
    kit_mkdir(kit_path("mounts/tree/bound"));
    kit_write(kit_path("mounts/host/precious"), "x");
    kit_write(kit_path("mounts/tree/file"), "x");
    kit_write(kit_path("mounts/tree/point"), "x");
    /* On the same file system, so that device numbers do not tell the difference. */
    CHECK(mount(kit_path("mounts/host"), kit_path("mounts/tree/bound"), NULL, MS_BIND, NULL) == 0);
    CHECK(mount(kit_path("mounts/host/precious"), kit_path("mounts/tree/point"), NULL, MS_BIND,
                NULL) == 0);
    CHECK(volume_tree_remove(fd, "tree", &err) < 0);
    CHECK(kit_exists(kit_path("mounts/host/precious")));
    CHECK(!kit_exists(kit_path("mounts/tree/file")));

    const struct volume_ownership o = { .gid = 12345 };
    int tree = open(kit_path("mounts/tree"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK_OK(volume_mount_end(kit_path("mounts/tree/point"), &err));
    CHECK_OK(volume_tree_own_all(tree, &o, &err));
    CHECK_INT(kit_stat(kit_path("mounts/tree")).st_gid, 12345);
    CHECK_INT(kit_stat(kit_path("mounts/host")).st_gid, 0);
    CHECK(close(tree) == 0);

    CHECK_OK(volume_mount_end_below(kit_path("mounts/tree"), &err));
    CHECK_OK(volume_tree_remove(fd, "tree", &err));
    CHECK(kit_exists(kit_path("mounts/host/precious")));
    CHECK(close(fd) == 0);
    kit_reset();
}

TEST(stacked_mounts_and_odd_names_are_unmounted)
{
    if (!kit_can_mount)
        SKIP("mounting needs root");
    struct err err = { 0 };
    kit_mkdir(kit_path("stack/pod/a b\tc\\d"));
    kit_mkdir(kit_path("stack/pod-2"));
    CHECK_OK(volume_mount_tmpfs(kit_path("stack/pod/a b\tc\\d"), 1 << 20, 0755, -1, &err));
    CHECK_OK(volume_mount_tmpfs(kit_path("stack/pod/a b\tc\\d"), 1 << 20, 0755, -1, &err));
    kit_mkdir(kit_path("stack/pod/a b\tc\\d/inner"));
    CHECK_OK(volume_mount_tmpfs(kit_path("stack/pod/a b\tc\\d/inner"), 1 << 20, 0755, -1, &err));
    CHECK_OK(volume_mount_tmpfs(kit_path("stack/pod-2"), 1 << 20, 0755, -1, &err));
    int busy = open(kit_path("stack/pod/a b\tc\\d/inner"), O_RDONLY | O_CLOEXEC);
    CHECK_OK(volume_mount_end_below(kit_path("stack/pod"), &err));
    CHECK(close(busy) == 0);
    CHECK(!kit_is_mount(kit_path("stack/pod/a b\tc\\d")));
    CHECK(kit_is_mount(kit_path("stack/pod-2")));
    CHECK_OK(volume_mount_end(kit_path("stack/pod-2"), &err));
    kit_reset();
}

TEST(files_with_several_links_are_measured_once)
{
    int fd = make("measure");
    struct volume_tree_size size = { 0 }, cut = { 0 };
    char block[8192] = { 1 };
    for (int i = 0; i < 300; i++) {
        char name[16], second[16];
        (void)snprintf(name, sizeof name, "f%d", i);
        (void)snprintf(second, sizeof second, "g%d", i);
        int file = openat(fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        CHECK_OK(sys_write_all(file, block, sizeof block));
        CHECK(close(file) == 0);
        CHECK(linkat(fd, name, fd, second, 0) == 0);
    }
    volume_tree_measure(fd, 1 << 20, &size);
    CHECK_INT(size.inodes, 301);
    CHECK(size.bytes >= 300 * sizeof block && size.bytes < 500 * sizeof block && !size.is_cut);
    volume_tree_measure(fd, 100, &cut);
    CHECK(cut.is_cut && cut.inodes == 100);
    CHECK(close(fd) == 0);
    kit_reset();
}

TEST(the_group_of_a_volume_gets_upstreams_permissions)
{
    const struct volume_ownership rw = { .gid = 7 }, ro = { .gid = 7, .is_read_only = true };
    CHECK_INT(volume_ownership_mode(&rw, S_IFREG | 0600), 0660);
    CHECK_INT(volume_ownership_mode(&rw, S_IFDIR | 0755), 02775);
    CHECK_INT(volume_ownership_mode(&ro, S_IFREG | 0400), 0440);
    CHECK_INT(volume_ownership_mode(&ro, S_IFDIR | 0700), 02750);
    if (geteuid() != 0)
        SKIP("other groups need root");
    int fd = make("own");
    kit_mkdir(kit_path("own/dir"));
    kit_write(kit_path("own/dir/file"), "x");
    kit_write(kit_path("own-target"), "x");
    CHECK(symlink("../own-target", kit_path("own/link")) == 0);
    CHECK(!volume_tree_is_owned(fd, &rw));
    CHECK_OK(volume_tree_own_all(fd, &rw, NULL));
    CHECK(volume_tree_is_owned(fd, &rw));
    CHECK_INT(kit_stat(kit_path("own/dir")).st_mode & 07777, 02775);
    CHECK_INT(kit_stat(kit_path("own/dir/file")).st_mode & 07777, 0664);
    CHECK_INT(kit_stat(kit_path("own/dir/file")).st_gid, 7);
    CHECK_INT(kit_stat(kit_path("own/link")).st_gid, 7);
    CHECK_INT(kit_stat(kit_path("own-target")).st_gid, 0);
    CHECK(close(fd) == 0);
    kit_reset();
}

KIT_MAIN
