/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP/1.1 (RFC 9112) and HTTP/2 (RFC 9113), server and client, on libuv, with or without TLS.
 * Bodies stream both ways with back-pressure.
 *
 * Server: one listener hands every request to `on_request`; the handler answers through the
 * exchange, then or later. Client: a pool of kept-alive connections to one origin. gRPC stands on
 * both (io/grpc.h).
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "codec/headers.h"
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
    HTTP_WRITE_STALL_MS = 60000,       /* output waits and the peer takes next to none of it */
    HTTP_HALF_CLOSED_MS = 30000,       /* for the answer to who shut its sending side; plain TCP */
    /* An idle connection: one timer for all of a server, armed only while there is one. */
    HTTP_KEEPALIVE_MS = 180000,
    /* Further ones wait in the kernel; the longest idle is closed for them. */
    HTTP_CONNECTIONS_MAX = 20000,
    /* TLS handshakes under way, of 40 KiB; past it the oldest is cut. */
    HTTP_HANDSHAKES_MAX = 512,
    /* Of a body that nobody asked for, after the response: past it the connection is cut. */
    HTTP_DISCARD_MAX_BYTES = 64 << 10,
    HTTP_WRITE_HIGH_BYTES = 256 << 10,  /* http_write(), http_call_write() report full above this */
    HTTP_TRAILERS_MAX_BYTES = 16 << 10, /* fields after a body: 431, or a failed call, beyond */
    HTTP_INTERIMS_MAX = 16,             /* 1xx before a response: the call fails beyond */
    HTTP_CLIENT_IDLE_MS = 90000,        /* a pooled connection, by one timer like the server's */
    HTTP_PING_TIMEOUT_MS = 20000        /* after a ping that nothing answered: the peer is lost */
};

struct http_server;
struct http_exchange; /* one request and its response; owned by the server */

struct http_request {
    struct str method; /* "GET"; borrowed until the exchange ends, like all here */
    struct str target; /* origin form, "/api/v1/pods?watch=true" */
    const struct headers *headers;
    bool has_body;
    /* It asks for another protocol, and http_upgrade() can. Not for h2c: behind a proxy that would
     * be a way past it for any number of requests. */
    bool upgrade;
    bool http2;
    uint64_t content_length; /* UINT64_MAX: chunked, or HTTP/2 without one */
    struct str peer;         /* "127.0.0.1:3456" or "unix" */
};

/*
 * Per exchange, set by the handler in on_request through http_exchange_set(). All run on the loop
 * thread; on_gone is the last one, exactly once, also after a complete response (r = 0), a lost
 * peer (-ECONNRESET), a timeout (-ETIMEDOUT) or server close (-ECANCELED). After on_gone the
 * exchange must not be touched. Calls on the exchange never invoke these callbacks synchronously.
 */
struct http_exchange_ops {
    void (*on_body)(struct http_exchange *x, struct str chunk);
    /*
     * Once if the body was asked for. 0; -EMSGSIZE past the limit; E_PARSE; -ECANCELED if the
     * response was complete before; or as on_gone. After a failure the handler may answer in its
     * own words before it returns; otherwise the server does: 413, 400, 408.
     */
    void (*on_body_end)(struct http_exchange *x, int r);
    void (*on_writable)(struct http_exchange *x); /* after http_write() said full */
    void (*on_gone)(struct http_exchange *x, int r);
};

struct http_server_opts {
    const char *host;      /* "127.0.0.1", "::1", "0.0.0.0"; "localhost" and NULL: 127.0.0.1 */
    uint16_t port;         /* 0: any free one */
    const char *unix_path; /* instead of host and port; the socket gets mode 0600 */
    struct tls_ctx *tls;   /* kept until done(); NULL: plain */
    void (*on_request)(struct http_exchange *x, const struct http_request *req, void *arg);
    void (*on_accept)(void *arg); /* before each accept() and handshake; or NULL */
    void *arg;
    /*
     * Also speak HTTP/2: by ALPN with TLS, and with prior knowledge in clear text. Exchanges are
     * the same; what ends a connection in HTTP/1.1 ends a stream there.
     */
    bool http2;
    /* 0: the values above */
    uint64_t head_timeout_ms, body_idle_ms, keepalive_ms, write_stall_ms, half_closed_ms;
    size_t max_connections;
    /*
     * HTTP/2, while a stream is open: after so long without a byte from the peer a PING, and after
     * HTTP_PING_TIMEOUT_MS without an answer the connection is lost. 0: none.
     */
    uint64_t ping_ms;
    /* TCP_USER_TIMEOUT: our bytes that nobody acknowledges; 0: as long as the kernel tries. */
    unsigned user_timeout_ms;
    /*
     * When the server drains or closes, an idle HTTP/1.1 connection may bring a request for so
     * long, which is answered with "connection: close": it may be under way already, and a client
     * does not send it again. 0: such connections end at once. (HTTP/2 has GOAWAY for it.)
     */
    uint64_t drain_idle_ms;
    bool reuse_port; /* SO_REUSEPORT: several listeners, each on its loop, share the port */
};

