/* SPDX-License-Identifier: Apache-2.0 */
#include "image/run.h"

#include "base/str.h"
#include "base/sys.h"
#include "base/tree_remove.h"
#include "image/root.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WALK_FDS = 64 };

#define MARK "run-"

int run_enter_namespace(struct err *err)
{
    if (unshare(CLONE_NEWNS) < 0)
        return err_sys(err, -errno, "make a mount namespace");
    if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
        return err_sys(err, -errno, "keep mounts to this process");
    return 0;
}

/* ---- places ---- */

static void set_paths(struct run_place *p, const char *runs, const char *id)
{
    (void)snprintf(p->id, sizeof p->id, "%s", id);
    p->runs = xstrdup(runs);
    p->dir = xasprintf("%s/%s", runs, id);
    p->target = xasprintf("%s/root", p->dir);
    p->state = xasprintf("%s/state", p->dir);
}

static void place_fini(struct run_place *p)
{
    free(p->runs);
    free(p->dir);
    free(p->target);
    free(p->state);
    fd_scoped(&p->lock_fd);
    *p = (struct run_place){ .lock_fd = -1 };
}

/* Remove the data of the mount, then the directory. */
static int clear(const struct run_place *p, uint64_t lock_ms, struct err *err)
{
    int r = access(p->state, F_OK) == 0 ? root_umount(p->state, p->target, lock_ms, err) : 0;
    return r < 0 ? r : tree_remove(AT_FDCWD, p->dir, err);
}

int run_place_remove(struct run_place *p, uint64_t lock_ms, struct err *err)
{
    int r = clear(p, lock_ms, err);
    place_fini(p);
    return r;
}

/* Those of killed processes. What cannot be removed now is left for the next run. */
static void clear_stale(const char *runs, uint64_t lock_ms)
{
    scoped(tree_names_fini_scoped) struct tree_names names = { 0 };
    scoped(fd_scoped) int dir = sys_openat(AT_FDCWD, runs, O_RDONLY | O_DIRECTORY, 0);
    if (dir < 0 || tree_names_read(dir, &names, NULL) < 0)
        return;
    for (size_t i = 0; i < names.all.n; i++) {
        struct run_place p = { .lock_fd = -1 };
        const char *id = names.all.p[i];
        if (!str_has_prefix(str_of(id), STR(MARK)) || strlen(id) >= sizeof p.id)
            continue;
        set_paths(&p, runs, id);
        p.lock_fd = sys_openat(dir, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
        if (p.lock_fd >= 0 && flock(p.lock_fd, LOCK_EX | LOCK_NB) == 0)
            (void)clear(&p, lock_ms, NULL);
        place_fini(&p);
    }
}

/* Another process takes a directory for a stale one before it is locked: then -EAGAIN. */
static int make_place(const char *runs, struct run_place *p, struct err *err)
{
    char id[RUN_ID_SIZE];
    struct stat st;
    (void)snprintf(id, sizeof id, MARK "%016llx", (unsigned long long)sys_random_u64());
    set_paths(p, runs, id);
    if (mkdir(p->dir, 0700) < 0)
        return err_sys(err, -errno, "make '%s'", p->dir);
    p->lock_fd = sys_openat(AT_FDCWD, p->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (p->lock_fd < 0 || flock(p->lock_fd, LOCK_EX | LOCK_NB) < 0 || stat(p->dir, &st) < 0)
        return err_set(err, -EAGAIN, "'%s' was removed", p->dir);
    if (mkdir(p->target, 0700) < 0)
        return err_sys(err, -errno, "make '%s'", p->target);
    return 0;
}

int run_place_new(const char *runs, uint64_t lock_ms, struct run_place *ret, struct err *err)
{
    enum { TURNS_MAX = 100 };
    int r = sys_mkdir_all(runs, 0700, err);
    if (r < 0)
        return r;
    clear_stale(runs, lock_ms);
    for (unsigned turn = 1;; turn++) {
        struct run_place p = { .lock_fd = -1 };
        r = make_place(runs, &p, err);
        if (r >= 0)
            *ret = p;
        else
            place_fini(&p);
        if (r != -EAGAIN || turn == TURNS_MAX)
            return r;
    }
}

/* ---- devices ---- */

static int remove_device(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)at;
    if (kind == FTW_NS || kind == FTW_DNR)
        return -1;
    return S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode) ? unlink(path) : 0;
}

int run_place_remove_devices(const struct run_place *p, struct err *err)
{
    errno = 0; /* not FTW_MOUNT: files of an overlay have other devices than its directories */
    if (nftw(p->target, remove_device, WALK_FDS, FTW_PHYS) != 0)
        return err_sys(err, errno ? -errno : -EIO, "remove the devices of the image");
    return 0;
}
