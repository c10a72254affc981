/* SPDX-License-Identifier: Apache-2.0 */
/* Users of containers, by the files of an image. */
#include "base/buf.h"
#include "base/mem.h"
#include "container/user.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PASSWD                                                                                     \
    STR("root:x:0:0:root:/root:/bin/sh\n# a "                                                      \
        "comment\nbroken:x:a:b:::\nredis:x:999:1000::/:/bin/sh\n"                                  \
        "7:x:17:18::/:/bin/sh\nseven:x:7:70::/:/bin/sh")
#define GROUP                                                                                      \
    STR("root:x:0:\nredis:x:1000:\ndisk:x:6:root,redis\nredish:x:5:xredis,redi\nlast:x:4:redis")

static struct container_user resolve(const char *user)
{
    struct container_user u;
    struct err err = { 0 };
    if (container_user_resolve(str_of(user), PASSWD, GROUP, &u, &err) < 0)
        TEST_FAIL("%s: %s", user, err.text);
    return u;
}

TEST(a_user_is_found_by_name_by_number_and_with_a_group)
{
    struct container_user u = resolve("");
    CHECK_INT(u.uid, 0);
    CHECK_INT(u.n_groups, 1); /* as the files say of root */
    u = resolve("redis");
    CHECK_INT(u.uid, 999);
    CHECK_INT(u.gid, 1000);
    CHECK_INT(u.n_groups, 2);
    CHECK_INT(u.groups[0], 6);
    CHECK_INT(u.groups[1], 4);
    u = resolve("999:disk");
    CHECK_INT(u.uid, 999);
    CHECK_INT(u.gid, 6);
    CHECK_INT(u.n_groups, 0);
    u = resolve("4000:5000");
    CHECK_INT(u.uid, 4000);
    CHECK_INT(u.gid, 5000);
    u = resolve("4000");
    CHECK_INT(u.gid, 0);
    u = resolve("redis:");
    CHECK_INT(u.n_groups, 2);
}

TEST(a_name_that_looks_like_a_number_is_a_name_first)
{
    struct container_user u = resolve("7");
    CHECK_INT(u.uid, 17);
    CHECK_INT(resolve("17").gid, 18);
}

TEST(what_the_image_does_not_know_is_refused)
{
    struct container_user u = { .uid = 42 };
    struct err err = { 0 };
    CHECK_ERR(container_user_resolve(STR("nobody"), PASSWD, GROUP, &u, &err), E_INVALID);
    CHECK(strstr(err.text, "'nobody'"));
    CHECK_ERR(container_user_resolve(STR("redis:none"), PASSWD, GROUP, &u, &err), E_INVALID);
    CHECK_ERR(container_user_resolve(STR("4294967295"), PASSWD, GROUP, &u, &err), E_INVALID);
    CHECK_ERR(container_user_resolve(STR("-1"), PASSWD, GROUP, &u, &err), E_INVALID);
    CHECK_INT(u.uid, 42);
}

TEST(a_user_has_a_bounded_number_of_groups)
{
    struct container_user u;
    scoped(buf_fini_scoped) struct buf group = BUF_INIT(1 << 20);
    for (unsigned i = 1; i <= CONTAINER_USER_GROUPS_MAX + 1; i++) {
        CHECK_ERR(container_user_resolve(STR("root"), PASSWD, buf_str(&group), &u, NULL), 0);
        (void)buf_printf(&group, "g:x:%u:root\n", i);
    }
    CHECK_ERR(container_user_resolve(STR("root"), PASSWD, buf_str(&group), &u, NULL), E_LIMIT);
}

static void write_file(int dir, const char *name, struct str text)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    CHECK_INT(write(fd, text.p, text.n), text.n);
    CHECK_INT(close(fd), 0);
}

TEST(the_files_of_a_root_file_system_are_read_and_no_link_leads_out)
{
    char dir[] = "/tmp/dm-container-user.XXXXXX", command[64];
    struct container_user u;
    CHECK(mkdtemp(dir));
    int root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(root >= 0);
    CHECK_OK(container_user_find(root, STR("12"), &u, NULL)); /* it has no /etc */
    CHECK_INT(mkdirat(root, "etc", 0700), 0);
    write_file(root, "etc/group", GROUP);
    write_file(root, "users", PASSWD);
    CHECK_INT(symlinkat("/users", root, "etc/passwd"),
              0); /* absolute: from the root of the image */
    CHECK_OK(container_user_find(root, STR("redis"), &u, NULL));
    CHECK_INT(u.uid, 999);
    CHECK_INT(unlinkat(root, "etc/passwd", 0), 0);
    CHECK_INT(symlinkat("../../../../../../etc/passwd", root, "etc/passwd"), 0);
    CHECK_ERR(container_user_find(root, STR("daemon"), &u, NULL), -ELOOP);
    CHECK_INT(unlinkat(root, "etc/passwd", 0), 0);
    CHECK_INT(mkfifoat(root, "etc/passwd", 0600), 0);
    CHECK_ERR(container_user_find(root, STR("redis"), &u, NULL), E_INVALID);
    (void)close(root);
    (void)snprintf(command, sizeof command, "rm -r %s", dir);
    CHECK_INT(system(command), 0);
}

TEST_MAIN
