/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP/2 server against frames made by hand (RFC 9113), right ones and wrong ones. The peer
 * here knows frames and literal fields; only what the server sends is decoded by a library.
 */
#include "io/http.h"

#include "base/buf.h"
#include "base/list.h"
#include "test.h"

#include <errno.h>
#include <nghttp2/nghttp2.h>
#include <sys/socket.h>

enum {
    DATA,
    HEADERS,
    PRIORITY,
    RST_STREAM,
    SETTINGS,
    PUSH,
    PING,
    GOAWAY,
    WINDOW_UPDATE,
    CONTINUATION
};
enum { END_STREAM = 1, ACK = 1, END_HEADERS = 4, PADDED = 8 };
enum { NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, REFUSED = 7, CANCEL = 8, CALM = 11 };

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

enum { HANDLED_MAX = 1024 };

/* One request as a handler saw it. */
struct handled {
    struct http_exchange *x;
    char target[64], method[16], host[32];
    struct buf body;
    size_t most_pending, left;
    unsigned ends, gones;
    int body_r, gone_r;
    bool pauses;
};

static struct http_server *server;
static uint16_t port;
static struct handled handled[HANDLED_MAX];
static size_t n_handled, n_gone;

static void on_body(struct http_exchange *x, struct str chunk)
{
    struct handled *h = http_exchange_data(x);
    CHECK_INT(h->ends, 0);
    CHECK_OK(buf_add_str(&h->body, chunk));
    if (h->pauses)
        http_pause_body(x);
}

static void on_body_end(struct http_exchange *x, int r)
{
    struct handled *h = http_exchange_data(x);
    h->ends++;
    h->body_r = r;
    if (r == 0)
        http_reply(x, 200, NULL, buf_str(&h->body));
}

static void go_on(struct http_exchange *x)
{
    static char block[8 << 10];
    struct handled *h = http_exchange_data(x);
    memset(block, 'b', sizeof block);
    while (h->left) {
        size_t n = MIN(h->left, sizeof block);
        h->left -= n;
        bool more = http_write(x, str_n(block, n));
        h->most_pending = MAX(h->most_pending, http_write_pending(x));
        if (!more)
            return;
    }
    http_end(x);
}

static void on_gone(struct http_exchange *x, int r)
{
    struct handled *h = http_exchange_data(x);
    CHECK_INT(h->gones, 0);
    h->gones++;
    h->gone_r = r;
    h->x = NULL;
    n_gone++;
}

static const struct http_exchange_ops ops = { on_body, on_body_end, go_on, on_gone };

static void on_request(struct http_exchange *x, const struct http_request *req, void *arg)
{
    CHECK(n_handled < HANDLED_MAX);
    struct handled *h = &handled[n_handled++];
    struct str t = req->target;
    *h = (struct handled){ .x = x, .body = BUF_INIT(16 << 20) };
    (void)snprintf(h->target, sizeof h->target, STR_FMT, STR_ARG(t));
    (void)snprintf(h->method, sizeof h->method, STR_FMT, STR_ARG(req->method));
    (void)snprintf(h->host, sizeof h->host, STR_FMT, STR_ARG(headers_get(req->headers, "host")));
    CHECK(str_has_prefix(req->peer, STR("127.0.0.1:")));
    http_exchange_set(x, &ops, h);
    if (str_is(t, "/hello")) {
        http_reply(x, 200, NULL, STR("hello"));
    } else if (str_is(t, "/echo")) {
        http_read_body(x, 8 << 20);
    } else if (str_is(t, "/pauses")) {
        h->pauses = true;
        http_read_body(x, 8 << 20);
    } else if (str_is(t, "/limited")) {
        http_read_body(x, 10);
    } else if (str_is(t, "/empty")) {
        http_reply(x, 204, NULL, STR(""));
    } else if (str_is(t, "/abort")) {
        http_respond(x, 200, NULL, 100);
        CHECK(http_write(x, STR("half")));
        http_abort(x);
    } else if (str_is(t, "/short")) {
        http_respond(x, 200, NULL, 100);
        CHECK(http_write(x, STR("half")));
        http_end(x);
    } else if (str_is(t, "/bytes")) {
        http_respond(x, 200, NULL, HTTP_CHUNKED);
        for (int i = 0; i < 1000; i++)
            CHECK(http_write(x, STR("x")));
        http_end(x);
    } else if (str_is(t, "/watch")) {
        http_respond(x, 200, NULL, HTTP_CHUNKED);
        CHECK(http_write(x, STR("begun\n")));
    } else if (str_is(t, "/big")) {
        h->left = 2 << 20;
        http_respond(x, 200, NULL, h->left);
        go_on(x);
    } else {
        CHECK(str_is(t, "/hold"));
    }
}

