/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of handlers, for both versions of HTTP; see http.h. */
#include "io/http_server_int.h"

#include <stdio.h>

const struct sm_state http_out_table[] = {
    [HTTP_OUT_NONE] = { "none", EDGE(HTTP_OUT_OPEN) | EDGE(HTTP_OUT_RESET) | EDGE(HTTP_OUT_GONE) },
    [HTTP_OUT_OPEN] = { "open", EDGE(HTTP_OUT_ENDED) | EDGE(HTTP_OUT_RESET) | EDGE(HTTP_OUT_GONE) },
    [HTTP_OUT_ENDED] = { "ended",
                         EDGE(HTTP_OUT_REFUSED) | EDGE(HTTP_OUT_RESET) | EDGE(HTTP_OUT_GONE) },
    [HTTP_OUT_REFUSED] = { "refused", EDGE(HTTP_OUT_RESET) | EDGE(HTTP_OUT_GONE) },
    [HTTP_OUT_RESET] = { "reset", EDGE(HTTP_OUT_GONE) },
    [HTTP_OUT_GONE] = { "gone", 0 },
};
const struct sm_state http_body_table[] = {
    [HTTP_BODY_UNASKED] = { "unasked", EDGE(HTTP_BODY_ASKED) | EDGE(HTTP_BODY_ENDED) },
    [HTTP_BODY_ASKED] = { "asked", EDGE(HTTP_BODY_ENDED) | EDGE(HTTP_BODY_UNASKED) },
    [HTTP_BODY_ENDED] = { "ended", EDGE(HTTP_BODY_UNASKED) },
};

void http_exchange_refuse(struct http_exchange *x, int status, const char *why)
{
    if (x->out != HTTP_OUT_NONE)
        return;
    char body[128];
    int n = snprintf(body, sizeof body, "%s\n", why);
    struct headers h = { 0 };
    (void)headers_addc(&h, "content-type", "text/plain; charset=utf-8");
    http_reply(x, status, &h, str_n(body, MIN((size_t)n, sizeof body - 1)));
    headers_fini(&h);
    if (x->out == HTTP_OUT_ENDED) /* else HTTP/2 has reset the stream */
        http_exchange_move_out(x, HTTP_OUT_REFUSED);
}

void http_exchange_init(struct http_exchange *x, const struct exchange_kind *kind, struct conn *c)
{
    static const struct http_exchange_ops no_ops;
    *x = (struct http_exchange){ .kind = kind, .c = c, .ops = &no_ops };
}

void http_exchange_fini(struct http_exchange *x)
{
    headers_fini(&x->trailers);
}

void http_body_pace_start(struct body_pace *p, const struct conn *c)
{
    *p = (struct body_pace){ .since_ms = loop_now_ms(c->srv->loop) };
}

bool http_body_pace_is_too_slow(const struct body_pace *p, const struct conn *c)
{
    uint64_t ms = loop_now_ms(c->srv->loop) - p->since_ms;
    return ms > 2 * c->srv->body_idle_ms && p->bytes < ms * HTTP_BODY_MIN_BYTES_PER_S / 1000;
}

void http_exchange_set(struct http_exchange *x, const struct http_exchange_ops *ops, void *data)
{
    assert(ops && x->out != HTTP_OUT_GONE);
    x->ops = ops;
    x->data = data;
}

void *http_exchange_data(const struct http_exchange *x)
{
    return x->data;
}

void http_read_body(struct http_exchange *x, uint64_t max_bytes)
{
    x->kind->read_body(x, max_bytes);
}

void http_pause_body(struct http_exchange *x)
{
    x->kind->pause_body(x);
}

void http_resume_body(struct http_exchange *x)
{
    x->kind->resume_body(x);
}

void http_let_body_idle(struct http_exchange *x)
{
    x->body_may_idle = true;
}

const struct headers *http_request_trailers(const struct http_exchange *x)
{
    return x->request_trailers;
}

void http_inform(struct http_exchange *x, int status, const struct headers *headers)
{
    assert(status >= 102 && status < 200);
    x->kind->inform(x, status, headers);
}

void http_respond(struct http_exchange *x, int status, const struct headers *headers,
                  uint64_t body_n)
{
    assert(status >= 100 && status <= 999);
    x->kind->respond(x, status, headers, body_n);
}

bool http_write(struct http_exchange *x, struct str chunk)
{
    return x->kind->write(x, chunk);
}

size_t http_write_pending(const struct http_exchange *x)
{
    return x->kind->pending(x);
}

void http_trailers(struct http_exchange *x, const struct headers *trailers)
{
    if (headers_copy(&x->trailers, trailers) < 0)
        abort(); /* the limits were checked before: out of memory */
}

void http_upgrade(struct http_exchange *x, const struct headers *headers)
{
    assert(x->req.upgrade);
    x->kind->upgrade(x, headers);
}

void http_end(struct http_exchange *x)
{
    x->kind->end(x);
}

void http_reply(struct http_exchange *x, int status, const struct headers *headers, struct str body)
{
    http_respond(x, status, headers, body.n);
    (void)http_write(x, body);
    http_end(x);
}

void http_abort(struct http_exchange *x)
{
    x->kind->abort(x);
}

bool http_exchange_peer(const struct http_exchange *x, struct arena *a, struct tls_peer *ret)
{
    return x->c->s.ssl && tls_peer_of(x->c->s.ssl, a, ret);
}
