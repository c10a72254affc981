/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gRPC: both ends against each other, and the framing by itself. That others understand us is
 * tested with grpcio (test/behaviour/test_grpc.py).
 */
#include "io/grpc.h"

#include "base/mem.h"
#include "io/grpc_int.h"
#include "test.h"

#include <errno.h>

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

/* ------------------------------------------------------------------ the framing by itself */

TEST(messages_come_out_however_the_bytes_come_in)
{
    struct buf wire = BUF_INIT(1 << 20);
    char prefix[GRPC_PREFIX_BYTES];
    static const size_t sizes[] = { 0, 1, 5, 100, 0, 4096, 3 };
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        grpc_prefix(prefix, sizes[i]);
        CHECK_OK(buf_add(&wire, prefix, sizeof prefix));
        for (size_t j = 0; j < sizes[i]; j++)
            CHECK_OK(buf_add_char(&wire, (char)('a' + (i + j) % 26)));
    }
    for (int round = 0; round < 300; round++) {
        struct grpc_reader r;
        struct str left = buf_str(&wire), message;
        size_t got = 0;
        grpc_reader_init(&r, 4096);
        while (left.n) {
            size_t n = MIN(left.n, 1 + test_random_below(round % 2 ? 7 : 5000));
            struct str in = str_slice(left, 0, n);
            left = str_slice(left, n, left.n);
            while (grpc_reader_next(&r, &in, &message) > 0) {
                CHECK_INT(message.n, sizes[got]);
                for (size_t j = 0; j < message.n; j++)
                    CHECK_INT(message.p[j], 'a' + (int)((got + j) % 26));
                got++;
            }
            CHECK_INT(in.n, 0);
        }
        CHECK_INT(got, ARRAY_LEN(sizes));
        CHECK(grpc_reader_is_between(&r));
        grpc_reader_fini(&r);
    }
    buf_fini(&wire);
}

TEST(messages_that_may_not_be_are_refused)
{
    static const struct {
        const char *bytes;
        int r;
    } cases[] = {
        { "\0\0\0\0\x65", -EMSGSIZE },
        { "\0\xff\xff\xff\xff", -EMSGSIZE },
        { "\1\0\0\0\1", E_UNSUPPORTED },
        { "\2\0\0\0\1", E_PARSE },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct grpc_reader r;
        struct str in = str_n(cases[i].bytes, 5), one, message;
        grpc_reader_init(&r, 100);
        CHECK_ERR(grpc_reader_next(&r, &in, &message), cases[i].r);
        grpc_reader_fini(&r);
        grpc_reader_init(&r, 100);
        int e = 0;
        for (size_t j = 0; j < 5 && e == 0; j++) {
            one = str_n(cases[i].bytes + j, 1);
            e = grpc_reader_next(&r, &one, &message);
        }
        CHECK_ERR(e, cases[i].r);
        grpc_reader_fini(&r);
    }
}

TEST(texts_survive_their_encoding)
{
    struct buf to = BUF_INIT(64 << 10), back = BUF_INIT(64 << 10);
    grpc_add_text(&to, STR("100% \n\xc3\xa9 ok"));
    CHECK_STR(buf_str(&to), "100%25 %0A%C3%A9 ok");
    grpc_read_text(&back, buf_str(&to));
    CHECK_STR(buf_str(&back), "100% \n\xc3\xa9 ok");
    buf_reset(&back);
    grpc_read_text(&back, STR("50% of %zz %4"));
    CHECK_STR(buf_str(&back), "50% of %zz %4");
    buf_fini(&to);
    buf_fini(&back);
}

TEST(timeouts_are_read_and_written)
{
    static const struct {
        const char *text;
        int64_t ms; /* < 0: refused */
    } cases[] = {
        { "1S", 1000 },   { "250m", 250 },   { "1n", 1 },   { "1500u", 2 },
        { "2M", 120000 }, { "1H", 3600000 }, { "0m", 0 },   { "99999999H", 359999996400000 },
        { "", -1 },       { "S", -1 },       { "12", -1 },  { "123456789m", -1 },
        { "-1S", -1 },    { "1s", -1 },      { "1 S", -1 },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uint64_t ms = 0;
        int r = grpc_parse_timeout(str_of(cases[i].text), &ms);
        CHECK_INT(r, cases[i].ms < 0 ? E_PARSE : 0);
        if (r == 0)
            CHECK_INT(ms, cases[i].ms);
    }
    char text[16];
    grpc_format_timeout(text, 250);
    CHECK(strcmp(text, "250m") == 0);
    grpc_format_timeout(text, 100000000);
    CHECK(strcmp(text, "100000S") == 0);
}

