/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse top: the guests of a server, live. */
#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/top_screen.h"
#include "cmd/top_table.h"
#include "node/admin_client.h"

#include <stdio.h>
#include <string.h>

enum { PAGE_MAX_BYTES = 64 << 20 };

static const char *data_dir, *sort = "state", *output = "";
static bool reverse;

static const struct cmd_opt opts[] = {
    { "data-dir", 0, "DIR", "data directory of the server " CMD_SERVER_DATA_DIR_DEFAULT, CMD_STRING,
      &data_dir, 0, 0 },
    { "sort", 0, "KEY", "state, memory, wakes or name (state)", CMD_STRING, &sort, 0, 0 },
    { "reverse", 'r', NULL, "the other way round", CMD_FLAG, &reverse, 0, 0 },
    { "output", 'o', "FORMAT", "json: once, for programs (a table)", CMD_STRING, &output, 0, 0 },
    { .name = NULL },
};

static const struct cmd_opt *top_opts(void)
{
    return opts;
}

/* ---------------------------------------------------------------- what the server tells */

struct cmd_top_reading {
    struct top_reading base;   /* first */
    struct buf guests, status; /* the table borrows from them */
    struct arena arena;
    struct top_table table;
};

static enum top_order order;

static const struct top_table *table_of(const struct top_reading *r)
{
    return &((const struct cmd_top_reading *)r)->table;
}

static void free_reading(struct top_reading *base)
{
    struct cmd_top_reading *r = (struct cmd_top_reading *)base;
    if (!r)
        return;
    buf_fini(&r->guests);
    buf_fini(&r->status);
    arena_fini(&r->arena);
    free(r);
}

static int read_server(const char *dir, struct top_reading **ret, struct err *err)
{
    struct cmd_top_reading *r = xnew(struct cmd_top_reading);
    buf_init(&r->guests, PAGE_MAX_BYTES);
    buf_init(&r->status, PAGE_MAX_BYTES);
    int code = admin_get(dir, "/guests", &r->guests, err);
    if (code >= 0)
        code = admin_get(dir, "/status", &r->status, err);
    if (code >= 0)
        code = top_read(&r->arena, buf_str(&r->guests), buf_str(&r->status), &r->table, err);
    if (code < 0) {
        free_reading(&r->base);
        return code;
    }
    r->base.rows = r->table.n;
    *ret = &r->base;
    return 0;
}

static void write_totals(const struct top_reading *r, struct buf *to)
{
    top_write_totals(to, &table_of(r)->totals);
}

static void write_rates(const struct top_reading *r, const struct top_reading *before,
                        struct buf *to)
{
    const struct top_totals *t = &table_of(r)->totals;
    bool is_same = before && table_of(before)->totals.pid == t->pid;
    top_write_rates(to, t, is_same ? &table_of(before)->totals : t,
                    is_same ? r->at_ms - before->at_ms : 0);
}

static void cells_of(const struct top_reading *r, size_t i, struct top_cells *ret)
{
    top_cells(&table_of(r)->rows[i], ret);
}

static enum top_mark mark_of(const struct top_reading *r, size_t i)
{
    struct str state = table_of(r)->rows[i].state;
    return str_is(state, "Failed") || str_is(state, "Refused") ? TOP_BAD
           : str_is(state, "Asleep")                           ? TOP_DIM
                                                               : TOP_PLAIN;
}

static void sort_rows(struct top_reading *r, bool is_reverse)
{
    top_sort(&((struct cmd_top_reading *)r)->table, order, is_reverse);
}

static const char *order_name(void)
{
    return top_order_name(order);
}

static bool on_key(int key)
{
    enum top_order wanted = top_order_of_key(key);
    if (wanted != TOP_ORDER_COUNT)
        order = wanted;
    return wanted != TOP_ORDER_COUNT;
}

static const struct top_view view = { .columns = &top_columns,
                                      .read = read_server,
                                      .free = free_reading,
                                      .totals = write_totals,
                                      .rates = write_rates,
                                      .cells = cells_of,
                                      .mark = mark_of,
                                      .sort = sort_rows,
                                      .order = order_name,
                                      .on_key = on_key,
                                      .sort_keys = "s m w n        sort by state, memory, wakes, "
                                                   "name" };

/* The pages as they are. */
static int print_json(const char *dir)
{
    scoped(buf_fini_scoped) struct buf guests = BUF_INIT(PAGE_MAX_BYTES);
    scoped(buf_fini_scoped) struct buf status = BUF_INIT(PAGE_MAX_BYTES);
    struct err err = { 0 };
    if (admin_get(dir, "/guests", &guests, &err) < 0 ||
        admin_get(dir, "/status", &status, &err) < 0)
        return cmd_fail(CMD_UNAVAILABLE, &err);
    (void)printf("{\"status\":" STR_FMT ",\"guests\":" STR_FMT "}\n",
                 STR_ARG(str_trim(buf_str(&status))), STR_ARG(str_trim(buf_str(&guests))));
    return CMD_OK;
}

static int run(int argc, char **argv)
{
    size_t n;
    int r = cmd_parse(&cmd_top, opts, argc, argv, 0, &n);
    if (r)
        return r - 1;
    order = top_order_of(sort);
    if (order == TOP_ORDER_COUNT)
        return cmd_failf(CMD_USAGE, "--sort is state, memory, wakes or name, not '%s'", sort);
    if (output[0] && strcmp(output, "json") != 0)
        return cmd_failf(CMD_USAGE, "--output is json, not '%s'", output);
    scoped(free_scoped) char *dir = cmd_server_data_dir(data_dir);
    return output[0] ? print_json(dir) : top_run(&view, dir, reverse);
}

const struct cmd cmd_top = {
    .name = "top",
    .doc = "show the guests of the server on this machine, live",
    .help =
        "Refreshed every second. Keys: s, m, w, n sort by state, memory, wakes, name, and R the "
        "other way round; arrows and\n"
        "page keys move, left and right show other columns; / shows what has a text in its "
        "name; Enter shows all of\n"
        "a row; ? lists the keys; q quits. Where standard output is no terminal the table is "
        "printed once.\n"
        "\n"
        "  dormouse top --data-dir /tmp/d\n"
        "  dormouse top --sort memory | head\n",
    .run = run,
    .opts = top_opts,
};
