/* SPDX-License-Identifier: Apache-2.0 */
/* A little rtnetlink (rtnetlink(7)); see netlink.h. */
#include "container/netlink.h"

#include "base/mem.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REQUEST_MAX = 1024 };

struct netlink_request {
    struct nlmsghdr head;
    char body[REQUEST_MAX];
};

static void *tail(struct netlink_request *q)
{
    return (char *)q + NLMSG_ALIGN(q->head.nlmsg_len);
}

static void *add_bytes(struct netlink_request *q, const void *p, size_t n)
{
    void *at = tail(q);
    assert(NLMSG_ALIGN(q->head.nlmsg_len) + n <= sizeof *q);
    memcpy(at, p, n);
    q->head.nlmsg_len = (uint32_t)(NLMSG_ALIGN(q->head.nlmsg_len) + n);
    return at;
}

static struct rtattr *begin(struct netlink_request *q, unsigned short type)
{
    struct rtattr a = { .rta_type = type };
    return add_bytes(q, &a, sizeof a);
}

static void end(struct netlink_request *q, struct rtattr *a)
{
    a->rta_len = (unsigned short)((char *)q + q->head.nlmsg_len - (char *)a);
}

static void add_attr(struct netlink_request *q, unsigned short type, const void *p, size_t n)
{
    struct rtattr *a = begin(q, type);
    add_bytes(q, p, n);
    end(q, a);
}

static void add_u32(struct netlink_request *q, unsigned short type, uint32_t v)
{
    add_attr(q, type, &v, sizeof v);
}

static void init(struct netlink_request *q, unsigned short type, unsigned short flags,
                 const void *p, size_t n)
{
    memset(q, 0, sizeof *q);
    q->head.nlmsg_len = NLMSG_HDRLEN;
    q->head.nlmsg_type = type;
    q->head.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
    add_bytes(q, p, n);
}

/* The kernel answers each request before send() returns. */
static int ask(int fd, const struct netlink_request *q)
{
    char answer[8192];
    if (send(fd, q, q->head.nlmsg_len, 0) < 0)
        return -errno;
    ssize_t n = recv(fd, answer, sizeof answer, 0);
    if (n < 0)
        return -errno;
    const struct nlmsghdr *h = (const struct nlmsghdr *)(const void *)answer;
    if (!NLMSG_OK(h, (size_t)n) || h->nlmsg_type != NLMSG_ERROR)
        return -EPROTO;
    return ((const struct nlmsgerr *)NLMSG_DATA(h))->error;
}

/* ---------------------------------------------------------------- either family */

static size_t ip_bytes(const struct netlink_ip *ip)
{
    return ip->family == AF_INET6 ? 16 : 4;
}

static void add_ip(struct netlink_request *q, unsigned short type, const struct netlink_ip *ip)
{
    add_attr(q, type, ip->bytes, ip_bytes(ip));
}

int netlink_add_ip(int fd, uint32_t index, const struct netlink_ip *ip, struct err *err)
{
    struct netlink_request q;
    struct ifaddrmsg m = { .ifa_family = ip->family,
                           .ifa_prefixlen = ip->prefix,
                           .ifa_flags = ip->family == AF_INET6 ? IFA_F_NODAD : 0,
                           .ifa_scope = RT_SCOPE_UNIVERSE,
                           .ifa_index = index };
    init(&q, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &m, sizeof m);
    add_ip(&q, IFA_LOCAL, ip);
    add_ip(&q, IFA_ADDRESS, ip);
    int r = ask(fd, &q);
    return r < 0 ? err_sys(err, r, "give a network device its address") : 0;
}

/* A removal does not depend on the scope. */
static uint8_t scope_of(unsigned short type, const struct netlink_route *route)
{
    if (type == RTM_DELROUTE)
        return RT_SCOPE_NOWHERE;
    return route->gateway || route->to.family == AF_INET6 ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK;
}

