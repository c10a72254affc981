/* SPDX-License-Identifier: Apache-2.0 */
#include "image/stored.h"

#include "base/sum.h"
#include "base/sys.h"
#include "base/tree_remove.h"
#include "image/erofs.h"
#include "image/erofs_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { METADATA_VERSION = 2 /* of what erofs.c and erofs_file.c write for the same layers */ };

bool stored_can_mount(struct oci_store *store, bool has_objects)
{
    scoped(free_scoped) char *path = oci_store_tmp(store);
    if (mkdir(path, 0700) < 0)
        return false;
    scoped(fd_scoped) int dir = sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
    bool can = dir >= 0 && (has_objects ? mount_can_objects : mount_can_erofs)(dir);
    (void)tree_remove(AT_FDCWD, path, NULL);
    return can;
}

bool stored_has_objects(const struct stored *s)
{
    for (size_t i = 0; i < s->image->config.n_diff_ids; i++)
        if (oci_store_layer_is_shared(s->store, &s->image->config.diff_ids[i]))
            return true;
    return false;
}

int stored_share(const struct stored *s, struct err *err)
{
    for (size_t i = 0; i < s->image->config.n_diff_ids; i++) {
        struct err why = { 0 };
        int r = oci_store_layer_share(s->store, &s->image->config.diff_ids[i], &why);
        if (r < 0 && r != E_UNSUPPORTED)
            return err_set(err, r, "layer %zu: %s", i, err_text(&why));
    }
    return 0;
}

/* "-cas-<sum>" of which layers are kept as objects; "" of none. Given, free(). */
static char *objects_suffix(const struct stored *s)
{
    uint64_t sum = 0;
    if (!stored_has_objects(s))
        return xstrdup("");
    for (size_t i = 0; i < s->image->config.n_diff_ids; i++)
        sum = sum64_u64(sum, oci_store_layer_is_shared(s->store, &s->image->config.diff_ids[i]));
    return xasprintf("-cas-%016llx", (unsigned long long)sum);
}

/* Where the EROFS image is, or will be. Given, free(). */
static char *metadata_path(const struct stored *s)
{
    static const char *const how[] = {
        [OCI_SYMLINK_PARENT_REFUSE] = "refuse",
        [OCI_SYMLINK_PARENT_SHADOW] = "shadow",
        [OCI_SYMLINK_PARENT_FOLLOW] = "follow",
    };
    scoped(free_scoped) char *dir = oci_store_image_path(s->store, &s->image->digest);
    scoped(free_scoped) char *objects = objects_suffix(s);
    return xasprintf("%s/%s-%d%s.erofs", dir, how[s->symlink_parent], METADATA_VERSION, objects);
}

/* ---- the tars, as devices ---- */

struct devices {
    int *fds;
    uint64_t *bytes;
    /* Device of each layer, from 1; a layer that is there twice has one. 0: its files are objects.
     */
    uint16_t *of_layer;
    size_t n, n_layers;
};

static void devices_fini(struct devices *d)
{
    for (size_t i = 0; i < d->n; i++)
        (void)close(d->fds[i]);
    free(d->fds);
    free(d->bytes);
    free(d->of_layer);
}

static int no_device(size_t layer, const char *why, struct err *err)
{
    return err_set(err, E_UNSUPPORTED, "layer %zu cannot be mounted from the store: %s", layer,
                   why);
}

static int open_device(const struct stored *s, size_t layer, struct devices *d, struct err *err)
{
    struct stat st;
    const struct oci_digest *ids = s->image->config.diff_ids;
    for (size_t i = 0; i < layer; i++)
        if (oci_digest_equal(&ids[i], &ids[layer])) {
            d->of_layer[layer] = d->of_layer[i];
            return 0;
        }
    if (oci_store_layer_is_shared(s->store, &ids[layer]))
        return 0;
    int fd = oci_store_layer_fd(s->store, &ids[layer], err);
    if (fd < 0)
        return fd == -ENODATA ? no_device(layer, "only its blob is kept", err) : fd;
    d->fds[d->n] = fd;
    if (fstat(fd, &st) < 0) {
        int r = err_sys(err, -errno, "stat the tar of layer %zu", layer);
        (void)close(fd);
        return r;
    }
    d->bytes[d->n++] = (uint64_t)st.st_size;
    d->of_layer[layer] = (uint16_t)d->n;
    /* A tar whose last padding is missing; the kernel would read beyond its end. */
    return st.st_size % EROFS_BLOCK_BYTES ? no_device(layer, "its tar ends within a block", err)
                                          : 0;
}

static int open_devices(const struct stored *s, struct devices *d, struct err *err)
{
    const size_t n = s->image->config.n_diff_ids;
    int r =
        n > EROFS_DEVICES_MAX ? err_set(err, E_LIMIT, "more than %d layers", EROFS_DEVICES_MAX) : 0;
    *d = (struct devices){ .n_layers = n };
    d->fds = xnew_n(int, n);
    d->bytes = xnew_n(uint64_t, n);
    d->of_layer = xnew_n(uint16_t, n);
    for (size_t i = 0; i < n && r >= 0; i++)
        r = open_device(s, i, d, err);
    if (r < 0) {
        devices_fini(d);
        *d = (struct devices){ 0 };
    }
    return r;
}

