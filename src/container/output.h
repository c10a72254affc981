/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What containers print, line by line, and as bytes. Read at a limited rate: a container that
 * prints more waits in its write(), so that it can fill neither our memory nor our time.
 *
 *     pipe: readable --> read a piece --> on_line()...
 *              |             `- its rate is used up: it rests
 *              `- the turn of the loop, or what all of them may cost, is used up: it waits in a
 *                 queue, so that each gets a piece before another gets the next
 *
 * Rates count what the lines cost, not only their bytes: CONTAINER_OUTPUT_LINE_COST more for each.
 *
 * Loop thread only.
 */
#pragma once

#include "base/list.h"
#include "base/str.h"
#include "io/loop.h"

struct container_output;

enum {
    CONTAINER_OUTPUT_LINE_MAX = 16 << 10,    /* on_line() gets a longer one in pieces */
    CONTAINER_OUTPUT_LINE_COST = 48,         /* about what a log has in front of it */
    CONTAINER_OUTPUT_RATE = 256 << 10,       /* per second, unless another rate is asked for, */
    CONTAINER_OUTPUT_BURST = 1 << 20,        /* after silence */
    CONTAINER_OUTPUT_TURN = 256 << 10,       /* of all pipes of a reader in a turn of the loop */
    CONTAINER_OUTPUT_TOTAL_RATE = 256 << 20, /* of all pipes of a reader per second */
    CONTAINER_OUTPUT_LAST_MAX = 120          /* kept of the last line */
};
#define CONTAINER_OUTPUT_ALL UINT32_MAX /* a rate: no limit */

/* What the pipes of several containers share. */
struct container_output_reader {
    struct loop *loop;
    struct list queue; /* struct container_output */
    struct defer turn; /* the next turn begins */
    struct timer rest;
    int64_t turn_left;
    int64_t budget;
    uint64_t budget_ms;
};
void container_output_reader_init(struct container_output_reader *r, struct loop *loop);
/* Its pipes are closed. */
void container_output_reader_fini(struct container_output_reader *r);

/*
 * A line without its '\n', borrowed. has_more: it is a piece of CONTAINER_OUTPUT_LINE_MAX bytes,
 * and the next call has the next piece of the same line.
 */
typedef void (*container_output_cb)(void *arg, struct str line, bool has_more);

/*
 * fd: taken, to be read without blocking. rate: per second, up to a hundred times
 * CONTAINER_OUTPUT_BURST; 0: CONTAINER_OUTPUT_RATE; CONTAINER_OUTPUT_ALL.
 */
int container_output_start(struct container_output_reader *reader, int fd, uint32_t rate,
                           container_output_cb on_line, void *arg, struct container_output **ret,
                           struct err *err);
/* All bytes as they come, before the lines in them; `arg` as in on_line(). */
void container_output_tap(struct container_output *o,
                          void (*on_bytes)(void *arg, struct str bytes));
/* Nothing is read until it is over, except by container_output_drain(): the container waits in its
 * write(). */
void container_output_pause(struct container_output *o, bool is_paused);
/* The beginning of the last line that is not empty, "" without one. Valid until closed. */
const char *container_output_last(const struct container_output *o);
/* What is there now, without waiting for the loop. */
void container_output_drain(struct container_output *o);
/* Reads the remaining output, reports a last line without line feed, and frees it. NULL is fine. */
void container_output_close(struct container_output *o);
/* Frees it without reading: what is in the pipe is for another reader. NULL is fine. */
void container_output_release(struct container_output *o);
