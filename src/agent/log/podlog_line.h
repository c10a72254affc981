/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of container logs as the Container Runtime Interface defines them:
 *
 *     2026-01-02T03:04:05.000000006Z stdout F text
 *
 * F: the text is a full line or the end of one; P: the line continues with the next one of the same
 * stream. Pure.
 */
#pragma once

#include "base/buf.h"
#include "base/clock.h"
#include "base/str.h"

enum podlog_stream { PODLOG_STDOUT, PODLOG_STDERR };

enum {
    PODLOG_TEXT_MAX_BYTES = 16 << 10, /* of one line; longer ones are written as several */
    PODLOG_HEAD_MAX_BYTES = 48        /* in front of the text, as we write it */
};

struct podlog_line {
    struct str time; /* RFC 3339, borrowed; not checked */
    enum podlog_stream stream;
    bool is_partial;
    struct str text; /* without '\n' */
};

/* A line without its '\n'. E_PARSE: it is none. */
int podlog_line_parse(struct str line, struct podlog_line *ret);

/* The seconds of a time, kept from line to line. Zeroed: none. */
struct podlog_stamp {
    int64_t wall_s;
    char text[RFC3339_MAX]; /* "2026-01-02T03:04:05"; "" at first */
};
/* Append one line with its '\n'. */
int podlog_line_write(struct buf *to, struct podlog_stamp *stamp, int64_t wall_us,
                      enum podlog_stream stream, struct str text, bool is_partial);
