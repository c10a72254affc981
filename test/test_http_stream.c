/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages that stream: request bodies that come as they come, answers before their end, trailers,
 * interim responses, upgrades, and what a caller may conclude when something breaks. HTTP/1.1 and
 * HTTP/2 behave alike, with TLS and without, so most tests run with all four.
 */
#include "io/http.h"
#include "io/tls.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "test.h"

#include <errno.h>
#include <malloc.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>

static struct loop loop;
static struct timer guard;

static void on_guard(struct timer *t)
{
    TEST_FAIL("waited in vain");
}

#define WAIT_FOR(cond)                                                                             \
    do {                                                                                           \
        timer_start(&loop, &guard, 60000, on_guard);                                               \
        while (!(cond))                                                                            \
            (void)loop_turn(&loop, true);                                                          \
        timer_stop(&loop, &guard);                                                                 \
    } while (0)

/* ------------------------------------------------------------------ the server under test */

static struct http_server *server;
static uint16_t port;

static struct seen {
    struct http_exchange *x;
    struct buf body;
    unsigned body_ends, gones;
    int body_r, gone_r;
    bool pauses; /* each piece */
    bool ended;  /* the test has said so */
    size_t most_pending;
    char trailer[32];
    char host[32], te[16], upgrade[16];
} seen;

static void keep(char *to, size_t n, struct str s)
{
    (void)snprintf(to, n, STR_FMT, STR_ARG(s));
}

static void seen_reset(void)
{
    buf_fini(&seen.body);
    seen = (struct seen){ .body = BUF_INIT(64 << 20) };
}

static void gone(struct http_exchange *x, int r)
{
    seen.gones++;
    seen.gone_r = r;
    seen.x = NULL;
}

/* What comes goes back at once, in front of its end. */
static void echo_body(struct http_exchange *x, struct str chunk)
{
    CHECK_OK(buf_add_str(&seen.body, chunk));
    if (!http_write(x, chunk))
        http_pause_body(x);
    seen.most_pending = MAX(seen.most_pending, http_write_pending(x));
}

static void echo_end(struct http_exchange *x, int r)
{
    seen.body_ends++;
    seen.body_r = r;
    if (r < 0)
        return;
    struct headers t = { 0 };
    const struct headers *got = http_request_trailers(x);
    if (got)
        keep(seen.trailer, sizeof seen.trailer, headers_get(got, "x-sum"));
    char n[24];
    (void)snprintf(n, sizeof n, "%zu", seen.body.n);
    CHECK_OK(headers_addc(&t, "x-bytes", n));
    CHECK_OK(headers_addc(&t, "x-sum", seen.trailer));
    http_trailers(x, &t);
    headers_fini(&t);
    http_end(x);
}

static void note_end(struct http_exchange *x, int r)
{
    seen.body_ends++;
    seen.body_r = r;
}

static void tunnel_body(struct http_exchange *x, struct str chunk)
{
    CHECK_OK(buf_add_str(&seen.body, chunk));
    if (!seen.ended)
        (void)http_write(x, chunk);
}

static void tunnel_end(struct http_exchange *x, int r)
{
    note_end(x, r);
    if (r < 0 || seen.ended)
        return;
    (void)http_write(x, STR("bye"));
    http_end(x);
}

static void collect(struct http_exchange *x, struct str chunk)
{
    CHECK_OK(buf_add_str(&seen.body, chunk));
    if (seen.pauses)
        http_pause_body(x);
}

static void serve_upgrade(struct http_exchange *x, const struct http_request *req)
{
    static const struct http_exchange_ops ops = { .on_body = tunnel_body,
                                                  .on_body_end = tunnel_end,
                                                  .on_gone = gone };
    struct headers h = { 0 };
    http_exchange_set(x, &ops, NULL);
    keep(seen.upgrade, sizeof seen.upgrade, headers_get(req->headers, "upgrade"));
    if (!req->upgrade) {
        http_reply(x, 426, NULL, STR("ask for it"));
        return;
    }
    CHECK_OK(headers_addc(&h, "upgrade", "echo"));
    http_upgrade(x, &h);
    headers_fini(&h);
    (void)http_write(x, STR("hi "));
    http_read_body(x, UINT64_MAX);
}

static void serve_informed(struct http_exchange *x)
{
    struct headers h = { 0 };
    CHECK_OK(headers_addc(&h, "link", "</a.css>"));
    http_inform(x, 103, &h);
    http_inform(x, 102, NULL);
    headers_fini(&h);
    http_reply(x, 200, NULL, STR("informed"));
}

static void on_request(struct http_exchange *x, const struct http_request *req, void *arg)
{
    static const struct http_exchange_ops echo = { .on_body = echo_body,
                                                   .on_body_end = echo_end,
                                                   .on_writable = http_resume_body,
                                                   .on_gone = gone };
    static const struct http_exchange_ops hold = { .on_body = collect,
                                                   .on_body_end = note_end,
                                                   .on_gone = gone };
    seen.x = x;
    keep(seen.host, sizeof seen.host, headers_get(req->headers, "host"));
    keep(seen.te, sizeof seen.te, headers_get(req->headers, "te"));
    if (str_is(req->target, "/echo")) {
        http_exchange_set(x, &echo, NULL);
        http_respond(x, 200, NULL, HTTP_CHUNKED);
        http_read_body(x, UINT64_MAX);
    } else if (str_is(req->target, "/upgrade")) {
        serve_upgrade(x, req);
    } else if (str_is(req->target, "/inform")) {
        http_exchange_set(x, &hold, NULL);
        serve_informed(x);
    } else if (str_is(req->target, "/early")) {
        http_exchange_set(x, &hold, NULL);
        http_reply(x, 200, NULL, STR("no need to go on"));
    } else { /* "/hold": the test goes on */
        http_exchange_set(x, &hold, NULL);
        if (!str_is(req->target, "/unread"))
            http_read_body(x, UINT64_MAX);
    }
}

