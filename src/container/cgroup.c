/* SPDX-License-Identifier: Apache-2.0 */
/* Control groups of containers; see cgroup.h. */
#include "container/cgroup.h"

#include "base/buf.h"
#include "base/cgroup.h"
#include "base/mem.h"
#include "base/sys.h"
#include "io/process.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define ROOT "/sys/fs/cgroup"

enum {
    PERIOD_US = 100000,
    PATH_BYTES = CONTAINER_CGROUP_PARENT_MAX + CONTAINER_CGROUP_NAME_MAX + 64
};

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

/* false: it is not there, or refuses. */
static bool write_text(const char *path, const char *text)
{
    scoped(fd_scoped) int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd >= 0 && sys_write_all(fd, text, strlen(text)) == 0;
}

static int find_v2(const char *parent, struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(4096);
    struct err ignored;
    (void)sys_read_file(AT_FDCWD, ROOT "/cgroup.controllers", &text, &ignored);
    static const char *const needed[] = { "cpu", "memory", "pids" };
    for (size_t i = 0; i < ARRAY_LEN(needed); i++)
        if (str_find(buf_str(&text), str_of(needed[i])) < 0)
            return err_set(err, E_UNSUPPORTED, "control groups: no controller '%s' below " ROOT,
                           needed[i]);
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, ROOT "%s", parent);
    int r = make_group(path, err);
    if (r < 0)
        return r;
    scoped(fd_scoped) int root = sys_openat(AT_FDCWD, ROOT, O_RDONLY | O_DIRECTORY, 0);
    r = root < 0 ? root : cgroup_give(root, "+cpu +memory +pids");
    return r < 0
               ? err_set(err, E_UNSUPPORTED,
                         "control groups: no limits for groups below " ROOT " (%s)",
                         r == -EBUSY ? "other processes are in the group itself" : err_strerror(r))
               : 0;
}

static int find_v1(const char *parent, struct err *err)
{
    static const char *const needed[] = { ROOT "/cpu", ROOT "/memory", ROOT "/pids" };
    for (size_t i = 0; i < ARRAY_LEN(needed); i++) {
        struct statfs fs;
        char path[PATH_BYTES];
        if (statfs(needed[i], &fs) < 0 || fs.f_type != CGROUP_SUPER_MAGIC)
            return err_set(err, E_UNSUPPORTED, "control groups: '%s' is not mounted", needed[i]);
        (void)snprintf(path, sizeof path, "%s%s", needed[i], parent);
        int r = make_group(path, err);
        if (r < 0)
            return r;
    }
    return 0;
}

int container_cgroups_find(const char *parent, struct container_cgroups *ret, struct err *err)
{
    struct container_cgroups g = { .kind = is_cgroup2(ROOT) ? CONTAINER_CGROUPS_V2
                                                            : CONTAINER_CGROUPS_V1 };
    assert(strlen(parent) < sizeof g.parent);
    (void)snprintf(g.parent, sizeof g.parent, "%s", parent);
    int r = g.kind == CONTAINER_CGROUPS_V2 ? find_v2(parent, err) : find_v1(parent, err);
    if (r == 0)
        *ret = g;
    return r;
}

bool container_cgroups_are_hybrid(void)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(4096);
    struct err ignored;
    return is_cgroup2(ROOT "/unified") &&
           sys_read_file(AT_FDCWD, ROOT "/unified/cgroup.controllers", &text, &ignored) == 0 &&
           str_trim(buf_str(&text)).n > 0;
}

bool container_cgroups_count_swap(const struct container_cgroups *g)
{
    char path[PATH_BYTES];
    switch (g->kind) {
    case CONTAINER_CGROUPS_NONE:
        return false;
    case CONTAINER_CGROUPS_V1:
        (void)snprintf(path, sizeof path, ROOT "/memory%s/memory.memsw.limit_in_bytes", g->parent);
        return access(ROOT "/memory/memory.memsw.limit_in_bytes", F_OK) == 0 ||
               access(path, F_OK) == 0;
    case CONTAINER_CGROUPS_V2:
        (void)snprintf(path, sizeof path, ROOT "%s/memory.swap.max", g->parent);
        return access(path, F_OK) == 0;
    }
    return false;
}

