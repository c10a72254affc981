/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making volumes ready. The loop plans: what each volume needs, with copies of all that the thread
 * works with. The thread carries the tasks out. The loop takes the results.
 */
#include "agent/volume/host_path.h"
#include "agent/volume/mount.h"
#include "agent/volume/volume_impl.h"
#include "base/sys.h"
#include "base/vec.h"
#include "kube/model/quantity.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FILES_TMPFS_BYTES = 4 * VOLUME_PAYLOAD_MAX, /* old and new files, and directories */
    DIR_MODE = 0750
};

enum task_kind { TASK_EMPTY_DIR, TASK_FILES, TASK_HOST_PATH, TASK_CLAIM };

struct task {
    size_t slot;
    enum task_kind kind;
    /* Copies in the arena of the work. */
    const char *root; /* of the host */
    const char *dir;  /* below it: UID/volumes/KIND */
    const char *name;
    const char *source; /* HOST_PATH, CLAIM: the path */
    struct str type;
    bool is_in_memory;
    uint64_t size_bytes;
    struct volume_files files;
    uint8_t digest[SHA256_BYTES], stamp[SHA256_BYTES];
    bool has_ownership, only_on_mismatch;
    struct volume_ownership ownership;
    int r;
    struct err err;
};

struct prepare {
    struct volume_work work;
    const char *root, *pod_dir; /* UID/volumes; NULL: it is there */
    int r;                      /* of making it */
    struct err err;
    VEC(struct task) tasks;
};

const char *volume_kind_dir(enum pod_volume_kind kind)
{
    switch (kind) {
    case POD_VOLUME_EMPTY_DIR:
        return "kubernetes.io~empty-dir";
    case POD_VOLUME_CONFIG_MAP:
        return "kubernetes.io~configmap";
    case POD_VOLUME_SECRET:
        return "kubernetes.io~secret";
    case POD_VOLUME_PROJECTED:
        return "kubernetes.io~projected";
    case POD_VOLUME_DOWNWARD_API:
        return "kubernetes.io~downward-api";
    case POD_VOLUME_UNKNOWN:
    case POD_VOLUME_HOST_PATH:
    case POD_VOLUME_CLAIM:
    case POD_VOLUME_IMAGE:
    case POD_VOLUME_EPHEMERAL:
        break;
    }
    return NULL;
}

/* ---------------------------------------------------------------- plan: directories */

static void set_ownership(const struct volume_pod *p, bool is_read_only, struct task *t)
{
    t->has_ownership = p->spec->security.fs_group >= 0;
    t->ownership = (struct volume_ownership){ .gid = (gid_t)MAX(p->spec->security.fs_group, 0),
                                              .is_read_only = is_read_only };
    t->only_on_mismatch = str_is(p->spec->security.fs_group_change_policy, "OnRootMismatch");
}

/* Names that the thread needs to find the volume's directory. */
static void set_dir(const struct volume_pod *p, const struct volume_slot *s, struct arena *a,
                    struct task *t)
{
    t->root = arena_strndup(a, p->host->root, strlen(p->host->root));
    t->dir = arena_printf(a, "%s/volumes/%s", p->uid, volume_kind_dir(s->v->kind));
    t->name = arena_strndup(a, s->name, strlen(s->name));
}

/* The smallest of the volume's limit, the pod's memory and the node's. */
static int memory_size(const struct volume_pod *p, const struct pod_volume *v, uint64_t *ret,
                       struct err *err)
{
    struct quantity q;
    struct pod_cgroup group;
    int64_t size = MAX(p->facts->allocatable.memory_bytes, 0);
    int r = pod_cgroup_of_pod(p->spec, &group, err);
    if (r >= 0 && group.memory_bytes > 0)
        size = size ? MIN(size, group.memory_bytes) : group.memory_bytes;
    if (r >= 0 && v->size_limit.n && (r = quantity_parse(v->size_limit, &q, err)) >= 0 &&
        quantity_value(q) > 0)
        size = size ? MIN(size, quantity_value(q)) : quantity_value(q);
    if (r < 0)
        return r;
    *ret = (uint64_t)size;
    return 0;
}

