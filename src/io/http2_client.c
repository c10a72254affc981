/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Client connections that speak HTTP/2: any number of calls on one, each a stream. How to read it:
 * http_client.c opens the connection and chooses it for a call, and h2_link_send() opens a stream
 * for the call; received bytes go h2_link_data() -> nghttp2 -> the callbacks on_*() -> the call. A
 * paused call holds what its stream's window admits, and does not block other calls.
 */
#include "io/http2_session.h"
#include "io/http_client_int.h"
#include "io/http_text.h"

#include <errno.h>
#include <stdio.h>

enum {
    WINDOW_BYTES = 256 << 10, /* of a response while it is not read */
    CONNECTION_WINDOW_BYTES = 16 << 20,
    CALLS_MAX = 1000,     /* on a connection, if the server allows it */
    CALLS_AT_FIRST = 100, /* until the server's SETTINGS */
    OUT_LOW_BYTES = HTTP_WRITE_HIGH_BYTES / 4
};

struct h2_link {
    nghttp2_session *ng;
    struct list calls; /* struct h2_call.node */
    struct list todo;  /* struct h2_call.todo: handled in h2_link_settled() */
    size_t n_calls;
    struct h2_ping ping; /* while there are calls */
    bool draining;       /* no further calls */
};

struct h2_call {
    struct http_call *call;
    struct list node, todo; /* link->h2->calls, link->h2->todo */
    char *method;
    struct buf target, authority;
    struct headers headers;

    int32_t id;
    size_t body_at; /* the bytes of the request's body before it were sent */
    bool deferred;  /* the stream waits for more of it */
    struct headers got, got_trailers;
    size_t trailer_bytes;
    int status;
    unsigned interim;
    bool too_large; /* the response's head */
    bool ended;     /* the response is complete */
    bool closed;    /* the stream is closed */
    uint32_t code;  /* why */
    struct buf held;
};

/* ------------------------------------------------------------------ calls */

int h2_call_new(struct http_call *call, const struct http_call_opts *opts, struct str authority)
{
    struct h2_call *h = xnew(struct h2_call);
    call->h2 = h;
    h->call = call;
    h->method = str_dup(opts->method);
    h->target = h->authority = BUF_INIT(HTTP_URI_MAX_BYTES);
    h->held = BUF_INIT(CONNECTION_WINDOW_BYTES);
    int r = opts->headers ? headers_copy(&h->headers, opts->headers) : 0;
    if (r >= 0)
        r = buf_add_str(&h->target, opts->target);
    return r < 0 ? r : buf_add_str(&h->authority, authority);
}

void h2_call_free(struct http_call *call)
{
    struct h2_call *h = call->h2;
    if (!h)
        return;
    call->h2 = NULL;
    free(h->method);
    buf_fini(&h->target);
    buf_fini(&h->authority);
    headers_fini(&h->headers);
    headers_fini(&h->got);
    headers_fini(&h->got_trailers);
    buf_fini(&h->held);
    free(h);
}

/* Have h2_link_settled() handle the call. */
static void note(struct http_call *call)
{
    struct link *l = call->link;
    if (!list_is_linked(&call->h2->todo))
        list_push_back(&l->h2->todo, &call->h2->todo);
    stream_kick(&l->s);
}

/* Armed lazily, like the pool's timer: calls in between do not touch it. */
static void on_idle(struct timer *t);

static void arm_idle(struct link *l)
{
    if (timer_is_armed(&l->connect_timer) || stream_is_closing(&l->s))
        return;
    uint64_t due = l->idle_since + l->client->idle_ms, now = loop_now_ms(l->client->loop);
    timer_start(l->client->loop, &l->connect_timer, due > now ? due - now : 0, on_idle);
}

static void on_idle(struct timer *t)
{
    struct link *l = container_of(t, struct link, connect_timer);
    if (l->h2->n_calls)
        return;
    if (l->idle_since + l->client->idle_ms <= loop_now_ms(l->client->loop))
        http_link_close(l);
    else
        arm_idle(l);
}

