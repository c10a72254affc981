/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the layer cache, only for cache*.c. */
#pragma once

#include "base/list.h"
#include "base/map.h"
#include "base/vec.h"
#include "image/cache.h"

struct image_cache_entry {
    struct list link; /* of its list: the first is the most recent */
    uint8_t key[SHA256_BYTES];
    uint64_t size, last_deploy;
    uint32_t pins;
    uint32_t uses; /* LFU */
    enum image_cache_list where;
    bool prefetched;  /* and not requested since */
    bool was_ghost;   /* when it was prefetched */
    bool is_victim;   /* of the eviction that is being planned */
    bool is_expected; /* a ghost for which the target has moved already */
};

struct image_cache {
    struct image_cache_options o;
    struct map entries; /* key -> struct image_cache_entry, residents and ghosts */
    struct list lists[IMAGE_CACHE_LISTS];
    uint64_t bytes[IMAGE_CACHE_LISTS];
    size_t n[IMAGE_CACHE_LISTS];
    uint64_t pinned;
    double target;
    double refetch_s, refetch_bytes; /* sums over misses */
    struct image_cache_stats stats;
    VEC(struct image_cache_entry *) victims;
};

struct str image_cache_key(const uint8_t *key);
/* NULL: neither resident nor a ghost. */
struct image_cache_entry *image_cache_find(const struct image_cache *c, const uint8_t *key);
/* false for NULL. */
bool image_cache_is_resident(const struct image_cache_entry *e);
/* On no list yet. */
struct image_cache_entry *image_cache_add(struct image_cache *c, const uint8_t *key, uint64_t size);
/* Remove it from its list, if it is on one; also before its size is changed. */
void image_cache_detach(struct image_cache *c, struct image_cache_entry *e);
/* Insert it as the most recent of a list; with LFU, among those with as many uses. */
void image_cache_put_recent(struct image_cache *c, struct image_cache_entry *e,
                            enum image_cache_list list);
void image_cache_put_last(struct image_cache *c, struct image_cache_entry *e,
                          enum image_cache_list list);
void image_cache_drop(struct image_cache *c, struct image_cache_entry *e);
void image_cache_emit(struct image_cache *c, enum image_cache_op op,
                      const struct image_cache_entry *e);
void image_cache_drop_with_event(struct image_cache *c, struct image_cache_entry *e,
                                 enum image_cache_op op);
/* false: too much is pinned; nothing was evicted. With caller_evicts it does nothing. */
bool image_cache_make_room(struct image_cache *c, uint64_t need, bool in_b2);
void image_cache_trim_ghosts(struct image_cache *c);
