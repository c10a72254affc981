/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections that speak HTTP/2 (RFC 9113). nghttp2 handles frames, HPACK, stream states and
 * windows; this file handles requests and responses with back-pressure, limits and deadlines. How
 * to read it: bytes arrive through h2_data() -> nghttp2 -> the callbacks on_*(). Streams with
 * pending work are in `todo`; h2_settled() handles them and makes nghttp2 write.
 *
 * The request:
 *
 *     HEAD --head--> BODY --end--> DONE      (HEAD -> DONE without a body)
 *
 * The response is enum http_out. on_gone() runs when the last frame of the response was sent, or
 * when the stream ends before: nghttp2 closes it (on_stream_close), or its connection ends.
 *
 * The connection:
 *
 *     SERVING --the server drains--> FINISHING --no more requests in flight--> GOODBYE
 *     SERVING --it was idle too long--> GOODBYE
 *
 * Back-pressure. Out: a stream keeps what the peer's windows do not admit yet; http_write() reports
 * full above STREAM_OUT_BYTES, or above less while many streams of a connection wait. Frames are
 * made only as fast as the kernel takes them (H2_WIRE_BYTES), one of each stream in turn. In: a
 * body that the handler has not asked for is limited to WINDOW_BYTES, one that is read to
 * BODY_WINDOW_BYTES, and all waiting bodies of a connection to CONNECTION_WINDOW_BYTES.
 */
#include "io/http2_session.h"
#include "io/http_server_int.h"
#include "io/http_text.h"

#include <errno.h>
#include <stdio.h>

enum {
    STREAMS_MAX = 250,       /* concurrent requests on a connection, as in Go's server */
    WINDOW_BYTES = 32 << 10, /* of a request body before a handler asks for it */
    BODY_WINDOW_BYTES = 256 << 10,
    CONNECTION_WINDOW_BYTES = 1 << 20,
    STREAM_OUT_BYTES = 128 << 10,    /* http_write() reports full above */
    STREAM_OUT_LOW_BYTES = 16 << 10, /* the same, while the connection holds more than */
    CONNECTION_OUT_BYTES = 2 << 20,
    HEAD_SKIP_BYTES = 1 << 20, /* decoded fields past the limit before the stream is reset unread */
    METHOD_MAX_BYTES = 24,
    LINGER_MS = 2000, /* for the peer of a request answered early to notice */
    /*
     * Streams that are reset early, by the peer or by us (rapid reset, CVE-2023-44487), and frames
     * that cause work without progress: beyond this rate GOAWAY with ENHANCE_YOUR_CALM.
     */
    RESETS_BURST = 500,
    RESETS_PER_S = 50,
    CHATTER_BURST = 1000,
    CHATTER_PER_S = 100,
    /*
     * Frames queued for a peer that does not read. Each request can cause a few (a head, a reset,
     * windows); resets are counted when they are sent, so a peer could cause any number while
     * nothing can be sent.
     */
    FRAMES_WAIT_MAX = 8 * STREAMS_MAX
};

enum http2_server_in_state { IN_HEAD, IN_BODY, IN_DONE } __attribute__((packed));

enum h2_at {
    H2_SERVING,
    H2_FINISHING, /* the client was notified: it starts no more requests */
    H2_GOODBYE    /* GOAWAY was sent; the connection ends with its last stream */
} __attribute__((packed));

static const struct sm_state in_table[] = {
    [IN_HEAD] = { "head", EDGE(IN_BODY) | EDGE(IN_DONE) },
    [IN_BODY] = { "body", EDGE(IN_DONE) },
    [IN_DONE] = { "done", 0 },
};
static const struct sm_state h2_table[] = {
    [H2_SERVING] = { "serving", EDGE(H2_FINISHING) | EDGE(H2_GOODBYE) },
    [H2_FINISHING] = { "finishing", EDGE(H2_GOODBYE) },
    [H2_GOODBYE] = { "goodbye", 0 },
};

/* A token bucket: a burst, and a rate per second. */
struct bucket {
    uint32_t used;
    uint64_t at_ms;
};

struct h2 {
    struct conn *c;
    nghttp2_session *ng;
    struct list streams; /* struct h2_stream.node */
    struct list todo;    /* struct h2_stream.todo */
    size_t n_streams;
    size_t out_bytes; /* pending in all streams */
    struct bucket resets, chatter;
    struct h2_ping ping; /* while there are streams */
    enum h2_at at;
    bool moved; /* DATA or HEADERS were sent since the last PING */
};

static void move(struct h2 *h2, enum h2_at to)
{
    assert(sm_is_edge(h2_table, h2->at, to));
    h2->at = to;
}

struct h2_stream {
    struct http_exchange base;
    struct h2 *h2;
    int32_t id;
    enum http2_server_in_state in;
    bool continue_owed; /* the client waits for 100 before it sends the body */
    bool writable_owed; /* the handler waits for on_writable() */
    bool deferred;      /* nghttp2 waits for nghttp2_session_resume_data() */
    bool wide_window;   /* widen() has run */
    struct list node, todo;

