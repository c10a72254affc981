/* SPDX-License-Identifier: Apache-2.0 */
/* nftables of native pod networks; see pod_firewall.h. */
#include "agent/network/pod_firewall.h"

#include "agent/network/pod_range.h"
#include "base/buf.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>

#define TABLE "inet dormouse_pods"

enum { SCRIPT_MAX = 256 << 10 };

/* Of libnftables(3), which need not be installed: neither for building nor for running. */
struct nft {
    void *library;
    void *(*context_new)(uint32_t flags);
    void (*context_free)(void *context);
    int (*run)(void *context, const char *script);
    int (*buffer_error)(void *context);
    int (*buffer_output)(void *context);
    const char *(*get_error)(void *context);
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the library has static state */

static int load(struct nft *nft, struct err *err)
{
    nft->library = dlopen("libnftables.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!nft->library)
        return err_set(err, E_UNSUPPORTED, "libnftables.so.1 is not installed");
#define FIND(member, name) *(void **)&nft->member = dlsym(nft->library, name)
    FIND(context_new, "nft_ctx_new");
    FIND(context_free, "nft_ctx_free");
    FIND(run, "nft_run_cmd_from_buffer");
    FIND(buffer_error, "nft_ctx_buffer_error");
    FIND(buffer_output, "nft_ctx_buffer_output");
    FIND(get_error, "nft_ctx_get_error_buffer");
#undef FIND
    if (nft->context_new && nft->context_free && nft->run && nft->buffer_error &&
        nft->buffer_output && nft->get_error)
        return 0;
    (void)dlclose(nft->library);
    return err_set(err, E_UNSUPPORTED, "libnftables.so.1 lacks a function");
}

static int run_loaded(const struct nft *nft, const char *script, struct err *err)
{
    void *context = nft->context_new(0);
    if (!context)
        return err_set(err, E_UNSUPPORTED, "nftables cannot be used");
    (void)nft->buffer_error(context);
    (void)nft->buffer_output(context);
    int r = nft->run(context, script) == 0 ? 0 : -EIO;
    if (r < 0) {
        struct str text = str_of(nft->get_error(context)), line, rest;
        (void)str_cut(text, '\n', &line, &rest);
        (void)err_set(err, r, "nftables: " STR_FMT, STR_ARG(line));
    }
    nft->context_free(context);
    return r;
}

static int run(struct buf *script, struct err *err)
{
    struct nft nft = { 0 };
    if (!buf_ok(script))
        return err_sys(err, script->failed, "rules of nftables");
    (void)pthread_mutex_lock(&lock);
    int r = load(&nft, err);
    if (r == 0) {
        r = run_loaded(&nft, buf_cstr(script), err);
        (void)dlclose(nft.library);
    }
    (void)pthread_mutex_unlock(&lock);
    return r;
}

/* ---------------------------------------------------------------- the table */

static void add_set(struct buf *b, const char *name, const struct netlink_ip *ranges, size_t n,
                    uint8_t family)
{
    const char *suffix = family == AF_INET6 ? "6" : "4";
    (void)buf_printf(b, "add set " TABLE " %s%s { type %s; flags interval; auto-merge; }\n", name,
                     suffix, family == AF_INET6 ? "ipv6_addr" : "ipv4_addr");
    (void)buf_printf(b, "flush set " TABLE " %s%s\n", name, suffix);
    for (size_t i = 0; i < n; i++) {
        char text[POD_RANGE_TEXT_BYTES];
        if (ranges[i].family != family)
            continue;
        pod_range_format(&ranges[i], text);
        (void)buf_printf(b, "add element " TABLE " %s%s { %s/%u }\n", name, suffix, text,
                         ranges[i].prefix);
    }
}

static void add_family_maps(struct buf *b, char family, const char *type)
{
    (void)buf_printf(b,
                     "add map " TABLE
                     " ports%c { type inet_proto . inet_service : %s . inet_service; }\n"
                     "add map " TABLE
                     " ports_at%c { type %s . inet_proto . inet_service : %s . inet_service; }\n"
                     "add set " TABLE " hairpin%c { type %s . %s; }\n",
                     family, type, family, type, type, family, type, type);
}

static void add_table(struct buf *b)
{
    (void)buf_add_cstr(b, "add table " TABLE "\n");
    add_family_maps(b, '4', "ipv4_addr");
    add_family_maps(b, '6', "ipv6_addr");
}

/* Destinations of host ports: first those of one address of the node, then those of any. */
static void add_port_rules(struct buf *b, char family, const char *ip)
{
    const char *dnat = family == '6' ? "dnat ip6 to" : "dnat ip to";
    (void)buf_printf(b,
                     "add rule " TABLE " host_ports %s %s daddr . meta l4proto . th dport map "
                     "@ports_at%c\n"
                     "add rule " TABLE " host_ports meta nfproto %s %s meta l4proto . th dport "
                     "map @ports%c\n",
                     dnat, ip, family, family == '6' ? "ipv6" : "ipv4", dnat, family);
}

/*
 * guard: route_localnet is on for devices of pods with host ports; without this a pod could reach
 * what listens on the node's loopback address.
 */
static const char chains[] =
    "add chain " TABLE " host_ports\n"
    "flush chain " TABLE " host_ports\n"
    "add chain " TABLE " guard { type filter hook prerouting priority -300; }\n"
    "flush chain " TABLE " guard\n"
    "add rule " TABLE " guard iifname \"dmp*\" ip daddr 127.0.0.0/8 drop\n"
    "add chain " TABLE " arriving { type nat hook prerouting priority -100; }\n"
    "flush chain " TABLE " arriving\n"
    "add rule " TABLE " arriving fib daddr type local jump host_ports\n"
    "add chain " TABLE " own { type nat hook output priority -100; }\n"
    "flush chain " TABLE " own\n"
    "add rule " TABLE " own fib daddr type local jump host_ports\n"
    "add chain " TABLE " leaving { type nat hook postrouting priority 100; }\n"
    "flush chain " TABLE " leaving\n"
    "add rule " TABLE " leaving ip saddr 127.0.0.0/8 oifname \"dmp*\" masquerade\n"
    "add rule " TABLE " leaving ip saddr . ip daddr @hairpin4 masquerade\n"
    "add rule " TABLE " leaving ip6 saddr . ip6 daddr @hairpin6 masquerade\n"
    "add rule " TABLE " leaving ip saddr @pods4 ip daddr != @cluster4 ip daddr != 224.0.0.0/4 "
    "masquerade\n"
    "add rule " TABLE " leaving ip6 saddr @pods6 ip6 daddr != @cluster6 ip6 daddr != ff00::/8 "
    "masquerade\n";

int pod_firewall_prepare(const struct pod_firewall_ranges *ranges, struct err *err)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(SCRIPT_MAX);
    static const uint8_t families[] = { AF_INET, AF_INET6 };
    struct netlink_ip cluster[32];
    size_t n = 0;
    assert(ranges->n_pods + ranges->n_cluster <= ARRAY_LEN(cluster));
    for (size_t i = 0; i < ranges->n_cluster; i++)
        cluster[n++] = ranges->cluster[i];
    for (size_t i = 0; i < ranges->n_pods; i++)
        cluster[n++] = ranges->pods[i];
    add_table(&b);
    for (size_t i = 0; i < ARRAY_LEN(families); i++) {
        add_set(&b, "pods", ranges->pods, ranges->n_pods, families[i]);
        add_set(&b, "cluster", cluster, n, families[i]);
    }
    (void)buf_add_cstr(&b, chains);
    add_port_rules(&b, '4', "ip");
    add_port_rules(&b, '6', "ip6");
    return run(&b, err);
}

/* ---------------------------------------------------------------- host ports */

static const char *protocol_name(enum pod_network_protocol protocol)
{
    switch (protocol) {
    case POD_NETWORK_TCP:
        return "tcp";
    case POD_NETWORK_UDP:
        return "udp";
    case POD_NETWORK_SCTP:
        return "sctp";
    }
    return "tcp";
}

static void write_port(struct buf *b, const char *verb, const struct pod_record_port *port,
                       struct str ip, char family)
{
    bool is_any =
        port->host_ip.n == 0 || str_is(port->host_ip, "0.0.0.0") || str_is(port->host_ip, "::");
    (void)buf_printf(b, "%s element " TABLE " %s%c { ", verb, is_any ? "ports" : "ports_at",
                     family);
    if (!is_any)
        (void)buf_printf(b, STR_FMT " . ", STR_ARG(port->host_ip));
    (void)buf_printf(b, "%s . %u : " STR_FMT " . %u }\n", protocol_name(port->protocol),
                     port->host_port, STR_ARG(ip), port->container_port);
}

/* A host address of one family counts only for the pod's address of that family. */
static bool is_for(const struct pod_record_port *port, const struct netlink_ip *ip)
{
    struct netlink_ip host;
    return port->host_ip.n == 0 ||
           (pod_range_parse_ip(port->host_ip, &host) && host.family == ip->family);
}

static void write_elements(struct buf *b, const char *verb, const struct pod_record *rec)
{
    for (size_t i = 0; i < rec->n_ips; i++) {
        struct netlink_ip ip;
        if (!pod_range_parse_ip(rec->ips[i], &ip))
            continue;
        char family = ip.family == AF_INET6 ? '6' : '4';
        for (size_t j = 0; j < rec->n_ports; j++)
            if (is_for(&rec->ports[j], &ip))
                write_port(b, verb, &rec->ports[j], rec->ips[i], family);
        (void)buf_printf(b, "%s element " TABLE " hairpin%c { " STR_FMT " . " STR_FMT " }\n", verb,
                         family, STR_ARG(rec->ips[i]), STR_ARG(rec->ips[i]));
    }
}

int pod_firewall_open(const struct pod_record *rec, struct err *err)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(SCRIPT_MAX);
    write_elements(&b, "add", rec);
    return run(&b, err);
}

/* One transaction adds what is missing, the table included, and removes all: removing what is not
 * there would fail. */
int pod_firewall_shut(const struct pod_record *rec, struct err *err)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(SCRIPT_MAX);
    if (rec->n_ips == 0)
        return 0;
    add_table(&b);
    write_elements(&b, "add", rec);
    write_elements(&b, "delete", rec);
    return run(&b, err);
}
