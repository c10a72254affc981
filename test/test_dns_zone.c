/* SPDX-License-Identifier: Apache-2.0 */
/* dns/zone: the names of Services and their endpoints, as tables of questions and answers. */
#include "dns/zone.h"

#include "dns_kit.h"

#define META(ns, name) "\"metadata\":{\"namespace\":\"" ns "\",\"name\":\"" name "\"}"
#define SLICE(ns, name, service)                                                                   \
    "\"metadata\":{\"namespace\":\"" ns "\",\"name\":\"" name                                      \
    "\",\"labels\":{\"kubernetes.io/service-name\":\"" service "\"}}"

static struct dns_zone *new_zone(void)
{
    struct dns_zone *z;
    struct err err = { 0 };
    CHECK_OK(dns_zone_new(STR("Cluster.Local"), &z, &err));
    dns_kit_put(
        z, dns_zone_put_service,
        "{" META("default", "kubernetes") ",\"spec\":{\"clusterIP\":\"10.96.0.1\",\"ports\":["
                                          "{\"name\":\"https\",\"port\":443}]}}");
    dns_kit_put(z, dns_zone_put_service,
                "{" META("app", "web") ",\"spec\":{\"clusterIP\":\"10.96.0.7\",\"clusterIPs\":["
                                       "\"10.96.0.7\",\"fd00:96::7\"],\"ports\":["
                                       "{\"name\":\"http\",\"protocol\":\"TCP\",\"port\":80},"
                                       "{\"name\":\"dns\",\"protocol\":\"UDP\",\"port\":53},"
                                       "{\"port\":99}]}}");
    dns_kit_put(z, dns_zone_put_service,
                "{" META("app", "db") ",\"spec\":{\"clusterIP\":\"None\"}}");
    dns_kit_put(
        z, dns_zone_put_service,
        "{" META("app", "all") ",\"spec\":{\"clusterIP\":\"None\",\"publishNotReadyAddresses\":"
                               "true}}");
    dns_kit_put(z, dns_zone_put_service,
                "{" META("app", "none") ",\"spec\":{\"clusterIP\":\"None\"}}");
    dns_kit_put(z, dns_zone_put_service,
                "{" META("app", "far") ",\"spec\":{\"type\":\"ExternalName\",\"externalName\":"
                                       "\"www.Example.com\"}}");
    dns_kit_put(z, dns_zone_put_service,
                "{" META("app", "near") ",\"spec\":{\"type\":\"ExternalName\",\"externalName\":"
                                        "\"web.app.svc.cluster.local\"}}");
    dns_kit_put(z, dns_zone_put_service,
                "{" META("app", "loop") ",\"spec\":{\"type\":\"ExternalName\",\"externalName\":"
                                        "\"loop.app.svc.cluster.local.\"}}");
    dns_kit_put(
        z, dns_zone_put_slice,
        "{" SLICE(
            "app", "db-1",
            "db") ",\"ports\":[{\"name\":\"sql\",\"port\":5432}],"
                  "\"endpoints\":[{\"addresses\":[\"10.0.0.1\",\"10.0.9.9\"],\"hostname\":\"db-0\","
                  "\"conditions\":{\"ready\":true}},{\"addresses\":[\"10.0.0.2\"]},"
                  "{\"addresses\":[\"10.0.0.3\"],\"conditions\":{\"ready\":false}}]}");
    dns_kit_put(
        z, dns_zone_put_slice,
        "{" SLICE("app", "db-2", "db") ",\"addressType\":\"IPv6\",\"ports\":[{\"name\":\"sql\","
                                       "\"port\":5432}],\"endpoints\":[{\"addresses\":[\"fd00::1\"]"
                                       ",\"hostname\":\"db-0\"},"
                                       "{\"addresses\":[\"fd00::a:2\"]}]}");
    dns_kit_put(
        z, dns_zone_put_slice,
        "{" SLICE("app", "db-3",
                  "db") ",\"ports\":[{\"name\":\"sql\",\"port\":5432}],"
                        "\"endpoints\":[{\"addresses\":[\"10.0.0.1\"],\"hostname\":\"db-0\"}]}");
    dns_kit_put(z, dns_zone_put_slice,
                "{" SLICE("app", "all-1", "all") ",\"endpoints\":[{\"addresses\":[\"10.0.0.3\"],"
                                                 "\"conditions\":{\"ready\":false}}]}");
    dns_zone_services_synced(z);
    dns_zone_slices_synced(z);
    return z;
}

