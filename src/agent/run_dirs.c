/* SPDX-License-Identifier: Apache-2.0 */
/*
 *     FIND --none left--> (freed)
 *      | ^
 *      | `------------- REMOVE
 *      v                  ^
 *     NETWORKS -----------'
 *
 * FIND and REMOVE are jobs; the networks of a data directory are removed by network.h, from the
 * loop. The lock is held from FIND to the end of REMOVE.
 */
#include "agent/run_dirs.h"

#include "agent/agent_impl.h"
#include "agent/users.h"
#include "agent/volume/tree.h"
#include "base/log.h"
#include "base/sys.h"
#include "container/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define RUN    "/run"
#define PREFIX "dormouse-agent-"
#define OWNER  "owner"

enum { CLAIM_TRIES = 10, HASH_CHARS = 16 };

struct agent_sweep {
    struct job job;
    struct agent *agent;
    struct container_cgroups cgroups; /* those of the agent's host, which may be gone before */
    VEC(char *) hashes;               /* of data directories */
    bool is_listed;
    size_t next, n_removed;
    const char *current; /* of hashes; NULL: none is left */
    int lock;            /* of the current one, or -1 */
    struct pod_networks *networks;
};

/* ---------------------------------------------------------------- the file */

static int lock(int fd, int how)
{
    int r;
    do
        r = flock(fd, how) < 0 ? -errno : 0;
    while (r == -EINTR);
    return r;
}

/* -ESTALE: it is removed meanwhile. */
static int open_owner(const char *run_dir, int *ret_fd, struct err *err)
{
    scoped(free_scoped) char *path = xasprintf("%s/" OWNER, run_dir);
    struct stat st;
    int r = sys_mkdir_all(run_dir, 0700, err);
    if (r < 0)
        return r;
    scoped(fd_scoped) int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno == ENOENT ? -ESTALE : err_sys(err, -errno, "open '%s'", path);
    r = lock(fd, LOCK_SH);
    if (r < 0)
        return err_sys(err, r, "lock '%s'", path);
    if (fstat(fd, &st) < 0 || st.st_nlink == 0)
        return -ESTALE;
    *ret_fd = take_fd(&fd);
    return 0;
}

int agent_run_dir_claim(const char *run_dir, const char *data_dir, int *ret_fd, struct err *err)
{
    scoped(free_scoped) char *real = realpath(data_dir, NULL);
    struct str path = str_of(real ? real : data_dir);
    scoped(fd_scoped) int fd = -1;
    int r = -ESTALE;
    for (int i = 0; r == -ESTALE && i < CLAIM_TRIES; i++)
        r = open_owner(run_dir, &fd, err);
    if (r == -ESTALE)
        return err_sys(err, r, "'%s' is being removed", run_dir);
    if (r < 0)
        return r;
    if (pwrite(fd, path.p, path.n, 0) != (ssize_t)path.n || ftruncate(fd, (off_t)path.n) < 0)
        return err_sys(err, errno ? -errno : -EIO, "write '%s/" OWNER "'", run_dir);
    *ret_fd = take_fd(&fd);
    return 0;
}

/* ---------------------------------------------------------------- which to remove */

/* A file that was cut short, or does not belong to this directory, names no data directory. */
static bool is_owner(const char *run_dir, const char *data_dir)
{
    scoped(free_scoped) char *named = container_host_run_dir("agent", data_dir);
    return data_dir[0] == '/' && strcmp(named, run_dir) == 0;
}

static bool is_gone(const char *data_dir)
{
    struct stat st;
    return stat(data_dir, &st) < 0 && (errno == ENOENT || errno == ENOTDIR);
}

/* A descriptor with the lock of one whose data directory is gone and where nothing runs; else a
 * negative code. */
static int lock_gone(const struct agent_sweep *s, const char *hash)
{
    scoped(free_scoped) char *run_dir = xasprintf(RUN "/" PREFIX "%s", hash);
    scoped(free_scoped) char *path = xasprintf("%s/" OWNER, run_dir);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(AGENT_PATH_MAX);
    scoped(fd_scoped) int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    int r = fd < 0 ? -errno : lock(fd, LOCK_EX | LOCK_NB);
    r = r < 0 ? r : sys_read_file(AT_FDCWD, path, &text, NULL);
    if (r < 0)
        return r;
    if (text.n == 0 || !is_owner(run_dir, text.p) || !is_gone(text.p))
        return -EEXIST;
    r = container_host_remove_groups(&s->cgroups, hash);
    return r < 0 ? r : take_fd(&fd);
}

static void list_hashes(struct agent_sweep *s)
{
    DIR *dir = opendir(RUN);
    struct dirent *e;
    while (dir && s->hashes.n < AGENT_RUN_DIRS_MAX && (e = readdir(dir))) {
        struct str name = str_of(e->d_name);
        if (str_has_prefix(name, STR(PREFIX)) && name.n == strlen(PREFIX) + HASH_CHARS)
            vec_push(&s->hashes, xstrdup(e->d_name + strlen(PREFIX)));
    }
    if (dir)
        (void)closedir(dir);
    s->is_listed = true;
}

