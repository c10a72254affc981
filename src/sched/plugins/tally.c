/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts of pods in topology domains; the contract is in tally.h.
 *
 *     census: rows (node -> classes of its pods), log of changes
 *        |                        |
 *        |  weights: class -> n   |            topology: node -> domain    filter: node -> counts?
 *        \----> by_node: node -> n <--- log             |                          |
 *                    \-----------------> sums: domain -> n <-----------------------/
 */
#include "sched/plugins/tally.h"

#include "sched/object/namespace.h"
#include "sched/plugins/alike.h"

#include <assert.h>

enum { BUCKETS = 256, MEMO = 512, DEAD_DOMAINS_MAX = 64 };

/* Which tally answers about pods with these labels, until terms or namespaces change. */
struct memo {
    struct word *namespace; /* a reference; NULL: free */
    struct sched_labels labels;
    enum tally_kind kind;
    const struct word *key; /* held by the census, as long as terms do not change */
    int32_t hard_weight;
    uint64_t terms, namespaces;
    struct tally *tally; /* NULL: all 0 */
};

struct tallies {
    struct census *c;
    struct topology *topologies;
    struct tally_filter *filters;
    struct population *populations;
    struct tally *newest, *oldest, *buckets[BUCKETS];
    struct memo memo[MEMO];
    struct tally_weight *given; /* scratch */
    uint32_t cap_given;
    uint64_t epoch;
    size_t bytes;
};

/* ---- topologies ---- */

static uint32_t *domain_slot(const struct topology *t, const struct word *value)
{
    uint32_t i = (uint32_t)value->hash & (t->n_slots - 1);
    while (t->slots[i] != 0 && t->values[t->slots[i]] != value)
        i = (i + 1) & (t->n_slots - 1);
    return &t->slots[i];
}

static void grow_slots(struct topology *t)
{
    t->n_slots = t->n_slots ? t->n_slots * 2 : 64;
    free(t->slots);
    t->slots = xnew_n(uint32_t, t->n_slots);
    for (uint32_t d = 1; d < t->n_domains; d++)
        *domain_slot(t, t->values[d]) = d;
}

static uint32_t domain_of_value(struct topology *t, struct word *value)
{
    if (t->n_domains * 2 >= t->n_slots)
        grow_slots(t);
    uint32_t *slot = domain_slot(t, value);
    if (*slot != 0)
        return *slot;
    if (t->n_domains == t->cap_domains) {
        t->cap_domains = t->cap_domains * 2;
        t->values = xrealloc(t->values, t->cap_domains * sizeof(*t->values));
        t->nodes = xrealloc(t->nodes, t->cap_domains * sizeof(*t->nodes));
    }
    uint32_t d = t->n_domains++;
    t->values[d] = word_ref(value);
    t->nodes[d] = 0;
    t->n_dead++;
    *slot = d;
    if (value->n == 0)
        t->empty = d;
    return d;
}

/* Forget all domains; every node is read again. */
static void topology_reset(struct words *w, struct topology *t)
{
    for (uint32_t d = 1; d < t->n_domains; d++)
        word_unref(w, t->values[d]);
    if (!t->values) {
        t->cap_domains = 4;
        t->values = xnew_n(struct word *, t->cap_domains);
        t->nodes = xnew_n(uint32_t, t->cap_domains);
    }
    t->values[0] = NULL;
    t->nodes[0] = 0;
    t->n_domains = 1;
    t->n_dead = t->empty = 0;
    free(t->slots);
    t->slots = NULL;
    t->n_slots = 0;
    if (t->n_nodes)
        memset(t->domain_of, 0, t->n_nodes * sizeof(*t->domain_of));
    t->shape = 0;
    t->version++;
}

static void topology_put(struct topology *t, uint32_t index, struct word *value)
{
    uint32_t before = t->domain_of[index];
    if (t->values[before] == value)
        return;
    uint32_t after = value ? domain_of_value(t, value) : 0;
    if (before != 0 && --t->nodes[before] == 0)
        t->n_dead++;
    if (after != 0 && t->nodes[after]++ == 0)
        t->n_dead--;
    t->domain_of[index] = after;
    t->version++;
}

