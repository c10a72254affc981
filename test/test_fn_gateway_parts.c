/* SPDX-License-Identifier: Apache-2.0 */
/* The pure parts of the gateway: balancing, routes, ownership, traffic rules, fields. */
#include "fn/gateway/balance.h"
#include "fn/gateway/fields.h"
#include "fn/gateway/members.h"
#include "fn/gateway/queue.h"
#include "fn/gateway/route.h"
#include "fn/gateway/split.h"

#include "base/mem.h"
#include "test.h"

#include <errno.h>

/* ---------------------------------------------------------------- balancing */

enum { PLACES = 5 };
static struct balance_place places[PLACES];
static struct balance balance;

static void setup(enum fn_balance policy, uint32_t limit, uint32_t soft)
{
    balance_init(&balance, policy, limit, soft, test_random());
    for (int i = 0; i < PLACES; i++) {
        balance_place_init(&places[i]);
        balance_add(&balance, &places[i]);
    }
}

static int take(void)
{
    struct balance_place *p = balance_take(&balance);
    return p ? (int)(p - places) : -1;
}

TEST(first_free_keeps_using_the_place_used_last)
{
    setup(FN_FIRST_FREE, 1, 0);
    int first = take(), second = take();
    CHECK(first != second);
    balance_give(&balance, &places[first]);
    balance_give(&balance, &places[second]);
    for (int i = 0; i < 10; i++) {
        CHECK_INT(take(), second);
        balance_give(&balance, &places[second]);
    }
    balance_fini(&balance);
}

TEST(first_free_fills_one_place_before_the_next)
{
    setup(FN_FIRST_FREE, 3, 0);
    int at[3 * PLACES];
    for (int i = 0; i < 3 * PLACES; i++)
        at[i] = take();
    CHECK_INT(take(), -1);
    for (int i = 0; i < 3 * PLACES; i++)
        CHECK_INT(at[i], at[i / 3 * 3]);
    balance_fini(&balance);
}

TEST(without_a_limit_first_free_goes_to_the_target_and_then_spreads)
{
    setup(FN_FIRST_FREE, 0, 2);
    for (int i = 0; i < 2 * PLACES; i++)
        CHECK(take() >= 0);
    for (int i = 0; i < PLACES; i++)
        CHECK_INT(places[i].running, 2);
    for (int i = 0; i < PLACES; i++)
        CHECK(take() >= 0);
    for (int i = 0; i < PLACES; i++)
        CHECK_INT(places[i].running, 3);
    balance_fini(&balance);
}

TEST(round_robin_takes_turns_past_full_places)
{
    setup(FN_ROUND_ROBIN, 2, 0);
    for (int i = 0; i < PLACES; i++)
        CHECK_INT(take(), i);
    for (int i = 0; i < PLACES; i++)
        CHECK_INT(take(), i);
    CHECK_INT(take(), -1);
    balance_give(&balance, &places[3]);
    CHECK_INT(take(), 3);
    balance_fini(&balance);
}

TEST(least_in_flight_takes_the_emptiest)
{
    setup(FN_LEAST_IN_FLIGHT, 0, 0);
    for (int i = 0; i < 4 * PLACES; i++)
        CHECK(take() >= 0);
    for (int i = 0; i < PLACES; i++)
        CHECK_INT(places[i].running, 4);
    balance_give(&balance, &places[2]);
    CHECK_INT(take(), 2);
    balance_fini(&balance);
}

TEST(the_better_of_two_stays_balanced)
{
    setup(FN_P2C, 0, 0);
    for (int i = 0; i < 1000 * PLACES; i++)
        CHECK(take() >= 0);
    for (int i = 0; i < PLACES; i++)
        CHECK(places[i].running > 980 && places[i].running < 1020);
    balance_fini(&balance);
}

