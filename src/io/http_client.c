/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP client: pool, calls, HTTP/1.1; see http.h. Connections that speak HTTP/2 are in
 * http2_client.c. How to read it: a call is QUEUED, gets a link (a connection) and is SENT, its
 * response arrives as HEAD and BODY events, and it is ENDED: http_call_finish() detaches it from
 * its link and schedules on_end() on a later turn. Beside that each call has four small states: of
 * its body, of its reading, of its retry, and of what the server may have seen. A link serves one
 * call at a time; between calls it is in `idle`.
 */
#include "io/http_client_int.h"
#include "io/http_text.h"
#include "io/work_pool.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

enum {
    CONNECTIONS_DEFAULT = 64,
    CONNECT_TIMEOUT_DEFAULT_MS = 10000,
    TUNNEL_HEAD_MAX_BYTES = 8 << 10, /* of a proxy's response to CONNECT */
    LAST_BYTES_MS = 2000             /* to send the last bytes of a tunnel that the server ended */
};

/*
 *     QUEUED -> LINKED -> SENT -> HEAD      each -> ENDED
 *        ^------------------| `-> TUNNEL
 */
static const struct sm_state call_table[] = {
    [CALL_QUEUED] = { "queued", EDGE(CALL_LINKED) | EDGE(CALL_ENDED) },
    /* has a connection that is still being opened */
    [CALL_LINKED] = { "linked", EDGE(CALL_SENT) | EDGE(CALL_ENDED) },
    /* QUEUED again: a kept connection was dead */
    [CALL_SENT] = { "sent",
                    EDGE(CALL_HEAD) | EDGE(CALL_TUNNEL) | EDGE(CALL_QUEUED) | EDGE(CALL_ENDED) },
    [CALL_HEAD] = { "head", EDGE(CALL_ENDED) },     /* the response's head has arrived */
    [CALL_TUNNEL] = { "tunnel", EDGE(CALL_ENDED) }, /* a 101: raw bytes in both directions */
    [CALL_ENDED] = { "ended", 0 },
};
static const struct sm_state body_table[] = {
    [BODY_OPEN] = { "open", EDGE(BODY_WHOLE) },
    [BODY_WHOLE] = { "whole", 0 },
};
static const struct sm_state reading_table[] = {
    [READING_ON] = { "on", EDGE(READING_PAUSED) },
    [READING_PAUSED] = { "paused", EDGE(READING_RESUMED) },
    [READING_RESUMED] = { "resumed", EDGE(READING_ON) | EDGE(READING_PAUSED) },
};
static const struct sm_state retry_table[] = {
    [RETRY_LEFT] = { "left", EDGE(RETRY_TAKEN) | EDGE(RETRY_BARRED) },
    [RETRY_TAKEN] = { "taken", EDGE(RETRY_BARRED) },
    [RETRY_BARRED] = { "barred", 0 },
};
static const struct sm_state seen_table[] = {
    [SEEN_NOTHING] = { "nothing", EDGE(SEEN_REQUEST) | EDGE(SEEN_BODY) },
    [SEEN_REQUEST] = { "request", EDGE(SEEN_BODY) | EDGE(SEEN_NOTHING) },
    [SEEN_BODY] = { "body", EDGE(SEEN_NOTHING) },
};

static const struct exchange_ops call_ops;
static void client_check_free(struct http_client *c);
static void link_abort(struct link *l);

static struct http_call *call_of(const struct exchange *x)
{
    assert(x->ops == &call_ops);
    return container_of(x, struct http_call, x);
}

/* ------------------------------------------------------------------ calls */

/*
 * Ended calls of this thread, kept with the buffers for their heads, so that a call under load
 * allocates nothing. They are freed when connections are closed for their age, when a client is
 * freed, and when the thread ends, since another thread may free a client.
 */
enum { SPARE_CALLS_MAX = 64, SPARE_REQUEST_BYTES = 1 << 10 };
static _Thread_local struct http_call *spare_calls[SPARE_CALLS_MAX];
static _Thread_local unsigned n_spare_calls;
static _Thread_local bool trims_at_end; /* of this thread */
static pthread_key_t thread_key;
static pthread_once_t thread_key_once = PTHREAD_ONCE_INIT;

static void trim_spares(void);

static void on_thread_end(void *arg)
{
    (void)arg;
    trim_spares();
}

static void make_thread_key(void)
{
    int r = pthread_key_create(&thread_key, on_thread_end);
    assert(r == 0);
}

/* This thread keeps spares: free them when it ends. */
static void trim_at_thread_end(void)
{
    if (trims_at_end)
        return;
    (void)pthread_once(&thread_key_once, make_thread_key);
    trims_at_end = pthread_setspecific(thread_key, &trims_at_end) == 0;
}

static struct http_call *call_new(void)
{
    return n_spare_calls ? spare_calls[--n_spare_calls] : xnew(struct http_call);
}

static void call_free(struct http_call *call)
{
    h2_call_free(call);
    headers_fini(&call->trailers);
    if (n_spare_calls < SPARE_CALLS_MAX && call->request.cap <= SPARE_REQUEST_BYTES) {
        trim_at_thread_end();
        spare_calls[n_spare_calls++] = call;
        return;
    }
    buf_fini(&call->request);
    free(call);
}

static void trim_spares(void)
{
    while (n_spare_calls) {
        struct http_call *call = spare_calls[--n_spare_calls];
        buf_fini(&call->request);
        free(call);
    }
    http_parse_trim();
}

static void on_call_end(struct defer *d)
{
    struct http_call *call = container_of(d, struct http_call, end);
    struct http_client *c = call->client;
    exchange_report_end(&call->x, call->err.code, &call->err);
    list_remove(&call->node);
    call_free(call);
    c->n_calls--;
    client_check_free(c);
}

