/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request to one sandbox and its answer, both as streams: what a gateway needs of whatever runs
 * the sandbox. Behind it stands an HTTP client (sandboxes with an address) or, in the worker's own
 * process, the runtime itself (Wasm, fake).
 *
 * Loop thread only. Callbacks never run inside a call made on the invocation.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "codec/headers.h"

struct invoker {
    const struct invoker_ops *ops;
};
struct invocation; /* valid until on_end has returned */

struct invoke_request {
    uint64_t sandbox;
    struct str method, target, authority; /* target: origin form */
    const struct headers *headers;        /* without hop-by-hop fields, host and length */
    struct str peer;                      /* address of the client */
    bool is_tls;                          /* the client came by https */
    bool has_body;
    uint64_t body_bytes;  /* UINT64_MAX: not known */
    struct str body;      /* its beginning, if it is here already; has_body: more may follow */
    bool body_is_whole;   /* nothing follows `body` */
    struct str call_id;   /* for logs and traces; unique */
    uint64_t deadline_ms; /* of the loop's clock; 0: none */
    /* Bytes of the answer's body, 0: any. For runtimes in this process, which tell their guest. */
    uint64_t response_max;
    struct str script_name; /* what stood before the target and was taken away, "/fn/NS/NAME"; "" */
};

struct invoke_ops {
    /* At most once. */
    void (*on_head)(void *arg, int status, const struct headers *headers);
    void (*on_data)(void *arg, struct str chunk);
    /* After the last data, before on_end; only where there are any. */
    void (*on_trailers)(void *arg, const struct headers *trailers);
    /* More of the body may be written, after invoke_write() had said full. */
    void (*on_writable)(void *arg);
    /*
     * Exactly once, the last call. 0: the answer is whole. -ECONNREFUSED: nothing was sent, the
     * sandbox does not listen. E_TRAP: a guest ended badly. -ETIMEDOUT: the deadline. -EBUSY: the
     * runtime has no room now. Others: the connection broke. reason: CamelCase, for the client.
     */
    void (*on_end)(void *arg, int r, const char *reason, const struct err *err);
};

struct invoker_ops {
    int (*start)(struct invoker *v, const struct invoke_request *req, const struct invoke_ops *ops,
                 void *arg, struct invocation **ret, struct err *err);
    /* A piece of the request's body, copied or sent; false: full, wait for on_writable. */
    bool (*write)(struct invoker *v, struct invocation *x, struct str chunk);
    /* The request's body is whole; trailers may be NULL. */
    void (*end_body)(struct invoker *v, struct invocation *x, const struct headers *trailers);
    /* Back-pressure on the answer. */
    void (*pause)(struct invoker *v, struct invocation *x);
    void (*resume)(struct invoker *v, struct invocation *x);
    void (*cancel)(struct invoker *v, struct invocation *x); /* on_end(-ECANCELED) comes, later */
};

static inline int invoke_start(struct invoker *v, const struct invoke_request *req,
                               const struct invoke_ops *ops, void *arg, struct invocation **ret,
                               struct err *err)
{
    return v->ops->start(v, req, ops, arg, ret, err);
}
static inline bool invoke_write(struct invoker *v, struct invocation *x, struct str chunk)
{
    return v->ops->write(v, x, chunk);
}
static inline void invoke_end_body(struct invoker *v, struct invocation *x,
                                   const struct headers *trailers)
{
    v->ops->end_body(v, x, trailers);
}
static inline void invoke_pause(struct invoker *v, struct invocation *x)
{
    v->ops->pause(v, x);
}
static inline void invoke_resume(struct invoker *v, struct invocation *x)
{
    v->ops->resume(v, x);
}
static inline void invoke_cancel(struct invoker *v, struct invocation *x)
{
    v->ops->cancel(v, x);
}
