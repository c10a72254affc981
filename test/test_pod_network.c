/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/network: networks of pods made by this process, in namespaces of this test. Skipped where
 * namespaces may not be made.
 */
#include "pod_network_kit.h"

#include "agent/network/pod_firewall.h"

#include <net/if.h>
#include <sys/wait.h>

#define POD_A "5f0c2f4e-0b9c-4f6a-8a52-0d6f5c1f0001"
#define POD_B "5f0c2f4e-0b9c-4f6a-8a52-0d6f5c1f0002"

enum { PORT = 7000 };

static bool can_isolate;

#define NEEDS_NAMESPACES                                                                           \
    do {                                                                                           \
        if (!can_isolate)                                                                          \
            SKIP("network namespaces may not be made here");                                       \
    } while (0)

static struct pod_networks *open_networks(const char *cidr, const char *second)
{
    struct pod_networks *p = NULL;
    struct err err = { 0 };
    struct str cidrs[] = { str_of(cidr), str_of(second) };
    struct pod_networks_opts o = { .loop = &kit_loop,
                                   .state_dir = kit_dir,
                                   .mode = POD_NETWORK_NATIVE };
    if (pod_networks_new(&o, cidrs, second ? 2 : 1, &p, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    return p;
}

static void begin(void)
{
    CHECK_OK(loop_init(&kit_loop, NULL));
    CHECK(temp_dir_make("podnet", kit_dir));
}

static void end(void)
{
    temp_dir_remove(kit_dir);
    while (loop_turn(&kit_loop, false))
        ;
    loop_fini(&kit_loop);
}

static size_t count_devices(void)
{
    size_t n = 0;
    struct if_nameindex *all = if_nameindex();
    for (struct if_nameindex *i = all; i && i->if_index; i++)
        n += strncmp(i->if_name, "dmp", 3) == 0;
    if_freenameindex(all);
    return n;
}

static bool has_firewall(void)
{
    struct pod_firewall_ranges none = { 0 };
    return pod_firewall_prepare(&none, NULL) == 0;
}

TEST(pods_reach_each_other_and_the_node)
{
    NEEDS_NAMESPACES;
    struct kit_pod a, b;
    begin();
    struct pod_networks *p = open_networks("10.201.7.0/24", NULL);
    kit_start(p, POD_A, &a, NULL, 0);
    kit_start(p, POD_B, &b, NULL, 0);
    kit_must_be_ready(&a);
    kit_must_be_ready(&b);
    CHECK(strncmp(kit_ip(&a, 0), "10.201.7.", 9) == 0);
    CHECK(strcmp(kit_ip(&a, 0), kit_ip(&b, 0)) != 0);
    CHECK_INT(kit_reach(NULL, kit_ip(&a, 0), PORT), -ECONNREFUSED);
    const char *in_a = pod_network_netns(a.n), *in_b = pod_network_netns(b.n);
    CHECK_INT(kit_reach(in_a, kit_ip(&b, 0), PORT), -ECONNREFUSED);
    CHECK_INT(kit_reach(in_b, kit_ip(&a, 0), PORT), -ECONNREFUSED);
    CHECK_INT(kit_reach(in_a, "10.201.7.1", PORT), -ECONNREFUSED);
    CHECK_INT(kit_reach(in_a, "127.0.0.1", PORT), -ECONNREFUSED); /* lo is up */
    int fd = kit_listen(in_b, kit_ip(&b, 0), 80);
    char from[INET6_ADDRSTRLEN];
    CHECK_OK(kit_reach(in_a, kit_ip(&b, 0), 80));
    kit_accept(fd, from);
    CHECK_STR(str_of(from), kit_ip(&a, 0)); /* no address is translated between pods */
    (void)close(fd);
    kit_stop(&a);
    kit_stop(&b);
    CHECK(!kit_exists("netns", POD_A) && !kit_exists("records", POD_A));
    CHECK_INT(count_devices(), 0);
    kit_close(p);
    end();
}

TEST(a_pod_has_an_address_of_both_families)
{
    NEEDS_NAMESPACES;
    struct kit_pod a, b;
    begin();
    struct pod_networks *p = open_networks("10.202.0.0/24", "fd00:202::/64");
    kit_start(p, POD_A, &a, NULL, 0);
    kit_start(p, POD_B, &b, NULL, 0);
    kit_must_be_ready(&a);
    kit_must_be_ready(&b);
    CHECK(strncmp(kit_ip(&a, 0), "10.202.0.", 9) == 0);
    CHECK(strncmp(kit_ip(&a, 1), "fd00:202::", 10) == 0);
    CHECK_INT(kit_reach(NULL, kit_ip(&a, 1), PORT), -ECONNREFUSED);
    CHECK_INT(kit_reach(pod_network_netns(a.n), kit_ip(&b, 1), PORT), -ECONNREFUSED);
    CHECK_INT(kit_reach(pod_network_netns(a.n), kit_ip(&b, 0), PORT), -ECONNREFUSED);
    kit_stop(&a);
    kit_stop(&b);
    kit_close(p);
    end();
}

TEST(a_network_outlives_the_process_that_made_it)
{
    NEEDS_NAMESPACES;
    struct kit_pod a, b, c;
    char ip[64];
    begin();
    struct pod_networks *p = open_networks("10.203.0.0/29", NULL);
    kit_start(p, POD_A, &a, NULL, 0);
    kit_start(p, POD_B, &b, NULL, 0);
    kit_must_be_ready(&a);
    kit_must_be_ready(&b);
    (void)snprintf(ip, sizeof ip, "%s", kit_ip(&a, 0));
    pod_network_leave(a.n);
    pod_network_leave(b.n);
    kit_close(p);

    struct err err = { 0 };
    p = open_networks("10.203.0.0/29", NULL);
    CHECK_ERR(pod_network_adopt(p, STR("other"), &c.n, &err), -ENOENT);
    CHECK_OK(pod_network_adopt(p, str_of(POD_A), &a.n, &err));
    CHECK_STR(str_of(kit_ip(&a, 0)), ip);
    CHECK_INT(kit_reach(NULL, ip, PORT), -ECONNREFUSED);
    kit_collect(p); /* B is not known any more */
    CHECK(!kit_exists("netns", POD_B) && !kit_exists("records", POD_B));
    CHECK_INT(count_devices(), 1);
    for (int i = 0; i < 5; i++) { /* of 5 addresses one is in use */
        kit_start(p, POD_B, &b, NULL, 0);
        kit_must_be_ready(&b);
        CHECK(strcmp(kit_ip(&b, 0), ip) != 0);
        kit_stop(&b);
    }
    kit_stop(&a);
    kit_close(p);
    end();
}

TEST(a_start_removes_what_is_left_of_the_same_pod)
{
    NEEDS_NAMESPACES;
    struct kit_pod a;
    begin();
    struct pod_networks *p = open_networks("10.204.0.0/29", NULL);
    kit_start(p, POD_A, &a, NULL, 0);
    kit_must_be_ready(&a);
    pod_network_leave(a.n);
    kit_close(p);
    p = open_networks("10.204.0.0/29", NULL);
    kit_start(p, POD_A, &a, NULL, 0);
    kit_must_be_ready(&a);
    CHECK_INT(kit_reach(NULL, kit_ip(&a, 0), PORT), -ECONNREFUSED);
    CHECK_INT(count_devices(), 1);
    kit_stop(&a);
    kit_close(p);
    end();
}

TEST(a_full_range_is_an_error_that_leaves_nothing)
{
    NEEDS_NAMESPACES;
    struct kit_pod a, b;
    begin();
    struct pod_networks *p = open_networks("10.205.0.0/30", NULL);
    kit_start(p, POD_A, &a, NULL, 0);
    kit_must_be_ready(&a);
    CHECK_STR(str_of(kit_ip(&a, 0)), "10.205.0.2");
    kit_start(p, POD_B, &b, NULL, 0);
    kit_wait_ready(&b);
    CHECK_ERR(b.r, E_LIMIT);
    CHECK(!kit_exists("netns", POD_B) && !kit_exists("records", POD_B));
    kit_stop(&b);
    kit_stop(&a);
    kit_start(p, POD_B, &b, NULL, 0); /* its address is free again */
    kit_must_be_ready(&b);
    kit_stop(&b);
    kit_close(p);
    end();
}

TEST(a_start_can_be_stopped_at_any_time)
{
    NEEDS_NAMESPACES;
    struct kit_pod pods[2 * POD_NETWORKS_BUSY];
    begin();
    struct pod_networks *p = open_networks("10.206.0.0/24", NULL);
    for (size_t i = 0; i < ARRAY_LEN(pods); i++) {
        char id[32];
        (void)snprintf(id, sizeof id, "pod-%zu", i);
        kit_start(p, id, &pods[i], NULL, 0);
    }
    for (size_t i = 0; i < ARRAY_LEN(pods); i++)
        pod_network_stop(pods[i].n, kit_on_stopped, &pods[i]);
    bool is_closed = false;
    pod_networks_close(p, kit_set, &is_closed);
    while (!is_closed)
        (void)loop_turn(&kit_loop, true);
    for (size_t i = 0; i < ARRAY_LEN(pods); i++) {
        CHECK_INT(pods[i].ready, 0);
        CHECK_INT(pods[i].stopped, 1);
        CHECK_OK(pods[i].stop_r);
    }
    CHECK_INT(count_devices(), 0);
    end();
}

/* In a child, which is killed before the nth call of this kind, if it makes so many. */
static bool is_killed_at(enum sys_call call, unsigned nth)
{
    int status, pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        const struct pod_network_port port = { .host_port = 8080, .container_port = 80 };
        struct kit_pod a;
        sys_fail_nth(call, 0, 0);
        CHECK_OK(loop_init(&kit_loop, NULL));
        struct pod_networks *p = open_networks("10.210.0.0/24", NULL);
        sys_fail_nth(call, nth, SYS_FAIL_KILL);
        kit_start(p, POD_A, &a, &port, has_firewall());
        kit_must_be_ready(&a);
        kit_stop(&a);
        _exit(0);
    }
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status);
}

