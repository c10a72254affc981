/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result of an attempt to place a pod, node by node, as JSON: an observer of the scheduler that
 * collects one attempt.
 *
 *     {"namespace", "name", "schedulerName", "assigned": NAME if it has a node already,
 *      "waiting": {"node", "plugin", "for"} if its binding waits for something,
 *      "node": NAME or null, "code": "Success", "Unschedulable", ..., "message",
 *      "nodes": [{"name", "total", "scores": {PLUGIN: POINTS}},             by falling total
 *                {"name", "refused": {"plugin", "code", "reasons": [TEXT]}}]}
 *
 * Nodes that an attempt did not examine are left out, and so are scores if only one node fits,
 * since there was no choice (sched_explain() examines and scores all nodes).
 */
#pragma once

#include "sched/core/scheduler.h"

struct explain;
struct explain *explain_new(void);
void explain_free(struct explain *e);
DEFINE_SCOPED(explain, explain_free)

/* For sched_explain() and sched_opts.observer; arg: a struct explain. A second attempt replaces the
 * first. */
extern const struct sched_observer explain_observer;

/* Called after decided(). Failure is sticky in the buffer. */
void explain_write(const struct explain *e, struct buf *to);

/*
 * Scores of the chosen node, by plugin; 0 plugins: there was no choice. Borrowed until the next
 * attempt.
 */
struct explain_score {
    struct str plugin;
    int64_t points;
};
size_t explain_chosen(const struct explain *e, const struct explain_score **ret,
                      int64_t *ret_total);
