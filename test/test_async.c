/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous calls: rows, policy, lanes, and all of it with functions that the test plays. */
#include "async_rig.h"

#include "base/random.h"
#include "fault_store.h"

#include <arpa/inet.h>
#include <netinet/in.h>

/* ------------------------------------------------------------------ rows */

TEST(a_record_reads_back)
{
    struct async_record r = { .state = ASYNC_FAILED,
                              .attempts = 7,
                              .status = 503,
                              .wall_created_ms = 1,
                              .wall_due_ms = 2,
                              .wall_finished_ms = 3,
                              .wall_expires_ms = UINT64_MAX,
                              .age_max_ms = 5,
                              .namespace = STR("shop"),
                              .name = STR("pay"),
                              .url = STR("http://a/b"),
                              .key = STR("k"),
                              .callback = STR("http://c"),
                              .parent = STR("00"),
                              .reason = STR("Timeout"),
                              .method = STR("POST"),
                              .target = STR("/x?y"),
                              .fields = STR("\0\1\2"),
                              .body = STR("\0binary\xff"),
                              .n_pieces = 3,
                              .body_bytes = 9 };
    struct buf b = BUF_INIT(4096);
    struct async_record got;
    async_record_write(&b, &r);
    CHECK_OK(async_record_read(buf_str(&b), &got, NULL));
    CHECK(got.state == r.state && got.attempts == 7 && got.status == 503 && got.n_pieces == 3);
    CHECK(got.wall_expires_ms == UINT64_MAX && got.age_max_ms == 5 && got.body_bytes == 9);
    CHECK(str_eq(got.fields, r.fields) && str_eq(got.body, r.body) && str_eq(got.url, r.url));
    CHECK(str_eq(got.namespace, r.namespace) && str_eq(got.target, r.target));
    for (size_t n = 0; n < b.n; n++)
        CHECK_ERR(async_record_read(str_n(b.p, n), &got, NULL), E_CORRUPT);
    b.p[0] = 99;
    CHECK_ERR(async_record_read(buf_str(&b), &got, NULL), E_VERSION);
    buf_fini(&b);
}

TEST(keys_sort_by_time_and_read_back)
{
    struct async_id id = async_id_new(0xc0ffee11), got;
    struct async_key a, b;
    struct str lane;
    uint64_t ms;
    CHECK_INT(async_id_owner(&id), 0xc0ffee11);
    async_key_due(&a, STR("c0ffee11/f/shop/pay"), 999, &id);
    async_key_due(&b, STR("c0ffee11/f/shop/pay"), 1000, &id);
    CHECK(str_cmp(async_key_str(&a), async_key_str(&b)) < 0);
    CHECK(async_key_due_parse(async_key_str(&b), &lane, &ms, &got));
    CHECK_STR(lane, "c0ffee11/f/shop/pay");
    CHECK(ms == 1000 && memcmp(&id, &got, sizeof id) == 0);
    async_key_expires(&a, 77, &id);
    CHECK(async_key_expires_parse(async_key_str(&a), &ms, &got) && ms == 77);
    CHECK(!async_key_due_parse(STR("d/x"), &lane, &ms, &got));
}

TEST(urls_and_addresses_that_strangers_may_not_reach)
{
    static const struct {
        const char *url, *host;
    } urls[] = {
        { "http://Example.org/x", "example.org:80" },
        { "https://example.org:8443", "example.org:8443" },
        { "ftp://example.org", NULL },
        { "/local", NULL },
        { "http://", NULL },
        { "http://a b/", NULL },
        { "http://user@host/", NULL },
        { "http://host:99999/", NULL },
    };
    char host[ASYNC_HOST_MAX];
    for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
        int r = async_url_check(str_of(urls[i].url), host, NULL);
        if (urls[i].host ? r < 0 || strcmp(host, urls[i].host) != 0 : r != E_INVALID)
            TEST_FAIL("'%s' gives %s '%s'", urls[i].url, err_name(r), host);
    }
    static const struct {
        const char *ip;
        bool is_private;
    } ips[] = {
        { "127.0.0.1", true },
        { "10.1.2.3", true },
        { "172.31.0.1", true },
        { "172.32.0.1", false },
        { "192.168.1.1", true },
        { "169.254.169.254", true },
        { "100.64.0.1", true },
        { "0.0.0.0", true },
        { "224.0.0.1", true },
        { "255.255.255.255", true },
        { "8.8.8.8", false },
        { "::1", true },
        { "::", true },
        { "fe80::1", true },
        { "fd00::1", true },
        { "ff02::1", true },
        { "::ffff:127.0.0.1", true },
        { "::ffff:8.8.8.8", false },
        { "64:ff9b::7f00:1", true },
        { "2001:4860:4860::8888", false },
        { "2002:7f00:1::", true },
    };
    for (size_t i = 0; i < ARRAY_LEN(ips); i++) {
        struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
        struct sockaddr_in v4 = { .sin_family = AF_INET };
        bool is6 = strchr(ips[i].ip, ':');
        CHECK_INT(inet_pton(is6 ? AF_INET6 : AF_INET, ips[i].ip,
                            is6 ? (void *)&v6.sin6_addr : (void *)&v4.sin_addr),
                  1);
        if (async_address_is_private(is6 ? (struct sockaddr *)&v6 : (struct sockaddr *)&v4) !=
            ips[i].is_private)
            TEST_FAIL("%s", ips[i].ip);
    }
}

TEST(who_asks_to_be_run_later)
{
    static const struct {
        const char *name, *value;
        bool is_async;
    } cases[] = {
        { "x-faas-invocation-type", "Async", true }, { "x-faas-invocation-type", "sync", false },
        { "x-amz-invocation-type", "Event", true },  { "x-amz-invocation-type", "DryRun", false },
        { "prefer", "wait=3, respond-async", true }, { "prefer", "return=minimal", false },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct headers h = { 0 };
        CHECK_OK(headers_addc(&h, cases[i].name, cases[i].value));
        CHECK(async_is_asked(&h) == cases[i].is_async);
        headers_fini(&h);
    }
    struct async_id id;
    CHECK(async_path_parse(STR("/v1/async/0123456789abcdef0123456789abcdef01234567?x"), &id));
    CHECK(!async_path_parse(STR("/v1/async/0123456789abcdef0123456789abcdef0123456"), &id));
    CHECK(!async_path_parse(STR("/v1/async/0123456789abcdef0123456789abcdef01234567/x"), &id));
    struct str ns, name, rest;
    CHECK(async_openfaas_parse(STR("/async-function/pay.shop/a?b"), &ns, &name, &rest));
    CHECK_STR(ns, "shop");
    CHECK_STR(name, "pay");
    CHECK_STR(rest, "/a?b");
    CHECK(async_openfaas_parse(STR("/async-function/pay"), &ns, &name, &rest) && rest.n == 0);
    CHECK_STR(ns, "default");
    CHECK(!async_openfaas_parse(STR("/async-function/../x"), &ns, &name, &rest));
}

/* ------------------------------------------------------------------ policy */

