/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which layers idle nodes should have before they are asked for: how often pods of each zone asked
 * for each layer (image/prefetch.h), and from that the layers of one image that save a node the
 * most seconds for each byte. Pure. One thread.
 */
#pragma once

#include "node/image_states.h"

enum {
    PREFETCHER_LAYERS_MAX = 4096, /* then the one that was asked for longest ago is forgotten */
    PREFETCHER_ZONES_MAX = 16,    /* further zones count as the last one */
    PREFETCHER_NODES_MAX = 10000, /* whose zone is known; others are in the first one */
    PREFETCHER_CANDIDATES = 256,  /* layers that are looked at, those asked for most often */
};

struct prefetcher;
struct prefetcher *prefetcher_new(void);
void prefetcher_free(struct prefetcher *p);

/* A pod of the zone (any bytes, "" unknown) asks for the image on the node. Times never go back. */
void prefetcher_note(struct prefetcher *p, struct str zone, struct str node, struct str reference,
                     const struct oci_lookup_image *image, uint64_t now_ms);

/*
 * Look at what nodes hold now, for prefetcher_choose() until the next note. false: nothing is asked
 * for often enough anywhere.
 */
bool prefetcher_look(struct prefetcher *p, const struct image_states *states, uint64_t now_ms,
                     int64_t wall_ms);
/*
 * The layers that the node should fetch, as an image that has them alone; in the arena but for
 * *ret_reference, which is borrowed until the next note. false: none, or the node does not tell
 * enough, or has no room.
 */
bool prefetcher_choose(struct prefetcher *p, const struct image_states *states, struct str node,
                       struct arena *a, struct str *ret_reference, struct oci_lookup_image *ret);
