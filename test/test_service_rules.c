/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/proxy: from objects to elements of maps, and, in a network namespace of this test, where
 * connections to the addresses of Services go. The endpoints are addresses of its loopback device.
 */
#include "agent/network/pod_range.h"
#include "agent/proxy/service_owners.h"
#include "agent/proxy/service_rules.h"
#include "pod_network_kit.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/wait.h>

enum { SLICES_MAX = 4, TRIES = 64 };

static bool can_isolate;

/* ---------------------------------------------------------------- objects */

static struct json *parse(struct arena *a, const char *text)
{
    struct json *v = NULL;
    struct err err = { 0 };
    char *json = arena_new_n(a, char, strlen(text) + 1);
    for (size_t i = 0; text[i]; i++)
        json[i] = text[i] == '\'' ? '"' : text[i];
    if (json_parse(a, str_of(json), NULL, &v, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    return v;
}

static bool is_whole;

static void make(const char *service, const char *const *slices, service_elements *to)
{
    struct arena a = { 0 };
    const struct service_place here = { STR("n1"), STR("z1") };
    struct service_slice *facts[SLICES_MAX];
    size_t n = 0;
    struct service_facts *s = service_facts_read(parse(&a, service));
    for (; slices && slices[n]; n++)
        facts[n] = service_slice_read(parse(&a, slices[n]), &here);
    to->n = 0;
    is_whole = service_elements_make(s, (const struct service_slice *const *)facts, n, to);
    for (size_t i = 0; i < n; i++)
        service_slice_free(facts[i]);
    service_facts_free(s);
    arena_fini(&a);
}

static size_t count(const service_elements *all, unsigned map)
{
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++)
        n += all->p[i].map == map;
    return n;
}

static const struct service_element *only(const service_elements *all, unsigned map)
{
    CHECK_INT(count(all, map), 1);
    for (size_t i = 0; i < all->n; i++)
        if (all->p[i].map == map)
            return &all->p[i];
    return NULL;
}

#define SERVICE(spec) "{'metadata':{'namespace':'a','name':'b'},'spec':{" spec "}}"
#define CLUSTER_IP    "'clusterIPs':['10.96.0.10'],"
#define PORT          "'ports':[{'name':'web','protocol':'TCP','port':80}]"
#define SLICE(endpoints)                                                                           \
    "{'metadata':{'labels':{'kubernetes.io/service-name':'b'}},'addressType':'IPv4',"              \
    "'ports':[{'name':'web','protocol':'TCP','port':8080}],'endpoints':[" endpoints "]}"
#define AT(ip, more) "{'addresses':['" ip "']" more "}"
#define SLICES(...)  ((const char *const[]){ __VA_ARGS__, NULL })
#define NOT_READY    ",'conditions':{'ready':false}"
#define DRAINING     ",'conditions':{'ready':false,'serving':true,'terminating':true}"

TEST(each_ready_endpoint_is_one_element)
{
    service_elements all = { 0 };
    make(SERVICE(CLUSTER_IP PORT),
         SLICES(SLICE(AT("10.1.0.2", "") "," AT("10.1.0.1", "") "," AT("10.1.0.3", NOT_READY))),
         &all);
    CHECK_INT(count(&all, SERVICE_ENDPOINTS), 2);
    CHECK_INT(only(&all, SERVICE_ADDRESSES)->chain.n, 2);
    CHECK_INT(count(&all, SERVICE_CLUSTER), 1);
    CHECK_INT(count(&all, SERVICE_SELF), 0);
    CHECK_INT(all.n, 4);
    /* In the order of the addresses, so that the same endpoints are the same elements. */
    const struct service_element *first = NULL;
    for (size_t i = 0; i < all.n && !first; i++)
        first = all.p[i].map == SERVICE_ENDPOINTS ? &all.p[i] : NULL;
    const uint8_t key[] = { 10, 96, 0, 10, IPPROTO_TCP, 0, 0, 0, 0, 80, 0, 0, 0, 0, 0, 0 };
    const uint8_t value[] = { 10, 1, 0, 1, 0x1f, 0x90, 0, 0 };
    CHECK_INT(first->key_n, sizeof key);
    CHECK_INT(first->value_n, sizeof value);
    CHECK(memcmp(first->key, key, sizeof key) == 0);
    CHECK(memcmp(first->value, value, sizeof value) == 0);
    vec_fini(&all);
}

TEST(endpoints_in_two_slices_count_once)
{
    service_elements all = { 0 };
    make(SERVICE(CLUSTER_IP PORT), SLICES(SLICE(AT("10.1.0.2", "")), SLICE(AT("10.1.0.2", ""))),
         &all);
    CHECK_INT(count(&all, SERVICE_ENDPOINTS), 1);
    vec_fini(&all);
}

TEST(without_ready_ones_those_that_still_serve_count)
{
    service_elements all = { 0 };
    make(SERVICE(CLUSTER_IP PORT),
         SLICES(SLICE(AT("10.1.0.2", NOT_READY) "," AT("10.1.0.3", DRAINING))), &all);
    CHECK_INT(count(&all, SERVICE_ENDPOINTS), 1);
    make(SERVICE(CLUSTER_IP PORT), SLICES(SLICE(AT("10.1.0.2", "") "," AT("10.1.0.3", DRAINING))),
         &all);
    CHECK_INT(count(&all, SERVICE_ENDPOINTS), 1);
    vec_fini(&all);
}

TEST(without_endpoints_a_port_is_refused)
{
    service_elements all = { 0 };
    make(SERVICE(CLUSTER_IP PORT), SLICES(SLICE(AT("10.1.0.3", NOT_READY))), &all);
    CHECK_INT(only(&all, SERVICE_REFUSED)->verdict, SERVICE_REJECT);
    CHECK_INT(count(&all, SERVICE_ADDRESSES), 0);
    make(SERVICE(CLUSTER_IP "'type':'NodePort','ports':[{'name':'web','protocol':'TCP','port':80,"
                            "'nodePort':30080}]"),
         NULL, &all);
    CHECK_INT(only(&all, SERVICE_REFUSED_PORTS)->verdict, SERVICE_REJECT);
    vec_fini(&all);
}

TEST(a_local_policy_takes_the_endpoints_of_the_node)
{
    service_elements all = { 0 };
    const char *const *slices =
        SLICES(SLICE(AT("10.1.0.2", ",'nodeName':'n1'") "," AT("10.2.0.2", ",'nodeName':'n2'")));
    make(SERVICE(CLUSTER_IP "'internalTrafficPolicy':'Local'," PORT), slices, &all);
    CHECK_INT(only(&all, SERVICE_ADDRESSES)->chain.n, 1);
    make(SERVICE(CLUSTER_IP "'externalTrafficPolicy':'Local','type':'NodePort','ports':["
                            "{'name':'web','protocol':'TCP','port':80,'nodePort':30080}]"),
         slices, &all);
    CHECK_INT(only(&all, SERVICE_ADDRESSES)->chain.n, 2);
    CHECK_INT(only(&all, SERVICE_NODE_PORTS)->chain.n, 1);
    CHECK(!only(&all, SERVICE_NODE_PORTS)->chain.marks);
    /* Another node has some: it would be asked again there, so nothing is said. */
    make(SERVICE(CLUSTER_IP "'internalTrafficPolicy':'Local'," PORT),
         SLICES(SLICE(AT("10.2.0.2", ",'nodeName':'n2'"))), &all);
    CHECK_INT(only(&all, SERVICE_REFUSED)->verdict, SERVICE_DROP);
    vec_fini(&all);
}

#define HINT(zone) ",'hints':{'forZones':[{'name':'" zone "'}]}"

TEST(hints_count_if_all_endpoints_have_them)
{
    service_elements all = { 0 };
    make(SERVICE(CLUSTER_IP PORT),
         SLICES(SLICE(AT("10.1.0.2", HINT("z1")) "," AT("10.1.0.3", HINT("z2")))), &all);
    CHECK_INT(count(&all, SERVICE_ENDPOINTS), 1);
    make(SERVICE(CLUSTER_IP PORT), SLICES(SLICE(AT("10.1.0.2", HINT("z1")) "," AT("10.1.0.3", ""))),
         &all);
    CHECK_INT(count(&all, SERVICE_ENDPOINTS), 2);
    make(SERVICE(CLUSTER_IP PORT),
         SLICES(SLICE(AT("10.1.0.2", HINT("z3")) "," AT("10.1.0.3", HINT("z2")))), &all);
    CHECK_INT(count(&all, SERVICE_ENDPOINTS), 2);
    vec_fini(&all);
}

TEST(families_are_apart)
{
    service_elements all = { 0 };
    make(SERVICE("'clusterIPs':['10.96.0.10','fd00:96::10']," PORT),
         SLICES(SLICE(AT("10.1.0.2", "")), SLICE(AT("fd00:1::2", "") "," AT("fd00:1::3", ""))),
         &all);
    CHECK_INT(only(&all, SERVICE_ADDRESSES)->chain.n, 1);
    CHECK_INT(only(&all, SERVICE_MAPS + SERVICE_ADDRESSES)->chain.n, 2);
    CHECK(only(&all, SERVICE_MAPS + SERVICE_ADDRESSES)->chain.is_ipv6);
    vec_fini(&all);
}

TEST(what_needs_no_rules_has_none)
{
    service_elements all = { 0 };
    make(SERVICE("'clusterIPs':['None']," PORT), SLICES(SLICE(AT("10.1.0.2", ""))), &all);
    CHECK_INT(all.n, 0);
    make(SERVICE("'type':'ExternalName','externalName':'x.example'"), NULL, &all);
    CHECK_INT(all.n, 0);
    make("{}", SLICES("{}"), &all);
    CHECK_INT(all.n, 0);
    make(SERVICE("'clusterIPs':[1,'10.96.0.999',{}],'ports':[1,{'port':'x'},{'port':99999}]"),
         SLICES("{'endpoints':[1,{},{'addresses':[]},{'addresses':[7]}],'ports':[{}]}"), &all);
    CHECK_INT(all.n, 0);
    vec_fini(&all);
}

static void on_lost(void *arg, void *loser)
{
    *(void **)arg = loser;
}

TEST(the_first_has_an_address_unless_it_is_anothers_cluster_ip)
{
    struct service_owners o = { 0 };
    int a, b, c;
    void *lost = NULL;
    service_elements one = { 0 }, two = { 0 }, strong = { 0 };
    make(SERVICE("'clusterIPs':['10.96.0.10'],'externalIPs':['10.96.0.12']," PORT),
         SLICES(SLICE(AT("10.1.0.2", ""))), &one);
    make(SERVICE("'clusterIPs':['10.96.0.11'],'externalIPs':['10.96.0.12']," PORT),
         SLICES(SLICE(AT("10.1.0.3", ""))), &two);
    make(SERVICE("'clusterIPs':['10.96.0.12']," PORT), SLICES(SLICE(AT("10.1.0.4", ""))), &strong);
    CHECK(!service_owners_claim(&o, &a, &one, on_lost, &lost));
    CHECK_INT(count(&one, SERVICE_ADDRESSES), 2);
    CHECK(service_owners_claim(&o, &b, &two, on_lost, &lost));
    CHECK_INT(count(&two, SERVICE_ADDRESSES), 1);
    CHECK_INT(count(&two, SERVICE_ENDPOINTS), 1);
    CHECK(!lost);
    CHECK(!service_owners_claim(&o, &c, &strong, on_lost, &lost));
    CHECK(lost == &a);
    service_owners_keep(&o, &a, &one);
    CHECK_INT(count(&one, SERVICE_ADDRESSES), 1);
    CHECK(!service_owners_are_free(&o, &strong));
    service_owners_release(&o, &c, &strong);
    CHECK(service_owners_are_free(&o, &strong));
    service_owners_release(&o, &a, &one);
    service_owners_release(&o, &b, &two);
    CHECK_INT(o.by_way.n, 0);
    service_owners_fini(&o);
    vec_fini(&one);
    vec_fini(&two);
    vec_fini(&strong);
}

TEST(a_service_has_a_limited_number_of_elements)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1 << 20), slice = BUF_INIT(1 << 20);
    service_elements all = { 0 };
    (void)buf_printf(&text, "{'metadata':{},'spec':{'clusterIPs':['10.96.0.10'],'ports':[");
    (void)buf_printf(&slice, "{'metadata':{'labels':{'kubernetes.io/service-name':'b'}},'ports':[");
    for (unsigned i = 0; i < SLICE_PORTS_MAX; i++) {
        (void)buf_printf(&text, "%s{'name':'p%u','port':%u}", i ? "," : "", i, i + 1);
        (void)buf_printf(&slice, "%s{'name':'p%u','port':%u}", i ? "," : "", i, i + 1);
    }
    (void)buf_printf(&text, "]}}");
    (void)buf_printf(&slice, "],'endpoints':[");
    for (unsigned i = 0; i < SLICE_ENDPOINTS_MAX; i++)
        (void)buf_printf(&slice, "%s{'addresses':['10.1.%u.%u']}", i ? "," : "", i / 250, i % 250);
    (void)buf_printf(&slice, "]}");
    make(buf_cstr(&text), SLICES(buf_cstr(&slice)), &all);
    CHECK(!is_whole);
    CHECK(all.n > SLICE_ENDPOINTS_MAX && all.n <= SERVICE_ELEMENTS_MAX);
    vec_fini(&all);
}

