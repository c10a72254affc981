/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replays a trace of requests for images against the caches of a cluster, in virtual time: a layer
 * is found on the node or at a peer, or is fetched from the registry. The code of the nodes decides
 * about replacement and prefetch. The same trace, options and seed give the same result. Pure; one
 * thread at a time.
 *
 * Node i belongs to site i modulo the number of sites (or of nodes, if there are fewer). A request
 * runs on a node of its site. All nodes are peers of each other; of the nodes that hold a layer,
 * the one with the fastest link sends it. The layers of a request are pinned for hold_ms; caches
 * have them at once.
 *
 * A deployment waits for its layers as follows: two round trips to the farthest source, then one
 * layer after the other at the full rate of the links (between nodes, the rate of the slower one).
 * enum image_replay_start has other rules.
 */
#pragma once

#include "image/cache.h"
#include "lab/image/trace.h"

enum image_replay_place { /* of the nodes of the site with a free slot; ties in turns */
                          IMAGE_REPLAY_RANDOM,
                          IMAGE_REPLAY_TURN,      /* the next */
                          IMAGE_REPLAY_LOCALITY,  /* the one that holds most of the image */
                          IMAGE_REPLAY_NETMARKS,  /* the one with the fastest link */
                          IMAGE_REPLAY_PREDICTED, /* the one where the deployment waits least */
                          IMAGE_REPLAY_PLACES
};
/* "random", "turn", ...; static storage. */
const char *image_replay_place_name(enum image_replay_place p);
/* IMAGE_REPLAY_PLACES: there is no place of that name. */
enum image_replay_place image_replay_place_of(struct str name);

enum image_replay_start {
    IMAGE_REPLAY_WHOLE, /* a deployment waits for its layers */
    /*
     * It waits for the trees of the layers and the files that the start reads, in four round trips
     * to the farthest source: connection, trees, list of files, files. The rest of the layers
     * follows; caches and links account for all bytes.
     */
    IMAGE_REPLAY_REST,
    /*
     * As in Gear: it waits for the index of the image from the registry, then for files by digest,
     * `batch` of them in a round trip, one source after the other. A file that no start reads is
     * never fetched. Caches keep indexes, and of a layer the files that starts read, as one item.
     */
    IMAGE_REPLAY_FILES,
    IMAGE_REPLAY_STARTS
};
/* "whole", "rest", "files"; static storage. */
const char *image_replay_start_name(enum image_replay_start s);
/* IMAGE_REPLAY_STARTS: there is no start of that name. */
enum image_replay_start image_replay_start_of(struct str name);

struct image_replay_files {
    double read;          /* part of each layer's bytes that a start reads */
    double common;        /* part of these that is also in the layer of the other version */
    uint64_t file_bytes;  /* mean, compressed */
    uint64_t index_bytes; /* for each file of an image: name, attributes, digest */
    uint64_t batch;       /* files in a round trip; 0: all */
};

enum {
    IMAGE_REPLAY_NODES_MAX = 1000,
    IMAGE_REPLAY_RTT_MAX_MS = 60000,
    IMAGE_REPLAY_INDEX_MAX_BYTES = 4096
};

struct image_replay_options {
    struct image_cache_options cache; /* of a node; capacity is the mean; no callbacks */
    uint32_t n_nodes;
    bool drawn_sizes;   /* capacities of 0.5 to 1.5 times the mean, with the same sum */
    bool drawn_rates;   /* the same for links; both links of a node have the same factor */
    bool cluster_aware; /* option `holders` of the caches */
    bool prefetch;
    bool no_peers; /* all missing layers come from the registry */
    enum image_replay_place place;
    enum image_replay_start start;
    struct image_replay_files files; /* unused if starts wait for whole layers */
    uint32_t slots; /* concurrent deployments of a node, each for run_ms; 0: no limit */
    uint64_t run_ms, hold_ms, seed;
    uint64_t registry_bps, peer_bps; /* rates of a node: from the registry, from a peer */
    uint64_t registry_rtt_ms, peer_rtt_ms;
};
void image_replay_options_default(struct image_replay_options *o);

struct image_replay_result {
    struct image_cache_stats sum;    /* over nodes */
    uint64_t deployments, all_local; /* all_local: without a fetch */
    uint64_t crowded;                /* placed although no node of the site had a slot */
    uint64_t wan_bytes;              /* from the registry, prefetches included */
    uint64_t prefetch_wan_bytes;     /* of these */
    double fetch_s, fetch_median_s, fetch_p95_s; /* over deployments */
    uint64_t capacity_min, capacity_max;
    double rate_min, rate_max; /* of links, as factors of the rates in the options */
};
/* Errors: E_INVALID: an option is out of range. */
int image_replay_run(const struct image_trace *t, const struct image_replay_options *o,
                     struct image_replay_result *ret, struct err *err);
