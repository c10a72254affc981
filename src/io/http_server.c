/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP/1.1 server; see http.h. How to read it: stream.c calls on_data() with bytes and on_settled()
 * after each batch; these two move everything. Calls of the handler only record and kick the
 * stream.
 *
 * A connection at rest is a struct conn and nothing else. When the first byte of a request comes it
 * gets a struct http_exchange, which holds parser, fields and buffers, and goes back to the
 * server's spares.
 *
 *     in:   HEAD --head--> BODY --end--> DONE            (HEAD -> DONE without a body)
 *     out:  NONE --http_respond()--> OPEN --http_end()--> ENDED --all written--> GONE (on_gone has
 * run)
 *
 * DONE and GONE together end the exchange; GONE before DONE discards what is left of the body, up
 * to HTTP_DISCARD_MAX_BYTES. One exchange at a time: pipelined requests wait in the stream.
 */
#include "io/http.h"

#include "base/log.h"
#include "base/sm.h"
#include "io/http_parse.h"
#include "io/http_text.h"
#include "io/stream.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    SPARES_MAX = 32,           /* exchanges kept for reuse */
    SPARE_MAX_BYTES = 8 << 10, /* one whose buffers grew larger is released instead */
    LINGER_MS = 2000,          /* for the peer to read our last words before the connection goes */
    LINGER_MAX_BYTES = 256 << 10, /* of its own words, which nobody reads */
    BACKLOG = 1024,
    WATCH_READ_BYTES =
        4096 /* per read while a handler works: what a pipelining peer can make us hold */
};

enum in_state { IN_HEAD, IN_BODY, IN_DONE };
enum out_state { OUT_NONE, OUT_OPEN, OUT_ENDED, OUT_GONE };

static const struct sm_state in_table[] = {
    [IN_HEAD] = { "head", EDGE(IN_BODY) | EDGE(IN_DONE) },
    [IN_BODY] = { "body", EDGE(IN_DONE) },
    [IN_DONE] = { "done", 0 },
};
static const struct sm_state out_table[] = {
    [OUT_NONE] = { "none", EDGE(OUT_OPEN) | EDGE(OUT_GONE) },
    [OUT_OPEN] = { "open", EDGE(OUT_ENDED) | EDGE(OUT_GONE) },
    [OUT_ENDED] = { "ended", EDGE(OUT_GONE) },
    [OUT_GONE] = { "gone", 0 },
};

struct http_server {
    struct loop *loop;
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } listener;
    bool is_pipe, listening, accept_waits, closing;
    char *unix_path;
    struct tls_ctx *tls;
    void (*on_request)(struct http_exchange *x, const struct http_request *req, void *arg);
    void *arg;
    uint64_t head_timeout_ms, body_idle_ms, keepalive_ms, write_stall_ms, half_closed_ms;
    size_t connections_max;
    struct list idle; /* struct conn by idle_since, the oldest first */
    struct list busy;
    size_t n_conns;
    struct timer idle_timer; /* armed only while `idle` has someone */
    struct list spares;      /* struct http_exchange */
    size_t n_spares;
    struct timer grace;
    void (*done)(void *arg);
    void *done_arg;
};

struct conn {
    struct stream s;
    struct http_server *srv;
    struct list node; /* srv->idle or srv->busy */
    uint64_t idle_since;
    struct http_exchange *x;
    bool close_after; /* no further request on this connection */
    bool lingering;
    size_t lingered;
    struct timer linger;
    char peer[INET6_ADDRSTRLEN + 8];
};

struct http_exchange {
    struct conn *c;
    struct list node; /* srv->spares */
    struct sm in, out;
    struct http_parse parse;
    struct http_request req;
    const struct http_exchange_ops *ops;
    void *data;
    struct timer timer;
    uint64_t active_ms; /* last byte from the peer */
    bool got_byte;

    bool body_wanted, body_paused, body_resumed,
        body_ended;     /* ended: on_body_end() has run, or never will */
    bool continue_owed; /* the client waits for 100 before it sends the body */
    int body_result;
    uint64_t body_max, body_seen, discarded;

    bool is_head, chunked, writable_owed, half_closed, server_replied;
    bool close_delimited; /* HTTP/1.0: the end of the connection ends the body */
    uint64_t out_left;    /* bytes the handler still owes of a counted body */
    int gone_result;
};

