/* SPDX-License-Identifier: Apache-2.0 */
#include "image/root.h"

#include "base/sys.h"
#include "base/tree_remove.h"
#include "image/erofs.h"
#include "image/layer_tar.h"
#include "image/linked_dir.h"
#include "image/store_do.h"
#include "image/stored_layers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_SIZE = 24, STORE_PATH_MAX = 4096, LAYERS_FILE_MAX = 128 << 10 };

/* ---- tarfs: the files of a state ---- */

struct tars {
    struct layer_tar_result *layers;
    struct erofs_layer *with;
    uint64_t *device_bytes;
    size_t n_layers, n_devices;
    struct oci_tree tree;
};

static void tars_fini(struct tars *t)
{
    oci_tree_fini(&t->tree);
    for (size_t i = 0; t->layers && i < t->n_layers; i++)
        oci_layer_free(t->layers[i].layer);
    free(t->layers);
    free(t->with);
    free(t->device_bytes);
}

static int open_new(int dir, size_t i, const char *what, struct err *err)
{
    char name[NAME_SIZE];
    (void)snprintf(name, sizeof name, "%zu.%s", i, what);
    int fd = sys_openat(dir, name, O_RDWR | O_CREAT | O_EXCL, 0600);
    return fd < 0 ? err_sys(err, fd, "make '%s'", name) : fd;
}

static int write_tar(const struct unpack_from *from, size_t i, int dir,
                     const struct unpack_opts *opts, struct tars *to, struct err *err)
{
    char name[NAME_SIZE];
    scoped(fd_scoped) int tar = open_new(dir, i, "tar", err);
    scoped(fd_scoped) int sparse = tar < 0 ? -1 : open_new(dir, i, "sparse", err);
    if (tar < 0 || sparse < 0)
        return err ? err->code : -EIO;
    struct layer_tar_result *one = &to->layers[i];
    scoped(layer_tar_free_scoped) struct layer_tar *t = layer_tar_new(tar, sparse);
    int r = unpack_layer(from, i, opts, &layer_tar_ops, t, err);
    r = r < 0 ? r : layer_tar_end(t, one, err);
    if (r < 0)
        return r;
    /* For data on the disk. */
    if (memcmp(one->layer->diff_id, from->image->config.diff_ids[i].bytes, SHA256_BYTES) != 0)
        return err_set(err, E_DIGEST, "layer %zu is not what its DiffID says", i);
    to->device_bytes[to->n_devices++] = one->tar_bytes;
    to->with[i] = (struct erofs_layer){ .layer = one->layer, .device = (uint16_t)to->n_devices };
    if (one->sparse_bytes) {
        to->device_bytes[to->n_devices++] = one->sparse_bytes;
        to->with[i].sparse_device = (uint16_t)to->n_devices;
    } else {
        (void)snprintf(name, sizeof name, "%zu.sparse", i);
        (void)unlinkat(dir, name, 0);
    }
    r = oci_tree_apply(&to->tree, one->layer, err);
    return r < 0 ? err_ctx(err, r, "layer %zu", i) : 0;
}

static int write_metadata(const struct tars *t, const struct oci_image *image, int dir,
                          struct err *err)
{
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(EROFS_IMAGE_MAX);
    struct erofs_counts counts;
    struct erofs_image e = {
        .tree = &t->tree,
        .layers = t->with,
        .n_layers = t->n_layers,
        .device_bytes = t->device_bytes,
        .n_devices = t->n_devices,
    };
    memcpy(e.uuid, image->digest.bytes, sizeof e.uuid);
    int r = erofs_write(&e, &out, &counts, err);
    if (r < 0)
        return r;
    scoped(fd_scoped) int fd = sys_openat(dir, "meta.erofs", O_WRONLY | O_CREAT | O_EXCL, 0600);
    r = fd < 0 ? fd : sys_write_all(fd, out.p, out.n);
    return r < 0 ? err_sys(err, r, "write 'meta.erofs'") : 0;
}

