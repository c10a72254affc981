/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes of one object, one after the other. A write reads the object, works out what it becomes,
 * and writes that if nobody was faster. Where many clients write one object at the same time, all
 * but one are too late in every round, and some are until they give up. So whoever is going to
 * write a key stands in the line of that key from before it reads until it is answered.
 *
 *     line_enter() -> LINE_RUN -----------------------> line_leave()
 *                  -> LINE_WAIT -> run() or refuse() -> line_leave()
 *                  -> LINE_FULL
 *
 * A line costs nothing while nobody writes its key. Loop thread only; run() and refuse() come from
 * the loop, never from within a call.
 */
#pragma once

#include "base/list.h"
#include "base/map.h"
#include "io/loop.h"

enum {
    LINE_QUEUE_MAX = 1000,   /* that wait at one key, about what API_INFLIGHT_MAX lets in */
    LINE_WAIT_MAX_MS = 34000 /* as long as upstream lets a write try again */
};

enum line_answer { LINE_RUN, LINE_WAIT, LINE_FULL };

/* Place in a line; zeroed: none. Embedded by the caller. */
struct line_place {
    struct line *line;
    bool waiting;
    uint64_t since_ms;
    struct list node; /* line->queue, then lines->called */
    struct list age;  /* lines->waiting */
    void (*run)(struct line_place *p);
    void (*refuse)(struct line_place *p); /* waited in vain; the place is gone already */
};

struct lines {
    struct loop *loop;
    struct map known;    /* key -> struct line */
    struct list waiting; /* struct line_place.age, the oldest first */
    struct list called;  /* struct line_place.node: its turn has come */
    struct timer timer;  /* armed for the oldest */
    struct defer turn;
};

void lines_init(struct lines *ls, struct loop *loop);
/* Nobody may have a place any more. */
void lines_fini(struct lines *ls);
/* run and refuse of `p` are set. key: copied. */
enum line_answer line_enter(struct lines *ls, struct line_place *p, struct str key);
/* Idempotent; also while waiting: then neither run() nor refuse() follows. */
void line_leave(struct lines *ls, struct line_place *p);
