/* SPDX-License-Identifier: Apache-2.0 */
/* Takes an HTTP/1.1 response apart as it arrives (RFC 9112). No I/O. */
#pragma once

#include "dm/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESPONSE_LINE_MAX (64u << 10) /* status line, one header, one chunk size */
#define RESPONSE_HEAD_MAX (256u << 10)

enum response_at {
    RESPONSE_STATUS,
    RESPONSE_HEADER,
    RESPONSE_FIXED, /* Content-Length */
    RESPONSE_CHUNK_SIZE,
    RESPONSE_CHUNK,
    RESPONSE_CHUNK_END,
    RESPONSE_TRAILER,
    RESPONSE_UNTIL_CLOSE,
    RESPONSE_DONE,
};

/* A zeroed one waits for a response. */
struct response {
    enum response_at at;
    int status;
    bool chunked, has_length, close;
    uint64_t left; /* of the fixed body or the chunk */
    size_t head_bytes;
    struct dm_text line;
};

struct response_ops {
    void (*head)(void *arg, int status);
    void (*data)(void *arg, const char *p, size_t n); /* borrowed */
};

/*
 * Returns the bytes taken, fewer than n only behind the end of the response (at == RESPONSE_DONE),
 * or -EBADMSG.
 */
long response_feed(struct response *r, const char *p, size_t n, const struct response_ops *ops,
                   void *arg);
/* The peer closed: true when that is how this response ends. */
bool response_closed(struct response *r);
void response_reset(struct response *r);
