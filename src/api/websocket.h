/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches over WebSockets (RFC 6455), for clients that cannot read a stream, mostly browsers: one
 * message for each event. This layer lies between the request core, which does not depend on it,
 * and one exchange of the listener. Messages of the client are ignored, except pings and close
 * frames.
 */
#pragma once

#include "api/request.h"
#include "io/http.h"

struct websocket;

/* Begins an item of sec-websocket-protocol that is a bearer token in base64url. */
#define WEBSOCKET_TOKEN_PREFIX "base64url.bearer.authorization.k8s.io."

/*
 * Check whether the request asks for a WebSocket; if so, the answer is one, unless the request
 * turns out not to be a watch. Takes over the bearer token that a browser can send only as the name
 * of a subprotocol. NULL: the request asks for no WebSocket, or its fields are invalid.
 */
struct websocket *websocket_take(struct request *rq, const struct headers *headers);
/* Send the handshake, instead of a head with status 200. */
void websocket_open(struct websocket *ws, struct http_exchange *x, const struct headers *extra);
bool websocket_is_open(const struct websocket *ws); /* NULL: no */
/* Send one event as a message; returns what http_write() returns. */
bool websocket_write(struct websocket *ws, struct str event);
/* Send our close frame. */
void websocket_end(struct websocket *ws);
/* Bytes that the client sent. */
void websocket_read(struct websocket *ws, struct str bytes);
