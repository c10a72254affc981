/* SPDX-License-Identifier: Apache-2.0 */
/* Links that speak SPDY/3.1. */
#include "agent/stream/link_int.h"

#include <errno.h>

enum { FRAME_BYTES = 64 << 10, GRANT_BYTES = SPDY_WINDOW_BYTES / 2 };

static void send_control(struct stream_link *l, struct buf *frames)
{
    struct str bytes = buf_str(frames);
    link_send(l, &bytes, 1);
    buf_fini(frames);
}

/* ------------------------------------------------------------------ to the peer */

static void write_data(struct stream_link *l, uint32_t id, struct str bytes, bool is_last)
{
    do {
        char head[SPDY_DATA_HEAD_BYTES];
        struct str piece = str_slice(bytes, 0, FRAME_BYTES);
        bytes = str_slice(bytes, piece.n, bytes.n);
        spdy_data_head(head, id, piece.n, is_last && bytes.n == 0);
        const struct str pieces[] = { str_n(head, sizeof head), piece };
        link_send(l, pieces, ARRAY_LEN(pieces));
    } while (bytes.n);
}

static void send_reset(struct stream_link *l, uint32_t id, enum spdy_status status)
{
    struct buf b = BUF_INIT(64);
    spdy_add_reset(&b, id, status);
    send_control(l, &b);
}

/* Windows grow again by halves, so that a small read costs no frame. */
static void grant(struct stream_link *l, struct link_substream *s, size_t n)
{
    struct buf b = BUF_INIT(64);
    s->granted += n;
    if (s->granted < GRANT_BYTES || s->in_ended)
        return;
    spdy_add_window(&b, s->id, (uint32_t)MIN(s->granted, (uint64_t)SPDY_ID_MAX));
    s->granted = 0;
    send_control(l, &b);
}

/* The session's window is about this process, which bounds what it holds by itself. */
static void grant_session(struct stream_link *l, size_t n)
{
    struct buf b = BUF_INIT(64);
    l->session_granted += (uint32_t)n;
    if (l->session_granted < GRANT_BYTES)
        return;
    spdy_add_window(&b, 0, l->session_granted);
    l->session_granted = 0;
    send_control(l, &b);
}

static void goodbye(struct stream_link *l, int r)
{
    struct buf b = BUF_INIT(64);
    spdy_add_goaway(&b, l->last_id, r < 0 ? SPDY_GOODBYE_PROTOCOL_ERROR : SPDY_GOODBYE_OK);
    send_control(l, &b);
}

static void ping(struct stream_link *l)
{
    struct buf b = BUF_INIT(64);
    l->n_pings = (l->n_pings + 1) & (SPDY_ID_MAX >> 1);
    spdy_add_ping(&b, 2 * l->n_pings); /* a server's pings are even */
    send_control(l, &b);
}

/* ------------------------------------------------------------------ from the peer */

static int open_stream(struct stream_link *l, const struct spdy_event *ev)
{
    if (ev->stream % 2 == 0 || ev->stream <= l->last_id)
        return E_PARSE; /* section 2.3.2 */
    l->last_id = ev->stream;
    struct link_substream *s = link_add(l, ev->stream);
    if (!s) {
        send_reset(l, ev->stream, SPDY_REFUSED_STREAM);
        return 0;
    }
    s->out_ended = s->end_sent = ev->is_one_way;
    bool wanted = l->events->on_open(l->arg, ev->stream, ev->headers);
    s = link_find(l, ev->stream);
    if (l->sm.at != LINK_OPEN || !s)
        return 0;
    if (!wanted) {
        link_remove(l, s);
        send_reset(l, ev->stream, SPDY_REFUSED_STREAM);
        return 0;
    }
    return 1;
}

static int take_open(struct stream_link *l, const struct spdy_event *ev)
{
    int r = open_stream(l, ev);
    if (r <= 0)
        return r;
    struct buf b = BUF_INIT(64);
    spdy_add_reply(&b, ev->stream, !l->has_replied);
    l->has_replied = true;
    send_control(l, &b);
    if (l->events->on_opened)
        l->events->on_opened(l->arg, ev->stream);
    struct link_substream *s = link_find(l, ev->stream);
    if (ev->is_last && l->sm.at == LINK_OPEN && s)
        link_receive(l, s, STR(""), true);
    return 0;
}

static int take_data(struct stream_link *l, const struct spdy_event *ev)
{
    struct link_substream *s = link_find(l, ev->stream);
    grant_session(l, ev->data.n);
    if (s)
        link_receive(l, s, ev->data, ev->is_last);
    return 0; /* else it was sent before our reset arrived */
}

static int widen_all(struct stream_link *l, uint32_t first)
{
    int64_t more = (int64_t)first - (int64_t)l->first_window;
    l->keeps_windows = true;
    l->first_window = first;
    vec_each (s, &l->streams)
        (*s)->window += more;
    link_widen(l);
    return 0;
}

static int widen(struct stream_link *l, const struct spdy_event *ev)
{
    struct link_substream *s = ev->stream ? link_find(l, ev->stream) : NULL;
    int64_t *window = ev->stream ? (s ? &s->window : NULL) : &l->session_window;
    l->keeps_windows = true;
    if (!window)
        return 0; /* the stream has ended */
    *window += ev->value;
    if (*window > SPDY_ID_MAX) /* section 2.6.8 */
        return E_PARSE;
    link_widen(l);
    return 0;
}

/* Ours come back, as they have the other parity. */
static int answer_ping(struct stream_link *l, uint32_t id)
{
    struct buf b = BUF_INIT(64);
    if (id % 2 == 0 || l->out_full)
        return 0;
    spdy_add_ping(&b, id);
    send_control(l, &b);
    return 0;
}

static int take(struct stream_link *l, const struct spdy_event *ev)
{
    struct link_substream *s;
    switch (ev->kind) {
    case SPDY_OPEN:
        return take_open(l, ev);
    case SPDY_DATA:
        return take_data(l, ev);
    case SPDY_RESET:
        s = link_find(l, ev->stream);
        if (s)
            link_receive_reset(l, s);
        return 0;
    case SPDY_SETTING:
        return widen_all(l, ev->value);
    case SPDY_WINDOW:
        return widen(l, ev);
    case SPDY_PING:
        return answer_ping(l, ev->value);
    case SPDY_GOAWAY: /* the streams that are open continue */
        return 0;
    }
    return 0;
}

static int feed(struct stream_link *l, struct str bytes, struct err *err)
{
    struct spdy_event ev;
    int r;
    while (l->sm.at == LINK_OPEN && (r = spdy_read(&l->spdy, &bytes, &ev, err)) != 0) {
        if (r > 0)
            r = take(l, &ev);
        if (r < 0)
            return err->code ? r : err_set(err, r, "SPDY frame that breaks the protocol");
    }
    return 0;
}

const struct link_frames link_spdy = { .feed = feed,
                                       .write = write_data,
                                       .reset = send_reset,
                                       .grant = grant,
                                       .goodbye = goodbye,
                                       .ping = ping };
