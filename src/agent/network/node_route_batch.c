/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routes, and for VXLAN also neighbours and forwarding entries; see node_route_batch.h.
 *
 *     direct:  CIDR via ADDRESS
 *     VXLAN:   CIDR via FIRST dev dormouse.vx onlink     FIRST: the first address of CIDR
 *              neighbour  FIRST -> MAC                   MAC:   node_route_batch_mac(ADDRESS)
 *              forwarding MAC -> ADDRESS
 */
#include "agent/network/node_route_batch.h"

#include "agent/network/pod_range.h"
#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define DEVICE "dormouse.vx"

enum { VXLAN_HEADERS_V4 = 50, VXLAN_HEADERS_V6 = 70, MTU_MIN = 1280 };

struct wanted_route {
    struct netlink_ip to, gateway;
    bool by_vxlan;
};

/* What is wanted, or what is present. The maps point into the lists, once those are complete. */
struct route_state {
    VEC(struct wanted_route) routes;
    VEC(struct netlink_neighbour) neighbours;
    struct map by_net;       /* struct wanted_route, by the bytes of `to` */
    struct map by_neighbour; /* struct netlink_neighbour, by neighbour_key() */
};

struct route_apply {
    const struct node_route_plan *plan;
    int fd;
    uint32_t device; /* of VXLAN; 0: none */
    struct route_state wanted, present;
    int r;
    struct err *err;
};

/* ---------------------------------------------------------------- lists */

static struct str net_key(const struct netlink_ip *net)
{
    return str_n(net, sizeof *net);
}

/* A neighbour is known by its address, a forwarding entry by its MAC address. */
static struct str neighbour_key(const struct netlink_neighbour *n)
{
    return n->is_forwarding ? str_n(&n->mac, sizeof n->mac) : str_n(&n->ip, sizeof n->ip);
}

static void index_state(struct route_state *s)
{
    s->by_net.borrows_keys = s->by_neighbour.borrows_keys = true;
    vec_each (route, &s->routes)
        (void)map_put(&s->by_net, net_key(&route->to), route);
    vec_each (n, &s->neighbours)
        (void)map_put(&s->by_neighbour, neighbour_key(n), n);
}

static void fini_state(struct route_state *s)
{
    map_fini(&s->by_net);
    map_fini(&s->by_neighbour);
    vec_fini(&s->routes);
    vec_fini(&s->neighbours);
}

static void note(struct route_apply *a, int r, const struct err *err)
{
    if (r >= 0 || a->r < 0)
        return;
    a->r = r;
    if (a->err)
        *a->err = *err;
}

/* ---------------------------------------------------------------- what is wanted */

struct netlink_mac node_route_batch_mac(const struct netlink_ip *address)
{
    uint64_t hash = str_hash(str_n(address->bytes, sizeof address->bytes), 0x766d6163);
    struct netlink_mac mac = { { 0x02 } }; /* locally administered */
    for (size_t i = 1; i < sizeof mac.bytes; i++, hash >>= 8)
        mac.bytes[i] = (uint8_t)hash;
    return mac;
}

static const struct netlink_ip *address_of(const struct node_route_peer *peer, uint8_t family)
{
    for (size_t i = 0; i < peer->n_addresses; i++)
        if (peer->addresses[i].family == family)
            return &peer->addresses[i];
    return NULL;
}

/* The address by which packets to the node are wrapped: of the family that both have, the own
 * first. */
static const struct netlink_ip *address_below(const struct route_apply *a,
                                              const struct node_route_peer *peer)
{
    const struct node_route_peer *own = &a->plan->own;
    return own->n_addresses ? address_of(peer, own->addresses[0].family) : NULL;
}

/* An address to which there is no route now counts as direct: setting the route fails, and is tried
 * again. */
static bool is_direct(const struct route_apply *a, const struct netlink_ip *address)
{
    bool direct = true;
    uint32_t mtu;
    if (a->plan->mode == NODE_ROUTE_AUTO && address)
        (void)netlink_is_direct(a->fd, address, &direct, &mtu, NULL);
    else
        direct = a->plan->mode == NODE_ROUTE_DIRECT;
    return direct;
}

static void want_vxlan(struct route_apply *a, const struct netlink_ip *below,
                       const struct netlink_ip *cidr)
{
    struct netlink_mac mac = node_route_batch_mac(below);
    struct netlink_ip first = pod_range_at(cidr, 0);
    vec_push(&a->wanted.routes, ((struct wanted_route){ *cidr, first, true }));
    vec_push(&a->wanted.neighbours, ((struct netlink_neighbour){ .ip = first, .mac = mac }));
    vec_push(&a->wanted.neighbours,
             ((struct netlink_neighbour){ .is_forwarding = true, .ip = *below, .mac = mac }));
}

