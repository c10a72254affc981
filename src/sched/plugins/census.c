/* SPDX-License-Identifier: Apache-2.0 */
/* Pods by class and node; the contract is in census.h. */
#include "sched/plugins/census.h"

#include "sched/plugins/alike.h"
#include "sched/plugins/tally.h"

#include <assert.h>

/* ---- classes ---- */

static uint64_t labels_hash(const struct sched_pod *p)
{
    return alike_hash_labels(alike_word(p->is_terminating, p->namespace_word), &p->labels);
}

static bool labels_are_same(const struct sched_pod *a, const struct sched_pod *b)
{
    return a->namespace_word == b->namespace_word && a->is_terminating == b->is_terminating &&
           sched_labels_equal(&a->labels, &b->labels);
}

static bool has_terms(const struct sched_pod *p)
{
    return p->required_affinity.n + p->preferred_affinity.n + p->required_anti.n +
               p->preferred_anti.n >
           0;
}

static uint64_t terms_hash(const struct sched_pod *p)
{
    uint64_t h = alike_hash_affinity(0, &p->required_affinity);
    h = alike_hash_affinity(h, &p->preferred_affinity);
    h = alike_hash_affinity(h, &p->required_anti);
    return alike_hash_affinity(h, &p->preferred_anti);
}

static bool terms_are_same(const struct sched_pod *a, const struct sched_pod *b)
{
    return alike_affinity(&a->required_affinity, &b->required_affinity) &&
           alike_affinity(&a->preferred_affinity, &b->preferred_affinity) &&
           alike_affinity(&a->required_anti, &b->required_anti) &&
           alike_affinity(&a->preferred_anti, &b->preferred_anti);
}

static void record(struct census_classes *k, uint32_t class, uint32_t node, int32_t delta)
{
    assert(class < k->n);
    k->log[k->log_end++ % CENSUS_LOG] =
        (struct census_record){ .class = class, .node = node, .delta = delta };
}

static void keys_add(struct census_keys *keys, struct intern *key)
{
    for (uint32_t i = 0; i < keys->n; i++)
        if (keys->p[i].key == key) {
            keys->p[i].terms++;
            return;
        }
    if (keys->n == keys->cap) {
        keys->cap = keys->cap ? keys->cap * 2 : 4;
        keys->p = xrealloc(keys->p, keys->cap * sizeof(*keys->p));
    }
    keys->p[keys->n++] = (struct census_key){ .key = intern_ref(key), .terms = 1 };
}

static void keys_del(struct census *c, struct census_keys *keys, struct intern *key)
{
    for (uint32_t i = 0; i < keys->n; i++) {
        if (keys->p[i].key != key)
            continue;
        if (--keys->p[i].terms == 0) {
            intern_unref(c->words, keys->p[i].key);
            keys->p[i] = keys->p[--keys->n];
        }
        return;
    }
    assert(false);
}

static void keys_count(struct census *c, struct census_keys *keys,
                       const struct sched_affinity_terms *terms, bool adds)
{
    for (uint32_t i = 0; i < terms->n; i++)
        if (adds)
            keys_add(keys, terms->p[i].topology_key);
        else
            keys_del(c, keys, terms->p[i].topology_key);
}

static void count_keys(struct census *c, const struct sched_pod *p, bool adds)
{
    keys_count(c, &c->anti_keys, &p->required_anti, adds);
    keys_count(c, &c->score_keys, &p->required_affinity, adds);
    keys_count(c, &c->score_keys, &p->preferred_affinity, adds);
    keys_count(c, &c->score_keys, &p->preferred_anti, adds);
}

static void grow_buckets(struct census_classes *k)
{
    k->n_buckets = k->n_buckets ? k->n_buckets * 2 : 64;
    free(k->buckets);
    k->buckets = xnew_n(uint32_t, k->n_buckets);
    memset(k->buckets, 0xff, k->n_buckets * sizeof(*k->buckets));
    for (uint32_t i = 0; i < k->n; i++) {
        if (!k->p[i].pod)
            continue;
        uint32_t *bucket = &k->buckets[k->p[i].hash & (k->n_buckets - 1)];
        k->p[i].next = *bucket;
        *bucket = i;
    }
}

static void grow_classes(struct census_classes *k)
{
    uint32_t cap = k->cap ? k->cap * 2 : 64;
    k->p = xrealloc(k->p, cap * sizeof(*k->p));
    k->scratch = xrealloc(k->scratch, cap * sizeof(*k->scratch));
    memset(k->scratch + k->cap, 0, (cap - k->cap) * sizeof(*k->scratch));
    k->cap = cap;
}

