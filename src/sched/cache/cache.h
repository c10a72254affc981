/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler's view of the cluster: nodes with the pods on them, and all other objects that
 * plugins look up.
 *
 * Pods that were placed but whose binding the API has not confirmed yet are *assumed*: they count
 * as bound until the watch confirms or deletes them, or until the binding fails (forget). There is
 * no time limit, as upstream has none since 1.28.
 *
 *     sched_cache_assume -> assumed -- sched_cache_binding_done --> acknowledged
 *                              |  |                                      |
 *                              |  +----- watch: bound -------------------+--> bound
 *                              |  +----- watch: done or deleted ---------+--> removed
 *                              +-------- sched_cache_forget --> removed
 *
 * One thread at a time, and no change during a cycle. Profiles with long cycles have their own
 * cache with the same content (core/lane.c). Upstream: backend/cache.
 */
#pragma once

#include "base/map.h"
#include "sched/object/node.h"

enum {
    SCHED_NODES_MAX = 65535,
    SCHED_PODS_MAX = 1000000,
    SCHED_OBJECTS_MAX = 1000000, /* of each other kind */
};

struct sched_used_port {
    struct sched_port port;
    uint32_t pods;
};

/*
 * One node with its pods. Plugins may read all of it. The cache changes it; dry runs change a copy.
 */
struct sched_node_info {
    /* stable while the node exists, then reused; UINT32_MAX: the node does not exist */
    uint32_t index;
    const struct sched_node *node; /* NULL: pods name the node, but it does not exist (any more) */
    const struct sched_pod **pods;
    uint32_t n_pods, cap_pods;
    uint32_t n_with_affinity;      /* pods with any (anti-)affinity; at the front of `pods` */
    uint32_t n_with_required_anti; /* pods with required anti-affinity; at the front of those */
    struct sched_amounts requested;
    int64_t nonzero_milli_cpu, nonzero_memory;
    struct sched_used_port *ports;
    uint32_t n_ports;
    uint64_t generation;                   /* grows with every change of the node or its pods */
    struct sched_node_info *newer, *older; /* by generation; NULL at the ends, and in copies */
};

struct sched_cache;
struct sched_cache *sched_cache_new(struct intern_table *w);
/* Replaces the limits above; for tests. */
struct sched_cache_limits {
    uint32_t nodes, pods, objects;
};
void sched_cache_limit(struct sched_cache *c, const struct sched_cache_limits *limits);
/*
 * A new cache that shares the words and has the same objects and assumed pods; the order of nodes,
 * and of pods on a node, may differ.
 */
struct sched_cache *sched_cache_copy(const struct sched_cache *c);
void sched_cache_free(struct sched_cache *c);
DEFINE_SCOPED(sched_cache, sched_cache_free)

/* ---- objects, as the watch reports them ---- */

/*
 * Add or replace an object of any kind; a reference is taken. A pod that is bound (node_name) and
 * not done is added to its node, whether the node is known or not, and confirms an assumed pod; if
 * its node differs from the assumed one, the pod moves. The cache ignores pods that are not bound.
 * ret_old (or NULL): the replaced object, or NULL; given.
 *
 * Errors: E_LIMIT.
 */
int sched_cache_put(struct sched_cache *c, const struct sched_object *o,
                    struct sched_object **ret_old, struct err *err);
/* ret_old (or NULL): the removed object; given. An unknown object changes nothing. */
void sched_cache_del(struct sched_cache *c, enum sched_kind kind, struct str namespace,
                     struct str name, struct sched_object **ret_old);

/* Borrowed until the next change; NULL if unknown. Pods: bound and assumed ones. */
const void *sched_cache_get(const struct sched_cache *c, enum sched_kind kind, struct str namespace,
                            struct str name);
/* Iterates the objects of a kind in arbitrary order: e->value is the object. */
const struct map *sched_cache_all(const struct sched_cache *c, enum sched_kind kind);
/* Grows with every change of objects of this kind; plugins use it to update derived state. */
uint64_t sched_cache_kind_generation(const struct sched_cache *c, enum sched_kind kind);

