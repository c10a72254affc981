/* SPDX-License-Identifier: Apache-2.0 */
/* src/container: what containers of pods may do: volumes, namespaces, system calls, devices. */
#include "container/capabilities.h"
#include "container/devices.h"
#include "container_rig.h"

#include <sys/mount.h>
#include <sys/sysmacros.h>

static const char *const admin[] = { "CAP_SYS_ADMIN", NULL };

/* Run it to its end, and compare what it has printed. */
#define CHECK_RUN(r, spec, commands, printed)                                                      \
    do {                                                                                           \
        struct rig_container t_;                                                                   \
        rig_run((r), &t_, (commands), (spec));                                                     \
        CHECK_STR(buf_str(&t_.out), (printed));                                                    \
        rig_forget(&t_);                                                                           \
    } while (0)

/* ---- volumes ---- */

/* A directory in a mount namespace of this test, whose mounts propagate. */
static char *make_volume(const struct rig *r)
{
    char *path = xasprintf("%s/volume", r->dir);
    scoped(free_scoped) char *inner = xasprintf("%s/inner", path);
    CHECK_OK(mkdir(path, 0777));
    CHECK_OK(mount("none", path, "tmpfs", 0, NULL));
    CHECK_OK(mount(NULL, path, NULL, MS_SHARED, NULL));
    CHECK_OK(mkdir(inner, 0777));
    return path;
}

static void remove_volume(char *path)
{
    CHECK_OK(umount2(path, MNT_DETACH));
    CHECK_OK(rmdir(path));
    free(path);
}

static struct container_mount volume_of(const char *path)
{
    return (struct container_mount){ .kind = CONTAINER_MOUNT_VOLUME,
                                     .where = STR("/data"),
                                     .source = str_of(path) };
}

TEST(a_volume_can_be_written_where_that_was_said)
{
    struct rig r;
    if (!rig_open(&r))
        return;
    char *path = make_volume(&r);
    scoped(free_scoped) char *file = xasprintf("%s/file", path);
    struct container_mount m = volume_of(path);
    struct container_spec s = { .mounts = &m, .n_mounts = 1 };
    CHECK_RUN(&r, s, "write /data/file", "Read-only file system\n");
    CHECK(access(file, F_OK) < 0);
    m.is_writable = true;
    CHECK_RUN(&r, s, "write /data/file", "written\n");
    CHECK(access(file, F_OK) == 0);
    remove_volume(path);
    rig_close(&r);
}

TEST(a_read_only_volume_is_so_below_its_mounts_where_that_was_said)
{
    struct rig r;
    if (!rig_open(&r))
        return;
    char *path = make_volume(&r);
    scoped(free_scoped) char *inner = xasprintf("%s/inner", path);
    CHECK_OK(mount("none", inner, "tmpfs", 0, NULL));
    struct container_mount m = volume_of(path);
    struct container_spec s = { .mounts = &m, .n_mounts = 1 };
    CHECK_RUN(&r, s, "write /data/inner/file", "written\n");
    m.is_deeply_read_only = true;
    CHECK_RUN(&r, s, "write /data/inner/file", "Read-only file system\n");
    remove_volume(path);
    rig_close(&r);
}

static bool has_mount(const char *mountinfo, const char *where)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1 << 20);
    scoped(free_scoped) char *word = xasprintf(" %s ", where);
    CHECK_OK(sys_read_file(AT_FDCWD, mountinfo, &text, NULL));
    return str_find(buf_str(&text), str_of(word)) >= 0;
}

/* Whether the container sees what is mounted while it runs. */
static bool sees_later_mount(struct rig *r, enum container_propagation propagation)
{
    struct rig_container t;
    char *path = make_volume(r), mountinfo[64];
    scoped(free_scoped) char *inner = xasprintf("%s/inner", path);
    struct container_mount m = volume_of(path);
    m.propagation = propagation;
    const struct container_spec s = { .mounts = &m, .n_mounts = 1 };
    rig_run_waiting(r, &t, "one", s, (struct container_opts){ 0 });
    (void)snprintf(mountinfo, sizeof mountinfo, "/proc/%d/mountinfo", container_pid(t.c));
    CHECK(has_mount(mountinfo, "/data") && !has_mount(mountinfo, "/data/inner"));
    CHECK_OK(mount("none", inner, "tmpfs", 0, NULL));
    bool is_seen = has_mount(mountinfo, "/data/inner");
    rig_stop(r, &t);
    remove_volume(path);
    return is_seen;
}

TEST(mounts_of_the_machine_reach_a_volume_where_that_was_said)
{
    struct rig r;
    if (!rig_open(&r))
        return;
    CHECK(!sees_later_mount(&r, CONTAINER_PROPAGATION_PRIVATE));
    CHECK(sees_later_mount(&r, CONTAINER_PROPAGATION_SLAVE));
    CHECK(sees_later_mount(&r, CONTAINER_PROPAGATION_SHARED));
    rig_close(&r);
}