TEST(a_process_may_be_killed_at_any_moment)
{
    NEEDS_NAMESPACES;
    const enum sys_call calls[] = { SYS_OPENAT, SYS_WRITE, SYS_RENAMEAT };
    unsigned n_killed = 0;
    CHECK(temp_dir_make("podnet", kit_dir));
    for (size_t i = 0; i < ARRAY_LEN(calls); i++)
        for (unsigned nth = 1; is_killed_at(calls[i], nth); nth++, n_killed++) {
            CHECK_OK(loop_init(&kit_loop, NULL));
            struct pod_networks *p = open_networks("10.210.0.0/24", NULL);
            kit_collect(p);
            CHECK(!kit_exists("netns", POD_A) && !kit_exists("records", POD_A));
            CHECK_INT(count_devices(), 0);
            CHECK_INT(kit_reach(NULL, "127.0.0.1", 8080), -ECONNREFUSED);
            kit_close(p);
            loop_fini(&kit_loop);
        }
    CHECK(n_killed > 10);
    temp_dir_remove(kit_dir);
}

TEST(names_that_are_paths_are_refused)
{
    struct err err = { 0 };
    struct pod_network *n;
    begin();
    struct pod_networks *p = open_networks("10.206.0.0/24", NULL);
    struct pod_network_opts o = { .on_ready = kit_on_ready };
    const char *const bad[] = { "", ".", "..", "a/b", ".hidden", "a b" };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        o.id = str_of(bad[i]);
        CHECK_ERR(pod_network_start(p, &o, &n, &err), E_INVALID);
    }
    kit_close(p);
    end();
}

