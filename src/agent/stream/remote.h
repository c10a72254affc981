/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remote commands (exec and attach): the server's side of one client, over a link, toward a program
 * in a container.
 *
 *     waiting ----> running ----> closing ----> gone     waiting: for the client's streams (SPDY)
 *        |             |             ^                    closing: the status was sent
 *        +-------------+--- no client, or no streams ---> gone
 *
 * The program sees bytes: stdin as written by the client, stdout and stderr as it wants them sent.
 * What runs it is the caller's.
 */
#pragma once

#include "agent/stream/choose.h"
#include "io/http.h"

enum {
    STREAM_REMOTE_CREATION_MS = 30000, /* the client must have made its streams; else cut */
    STREAM_REMOTE_SIZE_MAX_BYTES = 256 /* of one message about the terminal's size */
};

enum stream_output { STREAM_STDOUT, STREAM_STDERR };

struct stream_remote;

/* What the client wants. */
struct stream_remote_wish {
    bool has_stdin, has_stdout, has_stderr, is_tty; /* a terminal has no stderr */
};

/*
 * Supplied by the caller. `program` is what start() has returned. All but start() may be NULL if no
 * wish needs them. None calls stream_remote_...() functions inside.
 */
struct stream_program_ops {
    /*
     * Start, or attach. It reports with stream_remote_output() and so on from later turns on, until
     * stream_remote_exited() or stream_remote_failed(), its last call. Errors: as the text of the
     * client's status; nothing more is called then.
     */
    int (*start)(void *arg, struct stream_remote *remote, void **ret_program, struct err *err);
    /* Bytes for stdin: taken, all of them. false: full, until stream_remote_wants_input(). */
    bool (*write)(void *program, struct str bytes);
    void (*end_input)(void *program); /* the client has ended stdin */
    /* stream_remote_output() has reported false, and there is room again. */
    void (*resume)(void *program, enum stream_output which);
    void (*resize)(void *program, uint16_t columns, uint16_t rows);
    /*
     * The client has left before the end: end the program (exec), or detach (attach). It must not
     * report any more. Also called if there never was a program, with NULL, so that `arg` can be
     * released; then and after exited() or failed() `arg` is not used again.
     */
    void (*close)(void *program, void *arg);
};

struct stream_remote_opts {
    struct loop *loop;
    struct http_exchange *x; /* taken */
    const struct stream_choice *choice;
    struct stream_remote_wish wish;
    bool is_attach;       /* only for the words of an error */
    uint64_t creation_ms; /* 0: STREAM_REMOTE_CREATION_MS */
    uint64_t idle_ms;     /* 0: STREAM_LINK_IDLE_MS */
    size_t *count;        /* of open streams: risen by one until the end; kept; NULL: none */
    const struct stream_program_ops *ops;
    void *arg;
};

/* Answers 101. start() runs on a later turn, when the client's streams are there. */
void stream_remote_serve(const struct stream_remote_opts *opts);

/* ---- for the program ---- */

/* false: stop until resume(). All bytes are taken. Output that the client did not ask for is
 * dropped. */
bool stream_remote_output(struct stream_remote *s, enum stream_output which, struct str bytes);
/* write() returned false, and there is room again. */
void stream_remote_wants_input(struct stream_remote *s);
/* It takes no more input: the rest is discarded. */
void stream_remote_refuses_input(struct stream_remote *s);
/* The last call; all output was reported. status: 0 to 255, or -SIGNAL. */
void stream_remote_exited(struct stream_remote *s, int status);
/* It could not be run, or its end is not known. The last call. */
void stream_remote_failed(struct stream_remote *s, const char *why);
