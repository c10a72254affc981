/* SPDX-License-Identifier: Apache-2.0 */
/* The memory cgroup of runners and compilers; see memory_group.h. */
#include "guest/memory_group.h"

#include "base/buf.h"
#include "base/cgroup.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"
#include "guest/pressure.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define CGROUP_ROOT "/sys/fs/cgroup"
#define GUESTS      "dormouse-guests-"
#define MAIN        "dormouse-main-"

enum { NAME_SIZE = 48 };
enum { KEEP_PART = 16, KEEP_BYTES_MIN = 64 << 20 }; /* of the memory, for main and others */

static int write_text(int dir_fd, const char *name, const char *text)
{
    scoped(fd_scoped) int fd = sys_openat(dir_fd, name, O_WRONLY, 0);
    return fd < 0 ? fd : sys_write_all(fd, text, strlen(text));
}

static int write_number(int dir_fd, const char *name, uint64_t n)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%llu", (unsigned long long)n);
    return write_text(dir_fd, name, text);
}

/* ---- the process's own cgroup ---- */

static char *join_path(const char *root, struct str path)
{
    return xasprintf("%s" STR_FMT, root, STR_ARG(str_is(path, "/") ? STR("") : path));
}

/* In a cgroup that is not delegated to us, a service manager may undo our changes. */
static bool is_delegated(const char *dir, struct str path)
{
    struct stat st;
    char value[4] = "";
    if (str_is(path, "/"))
        return true; /* the root of the cgroup namespace */
    if (geteuid() != 0)
        return stat(dir, &st) == 0 && st.st_uid == geteuid();
    return getxattr(dir, "trusted.delegate", value, sizeof value - 1) == 1 && value[0] == '1';
}

static uint64_t default_max(const char *root, struct str proc)
{
    struct pressure_group binding;
    uint64_t all = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    pressure_group_find(root, proc, &binding);
    if (binding.dir_fd >= 0)
        all = MIN(all, binding.limit_bytes);
    pressure_group_fini(&binding);
    uint64_t keep = MAX(all / KEEP_PART, (uint64_t)KEEP_BYTES_MIN);
    return all - MIN(keep, all / 4);
}

/* ---- creating it ---- */

static int open_dir(const char *path)
{
    return sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
}

/* "dormouse-guests-PID" or "dormouse-main-PID" of a process that has ended. */
static bool is_left(struct str name)
{
    static const char *const kinds[] = { GUESTS, MAIN };
    uint64_t pid;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_has_prefix(name, str_of(kinds[i])))
            return parse_u64(str_slice(name, strlen(kinds[i]), name.n), 1, INT32_MAX, &pid) == 0 &&
                   kill((int)pid, 0) < 0 && errno == ESRCH;
    return false;
}

/* Remove the cgroups of killed processes. One that still has processes cannot be removed. */
static void remove_left(int parent_fd)
{
    int fd = openat(parent_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir))
        if (is_left(str_of(e->d_name)))
            (void)unlinkat(parent_fd, e->d_name, AT_REMOVEDIR);
    if (dir)
        (void)closedir(dir);
    else
        fd_scoped(&fd);
}

static void guests_name(char to[NAME_SIZE])
{
    (void)snprintf(to, NAME_SIZE, GUESTS "%d", (int)getpid());
}

static int make(struct memory_group *g, char *parent, bool is_v2, uint64_t max_bytes,
                struct err *err)
{
    char name[NAME_SIZE];
    scoped(free_scoped) char *path = parent;
    *g = (struct memory_group){ .procs_fd = -1, .is_v2 = is_v2 };
    scoped(fd_scoped) int fd = open_dir(path);
    if (fd < 0)
        return err_sys(err, fd, "open '%s'", path);
    remove_left(fd);
    int r = is_v2 ? cgroup_give(fd, "+memory") : 0;
    if (r < 0)
        return err_sys(err, r, "give memory to groups below '%s'", path);
    g->has_moved = r > 0;
    guests_name(name);
    if (mkdirat(fd, name, 0755) < 0 && errno != EEXIST)
        r = -errno;
    scoped(fd_scoped) int dir_fd = r < 0 ? r : sys_openat(fd, name, O_RDONLY | O_DIRECTORY, 0);
    r = dir_fd < 0
            ? dir_fd
            : write_number(dir_fd, is_v2 ? "memory.max" : "memory.limit_in_bytes", max_bytes);
    if (r >= 0)
        g->procs_fd = r = sys_openat(dir_fd, "cgroup.procs", O_WRONLY, 0);
    g->parent = take_ptr(&path);
    if (r >= 0)
        return 0;
    g->procs_fd = -1;
    r = err_sys(err, r, "make '%s/%s'", g->parent, name);
    memory_group_close(g);
    return r;
}

int memory_group_open(struct memory_group *g, const char *root, struct str proc, uint64_t max_bytes,
                      struct err *err)
{
    struct str v2 = cgroup_without_own(pressure_own_path(proc, true));
    struct str v1 = pressure_own_path(proc, false);
    scoped(free_scoped) char *v2_dir = join_path(root, v2);
    scoped(fd_scoped) int fd = v2.n ? open_dir(v2_dir) : -ENOENT;
    max_bytes = max_bytes ? max_bytes : default_max(root, proc);
    *g = (struct memory_group){ .procs_fd = -1 };
    if (fd >= 0 && cgroup_has_word(fd, "cgroup.controllers", "memory")) {
        if (!is_delegated(v2_dir, v2))
            return err_set(err, E_UNSUPPORTED, "'%s' is not delegated to this process", v2_dir);
        return make(g, take_ptr(&v2_dir), true, max_bytes, err);
    }
    if (!v1.n)
        return err_set(err, E_UNSUPPORTED, "there is no controller of memory");
    scoped(free_scoped) char *v1_root = xasprintf("%s/memory", root);
    return make(g, join_path(v1_root, v1), false, max_bytes, err);
}

void memory_group_close(struct memory_group *g)
{
    char name[NAME_SIZE];
    scoped(fd_scoped) int fd = g->parent ? open_dir(g->parent) : -1;
    fd_scoped(&g->procs_fd);
    g->procs_fd = -1;
    guests_name(name);
    if (fd >= 0)
        (void)unlinkat(fd, name, AT_REMOVEDIR);
    if (fd >= 0 && g->has_moved && write_text(fd, "cgroup.subtree_control", "-memory") >= 0)
        cgroup_move_back(fd);
    free(take_ptr(&g->parent));
}

/* ---- the one of this process ---- */

static struct memory_group shared = { .procs_fd = -1 };
static unsigned n_refs;

void memory_group_ref(void)
{
    n_refs++;
}

void memory_group_unref(void)
{
    if (--n_refs > 0)
        return;
    memory_group_close(&shared);
    shared.is_final = false;
}

int memory_group_stdin(void)
{
    struct err err = { 0 };
    scoped(buf_fini_scoped) struct buf proc = BUF_INIT(16 << 10);
    if (shared.procs_fd >= 0 || shared.is_final)
        return shared.procs_fd;
    (void)sys_read_file(AT_FDCWD, "/proc/self/cgroup", &proc, NULL);
    shared.is_final = memory_group_open(&shared, CGROUP_ROOT, buf_str(&proc), 0, &err) < 0;
    if (shared.is_final)
        log_info("runners and compilers have no limit of memory together", "reason=\"%s\"",
                 err_text(&err));
    return shared.procs_fd;
}
