/* SPDX-License-Identifier: Apache-2.0 */
#include "image/redundancy.h"

/* The images that have the layer this entry is from; NULL: none of this image's. */
static const uint64_t *layer_set(const struct image_member *m, const struct map *sets,
                                 const struct oci_entry *e)
{
    for (size_t k = m->image.manifest.n_layers; k-- > 0;) {
        const struct oci_layer *l = m->layers[k];
        if (e >= l->entries.p && e < l->entries.p + l->entries.n)
            return map_get(sets, str_n(l->diff_id, SHA256_BYTES));
    }
    return NULL;
}

/* Which images have each layer, by DiffID; in the arena. */
static void note_sets(const struct image_refactoring *r, struct arena *a, struct map *sets)
{
    for (size_t i = 0; i < r->group.n; i++)
        for (size_t k = 0; k < r->group.members[i].image.manifest.n_layers; k++) {
            struct str key = str_n(r->group.members[i].layers[k]->diff_id, SHA256_BYTES);
            uint64_t *set = map_get(sets, key);
            if (!set) {
                set = arena_new_n(a, uint64_t, r->atoms.n_words);
                (void)map_put(sets, key, set);
            }
            image_set_add(set, i);
        }
}

static uint64_t redundant(const struct image_refactoring *r, size_t image, const struct map *sets)
{
    const struct image_uses *uses = &r->atoms.images[image];
    uint64_t n = 0;
    for (size_t i = 0; i < uses->n; i++) {
        const struct image_atom *atom = &r->atoms.all.p[uses->p[i].atom];
        if (image_set_count(atom->set, r->atoms.n_words) < 2)
            continue;
        const uint64_t *set =
            layer_set(&r->group.members[image], sets, uses->p[i].nodes[0]->inode->entry);
        if (!set || !image_set_is_subset(atom->set, set, r->atoms.n_words))
            n += atom->content;
    }
    return n;
}

static bool exceeds(uint64_t bytes, uint64_t threshold, uint64_t of)
{
    if (threshold == IMAGE_REDUNDANCY_AUTOMATIC)
        threshold = MAX(IMAGE_REDUNDANCY_MIN, of / 100 * IMAGE_REDUNDANCY_PERCENT);
    return bytes > threshold;
}

bool image_is_redundant(const struct image_refactoring *r, uint64_t threshold, uint64_t *ret_bytes)
{
    struct arena a = { 0 };
    struct map sets = { 0 };
    const struct image_refactor_stats *f = &r->figures;
    bool is_due = f->layers > f->distinct && exceeds(f->layers - f->distinct, threshold, f->layers);
    *ret_bytes = 0;
    note_sets(r, &a, &sets);
    for (size_t i = 0; i < r->group.n; i++) {
        uint64_t n = redundant(r, i, &sets);
        *ret_bytes = MAX(*ret_bytes, n);
        is_due = is_due || exceeds(n, threshold, r->atoms.images[i].merged);
    }
    map_fini(&sets);
    arena_fini(&a);
    return is_due;
}
