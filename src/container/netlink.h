/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As much of rtnetlink as containers need: pairs of virtual Ethernet devices, their addresses, and
 * routes. A socket speaks to the network namespace in which its thread was when it was opened. Any
 * thread; blocks, but only on the kernel.
 */
#pragma once

#include "base/err.h"

#include <stdint.h>

int netlink_open(struct err *err); /* a descriptor */
/* The index of a device. -ENODEV. */
int netlink_find_link(int fd, const char *name, uint32_t *ret, struct err *err);
struct netlink_mac {
    uint8_t bytes[6];
};
/*
 * A pair: `name` in this namespace, `peer` in the one of ns_fd. mac: of `name`; NULL: a random one,
 * which a service of the machine (udev) may replace later. -EEXIST: the name is taken.
 */
int netlink_add_veth(int fd, const char *name, const struct netlink_mac *mac, const char *peer,
                     int ns_fd, struct err *err);
int netlink_del_link(int fd, uint32_t index, struct err *err);
int netlink_set_up(int fd, uint32_t index, struct err *err);
/* IPv4, in host byte order; /32. */
int netlink_add_address(int fd, uint32_t index, uint32_t address, struct err *err);
/*
 * To `to`/prefix over the device; gateway and source 0: none. -EEXIST: there is one.
 */
int netlink_add_route(int fd, uint32_t index, uint32_t to, uint8_t prefix, uint32_t gateway,
                      uint32_t source, struct err *err);

/* ---- either family ---- */

struct netlink_ip {
    uint8_t family;    /* AF_INET, AF_INET6 */
    uint8_t prefix;    /* length in bits */
    uint8_t bytes[16]; /* in network byte order; IPv4: the first 4 */
};
/* Used at once: no duplicates are looked for (IPv6). -EEXIST: the device has it. */
int netlink_add_ip(int fd, uint32_t index, const struct netlink_ip *ip, struct err *err);
struct netlink_route { /* in the main table */
    struct netlink_ip to;
    const struct netlink_ip *gateway, *source; /* NULL: none */
    uint32_t index;                            /* of the device; 0: the gateway decides */
    uint8_t protocol;                          /* who made it (rtnetlink(7)); 0: RTPROT_STATIC */
    bool is_onlink; /* the gateway is reached by the device, whatever other routes say */
};
/* Add it, or replace the one to the same network. */
int netlink_set_route(int fd, const struct netlink_route *route, struct err *err);
/* -ESRCH: there is none. */
int netlink_del_route(int fd, const struct netlink_route *route, struct err *err);
/* Those of a protocol; borrowed until the function returns, which must not use fd. */
typedef void (*netlink_route_fn)(void *arg, const struct netlink_route *route);
int netlink_each_route(int fd, uint8_t family, uint8_t protocol, netlink_route_fn each, void *arg,
                       struct err *err);
int netlink_set_mtu(int fd, uint32_t index, uint32_t mtu, struct err *err);
/* Whether packets to the address leave without a gateway; *ret_mtu: of the device that they leave
 * by. -ENETUNREACH: there is no route. */
int netlink_is_direct(int fd, const struct netlink_ip *to, bool *ret, uint32_t *ret_mtu,
                      struct err *err);

/* ---- VXLAN (RFC 7348) ---- */

struct netlink_vxlan {
    const char *name;
    uint32_t id; /* 24 bits */
    uint16_t port;
    struct netlink_ip local; /* of this machine, in the network below */
    struct netlink_mac mac;
    uint32_t mtu;
};
/* A device that learns nothing by itself. -EEXIST: the name, or id and port are taken. */
int netlink_add_vxlan(int fd, const struct netlink_vxlan *v, struct err *err);
int netlink_find_mac(int fd, uint32_t index, struct netlink_mac *ret, struct err *err);
/* A permanent neighbour: who has ip is at mac. is_forwarding: of a VXLAN device: mac is behind
 * the machine ip. */
struct netlink_neighbour {
    uint32_t index;
    bool is_forwarding;
    struct netlink_ip ip;
    struct netlink_mac mac;
};
int netlink_set_neighbour(int fd, const struct netlink_neighbour *n, struct err *err);
int netlink_del_neighbour(int fd, const struct netlink_neighbour *n, struct err *err);
/* The permanent ones of a device. */
typedef void (*netlink_neighbour_fn)(void *arg, const struct netlink_neighbour *n);
int netlink_each_neighbour(int fd, uint32_t index, bool is_forwarding, uint8_t family,
                           netlink_neighbour_fn each, void *arg, struct err *err);

/* ---- rules ---- */

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
