/* SPDX-License-Identifier: Apache-2.0 */
/* The gateway, between a control plane and sandboxes that do what the test says. */
#include "fn_gateway_rig.h"

#include "io/tls.h"

static struct gateway *gateway;
static struct plane plane;
static struct http_client *client, *client2; /* HTTP/1.1 and HTTP/2 */
static struct answer a, b;
static bool synced, stopped;

static void on_synced(void *arg)
{
    synced = true;
}

static void on_stopped(void *arg)
{
    stopped = true;
}

static struct http_client *connect_to(uint16_t port, bool http2)
{
    struct http_client *c;
    struct err err = { 0 };
    const struct http_client_opts opts = {
        .host = "127.0.0.1", .port = port, .max_connections = 2000, .http2 = http2
    };
    CHECK_OK(http_client_new(&loop, &opts, &c, &err));
    return c;
}

static void begin_with(struct gateway_opts opts)
{
    struct err err = { 0 };
    CHECK_OK(loop_init(&loop, &err));
    plane = (struct plane){ .dialer = { &plane_dialer_ops } };
    sandboxes = (struct rig_invoker){ .invoker = { rig_start } };
    synced = stopped = false;
    opts.loop = &loop;
    opts.name = "g1";
    opts.incarnation = 1;
    opts.dialer = &plane.dialer;
    opts.local = &sandboxes.invoker;
    opts.local_worker = "w";
    opts.on_synced = on_synced;
    CHECK_OK(gateway_start(&opts, &gateway, &err));
    client = connect_to(gateway_port(gateway), false);
    client2 = connect_to(gateway_port(gateway), true);
    WAIT_FOR(plane.hellos == 1);
}

static void begin(void)
{
    begin_with((struct gateway_opts){ 0 });
}

/* One function "f", number 1, with n sandboxes 1..n. */
static void welcome(const char *spec, unsigned n)
{
    struct order *o = order_new();
    order_welcome(o, 1);
    order_function(o, 1, "f", spec);
    order_endpoints(o, 0, 10, true);
    for (unsigned i = 0; i < n; i++)
        order_add(o, i + 1, 1, NULL);
    order_send(o, &plane);
    CHECK(synced);
}

static void finish(void)
{
    http_client_close(client);
    http_client_close(client2);
    if (!stopped) {
        gateway_stop(gateway, 0, on_stopped, NULL);
        timer_start(&loop, &rig_guard, 60000, rig_on_guard);
        while (!stopped) {
            while (sandboxes.running.n && !sandboxes.running.p[0]->canceled)
                end(sandboxes.running.p[0], -ECONNRESET, NULL);
            (void)loop_turn(&loop, true);
        }
        timer_stop(&loop, &rig_guard);
    }
    plane_fini(&plane);
    answer_reset(&a);
    answer_reset(&b);
    loop_run(&loop);
    CHECK_INT(sandboxes.running.n, 0);
    vec_fini(&sandboxes.running);
    loop_fini(&loop);
}

static void get(const char *host)
{
    request(client, &a, (struct http_call_opts){ 0 }, FIELDS("host", host));
}

/* ---------------------------------------------------------------- routing */

TEST(a_request_reaches_a_sandbox_and_its_answer_comes_back)
{
    begin();
    welcome("", 1);
    request(client, &a, (struct http_call_opts){ .target = STR("/x?y=1") },
            FIELDS("host", "f", "x-mine", "1"));
    WAIT_FOR(sandboxes.starts == 1);
    struct invocation *x = running(0);
    CHECK_STR(str_of(x->target), "/x?y=1");
    CHECK_STR(headers_get(&x->headers, "x-mine"), "1");
    CHECK(!headers_get(&x->headers, "host").p);
    CHECK_STR(headers_get(&x->headers, "x-forwarded-for"), "127.0.0.1");
    CHECK_INT(strlen(x->call_id), 16);
    CHECK(headers_get(&x->headers, "traceparent").n == 55);
    answer(x, 201, "made");
    WAIT_FOR(a.ends);
    CHECK_INT(a.status, 201);
    CHECK_STR(buf_str(&a.body), "made");
    CHECK_STR(headers_get(&a.headers, "content-length"), "4");
    CHECK_INT(headers_get(&a.headers, "x-dormouse-call-id").n, 16);
    finish();
}

TEST(functions_are_found_by_host_and_by_path)
{
    begin();
    struct order *o = order_new();
    order_welcome(o, 1);
    order_function_in(o, 1, "prod", "f", "\"hosts\":[\"shop.example\"],\"paths\":[\"/shop\"]");
    order_endpoints(o, 0, 1, true);
    order_add(o, 1, 1, NULL);
    order_send(o, &plane);
    sandboxes.answers = false;
    static const struct {
        const char *host, *target, *want, *script;
    } good[] = {
        { "f.prod", "/a", "/a", "" },
        { "F.prod.fn.local:99", "/fn/prod/f/a", "/fn/prod/f/a", "" },
        { "shop.example", "/", "/", "" },
        { "127.0.0.1:8080", "/fn/prod/f", "/", "/fn/prod/f" },
        { "127.0.0.1:8080", "/fn/prod/f?q", "/?q", "/fn/prod/f" },
        { "localhost", "/fn/prod/f/a/b?q", "/a/b?q", "/fn/prod/f" },
        { "localhost", "/shop/cart", "/shop/cart", "" },
        { "localhost", "/shop", "/shop", "" },
    };
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        request(client, &a, (struct http_call_opts){ .target = str_of(good[i].target) },
                FIELDS("host", good[i].host));
        WAIT_FOR(sandboxes.running.n == 1);
        CHECK_STR(str_of(running(0)->target), good[i].want);
        CHECK_STR(str_of(running(0)->script_name), good[i].script);
        answer(running(0), 200, "");
        WAIT_FOR(a.ends);
        CHECK_INT(a.status, 200);
    }
    static const char *const bad[][2] = { { "f", "/" },           { "g.prod", "/" },
                                          { "x", "/fn/prod/g/" }, { "x", "/shopping" },
                                          { "x", "/fn/other/f" }, { "other.example", "/" } };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        request(client, &a, (struct http_call_opts){ .target = str_of(bad[i][1]) },
                FIELDS("host", bad[i][0]));
        WAIT_FOR(a.ends);
        check_refused(&a, 404, "UnknownFunction");
    }
    CHECK(str_find(buf_str(&a.body), STR("/fn/NAMESPACE/NAME/")) > 0);
    finish();
}

/* The body says which sandbox answered: 1 of prod/pay, 2 of evil/thief. */
static void check_answered_by(const char *host, const char *target, const char *who)
{
    request(client, &a, (struct http_call_opts){ .target = str_of(target) }, FIELDS("host", host));
    WAIT_FOR(a.ends);
    CHECK_INT(a.status, 200);
    CHECK_STR(buf_str(&a.body), who);
}

