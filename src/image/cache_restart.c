/* SPDX-License-Identifier: Apache-2.0 */
/* A layer cache after a restart: replaying events, and the layers on the disk; see cache.h. */
#include "image/cache_impl.h"

#include <math.h>

/* Of all that is remembered, so that sums of a damaged journal cannot overflow. */
#define TOTAL_MAX ((uint64_t)1 << 60)

/* The list that this cache has for the one of an event. */
static enum image_cache_list own_list(const struct image_cache *c, enum image_cache_list list)
{
    if (c->o.policy == IMAGE_CACHE_ARC)
        return list;
    if (list == IMAGE_CACHE_T2)
        return IMAGE_CACHE_T1;
    return list == IMAGE_CACHE_B1 || list == IMAGE_CACHE_B2 ? IMAGE_CACHE_NONE : list;
}

static bool makes_sense(const struct image_cache *c, const struct image_cache_event *e)
{
    uint64_t total = image_cache_used(c) + c->bytes[IMAGE_CACHE_B1] + c->bytes[IMAGE_CACHE_B2];
    if (e->size > IMAGE_CACHE_SIZE_MAX || total > TOTAL_MAX)
        return false;
    switch (e->op) {
    case IMAGE_CACHE_INSERT:
    case IMAGE_CACHE_HIT:
    case IMAGE_CACHE_REFRESH:
        return e->list >= IMAGE_CACHE_T1 && e->list <= IMAGE_CACHE_DEAD;
    case IMAGE_CACHE_PREFETCH:
        return e->list == IMAGE_CACHE_T1;
    case IMAGE_CACHE_DEMOTE:
        return e->list == IMAGE_CACHE_DEAD;
    case IMAGE_CACHE_EVICT:
        return e->list == IMAGE_CACHE_NONE ||
               (e->list >= IMAGE_CACHE_B1 && e->list < IMAGE_CACHE_LISTS);
    case IMAGE_CACHE_FORGET:
    case IMAGE_CACHE_REMOVE:
        return e->list == IMAGE_CACHE_NONE;
    case IMAGE_CACHE_OPS:
        break;
    }
    return false;
}

void image_cache_repeat(struct image_cache *c, const struct image_cache_event *ev)
{
    struct image_cache_entry *e = image_cache_find(c, ev->key);
    enum image_cache_list list = own_list(c, ev->list);
    if (!makes_sense(c, ev) || (e && e->pins))
        return;
    if (isfinite(ev->target)) /* beyond the capacity: of a larger cache, whose size is unknown */
        c->target =
            ev->target > (double)c->o.capacity ? (double)c->o.capacity / 2 : fmax(ev->target, 0);
    if (list == IMAGE_CACHE_NONE) {
        if (e)
            image_cache_drop(c, e);
        return;
    }
    if (!e)
        e = image_cache_add(c, ev->key, ev->size);
    image_cache_detach(c, e);
    e->size = ev->size;
    e->prefetched =
        ev->op == IMAGE_CACHE_PREFETCH || (ev->op == IMAGE_CACHE_REFRESH && e->prefetched);
    if (ev->op == IMAGE_CACHE_INSERT && ev->uses)
        e->uses = ev->uses;
    else if (ev->op == IMAGE_CACHE_INSERT || ev->op == IMAGE_CACHE_HIT)
        e->uses += e->uses < UINT32_MAX;
    if (ev->op == IMAGE_CACHE_PREFETCH)
        image_cache_put_last(c, e, list);
    else
        image_cache_put_recent(c, e, list);
}

static void snapshot_entry(const struct image_cache *c, const struct image_cache_entry *e,
                           void (*visit)(void *arg, const struct image_cache_event *e), void *arg)
{
    struct image_cache_event ev = { .list = e->where, .size = e->size, .target = c->target };
    memcpy(ev.key, e->key, SHA256_BYTES);
    if (e->where == IMAGE_CACHE_B1 || e->where == IMAGE_CACHE_B2)
        ev.op = IMAGE_CACHE_EVICT;
    else
        ev.op = e->where == IMAGE_CACHE_DEAD ? IMAGE_CACHE_DEMOTE : IMAGE_CACHE_INSERT;
    if (ev.op == IMAGE_CACHE_INSERT)
        ev.uses = e->uses;
    if (e->prefetched && e->where == IMAGE_CACHE_T1) {
        ev.op = IMAGE_CACHE_PREFETCH;
        visit(arg, &ev);
        ev.op = IMAGE_CACHE_REFRESH; /* to its place, still marked */
    }
    visit(arg, &ev);
}

void image_cache_snapshot(const struct image_cache *c,
                          void (*visit)(void *arg, const struct image_cache_event *e), void *arg)
{
    for (int l = IMAGE_CACHE_T1; l < IMAGE_CACHE_LISTS; l++) {
        const struct list *head = &c->lists[l];
        for (const struct list *at = head->prev; at != head; at = at->prev)
            snapshot_entry(c, list_entry((struct list *)at, struct image_cache_entry, link), visit,
                           arg);
    }
}

static int by_time(const void *a, const void *b)
{
    const struct image_cache_found *x = a, *y = b;
    if (x->mtime_s != y->mtime_s)
        return x->mtime_s < y->mtime_s ? -1 : 1;
    return memcmp(x->key, y->key, SHA256_BYTES);
}

static void take_in(struct image_cache *c, const struct image_cache_found *f)
{
    struct image_cache_entry *e = image_cache_find(c, f->key);
    uint64_t size = MIN(f->size, IMAGE_CACHE_SIZE_MAX);
    if (image_cache_is_resident(e)) { /* a place in its list that it keeps */
        c->bytes[e->where] += size - e->size;
        c->pinned += e->pins ? size - e->size : 0;
        e->size = size;
        return;
    }
    if (!e)
        e = image_cache_add(c, f->key, size);
    image_cache_detach(c, e);
    e->size = size;
    e->uses = 1;
    image_cache_put_recent(c, e, IMAGE_CACHE_T1);
    image_cache_emit(c, IMAGE_CACHE_INSERT, e);
}

void image_cache_settle(struct image_cache *c, struct image_cache_found *found, size_t n)
{
    struct map there = { .borrows_keys = true };
    for (size_t i = 0; i < n; i++)
        (void)map_put(&there, image_cache_key(found[i].key), &found[i]);
    for (int l = IMAGE_CACHE_T1; l <= IMAGE_CACHE_DEAD; l++)
        list_each_safe (node, &c->lists[l]) {
            struct image_cache_entry *e = list_entry(node, struct image_cache_entry, link);
            if (!map_has(&there, image_cache_key(e->key)))
                image_cache_drop_with_event(c, e, IMAGE_CACHE_REMOVE);
        }
    map_fini(&there); /* before its keys move */
    if (n)
        qsort(found, n, sizeof *found, by_time);
    for (size_t i = 0; i < n; i++)
        take_in(c, &found[i]);
    (void)image_cache_make_room(c, 0, false); /* refused where too much is pinned */
    image_cache_trim_ghosts(c);
}
