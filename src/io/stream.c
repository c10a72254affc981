/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams; see stream.h. How to read it: input goes on_read() -> take_wire() -> deliver(), output
 * goes stream_write() -> out -> flush(). Each callback from libuv ends in settle(), which writes,
 * reports failures, and notifies the owner.
 */
#include "io/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

struct flight {
    uv_write_t req;
    struct stream *s;
    struct buf buf;
    size_t at; /* the kernel has the bytes before it */
};

struct connecting {
    uv_connect_t req;
    struct stream *s;
};

static void settle(struct stream *s);
static void on_turn(struct defer *d);

/* ------------------------------------------------------------------ states */

static const struct sm_state life_table[] = {
    [STREAM_OPENING] = { "opening",
                         EDGE(STREAM_OPEN) | EDGE(STREAM_UNREACHED) | EDGE(STREAM_CLOSING) },
    [STREAM_OPEN] = { "open", EDGE(STREAM_OPENING) | EDGE(STREAM_BROKEN) | EDGE(STREAM_CLOSING) },
    [STREAM_UNREACHED] = { "unreached", EDGE(STREAM_REPORTED) | EDGE(STREAM_CLOSING) },
    [STREAM_BROKEN] = { "broken", EDGE(STREAM_REPORTED) | EDGE(STREAM_CLOSING) },
    [STREAM_REPORTED] = { "reported", EDGE(STREAM_CLOSING) },
    [STREAM_CLOSING] = { "closing", 0 },
};
static const struct sm_state in_table[] = {
    [STREAM_IN_OPEN] = { "open",
                         EDGE(STREAM_IN_PAUSED) | EDGE(STREAM_IN_ENDED) | EDGE(STREAM_IN_CUT) },
    [STREAM_IN_PAUSED] = { "paused",
                           EDGE(STREAM_IN_OPEN) | EDGE(STREAM_IN_ENDED) | EDGE(STREAM_IN_CUT) },
    [STREAM_IN_ENDED] = { "ended", 0 },
    [STREAM_IN_CUT] = { "cut", 0 },
};
static const struct sm_state out_table[] = {
    [STREAM_OUT_OPEN] = { "open", EDGE(STREAM_OUT_FINISHING) | EDGE(STREAM_OUT_MUTED) },
    [STREAM_OUT_FINISHING] = { "finishing", EDGE(STREAM_OUT_FINISHED) | EDGE(STREAM_OUT_MUTED) },
    [STREAM_OUT_FINISHED] = { "finished", 0 },
    [STREAM_OUT_MUTED] = { "muted", 0 },
};

static void move(struct stream *s, enum stream_at to)
{
    assert(sm_is_edge(life_table, s->at, to));
    s->at = to;
}

static void move_in(struct stream *s, enum stream_in to)
{
    assert(sm_is_edge(in_table, s->in, to));
    s->in = to;
}

static void move_out(struct stream *s, enum stream_out to)
{
    assert(sm_is_edge(out_table, s->out_at, to));
    s->out_at = to;
}

/* After the end of the input there is nothing to pause. */
static void pause_input(struct stream *s)
{
    if (s->in == STREAM_IN_OPEN)
        move_in(s, STREAM_IN_PAUSED);
}

/* Bytes may be passed to the owner. */
static bool may_deliver(const struct stream *s)
{
    return s->at == STREAM_OPEN && s->in == STREAM_IN_OPEN;
}

/* ------------------------------------------------------------------ failure */

static void move_to_failure(struct stream *s)
{
    assert(!s->err);
    move(s, s->at == STREAM_OPEN ? STREAM_BROKEN : STREAM_UNREACHED);
    s->err = xnew(struct err);
}

static int fail(struct stream *s, int code, const char *what)
{
    assert(code < 0);
    if (stream_is_over(s))
        return code;
    move_to_failure(s);
    return err_sys(s->err, code, "%s", what);
}

void stream_fail(struct stream *s, int r, const char *why)
{
    (void)fail(s, r, why);
    stream_kick(s);
}

