/* SPDX-License-Identifier: Apache-2.0 */
/* One look at the nodes for one pod: who fits (search.c), who is best (score.c). */
#pragma once

#include "sched/core/internal.h"

/* What it has found; arrays are the scheduler's scratch. */
struct search {
    struct sched *s;
    struct sched_attempt *a;
    const struct sched_observer *observer; /* NULL: none */
    void *observer_arg;
    bool all_nodes; /* explain: no sampling */
    size_t n_all;   /* nodes of the cluster */
    size_t n_feasible, n_statuses;
    const struct sched_status *absent; /* of nodes that were not looked at */
    struct str pre_filter_message, post_filter_message;
    uint64_t rejected_by, pending_by;
    const struct sched_status *error; /* the cycle failed: no verdict about nodes */
};

/* ---- search.c ---- */
/* PreFilter, Filter, extenders: which nodes fit, scratch.feasible. There is a node. */
void search_nodes(struct search *f);
/* This plugin's refusal counts among those that an event may lift. */
void search_reject(struct search *f, const struct sched_plugin *by, const struct sched_status *s);

/* ---- score.c ---- */
/* PreScore, Score, extenders: the points of all that fit, scratch.sums. false: f->error. */
bool sched_search_score(struct search *f);
/* The highest; of several, each is as likely, unless a plugin knows better. */
const struct sched_node_info *sched_search_best(const struct search *f);