/* ---------------------------------------------------------------- nftables */

TEST(host_ports_lead_to_the_pod)
{
    NEEDS_NAMESPACES;
    struct kit_pod a, b, c;
    char from[INET6_ADDRSTRLEN];
    if (!has_firewall())
        SKIP("the kernel has no nftables");
    const struct pod_network_port ports[] = {
        { .host_port = 8080, .container_port = 80 },
        { .host_port = 8081, .container_port = 80, .host_ip = STR("10.207.0.1") },
    };
    begin();
    struct pod_networks *p = open_networks("10.207.0.0/24", NULL);
    kit_start(p, POD_A, &a, ports, 2);
    kit_start(p, POD_B, &b, NULL, 0);
    kit_must_be_ready(&a);
    kit_must_be_ready(&b);
    int fd = kit_listen(pod_network_netns(a.n), "0.0.0.0", 80);
    CHECK_OK(kit_reach(pod_network_netns(b.n), "10.207.0.1", 8080));
    kit_accept(fd, from);
    CHECK_STR(str_of(from), kit_ip(&b, 0));
    CHECK_OK(kit_reach(pod_network_netns(b.n), "10.207.0.1", 8081));
    CHECK_OK(kit_reach(NULL, "10.207.0.1", 8080));
    CHECK_OK(kit_reach(NULL, "127.0.0.1", 8080));
    CHECK_INT(kit_reach(NULL, "127.0.0.1", 8081), -ECONNREFUSED);
    CHECK_OK(kit_reach(pod_network_netns(a.n), "10.207.0.1", 8080)); /* to itself */
    kit_start(p, "third", &c, ports, 1);
    kit_wait_ready(&c);
    CHECK_ERR(c.r, -EADDRINUSE);
    CHECK(strstr(c.err.text, POD_A));
    kit_stop(&c);
    kit_stop(&a);
    CHECK_INT(kit_reach(NULL, "10.207.0.1", 8080), -ECONNREFUSED);
    kit_start(p, "third", &c, ports, 1);
    kit_must_be_ready(&c);
    kit_stop(&c);
    kit_stop(&b);
    (void)close(fd);
    kit_close(p);
    end();
}