/* What holds once a call has moved. */
static bool is_sound(const struct http_call *call)
{
    const struct link *l = call->link;
    bool is_timed = timer_is_armed(&call->head_timer);
    if (call->body_left && (call->chunked || call->body.at == BODY_WHOLE))
        return false;
    switch ((enum call_state)call->sm.at) {
    case CALL_QUEUED:
        return !l && call->seen.at == SEEN_NOTHING && call->retry.at != RETRY_BARRED;
    case CALL_LINKED:
    case CALL_SENT:
        return l && (l->h2 || l->call == call);
    case CALL_HEAD:
        return l && (l->h2 || l->call == call) && !is_timed;
    case CALL_TUNNEL:
        return l && l->call == call && call->upgrade && !is_timed;
    case CALL_ENDED:
        return !l && !is_timed;
    }
    return false;
}

void http_call_move(struct http_call *call, enum call_state to)
{
    sm_move(&call->sm, to);
    assert(is_sound(call));
}

void http_call_note_seen(struct http_call *call, enum http_call_seen what)
{
    if (what > call->seen.at || (what == SEEN_NOTHING && call->seen.at != SEEN_NOTHING))
        sm_move(&call->seen, what);
}

void http_call_bar_retry(struct http_call *call)
{
    if (call->retry.at != RETRY_BARRED)
        sm_move(&call->retry, RETRY_BARRED);
}

void http_call_caught_up(struct http_call *call)
{
    if (call->reading.at == READING_RESUMED)
        sm_move(&call->reading, READING_ON);
}

/* r: 0, or a code, with call->err set. The caller deals with the link, if there is one. */
void http_call_finish(struct http_call *call, int r)
{
    if (call->sm.at == CALL_ENDED)
        return;
    assert(r == call->err.code);
    if (http_call_body_was_sent(&call->x))
        http_call_note_seen(call, SEEN_BODY);
    else if (http_call_was_sent(&call->x))
        http_call_note_seen(call, SEEN_REQUEST);
    if (call->link && call->link->h2)
        h2_call_leave(call);
    else if (call->link)
        call->link->call = NULL;
    call->link = NULL;
    timer_stop(call->client->loop, &call->head_timer);
    http_call_move(call, CALL_ENDED);
    if (call->request.cap > SPARE_REQUEST_BYTES)
        buf_fini(&call->request);
    list_remove(&call->node);
    list_push_back(&call->client->calls, &call->node);
    defer_start(call->client->loop, &call->end, on_call_end);
}

void http_call_fail(struct http_call *call, int r, const struct err *err)
{
    if (call->sm.at == CALL_ENDED)
        return;
    call->err = *err;
    call->err.code = r;
    http_call_finish(call, r);
}

static void call_cancel(struct http_call *call)
{
    struct link *l = call->link;
    if (call->sm.at == CALL_ENDED) { /* 0 becomes -ECANCELED until on_end() has run */
        (void)err_set(&call->err, -ECANCELED, "cancelled");
        return;
    }
    http_call_finish(call, err_set(&call->err, -ECANCELED, "cancelled"));
    if (l && !l->h2)
        link_abort(l);
}

static void cancel_call(struct exchange *x)
{
    call_cancel(call_of(x));
}

static bool is_receiving(const struct http_call *call)
{
    return call->sm.at == CALL_SENT || call->sm.at == CALL_HEAD || call->sm.at == CALL_TUNNEL;
}

/* Bytes of the call that the kernel took; with TLS a few more. */
static uint64_t taken(const struct http_call *call)
{
    const struct link *l = call->link;
    bool own = l && !l->h2 && is_receiving(call);
    return own ? l->s.sent_bytes - l->sent_before : 0;
}

bool http_call_was_sent(const struct exchange *x)
{
    const struct http_call *call = call_of(x);
    return call->seen.at >= SEEN_REQUEST || taken(call) > 0;
}

bool http_call_body_was_sent(const struct exchange *x)
{
    const struct http_call *call = call_of(x);
    return call->seen.at >= SEEN_BODY || taken(call) > call->head_n;
}

int64_t http_call_reset_code(const struct exchange *x)
{
    return call_of(x)->reset_code;
}

static void pause_call(struct exchange *x)
{
    struct http_call *call = call_of(x);
    if (http_call_is_paused(call))
        return;
    sm_move(&call->reading, READING_PAUSED);
    if (call->link && call->link->h2)
        return;             /* only its stream is paused */
    if (is_receiving(call)) /* before that the connection itself must read */
        stream_pause(&call->link->s);
}

static void resume_call(struct exchange *x)
{
    struct http_call *call = call_of(x);
    if (!http_call_is_paused(call))
        return;
    sm_move(&call->reading, READING_RESUMED);
    if (call->link && call->link->h2)
        h2_call_resume(call);
    else if (is_receiving(call))
        stream_resume(&call->link->s);
}

static void on_head_timeout(struct timer *t)
{
    struct http_call *call = container_of(t, struct http_call, head_timer);
    struct link *l = call->link;
    http_call_finish(call, err_set(&call->err, -ETIMEDOUT, "no %s within %llu ms",
                                   l ? "response" : "free connection",
                                   (unsigned long long)call->head_timeout_ms));
    if (l && !l->h2)
        link_abort(l);
}

void http_call_start_timer(struct http_call *call)
{
    if (call->head_timeout_ms)
        timer_start(call->client->loop, &call->head_timer, call->head_timeout_ms, on_head_timeout);
}

bool http_call_again(struct http_call *call)
{
    struct http_client *c = call->client;
    if (call->sm.at != CALL_SENT || call->retry.at != RETRY_LEFT || c->closing)
        return false;
    sm_move(&call->retry, RETRY_TAKEN);
    http_call_note_seen(call, SEEN_NOTHING);
    call->link = NULL;
    http_call_start_timer(call);
    http_call_move(call, CALL_QUEUED);
    list_remove(&call->node);
    list_push_front(&c->queue, &call->node);
    http_client_kick(c);
    return true;
}

/*
 * Retry a call whose kept connection was dead, on a new one, if a retry cannot apply the request
 * twice.
 */
