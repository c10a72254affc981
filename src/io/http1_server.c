/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections that speak HTTP/1.1: one request and its response after the other. How to read it:
 * http_server.c passes bytes to h1_data() and calls h1_settled() after each batch; these two drive
 * all states. Calls of the handler only record and kick the stream.
 *
 * The request:
 *
 *     HEAD --head--> BODY --end--> DONE      (HEAD -> DONE without a body)
 *                                  DONE --http_upgrade()--> TUNNEL --eof--> DONE
 *
 * The response is enum http_out; after it is sent, its state is HTTP_OUT_GONE. DONE and GONE
 * together end the exchange; in GONE before DONE the rest of the body is discarded, up to
 * HTTP_DISCARD_MAX_BYTES. One exchange at a time: pipelined requests wait in the stream.
 *
 * An idle connection is a struct conn and nothing else. The first byte of a request attaches a
 * struct h1_exchange, which holds parser, fields and buffers; at the end of the exchange it returns
 * to the server's spares.
 */
#include "io/http_parse.h"
#include "io/http_server_int.h"
#include "io/http_text.h"

#include <errno.h>
#include <stdio.h>

enum {
    SPARES_MAX = 64, /* exchanges kept for reuse, under load */
    SPARES_AT_REST = 8,
    SPARE_MAX_BYTES = 8 << 10, /* one with larger buffers is freed instead */
    WATCH_READ_BYTES = 4096 /* while a handler runs: bounds what a pipelining peer makes us hold */
};

enum http1_server_in_state { IN_HEAD, IN_BODY, IN_DONE, IN_TUNNEL } __attribute__((packed));

struct h1_exchange {
    struct http_exchange base;
    struct list node; /* srv->spares */
    enum http1_server_in_state in;
    bool body_resumed;  /* since the last turn */
    bool continue_owed; /* the client waits for 100 before it sends the body */
    bool writable_owed; /* the handler waits for on_writable() */
    bool half_closed;   /* the client has ended its direction after the request */
    int body_result;
    struct timer timer;
    uint64_t active_ms; /* last byte from the peer */
    uint64_t body_max, body_seen, discarded;
    struct body_pace pace;
    uint64_t out_left; /* bytes the handler still owes of a body with a length */
    int gone_result;
    struct http_parse parse; /* last: reused by the next exchange */
};

static struct h1_exchange *of(const struct http_exchange *base)
{
    return container_of(base, struct h1_exchange, base);
}

static const struct sm_state in_table[] = {
    [IN_HEAD] = { "head", EDGE(IN_BODY) | EDGE(IN_DONE) },
    [IN_BODY] = { "body", EDGE(IN_DONE) },
    [IN_DONE] = { "done", EDGE(IN_TUNNEL) },
    [IN_TUNNEL] = { "tunnel", EDGE(IN_DONE) },
};

static void move_in(struct h1_exchange *x, enum http1_server_in_state to)
{
    assert(sm_is_edge(in_table, x->in, to));
    x->in = to;
}

static const struct exchange_kind h1_exchange_kind;

/* ------------------------------------------------------------------ exchanges */

static struct h1_exchange *exchange_new(struct conn *c)
{
    struct http_server *srv = c->srv;
    assert(!c->x && c->at == CONN_SPEAKING);
    struct list *spare = list_pop_front(&srv->spares);
    struct h1_exchange *x =
        spare ? list_entry(spare, struct h1_exchange, node) : xnew(struct h1_exchange);
    assert((srv->n_spares > 0) == (spare != NULL));
    srv->n_spares -= spare != NULL;
    memset(x, 0, offsetof(struct h1_exchange, parse));
    http_exchange_init(&x->base, &h1_exchange_kind, c);
    http_parse_reset(&x->parse, HTTP_REQUEST);
    x->active_ms = loop_now_ms(srv->loop);
    c->x = x;
    return x;
}

/* No deadline of the exchange counts any more: a retired connection has its own. */
static void retire(struct conn *c)
{
    struct h1_exchange *x = c->x;
    if (x)
        timer_stop(c->srv->loop, &x->timer);
    http_conn_retire(c);
}

static void exchange_free(struct h1_exchange *x)
{
    http_parse_fini(&x->parse);
    free(x);
}

