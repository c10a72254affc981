/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many streaming calls at once, HTTP and gRPC, with everything that may happen to them at random
 * moments: pauses on both sides, cancels, aborts, early ends. Bytes come back as they were sent,
 * in order and none twice; each call and each exchange ends exactly once; and nothing is left.
 */
#include "base/mem.h"
#include "io/grpc.h"
#include "test.h"

#include <errno.h>

enum { AT_ONCE = 24, CALLS = 300, BODY_MAX = 600 << 10 };

static struct loop loop;
static struct timer guard;
static struct http_server *server;
static struct grpc_server *methods;
static struct http_client *client;
static size_t exchanges, started, under_way, completed;
static bool http2;

static void on_guard(struct timer *t)
{
    TEST_FAIL("waited in vain: %zu calls and %zu exchanges are left", under_way, exchanges);
}

static bool chance(unsigned percent)
{
    return test_random_below(100) < percent;
}

/* Byte `at` of every stream. */
static char byte_at(size_t at)
{
    return (char)(at * 31 + (at >> 8));
}

static void check_bytes(struct str got, size_t from)
{
    for (size_t i = 0; i < got.n; i++)
        if (got.p[i] != byte_at(from + i))
            TEST_FAIL("byte %zu is wrong", from + i);
}

/* ------------------------------------------------------------------ the server: an echo with moods
 */

struct echo {
    struct http_exchange *x;
    struct grpc_stream *st; /* or this */
    struct defer wake;
    size_t seen, dies_at; /* dies_at: it aborts then */
    bool paused, ended, dead;
};

static void on_wake(struct defer *d)
{
    struct echo *e = container_of(d, struct echo, wake);
    if (chance(50)) {
        defer_start(&loop, d, on_wake);
        return;
    }
    e->paused = false;
    if (e->st)
        grpc_stream_resume(e->st);
    else
        http_resume_body(e->x);
}

static void maybe_pause(struct echo *e, bool full)
{
    if (e->dead || e->paused || !(full || chance(10)))
        return;
    e->paused = true;
    if (e->st)
        grpc_stream_pause(e->st);
    else
        http_pause_body(e->x);
    if (!full)
        defer_start(&loop, &e->wake, on_wake);
}

static bool dies(struct echo *e, size_t n)
{
    if (e->seen + n < e->dies_at)
        return false;
    e->dead = true;
    if (e->st)
        grpc_stream_abort(e->st);
    else
        http_abort(e->x);
    return true;
}

static struct echo *echo_new(void)
{
    struct echo *e = xnew(struct echo);
    e->dies_at = chance(10) ? test_random_below(BODY_MAX) : SIZE_MAX;
    exchanges++;
    return e;
}

static void echo_free(struct echo *e)
{
    defer_cancel(&e->wake);
    free(e);
    exchanges--;
}

static void echo_body(struct http_exchange *x, struct str chunk)
{
    struct echo *e = http_exchange_data(x);
    CHECK(!e->ended && !e->dead);
    check_bytes(chunk, e->seen);
    if (dies(e, chunk.n))
        return;
    e->seen += chunk.n;
    maybe_pause(e, !http_write(x, chunk));
}

static void echo_end(struct http_exchange *x, int r)
{
    struct echo *e = http_exchange_data(x);
    CHECK(!e->ended);
    e->ended = true;
    if (r < 0 || e->dead)
        return;
    char n[24];
    struct headers t = { 0 };
    (void)snprintf(n, sizeof n, "%zu", e->seen);
    CHECK_OK(headers_addc(&t, "x-bytes", n));
    http_trailers(x, &t);
    headers_fini(&t);
    http_end(x);
}

static void echo_writable(struct http_exchange *x)
{
    struct echo *e = http_exchange_data(x);
    e->paused = false;
    defer_cancel(&e->wake);
    http_resume_body(x);
}

static void echo_gone(struct http_exchange *x, int r)
{
    echo_free(http_exchange_data(x));
}

