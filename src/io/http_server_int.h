/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the HTTP server share: http_server.c (listener, connections), http1_server.c
 * and http2_server.c (the two protocols), http_exchange.c (the calls of handlers).
 */
#pragma once

#include "base/crowd.h"
#include "base/log.h"
#include "base/sm.h"
#include "io/http.h"
#include "io/stream.h"

#include <netinet/in.h>

/*
 *     OPEN --http_server_drain()--> DRAINING --http_server_close()--> CLOSING
 *
 * http_server_close() drains first. A server that could not listen moves from OPEN to CLOSING.
 */
enum http_server_at {
    HTTP_SERVER_OPEN,
    HTTP_SERVER_DRAINING, /* no new connections; a request is the last of its connection */
    HTTP_SERVER_CLOSING   /* and done() runs when the last connection has closed */
} __attribute__((packed));

struct http_server {
    struct loop *loop;
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } listener;
    enum http_server_at at;
    bool is_pipe, http2;
    bool listening; /* the listener's handle has not closed */
    bool accept_waits;
    char *unix_path;
    int dir_fd; /* of a path too long for an address, until the path is removed; else -1 */
    struct tls_ctx *tls;
    void (*on_request)(struct http_exchange *x, const struct http_request *req, void *arg);
    void (*on_accept)(void *arg);
    void *arg;
    uint64_t head_timeout_ms, body_idle_ms, keepalive_ms, write_stall_ms, half_closed_ms, ping_ms;
    size_t connections_max;
    struct list idle; /* struct conn by idle_since, the oldest first */
    struct list busy;
    struct list shaking; /* struct conn.shake, the oldest first; some are done already */
    size_t n_shaking;
    struct crowd crowd;
    size_t n_conns;
    struct timer idle_timer; /* armed only while `idle` is not empty */
    struct list spares;      /* struct h1_exchange */
    size_t n_spares;
    struct log_rate accept_errors;
    uint64_t drain_idle_ms;
    struct timer drain, grace;
    void (*done)(void *arg);
    void *done_arg;
};

/*
 *     NEW --the first bytes, or ALPN--> SPEAKING --http_conn_retire()--> LINGERING
 */
enum conn_at {
    CONN_NEW,
    CONN_SPEAKING, /* it is known which HTTP the connection speaks */
    CONN_LINGERING /* its output has ended; input is discarded until the peer ends it */
} __attribute__((packed));

struct conn {
    struct stream s;
    struct http_server *srv;
    const struct conn_kind *kind;
    struct list node; /* srv->idle or srv->busy */
    struct list shake;
    uint64_t idle_since;
    union { /* by kind */
        struct h1_exchange *x;
        struct h2 *h2;
    };
    enum conn_at at;
    uint8_t n_sniffed;
    bool close_after; /* no further request on this connection */
    size_t lingered;
    struct timer linger; /* also the time-out for the first byte */
    char peer[INET6_ADDRSTRLEN + 8];
};

/* A version of HTTP on a connection. Once the connection lingers, only the last two run. */
struct conn_kind {
    void (*open)(struct conn *c); /* its first byte has arrived */
    size_t (*data)(struct conn *c, const char *p, size_t n);
    void (*eof)(struct conn *c);
    void (*settled)(struct conn *c);
    void (*finish)(struct conn *c);      /* the server closes: end after the running exchanges */
    void (*cut)(struct conn *c);         /* end now */
    void (*expire)(struct conn *c);      /* it was idle too long */
    void (*lost)(struct conn *c, int r); /* notify the handlers; idempotent */
    void (*release)(struct conn *c); /* free the state; after lost(), or before the first byte */
};

extern const struct conn_kind http1_kind, http2_kind;

/*
 * The response:
 *
 *     NONE --http_respond()--> OPEN --http_end()--> ENDED --it was the server's--> REFUSED
 *
 * Each of them leads to GONE when the response was sent or the peer is lost, in HTTP/2 also to
 * RESET and then to GONE.
 */
enum http_out {
    HTTP_OUT_NONE,
    HTTP_OUT_OPEN,
    HTTP_OUT_ENDED,   /* all bytes of the response are known */
    HTTP_OUT_REFUSED, /* likewise, but the server made it; from here on calls have no effect */
    HTTP_OUT_RESET,   /* the server has reset the stream: nothing more is sent */
    HTTP_OUT_GONE     /* on_gone() has run, or the request's head was never complete */
} __attribute__((packed));

/*
 * The request's body, for the handler:
 *
 *     UNASKED --http_read_body()--> ASKED --its end, or a failure--> ENDED
 *
 * A failure also leads from UNASKED to ENDED. http_upgrade() begins again in UNASKED: then the body
 * is what the peer sends through the tunnel.
 */