static void setup_with(struct http_server_opts opts)
{
    struct err err = { 0 };
    n_handled = n_gone = 0;
    CHECK_OK(loop_init(&loop, &err));
    opts.on_request = on_request;
    opts.http2 = true;
    if (http_server_start(&loop, &opts, &server, &err) < 0)
        TEST_FAIL("%s", err.text);
    port = http_server_port(server);
}

static bool server_done;
static void on_server_done(void *arg)
{
    server_done = true;
}

static void teardown(void)
{
    server_done = false;
    if (server)
        http_server_close(server, 0, on_server_done, NULL);
    WAIT_FOR(server_done || !server);
    loop_run(&loop);
    loop_fini(&loop);
    CHECK_INT(n_gone, n_handled);
    for (size_t i = 0; i < n_handled; i++)
        buf_fini(&handled[i].body);
}

/* ------------------------------------------------------------------ the peer */

enum { PEER_STREAMS = 4096 };

struct seen {
    int status, n_heads;
    size_t body_n, n_data;
    struct buf body;
    bool ended, reset;
    uint32_t code;
    uint64_t window; /* updates received */
};

static struct peer {
    uv_tcp_t tcp;
    uv_connect_t req;
    struct buf in, out;
    nghttp2_hd_inflater *inflater;
    bool connected, closed, went, quiet;
    unsigned goaways, pongs, settings;
    uint32_t goaway_last, goaway_code;
    uint64_t window;
    struct seen at[PEER_STREAMS]; /* by (id - 1) / 2 */
} peer;

static struct seen *seen(uint32_t id)
{
    CHECK(id % 2 == 1 && id / 2 < PEER_STREAMS);
    return &peer.at[id / 2];
}

static void put_be(struct buf *b, uint64_t v, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--)
        CHECK_OK(buf_add_u8(b, (uint8_t)(v >> (8 * i))));
}

static uint32_t be32(const char *p)
{
    const uint8_t *u = (const uint8_t *)p;
    return (uint32_t)u[0] << 24 | (uint32_t)u[1] << 16 | (uint32_t)u[2] << 8 | u[3];
}

static void frame(int type, int flags, uint32_t id, struct str payload)
{
    put_be(&peer.out, payload.n, 3);
    put_be(&peer.out, (uint64_t)type, 1);
    put_be(&peer.out, (uint64_t)flags, 1);
    put_be(&peer.out, id, 4);
    CHECK_OK(buf_add_str(&peer.out, payload));
}

static void frame_u32(int type, uint32_t id, uint32_t v)
{
    char p[4] = { (char)(v >> 24), (char)(v >> 16), (char)(v >> 8), (char)v };
    frame(type, 0, id, str_n(p, 4));
}

/* A literal field without indexing and without Huffman (RFC 7541 section 6.2.2). */
static void field(struct buf *b, const char *name, const char *value)
{
    CHECK(strlen(name) < 127 && strlen(value) < 127);
    put_be(b, 0, 1);
    put_be(b, strlen(name), 1);
    CHECK_OK(buf_add_cstr(b, name));
    put_be(b, strlen(value), 1);
    CHECK_OK(buf_add_cstr(b, value));
}

static void pseudo(struct buf *b, const char *method, const char *path)
{
    field(b, ":method", method);
    field(b, ":scheme", "http");
    field(b, ":path", path);
    field(b, ":authority", "test");
}

static void request(uint32_t id, const char *method, const char *path, int flags)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(4096);
    pseudo(&b, method, path);
    frame(HEADERS, flags | END_HEADERS, id, buf_str(&b));
}

static void get(uint32_t id, const char *path)
{
    request(id, "GET", path, END_STREAM);
}

static void data(uint32_t id, size_t n, int flags)
{
    static char zeros[16 << 10];
    memset(zeros, 'd', sizeof zeros);
    for (; n > sizeof zeros; n -= sizeof zeros)
        frame(DATA, 0, id, str_n(zeros, sizeof zeros));
    frame(DATA, flags, id, str_n(zeros, n));
}

struct sending {
    uv_write_t req;
    char *p;
};

static void on_sent(uv_write_t *req, int status)
{
    struct sending *s = container_of(req, struct sending, req);
    free(s->p);
    free(s);
}

static void send_all(void)
{
    struct sending *s = xnew(struct sending);
    size_t n;
    s->p = buf_take(&peer.out, &n);
    peer.out.max = 64 << 20;
    uv_buf_t b = uv_buf_init(s->p, (unsigned)n);
    int r = uv_write(&s->req, (uv_stream_t *)&peer.tcp, &b, 1, on_sent);
    if (r < 0)
        on_sent(&s->req, r);
}

