/* SPDX-License-Identifier: Apache-2.0 */
/* src/container: the control groups of pods, their limits and accounting. */
#include "container/cgroup.h"
#include "container/program.h"
#include "container_rig.h"
#include "temp_dir.h"

#include <sys/wait.h>

#define POD "burstable/pod7f3c"

static const struct container_limits none;

/* False: no control groups here. */
static bool pods_open(struct rig *r)
{
    if (!rig_open(r))
        return false;
    if (r->machine.cgroup)
        return true;
    rig_close(r);
    test_skipped = "no control groups";
    return false;
}

/* v1: with the controller first. "none": there is no such file. */
static void read_group(const struct rig *r, const char *name, const char *v1, const char *v2,
                       struct buf *to)
{
    const char *slash = strchr(v1, '/'), *hash = strrchr(r->run, '-') + 1;
    scoped(free_scoped) char *controller = str_dup(str_n(v1, (size_t)(slash - v1)));
    scoped(free_scoped) char *path =
        xasprintf("/sys/fs/cgroup/%s%s/%s-%s/%s", r->machine.is_cgroup2 ? "" : controller,
                  r->machine.cgroup, hash, name, r->machine.is_cgroup2 ? v2 : slash + 1);
    buf_reset(to);
    if (sys_read_file(AT_FDCWD, path, to, NULL) < 0)
        (void)buf_add_cstr(to, "none");
}

#define CHECK_GROUP(r, name, v1, v2, value_v1, value_v2)                                           \
    do {                                                                                           \
        scoped(buf_fini_scoped) struct buf text_ = BUF_INIT(4096);                                 \
        read_group((r), (name), (v1), (v2), &text_);                                               \
        CHECK_STR(str_trim(buf_str(&text_)), (r)->machine.is_cgroup2 ? (value_v2) : (value_v1));   \
    } while (0)

TEST(containers_of_a_pod_live_in_one_group_with_limits_of_its_own)
{
    static const struct container_limits pod = {
        .memory_bytes = 128 << 20, .pids = 50, .cpu_milli = 500, .cpu_quota_milli = 1000
    };
    const struct container_spec spec = {
        .limits = { .memory_bytes = 64 << 20, .cpu_milli = 250, .cpu_quota_milli = 500, .pids = 20 }
    };
    struct rig r;
    struct rig_container one, two;
    struct container_usage usage;
    if (!pods_open(&r))
        return;
    CHECK_OK(container_pod_group_make(r.host, POD, &pod, NULL));
    CHECK_OK(container_pod_group_make(r.host, POD, &pod, NULL)); /* again */
    CHECK_GROUP(&r, POD, "memory/memory.limit_in_bytes", "memory.max", "134217728", "134217728");
    CHECK_GROUP(&r, POD, "cpu/cpu.cfs_quota_us", "cpu.max", "100000", "100000 100000");
    CHECK_GROUP(&r, POD, "cpu/cpu.shares", "cpu.weight", "512", "20");
    CHECK_GROUP(&r, POD, "pids/pids.max", "pids.max", "50", "50");
    rig_run_waiting(&r, &one, "one", spec, (struct container_opts){ .pod = POD });
    rig_run_waiting(&r, &two, "two", spec, (struct container_opts){ .pod = POD });
    CHECK_GROUP(&r, POD "/one", "cpu/cpu.cfs_quota_us", "cpu.max", "50000", "50000 100000");
    CHECK_GROUP(&r, POD "/one", "cpu/cpu.shares", "cpu.weight", "256", "10");
    CHECK_GROUP(&r, POD "/two", "memory/memory.limit_in_bytes", "memory.max", "67108864",
                "67108864");
    CHECK_OK(container_pod_group_usage(r.host, POD, &usage));
    CHECK_INT(usage.pids, 2);
    rig_stop(&r, &one);
    CHECK_GROUP(&r, POD "/one", "pids/pids.max", "pids.max", "none", "none");
    CHECK_OK(container_pod_group_usage(r.host, POD, &usage));
    CHECK_INT(usage.pids, 1);
    CHECK_OK(container_pod_group_usage(r.host, "", &usage));
    CHECK(usage.pids >= 1 && usage.memory_bytes > 0);
    rig_stop(&r, &two);
    CHECK_OK(container_pod_group_remove(r.host, POD));
    CHECK_OK(container_pod_group_remove(r.host, POD));
    CHECK_ERR(container_pod_group_usage(r.host, POD, &usage), -ENOENT);
    CHECK_ERR(container_pod_group_limit(r.host, POD, &pod, NULL), -ENOENT);
    CHECK_OK(container_pod_group_remove(r.host, "burstable"));
    rig_close(&r);
}

