/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces the activations of one operator live, for `dormouse trace`: each step is passed to every
 * tracer as one JSON object. Without a tracer, a step costs the check of an empty list.
 *
 *     {"event":"activation","instance":0,"controller":"c","key":"ns/name","reasons":["update"],
 *      "attempt":0,"state":"Asleep","payloadBytes":n}
 *     {"event":"call","atUs":n,"call":"GET /api/v1/...","tookUs":n,"value":n,"bytes":n}
 *     {"event":"post","atUs":n,"call":"log","what":"..."}
 *     {"event":"end","atUs":n,"result":"done","delayMs":n,"message":"...","workUs":n,"busyUs":n}
 *
 * atUs counts from the moment at which the activation was passed to the guest host, so the first
 * step's value includes the wake. Posted calls are reported when they arrive: with the next call
 * that parks, or at the end. Loop thread only.
 */
#pragma once

#include "base/list.h"
#include "guest/guest.h"
#include "operator/v1/dispatch.h"

enum { TRACE_WHAT_MAX = 256 }; /* bytes of a text in a step; cut */

/* Embedded by the listener. Its functions are called from the loop. */
struct tracer {
    struct list node;
    void (*on_step)(struct tracer *t, struct str json, bool is_end); /* borrowed */
    void (*on_gone)(struct tracer *t); /* the operator is removed; the tracer is unlinked */
};

/* Per operator. */
struct v1_trace {
    struct list tracers;
};
void trace_init(struct v1_trace *t);
/* Calls on_gone of every tracer. */
void trace_fini(struct v1_trace *t);
void trace_listen(struct v1_trace *t, struct tracer *tracer);
void trace_unlisten(struct tracer *tracer);
size_t trace_listeners(const struct v1_trace *t);

/* Per instance: when its activation began (0: it is not traced), and its last call. */
struct trace_clock {
    uint64_t began_us, call_us;
    char *call; /* name of the call while it is under way and traced; trace_clock_fini() */
};
void trace_clock_fini(struct trace_clock *clock);

struct trace_activation {
    unsigned instance;
    struct str controller; /* "" for a configuration */
    const struct work_task *task;
    enum guest_state state;
    size_t payload_bytes;
};
void trace_begin(struct v1_trace *t, struct trace_clock *clock, const struct trace_activation *a);
void trace_call_begin(struct v1_trace *t, struct trace_clock *clock, const struct guest_call *call);
void trace_call_end(struct v1_trace *t, const struct trace_clock *clock, int64_t value,
                    size_t bytes);
void trace_post(struct v1_trace *t, const struct trace_clock *clock, const char *call,
                struct str what);
void trace_end(struct v1_trace *t, struct trace_clock *clock, const struct dispatch_result *r);
