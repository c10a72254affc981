/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As much of rtnetlink as a pair of virtual Ethernet devices with one address each needs. A socket
 * speaks to the network namespace in which its thread was when it was opened. Any thread; blocks,
 * but only on the kernel.
 */
#pragma once

#include "base/err.h"

#include <stdint.h>

int netlink_open(struct err *err); /* a descriptor */
/* The index of a device. -ENODEV. */
int netlink_find_link(int fd, const char *name, uint32_t *ret, struct err *err);
/* A pair: `name` in this namespace, `peer` in the one of ns_fd. -EEXIST: the name is taken. */
int netlink_add_veth(int fd, const char *name, const char *peer, int ns_fd, struct err *err);
int netlink_del_link(int fd, uint32_t index, struct err *err);
int netlink_set_up(int fd, uint32_t index, struct err *err);
/* IPv4, in host byte order; /32. */
int netlink_add_address(int fd, uint32_t index, uint32_t address, struct err *err);
/*
 * To `to`/prefix over the device; gateway and source 0: none. -EEXIST: there is one.
 */
int netlink_add_route(int fd, uint32_t index, uint32_t to, uint8_t prefix, uint32_t gateway,
                      uint32_t source, struct err *err);
/*
 * Add a routing rule for packets from one address of subnet/prefix to another one. OWN: packets
 * that this machine sends use the main table. PROHIBIT: packets to be forwarded are refused.
 * -EEXIST: the rule exists; -EOPNOTSUPP: the kernel has no rules.
 */
enum netlink_rule { NETLINK_RULE_OWN, NETLINK_RULE_PROHIBIT };
int netlink_add_rule(int fd, enum netlink_rule kind, uint32_t subnet, uint8_t prefix,
                     uint32_t priority, struct err *err);
int netlink_del_rule(int fd, enum netlink_rule kind, uint32_t subnet, uint8_t prefix,
                     uint32_t priority, struct err *err);
