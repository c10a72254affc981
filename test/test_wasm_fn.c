/* SPDX-License-Identifier: Apache-2.0 */
/* Wasm functions in real runners, called as a gateway calls them. */
#include "wasm_fn_rig.h"

#include "base/sys.h"

static const char *const both[] = { "fn-reactor.wasm", "fn-command.wasm" };
static const char *const all[] = { "fn-reactor.wasm", "fn-init.wasm", "fn-command.wasm" };

static void check_body(struct fn_call *c, int status, const char *body)
{
    if (c->end < 0)
        TEST_FAIL("%s: %s", c->reason, err_text(&c->err));
    CHECK_INT(c->status, status);
    CHECK_STR(buf_str(&c->body), body);
}

static void check_end(struct fn_call *c, int end, const char *reason)
{
    CHECK_ERR(c->end, end);
    CHECK_STR(str_of(c->reason), reason);
}

TEST(a_request_gets_its_answer)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct fn_under_test f = { 0 };
        struct fn_call c = { 0 };
        fn_open(&rig, &f, all[i]);
        for (int n = 0; n < 20; n++) {
            fn_do(&f, &c, "/hello", NULL);
            check_body(&c, 200, "hello");
            CHECK_STR(headers_get(&c.headers, "content-type"), "text/plain");
            CHECK_STR(headers_get(&c.headers, "x-one"), "1");
            CHECK(!headers_get(&c.headers, "status").p);
            CHECK_STR(headers_get(&c.headers, "content-length"), "5");
        }
        fn_do(&f, &c, "/nowhere", NULL);
        check_body(&c, 404, "");
        fn_do(&f, &c, "/echo", "what was sent");
        check_body(&c, 200, "what was sent");
        fn_call_fini(&c);
        fn_close(&f);
    }
    fn_rig_close(&rig);
}

TEST(a_compilation_that_takes_a_while_is_told)
{
    struct fn_rig rig = { .compiling_ms = 1 };
    fn_rig_open(&rig, 1);
    struct fn_under_test f = { 0 };
    fn_open(&rig, &f, all[0]);
    CHECK(rig.compiling >= 1);
    fn_close(&f);
    fn_rig_close(&rig);
}

/* What one request does is never seen by the next, also after a trap, and wherever it was. */
TEST(every_request_finds_the_memory_as_after_initialisation)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        bool is_init = strcmp(all[i], "fn-init.wasm") == 0;
        static const char *const deeds[] = { "/poke/3", "/poke/40", "/poke/255", "/trap",
                                             "/grow",   "/hog",     "/exit/1",   "/exit/0",
                                             "/deep",   "/wild",    "/poke/10",  "/return/2" };
        struct fn_under_test f = { 0 };
        struct fn_call c = { 0 };
        fn_open(&rig, &f, all[i]);
        for (size_t k = 0; k < 2 * ARRAY_LEN(deeds); k++) {
            fn_do(&f, &c, "/count", NULL);
            check_body(&c, 200, is_init ? "1001" : "1");
            fn_do(&f, &c, "/late", NULL);
            check_body(&c, 200, is_init ? "8" : "7");
            fn_do(&f, &c, deeds[k % ARRAY_LEN(deeds)], NULL);
            fn_do(&f, &c, "/peek", NULL);
            /* one: the constant itself */
            check_body(&c, 200, "1");
        }
        fn_call_fini(&c);
        fn_close(&f);
    }
    fn_rig_close(&rig);
}

TEST(tables_and_segments_are_as_after_initialisation_too)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    struct fn_under_test f = { 0 };
    struct fn_call c = { 0 };
    if (fn_try_open(&rig, &f, "fn-table.wasm") == -ENOENT) {
        fn_rig_close(&rig);
        SKIP("no wat2wasm: fn-table.wasm was not built");
    }
    CHECK_OK(rig.create_status);
    for (int n = 0; n < 5; n++) {
        fn_do(&f, &c, "/", NULL);
        check_body(&c, 200, "AB5");
    }
    fn_call_fini(&c);
    fn_close(&f);
    fn_rig_close(&rig);
}

TEST(tables_count_towards_the_limit_of_a_guest)
{
    enum { LIMIT = 4 << 20, ELEMENT = 8 };
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    struct fn_under_test f = { .t.memory = LIMIT };
    struct fn_call c = { 0 };
    if (fn_try_open(&rig, &f, "fn-tables.wasm") == -ENOENT) {
        fn_rig_close(&rig);
        SKIP("no wat2wasm: fn-tables.wasm was not built");
    }
    CHECK_OK(rig.create_status);
    fn_do(&f, &c, "/", NULL);
    CHECK_INT(c.status, 200);
    CHECK_INT(c.body.n, 12);
    uint64_t units, pages;
    CHECK_OK(parse_u64(str_n(c.body.p, 6), 0, UINT32_MAX, &units));
    CHECK_OK(parse_u64(str_n(c.body.p + 6, 6), 0, UINT32_MAX, &pages));
    CHECK(units >= 3 * 16); /* some growth is possible */
    CHECK(pages >= 32);
    CHECK(units * 64 * ELEMENT + pages * 65536 <= LIMIT);
    fn_call_fini(&c);
    fn_close(&f);
    fn_rig_close(&rig);
}

TEST(too_many_or_too_large_tables_make_no_sandbox)
{
    static const char *const names[] = { "fn-many-tables.wasm", "fn-large-table.wasm" };
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct fn_under_test f = { 0 };
        int status = fn_try_open(&rig, &f, names[i]);
        if (status == -ENOENT) {
            fn_rig_close(&rig);
            SKIP("no wat2wasm: fn-many-tables.wasm was not built");
        }
        CHECK(status < 0);
        rig.runtime->ops->forget(rig.runtime, &f.r);
        if (!strstr(rig.create_err.text, "table"))
            TEST_FAIL("%s: '%s'", names[i], rig.create_err.text);
    }
    fn_rig_close(&rig);
}

TEST(with_reuse_an_instance_serves_one_request_after_another)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    struct fn_under_test f = { .t.reuse = true };
    struct fn_call c = { 0 };
    fn_open(&rig, &f, "fn-reactor.wasm");
    fn_do(&f, &c, "/count", NULL);
    check_body(&c, 200, "1");
    fn_do(&f, &c, "/count", NULL);
    check_body(&c, 200, "2");
    fn_do(&f, &c, "/poke/40", NULL); /* what the test below looks for is found here */
    fn_do(&f, &c, "/peek", NULL);
    check_body(&c, 200, "41");
    fn_do(&f, &c, "/trap", NULL); /* and a new one after it */
    check_end(&c, E_TRAP, "GuestTrapped");
    fn_do(&f, &c, "/count", NULL);
    check_body(&c, 200, "1");
    fn_call_fini(&c);
    fn_close(&f);
    fn_rig_close(&rig);
}

