/* SPDX-License-Identifier: Apache-2.0 */
/* struct probers, for the files of agent/probe: see probe.h. */
#pragma once

#include "agent/probe/prober_attempt.h"
#include "base/random.h"

struct probers {
    struct probe_env env;
    struct rng random;
    unsigned n_busy;     /* attempts that run */
    struct list waiting; /* struct prober_slot: due, but PROBES_BUSY run */
    size_t n_containers;
    struct defer closing;
    void (*closed)(void *arg);
    void *closed_arg;
};

/* The right to run one attempt. */
struct prober_slot {
    struct list node;
    bool is_taken;
    void (*run)(struct prober_slot *s); /* the slot was taken; perhaps from within the request */
};

void prober_request(struct probers *p, struct prober_slot *s, void (*run)(struct prober_slot *s));
/* Give it back, or withdraw the request; fine without either. */
void prober_release(struct probers *p, struct prober_slot *s);
