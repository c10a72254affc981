/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of DefaultPreemption (default_preemption.c decides which pods may preempt at all):
 *
 *     preemption_search.c   dry runs: the victims on each node; the best node
 *     preemption_acts.c     what follows: evicts victims, withdraws lower nominations
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
    size_t at; /* position on the node: keeps the order of equal pods */
};
/* Kept between searches: memory, and results that are cheaper to store than to compute again. */
struct preemption_search {
    struct sched_framework *framework;
    VEC(struct preemption_budget) budgets; /* budgets that select something, by namespace */
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
    struct sched_candidate *p; /* candidates without violations first */
    size_t n;
    struct map reasons;     /* reasons of nodes that are no candidates: text -> uint32_t * */
    size_t n_refused;       /* nodes counted in the reasons */
    VEC(struct str) errors; /* of nodes where a plugin failed */
};
void preemption_result_fini(struct preemption_result *r);
/*
 * Examines nodes[offset], nodes[offset + 1], ... and wraps around, until `wanted` candidates are
 * found, one of them without violations, or all nodes were examined. ret starts zeroed; its
 * candidates and texts live in the cycle's arena.
 */
void preemption_find(struct preemption_search *s, struct sched_cycle *cycle,
                     const struct sched_node_info *const *nodes, size_t n, size_t offset,
                     size_t wanted, struct preemption_result *ret);
/*
 * Chooses the best candidate: fewest violations; then lowest priority of the most important victim;
 * then the smallest sum of priorities; then the fewest victims; then the latest start time (the
 * earliest one among a candidate's victims of highest priority); then the first. n > 0, each
 * candidate has victims.
 */
size_t preemption_choose(const struct sched_candidate *candidates, size_t n, int64_t wall_ms);

/* ---- acts ---- */

/*
 * Evictions under way, each for a pod that will take the place of the victims. Outlives its plugin,
 * so that started evictions are completed.
 */
struct preemption_acts;
/* plugin: its name, kept. */
struct preemption_acts *preemption_acts_new(struct sched_framework *framework, struct str plugin);
void preemption_acts_free(struct preemption_acts *acts);
/* Does nothing if all victims are already terminating. */
void preemption_acts_start(struct preemption_acts *acts, const struct sched_pod *preemptor,
                           const struct sched_candidate *place);
/* Not all of its evictions have been requested: the pod is not tried again before that. */
bool preemption_acts_hold(const struct preemption_acts *acts, const struct sched_pod *preemptor);