TEST(what_a_request_says_of_itself)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    struct headers h = { 0 };
    CHECK_OK(headers_addc(&h, "accept", "a"));
    CHECK_OK(headers_addc(&h, "accept", "b"));
    CHECK_OK(headers_addc(&h, "authorization", "secret"));
    CHECK_OK(headers_addc(&h, "proxy", "http://evil"));
    CHECK_OK(headers_addc(&h, "x_call_id", "forged"));
    CHECK_OK(headers_addc(&h, "content-type", "text/html"));
    struct fn_name_value env = { STR("REQUEST_METHOD"), STR("forged") };
    struct str arg = STR("one");
    for (size_t i = 0; i < ARRAY_LEN(both); i++) {
        struct fn_under_test f = { .t = { .args = &arg, .n_args = 1 },
                                   .r = { .env = &env, .n_env = 1 } };
        struct fn_call c = { 0 };
        fn_open(&rig, &f, both[i]);
        struct invoke_request q = fn_request(&f, "/head");
        q.method = STR("PUT");
        q.headers = &h;
        q.has_body = q.body_is_whole = true;
        q.body = STR("abc");
        q.body_bytes = 3;
        q.is_tls = true;
        q.script_name = STR("/fn/default/tested");
        fn_start(&f, &c, &q);
        FN_WAIT(&rig, c.is_over);
        check_body(&c, 200,
                   i == 0 ? ":method: PUT\n:target: /head\n:authority: tested.default:8080\n"
                            ":scheme: https\n:peer: 10.1.2.3:4567\n:call-id: call-1\n"
                            "content-length: 3\naccept: a\naccept: b\nauthorization: secret\n"
                            "proxy: http://evil\nx_call_id: forged\ncontent-type: text/html\n"
                          : "GATEWAY_INTERFACE=CGI/1.1\nSERVER_PROTOCOL=HTTP/1.1\n"
                            "SERVER_SOFTWARE=dormouse/" DORMOUSE_VERSION "\n"
                            "SERVER_NAME=tested.default\nSERVER_PORT=8080\nREQUEST_METHOD=PUT\n"
                            "REQUEST_URI=/head\nPATH_INFO=/head\nQUERY_STRING=\n"
                            "SCRIPT_NAME=/fn/default/tested\nREMOTE_ADDR=10.1.2.3\n"
                            "REMOTE_PORT=4567\nHTTPS=on\nCONTENT_TYPE=text/html\n"
                            "CONTENT_LENGTH=3\nX_CALL_ID=call-1\nHTTP_HOST=tested.default:8080\n"
                            "HTTP_ACCEPT=a, b\nREQUEST_METHOD=forged\n");
        fn_call_fini(&c);
        fn_close(&f);
    }
    headers_fini(&h);
    fn_rig_close(&rig);
}

/* Not only the first: instances are used again, with reuse and without. */
TEST(every_request_finds_the_environment)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    struct fn_name_value env = { STR("COLOUR"), STR("blue") };
    for (size_t i = 0; i < 2; i++) {
        struct fn_under_test f = { .t.reuse = i == 1, .r = { .env = &env, .n_env = 1 } };
        struct fn_call c = { 0 };
        fn_open(&rig, &f, "fn-reactor.wasm");
        for (int n = 0; n < 4; n++) {
            fn_do(&f, &c, "/env", NULL);
            check_body(&c, 200, "COLOUR=blue\n");
        }
        fn_call_fini(&c);
        fn_close(&f);
    }
    fn_rig_close(&rig);
}

/* A secret has changed: the sandboxes that are there keep the old one, new ones have the other. */
TEST(a_revision_may_have_two_environments_at_once)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    struct fn_name_value before = { STR("TOKEN"), STR("old") },
                         after = { STR("TOKEN"), STR("new") };
    struct fn_under_test a = { .r = { .revision = 7, .env = &before, .n_env = 1 } };
    struct fn_under_test b = { .r = { .revision = 7, .env = &after, .n_env = 1 } };
    struct fn_call c = { 0 };
    fn_open(&rig, &a, "fn-reactor.wasm");
    fn_open(&rig, &b, "fn-reactor.wasm");
    fn_do(&a, &c, "/env", NULL);
    check_body(&c, 200, "TOKEN=old\n");
    fn_do(&b, &c, "/env", NULL);
    check_body(&c, 200, "TOKEN=new\n");
    fn_close(&a);
    fn_do(&b, &c, "/env", NULL);
    check_body(&c, 200, "TOKEN=new\n");
    fn_open(&rig, &a, "fn-reactor.wasm"); /* the module of the one before is known */
    fn_do(&a, &c, "/env", NULL);
    check_body(&c, 200, "TOKEN=old\n");
    fn_close(&b);
    fn_close(&a);
    fn_call_fini(&c);
    fn_rig_close(&rig);
}

TEST(bodies_of_any_size_travel_both_ways)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    for (size_t i = 0; i < ARRAY_LEN(both); i++) {
        static const size_t sizes[] = { 0, 1, 60 << 10, 200 << 10, 3 << 20 };
        struct fn_under_test f = { 0 };
        fn_open(&rig, &f, both[i]);
        for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
            struct fn_call c = { 0 };
            struct buf sent = BUF_INIT((size_t)8 << 20);
            struct invoke_request q = fn_request(&f, "/echo");
            q.has_body = true;
            q.body_bytes = UINT64_MAX;
            fn_start(&f, &c, &q);
            for (size_t n = 0; n < sizes[k];) { /* in pieces, when there is room */
                char piece[10000];
                size_t m = MIN(sizeof piece, sizes[k] - n);
                for (size_t b = 0; b < m; b++)
                    piece[b] = (char)test_random();
                CHECK_OK(buf_add(&sent, piece, m));
                n += m;
                unsigned before = c.writables;
                if (exchange_write(c.x, str_n(piece, m)))
                    continue;
                FN_WAIT(&rig, c.writables > before);
            }
            exchange_end_body(c.x, NULL);
            FN_WAIT(&rig, c.is_over);
            CHECK_OK(c.end);
            CHECK(str_eq(buf_str(&c.body), buf_str(&sent)));
            buf_fini(&sent);
            fn_call_fini(&c);
        }
        fn_close(&f);
    }
    fn_rig_close(&rig);
}

TEST(small_writes_become_large_pieces)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    for (size_t i = 0; i < ARRAY_LEN(both); i++) {
        struct fn_under_test f = { 0 };
        struct fn_call c = { 0 };
        fn_open(&rig, &f, both[i]);
        fn_do(&f, &c, "/drip/20000", NULL);
        CHECK_INT(c.body.n, 20000);
        CHECK_INT(c.pieces, 1);
        fn_call_fini(&c);
        fn_close(&f);
    }
    fn_rig_close(&rig);
}

TEST(a_flush_leaves_at_once_and_a_wait_for_the_body_as_well)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    struct fn_under_test f = { 0 };
    struct fn_call c = { 0 };
    fn_open(&rig, &f, "fn-reactor.wasm");
    struct invoke_request q = fn_request(&f, "/flush");
    q.has_body = true;
    q.body_bytes = UINT64_MAX;
    fn_start(&f, &c, &q);
    FN_WAIT(&rig, c.body.n);
    check_body(&c, 200, "first");
    CHECK(!c.is_over);
    CHECK(exchange_write(c.x, STR("go on")));
    FN_WAIT(&rig, c.is_over);
    check_body(&c, 200, "firstsecond");
    fn_call_fini(&c);
    fn_close(&f);
    fn_rig_close(&rig);
}

/* Its guest waits, little is kept here, and others are served meanwhile. */
TEST(a_caller_that_stops_reading_stops_its_function)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    for (size_t i = 0; i < ARRAY_LEN(both); i++) {
        struct fn_under_test f = { 0 };
        struct fn_call slow = { .pause_after = 1 }, other = { 0 };
        fn_open(&rig, &f, both[i]);
        struct invoke_request q = fn_request(&f, "/big/30000000");
        fn_start(&f, &slow, &q);
        FN_WAIT(&rig, slow.is_paused);
        for (int n = 0; n < 50; n++) {
            fn_do(&f, &other, "/hello", NULL);
            check_body(&other, 200, "hello");
        }
        CHECK(slow.body.n < 1 << 20 && !slow.is_over);
        slow.pause_after = 0;
        slow.is_paused = false;
        exchange_resume(slow.x);
        FN_WAIT(&rig, slow.is_over);
        CHECK_OK(slow.end);
        CHECK_INT(slow.body.n, 30000000);
        fn_call_fini(&slow);
        fn_call_fini(&other);
        fn_close(&f);
    }
    fn_rig_close(&rig);
}