TEST(codes_have_names_and_go_both_ways)
{
    CHECK(strcmp(grpc_code_name(GRPC_UNAVAILABLE), "UNAVAILABLE") == 0);
    CHECK(strcmp(grpc_code_name(77), "UNKNOWN") == 0);
    for (int code = GRPC_CANCELLED; code <= GRPC_UNAUTHENTICATED; code++)
        if (code != GRPC_UNKNOWN)
            CHECK_INT(grpc_code_of_errno(grpc_code_to_errno(code)), code);
    CHECK_INT(grpc_code_of_errno(0), GRPC_OK);
    CHECK_INT(grpc_code_to_errno(GRPC_OK), 0);
    CHECK_INT(grpc_code_of_errno(-ENOEXEC), GRPC_INTERNAL);
}

/* ------------------------------------------------------------------ the server under test */

static struct http_server *server;
static struct grpc_server *methods;
static uint16_t port;

static struct seen {
    struct grpc_stream *st;
    unsigned messages, half_closes, gones;
    int r;
    bool pauses;
    size_t bytes;
    char key[32];
    uint64_t deadline_ms;
    unsigned left; /* messages a streaming answer still sends */
    unsigned writables;
} seen;

static void on_stream_gone(struct grpc_stream *st, int r)
{
    CHECK_INT(seen.gones++, 0);
    seen.r = r;
    seen.st = NULL;
}

static void note_half_close(struct grpc_stream *st)
{
    CHECK_INT(seen.half_closes++, 0);
}

static void note_message(struct grpc_stream *st, struct str message)
{
    seen.messages++;
    seen.bytes += message.n;
    if (seen.pauses)
        grpc_stream_pause(st);
}

static void echo_message(struct grpc_stream *st, struct str message)
{
    note_message(st, message);
    if (!grpc_stream_send(st, message))
        grpc_stream_pause(st);
}

static void echo_half_close(struct grpc_stream *st)
{
    struct headers t = { 0 };
    char n[12];
    note_half_close(st);
    (void)snprintf(n, sizeof n, "%u", seen.messages);
    CHECK_OK(headers_addc(&t, "x-messages", n));
    grpc_stream_end(st, GRPC_OK, NULL, &t);
    headers_fini(&t);
}

static void begin_echo(struct grpc_stream *st, void *arg)
{
    static const struct grpc_stream_ops ops = { .on_message = echo_message,
                                                .on_half_close = echo_half_close,
                                                .on_writable = grpc_stream_resume,
                                                .on_gone = on_stream_gone };
    struct str key = headers_get(grpc_stream_metadata(st), "x-key");
    seen.st = st;
    seen.deadline_ms = grpc_stream_deadline_ms(st);
    (void)snprintf(seen.key, sizeof seen.key, STR_FMT, STR_ARG(key));
    grpc_stream_set(st, &ops, arg);
}

static void refuse_message(struct grpc_stream *st, struct str message)
{
    grpc_stream_end(st, GRPC_NOT_FOUND, "kein Eintrag f\xc3\xbcr 100%", NULL);
    CHECK(grpc_stream_send(st, STR("after the end: no fault")));
}

static void begin_refuse(struct grpc_stream *st, void *arg)
{
    static const struct grpc_stream_ops ops = { .on_message = refuse_message,
                                                .on_gone = on_stream_gone };
    grpc_stream_set(st, &ops, NULL);
}

static void begin_hold(struct grpc_stream *st, void *arg)
{
    static const struct grpc_stream_ops ops = { .on_message = note_message,
                                                .on_half_close = note_half_close,
                                                .on_gone = on_stream_gone };
    seen.st = st;
    grpc_stream_set(st, &ops, NULL);
}

