/* SPDX-License-Identifier: Apache-2.0 */
/* Which layers a node keeps; see cache.h. */
#include "image/cache.h"

#include "image/cache_impl.h"

#include <math.h>

const char *image_cache_policy_name(enum image_cache_policy p)
{
    static const char *const names[IMAGE_CACHE_POLICIES] = { "arc", "lru", "lfu" };
    return names[p];
}

enum image_cache_policy image_cache_policy_of(struct str name)
{
    int p = 0;
    while (p < IMAGE_CACHE_POLICIES &&
           !str_is(name, image_cache_policy_name((enum image_cache_policy)p)))
        p++;
    return (enum image_cache_policy)p;
}

/* ---- entries and lists ---- */

struct str image_cache_key(const uint8_t *key)
{
    return str_n(key, SHA256_BYTES);
}

struct image_cache_entry *image_cache_find(const struct image_cache *c, const uint8_t *key)
{
    return map_get(&c->entries, image_cache_key(key));
}

bool image_cache_is_resident(const struct image_cache_entry *e)
{
    return e && e->where >= IMAGE_CACHE_T1 && e->where <= IMAGE_CACHE_DEAD;
}

struct image_cache_entry *image_cache_add(struct image_cache *c, const uint8_t *key, uint64_t size)
{
    struct image_cache_entry *e = xnew(struct image_cache_entry);
    memcpy(e->key, key, SHA256_BYTES);
    e->size = size;
    void *old = map_put(&c->entries, image_cache_key(e->key), e);
    assert(!old);
    (void)old;
    return e;
}

void image_cache_detach(struct image_cache *c, struct image_cache_entry *e)
{
    if (!list_is_linked(&e->link))
        return;
    list_remove(&e->link);
    assert(c->n[e->where] > 0);
    assert(c->bytes[e->where] >= e->size);
    c->bytes[e->where] -= e->size;
    c->n[e->where]--;
    if (e->pins && image_cache_is_resident(e)) {
        assert(c->pinned >= e->size);
        c->pinned -= e->size;
    }
    e->where = IMAGE_CACHE_NONE;
}

static void count_in(struct image_cache *c, struct image_cache_entry *e, enum image_cache_list list)
{
    assert(e->where == IMAGE_CACHE_NONE && list < IMAGE_CACHE_LISTS);
    e->where = list;
    c->bytes[list] += e->size;
    c->n[list]++;
    if (e->pins && image_cache_is_resident(e))
        c->pinned += e->size;
}

/* The most recent of a list; of LFU's, the most recent of those that are used as often. */
void image_cache_put_recent(struct image_cache *c, struct image_cache_entry *e,
                            enum image_cache_list list)
{
    struct list *head = &c->lists[list], *at = head;
    image_cache_detach(c, e);
    if (c->o.policy == IMAGE_CACHE_LFU && list == IMAGE_CACHE_T1) {
        while (at->prev != head &&
               list_entry(at->prev, struct image_cache_entry, link)->uses <= e->uses)
            at = at->prev;
        list_insert_before(at, &e->link);
    } else {
        list_push_front(head, &e->link);
    }
    count_in(c, e, list);
}

void image_cache_put_last(struct image_cache *c, struct image_cache_entry *e,
                          enum image_cache_list list)
{
    image_cache_detach(c, e);
    list_push_back(&c->lists[list], &e->link);
    count_in(c, e, list);
}

void image_cache_drop(struct image_cache *c, struct image_cache_entry *e)
{
    assert(!e->is_victim);
    image_cache_detach(c, e);
    void *entry = map_del(&c->entries, image_cache_key(e->key));
    assert(entry == e);
    free(entry);
}

void image_cache_emit(struct image_cache *c, enum image_cache_op op,
                      const struct image_cache_entry *e)
{
    struct image_cache_event ev = {
        .op = op, .list = e->where, .size = e->size, .target = c->target
    };
    if (!c->o.on_event)
        return;
    memcpy(ev.key, e->key, SHA256_BYTES);
    c->o.on_event(c->o.arg, &ev);
}

