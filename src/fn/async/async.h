/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asynchronous calls: a request is acknowledged once it is on disk, runs later, is retried as the
 * function's policy says, and leaves one result that can be fetched until it expires.
 *
 *     accepted (durable) -> pending <-> running -> succeeded | failed | expired | canceled -> gone
 *
 * At least one execution for each call that was acknowledged and not canceled, and exactly one
 * stored result. The function sees `x-call-id`, the same for all attempts, and `x-faas-attempt`.
 *
 * Of a waiting call nothing is in memory, except id and time of the next few calls of each
 * function; record.h describes the rows on disk. A call belongs to the gateway that accepted it,
 * whose hash is the first part of the id.
 *
 * Loop thread only. Callbacks never run inside the call that requested them.
 */
#pragma once

#include "base/buf.h"
#include "fn/function.h"
#include "fn/gateway/gateway.h"
#include "fn/invoke.h"

struct async;

enum {
    ASYNC_ID_BYTES = 20,               /* owner's hash, then 128 random bits */
    ASYNC_ID_TEXT = 41,                /* in hexadecimal, with NUL */
    ASYNC_BODY_MAX = 16 << 20,         /* also where the function allows more: 413 */
    ASYNC_RESULT_MAX = 8 << 20,        /* beyond, the call has failed: 502 ResultTooLarge */
    ASYNC_TAKING_MAX_BYTES = 64 << 20, /* bodies on their way to the disk: 503 beyond */
    /*
     * Free disk space that is required, besides twice the body: results must still fit. Less: 503.
     */
    ASYNC_DISK_RESERVE_BYTES = 16 << 20,
    ASYNC_RUNNING_MAX = 256,              /* at a time */
    ASYNC_RUNNING_MAX_BYTES = 128 << 20,  /* requests and results of those: no further one begins */
    ASYNC_FUNCTION_RUNNING_MAX = 64,      /* of these, for one function or one host of URLs */
    ASYNC_FUNCTION_PENDING_MAX = 1000000, /* 503 beyond */
    ASYNC_PENDING_MAX = 4000000,
    ASYNC_KEY_MAX_BYTES = 255, /* idempotency key: 400 beyond */
    ASYNC_URL_MAX_BYTES = 2048,
    ASYNC_WINDOW = 256,        /* calls of one function whose time is in memory */
    ASYNC_WINDOWS_MAX = 65536, /* of all: with more, windows have */
    ASYNC_WINDOW_SMALL = 16,   /* so many */
    ASYNC_URL_ATTEMPTS = 6,    /* callbacks, dead letters, events */
    ASYNC_EVENT_HOPS_MAX = 16, /* an event that answers an event that answers ... is dropped then */
    ASYNC_URL_TIMEOUT_MS = 30000,
    ASYNC_BUSY_RETRY_MS = 1000 /* after a function's queue was full */
};

/* What it needs of a gateway. */
struct async_functions {
    const struct async_functions_ops *ops; /* kept */
    void *arg;
};
struct async_functions_ops {
    /* As gateway_submit(), with a body that is whole. */
    int (*submit)(void *arg, struct str namespace, struct str name,
                  const struct invoke_request *req, const struct exchange_events *events,
                  void *events_arg, struct exchange **ret, struct err *err);
    const struct fn_spec *(*spec)(void *arg, struct str namespace, struct str name);
    /* May anyone call the function, without a token? */
    bool (*is_open)(void *arg, struct str namespace, struct str name);
    /*
     * "host:port" of the live gateway whose name has this async_owner(); NULL: there is none. Valid
     * until the caller returns to the loop.
     */
    const char *(*peer)(void *arg, uint32_t owner);
};
struct async_functions async_over_gateway(struct gateway *g);
/* The hash of a gateway's name in ids. */
uint32_t async_owner(struct str gateway_name);