TEST(what_follows_an_attempt)
{
    static const uint16_t only_418[] = { 418 };
    struct fn_async p = async_default_policy, teapot = async_default_policy;
    teapot.retry_on = only_418;
    teapot.n_retry_on = 1;
    const struct {
        const struct fn_async *policy;
        struct async_outcome o;
        uint32_t attempts;
        enum async_state state;
        uint16_t status;
        bool is_dead;
    } cases[] = {
        { &p, { .status = 200 }, 1, ASYNC_SUCCEEDED, 200, false },
        { &p, { .status = 302 }, 1, ASYNC_SUCCEEDED, 302, false },
        { &p, { .status = 404 }, 1, ASYNC_FAILED, 404, true },
        { &p, { .status = 429 }, 1, ASYNC_PENDING, 429, false },
        { &p, { .status = 500 }, 2, ASYNC_PENDING, 500, false },
        { &p, { .status = 500 }, 3, ASYNC_FAILED, 500, true },
        { &p, { .r = -ETIMEDOUT }, 1, ASYNC_PENDING, 504, false },
        { &p, { .status = 200, .r = -ECONNRESET }, 1, ASYNC_PENDING, 502, false },
        { &p, { .r = E_TRAP }, 3, ASYNC_FAILED, 502, true },
        { &p, { .r = -ENOENT, .is_final = true }, 1, ASYNC_FAILED, 404, true },
        { &p, { .r = E_LIMIT, .is_final = true }, 1, ASYNC_FAILED, 502, true },
        { &teapot, { .status = 418 }, 1, ASYNC_PENDING, 418, false },
        { &teapot, { .status = 500 }, 1, ASYNC_FAILED, 500, true },
    };
    struct rng rng = { 1 };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct async_verdict v =
            async_decide(cases[i].policy, &cases[i].o, cases[i].attempts, 1000, 2000, &rng);
        if (v.state != cases[i].state || v.status != cases[i].status ||
            v.is_dead != cases[i].is_dead)
            TEST_FAIL("case %zu: %s %u", i, async_state_name(v.state), v.status);
    }
}

TEST(back_off_doubles_with_jitter_up_to_its_cap_and_ends_with_age)
{
    struct fn_async p = async_default_policy;
    p.attempts = 100;
    struct rng rng = { test_random() };
    struct async_outcome o = { .status = 503 };
    for (uint32_t attempts = 1; attempts < 30; attempts++) {
        uint64_t whole = attempts > 9 ? 300000 : MIN(UINT64_C(1000) << (attempts - 1), 300000);
        for (int i = 0; i < 100; i++) {
            struct async_verdict v = async_decide(&p, &o, attempts, 5000, 5000, &rng);
            CHECK(v.state == ASYNC_PENDING);
            CHECK(v.wall_due_ms - 5000 >= whole / 2 && v.wall_due_ms - 5000 <= whole);
        }
    }
    uint64_t late = 5000 + p.age_max_ms - 100;
    struct async_verdict v = async_decide(&p, &o, 1, 5000, late, &rng);
    CHECK(v.state == ASYNC_EXPIRED && v.is_dead && v.status == 503);
    CHECK(async_is_too_old(&p, 5000, 5001 + p.age_max_ms));
    CHECK(!async_is_too_old(&p, 5000, 4000)); /* a clock that went back */
}

/* ------------------------------------------------------------------ lanes */

static struct due due_at(uint64_t ms, uint32_t number)
{
    struct due d = { .wall_ms = ms };
    memcpy(d.id.b + 4, &number, sizeof number);
    return d;
}

struct running {
    VEC(struct due) at;
};

static bool model_runs(void *arg, const struct async_id *id)
{
    struct running *running = arg;
    vec_each (r, &running->at)
        if (memcmp(&r->id, id, sizeof *id) == 0)
            return true;
    return false;
}

TEST(lanes_take_turns)
{
    struct lanes ls;
    struct due d;
    lanes_init(&ls, 2, ASYNC_WINDOWS_MAX);
    for (uint32_t i = 0; i < 100; i++) {
        d = due_at(i, i);
        lane_add(&ls, lanes_get(&ls, STR("a")), &d);
    }
    d = due_at(500, 500);
    lane_add(&ls, lanes_get(&ls, STR("b")), &d);
    d = due_at(1000, 1000);
    lane_add(&ls, lanes_get(&ls, STR("c")), &d);
    struct lane *first = lanes_next(&ls, 600, &d), *second = lanes_next(&ls, 600, &d);
    CHECK(!str_eq(first->key, second->key)); /* b does not wait for a hundred of a */
    struct lane *third = lanes_next(&ls, 600, &d);
    CHECK_STR(third->key, "a");
    CHECK(!lanes_next(&ls, 600, &d)); /* a has its two, c is not due */
    CHECK_INT(lanes_next_ms(&ls), 1000);
    lane_done(&ls, lanes_get(&ls, STR("b")));
    CHECK(!map_has(&ls.by_key, STR("b"))); /* nothing is left of it */
    lane_done(&ls, lanes_get(&ls, STR("a")));
    CHECK_STR(lanes_next(&ls, 600, &d)->key, "a");
    CHECK_INT(d.wall_ms, 2);
    lane_hold(&ls, lanes_get(&ls, STR("a")), 5000);
    lane_done(&ls, lanes_get(&ls, STR("a")));
    CHECK(!lanes_next(&ls, 900, &d));
    CHECK_STR(lanes_next(&ls, 1000, &d)->key, "c");
    CHECK_STR(lanes_next(&ls, 5000, &d)->key, "a");
    lanes_fini(&ls);
}

/*
 * A lane against a disk that is a sorted array: rows come, pages are read at some moment and
 * delivered at a later one, calls run, end, or come back later. Each runs exactly as often as it
 * was given a time, none is lost, and the window stays within its bounds.
 */
TEST(no_call_is_lost_between_window_and_disk)
{
    enum { ROUNDS = 60, STEPS = 4000 };
    for (int round = 0; round < ROUNDS; round++) {
        struct lanes ls;
        lanes_init(&ls, 8, test_random_below(2) ? ASYNC_WINDOWS_MAX : 1);
        VEC(struct due) disk = { 0 }; /* sorted */
        struct running running = { 0 };
        VEC(struct due) untold = { 0 }; /* committed, lane_add() is yet to come */
        struct due *page = NULL;
        size_t n_page = 0;
        bool page_more = false, reading = false;
        uint32_t number = 0;
        uint64_t now = 1000;
        size_t ended = 0;
        struct lane *l = lanes_get(&ls, STR("x"));
        l->more = true; /* as a scan leaves it: nothing has been read */
        for (size_t step = 0; step < STEPS || disk.n || untold.n; step++) {
            CHECK(step < STEPS * 50);
            uint64_t what = test_random_below(step < STEPS ? 10 : 6);
            if (!map_has(&ls.by_key, STR("x")))
                l = lanes_get(&ls, STR("x")), reading = false;
            if (what >= 6) { /* a row is committed */
                struct due d = due_at(now + test_random_below(50), ++number);
                size_t at = 0;
                while (at < disk.n && due_cmp(&disk.p[at], &d) < 0)
                    at++;
                vec_push(&disk, d);
                memmove(disk.p + at + 1, disk.p + at, (disk.n - 1 - at) * sizeof d);
                disk.p[at] = d;
                vec_push(&untold, d);
            } else if (what == 0 && untold.n) {
                lane_add(&ls, l, &untold.p[0]);
                vec_remove(&untold, 0);
            } else if (what == 1 && !reading && lane_wants_page(&ls, l)) {
                size_t at = 0; /* read now, delivered later */
                while (at < disk.n && l->has_edge && due_cmp(&disk.p[at], &l->edge) <= 0)
                    at++;
                size_t limit = 1 + test_random_below(40);
                n_page = MIN(disk.n - at, limit);
                page_more = at + n_page < disk.n;
                page = xnew_n(struct due, n_page + 1);
                if (n_page)
                    memcpy(page, disk.p + at, n_page * sizeof *page);
                lane_reading(l);
                reading = true;
            } else if (what == 2 && reading) {
                (void)lane_page(&ls, l, page, n_page, page_more, model_runs, &running);
                free(page);
                reading = false;
            } else if (what == 3) {
                struct due d;
                now += test_random_below(3);
                if (lanes_next(&ls, now, &d)) {
                    bool twice = false, on_disk = false;
                    vec_each (r, &running.at)
                        twice = twice || due_cmp(r, &d) == 0;
                    vec_each (r, &disk)
                        on_disk = on_disk || due_cmp(r, &d) == 0;
                    CHECK(d.wall_ms <= now);
                    if (twice || !on_disk)
                        lane_done(&ls, l); /* told of twice: run_start() and the row's state */
                    else
                        vec_push(&running.at, d);
                }
            } else if (running.at.n) {
                size_t at = test_random_below(running.at.n);
                struct due d = running.at.p[at];
                vec_remove(&running.at, at);
                for (size_t i = 0; i < disk.n; i++)
                    if (due_cmp(&disk.p[i], &d) == 0) {
                        vec_remove(&disk, i);
                        break;
                    }
                ended++;
                lane_done(&ls, l);
            }
        }
        CHECK_INT(ended, number);
        if (reading)
            free(page);
        lanes_fini(&ls);
        vec_fini(&disk);
        vec_fini(&running.at);
        vec_fini(&untold);
    }
}

