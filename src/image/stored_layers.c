/* SPDX-License-Identifier: Apache-2.0 */
#include "image/stored_layers.h"

#include "base/sys.h"
#include "base/tree_remove.h"
#include "image/erofs.h"
#include "image/erofs_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOWER_VERSION = 2 };
#define MEMORY_SMALL_BYTES ((uint64_t)8 << 30)

bool stored_layers_are_better(uint64_t memory_bytes, bool has_shared_layer)
{
    return has_shared_layer && memory_bytes < MEMORY_SMALL_BYTES;
}

static int unsupported(size_t layer, const char *why, struct err *err)
{
    return err_set(err, E_UNSUPPORTED, "layer %zu cannot be a lower directory: it %s", layer, why);
}

/* ---- a layer in the form of overlayfs ---- */

/* Its entries, then entries for its whiteouts; strings are the layer's. */
struct lower {
    struct oci_layer entries, marks;
    struct map opaque;
    struct oci_tree tree;
};

static void lower_init(struct lower *l, const struct oci_layer *layer)
{
    *l = (struct lower){ .opaque = { .borrows_keys = true } };
    oci_tree_init(&l->tree, OCI_SYMLINK_PARENT_SHADOW);
    for (size_t i = 0; i < layer->entries.n; i++)
        vec_push(&l->entries.entries, layer->entries.p[i]);
}

static void lower_fini(struct lower *l)
{
    oci_tree_fini(&l->tree);
    map_fini(&l->opaque);
    vec_fini(&l->entries.entries);
    vec_fini(&l->marks.entries);
}

static struct str parent_of(struct str path)
{
    while (path.n && path.p[path.n - 1] != '/')
        path.n--;
    path.n -= path.n > 0;
    return path;
}

/* The layer has a file above the path, or a directory there hides all that is below. */
static bool is_hidden(const struct lower *l, struct str path)
{
    while (path.n) {
        path = parent_of(path);
        const struct oci_node *n = oci_tree_find(&l->tree, path);
        if ((n && !oci_node_is_dir(n)) || map_has(&l->opaque, path))
            return true;
    }
    return false;
}

static void note_opaque(struct lower *l, struct str path)
{
    if (!map_has(&l->opaque, path))
        (void)map_put(&l->opaque, path, l);
}

/* Directories that hide lower ones first: below them nothing has to be hidden. */
static void add_marks(struct lower *l, const struct oci_layer *layer)
{
    for (size_t i = 0; i < layer->whiteouts.n; i++) {
        const struct oci_whiteout *w = &layer->whiteouts.p[i];
        const struct oci_node *n = oci_tree_find(&l->tree, w->path);
        if (n ? !oci_node_is_dir(n) : !w->is_opaque)
            continue;
        note_opaque(l, w->path);
        if (!n) {
            struct oci_entry dir = { .path = w->path, .type = TAR_DIR, .mode = 0755 };
            vec_push(&l->marks.entries, dir);
        }
    }
    for (size_t i = 0; i < layer->whiteouts.n; i++) {
        const struct oci_whiteout *w = &layer->whiteouts.p[i];
        struct oci_entry device = { .path = w->path, .type = TAR_CHAR_DEVICE };
        if (!w->is_opaque && !oci_tree_find(&l->tree, w->path) && !is_hidden(l, w->path))
            vec_push(&l->marks.entries, device);
    }
}

static bool has_mark(const struct oci_layer *layer)
{
    for (size_t i = 0; i < layer->entries.n; i++) {
        const struct oci_entry *e = &layer->entries.p[i];
        if (e->type == TAR_CHAR_DEVICE && e->device_major == 0 && e->device_minor == 0)
            return true;
    }
    return false;
}

/* After lower_init(), which lower_fini() follows. */
static int lower_make(struct lower *l, const struct oci_layer *layer, size_t i, struct err *err)
{
    if (has_mark(layer))
        return unsupported(i, "has a device 0/0", err);
    struct err why = { 0 };
    int r = oci_tree_apply(&l->tree, &l->entries, &why);
    if (r == E_PARSE) /* alone; the whole image is fine */
        return unsupported(i, err_text(&why), err);
    if (r < 0)
        return err_set(err, r, "layer %zu: %s", i, err_text(&why));
    add_marks(l, layer);
    r = oci_tree_apply(&l->tree, &l->marks, err);
    return r < 0 ? err_ctx(err, r, "layer %zu", i) : 0;
}