static bool call_retry(struct http_call *call, const struct link *l)
{
    bool harmless = call->repeatable || l->s.sent_bytes == l->sent_before;
    if (call->sm.at != CALL_SENT || call->retry.at != RETRY_LEFT || !l->used || l->got_byte ||
        !harmless || call->client->closing)
        return false;
    call->link->call = NULL;
    return http_call_again(call);
}

/* ------------------------------------------------------------------ links */

static void on_idle_timer(struct timer *t);

/*
 * One timer for all idle links, rounded up, as in the server. It stays armed while links work, so
 * that requests do not touch it; if it fires and no link is idle it is not armed again.
 */
static void arm_idle_timer(struct http_client *c)
{
    if (timer_is_armed(&c->idle_timer) || list_is_empty(&c->idle))
        return;
    uint64_t due = list_first(&c->idle, struct link, node)->idle_since + c->idle_ms;
    uint64_t now = loop_now_ms(c->loop), wait = due > now ? due - now : 0;
    timer_start(c->loop, &c->idle_timer, wait + c->idle_ms / 3, on_idle_timer);
}

static void on_idle_timer(struct timer *t)
{
    struct http_client *c = container_of(t, struct http_client, idle_timer);
    uint64_t now = loop_now_ms(c->loop);
    list_each_safe (node, &c->idle) {
        struct link *l = list_entry(node, struct link, node);
        if (l->idle_since + c->idle_ms > now)
            break;
        http_link_close(l);
    }
    trim_spares();
    arm_idle_timer(c);
}

static void link_free(struct link *l)
{
    struct http_client *c = l->client;
    http_parse_fini(&l->parse);
    buf_fini(&l->tunnel);
    h2_link_free(l);
    if (l->found)
        uv_freeaddrinfo(l->found);
    free(l);
    if (--c->n_links == 0)
        timer_stop(c->loop, &c->idle_timer);
    http_client_kick(c); /* a call may be waiting for a connection */
    client_check_free(c);
}

/*
 * As http_link_close(), during a call: a reset, so that the peer notices at once and does not take
 * it for a half-close.
 */
static void link_abort(struct link *l)
{
    if (l->begun)
        stream_reset(&l->s);
    http_link_close(l);
}

/* Its call was detached already. The memory is freed when the stream has closed. */
void http_link_close(struct link *l)
{
    assert(!l->call);
    struct http_client *c = l->client;
    timer_stop(c->loop, &l->connect_timer);
    l->next_addr = NULL;
    list_remove(&l->node);
    list_push_back(&c->busy, &l->node);
    if (l->lookup) {
        l->lookup->link = NULL;
        (void)uv_cancel((uv_req_t *)&l->lookup->req);
        l->lookup = NULL;
    }
    if (l->begun) {
        stream_close(&l->s);
        return;
    }
    list_remove(&l->node);
    link_free(l);
}

static void link_failed(struct link *l, int r, const struct err *err)
{
    struct http_call *call = l->call;
    if (l->h2)
        h2_link_lost(l, r, err);
    if (call && !call_retry(call, l))
        http_call_fail(call, r == -EPIPE ? -ECONNRESET : r, err);
    http_link_close(l);
}

static void add_chunk(struct stream *s, struct str bytes)
{
    if (!bytes.n)
        return;
    (void)buf_printf(&s->out, "%zx\r\n", bytes.n);
    stream_write(s, bytes);
    stream_write(s, STR("\r\n"));
}

static void add_last_chunk(struct stream *s, const struct headers *trailers)
{
    (void)buf_add_cstr(&s->out, "0\r\n");
    http_add_trailers(&s->out, trailers);
    stream_write(s, STR("\r\n"));
}

static void send_chunked(struct link *l, struct http_call *call)
{
    struct str request = buf_str(&call->request);
    stream_write(&l->s, str_slice(request, 0, call->head_n));
    add_chunk(&l->s, str_slice(request, call->head_n, request.n));
    if (call->body.at == BODY_WHOLE)
        add_last_chunk(&l->s, &call->trailers);
}

static void link_send(struct link *l)
{
    struct http_call *call = l->call;
    http_call_move(call, CALL_SENT);
    l->got_byte = false;
    l->interim = 0;
    http_parse_reset(&l->parse, HTTP_RESPONSE);
    l->parse.to_head_request = call->is_head;
    l->parse.may_upgrade = call->upgrade;
    l->sent_before = l->s.sent_bytes;
    if (call->chunked) {
        send_chunked(l, call);
        stream_flush(&l->s);
    } else {
        stream_send(&l->s, buf_str(&call->request));
    }
    if (!l->used && call->request.cap > SPARE_REQUEST_BYTES)
        buf_fini(&call->request); /* never repeated */
    if (call->body.at == BODY_WHOLE)
        http_call_start_timer(call);
    else
        timer_stop(call->client->loop, &call->head_timer);
    if (http_call_is_paused(call))
        stream_pause(&l->s);
}

static void link_rest(struct link *l)
{
    struct http_client *c = l->client;
    l->used = true;
    l->idle_since = loop_now_ms(c->loop);
    trim_at_thread_end();
    http_parse_rest(&l->parse);
    list_remove(&l->node);
    list_push_back(&c->idle, &l->node);
    stream_resume(&l->s); /* to notice its end */
    arm_idle_timer(c);
    http_client_kick(c);
}

/*
 * The response is complete. left: unrequested bytes follow it. on_end() runs here, because the
 * user's code is never on the stack; it may start the link's next call or close the client.
 */
static void response_done(struct link *l, bool left)
{
    struct http_call *call = l->call;
    bool reusable = l->parse.keep_alive && !left && !stream_pending(&l->s) &&
                    !stream_is_at_eof(&l->s) && call->body.at == BODY_WHOLE &&
                    l->s.out_at != STREAM_OUT_MUTED && !l->client->closing;
    if (l->parse.trailers.n) {
        exchange_report_trailers(&call->x, &l->parse.trailers);
        if (l->call != call) /* cancelled: the link was closed with it */
            return;
    }
    http_call_finish(call, 0);
    if (reusable)
        link_rest(l);
    else
        http_link_close(l);
    defer_cancel(&call->end);
    on_call_end(&call->end);
}

