/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The resources that a score counts, by its plugin's arguments, and what a pod and a node have of
 * them: converts the scheduler's books to the shares of place/score.h.
 */
#pragma once

#include "place/score.h"
#include "sched/plugins/native.h"

struct sched_spec {
    enum { SCHED_SPEC_CPU, SCHED_SPEC_MEMORY, SCHED_SPEC_EPHEMERAL, SCHED_SPEC_SCALAR } kind;
    struct intern *name; /* of a scalar */
    int64_t weight;
};
struct sched_specs {
    struct sched_spec *p;
    uint32_t n;
};
enum { SCHED_SPECS_MAX = PLACE_BALANCE_MAX };

/* [{name, weight}...]; NULL or []: CPU and memory. Errors: E_INVALID, E_LIMIT. */
int sched_specs_read(struct intern_table *w, const struct json *resources, struct sched_specs *ret,
                     struct err *err);
void sched_specs_fini(struct intern_table *w, struct sched_specs *s);

/*
 * The pod's requests of each resource, in the arena. nonzero: containers without a CPU or memory
 * request count with a default, and pod-level resources do not count.
 */
const int64_t *sched_specs_requests(const struct sched_specs *s, struct arena *a,
                                    const struct sched_pod *pod, bool nonzero);
/*
 * A share for each resource: the node's capacity and what is promised. A scalar that the pod does
 * not request gets no capacity, so that it does not count. The request is not added.
 */
void sched_specs_shares(const struct sched_specs *s, const int64_t *requests,
                        const struct sched_node_info *node, bool nonzero, struct place_share *ret);
