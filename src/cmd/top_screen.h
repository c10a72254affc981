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
#include "cmd/top_columns.h"

/* What the server told at one time; the view's own. */
struct top_reading {
    size_t rows;
    uint64_t at_ms; /* filled in by the screen */
};

enum top_mark { TOP_PLAIN, TOP_DIM, TOP_BAD };

struct top_view {
    const struct top_columns *columns; /* the first two: namespace and name */
    /* Given. Errors: of admin_get(), E_PARSE. */
    int (*read)(const char *dir, struct top_reading **ret, struct err *err);
    void (*free)(struct top_reading *r); /* NULL is fine */
    /* Lines without line feed. before: the reading before, NULL: none. */
    void (*totals)(const struct top_reading *r, struct buf *to);
    void (*rates)(const struct top_reading *r, const struct top_reading *before, struct buf *to);
    /* Borrows from the reading. */
    void (*cells)(const struct top_reading *r, size_t i, struct top_cells *ret);
    enum top_mark (*mark)(const struct top_reading *r, size_t i);
    void (*sort)(struct top_reading *r, bool reverse); /* as the last key says */
    const char *(*order)(void);                        /* "name" */
    bool (*on_key)(int key);                           /* true: it chose an order */
    const char *sort_keys;                             /* a line of the help */
};

/* Until `q`, or once. Prints errors; a cmd_exit. */
int top_run(const struct top_view *view, const char *dir, bool reverse);
