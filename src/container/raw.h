/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a program in a container as they are: its output with back-pressure, its standard
 * input, terminals. output.h has lines.
 *
 * Loop thread only. Callbacks never run inside a call.
 */
#pragma once

#include "base/str.h"
#include "io/loop.h"

#include <sys/types.h>

/* ---- output ---- */

struct container_raw;

struct container_raw_events {
    /* At most LOOP_SCRATCH_BYTES, borrowed. It may pause and close. */
    void (*on_bytes)(void *arg, struct str bytes);
    /* The end: no writer is left, or nothing is there after container_raw_finish(). Once. */
    void (*on_end)(void *arg);
};

/* fd: taken, to be read without blocking: a pipe or a terminal. */
int container_raw_start(struct loop *loop, int fd, const struct container_raw_events *events,
                        void *arg, struct container_raw **ret, struct err *err);
/* No on_bytes() and no on_end() until it is over; the program waits in its write(). */
void container_raw_pause(struct container_raw *raw, bool is_paused);
/* Its program has ended: on_end() follows what is there now, even if another process could still
 * write. */
void container_raw_finish(struct container_raw *raw);
int container_raw_fd(const struct container_raw *raw); /* borrowed */
/* No further callbacks. NULL is fine. */
void container_raw_close(struct container_raw *raw);

/* ---- input ---- */

struct container_feed;

/* fd: taken, to be written without blocking. on_room(): more can be written, after a write that
 * took less than it was given. */
int container_feed_start(struct loop *loop, int fd, void (*on_room)(void *arg), void *arg,
                         struct container_feed **ret, struct err *err);
/* How many of the bytes were taken. -EPIPE: no reader is left. */
ssize_t container_feed_write(struct container_feed *feed, struct str bytes);
/* No further callbacks; the program sees the end of its input. NULL is fine. */
void container_feed_close(struct container_feed *feed);
