/* SPDX-License-Identifier: Apache-2.0 */
#include "image/plan.h"

#include "base/map.h"
#include "base/vec.h"

#include <assert.h>

/* A class with all its parts. */
struct ranked {
    const uint32_t *parts; /* indexes of classes with the same set, the steadiest first */
    uint32_t n_parts, n_images;
    const uint64_t *set;
    uint64_t size, gain;
    uint64_t steady_size; /* of the first part */
    size_t n_words;
    bool is_split;
};

/* What a layer is made for: parts of a class. */
struct seed {
    const struct ranked *of;
    uint32_t first_part, n_parts, part; /* part: the last one */
    uint64_t size;
};

struct image_planner {
    const struct image_plan_input *in;
    struct image_plan *plan;
    uint32_t *by_set;      /* indexes of all classes, parts next to each other */
    struct ranked *ranked; /* at first those that become layers, n_kept */
    size_t n_ranked, n_kept;
    struct seed *seeds; /* of layers, in their order */
    uint32_t *layer_of; /* of each class, or IMAGE_PLAN_TOP */
    VEC(uint32_t) pieces;
};

void image_plan_fini(struct image_plan *p)
{
    arena_fini(&p->memory);
    *p = (struct image_plan){ 0 };
}

uint64_t image_plan_gain_default(uint64_t stored_before)
{
    return MAX(IMAGE_GAIN_THRESHOLD, stored_before / 10);
}

/* ---- which classes become layers ---- */

static int cmp_u64_desc(uint64_t a, uint64_t b)
{
    return (a < b) - (a > b);
}

static int by_gain(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;
    int c = cmp_u64_desc(a->gain, b->gain);
    c = c ? c : cmp_u64_desc(a->n_images, b->n_images);
    return c ? c : image_set_cmp(a->set, b->set, a->n_words);
}

/* What changes does not count: the next version of it is not in the same class. */
static int by_sharers(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;
    int c = cmp_u64_desc(a->n_images, b->n_images);
    c = c ? c : cmp_u64_desc(a->steady_size, b->steady_size);
    return c ? c : image_set_cmp(a->set, b->set, a->n_words);
}

/* The order in which images have their layers, lowest first. */
static int by_place(const void *x, const void *y)
{
    const struct seed *a = x, *b = y;
    int c = cmp_u64_desc(a->of->n_images, b->of->n_images);
    c = c ? c : (a->part > b->part) - (a->part < b->part);
    c = c ? c : cmp_u64_desc(a->size, b->size);
    return c ? c : image_set_cmp(a->of->set, b->of->set, a->of->n_words);
}

struct by_set {
    const struct image_class *class;
    uint32_t index;
    size_t n_words;
};

static int by_set_and_part(const void *x, const void *y)
{
    const struct by_set *a = x, *b = y;
    int c = image_set_cmp(a->class->set, b->class->set, a->n_words);
    return c ? c : (a->class->part > b->class->part) - (a->class->part < b->class->part);
}

/* Classes with equal sets next to each other. */
static void sort_parts(struct image_planner *p)
{
    const struct image_plan_input *in = p->in;
    scoped(free_scoped) struct by_set *all = xnew_n(struct by_set, in->n_classes);
    for (size_t i = 0; i < in->n_classes; i++)
        all[i] = (struct by_set){ &in->classes[i], (uint32_t)i, p->plan->n_words };
    qsort(all, in->n_classes, sizeof *all, by_set_and_part);
    for (size_t i = 0; i < in->n_classes; i++)
        p->by_set[i] = all[i].index;
}

static void rank(struct image_planner *p)
{
    const struct image_plan_input *in = p->in;
    size_t n_words = p->plan->n_words;
    sort_parts(p);
    for (size_t i = 0; i < in->n_classes; i++) {
        const struct image_class *c = &in->classes[p->by_set[i]];
        struct ranked *last = p->n_ranked ? &p->ranked[p->n_ranked - 1] : NULL;
        if (!last || image_set_cmp(last->set, c->set, n_words) != 0) {
            unsigned n = image_set_count(c->set, n_words);
            assert(n > 0);
            last = &p->ranked[p->n_ranked++];
            *last = (struct ranked){
                .parts = &p->by_set[i],
                .n_images = n,
                .set = c->set,
                .steady_size = c->size,
                .n_words = n_words,
            };
        }
        last->n_parts++;
        last->size += c->size;
        last->gain = (last->n_images - 1) * last->size;
    }
    qsort(p->ranked, p->n_ranked, sizeof *p->ranked, by_gain);
}

