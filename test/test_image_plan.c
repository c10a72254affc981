/* SPDX-License-Identifier: Apache-2.0 */
/* image/atoms and image/plan: what images share, and the layers made of it. */
#include "image/atoms.h"
#include "image/share.h"
#include "image_tree_kit.h"

/* ---- ten real images ---- */

static const char *const NAMES[] = {
    "debian-old", "redis-old", "python-old", "node-old", "postgres-old",
    "debian-new", "redis-new", "python-new", "node-new", "postgres-new",
};
enum { TEN = ARRAY_LEN(NAMES), SOURCES_MAX = TEN * LAYERS_MAX };

struct ten {
    struct merged images[TEN];
    struct image_group_member members[TEN];
    struct image_plan_source sources[SOURCES_MAX];
    uint64_t sets[SOURCES_MAX];
    size_t n_sources;
    struct image_atoms atoms;
    uint64_t directories[TEN];
};

static void add_source(struct ten *t, struct map *seen, size_t image, size_t layer)
{
    const struct merged *m = &t->images[image];
    struct str key = str_n(&m->digests[layer], sizeof m->digests[layer]);
    struct image_plan_source *s = map_get(seen, key);
    if (!s) {
        s = &t->sources[t->n_sources];
        *s = (struct image_plan_source){ &t->sets[t->n_sources++], m->blob_sizes[layer] };
        (void)map_put(seen, key, s);
    }
    image_set_add((uint64_t *)s->set, image);
}

static struct ten *ten_images(const struct image_atoms_opts *opts)
{
    struct ten *t = xnew(struct ten);
    struct map seen = { 0 };
    for (size_t i = 0; i < TEN; i++) {
        struct merged *m = &t->images[i];
        load_image(m, NAMES[i]);
        t->members[i] = (struct image_group_member){ &m->tree, m->layers, m->blob_sizes, m->n };
        for (size_t j = 0; j < m->n; j++)
            add_source(t, &seen, i, j);
    }
    CHECK_OK(image_atoms_find(t->members, TEN, opts, &t->atoms, NULL));
    for (size_t i = 0; i < TEN; i++)
        t->directories[i] = t->atoms.images[i].directories_raw / 10; /* headers shrink well */
    map_fini(&seen);
    return t;
}

static void ten_free(struct ten *t)
{
    image_atoms_fini(&t->atoms);
    for (size_t i = 0; i < TEN; i++)
        merged_fini(&t->images[i]);
    free(t);
}

static uint64_t distinct_content(const struct image_atoms *a)
{
    uint64_t n = 0;
    for (size_t i = 0; i < a->all.n; i++)
        n += a->all.p[i].content;
    return n;
}

static uint64_t merged_content(const struct image_atoms *a)
{
    uint64_t n = 0;
    for (size_t i = 0; i < a->n_images; i++)
        n += a->images[i].merged;
    return n;
}

TEST(ten_real_images_fall_into_the_recorded_classes)
{
    struct ten *t = ten_images(&(struct image_atoms_opts){ 0 });
    scoped(free_scoped) uint64_t *bytes = xnew_n(uint64_t, t->atoms.classes.n);
    scoped(free_scoped) uint32_t *files = xnew_n(uint32_t, t->atoms.classes.n);
    size_t n = 0, n_shared = 0, n_large = 0, n_large_shared = 0;
    for (size_t i = 0; i < t->atoms.all.n; i++) {
        bytes[t->atoms.all.p[i].class_index] += t->atoms.all.p[i].content;
        files[t->atoms.all.p[i].class_index] += t->atoms.all.p[i].n_files;
    }
    for (size_t i = 0; i < t->atoms.classes.n; i++) {
        bool is_shared = image_set_count(t->atoms.classes.p[i].set, 1) > 1;
        n += files[i] > 0;
        n_shared += files[i] > 0 && is_shared;
        n_large += bytes[i] >= 1 << 20;
        n_large_shared += bytes[i] >= 1 << 20 && is_shared;
    }
    CHECK_INT(n, 40);
    CHECK_INT(n_shared, 30);
    CHECK_INT(n_large, 23);
    CHECK_INT(n_large_shared, 15);
    CHECK_INT((merged_content(&t->atoms) + 50000) / 100000, 21302);
    CHECK_INT((distinct_content(&t->atoms) + 50000) / 100000, 7589);
    ten_free(t);
}

