/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse fn top: the functions of a gateway on this machine, live. */
#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/top_screen.h"
#include "codec/json.h"
#include "node/admin_client.h"

#include <stdio.h>
#include <string.h>

enum { PAGE_MAX_BYTES = 64 << 20 };

enum order { BY_LOAD, BY_REQUESTS, BY_COLD, BY_NAME, ORDERS };
static const char *const order_names[ORDERS] = { "load", "requests", "cold", "name" };

static const char *data_dir, *sort = "load", *output = "";
static bool reverse;
static enum order order;

static const struct cmd_opt opts[] = {
    { "data-dir", 0, "DIR", "data directory of the server " CMD_SERVER_DATA_DIR_DEFAULT, CMD_STRING,
      &data_dir, 0, 0 },
    { "sort", 0, "KEY", "load, requests, cold or name (load)", CMD_STRING, &sort, 0, 0 },
    { "reverse", 'r', NULL, "the other way round", CMD_FLAG, &reverse, 0, 0 },
    { "output", 'o', "FORMAT", "json: once, for programs (a table)", CMD_STRING, &output, 0, 0 },
    { .name = NULL },
};

static const struct cmd_opt *fn_top_opts(void)
{
    return opts;
}

struct fn_top_row {
    struct str namespace, name;
    int64_t revision, sandboxes, running, queued, requests, failures, cold, p50_ms, p99_ms;
    bool is_failing;
};

struct fn_top_reading {
    struct top_reading base; /* first */
    struct buf page;         /* rows borrow from it */
    struct arena arena;
    struct fn_top_row *rows, sum;
};

static void free_reading(struct top_reading *base)
{
    struct fn_top_reading *r = (struct fn_top_reading *)base;
    if (!r)
        return;
    buf_fini(&r->page);
    arena_fini(&r->arena);
    free(r);
}

static void read_row(const struct json *f, struct fn_top_row *ret)
{
    *ret = (struct fn_top_row){ .namespace = json_get_str(f, "namespace"),
                                .name = json_get_str(f, "name"),
                                .revision = json_int_or(json_getc(f, "revision"), 0),
                                .is_failing = json_get_str(f, "failure").n > 0,
                                .sandboxes = json_int_or(json_getc(f, "sandboxes"), 0),
                                .running = json_int_or(json_getc(f, "running"), 0),
                                .queued = json_int_or(json_getc(f, "queued"), 0),
                                .requests = json_int_or(json_getc(f, "requests"), 0),
                                .failures = json_int_or(json_getc(f, "failures"), 0),
                                .cold = json_int_or(json_getc(f, "coldStarts"), 0),
                                .p50_ms = json_int_or(json_getc(f, "p50Ms"), -1),
                                .p99_ms = json_int_or(json_getc(f, "p99Ms"), -1) };
}

static int read_server(const char *dir, struct top_reading **ret, struct err *err)
{
    struct fn_top_reading *r = xnew(struct fn_top_reading);
    struct json *list;
    buf_init(&r->page, PAGE_MAX_BYTES);
    int code = admin_get(dir, "/functions", &r->page, err);
    if (code >= 0)
        code = json_parse(&r->arena, buf_str(&r->page), NULL, &list, err);
    if (code < 0) {
        free_reading(&r->base);
        return code;
    }
    r->rows = arena_new_n(&r->arena, struct fn_top_row, list->n);
    json_each (f, list) {
        struct fn_top_row *row = &r->rows[r->base.rows++];
        read_row(f, row);
        r->sum.sandboxes += row->sandboxes;
        r->sum.running += row->running;
        r->sum.queued += row->queued;
        r->sum.requests += row->requests;
        r->sum.failures += row->failures;
        r->sum.cold += row->cold;
    }
    *ret = &r->base;
    return 0;
}

static const struct fn_top_reading *of(const struct top_reading *r)
{
    return (const struct fn_top_reading *)r;
}

static void write_totals(const struct top_reading *r, struct buf *to)
{
    const struct fn_top_row *s = &of(r)->sum;
    buf_printf(to, "%zu functions, %lld sandboxes; %lld requests running, %lld waiting", r->rows,
               (long long)s->sandboxes, (long long)s->running, (long long)s->queued);
}

static void write_rates(const struct top_reading *r, const struct top_reading *before,
                        struct buf *to)
{
    const struct fn_top_row *s = &of(r)->sum;
    uint64_t ms = before ? r->at_ms - before->at_ms : 0;
    buf_printf(to, "%lld requests, %lld failures, %lld cold starts", (long long)s->requests,
               (long long)s->failures, (long long)s->cold);
    if (ms && s->requests >= of(before)->sum.requests)
        buf_printf(to, "; %.0f requests/s",
                   (double)(s->requests - of(before)->sum.requests) * 1000 / (double)ms);
}

enum fn_top_column {
    NAMESPACE,
    NAME,
    REVISION,
    SANDBOXES,
    RUNNING,
    WAITING,
    REQUESTS,
    FAILURES,
    COLD,
    P50,
    P99,
    COLUMNS
};
static const struct top_column column_table[COLUMNS] = {
    [NAMESPACE] = { "NAMESPACE", 16, 0, true }, [NAME] = { "NAME", 24, 0, true },
    [REVISION] = { "REV", 4, 7, false },        [SANDBOXES] = { "SANDBOXES", 9, 1, false },
    [RUNNING] = { "RUNNING", 7, 2, false },     [WAITING] = { "WAITING", 7, 5, false },
    [REQUESTS] = { "REQUESTS", 10, 3, false },  [FAILURES] = { "FAILURES", 8, 4, false },
    [COLD] = { "COLD", 7, 6, false },           [P50] = { "P50<=", 6, 8, false },
    [P99] = { "P99<=", 6, 8, false },
};
static const struct top_columns columns = { column_table, COLUMNS };

