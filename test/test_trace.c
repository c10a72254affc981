/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded load: totals of the public traces, the draw of arrivals, and malformed files. */
#include "codec/csv.h"
#include "lab/fn/trace.h"
#include "test.h"

#include <errno.h>
#include <math.h>

static struct trace *load(const char *name)
{
    char path[512];
    struct trace *t;
    struct err err = { 0 };
    (void)snprintf(path, sizeof path, TEST_DATA "/traces/%s", name);
    if (trace_load(path, &t, &err) < 0)
        TEST_FAIL("%s", err.text);
    return t;
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

/* Element floor(p * n) of the sorted averages, rounded. */
static long percentile(const struct trace *t, bool memory, double p)
{
    float *v = xnew_n(float, t->n_functions);
    for (size_t i = 0; i < t->n_functions; i++)
        v[i] = memory ? t->functions[i].memory_mib.average : t->functions[i].run_ms.average;
    qsort(v, t->n_functions, sizeof *v, by_value);
    long r = lround((double)v[(size_t)(p * (double)t->n_functions)]);
    free(v);
    return r;
}

static uint32_t invoked(const struct trace *t, uint32_t from, uint32_t to)
{
    uint32_t n = 0;
    for (size_t i = 0; i < t->n_functions; i++) {
        bool any = false;
        for (uint32_t m = from; m < to; m++)
            any = any || t->functions[i].counts[m] > 0;
        n += any;
    }
    return n;
}

TEST(azure_100_has_the_totals_of_its_page)
{
    scoped(trace_free_scoped) struct trace *t = load("azure2019-invitro-100");
    CHECK_INT(t->n_functions, 100);
    CHECK_INT(t->n_minutes, 480);
    CHECK_INT(trace_count(t, 0, 480), 339657);
    CHECK_INT(trace_count(t, 0, 30), 19058);
    CHECK_INT(trace_count(t, 10, 30), 12753);
    CHECK_INT(invoked(t, 0, 30), 72);
    CHECK_INT(invoked(t, 10, 30), 63);
    uint32_t timers = 0, https = 0;
    double load_s = 0;
    for (size_t i = 0; i < t->n_functions; i++) {
        const struct trace_function *f = &t->functions[i];
        CHECK(f->has_duration && f->has_memory);
        timers += str_is(f->trigger, "timer");
        https += str_is(f->trigger, "http");
        for (uint32_t m = 0; m < 30; m++)
            load_s += f->counts[m] * (double)f->run_ms.average / 1000;
    }
    CHECK(timers == 44 && https == 36);
    CHECK(load_s / 1800 > 9 && load_s / 1800 < 11);
    CHECK_INT(percentile(t, false, 0.1), 21);
    CHECK_INT(percentile(t, false, 0.5), 396);
    CHECK_INT(percentile(t, false, 0.9), 14585);
    CHECK_INT(percentile(t, false, 0.99), 146627);
    CHECK_INT(percentile(t, true, 0.1), 10);
    CHECK_INT(percentile(t, true, 0.5), 56);
    CHECK_INT(percentile(t, true, 0.9), 186);
    CHECK_INT(percentile(t, true, 0.99), 301);
}

TEST(the_toy_trace_is_read_by_the_names_of_its_columns)
{
    scoped(trace_free_scoped) struct trace *t = load("invitro-example");
    CHECK_INT(t->n_functions, 4);
    CHECK_INT(t->n_minutes, 1440);
    CHECK_INT(t->functions[0].counts[0], 5);
    CHECK_INT(t->functions[1].counts[4], 0);
    CHECK_INT(t->functions[1].counts[5], 5);
    CHECK(t->functions[0].run_ms.average == 100 && t->functions[1].run_ms.average == 500);
    CHECK(t->functions[0].memory_mib.average == 120 && t->functions[0].memory_mib.n == 8);
    CHECK(t->functions[0].memory_mib.value[7] == 152);
}

TEST(azure_2021_has_single_calls)
{
    scoped(trace_free_scoped) struct trace *t = load("azure2021-sample");
    CHECK_INT(t->n_calls, 199);
    CHECK_INT(t->n_functions, 31);
    CHECK(t->n_minutes >= 20 && t->n_minutes <= 22);
    CHECK_INT(trace_count(t, 0, t->n_minutes), 199);
    struct trace_draw d = { .seed = 42, .scale = 1 };
    struct trace_calls calls = { 0 };
    size_t n = 0;
    for (uint32_t m = 0; m < t->n_minutes; m++) {
        trace_draw_minute(t, &d, m, &calls);
        n += calls.n;
    }
    CHECK_INT(n, 199);
    trace_calls_fini(&calls);
}

TEST(faasrail_has_five_minutes)
{
    scoped(trace_free_scoped) struct trace *t = load("faasrail-azure");
    CHECK_INT(t->n_functions, 244);
    CHECK_INT(t->n_minutes, 5);
    CHECK_INT(t->functions[0].counts[0], 107);
    CHECK(t->functions[0].run_ms.average == 1633);
    double rate = (double)trace_count(t, 0, 5) / 300;
    CHECK(rate > 13 && rate < 17);
}

TEST(a_draw_gives_the_counts_in_their_minutes_in_order)
{
    scoped(trace_free_scoped) struct trace *t = load("azure2019-invitro-100");
    struct trace_calls calls = { 0 };
    for (int kind = TRACE_EXPONENTIAL; kind <= TRACE_UNIFORM; kind++) {
        struct trace_draw d = { .seed = 42,
                                .arrivals = (enum trace_arrivals)kind,
                                .scale = 1,
                                .shift = kind == TRACE_UNIFORM };
        size_t n = 0;
        for (uint32_t m = 0; m < 30; m++) {
            uint64_t last = m * 60000000ULL;
            trace_draw_minute(t, &d, m, &calls);
            for (size_t i = 0; i < calls.n; i++) {
                const struct trace_call *c = &calls.p[i];
                CHECK(c->at_us >= last && c->at_us < (m + 1) * 60000000ULL);
                CHECK(c->run_us >= 1000 && c->run_us <= TRACE_RUN_MAX_MS * 1000);
                CHECK(c->memory_mib >= 1 && c->memory_mib <= TRACE_MEMORY_MAX_MIB);
                last = c->at_us;
            }
            n += calls.n;
        }
        CHECK_INT(n, 19058);
    }
    trace_calls_fini(&calls);
}

TEST(equidistant_calls_are_equally_far_apart)
{
    scoped(trace_free_scoped) struct trace *t = load("invitro-example");
    struct trace_draw d = { .seed = 1, .arrivals = TRACE_EQUIDISTANT, .scale = 1 };
    struct trace_calls calls = { 0 };
    trace_draw_minute(t, &d, 0, &calls); /* only the first function calls, five times */
    CHECK_INT(calls.n, 5);
    for (size_t i = 0; i < 5; i++) {
        CHECK_INT(calls.p[i].at_us, i * 12000000);
        CHECK(calls.p[i].run_us >= 99000 && calls.p[i].run_us <= 101000);
    }
    trace_calls_fini(&calls);
}

static bool same_calls(const struct trace_calls *a, const struct trace_calls *b)
{
    bool same = a->n == b->n;
    for (size_t i = 0; same && i < a->n; i++)
        same = a->p[i].at_us == b->p[i].at_us && a->p[i].function == b->p[i].function &&
               a->p[i].run_us == b->p[i].run_us && a->p[i].memory_mib == b->p[i].memory_mib;
    return same;
}

TEST(a_minute_is_the_same_whatever_else_is_drawn)
{
    scoped(trace_free_scoped) struct trace *t = load("azure2019-invitro-100");
    struct trace_draw d = { .seed = 7, .scale = 1 }, other = { .seed = 8, .scale = 1 };
    struct trace_calls a = { 0 }, b = { 0 };
    trace_draw_minute(t, &d, 17, &a);
    for (uint32_t m = 0; m <= 17; m++)
        trace_draw_minute(t, &d, m, &b);
    CHECK(same_calls(&a, &b));
    trace_draw_minute(t, &other, 17, &b);
    CHECK(a.n == b.n && !same_calls(&a, &b));
    trace_calls_fini(&a);
    trace_calls_fini(&b);
}

TEST(a_scale_thins_out_and_multiplies)
{
    scoped(trace_free_scoped) struct trace *t = load("azure2019-invitro-100");
    static const double scales[] = { 0.1, 2.5 };
    struct trace_calls calls = { 0 };
    for (size_t k = 0; k < 2; k++) {
        struct trace_draw d = { .seed = 42, .scale = scales[k] };
        double n = 0;
        for (uint32_t m = 0; m < 30; m++) {
            trace_draw_minute(t, &d, m, &calls);
            n += (double)calls.n;
        }
        CHECK(fabs(n / 19058 / scales[k] - 1) < 0.05);
    }
    trace_calls_fini(&calls);
}

/* The mean of many draws of a distribution that is flat between its points is known. */
TEST(run_times_follow_the_percentiles)
{
    scoped(trace_free_scoped) struct trace *t = trace_new();
    CHECK_OK(trace_parse_invocations(
        t, "i", STR("HashOwner,HashApp,HashFunction,Trigger,1\no,a,f,http,100000\n"), NULL));
    CHECK_OK(trace_parse_durations(
        t, "d",
        STR("HashOwner,HashApp,HashFunction,Average,percentile_Average_0,percentile_Average_1,"
            "percentile_Average_25,percentile_Average_50,percentile_Average_75,"
            "percentile_Average_99,percentile_Average_100\n"
            "o,a,f,50,100,100,100,200,200,200,200\no,a,unknown,1,1,1,1,1,1,1,1\n"),
        NULL));
    struct trace_draw d = { .seed = 3, .scale = 1 };
    struct trace_calls calls = { 0 };
    trace_draw_minute(t, &d, 0, &calls);
    CHECK_INT(calls.n, 100000);
    double sum = 0;
    int low = 0;
    for (size_t i = 0; i < calls.n; i++) {
        sum += calls.p[i].run_us / 1e3;
        low += calls.p[i].run_us == 100000;
    }
    CHECK(fabs(sum / 1e5 - (0.25 * 100 + 0.25 * 150 + 0.5 * 200)) < 1);
    CHECK(abs(low - 25000) < 1000);
    trace_calls_fini(&calls);
}

/* ---- malformed files ---- */

static void check_refused(const char *csv, const char *message)
{
    scoped(trace_free_scoped) struct trace *t = trace_new();
    struct err err = { 0 };
    CHECK(trace_parse_invocations(t, "invocations.csv", str_of(csv), &err) < 0);
    CHECK_STR(str_of(err.text), message);
}

TEST(malformed_files_are_refused_with_the_line)
{
    check_refused("", "invocations.csv is empty");
    check_refused("a,b\n", "invocations.csv has no column 'HashOwner'");
    check_refused("HashOwner,HashApp,HashFunction\n", "invocations.csv has no columns of minutes");
    check_refused("HashOwner,HashApp,HashFunction,1,3\n",
                  "invocations.csv: minute '3' does not follow the one before it");
    check_refused("HashOwner,HashApp,HashFunction,1\no,a,f\n",
                  "invocations.csv:2: 3 fields for 4 columns");
    check_refused("HashOwner,HashApp,HashFunction,1\n\no,a,f,x\n",
                  "invocations.csv:3: not a number of calls: 'x'");
    check_refused("HashOwner,HashApp,HashFunction,1\no,a,f,-1\n",
                  "invocations.csv:2: not a number of calls: '-1'");
    check_refused("HashOwner,HashApp,HashFunction,1\n\"o,a,f,1\n",
                  "invocations.csv:2: a quote that does not end");
}

TEST(a_directory_without_a_trace_says_what_it_looked_for)
{
    struct trace *t;
    struct err err = { 0 };
    CHECK_ERR(trace_load(TEST_DATA, &t, &err), -ENOENT);
    CHECK(strstr(err.text, "none of invocations.csv"));
    CHECK_ERR(trace_load(TEST_DATA "/nowhere", &t, &err), -ENOENT);
}

TEST(csv_has_quotes_marks_and_blank_lines)
{
    struct csv c = csv_open(STR("\xef\xbb\xbf"
                                "a,\"b, \"\"c\"\"\"\r\n\r\n, x \n"));
    struct str row[4];
    CHECK_INT(csv_row(&c, row, 4), 2);
    CHECK_STR(row[0], "a");
    CHECK_STR(row[1], "b, \"\"c\"\"");
    CHECK_INT(csv_row(&c, row, 4), 2);
    CHECK_STR(row[0], "");
    CHECK_STR(row[1], "x");
    CHECK_INT(c.line, 3);
    CHECK_INT(csv_row(&c, row, 4), 0);
    c = csv_open(STR("1,2,3,4,5"));
    CHECK_ERR(csv_row(&c, row, 4), E_LIMIT);
}

TEST_MAIN
