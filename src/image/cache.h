/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which layers a node keeps: ARC-LB, that is ARC (Megiddo and Modha, FAST 2003) counted in bytes,
 * and LRU and LFU beside it for comparison. Pure: keys, sizes and decisions; the caller keeps the
 * bytes. One thread at a time.
 *
 *     T1  resident, asked for once lately        B1  ghosts of what left T1: key and size
 *     T2  resident, asked for at least twice     B2  ghosts of what left T2
 *     dead  resident, no image uses it: the first to be evicted
 *
 * |X| is bytes. With capacity c and target p for T1: |T1| + |T2| + |dead| <= c, 0 <= p <= c,
 * |T1| + |B1| <= c, |T1| + |T2| + |B1| + |B2| <= 2c. LRU and LFU keep everything in T1, ordered,
 * and have no ghosts. With all sizes 1 ARC does what the textbook does, step by step.
 *
 * A pinned layer is never evicted. The same layer several times in one deployment is one reference.
 */
#pragma once

#include "codec/digest.h"

enum image_cache_policy {
    IMAGE_CACHE_ARC,
    IMAGE_CACHE_LRU,
    IMAGE_CACHE_LFU, /* uses since it came in; among equals the least recently used leaves */
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
    IMAGE_CACHE_REFRESH, /* most recent on its list, no reference: a peer's or the same deployment
                          */
    IMAGE_CACHE_PREFETCH,
    IMAGE_CACHE_BURY,   /* to the dead */
    IMAGE_CACHE_EVICT,  /* to make room; its bytes have to be deleted */
    IMAGE_CACHE_FORGET, /* a ghost that is remembered no longer */
    IMAGE_CACHE_REMOVE, /* by image_cache_remove() */
    IMAGE_CACHE_OPS
};
struct image_cache_event {
    enum image_cache_op op;
    enum image_cache_list list;
    uint8_t key[SHA256_BYTES];
    uint64_t size;
    double target; /* p after it */
    uint32_t uses; /* of INSERT, by image_cache_snapshot(): how often it was used; 0: once more */
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
     * Of the four least recent, none that no peer holds while another of them is held by two: asks
     * how many peers hold a layer. NULL: off. With best_fit: among those that remain.
     */
    unsigned (*holders)(void *arg, const uint8_t *key);
    bool by_refetch; /* a layer that is slow to fetch again moves the target further */

    /*
     * For a caller that learns the size of a layer only when it is there, and may fail to delete
     * one: layers leave by image_cache_evict() alone, image_cache_access() takes in what is there
     * already, and the capacity may be exceeded meanwhile. What is too large to be kept is dead.
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
    struct image_cache_count local, edge,
        miss; /* requests: in the cache, at a peer, nowhere near */
    struct image_cache_count evicted, bypassed, refused; /* refused: what is left is pinned */
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
    bool at_peer;     /* it would come from there if it is not here: for the counters */
    double refetch_s; /* for by_refetch */
};
enum image_cache_result {
    IMAGE_CACHE_IS_HIT,
    IMAGE_CACHE_IS_STORED,   /* a miss; it is resident now, and the caller fetches its bytes */
    IMAGE_CACHE_IS_BYPASSED, /* a miss; too large to be kept */
    IMAGE_CACHE_IS_REFUSED,  /* a miss; nothing was evicted, since too much is pinned */
};
/* A deployment asks for a layer. A size that differs from the one known replaces it on a miss. */
enum image_cache_result image_cache_access(struct image_cache *c,
                                           const struct image_cache_request *r);
/*
 * With caller_evicts: a deployment asks for a layer that is not here. If it is a ghost the target
 * moves now, before room is made, and not again when image_cache_access() takes it in.
 */
void image_cache_expect(struct image_cache *c, const uint8_t *key);
/* With caller_evicts: the layer that leaves next, to make room for `need` bytes. false: all that is
 * resident is pinned. Nothing changes. */
bool image_cache_next(const struct image_cache *c, uint64_t need, uint8_t ret_key[SHA256_BYTES],
                      uint64_t *ret_size);
/* With caller_evicts: the bytes of this resident were deleted to make room. */
void image_cache_evict(struct image_cache *c, const uint8_t *key);
/* A peer asks for it: more recent, no more frequent. false: it is not here. */
bool image_cache_touch(struct image_cache *c, const uint8_t *key);

/*
 * Keep a layer that no one has asked for yet: the next to leave T1 unless it is used; its first use
 * is the first reference (the second where it was a ghost). may_evict: NULL, or asked for each
 * layer that would have to leave; one no and nothing happens.
 * With caller_evicts it is here already, and nothing has to leave.
 * Returns false, and changes nothing, for what is known to be here, too large, or has no room.
 */
bool image_cache_prefetch(struct image_cache *c, const uint8_t *key, uint64_t size,
                          bool (*may_evict)(void *arg, const uint8_t *key, uint64_t size),
                          void *arg);

/* It is here, and was not asked for since it was prefetched. */
bool image_cache_is_prefetched(const struct image_cache *c, const uint8_t *key);

/* Counted; false: it is not here. unpin: only what was pinned; a removed layer keeps its pins. */
bool image_cache_pin(struct image_cache *c, const uint8_t *key);
void image_cache_unpin(struct image_cache *c, const uint8_t *key);
/* No image uses it any more; false: it is not here. A later request revives it. */
bool image_cache_bury(struct image_cache *c, const uint8_t *key);
/* It is gone from the disk, pinned or not; forgets a ghost as well. false: unknown. */
bool image_cache_remove(struct image_cache *c, const uint8_t *key);

/* ---- what is there ---- */

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
 * Repeat a recorded event. It may come from a damaged file or from a cache with other options: what
 * makes no sense is passed over. No callback, no counters. Limits may be exceeded until
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
 * What the disk holds is the truth: forget residents that were not found, and take the others into
 * T1, the oldest as the least recent; sorts `found`. Then evict until the capacity holds, unless
 * the caller evicts.
 */
void image_cache_settle(struct image_cache *c, struct image_cache_found *found, size_t n);
/* Empty; the target is half the capacity. For a journal that is lost. Nothing may be pinned. */
void image_cache_reset(struct image_cache *c);