static void topology_sync(struct census *c, struct topology *t)
{
    if (t->shape == c->shape)
        return;
    if (t->n_nodes < c->n_rows) {
        t->domain_of = xrealloc(t->domain_of, c->n_rows * sizeof(*t->domain_of));
        memset(t->domain_of + t->n_nodes, 0, (c->n_rows - t->n_nodes) * sizeof(*t->domain_of));
        t->n_nodes = c->n_rows;
        t->version++;
    }
    if (t->n_dead > t->n_domains / 2 + DEAD_DOMAINS_MAX)
        topology_reset(c->words, t);
    for (uint32_t i = 0; i < c->n_rows; i++) {
        const struct sched_node *node = c->rows[i].node;
        if (c->rows[i].shape > t->shape)
            topology_put(t, i, node ? sched_label_get(&node->labels, t->key) : NULL);
    }
    t->shape = c->shape;
}

static struct topology *topology_ref(struct tallies *ts, const struct word *key)
{
    struct topology *t = ts->topologies;
    while (t && t->key != key)
        t = t->next;
    if (!t) {
        t = xnew(struct topology);
        t->key = word_ref((struct word *)(uintptr_t)key);
        t->next = ts->topologies;
        ts->topologies = t;
        topology_reset(ts->c->words, t);
    }
    t->refs++;
    return t;
}

static void topology_unref(struct tallies *ts, struct topology *t)
{
    if (--t->refs > 0)
        return;
    struct topology **at = &ts->topologies;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    topology_reset(ts->c->words, t);
    word_unref(ts->c->words, t->key);
    free(t->domain_of);
    free(t->values);
    free(t->nodes);
    free(t);
}

/* ---- filters ---- */

bool pod_wants_node(const struct sched_pod *pod, const struct sched_node *node)
{
    return sched_selector_matches(&pod->node_selector, &node->labels) &&
           (!pod->has_required_node_affinity || sched_node_terms_match(&pod->required_node, node));
}

static bool tolerates_node(const struct sched_pod *pod, const struct sched_node *node)
{
    for (uint32_t i = 0; i < node->n_taints; i++)
        if (node->taints[i].effect != SCHED_PREFER_NO_SCHEDULE &&
            !sched_tolerates(pod->tolerations, pod->n_tolerations, &node->taints[i]))
            return false;
    return true;
}

static bool filter_counts(const struct tally_filter *f, const struct sched_node *node)
{
    for (uint32_t i = 0; i < f->n_keys; i++)
        if (!sched_label_get(&node->labels, f->keys[i]))
            return false;
    return (!f->honors_affinity || pod_wants_node(f->pod, node)) &&
           (!f->honors_taints || tolerates_node(f->pod, node));
}

static void filter_sync(struct census *c, struct tally_filter *f)
{
    if (f->shape == c->shape)
        return;
    if (f->n_nodes < c->n_rows) {
        f->counts = xrealloc(f->counts, c->n_rows);
        memset(f->counts + f->n_nodes, 0, c->n_rows - f->n_nodes);
        f->n_nodes = c->n_rows;
    }
    for (uint32_t i = 0; i < c->n_rows; i++) {
        if (c->rows[i].shape <= f->shape)
            continue;
        bool counts = c->rows[i].node && filter_counts(f, c->rows[i].node);
        f->version += counts != f->counts[i];
        f->counts[i] = counts;
    }
    f->shape = c->shape;
}

static bool asks_affinity(const struct tally_key *k)
{
    return k->honors_affinity &&
           (k->pod->node_selector.n > 0 || k->pod->has_required_node_affinity);
}

