/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of a table on a terminal: which fit, and rows of them as text. Pure. */
#pragma once

#include "base/buf.h"

enum { TOP_COLUMNS_MAX = 16, TOP_CELL_MAX = 32 };

struct top_column {
    const char *title;
    unsigned width;    /* beside a blank */
    unsigned priority; /* 0: always there; the others are left out, the highest first */
    bool is_text;      /* to the left; numbers to the right */
};

struct top_columns {
    const struct top_column *at;
    size_t n;
};

/* One row. Numbers and short texts have room of their own; the others are borrowed. */
struct top_cells {
    struct str at[TOP_COLUMNS_MAX];
    char room[TOP_COLUMNS_MAX][TOP_CELL_MAX];
};
void top_cell_number(struct top_cells *cells, size_t i, int64_t n);

/*
 * Which columns a line of this width has room for, at ret[i]. skip: 0 for those that matter most;
 * else so many of those with a priority are left out at the left, and the next stand there in
 * order. Returns how many with a priority there are.
 */
size_t top_columns_fit(struct top_columns columns, size_t width, size_t skip,
                       bool ret[TOP_COLUMNS_MAX]);
/* Append one line without line feed; keep NULL: all columns. Control characters become '?'. */
void top_columns_head(struct top_columns columns, const bool *keep, struct buf *to);
void top_columns_row(struct top_columns columns, const bool *keep, const struct top_cells *cells,
                     struct buf *to);
/* A line for each column: its title and what is there, whole. */
void top_columns_list(struct top_columns columns, const struct top_cells *cells, struct buf *to);

/* Runs of digits count as numbers: ring-2 before ring-10. */
int top_compare_names(struct str a, struct str b);
