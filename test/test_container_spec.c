/* SPDX-License-Identifier: Apache-2.0 */
/* The config.json of containers. */
#include "base/mem.h"
#include "codec/json.h"
#include "container/spec.h"
#include "test.h"

#include <errno.h>
#include <stdlib.h>

#define LIST(...)                                                                                  \
    {                                                                                              \
        (const struct str[]){ __VA_ARGS__ },                                                       \
            sizeof((const struct str[]){ __VA_ARGS__ }) / sizeof(struct str)                       \
    }

static const struct container_user root_user;

TEST(a_process_is_what_was_said)
{
    const struct container_strings args[] = { LIST(STR("/entry"), STR("a \"b\"")),
                                              LIST(STR("serve")) };
    const struct container_strings env = LIST(STR("A=1"), STR("B=x=y"));
    const struct container_user user = { .uid = 5, .gid = 6, .n_groups = 2, .groups = { 7, 8 } };
    static const char *const caps[] = { "CAP_CHOWN", NULL };
    const struct container_process p = { .user = &user,
                                         .args = args,
                                         .n_args = 2,
                                         .env = &env,
                                         .n_env = 1,
                                         .cwd = STR("/data"),
                                         .capabilities = caps,
                                         .n_files = 10 };
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(1 << 20);
    CHECK_OK(container_spec_write_process(&p, &out, NULL));
    CHECK_STR(buf_str(&out),
              "{\"terminal\":false,\"noNewPrivileges\":true,\"user\":{\"uid\":5,\"gid\":6,"
              "\"additionalGids\":[7,8]},\"args\":[\"/entry\",\"a \\\"b\\\"\",\"serve\"],\"env\":["
              "\"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\",\"A=1\","
              "\"B=x=y\"],\"cwd\":\"/data\",\"capabilities\":{\"inheritable\":[],\"ambient\":[],"
              "\"bounding\":[\"CAP_CHOWN\"],\"effective\":[],\"permitted\":[]},\"rlimits\":[{"
              "\"type\":\"RLIMIT_NOFILE\",\"hard\":10,\"soft\":10},{\"type\":\"RLIMIT_CORE\","
              "\"hard\":0,\"soft\":0}]}");
}

TEST(a_later_list_of_variables_wins_and_each_name_stands_once)
{
    const struct container_strings args = LIST(STR("/entry"));
    const struct container_strings env[] = { LIST(STR("PATH=/bin"), STR("A=1"), STR("A=2")),
                                             LIST(STR("A=3"), STR("C=")) };
    struct container_process p = {
        .user = &root_user, .args = &args, .n_args = 1, .env = env, .n_env = 2
    };
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(1 << 20);
    CHECK_OK(container_spec_write_process(&p, &out, NULL));
    CHECK(strstr(buf_cstr(&out),
                 "\"args\":[\"/entry\"],\"env\":[\"PATH=/bin\",\"A=3\",\"C=\"],\"cwd\":\"/\""));
    p.n_env = 1;
    buf_reset(&out);
    CHECK_OK(container_spec_write_process(&p, &out, NULL));
    CHECK(strstr(buf_cstr(&out), "\"env\":[\"PATH=/bin\",\"A=2\"]"));
}

TEST(a_process_that_no_program_could_start_with_is_refused)
{
    const struct container_strings none = { NULL, 0 }, empty = LIST(STR("")),
                                   nul = LIST(STR("sh"), STR("a\0b")), good = LIST(STR("sh"));
    const struct container_strings bad_env[] = { LIST(STR("=x")), LIST(STR_NULL), LIST(STR("A")),
                                                 LIST(STR("A=\0")) };
    const struct container_strings *const bad_args[] = { &none, &empty, &nul };
    struct container_process p = { .user = &root_user, .n_args = 1 };
    struct err err = { 0 };
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(1 << 20), small = BUF_INIT(100);
    for (size_t i = 0; i < ARRAY_LEN(bad_args); i++) {
        p.args = bad_args[i];
        CHECK_ERR(container_spec_write_process(&p, &out, &err), E_INVALID);
        CHECK(strstr(err.text, i < 2 ? "names no program" : "NUL"));
    }
    p.args = &good;
    CHECK_OK(container_spec_write_process(&p, &out, &err));
    p.n_env = 1;
    for (size_t i = 0; i < ARRAY_LEN(bad_env); i++) {
        p.env = &bad_env[i];
        CHECK_ERR(container_spec_write_process(&p, &out, &err), E_INVALID);
    }
    p.n_env = 0;
    p.cwd = STR("tmp");
    CHECK_ERR(container_spec_write_process(&p, &out, &err), E_INVALID);
    CHECK(strstr(err.text, "not absolute"));
    p.cwd = STR_NULL;
    CHECK_ERR(container_spec_write_process(&p, &small, &err), -EMSGSIZE);
}