    struct headers headers, got_trailers;
    size_t trailer_bytes;
    struct buf target;
    char method[METHOD_MAX_BYTES + 1];
    size_t head_bytes;
    int refuse; /* status for a head that is refused */
    const char *refuse_why;

    struct buf held; /* received body that the handler does not want yet */
    int body_result;
    uint64_t body_max, body_seen;
    struct body_pace pace;

    struct buf q; /* response bytes; those before q_at were sent */
    size_t q_at;
    uint64_t out_left; /* bytes the handler still owes of a body with a length */
    int gone_result;

    struct timer timer;
    uint64_t active_ms; /* last byte from the peer */
    uint64_t sent_ms;   /* last progress of the pending output */
    size_t sent_bytes;  /* since then: a little does not count */
};

static struct h2_stream *of(const struct http_exchange *base)
{
    return container_of(base, struct h2_stream, base);
}

static void move_in(struct h2_stream *st, enum http2_server_in_state to)
{
    assert(sm_is_edge(in_table, st->in, to));
    st->in = to;
}

static const struct exchange_kind h2_exchange_kind;

static uint64_t now_ms(const struct h2 *h2)
{
    return loop_now_ms(h2->c->srv->loop);
}

static size_t waiting(const struct h2_stream *st)
{
    assert(st->q_at <= st->q.n);
    return st->q.n - st->q_at;
}

/* Have h2_settled() handle the stream. */
static void note(struct h2_stream *st)
{
    assert(list_is_linked(&st->node));
    if (!list_is_linked(&st->todo))
        list_push_back(&st->h2->todo, &st->todo);
    stream_kick(&st->h2->c->s);
}

/* ------------------------------------------------------------------ misbehaviour */

static void calm_down(struct h2 *h2, const char *what)
{
    log_debug("connection misbehaves", "peer=%s reason=\"%s\"", h2->c->peer, what);
    (void)nghttp2_session_terminate_session(h2->ng, NGHTTP2_ENHANCE_YOUR_CALM);
}

static bool spend(struct bucket *b, uint64_t now, uint32_t burst, uint32_t per_s)
{
    uint64_t back = (now - b->at_ms) * per_s / 1000;
    if (back) {
        b->used = back >= b->used ? 0 : b->used - (uint32_t)back;
        b->at_ms = now;
    }
    b->used++;
    return b->used <= burst;
}

static void count_reset(struct h2 *h2)
{
    if (!spend(&h2->resets, now_ms(h2), RESETS_BURST, RESETS_PER_S))
        calm_down(h2, "too many streams reset");
}

static void count_chatter(struct h2 *h2)
{
    if (!spend(&h2->chatter, now_ms(h2), CHATTER_BURST, CHATTER_PER_S))
        calm_down(h2, "too many frames without use");
}

/* Clients measure the round trip with a PING while they receive data: one per response is
 * accepted. */
static void count_ping(struct h2 *h2)
{
    if (!h2->moved)
        count_chatter(h2);
    h2->moved = false;
}

/* ------------------------------------------------------------------ streams */

static struct h2_stream *stream_new(struct h2 *h2, int32_t id)
{
    assert(id > 0 && h2->c->h2 == h2);
    struct h2_stream *st = xnew(struct h2_stream);
    http_exchange_init(&st->base, &h2_exchange_kind, h2->c);
    st->h2 = h2;
    st->id = id;
    st->target = BUF_INIT(HTTP_URI_MAX_BYTES);
    st->held = BUF_INIT(CONNECTION_WINDOW_BYTES);
    st->q = BUF_INIT(STREAM_OUT_MAX_BYTES);
    st->active_ms = now_ms(h2);
    list_push_back(&h2->streams, &st->node);
    if (h2->n_streams++ == 0) {
        http_conn_busy(h2->c);
        h2_ping_start(&h2->ping);
    }
    return st;
}

/* Drop a held body that will not be read, and return its bytes to the connection's window. */
static void drop_held(struct h2_stream *st)
{
    if (st->held.n)
        (void)nghttp2_session_consume_connection(st->h2->ng, st->held.n);
    buf_fini(&st->held);
}

/* The handler's last callbacks. Idempotent. */
static void tell_gone(struct h2_stream *st, int r)
{
    if (st->base.out == HTTP_OUT_GONE || st->in == IN_HEAD)
        return;
    http_exchange_move_out(&st->base, HTTP_OUT_GONE);
    drop_held(st);
    http_exchange_end_body(&st->base, r == 0 ? -ECANCELED : r);
    if (st->base.ops->on_gone)
        st->base.ops->on_gone(&st->base, r);
}

static void stream_free(struct h2_stream *st, int r)
{
    struct h2 *h2 = st->h2;
    assert(h2->n_streams > 0 && h2->out_bytes >= waiting(st));
    timer_stop(h2->c->srv->loop, &st->timer);
    tell_gone(st, r);
    assert(st->base.out == HTTP_OUT_GONE || st->in == IN_HEAD);
    list_remove(&st->node);
    list_remove(&st->todo);
    h2->out_bytes -= waiting(st);
    http_exchange_fini(&st->base);
    headers_fini(&st->headers);
    headers_fini(&st->got_trailers);
    buf_fini(&st->target);
    drop_held(st);
    buf_fini(&st->q);
    free(st);
    if (--h2->n_streams == 0) {
        assert(list_is_empty(&h2->streams) && list_is_empty(&h2->todo) && h2->out_bytes == 0);
        h2_ping_stop(&h2->ping);
    }
}

