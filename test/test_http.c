/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP server and client: against each other, and each against raw bytes. Everything runs on
 * one loop and waits for events; a guard timer ends a test that waits in vain.
 */
#include "io/address.h"
#include "io/http.h"
#include "io/tls.h"

#include "base/buf.h"
#include "base/mem.h"
#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

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

/* One request as the handler saw it. */
static struct seen {
    struct http_exchange *x;
    char *method, *target, *peer;
    struct buf body;
    uint64_t content_length;
    unsigned body_ends, gones, writables;
    int body_r, gone_r;
    struct defer later;
    uint64_t big_left, big_sent;
    unsigned chunks_left;
} seen;
static unsigned requests;

static void seen_reset(void)
{
    free(seen.method);
    free(seen.target);
    free(seen.peer);
    buf_fini(&seen.body);
    seen = (struct seen){ .body = BUF_INIT(64 << 20) };
}

static void on_body(struct http_exchange *x, struct str chunk)
{
    CHECK_INT(seen.body_ends, 0);
    CHECK_OK(buf_add_str(&seen.body, chunk));
}

static void on_gone(struct http_exchange *x, int r)
{
    CHECK(x == seen.x || !seen.x); /* NULL: a test with several at once */
    defer_cancel(&seen.later);
    seen.gones++;
    seen.gone_r = r;
}

static void note_body_end(int r)
{
    CHECK_INT(seen.gones, 0);
    seen.body_ends++;
    seen.body_r = r;
}

static void echo_on_body_end(struct http_exchange *x, int r)
{
    note_body_end(r);
    if (r == 0)
        http_reply(x, 200, NULL, buf_str(&seen.body));
}

static void own_words_on_body_end(struct http_exchange *x, int r)
{
    note_body_end(r);
    http_reply(x, r == -EMSGSIZE ? 413 : 200, NULL, STR("in my own words"));
}

static void silent_on_body_end(struct http_exchange *x, int r)
{
    note_body_end(r);
}

static void big_go_on(struct http_exchange *x)
{
    static char block[32 << 10];
    seen.writables++;
    while (seen.big_left) {
        size_t n = MIN(seen.big_left, sizeof block);
        for (size_t i = 0; i < n; i++)
            block[i] = (char)('a' + (seen.big_sent + i) % 26);
        seen.big_left -= n;
        seen.big_sent += n;
        if (!http_write(x, str_n(block, n)))
            return;
        CHECK(http_write_pending(x) <= HTTP_WRITE_HIGH_BYTES);
    }
    http_end(x);
}

static void on_later_chunk(struct defer *d)
{
    if (seen.chunks_left-- == 0) {
        http_end(seen.x);
        return;
    }
    CHECK(http_write(seen.x, STR("chunk\n")));
    defer_start(&loop, d, on_later_chunk);
}

static void on_later_read(struct defer *d)
{
    http_read_body(seen.x, 1 << 20);
}

static void on_later_reply(struct defer *d)
{
    http_respond(seen.x, 200, NULL, 4);
    CHECK(http_write(seen.x, STR("la")));
    CHECK(http_write(seen.x, STR("te")));
    http_end(seen.x);
}

static void pausing_on_body(struct http_exchange *x, struct str chunk)
{
    on_body(x, chunk);
    http_pause_body(x);
    CHECK(!seen.later.node.next);
}

static void on_later_resume(struct defer *d)
{
    http_resume_body(seen.x);
}

static const struct http_exchange_ops echo_ops = { on_body, echo_on_body_end, NULL, on_gone };
static const struct http_exchange_ops own_words_ops = { on_body, own_words_on_body_end, NULL,
                                                        on_gone };
static const struct http_exchange_ops silent_ops = { on_body, silent_on_body_end, NULL, on_gone };
static const struct http_exchange_ops big_ops = { NULL, NULL, big_go_on, on_gone };
static const struct http_exchange_ops pausing_ops = { pausing_on_body, echo_on_body_end, NULL,
                                                      on_gone };

static void respond_with_fields(struct http_exchange *x)
{
    struct headers h = { 0 };
    CHECK_OK(headers_addc(&h, "x-one", "1"));
    CHECK_OK(headers_addc(&h, "content-length", "77")); /* framing is the server's business */
    CHECK_OK(headers_addc(&h, "transfer-encoding", "gzip"));
    CHECK_OK(headers_addc(&h, "date", "today"));
    http_reply(x, 299, &h, STR("fields"));
    headers_fini(&h);
}

static void on_request(struct http_exchange *x, const struct http_request *req, void *arg)
{
    CHECK(arg == &seen);
    requests++;
    seen_reset();
    seen.x = x;
    seen.method = str_dup(req->method);
    seen.target = str_dup(req->target);
    seen.peer = str_dup(req->peer);
    seen.content_length = req->content_length;
    http_exchange_set(x, &silent_ops, &seen);
    CHECK(http_exchange_data(x) == &seen);
    struct str t = req->target;
    if (str_is(t, "/hello")) {
        http_reply(x, 200, NULL, STR("hello"));
    } else if (str_is(t, "/echo")) {
        http_exchange_set(x, &echo_ops, &seen);
        http_read_body(x, 8 << 20);
        CHECK_INT(seen.body_ends, 0);
    } else if (str_is(t, "/late-echo")) {
        http_exchange_set(x, &echo_ops, &seen);
        defer_start(&loop, &seen.later, on_later_read);
    } else if (str_is(t, "/paused-echo")) {
        http_exchange_set(x, &pausing_ops, &seen);
        http_read_body(x, 8 << 20);
    } else if (str_is(t, "/limited")) {
        http_read_body(x, 10);
    } else if (str_is(t, "/limited-own")) {
        http_exchange_set(x, &own_words_ops, &seen);
        http_read_body(x, 10);
    } else if (str_is(t, "/chunks")) {
        seen.chunks_left = 3;
        http_respond(x, 200, NULL, HTTP_CHUNKED);
        defer_start(&loop, &seen.later, on_later_chunk);
    } else if (str_is(t, "/big") || str_is(t, "/big-chunked")) {
        seen.big_left = 20 << 20;
        http_exchange_set(x, &big_ops, &seen);
        http_respond(x, 200, NULL, str_is(t, "/big") ? seen.big_left : HTTP_CHUNKED);
        big_go_on(x);
    } else if (str_is(t, "/empty")) {
        http_reply(x, 204, NULL, STR(""));
    } else if (str_is(t, "/fields")) {
        respond_with_fields(x);
    } else if (str_is(t, "/abort")) {
        http_respond(x, 200, NULL, 100);
        CHECK(http_write(x, STR("half")));
        http_abort(x);
        CHECK_INT(seen.gones, 0);
    } else if (str_is(t, "/short")) {
        http_respond(x, 200, NULL, 100);
        CHECK(http_write(x, STR("half")));
        http_end(x);
    } else if (str_is(t, "/watch")) {
        http_respond(x, 200, NULL, HTTP_CHUNKED);
        CHECK(http_write(x, STR("begun\n")));
    } else if (str_is(t, "/read-and-hold")) {
        http_read_body(x, 1 << 20);
    } else if (!str_is(t, "/hold")) {
        http_reply(x, 404, NULL, STR("no such thing\n"));
    }
}

static void setup_with(struct http_server_opts opts)
{
    struct err err = { 0 };
    requests = 0;
    seen_reset();
    CHECK_OK(loop_init(&loop, &err));
    opts.host = "127.0.0.1";
    opts.on_request = on_request;
    opts.arg = &seen;
    if (http_server_start(&loop, &opts, &server, &err) < 0)
        TEST_FAIL("%s", err.text);
    port = http_server_port(server);
    CHECK(opts.unix_path ? port == 0 : port > 0);
}

static void setup(void)
{
    setup_with((struct http_server_opts){ 0 });
}

static bool server_done;
static void on_server_done(void *arg)
{
    CHECK(!server_done);
    server_done = true;
}

static void teardown_after(uint64_t grace_ms)
{
    server_done = false;
    http_server_close(server, grace_ms, on_server_done, NULL);
    CHECK(!server_done);
    WAIT_FOR(server_done);
    loop_run(&loop);
    loop_fini(&loop);
    seen_reset();
}

static void teardown(void)
{
    teardown_after(0);
}

/* ------------------------------------------------------------------ raw connections */

struct raw {
    uv_tcp_t tcp;
    uv_connect_t req;
    struct buf in;
    bool connected, eof, closed;
    int r;
};

struct raw_write {
    uv_write_t req;
    char *copy;
};

static void raw_on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *b)
{
    static char memory[65536];
    *b = uv_buf_init(memory, sizeof memory);
}

static void raw_on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
    struct raw *raw = s->data;
    if (n > 0)
        CHECK_OK(buf_add(&raw->in, b->base, (size_t)n));
    if (n < 0) {
        raw->eof = true;
        raw->r = (int)n;
    }
}

static void raw_on_connect(uv_connect_t *req, int status)
{
    struct raw *raw = req->data;
    CHECK_OK(status);
    raw->connected = true;
}

static void raw_open(struct raw *raw)
{
    *raw = (struct raw){ .in = BUF_INIT(64 << 20) };
    struct sockaddr_in addr;
    CHECK_OK(uv_ip4_addr("127.0.0.1", port, &addr));
    CHECK_OK(uv_tcp_init(&loop.uv, &raw->tcp));
    raw->tcp.data = raw->req.data = raw;
    CHECK_OK(uv_tcp_connect(&raw->req, &raw->tcp, (struct sockaddr *)&addr, raw_on_connect));
    WAIT_FOR(raw->connected);
    CHECK_OK(uv_read_start((uv_stream_t *)&raw->tcp, raw_on_alloc, raw_on_read));
}

static void raw_on_write(uv_write_t *req, int status)
{
    struct raw_write *w = container_of(req, struct raw_write, req);
    free(w->copy); /* the status does not matter: servers may hang up first */
    free(w);
}