/* Does every node count that has the topology key? Others are in domain 0. */
static bool filters_nothing(const struct tally_key *k)
{
    if (k->kind != TALLY_SPREAD || k->wants_nodes_alone)
        return true;
    for (uint32_t i = 0; i < k->n_keys; i++)
        if (k->keys[i] != k->topology_key)
            return false;
    return !asks_affinity(k) && !k->honors_taints;
}

static uint64_t filter_hash(const struct tally_key *k)
{
    uint64_t h = alike_mix(k->honors_taints, asks_affinity(k));
    for (uint32_t i = 0; i < k->n_keys; i++)
        h = alike_word(h, k->keys[i]);
    if (asks_affinity(k))
        h = alike_hash_required_node(h, k->pod);
    return k->honors_taints ? alike_hash_tolerations(h, k->pod) : h;
}

static bool filter_is(const struct tally_filter *f, const struct tally_key *k)
{
    if (f->n_keys != k->n_keys || f->honors_taints != k->honors_taints ||
        f->honors_affinity != asks_affinity(k))
        return false;
    for (uint32_t i = 0; i < k->n_keys; i++)
        if (f->keys[i] != k->keys[i])
            return false;
    return (!f->honors_affinity || alike_required_node(f->pod, k->pod)) &&
           (!f->honors_taints || alike_tolerations(f->pod, k->pod));
}

static struct tally_filter *filter_find(struct tallies *ts, const struct tally_key *k,
                                        uint64_t hash)
{
    struct tally_filter *f = ts->filters;
    while (f && (f->hash != hash || !filter_is(f, k)))
        f = f->next;
    return f;
}

static struct tally_filter *filter_new(struct tallies *ts, const struct tally_key *k, uint64_t hash)
{
    struct tally_filter *f = xnew(struct tally_filter);
    f->hash = hash;
    f->honors_affinity = asks_affinity(k);
    f->honors_taints = k->honors_taints;
    if (f->honors_affinity || f->honors_taints)
        f->pod = sched_object_ref((void *)(uintptr_t)k->pod);
    f->n_keys = k->n_keys;
    f->keys = xnew_n(struct word *, k->n_keys);
    for (uint32_t i = 0; i < k->n_keys; i++)
        f->keys[i] = word_ref(k->keys[i]);
    f->next = ts->filters;
    ts->filters = f;
    return f;
}

static void filter_unref(struct tallies *ts, struct tally_filter *f)
{
    if (!f || --f->refs > 0)
        return;
    struct tally_filter **at = &ts->filters;
    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    for (uint32_t i = 0; i < f->n_keys; i++)
        word_unref(ts->c->words, f->keys[i]);
    sched_object_unref(ts->c->words, (void *)(uintptr_t)f->pod);
    free(f->keys);
    free(f->counts);
    free(f);
}

/* ---- populations ---- */

static struct population *population_ref(struct tallies *ts, const struct topology *o,
                                         const struct tally_filter *f)
{
    struct population *p = ts->populations;
    while (p && (p->topology != o || p->filter != f))
        p = p->next;
    if (!p) {
        p = xnew(struct population);
        p->topology = o;
        p->filter = f;
        p->next = ts->populations;
        ts->populations = p;
    }
    p->refs++;
    return p;
}

static void population_unref(struct tallies *ts, struct population *p)
{
    if (!p || --p->refs > 0)
        return;
    struct population **at = &ts->populations;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    free(p->nodes);
    free(p);
}

/* Nodes that the topology and, where there is one, the filter know. */
static uint32_t n_nodes_of(const struct topology *o, const struct tally_filter *f)
{
    return f ? MIN(o->n_nodes, f->n_nodes) : o->n_nodes;
}

static void population_sync(struct population *p)
{
    const struct topology *o = p->topology;
    const struct tally_filter *f = p->filter;

    if (p->nodes && p->topology_version == o->version && (!f || p->filter_version == f->version))
        return;
    if (!p->nodes || p->cap < o->n_domains) {
        p->cap = o->cap_domains;
        p->nodes = xrealloc(p->nodes, p->cap * sizeof(*p->nodes));
    }
    memset(p->nodes, 0, p->cap * sizeof(*p->nodes));
    for (uint32_t i = 0; i < n_nodes_of(o, f); i++)
        if (!f || f->counts[i])
            p->nodes[o->domain_of[i]]++;
    p->n_domains = 0;
    for (uint32_t d = 1; d < o->n_domains; d++)
        p->n_domains += p->nodes[d] != 0;
    p->topology_version = o->version;
    p->filter_version = f ? f->version : 0;
    p->version++;
}

