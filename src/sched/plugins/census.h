/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is where: the pods of a cache by class and node, and the nodes by topology, kept from cycle
 * to cycle, for plugins that count pods in topology domains.
 *
 * Pods that these plugins cannot tell apart (namespace, labels, affinity terms, whether they are
 * terminating) are one class; a ReplicaSet's pods are. What changes is read from the nodes that
 * have changed since (sched_cache_newest()), and kept as a short log of "so many pods more of this
 * class on this node"; counts (tally.h) follow the log instead of looking at pods.
 *
 * One for each cache, shared by plugins and profiles.
 */
#pragma once

#include "base/vec.h"
#include "sched/cache/cache.h"

/* Counts that are further behind are made anew, which costs a look at the class of each pod. */
enum { CENSUS_LOG = 4096 };

#define CENSUS_NONE UINT32_MAX

struct census_class {
    const struct sched_pod *pod; /* one of them; a reference; NULL: the id is free */
    uint64_t hash;
    uint32_t pods; /* bound or assumed, on nodes that are there */
    uint32_t next; /* of the same bucket, or free: by id */
};

struct census_row {                /* by the index of a node */
    const struct sched_node *node; /* a reference; NULL: not there */
    const struct sched_pod **pods; /* references, in the order of the node's info */
    uint32_t *classes;             /* of each of them */
    uint32_t n, cap;
    uint64_t shape; /* census.shape when name, labels or taints changed last */
    uint64_t seen;
};

struct census_record { /* delta 0: the class has this id from now on, whoever had it before */
    uint32_t class, node;
    int32_t delta;
};

struct census_key { /* a topology key that terms of existing pods have */
    struct word *key;
    uint32_t classes; /* that have it */
};
struct census_keys {
    struct census_key *p;
    uint32_t n, cap;
};

struct tallies;

struct census {
    struct sched_cache *cache;
    struct words *words;
    uint32_t refs;
    uint64_t generation, nodes_generation; /* of the cache, as read last */
    uint64_t shape; /* grows when a node comes, goes, or gets other labels or taints */
    uint64_t seen;
    struct census_row *rows;
    uint32_t n_rows; /* all nodes are below it */
    struct census_class *classes;
    uint32_t n_classes, cap_classes, free_class;
    uint32_t n_live; /* classes that have pods */
    uint32_t *buckets, n_buckets;
    int32_t *delta;        /* scratch, by class; zero between calls */
    VEC(uint32_t) touched; /* scratch: classes whose delta was changed */
    struct census_record log[CENSUS_LOG];
    uint64_t log_end;              /* the newest record is log[(log_end - 1) % CENSUS_LOG] */
    struct census_keys anti_keys;  /* of required anti-affinity */
    struct census_keys score_keys; /* of all other terms */
    struct tallies *tallies;
    size_t tally_bytes_max; /* TALLY_BYTES_MAX; less in tests */
};

/* Makes it for the first who asks; census_unref(), before the cache goes. */
struct census *census_ref(struct sched_cache *cache, struct words *words);
void census_unref(struct census *c);
/* Bring it up to the cache. To be called before anything is looked up after the cache changed. */
void census_sync(struct census *c);
