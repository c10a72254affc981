/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/server/stats.h"

#include "base/mem.h"
#include "codec/json.h"
#include "test.h"

static struct agent_stats_container container;
static struct agent_stats_interface interface;
static struct agent_stats_volume volume;
static struct agent_stats_pod pod;
static struct agent_stats stats;

static void fill(void)
{
    enum { SECOND = 1000000 };
    const int64_t now = 1767323045LL * SECOND;
    agent_stats_init_container(&container);
    agent_stats_init_pod(&pod);
    agent_stats_init(&stats);
    container.name = STR("c");
    container.id = STR("abc");
    container.image = STR("r/i:\"1\"");
    container.start_us = now - SECOND;
    container.cpu.wall_us = now;
    container.cpu.usage_ns = 1234567890123;
    container.cpu.nano_cores = 250000000;
    container.memory.wall_us = now;
    container.memory.usage = 3000;
    container.memory.working_set = 2000;
    container.memory.rss = 1000;
    container.memory.major_page_faults = 4;
    container.oom_kills = 2;
    interface = (struct agent_stats_interface){ "eth0", 1, 2, 3, 4, 5, 6, 7, AGENT_STATS_UNKNOWN };
    agent_stats_init_volume(&volume);
    volume.name = STR("data");
    volume.claim = STR("pvc");
    pod.ns = STR("ns");
    pod.name = STR("p");
    pod.uid = STR("u");
    pod.cpu = container.cpu;
    pod.network = (struct agent_stats_network){ now, &interface, 1 };
    pod.volumes = &volume;
    pod.n_volumes = 1;
    pod.processes = 3;
    pod.containers = &container;
    pod.n_containers = 1;
    stats.node = STR("n1");
    stats.cpu = container.cpu;
    stats.memory = container.memory;
    stats.cores = 2;
    stats.pods = &pod;
    stats.n_pods = 1;
}

static void check_json(bool brief, const char *want)
{
    struct buf b = BUF_INIT(1 << 20);
    struct arena a = { 0 };
    struct json *v;
    fill();
    agent_stats_summary(&b, &stats, brief);
    CHECK_OK(json_parse(&a, buf_str(&b), NULL, &v, NULL));
    CHECK_STR(buf_str(&b), want);
    arena_fini(&a);
    buf_fini(&b);
}

#define CPU                                                                                        \
    "\"cpu\":{\"time\":\"2026-01-02T03:04:05Z\",\"usageNanoCores\":250000000,"                     \
    "\"usageCoreNanoSeconds\":1234567890123}"
#define MEMORY                                                                                     \
    "\"memory\":{\"time\":\"2026-01-02T03:04:05Z\",\"usageBytes\":3000,\"workingSetBytes\":2000,"  \
    "\"rssBytes\":1000,\"majorPageFaults\":4}"
#define CONTAINER "{\"name\":\"c\",\"startTime\":\"2026-01-02T03:04:04Z\"," CPU "," MEMORY "}"
#define HEAD                                                                                       \
    "{\"node\":{\"nodeName\":\"n1\",\"startTime\":null," CPU "," MEMORY "},\"pods\":["             \
    "{\"podRef\":{\"name\":\"p\",\"namespace\":\"ns\",\"uid\":\"u\"},\"startTime\":null,"          \
    "\"containers\":[" CONTAINER "]," CPU
#define IF "\"name\":\"eth0\",\"rxBytes\":1,\"rxErrors\":2,\"txBytes\":5,\"txErrors\":6"

TEST(the_summary_has_what_is_known)
{
    check_json(true, HEAD "}]}");
    check_json(false, HEAD ",\"network\":{\"time\":\"2026-01-02T03:04:05Z\"," IF
                           ",\"interfaces\":[{" IF "}]},\"volume\":[{\"time\":null,\"name\":"
                           "\"data\",\"pvcRef\":{\"name\":\"pvc\",\"namespace\":\"ns\"}}],"
                           "\"process_stats\":{\"process_count\":3}}]}");
}

static bool has_line(const struct buf *b, const char *line)
{
    char *whole = xasprintf("\n%s\n", line);
    bool found = str_find(buf_str(b), str_of(whole)) >= 0;
    free(whole);
    return found;
}