TEST(times_in_the_key_cost_what_was_recorded)
{
    struct ten *t = ten_images(&(struct image_atoms_opts){ .is_exact = true });
    CHECK_INT((distinct_content(&t->atoms) + 50000) / 100000, 8325);
    ten_free(t);
}

/* Classes that count content alone, as the recorded figures do. */
static void count_content_alone(struct image_atoms *a)
{
    for (size_t i = 0; i < a->all.n; i++)
        a->all.p[i].size = a->all.p[i].raw = a->all.p[i].content;
    image_atoms_split(a, NULL, NULL);
}

TEST(the_layer_threshold_costs_what_was_recorded)
{
    static const struct {
        uint64_t threshold;
        unsigned stored_100k, most_layers;
    } rows[] = {
        { 0, 7589, 15 }, { 64 << 10, 7592, 10 }, { 1 << 20, 7679, 7 }, { 4 << 20, 7949, 5 }
    };
    struct ten *t = ten_images(&(struct image_atoms_opts){ 0 });
    count_content_alone(&t->atoms);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct image_plan plan, spilled;
        struct image_plan_input in = {
            .n_images = TEN,
            .classes = t->atoms.classes.p,
            .n_classes = t->atoms.classes.n,
            .max_layers = 64,
            .layer_threshold = rows[i].threshold,
            .is_forced = true,
            .is_plain = true,
        };
        CHECK_OK(image_plan_make(&in, &plan, NULL));
        in.is_plain = false;
        CHECK_OK(image_plan_make(&in, &spilled, NULL));
        unsigned most = 0;
        for (size_t j = 0; j < TEN; j++)
            most = MAX(most, plan.images[j].n_shared);
        CHECK_INT((plan.stored_after + 50000) / 100000, rows[i].stored_100k);
        CHECK_INT(most, rows[i].most_layers);
        CHECK(spilled.stored_after <= plan.stored_after);
        image_plan_fini(&plan);
        image_plan_fini(&spilled);
    }
    ten_free(t);
}

TEST(ten_real_images_shrink_as_claimed)
{
    struct ten *t = ten_images(&(struct image_atoms_opts){ 0 });
    struct image_plan plan, again;
    struct image_plan_input in = {
        .n_images = TEN,
        .classes = t->atoms.classes.p,
        .n_classes = t->atoms.classes.n,
        .sources = t->sources,
        .n_sources = t->n_sources,
        .directories = t->directories,
        .max_layers = IMAGE_LAYERS_DEFAULT,
        .layer_threshold = IMAGE_LAYER_THRESHOLD,
        .gain_threshold = IMAGE_GAIN_THRESHOLD,
    };
    CHECK_OK(image_plan_make(&in, &plan, NULL));
    CHECK_INT((plan.stored_before + 50000) / 100000, 4323);
    CHECK(plan.is_accepted);
    uint64_t total_before = 0, raw_after = 0;
    for (size_t i = 0; i < TEN; i++)
        for (size_t j = 0; j < t->images[i].n; j++)
            total_before += t->images[i].blob_sizes[j];
    for (size_t i = 0; i < plan.n_layers; i++)
        raw_after += plan.layers[i].raw;
    for (size_t i = 0; i < TEN; i++)
        raw_after += plan.images[i].top_raw;
    printf("# merged/stored %.3f, images/stored (compressed) %.3f, before/after %.3f; %zu shared "
           "layers, prefix %.1f of %.1f MB\n",
           (double)merged_content(&t->atoms) / (double)raw_after,
           (double)total_before / (double)plan.stored_after,
           (double)plan.stored_before / (double)plan.stored_after, plan.n_layers,
           (double)plan.prefix_shared / 1e6, (double)plan.digest_shared / 1e6);
    CHECK((double)total_before / (double)plan.stored_after >= 2.8);
    CHECK_OK(image_plan_make(&in, &again, NULL));
    CHECK_INT(again.n_layers, plan.n_layers);
    for (size_t i = 0; i < plan.n_layers; i++)
        CHECK_INT(again.layers[i].class_index, plan.layers[i].class_index);
    image_plan_fini(&again);
    in.gain_threshold = (uint64_t)1 << 40;
    CHECK_OK(image_plan_make(&in, &again, NULL));
    CHECK(!again.is_accepted && again.why);
    image_plan_fini(&again);
    in.gain_threshold = 0;
    in.cached = (uint64_t)1 << 40;
    CHECK_OK(image_plan_make(&in, &again, NULL));
    CHECK(!again.is_accepted && again.net < 0);
    image_plan_fini(&again);
    image_plan_fini(&plan);
    ten_free(t);
}