static void take_fields(struct seen *st, const char *p, size_t n)
{
    const uint8_t *at = (const uint8_t *)p;
    st->n_heads++;
    for (;;) {
        nghttp2_nv nv;
        int flags = 0;
        ssize_t used = nghttp2_hd_inflate_hd2(peer.inflater, &nv, &flags, at, n, 1);
        CHECK(used >= 0);
        at += used;
        n -= (size_t)used;
        if ((flags & NGHTTP2_HD_INFLATE_EMIT) && nv.namelen == 7 &&
            memcmp(nv.name, ":status", 7) == 0)
            st->status = (nv.value[0] - '0') * 100 + (nv.value[1] - '0') * 10 + nv.value[2] - '0';
        if (flags & NGHTTP2_HD_INFLATE_FINAL)
            break;
    }
    nghttp2_hd_inflate_end_headers(peer.inflater);
}

static void take_frame(int type, int flags, uint32_t id, const char *p, size_t n)
{
    struct seen *st = id ? seen(id) : NULL;
    switch (type) {
    case HEADERS:
        CHECK(flags & END_HEADERS);
        take_fields(st, p, n);
        st->ended = flags & END_STREAM;
        break;
    case DATA:
        CHECK(!st->ended);
        st->n_data++;
        st->body_n += n;
        if (st->body.n < 4096)
            CHECK_OK(buf_add(&st->body, p, n));
        st->ended = flags & END_STREAM;
        break;
    case RST_STREAM:
        st->reset = true;
        st->code = be32(p);
        break;
    case SETTINGS:
        peer.settings += !(flags & ACK);
        break;
    case PING:
        if (flags & ACK) {
            peer.pongs++;
        } else if (!peer.quiet) {
            frame(PING, ACK, 0, str_n(p, n));
            send_all();
        }
        break;
    case GOAWAY:
        peer.goaways++;
        peer.goaway_last = be32(p);
        peer.goaway_code = be32(p + 4);
        break;
    case WINDOW_UPDATE:
        *(st ? &st->window : &peer.window) += be32(p);
        break;
    default:
        TEST_FAIL("frame of type %d", type);
    }
}

static void on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *b)
{
    static char memory[65536];
    *b = uv_buf_init(memory, sizeof memory);
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
    if (n < 0) {
        peer.went = true;
        return;
    }
    CHECK_OK(buf_add(&peer.in, b->base, (size_t)n));
    size_t at = 0;
    while (peer.in.n - at >= 9) {
        const char *p = peer.in.p + at;
        size_t len = be32(p) >> 8;
        if (peer.in.n - at < 9 + len)
            break;
        take_frame(p[3], p[4], be32(p + 5), p + 9, len);
        at += 9 + len;
    }
    buf_consume(&peer.in, at);
}

static void on_connect(uv_connect_t *req, int status)
{
    CHECK_OK(status);
    peer.connected = true;
}

#define PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

static void peer_connect(void)
{
    memset(&peer, 0, sizeof peer);
    peer.in = peer.out = BUF_INIT(64 << 20);
    for (size_t i = 0; i < PEER_STREAMS; i++)
        peer.at[i].body = BUF_INIT(64 << 10);
    CHECK_OK(nghttp2_hd_inflate_new(&peer.inflater));
    struct sockaddr_in addr;
    CHECK_OK(uv_ip4_addr("127.0.0.1", port, &addr));
    CHECK_OK(uv_tcp_init(&loop.uv, &peer.tcp));
    CHECK_OK(uv_tcp_connect(&peer.req, &peer.tcp, (struct sockaddr *)&addr, on_connect));
    WAIT_FOR(peer.connected);
    CHECK_OK(uv_tcp_nodelay(&peer.tcp, 1));
    CHECK_OK(uv_read_start((uv_stream_t *)&peer.tcp, on_alloc, on_read));
}

/* With windows as wide as they get, unless a test wants to say so itself. */
static void peer_open(bool wide)
{
    peer_connect();
    CHECK_OK(buf_add_cstr(&peer.out, PREFACE));
    frame(SETTINGS, 0, 0, wide ? str_n("\0\4\x40\0\0\0", 6) : STR(""));
    frame_u32(WINDOW_UPDATE, 0, 1 << 30);
    send_all();
}

static void on_peer_closed(uv_handle_t *h)
{
    peer.closed = true;
}

static void peer_close(void)
{
    uv_close((uv_handle_t *)&peer.tcp, on_peer_closed);
    WAIT_FOR(peer.closed);
    nghttp2_hd_inflate_del(peer.inflater);
    buf_fini(&peer.in);
    buf_fini(&peer.out);
    for (size_t i = 0; i < PEER_STREAMS; i++)
        buf_fini(&peer.at[i].body);
}

static void begin(void)
{
    setup_with((struct http_server_opts){ 0 });
    peer_open(true);
}

static void end(void)
{
    peer_close();
    teardown();
}

/* The connection still serves. */
static void check_alive(uint32_t id)
{
    get(id, "/hello");
    send_all();
    WAIT_FOR(seen(id)->ended);
    CHECK_INT(seen(id)->status, 200);
}

/* ------------------------------------------------------------------ requests */

