/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP/1.1 (RFC 9112) and HTTP/2 (RFC 9113), server and client, on libuv, with or without TLS.
 * Bodies stream both ways with back-pressure.
 *
 * Server: one listener passes each request to `on_request`; the handler answers through the
 * exchange, at once or later. Client: a pool of kept-alive connections to one origin. gRPC is built
 * on both (io/grpc.h).
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "codec/headers.h"
#include "io/exchange.h"
#include "io/loop.h"

#include <sys/socket.h>

struct tls_ctx; /* io/tls.h */

/* ------------------------------------------------------------------ server */

enum {
    HTTP_HEAD_MAX_BYTES = 64 << 10,    /* request line and fields: 431 beyond */
    HTTP_URI_MAX_BYTES = 16 << 10,     /* 414 beyond */
    HTTP_HEAD_TIMEOUT_MS = 10000,      /* from accept or first byte to the end of the head: 408 */
    HTTP_BODY_IDLE_TIMEOUT_MS = 30000, /* no byte of an expected body: 408 */
    HTTP_BODY_MIN_BYTES_PER_S = 1024,  /* of an expected body, after twice that time: 408 */
    HTTP_WRITE_STALL_MS = 60000,       /* output waits and the peer reads next to nothing */
    HTTP_HALF_CLOSED_MS = 30000,       /* to answer a peer that shut its sending side; plain TCP */
    /* Idle connections are closed after this. One timer per server, armed only while one is
     * idle. */
    HTTP_KEEPALIVE_MS = 180000,
    /* Further connections wait in the kernel; the server closes the longest idle one for them. */
    HTTP_CONNECTIONS_MAX = 20000,
    /* TLS handshakes in progress, 40 KiB each; past this the oldest is cut. */
    HTTP_HANDSHAKES_MAX = 512,
    /* Bytes of an unread body that are discarded after the response; beyond, the connection is
     * cut. */
    HTTP_DISCARD_MAX_BYTES = 64 << 10,
    HTTP_WRITE_HIGH_BYTES = 256 << 10,  /* http_write(), exchange_write() report full above this */
    HTTP_TRAILERS_MAX_BYTES = 16 << 10, /* fields after a body: 431, or a failed call, beyond */
    HTTP_INTERIMS_MAX = 16,             /* 1xx before a response: the call fails beyond */
    HTTP_CLIENT_IDLE_MS = 90000,        /* a pooled connection; one timer per client */
    HTTP_PING_TIMEOUT_MS = 20000        /* without an answer to a ping: the peer is lost */
};

struct http_server;
struct http_exchange; /* one request and its response; owned by the server */

struct http_request {
    struct str method; /* "GET"; borrowed until the exchange ends, like all fields */
    struct str target; /* origin form, "/api/v1/pods?watch=true" */
    const struct headers *headers;
    bool has_body;
    /* The request asks for another protocol, and http_upgrade() may accept. Never true for h2c:
     * behind a proxy, h2c would let any number of requests bypass the proxy. */
    bool upgrade;
    bool http2;
    uint64_t content_length; /* UINT64_MAX: chunked, or HTTP/2 without one */
    struct str peer;         /* "127.0.0.1:3456" or "unix" */
};

/*
 * Per exchange, set by the handler in on_request through http_exchange_set(). All run on the loop
 * thread. on_gone runs exactly once, as the last one: after a complete response (r = 0), a lost
 * peer (-ECONNRESET), a timeout (-ETIMEDOUT) or server close (-ECANCELED). After on_gone the
 * exchange must not be touched. Calls on the exchange never invoke these callbacks synchronously.
 */
struct http_exchange_ops {
    void (*on_body)(struct http_exchange *x, struct str chunk);
    /*
     * Once if the handler asked for the body. r: 0; -EMSGSIZE past the limit; E_PARSE; -ECANCELED
     * if the response was complete first; or as on_gone. After a failure the handler may send its
     * own response before it returns; otherwise the server sends 413, 400 or 408.
     */
    void (*on_body_end)(struct http_exchange *x, int r);
    void (*on_writable)(struct http_exchange *x); /* after http_write() reported full */
    void (*on_gone)(struct http_exchange *x, int r);
};

