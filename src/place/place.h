/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which node gets a new sandbox.
 *
 * A policy object reads the capacity books and decides; the decision reserves. Above
 * PLACE_SAMPLE_ABOVE candidates a decision looks at PLACE_SAMPLE of them, drawn at random, so that
 * its cost does not depend on the number of nodes; only if none of those fits does it go on to the
 * others. Ties are broken uniformly. All randomness comes from the seed: the same calls choose the
 * same nodes.
 */
#pragma once

#include "base/random.h"
#include "place/score.h"

/* enum, name on the command line, one line of documentation */
#define PLACE_POLICIES(X)                                                                          \
    X(PLACE_WARM_FIRST, "warm-first",                                                              \
      "a kept sandbox, else as kubernetes, the image counting more")                               \
    X(PLACE_KUBERNETES, "kubernetes", "least allocated + balanced allocation, and image locality") \
    X(PLACE_POWER_OF_D, "power-of-d", "the least allocated of d random nodes")                     \
    X(PLACE_IMAGE_LOCALITY, "image-locality", "nodes that hold the image, the least allocated")    \
    X(PLACE_HERMOD, "hermod", "consolidate while cores are free, then least loaded")               \
    X(PLACE_CH_RLU, "ch-rlu", "consistent hashing, popular functions spill to successors")         \
    X(PLACE_ROUND_ROBIN, "round-robin", "one after the other")                                     \
    X(PLACE_RANDOM, "random", "uniform")

enum place_policy {
#define PLACE_POLICY_ENUM(id, name, doc) id,
    PLACE_POLICIES(PLACE_POLICY_ENUM)
#undef PLACE_POLICY_ENUM
        PLACE_POLICY_COUNT
};

enum {
    PLACE_SAMPLE_ABOVE = 256, /* candidates */
    PLACE_SAMPLE = 8,
    PLACE_SAMPLE_MAX = 64,
    PLACE_RING_POINTS_MAX = 64, /* virtual nodes of one node */
};

/* Zeroed: every option has its default. */
struct place_options {
    enum place_policy policy;
    uint64_t seed;
    uint32_t d;             /* power-of-d; 0: 2, and PLACE_SAMPLE above PLACE_SAMPLE_ABOVE */
    bool no_image_locality; /* kubernetes: without it */
    bool reported_load;     /* hermod: use the load that nodes report instead of what is reserved */
    /* ch-rlu; 0: 3 points on the ring, a chain of 4, a bound of 1000 (one core's load per core) */
    uint32_t ring_points, chain;
    int64_t bound_milli;
};

struct place_request {
    struct place_amounts need;
    const struct place_constraints *constraints; /* borrowed; NULL: none */
    uint64_t key;                                /* ch-rlu: hash of the function's name */
    double mean_gap_ms; /* ch-rlu: mean time between its calls; 0: unknown, counts as rare */
    const struct place_tally *image; /* borrowed; nodes that hold its image; NULL: none */
    uint64_t image_bytes;
    const struct place_tally *warm; /* borrowed; nodes with a kept sandbox of it; NULL: none */
    const uint32_t *avoid;          /* nodes where this creation just failed: a last resort */
    uint32_t n_avoid;
};

struct place_choice {
    uint32_t node, epoch;
    bool is_warm, has_image;
    int score; /* 0 for policies without scores */
};

struct place;
/* `books` is kept. */
struct place *place_new(struct place_books *books, const struct place_options *options);
void place_free(struct place *p);
DEFINE_SCOPED(place, place_free)

/*
 * Choose and reserve. Errors: -ENODEV: no node is schedulable; -ENOSPC: the request fits on no
 * node, the text counts the reasons.
 */
int place_decide(struct place *p, const struct place_request *rq, struct place_choice *ret,
                 struct err *err);
/* Choose without reserving; a place_decide() after it may choose another node. */
int place_choose(struct place *p, const struct place_request *rq, struct place_choice *ret,
                 struct err *err);

/*
 * ch-rlu: set which functions are popular. gaps_ms: mean time between two calls of each function,
 * in any order, reordered here; the functions with the `percent` smallest gaps are popular. Call it
 * every few seconds.
 */
void place_set_popularity(struct place *p, double *gaps_ms, size_t n, uint32_t percent);

/* By name; PLACE_POLICY_COUNT if the name is unknown. */
enum place_policy place_policy_of(struct str name);
const char *place_policy_name(enum place_policy policy);