static void work_find(struct job *j)
{
    struct agent_sweep *s = container_of(j, struct agent_sweep, job);
    if (!s->is_listed)
        list_hashes(s);
    s->current = NULL;
    while (!s->current && s->next < s->hashes.n) {
        const char *hash = s->hashes.p[s->next++];
        s->lock = lock_gone(s, hash);
        if (s->lock >= 0)
            s->current = hash;
    }
}

/* ---------------------------------------------------------------- removal */

/* The file that names the data directory is the last, so that a later start finds the rest. */
static int remove_own(int run_fd, const char *name, struct err *err)
{
    DIR *dir = fdopendir(volume_tree_open_child(run_fd, name));
    int r = dir ? 0 : err_sys(err, -errno, "open '" RUN "/%s'", name);
    struct dirent *e;
    while (r == 0 && (e = readdir(dir))) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            strcmp(e->d_name, OWNER) != 0)
            r = volume_tree_remove(dirfd(dir), e->d_name, err);
    }
    if (dir)
        (void)closedir(dir);
    return r < 0 ? r : volume_tree_remove(run_fd, name, err);
}

static int remove_all(const char *hash, struct err *err)
{
    scoped(free_scoped) char *roots = xasprintf("dormouse-roots-%s", hash);
    scoped(free_scoped) char *pods = xasprintf("dormouse-pod-%s", hash);
    scoped(free_scoped) char *own = xasprintf(PREFIX "%s", hash);
    scoped(free_scoped) char *roots_dir = xasprintf(RUN "/%s", roots);
    scoped(fd_scoped) int fd = open(RUN, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(err, -errno, "open '" RUN "'");
    agent_users_unmount(roots_dir);
    int r = volume_tree_remove(fd, roots, err);
    r = r < 0 ? r : volume_tree_remove(fd, pods, err);
    return r < 0 ? r : remove_own(fd, own, err);
}

static void work_remove(struct job *j)
{
    struct agent_sweep *s = container_of(j, struct agent_sweep, job);
    struct err err = { 0 };
    if (remove_all(s->current, &err) < 0)
        log_warn("what is left of a data directory that is gone stays",
                 "dir=" RUN "/" PREFIX "%s error=\"%s\"", s->current, err_text(&err));
    else
        s->n_removed++;
}

static void find_next(struct agent_sweep *s);

static void close_lock(struct agent_sweep *s)
{
    if (s->lock >= 0)
        (void)close(s->lock);
    s->lock = -1;
}

static void on_removed(struct job *j, int r)
{
    struct agent_sweep *s = container_of(j, struct agent_sweep, job);
    close_lock(s);
    find_next(s);
}

static void on_networks_closed(void *arg)
{
    struct agent_sweep *s = arg;
    s->networks = NULL;
    s->job = (struct job){ .work = work_remove, .done = on_removed };
    int r = job_start(s->agent->loop, &s->job);
    assert(r == 0);
    (void)r;
}

static void on_collected(void *arg)
{
    struct agent_sweep *s = arg;
    pod_networks_close(s->networks, on_networks_closed, s);
}

/* ---------------------------------------------------------------- one after the other */

static void finish(struct agent_sweep *s)
{
    struct agent *a = s->agent;
    log_debug("data directories were looked at", "n=%zu", s->next);
    if (s->n_removed > 0)
        log_info("what was left of data directories that are gone was removed", "n=%zu",
                 s->n_removed);
    close_lock(s);
    vec_each (hash, &s->hashes)
        free(*hash);
    vec_fini(&s->hashes);
    free(s);
    a->sweep = NULL;
    if (a->is_stopping)
        agent_part_stopped(a);
}

static void on_found(struct job *j, int r)
{
    struct agent_sweep *s = container_of(j, struct agent_sweep, job);
    struct err err = { 0 };
    if (!s->current || s->agent->is_stopping) {
        finish(s);
        return;
    }
    scoped(free_scoped) char *dir = xasprintf(RUN "/" PREFIX "%s/network", s->current);
    const struct pod_networks_opts opts = { .loop = s->agent->loop, .state_dir = dir };
    if (pod_networks_new(&opts, NULL, 0, &s->networks, &err) == 0) {
        pod_networks_collect(s->networks, on_collected, s);
        return;
    }
    log_warn("networks of a data directory that is gone stay", "dir=%s error=\"%s\"", dir,
             err_text(&err));
    close_lock(s);
    find_next(s);
}

static void find_next(struct agent_sweep *s)
{
    s->job = (struct job){ .work = work_find, .done = on_found };
    int r = job_start(s->agent->loop, &s->job);
    assert(r == 0);
    (void)r;
}

void agent_run_dirs_sweep(struct agent *a)
{
    assert(!a->sweep);
    a->sweep = xnew(struct agent_sweep);
    *a->sweep = (struct agent_sweep){ .agent = a,
                                      .cgroups = *container_host_cgroups(a->containers),
                                      .lock = -1 };
    find_next(a->sweep);
}