/* Pauses at the first message; resumes inside the callback of a further one. */
static void pause_message(struct grpc_stream *st, struct str message)
{
    note_message(st, message);
    grpc_stream_pause(st);
    if (seen.messages > 1)
        grpc_stream_resume(st);
}

static void begin_again(struct grpc_stream *st, void *arg)
{
    static const struct grpc_stream_ops ops = { .on_message = pause_message,
                                                .on_half_close = note_half_close,
                                                .on_gone = on_stream_gone };
    seen.st = st;
    grpc_stream_set(st, &ops, NULL);
}

static void pour_out(struct grpc_stream *st)
{
    static char block[10000];
    while (seen.left) {
        seen.left--;
        if (!grpc_stream_send(st, str_n(block, sizeof block)))
            return;
    }
    grpc_stream_end(st, GRPC_OK, NULL, NULL);
}

static void note_writable(struct grpc_stream *st)
{
    seen.writables++;
    pour_out(st);
}

static void begin_pour(struct grpc_stream *st, void *arg)
{
    static const struct grpc_stream_ops ops = { .on_half_close = pour_out,
                                                .on_writable = note_writable,
                                                .on_gone = on_stream_gone };
    seen.left = 500;
    grpc_stream_set(st, &ops, NULL);
}

static void begin_at_once(struct grpc_stream *st, void *arg)
{
    static const struct grpc_stream_ops ops = { .on_gone = on_stream_gone };
    grpc_stream_set(st, &ops, NULL);
    grpc_stream_end(st, GRPC_UNAUTHENTICATED, "who are you", NULL);
    grpc_stream_end(st, GRPC_OK, "the first one counts", NULL);
}

static void begin_abort(struct grpc_stream *st, void *arg)
{
    static const struct grpc_stream_ops ops = { .on_gone = on_stream_gone };
    grpc_stream_set(st, &ops, NULL);
    grpc_stream_abort(st);
}

static void on_request(struct http_exchange *x, const struct http_request *req, void *arg)
{
    if (str_is(req->target, "/busy"))
        http_reply(x, 503, NULL, STR("no gRPC"));
    else if (str_is(req->target, "/plain") || !grpc_server_take(methods, x, req))
        http_reply(x, 200, NULL, STR("no gRPC"));
}

static struct http_client *client;

static void setup(void)
{
    struct err err = { 0 };
    CHECK_OK(loop_init(&loop, &err));
    methods = grpc_server_new(&loop);
    grpc_server_add(methods, "/t.T/Echo", 0, begin_echo, NULL);
    grpc_server_add(methods, "/t.T/Refuse", 0, begin_refuse, NULL);
    grpc_server_add(methods, "/t.T/Hold", 100, begin_hold, NULL);
    grpc_server_add(methods, "/t.T/Again", 100, begin_again, NULL);
    grpc_server_add(methods, "/t.T/Pour", 0, begin_pour, NULL);
    grpc_server_add(methods, "/t.T/AtOnce", 0, begin_at_once, NULL);
    grpc_server_add(methods, "/t.T/Abort", 0, begin_abort, NULL);
    const struct http_server_opts opts = { .on_request = on_request, .http2 = true };
    CHECK_OK(http_server_start(&loop, &opts, &server, &err));
    port = http_server_port(server);
    const struct http_client_opts copts = { .host = "127.0.0.1", .port = port, .http2 = true };
    CHECK_OK(http_client_new(&loop, &copts, &client, &err));
    seen = (struct seen){ 0 };
}

static void on_done(void *arg)
{
    *(bool *)arg = true;
}

static void teardown(void)
{
    bool done = false;
    http_client_close(client);
    http_server_close(server, 100, on_done, &done);
    WAIT_FOR(done);
    grpc_server_free(methods);
    while (loop_turn(&loop, false))
        ;
    loop_fini(&loop);
}

/* ------------------------------------------------------------------ the client under test */

static struct reply {
    struct grpc_call *call;
    unsigned heads, messages, ends, writables;
    struct buf last;
    size_t bytes;
    int code, r;
    bool was_sent, pauses, cancels;
    char text[128], count[16];
} reply;