static void raw_send(struct raw *raw, struct str bytes)
{
    struct raw_write *w = xnew(struct raw_write);
    w->copy = str_dup(bytes);
    uv_buf_t b = uv_buf_init(w->copy, (unsigned)bytes.n);
    CHECK_OK(uv_write(&w->req, (uv_stream_t *)&raw->tcp, &b, 1, raw_on_write));
}

static void raw_on_closed(uv_handle_t *h)
{
    struct raw *raw = h->data;
    raw->closed = true;
}

static void raw_close(struct raw *raw)
{
    uv_close((uv_handle_t *)&raw->tcp, raw_on_closed);
    WAIT_FOR(raw->closed);
    buf_fini(&raw->in);
}

static bool raw_has(const struct raw *raw, const char *text)
{
    return str_find(buf_str(&raw->in), str_of(text)) >= 0;
}

static size_t raw_count(const struct raw *raw, const char *text)
{
    struct str rest = buf_str(&raw->in);
    size_t n = 0;
    for (ptrdiff_t at; (at = str_find(rest, str_of(text))) >= 0; n++)
        rest = str_slice(rest, (size_t)at + 1, rest.n);
    return n;
}

/* Send, and read until the server closes; the text is valid until the next call. */
static const char *raw_talk(struct str bytes)
{
    static struct buf last;
    struct raw raw;
    raw_open(&raw);
    raw_send(&raw, bytes);
    WAIT_FOR(raw.eof);
    buf_fini(&last);
    last = BUF_INIT(64 << 20);
    (void)buf_add_str(&last, buf_str(&raw.in));
    raw_close(&raw);
    return buf_cstr(&last);
}

#define CHECK_STARTS(text, want)                                                                   \
    do {                                                                                           \
        const char *text_ = (text);                                                                \
        if (!str_has_prefix(str_of(text_), STR(want)))                                             \
            TEST_FAIL("'%.300s' does not start with '%s'", text_, want);                           \
    } while (0)

/* ------------------------------------------------------------------ server: messages */

TEST(a_request_is_answered_and_the_connection_kept)
{
    setup();
    struct raw raw;
    raw_open(&raw);
    for (int i = 0; i < 3; i++) {
        buf_reset(&raw.in);
        raw_send(&raw, STR("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"));
        WAIT_FOR(raw_has(&raw, "hello"));
        CHECK_STARTS(buf_cstr(&raw.in), "HTTP/1.1 200 OK\r\ndate: ");
        CHECK(raw_has(&raw, "content-length: 5\r\n\r\nhello"));
        CHECK(!raw_has(&raw, "connection:"));
        CHECK_INT(seen.gones, 1);
        CHECK_INT(seen.gone_r, 0);
    }
    CHECK_INT(requests, 3);
    CHECK_STR(str_of(seen.method), "GET");
    CHECK(str_has_prefix(str_of(seen.peer), STR("127.0.0.1:")));
    CHECK(!raw.eof);
    raw_close(&raw);
    teardown();
}

TEST(a_request_may_come_byte_by_byte)
{
    setup();
    struct raw raw;
    raw_open(&raw);
    struct str all = STR("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody");
    for (size_t i = 0; i < all.n; i++) {
        raw_send(&raw, str_slice(all, i, i + 1));
        (void)loop_turn(&loop, false);
    }
    WAIT_FOR(raw_has(&raw, "\r\n\r\nbody"));
    raw_close(&raw);
    teardown();
}

TEST(a_folded_line_is_noticed_however_it_arrives)
{
    setup();
    struct str all = STR("GET /hello HTTP/1.1\r\nHost: a\r\nX: folded\r\n line\r\n\r\n");
    for (size_t cut = 1; cut < all.n; cut++) {
        struct raw raw;
        raw_open(&raw);
        raw_send(&raw, str_slice(all, 0, cut));
        (void)loop_turn(&loop, false);
        (void)loop_turn(&loop, false);
        raw_send(&raw, str_slice(all, cut, all.n));
        WAIT_FOR(raw.eof);
        CHECK_STARTS(buf_cstr(&raw.in), "HTTP/1.1 400 ");
        raw_close(&raw);
    }
    CHECK_INT(requests, 0);
    teardown();
}

TEST(pipelined_requests_are_answered_in_order)
{
    setup();
    const char *all =
        raw_talk(STR("GET /chunks HTTP/1.1\r\nHost: a\r\n\r\n"
                     "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\none"
                     "POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\ntwo"
                     "POST /late-echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                     "3\r\nthr\r\n2\r\nee\r\n0\r\n\r\n"
                     "GET /nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
                     "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"));
    CHECK_INT(requests, 5);
    struct str rest = str_of(all);
    static const char *const want[] = { "6\r\nchunk\n\r\n0\r\n\r\nHTTP", "\r\n\r\noneHTTP",
                                        "\r\n\r\nhelloHTTP", "\r\n\r\nthreeHTTP/1.1 404 ",
                                        "no such thing\n" };
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        ptrdiff_t at = str_find(rest, str_of(want[i]));
        if (at < 0)
            TEST_FAIL("answer %zu missing in '%s'", i, all);
        rest = str_slice(rest, (size_t)at + 4, rest.n);
    }
    teardown();
}

TEST(a_pipelining_peer_is_not_read_without_end_while_a_handler_works)
{
    setup();
    struct raw raw;
    raw_open(&raw);
    raw_send(&raw, STR("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n"));
    WAIT_FOR(requests == 1);
    struct buf flood = BUF_INIT(64 << 20);
    while (flood.n < 32 << 20)
        CHECK_OK(buf_add_cstr(&flood, "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"));
    raw_send(&raw, buf_str(&flood));
    for (int i = 0; i < 100; i++)
        (void)loop_turn(&loop, false);
    CHECK(uv_stream_get_write_queue_size((uv_stream_t *)&raw.tcp) > 8 << 20);
    CHECK_INT(requests, 1);
    http_reply(seen.x, 200, NULL, STR("held"));
    WAIT_FOR(requests > 100);
    CHECK(raw_has(&raw, "held"));
    buf_fini(&flood);
    raw_close(&raw);
    teardown();
}

TEST(a_handler_may_answer_later)
{
    setup();
    struct raw raw;
    raw_open(&raw);
    raw_send(&raw, STR("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n"));
    WAIT_FOR(requests == 1);
    defer_start(&loop, &seen.later, on_later_reply);
    WAIT_FOR(raw_has(&raw, "content-length: 4\r\n\r\nlate"));
    CHECK_INT(seen.gones, 1);
    raw_close(&raw);
    teardown();
}

TEST(streams_are_chunked)
{
    setup();
    struct raw raw;
    raw_open(&raw);
    raw_send(&raw, STR("GET /chunks HTTP/1.1\r\nHost: a\r\n\r\n"));
    WAIT_FOR(raw_has(&raw, "\r\n0\r\n\r\n"));
    CHECK(raw_has(&raw, "transfer-encoding: chunked\r\n"));
    CHECK_INT(raw_count(&raw, "6\r\nchunk\n\r\n"), 3);
    raw_close(&raw);
    teardown();
}

TEST(http_1_0_gets_an_undelimited_stream_and_keeps_only_what_it_asks_for)
{
    setup();
    const char *all = raw_talk(STR("GET /chunks HTTP/1.0\r\n\r\n"));
    CHECK(strstr(all, "\r\nconnection: close\r\n"));
    CHECK(strstr(all, "\r\n\r\nchunk\nchunk\nchunk\n"));
    CHECK(!strstr(all, "chunked"));
    all = raw_talk(
        STR("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /hello HTTP/1.0\r\n\r\n"));
    CHECK(strstr(all, "\r\nconnection: keep-alive\r\n\r\nhelloHTTP/1.1 200 OK"));
    CHECK(strstr(all, "\r\nconnection: close\r\n\r\nhello"));
    teardown();
}