static void reset(struct h2_stream *st, int r, uint32_t code)
{
    assert(r < 0);
    if (http_out_is_over(&st->base))
        return;
    http_exchange_move_out(&st->base, HTTP_OUT_RESET);
    st->gone_result = r;
    assert(st->h2->out_bytes >= waiting(st));
    st->h2->out_bytes -= waiting(st);
    buf_fini(&st->q);
    st->q_at = 0;
    (void)nghttp2_submit_rst_stream(st->h2->ng, NGHTTP2_FLAG_NONE, st->id, code);
    stream_kick(&st->h2->c->s);
}

/* ------------------------------------------------------------------ answering */

static ssize_t on_read_source(nghttp2_session *ng, int32_t id, uint8_t *buf, size_t n,
                              uint32_t *flags, nghttp2_data_source *source, void *arg)
{
    struct h2_stream *st = source->ptr;
    assert(st->id == id);
    size_t there = waiting(st);
    bool ended = http_out_has_ended(&st->base);
    if (http_out_is_over(&st->base) || (there == 0 && !ended)) {
        st->deferred = true;
        return NGHTTP2_ERR_DEFERRED;
    }
    n = MIN(n, there);
    *flags |= n ? NGHTTP2_DATA_FLAG_NO_COPY : 0;
    if (!ended || n < there)
        return (ssize_t)n;
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (st->base.trailers.n && st->base.framing != HTTP_FRAMING_NONE) {
        nghttp2_nv nv[HEADERS_MAX];
        *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
        (void)nghttp2_submit_trailer(ng, id, nv, h2_trailers(nv, &st->base.trailers));
        if (n == 0) /* no empty DATA frame before the trailers */
            return NGHTTP2_ERR_DEFERRED;
    }
    return (ssize_t)n;
}

static void h2_inform(struct http_exchange *base, int status, const struct headers *headers)
{
    struct h2_stream *st = of(base);
    if (base->out != HTTP_OUT_NONE)
        return;
    nghttp2_nv nv[HEADERS_MAX + 1];
    char code[4];
    size_t n = 0;
    (void)snprintf(code, sizeof code, "%03d", status);
    nv[n++] = h2_field(STR(":status"), str_n(code, 3));
    for (size_t i = 0; headers && i < headers->n; i++)
        if (h2_is_plain(headers_name(headers, i), headers_value(headers, i)))
            nv[n++] = h2_field(headers_name(headers, i), headers_value(headers, i));
    (void)nghttp2_submit_headers(st->h2->ng, NGHTTP2_FLAG_NONE, st->id, NULL, nv, n, NULL);
    stream_kick(&base->c->s);
}

/* Never called: req->upgrade is not set for HTTP/2. */
static void h2_upgrade(struct http_exchange *base, const struct headers *headers)
{
    assert(false);
}

static void h2_respond(struct http_exchange *base, int status, const struct headers *headers,
                       uint64_t body_n)
{
    struct h2_stream *st = of(base);
    if (http_out_is_closed(base))
        return;
    nghttp2_nv nv[HEADERS_MAX + 3];
    char code[4], length[24];
    size_t n = 0;
    bool bodyless = http_exchange_is_bodyless(base, status);
    (void)snprintf(code, sizeof code, "%03d", status);
    nv[n++] = h2_field(STR(":status"), str_n(code, 3));
    if (!headers || !headers_get(headers, "date").p)
        nv[n++] = h2_field(STR("date"), http_date());
    for (size_t i = 0; headers && i < headers->n; i++)
        if (h2_is_plain(headers_name(headers, i), headers_value(headers, i)))
            nv[n++] = h2_field(headers_name(headers, i), headers_value(headers, i));
    if (body_n != HTTP_CHUNKED && status >= 200 && status != 204) {
        int len = snprintf(length, sizeof length, "%llu", (unsigned long long)body_n);
        nv[n++] = h2_field(STR("content-length"), str_n(length, (size_t)len));
    }
    const nghttp2_data_provider source = { .source.ptr = st, .read_callback = on_read_source };
    bool ends = body_n == 0 || (bodyless && body_n != HTTP_CHUNKED);
    http_exchange_move_out(&st->base, HTTP_OUT_OPEN);
    base->framing = bodyless                 ? HTTP_FRAMING_NONE
                    : body_n == HTTP_CHUNKED ? HTTP_FRAMING_CHUNKED
                                             : HTTP_FRAMING_LENGTH;
    st->out_left = base->framing == HTTP_FRAMING_LENGTH ? body_n : 0;
    if (nghttp2_submit_response(st->h2->ng, st->id, nv, n, ends ? NULL : &source) < 0)
        reset(st, -ECONNRESET, NGHTTP2_INTERNAL_ERROR);
    stream_kick(&base->c->s);
}