/* ---------------------------------------------------------------- in the kernel */

struct kernel {
    struct service_chains chains;
    service_elements is;
};

static void add_ip(const char *text)
{
    struct netlink_ip ip;
    int fd = netlink_open(NULL);
    CHECK(pod_range_parse_ip(str_of(text), &ip));
    CHECK_OK(netlink_add_ip(fd, 1, &ip, NULL));
    (void)close(fd);
}

/* So that connect() has a way to addresses that only rules know. */
static void add_route(const char *range)
{
    struct netlink_route route = { .index = 1 };
    int fd = netlink_open(NULL);
    CHECK(pod_range_parse(str_of(range), &route.to));
    CHECK_OK(netlink_set_route(fd, &route, NULL));
    (void)close(fd);
}

static int commit(struct nftables_batch *b)
{
    struct err err = { 0 };
    int r = nftables_commit(b, &err);
    if (r < 0)
        TEST_FAIL("%s", err_text(&err));
    return r;
}

static void open_kernel(struct kernel *k)
{
    struct nftables_batch b;
    *k = (struct kernel){ 0 };
    nftables_begin(&b, SERVICE_RULES_TABLE);
    service_rules_renew(&b, &k->chains);
    (void)commit(&b);
}

static void set(struct kernel *k, const char *service, const char *const *slices)
{
    struct nftables_batch b;
    service_elements wanted = { 0 };
    if (service)
        make(service, slices, &wanted);
    nftables_begin(&b, SERVICE_RULES_TABLE);
    service_rules_change(&b, &k->chains, &k->is, &wanted);
    service_rules_drop_chains(&b, &k->chains);
    (void)commit(&b);
    vec_fini(&k->is);
    memcpy(&k->is, &wanted, sizeof wanted);
}