TEST(hosts_and_paths_of_a_spec_take_nothing_from_other_functions)
{
    begin();
    struct order *o = order_new();
    order_welcome(o, 1);
    order_function_in(o, 2, "evil", "thief",
                      "\"hosts\":[\"pay.prod\",\"pay.prod.fn.local\",\"next.prod.fn.local\","
                      "\"mine.example\"],\"paths\":[\"/fn\",\"/fn/prod/pay\",\"/v1/async\","
                      "\"/v1\",\"/async-function/pay.prod\",\"/mine/\"]");
    order_function_in(o, 1, "prod", "pay", "");
    order_endpoints(o, 0, 1, true);
    order_add(o, 1, 1, NULL);
    order_add(o, 2, 2, NULL);
    order_send(o, &plane);
    sandboxes.answers = true;
    check_answered_by("pay.prod", "/", "1");
    check_answered_by("PAY.prod.fn.local:80", "/", "1");
    check_answered_by("localhost", "/fn/prod/pay", "1");
    check_answered_by("localhost", "/fn/prod/pay/x?y", "1");
    check_answered_by("mine.example", "/", "2");
    check_answered_by("localhost", "/mine", "2");
    check_answered_by("localhost", "/mine/x", "2");
    check_answered_by("localhost", "/v1/x", "2");
    static const char *const nobodys[][2] = { { "next.prod.fn.local", "/" },
                                              { "localhost", "/fn/prod/other" },
                                              { "localhost", "/v1/async/0123" },
                                              { "localhost", "/v1/events/x" },
                                              { "localhost", "/async-function/other.prod" } };
    for (size_t i = 0; i < ARRAY_LEN(nobodys); i++) {
        request(client, &a, (struct http_call_opts){ .target = str_of(nobodys[i][1]) },
                FIELDS("host", nobodys[i][0]));
        WAIT_FOR(a.ends);
        CHECK_INT(a.status, 404);
    }
    finish();
}

TEST(a_host_that_is_let_go_of_belongs_to_the_next)
{
    begin();
    struct order *o = order_new();
    order_welcome(o, 1);
    order_function_in(o, 1, "prod", "first", "\"hosts\":[\"shop.example\",\"shop.example\"]");
    order_function_in(o, 2, "prod", "second", "\"hosts\":[\"shop.example\"]");
    order_endpoints(o, 0, 1, true);
    order_add(o, 1, 1, NULL);
    order_add(o, 2, 2, NULL);
    order_send(o, &plane);
    sandboxes.answers = true;
    check_answered_by("shop.example", "/", "1");
    o = order_new();
    uint32_t gone = 1;
    o->o.n_functions_gone = 1;
    o->o.functions_gone = &gone;
    order_send(o, &plane);
    check_answered_by("shop.example", "/", "2");
    finish();
}

/* Gateways that hear of them in different orders agree. */
TEST(a_host_that_two_want_belongs_to_the_older)
{
    begin();
    struct order *o = order_new();
    order_welcome(o, 1);
    order_function_in(o, 1, "prod", "young", "\"hosts\":[\"shop.example\",\"young.example\"]");
    o->functions[0].f.created_s = 2000;
    order_endpoints(o, 0, 1, true);
    for (uint32_t i = 1; i <= 3; i++)
        order_add(o, i, i, NULL);
    order_send(o, &plane);
    sandboxes.answers = true;
    check_answered_by("shop.example", "/", "1");
    o = order_new();
    order_function_in(o, 2, "prod", "old-b", "\"hosts\":[\"shop.example\"]");
    order_function_in(o, 3, "prod", "old-a", "\"hosts\":[\"shop.example\"]");
    o->functions[0].f.created_s = o->functions[1].f.created_s = 1000;
    order_endpoints(o, 1, 2, true);
    for (uint32_t i = 1; i <= 3; i++)
        order_add(o, i, i, NULL);
    order_send(o, &plane);
    check_answered_by("shop.example", "/", "3");
    check_answered_by("young.example", "/", "1");
    /* Made anew it is the youngest, though its spec is the same. */
    o = order_new();
    order_function_in(o, 3, "prod", "old-a", "\"hosts\":[\"shop.example\"]");
    o->functions[0].f.created_s = 3000;
    order_send(o, &plane);
    check_answered_by("shop.example", "/", "2");
    finish();
}

/* Each update makes a revision: what was counted for those that are gone is one row. */
TEST(counters_of_revisions_that_are_gone_are_one)
{
    begin();
    sandboxes.answers = true;
    for (uint32_t i = 0; i < 20; i++) {
        struct order *o = order_new();
        if (i == 0)
            order_welcome(o, 1);
        order_function(o, 1, "f", "");
        o->functions[0].r[0].revision = 10 + i;
        o->functions[0].f.n_revisions = 1;
        o->functions[0].f.latest = 10 + i;
        order_endpoints(o, i, i + 1, i == 0);
        order_add_revision(o, 1 + i, 1, 10 + i, NULL);
        order_send(o, &plane);
        get("f");
        WAIT_FOR(a.ends);
        CHECK_INT(a.status, 200);
    }
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1 << 20);
    gateway_metrics(gateway, &text);
    CHECK(str_find(buf_str(&text), STR("revision_name=\"f-00000\",response_code_class=\"2xx\"} "
                                       "19\n")) >= 0);
    CHECK(str_find(buf_str(&text), STR("revision_name=\"f-00029\",response_code_class=\"2xx\"} "
                                       "1\n")) >= 0);
    CHECK(str_find(buf_str(&text), STR("f-00028\",response_code_class")) < 0);
    finish();
}

TEST(the_functions_own_health_and_metrics_are_not_shadowed)
{
    begin();
    welcome("", 1);
    sandboxes.answers = true;
    static const char *const targets[] = { "/health", "/healthz", "/metrics", "/v1/async/x" };
    for (size_t i = 0; i < ARRAY_LEN(targets); i++) {
        request(client, &a, (struct http_call_opts){ .target = str_of(targets[i]) },
                FIELDS("host", "f"));
        WAIT_FOR(a.ends);
        CHECK_STR(buf_str(&a.body), "1");
    }
    finish();
}

