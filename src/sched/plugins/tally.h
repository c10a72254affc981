/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts of pods in topology domains, kept between cycles.
 *
 * A tally has a question ("pods of this namespace with these labels, by zone, on nodes that this
 * pod may use") and the answer for each domain. Tallies are looked up by the content of the
 * question, so all pods of a template share one, and are updated at lookup: from the census' log,
 * by recounting nodes that changed, or from scratch if the tally lags too far behind. The answer
 * always equals what counting all pods would give.
 *
 * Tallies that were used in the current cycle stay; others are freed, the least recently used
 * first, while all together exceed TALLY_BYTES_MAX.
 */
#pragma once

#include "sched/plugins/counts.h"
#include "sched/plugins/topology.h"

enum { TALLY_BYTES_MAX = 16 << 20 };

enum tally_kind {
    /* by what pods are (class of labels) */
    TALLY_SPREAD,   /* pods of `pod`'s namespace that `selector` matches; not terminating */
    TALLY_AFFINITY, /* pods that match all of `pod`'s required affinity terms */
    TALLY_ANTI,     /* pods for each of `pod`'s required anti-affinity terms with the key */
    TALLY_PREFERS,  /* the weights of `pod`'s preferred terms with the key that match a pod */
    /* by their terms (class of terms) */
    TALLY_EXISTING, /* required anti-affinity terms with the key that match `pod` */
    TALLY_ABOUT,    /* the weights of all other terms with the key that match `pod` */
};

/* The question. All borrowed; a tally copies what it needs. */
struct tally_key {
    enum tally_kind kind;
    const struct intern *topology_key;
    struct topology_node_question
        nodes; /* its pod is the one to be placed; the other members: SPREAD only */
    /* SPREAD */
    const struct sched_selector *selector;
    bool wants_min;         /* `population` and the smallest sum */
    bool wants_nodes_alone; /* counts by node, no sums; ignores whether nodes count */
    /* ABOUT */
    int32_t hard_weight; /* of a required affinity term */
};

struct tally_weight { /* weight of a class of terms in the answer */
    uint32_t class;
    int32_t weight;
    uint64_t serial;
};

struct tally {
    struct topology *topology;
    struct node_filter *filter; /* NULL: all nodes count */
    /* By domain; NULL: all 0, or not wanted. */
    int64_t *sums;
    uint32_t n_nonzero; /* domains except 0 with a non-zero sum */
    /* wants_min: the smallest sum of a domain with nodes that count, and the number of such
     * domains */
    struct population *population;
    uint32_t n_at_min;
    int64_t min;
    struct counts by_node; /* by node, whether or not it counts */

    /* Private to the tally: */
    enum tally_kind kind;
    bool wants_nodes_alone;
    uint64_t hash;
    const struct sched_pod *pod; /* AFFINITY, ANTI, PREFERS: the pod with the terms; a reference */
    struct intern *namespace;    /* SPREAD; a reference */
    struct sched_selector selector;
    struct tally_weight *given; /* EXISTING, ABOUT: weights by class instead of a question */
    uint32_t n_given;
    struct counts weights; /* weight of one pod of each class */
    uint32_t cap_domains;
    uint64_t log_end, topology_version, filter_version, population_version, namespaces, epoch;
    size_t bytes;
    struct tally *newer, *older, *next; /* by use; next: of the same bucket */
};

struct tallies *tallies_new(struct census *c);
void tallies_free(struct tallies *ts);
/* Frees the tallies that lag so far behind that they would be computed from scratch. */
void tallies_trim(struct tallies *ts);
size_t tallies_bytes(const struct tallies *ts); /* of all tallies */
/* Starts a cycle for the plugin that owns `*began`: tallies of earlier cycles may be freed. */
void tally_begin(struct census *c, uint64_t *began);
/* Borrowed for the cycle; up to date with the census. NULL (EXISTING and ABOUT only): all 0. */
const struct tally *tally_get(struct census *c, const struct tally_key *key);
/* AFFINITY and ANTI: the change of its domain's sum when one more pod is added. */
int64_t tally_weigh(struct census *c, const struct tally *t, const struct sched_pod *other);

/* 0: the node does not have the label. */
static inline uint32_t tally_domain(const struct tally *t, const struct sched_node_info *node)
{
    return topology_domain(t->topology, node->index);
}
static inline int64_t tally_sum(const struct tally *t, uint32_t domain)
{
    return t->sums ? t->sums[domain] : 0;
}
static inline int32_t tally_on_node(const struct tally *t, const struct sched_node_info *node)
{
    return counts_get(&t->by_node, node->index);
}
static inline bool tally_counts(const struct tally *t, const struct sched_node_info *node)
{
    return node_filter_counts(t->filter, node->index);
}

/* ---- for tallies.c ---- */

static inline bool tally_is_by_terms(enum tally_kind kind)
{
    return kind == TALLY_EXISTING || kind == TALLY_ABOUT;
}
/*
 * What one pod with the terms of `other` adds to the answer of EXISTING or ABOUT, if the pod's
 * namespace has these labels.
 */
int32_t tally_weigh_wants(const struct tally_key *k, const struct sched_labels *namespace,
                          const struct sched_pod *other);
/* Updates the tally from the census. */
void tally_sync(struct census *c, struct tally *t, bool is_new);
/* Does it lag so far behind that it would be computed from scratch? */
bool tally_is_behind(const struct census *c, const struct tally *t);
size_t tally_bytes(const struct tally *t);