void h2_call_leave(struct http_call *call)
{
    struct h2_call *h = call->h2;
    struct link *l = call->link;
    struct http_client *c = l->client;
    list_remove(&h->node);
    list_remove(&h->todo);
    if (!h->closed) {
        (void)nghttp2_session_set_stream_user_data(l->h2->ng, h->id, NULL);
        (void)nghttp2_submit_rst_stream(l->h2->ng, NGHTTP2_FLAG_NONE, h->id, NGHTTP2_CANCEL);
    }
    h->closed = true;
    if (h->held.n) /* return it to the connection's window */
        (void)nghttp2_session_consume_connection(l->h2->ng, h->held.n);
    buf_fini(&h->held);
    h->held = BUF_INIT(CONNECTION_WINDOW_BYTES);
    stream_kick(&l->s); /* also to close a connection that has no call any more */
    if (--l->h2->n_calls == 0) {
        h2_ping_stop(&l->h2->ping);
        l->idle_since = loop_now_ms(c->loop);
        arm_idle(l);
    }
    http_client_kick(c);
}

/* The stream failed; harmless: the server has not processed the request. */
static void call_lost(struct http_call *call, bool harmless, int r, const struct err *err)
{
    struct h2_call *h = call->h2;
    h->closed = true;
    h2_call_leave(call);
    call->link = NULL;
    if (harmless) {
        headers_reset(&h->got);
        h->status = 0;
        h->body_at = 0;
        h->interim = 0;
        h->deferred = false;
        if (http_call_again(call))
            return;
    }
    http_call_fail(call, r, err);
}

/* Deliver what was held, then the end, if it has arrived. */
static void go_on(struct http_call *call)
{
    struct h2_call *h = call->h2;
    struct link *l = call->link;
    struct err err = { 0 };
    if (h->held.n) {
        struct buf b = h->held;
        h->held = BUF_INIT(CONNECTION_WINDOW_BYTES);
        (void)nghttp2_session_consume(l->h2->ng, h->id, b.n);
        exchange_report_data(&call->x, buf_str(&b));
        buf_fini(&b);
    }
    if (call->sm.at == CALL_ENDED || http_call_is_paused(call) || !(h->closed || h->ended))
        return;
    if (call->sm.at == CALL_HEAD && h->ended) {
        if (h->got_trailers.n)
            exchange_report_trailers(&call->x, &h->got_trailers);
        http_call_finish(call, 0);
        return;
    }
    call->reset_code = h->code;
    bool refused = h->code == NGHTTP2_REFUSED_STREAM;
    if (refused)
        http_call_note_seen(call, SEEN_NOTHING);
    call_lost(
        call, refused,
        err_set(&err, -ECONNRESET, "stream reset by server: %s", nghttp2_http2_strerror(h->code)),
        &err);
}

void h2_call_resume(struct http_call *call)
{
    note(call);
}

size_t h2_call_pending(const struct http_call *call)
{
    return call->request.n - call->head_n - call->h2->body_at;
}

void h2_call_more(struct http_call *call)
{
    struct h2_call *h = call->h2;
    if (h->body_at > h2_call_pending(call)) { /* most of the kept bytes were sent */
        buf_consume(&call->request, call->head_n + h->body_at);
        call->head_n = h->body_at = 0;
        http_call_bar_retry(call);
    }
    if (h->deferred)
        (void)nghttp2_session_resume_data(call->link->h2->ng, h->id);
    h->deferred = false;
    stream_kick(&call->link->s);
}

/* ------------------------------------------------------------------ from nghttp2 */

static struct http_call *call_of(nghttp2_session *ng, int32_t id)
{
    return id ? nghttp2_session_get_stream_user_data(ng, id) : NULL;
}