TEST(mounts_of_a_container_reach_the_machine_where_that_was_said)
{
    struct rig r;
    if (!rig_open(&r))
        return;
    char *path = make_volume(&r);
    scoped(free_scoped) char *inner = xasprintf("%s/inner", path);
    struct container_mount m = volume_of(path);
    m.is_writable = true;
    m.propagation = CONTAINER_PROPAGATION_SLAVE;
    const struct container_spec s = { .process = { .capabilities = admin },
                                      .mounts = &m,
                                      .n_mounts = 1,
                                      .syscalls = CONTAINER_SYSCALLS_ALL };
    CHECK_RUN(&r, s, "mount /data/inner", "mounted\n");
    CHECK(!has_mount("/proc/self/mountinfo", inner));
    m.propagation = CONTAINER_PROPAGATION_SHARED;
    CHECK_RUN(&r, s, "mount /data/inner", "mounted\n");
    CHECK(has_mount("/proc/self/mountinfo", inner));
    remove_volume(path);
    rig_close(&r);
}

TEST(shared_memory_of_a_pod_is_a_directory_of_the_machine)
{
    struct rig r;
    if (!rig_open(&r))
        return;
    char *path = make_volume(&r);
    scoped(free_scoped) char *file = xasprintf("%s/file", path);
    CHECK_RUN(&r, ((struct container_spec){ .shm = str_of(path) }), "write /dev/shm/file",
              "written\n");
    CHECK(access(file, F_OK) == 0);
    remove_volume(path);
    rig_close(&r);
}

/* ---- system calls ---- */

TEST(system_calls_are_those_of_the_profile)
{
    const struct container_spec by_default = { .syscalls = CONTAINER_SYSCALLS_DEFAULT },
                                by_right = { .process = { .capabilities = admin },
                                             .syscalls = CONTAINER_SYSCALLS_DEFAULT },
                                by_user = { .process = { .capabilities = admin },
                                            .syscalls = CONTAINER_SYSCALLS_PROFILE,
                                            .seccomp = STR("{\"defaultAction\":\"SCMP_ACT_ALLOW\","
                                                           "\"syscalls\":[{\"names\":[\"mount\"],"
                                                           "\"action\":\"SCMP_ACT_ERRNO\","
                                                           "\"errnoRet\":38}]}") },
                                free = { .process = { .capabilities = admin },
                                         .syscalls = CONTAINER_SYSCALLS_ALL };
    struct rig r;
    if (!rig_open(&r))
        return;
    CHECK_RUN(&r, by_default, "mount /mnt", "Operation not permitted\n");
    CHECK_RUN(&r, by_right, "mount /mnt", "mounted\n");
    CHECK_RUN(&r, by_user, "mount /mnt", "Function not implemented\n");
    CHECK_RUN(&r, free, "mount /mnt", "mounted\n");
    rig_close(&r);
}

/* ---- the rest ---- */

TEST(a_sysctl_is_set_in_the_network_of_the_container)
{
    const struct container_sysctl sysctl = { STR("net.ipv4.ip_unprivileged_port_start"),
                                             STR("77") };
    const struct container_spec s = { .sysctls = &sysctl, .n_sysctls = 1 };
    struct rig r;
    if (!rig_open(&r))
        return;
    CHECK_RUN(&r, s, "read /proc/sys/net/ipv4/ip_unprivileged_port_start", "77\n");
    CHECK_RUN(&r, ((struct container_spec){ 0 }),
              "write /proc/sys/net/ipv4/ip_unprivileged_port_start", "Read-only file system\n");
    rig_close(&r);
}

TEST(a_container_sees_the_limits_of_its_own_group_where_that_was_said)
{
    const struct container_spec s = { .has_cgroup = true,
                                      .has_terminals = true,
                                      .limits = { .memory_bytes = 64 << 20 } };
    struct rig r;
    if (!rig_open(&r))
        return;
    if (r.machine.cgroup)
        CHECK_RUN(&r, s,
                  r.machine.is_cgroup2 ? "read /sys/fs/cgroup/memory.max"
                                       : "read /sys/fs/cgroup/memory/memory.limit_in_bytes",
                  "67108864\n");
    rig_close(&r);
}

TEST(a_privileged_container_has_all_devices_and_nothing_is_hidden)
{
    struct container_capabilities all;
    struct container_devices devices;
    struct rig r;
    struct rig_container t;
    char mountinfo[64];
    if (!rig_open(&r))
        return;
    CHECK_OK(container_capabilities_make(NULL, 0, NULL, 0, true, &all, NULL));
    CHECK_OK(container_devices_find("/dev", &devices, NULL));
    CHECK_RUN(&r, ((struct container_spec){ 0 }), "open /dev/kmsg", "No such file or directory\n");
    const struct container_spec s = { .process = { .capabilities = all.names },
                                      .is_privileged = true,
                                      .has_cgroup = true,
                                      .devices = devices.p,
                                      .n_devices = devices.n,
                                      .syscalls = CONTAINER_SYSCALLS_ALL };
    CHECK_RUN(&r, s, "mount /mnt open /dev/kmsg", "mounted\nopen\n");
    rig_run_waiting(&r, &t, "one", s, (struct container_opts){ 0 });
    (void)snprintf(mountinfo, sizeof mountinfo, "/proc/%d/mountinfo", container_pid(t.c));
    CHECK(!has_mount(mountinfo, "/proc/sys") && !has_mount(mountinfo, "/proc/kcore"));
    rig_stop(&r, &t);
    container_devices_fini(&devices);
    rig_close(&r);
}

