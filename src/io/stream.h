/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connected byte stream, TCP or Unix socket, with or without TLS. HTTP and DNS are built on
 * it.
 *
 * Output is gathered and sent in one write at the end of the callback that wrote it, or on the next
 * turn when it was written elsewhere. Buffers exist only while they hold something; reads use
 * memory that all streams of a loop share.
 *
 * Callbacks never run from within a call. Memory: stream_close(), then on_closed() is the last
 * callback.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/sm.h"
#include "base/str.h"
#include "io/loop.h"
#include "io/tls_int.h"

enum {
    STREAM_STALL_MS = 60000,           /* output that makes no progress for this long: -ETIMEDOUT */
    STREAM_STALL_MIN_BYTES = 4096,     /* less than this is no progress */
    STREAM_OUT_MAX_BYTES = 1 << 30,    /* output gathered: E_LIMIT beyond */
    STREAM_PIECE_BYTES = 256 << 10,    /* handed to the kernel at once */
    STREAM_HELLO_MAX_BYTES = 64 << 10, /* first TLS record, with what came in the same read */
    STREAM_DIRECT_BYTES =
        16 << 10 /* larger writes are not copied if the socket takes them at once */
};

struct stream;

struct stream_ops {
    void (*on_open)(
        struct stream *s); /* connected and, with TLS, verified; not for accepted ones */
    /* May be NULL. The peer of an accepted stream has sent its first TLS record; TLS state is
     * allocated only now. */
    void (*on_hello)(struct stream *s);
    /* Returns bytes consumed. The rest is held, and reading stops until stream_resume(). */
    size_t (*on_data)(struct stream *s, const char *p, size_t n);
    void (*on_eof)(struct stream *s); /* once; stream.in tells which end it is */
    /* After each batch of the callbacks above and after progress in writing: the place for state
     * changes. */
    void (*on_settled)(struct stream *s);
    void (*on_error)(struct stream *s, int r,
                     const struct err *err); /* once; then only stream_close() */
    void (*on_closed)(struct stream *s);
};

struct stream_held {
    char *p;
    size_t at, n; /* [at, n) is still to be read */
};

/*
 * The life of a stream. Tables with the edges of these four machines are in stream.c.
 *
 *     OPENING --connected, and with TLS shaken hands--> OPEN        (an accepted one in clear text
 *        |  <------------ stream_start_tls() ------------ |          begins here)
 *      fails                                            fails
 *        v                                                v
 *     UNREACHED --on_error()--> REPORTED <--on_error()-- BROKEN
 *
 * stream_close() leads from each of them to CLOSING.
 */
enum stream_at {
    STREAM_OPENING,
    STREAM_OPEN,
    STREAM_UNREACHED, /* failed before it was open */
    STREAM_BROKEN,    /* failed when it was open */
    STREAM_REPORTED,
    STREAM_CLOSING
} __attribute__((packed));

/*
 * What the peer sends.
 *
 *     OPEN <--pause, resume--> PAUSED
 *     OPEN or PAUSED --> ENDED or CUT
 */
enum stream_in {
    STREAM_IN_OPEN,
    STREAM_IN_PAUSED, /* by the owner, or because it did not consume everything */
    STREAM_IN_ENDED,  /* the peer has ended its direction; with TLS, by close_notify */
    STREAM_IN_CUT     /* the connection has ended without close_notify */
} __attribute__((packed));

/*
 * What the owner sends.
 *
 *     OPEN --stream_finish()--> FINISHING --all is written--> FINISHED
 *     OPEN or FINISHING --the peer takes no more, with reads_on--> MUTED
 */
enum stream_out {
    STREAM_OUT_OPEN,
    STREAM_OUT_FINISHING,
    STREAM_OUT_FINISHED,
    STREAM_OUT_MUTED /* output is dropped, reading finds out how the connection ends */
} __attribute__((packed));

/*
 * Whether callbacks of the owner are running.
 *
 *     APART --callbacks begin--> CORKED --stream_kick()--> KICKED --next round--> CORKED
 *
 * Both return to APART when the callbacks have returned.
 */
enum stream_turn {
    STREAM_APART,  /* output written now is sent on the next turn */
    STREAM_CORKED, /* output written now is sent when the callbacks have returned */
    STREAM_KICKED  /* as CORKED, and on_settled() runs again */
} __attribute__((packed));

