/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mounts of one container.
 *
 * A sub path is looked up with every step below the volume, bound by its descriptor to a file or
 * directory that only the agent can write to, and the container gets that one: links that a
 * container exchanges between the look-up and the start of another one have no effect
 * (CVE-2017-1002101, CVE-2021-25741).
 */
#include "agent/volume/host_path.h"
#include "agent/volume/mount.h"
#include "agent/volume/volume_impl.h"
#include "base/log.h"
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct want { /* of one mount; strings in the arena of the work */
    const char *source;
    const char *sub_path;   /* NULL: none */
    const char *target_dir; /* below the pod's directory: "volume-subpaths/VOLUME/CONTAINER" */
    char name[16];          /* in it */
    bool is_made_here;      /* a directory of the host that is made if it is missing */
};

struct mounts {
    struct volume_work work;
    const char *pod_dir, *container;
    struct want *wants;
    struct volume_mount *list;
    size_t n;
    int r;
    struct err err;
    bool without_mounts;
    volume_mounts_cb cb;
    void *arg;
};

/* ---------------------------------------------------------------- on the thread */

static int make_parent(const char *pod_dir, const char *target_dir)
{
    scoped(fd_scoped) int pod = sys_openat(AT_FDCWD, pod_dir, O_PATH | O_DIRECTORY, 0);
    if (pod < 0)
        return pod;
    int r = volume_tree_make(pod, target_dir, 0750);
    return r < 0 ? r : volume_tree_open(pod, target_dir, O_RDONLY | O_DIRECTORY);
}

static bool is_same(int a, int b)
{
    struct stat x, y;
    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* An empty directory or file, whatever kind the file has that is bound to it. */
static int make_point(int dir_fd, const char *name, int source_fd)
{
    struct stat st;
    if (fstat(source_fd, &st) < 0)
        return -errno;
    if (S_ISDIR(st.st_mode))
        return sys_mkdirat(dir_fd, name, 0750);
    scoped(fd_scoped) int fd = sys_openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL, 0640);
    return fd < 0 ? fd : 0;
}

/* Bind source_fd to target_dir/name; what an earlier container has left there is used again if it
 * is the same file, else ended. */
