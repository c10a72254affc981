/* SPDX-License-Identifier: Apache-2.0 */
/* Watches over WebSockets; see websocket.h. */
#include "api/websocket.h"

#include "codec/base64.h"
#include "codec/ws.h"

#include <assert.h>

enum {
    PONG_PENDING_MAX_BYTES = 64 << 10, /* no pong while the client leaves more than this unread */
    ROOM_BYTES = 4096                  /* for pieces of messages, which are ignored */
};

struct websocket {
    struct request *rq;
    struct http_exchange *x; /* set once it is open */
    char accept[WS_ACCEPT_SIZE];
    struct str protocol;
    bool ended; /* our close frame was sent */
    struct ws_reader reader;
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
    char accept[WS_ACCEPT_SIZE];
    if (!has_word(headers_get(headers, "upgrade"), "websocket") ||
        ws_accept(str_trim(headers_get(headers, "sec-websocket-key")), accept) < 0 ||
        !str_is(str_trim(headers_get(headers, "sec-websocket-version")), "13"))
        return NULL;
    struct websocket *ws = arena_new(&rq->arena, struct websocket);
    ws->rq = rq;
    memcpy(ws->accept, accept, sizeof accept);
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
    (void)headers_addc(&h, "sec-websocket-accept", ws->accept);
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

static bool send_frame(struct websocket *ws, enum ws_op op, struct str payload)
{
    struct ws_head head = ws_frame_head(op, payload.n);
    (void)http_write(ws->x, str_n(head.bytes, head.n));
    return http_write(ws->x, payload);
}

bool websocket_write(struct websocket *ws, struct str event)
{
    if (ws->ended)
        return true;
    assert(ws->x && (ws->rq->rep.format != FORMAT_PROTOBUF || event.n >= 4));
    if (ws->rq->rep.format == FORMAT_PROTOBUF) /* drop its length: the frame has one */
        return send_frame(ws, WS_BINARY, str_slice(event, 4, event.n));
    return send_frame(ws, WS_TEXT, event);
}

static void close_with(struct websocket *ws, unsigned status)
{
    struct ws_head frame = ws_close_frame(status);
    if (ws->ended)
        return;
    (void)http_write(ws->x, str_n(frame.bytes, frame.n));
    ws->ended = true;
    http_end(ws->x);
}

void websocket_end(struct websocket *ws)
{
    close_with(ws, WS_CLOSE_NORMAL);
}

/* ------------------------------------------------------------------ receiving */

void websocket_read(struct websocket *ws, struct str bytes)
{
    char room[ROOM_BYTES];
    struct ws_event ev;
    int r = 0;
    while (!ws->ended && (r = ws_read(&ws->reader, &bytes, room, sizeof room, &ev)) > 0) {
        if (ev.op == WS_CLOSE)
            close_with(ws, WS_CLOSE_NORMAL);
        else if (ev.op == WS_PING && http_write_pending(ws->x) < PONG_PENDING_MAX_BYTES)
            (void)send_frame(ws, WS_PONG, ev.data);
    }
    if (r < 0)
        close_with(ws, WS_CLOSE_PROTOCOL_ERROR);
}