static void on_head(void *arg, const struct headers *metadata)
{
    reply.heads++;
}

static void on_message(void *arg, struct str message)
{
    reply.messages++;
    reply.bytes += message.n;
    buf_reset(&reply.last);
    CHECK_OK(buf_add_str(&reply.last, message));
    if (reply.pauses)
        grpc_call_pause(reply.call);
    if (reply.cancels)
        grpc_call_cancel(reply.call);
}

static void on_writable(void *arg)
{
    reply.writables++;
}

static void on_end(void *arg, const struct grpc_result *result)
{
    CHECK_INT(reply.ends++, 0);
    reply.code = result->code;
    reply.r = result->r;
    reply.was_sent = result->was_sent;
    (void)snprintf(reply.text, sizeof reply.text, STR_FMT, STR_ARG(result->text));
    if (result->trailers)
        (void)snprintf(reply.count, sizeof reply.count, STR_FMT,
                       STR_ARG(headers_get(result->trailers, "x-messages")));
}

static const struct grpc_call_ops ops = {
    .on_head = on_head, .on_message = on_message, .on_writable = on_writable, .on_end = on_end
};

static void begin(struct grpc_call_opts opts)
{
    struct err err = { 0 };
    buf_fini(&reply.last);
    reply = (struct reply){ .last = BUF_INIT(8 << 20) };
    opts.ops = &ops;
    CHECK_OK(grpc_call_start(client, &opts, &reply.call, &err));
    CHECK_INT(reply.ends, 0);
}

static void unary(const char *path, struct str message)
{
    begin((struct grpc_call_opts){ .path = path, .only = &message });
}

TEST(a_unary_call)
{
    setup();
    struct headers h = { 0 };
    struct str message = STR("hello");
    CHECK_OK(headers_addc(&h, "x-key", "value"));
    begin((struct grpc_call_opts){ .path = "/t.T/Echo", .metadata = &h, .only = &message });
    WAIT_FOR(reply.ends && seen.gones);
    CHECK_INT(reply.code, GRPC_OK);
    CHECK_INT(reply.r, 0);
    CHECK_INT(reply.messages, 1);
    CHECK_INT(reply.heads, 1);
    CHECK_STR(buf_str(&reply.last), "hello");
    CHECK(strcmp(reply.count, "1") == 0);
    CHECK(strcmp(seen.key, "value") == 0);
    CHECK_INT(seen.r, 0);
    CHECK(seen.deadline_ms == UINT64_MAX);
    headers_fini(&h);
    teardown();
}

TEST(many_calls_share_a_connection)
{
    setup();
    for (int i = 0; i < 50; i++) {
        seen = (struct seen){ 0 };
        unary("/t.T/Echo", STR(""));
        WAIT_FOR(reply.ends);
        CHECK_INT(reply.code, GRPC_OK);
        CHECK_INT(reply.messages, 1);
    }
    CHECK_INT(http_server_connections(server), 1);
    teardown();
}

TEST(a_stream_both_ways)
{
    setup();
    begin((struct grpc_call_opts){ .path = "/t.T/Echo" });
    for (unsigned i = 1; i <= 20; i++) {
        char n[12];
        (void)snprintf(n, sizeof n, "%u", i);
        CHECK(grpc_call_send(reply.call, str_of(n)));
        WAIT_FOR(reply.messages == i);
        CHECK_STR(buf_str(&reply.last), n);
    }
    CHECK_INT(reply.ends + seen.half_closes, 0);
    /* A silent stream is nobody's fault: no timer but that of idle connections. */
    CHECK(loop_next_timer_ms(&loop) > loop_now_ms(&loop) + 60000);
    grpc_call_half_close(reply.call);
    WAIT_FOR(reply.ends);
    CHECK_INT(reply.code, GRPC_OK);
    CHECK(strcmp(reply.count, "20") == 0);
    teardown();
}

