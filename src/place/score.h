/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters and scores: pure functions over one node and one request, each by itself, so that the
 * function placer and the pod scheduler combine them as they like. Scores are 0 to 100, integers,
 * rounded as kube-scheduler rounds.
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

/* What a request demands of a node beside resources. Kept by the caller; zeroed demands nothing. */
struct place_constraints {
    const struct place_label *selector; /* the node has all of them */
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

/* Of need > 0, used + need <= capacity; the first resource that is short, in their order. */
enum place_verdict place_fit_resources(const struct place_amounts *capacity,
                                       const struct place_amounts *used,
                                       const struct place_amounts *need);
bool place_match_selector(const struct place_node *node, const struct place_label *selector,
                          size_t n);
/* Are all taints tolerated that keep a new sandbox away (not those that only make it unwelcome)? */
bool place_tolerates(const struct place_node *node, const struct place_toleration *tolerations,
                     size_t n);
/* All of the above. `c` may be NULL. */
enum place_verdict place_filter(const struct place_node *node, const struct place_amounts *need,
                                const struct place_constraints *c);

/* ---- scores ---- */

struct place_weight {
    uint8_t resource; /* enum place_resource or an extended one */
    uint32_t weight;
};
/* CPU and memory, weight 1 each. */
extern const struct place_weight place_default_weights[2];

/*
 * `used` is what is in use with the request counted in. Weighted mean of
 * (capacity - used) * 100 / capacity, 0 for what is over; resources a node lacks do not count.
 */
int place_score_least_allocated(const struct place_amounts *capacity,
                                const struct place_amounts *used, const struct place_weight *w,
                                size_t n);
/* The same with used * 100 / capacity. */
int place_score_most_allocated(const struct place_amounts *capacity,
                               const struct place_amounts *used, const struct place_weight *w,
                               size_t n);
/* (1 - deviation of the fractions in use) * 100; the weights themselves play no role. */
int place_score_balanced(const struct place_amounts *capacity, const struct place_amounts *used,
                         const struct place_weight *w, size_t n);
/*
 * One image of image_bytes, held by `holders` of n_nodes nodes, this one among them or not. What is
 * below 50 MiB after weighing by the spread does not count, above 1000 MiB it counts full.
 */
int place_score_image(bool has, uint64_t image_bytes, uint32_t holders, uint32_t n_nodes);