/* ---- files ---- */

static const char *lower_name(const struct stored *s, size_t i)
{
    return oci_store_layer_is_shared(s->store, &s->image->config.diff_ids[i]) ? "lower-2-cas.erofs"
                                                                              : "lower-2.erofs";
}

static int write_tmp(const struct stored *s, const struct erofs_image *image, char **ret,
                     struct err *err)
{
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(EROFS_IMAGE_MAX);
    struct erofs_counts counts;
    int r = erofs_write(image, &out, &counts, err);
    return r < 0 ? r : erofs_file_write(s->store, buf_str(&out), ret, err);
}

/* The size of the tar that is the layer's device; 0: its files are objects. */
static int device_size(const struct stored *s, size_t i, uint64_t *ret, struct err *err)
{
    struct stat st;
    const struct oci_digest *id = &s->image->config.diff_ids[i];
    *ret = 0;
    if (oci_store_layer_is_shared(s->store, id))
        return 0;
    scoped(fd_scoped) int fd = oci_store_layer_fd(s->store, id, err);
    if (fd < 0)
        return fd == -ENODATA ? unsupported(i, "has only its blob", err) : fd;
    if (fstat(fd, &st) < 0)
        return err_sys(err, -errno, "stat the tar of layer %zu", i);
    if (st.st_size % EROFS_BLOCK_BYTES)
        return unsupported(i, "ends within a block", err);
    *ret = (uint64_t)st.st_size;
    return 0;
}

static int write_lower(const struct stored *s, size_t i, const struct lower *l, struct err *err)
{
    const struct oci_digest *id = &s->image->config.diff_ids[i];
    uint64_t bytes;
    int r = device_size(s, i, &bytes, err);
    if (r < 0)
        return r;
    const struct erofs_layer with[] = {
        { .layer = &l->entries, .device = bytes > 0, .has_objects = bytes == 0 },
        { .layer = &l->marks },
    };
    struct erofs_image image = {
        .tree = &l->tree,
        .layers = with,
        .n_layers = ARRAY_LEN(with),
        .device_bytes = &bytes,
        .n_devices = bytes > 0,
        .opaque = &l->opaque,
    };
    memcpy(image.uuid, id->bytes, sizeof image.uuid);
    scoped(free_scoped) char *tmp = NULL;
    r = write_tmp(s, &image, &tmp, err);
    r = r < 0 ? r : oci_store_layer_attach(s->store, id, tmp, lower_name(s, i), err);
    if (r < 0 && tmp)
        (void)sys_unlinkat(AT_FDCWD, tmp, 0);
    return r == -EEXIST ? 0 : r;
}

/* ---- directories on top ---- */

/* Those whose attributes are unknown in some upper layer. */
struct tops {
    struct map paths; /* of directories that a layer has without an entry */
    struct arena memory;
};

static void note_top(struct tops *t, struct str path)
{
    for (;; path = parent_of(path)) {
        if (map_has(&t->paths, path))
            return;
        struct str key = str_copy_arena(&t->memory, path);
        (void)map_put(&t->paths, key, t);
        if (!path.n)
            return;
    }
}

static void note_tops(struct tops *t, const struct lower *l)
{
    scoped(free_scoped) struct oci_node **nodes = NULL;
    size_t n = oci_tree_sorted(&l->tree, &nodes);
    for (size_t i = 0; i < n; i++) {
        const struct oci_entry *e = nodes[i]->inode->entry;
        bool is_mark = e && l->marks.entries.n && e >= l->marks.entries.p &&
                       e < l->marks.entries.p + l->marks.entries.n;
        if (!e || (is_mark && e->type == TAR_DIR))
            note_top(t, nodes[i]->path);
    }
}

