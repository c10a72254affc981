/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of a node as Prometheus text: /metrics/resource and /metrics/cadvisor; see stats.h. */
#include "agent/server/stats.h"

#include "base/histogram.h"
#include "base/mem.h"

/* ------------------------------------------------------------------ values */

/* A label's value: backslash, quote and line feed are escaped. */
static void add_label(struct buf *to, const char *name, struct str value)
{
    (void)buf_printf(to, "%s%s=\"", to->p[to->n - 1] == '{' ? "" : ",", name);
    for (size_t i = 0; i < value.n; i++) {
        if (value.p[i] == '\n')
            (void)buf_add_cstr(to, "\\n");
        else {
            if (value.p[i] == '\\' || value.p[i] == '"')
                (void)buf_add_char(to, '\\');
            (void)buf_add_char(to, value.p[i]);
        }
    }
    (void)buf_add_char(to, '"');
}

/* How a number is written: as it is, or nanoseconds and microseconds as seconds. */
enum stats_unit { PLAIN = 1, MICROSECONDS = 1000000, NANOSECONDS = 1000000000 };

/* Exact, without zeroes at the end. */
static void add_fraction(struct buf *to, uint64_t rest, uint64_t unit)
{
    if (rest)
        (void)buf_add_char(to, '.');
    for (; rest; rest %= unit) {
        unit /= 10;
        (void)buf_add_char(to, (char)('0' + rest / unit));
    }
}

static void add_value(struct buf *to, uint64_t value, enum stats_unit unit, int64_t wall_us)
{
    (void)buf_printf(to, " %llu", (unsigned long long)(value / unit));
    add_fraction(to, value % unit, unit);
    if (wall_us)
        (void)buf_printf(to, " %lld", (long long)(wall_us / 1000));
    (void)buf_add_char(to, '\n');
}

/* ------------------------------------------------------------------ /metrics/resource */

enum resource_of { OF_NODE, OF_CONTAINER, OF_POD };

struct resource_numbers { /* of one of them */
    const struct agent_stats_cpu *cpu;
    const struct agent_stats_memory *memory;
    int64_t start_us;
};

static uint64_t start_number(const struct resource_numbers *n, int64_t *wall_us)
{
    return n->start_us > 0 ? (uint64_t)n->start_us : AGENT_STATS_UNKNOWN;
}

static uint64_t cpu_number(const struct resource_numbers *n, int64_t *wall_us)
{
    *wall_us = n->cpu->wall_us;
    return n->cpu->wall_us ? n->cpu->usage_ns : AGENT_STATS_UNKNOWN;
}

static uint64_t memory_number(const struct resource_numbers *n, int64_t *wall_us)
{
    *wall_us = n->memory->wall_us;
    return n->memory->wall_us ? n->memory->working_set : AGENT_STATS_UNKNOWN;
}

static uint64_t swap_number(const struct resource_numbers *n, int64_t *wall_us)
{
    *wall_us = n->memory->wall_us;
    return n->memory->wall_us ? n->memory->swap : AGENT_STATS_UNKNOWN;
}

static const struct resource_metric {
    const char *name, *type, *help;
    enum resource_of of;
    enum stats_unit unit;
    uint64_t (*number)(const struct resource_numbers *n, int64_t *wall_us);
} resource_metrics[] = {
    { "container_cpu_usage_seconds_total", "counter",
      "[STABLE] Cumulative cpu time consumed by the container in core-seconds", OF_CONTAINER,
      NANOSECONDS, cpu_number },
    { "container_memory_working_set_bytes", "gauge",
      "[STABLE] Current working set of the container in bytes", OF_CONTAINER, PLAIN,
      memory_number },
    { "container_start_time_seconds", "gauge",
      "[STABLE] Start time of the container since unix epoch in seconds", OF_CONTAINER,
      MICROSECONDS, start_number },
    { "container_swap_usage_bytes", "gauge",
      "[ALPHA] Current amount of the container swap usage in bytes. Reported only on non-windows "
      "systems",
      OF_CONTAINER, PLAIN, swap_number },
    { "node_cpu_usage_seconds_total", "counter",
      "[STABLE] Cumulative cpu time consumed by the node in core-seconds", OF_NODE, NANOSECONDS,
      cpu_number },
    { "node_memory_working_set_bytes", "gauge", "[STABLE] Current working set of the node in bytes",
      OF_NODE, PLAIN, memory_number },
    { "node_swap_usage_bytes", "gauge",
      "[ALPHA] Current swap usage of the node in bytes. Reported only on non-windows systems",
      OF_NODE, PLAIN, swap_number },
    { "pod_cpu_usage_seconds_total", "counter",
      "[STABLE] Cumulative cpu time consumed by the pod in core-seconds", OF_POD, NANOSECONDS,
      cpu_number },
    { "pod_memory_working_set_bytes", "gauge", "[STABLE] Current working set of the pod in bytes",
      OF_POD, PLAIN, memory_number },
    { "pod_swap_usage_bytes", "gauge",
      "[ALPHA] Current amount of the pod swap usage in bytes. Reported only on non-windows systems",
      OF_POD, PLAIN, swap_number },
};