static void h2_abort(struct http_exchange *base)
{
    reset(of(base), -ECONNABORTED, NGHTTP2_INTERNAL_ERROR);
}

static void resume_source(struct h2_stream *st)
{
    if (st->deferred)
        (void)nghttp2_session_resume_data(st->h2->ng, st->id);
    st->deferred = false;
}

static bool h2_write(struct http_exchange *base, struct str chunk)
{
    struct h2_stream *st = of(base);
    struct h2 *h2 = st->h2;
    if (http_out_is_closed(base))
        return true;
    assert(st->base.out == HTTP_OUT_OPEN);
    if (base->framing == HTTP_FRAMING_NONE || !chunk.n)
        return true;
    bool counts = base->framing == HTTP_FRAMING_LENGTH;
    assert(!counts || chunk.n <= st->out_left);
    st->out_left -= counts ? chunk.n : 0;
    if (waiting(st) == 0)
        st->sent_ms = now_ms(h2);
    if (st->q_at > st->q.n / 2) {
        buf_consume(&st->q, st->q_at);
        st->q_at = 0;
    }
    if (buf_add_str(&st->q, chunk) < 0) {
        reset(st, E_LIMIT, NGHTTP2_INTERNAL_ERROR);
        return true;
    }
    h2->out_bytes += chunk.n;
    resume_source(st);
    note(st);
    size_t full = h2->out_bytes > CONNECTION_OUT_BYTES ? STREAM_OUT_LOW_BYTES : STREAM_OUT_BYTES;
    st->writable_owed = waiting(st) > full;
    return !st->writable_owed;
}

static size_t h2_pending(const struct http_exchange *base)
{
    return waiting(of(base));
}

static void h2_end(struct http_exchange *base)
{
    struct h2_stream *st = of(base);
    if (http_out_is_closed(base))
        return;
    if (st->out_left) {
        h2_abort(base); /* fewer bytes than promised */
        return;
    }
    http_exchange_move_out(&st->base, HTTP_OUT_ENDED);
    resume_source(st);
    stream_kick(&base->c->s);
}

/* The request cannot be read to its end: send an error response, unless a response has begun. */
static void request_failed(struct h2_stream *st, int status, int r, const char *why)
{
    if (http_out_is_over(&st->base))
        return;
    assert(r < 0 && status >= 400);
    bool under_way = st->base.out == HTTP_OUT_OPEN;
    http_exchange_end_body(&st->base, r); /* the handler may send its own response */
    if (under_way) {
        reset(st, r, NGHTTP2_CANCEL);
        return;
    }
    st->gone_result = r == -EMSGSIZE ? 0 : r;
    http_exchange_refuse(&st->base, status, why);
}

/* ------------------------------------------------------------------ the request's body */

/* Enlarge the window for a large body that is read; a small body needs no WINDOW_UPDATE. */
static void widen(struct h2_stream *st)
{
    if (st->wide_window || st->in != IN_BODY)
        return;
    st->wide_window = true;
    (void)nghttp2_session_set_local_window_size(st->h2->ng, NGHTTP2_FLAG_NONE, st->id,
                                                BODY_WINDOW_BYTES);
}

static void deliver(struct h2_stream *st, struct str chunk)
{
    assert(st->base.body == HTTP_BODY_ASKED && !http_out_is_over(&st->base));
    if (st->body_seen > WINDOW_BYTES / 2)
        widen(st);
    st->body_seen += chunk.n;
    st->pace.bytes += chunk.n;
    if (st->body_seen > st->body_max)
        request_failed(st, 413, -EMSGSIZE, "request body too large");
    else if (st->base.ops->on_body)
        st->base.ops->on_body(&st->base, chunk);
}

/* Return n bytes to the windows: the peer may send as much again. */
static void consumed(struct h2_stream *st, size_t n)
{
    (void)nghttp2_session_consume(st->h2->ng, st->id, n);
}

static void deliver_held(struct h2_stream *st)
{
    assert(st->held.n > 0);
    struct buf b = st->held;
    st->held = BUF_INIT(CONNECTION_WINDOW_BYTES);
    if (st->base.body != HTTP_BODY_ENDED)
        deliver(st, buf_str(&b));
    consumed(st, b.n);
    buf_fini(&b);
}

static void h2_read_body(struct http_exchange *base, uint64_t max_bytes)
{
    struct h2_stream *st = of(base);
    if (http_out_is_over(base) || base->body != HTTP_BODY_UNASKED)
        return;
    http_exchange_move_body(base, HTTP_BODY_ASKED);
    st->body_max = max_bytes;
    http_body_pace_start(&st->pace, base->c);
    st->active_ms = now_ms(st->h2);
    uint64_t n = base->req.has_body ? base->req.content_length : 0;
    if (n != UINT64_MAX && n > max_bytes) {
        st->body_result = -EMSGSIZE; /* reported on the way back to the loop */
    } else {
        nghttp2_session *ng = st->h2->ng;
        nghttp2_nv go_on = h2_field(STR(":status"), STR("100"));
        if (st->continue_owed)
            (void)nghttp2_submit_headers(ng, NGHTTP2_FLAG_NONE, st->id, NULL, &go_on, 1, NULL);
        st->continue_owed = false;
        if (n > WINDOW_BYTES && n != UINT64_MAX)
            widen(st);
    }
    note(st);
}