static void close_kernel(struct kernel *k)
{
    set(k, NULL, NULL);
    CHECK_INT(k->chains.by_name.n, 0);
    CHECK_INT(k->chains.selves.n, 0);
    service_chains_fini(&k->chains);
    vec_fini(&k->is);
}

static socklen_t address_of(const char *ip, uint16_t port, struct sockaddr_storage *ret)
{
    struct sockaddr_in *v4 = (void *)ret;
    struct sockaddr_in6 *v6 = (void *)ret;
    memset(ret, 0, sizeof *ret);
    if (inet_pton(AF_INET, ip, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(port);
        return sizeof *v4;
    }
    CHECK_INT(inet_pton(AF_INET6, ip, &v6->sin6_addr), 1);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    return sizeof *v6;
}

static int listen_at(const char *ip, uint16_t port)
{
    struct sockaddr_storage at;
    socklen_t n = address_of(ip, port, &at);
    int fd = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    CHECK_OK(fd);
    CHECK_OK(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on));
    CHECK_OK(bind(fd, (struct sockaddr *)&at, n));
    CHECK_OK(listen(fd, TRIES));
    return fd;
}

/* Which of the listening sockets gets a connection to the address; < 0: of connect(). */
static int reach(const char *from, const char *ip, uint16_t port, const int *listening, size_t n)
{
    struct sockaddr_storage at, own;
    socklen_t at_n = address_of(ip, port, &at), own_n = address_of(from, 0, &own);
    struct timeval limit = { .tv_sec = KIT_WAIT_S };
    struct pollfd polls[SLICES_MAX] = { 0 };
    scoped(fd_scoped) int fd = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_OK(fd);
    CHECK_OK(bind(fd, (struct sockaddr *)&own, own_n));
    CHECK_OK(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit));
    if (connect(fd, (struct sockaddr *)&at, at_n) < 0)
        return -errno;
    for (size_t i = 0; i < n; i++)
        polls[i] = (struct pollfd){ .fd = listening[i], .events = POLLIN };
    CHECK_INT(poll(polls, n, KIT_WAIT_S * 1000), 1);
    for (size_t i = 0; i < n; i++) {
        if (polls[i].revents) {
            int got = accept4(listening[i], NULL, NULL, SOCK_CLOEXEC);
            CHECK_OK(got);
            (void)close(got);
            return (int)i;
        }
    }
    return -ENOENT;
}

