/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers as files: the steps after each complete layer, and after all layers; see layer_dir.h.
 */
#include "image/layer_dir_impl.h"

#include "base/tree_remove.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

/* ---- whiteouts of overlay forms ---- */

static int make_opaque(struct layer_dir *d, struct str path, struct err *err)
{
    const char *name =
        d->opts.form == LAYER_DIR_OVERLAY ? "trusted.overlay.opaque" : "user.overlay.opaque";
    scoped(fd_scoped) int fd = layer_dir_open(d, path, O_RDONLY);
    if (fd < 0)
        return err_sys(err, fd, "open '" STR_FMT "'", STR_ARG(path));
    if (fsetxattr(fd, name, "y", 1, 0) < 0)
        return err_sys(err, -errno, "set '%s' of '" STR_FMT "'", name, STR_ARG(path));
    if (!map_has(&d->dirs, path))
        layer_dir_note_implicit(d, path); /* the root */
    layer_dir_record(d, path)->is_opaque = true;
    return 0;
}

/* The directory that a whiteout concerns, if the layer has it: opaque directories, and those that
 * it hides and makes again. A file of the layer has hidden the lower one already. */
static int find_hidden_dir(struct layer_dir *d, const struct oci_whiteout *w, struct err *err)
{
    struct stat st;
    if (w->path.n == 0)
        return 1;
    int dir = layer_dir_open_parent(d, w->path, err);
    if (dir < 0)
        return dir;
    if (fstatat(dir, d->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return S_ISDIR(st.st_mode);
    if (!w->is_opaque)
        return 0;
    if (mkdirat(dir, d->name, 0700) < 0)
        return err_sys(err, -errno, "make '" STR_FMT "'", STR_ARG(w->path));
    layer_dir_note_implicit(d, w->path);
    return 1;
}

static bool is_below_opaque(const struct layer_dir *d, struct str path)
{
    struct str name;
    while (path.n) {
        path = layer_dir_split(path, &name);
        const struct layer_dir_record *r = map_get(&d->dirs, path);
        if (r && r->is_opaque)
            return true;
    }
    return false;
}

static int write_whiteout(struct layer_dir *d, const struct oci_whiteout *w, struct err *err)
{
    struct stat st;
    if (w->is_opaque || is_below_opaque(d, w->path))
        return 0; /* overlayfs would list a whiteout where no directory is merged */
    int dir = layer_dir_open_parent(d, w->path, err);
    if (dir < 0)
        return dir;
    if (fstatat(dir, d->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return 0;
    if (mknodat(dir, d->name, S_IFCHR | 0600, makedev(0, 0)) < 0)
        return err_sys(err, -errno, "make the whiteout '" STR_FMT "'", STR_ARG(w->path));
    return 0;
}

/* In a layer that is complete. */
static int write_whiteouts(struct layer_dir *d, struct err *err)
{
    int r = 0;
    for (size_t i = 0; i < d->whiteouts.n && r >= 0; i++) {
        r = find_hidden_dir(d, &d->whiteouts.p[i], err);
        if (r > 0)
            r = make_opaque(d, d->whiteouts.p[i].path, err);
    }
    for (size_t i = 0; i < d->whiteouts.n && r >= 0; i++)
        r = write_whiteout(d, &d->whiteouts.p[i], err);
    return r;
}

/* ---- the end ---- */

int layer_dir_end_layer(struct layer_dir *d, struct err *err)
{
    int r = write_whiteouts(d, err);
    layer_dir_forget_parent(d);
    d->whiteouts.n = 0;
    d->layer++;
    map_fini(&d->written);
    d->written.borrows_keys = true;
    arena_reset(&d->layer_memory);
    return r;
}

static int deepest_first(const void *a, const void *b)
{
    const struct layer_dir_record *const *x = a, *const *y = b;
    return str_cmp((*y)->path, (*x)->path);
}

/* Move those that represent their directory to the end. Returns how many these are. */
static size_t keep_newest(struct layer_dir *d, struct layer_dir_record **all, size_t n)
{
    size_t n_kept = 0;
    struct map newest = { .borrows_keys = true }; /* inode -> record */
    for (size_t i = 0; i < n; i++) {
        struct stat st;
        struct str key = str_n(&all[i]->inode, sizeof all[i]->inode);
        scoped(fd_scoped) int fd = layer_dir_open(d, all[i]->path, O_PATH);
        const struct layer_dir_record *other = map_get(&newest, key);
        if (fd >= 0 && fstat(fd, &st) == 0 && st.st_ino == all[i]->inode &&
            (!other || other->order < all[i]->order))
            (void)map_put(&newest, key, all[i]);
    }
    for (size_t i = 0; i < n; i++)
        if (map_get(&newest, str_n(&all[i]->inode, sizeof all[i]->inode)) == all[i])
            all[n_kept++] = all[i];
    map_fini(&newest);
    return n_kept;
}

static int count_children(struct layer_dir *d, int dir, struct err *err)
{
    scoped(tree_names_fini_scoped) struct tree_names names = { 0 };
    int r = tree_names_read(dir, &names, err);
    for (size_t i = 0; i < names.all.n && r >= 0; i++) {
        struct stat st;
        if (fstatat(dir, names.all.p[i], &st, AT_SYMLINK_NOFOLLOW) < 0)
            return err_sys(err, -errno, "stat '%s'", names.all.p[i]);
        d->counts.entries++;
        if (S_ISREG(st.st_mode) &&
            (st.st_nlink == 1 || !map_put(&d->linked, str_n(&st.st_ino, sizeof st.st_ino), d)))
            d->counts.bytes += (uint64_t)st.st_size;
    }
    return r;
}

static int finish_dir(struct layer_dir *d, const struct layer_dir_record *r, struct err *err)
{
    struct file_attrs a = r->attrs;
    scoped(fd_scoped) int fd = layer_dir_open(d, r->path, O_RDONLY);
    if (fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP)
        return 0; /* it was replaced or removed later */
    if (fd < 0)
        return err_sys(err, fd, "open '" STR_FMT "'", STR_ARG(r->path));
    a.keeps_owner = d->opts.is_rootless;
    int status = count_children(d, fd, err); /* while it can be read */
    status = status < 0 ? status : file_attrs_set(fd, &a, &d->counts.xattrs, err);
    return status < 0 ? err_ctx(err, status, "'" STR_FMT "'", STR_ARG(r->path)) : 0;
}

int layer_dir_finish(struct layer_dir *d, struct err *err)
{
    size_t n = 0;
    int r = 0;
    layer_dir_forget_parent(d);
    if (!map_has(&d->dirs, STR("")))
        layer_dir_note_implicit(d, STR(""));
    scoped(free_scoped) struct layer_dir_record **all =
        xnew_n(struct layer_dir_record *, d->dirs.n);
    map_each (e, &d->dirs)
        all[n++] = e->value;
    if (d->opts.symlink_parent == OCI_SYMLINK_PARENT_FOLLOW)
        n = keep_newest(d, all, n);
    qsort(all, n, sizeof *all, deepest_first);
    for (size_t i = 0; i < n && r >= 0; i++) {
        d->counts.implicit += all[i]->is_implicit && all[i]->path.n;
        r = finish_dir(d, all[i], err);
    }
    return r;
}
