/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of text as wide as what is in them; texts of others cannot talk to the terminal. */
#pragma once

#include "base/buf.h"
#include "base/mem.h"

#include <stdio.h>

enum { TEXT_TABLE_MAX_COLUMNS = 32 };

struct text_table {
    struct arena *a;
    size_t n_columns;
    struct str *cells;
    size_t n, cap;
};
void text_table_head(struct text_table *t, const char *const *names);
/* Row by row. */
void text_table_cell(struct text_table *t, struct str text);
/* The last column is not padded. */
void text_table_print(const struct text_table *t, FILE *to);
