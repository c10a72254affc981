/* SPDX-License-Identifier: Apache-2.0 */
/* The config.json of containers. */
#include "base/mem.h"
#include "codec/json.h"
#include "container/capabilities.h"
#include "container/spec.h"
#include "container/syscall_profile.h"
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

/* ---- for pods ---- */

static bool has_text(const struct json *list, const char *text)
{
    json_each (e, list)
        if (str_is(json_str(e), text))
            return true;
    return false;
}

TEST(volumes_can_be_written_and_see_later_mounts_where_that_was_said)
{
    const struct container_mount mounts[] = {
        { .kind = CONTAINER_MOUNT_VOLUME, .where = STR("/a"), .source = STR("/from") },
        { .kind = CONTAINER_MOUNT_VOLUME,
          .where = STR("/b"),
          .source = STR("/from"),
          .is_writable = true,
          .propagation = CONTAINER_PROPAGATION_SLAVE },
        { .kind = CONTAINER_MOUNT_VOLUME,
          .where = STR("/c"),
          .source = STR("/from"),
          .is_deeply_read_only = true },
        { .kind = CONTAINER_MOUNT_VOLUME,
          .where = STR("/d"),
          .source = STR("/from"),
          .propagation = CONTAINER_PROPAGATION_SHARED },
    };
    struct container_spec s = { .mounts = mounts, .n_mounts = 1 };
    struct arena a = { 0 };
    const struct json *doc = whole(&a, s, NULL), *l = json_getc(doc, "linux");
    CHECK(!json_getc(l, "rootfsPropagation"));
    const struct json *m = mount_at(doc, "/a");
    CHECK(has_option(m, "ro") && has_option(m, "rprivate") && has_option(m, "rbind"));
    CHECK(!has_option(m, "noexec"));
    s.n_mounts = 3;
    doc = whole(&a, s, NULL);
    CHECK_STR(json_get_str(json_getc(doc, "linux"), "rootfsPropagation"), "rslave");
    m = mount_at(doc, "/b");
    CHECK(has_option(m, "rw") && has_option(m, "rslave"));
    CHECK(has_option(mount_at(doc, "/c"), "rro"));
    s.n_mounts = 4;
    doc = whole(&a, s, NULL);
    CHECK_STR(json_get_str(json_getc(doc, "linux"), "rootfsPropagation"), "rshared");
    CHECK(has_option(mount_at(doc, "/d"), "rshared"));
    arena_fini(&a);
}

TEST(shared_memory_is_of_the_size_or_from_the_place_that_was_said)
{
    struct arena a = { 0 };
    struct container_spec s = { 0 };
    CHECK(has_option(mount_at(whole(&a, s, NULL), "/dev/shm"), "size=67108864"));
    s.shm_bytes = 4096;
    CHECK(has_option(mount_at(whole(&a, s, NULL), "/dev/shm"), "size=4096"));
    s.shm = STR("/pod/shm");
    const struct json *m = mount_at(whole(&a, s, NULL), "/dev/shm");
    CHECK_STR(json_get_str(m, "source"), "/pod/shm");
    CHECK(has_option(m, "rw"));
    arena_fini(&a);
}

TEST(namespaces_of_the_machine_are_not_separate_ones)
{
    const struct container_machine m = { .cgroup = "/group" };
    const struct container_spec s = { .pid = CONTAINER_NAMESPACE_MACHINE,
                                      .ipc = CONTAINER_NAMESPACE_MACHINE,
                                      .uts = CONTAINER_NAMESPACE_MACHINE,
                                      .network = CONTAINER_SPEC_MACHINE,
                                      .machine = &m };
    const char *const with[CONTAINER_HOLES] = { NULL, "g1", "/n", "/run/x" };
    struct arena a = { 0 };
    const struct json *doc = whole(&a, s, with);
    CHECK_INT(json_path(doc, "linux", "namespaces", NULL)->n, 1);
    CHECK(namespace_of(doc, "mount") && !json_getc(doc, "hostname"));
    arena_fini(&a);
}

