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
    DEPTH_MAX = 32,        /* of groups that programs have made in their own */
    HIERARCHIES_MAX = 1024 /* bytes of their names */
};

#define PATH_BYTES CONTAINER_CGROUP_PATH_MAX

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

void container_cgroup_path(const struct container_cgroups *g, const char *name,
                           const char *controller, const char *v1, const char *v2,
                           char to[CONTAINER_CGROUP_PATH_MAX])
{
    if (g->kind == CONTAINER_CGROUPS_V2)
        (void)snprintf(to, PATH_BYTES, ROOT "%s/%s/%s", g->parent, name, v2);
    else
        (void)snprintf(to, PATH_BYTES, ROOT "/%s%s/%s/%s", controller, g->parent, name, v1);
}

/* ---- groups of several containers ---- */

static int make_v1(const char *path, struct err *err)
{
    static const char *const needed[] = { "cpu", "memory", "pids" };
    char whole[PATH_BYTES];
    (void)snprintf(whole, sizeof whole, ROOT "/cpuacct%s", path);
    (void)make_group(whole, NULL); /* for accounting alone */
    int r = 0;
    for (size_t i = 0; i < ARRAY_LEN(needed) && r == 0; i++) {
        (void)snprintf(whole, sizeof whole, ROOT "/%s%s", needed[i], path);
        r = make_group(whole, err);
    }
    return r;
}

/* Its parent has the controllers, and gives them to it. */
static int make_v2(const char *path, struct err *err)
{
    char whole[PATH_BYTES];
    (void)snprintf(whole, sizeof whole, ROOT "%.*s/cgroup.subtree_control",
                   (int)(strrchr(path, '/') - path), path);
    if (!write_text(whole, "+cpu +memory +pids"))
        return err_set(err, E_UNSUPPORTED, "control groups: '%s' cannot be written", whole);
    (void)snprintf(whole, sizeof whole, ROOT "%s", path);
    return make_group(whole, err);
}

int container_cgroup_make(const struct container_cgroups *g, const char *name, struct err *err)
{
    char path[PATH_BYTES];
    if (g->kind == CONTAINER_CGROUPS_NONE)
        return 0;
    (void)snprintf(path, sizeof path, "%s/%s/", g->parent, name);
    int r = 0;
    for (char *slash = strchr(path + strlen(g->parent) + 1, '/'); slash && r == 0;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0'; /* each group on the way */
        r = g->kind == CONTAINER_CGROUPS_V2 ? make_v2(path, err) : make_v1(path, err);
        *slash = '/';
    }
    return r;
}

char *container_cgroup_make_everywhere(const struct container_cgroups *g, const char *name)
{
    scoped(buf_fini_scoped) struct buf names = BUF_INIT(HIERARCHIES_MAX);
    char path[PATH_BYTES + NAME_MAX];
    if (g->kind == CONTAINER_CGROUPS_V2) {
        (void)snprintf(path, sizeof path, ROOT "%s/%s", g->parent, name);
        (void)make_group(path, NULL);
    }
    DIR *dir = g->kind == CONTAINER_CGROUPS_V1 ? opendir(ROOT) : NULL;
    struct dirent *e;
    while (dir && (e = readdir(dir))) {
        if (e->d_name[0] == '.' || e->d_type == DT_LNK)
            continue;
        (void)snprintf(path, sizeof path, ROOT "/%s%s", e->d_name, g->parent);
        (void)make_group(path, NULL);
        (void)snprintf(path, sizeof path, ROOT "/%s%s/%s", e->d_name, g->parent, name);
        if (make_group(path, NULL) == 0)
            (void)buf_printf(&names, "%s%s", names.n ? " " : "", e->d_name);
    }
    if (dir)
        (void)closedir(dir);
    return str_dup(buf_str(&names));
}

void container_cgroup_join(const struct container_cgroups *g, const char *name, int pid)
{
    scoped(free_scoped) char *names = container_cgroup_make_everywhere(g, name);
    struct str one, rest = str_of(names);
    bool has_more = g->kind != CONTAINER_CGROUPS_NONE;
    char text[16];
    (void)snprintf(text, sizeof text, "%d", pid);
    while (has_more) {
        has_more = str_cut(rest, ' ', &one, &rest);
        scoped(free_scoped) char *procs =
            xasprintf(ROOT "/" STR_FMT "%s/%s/cgroup.procs", STR_ARG(one), g->parent, name);
        (void)write_text(procs, text);
    }
}

