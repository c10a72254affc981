/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse top: the guests of a server, live. */
#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/top_screen.h"
#include "cmd/top_table.h"
#include "node/admin_client.h"

enum { PAGE_MAX_BYTES = 64 << 20 };

static const char *data_dir, *sort = "state";

static const struct cmd_opt opts[] = {
    { "data-dir", 0, "DIR", "data directory of the server", CMD_STRING, &data_dir, 0, 0 },
    { "sort", 0, "KEY", "state, memory, wakes or name (state)", CMD_STRING, &sort, 0, 0 },
    { .name = NULL },
};

static const struct cmd_opt *top_opts(void)
{
    return opts;
}

/* ---------------------------------------------------------------- what the server tells */

struct reading {
    struct top_reading base;   /* first */
    struct buf guests, status; /* the table borrows from them */
    struct arena arena;
    struct top_table table;
};

static enum top_order order;

static const struct top_table *table_of(const struct top_reading *r)
{
    return &((const struct reading *)r)->table;
}

static void free_reading(struct top_reading *base)
{
    struct reading *r = (struct reading *)base;
    if (!r)
        return;
    buf_fini(&r->guests);
    buf_fini(&r->status);
    arena_fini(&r->arena);
    free(r);
}

static int read_server(const char *dir, struct top_reading **ret, struct err *err)
{
    struct reading *r = xnew(struct reading);
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

static void write_keys(struct buf *to)
{
    buf_printf(to, "by %s; sort: s state, m memory, w wakes, n name", top_order_name(order));
}

static void write_row(const struct top_reading *r, size_t i, struct buf *to)
{
    top_write_row(to, &table_of(r)->rows[i]);
}

static bool is_asleep(const struct top_reading *r, size_t i)
{
    return str_is(table_of(r)->rows[i].state, "Asleep");
}

static void sort_rows(struct top_reading *r)
{
    top_sort(&((struct reading *)r)->table, order);
}

static void on_key(int key)
{
    enum top_order wanted = top_order_of_key(key);
    if (wanted != TOP_ORDER_COUNT)
        order = wanted;
}

static const struct top_view view = { .read = read_server,
                                      .free = free_reading,
                                      .totals = write_totals,
                                      .rates = write_rates,
                                      .keys = write_keys,
                                      .head = top_write_head,
                                      .row = write_row,
                                      .is_dim = is_asleep,
                                      .sort = sort_rows,
                                      .on_key = on_key };

static int run(int argc, char **argv)
{
    size_t n;
    int r = cmd_parse(&cmd_top, opts, argc, argv, 0, &n);
    if (r)
        return r - 1;
    order = top_order_of(sort);
    if (order == TOP_ORDER_COUNT)
        return cmd_failf(CMD_USAGE, "--sort is state, memory, wakes or name, not '%s'", sort);
    scoped(free_scoped) char *dir = cmd_server_data_dir(data_dir);
    return top_run(&view, dir);
}

const struct cmd cmd_top = {
    .name = "top",
    .doc = "show the guests of the server on this machine, live",
    .help = "Refreshed every second. Keys: s, m, w, n sort by state, memory, wakes, name; arrows "
            "and page keys\n"
            "scroll; q quits. Where standard output is no terminal the table is printed once.\n"
            "\n"
            "  dormouse top --data-dir /tmp/d\n"
            "  dormouse top --sort memory | head\n",
    .run = run,
    .opts = top_opts,
};