TEST(head_and_bodyless_statuses_have_no_body)
{
    setup();
    const char *all = raw_talk(STR("HEAD /hello HTTP/1.1\r\nHost: a\r\n\r\n"
                                   "HEAD /chunks HTTP/1.1\r\nHost: a\r\n\r\n"
                                   "GET /empty HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
    CHECK(strstr(all, "content-length: 5\r\n\r\nHTTP/1.1 200 OK"));
    CHECK(!strstr(all, "hello"));
    CHECK(!strstr(all, "chunk\n"));
    const char *last = strstr(all, "HTTP/1.1 204 No Content");
    CHECK(last && !strstr(last, "content-length") && strstr(last, "close\r\n\r\n"));
    teardown();
}

TEST(framing_fields_of_the_handler_are_left_out)
{
    setup();
    const char *all = raw_talk(STR("GET /fields HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
    CHECK_STARTS(all, "HTTP/1.1 299 \r\nx-one: 1\r\ndate: today\r\ncontent-length: "
                      "6\r\nconnection: close\r\n\r\nfields");
    teardown();
}

TEST(absolute_targets_become_origin_form)
{
    setup();
    (void)raw_talk(
        STR("GET http://a/x?y=http://b/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
    CHECK_STR(str_of(seen.target), "/x?y=http://b/");
    (void)raw_talk(STR("OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
    CHECK_STR(str_of(seen.target), "*");
    teardown();
}

TEST(an_offered_upgrade_is_ignored)
{
    setup();
    const char *all = raw_talk(STR(
        "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n"));
    CHECK_STARTS(all, "HTTP/1.1 200 OK");
    CHECK(strstr(all, "hello"));
    teardown();
}

/* ------------------------------------------------------------------ server: malformed input */

/* Every request is refused with this status, the connection is closed, and no handler sees it. */
TEST(malformed_requests_are_refused)
{
    static const struct {
        int status;
        const char *bytes;
    } cases[] = {
        { 400, "\x16\x03\x01\x02\x05 TLS where none is spoken\r\n\r\n" },
        { 400, "GET\r\n\r\n" },
        { 400, "FETCH /hello HTTP/1.1\r\nHost: a\r\n\r\n" },
        { 400, "GET hello HTTP/1.1\r\nHost: a\r\n\r\n" },
        { 400, "GET * HTTP/1.1\r\nHost: a\r\n\r\n" },
        { 400, "GET /hello HTTP/1.1\r\n\r\n" },
        { 400, "GET /hello HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n" },
        { 400, "GET /hello HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n" },
        { 400, "GET /hello HTTP/1.1\r\nHost : a\r\n\r\n" },
        { 400, "GET /hello HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n" },
        { 400, "GET /hello HTTP/1.1\r\nHost: a\r\nX: \x01\r\n\r\n" },
        { 400, "GET /hello HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n" },
        { 400, "GET /hello HTTP/1.1\r\nHost: a\r\nX: folded\r\n line\r\n\r\n" },
        { 400, "GET /hello HTTP/1.1\r\nHost: a\r\nX:\r\n line\r\n\r\n" },
        { 400, "GET /hello HTTP/1.1\nHost: a\r\n\r\n" },
        { 400, "GET /hello HTTP/1.1\r\nHost: a\n\r\n" },
        { 413, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551615\r\n\r\nx" },
        { 505, "GET /hello HTTP/2.0\r\nHost: a\r\n\r\n" },
        { 505, "GET /hello HTTP/1.2\r\nHost: a\r\n\r\n" },
        { 501, "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n" },
        { 400, "GET http://b/hello HTTP/1.1\r\nHost: a\r\n\r\n" },
        { 400, "GET http://a:1/hello HTTP/1.1\r\nHost: a\r\n\r\n" },
        { 400, "GET http://u@a/hello HTTP/1.1\r\nHost: a\r\n\r\n" },
        { 400, "GET http://b?x=/hello HTTP/1.1\r\nHost: a\r\n\r\n" },
        { 400, "GET http:///hello HTTP/1.1\r\nHost: a\r\n\r\n" },
        { 417, "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: miracles\r\nContent-Length: 1\r\n\r\nx" },
        /* two opinions about where the request ends */
        { 400,
          "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxy" },
        { 400,
          "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx" },
        { 400, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\nx" },
        { 400, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\nx" },
        { 400, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0x1\r\n\r\nx" },
        { 400, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\nx" },
        { 400, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\nx" },
        { 400, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\nx" },
        { 400, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: "
               "chunked\r\n\r\n0\r\n\r\n" },
        { 400, "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: "
               "1\r\n\r\n0\r\n\r\n" },
        { 400, "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" },
        { 0, "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n" },
        { 0,
          "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n" },
        { 0,
          "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" },
        { 0, "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
             "chunked\r\n\r\n0\r\n\r\n" },
        { 0, "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" },
        { 0, "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n" },
    };
    setup();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char want[32];
        (void)snprintf(want, sizeof want, "HTTP/1.1 %d ", cases[i].status);
        const char *all = raw_talk(str_of(cases[i].bytes));
        bool ok = str_has_prefix(str_of(all), str_of(want));
        if (!cases[i].status) /* llhttp's versions differ in which of them they know */
            ok = str_has_prefix(str_of(all), STR("HTTP/1.1 400 ")) ||
                 str_has_prefix(str_of(all), STR("HTTP/1.1 501 "));
        if (!ok)
            TEST_FAIL("'%s' got '%s', expected %d", cases[i].bytes, all, cases[i].status);
        CHECK(strstr(all, "connection: close\r\n"));
        CHECK_INT(requests, 0);
    }
    teardown();
}

TEST(a_malformed_body_fails_its_request)
{
    static const char *const bodies[] = {
        "zz\r\n",
        "-1\r\nx\r\n",
        "3\r\nabcd\r\n",
        "3\nabc\r\n0\r\n\r\n",
        "ffffffffffffffffff\r\n",
        "1 \r\nx\r\n0\r\n\r\n",
        "0x1\r\nx\r\n0\r\n\r\n",
        "+1\r\nx\r\n0\r\n\r\n",
        "\r\n0\r\n\r\n",
        "1\r\nx\n0\r\n\r\n",
        "1\r\nx0\r\n\r\n",
        "1\rx\r\n0\r\n\r\n",
        "1;a\nx\r\n0\r\n\r\n",
        "1;a\rb\r\nx\r\n0\r\n\r\n",
        "0\r\nx-a: b\n\r\n",
        "0\r\nx-a: b\r\n c\r\n\r\n",
        "1\r\nx\r\n0\r\nbad trailer\r\n\r\n",
    };
    setup();
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        struct buf b = BUF_INIT(4096);
        CHECK_OK(
            buf_printf(&b, "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n%s",
                       bodies[i]));
        const char *all = raw_talk(buf_str(&b));
        if (!str_has_prefix(str_of(all), STR("HTTP/1.1 400 ")))
            TEST_FAIL("'%s' got '%s'", bodies[i], all);
        CHECK_INT(seen.body_ends, 1);
        CHECK_ERR(seen.body_r, E_PARSE);
        CHECK_INT(seen.gones, 1);
        CHECK_ERR(seen.gone_r, E_PARSE);
        buf_fini(&b);
    }
    teardown();
}

/* ------------------------------------------------------------------ server: limits */

static void add_many(struct buf *b, char c, size_t n)
{
    char *p;
    CHECK_OK(buf_reserve(b, n, &p));
    memset(p, c, n);
    buf_advance(b, n);
}

TEST(a_head_past_its_limit_is_431_and_a_target_414)
{
    setup();
    struct buf b = BUF_INIT(1 << 20);
    CHECK_OK(buf_add_cstr(&b, "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX: "));
    size_t head = b.n;
    add_many(&b, 'x', HTTP_HEAD_MAX_BYTES - 200);
    CHECK_OK(buf_add_cstr(&b, "\r\n\r\n"));
    CHECK_STARTS(raw_talk(buf_str(&b)), "HTTP/1.1 200 ");
    b.n = head;
    add_many(&b, 'x', HTTP_HEAD_MAX_BYTES);
    CHECK_OK(buf_add_cstr(&b, "\r\n\r\n"));
    CHECK_STARTS(raw_talk(buf_str(&b)), "HTTP/1.1 431 ");

    buf_reset(&b);
    CHECK_OK(buf_add_cstr(&b, "GET /"));
    add_many(&b, 'x', HTTP_URI_MAX_BYTES - 1);
    CHECK_OK(buf_add_cstr(&b, " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
    CHECK_STARTS(raw_talk(buf_str(&b)), "HTTP/1.1 404 ");
    buf_reset(&b);
    CHECK_OK(buf_add_cstr(&b, "GET /"));
    add_many(&b, 'x', HTTP_URI_MAX_BYTES);
    CHECK_OK(buf_add_cstr(&b, " HTTP/1.1\r\nHost: a\r\n\r\n"));
    CHECK_STARTS(raw_talk(buf_str(&b)), "HTTP/1.1 414 ");

    buf_reset(&b);
    CHECK_OK(buf_add_cstr(&b, "GET /hello HTTP/1.1\r\nHost: a\r\n"));
    for (int i = 0; i <= HEADERS_MAX; i++)
        CHECK_OK(buf_add_cstr(&b, "a: b\r\n"));
    CHECK_OK(buf_add_cstr(&b, "\r\n"));
    CHECK_STARTS(raw_talk(buf_str(&b)), "HTTP/1.1 431 ");
    buf_fini(&b);
    teardown();
}

TEST(chunk_extensions_and_trailers_are_limited)
{
    setup();
    struct buf b = BUF_INIT(1 << 20);
    CHECK_OK(
        buf_add_cstr(&b, "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;"));
    add_many(&b, 'e', 20 << 10);
    CHECK_OK(buf_add_cstr(&b, "\r\nx\r\n0\r\n\r\n"));
    CHECK_STARTS(raw_talk(buf_str(&b)), "HTTP/1.1 400 ");
    buf_reset(&b);
    CHECK_OK(buf_add_cstr(
        &b, "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"));
    for (int i = 0; i < 3000; i++)
        CHECK_OK(buf_add_cstr(&b, "trailer: x\r\n"));
    CHECK_OK(buf_add_cstr(&b, "\r\n"));
    CHECK_STARTS(raw_talk(buf_str(&b)), "HTTP/1.1 431 ");
    /* small ones are fine, and ignored */
    const char *all = raw_talk(STR(
        "POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        "1;a=b\r\nx\r\n0\r\nX-Sum: 5\r\n\r\n"));
    CHECK_STARTS(all, "HTTP/1.1 200 ");
    CHECK(strstr(all, "\r\n\r\nx"));
    buf_fini(&b);
    teardown();
}

TEST(a_body_past_the_handlers_limit_is_413)
{
    setup();
    static const char *const targets[] = { "/limited", "/limited-own" };
    for (int own = 0; own < 2; own++) {
        struct buf b = BUF_INIT(4096);
        CHECK_OK(buf_printf(&b,
                            "POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\nhello world",
                            targets[own]));
        const char *all = raw_talk(buf_str(&b));
        CHECK_STARTS(all, "HTTP/1.1 413 ");
        CHECK(!own == !strstr(all, "in my own words"));
        CHECK_INT(seen.body_ends, 1);
        CHECK_ERR(seen.body_r, -EMSGSIZE);
        CHECK_INT(seen.gones, 1);
        CHECK_INT(seen.gone_r, 0);
        buf_reset(&b);
        CHECK_OK(buf_printf(&b,
                            "POST %s HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                            "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n",
                            targets[own]));
        CHECK_STARTS(raw_talk(buf_str(&b)), "HTTP/1.1 413 ");
        CHECK_STR(buf_str(&seen.body), "hello");
        buf_fini(&b);
    }
    teardown();
}

TEST(a_body_nobody_asked_for_is_discarded_up_to_its_limit)
{
    setup();
    struct buf b = BUF_INIT(1 << 20);
    CHECK_OK(buf_printf(&b, "POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n",
                        HTTP_DISCARD_MAX_BYTES));
    add_many(&b, 'x', HTTP_DISCARD_MAX_BYTES);
    CHECK_OK(buf_add_cstr(&b, "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
    const char *all = raw_talk(buf_str(&b));
    CHECK_STARTS(all, "HTTP/1.1 200 ");
    CHECK_INT(requests, 2);
    requests = 0;
    buf_reset(&b);
    CHECK_OK(buf_printf(&b, "POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n",
                        HTTP_DISCARD_MAX_BYTES + 1));
    add_many(&b, 'x', HTTP_DISCARD_MAX_BYTES + 1);
    CHECK_OK(buf_add_cstr(&b, "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"));
    CHECK_STARTS(raw_talk(buf_str(&b)), "HTTP/1.1 200 "); /* and it ended */
    CHECK_INT(requests, 1);
    buf_fini(&b);
    teardown();
}

TEST(a_body_whose_rest_is_discarded_while_the_server_drains_ends_its_connection)
{
    setup();
    struct raw a;
    raw_open(&a);
    raw_send(&a, STR("POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab"));
    WAIT_FOR(raw_has(&a, "hello") && seen.gones == 1);
    http_server_drain(server);
    raw_send(&a, STR("cd"));
    WAIT_FOR(a.eof);
    raw_close(&a);
    teardown();
}

TEST(past_the_connection_limit_the_longest_idle_makes_room)
{
    setup_with((struct http_server_opts){ .max_connections = 2 });
    struct raw a, b, c;
    raw_open(&a);
    raw_open(&b);
    raw_send(&b, STR("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"));
    WAIT_FOR(raw_has(&b, "hello"));
    raw_send(&a, STR("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n"));
    WAIT_FOR(requests == 2);
    struct http_exchange *held = seen.x;
    raw_open(&c); /* b is idle: it goes */
    raw_send(&c, STR("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"));
    WAIT_FOR(b.eof && requests == 3 && raw_has(&c, "hello"));
    CHECK(!a.eof);
    raw_close(&b);
    raw_close(&c);
    seen.x = held;
    seen.gones = 0;
    http_reply(held, 200, NULL, STR("at last"));
    WAIT_FOR(raw_has(&a, "at last"));
    raw_close(&a);
    teardown();
}

/* ------------------------------------------------------------------ server: bodies */

TEST(expect_100_continue_is_answered_when_the_body_is_wanted)
{
    setup();
    struct raw raw;
    raw_open(&raw);
    raw_send(
        &raw,
        STR("POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"));
    WAIT_FOR(raw_has(&raw, "HTTP/1.1 100 Continue\r\n\r\n"));
    CHECK_INT(raw_count(&raw, "HTTP/1.1"), 1);
    raw_send(&raw, STR("body"));
    WAIT_FOR(raw_has(&raw, "\r\n\r\nbody"));
    raw_close(&raw);
    /* not wanted: the answer comes at once, and the connection ends since nobody knows what follows
     */
    const char *all = raw_talk(STR(
        "POST /hello HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"));
    CHECK_STARTS(all, "HTTP/1.1 200 ");
    CHECK(strstr(all, "connection: close\r\n"));
    /* past the limit it is refused before it is sent */
    all = raw_talk(STR(
        "POST /limited HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 11\r\n\r\n"));
    CHECK_STARTS(all, "HTTP/1.1 413 ");
    teardown();
}

TEST(a_body_waits_for_a_handler_that_asks_later)
{
    setup();
    const char *all = raw_talk(STR("POST /late-echo HTTP/1.1\r\nHost: a\r\nConnection: "
                                   "close\r\nContent-Length: 4\r\n\r\nbody"));
    CHECK(strstr(all, "\r\n\r\nbody"));
    all = raw_talk(STR("POST /late-echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
    CHECK(strstr(all, "content-length: 0\r\n"));
    CHECK_INT(seen.body_ends, 1);
    teardown();
}

TEST(a_paused_body_stays_with_the_peer)
{
    setup();
    struct raw raw;
    raw_open(&raw);
    struct buf b = BUF_INIT(16 << 20);
    size_t n = 6 << 20;
    CHECK_OK(
        buf_printf(&b, "POST /paused-echo HTTP/1.1\r\nHost: a\r\nContent-Length: %zu\r\n\r\n", n));
    add_many(&b, 'x', n);
    raw_send(&raw, buf_str(&b));
    WAIT_FOR(seen.body.n > 0);
    size_t first = seen.body.n;
    for (int i = 0; i < 50; i++)
        (void)loop_turn(&loop, false);
    CHECK_INT(seen.body.n, first); /* no byte after the pause */
    timer_start(&loop, &guard, 60000, on_guard);
    while (!seen.body_ends) {
        defer_start(&loop, &seen.later, on_later_resume);
        (void)loop_turn(&loop, true);
    }
    timer_stop(&loop, &guard);
    CHECK_INT(seen.body_r, 0);
    CHECK_INT(seen.body.n, n);
    WAIT_FOR(seen.gones);
    buf_fini(&b);
    raw_close(&raw);
    teardown();
}

TEST(a_slow_reader_holds_the_handler_back)
{
    for (int chunked = 0; chunked < 2; chunked++) {
        setup();
        struct raw raw;
        raw_open(&raw);
        CHECK_OK(uv_read_stop((uv_stream_t *)&raw.tcp));
        raw_send(&raw,
                 chunked ? STR("GET /big-chunked HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                         : STR("GET /big HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
        WAIT_FOR(requests == 1);
        for (int i = 0; i < 50; i++)
            (void)loop_turn(&loop, false);
        CHECK(seen.big_left > 0);
        CHECK(http_write_pending(seen.x) > 0);
        CHECK(http_write_pending(seen.x) <= HTTP_WRITE_HIGH_BYTES + (64 << 10));
        CHECK_OK(uv_read_start((uv_stream_t *)&raw.tcp, raw_on_alloc, raw_on_read));
        WAIT_FOR(raw.eof);
        CHECK_INT(seen.gone_r, 0);
        CHECK(seen.writables > 2);
        if (!chunked) {
            struct str body = buf_str(&raw.in);
            ptrdiff_t at = str_find(body, STR("\r\n\r\n"));
            body = str_slice(body, (size_t)at + 4, body.n);
            CHECK_INT(body.n, 20 << 20);
            for (size_t i = 0; i < body.n; i++)
                CHECK(body.p[i] == (char)('a' + i % 26));
        } else {
            CHECK(str_has_suffix(buf_str(&raw.in), STR("\r\n0\r\n\r\n")));
        }
        raw_close(&raw);
        teardown();
    }
}

/* ------------------------------------------------------------------ server: endings */

TEST(an_aborted_or_short_response_is_visibly_broken)
{
    setup();
    static const char *const targets[] = { "/abort", "/short" };
    for (int i = 0; i < 2; i++) {
        struct buf b = BUF_INIT(4096);
        CHECK_OK(buf_printf(&b, "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", targets[i]));
        const char *all = raw_talk(buf_str(&b));
        CHECK(!strstr(all, "half") || strlen(strstr(all, "half")) == 4);
        CHECK_INT(seen.gones, 1);
        CHECK_ERR(seen.gone_r, -ECONNABORTED);
        buf_fini(&b);
    }
    teardown();
}

TEST(a_lost_peer_is_noticed_while_the_handler_waits)
{
    setup();
    struct raw raw;
    raw_open(&raw);
    raw_send(&raw, STR("GET /watch HTTP/1.1\r\nHost: a\r\n\r\n"));
    WAIT_FOR(raw_has(&raw, "begun"));
    CHECK_OK(uv_tcp_close_reset(&raw.tcp, raw_on_closed));
    WAIT_FOR(raw.closed && seen.gones);
    CHECK_ERR(seen.gone_r, -ECONNRESET);
    buf_fini(&raw.in);

    raw_open(&raw); /* and while a body is expected */
    raw_send(&raw, STR("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf"));
    WAIT_FOR(seen.body.n == 4);
    raw_close(&raw);
    WAIT_FOR(seen.gones);
    CHECK_INT(seen.body_ends, 1);
    CHECK_ERR(seen.body_r, -ECONNRESET);
    CHECK_ERR(seen.gone_r, -ECONNRESET);
    teardown();
}

static void on_shutdown(uv_shutdown_t *req, int status)
{
    CHECK_OK(status);
}

TEST(a_half_closed_peer_still_gets_its_answer)
{
    setup();
    struct raw raw;
    raw_open(&raw);
    raw_send(&raw, STR("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n"));
    WAIT_FOR(requests == 1);
    uv_shutdown_t req;
    CHECK_OK(uv_shutdown(&req, (uv_stream_t *)&raw.tcp, on_shutdown));
    for (int i = 0; i < 10; i++)
        (void)loop_turn(&loop, false);
    CHECK_INT(seen.gones, 0);
    http_reply(seen.x, 200, NULL, STR("after all"));
    WAIT_FOR(raw.eof);
    CHECK(raw_has(&raw, "after all"));
    CHECK_INT(seen.gone_r, 0);
    raw_close(&raw);
    teardown();
}

static void on_past(struct timer *t)
{
}

TEST(a_slow_head_is_408_and_a_silent_connection_just_ends)
{
    setup_with((struct http_server_opts){ .head_timeout_ms = 300 });
    CHECK_STARTS(raw_talk(STR("GET /hello HT")), "HTTP/1.1 408 ");
    CHECK_STR(str_of(raw_talk(STR(""))), "");
    /* the second request of a connection has its own time, from its first byte on */
    struct raw raw;
    raw_open(&raw);
    raw_send(&raw, STR("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"));
    WAIT_FOR(raw_has(&raw, "hello"));
    struct timer past = { 0 };
    timer_start(&loop, &past, 400, on_past);
    WAIT_FOR(!timer_is_armed(&past));
    CHECK(!raw.eof);
    buf_reset(&raw.in);
    raw_send(&raw, STR("G"));
    WAIT_FOR(raw.eof);
    CHECK_STARTS(buf_cstr(&raw.in), "HTTP/1.1 408 ");
    raw_close(&raw);
    teardown();
}

TEST(a_body_that_stops_is_408)
{
    setup_with((struct http_server_opts){ .body_idle_ms = 30 });
    CHECK_STARTS(raw_talk(STR("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf")),
                 "HTTP/1.1 408 ");
    CHECK_ERR(seen.body_r, -ETIMEDOUT);
    CHECK_ERR(seen.gone_r, -ETIMEDOUT);
    CHECK_INT(seen.gones, 1);
    teardown();
}

/* The timer of a head or a body must not count once the connection only waits for the client. */
static void check_lingering_past(const char *head, size_t n_more, const char *more)
{
    struct raw raw;
    struct timer past = { 0 };
    raw_open(&raw);
    raw_send(&raw, str_of(head));
    timer_start(&loop, &past, 200, on_past);
    WAIT_FOR(!timer_is_armed(&past));
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1 << 20);
    for (size_t i = 0; i < n_more; i++)
        (void)buf_add_cstr(&text, more);
    raw_send(&raw, buf_str(&text));
    timer_start(&loop, &past, 500, on_past);
    WAIT_FOR(!timer_is_armed(&past));
    CHECK_STARTS(buf_cstr(&raw.in), "HTTP/1.1 4");
    raw_close(&raw);
}

TEST(a_retired_connection_has_no_other_deadline)
{
    setup_with((struct http_server_opts){ .head_timeout_ms = 400, .body_idle_ms = 400 });
    check_lingering_past("G", 1, "\r\n\001 \r\n\r\n");
    check_lingering_past("POST /none HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nx", 700,
                         "0123456789012345678901234567890123456789012345678901234567890123456789"
                         "0123456789012345678901234567890123456789");
    teardown();
}

TEST(a_peer_that_does_not_read_is_cut)
{
    setup_with((struct http_server_opts){ .write_stall_ms = 30 });
    struct raw raw;
    raw_open(&raw);
    CHECK_OK(uv_read_stop((uv_stream_t *)&raw.tcp));
    raw_send(&raw, STR("GET /big HTTP/1.1\r\nHost: a\r\n\r\n"));
    WAIT_FOR(seen.gones);
    CHECK_ERR(seen.gone_r, -ETIMEDOUT);
    raw_close(&raw);
    teardown();
}

TEST(a_half_closed_peer_is_not_waited_for_without_end)
{
    setup_with((struct http_server_opts){ .half_closed_ms = 30 });
    struct raw raw;
    raw_open(&raw);
    raw_send(&raw, STR("GET /watch HTTP/1.1\r\nHost: a\r\n\r\n"));
    WAIT_FOR(raw_has(&raw, "begun"));
    uv_shutdown_t req;
    CHECK_OK(uv_shutdown(&req, (uv_stream_t *)&raw.tcp, on_shutdown));
    WAIT_FOR(seen.gones && raw.eof);
    CHECK_ERR(seen.gone_r, -ECONNRESET);
    raw_close(&raw);
    teardown();
}

TEST(a_refused_peer_that_keeps_talking_is_cut)
{
    setup();
    struct raw raw;
    raw_open(&raw);
    raw_send(&raw, STR("POST /limited HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n"));
    static char noise[100 << 10];
    timer_start(&loop, &guard, 60000, on_guard);
    while (raw.r >= 0 || raw.r == UV_EOF) { /* the answer and its end come first, then the cut */
        raw_send(&raw, str_n(noise, sizeof noise));
        (void)loop_turn(&loop, true);
        if (raw.r == UV_EOF && http_server_connections(server) == 0)
            break;
    }
    timer_stop(&loop, &guard);
    CHECK_STARTS(buf_cstr(&raw.in), "HTTP/1.1 413 ");
    raw_close(&raw);
    teardown();
}

TEST(an_idle_connection_ends_and_then_nothing_is_armed)
{
    setup_with((struct http_server_opts){ .keepalive_ms = 30 });
    CHECK_INT(loop.timers.n, 0);
    const char *all = raw_talk(STR("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"));
    CHECK_STARTS(all, "HTTP/1.1 200 ");
    WAIT_FOR(loop.timers.n == 1); /* the guard */
    CHECK(!uv_is_active((uv_handle_t *)&loop.idle));
    teardown();
}

TEST(an_open_watch_arms_no_timer)
{
    setup();
    struct raw raw;
    raw_open(&raw);
    raw_send(&raw, STR("GET /watch HTTP/1.1\r\nHost: a\r\n\r\n"));
    WAIT_FOR(raw_has(&raw, "begun"));
    CHECK_INT(loop.timers.n, 0);
    raw_close(&raw);
    teardown();
}

TEST(closing_waits_for_running_exchanges)
{
    setup();
    struct raw busy, idle;
    raw_open(&busy);
    raw_open(&idle);
    raw_send(&idle, STR("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"));
    WAIT_FOR(raw_has(&idle, "hello"));
    raw_send(&busy, STR("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n"));
    WAIT_FOR(requests == 2);
    server_done = false;
    http_server_close(server, 10000, on_server_done, NULL);
    WAIT_FOR(idle.eof);
    CHECK(!server_done);
    http_reply(seen.x, 200, NULL, STR("finished"));
    WAIT_FOR(busy.eof);
    CHECK(raw_has(&busy, "finished"));
    CHECK(raw_has(&busy, "connection: close"));
    CHECK_INT(seen.gone_r, 0);
    raw_close(&busy);
    raw_close(&idle);
    WAIT_FOR(server_done);
    loop_run(&loop);
    loop_fini(&loop);
}

TEST(closing_cuts_what_does_not_finish)
{
    setup();
    struct raw raw;
    raw_open(&raw);
    raw_send(&raw, STR("POST /read-and-hold HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx"));
    WAIT_FOR(requests == 1);
    server_done = false;
    http_server_close(server, 20, on_server_done, NULL);
    WAIT_FOR(server_done && raw.eof);
    CHECK_INT(seen.body_ends, 1);
    CHECK_INT(seen.gones, 1);
    CHECK_ERR(seen.gone_r, -ECANCELED);
    raw_close(&raw);
    loop_run(&loop);
    loop_fini(&loop);
}

TEST(an_unusable_address_is_a_clear_error)
{
    setup();
    struct err err = { 0 };
    struct http_server *second;
    struct http_server_opts opts = { .host = "127.0.0.1", .port = port, .on_request = on_request };
    CHECK_ERR(http_server_start(&loop, &opts, &second, &err), -EADDRINUSE);
    char want[100];
    (void)snprintf(want, sizeof want, "listen on 127.0.0.1 port %u: Address already in use", port);
    CHECK_STR(str_of(err.text), want);
    opts.host = "nowhere";
    CHECK_ERR(http_server_start(&loop, &opts, &second, &err), -EINVAL);
    CHECK_STR(str_of(err.text), "'nowhere' is not an IP address");
    teardown();
}

/* ------------------------------------------------------------------ client */

static struct http_client *client;

struct reply {
    struct exchange *call;
    int status;
    struct buf body;
    struct headers headers;
    unsigned heads, ends;
    int r;
    struct err err;
    bool pause_each, cancel_on_head, cancel_on_data, close_on_end;
    struct reply *then; /* start this one in on_end */
    const char *then_target;
    bool keep_headers;
};

static void get(struct reply *r, const char *target);

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct reply *r = arg;
    CHECK_INT(r->heads, 0);
    CHECK_INT(r->ends, 0);
    r->heads++;
    r->status = status;
    if (r->keep_headers)
        CHECK_OK(headers_copy(&r->headers, headers));
    if (r->pause_each)
        exchange_pause(r->call);
    if (r->cancel_on_head)
        exchange_cancel(r->call);
}

static void on_data(void *arg, struct str chunk)
{
    struct reply *r = arg;
    CHECK_INT(r->heads, 1);
    CHECK_INT(r->ends, 0);
    CHECK_OK(buf_add_str(&r->body, chunk));
    if (r->pause_each)
        exchange_pause(r->call);
    if (r->cancel_on_data)
        exchange_cancel(r->call);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct reply *reply = arg;
    reply->ends++;
    CHECK_INT(reply->ends, 1);
    reply->r = r;
    reply->err = *err;
    CHECK_INT(err->code, r);
    if (reply->then)
        get(reply->then, reply->then_target);
    if (reply->close_on_end) {
        http_client_close(client);
        client = NULL;
    }
}

static const struct exchange_events call_events = { .on_head = on_head,
                                                    .on_data = on_data,
                                                    .on_end = on_end };

static void call(struct reply *r, const char *method, const char *target, struct str body,
                 uint64_t timeout_ms)
{
    struct err err = { 0 };
    r->body = BUF_INIT(64 << 20);
    struct http_call_opts opts = {
        .method = str_of(method),
        .target = str_of(target),
        .body = body,
        .head_timeout_ms = timeout_ms,
        .events = &call_events,
        .arg = r,
    };
    if (http_call_start(client, &opts, &r->call, &err) < 0)
        TEST_FAIL("%s", err.text);
    CHECK_INT(r->heads + r->ends, 0);
}

static void get(struct reply *r, const char *target)
{
    call(r, "GET", target, STR(""), 0);
}

static void client_setup_with(struct http_client_opts opts)
{
    struct err err = { 0 };
    if (!opts.unix_path) {
        opts.host = opts.host ? opts.host : "127.0.0.1";
        opts.port = opts.port ? opts.port : port;
    }
    CHECK_OK(http_client_new(&loop, &opts, &client, &err));
}

static void client_setup(void)
{
    client_setup_with((struct http_client_opts){ 0 });
}

static void reply_fini(struct reply *r)
{
    buf_fini(&r->body);
    headers_fini(&r->headers);
}

TEST(a_client_keeps_its_connection)
{
    setup();
    client_setup();
    char *peer = NULL;
    for (int i = 0; i < 5; i++) {
        struct reply r = { .keep_headers = true };
        get(&r, "/hello");
        WAIT_FOR(r.ends);
        CHECK_INT(r.r, 0);
        CHECK_INT(r.status, 200);
        CHECK_STR(buf_str(&r.body), "hello");
        CHECK_STR(headers_get(&r.headers, "content-length"), "5");
        CHECK(!peer || strcmp(peer, seen.peer) == 0);
        free(peer);
        peer = xstrdup(seen.peer);
        reply_fini(&r);
    }
    free(peer);
    http_client_close(client);
    teardown();
}

TEST(a_client_posts_and_streams)
{
    setup();
    client_setup();
    struct buf b = BUF_INIT(16 << 20);
    for (int i = 0; i < 500000; i++)
        CHECK_OK(buf_add_u64_dec(&b, (uint64_t)i));
    struct reply r = { 0 };
    call(&r, "POST", "/echo", buf_str(&b), 0);
    WAIT_FOR(r.ends);
    CHECK_INT(r.r, 0);
    CHECK(str_eq(buf_str(&r.body), buf_str(&b)));
    reply_fini(&r);
    r = (struct reply){ 0 };
    get(&r, "/chunks");
    WAIT_FOR(r.ends);
    CHECK_STR(buf_str(&r.body), "chunk\nchunk\nchunk\n");
    reply_fini(&r);
    r = (struct reply){ 0 };
    call(&r, "HEAD", "/hello", STR(""), 0);
    WAIT_FOR(r.ends);
    CHECK_INT(r.body.n, 0);
    CHECK_INT(r.r, 0);
    reply_fini(&r);
    r = (struct reply){ 0 };
    get(&r, "/empty");
    WAIT_FOR(r.ends);
    CHECK_INT(r.status, 204);
    reply_fini(&r);
    buf_fini(&b);
    http_client_close(client);
    teardown();
}

TEST(a_paused_call_gets_nothing_and_loses_nothing)
{
    setup();
    client_setup();
    static const char *const targets[] = { "/big", "/big-chunked", "/hello", "/empty" };
    static const size_t sizes[] = { 20 << 20, 20 << 20, 5, 0 };
    for (size_t i = 0; i < ARRAY_LEN(targets); i++) {
        struct reply r = { .pause_each = true };
        get(&r, targets[i]);
        WAIT_FOR(r.heads);
        for (int k = 0; k < 20; k++)
            (void)loop_turn(&loop, false);
        CHECK_INT(r.body.n + r.ends, 0);
        timer_start(&loop, &guard, 60000, on_guard);
        while (!r.ends) {
            exchange_resume(r.call);
            (void)loop_turn(&loop, true);
        }
        timer_stop(&loop, &guard);
        CHECK_INT(r.r, 0);
        CHECK_INT(r.body.n, sizes[i]);
        reply_fini(&r);
    }
    http_client_close(client);
    teardown();
}

TEST(calls_past_the_connection_limit_wait_in_order)
{
    setup();
    client_setup_with((struct http_client_opts){ .max_connections = 1 });
    struct reply r[20] = { 0 };
    for (int i = 0; i < 20; i++)
        get(&r[i], i % 2 ? "/hello" : "/chunks");
    for (int i = 0; i < 20; i++) {
        WAIT_FOR(r[i].ends);
        CHECK_INT(r[i].r, 0);
        for (int k = i + 2; k < 20; k++)
            CHECK_INT(r[k].ends, 0);
        reply_fini(&r[i]);
    }
    CHECK_INT(requests, 20);
    http_client_close(client);
    teardown();
}

TEST(a_call_can_be_cancelled_at_any_time)
{
    setup();
    client_setup_with((struct http_client_opts){ .max_connections = 1 });
    struct reply queued = { 0 }, running = { 0 }, fresh = { 0 },
                 at_head = { .cancel_on_head = true }, at_data = { .cancel_on_data = true };
    get(&fresh, "/hello"); /* before anything is connected */
    exchange_cancel(fresh.call);
    CHECK_INT(fresh.ends, 0);
    get(&running, "/hold");
    get(&queued, "/hello");
    WAIT_FOR(requests == 1);
    exchange_cancel(queued.call);
    WAIT_FOR(queued.ends);
    exchange_cancel(running.call);
    WAIT_FOR(running.ends && seen.gones);
    get(&at_head, "/hello");
    WAIT_FOR(at_head.ends);
    get(&at_data, "/hello");
    WAIT_FOR(at_data.ends);
    struct reply *all[] = { &queued, &running, &fresh, &at_head, &at_data };
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        CHECK_ERR(all[i]->r, -ECANCELED);
        CHECK_INT(all[i]->ends, 1);
        reply_fini(all[i]);
    }
    struct reply last = { 0 };
    get(&last, "/hello");
    WAIT_FOR(last.ends);
    CHECK_INT(last.r, 0);
    reply_fini(&last);
    http_client_close(client);
    teardown();
}

TEST(a_call_may_start_another_or_close_the_client_when_it_ends)
{
    setup();
    client_setup_with((struct http_client_opts){ .max_connections = 1 });
    struct reply second = { .close_on_end = true },
                 first = { .then = &second, .then_target = "/hello" };
    get(&first, "/hello");
    WAIT_FOR(second.ends);
    CHECK_INT(first.r + second.r, 0);
    CHECK(client == NULL);
    reply_fini(&first);
    reply_fini(&second);
    teardown();
}

TEST(closing_a_client_cancels_its_calls)
{
    setup();
    client_setup_with((struct http_client_opts){ .max_connections = 2 });
    struct reply r[4] = { 0 };
    get(&r[0], "/hold");
    get(&r[1], "/hold");
    get(&r[2], "/hello");
    get(&r[3], "/hello");
    WAIT_FOR(requests == 2);
    seen.x = NULL;
    http_client_close(client);
    CHECK_INT(r[0].ends + r[1].ends + r[2].ends + r[3].ends, 0);
    for (int i = 0; i < 4; i++) {
        WAIT_FOR(r[i].ends);
        CHECK_ERR(r[i].r, -ECANCELED);
        reply_fini(&r[i]);
    }
    teardown();
}

TEST(a_call_that_finds_no_free_connection_times_out)
{
    setup();
    client_setup_with((struct http_client_opts){ .max_connections = 1 });
    struct reply holds = { 0 }, waits = { 0 };
    get(&holds, "/hold");
    WAIT_FOR(requests == 1);
    call(&waits, "GET", "/hello", STR(""), 30);
    WAIT_FOR(waits.ends);
    CHECK_ERR(waits.r, -ETIMEDOUT);
    CHECK(strstr(waits.err.text, "no free connection within 30 ms"));
    CHECK_INT(requests, 1);
    exchange_cancel(holds.call);
    WAIT_FOR(holds.ends && seen.gones);
    reply_fini(&holds);
    reply_fini(&waits);
    http_client_close(client);
    teardown();
}

TEST(a_late_head_times_out)
{
    setup();
    client_setup();
    struct reply r = { 0 };
    call(&r, "GET", "/hold", STR(""), 30);
    WAIT_FOR(r.ends);
    CHECK_ERR(r.r, -ETIMEDOUT);
    CHECK_STR(str_of(r.err.text), "no response within 30 ms");
    WAIT_FOR(seen.gones);
    reply_fini(&r);
    http_client_close(client);
    teardown();
}

static void ignore_connection(uv_stream_t *listener, int status)
{
}

TEST(a_connection_that_is_not_made_times_out)
{
    setup();
    uv_tcp_t listener; /* the kernel connects, nobody accepts, and no TLS handshake comes */
    struct sockaddr_storage addr;
    int n = sizeof addr;
    CHECK_OK(uv_ip4_addr("127.0.0.1", 0, (struct sockaddr_in *)&addr));
    CHECK_OK(uv_tcp_init(&loop.uv, &listener));
    CHECK_OK(uv_tcp_bind(&listener, (struct sockaddr *)&addr, 0));
    CHECK_OK(uv_listen((uv_stream_t *)&listener, 4, ignore_connection));
    CHECK_OK(uv_tcp_getsockname(&listener, (struct sockaddr *)&addr, &n));
    struct err err = { 0 };
    struct tls_ctx *tls;
    CHECK_OK(tls_ctx_new_client(STR(""), STR(""), STR(""), true, &tls, &err));
    client_setup_with(
        (struct http_client_opts){ .port = ntohs(((struct sockaddr_in *)&addr)->sin_port),
                                   .tls = tls,
                                   .connect_timeout_ms = 30 });
    struct reply r = { 0 };
    get(&r, "/");
    WAIT_FOR(r.ends);
    CHECK_ERR(r.r, -ETIMEDOUT);
    CHECK(str_has_suffix(str_of(r.err.text), STR(": no connection within 30 ms")));
    reply_fini(&r);
    http_client_close(client);
    tls_ctx_free(tls);
    uv_close((uv_handle_t *)&listener, NULL);
    teardown();
}

TEST(an_idle_client_closes_its_connections)
{
    setup();
    client_setup_with((struct http_client_opts){ .idle_ms = 3000 });
    struct reply r[3] = { 0 };
    for (int i = 0; i < 3; i++)
        get(&r[i], "/hello");
    for (int i = 0; i < 3; i++) {
        WAIT_FOR(r[i].ends);
        reply_fini(&r[i]);
    }
    CHECK_INT(http_server_connections(server), 3);
    loop_skip(&loop, 3000);
    WAIT_FOR(http_server_connections(server) == 0);
    CHECK_INT(loop.timers.n, 0);
    http_client_close(client);
    teardown();
}

TEST(a_refused_connection_says_where)
{
    setup();
    uint16_t dead_port = port;
    teardown();
    struct err err = { 0 };
    CHECK_OK(loop_init(&loop, &err));
    client_setup_with((struct http_client_opts){ .port = dead_port });
    struct reply r = { 0 };
    get(&r, "/");
    WAIT_FOR(r.ends);
    CHECK_ERR(r.r, -ECONNREFUSED);
    char want[100];
    (void)snprintf(want, sizeof want, "connect to '127.0.0.1' port %u: connect: Connection refused",
                   dead_port);
    CHECK_STR(str_of(r.err.text), want);
    reply_fini(&r);
    http_client_close(client);
    loop_run(&loop);
    char name[65] = {
        0
    }; /* too long for a question to a server of names, which may not be there */
    memset(name, 'x', sizeof name - 1);
    client_setup_with((struct http_client_opts){ .host = name, .port = 1 });
    r = (struct reply){ 0 };
    get(&r, "/");
    WAIT_FOR(r.ends);
    CHECK_ERR(r.r, -EHOSTUNREACH);
    CHECK(str_has_prefix(str_of(r.err.text), STR("find 'xxx")));
    reply_fini(&r);
    http_client_close(client);
    loop_run(&loop);
    loop_fini(&loop);
}

TEST(a_name_is_looked_up_and_every_address_tried)
{
    setup();
    client_setup_with((struct http_client_opts){
        .host = "localhost" }); /* perhaps ::1 first, where nobody listens */
    struct reply r = { 0 };
    get(&r, "/hello");
    WAIT_FOR(r.ends);
    if (r.r < 0)
        TEST_FAIL("%s", r.err.text);
    reply_fini(&r);
    http_client_close(client);
    teardown();
}

TEST(malformed_calls_are_refused_at_once)
{
    setup();
    client_setup();
    static const char *const bad[][2] = { { "GET", "" },     { "GET", "x" },
                                          { "GET", "/a b" }, { "GET", "/a\r\nx: y" },
                                          { "G T", "/" },    { "", "/" },
                                          { "GET\r\n", "/" } };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct http_call_opts opts = { .method = str_of(bad[i][0]),
                                       .target = str_of(bad[i][1]),
                                       .events = &call_events };
        struct exchange *c;
        CHECK_ERR(http_call_start(client, &opts, &c, NULL), -EINVAL);
    }
    http_client_close(client);
    teardown();
}

/* ------------------------------------------------------------------ client against raw servers */

/* Answers every connection's first bytes with a script, one reply per read; then as `hang_up` says.
 */
static struct script {
    uv_tcp_t listener;
    const char *const *replies;
    size_t n, at;
    bool hang_up;
    unsigned conns;
    bool closed;
} script;

struct peer {
    uv_tcp_t tcp;
    bool closing;
};

static void peer_free(uv_handle_t *h)
{
    free(h->data);
}

static void peer_end(struct peer *p)
{
    if (!p->closing)
        uv_close((uv_handle_t *)&p->tcp, peer_free);
    p->closing = true;
}

static void peer_on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
    struct peer *p = s->data;
    if (n < 0 || script.at == script.n) {
        peer_end(p);
        return;
    }
    const char *text = script.replies[script.at++];
    uv_buf_t out = uv_buf_init((char *)text, (unsigned)strlen(text));
    CHECK_INT(out.len ? uv_try_write(s, &out, 1) : 0, out.len);
    if (script.hang_up)
        peer_end(p);
}

static void script_on_connection(uv_stream_t *listener, int status)
{
    CHECK_OK(status);
    struct peer *p = xnew(struct peer);
    CHECK_OK(uv_tcp_init(&loop.uv, &p->tcp));
    p->tcp.data = p;
    CHECK_OK(uv_accept(listener, (uv_stream_t *)&p->tcp));
    CHECK_OK(uv_read_start((uv_stream_t *)&p->tcp, raw_on_alloc, peer_on_read));
    script.conns++;
}

static void script_start(const char *const *replies, size_t n, bool hang_up)
{
    struct err err = { 0 };
    CHECK_OK(loop_init(&loop, &err));
    script = (struct script){ .replies = replies, .n = n, .hang_up = hang_up };
    struct sockaddr_storage addr;
    int addr_n = sizeof addr;
    CHECK_OK(uv_ip4_addr("127.0.0.1", 0, (struct sockaddr_in *)&addr));
    CHECK_OK(uv_tcp_init(&loop.uv, &script.listener));
    CHECK_OK(uv_tcp_bind(&script.listener, (struct sockaddr *)&addr, 0));
    CHECK_OK(uv_listen((uv_stream_t *)&script.listener, 16, script_on_connection));
    CHECK_OK(uv_tcp_getsockname(&script.listener, (struct sockaddr *)&addr, &addr_n));
    port = ntohs(((struct sockaddr_in *)&addr)->sin_port);
    client_setup();
}

static void script_end(void)
{
    http_client_close(client);
    uv_close((uv_handle_t *)&script.listener, NULL);
    loop_run(&loop);
    loop_fini(&loop);
}

/* One GET against one scripted reply. */
static void script_get(const char *reply, bool hang_up, struct reply *r)
{
    script_start(&reply, 1, hang_up);
    *r = (struct reply){ 0 };
    get(r, "/");
    WAIT_FOR(r->ends);
    script_end();
}

TEST(interim_responses_are_skipped)
{
    struct reply r;
    script_get("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"
               "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok",
               false, &r);
    CHECK_INT(r.r, 0);
    CHECK_INT(r.status, 200);
    CHECK_STR(buf_str(&r.body), "ok");
    reply_fini(&r);
    struct buf b = BUF_INIT(4096);
    for (int i = 0; i < 20; i++)
        CHECK_OK(buf_add_cstr(&b, "HTTP/1.1 100 Continue\r\n\r\n"));
    script_get(buf_cstr(&b), false, &r);
    CHECK_ERR(r.r, E_LIMIT);
    buf_fini(&b);
    reply_fini(&r);
}

TEST(a_body_may_end_with_the_connection)
{
    struct reply r;
    script_get("HTTP/1.0 200 OK\r\n\r\nall of it", true, &r);
    CHECK_INT(r.r, 0);
    CHECK_STR(buf_str(&r.body), "all of it");
    reply_fini(&r);
}

TEST(broken_responses_are_errors)
{
    static const struct {
        int code;
        const char *reply;
    } cases[] = {
        { E_PARSE, "nonsense" },
        { E_PARSE, "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxy" },
        { E_PARSE,
          "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n" },
        { E_PARSE, "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\nx" },
        { E_PARSE,
          "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n" },
        { E_PARSE, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n" },
        { E_PARSE, "HTTP/2.0 200 OK\r\ncontent-length: 0\r\n\r\n" },
        { -ECONNRESET, "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf" },
        { -ECONNRESET, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel" },
        { -ECONNRESET, "HTTP/1.1 200 OK\r\ncontent-le" },
        { -ECONNRESET, "HTTP/1.1 100 Continue\r\n\r\n" },
        { -ECONNRESET, "" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct reply r;
        script_get(cases[i].reply, true, &r);
        if (r.r != cases[i].code)
            TEST_FAIL("'%s' is %s (%s), expected %s", cases[i].reply, err_name(r.r), r.err.text,
                      err_name(cases[i].code));
        reply_fini(&r);
    }
}

TEST(bytes_after_a_response_end_the_connection)
{
    static const char *const replies[] = {
        "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: "
        "6\r\n\r\npoison",
        "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nreal",
    };
    script_start(replies, 2, false);
    for (int i = 0; i < 2; i++) {
        struct reply r = { 0 };
        get(&r, "/");
        WAIT_FOR(r.ends);
        CHECK_INT(r.r, 0);
        CHECK_STR(buf_str(&r.body), i ? "real" : "");
        reply_fini(&r);
    }
    CHECK_INT(script.conns, 2);
    script_end();
}

/* The server closes a kept connection just when the next request is on its way. */
TEST(a_dead_kept_connection_is_retried_for_harmless_requests_only)
{
    static const char *const first = "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n1";
    const char *const replies[] = { first, "", first };
    for (int post = 0; post < 2; post++) {
        script_start(replies, 1, false); /* the second request is met by a closing peer */
        struct reply r = { 0 };
        get(&r, "/");
        WAIT_FOR(r.ends);
        CHECK_INT(r.r, 0);
        reply_fini(&r);
        r = (struct reply){ 0 };
        call(&r, post ? "POST" : "GET", "/", STR("x"), 0);
        WAIT_FOR(script.conns == 2 || r.ends);
        script.n = 2; /* the new connection is answered */
        script.replies = (const char *const[]){ first, first };
        WAIT_FOR(r.ends);
        CHECK_ERR(r.r, post ? -ECONNRESET : 0);
        CHECK_INT(script.conns, post ? 1 : 2);
        reply_fini(&r);
        script_end();
    }
}

TEST(an_idle_client_connection_that_the_server_ends_is_forgotten)
{
    setup_with((struct http_server_opts){ .keepalive_ms = 20 });
    client_setup();
    struct reply r = { 0 };
    call(&r, "POST", "/echo", STR("a"), 0);
    WAIT_FOR(r.ends);
    reply_fini(&r);
    WAIT_FOR(loop.timers.n ==
             1); /* the server's idle timer and the client's are gone with the connection */
    r = (struct reply){ 0 };
    call(&r, "POST", "/echo", STR("b"), 0);
    WAIT_FOR(r.ends);
    CHECK_INT(r.r, 0);
    reply_fini(&r);
    http_client_close(client);
    teardown();
}

/* ------------------------------------------------------------------ Unix sockets */

TEST(a_unix_socket_in_no_directory_says_so)
{
    struct err err = { 0 };
    struct http_server *none;
    const struct http_server_opts opts = { .unix_path = "/nonexistent/socket",
                                           .on_request = on_request };
    setup_with((struct http_server_opts){ 0 });
    CHECK_ERR(http_server_start(&loop, &opts, &none, &err), -ENOENT);
    CHECK_STR(str_of(err_text(&err)), "listen on '/nonexistent/socket': No such file or directory");
    teardown();
}

TEST(a_unix_socket_serves_its_owner_only)
{
    char dir[] = "/tmp/test-http-XXXXXX";
    CHECK(mkdtemp(dir));
    scoped(free_scoped) char *path = xasprintf("%s/socket", dir);
    for (int round = 0; round < 2; round++) {
        setup_with((struct http_server_opts){ .unix_path = path });
        struct stat st;
        CHECK_OK(stat(path, &st));
        CHECK_INT(st.st_mode & 0777, 0600);
        client_setup_with((struct http_client_opts){ .unix_path = path });
        struct reply r = { 0 };
        get(&r, "/hello");
        WAIT_FOR(r.ends);
        CHECK_STR(buf_str(&r.body), "hello");
        CHECK_STR(str_of(seen.peer), "unix");
        reply_fini(&r);
        struct err err = { 0 };
        struct http_server *second; /* a living one keeps its path */
        struct http_server_opts opts = { .unix_path = path, .on_request = on_request };
        CHECK_ERR(http_server_start(&loop, &opts, &second, &err), -EADDRINUSE);
        http_client_close(client);
        teardown();
        CHECK_ERR(stat(path, &st) < 0 ? -errno : 0, -ENOENT);
        /* what a killed process leaves is replaced in the second round */
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        struct sockaddr_un addr = { .sun_family = AF_UNIX };
        memcpy(addr.sun_path, path, strlen(path) + 1);
        CHECK_OK(bind(fd, (struct sockaddr *)&addr, sizeof addr));
        CHECK_OK(close(fd));
    }
    CHECK_OK(unlink(path));
    CHECK_OK(rmdir(dir));
}

static bool is_public(const char *text)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
        return address_is_public((const struct sockaddr *)&v4);
    CHECK_INT(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
    return address_is_public((const struct sockaddr *)&v6);
}

TEST(addresses_of_special_purpose_are_not_public)
{
    static const char *const special[] = { "0.0.0.0",
                                           "10.1.2.3",
                                           "100.64.0.1",
                                           "100.100.100.200",
                                           "127.0.0.1",
                                           "127.255.0.1",
                                           "169.254.169.254",
                                           "172.16.0.1",
                                           "172.31.255.255",
                                           "192.0.0.1",
                                           "192.0.2.1",
                                           "192.168.1.1",
                                           "198.18.0.1",
                                           "198.19.0.1",
                                           "198.51.100.9",
                                           "203.0.113.9",
                                           "224.0.0.1",
                                           "240.0.0.1",
                                           "255.255.255.255",
                                           "::",
                                           "::1",
                                           "fe80::1",
                                           "febf::1",
                                           "fc00::1",
                                           "fd00:ec2::254",
                                           "ff02::1",
                                           "::ffff:10.0.0.1",
                                           "::ffff:127.0.0.1",
                                           "64:ff9b::7f00:1",
                                           "2002:7f00:1::",
                                           "2001::1",
                                           "2001:db8::1",
                                           "100::1",
                                           "::7f00:1",
                                           "3fff::1",
                                           "168.63.129.16",
                                           "::ffff:168.63.129.16",
                                           "64:ff9b::a83f:8110" };
    static const char *const plain[] = { "168.63.129.17", "1.1.1.1",        "11.0.0.1",
                                         "100.63.0.1",    "100.128.0.1",    "172.15.0.1",
                                         "172.32.0.1",    "192.0.1.1",      "198.17.0.1",
                                         "198.20.0.1",    "223.255.255.1",  "2606:4700::1",
                                         "2001:200::1",   "::ffff:1.1.1.1", "64:ff9b::101:101",
                                         "2002:101:101::" };
    for (size_t i = 0; i < ARRAY_LEN(special); i++)
        if (is_public(special[i]))
            TEST_FAIL("%s", special[i]);
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        if (!is_public(plain[i]))
            TEST_FAIL("%s", plain[i]);
}

TEST(addresses_that_no_machine_can_have)
{
    static const char *const none[] = { "0.0.0.0",
                                        "0.1.2.3",
                                        "169.254.169.254",
                                        "100.100.100.200",
                                        "168.63.129.16",
                                        "192.0.0.192",
                                        "64:ff9b:1::a9fe:a9fe",
                                        "64:ff9b::a83f:8110",
                                        "224.0.0.1",
                                        "255.255.255.255",
                                        "::",
                                        "::7f00:1",
                                        "fe80::1",
                                        "febf::1",
                                        "ff02::1",
                                        "fd00:ec2::254",
                                        "::ffff:0.0.0.0",
                                        "64:ff9b::7f00:1",
                                        "64:ff9b::a00:1",
                                        "2002:a9fe:a9fe::",
                                        "::ffff:224.0.0.1" };
    static const char *const some[] = { "127.0.0.1",       "::1",        "::ffff:127.0.0.1",
                                        "10.1.2.3",        "100.64.0.1", "192.168.1.1",
                                        "1.1.1.1",         "fd00::1",    "2001:db8::1",
                                        "168.63.129.15",   "192.0.1.1",  "64:ff9b:2::1",
                                        "64:ff9b::101:101" };
    struct address a;
    for (size_t i = 0; i < ARRAY_LEN(none); i++)
        if (!address_parse(str_of(none[i]), &a) || address_is_machine(&a))
            TEST_FAIL("%s", none[i]);
    for (size_t i = 0; i < ARRAY_LEN(some); i++)
        if (!address_parse(str_of(some[i]), &a) || !address_is_machine(&a))
            TEST_FAIL("%s", some[i]);
}

TEST(an_address_of_a_socket_is_that_of_its_text)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
    struct sockaddr_un un = { .sun_family = AF_UNIX };
    struct address a, b;
    CHECK_INT(inet_pton(AF_INET, "10.0.0.7", &v4.sin_addr), 1);
    CHECK_INT(inet_pton(AF_INET6, "fd00::7", &v6.sin6_addr), 1);
    CHECK(address_of_socket((const struct sockaddr *)&v4, &a) &&
          address_parse(STR("10.0.0.7"), &b));
    CHECK(address_equal(&a, &b));
    CHECK(address_of_socket((const struct sockaddr *)&v6, &a) && address_parse(STR("fd00::7"), &b));
    CHECK(address_equal(&a, &b));
    CHECK(!address_of_socket((const struct sockaddr *)&un, &a));
}

static bool net_has(const char *net_text, const char *text)
{
    struct address_net net;
    struct address a;
    CHECK(address_net_parse(str_of(net_text), &net));
    CHECK(address_parse(str_of(text), &a));
    return address_net_has(&net, &a);
}

TEST(addresses_are_in_networks)
{
    CHECK(net_has("10.0.0.0/8", "10.255.0.1") && !net_has("10.0.0.0/8", "11.0.0.1"));
    CHECK(net_has("10.0.0.0/8", "::ffff:10.0.0.1") && !net_has("::/96", "10.0.0.1"));
    CHECK(net_has("0.0.0.0/0", "1.2.3.4") && !net_has("0.0.0.0/0", "fd00::1"));
    CHECK(net_has("192.168.7.128/25", "192.168.7.200") &&
          !net_has("192.168.7.128/25", "192.168.7.1"));
    CHECK(net_has("10.1.2.3", "10.1.2.3") && !net_has("10.1.2.3", "10.1.2.4"));
    CHECK(net_has("fd00::/8", "fdff::1") && !net_has("fd00::/8", "fe00::1"));
    CHECK(net_has("fd00::1", "[fd00:0::1]") && net_has("::/0", "10.0.0.1"));
    struct address_net net;
    static const char *const wrong[] = { "",          "10.0.0.0/33",  "10.0.0/8",  "fd00::/129",
                                         "10.0.0.0/", "10.0.0.0/8/8", "a.example", "/8",
                                         "[]",        "10.0.0.0/-1" };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        if (address_net_parse(str_of(wrong[i]), &net))
            TEST_FAIL("%s", wrong[i]);
}

TEST(a_host_stands_before_the_last_colon)
{
    struct str host;
    CHECK(address_host(STR("10.0.0.7:80"), &host) && str_is(host, "10.0.0.7"));
    CHECK(address_host(STR("[fd00::7]:65535"), &host) && str_is(host, "[fd00::7]"));
    CHECK(address_host(STR("a.example:1"), &host) && str_is(host, "a.example"));
    static const char *const wrong[] = {
        "", ":80", "a", "a:", "a:0", "a:65536", "a:8x", "unix:/a"
    };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        if (address_host(str_of(wrong[i]), &host))
            TEST_FAIL("%s", wrong[i]);
}

TEST(names_that_look_like_loopback_are_not)
{
    static const char *const yes[] = { "127.0.0.1", "127.9.9.9", "::1", "localhost" };
    static const char *const no[] = { "127.evil.example", "127.0.0.1.example", "0.0.0.0", "::",
                                      "10.0.0.1",         "Localhost.example", "" };
    for (size_t i = 0; i < ARRAY_LEN(yes); i++)
        CHECK(address_is_loopback_text(yes[i]));
    for (size_t i = 0; i < ARRAY_LEN(no); i++)
        CHECK(!address_is_loopback_text(no[i]));
    CHECK(!address_is_loopback_text(NULL));
}

TEST_MAIN
