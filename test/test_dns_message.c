/* SPDX-License-Identifier: Apache-2.0 */
/* dns/message: what is read and written, and what is refused. */
#include "dns/message.h"

#include "dns_kit.h"

#include <errno.h>

static struct dns_query query_of(const struct buf *b)
{
    struct dns_query q;
    CHECK(dns_query_read(buf_str(b), &q));
    return q;
}

TEST(a_question_is_read)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(512);
    dns_kit_query(&b, 7, "Web.App", DNS_AAAA, 4096);
    struct dns_query q = query_of(&b);
    CHECK(q.refusal == DNS_NOERROR && q.id == 7 && q.type == DNS_AAAA && q.wants_recursion);
    CHECK(q.has_edns && q.udp_max == DNS_UDP_MAX);
    CHECK(str_is(dns_name_label(&q.name, 0), "web"));
    CHECK(memcmp(q.asked, "\3Web\3App", 9) == 0);
    buf_reset(&b);
    dns_kit_query(&b, 7, "a", DNS_A, 0);
    q = query_of(&b);
    CHECK(!q.has_edns && q.udp_max == DNS_UDP_MIN);
    buf_reset(&b);
    dns_kit_query(&b, 7, "a", DNS_A, 100);
    CHECK(query_of(&b).udp_max == DNS_UDP_MIN);
}

TEST(what_is_no_question_is_dropped_or_refused)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(8192);
    struct dns_query q;
    dns_kit_query(&b, 7, "a.example", DNS_A, 1232);
    struct str whole = buf_str(&b);
    for (size_t n = 0; n < whole.n; n++) {
        bool is_read = dns_query_read(str_n(whole.p, n), &q);
        CHECK(is_read == (n >= DNS_HEADER));
        CHECK(!is_read || q.refusal == DNS_FORMERR);
    }
    b.p[2] |= (char)0x80; /* an answer */
    CHECK(!dns_query_read(whole, &q));
    b.p[2] = 0x29; /* an update */
    CHECK(query_of(&b).refusal == DNS_NOTIMP);
    b.p[2] = 1;
    b.p[5] = 2; /* two questions */
    CHECK(query_of(&b).refusal == DNS_FORMERR);
    b.p[5] = 1;
    b.p[whole.n - 5] = 1; /* version of EDNS */
    CHECK(query_of(&b).refusal == DNS_BADVERS);
    static const struct {
        unsigned type;
        enum dns_rcode want;
    } types[] = {
        { 251, DNS_REFUSED }, { 252, DNS_REFUSED }, { DNS_ANY, DNS_NOTIMP }, { 65, DNS_NOERROR }
    };
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        buf_reset(&b);
        dns_kit_query(&b, 7, "a.example", types[i].type, 0);
        CHECK_INT(query_of(&b).refusal, types[i].want);
    }
    b.p[b.n - 1] = 3; /* class CHAOS */
    CHECK(query_of(&b).refusal == DNS_REFUSED);
    while (b.n <= DNS_QUERY_MAX)
        (void)buf_add_char(&b, 0);
    CHECK(query_of(&b).refusal == DNS_FORMERR);
}

TEST(a_name_that_points_to_itself_is_refused)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(512);
    dns_kit_header(&b, 7, 0x0100, 0, 0, 0);
    (void)buf_add(&b, "\xc0\x0c\0\1\0\1", 6);
    CHECK(query_of(&b).refusal == DNS_FORMERR);
}

static void reply_of(struct dns_query *q, const struct dns_reply *reply, size_t max, struct buf *to)
{
    buf_reset(to);
    CHECK_OK(dns_reply_write(q, reply, max, to));
    CHECK(to->n <= max);
}

TEST(what_does_not_fit_is_truncated)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(512), out = BUF_INIT(DNS_TCP_MAX);
    struct arena a = { 0 };
    struct dns_zone *z;
    struct dns_answer answer;
    CHECK_OK(dns_zone_new(STR("cluster.local"), &z, NULL));
    dns_kit_put_many(z, 1, 60);
    dns_zone_services_synced(z);
    dns_zone_slices_synced(z);
    dns_kit_query(&b, 7, "mANy.app.svc.cluster.local", DNS_A, 1232);
    struct dns_query q = query_of(&b);
    dns_zone_answer(z, &q.name, q.type, &a, &answer);
    const struct dns_reply reply = { .zone = &answer };
    reply_of(&q, &reply, DNS_UDP_MIN, &out);
    CHECK(dns_kit_is_truncated(buf_str(&out)));
    CHECK(dns_kit_answers(buf_str(&out)) >= 16 && dns_kit_answers(buf_str(&out)) <= 30);
    reply_of(&q, &reply, DNS_UDP_MAX, &out);
    CHECK(!dns_kit_is_truncated(buf_str(&out)) && dns_kit_answers(buf_str(&out)) == 60);
    CHECK(memcmp(out.p + DNS_HEADER, q.asked, q.name.n) == 0);
    dns_kit_put_many(z, 2, 1000);
    dns_zone_answer(z, &q.name, q.type, &a, &answer);
    reply_of(&q, &reply, DNS_TCP_MAX, &out);
    CHECK_INT(dns_kit_answers(buf_str(&out)), DNS_ZONE_RECORDS_MAX);
    arena_fini(&a);
    dns_zone_free(z);
}

