/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report of a node about its images: the text of its NodeImageState (dormouse.dev/v1alpha1;
 * docs/scheduler.md), and the rates in it, averaged over transfers. Pure.
 */
#pragma once

#include "codec/json.h"
#include "oci/store.h"

enum {
    NODE_STATE_PREFIX_BYTES = 6,               /* of a DiffID */
    NODE_STATE_LAYERS_MAX = 32768,             /* the definition of NodeImageState takes no more */
    NODE_STATE_ARRIVING_MAX = 1024,            /* likewise */
    NODE_STATE_TEXT_MAX = 640 << 10,           /* of an object */
    NODE_STATE_MEASURED_MIN_BYTES = 256 << 10, /* smaller transfers say nothing of a rate */
};

/* 0: not measured. */
struct node_state_rates {
    double uplink_bps, downlink_bps, registry_bps; /* bits per second */
    double unpack_bps;                             /* compressed bits */
    double rtt_us;                                 /* to other nodes */
    double registry_rtt_us;                        /* to the registry that was used last */
    int64_t measured_wall_s;                       /* any of them */
    int64_t rates_wall_s;                          /* not the round trips */
};
/*
 * A transfer of so many bytes took so long, in bits per second: an average with weight 0.2 for the
 * new one. `rate` is one of r's, wall_s the time now. Small transfers are passed over.
 */
void node_state_measure(struct node_state_rates *r, double *rate, uint64_t n_bytes, uint64_t ms,
                        int64_t wall_s);

/* A round trip took so long; averaged in the same way. `rtt_us` is one of r's. */
void node_state_round_trip(struct node_state_rates *r, double *rtt_us, uint64_t us, int64_t wall_s);

struct node_state {
    struct str node, url;
    int64_t reported_wall_s;
    struct node_state_rates rates;
    uint64_t cache_capacity, cache_used, cache_pinned, disk_capacity, disk_used;
    unsigned upload_slots; /* free */
    uint64_t generation;   /* of the set of layers */
    struct str prefixes;   /* node_state_prefixes() */
    struct str unsendable; /* likewise, those without a blob: other nodes cannot fetch them */
    struct str arriving;   /* node_state_incoming() */
};

/*
 * Sets the capacity and the use of the disk from the numbers of statvfs(3), as df(1) counts: blocks
 * that the file system keeps for root are neither in use nor capacity.
 */
void node_state_disk(struct node_state *s, uint64_t n_blocks, uint64_t n_free, uint64_t n_available,
                     uint64_t block_bytes);
/* What the cache can have, with disk and cache_used set: no more than its quota (0: none), and than
 * is free or in use by it. Where the disk is not known the quota. */
uint64_t node_state_cache_capacity(const struct node_state *s, uint64_t quota);
/* The prefixes of all layers, ascending, none twice; of too many, those that were used last. */
void node_state_prefixes(const struct oci_store_layer *layers, size_t n, struct buf *to);
/* Of them those that are kept as tars alone. */
void node_state_unsendable(const struct oci_store_layer *layers, size_t n, struct buf *to);
/* Of those that are on their way the ones that are not among `prefixes`, in the same form. */
void node_state_incoming(const struct oci_digest *diff_ids, size_t n, struct str prefixes,
                         struct buf *to);
/* The whole object, for a server-side apply. */
struct json *node_state_object(struct arena *a, const struct node_state *s);
/* What changes all the time, for a merge patch: the time, disk and so the room of the cache, slots,
 * the rate of unpacking. */
struct json *node_state_beat(struct arena *a, const struct node_state *s);