static int write_tarfs(const struct unpack_from *from, int dir, const struct unpack_opts *opts,
                       struct err *err)
{
    struct tars t = { .n_layers = from->image->manifest.n_layers };
    t.layers = xnew_n(struct layer_tar_result, t.n_layers);
    t.with = xnew_n(struct erofs_layer, t.n_layers);
    t.device_bytes = xnew_n(uint64_t, 2 * t.n_layers);
    oci_tree_init(&t.tree, opts->dir.symlink_parent);
    int r = 0;
    for (size_t i = 0; i < t.n_layers && r >= 0; i++)
        r = write_tar(from, i, dir, opts, &t, err);
    r = r < 0 ? r : write_metadata(&t, from->image, dir, err);
    if (r >= 0 && mkdirat(dir, "lower", 0700) < 0)
        r = err_sys(err, -errno, "make 'lower'");
    tars_fini(&t);
    return r;
}

/* ---- dirs: the files of a state ---- */

static int write_dirs(const struct unpack_from *from, const struct unpack_stage *stage,
                      const struct unpack_opts *opts, struct err *err)
{
    struct layer_dir_counts ignored;
    if (mkdirat(stage->root, "fs", 0700) < 0)
        return err_sys(err, -errno, "make 'fs'");
    scoped(fd_scoped) int fs = sys_openat(stage->root, "fs", O_RDONLY | O_DIRECTORY, 0);
    return fs < 0 ? err_sys(err, fs, "open 'fs'")
                  : unpack_into(from, fs, stage->gone, opts, &ignored, err);
}

/* ---- mounting ---- */

/* The lower directories, top first, and the content of their files, if that is elsewhere. */
struct below {
    const int *fds;
    size_t n;
    int data_fd; /* -1: they have their content */
};

static int open_in(int dir, const char *name, int flags, struct err *err)
{
    int fd = sys_openat(dir, name, flags | O_NOFOLLOW, 0);
    return fd < 0 ? err_sys(err, fd, "open '%s'", name) : fd;
}

/* The devices of `meta.erofs`, in the order in which write_tar() numbered them. */
static int open_devices(int state, size_t n_layers, int *fds, size_t *n, struct err *err)
{
    static const char *const kinds[] = { "tar", "sparse" };
    for (size_t i = 0; i < 2 * n_layers; i++) {
        char name[NAME_SIZE];
        (void)snprintf(name, sizeof name, "%zu.%s", i / 2, kinds[i % 2]);
        int fd = sys_openat(state, name, O_RDONLY | O_NOFOLLOW, 0);
        if (fd == -ENOENT && i % 2)
            continue;
        if (fd < 0)
            return err_sys(err, fd, "open '%s'", name);
        fds[(*n)++] = fd;
    }
    return 0;
}

static int mount_tarfs(int state, size_t n_layers, const char *target,
                       const struct mount_opts *opts, struct err *err)
{
    scoped(fd_scoped) int image = open_in(state, "meta.erofs", O_RDONLY, err);
    size_t n = 0;
    if (image < 0)
        return image;
    scoped(free_scoped) int *fds = xnew_n(int, 2 * n_layers);
    int r = open_devices(state, n_layers, fds, &n, err);
    r = r < 0 ? r : mount_erofs(image, fds, n, target, opts, err);
    for (size_t i = 0; i < n; i++)
        (void)close(fds[i]);
    return r;
}

static int make_upper(int state, struct err *err)
{
    return mkdirat(state, "upper", 0755) < 0 || mkdirat(state, "work", 0700) < 0
               ? err_sys(err, -errno, "make 'upper'")
               : 0;
}