void http_call_got_head(struct http_call *call, enum call_state to, int status,
                        const struct headers *headers)
{
    timer_stop(call->client->loop, &call->head_timer);
    http_call_move(call, to);
    exchange_report_head(&call->x, status, headers);
}

bool http_call_got_interim(struct http_call *call, unsigned *n, int status,
                           const struct headers *headers)
{
    if (++*n > HTTP_INTERIMS_MAX)
        return false;
    if (call->on_interim)
        call->on_interim(call->x.arg, status, headers);
    return true;
}

static bool is_interim(const struct link *l)
{
    return l->parse.status < 200 && !l->parse.upgrade;
}

/* The server has ended a tunnel. Bytes written before may still be in flight. */
static void tunnel_done(struct link *l);

/* Handle one event of the parser; false: stop for now. */
static bool step(struct link *l, int event, size_t left)
{
    struct http_call *call = l->call;
    struct err err = { 0 };
    switch (event) {
    case HTTP_EVENT_MORE:
        return false;
    case HTTP_EVENT_HEAD:
        if (!is_interim(l))
            http_call_got_head(call, l->parse.upgrade ? CALL_TUNNEL : CALL_HEAD, l->parse.status,
                               &l->parse.headers);
        else if (!http_call_got_interim(call, &l->interim, l->parse.status, &l->parse.headers))
            link_failed(l, err_set(&err, E_LIMIT, "too many interim responses"), &err);
        return true;
    case HTTP_EVENT_BODY:
        exchange_report_data(&call->x, l->parse.chunk);
        return true;
    case HTTP_EVENT_END:
        if (!is_interim(l)) {
            response_done(l, left > 0);
            return false;
        }
        http_parse_reset(&l->parse, HTTP_RESPONSE);
        l->parse.to_head_request = call->is_head;
        l->parse.may_upgrade = call->upgrade;
        return left > 0;
    }
    link_failed(l, err_set(&err, event, "malformed response: %s", l->parse.error), &err);
    return false;
}

/* Parse until the call pauses; returns the bytes consumed. */
static size_t advance(struct link *l, const char *p, size_t n)
{
    struct http_call *call = l->call;
    size_t used = 0;
    for (;;) {
        if (call->sm.at == CALL_TUNNEL) {
            if (http_call_is_paused(call))
                return used;
            if (used < n)
                exchange_report_data(&call->x, str_n(p + used, n - used));
            return n;
        }
        size_t took;
        int event = http_parse_feed(&l->parse, p + used, n - used, &took);
        used += took;
        bool over = event < 0 || (event == HTTP_EVENT_END && !is_interim(l));
        bool more = step(l, event, n - used);
        if (over || stream_is_closing(&l->s) ||
            l->call != call) /* the link may have another call already */
            return n;
        if (!more || http_call_is_paused(call))
            return used;
    }
}

static void ask_tunnel(struct link *l)
{
    const struct http_client *c = l->client;
    bool v6 = strchr(c->host, ':');
    const char *login = c->proxy_authorization;
    scoped(free_scoped) char *host =
        xasprintf("%s%s%s:%u", v6 ? "[" : "", c->host, v6 ? "]" : "", c->port);
    scoped(free_scoped) char *head =
        xasprintf("CONNECT %s HTTP/1.1\r\nhost: %s\r\n%s%s%s\r\n", host, host,
                  login ? "proxy-authorization: " : "", login ? login : "", login ? "\r\n" : "");
    l->tunnel_at = TUNNEL_ASKED;
    l->tunnel = BUF_INIT(TUNNEL_HEAD_MAX_BYTES);
    stream_write(&l->s, str_of(head));
    stream_flush(&l->s);
}

/* The head of the proxy's response. No bytes follow it, since in TLS the client speaks first. */
static size_t tunnel_data(struct link *l, const char *p, size_t n)
{
    struct err err = { 0 };
    int r = buf_add(&l->tunnel, p, n);
    struct str head = buf_str(&l->tunnel);
    if (r >= 0 && (head.n < 4 || memcmp(head.p + head.n - 4, "\r\n\r\n", 4) != 0))
        return n;
    if (r < 0 || head.n < 12 || !str_has_prefix(head, STR("HTTP/1.")) || head.p[9] != '2')
        r = err_set(&err, -ECONNREFUSED, "the proxy answers '" STR_FMT "' to CONNECT",
                    STR_ARG(str_slice(head, 0, MIN(head.n, (size_t)12))));
    buf_fini(&l->tunnel);
    l->tunnel_at = TUNNEL_OPEN;
    if (r >= 0)
        r = stream_start_tls(&l->s, l->client->tls, l->client->server_name, &err);
    if (r < 0)
        link_failed(l, r, &err);
    return n;
}

static size_t on_data(struct stream *s, const char *p, size_t n)
{
    struct link *l = container_of(s, struct link, s);
    if (l->h2)
        return h2_link_data(l, p, n);
    if (!l->call) { /* data on an idle link is an error */
        http_link_close(l);
        return n;
    }
    if (l->tunnel_at == TUNNEL_ASKED)
        return tunnel_data(l, p, n);
    l->got_byte = true;
    return advance(l, p, n);
}

/* After a pause only the end may be left, and no byte announces it. */
static void on_settled(struct stream *s)
{
    struct link *l = container_of(s, struct link, s);
    if (l->h2) {
        h2_link_settled(l);
        return;
    }
    if (l->ending && !stream_pending(s)) {
        http_link_close(l);
        return;
    }
    struct http_call *call = l->call;
    if (!call || !is_receiving(call))
        return;
    if (call->writable_owed && stream_pending(s) <= HTTP_WRITE_HIGH_BYTES / 4) {
        call->writable_owed = false;
        exchange_report_writable(&call->x);
        if (l->call != call)
            return;
    }
    if (call->reading.at != READING_RESUMED)
        return;
    http_call_caught_up(call);
    if (call->sm.at == CALL_HEAD && !stream_has_held(s))
        (void)advance(l, "", 0);
}