/* ------------------------------------------------------------------ calls */

TEST(a_call_is_acknowledged_runs_and_leaves_its_answer)
{
    struct rig g;
    struct answer a;
    char id[ASYNC_ID_TEXT];
    rig_start(&g);
    CHECK(access(g.path, F_OK) != 0); /* no file before the first call */
    rig_answers(&g, 1, &(struct played_answer){ .hold = true });
    rig_ask(&g, &a, "POST", "/fn/shop/pay/x?y=1", STR("\0bin\xff\r\n"), "prefer", "respond-async",
            "content-type", "application/octet-stream", "x-mine", "1", NULL);
    CHECK_INT(a.status, 202);
    CHECK_STR(headers_get(&a.headers, "preference-applied"), "respond-async");
    struct str got = headers_get(&a.headers, "x-dormouse-call-id");
    CHECK(str_eq(got, headers_get(&a.headers, "x-call-id")));
    memcpy(id, got.p, got.n);
    id[got.n] = 0;
    CHECK(str_has_suffix(headers_get(&a.headers, "location"), str_of(id)));
    answer_fini(&a);

    rig_until(&g, g.n_calls == 1);
    rig_look(&g, &a, id);
    CHECK_INT(a.status, 202);
    CHECK_STR(headers_get(&a.headers, "x-faas-call-state"), "running");
    CHECK(str_find(buf_str(&a.body), STR("\"attempts\":0")) > 0);
    answer_fini(&a);

    struct played_call *c = rig_held(&g);
    CHECK_STR(str_of(c->function), "shop/pay");
    CHECK_STR(str_of(c->method), "POST");
    CHECK_STR(str_of(c->target), "/x?y=1");
    CHECK(str_eq(buf_str(&c->body), STR("\0bin\xff\r\n")));
    CHECK_STR(headers_get(&c->headers, "x-mine"), "1");
    CHECK_STR(headers_get(&c->headers, "content-type"), "application/octet-stream");
    CHECK(!headers_get(&c->headers, "prefer").p); /* or the next gateway would take it again */
    CHECK(str_eq(headers_get(&c->headers, "x-call-id"), str_of(id)));
    CHECK_STR(headers_get(&c->headers, "x-faas-attempt"), "1");
    played_end(&g, c, &(struct played_answer){ .status = 201, .body = STR("\0out") });
    rig_settle(&g);

    rig_look(&g, &a, id);
    CHECK_INT(a.status, 201);
    CHECK(str_eq(buf_str(&a.body), STR("\0out")));
    CHECK_STR(headers_get(&a.headers, "content-type"), "application/x-test");
    CHECK_STR(headers_get(&a.headers, "x-faas-call-state"), "succeeded");
    CHECK_STR(headers_get(&a.headers, "x-faas-call-attempts"), "1");
    answer_fini(&a);
    CHECK_INT(rig_stats(&g).pending, 0);
    CHECK_INT(rig_stats(&g).succeeded, 1);
    CHECK(!timer_is_armed(&g.async->due_timer)); /* one for the result, none for calls */
    CHECK(timer_is_armed(&g.async->sweep_timer));
    loop_skip(&g.loop, async_default_policy.result_ttl_ms + 2000);
    rig_until(&g, rig_stats(&g).results_deleted == 1);
    rig_settle(&g);
    CHECK(!timer_is_armed(&g.async->due_timer) && !timer_is_armed(&g.async->sweep_timer));
    rig_fini(&g);
}

TEST(what_does_not_ask_for_it_runs_at_once)
{
    struct rig g;
    struct answer a;
    rig_start(&g);
    rig_ask(&g, &a, "POST", "/fn/shop/pay", STR("x"), NULL);
    CHECK_INT(a.status, 200);
    answer_fini(&a);
    CHECK_INT(loop_next_timer_ms(&g.loop) == UINT64_MAX || g.async->due_timer.heap_at == 0, 1);
    rig_fini(&g);
}

TEST(openfaas_paths_are_taken)
{
    struct rig g;
    struct answer a;
    rig_start(&g);
    rig_answers(&g, 1, &(struct played_answer){ .hold = true });
    rig_ask(&g, &a, "POST", "/async-function/pay.shop/a?b", STR("x"), NULL);
    CHECK_INT(a.status, 202);
    answer_fini(&a);
    rig_until(&g, rig_held(&g));
    CHECK_STR(str_of(rig_held(&g)->function), "shop/pay");
    CHECK_STR(str_of(rig_held(&g)->target), "/a?b");
    played_end(&g, rig_held(&g), &(struct played_answer){ .status = 200 });
    rig_settle(&g);
    rig_fini(&g);
}

TEST(the_tag_of_a_host_is_kept)
{
    static const char *const hosts[] = { "Next.pay.shop", "next.pay.shop.fn.local:8080", "pay.shop",
                                         "next.pay.other", "gateway:80" };
    struct rig g;
    struct answer a;
    rig_start(&g);
    rig_answers(&g, 1, &(struct played_answer){ .hold = true });
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        rig_ask(&g, &a, "POST", "/fn/shop/pay", STR("x"), "prefer", "respond-async", "host",
                hosts[i], NULL);
        CHECK_INT(a.status, 202);
        answer_fini(&a);
        rig_until(&g, rig_held(&g));
        CHECK_STR(headers_get(&rig_held(&g)->headers, "x-dormouse-tag"), i < 2 ? "next" : "");
        played_end(&g, rig_held(&g), &(struct played_answer){ .status = 200 });
        rig_settle(&g);
    }
    rig_fini(&g);
}

TEST(large_bodies_travel_both_ways)
{
    struct rig g;
    struct answer a;
    char id[ASYNC_ID_TEXT];
    struct buf body;
    buf_init(&body, 16 << 20);
    for (size_t i = 0; i < (5u << 20) + 123; i += 8) {
        uint64_t v = test_random();
        CHECK_OK(buf_add(&body, &v, 8));
    }
    rig_start(&g);
    rig_call(&g, id, "/fn/shop/pay", buf_str(&body)); /* its answer is its request */
    rig_until(&g, rig_stats(&g).succeeded == 1);
    rig_look(&g, &a, id);
    CHECK_INT(a.status, 200);
    CHECK(str_eq(buf_str(&a.body), buf_str(&body)));
    answer_fini(&a);
    CHECK_INT(g.async->taking_bytes, 0);
    CHECK_INT(g.async->running_bytes, 0);
    /* and all of it goes */
    loop_skip(&g.loop, async_default_policy.result_ttl_ms + 2000);
    rig_until(&g, rig_stats(&g).results_deleted == 1);
    rig_look(&g, &a, id);
    CHECK_INT(a.status, 404);
    answer_fini(&a);
    buf_fini(&body);
    rig_fini(&g);
}

