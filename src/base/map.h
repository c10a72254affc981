/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash map from byte strings to pointers: open addressing with linear probing, backward-shift
 * deletion (Knuth, TAOCP volume 3, section 6.4, algorithm R), seeded per map against crafted keys.
 *
 * Keys are copied, or are the caller's (borrows_keys); values are the caller's. Zero-initialised is
 * a valid empty map.
 * Iteration order is arbitrary; the map must not be changed while iterating, except by
 * map_each_safe-style collection first.
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
     * Set while it is empty: what map_put() is given as a key is kept and not copied, for many
     * small values that hold their own. It has to stay where it is until it was deleted.
     */
    bool borrows_keys;
};

void map_fini(struct map *m);
/* NULL when absent. */
void *map_get(const struct map *m, struct str key);
/* The entry, NULL when absent. Its key stays valid until it is deleted; the entry itself only until
 * the next change. */
struct map_entry *map_find(const struct map *m, struct str key);
bool map_has(const struct map *m, struct str key);
/* Insert, or replace the value alone; returns the previous one or NULL. value may not be NULL. */
void *map_put(struct map *m, struct str key, void *value);
/* Remove; returns the value or NULL. */
void *map_del(struct map *m, struct str key);

struct map_entry *map_next(const struct map *m, struct map_entry *at); /* at NULL: first */
#define map_each(e, m) for (struct map_entry *e = map_next((m), NULL); e; e = map_next((m), e))