static void conn_retire(struct conn *c);
static void arm_timer(struct http_exchange *x);

/* ------------------------------------------------------------------ exchanges */

static struct http_exchange *exchange_new(struct conn *c)
{
    struct http_server *srv = c->srv;
    struct list *spare = list_pop_front(&srv->spares);
    struct http_exchange *x =
        spare ? list_entry(spare, struct http_exchange, node) : xnew(struct http_exchange);
    srv->n_spares -= spare != NULL;
    static const struct http_exchange_ops no_ops;
    struct http_parse parse = x->parse;
    *x = (struct http_exchange){ .c = c, .parse = parse, .ops = &no_ops };
    http_parse_reset(&x->parse, HTTP_REQUEST);
    sm_init(&x->in, in_table, IN_HEAD);
    sm_init(&x->out, out_table, OUT_NONE);
    x->active_ms = loop_now_ms(srv->loop);
    c->x = x;
    return x;
}

static void exchange_free(struct http_exchange *x)
{
    http_parse_fini(&x->parse);
    free(x);
}

static void exchange_recycle(struct http_exchange *x)
{
    struct http_server *srv = x->c->srv;
    x->c->x = NULL;
    timer_stop(srv->loop, &x->timer);
    size_t bytes = x->parse.headers.cap + x->parse.target.cap + x->parse.field.cap;
    if (srv->n_spares >= SPARES_MAX || bytes > SPARE_MAX_BYTES || srv->closing) {
        exchange_free(x);
        return;
    }
    list_push_back(&srv->spares, &x->node);
    srv->n_spares++;
}

static void end_body(struct http_exchange *x, int r)
{
    if (x->body_ended)
        return;
    x->body_ended = true;
    if (x->body_wanted && x->ops->on_body_end)
        x->ops->on_body_end(x, r);
}

/* The handler's last callbacks. Idempotent. */
static void exchange_gone(struct http_exchange *x, int r)
{
    if (x->out.at == OUT_GONE)
        return;
    bool had_request = x->in.at != IN_HEAD;
    end_body(x, r == 0 ? -ECANCELED : r);
    sm_move(&x->out, OUT_GONE);
    if (had_request && x->ops->on_gone)
        x->ops->on_gone(x, r);
}

static bool is_body_wanted_now(const struct http_exchange *x)
{
    return x->out.at == OUT_GONE || (x->body_wanted && !x->body_paused && !x->body_ended);
}

/* ------------------------------------------------------------------ answering */

static bool is_bodyless(const struct http_exchange *x, int status)
{
    return x->is_head || status < 200 || status == 204 || status == 304;
}

static void add_framing(struct http_exchange *x, struct buf *head, int status, uint64_t body_n)
{
    bool old = x->parse.ll.http_minor == 0;
    bool has_length = body_n != HTTP_CHUNKED && status >= 200 && status != 204;
    if (has_length) {
        (void)buf_add_cstr(head, "content-length: ");
        (void)buf_add_u64_dec(head, body_n);
        (void)buf_add_cstr(head, "\r\n");
    } else if (x->chunked) {
        (void)buf_add_cstr(head, "transfer-encoding: chunked\r\n");
    }
    if (x->c->close_after)
        (void)buf_add_cstr(head, "connection: close\r\n");
    else if (old)
        (void)buf_add_cstr(head, "connection: keep-alive\r\n");
}

void http_respond(struct http_exchange *x, int status, const struct headers *headers,
                  uint64_t body_n)
{
    if (x->out.at == OUT_GONE || x->server_replied)
        return;
    struct conn *c = x->c;
    bool bodyless = is_bodyless(x, status), stream = body_n == HTTP_CHUNKED && !bodyless;
    x->chunked = stream && x->parse.ll.http_minor > 0;
    x->close_delimited = stream && !x->chunked;
    x->out_left = bodyless ? 0 : body_n;
    if (!x->parse.keep_alive || x->continue_owed || x->close_delimited || c->srv->closing ||
        (headers && headers_has_token(headers, "connection", "close")))
        c->close_after = true;
    sm_move(&x->out, OUT_OPEN);

    struct buf *head = &c->s.out;
    (void)buf_printf(head, "HTTP/1.1 %d ", status);
    (void)buf_add_str(head, http_reason(status));
    (void)buf_add_cstr(head, "\r\n");
    if (!headers || !headers_get(headers, "date").p) {
        (void)buf_add_cstr(head, "date: ");
        (void)buf_add_str(head, http_date());
        (void)buf_add_cstr(head, "\r\n");
    }
    http_add_fields(head, headers);
    add_framing(x, head, status, body_n);
    (void)buf_add_cstr(head, "\r\n");
    if (bodyless)
        x->is_head = true; /* from here on: no body bytes */
    stream_kick(&c->s);
}