static bool has_budget(const struct image_planner *p, const uint64_t *set, uint32_t n_layers)
{
    image_set_each(i, set, p->in->n_images) if (p->plan->images[i].n_shared + n_layers >=
                                                p->in->max_layers) return false;
    return true;
}

static void take_budget(struct image_planner *p, const uint64_t *set, uint32_t n_layers)
{
    image_set_each(i, set, p->in->n_images) p->plan->images[i].n_shared += n_layers;
}

/* Those that become layers, to the front. */
static void choose(struct image_planner *p)
{
    for (size_t i = 0; i < p->n_ranked; i++) {
        struct ranked r = p->ranked[i];
        if (r.n_images < 2 || r.size < p->in->layer_threshold || !has_budget(p, r.set, 1))
            continue;
        take_budget(p, r.set, 1);
        p->ranked[i] = p->ranked[p->n_kept];
        p->ranked[p->n_kept++] = r;
    }
}

static bool can_split(const struct image_planner *p, const struct ranked *r)
{
    if (p->in->split_threshold == 0 || r->n_parts < 2 || r->size < p->in->split_threshold)
        return false;
    for (uint32_t i = 0; i < r->n_parts; i++)
        if (p->in->classes[r->parts[i]].size < p->in->layer_threshold)
            return false;
    return has_budget(p, r->set, r->n_parts - 1);
}

/* With the rest of the budget: the budget never leaves a class without a layer. Returns the number
 * of layers. */
static size_t split(struct image_planner *p)
{
    size_t n_layers = 0;
    for (size_t i = 0; i < p->n_kept; i++) {
        struct ranked *r = &p->ranked[i];
        r->is_split = can_split(p, r);
        if (r->is_split)
            take_budget(p, r->set, r->n_parts - 1);
        n_layers += r->is_split ? r->n_parts : 1;
    }
    qsort(p->ranked, p->n_kept, sizeof *p->ranked, by_sharers);
    return n_layers;
}

static struct seed make_seed(const struct image_planner *p, const struct ranked *of, uint32_t first,
                             uint32_t n)
{
    struct seed s = { .of = of, .first_part = first, .n_parts = n };
    for (uint32_t i = first; i < first + n; i++)
        s.size += p->in->classes[of->parts[i]].size;
    s.part = p->in->classes[of->parts[first + n - 1]].part;
    return s;
}

static void add_layers(struct image_planner *p, size_t n_layers)
{
    struct image_plan *plan = p->plan;
    size_t n = 0;
    p->seeds = xnew_n(struct seed, n_layers);
    for (size_t i = 0; i < p->n_kept; i++) {
        const struct ranked *r = &p->ranked[i];
        for (uint32_t k = 0; r->is_split && k < r->n_parts; k++)
            p->seeds[n++] = make_seed(p, r, k, 1);
        if (!r->is_split)
            p->seeds[n++] = make_seed(p, r, 0, r->n_parts);
    }
    qsort(p->seeds, n, sizeof *p->seeds, by_place);
    plan->layers = arena_new_n(&plan->memory, struct image_plan_layer, n);
    plan->n_layers = n;
    for (size_t i = 0; i < n; i++) {
        const struct seed *s = &p->seeds[i];
        plan->layers[i] = (struct image_plan_layer){
            .set = s->of->set,
            .n_sharers = s->of->n_images,
            .class_index = s->of->parts[s->first_part],
            .part = s->part,
            .is_split = s->of->is_split,
        };
        for (uint32_t k = s->first_part; k < s->first_part + s->n_parts; k++)
            p->layer_of[s->of->parts[k]] = (uint32_t)i;
    }
}

/* ---- the layer of each class ---- */

static void add_piece(struct image_planner *p, uint32_t class_index, uint32_t layer)
{
    const struct image_class *c = &p->in->classes[class_index];
    struct image_plan_layer *l = &p->plan->layers[layer];
    p->plan->pieces[class_index].n++;
    vec_push(&p->pieces, layer);
    l->size += c->size;
    l->raw += c->raw;
    l->n_atoms += c->n_atoms;
}

