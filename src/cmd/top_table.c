/* SPDX-License-Identifier: Apache-2.0 */
/* The table of `dormouse top`; see top_table.h. */
#include "cmd/top_table.h"

#include "base/mem.h"

#include <inttypes.h>
#include <string.h>

static int64_t number(const struct json *v, const char *key)
{
    return json_int_or(json_getc(v, key), 0);
}

static void read_row(const struct json *g, struct top_row *r)
{
    const struct json *wake = json_getc(g, "wakeMicroseconds");
    *r = (struct top_row){ .namespace = json_get_str(g, "namespace"),
                           .name = json_get_str(g, "name"),
                           .abi = json_get_str(g, "abi"),
                           .state = json_get_str(g, "state"),
                           .last_error = json_get_str(g, "lastError"),
                           .resident_bytes = number(g, "residentBytes"),
                           .swap_bytes = number(g, "swapBytes"),
                           .activations = number(g, "activations"),
                           .wakes = number(g, "wakes"),
                           .restarts = number(g, "restarts"),
                           .wake_us_p50 = number(wake, "p50"),
                           .wake_us_p99 = number(wake, "p99") };
}

int top_read(struct arena *a, struct str guests, struct str status, struct top_table *ret,
             struct err *err)
{
    struct json *list, *s;
    int r = json_parse(a, guests, NULL, &list, err);
    if (r >= 0)
        r = json_parse(a, status, NULL, &s, err);
    if (r >= 0 && (!json_is(list, JSON_ARRAY) || !json_is(s, JSON_OBJECT)))
        r = err_set(err, E_PARSE, "not the status page of a dormouse server");
    if (r < 0)
        return r;
    *ret = (struct top_table){ .rows = arena_new_n(a, struct top_row, list->n) };
    ret->totals = (struct top_totals){ .version = json_get_str(s, "version"),
                                       .pid = number(s, "pid"),
                                       .uptime_s = number(s, "uptimeSeconds"),
                                       .operators = number(s, "operators"),
                                       .awake = number(s, "awake"),
                                       .asleep = number(s, "asleep"),
                                       .failed = number(s, "failed"),
                                       .runners = number(s, "runners"),
                                       .wakes = number(s, "wakes"),
                                       .activations = number(s, "activations") };
    json_each (g, list) {
        struct top_row *row = &ret->rows[ret->n++];
        read_row(g, row);
        ret->totals.resident_bytes += row->resident_bytes;
        ret->totals.swap_bytes += row->swap_bytes;
    }
    return 0;
}

/* ---------------------------------------------------------------- order */

static const struct {
    char key;
    const char *name;
} orders[TOP_ORDER_COUNT] = { [TOP_BY_STATE] = { 's', "state" },
                              [TOP_BY_MEMORY] = { 'm', "memory" },
                              [TOP_BY_WAKES] = { 'w', "wakes" },
                              [TOP_BY_NAME] = { 'n', "name" } };

enum top_order top_order_of(const char *word)
{
    for (unsigned i = 0; i < TOP_ORDER_COUNT; i++)
        if (strcmp(orders[i].name, word) == 0)
            return (enum top_order)i;
    return TOP_ORDER_COUNT;
}

const char *top_order_name(enum top_order order)
{
    return orders[order].name;
}

enum top_order top_order_of_key(int key)
{
    for (unsigned i = 0; i < TOP_ORDER_COUNT; i++)
        if (orders[i].key == key)
            return (enum top_order)i;
    return TOP_ORDER_COUNT;
}

/* What needs a person first, then what is busy, what rests last. */
static size_t rank(struct str state)
{
    static const char *const states[] = { "Failed",    "Refused", "Running", "Awake",
                                          "Preparing", "Cold",    "Paused",  "Asleep" };
    size_t i = 0;
    while (i < ARRAY_LEN(states) && !str_is(state, states[i]))
        i++;
    return i;
}

