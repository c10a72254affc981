/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by http_client.c (pool, calls, HTTP/1.1) and http2_client.c (many calls on one
 * connection).
 */
#pragma once

#include "base/sm.h"
#include "io/http.h"
#include "io/http_parse.h"
#include "io/stream.h"

/* The states of a call and their edges: see the tables in http_client.c. */
enum call_state { CALL_QUEUED, CALL_LINKED, CALL_SENT, CALL_HEAD, CALL_TUNNEL, CALL_ENDED };
/* The request's body, as the caller gives it. */
enum http_call_body { BODY_OPEN, BODY_WHOLE };
/* Whether the caller takes the response. RESUMED: what was held is still to be delivered. */
enum http_call_reading { READING_ON, READING_PAUSED, READING_RESUMED };
/* Another try on another connection. BARRED: bytes were sent that http_call.request lacks. */
enum http_call_retry { RETRY_LEFT, RETRY_TAKEN, RETRY_BARRED };
/* What the server may have seen; final once the call has ended. */
enum http_call_seen { SEEN_NOTHING, SEEN_REQUEST, SEEN_BODY };

struct http_client {
    struct loop *loop;
    char *host, *unix_path, *server_name, *proxy_host, *proxy_authorization;
    uint16_t port, proxy_port;
    struct tls_ctx *tls;
    size_t max_links;
    uint64_t connect_timeout_ms, idle_ms, ping_ms, ping_timeout_ms;
    unsigned user_timeout_ms;
    bool (*may_connect)(void *arg, const struct sockaddr *addr);
    void *may_connect_arg;
    struct list queue;  /* struct http_call, waiting for a link */
    struct list calls;  /* struct http_call, all others until on_end() has run */
    struct list idle;   /* struct link by idle_since, the oldest first */
    struct list busy;   /* struct link */
    struct list shared; /* struct link that speaks HTTP/2: any number of calls each */
    bool http2;
    size_t n_links, n_calls;
    struct timer idle_timer; /* for `idle`; never armed without links */
    struct defer turn;       /* serve the queue */
    bool closing;
};

struct link {
    struct stream s;
    struct http_client *client;
    struct list node; /* client->idle or client->busy */
    struct http_call *call;
    struct h2_link *h2; /* set: it speaks HTTP/2; then `call` is NULL once it is open */
    struct http_parse parse;
    struct lookup *lookup; /* the name is being resolved; the stream does not exist yet */
    struct addrinfo *found, *next_addr; /* the addresses still to try */
    struct timer connect_timer;         /* with HTTP/2 also the idle timer */
    struct buf tunnel;                  /* the proxy's answer so far */
    enum { TUNNEL_NONE, TUNNEL_ASKED, TUNNEL_OPEN } tunnel_at;
    uint64_t idle_since;
    uint64_t sent_before; /* stream.sent_bytes when the call began */
    unsigned interim;
    bool used; /* has served a call before */
    bool got_byte;
    bool begun;  /* the stream exists */
    bool ending; /* its call is over, its last bytes are being sent */
};

struct lookup {
    uv_getaddrinfo_t req;
    struct link *link; /* NULL: the link is gone */
};

struct http_call {
    struct exchange x;
    struct http_client *client;
    struct list node; /* client->queue or client->calls */
    struct sm sm;     /* enum call_state; moved by http_call_move() */
    struct sm body, reading, retry, seen;
    struct link *link;  /* from LINKED until it has ended */
    struct buf request; /* head and body; of a streamed body the bytes given before the connection
                           was open */
    size_t head_n;      /* of `request` */
    struct h2_call *h2; /* state of HTTP/2; NULL unless the client allows it */
    bool is_head, repeatable, chunked, upgrade; /* facts of the request */
    bool writable_owed;                         /* on_writable() is */
    uint64_t body_left;                         /* bytes the caller still owes of a counted body */
    struct headers trailers;                    /* of the request */
    int64_t reset_code;
    uint64_t head_timeout_ms;
    struct timer head_timer;
    void (*on_interim)(void *arg, int status, const struct headers *headers);
    struct defer end;
    struct err err;
};

static inline bool http_call_is_paused(const struct http_call *call)
{
    return call->reading.at == READING_PAUSED;
}
/* Move the call and assert what holds in its new state: link, timer and body are set before. */
void http_call_move(struct http_call *call, enum call_state to);
/* The server may have seen this much, or (NOTHING) has processed nothing after all. */
void http_call_note_seen(struct http_call *call, enum http_call_seen what);
/* Bytes were sent that call->request lacks. */
void http_call_bar_retry(struct http_call *call);
/* What a pause held has been delivered. */
void http_call_caught_up(struct http_call *call);
/* End the call. r: 0, or a code, with call->err set. The caller deals with the link, if there is
 * one. */
void http_call_finish(struct http_call *call, int r);
void http_call_fail(struct http_call *call, int r, const struct err *err);
/* Retry on another connection, if a retry cannot apply the request twice. false: no retry is
 * allowed. */
bool http_call_again(struct http_call *call);
/* Report an interim response. false: there were too many, and the call is over. */
bool http_call_got_interim(struct http_call *call, unsigned *n, int status,
                           const struct headers *headers);
/* Report the response's head, in the state CALL_HEAD or CALL_TUNNEL. */
void http_call_got_head(struct http_call *call, enum call_state to, int status,
                        const struct headers *headers);
void http_call_start_timer(struct http_call *call);
void http_link_close(struct link *l);
/* Serve the queue: a call may be waiting for a connection. */
void http_client_kick(struct http_client *c);

/* ---- http2_client.c ---- */

/* Keep method, target and fields of opts for h2_link_send(). Errors: -EMSGSIZE. */
int h2_call_new(struct http_call *call, const struct http_call_opts *opts, struct str authority);
void h2_call_free(struct http_call *call);
/* Detach the ended call from its stream, whatever the peer still sends. */
void h2_call_leave(struct http_call *call);
void h2_call_resume(struct http_call *call);
/* The request has more bytes, or its end. */
void h2_call_more(struct http_call *call);
size_t h2_call_pending(const struct http_call *call);

/* The connection is open and speaks HTTP/2. */
void h2_link_open(struct link *l);
void h2_link_free(struct link *l);
bool h2_link_has_room(const struct link *l);
void h2_link_send(struct link *l, struct http_call *call);
size_t h2_link_data(struct link *l, const char *p, size_t n);
void h2_link_settled(struct link *l);
/* The connection is lost or ends: end its calls. */
void h2_link_lost(struct link *l, int r, const struct err *err);
