/* SPDX-License-Identifier: Apache-2.0 */
/* Users of images, and the process section of a container. */
#include "codec/json.h"
#include "image/container_config.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define PASSWD                                                                                     \
    STR("root:x:0:0:root:/root:/bin/sh\n# a "                                                      \
        "comment\nbroken:x:a:b:::\nredis:x:999:1000::/:/bin/sh\n"                                  \
        "7:x:17:18::/:/bin/sh\nseven:x:7:70::/:/bin/sh")
#define GROUP                                                                                      \
    STR("root:x:0:\nredis:x:1000:\ndisk:x:6:root,redis\nredish:x:5:xredis,redi\nlast:x:4:redis")

static struct runtime_config_user resolve(const char *user)
{
    struct runtime_config_user u;
    struct err err = { 0 };
    if (runtime_config_resolve_user(str_of(user), PASSWD, GROUP, &u, &err) < 0)
        TEST_FAIL("%s: %s", user, err.text);
    return u;
}

TEST(a_user_is_found_by_name_by_number_and_with_a_group)
{
    struct runtime_config_user u = resolve("");
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
    struct runtime_config_user u = resolve("7");
    CHECK_INT(u.uid, 17);
    CHECK_INT(resolve("17").gid, 18);
}

TEST(what_the_image_does_not_know_is_refused)
{
    struct runtime_config_user u = { .uid = 42 };
    struct err err = { 0 };
    CHECK_ERR(runtime_config_resolve_user(STR("nobody"), PASSWD, GROUP, &u, &err), E_INVALID);
    CHECK(strstr(err.text, "'nobody'"));
    CHECK_ERR(runtime_config_resolve_user(STR("redis:none"), PASSWD, GROUP, &u, &err), E_INVALID);
    CHECK_ERR(runtime_config_resolve_user(STR("4294967295"), PASSWD, GROUP, &u, &err), E_INVALID);
    CHECK_ERR(runtime_config_resolve_user(STR("-1"), PASSWD, GROUP, &u, &err), E_INVALID);
    CHECK_INT(u.uid, 42);
}

TEST(a_user_has_a_bounded_number_of_groups)
{
    struct runtime_config_user u;
    scoped(buf_fini_scoped) struct buf group = BUF_INIT(1 << 20);
    for (unsigned i = 1; i <= RUNTIME_CONFIG_GROUPS_MAX + 1; i++) {
        CHECK_ERR(runtime_config_resolve_user(STR("root"), PASSWD, buf_str(&group), &u, NULL), 0);
        (void)buf_printf(&group, "g:x:%u:root\n", i);
    }
    CHECK_ERR(runtime_config_resolve_user(STR("root"), PASSWD, buf_str(&group), &u, NULL), E_LIMIT);
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
    char dir[] = "/tmp/dm-runtime-config.XXXXXX", command[64];
    struct runtime_config_user u;
    CHECK(mkdtemp(dir));
    int root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(root >= 0);
    CHECK_OK(runtime_config_find_user(root, STR("12"), &u, NULL)); /* it has no /etc */
    CHECK_INT(mkdirat(root, "etc", 0700), 0);
    write_file(root, "etc/group", GROUP);
    write_file(root, "users", PASSWD);
    CHECK_INT(symlinkat("/users", root, "etc/passwd"),
              0); /* absolute: from the root of the image */
    CHECK_OK(runtime_config_find_user(root, STR("redis"), &u, NULL));
    CHECK_INT(u.uid, 999);
    CHECK_INT(unlinkat(root, "etc/passwd", 0), 0);
    CHECK_INT(symlinkat("../../../../../../etc/passwd", root, "etc/passwd"), 0);
    CHECK_ERR(runtime_config_find_user(root, STR("daemon"), &u, NULL), -ELOOP);
    CHECK_INT(unlinkat(root, "etc/passwd", 0), 0);
    CHECK_INT(mkfifoat(root, "etc/passwd", 0600), 0);
    CHECK_ERR(runtime_config_find_user(root, STR("redis"), &u, NULL), E_INVALID);
    (void)close(root);
    (void)snprintf(command, sizeof command, "rm -r %s", dir);
    CHECK_INT(system(command), 0);
}