TEST(bodies_over_the_limit_are_refused)
{
    struct rig g;
    struct answer a;
    rig_start(&g);
    g.spec.body_max = 10;
    rig_ask(&g, &a, "POST", "/fn/shop/pay", STR("12345678901"), "prefer", "respond-async", NULL);
    CHECK_INT(a.status, 413);
    CHECK_STR(headers_get(&a.headers, "x-dormouse-reason"), "BodyTooLarge");
    answer_fini(&a);
    rig_ask(&g, &a, "POST", "/fn/shop/pay", STR("1234567890"), "prefer", "respond-async", NULL);
    CHECK_INT(a.status, 202);
    answer_fini(&a);
    rig_settle(&g);
    CHECK_INT(g.n_calls, 1);
    rig_fini(&g);
}

TEST(an_answer_over_the_limit_is_a_failure_that_is_not_repeated)
{
    struct rig g;
    struct answer a;
    char id[ASYNC_ID_TEXT];
    rig_start(&g);
    char *large = xalloc(ASYNC_RESULT_MAX + 1);
    rig_answers(&g, 1,
                &(struct played_answer){ .status = 200, .body = { large, ASYNC_RESULT_MAX + 1 } });
    rig_call(&g, id, "/fn/shop/pay", STR(""));
    rig_until(&g, rig_stats(&g).failed == 1);
    rig_look(&g, &a, id);
    CHECK_INT(a.status, 502);
    CHECK_STR(headers_get(&a.headers, "x-faas-call-reason"), "ResultTooLarge");
    answer_fini(&a);
    CHECK_INT(g.n_calls, 1);
    rig_fini(&g);
    free(large);
}

TEST(failures_are_tried_again_until_the_policy_says_enough)
{
    struct rig g;
    struct answer a;
    char id[ASYNC_ID_TEXT];
    rig_start(&g);
    rig_answers(&g, 3,
                (struct played_answer[]){ { .status = 503 },
                                          { .r = -ETIMEDOUT, .reason = "RequestTimeout" },
                                          { .status = 500, .body = STR("no") } });
    rig_call(&g, id, "/fn/shop/pay", STR("x"));
    rig_until(&g, rig_stats(&g).retries == 1);
    rig_settle(&g);
    CHECK_INT(g.n_calls, 1); /* not at once */
    rig_look(&g, &a, id);
    CHECK_INT(a.status, 202);
    CHECK_STR(headers_get(&a.headers, "x-faas-call-attempts"), "1");
    CHECK_STR(headers_get(&a.headers, "x-faas-call-status"), "503");
    CHECK_STR(headers_get(&a.headers, "x-faas-call-state"), "pending");
    answer_fini(&a);
    loop_skip(&g.loop, 1000);
    rig_until(&g, rig_stats(&g).retries == 2);
    loop_skip(&g.loop, 2000);
    rig_until(&g, rig_stats(&g).failed == 1);
    rig_look(&g, &a, id);
    CHECK_INT(a.status, 500);
    CHECK_STR(buf_str(&a.body), "no");
    CHECK_STR(headers_get(&a.headers, "x-faas-call-attempts"), "3");
    answer_fini(&a);
    CHECK_INT(g.n_calls, 3);
    rig_fini(&g);
}

TEST(a_full_queue_is_not_the_calls_fault)
{
    struct rig g;
    char id[ASYNC_ID_TEXT];
    rig_start(&g);
    rig_answers(&g, 3,
                (struct played_answer[]){ { .refuse = -EBUSY },
                                          { .r = -EBUSY, .reason = "QueueFull" },
                                          { .status = 200 } });
    rig_call(&g, id, "/fn/shop/pay", STR("x"));
    rig_until(&g, g.at_answer == 1);
    loop_skip(&g.loop, ASYNC_BUSY_RETRY_MS);
    rig_until(&g, g.n_calls == 1);
    rig_settle(&g);
    loop_skip(&g.loop, ASYNC_BUSY_RETRY_MS);
    rig_until(&g, rig_stats(&g).succeeded == 1);
    struct answer a;
    rig_look(&g, &a, id);
    CHECK_STR(headers_get(&a.headers, "x-faas-call-attempts"), "1");
    answer_fini(&a);
    rig_fini(&g);
}

static struct played_answer holds(const struct played_call *c)
{
    return (struct played_answer){ .hold = true };
}

/* Only `room` calls at a time: the lane learns that, and uses it all without asking in vain much.
 */
TEST(as_many_calls_run_as_the_function_has_room_for)
{
    enum { CALLS = 300, ROOM = 5 };
    struct rig g;
    char id[ASYNC_ID_TEXT];
    rig_init(&g);
    rig_open(&g);
    rig_serve(&g);
    for (int i = 0; i < CALLS; i++)
        rig_call(&g, id, "/fn/shop/pay", STR("x"));
    g.decide = holds;
    g.room = ROOM;
    rig_run(&g);
    rig_until(&g, g.n_running == ROOM);
    rig_settle_store(&g);
    for (int i = 0; i < CALLS; i++) {
        CHECK(g.n_running > 0 && g.n_running <= ROOM);
        played_end(&g, rig_held(&g), &(struct played_answer){ .status = 200 });
        rig_settle_store(&g);
        if (i < CALLS - ROOM)
            CHECK(g.n_running >= 1);
    }
    CHECK_INT(rig_stats(&g).succeeded, CALLS);
    CHECK(g.n_refused < CALLS);
    CHECK(g.n_running_most == ROOM);
    rig_fini(&g);
}

/* 64 of a hanging function beside others would take its workers' time again and again. */
TEST(calls_of_a_function_that_hangs_run_one_at_a_time)
{
    enum { CALLS = 200 };
    struct rig g;
    char id[ASYNC_ID_TEXT];
    rig_init(&g);
    rig_open(&g);
    rig_serve(&g);
    g.spec.async.attempts = 1;
    for (int i = 0; i < CALLS; i++)
        rig_call(&g, id, "/fn/shop/pay", STR("x"));
    g.decide = holds;
    rig_run(&g);
    rig_until(&g, g.n_running > 8);
    rig_settle_store(&g);
    int n = 0;
    for (; g.n_running > 1; n++) {
        CHECK(n < CALLS / 2);
        played_end(&g, rig_held(&g), &(struct played_answer){ .r = -ETIMEDOUT });
        rig_settle_store(&g);
    }
    for (; n < CALLS - 50; n++) {
        CHECK_INT(g.n_running, 1);
        played_end(&g, rig_held(&g), &(struct played_answer){ .r = -ETIMEDOUT });
        rig_settle_store(&g);
    }
    for (; n < CALLS; n++) { /* it has recovered */
        CHECK(g.n_running >= 1);
        played_end(&g, rig_held(&g), &(struct played_answer){ .status = 200 });
        rig_settle_store(&g);
        if (n == CALLS - 20)
            CHECK(g.n_running > 3);
    }
    CHECK_INT(rig_stats(&g).succeeded, 50);
    rig_fini(&g);
}