static int change_route(int fd, unsigned short type, unsigned short flags,
                        const struct netlink_route *route)
{
    struct netlink_request q;
    struct rtmsg m = { .rtm_family = route->to.family,
                       .rtm_dst_len = route->to.prefix,
                       .rtm_table = RT_TABLE_MAIN,
                       .rtm_protocol = route->protocol ? route->protocol : RTPROT_STATIC,
                       .rtm_scope = scope_of(type, route),
                       .rtm_flags = route->is_onlink ? RTNH_F_ONLINK : 0,
                       .rtm_type = RTN_UNICAST };
    init(&q, type, flags, &m, sizeof m);
    if (route->to.prefix)
        add_ip(&q, RTA_DST, &route->to);
    if (route->gateway)
        add_ip(&q, RTA_GATEWAY, route->gateway);
    if (route->source)
        add_ip(&q, RTA_PREFSRC, route->source);
    if (route->index)
        add_u32(&q, RTA_OIF, route->index);
    return ask(fd, &q);
}

int netlink_set_route(int fd, const struct netlink_route *route, struct err *err)
{
    int r = change_route(fd, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, route);
    return r < 0 ? err_sys(err, r, "set a route") : 0;
}

int netlink_del_route(int fd, const struct netlink_route *route, struct err *err)
{
    int r = change_route(fd, RTM_DELROUTE, 0, route);
    return r < 0 ? err_sys(err, r, "remove a route") : 0;
}

static void read_route(const struct nlmsghdr *h, uint8_t protocol, netlink_route_fn each, void *arg)
{
    const struct rtmsg *m = NLMSG_DATA(h);
    struct netlink_route route = { .to = { .family = m->rtm_family, .prefix = m->rtm_dst_len },
                                   .protocol = protocol };
    struct netlink_ip gateway = { .family = m->rtm_family };
    if (m->rtm_protocol != protocol || m->rtm_table != RT_TABLE_MAIN)
        return;
    size_t n = RTM_PAYLOAD(h), want = ip_bytes(&route.to);
    for (const struct rtattr *a = RTM_RTA(m); RTA_OK(a, n); a = RTA_NEXT(a, n)) {
        if (a->rta_type == RTA_DST && RTA_PAYLOAD(a) == want)
            memcpy(route.to.bytes, RTA_DATA(a), want);
        if (a->rta_type == RTA_GATEWAY && RTA_PAYLOAD(a) == want) {
            memcpy(gateway.bytes, RTA_DATA(a), want);
            route.gateway = &gateway;
        }
        if (a->rta_type == RTA_OIF && RTA_PAYLOAD(a) == sizeof route.index)
            memcpy(&route.index, RTA_DATA(a), sizeof route.index);
    }
    each(arg, &route);
}

/* An attribute of a device: exactly n bytes. */
static int read_link(int fd, uint32_t index, unsigned short type, void *ret, size_t n)
{
    struct netlink_request q;
    struct ifinfomsg link = { .ifi_family = AF_UNSPEC, .ifi_index = (int)index };
    char answer[16384];
    init(&q, RTM_GETLINK, 0, &link, sizeof link);
    q.head.nlmsg_flags = NLM_F_REQUEST;
    ssize_t got = send(fd, &q, q.head.nlmsg_len, 0) < 0 ? -1 : recv(fd, answer, sizeof answer, 0);
    const struct nlmsghdr *h = (const void *)answer;
    if (got < 0)
        return -errno;
    if (!NLMSG_OK(h, (size_t)got) || h->nlmsg_type != RTM_NEWLINK)
        return -ENODEV;
    size_t left = IFLA_PAYLOAD(h);
    for (const struct rtattr *a = IFLA_RTA((struct ifinfomsg *)NLMSG_DATA(h)); RTA_OK(a, left);
         a = RTA_NEXT(a, left))
        if (a->rta_type == type && RTA_PAYLOAD(a) == n) {
            memcpy(ret, RTA_DATA(a), n);
            return 0;
        }
    return -ENODATA;
}

