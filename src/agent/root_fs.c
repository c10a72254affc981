/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/root_fs.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/tree_remove.h"
#include "container/user_namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

struct agent_root_fs {
    struct job job;
    struct loop *loop;
    char *image_root, *dir, *user_text, *user_namespace, *place;
    uint32_t users_base;
    bool finds_user, is_forgotten;
    struct container_user user;
    int r;
    struct err err;
    void (*done)(void *arg, int r, const struct container_user *user, const struct err *err);
    void *arg;
};

/* ---------------------------------------------------------------- what is there */

/* All mounts there; fine if there is none. */
static int unmount(const char *target, struct err *err)
{
    int r;
    do
        r = umount2(target, MNT_DETACH | UMOUNT_NOFOLLOW) < 0 ? -errno : 0;
    while (r == 0);
    return r == -EINVAL || r == -ENOENT ? 0 : err_sys(err, r, "unmount %s", target);
}

/* Unmount and remove the directory and the place; fine if there is none. */
static int remove_dir(const char *dir, const char *place, struct err *err)
{
    scoped(free_scoped) char *target = xasprintf("%s/root", dir);
    scoped(free_scoped) char *lower = xasprintf("%s/lower", dir);
    int r = unmount(lower, err); /* of a process that was killed */
    r = r < 0 ? r : unmount(target, err);
    r = r < 0 || !place ? r : unmount(place, err);
    if (r >= 0 && place && rmdir(place) < 0 && errno != ENOENT)
        return err_sys(err, -errno, "remove %s", place);
    return r < 0 || access(dir, F_OK) < 0 ? r : tree_remove(AT_FDCWD, dir, err);
}
/* ---------------------------------------------------------------- making */

static int make_dir(const char *base, const char *name, int *ret_fd, struct err *err)
{
    scoped(free_scoped) char *path = xasprintf("%s/%s", base, name);
    if (mkdir(path, 0755) < 0 && errno != EEXIST)
        return err_sys(err, -errno, "mkdir %s", path);
    *ret_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return *ret_fd < 0 ? err_sys(err, -errno, "open %s", path) : 0;
}

/* Directories by descriptors: their paths may have any characters. */
static int mount_overlay_at(const char *target, int lower, int upper, int work, struct err *err)
{
    char options[160];
    (void)snprintf(
        options, sizeof options,
        "lowerdir=/proc/self/fd/%d,upperdir=/proc/self/fd/%d,workdir=/proc/self/fd/%d,volatile",
        lower, upper, work);
    if (mount("overlay", target, "overlay", 0, options) == 0)
        return 0;
    *strrchr(options, ',') = '\0'; /* before Linux 5.10 */
    if (mount("overlay", target, "overlay", 0, options) == 0)
        return 0;
    return err_sys(err, -errno, "mount the container's root file system");
}

static int find_user(struct agent_root_fs *f, int image_fd)
{
    return container_user_find(image_fd, str_of(f->user_text), &f->user, &f->err);
}