TEST(a_function_that_is_gone_is_said_so)
{
    struct rig g;
    struct answer a;
    char id[ASYNC_ID_TEXT];
    rig_start(&g);
    rig_answers(&g, 1, &(struct played_answer){ .refuse = -ENOENT });
    rig_call(&g, id, "/fn/shop/pay", STR("x"));
    rig_until(&g, rig_stats(&g).failed == 1);
    rig_look(&g, &a, id);
    CHECK_INT(a.status, 404);
    CHECK_STR(headers_get(&a.headers, "x-faas-call-reason"), "UnknownFunction");
    CHECK_STR(headers_get(&a.headers, "x-faas-call-state"), "failed");
    answer_fini(&a);
    rig_fini(&g);
}

TEST(calls_that_are_too_old_expire_without_an_attempt)
{
    struct rig g;
    struct answer a;
    char id[ASYNC_ID_TEXT];
    rig_start(&g);
    rig_answers(&g, 1, &(struct played_answer){ .refuse = -EBUSY });
    g.spec.async.age_max_ms = 5000;
    rig_call(&g, id, "/fn/shop/pay", STR("x"));
    rig_until(&g, g.at_answer == 1);
    rig_settle(&g);
    loop_skip(&g.loop, 6000);
    rig_until(&g, rig_stats(&g).expired == 1);
    rig_look(&g, &a, id);
    CHECK_INT(a.status, 504);
    CHECK_STR(headers_get(&a.headers, "x-faas-call-state"), "expired");
    CHECK_STR(headers_get(&a.headers, "x-faas-call-attempts"), "0");
    answer_fini(&a);
    CHECK_INT(g.n_calls, 0);
    rig_fini(&g);
}

TEST(the_same_key_is_the_same_call)
{
    struct rig g;
    struct answer a, b;
    rig_start(&g);
    rig_ask(&g, &a, "POST", "/fn/shop/pay", STR("1"), "x-amz-invocation-type", "Event",
            "idempotency-key", "order 7", NULL);
    rig_ask(&g, &b, "POST", "/fn/shop/pay", STR("1"), "x-amz-invocation-type", "Event",
            "idempotency-key", "order 7", NULL);
    CHECK(a.status == 202 && b.status == 202);
    CHECK(str_eq(headers_get(&a.headers, "x-dormouse-call-id"),
                 headers_get(&b.headers, "x-dormouse-call-id")));
    CHECK_STR(headers_get(&b.headers, "x-faas-call-repeated"), "true");
    answer_fini(&b);
    rig_ask(&g, &b, "POST", "/fn/shop/other", STR("1"), "x-amz-invocation-type", "Event",
            "idempotency-key", "order 7", NULL);
    CHECK(!str_eq(headers_get(&a.headers, "x-dormouse-call-id"),
                  headers_get(&b.headers, "x-dormouse-call-id"))); /* keys are a function's own */
    answer_fini(&b);
    rig_settle(&g);
    CHECK_INT(g.n_calls, 2);
    /* forgotten with the result */
    loop_skip(&g.loop, async_default_policy.result_ttl_ms + 2000);
    rig_until(&g, rig_stats(&g).results_deleted == 2);
    rig_ask(&g, &b, "POST", "/fn/shop/pay", STR("1"), "x-amz-invocation-type", "Event",
            "idempotency-key", "order 7", NULL);
    CHECK_INT(b.status, 202);
    CHECK(!headers_get(&b.headers, "x-faas-call-repeated").p);
    answer_fini(&a);
    answer_fini(&b);
    rig_settle(&g);
    rig_fini(&g);
}

static void delete_call(struct rig *g, struct answer *a, const char *id)
{
    char target[80];
    (void)snprintf(target, sizeof target, "/v1/async/%s", id);
    rig_ask(g, a, "DELETE", target, STR(""), NULL);
}

TEST(calls_are_canceled_while_they_wait_and_while_they_run)
{
    struct rig g;
    struct answer a;
    char waits[ASYNC_ID_TEXT], runs[ASYNC_ID_TEXT];
    rig_start(&g);
    rig_answers(&g, 2, (struct played_answer[]){ { .status = 500 }, { .hold = true } });
    rig_call(&g, waits, "/fn/shop/pay", STR("x"));
    rig_until(&g, rig_stats(&g).retries == 1);
    rig_call(&g, runs, "/fn/shop/pay", STR("y"));
    rig_until(&g, g.n_calls == 2);

    delete_call(&g, &a, waits);
    CHECK_INT(a.status, 200);
    answer_fini(&a);
    delete_call(&g, &a, runs);
    CHECK_INT(a.status, 202);
    answer_fini(&a);
    rig_settle(&g);
    CHECK_INT(rig_stats(&g).canceled, 2);
    loop_skip(&g.loop, 5000); /* the retry would be due */
    rig_settle(&g);
    const char *ids[] = { waits, runs };
    for (size_t i = 0; i < 2; i++) {
        rig_look(&g, &a, ids[i]);
        CHECK_INT(a.status, 410);
        CHECK_STR(headers_get(&a.headers, "x-faas-call-state"), "canceled");
        answer_fini(&a);
        delete_call(&g, &a, ids[i]);
        CHECK_INT(a.status, 200); /* as often as one likes */
        answer_fini(&a);
    }
    CHECK_INT(g.n_calls, 2);
    CHECK_INT(rig_stats(&g).pending, 0);
    char done[ASYNC_ID_TEXT];
    rig_answers(&g, 1, &(struct played_answer){ .status = 200 });
    rig_call(&g, done, "/fn/shop/pay", STR("z"));
    rig_settle(&g);
    delete_call(&g, &a, done);
    CHECK_INT(a.status, 409);
    answer_fini(&a);
    rig_fini(&g);
}

TEST(paths_that_name_no_call)
{
    struct rig g;
    struct answer a;
    rig_start(&g);
    rig_look(&g, &a, "0123456789abcdef0123456789abcdef01234567");
    CHECK_INT(a.status, 404);
    answer_fini(&a);
    rig_look(&g, &a, "x");
    CHECK_INT(a.status, 404);
    answer_fini(&a);
    rig_ask(&g, &a, "PUT", "/v1/async/0123456789abcdef0123456789abcdef01234567", STR("x"), NULL);
    CHECK_INT(a.status, 405);
    answer_fini(&a);
    rig_fini(&g);
}

/* ------------------------------------------------------------------ callbacks, dead letters */

static struct {
    size_t n;
    int status[4];
    struct headers headers;
    struct buf body;
} hook;

static void hook_on_body(struct http_exchange *x, struct str chunk)
{
    CHECK_OK(buf_add_str(&hook.body, chunk));
}
static void hook_on_body_end(struct http_exchange *x, int r)
{
    http_reply(x, hook.status[MIN(hook.n, 3u)], NULL, STR("thanks"));
    hook.n++;
}
static void hook_on_gone(struct http_exchange *x, int r)
{
}
static void hook_on_writable(struct http_exchange *x)
{
}
static const struct http_exchange_ops hook_ops = { .on_body = hook_on_body,
                                                   .on_body_end = hook_on_body_end,
                                                   .on_writable = hook_on_writable,
                                                   .on_gone = hook_on_gone };
static void hook_on_request(struct http_exchange *x, const struct http_request *req, void *arg)
{
    headers_reset(&hook.headers);
    buf_reset(&hook.body);
    CHECK_STR(req->method, "POST");
    CHECK_STR(req->target, "/hook?a=b");
    CHECK_OK(headers_copy(&hook.headers, req->headers));
    http_exchange_set(x, &hook_ops, NULL);
    http_read_body(x, 1 << 20);
}