/* Also where its function flushes more often than an answer leaves by itself. */
TEST(a_caller_that_stops_reading_stops_a_function_that_flushes)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    struct fn_under_test f = { 0 };
    struct fn_call slow = { .pause_after = 1 }, other = { 0 };
    fn_open(&rig, &f, "fn-reactor.wasm");
    struct invoke_request q = fn_request(&f, "/gush/8388608");
    fn_start(&f, &slow, &q);
    FN_WAIT(&rig, slow.is_paused);
    for (int n = 0; n < 50; n++) {
        fn_do(&f, &other, "/hello", NULL);
        check_body(&other, 200, "hello");
    }
    CHECK(!slow.is_over);
    slow.pause_after = 0;
    slow.is_paused = false;
    exchange_resume(slow.x);
    FN_WAIT(&rig, slow.is_over);
    CHECK_OK(slow.end);
    CHECK_INT(slow.body.n, 8388608);
    fn_call_fini(&slow);
    fn_call_fini(&other);
    fn_close(&f);
    fn_rig_close(&rig);
}

TEST(guests_that_end_badly_say_why)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    static const struct {
        const char *path;
        int end;
        const char *reason, *text;
    } rows[] = {
        { "/trap", E_TRAP, "GuestTrapped", "unreachable code" },
        { "/deep", E_TRAP, "GuestTrapped", "" },
        { "/hog", E_TRAP, "GuestTrapped", "of memory in use" },
        { "/greedy", E_TRAP, "GuestTrapped", "KiB of memory were refused" },
        { "/wild", E_TRAP, "GuestTrapped", "" },
        { "/exit/3", E_TRAP, "GuestExited", "with 3" },
        { "/return/7", E_TRAP, "GuestExited", "with 7" },
        { "/hello", 0, "", "" },
    };
    for (size_t i = 0; i < ARRAY_LEN(both); i++)
        for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
            struct fn_under_test f = { .t.memory = 4 << 20 };
            struct fn_call c = { 0 };
            fn_open(&rig, &f, both[i]);
            fn_do(&f, &c, rows[k].path, NULL);
            check_end(&c, rows[k].end, rows[k].reason);
            if (!strstr(c.err.text, rows[k].text))
                TEST_FAIL("%s: '%s' lacks '%s'", rows[k].path, c.err.text, rows[k].text);
            fn_call_fini(&c);
            fn_close(&f);
        }
    struct wasm_runtime_stats s;
    wasm_runtime_get_stats(rig.runtime, &s);
    CHECK_INT(s.runner_losses, 0);
    CHECK_INT(s.running, 0);
    fn_rig_close(&rig);
}

TEST(a_reactor_that_says_nothing_answers_204_and_one_that_errs_is_told)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    struct fn_under_test f = { 0 };
    struct fn_call c = { 0 };
    fn_open(&rig, &f, "fn-reactor.wasm");
    fn_do(&f, &c, "/none", NULL);
    check_body(&c, 204, "");
    fn_do(&f, &c, "/badhead", NULL);
    check_body(&c, 200, "-111");
    fn_do(&f, &c, "/twice", NULL);
    check_body(&c, 200, "-1");
    fn_do(&f, &c, "/early", NULL);
    check_body(&c, 200, "-1");
    fn_do(&f, &c, "/badname", NULL);
    check_end(&c, E_TRAP, "MalformedHead");
    CHECK_INT(c.status, 0);
    fn_do(&f, &c, "/trailers", NULL);
    check_body(&c, 200, "body");
    CHECK_STR(headers_get(&c.trailers, "x-sum"), "4");
    fn_do(&f, &c, "/length/5", NULL);
    check_body(&c, 200, "12345");
    fn_do(&f, &c, "/length/4", NULL);
    check_end(&c, E_TRAP, "WrongLength");
    fn_do(&f, &c, "/length/6", NULL);
    check_end(&c, E_TRAP, "WrongLength");
    fn_call_fini(&c);
    fn_close(&f);
    fn_rig_close(&rig);
}

TEST(what_has_no_body_gets_none)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    for (size_t i = 0; i < ARRAY_LEN(both); i++) {
        struct fn_under_test f = { 0 };
        struct fn_call c = { 0 };
        fn_open(&rig, &f, both[i]);
        struct invoke_request q = fn_request(&f, i ? "/big/200000" : "/length/9");
        q.method = STR("HEAD");
        fn_start(&f, &c, &q);
        FN_WAIT(&rig, c.is_over);
        check_body(&c, 200, "");
        if (i == 0)
            CHECK_STR(headers_get(&c.headers, "content-length"), "9");
        if (i) {
            fn_do(&f, &c, "/raw/Status:204++body", NULL);
            check_body(&c, 204, "");
            CHECK(!headers_get(&c.headers, "content-length").p);
        }
        fn_call_fini(&c);
        fn_close(&f);
    }
    fn_rig_close(&rig);
}

TEST(output_of_a_command_is_a_head_and_a_body_or_refused)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    static const struct {
        const char *path;
        int status; /* 0: refused */
        const char *body;
    } rows[] = {
        { "/raw/Content-Type:x++body", 200, "body" },
        { "/raw/Location:/x++", 302, "" },
        { "/raw/Status:201 Made++a+b", 201, "a+b" },
        { "/raw/Status:404+Content-Type:x++", 404, "" },
        { "/raw/", 0, "" },
        { "/raw/no head", 0, "" },
        { "/raw/no head++", 0, "" },
        { "/raw/Content-Type:x+", 0, "" },
        { "/raw/X-Only:x++", 0, "" },
        { "/raw/Status:20++", 0, "" },
        { "/raw/Status:600++", 0, "" },
        { "/raw/++", 0, "" },
    };
    struct fn_under_test f = { 0 };
    struct fn_call c = { 0 };
    fn_open(&rig, &f, "fn-command.wasm");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        fn_do(&f, &c, rows[i].path, NULL);
        if (rows[i].status) {
            CHECK_OK(c.end);
            CHECK_INT(c.status, rows[i].status);
            for (size_t k = 0; k < c.body.n; k++)
                if (c.body.p[k] == '\n')
                    c.body.p[k] = '+';
            CHECK_STR(buf_str(&c.body), rows[i].body);
        } else {
            CHECK_INT(c.status, 0);
            check_end(&c, E_TRAP, "MalformedHead");
        }
    }
    fn_do(&f, &c, "/big/10", NULL);
    check_body(&c, 200, "xxxxxxxxxx");
    fn_call_fini(&c);
    fn_close(&f);
    fn_rig_close(&rig);
}

TEST(an_answer_over_the_limit_ends_the_request)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    for (size_t i = 0; i < ARRAY_LEN(both); i++) {
        struct fn_under_test f = { 0 };
        struct fn_call c = { 0 };
        fn_open(&rig, &f, both[i]);
        struct invoke_request q = fn_request(&f, "/big/200000");
        q.response_max = 100000;
        fn_start(&f, &c, &q);
        FN_WAIT(&rig, c.is_over);
        check_end(&c, E_TRAP, "ResponseTooLarge");
        CHECK(c.body.n <= 100000);
        fn_call_fini(&c);
        fn_close(&f);
    }
    fn_rig_close(&rig);
}

