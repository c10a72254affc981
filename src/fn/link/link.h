/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams between roles in different processes: gRPC (fn.proto, service ControlPlane).
 *
 * The control plane's end is a service of an HTTP server; gateways, workers and followers dial. If
 * a token is configured, a peer without it gets UNAUTHENTICATED. Loop thread only.
 */
#pragma once

#include "fn/stream.h"
#include "io/http.h"

enum {
    LINK_ADDRESSES_MAX = 16, /* of control planes that are configured */
    LINK_PEERS_MAX = 64,     /* with those of redirects */
    LINK_PING_MS = 1000,     /* without a byte; the peer's host may be down */
    LINK_CONNECT_MS = 1000,
    LINK_TOKEN_MIN = 16 /* bytes */
};

/* ---- the control plane's end ---- */

struct link_server;

struct link_accept { /* streams are given */
    void (*gateway)(void *arg, struct fn_stream *s);
    void (*worker)(void *arg, struct fn_stream *s);
    void (*peer)(void *arg, struct fn_stream *s);
};

/* token: "": none is required; copied. */
struct link_server *link_server_new(struct loop *loop, const char *token,
                                    const struct link_accept *accept, void *arg);
/* No stream may be left: close the HTTP server first. */
void link_server_free(struct link_server *s);
/* In on_request: true if the request is gRPC, and has been taken. */
bool link_server_take(struct link_server *s, struct http_exchange *x,
                      const struct http_request *req);

/* ---- dialing ---- */

struct link_dialer_opts {
    struct loop *loop;
    const char *const *addresses; /* "host:port" of control planes; copied */
    size_t n_addresses;
    struct tls_ctx *tls; /* kept; NULL: plain */
    const char *token;   /* "": none; copied */
};
/* Streams use the addresses in turn, or the address of a redirect. Errors: E_INVALID an address. */
int link_dialer_new(const struct link_dialer_opts *opts, struct fn_dialer **ret, struct err *err);
/* Its streams must have been closed. NULL is fine. */
void link_dialer_free(struct fn_dialer *d);
