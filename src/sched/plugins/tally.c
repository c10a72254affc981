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

enum { BUCKETS = 256, DEAD_DOMAINS_MAX = 64 };

struct tallies {
    struct census *c;
    struct topology *topologies;
    struct tally_filter *filters;
    struct tally *newest, *oldest, *buckets[BUCKETS];
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
    if (k->kind != TALLY_SPREAD)
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
    f->pod = sched_object_ref((void *)(uintptr_t)k->pod);
    f->honors_affinity = asks_affinity(k);
    f->honors_taints = k->honors_taints;
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

static bool selects_namespace(struct census *c, const struct sched_affinity_term *t,
                              const struct word *name)
{
    const struct sched_selector *s = &t->namespace_selector;
    if (s->nothing || s->n == 0)
        return !s->nothing;
    const struct sched_namespace *ns =
        sched_cache_get(c->cache, SCHED_NAMESPACE, STR(""), word_str(name));
    return ns && sched_selector_matches(s, &ns->labels);
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

/* Terms of `of` with the key that match `pod`, times their weights (or `each`, where not 0). */
static int64_t weigh_terms_of(struct census *c, const struct tally *t,
                              const struct sched_affinity_terms *of, int32_t each)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < of->n; i++)
        if (of->p[i].topology_key == t->topology->key &&
            term_matches_with(&of->p[i], t->pod,
                              namespace_labels(c->cache, t->pod->namespace_word)))
            sum += each ? each : of->p[i].weight;
    return sum;
}

/* Terms of `pod` with the key that match `other`. */
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
        return !other->is_terminating && other->namespace_word == t->pod->namespace_word &&
               t->selector.n > 0 && sched_selector_matches(&t->selector, &other->labels);
    case TALLY_AFFINITY:
        return matches_all(c, &t->pod->required_affinity, other);
    case TALLY_ANTI:
        return weigh_own_terms(c, t, &t->pod->required_anti, other, 1);
    case TALLY_EXISTING:
        return weigh_terms_of(c, t, &other->required_anti, 1);
    case TALLY_SCORE: {
        int64_t sum = weigh_own_terms(c, t, &t->pod->preferred_affinity, other, 0) -
                      weigh_own_terms(c, t, &t->pod->preferred_anti, other, 0) +
                      weigh_terms_of(c, t, &other->preferred_affinity, 0) -
                      weigh_terms_of(c, t, &other->preferred_anti, 0);
        if (t->hard_weight > 0)
            sum += weigh_terms_of(c, t, &other->required_affinity, t->hard_weight);
        return sum;
    }
    }
    assert(false);
    return 0;
}

/* Of a class. One that has gone has left as many pods as came: any weight is right. */
static int32_t weight_of(struct census *c, struct tally *t, uint32_t class)
{
    if (t->weights[class] != TALLY_UNKNOWN)
        return t->weights[class];
    const struct sched_pod *pod = c->classes[class].pod;
    if (!pod)
        return 0;
    int64_t w = tally_weigh(c, t, pod);
    assert(w > INT32_MIN && w <= INT32_MAX); /* 4 MiB of terms, 100 each */
    return t->weights[class] = (int32_t)w;
}

static void grow_weights(struct census *c, struct tally *t)
{
    if (t->cap_weights >= c->n_classes)
        return;
    uint32_t cap = c->cap_classes;
    t->weights = xrealloc(t->weights, cap * sizeof(*t->weights));
    for (uint32_t i = t->cap_weights; i < cap; i++)
        t->weights[i] = TALLY_UNKNOWN;
    t->cap_weights = cap;
}

/* ---- sums ---- */

static void find_min(struct tally *t)
{
    t->min = 0;
    t->n_at_min = 0;
    for (uint32_t d = 1; d < t->topology->n_domains; d++) {
        if (t->nodes[d] == 0)
            continue;
        if (t->n_at_min == 0 || t->sums[d] < t->min) {
            t->min = t->sums[d];
            t->n_at_min = 0;
        }
        t->n_at_min += t->sums[d] == t->min;
    }
}

static void grow_nodes(struct census *c, struct tally *t)
{
    if (t->by_node && t->cap_nodes >= c->n_rows)
        return;
    uint32_t from = t->by_node ? t->cap_nodes : 0;
    t->by_node = xrealloc(t->by_node, c->n_rows * sizeof(*t->by_node));
    memset(t->by_node + from, 0, (c->n_rows - from) * sizeof(*t->by_node));
    t->cap_nodes = c->n_rows;
}

