/* SPDX-License-Identifier: Apache-2.0 */
/* Reading recorded load; see trace.h. */
#include "lab/fn/trace.h"

#include "base/buf.h"
#include "base/sys.h"
#include "base/vec.h"
#include "codec/csv.h"
#include "codec/json_number.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

struct trace *trace_new(void)
{
    struct trace *t = xnew(struct trace);
    t->arena.block_bytes = 64 << 10;
    return t;
}

void trace_free(struct trace *t)
{
    if (!t)
        return;
    map_fini(&t->by_key);
    free(t->functions);
    free(t->calls);
    arena_fini(&t->arena);
    free(t);
}

/* ---- a table: the header, and one row at a time ---- */

struct trace_table {
    const char *name;
    struct csv csv;
    struct str *head, *row; /* of CSV_COLUMNS_MAX */
    size_t n;               /* columns */
    struct err *err;
};

static void table_fini(struct trace_table *t)
{
    free(t->head);
    free(t->row);
}

static int table_fail(const struct trace_table *t, const char *what, struct str column)
{
    return err_set(t->err, E_PARSE, "%s:%u: %s '" STR_FMT "'", t->name, t->csv.line, what,
                   STR_ARG(column));
}

static int table_read(struct trace_table *t, struct str *to)
{
    int n = csv_row(&t->csv, to, CSV_COLUMNS_MAX);
    if (n == E_LIMIT)
        return err_set(t->err, E_PARSE, "%s:%u: more than %d columns", t->name, t->csv.line,
                       CSV_COLUMNS_MAX);
    if (n < 0)
        return err_set(t->err, E_PARSE, "%s:%u: a quote that does not end", t->name, t->csv.line);
    return n;
}

static int table_init(struct trace_table *t, const char *name, struct str text, struct err *err)
{
    *t = (struct trace_table){ .name = name,
                               .csv = csv_open(text),
                               .head = xnew_n(struct str, CSV_COLUMNS_MAX),
                               .row = xnew_n(struct str, CSV_COLUMNS_MAX),
                               .err = err };
    int n = table_read(t, t->head);
    if (n == 0)
        return err_set(err, E_PARSE, "%s is empty", name);
    t->n = n > 0 ? (size_t)n : 0;
    return n;
}

/* Returns 1, or 0 at the end. Each row has a field for each column. */
static int table_next(struct trace_table *t)
{
    int n = table_read(t, t->row);
    if (n > 0 && (size_t)n != t->n)
        return err_set(t->err, E_PARSE, "%s:%u: %d fields for %zu columns", t->name, t->csv.line, n,
                       t->n);
    return n > 0 ? 1 : n;
}

/* Index of a column. */
static int table_column(const struct trace_table *t, const char *name)
{
    for (size_t i = 0; i < t->n; i++)
        if (str_is(t->head[i], name))
            return (int)i;
    return err_set(t->err, E_PARSE, "%s has no column '%s'", t->name, name);
}

/* Parse digits with a fraction and an exponent, as spreadsheets and pandas write them. */
static bool is_number(struct str s)
{
    size_t i = s.n && s.p[0] == '-', digits = 0;
    for (int part = 0; part < 3; part++) { /* whole, fraction, exponent */
        if (part == 1 && i < s.n && s.p[i] == '.')
            i++;
        if (part == 2) {
            if (i == s.n)
                return digits > 0;
            if (!digits || (s.p[i] != 'e' && s.p[i] != 'E'))
                return false;
            i++;
            if (i < s.n && (s.p[i] == '+' || s.p[i] == '-'))
                i++;
            digits = 0;
        }
        for (; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++)
            digits++;
    }
    return i == s.n && digits > 0;
}

static int table_float(const struct trace_table *t, int column, double min, double max, double *ret)
{
    struct str s = t->row[column];
    double v;
    if (s.n > 40 || !is_number(s) || json_number_to_float(s, &v) < 0)
        return table_fail(t, "not a number:", s);
    *ret = fmin(fmax(v, min), max);
    return 0;
}

/* ---- functions ---- */

enum { KEY_MAX_BYTES = 1024, VALUE_MAX = 1000000000 };

static uintptr_t function_find(const struct trace *t, struct str key)
{
    return (uintptr_t)map_get(&t->by_key, key);
}