bool http_write(struct http_exchange *x, struct str chunk)
{
    if (x->out.at == OUT_GONE || x->server_replied)
        return true;
    assert(x->out.at == OUT_OPEN);
    struct stream *s = &x->c->s;
    if (!x->is_head && chunk.n) {
        if (x->chunked) {
            (void)buf_printf(&s->out, "%zx\r\n", chunk.n);
            stream_write(s, chunk);
            stream_write(s, STR("\r\n"));
        } else {
            assert(x->close_delimited || chunk.n <= x->out_left);
            x->out_left -= x->close_delimited ? 0 : chunk.n;
            stream_write(s, chunk);
        }
    }
    x->writable_owed = stream_pending(s) > HTTP_WRITE_HIGH_BYTES;
    return !x->writable_owed;
}

size_t http_write_pending(const struct http_exchange *x)
{
    return x->out.at == OUT_GONE ? 0 : stream_pending(&x->c->s);
}

void http_end(struct http_exchange *x)
{
    if (x->out.at == OUT_GONE || x->server_replied)
        return;
    if (!x->is_head && !x->chunked && !x->close_delimited && x->out_left) {
        http_abort(x); /* fewer bytes than promised: only a broken connection says so */
        return;
    }
    if (x->chunked && !x->is_head)
        stream_write(&x->c->s, STR("0\r\n\r\n"));
    sm_move(&x->out, OUT_ENDED);
    stream_kick(&x->c->s);
}

void http_reply(struct http_exchange *x, int status, const struct headers *headers, struct str body)
{
    if (x->out.at == OUT_GONE || x->server_replied)
        return;
    http_respond(x, status, headers, body.n);
    (void)http_write(x, body);
    http_end(x);
}

void http_abort(struct http_exchange *x)
{
    if (x->out.at == OUT_GONE)
        return;
    if (x->close_delimited)
        stream_reset(&x->c->s); /* else it would look complete */
    stream_fail(&x->c->s, -ECONNABORTED, "aborted");
}

/* What the server itself has to say. The connection ends afterwards. */
static void server_reply(struct http_exchange *x, int status, const char *why)
{
    if (x->out.at != OUT_NONE)
        return;
    char body[128];
    int n = snprintf(body, sizeof body, "%s\n", why);
    struct headers h = { 0 };
    (void)headers_addc(&h, "content-type", "text/plain; charset=utf-8");
    http_reply(x, status, &h, str_n(body, MIN((size_t)n, sizeof body - 1)));
    headers_fini(&h);
    x->server_replied = true;
}

/*
 * The request cannot be read to its end. Say so if nothing has been said yet; a response that is
 * under way cannot be completed in good faith.
 */
static void request_failed(struct http_exchange *x, int status, int r, const char *why)
{
    if (x->out.at == OUT_GONE) {
        conn_retire(x->c);
        return;
    }
    bool under_way = x->out.at == OUT_OPEN;
    x->c->close_after = true;
    x->gone_result = r == -EMSGSIZE ? 0 : r;
    if (x->in.at != IN_HEAD)
        end_body(x, r); /* the handler may answer in its own words */
    else
        x->body_ended = true;
    if (under_way)
        stream_fail(&x->c->s, r, why);
    else
        server_reply(x, status, why);
}

/* ------------------------------------------------------------------ handler's side of the request
 */

void http_exchange_set(struct http_exchange *x, const struct http_exchange_ops *ops, void *data)
{
    x->ops = ops;
    x->data = data;
}

void *http_exchange_data(const struct http_exchange *x)
{
    return x->data;
}