/* Upper bounds are round. */
static void set_ms(struct top_cells *to, enum fn_top_column i, int64_t ms)
{
    if (ms < 0)
        (void)snprintf(to->room[i], TOP_CELL_MAX, "-");
    else if (ms < 1000)
        (void)snprintf(to->room[i], TOP_CELL_MAX, "%lldms", (long long)ms);
    else
        (void)snprintf(to->room[i], TOP_CELL_MAX, "%llds", (long long)(ms / 1000));
    to->at[i] = str_of(to->room[i]);
}

static void cells_of(const struct top_reading *reading, size_t i, struct top_cells *ret)
{
    const struct fn_top_row *r = &of(reading)->rows[i];
    ret->at[NAMESPACE] = r->namespace;
    ret->at[NAME] = r->name;
    top_cell_number(ret, REVISION, r->revision);
    top_cell_number(ret, SANDBOXES, r->sandboxes);
    top_cell_number(ret, RUNNING, r->running);
    top_cell_number(ret, WAITING, r->queued);
    top_cell_number(ret, REQUESTS, r->requests);
    top_cell_number(ret, FAILURES, r->failures);
    top_cell_number(ret, COLD, r->cold);
    set_ms(ret, P50, r->p50_ms);
    set_ms(ret, P99, r->p99_ms);
}

static enum top_mark mark_of(const struct top_reading *reading, size_t i)
{
    const struct fn_top_row *r = &of(reading)->rows[i];
    return r->is_failing ? TOP_BAD : r->sandboxes == 0 ? TOP_DIM : TOP_PLAIN;
}

static int by_name(const struct fn_top_row *a, const struct fn_top_row *b)
{
    int d = top_compare_names(a->namespace, b->namespace);
    return d ? d : top_compare_names(a->name, b->name);
}

static int compare(const void *pa, const void *pb, void *arg)
{
    const bool *is_reverse = arg;
    const struct fn_top_row *a = *is_reverse ? pb : pa, *b = *is_reverse ? pa : pb;
    int64_t x = 0, y = 0;
    switch (order) {
    case BY_LOAD:
        x = a->running + a->queued, y = b->running + b->queued;
        if (x == y)
            x = a->sandboxes, y = b->sandboxes;
        break;
    case BY_REQUESTS:
        x = a->requests, y = b->requests;
        break;
    case BY_COLD:
        x = a->cold, y = b->cold;
        break;
    case BY_NAME:
    case ORDERS:
        break;
    }
    return x != y ? (x < y) - (x > y) : by_name(a, b);
}

static void sort_rows(struct top_reading *r, bool is_reverse)
{
    if (r->rows)
        qsort_r(((struct fn_top_reading *)r)->rows, r->rows, sizeof(struct fn_top_row), compare,
                &is_reverse);
}

static const char *order_name(void)
{
    return order_names[order];
}

static bool on_key(int key)
{
    const char *keys = "lrcn", *at = key > 0 && key < 128 ? strchr(keys, key) : NULL;
    if (at && *at)
        order = (enum order)(at - keys);
    return at && *at;
}

static const struct top_view view = { .columns = &columns,
                                      .read = read_server,
                                      .free = free_reading,
                                      .totals = write_totals,
                                      .rates = write_rates,
                                      .cells = cells_of,
                                      .mark = mark_of,
                                      .sort = sort_rows,
                                      .order = order_name,
                                      .on_key = on_key,
                                      .sort_keys = "l r c n        sort by load, requests, cold "
                                                   "starts, name" };

static int print_json(const char *dir)
{
    scoped(buf_fini_scoped) struct buf page = BUF_INIT(PAGE_MAX_BYTES);
    struct err err = { 0 };
    if (admin_get(dir, "/functions", &page, &err) < 0)
        return cmd_fail(CMD_UNAVAILABLE, &err);
    (void)puts(buf_cstr(&page));
    return CMD_OK;
}

static int run(int argc, char **argv)
{
    size_t n;
    int r = cmd_parse(&cmd_fn_top, opts, argc, argv, 0, &n);
    if (r)
        return r - 1;
    for (order = 0; order < ORDERS && strcmp(sort, order_names[order]) != 0; order++)
        ;
    if (order == ORDERS)
        return cmd_failf(CMD_USAGE, "--sort is load, requests, cold or name, not '%s'", sort);
    if (output[0] && strcmp(output, "json") != 0)
        return cmd_failf(CMD_USAGE, "--output is json, not '%s'", output);
    scoped(free_scoped) char *dir = cmd_server_data_dir(data_dir);
    return output[0] ? print_json(dir) : top_run(&view, dir, reverse);
}

const struct cmd cmd_fn_top = {
    .name = "fn top",
    .doc = "show the functions of the gateway on this machine, live",
    .help =
        "Requests, failures (5xx) and cold starts count since the gateway has started; the times "
        "are upper bounds, from a\nrequest's arrival to its answer's end. Keys as of 'dormouse "
        "top', "
        "but l, r, c, n sort. Where standard output\nis no terminal the table is printed once.\n"
        "\n"
        "  dormouse fn top --data-dir /tmp/d\n"
        "  dormouse fn top --sort cold | head\n",
    .run = run,
    .opts = fn_top_opts,
};