TEST(a_split_is_exact_and_a_rollback_holds_at_once)
{
    begin();
    struct order *o = order_new();
    order_welcome(o, 1);
    order_function(o, 1, "f",
                   "\"traffic\":[{\"revision\":1,\"percent\":90},{\"revision\":2,\"percent\":10},"
                   "{\"revision\":2,\"percent\":0,\"tag\":\"next\"}]");
    order_endpoints(o, 0, 1, true);
    order_add_revision(o, 1, 1, 1, NULL);
    order_add_revision(o, 2, 1, 2, NULL);
    order_send(o, &plane);
    sandboxes.answers = true;
    unsigned n[3] = { 0 };
    for (int i = 0; i < 300; i++) {
        get("f");
        WAIT_FOR(a.ends);
        n[buf_cstr(&a.body)[0] - '0']++;
    }
    CHECK_INT(n[2], 30);
    get("next.f.default");
    WAIT_FOR(a.ends);
    CHECK_STR(buf_str(&a.body), "2");
    request(client, &a, (struct http_call_opts){ 0 }, FIELDS("host", "f", "x-dormouse-tag", "no"));
    WAIT_FOR(a.ends);
    check_refused(&a, 404, "UnknownTag");
    o = order_new();
    order_function(o, 1, "f", "\"traffic\":[{\"revision\":1,\"percent\":100}]");
    order_send(o, &plane);
    for (int i = 0; i < 100; i++) {
        get("f");
        WAIT_FOR(a.ends);
        CHECK_STR(buf_str(&a.body), "1");
    }
    finish();
}

/* ---------------------------------------------------------------- queue and hand-off */

TEST(a_cold_request_waits_is_told_at_once_and_runs_in_the_first_sandbox)
{
    begin();
    welcome("", 0);
    unsigned reports = plane.reports;
    get("f");
    WAIT_FOR(plane.load[1].queued == 1);
    CHECK(plane.reports > reports);
    CHECK_INT(sandboxes.starts, 0);
    struct order *o = order_new();
    order_endpoints(o, 10, 11, false);
    order_add(o, 1, 1, NULL);
    order_send(o, &plane);
    CHECK_INT(sandboxes.starts, 1);
    answer(running(0), 200, "cold");
    WAIT_FOR(a.ends);
    CHECK_STR(buf_str(&a.body), "cold");
    WAIT_FOR(plane.load[1].queued == 0 && plane.load[1].running == 0);
    CHECK_INT(plane.load[1].arrived, 1);
    CHECK_INT(plane.load[1].finished, 1);
    CHECK_INT(plane.load[1].idle, 1);
    CHECK(plane.load[1].concurrency_us > 0);
    CHECK_INT(plane.endpoints_version, 11);
    finish();
}

static uint64_t process_cpu_ms(void)
{
    struct timespec t;
    CHECK_OK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t));
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

enum { MANY = 1000 };
static struct answer many[MANY];

TEST(a_thousand_waiting_requests_are_served_in_order_one_at_a_time)
{
    begin();
    welcome("\"concurrency\":{\"limit\":1}", 0);
    for (int i = 0; i < MANY; i++) {
        char number[16];
        (void)snprintf(number, sizeof number, "%d", i);
        request(client2, &many[i], (struct http_call_opts){ 0 },
                FIELDS("host", "f", "x-number", number));
    }
    WAIT_FOR(plane.load[1].queued == MANY);
    struct order *o = order_new();
    order_endpoints(o, 10, 11, false);
    order_add(o, 1, 1, NULL);
    order_send(o, &plane);
    uint64_t before_ms = process_cpu_ms();
    for (int i = 0; i < MANY; i++) {
        char number[16];
        (void)snprintf(number, sizeof number, "%d", i);
        CHECK_INT(sandboxes.running.n, 1); /* the next is there without a turn of the loop */
        CHECK_STR(headers_get(&running(0)->headers, "x-number"), number);
        answer(running(0), 200, "");
    }
    CHECK(process_cpu_ms() - before_ms < 2000);
    for (int i = 0; i < MANY; i++) {
        WAIT_FOR(many[i].ends);
        CHECK_INT(many[i].status, 200);
        answer_reset(&many[i]);
    }
    finish();
}

TEST(a_new_sandbox_wakes_as_many_as_it_has_room_for)
{
    begin();
    welcome("\"concurrency\":{\"limit\":3}", 0);
    for (int i = 0; i < 10; i++)
        request(client2, &many[i], (struct http_call_opts){ 0 }, FIELDS("host", "f"));
    WAIT_FOR(plane.load[1].queued == 10);
    struct order *o = order_new();
    order_endpoints(o, 10, 11, false);
    order_add(o, 1, 1, NULL);
    order_send(o, &plane);
    CHECK_INT(sandboxes.starts, 3);
    while (sandboxes.running.n)
        answer(running(0), 200, "");
    CHECK_INT(sandboxes.starts, 10);
    for (int i = 0; i < 10; i++) {
        WAIT_FOR(many[i].ends);
        answer_reset(&many[i]);
    }
    finish();
}

TEST(a_full_queue_and_a_wait_too_long_are_refused)
{
    begin();
    welcome("\"queue\":{\"max\":1},\"timeouts\":{\"queueMilliseconds\":5000}", 0);
    get("f");
    WAIT_FOR(plane.load[1].queued == 1);
    request(client, &b, (struct http_call_opts){ 0 }, FIELDS("host", "f"));
    WAIT_FOR(b.ends);
    check_refused(&b, 503, "QueueFull");
    CHECK_STR(headers_get(&b.headers, "retry-after"), "1");
    pass(4990);
    CHECK_INT(a.ends, 0);
    pass(20);
    WAIT_FOR(a.ends);
    check_refused(&a, 503, "QueueTimeout");
    finish();
}

TEST(a_request_that_takes_too_long_ends_and_gives_its_room_back)
{
    begin();
    welcome("\"timeouts\":{\"requestMilliseconds\":3000}", 1);
    get("f");
    WAIT_FOR(sandboxes.starts == 1);
    pass(3100);
    WAIT_FOR(a.ends);
    check_refused(&a, 504, "RequestTimeout");
    CHECK_INT(sandboxes.cancels, 1);
    sandboxes.answers = true;
    get("f");
    WAIT_FOR(a.ends);
    CHECK_INT(a.status, 200);
    finish();
}

TEST(a_client_that_leaves_cancels_wherever_its_request_is)
{
    begin();
    welcome("", 1);
    get("f");
    WAIT_FOR(sandboxes.starts == 1);
    request(client, &b, (struct http_call_opts){ 0 }, FIELDS("host", "f"));
    WAIT_FOR(plane.load[1].queued == 1);
    exchange_cancel(b.call);
    WAIT_FOR(plane.load[1].queued == 0);
    exchange_cancel(a.call);
    WAIT_FOR(sandboxes.cancels == 1);
    WAIT_FOR(plane.load[1].running == 0);
    CHECK_INT(sandboxes.starts, 1);
    finish();
}

/* ---------------------------------------------------------------- failures */