TEST(every_policy_keeps_the_limit_under_random_operations)
{
    for (int policy = FN_FIRST_FREE; policy <= FN_RANDOM; policy++) {
        uint32_t limit = (uint32_t)test_random_below(4);
        setup((enum fn_balance)policy, limit, 2);
        uint32_t in = PLACES, running = 0;
        for (int step = 0; step < 20000; step++) {
            int i = (int)test_random_below(PLACES);
            switch (test_random_below(5)) {
            case 0:
                if (balance_has(&places[i])) {
                    balance_remove(&balance, &places[i]);
                    in--;
                } else {
                    balance_add(&balance, &places[i]);
                    in++;
                }
                break;
            case 1:
                if (places[i].running) {
                    balance_give(&balance, &places[i]);
                    running--;
                }
                break;
            default: {
                uint32_t room = 0;
                for (int k = 0; k < PLACES; k++)
                    room += balance_has(&places[k]) && (!limit || places[k].running < limit);
                int at = take();
                CHECK((at >= 0) == (room > 0));
                if (at >= 0) {
                    running++;
                    CHECK(balance_has(&places[at]));
                    CHECK(!limit || places[at].running <= limit);
                }
            }
            }
        }
        uint32_t sum = 0;
        for (int k = 0; k < PLACES; k++)
            sum += places[k].running;
        CHECK_INT(sum, running);
        CHECK_INT(balance.places.n, in);
        balance_fini(&balance);
    }
}

TEST(a_seed_gives_the_same_choices_again)
{
    int first[100];
    for (int round = 0; round < 2; round++) {
        balance_init(&balance, FN_RANDOM, 0, 0, 7);
        for (int i = 0; i < PLACES; i++) {
            balance_place_init(&places[i]);
            balance_add(&balance, &places[i]);
        }
        for (int i = 0; i < 100; i++) {
            int at = take();
            if (round == 0)
                first[i] = at;
            CHECK_INT(at, first[i]);
        }
        balance_fini(&balance);
    }
}

/* ---------------------------------------------------------------- queue */

TEST(a_queue_is_in_order_and_bounded)
{
    struct queue q;
    struct queue_item items[5] = { 0 };
    queue_init(&q, 3);
    for (int i = 0; i < 3; i++)
        CHECK(queue_push(&q, &items[i]));
    CHECK(!queue_push(&q, &items[3]));
    queue_push_front(&q, &items[4]); /* one that had its turn comes back */
    queue_remove(&q, &items[1]);
    CHECK(queue_pop(&q) == &items[4]);
    CHECK(queue_pop(&q) == &items[0]);
    CHECK(queue_pop(&q) == &items[2]);
    CHECK(queue_pop(&q) == NULL);
}

/* ---------------------------------------------------------------- routes */

static void check_host(const char *host, const char *want)
{
    char clean[ROUTE_HOST_MAX + 1], got[300] = "-";
    struct gateway_route r;
    struct str h = route_clean_host(str_of(host), clean);
    if (h.n && route_host(h, STR("fn.local"), &r))
        (void)snprintf(got, sizeof got, STR_FMT "/" STR_FMT "/" STR_FMT, STR_ARG(r.namespace),
                       STR_ARG(r.name), STR_ARG(r.tag));
    if (strcmp(got, want) != 0)
        TEST_FAIL("host '%s': %s, expected %s", host, got, want);
}

TEST(hosts_name_functions)
{
    check_host("hello", "default/hello/");
    check_host("hello.prod", "prod/hello/");
    check_host("Hello.Prod.FN.local:8080", "prod/hello/");
    check_host("hello.fn.local", "default/hello/");
    check_host("blue.hello.prod", "prod/hello/blue");
    check_host("blue.hello.prod.fn.local.", "prod/hello/blue");
    check_host("a.b.c.d", "-");
    check_host("fn.local", "local/fn/");
    check_host("127.0.0.1:80", "-");
    check_host("[::1]:80", "-");
    check_host("hello:http", "-");
    check_host("hel_lo.prod", "-");
    check_host("-x.prod", "-");
    check_host("a..b", "-");
    check_host("", "-");
    check_host(".", "-");
}

