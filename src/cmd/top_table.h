/* SPDX-License-Identifier: Apache-2.0 */
/* What `dormouse top` shows, without a terminal: rows, their order, totals, and lines of text. */
#pragma once

#include "base/buf.h"
#include "cmd/top_columns.h"
#include "codec/json.h"

enum top_order { TOP_BY_STATE, TOP_BY_MEMORY, TOP_BY_WAKES, TOP_BY_NAME, TOP_ORDER_COUNT };

struct top_row {
    struct str namespace, name, abi, state, last_error; /* borrowed from the JSON */
    int64_t resident_bytes, swap_bytes, activations, wakes, restarts, wake_us_p50, wake_us_p99;
};

struct top_totals {
    struct str version;
    int64_t pid, uptime_s, operators, awake, asleep, failed, runners, wakes, activations;
    int64_t resident_bytes, swap_bytes;
};

struct top_table {
    struct top_row *rows;
    size_t n;
    struct top_totals totals;
};

/* guests, status: the pages of these names; all in the arena. Errors: E_PARSE. */
int top_read(struct arena *a, struct str guests, struct str status, struct top_table *ret,
             struct err *err);
void top_sort(struct top_table *t, enum top_order order, bool reverse);
/* "state", "memory", ...; returns TOP_ORDER_COUNT for another word. */
enum top_order top_order_of(const char *word);
const char *top_order_name(enum top_order order);
/* By key: s, m, w, n; TOP_ORDER_COUNT for another. */
enum top_order top_order_of_key(int key);

/* Append one line without line feed. Control characters in names become '?'. */
void top_write_totals(struct buf *to, const struct top_totals *t);
/* Rates per second between two readings that lie `ms` apart. */
void top_write_rates(struct buf *to, const struct top_totals *t, const struct top_totals *before,
                     uint64_t ms);

extern const struct top_columns top_columns;
/* Borrows from the row. */
void top_cells(const struct top_row *r, struct top_cells *ret);
