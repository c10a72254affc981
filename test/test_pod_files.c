/* SPDX-License-Identifier: Apache-2.0 */
/* agent/network/pod_files: resolv.conf, hosts and host names of pods; address ranges. */
#include "agent/network/pod_files.h"

#include "agent/network/pod_range.h"
#include "base/mem.h"
#include "test.h"

#define HOST_CONF                                                                                  \
    "# of the node\nnameserver 192.0.2.53\nsearch old.example\nsearch corp.example. example\n"     \
    "options timeout:2 rotate\n"

static const struct str cluster_dns[] = { { "10.96.0.10", 10 } };

static struct pod_files_dns dns_of(enum pod_files_policy policy)
{
    return (struct pod_files_dns){ .policy = policy,
                                   .namespace = STR("ns"),
                                   .cluster_nameservers = cluster_dns,
                                   .n_cluster_nameservers = 1,
                                   .cluster_domain = STR("cluster.local"),
                                   .host_conf = STR(HOST_CONF) };
}

static void check_conf(const struct pod_files_dns *d, const char *want)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(POD_FILES_TEXT_MAX);
    struct err err = { 0 };
    CHECK_OK(pod_files_resolv_conf(d, &b, NULL, &err));
    CHECK_STR(buf_str(&b), want);
}

#define CLUSTER_SEARCH "search ns.svc.cluster.local svc.cluster.local cluster.local "

TEST(the_policy_decides_where_names_are_looked_up)
{
    struct pod_files_dns d = dns_of(POD_FILES_CLUSTER_FIRST);
    const char cluster[] =
        CLUSTER_SEARCH "corp.example example\nnameserver 10.96.0.10\noptions ndots:5\n";
    const char host[] =
        "search corp.example example\nnameserver 192.0.2.53\noptions timeout:2 rotate\n";
    check_conf(&d, cluster);
    d.host_network = true;
    check_conf(&d, host);
    d.policy = POD_FILES_CLUSTER_FIRST_WITH_HOST_NET;
    check_conf(&d, cluster);
    d = dns_of(POD_FILES_DEFAULT);
    check_conf(&d, host);
    d = dns_of(POD_FILES_NONE);
    check_conf(&d, "");
}

TEST(without_a_dns_service_the_node_s_file_counts_with_a_warning)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(POD_FILES_TEXT_MAX);
    struct pod_files_dns d = dns_of(POD_FILES_CLUSTER_FIRST);
    struct pod_files_warnings w;
    d.n_cluster_nameservers = 0;
    CHECK_OK(pod_files_resolv_conf(&d, &b, &w, NULL));
    CHECK(strstr(w.missing, "Falling back"));
    CHECK(strstr(buf_cstr(&b), "nameserver 192.0.2.53\n"));
    d = dns_of(POD_FILES_DEFAULT);
    d.host_conf = STR("");
    check_conf(&d, "search .\nnameserver 127.0.0.1\n");
}

TEST(the_pod_s_configuration_is_merged_without_duplicates)
{
    const struct str nameservers[] = { STR("10.96.0.10"), STR("8.8.8.8") };
    const struct str searches[] = { STR("example"), STR("own.example") };
    const struct pod_files_option options[] = { { STR("ndots"), STR("2") },
                                                { STR("edns0"), STR_NULL } };
    struct pod_files_dns d = dns_of(POD_FILES_CLUSTER_FIRST);
    d.nameservers = nameservers;
    d.n_nameservers = 2;
    d.searches = searches;
    d.n_searches = 2;
    d.options = options;
    d.n_options = 2;
    check_conf(&d, CLUSTER_SEARCH "corp.example example own.example\nnameserver 10.96.0.10\n"
                                  "nameserver 8.8.8.8\noptions ndots:2 edns0\n");
    d.policy = POD_FILES_NONE;
    check_conf(&d, "search example own.example\nnameserver 10.96.0.10\nnameserver 8.8.8.8\n"
                   "options ndots:2 edns0\n");
}

TEST(what_exceeds_a_limit_is_left_out_with_a_warning)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(POD_FILES_TEXT_MAX);
    const struct str nameservers[] = { STR("1.1.1.1"), STR("2.2.2.2"), STR("3.3.3.3"),
                                       STR("4.4.4.4") };
    char names[40][240];
    struct str searches[40];
    struct pod_files_dns d = dns_of(POD_FILES_NONE);
    struct pod_files_warnings w;
    for (size_t i = 0; i < 40; i++) {
        memset(names[i], 'a', sizeof names[i]);
        (void)snprintf(names[i] + 200, 40, "%zu", i);
        searches[i] = str_n(names[i], i == 3 ? 3 : 202);
    }
    d.nameservers = nameservers;
    d.n_nameservers = 4;
    d.searches = searches;
    d.n_searches = 40;
    CHECK_OK(pod_files_resolv_conf(&d, &b, &w, NULL));
    CHECK(strstr(w.nameservers, "1.1.1.1 2.2.2.2 3.3.3.3"));
    CHECK(!strstr(buf_cstr(&b), "4.4.4.4"));
    CHECK(strncmp(w.searches, "Search Line limits", 18) == 0);
    const char *end = strchr(buf_cstr(&b), '\n');
    size_t line = (size_t)(end - buf_cstr(&b)) - strlen("search ");
    CHECK(line <= POD_FILES_SEARCH_BYTES_MAX && line + 203 > POD_FILES_SEARCH_BYTES_MAX);
    for (size_t i = 0; i < 40; i++)
        searches[i] = str_n(names[i] + 190, 12);
    buf_reset(&b);
    CHECK_OK(pod_files_resolv_conf(&d, &b, &w, NULL));
    size_t n = 0;
    for (const char *p = buf_cstr(&b); *p != '\n'; p++)
        n += *p == ' ';
    CHECK_INT(n, POD_FILES_SEARCHES_MAX);
}

