/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client of a log sees: bytes of a log file in, text of the wanted lines out. Pure; holds
 * no bytes itself.
 */
#pragma once

#include "agent/log/podlog_line.h"

enum {
    PODLOG_LINE_MAX_BYTES = 64 << 10
}; /* of a line in a file; the rest of a longer one passes
    * as it comes */

struct podlog_query {
    bool follow, timestamps;
    bool no_stdout, no_stderr; /* leave one of them out */
    bool has_tail, has_since, has_limit;
    uint64_t tail_lines;  /* the last lines of the current file */
    int64_t since_us;     /* no lines from before; wall clock */
    uint64_t limit_bytes; /* of the output */
};

struct podlog_filter {
    struct podlog_query query;
    uint64_t left;          /* bytes that may still be put out; UINT64_MAX: no limit */
    bool continues;         /* the line before was a partial one: no timestamp */
    bool in_long, is_shown; /* within a line that is too long to be held; its text is wanted */
    bool long_is_partial;
};

void podlog_filter_init(struct podlog_filter *f, const struct podlog_query *q);
/*
 * Append the output for whole lines of `bytes` to `to`. Returns how many bytes were used: all of
 * them up to the last '\n', or everything if PODLOG_LINE_MAX_BYTES hold none. is_end: of the log;
 * bytes without '\n' are a line then, too.
 */
size_t podlog_filter_run(struct podlog_filter *f, struct str bytes, bool is_end, struct buf *to);
/* The limit is reached: there will be no more output. */
bool podlog_filter_is_done(const struct podlog_filter *f);