#define LIST(...)                                                                                  \
    (struct oci_strings)                                                                           \
    {                                                                                              \
        (const struct str[]){ __VA_ARGS__ },                                                       \
            sizeof((const struct str[]){ __VA_ARGS__ }) / sizeof(struct str)                       \
    }

static const struct runtime_config_user root_user;

static int make(const struct oci_run *run, const struct runtime_config_opts *o, struct buf *to,
                struct err *err)
{
    buf_reset(to);
    return runtime_config_process(run, o, &root_user, to, err);
}

TEST(the_section_is_what_the_image_says)
{
    const struct oci_run run = {
        .entrypoint = LIST(STR("/entry"), STR("a \"b\"")),
        .command = LIST(STR("serve")),
        .env = LIST(STR("A=1"), STR("B=x=y")),
        .cwd = STR("/data"),
    };
    const struct runtime_config_user user = {
        .uid = 5, .gid = 6, .n_groups = 2, .groups = { 7, 8 }
    };
    static const char *const caps[] = { "CAP_CHOWN", NULL };
    const struct runtime_config_opts o = { .capabilities = caps, .n_files = 10 };
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(1 << 20);
    CHECK_OK(runtime_config_process(&run, &o, &user, &out, NULL));
    CHECK_STR(buf_str(&out),
              "{\"terminal\":false,\"noNewPrivileges\":true,\"user\":{\"uid\":5,\"gid\":6,"
              "\"additionalGids\":[7,8]},\"args\":[\"/entry\",\"a \\\"b\\\"\",\"serve\"],\"env\":["
              "\"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\",\"A=1\","
              "\"B=x=y\"],\"cwd\":\"/data\",\"capabilities\":{\"inheritable\":[],\"ambient\":[],"
              "\"bounding\":[\"CAP_CHOWN\"],\"effective\":[],\"permitted\":[]},\"rlimits\":[{"
              "\"type\":\"RLIMIT_NOFILE\",\"hard\":10,\"soft\":10},{\"type\":\"RLIMIT_CORE\","
              "\"hard\":0,\"soft\":0}]}");
}

TEST(arguments_and_variables_take_the_place_of_those_of_the_image)
{
    const struct oci_run run = {
        .entrypoint = LIST(STR("/entry")),
        .command = LIST(STR("serve"), STR("x")),
        .env = LIST(STR("PATH=/bin"), STR("A=1"), STR("A=2")),
    };
    struct runtime_config_opts o = { .args = LIST(STR("other")),
                                     .env = LIST(STR("A=3"), STR("C=")) };
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(1 << 20);
    CHECK_OK(make(&run, &o, &out, NULL));
    CHECK(strstr(buf_cstr(&out), "\"args\":[\"/entry\",\"other\"],\"env\":[\"PATH=/bin\",\"A=3\","
                                 "\"C=\"],\"cwd\":\"/\""));
    o = (struct runtime_config_opts){ .entrypoint = LIST(STR("/sh")), .cwd = STR("/tmp") };
    CHECK_OK(make(&run, &o, &out, NULL));
    CHECK(strstr(buf_cstr(&out),
                 "\"args\":[\"/sh\"],\"env\":[\"PATH=/bin\",\"A=2\"],\"cwd\":\"/tmp\""));
}