int http_server_start(struct loop *loop, const struct http_server_opts *opts,
                      struct http_server **ret, struct err *err);
uint16_t http_server_port(const struct http_server *s);
size_t http_server_connections(const struct http_server *s); /* open ones */
/* Stop accepting; finish running exchanges up to grace_ms, then cut; done() when all is released.
 */
void http_server_close(struct http_server *s, uint64_t grace_ms, void (*done)(void *arg),
                       void *arg);
/*
 * As the beginning of http_server_close(), which is to follow: accept no more, tell the clients
 * (GOAWAY, "connection: close"), close what is idle, see drain_idle_ms; what runs goes on.
 */
void http_server_drain(struct http_server *s);

/*
 * Who the client is by its certificate (io/tls.h), in the arena. false: no TLS, or none shown.
 */
struct arena;
struct tls_peer;
bool http_exchange_peer(const struct http_exchange *x, struct arena *a, struct tls_peer *ret);

void http_exchange_set(struct http_exchange *x, const struct http_exchange_ops *ops, void *data);
void *http_exchange_data(const struct http_exchange *x);

/*
 * Ask for the body, in on_request or later: until then it waits with the peer. A body that nobody
 * has asked for when the response is complete is discarded.
 */
void http_read_body(struct http_exchange *x, uint64_t max_bytes);
/* Stop and go on reading from the peer (back-pressure). */
void http_pause_body(struct http_exchange *x);
void http_resume_body(struct http_exchange *x);
/* A body in which silence is no fault (a stream of messages): no deadline for its bytes. */
void http_let_body_idle(struct http_exchange *x);
/* Fields that came after the body: from on_body_end(0) on. NULL without any. */
const struct headers *http_request_trailers(const struct http_exchange *x);

/*
 * An interim response (1xx but 100 and 101) before http_respond(). Dropped for HTTP/1.0. "100
 * Continue" is sent by http_read_body() to whoever waits for it.
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
 * Bytes are copied (or queued). Returns false once HTTP_WRITE_HIGH_BYTES wait: stop until
 * on_writable.
 */
bool http_write(struct http_exchange *x, struct str chunk);
size_t http_write_pending(const struct http_exchange *x); /* bytes waiting for the peer */
/*
 * Fields to follow the body of an HTTP_CHUNKED response, copied; before http_end(). Dropped where
 * none can follow: HTTP/1.0, no body.
 */
void http_trailers(struct http_exchange *x, const struct headers *trailers);
void http_end(struct http_exchange *x); /* end of the response body */
/* All in one. */
void http_reply(struct http_exchange *x, int status, const struct headers *headers,
                struct str body);
/* Cut the connection (HTTP/2: the stream) without ending the response properly. */
void http_abort(struct http_exchange *x);
/*
 * Answer 101 with these fields, among them `upgrade`; `connection: upgrade` is added. From then on
 * http_write() and on_body() carry raw bytes both ways, the latter after http_read_body(), and no
 * deadline but write_stall_ms holds. http_end() ends our direction, on_body_end(0) tells of the end
 * of the peer's, and the exchange is over with both; after ours the peer may be silent for
 * half_closed_ms.
 * Only if req->upgrade, before http_respond().
 */
void http_upgrade(struct http_exchange *x, const struct headers *headers);

/* ------------------------------------------------------------------ client */

struct http_client;
struct http_call;

struct http_client_opts {
    const char *host;
    uint16_t port;
    const char *unix_path;   /* instead */
    struct tls_ctx *tls;     /* kept until http_client_close(); NULL: plain */
    const char *server_name; /* for SNI and verification; NULL: host */
    /* With tls: connections go through this proxy (CONNECT, RFC 9110 section 9.3.6); NULL: none. */
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
    /* As in http_server_opts; a lost peer's calls end with -ETIMEDOUT. */
    uint64_t ping_ms, ping_timeout_ms; /* the latter 0: HTTP_PING_TIMEOUT_MS */
    unsigned user_timeout_ms;
    /* Asked for each address before a connection to it; false: it is passed over. NULL: any. */
    bool (*may_connect)(void *arg, const struct sockaddr *addr);
    void *may_connect_arg;
};