static void write_failed(struct stream *s, int code)
{
    bool lost = code == -EPIPE || code == -ECONNRESET;
    if (lost && s->reads_on && !stream_is_at_eof(s) && s->at == STREAM_OPEN)
        move_out(s, STREAM_OUT_MUTED);
    else
        (void)fail(s, code, "write");
}

static void fail_tls(struct stream *s)
{
    if (stream_is_over(s))
        return;
    move_to_failure(s);
    (void)tls_error(s->ssl, s->err);
}

/* ------------------------------------------------------------------ output */

static void on_stall(struct timer *t)
{
    struct stream *s = container_of(t, struct stream, stall);
    assert(s->flight && s->at != STREAM_CLOSING);
    size_t left = uv_stream_get_write_queue_size(&s->uv.stream);
    if (left + STREAM_STALL_MIN_BYTES > s->stall_left) {
        (void)fail(s, -ETIMEDOUT, "peer does not read");
        settle(s);
        return;
    }
    s->stall_left = left;
    timer_start(s->loop, &s->stall, s->stall_ms, on_stall);
}

static void on_written(uv_write_t *req, int status);

static int send_piece(struct flight *f)
{
    struct stream *s = f->s;
    assert(s->flight == f && f->at < f->buf.n);
    size_t n = MIN(f->buf.n - f->at, (size_t)STREAM_PIECE_BYTES);
    uv_buf_t piece = uv_buf_init(f->buf.p + f->at, (unsigned)n);
    f->at += n;
    s->sent_bytes += n;
    s->stall_left = n;
    timer_start(s->loop, &s->stall, s->stall_ms, on_stall);
    return uv_write(&f->req, &s->uv.stream, &piece, 1, on_written);
}

static void end_flight(struct flight *f)
{
    assert(f->s->flight == f);
    f->s->flight = NULL;
    timer_stop(f->s->loop, &f->s->stall);
    buf_fini(&f->buf);
    free(f);
}

static void on_written(uv_write_t *req, int status)
{
    struct flight *f = container_of(req, struct flight, req);
    struct stream *s = f->s;
    assert(s->flight == f);
    bool more = status == 0 && !stream_is_over(s) && f->at < f->buf.n;
    if (more)
        status = send_piece(f);
    if (status < 0)
        write_failed(s, status);
    if (!more || status < 0)
        end_flight(f);
    if (s->at != STREAM_CLOSING)
        settle(s);
}

/* The kernel took only `at` bytes of b: leave the rest to libuv. */
static void take_off(struct stream *s, struct buf *b, size_t at)
{
    assert(!s->flight && at < b->n);
    struct flight *f = xnew(struct flight);
    *f = (struct flight){ .s = s, .buf = *b, .at = at };
    *b = BUF_INIT(STREAM_OUT_MAX_BYTES);
    s->flight = f;
    int r = send_piece(f);
    if (r < 0) {
        end_flight(f);
        write_failed(s, r);
    }
}

static void seal(struct stream *s, struct str bytes)
{
    assert(s->ssl && s->at == STREAM_OPEN);
    ERR_clear_error();
    while (bytes.n && !stream_is_over(s)) {
        int n = (int)MIN(bytes.n, (size_t)1 << 20);
        if (SSL_write(s->ssl, bytes.p, n) != n) {
            if (s->wire.failed)
                (void)fail(s, E_LIMIT, "write");
            else
                fail_tls(s);
            return;
        }
        bytes = str_slice(bytes, (size_t)n, bytes.n);
    }
}

/*
 * Returns the number of bytes the kernel took, or -1 after a failure. Nothing is in flight, so the
 * function writes to the socket directly, which avoids libuv's queue and the kernel's file layer.
 */
