/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the two files of VolumeBinding share: volume_binding.c decides, volume_binding_write.c
 * writes to the API and waits for the result.
 *
 *     PreFilter: claims are looked up        Filter: can each have a volume on this node?
 *     Reserve: decided, promised in the book
 *     PreBind: volumes and claims are written, one after the other -> wait -> done
 *                  \-- refused: what was not written is withdrawn       \-- undone, or too late
 */
#pragma once

#include "base/list.h"
#include "sched/object/csi_node.h"
#include "sched/plugins/volume_book.h"

enum { VOLUME_BIND_TIMEOUT_S = 600 };

struct volume_binding {
    struct sched_plugin p;
    struct volume_book *book;
    uint64_t timeout_ms;
    struct list writing; /* of struct binding_state: waiting for answers of the API */
    struct list waits;   /* written, not bound yet; the earliest time-out first */
    bool timer_runs;
};

/* A claim that gets its volume in this cycle. */
struct unbound_claim {
    const struct sched_pvc *pvc;
    const struct sched_storage_class *class;
    bool has_selected_node;
    struct str selected_node;
    const struct pin_index *unclaimed; /* volumes of its class */
    const struct sched_pv **own;       /* volumes already reserved for it */
    size_t n_own;
    bool checks_capacity;
    int64_t bytes;
    const struct pin_index *capacities;
};
struct bound_claim {
    const struct sched_pvc *pvc;
    const struct sched_pv *pv; /* NULL: no volume has that name */
};

/* The decision for one claim: a volume, or (pv NULL) that one is provisioned. References. */
struct decision {
    struct sched_pv *pv;
    struct sched_pvc *pvc;
    bool is_promised, is_written;
    uint64_t written_rv; /* resourceVersion in the API's answer; 0: none */
};

struct binding_state {
    struct bound_claim *bound;
    uint32_t n_bound;
    struct unbound_claim *unbound; /* those with a selected node first, then by size */
    uint32_t n_unbound;

    /* Set from Reserve on. */
    struct volume_binding *plugin;
    struct sched_cycle *cycle;
    struct decision *decisions; /* volumes first, then those to be provisioned */
    uint32_t n_decisions, n_written;
    struct sched_step *step;
    struct list link; /* in `writing`, `waits`, or on a list of those that end */
    bool pod_is_gone;
    uint64_t deadline_ms;
    const struct sched_status *result;
};

const struct sched_status *volume_binding_write(struct sched_plugin *p, struct sched_cycle *cycle,
                                                struct sched_step *step);
struct str volume_binding_waits_for(struct sched_plugin *p, struct sched_cycle *cycle,
                                    struct arena *a);
/* Withdraws the promises, except for volumes that were written. */
void volume_binding_take_back(struct binding_state *s);
/* Ends the waits that this event settles. */
void volume_binding_wake(struct volume_binding *b, const struct sched_event *event);
void volume_binding_stop(struct volume_binding *b);