struct async_opts {
    struct loop *loop;
    const char *name;         /* of this gateway */
    const char *path;         /* of the database, made with the first call; copied */
    struct tls_ctx *peer_tls; /* for requests to other gateways; kept; NULL: plain */
    /* Allow callbacks and dead letters to loopback, link-local and private addresses. */
    bool allow_private_urls;
    /*
     * For storage that several gateways share: the owners whose calls run here, besides this
     * gateway's own; evaluated again by async_rescan(), when a lease has lapsed. NULL: all calls in
     * the database run here.
     */
    bool (*is_mine)(void *arg, uint32_t owner);
    void *arg;
    size_t running_max, function_running_max; /* 0: as above */
    uint64_t pending_max, function_pending_max;
};

/*
 * Opens the database if it exists, which blocks: call it before the loop runs. Nothing runs before
 * async_start(). Errors: as store_open().
 */
int async_open(const struct async_opts *opts, struct async **ret, struct err *err);
/* For gateway_opts.async. */
struct gateway_async async_hooks(struct async *a);
/* The gateway has been welcomed (gateway_opts.on_synced): calls run from now on. */
void async_start(struct async *a, struct async_functions functions);
/*
 * The gateway is about to stop: no further call begins, and one that is cut off is not counted as
 * an attempt. Calls are still taken.
 */
void async_drain(struct async *a);
/* Search again for calls whose owners this gateway has taken over. */
void async_rescan(struct async *a);
/*
 * Accept no more calls; what runs is cut and runs again after the next start; done() last.
 * Exchanges that it took must be over: call it after gateway_stop().
 */
void async_close(struct async *a, void (*done)(void *arg), void *arg);

/* A call from inside. All borrowed for async_submit(). */
struct async_call {
    struct str namespace, name;
    struct str method, target; /* target: origin form */
    const struct headers *headers;
    struct str body;
    struct str key;      /* idempotency key; "": none */
    struct str callback; /* URL; "": none */
    /* An answer that is an event is published (async_set_events()) in the function's namespace. */
    bool publishes;
    /* Stored in the same transaction as the call: the position of the submitter. "": none. */
    struct str note, note_value;
};
/*
 * r 0: on disk. is_repeat: a call with this key existed already, `id` is that call's; the note has
 * been stored. -EBUSY: too many wait. -ENOSPC and others: nothing has been stored.
 */
typedef void (*async_submit_cb)(void *arg, int r, const char id[ASYNC_ID_TEXT], bool is_repeat,
                                const struct err *err);
/* Errors: E_INVALID (URL, key), -EMSGSIZE (body), -EBUSY, -ECANCELED; errors of store_open(). */
int async_submit(struct async *a, const struct async_call *call, async_submit_cb cb, void *arg,
                 struct err *err);

/* Notes: small named values in the same store. value.p NULL: it does not exist. */
typedef void (*async_note_cb)(void *arg, int r, struct str value, const struct err *err);
int async_note_get(struct async *a, struct str note, async_note_cb cb, void *arg, struct err *err);
/* value.p NULL: remove it. cb may be NULL. */
int async_note_put(struct async *a, struct str note, struct str value, async_note_cb cb, void *arg,
                   struct err *err);

/* The consumer of events (trigger.h). */
typedef void (*async_published_cb)(void *arg, int r, const struct err *err);
struct async_events {
    /* A request below /v1/events/. */
    bool (*serve)(void *arg, struct http_exchange *x, const struct http_request *req);
    /* An event in any form. cb once all resulting calls are on disk, on a later turn. */
    int (*publish)(void *arg, struct str namespace, const struct headers *headers, struct str body,
                   async_published_cb cb, void *cb_arg, struct err *err);
    void *arg;
};
/* Copied. NULL: none; /v1/events/ is 404, and events in answers wait. */
void async_set_events(struct async *a, const struct async_events *events);

struct async_stats {
    uint64_t accepted, repeated, refused, succeeded, failed, expired, canceled, retries;
    uint64_t dead_letters, callbacks, results_deleted;
    uint64_t pending;
    size_t running, lanes, window_entries;
    uint64_t lag_ms; /* how long the call that is most overdue has been due */
};
void async_get_stats(const struct async *a, struct async_stats *ret);
/* Prometheus text. */
void async_metrics(const struct async *a, struct buf *to);