/* The root of the upper directory is what the mount shows as its root: as in the lower one. */
static int copy_root(int lower, int upper, struct err *err)
{
    struct stat st;
    if (fstat(lower, &st) < 0)
        return err_sys(err, -errno, "stat the root");
    if (geteuid() == 0 && fchown(upper, st.st_uid, st.st_gid) < 0)
        return err_sys(err, -errno, "set the owner of the root");
    const struct timespec times[2] = { st.st_atim, st.st_mtim };
    if (fchmod(upper, st.st_mode & 07777) < 0 || futimens(upper, times) < 0)
        return err_sys(err, -errno, "set the mode of the root");
    return 0;
}

static int mount_over(int state, const struct below *below, const char *target,
                      const struct root_opts *opts, const struct mount_opts *how, struct err *err)
{
    struct mount_overlay o = { .lower_fds = below->fds,
                               .n_lowers = below->n,
                               .data_fds = &below->data_fd,
                               .n_data = below->data_fd >= 0,
                               .upper_fd = -1,
                               .work_fd = -1 };
    if (!opts->is_writable)
        return mount_overlay(&o, target, how, err);
    int r = make_upper(state, err);
    if (r < 0)
        return r;
    scoped(fd_scoped) int upper = open_in(state, "upper", O_RDONLY | O_DIRECTORY, err);
    scoped(fd_scoped) int work = open_in(state, "work", O_RDONLY | O_DIRECTORY, err);
    if (upper < 0 || work < 0)
        return err ? err->code : -EIO;
    o.upper_fd = upper;
    o.work_fd = work;
    o.is_volatile = true;
    o.is_user = opts->unpack.dir.form == LAYER_DIR_OVERLAY_USER;
    r = copy_root(below->fds[0], upper, err);
    return r < 0 ? r : mount_overlay(&o, target, how, err);
}

int root_mount_over(const char *state, int lower_fd, int data_fd, const char *target,
                    const struct root_opts *opts, struct err *err)
{
    const struct mount_opts how = { .is_read_only = !opts->is_writable,
                                    .has_suid = opts->has_suid };
    const struct below below = { &lower_fd, 1, data_fd };
    scoped(fd_scoped) int dir = sys_openat(AT_FDCWD, state, O_RDONLY | O_DIRECTORY, 0);
    return dir < 0 ? err_sys(err, dir, "open '%s'", state)
                   : mount_over(dir, &below, target, opts, &how, err);
}

/* data_fd: as in struct below. */
static int mount_over_lower(const char *state, const char *name, int data_fd, const char *target,
                            const struct root_opts *opts, const struct mount_opts *how,
                            struct err *err)
{
    scoped(fd_scoped) int dir = sys_openat(AT_FDCWD, state, O_RDONLY | O_DIRECTORY, 0);
    if (dir < 0)
        return err_sys(err, dir, "open '%s'", state);
    scoped(fd_scoped) int lower = open_in(dir, name, O_RDONLY | O_DIRECTORY, err);
    const struct below below = { &lower, 1, data_fd };
    return lower < 0 ? lower : mount_over(dir, &below, target, opts, how, err);
}

static int mount_state(const char *state, size_t n_layers, enum root_sink sink, const char *target,
                       const struct root_opts *opts, struct err *err)
{
    const struct mount_opts how = { .is_read_only = !opts->is_writable,
                                    .has_suid = opts->has_suid };
    scoped(fd_scoped) int dir = sys_openat(AT_FDCWD, state, O_RDONLY | O_DIRECTORY, 0);
    if (dir < 0)
        return err_sys(err, dir, "open '%s'", state);
    if (sink == ROOT_SINK_TARFS && !opts->is_writable)
        return mount_tarfs(dir, n_layers, target, &how, err);
    if (sink == ROOT_SINK_TARFS) {
        scoped(free_scoped) char *at = xasprintf("%s/lower", state);
        int r = mount_tarfs(dir, n_layers, at, &how, err);
        if (r < 0)
            return r;
    }
    return mount_over_lower(state, sink == ROOT_SINK_TARFS ? "lower" : "fs", -1, target, opts, &how,
                            err);
}

