/* SPDX-License-Identifier: Apache-2.0 */
/* Counters; see metrics.h. */
#include "api/metrics.h"

#include "base/mem.h"

static const struct {
    uint64_t us;
    const char *le;
} bounds[METRICS_BUCKETS] = { { 100, "0.0001" }, { 250, "0.00025" }, { 500, "0.0005" },
                              { 1000, "0.001" }, { 2500, "0.0025" }, { 5000, "0.005" },
                              { 10000, "0.01" }, { 50000, "0.05" },  { 100000, "0.1" },
                              { 500000, "0.5" }, { 1000000, "1" },   { 5000000, "5" } };

void metrics_fini(struct metrics *m)
{
    map_each (e, &m->series)
        free(e->value);
    map_fini(&m->series);
}

void metrics_request(struct metrics *m, struct str labels, uint64_t us)
{
    struct metrics_series *s = map_get(&m->series, labels);
    if (!s) {
        if (m->series.n >= METRICS_SERIES_MAX) {
            m->dropped++;
            return;
        }
        s = xnew(struct metrics_series);
        (void)map_put(&m->series, labels, s);
    }
    s->n++;
    s->sum_us += us;
    for (size_t i = 0; i < METRICS_BUCKETS; i++)
        s->bucket[i] += us <= bounds[i].us;
}

static void write_histogram(struct buf *to, struct str labels, const struct metrics_series *s)
{
    static const char name[] = "apiserver_request_duration_seconds";
    for (size_t i = 0; i < METRICS_BUCKETS; i++)
        (void)buf_printf(to, "%s_bucket{" STR_FMT ",le=\"%s\"} %llu\n", name, STR_ARG(labels),
                         bounds[i].le, (unsigned long long)s->bucket[i]);
    (void)buf_printf(to, "%s_bucket{" STR_FMT ",le=\"+Inf\"} %llu\n", name, STR_ARG(labels),
                     (unsigned long long)s->n);
    (void)buf_printf(to, "%s_sum{" STR_FMT "} %llu.%06llu\n", name, STR_ARG(labels),
                     (unsigned long long)(s->sum_us / 1000000),
                     (unsigned long long)(s->sum_us % 1000000));
    (void)buf_printf(to, "%s_count{" STR_FMT "} %llu\n", name, STR_ARG(labels),
                     (unsigned long long)s->n);
}

void metrics_write(const struct metrics *m, struct buf *to)
{
    (void)buf_add_cstr(to, "# HELP apiserver_request_total Requests by verb, resource and code.\n"
                           "# TYPE apiserver_request_total counter\n");
    map_each (e, &m->series) {
        const struct metrics_series *s = e->value;
        (void)buf_printf(to, "apiserver_request_total{" STR_FMT "} %llu\n", STR_ARG(e->key),
                         (unsigned long long)s->n);
    }
    (void)buf_add_cstr(
        to,
        "# HELP apiserver_request_duration_seconds Time from the head of a request to its answer.\n"
        "# TYPE apiserver_request_duration_seconds histogram\n");
    map_each (e, &m->series)
        write_histogram(to, e->key, e->value);
    (void)buf_printf(to,
                     "# HELP apiserver_longrunning_requests Watches that are open.\n"
                     "# TYPE apiserver_longrunning_requests gauge\n"
                     "apiserver_longrunning_requests{verb=\"WATCH\"} %zu\n"
                     "# HELP apiserver_watch_events_total Events sent to watchers.\n"
                     "# TYPE apiserver_watch_events_total counter\n"
                     "apiserver_watch_events_total %llu\n",
                     m->watchers, (unsigned long long)m->watch_events);
}