TEST(addresses_come_in_random_order)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(512), out = BUF_INIT(DNS_TCP_MAX);
    struct arena a = { 0 };
    struct dns_zone *z;
    struct dns_answer answer;
    struct rng rng = { 1 };
    unsigned first[4] = { 0 };
    CHECK_OK(dns_zone_new(STR("cluster.local"), &z, NULL));
    dns_kit_put_many(z, 1, 4);
    dns_zone_services_synced(z);
    dns_zone_slices_synced(z);
    dns_kit_query(&b, 7, "many.app.svc.cluster.local", DNS_A, 0);
    struct dns_query q = query_of(&b);
    for (int i = 0; i < 400; i++) {
        dns_zone_answer(z, &q.name, q.type, &a, &answer);
        reply_of(&q, &(struct dns_reply){ .zone = &answer, .order = &rng }, DNS_UDP_MIN, &out);
        CHECK_INT(dns_kit_answers(buf_str(&out)), 4);
        first[(uint8_t)out.p[out.n - 3 * 16 - 1]]++; /* the last byte of the first address */
    }
    for (int i = 0; i < 4; i++)
        CHECK(first[i] > 50);
    arena_fini(&a);
    dns_zone_free(z);
}

#define NAME "\3www\7example\3com"
static const struct dns_question question = { { NAME, sizeof NAME }, DNS_A };

static int read_upstream(const struct buf *b, struct dns_upstream_answer *ret, struct buf *to)
{
    buf_reset(to);
    return dns_upstream_read(buf_str(b), &question, 7, to, ret);
}

TEST(only_the_answer_to_the_question_counts)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(8192), to = BUF_INIT(DNS_TCP_MAX);
    struct dns_upstream_answer got;
    dns_kit_address_answer(&b, 8, "www.example.com", 60, 1);
    CHECK_ERR(read_upstream(&b, &got, &to), E_PARSE);
    buf_reset(&b);
    dns_kit_address_answer(&b, 7, "www.example.org", 60, 1);
    CHECK_ERR(read_upstream(&b, &got, &to), E_PARSE);
    buf_reset(&b);
    dns_kit_query(&b, 7, "www.example.com", DNS_A, 0);
    CHECK_ERR(read_upstream(&b, &got, &to), E_PARSE);
    buf_reset(&b);
    dns_kit_address_answer(&b, 7, "WWW.example.com", 60, 1);
    CHECK_OK(read_upstream(&b, &got, &to));
    CHECK(got.rcode == DNS_NOERROR && !got.is_truncated && got.ttl_s == 60);
    b.n--;
    CHECK_ERR(read_upstream(&b, &got, &to), E_PARSE);
    b.n++;
    b.p[2] |= 2;
    CHECK_OK(read_upstream(&b, &got, &to));
    CHECK(got.is_truncated && got.ttl_s == 0);
    b.p[6] = 3; /* 768 records */
    CHECK_ERR(read_upstream(&b, &got, &to), E_LIMIT);
}

TEST(what_is_not_there_is_kept_as_long_as_the_zone_says)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(8192), to = BUF_INIT(DNS_TCP_MAX);
    struct dns_upstream_answer got;
    static const char soa[] = "\0\0\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\x1e"; /* minimum: 30 */
    dns_kit_header(&b, 7, 0x8183, 0, 1, 0);
    dns_kit_name(&b, "www.example.com");
    dns_kit_u16(&b, DNS_A);
    dns_kit_u16(&b, 1);
    dns_kit_record(&b, DNS_SOA, 300, soa, sizeof soa - 1);
    CHECK_OK(read_upstream(&b, &got, &to));
    CHECK(got.rcode == DNS_NXDOMAIN && got.ttl_s == 30);
    b.p[3] = (char)0x82; /* SERVFAIL */
    CHECK_OK(read_upstream(&b, &got, &to));
    CHECK(got.rcode == DNS_SERVFAIL && got.ttl_s == 0);
    buf_reset(&b);
    dns_kit_header(&b, 7, 0x8183, 0, 0, 0); /* without SOA */
    dns_kit_name(&b, "www.example.com");
    dns_kit_u16(&b, DNS_A);
    dns_kit_u16(&b, 1);
    CHECK_OK(read_upstream(&b, &got, &to));
    CHECK(got.rcode == DNS_NXDOMAIN && got.ttl_s == 0);
}

TEST(answers_of_others_are_passed_on_with_our_question_and_their_age)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(8192), to = BUF_INIT(DNS_TCP_MAX),
                                       out = BUF_INIT(DNS_TCP_MAX);
    struct dns_upstream_answer got;
    dns_kit_address_answer(&b, 7, "www.example.com", 60, 9);
    CHECK_OK(read_upstream(&b, &got, &to));
    buf_reset(&b);
    dns_kit_query(&b, 77, "wWw.Example.com", DNS_A, 0);
    struct dns_query q = query_of(&b);
    reply_of(&q, &(struct dns_reply){ .upstream = buf_str(&to), .age_s = 20 }, DNS_UDP_MIN, &out);
    CHECK(dns_kit_id(buf_str(&out)) == 77 && dns_kit_answers(buf_str(&out)) == 1);
    CHECK(memcmp(out.p + DNS_HEADER, q.asked, q.name.n) == 0);
    CHECK_INT((uint8_t)out.p[out.n - 7], 40);
    CHECK_INT((uint8_t)out.p[out.n - 1], 9);
    reply_of(&q, &(struct dns_reply){ .upstream = buf_str(&to), .age_s = 90 }, DNS_UDP_MIN, &out);
    CHECK_INT((uint8_t)out.p[out.n - 7], 0);
}

TEST_MAIN