/* A file of a group: v1 has it in the hierarchy of a controller, v2 under another name. */
static void file_path(const struct container_cgroups *g, const char *name, const char *controller,
                      const char *v1, const char *v2, char to[PATH_BYTES])
{
    if (g->kind == CONTAINER_CGROUPS_V2)
        (void)snprintf(to, PATH_BYTES, ROOT "%s/%s/%s", g->parent, name, v2);
    else
        (void)snprintf(to, PATH_BYTES, ROOT "/%s%s/%s/%s", controller, g->parent, name, v1);
}

void container_cgroup_limit_cpu(const struct container_cgroups *g, const char *name,
                                uint64_t cpu_milli)
{
    char path[PATH_BYTES], text[64];
    unsigned long long quota = MAX(cpu_milli * PERIOD_US / 1000, 1000); /* the kernel's least */
    if (g->kind == CONTAINER_CGROUPS_NONE)
        return;
    file_path(g, name, "cpu", "cpu.cfs_quota_us", "cpu.max", path);
    if (g->kind == CONTAINER_CGROUPS_V2)
        (void)snprintf(text, sizeof text, "%llu %d", quota, PERIOD_US);
    else
        (void)snprintf(text, sizeof text, "%llu", quota);
    (void)write_text(path, text); /* the container may have ended */
}

bool container_cgroup_ran_out(const struct container_cgroups *g, const char *name)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(4096);
    char path[PATH_BYTES];
    struct err ignored;
    struct str left, line, key, value;
    file_path(g, name, "memory", "memory.oom_control", "memory.events", path);
    if (g->kind == CONTAINER_CGROUPS_NONE || sys_read_file(AT_FDCWD, path, &text, &ignored) < 0)
        return false;
    left = buf_str(&text);
    while (str_cut(left, '\n', &line, &left)) {
        (void)str_cut(line, ' ', &key, &value);
        if (str_is(key, "oom_kill"))
            return !str_is(value, "0");
    }
    return false;
}

/* group: "/parent/name". */
static bool is_in_group(void *group, int pid)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(64 << 10);
    scoped(free_scoped) char *line = xasprintf("%s\n", (const char *)group);
    char path[64];
    struct err ignored;
    (void)snprintf(path, sizeof path, "/proc/%d/cgroup", pid);
    return sys_read_file(AT_FDCWD, path, &text, &ignored) == 0 &&
           str_find(buf_str(&text), str_of(line)) >= 0;
}

/* All of them are ours: no other program makes processes in a group below the parent. */
static void kill_group(const char *path, char *group)
{
    scoped(free_scoped) char *all = xasprintf("%s/cgroup.kill", path);
    if (write_text(all, "1")) /* version 2, since Linux 5.14 */
        return;
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
            (void)process_kill_if((int)pid, is_in_group, group);
}

static int remove_group(const char *path, char *group)
{
    if (rmdir(path) == 0 || errno == ENOENT || errno == ENOTDIR)
        return 0;
    int r = -errno;
    kill_group(path, group);
    return r == -EBUSY ? r : 0;
}

int container_cgroup_remove(const struct container_cgroups *g, const char *name)
{
    char path[PATH_BYTES + NAME_MAX], group[PATH_BYTES];
    int r = 0;
    (void)snprintf(group, sizeof group, "%s/%s", g->parent, name);
    if (g->kind == CONTAINER_CGROUPS_NONE)
        return 0;
    if (g->kind == CONTAINER_CGROUPS_V2) {
        (void)snprintf(path, sizeof path, ROOT "%s/%s", g->parent, name);
        return remove_group(path, group);
    }
    DIR *dir = opendir(ROOT); /* one hierarchy each */
    struct dirent *e;
    while (dir && (e = readdir(dir))) {
        (void)snprintf(path, sizeof path, ROOT "/%s%s/%s", e->d_name, g->parent, name);
        if (e->d_name[0] != '.' && remove_group(path, group) < 0)
            r = -EBUSY;
    }
    if (dir)
        (void)closedir(dir);
    return r;
}
