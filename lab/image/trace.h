/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests for images, recorded or drawn: time, image and site of each request, and the layers of
 * each image. replay.h replays them against a cluster. Pure except image_trace_load(); one thread
 * at a time.
 */
#pragma once

#include "base/err.h"
#include "base/vec.h"
#include "codec/digest.h"

enum {
    IMAGE_TRACE_IMAGES_MAX = 100000,
    IMAGE_TRACE_LAYERS_MAX = 1000000, /* distinct layers */
    IMAGE_TRACE_IMAGE_LAYERS_MAX = 1024,
    IMAGE_TRACE_REQUESTS_MAX = 10000000,
    IMAGE_TRACE_SITES_MAX = 64,
    IMAGE_TRACE_FILE_MAX_BYTES = 1 << 29,
};
#define IMAGE_TRACE_LAYER_MAX_BYTES ((uint64_t)1 << 40)

struct image_trace_layer {
    uint8_t key[SHA256_BYTES]; /* of its name */
    uint64_t size;             /* compressed */
    uint32_t version_of;       /* 1 + number of the layer in the image's other version; 0: none */
};
struct image_trace_image {
    uint32_t first, n; /* in refs */
};
struct image_trace_request {
    uint64_t at_ms; /* from the beginning of the trace */
    uint32_t image, site;
};
struct image_trace {
    VEC(struct image_trace_layer) layers;
    VEC(struct image_trace_image) images;
    VEC(uint32_t) refs; /* layers of images, the lowest first; distinct within an image */
    VEC(struct image_trace_request) requests; /* sorted by time */
    uint32_t n_sites;
};
/* Zeroed is fine. */
void image_trace_fini(struct image_trace *t);
void image_trace_fini_scoped(struct image_trace *t);

/*
 * Read the rows of a file (RFC 4180), in any order; a row that begins with '#' is ignored:
 *
 *     layer,IMAGE,LAYER,BYTES            a layer of an image, the lowest first
 *     request,MILLISECONDS,IMAGE[,SITE]  SITE from 0 on; default 0
 *
 * Errors: E_PARSE, with the line; E_LIMIT. After an error, ret is empty.
 */
int image_trace_read(struct str text, struct image_trace *ret, struct err *err);
/* The same for a file of at most IMAGE_TRACE_FILE_MAX_BYTES. */
int image_trace_load(const char *path, struct image_trace *ret, struct err *err);

/*
 * Draw a trace: Zipf over images, favourites that change from day to day and are partly common to
 * all sites, bursts of one image, and images that share base and runtime layers.
 */
struct image_trace_draw {
    uint64_t seed;
    uint32_t images, sites, days;
    uint32_t requests_per_day; /* of a site, bursts included */
    double zipf;               /* exponent */
    double overlap;            /* of favourites, between two sites: 0 to 1 */
    double drift;              /* part of the ranks that change in a day: 0 to 1 */
    double burst;              /* probability that a request starts a burst */
    uint32_t burst_mean;       /* further requests of a burst, within IMAGE_TRACE_BURST_MS */
};
enum { IMAGE_TRACE_BURST_MS = 30000 };
void image_trace_draw_default(struct image_trace_draw *d);
/* Errors: E_INVALID: an option is outside of the limits above. */
int image_trace_draw(const struct image_trace_draw *d, struct image_trace *ret, struct err *err);

/* Sort requests by time, site and image. */
void image_trace_sort(struct image_trace *t);
/* Bytes of all distinct layers. */
uint64_t image_trace_bytes(const struct image_trace *t);
