/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of what a server tells, live on a terminal or printed once: `dormouse top` and
 * `dormouse fn top`.
 *
 * ncursesw is loaded when it is needed, so that servers, which are the same program, never have it
 * in memory. Where standard output is no terminal the table is printed once, and the library is not
 * needed.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"

/* What the server told at one time; the view's own. */
struct top_reading {
    size_t rows;
    uint64_t at_ms; /* filled in by the screen */
};

struct top_view {
    /* Given. Errors: of admin_get(), E_PARSE. */
    int (*read)(const char *dir, struct top_reading **ret, struct err *err);
    void (*free)(struct top_reading *r); /* NULL is fine */
    /* Lines without line feed. before: the reading before, NULL: none. */
    void (*totals)(const struct top_reading *r, struct buf *to);
    void (*rates)(const struct top_reading *r, const struct top_reading *before, struct buf *to);
    void (*keys)(struct buf *to); /* "by state; sort: s state, ..." */
    void (*head)(struct buf *to);
    void (*row)(const struct top_reading *r, size_t i, struct buf *to);
    bool (*is_dim)(const struct top_reading *r, size_t i);
    void (*sort)(struct top_reading *r); /* as the last key says */
    void (*on_key)(int key);             /* those that the screen does not take */
};

/* Until `q`, or once. Prints errors; a cmd_exit. */
int top_run(const struct top_view *view, const char *dir);