static void on_last_bytes_late(struct timer *t)
{
    http_link_close(container_of(t, struct link, connect_timer));
}

static void tunnel_done(struct link *l)
{
    struct http_call *call = l->call;
    http_call_finish(call, 0);
    l->ending = true; /* closed in on_settled() */
    stream_finish(&l->s);
    timer_start(l->client->loop, &l->connect_timer, LAST_BYTES_MS, on_last_bytes_late);
}

static void on_eof(struct stream *s)
{
    struct link *l = container_of(s, struct link, s);
    struct err err = { 0 };
    if (l->h2)
        h2_link_lost(l, err_set(&err, -ECONNRESET, "server closed the connection"), &err);
    if (l->tunnel_at == TUNNEL_ASKED) {
        link_failed(l, err_set(&err, -ECONNRESET, "the proxy closed the connection"), &err);
        return;
    }
    if (!l->call) {
        http_link_close(l);
        return;
    }
    if (l->call->sm.at == CALL_TUNNEL && l->s.in == STREAM_IN_ENDED) {
        tunnel_done(l);
        return;
    }
    bool ends_so = l->got_byte && http_parse_eof(&l->parse) == HTTP_EVENT_END && !is_interim(l);
    if (ends_so && (s->in == STREAM_IN_ENDED || !l->parse.until_eof)) {
        response_done(l, false);
        return;
    }
    link_failed(l,
                err_set(&err, -ECONNRESET,
                        l->got_byte ? "response broke off" : "server closed the connection"),
                &err);
}

/* ------------------------------------------------------------------ bodies that stream */

/* Whether the call writes to its connection directly, as HTTP/1.1 or raw. */
static bool owns_link(const struct http_call *call)
{
    return call->link && !call->link->h2 && is_receiving(call);
}

static size_t pending(const struct http_call *call)
{
    if (call->sm.at == CALL_ENDED)
        return 0;
    if (owns_link(call))
        return stream_pending(&call->link->s);
    return call->link && call->link->h2 ? h2_call_pending(call) : call->request.n - call->head_n;
}

size_t http_call_pending(const struct exchange *x)
{
    return pending(call_of(x));
}

static void body_complete(struct http_call *call)
{
    sm_move(&call->body, BODY_WHOLE);
    if (call->sm.at == CALL_SENT) /* now the server must answer */
        http_call_start_timer(call);
}

static bool write_body(struct exchange *x, struct str chunk)
{
    struct http_call *call = call_of(x);
    if (call->sm.at == CALL_ENDED || !chunk.n)
        return true;
    assert(call->body.at == BODY_OPEN || call->sm.at == CALL_TUNNEL);
    if (call->sm.at != CALL_TUNNEL && !call->chunked) {
        assert(chunk.n <= call->body_left);
        call->body_left -= chunk.n;
        if (call->body_left == 0)
            body_complete(call);
    }
    if (owns_link(call)) {
        http_call_bar_retry(call);
        if (call->chunked)
            add_chunk(&call->link->s, chunk);
        else
            stream_write(&call->link->s, chunk);
    } else if (buf_add_str(&call->request, chunk) < 0) {
        struct err err = { 0 };
        struct link *l = call->link;
        http_call_fail(call, err_set(&err, E_LIMIT, "request too large"), &err);
        if (l && !l->h2)
            link_abort(l);
        return true;
    } else if (call->link && call->link->h2) {
        h2_call_more(call);
    }
    call->writable_owed |= pending(call) > HTTP_WRITE_HIGH_BYTES;
    return !call->writable_owed;
}

static void end_body(struct exchange *x, const struct headers *trailers)
{
    struct http_call *call = call_of(x);
    struct link *l = call->link;
    if (call->sm.at == CALL_ENDED)
        return;
    if (call->sm.at == CALL_TUNNEL) {
        stream_finish(&l->s);
        return;
    }
    if (call->body.at == BODY_WHOLE)
        return;
    if (call->body_left) {
        http_call_finish(call, err_set(&call->err, -EINVAL, "the body is %llu bytes short",
                                       (unsigned long long)call->body_left));
        if (l && !l->h2)
            link_abort(l);
        return;
    }
    body_complete(call);
    if (call->chunked && trailers)
        (void)headers_copy(&call->trailers, trailers);
    if (owns_link(call) && call->chunked) {
        http_call_bar_retry(call);
        add_last_chunk(&l->s, &call->trailers);
    } else if (l && l->h2) {
        h2_call_more(call);
    }
}

static const struct exchange_ops call_ops = { .write = write_body,
                                              .end_body = end_body,
                                              .pause = pause_call,
                                              .resume = resume_call,
                                              .cancel = cancel_call };

/* With TLS by the result of ALPN, in clear text by prior knowledge. */
static bool speaks_http2(const struct link *l)
{
    const unsigned char *name;
    unsigned n;
    if (!l->client->http2 || !l->s.ssl)
        return l->client->http2;
    SSL_get0_alpn_selected(l->s.ssl, &name, &n);
    return str_is(str_n((const char *)name, n), "h2");
}

static void on_open(struct stream *s)
{
    struct link *l = container_of(s, struct link, s);
    if (l->client->proxy_host && l->tunnel_at == TUNNEL_NONE) {
        ask_tunnel(l);
        return;
    }
    timer_stop(l->client->loop, &l->connect_timer);
    s->reads_on = true; /* a server that refuses a body may close before all of it is sent */
    if (speaks_http2(l))
        h2_link_open(l);
    else if (l->call)
        link_send(l);
    else
        link_rest(l);
    if (l->client->http2)
        http_client_kick(l->client); /* calls were waiting for the protocol */
}

/* The host to which the connection is made. */
static const char *peer_host(const struct http_client *c)
{
    return c->proxy_host ? c->proxy_host : c->host;
}

