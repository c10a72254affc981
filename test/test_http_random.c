/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Server and client under random load: calls that are cancelled, paused, timed out; handlers that
 * answer now, later, in pieces, never, or break off. Whatever happens, every call ends once, every
 * exchange is gone once, and a response that counts as complete has the right bytes.
 */
#include "base/buf.h"
#include "base/mem.h"
#include "base/vec.h"
#include "io/http.h"
#include "io/tls.h"
#include "test.h"

#include <errno.h>
#include <sys/resource.h>

static struct loop loop;
static struct http_server *server;
static struct http_client *client;
static uint16_t port;
static unsigned n_exchanges;

enum { STREAM_MAX_BYTES = 700 << 10, CALLS = 150 };

static char pattern(size_t at)
{
    return (char)('a' + (at * 7 + at / 997) % 26);
}

/* ------------------------------------------------------------------ server */

struct ex {
    struct http_exchange *x;
    struct buf body;
    size_t left, sent; /* of a stream */
    struct defer later;
    struct timer timer;
    bool ended, echo;
};

static void ex_end(struct http_exchange *x, int r)
{
    struct ex *e = http_exchange_data(x);
    CHECK(e->x == x);
    defer_cancel(&e->later);
    timer_stop(&loop, &e->timer);
    buf_fini(&e->body);
    free(e);
    CHECK(n_exchanges > 0);
    n_exchanges--;
}

static void ex_stream(struct http_exchange *x)
{
    struct ex *e = http_exchange_data(x);
    while (e->left) {
        char block[5000];
        size_t some = 1 + (size_t)test_random_below(sizeof block), n = MIN(e->left, some);
        for (size_t i = 0; i < n; i++)
            block[i] = pattern(e->sent + i);
        e->sent += n;
        e->left -= n;
        if (!http_write(x, str_n(block, n)))
            return;
        if (test_random_below(60) == 0) {
            defer_start(&loop, &e->later, e->later.run);
            return;
        }
    }
    http_end(x);
}

static void ex_stream_later(struct defer *d)
{
    ex_stream(container_of(d, struct ex, later)->x);
}

static void ex_resume(struct defer *d)
{
    http_resume_body(container_of(d, struct ex, later)->x);
}

static void ex_read(struct defer *d)
{
    struct ex *e = container_of(d, struct ex, later);
    http_read_body(e->x, STREAM_MAX_BYTES / 2);
}

static void ex_late(struct timer *t)
{
    http_reply(container_of(t, struct ex, timer)->x, 200, NULL, STR("late"));
}

static void ex_body(struct http_exchange *x, struct str chunk)
{
    struct ex *e = http_exchange_data(x);
    CHECK(!e->ended);
    CHECK_OK(buf_add_str(&e->body, chunk));
    if (test_random_below(4) == 0) {
        http_pause_body(x);
        defer_start(&loop, &e->later, ex_resume);
    }
    if (test_random_below(200) == 0)
        http_abort(x);
}

static void ex_body_end(struct http_exchange *x, int r)
{
    struct ex *e = http_exchange_data(x);
    CHECK(!e->ended);
    e->ended = true;
    if (r == 0)
        http_reply(x, 200, NULL, buf_str(&e->body));
}

static const struct http_exchange_ops ex_ops = { ex_body, ex_body_end, ex_stream, ex_end };

static void on_request(struct http_exchange *x, const struct http_request *req, void *arg)
{
    struct ex *e = xnew(struct ex);
    *e = (struct ex){ .x = x,
                      .body = BUF_INIT(STREAM_MAX_BYTES),
                      .later = { .run = ex_stream_later } };
    n_exchanges++;
    http_exchange_set(x, &ex_ops, e);
    uint64_t n;
    struct str t = req->target;
    if (str_is(t, "/echo"))
        http_read_body(x, STREAM_MAX_BYTES / 2);
    else if (str_is(t, "/echo-later"))
        defer_start(&loop, &e->later, ex_read);
    else if (str_is(t, "/late"))
        timer_start(&loop, &e->timer, test_random_below(20), ex_late);
    else if (str_is(t, "/abort"))
        http_abort(x);
    else if (str_has_prefix(t, STR("/stream/")) &&
             parse_u64(str_slice(t, 8, t.n), 0, STREAM_MAX_BYTES, &n) == 0) {
        e->left = n;
        http_respond(x, 200, NULL, n % 2 ? n : HTTP_CHUNKED);
        ex_stream(x);
    } else if (!str_is(t, "/hold"))
        http_reply(x, 200, NULL, STR("hello"));
}

/* ------------------------------------------------------------------ client */

struct one {
    struct exchange *call;
    struct buf sent, got;
    size_t want;      /* bytes of a stream; SIZE_MAX: what was sent */
    const char *text; /* or this */
    unsigned heads, ends;
    bool paused;
};
static struct one ones[CALLS];
static unsigned n_started, n_ended, n_complete, outcomes[3];

static void one_head(void *arg, int status, const struct headers *h)
{
    struct one *o = arg;
    CHECK_INT(o->heads + o->ends, 0);
    o->heads++;
}

