/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Triggers call functions, besides clients: schedules (cron.h), CloudEvents posted to
 * /v1/events/NAMESPACE (cloudevent.h), and changes of objects. Each firing is an asynchronous call
 * (async.h) with a key made of function, trigger and cause, so that it happens once.
 *
 * Schedules and watches run at the owner of the function (gateway_owns()). The progress of each is
 * stored in the same transaction as the call. One timer for all schedules, none without any.
 *
 * Loop thread only.
 */
#pragma once

#include "fn/async/async.h"

struct triggers;
struct transport;
struct watch_hub;

enum {
    TRIGGERS_MAX = 100000,      /* of all functions; further ones are left out, with a log line */
    TRIGGER_WATCHES_MAX = 4096, /* object watches */
    TRIGGER_EVENTS_MAX_BYTES = 4 << 20, /* body of one POST of events: 413 */
    TRIGGER_BATCH_MAX = 256,            /* events in one */
    TRIGGER_CALLS_MAX = 4096,           /* made by one POST of events: 503 beyond */
    TRIGGER_EVENTS_INFLIGHT_MAX = 64,   /* of these on their way to the disk */
    TRIGGER_POSTS_MAX_BYTES = 32 << 20, /* bodies of events being taken: 503 beyond */
    TRIGGER_WATCH_INFLIGHT_MAX = 64,    /* changes of one watch on their way to the disk */
    TRIGGER_CATCH_UP_MS = 86400000      /* a firing missed longer ago is not made up for */
};

/* What it needs of a gateway. */
struct trigger_functions {
    const struct trigger_functions_ops *ops; /* kept */
    void *arg;
};
struct trigger_functions_ops {
    /* As gateway_on_function(). */
    void (*follow)(void *arg,
                   void (*fn)(void *fn_arg, struct str namespace, struct str name,
                              const struct fn_spec *spec),
                   void *fn_arg);
    bool (*owns)(void *arg, struct str namespace, struct str name);
    /* As gateway_admits(). */
    int (*admits)(void *arg, struct str namespace, const struct headers *h);
    /* No other gateway is alive. */
    bool (*is_alone)(void *arg);
    /* fn runs when the result of owns() may have changed. */
    void (*on_members)(void *arg, void (*fn)(void *fn_arg), void *fn_arg);
};
struct trigger_functions trigger_over_gateway(struct gateway *g);

struct trigger_opts {
    struct loop *loop;
    struct async *async; /* kept; triggers serves its events */
    struct trigger_functions functions;
    /* For object watches; NULL: triggers of that kind are left out, with a log line. Kept. */
    struct transport *transport;
    struct watch_hub *hub;
    const char *zoneinfo; /* directory of time zones; NULL: /usr/share/zoneinfo; copied */
};

/* After async_start(). */
int triggers_start(const struct trigger_opts *opts, struct triggers **ret, struct err *err);
/*
 * Nothing fires any more. Call it after the gateway has stopped, which would continue to report
 * functions, and before async_close(). done() runs on a later turn.
 */
void triggers_close(struct triggers *t, void (*done)(void *arg), void *arg);

struct trigger_stats {
    size_t schedules, watches;
    uint64_t fired, missed, events, events_refused, changes, failures;
};
void triggers_get_stats(const struct triggers *t, struct trigger_stats *ret);
/* Prometheus text. */
void triggers_metrics(const struct triggers *t, struct buf *to);