/* From by_node. */
static void add_up(struct tally *t)
{
    const struct topology *o = t->topology;
    uint32_t n_nodes = t->filter ? MIN(o->n_nodes, t->filter->n_nodes) : o->n_nodes;

    t->n_nonzero = t->n_domains = 0;
    t->topology_version = o->version;
    t->filter_version = t->filter ? t->filter->version : 0;
    if (!t->by_node && t->kind != TALLY_SPREAD)
        return;
    if (!t->sums || t->cap_domains < o->n_domains) {
        t->cap_domains = o->cap_domains;
        t->sums = xrealloc(t->sums, t->cap_domains * sizeof(*t->sums));
        if (t->kind == TALLY_SPREAD)
            t->nodes = xrealloc(t->nodes, t->cap_domains * sizeof(*t->nodes));
    }
    memset(t->sums, 0, t->cap_domains * sizeof(*t->sums));
    if (t->by_node)
        for (uint32_t i = 0; i < MIN(n_nodes, t->cap_nodes); i++)
            if (!t->filter || t->filter->counts[i])
                t->sums[o->domain_of[i]] += t->by_node[i];
    for (uint32_t d = 1; d < o->n_domains; d++)
        t->n_nonzero += t->sums[d] != 0;
    if (t->kind != TALLY_SPREAD)
        return;
    memset(t->nodes, 0, t->cap_domains * sizeof(*t->nodes));
    for (uint32_t i = 0; i < n_nodes; i++)
        if (!t->filter || t->filter->counts[i])
            t->nodes[o->domain_of[i]]++;
    for (uint32_t d = 1; d < o->n_domains; d++)
        t->n_domains += t->nodes[d] != 0;
    find_min(t);
}

static void add(struct tally *t, uint32_t node, int64_t x)
{
    uint32_t d = t->topology->domain_of[node];
    if (t->filter && !t->filter->counts[node])
        return;
    int64_t before = t->sums[d], after = before + x;
    t->sums[d] = after;
    if (d == 0)
        return;
    t->n_nonzero += (after != 0);
    t->n_nonzero -= (before != 0);
    if (t->n_at_min == 0) /* not known now; find_min() comes */
        return;
    t->n_at_min -= before == t->min;
    if (after < t->min) {
        t->min = after;
        t->n_at_min = 0;
    }
    t->n_at_min += after == t->min;
}

/* By a look at every class, and where one counts, at every pod. */
static void recount(struct census *c, struct tally *t)
{
    bool any = false;

    for (uint32_t i = 0; i < t->cap_weights; i++)
        t->weights[i] = TALLY_UNKNOWN;
    grow_weights(c, t);
    for (uint32_t i = 0; i < c->n_classes; i++)
        if (c->classes[i].pod && weight_of(c, t, i) != 0)
            any = true;
    if (!any) {
        free(t->by_node);
        t->by_node = NULL;
        if (t->kind != TALLY_SPREAD) {
            free(t->sums);
            t->sums = NULL;
        }
        return;
    }
    grow_nodes(c, t);
    for (uint32_t i = 0; i < c->n_rows; i++) {
        const struct census_row *row = &c->rows[i];
        int32_t sum = 0;
        for (uint32_t j = 0; j < row->n; j++)
            sum += t->weights[row->classes[j]];
        t->by_node[i] = sum;
    }
}

/* What the census has heard since. false: the sums have to be added up again. */
static bool follow(struct census *c, struct tally *t, bool has_sums)
{
    grow_weights(c, t);
    if (t->by_node)
        grow_nodes(c, t);
    for (uint64_t at = t->log_end; at < c->log_end; at++) {
        const struct census_record *r = &c->log[at % CENSUS_LOG];
        if (r->delta == 0) {
            t->weights[r->class] = TALLY_UNKNOWN;
            continue;
        }
        int32_t x = weight_of(c, t, r->class) * r->delta;
        if (x == 0)
            continue;
        has_sums = has_sums && t->by_node && t->sums;
        grow_nodes(c, t);
        t->by_node[r->node] += x;
        if (has_sums)
            add(t, r->node, x);
    }
    return has_sums;
}

static size_t tally_bytes(const struct tally *t)
{
    size_t domain = sizeof(*t->sums) + (t->kind == TALLY_SPREAD ? sizeof(*t->nodes) : 0);
    return sizeof(*t) + t->cap_weights * sizeof(*t->weights) +
           (t->by_node ? t->cap_nodes * sizeof(*t->by_node) : 0) +
           (t->sums ? t->cap_domains * domain : 0) + (t->filter ? t->filter->n_nodes : 0);
}

static void tally_sync(struct census *c, struct tally *t, bool is_new)
{
    /* Questions about terms depend on what namespaces are called. */
    uint64_t namespaces =
        t->kind == TALLY_SPREAD ? 0 : sched_cache_kind_generation(c->cache, SCHED_NAMESPACE);

    topology_sync(c, t->topology);
    if (t->filter)
        filter_sync(c, t->filter);
    bool has_sums = !is_new && t->topology_version == t->topology->version &&
                    (!t->filter || t->filter_version == t->filter->version);
    if (is_new || namespaces != t->namespaces || c->log_end - t->log_end > CENSUS_LOG) {
        recount(c, t);
        has_sums = false;
    } else if (t->log_end != c->log_end) {
        has_sums = follow(c, t, has_sums);
    }
    if (!has_sums)
        add_up(t);
    else if (t->kind == TALLY_SPREAD && t->n_at_min == 0)
        find_min(t);
    t->namespaces = namespaces;
    t->log_end = c->log_end;
    c->tallies->bytes -= t->bytes;
    t->bytes = tally_bytes(t);
    c->tallies->bytes += t->bytes;
}

