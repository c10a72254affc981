/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a peer may send on an HTTP/2 connection after preface and settings, against a server whose
 * handlers do everything that a handler can do. Whatever comes, each request is told of its end
 * once, and the connection goes. Input: frames as they are.
 */
#include "fuzz.h"

#include "base/mem.h"
#include "io/grpc.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct {
    struct loop loop;
    struct http_server *server;
    struct grpc_server *methods;
    struct sockaddr_un addr;
    size_t begun, gone;
} f;

struct handled {
    unsigned body_ends;
    bool gone, asked;
    struct str target;
};

static void on_body(struct http_exchange *x, struct str chunk)
{
    struct handled *h = http_exchange_data(x);
    FUZZ_CHECK(!h->gone && !h->body_ends && h->asked);
    if (chunk.n && chunk.p[0] == 'p') {
        http_pause_body(x);
        http_resume_body(x);
    }
}

static void on_body_end(struct http_exchange *x, int r)
{
    struct handled *h = http_exchange_data(x);
    FUZZ_CHECK(!h->gone && h->body_ends++ == 0 && h->asked);
    if (r == 0)
        http_reply(x, 200, NULL, STR("read"));
}

static void on_writable(struct http_exchange *x)
{
    http_end(x);
}

static void on_gone(struct http_exchange *x, int r)
{
    struct handled *h = http_exchange_data(x);
    FUZZ_CHECK(!h->gone && (!h->asked || h->body_ends == 1) && r <= 0);
    h->gone = true;
    f.gone++;
    free(h);
}

static void echo_body(struct http_exchange *x, struct str chunk)
{
    FUZZ_CHECK(!http_request_trailers(x));
    if (!http_write(x, chunk))
        http_pause_body(x);
}

static void echo_end(struct http_exchange *x, int r)
{
    struct handled *h = http_exchange_data(x);
    FUZZ_CHECK(!h->gone && h->body_ends++ == 0);
    if (r < 0)
        return;
    if (http_request_trailers(x))
        http_trailers(x, http_request_trailers(x));
    http_end(x);
}

static void on_request(struct http_exchange *x, const struct http_request *req, void *arg)
{
    static const struct http_exchange_ops ops = { on_body, on_body_end, on_writable, on_gone };
    static const struct http_exchange_ops echo = { echo_body, echo_end, http_resume_body, on_gone };
    static const char big[200 << 10];
    if (grpc_server_take(f.methods, x, req))
        return;
    struct handled *h = xnew(struct handled);
    f.begun++;
    http_exchange_set(x, &ops, h);
    FUZZ_CHECK(req->method.n && req->target.n && req->headers->n <= HEADERS_MAX && req->http2);
    switch (req->target.n > 1 ? req->target.p[1] : 0) {
    case 'b':
        h->asked = true;
        http_read_body(x, 1000);
        return;
    case 'w':
        http_respond(x, 200, NULL, HTTP_CHUNKED);
        if (http_write(x, str_n(big, sizeof big)))
            http_end(x);
        return;
    case 'h':
        return;
    case 'e':
        h->asked = true;
        http_exchange_set(x, &echo, h);
        http_inform(x, 103, req->headers);
        http_respond(x, 200, NULL, HTTP_CHUNKED);
        http_let_body_idle(x);
        http_read_body(x, UINT64_MAX);
        return;
    case 'a':
        http_respond(x, 200, NULL, 10);
        http_abort(x);
        return;
    default:
        http_reply(x, 200, req->headers, STR("hello"));
    }
}

/* ------------------------------------------------------------------ gRPC */

static void on_message(struct grpc_stream *st, struct str message)
{
    FUZZ_CHECK(message.n <= 1000);
    if (message.n && message.p[0] == 'p') {
        grpc_stream_pause(st);
        grpc_stream_resume(st);
    }
    if (message.n && message.p[0] == 'e')
        grpc_stream_end(st, GRPC_ABORTED, "as you wish", grpc_stream_metadata(st));
    (void)grpc_stream_send(st, message);
}

static void on_half_close(struct grpc_stream *st)
{
    grpc_stream_end(st, GRPC_OK, NULL, NULL);
}

static void on_stream_gone(struct grpc_stream *st, int r)
{
    FUZZ_CHECK(r <= 0);
    f.gone++;
}

static void begin_call(struct grpc_stream *st, void *arg)
{
    static const struct grpc_stream_ops ops = { on_message, on_half_close, grpc_stream_resume,
                                                on_stream_gone };
    f.begun++;
    grpc_stream_set(st, &ops, NULL);
}

/* ------------------------------------------------------------------ the server */

static void setup(void)
{
    struct err err = { 0 };
    f.addr.sun_family = AF_UNIX;
    (void)snprintf(f.addr.sun_path, sizeof f.addr.sun_path, "/tmp/dm-fuzz-http2-%d", (int)getpid());
    const struct http_server_opts opts = { .unix_path = f.addr.sun_path,
                                           .on_request = on_request,
                                           .http2 = true };
    FUZZ_CHECK(loop_init(&f.loop, &err) == 0);
    f.methods = grpc_server_new(&f.loop);
    grpc_server_add(f.methods, "/g", 1000, begin_call, NULL);
    FUZZ_CHECK(http_server_start(&f.loop, &opts, &f.server, &err) == 0);
}

static void leave(void)
{
    (void)unlink(f.addr.sun_path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char hello[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
                                "\0\0\6\4\0\0\0\0\0\0\4\0\1\0\0";
    char sink[4096];
    if (!f.server) {
        setup();
        (void)atexit(leave);
    }
    if (n > 60000) /* all of it fits the socket */
        return 0;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    FUZZ_CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&f.addr, sizeof f.addr) == 0);
    FUZZ_CHECK(send(fd, hello, sizeof hello - 1, 0) == (ssize_t)sizeof hello - 1);
    FUZZ_CHECK(send(fd, data, n, 0) == (ssize_t)n);
    (void)shutdown(fd, SHUT_WR);
    do
        (void)loop_turn(&f.loop, true);
    while (http_server_connections(f.server) == 0);
    while (http_server_connections(f.server)) {
        (void)loop_turn(&f.loop, false);
        while (recv(fd, sink, sizeof sink, MSG_DONTWAIT) > 0)
            ;
    }
    (void)close(fd);
    FUZZ_CHECK(f.begun == f.gone);
    return 0;
}
