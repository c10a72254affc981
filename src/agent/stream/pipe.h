/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A descriptor of a byte stream, read and written without blocking: a connected socket, the end of
 * a pipe, the master of a terminal.
 *
 * Memory: stream_pipe_close() releases it later; no callback comes after it. Loop thread only.
 * Callbacks never run inside a call.
 */
#pragma once

#include "base/str.h"
#include "io/loop.h"

enum { STREAM_PIPE_HIGH_BYTES = 64 << 10 }; /* stream_pipe_write() reports full above */

struct stream_pipe;

struct stream_pipe_events { /* each may be NULL, if the pipe is not used in that direction */
    void (*on_data)(void *arg, struct str bytes);
    void (*on_eof)(void *arg); /* no more data; also after an error of reading */
    void (*on_writable)(void *arg);
    /* Writing failed: nothing more is written, and reading goes on. */
    void (*on_broken)(void *arg, int r);
};

/* fd: taken. The pipe is paused until stream_pipe_resume(). */
struct stream_pipe *stream_pipe_open(struct loop *loop, int fd,
                                     const struct stream_pipe_events *events, void *arg);
/* Bytes are copied or already written. false: stop until on_writable(). */
bool stream_pipe_write(struct stream_pipe *p, struct str bytes);
/* End our direction once all is written: of a socket it is shut, else the descriptor is closed. */
void stream_pipe_end(struct stream_pipe *p);
void stream_pipe_pause(struct stream_pipe *p);
void stream_pipe_resume(struct stream_pipe *p);
void stream_pipe_close(struct stream_pipe *p); /* unwritten bytes are lost; NULL is fine */