TEST(a_request_is_answered)
{
    begin();
    get(1, "/hello");
    send_all();
    WAIT_FOR(seen(1)->ended);
    CHECK_INT(seen(1)->status, 200);
    CHECK(str_is(buf_str(&seen(1)->body), "hello"));
    CHECK_INT(peer.settings, 1);
    WAIT_FOR(handled[0].gones);
    CHECK_INT(handled[0].gone_r, 0);
    CHECK(strcmp(handled[0].method, "GET") == 0 && strcmp(handled[0].host, "test") == 0);
    end();
}

TEST(the_preface_may_come_byte_by_byte)
{
    setup_with((struct http_server_opts){ 0 });
    peer_connect();
    for (const char *p = PREFACE; *p; p++) {
        CHECK_OK(buf_add(&peer.out, p, 1));
        send_all();
        (void)loop_turn(&loop, false);
        (void)loop_turn(&loop, false);
    }
    frame(SETTINGS, 0, 0, STR(""));
    check_alive(1);
    end();
}

TEST(what_only_begins_like_the_preface_is_http1)
{
    static const char *const methods[] = { "P", "UT", " /empty HTTP/1.1\r\nhost: x\r\n\r\n" };
    setup_with((struct http_server_opts){ 0 });
    peer_connect();
    CHECK_OK(uv_read_stop((uv_stream_t *)&peer.tcp));
    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        CHECK_OK(buf_add_cstr(&peer.out, methods[i]));
        send_all();
        (void)loop_turn(&loop, false);
        (void)loop_turn(&loop, false);
    }
    WAIT_FOR(n_gone == 1);
    CHECK(strcmp(handled[0].method, "PUT") == 0);
    end();
}

TEST(a_wrong_preface_ends_the_connection)
{
    setup_with((struct http_server_opts){ 0 });
    peer_connect();
    CHECK_OK(buf_add_cstr(&peer.out, "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n"));
    send_all();
    WAIT_FOR(peer.went);
    end();
}

TEST(a_body_comes_back)
{
    begin();
    request(1, "POST", "/echo", 0);
    data(1, 20000, 0);
    data(1, 0, END_STREAM);
    send_all();
    WAIT_FOR(seen(1)->ended);
    CHECK_INT(seen(1)->body_n, 20000);
    check_alive(3);
    end();
}

TEST(head_and_204_have_no_body)
{
    begin();
    request(1, "HEAD", "/hello", END_STREAM);
    get(3, "/empty");
    request(5, "HEAD", "/watch", END_STREAM);
    send_all();
    WAIT_FOR(seen(1)->ended && seen(3)->ended && seen(5)->n_heads);
    CHECK_INT(seen(1)->status, 200);
    CHECK_INT(seen(3)->status, 204);
    CHECK_INT(seen(1)->body_n + seen(3)->body_n + seen(5)->body_n, 0);
    end();
}

TEST(many_small_writes_become_one_frame)
{
    begin();
    get(1, "/bytes");
    send_all();
    WAIT_FOR(seen(1)->ended);
    CHECK_INT(seen(1)->body_n, 1000);
    CHECK_INT(seen(1)->n_data, 1);
    end();
}

TEST(trailers_are_ignored)
{
    begin();
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(4096);
    field(&b, "x-trailer", "1");
    request(1, "POST", "/echo", 0);
    data(1, 5, 0);
    frame(HEADERS, END_HEADERS | END_STREAM, 1, buf_str(&b));
    send_all();
    WAIT_FOR(seen(1)->ended);
    CHECK_INT(seen(1)->body_n, 5);
    end();
}

TEST(who_waits_for_100_gets_it)
{
    begin();
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(4096);
    pseudo(&b, "POST", "/echo");
    field(&b, "expect", "100-continue");
    frame(HEADERS, END_HEADERS, 1, buf_str(&b));
    send_all();
    WAIT_FOR(seen(1)->n_heads == 1);
    CHECK_INT(seen(1)->status, 100);
    data(1, 5, END_STREAM);
    send_all();
    WAIT_FOR(seen(1)->ended);
    CHECK_INT(seen(1)->status, 200);
    CHECK_INT(seen(1)->n_heads, 2);
    end();
}

TEST(a_reset_tells_the_handler)
{
    begin();
    get(1, "/watch");
    send_all();
    WAIT_FOR(seen(1)->body_n == 6);
    frame_u32(RST_STREAM, 1, CANCEL);
    send_all();
    WAIT_FOR(handled[0].gones);
    CHECK_INT(handled[0].gone_r, -ECONNRESET);
    check_alive(3);
    end();
}

TEST(a_lost_connection_tells_every_handler)
{
    begin();
    for (uint32_t id = 1; id < 40; id += 2)
        get(id, "/watch");
    send_all();
    WAIT_FOR(seen(39)->body_n == 6);
    peer_close();
    WAIT_FOR(n_gone == 20);
    CHECK_INT(handled[7].gone_r, -ECONNRESET);
    teardown();
}