TEST(a_loop_ends_at_the_deadline_and_holds_up_nobody)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    struct fn_under_test f = { 0 };
    struct fn_call spin = { 0 }, other = { 0 };
    fn_open(&rig, &f, "fn-reactor.wasm");
    struct invoke_request q = fn_request(&f, "/spin");
    uint64_t begun = clock_mono_ms();
    q.deadline_ms = loop_now_ms(&rig.loop) + 2000;
    fn_start(&f, &spin, &q);
    unsigned n = 0;
    for (; !spin.is_over; n++) {
        fn_do(&f, &other, "/hello", NULL);
        check_body(&other, 200, "hello");
    }
    CHECK(n >= 5);
    CHECK(clock_mono_ms() - begun >= 1900);
    check_end(&spin, -ETIMEDOUT, "RequestTimeout");
    fn_do(&f, &other, "/peek", NULL);
    check_body(&other, 200, "1");
    fn_call_fini(&spin);
    fn_call_fini(&other);
    fn_close(&f);
    fn_rig_close(&rig);
}

TEST(a_request_whose_body_never_comes_ends_at_the_deadline)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    for (size_t i = 0; i < ARRAY_LEN(both); i++) {
        struct fn_under_test f = { 0 };
        struct fn_call c = { 0 };
        fn_open(&rig, &f, both[i]);
        struct invoke_request q = fn_request(&f, "/echo");
        q.has_body = true;
        q.body_bytes = 10;
        q.deadline_ms = loop_now_ms(&rig.loop) + 50;
        fn_start(&f, &c, &q);
        FN_WAIT(&rig, c.is_over);
        check_end(&c, -ETIMEDOUT, "RequestTimeout");
        fn_call_fini(&c);
        fn_close(&f);
    }
    fn_rig_close(&rig);
}

TEST(a_body_that_nobody_reads_does_no_harm)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    for (size_t i = 0; i < ARRAY_LEN(both); i++) {
        struct fn_under_test f = { 0 };
        struct fn_call c = { 0 };
        fn_open(&rig, &f, both[i]);
        for (int n = 0; n < 3; n++) {
            fn_do(&f, &c, "/hello", "never read");
            check_body(&c, 200, "hello");
            struct invoke_request q = fn_request(&f, "/hello"); /* nor sent */
            q.has_body = true;
            q.body_bytes = 10;
            fn_call_fini(&c);
            fn_start(&f, &c, &q);
            FN_WAIT(&rig, c.is_over);
            check_body(&c, 200, "hello");
        }
        fn_call_fini(&c);
        fn_close(&f);
    }
    fn_rig_close(&rig);
}

TEST(cancelled_at_any_time_a_request_ends_once)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    for (size_t i = 0; i < ARRAY_LEN(both); i++) {
        struct fn_under_test f = { 0 };
        fn_open(&rig, &f, both[i]);
        static const char *const paths[] = { "/hello", "/echo", "/spin", "/big/3000000" };
        for (unsigned turns = 0; turns < 6; turns++)
            for (size_t k = 0; k < ARRAY_LEN(paths); k++) {
                struct fn_call c = { .pause_after = k == 3 ? 1 : 0 };
                struct invoke_request q = fn_request(&f, paths[k]);
                q.has_body = true;
                q.body_bytes = UINT64_MAX;
                fn_start(&f, &c, &q);
                for (unsigned n = 0; n < turns && !c.is_over; n++)
                    (void)loop_turn(&rig.loop, false);
                if (!c.is_over) {
                    exchange_cancel(c.x);
                    FN_WAIT(&rig, c.is_over);
                    CHECK_ERR(c.end, -ECANCELED);
                }
                fn_call_fini(&c);
            }
        struct fn_call c = { 0 };
        fn_do(&f, &c, "/count", NULL);
        check_body(&c, 200, "1");
        fn_call_fini(&c);
        fn_close(&f);
    }
    fn_rig_close(&rig);
}

TEST(many_at_a_time_each_get_their_own)
{
    struct fn_rig rig = { 0 };
    enum { N = 600 };
    fn_rig_open(&rig, 2);
    for (size_t i = 0; i < ARRAY_LEN(both); i++) {
        struct fn_under_test f = { 0 };
        fn_open(&rig, &f, both[i]);
        static struct fn_call calls[N];
        char bodies[N][16];
        for (int n = 0; n < N; n++) {
            struct invoke_request q = fn_request(&f, "/echo");
            (void)snprintf(bodies[n], sizeof bodies[n], "body %d", n);
            q.has_body = q.body_is_whole = true;
            q.body = str_of(bodies[n]);
            q.body_bytes = q.body.n;
            calls[n] = (struct fn_call){ 0 };
            fn_start(&f, &calls[n], &q);
        }
        for (int n = 0; n < N; n++) {
            FN_WAIT(&rig, calls[n].is_over);
            check_body(&calls[n], 200, bodies[n]);
            fn_call_fini(&calls[n]);
        }
        fn_close(&f);
    }
    fn_rig_close(&rig);
}

TEST(requests_that_take_turns_keep_what_they_have_written)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    for (size_t i = 0; i < ARRAY_LEN(both); i++) {
        struct fn_under_test f = { 0 };
        struct fn_call calls[4] = { 0 };
        fn_open(&rig, &f, both[i]);
        for (size_t n = 0; n < ARRAY_LEN(calls); n++) {
            struct invoke_request q = fn_request(&f, "/slow");
            fn_start(&f, &calls[n], &q);
        }
        for (size_t n = 0; n < ARRAY_LEN(calls); n++) {
            FN_WAIT(&rig, calls[n].is_over);
            check_body(&calls[n], 200, "before after");
            fn_call_fini(&calls[n]);
        }
        fn_close(&f);
    }
    fn_rig_close(&rig);
}

TEST(more_that_wait_for_their_bodies_than_a_runner_has_room_for)
{
    struct fn_rig rig = { 0 };
    enum { N = 400 };
    fn_rig_open(&rig, 1);
    struct fn_under_test f = { 0 };
    fn_open(&rig, &f, "fn-reactor.wasm");
    static struct fn_call calls[N];
    for (int n = 0; n < N; n++) {
        struct invoke_request q = fn_request(&f, "/echo");
        q.has_body = true;
        q.body_bytes = 4;
        calls[n] = (struct fn_call){ 0 };
        fn_start(&f, &calls[n], &q);
    }
    for (int n = 0; n < N; n++) {
        (void)exchange_write(calls[n].x, STR("four"));
        exchange_end_body(calls[n].x, NULL);
    }
    for (int n = 0; n < N; n++) {
        FN_WAIT(&rig, calls[n].is_over);
        check_body(&calls[n], 200, "four");
        fn_call_fini(&calls[n]);
    }
    fn_close(&f);
    fn_rig_close(&rig);
}

TEST(a_runner_that_dies_takes_only_what_ran_there)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    struct fn_under_test f = { 0 };
    struct fn_call parked = { 0 }, calls[40] = { 0 };
    int pid;
    fn_open(&rig, &f, "fn-reactor.wasm");
    struct invoke_request q = fn_request(&f, "/flush"); /* begun, and waits */
    q.has_body = true;
    q.body_bytes = 3;
    fn_start(&f, &parked, &q);
    FN_WAIT(&rig, parked.body.n);
    CHECK_INT(wasm_runtime_pids(rig.runtime, &pid, 1), 1);
    CHECK_OK(kill(pid, SIGSTOP));
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        struct invoke_request hello = fn_request(&f, "/hello");
        fn_start(&f, &calls[i], &hello);
    }
    CHECK_OK(kill(pid, SIGKILL));
    FN_WAIT(&rig, parked.is_over);
    check_end(&parked, E_TRAP, "GuestTrapped");
    unsigned failed = 0;
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        FN_WAIT(&rig, calls[i].is_over);
        failed += calls[i].end < 0;
        if (calls[i].end == 0)
            check_body(&calls[i], 200, "hello");
        fn_call_fini(&calls[i]);
    }
    CHECK(failed <= 1); /* the one whose turn it was */
    fn_call_fini(&parked);
    fn_close(&f);
    fn_rig_close(&rig);
}