/* ---- looking up ---- */

static uint64_t tally_hash(const struct tally_key *k, const struct tally_filter *f)
{
    const struct sched_pod *p = k->pod;
    uint64_t h = alike_word(alike_mix(k->kind, (uintptr_t)f), k->topology_key);

    switch (k->kind) {
    case TALLY_SPREAD:
        return alike_hash_selector(alike_word(h, p->namespace_word), k->selector);
    case TALLY_AFFINITY:
        return alike_hash_affinity(h, &p->required_affinity);
    case TALLY_ANTI:
        return alike_hash_affinity(h, &p->required_anti);
    case TALLY_SCORE:
        h = alike_mix(h, (uint64_t)k->hard_weight);
        h = alike_hash_affinity(h, &p->preferred_affinity);
        h = alike_hash_affinity(h, &p->preferred_anti);
        return alike_hash_labels(alike_word(h, p->namespace_word), &p->labels);
    case TALLY_EXISTING:
        return alike_hash_labels(alike_word(h, p->namespace_word), &p->labels);
    }
    return h;
}

static bool tally_is(const struct tally *t, const struct tally_key *k, const struct tally_filter *f)
{
    const struct sched_pod *a = t->pod, *b = k->pod;

    if (t->kind != k->kind || t->topology->key != k->topology_key || t->filter != f)
        return false;
    switch (k->kind) {
    case TALLY_SPREAD:
        return a->namespace_word == b->namespace_word && alike_selectors(&t->selector, k->selector);
    case TALLY_AFFINITY:
        return alike_affinity(&a->required_affinity, &b->required_affinity);
    case TALLY_ANTI:
        return alike_affinity(&a->required_anti, &b->required_anti);
    case TALLY_SCORE:
        return t->hard_weight == k->hard_weight && a->namespace_word == b->namespace_word &&
               sched_labels_equal(&a->labels, &b->labels) &&
               alike_affinity(&a->preferred_affinity, &b->preferred_affinity) &&
               alike_affinity(&a->preferred_anti, &b->preferred_anti);
    case TALLY_EXISTING:
        return a->namespace_word == b->namespace_word && sched_labels_equal(&a->labels, &b->labels);
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

static void tally_free(struct tallies *ts, struct tally *t)
{
    struct tally **at = &ts->buckets[t->hash % BUCKETS];
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    list_del(ts, t);
    ts->bytes -= t->bytes;
    topology_unref(ts, t->topology);
    filter_unref(ts, t->filter);
    sched_object_unref(ts->c->words, (void *)(uintptr_t)t->pod);
    alike_selector_fini(ts->c->words, &t->selector);
    free(t->weights);
    free(t->by_node);
    free(t->sums);
    free(t->nodes);
    free(t);
}

static struct tally *tally_new(struct tallies *ts, const struct tally_key *k,
                               struct tally_filter *f, uint64_t hash)
{
    struct tally *t = xnew(struct tally);
    t->kind = k->kind;
    t->hash = hash;
    t->topology = topology_ref(ts, k->topology_key);
    t->filter = f;
    if (f)
        f->refs++;
    t->pod = sched_object_ref((void *)(uintptr_t)k->pod);
    t->hard_weight = k->hard_weight;
    if (k->kind == TALLY_SPREAD)
        alike_selector_copy(&t->selector, k->selector);
    t->next = ts->buckets[hash % BUCKETS];
    ts->buckets[hash % BUCKETS] = t;
    return t;
}

const struct tally *tally_get(struct census *c, const struct tally_key *k)
{
    struct tallies *ts = c->tallies;
    struct tally_filter *f = NULL;

    if (!filters_nothing(k)) {
        uint64_t hash = filter_hash(k);
        f = filter_find(ts, k, hash);
        if (!f)
            f = filter_new(ts, k, hash);
    }
    uint64_t hash = tally_hash(k, f);
    struct tally *t = ts->buckets[hash % BUCKETS];
    while (t && (t->hash != hash || !tally_is(t, k, f)))
        t = t->next;
    bool is_new = !t;
    if (is_new)
        t = tally_new(ts, k, f, hash);
    else
        list_del(ts, t);
    list_put(ts, t);
    t->epoch = ts->epoch;
    tally_sync(c, t, is_new);
    while (ts->bytes > c->tally_bytes_max && ts->oldest->epoch < ts->epoch)
        tally_free(ts, ts->oldest);
    return t;
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

void tallies_free(struct tallies *ts)
{
    while (ts->oldest)
        tally_free(ts, ts->oldest);
    assert(!ts->topologies && !ts->filters && ts->bytes == 0);
    free(ts);
}
