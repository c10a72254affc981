/* SPDX-License-Identifier: Apache-2.0 */
/* agent/network/node_route: routes between two nodes, each a network namespace of this test. */
#include "agent/network/node_route.h"
#include "agent/network/pod_range.h"
#include "base/buf.h"
#include "pod_network_kit.h"

#include <sys/wait.h>

static bool can_isolate;

struct other_node {
    int ns;
    char path[64];
};

static void add_ip(int fd, uint32_t index, const char *cidr)
{
    struct str address, prefix;
    struct netlink_ip ip, range;
    CHECK(str_cut(str_of(cidr), '/', &address, &prefix));
    CHECK(pod_range_parse_ip(address, &ip) && pod_range_parse(str_of(cidr), &range));
    ip.prefix = range.prefix;
    CHECK_OK(netlink_add_ip(fd, index, &ip, NULL));
}

/* Another node on the same segment; its pods have 10.51.0.5 and fd00:51::5. */
static void make_node(struct other_node *ret)
{
    int own = kit_enter(NULL);
    int outer = netlink_open(NULL);
    uint32_t index = 0;
    CHECK_OK(unshare(CLONE_NEWNET));
    ret->ns = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    (void)snprintf(ret->path, sizeof ret->path, "/proc/self/fd/%d", ret->ns);
    int inner = netlink_open(NULL);
    kit_leave(own);
    CHECK_OK(netlink_add_veth(outer, "uplink", NULL, "eth0", ret->ns, NULL));
    CHECK_OK(netlink_find_link(outer, "uplink", &index, NULL));
    add_ip(outer, index, "192.0.2.1/24");
    add_ip(outer, index, "fd00:2::1/64");
    CHECK_OK(netlink_set_up(outer, index, NULL));
    CHECK_OK(netlink_find_link(inner, "eth0", &index, NULL));
    add_ip(inner, index, "192.0.2.2/24");
    add_ip(inner, index, "192.0.2.3/24");
    add_ip(inner, index, "fd00:2::2/64");
    CHECK_OK(netlink_set_up(inner, index, NULL));
    CHECK_OK(netlink_set_up(inner, 1, NULL));
    add_ip(inner, 1, "10.51.0.5/32");
    add_ip(inner, 1, "fd00:51::5/128");
    (void)close(outer);
    (void)close(inner);
}

/* At once: without this its device would go some time later. */
static void remove_node(struct other_node *node)
{
    uint32_t index = 0;
    int fd = netlink_open(NULL);
    CHECK_OK(netlink_find_link(fd, "uplink", &index, NULL));
    CHECK_OK(netlink_del_link(fd, index, NULL));
    (void)close(fd);
    (void)close(node->ns);
}

static void on_route(void *arg, const struct netlink_route *route)
{
    char to[POD_RANGE_TEXT_BYTES], gateway[POD_RANGE_TEXT_BYTES] = "";
    struct buf *b = arg;
    pod_range_format(&route->to, to);
    if (route->gateway)
        pod_range_format(route->gateway, gateway);
    (void)buf_printf(b, "%s/%u %s\n", to, route->to.prefix, gateway);
}

/* The routes that the kernel has from us. */
static void check_routes(const char *want)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(65536);
    int fd = netlink_open(NULL);
    CHECK_OK(netlink_each_route(fd, AF_INET, NODE_ROUTE_PROTOCOL, on_route, &b, NULL));
    CHECK_OK(netlink_each_route(fd, AF_INET6, NODE_ROUTE_PROTOCOL, on_route, &b, NULL));
    (void)close(fd);
    CHECK_STR(buf_str(&b), want);
}

static struct node_routes *open_routes(void)
{
    struct node_routes *r = NULL;
    CHECK_OK(node_routes_new(&(struct node_routes_opts){ .loop = &kit_loop,
                                                         .own = STR("me"),
                                                         .mode = NODE_ROUTE_DIRECT },
                             &r, NULL));
    return r;
}

/* Until no batch runs or is about to; the timer of a retry is armed after a failure. */
static void settle(void)
{
    while (loop_next_timer_ms(&kit_loop) == UINT64_MAX && loop_turn(&kit_loop, true))
        ;
}

static void close_routes(struct node_routes *r)
{
    bool is_closed = false;
    node_routes_close(r, kit_set, &is_closed);
    while (!is_closed)
        (void)loop_turn(&kit_loop, true);
}

static const struct node_route other = { .name = STR("other"),
                                         .cidrs = { STR("10.51.0.0/24"), STR("fd00:51::/64") },
                                         .n_cidrs = 2,
                                         .addresses = { STR("192.0.2.2"), STR("fd00:2::2") },
                                         .n_addresses = 2 };