static uint16_t peer_port(const struct http_client *c)
{
    return c->proxy_host ? c->proxy_port : c->port;
}

static const char *peer_kind(const struct http_client *c)
{
    return c->proxy_host ? "the proxy " : "";
}

static const char *client_name(const struct http_client *c)
{
    return c->unix_path ? c->unix_path : peer_host(c);
}

/* With an open tunnel the host was not reached, before that the proxy. */
static void add_target(const struct link *l, int r, struct err *err)
{
    const struct http_client *c = l->client;
    if (l->tunnel_at == TUNNEL_OPEN)
        (void)err_ctx(err, r, "connect to '%s' port %u", c->host, c->port);
    else
        (void)err_ctx(err, r, "connect to %s'%s' port %u", peer_kind(c), client_name(c),
                      peer_port(c));
}

static void on_error(struct stream *s, int r, const struct err *err)
{
    struct link *l = container_of(s, struct link, s);
    struct err full = *err;
    if (s->at == STREAM_UNREACHED && l->next_addr && l->call) {
        stream_close(s); /* on_link_closed() tries the next one */
        return;
    }
    if (s->at == STREAM_UNREACHED)
        add_target(l, r, &full);
    link_failed(l, r, &full);
}

static int connect_to(struct link *l, const struct sockaddr *addr, struct err *err);

static struct addrinfo *first_allowed(const struct http_client *c, struct addrinfo *at)
{
    while (at && c->may_connect && !c->may_connect(c->may_connect_arg, at->ai_addr))
        at = at->ai_next;
    return at;
}

static void connect_next(struct link *l)
{
    struct err err = { 0 };
    struct addrinfo *at = l->next_addr;
    l->next_addr = first_allowed(l->client, at->ai_next);
    int r = connect_to(l, at->ai_addr, &err);
    if (r < 0)
        link_failed(l, r, &err);
}

static void on_link_closed(struct stream *s)
{
    struct link *l = container_of(s, struct link, s);
    if (l->next_addr && l->call) {
        connect_next(l);
        return;
    }
    list_remove(&l->node);
    link_free(l);
}

static const struct stream_ops link_ops = {
    .on_open = on_open,
    .on_data = on_data,
    .on_eof = on_eof,
    .on_settled = on_settled,
    .on_error = on_error,
    .on_closed = on_link_closed,
};

/* ------------------------------------------------------------------ connecting */

static void on_connect_timeout(struct timer *t)
{
    struct link *l = container_of(t, struct link, connect_timer);
    struct err err = { 0 };
    link_failed(l,
                err_set(&err, -ETIMEDOUT, "connect to %s'%s' port %u: no connection within %llu ms",
                        peer_kind(l->client), client_name(l->client), peer_port(l->client),
                        (unsigned long long)l->client->connect_timeout_ms),
                &err);
}

static int connect_to(struct link *l, const struct sockaddr *addr, struct err *err)
{
    struct http_client *c = l->client;
    l->begun = true;
    struct tls_ctx *tls = c->proxy_host ? NULL : c->tls; /* later, through the tunnel */
    int r = addr ? stream_connect_tcp(&l->s, c->loop, addr, tls, c->server_name, &link_ops, err)
                 : stream_connect_unix(&l->s, c->loop, c->unix_path, c->tls, c->server_name,
                                       &link_ops, err);
    if (r >= 0 && c->http2 && l->s.ssl)
        tls_ssl_offer_h2(l->s.ssl);
    if (r >= 0 && c->user_timeout_ms)
        stream_set_user_timeout(&l->s, c->user_timeout_ms);
    return r;
}

static int no_address(const struct http_client *c, struct err *err)
{
    return err_set(err, -EACCES, "'%s' is at no address that may be connected to", peer_host(c));
}

static void on_lookup(uv_getaddrinfo_t *req, int status, struct addrinfo *found)
{
    struct lookup *lookup = container_of(req, struct lookup, req);
    struct link *l = lookup->link;
    free(lookup);
    if (!l) {
        uv_freeaddrinfo(found);
        return;
    }
    l->lookup = NULL;
    if (status < 0) {
        struct err err = { 0 };
        int r = err_set(&err, -EHOSTUNREACH, "find %s'%s': %s", peer_kind(l->client),
                        peer_host(l->client), uv_strerror(status));
        link_failed(l, r, &err);
        return;
    }
    l->found = found;
    l->next_addr = first_allowed(l->client, found);
    if (!l->next_addr) {
        struct err err = { 0 };
        int r = no_address(l->client, &err);
        link_failed(l, r, &err);
        return;
    }
    connect_next(l);
}

static int look_up(struct link *l, struct err *err)
{
    struct http_client *c = l->client;
    struct lookup *lookup = xnew(struct lookup);
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    char port[8];
    (void)snprintf(port, sizeof port, "%u", peer_port(c));
    lookup->link = l;
    int r =
        work_pool_getaddrinfo(&c->loop->uv, &lookup->req, on_lookup, peer_host(c), port, &hints);
    if (r < 0) {
        free(lookup);
        return err_sys(err, r, "find %s'%s'", peer_kind(c), peer_host(c));
    }
    l->lookup = lookup;
    return 0;
}

/* Open a new link for this call. An immediate failure ends the call. */
static void link_new(struct http_client *c, struct http_call *call)
{
    struct link *l = xnew(struct link);
    l->client = c;
    l->call = call;
    call->link = l;
    http_call_move(call, CALL_LINKED);
    list_remove(&call->node);
    list_push_back(&c->calls, &call->node);
    list_push_back(&c->busy, &l->node);
    c->n_links++;
    timer_start(c->loop, &l->connect_timer, c->connect_timeout_ms, on_connect_timeout);
    struct sockaddr_storage addr;
    struct err err = { 0 };
    int r;
    if (c->unix_path)
        r = connect_to(l, NULL, &err);
    else if (uv_ip4_addr(peer_host(c), peer_port(c), (struct sockaddr_in *)&addr) == 0 ||
             uv_ip6_addr(peer_host(c), peer_port(c), (struct sockaddr_in6 *)&addr) == 0)
        r = c->may_connect && !c->may_connect(c->may_connect_arg, (struct sockaddr *)&addr)
                ? no_address(c, &err)
                : connect_to(l, (struct sockaddr *)&addr, &err);
    else
        r = look_up(l, &err);
    if (r < 0)
        link_failed(l, r, &err);
}