/* In the order of their paths; what the image has there is a directory, or nothing. */
static int make_tops(const struct tops *t, const struct oci_tree *image, struct oci_layer *to,
                     struct oci_tree *tree, struct err *err)
{
    scoped(free_scoped) struct oci_node **nodes = NULL;
    size_t n = oci_tree_sorted(image, &nodes);
    for (size_t i = 0; i < n; i++) {
        struct oci_entry dir = { .path = nodes[i]->path, .type = TAR_DIR, .mode = 0755 };
        if (!map_has(&t->paths, nodes[i]->path) || !oci_node_is_dir(nodes[i]))
            continue;
        if (nodes[i]->inode->entry)
            dir = *nodes[i]->inode->entry;
        dir.path = nodes[i]->path;
        vec_push(&to->entries, dir);
    }
    return oci_tree_apply(tree, to, err);
}

static int tops_path(const struct stored *s, char **ret, struct err *err)
{
    scoped(free_scoped) char *dir = NULL;
    int r = oci_store_image_dir(s->store, &s->image->digest, &dir, err);
    if (r >= 0)
        *ret = xasprintf("%s/dirs-%d.erofs", dir, LOWER_VERSION);
    return r;
}

static int write_tops(const struct stored *s, const struct tops *t, const struct oci_tree *image,
                      struct err *err)
{
    struct oci_layer layer = { 0 };
    struct oci_tree tree;
    scoped(free_scoped) char *path = NULL, *tmp = NULL;
    oci_tree_init(&tree, OCI_SYMLINK_PARENT_SHADOW);
    int r = make_tops(t, image, &layer, &tree, err);
    const struct erofs_layer with = { .layer = &layer };
    struct erofs_image dirs = { .tree = &tree, .layers = &with, .n_layers = 1 };
    memcpy(dirs.uuid, s->image->digest.bytes, sizeof dirs.uuid);
    r = r < 0 ? r : tops_path(s, &path, err);
    r = r < 0 ? r : write_tmp(s, &dirs, &tmp, err);
    if (r >= 0 && (r = sys_renameat(AT_FDCWD, tmp, AT_FDCWD, path)) < 0) {
        (void)sys_unlinkat(AT_FDCWD, tmp, 0);
        r = err_sys(err, r, "write '%s'", path);
    }
    r = r < 0 ? r : sys_sync_parent(path, err);
    oci_tree_fini(&tree);
    vec_fini(&layer.entries);
    return r;
}

/* ---- preparing ---- */

struct preparing {
    const struct stored *s;
    struct oci_tree image; /* of the layers so far */
    struct oci_layer **layers;
    struct tops tops;
};

static bool hides_all(const struct oci_layer *l)
{
    for (size_t i = 0; i < l->whiteouts.n; i++)
        if (l->whiteouts.p[i].is_opaque && l->whiteouts.p[i].path.n == 0)
            return true;
    return false;
}

static bool has_sparse(const struct oci_layer *l)
{
    for (size_t i = 0; i < l->entries.n; i++)
        if (l->entries.p[i].is_sparse)
            return true;
    return false;
}

/* Whether a layer gives the same result as a directory in a stack over the layers so far. */
static int check_layer(const struct preparing *p, size_t i, const struct lower *l, struct err *err)
{
    const struct oci_layer *layer = p->layers[i];
    for (size_t k = 0; k < l->marks.entries.n; k++) {
        const struct oci_entry *e = &l->marks.entries.p[k];
        if (e->type == TAR_CHAR_DEVICE && !oci_tree_find(&p->image, e->path))
            return unsupported(i, "hides something that is not there", err);
    }
    if (i > 0 && hides_all(layer))
        return unsupported(i, "hides all that is below it", err);
    return has_sparse(layer) ? unsupported(i, "has sparse files", err) : 0;
}

