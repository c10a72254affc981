/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a cache should fetch before it is asked for: how often each layer is requested in each zone,
 * decaying with a half-life, and from that the layers that save a node the most seconds for each
 * byte. Pure; layers and zones are numbers of the caller's. One thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    IMAGE_PREFETCH_HALF_LIFE_MS = 6 * 3600 * 1000,
    IMAGE_PREFETCH_PERIOD_MS = 5 * 60 * 1000,
    IMAGE_PREFETCH_BUDGET_PERCENT = 10, /* of a cache: prefetched and not used yet */
    IMAGE_PREFETCH_LINK_PART = 4,       /* a fourth of the link */
    IMAGE_PREFETCH_JUDGE_MS = 24 * 3600 * 1000,
    IMAGE_PREFETCH_USE_PERCENT = 50, /* less in a day, and it pauses for the next */
};

/*
 * Requests per hour in a zone below which a layer is left alone. Without this, bytes over the wide
 * link grow by a sixth to two thirds on drawn traces and 90 % of what is prefetched is never used
 * (docs/internals/image.md).
 */
#define IMAGE_PREFETCH_RATE_MIN 1.0

/* ---- demand ---- */

struct image_demand;
struct image_demand *image_demand_new(uint32_t n_layers, uint32_t n_zones);
void image_demand_free(struct image_demand *d);
/* Times never go back. */
void image_demand_add(struct image_demand *d, uint32_t zone, uint32_t layer, uint64_t now_ms);
/* It was not requested. */
void image_demand_forget(struct image_demand *d, uint32_t zone, uint32_t layer);
/* Requests per hour lately. */
double image_demand_rate(const struct image_demand *d, uint32_t zone, uint32_t layer,
                         uint64_t now_ms);

/* ---- what a node should fetch ---- */

struct image_prefetch_layer {
    uint32_t layer;
    uint64_t size;
    double saving; /* seconds per hour: rate times the time to fetch it again */
};
/* Seconds saved per hour and byte; what is compared. */
static inline double image_prefetch_density(const struct image_prefetch_layer *l)
{
    return l->size ? l->saving / (double)l->size : 0;
}
/*
 * Bring those that fit into `budget` bytes together to the front, the densest first, and return
 * their number. Reorders all of them.
 */
size_t image_prefetch_choose(struct image_prefetch_layer *layers, size_t n, uint64_t budget);

/* Whether prefetching continues; reviewed once a day by how much of it was used. Zeroed: it does.
 */
struct image_prefetch_review {
    uint64_t since_ms, used, wasted; /* bytes, at the beginning of this day */
    bool is_off;
};
/* used, wasted: bytes so far, ever. */
bool image_prefetch_is_on(struct image_prefetch_review *j, uint64_t now_ms, uint64_t used,
                          uint64_t wasted);