static void one_data(void *arg, struct str chunk)
{
    struct one *o = arg;
    CHECK(o->heads == 1 && !o->ends && !o->paused);
    CHECK_OK(buf_add_str(&o->got, chunk));
    if (test_random_below(6) == 0) {
        o->paused = true;
        exchange_pause(o->call);
    }
    if (test_random_below(100) == 0)
        exchange_cancel(o->call);
}

static void check_complete(const struct one *o)
{
    if (o->text) {
        CHECK_STR(buf_str(&o->got), o->text);
    } else if (o->want == SIZE_MAX) {
        CHECK(str_eq(buf_str(&o->got), buf_str(&o->sent)));
    } else {
        CHECK_INT(o->got.n, o->want);
        for (size_t i = 0; i < o->got.n; i++)
            CHECK(o->got.p[i] == pattern(i));
    }
}

static void one_end(void *arg, int r, const struct err *err)
{
    struct one *o = arg;
    CHECK_INT(o->ends, 0);
    o->ends++;
    n_ended++;
    if (r == 0) {
        n_complete++;
        check_complete(o);
    } else if (r == -ETIMEDOUT || r == -ECANCELED) {
        outcomes[0]++;
    } else if (r == -ECONNRESET) {
        outcomes[1]++;
    } else {
        TEST_FAIL("unexpected outcome %s: %s", err_name(r), err_text(err));
    }
    buf_fini(&o->sent);
    buf_fini(&o->got);
}

static const struct exchange_events one_events = { .on_head = one_head,
                                                   .on_data = one_data,
                                                   .on_end = one_end };

static void start_one(void)
{
    struct one *o = &ones[n_started++];
    *o = (struct one){ .sent = BUF_INIT(STREAM_MAX_BYTES), .got = BUF_INIT(STREAM_MAX_BYTES) };
    struct http_call_opts opts = { .method = STR("GET"), .events = &one_events, .arg = o };
    char target[40];
    switch (test_random_below(8)) {
    case 0:
    case 1:
    case 2: {
        size_t n = (size_t)test_random_below(test_random_below(2) ? 300 : STREAM_MAX_BYTES / 2);
        for (size_t i = 0; i < n; i++)
            CHECK_OK(buf_add_char(&o->sent, (char)test_random()));
        static const char *const targets[] = { "/echo", "/echo-later", "/hello" };
        uint64_t kind = test_random_below(3);
        (void)snprintf(target, sizeof target, "%s", targets[kind]);
        opts.method = STR("POST");
        opts.body = buf_str(&o->sent);
        o->want = SIZE_MAX;
        o->text = kind == 2 ? "hello" : NULL;
        break;
    }
    case 3:
        (void)snprintf(target, sizeof target, "/abort");
        break;
    case 4:
        (void)snprintf(target, sizeof target, "/hold");
        opts.head_timeout_ms = 1 + test_random_below(20);
        break;
    case 5:
        (void)snprintf(target, sizeof target, "/late");
        o->text = "late";
        break;
    case 6:
        o->want = (size_t)test_random_below(STREAM_MAX_BYTES);
        (void)snprintf(target, sizeof target, "/stream/%zu", o->want);
        break;
    default:
        (void)snprintf(target, sizeof target, "/hello");
        o->text = "hello";
    }
    opts.target = str_of(target);
    struct err err = { 0 };
    CHECK_OK(http_call_start(client, &opts, &o->call, &err));
}

static void disturb_one(void)
{
    struct one *o = &ones[test_random_below(n_started)];
    if (o->ends)
        return;
    if (o->paused) {
        o->paused = false;
        exchange_resume(o->call);
    } else if (test_random_below(40) == 0) {
        exchange_cancel(o->call);
    } else if (test_random_below(10) == 0) {
        o->paused = true;
        exchange_pause(o->call);
    }
}

static void resume_all(void)
{
    for (unsigned i = 0; i < n_started; i++) {
        if (!ones[i].ends && ones[i].paused) {
            ones[i].paused = false;
            exchange_resume(ones[i].call);
        }
    }
}

static void on_guard(struct timer *t)
{
    TEST_FAIL("%u of %u calls never ended, %u exchanges left", n_started - n_ended, n_started,
              n_exchanges);
}

static void on_tick(struct timer *t)
{
}

static bool server_done;
static void on_server_done(void *arg)
{
    server_done = true;
}

static void turn(void)
{
    struct timer tick = { 0 }; /* so that a turn ends soon although nothing happens */
    timer_start(&loop, &tick, 1, on_tick);
    (void)loop_turn(&loop, true);
    timer_stop(&loop, &tick);
}

