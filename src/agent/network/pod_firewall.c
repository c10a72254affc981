/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nftables of native pod networks; see pod_firewall.h. In nft(8)'s words, for IPv4:
 *
 *     chain guard      { hook prerouting raw;     iifname dmp* ip daddr 127.0.0.0/8 drop }
 *     chain arriving   { hook prerouting dstnat;  fib daddr type local jump host_ports }
 *     chain own        { hook output dstnat;      fib daddr type local jump host_ports }
 *     chain host_ports { dnat ip to ip daddr . meta l4proto . th dport map @ports_at4
 *                        dnat ip to meta l4proto . th dport map @ports4 }
 *     chain leaving    { hook postrouting srcnat; ip saddr 127.0.0.0/8 oifname dmp* masquerade
 *                        ip saddr . ip daddr @hairpin4 masquerade
 *                        ip daddr CLUSTER return                       for each range, and
 * multicast ip saddr PODS masquerade }
 *
 * guard: route_localnet is on for the devices of pods with host ports; without it a pod could reach
 * what listens on the node's loopback address.
 */
#include "agent/network/pod_firewall.h"

#include "agent/network/pod_native.h"
#include "agent/network/pod_range.h"
#include "base/mem.h"
#include "container/nftables.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#define TABLE "dormouse_pods"

enum { RAW = -300, DSTNAT = -100, SRCNAT = 100, PORT_OFFSET = 2, KEY_MAX = 40 };

struct family {
    uint8_t number; /* AF_INET, which is NFPROTO_IPV4 */
    enum nftables_type type;
    uint32_t bytes, saddr, daddr; /* of an address; where they are in the header */
    const char *ports, *ports_at, *hairpin;
};

static const struct family families[] = {
    { NFPROTO_IPV4, NFTABLES_IPV4, 4, 12, 16, "ports4", "ports_at4", "hairpin4" },
    { NFPROTO_IPV6, NFTABLES_IPV6, 16, 8, 24, "ports6", "ports_at6", "hairpin6" },
};

static const struct family *family_of(const struct netlink_ip *ip)
{
    return &families[ip->family == AF_INET6];
}

/* ---------------------------------------------------------------- rules */

static void match_family(struct nftables_batch *b, const struct family *f)
{
    nftables_load_meta(b, NFT_META_NFPROTO, NFT_REG_1);
    nftables_match(b, NFT_REG_1, &f->number, 1);
}

/* The address at this offset is in the range. */
static void match_range(struct nftables_batch *b, uint32_t offset, const struct netlink_ip *range)
{
    const struct family *f = family_of(range);
    uint8_t mask[16] = { 0 };
    for (unsigned bit = 0; bit < range->prefix; bit++)
        mask[bit / 8] |= (uint8_t)(0x80u >> (bit % 8));
    match_family(b, f);
    nftables_load_payload(b, NFT_PAYLOAD_NETWORK_HEADER, offset, f->bytes, NFT_REG_1);
    nftables_mask(b, NFT_REG_1, mask, f->bytes);
    nftables_match(b, NFT_REG_1, range->bytes, f->bytes);
}

static void match_device(struct nftables_batch *b, uint32_t key)
{
    nftables_load_meta(b, key, NFT_REG_1);
    nftables_match(b, NFT_REG_1, POD_NATIVE_DEVICES, strlen(POD_NATIVE_DEVICES));
}

static const struct netlink_ip loopback = { .family = AF_INET, .prefix = 8, .bytes = { 127 } };
static const struct netlink_ip multicasts[] = {
    { .family = AF_INET, .prefix = 4, .bytes = { 224 } },
    { .family = AF_INET6, .prefix = 8, .bytes = { 0xff } },
};

static void add_guard(struct nftables_batch *b)
{
    nftables_add_base_chain(b, "guard", "filter", NF_INET_PRE_ROUTING, RAW);
    nftables_begin_rule(b, "guard");
    match_device(b, NFT_META_IIFNAME);
    match_range(b, families[0].daddr, &loopback);
    nftables_verdict(b, NF_DROP, NULL);
    nftables_end_rule(b);
}