TEST(large_messages_have_back_pressure)
{
    setup();
    static char block[3 << 20];
    for (size_t i = 0; i < sizeof block; i++)
        block[i] = (char)(i * 7);
    begin((struct grpc_call_opts){ .path = "/t.T/Echo" });
    CHECK(!grpc_call_send(reply.call, str_n(block, sizeof block)));
    CHECK_INT(grpc_call_pending(reply.call), sizeof block + 5);
    WAIT_FOR(reply.writables);
    grpc_call_half_close(reply.call);
    WAIT_FOR(reply.ends);
    CHECK_INT(reply.code, GRPC_OK);
    CHECK_INT(reply.messages, 1);
    CHECK(str_eq(buf_str(&reply.last), str_n(block, sizeof block)));
    teardown();
}

TEST(a_status_and_its_text)
{
    setup();
    unary("/t.T/Refuse", STR("x"));
    WAIT_FOR(reply.ends && seen.gones);
    CHECK_INT(reply.code, GRPC_NOT_FOUND);
    CHECK_INT(reply.r, 0);
    CHECK(strcmp(reply.text, "kein Eintrag f\xc3\xbcr 100%") == 0);
    CHECK_INT(reply.messages, 0);
    seen = (struct seen){ 0 };
    unary("/t.T/AtOnce", STR("x"));
    WAIT_FOR(reply.ends && seen.gones);
    CHECK_INT(reply.code, GRPC_UNAUTHENTICATED);
    CHECK(strcmp(reply.text, "who are you") == 0);
    seen = (struct seen){ 0 };
    unary("/t.T/Missing", STR("x"));
    WAIT_FOR(reply.ends);
    CHECK_INT(reply.code, GRPC_UNIMPLEMENTED);
    unary("/t.T/Abort", STR("x"));
    WAIT_FOR(reply.ends && seen.gones);
    CHECK_INT(reply.code, GRPC_INTERNAL);
    CHECK_ERR(reply.r, -ECONNRESET);
    teardown();
}

TEST(an_answer_that_is_no_grpc)
{
    setup();
    unary("/busy", STR("x"));
    WAIT_FOR(reply.ends);
    CHECK_INT(reply.code, GRPC_UNAVAILABLE);
    CHECK(strcmp(reply.text, "HTTP status 503") == 0);
    unary("/plain", STR("x"));
    WAIT_FOR(reply.ends);
    CHECK_INT(reply.code, GRPC_UNKNOWN);
    teardown();
}

TEST(a_client_that_closes_ends_its_calls)
{
    setup();
    struct err err = { 0 };
    unary("/t.T/Hold", STR("x"));
    http_client_close(client);
    CHECK_INT(reply.ends, 0);
    WAIT_FOR(reply.ends);
    CHECK_INT(reply.code, GRPC_CANCELLED);
    const struct http_client_opts copts = { .host = "127.0.0.1", .port = port, .http2 = true };
    CHECK_OK(http_client_new(&loop, &copts, &client, &err));
    teardown();
}

TEST(a_message_beyond_the_limit)
{
    setup();
    static char block[5 << 20];
    unary("/t.T/Hold", str_n(block, 101));
    WAIT_FOR(reply.ends && seen.gones);
    CHECK_INT(reply.code, GRPC_RESOURCE_EXHAUSTED);
    CHECK_ERR(seen.r, -EMSGSIZE);
    CHECK_INT(seen.messages, 0);
    seen = (struct seen){ 0 };
    struct str half = str_n(block, 2000);
    begin((struct grpc_call_opts){ .path = "/t.T/Echo", .only = &half, .max_bytes = 1000 });
    WAIT_FOR(reply.ends && seen.gones);
    CHECK_INT(reply.code, GRPC_RESOURCE_EXHAUSTED);
    CHECK_ERR(reply.r, -EMSGSIZE);
    teardown();
}

