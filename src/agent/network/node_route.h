/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routes to the pods of other nodes. Direct: by the node's InternalIP ("host gateway"), where nodes
 * share a network segment. VXLAN: packets are wrapped in UDP to that address, which passes other
 * routers. The owner reports the nodes that it watches, itself included; changes of the kernel's
 * tables run on pool threads, one batch at a time, and failures are tried again.
 *
 * VXLAN takes 50 bytes of a packet (IPv6 between the nodes: 70), which pods' MTU leaves:
 * node_route_pod_mtu().
 *
 * Routes carry the protocol number NODE_ROUTE_PROTOCOL, by which leftovers of an earlier process
 * are found: node_routes_synced() removes those of nodes that do not exist any more. Loop thread
 * only.
 */
#pragma once

#include "base/str.h"
#include "io/loop.h"

struct node_routes;

enum {
    NODE_ROUTE_PROTOCOL = 213, /* rtm_protocol */
    NODE_ROUTES_MAX = 5000,    /* nodes: E_LIMIT beyond */
    NODE_ROUTE_CIDRS_MAX = 2,
    NODE_ROUTE_VXLAN_ID = 213,
    NODE_ROUTE_VXLAN_PORT = 4789,
    NODE_ROUTE_RETRY_MS = 5000 /* and longer with each failure */
};

struct node_route {
    struct str name;                        /* of the node */
    struct str cidrs[NODE_ROUTE_CIDRS_MAX]; /* spec.podCIDRs */
    size_t n_cidrs;
    struct str addresses[NODE_ROUTE_CIDRS_MAX]; /* of type InternalIP */
    size_t n_addresses;
};

enum node_route_mode {
    NODE_ROUTE_AUTO, /* direct to nodes on the same segment, VXLAN to others */
    NODE_ROUTE_DIRECT,
    NODE_ROUTE_VXLAN
};

struct node_routes_opts {
    struct loop *loop;
    struct str
        own; /* the name of this node, which gets no route; its first address wraps packets */
    enum node_route_mode mode;
};

/*
 * The MTU of pods on the node with this address, also for those that have neighbours only: another
 * node may come later. 0: no device has the address, or the loopback device has it.
 */
uint32_t node_route_pod_mtu(struct str address);

int node_routes_new(const struct node_routes_opts *opts, struct node_routes **ret, struct err *err);
/* The node was added or has changed. E_INVALID: an address or range that cannot be read; E_LIMIT.
 */
int node_routes_set(struct node_routes *r, const struct node_route *node, struct err *err);
void node_routes_remove(struct node_routes *r, struct str name);
/* Every node has been reported once. */
void node_routes_synced(struct node_routes *r);
/* The routes stay. */
void node_routes_close(struct node_routes *r, void (*done)(void *arg), void *arg);
