/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP/1.1 (RFC 9112) and HTTP/2 (RFC 9113), server and client, on libuv, with or without TLS.
 * Bodies stream both ways with back-pressure.
 *
 * Server: one listener hands every request to `on_request`; the handler answers through the
 * exchange, then or later. Client: a pool of kept-alive connections to one origin.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "codec/headers.h"
#include "io/loop.h"

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
    HTTP_WRITE_HIGH_BYTES = 256 << 10, /* http_write() reports full above this */
    HTTP_CLIENT_IDLE_MS = 90000        /* a pooled connection, by one timer like the server's */
};

struct http_server;
struct http_exchange; /* one request and its response; owned by the server */

struct http_request {
    struct str method; /* "GET"; borrowed until the exchange ends, like all here */
    struct str target; /* origin form, "/api/v1/pods?watch=true" */
    const struct headers *headers;
    bool has_body;
    uint64_t content_length; /* UINT64_MAX: chunked */
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
    void *arg;
    /*
     * Also speak HTTP/2: by ALPN with TLS, and with prior knowledge in clear text. Exchanges are
     * the same; what ends a connection in HTTP/1.1 ends a stream there.
     */
    bool http2;
    /* 0: the values above */
    uint64_t head_timeout_ms, body_idle_ms, keepalive_ms, write_stall_ms, half_closed_ms;
    size_t max_connections;
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
void http_end(struct http_exchange *x);                   /* end of the response body */
/* All in one. */
void http_reply(struct http_exchange *x, int status, const struct headers *headers,
                struct str body);
/* Cut the connection without ending the response properly. */
void http_abort(struct http_exchange *x);

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
    unsigned max_connections;    /* 0: 64; further calls queue in order */
    uint64_t connect_timeout_ms; /* 0: 10000; name, connection and TLS handshake together */
    uint64_t idle_ms;            /* 0: HTTP_CLIENT_IDLE_MS */
    /*
     * HTTP/2, many calls on a connection: with TLS if the server chooses it, in clear text by prior
     * knowledge.
     */
    bool http2;
};

struct http_call_ops {
    /* At most once; not for 1xx. */
    void (*on_head)(void *arg, int status, const struct headers *headers);
    void (*on_data)(void *arg, struct str chunk);
    /* Exactly once, the last call. 0: response complete. Else a negative code, err borrowed. */
    void (*on_end)(void *arg, int r, const struct err *err);
};

struct http_call_opts {
    /* Borrowed for the call of http_call_start(). A target with "http://" is for a proxy; the field
     * host must be among the headers then. */
    struct str method, target;
    const struct headers *headers; /* host, content-length are added */
    struct str body;               /* copied */
    uint64_t head_timeout_ms; /* 0: none; until it is sent, and from then to the response head */
    const struct http_call_ops *ops;
    void *arg;
};

int http_client_new(struct loop *loop, const struct http_client_opts *opts,
                    struct http_client **ret, struct err *err);
/* Calls still running end with -ECANCELED; memory goes later. */
void http_client_close(struct http_client *c);
/*
 * A connection found dead before any response byte is retried once for requests without side
 * effects (GET, HEAD) or when nothing of the request was written. *ret is valid until on_end
 * returned.
 */
int http_call_start(struct http_client *c, const struct http_call_opts *opts,
                    struct http_call **ret, struct err *err);
void http_call_pause(struct http_call *call);
void http_call_resume(struct http_call *call);
void http_call_cancel(struct http_call *call); /* on_end(-ECANCELED) comes on a later turn */
