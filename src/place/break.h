/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BREAK's scores: pure formulas over what is known about nodes and about an image's layers.
 *
 * The paper's formulas contain mistakes, so each is available in more than one reading: as printed
 * (PAPER), with the range 0 to PLACE_BREAK_LAMBDA that all of them were meant to have (NORM), and,
 * for the balance alone, with the divisor that is printed for one of its terms (INTENDED; the other
 * formulas then equal NORM). place_break_max() is the largest value of a reading; a scheduler that
 * adds scores of 0 to 100 divides by it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLACE_BREAK_LAMBDA 10.0

enum place_break_reading {
    PLACE_BREAK_NORM,
    PLACE_BREAK_PAPER,
    PLACE_BREAK_INTENDED,
    PLACE_BREAK_READINGS
};
enum place_break_scorer {
    PLACE_BREAK_NETWORK,
    PLACE_BREAK_BALANCE,
    PLACE_BREAK_LEAST,
    PLACE_BREAK_TIME,
};
double place_break_max(enum place_break_scorer s, enum place_break_reading reading);

/* ---- (1) network ---- */

/*
 * The known values of some nodes, in order. It is updated value by value, since every node of a
 * cluster has a rank, whatever a pod requests. Zeroed except for largest_is_best it is empty.
 */
struct place_break_order {
    bool largest_is_best;
    int64_t *sorted; /* the best first; negative where the largest is best */
    size_t n, cap;
};
void place_break_order_fini(struct place_break_order *o);
/* Adds a value. 0 means unknown and changes nothing. */
void place_break_order_put(struct place_break_order *o, int64_t value);
/* Removes a value that was put. */
void place_break_order_take(struct place_break_order *o, int64_t value);
/*
 * The rank of a value among n_nodes, 1 is the best; equal values share the better rank. The value
 * 0, like each node whose value is unknown, counts as the median of the known values.
 */
uint32_t place_break_rank(const struct place_break_order *o, size_t n_nodes, int64_t value);
double place_break_network(enum place_break_reading reading, size_t n, uint32_t bandwidth_rank,
                           uint32_t rtt_rank);

/* ---- (2), (3): fractions in use, 0 to 1 ---- */

struct place_break_use {
    double cpu, memory, disk;
};
double place_break_balance(enum place_break_reading reading, struct place_break_use use);
double place_break_least(enum place_break_reading reading, struct place_break_use use);

/* ---- (4), (5) locality ---- */

/* 0 to LAMBDA for bytes between low and high; all or nothing if low and high do not differ. */
double place_break_hit(int64_t bytes, int64_t low, int64_t high);
/* The free share of a cache, 0 to 1; NORM counts what is not pinned as free. 0 without a cache. */
double place_break_available(enum place_break_reading reading, int64_t capacity, int64_t used,
                             int64_t pinned);

/*
 * Is there room for the missing bytes, unpacked, plus 10 %? reclaimable: bytes of the cache that
 * can be freed, included in used. A disk of unknown size (0) has room.
 */
bool place_break_has_room(int64_t capacity, int64_t used, int64_t reclaimable, int64_t missing);
/* More than 90 % in use. */
bool place_break_is_full(int64_t capacity, int64_t used);

/* ---- predicted deploy time ---- */

enum {
    PLACE_BREAK_LAYERS_MAX = 256, /* of one pod */
    PLACE_BREAK_PEERS_MAX = 16,
    PLACE_BREAK_SPLIT_BYTES = 32 << 20, /* a larger layer may come from two peers */
    PLACE_BREAK_PEER_BPS_MIN = 1000000,
    PLACE_BREAK_CANDIDATES = 8, /* nodes for which a time is predicted for a score */
};

/* A set of layers, by position. */
struct place_break_set {
    uint64_t bits[PLACE_BREAK_LAYERS_MAX / 64];
};
static inline bool place_break_in(const struct place_break_set *s, size_t layer)
{
    return s->bits[layer / 64] >> layer % 64 & 1;
}
static inline void place_break_put(struct place_break_set *s, size_t layer)
{
    s->bits[layer / 64] |= (uint64_t)1 << layer % 64;
}
static inline void place_break_take(struct place_break_set *s, size_t layer)
{
    s->bits[layer / 64] &= ~((uint64_t)1 << layer % 64);
}

struct place_break_peer {
    struct place_break_set holds;
    int64_t uplink_bps;   /* > 0 */
    int64_t queued_bytes; /* queued for other deployments */
};
struct place_break_deploy {
    const int64_t *sizes; /* of the layers, compressed */
    size_t n_layers;
    struct place_break_set present; /* already on the node */
    /* Peers that reported within the last 30 s and have a free slot; not the node itself. */
    const struct place_break_peer *peers;
    size_t n_peers; /* at most PLACE_BREAK_PEERS_MAX */
    int64_t registry_bps, downlink_bps;
    /* Of the node; 0: takes no time. The first byte from a source arrives after two round trips:
     * one opens the connection, the other is the request. */
    int64_t registry_rtt_us, peer_rtt_us;
    int64_t unpack_bytes_per_second; /* 0: takes no time */
};
enum { PLACE_BREAK_REGISTRY = -1, PLACE_BREAK_ALTERNATIVES = 3 };

/* A range of a missing layer and where it comes from. */
struct place_break_part {
    uint32_t layer;
    int64_t from, to; /* bytes; the whole layer unless two peers share it */
    int source;       /* a position in `peers`, or PLACE_BREAK_REGISTRY */
    /* The other sources, the one that would finish first in front: at most two peers, then the
     * registry. */
    int alternatives[PLACE_BREAK_ALTERNATIVES];
    uint32_t n_alternatives;
    double finish_s; /* when it arrives, counting the source's queue alone */
};
struct place_break_plan {
    struct place_break_part parts[2 * PLACE_BREAK_LAYERS_MAX]; /* largest layer first */
    size_t n;
    double seconds; /* until all layers have arrived and are unpacked */
};
/*
 * Assign a source to each missing layer: the largest first, each to the source that delivers it
 * first. Returns false if a layer has no source; `ret` must not be used then.
 */
bool place_break_assign(const struct place_break_deploy *d, struct place_break_plan *ret);
/* `seconds` of that plan; HUGE_VAL if a layer has no source. */
double place_break_deploy_s(const struct place_break_deploy *d);
/* 0 to LAMBDA by the position between the slowest (0) and the fastest. */
double place_break_time(double seconds, double fastest, double slowest);
