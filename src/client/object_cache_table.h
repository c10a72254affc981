/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of one informer: found by namespace and name, walked by namespace, found by the
 * values of indexed fields.
 *
 *     slots    [ object, next and previous of its namespace ]     16 bytes an object
 *     places   hash of namespace and name -> slot                 4 bytes a place, at most 3/4 full
 *     index    hash of a value -> chain of { hash, slot, next }   12 bytes a value, 4 a bucket
 *
 * An index holds no values: the objects hold them. Slot 0 is never used. Pure.
 */
#pragma once

#include "base/map.h"
#include "client/object_cache_facts.h"

struct table_slot {
    struct cached_object *o; /* NULL: free, and ns_next is the next free one */
    uint32_t ns_prev, ns_next;
};
struct table_ns {
    uint32_t first, last, n; /* by insertion; after a list, by name */
};
struct value_node {
    uint32_t hash, slot, next;
};
struct value_index {
    struct value_node *nodes; /* [1..] */
    uint32_t n_nodes, cap, n_used, free_node;
    uint32_t *buckets;
    uint32_t n_buckets; /* a power of two */
};
struct object_table {
    const struct cache_object_maker *maker; /* kept: finds the values in objects */
    struct table_slot *slots;               /* [1..] */
    uint32_t n, n_slots, cap, free_slot;
    uint32_t *places;
    uint32_t n_places;
    struct map namespaces;                                /* -> struct table_ns */
    struct value_index *indexes[OBJECT_CACHE_FIELDS_MAX]; /* by field; NULL: not indexed */
};

void object_table_init(struct object_table *t, const struct cache_object_maker *maker);
/* Passes every object to unref(). Indexes stay declared. */
void object_table_reset(struct object_table *t, void (*unref)(void *arg, struct cached_object *o),
                        void *arg);
void object_table_fini(struct object_table *t); /* must be empty */

uint32_t object_table_find(const struct object_table *t, struct str namespace, struct str name);
static inline struct cached_object *object_table_at(const struct object_table *t, uint32_t slot)
{
    assert(slot <= t->n_slots);
    return t->slots[slot].o;
}
/* Adds or replaces; `o` is taken, the replaced object is given, or NULL. */
struct cached_object *object_table_put(struct object_table *t, struct cached_object *o);
/* Given. */
struct cached_object *object_table_remove(struct object_table *t, uint32_t slot);
/*
 * Next used slot after `slot`; begin with 0; returns 0 at the end. Meanwhile the table must not be
 * changed, except by replacing objects.
 */
uint32_t object_table_next(const struct object_table *t, uint32_t slot);
uint32_t object_table_ns_first(const struct object_table *t, struct str namespace);
static inline uint32_t object_table_ns_next(const struct object_table *t, uint32_t slot)
{
    return t->slots[slot].ns_next;
}
size_t object_table_ns_count(const struct object_table *t, struct str namespace);

/* Indexes a field from now on, and the objects already in the table. */
void object_table_index(struct object_table *t, size_t field);
/* Next node after `node` (0: the first) that has this value. */
uint32_t object_table_lookup(const struct object_table *t, size_t field, struct str value,
                             uint32_t node);
static inline struct cached_object *object_table_node(const struct object_table *t, size_t field,
                                                      uint32_t node)
{
    return t->slots[t->indexes[field]->nodes[node].slot].o;
}
size_t object_table_bytes(const struct object_table *t);