static ptrdiff_t try_write(struct stream *s, const uv_buf_t *bufs, unsigned n_bufs)
{
    uv_os_fd_t fd;
    ssize_t n;
    assert(!s->flight && s->at != STREAM_CLOSING); /* else the bytes would overtake others */
    if (uv_fileno(&s->uv.handle, &fd) < 0)
        return 0;
    const struct msghdr msg = { .msg_iov = (struct iovec *)bufs, .msg_iovlen = n_bufs };
    do
        n = n_bufs == 1 ? send(fd, bufs->base, bufs->len, MSG_NOSIGNAL | MSG_DONTWAIT)
                        : sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n < 0 && (errno == EAGAIN || errno == ENOBUFS))
        return 0;
    if (n < 0) {
        write_failed(s, -errno);
        return -1;
    }
    s->sent_bytes += (uint64_t)n;
    return n;
}

static ptrdiff_t try_write_buf(struct stream *s, const struct buf *b)
{
    uv_buf_t one = uv_buf_init(b->p, (unsigned)b->n);
    return try_write(s, &one, 1);
}

static void end_output(struct stream *s)
{
    assert(!s->flight && !s->out.n && !s->wire.n);
    move_out(s, STREAM_OUT_FINISHED);
    uv_os_fd_t fd;
    if (uv_fileno(&s->uv.handle, &fd) == 0)
        (void)shutdown(fd, SHUT_WR); /* reading will notice a peer that is gone */
}

/* Handshake bytes and alerts are sent although the stream is not open or has just failed. */
static void flush_tls(struct stream *s)
{
    if (!s->ssl || s->flight || !s->wire.n)
        return;
    ptrdiff_t n = try_write_buf(s, &s->wire);
    if (n >= 0 && (size_t)n < s->wire.n && !stream_is_over(s))
        take_off(s, &s->wire, (size_t)n);
    else
        buf_fini(&s->wire);
}

static void flush(struct stream *s)
{
    if (s->out_at == STREAM_OUT_MUTED) {
        buf_fini(&s->out);
        buf_fini(&s->wire);
    }
    if (s->flight || stream_is_over(s) || s->out_at == STREAM_OUT_FINISHED)
        return;
    if (s->at == STREAM_OPENING) {
        flush_tls(s);
        return;
    }
    struct buf *b = s->ssl ? &s->wire : &s->out;
    if (s->ssl && s->out.n) {
        seal(s, buf_str(&s->out));
        buf_fini(&s->out);
    }
    if (s->ssl && s->out_at == STREAM_OUT_FINISHING &&
        !(SSL_get_shutdown(s->ssl) & SSL_SENT_SHUTDOWN))
        (void)SSL_shutdown(s->ssl);
    if (b->n && !stream_is_over(s)) {
        ptrdiff_t n = try_write_buf(s, b);
        if (n >= 0 && (size_t)n < b->n)
            take_off(s, b, (size_t)n);
        else
            buf_fini(b);
    }
    if (s->out_at == STREAM_OUT_FINISHING && !s->flight && !stream_is_over(s))
        end_output(s);
}

/* A large write: the bytes that the kernel takes at once, after the gathered output, are not
 * copied. */
static struct str write_through(struct stream *s, struct str bytes)
{
    uv_buf_t both[] = { uv_buf_init(s->out.p, (unsigned)s->out.n),
                        uv_buf_init((char *)bytes.p,
                                    (unsigned)MIN(bytes.n, (size_t)STREAM_OUT_MAX_BYTES)) };
    bool alone = s->out.n == 0; /* keep its block, if it has one */
    ptrdiff_t n = try_write(s, both + alone, 2 - alone);
    if (n < 0)
        return STR_NULL;
    size_t before = MIN((size_t)n, s->out.n);
    if (before && before == s->out.n)
        buf_fini(&s->out);
    else if (before)
        buf_consume(&s->out, before);
    return str_slice(bytes, (size_t)n - before, bytes.n);
}

void stream_write(struct stream *s, struct str bytes)
{
    if (stream_is_over(s) || s->out_at != STREAM_OUT_OPEN || !bytes.n)
        return;
    if (bytes.n >= STREAM_DIRECT_BYTES && s->at == STREAM_OPEN && !s->flight && buf_ok(&s->out)) {
        if (!s->ssl) {
            bytes = write_through(s, bytes);
        } else {
            seal(s, buf_str(&s->out));
            buf_fini(&s->out);
            seal(s, bytes);
            bytes = STR_NULL;
            flush(s);
        }
    }
    if (buf_add_str(&s->out, bytes) < 0)
        (void)fail(s, E_LIMIT, "write");
    stream_kick(s);
}