enum http_body {
    HTTP_BODY_UNASKED,
    HTTP_BODY_ASKED,
    HTTP_BODY_ENDED /* on_body_end() has run, or never will */
} __attribute__((packed));

/* How the peer finds the end of the response's body. */
enum http_framing {
    HTTP_FRAMING_NONE, /* there is no body, or http_respond() has not run */
    HTTP_FRAMING_LENGTH,
    HTTP_FRAMING_CHUNKED, /* HTTP/2: by the last frame */
    HTTP_FRAMING_CLOSE    /* HTTP/1.0 and tunnels: by the end of the connection */
} __attribute__((packed));

/* The common beginning of both kinds of exchange. */
struct http_exchange {
    const struct exchange_kind *kind;
    struct conn *c;
    const struct http_exchange_ops *ops; /* never NULL */
    void *data;
    struct http_request req;
    const struct headers *request_trailers; /* once they have arrived */
    struct headers trailers;                /* of the response */
    enum http_out out;
    enum http_body body;
    enum http_framing framing;
    bool is_head;       /* the method is HEAD */
    bool body_paused;   /* by the handler */
    bool body_may_idle; /* an option of the handler */
};

extern const struct sm_state http_out_table[], http_body_table[];

/* The only functions that move the states of an exchange. */
static inline void http_exchange_move_out(struct http_exchange *x, enum http_out to)
{
    assert(sm_is_edge(http_out_table, x->out, to));
    x->out = to;
}
static inline void http_exchange_move_body(struct http_exchange *x, enum http_body to)
{
    assert(sm_is_edge(http_body_table, x->body, to));
    x->body = to;
}

/* All bytes of the response are known, and the peer may still take them. */
static inline bool http_out_has_ended(const struct http_exchange *x)
{
    return x->out == HTTP_OUT_ENDED || x->out == HTTP_OUT_REFUSED;
}
/* The handler cannot send any more. */
static inline bool http_out_is_closed(const struct http_exchange *x)
{
    return x->out >= HTTP_OUT_REFUSED;
}
/* Nothing is sent any more. */
static inline bool http_out_is_over(const struct http_exchange *x)
{
    return x->out >= HTTP_OUT_RESET;
}
/* The handler takes bytes of the body now. */
static inline bool http_body_is_wanted(const struct http_exchange *x)
{
    return x->body == HTTP_BODY_ASKED && !x->body_paused;
}

/* Implementations of the calls of http.h (http_exchange.c). */
struct exchange_kind {
    void (*respond)(struct http_exchange *x, int status, const struct headers *headers,
                    uint64_t body_n);
    bool (*write)(struct http_exchange *x, struct str chunk);
    size_t (*pending)(const struct http_exchange *x);
    void (*end)(struct http_exchange *x);
    void (*abort)(struct http_exchange *x);
    void (*inform)(struct http_exchange *x, int status, const struct headers *headers);
    void (*upgrade)(struct http_exchange *x, const struct headers *headers);
    void (*read_body)(struct http_exchange *x, uint64_t max_bytes);
    void (*pause_body)(struct http_exchange *x);
    void (*resume_body)(struct http_exchange *x);
};

/* The speed at which a body arrives: without a minimum, a peer that trickles could hold a handler's
 * resources for ever. */
struct body_pace {
    uint64_t since_ms, bytes;
};
/* Start measuring, or start again after a pause. */
void http_body_pace_start(struct body_pace *p, const struct conn *c);
bool http_body_pace_is_too_slow(const struct body_pace *p, const struct conn *c);

void http_exchange_init(struct http_exchange *x, const struct exchange_kind *kind, struct conn *c);
void http_exchange_fini(struct http_exchange *x);
/* A response with this status has no body. */
static inline bool http_exchange_is_bodyless(const struct http_exchange *x, int status)
{
    return x->is_head || status < 200 || status == 204 || status == 304;
}
/* End the body; idempotent. on_body_end(r) runs if the handler has asked for the body. */
static inline void http_exchange_end_body(struct http_exchange *x, int r)
{
    bool asked = x->body == HTTP_BODY_ASKED;
    if (x->body == HTTP_BODY_ENDED)
        return;
    http_exchange_move_body(x, HTTP_BODY_ENDED);
    if (asked && x->ops->on_body_end)
        x->ops->on_body_end(x, r);
}
/* Respond instead of the handler, unless it has begun a response. */
void http_exchange_refuse(struct http_exchange *x, int status, const char *why);

/* The connection is idle; from now on it may be closed for its age. */
void http_conn_rest(struct conn *c);
void http_conn_busy(struct conn *c);
/* Everything was written: end the connection so that the peer can still read it. */
void http_conn_retire(struct conn *c);

/* Free memory that is kept for the next requests; all: the server ends. */
void http1_trim_spares(struct http_server *srv, bool all);