static void grpc_message(struct grpc_stream *st, struct str message)
{
    struct echo *e = grpc_stream_data(st);
    CHECK(!e->ended && !e->dead && !e->paused);
    check_bytes(message, e->seen);
    if (dies(e, message.n))
        return;
    e->seen += message.n;
    maybe_pause(e, !grpc_stream_send(st, message));
}

static void grpc_half_close(struct grpc_stream *st)
{
    struct echo *e = grpc_stream_data(st);
    e->ended = true;
    grpc_stream_end(st, GRPC_OK, NULL, NULL);
}

static void grpc_writable(struct grpc_stream *st)
{
    struct echo *e = grpc_stream_data(st);
    e->paused = false;
    defer_cancel(&e->wake);
    grpc_stream_resume(st);
}

static void grpc_gone(struct grpc_stream *st, int r)
{
    echo_free(grpc_stream_data(st));
}

static void begin_grpc(struct grpc_stream *st, void *arg)
{
    static const struct grpc_stream_ops ops = { .on_message = grpc_message,
                                                .on_half_close = grpc_half_close,
                                                .on_writable = grpc_writable,
                                                .on_gone = grpc_gone };
    struct echo *e = echo_new();
    e->st = st;
    grpc_stream_set(st, &ops, e);
}

static void on_request(struct http_exchange *x, const struct http_request *req, void *arg)
{
    static const struct http_exchange_ops ops = { .on_body = echo_body,
                                                  .on_body_end = echo_end,
                                                  .on_writable = echo_writable,
                                                  .on_gone = echo_gone };
    if (grpc_server_take(methods, x, req))
        return;
    struct echo *e = echo_new();
    e->x = x;
    http_exchange_set(x, &ops, e);
    http_respond(x, 200, NULL, HTTP_CHUNKED);
    http_read_body(x, UINT64_MAX);
}

/* ------------------------------------------------------------------ the client: many calls */

struct one {
    struct exchange *http;
    struct grpc_call *grpc; /* or this */
    struct defer wake, more;
    size_t total, sent, got, trailer, cancels_at;
    bool half_closed, paused, cancelled, full;
};

static void begin_one(void);

static void write_more(struct defer *d)
{
    struct one *o = container_of(d, struct one, more);
    static char block[40 << 10];
    while (o->sent < o->total) {
        size_t some = 1 + test_random_below(chance(50) ? 100 : sizeof block);
        size_t n = MIN(o->total - o->sent, some);
        for (size_t i = 0; i < n; i++)
            block[i] = byte_at(o->sent + i);
        o->sent += n;
        o->full = o->grpc ? !grpc_call_send(o->grpc, str_n(block, n))
                          : !exchange_write(o->http, str_n(block, n));
        if (o->full)
            return;
        if (chance(20)) {
            defer_start(&loop, &o->more, write_more);
            return;
        }
    }
    o->half_closed = true;
    if (o->grpc)
        grpc_call_half_close(o->grpc);
    else
        exchange_end_body(o->http, NULL);
}

static void on_writable(void *arg)
{
    struct one *o = arg;
    CHECK(o->full && !o->half_closed);
    o->full = false;
    write_more(&o->more);
}

static void on_one_wake(struct defer *d)
{
    struct one *o = container_of(d, struct one, wake);
    if (chance(50)) {
        defer_start(&loop, d, on_one_wake);
        return;
    }
    o->paused = false;
    if (o->grpc)
        grpc_call_resume(o->grpc);
    else
        exchange_resume(o->http);
}

static void got_bytes(struct one *o, struct str chunk)
{
    CHECK(!o->cancelled);
    check_bytes(chunk, o->got);
    o->got += chunk.n;
    CHECK(o->got <= o->sent);
    if (o->got >= o->cancels_at) {
        o->cancelled = true;
        if (o->grpc)
            grpc_call_cancel(o->grpc);
        else
            exchange_cancel(o->http);
    } else if (chance(10) && !o->paused) {
        o->paused = true;
        if (o->grpc)
            grpc_call_pause(o->grpc);
        else
            exchange_pause(o->http);
        defer_start(&loop, &o->wake, on_one_wake);
    }
}