TEST(an_aborted_or_short_response_is_a_reset_stream)
{
    begin();
    get(1, "/abort");
    get(3, "/short");
    send_all();
    WAIT_FOR(seen(1)->reset && seen(3)->reset);
    CHECK(!seen(1)->ended && !seen(3)->ended);
    CHECK_INT(seen(1)->code, INTERNAL_ERROR);
    CHECK_INT(handled[0].gone_r, -ECONNABORTED);
    check_alive(5);
    end();
}

/* ------------------------------------------------------------------ many streams, slow streams */

TEST(hundreds_of_streams_run_at_once_and_no_more)
{
    begin();
    for (uint32_t i = 0; i < 250; i++)
        get(2 * i + 1, "/hold");
    send_all();
    WAIT_FOR(n_handled == 250);
    get(501, "/hello");
    send_all();
    WAIT_FOR(seen(501)->reset);
    CHECK_INT(seen(501)->code, REFUSED);
    for (uint32_t i = 0; i < 250; i++)
        http_reply(handled[249 - i].x, 200, NULL, STR("late"));
    WAIT_FOR(n_gone == 250);
    WAIT_FOR(seen(1)->ended && seen(499)->ended);
    check_alive(503);
    end();
}

TEST(a_slow_stream_holds_up_nobody)
{
    setup_with((struct http_server_opts){ 0 });
    peer_open(false); /* 64 KiB for each stream */
    get(1, "/big");
    send_all();
    WAIT_FOR(seen(1)->body_n == 65535);
    check_alive(3);
    CHECK(handled[0].left > 1 << 20);
    CHECK(handled[0].most_pending <= 140 << 10);
    frame_u32(WINDOW_UPDATE, 1, 4 << 20);
    send_all();
    WAIT_FOR(seen(1)->ended);
    CHECK_INT(seen(1)->body_n, 2 << 20);
    CHECK(handled[0].most_pending <= 140 << 10);
    end();
}

TEST(streams_take_turns)
{
    begin();
    get(1, "/big");
    get(3, "/big");
    send_all();
    WAIT_FOR(seen(1)->ended || seen(3)->ended);
    CHECK(seen(1)->body_n > 1 << 20 && seen(3)->body_n > 1 << 20);
    WAIT_FOR(seen(1)->ended && seen(3)->ended);
    end();
}

TEST(many_slow_streams_keep_less_each)
{
    setup_with((struct http_server_opts){ 0 });
    peer_open(false);
    for (uint32_t i = 0; i < 100; i++)
        get(2 * i + 1, "/big");
    send_all();
    WAIT_FOR(seen(199)->body_n == 65535);
    size_t pending = 0;
    for (size_t i = 0; i < 100; i++)
        pending += http_write_pending(handled[i].x);
    CHECK(pending < 8 << 20);
    end();
}

TEST(a_stream_that_is_not_read_is_cut_and_only_it)
{
    setup_with((struct http_server_opts){ .write_stall_ms = 50 });
    peer_open(false);
    get(1, "/big");
    get(3, "/watch");
    send_all();
    WAIT_FOR(seen(1)->reset);
    CHECK_INT(seen(1)->code, CANCEL);
    CHECK_INT(handled[0].gone_r, -ETIMEDOUT);
    CHECK_INT(handled[1].gones, 0);
    check_alive(5);
    end();
}

static struct timer drip;

static void on_drip(struct timer *t)
{
    frame_u32(WINDOW_UPDATE, 1, 1);
    send_all();
    timer_start(&loop, t, 5, on_drip);
}

TEST(reading_byte_by_byte_is_not_reading)
{
    setup_with((struct http_server_opts){ .write_stall_ms = 100 });
    peer_open(false);
    get(1, "/big");
    timer_start(&loop, &drip, 5, on_drip);
    WAIT_FOR(seen(1)->reset);
    timer_stop(&loop, &drip);
    CHECK_INT(handled[0].gone_r, -ETIMEDOUT);
    end();
}

static void on_body_drip(struct timer *t)
{
    data(1, 1, 0);
    send_all();
    timer_start(&loop, t, 20, on_body_drip);
}

TEST(a_body_byte_by_byte_is_answered_408)
{
    setup_with((struct http_server_opts){ .body_idle_ms = 60 });
    peer_open(true);
    request(1, "POST", "/echo", 0);
    timer_start(&loop, &drip, 1, on_body_drip);
    WAIT_FOR(seen(1)->ended);
    timer_stop(&loop, &drip);
    CHECK_INT(seen(1)->status, 408);
    end();
}