static void setup_with(struct http_server_opts opts)
{
    struct err err = { 0 };
    CHECK_OK(loop_init(&loop, &err));
    opts.on_request = on_request;
    CHECK_OK(http_server_start(&loop, &opts, &server, &err));
    port = http_server_port(server);
    seen_reset();
}

static void on_done(void *arg)
{
    *(bool *)arg = true;
}

static void teardown(void)
{
    bool done = false;
    if (server)
        http_server_close(server, 100, on_done, &done);
    if (server)
        WAIT_FOR(done);
    server = NULL;
    while (loop_turn(&loop, false))
        ;
    loop_fini(&loop);
    seen_reset();
}

/* ------------------------------------------------------------------ the client under test */

static struct http_client *client;

static struct reply {
    struct exchange *call;
    int status, r;
    struct err err;
    unsigned heads, ends, writables, trailers, interims;
    char link[32], sum[32], bytes[32];
    struct buf body;
    bool sent, body_sent;
    int64_t reset_code;
    size_t left, most_pending; /* of what pour() still writes */
    bool cancels;              /* in on_trailers */
} reply;

static void on_head(void *arg, int status, const struct headers *headers)
{
    reply.heads++;
    reply.status = status;
    CHECK_INT(reply.heads, 1);
}

static void on_data(void *arg, struct str chunk)
{
    CHECK_INT(reply.trailers + reply.ends, 0);
    CHECK_OK(buf_add_str(&reply.body, chunk));
}

static void on_end(void *arg, int r, const struct err *err)
{
    CHECK_INT(reply.ends++, 0);
    reply.r = r;
    reply.err = *err;
    reply.sent = http_call_was_sent(reply.call);
    reply.body_sent = http_call_body_was_sent(reply.call);
    reply.reset_code = http_call_reset_code(reply.call);
    CHECK(exchange_write(reply.call, STR("too late, and no fault")));
    exchange_end_body(reply.call, NULL);
    reply.call = NULL;
}

static void on_interim(void *arg, int status, const struct headers *headers)
{
    CHECK_INT(reply.heads, 0);
    reply.interims++;
    if (status == 103)
        keep(reply.link, sizeof reply.link, headers_get(headers, "link"));
}

static void on_trailers(void *arg, const struct headers *trailers)
{
    CHECK_INT(reply.trailers++, 0);
    keep(reply.sum, sizeof reply.sum, headers_get(trailers, "x-sum"));
    keep(reply.bytes, sizeof reply.bytes, headers_get(trailers, "x-bytes"));
    if (reply.cancels)
        exchange_cancel(reply.call);
}

static char piece[24 << 10];

static void pour(void *arg)
{
    while (reply.left) {
        size_t n = MIN(reply.left, sizeof piece);
        reply.left -= n;
        bool more = exchange_write(reply.call, str_n(piece, n));
        reply.most_pending = MAX(reply.most_pending, http_call_pending(reply.call));
        if (!more)
            return;
    }
    struct headers t = { 0 };
    CHECK_OK(headers_addc(&t, "x-sum", "all there"));
    CHECK_OK(headers_addc(&t, "content-length", "7")); /* not as a trailer */
    exchange_end_body(reply.call, &t);
    headers_fini(&t);
}

static void on_writable(void *arg)
{
    reply.writables++;
    pour(NULL);
}

static const struct exchange_events call_events = { .on_head = on_head,
                                                    .on_data = on_data,
                                                    .on_end = on_end,
                                                    .on_trailers = on_trailers,
                                                    .on_writable = on_writable };

static void begin(struct http_call_opts opts)
{
    struct err err = { 0 };
    buf_fini(&reply.body);
    reply = (struct reply){ .body = BUF_INIT(64 << 20) };
    if (!opts.method.n)
        opts.method = STR("POST");
    opts.events = &call_events;
    opts.on_interim = on_interim;
    CHECK_OK(http_call_start(client, &opts, &reply.call, &err));
}

static void begin_stream(const char *target, uint64_t body_n)
{
    begin((struct http_call_opts){ .target = str_of(target), .streams = true, .body_n = body_n });
}

static void client_setup(struct http_client_opts opts)
{
    struct err err = { 0 };
    if (!opts.unix_path)
        opts.host = "127.0.0.1";
    if (!opts.port)
        opts.port = port;
    CHECK_OK(http_client_new(&loop, &opts, &client, &err));
}

static void client_teardown(void)
{
    http_client_close(client);
    client = NULL;
    buf_fini(&reply.body);
    reply = (struct reply){ 0 };
}

static struct tls_ctx *server_tls, *client_tls;

