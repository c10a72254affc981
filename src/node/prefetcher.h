/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses layers that idle nodes should fetch before a pod needs them. It counts how often pods of
 * each zone need each layer (image/prefetch.h), and chooses those layers of one image that save a
 * node the most seconds per byte. Pure. One thread.
 */
#pragma once

#include "node/image_states.h"

enum {
    PREFETCHER_LAYERS_MAX = 4096, /* beyond it the least recently needed is forgotten */
    PREFETCHER_ZONES_MAX = 16,    /* further zones share the last entry */
    PREFETCHER_NODES_MAX = 10000, /* nodes whose zone is known; others count as the first zone */
    PREFETCHER_CANDIDATES = 256,  /* layers that are considered: the most frequently needed */
};

struct prefetcher;
struct prefetcher *prefetcher_new(void);
void prefetcher_free(struct prefetcher *p);

/*
 * Record that a pod of the zone (any bytes, "": unknown) needs the image on the node. Times must
 * not decrease.
 */
void prefetcher_note(struct prefetcher *p, struct str zone, struct str node, struct str reference,
                     const struct oci_lookup_image *image, uint64_t now_ms);

/*
 * Read what nodes hold now, for calls of prefetcher_choose() until the next note. false: no layer
 * is needed often enough anywhere.
 */
bool prefetcher_look(struct prefetcher *p, const struct image_states *states, uint64_t now_ms,
                     int64_t wall_ms);
/*
 * Choose the layers that the node should fetch: an image with only these layers. Allocated in the
 * arena, except *ret_reference, which is borrowed until the next note. false: none, or the node
 * reports too little, or it has no space.
 */
bool prefetcher_choose(struct prefetcher *p, const struct image_states *states, struct str node,
                       struct arena *a, struct str *ret_reference, struct oci_lookup_image *ret);