struct stream {
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } uv;
    struct loop *loop;
    const struct stream_ops *ops;
    SSL *ssl;                         /* NULL: plain, or no hello yet */
    struct tls_ctx *tls;              /* until an accepted stream has its first record */
    struct buf hello;                 /* what has arrived of it */
    struct stream_held sealed, plain; /* read, not consumed; sealed: as TLS sent it */
    struct stream_held window;        /* what the TLS layer may read now */
    struct buf out;                   /* plain bytes to send */
    struct buf wire;                  /* TLS: sealed bytes to send */
    struct flight *flight;            /* a write that the kernel did not take at once */
    struct defer turn;
    struct timer stall;
    size_t stall_left;
    uint64_t stall_ms;   /* STREAM_STALL_MS unless the owner changes it */
    uint64_t sent_bytes; /* taken by the kernel; sealed bytes with TLS */
    struct err *err;     /* once it failed */
    uint32_t read_max;   /* bytes per read; 0: as much as there is */
    enum stream_at at;
    enum stream_in in;
    enum stream_out out_at;
    enum stream_turn turn_at;
    bool is_pipe;
    bool reads_on; /* set by the owner: keep reading when the peer takes no more bytes */
    bool reading;  /* libuv reads */
};

static inline bool stream_is_open(const struct stream *s)
{
    return s->at == STREAM_OPEN;
}
static inline bool stream_is_closing(const struct stream *s)
{
    return s->at == STREAM_CLOSING;
}
/* It has failed or is closing: nothing is sent any more. */
static inline bool stream_is_over(const struct stream *s)
{
    return s->at > STREAM_OPEN;
}
/* The peer has ended its direction, or the connection. */
static inline bool stream_is_at_eof(const struct stream *s)
{
    return s->in >= STREAM_IN_ENDED;
}

/* Accept a connection from a listener. Errors: of uv_accept() or TLS; on_closed runs even then. */
int stream_accept(struct stream *s, struct loop *loop, uv_stream_t *listener, bool is_pipe,
                  struct tls_ctx *tls, const struct stream_ops *ops, struct err *err);
/* Connect; on_open or on_error follows. name: for TLS. on_closed runs even on error. */
int stream_connect_tcp(struct stream *s, struct loop *loop, const struct sockaddr *addr,
                       struct tls_ctx *tls, const char *name, const struct stream_ops *ops,
                       struct err *err);
/*
 * The path of a Unix socket in a form that fits a socket's address (108 bytes): the path itself,
 * or, when it is longer, a path through a descriptor of its directory. *ret_dir_fd is that
 * descriptor (else -1); the caller closes it, and the path is valid until then. Errors:
 * -ENAMETOOLONG: the last part alone is too long; those of opening the directory.
 */
enum { STREAM_UNIX_PATH_SIZE = 108 };
int stream_unix_path(const char *path, char ret[STREAM_UNIX_PATH_SIZE], int *ret_dir_fd,
                     struct err *err);
int stream_connect_unix(struct stream *s, struct loop *loop, const char *path, struct tls_ctx *tls,
                        const char *name, const struct stream_ops *ops, struct err *err);

/*
 * Continue a connected plain stream with TLS, as the client. To be called in on_data(), which must
 * have consumed all its bytes. on_open runs a second time.
 */
int stream_start_tls(struct stream *s, struct tls_ctx *tls, const char *name, struct err *err);

/* TCP_USER_TIMEOUT of a TCP stream, also before it is connected. */
void stream_set_user_timeout(struct stream *s, unsigned ms);

void stream_write(struct stream *s, struct str bytes);
/* As stream_write() and stream_flush(), without copying the bytes that the kernel takes at once. */
void stream_send(struct stream *s, struct str bytes);
/* Write pending output now instead of on the next turn. Failures are still reported later. */
void stream_flush(struct stream *s);
size_t stream_pending(const struct stream *s); /* bytes the kernel has not taken yet */
/* Write pending output, then have on_settled() called. */
void stream_kick(struct stream *s);
void stream_pause(struct stream *s);
void stream_resume(struct stream *s);
bool stream_has_held(const struct stream *s);
/* End our direction once everything is written (TLS: after close_notify). Reading continues. */
void stream_finish(struct stream *s);
/* Make the stream fail: on_error(r) runs later. */
void stream_fail(struct stream *s, int r, const char *why);
/* Make the following stream_close() look like a broken connection to the peer, not like an end. */
void stream_reset(struct stream *s);
/* Close at once; unwritten output is lost. Idempotent. on_closed follows, and no other callback. */
void stream_close(struct stream *s);
