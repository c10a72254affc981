/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a container prints, line by line, and as bytes. Read at a limited rate: a container that
 * prints more waits in its write(), so that it can fill neither our memory nor our time.
 *
 * Loop thread only.
 */
#pragma once

#include "base/str.h"
#include "io/loop.h"

struct container_output;

enum {
    CONTAINER_OUTPUT_LINE_MAX = 16 << 10, /* on_line() gets a longer one in pieces */
    CONTAINER_OUTPUT_RATE = 256 << 10,    /* bytes per second, unless another rate is asked for, */
    CONTAINER_OUTPUT_BURST = 1 << 20,     /* after silence */
    CONTAINER_OUTPUT_LAST_MAX = 120       /* kept of the last line */
};
#define CONTAINER_OUTPUT_ALL UINT32_MAX /* a rate: no limit */

/*
 * A line without its '\n', borrowed. has_more: it is a piece of CONTAINER_OUTPUT_LINE_MAX bytes,
 * and the next call has the next piece of the same line.
 */
typedef void (*container_output_cb)(void *arg, struct str line, bool has_more);

/*
 * fd: taken, to be read without blocking. rate: bytes per second, up to ten times
 * CONTAINER_OUTPUT_BURST; 0: CONTAINER_OUTPUT_RATE; CONTAINER_OUTPUT_ALL.
 */
int container_output_start(struct loop *loop, int fd, uint32_t rate, container_output_cb on_line,
                           void *arg, struct container_output **ret, struct err *err);
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