static void print_record(struct buf *to, struct arena *a, const struct dns_record *r)
{
    char ip[ADDRESS_TEXT_BYTES];
    switch ((enum dns_type)r->type) {
    case DNS_A:
    case DNS_AAAA:
        address_format(&r->ip, ip);
        (void)buf_printf(to, " %s", ip);
        break;
    case DNS_SRV:
        (void)buf_printf(to, " %u:%s", r->port, dns_name_text(a, r->target));
        break;
    case DNS_TXT:
        (void)buf_printf(to, " '" STR_FMT "'", STR_ARG(r->target));
        break;
    case DNS_SOA:
        (void)buf_printf(to, " soa %s %s", dns_name_text(a, r->target),
                         dns_name_text(a, r->mailbox));
        break;
    case DNS_NS:
    case DNS_CNAME:
    case DNS_PTR:
        (void)buf_printf(to, " %s", dns_name_text(a, r->target));
        break;
    case DNS_ANY:
        CHECK(false);
    }
}

static const char *const founds[] = { [DNS_ZONE_FOUND] = "found",
                                      [DNS_ZONE_NO_NAME] = "no name",
                                      [DNS_ZONE_ELSEWHERE] = "elsewhere",
                                      [DNS_ZONE_NOT_KNOWN] = "not known" };

static void check_answer(const struct dns_zone *z, const char *name, uint16_t type,
                         const char *want)
{
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(65536);
    struct dns_name n;
    struct dns_answer got;
    CHECK(dns_name_parse(str_of(name), &n));
    dns_zone_answer(z, &n, type, &a, &got);
    (void)buf_add_cstr(&text, founds[got.found]);
    for (size_t i = 0; i < got.n_records; i++)
        print_record(&text, &a, &got.records[i]);
    if (got.n_extra)
        (void)buf_add_cstr(&text, " +");
    for (size_t i = 0; i < got.n_extra; i++)
        print_record(&text, &a, &got.extra[i]);
    if (got.follow.n)
        (void)buf_printf(&text, " -> %s", dns_name_text(&a, got.follow));
    if (!str_is(buf_str(&text), want))
        TEST_FAIL("%s %u: '%s', expected '%s'", name, type, buf_cstr(&text), want);
    if (got.found == DNS_ZONE_NO_NAME)
        CHECK(got.has_soa);
    arena_fini(&a);
}

