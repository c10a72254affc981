/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes by label; the contract is in topology.h. */
#include "sched/plugins/topology.h"

#include "sched/plugins/alike.h"

#include <assert.h>

enum { DEAD_DOMAINS_MAX = 64 };

/* ---- topologies ---- */

static uint32_t *domain_slot(const struct topology *t, const struct intern *value)
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

static uint32_t domain_of_value(struct topology *t, struct intern *value)
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
    t->values[d] = intern_ref(value);
    t->nodes[d] = 0;
    t->n_dead++;
    *slot = d;
    if (value->n == 0)
        t->empty = d;
    return d;
}

/* Drops all domains; every node is read again. */
static void topology_reset(struct intern_table *w, struct topology *t)
{
    for (uint32_t d = 1; d < t->n_domains; d++)
        intern_unref(w, t->values[d]);
    if (!t->values) {
        t->cap_domains = 4;
        t->values = xnew_n(struct intern *, t->cap_domains);
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

/* The arrays are allocated for the first node with the label. */
static void grow_nodes(struct topology *t, uint32_t n)
{
    t->domain_of = xrealloc(t->domain_of, n * sizeof(*t->domain_of));
    memset(t->domain_of + t->n_nodes, 0, (n - t->n_nodes) * sizeof(*t->domain_of));
    t->n_nodes = n;
}

static void topology_put(struct topology *t, uint32_t index, struct intern *value)
{
    assert(index < t->n_nodes);
    uint32_t before = t->domain_of[index];
    assert(before < t->n_domains && (before == 0 || t->nodes[before] > 0));
    if (t->values[before] == value)
        return;
    uint32_t after = value ? domain_of_value(t, value) : 0;
    if (before != 0 && --t->nodes[before] == 0)
        t->n_dead++;
    if (after != 0 && t->nodes[after]++ == 0)
        t->n_dead--;
    assert(t->n_dead < t->n_domains);
    t->domain_of[index] = after;
    t->version++;
}

void topology_sync(struct census *c, struct topology *t)
{
    if (t->shape == c->shape)
        return;
    if (t->n_nodes < c->n_rows && (t->n_nodes > 0 || census_has_label(c, t->key)))
        grow_nodes(t, c->n_rows);
    if (t->n_dead > t->n_domains / 2 + DEAD_DOMAINS_MAX)
        topology_reset(c->words, t);
    for (uint32_t i = 0; i < t->n_nodes; i++) {
        const struct sched_node *node = c->rows[i].node;
        if (c->rows[i].shape > t->shape)
            topology_put(t, i, node ? sched_label_get(&node->labels, t->key) : NULL);
    }
    t->shape = c->shape;
}

struct topology *topology_ref(struct topologies *ts, const struct intern *key)
{
    struct topology *t = ts->topologies;
    while (t && t->key != key)
        t = t->next;
    if (!t) {
        t = xnew(struct topology);
        t->key = intern_ref((struct intern *)(uintptr_t)key);
        t->next = ts->topologies;
        ts->topologies = t;
        topology_reset(ts->words, t);
    }
    t->refs++;
    return t;
}

void topology_unref(struct topologies *ts, struct topology *t)
{
    assert(t->refs > 0);
    if (--t->refs > 0)
        return;
    struct topology **at = &ts->topologies;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    topology_reset(ts->words, t);
    intern_unref(ts->words, t->key);
    free(t->domain_of);
    free(t->values);
    free(t->nodes);
    free(t);
}

/* ---- filters ---- */

static bool wants_node(const struct sched_pod *pod, const struct sched_node *node)
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

static bool filter_counts(const struct node_filter *f, const struct sched_node *node)
{
    for (uint32_t i = 0; i < f->n_keys; i++)
        if (!sched_label_get(&node->labels, f->keys[i]))
            return false;
    return (!f->honors_affinity || wants_node(f->pod, node)) &&
           (!f->honors_taints || tolerates_node(f->pod, node));
}

void topology_node_filter_sync(struct census *c, struct node_filter *f)
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

static bool asks_affinity(const struct topology_node_question *q)
{
    return q->honors_affinity &&
           (q->pod->node_selector.n > 0 || q->pod->has_required_node_affinity);
}

bool topology_node_filter_asks(const struct topology_node_question *q)
{
    return asks_affinity(q) || q->honors_taints;
}

static uint64_t filter_hash(const struct topology_node_question *q)
{
    uint64_t h = alike_mix(q->honors_taints, asks_affinity(q));
    for (uint32_t i = 0; i < q->n_keys; i++)
        h = alike_word(h, q->keys[i]);
    if (asks_affinity(q))
        h = alike_hash_required_node(h, q->pod);
    return q->honors_taints ? alike_hash_tolerations(h, q->pod) : h;
}

static bool filter_is(const struct node_filter *f, const struct topology_node_question *q)
{
    if (f->n_keys != q->n_keys || f->honors_taints != q->honors_taints ||
        f->honors_affinity != asks_affinity(q))
        return false;
    for (uint32_t i = 0; i < q->n_keys; i++)
        if (f->keys[i] != q->keys[i])
            return false;
    return (!f->honors_affinity || alike_required_node(f->pod, q->pod)) &&
           (!f->honors_taints || alike_tolerations(f->pod, q->pod));
}

static struct node_filter *filter_new(struct topologies *ts, const struct topology_node_question *q,
                                      uint64_t hash)
{
    struct node_filter *f = xnew(struct node_filter);
    f->hash = hash;
    f->honors_affinity = asks_affinity(q);
    f->honors_taints = q->honors_taints;
    if (f->honors_affinity || f->honors_taints)
        f->pod = sched_object_ref((void *)(uintptr_t)q->pod);
    f->n_keys = q->n_keys;
    f->keys = xnew_n(struct intern *, q->n_keys);
    for (uint32_t i = 0; i < q->n_keys; i++)
        f->keys[i] = intern_ref(q->keys[i]);
    f->next = ts->filters;
    ts->filters = f;
    return f;
}

struct node_filter *topology_node_filter_ref(struct topologies *ts,
                                             const struct topology_node_question *q)
{
    uint64_t hash = filter_hash(q);
    struct node_filter *f = ts->filters;
    while (f && (f->hash != hash || !filter_is(f, q)))
        f = f->next;
    if (!f)
        f = filter_new(ts, q, hash);
    f->refs++;
    return f;
}

void topology_node_filter_unref(struct topologies *ts, struct node_filter *f)
{
    assert(!f || f->refs > 0);
    if (!f || --f->refs > 0)
        return;
    struct node_filter **at = &ts->filters;
    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    for (uint32_t i = 0; i < f->n_keys; i++)
        intern_unref(ts->words, f->keys[i]);
    sched_object_unref(ts->words, (void *)(uintptr_t)f->pod);
    free(f->keys);
    free(f->counts);
    free(f);
}

/* ---- populations ---- */

struct population *topology_population_ref(struct topologies *ts, const struct topology *o,
                                           const struct node_filter *f)
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

void topology_population_unref(struct topologies *ts, struct population *p)
{
    assert(!p || p->refs > 0);
    if (!p || --p->refs > 0)
        return;
    struct population **at = &ts->populations;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    free(p->nodes);
    free(p);
}

void topology_population_sync(struct population *p)
{
    const struct topology *o = p->topology;
    const struct node_filter *f = p->filter;

    if (p->nodes && p->topology_version == o->version && (!f || p->filter_version == f->version))
        return;
    if (!p->nodes || p->cap < o->n_domains) {
        p->cap = o->cap_domains;
        p->nodes = xrealloc(p->nodes, p->cap * sizeof(*p->nodes));
    }
    memset(p->nodes, 0, p->cap * sizeof(*p->nodes));
    for (uint32_t i = 0; i < topology_nodes(o, f); i++)
        if (!f || f->counts[i])
            p->nodes[o->domain_of[i]]++;
    p->n_domains = 0;
    for (uint32_t d = 1; d < o->n_domains; d++)
        p->n_domains += p->nodes[d] != 0;
    p->topology_version = o->version;
    p->filter_version = f ? f->version : 0;
    p->version++;
}
