/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gRPC over HTTP/2, server and client, on io/http.h: messages in both directions, status and
 * metadata at the end, all four kinds of calls. Messages are opaque bytes. No compression.
 *
 * A server is a table of methods for any HTTP server: the on_request handler of the latter calls
 * grpc_server_take() first. A client is any struct http_client with `http2`. Pings and
 * TCP_USER_TIMEOUT for long calls are options of HTTP server and client (io/http.h).
 *
 * Unary and streaming calls differ only in how many messages are sent, so there is one API for all.
 * Back-pressure is HTTP's: a sender stops when a send reports full, a receiver pauses.
 */
#pragma once

#include "io/http.h"

enum {
    GRPC_MESSAGE_MAX_BYTES = 4 << 20, /* received; RESOURCE_EXHAUSTED beyond. The usual default */
    GRPC_TEXT_MAX_BYTES = 4 << 10,    /* of a status message; a longer one is cut */
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
int grpc_code_of_errno(int r);        /* of a negative error code */
int grpc_code_to_errno(int code);     /* 0, or a negative error code */
bool grpc_is_request(const struct http_request *req); /* by its content-type */

/* ------------------------------------------------------------------ server */

struct grpc_server;
struct grpc_stream; /* the server's end of one call; owned by the module */

/*
 * The method's handler sets these through grpc_stream_set(). on_gone runs exactly once, as the last
 * one; its r is 0 after the status was sent, else as in http_exchange_ops, and -ETIMEDOUT also when
 * the call's deadline passes. Any may be NULL. Calls on the stream never run these callbacks
 * synchronously.
 */
struct grpc_stream_ops {
    void (*on_message)(struct grpc_stream *st, struct str message); /* borrowed */
    void (*on_half_close)(struct grpc_stream *st); /* the client sends no more messages */
    void (*on_writable)(struct grpc_stream *st);   /* after grpc_stream_send() reported full */
    void (*on_gone)(struct grpc_stream *st, int r);
};

struct grpc_server *grpc_server_new(struct loop *loop);
/* No stream may exist any more: close the HTTP servers first. */
void grpc_server_free(struct grpc_server *s);
/*
 * begin() runs for each call of `path` ("/package.Service/Method", kept) and sets the stream's
 * callbacks; messages arrive after it has returned. max_bytes: of a received message; 0:
 * GRPC_MESSAGE_MAX_BYTES.
 */
void grpc_server_add(struct grpc_server *s, const char *path, size_t max_bytes,
                     void (*begin)(struct grpc_stream *st, void *arg), void *arg);
/*
 * To be called in on_request. true: the request is gRPC, and this module answers it, by a method or
 * with a status (UNIMPLEMENTED: no such method, or not over HTTP/2).
 */
bool grpc_server_take(struct grpc_server *s, struct http_exchange *x,
                      const struct http_request *req);

void grpc_stream_set(struct grpc_stream *st, const struct grpc_stream_ops *ops, void *data);
void *grpc_stream_data(const struct grpc_stream *st);
struct http_exchange *grpc_stream_exchange(struct grpc_stream *st); /* for its peer */
const struct headers *grpc_stream_metadata(
    const struct grpc_stream *st); /* as the client sent it */
/* The client's deadline, by loop_now_ms(); UINT64_MAX: none. The module ends the call when it
 * passes. */
uint64_t grpc_stream_deadline_ms(const struct grpc_stream *st);
void grpc_stream_pause(struct grpc_stream *st); /* no further message until resume */
void grpc_stream_resume(struct grpc_stream *st);
/* Send the initial metadata, at most once, before the first message; by default it is empty. */
void grpc_stream_head(struct grpc_stream *st, const struct headers *metadata);
/* The message is copied. false: full, stop until on_writable. */
bool grpc_stream_send(struct grpc_stream *st, struct str message);
size_t grpc_stream_pending(const struct grpc_stream *st); /* bytes waiting for the client */
/*
 * End the call, at most once. text, for people, may be NULL, and so may trailers. on_gone follows.
 */
void grpc_stream_end(struct grpc_stream *st, int code, const char *text,
                     const struct headers *trailers);
/* Send one message and end with OK. */
void grpc_stream_reply(struct grpc_stream *st, struct str message);
/* End the call without a status: the client sees a reset stream. */
void grpc_stream_abort(struct grpc_stream *st);

/* ------------------------------------------------------------------ client */

struct grpc_call;

/* How a call ended; borrowed until on_end returned. */
struct grpc_result {
    int code;                       /* enum grpc_code */
    struct str text;                /* of the status, or the reason why there is none */
    const struct headers *trailers; /* NULL: there were none */
    /*
     * 0: the server sent the status. Else the status is derived from this code of
     * exchange_events.on_end, e.g. UNAVAILABLE from -ECONNREFUSED.
     */
    int r;
    bool was_sent; /* false: the server has not seen the call; a retry is safe */
};

/* Any but on_end may be NULL. */
struct grpc_call_ops {
    void (*on_head)(void *arg, const struct headers *metadata);
    void (*on_message)(void *arg, struct str message); /* borrowed */
    void (*on_writable)(void *arg);                    /* after grpc_call_send() reported full */
    void (*on_end)(void *arg, const struct grpc_result *result); /* exactly once, the last one */
};

struct grpc_call_opts {
    const char *path;               /* "/package.Service/Method" */
    const struct headers *metadata; /* may be NULL; copied */
    uint64_t timeout_ms;            /* the call's deadline, sent to the server as well; 0: none */
    size_t max_bytes;               /* of a received message; 0: GRPC_MESSAGE_MAX_BYTES */
    const struct str *only;         /* a unary call's only message; NULL: grpc_call_send() */
    const struct grpc_call_ops *ops;
    void *arg;
};

/* *ret is valid until on_end has returned. Errors: as http_call_start(). */
int grpc_call_start(struct http_client *c, const struct grpc_call_opts *opts,
                    struct grpc_call **ret, struct err *err);
bool grpc_call_send(struct grpc_call *call, struct str message); /* copied; false: full */
size_t grpc_call_pending(const struct grpc_call *call);
void grpc_call_half_close(struct grpc_call *call); /* the client sends no more messages */
void grpc_call_pause(struct grpc_call *call);
void grpc_call_resume(struct grpc_call *call);
void grpc_call_cancel(struct grpc_call *call); /* on_end(CANCELLED) runs on a later turn */