TEST(a_refusing_sandbox_is_ejected_and_the_request_goes_elsewhere)
{
    begin();
    welcome("", 2);
    request(client, &a, (struct http_call_opts){ .method = STR("POST"), .body = STR("data") },
            FIELDS("host", "f"));
    WAIT_FOR(sandboxes.starts == 1);
    uint64_t first = running(0)->sandbox;
    end(running(0), -ECONNREFUSED, NULL);
    CHECK_INT(sandboxes.running.n, 1);
    CHECK(running(0)->sandbox != first);
    CHECK_STR(buf_str(&running(0)->body), "data");
    CHECK(running(0)->body_ended);
    end(running(0), -ECONNREFUSED, NULL);
    WAIT_FOR(plane.broken.n == 2);
    CHECK_INT(plane.broken.p[0], first);
    WAIT_FOR(plane.load[1].queued == 1); /* nobody is left: it waits */
    CHECK(!a.ends);
    finish();
}

TEST(only_what_may_be_done_twice_is_done_twice)
{
    begin();
    welcome("", 2);
    get("f");
    WAIT_FOR(sandboxes.starts == 1);
    end(running(0), -ECONNRESET, NULL);
    CHECK_INT(sandboxes.starts, 2);
    answer(running(0), 200, "again");
    WAIT_FOR(a.ends);
    CHECK_STR(buf_str(&a.body), "again");
    request(client, &a, (struct http_call_opts){ .method = STR("POST"), .body = STR("x") },
            FIELDS("host", "f"));
    WAIT_FOR(sandboxes.starts == 3);
    end(running(0), -ECONNRESET, NULL);
    WAIT_FOR(a.ends);
    check_refused(&a, 502, "SandboxBroke");
    CHECK_INT(sandboxes.starts, 3);
    CHECK_INT(plane.broken.n, 0);
    finish();
}

TEST(ends_have_their_status_and_reason)
{
    static const struct {
        int r;
        const char *reason;
        int status;
        const char *want;
    } cases[] = {
        { E_TRAP, "GuestTrapped", 502, "GuestTrapped" },
        { E_PARSE, "MalformedHead", 502, "MalformedHead" },
        { E_LIMIT, "ResponseTooLarge", 502, "ResponseTooLarge" },
        { -ETIMEDOUT, NULL, 504, "RequestTimeout" },
        { -ENOENT, "ModuleUnavailable", 503, "ModuleUnavailable" },
        { 0, NULL, 502, "MalformedHead" }, /* whole, but nothing came */
    };
    begin();
    welcome("", 1);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        request(client, &a, (struct http_call_opts){ .method = STR("POST") }, FIELDS("host", "f"));
        WAIT_FOR(sandboxes.running.n == 1);
        end(running(0), cases[i].r, cases[i].reason);
        WAIT_FOR(a.ends);
        check_refused(&a, cases[i].status, cases[i].want);
    }
    finish();
}

TEST(a_busy_runtime_is_tried_again_and_then_said_to_be_busy)
{
    begin();
    welcome("", 2);
    get("f");
    WAIT_FOR(sandboxes.starts == 1);
    end(running(0), -EBUSY, NULL);
    CHECK_INT(sandboxes.starts, 2);
    end(running(0), -EBUSY, NULL);
    WAIT_FOR(a.ends);
    check_refused(&a, 503, "WorkerBusy");
    CHECK_INT(plane.broken.n, 0);
    finish();
}

TEST(an_answer_that_breaks_is_cut)
{
    begin();
    welcome("", 1);
    get("f");
    WAIT_FOR(sandboxes.starts == 1);
    head(running(0), 200, "content-length", "10");
    exchange_report_data(&running(0)->x, STR("12345"));
    WAIT_FOR(a.status == 200);
    end(running(0), 0, NULL); /* shorter than it said */
    WAIT_FOR(a.ends);
    CHECK(a.r < 0);
    get("f");
    WAIT_FOR(sandboxes.starts == 2);
    head(running(0), 200, NULL, NULL);
    exchange_report_data(&running(0)->x, STR("12345"));
    WAIT_FOR(a.body.n == 5);
    end(running(0), E_TRAP, "GuestTrapped");
    WAIT_FOR(a.ends);
    CHECK(a.r < 0);
    get("f");
    WAIT_FOR(sandboxes.starts == 3);
    head(running(0), 200, "content-length", "2");
    exchange_report_data(&running(0)->x, STR("12345")); /* longer */
    WAIT_FOR(a.ends);
    CHECK(a.r < 0);
    WAIT_FOR(sandboxes.cancels == 1 && sandboxes.running.n == 0);
    finish();
}

TEST(nonsense_heads_are_answered_with_502)
{
    static const int statuses[] = { 0, 99, 100, 101, 199, 600, -5 };
    begin();
    welcome("", 1);
    for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
        get("f");
        WAIT_FOR(sandboxes.running.n == 1);
        head(running(0), statuses[i], NULL, NULL);
        WAIT_FOR(a.ends);
        check_refused(&a, 502, "MalformedHead");
        WAIT_FOR(sandboxes.running.n == 0);
    }
    finish();
}

/* ---------------------------------------------------------------- bodies */

TEST(a_body_over_the_limit_is_413_with_or_without_a_length)
{
    begin();
    welcome("\"limits\":{\"bodyBytes\":100}", 1);
    static char big[40000];
    memset(big, 'x', sizeof big);
    request(client, &a, (struct http_call_opts){ .method = STR("POST"), .body = str_n(big, 200) },
            FIELDS("host", "f"));
    WAIT_FOR(a.ends);
    check_refused(&a, 413, "BodyTooLarge");
    CHECK_INT(sandboxes.starts, 0);
    request(
        client, &a,
        (struct http_call_opts){ .method = STR("POST"), .streams = true, .body_n = HTTP_CHUNKED },
        FIELDS("host", "f"));
    WAIT_FOR(sandboxes.starts == 1);
    (void)exchange_write(a.call, str_n(big, 99));
    WAIT_FOR(running(0)->body.n == 99);
    (void)exchange_write(a.call, str_n(big, 2));
    WAIT_FOR(a.ends);
    check_refused(&a, 413, "BodyTooLarge");
    WAIT_FOR(sandboxes.cancels == 1);
    finish();
}

