/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nftables of native pod networks: the table "dormouse_pods" with the node's address for
 * packets that leave the cluster, host ports, and no way from pods to the node's loopback
 * addresses. Any thread; blocks, but only on the kernel. Errors: as nftables_commit().
 */
#pragma once

#include "agent/network/pod_record.h"
#include "container/netlink.h"

struct pod_firewall_ranges {
    const struct netlink_ip *pods, *cluster; /* of this node; of all nodes */
    size_t n_pods, n_cluster;
};

/* Make the table, or bring it up to date; what host ports it has stays. */
int pod_firewall_prepare(const struct pod_firewall_ranges *ranges, struct err *err);
/* Forward the host ports of a record to its addresses. */
int pod_firewall_open(const struct pod_record *rec, struct err *err);
/* Fine if they are not there. */
int pod_firewall_shut(const struct pod_record *rec, struct err *err);
