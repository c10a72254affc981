/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which pods are nominated to which node (upstream: framework.PodNominator): preemption makes room
 * for them there, and filters count them as if they ran on that node. A nomination is recorded here
 * before the API confirms it. The scheduling queue owns the nominator and keeps it in step with its
 * pods; plugins and the framework read it. One thread at a time.
 */
#pragma once

#include "base/map.h"
#include "sched/object/pod.h"

struct nominated_node;
struct sched_nominator {
    struct intern_table *words;      /* kept */
    struct map by_uid;               /* struct nomination */
    struct nominated_node **by_node; /* by the id of the node's word */
    size_t cap;
};

void sched_nominator_init(struct sched_nominator *m, struct intern_table *words);
void sched_nominator_fini(struct sched_nominator *m);

/* Sets the nomination, replacing an earlier one; node "": withdraws it. Takes a reference. */
void sched_nominator_set(struct sched_nominator *m, const struct sched_pod *pod, struct str node);
void sched_nominator_del(struct sched_nominator *m, struct str uid);
/*
 * A newer object of the pod arrived. Its status decides; a pod whose status never named a node
 * keeps the nomination recorded here.
 */
void sched_nominator_update(struct sched_nominator *m, const struct sched_pod *before,
                            const struct sched_pod *after);
/* A newer object of the pod arrived; the nomination stays. */
void sched_nominator_swap(struct sched_nominator *m, const struct sched_pod *after);

/* The pods nominated to a node, in the order of nomination; borrowed until the next change. */
const struct sched_pod *const *sched_nominator_pods(const struct sched_nominator *m,
                                                    const struct intern *node, size_t *ret_n);
/* The node to which a pod is nominated; "": none. */
struct str sched_nominator_node(const struct sched_nominator *m, struct str uid);