void stream_send(struct stream *s, struct str bytes)
{
    bool idle = s->at == STREAM_OPEN && !s->ssl && !s->flight && s->out_at == STREAM_OUT_OPEN;
    if (idle && !s->out.n && buf_ok(&s->out))
        bytes = write_through(s, bytes);
    stream_write(s, bytes);
    stream_flush(s);
}

void stream_flush(struct stream *s)
{
    if (s->turn_at != STREAM_APART)
        return;
    flush(s);
    if (!stream_is_over(s) && !s->flight && s->reading && !stream_has_held(s))
        defer_cancel(&s->turn); /* the turn has nothing left to do */
    else
        stream_kick(s);
}

size_t stream_pending(const struct stream *s)
{
    size_t n = s->out.n + s->wire.n;
    if (s->flight)
        n += s->flight->buf.n - s->flight->at + uv_stream_get_write_queue_size(&s->uv.stream);
    return n;
}

void stream_finish(struct stream *s)
{
    if (s->out_at == STREAM_OUT_OPEN)
        move_out(s, STREAM_OUT_FINISHING);
    stream_kick(s);
}

/* ------------------------------------------------------------------ input */

static void hold(struct stream_held *h, const char *p, size_t n)
{
    assert(!h->p);
    *h = (struct stream_held){ .p = xalloc(n), .n = n };
    memcpy(h->p, p, n);
}

static void drop(struct stream_held *h)
{
    free(h->p);
    *h = (struct stream_held){ 0 };
}

static void stop_reading(struct stream *s)
{
    if (s->reading)
        (void)uv_read_stop(&s->uv.stream);
    s->reading = false;
}

/* Pass plain bytes to the owner; what it does not consume is held. */
static void deliver(struct stream *s, const char *p, size_t n)
{
    assert(s->turn_at != STREAM_APART && !s->plain.p && !stream_is_at_eof(s));
    size_t used = s->ops->on_data(s, p, n);
    assert(used <= n);
    if (s->at == STREAM_CLOSING || used == n)
        return;
    hold(&s->plain, p + used, n - used);
    pause_input(s);
}

static void deliver_held(struct stream *s)
{
    struct stream_held h = s->plain;
    assert(s->turn_at != STREAM_APART && !stream_is_at_eof(s) && h.at < h.n);
    s->plain = (struct stream_held){ 0 };
    size_t used = s->ops->on_data(s, h.p + h.at, h.n - h.at);
    h.at += used;
    assert(h.at <= h.n);
    if (s->at == STREAM_CLOSING || h.at == h.n) {
        drop(&h);
        return;
    }
    s->plain = h;
    pause_input(s);
}

static void end_input(struct stream *s, bool clean)
{
    if (stream_is_at_eof(s) || s->at == STREAM_CLOSING)
        return;
    assert(!s->plain.p); /* the stream does not read while it holds bytes */
    move_in(s, clean ? STREAM_IN_ENDED : STREAM_IN_CUT);
    stop_reading(s);
    if (s->at == STREAM_OPENING || s->at == STREAM_UNREACHED) {
        (void)fail(s, -ECONNRESET, "TLS handshake");
        return;
    }
    s->ops->on_eof(s);
}

static bool shake_hands(struct stream *s)
{
    assert(s->ssl);
    ERR_clear_error();
    int r = SSL_do_handshake(s->ssl);
    if (r == 1) {
        move(s, STREAM_OPEN);
        if (!SSL_is_server(s->ssl))
            s->ops->on_open(s);
        return s->at != STREAM_CLOSING;
    }
    if (SSL_get_error(s->ssl, r) != SSL_ERROR_WANT_READ)
        fail_tls(s);
    flush_tls(s);
    return false;
}

