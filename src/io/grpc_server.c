/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Server side of gRPC calls; see grpc.h. How to read it: grpc_server_take() makes a stream of an
 * exchange; bytes go on_body() -> take() -> the handler; every end of a call goes through
 * grpc_stream_end(). The stream is freed with its exchange, in on_gone().
 */
#include "base/sm.h"
#include "io/grpc_int.h"

#include <errno.h>

struct method {
    const char *path;
    size_t max_bytes;
    void (*begin)(struct grpc_stream *st, void *arg);
    void *arg;
};

struct grpc_server {
    struct loop *loop;
    struct method *methods;
    size_t n_methods, n_streams;
};

/*
 * The client's direction:
 *
 *     OPEN --its end has arrived--> EOF --the last message is delivered--> REPORTED
 */
enum grpc_stream_in {
    GRPC_IN_OPEN,
    GRPC_IN_EOF,
    GRPC_IN_REPORTED /* on_half_close() has run, or the call failed instead */
} __attribute__((packed));

/*
 * The server's direction:
 *
 *     NONE --first message, or the status--> HEADED --status, abort, or a lost client--> ENDED
 */
enum grpc_stream_out { GRPC_OUT_NONE, GRPC_OUT_HEADED, GRPC_OUT_ENDED } __attribute__((packed));

struct grpc_stream {
    struct grpc_server *server;
    struct http_exchange *x;
    const struct headers *metadata;
    const struct grpc_stream_ops *ops; /* never NULL */
    void *data;
    struct grpc_reader reader;
    struct defer again; /* for held messages */
    struct timer deadline;
    uint64_t deadline_ms;
    enum grpc_stream_in in;
    enum grpc_stream_out out;
    bool paused; /* by the handler */
    int end_r;   /* for on_gone: why this side has ended it */
};

static const struct sm_state in_table[] = {
    [GRPC_IN_OPEN] = { "open", EDGE(GRPC_IN_EOF) },
    [GRPC_IN_EOF] = { "eof", EDGE(GRPC_IN_REPORTED) },
    [GRPC_IN_REPORTED] = { "reported", 0 },
};
static const struct sm_state out_table[] = {
    [GRPC_OUT_NONE] = { "none", EDGE(GRPC_OUT_HEADED) | EDGE(GRPC_OUT_ENDED) },
    [GRPC_OUT_HEADED] = { "headed", EDGE(GRPC_OUT_ENDED) },
    [GRPC_OUT_ENDED] = { "ended", 0 },
};

static void move_in(struct grpc_stream *st, enum grpc_stream_in to)
{
    assert(sm_is_edge(in_table, st->in, to));
    st->in = to;
}

static void move_out(struct grpc_stream *st, enum grpc_stream_out to)
{
    assert(sm_is_edge(out_table, st->out, to));
    st->out = to;
}

static const struct grpc_stream_ops no_ops;

/* ------------------------------------------------------------------ the table */

struct grpc_server *grpc_server_new(struct loop *loop)
{
    struct grpc_server *s = xnew(struct grpc_server);
    s->loop = loop;
    return s;
}

void grpc_server_free(struct grpc_server *s)
{
    if (!s)
        return;
    assert(s->n_streams == 0);
    free(s->methods);
    free(s);
}

static const struct method *find(const struct grpc_server *s, struct str path)
{
    for (size_t i = 0; i < s->n_methods; i++)
        if (str_is(path, s->methods[i].path))
            return &s->methods[i];
    return NULL;
}

void grpc_server_add(struct grpc_server *s, const char *path, size_t max_bytes,
                     void (*begin)(struct grpc_stream *st, void *arg), void *arg)
{
    assert(!find(s, str_of(path))); /* else the new method would never be called */
    s->methods = xrealloc(s->methods, (s->n_methods + 1) * sizeof *s->methods);
    s->methods[s->n_methods++] =
        (struct method){ .path = path, .max_bytes = max_bytes, .begin = begin, .arg = arg };
}

/* ------------------------------------------------------------------ messages in */

/* End the call: the peer broke the protocol, or the deadline has passed. on_gone() notifies the
 * handler. */
static void end_it(struct grpc_stream *st, int r, int code, const char *text)
{
    assert(r < 0);
    if (st->out == GRPC_OUT_ENDED)
        return;
    st->end_r = r;
    grpc_stream_end(st, code, text, NULL);
}

static bool wants_more(const struct grpc_stream *st)
{
    return !st->paused && st->out != GRPC_OUT_ENDED;
}