/* Any may be NULL. */
struct http_call_ops {
    /* At most once. Not for 1xx, but for the 101 of a call that asked to upgrade. */
    void (*on_head)(void *arg, int status, const struct headers *headers);
    void (*on_data)(void *arg, struct str chunk);
    /*
     * Exactly once, the last call. 0: response complete, even if the request is not. Else a
     * negative code, err borrowed:
     *   -ECONNREFUSED, -ENOENT, -EHOSTUNREACH, ...  there was no connection, nothing is sent
     *                 (-EACCES: may_connect() allowed no address)
     *   -ETIMEDOUT    no connection, no head, no answer to pings, or the server takes no bytes
     *   -ECONNRESET   the connection or stream broke off
     *   E_PARSE, E_LIMIT, E_TLS, -ECANCELED
     * http_call_was_sent() tells whether the server may have seen anything of the request.
     */
    void (*on_end)(void *arg, int r, const struct err *err);
    void (*on_interim)(void *arg, int status, const struct headers *headers); /* 1xx but 101 */
    /* Fields after the body, if there are any: after the last on_data, before on_end(0). */
    void (*on_trailers)(void *arg, const struct headers *trailers);
    void (*on_writable)(void *arg); /* after http_call_write() said full */
};

struct http_call_opts {
    /* Borrowed for the call of http_call_start(). A target with "http://" is for a proxy; the field
     * host must be among the headers then. */
    struct str method, target;
    /*
     * host and what frames the body are added; `connection`, `keep-alive`, `proxy-connection` are
     * left out, and so is `upgrade` unless the call asks for it.
     */
    const struct headers *headers;
    struct str body; /* copied */
    /* 0: none; until it is sent, and from then, or from the end of a streamed body, to the
     * response's head. */
    uint64_t head_timeout_ms;
    const struct http_call_ops *ops;
    void *arg;
    /* The body comes by http_call_write(), after `body`: of body_n bytes in all, or HTTP_CHUNKED.
     */
    bool streams;
    uint64_t body_n;
    /*
     * The headers have a field `upgrade`: if the server agrees, on_head(101), then on_data() and
     * http_call_write() carry raw bytes. http_call_end_body() ends our direction, and on_end(0)
     * comes with the end of the server's. HTTP/1.1 only, and without body.
     */
    bool upgrade;
};

int http_client_new(struct loop *loop, const struct http_client_opts *opts,
                    struct http_client **ret, struct err *err);
struct loop *http_client_loop(const struct http_client *c);
/* Calls still running end with -ECANCELED; memory goes later. */
void http_client_close(struct http_client *c);
/*
 * A connection found dead before any response byte is retried once for requests without side
 * effects (GET, HEAD) or when nothing of the request was written; not once http_call_write() has
 * added to what was sent. *ret is valid until on_end returned.
 */
int http_call_start(struct http_client *c, const struct http_call_opts *opts,
                    struct http_call **ret, struct err *err);
void http_call_pause(struct http_call *call);
void http_call_resume(struct http_call *call);
/* on_end(-ECANCELED) comes on a later turn. The server sees a reset of stream or connection. */
void http_call_cancel(struct http_call *call);

/*
 * More of the body of a call that streams, or raw bytes once upgraded: at any time, also before
 * there is a connection, and after the response's head. Bytes are copied (or queued). false once
 * HTTP_WRITE_HIGH_BYTES wait: stop until on_writable.
 */
bool http_call_write(struct http_call *call, struct str chunk);
/*
 * The end of the body. trailers, borrowed, may be NULL; sent after HTTP_CHUNKED bodies only. Fewer
 * bytes than body_n: the call fails with -EINVAL. Not needed after exactly body_n of them, and fine
 * after the end of the response.
 */
void http_call_end_body(struct http_call *call, const struct headers *trailers);
size_t http_call_pending(const struct http_call *call); /* bytes waiting for the server */
/*
 * Whether the server may have seen any of the request: false as long as the kernel has taken no
 * byte of it, and for streams that an HTTP/2 server says it has not looked at. From start until
 * on_end returned.
 */
bool http_call_was_sent(const struct http_call *call);
/* Whether bytes of the body may have been seen. */
bool http_call_body_was_sent(const struct http_call *call);
/* The HTTP/2 error with which the server reset the stream, in on_end; -1: it did not. */
int64_t http_call_reset_code(const struct http_call *call);
