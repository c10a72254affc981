/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One end of a stream of messages (fn.proto) between two roles: a pair in this process, or gRPC
 * (io/grpc.h) between two processes. The holder of an end does not see the difference.
 *
 * Loop thread only. Callbacks never run inside a call made on the stream; on_end is the last one.
 * The holder releases its end with fn_stream_close(), also after on_end or inside it.
 */
#pragma once

#include "base/err.h"
#include "io/loop.h"

#include <protobuf-c/protobuf-c.h>

struct fn_stream;

enum {
    FN_MESSAGE_MAX = 4 << 20,  /* one message; senders split what is larger */
    FN_PEER_MAX = 48,          /* an address as text */
    FN_STREAM_QUEUE = 16 << 20 /* not taken by the peer yet: beyond, the stream fails */
};

struct fn_stream_ops {
    /* Of the type that the stream was made for; borrowed for the call. */
    void (*on_message)(void *arg, const ProtobufCMessage *m);
    /* 0: the peer has closed it. Exactly once, unless fn_stream_close() came first. */
    void (*on_end)(void *arg, int r, const struct err *err);
};

void fn_stream_set(struct fn_stream *s, const struct fn_stream_ops *ops, void *arg);
/*
 * The address of the peer, as text without a port; "": a pair in this process, or a stream that was
 * dialed. Borrowed.
 */
const char *fn_stream_from(const struct fn_stream *s);
/* Encoded before it returns. Errors show as on_end. */
void fn_stream_send(struct fn_stream *s, const ProtobufCMessage *m);
/* Bytes that the peer has not taken yet. */
size_t fn_stream_pending(const struct fn_stream *s);
/* Ends after the messages that were sent. No callback follows, and `s` is freed. NULL is fine. */
void fn_stream_close(struct fn_stream *s);

/*
 * Both ends of a stream in this process; a receives messages of type a_in, b of b_in.
 */
void fn_stream_pair(struct loop *loop, const ProtobufCMessageDescriptor *a_in,
                    const ProtobufCMessageDescriptor *b_in, struct fn_stream **a,
                    struct fn_stream **b);

/*
 * How a gateway or a worker connects to the control plane: dial() makes a stream that may end at
 * any time, also immediately. Given; the dialer outlives its streams.
 */
struct fn_dialer {
    const struct fn_dialer_ops *ops;
};
struct fn_dialer_ops {
    /* `in`: what the stream receives (GatewayOrder or WorkerOrder). `address`: of a redirect, or
     * "": whichever control plane is next. */
    struct fn_stream *(*dial)(struct fn_dialer *d, const ProtobufCMessageDescriptor *in,
                              const char *address);
};
