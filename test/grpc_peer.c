/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our gRPC as a program, for tests with other implementations.
 *
 *     grpc_peer serve          prints its port; serves until its input ends
 *     grpc_peer call PORT PATH MESSAGE... [-t MS]
 *                              sends the messages, prints what comes and the status
 *
 * Methods: Echo and Sum (messages both ways, or counted at their end), Pour (as many messages as
 * the request says), Refuse (a status with text), Hold (never answers).
 */
#include "base/err.h"
#include "base/mem.h"
#include "io/grpc.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct loop loop;

/* ------------------------------------------------------------------ the server */

struct sum {
    uint64_t messages, bytes;
    uint64_t left; /* that Pour still sends */
};

static void free_sum(struct grpc_stream *st, int r)
{
    free(grpc_stream_data(st));
}

static void echo_message(struct grpc_stream *st, struct str message)
{
    if (!grpc_stream_send(st, message))
        grpc_stream_pause(st);
}

static void echo_end(struct grpc_stream *st)
{
    struct headers t = { 0 };
    struct str key = headers_get(grpc_stream_metadata(st), "x-key");
    (void)headers_add(&t, STR("x-key"), key);
    grpc_stream_end(st, GRPC_OK, NULL, &t);
    headers_fini(&t);
}

static void begin_echo(struct grpc_stream *st, void *arg)
{
    static const struct grpc_stream_ops ops = { .on_message = echo_message,
                                                .on_half_close = echo_end,
                                                .on_writable = grpc_stream_resume };
    struct headers h = { 0 };
    (void)headers_addc(&h, "x-initial", "early");
    grpc_stream_set(st, &ops, NULL);
    grpc_stream_head(st, &h);
    headers_fini(&h);
}

static void sum_message(struct grpc_stream *st, struct str message)
{
    struct sum *sum = grpc_stream_data(st);
    sum->messages++;
    sum->bytes += message.n;
}

static void sum_end(struct grpc_stream *st)
{
    const struct sum *sum = grpc_stream_data(st);
    char text[64];
    int n = snprintf(text, sizeof text, "%llu %llu", (unsigned long long)sum->messages,
                     (unsigned long long)sum->bytes);
    grpc_stream_reply(st, str_n(text, (size_t)n));
}

static void begin_sum(struct grpc_stream *st, void *arg)
{
    static const struct grpc_stream_ops ops = { .on_message = sum_message,
                                                .on_half_close = sum_end,
                                                .on_gone = free_sum };
    grpc_stream_set(st, &ops, xnew(struct sum));
}

static void pour(struct grpc_stream *st)
{
    static char block[1000];
    struct sum *sum = grpc_stream_data(st);
    while (sum->left) {
        sum->left--;
        if (!grpc_stream_send(st, str_n(block, sizeof block)))
            return;
    }
    grpc_stream_end(st, GRPC_OK, NULL, NULL);
}

static void pour_message(struct grpc_stream *st, struct str message)
{
    struct sum *sum = grpc_stream_data(st);
    if (parse_u64(message, 0, 1000000, &sum->left) < 0)
        grpc_stream_end(st, GRPC_INVALID_ARGUMENT, "not a number", NULL);
    else
        pour(st);
}

static void begin_pour(struct grpc_stream *st, void *arg)
{
    static const struct grpc_stream_ops ops = { .on_message = pour_message,
                                                .on_writable = pour,
                                                .on_gone = free_sum };
    grpc_stream_set(st, &ops, xnew(struct sum));
}

static void begin_refuse(struct grpc_stream *st, void *arg)
{
    grpc_stream_end(st, GRPC_FAILED_PRECONDITION, "nicht f\xc3\xbcr 100%\n", NULL);
}

static void begin_hold(struct grpc_stream *st, void *arg)
{
}

static void on_request(struct http_exchange *x, const struct http_request *req, void *arg)
{
    if (!grpc_server_take(arg, x, req))
        http_reply(x, 404, NULL, STR("only gRPC here\n"));
}

static void on_input(uv_poll_t *poll, int status, int events)
{
    char sink[64];
    if (read(STDIN_FILENO, sink, sizeof sink) <= 0)
        loop_stop(&loop);
}

