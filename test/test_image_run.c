/* SPDX-License-Identifier: Apache-2.0 */
/* What an image says about running it: its words, its user, its volumes. */
#include "base/mem.h"
#include "base/sys.h"
#include "image/run_config.h"
#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char passwd[] = "# no entry\nroot:x:0:0:root:/root:/bin/sh\napp:x:1000:50::/:/bin/sh\n"
                             "twin:x:1000:60::/:\nodd:x:minus:1\nshort:x\n";
#define NO_LAYERS "{\"rootfs\":{\"diff_ids\":[]}"

struct root {
    char path[64];
    int fd;
};

static struct root make_root(void)
{
    struct root r = { .path = "/tmp/dormouse-run-XXXXXX" };
    CHECK(mkdtemp(r.path));
    r.fd = open(r.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    CHECK(r.fd >= 0);
    return r;
}

static void put(const struct root *r, const char *name, const char *text)
{
    CHECK_OK(sys_write_file_atomic(r->fd, name, str_of(text), 0644, NULL));
}

static void remove_root(struct root *r)
{
    static const char *const names[] = { "etc/passwd", "etc/group", "full/file" };
    static const char *const dirs[] = { "etc", "full", "empty" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        (void)unlinkat(r->fd, names[i], 0);
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        (void)unlinkat(r->fd, dirs[i], AT_REMOVEDIR);
    (void)close(r->fd);
    CHECK(rmdir(r->path) == 0);
}

TEST(words_environment_user_and_empty_volumes_become_a_config)
{
    struct root r = make_root();
    struct err err = { 0 };
    size_t n;
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(RUN_CONFIG_MAX);
    CHECK(mkdirat(r.fd, "etc", 0755) == 0 && mkdirat(r.fd, "full", 0755) == 0 &&
          mkdirat(r.fd, "empty", 0755) == 0);
    put(&r, "etc/passwd", passwd);
    put(&r, "full/file", "kept");
    CHECK_OK(
        run_config_make(STR("{\"rootfs\":{\"diff_ids\":[]},\"config\":{\"Entrypoint\":[\"/"
                            "run\",\"-v\"],\"Cmd\":[\"x\"],"
                            "\"Env\":[\"PATH=/bin\",\"A=\\\"\"],\"User\":\"app\",\"WorkingDir\":"
                            "\"/srv\",\"Volumes\":{\"/empty\":{},\"/full\":{},\"/new\":{},"
                            "\"/../etc\":{},\"relative\":{}}}}"),
                        r.fd, &out, &n, &err));
    CHECK_INT(n, 2);
    CHECK_STR(
        buf_str(&out),
        "{\"process\":{\"user\":{\"uid\":1000,\"gid\":50,\"additionalGids\":[]},\"args\":["
        "\"/run\",\"-v\",\"x\"],\"env\":[\"PATH=/bin\",\"A=\\\"\"],\"cwd\":\"/srv\"},\"mounts\":[{"
        "\"type\":\"tmpfs\",\"destination\":\"/empty\"},{\"type\":\"tmpfs\",\"destination\":\"/"
        "new\"}]}");
    remove_root(&r);
}

TEST(an_image_that_says_nothing_gets_defaults_and_nonsense_is_refused)
{
    struct root r = make_root();
    struct err err = { 0 };
    size_t n = 9;
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(RUN_CONFIG_MAX),
                                       bad = BUF_INIT(RUN_CONFIG_MAX);
    CHECK_OK(run_config_make(STR(NO_LAYERS "}"), r.fd, &out, &n, &err));
    CHECK_INT(n, 0);
    CHECK(str_find(buf_str(&out), STR("\"cwd\":\"/\"")) > 0);
    CHECK(str_find(buf_str(&out), STR("PATH=/usr/local/sbin")) > 0);
    CHECK_INT(run_config_make(STR("{"), r.fd, &bad, &n, &err), E_PARSE);
    CHECK_INT(run_config_make(STR(NO_LAYERS ",\"config\":{\"Cmd\":\"sh\"}}"), r.fd, &bad, &n, &err),
              E_PARSE);
    CHECK_INT(run_config_make(STR(NO_LAYERS ",\"config\":{\"Env\":[1]}}"), r.fd, &bad, &n, &err),
              E_PARSE);
    remove_root(&r);
}
TEST_MAIN