/* ---- the metadata ---- */

struct stored_view {
    struct oci_layer **layers;
    struct erofs_layer *with;
    struct oci_tree tree;
};

static bool has_sparse(const struct oci_layer *l)
{
    for (size_t i = 0; i < l->entries.n; i++)
        if (l->entries.p[i].is_sparse)
            return true;
    return false;
}

static int add_layer(const struct stored *s, const struct devices *d, size_t i,
                     struct stored_view *v, struct err *err)
{
    int r = oci_store_layer_index(s->store, &s->image->config.diff_ids[i], &v->layers[i], err);
    if (r < 0)
        return r;
    if (has_sparse(v->layers[i]))
        return no_device(i, "it has sparse files", err);
    v->with[i] = (struct erofs_layer){ .layer = v->layers[i],
                                       .device = d->of_layer[i],
                                       .has_objects = d->of_layer[i] == 0 };
    r = oci_tree_apply(&v->tree, v->layers[i], err);
    return r < 0 ? err_ctx(err, r, "layer %zu", i) : 0;
}

static int make_metadata(const struct stored *s, const struct devices *d, struct buf *to,
                         struct err *err)
{
    int r = 0;
    struct erofs_counts counts;
    struct stored_view v = { .layers = xnew_n(struct oci_layer *, d->n_layers),
                             .with = xnew_n(struct erofs_layer, d->n_layers) };
    oci_tree_init(&v.tree, s->symlink_parent);
    for (size_t i = 0; i < d->n_layers && r >= 0; i++)
        r = add_layer(s, d, i, &v, err);
    struct erofs_image image = {
        .tree = &v.tree,
        .layers = v.with,
        .n_layers = d->n_layers,
        .device_bytes = d->bytes,
        .n_devices = d->n,
    };
    memcpy(image.uuid, s->image->digest.bytes, sizeof image.uuid);
    r = r < 0 ? r : erofs_write(&image, to, &counts, err);
    oci_tree_fini(&v.tree);
    for (size_t i = 0; i < d->n_layers; i++)
        oci_layer_free(v.layers[i]);
    free(v.layers);
    free(v.with);
    return r;
}

/* In the store's tmp first, which the next boot empties. */
static int publish(const struct stored *s, struct str content, const char *path, struct err *err)
{
    scoped(free_scoped) char *tmp = NULL;
    int r = erofs_file_write(s->store, content, &tmp, err);
    if (r < 0)
        return r;
    r = sys_renameat(AT_FDCWD, tmp, AT_FDCWD, path);
    if (r < 0) {
        (void)sys_unlinkat(AT_FDCWD, tmp, 0);
        return err_sys(err, r, "write '%s'", path);
    }
    return sys_sync_parent(path, err);
}

static int write_metadata(const struct stored *s, const struct devices *d, const char *path,
                          struct err *err)
{
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(EROFS_IMAGE_MAX);
    scoped(free_scoped) char *dir = NULL;
    int r = oci_store_image_dir(s->store, &s->image->digest, &dir, err);
    r = r < 0 ? r : make_metadata(s, d, &out, err);
    return r < 0 ? r : publish(s, buf_str(&out), path, err);
}

int stored_prepare(const struct stored *s, struct err *err)
{
    struct devices d;
    int r = open_devices(s, &d, err);
    if (r < 0)
        return r;
    scoped(free_scoped) char *path = metadata_path(s);
    int is_bad = erofs_file_check(path, NULL);
    if (is_bad == E_CORRUPT || is_bad == -ENOENT)
        r = write_metadata(s, &d, path, err);
    devices_fini(&d);
    return r;
}

/* ---- mounting ---- */

static int mount_file(const char *path, const struct devices *d, const char *target,
                      const struct mount_opts *opts, struct err *err)
{
    scoped(fd_scoped) int image = sys_openat(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW, 0);
    return image < 0 ? err_sys(err, image, "open '%s'", path)
                     : mount_erofs(image, d->fds, d->n, target, opts, err);
}

int stored_mount(const struct stored *s, const char *target, const struct mount_opts *opts,
                 struct err *err)
{
    struct devices d;
    struct err why = { 0 }, again = { 0 };
    int r = open_devices(s, &d, err);
    if (r < 0)
        return r;
    scoped(free_scoped) char *path = metadata_path(s);
    r = mount_file(path, &d, target, opts, &why);
    if (r == -EINVAL || r == -EUCLEAN || r == -EIO) { /* of the file's content */
        int made = write_metadata(s, &d, path, &again);
        made = made < 0 ? made : mount_file(path, &d, target, opts, &again);
        if (made != -EROFS) { /* else a reader, which writes nothing */
            r = made;
            why = again;
        }
    }
    devices_fini(&d);
    return r < 0 ? err_set(err, r, "%s", err_text(&why)) : 0;
}