/* Plans return 1: *t is to be done; 0: nothing is; or an error. */
static int plan_empty_dir(struct volume_pod *p, struct volume_slot *s, struct arena *a,
                          struct task *t)
{
    if (s->is_ready)
        return 0;
    if (s->v->medium.n && !s->v->in_memory)
        return err_set(&s->problem, E_UNSUPPORTED, "unknown storage medium \"" STR_FMT "\"",
                       STR_ARG(s->v->medium));
    int r = s->v->in_memory ? memory_size(p, s->v, &t->size_bytes, &s->problem) : 0;
    if (r < 0)
        return r;
    t->kind = TASK_EMPTY_DIR;
    t->is_in_memory = s->v->in_memory && !p->host->without_mounts;
    set_dir(p, s, a, t);
    set_ownership(p, false, t);
    return 1;
}

/* ---------------------------------------------------------------- plan: files */

static void hash_number(struct sha256 *h, uint64_t v)
{
    sha256_add(h, &v, sizeof v);
}

static void hash_files(const struct task *t, uint8_t ret[SHA256_BYTES])
{
    scoped(sha256_free_scoped) struct sha256 *h = sha256_new();
    for (size_t i = 0; i < t->files.n; i++) {
        const struct volume_file *f = &t->files.p[i];
        hash_number(h, f->path.n);
        sha256_add(h, f->path.p, f->path.n);
        hash_number(h, f->bytes.n);
        sha256_add(h, f->bytes.p, f->bytes.n);
        hash_number(h, f->mode);
        hash_number(h, (uint64_t)f->uid);
    }
    sha256_end(h, ret);
}

static struct str ticket_text(void *arg, size_t i)
{
    return volume_ticket_text(arg, i);
}

static int plan_files(struct volume_pod *p, struct volume_slot *s, struct arena *a, struct task *t)
{
    const struct volume_payload_input in = { .pod = p->spec,
                                             .facts = p->facts,
                                             .objects = &p->host->objects,
                                             .token = ticket_text,
                                             .arg = s };
    volume_tickets_run(p, s);
    bool has_stamp = volume_slot_stamp(p, s, t->stamp);
    if (has_stamp && s->is_ready && memcmp(t->stamp, s->stamp, sizeof t->stamp) == 0 &&
        !volume_tickets_problem(s))
        return 0;
    int r = volume_files_make(a, &in, s->v, &t->files, &s->problem);
    if (r < 0)
        return r;
    const struct err *problem = volume_tickets_problem(s);
    if (problem)
        s->problem = *problem;
    if (t->files.lacks_token)
        return problem ? problem->code : 0;
    hash_files(t, t->digest);
    if (s->is_ready && memcmp(t->digest, s->digest, sizeof t->digest) == 0) {
        memcpy(s->stamp, t->stamp, sizeof s->stamp);
        return 0;
    }
    t->kind = TASK_FILES;
    t->is_in_memory = s->v->kind != POD_VOLUME_CONFIG_MAP && !p->host->without_mounts;
    t->size_bytes = FILES_TMPFS_BYTES;
    set_dir(p, s, a, t);
    set_ownership(p, true, t);
    return 1;
}

/* ---------------------------------------------------------------- plan: what is there already */

static void set_source(struct volume_slot *s, struct str path)
{
    free(s->source);
    s->source = str_dup(path);
}

static int plan_host_path(struct volume_pod *p, struct volume_slot *s, struct arena *a,
                          struct task *t)
{
    if (s->is_ready)
        return 0;
    set_source(s, s->v->path);
    t->kind = TASK_HOST_PATH;
    t->source = str_dup_arena(a, s->v->path);
    t->type = str_copy_arena(a, s->v->type);
    return 1;
}

/* A group is set once, by the first pod that uses the directory. */
static bool is_used_by_another(const struct volume_pod *p, const char *source)
{
    map_each (e, &p->host->pods) {
        const struct volume_pod *other = e->value;
        for (size_t i = 0; other != p && i < other->n_slots; i++) {
            const struct volume_slot *s = &other->slots[i];
            if (s->is_ready && !s->is_made && s->source && strcmp(s->source, source) == 0)
                return true;
        }
    }
    return false;
}

static int plan_claim(struct volume_pod *p, struct volume_slot *s, struct arena *a, struct task *t)
{
    const struct volume_supply *supply = p->host->supply;
    struct volume_claim claim = { 0 };
    struct str name = s->v->kind == POD_VOLUME_EPHEMERAL
                          ? str_of(arena_printf(a, STR_FMT "-%s", STR_ARG(p->spec->name), s->name))
                          : s->v->claim;
    if (s->is_ready)
        return 0;
    if (!supply || !supply->claim)
        return err_set(&s->problem, E_UNSUPPORTED, "persistent volumes are not supported");
    int r = supply->claim(p->host->supply_arg, p->spec, name, &claim, &s->problem);
    if (r < 0)
        return r;
    set_source(s, claim.path);
    s->is_read_only = claim.is_read_only || s->v->is_read_only;
    t->kind = TASK_CLAIM;
    t->source = str_dup_arena(a, claim.path);
    t->type = claim.is_local ? STR("Directory") : str_copy_arena(a, claim.type);
    if (claim.is_local && !s->is_read_only && !is_used_by_another(p, s->source))
        set_ownership(p, false, t);
    return 1;
}

