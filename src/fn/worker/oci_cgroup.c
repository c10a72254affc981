/* SPDX-License-Identifier: Apache-2.0 */
/* Control groups of containers; see oci_cgroup.h. */
#include "fn/worker/oci_cgroup.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define ROOT "/sys/fs/cgroup"

enum { PERIOD_US = 100000 };

static bool is_cgroup2(const char *path)
{
    struct statfs fs;
    return statfs(path, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC;
}

static int make_group(const char *path, struct err *err)
{
    if (mkdir(path, 0755) == 0 || errno == EEXIST)
        return 0;
    return err_set(err, E_UNSUPPORTED, "control groups: '%s' cannot be made (%s)", path,
                   err_strerror(-errno));
}

static void write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return; /* the container has ended, or it is there already */
    (void)sys_write_all(fd, text, strlen(text));
    (void)close(fd);
}

static int find_v2(struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(4096);
    struct err ignored;
    (void)sys_read_file(AT_FDCWD, ROOT "/cgroup.controllers", &text, &ignored);
    static const char *const needed[] = { "cpu", "memory", "pids" };
    for (size_t i = 0; i < ARRAY_LEN(needed); i++)
        if (str_find(buf_str(&text), str_of(needed[i])) < 0)
            return err_set(err, E_UNSUPPORTED, "control groups: no controller '%s' below " ROOT,
                           needed[i]);
    int r = make_group(ROOT OCI_CGROUP, err);
    if (r == 0)
        write_text(ROOT "/cgroup.subtree_control", "+cpu +memory +pids");
    return r;
}

static int find_v1(struct err *err)
{
    static const char *const needed[] = { ROOT "/cpu", ROOT "/memory", ROOT "/pids" };
    for (size_t i = 0; i < ARRAY_LEN(needed); i++) {
        struct statfs fs;
        char path[64];
        if (statfs(needed[i], &fs) < 0 || fs.f_type != CGROUP_SUPER_MAGIC)
            return err_set(err, E_UNSUPPORTED, "control groups: '%s' is not mounted", needed[i]);
        (void)snprintf(path, sizeof path, "%s%s", needed[i], OCI_CGROUP);
        int r = make_group(path, err);
        if (r < 0)
            return r;
    }
    return 0;
}

int oci_cgroups_find(enum oci_cgroups *ret, struct err *err)
{
    bool v2 = is_cgroup2(ROOT);
    int r = v2 ? find_v2(err) : find_v1(err);
    if (r == 0)
        *ret = v2 ? OCI_CGROUPS_V2 : OCI_CGROUPS_V1;
    return r;
}

bool oci_cgroups_are_hybrid(void)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(4096);
    struct err ignored;
    return is_cgroup2(ROOT "/unified") &&
           sys_read_file(AT_FDCWD, ROOT "/unified/cgroup.controllers", &text, &ignored) == 0 &&
           str_trim(buf_str(&text)).n > 0;
}

bool oci_cgroups_count_swap(enum oci_cgroups kind)
{
    if (kind == OCI_CGROUPS_V1)
        return access(ROOT "/memory/memory.memsw.limit_in_bytes", F_OK) == 0 ||
               access(ROOT "/memory" OCI_CGROUP "/memory.memsw.limit_in_bytes", F_OK) == 0;
    return kind == OCI_CGROUPS_V2 && access(ROOT OCI_CGROUP "/memory.swap.max", F_OK) == 0;
}

void oci_cgroup_limit_cpu(enum oci_cgroups kind, const char *name, uint64_t cpu_milli)
{
    char path[160], text[64];
    unsigned long long quota = MAX(cpu_milli * PERIOD_US / 1000, 1000); /* the kernel's least */
    if (kind == OCI_CGROUPS_NONE)
        return;
    if (kind == OCI_CGROUPS_V2) {
        (void)snprintf(path, sizeof path, ROOT OCI_CGROUP "/%s/cpu.max", name);
        (void)snprintf(text, sizeof text, "%llu %d", quota, PERIOD_US);
    } else {
        (void)snprintf(path, sizeof path, ROOT "/cpu" OCI_CGROUP "/%s/cpu.cfs_quota_us", name);
        (void)snprintf(text, sizeof text, "%llu", quota);
    }
    write_text(path, text);
}

bool oci_cgroup_ran_out(enum oci_cgroups kind, const char *name)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(4096);
    char path[160];
    struct err ignored;
    struct str left, line, key, value;
    (void)snprintf(path, sizeof path,
                   kind == OCI_CGROUPS_V2 ? ROOT OCI_CGROUP "/%s/memory.events"
                                          : ROOT "/memory" OCI_CGROUP "/%s/memory.oom_control",
                   name);
    if (kind == OCI_CGROUPS_NONE || sys_read_file(AT_FDCWD, path, &text, &ignored) < 0)
        return false;
    left = buf_str(&text);
    while (str_cut(left, '\n', &line, &left)) {
        (void)str_cut(line, ' ', &key, &value);
        if (str_is(key, "oom_kill"))
            return !str_is(value, "0");
    }
    return false;
}

/* Those that are ours alone: nobody else makes processes in a group below OCI_CGROUP. */
static void kill_group(const char *path)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(64 << 10);
    scoped(free_scoped) char *procs = xasprintf("%s/cgroup.procs", path);
    struct err ignored;
    struct str left, line;
    uint64_t pid;
    if (sys_read_file(AT_FDCWD, procs, &text, &ignored) < 0)
        return;
    left = buf_str(&text);
    while (str_cut(left, '\n', &line, &left))
        if (parse_u64(line, 2, INT32_MAX, &pid) == 0)
            (void)kill((pid_t)pid, SIGKILL);
}

static int remove_group(const char *path)
{
    if (rmdir(path) == 0 || errno == ENOENT || errno == ENOTDIR)
        return 0;
    int r = -errno;
    kill_group(path);
    return r == -EBUSY ? r : 0;
}

int oci_cgroup_remove(enum oci_cgroups kind, const char *name)
{
    char path[160 + NAME_MAX];
    int r = 0;
    if (kind == OCI_CGROUPS_NONE)
        return 0;
    if (kind == OCI_CGROUPS_V2) {
        (void)snprintf(path, sizeof path, ROOT OCI_CGROUP "/%s", name);
        return remove_group(path);
    }
    DIR *dir = opendir(ROOT); /* one hierarchy each */
    struct dirent *e;
    while (dir && (e = readdir(dir))) {
        (void)snprintf(path, sizeof path, ROOT "/%s" OCI_CGROUP "/%s", e->d_name, name);
        if (e->d_name[0] != '.' && remove_group(path) < 0)
            r = -EBUSY;
    }
    if (dir)
        (void)closedir(dir);
    return r;
}