TEST(pods_of_another_node_are_reached_by_its_address)
{
    struct other_node node;
    struct node_route changed = other, own = other;
    if (!can_isolate)
        SKIP("network namespaces may not be made here");
    CHECK_OK(loop_init(&kit_loop, NULL));
    make_node(&node);
    struct node_routes *r = open_routes();
    own.name = STR("me");
    CHECK_OK(node_routes_set(r, &own, NULL));
    CHECK_OK(node_routes_set(r, &other, NULL));
    settle();
    check_routes("10.51.0.0/24 192.0.2.2\nfd00:51::/64 fd00:2::2\n");
    CHECK_INT(kit_reach(NULL, "10.51.0.5", 80), -ECONNREFUSED);
    CHECK_INT(kit_reach(NULL, "fd00:51::5", 80), -ECONNREFUSED);
    changed.addresses[0] = STR("192.0.2.3");
    CHECK_OK(node_routes_set(r, &changed, NULL));
    settle();
    check_routes("10.51.0.0/24 192.0.2.3\nfd00:51::/64 fd00:2::2\n");
    close_routes(r); /* the routes stay for the next process */
    check_routes("10.51.0.0/24 192.0.2.3\nfd00:51::/64 fd00:2::2\n");

    r = open_routes();
    changed.n_cidrs = 1;
    CHECK_OK(node_routes_set(r, &changed, NULL));
    settle();
    check_routes("10.51.0.0/24 192.0.2.3\nfd00:51::/64 fd00:2::2\n"); /* not all nodes are known */
    node_routes_synced(r);
    settle();
    check_routes("10.51.0.0/24 192.0.2.3\n");
    node_routes_remove(r, STR("other"));
    node_routes_remove(r, STR("other"));
    settle();
    check_routes("");
    close_routes(r);
    remove_node(&node);
    loop_fini(&kit_loop);
}

/* ---------------------------------------------------------------- VXLAN */

static const struct node_route here = { .name = STR("me"),
                                        .cidrs = { STR("10.61.0.0/24"), STR("fd00:61::/64") },
                                        .n_cidrs = 2,
                                        .addresses = { STR("192.0.2.1") },
                                        .n_addresses = 1 };
static const struct node_route there = { .name = STR("there"),
                                         .cidrs = { STR("10.62.0.0/24"), STR("fd00:62::/64") },
                                         .n_cidrs = 2,
                                         .addresses = { STR("198.51.100.2") },
                                         .n_addresses = 1 };

static struct node_routes *open_named(const char *name, enum node_route_mode mode)
{
    struct node_routes *r = NULL;
    struct node_routes_opts o = { .loop = &kit_loop, .own = str_of(name), .mode = mode };
    CHECK_OK(node_routes_new(&o, &r, NULL));
    CHECK_OK(node_routes_set(r, &here, NULL));
    CHECK_OK(node_routes_set(r, &there, NULL));
    return r;
}

/* A device between two namespaces; addresses of both ends. */
static void join(int ns_a, const char *name_a, const char *cidr_a, int ns_b, const char *name_b,
                 const char *cidr_b)
{
    char path[64];
    uint32_t index = 0;
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", ns_a);
    int own = kit_enter(path), fd = netlink_open(NULL);
    CHECK_OK(netlink_add_veth(fd, name_a, NULL, name_b, ns_b, NULL));
    CHECK_OK(netlink_find_link(fd, name_a, &index, NULL));
    add_ip(fd, index, cidr_a);
    CHECK_OK(netlink_set_up(fd, index, NULL));
    (void)close(fd);
    kit_leave(own);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", ns_b);
    own = kit_enter(path), fd = netlink_open(NULL);
    CHECK_OK(netlink_find_link(fd, name_b, &index, NULL));
    add_ip(fd, index, cidr_b);
    CHECK_OK(netlink_set_up(fd, index, NULL));
    CHECK_OK(netlink_set_up(fd, 1, NULL));
    (void)close(fd);
    kit_leave(own);
}

static void route_by(const char *gateway)
{
    struct netlink_ip ip;
    int fd = netlink_open(NULL);
    CHECK(pod_range_parse_ip(str_of(gateway), &ip));
    struct netlink_route route = { .to = { .family = AF_INET }, .gateway = &ip };
    CHECK_OK(netlink_set_route(fd, &route, NULL));
    (void)close(fd);
}

static void write_sysctl(const char *path)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    CHECK_OK(fd);
    CHECK_OK(sys_write_all(fd, "1", 1));
    (void)close(fd);
}

/* The other node is a process, since its batches run on threads in its namespace. */
static void be_other_node(int in, int out)
{
    char byte = 0;
    CHECK_OK(unshare(CLONE_NEWNET));
    CHECK_OK(sys_write_all(out, "n", 1)); /* the namespace is there */
    CHECK_INT(read(in, &byte, 1), 1);     /* so is its uplink */
    int fd = netlink_open(NULL);
    add_ip(fd, 1, "10.62.0.5/32"); /* a pod */
    add_ip(fd, 1, "fd00:62::5/128");
    (void)close(fd);
    route_by("198.51.100.1");
    CHECK_OK(loop_init(&kit_loop, NULL));
    struct node_routes *r = open_named("there", NODE_ROUTE_AUTO);
    settle();
    CHECK_OK(sys_write_all(out, "r", 1));
    (void)!read(in, &byte, 1); /* until the test ends */
    close_routes(r);
    _exit(0);
}

