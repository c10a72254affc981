/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WebSocket frames (RFC 6455) as a server reads and writes them: pure, bytes in, events out.
 *
 *     struct ws_reader r = { 0 };
 *     char room[8192];
 *     while ((n = ws_read(&r, &bytes, room, sizeof room, &ev)) > 0)
 *         ...
 *
 * Messages are not collected: their bytes come in pieces, as they arrive, so that a frame may have
 * any length. No extensions; the text of text messages is not checked.
 */
#pragma once

#include "base/buf.h"
#include "base/str.h"

enum ws_op { WS_CONTINUE = 0, WS_TEXT = 1, WS_BINARY = 2, WS_CLOSE = 8, WS_PING = 9, WS_PONG = 10 };

enum {
    WS_CONTROL_MAX_BYTES = 125, /* of a control frame's payload */
    WS_HEAD_MAX_BYTES = 14,     /* of a frame: 2, a length of up to 8, a mask of 4 */
    WS_KEY_BYTES = 24,          /* of sec-websocket-key */
    WS_ACCEPT_SIZE = 29         /* of sec-websocket-accept, with its NUL */
};

enum { /* status of a close frame, section 7.4.1 */
       WS_CLOSE_NORMAL = 1000,
       WS_CLOSE_GOING_AWAY = 1001,
       WS_CLOSE_PROTOCOL_ERROR = 1002,
       WS_CLOSE_TOO_BIG = 1009,
       WS_CLOSE_INTERNAL = 1011
};

struct ws_event {
    enum ws_op op;   /* TEXT, BINARY: a piece of a message; CLOSE, PING, PONG: a whole frame */
    struct str data; /* unmasked, in `room` or in the reader; valid until the next call */
    bool begins;     /* the first piece of its message */
    bool ends;       /* the last piece of its message */
};

/* Zeroed: expects a frame. */
struct ws_reader {
    uint8_t head[WS_HEAD_MAX_BYTES];
    uint8_t n_head, n_control, mask_at;
    bool in_payload, begins;
    enum ws_op message; /* the message under way; WS_CONTINUE: none */
    uint64_t left;      /* of the frame's payload */
    uint8_t control[WS_CONTROL_MAX_BYTES];
};

/*
 * Take bytes from the front of *bytes until there is an event. 1: *ret is set. 0: all was taken,
 * and no event is complete. E_PARSE: the frame violates section 5.2 or 5.4 (no mask, reserved bits,
 * an unknown opcode, a control frame that is long or fragmented, a continuation of nothing, a
 * message inside another one); nothing can be read after it. room: for n_room > 0 unmasked bytes.
 */
int ws_read(struct ws_reader *r, struct str *bytes, char *room, size_t n_room,
            struct ws_event *ret);

/* The head of an unmasked frame that is a whole message; its n bytes follow. */
struct ws_head {
    char bytes[10];
    size_t n;
};
struct ws_head ws_frame_head(enum ws_op op, size_t n);
/* A whole close frame with this status. */
struct ws_head ws_close_frame(unsigned status);

/* The answer to a sec-websocket-key. -EINVAL: the key is not WS_KEY_BYTES long. */
int ws_accept(struct str key, char ret[WS_ACCEPT_SIZE]);