/* Percent of what the new version of a pair takes that the old one has, by layers and by classes.
 */
static void pair_shares(const struct ten *t, const struct image_plan *p, size_t old, size_t new,
                        double *ret_layers, double *ret_content)
{
    uint64_t both = 0, all = p->images[new].top_size, content = 0, content_all = 0;
    for (size_t i = 0; i < p->n_layers; i++) {
        bool is_new = image_set_has(p->layers[i].set, new);
        all += is_new ? p->layers[i].size : 0;
        both += is_new && image_set_has(p->layers[i].set, old) ? p->layers[i].size : 0;
    }
    for (size_t i = 0; i < t->atoms.classes.n; i++) {
        const struct image_class *c = &t->atoms.classes.p[i];
        bool is_new = image_set_has(c->set, new);
        content_all += is_new ? c->size : 0;
        content += is_new && image_set_has(c->set, old) ? c->size : 0;
    }
    *ret_layers = 100 * (double)both / (double)all;
    *ret_content = 100 * (double)content / (double)content_all;
}

TEST(layers_give_a_new_version_what_its_files_share)
{
    struct ten *t = ten_images(&(struct image_atoms_opts){ 0 });
    static const uint64_t thresholds[] = { IMAGE_LAYER_THRESHOLD, 1 << 20 };
    for (size_t k = 0; k < ARRAY_LEN(thresholds); k++) {
        struct image_plan plan;
        struct image_plan_input in = {
            .n_images = TEN,
            .classes = t->atoms.classes.p,
            .n_classes = t->atoms.classes.n,
            .sources = t->sources,
            .n_sources = t->n_sources,
            .directories = t->directories,
            .max_layers = IMAGE_LAYERS_DEFAULT,
            .layer_threshold = thresholds[k],
            .gain_threshold = IMAGE_GAIN_THRESHOLD,
        };
        double layers, content, worst = 0;
        unsigned most = 0, sum = 0;
        CHECK_OK(image_plan_make(&in, &plan, NULL));
        for (size_t i = 0; i < TEN; i++) {
            most = MAX(most, plan.images[i].n_shared + 1);
            sum += plan.images[i].n_shared + 1;
        }
        for (size_t i = 0; i < TEN / 2; i++) {
            pair_shares(t, &plan, i, i + TEN / 2, &layers, &content);
            worst = MAX(worst, content - layers);
        }
        printf(
            "# threshold %llu KiB: worst pair %.2f points, %zu shared layers, %u at most and %.1f "
            "for an image, stored %.1f MB, shared by prefix %.1f of %.1f MB\n",
            (unsigned long long)thresholds[k] >> 10, worst, plan.n_layers, most, sum / (double)TEN,
            (double)plan.stored_after / 1e6, (double)plan.prefix_shared / 1e6,
            (double)plan.digest_shared / 1e6);
        CHECK(thresholds[k] > IMAGE_LAYER_THRESHOLD || worst <= 2);
        image_plan_fini(&plan);
    }
    ten_free(t);
}