static void h2_pause_body(struct http_exchange *base)
{
    base->body_paused = true;
}

static void h2_resume_body(struct http_exchange *base)
{
    struct h2_stream *st = of(base);
    if (http_out_is_over(base) || !base->body_paused)
        return;
    base->body_paused = false;
    http_body_pace_start(&st->pace, base->c);
    st->active_ms = now_ms(st->h2);
    note(st);
}

static const struct exchange_kind h2_exchange_kind = {
    .respond = h2_respond,
    .write = h2_write,
    .pending = h2_pending,
    .end = h2_end,
    .abort = h2_abort,
    .inform = h2_inform,
    .upgrade = h2_upgrade,
    .read_body = h2_read_body,
    .pause_body = h2_pause_body,
    .resume_body = h2_resume_body,
};

/* ------------------------------------------------------------------ time */

static uint64_t left_of(uint64_t since, uint64_t limit, uint64_t now)
{
    return since + limit > now ? since + limit - now : 0;
}

/* How long to wait for the peer; UINT64_MAX: it owes nothing. */
static uint64_t patience(const struct h2_stream *st)
{
    const struct http_server *srv = st->h2->c->srv;
    uint64_t now = now_ms(st->h2), in = UINT64_MAX, out = UINT64_MAX;
    if (st->in == IN_HEAD)
        in = left_of(st->active_ms, srv->head_timeout_ms, now);
    else if (st->in == IN_BODY && http_body_is_wanted(&st->base) && !st->base.body_may_idle)
        in = http_body_pace_is_too_slow(&st->pace, st->h2->c)
                 ? 0
                 : left_of(st->active_ms, srv->body_idle_ms, now);
    if (waiting(st))
        out = left_of(st->sent_ms, srv->write_stall_ms, now);
    return MIN(in, out);
}

static void on_stream_timer(struct timer *t);

static void arm_timer(struct h2_stream *st)
{
    struct loop *loop = st->h2->c->srv->loop;
    uint64_t left = patience(st);
    if (http_out_is_over(&st->base))
        return;
    if (left == UINT64_MAX)
        timer_stop(loop, &st->timer);
    else if (!timer_is_armed(&st->timer))
        timer_start(loop, &st->timer, left, on_stream_timer);
}

static void on_linger(struct timer *t)
{
    struct h2_stream *st = container_of(t, struct h2_stream, timer);
    (void)nghttp2_submit_rst_stream(st->h2->ng, NGHTTP2_FLAG_NONE, st->id, NGHTTP2_NO_ERROR);
    stream_kick(&st->h2->c->s);
}

static void on_stream_timer(struct timer *t)
{
    struct h2_stream *st = container_of(t, struct h2_stream, timer);
    struct conn *c = st->h2->c;
    assert(list_is_linked(&st->node));
    if (http_out_is_over(&st->base) || patience(st) > 0) {
        arm_timer(st);
        return;
    }
    if (st->in == IN_HEAD) /* no other frame may precede the end of the head */
        stream_fail(&c->s, -ETIMEDOUT, "request head not complete in time");
    else if (waiting(st) && left_of(st->sent_ms, c->srv->write_stall_ms, now_ms(st->h2)) == 0)
        reset(st, -ETIMEDOUT, NGHTTP2_CANCEL);
    else
        request_failed(st, 408, -ETIMEDOUT, "request body stopped");
    stream_kick(&c->s);
}

/* ------------------------------------------------------------------ from nghttp2: a request */

static void refuse(struct h2_stream *st, int status, const char *why)
{
    if (st->refuse)
        return;
    st->refuse = status;
    st->refuse_why = why;
}

static int on_begin_headers(nghttp2_session *ng, const nghttp2_frame *frame, void *arg)
{
    struct h2 *h2 = arg;
    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    struct h2_stream *st = stream_new(h2, frame->hd.stream_id);
    (void)nghttp2_session_set_stream_user_data(ng, st->id, st);
    /* All streams have the same priority and take turns. */
    const nghttp2_extpri alike = { .urgency = NGHTTP2_EXTPRI_DEFAULT_URGENCY, .inc = 1 };
    (void)nghttp2_session_change_extpri_stream_priority(ng, st->id, &alike, 1);
    note(st);
    return 0;
}

static void take_pseudo(struct h2_stream *st, struct str name, struct str value)
{
    if (str_is(name, ":method")) {
        if (value.n > METHOD_MAX_BYTES)
            refuse(st, 501, "unknown method");
        else
            memcpy(st->method, value.p, value.n);
    } else if (str_is(name, ":path")) {
        if (buf_add_str(&st->target, value) < 0)
            refuse(st, 414, "request target too long");
    } else if (str_is(name, ":authority")) {
        if (headers_set(&st->headers, STR("host"), value) < 0)
            refuse(st, 400, "malformed authority");
    }
}

