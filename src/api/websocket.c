/* SPDX-License-Identifier: Apache-2.0 */
/* Watches over WebSockets; see websocket.h. */
#include "api/websocket.h"

#include "codec/base64.h"
#include "codec/digest.h"

#include <assert.h>

enum { OP_TEXT = 1, OP_BINARY = 2, OP_CLOSE = 8, OP_PING = 9, OP_PONG = 10 };
enum {
    HEAD_MAX_BYTES = 14, /* of a client's frame: 2, a length of up to 8, a mask of 4 */
    CONTROL_MAX_BYTES = 125,
    PONG_PENDING_MAX_BYTES = 64 << 10, /* no pong while the client leaves more than this unread */
    CLOSE_NORMAL = 1000,
    CLOSE_PROTOCOL_ERROR = 1002
};

struct websocket {
    struct request *rq;
    struct http_exchange *x; /* set once it is open */
    struct str accept, protocol;
    bool ended; /* our close frame was sent */
    uint8_t head[HEAD_MAX_BYTES];
    size_t n_head, n_wanted; /* of the frame's head */
    bool in_payload;
    uint64_t left; /* of the payload */
    uint8_t control[CONTROL_MAX_BYTES];
    size_t n_control;
};

/* ------------------------------------------------------------------ opening */

static bool has_word(struct str list, const char *word)
{
    while (list.n) {
        struct str item;
        (void)str_cut(list, ',', &item, &list);
        if (str_ieq(str_trim(item), str_of(word)))
            return true;
    }
    return false;
}

static struct str accept_of(struct arena *a, struct str key)
{
    uint8_t hash[SHA1_BYTES];
    struct buf b = BUF_INIT(64);
    sha1_of(str_of(arena_printf(a, STR_FMT "258EAFA5-E914-47DA-95CA-C5AB0DC85B11", STR_ARG(key))),
            hash);
    (void)base64_encode(&b, str_n((const char *)hash, sizeof hash), BASE64_STD);
    struct str text = str_copy_arena(a, buf_str(&b));
    buf_fini(&b);
    return text;
}

/* A token in base64url may be among the protocols; the first other one is selected. */
static void take_protocols(struct websocket *ws, struct str list)
{
    struct arena *a = &ws->rq->arena;
    while (list.n) {
        struct str item;
        struct buf token = BUF_INIT(64 << 10);
        (void)str_cut(list, ',', &item, &list);
        item = str_trim(item);
        if (!str_has_prefix(item, STR(WEBSOCKET_TOKEN_PREFIX))) {
            if (ws->protocol.n == 0)
                ws->protocol = str_copy_arena(a, item);
        } else if (base64_decode(&token, str_slice(item, sizeof WEBSOCKET_TOKEN_PREFIX - 1, item.n),
                                 BASE64_URL) >= 0 &&
                   ws->rq->authorization.n == 0) {
            ws->rq->authorization =
                str_of(arena_printf(a, "Bearer " STR_FMT, STR_ARG(buf_str(&token))));
        }
        buf_fini(&token);
    }
}

struct websocket *websocket_take(struct request *rq, const struct headers *headers)
{
    struct str key = str_trim(headers_get(headers, "sec-websocket-key"));
    if (!has_word(headers_get(headers, "upgrade"), "websocket") || key.n != 24 ||
        !str_is(str_trim(headers_get(headers, "sec-websocket-version")), "13"))
        return NULL;
    struct websocket *ws = arena_new(&rq->arena, struct websocket);
    *ws = (struct websocket){ .rq = rq, .n_wanted = 2, .accept = accept_of(&rq->arena, key) };
    take_protocols(ws, headers_get(headers, "sec-websocket-protocol"));
    rq->accept_encoding = STR(""); /* messages are not compressed */
    return ws;
}

void websocket_open(struct websocket *ws, struct http_exchange *x, const struct headers *extra)
{
    assert(!ws->x && !ws->ended);
    struct headers h = { 0 };
    struct str id = headers_get(extra, "audit-id");
    (void)headers_addc(&h, "upgrade", "websocket");
    (void)headers_add(&h, STR("sec-websocket-accept"), ws->accept);
    if (ws->protocol.n)
        (void)headers_add(&h, STR("sec-websocket-protocol"), ws->protocol);
    if (id.n)
        (void)headers_add(&h, STR("audit-id"), id);
    ws->x = x;
    http_upgrade(x, &h);
    headers_fini(&h);
    http_read_body(x, UINT64_MAX);
}

bool websocket_is_open(const struct websocket *ws)
{
    return ws && ws->x;
}

/* ------------------------------------------------------------------ sending */