static void add_resource(struct buf *to, const struct resource_metric *m,
                         const struct resource_numbers *n, const struct agent_stats_pod *p,
                         const struct agent_stats_container *c)
{
    int64_t wall_us = 0;
    uint64_t value = m->number(n, &wall_us);
    if (value == AGENT_STATS_UNKNOWN)
        return;
    (void)buf_add_cstr(to, m->name);
    if (p) {
        (void)buf_add_char(to, '{');
        if (c)
            add_label(to, "container", c->name);
        add_label(to, "namespace", p->ns);
        add_label(to, "pod", p->name);
        (void)buf_add_char(to, '}');
    }
    add_value(to, value, m->unit, wall_us);
}

static void add_resources(struct buf *to, const struct resource_metric *m,
                          const struct agent_stats *s)
{
    const struct resource_numbers node = { &s->cpu, &s->memory, 0 };
    metric_head(to, m->name, m->type, m->help);
    if (m->of == OF_NODE)
        add_resource(to, m, &node, NULL, NULL);
    for (size_t i = 0; m->of != OF_NODE && i < s->n_pods; i++) {
        const struct agent_stats_pod *p = &s->pods[i];
        const struct resource_numbers pod = { &p->cpu, &p->memory, 0 };
        if (m->of == OF_POD)
            add_resource(to, m, &pod, p, NULL);
        for (size_t k = 0; m->of == OF_CONTAINER && k < p->n_containers; k++) {
            const struct agent_stats_container *c = &p->containers[k];
            const struct resource_numbers n = { &c->cpu, &c->memory, c->start_us };
            add_resource(to, m, &n, p, c);
        }
    }
}

static void add_scrape_error(struct buf *to, int failed)
{
    metric_head(to, "resource_scrape_error", "gauge",
                "[STABLE] 1 if there was an error while getting container metrics, 0 otherwise");
    (void)buf_printf(to, "resource_scrape_error %d\n", failed);
}

void agent_stats_resource(struct buf *to, const struct agent_stats *s)
{
    for (size_t i = 0; i < ARRAY_LEN(resource_metrics); i++)
        add_resources(to, &resource_metrics[i], s);
    add_scrape_error(to, 0);
}

void agent_stats_resource_failed(struct buf *to)
{
    add_scrape_error(to, 1);
}

/* ------------------------------------------------------------------ /metrics/cadvisor */

/* Numbers of containers by their place in struct agent_stats_container. */
struct cadvisor_metric {
    const char *name, *type, *help;
    const char *labels; /* further ones, with a comma in front; "" for most */
    enum stats_unit unit;
    size_t at, time_at; /* time_at 0: without a time */
    bool of_pods;       /* also of whole pods: the place is the same in `cpu` and `memory` */
};

#define CPU(member)    offsetof(struct agent_stats_container, cpu.member)
#define MEMORY(member) offsetof(struct agent_stats_container, memory.member)
#define OWN(member)    offsetof(struct agent_stats_container, member)