static int write_state(const struct unpack_from *from, const char *state,
                       const struct root_opts *opts, enum root_sink *sink, struct err *err)
{
    struct unpack_stage stage;
    if (opts->sink == ROOT_SINK_CAS || opts->sink == ROOT_SINK_LAYERS)
        return err_set(err, E_UNSUPPORTED, "this kernel mounts no layers of the node store so");
    int r = unpack_stage_init(&stage, state, err);
    if (r < 0)
        return r;
    *sink = opts->sink != ROOT_SINK_BEST  ? opts->sink
            : mount_can_erofs(stage.gone) ? ROOT_SINK_TARFS
                                          : ROOT_SINK_DIRS;
    r = *sink == ROOT_SINK_TARFS ? write_tarfs(from, stage.root, &opts->unpack, err)
                                 : write_dirs(from, &stage, &opts->unpack, err);
    r = r < 0 ? r : unpack_stage_commit(&stage, !opts->unpack.is_not_durable, err);
    unpack_stage_fini(&stage);
    return r;
}

/* ---- the lease of an image of the store ---- */

/* A file name that no other state has: of an existing one, whatever way leads to it. Given, free().
 */
static char *use_of(const char *state)
{
    uint8_t hash[SHA256_BYTES];
    char hex[SHA256_HEX_SIZE];
    scoped(free_scoped) char *real = realpath(state, NULL);
    sha256_of(str_of(real ? real : state), hash);
    hex_format(hash, sizeof hash, hex);
    return xstrdup(hex);
}

/* The id of the lease. Given, free(). */
static char *lease_of(const char *state)
{
    scoped(free_scoped) char *use = use_of(state);
    return xasprintf("mount:%s", use);
}

static bool has(const char *state, const char *name)
{
    scoped(free_scoped) char *path = xasprintf("%s/%s", state, name);
    return access(path, F_OK) == 0;
}

/* The store that a state names. */
struct root_place {
    struct oci_store *store; /* NULL: none, it was removed, or another process writes it */
    char *asked;             /* instead: root of a store whose process accepts jobs */
    uint64_t lock_ms;
};

static void place_fini(struct root_place *p)
{
    oci_store_close(p->store);
    free(p->asked);
}

/* Of layers that are mounted one by one the uses are ended by the process that writes the store. */
static bool can_ask(const char *state, const char *root)
{
    struct oci_store_holder holder;
    oci_store_holder(root, &holder);
    return holder.has_control && !has(state, "layers") && !has(state, "fs");
}

/* place_fini() follows, also after an error. */
static int place_open(const char *state, uint64_t lock_ms, struct root_place *ret, struct err *err)
{
    scoped(free_scoped) char *name = xasprintf("%s/store", state);
    scoped(buf_fini_scoped) struct buf root = BUF_INIT(STORE_PATH_MAX);
    *ret = (struct root_place){ .lock_ms = lock_ms };
    if (access(name, F_OK) < 0)
        return 0;
    int r = sys_read_file(AT_FDCWD, name, &root, err);
    if (r < 0 || access(buf_cstr(&root), F_OK) < 0)
        return r;
    const struct oci_store_opts opts = { .root = buf_cstr(&root),
                                         .lock_ms = lock_ms,
                                         .is_hasty = !has(state, "layers"),
                                         .must_exist = true };
    struct err why = { 0 };
    r = oci_store_open(&opts, &ret->store, &why);
    if (r == -EBUSY && can_ask(state, opts.root)) {
        ret->asked = xstrdup(opts.root);
        return 0;
    }
    if (r == -EBUSY && has(state, "layers"))
        return err_set(err, r, "%s; layers that are mounted one by one are left when it has ended",
                       err_text(&why));
    return r < 0 && r != -ENOENT ? err_set(err, r, "%s", err_text(&why)) : 0;
}