/* Decrypt everything in the window, until the owner pauses. */
static void pump(struct stream *s)
{
    if (s->at == STREAM_OPENING && !shake_hands(s))
        return;
    char *plain = loop_scratch(s->loop) + LOOP_SCRATCH_BYTES / 2;
    while (may_deliver(s)) {
        ERR_clear_error();
        int n = SSL_read(s->ssl, plain, LOOP_SCRATCH_BYTES / 2);
        if (n > 0) {
            deliver(s, plain, (size_t)n);
            continue;
        }
        int why = SSL_get_error(s->ssl, n);
        if (why == SSL_ERROR_ZERO_RETURN)
            end_input(s, true);
        else if (why != SSL_ERROR_WANT_READ)
            fail_tls(s);
        return;
    }
}

static int attach_tls(struct stream *s, struct tls_ctx *tls, const char *name, struct err *err);
static void take_wire(struct stream *s, const char *p, size_t n);

/*
 * OpenSSL allocates 40 KiB for a handshake at the first byte. To make a peer work for that, the
 * first record, its hello, is gathered here.
 */
static void take_hello(struct stream *s, const char *p, size_t n)
{
    /* The client used http:// instead of https://; upstream's wording. */
    static const char plain_refusal[] = "HTTP/1.0 400 Bad Request\r\n\r\n"
                                        "Client sent an HTTP request to an HTTPS server.\n";
    enum { HEAD_BYTES = 5, HANDSHAKE = 0x16, SLAB_MAX_BYTES = 16 << 10 };
    if (buf_add(&s->hello, p, n) < 0) {
        (void)fail(s, E_LIMIT, "TLS handshake");
        return;
    }
    const uint8_t *b = (const uint8_t *)s->hello.p;
    size_t len = s->hello.n >= HEAD_BYTES ? (size_t)b[3] << 8 | b[4] : 0;
    if (b[0] == 'G' || b[0] == 'P' || b[0] == 'H' || b[0] == 'D')
        (void)try_write(s, &(uv_buf_t){ (char *)plain_refusal, sizeof plain_refusal - 1 }, 1);
    if (b[0] != HANDSHAKE || len > SLAB_MAX_BYTES) {
        (void)fail(s, E_TLS, "TLS handshake");
        return;
    }
    if (s->hello.n < HEAD_BYTES || s->hello.n < HEAD_BYTES + len)
        return;
    struct tls_ctx *tls = take_ptr(&s->tls);
    struct buf whole = s->hello;
    s->hello = (struct buf){ 0 };
    if (s->ops->on_hello)
        s->ops->on_hello(s);
    if (attach_tls(s, tls, NULL, NULL) < 0) {
        (void)fail(s, E_TLS, "TLS handshake");
    } else {
        SSL_set_accept_state(s->ssl);
        take_wire(s, whole.p, whole.n);
    }
    buf_fini(&whole);
}

static void take_wire(struct stream *s, const char *p, size_t n)
{
    if (s->tls) {
        take_hello(s, p, n);
        return;
    }
    if (!s->ssl) {
        deliver(s, p, n);
        return;
    }
    s->window = (struct stream_held){ .p = (char *)p, .n = n };
    pump(s);
    struct stream_held left = s->window;
    s->window = (struct stream_held){ 0 };
    if (!stream_is_over(s) && !stream_is_at_eof(s) && left.at < left.n)
        hold(&s->sealed, left.p + left.at, left.n - left.at);
}

static void take_sealed(struct stream *s)
{
    struct stream_held h = s->sealed;
    s->sealed = (struct stream_held){ 0 };
    s->window = h;
    pump(s); /* also for bytes that SSL has read already */
    struct stream_held left = s->window;
    s->window = (struct stream_held){ 0 };
    if (!stream_is_over(s) && !stream_is_at_eof(s) && left.at < left.n)
        s->sealed = left;
    else
        free(h.p);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *b)
{
    struct stream *s = handle->data;
    size_t n = s->ssl || s->tls ? LOOP_SCRATCH_BYTES / 2 : LOOP_SCRATCH_BYTES;
    *b = uv_buf_init(loop_scratch(s->loop), (unsigned)(s->read_max ? MIN(n, s->read_max) : n));
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *b)
{
    struct stream *s = stream->data;
    if (n == 0)
        return;
    assert(s->reading && s->turn_at == STREAM_APART && s->at != STREAM_CLOSING);
    s->turn_at = STREAM_CORKED;
    if (n > 0)
        take_wire(s, b->base, (size_t)n);
    else if (n == UV_EOF)
        end_input(s, !s->ssl);
    else
        (void)fail(s, (int)n, s->at == STREAM_OPEN ? "read" : "TLS handshake");
    settle(s);
}