#define TWO         SLICES(SLICE(AT("10.1.0.1", "") "," AT("10.1.0.2", "")))
#define FIRST_ONLY  SLICES(SLICE(AT("10.1.0.1", "")))
#define SECOND_ONLY SLICES(SLICE(AT("10.1.0.2", "")))
#define NODE_PORT                                                                                  \
    "'type':'NodePort','ports':[{'name':'web','protocol':'TCP','port':80,'nodePort':30080}]"

static bool prepare(struct kernel *k, int listening[2])
{
    struct nftables_batch b;
    if (!can_isolate) {
        test_skipped = "network namespaces may not be made here";
        return false;
    }
    nftables_begin(&b, "probe");
    nftables_add_table(&b);
    if (nftables_commit(&b, NULL) < 0) {
        test_skipped = "this kernel has no nf_tables";
        return false;
    }
    listening[0] = listen_at("10.1.0.1", 8080);
    listening[1] = listen_at("10.1.0.2", 8080);
    open_kernel(k);
    return true;
}

static void finish(struct kernel *k, int listening[2])
{
    close_kernel(k);
    (void)close(listening[0]);
    (void)close(listening[1]);
}

/* With 64 connections, one of two even endpoints is left out once in 2^63 runs. */
static void count_reached(const char *ip, uint16_t port, const int listening[2], unsigned got[2])
{
    got[0] = got[1] = 0;
    for (unsigned i = 0; i < TRIES; i++) {
        int r = reach("10.1.0.9", ip, port, listening, 2);
        CHECK(r == 0 || r == 1);
        got[r]++;
    }
}