static int ask_to_drop(const struct root_place *p, const char *lease, struct err *err)
{
    struct arena a = { 0 };
    struct json *ignored;
    struct store_do d = {
        .opts = { .root = p->asked, .lock_ms = p->lock_ms, .must_exist = true },
        .job = { .kind = STORE_JOB_UNMOUNT, .lease = str_of(lease) },
    };
    int r = store_do(&d, &a, &ignored, err);
    arena_fini(&a);
    return r;
}

static int drop_lease(const struct root_place *p, const char *state, struct err *err)
{
    scoped(free_scoped) char *id = lease_of(state);
    struct err why = { 0 };
    int r = p->asked   ? ask_to_drop(p, id, &why)
            : p->store ? oci_store_lease_drop(p->store, str_of(id), &why)
                       : 0;
    return r < 0 && r != -ENOENT ? err_set(err, r, "%s", err_text(&why)) : 0;
}

/* ---- removing ---- */

/* Release the layers that the state lists, if they were mounted one by one. */
static void release_layers(struct oci_store *store, const char *state)
{
    scoped(free_scoped) char *name = xasprintf("%s/layers", state), *use = use_of(state);
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(LAYERS_FILE_MAX);
    struct str rest, line;
    if (!store || sys_read_file(AT_FDCWD, name, &b, NULL) < 0)
        return;
    for (rest = buf_str(&b); str_cut(rest, '\n', &line, &rest);) {
        struct oci_digest d;
        if (hex_parse(line, d.bytes, sizeof d.bytes))
            stored_layers_release(store, &d, 1, use);
    }
}

/* The lease is dropped after the mounts, and before the state that names it. */
static int remove_state(const struct root_place *p, const char *state, struct err *err)
{
    static const char *const points[] = { "lower", "data" };
    int r = 0;
    for (size_t i = 0; i < ARRAY_LEN(points) && r >= 0; i++) {
        scoped(free_scoped) char *at = xasprintf("%s/%s", state, points[i]);
        r = mount_is_point(at) ? mount_remove(at, err) : 0;
    }
    if (r >= 0)
        release_layers(p->store, state);
    r = r < 0 ? r : drop_lease(p, state, err);
    bool has_links = p->store && has(state, "fs");
    size_t n;
    uint64_t n_bytes;
    r = r < 0 ? r : tree_remove(AT_FDCWD, state, err);
    return r < 0 || !has_links ? r : linked_dir_sweep(p->store, false, &n, &n_bytes, err);
}

int root_umount(const char *state, const char *target, uint64_t lock_ms, struct err *err)
{
    struct root_place place;
    struct err why = { 0 };
    if (access(state, F_OK) < 0)
        return errno == ENOENT ? err_set(err, -ENOENT, "'%s' is no image that is mounted", target)
                               : err_sys(err, -errno, "look at the state of '%s'", target);
    int r = place_open(state, lock_ms, &place, &why);
    if (r == -EBUSY && has(state, "fs"))
        r = 0; /* it has no lease, and gc finds its links */
    if (r < 0)
        (void)err_set(err, r, "%s", err_text(&why));
    else if (mount_is_point(target))
        r = mount_remove(target, err);
    r = r < 0 ? r : remove_state(&place, state, err);
    place_fini(&place);
    return r;
}

int root_clear(const char *state, const char *target, uint64_t lock_ms, struct err *err)
{
    if (mount_is_point(target))
        return err_set(err, -EBUSY, "something is mounted at '%s'", target);
    return access(state, F_OK) < 0 ? 0 : root_umount(state, target, lock_ms, err);
}

/* ---- the whole ---- */

int root_mount(const struct unpack_from *from, const char *state, const char *target,
               const struct root_opts *opts, enum root_sink *ret, struct err *err)
{
    enum root_sink sink;
    int r = root_clear(state, target, 0, err);
    r = r < 0 ? r : write_state(from, state, opts, &sink, err);
    if (r < 0)
        return r;
    r = mount_state(state, from->image->manifest.n_layers, sink, target, opts, err);
    if (r < 0) {
        (void)remove_state(&(struct root_place){ 0 }, state, NULL);
        return r;
    }
    *ret = sink;
    return 0;
}