TEST(a_user_namespace_has_ranges_of_ids)
{
    const struct container_id_range range = { 0, 100000, 65536 };
    struct container_spec s = { .uids = { &range, 1 }, .gids = { &range, 1 } };
    struct arena a = { 0 };
    const struct json *doc = whole(&a, s, NULL), *l = json_getc(doc, "linux");
    CHECK(namespace_of(doc, "user") && !json_getc(namespace_of(doc, "user"), "path"));
    const struct json *first = json_first(json_getc(l, "uidMappings"));
    CHECK_INT(json_int_or(json_getc(first, "hostID"), 0), 100000);
    CHECK_INT(json_int_or(json_getc(first, "size"), 0), 65536);
    CHECK_INT(json_getc(l, "gidMappings")->n, 1);
    s.user = "/proc/7/ns/user";
    CHECK_STR(json_get_str(namespace_of(whole(&a, s, NULL), "user"), "path"), "/proc/7/ns/user");
    arena_fini(&a);
}

TEST(volumes_are_mapped_where_that_is_asked_for)
{
    const struct container_mount mounts[] = {
        { .kind = CONTAINER_MOUNT_VOLUME,
          .where = STR("/a"),
          .source = STR("/x"),
          .is_mapped = true },
        { .kind = CONTAINER_MOUNT_VOLUME, .where = STR("/b"), .source = STR("/x") },
    };
    struct container_spec s = { .mounts = mounts, .n_mounts = 2, .shm = STR("/shm") };
    struct arena a = { 0 };
    const struct json *doc = whole(&a, s, NULL);
    CHECK(has_option(mount_at(doc, "/a"), "idmap") && !has_option(mount_at(doc, "/b"), "idmap"));
    CHECK(!has_option(mount_at(doc, "/dev/shm"), "idmap"));
    s.user = "/proc/7/ns/user";
    CHECK(has_option(mount_at(whole(&a, s, NULL), "/dev/shm"), "idmap"));
    arena_fini(&a);
}

TEST(sysctls_are_set_unless_their_names_lead_elsewhere)
{
    static const char *const bad[] = { "",    ".",       "/etc", "net..ip", "net/../../etc",
                                       "a b", "net.\xc3" };
    static const struct str words[] = { { "sh", 2 } };
    static const struct container_strings args = { words, 1 };
    struct container_sysctl sysctl = { STR("net.ipv4.ip_forward"), STR("1 \"2\"") };
    struct container_spec s = { .process = { .user = &root_user, .args = &args, .n_args = 1 },
                                .root = "/",
                                .host_name = "h",
                                .sysctls = &sysctl,
                                .n_sysctls = 1 };
    struct arena a = { 0 };
    const struct json *doc = whole(&a, s, NULL);
    CHECK_STR(json_get_str(json_path(doc, "linux", "sysctl", NULL), "net.ipv4.ip_forward"),
              "1 \"2\"");
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(1 << 20);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        sysctl.name = str_of(bad[i]);
        CHECK_ERR(container_spec_write(&s, &out, NULL), E_INVALID);
    }
    sysctl = (struct container_sysctl){ STR("net.a"), STR("a\0b") };
    CHECK_ERR(container_spec_write(&s, &out, NULL), E_INVALID);
    arena_fini(&a);
}

TEST(devices_are_denied_except_those_of_the_caller_and_of_privileged_containers)
{
    const struct container_machine m = { .cgroup = "/group" };
    const char *const with[CONTAINER_HOLES] = { NULL, "g1", "/n", "/run/x" };
    const struct container_device device = {
        .path = STR("/dev/fuse"), .major = 10, .minor = 229, .mode = 0666
    };
    struct container_spec s = { .machine = &m, .devices = &device, .n_devices = 1 };
    struct arena a = { 0 };
    const struct json *l = json_getc(whole(&a, s, with), "linux");
    const struct json *rules = json_path(l, "resources", "devices", NULL);
    CHECK(!json_bool(json_getc(json_first(rules), "allow")) && rules->n == 2);
    CHECK_INT(json_int_or(json_getc(json_last(rules), "minor"), 0), 229);
    CHECK_STR(json_get_str(json_first(json_getc(l, "devices")), "path"), "/dev/fuse");
    CHECK(has_text(json_getc(l, "maskedPaths"), "/sys/fs/cgroup"));
    s.is_privileged = true;
    s.has_cgroup = true;
    s.syscalls = CONTAINER_SYSCALLS_ALL;
    const struct json *doc = whole(&a, s, with);
    l = json_getc(doc, "linux");
    rules = json_path(l, "resources", "devices", NULL);
    CHECK(json_bool(json_getc(json_first(rules), "allow")) && rules->n == 1);
    CHECK(!json_getc(l, "maskedPaths") && !json_getc(l, "readonlyPaths"));
    CHECK(!json_getc(l, "seccomp") && !has_option(mount_at(doc, "/sys"), "ro"));
    CHECK(!has_option(mount_at(doc, "/sys/fs/cgroup"), "ro"));
    arena_fini(&a);
}