/* ---- the whole ---- */

static struct json *whole(struct arena *a, struct container_spec s, const char *const *with)
{
    static const struct str words[] = { { "sh", 2 } };
    static const struct container_strings args = { words, 1 };
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(1 << 20), filled = BUF_INIT(1 << 20);
    struct json *doc;
    s.process.user = &root_user;
    s.process.args = &args;
    s.process.n_args = 1;
    s.root = "/a \"root\"";
    s.host_name = "h";
    CHECK_OK(container_spec_write(&s, &out, NULL));
    if (with)
        container_spec_fill(buf_str(&out), with, &filled);
    struct str text = str_copy_arena(a, buf_str(with ? &filled : &out));
    CHECK_OK(json_parse(a, text, NULL, &doc, NULL));
    return doc;
}

static const struct json *mount_at(const struct json *doc, const char *where)
{
    json_each (m, json_getc(doc, "mounts"))
        if (str_is(json_get_str(m, "destination"), where))
            return m;
    return NULL;
}

static bool has_option(const struct json *mount, const char *option)
{
    json_each (o, json_getc(mount, "options"))
        if (str_is(json_str(o), option))
            return true;
    return false;
}

TEST(what_is_not_said_is_strict)
{
    struct arena a = { 0 };
    const struct json *doc = whole(&a, (struct container_spec){ 0 }, NULL);
    CHECK_STR(json_get_str(json_getc(doc, "root"), "path"), "/a \"root\"");
    CHECK(json_bool(json_path(doc, "root", "readonly", NULL)));
    CHECK_INT(json_path(doc, "linux", "namespaces", NULL)->n, 5); /* the network's without a path */
    CHECK(!json_path(doc, "linux", "resources", NULL));
    CHECK(!mount_at(doc, "/dev/pts"));
    CHECK_STR(json_get_str(json_path(doc, "linux", "seccomp", NULL), "defaultAction"),
              "SCMP_ACT_ERRNO");
    CHECK(!json_getc(doc, "annotations"));
    arena_fini(&a);
}

TEST(each_container_has_its_own_group_network_and_files)
{
    const struct container_machine m = {
        .cgroup = "/group", .is_cgroup2 = true, .counts_swap = true, .filter = "QUJD"
    };
    const struct container_mount mounts[] = {
        { .kind = CONTAINER_MOUNT_TMPFS, .where = STR("/t"), .mode = 01777, .size_bytes = 4096 },
        { .kind = CONTAINER_MOUNT_BIND, .where = STR("/b \""), .source = STR("/from") },
        { .kind = CONTAINER_MOUNT_FILE, .where = STR("/f"), .file = 7 },
    };
    const struct container_spec s = { .machine = &m,
                                      .mounts = mounts,
                                      .n_mounts = ARRAY_LEN(mounts),
                                      .network = CONTAINER_SPEC_HOLE,
                                      .limits = { .memory_bytes = 1 << 20, .cpu_milli = 500 } };
    const char *const with[CONTAINER_HOLES] = { [CONTAINER_HOLE_GROUP] = "g1",
                                                [CONTAINER_HOLE_NETWORK] = "/n",
                                                [CONTAINER_HOLE_FILES] = "/run/x" };
    struct arena a = { 0 };
    const struct json *doc = whole(&a, s, with), *l = json_getc(doc, "linux");
    CHECK_STR(json_get_str(l, "cgroupsPath"), "/group/g1");
    const struct json *resources = json_getc(l, "resources");
    CHECK_INT(json_int_or(json_path(resources, "memory", "limit", NULL), 0), 1 << 20);
    CHECK_INT(json_int_or(json_path(resources, "memory", "swap", NULL), 0), 1 << 20);
    CHECK_INT(json_int_or(json_path(resources, "cpu", "shares", NULL), 0), 512);
    CHECK(!json_getc(resources, "pids")); /* none was asked for */
    CHECK_INT(json_getc(l, "namespaces")->n, 6);
    CHECK_STR(json_get_str(json_last(json_getc(l, "namespaces")), "path"), "/n");
    CHECK(has_option(mount_at(doc, "/t"), "size=4096") &&
          has_option(mount_at(doc, "/t"), "mode=1777"));
    CHECK_STR(json_get_str(mount_at(doc, "/b \""), "source"), "/from");
    CHECK(has_option(mount_at(doc, "/b \""), "ro"));
    CHECK_STR(json_get_str(mount_at(doc, "/f"), "source"), "/run/x/7");
    CHECK_STR(json_get_str(json_getc(doc, "annotations"), "run.oci.seccomp_bpf_data"), "QUJD");
    arena_fini(&a);
}

