/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/proxy/service_facts.h"

#include "agent/network/pod_range.h"
#include "base/mem.h"

#include <netinet/in.h>

enum { BLOCK_BYTES = 512, AFFINITY_DEFAULT_S = 10800, AFFINITY_MAX_S = 86400, PORT_MAX = 65535 };

/* ---------------------------------------------------------------- both */

static uint8_t protocol_of(struct str name)
{
    return str_is(name, "UDP") ? IPPROTO_UDP : str_is(name, "SCTP") ? IPPROTO_SCTP : IPPROTO_TCP;
}

static uint16_t port_of(const struct json *port, const char *member)
{
    int64_t n = json_int_or(json_getc(port, member), 0);
    return n > 0 && n <= PORT_MAX ? (uint16_t)n : 0;
}

static size_t read_ports(struct arena *a, const struct json *list, size_t max,
                         struct service_port **ret)
{
    size_t n = 0, most = list ? MIN((size_t)list->n, max) : 0;
    *ret = arena_new_n(a, struct service_port, most + 1);
    for (const struct json *v = json_first(list); v && n < most; v = v->next) {
        struct service_port port = { .name = str_copy_arena(a, json_get_str(v, "name")),
                                     .protocol = protocol_of(json_get_str(v, "protocol")),
                                     .port = port_of(v, "port"),
                                     .node_port = port_of(v, "nodePort") };
        if (port.port)
            (*ret)[n++] = port;
    }
    return n;
}

/* ---------------------------------------------------------------- Services */

static bool has_ip(const struct netlink_ip *list, size_t n, const struct netlink_ip *ip)
{
    for (size_t i = 0; i < n; i++)
        if (pod_range_equal(&list[i], ip))
            return true;
    return false;
}

static void add_ip(struct netlink_ip *to, size_t *n, struct str text)
{
    if (*n < SERVICE_ADDRESSES_MAX && pod_range_parse_ip(text, &to[*n]) && !has_ip(to, *n, &to[*n]))
        ++*n;
}

static void read_addresses(struct service_facts *s, const struct json *service)
{
    const struct json *spec = json_getc(service, "spec");
    const struct json *balancer = json_getc(json_getc(service, "status"), "loadBalancer");
    struct netlink_ip cluster[SERVICE_ADDRESSES_MAX], other[SERVICE_ADDRESSES_MAX];
    json_each (ip, json_getc(spec, "clusterIPs"))
        add_ip(cluster, &s->n_cluster_ips, json_str(ip));
    json_each (ip, json_getc(spec, "externalIPs"))
        add_ip(other, &s->n_other_ips, json_str(ip));
    json_each (ingress, json_getc(balancer, "ingress"))
        if (!str_is(json_get_str(ingress, "ipMode"), "Proxy")) /* else the balancer translates */
            add_ip(other, &s->n_other_ips, json_get_str(ingress, "ip"));
    s->cluster_ips = arena_new_n(&s->arena, struct netlink_ip, s->n_cluster_ips + 1);
    s->other_ips = arena_new_n(&s->arena, struct netlink_ip, s->n_other_ips + 1);
    memcpy(s->cluster_ips, cluster, s->n_cluster_ips * sizeof *cluster);
    memcpy(s->other_ips, other, s->n_other_ips * sizeof *other);
}

static uint32_t affinity_of(const struct json *spec)
{
    const struct json *client = json_getc(json_getc(spec, "sessionAffinityConfig"), "clientIP");
    int64_t s = json_int_or(json_getc(client, "timeoutSeconds"), AFFINITY_DEFAULT_S);
    if (!str_is(json_get_str(spec, "sessionAffinity"), "ClientIP"))
        return 0;
    return s > 0 && s <= AFFINITY_MAX_S ? (uint32_t)s : AFFINITY_DEFAULT_S;
}

struct service_facts *service_facts_read(const struct json *service)
{
    const struct json *spec = json_getc(service, "spec");
    struct service_facts *s = xnew(struct service_facts);
    s->arena.block_bytes = BLOCK_BYTES;
    if (str_is(json_get_str(spec, "type"), "ExternalName"))
        return s;
    read_addresses(s, service);
    s->n_ports = read_ports(&s->arena, json_getc(spec, "ports"), SERVICE_PORTS_MAX, &s->ports);
    s->affinity_s = affinity_of(spec);
    s->is_external_local = str_is(json_get_str(spec, "externalTrafficPolicy"), "Local");
    s->is_internal_local = str_is(json_get_str(spec, "internalTrafficPolicy"), "Local");
    return s;
}

void service_facts_free(struct service_facts *s)
{
    if (!s)
        return;
    arena_fini(&s->arena);
    free(s);
}

/* ---------------------------------------------------------------- EndpointSlices */

/* Hints for the node count before those for its zone. */
static bool is_hinted(const struct json *hints, const struct service_place *place)
{
    json_each (node, json_getc(hints, "forNodes"))
        if (str_eq(json_get_str(node, "name"), place->node))
            return true;
    json_each (zone, json_getc(hints, "forZones"))
        if (place->zone.n && str_eq(json_get_str(zone, "name"), place->zone))
            return true;
    return false;
}

/* A condition that is absent means what discovery.k8s.io/v1 says of it. */
static void read_conditions(struct service_endpoint *e, const struct json *conditions)
{
    const struct json *ready = json_getc(conditions, "ready");
    const struct json *serving = json_getc(conditions, "serving");
    e->is_ready = !json_is(ready, JSON_FALSE);
    bool serves = json_is(serving, JSON_TRUE) || (!json_is(serving, JSON_FALSE) && e->is_ready);
    e->is_draining = serves && json_bool(json_getc(conditions, "terminating"));
}

/* Only the first address counts, as with kube-proxy. */
static bool read_endpoint(const struct json *v, const struct service_place *place,
                          struct service_endpoint *ret)
{
    const struct json *hints = json_getc(v, "hints");
    *ret = (struct service_endpoint){
        .is_here = place->node.n && str_eq(json_get_str(v, "nodeName"), place->node),
        .has_hints = json_first(hints) != NULL,
        .is_hinted = is_hinted(hints, place),
    };
    read_conditions(ret, json_getc(v, "conditions"));
    const struct json *first = json_first(json_getc(v, "addresses"));
    return first && pod_range_parse_ip(json_str(first), &ret->ip);
}

struct service_slice *service_slice_read(const struct json *slice,
                                         const struct service_place *place)
{
    const struct json *labels = json_getc(json_getc(slice, "metadata"), "labels");
    const struct json *endpoints = json_getc(slice, "endpoints");
    struct service_slice *s = xnew(struct service_slice);
    s->arena.block_bytes = BLOCK_BYTES;
    s->service = str_copy_arena(&s->arena, json_get_str(labels, "kubernetes.io/service-name"));
    s->n_ports = read_ports(&s->arena, json_getc(slice, "ports"), SLICE_PORTS_MAX, &s->ports);
    size_t most = endpoints ? MIN((size_t)endpoints->n, (size_t)SLICE_ENDPOINTS_MAX) : 0;
    s->endpoints = arena_new_n(&s->arena, struct service_endpoint, most + 1);
    for (const struct json *v = json_first(endpoints); v && s->n_endpoints < most; v = v->next)
        if (read_endpoint(v, place, &s->endpoints[s->n_endpoints]))
            s->n_endpoints++;
    return s;
}

void service_slice_free(struct service_slice *s)
{
    if (!s)
        return;
    arena_fini(&s->arena);
    free(s);
}
