/* SPDX-License-Identifier: Apache-2.0 */
/* What the index (zone.c) and the answers (zone_answer.c) of a zone share. */
#pragma once

#include "base/list.h"
#include "base/map.h"
#include "dns/zone.h"

enum zone_protocol { ZONE_TCP, ZONE_UDP, ZONE_SCTP };

struct zone_port {
    struct str name; /* in lower case, never "" */
    enum zone_protocol protocol;
    uint16_t port;
};

/* What a Service says. */
struct zone_facts {
    struct arena arena;
    bool is_headless, is_external, publishes_all;
    struct str external; /* name in the form of messages; "": not a name */
    struct address ips[2];
    size_t n_ips, n_ports;
    const struct zone_port *ports;
};

struct zone_service {
    struct str key, namespace, name; /* in the map */
    struct zone_facts *facts;        /* NULL: only slices are known */
    struct list slices;
};

struct zone_endpoint {
    struct list same_ip; /* a ring without a head; the map has one of them */
    struct zone_slice *slice;
    struct address ip;
    struct str host; /* "": none */
    bool is_ready;
};

struct zone_slice {
    struct list of_service;
    struct zone_service *service;
    struct arena arena;
    const struct zone_port *ports;
    struct zone_endpoint *endpoints;
    size_t n_ports, n_endpoints;
};

struct dns_zone {
    struct dns_name name;
    struct map services, slices, cluster_ips, endpoint_ips, namespaces;
    size_t n_endpoints;
    struct address servers[DNS_ZONE_SERVERS_MAX];
    size_t n_servers;
    uint32_t serial; /* counts changes */
    bool has_services, has_slices, leaves_out;
};

struct zone_key {
    char text[512];
    size_t n;
};

/* Key of an object. false: one of the names is empty or too long. */
bool dns_zone_key(struct str namespace, struct str name, struct zone_key *ret);
/* "tcp", in any case. */
bool dns_zone_protocol(struct str text, enum zone_protocol *ret);