void http_read_body(struct http_exchange *x, uint64_t max_bytes)
{
    if (x->out.at == OUT_GONE || x->body_wanted)
        return;
    x->body_wanted = true;
    x->body_max = max_bytes;
    bool too_long =
        x->req.has_body && x->req.content_length != UINT64_MAX && x->req.content_length > max_bytes;
    if (too_long)
        x->body_result = -EMSGSIZE; /* told on the way back to the loop */
    else if (x->continue_owed) {
        x->continue_owed = false;
        stream_write(&x->c->s, STR("HTTP/1.1 100 Continue\r\n\r\n"));
    }
    x->active_ms = loop_now_ms(x->c->srv->loop);
    stream_resume(&x->c->s);
    stream_kick(&x->c->s);
}

void http_pause_body(struct http_exchange *x)
{
    if (x->out.at == OUT_GONE || x->in.at == IN_DONE)
        return;
    x->body_paused = true;
    stream_pause(&x->c->s);
}

void http_resume_body(struct http_exchange *x)
{
    if (x->out.at == OUT_GONE || !x->body_paused)
        return;
    x->body_paused = false;
    x->body_resumed = true;
    x->active_ms = loop_now_ms(x->c->srv->loop);
    stream_resume(&x->c->s);
}

/* ------------------------------------------------------------------ reading */

static void begin_request(struct http_exchange *x)
{
    struct conn *c = x->c;
    x->req = (struct http_request){
        .method = http_parse_method(&x->parse),
        .target = buf_str(&x->parse.target),
        .headers = &x->parse.headers,
        .has_body = x->parse.has_body,
        .content_length = x->parse.content_length,
        .peer = str_of(c->peer),
    };
    x->is_head = x->parse.ll.method == HTTP_HEAD;
    x->continue_owed = x->parse.expect_continue;
    sm_move(&x->in, x->req.has_body ? IN_BODY : IN_DONE);
    c->srv->on_request(x, &x->req, c->srv->arg);
}

/* A piece of the body to whoever wants it. */
static void take_body(struct http_exchange *x, struct str chunk)
{
    x->continue_owed = false;
    if (x->out.at == OUT_GONE || x->body_ended) {
        x->discarded += chunk.n;
        if (x->discarded > HTTP_DISCARD_MAX_BYTES)
            conn_retire(x->c);
        return;
    }
    x->body_seen += chunk.n;
    if (x->body_seen > x->body_max) {
        request_failed(x, 413, -EMSGSIZE, "request body too large");
        return;
    }
    if (x->ops->on_body)
        x->ops->on_body(x, chunk);
}

/* One step of parsing; false: no more of it now. */
static bool step(struct http_exchange *x, const char *p, size_t n, size_t *ret_used)
{
    int event = http_parse_feed(&x->parse, p, n, ret_used);
    switch (event) {
    case HTTP_EVENT_MORE:
        return false;
    case HTTP_EVENT_HEAD:
        timer_stop(x->c->srv->loop, &x->timer);
        begin_request(x);
        return true;
    case HTTP_EVENT_BODY:
        take_body(x, x->parse.chunk);
        return true;
    case HTTP_EVENT_END:
        sm_move(&x->in, IN_DONE);
        timer_stop(x->c->srv->loop, &x->timer);
        end_body(x, 0);
        return true;
    }
    *ret_used = n; /* after this nobody knows where the next request would begin */
    bool in_head = x->in.at == IN_HEAD;
    int status = x->parse.status;
    request_failed(x, status, event, x->parse.error);
    if (in_head && x->out.at == OUT_ENDED)
        sm_move(&x->in, IN_DONE);
    return false;
}

/* As far as request and handler let it; returns bytes consumed. */
static size_t advance(struct http_exchange *x, const char *p, size_t n)
{
    struct conn *c = x->c;
    size_t used = 0;
    for (;;) {
        if (x->in.at == IN_DONE || (x->in.at == IN_BODY && !is_body_wanted_now(x)))
            return used;
        if (x->in.at == IN_HEAD && used == n)
            return used;
        size_t took;
        bool more = step(x, p + used, n - used, &took);
        used += took;
        if (c->lingering || c->s.failed || c->s.closing)
            return n;
        if (!more)
            return used;
    }
}

static size_t on_data(struct stream *s, const char *p, size_t n)
{
    struct conn *c = container_of(s, struct conn, s);
    if (c->lingering) {
        c->lingered += n;
        if (c->lingered > LINGER_MAX_BYTES)
            stream_close(s);
        return n;
    }
    if (!c->x) {
        (void)exchange_new(c);
        list_remove(&c->node);
        list_push_back(&c->srv->busy, &c->node);
    }
    c->x->active_ms = loop_now_ms(c->srv->loop);
    c->x->got_byte = true;
    return advance(c->x, p, n);
}

