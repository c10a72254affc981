/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links whose streams are channels of a WebSocket: each message begins with the number of its
 * channel, a byte, or a digit before base64. In version 5 a message of two bytes, 255 and a
 * channel, ends a channel.
 */
#include "agent/stream/link_int.h"

#include "codec/base64.h"

#include <errno.h>

enum { CLOSE_SIGNAL = 255, NO_CHANNEL = -1, QUANTUM = 4 };

static void write_message(struct stream_link *l, uint32_t id, struct str bytes, bool is_last)
{
    char channel = (char)(l->is_base64 ? '0' + id : id);
    struct str pieces[] = { str_n(&channel, 1), bytes };
    if (is_last && bytes.n == 0)
        return; /* servers do not tell that a channel has ended */
    if (!l->is_base64) {
        link_send(l, pieces, ARRAY_LEN(pieces));
        return;
    }
    struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    (void)base64_encode(&text, bytes, BASE64_STD);
    pieces[1] = buf_str(&text);
    link_send(l, pieces, ARRAY_LEN(pieces));
    buf_fini(&text);
}

static void no_reset(struct stream_link *l, uint32_t id, enum spdy_status status)
{
}

static void no_grant(struct stream_link *l, struct link_substream *s, size_t n)
{
}

static void no_goodbye(struct stream_link *l, int r)
{
}

static void ping(struct stream_link *l)
{
    struct ws_head h = ws_frame_head(WS_PING, 0);
    l->out_full = !http_write(l->x, str_n(h.bytes, h.n));
}

/* ------------------------------------------------------------------ from the peer */

static void receive(struct stream_link *l, struct str bytes, bool is_last)
{
    struct link_substream *s = link_find(l, (uint32_t)l->channel);
    if (s && (bytes.n || is_last))
        link_receive(l, s, bytes, is_last);
}

/* Text comes in any pieces; four characters are decoded together. */
static int receive_base64(struct stream_link *l, struct str text, bool ends)
{
    struct buf joined = BUF_INIT(64 << 10), bytes = BUF_INIT(64 << 10);
    (void)buf_add_str(&joined, buf_str(&l->sextets));
    (void)buf_add_str(&joined, text);
    size_t whole = ends ? joined.n : joined.n / QUANTUM * QUANTUM;
    int r = base64_decode(&bytes, str_slice(buf_str(&joined), 0, whole), BASE64_LENIENT);
    buf_reset(&l->sextets);
    (void)buf_add_str(&l->sextets, str_slice(buf_str(&joined), whole, joined.n));
    if (r >= 0)
        receive(l, buf_str(&bytes), false);
    buf_fini(&joined);
    buf_fini(&bytes);
    return r < 0 ? E_PARSE : 0;
}

static int receive_close(struct stream_link *l, const struct ws_event *ev)
{
    if (ev->data.n) {
        if (l->n_close > 0 || ev->data.n > 1)
            return E_PARSE;
        l->n_close = 1;
        l->channel = (uint8_t)ev->data.p[0];
    }
    if (!ev->ends)
        return 0;
    if (l->n_close == 0 || (uint32_t)l->channel >= l->n_channels)
        return E_PARSE;
    receive(l, STR(""), true);
    return 0;
}

static void start_message(struct stream_link *l, struct ws_event *ev)
{
    uint8_t first = (uint8_t)ev->data.p[0];
    ev->data = str_slice(ev->data, 1, ev->data.n);
    l->channel = !l->is_base64 ? first : first >= '0' ? first - '0' : UINT8_MAX;
    l->n_close = 0;
    buf_reset(&l->sextets);
}

int link_channels_feed(struct stream_link *l, const struct ws_event *piece)
{
    struct ws_event ev = *piece;
    if (ev.begins)
        l->channel = NO_CHANNEL;
    if (l->channel == NO_CHANNEL) { /* the piece before may have been empty */
        if (ev.data.n == 0)
            return 0;
        start_message(l, &ev);
        l->in_close = l->closes_channels && l->channel == CLOSE_SIGNAL;
    }
    if (l->in_close)
        return receive_close(l, &ev);
    if (l->is_base64)
        return receive_base64(l, ev.data, ev.ends);
    receive(l, ev.data, false);
    return 0;
}

const struct link_frames link_channels = { .write = write_message,
                                           .reset = no_reset,
                                           .grant = no_grant,
                                           .goodbye = no_goodbye,
                                           .ping = ping };
