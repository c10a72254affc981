/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace of requests for images against the caches of a cluster, in virtual time: what is found on
 * the node, at a peer, or fetched over the wide link. Replacement and prefetch are decided by the
 * code that nodes run. Same trace, options and seed: same result. Pure; one thread at a time.
 *
 * Node i belongs to site i modulo the number of sites (or of nodes, where there are fewer). A
 * request runs on a node of its site. All nodes are peers of each other; of those that hold a layer
 * the one with the fastest link sends it. The layers of a request are pinned for hold_ms; caches
 * have them at once.
 *
 * The time that a deployment waits for its layers: they are transferred one after the other at the
 * full rate of the links, between nodes at that of the slower one, after two round trips to the
 * farthest source, or as enum image_replay_start says.
 */
#pragma once

#include "image/cache.h"
#include "image/trace.h"

enum image_replay_place { /* of the nodes of the site that have a slot; equal ones by turns */
                          IMAGE_REPLAY_RANDOM,
                          IMAGE_REPLAY_TURN,     /* the next */
                          IMAGE_REPLAY_LOCALITY, /* the one that holds most of the image */
                          IMAGE_REPLAY_NETMARKS, /* the one with the fastest link, whatever it holds
                                                  */
                          IMAGE_REPLAY_PREDICTED, /* the one where the deployment waits least */
                          IMAGE_REPLAY_PLACES
};
/* "random" and so on; static storage. */
const char *image_replay_place_name(enum image_replay_place p);
/* IMAGE_REPLAY_PLACES: there is none of that name. */
enum image_replay_place image_replay_place_of(struct str name);

enum image_replay_start {
    IMAGE_REPLAY_WHOLE, /* a deployment waits for its layers */
    /*
     * It waits for the trees of the layers and what the start reads, in four round trips to the
     * farthest source: a connection, the trees, the list of files, the files. The rest of the
     * layers follows; caches and links are charged with all of them.
     */
    IMAGE_REPLAY_REST,
    /*
     * As Gear does: the index of the image from the registry, then files by digest, `batch` of them
     * in a round trip, one source after the other. What is not read is never fetched. Caches keep
     * indexes, and instead of a layer the files of it that are read, as one.
     */
    IMAGE_REPLAY_FILES,
    IMAGE_REPLAY_STARTS
};
/* "whole", "rest", "files"; static storage. */
const char *image_replay_start_name(enum image_replay_start s);
/* IMAGE_REPLAY_STARTS: there is none of that name. */
enum image_replay_start image_replay_start_of(struct str name);

struct image_replay_files {
    double read;   /* part of each layer's bytes that a start reads */
    double common; /* part of these that the other version's layer has: files of equal digests */
    uint64_t file_bytes;  /* compressed, in the mean */
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
    bool
        drawn_sizes; /* capacities between half and one and a half of the mean, with the same sum */
    bool drawn_rates;   /* links likewise, both of a node by the same factor */
    bool cluster_aware; /* option `holders` of the caches */
    bool prefetch;
    bool no_peers; /* all that is missing comes from the registry */
    enum image_replay_place place;
    enum image_replay_start start;
    struct image_replay_files files; /* unless starts wait for whole layers */
    uint32_t slots; /* deployments that run on a node at a time, each for run_ms; 0: any number */
    uint64_t run_ms, hold_ms, seed;
    uint64_t registry_bps, peer_bps; /* rates of a node: from the registry, from a peer */
    uint64_t registry_rtt_ms, peer_rtt_ms;
};
void image_replay_options_default(struct image_replay_options *o);

struct image_replay_result {
    struct image_cache_stats sum;    /* over nodes */
    uint64_t deployments, all_local; /* all_local: nothing had to be fetched */
    uint64_t crowded;                /* no node of the site had a slot: placed as if all had */
    uint64_t wan_bytes;              /* from the registry, prefetches included */
    uint64_t prefetch_wan_bytes;     /* of these */
    double fetch_s, fetch_median_s, fetch_p95_s; /* over deployments */
    uint64_t capacity_min, capacity_max;
    double rate_min, rate_max; /* of links, times the rates of the options */
};
/* Errors: E_INVALID options out of range. */
int image_replay_run(const struct image_trace *t, const struct image_replay_options *o,
                     struct image_replay_result *ret, struct err *err);
