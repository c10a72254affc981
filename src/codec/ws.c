/* SPDX-License-Identifier: Apache-2.0 */
/* WebSocket frames; see ws.h. */
#include "codec/ws.h"

#include "base/err.h"
#include "base/mem.h"
#include "codec/base64.h"
#include "codec/digest.h"

#include <assert.h>
#include <errno.h>

enum { FIN = 0x80, RESERVED = 0x70, OP = 0x0f, CONTROL = 8, MASKED = 0x80, MASK_BYTES = 4 };

static bool is_control(const struct ws_reader *r)
{
    return r->head[0] & CONTROL;
}

/* Bytes of the length after the first two. */
static size_t length_bytes(const struct ws_reader *r)
{
    unsigned n = r->head[1] & 127;
    return n == 126 ? 2 : n == 127 ? 8 : 0;
}

/* The first two bytes are there. */
static bool is_start_valid(const struct ws_reader *r)
{
    unsigned op = r->head[0] & OP;
    if ((r->head[0] & RESERVED) || !(r->head[1] & MASKED))
        return false;
    if (is_control(r))
        return op <= WS_PONG && (r->head[0] & FIN) && (r->head[1] & 127) <= WS_CONTROL_MAX_BYTES;
    /* A message begins with its type and continues without one. */
    return op <= WS_BINARY && (op == WS_CONTINUE) == (r->message != WS_CONTINUE);
}

/* The whole head is there. */
static int start_payload(struct ws_reader *r)
{
    size_t n = length_bytes(r);
    r->left = n ? 0 : r->head[1] & 127;
    for (size_t i = 0; i < n; i++)
        r->left = r->left << 8 | r->head[2 + i];
    if (r->left >> 63)
        return E_PARSE;
    r->in_payload = true;
    r->mask_at = 0;
    r->n_control = 0;
    if (!is_control(r) && r->message == WS_CONTINUE) {
        r->message = (enum ws_op)(r->head[0] & OP);
        r->begins = true;
    }
    return 0;
}

/* 1: the head is complete. */
static int take_head(struct ws_reader *r, struct str *bytes)
{
    while (bytes->n) {
        size_t wanted = r->n_head < 2 ? 2 : 2 + length_bytes(r) + MASK_BYTES;
        assert(r->n_head < wanted && wanted <= sizeof r->head);
        r->head[r->n_head++] = (uint8_t)bytes->p[0];
        *bytes = str_slice(*bytes, 1, bytes->n);
        if (r->n_head == 2 && !is_start_valid(r))
            return E_PARSE;
        if (r->n_head == wanted && wanted > 2)
            return start_payload(r) < 0 ? E_PARSE : 1;
    }
    return 0;
}

static void unmask(struct ws_reader *r, char *to, struct str from)
{
    const uint8_t *mask = r->head + r->n_head - MASK_BYTES;
    for (size_t i = 0; i < from.n; i++)
        to[i] = (char)((uint8_t)from.p[i] ^ mask[(r->mask_at + i) % MASK_BYTES]);
    r->mask_at = (uint8_t)((r->mask_at + from.n) % MASK_BYTES);
}

static struct str take_payload(struct ws_reader *r, struct str *bytes, char *to, size_t room)
{
    size_t n = (size_t)MIN(r->left, (uint64_t)MIN(bytes->n, room));
    unmask(r, to, str_slice(*bytes, 0, n));
    *bytes = str_slice(*bytes, n, bytes->n);
    r->left -= n;
    return str_n(to, n);
}

static void end_frame(struct ws_reader *r)
{
    r->in_payload = false;
    r->n_head = 0;
}

static bool take_control(struct ws_reader *r, struct str *bytes, struct ws_event *ret)
{
    assert(r->n_control + r->left <= sizeof r->control);
    char *to = (char *)r->control + r->n_control;
    r->n_control += (uint8_t)take_payload(r, bytes, to, sizeof r->control - r->n_control).n;
    if (r->left)
        return false;
    *ret = (struct ws_event){ .op = (enum ws_op)(r->head[0] & OP),
                              .data = str_n(r->control, r->n_control),
                              .begins = true,
                              .ends = true };
    end_frame(r);
    return true;
}

static bool take_piece(struct ws_reader *r, struct str *bytes, char *room, size_t n_room,
                       struct ws_event *ret)
{
    struct str data = take_payload(r, bytes, room, n_room);
    bool done = r->left == 0, ends = done && (r->head[0] & FIN);
    if (done)
        end_frame(r);
    if (data.n == 0 && !ends && !r->begins)
        return false;
    *ret = (struct ws_event){ .op = r->message, .data = data, .begins = r->begins, .ends = ends };
    r->begins = false;
    if (ends)
        r->message = WS_CONTINUE;
    return true;
}

int ws_read(struct ws_reader *r, struct str *bytes, char *room, size_t n_room, struct ws_event *ret)
{
    assert(n_room > 0);
    for (;;) {
        if (!r->in_payload) {
            int got = take_head(r, bytes);
            if (got <= 0)
                return got;
        }
        if (r->left && !bytes->n)
            return 0;
        if (is_control(r) ? take_control(r, bytes, ret) : take_piece(r, bytes, room, n_room, ret))
            return 1;
    }
}

struct ws_head ws_frame_head(enum ws_op op, size_t n)
{
    struct ws_head h = { .bytes = { (char)(FIN | op) } };
    size_t more = n < 126 ? 0 : n <= UINT16_MAX ? 2 : 8;
    h.bytes[1] = (char)(more == 0 ? n : more == 2 ? 126 : 127);
    for (size_t i = 0; i < more; i++)
        h.bytes[2 + i] = (char)((uint64_t)n >> (8 * (more - 1 - i)));
    h.n = 2 + more;
    return h;
}

struct ws_head ws_close_frame(unsigned status)
{
    struct ws_head h = ws_frame_head(WS_CLOSE, 2);
    h.bytes[h.n++] = (char)(status >> 8);
    h.bytes[h.n++] = (char)status;
    return h;
}

int ws_accept(struct str key, char ret[WS_ACCEPT_SIZE])
{
    static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    char text[WS_KEY_BYTES + sizeof guid];
    uint8_t hash[SHA1_BYTES];
    if (key.n != WS_KEY_BYTES)
        return -EINVAL;
    memcpy(text, key.p, key.n);
    memcpy(text + key.n, guid, sizeof guid);
    sha1_of(str_n(text, key.n + sizeof guid - 1), hash);
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(WS_ACCEPT_SIZE);
    (void)base64_encode(&b, str_n(hash, sizeof hash), BASE64_STD);
    assert(b.n == WS_ACCEPT_SIZE - 1);
    memcpy(ret, buf_cstr(&b), WS_ACCEPT_SIZE);
    return 0;
}
