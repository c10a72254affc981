/* SPDX-License-Identifier: Apache-2.0 */
/* What HTTP/2 servers and clients do alike with nghttp2. Internal to io/. */
#pragma once

#include "codec/headers.h"
#include "io/stream.h"

#include <nghttp2/nghttp2.h>

enum {
    H2_WIRE_BYTES = 64 << 10, /* frames made ahead of the kernel */
    H2_HPACK_BYTES =
        1 << 10 /* our table of fields we sent; the peer's of its own is HPACK's 4 KiB */
};

/*
 * A session whose memory at rest is small; cb is released. It must be written by h2_pump() alone,
 * and DATA by h2_send_data(), since sessions share the memory in which frames are made.
 */
nghttp2_session *h2_session_new(bool is_server, nghttp2_session_callbacks *cb, void *arg);
nghttp2_session_callbacks *h2_callbacks_new(void);
/* Frames to the stream, as many as the kernel may take; a failure is the stream's. */
void h2_pump(nghttp2_session *ng, struct stream *s);
/* The end of a send_data callback: the frame's head and its n bytes. */
int h2_send_data(struct stream *s, const uint8_t *head, const char *bytes, size_t n);

/*
 * Whether the peer is still there, asked only while start()ed: after every_ms without a byte of it
 * a PING, and without an answer in timeout_ms the stream fails with -ETIMEDOUT.
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
void h2_ping_heard(struct h2_ping *p); /* a byte came */
/* An acknowledged PING is one of these. */
bool h2_ping_is_ours(const nghttp2_ping *frame);

nghttp2_nv h2_field(struct str name, struct str value);
/* What goes out as it is: no field of an HTTP/1.1 connection (RFC 9113 section 8.2.2), nor the
 * length, which is ours. */
bool h2_is_plain(struct str name, struct str value);
/* Into room for HEADERS_MAX of them; their number. */
size_t h2_trailers(nghttp2_nv *nv, const struct headers *trailers);
