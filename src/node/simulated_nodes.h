/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes that are none: thousands of Node objects of one process, with Leases and the condition
 * Ready, whose pods "run" as soon as they are bound and are gone as soon as they are deleted. For
 * schedulers and controllers at scale, against any cluster.
 *
 *     nodes known -> those missing created -> a Lease each -> on_ready
 *     a pod is bound -> (start_ms) -> status Running;  it is to end -> (stop_ms) -> deleted
 *
 * A Node that is there already is taken over if its label says that it is simulated by the same
 * prefix. One that somebody deletes is not made again. A pod costs memory only while something is
 * to be written about it. Loop thread only.
 */
#pragma once

#include "client/transport.h"
#include "io/loop.h"
#include "node/simulated_objects.h"

struct simulated_nodes;

enum {
    SIMULATED_HEARTBEAT_MS = 300000, /* each node's conditions, as a kubelet without news */
    SIMULATED_RETRY_MS = 500,        /* what the API did not take */
    SIMULATED_REMOVE_MS = 60000,     /* to remove nodes on the way out */
};

struct simulated_nodes_opts {
    struct loop *loop;
    struct transport *transport;       /* kept */
    const struct simulated_spec *spec; /* kept, and checked */
    uint64_t start_ms, stop_ms;
    uint64_t lease_ms;    /* between renewals; 0: no Leases */
    unsigned concurrency; /* requests at once */
    bool untaints;        /* takes off what admission puts on new nodes until they are ready */
    bool removes;         /* nodes and Leases, when it stops */
    /* Once. r < 0: a node could not be made; then only simulated_nodes_stop() is left. */
    void (*on_ready)(void *arg, int r, const struct err *err);
    void *arg;
};

int simulated_nodes_start(const struct simulated_nodes_opts *opts, struct simulated_nodes **ret,
                          struct err *err);
void simulated_nodes_stop(struct simulated_nodes *s, void (*done)(void *arg), void *arg);

struct simulated_counts {
    size_t nodes;                                        /* there now */
    uint64_t started, ended, renewals, retries, refused; /* pods, pods, Leases, requests */
    size_t waiting; /* pods about which something is to be written */
};
void simulated_nodes_count(const struct simulated_nodes *s, struct simulated_counts *ret);
