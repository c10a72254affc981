/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the facts of a Service to what the maps of nftables have to contain for it. Pure. The maps
 * and chains are described in service_rules.h.
 *
 * Endpoints are those of the ready ones, else of those that terminate and still serve
 * (Kubernetes, "Virtual IPs and Service Proxies"); of them only the node's, where the traffic
 * policy says so, else only the ones with a hint for this node or zone, if all have hints and one
 * is for here.
 */
#pragma once

#include "agent/proxy/service_facts.h"
#include "base/vec.h"

enum {
    SERVICE_ENDPOINTS_MAX = 1024, /* of a port; the others, by address, get no connections */
    SERVICE_READ_MAX = 8192,      /* endpoints of a Service; those of further slices do not count */
    SERVICE_ELEMENTS_MAX = 16384, /* of a Service; what is beyond has no rules */
    SERVICE_KEY_MAX = 44,
    SERVICE_VALUE_MAX = 20
};

/* For IPv4; those for IPv6 follow in the same order. */
enum service_map {
    SERVICE_ADDRESSES,  /* address, protocol, port -> verdict */
    SERVICE_NODE_PORTS, /* protocol, port -> verdict */
    SERVICE_REFUSED,    /* as the first two, for what has no endpoints */
    SERVICE_REFUSED_PORTS,
    SERVICE_ENDPOINTS, /* address (0: a node port), protocol, port, number -> address, port */
    SERVICE_ALIVE,     /* a set: address, protocol, port, address of an endpoint, its port */
    SERVICE_CLUSTER,   /* a set: addresses of which every other port is refused */
    SERVICE_SELF,      /* a set: address, address of an endpoint of this node; of many Services */
    SERVICE_AFFINITY,  /* filled by rules: client, address, protocol, port -> address, port */
    SERVICE_MAPS
};

/* The chain that chooses among n endpoints; one for all Services of the same numbers. */
struct service_chain {
    uint16_t n; /* 0: none */
    bool is_ipv6, is_node_port;
    bool marks; /* packets get the node's address */
    uint32_t affinity_s;
};

enum service_verdict { SERVICE_CHOOSE, SERVICE_REJECT, SERVICE_DROP };

struct service_element {
    uint8_t map; /* enum service_map; + SERVICE_MAPS: for IPv6 */
    uint8_t key_n, value_n;
    uint8_t verdict; /* enum service_verdict; CHOOSE: by the chain */
    bool is_weak;    /* of an external address, which other Services may have as well */
    struct service_chain chain;
    uint8_t key[SERVICE_KEY_MAX], value[SERVICE_VALUE_MAX];
};
typedef VEC(struct service_element) service_elements;

/* Sorted by map and key, each key once. Appends to `to`, which is empty. Returns whether nothing
 * was beyond a limit. */
bool service_elements_make(const struct service_facts *s, const struct service_slice *const *slices,
                           size_t n_slices, service_elements *to);
/* By map and key. */
int service_element_compare(const struct service_element *a, const struct service_element *b);
/* Map, key, value or verdict. */
bool service_element_equal(const struct service_element *a, const struct service_element *b);
bool service_map_has_verdicts(uint8_t map);