static const struct cadvisor_metric cadvisor_metrics[] = {
    { "container_cpu_usage_seconds_total", "counter", "Cumulative cpu time consumed in seconds.",
      ",cpu=\"total\"", NANOSECONDS, CPU(usage_ns), CPU(wall_us), true },
    { "container_cpu_user_seconds_total", "counter",
      "Cumulative user cpu time consumed in seconds.", "", NANOSECONDS, CPU(user_ns), CPU(wall_us),
      true },
    { "container_cpu_system_seconds_total", "counter",
      "Cumulative system cpu time consumed in seconds.", "", NANOSECONDS, CPU(system_ns),
      CPU(wall_us), true },
    { "container_cpu_cfs_periods_total", "counter",
      "Number of elapsed enforcement period intervals.", "", PLAIN, CPU(periods), CPU(wall_us),
      true },
    { "container_cpu_cfs_throttled_periods_total", "counter",
      "Number of throttled period intervals.", "", PLAIN, CPU(throttled_periods), CPU(wall_us),
      true },
    { "container_cpu_cfs_throttled_seconds_total", "counter",
      "Total time duration the container has been throttled.", "", NANOSECONDS, CPU(throttled_ns),
      CPU(wall_us), true },
    { "container_spec_cpu_period", "gauge", "CPU period of the container.", "", PLAIN,
      CPU(limit_period_us), 0, false },
    { "container_spec_cpu_quota", "gauge", "CPU quota of the container.", "", PLAIN,
      CPU(limit_quota_us), 0, false },
    { "container_spec_cpu_shares", "gauge", "CPU share of the container.", "", PLAIN, CPU(shares),
      0, false },
    { "container_memory_working_set_bytes", "gauge", "Current working set in bytes.", "", PLAIN,
      MEMORY(working_set), MEMORY(wall_us), true },
    { "container_memory_usage_bytes", "gauge",
      "Current memory usage in bytes, including all memory regardless of when it was accessed.", "",
      PLAIN, MEMORY(usage), MEMORY(wall_us), true },
    { "container_memory_rss", "gauge", "Size of RSS in bytes.", "", PLAIN, MEMORY(rss),
      MEMORY(wall_us), true },
    { "container_memory_cache", "gauge", "Number of bytes of page cache memory.", "", PLAIN,
      MEMORY(cache), MEMORY(wall_us), true },
    { "container_memory_swap", "gauge", "Container swap usage in bytes.", "", PLAIN, MEMORY(swap),
      MEMORY(wall_us), true },
    { "container_memory_mapped_file", "gauge", "Size of memory mapped files in bytes.", "", PLAIN,
      MEMORY(mapped_file), MEMORY(wall_us), true },
    { "container_memory_max_usage_bytes", "gauge", "Maximum memory usage recorded in bytes.", "",
      PLAIN, MEMORY(max_usage), MEMORY(wall_us), true },
    { "container_memory_failcnt", "counter", "Number of memory usage hits limits.", "", PLAIN,
      MEMORY(failures), MEMORY(wall_us), true },
    { "container_memory_failures_total", "counter",
      "Cumulative count of memory allocation failures.",
      ",failure_type=\"pgfault\",scope=\"container\"", PLAIN, MEMORY(page_faults), MEMORY(wall_us),
      true },
    { "container_memory_failures_total", "counter",
      "Cumulative count of memory allocation failures.",
      ",failure_type=\"pgmajfault\",scope=\"container\"", PLAIN, MEMORY(major_page_faults),
      MEMORY(wall_us), true },
    { "container_spec_memory_limit_bytes", "gauge", "Memory limit for the container.", "", PLAIN,
      MEMORY(limit), 0, false },
    { "container_fs_usage_bytes", "gauge",
      "Number of bytes that are consumed by the container on this filesystem.", ",device=\"\"",
      PLAIN, OWN(rootfs.used), OWN(rootfs.wall_us), false },
    { "container_fs_limit_bytes", "gauge",
      "Number of bytes that can be consumed by the container on this filesystem.", ",device=\"\"",
      PLAIN, OWN(rootfs.capacity), OWN(rootfs.wall_us), false },
    { "container_processes", "gauge", "Number of processes running inside the container.", "",
      PLAIN, OWN(processes), 0, false },
    { "container_threads", "gauge", "Number of threads running inside the container.", "", PLAIN,
      OWN(threads), 0, false },
    { "container_oom_events_total", "counter",
      "Count of out of memory events observed for the container.", "", PLAIN, OWN(oom_kills), 0,
      false },
    { "container_start_time_seconds", "gauge",
      "Start time of the container since unix epoch in seconds.", "", MICROSECONDS, OWN(start_us),
      0, false },
};

static const struct network_metric {
    const char *name, *help;
    size_t at;
} network_metrics[] = {
#define NETWORK(name, help, member)                                                                \
    {                                                                                              \
        "container_network_" name, help, offsetof(struct agent_stats_interface, member)            \
    }
    NETWORK("receive_bytes_total", "Cumulative count of bytes received", rx_bytes),
    NETWORK("receive_errors_total", "Cumulative count of errors encountered while receiving",
            rx_errors),
    NETWORK("receive_packets_total", "Cumulative count of packets received", rx_packets),
    NETWORK("receive_packets_dropped_total", "Cumulative count of packets dropped while receiving",
            rx_dropped),
    NETWORK("transmit_bytes_total", "Cumulative count of bytes transmitted", tx_bytes),
    NETWORK("transmit_errors_total", "Cumulative count of errors encountered while transmitting",
            tx_errors),
    NETWORK("transmit_packets_total", "Cumulative count of packets transmitted", tx_packets),
    NETWORK("transmit_packets_dropped_total",
            "Cumulative count of packets dropped while transmitting", tx_dropped),
};