static struct http_server *hook_start(struct rig *g, char url[64])
{
    struct http_server_opts s = { .on_request = hook_on_request };
    struct http_server *server;
    memset(&hook, 0, sizeof hook);
    for (size_t i = 0; i < 4; i++)
        hook.status[i] = 200;
    buf_init(&hook.body, 1 << 20);
    CHECK_OK(http_server_start(&g->loop, &s, &server, NULL));
    (void)snprintf(url, 64, "http://127.0.0.1:%u/hook?a=b", http_server_port(server));
    return server;
}

static void hook_stop(struct rig *g, struct http_server *server)
{
    bool done = false;
    http_server_close(server, 0, rig_on_done, &done);
    rig_until(g, done);
    headers_fini(&hook.headers);
    buf_fini(&hook.body);
}

TEST(results_are_posted_to_a_callback_until_it_takes_them)
{
    struct rig g;
    struct answer a;
    char url[64];
    rig_init(&g);
    g.opts.allow_private_urls = true;
    rig_open(&g);
    rig_run(&g);
    rig_serve(&g);
    struct http_server *server = hook_start(&g, url);
    hook.status[0] = 503;
    rig_answers(&g, 1, &(struct played_answer){ .status = 201, .body = STR("\0result") });
    rig_ask(&g, &a, "POST", "/fn/shop/pay", STR("x"), "prefer", "respond-async", "x-callback-url",
            url, NULL);
    CHECK_INT(a.status, 202);
    rig_until(&g, rig_stats(&g).retries == 1);
    CHECK_INT(hook.n, 1);
    loop_skip(&g.loop, 1000);
    rig_until(&g, rig_stats(&g).succeeded == 2); /* the delivery is a call as well */
    CHECK_INT(hook.n, 2);
    CHECK(str_eq(buf_str(&hook.body), STR("\0result")));
    CHECK_STR(headers_get(&hook.headers, "x-faas-call-status"), "201");
    CHECK_STR(headers_get(&hook.headers, "x-faas-call-state"), "succeeded");
    CHECK_STR(headers_get(&hook.headers, "x-faas-function"), "shop/pay");
    CHECK_STR(headers_get(&hook.headers, "content-type"), "application/x-test");
    CHECK_STR(headers_get(&hook.headers, "x-faas-attempt"), "2");
    CHECK(str_eq(headers_get(&hook.headers, "x-faas-parent-call-id"),
                 headers_get(&a.headers, "x-dormouse-call-id")));
    CHECK_INT(rig_stats(&g).callbacks, 1);
    answer_fini(&a);
    hook_stop(&g, server);
    rig_fini(&g);
}

TEST(callbacks_do_not_reach_private_addresses)
{
    struct rig g;
    struct answer a;
    char url[64];
    rig_start(&g);
    struct http_server *server = hook_start(&g, url);
    rig_ask(&g, &a, "POST", "/fn/shop/pay", STR("x"), "prefer", "respond-async", "x-callback-url",
            url, NULL);
    CHECK_INT(a.status, 202);
    answer_fini(&a);
    rig_until(&g, rig_stats(&g).failed == 1);
    CHECK_INT(hook.n, 0);
    rig_ask(&g, &a, "POST", "/fn/shop/pay", STR("x"), "prefer", "respond-async", "x-callback-url",
            "gopher://x", NULL);
    CHECK_INT(a.status, 400);
    answer_fini(&a);
    hook_stop(&g, server);
    rig_fini(&g);
}

TEST(what_failed_for_good_goes_to_a_function_or_a_url)
{
    struct rig g;
    char id[ASYNC_ID_TEXT], url[64];
    rig_init(&g);
    g.opts.allow_private_urls = true;
    rig_open(&g);
    rig_run(&g);
    rig_serve(&g);
    struct http_server *server = hook_start(&g, url);
    g.spec.async.attempts = 1;
    g.spec.async.dead_letter_function = STR("ops/morgue");
    rig_answers(&g, 2, (struct played_answer[]){ { .status = 500 }, { .hold = true } });
    rig_call(&g, id, "/fn/shop/pay/a", STR("the request"));
    rig_until(&g, g.n_calls == 2);
    struct played_call *c = rig_held(&g);
    CHECK_STR(str_of(c->function), "ops/morgue");
    CHECK_STR(buf_str(&c->body), "the request");
    CHECK_STR(str_of(c->target), "/a");
    CHECK_STR(headers_get(&c->headers, "x-faas-call-status"), "500");
    CHECK_STR(headers_get(&c->headers, "x-faas-parent-call-id"), id);
    played_end(&g, c, &(struct played_answer){ .status = 500 }); /* a dead letter has none */
    rig_until(&g, rig_stats(&g).failed == 2);
    rig_settle(&g);
    CHECK_INT(g.n_calls, 2);
    CHECK_INT(rig_stats(&g).dead_letters, 1);

    g.asks_for_tokens = true; /* that of another namespace, too */
    rig_answers(&g, 1, &(struct played_answer){ .status = 500 });
    rig_call(&g, id, "/fn/shop/pay/a", STR("the request"));
    rig_until(&g, rig_stats(&g).failed == 3);
    rig_settle(&g);
    CHECK_INT(g.n_calls, 3);
    CHECK_INT(rig_stats(&g).dead_letters, 1);

    g.spec.async.dead_letter_function = STR("");
    g.spec.async.dead_letter_url = str_of(url);
    rig_answers(&g, 1, &(struct played_answer){ .status = 404 });
    rig_call(&g, id, "/fn/shop/pay/a", STR("the request"));
    rig_until(&g, hook.n == 1);
    CHECK_STR(buf_str(&hook.body), "the request");
    CHECK_STR(headers_get(&hook.headers, "x-faas-call-status"), "404");
    rig_settle(&g);
    hook_stop(&g, server);
    rig_fini(&g);
}

/* ------------------------------------------------------------------ bounds, restarts, faults */

TEST(functions_take_turns_and_few_run_at_a_time)
{
    struct rig g;
    char id[ASYNC_ID_TEXT];
    rig_init(&g);
    g.opts.running_max = 3;
    g.opts.function_running_max = 2;
    rig_open(&g);
    rig_serve(&g);
    for (int i = 0; i < 20; i++)
        rig_call(&g, id, "/fn/shop/busy", STR("x"));
    rig_call(&g, id, "/fn/shop/quiet", STR("y"));
    rig_run(&g);
    rig_until(&g, rig_stats(&g).succeeded == 21);
    CHECK(g.n_running_most <= 3);
    size_t at = 0;
    while (strcmp(g.order.p[at], "shop/quiet") != 0)
        at++;
    CHECK(at < 4);
    rig_fini(&g);
}

TEST(who_has_too_many_waiting_is_told_so)
{
    struct rig g;
    struct answer a;
    char id[ASYNC_ID_TEXT];
    rig_init(&g);
    g.opts.function_pending_max = 2;
    g.opts.pending_max = 3;
    rig_open(&g);
    rig_serve(&g);
    rig_call(&g, id, "/fn/shop/one", STR("x"));
    rig_call(&g, id, "/fn/shop/one", STR("x"));
    rig_ask(&g, &a, "POST", "/fn/shop/one", STR("x"), "prefer", "respond-async", NULL);
    CHECK_INT(a.status, 503);
    CHECK_STR(headers_get(&a.headers, "x-dormouse-reason"), "TooManyCalls");
    CHECK(headers_get(&a.headers, "retry-after").n > 0);
    answer_fini(&a);
    rig_call(&g, id, "/fn/shop/two", STR("x"));
    rig_ask(&g, &a, "POST", "/fn/shop/three", STR("x"), "prefer", "respond-async", NULL);
    CHECK_INT(a.status, 503);
    answer_fini(&a);
    rig_run(&g);
    rig_until(&g, rig_stats(&g).succeeded == 3);
    rig_fini(&g);
}