TEST(host_ports_have_a_protocol_and_both_families)
{
    NEEDS_NAMESPACES;
    struct kit_pod a, b;
    char from[INET6_ADDRSTRLEN];
    if (!has_firewall())
        SKIP("the kernel has no nftables");
    const struct pod_network_port ports[] = {
        { .host_port = 8080, .container_port = 80 },
        { .host_port = 8082, .container_port = 80, .protocol = POD_NETWORK_UDP },
        { .host_port = 8083, .container_port = 80, .host_ip = STR("fd00:211::1") },
        { .host_port = 8084, .container_port = 80, .host_ip = STR("0.0.0.0") },
    };
    begin();
    struct pod_networks *p = open_networks("fd00:211::/64", "10.211.0.0/24");
    kit_start(p, POD_A, &a, ports, ARRAY_LEN(ports));
    kit_start(p, POD_B, &b, NULL, 0);
    kit_must_be_ready(&a);
    kit_must_be_ready(&b);
    const char *in_b = pod_network_netns(b.n);
    int v6 = kit_listen(pod_network_netns(a.n), kit_ip(&a, 0), 80);
    int v4 = kit_listen(pod_network_netns(a.n), kit_ip(&a, 1), 80);
    CHECK_OK(kit_reach(in_b, "fd00:211::1", 8080));
    kit_accept(v6, from);
    CHECK_STR(str_of(from), kit_ip(&b, 0));
    CHECK_OK(kit_reach(in_b, "fd00:211::1", 8083));
    kit_accept(v6, from);
    CHECK_OK(kit_reach(in_b, "10.211.0.1", 8084));
    kit_accept(v4, from);
    CHECK_INT(kit_reach(in_b, "10.211.0.1", 8083), -ECONNREFUSED);
    CHECK_INT(kit_reach(in_b, "fd00:211::1", 8084), -ECONNREFUSED);
    CHECK_INT(kit_reach(in_b, "10.211.0.1", 8082), -ECONNREFUSED); /* it is UDP's */
    (void)close(v4);
    (void)close(v6);
    kit_stop(&a);
    kit_stop(&b);
    kit_close(p);
    end();
}

TEST(a_pod_does_not_reach_the_loopback_address_of_the_node)
{
    NEEDS_NAMESPACES;
    struct kit_pod a;
    if (!has_firewall())
        SKIP("the kernel has no nftables");
    const struct pod_network_port port = { .host_port = 8080, .container_port = 80 };
    begin();
    struct pod_networks *p = open_networks("10.208.0.0/24", NULL);
    kit_start(p, POD_A, &a, &port, 1); /* with it, route_localnet is on */
    kit_must_be_ready(&a);
    int listener = kit_listen(NULL, "127.0.0.1", 9090);
    char command[256];
    /* A packet to 127.0.0.1 leaves the pod only by a route that its root makes. */
    (void)snprintf(command, sizeof command,
                   "nsenter --net=%s sh -c 'echo 1 >/proc/sys/net/ipv4/conf/eth0/route_localnet; "
                   "ip addr del 127.0.0.1/8 dev lo; "
                   "ip route add 127.0.0.1 via 10.208.0.1 dev eth0'",
                   pod_network_netns(a.n));
    int status = system(command); // NOLINT(concurrency-mt-unsafe)
    /* Without the rule the connection succeeds at once; with it no answer comes. */
    struct timeval limit = { .tv_usec = 200000 };
    if (status == 0)
        CHECK(kit_reach_within(pod_network_netns(a.n), "127.0.0.1", 9090, limit) != 0);
    else
        test_skipped = "the pod's routes cannot be changed here";
    (void)close(listener);
    kit_stop(&a);
    kit_close(p);
    end();
}

/* A machine outside the cluster, which has no route to pods. */
static void make_outside(int *ret_ns)
{
    int own = kit_enter(NULL);
    int outer = netlink_open(NULL);
    uint32_t index = 0;
    CHECK_OK(unshare(CLONE_NEWNET));
    int ns = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    CHECK_OK(ns);
    int inner = netlink_open(NULL);
    kit_leave(own);
    CHECK_OK(netlink_add_veth(outer, "uplink", NULL, "eth0", ns, NULL));
    CHECK_OK(netlink_find_link(outer, "uplink", &index, NULL));
    struct netlink_ip node = { .family = AF_INET, .prefix = 24, .bytes = { 192, 0, 2, 1 } };
    struct netlink_ip other = { .family = AF_INET, .prefix = 24, .bytes = { 192, 0, 2, 2 } };
    CHECK_OK(netlink_add_ip(outer, index, &node, NULL));
    CHECK_OK(netlink_set_up(outer, index, NULL));
    CHECK_OK(netlink_find_link(inner, "eth0", &index, NULL));
    CHECK_OK(netlink_add_ip(inner, index, &other, NULL));
    CHECK_OK(netlink_set_up(inner, index, NULL));
    (void)close(outer);
    (void)close(inner);
    *ret_ns = ns;
}

