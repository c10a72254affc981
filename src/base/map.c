/* SPDX-License-Identifier: Apache-2.0 */
/* Hash map; see map.h. */
#include "base/map.h"

#include "base/mem.h"
#include "base/slab.h"
#include "base/sys.h"

#include <assert.h>

enum { MAP_FIRST_CAP = 8 };

static size_t ideal(const struct map *m, uint64_t hash)
{
    return (size_t)hash & (m->cap - 1);
}

/* The slot of key, or the free slot for it. Needs cap > 0. */
static struct map_entry *probe(const struct map *m, struct str key, uint64_t hash)
{
    size_t i = ideal(m, hash);
    for (;;) {
        struct map_entry *e = &m->slots[i];
        if (!e->key.p || (e->hash == hash && str_eq(e->key, key)))
            return e;
        i = (i + 1) & (m->cap - 1);
    }
}

static void rehash(struct map *m, size_t cap)
{
    struct map_entry *old = m->slots;
    size_t old_cap = m->cap;
    assert((cap & (cap - 1)) == 0 && cap > m->n);
    m->slots = xnew_n(struct map_entry, cap);
    m->cap = cap;
    for (size_t i = 0; i < old_cap; i++)
        if (old[i].key.p)
            *probe(m, old[i].key, old[i].hash) = old[i];
    free(old);
}

static void free_key(const struct map *m, struct map_entry *e)
{
    if (!m->borrows_keys)
        slab_free((char *)e->key.p);
}

void map_fini(struct map *m)
{
    map_each (e, m)
        free_key(m, e);
    free(m->slots);
    *m = (struct map){ .borrows_keys = m->borrows_keys };
}

void *map_get(const struct map *m, struct str key)
{
    if (m->n == 0)
        return NULL;
    return probe(m, key, str_hash(key, m->seed))->value;
}

struct map_entry *map_find(const struct map *m, struct str key)
{
    if (m->n == 0)
        return NULL;
    struct map_entry *e = probe(m, key, str_hash(key, m->seed));
    return e->key.p ? e : NULL;
}

bool map_has(const struct map *m, struct str key)
{
    return map_get(m, key) != NULL;
}

void *map_put(struct map *m, struct str key, void *value)
{
    assert(value);
    if (m->cap == 0) {
        m->seed = sys_random_u64();
        rehash(m, MAP_FIRST_CAP);
    }
    uint64_t hash = str_hash(key, m->seed);
    struct map_entry *e = probe(m, key, hash);
    if (e->key.p) {
        void *old = e->value;
        e->value = value;
        return old;
    }
    if ((m->n + 1) * 4 > m->cap * 3) {
        rehash(m, m->cap * 2);
        e = probe(m, key, hash);
    }
    e->key = m->borrows_keys ? key : (struct str){ slab_strndup(key.p, key.n), key.n };
    e->hash = hash;
    e->value = value;
    m->n++;
    assert(m->n < m->cap); /* a probe ends at a free slot */
    return NULL;
}

void *map_del(struct map *m, struct str key)
{
    if (m->n == 0)
        return NULL;
    struct map_entry *e = probe(m, key, str_hash(key, m->seed));
    if (!e->key.p)
        return NULL;
    void *value = e->value;
    assert(value);
    free_key(m, e);
    m->n--;
    /* Backward shift: close the gap with entries whose probe path runs over it. */
    size_t hole = (size_t)(e - m->slots), i = hole;
    for (;;) {
        i = (i + 1) & (m->cap - 1);
        if (!m->slots[i].key.p)
            break;
        size_t home = ideal(m, m->slots[i].hash);
        bool reachable = hole <= i ? home <= hole || home > i : home <= hole && home > i;
        if (!reachable)
            continue;
        m->slots[hole] = m->slots[i];
        hole = i;
    }
    m->slots[hole] = (struct map_entry){ 0 };
    return value;
}

struct map_entry *map_next(const struct map *m, struct map_entry *at)
{
    size_t i = at ? (size_t)(at - m->slots) + 1 : 0;
    assert(i <= m->cap); /* the map was changed during the iteration */
    for (; i < m->cap; i++)
        if (m->slots[i].key.p)
            return &m->slots[i];
    return NULL;
}
