/* SPDX-License-Identifier: Apache-2.0 */
/* image/atoms and image/plan: what images share, and the layers made of it. */
#include "base/sum.h"
#include "image/atoms.h"
#include "image/share.h"
#include "image/volatility.h"
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

/* ---- what changes between versions ---- */

enum { FIVE = TEN / 2 };

/* The layers of a plan by what they hold: sum of the keys of its atoms -> its size. */
static void layer_sums(const struct image_atoms *a, const struct image_plan *p, struct map *ret,
                       struct arena *memory)
{
    scoped(free_scoped) uint64_t *sums = xnew_n(uint64_t, p->n_layers);
    for (size_t i = 0; i < a->all.n; i++) {
        const struct image_atom *atom = &a->all.p[i];
        const struct image_plan_pieces *at = &p->pieces[atom->class_index];
        for (uint32_t k = at->first; k < at->first + at->n; k++)
            sums[p->piece_layers[k]] += sum64(str_n(atom->key, sizeof atom->key), 0);
    }
    for (size_t i = 0; i < p->n_layers; i++) {
        uint64_t *kept = arena_new(memory, uint64_t);
        *kept = p->layers[i].size;
        (void)map_put(ret, str_n(&sums[i], sizeof sums[i]), kept);
    }
}

/* The shared layers of five images, with or without what is known of changes. */
static void plan_five(const struct ten *t, size_t first, struct image_volatility *known,
                      struct map *ret, struct arena *memory, uint64_t *ret_size)
{
    struct image_atoms a;
    struct image_plan p;
    CHECK_OK(image_atoms_find(t->members + first, FIVE, &(struct image_atoms_opts){ 0 }, &a, NULL));
    if (known) {
        image_volatility_note(known, &a);
        image_volatility_split(known, &a);
    }
    struct image_plan_input in = {
        .n_images = FIVE,
        .classes = a.classes.p,
        .n_classes = a.classes.n,
        .max_layers = IMAGE_LAYERS_DEFAULT,
        .layer_threshold = IMAGE_LAYER_THRESHOLD,
        .split_threshold = IMAGE_SPLIT_THRESHOLD,
        .is_forced = true,
    };
    CHECK_OK(image_plan_make(&in, &p, NULL));
    layer_sums(&a, &p, ret, memory);
    *ret_size = 0;
    for (size_t i = 0; i < p.n_layers; i++)
        *ret_size += p.layers[i].size;
    image_plan_fini(&p);
    image_atoms_fini(&a);
}

/* Bytes of shared layers that stay when the five new images are replaced by versions in which
 * what changed before changes again. */
static uint64_t surviving(const struct ten *t, struct image_volatility *known, uint64_t *ret_all)
{
    struct map before = { 0 }, after = { 0 };
    struct arena memory = { 0 };
    uint64_t n = 0, all;
    plan_five(t, FIVE, known, &before, &memory, ret_all);
    plan_five(t, 0, known, &after, &memory, &all);
    map_each (e, &before)
        n += map_has(&after, e->key) ? *(uint64_t *)e->value : 0;
    map_fini(&before);
    map_fini(&after);
    arena_fini(&memory);
    return n;
}

TEST(what_changed_before_does_not_take_a_large_layer_with_it)
{
    struct ten *t = ten_images(&(struct image_atoms_opts){ 0 });
    struct image_volatility known = { 0 };
    uint64_t all, without_all, without = surviving(t, NULL, &without_all);
    image_volatility_note(&known, &t->atoms);
    CHECK(image_volatility_of(&known, STR("usr/bin/perl")) > 0);
    CHECK_INT(image_volatility_of(&known, STR("usr/share/common-licenses/GPL-3")), 0);
    uint64_t with = surviving(t, &known, &all);
    printf("# shared layers of five images: %.1f MB, of which %.1f MB outlive an update; split "
           "%.1f of %.1f MB\n",
           (double)without_all / 1e6, (double)without / 1e6, (double)with / 1e6, (double)all / 1e6);
    CHECK_INT(all, without_all);
    CHECK(with * 10 >= all * 7 && without * 10 < all * 3);
    image_volatility_fini(&known);
    ten_free(t);
}