TEST(a_host_name_comes_from_the_spec_or_the_pod_s_name)
{
    struct pod_files_hostname h;
    struct err err = { 0 };
    struct pod_files_name p = { .name = STR("web-0"),
                                .namespace = STR("ns"),
                                .cluster_domain = STR("cluster.local") };
    CHECK_OK(pod_files_hostname(&p, &h, &err));
    CHECK_STR(str_of(h.name), "web-0");
    CHECK_STR(str_of(h.domain), "");
    p.subdomain = STR("svc");
    p.hostname = STR("db");
    CHECK_OK(pod_files_hostname(&p, &h, &err));
    CHECK_STR(str_of(h.name), "db");
    CHECK_STR(str_of(h.domain), "svc.ns.svc.cluster.local");
    p.is_fqdn = true;
    CHECK_OK(pod_files_hostname(&p, &h, &err));
    CHECK_STR(str_of(h.name), "db.svc.ns.svc.cluster.local");
    CHECK_STR(str_of(h.short_name), "db");
    p.hostname = STR("a-name-of-forty-bytes-xxxxxxxxxxxxxxxxxx");
    CHECK_ERR(pod_files_hostname(&p, &h, &err), E_INVALID);
    p.is_fqdn = false;
    p.hostname = STR("");
    p.name = STR("a-name-that-is-longer-than-a-label-can-be-and-ends-with-a-dash-------x");
    CHECK_OK(pod_files_hostname(&p, &h, &err));
    CHECK_STR(str_of(h.name), "a-name-that-is-longer-than-a-label-can-be-and-ends-with-a-dash");
}

TEST(a_hosts_file_names_the_pod_and_its_aliases)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(POD_FILES_TEXT_MAX);
    struct pod_files_hostname h = { .name = "db", .short_name = "db", .domain = "svc.ns.svc.c" };
    const char *const ips[] = { "10.0.0.7", "fd00::7" };
    const struct str names[] = { STR("one"), STR("two") };
    const struct pod_files_alias alias = { STR("192.0.2.9"), names, 2 };
    struct pod_files_hosts hosts = {
        .name = &h, .ips = ips, .n_ips = 2, .aliases = &alias, .n_aliases = 1
    };
    CHECK_OK(pod_files_hosts(&hosts, &b));
    CHECK(strstr(buf_cstr(&b), "127.0.0.1\tlocalhost\n"));
    CHECK(strstr(buf_cstr(&b), "\n10.0.0.7\tdb.svc.ns.svc.c\tdb\nfd00::7\tdb.svc.ns.svc.c\tdb\n"));
    CHECK(strstr(buf_cstr(&b), "\n192.0.2.9\tone\ttwo\n"));
    buf_reset(&b);
    hosts.host_network = true;
    hosts.node_hosts = STR("127.0.0.1 node");
    CHECK_OK(pod_files_hosts(&hosts, &b));
    CHECK(strstr(buf_cstr(&b), "127.0.0.1 node\n\n# Entries added by HostAliases.\n192.0.2.9"));
    CHECK(!strstr(buf_cstr(&b), "10.0.0.7"));
}

/* ---------------------------------------------------------------- ranges */

TEST(ranges_are_read_and_their_addresses_counted)
{
    struct netlink_ip range, ip;
    char text[POD_RANGE_TEXT_BYTES];
    CHECK(pod_range_parse(STR("10.1.2.77/24"), &range));
    ip = pod_range_at(&range, 5);
    pod_range_format(&ip, text);
    CHECK_STR(str_of(text), "10.1.2.5");
    CHECK_INT(pod_range_count(&range), 256);
    CHECK(pod_range_has(&range, &ip));
    CHECK(pod_range_parse(STR("fd00:1::/64"), &range));
    CHECK(!pod_range_has(&range, &ip));
    ip = pod_range_at(&range, 0x102);
    pod_range_format(&ip, text);
    CHECK_STR(str_of(text), "fd00:1::102");
    CHECK_INT(pod_range_count(&range), 65536);
    const char *const bad[] = { "",    "10.0.0.1",  "10.0.0.0/33", "10.0.0/8",    "fd00::/129",
                                "x/8", "10.0.0.0/", "/8",          "10.0.0.0/8/8" };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        CHECK(!pod_range_parse(str_of(bad[i]), &range));
}

TEST(an_address_that_was_in_use_rests_before_it_is_taken_again)
{
    struct netlink_ip range, ip;
    struct map used = { 0 };
    uint32_t next = 0;
    char text[POD_RANGE_TEXT_BYTES];
    CHECK(pod_range_parse(STR("10.1.2.8/29"), &range));
    (void)map_put(&used, STR("10.1.2.11"), &used);
    const char *const want[] = { "10.1.2.10", "10.1.2.12", "10.1.2.13", "10.1.2.14", "10.1.2.10" };
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        CHECK(pod_range_take(&range, &used, &next, &ip));
        pod_range_format(&ip, text);
        CHECK_STR(str_of(text), want[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        (void)map_put(&used, str_of(want[i]), &used);
    CHECK(!pod_range_take(&range, &used, &next, &ip));
    map_fini(&used);
}

TEST_MAIN
