/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request and its response; see http.h and, for the states, http_server_int.h. Calls of the
 * handler only record and kick the stream; its callbacks come from http_exchange_input() and
 * http_exchange_settle().
 */
#include "io/http_server_int.h"
#include "io/http_text.h"

#include <errno.h>
#include <stdio.h>

enum {
    SPARES_MAX = 8,           /* exchanges kept for reuse: memory at rest */
    SPARE_MAX_BYTES = 8 << 10 /* one whose buffers grew larger is released instead */
};

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

/* ------------------------------------------------------------------ exchanges */

struct http_exchange *http_exchange_new(struct conn *c)
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

void http_exchange_free(struct http_exchange *x)
{
    http_parse_fini(&x->parse);
    free(x);
}

void http_exchange_recycle(struct http_exchange *x)
{
    struct http_server *srv = x->c->srv;
    x->c->x = NULL;
    timer_stop(srv->loop, &x->timer);
    size_t bytes = x->parse.headers.cap + x->parse.target.cap + x->parse.field.cap;
    if (srv->n_spares >= SPARES_MAX || bytes > SPARE_MAX_BYTES || srv->closing) {
        http_exchange_free(x);
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

void http_exchange_gone(struct http_exchange *x, int r)
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
        http_conn_retire(x->c);
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

/* ------------------------------------------------------------------ the request's body */

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
            http_conn_retire(x->c);
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

size_t http_exchange_input(struct http_exchange *x, const char *p, size_t n)
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

/* ------------------------------------------------------------------ what the handler waits for */

static void tell_writable(struct http_exchange *x)
{
    bool enough = stream_pending(&x->c->s) <= HTTP_WRITE_HIGH_BYTES / 4;
    if (!x->writable_owed || x->out.at != OUT_OPEN || !enough)
        return;
    x->writable_owed = false;
    if (x->ops->on_writable)
        x->ops->on_writable(x);
}

void http_exchange_settle(struct http_exchange *x)
{
    if (x->body_result < 0 && !x->body_ended)
        request_failed(x, 413, x->body_result, "request body too large");
    else if (x->body_wanted && x->in.at == IN_DONE && !x->body_ended)
        end_body(x, 0);
    else if (x->body_resumed && x->in.at == IN_BODY && !stream_has_held(&x->c->s))
        (void)http_exchange_input(x, "", 0); /* the end may be all that was left */
    x->body_resumed = false;
    tell_writable(x);
}

/* ------------------------------------------------------------------ time */

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

void http_exchange_arm_timer(struct http_exchange *x)
{
    struct http_server *srv = x->c->srv;
    if (timer_is_armed(&x->timer))
        return;
    if (x->half_closed && x->out.at != OUT_GONE)
        timer_start(srv->loop, &x->timer, srv->half_closed_ms, on_exchange_timer);
    else if (x->in.at == IN_HEAD)
        timer_start(srv->loop, &x->timer, srv->head_timeout_ms, on_exchange_timer);
    else if (x->in.at == IN_BODY && is_body_wanted_now(x))
        timer_start(srv->loop, &x->timer, srv->body_idle_ms, on_exchange_timer);
}
