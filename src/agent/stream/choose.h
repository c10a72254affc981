/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which streaming protocol a request gets. Pure.
 *
 *     upgrade: SPDY/3.1    x-stream-protocol-version: v4.channel.k8s.io, ...     SPDY
 *     upgrade: websocket   sec-websocket-protocol: v5.channel.k8s.io, ...        CHANNELS
 *     upgrade: websocket   sec-websocket-protocol: SPDY/3.1+portforward.k8s.io   TUNNEL
 */
#pragma once

#include "codec/headers.h"
#include "codec/ws.h"

enum stream_purpose { STREAM_REMOTE_COMMAND, STREAM_PORT_FORWARD };

enum stream_carrier {
    STREAM_SPDY,     /* SPDY frames are the connection's bytes */
    STREAM_CHANNELS, /* each WebSocket message begins with the number of its channel */
    STREAM_TUNNEL    /* SPDY frames are the contents of binary WebSocket messages */
};

struct stream_choice {
    enum stream_carrier carrier;
    unsigned version;            /* of the remote command protocol, 1 to 5; port forwarding: 0 */
    bool is_base64;              /* CHANNELS: the messages are base64 text */
    const char *protocol;        /* what the answer names; "": nothing, since the client did not */
    char accept[WS_ACCEPT_SIZE]; /* of a WebSocket */
};

enum { STREAM_REFUSAL_SIZE = 256 };
struct stream_refusal {
    int status; /* 400 or 403 */
    char text[STREAM_REFUSAL_SIZE];
    const char *accepted; /* of x-accepted-stream-protocol-versions; NULL: without it */
};

/* Whether the request names a protocol to upgrade to that is a WebSocket. */
bool stream_choose_is_websocket(const struct headers *h);
/* -EINVAL: *no has the answer instead. */
int stream_choose(enum stream_purpose purpose, const struct headers *h, struct stream_choice *ret,
                  struct stream_refusal *no);
/* The fields of the 101. */
void stream_choose_answer(const struct stream_choice *c, struct headers *to);