/* Returns the index of the function. */
static int function_add(struct trace *t, const struct trace_table *in, struct str key,
                        struct str name)
{
    if (t->n_functions == TRACE_FUNCTIONS_MAX)
        return err_set(in->err, E_LIMIT, "%s:%u: more than %d functions", in->name, in->csv.line,
                       TRACE_FUNCTIONS_MAX);
    if (t->n_functions == t->cap_functions) {
        t->cap_functions = t->cap_functions ? t->cap_functions * 2 : 64;
        t->functions = xrealloc(t->functions, t->cap_functions * sizeof *t->functions);
    }
    t->functions[t->n_functions] =
        (struct trace_function){ .name = str_copy_arena(&t->arena, name), .trigger = STR("") };
    (void)map_put(&t->by_key, key, (void *)(uintptr_t)(t->n_functions + 1));
    return (int)t->n_functions++;
}

struct key_columns {
    int owner, app, function;
};

static int key_columns(const struct trace_table *in, struct key_columns *ret)
{
    int r;
    if ((r = ret->owner = table_column(in, "HashOwner")) < 0 ||
        (r = ret->app = table_column(in, "HashApp")) < 0 ||
        (r = ret->function = table_column(in, "HashFunction")) < 0)
        return r;
    return 0;
}

static int key_of(const struct trace_table *in, const struct key_columns *k, struct buf *to)
{
    buf_reset(to);
    (void)buf_add_str(to, in->row[k->owner]);
    (void)buf_add_char(to, '/');
    (void)buf_add_str(to, in->row[k->app]);
    (void)buf_add_char(to, '/');
    (void)buf_add_str(to, in->row[k->function]);
    return buf_ok(to) ? 0 : table_fail(in, "too long a name:", in->row[k->function]);
}

/* ---- invocations.csv ---- */

/* Minutes are the columns whose names are numbers; they are adjacent and in order. */
static int minute_columns(const struct trace_table *in, size_t *ret_first, size_t *ret_n)
{
    size_t first = in->n, n = 0;
    uint64_t last = 0, at;
    for (size_t i = 0; i < in->n; i++) {
        if (parse_u64(in->head[i], 0, UINT32_MAX, &at) < 0)
            continue;
        if (n && (i != first + n || at != last + 1))
            return err_set(in->err, E_PARSE,
                           "%s: minute '" STR_FMT "' does not follow the one "
                           "before it",
                           in->name, STR_ARG(in->head[i]));
        if (n == 0)
            first = i;
        last = at;
        n++;
    }
    if (n == 0)
        return err_set(in->err, E_PARSE, "%s has no columns of minutes", in->name);
    if (n > TRACE_MINUTES_MAX)
        return err_set(in->err, E_LIMIT, "%s has more than %d minutes", in->name,
                       TRACE_MINUTES_MAX);
    *ret_first = first;
    *ret_n = n;
    return 0;
}

/* Add the counts of the row to counts[0..n). */
static int read_counts(const struct trace_table *in, size_t first, size_t n, uint32_t *counts)
{
    for (size_t m = 0; m < n; m++) {
        uint64_t v;
        if (parse_u64(in->row[first + m], 0, TRACE_PER_MINUTE_MAX, &v) < 0)
            return table_fail(in, "not a number of calls:", in->row[first + m]);
        counts[m] = (uint32_t)MIN(counts[m] + v, TRACE_PER_MINUTE_MAX);
    }
    return 0;
}

static int parse_invocations(struct trace *t, struct trace_table *in)
{
    struct key_columns k;
    size_t first, n;
    int r = key_columns(in, &k), trigger;
    if (r < 0 || (r = minute_columns(in, &first, &n)) < 0)
        return r;
    struct err ignored;
    struct trace_table quiet = *in;
    quiet.err = &ignored;
    trigger = table_column(&quiet, "Trigger");
    t->n_minutes = (uint32_t)n;
    scoped(buf_fini_scoped) struct buf key = BUF_INIT(KEY_MAX_BYTES);
    while ((r = table_next(in)) > 0) {
        if ((r = key_of(in, &k, &key)) < 0)
            return r;
        uintptr_t known = function_find(t, buf_str(&key));
        r = known ? (int)known - 1 : function_add(t, in, buf_str(&key), in->row[k.function]);
        if (r < 0)
            return r;
        struct trace_function *f = &t->functions[r];
        if (trigger >= 0)
            f->trigger = str_copy_arena(&t->arena, in->row[trigger]);
        if (!f->counts)
            f->counts = arena_new_n(&t->arena, uint32_t, n);
        if ((r = read_counts(in, first, n, f->counts)) < 0)
            return r;
    }
    return r;
}