TEST(the_own_control_group_can_be_read_where_that_was_said)
{
    const struct container_spec s = { .has_cgroup = true };
    struct arena a = { 0 };
    const struct json *doc = whole(&a, s, NULL);
    CHECK(!has_text(json_path(doc, "linux", "maskedPaths", NULL), "/sys/fs/cgroup"));
    CHECK(has_option(mount_at(doc, "/sys/fs/cgroup"), "ro"));
    arena_fini(&a);
}

/* ---- system calls ---- */

/* Whether a rule without arguments allows the call. */
static bool allows(const struct json *seccomp, const char *call)
{
    json_each (rule, json_getc(seccomp, "syscalls"))
        if (str_is(json_get_str(rule, "action"), "SCMP_ACT_ALLOW") && !json_getc(rule, "args") &&
            has_text(json_getc(rule, "names"), call))
            return true;
    return false;
}

TEST(the_default_filter_depends_on_capabilities)
{
    static const char *const admin[] = { "CAP_SYS_ADMIN", "CAP_SYS_TIME", NULL };
    struct container_spec s = { .syscalls = CONTAINER_SYSCALLS_DEFAULT };
    struct arena a = { 0 };
    const struct json *f = json_path(whole(&a, s, NULL), "linux", "seccomp", NULL);
    CHECK_STR(json_get_str(f, "defaultAction"), "SCMP_ACT_ERRNO");
    CHECK(allows(f, "openat") && allows(f, "ptrace") && allows(f, "mknodat"));
    CHECK(!allows(f, "mount") && !allows(f, "clock_settime") && !allows(f, "clone3"));
    CHECK(!allows(f, "keyctl") && !allows(f, "io_uring_setup") && !allows(f, "socket"));
    s.process.capabilities = admin;
    f = json_path(whole(&a, s, NULL), "linux", "seccomp", NULL);
    CHECK(allows(f, "mount") && allows(f, "clock_settime") && allows(f, "clone3"));
    CHECK(!allows(f, "keyctl") && !allows(f, "reboot"));
    arena_fini(&a);
}

static int write_profile(const char *text, struct buf *to, struct err *err)
{
    buf_reset(to);
    *err = (struct err){ 0 };
    return container_syscall_profile_write(str_of(text), to, err);
}

TEST(a_profile_of_the_user_is_passed_on_as_far_as_it_is_known)
{
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(1 << 20);
    struct err err;
    CHECK_OK(write_profile("{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":0,"
                           "\"architectures\":[\"SCMP_ARCH_X86_64\"],\"archMap\":[],"
                           "\"listenerPath\":\"/x\",\"syscalls\":[{\"name\":\"read\","
                           "\"action\":\"SCMP_ACT_ALLOW\",\"args\":[],\"comment\":\"\"},"
                           "{\"names\":[\"a\",\"b\"],\"action\":\"SCMP_ACT_ERRNO\","
                           "\"errnoRet\":38,\"args\":[{\"index\":0,\"value\":4294967295,"
                           "\"valueTwo\":1,\"op\":\"SCMP_CMP_MASKED_EQ\"}]}]}",
                           &out, &err));
    CHECK_STR(buf_str(&out),
              "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":0,"
              "\"architectures\":[\"SCMP_ARCH_X86_64\"],\"syscalls\":[{\"names\":[\"read\"],"
              "\"action\":\"SCMP_ACT_ALLOW\"},{\"names\":[\"a\",\"b\"],\"action\":"
              "\"SCMP_ACT_ERRNO\",\"errnoRet\":38,\"args\":[{\"index\":0,\"value\":"
              "4294967295,\"valueTwo\":1,\"op\":\"SCMP_CMP_MASKED_EQ\"}]}]}");
}

#define RULE(inner) "{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"syscalls\":[{" inner "}]}"