TEST(connections_to_an_address_reach_all_endpoints)
{
    struct kernel k;
    int listening[2];
    unsigned got[2];
    if (!prepare(&k, listening))
        return;
    set(&k, SERVICE(CLUSTER_IP NODE_PORT), TWO);
    count_reached("10.96.0.10", 80, listening, got);
    CHECK(got[0] && got[1]);
    count_reached("10.1.0.9", 30080, listening, got);
    CHECK(got[0] && got[1]);
    CHECK_INT(reach("10.1.0.9", "10.96.0.10", 81, listening, 2), -ECONNREFUSED);
    /* One goes, and the other stays. */
    set(&k, SERVICE(CLUSTER_IP NODE_PORT), SECOND_ONLY);
    count_reached("10.96.0.10", 80, listening, got);
    CHECK_INT(got[0], 0);
    set(&k, SERVICE(CLUSTER_IP NODE_PORT), SLICES(SLICE("")));
    CHECK_INT(reach("10.1.0.9", "10.96.0.10", 80, listening, 2), -ECONNREFUSED);
    CHECK_INT(reach("10.1.0.9", "10.1.0.9", 30080, listening, 2), -ECONNREFUSED);
    set(&k, SERVICE(CLUSTER_IP NODE_PORT), FIRST_ONLY);
    count_reached("10.96.0.10", 80, listening, got);
    CHECK_INT(got[1], 0);
    finish(&k, listening);
}

TEST(a_client_with_affinity_stays_with_its_endpoint)
{
    struct kernel k;
    int listening[2];
    unsigned got[2];
    if (!prepare(&k, listening))
        return;
    set(&k, SERVICE(CLUSTER_IP "'sessionAffinity':'ClientIP'," NODE_PORT), TWO);
    count_reached("10.96.0.10", 80, listening, got);
    CHECK(!got[0] != !got[1]);
    bool second = got[1] > 0;
    count_reached("10.1.0.9", 30080, listening, got);
    CHECK(!got[0] != !got[1]);
    /* Its endpoint is no more: it gets the other one, and stays there when the first returns. */
    set(&k, SERVICE(CLUSTER_IP "'sessionAffinity':'ClientIP'," NODE_PORT),
        second ? FIRST_ONLY : SECOND_ONLY);
    CHECK_INT(reach("10.1.0.9", "10.96.0.10", 80, listening, 2), !second);
    set(&k, SERVICE(CLUSTER_IP "'sessionAffinity':'ClientIP'," NODE_PORT), TWO);
    count_reached("10.96.0.10", 80, listening, got);
    CHECK_INT(got[second], 0);
    finish(&k, listening);
}

