/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which layers a node keeps: ARC-LB, that is ARC (Megiddo and Modha, FAST 2003) counted in
 * bytes, and LRU and LFU for comparison. Pure: keys, sizes and decisions; the caller stores the
 * bytes. One thread at a time.
 *
 *     T1  resident, requested once recently       B1  ghosts of layers that left T1: key and size
 *     T2  resident, requested at least twice      B2  ghosts of layers that left T2
 *     dead  resident, used by no image: the first to be evicted
 *
 * |X| is bytes. With capacity c and target p for T1: |T1| + |T2| + |dead| <= c, 0 <= p <= c,
 * |T1| + |B1| <= c, |T1| + |T2| + |B1| + |B2| <= 2c. LRU and LFU keep everything in T1, ordered,
 * and have no ghosts. With all sizes 1, ARC behaves as published, step by step.
 *
 * A pinned layer is never evicted. The same layer several times in one deployment is one reference.
 */
#pragma once

#include "codec/digest.h"

enum image_cache_policy {
    IMAGE_CACHE_ARC,
    IMAGE_CACHE_LRU,
    IMAGE_CACHE_LFU, /* uses since it was inserted; among equals the least recently used first */
    IMAGE_CACHE_POLICIES
};
/* "arc", "lru", "lfu"; static storage. */
const char *image_cache_policy_name(enum image_cache_policy p);
/* IMAGE_CACHE_POLICIES: there is none of that name. */
enum image_cache_policy image_cache_policy_of(struct str name);

enum image_cache_list {
    IMAGE_CACHE_NONE,
    IMAGE_CACHE_T1,
    IMAGE_CACHE_T2,
    IMAGE_CACHE_DEAD,
    IMAGE_CACHE_B1,
    IMAGE_CACHE_B2,
    IMAGE_CACHE_LISTS
};

/* What happened to a layer. `list`: where it is now. */
enum image_cache_op {
    IMAGE_CACHE_INSERT = 1,
    IMAGE_CACHE_HIT,
    IMAGE_CACHE_REFRESH, /* most recent on its list without a reference: for a peer or the same
                          * deployment */
    IMAGE_CACHE_PREFETCH,
    IMAGE_CACHE_DEMOTE, /* to the dead */
    IMAGE_CACHE_EVICT,  /* to make room; the caller must delete its bytes */
    IMAGE_CACHE_FORGET, /* a ghost was removed */
    IMAGE_CACHE_REMOVE, /* by image_cache_remove() */
    IMAGE_CACHE_OPS
};
struct image_cache_event {
    enum image_cache_op op;
    enum image_cache_list list;
    uint8_t key[SHA256_BYTES];
    uint64_t size;
    double target; /* p after it */
    uint32_t uses; /* of INSERT, from image_cache_snapshot(): number of uses; 0: one more */
};

enum {
    IMAGE_CACHE_GHOSTS_MAX = 4096, /* of both sides together; about 160 bytes each */
    IMAGE_CACHE_BYPASS_PERCENT = 50,
    IMAGE_CACHE_FIT_CANDIDATES = 4,
};
#define IMAGE_CACHE_SIZE_MAX ((uint64_t)1 << 50) /* of a cache and of a layer */

struct image_cache_options {
    enum image_cache_policy policy;
    uint64_t capacity; /* at most IMAGE_CACHE_SIZE_MAX */
    /* Larger layers are not cached: they would evict half of it. 0: IMAGE_CACHE_BYPASS_PERCENT. */
    unsigned bypass_percent;
    size_t ghosts_max; /* 0: IMAGE_CACHE_GHOSTS_MAX */

    /* Variants to measure; off by default. */
    bool best_fit; /* of the four least recent, the smallest that alone frees enough */
    /*
     * Of the four least recent, none that no peer holds while another of them is held by two. The
     * callback returns how many peers hold a layer. NULL: off. With best_fit: among the rest.
     */
    unsigned (*holders)(void *arg, const uint8_t *key);
    bool by_refetch; /* a layer that is slow to fetch moves the target further */

    /*
     * For a caller that learns the size of a layer only after the import, and may fail to delete
     * one: only image_cache_evict() removes layers, image_cache_access() adds stored layers, and
     * the capacity may be exceeded temporarily. A layer that is too large to be kept is dead.
     */
    bool caller_evicts;

    /* Called for each change, in order; must not call the cache. NULL: none. */
    void (*on_event)(void *arg, const struct image_cache_event *e);
    void *arg;
};

struct image_cache_count {
    uint64_t n, bytes;
};
struct image_cache_stats {
    struct image_cache_count local, edge, miss; /* requests: in the cache, at a peer, elsewhere */
    struct image_cache_count evicted, bypassed, refused; /* refused: all the rest is pinned */
    struct image_cache_count prefetched, prefetch_used, prefetch_wasted;
};

struct image_cache;
struct image_cache *image_cache_new(const struct image_cache_options *o);
void image_cache_free(struct image_cache *c);
DEFINE_SCOPED(image_cache, image_cache_free)