static void take(struct grpc_stream *st, struct str in)
{
    struct str message;
    int r = 0;
    while (wants_more(st) && (r = grpc_reader_next(&st->reader, &in, &message)) > 0)
        if (st->ops->on_message)
            st->ops->on_message(st, message);
    if (r < 0)
        end_it(st, r, grpc_reader_code(r), grpc_reader_text(r));
    else if (in.n && st->out != GRPC_OUT_ENDED)
        (void)buf_add_str(&st->reader.held, in);
}

/* The input has ended, after the last message. */
static void take_eof(struct grpc_stream *st)
{
    if (st->in != GRPC_IN_EOF || !wants_more(st) || st->reader.held.n)
        return;
    move_in(st, GRPC_IN_REPORTED);
    if (!grpc_reader_is_between(&st->reader))
        end_it(st, E_EOF, GRPC_INTERNAL, grpc_reader_text(E_EOF));
    else if (st->ops->on_half_close)
        st->ops->on_half_close(st);
}

static void on_again(struct defer *d)
{
    struct grpc_stream *st = container_of(d, struct grpc_stream, again);
    if (st->in == GRPC_IN_REPORTED) /* a handler resumed inside the callback for the last message */
        return;
    struct buf held = st->reader.held;
    st->reader.held = BUF_INIT(held.max);
    take(st, buf_str(&held));
    buf_fini(&held);
    take_eof(st);
}

static void on_body(struct http_exchange *x, struct str chunk)
{
    struct grpc_stream *st = http_exchange_data(x);
    if (st->reader.held.n)
        (void)buf_add_str(&st->reader.held, chunk);
    else
        take(st, chunk);
}

static void on_body_end(struct http_exchange *x, int r)
{
    struct grpc_stream *st = http_exchange_data(x);
    if (r == 0)
        move_in(st, GRPC_IN_EOF);
    take_eof(st);
}

void grpc_stream_pause(struct grpc_stream *st)
{
    st->paused = true;
    http_pause_body(st->x);
}

void grpc_stream_resume(struct grpc_stream *st)
{
    if (!st->paused)
        return;
    st->paused = false;
    http_resume_body(st->x);
    if (st->reader.held.n || st->in == GRPC_IN_EOF)
        defer_start(st->server->loop, &st->again, on_again);
}

/* ------------------------------------------------------------------ answering */

/* The call has ended for this side. Idempotent. */
static void end_output(struct grpc_stream *st)
{
    if (st->out != GRPC_OUT_ENDED)
        move_out(st, GRPC_OUT_ENDED);
    timer_stop(st->server->loop, &st->deadline);
}

static void respond(struct grpc_stream *st, const struct headers *metadata)
{
    struct headers h = { 0 };
    if (st->out != GRPC_OUT_NONE)
        return;
    move_out(st, GRPC_OUT_HEADED);
    (void)headers_addc(&h, "content-type", "application/grpc");
    for (size_t i = 0; metadata && i < metadata->n; i++)
        (void)headers_add(&h, headers_name(metadata, i), headers_value(metadata, i));
    http_respond(st->x, 200, &h, HTTP_CHUNKED);
    headers_fini(&h);
}

void grpc_stream_head(struct grpc_stream *st, const struct headers *metadata)
{
    respond(st, metadata);
}

bool grpc_stream_send(struct grpc_stream *st, struct str message)
{
    char prefix[GRPC_PREFIX_BYTES];
    if (st->out == GRPC_OUT_ENDED)
        return true;
    respond(st, NULL);
    grpc_prefix(prefix, message.n);
    bool more = http_write(st->x, str_n(prefix, sizeof prefix));
    return message.n ? http_write(st->x, message) : more;
}

size_t grpc_stream_pending(const struct grpc_stream *st)
{
    return http_write_pending(st->x);
}

void grpc_stream_end(struct grpc_stream *st, int code, const char *text,
                     const struct headers *trailers)
{
    if (st->out == GRPC_OUT_ENDED)
        return;
    respond(st, NULL);
    end_output(st);
    struct headers h = { 0 };
    char number[12];
    (void)snprintf(number, sizeof number, "%d", code);
    (void)headers_addc(&h, "grpc-status", number);
    if (text && *text) {
        scoped(buf_fini_scoped) struct buf b = BUF_INIT(4 * GRPC_TEXT_MAX_BYTES);
        grpc_add_text(&b, str_of(text));
        (void)headers_add(&h, STR("grpc-message"), buf_str(&b));
    }
    for (size_t i = 0; trailers && i < trailers->n; i++)
        (void)headers_add(&h, headers_name(trailers, i), headers_value(trailers, i));
    http_trailers(st->x, &h);
    headers_fini(&h);
    http_end(st->x);
}