/* ---- random classes ---- */

enum { CLASSES_MAX = 24, IMAGES_MAX = 130, WORDS_MAX = 3 };

struct world {
    struct image_plan_input in;
    struct image_class classes[CLASSES_MAX];
    uint64_t sets[CLASSES_MAX][WORDS_MAX];
    struct image_plan_source sources[IMAGES_MAX];
    uint64_t source_sets[IMAGES_MAX][WORDS_MAX];
};

static bool is_new_set(const struct world *w, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (memcmp(w->sets[i], w->sets[j], sizeof w->sets[i]) == 0)
            return false;
    return true;
}

/* As many classes as there are sets, at most n_classes; each image has a layer with all it has. */
static void random_world(struct world *w, size_t n_images, size_t n_classes, bool is_dense)
{
    *w = (struct world){ 0 };
    size_t n = 0;
    for (size_t i = 0; i < n_classes; i++) {
        memset(w->sets[n], 0, sizeof w->sets[n]);
        for (size_t j = 0; j < n_images; j++)
            if (test_random_below(is_dense ? 4 : 2))
                image_set_add(w->sets[n], j);
        if (image_set_count(w->sets[n], WORDS_MAX) == 0 || !is_new_set(w, n))
            continue;
        w->classes[n] = (struct image_class){ .set = w->sets[n], .n_atoms = 1 };
        w->classes[n].size = w->classes[n].raw = 1 + test_random_below(1000);
        n++;
    }
    for (size_t i = 0; i < n_images; i++) {
        w->sources[i].set = w->source_sets[i];
        image_set_add(w->source_sets[i], i);
        for (size_t j = 0; j < n; j++)
            w->sources[i].size += image_set_has(w->sets[j], i) ? w->classes[j].size : 0;
    }
    w->in = (struct image_plan_input){
        .n_images = n_images,
        .classes = w->classes,
        .n_classes = n,
        .sources = w->sources,
        .n_sources = n_images,
        .max_layers = 2 + (unsigned)test_random_below(5),
        .layer_threshold = test_random_below(600),
    };
}

/* Each image has each of its classes exactly once and nothing else; no image has too many layers;
 * layers are in order. */
static void check_plan(const struct world *w, const struct image_plan *p)
{
    uint64_t stored = 0;
    for (size_t i = 0; i < p->n_layers; i++) {
        const struct image_plan_layer *l = &p->layers[i];
        CHECK(l->n_sharers >= 2 && w->classes[l->class_index].size >= w->in.layer_threshold);
        CHECK(i == 0 || p->layers[i - 1].n_sharers >= l->n_sharers);
        stored += l->size;
    }
    for (size_t c = 0; c < w->in.n_classes; c++) {
        uint64_t covered[WORDS_MAX] = { 0 };
        for (uint32_t i = 0; i < p->pieces[c].n; i++) {
            const uint64_t *set = p->layers[p->piece_layers[p->pieces[c].first + i]].set;
            CHECK(image_set_is_subset(set, w->sets[c], p->n_words)); /* no foreign atom */
            CHECK(!image_set_meets(covered, set, p->n_words));       /* and none twice */
            for (size_t k = 0; k < p->n_words; k++)
                covered[k] |= set[k];
        }
    }
    for (size_t i = 0; i < w->in.n_images; i++) {
        unsigned n = 0;
        for (size_t j = 0; j < p->n_layers; j++)
            n += image_set_has(p->layers[j].set, i);
        CHECK_INT(p->images[i].n_shared, n);
        CHECK(n + 1 <= w->in.max_layers);
        stored += n ? p->images[i].top_size : w->sources[i].size;
    }
    CHECK_INT(p->stored_after, stored);
    CHECK(!p->is_accepted || p->stored_after <= p->stored_before);
    CHECK(p->prefix_shared <= p->digest_shared);
}

