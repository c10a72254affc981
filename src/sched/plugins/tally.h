/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts of pods in topology domains, kept from cycle to cycle.
 *
 * A tally has a question ("pods of this namespace with these labels, by zone, on nodes that this
 * pod may use") and its answer for each domain. It is asked for by content, so all pods of a
 * template share it, and brought up to date when it is asked for: by the census' log, by adding up
 * its nodes again where nodes changed, or from nothing where it is too far behind. At any moment
 * the answer is what counting all pods would give.
 *
 * Tallies that were asked for in the current cycle stay; others go, the one that rested longest
 * first, while all together are larger than TALLY_BYTES_MAX.
 */
#pragma once

#include "sched/plugins/census.h"

enum {
    TALLY_BYTES_MAX = 16 << 20,
    TALLY_UNKNOWN = INT32_MIN, /* a class that the question was not put to */
};

/* The values that a label has on nodes. Domain 0: nodes without that label. */
struct topology {
    struct word *key; /* a reference */
    uint32_t refs;
    struct topology *next;
    uint64_t shape;                          /* of the census, as read last */
    uint64_t version;                        /* grows when domain_of changes */
    uint32_t *domain_of, n_nodes;            /* by index of the node */
    struct word **values;                    /* by domain; references; NULL: domain 0 */
    uint32_t *nodes;                         /* how many are in a domain */
    uint32_t n_domains, cap_domains, n_dead; /* dead: no node is in them */
    uint32_t *slots, n_slots;                /* hash table of domains by value */
    uint32_t empty;                          /* the domain whose value is ""; 0: there is none */
};

/* Nodes that count. */
struct tally_filter {
    uint32_t refs;
    struct tally_filter *next;
    uint64_t hash;
    const struct sched_pod *pod; /* a reference; whose node affinity and tolerations */
    bool honors_affinity, honors_taints;
    struct word **keys; /* labels that a node must have; references */
    uint32_t n_keys;
    uint64_t shape, version; /* as in struct topology */
    uint8_t *counts;         /* by index of the node */
    uint32_t n_nodes;
};

enum tally_kind {
    TALLY_SPREAD,   /* pods of `pod`'s namespace that `selector` matches; not terminating */
    TALLY_AFFINITY, /* pods that all of `pod`'s required affinity terms match */
    TALLY_ANTI,     /* pods for each of `pod`'s required anti-affinity terms with the key */
    TALLY_EXISTING, /* required anti-affinity terms with the key that match `pod` */
    TALLY_SCORE,    /* the weights of all preferences with the key, of `pod` and about it */
};

/* The question. All borrowed; what a tally needs of it, it keeps itself. */
struct tally_key {
    enum tally_kind kind;
    const struct word *topology_key;
    const struct sched_pod *pod;
    /* SPREAD */
    const struct sched_selector *selector;
    struct word *const *keys; /* nodes without all of these do not count */
    uint32_t n_keys;
    bool honors_affinity, honors_taints; /* nor do nodes that the pod may not use */
    /* SCORE */
    int32_t hard_weight; /* of a required affinity term of an existing pod */
};

struct tally {
    struct topology *topology;
    struct tally_filter *filter; /* NULL: all nodes count */
    /* By domain; NULL: all are 0, and always in TALLY_SPREAD there. */
    int64_t *sums;
    uint32_t n_nonzero; /* domains but 0 with another sum */
    /* SPREAD: domains that have nodes that count, the smallest sum among those, how many have it */
    uint32_t n_domains, n_at_min;
    int64_t min;
    uint32_t *nodes; /* nodes that count, by domain */
    /* By index of the node, whether it counts or not; NULL: all are 0. */
    int32_t *by_node;

    /* The rest is the tally's own. */
    enum tally_kind kind;
    uint64_t hash;
    const struct sched_pod *pod; /* a reference */
    struct sched_selector selector;
    int32_t hard_weight;
    int32_t *weights; /* of a pod of each class */
    uint32_t cap_weights, cap_nodes, cap_domains;
    uint64_t log_end, topology_version, filter_version, namespaces, epoch;
    size_t bytes;
    struct tally *newer, *older, *next; /* by use; of the same bucket */
};

struct tallies *tallies_new(struct census *c);
void tallies_free(struct tallies *ts);
/* A cycle begins for a plugin that `*began` belongs to: what was asked for before may go. */
void tally_begin(struct census *c, uint64_t *began);
/* Borrowed for the cycle; up to date with the census. */
const struct tally *tally_get(struct census *c, const struct tally_key *key);
/* By how much one more pod, `other`, would change the domain that it is in. */
int64_t tally_weigh(struct census *c, const struct tally *t, const struct sched_pod *other);

/* 0: the node has not got the label. */
static inline uint32_t tally_domain(const struct tally *t, const struct sched_node_info *node)
{
    return node->index < t->topology->n_nodes ? t->topology->domain_of[node->index] : 0;
}
static inline int64_t tally_sum(const struct tally *t, uint32_t domain)
{
    return t->sums ? t->sums[domain] : 0;
}
static inline int32_t tally_on_node(const struct tally *t, const struct sched_node_info *node)
{
    return t->by_node && node->index < t->cap_nodes ? t->by_node[node->index] : 0;
}
static inline bool tally_counts(const struct tally *t, const struct sched_node_info *node)
{
    return !t->filter || (node->index < t->filter->n_nodes && t->filter->counts[node->index] != 0);
}

/*
 * Does a term match a pod? Of a pod that is to be placed: the namespaces that exist are asked (one
 * that is unknown has no labels to select it by). Of a pod that is there, about one of the
 * namespace with these labels; NULL: it has none.
 */
bool term_matches(struct census *c, const struct sched_affinity_term *t,
                  const struct sched_pod *other);
bool term_matches_with(const struct sched_affinity_term *t, const struct sched_pod *other,
                       const struct sched_labels *namespace_labels);
/* Labels of a namespace; empty where it is unknown. */
const struct sched_labels *namespace_labels(const struct sched_cache *cache,
                                            const struct word *name);
/* spec.nodeSelector and required node affinity. */
bool pod_wants_node(const struct sched_pod *pod, const struct sched_node *node);
