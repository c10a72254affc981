/* SPDX-License-Identifier: Apache-2.0 */
#include "image/changes.h"

void image_changes_fini(struct image_changes *c)
{
    vec_fini(&c->all);
}

const char *image_change_name(enum image_change_kind kind)
{
    static const char *const names[] = {
        [IMAGE_CHANGE_ADDED] = "added",     [IMAGE_CHANGE_REMOVED] = "removed",
        [IMAGE_CHANGE_CONTENT] = "content", [IMAGE_CHANGE_ATTRIBUTES] = "attributes",
        [IMAGE_CHANGE_TIME] = "time",
    };
    return names[kind];
}

uint64_t image_node_bytes(const struct oci_node *node)
{
    const struct oci_entry *e = node ? node->inode->entry : NULL;
    return e && e->type == TAR_FILE ? e->size : 0;
}

/* What an implicit directory is taken for. */
static const struct oci_entry *entry_of(const struct oci_node *node)
{
    static const struct oci_entry implicit = { .type = TAR_DIR, .mode = 0755 };
    return node->inode->entry ? node->inode->entry : &implicit;
}

static bool is_same_content(const struct oci_entry *a, const struct oci_entry *b)
{
    if (a->type != b->type || a->size != b->size)
        return false;
    switch ((enum tar_type)a->type) {
    case TAR_FILE:
        return memcmp(a->digest, b->digest, sizeof a->digest) == 0;
    case TAR_SYMLINK:
        return str_eq(a->link, b->link);
    case TAR_CHAR_DEVICE:
    case TAR_BLOCK_DEVICE:
        return a->device_major == b->device_major && a->device_minor == b->device_minor;
    case TAR_DIR:
    case TAR_FIFO:
    case TAR_HARDLINK: /* inodes never are */
        break;
    }
    return true;
}

bool image_is_same_rights(const struct oci_entry *a, const struct oci_entry *b)
{
    if (a->mode != b->mode || a->uid != b->uid || a->gid != b->gid || a->n_xattrs != b->n_xattrs)
        return false;
    for (size_t i = 0; i < a->n_xattrs; i++)
        if (!str_eq(a->xattrs[i].name, b->xattrs[i].name) ||
            !str_eq(a->xattrs[i].value, b->xattrs[i].value))
            return false;
    return true;
}

static void add(struct image_changes *c, enum image_change_kind kind, const struct oci_node *from,
                const struct oci_node *to)
{
    struct image_change change = { kind, from, to };
    vec_push(&c->all, change);
}

static void compare(struct image_changes *c, const struct oci_node *from, const struct oci_node *to)
{
    const struct oci_entry *a = entry_of(from), *b = entry_of(to);
    if (!is_same_content(a, b))
        add(c, IMAGE_CHANGE_CONTENT, from, to);
    else if (!image_is_same_rights(a, b))
        add(c, IMAGE_CHANGE_ATTRIBUTES, from, to);
    else if (a->mtime_s != b->mtime_s || a->mtime_ns != b->mtime_ns)
        add(c, IMAGE_CHANGE_TIME, from, to);
    else {
        c->same++;
        c->same_bytes += image_node_bytes(from);
    }
}

void image_changes_find(const struct oci_tree *from, const struct oci_tree *to,
                        struct image_changes *ret)
{
    scoped(free_scoped) struct oci_node **a = NULL, **b = NULL;
    size_t n = oci_tree_sorted(from, &a), m = oci_tree_sorted(to, &b), i = 0, j = 0;
    *ret = (struct image_changes){ 0 };
    while (i < n || j < m) {
        int c = i == n ? 1 : j == m ? -1 : str_cmp(a[i]->path, b[j]->path);
        if (c < 0)
            add(ret, IMAGE_CHANGE_REMOVED, a[i++], NULL);
        else if (c > 0)
            add(ret, IMAGE_CHANGE_ADDED, NULL, b[j++]);
        else
            compare(ret, a[i++], b[j++]);
    }
}
