/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a server may answer to a client whose calls do everything that a call can do: stream a body,
 * ask for an upgrade, pause, have a gRPC reader behind them; over HTTP/1.1 and HTTP/2. Whatever
 * comes, each call ends once, and nothing comes after its end.
 *
 * Input: one byte of mode (bit 0: HTTP/2, bit 1: the body streams, bit 2: upgrade, bit 3: gRPC, bit
 * 4: pauses), then the bytes of the server.
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

enum { HTTP2 = 1, STREAMS = 2, UPGRADE = 4, GRPC = 8, PAUSES = 16 };

static struct {
    struct loop loop;
    struct sockaddr_un addr;
    int listener;
} f = { .listener = -1 };

static struct {
    struct exchange *http;
    struct grpc_call *grpc;
    uint8_t mode;
    unsigned heads, trailers, ends;
    struct defer again;
} call;

static void on_again(struct defer *d)
{
    if (call.grpc)
        grpc_call_resume(call.grpc);
    else if (call.http)
        exchange_resume(call.http);
}

static void pause_a_while(void)
{
    if (!(call.mode & PAUSES))
        return;
    if (call.grpc)
        grpc_call_pause(call.grpc);
    else
        exchange_pause(call.http);
    defer_start(&f.loop, &call.again, on_again);
}

static void on_head(void *arg, int status, const struct headers *headers)
{
    FUZZ_CHECK(call.heads++ == 0 && !call.ends && status <= 999);
    FUZZ_CHECK(status == 101 ? (call.mode & UPGRADE) : status >= 200);
    FUZZ_CHECK(headers->n <= HEADERS_MAX);
    if (status == 101) {
        (void)exchange_write(call.http, STR("raw"));
        exchange_end_body(call.http, NULL);
    }
    pause_a_while();
}

static void on_data(void *arg, struct str chunk)
{
    FUZZ_CHECK(call.heads == 1 && !call.ends && !call.trailers && chunk.n);
    if (call.mode & STREAMS)
        (void)exchange_write(call.http, chunk);
    pause_a_while();
}

static void on_interim(void *arg, int status, const struct headers *headers)
{
    FUZZ_CHECK(!call.heads && status >= 100 && status < 200 && status != 101);
}

static void on_trailers(void *arg, const struct headers *trailers)
{
    FUZZ_CHECK(call.heads == 1 && call.trailers++ == 0 && trailers->n);
}

static void on_end(void *arg, int r, const struct err *err)
{
    FUZZ_CHECK(call.ends++ == 0 && r <= 0 && (r < 0 || call.heads));
    FUZZ_CHECK(!http_call_body_was_sent(call.http) || http_call_was_sent(call.http));
    defer_cancel(&call.again);
    call.http = NULL;
}

static void on_message(void *arg, struct str message)
{
    FUZZ_CHECK(!call.ends && message.n <= 1000);
    (void)grpc_call_send(call.grpc, message);
    pause_a_while();
}

static void on_result(void *arg, const struct grpc_result *result)
{
    FUZZ_CHECK(call.ends++ == 0 && result->code >= 0 && result->text.n <= 2 * GRPC_TEXT_MAX_BYTES);
    defer_cancel(&call.again);
    call.grpc = NULL;
}

static void setup(void)
{
    struct err err = { 0 };
    f.addr.sun_family = AF_UNIX;
    (void)snprintf(f.addr.sun_path, sizeof f.addr.sun_path, "/tmp/dm-fuzz-call-%d", (int)getpid());
    FUZZ_CHECK(loop_init(&f.loop, &err) == 0);
    f.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    FUZZ_CHECK(bind(f.listener, (struct sockaddr *)&f.addr, sizeof f.addr) == 0);
    FUZZ_CHECK(listen(f.listener, 4) == 0);
}

static void leave(void)
{
    (void)unlink(f.addr.sun_path);
}

static void begin(struct http_client *c)
{
    static const struct exchange_events events = {
        .on_head = on_head, .on_data = on_data, .on_end = on_end, .on_trailers = on_trailers
    };
    static const struct grpc_call_ops grpc_ops = { .on_message = on_message, .on_end = on_result };
    struct err err = { 0 };
    struct headers h = { 0 };
    if (call.mode & GRPC) {
        const struct grpc_call_opts opts = { .path = "/g", .max_bytes = 1000, .ops = &grpc_ops };
        FUZZ_CHECK(grpc_call_start(c, &opts, &call.grpc, &err) == 0);
        (void)grpc_call_send(call.grpc, STR("first"));
        return;
    }
    if (call.mode & UPGRADE)
        FUZZ_CHECK(headers_addc(&h, "upgrade", "x") == 0);
    const struct http_call_opts opts = { .method = STR("GET"),
                                         .target = STR("/"),
                                         .headers = &h,
                                         .events = &events,
                                         .on_interim = on_interim,
                                         .streams = call.mode & STREAMS,
                                         .body_n = HTTP_CHUNKED,
                                         .upgrade = call.mode & UPGRADE };
    FUZZ_CHECK(http_call_start(c, &opts, &call.http, &err) == 0);
    headers_fini(&h);
}

/* Bits that exclude each other: what is left of them. */
static uint8_t sane(uint8_t mode)
{
    if (mode & GRPC)
        return (mode & PAUSES) | GRPC | HTTP2;
    if (mode & UPGRADE)
        return (mode & PAUSES) | UPGRADE;
    return mode & (HTTP2 | STREAMS | PAUSES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char hello[] = "\0\0\0\4\0\0\0\0\0\0\0\0\4\1\0\0\0\0"; /* SETTINGS, and of ours */
    char sink[4096];
    if (n < 1 || n > 60000) /* all of it fits the socket */
        return 0;
    if (f.listener < 0) {
        setup();
        (void)atexit(leave);
    }
    memset(&call, 0, sizeof call);
    call.mode = sane(data[0]);
    struct http_client *c;
    struct err err = { 0 };
    const struct http_client_opts copts = { .unix_path = f.addr.sun_path,
                                            .http2 = call.mode & HTTP2 };
    FUZZ_CHECK(http_client_new(&f.loop, &copts, &c, &err) == 0);
    begin(c);
    int fd = accept4(f.listener, NULL, NULL, SOCK_CLOEXEC);
    FUZZ_CHECK(fd >= 0);
    if (call.mode & HTTP2)
        FUZZ_CHECK(send(fd, hello, sizeof hello - 1, 0) == (ssize_t)sizeof hello - 1);
    while (recv(fd, sink, sizeof sink, MSG_DONTWAIT) <= 0) /* the request: answers come after it */
        (void)loop_turn(&f.loop, false);
    (void)!send(fd, data + 1, n - 1, MSG_NOSIGNAL);
    (void)shutdown(fd, SHUT_WR);
    while (!call.ends) {
        (void)loop_turn(&f.loop, false);
        while (recv(fd, sink, sizeof sink, MSG_DONTWAIT) > 0)
            ;
        int again = accept4(f.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (again >= 0)
            (void)close(again);
    }
    http_client_close(c);
    while (loop_turn(&f.loop, false))
        ;
    (void)close(fd);
    return 0;
}
