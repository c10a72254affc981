/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues that serialize the writes of one object. A write reads the object, computes the new one
 * and stores it unless another write came first. When many clients write one object at the same
 * time, one write succeeds in each round and all others fail, some of them until they give up. So a
 * write takes a place in the queue of its key before it reads, and keeps it until the request is
 * answered.
 *
 *     line_enter() -> LINE_RUN -----------------------> line_leave()
 *                  -> LINE_WAIT -> run() or refuse() -> line_leave()
 *                  -> LINE_FULL
 *
 * A key without writes costs nothing. Loop thread only; run() and refuse() are called from the
 * loop, never from within a call of this interface.
 */
#pragma once

#include "base/list.h"
#include "base/map.h"
#include "io/loop.h"

enum {
    LINE_QUEUE_MAX = 1000,   /* places that wait for one key, about API_INFLIGHT_MAX */
    LINE_WAIT_MAX_MS = 34000 /* upstream retries a conflicting write for this long */
};

enum line_answer { LINE_RUN, LINE_WAIT, LINE_FULL };

/* A request's place in a line; zeroed: none. Embedded by the caller. */
struct line_place {
    struct line *line;
    bool waiting;
    uint64_t since_ms;
    struct list node; /* line->queue, then lines->called */
    struct list age;  /* lines->waiting */
    void (*run)(struct line_place *p);
    void (*refuse)(struct line_place *p); /* after LINE_WAIT_MAX_MS; the place is already left */
};

struct lines {
    struct loop *loop;
    struct map known;    /* key -> struct line */
    struct list waiting; /* struct line_place.age, the oldest first */
    struct list called;  /* struct line_place.node: places whose run() is due */
    struct timer timer;  /* armed for the oldest place that waits */
    struct defer turn;
};

void lines_init(struct lines *ls, struct loop *loop);
/* All places must have been left before. */
void lines_fini(struct lines *ls);
/* The caller has set p->run and p->refuse. key: copied. */
enum line_answer line_enter(struct lines *ls, struct line_place *p, struct str key);
/* Idempotent. Allowed while `p` waits: then neither run() nor refuse() is called. */
void line_leave(struct lines *ls, struct line_place *p);