static void exchange_recycle(struct h1_exchange *x)
{
    struct http_server *srv = x->base.c->srv;
    assert(x->base.c->x == x && x->base.out == HTTP_OUT_GONE);
    x->base.c->x = NULL;
    timer_stop(srv->loop, &x->timer);
    http_exchange_fini(&x->base);
    size_t bytes =
        x->parse.headers.cap + x->parse.target.cap + x->parse.field.cap + x->parse.trailers.cap;
    if (srv->n_spares >= SPARES_MAX || bytes > SPARE_MAX_BYTES || srv->at == HTTP_SERVER_CLOSING) {
        exchange_free(x);
        return;
    }
    list_push_front(&srv->spares, &x->node);
    srv->n_spares++;
}

static void exchange_gone(struct h1_exchange *x, int r)
{
    assert(r <= 0);
    if (http_out_is_over(&x->base))
        return;
    bool had_request = x->in != IN_HEAD;
    http_exchange_end_body(&x->base, r == 0 ? -ECANCELED : r);
    http_exchange_move_out(&x->base, HTTP_OUT_GONE);
    if (had_request && x->base.ops->on_gone)
        x->base.ops->on_gone(&x->base, r);
}

static bool is_body_wanted_now(const struct h1_exchange *x)
{
    return http_out_is_over(&x->base) || http_body_is_wanted(&x->base);
}

/* ------------------------------------------------------------------ answering */

static void add_framing(struct h1_exchange *x, struct buf *head, int status, uint64_t body_n)
{
    bool old = x->parse.ll.http_minor == 0;
    bool has_length = body_n != HTTP_CHUNKED && status >= 200 && status != 204;
    if (has_length) {
        (void)buf_add_cstr(head, "content-length: ");
        (void)buf_add_u64_dec(head, body_n);
        (void)buf_add_cstr(head, "\r\n");
    } else if (x->base.framing == HTTP_FRAMING_CHUNKED) {
        (void)buf_add_cstr(head, "transfer-encoding: chunked\r\n");
    }
    if (x->base.c->close_after)
        (void)buf_add_cstr(head, "connection: close\r\n");
    else if (old)
        (void)buf_add_cstr(head, "connection: keep-alive\r\n");
}

static enum http_framing framing_of(const struct h1_exchange *x, int status, uint64_t body_n)
{
    if (http_exchange_is_bodyless(&x->base, status))
        return HTTP_FRAMING_NONE;
    if (body_n != HTTP_CHUNKED)
        return HTTP_FRAMING_LENGTH;
    return x->parse.ll.http_minor > 0 ? HTTP_FRAMING_CHUNKED : HTTP_FRAMING_CLOSE;
}

static void h1_respond(struct http_exchange *base, int status, const struct headers *headers,
                       uint64_t body_n)
{
    struct h1_exchange *x = of(base);
    if (http_out_is_closed(base))
        return;
    struct conn *c = x->base.c;
    base->framing = framing_of(x, status, body_n);
    x->out_left = base->framing == HTTP_FRAMING_LENGTH ? body_n : 0;
    if (!x->parse.keep_alive || x->continue_owed || base->framing == HTTP_FRAMING_CLOSE ||
        c->srv->at >= HTTP_SERVER_DRAINING ||
        (headers && headers_has_token(headers, "connection", "close")))
        c->close_after = true;
    http_exchange_move_out(&x->base, HTTP_OUT_OPEN);

    struct buf *head = &c->s.out;
    http_reserve_head(head, headers);
    http_add_status(head, status);
    if (!headers || !headers_get(headers, "date").p)
        http_add_date(head);
    http_add_fields(head, headers);
    add_framing(x, head, status, body_n);
    (void)buf_add_cstr(head, "\r\n");
    stream_kick(&c->s);
}

static bool h1_write(struct http_exchange *base, struct str chunk)
{
    struct h1_exchange *x = of(base);
    if (http_out_is_closed(base))
        return true;
    assert(x->base.out == HTTP_OUT_OPEN);
    struct stream *s = &x->base.c->s;
    if (base->framing != HTTP_FRAMING_NONE && chunk.n) {
        if (base->framing == HTTP_FRAMING_CHUNKED) {
            (void)buf_printf(&s->out, "%zx\r\n", chunk.n);
            stream_write(s, chunk);
            stream_write(s, STR("\r\n"));
        } else {
            bool counts = base->framing == HTTP_FRAMING_LENGTH;
            assert(!counts || chunk.n <= x->out_left);
            x->out_left -= counts ? chunk.n : 0;
            stream_write(s, chunk);
        }
    }
    x->writable_owed = stream_pending(s) > HTTP_WRITE_HIGH_BYTES;
    return !x->writable_owed;
}

