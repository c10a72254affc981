/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of SPDY/3.1 as a server reads and writes them: pure, bytes in, events out.
 *
 *     while ((r = spdy_read(&reader, &bytes, &ev, &err)) > 0)
 *         ...
 *
 * Data frames come in pieces, as they arrive, so that one may have any length. Control frames that
 * mean nothing here (settings other than the window, headers after the start, credentials, unknown
 * ones) are skipped.
 */
#pragma once

#include "agent/stream/spdy_headers.h"

enum {
    SPDY_VERSION = 3,
    SPDY_BLOCK_MAX_BYTES = 16 << 10, /* of a header block, compressed */
    SPDY_SETTINGS_MAX = 128,         /* entries of one frame */
    SPDY_WINDOW_BYTES = 64 << 10,    /* initial, of streams and of the session */
    SPDY_ID_MAX = 0x7fffffff
};

enum spdy_status { /* of RST_STREAM, section 2.6.3 */
                   SPDY_PROTOCOL_ERROR = 1,
                   SPDY_INVALID_STREAM = 2,
                   SPDY_REFUSED_STREAM = 3,
                   SPDY_CANCEL = 5,
                   SPDY_INTERNAL_ERROR = 6,
                   SPDY_FLOW_CONTROL_ERROR = 7
};

enum spdy_goodbye { SPDY_GOODBYE_OK = 0, SPDY_GOODBYE_PROTOCOL_ERROR = 1 }; /* of GOAWAY */

enum spdy_kind {
    SPDY_OPEN,    /* SYN_STREAM: headers, is_last */
    SPDY_DATA,    /* a piece: data, is_last */
    SPDY_RESET,   /* RST_STREAM */
    SPDY_SETTING, /* SETTINGS with an initial window: value */
    SPDY_PING,    /* value: its id */
    SPDY_GOAWAY,  /* no new streams */
    SPDY_WINDOW   /* WINDOW_UPDATE: value; stream 0: of the session */
};

struct spdy_event {
    enum spdy_kind kind;
    uint32_t stream;
    bool is_last;                  /* the peer ends its direction of the stream */
    bool is_one_way;               /* OPEN: the peer accepts no data of ours on it */
    uint32_t value;                /* see the kinds */
    struct str data;               /* borrowed from the input */
    const struct headers *headers; /* valid until the next call */
};

/* Where it stands in a frame. */
enum spdy_reader_at { SPDY_READER_HEAD, SPDY_READER_DATA, SPDY_READER_CONTROL, SPDY_READER_SKIP };

struct spdy_reader {
    enum spdy_reader_at at;
    uint8_t head[8], n_head;
    uint32_t left; /* bytes of the frame */
    struct buf control;
    struct headers headers;
    struct spdy_inflater *inflater; /* NULL until the first header block */
};

void spdy_reader_init(struct spdy_reader *r);
void spdy_reader_fini(struct spdy_reader *r);
/*
 * Take bytes from the front of *bytes until there is an event. 1: *ret is set. 0: all was taken,
 * and no event is complete. Errors: E_PARSE, E_LIMIT; nothing can be read after one.
 */
int spdy_read(struct spdy_reader *r, struct str *bytes, struct spdy_event *ret, struct err *err);

/* Append frames. first: the first reply on this connection. n bytes follow a data head. */
enum { SPDY_DATA_HEAD_BYTES = 8, SPDY_DATA_MAX_BYTES = (1 << 24) - 1 };
void spdy_add_reply(struct buf *to, uint32_t stream, bool first);
void spdy_data_head(char ret[SPDY_DATA_HEAD_BYTES], uint32_t stream, size_t n, bool is_last);
void spdy_add_reset(struct buf *to, uint32_t stream, enum spdy_status status);
void spdy_add_ping(struct buf *to, uint32_t id);
void spdy_add_goaway(struct buf *to, uint32_t last_stream, enum spdy_goodbye why);
void spdy_add_window(struct buf *to, uint32_t stream, uint32_t more);
