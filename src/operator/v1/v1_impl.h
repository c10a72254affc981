/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals shared by the files of v1.h: v1.c acts, v1_post.c handles what guests post, v1_view.c
 * describes.
 */
#pragma once

#include "operator/v1/events.h"
#include "operator/v1/guest_metrics.h"
#include "operator/v1/v1.h"

struct v1_host {
    struct v1_host_opts opts;
    struct interests_env env;
    struct dispatch *dispatch;
    struct declarations declarations;
    struct list operators;
    size_t n_operators;
};

/* An activation that waits for a read of its object. */
struct v1_start {
    struct v1_instance *in;
    uint64_t token;
    struct object_read *read;
    size_t n;
    char payload[];
};

struct v1_instance {
    struct v1 *v;
    struct guest *guest; /* NULL: none */
    unsigned number;
    bool is_ready;
    struct declaration *declared; /* by this start of the guest; NULL: not yet */
    struct v1_start *start;
    struct host_call *call; /* the guest is parked in it */
    uint64_t call_id;
    uint32_t call_incarnation;
    struct trace_clock clock;
};

/* Result of a controller's last activation; allocated at its first one. */
struct v1_last {
    char *key, *message;
    uint32_t reasons, attempt;
    enum work_end end;
    bool trapped;
    uint64_t ended_ms, delay_ms, work_us, busy_us;
};

struct v1 {
    struct v1_host *host;
    struct list node;
    const struct v1_ops *ops;
    void *arg;
    struct dispatch_operator *dispatch;
    struct host_calls calls;   /* what host calls need: rights and the parts below */
    struct identity *identity; /* of the last guest; kept without one, since watches continue */
    struct identity_wait identity_wait;
    struct identity_listener identity_listener;
    struct identity *watching_as;    /* the user under which the watches were started */
    struct declaration *declaration; /* the one in force; NULL: none yet */
    bool has_new_guest;              /* attached, and not started yet */
    bool is_watching;                /* the watches and configs were started */
    bool is_bounded;                 /* started under an allow list */
    struct guest_metrics *metrics;
    struct events *events;
    struct v1_last *last; /* one per controller; NULL: never ran */
    uint64_t reconciles, failures;
    char *trouble; /* why the watches could not be started; NULL: no problem */
    struct v1_trace trace;
    struct v1_instance first;
    struct v1_instance **more; /* declaration->instances - 1 of them, by number - 1; NULL: none */
    char full_name[];          /* "namespace/name" */
};

/* End the guest because it broke a rule; the reason is "CALL: RULE: what was wrong". */
void v1_broken(struct v1_instance *in, const char *call, const char *rule, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* guest_ops.on_post */
void v1_on_post(struct guest *g, const struct guest_post *p, void *arg);