static const struct question {
    const char *name;
    uint16_t type;
    const char *want;
} table[] = {
    /* of the zone */
    { "cluster.local", DNS_SOA, "found soa ns.dns.cluster.local. hostmaster.cluster.local." },
    { "cluster.local", DNS_NS, "found ns.dns.cluster.local. + 10.1.0.1" },
    { "cluster.local", DNS_A, "found" },
    { "ns.dns.cluster.local", DNS_A, "found 10.1.0.1" },
    { "dns.cluster.local", DNS_A, "found" },
    { "dns-version.cluster.local", DNS_TXT, "found '1.1.0'" },
    { "dns-version.cluster.local", DNS_A, "found" },
    { "x.dns-version.cluster.local", DNS_TXT, "no name" },
    { "svc.cluster.local", DNS_A, "found" },
    { "app.svc.cluster.local", DNS_A, "found" },
    { "empty.svc.cluster.local", DNS_A, "no name" },
    { "other.cluster.local", DNS_A, "no name" },
    { "example.com", DNS_A, "elsewhere" },
    { "local", DNS_A, "elsewhere" },
    { "xcluster.local", DNS_A, "elsewhere" },
    /* with an address */
    { "kubernetes.default.svc.cluster.local", DNS_A, "found 10.96.0.1" },
    { "KUBERNETES.Default.SVC.cluster.LOCAL", DNS_A, "found 10.96.0.1" },
    { "kubernetes.default.svc.cluster.local", DNS_AAAA, "found" },
    { "kubernetes.default.svc.cluster.local", DNS_TXT, "found" },
    { "web.app.svc.cluster.local", DNS_A, "found 10.96.0.7" },
    { "web.app.svc.cluster.local", DNS_AAAA, "found fd00:96::7" },
    { "web.default.svc.cluster.local", DNS_A, "no name" },
    { "x.web.app.svc.cluster.local", DNS_A, "no name" },
    { "*.app.svc.cluster.local", DNS_A, "no name" },
    { "_http._tcp.web.app.svc.cluster.local", DNS_SRV,
      "found 80:web.app.svc.cluster.local. + 10.96.0.7 fd00:96::7" },
    { "_HTTP._TCP.web.app.svc.cluster.local", DNS_SRV,
      "found 80:web.app.svc.cluster.local. + 10.96.0.7 fd00:96::7" },
    { "_http._tcp.web.app.svc.cluster.local", DNS_A, "found" },
    { "_http._udp.web.app.svc.cluster.local", DNS_SRV, "no name" },
    { "_dns._udp.web.app.svc.cluster.local", DNS_SRV,
      "found 53:web.app.svc.cluster.local. + 10.96.0.7 fd00:96::7" },
    { "_tcp.web.app.svc.cluster.local", DNS_SRV, "found" },
    { "_sctp.web.app.svc.cluster.local", DNS_SRV, "no name" },
    { "_x.web.app.svc.cluster.local", DNS_SRV, "no name" },
    { "http._tcp.web.app.svc.cluster.local", DNS_SRV, "no name" },
    { "a._http._tcp.web.app.svc.cluster.local", DNS_SRV, "no name" },
    /* headless */
    { "db.app.svc.cluster.local", DNS_A, "found 10.0.0.1 10.0.0.2" },
    { "db.app.svc.cluster.local", DNS_AAAA, "found fd00::1 fd00::a:2" },
    { "db-0.db.app.svc.cluster.local", DNS_A, "found 10.0.0.1" },
    { "DB-0.db.app.svc.cluster.local", DNS_AAAA, "found fd00::1" },
    { "10-0-0-2.db.app.svc.cluster.local", DNS_A, "found 10.0.0.2" },
    { "fd00--a-2.db.app.svc.cluster.local", DNS_AAAA, "found fd00::a:2" },
    { "fd00--a-2.db.app.svc.cluster.local", DNS_A, "found" },
    { "10-0-0-1.db.app.svc.cluster.local", DNS_A, "no name" }, /* it has a host name */
    { "10-0-0-3.db.app.svc.cluster.local", DNS_A, "no name" }, /* not ready */
    { "10-0-0-3.all.app.svc.cluster.local", DNS_A, "found 10.0.0.3" },
    { "all.app.svc.cluster.local", DNS_A, "found 10.0.0.3" },
    { "none.app.svc.cluster.local", DNS_A, "no name" },
    { "_sql._tcp.db.app.svc.cluster.local", DNS_SRV,
      "found 5432:db-0.db.app.svc.cluster.local. 5432:10-0-0-2.db.app.svc.cluster.local. "
      "5432:fd00--a-2.db.app.svc.cluster.local. + 10.0.0.1 10.0.0.2 fd00::1 fd00::a:2" },
    { "_web._tcp.db.app.svc.cluster.local", DNS_SRV, "no name" },
    /* ExternalName */
    { "far.app.svc.cluster.local", DNS_A, "found www.example.com. -> www.example.com." },
    { "far.app.svc.cluster.local", DNS_CNAME, "found www.example.com." },
    { "near.app.svc.cluster.local", DNS_A, "found web.app.svc.cluster.local. 10.96.0.7" },
    { "near.app.svc.cluster.local", DNS_TXT, "found web.app.svc.cluster.local." },
    /* pods */
    { "10-1-2-3.app.pod.cluster.local", DNS_A, "found 10.1.2.3" },
    { "10-1-2-3.any.pod.cluster.local", DNS_AAAA, "found" },
    { "fd00--7.app.pod.cluster.local", DNS_AAAA, "found fd00::7" },
    { "10-1-2.app.pod.cluster.local", DNS_A, "no name" },
    { "10-1-2-300.app.pod.cluster.local", DNS_A, "no name" },
    { "web.app.pod.cluster.local", DNS_A, "no name" },
    { "pod.cluster.local", DNS_A, "found" },
    /* addresses */
    { "7.0.96.10.in-addr.arpa", DNS_PTR, "found web.app.svc.cluster.local." },
    { "7.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.6.9.0.0.0.0.d.f.ip6.arpa", DNS_PTR,
      "found web.app.svc.cluster.local." },
    { "1.0.0.10.in-addr.arpa", DNS_PTR, "found db-0.db.app.svc.cluster.local." },
    { "3.0.0.10.in-addr.arpa", DNS_PTR, "found 10-0-0-3.all.app.svc.cluster.local." },
    { "7.0.96.10.in-addr.arpa", DNS_A, "elsewhere" },
    { "9.9.9.9.in-addr.arpa", DNS_PTR, "elsewhere" },
    { "x.0.96.10.in-addr.arpa", DNS_PTR, "elsewhere" },
    { "0.96.10.in-addr.arpa", DNS_PTR, "elsewhere" },
};