static uint64_t number_at(const void *p, size_t at)
{
    uint64_t v;
    memcpy(&v, (const char *)p + at, sizeof v);
    return v;
}

/* Labels as cAdvisor sets them in a kubelet: whole pods have an empty container. */
static void add_labels(struct buf *to, const char *name, const struct agent_stats_pod *p,
                       const struct agent_stats_container *c)
{
    scoped(free_scoped) char *id = xasprintf("/kubepods/pod" STR_FMT "%s" STR_FMT, STR_ARG(p->uid),
                                             c->id.n ? "/" : "", STR_ARG(c->id));
    (void)buf_add_cstr(to, name);
    (void)buf_add_char(to, '{');
    add_label(to, "container", c->name);
    add_label(to, "id", str_of(id));
    add_label(to, "image", c->image);
    add_label(to, "name", c->id);
    add_label(to, "namespace", p->ns);
    add_label(to, "pod", p->name);
}

static void add_cadvisor(struct buf *to, const struct cadvisor_metric *m,
                         const struct agent_stats_pod *p, const struct agent_stats_container *c)
{
    uint64_t value = number_at(c, m->at);
    int64_t wall_us = m->time_at ? (int64_t)number_at(c, m->time_at) : 0;
    if (value == AGENT_STATS_UNKNOWN || (m->time_at && wall_us == 0) ||
        (m->unit == MICROSECONDS && value == 0))
        return;
    add_labels(to, m->name, p, c);
    (void)buf_printf(to, "%s}", m->labels);
    add_value(to, value, m->unit, wall_us);
}

/* A pod as if it were a container without a name. */
static void as_container(const struct agent_stats_pod *p, struct agent_stats_container *ret)
{
    agent_stats_init_container(ret);
    ret->cpu = p->cpu;
    ret->memory = p->memory;
}

static void add_cadvisor_all(struct buf *to, const struct cadvisor_metric *m,
                             const struct agent_stats *s)
{
    for (size_t i = 0; i < s->n_pods; i++) {
        const struct agent_stats_pod *p = &s->pods[i];
        struct agent_stats_container whole;
        as_container(p, &whole);
        if (m->of_pods)
            add_cadvisor(to, m, p, &whole);
        for (size_t k = 0; k < p->n_containers; k++)
            add_cadvisor(to, m, p, &p->containers[k]);
    }
}

static void add_network_metric(struct buf *to, const struct network_metric *m,
                               const struct agent_stats *s)
{
    struct agent_stats_container whole;
    agent_stats_init_container(&whole);
    metric_head(to, m->name, "counter", m->help);
    for (size_t i = 0; i < s->n_pods; i++) {
        const struct agent_stats_pod *p = &s->pods[i];
        for (size_t k = 0; p->network.wall_us && k < p->network.n; k++) {
            uint64_t value = number_at(&p->network.p[k], m->at);
            if (value == AGENT_STATS_UNKNOWN)
                continue;
            add_labels(to, m->name, p, &whole);
            add_label(to, "interface", str_of(p->network.p[k].name));
            (void)buf_add_char(to, '}');
            add_value(to, value, PLAIN, p->network.wall_us);
        }
    }
}

static void add_machine(struct buf *to, const char *name, const char *help, uint64_t value)
{
    if (value == AGENT_STATS_UNKNOWN)
        return;
    metric_head(to, name, "gauge", help);
    (void)buf_printf(to, "%s %llu\n", name, (unsigned long long)value);
}

void agent_stats_cadvisor(struct buf *to, const struct agent_stats *s)
{
    for (size_t i = 0; i < ARRAY_LEN(cadvisor_metrics); i++) {
        const struct cadvisor_metric *m = &cadvisor_metrics[i];
        if (i == 0 || strcmp(m[-1].name, m->name) != 0)
            metric_head(to, m->name, m->type, m->help);
        add_cadvisor_all(to, m, s);
    }
    for (size_t i = 0; i < ARRAY_LEN(network_metrics); i++)
        add_network_metric(to, &network_metrics[i], s);
    add_machine(to, "machine_cpu_cores", "Number of logical CPU cores.", s->cores);
    add_machine(to, "machine_memory_bytes", "Amount of memory installed on the machine.",
                s->memory_bytes);
}
