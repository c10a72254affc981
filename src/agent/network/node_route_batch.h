/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One comparison of the kernel's routes to other nodes with what is wanted, and the changes. Any
 * thread; blocks, but only on the kernel.
 */
#pragma once

#include "agent/network/node_route.h"
#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"
#include "container/netlink.h"

struct node_route_peer {
    struct netlink_ip cidrs[NODE_ROUTE_CIDRS_MAX], addresses[NODE_ROUTE_CIDRS_MAX];
    size_t n_cidrs, n_addresses;
};

struct node_route_plan {
    enum node_route_mode mode;
    struct node_route_peer own; /* without an address: no VXLAN yet */
    VEC(struct node_route_peer) peers;
    bool removes; /* what is not wanted */
};

/* The first failure; the others are carried out all the same. */
int node_route_batch_apply(const struct node_route_plan *plan, struct err *err);

/* The VXLAN device of the node with this address has this MAC address: nodes need not exchange
 * them. */
struct netlink_mac node_route_batch_mac(const struct netlink_ip *address);