void grpc_stream_reply(struct grpc_stream *st, struct str message)
{
    (void)grpc_stream_send(st, message);
    grpc_stream_end(st, GRPC_OK, NULL, NULL);
}

void grpc_stream_abort(struct grpc_stream *st)
{
    end_output(st);
    http_abort(st->x);
}

/* ------------------------------------------------------------------ the life of a stream */

static void on_deadline(struct timer *t)
{
    struct grpc_stream *st = container_of(t, struct grpc_stream, deadline);
    end_it(st, -ETIMEDOUT, GRPC_DEADLINE_EXCEEDED, "the call's deadline is over");
}

static void on_writable(struct http_exchange *x)
{
    struct grpc_stream *st = http_exchange_data(x);
    if (st->ops->on_writable && st->out != GRPC_OUT_ENDED)
        st->ops->on_writable(st);
}

static void on_gone(struct http_exchange *x, int r)
{
    struct grpc_stream *st = http_exchange_data(x);
    struct grpc_server *s = st->server;
    assert(st->x == x && s->n_streams > 0);
    end_output(st);
    defer_cancel(&st->again);
    if (st->ops->on_gone)
        st->ops->on_gone(st, st->end_r < 0 ? st->end_r : r);
    grpc_reader_fini(&st->reader);
    free(st);
    s->n_streams--;
}

static void refuse(struct http_exchange *x, int status, const char *why)
{
    struct headers h = { 0 };
    (void)headers_addc(&h, "content-type", "text/plain; charset=utf-8");
    http_reply(x, status, &h, str_of(why));
    headers_fini(&h);
}

static struct grpc_stream *stream_new(struct grpc_server *s, struct http_exchange *x,
                                      const struct http_request *req, size_t max_bytes)
{
    static const struct http_exchange_ops ops = { .on_body = on_body,
                                                  .on_body_end = on_body_end,
                                                  .on_writable = on_writable,
                                                  .on_gone = on_gone };
    struct grpc_stream *st = xnew(struct grpc_stream);
    *st = (struct grpc_stream){
        .server = s, .x = x, .metadata = req->headers, .ops = &no_ops, .deadline_ms = UINT64_MAX
    };
    grpc_reader_init(&st->reader, max_bytes);
    s->n_streams++;
    http_exchange_set(x, &ops, st);
    return st;
}

bool grpc_server_take(struct grpc_server *s, struct http_exchange *x,
                      const struct http_request *req)
{
    if (!grpc_is_request(req))
        return false;
    if (!req->http2 || !str_is(req->method, "POST")) {
        refuse(x, req->http2 ? 405 : 505, "gRPC needs HTTP/2 and POST\n");
        return true;
    }
    const struct method *m = find(s, req->target);
    struct grpc_stream *st = stream_new(s, x, req, m ? m->max_bytes : 0);
    struct str timeout = headers_get(req->headers, "grpc-timeout");
    uint64_t ms;
    if (timeout.p && grpc_parse_timeout(timeout, &ms) < 0) {
        end_it(st, E_PARSE, GRPC_INTERNAL, "malformed grpc-timeout");
        return true;
    }
    if (!m) {
        end_it(st, E_UNSUPPORTED, GRPC_UNIMPLEMENTED, "no such method");
        return true;
    }
    if (timeout.p) {
        st->deadline_ms = loop_now_ms(s->loop) + ms;
        timer_start(s->loop, &st->deadline, ms, on_deadline);
    }
    m->begin(st, m->arg);
    http_let_body_idle(x);
    http_read_body(x, UINT64_MAX);
    return true;
}

void grpc_stream_set(struct grpc_stream *st, const struct grpc_stream_ops *ops, void *data)
{
    st->ops = ops;
    st->data = data;
}

void *grpc_stream_data(const struct grpc_stream *st)
{
    return st->data;
}

struct http_exchange *grpc_stream_exchange(struct grpc_stream *st)
{
    return st->x;
}

const struct headers *grpc_stream_metadata(const struct grpc_stream *st)
{
    return st->metadata;
}

uint64_t grpc_stream_deadline_ms(const struct grpc_stream *st)
{
    return st->deadline_ms;
}