static size_t h1_pending(const struct http_exchange *base)
{
    const struct h1_exchange *x = of(base);
    return http_out_is_over(&x->base) ? 0 : stream_pending(&x->base.c->s);
}

static void h1_abort(struct http_exchange *base)
{
    struct h1_exchange *x = of(base);
    if (http_out_is_over(&x->base))
        return;
    if (base->framing == HTTP_FRAMING_CLOSE)
        stream_reset(&x->base.c->s); /* a plain end would look complete */
    stream_fail(&x->base.c->s, -ECONNABORTED, "aborted");
}

static void h1_end(struct http_exchange *base)
{
    struct h1_exchange *x = of(base);
    if (http_out_is_closed(base))
        return;
    if (x->out_left) {
        h1_abort(base); /* fewer bytes than promised: only a broken connection tells the peer */
        return;
    }
    if (base->framing == HTTP_FRAMING_CHUNKED) {
        struct buf *out = &x->base.c->s.out;
        (void)buf_add_cstr(out, "0\r\n");
        http_add_trailers(out, &x->base.trailers);
        (void)buf_add_cstr(out, "\r\n");
    }
    http_exchange_move_out(&x->base, HTTP_OUT_ENDED);
    stream_kick(&x->base.c->s);
}

static void h1_inform(struct http_exchange *base, int status, const struct headers *headers)
{
    struct h1_exchange *x = of(base);
    if (x->base.out != HTTP_OUT_NONE || x->parse.ll.http_minor == 0)
        return;
    struct buf *out = &x->base.c->s.out;
    http_add_status(out, status);
    http_add_fields(out, headers);
    (void)buf_add_cstr(out, "\r\n");
    stream_kick(&x->base.c->s);
}

static void h1_upgrade(struct http_exchange *base, const struct headers *headers)
{
    struct h1_exchange *x = of(base);
    if (http_out_is_closed(base))
        return;
    struct conn *c = base->c;
    struct buf *out = &c->s.out;
    assert(x->base.out == HTTP_OUT_NONE && x->in == IN_DONE);
    (void)buf_add_cstr(out, "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\n");
    http_add_fields(out, headers);
    (void)buf_add_cstr(out, "\r\n");
    c->close_after = base->body_may_idle = true;
    base->framing = HTTP_FRAMING_CLOSE;
    base->body_paused = false;
    if (base->body != HTTP_BODY_UNASKED) /* that was the request's body, which is empty */
        http_exchange_move_body(base, HTTP_BODY_UNASKED);
    move_in(x, IN_TUNNEL);
    http_exchange_move_out(&x->base, HTTP_OUT_OPEN);
    stream_kick(&c->s);
}

/*
 * The request cannot be read to its end. Send an error response, unless the handler has begun a
 * response: that one is cut, because it must not look complete.
 */
static void request_failed(struct h1_exchange *x, int status, int r, const char *why)
{
    if (http_out_is_over(&x->base)) {
        retire(x->base.c);
        return;
    }
    assert(r < 0 && status >= 400);
    bool under_way = x->base.out == HTTP_OUT_OPEN;
    x->base.c->close_after = true;
    x->gone_result = r == -EMSGSIZE ? 0 : r;
    http_exchange_end_body(&x->base, r); /* the handler may send its own response */
    if (under_way)
        stream_fail(&x->base.c->s, r, why);
    else
        http_exchange_refuse(&x->base, status, why);
}

/* ------------------------------------------------------------------ the request's body */

static void h1_read_body(struct http_exchange *base, uint64_t max_bytes)
{
    struct h1_exchange *x = of(base);
    if (http_out_is_over(base) || base->body != HTTP_BODY_UNASKED)
        return;
    http_exchange_move_body(base, HTTP_BODY_ASKED);
    x->body_max = max_bytes;
    bool too_long = x->base.req.has_body && x->base.req.content_length != UINT64_MAX &&
                    x->base.req.content_length > max_bytes;
    if (too_long)
        x->body_result = -EMSGSIZE; /* reported on the way back to the loop */
    else if (x->continue_owed) {
        x->continue_owed = false;
        stream_write(&x->base.c->s, STR("HTTP/1.1 100 Continue\r\n\r\n"));
    }
    http_body_pace_start(&x->pace, x->base.c);
    x->active_ms = loop_now_ms(x->base.c->srv->loop);
    stream_resume(&x->base.c->s);
    stream_kick(&x->base.c->s);
}

