/* SPDX-License-Identifier: Apache-2.0 */
/* base/histogram: which bound a value belongs to, and the text. */
#include "base/histogram.h"

#include "base/mem.h"

#include "test.h"

static const double bounds[] = { 250, 1000, 2500, 1e6 };
static const struct histogram_kind times = { bounds, 4, 1e6, 6, NULL };

struct hist {
    HISTOGRAM_FIELDS(uint32_t, 4);
};

static char *text_of(const struct histogram_kind *k, const struct histogram_text *t,
                     struct histogram_view h)
{
    struct buf out = BUF_INIT(64 << 10);
    histogram_write(&out, k, t, h);
    CHECK(buf_ok(&out));
    char *text = str_dup(buf_str(&out));
    buf_fini(&out);
    return text;
}

TEST(a_value_belongs_to_the_first_bound_that_is_not_below_it)
{
    CHECK_INT(histogram_bucket(&times, 0), 0);
    CHECK_INT(histogram_bucket(&times, 250), 0);
    CHECK_INT(histogram_bucket(&times, 251), 1);
    CHECK_INT(histogram_bucket(&times, 1e6), 3);
    CHECK_INT(histogram_bucket(&times, 1e6 + 1), 4);
}

TEST(lines_are_cumulative_and_the_largest_values_are_in_the_count_alone)
{
    struct hist h = { 0 };
    for (uint64_t us = 250; us <= 2000; us += 250)
        histogram_add(&times, &h, us);
    histogram_add(&times, &h, UINT64_C(7000000));
    const struct histogram_text t = { .name = STR("x_seconds"), .labels = STR("a=\"b\",c=\"d\"") };
    scoped(free_scoped) char *text = text_of(&times, &t, histogram_view(&h));
    CHECK_STR(str_of(text), "x_seconds_bucket{a=\"b\",c=\"d\",le=\"0.00025\"} 1\n"
                            "x_seconds_bucket{a=\"b\",c=\"d\",le=\"0.001\"} 4\n"
                            "x_seconds_bucket{a=\"b\",c=\"d\",le=\"0.0025\"} 8\n"
                            "x_seconds_bucket{a=\"b\",c=\"d\",le=\"1\"} 8\n"
                            "x_seconds_bucket{a=\"b\",c=\"d\",le=\"+Inf\"} 9\n"
                            "x_seconds_sum{a=\"b\",c=\"d\"} 7.009000\n"
                            "x_seconds_count{a=\"b\",c=\"d\"} 9\n");
}

TEST(without_labels_the_totals_have_no_braces)
{
    static const struct histogram_kind plain = { bounds, 4, 1, -1, NULL };
    HISTOGRAM(uint64_t, 4) h = { 0 };
    histogram_add(&plain, &h, 0.5);
    const struct histogram_text t = { .name = STR("x"), .lines = HISTOGRAM_TOTAL };
    scoped(free_scoped) char *text = text_of(&plain, &t, histogram_view(&h));
    CHECK_STR(str_of(text), "x_bucket{le=\"+Inf\"} 1\nx_sum 0.5\nx_count 1\n");
}

static void in_words(struct buf *to, double v)
{
    (void)buf_printf(to, "<%.1f>", v);
}

TEST(lines_bounds_and_numbers_can_be_chosen)
{
    static const bool is_shown[] = { false, true, false, false };
    static const struct histogram_kind own = { bounds, 4, 1000, 3, in_words };
    struct hist h = { 0 };
    histogram_add(&own, &h, 100);
    const struct histogram_text some = { .name = STR("x"), .is_shown = is_shown };
    const struct histogram_text none = { .name = STR("x"), .lines = HISTOGRAM_SUM };
    scoped(free_scoped) char *a = text_of(&own, &some, histogram_view(&h));
    scoped(free_scoped) char *b = text_of(&own, &none, histogram_view(&h));
    CHECK_STR(str_of(a),
              "x_bucket{le=\"<1.0>\"} 1\nx_bucket{le=\"+Inf\"} 1\nx_sum <0.1>\nx_count 1\n");
    CHECK_STR(str_of(b), "x_sum <0.1>\nx_count 1\n");
}

TEST(a_sum_of_microseconds_is_exact)
{
    HISTOGRAM(uint64_t, 4) h = { 0 };
    uint64_t sum = 0;
    for (int i = 0; i < 100000; i++) {
        uint64_t us = test_random() % 10000000000;
        sum += us;
        histogram_add(&times, &h, us);
    }
    CHECK(h.sum == (double)sum && (uint64_t)h.sum == sum);
}

TEST(a_metric_has_a_head)
{
    struct buf out = BUF_INIT(1024);
    metric_head(&out, "x", "gauge", "What it is.");
    CHECK_STR(buf_str(&out), "# HELP x What it is.\n# TYPE x gauge\n");
    buf_fini(&out);
}

TEST_MAIN
