/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of a table on a terminal: which fit, and rows of them as text. Pure. */
#pragma once

#include "base/buf.h"

enum { TOP_COLUMNS_MAX = 16, TOP_CELL_MAX = 32 };

struct top_column {
    const char *title;
    unsigned width;    /* without a blank */
    unsigned priority; /* 0: always shown; of the others the highest is left out first */
    bool is_text;      /* aligned left; numbers are aligned right */
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
 * Set ret[i] for the columns that fit into a line of this width. skip: 0: those of the highest
 * importance; else leave out this number of columns with a priority, from the left, and show the
 * next ones in order. Returns the number of columns with a priority.
 */
size_t top_columns_fit(struct top_columns columns, size_t width, size_t skip,
                       bool ret[TOP_COLUMNS_MAX]);
/* Append one line without line feed; keep NULL: all columns. Control characters become '?'. */
void top_columns_head(struct top_columns columns, const bool *keep, struct buf *to);
void top_columns_row(struct top_columns columns, const bool *keep, const struct top_cells *cells,
                     struct buf *to);
/* Append a line for each column: its title and its whole text. */
void top_columns_list(struct top_columns columns, const struct top_cells *cells, struct buf *to);

/* Runs of digits count as numbers: ring-2 before ring-10. */
int top_compare_names(struct str a, struct str b);