/* Remove it from all lists and free it. */
void image_cache_drop_with_event(struct image_cache *c, struct image_cache_entry *e,
                                 enum image_cache_op op)
{
    image_cache_detach(c, e);
    image_cache_emit(c, op, e);
    image_cache_drop(c, e);
}

static void count(struct image_cache_count *to, uint64_t bytes)
{
    to->n++;
    to->bytes += bytes;
}

/* ---- making room ---- */

static bool may_leave(const struct image_cache_entry *e)
{
    return !e->pins && !e->is_victim;
}

/* The least recent evictable one after `after` (NULL: from the end). */
static struct image_cache_entry *next_candidate(const struct image_cache *c,
                                                enum image_cache_list list,
                                                const struct image_cache_entry *after)
{
    const struct list *head = &c->lists[list];
    const struct list *at = after ? after->link.prev : head->prev;
    for (; at != head; at = at->prev) {
        struct image_cache_entry *e = list_entry((struct list *)at, struct image_cache_entry, link);
        if (may_leave(e))
            return e;
    }
    return NULL;
}

/* Is `e` better than `best`, which is less recent? The smallest that alone is enough. */
static bool fits_better(const struct image_cache_entry *e, const struct image_cache_entry *best,
                        uint64_t need)
{
    return e->size >= need && (best->size < need || e->size < best->size);
}

/* The options best_fit and holders, among the least recent of a list. */
static struct image_cache_entry *choose(const struct image_cache *c,
                                        struct image_cache_entry *first, uint64_t need)
{
    struct image_cache_entry *at[IMAGE_CACHE_FIT_CANDIDATES], *best = NULL;
    unsigned held[IMAGE_CACHE_FIT_CANDIDATES] = { 0 };
    size_t n = 0;
    bool spare = false; /* one of them is on two peers */
    for (struct image_cache_entry *e = first; e && n < ARRAY_LEN(at);
         e = next_candidate(c, e->where, e)) {
        held[n] = c->o.holders ? c->o.holders(c->o.arg, e->key) : 0;
        spare = spare || held[n] >= 2;
        at[n++] = e;
    }
    for (size_t i = 0; i < n; i++) {
        if (spare && held[i] == 0)
            continue;
        if (!best || (c->o.best_fit && fits_better(at[i], best, need)))
            best = at[i];
    }
    return best;
}

/* The next victim if T1 has t1 bytes; NULL: all are pinned. */
static struct image_cache_entry *pick(const struct image_cache *c, uint64_t t1, bool in_b2,
                                      uint64_t need)
{
    struct image_cache_entry *dead = next_candidate(c, IMAGE_CACHE_DEAD, NULL);
    if (dead)
        return dead;
    struct image_cache_entry *a = next_candidate(c, IMAGE_CACHE_T1, NULL);
    struct image_cache_entry *b = next_candidate(c, IMAGE_CACHE_T2, NULL);
    double size = (double)t1;
    bool from_t1 = a && (size > c->target || (in_b2 && size >= c->target) || !b);
    struct image_cache_entry *first = from_t1 ? a : b;
    return first && (c->o.best_fit || c->o.holders) ? choose(c, first, need) : first;
}

/* Whether the pins leave enough room, if everything else is evicted. */
static bool may_fit(const struct image_cache *c, uint64_t need)
{
    return need <= c->o.capacity && c->pinned <= c->o.capacity - need;
}

/*
 * Fill c->victims with what has to leave for `need` bytes. false: too much is pinned. Either way
 * end_plan() has to follow.
 */
