/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of DefaultPreemption (default_preemption.c, which has who may preempt at all):
 *
 *     preemption_search.c   dry runs: which pods would have to go from which nodes; the best of
 * them preemption_acts.c     what follows: victims are evicted, lower nominations withdrawn
 */
#pragma once

#include "base/vec.h"
#include "sched/framework/profile.h"
#include "sched/object/pdb.h"

/* ---- search ---- */

struct preemption_budget {
    const struct sched_pdb *pdb; /* borrowed, as long as no budget changes */
    int64_t left;                /* in this round */
    uint64_t round;
};
struct preemption_victim {
    const struct sched_pod *pod;
    size_t at; /* on the node: keeps the order of equals */
};
/* What is kept between searches: memory, and what is cheaper to remember than to find again. */
struct preemption_search {
    struct sched_framework *framework;
    VEC(struct preemption_budget) budgets; /* those that select something, by namespace */
    uint64_t budgets_generation, round;
    bool has_budgets;
    struct preemption_lowest {
        uint64_t generation; /* of the node, plus 1 */
        int32_t priority;    /* the lowest of its pods */
    } * lowest;              /* by a node's index */
    size_t n_lowest;
    VEC(struct preemption_victim) potential, victims;
};
void preemption_search_fini(struct preemption_search *s);

struct preemption_result {
    struct sched_candidate *p; /* those that violate no budget first */
    size_t n;
    struct map reasons;     /* why others are none: text -> uint32_t * */
    size_t n_refused;       /* nodes behind the reasons */
    VEC(struct str) errors; /* of nodes where a plugin failed */
};
void preemption_result_fini(struct preemption_result *r);
/*
 * Look at nodes[offset], nodes[offset + 1], ... in turn, until `wanted` places are known, one of
 * them without violations, or all were looked at. ret begins zeroed; its candidates and texts live
 * in the cycle's arena.
 */
void preemption_find(struct preemption_search *s, struct sched_cycle *cycle,
                     const struct sched_node_info *const *nodes, size_t n, size_t offset,
                     size_t wanted, struct preemption_result *ret);
/*
 * The best: fewest violations; then the least important top victim; the smallest sum of
 * priorities; the fewest victims; the top victim that started last; the first. n > 0, each has
 * victims.
 */
size_t preemption_choose(const struct sched_candidate *candidates, size_t n, int64_t wall_ms);

/* ---- acts ---- */

/*
 * Evictions under way, each for a pod that is to take the place. Outlives its plugin: what was
 * begun is brought to its end.
 */
struct preemption_acts;
/* plugin: its name, kept. */
struct preemption_acts *preemption_acts_new(struct sched_framework *framework, struct str plugin);
void preemption_acts_free(struct preemption_acts *acts);
/* Nothing happens where all victims are going already. */
void preemption_acts_start(struct preemption_acts *acts, const struct sched_pod *preemptor,
                           const struct sched_candidate *place);
/* Its evictions have not all been asked for: it is not tried again before. */
bool preemption_acts_hold(const struct preemption_acts *acts, const struct sched_pod *preemptor);