/* Calls each() for every message of the answer to a dump. */
static int dump(int fd, struct netlink_request *q,
                void (*each)(void *arg, const struct nlmsghdr *h), void *arg)
{
    char answer[32768];
    q->head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    if (send(fd, q, q->head.nlmsg_len, 0) < 0)
        return -errno;
    for (;;) {
        ssize_t got = recv(fd, answer, sizeof answer, 0);
        if (got < 0)
            return -errno;
        size_t n = (size_t)got;
        for (const struct nlmsghdr *h = (const void *)answer; NLMSG_OK(h, n);
             h = NLMSG_NEXT(h, n)) {
            if (h->nlmsg_type == NLMSG_DONE)
                return 0;
            if (h->nlmsg_type == NLMSG_ERROR)
                return ((const struct nlmsgerr *)NLMSG_DATA(h))->error;
            each(arg, h);
        }
    }
}

struct route_dump {
    uint8_t protocol;
    netlink_route_fn each;
    void *arg;
};

static void on_route(void *arg, const struct nlmsghdr *h)
{
    const struct route_dump *d = arg;
    if (h->nlmsg_type == RTM_NEWROUTE)
        read_route(h, d->protocol, d->each, d->arg);
}

int netlink_each_route(int fd, uint8_t family, uint8_t protocol, netlink_route_fn each, void *arg,
                       struct err *err)
{
    struct netlink_request q;
    struct rtmsg m = { .rtm_family = family };
    struct route_dump d = { protocol, each, arg };
    init(&q, RTM_GETROUTE, 0, &m, sizeof m);
    int r = dump(fd, &q, on_route, &d);
    return r < 0 ? err_sys(err, r, "read the routes") : 0;
}

int netlink_is_direct(int fd, const struct netlink_ip *to, bool *ret, uint32_t *ret_mtu,
                      struct err *err)
{
    struct netlink_request q;
    struct rtmsg m = { .rtm_family = to->family, .rtm_dst_len = (uint8_t)(ip_bytes(to) * 8) };
    char answer[8192];
    uint32_t device = 0;
    bool has_gateway = false;
    init(&q, RTM_GETROUTE, 0, &m, sizeof m);
    q.head.nlmsg_flags = NLM_F_REQUEST;
    add_ip(&q, RTA_DST, to);
    ssize_t got = send(fd, &q, q.head.nlmsg_len, 0) < 0 ? -1 : recv(fd, answer, sizeof answer, 0);
    const struct nlmsghdr *h = (const void *)answer;
    if (got < 0 || !NLMSG_OK(h, (size_t)got) || h->nlmsg_type != RTM_NEWROUTE)
        return err_sys(err, got < 0 ? -errno : -ENETUNREACH, "look for a route");
    size_t n = RTM_PAYLOAD(h);
    for (const struct rtattr *a = RTM_RTA((struct rtmsg *)NLMSG_DATA(h)); RTA_OK(a, n);
         a = RTA_NEXT(a, n)) {
        has_gateway = has_gateway || a->rta_type == RTA_GATEWAY;
        if (a->rta_type == RTA_OIF && RTA_PAYLOAD(a) == sizeof device)
            memcpy(&device, RTA_DATA(a), sizeof device);
    }
    *ret = !has_gateway;
    int r = read_link(fd, device, IFLA_MTU, ret_mtu, sizeof *ret_mtu);
    return r < 0 ? err_sys(err, r, "read the MTU of a network device") : 0;
}

int netlink_set_mtu(int fd, uint32_t index, uint32_t mtu, struct err *err)
{
    struct netlink_request q;
    struct ifinfomsg link = { .ifi_family = AF_UNSPEC, .ifi_index = (int)index };
    init(&q, RTM_NEWLINK, 0, &link, sizeof link);
    add_u32(&q, IFLA_MTU, mtu);
    int r = ask(fd, &q);
    return r < 0 ? err_sys(err, r, "set the MTU of a network device") : 0;
}

