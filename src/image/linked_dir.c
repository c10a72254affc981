/* SPDX-License-Identifier: Apache-2.0 */
#include "image/linked_dir.h"

#include "base/sys.h"
#include "base/tree_remove.h"
#include "image/share.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE_BYTES = 256 << 10, LINK_NAME_SIZE = sizeof "ab/" + SHA256_HEX_SIZE };

/* ---- where the links are ---- */

/* Those of this boot; without `makes` -ENOENT, there are none. */
static int open_links(struct oci_store *store, bool makes, struct err *err)
{
    scoped(free_scoped) char *all = xasprintf("%s/links", oci_store_root(store));
    scoped(free_scoped) char *own = xasprintf("%s/%s", all, oci_store_boot(store));
    if (makes && mkdir(all, 0700) < 0 && errno != EEXIST)
        return err_sys(err, -errno, "make '%s'", all);
    if (makes && mkdir(own, 0700) < 0 && errno != EEXIST)
        return err_sys(err, -errno, "make '%s'", own);
    int fd = sys_openat(AT_FDCWD, own, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    return fd < 0 ? err_sys(err, fd, "open '%s'", own) : fd;
}

static void link_name(const struct oci_node *n, char ret[LINK_NAME_SIZE])
{
    uint8_t key[SHA256_BYTES];
    char hex[SHA256_HEX_SIZE];
    image_key_of(n, IMAGE_KEY_MODIFICATION, key);
    hex_format(key, sizeof key, hex);
    (void)snprintf(ret, LINK_NAME_SIZE, "%.2s/%s", hex, hex);
}

/* ---- writing ---- */

struct linked_dir_writing {
    const struct stored *s;
    struct oci_layer **layers;
    int *tars; /* -1: the files of the layer are objects */
    size_t n;
    struct oci_tree tree;
    struct map first; /* inode with several names -> the path of the first */
    struct layer_dir *dir;
    int links;
    char *piece;
    struct linked_dir_counts counts;
};

static int unsupported(size_t layer, const char *why, struct err *err)
{
    return err_set(err, E_UNSUPPORTED, "layer %zu: %s", layer, why);
}

static int open_layer(struct linked_dir_writing *w, size_t i, struct err *err)
{
    const struct oci_digest *id = &w->s->image->config.diff_ids[i];
    int r = oci_store_layer_index(w->s->store, id, &w->layers[i], err);
    if (r < 0)
        return r;
    for (size_t k = 0; k < w->layers[i]->entries.n; k++)
        if (w->layers[i]->entries.p[k].is_sparse)
            return unsupported(i, "it has sparse files", err);
    if (!oci_store_layer_is_shared(w->s->store, id)) {
        int fd = oci_store_layer_fd(w->s->store, id, err);
        if (fd < 0)
            return fd == -ENODATA ? unsupported(i, "only its blob is kept", err) : fd;
        w->tars[i] = fd;
    }
    r = oci_tree_apply(&w->tree, w->layers[i], err);
    return r < 0 ? err_ctx(err, r, "layer %zu", i) : 0;
}

static size_t layer_of(const struct linked_dir_writing *w, const struct oci_entry *e)
{
    size_t i = 0;
    while (e < w->layers[i]->entries.p || e >= w->layers[i]->entries.p + w->layers[i]->entries.n)
        i++;
    return i;
}

static int give_content(struct linked_dir_writing *w, int fd, uint64_t offset,
                        const struct oci_entry *e, struct err *err)
{
    uint8_t digest[SHA256_BYTES];
    scoped(sha256_free_scoped) struct sha256 *hash = sha256_new();
    for (uint64_t at = 0; at < e->size;) {
        size_t want = (size_t)MIN(e->size - at, (uint64_t)PIECE_BYTES);
        ssize_t n = sys_pread_full(fd, w->piece, want, offset + at);
        if (n < 0)
            return err_sys(err, (int)n, "read '" STR_FMT "'", STR_ARG(e->path));
        if ((size_t)n < want)
            return err_set(err, E_CORRUPT, "'" STR_FMT "' is cut short", STR_ARG(e->path));
        sha256_add(hash, w->piece, want);
        int r = layer_dir_ops.data(w->dir, str_n(w->piece, want), err);
        if (r < 0)
            return r;
        at += want;
    }
    sha256_end(hash, digest);
    return memcmp(digest, e->digest, sizeof digest) == 0
               ? 0
               : err_set(err, E_CORRUPT, "the content of '" STR_FMT "' is damaged",
                         STR_ARG(e->path));
}

/* from: the entry of a layer; e: the same with the path in the image. */
static int write_file(struct linked_dir_writing *w, const struct oci_entry *from,
                      const struct oci_entry *e, struct err *err)
{
    int tar = w->tars[layer_of(w, from)];
    scoped(fd_scoped) int object =
        tar < 0 ? oci_store_object_fd(w->s->store, from->digest, err) : -1;
    if (tar < 0 && object < 0)
        return object;
    int r = layer_dir_ops.entry(w->dir, e, err);
    return r < 0 ? r
                 : give_content(w, tar < 0 ? object : tar, tar < 0 ? 0 : from->data_offset, e, err);
}

/* For directories that are written later; without it they have a copy. A link that is there has as
 * many names as the file system lets it have. */
static void keep_link(struct linked_dir_writing *w, const char *name)
{
    char dir[3] = { name[0], name[1], 0 };
    int r = layer_dir_keep(w->dir, w->links, name);
    if (r == -ENOENT && mkdirat(w->links, dir, 0700) == 0)
        r = layer_dir_keep(w->dir, w->links, name);
    if (r == -EEXIST && unlinkat(w->links, name, 0) == 0)
        (void)layer_dir_keep(w->dir, w->links, name);
}

static int add_file(struct linked_dir_writing *w, const struct oci_node *n,
                    const struct oci_entry *e, struct err *err)
{
    char name[LINK_NAME_SIZE];
    if (e->size == 0)
        return layer_dir_ops.entry(w->dir, e, err);
    link_name(n, name);
    int r = layer_dir_link(w->dir, e, w->links, name, err);
    if (r != 0) {
        w->counts.linked += r > 0;
        return r;
    }
    r = write_file(w, n->inode->entry, e, err);
    if (r < 0)
        return r;
    keep_link(w, name);
    w->counts.written++;
    w->counts.written_bytes += e->size;
    return 0;
}

/* An earlier name of its inode; NULL: this is the first one. */
static const struct oci_node *first_name(struct linked_dir_writing *w, const struct oci_node *n)
{
    struct str key = str_n(&n->inode, sizeof n->inode);
    const struct oci_node *first = n->inode->n_links > 1 ? map_get(&w->first, key) : NULL;
    if (!first && n->inode->n_links > 1)
        (void)map_put(&w->first, key, (void *)n);
    return first;
}

static int add_node(struct linked_dir_writing *w, const struct oci_node *n, struct err *err)
{
    struct oci_entry e = { .type = TAR_DIR, .mode = 0755 };
    if (n->inode->entry)
        e = *n->inode->entry;
    e.path = n->path;
    if (e.type == TAR_DIR)
        return layer_dir_ops.entry(w->dir, &e, err);
    const struct oci_node *first = first_name(w, n);
    if (first) {
        e.type = TAR_HARDLINK;
        e.link = first->path;
        e.size = 0;
    }
    return e.type == TAR_FILE ? add_file(w, n, &e, err) : layer_dir_ops.entry(w->dir, &e, err);
}

static int add_nodes(struct linked_dir_writing *w, struct err *err)
{
    int r = 0;
    scoped(free_scoped) struct oci_node **nodes = NULL;
    size_t n = oci_tree_sorted(&w->tree, &nodes);
    for (size_t i = 0; i < n && r >= 0; i++)
        r = add_node(w, nodes[i], err);
    r = r < 0 ? r : layer_dir_end_layer(w->dir, err);
    return r < 0 ? r : layer_dir_finish(w->dir, err);
}

static int write_all(struct linked_dir_writing *w, struct err *err)
{
    int r = w->piece ? 0 : err_sys(err, -ENOMEM, "read the layers");
    for (size_t i = 0; i < w->n && r >= 0; i++)
        r = open_layer(w, i, err);
    if (r < 0)
        return r;
    scoped(fd_scoped) int links = open_links(w->s->store, true, err);
    if (links < 0)
        return links;
    w->links = links;
    return add_nodes(w, err);
}

int linked_dir_write(const struct stored *s, int root_fd, int gone_fd,
                     const struct layer_dir_opts *opts, struct linked_dir_counts *ret,
                     struct err *err)
{
    struct layer_dir_opts how = *opts;
    assert(!opts->is_rootless && opts->form == LAYER_DIR_MERGED);
    how.symlink_parent = OCI_SYMLINK_PARENT_REFUSE; /* the tree has none */
    struct linked_dir_writing w = { .s = s, .n = s->image->config.n_diff_ids, .links = -1 };
    w.layers = xnew_n(struct oci_layer *, w.n);
    w.tars = xnew_n(int, w.n);
    for (size_t i = 0; i < w.n; i++)
        w.tars[i] = -1;
    w.piece = mem_try(PIECE_BYTES);
    w.dir = layer_dir_new(root_fd, gone_fd, &how);
    oci_tree_init(&w.tree, s->symlink_parent);
    int r = write_all(&w, err);
    if (r >= 0)
        *ret = w.counts;
    oci_tree_fini(&w.tree);
    layer_dir_free(w.dir);
    map_fini(&w.first);
    for (size_t i = 0; i < w.n; i++) {
        oci_layer_free(w.layers[i]);
        fd_scoped(&w.tars[i]);
    }
    free(w.layers);
    free(w.tars);
    free(w.piece);
    return r;
}

/* ---- sweeping ---- */

struct linked_dir_sweeping {
    size_t n;
    uint64_t n_bytes;
    bool is_dry;
};

static int sweep_dir(struct linked_dir_sweeping *s, int links, const char *name, struct err *err)
{
    scoped(tree_names_fini_scoped) struct tree_names names = { 0 };
    scoped(fd_scoped) int dir = sys_openat(links, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    int r = dir < 0 ? err_sys(err, dir, "open '%s'", name) : tree_names_read(dir, &names, err);
    for (size_t i = 0; i < names.all.n && r >= 0; i++) {
        struct stat st;
        const char *file = names.all.p[i];
        if (fstatat(dir, file, &st, AT_SYMLINK_NOFOLLOW) < 0)
            return err_sys(err, -errno, "stat '%s'", file);
        if (st.st_nlink > 1)
            continue;
        if (!s->is_dry && unlinkat(dir, file, 0) < 0)
            return err_sys(err, -errno, "remove '%s'", file);
        s->n++;
        s->n_bytes += (uint64_t)st.st_size;
    }
    if (r >= 0 && !s->is_dry)
        (void)unlinkat(links, name, AT_REMOVEDIR); /* if it is empty */
    return r;
}

static int remove_old_boots(struct oci_store *store, struct err *err)
{
    scoped(free_scoped) char *path = xasprintf("%s/links", oci_store_root(store));
    scoped(tree_names_fini_scoped) struct tree_names names = { 0 };
    scoped(fd_scoped) int dir = sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (dir == -ENOENT)
        return 0;
    int r = dir < 0 ? err_sys(err, dir, "open '%s'", path) : tree_names_read(dir, &names, err);
    for (size_t i = 0; i < names.all.n && r >= 0; i++)
        if (strcmp(names.all.p[i], oci_store_boot(store)) != 0)
            r = tree_remove(dir, names.all.p[i], err);
    return r;
}

int linked_dir_sweep(struct oci_store *store, bool is_dry, size_t *ret_n, uint64_t *ret_bytes,
                     struct err *err)
{
    struct linked_dir_sweeping s = { .is_dry = is_dry };
    struct err why = { 0 };
    scoped(tree_names_fini_scoped) struct tree_names names = { 0 };
    int r = is_dry ? 0 : remove_old_boots(store, err);
    if (r < 0)
        return r;
    scoped(fd_scoped) int links = open_links(store, false, &why);
    if (links < 0 && links != -ENOENT)
        return err_set(err, links, "%s", err_text(&why));
    r = links < 0 ? 0 : tree_names_read(links, &names, err);
    for (size_t i = 0; i < names.all.n && r >= 0; i++)
        r = sweep_dir(&s, links, names.all.p[i], err);
    if (r >= 0) {
        *ret_n = s.n;
        *ret_bytes = s.n_bytes;
    }
    return r;
}
