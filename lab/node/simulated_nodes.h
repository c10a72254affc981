/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Simulated nodes: thousands of Node objects of one process, with Leases and the condition Ready,
 * whose pods "run" as soon as they are bound and are deleted as soon as they are to end. For tests
 * of schedulers and controllers at scale, against any cluster.
 *
 *     nodes listed -> missing ones created -> a Lease each -> on_ready
 *     pod bound -> (start_ms) -> status Running;  deletion requested -> (stop_ms) -> deleted
 *
 * An existing Node is taken over if its label says that it is simulated with the same prefix. A
 * Node that is deleted meanwhile is not created again. A pod costs memory only while a write about
 * it is pending. Loop thread only.
 */
#pragma once

#include "client/transport.h"
#include "io/loop.h"
#include "lab/node/simulated_objects.h"

struct simulated_nodes;

enum {
    SIMULATED_HEARTBEAT_MS = 300000, /* interval of status writes, as a kubelet without changes */
    SIMULATED_RETRY_MS = 500,        /* before a failed write is retried */
    SIMULATED_REMOVE_MS = 60000,     /* to remove nodes at the end */
};

struct simulated_nodes_opts {
    struct loop *loop;
    struct transport *transport;       /* kept */
    const struct simulated_spec *spec; /* kept; already checked */
    uint64_t start_ms, stop_ms;
    uint64_t lease_ms;    /* renewal interval; 0: no Leases */
    unsigned concurrency; /* concurrent requests */
    bool untaints; /* remove the taint that admission adds to new nodes until they are ready */
    bool removes;  /* delete nodes and Leases when it stops */
    /*
     * Runs once. r < 0: a node could not be created, and the only call allowed is
     * simulated_nodes_stop().
     */
    void (*on_ready)(void *arg, int r, const struct err *err);
    void *arg;
};

int simulated_nodes_start(const struct simulated_nodes_opts *opts, struct simulated_nodes **ret,
                          struct err *err);
void simulated_nodes_stop(struct simulated_nodes *s, void (*done)(void *arg), void *arg);

struct simulated_counts {
    size_t nodes;                                        /* that exist now */
    uint64_t started, ended, renewals, retries, refused; /* pods, pods, Leases, requests */
    size_t waiting;                                      /* pods with a pending write */
};
void simulated_nodes_count(const struct simulated_nodes *s, struct simulated_counts *ret);
