/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges of addresses as text and as bytes, and the choice of a free address. Pure.
 */
#pragma once

#include "base/map.h"
#include "base/str.h"
#include "container/netlink.h"

/* "10.0.0.7": prefix is 32 or 128. false: not an address. */
bool pod_range_parse_ip(struct str text, struct netlink_ip *ret);
/* "10.1.2.0/24"; bits behind the prefix are cleared. false: not a range. */
bool pod_range_parse(struct str text, struct netlink_ip *ret);
enum { POD_RANGE_TEXT_BYTES = 46 };
/* Without the prefix length. */
void pod_range_format(const struct netlink_ip *ip, char ret[POD_RANGE_TEXT_BYTES]);
bool pod_range_has(const struct netlink_ip *range, const struct netlink_ip *ip);
bool pod_range_equal(const struct netlink_ip *a, const struct netlink_ip *b);

/* The i-th address of the range, with prefix 32 or 128; i < pod_range_count(). */
struct netlink_ip pod_range_at(const struct netlink_ip *range, uint32_t i);
/* Addresses of the range, network and broadcast included; at most 65536, the first ones. */
uint32_t pod_range_count(const struct netlink_ip *range);
/*
 * The first address from *next on that is not a key of `used` (as text): neither the network, the
 * gateway (the first after it) nor an IPv4 broadcast address. *next moves behind it, so that an
 * address rests before it is used again. false: none is free.
 */
bool pod_range_take(const struct netlink_ip *range, const struct map *used, uint32_t *next,
                    struct netlink_ip *ret);
