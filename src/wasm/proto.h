/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between main and its runners.
 *
 * One message is one packet of a SOCK_SEQPACKET socket pair: a frame of 16 bytes and a body. A body
 * that does not fit travels in a sealed memfd and is copied before it is looked at. Integers are
 * little endian; a string is its length, u32, and its bytes.
 *
 *     frame:  kind u32 | flags u32 (1: the body is in the first descriptor) | body bytes u64
 *
 *     main -> runner                                       runner -> main
 *     MODULE  compiled code (+ fd), before its first RUN   HELLO   once, first
 *     FORGET  that code is not needed any more             ANSWER  the end of a RUN
 *     RUN     start or wake, deliver, suspend (+ swap fd)  CALL    its guest waits for a REPLY
 *     REPLY   what a guest waits for                       NOTES   what a guest did so far
 *     DROP    end an instance
 *
 * A RUN combines several steps, so that one exchange wakes a sleeping guest, delivers its first
 * events and puts it back to sleep. Its ANSWER says which of these steps were reached; an ANSWER
 * with MORE precedes it when main can already work on the operations.
 *
 * Order. RUN, REPLY, and a DROP of a guest that waits for a REPLY are turns: the runner takes them
 * in the order in which they were sent, one at a time. Each turn ends with one message for its
 * guest, an ANSWER (without MORE) or a CALL, before the next turn begins. So every message of a
 * runner belongs to the oldest turn that has not ended, and main needs no other state to attribute
 * it. The guest of a CALL is parked; its RUN continues in the turn of the REPLY. A DROP of a guest
 * that is not parked causes no message; for a parked one it causes an ANSWER with TRAPPED.
 *
 * Functions. A RUN with TEMPLATE makes, once per revision, the initial state of all its instances;
 * the template stays in its slot until a DROP. Any other RUN of a function is one request:
 * deliveries[0] is its head (of a command: empty, its environment is in `setup`), deliveries[1] the
 * beginning of its body, or all of it with FINISHED. The response consists of notes, which are sent
 * with the next message, or in NOTES when there are many. A guest sends as many bytes of the
 * response as it has credit for, then it makes a call for more credit.
 *
 * Decoders take any bytes: they fail with E_PARSE and never read outside the message. The receiver
 * checks the values. Decoded strings point into the message.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "wasm/abi.h"

enum {
    PROTO_VERSION = 5,
    PROTO_FRAME_BYTES = 16,
    PROTO_MESSAGE_MAX = 64 << 10,   /* one packet; a larger message goes through a memfd */
    PROTO_BODY_MAX = 24 << 20,      /* one body: a payload of 16 MiB and its other fields */
    PROTO_DELIVERIES_MAX = 32,      /* in one RUN */
    PROTO_OPS_MAX = 1024,           /* in one ANSWER; more than a guest may have pending */
    PROTO_OPS_BYTES_MAX = 20 << 20, /* payloads of one ANSWER together */
    PROTO_LOGS_MAX = 256,           /* lines in one ANSWER */
    PROTO_LOGS_BYTES_MAX = 64 << 10,
    PROTO_LOG_LINE_MAX = 4 << 10, /* longer lines are cut */
    PROTO_SETUP_MAX = 128 << 10,  /* arguments and environment of one guest */
    PROTO_GLOBALS_MAX = 64 * 16,
    PROTO_TEXT_MAX = 512,
    PROTO_NOTES_MAX = 4096,          /* in one message: of one activation, and earlier ones */
    PROTO_NOTES_BYTES_MAX = 10 << 20 /* of the notes; GUEST_V1_POSTS_MAX events fit */
};

enum proto_kind {
    PROTO_HELLO = 1,
    PROTO_MODULE,
    PROTO_FORGET,
    PROTO_RUN,
    PROTO_DROP,
    PROTO_ANSWER,
    PROTO_CALL,
    PROTO_NOTES,
    PROTO_REPLY
};

/*
 * The kind of a CALL that the runner makes for a guest: the guest has run for a while and other
 * messages wait; the REPLY gives it its next turn.
 */
enum { PROTO_CALL_SLICE = GUEST_CALL_COUNT };

struct proto_hello {
    uint32_t version;  /* PROTO_VERSION */
    struct str engine; /* DM_ENGINE_VERSION */
    uint32_t in_force; /* as in struct confine_report; refused is a positive errno here */
    uint32_t refused;
};

/* The fields are those of module_info.h. The descriptor is the compiled code. */
struct proto_module {
    uint32_t id;
    bool has_memory, has_start, is_dissolvable;
    uint64_t image_lo, image_hi;
    struct str globals;
};

