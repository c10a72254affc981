/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler's picture of the cluster: nodes with the pods on them, and all other objects that
 * plugins look up.
 *
 * Pods that were placed but whose binding the API has not told yet are *assumed*: they count as
 * bound until the watch confirms them or tells that they are gone, or the binding fails (forget).
 * There is no time limit, as upstream has none since 1.28.
 *
 *     sched_cache_assume -> assumed -- sched_cache_binding_done --> acknowledged
 *                              |  |                                      |
 *                              |  +----- watch: it is bound -------------+--> bound
 *                              |  +----- watch: it is done or gone ------+--> gone
 *                              +-------- sched_cache_forget --> gone
 *
 * One thread at a time, and no change during a cycle. Profiles with long cycles have
 * a cache of their own with the same content (core/lane.c). Upstream: backend/cache.
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
 * One node with its pods. Plugins may read all of it; it is changed by the cache, and (a copy of
 * it) by dry runs.
 */
struct sched_node_info {
    uint32_t index; /* stable while the node is there, then used again; UINT32_MAX: it is not */
    const struct sched_node *node; /* NULL: pods name it, and it is not (any more) there */
    const struct sched_pod **pods;
    uint32_t n_pods, cap_pods;
    uint32_t n_with_affinity;      /* pods with any (anti-)affinity; they stand first in `pods` */
    uint32_t n_with_required_anti; /* pods with required anti-affinity; first among those */
    struct sched_amounts requested;
    int64_t nonzero_milli_cpu, nonzero_memory;
    struct sched_used_port *ports;
    uint32_t n_ports;
    uint64_t generation;                   /* grows with every change of the node or its pods */
    struct sched_node_info *newer, *older; /* by generation; NULL at the ends, and in copies */
};

struct sched_cache;
struct sched_cache *sched_cache_new(struct intern_table *w);
/* Instead of the limits above; for tests. */
struct sched_cache_limits {
    uint32_t nodes, pods, objects;
};
void sched_cache_limit(struct sched_cache *c, const struct sched_cache_limits *limits);
/* Another one of the same words that knows the same objects and assumes the same pods; the order of
 * nodes, and of pods on a node, may differ. */
struct sched_cache *sched_cache_copy(const struct sched_cache *c);
void sched_cache_free(struct sched_cache *c);
DEFINE_SCOPED(sched_cache, sched_cache_free)

/* ---- objects, as the watch tells ---- */

/*
 * Put in, or replace, an object of any kind; a reference is taken. Pods: those that are bound
 * (node_name) and not done go on their node, whether it is known or not, confirming an assumed one;
 * an update whose node differs from the assumed one moves it. Pods that are not bound are no
 * business of the cache. ret_old (or NULL): what it replaces, or NULL; given.
 * Errors: E_LIMIT.
 */
int sched_cache_put(struct sched_cache *c, const struct sched_object *o,
                    struct sched_object **ret_old, struct err *err);
/* ret_old (or NULL): what was there; given. An object that is unknown changes nothing. */
void sched_cache_del(struct sched_cache *c, enum sched_kind kind, struct str namespace,
                     struct str name, struct sched_object **ret_old);

/* Borrowed until the next change; NULL: there is none. Pods: bound and assumed ones. */
const void *sched_cache_get(const struct sched_cache *c, enum sched_kind kind, struct str namespace,
                            struct str name);
/* Iterates the objects of a kind in arbitrary order: e->value is the object. */
const struct map *sched_cache_all(const struct sched_cache *c, enum sched_kind kind);
/* Grows with every change of objects of this kind; for what plugins derive from them. */
uint64_t sched_cache_kind_generation(const struct sched_cache *c, enum sched_kind kind);

/* ---- assumed pods ---- */

/* `pod` is a pending pod; the cache makes its own, with the node. Errors: -EEXIST: it is assumed or
 * bound already. */
int sched_cache_assume(struct sched_cache *c, const struct sched_pod *pod, struct intern *node,
                       struct err *err);
/* The same of another cache's own pod (sched_cache_get()), which both share from now on. Errors:
 * -EEXIST. */
int sched_cache_assume_shared(struct sched_cache *c, const struct sched_pod *assumed);
/* Its binding was acknowledged. */
void sched_cache_binding_done(struct sched_cache *c, struct str uid);
/* Its binding failed. Nothing if the watch or sched_cache_binding_done() has confirmed it. */
void sched_cache_forget(struct sched_cache *c, struct str uid);
bool sched_cache_is_assumed(const struct sched_cache *c, struct str uid);
size_t sched_cache_n_assumed(const struct sched_cache *c);

/* ---- nodes ---- */

/*
 * Nodes that are there, zone by zone in turns (upstream's node tree), so that a search that ends
 * early sees all zones. Borrowed until nodes come, go or change their zone.
 */
const struct sched_node_info *const *sched_cache_nodes(const struct sched_cache *c, size_t *ret_n);
const struct sched_node_info *sched_cache_node(const struct sched_cache *c,
                                               const struct intern *name); /* NULL: not there */
/* All indices are below it. */
uint32_t sched_cache_nodes_end(const struct sched_cache *c);
/*
 * The one that was changed last, the others follow by ->older: what has changed since a generation
 * stands in front. Also those that are not there while pods name them. One that goes leaves no
 * trace but that there are fewer (sched_cache_count()). NULL: there is none.
 */
const struct sched_node_info *sched_cache_newest(const struct sched_cache *c);
/*
 * What plugins derive from the cache and share (plugins/census.h): a place that holds NULL at
 * first; whoever fills it empties it before the cache is freed. follow() is called now and then
 * while pods and nodes change, so that nothing that has gone is held for long.
 */
struct sched_derived {
    void (*follow)(struct sched_derived *d);
};
enum { SCHED_DERIVED_LAG = 256 }; /* changes from one follow() to the next */
struct sched_derived **sched_cache_derived(struct sched_cache *c);
/* Nodes with at least one pod with (required anti-)affinity. Borrowed until pods change. */
const struct sched_node_info *const *sched_cache_nodes_with_affinity(const struct sched_cache *c,
                                                                     size_t *ret_n);
const struct sched_node_info *const *sched_cache_nodes_with_required_anti(
    const struct sched_cache *c, size_t *ret_n);
/* On how many nodes an image of this name is, and its size as the first of them told; 0: none. */
uint32_t sched_cache_image_nodes(const struct sched_cache *c, const struct intern *image,
                                 int64_t *ret_size);
/* How many pods name a claim ("namespace/name") in their volumes, bound and assumed, on any node.
 */
uint32_t sched_cache_claim_pods(const struct sched_cache *c, struct str key);
/* Nodes and pods, for metrics. */
void sched_cache_count(const struct sched_cache *c, size_t *ret_nodes, size_t *ret_pods);

/* ---- dry runs ---- */

/*
 * A node as it would be: a copy that may be changed, of which the cache knows nothing. Holds
 * references to its pods.
 */
struct sched_node_info *sched_node_info_clone(struct intern_table *w,
                                              const struct sched_node_info *n);
void sched_node_info_free(struct intern_table *w, struct sched_node_info *n);
void sched_node_info_add(struct intern_table *w, struct sched_node_info *n,
                         const struct sched_pod *pod);
/* By uid. false: it is not there. */
bool sched_node_info_remove(struct intern_table *w, struct sched_node_info *n, struct str uid);
/* A port is taken when protocol and port are equal and either address is 0.0.0.0 or both are. */
bool sched_node_info_port_is_used(const struct sched_node_info *n, const struct sched_port *port);