struct image_cache_request {
    const uint8_t *key;
    uint64_t size;
    uint64_t deploy;  /* not 0: requests with the same number are one reference */
    bool at_peer;     /* on a miss it would be fetched from a peer: for the counters */
    double refetch_s; /* for by_refetch */
};
enum image_cache_result {
    IMAGE_CACHE_IS_HIT,
    IMAGE_CACHE_IS_STORED,   /* a miss; it is resident now, and the caller must fetch its bytes */
    IMAGE_CACHE_IS_BYPASSED, /* a miss; too large to be kept */
    IMAGE_CACHE_IS_REFUSED,  /* a miss; nothing was evicted, since too much is pinned */
};
/* A deployment requests a layer. On a miss the new size replaces a different known one. */
enum image_cache_result image_cache_access(struct image_cache *c,
                                           const struct image_cache_request *r);
/*
 * With caller_evicts: a deployment requests a layer that is not resident. If it is a ghost the
 * target moves now, before room is made, and not again when image_cache_access() adds it.
 */
void image_cache_expect(struct image_cache *c, const uint8_t *key);
/* With caller_evicts: the next layer to evict, to make room for `need` bytes. false: all residents
 * are pinned. Nothing changes. */
bool image_cache_next(const struct image_cache *c, uint64_t need, uint8_t ret_key[SHA256_BYTES],
                      uint64_t *ret_size);
/* With caller_evicts: the bytes of this resident were deleted to make room. */
void image_cache_evict(struct image_cache *c, const uint8_t *key);
/* A peer requests it: it becomes more recent, not more frequent. false: it is not resident. */
bool image_cache_touch(struct image_cache *c, const uint8_t *key);

/*
 * Add a layer that was not requested yet. It is the next to leave T1 unless it is used; its first
 * use is the first reference (the second if it was a ghost). may_evict: NULL, or called for each
 * layer that would have to be evicted; if it returns false once, nothing happens. With
 * caller_evicts the layer is stored already, and nothing is evicted. Returns false, and changes
 * nothing, for a layer that is resident, too large, or finds no room.
 */
bool image_cache_prefetch(struct image_cache *c, const uint8_t *key, uint64_t size,
                          bool (*may_evict)(void *arg, const uint8_t *key, uint64_t size),
                          void *arg);

/* It is resident, and was not requested since it was prefetched. */
bool image_cache_is_prefetched(const struct image_cache *c, const uint8_t *key);

/* Counted; false: it is not resident. unpin: only after pin; a removed layer keeps its pins. */
bool image_cache_pin(struct image_cache *c, const uint8_t *key);
void image_cache_unpin(struct image_cache *c, const uint8_t *key);
/* No image uses it any more; false: it is not resident. A later request restores it. */
bool image_cache_demote(struct image_cache *c, const uint8_t *key);
/* Its bytes were deleted, pinned or not; removes a ghost as well. false: unknown. */
bool image_cache_remove(struct image_cache *c, const uint8_t *key);

/* ---- state ---- */

bool image_cache_has(const struct image_cache *c, const uint8_t *key); /* resident */
enum image_cache_list image_cache_where(const struct image_cache *c, const uint8_t *key);
uint64_t image_cache_capacity(const struct image_cache *c);
uint64_t image_cache_used(const struct image_cache *c);
uint64_t image_cache_pinned(const struct image_cache *c);
double image_cache_target(const struct image_cache *c);
const struct image_cache_stats *image_cache_stats(const struct image_cache *c);
uint64_t image_cache_bytes(const struct image_cache *c, enum image_cache_list list);
size_t image_cache_count(const struct image_cache *c, enum image_cache_list list);
/* From the least recent on; false stops. `visit` must not change the cache. */
void image_cache_each(const struct image_cache *c, enum image_cache_list list,
                      bool (*visit)(void *arg, const uint8_t *key, uint64_t size), void *arg);

/* ---- after a restart ---- */

/*
 * Apply a recorded event. It may come from a damaged file or from a cache with other options:
 * invalid events are ignored. No callback, no counters. Limits may be exceeded until
 * image_cache_settle().
 */
void image_cache_repeat(struct image_cache *c, const struct image_cache_event *e);

/*
 * The events that make an empty cache equal to this one, by image_cache_repeat(). `visit` must not
 * change the cache.
 */
void image_cache_snapshot(const struct image_cache *c,
                          void (*visit)(void *arg, const struct image_cache_event *e), void *arg);

struct image_cache_found {
    uint8_t key[SHA256_BYTES];
    uint64_t size;
    int64_t mtime_s;
};
/*
 * Align the cache with the disk: remove residents that were not found, and add the others to T1,
 * the oldest as the least recent; sorts `found`. Then evict until the capacity is kept, unless the
 * caller evicts.
 */
void image_cache_settle(struct image_cache *c, struct image_cache_found *found, size_t n);
/* Empty it, with a target of half the capacity. For a lost journal. Nothing may be pinned. */
void image_cache_reset(struct image_cache *c);