/* Add a trailer field. Past the limits the stream is reset. */
static int take_trailer(struct h2_stream *st, struct str name, struct str value)
{
    st->trailer_bytes += name.n + value.n + 4;
    if (http_out_is_over(&st->base) || !http_is_trailer(name))
        return 0;
    if (st->trailer_bytes > HTTP_TRAILERS_MAX_BYTES ||
        headers_add(&st->got_trailers, name, value) < 0)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    return 0;
}

static int on_header(nghttp2_session *ng, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_n, const uint8_t *value, size_t value_n, uint8_t flags, void *arg)
{
    struct h2_stream *st = nghttp2_session_get_stream_user_data(ng, frame->hd.stream_id);
    struct str key = str_n((const char *)name, name_n), text = str_n((const char *)value, value_n);
    if (!st)
        return 0;
    if (st->in != IN_HEAD)
        return take_trailer(st, key, text);
    st->head_bytes += name_n + value_n + 4;
    if (st->head_bytes > HTTP_HEAD_MAX_BYTES) {
        refuse(st, 431, "request head too large");
        return st->head_bytes > HEAD_SKIP_BYTES ? NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE : 0;
    }
    if (key.n && key.p[0] == ':') {
        take_pseudo(st, key, text);
        return 0;
    }
    if (str_is(key, "host") && headers_get(&st->headers, "host").p)
        return 0; /* :authority comes first */
    int r = headers_add(&st->headers, key, text);
    if (r == -EMSGSIZE)
        refuse(st, 431, "too many header fields");
    else if (r < 0)
        refuse(st, 400, "malformed header field");
    return 0;
}

static void check_request(struct h2_stream *st)
{
    struct str t = buf_str(&st->target), expect = headers_get(&st->headers, "expect");
    if (strcmp(st->method, "CONNECT") == 0)
        refuse(st, 501, "CONNECT is not supported");
    else if (!str_has_prefix(t, STR("/")) &&
             !(str_is(t, "*") && strcmp(st->method, "OPTIONS") == 0))
        refuse(st, 400, "malformed request target");
    else if (expect.p && !str_ieq(expect, STR("100-continue")))
        refuse(st, 417, "unknown expectation");
}

static void begin_request(struct h2_stream *st, bool ends)
{
    struct conn *c = st->h2->c;
    assert(st->in == IN_HEAD && st->base.out == HTTP_OUT_NONE);
    uint64_t length;
    struct str declared = headers_get(&st->headers, "content-length");
    if (ends)
        length = 0;
    else if (!declared.p || parse_u64(declared, 0, UINT64_MAX - 1, &length) < 0)
        length = UINT64_MAX;
    check_request(st);
    st->base.req = (struct http_request){
        .method = str_of(st->method),
        .target = buf_str(&st->target),
        .headers = &st->headers,
        .has_body = !ends,
        .http2 = true,
        .content_length = length,
        .peer = str_of(c->peer),
    };
    st->base.is_head = strcmp(st->method, "HEAD") == 0;
    st->continue_owed = !ends && headers_get(&st->headers, "expect").p;
    move_in(st, ends ? IN_DONE : IN_BODY);
    if (st->refuse)
        http_exchange_refuse(&st->base, st->refuse, st->refuse_why);
    else
        c->srv->on_request(&st->base, &st->base.req, c->srv->arg);
}

static int on_data_chunk(nghttp2_session *ng, uint8_t flags, int32_t id, const uint8_t *p, size_t n,
                         void *arg)
{
    struct h2_stream *st = nghttp2_session_get_stream_user_data(ng, id);
    if (!st) {
        (void)nghttp2_session_consume(ng, id, n);
        return 0;
    }
    st->active_ms = now_ms(st->h2);
    st->continue_owed = false;
    if (http_out_is_over(&st->base)) { /* answered; its window stays closed */
        (void)nghttp2_session_consume_connection(ng, n);
        return 0;
    }
    bool unwanted = st->base.body == HTTP_BODY_ENDED;
    if (!unwanted && (!http_body_is_wanted(&st->base) || st->held.n)) {
        if (buf_add(&st->held, p, n) < 0) /* bounded by the windows */
            return NGHTTP2_ERR_CALLBACK_FAILURE;
        return 0;
    }
    if (!unwanted)
        deliver(st, str_n((const char *)p, n));
    consumed(st, n);
    note(st);
    return 0;
}

static void body_complete(struct h2_stream *st)
{
    move_in(st, IN_DONE);
    if (st->got_trailers.n)
        st->base.request_trailers = &st->got_trailers;
    note(st); /* the end is reported there, after the held body */
}

/* ------------------------------------------------------------------ from nghttp2: frames */

static void say_goodbye(struct h2 *h2)
{
    if (h2->at == H2_GOODBYE)
        return;
    move(h2, H2_GOODBYE);
    (void)nghttp2_submit_goaway(h2->ng, NGHTTP2_FLAG_NONE,
                                nghttp2_session_get_last_proc_stream_id(h2->ng), NGHTTP2_NO_ERROR,
                                NULL, 0);
}