/* Whatever it says, nothing of it reaches a caller, and it is ended. */
TEST(a_runner_that_lies_is_not_believed)
{
    static const char *const tricks[] = { "fnend",    "fntoken",  "fndata",  "fnhead",
                                          "fnstatus", "fnresult", "fntwice", "fnearly",
                                          "fncall",   "fnid",     "fnlog" };
    const char *fake = getenv("TEST_FAKE_RUNNER");
    if (!fake)
        SKIP("TEST_FAKE_RUNNER is not set");
    for (size_t i = 0; i < ARRAY_LEN(tricks); i++) {
        struct fn_rig rig = { 0 };
        struct fn_under_test f = { 0 };
        struct fn_call c = { 0 };
        struct wasm_runtime_stats s;
        char path[512];
        (void)snprintf(path, sizeof path, "%s-%s", fake, tricks[i]);
        (void)unlink(path);
        CHECK_OK(symlink(fake, path));
        fn_rig_open_with(&rig, 1, path);
        fn_open(&rig, &f, "fn-reactor.wasm");
        struct invoke_request q = fn_request(&f, "/hello");
        fn_start(&f, &c, &q);
        FN_WAIT(&rig, c.is_over);
        if (c.end != E_TRAP || c.status)
            TEST_FAIL("%s: end %s, status %d", tricks[i], err_name(c.end), c.status);
        wasm_runtime_get_stats(rig.runtime, &s);
        CHECK_INT(s.runner_losses, 1);
        fn_call_fini(&c);
        fn_close(&f);
        fn_rig_close(&rig);
        (void)unlink(path);
    }
}

TEST(a_template_that_takes_its_runner_down_is_a_failed_creation)
{
    static const char *const tricks[] = { "fntemplate", "silent-exit", "garbage" };
    const char *fake = getenv("TEST_FAKE_RUNNER");
    if (!fake)
        SKIP("TEST_FAKE_RUNNER is not set");
    for (size_t i = 0; i < ARRAY_LEN(tricks); i++) {
        struct fn_rig rig = { 0 };
        struct fn_under_test f = { 0 };
        char path[512];
        (void)snprintf(path, sizeof path, "%s-%s", fake, tricks[i]);
        (void)unlink(path);
        CHECK_OK(symlink(fake, path));
        fn_rig_open_with(&rig, 1, path);
        CHECK_ERR(fn_try_open(&rig, &f, "fn-reactor.wasm"), E_TRAP);
        rig.runtime->ops->forget(rig.runtime, &f.r);
        fn_rig_close(&rig);
        (void)unlink(path);
    }
}

TEST(secrets_are_read_by_their_path)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    Dormouse__Fn__V1__SecretFile file = DORMOUSE__FN__V1__SECRET_FILE__INIT;
    char path[] = "db/password";
    uint8_t content[] = "open sesame";
    file.path = path;
    file.content.data = content;
    file.content.len = sizeof content - 1;
    const Dormouse__Fn__V1__SecretFile *const files[] = { &file };
    struct fn_under_test f = { .r = { .secrets = files, .n_secrets = 1 } };
    struct fn_call c = { 0 };
    fn_open(&rig, &f, "fn-reactor.wasm");
    fn_do(&f, &c, "/secret/db/password", NULL);
    check_body(&c, 200, "open sesame");
    fn_do(&f, &c, "/secret/db", NULL);
    check_body(&c, 200, "-2");
    fn_call_fini(&c);
    fn_close(&f);
    fn_rig_close(&rig);
}

static void read_log(struct fn_rig *rig, struct buf *to)
{
    char dir[96];
    (void)snprintf(dir, sizeof dir, "%s/logs", rig->dir);
    scoped(free_scoped) char *path = guest_log_path(dir, "default", "tested", false);
    FILE *file = fopen(path, "r");
    CHECK(file);
    char part[4096];
    for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;)
        CHECK_OK(buf_add(to, part, n));
    (void)fclose(file);
}

TEST(what_a_function_logs_and_how_it_ended_is_in_its_log)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct fn_under_test f = { 0 };
        struct fn_call c = { 0 };
        struct buf log = BUF_INIT(1 << 20);
        fn_open(&rig, &f, all[i]);
        fn_do(&f, &c, "/log", NULL);
        check_body(&c, 200, "logged");
        fn_do(&f, &c, "/json", NULL);
        fn_do(&f, &c, "/trap", NULL);
        read_log(&rig, &log);
        CHECK(str_find(buf_str(&log), STR("\"message\":\"watch out\"")) >= 0);
        CHECK(str_find(buf_str(&log), STR("call-1")) >= 0);
        CHECK(str_find(buf_str(&log), STR("\"level\":\"warn\",\"message\":\"structured\"")) >= 0);
        CHECK(str_find(buf_str(&log), STR("GuestTrapped: handle: unreachable")) >= 0 ||
              str_find(buf_str(&log), STR("GuestTrapped: _start: unreachable")) >= 0);
        if (i == 1)
            CHECK(str_find(buf_str(&log), STR("initialised")) >= 0);
        buf_fini(&log);
        fn_call_fini(&c);
        fn_close(&f);
    }
    fn_rig_close(&rig);
}

TEST(modules_that_are_no_functions_are_refused_with_a_reason)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    static const struct {
        const char *file, *text;
        int status;
    } rows[] = {
        { "missing.wasm", "in none of the module directories", -ENOENT },
        { "/etc/passwd", "outside of the module directories", E_DENIED },
        { "v1.wasm", "is no function", E_UNSUPPORTED },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fn_under_test f = { 0 };
        CHECK_ERR(fn_try_open(&rig, &f, rows[i].file), rows[i].status);
        if (!strstr(rig.create_err.text, rows[i].text))
            TEST_FAIL("'%s' lacks '%s'", rig.create_err.text, rows[i].text);
        rig.runtime->ops->forget(rig.runtime, &f.r);
    }
    struct fn_under_test f = { .t.sha256 = STR("0000") };
    CHECK_ERR(fn_try_open(&rig, &f, "fn-reactor.wasm"), E_DIGEST);
    rig.runtime->ops->forget(rig.runtime, &f.r);
    struct fn_under_test g = { .t.abi = FN_ABI_COMMAND };
    CHECK_ERR(fn_try_open(&rig, &g, "fn-reactor.wasm"), E_UNSUPPORTED);
    rig.runtime->ops->forget(rig.runtime, &g.r);
    fn_rig_close(&rig);
}

TEST(a_file_that_several_functions_share_is_read_once)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    struct fn_under_test f[4] = { 0 };
    struct fn_call c = { 0 };
    struct module_cache_stats s;
    for (size_t i = 0; i < ARRAY_LEN(f); i++) {
        fn_open(&rig, &f[i], "fn-reactor.wasm");
        fn_do(&f[i], &c, "/hello", NULL);
        check_body(&c, 200, "hello");
    }
    module_cache_stats(rig.cache, &s);
    CHECK_INT(s.hits + s.compiled, 1);
    fn_call_fini(&c);
    for (size_t i = 0; i < ARRAY_LEN(f); i++)
        fn_close(&f[i]);
    fn_rig_close(&rig);
}

