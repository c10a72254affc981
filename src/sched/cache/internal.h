/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the cache is made of, for its files:
 *
 *     cache.c      objects of all kinds; adding, moving and removing pods
 *     assumed.c    pods that were placed and are not confirmed yet
 *     nodes.c      entries of nodes: by name, by index, by zone, by change; lists of some of them
 *     images.c     which image is on how many nodes
 *     node_info.c  the sums of one node; also for dry runs
 */
#pragma once

#include "base/vec.h"
#include "sched/cache/cache.h"

/* A node that exists, or that pods name. */
struct node_entry {
    struct sched_node_info info;
    struct intern *name;
    struct intern *zone;                    /* its zone in the order; while the node exists */
    uint32_t in_affinity, in_required_anti; /* its position in that list, plus one; 0: not in it */
};

typedef VEC(const struct sched_node_info *) node_list;

struct cache_zone {
    struct intern *key; /* NULL: nodes without one */
    node_list nodes;
};
/* Nodes round robin over the zones; computed at the next use after nodes have changed. */
struct node_order {
    VEC(struct cache_zone) zones; /* in the order in which they were added */
    node_list nodes;
    bool is_stale;
};

struct assumed_pod {
    const struct sched_pod *pod; /* in the cache's map of pods */
    bool is_bound;               /* its binding was acknowledged: it cannot be forgotten any more */
};

struct cache_image_state {
    struct intern *name;
    int64_t size; /* as the first node with the image reported it */
    uint32_t nodes;
};

struct sched_cache {
    struct intern_table *words;
    struct sched_cache_limits limits;
    struct map objects[SCHED_KIND_COUNT]; /* by key; the objects' own texts */
    uint64_t kind_generation[SCHED_KIND_COUNT];
    struct map assumed; /* by uid */
    struct map claims;  /* by "namespace/name": the number of pods as a pointer */
    struct map images;  /* by name */

    struct map entries; /* of nodes by name */
    VEC(struct node_entry *) by_index;
    VEC(uint32_t) free_indices;
    struct node_order *order;
    node_list with_affinity, with_required_anti;
    struct sched_node_info *newest, *oldest;
    uint64_t generation;
    struct sched_derived *derived;
    uint32_t derived_lag; /* changes since the last follow() */
};

/* ---- cache.c ---- */
/* Removes a pod of the map from the map and from its node. The map's reference is given. */
struct sched_object *cache_drop_pod(struct sched_cache *c, const struct sched_pod *pod);
/* Is there room for one more object of a kind? Errors: E_LIMIT. */
int cache_check_room(const struct sched_cache *c, enum sched_kind kind, struct err *err);
/* Adds a pod to its node; the reference is taken. */
void cache_take_pod(struct sched_cache *c, struct sched_pod *pod);

/* ---- assumed.c ---- */
void assumed_begin(struct sched_cache *c, struct sched_pod *mine, bool is_bound); /* takes `mine` */
void assumed_end(struct sched_cache *c, struct str uid); /* does nothing if it is not assumed */

/* ---- nodes.c ---- */
void nodes_add_pod(struct sched_cache *c, const struct sched_pod *pod);
void nodes_remove_pod(struct sched_cache *c, const struct sched_pod *pod);
void nodes_put(struct sched_cache *c, const struct sched_node *node);
void nodes_del(struct sched_cache *c, const struct sched_node *node);
void nodes_init(struct sched_cache *c);
void nodes_fini(struct sched_cache *c);

/* ---- images.c ---- */
/*
 * Updates the counts: a node had the images of `before` (NULL: none), and now has those of `after`.
 */
void images_change(struct sched_cache *c, const struct sched_node *before,
                   const struct sched_node *after);
void images_fini(struct sched_cache *c);

/* ---- node_info.c ---- */
void node_info_fini(struct intern_table *w, struct sched_node_info *n);
/* By address. Returns false if the pod is not there. */
bool node_info_remove_pod(struct intern_table *w, struct sched_node_info *n,
                          const struct sched_pod *pod);