static void play(struct tls_ctx *server_tls, struct tls_ctx *client_tls, bool server_h2,
                 bool client_h2)
{
    struct err err = { 0 };
    CHECK_OK(loop_init(&loop, &err));
    struct http_server_opts opts = {
        .host = "127.0.0.1", .tls = server_tls, .http2 = server_h2, .on_request = on_request
    };
    CHECK_OK(http_server_start(&loop, &opts, &server, &err));
    port = http_server_port(server);
    struct http_client_opts client_opts = { .host = "127.0.0.1",
                                            .port = port,
                                            .tls = client_tls,
                                            .http2 = client_h2,
                                            .max_connections =
                                                1 + (unsigned)test_random_below(12) };
    CHECK_OK(http_client_new(&loop, &client_opts, &client, &err));
    n_started = n_ended = 0;
    struct timer guard = { 0 };
    timer_start(&loop, &guard, 60000, on_guard);
    bool close_early = test_random_below(4) == 0;
    while (n_started < CALLS) {
        for (uint64_t n = test_random_below(6); n && n_started < CALLS; n--)
            start_one();
        for (int i = 0; i < 8 && n_started; i++)
            disturb_one();
        turn();
        if (close_early && n_started > CALLS / 2)
            break;
    }
    if (close_early)
        http_client_close(client);
    while (n_ended < n_started) {
        resume_all();
        turn();
    }
    if (!close_early)
        http_client_close(client);
    server_done = false;
    http_server_close(server, test_random_below(2) * 50, on_server_done, NULL);
    while (!server_done)
        turn();
    CHECK_INT(n_exchanges, 0);
    timer_stop(&loop, &guard);
    loop_run(&loop);
    loop_fini(&loop);
}

TEST(every_call_and_every_exchange_ends_once)
{
    for (int round = 0; round < 8; round++)
        play(NULL, NULL, round % 2, false);
    CHECK(n_complete > 50 && outcomes[0] > 10 && outcomes[1] > 10);
}

TEST(the_same_with_http2)
{
    for (int round = 0; round < 12; round++)
        play(NULL, NULL, true, true);
}

TEST(the_same_with_tls)
{
    struct err err = { 0 };
    static const char *const names[] = { "127.0.0.1" };
    struct buf ca = BUF_INIT(1 << 16), ca_key = ca, cert = ca, key = ca;
    CHECK_OK(x509_make_ca("ca", &ca, &ca_key, &err));
    CHECK_OK(x509_make_server(buf_str(&ca), buf_str(&ca_key), "s", names, 1, 1, &cert, &key, &err));
    struct tls_ctx *server_tls, *client_tls;
    CHECK_OK(tls_ctx_new_server(buf_str(&cert), buf_str(&key), STR(""), &server_tls, &err));
    CHECK_OK(tls_ctx_new_client(buf_str(&ca), STR(""), STR(""), false, &client_tls, &err));
    for (int round = 0; round < 8;
         round++) /* the client takes what it gets; servers go on offering */
        play(server_tls, client_tls, round >= 4, round & 2);
    tls_ctx_free(server_tls);
    tls_ctx_free(client_tls);
    buf_fini(&ca);
    buf_fini(&ca_key);
    buf_fini(&cert);
    buf_fini(&key);
}

/* ------------------------------------------------------------------ torture */

static int outcome;
static bool over;

static void torture_end(void *arg, int r, const struct err *err)
{
    outcome = r;
    over = true;
    CHECK(r == 0 || err->text[0]);
}

static const struct exchange_events torture_events = { .on_end = torture_end };

static int first_free_fd(void)
{
    int fd = dup(0);
    CHECK_OK(fd);
    CHECK_OK(close(fd));
    return fd;
}

/*
 * The n-th descriptor is not to be had: server and client start, or say why not; nothing hangs or
 * leaks.
 */
TEST(running_out_of_descriptors_is_an_error_or_a_lost_connection)
{
    struct rlimit old;
    CHECK_OK(getrlimit(RLIMIT_NOFILE, &old));
    unsigned refused = 0, failed = 0;
    for (rlim_t extra = 0; extra < 10; extra++) {
        struct err err = { 0 };
        CHECK_OK(loop_init(&loop, &err));
        int before = first_free_fd();
        struct rlimit few = { (rlim_t)before + extra, old.rlim_max };
        CHECK_OK(setrlimit(RLIMIT_NOFILE, &few));
        struct http_server_opts opts = { .host = "127.0.0.1", .on_request = on_request };
        int r = http_server_start(&loop, &opts, &server, &err);
        if (r < 0) {
            CHECK_ERR(r, -EMFILE);
            refused++;
        } else {
            struct http_client_opts client_opts = { .host = "127.0.0.1",
                                                    .port = http_server_port(server) };
            CHECK_OK(http_client_new(&loop, &client_opts, &client, &err));
            struct http_call_opts call = { .method = STR("GET"),
                                           .target = STR("/"),
                                           .events = &torture_events };
            struct exchange *c;
            over = false;
            CHECK_OK(http_call_start(client, &call, &c, &err));
            while (!over)
                turn();
            CHECK(outcome == 0 || outcome == -EMFILE || outcome == -ECONNRESET);
            failed += outcome < 0;
            http_client_close(client);
            server_done = false;
            http_server_close(server, 0, on_server_done, NULL);
            while (!server_done)
                turn();
        }
        CHECK_OK(setrlimit(RLIMIT_NOFILE, &old));
        loop_run(&loop);
        loop_fini(&loop);
    }
    CHECK_INT(outcome, 0);
    CHECK(refused && failed);
}

TEST_MAIN
