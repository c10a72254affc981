/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers as files; see layer_dir.h. A path is taken apart into its parent, which is resolved once
 * for a run of entries in one directory, and a name, on which all calls work relative to the
 * parent without following it.
 */
#include "image/layer_dir_impl.h"

#include "base/sys.h"
#include "base/tree_remove.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { OPEN_TURNS_MAX = 1000 };

struct layer_dir *layer_dir_new(int root_fd, int gone_fd, const struct layer_dir_opts *opts)
{
    struct layer_dir *d = xnew(struct layer_dir);
    d->root = root_fd;
    d->gone = gone_fd;
    d->opts = *opts;
    d->parent_fd = d->file = -1;
    d->dirs.borrows_keys = d->written.borrows_keys = true;
    d->memory.block_bytes = d->layer_memory.block_bytes = 64 << 10;
    d->memory.max_bytes = d->layer_memory.max_bytes = OCI_TREE_MEMORY_MAX;
    return d;
}

void layer_dir_free(struct layer_dir *d)
{
    if (!d)
        return;
    map_fini(&d->dirs);
    map_fini(&d->written);
    map_fini(&d->linked);
    vec_fini(&d->whiteouts);
    arena_fini(&d->memory);
    arena_fini(&d->layer_memory);
    arena_fini(&d->entry_memory);
    fd_scoped(&d->parent_fd);
    fd_scoped(&d->file);
    free(d);
}

const struct layer_dir_counts *layer_dir_get_counts(const struct layer_dir *d)
{
    return &d->counts;
}

/* ---- paths ---- */

struct str layer_dir_split(struct str path, struct str *ret_name)
{
    size_t at = path.n;
    while (at && path.p[at - 1] != '/')
        at--;
    *ret_name = str_slice(path, at, path.n);
    return str_slice(path, 0, at ? at - 1 : 0);
}

int layer_dir_open(const struct layer_dir *d, struct str path, int flags)
{
    long fd;
    char room[TAR_PATH_MAX + 1];
    bool follows = d->opts.symlink_parent == OCI_SYMLINK_PARENT_FOLLOW;
    const struct open_how how = {
        .flags = (uint64_t)flags | O_DIRECTORY | O_CLOEXEC,
        .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | (follows ? 0 : RESOLVE_NO_SYMLINKS),
    };
    if (path.n > TAR_PATH_MAX)
        return -ENAMETOOLONG;
    memcpy(room, path.n ? path.p : ".", path.n ? path.n : 1);
    room[path.n ? path.n : 1] = 0;
    unsigned turn = 0;
    do /* a rename anywhere on the machine makes it give up at the ".." of a link */
        fd = syscall(SYS_openat2, d->root, room, &how, sizeof how);
    while (fd < 0 && errno == EAGAIN && ++turn < OPEN_TURNS_MAX);
    return fd < 0 ? -errno : (int)fd;
}

void layer_dir_forget_parent(struct layer_dir *d)
{
    fd_scoped(&d->parent_fd);
    d->parent_fd = -1;
}

static int is_out_of_memory(const struct layer_dir *d, struct err *err)
{
    return arena_is_full(&d->memory) || arena_is_full(&d->layer_memory)
               ? err_set(err, E_LIMIT, "the paths of an image take more than %d bytes",
                         OCI_TREE_MEMORY_MAX)
               : 0;
}

static uint64_t inode_of(const struct layer_dir *d, struct str path)
{
    struct stat st;
    scoped(fd_scoped) int fd = layer_dir_open(d, path, O_PATH);
    return fd >= 0 && fstat(fd, &st) == 0 ? st.st_ino : 0;
}

struct layer_dir_record *layer_dir_record(struct layer_dir *d, struct str path)
{
    struct layer_dir_record *r = map_get(&d->dirs, path);
    if (!r) {
        r = arena_new(&d->memory, struct layer_dir_record);
        r->path = str_copy_arena(&d->memory, path);
        (void)map_put(&d->dirs, r->path, r);
    }
    r->layer = d->layer;
    r->order = d->n_records++;
    r->inode = d->opts.symlink_parent == OCI_SYMLINK_PARENT_FOLLOW ? inode_of(d, path) : 0;
    return r;
}

void layer_dir_note_implicit(struct layer_dir *d, struct str path)
{
    struct layer_dir_record *r = layer_dir_record(d, path);
    r->attrs = (struct file_attrs){ .mode = 0755 };
    r->is_implicit = true;
}

