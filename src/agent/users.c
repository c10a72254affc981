/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/users.h"

#include "agent/agent_impl.h"
#include "base/sys.h"
#include "container/user_namespace.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

enum {
    RANGES_MAX = 4 * AGENT_PODS_MAX,
    TEXT_MAX = 32,
    SHARING_CRUN = 1021 /* the first one that was tried and can do it */
};

bool agent_users_are_own(const struct agent_pod *p)
{
    return p->spec->host_users == 0;
}

const char *agent_users_path(const struct agent_pod *p, struct arena *a)
{
    return p->users_base ? arena_printf(a, "%s/user", p->dir) : NULL;
}

/* ---------------------------------------------------------------- ids */

/* The index of the range of a pod's directory; 0: it has none, or no valid one. */
static size_t read_range(const char *pods_dir, const char *uid)
{
    scoped(free_scoped) char *path = xasprintf("%s/%s/users", pods_dir, uid);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(TEXT_MAX);
    uint64_t base;
    if (sys_read_file(AT_FDCWD, path, &text, NULL) < 0 ||
        parse_u64(str_trim(buf_str(&text)), 0, UINT32_MAX, &base) < 0 ||
        base % AGENT_USERS_RANGE != 0 || base / AGENT_USERS_RANGE > RANGES_MAX)
        return 0;
    return (size_t)(base / AGENT_USERS_RANGE);
}

/* Also of pods that are gone and whose files are still there. */
static size_t find_free(const char *pods_dir)
{
    bool is_used[RANGES_MAX + 1] = { true }; /* the first are the users of the machine */
    size_t i = 1;
    DIR *d = opendir(pods_dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] != '.')
            is_used[read_range(pods_dir, e->d_name)] = true;
    }
    if (d)
        (void)closedir(d);
    while (i <= RANGES_MAX && is_used[i])
        i++;
    return i <= RANGES_MAX ? i : 0;
}

static int write_range(const char *dir, uint32_t base, struct err *err)
{
    char text[TEXT_MAX];
    scoped(free_scoped) char *path = xasprintf("%s/users", dir);
    int n = snprintf(text, sizeof text, "%u\n", base);
    return sys_write_file_atomic(AT_FDCWD, path, str_n(text, (size_t)n), 0600, err);
}

/* crun 1.8 looks for the user namespace of a mount at a process that has not joined it yet, or has
 * ended, when the container joins a PID namespace. */
static int check_sharing(const struct agent_pod *p, struct err *err)
{
    char found[32] = "of an unknown version";
    int version = container_host_crun_version(p->agent->containers);
    if (version >= SHARING_CRUN)
        return 0;
    if (version > 0)
        (void)snprintf(found, sizeof found, "%d.%d", version / 1000, version % 1000);
    return err_set(err, E_UNSUPPORTED,
                   "hostUsers: false and shareProcessNamespace: true together need crun %d.%d or "
                   "later, and that of this machine is %s",
                   SHARING_CRUN / 1000, SHARING_CRUN % 1000, found);
}

int agent_users_claim(struct agent_pod *p, struct err *err)
{
    if (!container_host_is_crun(p->agent->containers))
        return err_set(err, E_UNSUPPORTED, "pods with hostUsers: false need crun");
    if (p->spec->shares_processes && check_sharing(p, err) < 0)
        return E_UNSUPPORTED;
    size_t i = read_range(p->agent->pods_dir, p->uid);
    bool is_new = i == 0;
    if (is_new)
        i = find_free(p->agent->pods_dir);
    if (i == 0)
        return err_set(err, E_LIMIT, "all %d ranges of user ids are in use", RANGES_MAX);
    uint32_t base = (uint32_t)i * AGENT_USERS_RANGE;
    int r = sys_mkdir_all(p->agent->roots_dir, 0711, err);
    r = r < 0 || !is_new ? r : write_range(p->dir, base, err);
    if (r >= 0)
        p->users_base = base;
    return r;
}

/* ---------------------------------------------------------------- root file systems */

char *agent_users_root(const struct agent *a, const char *id)
{
    return xasprintf("%s/%s", a->roots_dir, id);
}

static bool is_known(const struct agent *a, const char *id)
{
    list_each (node, &a->left) {
        if (strcmp(list_entry(node, struct agent_run, node)->id, id) == 0)
            return true;
    }
    map_each (e, &a->pods) {
        const struct agent_pod *p = e->value;
        list_each (node, &p->runs) {
            if (strcmp(list_entry(node, struct agent_run, node)->id, id) == 0)
                return true;
        }
    }
    return false;
}

/* a: whose runs stay; NULL: none */
static void unmount(const char *roots_dir, const struct agent *a)
{
    DIR *d = opendir(roots_dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] == '.' || (a && is_known(a, e->d_name)))
            continue;
        scoped(free_scoped) char *path = xasprintf("%s/%s", roots_dir, e->d_name);
        while (umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
            ;
        (void)rmdir(path);
    }
    if (d)
        (void)closedir(d);
}

void agent_users_unmount(const char *roots_dir)
{
    unmount(roots_dir, NULL);
}

void agent_users_sweep(const struct agent *a)
{
    unmount(a->roots_dir, a);
}

/* ---------------------------------------------------------------- the namespace */

struct users_making {
    struct job job;
    char *dir;
    uint32_t base;
    int r;
    struct err err;
    void (*done)(void *arg, int r, const struct err *err);
    void *arg;
};

/* Volumes and images are mapped, too; most are in this file system, and later errors name theirs.
 */
static int check_mapping(const char *user, const char *dir, struct err *err)
{
    scoped(fd_scoped) int tree = user_namespace_map_mount(user, dir, err);
    return tree < 0 ? tree : 0;
}

static void work(struct job *j)
{
    struct users_making *m = container_of(j, struct users_making, job);
    scoped(free_scoped) char *path = xasprintf("%s/user", m->dir);
    m->r = user_namespace_make(path, m->base, AGENT_USERS_RANGE, &m->err);
    if (m->r >= 0)
        m->r = check_mapping(path, m->dir, &m->err);
}

static void done(struct job *j, int r)
{
    struct users_making *m = container_of(j, struct users_making, job);
    m->done(m->arg, r < 0 ? r : m->r, &m->err);
    free(m->dir);
    free(m);
}

void agent_users_make(struct loop *loop, const char *dir, uint32_t base,
                      void (*cb)(void *arg, int r, const struct err *err), void *arg)
{
    struct users_making *m = xnew(struct users_making);
    *m = (struct users_making){ .job = { .work = work, .done = done },
                                .dir = xstrdup(dir),
                                .base = base,
                                .done = cb,
                                .arg = arg };
    int r = job_start(loop, &m->job);
    assert(r == 0);
    (void)r;
}
