/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed answers; see compress.h. */
#include "api/compress.h"

#include "api/core.h"
#include "codec/gzip.h"
#include "io/http.h"

#include <assert.h>

struct compress {
    struct request *rq;
    const struct sink_ops *sink; /* the next sink */
    struct gzip *gzip;
    struct buf in; /* uncompressed input; bytes before `at` are done */
    size_t at;
    struct defer turn;
    bool ended, sink_full, writable_owed;
};

static void next_slice(struct compress *z);

static void on_turn(struct defer *d)
{
    next_slice(container_of(d, struct compress, turn));
}

static size_t waiting(const struct compress *z)
{
    return z->in.n - z->at;
}

/* Compress `piece` and write the output to the sink. */
static void put(struct compress *z, struct str piece, bool end)
{
    struct request *rq = z->rq;
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(BUF_MAX_DEFAULT);
    if (gzip_add(z->gzip, piece, end, &out) < 0)
        z->sink->abort(rq);
    else if (out.n)
        z->sink_full = !z->sink->write(rq, buf_str(&out));
}

static void finish(struct compress *z)
{
    put(z, STR(""), true);
    z->sink->end(z->rq);
}

/*
 * Compress one slice, then do what that makes possible. Called again from the sink or on the next
 * turn.
 */
static void next_slice(struct compress *z)
{
    struct request *rq = z->rq;
    assert(z->at <= z->in.n);
    if (z->sink_full || rq->gone)
        return;
    if (waiting(z)) {
        size_t n = MIN(waiting(z), (size_t)COMPRESS_SLICE_BYTES);
        put(z, str_n(z->in.p + z->at, n), false);
        z->at += n;
    }
    if (waiting(z)) {
        defer_start(rq->api->loop, &z->turn, on_turn);
        return;
    }
    buf_fini(&z->in);
    z->at = 0;
    if (z->ended) {
        finish(z);
    } else if (z->writable_owed && !z->sink_full) {
        z->writable_owed = false;
        if (rq->on_writable)
            rq->on_writable(rq);
    }
}

static bool compress_write(struct request *rq, struct str chunk)
{
    struct compress *z = rq->compress;
    assert(!z->ended);
    if (!waiting(z)) {
        struct str now = str_slice(chunk, 0, COMPRESS_SLICE_BYTES);
        put(z, now, false);
        chunk = str_slice(chunk, now.n, chunk.n);
    }
    if (chunk.n) {
        if (buf_add_str(&z->in, chunk) < 0)
            z->sink->abort(rq);
        defer_start(rq->api->loop, &z->turn, on_turn);
    }
    z->writable_owed = z->sink_full || waiting(z);
    return !z->writable_owed;
}

static void compress_end(struct request *rq)
{
    struct compress *z = rq->compress;
    assert(!z->ended);
    z->ended = true;
    if (!waiting(z))
        finish(z);
}

static void compress_abort(struct request *rq)
{
    rq->compress->sink->abort(rq);
}

static size_t compress_pending(const struct request *rq)
{
    return rq->compress->sink->pending(rq) + waiting(rq->compress);
}

static const struct sink_ops compress_sink = {
    .write = compress_write,
    .pending = compress_pending,
    .end = compress_end,
    .abort = compress_abort,
};

void compress_writable(struct request *rq)
{
    struct compress *z = rq->compress;
    z->sink_full = false;
    if (!z->ended || waiting(z))
        next_slice(z);
}

void compress_free(struct request *rq)
{
    struct compress *z = rq->compress;
    if (!z)
        return;
    assert(rq->sink == &compress_sink && rq->api->n_compressing > 0);
    rq->compress = NULL;
    rq->sink = z->sink;
    rq->api->n_compressing--;
    defer_cancel(&z->turn);
    gzip_free(z->gzip);
    buf_fini(&z->in);
    free(z);
}

/* Whether the client accepts "gzip" (RFC 9110 section 12.5.3). */
static bool takes_gzip(struct str accept)
{
    while (accept.n) {
        struct str one, name, params;
        (void)str_cut(accept, ',', &one, &accept);
        bool weighed = str_cut(one, ';', &name, &params);
        if (str_ieq(str_trim(name), STR("gzip")))
            return !weighed || !str_is(str_trim(params), "q=0");
    }
    return false;
}

bool compress_may(const struct request *rq)
{
    return !str_is(rq->method, "HEAD") && takes_gzip(rq->accept_encoding);
}

static bool is_worth_it(const struct request *rq, int status, uint64_t body_n)
{
    bool watch = rq->res && rq->route.verb == KUBE_WATCH;
    return !watch && status == 200 && body_n > COMPRESS_MIN_BYTES && compress_may(rq) &&
           !headers_get(&rq->extra, "content-encoding").p && rq->api->n_compressing < COMPRESS_MAX;
}

void compress_begin(struct request *rq, struct headers *h, uint64_t body_n, uint64_t *ret_n)
{
    assert(!rq->compress);
    *ret_n = body_n;
    if (!is_worth_it(rq, rq->status, body_n))
        return;
    struct gzip *gzip = gzip_new();
    if (!gzip)
        return;
    struct compress *z = xnew(struct compress);
    *z = (struct compress){ .rq = rq, .sink = rq->sink, .gzip = gzip };
    z->in = BUF_INIT(BUF_MAX_DEFAULT);
    rq->compress = z;
    rq->api->n_compressing++;
    (void)headers_addc(h, "content-encoding", "gzip");
    if (!str_is(headers_get(h, "vary"), "Accept-Encoding")) /* OpenAPI sets it in any case */
        (void)headers_addc(h, "vary", "Accept-Encoding");
    rq->sink = &compress_sink;
    *ret_n = HTTP_CHUNKED;
}