TEST(an_initialisation_that_fails_makes_no_sandbox)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    struct fn_under_test f = { .t.memory = 1 << 20 }; /* too small for what it grows */
    int r = fn_try_open(&rig, &f, "fn-init.wasm");
    CHECK(r < 0);
    rig.runtime->ops->forget(rig.runtime, &f.r);
    fn_rig_close(&rig);
}

/* In C, Rust and Go, as far as this machine could build them. */
TEST(the_examples_greet_echo_and_forget)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    static const char *const files[] = { "fn-hello-c.wasm", "fn-hello-rust.wasm",
                                         "fn-hello-go.wasm" };
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        struct fn_under_test f = { 0 };
        struct fn_call c = { 0 };
        if (fn_try_open(&rig, &f, files[i]) == -ENOENT) {
            rig.runtime->ops->forget(rig.runtime, &f.r);
            continue;
        }
        if (rig.create_status < 0)
            TEST_FAIL("%s: %s", files[i], err_text(&rig.create_err));
        for (int n = 0; n < 10; n++) {
            fn_do(&f, &c, "/", NULL);
            check_body(&c, 200, "hello, world\n");
            fn_do(&f, &c, "/?a=b&name=J%C3%BCrgen+M.", NULL);
            check_body(&c, 200, "hello, J\xc3\xbcrgen M.\n");
            fn_do(&f, &c, "/", "what was sent");
            check_body(&c, 200, "what was sent");
            CHECK_STR(headers_get(&c.headers, "content-type"), "text/plain");
        }
        fn_do(&f, &c, "/elsewhere", NULL);
        check_body(&c, 404, "there is only /\n");
        fn_call_fini(&c);
        fn_close(&f);
    }
    fn_rig_close(&rig);
}

TEST(a_program_that_prints_is_a_function)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    struct fn_under_test f = { 0 };
    struct fn_call c = { 0 };
    fn_open(&rig, &f, "fn-cgi-c.wasm");
    fn_do(&f, &c, "/a%20b", NULL);
    check_body(&c, 200, "GET /a b\n");
    fn_do(&f, &c, "/x", "two\nlines\n");
    check_body(&c, 200, "POST /x\n2 lines, 10 bytes\n");
    fn_call_fini(&c);
    fn_close(&f);
    fn_rig_close(&rig);
}

TEST(a_revision_that_rests_holds_no_runner_and_is_back_at_once)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    struct fn_under_test f = { 0 };
    struct fn_call c = { 0 };
    struct wasm_runtime_stats s;
    fn_open(&rig, &f, "fn-reactor.wasm");
    for (int i = 0; i < 5; i++) {
        fn_do(&f, &c, "/count", NULL);
        check_body(&c, 200, "1");
        fn_close(&f);
        f.sandbox = 0;
        wasm_runtime_get_stats(rig.runtime, &s);
        CHECK_INT(s.revisions, 0);
        CHECK_INT(s.sandboxes, 0);
        fn_open(&rig, &f, "fn-reactor.wasm");
    }
    fn_close(&f);
    do {
        (void)loop_turn(&rig.loop, true);
        wasm_runtime_get_stats(rig.runtime, &s);
    } while (s.runners);
    CHECK_INT(s.runner_losses, 0);
    fn_call_fini(&c);
    fn_rig_close(&rig);
}

TEST(templates_that_are_not_used_give_way_to_others)
{
    struct fn_rig rig = { .templates_max = 3 };
    enum { N = 10 };
    struct fn_under_test f[N] = { 0 };
    struct fn_call c = { 0 }, parked = { 0 };
    fn_rig_open(&rig, 1);
    for (int i = 0; i < N; i++)
        fn_open(&rig, &f[i], i % 2 ? "fn-init.wasm" : "fn-reactor.wasm");
    struct invoke_request q = fn_request(&f[0], "/echo"); /* in use all the time */
    q.has_body = true;
    q.body_bytes = UINT64_MAX;
    fn_start(&f[0], &parked, &q);
    for (int n = 0; n < 100; n++) {
        int i = (int)(test_random() % N);
        fn_do(&f[i], &c, "/count", NULL);
        check_body(&c, 200, i % 2 ? "1001" : "1");
    }
    (void)exchange_write(parked.x, STR("still there"));
    exchange_end_body(parked.x, NULL);
    FN_WAIT(&rig, parked.is_over);
    check_body(&parked, 200, "still there");
    struct wasm_runtime_stats s;
    wasm_runtime_get_stats(rig.runtime, &s);
    CHECK_INT(s.runner_losses, 0);
    CHECK_INT(s.sandboxes, N);
    fn_call_fini(&parked);
    fn_call_fini(&c);
    for (int i = 0; i < N; i++)
        fn_close(&f[i]);
    fn_rig_close(&rig);
}

/* The module `name` of the guests, so large that there is quick code of it first, and new to every
 * cache. */
static void pad_module(const struct fn_rig *rig, const char *name, const char *as)
{
    enum { PAD = MODULE_QUICK_FROM_BYTES };
    scoped(buf_fini_scoped) struct buf wasm = BUF_INIT(BUF_MAX_DEFAULT);
    scoped(free_scoped) char *from = xasprintf("%s/%s", getenv("TEST_GUESTS_DIR"), name);
    scoped(free_scoped) char *to = xasprintf("%s/%s", rig->dir, as);
    CHECK_OK(sys_read_file(AT_FDCWD, from, &wasm, NULL));
    /* A custom section without a name: its length as LEB128 of three bytes. */
    const uint8_t head[] = { 0, (PAD & 0x7f) | 0x80, (PAD >> 7 & 0x7f) | 0x80, PAD >> 14, 0 };
    CHECK_OK(buf_add(&wasm, head, sizeof head));
    for (unsigned i = 0; i < PAD - 1; i++)
        CHECK_OK(buf_add_char(&wasm, (char)(test_random() & 0x7f)));
    CHECK_OK(sys_write_file_atomic(AT_FDCWD, to, buf_str(&wasm), 0600, NULL));
}

TEST(better_code_of_a_module_does_not_take_the_room_of_the_template_in_use)
{
    struct fn_rig rig = { .templates_max = 1 };
    struct fn_call c = { 0 };
    struct fn_under_test f = { 0 };
    struct module_cache_stats s;
    fn_rig_open(&rig, 1);
    pad_module(&rig, "fn-init.wasm", "padded.wasm");
    fn_open(&rig, &f, "padded.wasm");
    module_cache_stats(rig.cache, &s);
    CHECK_INT(s.quick, 1);
    fn_do(&f, &c, "/count", NULL);
    check_body(&c, 200, "1001");
    do {
        module_cache_stats(rig.cache, &s);
        (void)loop_turn(&rig.loop, s.background > 0);
    } while (s.background > 0);
    CHECK_INT(s.compiled, 1);
    loop_skip(&rig.loop, 1000);
    (void)loop_turn(&rig.loop, false);
    for (unsigned i = 0; i < 3; i++) {
        fn_do(&f, &c, "/count", NULL);
        check_body(&c, 200, "1001");
    }
    fn_call_fini(&c);
    fn_close(&f);
    fn_rig_close(&rig);
}

