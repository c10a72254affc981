/* SPDX-License-Identifier: Apache-2.0 */
#include "image/refactor.h"

#include "image/share.h"
#include "image/volatility.h"

enum { HEADER_RATIO = 10 }; /* headers of directories compress to about a tenth */

bool image_refactoring_keeps(const struct image_refactoring *r, size_t image)
{
    return (r->plan.images[image].n_shared == 0 && r->opts->form.kind == IMAGE_LAYER_GZIP) ||
           (r->images && r->images[image].is_kept);
}

void image_refactoring_fini(struct image_refactoring *r)
{
    for (size_t i = 0; r->layers && i < r->plan.n_layers; i++)
        image_layer_blob_fini(&r->layers[i]);
    for (size_t i = 0; r->images && i < r->group.n; i++)
        image_layer_blob_fini(&r->images[i].top);
    image_plan_fini(&r->plan);
    image_atoms_fini(&r->atoms);
    image_group_fini(&r->group);
    arena_fini(&r->memory);
    *r = (struct image_refactoring){ 0 };
}

/* ---- the present layers of the images ---- */

struct source_map {
    struct map seen; /* DiffID -> struct image_plan_source */
    size_t n;
};

static uint64_t content_of(const struct oci_layer *l)
{
    uint64_t n = 0;
    for (size_t i = 0; i < l->entries.n; i++)
        n += l->entries.p[i].size;
    return n;
}

static void note_source(struct image_refactoring *r, struct source_map *m, size_t image, size_t k)
{
    const struct image_member *member = &r->group.members[image];
    struct str key = str_n(member->layers[k]->diff_id, SHA256_BYTES);
    struct image_plan_source *s = map_get(&m->seen, key);
    if (!s) {
        s = &r->sources[m->n++];
        s->size = member->layer_sizes[k];
        s->set = arena_new_n(&r->memory, uint64_t, r->atoms.n_words);
        r->figures.layers += content_of(member->layers[k]);
        (void)map_put(&m->seen, key, s);
    }
    image_set_add((uint64_t *)s->set, image);
}

static void note_sources(struct image_refactoring *r)
{
    struct source_map m = { 0 };
    size_t n = 0;
    for (size_t i = 0; i < r->group.n; i++)
        n += r->group.members[i].image.manifest.n_layers;
    r->sources = arena_new_n(&r->memory, struct image_plan_source, n);
    for (size_t i = 0; i < r->group.n; i++)
        for (size_t k = 0; k < r->group.members[i].image.manifest.n_layers; k++)
            note_source(r, &m, i, k);
    r->figures.n_source_layers = m.n;
    map_fini(&m.seen);
}

/* ---- figures ---- */

static void note_content(struct image_refactoring *r)
{
    struct map seen = { 0 };
    for (size_t i = 0; i < r->group.n; i++) {
        r->figures.merged += r->atoms.images[i].merged;
        map_each (at, &r->group.members[i].tree.nodes) {
            const struct oci_entry *e = ((struct oci_node *)at->value)->inode->entry;
            if (!e || e->type != TAR_FILE || e->size == 0)
                continue;
            struct str key = str_n(e->digest, sizeof e->digest);
            seen.borrows_keys = true;
            if (!map_put(&seen, key, (void *)e))
                r->figures.distinct += e->size;
        }
    }
    map_fini(&seen);
}

/* How often the plan stores the atoms of a class: in shared layers, and in top layers. */
static uint64_t copies_of(const struct image_refactoring *r, size_t class_index)
{
    const struct image_plan *p = &r->plan;
    uint64_t n = p->pieces[class_index].n;
    image_set_each(image, p->classes[class_index].set, p->n_images) n +=
        image_plan_find(p, class_index, image) == IMAGE_PLAN_TOP;
    return n;
}

static void note_planned(struct image_refactoring *r)
{
    scoped(free_scoped) uint64_t *copies = xnew_n(uint64_t, r->atoms.classes.n);
    for (size_t i = 0; i < r->atoms.classes.n; i++)
        copies[i] = copies_of(r, i);
    vec_each (atom, &r->atoms.all)
        r->figures.planned += atom->content * copies[atom->class_index];
}

/* ---- the plan ---- */

static int find_atoms(struct image_refactoring *r, struct err *err)
{
    scoped(free_scoped) struct image_group_member *all =
        xnew_n(struct image_group_member, r->group.n);
    for (size_t i = 0; i < r->group.n; i++) {
        const struct image_member *m = &r->group.members[i];
        all[i] = (struct image_group_member){ &m->tree, m->layers, m->layer_sizes,
                                              m->image.manifest.n_layers };
    }
    return image_atoms_find(all, r->group.n, &r->opts->atoms, &r->atoms, err);
}

static void split_atoms(struct image_refactoring *r)
{
    struct image_volatility own = { 0 };
    struct image_volatility *v = r->opts->volatility ? r->opts->volatility : &own;
    if (r->opts->split_threshold == 0)
        return;
    image_volatility_note(v, &r->atoms);
    image_volatility_split(v, &r->atoms);
    image_volatility_fini(&own);
}

static int plan(struct image_refactoring *r, struct err *err)
{
    const struct image_refactor_opts *o = r->opts;
    scoped(free_scoped) uint64_t *directories = xnew_n(uint64_t, r->group.n);
    uint64_t stored = 0;
    note_sources(r);
    note_content(r);
    for (size_t i = 0; i < r->group.n; i++)
        directories[i] = r->atoms.images[i].directories_raw / HEADER_RATIO;
    for (size_t i = 0; i < r->figures.n_source_layers; i++)
        stored += r->sources[i].size;
    struct image_plan_input in = {
        .n_images = r->group.n,
        .classes = r->atoms.classes.p,
        .n_classes = r->atoms.classes.n,
        .sources = r->sources,
        .n_sources = (size_t)r->figures.n_source_layers,
        .directories = directories,
        .max_layers = o->max_layers,
        .layer_threshold = o->layer_threshold,
        .split_threshold = o->split_threshold,
        .gain_threshold = o->gain_threshold == IMAGE_GAIN_AUTOMATIC
                              ? image_plan_gain_default(stored)
                              : o->gain_threshold,
        .cached = o->cached,
        .is_forced = o->is_forced,
        .is_for_all = o->form.kind != IMAGE_LAYER_GZIP,
    };
    int status = image_plan_make(&in, &r->plan, err);
    if (status >= 0)
        note_planned(r);
    return status;
}

int image_refactor_plan(const char *const *references, size_t n,
                        const struct image_refactor_opts *opts, struct image_spool *spool,
                        struct image_refactoring *ret, struct err *err)
{
    struct image_refactoring r = { .opts = opts };
    const struct image_group_opts group = {
        .platform = opts->platform,
        .registry = opts->registry,
        .reading = opts->reading,
        .symlink_parent = opts->symlink_parent,
        .n_threads = opts->n_threads,
        .index_directory = opts->index_directory,
        .spool = spool,
        .unreadable = opts->unreadable,
        .n_indexed = opts->n_indexed,
    };
    int status = image_group_read(references, n, &group, &r.group, err);
    status = status < 0 ? status : find_atoms(&r, err);
    if (status >= 0)
        split_atoms(&r);
    status = status < 0 ? status : plan(&r, err);
    if (status < 0)
        image_refactoring_fini(&r);
    *ret = r;
    return status;
}
