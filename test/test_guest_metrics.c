/* SPDX-License-Identifier: Apache-2.0 */
/* operator/v1/guest_metrics: values of guests, and their Prometheus text. */
#include "operator/v1/guest_metrics.h"

#include "test.h"

static struct declarations all;

static struct declaration *declare(const char *metrics)
{
    struct declaration *d = NULL;
    struct err err = { 0 };
    char *text = xasprintf("{\"controllers\":[],\"metrics\":[%s]}", metrics);
    if (declaration_get(&all, str_of(text), &d, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    free(text);
    return d;
}

static void refuse(struct guest_metrics *m, uint32_t index, const char *labels, double value,
                   const char *want)
{
    struct err err = { 0 };
    CHECK(guest_metrics_observe(m, index, str_of(labels), value, &err) < 0);
    if (!strstr(err_text(&err), want))
        TEST_FAIL("said '%s', expected '%s'", err_text(&err), want);
}

TEST(counters_add_gauges_are_set_histograms_observe)
{
    struct declaration *d = declare(
        "{\"name\":\"made_total\",\"type\":\"counter\",\"help\":\"made\\nthings\",\"labels\":"
        "[\"kind\"]},{\"name\":\"level\",\"type\":\"gauge\"},{\"name\":\"took\",\"type\":"
        "\"histogram\",\"buckets\":[0.5,2]}");
    struct guest_metrics *m = guest_metrics_new(d);
    CHECK_OK(guest_metrics_observe(m, 0, STR("[\"a\\\"b\"]"), 1, NULL));
    CHECK_OK(guest_metrics_observe(m, 0, STR("[\"a\\\"b\"]"), 2.5, NULL));
    CHECK_OK(guest_metrics_observe(m, 1, STR(""), 4, NULL));
    CHECK_OK(guest_metrics_observe(m, 1, STR("[]"), -3, NULL));
    CHECK_OK(guest_metrics_observe(m, 2, STR(""), 0.5, NULL));
    CHECK_OK(guest_metrics_observe(m, 2, STR(""), 1, NULL));
    CHECK_OK(guest_metrics_observe(m, 2, STR(""), 9, NULL));
    struct buf b = BUF_INIT(1 << 20);
    struct guest_metrics_source source = { m, "ns/op" };
    guest_metrics_write(&source, 1, &b);
    CHECK_STR(buf_str(&b), "# HELP made_total made\\nthings\n"
                           "# TYPE made_total counter\n"
                           "made_total{operator=\"ns/op\",kind=\"a\\\"b\"} 3.5\n"
                           "# HELP level \n"
                           "# TYPE level gauge\n"
                           "level{operator=\"ns/op\"} -3\n"
                           "# HELP took \n"
                           "# TYPE took histogram\n"
                           "took_bucket{operator=\"ns/op\",le=\"0.5\"} 1\n"
                           "took_bucket{operator=\"ns/op\",le=\"2\"} 2\n"
                           "took_bucket{operator=\"ns/op\",le=\"+Inf\"} 3\n"
                           "took_sum{operator=\"ns/op\"} 10.5\n"
                           "took_count{operator=\"ns/op\"} 3\n");
    buf_fini(&b);
    guest_metrics_free(m);
    declaration_unref(d);
}

TEST(values_of_several_operators_stand_below_one_head)
{
    struct declaration *d = declare("{\"name\":\"x\",\"type\":\"gauge\"}"),
                       *e = declare("{\"name\":\"y\",\"type\":\"gauge\"},"
                                    "{\"name\":\"x\",\"type\":\"gauge\"}");
    struct guest_metrics *a = guest_metrics_new(d), *b = guest_metrics_new(e);
    CHECK_OK(guest_metrics_observe(a, 0, STR(""), 1, NULL));
    CHECK_OK(guest_metrics_observe(b, 1, STR(""), 2, NULL));
    struct guest_metrics_source sources[] = { { a, "a/a" }, { b, "b/b" } };
    struct buf text = BUF_INIT(1 << 20);
    guest_metrics_write(sources, 2, &text);
    CHECK_STR(buf_str(&text), "# HELP x \n# TYPE x gauge\nx{operator=\"a/a\"} 1\n"
                              "x{operator=\"b/b\"} 2\n");
    buf_fini(&text);
    guest_metrics_free(a);
    guest_metrics_free(b);
    declaration_unref(d);
    declaration_unref(e);
}

TEST(what_does_not_fit_the_declaration_is_refused)
{
    struct declaration *d = declare("{\"name\":\"c\",\"type\":\"counter\",\"labels\":[\"l\"]}");
    struct guest_metrics *m = guest_metrics_new(d);
    refuse(m, 1, "", 1, "there is no number 1");
    refuse(m, 0, "", 1, "has 1 labels, not 0");
    refuse(m, 0, "[\"a\",\"b\"]", 1, "has 1 labels, not 2");
    refuse(m, 0, "[1]", 1, "must be a string");
    refuse(m, 0, "{}", 1, "must be an array");
    refuse(m, 0, "[\"a\"]", -1, "cannot go down");
    refuse(m, 0, "[\"a\"]", __builtin_nan(""), "is no number");
    for (int i = 0; i < GUEST_METRICS_MAX_SETS; i++) {
        char labels[32];
        (void)snprintf(labels, sizeof labels, "[\"%d\"]", i);
        CHECK_OK(guest_metrics_observe(m, 0, str_of(labels), 1, NULL));
    }
    CHECK_ERR(guest_metrics_observe(m, 0, STR("[\"more\"]"), 1, NULL), E_LIMIT);
    CHECK_OK(guest_metrics_observe(m, 0, STR("[\"7\"]"), 1, NULL));
    CHECK_INT(guest_metrics_left_out(m), 1);
    guest_metrics_free(m);
    declaration_unref(d);
}

TEST_MAIN
