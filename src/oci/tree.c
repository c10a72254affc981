/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/tree.h"

#include <assert.h>
#include <errno.h>

enum { LINKS_MAX = 40 }; /* symbolic links followed for one path, as Linux does */

static struct oci_inode *inode_new(struct oci_tree *t, const struct oci_entry *entry)
{
    struct oci_inode *i = arena_new(&t->memory, struct oci_inode);
    i->entry = entry;
    return i;
}

/* A node without parent in the table. */
static struct oci_node *node_new(struct oci_tree *t, struct str path, struct oci_inode *inode)
{
    struct oci_node *n = arena_new(&t->memory, struct oci_node);
    n->path = str_copy_arena(&t->memory, path);
    n->inode = inode;
    inode->n_links++;
    (void)map_put(&t->nodes, n->path, n);
    return n;
}

void oci_tree_init(struct oci_tree *t, enum oci_symlink_parent symlink_parent)
{
    *t = (struct oci_tree){ .symlink_parent = symlink_parent };
    t->nodes.borrows_keys = true;
    t->memory.block_bytes = 64 << 10;
    t->memory.max_bytes = OCI_TREE_MEMORY_MAX;
    t->root = node_new(t, STR(""), inode_new(t, NULL));
    t->root->is_implicit = true;
}

void oci_tree_fini(struct oci_tree *t)
{
    map_fini(&t->nodes);
    arena_fini(&t->memory);
}

struct oci_node *oci_tree_find(const struct oci_tree *t, struct str path)
{
    return map_get(&t->nodes, path);
}

static struct str dir_of(struct str path)
{
    size_t at = path.n;
    while (at && path.p[at - 1] != '/')
        at--;
    return str_slice(path, 0, at ? at - 1 : 0);
}

static void unlink_node(struct oci_tree *t, struct oci_node *n)
{
    struct oci_node *parent = n->parent;
    if (n->prev)
        n->prev->next = n->next;
    else
        parent->first_child = n->next;
    if (n->next)
        n->next->prev = n->prev;
    n->inode->n_links--;
    (void)map_del(&t->nodes, n->path);
}

/* Everything below `n`, deepest first, without recursion: paths are as deep as they are long. */
static void remove_children(struct oci_tree *t, struct oci_node *n)
{
    struct oci_node *at = n->first_child;
    while (at) {
        if (at->first_child) {
            at = at->first_child;
            continue;
        }
        struct oci_node *parent = at->parent;
        unlink_node(t, at);
        at = parent->first_child ? parent->first_child : parent == n ? NULL : parent;
    }
}

static void remove_node(struct oci_tree *t, struct oci_node *n)
{
    assert(n->parent);
    remove_children(t, n);
    unlink_node(t, n);
}

static struct oci_node *add_child(struct oci_tree *t, struct oci_node *parent, struct str path,
                                  struct oci_inode *inode)
{
    struct oci_node *n = node_new(t, path, inode);
    n->parent = parent;
    n->next = parent->first_child;
    if (n->next)
        n->next->prev = n;
    parent->first_child = n;
    return n;
}

/* ---- parents ---- */

/* The nearest node above `path` that is there. What has children is a directory, so it alone needs
 * to be looked at. */
static struct oci_node *nearest_above(struct oci_tree *t, struct str path)
{
    for (;;) {
        path = dir_of(path);
        struct oci_node *n = oci_tree_find(t, path);
        if (n)
            return n;
    }
}

/* The directories of `path` that are missing below `dir`, its nearest node above. */
static int make_parents(struct oci_tree *t, struct oci_node **dir, struct str path, struct err *err)
{
    for (size_t at = (*dir)->path.n + 1; at < path.n; at++) {
        if (path.p[at] != '/')
            continue;
        *dir = add_child(t, *dir, str_slice(path, 0, at), inode_new(t, NULL));
        (*dir)->is_implicit = true;
        if (arena_is_full(&t->memory))
            return err_set(err, E_LIMIT, "the directories of an image take more than %d bytes",
                           OCI_TREE_MEMORY_MAX);
    }
    return 0;
}

/*
 * The parent directory of `path`, created if it is missing. *path changes if a link is followed,
 * and then points into `room`.
 */
