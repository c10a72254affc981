/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the control plane, for control.c and rest.c. */
#pragma once

#include "base/list.h"
#include "client/leader.h"
#include "fn/control/catalog.h"
#include "fn/control/cold_trace.h"
#include "fn/control/control.h"
#include "fn/control/plane.h"

/* A stream of another control plane, which waits for this one to end. */
struct peer_stream {
    struct fn_stream *stream;
    struct list node;
};

struct control {
    struct control_opts opts;
    char *name, *address, *identity, *url;
    struct plane *plane;
    struct catalog *catalog;
    struct leader *leader;
    struct cold_trace *trace;
    struct fn_dialer gateway_dialer, worker_dialer;
    struct list peers;      /* struct peer_stream */
    struct list rest;       /* requests of rest.c that wait for the API */
    struct fn_stream *link; /* to the leader */
    char *linked_to;        /* its identity */
    bool link_is_up;
    struct timer link_timer;
    bool stopping;
    void (*done)(void *arg);
    void *done_arg;
};

void control_drop_peer(struct peer_stream *peer);
/* What waits for the API is cut off. */
void control_end_rest(struct control *c);
