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

#include "sched/plugins/counts.h"
#include "sched/plugins/topology.h"

enum { TALLY_BYTES_MAX = 16 << 20 };

enum tally_kind {
    /* by what pods are */
    TALLY_SPREAD,   /* pods of `pod`'s namespace that `selector` matches; not terminating */
    TALLY_AFFINITY, /* pods that all of `pod`'s required affinity terms match */
    TALLY_ANTI,     /* pods for each of `pod`'s required anti-affinity terms with the key */
    TALLY_PREFERS,  /* the weights of `pod`'s preferred terms with the key that match a pod */
    /* by what they want */
    TALLY_EXISTING, /* required anti-affinity terms with the key that match `pod` */
    TALLY_ABOUT,    /* the weights of all other terms with the key that match `pod` */
};

/* The question. All borrowed; what a tally needs of it, it keeps itself. */
struct tally_key {
    enum tally_kind kind;
    const struct intern *topology_key;
    struct topology_node_question
        nodes; /* its pod is the one to be placed; the rest: SPREAD alone */
    /* SPREAD */
    const struct sched_selector *selector;
    bool wants_min;         /* `population` and the smallest sum */
    bool wants_nodes_alone; /* no sums; whether nodes count is of no matter then */
    /* ABOUT */
    int32_t hard_weight; /* of a required affinity term */
};

struct tally_weight { /* of the classes that a question about terms is answered by */
    uint32_t class;
    int32_t weight;
    uint64_t serial;
};

struct tally {
    struct topology *topology;
    struct node_filter *filter; /* NULL: all nodes count */
    /* By domain; NULL: all are 0, or not wanted. */
    int64_t *sums;
    uint32_t n_nonzero; /* domains but 0 with another sum */
    /* wants_min: the smallest sum of a domain that has nodes that count; how many have it */
    struct population *population;
    uint32_t n_at_min;
    int64_t min;
    struct counts by_node; /* whether the node counts or not */

    /* The rest is the tally's own. */
    enum tally_kind kind;
    bool wants_nodes_alone;
    uint64_t hash;
    const struct sched_pod *pod; /* AFFINITY, ANTI, PREFERS: whose terms; a reference */
    struct intern *namespace;    /* SPREAD; a reference */
    struct sched_selector selector;
    struct tally_weight *given; /* EXISTING, ABOUT: instead of a question */
    uint32_t n_given;
    struct counts weights; /* of a pod of each class */
    uint32_t cap_domains;
    uint64_t log_end, topology_version, filter_version, population_version, namespaces, epoch;
    size_t bytes;
    struct tally *newer, *older, *next; /* by use; of the same bucket */
};

struct tallies *tallies_new(struct census *c);
void tallies_free(struct tallies *ts);
/* Those go that are so far behind that they would be made anew. */
void tallies_trim(struct tallies *ts);
size_t tallies_bytes(const struct tallies *ts); /* of all tallies */
/* A cycle begins for a plugin that `*began` belongs to: what was asked for before may go. */
void tally_begin(struct census *c, uint64_t *began);
/* Borrowed for the cycle; up to date with the census. NULL, of EXISTING and ABOUT alone: all 0. */
const struct tally *tally_get(struct census *c, const struct tally_key *key);
/* Of AFFINITY and ANTI: by how much one more pod would change the domain that it is in. */
int64_t tally_weigh(struct census *c, const struct tally *t, const struct sched_pod *other);

/* 0: the node has not got the label. */
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
/* What pods that want what `other` wants add to the answer of EXISTING or ABOUT, where the pod's
 * namespace has these labels. */
int32_t tally_weigh_wants(const struct tally_key *k, const struct sched_labels *namespace,
                          const struct sched_pod *other);
/* Bring it up to the census. */
void tally_sync(struct census *c, struct tally *t, bool is_new);
/* Is it so far behind that it would be made anew? */
bool tally_is_behind(const struct census *c, const struct tally *t);
size_t tally_bytes(const struct tally *t);
