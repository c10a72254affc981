/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash map from byte strings to pointers: open addressing with linear probing, backward-shift
 * deletion (Knuth, TAOCP volume 3, section 6.4, algorithm R), seeded per map against crafted keys.
 *
 * Keys are copied, or kept (borrows_keys); values are kept. Zero-initialised is a valid empty map.
 * Iteration order is arbitrary. The map must not be changed during an iteration: collect the keys
 * first, change the map afterwards.
 */
#pragma once

#include "base/str.h"

struct map_entry {
    struct str key; /* owned by the map and NUL-terminated, or the caller's */
    void *value;
    uint64_t hash;
};

struct map {
    struct map_entry *slots; /* key.p == NULL: free */
    size_t n, cap;           /* cap is 0 or a power of two */
    uint64_t seed;
    /*
     * To be set while the map is empty: map_put() keeps the key and does not copy it, for many
     * small values that hold their own keys. The key's bytes must stay in place until it is
     * deleted.
     */
    bool borrows_keys;
};

void map_fini(struct map *m);
/* NULL when absent. */
void *map_get(const struct map *m, struct str key);
/* The entry, NULL when absent. Its key is valid until the entry is deleted, the pointer to the
 * entry only until the next change of the map. */
struct map_entry *map_find(const struct map *m, struct str key);
bool map_has(const struct map *m, struct str key);
/* Insert, or replace the value and keep the stored key; returns the previous value or NULL. value
 * must not be NULL. */
void *map_put(struct map *m, struct str key, void *value);
/* Remove; returns the value or NULL. */
void *map_del(struct map *m, struct str key);

struct map_entry *map_next(const struct map *m, struct map_entry *at); /* at NULL: first */
#define map_each(e, m) for (struct map_entry *e = map_next((m), NULL); e; e = map_next((m), e))