static int write_unsynced(int dir, const char *name, struct str content, struct err *err)
{
    scoped(fd_scoped) int fd = sys_openat(dir, name, O_WRONLY | O_CREAT | O_EXCL, 0600);
    int r = fd < 0 ? fd : sys_write_all(fd, content.p, content.n);
    return r < 0 ? err_sys(err, r, "write '%s'", name) : 0;
}

static int write_layers(const struct stored *s, int dir, struct err *err)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(LAYERS_FILE_MAX);
    for (size_t i = 0; i < s->image->config.n_diff_ids; i++) {
        char hex[SHA256_HEX_SIZE];
        hex_format(s->image->config.diff_ids[i].bytes, SHA256_BYTES, hex);
        (void)buf_printf(&b, "%s\n", hex);
    }
    return buf_ok(&b) ? write_unsynced(dir, "layers", buf_str(&b), err)
                      : err_sys(err, b.failed, "layers");
}

static int write_store_path(const char *store_root, int dir, struct err *err)
{
    scoped(free_scoped) char *root = realpath(store_root, NULL);
    return root ? write_unsynced(dir, "store", str_of(root), err)
                : err_sys(err, -errno, "'%s'", store_root);
}

/* A retry is allowed: it replaces the leftovers of the last one. */
int root_lease_as(const char *store_root, const char *state, char **ret_lease, struct err *err)
{
    scoped(free_scoped) char *root = realpath(store_root, NULL);
    if (!root)
        return err_sys(err, -errno, "'%s'", store_root);
    scoped(fd_scoped) int dir = sys_openat(AT_FDCWD, state, O_RDONLY | O_DIRECTORY, 0);
    int r = dir < 0 ? err_sys(err, dir, "open '%s'", state)
                    : sys_write_file_atomic(dir, "store", str_of(root), 0600, err);
    if (r >= 0)
        *ret_lease = lease_of(state);
    return r;
}

int root_lease(struct oci_store *store, const struct oci_digest *manifest, const char *state,
               struct err *err)
{
    scoped(free_scoped) char *id = NULL;
    int r = root_lease_as(oci_store_root(store), state, &id, err);
    return r < 0 ? r : oci_store_lease(store, str_of(id), manifest, true, err);
}

/* A state directory that names the store, and layers_of, if that is not NULL. A crash of the
 * machine ends its lease: nothing is synced. */
static int write_stored_state(const char *store_root, const char *state,
                              const struct stored *layers_of, struct err *err)
{
    struct unpack_stage stage;
    int r = unpack_stage_init(&stage, state, err);
    if (r < 0)
        return r;
    r = write_store_path(store_root, stage.root, err);
    r = r < 0 || !layers_of ? r : write_layers(layers_of, stage.root, err);
    if (r >= 0 && mkdirat(stage.root, "lower", 0700) < 0)
        r = err_sys(err, -errno, "make 'lower'");
    r = r < 0 ? r : unpack_stage_commit(&stage, false, err);
    unpack_stage_fini(&stage);
    return r;
}

static int mount_layers(const struct stored *s, int objects, const char *state, const char *target,
                        const struct root_opts *opts, const struct mount_opts *how, struct err *err)
{
    scoped(free_scoped) char *at = xasprintf("%s/lower", state), *use = use_of(state);
    struct stored_layers l;
    scoped(fd_scoped) int dir = sys_openat(AT_FDCWD, state, O_RDONLY | O_DIRECTORY, 0);
    if (dir < 0)
        return err_sys(err, dir, "open '%s'", state);
    int r = stored_layers_mount(s, use, at, &l, err);
    if (r < 0)
        return r;
    const struct below below = { l.fds, l.n, objects };
    r = mount_over(dir, &below, target, opts, how, err);
    stored_layers_fini(&l);
    return r;
}

