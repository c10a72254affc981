/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gRPC end to end: a client, the gateway, and a server in a sandbox. All four kinds of calls,
 * statuses, cancellation, back-pressure; also through a gateway that does not own the function.
 */
#include "fn_gateway_rig.h"

#include "io/grpc.h"

static struct gateway *gateways[2];
static struct plane planes[2];
static size_t n_gateways;
static struct http_server *server;
static struct grpc_server *methods;
static struct http_client *client;
static unsigned stops, gone;

/* ---------------------------------------------------------------- the server */

static unsigned n_streams, canceled, sums;

static void echo_on_message(struct grpc_stream *st, struct str m)
{
    (void)grpc_stream_send(st, m);
}

static void echo_on_half_close(struct grpc_stream *st)
{
    struct headers t = { 0 };
    CHECK_OK(headers_addc(&t, "x-end", "echoed"));
    grpc_stream_end(st, GRPC_OK, NULL, &t);
    headers_fini(&t);
}

static void count_on_message(struct grpc_stream *st, struct str m)
{
    uint64_t n = 0;
    CHECK_OK(parse_u64(m, 0, 100000, &n));
    for (uint64_t i = 0; i < n; i++)
        (void)grpc_stream_send(st, m);
    grpc_stream_end(st, GRPC_OK, NULL, NULL);
}

static void sum_on_message(struct grpc_stream *st, struct str m)
{
    sums += (unsigned)m.n;
}

static void sum_on_half_close(struct grpc_stream *st)
{
    char text[16];
    (void)snprintf(text, sizeof text, "%u", sums);
    grpc_stream_reply(st, str_of(text));
}

static void fail_on_half_close(struct grpc_stream *st)
{
    grpc_stream_end(st, GRPC_FAILED_PRECONDITION, "not today", NULL);
}

static void on_gone(struct grpc_stream *st, int r)
{
    n_streams--;
    canceled += r < 0;
}

static const struct grpc_stream_ops echo_ops = { .on_message = echo_on_message,
                                                 .on_half_close = echo_on_half_close,
                                                 .on_gone = on_gone };
static const struct grpc_stream_ops count_ops = { .on_message = count_on_message,
                                                  .on_gone = on_gone };
static const struct grpc_stream_ops sum_ops = { .on_message = sum_on_message,
                                                .on_half_close = sum_on_half_close,
                                                .on_gone = on_gone };
static const struct grpc_stream_ops fail_ops = { .on_half_close = fail_on_half_close,
                                                 .on_gone = on_gone };

static void begin_method(struct grpc_stream *st, void *arg)
{
    n_streams++;
    grpc_stream_set(st, arg, NULL);
}

static void on_request(struct http_exchange *x, const struct http_request *req, void *arg)
{
    CHECK(grpc_server_take(methods, x, req));
}

/* ---------------------------------------------------------------- the client */

static struct {
    struct grpc_call *call;
    unsigned messages, ends;
    size_t bytes;
    struct str first;
    char first_text[64], text[64], end[32];
    int code, r;
} got;

static void on_message(void *arg, struct str m)
{
    if (!got.messages++)
        (void)snprintf(got.first_text, sizeof got.first_text, STR_FMT, STR_ARG(m));
    got.bytes += m.n;
}

static void on_end(void *arg, const struct grpc_result *r)
{
    got.ends++;
    got.code = r->code;
    got.r = r->r;
    (void)snprintf(got.text, sizeof got.text, STR_FMT, STR_ARG(r->text));
    struct str end = r->trailers ? headers_get(r->trailers, "x-end") : STR("");
    (void)snprintf(got.end, sizeof got.end, STR_FMT, STR_ARG(end));
}

static const struct grpc_call_ops call_ops = { .on_message = on_message, .on_end = on_end };

static void call(const char *path, const char *only)
{
    struct err err = { 0 };
    struct str message = str_of(only);
    memset(&got, 0, sizeof got);
    const struct grpc_call_opts opts = { .path = path,
                                         .only = only ? &message : NULL,
                                         .ops = &call_ops };
    CHECK_OK(grpc_call_start(client, &opts, &got.call, &err));
}

static void on_stopped(void *arg)
{
    stops++;
}

static void on_server_gone(void *arg)
{
    gone++;
}