static bool plan_room(struct image_cache *c, uint64_t need, bool in_b2)
{
    uint64_t used = image_cache_used(c), t1 = c->bytes[IMAGE_CACHE_T1];
    assert(c->victims.n == 0); /* end_plan() was called */
    c->victims.n = 0;
    if (!may_fit(c, need))
        return false;
    while (used + need > c->o.capacity) {
        struct image_cache_entry *e = pick(c, t1, in_b2, used + need - c->o.capacity);
        assert(e && may_leave(e) && used >= e->size);
        e->is_victim = true;
        vec_push(&c->victims, e);
        used -= e->size;
        if (e->where == IMAGE_CACHE_T1)
            t1 -= e->size;
    }
    return true;
}

static void evict_entry(struct image_cache *c, struct image_cache_entry *e)
{
    enum image_cache_list ghost = e->where == IMAGE_CACHE_T1   ? IMAGE_CACHE_B1
                                  : e->where == IMAGE_CACHE_T2 ? IMAGE_CACHE_B2
                                                               : IMAGE_CACHE_NONE;
    assert(image_cache_is_resident(e) && !e->pins && !e->is_victim);
    count(&c->stats.evicted, e->size);
    if (e->prefetched)
        count(&c->stats.prefetch_wasted, e->size);
    if (ghost == IMAGE_CACHE_NONE || e->prefetched || c->o.policy != IMAGE_CACHE_ARC) {
        image_cache_drop_with_event(c, e, IMAGE_CACHE_EVICT);
        return;
    }
    image_cache_put_recent(c, e, ghost);
    image_cache_emit(c, IMAGE_CACHE_EVICT, e);
}

static void end_plan(struct image_cache *c, bool carry_out)
{
    for (size_t i = 0; i < c->victims.n; i++) {
        c->victims.p[i]->is_victim = false;
        if (carry_out)
            evict_entry(c, c->victims.p[i]);
    }
    c->victims.n = 0;
}

bool image_cache_make_room(struct image_cache *c, uint64_t need, bool in_b2)
{
    if (c->o.caller_evicts)
        return true;
    bool ok = plan_room(c, need, in_b2);
    end_plan(c, ok);
    return ok;
}

/* A layer that was used often is on its way back. */
static bool expects_frequent(const struct image_cache *c)
{
    list_each (node, &c->lists[IMAGE_CACHE_B2])
        if (list_entry(node, struct image_cache_entry, link)->is_expected)
            return true;
    return false;
}

bool image_cache_next(const struct image_cache *c, uint64_t need, uint8_t ret_key[SHA256_BYTES],
                      uint64_t *ret_size)
{
    assert(c->o.caller_evicts);
    const struct image_cache_entry *e =
        pick(c, c->bytes[IMAGE_CACHE_T1], expects_frequent(c), need);
    if (!e)
        return false;
    memcpy(ret_key, e->key, SHA256_BYTES);
    *ret_size = e->size;
    return true;
}

void image_cache_evict(struct image_cache *c, const uint8_t *key)
{
    struct image_cache_entry *e = image_cache_find(c, key);
    assert(c->o.caller_evicts && image_cache_is_resident(e) && !e->pins);
    evict_entry(c, e);
    image_cache_trim_ghosts(c);
}

static void forget_last(struct image_cache *c, enum image_cache_list list)
{
    image_cache_drop_with_event(c, list_entry(c->lists[list].prev, struct image_cache_entry, link),
                                IMAGE_CACHE_FORGET);
}

void image_cache_trim_ghosts(struct image_cache *c)
{
    const uint64_t *b = c->bytes;
    const size_t *n = c->n;
    while (n[IMAGE_CACHE_B1] && b[IMAGE_CACHE_T1] + b[IMAGE_CACHE_B1] > c->o.capacity)
        forget_last(c, IMAGE_CACHE_B1);
    while (n[IMAGE_CACHE_B2] &&
           b[IMAGE_CACHE_T1] + b[IMAGE_CACHE_T2] + b[IMAGE_CACHE_B1] + b[IMAGE_CACHE_B2] >
               2 * c->o.capacity)
        forget_last(c, IMAGE_CACHE_B2);
    while (n[IMAGE_CACHE_B1] + n[IMAGE_CACHE_B2] > c->o.ghosts_max)
        forget_last(c, n[IMAGE_CACHE_B1] > n[IMAGE_CACHE_B2] ? IMAGE_CACHE_B1 : IMAGE_CACHE_B2);
}