struct far_node {
    int pid, in, out;
    int router; /* its namespace, which nothing else holds */
};

/* here -- router -- there */
static void make_far_node(struct far_node *ret)
{
    int to[2], from[2];
    char byte, path[64];
    CHECK_OK(pipe2(to, O_CLOEXEC));
    CHECK_OK(pipe2(from, O_CLOEXEC));
    ret->pid = fork();
    CHECK(ret->pid >= 0);
    if (ret->pid == 0) {
        (void)close(to[1]); /* so that it sees the end of the test */
        be_other_node(to[0], from[1]);
    }
    (void)close(to[0]);
    (void)close(from[1]);
    ret->in = from[0];
    ret->out = to[1];
    CHECK_INT(read(ret->in, &byte, 1), 1);
    int own = kit_enter(NULL);
    CHECK_OK(unshare(CLONE_NEWNET));
    int router = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    write_sysctl("/proc/sys/net/ipv4/ip_forward");
    (void)snprintf(path, sizeof path, "/proc/%d/ns/net", ret->pid);
    int far = open(path, O_RDONLY | O_CLOEXEC);
    join(own, "uplink", "192.0.2.1/24", router, "r0", "192.0.2.9/24");
    join(far, "uplink", "198.51.100.2/24", router, "r1", "198.51.100.1/24");
    kit_leave(own);
    (void)close(far);
    ret->router = router;
    route_by("192.0.2.9");
    CHECK_OK(sys_write_all(ret->out, "u", 1));
    CHECK_INT(read(ret->in, &byte, 1), 1);
}

static void remove_far_node(struct far_node *far)
{
    int status;
    (void)close(far->out);
    CHECK_INT(waitpid(far->pid, &status, 0), far->pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    (void)close(far->in);
}

static bool has_device(void)
{
    uint32_t index;
    int fd = netlink_open(NULL);
    bool found = netlink_find_link(fd, "dormouse.vx", &index, NULL) == 0;
    (void)close(fd);
    return found;
}

TEST(pods_behind_a_router_are_reached_by_vxlan)
{
    struct far_node far;
    if (!can_isolate)
        SKIP("network namespaces may not be made here");
    make_far_node(&far);
    CHECK_OK(loop_init(&kit_loop, NULL));
    struct node_routes *r = open_named("me", NODE_ROUTE_AUTO);
    settle();
    check_routes("10.62.0.0/24 10.62.0.0\nfd00:62::/64 fd00:62::\n");
    CHECK_INT(kit_reach(NULL, "10.62.0.5", 80), -ECONNREFUSED);
    CHECK_INT(kit_reach(NULL, "fd00:62::5", 80), -ECONNREFUSED);
    close_routes(r); /* everything stays, and another process takes it over */
    CHECK_INT(kit_reach(NULL, "10.62.0.5", 80), -ECONNREFUSED);
    r = open_named("me", NODE_ROUTE_AUTO);
    node_routes_synced(r);
    settle();
    CHECK_INT(kit_reach(NULL, "10.62.0.5", 80), -ECONNREFUSED);
    node_routes_remove(r, STR("there"));
    settle();
    check_routes("");
    CHECK(!has_device());
    close_routes(r);
    remove_node(&(struct other_node){ .ns = far.router });
    remove_far_node(&far);
    loop_fini(&kit_loop);
}

TEST(a_route_that_fails_is_tried_again)
{
    struct other_node node;
    struct node_route far = other;
    if (!can_isolate)
        SKIP("network namespaces may not be made here");
    CHECK_OK(loop_init(&kit_loop, NULL));
    struct node_routes *r = open_routes();
    far.addresses[0] = STR("192.0.2.2");
    far.n_addresses = 1;
    CHECK_OK(node_routes_set(r, &far, NULL));
    while (loop_next_timer_ms(&kit_loop) == UINT64_MAX)
        (void)loop_turn(&kit_loop, true);
    check_routes("");
    make_node(&node);
    loop_skip(&kit_loop, NODE_ROUTE_RETRY_MS);
    (void)loop_turn(&kit_loop, true);
    settle();
    check_routes("10.51.0.0/24 192.0.2.2\n"); /* no address for the other range */
    close_routes(r);
    remove_node(&node);
    loop_fini(&kit_loop);
}

TEST(nodes_with_broken_addresses_are_refused)
{
    struct node_route bad = other;
    CHECK_OK(loop_init(&kit_loop, NULL));
    struct node_routes *r = open_routes();
    bad.cidrs[1] = STR("fd00:51::");
    CHECK_ERR(node_routes_set(r, &bad, NULL), E_INVALID);
    bad.cidrs[1] = STR("::/0"); /* it would take over everything */
    CHECK_ERR(node_routes_set(r, &bad, NULL), E_INVALID);
    bad = other;
    bad.addresses[0] = STR("name");
    CHECK_ERR(node_routes_set(r, &bad, NULL), E_INVALID);
    close_routes(r);
    loop_fini(&kit_loop);
}

int main(int argc, char **argv)
{
    can_isolate = kit_isolate();
    return test_main(argc, argv);
}