TEST(a_restart_finds_all_calls_of_all_functions_with_little_in_memory)
{
    enum { BUSY = 1500, OTHERS = 40 };
    struct rig g;
    char id[ASYNC_ID_TEXT], target[64];
    rig_init(&g);
    rig_open(&g);
    rig_serve(&g);
    for (int i = 0; i < BUSY; i++)
        rig_call(&g, id, "/fn/shop/busy", STR("x"));
    for (int i = 0; i < OTHERS; i++) {
        (void)snprintf(target, sizeof target, "/fn/shop/f%d", i);
        rig_call(&g, id, target, STR("x"));
        rig_call(&g, id, target, STR("x"));
    }
    CHECK(rig_stats(&g).window_entries <= ASYNC_WINDOW + 2 * OTHERS);
    rig_close_async(&g);
    rig_open(&g);
    rig_answers(&g, 1, &(struct played_answer){ .refuse = -EBUSY });
    g.opts.running_max = 1;
    rig_run(&g);
    rig_until(&g, rig_stats(&g).pending >= BUSY + 2 * OTHERS);
    rig_settle(&g);
    CHECK_INT(rig_stats(&g).pending, BUSY + 2 * OTHERS);
    CHECK(rig_stats(&g).window_entries <= ASYNC_WINDOW * 2 + 2 * OTHERS);
    rig_answers(&g, 1, &(struct played_answer){ .status = 200 });
    loop_skip(&g.loop, 2000);
    rig_until(&g, rig_stats(&g).succeeded == BUSY + 2 * OTHERS);
    CHECK_INT(g.n_calls, BUSY + 2 * OTHERS);
    CHECK_INT(rig_stats(&g).pending, 0);
    CHECK_INT(rig_stats(&g).lanes, 0);
    rig_fini(&g);
}

TEST(calls_taken_before_the_start_hide_none_of_the_older_ones)
{
    struct rig g;
    char id[ASYNC_ID_TEXT];
    rig_init(&g);
    rig_open(&g);
    rig_serve(&g);
    for (int i = 0; i < 3; i++)
        rig_call(&g, id, "/fn/shop/pay", STR("x"));
    rig_close_async(&g);
    rig_open(&g);
    rig_call(&g, id, "/fn/shop/pay", STR("x"));
    rig_answers(&g, 1, &(struct played_answer){ .status = 200 });
    rig_run(&g);
    rig_until(&g, rig_stats(&g).succeeded == 4);
    rig_settle(&g);
    CHECK_INT(g.n_calls, 4);
    CHECK_INT(rig_stats(&g).pending, 0);
    CHECK_INT(rig_stats(&g).lanes, 0);
    rig_fini(&g);
}

TEST(what_ran_when_it_was_stopped_runs_again)
{
    struct rig g;
    struct answer a;
    char id[ASYNC_ID_TEXT];
    rig_start(&g);
    rig_answers(&g, 1, &(struct played_answer){ .hold = true });
    rig_call(&g, id, "/fn/shop/pay", STR("x"));
    rig_until(&g, g.n_calls == 1);
    rig_answers(&g, 1, &(struct played_answer){ .status = 200 });
    rig_reopen(&g);
    rig_until(&g, rig_stats(&g).succeeded == 1);
    CHECK_INT(g.n_calls, 2);
    rig_look(&g, &a, id);
    CHECK_INT(a.status, 200);
    answer_fini(&a);
    rig_fini(&g);
}

TEST(another_gateways_calls_run_here_once_they_are_ours)
{
    struct rig g;
    char id[ASYNC_ID_TEXT];
    rig_init(&g);
    g.opts.name = "gateway-b";
    rig_open(&g);
    rig_serve(&g);
    rig_call(&g, id, "/fn/shop/pay", STR("x"));
    rig_close_async(&g);
    g.opts.name = "gateway-a"; /* it owns all that is in its database, unless told otherwise */
    rig_open(&g);
    rig_run(&g);
    rig_until(&g, rig_stats(&g).succeeded == 1);
    rig_fini(&g);
}

static bool only_some(void *arg, uint32_t owner)
{
    return *(bool *)arg;
}

TEST(shared_storage_hands_over_when_a_lease_has_lapsed)
{
    struct rig g;
    char id[ASYNC_ID_TEXT];
    bool lapsed = false;
    rig_init(&g);
    g.opts.name = "gateway-b";
    rig_open(&g);
    rig_serve(&g);
    rig_call(&g, id, "/fn/shop/pay", STR("x"));
    rig_close_async(&g);
    g.opts.name = "gateway-a";
    g.opts.is_mine = only_some;
    g.opts.arg = &lapsed;
    rig_open(&g);
    rig_run(&g);
    rig_until(&g, !async_is_scanning(g.async));
    rig_settle(&g);
    CHECK_INT(rig_stats(&g).pending, 0);
    lapsed = true;
    async_rescan(g.async);
    rig_until(&g, rig_stats(&g).succeeded == 1);
    CHECK_INT(g.n_calls, 1);
    rig_fini(&g);
}

TEST(an_id_of_another_gateway_is_asked_there)
{
    struct rig g;
    struct answer a;
    char url[64], foreign[ASYNC_ID_TEXT];
    struct async_id id = async_id_new(async_owner(STR("gateway-z")));
    async_id_text(&id, foreign);
    rig_start(&g);
    /* The peer is this server itself: what is forwarded is not forwarded again. */
    (void)snprintf(url, sizeof url, "127.0.0.1:%u", http_server_port(g.server));
    g.peer = url;
    rig_look(&g, &a, foreign);
    CHECK_INT(a.status, 404);
    CHECK_STR(headers_get(&a.headers, "x-dormouse-reason"), "UnknownCall");
    answer_fini(&a);
    g.peer = "127.0.0.1:1";
    rig_look(&g, &a, foreign);
    CHECK_INT(a.status, 502);
    CHECK_STR(headers_get(&a.headers, "x-dormouse-reason"), "GatewayUnreachable");
    answer_fini(&a);
    rig_fini(&g);
}

struct noted {
    bool done;
    int r;
    char value[32];
};

static void on_note(void *arg, int r, struct str value, const struct err *err)
{
    struct noted *n = arg;
    n->done = true;
    n->r = r;
    (void)snprintf(n->value, sizeof n->value, "%s" STR_FMT, value.p ? "=" : "", STR_ARG(value));
}

static void check_note(struct rig *g, const char *note, const char *want)
{
    struct noted n = { .r = 0 };
    CHECK_OK(async_note_get(g->async, str_of(note), on_note, &n, NULL));
    rig_until(g, n.done);
    CHECK_OK(n.r);
    CHECK_STR(str_of(n.value), want);
}

struct submitted {
    int r;
    bool done, is_repeat;
    char id[ASYNC_ID_TEXT];
};

static void on_submitted(void *arg, int r, const char id[ASYNC_ID_TEXT], bool is_repeat,
                         const struct err *err)
{
    struct submitted *s = arg;
    *s = (struct submitted){ .r = r, .done = true, .is_repeat = is_repeat };
    memcpy(s->id, id, sizeof s->id);
}