static void begin(size_t n)
{
    static const char *const names[] = { "g1", "g2" };
    struct err err = { 0 };
    char address[3][32];
    CHECK_OK(loop_init(&loop, &err));
    n_gateways = n;
    stops = gone = n_streams = canceled = sums = 0;
    methods = grpc_server_new(&loop);
    grpc_server_add(methods, "/t.T/Echo", 0, begin_method, (void *)(uintptr_t)&echo_ops);
    grpc_server_add(methods, "/t.T/Count", 0, begin_method, (void *)(uintptr_t)&count_ops);
    grpc_server_add(methods, "/t.T/Sum", 0, begin_method, (void *)(uintptr_t)&sum_ops);
    grpc_server_add(methods, "/t.T/Fail", 0, begin_method, (void *)(uintptr_t)&fail_ops);
    const struct http_server_opts opts = { .http2 = true, .on_request = on_request };
    CHECK_OK(http_server_start(&loop, &opts, &server, &err));
    (void)snprintf(address[2], sizeof address[2], "127.0.0.1:%u", http_server_port(server));
    for (size_t i = 0; i < n; i++) {
        planes[i] = (struct plane){ .dialer = { &plane_dialer_ops } };
        const struct gateway_opts gw = { .loop = &loop,
                                         .name = names[i],
                                         .dialer = &planes[i].dialer };
        CHECK_OK(gateway_start(&gw, &gateways[i], &err));
        WAIT_FOR(planes[i].hellos == 1);
        (void)snprintf(address[i], sizeof address[i], "127.0.0.1:%u", gateway_port(gateways[i]));
    }
    static const char *const functions[] = { "f", "g", "h", "k" };
    for (size_t i = 0; i < n; i++) {
        struct order *o = order_new();
        order_welcome(o, 1);
        order_endpoints(o, 0, 1, true);
        for (uint32_t k = 0; k < 4; k++) {
            order_function(o, k + 1, functions[k],
                           "\"protocol\":\"grpc\",\"concurrency\":{\"limit\":100}");
            order_add(o, k + 1, k + 1, address[2]);
        }
        for (size_t k = 0; k < n; k++)
            order_member(o, names[k], address[k]);
        order_send(o, &planes[i]);
    }
    const char *name = "f";
    for (size_t k = 0; k < 4 && n > 1; k++)
        if (!gateway_owns(gateways[0], STR("default"), str_of(functions[k])))
            name = functions[k];
    const struct http_client_opts client_opts = {
        .host = "127.0.0.1", .port = gateway_port(gateways[0]), .server_name = name, .http2 = true
    };
    CHECK_OK(http_client_new(&loop, &client_opts, &client, &err));
}

static void finish(void)
{
    http_client_close(client);
    for (size_t i = 0; i < n_gateways; i++)
        gateway_stop(gateways[i], 0, on_stopped, NULL);
    WAIT_FOR(stops == n_gateways);
    http_server_close(server, 0, on_server_gone, NULL);
    WAIT_FOR(gone);
    CHECK_INT(n_streams, 0);
    grpc_server_free(methods);
    for (size_t i = 0; i < n_gateways; i++)
        plane_fini(&planes[i]);
    loop_run(&loop);
    loop_fini(&loop);
}

static void all_kinds(void)
{
    call("/t.T/Echo", "unary");
    WAIT_FOR(got.ends);
    CHECK_INT(got.code, GRPC_OK);
    CHECK_INT(got.messages, 1);
    CHECK_STR(str_of(got.first_text), "unary");
    CHECK_STR(str_of(got.end), "echoed");

    call("/t.T/Count", "5000");
    WAIT_FOR(got.ends);
    CHECK_INT(got.code, GRPC_OK);
    CHECK_INT(got.messages, 5000);

    sums = 0;
    call("/t.T/Sum", NULL);
    for (int i = 0; i < 1000; i++)
        (void)grpc_call_send(got.call, STR("0123456789"));
    grpc_call_half_close(got.call);
    WAIT_FOR(got.ends);
    CHECK_INT(got.code, GRPC_OK);
    CHECK_STR(str_of(got.first_text), "10000");

    call("/t.T/Echo", NULL); /* back and forth, each answer before the next question */
    for (unsigned i = 1; i <= 20; i++) {
        (void)grpc_call_send(got.call, STR("ping"));
        WAIT_FOR(got.messages == i);
    }
    grpc_call_half_close(got.call);
    WAIT_FOR(got.ends);
    CHECK_INT(got.code, GRPC_OK);
}

TEST(all_kinds_of_calls_pass)
{
    begin(1);
    all_kinds();
    finish();
}

TEST(all_kinds_of_calls_pass_through_two_gateways)
{
    begin(2);
    CHECK(!gateway_owns(gateways[0], STR("default"), STR("f")) ||
          !gateway_owns(gateways[0], STR("default"), STR("g")) ||
          !gateway_owns(gateways[0], STR("default"), STR("h")) ||
          !gateway_owns(gateways[0], STR("default"), STR("k")));
    all_kinds();
    finish();
}

TEST(statuses_of_functions_and_of_the_gateway_reach_the_client)
{
    begin(1);
    call("/t.T/Fail", "x");
    WAIT_FOR(got.ends);
    CHECK_INT(got.code, GRPC_FAILED_PRECONDITION);
    CHECK_STR(str_of(got.text), "not today");
    CHECK_INT(got.r, 0);
    call("/t.T/Nothing", "x");
    WAIT_FOR(got.ends);
    CHECK_INT(got.code, GRPC_UNIMPLEMENTED);
    struct order *o = order_new();
    order_endpoints(o, 1, 2, false);
    for (uint64_t i = 0; i < 4; i++)
        o->ids[i] = i + 1;
    o->endpoints.removes = o->ids;
    o->endpoints.n_removes = 4;
    order_send(o, &planes[0]);
    call("/t.T/Echo", "x");
    WAIT_FOR(planes[0].load[1].queued == 1);
    pass(61000); /* the queue's deadline */
    WAIT_FOR(got.ends);
    CHECK_INT(got.code, GRPC_UNAVAILABLE);
    CHECK_INT(got.r, 0);
    finish();
}

TEST(a_canceled_call_is_canceled_in_the_sandbox)
{
    begin(1);
    call("/t.T/Echo", NULL);
    (void)grpc_call_send(got.call, STR("ping"));
    WAIT_FOR(got.messages == 1);
    grpc_call_cancel(got.call);
    WAIT_FOR(got.ends && canceled == 1);
    CHECK_INT(got.code, GRPC_CANCELLED);
    finish();
}

TEST_MAIN