static int prepare_layer(struct preparing *p, size_t i, struct err *err)
{
    struct lower l;
    const struct oci_digest *id = &p->s->image->config.diff_ids[i];
    int r = oci_store_layer_index(p->s->store, id, &p->layers[i], err);
    if (r < 0)
        return r;
    lower_init(&l, p->layers[i]);
    r = lower_make(&l, p->layers[i], i, err);
    r = r < 0 ? r : check_layer(p, i, &l, err);
    if (r >= 0 && (r = oci_tree_apply(&p->image, p->layers[i], err)) < 0)
        (void)err_ctx(err, r, "layer %zu", i);
    if (r >= 0)
        note_tops(&p->tops, &l);
    scoped(free_scoped) char *path = oci_store_layer_path(p->s->store, id, lower_name(p->s, i));
    int is_bad = r < 0 ? 0 : erofs_file_check(path, NULL);
    if (is_bad == E_CORRUPT)
        (void)sys_unlinkat(AT_FDCWD, path, 0);
    if (is_bad == E_CORRUPT || is_bad == -ENOENT)
        r = write_lower(p->s, i, &l, err);
    lower_fini(&l);
    return r;
}

int stored_layers_prepare(const struct stored *s, struct err *err)
{
    const size_t n = s->image->config.n_diff_ids;
    if (s->symlink_parent == OCI_SYMLINK_PARENT_FOLLOW)
        return err_set(err, E_UNSUPPORTED,
                       "layers cannot be mounted one by one where links are "
                       "followed");
    if (n > STORED_LAYERS_MAX)
        return err_set(err, E_UNSUPPORTED, "more than %d layers", STORED_LAYERS_MAX);
    struct preparing p = { .s = s, .layers = xnew_n(struct oci_layer *, n) };
    p.tops.paths.borrows_keys = true;
    oci_tree_init(&p.image, s->symlink_parent);
    int r = 0;
    for (size_t i = 0; i < n && r >= 0; i++)
        r = prepare_layer(&p, i, err);
    note_top(&p.tops, STR(""));
    r = r < 0 ? r : write_tops(s, &p.tops, &p.image, err);
    oci_tree_fini(&p.image);
    for (size_t i = 0; i < n; i++)
        oci_layer_free(p.layers[i]);
    free(p.layers);
    map_fini(&p.tops.paths);
    arena_fini(&p.tops.memory);
    return r;
}

/* ---- mounting ---- */

static int mount_file(const char *path, int device_fd, const char *at, struct err *err)
{
    const struct mount_opts opts = { .is_read_only = true };
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW, 0);
    return fd < 0 ? err_sys(err, fd, "open '%s'", path)
                  : mount_erofs(fd, &device_fd, device_fd >= 0, at, &opts, err);
}

/* The uses of this boot: those of an earlier one ended with it, whatever it left. */
static char *uses_dir(struct oci_store *store, const struct oci_digest *id)
{
    scoped(free_scoped) char *name = xasprintf("uses-%s", oci_store_boot(store));
    return oci_store_layer_path(store, id, name);
}

/* Leftovers of earlier boots are small; a failure to remove them is not an error. */
static void remove_old_uses(struct oci_store *store, const struct oci_digest *id)
{
    scoped(tree_names_fini_scoped) struct tree_names names = { 0 };
    scoped(free_scoped) char *path = uses_dir(store, id);
    const char *own = strrchr(path, '/') + 1;
    scoped(free_scoped) char *layer = xstrndup(path, (size_t)(own - 1 - path));
    scoped(fd_scoped) int dir = sys_openat(AT_FDCWD, layer, O_RDONLY | O_DIRECTORY, 0);
    if (dir < 0 || tree_names_read(dir, &names, NULL) < 0)
        return;
    for (size_t i = 0; i < names.all.n; i++)
        if (strncmp(names.all.p[i], "uses", 4) == 0 && strcmp(names.all.p[i], own) != 0)
            (void)tree_remove(dir, names.all.p[i], NULL);
}

/* Before the layer is mounted: the process that ends a use finds it without a mount. */
static int note_use(struct oci_store *store, const struct oci_digest *id, const char *use,
                    struct err *err)
{
    scoped(free_scoped) char *dir = uses_dir(store, id);
    scoped(free_scoped) char *mnt = oci_store_layer_path(store, id, "mnt");
    scoped(free_scoped) char *path = xasprintf("%s/%s", dir, use);
    if (mkdir(dir, 0700) == 0)
        remove_old_uses(store, id);
    else if (errno != EEXIST)
        return err_sys(err, -errno, "make '%s'", dir);
    if (mkdir(mnt, 0700) < 0 && errno != EEXIST)
        return err_sys(err, -errno, "make '%s'", mnt);
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_NOFOLLOW, 0600);
    return fd < 0 ? err_sys(err, fd, "make '%s'", path) : 0;
}