/* With the lease. */
int root_mount_claimed(const struct stored *s, const char *state, const char *target,
                       const struct root_opts *opts, struct err *err)
{
    const struct mount_opts how = { .is_read_only = !opts->is_writable,
                                    .has_suid = opts->has_suid };
    scoped(fd_scoped) int objects =
        stored_has_objects(s) ? oci_store_objects_fd(s->store, err) : -1;
    if (objects < -1)
        return objects;
    if (opts->sink == ROOT_SINK_LAYERS)
        return mount_layers(s, objects, state, target, opts, &how, err);
    if (!opts->is_writable && objects < 0)
        return stored_mount(s, target, &how, err);
    scoped(free_scoped) char *at = xasprintf("%s/lower", state);
    int r = stored_mount(s, at, &how, err);
    return r < 0 ? r : mount_over_lower(state, "lower", objects, target, opts, &how, err);
}

int root_mount_stored(const struct stored *stored, const char *state, const char *target,
                      const struct root_opts *opts, struct err *err)
{
    bool has_layers = opts->sink == ROOT_SINK_LAYERS;
    const char *store_root = oci_store_root(stored->store);
    int r = (has_layers ? stored_layers_prepare : stored_prepare)(stored, err);
    r = r < 0 ? r : write_stored_state(store_root, state, has_layers ? stored : NULL, err);
    if (r < 0)
        return r;
    scoped(free_scoped) char *id = lease_of(state);
    r = oci_store_lease(stored->store, str_of(id), &stored->image->digest, true, err);
    r = r < 0 ? r : root_mount_claimed(stored, state, target, opts, err);
    if (r < 0)
        (void)remove_state(&(struct root_place){ .store = stored->store }, state, NULL);
    return r;
}

int root_claim(const char *store_root, const char *state, char **ret_lease, struct err *err)
{
    int r = write_stored_state(store_root, state, NULL, err);
    if (r >= 0)
        *ret_lease = lease_of(state);
    return r;
}

void root_unclaim(const char *state)
{
    (void)remove_state(&(struct root_place){ 0 }, state, NULL);
}

/* Not synced either: after a crash of the machine nothing is mounted. */
static int write_linked_state(const struct stored *s, const char *state,
                              const struct layer_dir_opts *opts, struct err *err)
{
    struct unpack_stage stage;
    struct linked_dir_counts counts;
    int r = unpack_stage_init(&stage, state, err);
    if (r < 0)
        return r;
    r = write_store_path(oci_store_root(s->store), stage.root, err);
    if (r >= 0 && mkdirat(stage.root, "fs", 0700) < 0)
        r = err_sys(err, -errno, "make 'fs'");
    scoped(fd_scoped) int fs = r < 0 ? -1 : open_in(stage.root, "fs", O_RDONLY | O_DIRECTORY, err);
    r = r < 0 || fs < 0 ? MIN(r, fs) : linked_dir_write(s, fs, stage.gone, opts, &counts, err);
    r = r < 0 ? r : unpack_stage_commit(&stage, false, err);
    unpack_stage_fini(&stage);
    return r;
}

int root_mount_linked(const struct stored *stored, const char *state, const char *target,
                      const struct root_opts *opts, struct err *err)
{
    const struct mount_opts how = { .is_read_only = !opts->is_writable,
                                    .has_suid = opts->has_suid };
    size_t n;
    uint64_t n_bytes;
    int r = write_linked_state(stored, state, &opts->unpack.dir, err);
    if (r < 0) {
        (void)linked_dir_sweep(stored->store, false, &n, &n_bytes, NULL);
        return r;
    }
    r = mount_over_lower(state, "fs", -1, target, opts, &how, err);
    if (r < 0)
        (void)remove_state(&(struct root_place){ .store = stored->store }, state, NULL);
    return r;
}