TEST(random_classes_are_placed_once_within_every_bound)
{
    static struct world w;
    for (int round = 0; round < 3000; round++) {
        struct image_plan p, again;
        random_world(&w, 1 + test_random_below(round % 10 ? 8 : IMAGES_MAX),
                     test_random_below(CLASSES_MAX), round & 1);
        CHECK_OK(image_plan_make(&w.in, &p, NULL));
        check_plan(&w, &p);
        CHECK_OK(image_plan_make(&w.in, &again, NULL));
        CHECK_INT(again.stored_after, p.stored_after);
        image_plan_fini(&p);
        image_plan_fini(&again);
    }
}

/* What is stored when exactly the classes of `kept` have layers; UINT64_MAX: not allowed. */
static uint64_t stored_with(const struct world *w, unsigned kept)
{
    static struct world one;
    struct image_plan p;
    unsigned layers[IMAGES_MAX] = { 0 };
    one = *w;
    for (size_t c = 0; c < w->in.n_classes; c++) {
        one.classes[c].set = one.sets[c];
        if (!(kept >> c & 1))
            continue;
        if (w->classes[c].size < w->in.layer_threshold || image_set_count(w->sets[c], 1) < 2)
            return UINT64_MAX;
        image_set_each(i, w->sets[c],
                       w->in.n_images) if (++layers[i] + 1 > w->in.max_layers) return UINT64_MAX;
    }
    /* The planner keeps exactly these: all others are smaller than its threshold. */
    one.in.classes = one.classes;
    one.in.layer_threshold = 1 << 20;
    for (size_t c = 0; c < w->in.n_classes; c++)
        if (kept >> c & 1)
            one.classes[c].size += 1 << 20;
    CHECK_OK(image_plan_make(&one.in, &p, NULL));
    uint64_t stored = p.stored_after - (uint64_t)p.n_layers * (1 << 20);
    CHECK_INT(p.n_layers, __builtin_popcount(kept));
    image_plan_fini(&p);
    return stored;
}

TEST(the_greedy_plan_is_near_the_best_of_all)
{
    static struct world w;
    double worst = 1, sum = 0;
    int n_optimal = 0, rounds = 1000;
    for (int round = 0; round < rounds; round++) {
        struct image_plan p;
        uint64_t best = UINT64_MAX;
        random_world(&w, 2 + test_random_below(2), 6, false);
        CHECK_OK(image_plan_make(&w.in, &p, NULL));
        for (unsigned kept = 0; kept < 1u << w.in.n_classes; kept++)
            best = MIN(best, stored_with(&w, kept));
        CHECK(best <= p.stored_after);
        double gap = best ? (double)p.stored_after / (double)best : 1;
        worst = MAX(worst, gap);
        sum += gap;
        n_optimal += p.stored_after == best;
        image_plan_fini(&p);
    }
    printf("# optimal %d of %d, mean gap %.4f, worst %.4f\n", n_optimal, rounds, sum / rounds,
           worst);
    CHECK(n_optimal * 10 >= rounds * 8);
}

TEST(limits_are_refused_with_their_number)
{
    struct image_plan p;
    struct err err = { 0 };
    struct image_plan_input in = { .n_images = IMAGE_GROUP_MAX + 1, .max_layers = 16 };
    CHECK_ERR(image_plan_make(&in, &p, &err), E_LIMIT);
    CHECK(str_find(str_of(err.text), STR("1024")) >= 0);
    in.n_images = 1;
    in.max_layers = 65;
    CHECK_ERR(image_plan_make(&in, &p, NULL), E_LIMIT);
    in.max_layers = 1;
    CHECK_ERR(image_plan_make(&in, &p, NULL), E_LIMIT);
    struct image_atoms a;
    CHECK_ERR(
        image_atoms_find(NULL, IMAGE_GROUP_MAX + 1, &(struct image_atoms_opts){ 0 }, &a, NULL),
        E_LIMIT);
}

TEST_MAIN
