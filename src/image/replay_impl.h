/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a replay, for the files replay*.c alone. */
#pragma once

#include "base/map.h"
#include "base/random.h"
#include "image/prefetch.h"
#include "image/replay.h"

struct image_replay_node {
    struct image_cache *cache;
    uint32_t zone, n_running;
    double rate; /* of its links, times the rates of the options */
    uint64_t busy_until_ms;
    struct image_prefetch_review judge;
};

struct image_replay_hold { /* something that a deployment has on a node, until then */
    uint64_t until_ms;
    uint32_t node, layer;
};
struct image_replay_holds { /* a queue: all are held equally long */
    VEC(struct image_replay_hold) all;
    size_t n_over;
};

struct image_replay_part { /* what a deployment waits for of a layer */
    uint64_t bytes, n_files;
    bool is_index;
};

struct image_replay {
    const struct image_trace *t;     /* of `files`, where starts read files */
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

/* What a deployment waits for, layer by layer. Zeroed is nothing. */
struct image_replay_wait {
    double sending_s;
    bool of_registry, of_peer, of_index; /* it waits for them */
    uint64_t files_of_registry, files_of_peers;
};

const uint8_t *image_replay_key(const struct image_replay *r, uint32_t layer);
/* The fastest peer of the node that holds the layer, the next one among equals; -1: there is none.
 */
int64_t image_replay_peer(const struct image_replay *r, uint32_t node, uint32_t layer);
/* Seconds for the bytes from there (-1: from the registry), without round trips. */
double image_replay_send_s(const struct image_replay *r, uint32_t node, int64_t peer,
                           uint64_t bytes);
/* The layer has to come from there. */
void image_replay_wait_for(const struct image_replay *r, uint32_t node, int64_t peer,
                           uint32_t layer, struct image_replay_wait *w);
double image_replay_wait_s(const struct image_replay *r, const struct image_replay_wait *w);

/*
 * What deployments wait for; given: free(). With IMAGE_REPLAY_FILES `ret` is a trace of indexes and
 * files that replaces `t`, given: image_trace_fini(); else unchanged.
 */
struct image_replay_part *image_replay_parts(const struct image_trace *t,
                                             const struct image_replay_options *o,
                                             struct image_trace *ret);

void image_replay_draw_rates(struct image_replay *r);
/* The node of a request. */
uint32_t image_replay_place(struct image_replay *r, const struct image_trace_request *q);
