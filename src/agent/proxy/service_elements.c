/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/proxy/service_elements.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>

typedef VEC(const struct service_endpoint *) endpoint_list;

/* One way to a port of a Service. */
struct service_way {
    const struct service_port *port;
    const struct netlink_ip *to; /* NULL: the node port */
    bool is_ipv6, is_local, marks, is_weak;
    uint32_t affinity_s;
};

/* ---------------------------------------------------------------- keys and values */

static void put(uint8_t *to, uint8_t *n, const void *p, size_t bytes)
{
    memcpy(to + *n, p, bytes);
    *n += (uint8_t)((bytes + 3) / 4 * 4); /* each part takes a multiple of 4 bytes */
}

static size_t address_bytes(bool is_ipv6)
{
    return is_ipv6 ? 16 : 4;
}

static struct service_element element_of(enum service_map map, bool is_ipv6)
{
    return (struct service_element){ .map = (uint8_t)(map + (is_ipv6 ? SERVICE_MAPS : 0)) };
}

static void put_address(struct service_element *e, const struct service_way *w)
{
    static const uint8_t none[16];
    put(e->key, &e->key_n, w->to ? w->to->bytes : none, address_bytes(w->is_ipv6));
}

static void put_port(struct service_element *e, const struct service_way *w)
{
    uint16_t port = htons(w->to ? w->port->port : w->port->node_port);
    put(e->key, &e->key_n, &w->port->protocol, 1);
    put(e->key, &e->key_n, &port, 2);
}

/* ---------------------------------------------------------------- which endpoints */

struct service_target { /* an endpoint with the port that has the wanted name */
    struct netlink_ip ip;
    uint16_t port;
};
typedef VEC(struct service_target) target_list;

struct service_choice {
    bool is_ipv6, is_local, is_draining; /* those that are wanted */
    bool by_hints;
    struct str port_name;
};

static const struct service_port *find_port(const struct service_slice *s, struct str name)
{
    for (size_t i = 0; i < s->n_ports; i++)
        if (str_eq(s->ports[i].name, name))
            return &s->ports[i];
    return NULL;
}

static bool is_wanted(const struct service_choice *c, const struct service_endpoint *e)
{
    return (e->ip.family == AF_INET6) == c->is_ipv6 && (!c->is_local || e->is_here) &&
           (c->is_draining ? e->is_draining : e->is_ready) && (!c->by_hints || e->is_hinted);
}

static int compare_targets(const void *a, const void *b)
{
    const struct service_target *x = a, *y = b;
    int r = memcmp(x->ip.bytes, y->ip.bytes, sizeof x->ip.bytes);
    return r ? r : (int)x->port - (int)y->port;
}

static void choose(const struct service_choice *c, const struct service_slice *const *slices,
                   size_t n_slices, target_list *to)
{
    to->n = 0;
    for (size_t i = 0; i < n_slices; i++) {
        const struct service_port *port = find_port(slices[i], c->port_name);
        for (size_t j = 0; port && j < slices[i]->n_endpoints; j++)
            if (is_wanted(c, &slices[i]->endpoints[j]))
                vec_push(to, ((struct service_target){ slices[i]->endpoints[j].ip, port->port }));
    }
    if (to->n)
        qsort(to->p, to->n, sizeof *to->p, compare_targets);
    size_t n = 0;
    for (size_t i = 0; i < to->n; i++)
        if (n == 0 || compare_targets(&to->p[n - 1], &to->p[i]) != 0)
            to->p[n++] = to->p[i];
    to->n = MIN(n, (size_t)SERVICE_ENDPOINTS_MAX);
}

/* All that count have hints, and one is for here. */
static bool hints_count(struct service_choice c, const struct service_slice *const *slices,
                        size_t n_slices)
{
    bool is_any_here = false;
    for (size_t i = 0; i < n_slices; i++) {
        for (size_t j = 0; j < slices[i]->n_endpoints; j++) {
            const struct service_endpoint *e = &slices[i]->endpoints[j];
            if (!is_wanted(&c, e))
                continue;
            if (!e->has_hints)
                return false;
            is_any_here = is_any_here || e->is_hinted;
        }
    }
    return is_any_here;
}

/* What was found for a port, by family and by whether only endpoints of the node are wanted. */
struct service_found {
    const struct service_slice *const *slices;
    size_t n_slices;
    bool is_known[2][2];
    target_list targets[2][2];
};