/* Each name has one TYPE line, in front of its values, which stand together. */
static void check_format(struct str text)
{
    struct str line, rest = text, current = STR("");
    struct buf seen = BUF_INIT(1 << 20);
    while (str_cut(rest, '\n', &line, &rest)) {
        size_t n = 0;
        if (str_has_prefix(line, STR("# TYPE "))) {
            struct str tail;
            (void)str_cut(str_slice(line, 7, line.n), ' ', &current, &tail);
            char *name = xasprintf(" " STR_FMT " ", STR_ARG(current));
            CHECK(str_find(buf_str(&seen), str_of(name)) < 0);
            (void)buf_add_cstr(&seen, name);
            free(name);
        }
        if (line.p[0] == '#')
            continue;
        while (n < line.n && line.p[n] != '{' && line.p[n] != ' ')
            n++;
        CHECK(str_eq(str_slice(line, 0, n), current));
    }
    CHECK_INT(rest.n, 0);
    buf_fini(&seen);
}

TEST(resource_metrics_are_those_of_a_kubelet)
{
    struct buf b = BUF_INIT(1 << 20);
    fill();
    agent_stats_resource(&b, &stats);
    check_format(buf_str(&b));
    CHECK(has_line(&b, "container_cpu_usage_seconds_total{container=\"c\",namespace=\"ns\",pod="
                       "\"p\"} 1234.567890123 1767323045000"));
    CHECK(has_line(&b, "container_memory_working_set_bytes{container=\"c\",namespace=\"ns\",pod="
                       "\"p\"} 2000 1767323045000"));
    CHECK(has_line(
        &b, "container_start_time_seconds{container=\"c\",namespace=\"ns\",pod=\"p\"} 1767323044"));
    CHECK(has_line(&b, "node_cpu_usage_seconds_total 1234.567890123 1767323045000"));
    CHECK(has_line(
        &b,
        "pod_cpu_usage_seconds_total{namespace=\"ns\",pod=\"p\"} 1234.567890123 1767323045000"));
    CHECK(has_line(&b, "resource_scrape_error 0"));
    CHECK(str_find(buf_str(&b), STR("\npod_memory_working_set_bytes{")) < 0);
    buf_reset(&b);
    agent_stats_resource_failed(&b);
    CHECK(has_line(&b, "resource_scrape_error 1"));
    buf_fini(&b);
}

TEST(cadvisor_metrics_have_their_labels)
{
    struct buf b = BUF_INIT(1 << 20);
    fill();
    agent_stats_cadvisor(&b, &stats);
    check_format(buf_str(&b));
#define LABELS                                                                                     \
    "container=\"c\",id=\"/kubepods/podu/abc\",image=\"r/"                                         \
    "i:\\\"1\\\"\",name=\"abc\",namespace=\"ns\",pod=\"p\""
#define WHOLE "container=\"\",id=\"/kubepods/podu\",image=\"\",name=\"\",namespace=\"ns\",pod=\"p\""
    CHECK(has_line(&b, "container_cpu_usage_seconds_total{" LABELS
                       ",cpu=\"total\"} 1234.567890123 1767323045000"));
    CHECK(has_line(&b, "container_cpu_usage_seconds_total{" WHOLE
                       ",cpu=\"total\"} 1234.567890123 1767323045000"));
    CHECK(has_line(&b, "container_memory_rss{" LABELS "} 1000 1767323045000"));
    CHECK(has_line(&b, "container_memory_failures_total{" LABELS
                       ",failure_type=\"pgmajfault\",scope=\"container\"} 4 1767323045000"));
    CHECK(has_line(&b, "container_oom_events_total{" LABELS "} 2"));
    CHECK(has_line(&b, "container_network_receive_bytes_total{" WHOLE
                       ",interface=\"eth0\"} 1 1767323045000"));
    CHECK(has_line(&b, "machine_cpu_cores 2"));
    CHECK(str_find(buf_str(&b), STR("\ncontainer_network_transmit_packets_dropped_total{")) < 0);
    CHECK(str_find(buf_str(&b), STR("18446744073709551615")) < 0);
    buf_fini(&b);
}

TEST_MAIN