static void read_on(struct stream *s)
{
    if (s->in != STREAM_IN_OPEN || stream_is_over(s) || s->reading)
        return;
    assert(!stream_has_held(s));
    int r = uv_read_start(&s->uv.stream, on_alloc, on_read);
    if (r < 0)
        (void)fail(s, r, "read");
    else
        s->reading = true;
}

bool stream_has_held(const struct stream *s)
{
    return s->plain.p || s->sealed.p || (s->ssl && SSL_pending(s->ssl));
}

void stream_pause(struct stream *s)
{
    pause_input(s);
    stop_reading(s);
}

void stream_resume(struct stream *s)
{
    if (s->in == STREAM_IN_OPEN)
        return;
    if (s->in == STREAM_IN_PAUSED)
        move_in(s, STREAM_IN_OPEN);
    stream_kick(s);
}

/* ------------------------------------------------------------------ turns */

/* on_settled() may make another round necessary: the owner writes more output or changes state. */
static void write_and_tell(struct stream *s)
{
    for (int rounds = 0; rounds < 4; rounds++) {
        s->turn_at = STREAM_CORKED;
        flush(s);
        if (stream_is_over(s))
            return;
        s->ops->on_settled(s);
        if (s->turn_at != STREAM_KICKED || s->at == STREAM_CLOSING)
            return;
    }
    defer_start(s->loop, &s->turn, on_turn);
}

/* Report the failure, once. */
static void report(struct stream *s)
{
    assert(s->err && s->err->code < 0);
    if (s->at == STREAM_REPORTED)
        return;
    s->ops->on_error(s, s->err->code, s->err); /* may close; the memory is freed later */
    if (s->at != STREAM_CLOSING)
        move(s, STREAM_REPORTED);
}

static void settle(struct stream *s)
{
    if (s->at != STREAM_CLOSING)
        write_and_tell(s);
    s->turn_at = STREAM_APART;
    if (s->at == STREAM_CLOSING)
        return;
    if (stream_is_over(s)) {
        stop_reading(s);
        report(s);
        return;
    }
    if (s->in == STREAM_IN_PAUSED || stream_has_held(s))
        stop_reading(s);
    else
        read_on(s);
    if (stream_is_over(s) || (s->in == STREAM_IN_OPEN && stream_has_held(s)))
        stream_kick(s);
}

static void on_turn(struct defer *d)
{
    struct stream *s = container_of(d, struct stream, turn);
    assert(s->turn_at == STREAM_APART && s->at != STREAM_CLOSING);
    s->turn_at = STREAM_CORKED;
    if (may_deliver(s) && s->plain.p)
        deliver_held(s);
    if (may_deliver(s) && stream_has_held(s) && !s->plain.p)
        take_sealed(s);
    settle(s);
}

void stream_kick(struct stream *s)
{
    if (s->turn_at != STREAM_APART)
        s->turn_at = STREAM_KICKED;
    else if (s->at != STREAM_CLOSING)
        defer_start(s->loop, &s->turn, on_turn);
}

/* ------------------------------------------------------------------ between OpenSSL and the wire
 */

static int bio_write(BIO *bio, const char *p, int n)
{
    struct stream *s = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    return buf_add(&s->wire, p, (size_t)n) < 0 ? -1 : n;
}

static int bio_read(BIO *bio, char *p, int n)
{
    struct stream *s = BIO_get_data(bio);
    struct stream_held *w = &s->window;
    BIO_clear_retry_flags(bio);
    size_t take = MIN(w->n - w->at, (size_t)n);
    if (!take) {
        BIO_set_retry_read(bio);
        return -1;
    }
    memcpy(p, w->p + w->at, take);
    w->at += take;
    return (int)take;
}