/* The current layer has something at `path`. */
static void note_written(struct layer_dir *d, struct str path)
{
    struct str name;
    if (d->opts.form != LAYER_DIR_MERGED)
        return;
    for (; path.n && !map_has(&d->written, path); path = layer_dir_split(path, &name))
        (void)map_put(&d->written, str_copy_arena(&d->layer_memory, path), d);
}

/* ---- removing ---- */

/* Out of the tree at once; its directories are emptied later. */
static int remove_name(struct layer_dir *d, int dir, const char *name, struct err *err)
{
    if (unlinkat(dir, name, 0) == 0)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return errno == ENOENT ? 0 : err_sys(err, -errno, "remove '%s'", name);
    if (dir != d->parent_fd)
        layer_dir_forget_parent(d); /* it may be the removed directory */
    return tree_remove_detach(dir, name, d->gone, &d->n_gone, err);
}

static int remove_lower_children(struct layer_dir *d, struct str path, struct err *err);

/* A whiteout of this layer hides the name; files that this layer wrote there stay. */
static int hide(struct layer_dir *d, int dir, struct str path, struct err *err)
{
    struct str name;
    char room[TAR_NAME_MAX + 1];
    (void)layer_dir_split(path, &name);
    if (map_has(&d->written, path)) {
        const struct layer_dir_record *own = map_get(&d->dirs, path);
        if (own && own->layer != d->layer) /* a lower one, in which this layer has entries */
            layer_dir_note_implicit(d, path);
        return remove_lower_children(d, path, err);
    }
    memcpy(room, name.p, name.n);
    room[name.n] = 0;
    return remove_name(d, dir, room, err);
}

static int hide_children(struct layer_dir *d, int dir, struct str path, struct err *err)
{
    scoped(tree_names_fini_scoped) struct tree_names names = { 0 };
    int r = tree_names_read(dir, &names, err);
    for (size_t i = 0; i < names.all.n && r >= 0; i++) {
        char room[TAR_PATH_MAX + TAR_NAME_MAX + 2];
        struct str name = str_of(names.all.p[i]);
        size_t n = path.n ? path.n + 1 : 0;
        if (n + name.n > TAR_PATH_MAX)
            continue; /* no layer can have written it */
        memcpy(room, path.p, path.n);
        if (n)
            room[path.n] = '/';
        memcpy(room + n, name.p, name.n);
        r = hide(d, dir, str_n(room, n + name.n), err);
    }
    return r;
}

/* Recursion is as deep as directories that this layer has written itself. */
static int remove_lower_children(struct layer_dir *d, struct str path, struct err *err)
{
    scoped(fd_scoped) int dir = layer_dir_open(d, path, O_RDONLY);
    if (dir == -ENOTDIR || dir == -ELOOP || dir == -ENOENT)
        return 0; /* a file of this layer, or nothing */
    if (dir < 0)
        return err_sys(err, dir, "open '" STR_FMT "'", STR_ARG(path));
    if (d->depth == LAYER_DIR_OPAQUE_DEPTH_MAX)
        return err_set(err, E_LIMIT, "whiteouts below more than %d directories",
                       LAYER_DIR_OPAQUE_DEPTH_MAX);
    d->depth++;
    int r = hide_children(d, dir, path, err);
    d->depth--;
    return r;
}

/* ---- parents ---- */

/* A directory on the way to an entry of the layer. */
struct layer_parent {
    struct str entry, path;
};

static int refuse_link(const struct layer_parent *at, const char *what, struct err *err)
{
    return err_set(err, E_PARSE, "'" STR_FMT "' is below a symbolic link%s, '" STR_FMT "'",
                   STR_ARG(at->entry), what, STR_ARG(at->path));
}

/* A parent of the path is not a directory. */
static int clear_way(struct layer_dir *d, int dir, const char *name, const struct layer_parent *at,
                     struct err *err)
{
    struct stat st;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return err_sys(err, -errno, "stat '" STR_FMT "'", STR_ARG(at->path));
    if (S_ISLNK(st.st_mode) && d->opts.symlink_parent == OCI_SYMLINK_PARENT_REFUSE)
        return refuse_link(at, "", err);
    if (S_ISLNK(st.st_mode) && d->opts.symlink_parent == OCI_SYMLINK_PARENT_FOLLOW)
        return refuse_link(at, " that leads to no directory", err);
    return remove_name(d, dir, name, err);
}