static int plan_image(struct volume_pod *p, struct volume_slot *s)
{
    const struct volume_supply *supply = p->host->supply;
    struct str path;
    if (s->is_ready)
        return 0;
    if (!supply || !supply->image)
        return err_set(&s->problem, E_UNSUPPORTED, "image volumes are not supported");
    int r = supply->image(p->host->supply_arg, p->spec, s->v, &path, &s->problem);
    if (r < 0)
        return r;
    set_source(s, path);
    s->is_ready = true;
    return 0;
}

/* ---------------------------------------------------------------- plan: all volumes */

static int plan_slot(struct volume_pod *p, struct volume_slot *s, struct arena *a, struct task *t)
{
    s->problem = (struct err){ 0 };
    if (!s->v)
        return err_set(&s->problem, E_INVALID, "the volume is not in the pod any more");
    switch (s->v->kind) {
    case POD_VOLUME_EMPTY_DIR:
        return plan_empty_dir(p, s, a, t);
    case POD_VOLUME_CONFIG_MAP:
    case POD_VOLUME_SECRET:
    case POD_VOLUME_PROJECTED:
    case POD_VOLUME_DOWNWARD_API:
        return plan_files(p, s, a, t);
    case POD_VOLUME_HOST_PATH:
        return plan_host_path(p, s, a, t);
    case POD_VOLUME_CLAIM:
    case POD_VOLUME_EPHEMERAL:
        return plan_claim(p, s, a, t);
    case POD_VOLUME_IMAGE:
        return plan_image(p, s);
    case POD_VOLUME_UNKNOWN:
        break;
    }
    return err_set(&s->problem, E_UNSUPPORTED, "no volume plugin matched: " STR_FMT,
                   STR_ARG(s->v->kind_name));
}

static void run_prepare(struct volume_work *w);
static void on_prepared(struct volume_work *w, bool was_run);

static void free_prepare(struct prepare *f)
{
    vec_fini(&f->tasks);
    arena_fini(&f->work.arena);
    free(f);
}

/* A supplier or a reader may fail with a code alone. */
static void keep_code(struct volume_slot *s, int r)
{
    if (r < 0 && !s->problem.code)
        (void)err_set(&s->problem, r, "%s", err_strerror(r));
}

struct volume_work *volume_prepare_plan(struct volume_pod *p)
{
    struct prepare *f = xnew(struct prepare);
    f->work.run = run_prepare;
    f->work.done = on_prepared;
    if (!p->has_dir) {
        f->root = str_dup_arena(&f->work.arena, str_of(p->host->root));
        f->pod_dir = arena_printf(&f->work.arena, "%s/volumes", p->uid);
    }
    for (size_t i = 0; i < p->n_slots; i++) {
        struct task t = { .slot = i };
        int r = plan_slot(p, &p->slots[i], &f->work.arena, &t);
        keep_code(&p->slots[i], r);
        if (r > 0)
            vec_push(&f->tasks, t);
    }
    if (f->tasks.n || f->pod_dir)
        return &f->work;
    free_prepare(f);
    return NULL;
}

/* ---------------------------------------------------------------- on the thread */

/* Make a directory below the host's; returns a descriptor. */
static int open_dir(const char *root_path, const char *dir, struct err *err)
{
    scoped(fd_scoped) int root = sys_openat(AT_FDCWD, root_path, O_PATH | O_DIRECTORY, 0);
    int r = root < 0 ? root : volume_tree_make(root, dir, DIR_MODE);
    int fd = r < 0 ? r : volume_tree_open(root, dir, O_RDONLY | O_DIRECTORY);
    return fd < 0 ? err_sys(err, fd, "make '%s/%s'", root_path, dir) : fd;
}

/* The path of the volume for mount(2). */
static char *full_path(const struct task *t)
{
    return xasprintf("%s/%s/%s", t->root, t->dir, t->name);
}

/* A directory with its final mode and group, which appears by rename(2): a crash leaves none that
 * is half made. */
