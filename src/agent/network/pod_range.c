/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of addresses; see pod_range.h. */
#include "agent/network/pod_range.h"

#include <arpa/inet.h>
#include <assert.h>
#include <string.h>
#include <sys/socket.h>

enum { COUNT_MAX = 1 << 16, FIRST = 2 /* after the network and the gateway */ };

static uint8_t bits_of(const struct netlink_ip *ip)
{
    return ip->family == AF_INET6 ? 128 : 32;
}

bool pod_range_parse_ip(struct str text, struct netlink_ip *ret)
{
    char copy[INET6_ADDRSTRLEN];
    struct netlink_ip ip = { 0 };
    if (text.n == 0 || text.n >= sizeof copy || memchr(text.p, '\0', text.n))
        return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    ip.family = memchr(text.p, ':', text.n) ? AF_INET6 : AF_INET;
    ip.prefix = bits_of(&ip);
    if (inet_pton(ip.family, copy, ip.bytes) != 1)
        return false;
    *ret = ip;
    return true;
}

static void clear_behind(struct netlink_ip *ip)
{
    for (unsigned bit = ip->prefix; bit < bits_of(ip); bit++)
        ip->bytes[bit / 8] &= (uint8_t) ~(0x80u >> (bit % 8));
}

bool pod_range_parse(struct str text, struct netlink_ip *ret)
{
    struct str address, prefix;
    struct netlink_ip ip;
    uint64_t n;
    if (!str_cut(text, '/', &address, &prefix) || !pod_range_parse_ip(address, &ip) ||
        parse_u64(prefix, 0, bits_of(&ip), &n) < 0)
        return false;
    ip.prefix = (uint8_t)n;
    clear_behind(&ip);
    *ret = ip;
    return true;
}

void pod_range_format(const struct netlink_ip *ip, char ret[POD_RANGE_TEXT_BYTES])
{
    const char *text = inet_ntop(ip->family, ip->bytes, ret, POD_RANGE_TEXT_BYTES);
    assert(text);
}

bool pod_range_equal(const struct netlink_ip *a, const struct netlink_ip *b)
{
    return a->family == b->family && a->prefix == b->prefix &&
           memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

bool pod_range_has(const struct netlink_ip *range, const struct netlink_ip *ip)
{
    struct netlink_ip net = *ip;
    if (ip->family != range->family || ip->prefix < range->prefix)
        return false;
    net.prefix = range->prefix;
    clear_behind(&net);
    return pod_range_equal(&net, range);
}

uint32_t pod_range_count(const struct netlink_ip *range)
{
    unsigned host_bits = bits_of(range) - (unsigned)range->prefix;
    return host_bits >= 16 ? COUNT_MAX : UINT32_C(1) << host_bits;
}

struct netlink_ip pod_range_at(const struct netlink_ip *range, uint32_t i)
{
    struct netlink_ip ip = *range;
    size_t last = bits_of(range) / 8 - 1;
    assert(i < pod_range_count(range));
    ip.prefix = bits_of(range);
    ip.bytes[last] |= (uint8_t)(i & 0xff); /* these bits of the range are 0 */
    ip.bytes[last - 1] |= (uint8_t)(i >> 8);
    return ip;
}

bool pod_range_take(const struct netlink_ip *range, const struct map *used, uint32_t *next,
                    struct netlink_ip *ret)
{
    uint32_t count = pod_range_count(range);
    uint32_t end = range->family == AF_INET && range->prefix > 16 ? count - 1 : count;
    for (uint32_t tries = FIRST; tries < end; tries++) {
        uint32_t i = *next < FIRST || *next >= end ? FIRST : *next;
        struct netlink_ip ip = pod_range_at(range, i);
        char text[POD_RANGE_TEXT_BYTES];
        pod_range_format(&ip, text);
        *next = i + 1;
        if (map_has(used, str_of(text)))
            continue;
        *ret = ip;
        return true;
    }
    return false;
}