/* ---------------------------------------------------------------- VXLAN */

int netlink_add_vxlan(int fd, const struct netlink_vxlan *v, struct err *err)
{
    struct netlink_request q;
    struct ifinfomsg link = { .ifi_family = AF_UNSPEC };
    const uint16_t port = htons(v->port);
    const uint8_t off = 0;
    init(&q, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &link, sizeof link);
    add_attr(&q, IFLA_IFNAME, v->name, strlen(v->name) + 1);
    add_attr(&q, IFLA_ADDRESS, v->mac.bytes, sizeof v->mac.bytes);
    add_u32(&q, IFLA_MTU, v->mtu);
    struct rtattr *info = begin(&q, IFLA_LINKINFO);
    add_attr(&q, IFLA_INFO_KIND, "vxlan", 5);
    struct rtattr *data = begin(&q, IFLA_INFO_DATA);
    add_u32(&q, IFLA_VXLAN_ID, v->id);
    add_ip(&q, v->local.family == AF_INET6 ? IFLA_VXLAN_LOCAL6 : IFLA_VXLAN_LOCAL, &v->local);
    add_attr(&q, IFLA_VXLAN_PORT, &port, sizeof port);
    add_attr(&q, IFLA_VXLAN_LEARNING, &off, sizeof off);
    end(&q, data);
    end(&q, info);
    int r = ask(fd, &q);
    return r < 0 ? err_sys(err, r, "make a VXLAN device") : 0;
}

int netlink_find_mac(int fd, uint32_t index, struct netlink_mac *ret, struct err *err)
{
    int r = read_link(fd, index, IFLA_ADDRESS, ret->bytes, sizeof ret->bytes);
    return r < 0 ? err_sys(err, r, "read the address of a network device") : 0;
}

static int change_neighbour(int fd, unsigned short type, unsigned short flags,
                            const struct netlink_neighbour *n)
{
    struct netlink_request q;
    struct ndmsg m = { .ndm_family = n->is_forwarding ? AF_BRIDGE : n->ip.family,
                       .ndm_ifindex = (int)n->index,
                       .ndm_state = NUD_PERMANENT,
                       .ndm_flags = n->is_forwarding ? NTF_SELF : 0 };
    init(&q, type, flags, &m, sizeof m);
    add_ip(&q, NDA_DST, &n->ip);
    add_attr(&q, NDA_LLADDR, n->mac.bytes, sizeof n->mac.bytes);
    return ask(fd, &q);
}

int netlink_set_neighbour(int fd, const struct netlink_neighbour *n, struct err *err)
{
    int r = change_neighbour(fd, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, n);
    return r < 0 ? err_sys(err, r, "set a neighbour") : 0;
}

int netlink_del_neighbour(int fd, const struct netlink_neighbour *n, struct err *err)
{
    int r = change_neighbour(fd, RTM_DELNEIGH, 0, n);
    return r < 0 ? err_sys(err, r, "remove a neighbour") : 0;
}

struct neighbour_dump {
    uint32_t index;
    bool is_forwarding;
    netlink_neighbour_fn each;
    void *arg;
};

static void on_neighbour(void *arg, const struct nlmsghdr *h)
{
    const struct neighbour_dump *d = arg;
    const struct ndmsg *m = NLMSG_DATA(h);
    struct netlink_neighbour found = { .index = d->index, .is_forwarding = d->is_forwarding };
    bool has_mac = false;
    if (h->nlmsg_type != RTM_NEWNEIGH || m->ndm_ifindex != (int)d->index ||
        !(m->ndm_state & NUD_PERMANENT))
        return;
    size_t n = NLMSG_PAYLOAD(h, sizeof *m);
    const struct rtattr *a = (const void *)((const char *)m + NLMSG_ALIGN(sizeof *m));
    for (; RTA_OK(a, n); a = RTA_NEXT(a, n)) {
        size_t size = RTA_PAYLOAD(a);
        if (a->rta_type == NDA_DST && (size == 4 || size == 16)) {
            found.ip.family = size == 4 ? AF_INET : AF_INET6;
            found.ip.prefix = (uint8_t)(size * 8);
            memcpy(found.ip.bytes, RTA_DATA(a), size);
        }
        if (a->rta_type == NDA_LLADDR && size == sizeof found.mac.bytes) {
            memcpy(found.mac.bytes, RTA_DATA(a), size);
            has_mac = true;
        }
    }
    if (has_mac && found.ip.family)
        d->each(d->arg, &found);
}