static void remove_outside(int ns)
{
    uint32_t index = 0;
    int outer = netlink_open(NULL);
    CHECK_OK(netlink_find_link(outer, "uplink", &index, NULL));
    CHECK_OK(netlink_del_link(outer, index, NULL));
    (void)close(outer);
    (void)close(ns);
}

TEST(a_pod_reaches_machines_that_have_no_route_to_pods)
{
    NEEDS_NAMESPACES;
    struct kit_pod a;
    int outside;
    char path[64], from[INET6_ADDRSTRLEN];
    if (!has_firewall())
        SKIP("the kernel has no nftables");
    begin();
    make_outside(&outside);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", outside);
    struct pod_networks *p = open_networks("10.209.0.0/24", NULL);
    kit_start(p, POD_A, &a, NULL, 0);
    kit_must_be_ready(&a);
    int fd = kit_listen(path, "192.0.2.2", 80);
    CHECK_OK(kit_reach(pod_network_netns(a.n), "192.0.2.2", 80));
    kit_accept(fd, from);
    CHECK_STR(str_of(from), "192.0.2.1");
    (void)close(fd);
    kit_stop(&a);
    kit_close(p);
    remove_outside(outside);
    end();
}

static void set_cluster(struct pod_networks *p, const char *own, const char *cluster)
{
    struct err err = { 0 };
    if (pod_networks_set_cidrs(p, (struct str[]){ str_of(own) }, 1,
                               (struct str[]){ str_of(cluster) }, 1, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
}

/* Until the pod comes from this address: each look but the last is followed by a turn. */
static void wait_source(int fd, const struct kit_pod *pod, const char *wanted)
{
    char from[INET6_ADDRSTRLEN] = "";
    for (;;) {
        CHECK_OK(kit_reach(pod_network_netns(pod->n), "192.0.2.2", 80));
        kit_accept(fd, from);
        if (strcmp(from, wanted) == 0)
            return;
        (void)loop_turn(&kit_loop, true); /* the change of the rules is under way */
    }
}

/* It has a route to pods now. */
static void add_route_to_pods(const char *outside)
{
    const struct netlink_ip node = { .family = AF_INET, .prefix = 32, .bytes = { 192, 0, 2, 1 } };
    const struct netlink_route route = { .to = { AF_INET, 24, { 10, 209 } }, .gateway = &node };
    int own = kit_enter(outside);
    int netlink = netlink_open(NULL);
    CHECK_OK(netlink_set_route(netlink, &route, NULL));
    (void)close(netlink);
    kit_leave(own);
}

TEST(a_changed_range_of_the_cluster_counts_for_pods_that_run)
{
    NEEDS_NAMESPACES;
    struct kit_pod a;
    int outside;
    char path[64];
    if (!has_firewall())
        SKIP("the kernel has no nftables");
    begin();
    make_outside(&outside);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", outside);
    struct pod_networks *p = open_networks("10.209.0.0/24", NULL);
    kit_start(p, POD_A, &a, NULL, 0);
    kit_must_be_ready(&a);
    scoped(free_scoped) char *address = xstrdup(kit_ip(&a, 0));
    add_route_to_pods(path);
    int fd = kit_listen(path, "192.0.2.2", 80);
    wait_source(fd, &a, "192.0.2.1");
    set_cluster(p, "10.209.0.0/24", "192.0.2.0/24");
    wait_source(fd, &a, address);
    set_cluster(p, "10.209.0.0/24", "198.51.100.0/24");
    set_cluster(p, "10.209.0.0/24", "203.0.113.0/24"); /* while the first is under way */
    wait_source(fd, &a, "192.0.2.1");
    set_cluster(p, "10.210.0.0/24", "192.0.2.0/24"); /* the pod keeps its address */
    wait_source(fd, &a, address);
    set_cluster(p, "10.211.0.0/24", "198.51.100.0/24");
    wait_source(fd, &a, "192.0.2.1");
    (void)close(fd);
    kit_stop(&a);
    kit_close(p);
    remove_outside(outside);
    end();
}

int main(int argc, char **argv)
{
    can_isolate = kit_isolate();
    return test_main(argc, argv);
}
