/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What simulated nodes write: Nodes, their Leases, and statuses as a kubelet reports them. Pure;
 * times are RFC 3339 texts.
 */
#pragma once

#include "base/buf.h"
#include "codec/json.h"

#define SIMULATED_LABEL     "dormouse.dev/simulated" /* its value: the prefix of the names */
#define SIMULATED_NOT_READY "node.kubernetes.io/not-ready"
#define SIMULATED_LEASES    "kube-node-lease" /* the namespace */
enum { SIMULATED_LEASE_S = 40, SIMULATED_NODES_MAX = 50000, SIMULATED_LIST_MAX = 64 };

struct simulated_taint {
    struct str key, value, effect;
};
struct simulated_pair {
    struct str key, value;
};

/* All borrowed for as long as nodes are made of it. */
struct simulated_spec {
    size_t n;           /* nodes */
    const char *prefix; /* names: PREFIX-0, ... */
    unsigned zones;     /* "zone-a", ... in turns; 0: none */
    const char *region;
    const char *cpu, *memory, *pods;
    struct simulated_pair resources[SIMULATED_LIST_MAX], labels[SIMULATED_LIST_MAX];
    struct simulated_taint taints[SIMULATED_LIST_MAX];
    size_t n_resources, n_labels, n_taints;
    /* Nodes of a file, or NULL. One is the pattern of all; several are taken as they are, and there
     * are as many as n says. What they say goes before the fields above. */
    const struct json *const *files;
    size_t n_files;
};

/* "KEY=VALUE" and "KEY[=VALUE]:EFFECT"; borrow of text. Errors: E_INVALID. */
int simulated_read_pair(struct str text, struct simulated_pair *ret, struct err *err);
int simulated_read_taint(struct str text, struct simulated_taint *ret, struct err *err);
/* Quantities are some, the prefix is a name, there are as many nodes as may be. E_INVALID, E_LIMIT.
 */
int simulated_check(const struct simulated_spec *spec, struct err *err);

/* All append to `to`. */
void simulated_node_name(const struct simulated_spec *spec, size_t i, struct buf *to);
void simulated_node(const struct simulated_spec *spec, size_t i, const char *now, struct buf *to);
/* A strategic merge patch for nodes/status: it is ready. */
void simulated_node_ready(const char *now, struct buf *to);
/* A JSON patch for a node: the taint SIMULATED_NOT_READY at that place goes. */
void simulated_node_untaint(unsigned place, struct buf *to);
/* of uid: the Node's. */
void simulated_lease(struct str name, struct str uid, const char *now, struct buf *to);
/* A merge patch for it. */
void simulated_lease_renewal(struct str name, const char *now, struct buf *to);

/* What of a Pod its status needs, packed; given, free(). */
struct simulated_pod {
    struct str namespace, name, uid;
    bool is_on_host_network;
    size_t n_containers;
    const char *containers; /* each: 'c', 'i' (ends) or 's' (stays), name, NUL, image, NUL */
};
struct simulated_pod *simulated_pod_new(const struct json *pod);
/* A strategic merge patch for pods/status: it runs on node number i, with that node's address
 * number ip. */
void simulated_pod_running(const struct simulated_pod *p, size_t i, unsigned ip, const char *now,
                           struct buf *to);