enum proto_run_flags {
    RUN_START = 1 << 0,     /* make an instance and call its entry point */
    RUN_WAKE = 1 << 1,      /* make an instance and restore it from the swap file */
    RUN_SUSPEND = 1 << 2,   /* afterwards write it to the swap file and dissolve it */
    RUN_FIRST = 1 << 3,     /* with SUSPEND: the swap file is empty */
    RUN_PAGEMAP = 1 << 4,   /* with SUSPEND: find dirty pages without PAGEMAP_SCAN */
    RUN_LOG_DEBUG = 1 << 5, /* V1: log lines of level 0 are wanted */
    RUN_RECORD = 1 << 6,    /* V1: a record (snapshot.h) belongs to the swap file */
    RUN_VERIFY = 1 << 7, /* with WAKE and RECORD: written by an earlier process, check the pages */
    RUN_AHEAD = 1 << 8,  /* with WAKE: no event yet, read its pages into memory */
    RUN_TEMPLATE = 1 << 9, /* functions: make a template, see above */
    RUN_KEEP = 1 << 10,    /* functions: keep the instance for the next request to this slot */
    RUN_FLAGS = (1 << 11) - 1
};

enum proto_delivery_flags {
    DELIVERY_FINISHED = 1 << 0,
    DELIVERY_NULL = 1 << 1,
    DELIVERY_STREAM = 1 << 2,   /* G1: wakeup_stream */
    DELIVERY_ACTIVATE = 1 << 3, /* V1; id is the token */
    DELIVERY_FLAGS = (1 << 4) - 1
};

struct proto_delivery {
    uint64_t id;
    uint32_t flags;
    struct str payload;
};

/*
 * slot: where the runner keeps the instance; main chooses it. A RUN without START and WAKE is for
 * the instance in the slot. The descriptor, if any, is the swap file.
 */
struct proto_run {
    uint32_t slot, incarnation;
    uint64_t guest, seq; /* echoed */
    uint32_t flags;
    uint32_t module;
    enum guest_abi abi;
    uint32_t activation_ms; /* CPU time for one call */
    uint64_t memory_max_bytes;
    uint32_t ops_room; /* operations it may start */
    uint64_t next_id;
    uint64_t clock_offset_ns; /* the guest's monotonic clock is ahead of the machine's by this */
    uint64_t skipped_ms;      /* main's virtual time (base/clock.h), 0 except in tests */
    uint64_t swap_room_bytes; /* SUSPEND: how much its swap file may grow */
    uint32_t memory_pages;    /* WAKE: of 64 KiB */
    struct str globals;       /* WAKE: 8 bytes each, v128 16 */
    struct str setup;         /* START and WAKE: proto_add_setup() */
    struct str identity;      /* RECORD and SUSPEND: of the record, 32 bytes */
    uint32_t template_slot;   /* functions: slot of its TEMPLATE. Functions also use the next two */
    uint32_t credit;          /* bytes of the response that may be sent without a call */
    uint64_t response_max;    /* bytes of the response; 0: no limit */
    uint32_t n_deliveries;
    struct proto_delivery deliveries[PROTO_DELIVERIES_MAX];
};

struct proto_slot {
    uint32_t slot; /* DROP; FORGET: the module's id */
};

enum proto_answer_flags {
    ANSWER_DONE = 1 << 0,      /* every activation of the RUN ran to its end */
    ANSWER_SUSPENDED = 1 << 1, /* the record is valid, the instance is gone */
    ANSWER_KEPT = 1 << 2,      /* with SUSPENDED: its memory is paged out, the instance is kept */
    ANSWER_SUSPEND_FAILED = 1 << 3, /* it stays awake; `text` says why */
    ANSWER_TRAPPED = 1 << 4,        /* the instance is gone, `text` says why */
    ANSWER_MORE = 1 << 5,           /* with DONE: the suspend continues, another ANSWER follows */
    ANSWER_FLAGS = (1 << 6) - 1
};

struct proto_op {
    uint32_t kind; /* enum of struct guest_op */
    uint64_t id;
    bool stream;
    uint64_t delay_ms;
    struct str payload;
};

struct proto_log {
    uint32_t fd;
    struct str line;
};

/* An action of a guest of V1 or of a function: guest_post_kind, or one of these. */
enum proto_note_kind {
    NOTE_LINE = GUEST_POST_COUNT, /* number: 1 or 2, head: a line of output */
    NOTE_RESULT,                  /* an activation has ended: value, head: fail_message() */
    NOTE_FN_HEAD, /* functions, which have no NOTE_RESULT. number: the status, head: fields */
    NOTE_FN_DATA, /* head: a part of the response's body; of a command: of its output */
    NOTE_FN_TRAILERS,
    NOTE_FN_END, /* the last note. number: guest_fn_end, value: the result, head: why it trapped */
    NOTE_COUNT
};

struct proto_note {
    uint32_t kind, number;
    uint64_t token;
    int64_t value; /* METRIC: the bits of a double */
    struct str head, body;
};

/* CALL and NOTES; NOTES has neither id nor kind, head and body. */
struct proto_call {
    uint32_t slot, incarnation;
    uint64_t guest, seq; /* of its RUN */
    uint64_t id, token;
    uint32_t kind;   /* guest_call_kind, or PROTO_CALL_SLICE */
    uint32_t cpu_us; /* CPU time of the command since its last message */
    uint64_t clock_offset_ns;
    uint32_t logs_left_out;
    struct str head, body;
    uint32_t n_notes;
    struct rd notes; /* walk them with proto_next_note() */
};