TEST(a_node_of_a_device_that_was_not_given_cannot_be_opened)
{
    const struct container_device device = {
        .path = STR("/dev/loop-control"), .major = 10, .minor = 237, .mode = 0600
    };
    struct rig r;
    if (!rig_open(&r))
        return;
    scoped(free_scoped) char *node = xasprintf("%s/node", r.root);
    CHECK_OK(mknod(node, S_IFCHR | 0666, makedev(10, 237)));
    if (r.machine.cgroup)
        CHECK_RUN(&r, ((struct container_spec){ 0 }), "open /node", "Operation not permitted\n");
    CHECK_RUN(&r, ((struct container_spec){ .devices = &device, .n_devices = 1 }),
              "open /node open /dev/loop-control", "open\nopen\n");
    rig_close(&r);
}

static void check_same_namespace(int pid, const char *kind, bool is_same)
{
    char path[64], ours[64] = "", theirs[64] = "";
    (void)snprintf(path, sizeof path, "/proc/%d/ns/%s", pid, kind);
    CHECK(readlink(path, theirs, 63) > 0);
    (void)snprintf(path, sizeof path, "/proc/self/ns/%s", kind);
    CHECK(readlink(path, ours, 63) > 0);
    CHECK_INT(strcmp(ours, theirs) == 0, is_same);
}

TEST(a_container_can_live_in_the_namespaces_of_the_machine)
{
    const struct container_spec s = { .pid = CONTAINER_NAMESPACE_MACHINE,
                                      .ipc = CONTAINER_NAMESPACE_MACHINE,
                                      .uts = CONTAINER_NAMESPACE_MACHINE,
                                      .network = CONTAINER_SPEC_MACHINE };
    static const char *const kinds[] = { "pid", "ipc", "uts", "net" };
    struct rig r;
    struct rig_container t;
    if (!rig_open(&r))
        return;
    if (!r.machine.cgroup) {
        rig_close(&r);
        return;
    }
    rig_run_waiting(&r, &t, "one", s, (struct container_opts){ .network = "/proc/self/ns/net" });
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        check_same_namespace(container_pid(t.c), kinds[i], true);
    check_same_namespace(container_pid(t.c), "mnt", false);
    rig_stop(&r, &t);
    rig_close(&r);
}

TEST(the_limit_of_open_files_is_that_of_the_machine_where_that_was_said)
{
    struct rig r;
    struct rig_container t;
    if (!rig_open(&r))
        return;
    rig_run(&r, &t, "read /proc/self/limits", (struct container_spec){ 0 });
    CHECK(strstr(buf_cstr(&t.out), "Max open files            4096 "));
    rig_forget(&t);
    rig_run(&r, &t, "read /proc/self/limits",
            (struct container_spec){ .process = { .keeps_limits = true } });
    CHECK(!strstr(buf_cstr(&t.out), "Max open files            4096 "));
    rig_forget(&t);
    rig_close(&r);
}

TEST(users_of_a_container_are_other_users_of_the_machine)
{
    const struct container_id_range range = { 0, 100000, 65536 };
    struct rig r;
    struct rig_container t;
    struct stat before, after;
    if (!rig_open(&r))
        return;
    CHECK_OK(stat("/dev/null", &before));
    const struct container_spec s = { .uids = { &range, 1 },
                                      .gids = { &range, 1 },
                                      .network = CONTAINER_SPEC_LOOPBACK };
    CHECK_OK(
        rig_start(&r, &t, "one", "read /proc/self/uid_map", s, (struct container_opts){ 0 }, NULL));
    UNTIL(&r, t.removed);
    if (t.r < 0 &&
        strstr(t.text, "sysfs")) /* runc, where a part of /sys of the machine is hidden */
        test_skipped = "no sysfs in a user namespace";
    else
        CHECK(str_find(buf_str(&t.out), STR("100000")) > 0);
    CHECK_OK(stat("/dev/null", &after));
    CHECK_INT(after.st_uid, before.st_uid); /* crun gives standard input to the user */
    rig_forget(&t);
    rig_close(&r);
}

int main(int argc, char **argv)
{
    if (unshare(CLONE_NEWNS) == 0)
        (void)mount("none", "/", NULL, MS_REC | MS_SLAVE, NULL);
    (void)mount("none", "/", NULL, MS_REC | MS_SHARED, NULL); /* as machines have it */
    return test_main(argc, argv);
}
