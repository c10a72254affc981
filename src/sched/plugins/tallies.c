/* SPDX-License-Identifier: Apache-2.0 */
/* All tallies of a census: lookup by content, cache by labels, eviction; see tally.h. */
#include "sched/plugins/tally.h"

#include "sched/plugins/alike.h"
#include "sched/plugins/terms.h"

#include <assert.h>

enum { BUCKETS = 256, MEMO = 512 };

/* Caches the tally for pods with these labels, until terms or namespaces change. */
struct memo {
    struct intern *namespace; /* a reference; NULL: free */
    struct sched_labels labels;
    enum tally_kind kind;
    const struct intern *key; /* held by the census until terms change */
    int32_t hard_weight;
    uint64_t terms, namespaces;
    struct tally *tally; /* NULL: all 0 */
};

struct tallies {
    struct census *c;
    struct topologies topologies;
    struct tally *newest, *oldest, *buckets[BUCKETS];
    struct memo memo[MEMO];
    struct tally_weight *given; /* scratch */
    uint32_t cap_given;
    uint64_t epoch;
    size_t bytes;
};

static uint64_t tally_hash(const struct tally_key *k, const struct node_filter *f,
                           const struct tally_weight *given, uint32_t n_given)
{
    const struct sched_pod *p = k->nodes.pod;
    uint64_t h = alike_word(alike_mix(k->kind, (uintptr_t)f), k->topology_key);

    switch (k->kind) {
    case TALLY_SPREAD:
        h = alike_mix(h, (uint64_t)k->wants_min << 1 | k->wants_nodes_alone);
        return alike_hash_selector(alike_word(h, p->namespace_word), k->selector);
    case TALLY_AFFINITY:
        return alike_hash_affinity(h, &p->required_affinity);
    case TALLY_ANTI:
        return alike_hash_affinity(h, &p->required_anti);
    case TALLY_PREFERS:
        return alike_hash_affinity(alike_hash_affinity(h, &p->preferred_affinity),
                                   &p->preferred_anti);
    case TALLY_EXISTING:
    case TALLY_ABOUT:
        for (uint32_t i = 0; i < n_given; i++)
            h = alike_mix(alike_mix(h, given[i].serial), (uint64_t)given[i].weight);
        return h;
    }
    return h;
}