/* Add a trailer field. Past the limits the stream is reset. */
static int take_trailer(struct h2_call *h, struct str name, struct str value)
{
    h->trailer_bytes += name.n + value.n + 4;
    if (!http_is_trailer(name))
        return 0;
    bool fits = h->trailer_bytes <= HTTP_TRAILERS_MAX_BYTES;
    return fits && headers_add(&h->got_trailers, name, value) >= 0
               ? 0
               : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

static int on_header(nghttp2_session *ng, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_n, const uint8_t *value, size_t value_n, uint8_t flags, void *arg)
{
    struct http_call *call = call_of(ng, frame->hd.stream_id);
    struct str key = str_n((const char *)name, name_n), text = str_n((const char *)value, value_n);
    uint64_t status;
    if (!call || (call->sm.at != CALL_SENT && call->sm.at != CALL_HEAD))
        return 0;
    if (call->sm.at == CALL_HEAD)
        return take_trailer(call->h2, key, text);
    if (!str_is(key, ":status"))
        call->h2->too_large |= headers_add(&call->h2->got, key, text) < 0;
    else if (parse_u64(text, 100, 999, &status) >= 0)
        call->h2->status = (int)status;
    return 0;
}

static void got_head(struct http_call *call)
{
    struct h2_call *h = call->h2;
    struct err err = { 0 };
    bool interim = h->status < 200;
    if (h->status < 100 || h->status == 101) {
        http_call_fail(call, err_set(&err, E_PARSE, "malformed response: status"), &err);
        return;
    }
    if (h->too_large ||
        (interim && !http_call_got_interim(call, &h->interim, h->status, &h->got))) {
        http_call_fail(call, err_set(&err, E_LIMIT, "response head too large"), &err);
        return;
    }
    if (interim) {
        headers_reset(&h->got);
        h->status = 0;
        return;
    }
    call->link->used = true;
    http_call_got_head(call, CALL_HEAD, h->status,
                       &h->got); /* may end the call: touch nothing after this line */
}

static int on_frame(nghttp2_session *ng, const nghttp2_frame *frame, void *arg)
{
    struct link *l = arg;
    struct http_call *call = call_of(ng, frame->hd.stream_id);
    if (frame->hd.type == NGHTTP2_GOAWAY)
        l->h2->draining = true;
    bool of_message = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    if (!call || !of_message)
        return 0;
    call->h2->ended |= (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (frame->hd.type == NGHTTP2_HEADERS && call->sm.at == CALL_SENT)
        got_head(call);
    /* The server has answered before the whole request was sent: it will not read the rest. */
    call = call_of(ng, frame->hd.stream_id);
    if (call && call->h2->ended && !http_call_is_paused(call) && call->sm.at == CALL_HEAD &&
        nghttp2_session_get_stream_local_close(ng, frame->hd.stream_id) == 0)
        go_on(call);
    return 0;
}

static int on_data_chunk(nghttp2_session *ng, uint8_t flags, int32_t id, const uint8_t *p, size_t n,
                         void *arg)
{
    struct http_call *call = call_of(ng, id);
    if (call && (http_call_is_paused(call) || call->h2->held.n))
        return buf_add(&call->h2->held, p, n) < 0 ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
    (void)nghttp2_session_consume(ng, id, n);
    if (call)
        exchange_report_data(&call->x, str_n((const char *)p, n));
    return 0;
}

static int on_stream_close(nghttp2_session *ng, int32_t id, uint32_t code, void *arg)
{
    struct http_call *call = call_of(ng, id);
    if (!call)
        return 0;
    call->h2->closed = true;
    call->h2->code = code;
    if (!http_call_is_paused(call))
        go_on(call);
    return 0;
}

static ssize_t on_read_source(nghttp2_session *ng, int32_t id, uint8_t *buf, size_t n,
                              uint32_t *flags, nghttp2_data_source *source, void *arg)
{
    const struct http_call *call = call_of(ng, id);
    if (!call)
        return NGHTTP2_ERR_DEFERRED; /* its reset is being sent */
    size_t left = h2_call_pending(call);
    if (left == 0 && call->body.at == BODY_OPEN) {
        call->h2->deferred = true;
        return NGHTTP2_ERR_DEFERRED;
    }
    n = MIN(n, left);
    *flags |= n ? NGHTTP2_DATA_FLAG_NO_COPY : 0;
    if (n < left || call->body.at == BODY_OPEN)
        return (ssize_t)n;
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (call->trailers.n) {
        nghttp2_nv nv[HEADERS_MAX];
        *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
        (void)nghttp2_submit_trailer(ng, id, nv, h2_trailers(nv, &call->trailers));
        if (n == 0) /* no empty DATA frame before the trailers */
            return NGHTTP2_ERR_DEFERRED;
    }
    return (ssize_t)n;
}

/* All bytes were sent and the stream waits for the caller: drop them. The call can no longer be
 * retried. */
static void drop_sent(struct http_call *call)
{
    enum { KEEP_BYTES = 16 << 10 };
    call->h2->body_at = 0;
    http_call_bar_retry(call);
    if (call->request.cap > KEEP_BYTES) {
        buf_fini(&call->request);
        call->head_n = 0;
    }
    call->request.n = call->head_n;
}

static int on_send_data(nghttp2_session *ng, nghttp2_frame *frame, const uint8_t *head, size_t n,
                        nghttp2_data_source *source, void *arg)
{
    struct link *l = arg;
    struct http_call *call = call_of(ng, frame->hd.stream_id);
    if (!call)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    const char *from = call->request.p + call->head_n + call->h2->body_at;
    call->h2->body_at += n;
    if (n)
        http_call_note_seen(call, SEEN_BODY);
    int r = h2_send_data(&l->s, head, from, n);
    size_t left = h2_call_pending(call);
    if (left == 0 && call->body.at == BODY_OPEN)
        drop_sent(call);
    if (call->writable_owed && left <= OUT_LOW_BYTES)
        note(call);
    return r;
}

static int on_frame_sent(nghttp2_session *ng, const nghttp2_frame *frame, void *arg)
{
    struct http_call *call = call_of(ng, frame->hd.stream_id);
    if (call && frame->hd.type == NGHTTP2_HEADERS)
        http_call_note_seen(call, SEEN_REQUEST);
    return 0;
}

/* ------------------------------------------------------------------ links */

bool h2_link_has_room(const struct link *l)
{
    const struct h2_link *h2 = l->h2;
    uint32_t max =
        nghttp2_session_get_remote_settings(h2->ng, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
    max = max == UINT32_MAX ? CALLS_AT_FIRST : MIN(max, (uint32_t)CALLS_MAX);
    return !h2->draining && !stream_is_over(&l->s) && h2->n_calls < max &&
           nghttp2_session_check_request_allowed(h2->ng);
}

void h2_link_send(struct link *l, struct http_call *call)
{
    struct h2_call *h = call->h2;
    assert(call->link == l);
    nghttp2_nv nv[HEADERS_MAX + 5];
    size_t n = 0, body_n = call->request.n - call->head_n;
    bool streams = call->body.at == BODY_OPEN || call->chunked;
    char length[24];
    struct str host = headers_get(&h->headers, "host");
    nv[n++] = h2_field(STR(":method"), str_of(h->method));
    nv[n++] = h2_field(STR(":scheme"), l->s.ssl ? STR("https") : STR("http"));
    nv[n++] = h2_field(STR(":authority"), host.p ? host : buf_str(&h->authority));
    nv[n++] = h2_field(STR(":path"), buf_str(&h->target));
    for (size_t i = 0; i < h->headers.n; i++) {
        struct str name = headers_name(&h->headers, i);
        struct str value = headers_value(&h->headers, i);
        if (h2_is_plain(name, value) && !str_is(name, "host"))
            nv[n++] = h2_field(name, value);
    }
    if (!call->chunked && (body_n || call->body_left)) {
        int len =
            snprintf(length, sizeof length, "%llu", (unsigned long long)body_n + call->body_left);
        nv[n++] = h2_field(STR("content-length"), str_n(length, (size_t)len));
    }
    const nghttp2_data_provider body = { .read_callback = on_read_source };
    bool has_body = body_n || streams;
    h->closed = h->ended = h->too_large = false;
    h->id = nghttp2_submit_request(l->h2->ng, NULL, nv, n, has_body ? &body : NULL, call);
    list_push_back(&l->h2->calls, &h->node);
    if (l->h2->n_calls++ == 0)
        h2_ping_start(&l->h2->ping);
    http_call_move(call, CALL_SENT);
    if (call->body.at == BODY_WHOLE)
        http_call_start_timer(call);
    else
        timer_stop(l->client->loop, &call->head_timer);
    stream_kick(&l->s);
    if (h->id < 0) { /* reported in h2_link_settled() */
        h->closed = true;
        h->code = NGHTTP2_REFUSED_STREAM;
        note(call);
    }
}

static nghttp2_session *session_new(struct link *l)
{
    nghttp2_session_callbacks *cb = h2_callbacks_new();
    nghttp2_session_callbacks_set_send_data_callback(cb, on_send_data);
    nghttp2_session_callbacks_set_on_header_callback(cb, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(cb, on_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb, on_data_chunk);
    nghttp2_session_callbacks_set_on_stream_close_callback(cb, on_stream_close);
    nghttp2_session_callbacks_set_on_frame_send_callback(cb, on_frame_sent);
    return h2_session_new(false, cb, l);
}

void h2_link_open(struct link *l)
{
    static const nghttp2_settings_entry settings[] = {
        { NGHTTP2_SETTINGS_ENABLE_PUSH, 0 },
        { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW_BYTES },
        { NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HTTP_HEAD_MAX_BYTES },
    };
    struct http_client *c = l->client;
    struct http_call *call = l->call;
    l->h2 = xnew(struct h2_link);
    list_init(&l->h2->calls);
    list_init(&l->h2->todo);
    l->h2->ng = session_new(l);
    h2_ping_init(&l->h2->ping, &l->s, l->h2->ng, c->ping_ms, c->ping_timeout_ms);
    (void)nghttp2_submit_settings(l->h2->ng, NGHTTP2_FLAG_NONE, settings, ARRAY_LEN(settings));
    (void)nghttp2_session_set_local_window_size(l->h2->ng, NGHTTP2_FLAG_NONE, 0,
                                                CONNECTION_WINDOW_BYTES);
    list_remove(&l->node);
    list_push_back(&c->shared, &l->node);
    l->call = NULL;
    l->idle_since = loop_now_ms(c->loop);
    if (call)
        h2_link_send(l, call);
    else
        arm_idle(l);
    http_client_kick(c);
}

void h2_link_free(struct link *l)
{
    if (!l->h2)
        return;
    assert(l->h2->n_calls == 0);
    nghttp2_session_del(l->h2->ng);
    free(l->h2);
    l->h2 = NULL;
}

void h2_link_lost(struct link *l, int r, const struct err *err)
{
    l->h2->draining = true;
    r = r == -EPIPE ? -ECONNRESET : r;
    while (!list_is_empty(&l->h2->calls)) {
        struct http_call *call = list_first(&l->h2->calls, struct h2_call, node)->call;
        call_lost(call, call->repeatable && l->used, r, err);
    }
}

size_t h2_link_data(struct link *l, const char *p, size_t n)
{
    h2_ping_heard(&l->h2->ping);
    ssize_t r = nghttp2_session_mem_recv(l->h2->ng, (const uint8_t *)p, n);
    if (r < 0)
        stream_fail(&l->s, E_PARSE, nghttp2_strerror((int)r));
    stream_kick(&l->s);
    return n;
}

/* Notify a call: on_writable(), then what was held, then the end. */
static void step(struct http_call *call)
{
    if (call->writable_owed && h2_call_pending(call) <= OUT_LOW_BYTES) {
        call->writable_owed = false;
        exchange_report_writable(&call->x);
    }
    http_call_caught_up(call);
    if (call->sm.at != CALL_ENDED && !http_call_is_paused(call))
        go_on(call);
}

/* A callback may end any of these calls, which takes it off the list; its memory is freed on a
 * later turn. */
static void run_todo(struct h2_link *h2)
{
    struct list todo, *node;
    list_move_all(&h2->todo, &todo);
    while ((node = list_pop_front(&todo)))
        step(list_entry(node, struct h2_call, todo)->call);
}

void h2_link_settled(struct link *l)
{
    struct h2_link *h2 = l->h2;
    struct err err = { 0 };
    h2_pump(h2->ng, &l->s);
    if (!list_is_empty(&h2->todo)) {
        run_todo(h2);
        h2_pump(h2->ng, &l->s); /* window updates */
    }
    if (stream_is_over(&l->s))
        return;
    bool over = !nghttp2_session_want_read(h2->ng) && !nghttp2_session_want_write(h2->ng);
    if (over)
        h2_link_lost(l, err_set(&err, -ECONNRESET, "server ended the connection"), &err);
    if (over || (h2->draining && h2->n_calls == 0))
        http_link_close(l);
}