static int make_final(const struct task *t, int dir_fd, mode_t mode, struct err *err)
{
    scoped(free_scoped) char *new_name = xasprintf("..new.%s", t->name);
    int r = volume_tree_remove(dir_fd, new_name, err);
    if (r < 0)
        return r;
    r = sys_mkdirat(dir_fd, new_name, 0700);
    scoped(fd_scoped) int fd = r < 0 ? r : volume_tree_open_child(dir_fd, new_name);
    r = fd < 0 ? fd : fchmod(fd, mode) < 0 ? -errno : 0;
    if (r >= 0 && t->has_ownership)
        r = volume_tree_own(fd, &t->ownership);
    if (r >= 0)
        r = sys_renameat(dir_fd, new_name, dir_fd, t->name);
    return r < 0 ? err_sys(err, r, "make '%s/%s'", t->dir, t->name) : 0;
}

static bool is_mounted(int dir_fd, const char *name)
{
    scoped(fd_scoped) int fd = openat(dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    return fd >= 0 && volume_mount_is_root(fd) && volume_mount_is_tmpfs(fd);
}

/* The directory of the volume, made or mounted if it is not yet. */
static int make_volume(const struct task *t, int dir_fd, struct err *err)
{
    struct stat st;
    if (fstatat(dir_fd, t->name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
        int r = errno == ENOENT ? make_final(t, dir_fd, 0777, err)
                                : err_sys(err, -errno, "find '%s'", t->name);
        if (r < 0)
            return r;
    }
    if (!t->is_in_memory || is_mounted(dir_fd, t->name))
        return 0;
    scoped(free_scoped) char *path = full_path(t);
    mode_t mode = 01777 | S_IFDIR;
    return volume_mount_tmpfs(
        path, t->size_bytes,
        (t->has_ownership ? volume_ownership_mode(&t->ownership, mode) : mode) & 07777,
        t->has_ownership ? (int64_t)t->ownership.gid : -1, err);
}

static int run_empty_dir(struct task *t)
{
    scoped(fd_scoped) int dir = open_dir(t->root, t->dir, &t->err);
    return dir < 0 ? dir : make_volume(t, dir, &t->err);
}

static int run_files(struct task *t)
{
    const struct volume_payload payload = { .files = t->files.p,
                                            .n = t->files.n,
                                            .ownership = t->has_ownership ? &t->ownership : NULL };
    scoped(fd_scoped) int dir = open_dir(t->root, t->dir, &t->err);
    int r = dir < 0 ? dir : make_volume(t, dir, &t->err);
    if (r < 0)
        return r;
    scoped(fd_scoped) int fd =
        openat(dir, t->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return err_sys(&t->err, -errno, "open '%s'", t->name);
    return volume_writer_write(fd, &payload, &t->err);
}

static int run_claim(struct task *t)
{
    int r = volume_host_path_check(t->source, t->type, &t->err);
    if (r < 0 || !t->has_ownership)
        return r;
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, t->source, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return err_sys(&t->err, fd, "open '%s'", t->source);
    if (t->only_on_mismatch && volume_tree_is_owned(fd, &t->ownership))
        return 0;
    return volume_tree_own_all(fd, &t->ownership, &t->err);
}

static int run_task(struct task *t)
{
    switch (t->kind) {
    case TASK_EMPTY_DIR:
        return run_empty_dir(t);
    case TASK_FILES:
        return run_files(t);
    case TASK_HOST_PATH:
        return volume_host_path_check(t->source, t->type, &t->err);
    case TASK_CLAIM:
        return run_claim(t);
    }
    return -EINVAL;
}

static void run_prepare(struct volume_work *w)
{
    struct prepare *f = container_of(w, struct prepare, work);
    scoped(fd_scoped) int dir = f->pod_dir ? open_dir(f->root, f->pod_dir, &f->err) : -1;
    f->r = f->pod_dir ? dir : 0;
    vec_each (t, &f->tasks)
        t->r = run_task(t);
}

/* ---------------------------------------------------------------- the results */

static void on_prepared(struct volume_work *w, bool was_run)
{
    struct prepare *f = container_of(w, struct prepare, work);
    vec_each (t, &f->tasks) {
        struct volume_slot *s = &w->pod->slots[t->slot];
        if (t->r < 0) {
            s->problem = t->err;
            keep_code(s, t->r);
            continue;
        }
        s->is_ready = true;
        memcpy(s->digest, t->digest, sizeof s->digest);
        memcpy(s->stamp, t->stamp, sizeof s->stamp);
    }
    w->pod->has_dir = w->pod->has_dir || f->r >= 0;
    w->pod->dir_problem = f->err;
    w->pod->is_unsettled = true;
    free_prepare(f);
}
