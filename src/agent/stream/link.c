/* SPDX-License-Identifier: Apache-2.0 */
/* Connections with several streams; see link.h. */
#include "agent/stream/link_int.h"

#include <errno.h>

static const struct sm_state link_table[] = {
    [LINK_OPEN] = { "open", EDGE(LINK_ENDING) | EDGE(LINK_GONE) },
    [LINK_ENDING] = { "ending", EDGE(LINK_GONE) },
    [LINK_GONE] = { "gone", 0 },
};

/* ------------------------------------------------------------------ streams */

static size_t position(const struct stream_link *l, uint32_t id)
{
    size_t low = 0, high = l->streams.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->streams.p[middle]->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct link_substream *link_find(struct stream_link *l, uint32_t id)
{
    size_t at = position(l, id);
    return at < l->streams.n && l->streams.p[at]->id == id ? l->streams.p[at] : NULL;
}

struct link_substream *link_add(struct stream_link *l, uint32_t id)
{
    if (l->streams.n == STREAM_LINK_STREAMS_MAX)
        return NULL;
    assert(l->streams.n == 0 || l->streams.p[l->streams.n - 1]->id < id);
    struct link_substream *s = xnew(struct link_substream);
    *s = (struct link_substream){ .id = id,
                                  .window = l->first_window,
                                  .in = BUF_INIT(BUF_MAX_DEFAULT),
                                  .out = BUF_INIT(BUF_MAX_DEFAULT) };
    vec_push(&l->streams, s);
    return s;
}

static void stream_free(struct stream_link *l, struct link_substream *s)
{
    l->n_held -= s->in.n;
    buf_fini(&s->in);
    buf_fini(&s->out);
    free(s);
}

void link_remove(struct stream_link *l, struct link_substream *s)
{
    size_t at = position(l, s->id);
    assert(at < l->streams.n && l->streams.p[at] == s);
    vec_remove(&l->streams, at);
    stream_free(l, s);
}

/* Both directions have ended; channels stay. */
static void remove_if_done(struct stream_link *l, struct link_substream *s)
{
    if (s->end_sent && s->end_told && l->carrier != STREAM_CHANNELS)
        link_remove(l, s);
}

/* ------------------------------------------------------------------ sending */

void link_send(struct stream_link *l, const struct str *pieces, size_t n)
{
    bool more = true;
    size_t total = 0;
    if (l->carrier != STREAM_SPDY) {
        for (size_t i = 0; i < n; i++)
            total += pieces[i].n;
        struct ws_head h = ws_frame_head(l->is_base64 ? WS_TEXT : WS_BINARY, total);
        more = http_write(l->x, str_n(h.bytes, h.n));
    }
    for (size_t i = 0; i < n; i++)
        if (pieces[i].n)
            more = http_write(l->x, pieces[i]);
    l->out_full = !more;
    l->last_ms = loop_now_ms(l->loop);
}

static size_t window_of(const struct stream_link *l, const struct link_substream *s)
{
    int64_t n = MIN(s->window, l->session_window);
    return !l->keeps_windows ? SIZE_MAX : n > 0 ? (size_t)n : 0;
}

static void write_now(struct stream_link *l, struct link_substream *s, struct str bytes,
                      bool is_last)
{
    s->window -= (int64_t)bytes.n;
    l->session_window -= (int64_t)bytes.n;
    l->frames->write(l, s->id, bytes, is_last);
}

/* Send what the window allows of `out`, and the end after it. */
static void flush(struct stream_link *l, struct link_substream *s)
{
    size_t n = MIN(s->out.n, window_of(l, s));
    bool is_last = s->out_ended && n == s->out.n && !s->end_sent;
    if (n || is_last)
        write_now(l, s, str_slice(buf_str(&s->out), 0, n), is_last);
    buf_consume(&s->out, n);
    s->end_sent = s->end_sent || is_last;
}

static bool is_full(const struct stream_link *l, const struct link_substream *s)
{
    return l->out_full || s->out.n > 0;
}

bool stream_link_write(struct stream_link *l, uint32_t id, struct str bytes)
{
    struct link_substream *s = link_find(l, id);
    if (l->sm.at != LINK_OPEN || !s || s->out_ended || bytes.n == 0)
        return true;
    size_t n = s->out.n ? 0 : MIN(bytes.n, window_of(l, s));
    if (n)
        write_now(l, s, str_slice(bytes, 0, n), false);
    (void)buf_add_str(&s->out, str_slice(bytes, n, bytes.n));
    s->was_full = is_full(l, s);
    return !s->was_full;
}

void stream_link_greet(struct stream_link *l, uint32_t id)
{
    if (l->carrier == STREAM_CHANNELS && l->sm.at == LINK_OPEN)
        l->frames->write(l, id, STR(""), false);
}

void stream_link_end(struct stream_link *l, uint32_t id)
{
    struct link_substream *s = link_find(l, id);
    if (l->sm.at != LINK_OPEN || !s || s->out_ended)
        return;
    s->out_ended = true;
    flush(l, s);
    remove_if_done(l, s);
}

void stream_link_reset(struct stream_link *l, uint32_t id)
{
    struct link_substream *s = link_find(l, id);
    if (l->sm.at != LINK_OPEN || !s)
        return;
    l->frames->reset(l, id, SPDY_CANCEL);
    if (l->carrier != STREAM_CHANNELS)
        link_remove(l, s);
}

/* The stream at this place or after it that waits to be written and can be. */
static struct link_substream *next_writable(struct stream_link *l, uint32_t from)
{
    for (size_t i = position(l, from); i < l->streams.n; i++)
        if (l->streams.p[i]->was_full && !is_full(l, l->streams.p[i]))
            return l->streams.p[i];
    return NULL;
}

/* A callback may write, end and reset streams. */
static void tell_writable(struct stream_link *l)
{
    struct link_substream *s;
    for (uint32_t id = 0; l->sm.at == LINK_OPEN && (s = next_writable(l, id)); id++) {
        id = s->id;
        s->was_full = false;
        l->events->on_writable(l->arg, id);
    }
}

void link_widen(struct stream_link *l)
{
    for (size_t i = l->streams.n; i > 0; i--) {
        struct link_substream *s = l->streams.p[i - 1];
        if (s->out.n)
            flush(l, s);
        remove_if_done(l, s);
    }
    tell_writable(l);
}

/* ------------------------------------------------------------------ receiving */

static void on_watch(struct timer *t);

/* Read the connection unless too much is held. */
static void regulate(struct stream_link *l)
{
    bool wanted = l->n_held <= STREAM_LINK_HELD_MAX_BYTES;
    if (wanted == l->is_reading || l->sm.at != LINK_OPEN)
        return;
    l->is_reading = wanted;
    if (wanted) {
        http_resume_body(l->x);
    } else {
        http_pause_body(l->x);
        timer_start(l->loop, &l->watch, STREAM_LINK_PING_MS, on_watch);
    }
}

/* The owner may end, pause or reset the stream in either callback. */
static void deliver(struct stream_link *l, uint32_t id, struct str bytes)
{
    struct link_substream *s = link_find(l, id);
    if (bytes.n) {
        l->frames->grant(l, s, bytes.n);
        l->events->on_data(l->arg, id, bytes);
    }
    s = link_find(l, id);
    if (l->sm.at != LINK_OPEN || !s || s->is_paused || s->in.n || !s->in_ended || s->end_told)
        return;
    s->end_told = true;
    l->events->on_end(l->arg, id);
    s = link_find(l, id);
    if (l->sm.at == LINK_OPEN && s)
        remove_if_done(l, s);
}

void link_receive(struct stream_link *l, struct link_substream *s, struct str bytes, bool is_last)
{
    if (s->in_ended)
        return;
    s->in_ended = is_last;
    if (!s->is_paused && s->in.n == 0) {
        deliver(l, s->id, bytes);
        return;
    }
    (void)buf_add_str(&s->in, bytes);
    l->n_held += bytes.n;
}

void link_receive_reset(struct stream_link *l, struct link_substream *s)
{
    uint32_t id = s->id;
    link_remove(l, s);
    l->events->on_reset(l->arg, id);
}

/* What is held for a stream that was resumed. */
static void deliver_held(struct stream_link *l, struct link_substream *s)
{
    uint32_t id = s->id;
    struct buf held = s->in;
    s->in = BUF_INIT(BUF_MAX_DEFAULT);
    l->n_held -= held.n;
    deliver(l, id, buf_str(&held));
    buf_fini(&held);
}

static struct link_substream *next_held(struct stream_link *l, uint32_t from)
{
    for (size_t i = position(l, from); i < l->streams.n; i++) {
        struct link_substream *s = l->streams.p[i];
        if (!s->is_paused && (s->in.n || (s->in_ended && !s->end_told)))
            return s;
    }
    return NULL;
}

static void on_deliver(struct defer *d)
{
    struct stream_link *l = container_of(d, struct stream_link, deliver);
    struct link_substream *s;
    for (uint32_t id = 0; l->sm.at == LINK_OPEN && (s = next_held(l, id)); id++) {
        id = s->id;
        deliver_held(l, s);
    }
    regulate(l);
}

void stream_link_pause(struct stream_link *l, uint32_t id)
{
    struct link_substream *s = link_find(l, id);
    if (s)
        s->is_paused = true;
}

void stream_link_resume(struct stream_link *l, uint32_t id)
{
    struct link_substream *s = link_find(l, id);
    if (!s || !s->is_paused)
        return;
    s->is_paused = false;
    defer_start(l->loop, &l->deliver, on_deliver);
}

/* ------------------------------------------------------------------ the end */

static void gone(struct stream_link *l, int r)
{
    if (l->sm.at == LINK_GONE)
        return;
    sm_move(&l->sm, LINK_GONE);
    timer_stop(l->loop, &l->watch);
    defer_cancel(&l->deliver);
    if (l->count)
        --*l->count;
    l->events->on_gone(l->arg, r);
}

static void close_with(struct stream_link *l, int r)
{
    if (l->sm.at != LINK_OPEN)
        return;
    sm_move(&l->sm, LINK_ENDING);
    timer_stop(l->loop, &l->watch);
    defer_cancel(&l->deliver);
    l->frames->goodbye(l, r);
    if (l->carrier != STREAM_SPDY) {
        struct ws_head h = ws_close_frame(r < 0 ? WS_CLOSE_PROTOCOL_ERROR : WS_CLOSE_NORMAL);
        (void)http_write(l->x, str_n(h.bytes, h.n));
    }
    if (!l->is_reading)
        http_resume_body(l->x); /* the rest is discarded; the end is awaited */
    http_end(l->x);
}

void stream_link_finish(struct stream_link *l)
{
    close_with(l, 0);
}

void stream_link_abort(struct stream_link *l)
{
    if (l->sm.at == LINK_OPEN)
        sm_move(&l->sm, LINK_ENDING);
    timer_stop(l->loop, &l->watch);
    defer_cancel(&l->deliver);
    http_abort(l->x);
}

/* The peer ends the connection, or has broken a rule. */
static void lose(struct stream_link *l, int r)
{
    bool was_open = l->sm.at == LINK_OPEN;
    close_with(l, r);
    gone(l, was_open ? r : 0);
}

/* ------------------------------------------------------------------ the exchange */

static void on_watch(struct timer *t)
{
    struct stream_link *l = container_of(t, struct stream_link, watch);
    uint64_t quiet = loop_now_ms(l->loop) - l->last_ms;
    if (quiet >= l->idle_ms) {
        http_abort(l->x);
        return;
    }
    uint64_t next = l->idle_ms - quiet;
    if (!l->is_reading) {
        uint64_t last = l->last_ms;
        l->frames->ping(l);
        l->last_ms = last;
        next = MIN(next, (uint64_t)STREAM_LINK_PING_MS);
    }
    timer_start(l->loop, &l->watch, next, on_watch);
}

static void answer_ping(struct stream_link *l, struct str payload)
{
    struct ws_head h = ws_frame_head(WS_PONG, payload.n);
    if (l->out_full)
        return; /* a peer that does not read gets no pongs */
    (void)http_write(l->x, str_n(h.bytes, h.n));
    l->out_full = !http_write(l->x, payload);
}

static int feed_messages(struct stream_link *l, struct str bytes, struct err *err)
{
    char room[8 << 10];
    struct ws_event ev;
    int r = 0;
    while (l->sm.at == LINK_OPEN && r >= 0 &&
           (r = ws_read(&l->ws, &bytes, room, sizeof room, &ev)) > 0) {
        if (ev.op == WS_PING)
            answer_ping(l, ev.data);
        else if (ev.op == WS_CLOSE)
            lose(l, 0);
        else if (ev.op == WS_PONG)
            continue;
        else if (l->carrier == STREAM_TUNNEL)
            r = l->frames->feed(l, ev.data, err);
        else
            r = link_channels_feed(l, &ev);
    }
    return r < 0 && !err->code ? err_set(err, r, "malformed WebSocket frame") : r;
}

static void on_body(struct http_exchange *x, struct str chunk)
{
    struct stream_link *l = http_exchange_data(x);
    struct err err = { 0 };
    if (l->sm.at != LINK_OPEN)
        return;
    l->last_ms = loop_now_ms(l->loop);
    int r =
        l->carrier == STREAM_SPDY ? l->frames->feed(l, chunk, &err) : feed_messages(l, chunk, &err);
    if (r < 0 && l->sm.at == LINK_OPEN) {
        log_debug("stream closed", "reason=\"%s\"", err_text(&err));
        lose(l, r);
    }
    regulate(l);
}

static void on_body_end(struct http_exchange *x, int r)
{
    lose(http_exchange_data(x), r);
}

static void on_writable(struct http_exchange *x)
{
    struct stream_link *l = http_exchange_data(x);
    l->out_full = false;
    tell_writable(l);
}

static void on_exchange_gone(struct http_exchange *x, int r)
{
    struct stream_link *l = http_exchange_data(x);
    gone(l, l->sm.at == LINK_OPEN ? r : 0);
    for (size_t i = 0; i < l->streams.n; i++)
        stream_free(l, l->streams.p[i]);
    vec_fini(&l->streams);
    spdy_reader_fini(&l->spdy);
    buf_fini(&l->sextets);
    free(l);
}

static const struct http_exchange_ops link_exchange_ops = { .on_body = on_body,
                                                            .on_body_end = on_body_end,
                                                            .on_writable = on_writable,
                                                            .on_gone = on_exchange_gone };

static void upgrade(struct stream_link *l, const struct stream_choice *choice)
{
    struct headers h = { 0 };
    stream_choose_answer(choice, &h);
    http_exchange_set(l->x, &link_exchange_ops, l);
    http_upgrade(l->x, &h);
    http_read_body(l->x, UINT64_MAX);
    headers_fini(&h);
}

struct stream_link *stream_link_open(const struct stream_link_opts *opts)
{
    struct stream_link *l = xnew(struct stream_link);
    *l = (struct stream_link){ .loop = opts->loop,
                               .x = opts->x,
                               .frames = opts->choice->carrier == STREAM_CHANNELS ? &link_channels
                                                                                  : &link_spdy,
                               .events = opts->events,
                               .arg = opts->arg,
                               .count = opts->count,
                               .carrier = opts->choice->carrier,
                               .is_reading = true,
                               .idle_ms = opts->idle_ms ? opts->idle_ms : STREAM_LINK_IDLE_MS,
                               .last_ms = loop_now_ms(opts->loop),
                               .first_window = SPDY_WINDOW_BYTES,
                               .session_window = SPDY_WINDOW_BYTES,
                               .is_base64 = opts->choice->is_base64,
                               .closes_channels = opts->choice->version == 5,
                               .n_channels = opts->n_channels,
                               .sextets = BUF_INIT(16) };
    sm_init(&l->sm, link_table, LINK_OPEN);
    if (l->count)
        ++*l->count;
    spdy_reader_init(&l->spdy);
    for (uint32_t i = 0; l->carrier == STREAM_CHANNELS && i < l->n_channels; i++)
        (void)link_add(l, i);
    timer_start(l->loop, &l->watch, l->idle_ms, on_watch);
    upgrade(l, opts->choice);
    return l;
}