/* Of the layers of a class the one that fits the part: what changes does not go where nothing
 * changes, if that can be. */
static uint32_t layer_for_part(const struct image_planner *p, const struct ranked *r, uint32_t part)
{
    uint32_t found = p->layer_of[r->parts[0]];
    for (uint32_t i = 1; i < r->n_parts; i++)
        if (p->in->classes[r->parts[i]].part <= part)
            found = p->layer_of[r->parts[i]];
    return found;
}

/* A class without a layer: into disjoint layers of subsets, those with the most sharers first, and
 * of them the largest. *rest keeps the images for which none was found. Whether classes were split
 * counts for nothing here, so that splitting never stores more. */
static void spill(struct image_planner *p, uint32_t class_index, uint64_t *rest)
{
    size_t n_words = p->plan->n_words;
    for (size_t i = 0; i < p->n_kept && !p->in->is_plain; i++) {
        const struct ranked *r = &p->ranked[i];
        if (!image_set_is_subset(r->set, rest, n_words))
            continue;
        add_piece(p, class_index, layer_for_part(p, r, p->in->classes[class_index].part));
        image_set_subtract(rest, r->set, n_words);
    }
}

static void place(struct image_planner *p)
{
    struct image_plan *plan = p->plan;
    for (size_t i = 0; i < p->in->n_classes; i++) {
        const struct image_class *c = &p->in->classes[i];
        uint64_t rest[IMAGE_SET_U64_MAX] = { 0 };
        plan->pieces[i].first = (uint32_t)p->pieces.n;
        if (p->layer_of[i] != IMAGE_PLAN_TOP) {
            add_piece(p, (uint32_t)i, p->layer_of[i]);
            continue;
        }
        memcpy(rest, c->set, plan->n_words * sizeof *rest);
        spill(p, (uint32_t)i, rest);
        image_set_each(image, rest, p->in->n_images)
        {
            plan->images[image].top_size += c->size;
            plan->images[image].top_raw += c->raw;
            plan->images[image].top_atoms += c->n_atoms;
        }
    }
    plan->piece_layers = arena_new_n(&plan->memory, uint32_t, p->pieces.n);
    if (p->pieces.n)
        memcpy(plan->piece_layers, p->pieces.p, p->pieces.n * sizeof *p->pieces.p);
    vec_fini(&p->pieces);
}

uint32_t image_plan_find(const struct image_plan *p, size_t class_index, size_t image)
{
    const struct image_plan_pieces *at = &p->pieces[class_index];
    for (uint32_t i = at->first; i < at->first + at->n; i++)
        if (image_set_has(p->layers[p->piece_layers[i]].set, image))
            return p->piece_layers[i];
    return IMAGE_PLAN_TOP;
}

/* ---- the savings of the plan ---- */

/* What unchanged images continue to store. */
static uint64_t untouched_size(const struct image_planner *p)
{
    uint64_t untouched[IMAGE_SET_U64_MAX] = { 0 }, n = 0;
    for (size_t i = 0; i < p->in->n_images; i++)
        if (p->plan->images[i].n_shared == 0)
            image_set_add(untouched, i);
    for (size_t i = 0; i < p->in->n_sources; i++)
        if (image_set_meets(p->in->sources[i].set, untouched, p->plan->n_words))
            n += p->in->sources[i].size;
    return n;
}

/*
 * Bytes of an image's layers whose prefix of layers no earlier image has. A prefix is identified by
 * its layers; the paths form a tree whose edges are (node, layer).
 */
static uint64_t new_prefix_size(const struct image_plan *plan, size_t image, struct map *edges,
                                struct arena *a, size_t *n_nodes)
{
    size_t node = 0;
    uint64_t fresh = 0;
    for (size_t i = 0; i < plan->n_layers; i++) {
        if (!image_set_has(plan->layers[i].set, image))
            continue;
        size_t edge[2] = { node, i };
        size_t *to = map_get(edges, str_n(edge, sizeof edge));
        if (!to) {
            to = arena_new(a, size_t);
            *to = ++*n_nodes;
            (void)map_put(edges, str_n(edge, sizeof edge), to);
            fresh += plan->layers[i].size;
        }
        node = *to;
    }
    return fresh;
}