/* ---- terms ---- */

const struct sched_labels *namespace_labels(const struct sched_cache *cache,
                                            const struct word *name)
{
    static const struct sched_labels none;
    const struct sched_namespace *ns =
        sched_cache_get(cache, SCHED_NAMESPACE, STR(""), word_str(name));
    return ns ? &ns->labels : &none;
}

static bool names_namespace(const struct sched_affinity_term *t, const struct word *name)
{
    for (uint32_t i = 0; i < t->n_namespaces; i++)
        if (t->namespaces[i] == name)
            return true;
    return false;
}

/*
 * Upstream adds the namespaces that the selector selects to those that are named, and then asks the
 * selector about empty labels, too: one that wants a label not to be there selects all namespaces.
 */
static bool selects_namespace(struct census *c, const struct sched_affinity_term *t,
                              const struct word *name)
{
    static const struct sched_labels none;
    const struct sched_selector *s = &t->namespace_selector;
    if (s->nothing || s->n == 0)
        return !s->nothing;
    return sched_selector_matches(s, namespace_labels(c->cache, name)) ||
           sched_selector_matches(s, &none);
}

bool term_matches(struct census *c, const struct sched_affinity_term *t,
                  const struct sched_pod *other)
{
    return sched_selector_matches(&t->selector, &other->labels) &&
           (names_namespace(t, other->namespace_word) ||
            selects_namespace(c, t, other->namespace_word));
}

bool term_matches_with(const struct sched_affinity_term *t, const struct sched_pod *other,
                       const struct sched_labels *labels)
{
    static const struct sched_labels none;
    return sched_selector_matches(&t->selector, &other->labels) &&
           (names_namespace(t, other->namespace_word) ||
            sched_selector_matches(&t->namespace_selector, labels ? labels : &none));
}

/* ---- weights ---- */

static struct census_classes *classes_of(struct census *c, enum tally_kind kind)
{
    return kind == TALLY_EXISTING || kind == TALLY_ABOUT ? &c->terms : &c->labels;
}

/* Terms of a pod that is there, with the key, that match the pod; each: 0: their weights. */
static int64_t weigh_terms(const struct tally_key *k, const struct sched_labels *namespace,
                           const struct sched_affinity_terms *of, int32_t each)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < of->n; i++)
        if (of->p[i].topology_key == k->topology_key &&
            term_matches_with(&of->p[i], k->pod, namespace))
            sum += each ? each : of->p[i].weight;
    return sum;
}

/* What pods that want what `other` wants add to the answer. */
static int64_t weigh_wants(const struct tally_key *k, const struct sched_labels *namespace,
                           const struct sched_pod *other)
{
    if (k->kind == TALLY_EXISTING)
        return weigh_terms(k, namespace, &other->required_anti, 1);
    int64_t sum = weigh_terms(k, namespace, &other->preferred_affinity, 0) -
                  weigh_terms(k, namespace, &other->preferred_anti, 0);
    if (k->hard_weight > 0)
        sum += weigh_terms(k, namespace, &other->required_affinity, k->hard_weight);
    return sum;
}

/* Terms of the tally's pod with the key that match `other`. */
static int64_t weigh_own_terms(struct census *c, const struct tally *t,
                               const struct sched_affinity_terms *own,
                               const struct sched_pod *other, int32_t each)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < own->n; i++)
        if (own->p[i].topology_key == t->topology->key && term_matches(c, &own->p[i], other))
            sum += each ? each : own->p[i].weight;
    return sum;
}