TEST(questions_have_the_answers_of_the_specification)
{
    struct dns_zone *z = new_zone();
    struct address server;
    CHECK(address_parse(STR("10.1.0.1"), &server));
    dns_zone_set_servers(z, &server, 1);
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        check_answer(z, table[i].name, table[i].type, table[i].want);
    dns_zone_free(z);
}

TEST(a_name_that_is_an_alias_of_itself_ends)
{
    struct dns_zone *z = new_zone();
    struct arena a = { 0 };
    struct dns_name n;
    struct dns_answer got;
    CHECK(dns_name_parse(STR("loop.app.svc.cluster.local"), &n));
    dns_zone_answer(z, &n, DNS_A, &a, &got);
    CHECK_INT(got.n_records, DNS_ZONE_ALIASES_MAX);
    CHECK_INT(got.follow.n, 0);
    arena_fini(&a);
    dns_zone_free(z);
}

TEST(a_dot_within_a_label_does_not_separate_labels)
{
    static const char wire[] = "\x07web.app\x03svc\x07"
                               "cluster\x05local";
    struct dns_zone *z = new_zone();
    struct arena a = { 0 };
    struct dns_name n;
    struct dns_answer got;
    CHECK(dns_name_read(str_n(wire, sizeof wire), &n));
    dns_zone_answer(z, &n, DNS_A, &a, &got);
    CHECK_INT(got.found, DNS_ZONE_NO_NAME);
    CHECK(dns_name_read(STR("\x0c"
                            "10.1-2.3\0aaa\x03"
                            "app\x03pod\x07"
                            "cluster\x05local\0"),
                        &n));
    dns_zone_answer(z, &n, DNS_A, &a, &got);
    CHECK_INT(got.found, DNS_ZONE_NO_NAME);
    arena_fini(&a);
    dns_zone_free(z);
}

TEST(changes_and_deletions_are_seen_at_once)
{
    struct dns_zone *z = new_zone();
    const char *db = "db.app.svc.cluster.local", *web = "web.app.svc.cluster.local";
    dns_kit_put(z, dns_zone_put_service,
                "{" META("app", "web") ",\"spec\":{\"clusterIP\":\"10.96.0.8\"}}");
    check_answer(z, web, DNS_A, "found 10.96.0.8");
    check_answer(z, "7.0.96.10.in-addr.arpa", DNS_PTR, "elsewhere");
    check_answer(z, "8.0.96.10.in-addr.arpa", DNS_PTR, "found web.app.svc.cluster.local.");
    dns_zone_delete_slice(z, STR("app"), STR("db-1"));
    check_answer(z, db, DNS_A, "found 10.0.0.1");
    dns_zone_delete_slice(z, STR("app"), STR("db-3"));
    check_answer(z, db, DNS_A, "found");
    dns_zone_delete_service(z, STR("app"), STR("db"));
    check_answer(z, db, DNS_AAAA, "no name");
    dns_zone_delete_service(z, STR("default"), STR("kubernetes"));
    check_answer(z, "default.svc.cluster.local", DNS_A, "no name");
    dns_zone_free(z);
}

TEST(slices_may_be_known_before_their_service)
{
    struct dns_zone *z;
    const char *name = "late.app.svc.cluster.local";
    CHECK_OK(dns_zone_new(STR("cluster.local."), &z, NULL));
    dns_kit_put(
        z, dns_zone_put_slice,
        "{" SLICE("app", "late-1", "late") ",\"endpoints\":[{\"addresses\":[\"10.0.0.5\"]}]}");
    check_answer(z, name, DNS_A, "not known");
    dns_zone_services_synced(z);
    check_answer(z, name, DNS_A, "no name");
    dns_kit_put(z, dns_zone_put_service,
                "{" META("app", "late") ",\"spec\":{\"clusterIP\":\"None\"}}");
    check_answer(z, name, DNS_A, "not known");
    dns_zone_slices_synced(z);
    check_answer(z, name, DNS_A, "found 10.0.0.5");
    dns_zone_free(z);
}

