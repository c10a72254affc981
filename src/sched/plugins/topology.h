/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes by the values of a label, and which of them count for a pod: kept from cycle to cycle, and
 * brought up to the census when asked to (x_sync). Found by content, shared by counting.
 */
#pragma once

#include "sched/plugins/census.h"

/* The values that a label has on nodes. Domain 0: nodes without that label. */
struct topology {
    struct intern *key; /* a reference */
    uint32_t refs;
    struct topology *next;
    uint64_t shape;                          /* of the census, as read last */
    uint64_t version;                        /* grows when domain_of changes */
    uint32_t *domain_of, n_nodes;            /* by index of the node */
    struct intern **values;                  /* by domain; references; NULL: domain 0 */
    uint32_t *nodes;                         /* how many are in a domain */
    uint32_t n_domains, cap_domains, n_dead; /* dead: no node is in them */
    uint32_t *slots, n_slots;                /* hash table of domains by value */
    uint32_t empty;                          /* the domain whose value is ""; 0: there is none */
};

/* Which nodes count? All borrowed. */
struct topology_node_question {
    const struct sched_pod *pod;
    struct intern *const *keys; /* those that have all of these labels, */
    uint32_t n_keys;
    bool honors_affinity, honors_taints; /* and that the pod selects, and tolerates */
};
struct node_filter {
    uint32_t refs;
    struct node_filter *next;
    uint64_t hash;
    const struct sched_pod *pod; /* a reference; whose node affinity and tolerations; NULL: none */
    bool honors_affinity, honors_taints;
    struct intern **keys; /* labels that a node must have; references */
    uint32_t n_keys;
    uint64_t shape, version; /* as in struct topology */
    uint8_t *counts;         /* by index of the node */
    uint32_t n_nodes;
};

/* How many nodes that count are in each domain. */
struct population {
    uint32_t refs;
    struct population *next;
    const struct topology *topology;
    const struct node_filter *filter; /* NULL: all nodes count */
    uint64_t topology_version, filter_version, version;
    uint32_t *nodes, cap; /* by domain */
    uint32_t n_domains;   /* that have any; without domain 0 */
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
/* Some nodes that have all labels may not count. */
bool topology_node_filter_asks(const struct topology_node_question *q);

struct population *topology_population_ref(struct topologies *ts, const struct topology *t,
                                           const struct node_filter *f);
void topology_population_unref(struct topologies *ts, struct population *p); /* NULL is fine */
/* After topology and filter. */
void topology_population_sync(struct population *p);

/* All indices of nodes that both know are below it. */
static inline uint32_t topology_nodes(const struct topology *t, const struct node_filter *f)
{
    return f && f->n_nodes < t->n_nodes ? f->n_nodes : t->n_nodes;
}
/* 0: it has not got the label. */
static inline uint32_t topology_domain(const struct topology *t, uint32_t node)
{
    return node < t->n_nodes ? t->domain_of[node] : 0;
}
static inline bool node_filter_counts(const struct node_filter *f, uint32_t node)
{
    return !f || (node < f->n_nodes && f->counts[node] != 0);
}