TEST(bodies_stream_both_ways_with_back_pressure)
{
    static char block[32 << 10];
    begin();
    welcome("\"limits\":{\"bodyBytes\":100000000}", 1);
    request(
        client, &a,
        (struct http_call_opts){ .method = STR("POST"), .streams = true, .body_n = HTTP_CHUNKED },
        FIELDS("host", "f"));
    WAIT_FOR(sandboxes.starts == 1);
    struct invocation *x = running(0);
    x->full = true;
    size_t sent = 0;
    for (bool room = true; room && sent < (32 << 20); sent += sizeof block)
        room = exchange_write(a.call, str_n(block, sizeof block));
    turns(50);
    CHECK(x->body.n < (2 << 20)); /* what is full stays so, until it says otherwise */
    head(x, 200, NULL, NULL);
    size_t answered = 0;
    exchange_pause(a.call);
    while (!x->paused && answered < (64 << 20)) {
        exchange_report_data(&x->x, str_n(block, sizeof block));
        answered += sizeof block;
        turns(1);
    }
    CHECK(x->paused);
    exchange_resume(a.call);
    WAIT_FOR(!x->paused && a.body.n > 0);
    x->full = false;
    while (!x->body_ended) {
        size_t before = x->body.n;
        exchange_report_writable(&x->x);
        if (a.call && http_call_pending(a.call) == 0)
            exchange_end_body(a.call, NULL);
        WAIT_FOR(x->body.n > before || x->body_ended);
    }
    CHECK_INT(x->body.n, sent);
    end(x, 0, NULL);
    WAIT_FOR(a.ends);
    CHECK_INT(a.r, 0);
    CHECK_INT(a.body.n, answered);
    finish();
}

TEST(trailers_go_both_ways)
{
    begin();
    welcome("", 1);
    request(
        client2, &a,
        (struct http_call_opts){ .method = STR("POST"), .streams = true, .body_n = HTTP_CHUNKED },
        FIELDS("host", "f", "content-type", "application/grpc", "te", "trailers"));
    WAIT_FOR(sandboxes.starts == 1);
    struct invocation *x = running(0);
    CHECK_STR(headers_get(&x->headers, "te"), "trailers");
    struct headers t = { 0 };
    CHECK_OK(headers_addc(&t, "x-sum", "7"));
    (void)exchange_write(a.call, STR("ping"));
    exchange_end_body(a.call, &t);
    WAIT_FOR(x->body_ended);
    CHECK_INT(x->n_trailers, 1);
    head(x, 200, "content-type", "application/grpc");
    exchange_report_data(&x->x, STR("pong"));
    headers_reset(&t);
    CHECK_OK(headers_addc(&t, "grpc-status", "0"));
    exchange_report_trailers(&x->x, &t);
    end(x, 0, NULL);
    WAIT_FOR(a.ends);
    CHECK_STR(headers_get(&a.trailers, "grpc-status"), "0");
    headers_fini(&t);
    finish();
}

TEST(errors_of_grpc_calls_are_grpc_statuses)
{
    begin();
    welcome("", 1);
    request(client2, &a, (struct http_call_opts){ .method = STR("POST") },
            FIELDS("host", "nobody", "content-type", "application/grpc"));
    WAIT_FOR(a.ends);
    CHECK_INT(a.status, 200);
    CHECK_STR(headers_get(&a.headers, "grpc-status"), "12");
    CHECK_STR(headers_get(&a.headers, "x-dormouse-reason"), "UnknownFunction");
    finish();
}

/* ---------------------------------------------------------------- the control plane */

TEST(endpoints_change_by_versions_and_a_gap_asks_for_everything)
{
    begin();
    welcome("", 1);
    struct order *o = order_new();
    order_endpoints(o, 10, 11, false);
    order_add(o, 2, 1, NULL);
    order_send(o, &plane);
    o = order_new();
    order_endpoints(o, 12, 13, false); /* 11 to 12 is missing */
    order_send(o, &plane);
    WAIT_FOR(plane.hellos == 2);
    o = order_new();
    order_welcome(o, 1);
    order_function(o, 7, "f", ""); /* another number now */
    order_endpoints(o, 0, 20, true);
    order_add(o, 2, 7, NULL);
    order_send(o, &plane);
    CHECK(plane.was_all);
    sandboxes.answers = true;
    for (int i = 0; i < 3; i++) {
        get("f");
        WAIT_FOR(a.ends);
        CHECK_STR(buf_str(&a.body), "2");
    }
    WAIT_FOR(plane.load[7].finished == 3);
    finish();
}

TEST(a_draining_sandbox_finishes_and_is_reported)
{
    begin();
    welcome("", 2);
    get("f");
    WAIT_FOR(sandboxes.starts == 1);
    uint64_t busy = running(0)->sandbox, idle = 3 - busy;
    struct order *o = order_new();
    order_endpoints(o, 10, 11, false);
    o->ids[0] = busy;
    o->ids[1] = idle;
    o->ids[2] = 99;
    o->endpoints.drains = o->ids;
    o->endpoints.n_drains = 3;
    order_send(o, &plane);
    WAIT_FOR(plane.drained.n == 2); /* not known is as good as drained */
    CHECK_INT(plane.drained.p[0], idle);
    request(client, &b, (struct http_call_opts){ 0 }, FIELDS("host", "f"));
    WAIT_FOR(plane.load[1].queued == 1); /* nothing new goes there */
    answer(running(0), 200, "last");
    WAIT_FOR(a.ends);
    CHECK_STR(buf_str(&a.body), "last");
    WAIT_FOR(plane.drained.n == 3);
    CHECK_INT(plane.drained.p[2], busy);
    CHECK_INT(b.ends, 0);
    finish();
}

TEST(what_ran_in_a_lost_sandbox_runs_again_if_it_may)
{
    begin();
    welcome("", 1);
    get("f");
    WAIT_FOR(sandboxes.starts == 1);
    struct order *o = order_new();
    order_endpoints(o, 10, 11, false);
    order_add(o, 2, 1, NULL);
    o->ids[0] = 1;
    o->endpoints.removes = o->ids;
    o->endpoints.n_removes = 1;
    order_send(o, &plane);
    WAIT_FOR(sandboxes.starts == 2);
    CHECK_INT(running(0)->sandbox, 2);
    answer(running(0), 200, "ok");
    WAIT_FOR(a.ends);
    CHECK_STR(buf_str(&a.body), "ok");
    finish();
}

TEST(warm_requests_go_on_without_a_control_plane_and_cold_ones_are_told_to_the_next)
{
    begin();
    welcome("", 1);
    plane.refuse = true;
    plane_hang_up(&plane);
    turns(3);
    sandboxes.answers = true;
    get("f");
    WAIT_FOR(a.ends);
    CHECK_INT(a.status, 200);
    sandboxes.answers = false;
    get("f");
    WAIT_FOR(sandboxes.running.n == 1);
    request(client, &b, (struct http_call_opts){ 0 }, FIELDS("host", "f"));
    WAIT_FOR(plane.dials >= 4); /* and more with a growing pause */
    plane.refuse = false;
    plane.was_all = false;
    plane.load[1].queued = 0;
    WAIT_FOR(plane.hellos == 2);
    CHECK_INT(plane.hello_term, 1);
    struct order *o = order_new();
    order_welcome(o, 2);
    order_function(o, 3, "f", "");
    order_endpoints(o, 0, 5, true);
    order_add(o, 1, 3, NULL);
    order_send(o, &plane);
    WAIT_FOR(plane.load[3].queued == 1 && plane.load[3].running == 1);
    CHECK(plane.was_all);
    answer(running(0), 200, "1");
    answer(running(0), 200, "2");
    WAIT_FOR(a.ends && b.ends);
    finish();
}