TEST(a_section_that_no_program_could_start_with_is_refused)
{
    struct oci_run run = { 0 };
    struct runtime_config_opts o = { 0 };
    struct err err = { 0 };
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(1 << 20);
    CHECK_ERR(make(&run, &o, &out, &err), E_INVALID);
    CHECK(strstr(err.text, "no program"));
    run.command = LIST(STR("sh"), STR("a\0b"));
    CHECK_ERR(make(&run, &o, &out, &err), E_INVALID);
    run.command = LIST(STR("sh"));
    CHECK_OK(make(&run, &o, &out, &err));
    o.env = LIST(STR("=x"));
    CHECK_ERR(make(&run, &o, &out, &err), E_INVALID);
    o.env = LIST(STR_NULL);
    CHECK_ERR(make(&run, &o, &out, &err), E_INVALID);
    o.env = LIST(STR("A"));
    CHECK_ERR(make(&run, &o, &out, &err), E_INVALID);
    o.env.n = 0;
    run.cwd = STR("tmp");
    CHECK_ERR(make(&run, &o, &out, &err), E_INVALID);
    run.cwd = STR_NULL;
    scoped(buf_fini_scoped) struct buf small = BUF_INIT(100);
    CHECK_ERR(make(&run, &o, &small, &err), -EMSGSIZE);
}

/* ---- config.json of `image run` ---- */

static struct json *make_whole(struct arena *a, struct container_config_opts o)
{
    static const struct str words[] = { { "sh", 2 } };
    const struct oci_run run = { .command = { words, 1 } };
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(1 << 20);
    struct json *doc;
    o.root = "/a \"root\"";
    o.host_name = "h";
    CHECK_OK(container_config_make(&run, &o, &root_user, &out, NULL));
    CHECK_OK(json_parse(a, str_copy_arena(a, buf_str(&out)), NULL, &doc, NULL));
    return doc;
}

static bool has(const struct json *list, const char *member, const char *value)
{
    json_each (v, list)
        if (str_is(json_get_str(v, member), value))
            return true;
    return false;
}

TEST(a_container_has_no_network_and_few_rights_unless_asked)
{
    struct arena a = { 0 };
    struct json *doc = make_whole(&a, (struct container_config_opts){ 0 });
    CHECK_STR(json_get_str(json_getc(doc, "root"), "path"), "/a \"root\"");
    CHECK(!json_bool(json_path(doc, "root", "readonly", NULL)));
    CHECK(json_bool(json_path(doc, "process", "noNewPrivileges", NULL)));
    CHECK(has(json_path(doc, "linux", "namespaces", NULL), "type", "network"));
    CHECK(!has(json_getc(doc, "mounts"), "destination", "/etc/hosts"));
    CHECK(!has(json_getc(doc, "mounts"), "destination", "/run"));
    json_each (c, json_path(doc, "process", "capabilities", "bounding", NULL))
        CHECK(!str_is(json_str(c), "CAP_SYS_ADMIN") && !str_is(json_str(c), "CAP_NET_RAW"));
    doc =
        make_whole(&a, (struct container_config_opts){ .has_network = true, .is_read_only = true });
    CHECK(json_bool(json_path(doc, "root", "readonly", NULL)));
    CHECK(!has(json_path(doc, "linux", "namespaces", NULL), "type", "network"));
    CHECK(has(json_getc(doc, "mounts"), "destination", "/etc/hosts"));
    CHECK(has(json_getc(doc, "mounts"), "destination", "/run"));
    arena_fini(&a);
}

/* The address families that socket() is refused for. */
TEST(no_socket_leads_to_the_hypervisor)
{
    struct arena a = { 0 };
    struct json *doc = make_whole(&a, (struct container_config_opts){ 0 });
    int64_t family = 0;
    json_each (rule, json_path(doc, "linux", "seccomp", "syscalls", NULL)) {
        const struct json *arg = json_first(json_getc(rule, "args"));
        if (!str_is(json_str(json_first(json_getc(rule, "names"))), "socket"))
            continue;
        CHECK_STR(json_get_str(rule, "action"), "SCMP_ACT_ERRNO");
        CHECK_STR(json_get_str(arg, "op"), "SCMP_CMP_EQ");
        family = json_int_or(json_getc(arg, "value"), 0);
    }
    CHECK_INT(family, AF_VSOCK);
    arena_fini(&a);
}

TEST_MAIN