static void count_sharing(struct image_plan *plan)
{
    struct map edges = { 0 };
    struct arena a = { 0 };
    size_t n_nodes = 0;
    uint64_t each = 0, once = 0, by_prefix = 0;
    for (size_t i = 0; i < plan->n_layers; i++) {
        once += plan->layers[i].size;
        each += plan->layers[i].size * plan->layers[i].n_sharers;
    }
    for (size_t i = 0; i < plan->n_images; i++)
        by_prefix += new_prefix_size(plan, i, &edges, &a, &n_nodes);
    plan->digest_shared = each - once;
    plan->prefix_shared = each - by_prefix;
    plan->total_after = plan->stored_after + plan->digest_shared;
    map_fini(&edges);
    arena_fini(&a);
}

void image_plan_set_sizes(struct image_plan *p, const uint64_t *sizes)
{
    for (size_t i = 0; i < p->n_layers; i++)
        p->layers[i].size = sizes[i];
    count_sharing(p);
}

static const char *refusal(const struct image_planner *p)
{
    const struct image_plan *plan = p->plan;
    if (plan->n_layers == 0 && !(p->in->is_for_all && p->in->is_forced))
        return "no set of images shares enough for a layer of its own";
    if (p->in->is_forced)
        return NULL;
    if (plan->saved <= 0 || (uint64_t)plan->saved < p->in->gain_threshold)
        return "it saves less than the gain threshold";
    return plan->net <= 0 ? "nodes would lose more from their caches than it saves" : NULL;
}

static void assess(struct image_planner *p)
{
    struct image_plan *plan = p->plan;
    const struct image_plan_input *in = p->in;
    for (size_t i = 0; i < in->n_sources; i++)
        plan->stored_before += in->sources[i].size;
    plan->stored_after = untouched_size(p);
    for (size_t i = 0; i < plan->n_layers; i++)
        plan->stored_after += plan->layers[i].size;
    for (size_t i = 0; i < plan->n_images; i++)
        if (plan->images[i].n_shared) {
            plan->images[i].top_size += in->directories ? in->directories[i] : 0;
            plan->stored_after += plan->images[i].top_size;
        }
    plan->saved = (int64_t)plan->stored_before - (int64_t)plan->stored_after;
    plan->net = plan->saved - (int64_t)(in->cached / 100 * IMAGE_HIDDEN_COST_PERCENT);
    count_sharing(plan);
    plan->why = refusal(p);
    plan->is_accepted = !plan->why;
}

int image_plan_make(const struct image_plan_input *in, struct image_plan *ret, struct err *err)
{
    if (in->n_images > IMAGE_GROUP_MAX)
        return err_set(err, E_LIMIT, "a group has %zu images, at most %d are planned together",
                       in->n_images, IMAGE_GROUP_MAX);
    if (in->max_layers < 2 || in->max_layers > IMAGE_LAYERS_HARD)
        return err_set(err, E_LIMIT, "an image may have 2 to %d layers, not %u", IMAGE_LAYERS_HARD,
                       in->max_layers);
    if (in->n_classes >= UINT32_MAX)
        return err_set(err, E_LIMIT, "a group has too many classes of files");
    *ret = (struct image_plan){
        .n_images = in->n_images,
        .n_words = image_set_n_u64(in->n_images),
        .classes = in->classes,
    };
    struct image_planner p = {
        .in = in,
        .plan = ret,
        .by_set = xnew_n(uint32_t, in->n_classes),
        .ranked = xnew_n(struct ranked, in->n_classes),
        .layer_of = xnew_n(uint32_t, in->n_classes),
    };
    for (size_t i = 0; i < in->n_classes; i++)
        p.layer_of[i] = IMAGE_PLAN_TOP;
    ret->images = arena_new_n(&ret->memory, struct image_plan_image, in->n_images);
    ret->pieces = arena_new_n(&ret->memory, struct image_plan_pieces, in->n_classes);
    rank(&p);
    choose(&p);
    add_layers(&p, split(&p));
    place(&p);
    assess(&p);
    free(p.seeds);
    free(p.layer_of);
    free(p.ranked);
    free(p.by_set);
    return 0;
}