static int on_frame(nghttp2_session *ng, const nghttp2_frame *frame, void *arg)
{
    struct h2 *h2 = arg;
    struct h2_stream *st = nghttp2_session_get_stream_user_data(ng, frame->hd.stream_id);
    bool ack = frame->hd.flags & NGHTTP2_FLAG_ACK, ends = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    switch (frame->hd.type) {
    case NGHTTP2_HEADERS:
        if (st && st->in == IN_HEAD)
            begin_request(st, ends);
        else if (st && st->in == IN_BODY && ends)
            body_complete(st);
        break;
    case NGHTTP2_DATA:
        if (st && st->in == IN_BODY && ends)
            body_complete(st);
        else if (frame->hd.length == 0)
            count_chatter(h2);
        break;
    case NGHTTP2_PING:
        if (ack && h2_ping_is_ours(&frame->ping))
            break; /* counted when its bytes arrived */
        if (ack && h2->at != H2_SERVING)
            say_goodbye(h2); /* requests in flight at the notice have arrived */
        else
            count_ping(h2);
        break;
    case NGHTTP2_SETTINGS:
        if (!ack)
            count_chatter(h2);
        break;
    case NGHTTP2_PRIORITY:
        count_chatter(h2);
        break;
    case NGHTTP2_RST_STREAM:
        count_reset(h2);
        break;
    }
    return 0;
}

static int on_frame_sent(nghttp2_session *ng, const nghttp2_frame *frame, void *arg)
{
    struct h2 *h2 = arg;
    if (frame->hd.type == NGHTTP2_RST_STREAM) {
        if (frame->rst_stream.error_code != NGHTTP2_NO_ERROR)
            count_reset(h2);
        return 0;
    }
    bool moves = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    bool ends = moves && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM);
    h2->moved |= moves;
    struct h2_stream *st = nghttp2_session_get_stream_user_data(ng, frame->hd.stream_id);
    if (!ends || !st)
        return 0;
    bool whole = http_out_has_ended(&st->base) && st->gone_result == 0;
    tell_gone(st, whole ? 0 : st->gone_result < 0 ? st->gone_result : -ECONNRESET);
    timer_stop(h2->c->srv->loop, &st->timer);
    /*
     * The rest of the request is not needed (RFC 9113 section 8.1). An immediate reset would be
     * correct, but some clients then lose the response.
     */
    if (st->in == IN_BODY)
        timer_start(h2->c->srv->loop, &st->timer, LINGER_MS, on_linger);
    return 0;
}

static int on_stream_close(nghttp2_session *ng, int32_t id, uint32_t code, void *arg)
{
    struct h2 *h2 = arg;
    struct h2_stream *st = nghttp2_session_get_stream_user_data(ng, id);
    if (!st)
        return 0;
    stream_free(st, st->gone_result < 0 ? st->gone_result : -ECONNRESET);
    if (h2->n_streams == 0)
        http_conn_rest(h2->c);
    return 0;
}

/* ------------------------------------------------------------------ to the wire */

static int on_send_data(nghttp2_session *ng, nghttp2_frame *frame, const uint8_t *head, size_t n,
                        nghttp2_data_source *source, void *arg)
{
    struct h2 *h2 = arg;
    struct h2_stream *st = source->ptr;
    struct stream *s = &h2->c->s;
    assert(n <= waiting(st) && n <= h2->out_bytes);
    int r = h2_send_data(s, head, st->q.p + st->q_at, n);
    st->q_at += n;
    h2->out_bytes -= n;
    st->sent_bytes += n;
    if (st->sent_bytes >= STREAM_STALL_MIN_BYTES) {
        st->sent_ms = now_ms(h2);
        st->sent_bytes = 0;
    }
    if (waiting(st) == 0) {
        buf_fini(&st->q); /* an idle stream holds no memory */
        st->q_at = 0;
    }
    if (st->writable_owed || timer_is_armed(&st->timer))
        note(st);
    return r;
}

/* ------------------------------------------------------------------ turns */

static void tell_writable(struct h2_stream *st)
{
    if (!st->writable_owed || st->base.out != HTTP_OUT_OPEN ||
        waiting(st) > STREAM_OUT_LOW_BYTES / 2)
        return;
    st->writable_owed = false;
    if (st->base.ops->on_writable)
        st->base.ops->on_writable(&st->base);
}

/* Continue a stream: run pending callbacks of its handler, arm its timer. */
static void step(struct h2_stream *st)
{
    if (!http_out_is_over(&st->base)) {
        if (st->body_result < 0 && st->base.body != HTTP_BODY_ENDED)
            request_failed(st, 413, st->body_result, "request body too large");
        if (st->held.n && (http_body_is_wanted(&st->base) || st->base.body == HTTP_BODY_ENDED))
            deliver_held(st);
        if (st->in == IN_DONE && http_body_is_wanted(&st->base) && !st->held.n)
            http_exchange_end_body(&st->base, 0);
        tell_writable(st);
    }
    arm_timer(st);
}

/* Handlers do not free streams, they only ask nghttp2 to end them. */
static void run_todo(struct h2 *h2)
{
    struct list todo, *node;
    list_move_all(&h2->todo, &todo);
    while ((node = list_pop_front(&todo)))
        step(list_entry(node, struct h2_stream, todo));
}

