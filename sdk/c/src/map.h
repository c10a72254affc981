/* SPDX-License-Identifier: Apache-2.0 */
/* A chained hash table over nodes that their owner embeds and allocates. Keys are byte strings. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct dm_map_node {
    struct dm_map_node *next;
    const char *key; /* kept: usually inside the same allocation */
    uint32_t n, hash;
};

/* A zeroed map is empty and ready for use. */
struct dm_map {
    struct dm_map_node **chains;
    uint32_t n_chains, count;
};

struct dm_map_node *dm_map_find(const struct dm_map *m, const char *key, size_t n);
void dm_map_insert(struct dm_map *m,
                   struct dm_map_node *node); /* key, n are set; the key is not in the map */
void dm_map_remove(struct dm_map *m, struct dm_map_node *node);
/* The node after `node`, the first one after NULL. The order changes with every insertion. */
struct dm_map_node *dm_map_next(const struct dm_map *m, const struct dm_map_node *node);
void dm_map_fini(struct dm_map *m); /* forgets the nodes, which stay with their owner */