/* ------------------------------------------------------------------ the queue */

/*
 * The peer's FIN may have reached the kernel already; a call that must not be repeated should not
 * be sent then.
 */
static bool is_dead(struct link *l)
{
    uv_os_fd_t fd;
    char byte;
    if (uv_fileno(&l->s.uv.handle, &fd) < 0)
        return true;
    ssize_t n = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n == 0 || (n > 0 && !l->s.ssl) || (n < 0 && errno != EAGAIN);
}

/* The link used last is the most likely to be alive. A call that met a dead link gets a new one. */
static struct link *idle_link(struct http_client *c, const struct http_call *call)
{
    while (call->retry.at != RETRY_TAKEN && !list_is_empty(&c->idle)) {
        struct link *l = list_entry(c->idle.prev, struct link, node);
        bool fresh = l->idle_since == loop_now_ms(c->loop);
        if (call->repeatable || fresh || !is_dead(l))
            return l;
        http_link_close(l);
    }
    return NULL;
}

/* Whether a connection is being opened that may turn out to speak HTTP/2 and carry many calls. */
static bool is_connecting(const struct http_client *c)
{
    list_each (node, &c->busy) {
        const struct link *l = list_entry(node, struct link, node);
        if (l->call && l->call->sm.at == CALL_LINKED)
            return true;
    }
    return false;
}

static bool serve_shared(struct http_client *c, struct http_call *call)
{
    list_each (node, &c->shared) {
        struct link *l = list_entry(node, struct link, node);
        if (!h2_link_has_room(l))
            continue;
        list_remove(&call->node);
        list_push_back(&c->calls, &call->node);
        call->link = l;
        http_call_move(call, CALL_LINKED);
        h2_link_send(l, call);
        return true;
    }
    return false;
}

static bool serve_one(struct http_client *c)
{
    struct http_call *call = list_first(&c->queue, struct http_call, node);
    if (c->http2 && serve_shared(c, call))
        return true;
    if (c->http2 && is_connecting(c))
        return false; /* wait for its protocol */
    struct link *l = idle_link(c, call);
    if (l) {
        list_remove(&l->node);
        list_push_back(&c->busy, &l->node);
        list_remove(&call->node);
        list_push_back(&c->calls, &call->node);
        l->call = call;
        call->link = l;
        http_call_move(call, CALL_LINKED);
        link_send(l);
        return true;
    }
    if (c->n_links >= c->max_links) {
        if (!list_is_empty(&c->idle)) /* only for a retried call: make room */
            http_link_close(list_first(&c->idle, struct link, node));
        return false;
    }
    link_new(c, call);
    return true;
}

static void serve(struct http_client *c)
{
    while (!c->closing && !list_is_empty(&c->queue) && serve_one(c))
        ;
}

static void on_turn(struct defer *d)
{
    serve(container_of(d, struct http_client, turn));
}

void http_client_kick(struct http_client *c)
{
    if (!c->closing && !list_is_empty(&c->queue))
        defer_start(c->loop, &c->turn, on_turn);
}

/* ------------------------------------------------------------------ interface */

int http_client_new(struct loop *loop, const struct http_client_opts *opts,
                    struct http_client **ret, struct err *err)
{
    if (!opts->host && !opts->unix_path)
        return err_set(err, -EINVAL, "a client needs a host or a socket path");
    struct http_client *c = xnew(struct http_client);
    *c = (struct http_client){
        .loop = loop,
        .host = xstrdup(opts->host ? opts->host : "localhost"),
        .unix_path = opts->unix_path ? xstrdup(opts->unix_path) : NULL,
        .port = opts->port,
        .proxy_host = opts->tls && opts->proxy_host ? xstrdup(opts->proxy_host) : NULL,
        .proxy_port = opts->proxy_port,
        .proxy_authorization =
            opts->proxy_authorization ? xstrdup(opts->proxy_authorization) : NULL,
        .tls = opts->tls,
        .http2 = opts->http2,
        .ping_ms = opts->ping_ms,
        .ping_timeout_ms = opts->ping_timeout_ms,
        .user_timeout_ms = opts->user_timeout_ms,
        .may_connect = opts->may_connect,
        .may_connect_arg = opts->may_connect_arg,
        .max_links = opts->max_connections ? opts->max_connections : CONNECTIONS_DEFAULT,
        .connect_timeout_ms =
            opts->connect_timeout_ms ? opts->connect_timeout_ms : CONNECT_TIMEOUT_DEFAULT_MS,
        .idle_ms = opts->idle_ms ? opts->idle_ms : HTTP_CLIENT_IDLE_MS,
    };
    c->server_name = xstrdup(opts->server_name ? opts->server_name : c->host);
    list_init(&c->queue);
    list_init(&c->calls);
    list_init(&c->idle);
    list_init(&c->busy);
    list_init(&c->shared);
    *ret = c;
    return 0;
}

struct loop *http_client_loop(const struct http_client *c)
{
    return c->loop;
}

static void client_check_free(struct http_client *c)
{
    if (!c->closing || c->n_links || c->n_calls || list_is_linked(&c->turn.node))
        return;
    free(c->host);
    free(c->unix_path);
    free(c->server_name);
    free(c->proxy_host);
    free(c->proxy_authorization);
    free(c);
    trim_spares();
}

static void on_close_turn(struct defer *d)
{
    client_check_free(container_of(d, struct http_client, turn));
}