/* ---- requests ---- */

static bool is_too_large(const struct image_cache *c, uint64_t size)
{
    return size > c->o.capacity / 100 * c->o.bypass_percent +
                      c->o.capacity % 100 * c->o.bypass_percent / 100;
}

static void on_hit(struct image_cache *c, struct image_cache_entry *e, uint64_t deploy)
{
    enum image_cache_list list = c->o.policy == IMAGE_CACHE_ARC ? IMAGE_CACHE_T2 : IMAGE_CACHE_T1;
    if (e->where == IMAGE_CACHE_DEAD && is_too_large(c, e->size))
        list = IMAGE_CACHE_DEAD;
    if (!e->prefetched && deploy && e->last_deploy == deploy) {
        image_cache_put_recent(c, e, e->where);
        image_cache_emit(c, IMAGE_CACHE_REFRESH, e);
        return;
    }
    if (e->prefetched) {
        count(&c->stats.prefetch_used, e->size);
        if (!e->was_ghost)
            list = IMAGE_CACHE_T1;
        e->prefetched = false;
    }
    e->last_deploy = deploy;
    e->uses += e->uses < UINT32_MAX;
    image_cache_put_recent(c, e, list);
    image_cache_emit(c, IMAGE_CACHE_HIT, e);
}

/* How much the target moves for one byte of this layer. */
static double weight_of(struct image_cache *c, const struct image_cache_request *r)
{
    if (!c->o.by_refetch || r->refetch_s <= 0 || r->size == 0)
        return 1;
    c->refetch_s += r->refetch_s;
    c->refetch_bytes += (double)r->size;
    double mean = c->refetch_s / c->refetch_bytes;
    return fmin(fmax(r->refetch_s / (double)r->size / mean, 0.25), 4);
}

static void adapt(struct image_cache *c, enum image_cache_list ghost,
                  const struct image_cache_request *r)
{
    double step = (double)r->size * weight_of(c, r), limit = (double)c->o.capacity;
    double b1 = (double)c->bytes[IMAGE_CACHE_B1], b2 = (double)c->bytes[IMAGE_CACHE_B2];
    if (ghost == IMAGE_CACHE_B1)
        c->target = fmin(limit, c->target + step * (b1 > 0 ? fmax(1, b2 / b1) : 1));
    else if (ghost == IMAGE_CACHE_B2)
        c->target = fmax(0, c->target - step * (b2 > 0 ? fmax(1, b1 / b2) : 1));
}

void image_cache_expect(struct image_cache *c, const uint8_t *key)
{
    struct image_cache_entry *e = image_cache_find(c, key);
    assert(c->o.caller_evicts);
    if (!e || image_cache_is_resident(e) || e->is_expected)
        return;
    adapt(c, e->where, &(struct image_cache_request){ .key = key, .size = e->size });
    e->is_expected = true;
}

/* Make it resident. e: NULL, or its existing record. */
static void insert(struct image_cache *c, struct image_cache_entry *e,
                   const struct image_cache_request *r, enum image_cache_list list,
                   enum image_cache_op op)
{
    if (!e)
        e = image_cache_add(c, r->key, r->size);
    image_cache_detach(c, e);
    e->size = r->size;
    e->last_deploy = r->deploy;
    e->uses = 1;
    e->is_expected = false;
    image_cache_put_recent(c, e, list);
    image_cache_emit(c, op, e);
    image_cache_trim_ghosts(c);
}