static int with_table(struct trace *t, const char *name, struct str csv, struct err *err,
                      int (*parse)(struct trace *t, struct trace_table *in))
{
    struct trace_table in;
    int r = table_init(&in, name, csv, err);
    if (r > 0)
        r = parse(t, &in);
    table_fini(&in);
    return r;
}

int trace_parse_invocations(struct trace *t, const char *name, struct str csv, struct err *err)
{
    return with_table(t, name, csv, err, parse_invocations);
}

/* ---- durations.csv, memory.csv ---- */

struct points {
    const char *average;
    struct {
        const char *column;
        float quantile;
    } at[TRACE_POINTS_MAX];
    size_t n;
};

static const struct points run_points = { "Average",
                                          { { "percentile_Average_0", 0 },
                                            { "percentile_Average_1", 0.01F },
                                            { "percentile_Average_25", 0.25F },
                                            { "percentile_Average_50", 0.5F },
                                            { "percentile_Average_75", 0.75F },
                                            { "percentile_Average_99", 0.99F },
                                            { "percentile_Average_100", 1 } },
                                          7 };
static const struct points memory_points = { "AverageAllocatedMb",
                                             { { "AverageAllocatedMb_pct1", 0.01F },
                                               { "AverageAllocatedMb_pct5", 0.05F },
                                               { "AverageAllocatedMb_pct25", 0.25F },
                                               { "AverageAllocatedMb_pct50", 0.5F },
                                               { "AverageAllocatedMb_pct75", 0.75F },
                                               { "AverageAllocatedMb_pct95", 0.95F },
                                               { "AverageAllocatedMb_pct99", 0.99F },
                                               { "AverageAllocatedMb_pct100", 1 } },
                                             8 };

/* A percentile below its predecessor is taken as equal to it. */
static int read_distribution(const struct trace_table *in, const struct points *p,
                             const int *columns, int average, struct trace_distribution *ret)
{
    double v;
    int r = table_float(in, average, 0, VALUE_MAX, &v);
    if (r < 0)
        return r;
    *ret = (struct trace_distribution){ .average = (float)v, .n = (uint8_t)p->n };
    for (size_t i = 0; i < p->n; i++) {
        if ((r = table_float(in, columns[i], 0, VALUE_MAX, &v)) < 0)
            return r;
        ret->quantile[i] = p->at[i].quantile;
        ret->value[i] = i ? MAX((float)v, ret->value[i - 1]) : (float)v;
    }
    return 0;
}

static int parse_distributions(struct trace *t, struct trace_table *in, const struct points *p,
                               bool is_memory)
{
    struct key_columns k;
    int columns[TRACE_POINTS_MAX], average, r = key_columns(in, &k);
    if (r < 0 || (r = average = table_column(in, p->average)) < 0)
        return r;
    for (size_t i = 0; i < p->n; i++)
        if ((r = columns[i] = table_column(in, p->at[i].column)) < 0)
            return r;
    scoped(buf_fini_scoped) struct buf key = BUF_INIT(KEY_MAX_BYTES);
    while ((r = table_next(in)) > 0) {
        struct trace_distribution d;
        if ((r = read_distribution(in, p, columns, average, &d)) < 0 ||
            (r = key_of(in, &k, &key)) < 0)
            return r;
        uintptr_t known = function_find(t, buf_str(&key));
        if (!known)
            continue;
        struct trace_function *f = &t->functions[known - 1];
        *(is_memory ? &f->memory_mib : &f->run_ms) = d;
        *(is_memory ? &f->has_memory : &f->has_duration) = true;
    }
    return r;
}

static int parse_durations(struct trace *t, struct trace_table *in)
{
    return parse_distributions(t, in, &run_points, false);
}

