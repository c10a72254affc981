/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams between roles; here: a pair in this process. What one end sends is encoded into the queue
 * of the other end, which decodes it on the next turn of the loop.
 */
#include "fn/stream_impl.h"

#include "base/buf.h"

#include <errno.h>

enum { PAIR_MESSAGES_PER_TURN = 256 };

void fn_stream_set(struct fn_stream *s, const struct fn_stream_ops *ops, void *arg)
{
    s->ops = ops;
    s->arg = arg;
}

void fn_stream_send(struct fn_stream *s, const ProtobufCMessage *m)
{
    s->impl->send(s, m);
}

const char *fn_stream_from(const struct fn_stream *s)
{
    return s->from;
}

size_t fn_stream_pending(const struct fn_stream *s)
{
    return s->impl->pending(s);
}

void fn_stream_close(struct fn_stream *s)
{
    if (s)
        s->impl->close(s);
}

int fn_stream_deliver(struct fn_stream *s, struct str bytes, struct err *err)
{
    ProtobufCMessage *m = protobuf_c_message_unpack(s->in, NULL, bytes.n, (const uint8_t *)bytes.p);
    if (!m)
        return err_set(err, E_PARSE, "a message that is not a %s", s->in->short_name);
    s->ops->on_message(s->arg, m);
    protobuf_c_message_free_unpacked(m, NULL);
    return 0;
}

/* ---------------------------------------------------------------- a pair */

struct end {
    struct fn_stream base;
    struct loop *loop;
    struct end *peer; /* NULL: it has closed */
    struct buf in;    /* sent by the peer: length, message, ... */
    struct defer turn;
    int failed;                      /* for on_end */
    bool closed, in_callback, ended; /* ended: on_end has run */
};

static void on_turn(struct defer *d);

static void wake(struct end *e)
{
    if (!e->ended && !e->closed)
        defer_start(e->loop, &e->turn, on_turn);
}

static void free_end(struct end *e)
{
    defer_cancel(&e->turn);
    buf_fini(&e->in);
    free(e);
}

static void finish(struct end *e)
{
    struct err err = { 0 };
    if (e->failed)
        (void)err_set(&err, e->failed, "stream in the process: %s", err_strerror(e->failed));
    e->ended = true;
    e->base.ops->on_end(e->base.arg, e->failed, &err);
}

/* Deliver the present messages; messages that the handlers send wait for the next turn. */
static void deliver(struct end *e)
{
    struct buf in = e->in;
    struct rd r = rd_init(in.p, in.n);
    struct err err = { 0 };
    buf_init(&e->in, FN_STREAM_QUEUE);
    for (int n = 0; rd_left(&r) && !e->closed && !e->failed && n < PAIR_MESSAGES_PER_TURN; n++) {
        struct str bytes = rd_str(&r, rd_le32(&r));
        e->failed = fn_stream_deliver(&e->base, bytes, &err);
    }
    if (rd_left(&r) && !e->closed && !e->failed) { /* the rest, before newer messages */
        struct buf rest = BUF_INIT(FN_STREAM_QUEUE * 2);
        (void)buf_add(&rest, r.p, rd_left(&r));
        (void)buf_add_str(&rest, buf_str(&e->in));
        buf_fini(&e->in);
        e->in = rest;
    }
    buf_fini(&in);
}

static void on_turn(struct defer *d)
{
    struct end *e = container_of(d, struct end, turn);
    if (!e->base.ops) { /* no handler yet: fn_stream_set() runs before the next turn */
        wake(e);
        return;
    }
    e->in_callback = true;
    if (e->in.n && !e->failed)
        deliver(e);
    if (!e->closed && (e->failed || (e->in.n == 0 && !e->peer)))
        finish(e);
    e->in_callback = false;
    if (e->closed)
        free_end(e);
    else if (e->in.n)
        wake(e);
}

static void pair_send(struct fn_stream *s, const ProtobufCMessage *m)
{
    struct end *e = container_of(s, struct end, base), *to = e->peer;
    if (!to || e->failed || e->ended)
        return;
    size_t n = protobuf_c_message_get_packed_size(m);
    char *at;
    if (n > FN_MESSAGE_MAX || to->in.n + n + 4 > FN_STREAM_QUEUE) {
        e->failed = n > FN_MESSAGE_MAX ? -EMSGSIZE : -ENOBUFS;
        wake(e);
        return;
    }
    (void)buf_add_le32(&to->in, (uint32_t)n);
    if (buf_reserve(&to->in, n, &at) < 0)
        abort(); /* below its maximum: no memory */
    buf_advance(&to->in, protobuf_c_message_pack(m, (uint8_t *)at));
    wake(to);
}

static size_t pair_pending(const struct fn_stream *s)
{
    const struct end *e = container_of(s, const struct end, base);
    return e->peer ? e->peer->in.n : 0;
}

static void pair_close(struct fn_stream *s)
{
    struct end *e = container_of(s, struct end, base);
    e->closed = true;
    if (e->peer) {
        e->peer->peer = NULL;
        wake(e->peer);
        e->peer = NULL;
    }
    if (!e->in_callback)
        free_end(e);
}

static const struct fn_stream_impl pair_impl = { .send = pair_send,
                                                 .pending = pair_pending,
                                                 .close = pair_close };

static struct end *new_end(struct loop *loop, const ProtobufCMessageDescriptor *in)
{
    struct end *e = xnew(struct end);
    e->base.impl = &pair_impl;
    e->base.in = in;
    e->loop = loop;
    buf_init(&e->in, FN_STREAM_QUEUE);
    return e;
}

void fn_stream_pair(struct loop *loop, const ProtobufCMessageDescriptor *a_in,
                    const ProtobufCMessageDescriptor *b_in, struct fn_stream **a,
                    struct fn_stream **b)
{
    struct end *x = new_end(loop, a_in), *y = new_end(loop, b_in);
    x->peer = y;
    y->peer = x;
    *a = &x->base;
    *b = &y->base;
}