static bool matches_all(struct census *c, const struct sched_affinity_terms *own,
                        const struct sched_pod *other)
{
    for (uint32_t i = 0; i < own->n; i++)
        if (!term_matches(c, &own->p[i], other))
            return false;
    return own->n > 0;
}

int64_t tally_weigh(struct census *c, const struct tally *t, const struct sched_pod *other)
{
    switch (t->kind) {
    case TALLY_SPREAD: /* an empty selector counts nothing, as upstream */
        return !other->is_terminating && other->namespace_word == t->namespace &&
               t->selector.n > 0 && sched_selector_matches(&t->selector, &other->labels);
    case TALLY_AFFINITY:
        return matches_all(c, &t->pod->required_affinity, other);
    case TALLY_ANTI:
        return weigh_own_terms(c, t, &t->pod->required_anti, other, 1);
    case TALLY_PREFERS:
        return weigh_own_terms(c, t, &t->pod->preferred_affinity, other, 0) -
               weigh_own_terms(c, t, &t->pod->preferred_anti, other, 0);
    case TALLY_EXISTING:
    case TALLY_ABOUT:
        break;
    }
    assert(false);
    return 0;
}

static int32_t checked_weight(int64_t w)
{
    assert(w >= INT32_MIN && w <= INT32_MAX); /* 4 MiB of terms, 100 each */
    return (int32_t)w;
}

static void set_weight(struct counts *weights, uint32_t class, int32_t weight, uint32_t end)
{
    if (weight != 0 || counts_get(weights, class) != 0)
        *counts_at(weights, class, end) = weight;
}

/* ---- sums ---- */

static void find_min(struct tally *t)
{
    t->min = 0;
    t->n_at_min = 0;
    for (uint32_t d = 1; d < t->topology->n_domains; d++) {
        if (t->population->nodes[d] == 0)
            continue;
        if (t->n_at_min == 0 || t->sums[d] < t->min) {
            t->min = t->sums[d];
            t->n_at_min = 0;
        }
        t->n_at_min += t->sums[d] == t->min;
    }
}

static void add_node(struct tally *t, uint32_t node, int32_t n)
{
    if (node < n_nodes_of(t->topology, t->filter) && (!t->filter || t->filter->counts[node]))
        t->sums[t->topology->domain_of[node]] += n;
}

/* Sums from by_node. */
static void add_up(struct tally *t)
{
    const struct topology *o = t->topology;
    const struct counts *n = &t->by_node;

    t->n_nonzero = 0;
    t->topology_version = o->version;
    t->filter_version = t->filter ? t->filter->version : 0;
    t->population_version = t->population ? t->population->version : 0;
    if (t->wants_nodes_alone || (n->cap == 0 && !n->array && t->kind != TALLY_SPREAD)) {
        free(t->sums);
        t->sums = NULL;
        return;
    }
    if (!t->sums || t->cap_domains < o->n_domains) {
        t->cap_domains = o->cap_domains;
        t->sums = xrealloc(t->sums, t->cap_domains * sizeof(*t->sums));
    }
    memset(t->sums, 0, t->cap_domains * sizeof(*t->sums));
    for (uint32_t i = 0; i < n->n_array; i++)
        add_node(t, i, n->array[i]);
    for (uint32_t i = 0; i < n->cap; i++)
        if (n->slots[i].value != 0)
            add_node(t, n->slots[i].key - 1, n->slots[i].value);
    for (uint32_t d = 1; d < o->n_domains; d++)
        t->n_nonzero += t->sums[d] != 0;
    if (t->population)
        find_min(t);
}

/* A node's count has changed by x. */
static void add(struct tally *t, uint32_t node, int32_t x)
{
    uint32_t d = t->topology->domain_of[node];
    if (t->filter && !t->filter->counts[node])
        return;
    int64_t before = t->sums[d], after = before + x;
    t->sums[d] = after;
    if (d == 0)
        return;
    t->n_nonzero += after != 0;
    t->n_nonzero -= before != 0;
    if (t->n_at_min == 0) /* not known now; find_min() comes */
        return;
    t->n_at_min -= before == t->min;
    if (after < t->min) {
        t->min = after;
        t->n_at_min = 0;
    }
    t->n_at_min += after == t->min;
}