static void check_path(const char *target, const char *want)
{
    char got[300] = "-";
    struct gateway_route r;
    size_t n;
    if (route_path(str_of(target), &r, &n))
        (void)snprintf(got, sizeof got, STR_FMT "/" STR_FMT " %s", STR_ARG(r.namespace),
                       STR_ARG(r.name), target + n);
    if (strcmp(got, want) != 0)
        TEST_FAIL("path '%s': %s, expected %s", target, got, want);
}

TEST(paths_name_functions)
{
    check_path("/fn/prod/hello", "prod/hello ");
    check_path("/fn/prod/hello/a/b?c=d", "prod/hello /a/b?c=d");
    check_path("/fn/prod/hello?c", "prod/hello ?c");
    check_path("/fn/prod", "-");
    check_path("/fn/prod/", "-");
    check_path("/fn//hello", "-");
    check_path("/fn/prod?/hello", "-");
    check_path("/fn/prod/Hello", "-");
    check_path("/fnord/prod/hello", "-");
    check_path("/async-function/hello", "default/hello ");
    check_path("/async-function/hello.prod/a?b", "prod/hello /a?b");
    check_path("/async-function/", "-");
    check_path("/async-function/a.b.c", "-");
    check_path("/", "-");
    check_path("", "-");
}

/* ---------------------------------------------------------------- members */

static size_t owner_of(struct members *m, unsigned key)
{
    char text[32];
    (void)snprintf(text, sizeof text, "default/f%u", key);
    return members_owner(m, str_of(text), 0);
}

TEST(functions_are_shared_evenly_and_only_the_share_of_who_goes_moves)
{
    struct members three = { 0 }, two = { 0 };
    const char *names[] = { "a", "b", "c" };
    unsigned count[3] = { 0 }, moved = 0;
    for (size_t i = 0; i < 3; i++)
        CHECK(members_add(&three, str_of(names[i]), STR("x:1"), i == 0, false));
    for (size_t i = 0; i < 2; i++)
        CHECK(members_add(&two, str_of(names[i]), STR("x:1"), i == 0, false));
    for (unsigned k = 0; k < 9000; k++) {
        size_t was = owner_of(&three, k), is = owner_of(&two, k);
        count[was]++;
        moved += was != is;
        CHECK(was == is || was == 2);
    }
    for (size_t i = 0; i < 3; i++)
        CHECK(count[i] > 2700 && count[i] < 3300);
    CHECK_INT(moved, count[2]);
    three.at[2].suspect_until_ms = 10; /* others stand in */
    for (unsigned k = 0; k < 1000; k++)
        CHECK_INT(owner_of(&three, k), owner_of(&two, k));
    three.at[2].suspect_until_ms = 0;
    three.at[2].is_leaving = true;
    for (unsigned k = 0; k < 1000; k++)
        CHECK_INT(owner_of(&three, k), owner_of(&two, k));
    members_fini(&three);
    members_fini(&two);
}

TEST(a_secret_and_the_one_before_it_are_known)
{
    struct members m = { 0 };
    CHECK(!members_knows(&m, STR("")));
    members_begin(&m, 1, STR("\x01\xff"));
    CHECK(members_knows(&m, STR("01ff")));
    members_begin(&m, 2, STR("\x01\xff"));
    members_begin(&m, 3, STR("\x02"));
    CHECK(members_knows(&m, STR("01ff")));
    CHECK(members_knows(&m, STR("02")));
    CHECK(!members_knows(&m, STR("03")));
    members_begin(&m, 4, STR("\x03"));
    CHECK(!members_knows(&m, STR("01ff")));
    CHECK(!members_knows(&m, STR("")));
    members_fini(&m);
}

/* ---------------------------------------------------------------- traffic */

TEST(shares_are_exact)
{
    struct rng random = { test_random() };
    struct split s = { 0 };
    struct fn_traffic t[] = { { .percent = 90 }, { .revision = 2, .percent = 10 } };
    struct fn_spec spec = { .traffic = t, .n_traffic = 2 };
    unsigned n[8] = { 0 };
    for (int i = 0; i < 10000; i++) {
        uint32_t revision;
        CHECK_OK(split_choose(&s, &random, &spec, STR(""), NULL, 7, &revision));
        n[revision]++;
    }
    CHECK_INT(n[7], 9000);
    CHECK_INT(n[2], 1000);
}