static void h1_pause_body(struct http_exchange *base)
{
    struct h1_exchange *x = of(base);
    if (http_out_is_over(&x->base) || x->in == IN_DONE)
        return;
    base->body_paused = true;
    stream_pause(&x->base.c->s);
}

static void h1_resume_body(struct http_exchange *base)
{
    struct h1_exchange *x = of(base);
    if (http_out_is_over(base) || !base->body_paused)
        return;
    base->body_paused = false;
    x->body_resumed = true;
    http_body_pace_start(&x->pace, x->base.c);
    x->active_ms = loop_now_ms(x->base.c->srv->loop);
    stream_resume(&x->base.c->s);
}

/* ------------------------------------------------------------------ reading */

static void begin_request(struct h1_exchange *x)
{
    struct conn *c = x->base.c;
    assert(x->in == IN_HEAD && x->base.out == HTTP_OUT_NONE);
    x->base.req = (struct http_request){
        .method = http_parse_method(&x->parse),
        .target = buf_str(&x->parse.target),
        .headers = &x->parse.headers,
        .has_body = x->parse.has_body,
        .upgrade = x->parse.upgrade,
        .content_length = x->parse.content_length,
        .peer = str_of(c->peer),
    };
    x->base.is_head = x->parse.ll.method == HTTP_HEAD;
    x->continue_owed = x->parse.expect_continue;
    move_in(x, x->base.req.has_body ? IN_BODY : IN_DONE);
    c->srv->on_request(&x->base, &x->base.req, c->srv->arg);
}

/* Pass a piece of the body to the handler, if it reads the body. */
static void take_body(struct h1_exchange *x, struct str chunk)
{
    x->continue_owed = false;
    if (http_out_is_over(&x->base) || x->base.body == HTTP_BODY_ENDED) {
        x->discarded += chunk.n;
        if (x->discarded > HTTP_DISCARD_MAX_BYTES)
            retire(x->base.c);
        return;
    }
    assert(http_body_is_wanted(&x->base));
    x->body_seen += chunk.n;
    x->pace.bytes += chunk.n;
    if (x->body_seen > x->body_max) {
        request_failed(x, 413, -EMSGSIZE, "request body too large");
        return;
    }
    if (x->base.ops->on_body)
        x->base.ops->on_body(&x->base, chunk);
}

/* One step of parsing; false: stop for now. */
static bool step(struct h1_exchange *x, const char *p, size_t n, size_t *ret_used)
{
    assert(x->in == IN_HEAD || x->in == IN_BODY);
    int event = http_parse_feed(&x->parse, p, n, ret_used);
    switch (event) {
    case HTTP_EVENT_MORE:
        return false;
    case HTTP_EVENT_HEAD:
        timer_stop(x->base.c->srv->loop, &x->timer);
        begin_request(x);
        return true;
    case HTTP_EVENT_BODY:
        take_body(x, x->parse.chunk);
        return true;
    case HTTP_EVENT_END:
        move_in(x, IN_DONE);
        if (x->parse.trailers.n)
            x->base.request_trailers = &x->parse.trailers;
        timer_stop(x->base.c->srv->loop, &x->timer);
        http_exchange_end_body(&x->base, 0);
        return true;
    }
    *ret_used = n; /* the beginning of a next request is unknown after this */
    bool in_head = x->in == IN_HEAD;
    int status = x->parse.status;
    request_failed(x, status, event, x->parse.error);
    if (in_head && http_out_has_ended(&x->base))
        move_in(x, IN_DONE);
    return false;
}

static size_t exchange_input(struct h1_exchange *x, const char *p, size_t n)
{
    struct conn *c = x->base.c;
    size_t used = 0;
    for (;;) {
        if (x->in == IN_TUNNEL && used < n && is_body_wanted_now(x)) {
            take_body(x, str_n(p + used, n - used));
            return n;
        }
        if (x->in == IN_TUNNEL || x->in == IN_DONE || (x->in == IN_BODY && !is_body_wanted_now(x)))
            return used;
        if (x->in == IN_HEAD && used == n)
            return used;
        size_t took;
        bool more = step(x, p + used, n - used, &took);
        used += took;
        if (c->at == CONN_LINGERING || stream_is_over(&c->s))
            return n;
        if (!more)
            return used;
    }
}

