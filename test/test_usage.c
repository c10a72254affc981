/* SPDX-License-Identifier: Apache-2.0 */
/* What a node uses, from readings of its agent. */
#include "api/usage/usage.h"
#include "base/buf.h"
#include "test.h"

enum { START_S = 1700000000 };

/* The texts of a kubelet: numbers as Go writes them. at_ms: after START_S. */
static void take(struct usage_node *u, int64_t at_ms, const char *text)
{
    usage_take(u, str_of(text), START_S * INT64_C(1000) + at_ms);
}

static bool of_container(const struct usage_node *u, const char *pod, const char *container,
                         struct usage_rate *ret)
{
    const struct usage_pod *p = usage_of_pod(u, STR("default"), str_of(pod));
    if (!p)
        return false;
    list_each (node, &p->containers) {
        const struct usage_container *c = list_entry(node, struct usage_container, node);
        if (strcmp(c->name, container) == 0)
            return usage_rate_of(&c->counter, ret);
    }
    return false;
}

#define NODE(cpu, time)                                                                            \
    "# TYPE node_cpu_usage_seconds_total counter\n"                                                \
    "node_cpu_usage_seconds_total " cpu " 1700000" time "\n"                                       \
    "node_memory_working_set_bytes 1.048576e+09 1700000" time "\n"
#define CONTAINER(pod, name, cpu, time, start)                                                     \
    "container_cpu_usage_seconds_total{container=\"" name "\",namespace=\"default\",pod=\"" pod    \
    "\"} " cpu " 1700000" time "\n"                                                                \
    "container_memory_working_set_bytes{container=\"" name "\",namespace=\"default\",pod=\"" pod   \
    "\"} 4096 1700000" time "\n"                                                                   \
    "container_start_time_seconds{container=\"" name "\",namespace=\"default\",pod=\"" pod         \
    "\"} " start "\n"
#define OLD "1.6e+09" /* started long ago */

TEST(cpu_is_the_difference_of_two_readings)
{
    struct usage_node *u = usage_new();
    struct usage_rate r;
    take(u, 10000, NODE("100.5", "010000") CONTAINER("p", "a", "7", "010000", OLD));
    CHECK(!usage_of_node(u, &r) && !of_container(u, "p", "a", &r) && !usage_is_complete(u));
    take(u, 20000, NODE("105.5", "020000") CONTAINER("p", "a", "7.000002001", "020000", OLD));
    CHECK(usage_of_node(u, &r));
    CHECK(r.cpu_nano == 500000000 && r.memory_bytes == 1048576000 && r.window_ms == 10000);
    CHECK(r.at_ms == START_S * INT64_C(1000) + 20000);
    CHECK(of_container(u, "p", "a", &r) && r.cpu_nano == 200 && r.memory_bytes == 4096);
    CHECK(usage_is_complete(u));
    take(u, 21000, NODE("106", "021000") CONTAINER("p", "b", "7", "021000", OLD));
    CHECK(!usage_is_complete(u));
    usage_free(u);
}

TEST(a_point_that_is_given_twice_stays)
{
    struct usage_node *u = usage_new();
    struct usage_rate r;
    take(u, 10000, NODE("1", "010000"));
    take(u, 11000, NODE("1", "010000"));
    CHECK(!usage_of_node(u, &r));
    take(u, 22000, NODE("3", "020000"));
    take(u, 23000, NODE("3", "020000"));
    CHECK(usage_of_node(u, &r) && r.cpu_nano == 200000000 && r.window_ms == 10000);
    usage_free(u);
}

TEST(a_window_is_at_most_a_minute)
{
    struct usage_node *u = usage_new();
    struct usage_rate r;
    take(u, 10000, NODE("1", "010000"));
    take(u, 71000, NODE("2", "071000"));
    CHECK(!usage_of_node(u, &r));
    take(u, 72000, NODE("3", "072000"));
    CHECK(usage_of_node(u, &r) && r.cpu_nano == 1000000000 && r.window_ms == 1000);
    usage_free(u);
}