/* The question is put to every class. true: a class counts. */
static bool ask_all(struct census *c, struct tally *t)
{
    const struct census_classes *k = classes_of(c, t->kind);
    bool any = false;

    counts_fini(&t->weights);
    for (uint32_t i = 0; i < t->n_given; i++) {
        const struct tally_weight *g = &t->given[i];
        if (g->class >= k->n || k->p[g->class].serial != g->serial)
            continue; /* that class has gone */
        set_weight(&t->weights, g->class, g->weight, k->cap);
        any = true;
    }
    for (uint32_t i = 0; !t->given && i < k->n; i++) {
        int32_t w = k->p[i].pod ? checked_weight(tally_weigh(c, t, k->p[i].pod)) : 0;
        set_weight(&t->weights, i, w, k->cap);
        any = any || w != 0;
    }
    return any;
}

static int32_t weight_in(const struct census_classes *k, uint32_t class)
{
    return class == CENSUS_NONE ? 0 : k->scratch[class];
}

/* From nothing: a look at every class, and where one counts, at the class of every pod. */
static void recount(struct census *c, struct tally *t)
{
    struct census_classes *k = classes_of(c, t->kind);

    counts_fini(&t->by_node);
    if (!ask_all(c, t))
        return;
    for (uint32_t i = 0; i < k->n; i++)
        k->scratch[i] = counts_get(&t->weights, i);
    for (uint32_t i = 0; i < c->n_rows; i++) {
        const struct census_row *row = &c->rows[i];
        int32_t sum = 0;
        for (uint32_t j = 0; j < row->n; j++)
            sum += weight_in(k, k == &c->labels ? row->places[j].labels : row->places[j].terms);
        if (sum != 0)
            *counts_at(&t->by_node, i, c->n_rows) = sum;
    }
    memset(k->scratch, 0, k->n * sizeof(*k->scratch));
}

/* What the census has heard since. false: the sums have to be added up again. */
static bool follow(struct census *c, struct tally *t, bool has_sums)
{
    struct census_classes *k = classes_of(c, t->kind);

    for (uint64_t at = t->log_end; at < k->log_end; at++) {
        const struct census_record *r = &k->log[at % CENSUS_LOG];
        if (r->delta == 0) {
            /* A class that has gone since, or made way for another, has left as many pods as had
             * come: what it weighs does not matter. */
            const struct sched_pod *pod = k->p[r->class].pod;
            int32_t w = t->given || !pod ? 0 : checked_weight(tally_weigh(c, t, pod));
            set_weight(&t->weights, r->class, w, k->cap);
            continue;
        }
        int32_t x = counts_get(&t->weights, r->class) * r->delta;
        if (x == 0)
            continue;
        *counts_at(&t->by_node, r->node, c->n_rows) += x;
        has_sums = has_sums && (t->sums || t->wants_nodes_alone);
        if (has_sums && t->sums)
            add(t, r->node, x);
    }
    return has_sums;
}

static size_t pod_bytes(const struct sched_pod *pod)
{
    return pod ? sizeof(*pod) + pod->json.n : 0;
}

/* Without what its words and terms take. */
static size_t tally_bytes(const struct tally *t)
{
    const struct tally_filter *f = t->filter;
    return sizeof(*t) + t->n_given * sizeof(*t->given) + counts_bytes(&t->weights) +
           counts_bytes(&t->by_node) + (t->sums ? t->cap_domains * sizeof(*t->sums) : 0) +
           pod_bytes(t->pod) + (f ? f->n_nodes + pod_bytes(f->pod) : 0);
}