static void on_eof(struct stream *s)
{
    struct conn *c = container_of(s, struct conn, s);
    struct http_exchange *x = c->x;
    c->close_after = true;
    if (c->lingering || !x || x->in.at == IN_HEAD) {
        if (x)
            exchange_gone(x, -ECONNRESET);
        stream_close(s);
        return;
    }
    if (x->out.at == OUT_ENDED)
        return; /* what is written may still arrive */
    /* A peer that only shut its sending side may want the answer. With TLS and Unix sockets nobody
     * does that. */
    if (x->in.at == IN_DONE && !s->ssl && !s->is_pipe)
        x->half_closed = true;
    else
        stream_fail(s, -ECONNRESET, "peer closed the connection");
}

/* ------------------------------------------------------------------ time */

static void on_linger(struct timer *t)
{
    stream_close(&container_of(t, struct conn, linger)->s);
}

/*
 * Our last words have been said: end our direction, and read until the peer ends its own, since
 * closing with bytes unread would make the kernel throw away what the peer has not read yet (RFC
 * 9112 section 9.6).
 */
static void conn_retire(struct conn *c)
{
    if (c->lingering || c->s.closing)
        return;
    if (c->s.eof) {
        stream_close(&c->s);
        return;
    }
    c->lingering = true;
    c->s.read_max = 0;
    stream_finish(&c->s);
    stream_resume(&c->s);
    timer_start(c->srv->loop, &c->linger, LINGER_MS, on_linger);
}

static void on_exchange_timer(struct timer *t)
{
    struct http_exchange *x = container_of(t, struct http_exchange, timer);
    struct conn *c = x->c;
    uint64_t now = loop_now_ms(c->srv->loop), silent = now - x->active_ms;
    if (x->half_closed) {
        stream_fail(&c->s, -ECONNRESET, "peer closed the connection");
        return;
    }
    if (x->in.at == IN_HEAD) {
        if (!x->got_byte || !c->s.opened) {
            stream_close(&c->s); /* a connection made in advance, perhaps; nothing to answer */
            return;
        }
        request_failed(x, 408, -ETIMEDOUT, "request head not complete in time");
        sm_move(&x->in, IN_DONE);
        stream_kick(&c->s);
        return;
    }
    if (x->in.at != IN_BODY || !is_body_wanted_now(x))
        return;
    if (silent < c->srv->body_idle_ms) {
        timer_start(c->srv->loop, t, c->srv->body_idle_ms - silent, on_exchange_timer);
        return;
    }
    request_failed(x, 408, -ETIMEDOUT, "request body stopped");
    stream_kick(&c->s);
}

/* Armed only when something is owed after a batch of bytes: a request that comes whole arms
 * nothing. */
static void arm_timer(struct http_exchange *x)
{
    struct http_server *srv = x->c->srv;
    if (timer_is_armed(&x->timer))
        return;
    if (x->half_closed && x->out.at != OUT_GONE)
        timer_start(srv->loop, &x->timer, srv->half_closed_ms, on_exchange_timer);
    else if (x->in.at == IN_HEAD) {
        timer_start(srv->loop, &x->timer, srv->head_timeout_ms, on_exchange_timer);
    } else if (x->in.at == IN_BODY && is_body_wanted_now(x)) {
        timer_start(srv->loop, &x->timer, srv->body_idle_ms, on_exchange_timer);
    }
}

/* ------------------------------------------------------------------ connections */

static void on_idle_timer(struct timer *t);

/* One timer for all idle connections, rounded up, so that many of them end in one wake-up. */
static void arm_idle_timer(struct http_server *srv)
{
    if (timer_is_armed(&srv->idle_timer) || list_is_empty(&srv->idle))
        return;
    uint64_t due = list_first(&srv->idle, struct conn, node)->idle_since + srv->keepalive_ms;
    uint64_t now = loop_now_ms(srv->loop), wait = due > now ? due - now : 0;
    timer_start(srv->loop, &srv->idle_timer, wait + srv->keepalive_ms / 3, on_idle_timer);
}