struct http_server_opts {
    const char *host;      /* "127.0.0.1", "::1", "0.0.0.0"; "localhost", NULL: 127.0.0.1 */
    uint16_t port;         /* 0: any free one */
    const char *unix_path; /* instead of host and port; the socket gets mode 0600 */
    struct tls_ctx *tls;   /* kept until done(); NULL: plain */
    void (*on_request)(struct http_exchange *x, const struct http_request *req, void *arg);
    void (*on_accept)(void *arg); /* before each accept() and handshake; or NULL */
    void *arg;
    /*
     * Also speak HTTP/2: by ALPN with TLS, and with prior knowledge in clear text. Exchanges behave
     * alike; what ends the connection in HTTP/1.1 ends the stream in HTTP/2.
     */
    bool http2;
    /* 0: the values above */
    uint64_t head_timeout_ms, body_idle_ms, keepalive_ms, write_stall_ms, half_closed_ms;
    size_t max_connections;
    /*
     * HTTP/2, while a stream is open: send a PING after this long without a byte from the peer;
     * without an answer within HTTP_PING_TIMEOUT_MS the connection is lost. 0: no pings.
     */
    uint64_t ping_ms;
    /* TCP_USER_TIMEOUT: how long sent bytes may stay unacknowledged; 0: the kernel's default. */
    unsigned user_timeout_ms;
    /*
     * When the server drains or closes, idle HTTP/1.1 connections stay open this long: a request
     * may be in flight already, and the client would not repeat it. Such a request is answered with
     * "connection: close". 0: idle connections are closed at once. (HTTP/2 has GOAWAY for this.)
     */
    uint64_t drain_idle_ms;
    bool reuse_port; /* SO_REUSEPORT: several listeners, each on its own loop, share the port */
};

int http_server_start(struct loop *loop, const struct http_server_opts *opts,
                      struct http_server **ret, struct err *err);
uint16_t http_server_port(const struct http_server *s);
size_t http_server_connections(const struct http_server *s); /* open ones */
/* Stop accepting; let running exchanges finish for up to grace_ms, then cut them; done() runs when
 * everything is released. */
void http_server_close(struct http_server *s, uint64_t grace_ms, void (*done)(void *arg),
                       void *arg);
/*
 * The first step of http_server_close(), which must follow: stop accepting, notify the clients
 * (GOAWAY, "connection: close"), close idle connections (see drain_idle_ms). Running exchanges
 * continue.
 */
void http_server_drain(struct http_server *s);

/*
 * The client's identity by its certificate (io/tls.h), in the arena. false: no TLS, or the client
 * sent no certificate.
 */
struct arena;
struct tls_peer;
bool http_exchange_peer(const struct http_exchange *x, struct arena *a, struct tls_peer *ret);

void http_exchange_set(struct http_exchange *x, const struct http_exchange_ops *ops, void *data);
void *http_exchange_data(const struct http_exchange *x);

/*
 * Ask for the body, in on_request or later; until then it is not read from the peer. A body that
 * the handler has not asked for when the response is complete is discarded.
 */
void http_read_body(struct http_exchange *x, uint64_t max_bytes);
/* Stop and resume reading from the peer (back-pressure). */
void http_pause_body(struct http_exchange *x);
void http_resume_body(struct http_exchange *x);
/* Lift the deadlines for the body's bytes, for bodies that may be silent (a stream of messages). */
void http_let_body_idle(struct http_exchange *x);
/* The trailer fields, available from on_body_end(0) on. NULL: none. */
const struct headers *http_request_trailers(const struct http_exchange *x);

/*
 * Send an interim response (1xx except 100 and 101) before http_respond(). Dropped for HTTP/1.0.
 * http_read_body() sends "100 Continue" to a client that expects it.
 */
void http_inform(struct http_exchange *x, int status, const struct headers *headers);

/*
 * Start the response. headers may be NULL. body_n: exact length, or HTTP_CHUNKED for a stream. Adds
 * date, content-length or transfer-encoding, connection. May be called once.
 */
#define HTTP_CHUNKED UINT64_MAX
void http_respond(struct http_exchange *x, int status, const struct headers *headers,
                  uint64_t body_n);
/*
 * Send bytes of the body; they are copied or already sent. false: HTTP_WRITE_HIGH_BYTES wait, stop
 * until on_writable.
 */
bool http_write(struct http_exchange *x, struct str chunk);
size_t http_write_pending(const struct http_exchange *x); /* bytes waiting for the peer */
/*
 * Trailer fields of an HTTP_CHUNKED response, copied; to be called before http_end(). Dropped where
 * trailers are impossible: HTTP/1.0, no body.
 */
void http_trailers(struct http_exchange *x, const struct headers *trailers);
void http_end(struct http_exchange *x); /* end of the response body */
/* A whole response in one call. */
void http_reply(struct http_exchange *x, int status, const struct headers *headers,
                struct str body);
/* Cut the connection (HTTP/2: the stream) without ending the response properly. */
void http_abort(struct http_exchange *x);
/*
 * Answer 101 with these fields, among them `upgrade`; `connection: upgrade` is added. From then on
 * http_write() and on_body() carry raw bytes, the latter after http_read_body(), and the only
 * deadline is write_stall_ms. http_end() ends our direction, on_body_end(0) reports the end of the
 * peer's, and the exchange ends after both. Once our direction has ended the peer may be silent for
 * half_closed_ms at most.
 * Only if req->upgrade, before http_respond().
 */
void http_upgrade(struct http_exchange *x, const struct headers *headers);

/* ------------------------------------------------------------------ client */

struct http_client;