static void add_jump(struct nftables_batch *b, const char *chain, uint32_t hook)
{
    const uint32_t local = RTN_LOCAL;
    nftables_add_base_chain(b, chain, "nat", hook, DSTNAT);
    nftables_begin_rule(b, chain);
    nftables_load_destination_type(b, NFT_REG_1);
    nftables_match(b, NFT_REG_1, &local, sizeof local);
    nftables_verdict(b, NFT_JUMP, "host_ports");
    nftables_end_rule(b);
}

/* The key is loaded from NFT_REG32_00 on; the value replaces it. */
static void add_port_rule(struct nftables_batch *b, const struct family *f, bool has_address)
{
    uint32_t reg = NFT_REG32_00;
    nftables_begin_rule(b, "host_ports");
    match_family(b, f);
    if (has_address) {
        nftables_load_payload(b, NFT_PAYLOAD_NETWORK_HEADER, f->daddr, f->bytes, reg);
        reg += f->bytes / 4;
    }
    nftables_load_meta(b, NFT_META_L4PROTO, reg);
    nftables_load_payload(b, NFT_PAYLOAD_TRANSPORT_HEADER, PORT_OFFSET, 2, reg + 1);
    nftables_look_up(b, has_address ? f->ports_at : f->ports, NFT_REG32_00, NFT_REG32_00);
    nftables_dnat(b, f->number, NFT_REG32_00, NFT_REG32_00 + f->bytes / 4);
    nftables_end_rule(b);
}

static void add_hairpin_rule(struct nftables_batch *b, const struct family *f)
{
    nftables_begin_rule(b, "leaving");
    match_family(b, f);
    nftables_load_payload(b, NFT_PAYLOAD_NETWORK_HEADER, f->saddr, 2 * f->bytes, NFT_REG32_00);
    nftables_look_up(b, f->hairpin, NFT_REG32_00, 0);
    nftables_masquerade(b);
    nftables_end_rule(b);
}

static void add_return(struct nftables_batch *b, const struct netlink_ip *range)
{
    nftables_begin_rule(b, "leaving");
    match_range(b, family_of(range)->daddr, range);
    nftables_verdict(b, NFT_RETURN, NULL);
    nftables_end_rule(b);
}

static void add_leaving(struct nftables_batch *b, const struct pod_firewall_ranges *ranges)
{
    nftables_add_base_chain(b, "leaving", "nat", NF_INET_POST_ROUTING, SRCNAT);
    nftables_begin_rule(b, "leaving");
    match_range(b, families[0].saddr, &loopback);
    match_device(b, NFT_META_OIFNAME);
    nftables_masquerade(b);
    nftables_end_rule(b);
    for (size_t i = 0; i < ARRAY_LEN(families); i++)
        add_hairpin_rule(b, &families[i]);
    for (size_t i = 0; i < ARRAY_LEN(multicasts); i++)
        add_return(b, &multicasts[i]);
    for (size_t i = 0; i < ranges->n_cluster; i++)
        add_return(b, &ranges->cluster[i]);
    for (size_t i = 0; i < ranges->n_pods; i++)
        add_return(b, &ranges->pods[i]);
    for (size_t i = 0; i < ranges->n_pods; i++) {
        nftables_begin_rule(b, "leaving");
        match_range(b, family_of(&ranges->pods[i])->saddr, &ranges->pods[i]);
        nftables_masquerade(b);
        nftables_end_rule(b);
    }
}

/* ---------------------------------------------------------------- maps */

static void add_maps(struct nftables_batch *b)
{
    nftables_add_table(b);
    for (size_t i = 0; i < ARRAY_LEN(families); i++) {
        const struct family *f = &families[i];
        const struct nftables_map maps[] = {
            { f->ports, { NFTABLES_PROTOCOL, NFTABLES_PORT }, { f->type, NFTABLES_PORT }, 0 },
            { f->ports_at,
              { f->type, NFTABLES_PROTOCOL, NFTABLES_PORT },
              { f->type, NFTABLES_PORT },
              0 },
            { f->hairpin, { f->type, f->type }, { NFTABLES_NONE }, 0 },
        };
        for (size_t j = 0; j < ARRAY_LEN(maps); j++)
            nftables_add_map(b, &maps[j]);
    }
}