static int parent_of(struct oci_tree *t, struct str *path, char *room, struct oci_node **ret,
                     struct err *err)
{
    unsigned links = 0;
    struct oci_node *n = t->root;
    while (path->n) {
        n = nearest_above(t, *path);
        if (oci_node_is_dir(n))
            break;
        bool is_link = n->inode->entry->type == TAR_SYMLINK;
        if (is_link && t->symlink_parent == OCI_SYMLINK_PARENT_REFUSE)
            return err_set(err, E_PARSE, "'" STR_FMT "' is below a symbolic link", STR_ARG(*path));
        if (is_link && t->symlink_parent == OCI_SYMLINK_PARENT_FOLLOW) {
            char joined[TAR_PATH_MAX];
            struct str to, rest = str_slice(*path, n->path.n + 1, path->n);
            if (++links > LINKS_MAX ||
                tar_join_link(dir_of(n->path), n->inode->entry->link, rest, joined, &to) < 0)
                return err_set(err, E_PARSE, "'" STR_FMT "' is below too many symbolic links",
                               STR_ARG(*path));
            memcpy(room, joined, to.n);
            *path = str_n(room, to.n);
        } else {
            remove_node(t, n);
        }
    }
    int r = make_parents(t, &n, *path, err);
    if (r >= 0)
        *ret = n;
    return r;
}

/* ---- a layer ---- */

static void apply_whiteout(struct oci_tree *t, const struct oci_whiteout *w)
{
    struct oci_node *n = oci_tree_find(t, w->path);
    if (w->is_opaque) {
        if (n)
            remove_children(t, n); /* a new directory may be marked, too */
    } else if (n && n->parent) {
        remove_node(t, n);
    } else {
        t->n_missing++;
    }
}

static struct oci_inode *inode_of(struct oci_tree *t, const struct oci_entry *e)
{
    if (e->type != TAR_HARDLINK)
        return inode_new(t, e);
    const struct oci_node *target = oci_tree_find(t, e->link);
    return target && !oci_node_is_dir(target) ? target->inode : NULL;
}

static int apply_entry(struct oci_tree *t, const struct oci_entry *e, struct err *err)
{
    char room[TAR_PATH_MAX];
    struct str path = e->path;
    struct oci_node *parent;
    int r = parent_of(t, &path, room, &parent, err);
    if (r < 0)
        return r;
    struct oci_node *old = oci_tree_find(t, path);
    struct oci_inode *inode = inode_of(t, e);
    if (!inode)
        return err_set(err, E_PARSE,
                       "'" STR_FMT "' is a hard link to '" STR_FMT "', which is no file",
                       STR_ARG(e->path), STR_ARG(e->link));
    if (old && oci_node_is_dir(old) && e->type == TAR_DIR) {
        old->inode->n_links--;
        old->inode = inode;
        inode->n_links++;
        old->is_implicit = false;
        return 0;
    }
    if (old && !old->parent)
        return err_set(err, E_PARSE, "the root is no directory");
    if (old && old->inode == inode)
        return 0; /* a link to itself */
    if (old)
        remove_node(t, old);
    (void)add_child(t, parent, path, inode);
    return arena_is_full(&t->memory)
               ? err_set(err, E_LIMIT, "the directories of an image take more than %d bytes",
                         OCI_TREE_MEMORY_MAX)
               : 0;
}

int oci_tree_apply(struct oci_tree *t, const struct oci_layer *layer, struct err *err)
{
    for (size_t i = 0; i < layer->whiteouts.n; i++)
        apply_whiteout(t, &layer->whiteouts.p[i]);
    for (size_t i = 0; i < layer->entries.n; i++) {
        int r = apply_entry(t, &layer->entries.p[i], err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int cmp_nodes(const void *a, const void *b)
{
    const struct oci_node *const *x = a, *const *y = b;
    return str_cmp((*x)->path, (*y)->path);
}

size_t oci_tree_sorted(const struct oci_tree *t, struct oci_node ***ret)
{
    struct oci_node **all = xnew_n(struct oci_node *, t->nodes.n);
    size_t n = 0;
    map_each (e, &t->nodes)
        all[n++] = e->value;
    qsort(all, n, sizeof *all, cmp_nodes);
    *ret = all;
    return n;
}