static uint32_t class_new(struct census *c, struct census_classes *k, const struct sched_pod *pod,
                          uint64_t hash)
{
    uint32_t id = k->first_free;
    if (id != CENSUS_NONE) {
        k->first_free = k->p[id].next;
    } else {
        if (k->n == k->cap)
            grow_classes(k);
        id = k->n++;
    }
    k->p[id] = (struct census_class){ 0 };
    if (++k->n_live > k->n_buckets)
        grow_buckets(k);
    uint32_t *bucket = &k->buckets[hash & (k->n_buckets - 1)];
    k->p[id] = (struct census_class){ .pod = sched_object_ref((void *)(uintptr_t)pod),
                                      .hash = hash,
                                      .serial = ++k->changes,
                                      .next = *bucket };
    *bucket = id;
    if (k == &c->terms)
        count_keys(c, pod, true);
    record(k, id, 0, 0);
    return id;
}

static void class_free(struct census *c, struct census_classes *k, uint32_t id)
{
    struct census_class *class = &k->p[id];
    uint32_t *at = &k->buckets[class->hash & (k->n_buckets - 1)];
    assert(id < k->n && class->pod && class->pods == 0 && k->n_live > 0);
    while (*at != id) {
        assert(*at != CENSUS_NONE);
        at = &k->p[*at].next;
    }
    *at = class->next;
    if (k == &c->terms)
        count_keys(c, class->pod, false);
    sched_object_unref(c->words, (void *)(uintptr_t) class->pod);
    *class = (struct census_class){ .next = k->first_free };
    k->first_free = id;
    k->n_live--;
    k->changes++;
}

/* The class of a pod, created if it has none. */
static uint32_t class_of(struct census *c, struct census_classes *k, const struct sched_pod *pod)
{
    uint64_t hash = k->hash(pod);
    uint32_t id = k->n_buckets ? k->buckets[hash & (k->n_buckets - 1)] : CENSUS_NONE;

    while (id != CENSUS_NONE && (k->p[id].hash != hash || !k->is_same(k->p[id].pod, pod)))
        id = k->p[id].next;
    if (id == CENSUS_NONE)
        return class_new(c, k, pod, hash);
    struct census_class *class = &k->p[id];
    if (class->pod->o.refs == 1) { /* only the class still refers to its pod */
        sched_object_unref(c->words, (void *)(uintptr_t) class->pod);
        class->pod = sched_object_ref((void *)(uintptr_t)pod);
    }
    return id;
}

static void classes_init(struct census_classes *k, uint64_t (*hash)(const struct sched_pod *pod),
                         bool (*is_same)(const struct sched_pod *a, const struct sched_pod *b))
{
    k->hash = hash;
    k->is_same = is_same;
    k->first_free = CENSUS_NONE;
}

static void classes_fini(struct census_classes *k)
{
    assert(k->n_live == 0);
    free(k->p);
    free(k->buckets);
    free(k->scratch);
    vec_fini(&k->touched);
}

/* ---- rows ---- */

static void count(struct census_classes *k, uint32_t class, int32_t delta)
{
    if (class == CENSUS_NONE)
        return;
    assert(class < k->n && k->p[class].pod);
    assert(delta > 0 || k->p[class].pods >= (uint32_t)-delta);
    if (k->scratch[class] == 0)
        vec_push(&k->touched, class); /* twice if it returns to 0 in between */
    k->scratch[class] += delta;
    k->p[class].pods += (uint32_t)delta;
}

/* Moves the counts to the log; frees classes without pods. */
static void count_end(struct census *c, struct census_classes *k, uint32_t node)
{
    vec_each (class, &k->touched) {
        if (k->scratch[*class] != 0)
            record(k, *class, node, k->scratch[*class]);
        k->scratch[*class] = 0;
    }
    vec_each (class, &k->touched)
        if (k->p[*class].pod && k->p[*class].pods == 0)
            class_free(c, k, *class);
    k->touched.n = 0;
}

static void count_place(struct census *c, const struct census_place *place, int32_t delta)
{
    count(&c->labels, place->labels, delta);
    count(&c->terms, place->terms, delta);
}

static void row_put_pods(struct census *c, uint32_t index, const struct sched_pod *const *pods,
                         uint32_t n)
{
    struct census_row *row = &c->rows[index];
    uint32_t old_n = row->n;

    if (n > row->cap) {
        uint32_t cap = n + n / 4 + 4;
        row->pods = xrealloc(row->pods, cap * sizeof(*row->pods));
        row->places = xrealloc(row->places, cap * sizeof(*row->places));
        row->cap = cap;
    }
    for (uint32_t i = 0; i < MAX(n, old_n); i++) {
        const struct sched_pod *before = i < old_n ? row->pods[i] : NULL;
        const struct sched_pod *after = i < n ? pods[i] : NULL;
        if (before == after)
            continue;
        struct census_place place = { 0 };
        if (before)
            place = row->places[i];
        if (after) {
            row->pods[i] = sched_object_ref((void *)(uintptr_t)after);
            row->places[i] = (struct census_place){
                .labels = class_of(c, &c->labels, after),
                .terms = has_terms(after) ? class_of(c, &c->terms, after) : CENSUS_NONE,
            };
            count_place(c, &row->places[i], 1);
        }
        if (before) {
            count_place(c, &place, -1);
            sched_object_unref(c->words, (void *)(uintptr_t)before);
        }
    }
    row->n = n;
    count_end(c, &c->labels, index);
    count_end(c, &c->terms, index);
}

