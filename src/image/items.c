/* SPDX-License-Identifier: Apache-2.0 */
#include "image/items.h"

#include "image/changes.h"

#include <stdio.h>

void image_items_fini(struct image_items *items)
{
    vec_fini(&items->all);
    arena_fini(&items->memory);
}

void image_linked_path(const struct image_atom *atom, char ret[IMAGE_LINKED_PATH_SIZE])
{
    char hex[2 * SHA256_BYTES + 1];
    hex_format(atom->key, sizeof atom->key, hex);
    (void)snprintf(ret, IMAGE_LINKED_PATH_SIZE, IMAGE_LINKED_DIR "/%.2s/%s", hex, hex + 2);
}

static struct image_item item_of(const struct oci_node *node)
{
    const struct oci_entry *e = node->inode->entry;
    return (struct image_item){
        .path = node->path,
        .link = e && e->type == TAR_SYMLINK ? e->link : STR_NULL,
        .entry = e,
        .inode = e && node->inode->n_links > 1 && e->type != TAR_DIR ? node->inode : NULL,
        .mtime_s = e ? e->mtime_s : 0,
        .mtime_ns = e ? e->mtime_ns : 0,
        .type = e ? e->type : TAR_DIR,
    };
}

/* ---- shared layers ---- */

/* The entry of a directory if all sharers agree on its rights; NULL: they do not. */
static const struct oci_entry *agreed(const struct image_refactoring *r, const uint64_t *set,
                                      struct str path)
{
    const struct oci_entry *first = NULL;
    bool is_first = true;
    image_set_each(i, set, r->group.n)
    {
        const struct oci_node *n = oci_tree_find(&r->group.members[i].tree, path);
        const struct oci_entry *e = n ? n->inode->entry : NULL;
        if (!e || (!is_first && !image_is_same_rights(first, e)))
            return NULL;
        first = is_first ? e : first;
        is_first = false;
    }
    return first;
}

static void add_parents(const struct image_refactoring *r, const uint64_t *set, struct map *seen,
                        struct image_items *to)
{
    for (size_t i = 0, n = to->all.n; i < n; i++) {
        struct str path = to->all.p[i].path;
        for (size_t at = path.n; at-- > 0;) {
            struct str dir = str_slice(path, 0, at);
            if (path.p[at] != '/')
                continue;
            if (map_put(seen, dir, (void *)to))
                break; /* and all above it */
            struct image_item item = { .path = dir, .type = TAR_DIR, .entry = agreed(r, set, dir) };
            vec_push(&to->all, item);
        }
    }
}

static void add_linked(const struct image_atom *atom, const struct oci_node *node,
                       struct image_items *to)
{
    char path[IMAGE_LINKED_PATH_SIZE];
    image_linked_path(atom, path);
    struct image_item item = item_of(node);
    item.path = str_copy_arena(&to->memory, str_of(path));
    item.mtime_s = atom->times[0].s;
    item.mtime_ns = atom->times[0].ns;
    vec_push(&to->all, item);
}

static void add_shared(const struct image_refactoring *r, const struct image_atom *atom,
                       struct image_items *to)
{
    const struct image_atom_use *use = &r->atoms.images[atom->owner].p[atom->use];
    if (atom->is_linked) {
        add_linked(atom, use->nodes[0], to);
        return;
    }
    for (uint32_t i = 0; i < use->n; i++) {
        struct image_item item = item_of(use->nodes[i]);
        item.mtime_s = atom->times[i].s;
        item.mtime_ns = atom->times[i].ns;
        vec_push(&to->all, item);
    }
}

void image_items_shared(const struct image_refactoring *r, size_t layer, struct image_items *ret)
{
    const uint64_t *set = r->plan.layers[layer].set;
    size_t sharer = image_set_next(set, 0, r->group.n);
    struct map seen = { .borrows_keys = true };
    *ret = (struct image_items){ 0 };
    for (size_t i = 0; i < r->atoms.all.n; i++) {
        const struct image_atom *atom = &r->atoms.all.p[i];
        if (image_set_has(atom->set, sharer) &&
            image_plan_find(&r->plan, atom->class_index, sharer) == layer)
            add_shared(r, atom, ret);
    }
    add_parents(r, set, &seen, ret);
    map_fini(&seen);
}

/* ---- top layers ---- */

static void add_link(const struct image_atom *atom, const struct oci_node *node,
                     struct image_items *to)
{
    char path[IMAGE_LINKED_PATH_SIZE];
    image_linked_path(atom, path);
    struct image_item item = item_of(node);
    item.type = TAR_SYMLINK;
    item.link = str_of(arena_printf(&to->memory, "/%s", path));
    vec_push(&to->all, item);
}

void image_items_top(const struct image_refactoring *r, size_t image, struct image_items *ret)
{
    const struct image_uses *uses = &r->atoms.images[image];
    *ret = (struct image_items){ 0 };
    map_each (at, &r->group.members[image].tree.nodes) {
        const struct oci_node *node = at->value;
        if (oci_node_is_dir(node) && (node->parent || !node->is_implicit))
            vec_push(&ret->all, item_of(node));
    }
    for (size_t i = 0; i < uses->n; i++) {
        const struct image_atom_use *use = &uses->p[i];
        const struct image_atom *atom = &r->atoms.all.p[use->atom];
        bool is_top = image_plan_find(&r->plan, atom->class_index, image) == IMAGE_PLAN_TOP;
        if (!is_top && atom->is_linked)
            add_link(atom, use->nodes[0], ret);
        for (uint32_t j = 0; is_top && j < use->n; j++)
            vec_push(&ret->all, item_of(use->nodes[j]));
    }
}
