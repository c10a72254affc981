/* SPDX-License-Identifier: Apache-2.0 */
/* The use of nghttp2 that HTTP/2 servers and clients share. Internal to io/. */
#pragma once

#include "codec/headers.h"
#include "io/stream.h"

#include <nghttp2/nghttp2.h>

enum {
    H2_WIRE_BYTES = 64 << 10, /* frames made before the kernel takes them */
    H2_HPACK_BYTES = 1 << 10  /* table for the fields we send; the peer's keeps HPACK's 4 KiB */
};

/*
 * A session with a small idle footprint; releases cb. Only h2_pump() may write it, and only
 * h2_send_data() may write DATA, since all sessions share the memory in which frames are made.
 */
nghttp2_session *h2_session_new(bool is_server, nghttp2_session_callbacks *cb, void *arg);
nghttp2_session_callbacks *h2_callbacks_new(void);
/* Write frames to the stream, as many as the kernel may take; a failure becomes the stream's. */
void h2_pump(nghttp2_session *ng, struct stream *s);
/* The last step of a send_data callback: write the frame's head and its n bytes. */
int h2_send_data(struct stream *s, const uint8_t *head, const char *bytes, size_t n);

/*
 * Liveness of the peer, checked only between start() and stop(): after every_ms without a byte from
 * the peer a PING is sent; without an answer within timeout_ms the stream fails with -ETIMEDOUT.
 */
struct h2_ping {
    struct timer timer;
    struct loop *loop;
    struct stream *s;
    nghttp2_session *ng;
    uint64_t timeout_ms, every_ms, heard_ms; /* every_ms 0: never */
    bool asked;
};
void h2_ping_init(struct h2_ping *p, struct stream *s, nghttp2_session *ng, uint64_t every_ms,
                  uint64_t timeout_ms);
void h2_ping_start(struct h2_ping *p);
void h2_ping_stop(struct h2_ping *p);
void h2_ping_heard(struct h2_ping *p); /* a byte arrived */
/* Whether an acknowledged PING was sent by an h2_ping. */
bool h2_ping_is_ours(const nghttp2_ping *frame);

nghttp2_nv h2_field(struct str name, struct str value);
/* Whether a field is sent unchanged: not a connection field of HTTP/1.1 (RFC 9113 section 8.2.2),
 * and not the length, which this module sets. */
bool h2_is_plain(struct str name, struct str value);
/* nv: room for HEADERS_MAX fields. Returns their number. */
size_t h2_trailers(nghttp2_nv *nv, const struct headers *trailers);
