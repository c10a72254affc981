/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gRPC over HTTP/2, server and client, on io/http.h: messages in and out, status and metadata at
 * the end, all four kinds of calls. Messages are bytes; what they mean is the caller's business. No
 * compression.
 *
 * A server is a table of methods that stands behind any HTTP server: its on_request handler asks
 * grpc_server_take() first. A client is any struct http_client with `http2`; pings and
 * TCP_USER_TIMEOUT for calls that last are options of those (io/http.h).
 *
 * Unary and streaming calls differ only in how many messages are sent, so there is one API for all.
 * Back-pressure is HTTP's: a sender stops when a send says full, a receiver pauses.
 */
#pragma once

#include "io/http.h"

enum {
    GRPC_MESSAGE_MAX_BYTES = 4 << 20, /* received; RESOURCE_EXHAUSTED beyond. As others have it */
    GRPC_TEXT_MAX_BYTES = 4 << 10,    /* of a status message; longer ones are cut */
    GRPC_METHOD_MAX_BYTES = 256
};

/* The codes of the protocol, by their numbers on the wire. */
#define GRPC_CODES(X)                                                                              \
    X(OK, 0)                                                                                       \
    X(CANCELLED, 1)                                                                                \
    X(UNKNOWN, 2)                                                                                  \
    X(INVALID_ARGUMENT, 3)                                                                         \
    X(DEADLINE_EXCEEDED, 4)                                                                        \
    X(NOT_FOUND, 5)                                                                                \
    X(ALREADY_EXISTS, 6)                                                                           \
    X(PERMISSION_DENIED, 7)                                                                        \
    X(RESOURCE_EXHAUSTED, 8)                                                                       \
    X(FAILED_PRECONDITION, 9)                                                                      \
    X(ABORTED, 10)                                                                                 \
    X(OUT_OF_RANGE, 11)                                                                            \
    X(UNIMPLEMENTED, 12)                                                                           \
    X(INTERNAL, 13)                                                                                \
    X(UNAVAILABLE, 14)                                                                             \
    X(DATA_LOSS, 15)                                                                               \
    X(UNAUTHENTICATED, 16)

enum grpc_code {
#define GRPC_CODE(name, number) GRPC_##name = (number),
    GRPC_CODES(GRPC_CODE)
#undef GRPC_CODE
};

const char *grpc_code_name(int code); /* "UNAVAILABLE"; "UNKNOWN" for numbers without a name */
int grpc_code_of_errno(int r);        /* of a negative code of ours */
int grpc_code_to_errno(int code);     /* 0, or a negative code of ours */
bool grpc_is_request(const struct http_request *req); /* by its content-type */

/* ------------------------------------------------------------------ server */

struct grpc_server;
struct grpc_stream; /* the server's end of one call; owned by the module */

/*
 * Set by the method's handler through grpc_stream_set(). on_gone is the last one, exactly once:
 * r is 0 after the status was sent, else as in http_exchange_ops, -ETIMEDOUT also for the call's
 * deadline. Any may be NULL. Calls on the stream never invoke these synchronously.
 */
struct grpc_stream_ops {
    void (*on_message)(struct grpc_stream *st, struct str message); /* borrowed */
    void (*on_half_close)(struct grpc_stream *st); /* the client sends no more messages */
    void (*on_writable)(struct grpc_stream *st);   /* after grpc_stream_send() said full */
    void (*on_gone)(struct grpc_stream *st, int r);
};

struct grpc_server *grpc_server_new(struct loop *loop);
/* No stream may be left: close the HTTP servers before. */
void grpc_server_free(struct grpc_server *s);
/*
 * begin() runs for each call of `path`, "/package.Service/Method", kept. It sets the stream's
 * callbacks; messages come afterwards. max_bytes of a received message; 0:
 * GRPC_MESSAGE_MAX_BYTES.
 */
void grpc_server_add(struct grpc_server *s, const char *path, size_t max_bytes,
                     void (*begin)(struct grpc_stream *st, void *arg), void *arg);