int netlink_each_neighbour(int fd, uint32_t index, bool is_forwarding, uint8_t family,
                           netlink_neighbour_fn each, void *arg, struct err *err)
{
    struct netlink_request q;
    struct ndmsg m = { .ndm_family = is_forwarding ? AF_BRIDGE : family,
                       .ndm_ifindex = (int)index };
    struct neighbour_dump d = { index, is_forwarding, each, arg };
    init(&q, RTM_GETNEIGH, 0, &m, sizeof m);
    int r = dump(fd, &q, on_neighbour, &d);
    return r < 0 ? err_sys(err, r, "read the neighbours of a network device") : 0;
}

/* ---------------------------------------------------------------- devices, and IPv4 alone */

int netlink_open(struct err *err)
{
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    return fd < 0 ? err_sys(err, -errno, "netlink socket") : fd;
}

int netlink_find_link(int fd, const char *name, uint32_t *ret, struct err *err)
{
    struct netlink_request q;
    struct ifinfomsg link = { .ifi_family = AF_UNSPEC };
    char answer[16384];
    init(&q, RTM_GETLINK, 0, &link, sizeof link);
    q.head.nlmsg_flags = NLM_F_REQUEST;
    add_attr(&q, IFLA_IFNAME, name, strlen(name) + 1);
    ssize_t n = send(fd, &q, q.head.nlmsg_len, 0) < 0 ? -1 : recv(fd, answer, sizeof answer, 0);
    const struct nlmsghdr *h = (const struct nlmsghdr *)(const void *)answer;
    if (n < 0 || !NLMSG_OK(h, (size_t)n) || h->nlmsg_type != RTM_NEWLINK)
        return err_sys(err, n < 0 ? -errno : -ENODEV, "network device '%s'", name);
    *ret = (uint32_t)((const struct ifinfomsg *)NLMSG_DATA(h))->ifi_index;
    return 0;
}

int netlink_add_veth(int fd, const char *name, const struct netlink_mac *mac, const char *peer,
                     int ns_fd, struct err *err)
{
    struct netlink_request q;
    struct ifinfomsg link = { .ifi_family = AF_UNSPEC };
    init(&q, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &link, sizeof link);
    add_attr(&q, IFLA_IFNAME, name, strlen(name) + 1);
    if (mac)
        add_attr(&q, IFLA_ADDRESS, mac->bytes, sizeof mac->bytes);
    struct rtattr *info = begin(&q, IFLA_LINKINFO);
    add_attr(&q, IFLA_INFO_KIND, "veth", 4);
    struct rtattr *data = begin(&q, IFLA_INFO_DATA);
    struct rtattr *other = begin(&q, VETH_INFO_PEER);
    add_bytes(&q, &link, sizeof link);
    add_attr(&q, IFLA_IFNAME, peer, strlen(peer) + 1);
    add_u32(&q, IFLA_NET_NS_FD, (uint32_t)ns_fd);
    end(&q, other);
    end(&q, data);
    end(&q, info);
    int r = ask(fd, &q);
    return r < 0 ? err_sys(err, r, "make a virtual network device") : 0;
}