static long bio_ctrl(BIO *bio, int cmd, long num, void *ptr)
{
    return cmd == BIO_CTRL_FLUSH;
}

static int bio_create(BIO *bio)
{
    BIO_set_init(bio, 1);
    return 1;
}

/* Used instead of a memory BIO, which would copy all bytes and keep its memory. One method per
 * process. */
static BIO_METHOD *bio_method;

static void make_bio_method(void)
{
    bio_method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "stream");
    if (!bio_method)
        abort();
    (void)BIO_meth_set_write(bio_method, bio_write);
    (void)BIO_meth_set_read(bio_method, bio_read);
    (void)BIO_meth_set_ctrl(bio_method, bio_ctrl);
    (void)BIO_meth_set_create(bio_method, bio_create);
}

static int attach_tls(struct stream *s, struct tls_ctx *tls, const char *name, struct err *err)
{
    if (!tls)
        return 0;
    int r = tls_ctx_ssl(tls, name, &s->ssl, err);
    if (r < 0)
        return r;
    static uv_once_t once = UV_ONCE_INIT;
    uv_once(&once, make_bio_method);
    BIO *bio = BIO_new(bio_method);
    if (!bio)
        return tls_error(NULL, err);
    BIO_set_data(bio, s);
    SSL_set_bio(s->ssl, bio, bio);
    return 0;
}

/* ------------------------------------------------------------------ open and close */

static void init(struct stream *s, struct loop *loop, bool is_pipe, const struct stream_ops *ops)
{
    *s = (struct stream){ .loop = loop, .ops = ops, .is_pipe = is_pipe };
    s->out = s->wire = BUF_INIT(STREAM_OUT_MAX_BYTES);
    s->stall_ms = STREAM_STALL_MS;
    if (is_pipe)
        (void)uv_pipe_init(&loop->uv, &s->uv.pipe, 0);
    else
        (void)uv_tcp_init(&loop->uv, &s->uv.tcp);
    s->uv.handle.data = s;
}

static void release(uv_handle_t *handle)
{
    struct stream *s = handle->data;
    assert(s->at == STREAM_CLOSING && !s->flight);
    assert(!timer_is_armed(&s->stall) && !list_is_linked(&s->turn.node));
    drop(&s->plain);
    drop(&s->sealed);
    buf_fini(&s->out);
    buf_fini(&s->wire);
    buf_fini(&s->hello);
    SSL_free(s->ssl);
    free(s->err);
    s->ops->on_closed(s); /* may free s */
}

