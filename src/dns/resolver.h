/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A DNS server for the pods of a node: names of the cluster from the zone, all others by the
 * forwarder.
 *
 * Loop thread only.
 */
#pragma once

#include "dns/forward.h"
#include "dns/server.h"

struct dns_resolver;

struct dns_resolver_opts {
    struct loop *loop;
    struct dns_zone *zone;     /* kept until dns_resolver_close() */
    const struct address *ips; /* copied; as are the next ones of struct dns_server_opts */
    size_t n_ips;
    uint16_t port;
    const struct address_net *clients;
    size_t n_clients;
    uint32_t client_rate;
    struct dns_servers servers; /* as in struct dns_forward_opts; so are the next ones */
    const char *resolv_conf;
    const struct dns_stub *stubs;
    size_t n_stubs;
};

/* Errors: those of dns_server_start(). */
int dns_resolver_start(const struct dns_resolver_opts *opts, struct dns_resolver **ret,
                       struct err *err);
/* Those who wait get DNS_SERVFAIL. done: once, on a later turn. */
void dns_resolver_close(struct dns_resolver *r, void (*done)(void *arg), void *arg);
struct dns_server *dns_resolver_server(struct dns_resolver *r);
size_t dns_resolver_calls(const struct dns_resolver *r); /* dns_forward_calls() */