TEST(a_body_that_nobody_reads_waits_with_the_peer)
{
    begin();
    request(1, "POST", "/hold", 0);
    send_all();
    WAIT_FOR(n_handled == 1);
    data(1, 32 << 10, 0);
    send_all();
    check_alive(3);
    CHECK_INT(seen(1)->window, 0);
    http_read_body(handled[0].x, 1 << 20);
    WAIT_FOR(seen(1)->window >= 32 << 10);
    CHECK_INT(handled[0].body.n, 32 << 10);
    data(1, 100, END_STREAM);
    send_all();
    WAIT_FOR(seen(1)->ended);
    CHECK_INT(seen(1)->body_n, (32 << 10) + 100);
    end();
}

TEST(bodies_that_nobody_read_do_not_use_up_the_connection)
{
    begin();
    uint32_t id = 1;
    for (; id < 99; id += 2) { /* 1.5 MiB in all, of a window of 1 */
        request(id, "POST", "/hold", 0);
        data(id, 32 << 10, 0);
        send_all();
        WAIT_FOR(n_handled == (id + 1) / 2);
        frame_u32(RST_STREAM, id, CANCEL);
        send_all();
        WAIT_FOR(n_gone == n_handled);
    }
    WAIT_FOR(peer.window >= 1 << 20);
    request(id, "POST", "/echo", 0);
    data(id, 32 << 10, END_STREAM);
    send_all();
    WAIT_FOR(seen(id)->ended);
    CHECK_INT(seen(id)->body_n, 32 << 10);
    end();
}

TEST(a_paused_body_goes_on_when_resumed)
{
    begin();
    request(1, "POST", "/pauses", 0);
    for (int i = 0; i < 10; i++)
        data(1, 100, i == 9 ? END_STREAM : 0);
    send_all();
    WAIT_FOR(n_handled == 1 && handled[0].body.n > 0);
    while (!seen(1)->ended) {
        if (handled[0].x)
            http_resume_body(handled[0].x);
        (void)loop_turn(&loop, false);
    }
    CHECK_INT(seen(1)->body_n, 1000);
    end();
}

TEST(a_large_body_gets_a_wide_window)
{
    begin();
    request(1, "POST", "/echo", 0);
    size_t sent = 0, total = 2 << 20, window = 32 << 10;
    while (sent < total) {
        size_t n = MIN(total - sent, window + seen(1)->window - sent);
        if (n) {
            sent += n;
            data(1, n, sent == total ? END_STREAM : 0);
            send_all();
        }
        (void)loop_turn(&loop, n == 0);
    }
    WAIT_FOR(seen(1)->ended);
    CHECK_INT(seen(1)->body_n, total);
    end();
}

TEST(a_body_that_is_too_large_is_answered_413)
{
    begin();
    request(1, "POST", "/limited", 0);
    data(1, 11, 0);
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(4096);
    pseudo(&b, "POST", "/limited");
    field(&b, "content-length", "11");
    frame(HEADERS, END_HEADERS, 3, buf_str(&b));
    send_all();
    WAIT_FOR(seen(1)->ended && seen(3)->ended);
    CHECK_INT(seen(1)->status, 413);
    CHECK_INT(seen(3)->status, 413);
    CHECK_INT(handled[0].body_r, -EMSGSIZE);
    CHECK_INT(n_gone, 2);
    data(1, 1000, END_STREAM); /* was under way */
    check_alive(5);
    CHECK(!seen(1)->reset && !seen(3)->reset); /* the peer is given time to read the answer */
    WAIT_FOR(seen(3)->reset);
    CHECK_INT(seen(3)->code, NO_ERROR);
    end();
}

/* ------------------------------------------------------------------ time */

TEST(a_body_that_stops_is_answered_408)
{
    setup_with((struct http_server_opts){ .body_idle_ms = 50 });
    peer_open(true);
    request(1, "POST", "/echo", 0);
    data(1, 10, 0);
    send_all();
    WAIT_FOR(seen(1)->ended);
    CHECK_INT(seen(1)->status, 408);
    CHECK_INT(handled[0].body_r, -ETIMEDOUT);
    check_alive(3);
    end();
}

TEST(a_head_that_stops_ends_the_connection)
{
    setup_with((struct http_server_opts){ .head_timeout_ms = 50 });
    peer_open(true);
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(4096);
    pseudo(&b, "GET", "/hello");
    frame(HEADERS, END_STREAM, 1, buf_str(&b));
    send_all();
    WAIT_FOR(peer.went);
    CHECK_INT(n_handled, 0);
    end();
}

TEST(an_idle_connection_is_told_to_go)
{
    setup_with((struct http_server_opts){ .keepalive_ms = 500 });
    peer_open(true);
    check_alive(1);
    WAIT_FOR(peer.went);
    CHECK_INT(peer.goaway_code, NO_ERROR);
    CHECK_INT(peer.goaway_last, 1);
    end();
}