TEST(requests_of_a_sandbox_that_goes_may_end_first)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    struct fn_under_test f = { 0 };
    struct fn_call c = { 0 }, late = { 0 };
    fn_open(&rig, &f, "fn-reactor.wasm");
    struct invoke_request q = fn_request(&f, "/echo");
    q.has_body = true;
    q.body_bytes = UINT64_MAX;
    fn_start(&f, &c, &q);
    rig.runtime->ops->destroy(rig.runtime, f.sandbox, 60000);
    (void)loop_turn(&rig.loop, false);
    CHECK_ERR(invoke_start(rig.runtime->invoker, &q, &fn_call_events, &late, &late.x, NULL),
              -ECONNREFUSED);
    exchange_write(c.x, STR("the end"));
    exchange_end_body(c.x, NULL);
    FN_WAIT(&rig, c.is_over);
    check_body(&c, 200, "the end");
    FN_WAIT(&rig, rig.destroyed == 1);
    rig.runtime->ops->destroy(rig.runtime, 4711, 0); /* nobody knows it */
    FN_WAIT(&rig, rig.destroyed == 2);
    rig.runtime->ops->forget(rig.runtime, &f.r);
    fn_call_fini(&c);
    fn_rig_close(&rig);
}

TEST(after_the_grace_what_still_runs_is_ended)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    struct fn_under_test f = { 0 };
    struct fn_call c = { 0 };
    fn_open(&rig, &f, "fn-reactor.wasm");
    struct invoke_request q = fn_request(&f, "/spin");
    fn_start(&f, &c, &q);
    rig.runtime->ops->destroy(rig.runtime, f.sandbox, 20);
    FN_WAIT(&rig, c.is_over && rig.destroyed);
    check_end(&c, -ECONNRESET, "SandboxRemoved");
    rig.runtime->ops->forget(rig.runtime, &f.r);
    fn_call_fini(&c);
    fn_rig_close(&rig);
}

/* A revision whose requests take long goes to the runner for such, and comes back. */
TEST(slow_functions_leave_the_quick_ones_alone)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    struct fn_under_test f = { 0 }, quick = { 0 };
    struct fn_call c = { 0 };
    struct wasm_runtime_stats s;
    fn_open(&rig, &f, "fn-reactor.wasm");
    fn_open(&rig, &quick, "fn-command.wasm");
    wasm_runtime_get_stats(rig.runtime, &s);
    CHECK_INT(s.runners, 1);
    for (int n = 0; s.runners < 2; n++) {
        CHECK(n < 100);
        fn_do(&f, &c, "/slow", NULL);
        check_body(&c, 200, "before after");
        wasm_runtime_get_stats(rig.runtime, &s);
    }
    uint64_t starts = s.runner_starts;
    for (int n = 0; n < 100; n++) {
        fn_do(&f, &c, n % 10 ? "/count" : "/slow", NULL);
        CHECK_OK(c.end);
        fn_do(&quick, &c, "/count", NULL);
        check_body(&c, 200, "1");
    }
    wasm_runtime_get_stats(rig.runtime, &s);
    CHECK_INT(s.runner_losses, 0);
    CHECK(s.runner_starts <= starts + 2);
    fn_call_fini(&c);
    fn_close(&f);
    fn_close(&quick);
    fn_rig_close(&rig);
}

/* CPU time of all runners. */
static uint64_t runner_cpu_us(struct fn_rig *rig)
{
    int pids[8];
    uint64_t us = 0;
    size_t n = wasm_runtime_pids(rig->runtime, pids, ARRAY_LEN(pids));
    for (size_t i = 0; i < n; i++) {
        clockid_t clock;
        struct timespec t;
        if (clock_getcpuclockid(pids[i], &clock) == 0 && clock_gettime(clock, &t) == 0)
            us += (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
    }
    return us;
}

enum { GREEDY = 8, GREEDY_CALLS = 8, QUICK_CALLS = 20 };

/*
 * Many requests that never end, of many functions of one namespace. What a neighbour waits for is a
 * slice or two of them, counted as the CPU time that runners have had meanwhile.
 */
TEST(requests_that_loop_have_the_share_of_one)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    struct fn_under_test greedy[GREEDY] = { 0 }, quick = { .r.namespace = "modest" };
    static struct fn_call loops[GREEDY][GREEDY_CALLS];
    struct fn_call c = { 0 };
    fn_open(&rig, &quick, "fn-reactor.wasm");
    for (int i = 0; i < GREEDY; i++) {
        greedy[i].r.namespace = "greedy";
        fn_open(&rig, &greedy[i], "fn-reactor.wasm");
    }
    for (int i = 0; i < GREEDY; i++)
        for (int k = 0; k < GREEDY_CALLS; k++) {
            struct invoke_request q = fn_request(&greedy[i], "/spin");
            q.deadline_ms = loop_now_ms(&rig.loop) + 600000;
            fn_start(&greedy[i], &loops[i][k], &q);
        }
    struct wasm_runtime_stats s;
    do { /* each of them has begun, and has been interrupted */
        fn_do(&quick, &c, "/count", NULL);
        wasm_runtime_get_stats(rig.runtime, &s);
    } while (s.waiting);
    uint64_t before = runner_cpu_us(&rig);
    for (int n = 0; n < QUICK_CALLS; n++) {
        fn_do(&quick, &c, "/count", NULL);
        check_body(&c, 200, "1");
    }
    uint64_t us = runner_cpu_us(&rig) - before;
    /* The slow runner works as well, on its own core if there is one. */
    if (us > (uint64_t)QUICK_CALLS * 60000)
        TEST_FAIL("%d requests waited for %llu us of others", QUICK_CALLS, (unsigned long long)us);
    for (int i = 0; i < GREEDY; i++)
        for (int k = 0; k < GREEDY_CALLS; k++) {
            CHECK(!loops[i][k].is_over);
            exchange_cancel(loops[i][k].x);
            FN_WAIT(&rig, loops[i][k].is_over);
            fn_call_fini(&loops[i][k]);
        }
    fn_call_fini(&c);
    fn_close(&quick);
    for (int i = 0; i < GREEDY; i++)
        fn_close(&greedy[i]);
    fn_rig_close(&rig);
}

/* Not at its end, which may be minutes off. */
TEST(a_function_that_computes_beside_others_leaves_them_at_once)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    struct fn_under_test f = { 0 }, quick = { 0 };
    struct fn_call c = { 0 }, loop = { 0 };
    struct wasm_runtime_stats s;
    fn_open(&rig, &f, "fn-reactor.wasm");
    fn_open(&rig, &quick, "fn-command.wasm");
    struct invoke_request q = fn_request(&f, "/spin");
    q.deadline_ms = loop_now_ms(&rig.loop) + 600000;
    fn_start(&f, &loop, &q);
    uint64_t us = 0;
    do {
        CHECK(us < 5000000);
        fn_do(&quick, &c, "/count", NULL);
        check_body(&c, 200, "1");
        wasm_runtime_get_stats(rig.runtime, &s);
        us = runner_cpu_us(&rig);
    } while (s.runners < 2);
    CHECK(!loop.is_over);
    exchange_cancel(loop.x);
    FN_WAIT(&rig, loop.is_over);
    fn_call_fini(&loop);
    fn_call_fini(&c);
    fn_close(&f);
    fn_close(&quick);
    fn_rig_close(&rig);
}

enum { CHAOS_CALLS = 60, CHAOS_STEPS = 4000 };

struct chaos {
    struct fn_rig rig;
    struct fn_under_test f[3];
    struct fn_call calls[CHAOS_CALLS];
    bool is_open[CHAOS_CALLS], is_writing[CHAOS_CALLS], may_fail[CHAOS_CALLS];
    const char *path[CHAOS_CALLS];
    size_t sent[CHAOS_CALLS];
    bool has_killed; /* a runner */
};