TEST(a_profile_that_would_mean_something_else_is_refused)
{
    static const struct {
        const char *text;
        int code;
        const char *part;
    } bad[] = {
        { "", 0, "" },
        { "[]", E_INVALID, "" },
        { "{}", E_INVALID, "defaultAction" },
        { "{\"defaultAction\":\"SCMP_ACT_NONE\"}", E_INVALID, "defaultAction" },
        { "{\"defaultAction\":\"SCMP_ACT_NOTIFY\"}", E_UNSUPPORTED, "NOTIFY" },
        { "{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"architectures\":[\"a b\"]}", E_INVALID,
          "architectures[0]" },
        { RULE("\"action\":\"SCMP_ACT_ERRNO\""), E_INVALID, "names" },
        { RULE("\"names\":[\"read\"]"), E_INVALID, "action" },
        { RULE("\"names\":[\"re ad\"],\"action\":\"SCMP_ACT_ERRNO\""), E_INVALID, "names[0]" },
        { RULE("\"names\":[\"read\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":5000"), E_INVALID,
          "errnoRet" },
        { RULE("\"names\":[\"read\"],\"action\":\"SCMP_ACT_ERRNO\",\"args\":[{\"index\":6,\"op\":"
               "\"SCMP_CMP_EQ\"}]"),
          E_INVALID, "index" },
        { RULE("\"names\":[\"read\"],\"action\":\"SCMP_ACT_ERRNO\",\"args\":[{\"index\":1,\"op\":"
               "\"EQ\"}]"),
          E_INVALID, "op" },
        { RULE("\"names\":[\"read\"],\"action\":\"SCMP_ACT_ALLOW\",\"includes\":{\"caps\":[\"CAP_"
               "BPF\"]}"),
          E_UNSUPPORTED, "includes" },
    };
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(1 << 20), much = BUF_INIT(4 << 20);
    struct err err;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        int r = write_profile(bad[i].text, &out, &err);
        CHECK(r < 0 && (!bad[i].code || r == bad[i].code));
        CHECK(strstr(err.text, "seccomp profile: ") && strstr(err.text, bad[i].part));
    }
    (void)buf_add_cstr(&much, "{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"syscalls\":[");
    for (int i = 0; i <= CONTAINER_SYSCALL_PROFILE_RULES_MAX; i++)
        (void)buf_printf(&much, "%s{\"names\":[\"read\"],\"action\":\"SCMP_ACT_LOG\"}",
                         i ? "," : "");
    (void)buf_add_cstr(&much, "]}");
    CHECK_ERR(write_profile(buf_cstr(&much), &out, &err), E_LIMIT);
    while (much.n <= CONTAINER_SYSCALL_PROFILE_MAX_BYTES)
        (void)buf_add_cstr(&much, "                                                            ");
    CHECK_ERR(write_profile(buf_cstr(&much), &out, &err), E_LIMIT);
}

/* ---- capabilities ---- */

static bool has_capability(const struct container_capabilities *c, const char *name)
{
    for (size_t i = 0; c->names[i]; i++)
        if (strcmp(c->names[i], name) == 0)
            return true;
    return false;
}

TEST(capabilities_are_added_and_then_dropped)
{
    const struct str admin[] = { STR("sys_admin"), STR("CAP_NET_RAW") }, all[] = { STR("ALL") },
                     raw[] = { STR("NET_RAW") }, bad[] = { STR("NONE") };
    struct container_capabilities c;
    struct err err = { 0 };
    CHECK_OK(container_capabilities_make(NULL, 0, NULL, 0, false, &c, NULL));
    CHECK(has_capability(&c, "CAP_CHOWN") && has_capability(&c, "CAP_NET_RAW"));
    CHECK(!has_capability(&c, "CAP_SYS_ADMIN"));
    CHECK_OK(container_capabilities_make(admin, 1, raw, 1, false, &c, NULL));
    CHECK(has_capability(&c, "CAP_SYS_ADMIN") && !has_capability(&c, "CAP_NET_RAW"));
    CHECK_OK(container_capabilities_make(admin, 2, all, 1, false, &c, NULL));
    CHECK(has_capability(&c, "CAP_SYS_ADMIN") && has_capability(&c, "CAP_NET_RAW"));
    CHECK(!has_capability(&c, "CAP_CHOWN"));
    CHECK_OK(container_capabilities_make(all, 1, raw, 1, false, &c, NULL));
    CHECK(has_capability(&c, "CAP_SYS_MODULE") && !has_capability(&c, "CAP_NET_RAW"));
    CHECK_OK(container_capabilities_make(admin, 2, all, 1, true, &c, NULL));
    CHECK(has_capability(&c, "CAP_SYS_MODULE"));
    CHECK_ERR(container_capabilities_make(bad, 1, NULL, 0, false, &c, &err), E_INVALID);
    CHECK(strstr(err.text, "'NONE'"));
}

TEST_MAIN
