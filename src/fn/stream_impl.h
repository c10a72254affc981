/* SPDX-License-Identifier: Apache-2.0 */
/* What the two kinds of streams share: a pair in this process (stream.c), gRPC (link/). */
#pragma once

#include "base/str.h"
#include "fn/stream.h"

struct fn_stream_impl {
    void (*send)(struct fn_stream *s, const ProtobufCMessage *m);
    size_t (*pending)(const struct fn_stream *s);
    void (*close)(struct fn_stream *s);
};

struct fn_stream {
    const struct fn_stream_impl *impl;
    const ProtobufCMessageDescriptor *in; /* what it receives */
    const struct fn_stream_ops *ops;      /* NULL: not set yet */
    void *arg;
    char from[FN_PEER_MAX];
};

/* Decode and deliver. E_PARSE: not a message of this type. */
int fn_stream_deliver(struct fn_stream *s, struct str bytes, struct err *err);
