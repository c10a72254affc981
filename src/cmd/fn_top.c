/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse fn top: the functions of a gateway on this machine, live. */
#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/top_screen.h"
#include "codec/json.h"
#include "node/admin_client.h"

#include <string.h>

enum { PAGE_MAX_BYTES = 64 << 20 };

enum order { BY_LOAD, BY_REQUESTS, BY_COLD, BY_NAME, ORDERS };
static const char *const order_names[ORDERS] = { "load", "requests", "cold", "name" };

static const char *data_dir, *sort = "load";
static enum order order;

static const struct cmd_opt opts[] = {
    { "data-dir", 0, "DIR", "data directory of the server", CMD_STRING, &data_dir, 0, 0 },
    { "sort", 0, "KEY", "load, requests, cold or name (load)", CMD_STRING, &sort, 0, 0 },
    { .name = NULL },
};

static const struct cmd_opt *fn_top_opts(void)
{
    return opts;
}

struct row {
    struct str namespace, name;
    int64_t sandboxes, running, queued, requests, failures, cold, p50_ms, p99_ms;
};

struct reading {
    struct top_reading base; /* first */
    struct buf page;         /* rows borrow from it */
    struct arena arena;
    struct row *rows, sum;
};

static void free_reading(struct top_reading *base)
{
    struct reading *r = (struct reading *)base;
    if (!r)
        return;
    buf_fini(&r->page);
    arena_fini(&r->arena);
    free(r);
}

static void read_row(const struct json *f, struct row *ret)
{
    *ret = (struct row){ .namespace = json_get_str(f, "namespace"),
                         .name = json_get_str(f, "name"),
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
    struct reading *r = xnew(struct reading);
    struct json *list;
    buf_init(&r->page, PAGE_MAX_BYTES);
    int code = admin_get(dir, "/functions", &r->page, err);
    if (code >= 0)
        code = json_parse(&r->arena, buf_str(&r->page), NULL, &list, err);
    if (code < 0) {
        free_reading(&r->base);
        return code;
    }
    r->rows = arena_new_n(&r->arena, struct row, list->n);
    json_each (f, list) {
        struct row *row = &r->rows[r->base.rows++];
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

static const struct reading *of(const struct top_reading *r)
{
    return (const struct reading *)r;
}

static void write_totals(const struct top_reading *r, struct buf *to)
{
    const struct row *s = &of(r)->sum;
    buf_printf(to, "%zu functions, %lld sandboxes; %lld requests running, %lld waiting", r->rows,
               (long long)s->sandboxes, (long long)s->running, (long long)s->queued);
}

static void write_rates(const struct top_reading *r, const struct top_reading *before,
                        struct buf *to)
{
    const struct row *s = &of(r)->sum;
    uint64_t ms = before ? r->at_ms - before->at_ms : 0;
    buf_printf(to, "%lld requests, %lld failures, %lld cold starts", (long long)s->requests,
               (long long)s->failures, (long long)s->cold);
    if (ms && s->requests >= of(before)->sum.requests)
        buf_printf(to, "; %.0f requests/s",
                   (double)(s->requests - of(before)->sum.requests) * 1000 / (double)ms);
}

static void write_keys(struct buf *to)
{
    buf_printf(to, "by %s; sort: l load, r requests, c cold starts, n name", order_names[order]);
}

static void write_head(struct buf *to)
{
    buf_printf(to, "%-16s %-28s %9s %7s %7s %10s %8s %7s %7s %7s", "NAMESPACE", "NAME", "SANDBOXES",
               "RUNNING", "WAITING", "REQUESTS", "FAILURES", "COLD", "P50(ms)", "P99(ms)");
}

static void write_ms(struct buf *to, int64_t ms)
{
    if (ms < 0)
        buf_printf(to, " %7s", "-");
    else
        buf_printf(to, " <%6lld", (long long)ms);
}

static void write_row(const struct top_reading *reading, size_t i, struct buf *to)
{
    const struct row *r = &of(reading)->rows[i];
    buf_printf(to, "%-16.*s %-28.*s %9lld %7lld %7lld %10lld %8lld %7lld", STR_ARG(r->namespace),
               STR_ARG(r->name), (long long)r->sandboxes, (long long)r->running,
               (long long)r->queued, (long long)r->requests, (long long)r->failures,
               (long long)r->cold);
    write_ms(to, r->p50_ms);
    write_ms(to, r->p99_ms);
}

static bool is_asleep(const struct top_reading *r, size_t i)
{
    return of(r)->rows[i].sandboxes == 0;
}

static int by_name(const struct row *a, const struct row *b)
{
    int d = str_cmp(a->namespace, b->namespace);
    return d ? d : str_cmp(a->name, b->name);
}

static int compare(const void *pa, const void *pb)
{
    const struct row *a = pa, *b = pb;
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

static void sort_rows(struct top_reading *r)
{
    qsort(((struct reading *)r)->rows, r->rows, sizeof(struct row), compare);
}

static void on_key(int key)
{
    const char *keys = "lrcn", *at = key > 0 && key < 128 ? strchr(keys, key) : NULL;
    if (at && *at)
        order = (enum order)(at - keys);
}

static const struct top_view view = { .read = read_server,
                                      .free = free_reading,
                                      .totals = write_totals,
                                      .rates = write_rates,
                                      .keys = write_keys,
                                      .head = write_head,
                                      .row = write_row,
                                      .is_dim = is_asleep,
                                      .sort = sort_rows,
                                      .on_key = on_key };

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
    scoped(free_scoped) char *dir = cmd_server_data_dir(data_dir);
    return top_run(&view, dir);
}

const struct cmd cmd_fn_top = {
    .name = "fn top",
    .doc = "show the functions of the gateway on this machine, live",
    .help =
        "Requests, failures (5xx) and cold starts count since the gateway has started; the times "
        "are upper bounds, from a\nrequest's arrival to its answer's end. Keys: l, r, c, n sort; "
        "arrows and page keys scroll; q quits. Where\nstandard output is no terminal the table "
        "is printed once.\n"
        "\n"
        "  dormouse fn top --data-dir /tmp/d\n"
        "  dormouse fn top --sort cold | head\n",
    .run = run,
    .opts = fn_top_opts,
};