void stream_reset(struct stream *s)
{
    struct linger none = { .l_onoff = 1 };
    uv_os_fd_t fd;
    if (!s->is_pipe && uv_fileno(&s->uv.handle, &fd) == 0)
        (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
}

void stream_close(struct stream *s)
{
    if (s->at == STREAM_CLOSING)
        return;
    move(s, STREAM_CLOSING);
    defer_cancel(&s->turn);
    timer_stop(s->loop, &s->stall);
    uv_close(&s->uv.handle, release);
}

int stream_accept(struct stream *s, struct loop *loop, uv_stream_t *listener, bool is_pipe,
                  struct tls_ctx *tls, const struct stream_ops *ops, struct err *err)
{
    init(s, loop, is_pipe, ops);
    int r = uv_accept(listener, &s->uv.stream);
    if (r < 0) {
        (void)err_sys(err, r, "accept");
        stream_close(s);
        return r;
    }
    s->tls = tls;
    s->hello = BUF_INIT(STREAM_HELLO_MAX_BYTES);
    if (!tls)
        move(s, STREAM_OPEN);
    read_on(s);
    return 0;
}

static void on_connected(uv_connect_t *req, int status)
{
    struct connecting *c = container_of(req, struct connecting, req);
    struct stream *s = c->s;
    free(c);
    if (s->at == STREAM_CLOSING)
        return;
    assert(s->turn_at == STREAM_APART);
    s->turn_at = STREAM_CORKED;
    if (status < 0) {
        (void)fail(s, status, "connect");
    } else if (s->ssl) {
        (void)shake_hands(s);
    } else {
        move(s, STREAM_OPEN);
        s->ops->on_open(s);
    }
    settle(s);
}

static int connect_failed(struct stream *s, int r, struct connecting *c)
{
    free(c);
    stream_close(s);
    return r;
}

static struct connecting *prepare(struct stream *s, struct tls_ctx *tls, const char *name,
                                  struct err *err)
{
    if (attach_tls(s, tls, name, err) < 0)
        return NULL;
    if (s->ssl)
        SSL_set_connect_state(s->ssl);
    struct connecting *c = xnew(struct connecting);
    c->s = s;
    return c;
}

int stream_connect_tcp(struct stream *s, struct loop *loop, const struct sockaddr *addr,
                       struct tls_ctx *tls, const char *name, const struct stream_ops *ops,
                       struct err *err)
{
    init(s, loop, false, ops);
    struct connecting *c = prepare(s, tls, name, err);
    if (!c)
        return connect_failed(s, E_TLS, NULL);
    int r = uv_tcp_connect(&c->req, &s->uv.tcp, addr, on_connected);
    if (r < 0)
        return connect_failed(s, err_sys(err, r, "connect"), c);
    (void)uv_tcp_nodelay(&s->uv.tcp, 1);
    (void)uv_tcp_keepalive(&s->uv.tcp, 1, 60); /* done by the kernel: wakes no timer of ours */
    return 0;
}

void stream_set_user_timeout(struct stream *s, unsigned ms)
{
    uv_os_fd_t fd;
    if (!s->is_pipe && uv_fileno(&s->uv.handle, &fd) == 0)
        (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
}

int stream_start_tls(struct stream *s, struct tls_ctx *tls, const char *name, struct err *err)
{
    assert(!s->ssl && s->at == STREAM_OPEN && s->turn_at != STREAM_APART);
    int r = attach_tls(s, tls, name, err);
    if (r < 0)
        return r;
    SSL_set_connect_state(s->ssl);
    move(s, STREAM_OPENING);
    (void)shake_hands(s);
    return 0;
}

_Static_assert(STREAM_UNIX_PATH_SIZE == sizeof((struct sockaddr_un *)0)->sun_path, "as the kernel");

int stream_unix_path(const char *path, char ret[STREAM_UNIX_PATH_SIZE], int *ret_dir_fd,
                     struct err *err)
{
    const char *slash = strrchr(path, '/');
    *ret_dir_fd = -1;
    if (strlen(path) < STREAM_UNIX_PATH_SIZE) {
        (void)snprintf(ret, STREAM_UNIX_PATH_SIZE, "%s", path);
        return 0;
    }
    scoped(free_scoped) char *dir = slash ? xstrndup(path, (size_t)(slash - path)) : NULL;
    scoped(fd_scoped) int fd = dir ? open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (dir && fd < 0)
        return err_sys(err, -errno, "open '%s'", dir);
    int n = dir ? snprintf(ret, STREAM_UNIX_PATH_SIZE, "/proc/self/fd/%d%s", fd, slash) : INT_MAX;
    if (n >= STREAM_UNIX_PATH_SIZE)
        return err_set(err, -ENAMETOOLONG, "socket path '%s' too long", path);
    *ret_dir_fd = take_fd(&fd);
    return 0;
}

int stream_connect_unix(struct stream *s, struct loop *loop, const char *path, struct tls_ctx *tls,
                        const char *name, const struct stream_ops *ops, struct err *err)
{
    init(s, loop, true, ops);
    char address[STREAM_UNIX_PATH_SIZE];
    scoped(fd_scoped) int dir_fd = -1;
    int r = stream_unix_path(path, address, &dir_fd, err);
    if (r < 0)
        return connect_failed(s, r, NULL);
    struct connecting *c = prepare(s, tls, name, err);
    if (!c)
        return connect_failed(s, E_TLS, NULL);
    uv_pipe_connect(&c->req, &s->uv.pipe, address, on_connected); /* connects at once */
    return 0;
}
