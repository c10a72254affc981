/* SPDX-License-Identifier: Apache-2.0 */
/* Files of volumes, replaced all at once. */
#include "agent/volume/writer.h"

#include "agent_volume_kit.h"

static const struct volume_file first[] = {
    { STR("app.conf"), STR("one"), 0644, -1 },
    { STR("dir/deep/a"), STR("two"), 0400, -1 },
    { STR("dir/b"), STR(""), 0777, -1 },
};
static const struct volume_file second[] = {
    { STR("app.conf"), STR("1"), 0644, -1 },
    { STR("other"), STR("three"), 0644, -1 },
};

static int begin(const char *name)
{
    kit_mkdir(kit_path("%s", name));
    int fd = open(kit_path("%s", name), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(fd >= 0);
    return fd;
}

static int write_files(int fd, const struct volume_file *files, size_t n)
{
    const struct volume_payload p = { .files = files, .n = n };
    struct err err = { 0 };
    int r = volume_writer_write(fd, &p, &err);
    if (r < 0)
        printf("# %s\n", err_text(&err));
    return r;
}

static struct str link_of(const char *path)
{
    char to[300];
    ssize_t n = readlink(path, to, sizeof to);
    return n < 0 ? STR("!") : str_copy_arena(&kit_arena, str_n(to, (size_t)n));
}

static size_t count(const char *path)
{
    size_t n = 0;
    DIR *dir = opendir(path);
    CHECK(dir);
    while (readdir(dir))
        n++;
    CHECK(closedir(dir) == 0);
    return n - 2;
}

TEST(the_layout_is_upstreams)
{
    int fd = begin("layout");
    CHECK_INT(write_files(fd, first, 3), 1);
    CHECK_STR(kit_read(kit_path("layout/app.conf")), "one");
    CHECK_STR(kit_read(kit_path("layout/dir/deep/a")), "two");
    CHECK_STR(link_of(kit_path("layout/app.conf")), "..data/app.conf");
    CHECK_STR(link_of(kit_path("layout/dir")), "..data/dir");
    struct str data = link_of(kit_path("layout/..data"));
    CHECK(str_has_prefix(data, STR("..20")) && str_find_char(data, '/') < 0);
    CHECK_INT(count(kit_path("layout")), 4); /* app.conf, dir, ..data, ..TIME */
    CHECK_INT(kit_stat(kit_path("layout/..data/app.conf")).st_mode & 07777, 0644);
    CHECK_INT(kit_stat(kit_path("layout/..data/dir/deep/a")).st_mode & 07777, 0400);
    CHECK_INT(kit_stat(kit_path("layout/..data/dir/b")).st_mode & 07777, 0777);
    CHECK_INT(kit_stat(kit_path("layout/..data/dir")).st_mode & 07777, 0755);
    CHECK(close(fd) == 0);
    kit_reset();
}

TEST(equal_files_are_not_written_again)
{
    int fd = begin("equal");
    CHECK_INT(write_files(fd, first, 3), 1);
    struct str data = link_of(kit_path("equal/..data"));
    CHECK_INT(write_files(fd, first, 3), 0);
    CHECK(str_eq(link_of(kit_path("equal/..data")), data));
    /* A mode alone counts as a change. */
    struct volume_file changed[3];
    memcpy(changed, first, sizeof changed);
    changed[0].mode = 0600;
    CHECK_INT(write_files(fd, changed, 3), 1);
    CHECK_INT(kit_stat(kit_path("equal/..data/app.conf")).st_mode & 07777, 0600);
    CHECK(close(fd) == 0);
    kit_reset();
}

TEST(files_are_exchanged_together_and_old_ones_vanish)
{
    int fd = begin("update");
    CHECK_INT(write_files(fd, first, 3), 1);
    int old = open(kit_path("update/app.conf"), O_RDONLY | O_CLOEXEC);
    int old_data = open(kit_path("update/..data"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK_INT(write_files(fd, second, 2), 1);
    CHECK_STR(kit_read(kit_path("update/app.conf")), "1");
    CHECK_STR(kit_read(kit_path("update/other")), "three");
    CHECK(!kit_exists(kit_path("update/dir")));
    CHECK_INT(count(kit_path("update")), 4);
    char byte[4];
    CHECK_INT(read(old, byte, sizeof byte), 3); /* an open file keeps its content */
    CHECK(close(old) == 0 && close(old_data) == 0);
    CHECK_INT(write_files(fd, NULL, 0), 1);
    CHECK_INT(count(kit_path("update")), 2); /* ..data and an empty directory */
    CHECK_INT(write_files(fd, NULL, 0), 0);
    CHECK(close(fd) == 0);
    kit_reset();
}

/* Every call of each kind fails once: the old files stay complete, the next write succeeds. */
TEST(a_failed_write_leaves_the_old_files)
{
    static const enum sys_call calls[] = { SYS_OPENAT, SYS_WRITE, SYS_RENAMEAT, SYS_MKDIRAT };
    int fd = begin("torture");
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        int r = -1;
        for (unsigned nth = 1; r < 0; nth++) {
            CHECK_OK(volume_tree_remove(fd, "..data", NULL));
            CHECK_INT(write_files(fd, first, 3), 1);
            sys_fail_nth(calls[i], nth, ENOSPC);
            const struct volume_payload p = { .files = second, .n = 2 };
            r = volume_writer_write(fd, &p, NULL);
            sys_fail_nth(calls[i], 0, 0);
            CHECK_STR(kit_read(kit_path("torture/app.conf")), r < 0 ? "one" : "1");
            CHECK_STR(kit_read(kit_path("torture/dir/deep/a")), r < 0 ? "two" : "!ENOENT");
            CHECK_OK(write_files(fd, second, 2));
            CHECK_STR(kit_read(kit_path("torture/other")), "three");
            CHECK_INT(count(kit_path("torture")), 4);
        }
    }
    CHECK(close(fd) == 0);
    kit_reset();
}

/* What a crash or a privileged container can leave. */
TEST(rests_and_foreign_entries_are_removed)
{
    int fd = begin("rests");
    CHECK_INT(write_files(fd, first, 3), 1);
    kit_mkdir(kit_path("rests/..2020_01_01_00_00_00.1/x"));
    CHECK(symlink("/etc", kit_path("rests/..data_tmp")) == 0);
    CHECK(unlink(kit_path("rests/app.conf")) == 0);
    kit_mkdir(kit_path("rests/app.conf"));
    CHECK_INT(write_files(fd, first, 3), 1);
    CHECK_STR(kit_read(kit_path("rests/app.conf")), "one");
    CHECK_INT(count(kit_path("rests")), 4);
    CHECK(close(fd) == 0);
    kit_reset();
}

/* A link that points elsewhere is not read, written or removed through. */
TEST(a_data_link_that_leads_out_is_replaced)
{
    int fd = begin("evil/in");
    kit_mkdir(kit_path("evil/out/..x"));
    kit_write(kit_path("evil/out/app.conf"), "keep");
    CHECK(symlink("../out", kit_path("evil/in/..data")) == 0);
    CHECK_INT(write_files(fd, second, 2), 1);
    CHECK_STR(kit_read(kit_path("evil/in/app.conf")), "1");
    CHECK_STR(kit_read(kit_path("evil/out/app.conf")), "keep");
    CHECK(unlink(kit_path("evil/in/..data")) == 0);
    CHECK(symlink("../out", kit_path("evil/in/..y")) == 0);
    CHECK(symlink("..y", kit_path("evil/in/..data")) == 0);
    CHECK_INT(write_files(fd, second, 2), 1);
    CHECK_STR(kit_read(kit_path("evil/out/app.conf")), "keep");
    CHECK(close(fd) == 0);
    kit_reset();
}

TEST(paths_that_contradict_each_other_are_an_error)
{
    static const struct volume_file both[] = { { STR("a"), STR("x"), 0644, -1 },
                                               { STR("a/b"), STR("y"), 0644, -1 } };
    int fd = begin("both");
    CHECK(write_files(fd, both, 2) < 0);
    CHECK_INT(count(kit_path("both")), 0);
    CHECK(close(fd) == 0);
    kit_reset();
}

TEST(ownership_is_applied_before_files_are_visible)
{
    if (geteuid() != 0)
        SKIP("other groups need root");
    static const struct volume_file token[] = { { STR("d/token"), STR("t"), 0600, 1000 } };
    const struct volume_ownership o = { .gid = 2000, .is_read_only = true };
    const struct volume_payload p = { .files = token, .n = 1, .ownership = &o };
    int fd = begin("owned");
    CHECK_INT(volume_writer_write(fd, &p, NULL), 1);
    struct stat st = kit_stat(kit_path("owned/..data/d/token"));
    CHECK_INT(st.st_mode & 07777, 0640);
    CHECK(st.st_uid == 1000 && st.st_gid == 2000);
    st = kit_stat(kit_path("owned/..data/d"));
    CHECK(st.st_gid == 2000 && (st.st_mode & 07777) == 02755);
    CHECK_INT(volume_writer_write(fd, &p, NULL), 0);
    CHECK(close(fd) == 0);
    kit_reset();
}

static struct str cleaned(const char *path)
{
    struct str ret;
    struct err err = { 0 };
    if (volume_path_clean(&kit_arena, str_of(path), &ret, &err) < 0)
        return str_of(arena_printf(&kit_arena, "!%s", err_text(&err)));
    return ret;
}

TEST(paths_are_cleaned_or_refused)
{
    CHECK_STR(cleaned("a"), "a");
    CHECK_STR(cleaned("a//./b/"), "a/b");
    CHECK_STR(cleaned("..a/b"), "!invalid path: must not start with '..': ..a/b");
    CHECK_STR(cleaned("./..a"), "!invalid path: must not start with '..': ./..a");
    CHECK_STR(cleaned("a/..b"), "a/..b");
    CHECK_STR(cleaned("a/../b"), "!invalid path: must not contain '..': a/../b");
    CHECK_STR(cleaned(".."), "!invalid path: must not contain '..': ..");
    CHECK_STR(cleaned("/a"), "!invalid path: must be relative path: /a");
    CHECK_STR(cleaned(""), "!invalid path: must not be empty: \"\"");
    CHECK_STR(cleaned("."), "!invalid path: must name a file: .");
    char name[5000];
    memset(name, 'a', sizeof name);
    name[256] = '\0';
    CHECK_STR(cleaned(name),
              "!invalid path: filenames must be less than or equal to 255 characters");
    name[256] = 'a';
    name[4999] = '\0';
    CHECK_STR(cleaned(name), "!invalid path: must be less than or equal to 4096 characters");
    kit_reset();
}

KIT_MAIN