/* ---- assumed pods ---- */

/*
 * `pod` is a pending pod; the cache makes its own copy with the node. Errors: -EEXIST: it is
 * already assumed or bound.
 */
int sched_cache_assume(struct sched_cache *c, const struct sched_pod *pod, struct intern *node,
                       struct err *err);
/*
 * The same with another cache's copy of the pod (sched_cache_get()), which both caches then share.
 * Errors: -EEXIST.
 */
int sched_cache_assume_shared(struct sched_cache *c, const struct sched_pod *assumed);
/* The API has acknowledged the binding. */
void sched_cache_binding_done(struct sched_cache *c, struct str uid);
/* The binding failed. Does nothing if the watch or sched_cache_binding_done() has confirmed it. */
void sched_cache_forget(struct sched_cache *c, struct str uid);
bool sched_cache_is_assumed(const struct sched_cache *c, struct str uid);
size_t sched_cache_n_assumed(const struct sched_cache *c);

/* ---- nodes ---- */

/*
 * Existing nodes, round robin over the zones (upstream's node tree), so that a search that ends
 * early sees all zones. Borrowed until nodes are added, removed or change their zone.
 */
const struct sched_node_info *const *sched_cache_nodes(const struct sched_cache *c, size_t *ret_n);
/* NULL: it does not exist */
const struct sched_node_info *sched_cache_node(const struct sched_cache *c,
                                               const struct intern *name);
/* All indices are less than this. */
uint32_t sched_cache_nodes_end(const struct sched_cache *c);
/*
 * The node that changed last; ->older leads to the others, so those that changed since a generation
 * are in front. The list includes nodes that do not exist while pods name them. A removed node
 * leaves no trace except the smaller count (sched_cache_count()). NULL: no nodes.
 */
const struct sched_node_info *sched_cache_newest(const struct sched_cache *c);
/*
 * State that plugins derive from the cache and share (plugins/census.h). The slot holds NULL at
 * first; the plugin that fills it empties it before the cache is freed. The cache calls follow()
 * now and then while pods and nodes change, so that deleted objects are not held for long.
 */
struct sched_derived {
    void (*follow)(struct sched_derived *d);
};
enum { SCHED_DERIVED_LAG = 256 }; /* changes between two calls of follow() */
struct sched_derived **sched_cache_derived(struct sched_cache *c);
/* Nodes with at least one pod with (required anti-)affinity. Borrowed until pods change. */
const struct sched_node_info *const *sched_cache_nodes_with_affinity(const struct sched_cache *c,
                                                                     size_t *ret_n);
const struct sched_node_info *const *sched_cache_nodes_with_required_anti(
    const struct sched_cache *c, size_t *ret_n);
/*
 * The number of nodes that have an image of this name, and its size as the first of them reported
 * it; 0: no node.
 */
uint32_t sched_cache_image_nodes(const struct sched_cache *c, const struct intern *image,
                                 int64_t *ret_size);
/*
 * The number of pods that name a claim ("namespace/name") in their volumes, bound and assumed, on
 * any node.
 */
uint32_t sched_cache_claim_pods(const struct sched_cache *c, struct str key);
/* Nodes and pods, for metrics. */
void sched_cache_count(const struct sched_cache *c, size_t *ret_nodes, size_t *ret_pods);

/* ---- dry runs ---- */

/*
 * A copy of a node that the caller may change and the cache does not know. Holds references to its
 * pods.
 */
struct sched_node_info *sched_node_info_clone(struct intern_table *w,
                                              const struct sched_node_info *n);
void sched_node_info_free(struct intern_table *w, struct sched_node_info *n);
void sched_node_info_add(struct intern_table *w, struct sched_node_info *n,
                         const struct sched_pod *pod);
/* By uid. Returns false if the pod is not there. */
bool sched_node_info_remove(struct intern_table *w, struct sched_node_info *n, struct str uid);
/* A port is taken when protocol and port are equal and either address is 0.0.0.0 or both are. */
bool sched_node_info_port_is_used(const struct sched_node_info *n, const struct sched_port *port);