static void chaos_begin(struct chaos *s, size_t i)
{
    static const char *const paths[] = {
        "/count",  "/echo", "/echo",     "/big/700000", "/trap",
        "/poke/9", "/peek", "/poke/200", "/spin",       "/drip/99"
    };
    struct fn_under_test *f = &s->f[test_random() % ARRAY_LEN(s->f)];
    s->path[i] = paths[test_random() % ARRAY_LEN(paths)];
    struct invoke_request q = fn_request(f, s->path[i]);
    s->is_writing[i] = q.has_body = strcmp(s->path[i], "/echo") == 0;
    q.body_bytes = UINT64_MAX;
    s->may_fail[i] = strcmp(s->path[i], "/trap") == 0;
    s->sent[i] = 0;
    if (strcmp(s->path[i], "/spin") == 0 || test_random() % 20 == 0) {
        q.deadline_ms = loop_now_ms(&s->rig.loop) + test_random() % 20;
        s->may_fail[i] = true;
    }
    s->calls[i].pause_after = test_random() % 8 ? 0 : 1;
    fn_start(f, &s->calls[i], &q);
    s->is_open[i] = true;
}

static void chaos_check(const struct chaos *s, size_t i)
{
    const struct fn_call *c = &s->calls[i];
    /* It may have begun after a runner was killed that was making the template for it. */
    bool is_early = s->has_killed && str_is(str_of(c->reason), "ModuleUnavailable");
    if (c->end < 0 && !s->may_fail[i] && !is_early)
        TEST_FAIL("%s: %s %s", s->path[i], c->reason, err_text(&c->err));
    if (c->end < 0)
        return;
    if (strcmp(s->path[i], "/count") == 0 || strcmp(s->path[i], "/peek") == 0)
        CHECK_STR(buf_str(&c->body), "1");
    if (strcmp(s->path[i], "/echo") == 0)
        CHECK_INT(c->body.n, s->sent[i]);
    if (strcmp(s->path[i], "/big/700000") == 0)
        CHECK_INT(c->body.n, 700000);
}

static void chaos_write(struct chaos *s, size_t i)
{
    static char piece[30000];
    struct fn_call *c = &s->calls[i];
    size_t n = test_random() % sizeof piece;
    if (test_random() % 4 == 0) {
        exchange_end_body(c->x, NULL);
        s->is_writing[i] = false;
        return;
    }
    s->sent[i] += n;
    (void)exchange_write(c->x, str_n(piece, n));
}

static void chaos_step(struct chaos *s)
{
    size_t i = test_random() % CHAOS_CALLS;
    struct fn_call *c = &s->calls[i];
    int pids[8];
    if (!s->is_open[i]) {
        chaos_begin(s, i);
    } else if (c->is_over) {
        chaos_check(s, i);
        fn_call_fini(c);
        s->is_open[i] = false;
    } else if (c->is_paused) {
        c->is_paused = false;
        c->pause_after = 0;
        exchange_resume(c->x);
    } else if (s->is_writing[i]) {
        chaos_write(s, i);
    } else if (test_random() % 16 == 0) {
        s->may_fail[i] = true;
        exchange_cancel(c->x);
    }
    if (test_random() % 500 == 0) {
        size_t n = wasm_runtime_pids(s->rig.runtime, pids, ARRAY_LEN(pids));
        for (size_t k = 0; k < CHAOS_CALLS; k++)
            s->may_fail[k] = true; /* whatever ran there */
        if (n)
            CHECK_OK(kill(pids[test_random() % n], SIGKILL));
        s->has_killed |= n > 0;
    }
    if (test_random() % 3 == 0)
        (void)loop_turn(&s->rig.loop, false);
}

static bool chaos_is_over(struct chaos *s)
{
    for (size_t i = 0; i < CHAOS_CALLS; i++) {
        struct fn_call *c = &s->calls[i];
        if (!s->is_open[i] || c->is_over)
            continue;
        if (c->is_paused) {
            c->is_paused = false;
            c->pause_after = 0;
            exchange_resume(c->x);
        } else if (s->is_writing[i]) {
            s->is_writing[i] = false;
            exchange_end_body(c->x, NULL);
        }
        return false;
    }
    return true;
}

TEST(whatever_happens_every_request_ends_once_and_sees_no_other)
{
    static struct chaos s;
    s = (struct chaos){ 0 };
    s.rig.templates_max = test_random() % 2 ? 2 : 0;
    fn_rig_open(&s.rig, 2);
    fn_open(&s.rig, &s.f[0], "fn-reactor.wasm");
    fn_open(&s.rig, &s.f[1], "fn-command.wasm");
    s.f[2].t.reuse = false;
    fn_open(&s.rig, &s.f[2], "fn-reactor.wasm");
    for (int n = 0; n < CHAOS_STEPS; n++)
        chaos_step(&s);
    while (!chaos_is_over(&s))
        (void)loop_turn(&s.rig.loop, true);
    for (size_t i = 0; i < CHAOS_CALLS; i++) {
        if (s.is_open[i])
            chaos_check(&s, i);
        fn_call_fini(&s.calls[i]);
    }
    struct wasm_runtime_stats stats;
    wasm_runtime_get_stats(s.rig.runtime, &stats);
    CHECK_INT(stats.running, 0);
    CHECK_INT(stats.waiting, 0);
    for (size_t i = 0; i < ARRAY_LEN(s.f); i++)
        fn_close(&s.f[i]);
    fn_rig_close(&s.rig);
}

TEST(closing_ends_what_runs_and_waits)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    struct fn_under_test f = { 0 };
    struct fn_call calls[100] = { 0 };
    fn_open(&rig, &f, "fn-reactor.wasm");
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        struct invoke_request q = fn_request(&f, i % 2 ? "/spin" : "/echo");
        q.has_body = i % 2 == 0;
        q.body_bytes = UINT64_MAX;
        fn_start(&f, &calls[i], &q);
    }
    (void)loop_turn(&rig.loop, false);
    fn_rig_close(&rig);
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        CHECK(calls[i].is_over && calls[i].end == -ECANCELED);
        fn_call_fini(&calls[i]);
    }
}

static void copy_guest(const char *name, const char *dir)
{
    char from[512], to[512];
    const char *guests = getenv("TEST_GUESTS_DIR");
    (void)snprintf(from, sizeof from, "%s/%s", guests ? guests : ".", name);
    (void)snprintf(to, sizeof to, "%s/moving.wasm", dir);
    char part[65536];
    FILE *in = fopen(from, "r"), *out = fopen(to, "w");
    CHECK(in && out);
    for (size_t n; (n = fread(part, 1, sizeof part, in)) > 0;)
        CHECK(fwrite(part, 1, n, out) == n);
    (void)fclose(in);
    (void)fclose(out);
}

TEST(a_module_file_that_is_replaced_serves_the_next_requests)
{
    struct fn_rig rig = { 0 };
    fn_rig_open(&rig, 1);
    struct fn_under_test f = { 0 };
    struct fn_call c = { 0 };
    char file[128];
    (void)snprintf(file, sizeof file, "%s/moving.wasm", rig.dir);
    copy_guest("fn-reactor.wasm", rig.dir);
    fn_open(&rig, &f, file);
    fn_do(&f, &c, "/count", NULL);
    check_body(&c, 200, "1");
    copy_guest("fn-init.wasm", rig.dir);
    do {
        (void)loop_turn(&rig.loop, false);
        fn_do(&f, &c, "/count", NULL);
        CHECK_OK(c.end);
    } while (str_is(buf_str(&c.body), "1"));
    check_body(&c, 200, "1001");
    fn_call_fini(&c);
    fn_close(&f);
    fn_rig_close(&rig);
}

TEST_MAIN