static int parse_memory(struct trace *t, struct trace_table *in)
{
    return parse_distributions(t, in, &memory_points, true);
}

int trace_parse_durations(struct trace *t, const char *name, struct str csv, struct err *err)
{
    return with_table(t, name, csv, err, parse_durations);
}

int trace_parse_memory(struct trace *t, const char *name, struct str csv, struct err *err)
{
    return with_table(t, name, csv, err, parse_memory);
}

/* ---- Azure 2021: one line for each call ---- */

static int by_time(const void *a, const void *b)
{
    const struct trace_call *x = a, *y = b;
    if (x->at_us != y->at_us)
        return x->at_us < y->at_us ? -1 : 1;
    return x->function < y->function ? -1 : x->function > y->function;
}

static int add_call(struct trace *t, const struct trace_table *in, struct trace_call c)
{
    if (t->n_calls == TRACE_CALLS_MAX)
        return err_set(in->err, E_LIMIT, "%s has more than %d calls", in->name, TRACE_CALLS_MAX);
    if (t->n_calls == t->cap_calls) {
        t->cap_calls = t->cap_calls ? t->cap_calls * 2 : 256;
        t->calls = xrealloc(t->calls, t->cap_calls * sizeof *t->calls);
    }
    t->calls[t->n_calls++] = c;
    return 0;
}

static uint32_t run_us(double ms)
{
    return (uint32_t)(fmin(fmax(ms, 1), TRACE_RUN_MAX_MS) * 1000);
}

static int parse_azure2021(struct trace *t, struct trace_table *in)
{
    int app, func, end, duration, r;
    if ((r = app = table_column(in, "app")) < 0 || (r = func = table_column(in, "func")) < 0 ||
        (r = end = table_column(in, "end_timestamp")) < 0 ||
        (r = duration = table_column(in, "duration")) < 0)
        return r;
    scoped(buf_fini_scoped) struct buf key = BUF_INIT(KEY_MAX_BYTES);
    while ((r = table_next(in)) > 0) {
        double end_s, duration_s;
        buf_reset(&key);
        (void)buf_printf(&key, STR_FMT "/" STR_FMT, STR_ARG(in->row[app]), STR_ARG(in->row[func]));
        if (!buf_ok(&key))
            return table_fail(in, "too long a name:", in->row[func]);
        if ((r = table_float(in, end, 0, TRACE_MINUTES_MAX * 60.0 - 1, &end_s)) < 0 ||
            (r = table_float(in, duration, 0, VALUE_MAX, &duration_s)) < 0)
            return r;
        uintptr_t known = function_find(t, buf_str(&key));
        r = known ? (int)known - 1 : function_add(t, in, buf_str(&key), buf_str(&key));
        if (r < 0)
            return r;
        uint64_t at_us = (uint64_t)(fmax(end_s - duration_s, 0) * 1e6);
        t->functions[r].has_duration = true;
        if ((r = add_call(t, in,
                          (struct trace_call){ .at_us = at_us,
                                               .function = (uint32_t)r,
                                               .run_us = run_us(duration_s * 1000),
                                               .memory_mib = TRACE_MEMORY_DEFAULT_MIB })) < 0)
            return r;
        t->n_minutes = MAX(t->n_minutes, (uint32_t)(at_us / 60000000) + 1);
    }
    if (r == 0 && t->n_calls)
        qsort(t->calls, t->n_calls, sizeof *t->calls, by_time);
    return r;
}

int trace_parse_azure2021(struct trace *t, const char *name, struct str csv, struct err *err)
{
    return with_table(t, name, csv, err, parse_azure2021);
}

/* ---- FaaSRail: run time, and calls in each minute of the experiment ---- */