struct http_client_opts {
    const char *host;
    uint16_t port;
    const char *unix_path;   /* instead */
    struct tls_ctx *tls;     /* kept until http_client_close(); NULL: plain */
    const char *server_name; /* for SNI and verification; NULL: host */
    /* With tls: connect through this proxy (CONNECT, RFC 9110 section 9.3.6); NULL: none. */
    const char *proxy_host;
    uint16_t proxy_port;
    const char *proxy_authorization; /* of that CONNECT (RFC 9110 section 11.7.2); NULL: none */
    unsigned max_connections;        /* 0: 64; further calls queue in order */
    uint64_t connect_timeout_ms;     /* 0: 10000; name, connection and TLS handshake together */
    uint64_t idle_ms;                /* 0: HTTP_CLIENT_IDLE_MS */
    /*
     * HTTP/2, many calls on a connection: with TLS if the server chooses it, in clear text by prior
     * knowledge.
     */
    bool http2;
    /* As in http_server_opts; calls to a lost peer end with -ETIMEDOUT. */
    uint64_t ping_ms, ping_timeout_ms; /* the latter 0: HTTP_PING_TIMEOUT_MS */
    unsigned user_timeout_ms;
    /* Called for each address before connecting to it; false: the address is skipped. NULL: all are
     * allowed. */
    bool (*may_connect)(void *arg, const struct sockaddr *addr);
    void *may_connect_arg;
};

struct http_call_opts {
    /* Borrowed for the call of http_call_start(). A target with "http://" is for a proxy; the
     * headers must then include host. */
    struct str method, target;
    /*
     * The client adds host and the fields that frame the body. It drops `connection`, `keep-alive`,
     * `proxy-connection`, and `upgrade` unless the call asks for an upgrade.
     */
    const struct headers *headers;
    struct str body; /* copied */
    /* Deadline for sending the request, and again from then (or from the end of a streamed body) to
     * the response's head; 0: none. */
    uint64_t head_timeout_ms;
    /* 101 is a head only for a call that asks for an upgrade; other 1xx are not. */
    const struct exchange_events *events;
    void (*on_interim)(void *arg, int status, const struct headers *headers); /* 1xx; or NULL */
    void *arg;
    /* More body follows by exchange_write(), after `body`: body_n bytes in all, or HTTP_CHUNKED. */
    bool streams;
    uint64_t body_n;
    /*
     * The headers have a field `upgrade`. If the server accepts, on_head(101) runs, then on_data()
     * and exchange_write() carry raw bytes. exchange_end_body() ends our direction; on_end(0) runs
     * at the end of the server's. HTTP/1.1 only, and without a body.
     */
    bool upgrade;
};

int http_client_new(struct loop *loop, const struct http_client_opts *opts,
                    struct http_client **ret, struct err *err);
struct loop *http_client_loop(const struct http_client *c);
/* Running calls end with -ECANCELED; the memory is freed later. */
void http_client_close(struct http_client *c);
/*
 * Start a call: an exchange (io/exchange.h).
 *
 * on_end: 0: the response is complete, even if the request is not. Else
 *   -ECONNREFUSED, -ENOENT, -EHOSTUNREACH, ...  no connection, nothing was sent
 *                 (-EACCES: may_connect() allowed no address)
 *   -ETIMEDOUT    no connection, no head, no answer to pings, or the server takes no bytes
 *   -ECONNRESET   the connection or stream broke
 *   E_PARSE, E_LIMIT, E_TLS, -ECANCELED
 * http_call_was_sent() says whether the server may have seen any of the request.
 *
 * If the connection breaks before any byte of a response, the call is retried once: when the
 * request has no side effects (GET, HEAD), or when nothing of it was written; never after bytes of
 * exchange_write() were sent.
 *
 * exchange_write(): bytes of the body of a call that streams, or raw bytes once upgraded: at any
 * time, also before the connection is open and after the response's head. It returns false once
 * HTTP_WRITE_HIGH_BYTES wait.
 * exchange_end_body(): trailers are sent after HTTP_CHUNKED bodies only. After fewer bytes than
 * body_n the call fails with -EINVAL. Not needed after exactly body_n bytes, and allowed after the
 * end of the response.
 * exchange_cancel(): the server sees a reset of the stream or connection.
 */
int http_call_start(struct http_client *c, const struct http_call_opts *opts, struct exchange **ret,
                    struct err *err);

/* The following take exchanges of http_call_start() only. */
size_t http_call_pending(const struct exchange *x); /* bytes waiting for the server */
/*
 * Whether the server may have seen any of the request: false while the kernel has taken no byte of
 * it, and for streams that an HTTP/2 server reports as not processed. Valid from the start until
 * on_end has returned.
 */
bool http_call_was_sent(const struct exchange *x);
/* Whether the server may have seen bytes of the body. */
bool http_call_body_was_sent(const struct exchange *x);
/* The HTTP/2 error with which the server reset the stream, in on_end; -1: it did not. */
int64_t http_call_reset_code(const struct exchange *x);