TEST(what_is_known_of_changes_comes_back_and_damage_is_found)
{
    char path[] = "/tmp/dm-changes-XXXXXX";
    struct ten *t = ten_images(&(struct image_atoms_opts){ 0 });
    struct image_volatility v = { 0 }, again;
    bool is_good;
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    image_volatility_note(&v, &t->atoms);
    uint32_t n = image_volatility_of(&v, STR("var/lib/dpkg/status"));
    CHECK_INT(n, 1);
    image_volatility_note(&v, &t->atoms); /* the same again is no change */
    CHECK_INT(image_volatility_of(&v, STR("var/lib/dpkg/status")), 1);
    CHECK_OK(image_volatility_save(&v, path, NULL));
    CHECK_OK(image_volatility_load(path, &again, &is_good, NULL));
    CHECK(is_good);
    CHECK_INT(again.n, v.n);
    CHECK_INT(image_volatility_of(&again, STR("var/lib/dpkg/status")), 1);
    CHECK_INT(image_volatility_of(&again, STR("usr/share/common-licenses/GPL-3")), 0);
    image_volatility_fini(&again);
    close(fd);
    CHECK((fd = open(path, O_RDWR | O_CLOEXEC)) >= 0); /* the file was replaced */
    for (off_t at = 0; at < 200; at += 7) {            /* a byte that is another one */
        uint8_t byte;
        CHECK_INT(pread(fd, &byte, 1, at), 1);
        byte ^= 1;
        CHECK_INT(pwrite(fd, &byte, 1, at), 1);
        CHECK_OK(image_volatility_load(path, &again, &is_good, NULL));
        CHECK(!is_good && again.n == 0);
        image_volatility_fini(&again);
        byte ^= 1;
        CHECK_INT(pwrite(fd, &byte, 1, at), 1);
    }
    CHECK_OK(image_volatility_load(path, &again, &is_good, NULL));
    CHECK(is_good);
    image_volatility_fini(&again);
    CHECK_OK(ftruncate(fd, 100));
    CHECK_OK(image_volatility_load(path, &again, &is_good, NULL));
    CHECK(!is_good && again.n == 0);
    close(fd);
    unlink(path);
    CHECK_OK(image_volatility_load(path, &again, &is_good, NULL));
    CHECK(is_good && again.n == 0);
    image_volatility_fini(&v);
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

/* Of the class that a layer was made for, with its parts unless those have layers too. */
static uint64_t size_made_for(const struct world *w, const struct image_plan_layer *l)
{
    uint64_t n = 0;
    for (size_t i = 0; i < w->in.n_classes; i++)
        if (memcmp(w->sets[i], w->sets[l->class_index], sizeof w->sets[i]) == 0 &&
            (!l->is_split || i == l->class_index))
            n += w->classes[i].size;
    return n;
}

/* Each image has each of its classes exactly once and nothing else; no image has too many layers;
 * layers are in order. */
static void check_plan(const struct world *w, const struct image_plan *p)
{
    uint64_t stored = 0;
    for (size_t i = 0; i < p->n_layers; i++) {
        const struct image_plan_layer *l = &p->layers[i];
        CHECK(l->n_sharers >= 2 && size_made_for(w, l) >= w->in.layer_threshold);
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

/* ---- parts of classes ---- */

/* Half of the classes get a second part. */
static void random_parts(struct world *w)
{
    size_t n = w->in.n_classes;
    for (size_t i = 0; i < n && w->in.n_classes < CLASSES_MAX; i++) {
        size_t k = w->in.n_classes;
        if (test_random_below(2) || w->classes[i].size < 2)
            continue;
        uint64_t size = 1 + test_random_below((uint32_t)w->classes[i].size - 1);
        memcpy(w->sets[k], w->sets[i], sizeof w->sets[k]);
        w->classes[k] = (struct image_class){
            .set = w->sets[k], .size = size, .raw = size, .n_atoms = 1, .part = IMAGE_PART_VOLATILE
        };
        w->classes[i].size = w->classes[i].raw -= size;
        w->in.n_classes++;
    }
    w->in.split_threshold = 1 + test_random_below(1000);
}

TEST(splitting_costs_no_class_its_layer_and_no_byte)
{
    static struct world w;
    size_t n_split = 0;
    for (int round = 0; round < 3000; round++) {
        struct image_plan p, whole;
        random_world(&w, 2 + test_random_below(8), CLASSES_MAX / 2, round & 1);
        random_parts(&w);
        w.in.max_layers = 2 + (unsigned)test_random_below(12);
        CHECK_OK(image_plan_make(&w.in, &p, NULL));
        check_plan(&w, &p);
        w.in.split_threshold = 0;
        CHECK_OK(image_plan_make(&w.in, &whole, NULL));
        check_plan(&w, &whole);
        CHECK_INT(p.stored_after, whole.stored_after);
        CHECK_INT(p.digest_shared, whole.digest_shared);
        for (size_t i = 0; i < p.n_layers; i++) {
            const struct image_plan_layer *l = &p.layers[i];
            n_split += l->is_split;
            for (size_t k = 0; k < i; k++) /* what changes stands above what does not */
                CHECK(p.layers[k].n_sharers != l->n_sharers || p.layers[k].part <= l->part);
        }
        for (size_t c = 0; c < w.in.n_classes; c++) /* parts of one class are not mixed */
            for (uint32_t k = 0; k < p.pieces[c].n; k++) {
                const struct image_plan_layer *l = &p.layers[p.piece_layers[p.pieces[c].first + k]];
                CHECK(!l->is_split || l->part == w.classes[c].part);
            }
        for (size_t i = 0; i < whole.n_layers; i++)
            CHECK(!whole.layers[i].is_split);
        image_plan_fini(&p);
        image_plan_fini(&whole);
    }
    CHECK(n_split > 1000);
}

/*
 * Groups of up to three images, drawn file by file: a file has a set, a size, and changes with an
 * update or does not. A class that has files that change has enough of both kinds to be split; all
 * others are of any size.
 */
enum { FILES_MAX = 64, GROUP_MAX = 3, PART_MIN = 100, SPLIT_MIN = 250 };

struct files {
    struct {
        uint64_t set, size;
        bool is_volatile;
    } all[FILES_MAX];
    size_t n, n_images;
};

static void random_files(struct files *f)
{
    *f = (struct files){ .n_images = 2 + test_random_below(GROUP_MAX - 1) };
    for (uint64_t set = 1; set < UINT64_C(1) << f->n_images; set++) {
        bool changes = test_random_below(2);
        for (int k = 0, n = changes ? 4 : (int)test_random_below(3); k < n; k++) {
            f->all[f->n].set = set;
            f->all[f->n].is_volatile = changes && k & 1;
            f->all[f->n++].size =
                changes ? PART_MIN + test_random_below(50) : 1 + test_random_below(2 * PART_MIN);
        }
    }
}

/* The group with the next version of each image: a file that stays is in both, one that changes is
 * two files. */
static void next_version(const struct files *f, struct files *ret)
{
    *ret = (struct files){ .n_images = 2 * f->n_images };
    for (size_t i = 0; i < f->n; i++) {
        ret->all[ret->n] = f->all[i];
        ret->all[ret->n++].set |= f->all[i].is_volatile ? 0 : f->all[i].set << f->n_images;
    }
    for (size_t i = 0; i < f->n; i++)
        if (f->all[i].is_volatile) {
            ret->all[ret->n] = f->all[i];
            ret->all[ret->n++].set <<= f->n_images;
        }
}

/* What each layer holds, as bits of files; returns how many layers. Files of the first version have
 * the same numbers in the next one. */
static size_t plan_files(const struct files *f, uint64_t split_threshold,
                         uint64_t ret[static FILES_MAX], bool is_steady[static FILES_MAX])
{
    struct image_class classes[FILES_MAX] = { 0 };
    uint64_t sets[FILES_MAX];
    size_t of[FILES_MAX], n = 0;
    for (size_t i = 0; i < f->n; i++) {
        for (of[i] = 0; of[i] < n; of[i]++)
            if (sets[of[i]] == f->all[i].set &&
                classes[of[i]].part == (uint32_t)f->all[i].is_volatile)
                break;
        struct image_class *c = &classes[of[i]];
        sets[of[i]] = f->all[i].set;
        c->set = &sets[of[i]];
        c->part = f->all[i].is_volatile;
        c->size += f->all[i].size;
        n = MAX(n, of[i] + 1);
    }
    struct image_plan_input in = {
        .n_images = f->n_images,
        .classes = classes,
        .n_classes = n,
        .max_layers = IMAGE_LAYERS_HARD,
        .layer_threshold = PART_MIN,
        .split_threshold = split_threshold,
        .is_forced = true,
    };
    struct image_plan p;
    CHECK_OK(image_plan_make(&in, &p, NULL));
    size_t n_layers = p.n_layers;
    for (size_t i = 0; i < n_layers; i++) {
        ret[i] = 0;
        is_steady[i] = p.layers[i].is_split && p.layers[i].part == IMAGE_PART_STEADY;
    }
    for (size_t i = 0; i < f->n; i++)
        for (uint32_t k = 0; k < p.pieces[of[i]].n; k++)
            ret[p.piece_layers[p.pieces[of[i]].first + k]] |= UINT64_C(1) << i;
    image_plan_fini(&p);
    return n_layers;
}

static bool is_among(uint64_t layer, const uint64_t *layers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (layers[i] == layer)
            return true;
    return false;
}

TEST(an_update_of_what_changes_leaves_every_layer_of_what_stays)
{
    size_t n_steady = 0, n_whole = 0, n_whole_left = 0;
    for (int round = 0; round < 3000; round++) {
        struct files now, next;
        uint64_t before[FILES_MAX], after[FILES_MAX], changing = 0;
        bool is_steady[FILES_MAX], unused[FILES_MAX];
        random_files(&now);
        next_version(&now, &next);
        for (size_t i = 0; i < now.n; i++)
            changing |= (uint64_t)now.all[i].is_volatile << i;
        size_t n = plan_files(&now, SPLIT_MIN, before, is_steady);
        size_t n_after = plan_files(&next, SPLIT_MIN, after, unused);
        for (size_t i = 0; i < n; i++) {
            CHECK(!is_steady[i] || is_among(before[i], after, n_after));
            n_steady += is_steady[i];
        }
        n = plan_files(&now, 0, before, is_steady);
        n_after = plan_files(&next, 0, after, unused);
        for (size_t i = 0; i < n; i++)
            if (before[i] & changing) { /* what is not split is renamed as a whole */
                n_whole++;
                n_whole_left += is_among(before[i], after, n_after);
            }
    }
    CHECK(n_steady > 1000 && n_whole > 1000);
    CHECK_INT(n_whole_left, 0);
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