void http_client_close(struct http_client *c)
{
    assert(!c->closing);
    c->closing = true;
    defer_cancel(&c->turn);
    defer_start(c->loop, &c->turn,
                on_close_turn); /* frees c if nothing else holds it; c lives until then */
    timer_stop(c->loop, &c->idle_timer);
    while (!list_is_empty(&c->queue))
        call_cancel(list_first(&c->queue, struct http_call, node));
    list_each_safe (node, &c->calls) {
        struct http_call *call = list_entry(node, struct http_call, node);
        if (call->sm.at != CALL_ENDED)
            call_cancel(call);
    }
    list_each_safe (node, &c->idle)
        http_link_close(list_entry(node, struct link, node));
    list_each_safe (node, &c->shared)
        http_link_close(list_entry(node, struct link, node));
}

static void add_authority(const struct http_client *c, struct buf *b)
{
    bool default_port = c->unix_path || c->port == (c->tls ? 443 : 80);
    bool v6 = strchr(c->server_name, ':') != NULL;
    (void)buf_add_cstr(b, v6 ? "[" : "");
    (void)buf_add_cstr(b, c->server_name);
    (void)buf_add_cstr(b, v6 ? "]" : "");
    if (!default_port) {
        (void)buf_add_char(b, ':');
        (void)buf_add_u64_dec(b, c->port);
    }
}

static int add_h2(struct http_call *call, const struct http_call_opts *opts)
{
    scoped(buf_fini_scoped) struct buf authority = BUF_INIT(4096);
    add_authority(call->client, &authority);
    int r = call->head_n ? 0 : buf_add_str(&call->request, opts->body);
    return r < 0 ? r : h2_call_new(call, opts, buf_str(&authority));
}

static int add_head(struct http_call *call, const struct http_call_opts *opts)
{
    struct http_client *c = call->client;
    struct buf *b = &call->request;
    http_reserve_head(b, opts->headers);
    if (c->http2 && !c->tls) /* prior knowledge: no HTTP/1.1 text is needed */
        return add_h2(call, opts);
    (void)buf_add_str(b, opts->method);
    (void)buf_add_char(b, ' ');
    (void)buf_add_str(b, opts->target);
    (void)buf_add_cstr(b, " HTTP/1.1\r\n");
    if (!opts->headers || !headers_get(opts->headers, "host").p) {
        (void)buf_add_cstr(b, "host: ");
        add_authority(c, b);
        (void)buf_add_cstr(b, "\r\n");
    }
    for (size_t i = 0; opts->headers && i < opts->headers->n; i++) {
        struct str name = headers_name(opts->headers, i);
        if (!http_is_framing(name) && (opts->upgrade || !str_is(name, "upgrade")))
            http_add_field(b, name, headers_value(opts->headers, i));
    }
    if (opts->upgrade)
        (void)buf_add_cstr(b, "connection: upgrade\r\n");
    bool has_body = opts->streams || opts->body.n || str_is(opts->method, "POST") ||
                    str_is(opts->method, "PUT") || str_is(opts->method, "PATCH");
    if (call->chunked) {
        (void)buf_add_cstr(b, "transfer-encoding: chunked\r\n");
    } else if (has_body) {
        (void)buf_add_cstr(b, "content-length: ");
        (void)buf_add_u64_dec(b, opts->streams ? opts->body_n : opts->body.n);
        (void)buf_add_cstr(b, "\r\n");
    }
    (void)buf_add_cstr(b, "\r\n");
    call->head_n = b->n;
    int r = buf_add_str(b, opts->body);
    return r < 0 || !c->http2 ? r : add_h2(call, opts);
}

static bool is_target(struct str t)
{
    for (size_t i = 0; i < t.n; i++)
        if ((unsigned char)t.p[i] <= ' ' || t.p[i] == 0x7f)
            return false;
    bool has_form = t.n && (t.p[0] == '/' || str_is(t, "*") ||
                            str_has_prefix(t, STR("http://"))); /* for a proxy */
    return has_form && t.n <= HTTP_URI_MAX_BYTES;
}

int http_call_start(struct http_client *c, const struct http_call_opts *opts, struct exchange **ret,
                    struct err *err)
{
    if (c->closing)
        return err_set(err, -ESHUTDOWN, "client is closed");
    if (!http_is_token(opts->method) || !is_target(opts->target))
        return err_set(err, -EINVAL, "malformed method or target");
    if (opts->streams && opts->body.n > opts->body_n)
        return err_set(err, -EINVAL, "more body than announced");
    if (opts->upgrade && (c->http2 || opts->streams || opts->body.n))
        return err_set(err, -EINVAL, "an upgrade is for HTTP/1.1 and has no body");
    struct http_call *call = call_new();
    struct buf room = call->request;
    buf_reset(&room);
    room.max = STREAM_OUT_MAX_BYTES / 2;
    *call = (struct http_call){
        .x = { .ops = &call_ops, .events = opts->events, .arg = opts->arg },
        .on_interim = opts->on_interim,
        .client = c,
        .request = room,
        .is_head = str_is(opts->method, "HEAD"),
        .head_timeout_ms = opts->head_timeout_ms,
        .chunked = opts->streams && opts->body_n == HTTP_CHUNKED,
        .upgrade = opts->upgrade,
        .reset_code = -1,
    };
    if (opts->streams && !call->chunked)
        call->body_left = opts->body_n - opts->body.n;
    call->repeatable = call->is_head || str_is(opts->method, "GET");
    sm_init(&call->sm, call_table, CALL_QUEUED);
    sm_init(&call->body, body_table, call->chunked || call->body_left ? BODY_OPEN : BODY_WHOLE);
    sm_init(&call->reading, reading_table, READING_ON);
    sm_init(&call->retry, retry_table, RETRY_LEFT);
    sm_init(&call->seen, seen_table, SEEN_NOTHING);
    if (add_head(call, opts) < 0) {
        call_free(call);
        return err_set(err, -EMSGSIZE, "request too large");
    }
    list_push_back(&c->queue, &call->node);
    c->n_calls++;
    *ret = &call->x;
    http_call_start_timer(call); /* other calls may hold the connections for ever */
    serve(c);                    /* does not call back */
    return 0;
}
