/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What http_server.c (listener, connections) and http_exchange.c (requests and responses) share.
 *
 *     in:   HEAD --head--> BODY --end--> DONE      (HEAD -> DONE without a body)
 *     out:  NONE --http_respond()--> OPEN --http_end()--> ENDED --written--> GONE
 *
 * In GONE on_gone() has run. DONE and GONE together end the exchange; GONE before DONE discards
 * what is left of the body, up to HTTP_DISCARD_MAX_BYTES. One exchange at a time: pipelined
 * requests wait in the stream.
 */
#pragma once

#include "base/log.h"
#include "base/sm.h"
#include "io/http.h"
#include "io/http_parse.h"
#include "io/stream.h"

#include <netinet/in.h>

enum in_state { IN_HEAD, IN_BODY, IN_DONE };
enum out_state { OUT_NONE, OUT_OPEN, OUT_ENDED, OUT_GONE };

struct http_server {
    struct loop *loop;
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } listener;
    bool is_pipe, listening, accept_waits, closing;
    char *unix_path;
    struct tls_ctx *tls;
    void (*on_request)(struct http_exchange *x, const struct http_request *req, void *arg);
    void *arg;
    uint64_t head_timeout_ms, body_idle_ms, keepalive_ms, write_stall_ms, half_closed_ms;
    size_t connections_max;
    struct list idle; /* struct conn by idle_since, the oldest first */
    struct list busy;
    size_t n_conns;
    struct timer idle_timer; /* armed only while `idle` has someone */
    struct list spares;      /* struct http_exchange */
    size_t n_spares;
    struct log_rate accept_errors;
    struct timer grace;
    void (*done)(void *arg);
    void *done_arg;
};

struct conn {
    struct stream s;
    struct http_server *srv;
    struct list node; /* srv->idle or srv->busy */
    uint64_t idle_since;
    struct http_exchange *x;
    bool close_after; /* no further request on this connection */
    bool lingering;
    size_t lingered;
    struct timer linger;
    char peer[INET6_ADDRSTRLEN + 8];
};

struct http_exchange {
    struct conn *c;
    struct list node; /* srv->spares */
    struct sm in, out;
    struct http_parse parse;
    struct http_request req;
    const struct http_exchange_ops *ops;
    void *data;
    struct timer timer;
    uint64_t active_ms; /* last byte from the peer */
    bool got_byte;

    bool body_wanted, body_paused, body_resumed,
        body_ended;     /* ended: on_body_end() has run, or never will */
    bool continue_owed; /* the client waits for 100 before it sends the body */
    int body_result;
    uint64_t body_max, body_seen, discarded;

    bool is_head, chunked, writable_owed, half_closed, server_replied;
    bool close_delimited; /* HTTP/1.0: the end of the connection ends the body */
    uint64_t out_left;    /* bytes the handler still owes of a counted body */
    int gone_result;
};

/* From the server's spares if there is one; becomes c->x. */
struct http_exchange *http_exchange_new(struct conn *c);
void http_exchange_free(struct http_exchange *x);
/* Off its connection and back to the spares. */
void http_exchange_recycle(struct http_exchange *x);
/* The handler's last callbacks. Idempotent. */
void http_exchange_gone(struct http_exchange *x, int r);
/* Parse as far as request and handler let it; returns bytes consumed. */
size_t http_exchange_input(struct http_exchange *x, const char *p, size_t n);
/* Tell the handler what it waits for, in stream_ops.on_settled(). */
void http_exchange_settle(struct http_exchange *x);
/* Arm a timer if the peer owes something: a request that comes whole arms nothing. */
void http_exchange_arm_timer(struct http_exchange *x);

/* Our last words have been said: end the connection so that the peer can still read them. */
void http_conn_retire(struct conn *c);
