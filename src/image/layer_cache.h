/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layers of a node store (oci/store.h) as a cache: its policy (image/cache.h) decides which
 * layers are evicted when a pull or deployment needs more space than the quota leaves.
 *
 * References are pulls, deployments and mounts: each counts a layer once. A layer that a pinned
 * image, a lease or a hold needs is never evicted; layers that no image in the store uses are
 * evicted first. The state of the policy is in the journal "cache" in the store's directory
 * (image/cache_journal.h), written after each change, so it survives a crash of the process. The
 * directory is the truth: the journal is compared with it at each opening.
 *
 * Any thread; no other code may evict layers.
 */
#pragma once

#include "image/cache.h"
#include "oci/store.h"

#define LAYER_CACHE_JOURNAL "cache" /* in the store's directory */

/*
 * oci_store_open() with such a cache; a store that is opened for reading gets none. opts->cache is
 * ignored. Errors: those of oci_store_open(), of reading the journal.
 */
int layer_cache_open_store(const struct oci_store_opts *opts, enum image_cache_policy policy,
                           struct oci_store **ret, struct err *err);

/*
 * Other processes will read a blob, or the tar of a layer: its layer becomes more recent and is
 * held (oci_store_hold()) until the caller releases *ret. false: it is no layer of a store with a
 * cache.
 */
bool layer_cache_serve(struct oci_store *s, const struct oci_digest *digest,
                       struct oci_digest *ret);

/* No watched image has this layer, or the layer of this blob, any more: it is evicted next, unless
 * it is pinned or used. false: the store does not have it, or has no cache. */
bool layer_cache_demote(struct oci_store *s, const struct oci_digest *digest);

struct layer_cache_row {
    struct oci_digest diff_id;
    uint64_t n_bytes;           /* on disk */
    enum image_cache_list list; /* T1, T2 or DEAD */
    uint32_t n_images;          /* names of images that have it */
    bool is_pinned;
};
/*
 * All layers, in the order in which this policy would evict them, the protected ones last; also of
 * a store that is opened for reading. *ret: given, free(). Errors: those of oci_store_layers(), of
 * reading the journal.
 */
int layer_cache_list(struct oci_store *s, enum image_cache_policy policy,
                     struct layer_cache_row **ret, size_t *ret_n, struct err *err);

/* Remove layers from the cache that were removed from the store (gc). Errors: of listing layers. */
int layer_cache_settle(struct oci_store *s, struct err *err);

/*
 * Set whether the imports of this thread are prefetches. A prefetched layer counts as a reference
 * when it is used, is the next to be evicted until then, and only takes space that is free or held
 * by layers that no image uses.
 */
void layer_cache_prefetches(bool is_on);

struct layer_cache_summary {
    enum image_cache_policy policy;
    uint64_t capacity; /* bytes; 0: no quota */
    struct image_cache_count lists[IMAGE_CACHE_LISTS];
    double target;                  /* of T1, in bytes */
    struct image_cache_stats stats; /* since the store was opened */
};
/* false: the store has no cache. */
bool layer_cache_summary(struct oci_store *s, struct layer_cache_summary *ret);
