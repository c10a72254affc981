/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames that a client of a watch over a WebSocket sends. The first byte says how large the pieces
 * are in which the rest comes. However it is cut, the server answers the same, with whole frames
 * that are not masked, at most one close frame, and nothing behind it.
 */
#include "fuzz.h"

#include "api/websocket.h"
#include "base/buf.h"
#include "io/http_server_int.h"

static struct buf sent;
static unsigned n_ends;

static bool on_write(struct http_exchange *x, struct str chunk)
{
    FUZZ_CHECK(n_ends == 0);
    (void)buf_add_str(&sent, chunk);
    return true;
}

static size_t no_pending(const struct http_exchange *x)
{
    return 0;
}

static void on_end(struct http_exchange *x)
{
    n_ends++;
}

static void on_upgrade(struct http_exchange *x, const struct headers *headers)
{
    FUZZ_CHECK(headers_get(headers, "sec-websocket-accept").n > 0);
}

static void on_read_body(struct http_exchange *x, uint64_t max_bytes)
{
}

static const struct exchange_kind fake_kind = { .write = on_write,
                                                .pending = no_pending,
                                                .end = on_end,
                                                .upgrade = on_upgrade,
                                                .read_body = on_read_body };

static void run(struct str bytes, size_t piece)
{
    struct request rq = { 0 };
    struct http_exchange x = { .kind = &fake_kind, .req.upgrade = true };
    struct headers h = { 0 }, none = { 0 };
    (void)headers_addc(&h, "upgrade", "websocket");
    (void)headers_addc(&h, "sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
    (void)headers_addc(&h, "sec-websocket-version", "13");
    struct websocket *ws = websocket_take(&rq, &h);
    FUZZ_CHECK(ws);
    websocket_open(ws, &x, &none);
    while (bytes.n) {
        size_t n = MIN(bytes.n, piece);
        websocket_read(ws, str_slice(bytes, 0, n));
        bytes = str_slice(bytes, n, bytes.n);
    }
    headers_fini(&h);
    arena_fini(&rq.arena);
}

static void check_sent(void)
{
    size_t at = 0, n_closes = 0;
    while (at < sent.n) {
        unsigned op = (unsigned char)sent.p[at] & 15;
        FUZZ_CHECK(at + 2 <= sent.n && ((unsigned char)sent.p[at] & 0xf0) == 0x80);
        FUZZ_CHECK(op == 8 || op == 10);
        size_t n = (unsigned char)sent.p[at + 1];
        FUZZ_CHECK(n <= 125 && at + 2 + n <= sent.n && n_closes == 0);
        n_closes += op == 8;
        at += 2 + n;
    }
    FUZZ_CHECK(n_closes == n_ends);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n == 0)
        return 0;
    struct str bytes = str_n((const char *)data + 1, n - 1);
    sent = BUF_INIT(BUF_MAX_DEFAULT);
    n_ends = 0;
    run(bytes, SIZE_MAX);
    check_sent();
    struct buf whole = sent;
    sent = BUF_INIT(BUF_MAX_DEFAULT);
    n_ends = 0;
    run(bytes, (size_t)data[0] % 16 + 1);
    check_sent();
    FUZZ_CHECK(str_eq(buf_str(&whole), buf_str(&sent)));
    buf_fini(&whole);
    buf_fini(&sent);
    return 0;
}