static void on_data(void *arg, struct str chunk)
{
    got_bytes(arg, chunk);
}

static void on_message(void *arg, struct str message)
{
    CHECK(!((struct one *)arg)->paused);
    got_bytes(arg, message);
}

static void on_trailers(void *arg, const struct headers *trailers)
{
    struct one *o = arg;
    uint64_t n;
    CHECK_OK(parse_u64(headers_get(trailers, "x-bytes"), 0, BODY_MAX, &n));
    o->trailer = n;
}

static void one_ends(struct one *o, bool whole, bool broken)
{
    CHECK(whole || broken);
    CHECK(!whole || o->got == o->total);
    completed += whole;
    defer_cancel(&o->wake);
    defer_cancel(&o->more);
    free(o);
    under_way--;
    begin_one();
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct one *o = arg;
    CHECK(r != 0 || o->trailer == o->total);
    one_ends(o, r == 0, r == -ECANCELED ? o->cancelled : r == -ECONNRESET);
}

static void on_result(void *arg, const struct grpc_result *result)
{
    struct one *o = arg;
    one_ends(o, result->code == GRPC_OK,
             result->code == GRPC_CANCELLED ? o->cancelled : result->code == GRPC_INTERNAL);
}

static void begin_one(void)
{
    static const struct exchange_events events = {
        .on_data = on_data, .on_trailers = on_trailers, .on_writable = on_writable, .on_end = on_end
    };
    static const struct grpc_call_ops grpc_ops = { .on_message = on_message,
                                                   .on_writable = on_writable,
                                                   .on_end = on_result };
    struct err err = { 0 };
    if (started >= CALLS)
        return;
    started++;
    under_way++;
    struct one *o = xnew(struct one);
    o->total = test_random_below(chance(30) ? BODY_MAX : 3000);
    o->cancels_at = chance(10) ? 1 + test_random_below(o->total + 1) : SIZE_MAX;
    if (http2 && chance(50)) {
        const struct grpc_call_opts opts = { .path = "/echo", .ops = &grpc_ops, .arg = o };
        CHECK_OK(grpc_call_start(client, &opts, &o->grpc, &err));
    } else {
        bool counted = chance(30);
        const struct http_call_opts opts = { .method = STR("POST"),
                                             .target = STR("/"),
                                             .streams = true,
                                             .body_n = counted ? o->total : HTTP_CHUNKED,
                                             .events = &events,
                                             .arg = o };
        CHECK_OK(http_call_start(client, &opts, &o->http, &err));
    }
    defer_start(&loop, &o->more, write_more);
}

static void on_done(void *arg)
{
    *(bool *)arg = true;
}

static void run_calls(void)
{
    struct err err = { 0 };
    bool done = false;
    CHECK_OK(loop_init(&loop, &err));
    methods = grpc_server_new(&loop);
    grpc_server_add(methods, "/echo", 0, begin_grpc, NULL);
    const struct http_server_opts opts = { .on_request = on_request, .http2 = http2 };
    CHECK_OK(http_server_start(&loop, &opts, &server, &err));
    const struct http_client_opts copts = {
        .host = "127.0.0.1", .port = http_server_port(server), .max_connections = 8, .http2 = http2
    };
    CHECK_OK(http_client_new(&loop, &copts, &client, &err));
    started = under_way = exchanges = completed = 0;
    timer_start(&loop, &guard, 60000, on_guard);
    for (int i = 0; i < AT_ONCE; i++)
        begin_one();
    while (under_way || exchanges)
        (void)loop_turn(&loop, true);
    CHECK(completed > CALLS / 2);
    http_client_close(client);
    http_server_close(server, 0, on_done, &done);
    while (!done)
        (void)loop_turn(&loop, true);
    timer_stop(&loop, &guard);
    grpc_server_free(methods);
    while (loop_turn(&loop, false))
        ;
    loop_fini(&loop);
}

TEST(streams_of_http1_survive_all_moods)
{
    http2 = false;
    run_calls();
}

TEST(streams_of_http2_and_grpc_survive_all_moods)
{
    http2 = true;
    run_calls();
}

TEST_MAIN