TEST(sandboxes_that_a_new_leader_has_not_heard_of_serve_on_for_a_while)
{
    begin();
    welcome("", 2);
    plane_hang_up(&plane);
    WAIT_FOR(plane.hellos == 2);
    struct order *o = order_new();
    order_welcome(o, 2);
    order_function(o, 1, "f", "");
    order_endpoints(o, 0, 1, true); /* no worker has come yet */
    order_send(o, &plane);
    sandboxes.answers = true;
    get("f");
    WAIT_FOR(a.ends);
    CHECK_INT(a.status, 200);
    o = order_new();
    order_endpoints(o, 1, 2, false);
    order_add(o, 2, 1, NULL);
    order_send(o, &plane);
    pass(3100); /* the first one did not come */
    for (int i = 0; i < 3; i++) {
        get("f");
        WAIT_FOR(a.ends);
        CHECK_STR(buf_str(&a.body), "2");
    }
    sandboxes.answers = false;
    get("f");
    WAIT_FOR(sandboxes.running.n == 1);
    request(client, &b, (struct http_call_opts){ 0 }, FIELDS("host", "f"));
    WAIT_FOR(plane.load[1].queued == 1);
    finish();
}

TEST(a_deposed_control_plane_is_refused)
{
    begin();
    struct order *o = order_new();
    order_welcome(o, 5);
    order_function(o, 1, "f", "");
    order_endpoints(o, 0, 1, true);
    order_add(o, 1, 1, NULL);
    order_send(o, &plane);
    plane_hang_up(&plane);
    WAIT_FOR(plane.hellos == 2);
    CHECK_INT(plane.hello_term, 5);
    o = order_new();
    order_welcome(o, 4); /* knows nothing any more, and would take everything away */
    order_endpoints(o, 0, 1, true);
    order_send(o, &plane);
    WAIT_FOR(plane.hellos == 3);
    sandboxes.answers = true;
    get("f");
    WAIT_FOR(a.ends);
    CHECK_STR(buf_str(&a.body), "1");
    finish();
}

TEST(a_redirect_is_followed_at_once)
{
    begin();
    struct order *o = order_new();
    Dormouse__Fn__V1__Redirect to = DORMOUSE__FN__V1__REDIRECT__INIT;
    to.address = (char *)"10.0.0.7:9000";
    o->o.redirect = &to;
    order_send(o, &plane);
    WAIT_FOR(plane.hellos == 2);
    CHECK_STR(str_of(plane.address), "10.0.0.7:9000");
    welcome("", 0);
    finish();
}

/* An election that takes long sends it to and fro; the address that it is told at last counts. */
TEST(redirects_are_followed_again_after_many)
{
    begin();
    unsigned followed = 0;
    for (unsigned i = 0; i < 12; i++) {
        struct order *o = order_new();
        Dormouse__Fn__V1__Redirect to = DORMOUSE__FN__V1__REDIRECT__INIT;
        to.address = (char *)"10.0.0.7:9000";
        o->o.redirect = &to;
        order_send(o, &plane);
        WAIT_FOR(plane.hellos == i + 2);
        followed += strcmp(plane.address, "10.0.0.7:9000") == 0;
    }
    CHECK(followed == 9 || followed == 10); /* all but each fifth */
    welcome("", 0);
    finish();
}

TEST(a_welcome_in_parts_forgets_only_after_the_last)
{
    begin();
    struct order *o = order_new();
    order_welcome(o, 1);
    order_function(o, 1, "f", "");
    order_function(o, 2, "g", "");
    order_endpoints(o, 0, 1, true);
    order_add(o, 1, 1, NULL);
    order_add(o, 2, 2, NULL);
    order_send(o, &plane);
    request(client, &b, (struct http_call_opts){ 0 }, FIELDS("host", "g"));
    WAIT_FOR(sandboxes.running.n == 1);
    request(client, &many[0], (struct http_call_opts){ 0 }, FIELDS("host", "g"));
    WAIT_FOR(plane.load[2].queued == 1);
    plane_hang_up(&plane);
    WAIT_FOR(plane.hellos == 2);
    o = order_new();
    order_welcome(o, 1);
    order_function(o, 1, "g", "");
    o->o.more = true;
    order_send(o, &plane);
    o = order_new();
    order_endpoints(o, 0, 9, true);
    order_add(o, 2, 1, NULL);
    order_send(o, &plane);
    answer(running(0), 200, "");
    WAIT_FOR(b.ends && sandboxes.running.n == 1);
    answer(running(0), 200, "");
    WAIT_FOR(many[0].ends);
    CHECK_INT(many[0].status, 200);
    get("f");
    WAIT_FOR(a.ends);
    check_refused(&a, 404, "UnknownFunction");
    answer_reset(&many[0]);
    finish();
}

TEST(a_cold_start_does_not_repeat_what_warm_functions_do)
{
    begin();
    struct order *o = order_new();
    order_welcome(o, 1);
    order_function(o, 1, "f", "");
    order_function(o, 2, "g", "");
    order_endpoints(o, 0, 1, true);
    order_add(o, 1, 1, NULL);
    order_send(o, &plane);
    get("f");
    WAIT_FOR(plane.load[1].running == 1);
    unsigned reported = plane.load[1].reported;
    request(client, &b, (struct http_call_opts){ 0 }, FIELDS("host", "g"));
    WAIT_FOR(plane.load[2].queued == 1);
    CHECK_INT(plane.load[1].reported, reported);
    WAIT_FOR(plane.load[1].reported > reported); /* in its own time */
    CHECK(plane.load[1].concurrency_us > 300000);
    finish();
}

TEST(a_body_that_comes_after_its_function_has_gone_is_answered)
{
    begin();
    welcome("", 1);
    request(client, &a,
            (struct http_call_opts){ .method = STR("POST"), .streams = true, .body_n = 4 },
            FIELDS("host", "f"));
    (void)exchange_write(a.call, STR("da"));
    turns(10);
    CHECK_INT(sandboxes.starts, 0); /* small bodies are waited for */
    struct order *o = order_new();
    uint32_t gone = 1;
    o->o.functions_gone = &gone;
    o->o.n_functions_gone = 1;
    order_send(o, &plane);
    (void)exchange_write(a.call, STR("ta"));
    exchange_end_body(a.call, NULL);
    WAIT_FOR(a.ends);
    check_refused(&a, 404, "UnknownFunction");
    finish();
}