TEST(closing_lets_streams_end)
{
    begin();
    get(1, "/hold");
    send_all();
    WAIT_FOR(n_handled == 1);
    server_done = false;
    http_server_close(server, 10000, on_server_done, NULL);
    server = NULL;
    WAIT_FOR(peer.goaways == 2);
    CHECK_INT(peer.goaway_last, 1);
    CHECK_INT(peer.goaway_code, NO_ERROR);
    CHECK(!server_done && !peer.went);
    http_reply(handled[0].x, 200, NULL, STR("at last"));
    WAIT_FOR(peer.went);
    CHECK(seen(1)->ended);
    peer_close();
    WAIT_FOR(server_done);
    teardown();
}

TEST(a_peer_that_does_not_take_our_goodbye_is_cut)
{
    setup_with((struct http_server_opts){ 0 });
    peer_open(false);
    get(1, "/hold");
    get(3, "/hold");
    send_all();
    WAIT_FOR(n_handled == 2);
    server_done = false;
    http_server_close(server, 50, on_server_done, NULL);
    server = NULL;
    http_reply(handled[0].x, 200, NULL, STR("one"));
    WAIT_FOR(server_done); /* the other one runs for ever */
    CHECK_INT(handled[1].gone_r, -ECANCELED);
    peer_close();
    teardown();
}

TEST(a_request_that_crosses_the_notice_is_served)
{
    begin();
    peer.quiet = true; /* no answer to the ping: the notice is not known here yet */
    get(1, "/hold");
    send_all();
    WAIT_FOR(n_handled == 1);
    server_done = false;
    http_server_close(server, 10000, on_server_done, NULL);
    server = NULL;
    WAIT_FOR(peer.goaways == 1);
    CHECK_INT(peer.goaway_last, INT32_MAX);
    check_alive(3);
    http_reply(handled[0].x, 200, NULL, STR("at last"));
    WAIT_FOR(peer.went);
    CHECK_INT(peer.goaway_last, 3);
    peer_close();
    WAIT_FOR(server_done);
    teardown();
}

/* ------------------------------------------------------------------ attacks */

TEST(rapid_resets_are_ended)
{
    begin();
    for (uint32_t i = 0; i < 600; i++) {
        get(2 * i + 1, "/hold");
        frame_u32(RST_STREAM, 2 * i + 1, CANCEL);
    }
    send_all();
    WAIT_FOR(peer.goaways && peer.went);
    CHECK_INT(peer.goaway_code, CALM);
    CHECK(n_handled <= 501);
    end();
}

/* The same with resets of ours: each stream breaks a rule (MadeYouReset). */
TEST(provoked_resets_are_ended)
{
    begin();
    for (uint32_t i = 0; i < 600; i++) {
        get(2 * i + 1, "/hold");
        frame_u32(WINDOW_UPDATE, 2 * i + 1, INT32_MAX); /* too wide */
    }
    send_all();
    WAIT_FOR(peer.goaways && peer.went);
    CHECK_INT(peer.goaway_code, CALM);
    end();
}

TEST(pings_are_answered_but_not_for_ever)
{
    begin();
    frame(PING, 0, 0, STR("12345678"));
    send_all();
    WAIT_FOR(peer.pongs == 1);
    for (int i = 0; i < 1200; i++)
        frame(PING, 0, 0, STR("12345678"));
    send_all();
    WAIT_FOR(peer.went);
    CHECK(peer.pongs < 1200);
    end();
}

/* As clients do that measure the bandwidth. */
TEST(a_ping_for_each_answer_is_not_too_many)
{
    begin();
    for (uint32_t i = 0; i < 900; i++) {
        get(2 * i + 1, "/hello");
        send_all();
        WAIT_FOR(seen(2 * i + 1)->ended);
        frame(PING, 0, 0, STR("12345678"));
    }
    for (int i = 0; i < 900; i++) /* the others have not used up what is allowed */
        frame(PING, 0, 0, STR("12345678"));
    send_all();
    WAIT_FOR(peer.pongs == 1800);
    CHECK_INT(peer.goaways, 0);
    end();
}

TEST(settings_and_empty_data_without_end_are_ended)
{
    begin();
    for (int i = 0; i < 1200; i++)
        frame(SETTINGS, 0, 0, STR(""));
    send_all();
    WAIT_FOR(peer.went);
    peer_close();
    peer_open(true);
    request(1, "POST", "/echo", 0);
    for (int i = 0; i < 1200; i++)
        frame(DATA, 0, 1, STR(""));
    send_all();
    WAIT_FOR(peer.goaways && peer.went);
    CHECK_INT(peer.goaway_code, CALM);
    end();
}

TEST(too_many_fields_are_answered_431)
{
    begin();
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(16 << 10);
    pseudo(&b, "GET", "/hello");
    for (int i = 0; i < 300; i++)
        field(&b, "x-field", "value");
    frame(HEADERS, END_HEADERS | END_STREAM, 1, buf_str(&b));
    send_all();
    WAIT_FOR(seen(1)->ended);
    CHECK_INT(seen(1)->status, 431);
    CHECK_INT(n_handled, 0);
    check_alive(3);
    end();
}