static const target_list *find_targets(struct service_found *f, const struct service_way *w,
                                       bool is_local)
{
    target_list *to = &f->targets[w->is_ipv6][is_local];
    struct service_choice c = { .is_ipv6 = w->is_ipv6,
                                .is_local = is_local,
                                .port_name = w->port->name };
    if (f->is_known[w->is_ipv6][is_local])
        return to;
    f->is_known[w->is_ipv6][is_local] = true;
    c.by_hints = !is_local && hints_count(c, f->slices, f->n_slices);
    choose(&c, f->slices, f->n_slices, to);
    if (to->n)
        return to;
    c.is_draining = true;
    c.by_hints = false;
    choose(&c, f->slices, f->n_slices, to);
    return to;
}

/* ---------------------------------------------------------------- elements */

static void add_target(const struct service_way *w, uint32_t i, const struct service_target *t,
                       service_elements *to)
{
    uint16_t port = htons(t->port);
    struct service_element e = element_of(SERVICE_ENDPOINTS, w->is_ipv6);
    e.is_weak = w->is_weak;
    put_address(&e, w);
    put_port(&e, w);
    put(e.key, &e.key_n, &i, sizeof i);
    put(e.value, &e.value_n, t->ip.bytes, address_bytes(w->is_ipv6));
    put(e.value, &e.value_n, &port, sizeof port);
    vec_push(to, e);
    if (!w->affinity_s)
        return;
    struct service_element alive = element_of(SERVICE_ALIVE, w->is_ipv6);
    alive.is_weak = w->is_weak;
    put_address(&alive, w);
    put_port(&alive, w);
    put(alive.key, &alive.key_n, t->ip.bytes, address_bytes(w->is_ipv6));
    put(alive.key, &alive.key_n, &port, sizeof port);
    vec_push(to, alive);
}

static struct service_element verdict_of(const struct service_way *w, size_t n, bool are_elsewhere)
{
    enum service_map map = w->to ? (n ? SERVICE_ADDRESSES : SERVICE_REFUSED)
                                 : (n ? SERVICE_NODE_PORTS : SERVICE_REFUSED_PORTS);
    struct service_element e = element_of(map, w->is_ipv6);
    if (w->to)
        put_address(&e, w);
    put_port(&e, w);
    e.is_weak = w->is_weak;
    if (!n) {
        e.verdict = are_elsewhere ? SERVICE_DROP : SERVICE_REJECT;
        return e;
    }
    e.verdict = SERVICE_CHOOSE;
    e.chain = (struct service_chain){ .n = (uint16_t)n,
                                      .is_ipv6 = w->is_ipv6,
                                      .is_node_port = !w->to,
                                      .marks = w->marks,
                                      .affinity_s = w->affinity_s };
    return e;
}

/* false: there would be too many elements. */
static bool add_way(const struct service_way *w, struct service_found *f, service_elements *to)
{
    const target_list *targets = find_targets(f, w, w->is_local);
    bool are_elsewhere = !targets->n && w->is_local && find_targets(f, w, false)->n;
    if (to->n + 1 + 2 * targets->n > SERVICE_ELEMENTS_MAX)
        return false;
    vec_push(to, verdict_of(w, targets->n, are_elsewhere));
    for (size_t i = 0; i < targets->n; i++)
        add_target(w, (uint32_t)i, &targets->p[i], to);
    return true;
}

static void add_cluster_ip(const struct netlink_ip *ip, service_elements *to)
{
    struct service_element e = element_of(SERVICE_CLUSTER, ip->family == AF_INET6);
    put(e.key, &e.key_n, ip->bytes, address_bytes(ip->family == AF_INET6));
    vec_push(to, e);
}

/* A pod that reaches itself by a Service has to see another address than its own. */
static void add_selves(const struct service_slice *const *slices, size_t n_slices,
                       service_elements *to)
{
    for (size_t i = 0; i < n_slices; i++) {
        for (size_t j = 0; j < slices[i]->n_endpoints; j++) {
            const struct service_endpoint *at = &slices[i]->endpoints[j];
            bool is_ipv6 = at->ip.family == AF_INET6;
            struct service_element e = element_of(SERVICE_SELF, is_ipv6);
            put(e.key, &e.key_n, at->ip.bytes, address_bytes(is_ipv6));
            put(e.key, &e.key_n, at->ip.bytes, address_bytes(is_ipv6));
            if (at->is_here)
                vec_push(to, e);
        }
    }
}