/* The path of this process in the hierarchy, in `text`; empty: unknown. */
static struct str find_own(const char *controller, struct buf *text)
{
    struct str line, fields, rest, path;
    if (sys_read_file(AT_FDCWD, "/proc/self/cgroup", text, NULL) < 0)
        return STR("");
    for (rest = buf_str(text); str_cut(rest, '\n', &line, &rest);)
        if (str_cut(line, ':', &path, &fields) && str_cut(fields, ':', &line, &path) &&
            str_is(line, controller))
            return path;
    return STR("");
}

void container_cgroup_prepare_moves(const struct container_cgroups *g)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(64 << 10);
    char pid[16];
    struct str own = g->kind == CONTAINER_CGROUPS_V1 ? find_own("memory", &text) : STR("");
    if (!own.n)
        return;
    scoped(free_scoped) char *procs =
        xasprintf(ROOT "/memory" STR_FMT "/cgroup.procs", STR_ARG(own));
    (void)snprintf(pid, sizeof pid, "%d", (int)getpid());
    (void)write_text(procs, pid);
}

#define LISTED "memory" /* the hierarchy of version 1 whose groups are listed */

void container_cgroup_each(const struct container_cgroups *g, const char *name,
                           void (*each)(void *arg, const char *name), void *arg)
{
    char path[PATH_BYTES];
    container_cgroup_path(g, name, LISTED, ".", ".", path);
    DIR *dir = g->kind == CONTAINER_CGROUPS_NONE ? NULL : opendir(path);
    struct dirent *e;
    while (dir && (e = readdir(dir)))
        if (e->d_type == DT_DIR && e->d_name[0] != '.')
            each(arg, e->d_name);
    if (dir)
        (void)closedir(dir);
}

/* ---- removing ---- */

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
static void kill_group(const char *path, const char *group)
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
            (void)process_kill_if((int)pid, is_in_group, (void *)(uintptr_t)group);
}

/* kills: what runs there */
static int remove_group(bool kills, const char *path, const char *group, unsigned depth);

/* What programs have made below it. */
static void remove_inner(bool kills, const char *path, const char *group, unsigned depth)
{
    DIR *dir = opendir(path);
    struct dirent *e;
    while (dir && (e = readdir(dir))) {
        if (e->d_type != DT_DIR || e->d_name[0] == '.')
            continue;
        scoped(free_scoped) char *inner = xasprintf("%s/%s", path, e->d_name);
        scoped(free_scoped) char *name = xasprintf("%s/%s", group, e->d_name);
        (void)remove_group(kills, inner, name, depth + 1);
    }
    if (dir)
        (void)closedir(dir);
}

static int remove_group(bool kills, const char *path, const char *group, unsigned depth)
{
    if (rmdir(path) == 0 || errno == ENOENT || errno == ENOTDIR)
        return 0;
    if (errno != EBUSY)
        return 0; /* nothing will change that */
    if (kills)
        kill_group(path, group);
    if (depth < DEPTH_MAX)
        remove_inner(kills, path, group, depth);
    return rmdir(path) == 0 || errno != EBUSY ? 0 : -EBUSY;
}

static int remove_everywhere(const struct container_cgroups *g, const char *name, bool kills)
{
    char path[PATH_BYTES + NAME_MAX], group[PATH_BYTES];
    int r = 0;
    (void)snprintf(group, sizeof group, "%s/%s", g->parent, name);
    if (g->kind == CONTAINER_CGROUPS_NONE)
        return 0;
    if (g->kind == CONTAINER_CGROUPS_V2) {
        (void)snprintf(path, sizeof path, ROOT "%s/%s", g->parent, name);
        return remove_group(kills, path, group, 0);
    }
    DIR *dir = opendir(ROOT); /* one hierarchy each */
    struct dirent *e;
    while (dir && (e = readdir(dir))) {
        (void)snprintf(path, sizeof path, ROOT "/%s%s/%s", e->d_name, g->parent, name);
        if (e->d_name[0] != '.' && strcmp(e->d_name, LISTED) != 0 &&
            remove_group(kills, path, group, 0) < 0)
            r = -EBUSY;
    }
    if (dir)
        (void)closedir(dir);
    /* The last: a process that is killed meanwhile leaves one that container_cgroup_each() finds.
     */
    (void)snprintf(path, sizeof path, ROOT "/" LISTED "%s/%s", g->parent, name);
    return r == 0 ? remove_group(kills, path, group, 0) : r;
}

int container_cgroup_remove(const struct container_cgroups *g, const char *name)
{
    return remove_everywhere(g, name, true);
}

int container_cgroup_remove_empty(const struct container_cgroups *g, const char *name)
{
    return remove_everywhere(g, name, false);
}