/* ------------------------------------------------------------------ callbacks of the handler */

static void tell_writable(struct h1_exchange *x)
{
    assert(x->base.c->x == x);
    bool enough = stream_pending(&x->base.c->s) <= HTTP_WRITE_HIGH_BYTES / 4;
    if (!x->writable_owed || x->base.out != HTTP_OUT_OPEN || !enough)
        return;
    x->writable_owed = false;
    if (x->base.ops->on_writable)
        x->base.ops->on_writable(&x->base);
}

static void exchange_settle(struct h1_exchange *x)
{
    if (x->body_result < 0 && x->base.body != HTTP_BODY_ENDED)
        request_failed(x, 413, x->body_result, "request body too large");
    else if (x->base.body == HTTP_BODY_ASKED && x->in == IN_DONE)
        http_exchange_end_body(&x->base, 0);
    else if (x->body_resumed && x->in == IN_BODY && !stream_has_held(&x->base.c->s))
        (void)exchange_input(x, "", 0); /* only the end may be left */
    x->body_resumed = false;
    tell_writable(x);
}

/* ------------------------------------------------------------------ time */

/* Whether the peer owes bytes of the body. The rest of an unread body has a deadline even if the
 * body was allowed to be idle. */
static bool is_body_owed(const struct h1_exchange *x)
{
    bool may_idle = x->base.body_may_idle && !http_out_is_over(&x->base);
    return x->in == IN_BODY && is_body_wanted_now(x) && !may_idle;
}

static void on_exchange_timer(struct timer *t)
{
    struct h1_exchange *x = container_of(t, struct h1_exchange, timer);
    struct conn *c = x->base.c;
    uint64_t now = loop_now_ms(c->srv->loop), silent = now - x->active_ms;
    assert(c->x == x && c->at == CONN_SPEAKING && now >= x->active_ms);
    if (x->half_closed) {
        stream_fail(&c->s, -ECONNRESET, "peer closed the connection");
        return;
    }
    if (x->in == IN_TUNNEL) {
        if (silent >= c->srv->half_closed_ms)
            stream_fail(&c->s, -ETIMEDOUT, "peer does not end the tunnel");
        else
            timer_start(c->srv->loop, t, c->srv->half_closed_ms - silent, on_exchange_timer);
        return;
    }
    if (x->in == IN_HEAD) {
        request_failed(x, 408, -ETIMEDOUT, "request head not complete in time");
        move_in(x, IN_DONE);
        stream_kick(&c->s);
        return;
    }
    if (!is_body_owed(x))
        return;
    if (silent < c->srv->body_idle_ms && !http_body_pace_is_too_slow(&x->pace, c)) {
        timer_start(c->srv->loop, t, c->srv->body_idle_ms - silent, on_exchange_timer);
        return;
    }
    request_failed(x, 408, -ETIMEDOUT, "request body stopped");
    stream_kick(&c->s);
}

static void arm_timer(struct h1_exchange *x)
{
    struct http_server *srv = x->base.c->srv;
    if (timer_is_armed(&x->timer))
        return;
    if (x->half_closed && !http_out_is_over(&x->base))
        timer_start(srv->loop, &x->timer, srv->half_closed_ms, on_exchange_timer);
    else if (x->in == IN_TUNNEL && http_out_has_ended(&x->base))
        timer_start(srv->loop, &x->timer, srv->half_closed_ms, on_exchange_timer);
    else if (x->in == IN_HEAD)
        timer_start(srv->loop, &x->timer, srv->head_timeout_ms, on_exchange_timer);
    else if (is_body_owed(x))
        timer_start(srv->loop, &x->timer, srv->body_idle_ms, on_exchange_timer);
}

static const struct exchange_kind h1_exchange_kind = {
    .respond = h1_respond,
    .write = h1_write,
    .pending = h1_pending,
    .end = h1_end,
    .abort = h1_abort,
    .inform = h1_inform,
    .upgrade = h1_upgrade,
    .read_body = h1_read_body,
    .pause_body = h1_pause_body,
    .resume_body = h1_resume_body,
};

/* ------------------------------------------------------------------ connections */

static void h1_open(struct conn *c)
{
    (void)exchange_new(c);
}