static bool has_family(const struct service_facts *s, bool is_ipv6)
{
    for (size_t i = 0; i < s->n_cluster_ips; i++)
        if ((s->cluster_ips[i].family == AF_INET6) == is_ipv6)
            return true;
    return false;
}

/* Through addresses of which other Services may have the same, or the node's. */
static struct service_way outer_way(const struct service_facts *s, const struct service_port *port)
{
    return (struct service_way){ .port = port,
                                 .is_local = s->is_external_local,
                                 .marks = !s->is_external_local,
                                 .affinity_s = s->affinity_s };
}

static bool add_ways(const struct service_facts *s, const struct service_port *port,
                     struct service_found *f, service_elements *to)
{
    for (size_t i = 0; i < s->n_cluster_ips; i++) {
        const struct service_way w = { .port = port,
                                       .to = &s->cluster_ips[i],
                                       .is_ipv6 = s->cluster_ips[i].family == AF_INET6,
                                       .is_local = s->is_internal_local,
                                       .affinity_s = s->affinity_s };
        if (!add_way(&w, f, to))
            return false;
    }
    for (unsigned is_ipv6 = 0; port->node_port && is_ipv6 < 2; is_ipv6++) {
        struct service_way w = outer_way(s, port);
        w.is_ipv6 = is_ipv6;
        if (has_family(s, is_ipv6) && !add_way(&w, f, to))
            return false;
    }
    for (size_t i = 0; i < s->n_other_ips; i++) {
        struct service_way w = outer_way(s, port);
        w.to = &s->other_ips[i];
        w.is_ipv6 = s->other_ips[i].family == AF_INET6;
        w.is_weak = true;
        if (!add_way(&w, f, to))
            return false;
    }
    return true;
}

static bool add_port(const struct service_facts *s, const struct service_port *port,
                     const struct service_slice *const *slices, size_t n_slices,
                     service_elements *to)
{
    struct service_found f = { .slices = slices, .n_slices = n_slices };
    bool is_whole = add_ways(s, port, &f, to);
    for (size_t i = 0; i < 4; i++)
        vec_fini(&f.targets[i / 2][i % 2]);
    return is_whole;
}

int service_element_compare(const struct service_element *a, const struct service_element *b)
{
    int r = (int)a->map - (int)b->map;
    return r ? r : memcmp(a->key, b->key, sizeof a->key);
}

static int compare_elements(const void *a, const void *b)
{
    return service_element_compare(a, b);
}

static bool chain_equal(const struct service_chain *a, const struct service_chain *b)
{
    return a->n == b->n && a->is_ipv6 == b->is_ipv6 && a->is_node_port == b->is_node_port &&
           a->marks == b->marks && a->affinity_s == b->affinity_s;
}

bool service_element_equal(const struct service_element *a, const struct service_element *b)
{
    return service_element_compare(a, b) == 0 && a->verdict == b->verdict &&
           chain_equal(&a->chain, &b->chain) && memcmp(a->value, b->value, sizeof a->value) == 0;
}

bool service_map_has_verdicts(uint8_t map)
{
    return map % SERVICE_MAPS <= SERVICE_REFUSED_PORTS;
}

/* How many slices have as many endpoints as are read. */
static size_t count_slices(const struct service_slice *const *slices, size_t n_slices)
{
    size_t n = 0, n_endpoints = 0;
    while (n < n_slices && (n_endpoints += slices[n]->n_endpoints) <= SERVICE_READ_MAX)
        n++;
    return n;
}

bool service_elements_make(const struct service_facts *s, const struct service_slice *const *slices,
                           size_t n_slices, service_elements *to)
{
    size_t n_read = count_slices(slices, n_slices), n = 0;
    bool is_whole = n_read == n_slices;
    if (!s->n_cluster_ips)
        return true;
    for (size_t i = 0; i < s->n_cluster_ips; i++)
        add_cluster_ip(&s->cluster_ips[i], to);
    for (size_t i = 0; i < s->n_ports; i++) {
        if (!add_port(s, &s->ports[i], slices, n_read, to)) {
            is_whole = false;
            break;
        }
    }
    add_selves(slices, n_read, to);
    qsort(to->p, to->n, sizeof *to->p, compare_elements);
    for (size_t i = 0; i < to->n; i++)
        if (n == 0 || service_element_compare(&to->p[n - 1], &to->p[i]) != 0)
            to->p[n++] = to->p[i];
    to->n = n;
    return is_whole;
}
