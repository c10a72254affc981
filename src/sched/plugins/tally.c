/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One question and its answer; the contract is in tally.h.
 *
 *     census: rows (node -> classes of its pods), log of changes
 *        |                        |
 *        |  weights: class -> n   |            topology: node -> domain    filter: node -> counts?
 *        \----> by_node: node -> n <--- log             |                          |
 *                    \-----------------> sums: domain -> n <-----------------------/
 */
#include "sched/plugins/tally.h"

#include "sched/plugins/terms.h"

#include <assert.h>

/* ---- weights ---- */

static struct census_classes *classes_of(struct census *c, const struct tally *t)
{
    return tally_is_by_terms(t->kind) ? &c->terms : &c->labels;
}

static int32_t checked_weight(int64_t w)
{
    assert(w >= INT32_MIN && w <= INT32_MAX); /* 4 MiB of terms, 100 each */
    return (int32_t)w;
}

/*
 * Terms of an existing pod, with the key, that match the pod; each: weight of a term, 0: its own.
 */
static int64_t weigh_terms(const struct tally_key *k, const struct sched_labels *namespace,
                           const struct sched_affinity_terms *of, int32_t each)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < of->n; i++)
        if (of->p[i].topology_key == k->topology_key &&
            term_matches_with(&of->p[i], k->nodes.pod, namespace))
            sum += each ? each : of->p[i].weight;
    return sum;
}

int32_t tally_weigh_wants(const struct tally_key *k, const struct sched_labels *namespace,
                          const struct sched_pod *other)
{
    if (k->kind == TALLY_EXISTING)
        return checked_weight(weigh_terms(k, namespace, &other->required_anti, 1));
    int64_t sum = weigh_terms(k, namespace, &other->preferred_affinity, 0) -
                  weigh_terms(k, namespace, &other->preferred_anti, 0);
    if (k->hard_weight > 0)
        sum += weigh_terms(k, namespace, &other->required_affinity, k->hard_weight);
    return checked_weight(sum);
}

/* Terms of the tally's pod with the key that match `other`. */
static int64_t weigh_own_terms(struct census *c, const struct tally *t,
                               const struct sched_affinity_terms *own,
                               const struct sched_pod *other, int32_t each)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < own->n; i++)
        if (own->p[i].topology_key == t->topology->key && term_matches(c->cache, &own->p[i], other))
            sum += each ? each : own->p[i].weight;
    return sum;
}

int64_t tally_weigh(struct census *c, const struct tally *t, const struct sched_pod *other)
{
    switch (t->kind) {
    case TALLY_SPREAD: /* an empty selector matches nothing, as upstream */
        return !other->is_terminating && other->namespace_word == t->namespace &&
               t->selector.n > 0 && sched_selector_matches(&t->selector, &other->labels);
    case TALLY_AFFINITY:
        return terms_match(c->cache, &t->pod->required_affinity, other);
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
    if (node_filter_counts(t->filter, node))
        t->sums[topology_domain(t->topology, node)] += n;
}

/* Computes the sums from by_node. */
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
    uint32_t d = topology_domain(t->topology, node);
    assert(d < t->topology->n_domains);
    if (!node_filter_counts(t->filter, node))
        return;
    int64_t before = t->sums[d], after = before + x;
    t->sums[d] = after;
    if (d == 0)
        return;
    assert(before == 0 || t->n_nonzero > 0);
    t->n_nonzero += after != 0;
    t->n_nonzero -= before != 0;
    if (t->n_at_min == 0) /* unknown for now; find_min() follows */
        return;
    t->n_at_min -= before == t->min;
    if (after < t->min) {
        t->min = after;
        t->n_at_min = 0;
    }
    t->n_at_min += after == t->min;
}

/* Evaluates the question for every class. Returns true if a class counts. */
static bool ask_all(struct census *c, struct tally *t)
{
    const struct census_classes *k = classes_of(c, t);
    bool any = false;

    counts_fini(&t->weights);
    for (uint32_t i = 0; i < t->n_given; i++) {
        const struct tally_weight *g = &t->given[i];
        if (g->class >= k->n || k->p[g->class].serial != g->serial)
            continue; /* that class was removed */
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

/* Counts from scratch: evaluates every class and, if one counts, the class of every pod. */
static void recount(struct census *c, struct tally *t)
{
    struct census_classes *k = classes_of(c, t);

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

/*
 * Applies the census' log since the last update. Returns false if the sums have to be computed
 * again.
 */
static bool follow(struct census *c, struct tally *t, bool has_sums)
{
    struct census_classes *k = classes_of(c, t);

    for (uint64_t at = t->log_end; at < k->log_end; at++) {
        const struct census_record *r = &k->log[at % CENSUS_LOG];
        if (r->delta == 0) {
            /* A class that was since removed or replaced has lost as many pods as it had gained:
             * its weight does not matter. */
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

/* Without the memory of its words and terms. */
size_t tally_bytes(const struct tally *t)
{
    const struct node_filter *f = t->filter;
    return sizeof(*t) + t->n_given * sizeof(*t->given) + counts_bytes(&t->weights) +
           counts_bytes(&t->by_node) + (t->sums ? t->cap_domains * sizeof(*t->sums) : 0) +
           pod_bytes(t->pod) + (f ? f->n_nodes + pod_bytes(f->pod) : 0);
}

bool tally_is_behind(const struct census *c, const struct tally *t)
{
    const struct census_classes *k = tally_is_by_terms(t->kind) ? &c->terms : &c->labels;
    return k->log_end - t->log_end > CENSUS_LOG;
}

void tally_sync(struct census *c, struct tally *t, bool is_new)
{
    const struct census_classes *k = classes_of(c, t);
    assert(t->log_end <= k->log_end);
    /* Which pods the terms select depends on the labels of namespaces. */
    bool asks_namespaces = k == &c->labels && t->kind != TALLY_SPREAD;
    uint64_t namespaces =
        asks_namespaces ? sched_cache_kind_generation(c->cache, SCHED_NAMESPACE) : 0;

    topology_sync(c, t->topology);
    if (t->filter)
        topology_node_filter_sync(c, t->filter);
    if (t->population)
        topology_population_sync(t->population);
    bool has_sums = !is_new && t->topology_version == t->topology->version &&
                    (!t->filter || t->filter_version == t->filter->version) &&
                    (!t->population || t->population_version == t->population->version);
    if (is_new || namespaces != t->namespaces || tally_is_behind(c, t)) {
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
}
