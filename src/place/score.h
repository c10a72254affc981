/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters and scores: independent pure functions over one node and one request, so that the
 * function placer and the pod scheduler combine them freely. Scores are integers from 0 to 100,
 * rounded as kube-scheduler rounds.
 *
 * Scores of resources take shares instead of a node, since the two callers keep their books
 * differently.
 */
#pragma once

#include "place/books.h"

#define PLACE_SCORE_MAX 100

/* ---- filters ---- */

struct place_toleration {
    uint32_t key, value; /* words; key 0 with exists: every taint */
    bool exists;         /* operator Exists; else Equal */
    bool all_effects;
    enum place_taint_effect effect;
};

/*
 * What a request demands of a node besides resources. Kept by the caller; zeroed demands nothing.
 */
struct place_constraints {
    const struct place_label *selector; /* the node must have all of them */
    const struct place_toleration *tolerations;
    uint32_t n_selector, n_tolerations;
};

enum place_verdict {
    PLACE_FITS,
    PLACE_NO_CPU,
    PLACE_NO_MEMORY,
    PLACE_NO_STORAGE,
    PLACE_NO_SANDBOXES,
    PLACE_NO_EXTENDED,
    PLACE_NO_LABEL,
    PLACE_TAINTED,
    PLACE_UNSCHEDULABLE,
    PLACE_VERDICTS
};

/* "too little memory", ... */
const char *place_verdict_text(enum place_verdict v);

/* Is too little left? A request for 0 always fits, even on an overcommitted node. */
static inline bool place_lacks(int64_t capacity, int64_t used, int64_t need)
{
    return need > 0 && need > capacity - used;
}
/* The first resource that is short, in enum order. */
enum place_verdict place_fit_resources(const struct place_amounts *capacity,
                                       const struct place_amounts *used,
                                       const struct place_amounts *need);
bool place_match_selector(const struct place_node *node, const struct place_label *selector,
                          size_t n);
/* Are all taints tolerated that exclude a new sandbox? PREFER_NO_SCHEDULE does not exclude one. */
bool place_tolerates(const struct place_node *node, const struct place_toleration *tolerations,
                     size_t n);
/* All of the above. `c` may be NULL. */
enum place_verdict place_filter(const struct place_node *node, const struct place_amounts *need,
                                const struct place_constraints *c);

/* ---- scores ---- */

/*
 * One resource of one node: its capacity, and the use including the request. A resource that the
 * node does not have (capacity <= 0) does not count in any score.
 */
struct place_share {
    int64_t capacity, used;
    int64_t weight;
};

/* Weighted mean of (capacity - used) * 100 / capacity; 0 for an overcommitted resource. */
int place_score_least_allocated(const struct place_share *s, size_t n);
/* The same with used * 100 / capacity; 100 for an overcommitted resource. */
int place_score_most_allocated(const struct place_share *s, size_t n);

/* A function of the share in use (0 to 100): linear between its points, constant outside. */
struct place_shape_point {
    int64_t utilization, score; /* utilization increases strictly from point to point */
};
int64_t place_shape_at(const struct place_shape_point *shape, size_t n, int64_t utilization);
/* Weighted mean of the shape at each share, rounded; shares with score 0 do not count. */
int place_score_shape(const struct place_share *s, size_t n, const struct place_shape_point *shape,
                      size_t n_points);

enum { PLACE_BALANCE_MAX = 32 }; /* further resources are ignored */
/* (1 - standard deviation of the fractions in use) * 100; weights are ignored. */
int place_score_balanced(const struct place_share *s, size_t n);
/*
 * From the balance of a node with and without the request: 75 if unchanged, more if the request
 * improves it, less if not.
 */
static inline int place_score_balance_change(int with, int without)
{
    return PLACE_SCORE_MAX / 2 + (PLACE_SCORE_MAX / 2 + with - without) / 2;
}

/*
 * The weight of an image on this node that `holders` of n_nodes have. It shrinks with fewer
 * holders, so that not all pods go to the first node with the image.
 */
static inline int64_t place_image_weight(int64_t image_bytes, uint32_t holders, uint32_t n_nodes)
{
    return (int64_t)((double)image_bytes * ((double)holders / (double)n_nodes));
}
/* The sum of these weights, scaled between low (0) and high (100). */
int place_score_images(int64_t sum_bytes, int64_t low_bytes, int64_t high_bytes);