static void on_idle_timer(struct timer *t)
{
    struct http_server *srv = container_of(t, struct http_server, idle_timer);
    uint64_t now = loop_now_ms(srv->loop);
    list_each_safe (node, &srv->idle) {
        struct conn *c = list_entry(node, struct conn, node);
        if (c->idle_since + srv->keepalive_ms > now)
            break;
        list_remove(&c->node);
        list_push_back(&srv->busy, &c->node);
        conn_retire(c);
    }
    arm_idle_timer(srv);
}

static void conn_rest(struct conn *c)
{
    struct http_server *srv = c->srv;
    c->idle_since = loop_now_ms(srv->loop);
    c->s.read_max = 0;
    list_remove(&c->node);
    list_push_back(&srv->idle, &c->node);
    arm_idle_timer(srv);
    stream_resume(&c->s); /* a pipelined request may wait */
}

/* The response is written to the last byte. */
static void after_response(struct conn *c)
{
    struct http_exchange *x = c->x;
    exchange_gone(x, x->gone_result);
    if (x->gone_result < 0 || x->continue_owed)
        c->close_after = true;
    if (c->close_after) {
        conn_retire(c);
    } else if (x->in.at == IN_DONE) {
        exchange_recycle(x);
        conn_rest(c);
    } else {
        x->active_ms = loop_now_ms(c->srv->loop);
        stream_resume(&c->s); /* discard the rest of the body */
    }
}

static void on_settled(struct stream *s)
{
    struct conn *c = container_of(s, struct conn, s);
    struct http_exchange *x = c->x;
    if (!x || c->lingering)
        return;
    if (x->body_result < 0 && !x->body_ended)
        request_failed(x, 413, x->body_result, "request body too large");
    else if (x->body_wanted && x->in.at == IN_DONE && !x->body_ended)
        end_body(x, 0);
    else if (x->body_resumed && x->in.at == IN_BODY && !stream_has_held(s))
        (void)advance(x, "", 0); /* the end may be all that was left */
    x->body_resumed = false;
    size_t pending = stream_pending(s);
    if (x->writable_owed && x->out.at == OUT_OPEN && pending <= HTTP_WRITE_HIGH_BYTES / 4) {
        x->writable_owed = false;
        if (x->ops->on_writable)
            x->ops->on_writable(x);
        pending = stream_pending(s);
    }
    if (x->out.at == OUT_ENDED && pending == 0)
        after_response(c);
    else if (x->out.at == OUT_GONE && x->in.at == IN_DONE) {
        exchange_recycle(x); /* the discarded body has come to its end */
        conn_rest(c);
    }
    if (c->x) {
        s->read_max = c->x->in.at == IN_DONE ? WATCH_READ_BYTES : 0;
        arm_timer(c->x);
    }
}

static void on_error(struct stream *s, int r, const struct err *err)
{
    struct conn *c = container_of(s, struct conn, s);
    if (c->x) {
        log_debug("connection lost", "peer=%s reason=\"%s\"", c->peer, err_text(err));
        exchange_gone(c->x, r == -EPIPE ? -ECONNRESET : r);
    }
    stream_close(s);
}

static void accept_one(struct http_server *srv);
static void server_check_done(struct http_server *srv);

static void on_conn_closed(struct stream *s)
{
    struct conn *c = container_of(s, struct conn, s);
    struct http_server *srv = c->srv;
    if (c->x) {
        exchange_gone(c->x, -ECANCELED);
        exchange_recycle(c->x);
    }
    timer_stop(srv->loop, &c->linger);
    list_remove(&c->node);
    free(c);
    srv->n_conns--;
    if (list_is_empty(&srv->idle))
        timer_stop(srv->loop, &srv->idle_timer);
    if (srv->closing)
        server_check_done(srv);
    else if (srv->accept_waits)
        accept_one(srv);
}

static const struct stream_ops conn_ops = {
    .on_data = on_data,
    .on_eof = on_eof,
    .on_settled = on_settled,
    .on_error = on_error,
    .on_closed = on_conn_closed,
};