TEST(the_limits_of_a_container_that_runs_can_be_changed)
{
    const struct container_spec spec = {
        .limits = { .memory_bytes = 64 << 20, .cpu_milli = 100, .cpu_quota_milli = 200 }
    };
    static const struct container_limits more = {
        .memory_bytes = 256 << 20, .cpu_milli = 1000, .cpu_quota_milli = 1500, .pids = 30
    };
    static const struct container_limits little = { .memory_bytes = 4096 };
    struct rig r;
    struct rig_container t;
    struct err err = { 0 };
    if (!pods_open(&r))
        return;
    CHECK_OK(rig_start(&r, &t, "one", "eat 20 say ready wait", spec, (struct container_opts){ 0 },
                       NULL));
    CHECK_ERR(container_limit(t.c, &more, NULL), -ENOENT); /* not yet */
    UNTIL(&r, str_find(buf_str(&t.out), STR("ready")) >= 0);
    CHECK_OK(container_limit(t.c, &more, NULL));
    CHECK_GROUP(&r, "one", "memory/memory.limit_in_bytes", "memory.max", "268435456", "268435456");
    CHECK_GROUP(&r, "one", "cpu/cpu.cfs_quota_us", "cpu.max", "150000", "150000 100000");
    CHECK_GROUP(&r, "one", "cpu/cpu.shares", "cpu.weight", "1024", "39");
    CHECK_GROUP(&r, "one", "pids/pids.max", "pids.max", "30", "30");
    CHECK_ERR(container_limit(t.c, &little, &err), -EBUSY);
    CHECK(strstr(err.text, "in use"));
    CHECK_GROUP(&r, "one", "memory/memory.limit_in_bytes", "memory.max", "268435456", "268435456");
    CHECK_OK(container_limit(t.c, &spec.limits, NULL)); /* down again */
    CHECK_GROUP(&r, "one", "memory/memory.limit_in_bytes", "memory.max", "67108864", "67108864");
    CHECK_OK(container_limit(t.c, &none, NULL));
    CHECK_GROUP(&r, "one", "cpu/cpu.cfs_quota_us", "cpu.max", "-1", "max 100000");
    CHECK_GROUP(&r, "one", "pids/pids.max", "pids.max", "max", "max");
    rig_stop(&r, &t);
    rig_close(&r);
}

TEST(what_a_container_uses_is_counted)
{
    const struct container_spec spec = { .limits = { .memory_bytes = 64 << 20 } };
    struct rig r;
    struct rig_container t;
    struct container_usage u = { 0 };
    if (!pods_open(&r))
        return;
    CHECK_OK(
        rig_start(&r, &t, "one", "spin 20 eat 20 wait", spec, (struct container_opts){ 0 }, NULL));
    UNTIL(&r, t.out.n);
    CHECK_OK(container_usage(t.c, &u));
    CHECK(u.cpu_ns >= 15000000 && u.memory_bytes >= 20 << 20 && u.rss_bytes >= 20 << 20);
    CHECK(u.working_set_bytes <= u.memory_bytes && u.working_set_bytes >= 20 << 20);
    CHECK(u.page_faults > 0 && u.pids == 1 && u.oom_kills == 0);
    rig_stop(&r, &t);
    CHECK_OK(rig_start(&r, &t, "one", "eat 200", spec, (struct container_opts){ 0 }, NULL));
    UNTIL(&r, t.ended);
    CHECK_INT(t.status, -SIGKILL);
    CHECK(t.ran_out);
    CHECK_INT(t.usage.oom_kills, 1);
    CHECK(t.usage.cpu_ns > 0);
    UNTIL(&r, t.removed);
    rig_forget(&t);
    rig_close(&r);
}

static void on_group(void *arg, const char *name)
{
    struct buf *to = arg;
    (void)buf_add_cstr(to, name);
    (void)buf_add_char(to, ' ');
}