/* A range without an address of its family has no direct route. */
static void want_peer(struct route_apply *a, const struct node_route_peer *peer)
{
    const struct netlink_ip *below = address_below(a, peer);
    for (size_t i = 0; i < peer->n_cidrs; i++) {
        const struct netlink_ip *cidr = &peer->cidrs[i];
        const struct netlink_ip *address = address_of(peer, cidr->family);
        if (is_direct(a, address)) {
            if (address)
                vec_push(&a->wanted.routes, ((struct wanted_route){ *cidr, *address, false }));
        } else if (below)
            want_vxlan(a, below, cidr);
    }
}

/* ---------------------------------------------------------------- the device */

/* What is left of packets of this size between nodes with addresses of the family. */
static uint32_t mtu_with_headers(uint32_t mtu, uint8_t family)
{
    uint32_t headers = family == AF_INET6 ? VXLAN_HEADERS_V6 : VXLAN_HEADERS_V4;
    return mtu > MTU_MIN + headers ? mtu - headers : MTU_MIN;
}

static uint32_t mtu_below(const struct route_apply *a)
{
    uint32_t mtu = 1500;
    bool direct;
    for (size_t i = 0; i < a->wanted.neighbours.n; i++)
        if (a->wanted.neighbours.p[i].is_forwarding) { /* as a rule one uplink leads to all */
            (void)netlink_is_direct(a->fd, &a->wanted.neighbours.p[i].ip, &direct, &mtu, NULL);
            break;
        }
    return mtu_with_headers(mtu, a->plan->own.addresses[0].family);
}

static bool has_address(const struct ifaddrs *device, const struct netlink_ip *ip)
{
    const struct sockaddr *at = device->ifa_addr;
    if (!at || at->sa_family != ip->family || (device->ifa_flags & IFF_LOOPBACK))
        return false;
    return ip->family == AF_INET6
               ? memcmp(&((const struct sockaddr_in6 *)(const void *)at)->sin6_addr, ip->bytes,
                        16) == 0
               : memcmp(&((const struct sockaddr_in *)(const void *)at)->sin_addr, ip->bytes, 4) ==
                     0;
}

static uint32_t mtu_of(const char *device)
{
    scoped(fd_scoped) int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq ask = { 0 };
    (void)snprintf(ask.ifr_name, sizeof ask.ifr_name, "%s", device);
    return fd >= 0 && ioctl(fd, SIOCGIFMTU, &ask) == 0 ? (uint32_t)ask.ifr_mtu : 0;
}

uint32_t node_route_pod_mtu(struct str address)
{
    struct ifaddrs *all = NULL;
    struct netlink_ip ip;
    uint32_t mtu = 0;
    if (!pod_range_parse_ip(address, &ip) || getifaddrs(&all) < 0)
        return 0;
    for (const struct ifaddrs *d = all; d && !mtu; d = d->ifa_next)
        if (has_address(d, &ip))
            mtu = mtu_of(d->ifa_name);
    freeifaddrs(all);
    return mtu ? mtu_with_headers(mtu, ip.family) : 0;
}

static int make_device(struct route_apply *a, struct err *err)
{
    const struct node_route_peer *own = &a->plan->own;
    struct netlink_vxlan v = { .name = DEVICE,
                               .id = NODE_ROUTE_VXLAN_ID,
                               .port = NODE_ROUTE_VXLAN_PORT,
                               .local = own->addresses[0],
                               .mac = node_route_batch_mac(&own->addresses[0]),
                               .mtu = mtu_below(a) };
    int r = netlink_add_vxlan(a->fd, &v, err);
    if (r == 0)
        r = netlink_find_link(a->fd, DEVICE, &a->device, err);
    for (size_t i = 0; r == 0 && i < own->n_cidrs; i++) {
        struct netlink_ip first = pod_range_at(&own->cidrs[i], 0);
        r = netlink_add_ip(a->fd, a->device, &first, err);
    }
    return r < 0 ? r : netlink_set_up(a->fd, a->device, err);
}

/* Of an earlier process or of another address of this node. */
static bool is_ours(const struct route_apply *a, uint32_t device)
{
    struct netlink_mac has, mac = node_route_batch_mac(&a->plan->own.addresses[0]);
    return netlink_find_mac(a->fd, device, &has, NULL) == 0 && memcmp(&has, &mac, sizeof has) == 0;
}

static void find_device(struct route_apply *a)
{
    struct err err = { 0 };
    uint32_t device = 0;
    bool is_there = netlink_find_link(a->fd, DEVICE, &device, NULL) == 0;
    bool is_wanted = a->wanted.neighbours.n > 0;
    bool is_known = a->plan->own.n_addresses > 0;
    if (is_there && is_known && is_ours(a, device) && (is_wanted || !a->plan->removes)) {
        a->device = device;
        return;
    }
    if (is_there && is_known && (is_wanted || a->plan->removes))
        note(a, netlink_del_link(a->fd, device, &err), &err);
    if (is_wanted)
        note(a, make_device(a, &err), &err);
}