static const struct json *namespace_of(const struct json *doc, const char *type)
{
    json_each (n, json_path(doc, "linux", "namespaces", NULL))
        if (str_is(json_get_str(n, "type"), type))
            return n;
    return NULL;
}

TEST(containers_can_share_namespaces)
{
    const struct container_spec s = { .ipc = "/proc/7/ns/\"ipc", .uts = "/proc/7/ns/uts" };
    struct arena a = { 0 };
    const struct json *doc = whole(&a, (struct container_spec){ 0 }, NULL);
    CHECK(!json_getc(namespace_of(doc, "ipc"), "path") && json_getc(doc, "hostname"));
    doc = whole(&a, s, NULL);
    CHECK_STR(json_get_str(namespace_of(doc, "ipc"), "path"), "/proc/7/ns/\"ipc");
    CHECK_STR(json_get_str(namespace_of(doc, "uts"), "path"), "/proc/7/ns/uts");
    CHECK(!json_getc(doc, "hostname")); /* it is another's, too */
    CHECK(namespace_of(doc, "pid") && !json_getc(namespace_of(doc, "pid"), "path"));
    CHECK(namespace_of(doc, "mount"));
    arena_fini(&a);
}

TEST(a_pid_namespace_is_shared_only_where_a_control_group_ends_the_rest)
{
    const struct container_machine group = { .cgroup = "/group" }, none = { 0 };
    static const struct str words[] = { { "/run", 4 } };
    static const struct container_strings args = { words, 1 };
    const struct container_user user = { 0 };
    struct container_spec s = { .process = { .user = &user, .args = &args, .n_args = 1 },
                                .root = "/",
                                .host_name = "h",
                                .pid = "/proc/7/ns/pid",
                                .machine = &group };
    scoped(buf_fini_scoped) struct buf to = BUF_INIT(1 << 20);
    struct err err = { 0 };
    CHECK_OK(container_spec_write(&s, &to, &err));
    CHECK(str_find(buf_str(&to), STR("{\"type\":\"pid\",\"path\":\"/proc/7/ns/pid\"}")) >= 0);
    s.machine = &none;
    CHECK_ERR(container_spec_write(&s, &to, &err), E_UNSUPPORTED);
    s.machine = NULL;
    CHECK_ERR(container_spec_write(&s, &to, &err), E_UNSUPPORTED);
}

TEST(a_weight_is_one_that_the_kernel_has)
{
    static const struct {
        uint64_t milli;
        int64_t shares;
    } cases[] = { { 0, 2 }, { 1, 2 }, { 1000, 1024 }, { 256000, 262144 }, { UINT64_MAX, 262144 } };
    const struct container_machine m = { .cgroup = "/group" };
    const char *const with[CONTAINER_HOLES] = { NULL, "g1", "/n", "/run/x" };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a = { 0 };
        const struct container_spec s = { .machine = &m,
                                          .limits = { .cpu_milli = cases[i].milli } };
        const struct json *doc = whole(&a, s, with);
        const struct json *cpu = json_path(doc, "linux", "resources", "cpu", NULL);
        CHECK_INT(json_int_or(json_getc(cpu, "shares"), 0), cases[i].shares);
        arena_fini(&a);
    }
}

TEST(a_quota_of_cpu_holds_from_the_start_where_one_is_set)
{
    static const struct {
        uint64_t milli;
        int64_t us;
    } cases[] = { { 0, -1 }, { 1, 1000 }, { 10, 1000 }, { 1500, 150000 } };
    const struct container_machine m = { .cgroup = "/group" };
    const char *const with[CONTAINER_HOLES] = { NULL, "g1", "/n", "/run/x" };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a = { 0 };
        const struct container_spec s = { .machine = &m,
                                          .limits = { .cpu_quota_milli = cases[i].milli } };
        const struct json *doc = whole(&a, s, with);
        const struct json *cpu = json_path(doc, "linux", "resources", "cpu", NULL);
        CHECK_INT(json_int_or(json_getc(cpu, "quota"), -1), cases[i].us);
        CHECK_INT(json_int_or(json_getc(cpu, "period"), -1), cases[i].milli ? 100000 : -1);
        arena_fini(&a);
    }
}

TEST(the_compiled_filter_is_that_of_the_allow_list_alone)
{
    const struct container_machine m = { .filter = "QUJD" };
    const struct container_spec s = { .machine = &m, .syscalls = CONTAINER_SYSCALLS_REFUSE_LIST };
    struct arena a = { 0 };
    const struct json *doc = whole(&a, s, NULL);
    CHECK(!json_getc(doc, "annotations"));
    CHECK_STR(json_get_str(json_path(doc, "linux", "seccomp", NULL), "defaultAction"),
              "SCMP_ACT_ALLOW");
    CHECK(!json_path(doc, "linux", "resources", NULL)); /* nor is there a group */
    arena_fini(&a);
}

TEST_MAIN
