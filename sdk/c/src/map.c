/* SPDX-License-Identifier: Apache-2.0 */
#include "map.h"

#include "dm/mem.h"
#include "dm/text.h"

#include <string.h>

#define FIRST_CHAINS 4u

static uint32_t hash_of(const char *key, size_t n)
{
    uint64_t h = dm_hash(key, n, 0);
    return (uint32_t)(h ^ h >> 32);
}

static struct dm_map_node **chain_of(const struct dm_map *m, uint32_t hash)
{
    return &m->chains[hash & (m->n_chains - 1)];
}

struct dm_map_node *dm_map_find(const struct dm_map *m, const char *key, size_t n)
{
    if (!m->count)
        return NULL;
    uint32_t hash = hash_of(key, n);
    struct dm_map_node *i = *chain_of(m, hash);
    while (i && (i->hash != hash || i->n != n || memcmp(i->key, key, n) != 0))
        i = i->next;
    return i;
}

static void rehash(struct dm_map *m, uint32_t n_chains)
{
    struct dm_map old = *m;
    m->chains = dm_zalloc(n_chains * sizeof(struct dm_map_node *));
    m->n_chains = n_chains;
    for (uint32_t c = 0; c < old.n_chains; c++) {
        while (old.chains[c]) {
            struct dm_map_node *i = old.chains[c];
            old.chains[c] = i->next;
            struct dm_map_node **to = chain_of(m, i->hash);
            i->next = *to;
            *to = i;
        }
    }
    dm_free(old.chains);
}

void dm_map_insert(struct dm_map *m, struct dm_map_node *node)
{
    if (m->count >= m->n_chains)
        rehash(m, m->n_chains ? 2 * m->n_chains : FIRST_CHAINS);
    node->hash = hash_of(node->key, node->n);
    struct dm_map_node **to = chain_of(m, node->hash);
    node->next = *to;
    *to = node;
    m->count++;
}

void dm_map_remove(struct dm_map *m, struct dm_map_node *node)
{
    struct dm_map_node **p = chain_of(m, node->hash);
    while (*p != node)
        p = &(*p)->next;
    *p = node->next;
    m->count--;
}

struct dm_map_node *dm_map_next(const struct dm_map *m, const struct dm_map_node *node)
{
    uint32_t c = 0;
    if (node) {
        if (node->next)
            return node->next;
        c = (node->hash & (m->n_chains - 1)) + 1;
    }
    for (; c < m->n_chains; c++)
        if (m->chains[c])
            return m->chains[c];
    return NULL;
}

void dm_map_fini(struct dm_map *m)
{
    dm_free(m->chains);
    *m = (struct dm_map){ 0 };
}