TEST(a_deleted_function_answers_what_waits)
{
    begin();
    welcome("", 0);
    get("f");
    WAIT_FOR(plane.load[1].queued == 1);
    struct order *o = order_new();
    uint32_t gone = 1;
    o->o.functions_gone = &gone;
    o->o.n_functions_gone = 1;
    order_send(o, &plane);
    WAIT_FOR(a.ends);
    check_refused(&a, 404, "UnknownFunction");
    finish();
}

TEST(what_waits_for_an_owner_without_an_address_is_answered)
{
    begin();
    welcome("", 0);
    get("f");
    WAIT_FOR(plane.load[1].queued == 1);
    struct order *o = order_new();
    order_member(o, "g2", "no address");
    order_send(o, &plane);
    WAIT_FOR(a.ends);
    check_refused(&a, 502, "GatewayLost");
    finish();
}

TEST(a_revision_that_cannot_start_fails_what_waits_at_once)
{
    begin();
    welcome("", 0);
    get("f");
    WAIT_FOR(plane.load[1].queued == 1);
    struct order *o = order_new();
    Dormouse__Fn__V1__Failure f = DORMOUSE__FN__V1__FAILURE__INIT, *fs = &f;
    f.function = 1;
    f.revision = 1;
    f.reason = (char *)"ModuleUnavailable";
    f.message = (char *)"no such file";
    f.is_permanent = true;
    o->o.failures = &fs;
    o->o.n_failures = 1;
    order_send(o, &plane);
    WAIT_FOR(a.ends);
    CHECK_INT(a.status, 503);
    CHECK(str_find(buf_str(&a.body), STR("no such file")) > 0);
    get("f");
    WAIT_FOR(a.ends);
    CHECK_INT(a.status, 503);
    o = order_new();
    f.reason = f.message = (char *)"";
    o->o.failures = &fs;
    o->o.n_failures = 1;
    order_send(o, &plane);
    get("f");
    WAIT_FOR(plane.load[1].queued == 1);
    finish();
}

TEST(a_namespace_may_ask_for_tokens_and_limit_requests)
{
    begin();
    welcome("", 1);
    sandboxes.answers = true;
    struct order *o = order_new();
    Dormouse__Fn__V1__Policy p = DORMOUSE__FN__V1__POLICY__INIT, *ps = &p;
    static uint8_t sha256_of_good[32] = { 0x77, 0x0e, 0x60, 0x7c };
    ProtobufCBinaryData token = { 32, sha256_of_good };
    p.namespace_ = (char *)"default";
    p.require_token = true;
    p.token_sha256 = &token;
    p.n_token_sha256 = 1;
    o->o.policies = &ps;
    o->o.n_policies = 1;
    order_send(o, &plane);
    request(client, &a, (struct http_call_opts){ 0 },
            FIELDS("host", "f", "authorization", "Bearer bad"));
    WAIT_FOR(a.ends);
    check_refused(&a, 401, "TokenRequired");
    o = order_new();
    p.require_token = false;
    p.requests_per_second = 2;
    o->o.policies = &ps;
    o->o.n_policies = 1;
    order_send(o, &plane);
    for (int i = 0; i < 2; i++) {
        get("f");
        WAIT_FOR(a.ends);
        CHECK_INT(a.status, 200);
    }
    get("f");
    WAIT_FOR(a.ends);
    check_refused(&a, 429, "RateLimited");
    pass(1000);
    get("f");
    WAIT_FOR(a.ends);
    CHECK_INT(a.status, 200);
    finish();
}

/* ---------------------------------------------------------------- from inside */

static struct {
    int status, r;
    unsigned ends;
    bool claims; /* the answer's head says what only a gateway, or a connection, may */
    char reason[32];
    struct buf body;
} inner;

static void inner_on_head(void *arg, int status, const struct headers *h)
{
    inner.status = status;
    inner.claims = headers_get(h, "x-dormouse-reason").p || headers_get(h, "connection").p;
}

static void inner_on_data(void *arg, struct str chunk)
{
    CHECK_OK(buf_add_str(&inner.body, chunk));
}

static void inner_on_end(void *arg, int r, const struct err *err)
{
    struct exchange *const *x = arg; /* or NULL */
    const char *reason = x ? exchange_reason(*x) : NULL;
    inner.ends++;
    inner.r = r;
    (void)snprintf(inner.reason, sizeof inner.reason, "%s", reason ? reason : "");
}

static const struct exchange_events inner_events = { .on_head = inner_on_head,
                                                     .on_data = inner_on_data,
                                                     .on_end = inner_on_end };

static void submit(struct exchange **ret)
{
    struct err err = { 0 };
    const struct invoke_request req = { .method = STR("POST"),
                                        .target = STR("/in"),
                                        .peer = STR("inside:0"),
                                        .has_body = true,
                                        .body = STR("whole"),
                                        .body_bytes = 5,
                                        .body_is_whole = true,
                                        .call_id = STR("call-7") };
    buf_fini(&inner.body);
    memset(&inner, 0, sizeof inner);
    inner.body = BUF_INIT(1 << 20);
    CHECK_OK(
        gateway_submit(gateway, STR("default"), STR("f"), &req, &inner_events, ret, ret, &err));
    CHECK_INT(inner.ends, 0);
}

TEST(requests_from_inside_take_the_same_way)
{
    begin();
    welcome("\"queue\":{\"max\":1},\"timeouts\":{\"queueMilliseconds\":1000}", 0);
    struct exchange *c, *d;
    struct err err = { 0 };
    const struct invoke_request req = { .method = STR("GET"), .target = STR("/") };
    CHECK_ERR(
        gateway_submit(gateway, STR("default"), STR("g"), &req, &inner_events, NULL, &c, &err),
        -ENOENT);
    struct headers tagged = { 0 };
    struct invoke_request to_tag = req;
    CHECK_OK(headers_addc(&tagged, "x-dormouse-tag", "no"));
    to_tag.headers = &tagged;
    CHECK_ERR(
        gateway_submit(gateway, STR("default"), STR("f"), &to_tag, &inner_events, NULL, &c, &err),
        -ENOENT);
    headers_fini(&tagged);
    submit(&c);
    CHECK_ERR(
        gateway_submit(gateway, STR("default"), STR("f"), &req, &inner_events, NULL, &d, &err),
        -EBUSY);
    WAIT_FOR(plane.load[1].queued == 1);
    pass(1100);
    WAIT_FOR(inner.ends);
    CHECK_INT(inner.r, -EBUSY);
    CHECK_STR(str_of(inner.reason), "QueueTimeout");
    submit(&c);
    exchange_cancel(c);
    WAIT_FOR(inner.ends);
    CHECK_INT(inner.r, -ECANCELED);
    submit(&c);
    exchange_pause(c); /* while it waits: holds for the attempt that follows */
    struct order *o = order_new();
    order_endpoints(o, 10, 11, false);
    order_add(o, 1, 1, NULL);
    order_send(o, &plane);
    CHECK_INT(sandboxes.running.n, 1);
    CHECK(running(0)->paused);
    exchange_resume(c);
    CHECK(!running(0)->paused);
    CHECK_STR(str_of(running(0)->call_id), "call-7");
    CHECK_STR(buf_str(&running(0)->body), "whole");
    CHECK(running(0)->body_ended);
    answer(running(0), 202, "in");
    CHECK_INT(inner.ends, 1);
    CHECK_INT(inner.status, 202);
    CHECK_STR(buf_str(&inner.body), "in");
    submit(&c);
    WAIT_FOR(sandboxes.running.n == 1);
    struct invocation *x = running(0);
    head(x, 200, "x-dormouse-reason", "QueueFull");
    CHECK_INT(inner.status, 200);
    CHECK(!inner.claims);
    end(x, 0, NULL);
    submit(&c);
    WAIT_FOR(sandboxes.running.n == 1);
    exchange_cancel(c);
    WAIT_FOR(inner.ends);
    buf_fini(&inner.body);
    finish();
}