static int mount_layer(const struct stored *s, size_t i, const char *use, struct err *err)
{
    const struct oci_digest *id = &s->image->config.diff_ids[i];
    scoped(free_scoped) char *at = oci_store_layer_path(s->store, id, "mnt");
    scoped(free_scoped) char *file = oci_store_layer_path(s->store, id, lower_name(s, i));
    int r = note_use(s->store, id, use, err);
    if (r < 0 || mount_is_point(at))
        return r;
    scoped(fd_scoped) int device =
        oci_store_layer_is_shared(s->store, id) ? -1 : oci_store_layer_fd(s->store, id, err);
    r = device < -1 ? device : mount_file(file, device, at, err);
    return r < 0 ? err_ctx(err, r, "layer %zu", i) : 0;
}

static int add_dir(struct stored_layers *l, const char *path, struct err *err)
{
    int fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (fd < 0)
        return err_sys(err, fd, "open '%s'", path);
    l->fds[l->n++] = fd;
    return 0;
}

/* Of a layer that the image has twice, the lower position has no effect. */
static bool is_again_above(const struct stored *s, size_t i)
{
    const struct oci_digest *ids = s->image->config.diff_ids;
    for (size_t k = i + 1; k < s->image->config.n_diff_ids; k++)
        if (oci_digest_equal(&ids[i], &ids[k]))
            return true;
    return false;
}

static int mount_all(const struct stored *s, const char *use, const char *top,
                     struct stored_layers *to, struct err *err)
{
    scoped(free_scoped) char *dirs = NULL;
    int r = tops_path(s, &dirs, err);
    r = r < 0 ? r : mount_file(dirs, -1, top, err);
    r = r < 0 ? r : add_dir(to, top, err);
    for (size_t i = s->image->config.n_diff_ids; i-- && r >= 0;) {
        if (is_again_above(s, i))
            continue;
        scoped(free_scoped) char *at =
            oci_store_layer_path(s->store, &s->image->config.diff_ids[i], "mnt");
        r = mount_layer(s, i, use, err);
        r = r < 0 ? r : add_dir(to, at, err);
    }
    return r;
}

int stored_layers_mount(const struct stored *s, const char *use, const char *top,
                        struct stored_layers *ret, struct err *err)
{
    const struct oci_config *c = &s->image->config;
    struct stored_layers l = { .fds = xnew_n(int, c->n_diff_ids + 1) };
    int r = mount_all(s, use, top, &l, err);
    if (r < 0) {
        stored_layers_fini(&l);
        if (mount_is_point(top))
            (void)mount_remove(top, NULL);
        stored_layers_release(s->store, c->diff_ids, c->n_diff_ids, use);
        return r;
    }
    *ret = l;
    return 0;
}

void stored_layers_fini(struct stored_layers *l)
{
    for (size_t i = 0; i < l->n; i++)
        (void)close(l->fds[i]);
    free(l->fds);
    *l = (struct stored_layers){ 0 };
}

void stored_layers_release(struct oci_store *store, const struct oci_digest *diff_ids, size_t n,
                           const char *use)
{
    for (size_t i = 0; i < n; i++) {
        scoped(free_scoped) char *dir = uses_dir(store, &diff_ids[i]);
        scoped(free_scoped) char *mnt = oci_store_layer_path(store, &diff_ids[i], "mnt");
        scoped(free_scoped) char *path = xasprintf("%s/%s", dir, use);
        (void)unlink(path);
        if (rmdir(dir) < 0) /* others use it, or there is none */
            continue;
        if (mount_is_point(mnt))
            (void)umount2(mnt, MNT_DETACH | UMOUNT_NOFOLLOW);
        (void)rmdir(mnt);
    }
}
