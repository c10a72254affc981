/* SPDX-License-Identifier: Apache-2.0 */
#include "image/share.h"

void image_share_fini(struct image_share *s)
{
    for (size_t i = 0; i < IMAGE_KEYS; i++)
        map_fini(&s->seen[i]);
    arena_fini(&s->keys);
}

static void add_text(struct sha256 *h, struct str s)
{
    uint64_t n = s.n;
    sha256_add(h, &n, sizeof n);
    sha256_add(h, s.p, s.n);
}

static void add_attributes(struct sha256 *h, const struct oci_entry *e)
{
    const uint32_t numbers[] = { e->mode, e->uid, e->gid, e->n_xattrs };
    sha256_add(h, numbers, sizeof numbers);
    for (size_t i = 0; i < e->n_xattrs; i++) {
        add_text(h, e->xattrs[i].name);
        add_text(h, e->xattrs[i].value);
    }
}

void image_key_of(const struct oci_node *node, enum image_key key, uint8_t ret[SHA256_BYTES])
{
    const struct oci_entry *e = node->inode->entry;
    scoped(sha256_free_scoped) struct sha256 *h = sha256_new();
    sha256_add(h, e->digest, sizeof e->digest);
    if (key >= IMAGE_KEY_PATH)
        add_text(h, node->path);
    if (key >= IMAGE_KEY_ATTRIBUTES)
        add_attributes(h, e);
    if (key >= IMAGE_KEY_MODIFICATION) {
        sha256_add(h, &e->mtime_s, sizeof e->mtime_s);
        sha256_add(h, &e->mtime_ns, sizeof e->mtime_ns);
    }
    sha256_end(h, ret);
}

static void add_file(struct image_share *s, const struct oci_node *node)
{
    uint64_t size = node->inode->entry->size;
    s->merged.files++;
    s->merged.bytes += size;
    for (size_t i = 0; i < IMAGE_KEYS; i++) {
        uint8_t key[SHA256_BYTES];
        image_key_of(node, (enum image_key)i, key);
        if (map_has(&s->seen[i], str_n(key, sizeof key)))
            continue;
        struct str kept = str_copy_arena(&s->keys, str_n(key, sizeof key));
        s->seen[i].borrows_keys = true;
        (void)map_put(&s->seen[i], kept, (void *)kept.p);
        s->distinct[i].files++;
        s->distinct[i].bytes += size;
    }
}

/* Of the names of an inode the original one is used, else the first that remains. */
static bool is_counted(struct map *linked, const struct oci_node *node, bool is_own_name)
{
    const struct oci_inode *inode = node->inode;
    if (inode->n_links == 1)
        return is_own_name == str_eq(node->path, inode->entry->path);
    if (is_own_name && !str_eq(node->path, inode->entry->path))
        return false;
    return !map_put(linked, str_n(&inode, sizeof inode), (void *)inode);
}

void image_share_add(struct image_share *s, const struct oci_tree *tree)
{
    scoped(free_scoped) struct oci_node **nodes = NULL;
    struct map linked = { 0 }; /* inodes with several names that were counted */
    size_t n = oci_tree_sorted(tree, &nodes);
    s->n_images++;
    for (int is_own_name = 1; is_own_name >= 0; is_own_name--)
        for (size_t i = 0; i < n; i++) {
            const struct oci_entry *e = nodes[i]->inode->entry;
            if (e && e->type == TAR_FILE && is_counted(&linked, nodes[i], is_own_name))
                add_file(s, nodes[i]);
        }
    map_fini(&linked);
}
