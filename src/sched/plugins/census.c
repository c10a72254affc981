/* SPDX-License-Identifier: Apache-2.0 */
/* Pods by class and node; the contract is in census.h. */
#include "sched/plugins/census.h"

#include "sched/plugins/alike.h"
#include "sched/plugins/tally.h"

#include <assert.h>

/* ---- classes ---- */

static uint64_t class_hash(const struct sched_pod *p)
{
    uint64_t h = alike_word(p->is_terminating, p->namespace_word);
    h = alike_hash_labels(h, &p->labels);
    h = alike_hash_affinity(h, &p->required_affinity);
    h = alike_hash_affinity(h, &p->preferred_affinity);
    h = alike_hash_affinity(h, &p->required_anti);
    return alike_hash_affinity(h, &p->preferred_anti);
}

static bool class_is_of(const struct sched_pod *a, const struct sched_pod *b)
{
    return a->namespace_word == b->namespace_word && a->is_terminating == b->is_terminating &&
           sched_labels_equal(&a->labels, &b->labels) &&
           alike_affinity(&a->required_affinity, &b->required_affinity) &&
           alike_affinity(&a->preferred_affinity, &b->preferred_affinity) &&
           alike_affinity(&a->required_anti, &b->required_anti) &&
           alike_affinity(&a->preferred_anti, &b->preferred_anti);
}

static void record(struct census *c, uint32_t class, uint32_t node, int32_t delta)
{
    c->log[c->log_end++ % CENSUS_LOG] =
        (struct census_record){ .class = class, .node = node, .delta = delta };
}

static void keys_add(struct census_keys *keys, struct word *key)
{
    for (uint32_t i = 0; i < keys->n; i++)
        if (keys->p[i].key == key) {
            keys->p[i].classes++;
            return;
        }
    if (keys->n == keys->cap) {
        keys->cap = keys->cap ? keys->cap * 2 : 4;
        keys->p = xrealloc(keys->p, keys->cap * sizeof(*keys->p));
    }
    keys->p[keys->n++] = (struct census_key){ .key = word_ref(key), .classes = 1 };
}