TEST(deadlines_hold_on_both_sides)
{
    setup();
    struct str message = STR("x");
    begin((struct grpc_call_opts){ .path = "/t.T/Hold", .only = &message, .timeout_ms = 60000 });
    WAIT_FOR(seen.messages);
    loop_skip(&loop, 60001);
    WAIT_FOR(reply.ends && seen.gones);
    CHECK_INT(reply.code, GRPC_DEADLINE_EXCEEDED);
    CHECK(reply.was_sent);
    CHECK(seen.r == -ETIMEDOUT || seen.r == -ECONNRESET); /* whoever was first */
    seen = (struct seen){ 0 };
    begin((struct grpc_call_opts){ .path = "/t.T/Echo", .only = &message, .timeout_ms = 90000 });
    WAIT_FOR(reply.ends && seen.gones);
    CHECK_INT(reply.code, GRPC_OK);
    CHECK(seen.deadline_ms > loop_now_ms(&loop) && seen.deadline_ms < UINT64_MAX);
    CHECK(loop_next_timer_ms(&loop) > loop_now_ms(&loop) + 60000);
    teardown();
}

TEST(a_cancelled_call_is_noticed)
{
    setup();
    begin((struct grpc_call_opts){ .path = "/t.T/Hold" });
    CHECK(grpc_call_send(reply.call, STR("a")));
    WAIT_FOR(seen.messages == 1);
    grpc_call_cancel(reply.call);
    CHECK_INT(reply.ends, 0);
    WAIT_FOR(reply.ends && seen.gones);
    CHECK_INT(reply.code, GRPC_CANCELLED);
    CHECK_ERR(reply.r, -ECANCELED);
    CHECK_ERR(seen.r, -ECONNRESET);
    seen = (struct seen){ 0 };
    begin((struct grpc_call_opts){ .path = "/t.T/Echo" });
    reply.cancels = true;
    CHECK(grpc_call_send(reply.call, STR("a")));
    CHECK(grpc_call_send(reply.call, STR("b")));
    WAIT_FOR(reply.ends && seen.gones);
    CHECK_INT(reply.messages, 1);
    CHECK_INT(reply.code, GRPC_CANCELLED);
    teardown();
}

TEST(a_receiver_that_pauses_gets_messages_one_by_one)
{
    setup();
    seen.pauses = true;
    begin((struct grpc_call_opts){ .path = "/t.T/Hold" });
    for (int i = 0; i < 5; i++)
        CHECK(grpc_call_send(reply.call, STR("five in one frame")));
    grpc_call_half_close(reply.call);
    for (unsigned i = 1; i <= 5; i++) {
        WAIT_FOR(seen.messages == i);
        for (int j = 0; j < 5; j++)
            (void)loop_turn(&loop, false);
        CHECK_INT(seen.messages, i);
        CHECK_INT(seen.half_closes, 0);
        grpc_stream_resume(seen.st);
    }
    WAIT_FOR(seen.half_closes);
    grpc_stream_end(seen.st, GRPC_OK, NULL, NULL);
    WAIT_FOR(reply.ends);

    seen = (struct seen){ 0 };
    begin((struct grpc_call_opts){ .path = "/t.T/Pour", .only = &STR("") });
    reply.pauses = true;
    for (unsigned i = 1; i <= 500; i++) {
        WAIT_FOR(reply.messages == i);
        CHECK_INT(reply.ends, 0);
        grpc_call_resume(reply.call);
    }
    WAIT_FOR(reply.ends);
    CHECK_INT(reply.code, GRPC_OK);
    CHECK_INT(reply.bytes, 500 * 10000);
    CHECK(seen.writables > 0);
    teardown();
}

TEST(a_handler_that_resumes_inside_the_last_message_hears_of_the_end_once)
{
    setup();
    begin((struct grpc_call_opts){ .path = "/t.T/Again" });
    for (int i = 0; i < 3; i++)
        CHECK(grpc_call_send(reply.call, STR("three in one frame")));
    grpc_call_half_close(reply.call);
    WAIT_FOR(seen.messages == 1);
    for (int j = 0; j < 5; j++)
        (void)loop_turn(&loop, false); /* the end of the input arrives meanwhile */
    CHECK_INT(seen.messages, 1);
    grpc_stream_resume(seen.st);
    WAIT_FOR(seen.half_closes);
    CHECK_INT(seen.messages, 3);
    for (int j = 0; j < 5; j++)
        (void)loop_turn(&loop, false);
    grpc_stream_end(seen.st, GRPC_OK, NULL, NULL);
    WAIT_FOR(reply.ends && seen.gones);
    CHECK_INT(reply.code, GRPC_OK);
    CHECK_INT(seen.half_closes, 1);
    teardown();
}