struct proto_reply {
    uint32_t slot;
    uint64_t guest, id;
    int64_t value;
    struct str bytes;
};

struct proto_answer {
    uint32_t slot, incarnation;
    uint64_t guest, seq;
    uint32_t flags;
    int32_t code; /* TRAPPED, SUSPEND_FAILED: a negative error code; E_LIMIT: no room in its swap
                     file */
    uint32_t activations;
    uint64_t next_id, clock_offset_ns;
    uint32_t memory_pages, dirty_pages; /* of 64 KiB and of 4 KiB */
    uint64_t swap_bytes, swap_mtime_ns; /* SUSPENDED and SUSPEND_FAILED: blocks of the file */
    uint64_t swap_needs_bytes;          /* SUSPEND_FAILED with E_LIMIT: the room that it needs */
    uint32_t resume_us, suspend_us;
    uint32_t cpu_us; /* as of a call */
    uint32_t logs_left_out;
    struct str text;
    struct str globals;
    uint32_t n_logs, n_ops, n_notes;
    struct rd logs, ops, notes; /* walk them with proto_next_log() and so on, n times */
};

/* Encoding appends to a buffer that proto_begin() has prepared; buf_ok() reports failures. */
void proto_begin(struct buf *b);
void proto_put_hello(struct buf *b, const struct proto_hello *m);
void proto_put_module(struct buf *b, const struct proto_module *m);
void proto_put_slot(struct buf *b, enum proto_kind kind, uint32_t slot);
void proto_put_run(struct buf *b, const struct proto_run *m);
/* `logs`, `ops` and `notes` were encoded by proto_add_log() and so on. */
void proto_put_answer(struct buf *b, const struct proto_answer *m, struct str logs, struct str ops,
                      struct str notes);
void proto_put_call(struct buf *b, enum proto_kind kind, const struct proto_call *m,
                    struct str notes);
void proto_put_reply(struct buf *b, const struct proto_reply *m);
void proto_add_log(struct buf *b, const struct proto_log *log);
void proto_add_op(struct buf *b, const struct proto_op *op);
void proto_add_note(struct buf *b, const struct proto_note *note);

/* Whole bodies; E_PARSE. */
int proto_get_hello(struct str body, struct proto_hello *ret, struct err *err);
int proto_get_module(struct str body, struct proto_module *ret, struct err *err);
int proto_get_slot(struct str body, struct proto_slot *ret, struct err *err);
int proto_get_run(struct str body, struct proto_run *ret, struct err *err);
int proto_get_answer(struct str body, struct proto_answer *ret, struct err *err);
int proto_get_call(struct str body, struct proto_call *ret, struct err *err);
int proto_get_reply(struct str body, struct proto_reply *ret, struct err *err);
void proto_next_log(struct rd *r, struct proto_log *ret);
void proto_next_op(struct rd *r, struct proto_op *ret);
void proto_next_note(struct rd *r, struct proto_note *ret);

/*
 * Arguments and environment in WASI's form: for each of the two, count u32, bytes u32, and
 * NUL-terminated strings (environment: NAME=VALUE).
 */
struct proto_setup {
    uint32_t n_args, n_env;
    struct str args, env;
};
/* -E2BIG past PROTO_SETUP_MAX, -EINVAL for a NUL inside or a name with '='. */
#define PROTO_NO_SETUP STR("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0") /* neither of them */
int proto_add_setup(struct buf *b, const struct str *args, size_t n_args,
                    const struct guest_env *env, size_t n_env);
/* E_PARSE; on success every string ends inside `setup`. */
int proto_get_setup(struct str setup, struct proto_setup *ret);

/*
 * Send the encoded message, with `fd` unless it is -1. Never blocks with a non-blocking socket.
 * Errors: -EAGAIN nothing was sent; -EMSGSIZE over PROTO_BODY_MAX; others of the socket or memfd.
 */
int proto_send(int sock, const struct buf *b, int fd, struct err *err);

/* A received message. Zero-initialised except for fd = -1. */
struct proto_in {
    enum proto_kind kind;
    struct str body; /* borrowed until the next proto_recv() or proto_in_fini() */
    int fd;          /* attached descriptor or -1; code that takes it sets -1 */
    char *packet, *large;
};
#define PROTO_IN_INIT ((struct proto_in){ .fd = -1 })
/*
 * Receive one message; flags as of recvmsg(2). Closes the descriptor of the previous message if it
 * was not taken. Errors: -EAGAIN: no message; E_EOF: the peer is gone; E_PARSE: not a message;
 * those of the system.
 */
int proto_recv(int sock, int flags, struct proto_in *in, struct err *err);
void proto_in_fini(struct proto_in *in);