static void keys_del(struct census *c, struct census_keys *keys, struct word *key)
{
    for (uint32_t i = 0; i < keys->n; i++) {
        if (keys->p[i].key != key)
            continue;
        if (--keys->p[i].classes == 0) {
            word_unref(c->words, keys->p[i].key);
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

static void class_count_keys(struct census *c, const struct sched_pod *p, bool adds)
{
    keys_count(c, &c->anti_keys, &p->required_anti, adds);
    keys_count(c, &c->score_keys, &p->required_affinity, adds);
    keys_count(c, &c->score_keys, &p->preferred_affinity, adds);
    keys_count(c, &c->score_keys, &p->preferred_anti, adds);
}

static void grow_buckets(struct census *c)
{
    c->n_buckets = c->n_buckets ? c->n_buckets * 2 : 64;
    free(c->buckets);
    c->buckets = xnew_n(uint32_t, c->n_buckets);
    memset(c->buckets, 0xff, c->n_buckets * sizeof(*c->buckets));
    for (uint32_t i = 0; i < c->n_classes; i++) {
        if (!c->classes[i].pod)
            continue;
        uint32_t *bucket = &c->buckets[c->classes[i].hash & (c->n_buckets - 1)];
        c->classes[i].next = *bucket;
        *bucket = i;
    }
}

static void grow_classes(struct census *c)
{
    uint32_t cap = c->cap_classes ? c->cap_classes * 2 : 64;
    c->classes = xrealloc(c->classes, cap * sizeof(*c->classes));
    c->delta = xrealloc(c->delta, cap * sizeof(*c->delta));
    memset(c->delta + c->cap_classes, 0, (cap - c->cap_classes) * sizeof(*c->delta));
    c->cap_classes = cap;
}

static uint32_t class_new(struct census *c, const struct sched_pod *pod, uint64_t hash)
{
    uint32_t id = c->free_class;
    if (id != CENSUS_NONE) {
        c->free_class = c->classes[id].next;
    } else {
        if (c->n_classes == c->cap_classes)
            grow_classes(c);
        id = c->n_classes++;
    }
    c->classes[id] = (struct census_class){ 0 };
    if (++c->n_live > c->n_buckets)
        grow_buckets(c);
    uint32_t *bucket = &c->buckets[hash & (c->n_buckets - 1)];
    c->classes[id] = (struct census_class){ .pod = sched_object_ref((void *)(uintptr_t)pod),
                                            .hash = hash,
                                            .next = *bucket };
    *bucket = id;
    class_count_keys(c, pod, true);
    record(c, id, 0, 0);
    return id;
}

static void class_free(struct census *c, uint32_t id)
{
    struct census_class *class = &c->classes[id];
    uint32_t *at = &c->buckets[class->hash & (c->n_buckets - 1)];
    while (*at != id)
        at = &c->classes[*at].next;
    *at = class->next;
    class_count_keys(c, class->pod, false);
    sched_object_unref(c->words, (void *)(uintptr_t) class->pod);
    *class = (struct census_class){ .next = c->free_class };
    c->free_class = id;
    c->n_live--;
}

/* The class of a pod; one that has none gets one. */
static uint32_t class_of(struct census *c, const struct sched_pod *pod)
{
    uint64_t hash = class_hash(pod);
    uint32_t id = c->n_buckets ? c->buckets[hash & (c->n_buckets - 1)] : CENSUS_NONE;

    while (id != CENSUS_NONE &&
           (c->classes[id].hash != hash || !class_is_of(c->classes[id].pod, pod)))
        id = c->classes[id].next;
    if (id == CENSUS_NONE)
        return class_new(c, pod, hash);
    struct census_class *class = &c->classes[id];
    if (class->pod->o.refs == 1) { /* nobody but the class needs the one it has */
        sched_object_unref(c->words, (void *)(uintptr_t) class->pod);
        class->pod = sched_object_ref((void *)(uintptr_t)pod);
    }
    return id;
}

/* ---- rows ---- */

static void count(struct census *c, uint32_t class, int32_t delta)
{
    if (c->delta[class] == 0)
        vec_push(&c->touched, class); /* twice where it comes back to 0 in between */
    c->delta[class] += delta;
    c->classes[class].pods += (uint32_t)delta;
}

/* What was counted becomes part of the log; classes that have no pods any more go. */
static void count_end(struct census *c, uint32_t node)
{
    vec_each (class, &c->touched) {
        if (c->delta[*class] != 0)
            record(c, *class, node, c->delta[*class]);
        c->delta[*class] = 0;
    }
    vec_each (class, &c->touched)
        if (c->classes[*class].pod && c->classes[*class].pods == 0)
            class_free(c, *class);
    c->touched.n = 0;
}

static void row_put_pods(struct census *c, uint32_t index, const struct sched_pod *const *pods,
                         uint32_t n)
{
    struct census_row *row = &c->rows[index];
    uint32_t old_n = row->n;

    if (n > row->cap) {
        uint32_t cap = n + n / 4 + 4;
        row->pods = xrealloc(row->pods, cap * sizeof(*row->pods));
        row->classes = xrealloc(row->classes, cap * sizeof(*row->classes));
        row->cap = cap;
    }
    for (uint32_t i = 0; i < MAX(n, old_n); i++) {
        const struct sched_pod *before = i < old_n ? row->pods[i] : NULL;
        const struct sched_pod *after = i < n ? pods[i] : NULL;
        if (before == after)
            continue;
        uint32_t class = before ? row->classes[i] : CENSUS_NONE;
        if (after) {
            row->pods[i] = sched_object_ref((void *)(uintptr_t)after);
            row->classes[i] = class_of(c, after);
            count(c, row->classes[i], 1);
        }
        if (before) {
            count(c, class, -1);
            sched_object_unref(c->words, (void *)(uintptr_t)before);
        }
    }
    row->n = n;
    count_end(c, index);
}

static bool has_new_shape(const struct sched_node *before, const struct sched_node *after)
{
    return before->name != after->name || !sched_labels_equal(&before->labels, &after->labels) ||
           !alike_taints(before, after);
}

static void row_put_node(struct census *c, struct census_row *row, const struct sched_node *node)
{
    if (row->node == node)
        return;
    if (!row->node || !node || has_new_shape(row->node, node))
        row->shape = ++c->shape;
    const struct sched_node *before = row->node;
    row->node = node ? sched_object_ref((void *)(uintptr_t)node) : NULL;
    sched_object_unref(c->words, (void *)(uintptr_t)before);
}

static void row_put(struct census *c, const struct sched_node_info *info)
{
    if (!info->node) /* it has no index; what was there before, sweep() clears */
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
    free(row->classes);
    *row = (struct census_row){ .shape = row->shape };
}

/* Nodes that have gone are not among those that changed. */
static void sweep(struct census *c)
{
    size_t n;
    const struct sched_node_info *const *nodes = sched_cache_nodes(c->cache, &n);

    c->seen++;
    for (size_t i = 0; i < n; i++)
        c->rows[nodes[i]->index].seen = c->seen;
    for (uint32_t i = 0; i < c->n_rows; i++)
        if (c->rows[i].node && c->rows[i].seen != c->seen)
            row_clear(c, i);
}

void census_sync(struct census *c)
{
    const struct sched_node_info *newest = sched_cache_newest(c->cache);
    uint64_t nodes_generation = sched_cache_kind_generation(c->cache, SCHED_NODE);

    for (const struct sched_node_info *i = newest; i && i->generation > c->generation; i = i->older)
        row_put(c, i);
    if (newest)
        c->generation = MAX(c->generation, newest->generation);
    if (nodes_generation != c->nodes_generation)
        sweep(c);
    c->nodes_generation = nodes_generation;
}

/* ---- its life ---- */

struct census *census_ref(struct sched_cache *cache, struct words *words)
{
    struct census **slot = (struct census **)sched_cache_derived(cache);
    if (!*slot) {
        *slot = xnew(struct census);
        (*slot)->cache = cache;
        (*slot)->words = words;
        (*slot)->free_class = CENSUS_NONE;
        (*slot)->tallies = tallies_new(*slot);
        (*slot)->tally_bytes_max = TALLY_BYTES_MAX;
    }
    (*slot)->refs++;
    return *slot;
}

void census_unref(struct census *c)
{
    if (!c || --c->refs > 0)
        return;
    tallies_free(c->tallies);
    for (uint32_t i = 0; i < c->n_rows; i++)
        row_clear(c, i);
    assert(c->n_live == 0 && c->anti_keys.n == 0 && c->score_keys.n == 0);
    *sched_cache_derived(c->cache) = NULL;
    free(c->rows);
    free(c->classes);
    free(c->buckets);
    free(c->delta);
    vec_fini(&c->touched);
    free(c->anti_keys.p);
    free(c->score_keys.p);
    free(c);
}
