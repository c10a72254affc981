/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pods of a cache by class and node, kept between cycles, for plugins that count pods in
 * topology domains.
 *
 * Pods that these plugins cannot tell apart are one class. There are two kinds of classes: by what
 * a pod is (namespace, labels, whether it is terminating) and by its affinity terms (pods without
 * terms have no class of this kind). The pods of a ReplicaSet are one class of each kind; those of
 * a StatefulSet, each with a label of its own, still share a class of terms. The census reads
 * changes from the nodes that have changed since its last update (sched_cache_newest()) and keeps
 * them as a short log of "so many more pods of this class on this node"; counts (tally.h) follow
 * the log instead of examining pods.
 *
 * One for each cache, shared by plugins and profiles.
 */
#pragma once

#include "base/vec.h"
#include "sched/cache/cache.h"
#include "sched/plugins/counts.h"

/*
 * Counts that lag further behind are computed from scratch, which examines the class of each pod.
 */
enum { CENSUS_LOG = 4096 };

#define CENSUS_NONE UINT32_MAX

struct census_class {
    const struct sched_pod *pod; /* one of the pods; a reference; NULL: the id is free */
    uint64_t hash, serial;       /* serial: unlike the id, never reused */
    uint32_t pods;               /* bound or assumed, on existing nodes */
    uint32_t next;               /* next class of the bucket, or next free one: by id */
};

struct census_record { /* delta 0: the id belongs to this class from now on */
    uint32_t class, node;
    int32_t delta;
};

/* All classes of one kind. */
struct census_classes {
    uint64_t (*hash)(const struct sched_pod *pod);
    bool (*is_same)(const struct sched_pod *a, const struct sched_pod *b);
    struct census_class *p;
    uint32_t n, cap, first_free;
    uint32_t n_live;  /* classes with pods */
    uint64_t changes; /* grows when a class is added or removed */
    uint32_t *buckets, n_buckets;
    int32_t *scratch;      /* by class; zero between calls */
    VEC(uint32_t) touched; /* classes with non-zero scratch */
    struct census_record log[CENSUS_LOG];
    uint64_t log_end; /* the newest record is log[(log_end - 1) % CENSUS_LOG] */
};

struct census_place {       /* of a pod */
    uint32_t labels, terms; /* its classes; CENSUS_NONE: it has no terms */
};
struct census_row {                /* by the index of a node */
    const struct sched_node *node; /* a reference; NULL: no such node */
    const struct sched_pod **pods; /* references, in the order of the node's info */
    struct census_place *places;   /* of each of them */
    uint32_t n, cap;
    uint64_t shape; /* census.shape when name, labels or taints changed last */
    uint64_t seen;
};

struct census_key { /* a topology key in the terms of existing pods */
    struct intern *key;
    uint32_t terms; /* terms with the key, counted by class */
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
    uint64_t generation; /* generation of the cache's nodes at the last update */
    uint64_t shape;      /* grows when a node is added or removed, or its labels or taints change */
    uint64_t seen;
    struct census_row *rows;
    uint32_t n_rows, n_nodes;  /* indices of nodes are below n_rows; n_nodes exist */
    struct counts label_nodes; /* by id of a label's key: number of nodes with it */
    struct census_classes labels, terms;
    struct census_keys anti_keys;  /* of required anti-affinity */
    struct census_keys score_keys; /* of all other terms */
    struct tallies *tallies;
    size_t tally_bytes_max; /* TALLY_BYTES_MAX; less in tests */
};

/*
 * Creates the census at the first call, else takes a reference. census_unref() before the cache is
 * freed.
 */
struct census *census_ref(struct sched_cache *cache, struct intern_table *words);
void census_unref(struct census *c);
/*
 * Does any node have this label? Pods may name many labels that no node has; those cost no more
 * than this check.
 */
static inline bool census_has_label(const struct census *c, const struct intern *key)
{
    return counts_get(&c->label_nodes, key->id) != 0;
}
/* Updates the census from the cache. Call it before any lookup after the cache has changed. */
void census_sync(struct census *c);
