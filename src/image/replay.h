/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace of requests for images against the caches of a cluster, in virtual time: what is found on
 * the node, at a peer, or fetched over the wide link. Replacement and prefetch are decided by the
 * code that nodes run. Same trace, options and seed: same result. Pure; one thread at a time.
 *
 * Node i belongs to site i modulo the number of sites (or of nodes, where there are fewer). A
 * request runs on a node of its site. All nodes are peers of each other. The layers of a request
 * are pinned for hold_ms; a fetch takes no time.
 */
#pragma once

#include "image/cache.h"
#include "image/trace.h"

enum image_replay_place {
    IMAGE_REPLAY_RANDOM,  /* any node of the site */
    IMAGE_REPLAY_TURN,    /* the nodes of the site by turns */
    IMAGE_REPLAY_LOCALITY /* the one that holds most of the image; among equals by turns */
};

enum { IMAGE_REPLAY_NODES_MAX = 1000 };

struct image_replay_options {
    struct image_cache_options cache; /* of a node; capacity is the mean; no callbacks */
    uint32_t n_nodes;
    bool
        drawn_sizes; /* capacities between half and one and a half of the mean, with the same sum */
    bool cluster_aware; /* option `holders` of the caches */
    bool prefetch;
    enum image_replay_place place;
    uint64_t hold_ms, seed;
    uint64_t registry_bps, peer_bps; /* rates of a node: from the registry, from a peer */
};
void image_replay_options_default(struct image_replay_options *o);

struct image_replay_result {
    struct image_cache_stats sum;    /* over nodes */
    uint64_t deployments, all_local; /* all_local: nothing had to be fetched */
    uint64_t wan_bytes;              /* from the registry, prefetches included */
    uint64_t prefetch_wan_bytes;     /* of these */
    double fetch_s;                  /* mean over deployments, at the full rate of the links */
    uint64_t capacity_min, capacity_max;
};
/* Errors: E_INVALID options out of range. */
int image_replay_run(const struct image_trace *t, const struct image_replay_options *o,
                     struct image_replay_result *ret, struct err *err);
