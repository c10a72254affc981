/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches over WebSockets (RFC 6455), for clients that cannot read a stream, browsers above all:
 * one message for each event. Between the request core, which does not know, and one exchange of
 * the listener. What the client sends is not looked at, but for pings and the end.
 */
#pragma once

#include "api/request.h"
#include "io/http.h"

struct websocket;

/*
 * The request asks for a WebSocket: it is one from here on, unless it is answered by something else
 * than a watch. Takes the token that a browser can only send as the name of a protocol. NULL: it
 * asks for none, or not as it should.
 */
struct websocket *websocket_take(struct request *rq, const struct headers *headers);
/* Begin, instead of a head with status 200. */
void websocket_open(struct websocket *ws, struct http_exchange *x, const struct headers *extra);
bool websocket_is_open(const struct websocket *ws); /* NULL: no */
/* One event; false: as http_write(). */
bool websocket_write(struct websocket *ws, struct str event);
/* Our end of it. */
void websocket_end(struct websocket *ws);
/* Bytes of the client, and that there will be no more. */
void websocket_read(struct websocket *ws, struct str bytes);
