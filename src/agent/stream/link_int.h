/* SPDX-License-Identifier: Apache-2.0 */
/* A link's parts: link.c holds streams, buffers and the exchange; link_spdy.c and link_channels.c
 * know their frames. */
#pragma once

#include "agent/stream/link.h"
#include "agent/stream/spdy.h"
#include "base/sm.h"
#include "base/vec.h"

/*
 *     OPEN --finish(), or the peer closes--> ENDING --> GONE      GONE: on_gone() has run
 *
 * An exchange that ends leads to GONE from each of them.
 */
enum link_at { LINK_OPEN, LINK_ENDING, LINK_GONE };

struct link_substream {
    uint32_t id;
    bool is_paused;   /* by the owner */
    bool in_ended;    /* the peer's end was received; delivered after what is held */
    bool end_told;    /* and delivered */
    bool out_ended;   /* by the owner */
    bool end_sent;    /* and sent, after `out` */
    bool was_full;    /* a write reported false */
    int64_t window;   /* bytes that the peer still takes, if it keeps windows */
    uint64_t granted; /* delivered, not yet granted to the peer again */
    struct buf in;    /* held for the owner */
    struct buf out;   /* waits for the window */
};

/* What knows the frames. */
struct link_frames {
    /* Bytes of SPDY. Errors end the connection. NULL for channels. */
    int (*feed)(struct stream_link *l, struct str bytes, struct err *err);
    void (*write)(struct stream_link *l, uint32_t id, struct str bytes, bool is_last);
    void (*reset)(struct stream_link *l, uint32_t id, enum spdy_status status);
    void (*grant)(struct stream_link *l, struct link_substream *s, size_t n); /* the owner took n */
    void (*goodbye)(struct stream_link *l, int r);
    void (*ping)(struct stream_link *l);
};
extern const struct link_frames link_spdy, link_channels;

struct stream_link {
    struct loop *loop;
    struct http_exchange *x;
    const struct link_frames *frames;
    const struct stream_link_events *events;
    void *arg;
    size_t *count;
    enum stream_carrier carrier;
    struct sm sm;
    VEC(struct link_substream *) streams; /* by id */
    size_t n_held;                        /* bytes in all `in` */
    bool is_reading;                      /* the exchange is not paused */
    bool out_full;                        /* the exchange reported false */
    struct defer deliver;                 /* what is held for streams that were resumed */
    struct timer watch;                   /* idle, or pings */
    uint64_t idle_ms, last_ms;
    struct ws_reader ws;
    /* SPDY */
    struct spdy_reader spdy;
    bool has_replied, keeps_windows;
    uint32_t first_window; /* of the peer's streams */
    uint32_t last_id, n_pings;
    int64_t session_window;
    uint32_t session_granted;
    /* channels */
    bool is_base64, closes_channels;
    uint32_t n_channels;
    int channel;        /* of the message under way */
    struct buf sextets; /* of base64, up to 3 */
    bool in_close;      /* the message is a close signal */
    uint8_t n_close;    /* bytes of it */
};

/* A piece of a message. Errors end the connection. */
int link_channels_feed(struct stream_link *l, const struct ws_event *ev);

/* ---- link.c for the frames ---- */

struct link_substream *link_find(struct stream_link *l, uint32_t id);
/* NULL: there are too many. */
struct link_substream *link_add(struct stream_link *l, uint32_t id);
void link_remove(struct stream_link *l, struct link_substream *s);
/* The peer has sent these bytes; is_last: and ends its direction. */
void link_receive(struct stream_link *l, struct link_substream *s, struct str bytes, bool is_last);
/* The peer abandons the stream. */
void link_receive_reset(struct stream_link *l, struct link_substream *s);
/* The window of a stream, or of the session, is larger. */
void link_widen(struct stream_link *l);
/* Raw bytes in one message of the carrier: pieces are joined. */
void link_send(struct stream_link *l, const struct str *pieces, size_t n);