static bool send_frame(struct websocket *ws, unsigned op, struct str payload)
{
    char head[10] = { (char)(0x80 | op) };
    size_t n = payload.n, bytes = n < 126 ? 0 : n <= UINT16_MAX ? 2 : 8;
    head[1] = (char)(bytes == 0 ? n : bytes == 2 ? 126 : 127);
    for (size_t i = 0; i < bytes; i++)
        head[2 + i] = (char)((uint64_t)n >> (8 * (bytes - 1 - i)));
    (void)http_write(ws->x, str_n(head, 2 + bytes));
    return http_write(ws->x, payload);
}

bool websocket_write(struct websocket *ws, struct str event)
{
    if (ws->ended)
        return true;
    assert(ws->x && (ws->rq->rep.format != FORMAT_PROTOBUF || event.n >= 4));
    if (ws->rq->rep.format == FORMAT_PROTOBUF) /* drop its length: the frame has one */
        return send_frame(ws, OP_BINARY, str_slice(event, 4, event.n));
    return send_frame(ws, OP_TEXT, event);
}

static void close_with(struct websocket *ws, unsigned code)
{
    const char text[2] = { (char)(code >> 8), (char)code };
    if (ws->ended)
        return;
    (void)send_frame(ws, OP_CLOSE, str_n(text, sizeof text));
    ws->ended = true;
    http_end(ws->x);
}

void websocket_end(struct websocket *ws)
{
    close_with(ws, CLOSE_NORMAL);
}

/* ------------------------------------------------------------------ receiving */

static void frame_done(struct websocket *ws)
{
    assert(ws->left == 0 && ws->n_head == ws->n_wanted);
    unsigned op = ws->head[0] & 15;
    struct str payload = str_n((const char *)ws->control, ws->n_control);
    ws->n_head = ws->n_control = 0;
    ws->n_wanted = 2;
    ws->in_payload = false;
    if (op == OP_CLOSE)
        close_with(ws, CLOSE_NORMAL);
    else if (op == OP_PING && !ws->ended && http_write_pending(ws->x) < PONG_PENDING_MAX_BYTES)
        (void)send_frame(ws, OP_PONG, payload);
}

/*
 * false: the frame violates RFC 6455, section 5.2: no mask, reserved bits, an unknown opcode, a
 * control frame that is too long or fragmented, a 64-bit length.
 */
static bool take_head(struct websocket *ws)
{
    enum { FIN = 0x80, RESERVED = 0x70, CONTROL = 8, MASKED = 0x80 };
    unsigned short_n = ws->head[1] & 127, op = ws->head[0] & 15;
    size_t bytes = short_n == 126 ? 2 : short_n == 127 ? 8 : 0;
    bool control = op & CONTROL;
    if (!(ws->head[1] & MASKED) || (ws->head[0] & RESERVED) ||
        (control ? op > OP_PONG : op > OP_BINARY))
        return false;
    if (control && (short_n > CONTROL_MAX_BYTES || !(ws->head[0] & FIN)))
        return false;
    if (bytes == 8 && ws->n_head > 2 && ws->head[2] & 0x80)
        return false;
    if (ws->n_head < 2 + bytes + 4) {
        ws->n_wanted = 2 + bytes + 4;
        return true;
    }
    ws->left = bytes ? 0 : short_n;
    for (size_t i = 0; i < bytes; i++)
        ws->left = ws->left << 8 | ws->head[2 + i];
    ws->in_payload = true;
    if (ws->left == 0)
        frame_done(ws);
    return true;
}

void websocket_read(struct websocket *ws, struct str bytes)
{
    for (size_t at = 0; at < bytes.n && !ws->ended;) {
        if (!ws->in_payload) {
            assert(ws->n_head < ws->n_wanted && ws->n_wanted <= sizeof ws->head);
            ws->head[ws->n_head++] = (uint8_t)bytes.p[at++];
            if (ws->n_head == ws->n_wanted && !take_head(ws))
                close_with(ws, CLOSE_PROTOCOL_ERROR);
            continue;
        }
        size_t n = (size_t)MIN(ws->left, (uint64_t)(bytes.n - at));
        assert(!(ws->head[0] & 8) || ws->n_control + n <= sizeof ws->control); /* take_head() */
        for (size_t i = 0; (ws->head[0] & 8) && i < n; i++) {
            uint8_t mask = ws->head[ws->n_head - 4 + ws->n_control % 4];
            ws->control[ws->n_control++] = (uint8_t)bytes.p[at + i] ^ mask;
        }
        at += n;
        ws->left -= n;
        if (ws->left == 0)
            frame_done(ws);
    }
}