static void set_peer(struct conn *c)
{
    struct sockaddr_storage addr;
    int n = sizeof addr;
    char ip[INET6_ADDRSTRLEN];
    if (c->s.is_pipe || uv_tcp_getpeername(&c->s.uv.tcp, (struct sockaddr *)&addr, &n) < 0 ||
        uv_ip_name((struct sockaddr *)&addr, ip, sizeof ip) < 0) {
        (void)snprintf(c->peer, sizeof c->peer, "%s", c->s.is_pipe ? "unix" : "unknown");
        return;
    }
    bool v6 = addr.ss_family == AF_INET6;
    uint16_t port =
        v6 ? ((struct sockaddr_in6 *)&addr)->sin6_port : ((struct sockaddr_in *)&addr)->sin_port;
    (void)snprintf(c->peer, sizeof c->peer, v6 ? "[%s]:%u" : "%s:%u", ip, ntohs(port));
}

static void accept_one(struct http_server *srv)
{
    if (srv->n_conns >= srv->connections_max) {
        /* The kernel's queue holds the newcomer until someone has gone; the longest idle goes
         * first. */
        srv->accept_waits = true;
        if (!list_is_empty(&srv->idle))
            stream_close(&list_first(&srv->idle, struct conn, node)->s);
        return;
    }
    srv->accept_waits = false;
    struct conn *c = xnew(struct conn);
    c->srv = srv;
    srv->n_conns++;
    list_push_back(&srv->busy, &c->node);
    struct err err = { 0 };
    int r = stream_accept(&c->s, srv->loop, &srv->listener.stream, srv->is_pipe, srv->tls,
                          &conn_ops, &err);
    if (r < 0) {
        static struct log_rate rate;
        uint64_t skipped;
        if (log_rate_ok(&rate, 10000, &skipped))
            log_warn("cannot accept a connection", "reason=\"%s\" skipped=%llu", err_text(&err),
                     (unsigned long long)skipped);
        return;
    }
    c->s.stall_ms = srv->write_stall_ms;
    set_peer(c);
    arm_timer(exchange_new(c));
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct http_server *srv = listener->data;
    if (status == 0 && !srv->closing)
        accept_one(srv);
}

/* ------------------------------------------------------------------ server */

static void server_free(struct http_server *srv)
{
    struct list *node;
    while ((node = list_pop_front(&srv->spares)))
        exchange_free(list_entry(node, struct http_exchange, node));
    free(srv->unix_path);
    free(srv);
}

static void server_check_done(struct http_server *srv)
{
    if (srv->listening || srv->n_conns)
        return;
    timer_stop(srv->loop, &srv->grace);
    void (*done)(void *) = srv->done;
    void *arg = srv->done_arg;
    server_free(srv);
    if (done)
        done(arg);
}

static void on_listener_closed(uv_handle_t *h)
{
    struct http_server *srv = h->data;
    srv->listening = false;
    server_check_done(srv);
}

