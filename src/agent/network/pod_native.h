/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks of pods made by this process: a routed pair of virtual Ethernet devices for each pod.
 *
 *     node:  dmp<hash of id>   GATEWAY/32    route to ADDRESS/32 over it
 *              |
 *     pod:   eth0              ADDRESS/32    default route by GATEWAY
 *
 * GATEWAY is the first address of the node's range, the same for all pods; with IPv6 the pod's
 * default route is by fe80::1. There is no bridge: packets between pods pass this machine's routing
 * and its filters like all others. Reasons: docs/internals/pod-network.md.
 *
 * The node's forwarding is turned on. Packets that leave the cluster get the node's address, and
 * host ports are forwarded, where the kernel has nftables (pod_firewall.h).
 */
#pragma once

#include "agent/network/driver.h"

struct pod_native;

extern const struct pod_network_driver pod_native_driver;

#define POD_NATIVE_DEVICES "dmp" /* names of all devices begin with it */

/* places: kept. mtu: 0: the kernel's default. */
struct pod_native *pod_native_new(const struct pod_network_places *places, uint32_t mtu);
/* No change is under way. */
void pod_native_free(struct pod_native *n);
/* Fills in an empty view; see pod_networks_view(). */
struct pod_networks_view;
void pod_native_view(const struct pod_native *n, struct pod_networks_view *ret);
/* See pod_networks_set_cidrs(). */
int pod_native_set_cidrs(struct pod_native *n, const struct str *cidrs, size_t n_cidrs,
                         const struct str *cluster, size_t n_cluster, struct err *err);
/* There are networks whose rules may be those of earlier ranges. */
bool pod_native_is_stale(const struct pod_native *n);
/* Give the machine the rules of the ranges; a failure is logged. done: exactly once, on a later
 * turn, before pod_native_free(); not after an error, which is that of job_start(). */
int pod_native_refresh(struct pod_native *n, void (*done)(void *arg), void *arg);