int pod_firewall_prepare(const struct pod_firewall_ranges *ranges, struct err *err)
{
    struct nftables_batch b;
    nftables_begin(&b, TABLE);
    add_maps(&b);
    nftables_add_chain(&b, "host_ports");
    add_guard(&b);
    add_jump(&b, "arriving", NF_INET_PRE_ROUTING);
    add_jump(&b, "own", NF_INET_LOCAL_OUT);
    for (size_t i = 0; i < ARRAY_LEN(families); i++) {
        add_port_rule(&b, &families[i], true);
        add_port_rule(&b, &families[i], false);
    }
    add_leaving(&b, ranges);
    return nftables_commit(&b, err);
}

/* ---------------------------------------------------------------- host ports */

static uint8_t number_of(enum pod_network_protocol protocol)
{
    switch (protocol) {
    case POD_NETWORK_TCP:
        return IPPROTO_TCP;
    case POD_NETWORK_UDP:
        return IPPROTO_UDP;
    case POD_NETWORK_SCTP:
        return IPPROTO_SCTP;
    }
    return IPPROTO_TCP;
}

struct words { /* a key or value: parts of a multiple of 4 bytes */
    uint8_t bytes[KEY_MAX];
    size_t n;
};

static void put(struct words *w, const void *p, size_t n)
{
    memcpy(w->bytes + w->n, p, n);
    w->n += (n + 3) / 4 * 4;
}

static bool is_zero(const struct netlink_ip *ip)
{
    static const uint8_t zeros[sizeof ip->bytes];
    return memcmp(ip->bytes, zeros, sizeof zeros) == 0;
}

static void change_port(struct nftables_batch *b, bool adds, const struct pod_record_port *port,
                        const struct netlink_ip *ip)
{
    const struct family *f = family_of(ip);
    struct netlink_ip host = { 0 };
    struct words key = { 0 }, value = { 0 };
    uint16_t host_port = htons(port->host_port), pod_port = htons(port->container_port);
    uint8_t protocol = number_of(port->protocol);
    bool has_host = port->host_ip.n > 0;
    /* A host address of one family counts only for the pod's address of that family. */
    if (has_host && (!pod_range_parse_ip(port->host_ip, &host) || host.family != ip->family))
        return;
    has_host = has_host && !is_zero(&host); /* 0.0.0.0 is every address */
    if (has_host)
        put(&key, host.bytes, f->bytes);
    put(&key, &protocol, 1);
    put(&key, &host_port, 2);
    put(&value, ip->bytes, f->bytes);
    put(&value, &pod_port, 2);
    nftables_change_element(b, adds, has_host ? f->ports_at : f->ports, key.bytes, key.n,
                            value.bytes, value.n);
}

static void change_ports(struct nftables_batch *b, bool adds, const struct pod_record *rec)
{
    for (size_t i = 0; i < rec->n_ips; i++) {
        struct netlink_ip ip;
        struct words pair = { 0 };
        if (!pod_range_parse_ip(rec->ips[i], &ip))
            continue;
        for (size_t j = 0; j < rec->n_ports; j++)
            change_port(b, adds, &rec->ports[j], &ip);
        put(&pair, ip.bytes, family_of(&ip)->bytes);
        put(&pair, ip.bytes, family_of(&ip)->bytes);
        nftables_change_element(b, adds, family_of(&ip)->hairpin, pair.bytes, pair.n, NULL, 0);
    }
}

int pod_firewall_open(const struct pod_record *rec, struct err *err)
{
    struct nftables_batch b;
    nftables_begin(&b, TABLE);
    change_ports(&b, true, rec);
    return nftables_commit(&b, err);
}

/* One batch adds what is missing, the table included, and removes all: removing what is not there
 * would fail. */
int pod_firewall_shut(const struct pod_record *rec, struct err *err)
{
    struct nftables_batch b;
    nftables_begin(&b, TABLE);
    add_maps(&b);
    change_ports(&b, true, rec);
    change_ports(&b, false, rec);
    return nftables_commit(&b, err);
}