TEST(tags_and_fields_come_before_shares)
{
    struct rng random = { 1 };
    struct split s = { 0 };
    struct fn_traffic t[] = {
        { .percent = 100 },
        { .revision = 3, .header = STR("x-canary"), .value = STR("yes") },
        { .revision = 4, .tag = STR("blue") },
    };
    struct fn_spec spec = { .traffic = t, .n_traffic = 3 };
    struct headers h = { 0 };
    uint32_t revision;
    CHECK_OK(headers_addc(&h, "X-Canary", "yes"));
    CHECK_OK(split_choose(&s, &random, &spec, STR(""), &h, 7, &revision));
    CHECK_INT(revision, 3);
    CHECK_OK(split_choose(&s, &random, &spec, STR("blue"), &h, 7, &revision));
    CHECK_INT(revision, 4);
    CHECK_OK(headers_set(&h, STR("x-canary"), STR("no")));
    CHECK_OK(split_choose(&s, &random, &spec, STR(""), &h, 7, &revision));
    CHECK_INT(revision, 7);
    CHECK_ERR(split_choose(&s, &random, &spec, STR("green"), &h, 7, &revision), -ENOENT);
    headers_fini(&h);
}

/* ---------------------------------------------------------------- fields */

static struct headers in, out;

static void fields_begin(void)
{
    headers_reset(&in);
    headers_reset(&out);
}

static void field(const char *name, const char *text)
{
    CHECK_OK(headers_addc(&in, name, text));
}

static void for_sandbox(struct fields_add add)
{
    struct fields f;
    fields_scan(&in, &f);
    CHECK_OK(fields_for_sandbox(&out, &in, &f, &add));
}

TEST(what_speaks_of_the_connection_is_left_out)
{
    fields_begin();
    field("host", "h");
    field("connection", "keep-alive, X-Odd");
    field("keep-alive", "timeout=5");
    field("te", "gzip, trailers;q=0.5");
    field("x-odd", "1");
    field("x-even", "2");
    field("upgrade", "websocket");
    field("transfer-encoding", "chunked");
    field("proxy-authorization", "Basic x");
    field("content-length", "5");
    field("x-dormouse-sandbox", "7");
    field("x-forwarded-prefix", "/evil");
    field("x-forwarded-proto", "https");
    for_sandbox((struct fields_add){ .peer = STR("1.2.3.4:5"), .trace = "t" });
    static const char *const gone[] = { "host",
                                        "connection",
                                        "keep-alive",
                                        "x-odd",
                                        "upgrade",
                                        "transfer-encoding",
                                        "content-length",
                                        "x-dormouse-sandbox",
                                        "x-forwarded-prefix",
                                        "proxy-authorization" };
    for (size_t i = 0; i < ARRAY_LEN(gone); i++)
        CHECK(!headers_get(&out, gone[i]).p);
    CHECK_STR(headers_get(&out, "te"), "trailers");
    CHECK_STR(headers_get(&out, "x-even"), "2");
    CHECK_STR(headers_get(&out, "x-forwarded-proto"), "http");
    CHECK_STR(headers_get(&out, "traceparent"), "t");
}

TEST(where_a_request_came_from_is_added)
{
    fields_begin();
    field("host", "shop.prod:8080");
    field("x-forwarded-for", "9.9.9.9");
    field("forwarded", "for=9.9.9.9");
    for_sandbox((struct fields_add){ .peer = STR("[::1]:77"),
                                     .is_tls = true,
                                     .prefix = STR("/fn/prod/shop"),
                                     .add_host = true });
    CHECK_STR(headers_get(&out, "host"), "shop.prod:8080");
    CHECK_STR(headers_get(&out, "x-forwarded-for"), "9.9.9.9, ::1");
    CHECK_STR(headers_get(&out, "x-forwarded-proto"), "https");
    CHECK_STR(headers_get(&out, "x-forwarded-host"), "shop.prod:8080");
    CHECK_STR(headers_get(&out, "x-forwarded-prefix"), "/fn/prod/shop");
    CHECK_STR(headers_get(&out, "forwarded"),
              "for=9.9.9.9, for=\"[::1]\";host=\"shop.prod:8080\";proto=https");
}

