/* SPDX-License-Identifier: Apache-2.0 */
/* What the files replay*.c share. */
#pragma once

#include "base/map.h"
#include "base/random.h"
#include "image/prefetch.h"
#include "lab/image/replay.h"

struct image_replay_node {
    struct image_cache *cache;
    uint32_t zone, n_running;
    double rate; /* of its links, as a factor of the rates in the options */
    uint64_t busy_until_ms;
    struct image_prefetch_review judge;
};

struct image_replay_hold { /* a pin or a slot of a deployment on a node, until until_ms */
    uint64_t until_ms;
    uint32_t node, layer;
};
struct image_replay_holds { /* a queue, since all are held equally long */
    VEC(struct image_replay_hold) all;
    size_t n_over;
};

struct image_replay_part { /* the part of a layer that a deployment waits for */
    uint64_t bytes, n_files;
    bool is_index;
};

struct image_replay {
    const struct image_trace *t;     /* the trace of image_replay_parts(), if starts read files */
    struct image_replay_part *parts; /* of its layers */
    const struct image_replay_options *o;
    struct image_replay_node *nodes;
    uint32_t n_zones, turn;
    struct rng rng;
    struct image_replay_holds pins, running;
    struct image_demand *demand;
    struct map layer_ids; /* key -> number + 1 */
    struct image_prefetch_layer *wanted;
    uint64_t prefetch_at_ms, now_ms;
    double *fetch_s; /* of each deployment */
    struct image_replay_result result;
};

/* The work that a deployment waits for, summed over layers. Zeroed: none. */
struct image_replay_wait {
    double sending_s;
    bool of_registry, of_peer, of_index; /* it waits for this source */
    uint64_t files_of_registry, files_of_peers;
};

const uint8_t *image_replay_key(const struct image_replay *r, uint32_t layer);
/* The fastest peer of the node that holds the layer, ties in turns; -1: no peer holds it. */
int64_t image_replay_peer(const struct image_replay *r, uint32_t node, uint32_t layer);
/* Seconds for sending the bytes from `peer` (-1: the registry), without round trips. */
double image_replay_send_s(const struct image_replay *r, uint32_t node, int64_t peer,
                           uint64_t bytes);
/* Add the transfer of a layer from `peer` (-1: the registry) to *w. */
void image_replay_wait_for(const struct image_replay *r, uint32_t node, int64_t peer,
                           uint32_t layer, struct image_replay_wait *w);
double image_replay_wait_s(const struct image_replay *r, const struct image_replay_wait *w);

/*
 * The parts of layers that deployments wait for; given, free(). With IMAGE_REPLAY_FILES, ret is the
 * trace of indexes and files that replaces `t`; given, image_trace_fini(). Otherwise ret is not
 * written.
 */
struct image_replay_part *image_replay_parts(const struct image_trace *t,
                                             const struct image_replay_options *o,
                                             struct image_trace *ret);

void image_replay_draw_rates(struct image_replay *r);
/* Choose the node of a request. */
uint32_t image_replay_place(struct image_replay *r, const struct image_trace_request *q);
