/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flow control; upstream calls it priority and fairness. Each request belongs to a priority level
 * and, within it, to a flow (a user, or in some levels a namespace). A level has seats: the number
 * of its requests that run at once. Further requests wait in the queue of their flow, and the flow
 * that holds the fewest seats is served next. A user that sends a thousand requests thus delays
 * only the requests of that user.
 *
 *     flow_enter() -> FLOW_RUN -----------------------> flow_leave()
 *                  -> FLOW_WAIT -> run() or refuse() -> flow_leave()
 *                  -> FLOW_REFUSED
 *
 * Levels lend seats that they do not use, with upstream's arithmetic: the table in flow.c is
 * upstream's default configuration. Flows are distinguished exactly, by name, where upstream
 * shuffles them over a fixed number of queues: here a flow costs nothing while it has no running or
 * waiting request.
 *
 * Loop thread only. run() and refuse() are called from the loop, never from within a call.
 */
#pragma once

#include "base/buf.h"
#include "base/list.h"
#include "base/map.h"
#include "io/loop.h"

enum {
    FLOW_SEATS = 600,    /* over all levels; upstream's 400 reading and 200 writing requests */
    FLOW_LIST_SEATS = 5, /* taken by a list, or by a watch that begins with one */
    FLOW_QUEUE_MAX = 50, /* waiting requests of a flow */
    FLOW_LEVEL_QUEUE_MAX = 1000, /* waiting requests of a level; then the longest queue loses
                                    requests to shorter ones */
    FLOW_WAIT_MAX_MS = 15000     /* a quarter of upstream's limit for a whole request */
};

enum flow_level {
    FLOW_EXEMPT,
    FLOW_LEADER_ELECTION,
    FLOW_NODE_HIGH,
    FLOW_SYSTEM,
    FLOW_WORKLOAD_HIGH,
    FLOW_WORKLOAD_LOW,
    FLOW_GLOBAL_DEFAULT,
    FLOW_CATCH_ALL,
    FLOW_LEVELS
};

enum { FLOW_SCHEMAS = 12 };
enum flow_reason { FLOW_QUEUE_FULL, FLOW_NO_SEAT, FLOW_TIME_OUT, FLOW_REASONS };
enum flow_answer { FLOW_RUN, FLOW_WAIT, FLOW_REFUSED };

/* What decides the level and flow of a request; borrowed for the call. */
struct flow_question {
    struct str user;
    const struct str *groups;
    size_t n_groups;
    struct str verb, group, resource, subresource, ns; /* resource "": a path */
    struct str path;
};

/* The seats or the queue place of one request; zeroed: none. Embedded by the caller. */
struct flow_ticket {
    struct flow *flow; /* NULL on an exempt level */
    uint8_t schema;    /* index + 1; 0: holds nothing */
    uint8_t seats;
    bool waiting;
    uint64_t since_ms;
    struct list node; /* flow->queue, then flows->refused */
    struct list age;  /* flows->waiting */
};

struct flows {
    struct loop *loop;
    void (*run)(struct flow_ticket *t);
    void (*refuse)(struct flow_ticket *t); /* the place is released already */
    struct {
        unsigned in_use, waiting; /* seats, requests */
        struct list flows;        /* struct flow with a queue; the one to serve next is first */
    } level[FLOW_LEVELS];
    struct {
        unsigned executing, waiting, seats;
        uint64_t dispatched, refused[FLOW_REASONS];
    } schema[FLOW_SCHEMAS];
    unsigned in_use;     /* seats of all levels but the exempt one */
    struct map known;    /* level and name -> struct flow */
    struct list waiting; /* struct flow_ticket.age, the oldest first */
    struct list refused; /* struct flow_ticket.node: tickets whose refuse() is due */
    struct timer timer;  /* armed for the oldest waiting ticket */
    struct defer turn;
};

void flows_init(struct flows *f, struct loop *loop, void (*run)(struct flow_ticket *t),
                void (*refuse)(struct flow_ticket *t));
/* All tickets must have been left. */
void flows_fini(struct flows *f);
enum flow_answer flow_enter(struct flows *f, struct flow_ticket *t, const struct flow_question *q);
/* Idempotent. Allowed while the ticket waits: then neither run() nor refuse() follows. */
void flow_leave(struct flows *f, struct flow_ticket *t);
/* apiserver_flowcontrol_* */
void flow_metrics(const struct flows *f, struct buf *to);

const char *flow_schema_name(const struct flow_ticket *t); /* of a ticket that holds a place */