TEST(what_another_gateway_added_stays)
{
    fields_begin();
    field("host", "shop");
    field("x-forwarded-for", "9.9.9.9");
    field("x-forwarded-proto", "https");
    field("x-dormouse-forwarded-by", "secret");
    for_sandbox((struct fields_add){ .peer = STR("1.1.1.1:1"), .is_trusted = true });
    CHECK_STR(headers_get(&out, "x-forwarded-for"), "9.9.9.9");
    CHECK_STR(headers_get(&out, "x-forwarded-proto"), "https");
    CHECK(!headers_get(&out, "x-dormouse-forwarded-by").p);
}

TEST(asynchronous_and_grpc_requests_are_seen)
{
    struct fields f;
    fields_begin();
    field("content-type", "application/grpc+proto");
    field("prefer", "wait=10, respond-async; x=1");
    fields_scan(&in, &f);
    CHECK(f.is_async && f.is_grpc);
    fields_begin();
    field("content-type", "application/grpcs");
    field("prefer", "respond-asynchronously");
    fields_scan(&in, &f);
    CHECK(!f.is_async && !f.is_grpc);
    fields_begin();
    field("x-amz-invocation-type", "Event");
    fields_scan(&in, &f);
    CHECK(f.is_async);
}

TEST(trace_contexts_are_checked_and_made)
{
    char made[FIELDS_TRACE_BYTES];
    struct rng random = { test_random() };
    fields_make_trace(&random, made);
    CHECK(fields_is_trace(str_of(made)));
    CHECK(fields_is_trace(STR("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")));
    CHECK(fields_is_trace(STR("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more")));
    CHECK(!fields_is_trace(STR("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more")));
    CHECK(!fields_is_trace(STR("00-00000000000000000000000000000000-00f067aa0ba902b7-01")));
    CHECK(!fields_is_trace(STR("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")));
    CHECK(!fields_is_trace(STR("00-4bf9")));
    CHECK(!fields_is_trace(STR("")));
}

TEST(an_answers_length_is_taken_out)
{
    uint64_t length;
    fields_begin();
    field("content-length", "12");
    field("connection", "close");
    field("trailer", "x-sum");
    field("x-dormouse-reason", "Mine");
    CHECK_OK(fields_for_client(&out, &in, false, true, &length));
    CHECK_INT(length, 12);
    CHECK_INT(out.n, 2);
    CHECK_STR(headers_get(&out, "x-dormouse-reason"), "Mine"); /* another gateway's */
    headers_reset(&out);
    CHECK_OK(fields_for_client(&out, &in, false, false, &length));
    CHECK_INT(out.n, 1); /* a function does not speak in the gateway's name */
    CHECK(!headers_get(&out, "x-dormouse-reason").p);
    fields_begin();
    field("content-length", "x");
    CHECK_ERR(fields_for_client(&out, &in, false, false, &length), -EINVAL);
    headers_fini(&in);
    headers_fini(&out);
}

TEST(trailers_say_nothing_in_the_gateways_name)
{
    fields_begin();
    field("grpc-status", "0");
    field("x-sum", "1");
    field("x-dormouse-reason", "Mine");
    field("x-dormouse-sandbox", "7");
    field("x-forwarded-for", "10.0.0.1");
    field("connection", "x-sum");
    CHECK_OK(fields_trailers(&out, &in, false));
    CHECK_INT(out.n, 2);
    CHECK_STR(headers_get(&out, "grpc-status"), "0");
    headers_reset(&out);
    CHECK_OK(fields_trailers(&out, &in, true)); /* another gateway's */
    CHECK_INT(out.n, 4);
    headers_fini(&in);
    headers_fini(&out);
}

TEST_MAIN