/* One field of 3 KiB goes into the table; each further byte means it once more. */
TEST(a_compressed_bomb_is_not_unpacked)
{
    begin();
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(64 << 10);
    pseudo(&b, "GET", "/hello");
    CHECK_OK(buf_add(&b, "\x40\x01x\x7f\xf9\x16", 6)); /* 127 + 121 + (22 << 7) = 3064 bytes */
    for (int i = 0; i < 3064; i++)
        CHECK_OK(buf_add_char(&b, 'v'));
    for (int i = 0; i < 12000; i++)
        CHECK_OK(buf_add_char(&b, '\xbe'));
    frame(HEADERS, END_HEADERS | END_STREAM, 1, buf_str(&b));
    send_all();
    WAIT_FOR(seen(1)->reset || seen(1)->ended);
    CHECK_INT(n_handled, 0);
    check_alive(3);
    end();
}

TEST(endless_continuation_ends_the_connection)
{
    begin();
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(4096);
    pseudo(&b, "GET", "/hello");
    frame(HEADERS, END_STREAM, 1, buf_str(&b));
    for (int i = 0; i < 100; i++)
        frame(CONTINUATION, 0, 1, STR("\0\1a\1b"));
    send_all();
    WAIT_FOR(peer.went);
    CHECK_INT(n_handled, 0);
    end();
}

TEST(odd_requests_are_refused)
{
    static const struct {
        const char *method, *path;
        int status;
    } odd[] = { { "GET", "hello", 0 },
                { "GET", "http://x/hello", 0 },
                { "THISMETHODISQUITELONGINDEED", "/hello", 501 },
                { "GET", "*", 0 } };
    begin();
    for (uint32_t i = 0; i < ARRAY_LEN(odd); i++) {
        uint32_t id = 2 * i + 1;
        request(id, odd[i].method, odd[i].path, END_STREAM);
        send_all();
        WAIT_FOR(seen(id)->ended || seen(id)->reset);
        if (odd[i].status)
            CHECK_INT(seen(id)->status, odd[i].status);
        CHECK(seen(id)->reset || seen(id)->status >= 400);
    }
    CHECK_INT(n_handled, 0);
    check_alive(101);
    end();
}

/* Each breaks a rule for the connection; what counts is that it ends and nobody was asked. */
TEST(broken_framing_ends_the_connection)
{
    static const struct {
        int type, flags;
        uint32_t id;
        struct str payload;
    } bad[] = {
        { DATA, 0, 0, { "x", 1 } },
        { DATA, 0, 1, { "x", 1 } },
        { HEADERS, END_HEADERS, 2, { "\x82", 1 } },
        { HEADERS, END_HEADERS | END_STREAM, 1, { "\xff\xff\xff\xff\xff\xff", 6 } },
        { RST_STREAM, 0, 0, { "\0\0\0\0", 4 } },
        { RST_STREAM, 0, 7, { "\0\0\0\0", 4 } },
        { SETTINGS, 0, 0, { "\0", 1 } },
        { SETTINGS, ACK, 0, { "\0\0\0\0\0\0", 6 } },
        { SETTINGS, 0, 0, { "\0\4\xff\xff\xff\xff", 6 } },
        { PING, 0, 0, { "short", 5 } },
        { WINDOW_UPDATE, 0, 0, { "\0\0\0\0", 4 } },
        { WINDOW_UPDATE, 0, 0, { "\x7f\xff\xff\xff", 4 } },
        { CONTINUATION, END_HEADERS, 1, { "\x82", 1 } },
        { PUSH, END_HEADERS, 1, { "\0\0\0\2", 4 } },
    };
    setup_with((struct http_server_opts){ 0 });
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        peer_open(true);
        frame(bad[i].type, bad[i].flags, bad[i].id, bad[i].payload);
        send_all();
        WAIT_FOR(peer.went);
        CHECK(peer.goaways == 0 || peer.goaway_code != NO_ERROR);
        peer_close();
    }
    CHECK_INT(n_handled, 0);
    teardown();
}

TEST(a_frame_that_is_too_long_ends_the_connection)
{
    begin();
    static char big[20000];
    request(1, "POST", "/echo", 0);
    frame(DATA, 0, 1, str_n(big, sizeof big));
    send_all();
    WAIT_FOR(peer.went);
    end();
}

TEST(more_than_the_window_ends_the_stream_or_the_connection)
{
    begin();
    request(1, "POST", "/hold", 0);
    send_all();
    WAIT_FOR(n_handled == 1);
    check_alive(3); /* the server's settings are known to both */
    frame(SETTINGS, ACK, 0, STR(""));
    data(1, 64 << 10, 0);
    send_all();
    WAIT_FOR(seen(1)->reset || peer.went);
    end();
}

TEST_MAIN