static void make_tls(void)
{
    static const char *const names[] = { "127.0.0.1" };
    struct buf ca = BUF_INIT(1 << 16), ca_key = ca, cert = ca, key = ca;
    struct err err = { 0 };
    CHECK_OK(x509_make_ca("test", &ca, &ca_key, &err));
    CHECK_OK(
        x509_make_server(buf_str(&ca), buf_str(&ca_key), "test", names, 1, 1, &cert, &key, &err));
    CHECK_OK(tls_ctx_new_server(buf_str(&cert), buf_str(&key), STR(""), &server_tls, &err));
    CHECK_OK(tls_ctx_new_client(buf_str(&ca), STR(""), STR(""), false, &client_tls, &err));
    buf_fini(&ca);
    buf_fini(&ca_key);
    buf_fini(&cert);
    buf_fini(&key);
}

static void free_tls(void)
{
    tls_ctx_free(server_tls);
    tls_ctx_free(client_tls);
    server_tls = client_tls = NULL;
}

/* With each HTTP, or HTTP/1.1 only, in clear text and with TLS. */
static void run_all(void (*run)(bool http2), bool both)
{
    for (int i = 0; i < 4; i += both ? 1 : 2) {
        bool http2 = i & 1, tls = i & 2;
        if (tls)
            make_tls();
        setup_with((struct http_server_opts){ .http2 = http2, .tls = server_tls });
        client_setup((struct http_client_opts){ .http2 = http2, .tls = client_tls });
        run(http2);
        client_teardown();
        teardown();
        free_tls();
    }
}