static int parse_faasrail(struct trace *t, struct trace_table *in)
{
    int avg, workload, r;
    if ((r = avg = table_column(in, "avg")) < 0 ||
        (r = workload = table_column(in, "mapped_wreq")) < 0)
        return r;
    size_t first = (size_t)MAX(avg, workload) + 1, n = in->n - first;
    if (n == 0 || n > TRACE_MINUTES_MAX)
        return err_set(in->err, E_PARSE, "%s has no columns of minutes", in->name);
    t->n_minutes = (uint32_t)n;
    while ((r = table_next(in)) > 0) {
        char key[32];
        double ms;
        (void)snprintf(key, sizeof key, "row-%zu", t->n_functions + 1);
        if ((r = table_float(in, avg, 0, VALUE_MAX, &ms)) < 0 ||
            (r = function_add(t, in, str_of(key), str_of(key))) < 0)
            return r;
        struct trace_function *f = &t->functions[r];
        f->run_ms = (struct trace_distribution){
            .average = (float)ms, .n = 1, .quantile = { 0 }, .value = { (float)ms }
        };
        f->has_duration = true;
        f->counts = arena_new_n(&t->arena, uint32_t, n);
        if ((r = read_counts(in, first, n, f->counts)) < 0)
            return r;
    }
    return r;
}

int trace_parse_faasrail(struct trace *t, const char *name, struct str csv, struct err *err)
{
    return with_table(t, name, csv, err, parse_faasrail);
}

/* ---- a directory ---- */

typedef int (*parse_fn)(struct trace *t, const char *name, struct str csv, struct err *err);

static int load_file(struct trace *t, int dir, const char *name, parse_fn parse, struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(TRACE_FILE_MAX_BYTES);
    int r = sys_read_file(dir, name, &text, err);
    return r < 0 ? r : parse(t, name, buf_str(&text), err);
}

/* The first file, by name, with this prefix and suffix; given. NULL: there is none. */
static char *find_file(const char *path, const char *prefix)
{
    DIR *d = opendir(path);
    char *best = NULL;
    for (const struct dirent *e; d && (e = readdir(d));) {
        struct str name = str_of(e->d_name);
        if (!str_has_prefix(name, str_of(prefix)) || !str_has_suffix(name, STR(".csv")) ||
            (best && strcmp(e->d_name, best) >= 0))
            continue;
        free(best);
        best = xstrdup(e->d_name);
    }
    if (d)
        (void)closedir(d);
    return best;
}

static int load_invitro(struct trace *t, int dir, struct err *err)
{
    static const struct {
        const char *name;
        parse_fn parse;
    } others[] = { { "durations.csv", trace_parse_durations },
                   { "memory.csv", trace_parse_memory } };
    int r = load_file(t, dir, "invocations.csv", trace_parse_invocations, err);
    for (size_t i = 0; i < ARRAY_LEN(others) && r >= 0; i++)
        if (faccessat(dir, others[i].name, F_OK, 0) == 0)
            r = load_file(t, dir, others[i].name, others[i].parse, err);
    return r;
}

int trace_load(const char *path, struct trace **ret, struct err *err)
{
    static const struct {
        const char *prefix;
        parse_fn parse;
    } kinds[] = { { "Azure2021", trace_parse_azure2021 }, { "azure_spec", trace_parse_faasrail } };
    scoped(fd_scoped) int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return err_sys(err, -errno, "open '%s'", path);
    scoped(trace_free_scoped) struct trace *t = trace_new();
    int r = -ENOENT;
    if (faccessat(dir, "invocations.csv", F_OK, 0) == 0)
        r = load_invitro(t, dir, err);
    for (size_t i = 0; i < ARRAY_LEN(kinds) && r == -ENOENT && t->n_functions == 0; i++) {
        scoped(free_scoped) char *name = find_file(path, kinds[i].prefix);
        if (name)
            r = load_file(t, dir, name, kinds[i].parse, err);
    }
    if (r == -ENOENT)
        return err_set(
            err, r, "'%s' has none of invocations.csv, Azure2021*.csv and azure_spec*.csv", path);
    if (r < 0)
        return err_ctx(err, r, "trace '%s'", path);
    *ret = take_ptr(&t);
    return 0;
}

uint64_t trace_count(const struct trace *t, uint32_t from, uint32_t to)
{
    uint64_t n = 0;
    to = MIN(to, t->n_minutes);
    for (size_t i = 0; i < t->n_functions; i++)
        for (uint32_t m = from; t->functions[i].counts && m < to; m++)
            n += t->functions[i].counts[m];
    for (size_t i = 0; i < t->n_calls; i++)
        n += t->calls[i].at_us / 60000000 >= from && t->calls[i].at_us / 60000000 < to;
    return n;
}
