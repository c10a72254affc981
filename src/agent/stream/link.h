/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One upgraded connection that carries several streams of bytes, whichever protocol it speaks:
 * SPDY, SPDY inside a WebSocket, or WebSocket messages with channels.
 *
 *     http exchange --> carrier (plain, or WebSocket messages) --> frames (SPDY, channels) -->
 * owner
 *
 * Streams are known by number: the peer opens them (SPDY), or all exist from the start (channels).
 * Each direction of a stream ends on its own.
 *
 * Back-pressure. To the peer: stream_link_write() takes everything and reports false when the owner
 * should wait for on_writable(). From the peer: a stream that is paused collects its bytes here, up
 * to its window of 64 KiB if the peer keeps to windows; when more than STREAM_LINK_HELD_MAX_BYTES
 * are held in all, the whole connection is not read. Most SPDY clients (spdystream, so kubectl)
 * ignore windows: these are kept only toward peers that have sent a window of their own.
 *
 * A link owns itself: on_gone() is the last callback, and no function may be called after it.
 * Loop thread only. Callbacks never run inside a call.
 */
#pragma once

#include "agent/stream/choose.h"
#include "io/http.h"

enum {
    STREAM_LINK_STREAMS_MAX = 512,          /* open at a time; the peer's further ones are reset */
    STREAM_LINK_HELD_MAX_BYTES = 128 << 10, /* of paused streams, and one read of the socket */
    STREAM_LINK_IDLE_MS = 4 * 60 * 60 * 1000, /* without a byte in either direction: cut */
    STREAM_LINK_PING_MS = 30000               /* while the peer is not read: is it still there? */
};

struct stream_link;

struct stream_link_events { /* arg: of the owner */
    /* The peer opens a stream. false: it is refused. */
    bool (*on_open)(void *arg, uint32_t id, const struct headers *headers);
    void (*on_opened)(void *arg, uint32_t id); /* the peer was answered; may be NULL */
    void (*on_data)(void *arg, uint32_t id, struct str bytes);
    void (*on_end)(void *arg, uint32_t id); /* the peer sends no more on it */
    /* The peer abandons it: neither direction is used any more. */
    void (*on_reset)(void *arg, uint32_t id);
    void (*on_writable)(void *arg, uint32_t id); /* after a write reported false */
    /* The connection is over; the last callback. r: 0, or why it broke. */
    void (*on_gone)(void *arg, int r);
};

struct stream_link_opts {
    struct loop *loop;
    struct http_exchange *x; /* taken; http_request.upgrade is true */
    const struct stream_choice *choice;
    uint32_t n_channels; /* CHANNELS: the streams 0 to n_channels - 1 exist */
    uint64_t idle_ms;    /* 0: STREAM_LINK_IDLE_MS */
    size_t *count;       /* of open links: risen by one until on_gone(); kept; NULL: none */
    const struct stream_link_events *events;
    void *arg;
};

/* Answers 101. */
struct stream_link *stream_link_open(const struct stream_link_opts *opts);
/*
 * false: the owner should stop until on_writable(id). Nothing is sent on a stream that was ended,
 * reset or is unknown; that is no error.
 */
bool stream_link_write(struct stream_link *l, uint32_t id, struct str bytes);
/* CHANNELS: send a message without bytes, by which clients see that the connection works. */
void stream_link_greet(struct stream_link *l, uint32_t id);
void stream_link_end(struct stream_link *l, uint32_t id);
void stream_link_reset(struct stream_link *l, uint32_t id);
/* Stop and resume on_data() and on_end() of one stream. */
void stream_link_pause(struct stream_link *l, uint32_t id);
void stream_link_resume(struct stream_link *l, uint32_t id);
/* Say goodbye and close, once all is written; only on_gone() follows. */
void stream_link_finish(struct stream_link *l);
/* Cut it; only on_gone() follows. */
void stream_link_abort(struct stream_link *l);