static void tally_sync(struct census *c, struct tally *t, bool is_new)
{
    const struct census_classes *k = classes_of(c, t->kind);
    /* Whom the terms of a pod select depends on the labels of namespaces. */
    bool asks_namespaces = k == &c->labels && t->kind != TALLY_SPREAD;
    uint64_t namespaces =
        asks_namespaces ? sched_cache_kind_generation(c->cache, SCHED_NAMESPACE) : 0;

    topology_sync(c, t->topology);
    if (t->filter)
        filter_sync(c, t->filter);
    if (t->population)
        population_sync(t->population);
    bool has_sums = !is_new && t->topology_version == t->topology->version &&
                    (!t->filter || t->filter_version == t->filter->version) &&
                    (!t->population || t->population_version == t->population->version);
    if (is_new || namespaces != t->namespaces || k->log_end - t->log_end > CENSUS_LOG) {
        recount(c, t);
        has_sums = false;
    } else if (t->log_end != k->log_end) {
        has_sums = follow(c, t, has_sums);
    }
    if (!has_sums)
        add_up(t);
    else if (t->population && t->n_at_min == 0)
        find_min(t);
    t->namespaces = namespaces;
    t->log_end = k->log_end;
    c->tallies->bytes -= t->bytes;
    t->bytes = tally_bytes(t);
    c->tallies->bytes += t->bytes;
}

/* ---- looking up ---- */

