/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP/2 sessions; see http2_session.h. */
#include "io/http2_session.h"

#include "base/mem.h"
#include "io/http.h"
#include "io/http_text.h"

#include <errno.h>

/*
 * nghttp2 makes each frame in a block of 16 KiB that a session keeps for life, which is more than
 * all other memory of an idle connection. h2_pump() takes each frame as soon as it is made, so the
 * block is empty between two turns, and all sessions of a thread share one. (Frames that need a
 * second block, heads beyond 16 KiB, get their own as usual.) Therefore the thread that made a
 * session must free it.
 */
enum { FRAME_BLOCK_BYTES = 20 << 10, FRAME_BLOCK_MIN_BYTES = 16 << 10 };
static _Thread_local struct {
    void *block;
    bool lent; /* to the nghttp2 session that is being created */
} frames = { .lent = true };

static void *h2_malloc(size_t n, void *arg)
{
    return malloc(n);
}

static void *h2_calloc(size_t n, size_t size, void *arg)
{
    return calloc(n, size);
}

static void *h2_realloc(void *p, size_t n, void *arg)
{
    assert(!p || p != frames.block); /* no frame outgrows it */
    if (p || frames.lent || n < FRAME_BLOCK_MIN_BYTES || n > FRAME_BLOCK_BYTES)
        return realloc(p, n);
    frames.lent = true;
    if (!frames.block)
        frames.block = xalloc(FRAME_BLOCK_BYTES);
    return frames.block;
}

static void h2_free(void *p, void *arg)
{
    if (p != frames.block)
        free(p);
}

/* ------------------------------------------------------------------ sessions */

nghttp2_session_callbacks *h2_callbacks_new(void)
{
    nghttp2_session_callbacks *cb;
    if (nghttp2_session_callbacks_new(&cb) != 0)
        abort(); /* out of memory */
    return cb;
}

nghttp2_session *h2_session_new(bool is_server, nghttp2_session_callbacks *cb, void *arg)
{
    nghttp2_mem mem = {
        .malloc = h2_malloc, .free = h2_free, .calloc = h2_calloc, .realloc = h2_realloc
    };
    nghttp2_option *opt;
    nghttp2_session *ng;
    if (nghttp2_option_new(&opt) != 0)
        abort();
    nghttp2_option_set_no_auto_window_update(opt, 1);
    nghttp2_option_set_no_closed_streams(opt, 1);
    nghttp2_option_set_max_deflate_dynamic_table_size(opt, H2_HPACK_BYTES);
    assert(frames.lent); /* else a session is being created already */
    frames.lent = false;
    if ((is_server ? nghttp2_session_server_new3(&ng, cb, arg, opt, &mem)
                   : nghttp2_session_client_new3(&ng, cb, arg, opt, &mem)) != 0)
        abort();
    frames.lent = true;
    nghttp2_session_callbacks_del(cb);
    nghttp2_option_del(opt);
    return ng;
}

void h2_pump(nghttp2_session *ng, struct stream *s)
{
    size_t before = s->out.n;
    ssize_t n = 1;
    while (n > 0 && stream_pending(s) < H2_WIRE_BYTES) {
        const uint8_t *p;
        n = nghttp2_session_mem_send(ng, &p); /* DATA is written by h2_send_data() */
        if (n > 0 && buf_add(&s->out, p, (size_t)n) < 0)
            n = NGHTTP2_ERR_NOMEM;
    }
    if (n < 0)
        stream_fail(s, E_LIMIT, nghttp2_strerror((int)n));
    else if (s->out.n > before)
        stream_kick(s);
}

int h2_send_data(struct stream *s, const uint8_t *head, const char *bytes, size_t n)
{
    enum { FRAME_HEAD_BYTES = 9 };
    if (buf_add(&s->out, head, FRAME_HEAD_BYTES) < 0 || buf_add(&s->out, bytes, n) < 0)
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    return stream_pending(s) < H2_WIRE_BYTES ? 0 : NGHTTP2_ERR_PAUSE;
}

/* ------------------------------------------------------------------ pings */

static const uint8_t ping_text[8] = { 'a', 'l', 'i', 'v', 'e', '?', 0, 0 };

bool h2_ping_is_ours(const nghttp2_ping *frame)
{
    return memcmp(frame->opaque_data, ping_text, sizeof ping_text) == 0;
}

static void on_ping_due(struct timer *t)
{
    struct h2_ping *p = container_of(t, struct h2_ping, timer);
    assert(p->every_ms && !stream_is_closing(p->s) && p->heard_ms <= loop_now_ms(p->loop));
    uint64_t silent = loop_now_ms(p->loop) - p->heard_ms;
    if (p->asked) {
        stream_fail(p->s, -ETIMEDOUT, "peer does not answer a ping");
        return;
    }
    if (silent < p->every_ms) {
        timer_start(p->loop, t, p->every_ms - silent, on_ping_due);
        return;
    }
    p->asked = true;
    (void)nghttp2_submit_ping(p->ng, NGHTTP2_FLAG_NONE, ping_text);
    stream_kick(p->s);
    timer_start(p->loop, t, p->timeout_ms, on_ping_due);
}

void h2_ping_init(struct h2_ping *p, struct stream *s, nghttp2_session *ng, uint64_t every_ms,
                  uint64_t timeout_ms)
{
    *p = (struct h2_ping){ .loop = s->loop,
                           .s = s,
                           .ng = ng,
                           .every_ms = every_ms,
                           .timeout_ms = timeout_ms ? timeout_ms : (uint64_t)HTTP_PING_TIMEOUT_MS };
}

void h2_ping_start(struct h2_ping *p)
{
    if (!p->every_ms || timer_is_armed(&p->timer))
        return;
    p->heard_ms = loop_now_ms(p->loop);
    p->asked = false;
    timer_start(p->loop, &p->timer, p->every_ms, on_ping_due);
}

void h2_ping_stop(struct h2_ping *p)
{
    if (p->every_ms)
        timer_stop(p->loop, &p->timer);
}

void h2_ping_heard(struct h2_ping *p)
{
    if (!timer_is_armed(&p->timer))
        return;
    p->heard_ms = loop_now_ms(p->loop);
    if (p->asked)
        timer_start(p->loop, &p->timer, p->every_ms, on_ping_due);
    p->asked = false;
}

/* ------------------------------------------------------------------ fields */

nghttp2_nv h2_field(struct str name, struct str value)
{
    return (nghttp2_nv){ .name = (uint8_t *)name.p,
                         .namelen = name.n,
                         .value = (uint8_t *)value.p,
                         .valuelen = value.n };
}

bool h2_is_plain(struct str name, struct str value)
{
    if (name.n == 2 && str_is(name, "te"))
        return str_ieq(value, STR("trailers"));
    return !http_is_framing(name) && !(name.n == 7 && str_is(name, "upgrade"));
}

size_t h2_trailers(nghttp2_nv *nv, const struct headers *trailers)
{
    size_t n = 0;
    for (size_t i = 0; trailers && i < trailers->n; i++)
        if (http_is_trailer(headers_name(trailers, i)))
            nv[n++] = h2_field(headers_name(trailers, i), headers_value(trailers, i));
    return n;
}
