/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is where: the pods of a cache by class and node, kept from cycle to cycle, for plugins that
 * count pods in topology domains.
 *
 * Pods that these plugins cannot tell apart are one class. There are two kinds of classes: by what
 * a pod is (namespace, labels, whether it is terminating) and by what it wants of others (its terms
 * of affinity; pods without any have none). A ReplicaSet's pods are one of each; those of a
 * StatefulSet, each with a label of its own, still want the same. What changes is read from the
 * nodes that have changed since (sched_cache_newest()), and kept as a short log of "so many pods
 * more of this class on this node"; counts (tally.h) follow the log instead of looking at pods.
 *
 * One for each cache, shared by plugins and profiles.
 */
#pragma once

#include "base/vec.h"
#include "sched/cache/cache.h"
#include "sched/plugins/counts.h"

/* Counts that are further behind are made anew, which costs a look at the class of each pod. */
enum { CENSUS_LOG = 4096 };

#define CENSUS_NONE UINT32_MAX

struct census_class {
    const struct sched_pod *pod; /* one of them; a reference; NULL: the id is free */
    uint64_t hash, serial;       /* serial: never used again, as the id is */
    uint32_t pods;               /* bound or assumed, on nodes that are there */
    uint32_t next;               /* of the same bucket, or free: by id */
};

struct census_record { /* delta 0: the class has this id from now on, whoever had it before */
    uint32_t class, node;
    int32_t delta;
};

/* All classes of one kind. */
struct census_classes {
    uint64_t (*hash)(const struct sched_pod *pod);
    bool (*is_same)(const struct sched_pod *a, const struct sched_pod *b);
    struct census_class *p;
    uint32_t n, cap, first_free;
    uint32_t n_live;  /* that have pods */
    uint64_t changes; /* grows when a class comes or goes */
    uint32_t *buckets, n_buckets;
    int32_t *scratch;      /* by class; zero between calls */
    VEC(uint32_t) touched; /* classes whose scratch is used */
    struct census_record log[CENSUS_LOG];
    uint64_t log_end; /* the newest record is log[(log_end - 1) % CENSUS_LOG] */
};

struct census_place {       /* of a pod */
    uint32_t labels, terms; /* its classes; CENSUS_NONE: it has no terms */
};
struct census_row {                /* by the index of a node */
    const struct sched_node *node; /* a reference; NULL: not there */
    const struct sched_pod **pods; /* references, in the order of the node's info */
    struct census_place *places;   /* of each of them */
    uint32_t n, cap;
    uint64_t shape; /* census.shape when name, labels or taints changed last */
    uint64_t seen;
};

struct census_key { /* a topology key in terms of pods that are there */
    struct intern *key;
    uint32_t terms; /* of classes, that have it */
};
struct census_keys {
    struct census_key *p;
    uint32_t n, cap;
};

struct tallies;

struct census {
    struct sched_derived derived; /* of the cache */
    struct sched_cache *cache;
    struct intern_table *words;
    uint32_t refs;
    uint64_t generation; /* of the cache's nodes, as read last */
    uint64_t shape;      /* grows when a node comes, goes, or gets other labels or taints */
    uint64_t seen;
    struct census_row *rows;
    uint32_t n_rows, n_nodes;  /* indices of nodes are below n_rows; n_nodes are there */
    struct counts label_nodes; /* by id of a label's key: nodes that have it */
    struct census_classes labels, terms;
    struct census_keys anti_keys;  /* of required anti-affinity */
    struct census_keys score_keys; /* of all other terms */
    struct tallies *tallies;
    size_t tally_bytes_max; /* TALLY_BYTES_MAX; less in tests */
};

/* Makes it for the first who asks; census_unref(), before the cache goes. */
struct census *census_ref(struct sched_cache *cache, struct intern_table *words);
void census_unref(struct census *c);
/* Has any node this label? Pods may ask for a great many that none has; they cost no more than
 * this. */
static inline bool census_has_label(const struct census *c, const struct intern *key)
{
    return counts_get(&c->label_nodes, key->id) != 0;
}
/* Bring it up to the cache. To be called before anything is looked up after the cache changed. */
void census_sync(struct census *c);
