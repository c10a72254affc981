/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gateway: takes requests for functions, finds the function by host or path and the revision by
 * traffic rules, queues requests until a sandbox has room, and streams requests and responses.
 *
 *     request -> route -> owner? -no-> forwarded once to the gateway that owns the function
 *                           | yes
 *                           v
 *                  a slot is free -yes-> sandbox
 *                           | no: FIFO of the revision; bounded, with a deadline
 *                           v
 *                  a freed slot or a new sandbox takes the oldest
 *
 * The check for room and the enqueue are one step, and a freed slot wakes exactly the oldest waiter
 * (specs/faas.md 2.9). Loop thread only.
 */
#pragma once

#include "fn/function.h"
#include "fn/invoke.h"
#include "fn/stream.h"
#include "io/http.h"

struct gateway;
struct gateway_call;

enum {
    GATEWAY_FUNCTIONS_MAX = 100000,
    GATEWAY_SANDBOXES_MAX = 200000,
    GATEWAY_HEAD_MAX_BYTES = 64 << 10, /* of an answer: 502 beyond */
    GATEWAY_RECONNECT_FIRST_MS = 10,   /* to the control plane; doubles, */
    GATEWAY_RECONNECT_MAX_MS = 500,    /* up to this */
    GATEWAY_DRAIN_MS = 30000
};

/* Requests that are answered before they run: src/fn/async handles them. */
struct gateway_async {
    /*
     * Called for a request with `prefer: respond-async` or an equivalent field, or with a path that
     * means the same. Returns true if it has taken over the exchange, false if the request is to
     * run now. function: as in gateway_submit().
     */
    bool (*take)(void *arg, struct http_exchange *x, const struct http_request *req,
                 struct str namespace, struct str name, const struct fn_spec *spec);
    /* A request below /v1/async/ or /v1/events/, which belong to no function. */
    bool (*serve)(void *arg, struct http_exchange *x, const struct http_request *req);
    void *arg;
};

struct gateway_opts {
    struct loop *loop;
    const char *name; /* of this gateway; unique, stable */
    uint64_t incarnation;
    const char *host; /* listens on it; port 0: any */
    uint16_t port;
    struct tls_ctx *tls;      /* NULL: plain; HTTP/1.1 and h2c */
    const char *advertise;    /* host:port for other gateways; NULL: the address it listens on */
    struct fn_dialer *dialer; /* kept */
    struct invoker *local;    /* for by_worker sandboxes of `local_worker`; NULL: there are none */
    const char *local_worker;
    /*
     * Connections to workers' listeners (worker/worker_http.h) and to other gateways. Kept; NULL:
     * plain, no token. token is copied.
     */
    struct tls_ctx *worker_tls, *gateway_tls;
    const char *worker_token;
    const char *domain;    /* hosts NAME.NAMESPACE.DOMAIN; NULL: "fn.local" */
    const char *trace_dir; /* directory of proxy_trace.csv; NULL: do not write it */
    struct gateway_async async;
    void (*on_synced)(void *arg); /* the first welcome has been applied; once */
    void *arg;
};

int gateway_start(const struct gateway_opts *opts, struct gateway **ret, struct err *err);
uint16_t gateway_port(const struct gateway *g);
/* Take no new connections, finish requests for up to grace_ms, then done(). */
void gateway_stop(struct gateway *g, uint64_t grace_ms, void (*done)(void *arg), void *arg);

/*
 * A request from inside the process (asynchronous calls, triggers), an exchange (io/exchange.h):
 * queued, balanced and counted like any other, and forwarded if another gateway owns the function.
 * req->sandbox is ignored, and trailers of the request are dropped. on_end and its reason are as
 * for invoke_start(); on_end(0) has no err. Errors: -ENOENT no such function, or no revision of the
 * tag in x-dormouse-tag; -EBUSY its queue is full.
 */
int gateway_submit(struct gateway *g, struct str namespace, struct str name,
                   const struct invoke_request *req, const struct exchange_events *events,
                   void *arg, struct exchange **ret, struct err *err);
/* The present spec; valid until the caller returns to the loop. NULL: no such function. */
const struct fn_spec *gateway_spec(struct gateway *g, struct str namespace, struct str name);
/*
 * Called for each function now, and whenever a spec changes or is removed (spec NULL). Triggers
 * follow specs with it.
 */
void gateway_on_function(struct gateway *g,
                         void (*fn)(void *arg, struct str namespace, struct str name,
                                    const struct fn_spec *spec),
                         void *arg);
/* Does this gateway own the function (rendezvous hashing)? */
bool gateway_owns(const struct gateway *g, struct str namespace, struct str name);

/*
 * Another live gateway whose name is() accepts: its "host:port", valid until the caller returns to
 * the loop. NULL: there is none.
 */
const char *gateway_peer(const struct gateway *g, bool (*is)(void *arg, struct str name),
                         void *arg);
/*
 * May the sender of these fields make a request in this namespace that targets no public function?
 * 0, or the status of the refusal: 401, 429. Counts as a request.
 */
int gateway_admits(struct gateway *g, struct str namespace, const struct headers *h);
/* After each change of those that are alive, and so maybe of gateway_owns(). One listener. */
void gateway_on_members(struct gateway *g, void (*fn)(void *arg), void *arg);

/*
 * JSON, all functions: namespace, name, sandboxes, running, queued, and since the gateway has
 * started requests, failures (5xx), coldStarts, p50Ms, p99Ms (upper bounds).
 */
void gateway_functions_json(const struct gateway *g, struct buf *to);
/* Prometheus text. */
void gateway_metrics(const struct gateway *g, struct buf *to);