static enum image_cache_result on_miss(struct image_cache *c, struct image_cache_entry *e,
                                       const struct image_cache_request *r)
{
    enum image_cache_list ghost = e ? e->where : IMAGE_CACHE_NONE;
    if (is_too_large(c, r->size)) {
        count(&c->stats.bypassed, r->size);
        if (c->o.caller_evicts)
            insert(c, e, r, IMAGE_CACHE_DEAD, IMAGE_CACHE_DEMOTE);
        return IMAGE_CACHE_IS_BYPASSED;
    }
    if (!c->o.caller_evicts && !may_fit(c, r->size)) {
        count(&c->stats.refused, r->size); /* before the target moves: no event would record it */
        return IMAGE_CACHE_IS_REFUSED;
    }
    if (!e || !e->is_expected)
        adapt(c, ghost, r);
    (void)image_cache_make_room(c, r->size, ghost == IMAGE_CACHE_B2);
    insert(c, e, r, ghost == IMAGE_CACHE_NONE ? IMAGE_CACHE_T1 : IMAGE_CACHE_T2,
           IMAGE_CACHE_INSERT);
    return IMAGE_CACHE_IS_STORED;
}

enum image_cache_result image_cache_access(struct image_cache *c,
                                           const struct image_cache_request *r)
{
    struct image_cache_entry *e = image_cache_find(c, r->key);
    if (image_cache_is_resident(e)) {
        count(&c->stats.local, e->size);
        on_hit(c, e, r->deploy);
        image_cache_trim_ghosts(c); /* layers that were dead count again */
        return IMAGE_CACHE_IS_HIT;
    }
    count(r->at_peer ? &c->stats.edge : &c->stats.miss, r->size);
    return on_miss(c, e, r);
}

bool image_cache_touch(struct image_cache *c, const uint8_t *key)
{
    struct image_cache_entry *e = image_cache_find(c, key);
    if (!image_cache_is_resident(e))
        return false;
    image_cache_put_recent(c, e, e->where);
    image_cache_emit(c, IMAGE_CACHE_REFRESH, e);
    return true;
}

bool image_cache_is_prefetched(const struct image_cache *c, const uint8_t *key)
{
    const struct image_cache_entry *e = image_cache_find((struct image_cache *)c, key);
    return image_cache_is_resident(e) && e->prefetched;
}

bool image_cache_prefetch(struct image_cache *c, const uint8_t *key, uint64_t size,
                          bool (*may_evict)(void *arg, const uint8_t *key, uint64_t size),
                          void *arg)
{
    struct image_cache_entry *e = image_cache_find(c, key);
    if (image_cache_is_resident(e) || is_too_large(c, size))
        return false;
    bool ok = true;
    if (!c->o.caller_evicts) {
        ok = plan_room(c, size, false);
        for (size_t i = 0; ok && may_evict && i < c->victims.n; i++)
            ok = may_evict(arg, c->victims.p[i]->key, c->victims.p[i]->size);
        end_plan(c, ok);
    }
    if (!ok)
        return false;
    bool was_ghost = e && e->where != IMAGE_CACHE_NONE;
    if (!e)
        e = image_cache_add(c, key, size);
    image_cache_detach(c, e);
    e->size = size;
    e->last_deploy = 0;
    e->uses = 0;
    e->prefetched = true;
    e->was_ghost = was_ghost;
    count(&c->stats.prefetched, size);
    image_cache_put_last(c, e, IMAGE_CACHE_T1);
    image_cache_emit(c, IMAGE_CACHE_PREFETCH, e);
    image_cache_trim_ghosts(c);
    return true;
}

bool image_cache_pin(struct image_cache *c, const uint8_t *key)
{
    struct image_cache_entry *e = image_cache_find(c, key);
    if (!image_cache_is_resident(e))
        return false;
    if (e->pins++ == 0)
        c->pinned += e->size;
    return true;
}

void image_cache_unpin(struct image_cache *c, const uint8_t *key)
{
    struct image_cache_entry *e = image_cache_find(c, key);
    assert(e && e->pins > 0);
    if (--e->pins > 0)
        return;
    if (image_cache_is_resident(e))
        c->pinned -= e->size;
    else
        image_cache_drop(c, e);
}