static int serve(void)
{
    struct err err = { 0 };
    struct http_server *server;
    struct grpc_server *methods = grpc_server_new(&loop);
    grpc_server_add(methods, "/t.T/Echo", 0, begin_echo, NULL);
    grpc_server_add(methods, "/t.T/Sum", 0, begin_sum, NULL);
    grpc_server_add(methods, "/t.T/Pour", 0, begin_pour, NULL);
    grpc_server_add(methods, "/t.T/Refuse", 0, begin_refuse, NULL);
    grpc_server_add(methods, "/t.T/Hold", 0, begin_hold, NULL);
    const struct http_server_opts opts = { .on_request = on_request,
                                           .arg = methods,
                                           .http2 = true };
    if (http_server_start(&loop, &opts, &server, &err) < 0) {
        (void)fprintf(stderr, "grpc_peer: %s\n", err_text(&err));
        return 1;
    }
    (void)printf("%u\n", http_server_port(server));
    (void)fflush(stdout);
    uv_poll_t poll;
    (void)uv_poll_init(&loop.uv, &poll, STDIN_FILENO);
    (void)uv_poll_start(&poll, UV_READABLE, on_input);
    loop_run(&loop);
    return 0;
}

/* ------------------------------------------------------------------ the client */

static struct {
    struct http_client *client;
    struct grpc_call *call;
    char **messages;
    int code;
} c;

static void send_more(void *arg)
{
    while (*c.messages)
        if (!grpc_call_send(c.call, str_of(*c.messages++)))
            return;
    grpc_call_half_close(c.call);
}

static void on_head(void *arg, const struct headers *metadata)
{
    struct str key = headers_get(metadata, "x-initial");
    if (key.n)
        (void)printf("head " STR_FMT "\n", STR_ARG(key));
}

static void on_message(void *arg, struct str message)
{
    (void)printf("message %zu " STR_FMT "\n", message.n,
                 STR_ARG(str_slice(message, 0, MIN(message.n, (size_t)40))));
}

static void on_end(void *arg, const struct grpc_result *result)
{
    struct str key = result->trailers ? headers_get(result->trailers, "x-key") : STR_NULL;
    (void)printf("status %s '" STR_FMT "' '" STR_FMT "'\n", grpc_code_name(result->code),
                 STR_ARG(result->text), STR_ARG(key));
    http_client_close(c.client);
}

static int call(int argc, char **argv)
{
    static const struct grpc_call_ops ops = {
        .on_head = on_head, .on_message = on_message, .on_writable = send_more, .on_end = on_end
    };
    struct err err = { 0 };
    uint64_t port, timeout_ms = 0;
    if (argc < 2 || parse_u64(str_of(argv[0]), 1, UINT16_MAX, &port) < 0)
        return 2;
    if (argc > 3 && strcmp(argv[argc - 2], "-t") == 0) {
        if (parse_u64(str_of(argv[argc - 1]), 1, 1000000, &timeout_ms) < 0)
            return 2;
        argv[argc - 2] = NULL;
    }
    c.messages = argv + 2;
    struct headers h = { 0 };
    (void)headers_addc(&h, "x-key", "from us");
    const struct http_client_opts copts = { .host = "127.0.0.1",
                                            .port = (uint16_t)port,
                                            .http2 = true };
    const struct grpc_call_opts opts = {
        .path = argv[1], .metadata = &h, .timeout_ms = timeout_ms, .ops = &ops
    };
    int r = http_client_new(&loop, &copts, &c.client, &err);
    if (r >= 0)
        r = grpc_call_start(c.client, &opts, &c.call, &err);
    headers_fini(&h);
    if (r < 0) {
        (void)fprintf(stderr, "grpc_peer: %s\n", err_text(&err));
        return 1;
    }
    send_more(NULL);
    loop_run(&loop);
    return 0;
}

int main(int argc, char **argv)
{
    struct err err = { 0 };
    if (loop_init(&loop, &err) < 0)
        return 1;
    if (argc == 2 && strcmp(argv[1], "serve") == 0)
        return serve();
    if (argc > 2 && strcmp(argv[1], "call") == 0)
        return call(argc - 2, argv + 2);
    (void)fprintf(stderr, "usage: grpc_peer serve | call PORT PATH MESSAGE... [-t MS]\n");
    return 2;
}