/* A client that fills the map does not keep other clients out. */
TEST(a_full_map_of_clients_refuses_nobody)
{
    struct kernel k;
    struct nftables_batch b;
    int listening[2];
    if (!prepare(&k, listening))
        return;
    set(&k, SERVICE(CLUSTER_IP "'sessionAffinity':'ClientIP'," NODE_PORT), TWO);
    nftables_begin(&b, SERVICE_RULES_TABLE);
    for (uint32_t i = 0; i < SERVICE_AFFINITY_MAX; i++) {
        uint32_t key[4] = { htonl(i), 0, IPPROTO_TCP, 0 }, value[2] = { htonl(i), 0 };
        nftables_change_element(&b, true, "affinity4", key, sizeof key, value, sizeof value);
    }
    (void)commit(&b);
    CHECK(reach("10.1.0.9", "10.96.0.10", 80, listening, 2) >= 0);
    CHECK(reach("10.1.0.9", "10.1.0.9", 30080, listening, 2) >= 0);
    finish(&k, listening);
}

TEST(ipv6_is_the_same)
{
    struct kernel k;
    int listening[2];
    if (!prepare(&k, listening))
        return;
    scoped(fd_scoped) int inner = listen_at("fd00:1::1", 8080);
    set(&k, SERVICE("'clusterIPs':['fd00:96::10'],'sessionAffinity':'ClientIP'," NODE_PORT),
        SLICES(SLICE(AT("fd00:1::1", ""))));
    CHECK_INT(reach("fd00:1::9", "fd00:96::10", 80, &inner, 1), 0);
    CHECK_INT(reach("fd00:1::9", "fd00:96::10", 80, &inner, 1), 0);
    CHECK_INT(reach("fd00:1::9", "fd00:1::9", 30080, &inner, 1), 0);
    CHECK_INT(reach("fd00:1::9", "fd00:96::10", 81, &inner, 1), -ECONNREFUSED);
    finish(&k, listening);
}

/* The other endpoint is not of this node. */
#define HERE SLICES(SLICE(AT("10.1.0.1", ",'nodeName':'n1'") "," AT("10.1.0.2", "")))

TEST(services_may_have_the_same_endpoints)
{
    struct kernel k;
    struct nftables_batch b;
    int listening[2];
    service_elements other = { 0 }, none = { 0 };
    if (!prepare(&k, listening))
        return;
    set(&k, SERVICE(CLUSTER_IP NODE_PORT), HERE);
    CHECK_INT(count(&k.is, SERVICE_SELF), 1);
    make(SERVICE("'clusterIPs':['10.96.0.11']," PORT), HERE, &other);
    nftables_begin(&b, SERVICE_RULES_TABLE);
    service_rules_change(&b, &k.chains, &none, &other);
    (void)commit(&b);
    CHECK_INT(k.chains.selves.n, 1);
    set(&k, NULL, NULL);
    CHECK_INT(k.chains.selves.n, 1);
    CHECK(reach("10.1.0.9", "10.96.0.11", 80, listening, 2) >= 0);
    nftables_begin(&b, SERVICE_RULES_TABLE);
    service_rules_change(&b, &k.chains, &other, &none);
    service_rules_drop_chains(&b, &k.chains);
    (void)commit(&b);
    vec_fini(&other);
    finish(&k, listening);
}

TEST(a_new_table_forgets_everything)
{
    struct kernel k;
    int listening[2];
    if (!prepare(&k, listening))
        return;
    set(&k, SERVICE(CLUSTER_IP NODE_PORT), TWO);
    vec_fini(&k.is);
    service_chains_fini(&k.chains);
    open_kernel(&k);
    CHECK_INT(reach("10.1.0.9", "10.1.0.9", 30080, listening, 2), -ECONNREFUSED);
    set(&k, SERVICE(CLUSTER_IP NODE_PORT), FIRST_ONLY);
    CHECK_INT(reach("10.1.0.9", "10.96.0.10", 80, listening, 2), 0);
    finish(&k, listening);
}

int main(int argc, char **argv)
{
    can_isolate = kit_isolate();
    if (can_isolate) {
        static const char *const addresses[] = { "10.1.0.1", "10.1.0.2", "10.1.0.9", "fd00:1::1",
                                                 "fd00:1::9" };
        for (size_t i = 0; i < ARRAY_LEN(addresses); i++)
            add_ip(addresses[i]);
        add_route("10.96.0.0/16");
        add_route("fd00:96::/64");
    }
    return test_main(argc, argv);
}