static uint64_t tally_hash(const struct tally_key *k, const struct tally_filter *f,
                           const struct tally_weight *given, uint32_t n_given)
{
    const struct sched_pod *p = k->pod;
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

static bool tally_is(const struct tally *t, const struct tally_key *k, const struct tally_filter *f,
                     const struct tally_weight *given, uint32_t n_given)
{
    const struct sched_pod *a = t->pod, *b = k->pod;

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
    word_unref(ts->c->words, m->namespace);
    *m = (struct memo){ 0 };
}

static void tally_free(struct tallies *ts, struct tally *t)
{
    struct tally **at = &ts->buckets[t->hash % BUCKETS];
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    list_del(ts, t);
    for (size_t i = 0; t->given && i < MEMO; i++)
        if (ts->memo[i].tally == t)
            memo_clear(ts, &ts->memo[i]);
    ts->bytes -= t->bytes;
    population_unref(ts, t->population);
    topology_unref(ts, t->topology);
    filter_unref(ts, t->filter);
    sched_object_unref(ts->c->words, (void *)(uintptr_t)t->pod);
    word_unref(ts->c->words, t->namespace);
    alike_selector_fini(ts->c->words, &t->selector);
    counts_fini(&t->weights);
    counts_fini(&t->by_node);
    free(t->given);
    free(t->sums);
    free(t);
}

static struct tally *tally_new(struct tallies *ts, const struct tally_key *k,
                               struct tally_filter *f, const struct tally_weight *given,
                               uint32_t n_given, uint64_t hash)
{
    struct tally *t = xnew(struct tally);
    t->kind = k->kind;
    t->hash = hash;
    t->topology = topology_ref(ts, k->topology_key);
    t->filter = f;
    if (f)
        f->refs++;
    t->wants_nodes_alone = k->wants_nodes_alone;
    if (k->wants_min)
        t->population = population_ref(ts, t->topology, f);
    if (k->kind == TALLY_SPREAD) {
        t->namespace = word_ref(k->pod->namespace_word);
        alike_selector_copy(&t->selector, k->selector);
    } else if (n_given) {
        t->given = xnew_n(struct tally_weight, n_given);
        memcpy(t->given, given, n_given * sizeof(*given));
        t->n_given = n_given;
    } else {
        t->pod = sched_object_ref((void *)(uintptr_t)k->pod);
    }
    t->next = ts->buckets[hash % BUCKETS];
    ts->buckets[hash % BUCKETS] = t;
    return t;
}

static struct tally *get(struct tallies *ts, const struct tally_key *k,
                         const struct tally_weight *given, uint32_t n_given)
{
    struct tally_filter *f = NULL;

    if (!filters_nothing(k)) {
        uint64_t hash = filter_hash(k);
        f = filter_find(ts, k, hash);
        if (!f)
            f = filter_new(ts, k, hash);
    }
    uint64_t hash = tally_hash(k, f, given, n_given);
    struct tally *t = ts->buckets[hash % BUCKETS];
    while (t && (t->hash != hash || !tally_is(t, k, f, given, n_given)))
        t = t->next;
    bool is_new = !t;
    if (is_new)
        t = tally_new(ts, k, f, given, n_given, hash);
    else
        list_del(ts, t);
    list_put(ts, t);
    t->epoch = ts->epoch;
    tally_sync(ts->c, t, is_new);
    while (ts->bytes > ts->c->tally_bytes_max && ts->oldest->epoch < ts->epoch)
        tally_free(ts, ts->oldest);
    return t;
}

/* What the pods that are there want of this one: weights of the classes of terms that match it. */
static struct tally *get_by_terms(struct tallies *ts, const struct tally_key *k)
{
    const struct census_classes *terms = &ts->c->terms;
    const struct sched_labels *namespace = namespace_labels(ts->c->cache, k->pod->namespace_word);
    uint32_t n = 0;

    if (ts->cap_given < terms->n) {
        ts->cap_given = terms->cap;
        ts->given = xrealloc(ts->given, ts->cap_given * sizeof(*ts->given));
    }
    for (uint32_t i = 0; i < terms->n; i++) {
        int64_t w = terms->p[i].pod ? weigh_wants(k, namespace, terms->p[i].pod) : 0;
        if (w != 0)
            ts->given[n++] = (struct tally_weight){ i, checked_weight(w), terms->p[i].serial };
    }
    return n ? get(ts, k, ts->given, n) : NULL;
}

/* The same, remembered: pods of a template get the same answer. */
static struct tally *get_about(struct tallies *ts, const struct tally_key *k)
{
    const struct sched_pod *pod = k->pod;
    uint64_t namespaces = sched_cache_kind_generation(ts->c->cache, SCHED_NAMESPACE);
    uint64_t hash = alike_word(alike_mix(k->kind, (uint64_t)k->hard_weight), k->topology_key);
    hash = alike_hash_labels(alike_word(hash, pod->namespace_word), &pod->labels);
    struct memo *m = &ts->memo[hash % MEMO];

    if (m->namespace && m->terms == ts->c->terms.changes && m->namespaces == namespaces &&
        m->kind == k->kind && m->key == k->topology_key && m->hard_weight == k->hard_weight &&
        alike_pod_labels(&m->labels, m->namespace, pod)) {
        if (m->tally) {
            list_del(ts, m->tally);
            list_put(ts, m->tally);
            m->tally->epoch = ts->epoch;
            tally_sync(ts->c, m->tally, false);
        }
        return m->tally;
    }
    struct tally *t = get_by_terms(ts, k);
    memo_clear(ts, m);
    *m = (struct memo){ .namespace = word_ref(pod->namespace_word),
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
    if (classes_of(c, k->kind) == &c->terms)
        return get_about(c->tallies, k);
    return get(c->tallies, k, NULL, 0);
}

void tally_begin(struct census *c, uint64_t *began)
{
    /* Whoever begins twice has begun another cycle; the first of its plugins that does tells. */
    if (*began == c->tallies->epoch)
        c->tallies->epoch++;
    *began = c->tallies->epoch;
    census_sync(c);
}

struct tallies *tallies_new(struct census *c)
{
    struct tallies *ts = xnew(struct tallies);
    ts->c = c;
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
        if (classes_of(ts->c, t->kind)->log_end - t->log_end > CENSUS_LOG)
            tally_free(ts, t);
    }
}

void tallies_free(struct tallies *ts)
{
    for (size_t i = 0; i < MEMO; i++)
        memo_clear(ts, &ts->memo[i]);
    while (ts->oldest)
        tally_free(ts, ts->oldest);
    assert(!ts->topologies && !ts->filters && !ts->populations && ts->bytes == 0);
    free(ts->given);
    free(ts);
}