#define TEST_EACH(name, both)                                                                      \
    static void each_##name(bool http2);                                                           \
    TEST(name)                                                                                     \
    {                                                                                              \
        run_all(each_##name, both);                                                                \
    }                                                                                              \
    static void each_##name(bool http2)
#define TEST_BOTH(name)  TEST_EACH(name, true)
#define TEST_HTTP1(name) TEST_EACH(name, false)

/* ------------------------------------------------------------------ bodies */

TEST_BOTH(a_large_body_streams_with_back_pressure_and_trailers)
{
    for (size_t i = 0; i < sizeof piece; i++)
        piece[i] = (char)('a' + i % 23);
    begin_stream("/echo", HTTP_CHUNKED);
    reply.left = 6 << 20;
    pour(NULL);
    CHECK(reply.left > 0); /* there is no connection yet, and it does not gather */
    WAIT_FOR(reply.ends);
    CHECK_INT(reply.r, 0);
    CHECK_INT(reply.body.n, 6 << 20);
    CHECK(str_eq(buf_str(&reply.body), buf_str(&seen.body)));
    for (size_t i = 0; i < reply.body.n; i++)
        CHECK(reply.body.p[i] == piece[i % sizeof piece]);
    CHECK(reply.writables > 0);
    CHECK(reply.most_pending <= HTTP_WRITE_HIGH_BYTES + sizeof piece + 16);
    CHECK(seen.most_pending <= 2 * HTTP_WRITE_HIGH_BYTES);
    CHECK(strcmp(seen.trailer, "all there") == 0);
    CHECK(strcmp(reply.sum, "all there") == 0);
    CHECK(strcmp(reply.bytes, "6291456") == 0);
    CHECK(reply.sent && reply.body_sent);
    WAIT_FOR(seen.gones);
    CHECK_INT(seen.gone_r, 0);
}

TEST_BOTH(a_counted_body_streams_and_leaves_the_connection_usable)
{
    for (int i = 0; i < 3; i++) {
        seen_reset();
        begin_stream("/echo", 2 * sizeof piece);
        reply.left = 2 * sizeof piece;
        pour(NULL);
        WAIT_FOR(reply.ends && seen.gones);
        CHECK_INT(reply.r, 0);
        CHECK_INT(reply.body.n, 2 * sizeof piece);
        CHECK_INT(http_server_connections(server), 1);
    }
}

TEST_BOTH(an_answer_comes_while_the_request_goes_on)
{
    begin((struct http_call_opts){
        .target = STR("/echo"), .streams = true, .body_n = HTTP_CHUNKED, .body = STR("0") });
    WAIT_FOR(reply.body.n == 1);
    for (size_t i = 1; i < 10; i++) {
        char digit = (char)('0' + i);
        CHECK(exchange_write(reply.call, str_n(&digit, 1)));
        WAIT_FOR(reply.body.n == i + 1);
        CHECK_INT(http_call_pending(reply.call), 0);
        CHECK_INT(reply.ends + seen.body_ends, 0);
    }
    exchange_end_body(reply.call, NULL);
    WAIT_FOR(reply.ends);
    CHECK_STR(buf_str(&reply.body), "0123456789");
    CHECK_INT(reply.r, 0);
}

TEST_BOTH(a_body_may_be_empty)
{
    begin_stream("/echo", HTTP_CHUNKED);
    exchange_end_body(reply.call, NULL);
    WAIT_FOR(reply.ends && seen.gones);
    CHECK_INT(reply.r, 0);
    CHECK_INT(reply.body.n, 0);
    CHECK(strcmp(reply.bytes, "0") == 0);
    begin_stream("/echo", 0);
    exchange_end_body(reply.call, NULL);
    WAIT_FOR(reply.ends);
    CHECK_INT(reply.r, 0);
}

TEST_BOTH(an_early_answer_ends_the_call)
{
    begin_stream("/early", HTTP_CHUNKED);
    CHECK(exchange_write(reply.call, STR("the first of many")));
    WAIT_FOR(reply.ends);
    CHECK_INT(reply.r, 0);
    CHECK_STR(buf_str(&reply.body), "no need to go on");
    begin((struct http_call_opts){ .method = STR("GET"), .target = STR("/early") });
    WAIT_FOR(reply.ends);
    CHECK_INT(reply.r, 0);
}

TEST_BOTH(a_reader_that_pauses_holds_up_the_writer)
{
    begin_stream("/unread", HTTP_CHUNKED);
    reply.left = 64 << 20;
    pour(NULL);
    WAIT_FOR(seen.x);
    for (int i = 0; i < 200; i++)
        (void)loop_turn(&loop, false);
    CHECK(reply.left > 40 << 20); /* what the kernel and the windows hold is little */
    seen.pauses = true;
    http_read_body(seen.x, UINT64_MAX);
    for (int i = 0; i < 20; i++)
        (void)loop_turn(&loop, false);
    CHECK(reply.left > 40 << 20);
    exchange_cancel(reply.call);
    WAIT_FOR(reply.ends);
    CHECK_ERR(reply.r, -ECANCELED);
    seen.pauses = false;
    if (seen.x)
        http_resume_body(seen.x);
    WAIT_FOR(seen.gones);
    CHECK_ERR(seen.gone_r, -ECONNRESET);
}

TEST_BOTH(a_body_that_is_short_fails_the_call)
{
    begin_stream("/hold", 10);
    CHECK(exchange_write(reply.call, STR("four")));
    WAIT_FOR(seen.body.n == 4);
    exchange_end_body(reply.call, NULL);
    CHECK_INT(reply.ends, 0);
    WAIT_FOR(reply.ends && seen.gones);
    CHECK_ERR(reply.r, -EINVAL);
    CHECK_ERR(seen.body_r, -ECONNRESET);
}

TEST_BOTH(a_silent_body_may_be_allowed)
{
    begin_stream("/hold", HTTP_CHUNKED);
    CHECK(exchange_write(reply.call, STR("a")));
    WAIT_FOR(seen.body.n == 1);
    http_let_body_idle(seen.x);
    loop_skip(&loop, 10 * HTTP_BODY_IDLE_TIMEOUT_MS);
    for (int i = 0; i < 5; i++)
        (void)loop_turn(&loop, false);
    CHECK_INT(seen.gones, 0);
    CHECK(exchange_write(reply.call, STR("b")));
    WAIT_FOR(seen.body.n == 2);
    CHECK_INT(loop_next_timer_ms(&loop) == UINT64_MAX, 1);
    exchange_end_body(reply.call, NULL);
    WAIT_FOR(seen.body_ends);
    http_reply(seen.x, 204, NULL, STR(""));
    WAIT_FOR(reply.ends);
    CHECK_INT(reply.status, 204);
}

TEST_BOTH(trailers_may_end_the_caller_s_interest)
{
    begin_stream("/echo", HTTP_CHUNKED);
    exchange_end_body(reply.call, NULL);
    reply.cancels = true;
    WAIT_FOR(reply.ends);
    CHECK_INT(reply.trailers, 1);
    CHECK_ERR(reply.r, -ECANCELED);
}

TEST_BOTH(interim_responses_are_handed_on)
{
    begin((struct http_call_opts){ .method = STR("GET"), .target = STR("/inform") });
    WAIT_FOR(reply.ends);
    CHECK_INT(reply.interims, 2);
    CHECK(strcmp(reply.link, "</a.css>") == 0);
    CHECK_INT(reply.status, 200);
    CHECK_STR(buf_str(&reply.body), "informed");
}

TEST_BOTH(fields_of_one_connection_stay_there)
{
    struct headers h = { 0 };
    CHECK_OK(headers_addc(&h, "te", "trailers"));
    CHECK_OK(headers_addc(&h, "host", "other:1"));
    CHECK_OK(headers_addc(&h, "connection", "close, te"));
    CHECK_OK(headers_addc(&h, "keep-alive", "5"));
    CHECK_OK(headers_addc(&h, "upgrade", "echo"));
    CHECK_OK(headers_addc(&h, "transfer-encoding", "gzip"));
    CHECK_OK(headers_addc(&h, "content-length", "99"));
    begin((struct http_call_opts){ .target = STR("/upgrade"), .headers = &h });
    WAIT_FOR(reply.ends);
    CHECK_INT(reply.r, 0);
    CHECK_INT(reply.status, 426);
    CHECK(strcmp(seen.te, "trailers") == 0);
    CHECK(strcmp(seen.host, "other:1") == 0);
    CHECK(strcmp(seen.upgrade, "") == 0);
    headers_fini(&h);
}

/* ------------------------------------------------------------------ tunnels */

static void begin_upgrade_to(const char *protocol, const char *target)
{
    struct headers h = { 0 };
    CHECK_OK(headers_addc(&h, "upgrade", protocol));
    begin((struct http_call_opts){
        .method = STR("GET"), .target = str_of(target), .headers = &h, .upgrade = true });
    headers_fini(&h);
}

static void begin_upgrade(const char *target)
{
    begin_upgrade_to("echo", target);
}

TEST_HTTP1(nobody_is_upgraded_to_http2)
{
    begin_upgrade_to("h2c", "/upgrade");
    WAIT_FOR(reply.ends);
    CHECK_INT(reply.status, 426);
    begin_upgrade_to("echo, H2C", "/upgrade");
    WAIT_FOR(reply.ends);
    CHECK_INT(reply.status, 426);
}

TEST_HTTP1(an_upgrade_makes_a_tunnel)
{
    begin_upgrade("/upgrade");
    WAIT_FOR(reply.body.n == 3);
    CHECK_INT(reply.status, 101);
    CHECK(strcmp(seen.upgrade, "echo") == 0);
    CHECK(exchange_write(reply.call, STR("0\r\n\r\n")));
    WAIT_FOR(reply.body.n == 8);
    exchange_pause(reply.call);
    CHECK(exchange_write(reply.call, STR("held")));
    for (int i = 0; i < 20; i++)
        (void)loop_turn(&loop, false);
    CHECK_INT(reply.body.n, 8);
    exchange_resume(reply.call);
    WAIT_FOR(reply.body.n == 12);
    CHECK_INT(loop_next_timer_ms(&loop) == UINT64_MAX, 1); /* silence is no fault */
    exchange_end_body(reply.call, NULL);
    WAIT_FOR(reply.ends && seen.gones);
    CHECK_INT(reply.r, 0);
    CHECK_STR(buf_str(&reply.body), "hi 0\r\n\r\nheldbye");
    CHECK_INT(seen.body_r, 0);
    CHECK_INT(seen.gone_r, 0);
    WAIT_FOR(http_server_connections(server) == 0);
}

TEST_HTTP1(a_tunnel_ends_with_its_server)
{
    begin_upgrade("/upgrade");
    WAIT_FOR(reply.body.n == 3);
    seen.ended = true;
    http_end(seen.x);
    WAIT_FOR(reply.ends);
    CHECK_INT(reply.r, 0);
    WAIT_FOR(seen.gones);
    CHECK_INT(seen.gone_r, 0);

    seen_reset();
    begin_upgrade("/upgrade");
    WAIT_FOR(reply.body.n == 3);
    http_abort(seen.x);
    WAIT_FOR(reply.ends);
    CHECK_ERR(reply.r, -ECONNRESET);

    seen_reset();
    begin_upgrade("/upgrade");
    WAIT_FOR(reply.body.n == 3);
    exchange_cancel(reply.call);
    WAIT_FOR(reply.ends && seen.gones);
    CHECK_ERR(reply.r, -ECANCELED);
    CHECK_ERR(seen.gone_r, -ECONNRESET);
}

TEST(a_peer_that_does_not_end_its_tunnel_is_cut)
{
    setup_with((struct http_server_opts){ .half_closed_ms = 100000 });
    struct sockaddr_in a = { .sin_family = AF_INET,
                             .sin_port = htons(port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    static const char hello[] =
        "GET /upgrade HTTP/1.1\r\nhost: a\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n";
    CHECK_OK(connect(fd, (struct sockaddr *)&a, sizeof a));
    CHECK_INT(send(fd, hello, sizeof hello - 1, 0), sizeof hello - 1);
    WAIT_FOR(seen.x);
    seen.ended = true;
    http_end(seen.x);
    for (int i = 0; i < 3; i++) { /* not while it goes on */
        CHECK_INT(send(fd, "more", 4, 0), 4);
        WAIT_FOR(seen.body.n == 4 * (size_t)(i + 1));
        loop_skip(&loop, 60000);
        for (int j = 0; j < 5; j++)
            (void)loop_turn(&loop, false);
        CHECK_INT(seen.gones, 0);
    }
    loop_skip(&loop, 200000);
    WAIT_FOR(seen.gones);
    CHECK_ERR(seen.gone_r, -ETIMEDOUT);
    (void)close(fd);
    teardown();
}

TEST_HTTP1(a_refused_upgrade_is_a_response_like_any_other)
{
    begin_upgrade("/early");
    WAIT_FOR(reply.ends);
    CHECK_INT(reply.status, 200);
    begin_upgrade("/upgrade");
    WAIT_FOR(reply.body.n == 3);
    CHECK_INT(http_server_connections(server), 1);
    exchange_cancel(reply.call);
    WAIT_FOR(reply.ends);
}

TEST_HTTP1(a_large_tunnel_has_back_pressure)
{
    begin_upgrade("/upgrade");
    WAIT_FOR(reply.body.n == 3);
    reply.left = 32 << 20;
    pour(NULL);
    CHECK(reply.left > 0);
    WAIT_FOR(reply.ends);
    CHECK_INT(reply.body.n, (32 << 20) + 6);
}

/* ------------------------------------------------------------------ a server made by hand */

static int listener = -1, peer = -1;

static void peer_listen(void)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof a;
    struct err err = { 0 };
    CHECK_OK(loop_init(&loop, &err));
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_OK(bind(listener, (struct sockaddr *)&a, sizeof a));
    CHECK_OK(listen(listener, 8));
    CHECK_OK(getsockname(listener, (struct sockaddr *)&a, &n));
    port = ntohs(a.sin_port);
}

static void peer_accept(void)
{
    peer = accept(listener, NULL, NULL);
    CHECK(peer >= 0);
}

/* Whatever has come so far. */
static struct str peer_read(void)
{
    static char bytes[64 << 10];
    ssize_t n = recv(peer, bytes, sizeof bytes, MSG_DONTWAIT);
    return str_n(bytes, n < 0 ? 0 : (size_t)n);
}

static void peer_say(struct str s)
{
    CHECK_INT(send(peer, s.p, s.n, MSG_NOSIGNAL), (ssize_t)s.n);
}

static void peer_reset(void)
{
    struct linger none = { .l_onoff = 1 };
    CHECK_OK(setsockopt(peer, SOL_SOCKET, SO_LINGER, &none, sizeof none));
    (void)close(peer);
    peer = -1;
}

static void peer_close(void)
{
    client_teardown();
    if (peer >= 0)
        (void)close(peer);
    (void)close(listener);
    peer = listener = -1;
    while (loop_turn(&loop, false))
        ;
    loop_fini(&loop);
}

static void turns(int n)
{
    while (n--)
        (void)loop_turn(&loop, false);
}

/* Until these bytes have come from the other side; the ones before them are dropped. */
static void peer_await(struct str bytes)
{
    struct buf got = BUF_INIT(1 << 20);
    for (uint64_t until = clock_mono_ns() + 20000000000ULL; str_find(buf_str(&got), bytes) < 0;) {
        CHECK(clock_mono_ns() < until);
        (void)loop_turn(&loop, false);
        CHECK_OK(buf_add_str(&got, peer_read()));
    }
    buf_fini(&got);
}

/* Whatever was said before has been read: a PING comes back. */
static void peer_sync(void)
{
    peer_say(STR("\0\0\x8\6\0\0\0\0\0in order"));
    peer_await(STR("\0\0\x8\6\1\0\0\0\0in order"));
}

TEST(a_refused_connection_has_sent_nothing)
{
    peer_listen();
    (void)close(listener);
    for (int http2 = 0; http2 < 2; http2++) {
        client_setup((struct http_client_opts){ .http2 = http2 });
        begin_stream("/x", HTTP_CHUNKED);
        CHECK(exchange_write(reply.call, STR("body")));
        exchange_end_body(reply.call, NULL);
        WAIT_FOR(reply.ends);
        CHECK_ERR(reply.r, -ECONNREFUSED);
        CHECK(!reply.sent && !reply.body_sent);
        CHECK_INT(reply.reset_code, -1);
        if (http2 == 0)
            client_teardown();
    }
    listener = -1;
    peer_close();
}

TEST(a_socket_that_is_not_there_has_sent_nothing)
{
    struct err err = { 0 };
    CHECK_OK(loop_init(&loop, &err));
    client_setup((struct http_client_opts){ .unix_path = "/nonexistent/socket" });
    begin((struct http_call_opts){ .target = STR("/"), .body = STR("b") });
    WAIT_FOR(reply.ends);
    CHECK_ERR(reply.r, -ENOENT);
    CHECK(!reply.sent);
    peer_close();
}

TEST(a_reset_after_the_request_says_so)
{
    peer_listen();
    client_setup((struct http_client_opts){ 0 });
    begin((struct http_call_opts){ .target = STR("/"), .body = STR("body") });
    CHECK(!http_call_was_sent(reply.call));
    peer_accept();
    while (peer_read().n == 0)
        turns(1);
    CHECK(http_call_was_sent(reply.call) && http_call_body_was_sent(reply.call));
    peer_reset();
    WAIT_FOR(reply.ends);
    CHECK_ERR(reply.r, -ECONNRESET);
    CHECK(reply.sent && reply.body_sent);
    peer_close();
}

TEST(a_head_without_body_is_told_apart)
{
    peer_listen();
    client_setup((struct http_client_opts){ 0 });
    begin_stream("/", HTTP_CHUNKED);
    peer_accept();
    while (peer_read().n == 0)
        turns(1);
    peer_reset();
    WAIT_FOR(reply.ends);
    CHECK_ERR(reply.r, -ECONNRESET);
    CHECK(reply.sent && !reply.body_sent);
    peer_close();
}

TEST(a_silent_server_is_a_timeout_that_was_sent)
{
    peer_listen();
    client_setup((struct http_client_opts){ 0 });
    begin((struct http_call_opts){ .target = STR("/"), .head_timeout_ms = 60000 });
    WAIT_FOR(http_call_was_sent(reply.call));
    loop_skip(&loop, 60001);
    WAIT_FOR(reply.ends);
    CHECK_ERR(reply.r, -ETIMEDOUT);
    CHECK(reply.sent);
    peer_close();
}

/* The clock of a streamed request begins with its end. */
TEST(a_streamed_request_waits_for_its_head_after_its_end)
{
    peer_listen();
    client_setup((struct http_client_opts){ 0 });
    begin((struct http_call_opts){
        .target = STR("/"), .streams = true, .body_n = 4, .head_timeout_ms = 1000 });
    peer_accept();
    while (peer_read().n == 0)
        turns(1);
    loop_skip(&loop, 5000);
    turns(5);
    CHECK_INT(reply.ends, 0);
    CHECK(exchange_write(reply.call, STR("body")));
    exchange_end_body(reply.call, NULL);
    loop_skip(&loop, 1001);
    WAIT_FOR(reply.ends);
    CHECK_ERR(reply.r, -ETIMEDOUT);
    peer_close();
}

/* "Too large", and the rest of the body is not read: its answer counts, not the broken pipe. */
TEST(an_answer_before_a_broken_connection_counts)
{
    peer_listen();
    client_setup((struct http_client_opts){ 0 });
    begin_stream("/", HTTP_CHUNKED);
    reply.left = 64 << 20;
    pour(NULL);
    peer_accept();
    while (peer_read().n == 0)
        turns(1);
    turns(20);
    CHECK(reply.left > 0);
    peer_say(STR("HTTP/1.1 413 Content Too Large\r\ncontent-length: 8\r\n\r\nno more!"));
    (void)close(peer); /* with bytes unread: a reset */
    peer = -1;
    WAIT_FOR(reply.ends);
    CHECK_INT(reply.r, 0);
    CHECK_INT(reply.status, 413);
    CHECK_STR(buf_str(&reply.body), "no more!");
    peer_close();
}

static void answer(const char *text)
{
    client_setup((struct http_client_opts){ 0 });
    begin((struct http_call_opts){ .method = STR("GET"), .target = STR("/") });
    peer_accept();
    while (peer_read().n == 0)
        turns(1);
    peer_say(str_of(text));
    WAIT_FOR(reply.ends);
}

TEST(what_a_server_may_not_answer)
{
    static const struct {
        const char *text;
        int r;
    } cases[] = {
        { "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
          E_PARSE },
        { "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx y: 1\r\n\r\n", E_PARSE },
        { "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx: 1\r\n y\r\n\r\n", E_PARSE },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        peer_listen();
        answer(cases[i].text);
        CHECK_ERR(reply.r, cases[i].r);
        peer_close();
    }
}

TEST(too_many_interims_and_too_long_trailers_end_a_call)
{
    struct buf b = BUF_INIT(64 << 10);
    for (int i = 0; i <= HTTP_INTERIMS_MAX; i++)
        CHECK_OK(buf_add_cstr(&b, "HTTP/1.1 102 Processing\r\n\r\n"));
    peer_listen();
    answer(buf_cstr(&b));
    CHECK_ERR(reply.r, E_LIMIT);
    CHECK_INT(reply.interims, HTTP_INTERIMS_MAX);
    peer_close();

    buf_reset(&b);
    CHECK_OK(buf_add_cstr(&b, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n"));
    for (int i = 0; i < 200; i++)
        CHECK_OK(buf_printf(&b, "x-%d: %0100d\r\n", i, i));
    CHECK_OK(buf_add_cstr(&b, "\r\n"));
    peer_listen();
    answer(buf_cstr(&b));
    CHECK_ERR(reply.r, E_LIMIT);
    CHECK_INT(reply.trailers, 0);
    peer_close();
    buf_fini(&b);
}

TEST(a_lost_peer_is_found_by_a_ping_while_a_stream_is_open)
{
    peer_listen();
    client_setup((struct http_client_opts){ .http2 = true, .ping_ms = 60000 });
    begin_stream("/", HTTP_CHUNKED);
    peer_accept();
    while (peer_read().n == 0)
        turns(1);
    peer_say(STR("\0\0\0\4\0\0\0\0\0")); /* SETTINGS: it speaks HTTP/2 */
    peer_sync();
    loop_skip(&loop, 60100);
    peer_await(STR("alive?"));
    CHECK_INT(reply.ends, 0);
    peer_say(STR("\0\0\x8\6\1\0\0\0\0alive?\0\0")); /* its answer */
    peer_sync();
    loop_skip(&loop, 60100);
    peer_await(STR("alive?"));
    loop_skip(&loop, HTTP_PING_TIMEOUT_MS + 100);
    WAIT_FOR(reply.ends);
    CHECK_ERR(reply.r, -ETIMEDOUT);
    peer_close();
}

TEST(a_server_finds_a_lost_client_by_a_ping)
{
    setup_with((struct http_server_opts){ .http2 = true, .ping_ms = 60000 });
    struct sockaddr_in a = { .sin_family = AF_INET,
                             .sin_port = htons(port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    peer = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_OK(connect(peer, (struct sockaddr *)&a, sizeof a));
    /* Preface, SETTINGS, and HEADERS of GET /hold without their end. */
    peer_say(STR("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"
                 "\0\0\x0c\1\4\0\0\0\1\x82\x86\x04\5/hold\x41\1a"));
    WAIT_FOR(seen.x);
    loop_skip(&loop, 60100);
    peer_await(STR("alive?"));
    loop_skip(&loop, HTTP_PING_TIMEOUT_MS + 100);
    WAIT_FOR(seen.gones);
    CHECK_ERR(seen.gone_r, -ETIMEDOUT);
    (void)close(peer);
    peer = -1;
    teardown();
}

/* ------------------------------------------------------------------ many clients, many servers */

TEST(a_client_at_rest_is_small_and_has_no_timer)
{
    enum { N = 1000 };
    static struct http_client *many[N];
    struct err err = { 0 };
    CHECK_OK(loop_init(&loop, &err));
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < N; i++)
        CHECK_OK(http_client_new(
            &loop, &(struct http_client_opts){ .host = "127.0.0.1", .port = 80 }, &many[i], &err));
    size_t each = (mallinfo2().uordblks - before) / N;
    (void)printf("# %zu bytes each\n", each);
    CHECK(each <= 400);
    CHECK_INT(loop_next_timer_ms(&loop) == UINT64_MAX, 1);
    for (int i = 0; i < N; i++)
        http_client_close(many[i]);
    while (loop_turn(&loop, false))
        ;
    loop_fini(&loop);
}

/* A call on a thread that ends; the client and its loop are freed by another thread. */
struct guest {
    struct loop loop;
    struct http_client *client;
    bool is_over;
};

static void on_guest_end(void *arg, int r, const struct err *err)
{
    CHECK_ERR(r, -ECONNREFUSED);
    ((struct guest *)arg)->is_over = true;
}

static void *guest_main(void *arg)
{
    static const struct exchange_events events = { .on_end = on_guest_end };
    struct guest *g = arg;
    struct exchange *call;
    CHECK_OK(loop_init(&g->loop, NULL));
    CHECK_OK(http_client_new(&g->loop, &(struct http_client_opts){ .host = "127.0.0.1", .port = 1 },
                             &g->client, NULL));
    CHECK_OK(
        http_call_start(g->client,
                        &(struct http_call_opts){
                            .method = STR("GET"), .target = STR("/"), .events = &events, .arg = g },
                        &call, NULL));
    while (!g->is_over)
        (void)loop_turn(&g->loop, true);
    return NULL;
}

static void use_on_another_thread(void)
{
    pthread_t thread;
    struct guest g = { 0 };
    CHECK_INT(pthread_create(&thread, NULL, guest_main, &g), 0);
    CHECK_INT(pthread_join(thread, NULL), 0);
    http_client_close(g.client);
    loop_run(&g.loop);
    loop_fini(&g.loop);
}

TEST(a_thread_that_used_a_client_leaves_no_memory)
{
    enum { ROUNDS = 64, LEFT_MAX_BYTES = 16 << 10 };
    for (int i = 0; i < 4; i++)
        use_on_another_thread();
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < ROUNDS; i++)
        use_on_another_thread();
    size_t after = mallinfo2().uordblks;
    (void)printf("# %zu bytes before, %zu after %d threads\n", before, after, ROUNDS);
    CHECK(after < before + LEFT_MAX_BYTES);
}

TEST(a_connection_in_use_is_kept_and_an_idle_one_closed_by_its_age)
{
    for (int http2 = 0; http2 < 2; http2++) {
        setup_with((struct http_server_opts){ .http2 = http2, .keepalive_ms = 1000000000 });
        client_setup((struct http_client_opts){ .http2 = http2 });
        for (int i = 0; i < 5; i++) { /* the timer of the first rest is over in between */
            begin((struct http_call_opts){ .target = STR("/early") });
            WAIT_FOR(reply.ends);
            CHECK_INT(reply.r, 0);
            loop_skip(&loop, HTTP_CLIENT_IDLE_MS / 2);
            turns(5);
            CHECK_INT(http_server_connections(server), 1);
        }
        for (int i = 0; i < 4; i++) {
            loop_skip(&loop, HTTP_CLIENT_IDLE_MS);
            turns(5);
        }
        WAIT_FOR(http_server_connections(server) == 0);
        CHECK(loop_next_timer_ms(&loop) > loop_now_ms(&loop) + 100000); /* the server's */
        client_teardown();
        teardown();
    }
}

TEST(listeners_may_share_a_port)
{
    setup_with((struct http_server_opts){ .reuse_port = true });
    struct http_server *other, *third;
    struct err err = { 0 };
    struct http_server_opts opts = { .port = port, .on_request = on_request, .reuse_port = true };
    CHECK_OK(http_server_start(&loop, &opts, &other, &err));
    opts.reuse_port = false;
    CHECK_ERR(http_server_start(&loop, &opts, &third, &err), -EADDRINUSE);
    client_setup((struct http_client_opts){ .max_connections = 64 });
    for (int i = 0; i < 64; i++) {
        begin_upgrade("/upgrade"); /* a connection each, spread by the kernel */
        WAIT_FOR(reply.body.n == 3);
        struct exchange *was = reply.call;
        exchange_cancel(was);
        WAIT_FOR(reply.ends);
        if (http_server_connections(other))
            break;
    }
    client_teardown();
    bool done = false;
    http_server_close(other, 0, on_done, &done);
    WAIT_FOR(done);
    teardown();
}

TEST_BOTH(a_server_that_drains_ends_what_runs_and_takes_no_more)
{
    begin_stream("/echo", HTTP_CHUNKED);
    CHECK(exchange_write(reply.call, STR("before ")));
    WAIT_FOR(reply.body.n == 7);
    http_server_drain(server);
    http_server_drain(server);
    turns(10);
    CHECK(exchange_write(reply.call, STR("after")));
    exchange_end_body(reply.call, NULL);
    WAIT_FOR(reply.ends);
    CHECK_INT(reply.r, 0);
    CHECK_STR(buf_str(&reply.body), "before after");
    WAIT_FOR(http_server_connections(server) == 0);
    begin((struct http_call_opts){ .method = STR("GET"), .target = STR("/early") });
    WAIT_FOR(reply.ends);
    CHECK_ERR(reply.r, -ECONNREFUSED);
}

/* A request may be on its way to a connection that lies idle as the server begins to drain. */
TEST(a_draining_server_takes_a_last_request_on_an_idle_connection)
{
    setup_with((struct http_server_opts){ .drain_idle_ms = 60000 });
    client_setup((struct http_client_opts){ 0 });
    struct http_client *first = client;
    for (int i = 0; i < 2; i++) {
        if (i == 1)
            client_setup((struct http_client_opts){ 0 });
        begin((struct http_call_opts){ .target = STR("/early") });
        WAIT_FOR(reply.ends);
    }
    CHECK_INT(http_server_connections(server), 2);
    http_server_drain(server);
    turns(10);
    begin((struct http_call_opts){ .target = STR("/early") });
    WAIT_FOR(reply.ends);
    CHECK_INT(reply.r, 0);
    WAIT_FOR(http_server_connections(server) == 1);
    loop_skip(&loop, 60001);
    WAIT_FOR(http_server_connections(server) == 0); /* nothing came on the other */
    http_client_close(first);
    client_teardown();
    teardown();
}

TEST_MAIN