static size_t h1_data(struct conn *c, const char *p, size_t n)
{
    if (!c->x) {
        (void)exchange_new(c);
        http_conn_busy(c);
    }
    c->x->active_ms = loop_now_ms(c->srv->loop);
    return exchange_input(c->x, p, n);
}

static void h1_eof(struct conn *c)
{
    struct stream *s = &c->s;
    struct h1_exchange *x = c->x;
    c->close_after = true;
    if (!x || x->in == IN_HEAD) {
        if (x)
            exchange_gone(x, -ECONNRESET);
        stream_close(s);
        return;
    }
    if (x->in == IN_TUNNEL) {
        if (s->in == STREAM_IN_ENDED)
            move_in(x, IN_DONE); /* reported in exchange_settle() if the handler reads */
        else
            stream_fail(s, -ECONNRESET, "peer closed the connection");
        return;
    }
    if (http_out_has_ended(&x->base))
        return; /* the written response may still arrive */
    /* A half-closed TCP peer may still want the response; TLS and Unix peers never half-close. */
    if (x->in == IN_DONE && !s->ssl && !s->is_pipe)
        x->half_closed = true;
    else
        stream_fail(s, -ECONNRESET, "peer closed the connection");
}

/* The exchange is over and the connection stays open; a pipelined request may wait in the
 * stream. */
static void rest(struct conn *c)
{
    assert(c->x->in == IN_DONE && c->x->base.out == HTTP_OUT_GONE);
    exchange_recycle(c->x);
    c->s.read_max = 0;
    http_conn_rest(c);
    stream_resume(&c->s);
}

/* The whole response was written. */
static void after_response(struct conn *c)
{
    struct h1_exchange *x = c->x;
    assert(http_out_has_ended(&x->base) && stream_pending(&c->s) == 0);
    exchange_gone(x, x->gone_result);
    if (x->gone_result < 0 || x->continue_owed)
        c->close_after = true;
    if (c->close_after) {
        retire(c);
    } else if (x->in == IN_DONE) {
        rest(c);
    } else {
        x->active_ms = loop_now_ms(c->srv->loop);
        stream_resume(&c->s); /* discard the rest of the body */
    }
}

/* The discarded body has ended. The server may have begun to drain meanwhile. */
static void end_discard(struct conn *c)
{
    if (c->close_after)
        retire(c);
    else
        rest(c);
}

static void h1_settled(struct conn *c)
{
    struct h1_exchange *x = c->x;
    if (!x)
        return;
    exchange_settle(x);
    bool written = http_out_has_ended(&x->base) && stream_pending(&c->s) == 0;
    if (written && x->in == IN_TUNNEL && c->s.out_at == STREAM_OUT_OPEN)
        stream_finish(&c->s); /* the peer may still send */
    else if (written && x->in != IN_TUNNEL)
        after_response(c);
    else if (http_out_is_over(&x->base) && x->in == IN_DONE)
        end_discard(c);
    if (c->x) {
        c->s.read_max = c->x->in == IN_DONE ? WATCH_READ_BYTES : 0;
        if (c->at == CONN_SPEAKING)
            arm_timer(c->x);
    }
}

static void h1_lost(struct conn *c, int r)
{
    if (c->x)
        exchange_gone(c->x, r);
}

static void h1_release(struct conn *c)
{
    if (c->x)
        exchange_recycle(c->x);
}

static void h1_finish(struct conn *c)
{
    c->close_after = true;
    if (!c->x)
        stream_close(&c->s);
}

static void h1_cut(struct conn *c)
{
    if (!c->x || http_out_is_over(&c->x->base) || c->x->in == IN_HEAD)
        stream_close(&c->s);
    else
        stream_fail(&c->s, -ECANCELED, "server closes");
}

static void h1_expire(struct conn *c)
{
    http_conn_busy(c);
    retire(c);
}

const struct conn_kind http1_kind = {
    .open = h1_open,
    .data = h1_data,
    .eof = h1_eof,
    .settled = h1_settled,
    .lost = h1_lost,
    .release = h1_release,
    .finish = h1_finish,
    .cut = h1_cut,
    .expire = h1_expire,
};

void http1_trim_spares(struct http_server *srv, bool all)
{
    assert((srv->n_spares == 0) == list_is_empty(&srv->spares));
    while (srv->n_spares > (all ? 0 : SPARES_AT_REST)) {
        srv->n_spares--;
        exchange_free(list_entry(list_pop_front(&srv->spares), struct h1_exchange, node));
    }
}