int netlink_del_link(int fd, uint32_t index, struct err *err)
{
    struct netlink_request q;
    struct ifinfomsg link = { .ifi_family = AF_UNSPEC, .ifi_index = (int)index };
    init(&q, RTM_DELLINK, 0, &link, sizeof link);
    int r = ask(fd, &q);
    return r < 0 ? err_sys(err, r, "remove a network device") : 0;
}

int netlink_set_up(int fd, uint32_t index, struct err *err)
{
    struct netlink_request q;
    struct ifinfomsg link = {
        .ifi_family = AF_UNSPEC, .ifi_index = (int)index, .ifi_flags = IFF_UP, .ifi_change = IFF_UP
    };
    init(&q, RTM_NEWLINK, 0, &link, sizeof link);
    int r = ask(fd, &q);
    return r < 0 ? err_sys(err, r, "start a network device") : 0;
}

int netlink_add_address(int fd, uint32_t index, uint32_t address, struct err *err)
{
    struct netlink_request q;
    struct ifaddrmsg m = { .ifa_family = AF_INET,
                           .ifa_prefixlen = 32,
                           .ifa_scope = RT_SCOPE_UNIVERSE,
                           .ifa_index = index };
    init(&q, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &m, sizeof m);
    add_u32(&q, IFA_LOCAL, htonl(address));
    add_u32(&q, IFA_ADDRESS, htonl(address));
    int r = ask(fd, &q);
    return r < 0 ? err_sys(err, r, "give a network device its address") : 0;
}

int netlink_add_route(int fd, uint32_t index, uint32_t to, uint8_t prefix, uint32_t gateway,
                      uint32_t source, struct err *err)
{
    struct netlink_request q;
    struct rtmsg m = { .rtm_family = AF_INET,
                       .rtm_dst_len = prefix,
                       .rtm_table = RT_TABLE_MAIN,
                       .rtm_protocol = RTPROT_STATIC,
                       .rtm_scope = gateway ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK,
                       .rtm_type = RTN_UNICAST };
    init(&q, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &m, sizeof m);
    if (prefix)
        add_u32(&q, RTA_DST, htonl(to));
    if (gateway)
        add_u32(&q, RTA_GATEWAY, htonl(gateway));
    if (source)
        add_u32(&q, RTA_PREFSRC, htonl(source));
    add_u32(&q, RTA_OIF, index);
    int r = ask(fd, &q);
    return r < 0 ? err_sys(err, r, "add a route") : 0;
}

static int change_rule(int fd, unsigned short type, unsigned short flags, enum netlink_rule kind,
                       uint32_t subnet, uint8_t prefix, uint32_t priority)
{
    struct netlink_request q;
    bool own = kind == NETLINK_RULE_OWN;
    struct fib_rule_hdr m = { .family = AF_INET,
                              .src_len = prefix,
                              .dst_len = prefix,
                              .table = own ? RT_TABLE_MAIN : RT_TABLE_UNSPEC,
                              .action = own ? FR_ACT_TO_TBL : FR_ACT_PROHIBIT };
    init(&q, type, flags, &m, sizeof m);
    add_u32(&q, FRA_SRC, htonl(subnet));
    add_u32(&q, FRA_DST, htonl(subnet));
    add_u32(&q, FRA_PRIORITY, priority);
    if (own) /* what this machine sends counts as coming from there */
        add_attr(&q, FRA_IIFNAME, "lo", 3);
    return ask(fd, &q);
}

int netlink_add_rule(int fd, enum netlink_rule kind, uint32_t subnet, uint8_t prefix,
                     uint32_t priority, struct err *err)
{
    int r = change_rule(fd, RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL, kind, subnet, prefix, priority);
    return r < 0 ? err_sys(err, r, "add a rule for routes") : 0;
}

int netlink_del_rule(int fd, enum netlink_rule kind, uint32_t subnet, uint8_t prefix,
                     uint32_t priority, struct err *err)
{
    int r = change_rule(fd, RTM_DELRULE, 0, kind, subnet, prefix, priority);
    return r < 0 ? err_sys(err, r, "remove a rule for routes") : 0;
}
