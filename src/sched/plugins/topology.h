/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes by the values of a label, and which of them count for a pod: kept between cycles, and
 * updated from the census on request (x_sync). Found by content, reference counted.
 */
#pragma once

#include "sched/plugins/census.h"

/* The values that a label has on nodes. Domain 0: nodes without that label. */
struct topology {
    struct intern *key; /* a reference */
    uint32_t refs;
    struct topology *next;
    uint64_t shape;                          /* of the census at the last update */
    uint64_t version;                        /* grows when domain_of changes */
    uint32_t *domain_of, n_nodes;            /* by index of the node */
    struct intern **values;                  /* by domain; references; NULL: domain 0 */
    uint32_t *nodes;                         /* number of nodes in each domain */
    uint32_t n_domains, cap_domains, n_dead; /* dead: domains without nodes */
    uint32_t *slots, n_slots;                /* hash table of domains by value */
    uint32_t empty;                          /* the domain whose value is ""; 0: none */
};

/* Which nodes count? All borrowed. */
struct topology_node_question {
    const struct sched_pod *pod;
    struct intern *const *keys; /* only nodes with all of these labels */
    uint32_t n_keys;
    /* only nodes that the pod's affinity selects, and whose taints it tolerates */
    bool honors_affinity, honors_taints;
};
struct node_filter {
    uint32_t refs;
    struct node_filter *next;
    uint64_t hash;
    /* the pod with the node affinity and tolerations; a reference; NULL: none */
    const struct sched_pod *pod;
    bool honors_affinity, honors_taints;
    struct intern **keys; /* labels that a node must have; references */
    uint32_t n_keys;
    uint64_t shape, version; /* as in struct topology */
    uint8_t *counts;         /* by index of the node */
    uint32_t n_nodes;
};

/* The number of nodes that count in each domain. */
struct population {
    uint32_t refs;
    struct population *next;
    const struct topology *topology;
    const struct node_filter *filter; /* NULL: all nodes count */
    uint64_t topology_version, filter_version, version;
    uint32_t *nodes, cap; /* by domain */
    uint32_t n_domains;   /* domains with such nodes; without domain 0 */
};

struct topologies {
    struct intern_table *words;
    struct topology *topologies;
    struct node_filter *filters;
    struct population *populations;
};

struct topology *topology_ref(struct topologies *ts, const struct intern *key);
void topology_unref(struct topologies *ts, struct topology *t);
void topology_sync(struct census *c, struct topology *t);

struct node_filter *topology_node_filter_ref(struct topologies *ts,
                                             const struct topology_node_question *q);
void topology_node_filter_unref(struct topologies *ts, struct node_filter *f); /* NULL is fine */
void topology_node_filter_sync(struct census *c, struct node_filter *f);
/* Can a node with all labels still not count? */
bool topology_node_filter_asks(const struct topology_node_question *q);

struct population *topology_population_ref(struct topologies *ts, const struct topology *t,
                                           const struct node_filter *f);
void topology_population_unref(struct topologies *ts, struct population *p); /* NULL is fine */
/* Called after those of topology and filter. */
void topology_population_sync(struct population *p);

/* The end of the node indices that both know. */
static inline uint32_t topology_nodes(const struct topology *t, const struct node_filter *f)
{
    return f && f->n_nodes < t->n_nodes ? f->n_nodes : t->n_nodes;
}
/* 0: the node does not have the label. */
static inline uint32_t topology_domain(const struct topology *t, uint32_t node)
{
    return node < t->n_nodes ? t->domain_of[node] : 0;
}
static inline bool node_filter_counts(const struct node_filter *f, uint32_t node)
{
    return !f || (node < f->n_nodes && f->counts[node] != 0);
}