static int listen_tcp(struct http_server *srv, const char *host, uint16_t port, struct err *err)
{
    struct sockaddr_storage addr;
    int r = uv_ip4_addr(host, port, (struct sockaddr_in *)&addr);
    if (r < 0)
        r = uv_ip6_addr(host, port, (struct sockaddr_in6 *)&addr);
    if (r < 0)
        return err_set(err, -EINVAL, "'%s' is not an IP address", host);
    r = uv_tcp_bind(&srv->listener.tcp, (struct sockaddr *)&addr, 0);
    uv_os_fd_t fd;
    if (r == 0 && uv_fileno(&srv->listener.handle, &fd) == 0) {
        /* Linux hands these on to accepted sockets: no system call per connection. */
        int on = 1, idle_s = 60;
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
        (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    }
    if (r == 0)
        r = uv_listen(&srv->listener.stream, BACKLOG, on_connection);
    if (r < 0)
        return err_sys(err, r, "listen on %s port %u", host, port);
    return 0;
}

/* A socket file that a killed process left behind answers nobody. */
static bool is_dead_socket(const char *path)
{
    struct stat st;
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    if (lstat(path, &st) < 0 || !S_ISSOCK(st.st_mode))
        return false;
    memcpy(addr.sun_path, path, strlen(path) + 1);
    scoped(fd_scoped) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return fd >= 0 && connect(fd, (struct sockaddr *)&addr, sizeof addr) < 0 &&
           errno == ECONNREFUSED;
}

static int listen_unix(struct http_server *srv, const char *path, struct err *err)
{
    if (strlen(path) >= sizeof((struct sockaddr_un *)0)->sun_path)
        return err_set(err, -ENAMETOOLONG, "socket path '%s' too long", path);
    if (is_dead_socket(path))
        (void)unlink(path);
    mode_t old = umask(0177); /* the file is never there with another mode than 0600 */
    int r = uv_pipe_bind(&srv->listener.pipe, path);
    (void)umask(old);
    if (r == 0) {
        srv->unix_path = xstrdup(path);
        r = uv_listen(&srv->listener.stream, BACKLOG, on_connection);
    }
    return r < 0 ? err_sys(err, r, "listen on '%s'", path) : 0;
}

int http_server_start(struct loop *loop, const struct http_server_opts *opts,
                      struct http_server **ret, struct err *err)
{
    struct http_server *srv = xnew(struct http_server);
    *srv = (struct http_server){
        .loop = loop,
        .is_pipe = opts->unix_path != NULL,
        .tls = opts->tls,
        .on_request = opts->on_request,
        .arg = opts->arg,
        .head_timeout_ms = opts->head_timeout_ms ? opts->head_timeout_ms : HTTP_HEAD_TIMEOUT_MS,
        .body_idle_ms = opts->body_idle_ms ? opts->body_idle_ms : HTTP_BODY_IDLE_TIMEOUT_MS,
        .keepalive_ms = opts->keepalive_ms ? opts->keepalive_ms : HTTP_KEEPALIVE_MS,
        .write_stall_ms = opts->write_stall_ms ? opts->write_stall_ms : HTTP_WRITE_STALL_MS,
        .half_closed_ms = opts->half_closed_ms ? opts->half_closed_ms : HTTP_HALF_CLOSED_MS,
        .connections_max = opts->max_connections ? opts->max_connections : HTTP_CONNECTIONS_MAX,
    };
    list_init(&srv->idle);
    list_init(&srv->busy);
    list_init(&srv->spares);
    if (srv->is_pipe)
        (void)uv_pipe_init(&loop->uv, &srv->listener.pipe, 0);
    else
        (void)uv_tcp_init(&loop->uv, &srv->listener.tcp);
    srv->listener.handle.data = srv;
    srv->listening = true;
    int r = srv->is_pipe ? listen_unix(srv, opts->unix_path, err)
                         : listen_tcp(srv, opts->host, opts->port, err);
    if (r < 0) {
        srv->closing = true;
        uv_close(&srv->listener.handle, on_listener_closed);
        return r;
    }
    *ret = srv;
    return 0;
}

uint16_t http_server_port(const struct http_server *srv)
{
    struct sockaddr_storage addr;
    int n = sizeof addr;
    if (srv->is_pipe || uv_tcp_getsockname(&srv->listener.tcp, (struct sockaddr *)&addr, &n) < 0)
        return 0;
    return ntohs(addr.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&addr)->sin6_port
                                            : ((struct sockaddr_in *)&addr)->sin_port);
}

size_t http_server_connections(const struct http_server *srv)
{
    return srv->n_conns;
}

static void cut(struct list *conns)
{
    list_each (node, conns) {
        struct conn *c = list_entry(node, struct conn, node);
        if (!c->x || c->x->out.at == OUT_GONE || c->x->in.at == IN_HEAD)
            stream_close(&c->s);
        else
            stream_fail(&c->s, -ECANCELED, "server closes");
    }
}

static void on_grace_over(struct timer *t)
{
    cut(&container_of(t, struct http_server, grace)->busy);
}

void http_server_close(struct http_server *srv, uint64_t grace_ms, void (*done)(void *arg),
                       void *arg)
{
    assert(!srv->closing);
    srv->closing = true;
    srv->done = done;
    srv->done_arg = arg;
    if (srv->unix_path)
        (void)unlink(srv->unix_path);
    uv_close(&srv->listener.handle, on_listener_closed);
    timer_stop(srv->loop, &srv->idle_timer);
    cut(&srv->idle);
    list_each (node, &srv->busy) {
        struct conn *c = list_entry(node, struct conn, node);
        c->close_after = true;
        if (c->x && c->x->in.at == IN_HEAD && !c->x->got_byte)
            stream_close(&c->s);
    }
    if (grace_ms == 0)
        cut(&srv->busy);
    else
        timer_start(srv->loop, &srv->grace, grace_ms, on_grace_over);
}
