/* SPDX-License-Identifier: Apache-2.0 */
/* The index of a large object; see json_index.h. Open addressing, at most half full. */
#include "codec/json_index.h"

#include "base/sys.h"

#include <assert.h>

static struct json front; /* only its address is used */
#define JSON_INDEX_FIRST (&front)

static struct json *behind(const struct json *obj, const struct json *slot)
{
    return slot == JSON_INDEX_FIRST ? obj->first : slot->next;
}

/* The slot of the member with this key, or the free slot for it. */
static struct json **probe(const struct json *obj, struct json_index *ix, struct str key)
{
    size_t i = str_hash(key, ix->seed) & ix->mask;
    while (ix->slots[i] && !str_eq(behind(obj, ix->slots[i])->key, key))
        i = (i + 1) & ix->mask;
    return &ix->slots[i];
}

struct json *json_index_find(const struct json *obj, const struct json_index *ix, struct str key,
                             struct json **ret_prev)
{
    struct json *slot = *probe(obj, (struct json_index *)ix, key);
    if (!slot)
        return NULL;
    if (ret_prev)
        *ret_prev = slot == JSON_INDEX_FIRST ? NULL : slot;
    return behind(obj, slot);
}

bool json_index_make(struct arena *a, struct json *obj,
                     void (*on_repeated)(void *arg, struct json *first, struct json *again),
                     void *arg)
{
    size_t n = 4 * (size_t)JSON_INDEX_MIN;
    while (n < 2 * (size_t)obj->n + 2)
        n *= 2;
    struct json_index *ix = arena_try(a, sizeof *ix + n * sizeof(struct json *));
    if (!ix)
        return false;
    ix->seed = sys_random_u64();
    ix->mask = n - 1;
    struct json *prev = NULL;
    for (struct json *v = obj->first, *next; v; v = next) {
        next = v->next;
        struct json **slot = probe(obj, ix, v->key);
        if (*slot && on_repeated) {
            on_repeated(arg, behind(obj, *slot), v);
            assert(prev); /* a repeated key is never the first member */
            prev->next = next;
            obj->n--;
            continue;
        }
        if (*slot)
            return false;
        *slot = prev ? prev : JSON_INDEX_FIRST;
        prev = v;
    }
    ix->last = prev;
    obj->end = (struct json *)((uintptr_t)ix | 1);
    return true;
}

bool json_index_append(const struct json *obj, struct json_index *ix, struct json *prev,
                       struct json *v)
{
    if (2 * (size_t)obj->n > ix->mask)
        return false;
    struct json **slot = probe(obj, ix, v->key);
    if (*slot)
        return false;
    *slot = prev ? prev : JSON_INDEX_FIRST;
    ix->last = v;
    return true;
}

/* Close the gap with entries whose probe path runs over it: as in base/map.c. */
static void erase(const struct json *obj, struct json_index *ix, size_t hole)
{
    for (size_t i = (hole + 1) & ix->mask; ix->slots[i]; i = (i + 1) & ix->mask) {
        size_t home = str_hash(behind(obj, ix->slots[i])->key, ix->seed) & ix->mask;
        bool reachable = hole <= i ? home <= hole || home > i : home <= hole && home > i;
        if (!reachable)
            continue;
        ix->slots[hole] = ix->slots[i];
        hole = i;
    }
    ix->slots[hole] = NULL;
}

static void link_behind(struct json *obj, struct json *prev, struct json *v)
{
    if (prev)
        prev->next = v;
    else
        obj->first = v;
}

void json_index_unlink(struct json *obj, struct json_index *ix, struct json *prev,
                       struct json *child)
{
    struct json *next = child->next;
    struct json **own = probe(obj, ix, child->key);
    struct json **of_next = next ? probe(obj, ix, next->key) : NULL;
    link_behind(obj, prev, next);
    if (of_next)
        *of_next = prev ? prev : JSON_INDEX_FIRST;
    else
        ix->last = prev;
    erase(obj, ix, (size_t)(own - ix->slots));
}

void json_index_relink(struct json *obj, struct json_index *ix, struct json *prev, struct json *old,
                       struct json *v)
{
    struct json **of_next = old->next ? probe(obj, ix, old->next->key) : NULL;
    v->next = old->next;
    link_behind(obj, prev, v);
    if (of_next)
        *of_next = v;
    else
        ix->last = v;
}
