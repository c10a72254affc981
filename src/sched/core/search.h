/* SPDX-License-Identifier: Apache-2.0 */
/* The search for a node for one pod: which nodes fit (search.c), which is best (score.c). */
#pragma once

#include "sched/core/internal.h"

/* The result; the arrays are the scheduler's scratch memory. */
struct search {
    struct sched *s;
    struct sched_attempt *a;
    const struct sched_observer *observer; /* NULL: none */
    void *observer_arg;
    bool all_nodes; /* explain: no sampling */
    size_t n_all;   /* nodes of the cluster */
    size_t n_feasible, n_statuses;
    const struct sched_status *absent; /* the status of nodes that were not examined */
    struct str pre_filter_message, post_filter_message;
    uint64_t rejected_by, pending_by;
    const struct sched_status *error; /* the cycle failed; there is no result for the nodes */
};

/* ---- search.c ---- */
/*
 * PreFilter, Filter, extenders: stores the nodes that fit in scratch.feasible. At least one node
 * exists.
 */
void search_nodes(struct search *f);
/* Records the plugin among those whose refusal an event may lift. */
void search_reject(struct search *f, const struct sched_plugin *by, const struct sched_status *s);

/* ---- score.c ---- */
/*
 * PreScore, Score, extenders: stores the scores of all nodes that fit in scratch.sums. Returns
 * false on failure: f->error.
 */
bool sched_search_score(struct search *f);
/*
 * The node with the highest score; ties are broken uniformly at random, unless a plugin compares
 * them (`tie`).
 */
const struct sched_node_info *sched_search_best(const struct search *f);