/* A kernel before 6.15 takes only mounts that have a place as layers. */
static int mount_mapped_lower(struct agent_root_fs *f, const char *target, int *ret_fd)
{
    scoped(fd_scoped) int place = -1;
    scoped(fd_scoped) int tree =
        user_namespace_map_mount(f->user_namespace, f->image_root, &f->err);
    int r = tree < 0 ? tree : make_dir(f->dir, "lower", &place, &f->err);
    if (r < 0)
        return r;
    if (move_mount(tree, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH) < 0)
        return err_sys(&f->err, -errno, "mount %s", target);
    *ret_fd = open(target, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return *ret_fd < 0 ? err_sys(&f->err, -errno, "open %s", target) : 0;
}

/* What the container writes belongs to its users on disk, and its root may write at the top. */
static int mount_mapped(struct agent_root_fs *f, const char *target, int upper, int work)
{
    scoped(free_scoped) char *lower_path = xasprintf("%s/lower", f->dir);
    scoped(fd_scoped) int lower = -1;
    if (fchownat(upper, "", f->users_base, f->users_base, AT_EMPTY_PATH) < 0)
        return err_sys(&f->err, -errno, "change the owner of %s/upper", f->dir);
    int r = mount_mapped_lower(f, lower_path, &lower);
    r = r < 0 ? r : mount_overlay_at(target, lower, upper, work, &f->err);
    (void)umount2(lower_path, MNT_DETACH | UMOUNT_NOFOLLOW); /* the overlay has its own */
    return r;
}

static int make(struct agent_root_fs *f)
{
    scoped(fd_scoped) int lower = open(f->image_root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    scoped(fd_scoped) int upper = -1;
    scoped(fd_scoped) int work = -1;
    scoped(fd_scoped) int root = -1;
    scoped(free_scoped) char *target = f->place ? xstrdup(f->place) : xasprintf("%s/root", f->dir);
    if (lower < 0)
        return err_sys(&f->err, -errno, "open %s", f->image_root);
    int r = f->finds_user ? find_user(f, lower) : 0;
    r = r < 0 ? r
              : remove_dir(f->dir, f->place,
                           &f->err); /* of a process that was killed at this point */
    r = r < 0 ? r : sys_mkdir_all(f->dir, 0750, &f->err);
    r = r < 0 ? r : make_dir(f->dir, "upper", &upper, &f->err);
    r = r < 0 ? r : make_dir(f->dir, "work", &work, &f->err);
    if (r >= 0 && f->place && mkdir(f->place, 0700) < 0)
        r = err_sys(&f->err, -errno, "mkdir %s", f->place);
    else if (!f->place)
        r = r < 0 ? r : make_dir(f->dir, "root", &root, &f->err);
    if (r < 0)
        return r;
    return f->user_namespace ? mount_mapped(f, target, upper, work)
                             : mount_overlay_at(target, lower, upper, work, &f->err);
}

static void work_make(struct job *j)
{
    struct agent_root_fs *f = container_of(j, struct agent_root_fs, job);
    f->r = make(f);
}

static void free_root_fs(struct agent_root_fs *f)
{
    free(f->image_root);
    free(f->dir);
    free(f->user_text);
    free(f->user_namespace);
    free(f->place);
    free(f);
}

static void done_make(struct job *j, int r)
{
    struct agent_root_fs *f = container_of(j, struct agent_root_fs, job);
    if (!f->is_forgotten)
        f->done(f->arg, f->r, &f->user, &f->err);
    free_root_fs(f);
}

struct agent_root_fs *agent_root_fs_make(const struct agent_root_fs_opts *opts)
{
    struct agent_root_fs *f = xnew(struct agent_root_fs);
    *f = (struct agent_root_fs){ .job = { .work = work_make, .done = done_make },
                                 .loop = opts->loop,
                                 .image_root = xstrdup(opts->image_root),
                                 .dir = xstrdup(opts->dir),
                                 .user_text = xstrdup(opts->user),
                                 .finds_user = opts->finds_user,
                                 .user_namespace =
                                     opts->user_namespace ? xstrdup(opts->user_namespace) : NULL,
                                 .users_base = opts->users_base,
                                 .place = opts->place ? xstrdup(opts->place) : NULL,
                                 .done = opts->done,
                                 .arg = opts->arg };
    int r = job_start(opts->loop, &f->job);
    assert(r == 0);
    (void)r;
    return f;
}

void agent_root_fs_forget(struct agent_root_fs *f)
{
    f->is_forgotten = true;
}

/* ---------------------------------------------------------------- removing */

struct root_fs_removal {
    struct job job;
    char *dir, *place;
    void (*done)(void *arg);
    void *arg;
};

static void work_remove(struct job *j)
{
    struct root_fs_removal *r = container_of(j, struct root_fs_removal, job);
    struct err err = { 0 };
    if (remove_dir(r->dir, r->place, &err) < 0)
        log_warn("the files of a container stay", "error=\"%s\"", err_text(&err));
}

static void done_remove(struct job *j, int code)
{
    struct root_fs_removal *r = container_of(j, struct root_fs_removal, job);
    if (r->done)
        r->done(r->arg);
    free(r->dir);
    free(r->place);
    free(r);
}

void agent_root_fs_remove(struct loop *loop, const char *dir, const char *place,
                          void (*done)(void *arg), void *arg)
{
    struct root_fs_removal *r = xnew(struct root_fs_removal);
    *r = (struct root_fs_removal){ .job = { .work = work_remove, .done = done_remove },
                                   .dir = xstrdup(dir),
                                   .place = place ? xstrdup(place) : NULL,
                                   .done = done,
                                   .arg = arg };
    int code = job_start(loop, &r->job);
    assert(code == 0);
    (void)code;
}