static void h2_lost(struct conn *c, int r)
{
    struct h2 *h2 = c->h2;
    while (h2 && !list_is_empty(&h2->streams))
        stream_free(list_first(&h2->streams, struct h2_stream, node), r);
}

static void h2_settled(struct conn *c)
{
    struct h2 *h2 = c->h2;
    h2_pump(h2->ng, &h2->c->s);
    run_todo(h2);
    h2_pump(h2->ng, &h2->c->s); /* write the results: responses and window updates */
    if (stream_is_over(&c->s))
        return;
    if (h2->at == H2_FINISHING && h2->n_streams == 0) {
        say_goodbye(h2);
        h2_pump(h2->ng, &h2->c->s);
    }
    bool over = !nghttp2_session_want_read(h2->ng) && !nghttp2_session_want_write(h2->ng);
    if (over ||
        (h2->at == H2_GOODBYE && h2->n_streams == 0 && !nghttp2_session_want_write(h2->ng))) {
        h2_lost(c, -ECONNRESET);
        http_conn_busy(c);
        http_conn_retire(c);
    }
}

/* ------------------------------------------------------------------ connections */

static nghttp2_session *session_new(struct h2 *h2)
{
    nghttp2_session_callbacks *cb = h2_callbacks_new();
    nghttp2_session_callbacks_set_send_data_callback(cb, on_send_data);
    nghttp2_session_callbacks_set_on_begin_headers_callback(cb, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(cb, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(cb, on_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb, on_data_chunk);
    nghttp2_session_callbacks_set_on_frame_send_callback(cb, on_frame_sent);
    nghttp2_session_callbacks_set_on_stream_close_callback(cb, on_stream_close);
    return h2_session_new(true, cb, h2);
}

static void h2_open(struct conn *c)
{
    static const nghttp2_settings_entry settings[] = {
        { NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, STREAMS_MAX },
        { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW_BYTES },
        { NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HTTP_HEAD_MAX_BYTES },
        { NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1 },
    };
    struct h2 *h2 = xnew(struct h2);
    h2->c = c;
    c->h2 = h2;
    list_init(&h2->streams);
    list_init(&h2->todo);
    h2->ng = session_new(h2);
    (void)nghttp2_submit_settings(h2->ng, NGHTTP2_FLAG_NONE, settings, ARRAY_LEN(settings));
    (void)nghttp2_session_set_local_window_size(h2->ng, NGHTTP2_FLAG_NONE, 0,
                                                CONNECTION_WINDOW_BYTES);
    h2_ping_init(&h2->ping, &c->s, h2->ng, c->srv->ping_ms, 0);
    http_conn_rest(c);
    if (c->srv->at >= HTTP_SERVER_DRAINING)
        move(h2, H2_FINISHING);
}

static void h2_release(struct conn *c)
{
    struct h2 *h2 = c->h2;
    c->h2 = NULL;
    if (!h2)
        return;
    assert(h2->n_streams == 0 && !timer_is_armed(&h2->ping.timer));
    nghttp2_session_del(h2->ng);
    free(h2);
}

static size_t h2_data(struct conn *c, const char *p, size_t n)
{
    h2_ping_heard(&c->h2->ping);
    ssize_t r = nghttp2_session_mem_recv(c->h2->ng, (const uint8_t *)p, n);
    if (r < 0)
        stream_fail(&c->s, E_PARSE, nghttp2_strerror((int)r));
    else if (nghttp2_session_get_outbound_queue_size(c->h2->ng) > FRAMES_WAIT_MAX &&
             stream_pending(&c->s) >= H2_WIRE_BYTES)
        stream_fail(&c->s, E_LIMIT, "too many frames wait for a peer that does not read");
    stream_kick(&c->s);
    return n;
}

static void h2_eof(struct conn *c)
{
    h2_lost(c, -ECONNRESET);
    stream_close(&c->s);
}

/* End an idle connection with GOAWAY. */
static void h2_expire(struct conn *c)
{
    http_conn_busy(c);
    say_goodbye(c->h2);
    h2_pump(c->h2->ng, &c->h2->c->s);
    http_conn_retire(c);
}

/*
 * Requests may be in flight: they are still accepted until the answer to our PING shows that the
 * peer has seen the notice (RFC 9113 section 6.8).
 */
static void h2_finish(struct conn *c)
{
    struct h2 *h2 = c->h2;
    if (h2->n_streams == 0) {
        h2_expire(c);
        return;
    }
    if (h2->at == H2_SERVING)
        move(h2, H2_FINISHING);
    (void)nghttp2_submit_shutdown_notice(h2->ng);
    (void)nghttp2_submit_ping(h2->ng, NGHTTP2_FLAG_NONE, NULL);
    stream_kick(&c->s);
}

static void h2_cut(struct conn *c)
{
    if (c->h2->n_streams == 0)
        stream_close(&c->s);
    else
        stream_fail(&c->s, -ECANCELED, "server closes");
}

const struct conn_kind http2_kind = {
    .open = h2_open,
    .data = h2_data,
    .eof = h2_eof,
    .settled = h2_settled,
    .finish = h2_finish,
    .cut = h2_cut,
    .expire = h2_expire,
    .lost = h2_lost,
    .release = h2_release,
};