/*
 * In on_request: true if the request is gRPC, which is answered then, by a method or with a
 * status (UNIMPLEMENTED: no such method, or not over HTTP/2).
 */
bool grpc_server_take(struct grpc_server *s, struct http_exchange *x,
                      const struct http_request *req);

void grpc_stream_set(struct grpc_stream *st, const struct grpc_stream_ops *ops, void *data);
void *grpc_stream_data(const struct grpc_stream *st);
struct http_exchange *grpc_stream_exchange(struct grpc_stream *st);       /* for its peer */
const struct headers *grpc_stream_metadata(const struct grpc_stream *st); /* as the client sent */
/* Of loop_now_ms(), as the client wants it; UINT64_MAX: none. Past it the call ends by itself. */
uint64_t grpc_stream_deadline_ms(const struct grpc_stream *st);
void grpc_stream_pause(struct grpc_stream *st); /* no further message until */
void grpc_stream_resume(struct grpc_stream *st);
/* Initial metadata, at most once, before the first message; without it an empty one is sent. */
void grpc_stream_head(struct grpc_stream *st, const struct headers *metadata);
/* false: full, stop until on_writable. Copied. */
bool grpc_stream_send(struct grpc_stream *st, struct str message);
size_t grpc_stream_pending(const struct grpc_stream *st); /* bytes waiting for the client */
/*
 * The end of the call, at most once. text, for a person, may be NULL; trailers too. on_gone
 * follows.
 */
void grpc_stream_end(struct grpc_stream *st, int code, const char *text,
                     const struct headers *trailers);
/* As the two before: one message and OK. */
void grpc_stream_reply(struct grpc_stream *st, struct str message);
/* Cut without a status: the client sees a reset stream. */
void grpc_stream_abort(struct grpc_stream *st);

/* ------------------------------------------------------------------ client */

struct grpc_call;

/* How a call ended; borrowed until on_end returned. */
struct grpc_result {
    int code;                       /* enum grpc_code */
    struct str text;                /* of the status, or why there is none */
    const struct headers *trailers; /* NULL: there were none */
    /*
     * 0: the status is the server's. Else it is made of this code of http_call_ops.on_end, e.g.
     * UNAVAILABLE of -ECONNREFUSED.
     */
    int r;
    bool was_sent; /* false: the server has not seen the call; it may be made again */
};

/* Any but on_end may be NULL. */
struct grpc_call_ops {
    void (*on_head)(void *arg, const struct headers *metadata);
    void (*on_message)(void *arg, struct str message); /* borrowed */
    void (*on_writable)(void *arg);                    /* after grpc_call_send() said full */
    void (*on_end)(void *arg, const struct grpc_result *result); /* exactly once, the last one */
};

struct grpc_call_opts {
    const char *path;               /* "/package.Service/Method" */
    const struct headers *metadata; /* may be NULL; copied */
    uint64_t timeout_ms;            /* the call's deadline, told to the server too; 0: none */
    size_t max_bytes;               /* of a received message; 0: GRPC_MESSAGE_MAX_BYTES */
    const struct str
        *only; /* a unary call's message, and the end of ours; NULL: grpc_call_send() */
    const struct grpc_call_ops *ops;
    void *arg;
};

/* *ret is valid until on_end returned. Errors: as http_call_start(). */
int grpc_call_start(struct http_client *c, const struct grpc_call_opts *opts,
                    struct grpc_call **ret, struct err *err);
bool grpc_call_send(struct grpc_call *call, struct str message); /* false: full. Copied */
size_t grpc_call_pending(const struct grpc_call *call);
void grpc_call_half_close(struct grpc_call *call); /* no further message of ours */
void grpc_call_pause(struct grpc_call *call);
void grpc_call_resume(struct grpc_call *call);
void grpc_call_cancel(struct grpc_call *call); /* on_end(CANCELLED) comes on a later turn */
