/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request under way and its answer, both as streams. The caller holds a `struct exchange` and
 * cannot tell what carries it: the HTTP client (io/http.h), a Kubernetes transport
 * (client/transport.h) or the runtime of a function (fn/invoke.h).
 *
 *     caller                                  implementation
 *     x_start(..., events, arg, &x)   --->
 *     exchange_write()..., _end_body() -->    only if the request streams its body
 *                                    <---     on_writable(), after a write() that returned false
 *                                    <---     on_head(), on_data()..., on_trailers()
 *     exchange_pause(), _resume()     --->    back-pressure on the answer
 *     exchange_cancel()               --->
 *                                    <---     on_end(): exactly once, as the last callback
 *
 * Each implementation has its own starting function, since requests differ. What they share:
 *
 *   - A start that fails returns the error and never calls back. After a successful one the events
 *     are kept, and *ret is valid until on_end() has returned.
 *   - No callback runs before the starting function has returned, nor inside a control (write,
 *     end_body, pause, resume, cancel). A callback may call any control of any exchange.
 *   - on_head() runs at most once, before on_data(). An exchange that fails may end without it.
 *   - Only what an interface offers beyond this has functions of its own, such as
 *     http_call_was_sent().
 *
 * A decorator offers an exchange that is carried by another one: see struct exchange_forward.
 *
 * Loop thread only.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "codec/headers.h"

#include <assert.h>

/* What the caller is notified of. Any may be NULL. Headers, chunks and err are borrowed. */
struct exchange_events {
    void (*on_head)(void *arg, int status, const struct headers *headers);
    void (*on_data)(void *arg, struct str chunk);
    /* The fields after the body, if there are any: after the last on_data(), before on_end(0). */
    void (*on_trailers)(void *arg, const struct headers *trailers);
    /* More of the body may be written, after exchange_write() returned false. */
    void (*on_writable)(void *arg);
    /* 0: the answer is complete. Else a negative code; the starting function lists them. */
    void (*on_end)(void *arg, int r, const struct err *err);
};

struct exchange;

/* What an implementation supplies. */
struct exchange_ops {
    /* NULL, as end_body, where no request streams its body. */
    bool (*write)(struct exchange *x, struct str chunk);
    void (*end_body)(struct exchange *x, const struct headers *trailers);
    void (*pause)(struct exchange *x);
    void (*resume)(struct exchange *x);
    void (*cancel)(struct exchange *x);
};

/* Embedded by implementations, which set ops, events and arg before the start returns. */
struct exchange {
    const struct exchange_ops *ops;
    const struct exchange_events *events;
    void *arg;
    const char *reason; /* see exchange_reason() */
};

/* ---- for the caller ---- */

/* Send more of the body, copied or already sent. false: full, stop until on_writable(). */
static inline bool exchange_write(struct exchange *x, struct str chunk)
{
    assert(x->ops->write);
    return x->ops->write(x, chunk);
}
/* The body is complete. trailers, borrowed, may be NULL. */
static inline void exchange_end_body(struct exchange *x, const struct headers *trailers)
{
    assert(x->ops->end_body);
    x->ops->end_body(x, trailers);
}
/* Stop on_data(); a few more calls may come. on_head() and on_end(r < 0) are not held back. */
static inline void exchange_pause(struct exchange *x)
{
    x->ops->pause(x);
}
static inline void exchange_resume(struct exchange *x)
{
    x->ops->resume(x);
}
/* on_end() still runs, on a later turn: with -ECANCELED unless the end was due already. */
static inline void exchange_cancel(struct exchange *x)
{
    x->ops->cancel(x);
}
/*
 * In on_end(): the cause of a failure as a CamelCase word for a client ("GuestTrapped"), borrowed.
 * NULL or "": none.
 */
static inline const char *exchange_reason(const struct exchange *x)
{
    return x->reason;
}

/* ---- for implementations: notify the caller ---- */

static inline void exchange_report_head(const struct exchange *x, int status,
                                        const struct headers *headers)
{
    if (x->events->on_head)
        x->events->on_head(x->arg, status, headers);
}
static inline void exchange_report_data(const struct exchange *x, struct str chunk)
{
    if (x->events->on_data)
        x->events->on_data(x->arg, chunk);
}
static inline void exchange_report_trailers(const struct exchange *x,
                                            const struct headers *trailers)
{
    if (x->events->on_trailers)
        x->events->on_trailers(x->arg, trailers);
}
static inline void exchange_report_writable(const struct exchange *x)
{
    if (x->events->on_writable)
        x->events->on_writable(x->arg);
}
static inline void exchange_report_end(const struct exchange *x, int r, const struct err *err)
{
    if (x->events->on_end)
        x->events->on_end(x->arg, r, err);
}

/* ---- for decorators ---- */

/*
 * One exchange carried by another, embedded in the record of a decorator. The decorator starts
 * `under` with events of its own and the forward as their arg:
 *
 *     static const struct exchange_events under_events = {
 *         .on_head = on_head,                      its own; calls exchange_forward_head() in it
 *         .on_data = exchange_forward_data,        inherited
 *         ...
 *     };
 *     exchange_forward_init(&rec->forward, NULL, events, arg);
 *     r = transport_start(below, &req, &under_events, &rec->forward, &rec->forward.under, err);
 *     *ret = rec->forward.under;
 *
 * A decorator that leaves the controls alone returns `under` to its caller, as above: ops is NULL,
 * the controls cost no further hop, and a reason of its own goes to under->reason. Otherwise ops is
 * exchange_forward_ops or a table of its own, and it returns &forward.x.
 */
struct exchange_forward {
    struct exchange x;
    struct exchange *under; /* NULL: not started; it must not end before the forward */
    bool is_paused;         /* for exchange_forward_started() */
};

extern const struct exchange_ops exchange_forward_ops;

static inline void exchange_forward_init(struct exchange_forward *f, const struct exchange_ops *ops,
                                         const struct exchange_events *events, void *arg)
{
    *f = (struct exchange_forward){ .x = { .ops = ops, .events = events, .arg = arg } };
}
/* For a decorator that starts `under` later: pass on a pause from before. */
void exchange_forward_started(struct exchange_forward *f);

/* Events of `under`; arg is the struct exchange_forward. */
void exchange_forward_head(void *arg, int status, const struct headers *headers);
void exchange_forward_data(void *arg, struct str chunk);
void exchange_forward_trailers(void *arg, const struct headers *trailers);
void exchange_forward_writable(void *arg);
/* Also passes on the reason. The decorator's own on_end() calls it and then frees the record. */
void exchange_forward_end(void *arg, int r, const struct err *err);

/* Controls. Before `under` has started pause and resume are remembered, and cancel does nothing. */
bool exchange_forward_write(struct exchange *x, struct str chunk);
void exchange_forward_end_body(struct exchange *x, const struct headers *trailers);
void exchange_forward_pause(struct exchange *x);
void exchange_forward_resume(struct exchange *x);
void exchange_forward_cancel(struct exchange *x);
