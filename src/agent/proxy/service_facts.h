/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rules of a Service depend on, read out of its object and of its EndpointSlices. Pure.
 * What does not parse, or is beyond a limit, is left out: the API has validated the objects.
 */
#pragma once

#include "codec/json.h"
#include "container/netlink.h"

enum {
    SERVICE_PORTS_MAX = 256,
    SERVICE_ADDRESSES_MAX = 64, /* of each list */
    SLICE_ENDPOINTS_MAX = 1000,
    SLICE_PORTS_MAX = 100
};

struct service_port {
    struct str name;
    uint8_t protocol;         /* IPPROTO_TCP, ... */
    uint16_t port, node_port; /* node_port 0: none */
};

struct service_facts {
    struct arena arena;                         /* holds the lists below */
    struct netlink_ip *cluster_ips, *other_ips; /* other: externalIPs, and of load balancers */
    size_t n_cluster_ips, n_other_ips;          /* no cluster_ips: needs no rules */
    struct service_port *ports;
    size_t n_ports;
    uint32_t affinity_s; /* sessionAffinity ClientIP lasts for so long; 0: none */
    bool is_external_local, is_internal_local; /* traffic policies */
};

/* Where this node is. */
struct service_place {
    struct str node, zone; /* zone "": not known */
};

struct service_endpoint {
    struct netlink_ip ip;
    bool is_ready, is_draining; /* draining: terminating, and serves */
    bool is_here;               /* on this node */
    bool has_hints, is_hinted;  /* hinted: for this node's zone */
};

struct service_slice {
    struct arena arena;
    struct str service; /* name; "": of none */
    struct service_port *ports;
    struct service_endpoint *endpoints;
    size_t n_ports, n_endpoints;
};

struct service_facts *service_facts_read(const struct json *service);
void service_facts_free(struct service_facts *s); /* NULL: no-op */
struct service_slice *service_slice_read(const struct json *slice,
                                         const struct service_place *place);
void service_slice_free(struct service_slice *s); /* NULL: no-op */