TEST(an_answer_has_a_bounded_number_of_records)
{
    struct dns_zone *z = new_zone();
    for (int slice = 0; slice < 3; slice++)
        dns_kit_put_many(z, slice, 1200);
    struct arena a = { 0 };
    struct dns_name n;
    struct dns_answer got;
    CHECK(dns_name_parse(STR("many.app.svc.cluster.local"), &n));
    dns_zone_answer(z, &n, DNS_A, &a, &got);
    CHECK_INT(got.n_records, DNS_ZONE_RECORDS_MAX);
    check_answer(z, "10-2-3-232.many.app.svc.cluster.local", DNS_A, "no name"); /* the 1001st */
    check_answer(z, "10-2-3-231.many.app.svc.cluster.local", DNS_A, "found 10.2.3.231");
    arena_fini(&a);
    dns_zone_free(z);
}

TEST(random_objects_leave_nothing_behind)
{
    struct dns_zone *z = new_zone();
    for (int i = 0; i < 3000; i++) {
        char text[512];
        unsigned n = (unsigned)test_random_below(6), ip = (unsigned)test_random_below(4);
        if (test_random_below(2)) {
            (void)snprintf(text, sizeof text,
                           "{" META("app", "s%u") ",\"spec\":{\"clusterIP\":\"10.9.0.%u\"}}", n,
                           ip);
            dns_kit_put(z, dns_zone_put_service, text);
        } else {
            (void)snprintf(
                text, sizeof text,
                "{" SLICE("app", "e%u", "s%u") ",\"endpoints\":[{\"addresses\":"
                                               "[\"10.8.0.%u\"]},{\"addresses\":[\"10.8.0.%u\"]}]}",
                n, (unsigned)test_random_below(6), ip, (unsigned)test_random_below(4));
            dns_kit_put(z, dns_zone_put_slice, text);
        }
        (void)snprintf(text, sizeof text, "%c%u", "se"[test_random_below(2)],
                       (unsigned)test_random_below(6));
        if (text[0] == 's')
            dns_zone_delete_service(z, STR("app"), str_of(text));
        else
            dns_zone_delete_slice(z, STR("app"), str_of(text));
    }
    for (unsigned i = 0; i < 6; i++) {
        char text[8];
        (void)snprintf(text, sizeof text, "s%u", i);
        dns_zone_delete_service(z, STR("app"), str_of(text));
        text[0] = 'e';
        dns_zone_delete_slice(z, STR("app"), str_of(text));
        check_answer(z, "0.0.8.10.in-addr.arpa", DNS_PTR, "elsewhere");
    }
    check_answer(z, "db.app.svc.cluster.local", DNS_A, "found 10.0.0.1 10.0.0.2");
    dns_zone_free(z);
}

TEST(names_have_limits)
{
    struct dns_name n;
    char text[300];
    CHECK(dns_name_parse(STR("."), &n) && n.n == 1);
    CHECK(!dns_name_parse(STR(""), &n) && !dns_name_parse(STR("a..b"), &n));
    CHECK(!dns_name_parse(STR("a.."), &n) && !dns_name_parse(STR(".a"), &n));
    memset(text, 'a', sizeof text);
    CHECK(!dns_name_parse(str_n(text, 64), &n) && dns_name_parse(str_n(text, 63), &n));
    for (size_t i = 1; i < sizeof text; i += 2)
        text[i] = '.';
    CHECK(dns_name_parse(str_n(text, 253), &n) && n.n_labels == DNS_LABELS_MAX && n.n == 255);
    CHECK(!dns_name_parse(str_n(text, 255), &n));
    CHECK(!dns_name_read(STR("\x03"
                             "ab"),
                         &n));
    CHECK(!dns_name_read(STR("\x01"
                             "a"),
                         &n));
    CHECK(!dns_name_read(STR("\0a"), &n));
    CHECK(dns_name_read(STR("\x01"
                            "A\0"),
                        &n) &&
          str_is(dns_name_label(&n, 0), "a"));
}

TEST_MAIN