TEST(groups_that_a_crash_has_left_are_found_and_removed_with_what_runs_there)
{
    struct rig r;
    scoped(buf_fini_scoped) struct buf names = BUF_INIT(4096);
    if (!pods_open(&r))
        return;
    container_pod_group_each(r.host, "", on_group, &names);
    CHECK_STR(buf_str(&names), "");
    CHECK_OK(container_pod_group_make(r.host, POD, &none, NULL));
    CHECK_OK(container_pod_group_make(r.host, POD "/inner/most", &none, NULL));
    container_pod_group_each(r.host, "", on_group, &names);
    container_pod_group_each(r.host, "burstable", on_group, &names);
    CHECK_STR(buf_str(&names), "burstable pod7f3c ");
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        for (;;)
            (void)pause();
    scoped(free_scoped) char *procs =
        xasprintf("/sys/fs/cgroup%s%s/%s-" POD "/inner/most/cgroup.procs",
                  r.machine.is_cgroup2 ? "" : "/memory", r.machine.cgroup, strrchr(r.run, '-') + 1);
    scoped(free_scoped) char *text = xasprintf("%d", (int)pid);
    int fd = open(procs, O_WRONLY | O_CLOEXEC), status = 0;
    CHECK_OK(fd);
    CHECK_OK(sys_write_all(fd, text, strlen(text)));
    (void)close(fd);
    int removed = container_pod_group_remove(r.host, "burstable");
    CHECK(removed == 0 || removed == -EBUSY); /* whether it has ended already */
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    CHECK_OK(container_pod_group_remove(r.host, "burstable"));
    buf_reset(&names);
    container_pod_group_each(r.host, "", on_group, &names);
    CHECK_STR(buf_str(&names), "");
    rig_close(&r);
}

TEST(names_of_groups_that_lead_elsewhere_are_refused)
{
    static const char *const bad[] = { "", "/", "a/", "/a", "a//b", "..", "a/../b", "a b", "a/.b" };
    struct rig r;
    struct rig_container t;
    struct container_usage u;
    if (!pods_open(&r))
        return;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        const struct container_opts opts = { .pod = bad[i] };
        CHECK_ERR(container_pod_group_make(r.host, bad[i], &none, NULL), E_INVALID);
        CHECK_ERR(container_pod_group_remove(r.host, bad[i]), E_INVALID);
        CHECK_ERR(rig_start(&r, &t, "one", "", (struct container_spec){ 0 }, opts, NULL),
                  E_INVALID);
        rig_forget(&t);
        if (bad[i][0])
            CHECK_ERR(container_pod_group_usage(r.host, bad[i], &u), E_INVALID);
    }
    char longest[CONTAINER_POD_NAME_MAX + 1];
    memset(longest, 'a', sizeof longest);
    longest[CONTAINER_POD_NAME_MAX] = '\0';
    CHECK_ERR(container_pod_group_make(r.host, longest, &none, NULL), E_INVALID);
    longest[CONTAINER_POD_NAME_MAX - 1] = '\0';
    CHECK_OK(container_pod_group_make(r.host, longest, &none, NULL));
    CHECK_OK(container_pod_group_remove(r.host, longest));
    rig_close(&r);
}

TEST(a_host_that_expects_a_container_can_close_without_one)
{
    struct rig r;
    if (!pods_open(&r))
        return;
    CHECK_OK(container_host_set_up(r.host, NULL));
    container_host_expect(r.host);
    container_host_expect(r.host); /* one at a time */
    rig_close(&r);
}

/* What a program with these words in place of crun says. */
static int version_of(const char *dir, const char *script)
{
    scoped(free_scoped) char *path = xasprintf("%s/crun", dir);
    CHECK_OK(sys_write_file_atomic(AT_FDCWD, path, str_of(script), 0755, NULL));
    return container_program_crun_version(path);
}

TEST(the_version_of_crun_is_what_it_says)
{
    char dir[TEMP_DIR_BYTES];
    CHECK(temp_dir_make("crun", dir));
    CHECK_INT(version_of(dir, "#!/bin/sh\necho 'crun version 1.8.1'; echo 'commit: 1.2'\n"), 1008);
    CHECK_INT(version_of(dir, "#!/bin/sh\necho 'crun version 1.21'\n"), 1021);
    CHECK_INT(version_of(dir, "#!/bin/sh\necho 'crun version 2.0-dirty'\n"), 2000);
    CHECK_INT(version_of(dir, "#!/bin/sh\necho 'runc version 1.21'\n"), -EBADMSG);
    CHECK_INT(version_of(dir, "#!/bin/sh\necho 'crun version one'\n"), -EBADMSG);
    CHECK_INT(version_of(dir, "#!/bin/sh\nexit 1\n"), -EBADMSG);
    CHECK_INT(version_of(dir, "#!/bin/sh\nexec cat /dev/zero\n"), -EBADMSG); /* and is ended */
    CHECK_INT(version_of(dir, "#!/no/such/program\n"), -ENOENT);
    temp_dir_remove(dir);
}

TEST_MAIN