TEST(a_call_to_nobody_was_not_sent)
{
    setup();
    struct err err = { 0 };
    struct http_client *right = client;
    const struct http_client_opts copts = { .unix_path = "/nonexistent", .http2 = true };
    CHECK_OK(http_client_new(&loop, &copts, &client, &err));
    unary("/t.T/Echo", STR("x"));
    WAIT_FOR(reply.ends);
    CHECK_INT(reply.code, GRPC_UNAVAILABLE);
    CHECK_ERR(reply.r, -ENOENT);
    CHECK(!reply.was_sent);
    http_client_close(client);
    client = right;
    CHECK_ERR(grpc_call_start(client, &(struct grpc_call_opts){ .path = "no slash", .ops = &ops },
                              &reply.call, &err),
              -EINVAL);
    teardown();
}

/* ------------------------------------------------------------------ a peer that knows HTTP only */

static struct plain {
    unsigned ends, trailers;
    int r, status;
    char code[8];
} plain;

static void plain_head(void *arg, int status, const struct headers *headers)
{
    plain.status = status;
}

static void plain_trailers(void *arg, const struct headers *trailers)
{
    plain.trailers++;
    (void)snprintf(plain.code, sizeof plain.code, STR_FMT,
                   STR_ARG(headers_get(trailers, "grpc-status")));
}

static void plain_end(void *arg, int r, const struct err *err)
{
    plain.r = r;
    plain.ends++;
}

static void post(const char *timeout, struct str body)
{
    static const struct exchange_events plain_events = { .on_head = plain_head,
                                                         .on_trailers = plain_trailers,
                                                         .on_end = plain_end };
    struct exchange *call;
    struct headers h = { 0 };
    struct err err = { 0 };
    plain = (struct plain){ 0 };
    seen = (struct seen){ 0 };
    CHECK_OK(headers_addc(&h, "content-type", "application/grpc+proto"));
    CHECK_OK(headers_addc(&h, "te", "trailers"));
    if (timeout)
        CHECK_OK(headers_addc(&h, "grpc-timeout", timeout));
    const struct http_call_opts opts = { .method = STR("POST"),
                                         .target = STR("/t.T/Echo"),
                                         .headers = &h,
                                         .body = body,
                                         .events = &plain_events };
    CHECK_OK(http_call_start(client, &opts, &call, &err));
    headers_fini(&h);
    WAIT_FOR(plain.ends);
    CHECK_INT(plain.r, 0);
}

TEST(malformed_calls_end_with_a_status)
{
    setup();
    post(NULL, STR("\0\0\0\0\1x\0\0\0\0\0"));
    CHECK(strcmp(plain.code, "0") == 0);
    post(NULL, STR("\0\0\0\0\2x"));
    CHECK(strcmp(plain.code, "13") == 0); /* INTERNAL: cut */
    post(NULL, STR("\1\0\0\0\1x"));
    CHECK(strcmp(plain.code, "12") == 0); /* UNIMPLEMENTED: compressed */
    post(NULL, STR("\7\0\0\0\1x"));
    CHECK(strcmp(plain.code, "13") == 0);
    post("soon", STR("\0\0\0\0\1x"));
    CHECK(strcmp(plain.code, "13") == 0);
    post("0m", STR("\0\0\0\0\1x"));
    CHECK(plain.code[0] == '0' || strcmp(plain.code, "4") == 0);
    teardown();
}

TEST(grpc_over_http1_is_refused)
{
    setup();
    struct err err = { 0 };
    const struct http_client_opts copts = { .host = "127.0.0.1", .port = port };
    http_client_close(client);
    CHECK_OK(http_client_new(&loop, &copts, &client, &err));
    post(NULL, STR("\0\0\0\0\1x"));
    CHECK_INT(plain.status, 505);
    CHECK_INT(plain.trailers, 0);
    unary("/t.T/Echo", STR("x"));
    WAIT_FOR(reply.ends);
    CHECK_INT(reply.code, GRPC_UNKNOWN);
    CHECK(strcmp(reply.text, "HTTP status 505") == 0);
    teardown();
}

TEST_MAIN