static bool is_given(const struct tally *t, const struct tally_weight *given, uint32_t n)
{
    if (t->n_given != n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (t->given[i].serial != given[i].serial || t->given[i].weight != given[i].weight)
            return false;
    return true;
}

static bool tally_is(const struct tally *t, const struct tally_key *k, const struct node_filter *f,
                     const struct tally_weight *given, uint32_t n_given)
{
    const struct sched_pod *a = t->pod, *b = k->nodes.pod;

    if (t->kind != k->kind || t->topology->key != k->topology_key || t->filter != f)
        return false;
    switch (k->kind) {
    case TALLY_SPREAD:
        return t->namespace == b->namespace_word && !t->population == !k->wants_min &&
               t->wants_nodes_alone == k->wants_nodes_alone &&
               alike_selectors(&t->selector, k->selector);
    case TALLY_AFFINITY:
        return alike_affinity(&a->required_affinity, &b->required_affinity);
    case TALLY_ANTI:
        return alike_affinity(&a->required_anti, &b->required_anti);
    case TALLY_PREFERS:
        return alike_affinity(&a->preferred_affinity, &b->preferred_affinity) &&
               alike_affinity(&a->preferred_anti, &b->preferred_anti);
    case TALLY_EXISTING:
    case TALLY_ABOUT:
        return is_given(t, given, n_given);
    }
    return false;
}

static void list_del(struct tallies *ts, struct tally *t)
{
    assert(*(t->newer ? &t->newer->older : &ts->newest) == t);
    assert(*(t->older ? &t->older->newer : &ts->oldest) == t);
    *(t->newer ? &t->newer->older : &ts->newest) = t->older;
    *(t->older ? &t->older->newer : &ts->oldest) = t->newer;
}

static void list_put(struct tallies *ts, struct tally *t)
{
    t->newer = NULL;
    t->older = ts->newest;
    *(ts->newest ? &ts->newest->newer : &ts->oldest) = t;
    ts->newest = t;
}

static void memo_clear(struct tallies *ts, struct memo *m)
{
    alike_labels_fini(ts->c->words, &m->labels);
    intern_unref(ts->c->words, m->namespace);
    *m = (struct memo){ 0 };
}

static void tally_free(struct tallies *ts, struct tally *t)
{
    struct tally **at = &ts->buckets[t->hash % BUCKETS];
    assert(ts->bytes >= t->bytes);
    while (*at != t) {
        assert(*at);
        at = &(*at)->next;
    }
    *at = t->next;
    list_del(ts, t);
    for (size_t i = 0; t->given && i < MEMO; i++)
        if (ts->memo[i].tally == t)
            memo_clear(ts, &ts->memo[i]);
    ts->bytes -= t->bytes;
    topology_population_unref(&ts->topologies, t->population);
    topology_unref(&ts->topologies, t->topology);
    topology_node_filter_unref(&ts->topologies, t->filter);
    sched_object_unref(ts->c->words, (void *)(uintptr_t)t->pod);
    intern_unref(ts->c->words, t->namespace);
    alike_selector_fini(ts->c->words, &t->selector);
    counts_fini(&t->weights);
    counts_fini(&t->by_node);
    free(t->given);
    free(t->sums);
    free(t);
}

static struct tally *tally_new(struct tallies *ts, const struct tally_key *k, struct node_filter *f,
                               const struct tally_weight *given, uint32_t n_given, uint64_t hash)
{
    struct tally *t = xnew(struct tally);
    t->kind = k->kind;
    t->hash = hash;
    t->topology = topology_ref(&ts->topologies, k->topology_key);
    t->filter = f;
    t->wants_nodes_alone = k->wants_nodes_alone;
    if (k->wants_min)
        t->population = topology_population_ref(&ts->topologies, t->topology, f);
    if (k->kind == TALLY_SPREAD) {
        t->namespace = intern_ref(k->nodes.pod->namespace_word);
        alike_selector_copy(&t->selector, k->selector);
    } else if (n_given) {
        t->given = xnew_n(struct tally_weight, n_given);
        memcpy(t->given, given, n_given * sizeof(*given));
        t->n_given = n_given;
    } else {
        t->pod = sched_object_ref((void *)(uintptr_t)k->nodes.pod);
    }
    t->next = ts->buckets[hash % BUCKETS];
    ts->buckets[hash % BUCKETS] = t;
    return t;
}

/* Can a node with the topology key still not count? Nodes without it are in domain 0 anyway. */
static bool asks_nodes(const struct tally_key *k, const struct topology_node_question *q)
{
    if (k->kind != TALLY_SPREAD || k->wants_nodes_alone)
        return false;
    for (uint32_t i = 0; i < q->n_keys; i++)
        if (q->keys[i] != k->topology_key)
            return true;
    return topology_node_filter_asks(q);
}

/* Marks the tally as used in this cycle, moves it to the front, and updates it. */
static void use(struct tallies *ts, struct tally *t, bool is_new)
{
    if (!is_new)
        list_del(ts, t);
    list_put(ts, t);
    t->epoch = ts->epoch;
    tally_sync(ts->c, t, is_new);
    ts->bytes -= t->bytes;
    t->bytes = tally_bytes(t);
    ts->bytes += t->bytes;
}

static struct tally *get(struct tallies *ts, const struct tally_key *k,
                         const struct tally_weight *given, uint32_t n_given)
{
    struct node_filter *f = NULL;

    if (asks_nodes(k, &k->nodes))
        f = topology_node_filter_ref(&ts->topologies, &k->nodes);
    uint64_t hash = tally_hash(k, f, given, n_given);
    struct tally *t = ts->buckets[hash % BUCKETS];
    while (t && (t->hash != hash || !tally_is(t, k, f, given, n_given)))
        t = t->next;
    bool is_new = !t;
    if (is_new)
        t = tally_new(ts, k, f, given, n_given, hash);
    else
        topology_node_filter_unref(&ts->topologies, f);
    use(ts, t, is_new);
    while (ts->bytes > ts->c->tally_bytes_max && ts->oldest->epoch < ts->epoch)
        tally_free(ts, ts->oldest);
    return t;
}

/* The tally for the terms of existing pods: weights of the classes of terms that match this pod. */
static struct tally *get_by_terms(struct tallies *ts, const struct tally_key *k)
{
    const struct census_classes *terms = &ts->c->terms;
    const struct sched_labels *namespace =
        terms_namespace_labels(ts->c->cache, k->nodes.pod->namespace_word);
    uint32_t n = 0;

    if (ts->cap_given < terms->n) {
        ts->cap_given = terms->cap;
        ts->given = xrealloc(ts->given, ts->cap_given * sizeof(*ts->given));
    }
    for (uint32_t i = 0; i < terms->n; i++) {
        int32_t w = terms->p[i].pod ? tally_weigh_wants(k, namespace, terms->p[i].pod) : 0;
        if (w != 0)
            ts->given[n++] = (struct tally_weight){ i, w, terms->p[i].serial };
    }
    return n ? get(ts, k, ts->given, n) : NULL;
}

/* The same with the cache: pods of a template get the same answer. */
static struct tally *get_about(struct tallies *ts, const struct tally_key *k)
{
    const struct sched_pod *pod = k->nodes.pod;
    uint64_t namespaces = sched_cache_kind_generation(ts->c->cache, SCHED_NAMESPACE);
    uint64_t hash = alike_word(alike_mix(k->kind, (uint64_t)k->hard_weight), k->topology_key);
    hash = alike_hash_labels(alike_word(hash, pod->namespace_word), &pod->labels);
    struct memo *m = &ts->memo[hash % MEMO];

    if (m->namespace && m->terms == ts->c->terms.changes && m->namespaces == namespaces &&
        m->kind == k->kind && m->key == k->topology_key && m->hard_weight == k->hard_weight &&
        alike_pod_labels(&m->labels, m->namespace, pod)) {
        if (m->tally)
            use(ts, m->tally, false);
        return m->tally;
    }
    struct tally *t = get_by_terms(ts, k);
    memo_clear(ts, m);
    *m = (struct memo){ .namespace = intern_ref(pod->namespace_word),
                        .kind = k->kind,
                        .key = k->topology_key,
                        .hard_weight = k->hard_weight,
                        .terms = ts->c->terms.changes,
                        .namespaces = namespaces,
                        .tally = t };
    alike_labels_copy(&m->labels, &pod->labels);
    return t;
}

const struct tally *tally_get(struct census *c, const struct tally_key *k)
{
    if (tally_is_by_terms(k->kind))
        return get_about(c->tallies, k);
    return get(c->tallies, k, NULL, 0);
}

void tally_begin(struct census *c, uint64_t *began)
{
    /* A plugin that begins for the second time starts a new cycle; the first such plugin advances
     * the epoch. */
    if (*began == c->tallies->epoch)
        c->tallies->epoch++;
    *began = c->tallies->epoch;
    census_sync(c);
}

struct tallies *tallies_new(struct census *c)
{
    struct tallies *ts = xnew(struct tallies);
    ts->c = c;
    ts->topologies.words = c->words;
    ts->epoch = 1;
    return ts;
}

size_t tallies_bytes(const struct tallies *ts)
{
    return ts->bytes;
}

void tallies_trim(struct tallies *ts)
{
    struct tally *newer;
    for (struct tally *t = ts->oldest; t && t->epoch < ts->epoch; t = newer) {
        newer = t->newer;
        if (tally_is_behind(ts->c, t))
            tally_free(ts, t);
    }
}

void tallies_free(struct tallies *ts)
{
    for (size_t i = 0; i < MEMO; i++)
        memo_clear(ts, &ts->memo[i]);
    while (ts->oldest)
        tally_free(ts, ts->oldest);
    assert(!ts->topologies.topologies && !ts->topologies.filters && ts->bytes == 0);
    free(ts->given);
    free(ts);
}
