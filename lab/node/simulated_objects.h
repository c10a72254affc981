/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of simulated nodes: Nodes, their Leases, and statuses as a kubelet reports them.
 * Pure; times are RFC 3339 texts.
 */
#pragma once

#include "base/buf.h"
#include "codec/json.h"

#define SIMULATED_LABEL     "dormouse.dev/simulated" /* value: the prefix of the names */
#define SIMULATED_NOT_READY "node.kubernetes.io/not-ready"
#define SIMULATED_LEASES    "kube-node-lease" /* the namespace */
enum { SIMULATED_LEASE_S = 40, SIMULATED_NODES_MAX = 50000, SIMULATED_LIST_MAX = 64 };

struct simulated_taint {
    struct str key, value, effect;
};
struct simulated_pair {
    struct str key, value;
};

/* All borrowed while nodes are made from it. */
struct simulated_spec {
    size_t n;           /* nodes */
    const char *prefix; /* names: PREFIX-0, ... */
    unsigned zones;     /* "zone-a", ... round robin; 0: none */
    const char *region;
    const char *cpu, *memory, *pods;
    struct simulated_pair resources[SIMULATED_LIST_MAX], labels[SIMULATED_LIST_MAX];
    struct simulated_taint taints[SIMULATED_LIST_MAX];
    size_t n_resources, n_labels, n_taints;
    /*
     * Nodes from a file, or NULL. One is the template of all; several are used as they are, and n
     * must equal their number. Their fields override those above.
     */
    const struct json *const *files;
    size_t n_files;
};

/* Parse "KEY=VALUE" or "KEY[=VALUE]:EFFECT"; borrows text. Errors: E_INVALID. */
int simulated_read_pair(struct str text, struct simulated_pair *ret, struct err *err);
int simulated_read_taint(struct str text, struct simulated_taint *ret, struct err *err);
/* Check quantities, prefix and the number of nodes. Errors: E_INVALID, E_LIMIT. */
int simulated_check(const struct simulated_spec *spec, struct err *err);

/* All append to `to`. */
void simulated_node_name(const struct simulated_spec *spec, size_t i, struct buf *to);
void simulated_node(const struct simulated_spec *spec, size_t i, const char *now, struct buf *to);
/* A strategic merge patch for nodes/status that makes the node ready. */
void simulated_node_ready(const char *now, struct buf *to);
/* A JSON patch for a node that removes the taint SIMULATED_NOT_READY, which is at index `place`. */
void simulated_node_untaint(unsigned place, struct buf *to);
/* uid: of the Node. */
void simulated_lease(struct str name, struct str uid, const char *now, struct buf *to);
/* A merge patch that renews the lease. */
void simulated_lease_renewal(struct str name, const char *now, struct buf *to);

/* The fields of a Pod that its status needs, packed; given, free(). */
struct simulated_pod {
    struct str namespace, name, uid;
    bool is_on_host_network;
    size_t n_containers;
    const char *containers; /* each: 'c', 'i' (ends) or 's' (stays), name, NUL, image, NUL */
};
struct simulated_pod *simulated_pod_new(const struct json *pod);
/*
 * A strategic merge patch for pods/status: the pod runs on node number i, with that node's pod
 * address number ip.
 */
void simulated_pod_running(const struct simulated_pod *p, size_t i, unsigned ip, const char *now,
                           struct buf *to);