TEST(all_that_are_in_use_are_told_also_when_a_message_has_no_room_for_them)
{
    enum { N = 4200, ALL_MS = 401 }; /* 4096 fit */
    static struct exchange *calls[N];
    const struct invoke_request req = { .method = STR("GET"), .target = STR("/") };
    struct err err = { 0 };
    char names[8][8];
    begin();
    memset(&inner, 0, sizeof inner);
    for (unsigned from = 0; from < N; from += 8) {
        struct order *o = order_new();
        if (from == 0)
            order_welcome(o, 1);
        for (unsigned i = from; i < from + 8; i++) { /* the last of them is number 1 */
            (void)snprintf(names[i - from], sizeof names[0], "f%u", i);
            order_function(o, i == N - 1 ? 1 : 100 + i, names[i - from], "");
        }
        order_endpoints(o, from, from + 8, from == 0);
        order_send(o, &plane);
    }
    for (unsigned i = 0; i < N; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "f%u", i);
        CHECK_OK(gateway_submit(gateway, STR("default"), str_of(name), &req, &inner_events, NULL,
                                &calls[i], &err));
    }
    WAIT_FOR(plane.load[1].queued == 1);
    for (unsigned i = 0; i < 3; i++) {
        unsigned reported = plane.load[1].reported, reports = plane.reports;
        pass(ALL_MS);
        WAIT_FOR(plane.reports > reports);
        reports = plane.reports;
        pass(ALL_MS);
        WAIT_FOR(plane.reports > reports);
        CHECK(plane.load[1].reported > reported);
    }
    for (unsigned i = 0; i < N; i++)
        exchange_cancel(calls[i]);
    WAIT_FOR(inner.ends == N);
    finish();
}

/* ---------------------------------------------------------------- stopping, metrics */

TEST(a_stop_lets_requests_finish_and_says_that_it_leaves)
{
    begin();
    welcome("", 1);
    get("f");
    request(client2, &b, (struct http_call_opts){ 0 }, FIELDS("host", "f"));
    WAIT_FOR(plane.load[1].queued == 1 && sandboxes.running.n == 1);
    gateway_stop(gateway, 10000, on_stopped, NULL);
    WAIT_FOR(plane.is_leaving);
    answer(running(0), 200, "one");
    WAIT_FOR(sandboxes.running.n == 1);
    answer(running(0), 200, "two");
    WAIT_FOR(a.ends && b.ends && stopped);
    CHECK_INT(a.r, 0);
    CHECK_INT(b.r, 0);
    finish();
}

TEST(a_stop_cuts_what_takes_too_long)
{
    begin();
    welcome("", 1);
    get("f");
    WAIT_FOR(sandboxes.running.n == 1);
    gateway_stop(gateway, 5000, on_stopped, NULL);
    turns(3);
    pass(5100);
    WAIT_FOR(a.ends);
    check_refused(&a, 503, "GatewayStopped");
    WAIT_FOR(stopped);
    finish();
}

TEST(metrics_have_knatives_names)
{
    begin();
    welcome("", 1);
    sandboxes.answers = true;
    get("f");
    WAIT_FOR(a.ends);
    turns(3);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1 << 20);
    gateway_metrics(gateway, &text);
    CHECK(str_find(buf_str(&text),
                   STR("revision_request_count{namespace_name=\"default\",configuration_name=\"f\","
                       "revision_name=\"f-00001\",response_code_class=\"2xx\"} 1\n")) >= 0);
    CHECK(str_find(buf_str(&text), STR("revision_request_latencies_count{")) >= 0);
    CHECK(str_find(buf_str(&text), STR("queue_depth{")) >= 0);
    finish();
}

TEST(metrics_of_many_functions_stay_short)
{
    begin();
    sandboxes.answers = true;
    static char names[600][8];
    for (unsigned from = 0; from < 600; from += 8) {
        struct order *o = order_new();
        if (from == 0)
            order_welcome(o, 1);
        for (unsigned i = from; i < from + 8; i++) {
            (void)snprintf(names[i], sizeof names[i], "f%u", i);
            order_function(o, 100 + i, names[i], "");
        }
        order_endpoints(o, from ? from : 0, from + 8, from == 0);
        for (unsigned i = from; i < from + 8; i++)
            order_add(o, i + 1, 100 + i, NULL);
        order_send(o, &plane);
    }
    size_t n = 0;
    for (unsigned i = 0; i < 600; i++) {
        get(names[i]);
        WAIT_FOR(a.ends);
        CHECK_INT(a.status, 200);
        if (i != 499 && i != 599)
            continue;
        scoped(buf_fini_scoped) struct buf text = BUF_INIT(64 << 20);
        gateway_metrics(gateway, &text);
        bool has_buckets = str_find(buf_str(&text), STR("latencies_bucket")) >= 0;
        CHECK(has_buckets == (i == 499));
        CHECK(str_find(buf_str(&text), STR("latencies_count")) >= 0);
        CHECK(n == 0 || text.n < n);
        n = text.n;
    }
    finish();
}

TEST(nothing_is_armed_once_all_is_at_rest)
{
    begin();
    welcome("", 1);
    sandboxes.answers = true;
    get("f");
    WAIT_FOR(a.ends);
    WAIT_FOR(plane.load[1].reported && plane.load[1].running == 0);
    http_client_close(client);
    http_client_close(client2);
    client = connect_to(1, false);
    client2 = connect_to(1, true);
    for (int i = 0; i < 10 && loop_next_timer_ms(&loop) != UINT64_MAX; i++)
        pass(300000);
    CHECK(loop_next_timer_ms(&loop) == UINT64_MAX);
    finish();
}

TEST_MAIN
