/* SPDX-License-Identifier: Apache-2.0 */
#include "image/proof.h"

#include "image/changes.h"
#include "image/items.h"
#include "oci/chunked_write.h"

enum { SHOWN_BYTES = 120 };

/* The changes that the plan allows for a path of an image. */
struct allowed {
    const struct image_atom *atom;
    const struct image_time *time;
};

struct prover {
    const struct image_refactoring *r;
    size_t image;
    const struct oci_tree *before, *after;
    struct map allowed; /* path -> struct allowed; of paths in shared layers */
    struct map linked;  /* paths of linked content of this image -> its atom */
    struct arena memory;
};

static int refuse(struct str path, const char *what, struct err *err)
{
    return err_set(err, E_DIGEST, "the refactored image differs from its source: '/" STR_FMT "' %s",
                   STR_ARG(str_slice(path, 0, SHOWN_BYTES)), what);
}

static void note_allowed(struct prover *p)
{
    const struct image_uses *uses = &p->r->atoms.images[p->image];
    p->allowed.borrows_keys = true;
    for (size_t i = 0; i < uses->n; i++) {
        const struct image_atom *atom = &p->r->atoms.all.p[uses->p[i].atom];
        if (image_plan_find(&p->r->plan, atom->class_index, p->image) == IMAGE_PLAN_TOP)
            continue;
        for (uint32_t j = 0; j < uses->p[i].n; j++) {
            struct allowed *a = arena_new(&p->memory, struct allowed);
            *a = (struct allowed){ atom, &atom->times[j] };
            (void)map_put(&p->allowed, uses->p[i].nodes[j]->path, a);
        }
        if (atom->is_linked) {
            char path[IMAGE_LINKED_PATH_SIZE];
            image_linked_path(atom, path);
            (void)map_put(&p->linked, str_of(path), (void *)atom);
        }
    }
}

/* A file that is a symbolic link now, to one with its content and rights. */
static bool is_linked(const struct prover *p, const struct image_change *c)
{
    char path[IMAGE_LINKED_PATH_SIZE];
    const struct allowed *a = map_get(&p->allowed, c->from->path);
    if (!a || !a->atom->is_linked || c->to->inode->entry->type != TAR_SYMLINK)
        return false;
    image_linked_path(a->atom, path);
    struct str link = c->to->inode->entry->link;
    const struct oci_node *target = oci_tree_find(p->after, str_of(path));
    const struct oci_entry *old = c->from->inode->entry;
    const struct oci_entry *new = target ? target->inode->entry : NULL;
    return new &&link.n &&link.p[0] == '/' && str_is(str_slice(link, 1, link.n), path) &&
           new->type == TAR_FILE &&memcmp(old->digest, new->digest, SHA256_BYTES) == 0 &&
           image_is_same_rights(old, new);
}

static bool is_expected_time(const struct prover *p, const struct image_change *c)
{
    const struct allowed *a = map_get(&p->allowed, c->from->path);
    const struct oci_entry *e = c->to->inode->entry;
    return a && !a->time->is_exact && e->mtime_s == a->time->s && e->mtime_ns == a->time->ns;
}

/* The content of a link of this image, whose rights is_linked() compares, or a directory above it.
 */
static bool is_linked_content(const struct prover *p, const struct oci_node *node)
{
    static const struct oci_entry plain = { .mode = 0755 };
    if (!p->r->opts->atoms.is_linked || !oci_node_is_dir(node))
        return map_has(&p->linked, node->path);
    return (str_is(node->path, IMAGE_LINKED_DIR) ||
            str_has_prefix(node->path, STR(IMAGE_LINKED_DIR "/"))) &&
           (!node->inode->entry || image_is_same_rights(node->inode->entry, &plain));
}

/* A file that a layer has because it is eStargz; it must be a regular file, independently of the
 * source. */
static bool is_of_estargz(const struct prover *p, const struct image_change *c)
{
    const struct oci_node *node = c->to ? c->to : c->from;
    return p->r->opts->form.kind == IMAGE_LAYER_ESTARGZ && oci_estargz_is_own_name(node->path) &&
           (!c->to || (c->to->inode->entry && c->to->inode->entry->type == TAR_FILE));
}

static int check_change(const struct prover *p, const struct image_change *c, struct err *err)
{
    if (is_of_estargz(p, c))
        return 0;
    switch (c->kind) {
    case IMAGE_CHANGE_ADDED:
        return is_linked_content(p, c->to) ? 0 : refuse(c->to->path, "is new", err);
    case IMAGE_CHANGE_REMOVED:
        return refuse(c->from->path, "is missing", err);
    case IMAGE_CHANGE_CONTENT:
        return is_linked(p, c) ? 0 : refuse(c->from->path, "has another content", err);
    case IMAGE_CHANGE_ATTRIBUTES:
        return refuse(c->from->path, "has another mode, owner or attribute", err);
    case IMAGE_CHANGE_TIME:
        return is_expected_time(p, c) ? 0 : refuse(c->from->path, "has another time", err);
    }
    return 0;
}

/* Names that are one file before are one file after, and only those. */
static int check_links(const struct prover *p, struct err *err)
{
    struct map inodes = { 0 }; /* inode before -> inode after */
    int r = 0;
    map_each (at, &p->before->nodes) {
        const struct oci_node *from = at->value, *to = oci_tree_find(p->after, from->path);
        if (r < 0 || oci_node_is_dir(from) ||
            (p->r->opts->form.kind == IMAGE_LAYER_ESTARGZ && oci_estargz_is_own_name(from->path)))
            continue;
        if (from->inode->n_links != to->inode->n_links) {
            r = refuse(from->path, "has another number of links", err);
        } else if (from->inode->n_links > 1) {
            struct str key = str_n(&from->inode, sizeof from->inode);
            const void *other = map_put(&inodes, key, to->inode);
            if (other && other != to->inode)
                r = refuse(from->path, "is linked to another file", err);
        }
    }
    map_fini(&inodes);
    return r;
}

int image_proof(const struct image_refactoring *r, size_t image, const struct oci_tree *again,
                uint64_t *ret_times, struct err *err)
{
    struct prover p = {
        .r = r, .image = image, .before = &r->group.members[image].tree, .after = again
    };
    struct image_changes changes;
    uint64_t n_times = 0;
    int status = 0;
    note_allowed(&p);
    image_changes_find(p.before, p.after, &changes);
    for (size_t i = 0; status >= 0 && i < changes.all.n; i++) {
        status = check_change(&p, &changes.all.p[i], err);
        n_times += changes.all.p[i].kind == IMAGE_CHANGE_TIME;
    }
    status = status < 0 ? status : check_links(&p, err);
    image_changes_fini(&changes);
    map_fini(&p.allowed);
    map_fini(&p.linked);
    arena_fini(&p.memory);
    if (status >= 0)
        *ret_times = n_times;
    return status;
}