/* The directory at->path below `dir`, an existing one, made if it is missing. */
static int make_one(struct layer_dir *d, int dir, const struct layer_parent *at, struct err *err)
{
    struct str name, path = at->path;
    char room[TAR_NAME_MAX + 1];
    (void)layer_dir_split(path, &name);
    assert(name.n <= TAR_NAME_MAX);
    memcpy(room, name.p, name.n);
    room[name.n] = 0;
    for (unsigned turn = 0; turn < 2; turn++) {
        int fd = layer_dir_open(d, path, O_PATH);
        if (fd >= 0)
            return fd;
        int r = fd == -ENOTDIR || fd == -ELOOP ? clear_way(d, dir, room, at, err) : 0;
        if (r < 0)
            return r;
        if (mkdirat(dir, room, 0700) == 0)
            layer_dir_note_implicit(d, path);
        else if (errno != EEXIST)
            return err_sys(err, -errno, "make '" STR_FMT "'", STR_ARG(path));
        else if (fd == -ENOENT)
            return refuse_link(at, " that leads nowhere", err);
    }
    return err_set(err, -ENOTDIR, "'" STR_FMT "' is no directory", STR_ARG(path));
}

/* The parent `path` of an entry. */
static int make_path(struct layer_dir *d, struct str path, struct str entry, struct err *err)
{
    int dir = layer_dir_open(d, STR(""), O_PATH);
    if (dir < 0)
        return err_sys(err, dir, "open the root");
    for (size_t at = 1; path.n && at <= path.n; at++) {
        if (at < path.n && path.p[at] != '/')
            continue;
        int next = make_one(d, dir, &(struct layer_parent){ entry, str_slice(path, 0, at) }, err);
        (void)close(dir);
        if (next < 0)
            return next;
        dir = next;
    }
    return dir;
}

int layer_dir_open_parent(struct layer_dir *d, struct str path, struct err *err)
{
    struct str name, dir = layer_dir_split(path, &name);
    assert(path.n && name.n <= TAR_NAME_MAX && dir.n < TAR_PATH_MAX);
    memcpy(d->name, name.p, name.n);
    d->name[name.n] = 0;
    if (d->parent_fd >= 0 && str_eq(d->parent, dir))
        return d->parent_fd;
    layer_dir_forget_parent(d);
    int fd = layer_dir_open(d, dir, O_PATH);
    if (fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP)
        fd = make_path(d, dir, path, err);
    else if (fd < 0)
        return err_sys(err, fd, "open '" STR_FMT "'", STR_ARG(dir));
    if (fd < 0)
        return fd;
    memcpy(d->parent_room, dir.p, dir.n);
    d->parent = str_n(d->parent_room, dir.n);
    d->parent_fd = fd;
    return fd;
}

/* ---- entries ---- */

static int failed(int code, const struct oci_entry *e, const char *what, struct err *err)
{
    return err_sys(err, code, "%s '" STR_FMT "'", what, STR_ARG(e->path));
}

/* A file that belongs to the caller must not lend the caller's rights to its users. */
static mode_t mode_of(const struct layer_dir *d, const struct oci_entry *e)
{
    bool lends = d->opts.is_rootless && e->type != TAR_DIR;
    return lends ? e->mode & ~(mode_t)(S_ISUID | S_ISGID) : e->mode;
}

static struct file_attrs attrs_of(const struct layer_dir *d, const struct oci_entry *e)
{
    return (struct file_attrs){
        .mode = mode_of(d, e),
        .uid = e->uid,
        .gid = e->gid,
        .mtime = { .tv_sec = e->mtime_s, .tv_nsec = e->mtime_ns },
        .xattrs = e->xattrs,
        .n_xattrs = e->n_xattrs,
        .keeps_owner = d->opts.is_rootless,
    };
}

static int set_attrs(struct layer_dir *d, int fd, const struct oci_entry *e, struct err *err)
{
    struct file_attrs a = attrs_of(d, e);
    int r = fd >= 0 ? file_attrs_set(fd, &a, &d->counts.xattrs, err)
                    : file_attrs_set_at(d->parent_fd, d->name, e->type == TAR_SYMLINK, &a,
                                        &d->counts.xattrs, err);
    return r < 0 ? err_ctx(err, r, "'" STR_FMT "'", STR_ARG(e->path)) : 0;
}

/* Attributes of an entry live longer than the call. */
static void keep_xattrs(struct arena *a, const struct oci_entry *e, struct file_attrs *to)
{
    struct tar_xattr *x = arena_new_n(a, struct tar_xattr, e->n_xattrs);
    for (uint32_t i = 0; i < e->n_xattrs; i++)
        x[i] = (struct tar_xattr){ str_copy_arena(a, e->xattrs[i].name),
                                   str_copy_arena(a, e->xattrs[i].value) };
    to->xattrs = x;
}