static int compare_numbers(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_names(const struct top_row *a, const struct top_row *b)
{
    int c = top_compare_names(a->namespace, b->namespace);
    return c ? c : top_compare_names(a->name, b->name);
}

struct sorting {
    enum top_order order;
    bool reverse;
};

static int compare(const void *left, const void *right, void *arg)
{
    const struct top_row *a = left, *b = right;
    const struct sorting *by = arg;
    int c = 0;
    switch (by->order) {
    case TOP_BY_STATE:
        c = compare_numbers((int64_t)rank(a->state), (int64_t)rank(b->state));
        break;
    case TOP_BY_MEMORY:
        c = compare_numbers(b->resident_bytes, a->resident_bytes);
        c = c ? c : compare_numbers(b->swap_bytes, a->swap_bytes);
        break;
    case TOP_BY_WAKES:
        c = compare_numbers(b->wakes, a->wakes);
        break;
    case TOP_BY_NAME:
    case TOP_ORDER_COUNT:
        break;
    }
    c = c ? c : compare_names(a, b);
    return by->reverse ? -c : c;
}

void top_sort(struct top_table *t, enum top_order order, bool reverse)
{
    struct sorting by = { order, reverse };
    if (t->n)
        qsort_r(t->rows, t->n, sizeof t->rows[0], compare, &by);
}

/* ---------------------------------------------------------------- text */

void top_write_totals(struct buf *to, const struct top_totals *t)
{
    buf_printf(to,
               "dormouse " STR_FMT ", pid %" PRId64 ", up %" PRId64 ":%02" PRId64 ":%02" PRId64
               "; %" PRId64 " operators: %" PRId64 " awake, %" PRId64 " asleep, %" PRId64
               " failed; %" PRId64 " %s; resident %.1f MiB, swap %.1f MiB",
               STR_ARG(t->version), t->pid, t->uptime_s / 3600, t->uptime_s / 60 % 60,
               t->uptime_s % 60, t->operators, t->awake, t->asleep, t->failed, t->runners,
               t->runners == 1 ? "runner" : "runners", (double)t->resident_bytes / (1 << 20),
               (double)t->swap_bytes / (1 << 20));
}

void top_write_rates(struct buf *to, const struct top_totals *t, const struct top_totals *before,
                     uint64_t ms)
{
    double s = (double)ms / 1000;
    buf_printf(to, "%" PRId64 " activations (%.0f/s), %" PRId64 " wakes (%.0f/s)", t->activations,
               ms ? (double)(t->activations - before->activations) / s : 0, t->wakes,
               ms ? (double)(t->wakes - before->wakes) / s : 0);
}

enum top_table_column {
    NAMESPACE,
    NAME,
    ABI,
    STATE,
    RESIDENT,
    SWAP,
    WAKES,
    ACTIVATIONS,
    RESTARTS,
    WAKE_P50,
    WAKE_P99,
    LAST_ERROR,
    COLUMNS
};
static const struct top_column columns[COLUMNS] = {
    [NAMESPACE] = { "NAMESPACE", 14, 0, true },
    [NAME] = { "NAME", 24, 0, true },
    [ABI] = { "ABI", 3, 7, true },
    [STATE] = { "STATE", 9, 0, true },
    [RESIDENT] = { "RES(KiB)", 8, 1, false },
    [SWAP] = { "SWAP(KiB)", 9, 2, false },
    [WAKES] = { "WAKES", 8, 3, false },
    [ACTIVATIONS] = { "ACTIVATIONS", 11, 5, false },
    [RESTARTS] = { "RESTARTS", 8, 4, false },
    [WAKE_P50] = { "P50(us)", 8, 6, false },
    [WAKE_P99] = { "P99(us)", 8, 6, false },
    [LAST_ERROR] = { "LAST ERROR", 40, 8, true },
};
const struct top_columns top_columns = { columns, COLUMNS };

void top_cells(const struct top_row *r, struct top_cells *ret)
{
    ret->at[NAMESPACE] = r->namespace;
    ret->at[NAME] = r->name;
    ret->at[ABI] = r->abi;
    ret->at[STATE] = r->state;
    top_cell_number(ret, RESIDENT, r->resident_bytes / 1024);
    top_cell_number(ret, SWAP, r->swap_bytes / 1024);
    top_cell_number(ret, WAKES, r->wakes);
    top_cell_number(ret, ACTIVATIONS, r->activations);
    top_cell_number(ret, RESTARTS, r->restarts);
    top_cell_number(ret, WAKE_P50, r->wake_us_p50);
    top_cell_number(ret, WAKE_P99, r->wake_us_p99);
    ret->at[LAST_ERROR] = r->last_error;
}