/* There is no device: nodes that are reached directly do not suffer. */
static void drop_vxlan(struct route_apply *a)
{
    size_t n = 0;
    for (size_t i = 0; i < a->wanted.routes.n; i++)
        if (!a->wanted.routes.p[i].by_vxlan)
            a->wanted.routes.p[n++] = a->wanted.routes.p[i];
    a->wanted.routes.n = n;
    a->wanted.neighbours.n = 0;
}

/* ---------------------------------------------------------------- what is present */

static void add_route(void *arg, const struct netlink_route *route)
{
    struct route_apply *a = arg;
    struct wanted_route one = { .to = route->to,
                                .by_vxlan = a->device && route->index == a->device };
    if (route->gateway) {
        one.gateway = *route->gateway;
        one.gateway.prefix = one.gateway.family == AF_INET6 ? 128 : 32;
    }
    vec_push(&a->present.routes, one);
}

static void add_neighbour(void *arg, const struct netlink_neighbour *n)
{
    struct route_apply *a = arg;
    vec_push(&a->present.neighbours, *n);
}

static int read_present(struct route_apply *a, struct err *err)
{
    static const uint8_t families[] = { AF_INET, AF_INET6 };
    int r = 0;
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(families); i++) {
        r = netlink_each_route(a->fd, families[i], NODE_ROUTE_PROTOCOL, add_route, a, err);
        if (r == 0 && a->device)
            r = netlink_each_neighbour(a->fd, a->device, false, families[i], add_neighbour, a, err);
    }
    if (r == 0 && a->device)
        r = netlink_each_neighbour(a->fd, a->device, true, AF_UNSPEC, add_neighbour, a, err);
    return r;
}

/* ---------------------------------------------------------------- changes */

static void note_route(struct route_apply *a, const struct wanted_route *route, int r,
                       struct err *err)
{
    char to[POD_RANGE_TEXT_BYTES], gateway[POD_RANGE_TEXT_BYTES];
    if (r >= 0)
        return;
    pod_range_format(&route->to, to);
    pod_range_format(&route->gateway, gateway);
    (void)err_ctx(err, r, "%s/%u by %s", to, route->to.prefix, gateway);
    note(a, r, err);
}

static void set_route(struct route_apply *a, const struct wanted_route *route)
{
    struct err err = { 0 };
    struct netlink_route nr = { .to = route->to,
                                .gateway = &route->gateway,
                                .index = route->by_vxlan ? a->device : 0,
                                .is_onlink = route->by_vxlan,
                                .protocol = NODE_ROUTE_PROTOCOL };
    note_route(a, route, netlink_set_route(a->fd, &nr, &err), &err);
}

static void del_route(struct route_apply *a, const struct netlink_ip *to)
{
    struct err err = { 0 };
    struct netlink_route nr = { .to = *to, .protocol = NODE_ROUTE_PROTOCOL };
    int r = netlink_del_route(a->fd, &nr, &err);
    note(a, r == -ESRCH ? 0 : r, &err);
}

static void change_neighbours(struct route_apply *a)
{
    struct err err = { 0 };
    vec_each (n, &a->present.neighbours)
        if (a->plan->removes && !map_has(&a->wanted.by_neighbour, neighbour_key(n)))
            note(a, netlink_del_neighbour(a->fd, n, &err), &err);
    vec_each (n, &a->wanted.neighbours) {
        const struct netlink_neighbour *has = map_get(&a->present.by_neighbour, neighbour_key(n));
        n->index = a->device;
        if (!has || memcmp(&has->mac, &n->mac, sizeof n->mac) != 0 ||
            !pod_range_equal(&has->ip, &n->ip))
            note(a, netlink_set_neighbour(a->fd, n, &err), &err);
    }
}

static void change_routes(struct route_apply *a)
{
    vec_each (route, &a->present.routes)
        if (a->plan->removes && !map_has(&a->wanted.by_net, net_key(&route->to)))
            del_route(a, &route->to);
    vec_each (route, &a->wanted.routes) {
        const struct wanted_route *has = map_get(&a->present.by_net, net_key(&route->to));
        if (has && pod_range_equal(&has->gateway, &route->gateway) &&
            has->by_vxlan == route->by_vxlan)
            continue;
        if (has) /* IPv6 would keep both */
            del_route(a, &route->to);
        set_route(a, route);
    }
}

int node_route_batch_apply(const struct node_route_plan *plan, struct err *err)
{
    scoped(fd_scoped) int fd = netlink_open(err);
    struct route_apply a = { .plan = plan, .fd = fd, .err = err };
    struct err why = { 0 };
    if (fd < 0)
        return fd;
    for (size_t i = 0; i < plan->peers.n; i++)
        want_peer(&a, &plan->peers.p[i]);
    find_device(&a);
    if (!a.device)
        drop_vxlan(&a);
    int r = read_present(&a, &why);
    note(&a, r, &why);
    if (r == 0) {
        index_state(&a.wanted);
        index_state(&a.present);
        change_neighbours(&a);
        change_routes(&a);
    }
    fini_state(&a.wanted);
    fini_state(&a.present);
    return a.r;
}