static int bind_point(const struct mounts *m, const struct want *w, int source_fd, struct err *err)
{
    scoped(free_scoped) char *path = xasprintf("%s/%s/%s", m->pod_dir, w->target_dir, w->name);
    scoped(fd_scoped) int dir = make_parent(m->pod_dir, w->target_dir);
    if (dir < 0)
        return err_sys(err, dir, "make '%s'", w->target_dir);
    scoped(fd_scoped) int old = openat(dir, w->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    bool was_bound = old >= 0 && volume_mount_is_root(old);
    if (was_bound && is_same(old, source_fd))
        return 0;
    int r = was_bound ? volume_mount_end(path, err) : 0;
    if (r >= 0)
        r = volume_tree_remove(dir, w->name, err);
    if (r < 0)
        return r;
    r = make_point(dir, w->name, source_fd);
    return r < 0 ? err_sys(err, r, "make '%s'", path) : volume_mount_bind(source_fd, path, err);
}

/* A directory that is missing gets the permissions of the volume's, as upstream. */
static int make_sub_path(int base, const char *sub_path)
{
    struct stat st;
    if (fstat(base, &st) < 0)
        return -errno;
    return volume_tree_make(base, sub_path, st.st_mode & 07777);
}

static int bind_sub_path(const struct mounts *m, const struct want *w, bool *is_making,
                         struct err *err)
{
    if (m->without_mounts)
        return err_set(err, E_UNSUPPORTED, "sub paths need the right to mount");
    scoped(fd_scoped) int base = sys_openat(AT_FDCWD, w->source, O_PATH | O_DIRECTORY, 0);
    if (base < 0)
        return err_sys(err, base, "open '%s'", w->source);
    int fd = volume_tree_open(base, w->sub_path, O_PATH);
    if (fd == -ENOENT) {
        *is_making = true;
        int r = make_sub_path(base, w->sub_path);
        *is_making = r < 0;
        fd = r < 0 ? r : volume_tree_open(base, w->sub_path, O_PATH);
    }
    if (fd < 0)
        return err_sys(err, fd, "open sub path '%s' of '%s'", w->sub_path, w->source);
    int r = bind_point(m, w, fd, err);
    (void)close(fd);
    return r;
}

/* The text for users leaves out what it says about the host's files; the log has it. */
static int sub_path_failed(struct mounts *m, size_t i, int r, bool is_making, const struct err *err)
{
    log_warn("sub path of a volume cannot be used", "container=%s volume=" STR_FMT " reason=\"%s\"",
             m->container, STR_ARG(m->list[i].volume), err_text(err));
    return err_set(&m->err, r, "failed to %s for volumeMount \"" STR_FMT "\" of container \"%s\"",
                   is_making ? "create subPath directory" : "prepare subPath",
                   STR_ARG(m->list[i].volume), m->container);
}

static int run_one(struct mounts *m, size_t i)
{
    const struct want *w = &m->wants[i];
    struct err err = { 0 };
    bool is_making = false;
    if (w->is_made_here && access(w->source, F_OK) < 0 && errno == ENOENT) {
        int r = sys_mkdir_all(w->source, 0755, &m->err);
        if (r < 0)
            return r;
    }
    if (!w->sub_path)
        return 0;
    int r = bind_sub_path(m, w, &is_making, &err);
    return r < 0 ? sub_path_failed(m, i, r, is_making, &err) : 0;
}

static void run_mounts(struct volume_work *work)
{
    struct mounts *m = container_of(work, struct mounts, work);
    for (size_t i = 0; i < m->n && m->r >= 0; i++)
        m->r = run_one(m, i);
}

static void on_mounted(struct volume_work *work, bool was_run)
{
    struct mounts *m = container_of(work, struct mounts, work);
    if (!was_run)
        m->r = err_set(&m->err, -ECANCELED, "the pod ends");
    m->cb(m->arg, MIN(m->r, 0), m->r < 0 ? NULL : m->list, m->r < 0 ? 0 : m->n, &m->err);
    arena_fini(&m->work.arena);
    free(m);
}

/* ---------------------------------------------------------------- on the loop */

static const struct volume_slot *find_slot(const struct volume_pod *p, struct str name)
{
    for (size_t i = 0; i < p->n_slots; i++) {
        if (str_is(name, p->slots[i].name) && p->slots[i].v && p->slots[i].source)
            return &p->slots[i];
    }
    return NULL;
}

static int check_sub_path(struct str path, struct err *err)
{
    struct str rest = path, name;
    if (path.p[0] == '/')
        return err_set(err, E_INVALID, "error SubPath `" STR_FMT "` must not be an absolute path",
                       STR_ARG(path));
    while (rest.n) {
        (void)str_cut(rest, '/', &name, &rest);
        if (str_is(name, ".."))
            return err_set(err, E_INVALID,
                           "unable to provision SubPath `" STR_FMT "`: must not contain '..'",
                           STR_ARG(path));
    }
    return path.n >= VOLUME_PATH_MAX || memchr(path.p, 0, path.n)
               ? err_set(err, E_INVALID, "the sub path is too long or has a NUL byte")
               : 0;
}

static int read_propagation(struct str text, enum volume_propagation *ret, struct err *err)
{
    if (!text.n || str_is(text, "None"))
        *ret = VOLUME_PRIVATE;
    else if (str_is(text, "HostToContainer"))
        *ret = VOLUME_FROM_HOST;
    else if (str_is(text, "Bidirectional"))
        *ret = VOLUME_BIDIRECTIONAL;
    else
        return err_set(err, E_INVALID, "invalid MountPropagation mode: \"" STR_FMT "\"",
                       STR_ARG(text));
    return 0;
}

/* A sub path of nothing but "." and "/" is the volume itself. */
static bool is_whole(struct str path)
{
    for (size_t i = 0; i < path.n; i++) {
        if (path.p[i] != '/' && path.p[i] != '.')
            return false;
    }
    return true;
}

static int plan_sub_path(struct mounts *m, const struct pod_container *c, size_t i,
                         const struct pod_environment *env, struct err *err)
{
    struct arena *a = &m->work.arena;
    const struct pod_mount *mount = &c->mounts[i];
    struct str path = mount->sub_path;
    struct want *w = &m->wants[i];
    int r = mount->sub_path_expr.n ? pod_env_expand_strict(a, env, mount->sub_path_expr, &path, err)
                                   : 0;
    if (r < 0 || !path.n)
        return r;
    r = check_sub_path(path, err);
    if (r < 0 || is_whole(path))
        return r;
    w->sub_path = str_dup_arena(a, path);
    w->target_dir = arena_printf(a, "volume-subpaths/" STR_FMT "/" STR_FMT, STR_ARG(mount->name),
                                 STR_ARG(c->name));
    (void)snprintf(w->name, sizeof w->name, "%zu", i);
    m->list[i].source = str_of(arena_printf(a, "%s/%s/%s", m->pod_dir, w->target_dir, w->name));
    return 0;
}

static int plan_mount(struct volume_pod *p, struct mounts *m, const struct pod_container *c,
                      size_t i, const struct pod_environment *env, struct err *err)
{
    struct arena *a = &m->work.arena;
    const struct pod_mount *mount = &c->mounts[i];
    const struct volume_slot *s = find_slot(p, mount->name);
    struct volume_mount *to = &m->list[i];
    if (!s)
        return err_set(err, E_INVALID,
                       "cannot find volume \"" STR_FMT "\" to mount into container \"" STR_FMT "\"",
                       STR_ARG(mount->name), STR_ARG(c->name));
    *to = (struct volume_mount){ .volume = str_copy_arena(a, mount->name),
                                 .kind = s->v->kind,
                                 .source = str_copy_arena(a, str_of(s->source)),
                                 .is_read_only = mount->is_read_only || s->is_read_only };
    to->target = str_of(arena_printf(
        a, "%s" STR_FMT, str_has_prefix(mount->path, STR("/")) ? "" : "/", STR_ARG(mount->path)));
    to->is_recursive_read_only = to->is_read_only && mount->recursive_read_only.n &&
                                 !str_is(mount->recursive_read_only, "Disabled");
    m->wants[i].source = to->source.p;
    m->wants[i].is_made_here = !s->is_made && s->v->kind != POD_VOLUME_IMAGE && !s->v->type.n;
    int r = read_propagation(mount->propagation, &to->propagation, err);
    return r < 0 ? r : plan_sub_path(m, c, i, env, err);
}

static bool is_container_name(struct str s)
{
    return s.n > 0 && s.n <= 128 && s.p[0] != '.' && str_find_char(s, '/') < 0;
}

int volume_mounts_start(struct volume_pod *p, const struct pod_container *c,
                        const struct pod_environment *env, volume_mounts_cb cb, void *arg,
                        struct err *err)
{
    int r = 0;
    if (p->at != VOLUME_POD_READY)
        return err_set(err, -EAGAIN, "the volumes are not ready");
    if (!is_container_name(c->name))
        return err_set(err, E_INVALID, "container name '" STR_FMT "' is not valid",
                       STR_ARG(c->name));
    struct mounts *m = xnew(struct mounts);
    struct arena *a = &m->work.arena;
    m->work.run = run_mounts;
    m->work.done = on_mounted;
    m->cb = cb;
    m->arg = arg;
    m->without_mounts = p->host->without_mounts;
    m->pod_dir = str_dup_arena(a, str_of(p->dir));
    m->container = str_dup_arena(a, c->name);
    m->n = c->n_mounts;
    m->list = arena_new_n(a, struct volume_mount, m->n);
    m->wants = arena_new_n(a, struct want, m->n);
    for (size_t i = 0; i < m->n && r >= 0; i++)
        r = plan_mount(p, m, c, i, env, err);
    if (r >= 0) {
        volume_pod_enqueue(p, &m->work);
        return 0;
    }
    arena_fini(&m->work.arena);
    free(m);
    return r;
}
