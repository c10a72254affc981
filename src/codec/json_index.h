/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash index of the members of a large object, so that work with many keys does not grow with the
 * square of their number. For the files that build and change trees; all others use json.h.
 *
 * The index is in the tree's arena, apart from the node: `end` of such an object points to the
 * index, with the lowest bit set, and the index holds the last member. It is a hash table with a
 * random seed. For each member it holds the preceding member, which removing and replacing need.
 *
 * Without an arena an index can be updated but cannot grow: json_add_member() drops a full one,
 * and the object is searched from its first member until json_set() or json_index() makes another.
 */
#pragma once

#include "codec/json.h"

enum { JSON_INDEX_MIN = 32 }; /* objects of more members have one */

struct json_index {
    struct json *last;
    uint64_t seed;
    size_t mask;          /* slots, a power of two, less 1 */
    struct json *slots[]; /* preceding member; JSON_INDEX_FIRST: none; NULL: free */
};

static inline struct json_index *json_index_of(const struct json *container)
{
    uintptr_t end = (uintptr_t)container->end;
    return end & 1 ? (struct json_index *)(end - 1) : NULL;
}

static inline struct json *json_index_last(const struct json *container)
{
    const struct json_index *ix = json_index_of(container);
    return ix ? ix->last : container->end;
}

/*
 * Build the index of obj, which has none. on_repeated is called for each member with the key of an
 * earlier one, with both; the later one is then removed from the object. false, and no index is
 * built: the arena's limit is reached, or a key is repeated and on_repeated is NULL.
 */
bool json_index_make(struct arena *a, struct json *obj,
                     void (*on_repeated)(void *arg, struct json *first, struct json *again),
                     void *arg);
/* The member with this key, and the preceding one (NULL if it is the first). */
struct json *json_index_find(const struct json *obj, const struct json_index *ix, struct str key,
                             struct json **ret_prev);
/* Add v, which was appended after prev. false, and nothing changed: the index is full or has the
 * key. */
bool json_index_append(const struct json *obj, struct json_index *ix, struct json *prev,
                       struct json *v);
/* Remove child, which follows prev (NULL: child is the first), from the list and the index. */
void json_index_unlink(struct json *obj, struct json_index *ix, struct json *prev,
                       struct json *child);
/* Replace old, which follows prev, by v; both have the same key. */
void json_index_relink(struct json *obj, struct json_index *ix, struct json *prev, struct json *old,
                       struct json *v);