TEST(a_new_container_is_compared_with_its_start)
{
    struct usage_node *u = usage_new();
    struct usage_rate r;
    take(u, 20000, CONTAINER("p", "a", "3", "020000", "1.70000001e+09"));
    CHECK(of_container(u, "p", "a", &r) && r.cpu_nano == 300000000 && r.window_ms == 10000);
    /* It was started again: its counter begins at 0. */
    take(u, 40000, CONTAINER("p", "a", "5", "040000", "1.700000030e+09"));
    CHECK(of_container(u, "p", "a", &r) && r.cpu_nano == 500000000 && r.window_ms == 10000);
    take(u, 50000, CONTAINER("p", "a", "1", "050000", OLD));
    CHECK(!of_container(u, "p", "a", &r));
    usage_free(u);
}

TEST(containers_that_are_gone_are_forgotten)
{
    struct usage_node *u = usage_new();
    struct usage_rate r;
    take(u, 10000, CONTAINER("p", "a", "1", "010000", OLD) CONTAINER("p", "b", "1", "010000", OLD));
    take(u, 20000, CONTAINER("p", "b", "1", "020000", OLD));
    CHECK(u->n_containers == 1 && !of_container(u, "p", "a", &r));
    CHECK(of_container(u, "p", "b", &r) && r.cpu_nano == 0);
    take(u, 30000, "");
    CHECK(u->n_containers == 0 && !usage_of_pod(u, STR("default"), STR("p")));
    usage_free(u);
}

TEST(values_without_a_time_are_of_now)
{
    struct usage_node *u = usage_new();
    struct usage_rate r;
    take(u, 10000, "node_cpu_usage_seconds_total 1\nnode_memory_working_set_bytes 1\n");
    take(u, 12000, "node_cpu_usage_seconds_total 2\nnode_memory_working_set_bytes 1\n");
    CHECK(usage_of_node(u, &r) && r.window_ms == 2000 && r.cpu_nano == 500000000);
    usage_free(u);
}

TEST(lines_that_are_not_understood_are_passed_over)
{
    static const char *const lines[] = {
        "node_cpu_usage_seconds_total",
        "node_cpu_usage_seconds_total ",
        "node_cpu_usage_seconds_total NaN 1700000010000",
        "node_cpu_usage_seconds_total -1 1700000010000",
        "node_cpu_usage_seconds_total 1 -5",
        "node_cpu_usage_seconds_total 1 later",
        "node_cpu_usage_seconds_total{a=\"b\"} 1",
        "container_cpu_usage_seconds_total{",
        "container_cpu_usage_seconds_total{} 1",
        "container_cpu_usage_seconds_total{container=\"a\"} 1",
        "container_cpu_usage_seconds_total{container=\"a\",namespace=\"n\",pod=\"p} 1",
        "container_cpu_usage_seconds_total{container=\"a\\\"\",namespace=\"n\",pod=\"p\"} 1",
        "container_cpu_usage_seconds_total{container=a,namespace=\"n\",pod=\"p\"} 1",
        "container_cpu_usage_seconds_totals{container=\"a\",namespace=\"n\",pod=\"p\"} 1",
        "pod_cpu_usage_seconds_total{namespace=\"n\",pod=\"p\"} 1",
    };
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        struct usage_node *u = usage_new();
        take(u, 10000, lines[i]);
        CHECK(u->self.now.at_ms == 0 && u->n_containers == 0 && u->pods.n == 0);
        usage_free(u);
    }
}

TEST(containers_of_a_node_are_limited)
{
    struct usage_node *u = usage_new();
    struct buf text = BUF_INIT(USAGE_TEXT_MAX_BYTES);
    for (unsigned i = 0; i < USAGE_CONTAINERS_MAX + 10; i++)
        (void)buf_printf(&text,
                         "container_cpu_usage_seconds_total{container=\"c\",namespace=\"n\","
                         "pod=\"p%u\"} 1\n",
                         i);
    CHECK(buf_ok(&text));
    take(u, 10000, text.p);
    CHECK(u->n_containers == USAGE_CONTAINERS_MAX && u->pods.n == USAGE_CONTAINERS_MAX);
    buf_fini(&text);
    usage_free(u);
}

TEST_MAIN