bool image_cache_demote(struct image_cache *c, const uint8_t *key)
{
    struct image_cache_entry *e = image_cache_find(c, key);
    if (!image_cache_is_resident(e))
        return false;
    image_cache_put_recent(c, e, IMAGE_CACHE_DEAD);
    image_cache_emit(c, IMAGE_CACHE_DEMOTE, e);
    return true;
}

bool image_cache_remove(struct image_cache *c, const uint8_t *key)
{
    struct image_cache_entry *e = image_cache_find(c, key);
    if (!e || e->where == IMAGE_CACHE_NONE)
        return false;
    if (e->prefetched)
        count(&c->stats.prefetch_wasted, e->size);
    e->prefetched = false;
    if (e->pins) { /* the pins stay, in case the layer is added again */
        image_cache_put_recent(c, e, IMAGE_CACHE_NONE);
        image_cache_emit(c, IMAGE_CACHE_REMOVE, e);
    } else {
        image_cache_drop_with_event(c, e, IMAGE_CACHE_REMOVE);
    }
    return true;
}

/* ---- lists ---- */

bool image_cache_has(const struct image_cache *c, const uint8_t *key)
{
    return image_cache_is_resident(image_cache_find(c, key));
}

enum image_cache_list image_cache_where(const struct image_cache *c, const uint8_t *key)
{
    const struct image_cache_entry *e = image_cache_find(c, key);
    return e ? e->where : IMAGE_CACHE_NONE;
}

uint64_t image_cache_capacity(const struct image_cache *c)
{
    return c->o.capacity;
}

uint64_t image_cache_used(const struct image_cache *c)
{
    return c->bytes[IMAGE_CACHE_T1] + c->bytes[IMAGE_CACHE_T2] + c->bytes[IMAGE_CACHE_DEAD];
}

uint64_t image_cache_pinned(const struct image_cache *c)
{
    return c->pinned;
}

double image_cache_target(const struct image_cache *c)
{
    return c->target;
}

const struct image_cache_stats *image_cache_stats(const struct image_cache *c)
{
    return &c->stats;
}

uint64_t image_cache_bytes(const struct image_cache *c, enum image_cache_list list)
{
    return c->bytes[list];
}

size_t image_cache_count(const struct image_cache *c, enum image_cache_list list)
{
    return c->n[list];
}

void image_cache_each(const struct image_cache *c, enum image_cache_list list,
                      bool (*visit)(void *arg, const uint8_t *key, uint64_t size), void *arg)
{
    const struct list *head = &c->lists[list];
    for (const struct list *at = head->prev; at != head; at = at->prev) {
        const struct image_cache_entry *e =
            list_entry((struct list *)at, struct image_cache_entry, link);
        if (!visit(arg, e->key, e->size))
            return;
    }
}

/* ---- life ---- */

struct image_cache *image_cache_new(const struct image_cache_options *o)
{
    struct image_cache *c = xnew(struct image_cache);
    assert(o->capacity <= IMAGE_CACHE_SIZE_MAX);
    c->o = *o;
    if (!c->o.bypass_percent)
        c->o.bypass_percent = IMAGE_CACHE_BYPASS_PERCENT;
    if (!c->o.ghosts_max)
        c->o.ghosts_max = IMAGE_CACHE_GHOSTS_MAX;
    c->entries.borrows_keys = true;
    for (size_t i = 0; i < IMAGE_CACHE_LISTS; i++)
        list_init(&c->lists[i]);
    return c;
}

static void clear(struct image_cache *c)
{
    for (size_t i = 0; i < IMAGE_CACHE_LISTS; i++)
        while (!list_is_empty(&c->lists[i]))
            image_cache_drop(c, list_first(&c->lists[i], struct image_cache_entry, link));
}

void image_cache_free(struct image_cache *c)
{
    if (!c)
        return;
    clear(c);
    map_fini(&c->entries);
    vec_fini(&c->victims);
    free(c);
}

void image_cache_reset(struct image_cache *c)
{
    assert(c->pinned == 0);
    clear(c);
    c->target = (double)c->o.capacity / 2;
}
