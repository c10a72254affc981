/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request to one sandbox and its answer, both as streams: what a gateway needs of the process
 * that runs the sandbox. It is carried by an HTTP client (sandboxes with an address) or, in the
 * worker's own process, by the runtime itself (Wasm, fake).
 *
 * Loop thread only.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "codec/headers.h"
#include "io/exchange.h"

struct invoke_request {
    uint64_t sandbox;
    struct str method, target, authority; /* target: origin form */
    const struct headers *headers;        /* without hop-by-hop fields, host and length */
    struct str peer;                      /* address of the client */
    bool is_tls;                          /* the client came by https */
    bool has_body;
    uint64_t body_bytes;  /* UINT64_MAX: not known */
    struct str body;      /* the bytes that have arrived; has_body: more may follow */
    bool body_is_whole;   /* nothing follows `body` */
    struct str call_id;   /* for logs and traces; unique */
    uint64_t deadline_ms; /* of the loop's clock; 0: none */
    /* Limit of the answer's body, 0: none. For runtimes in this process, which pass it to the
     * guest. */
    uint64_t response_max;
    struct str script_name; /* the prefix that was removed from the target, "/fn/NS/NAME"; "" */
};

struct invoker {
    int (*start)(struct invoker *v, const struct invoke_request *req,
                 const struct exchange_events *events, void *arg, struct exchange **ret,
                 struct err *err);
};

/*
 * Start a request: an exchange (io/exchange.h). More of the body is written if has_body and not
 * body_is_whole.
 *
 * on_end: 0: the answer is whole. -ECONNREFUSED: nothing was sent, the sandbox does not listen.
 * E_TRAP: a guest ended badly. -ETIMEDOUT: the deadline. -EBUSY: the runtime has no room now.
 * -ECANCELED. Others: the connection broke. exchange_reason() has a word for the client.
 */
static inline int invoke_start(struct invoker *v, const struct invoke_request *req,
                               const struct exchange_events *events, void *arg,
                               struct exchange **ret, struct err *err)
{
    return v->start(v, req, events, arg, ret, err);
}