static bool has_new_shape(const struct sched_node *before, const struct sched_node *after)
{
    return before->name != after->name || !sched_labels_equal(&before->labels, &after->labels) ||
           !alike_taints(before, after);
}

static void count_labels(struct census *c, const struct sched_node *node, int32_t delta)
{
    for (uint32_t i = 0; node && i < node->labels.n; i++)
        *counts_at(&c->label_nodes, node->labels.p[i].key->id, intern_end(c->words)) += delta;
}

static void row_put_node(struct census *c, struct census_row *row, const struct sched_node *node)
{
    if (row->node == node)
        return;
    if (!row->node || !node || has_new_shape(row->node, node)) {
        row->shape = ++c->shape;
        count_labels(c, row->node, -1);
        count_labels(c, node, 1);
    }
    const struct sched_node *before = row->node;
    assert(!before || c->n_nodes > 0);
    c->n_nodes += node != NULL;
    c->n_nodes -= before != NULL;
    row->node = node ? sched_object_ref((void *)(uintptr_t)node) : NULL;
    sched_object_unref(c->words, (void *)(uintptr_t)before);
}

static void row_put(struct census *c, const struct sched_node_info *info)
{
    if (!info->node) /* it has no index; sweep() clears its old row */
        return;
    if (info->index >= c->n_rows) {
        uint32_t n = MAX(info->index + 1, sched_cache_nodes_end(c->cache));
        c->rows = xrealloc(c->rows, n * sizeof(*c->rows));
        memset(c->rows + c->n_rows, 0, (n - c->n_rows) * sizeof(*c->rows));
        c->n_rows = n;
    }
    row_put_node(c, &c->rows[info->index], info->node);
    row_put_pods(c, info->index, info->pods, info->n_pods);
}

static void row_clear(struct census *c, uint32_t index)
{
    struct census_row *row = &c->rows[index];
    row_put_node(c, row, NULL);
    row_put_pods(c, index, NULL, 0);
    free(row->pods);
    free(row->places);
    *row = (struct census_row){ .shape = row->shape };
}

/* Removed nodes are not among the changed ones; nodes that took over their index are. */
static void sweep(struct census *c)
{
    size_t n;
    const struct sched_node_info *const *nodes = sched_cache_nodes(c->cache, &n);

    c->seen++;
    for (size_t i = 0; i < n; i++) {
        assert(nodes[i]->index < c->n_rows);
        c->rows[nodes[i]->index].seen = c->seen;
    }
    for (uint32_t i = 0; i < c->n_rows; i++)
        if (c->rows[i].node && c->rows[i].seen != c->seen)
            row_clear(c, i);
}

void census_sync(struct census *c)
{
    const struct sched_node_info *newest = sched_cache_newest(c->cache);
    size_t n_nodes, n_pods;

    for (const struct sched_node_info *i = newest; i && i->generation > c->generation; i = i->older)
        row_put(c, i);
    if (newest)
        c->generation = MAX(c->generation, newest->generation);
    sched_cache_count(c->cache, &n_nodes, &n_pods);
    if (n_nodes != c->n_nodes)
        sweep(c);
    assert(n_nodes == c->n_nodes);
}

/* ---- lifecycle ---- */

static void follow(struct sched_derived *d)
{
    struct census *c = container_of(d, struct census, derived);
    census_sync(c);
    tallies_trim(c->tallies);
}

struct census *census_ref(struct sched_cache *cache, struct intern_table *words)
{
    struct sched_derived **slot = sched_cache_derived(cache);
    if (!*slot) {
        struct census *c = xnew(struct census);
        c->derived.follow = follow;
        c->cache = cache;
        c->words = words;
        classes_init(&c->labels, labels_hash, labels_are_same);
        classes_init(&c->terms, terms_hash, terms_are_same);
        c->tallies = tallies_new(c);
        c->tally_bytes_max = TALLY_BYTES_MAX;
        *slot = &c->derived;
    }
    struct census *c = container_of(*slot, struct census, derived);
    c->refs++;
    return c;
}

void census_unref(struct census *c)
{
    assert(!c || c->refs > 0);
    if (!c || --c->refs > 0)
        return;
    tallies_free(c->tallies);
    for (uint32_t i = 0; i < c->n_rows; i++)
        row_clear(c, i);
    counts_fini(&c->label_nodes);
    classes_fini(&c->labels);
    classes_fini(&c->terms);
    assert(c->anti_keys.n == 0 && c->score_keys.n == 0 && c->n_nodes == 0);
    *sched_cache_derived(c->cache) = NULL;
    free(c->rows);
    free(c->anti_keys.p);
    free(c->score_keys.p);
    free(c);
}