TEST(notes_are_kept_with_calls)
{
    struct rig g;
    struct submitted first = { .r = 0 }, again = { .r = 0 };
    struct async_call call = { .namespace = STR("shop"),
                               .name = STR("pay"),
                               .method = STR("POST"),
                               .target = STR("/"),
                               .key = STR("fired at 7"),
                               .note = STR("cron/shop/pay"),
                               .note_value = STR("7") };
    rig_start(&g);
    check_note(&g, "cron/shop/pay", "");
    CHECK_OK(async_submit(g.async, &call, on_submitted, &first, NULL));
    rig_until(&g, first.done);
    check_note(&g, "cron/shop/pay", "=7");
    call.note_value = STR("8");
    CHECK_OK(async_submit(g.async, &call, on_submitted, &again, NULL));
    rig_until(&g, again.done);
    CHECK(again.r == 0 && again.is_repeat && strcmp(first.id, again.id) == 0);
    rig_settle(&g);
    CHECK_INT(g.n_calls, 1);
    rig_reopen(&g);
    check_note(&g, "cron/shop/pay", "=8");
    struct noted n = { .r = 0 };
    CHECK_OK(async_note_put(g.async, STR("cron/shop/pay"), STR_NULL, on_note, &n, NULL));
    rig_until(&g, n.done);
    check_note(&g, "cron/shop/pay", "");
    rig_fini(&g);
}

static struct async_call small_call(void)
{
    return (struct async_call){
        .namespace = STR("shop"), .name = STR("pay"), .method = STR("POST"), .target = STR("/")
    };
}

/* A disk that is full at the first, second, ... write: refused or done later, never half. */
TEST(nothing_is_acknowledged_on_a_full_disk_and_no_result_is_lost)
{
    struct rig g;
    struct submitted s = { .r = 0 };
    struct async_call call = small_call();
    rig_start(&g);
    CHECK_OK(async_submit(g.async, &call, on_submitted, &s, NULL)); /* makes the database */
    rig_until(&g, rig_stats(&g).succeeded == 1);
    store_made_faulty(&g.loop, g.async->store);

    store_fails(FAULT_WRITES, "c/");
    struct answer a;
    rig_ask(&g, &a, "POST", "/fn/shop/pay", STR("x"), "prefer", "respond-async", NULL);
    CHECK_INT(a.status, 503);
    CHECK_STR(headers_get(&a.headers, "x-dormouse-reason"), "DiskFull");
    CHECK(!headers_get(&a.headers, "x-dormouse-call-id").p);
    answer_fini(&a);
    CHECK_INT(rig_stats(&g).pending, 0);
    store_works();

    rig_answers(&g, 1, &(struct played_answer){ .hold = true });
    char id[ASYNC_ID_TEXT];
    rig_call(&g, id, "/fn/shop/pay", STR("x"));
    rig_until(&g, rig_held(&g));
    store_fails(FAULT_WRITES, "c/");
    played_end(&g, rig_held(&g), &(struct played_answer){ .status = 200 });
    rig_until(&g, faulty.n_struck == 3); /* it goes on trying */
    rig_look(&g, &a, id);
    CHECK_INT(a.status, 202);
    answer_fini(&a);
    store_works();
    rig_until(&g, rig_stats(&g).succeeded == 2);
    CHECK_INT(g.n_calls, 2);

    rig_answers(&g, 1, &(struct played_answer){ .status = 200 });
    store_fails(FAULT_READS, "c/"); /* a call that cannot be read now is read later */
    rig_call(&g, id, "/fn/shop/pay", STR("x"));
    rig_until(&g, faulty.n_struck > 0);
    rig_settle(&g);
    store_works();
    loop_skip(&g.loop, 2000);
    rig_until(&g, rig_stats(&g).succeeded == 3);
    rig_fini(&g);
    faulty_forget();
}

static struct {
    bool done;
    size_t n;
} counted;

static void on_rows(void *arg, int r, const struct store_page *page, const struct err *err)
{
    CHECK_OK(r);
    counted.n = page->n;
    counted.done = true;
}

static size_t rows(struct rig *g, const char *prefix)
{
    struct store_range range = { .prefix = str_of(prefix), .keys_only = true };
    counted.done = false;
    CHECK_OK(store_range(g->async->store, &range, on_rows, NULL, NULL));
    rig_until(g, counted.done);
    return counted.n;
}

static struct played_answer fails_at_first(const struct played_call *c)
{
    bool is_first = str_is(headers_get(&c->headers, "x-faas-attempt"), "1");
    if (str_is(str_of(c->function), "shop/dead"))
        return (struct played_answer){ .status = 400 };
    return (struct played_answer){ .status = is_first ? 503 : 200 };
}

/*
 * The disk fails from its nth write on for a while, for every n until there are no so many: what
 * was refused was not taken, what was acknowledged ends, and no row is left.
 */
TEST(whichever_write_fails_what_was_acknowledged_ends)
{
    static char large[40000];
    for (size_t spared = 0;; spared++) {
        struct rig g;
        struct submitted s[4] = { 0 };
        struct async_call call = small_call();
        rig_start(&g);
        g.decide = fails_at_first;
        g.spec.async.dead_letter_function = STR("shop/morgue");
        CHECK_OK(async_note_put(g.async, STR("x"), STR("x"), NULL, NULL, NULL));
        rig_settle(&g);
        store_made_faulty(&g.loop, g.async->store);
        store_fails(FAULT_WRITES, "");
        faulty.n_spared = spared;
        for (size_t i = 0; i < 4; i++) {
            call.name = i == 1 ? STR("dead") : STR("pay");
            call.body = i == 2 ? str_n(large, sizeof large) : STR("x");
            call.key = i == 3 ? STR("key") : STR("");
            CHECK_OK(async_submit(g.async, &call, on_submitted, &s[i], NULL));
        }
        rig_until(&g, s[0].done && s[1].done && s[2].done && s[3].done);
        for (int i = 0; i < 3; i++) { /* attempts and retries, for as long as it goes well */
            while (g.async->runs.n > 0 && faulty.n_struck == 0)
                rig_turn(&g);
            loop_skip(&g.loop, 5000);
            (void)loop_turn(&g.loop, false);
        }
        bool struck = faulty.n_struck > 0;
        store_works();
        size_t n_acks = 0;
        for (size_t i = 0; i < 4; i++)
            n_acks += s[i].r >= 0;
        while (rig_stats(&g).pending > 0) { /* over all that waits to be tried again */
            loop_skip(&g.loop, 5000);
            do
                (void)loop_turn(&g.loop, false);
            while (!loop_is_idle(&g.loop));
        }
        rig_settle(&g);
        bool has_dead = s[1].r >= 0;
        CHECK_INT(rig_stats(&g).accepted, n_acks);
        CHECK_INT(rig_stats(&g).succeeded + rig_stats(&g).failed, n_acks + has_dead);
        CHECK_INT(rig_stats(&g).failed, has_dead);
        CHECK_INT(rows(&g, "c/"), n_acks + has_dead);
        CHECK_INT(rows(&g, "x/"), n_acks + has_dead);
        CHECK_INT(rows(&g, "d/"), 0);
        CHECK_INT(rows(&g, "b/"), 0);
        CHECK_INT(rows(&g, "i/"), s[3].r >= 0);
        rig_fini(&g);
        faulty_forget();
        if (!struck)
            break;
    }
}

TEST(a_clock_that_is_put_back_delays_nothing)
{
    struct rig g;
    char id[ASYNC_ID_TEXT];
    rig_start(&g);
    g.async->begin_wall_ms += 3600000; /* as if the wall clock had gone back by an hour since */
    rig_answers(&g, 2, (struct played_answer[]){ { .status = 503 }, { .status = 200 } });
    rig_call(&g, id, "/fn/shop/pay", STR("x"));
    rig_until(&g, rig_stats(&g).retries == 1);
    loop_skip(&g.loop, 1000);
    rig_until(&g, rig_stats(&g).succeeded == 1);
    rig_fini(&g);
}

TEST_MAIN