static int add_dir(struct layer_dir *d, const struct oci_entry *e, struct err *err)
{
    struct stat st;
    int made = e->path.n ? mkdirat(d->parent_fd, d->name, 0700) : 0;
    if (made < 0 && errno != EEXIST)
        return failed(-errno, e, "make", err);
    if (made < 0 && fstatat(d->parent_fd, d->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return failed(-errno, e, "stat", err);
    if (made < 0 && !S_ISDIR(st.st_mode)) {
        int r = remove_name(d, d->parent_fd, d->name, err);
        if (r < 0)
            return r;
        if (mkdirat(d->parent_fd, d->name, 0700) < 0)
            return failed(-errno, e, "make", err);
    }
    struct layer_dir_record *r = layer_dir_record(d, e->path);
    r->attrs = attrs_of(d, e);
    r->is_implicit = false;
    keep_xattrs(&d->memory, e, &r->attrs);
    return 0;
}

/* Make the file of an entry; -EEXIST: the name exists. */
static int make_node(struct layer_dir *d, const struct oci_entry *e, int target_dir,
                     const char *target)
{
    char link[TAR_PATH_MAX + 1];
    dev_t dev = makedev(e->device_major, e->device_minor);
    int r = 0;
    switch ((enum tar_type)e->type) {
    case TAR_FILE:
        r = d->file = openat(d->parent_fd, d->name,
                             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        break;
    case TAR_SYMLINK:
        memcpy(link, e->link.p, e->link.n);
        link[e->link.n] = 0;
        r = symlinkat(link, d->parent_fd, d->name);
        break;
    case TAR_HARDLINK:
        r = linkat(target_dir, target, d->parent_fd, d->name, 0);
        break;
    case TAR_CHAR_DEVICE:
        r = mknodat(d->parent_fd, d->name, S_IFCHR | 0600, dev);
        break;
    case TAR_BLOCK_DEVICE:
        r = mknodat(d->parent_fd, d->name, S_IFBLK | 0600, dev);
        break;
    case TAR_FIFO:
        r = mknodat(d->parent_fd, d->name, S_IFIFO | 0600, 0);
        break;
    case TAR_DIR:
        assert(false);
    }
    return r < 0 ? -errno : 0;
}

static int no_target(const struct oci_entry *e, struct err *err)
{
    return err_set(err, E_PARSE, "'" STR_FMT "' is a hard link to '" STR_FMT "', which is no file",
                   STR_ARG(e->path), STR_ARG(e->link));
}

/* The file that a hard link leads to: its directory (given, close()) and its name. */
static int open_target(const struct layer_dir *d, const struct oci_entry *e, char *name,
                       struct err *err)
{
    struct stat st;
    struct str last, dir = layer_dir_split(e->link, &last);
    scoped(fd_scoped) int fd = layer_dir_open(d, dir, O_PATH);
    memcpy(name, last.p, last.n);
    name[last.n] = 0;
    if (fd < 0 || last.n == 0 || fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
        S_ISDIR(st.st_mode))
        return no_target(e, err);
    return take_fd(&fd);
}

static bool is_same_file(int dir_a, const char *a, int dir_b, const char *b)
{
    struct stat x, y;
    return fstatat(dir_a, a, &x, AT_SYMLINK_NOFOLLOW) == 0 &&
           fstatat(dir_b, b, &y, AT_SYMLINK_NOFOLLOW) == 0 && x.st_ino == y.st_ino &&
           x.st_dev == y.st_dev;
}

static int add_other(struct layer_dir *d, const struct oci_entry *e, struct err *err)
{
    char target[TAR_NAME_MAX + 1];
    scoped(fd_scoped) int target_dir = -1;
    if (e->type == TAR_HARDLINK && (target_dir = open_target(d, e, target, err)) < 0)
        return target_dir;
    int r = make_node(d, e, target_dir, target);
    if (r == -EEXIST) {
        if (e->type == TAR_HARDLINK && is_same_file(target_dir, target, d->parent_fd, d->name))
            return 0;
        if ((r = remove_name(d, d->parent_fd, d->name, err)) < 0)
            return r;
        r = make_node(d, e, target_dir, target);
    }
    if (r < 0)
        return e->type == TAR_HARDLINK && r == -ENOENT ? no_target(e, err)
                                                       : failed(r, e, "make", err);
    if (e->type == TAR_HARDLINK)
        return 0; /* an inode that has its attributes */
    return e->type == TAR_FILE ? 0 : set_attrs(d, -1, e, err);
}

static int close_file(struct layer_dir *d, struct err *err)
{
    if (d->file < 0)
        return 0;
    struct stat st;
    int r = 0;
    if (d->file_at < d->file_size || fstat(d->file, &st) < 0 ||
        (uint64_t)st.st_size < d->file_size) /* it ends in a hole */
        r = sys_ftruncate(d->file, d->file_size);
    r = r < 0 ? failed(r, &d->open, "write", err) : set_attrs(d, d->file, &d->open, err);
    fd_scoped(&d->file);
    d->file = -1;
    return r;
}

/* The attributes of a file are set when its content is complete. */
static void keep_entry(struct layer_dir *d, const struct oci_entry *e)
{
    struct file_attrs a;
    arena_reset(&d->entry_memory);
    d->open = *e;
    d->open.path = str_copy_arena(&d->entry_memory, e->path);
    keep_xattrs(&d->entry_memory, e, &a);
    d->open.xattrs = a.xattrs;
    d->file_at = 0;
    d->file_size = e->size;
}

static bool is_left_out(struct layer_dir *d, const struct oci_entry *e)
{
    bool is_device = e->type == TAR_CHAR_DEVICE || e->type == TAR_BLOCK_DEVICE;
    bool is_left_out = is_device && (d->opts.is_rootless || d->opts.has_no_devices);
    d->counts.devices += is_left_out;
    return is_left_out;
}

static int on_entry(void *arg, const struct oci_entry *e, struct err *err)
{
    struct layer_dir *d = arg;
    int r = is_out_of_memory(d, err);
    if (r < 0 || is_left_out(d, e))
        return r;
    if (e->path.n && (r = layer_dir_open_parent(d, e->path, err)) < 0)
        return r;
    r = e->type == TAR_DIR ? add_dir(d, e, err) : add_other(d, e, err);
    if (r < 0)
        return r;
    note_written(d, e->path);
    if (e->type != TAR_FILE || d->file < 0)
        return 0;
    keep_entry(d, e);
    return e->size ? 0 : close_file(d, err);
}

int layer_dir_link(struct layer_dir *d, const struct oci_entry *e, int dir_fd, const char *name,
                   struct err *err)
{
    int r = is_out_of_memory(d, err);
    r = r < 0 ? r : layer_dir_open_parent(d, e->path, err);
    if (r < 0)
        return r;
    if (linkat(dir_fd, name, d->parent_fd, d->name, 0) < 0)
        return 0;
    note_written(d, e->path);
    return 1;
}

int layer_dir_keep(const struct layer_dir *d, int dir_fd, const char *name)
{
    assert(d->parent_fd >= 0 && d->file < 0);
    return linkat(d->parent_fd, d->name, dir_fd, name, 0) < 0 ? -errno : 0;
}

/* ---- content ---- */

static int on_data(void *arg, struct str bytes, struct err *err)
{
    struct layer_dir *d = arg;
    if (d->file < 0)
        return 0;
    int r = sys_write_all(d->file, bytes.p, bytes.n);
    if (r < 0)
        return failed(r, &d->open, "write", err);
    d->file_at += bytes.n;
    return d->file_at == d->file_size ? close_file(d, err) : 0;
}

static int on_hole(void *arg, uint64_t n_bytes, struct err *err)
{
    struct layer_dir *d = arg;
    if (d->file < 0)
        return 0;
    if (lseek(d->file, (off_t)n_bytes, SEEK_CUR) < 0)
        return failed(-errno, &d->open, "write", err);
    d->file_at += n_bytes;
    return d->file_at == d->file_size ? close_file(d, err) : 0;
}

/* ---- whiteouts ---- */

static int apply_whiteout(struct layer_dir *d, const struct oci_whiteout *w, struct err *err)
{
    struct str name, dir = layer_dir_split(w->path, &name);
    layer_dir_forget_parent(d);
    if (w->is_opaque)
        return remove_lower_children(d, w->path, err);
    scoped(fd_scoped) int fd = layer_dir_open(d, dir, O_PATH);
    if (fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP)
        return 0; /* lower layers do not have it */
    if (fd < 0)
        return err_sys(err, fd, "open '" STR_FMT "'", STR_ARG(dir));
    return hide(d, fd, w->path, err);
}

static int on_whiteout(void *arg, const struct oci_whiteout *w, struct err *err)
{
    struct layer_dir *d = arg;
    int r = is_out_of_memory(d, err);
    if (r < 0)
        return r;
    if (d->opts.form == LAYER_DIR_MERGED)
        return apply_whiteout(d, w, err);
    struct oci_whiteout own = { str_copy_arena(&d->memory, w->path), w->is_opaque };
    vec_push(&d->whiteouts, own);
    return 0;
}

const struct layer_ops layer_dir_ops = {
    .entry = on_entry,
    .data = on_data,
    .hole = on_hole,
    .whiteout = on_whiteout,
};
