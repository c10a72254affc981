/* SPDX-License-Identifier: Apache-2.0 */
/* Counters; see metrics.h. */
#include "api/metrics.h"

#include "base/mem.h"

/* Upstream's bounds, and finer ones below: most answers here take less than its first. */
static const struct {
    uint64_t us;
    const char *le;
} bounds[METRICS_BUCKETS] = {
    { 250, "0.00025" }, { 500, "0.0005" },   { 1000, "0.001" },  { 2500, "0.0025" },
    { 5000, "0.005" },  { 25000, "0.025" },  { 50000, "0.05" },  { 100000, "0.1" },
    { 200000, "0.2" },  { 400000, "0.4" },   { 600000, "0.6" },  { 800000, "0.8" },
    { 1000000, "1" },   { 1250000, "1.25" }, { 1500000, "1.5" }, { 2000000, "2" },
    { 3000000, "3" },   { 4000000, "4" },    { 5000000, "5" },   { 6000000, "6" },
    { 8000000, "8" },   { 10000000, "10" },  { 15000000, "15" }, { 20000000, "20" },
    { 30000000, "30" }, { 45000000, "45" },  { 60000000, "60" },
};

void metrics_fini(struct metrics *m)
{
    map_each (e, &m->series)
        free(e->value);
    map_fini(&m->series);
}

static void count_code(struct metrics_series *s, uint32_t code)
{
    for (size_t i = 0; i < METRICS_CODES_MAX; i++) {
        if (s->codes[i].code && s->codes[i].code != code)
            continue;
        s->codes[i].code = code;
        s->codes[i].n++;
        return;
    }
}

void metrics_request(struct metrics *m, struct str labels, int code, uint64_t us)
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
    count_code(s, (uint32_t)code);
    for (size_t i = 0; i < METRICS_BUCKETS; i++) {
        if (us <= bounds[i].us) {
            s->bucket[i]++;
            return;
        }
    }
}

void metrics_head(struct buf *to, const char *name, const char *type, const char *help)
{
    (void)buf_printf(to, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void write_histogram(struct buf *to, struct str labels, const struct metrics_series *s)
{
    static const char name[] = "apiserver_request_duration_seconds";
    uint64_t n = 0;
    for (size_t i = 0; i < METRICS_BUCKETS; i++) {
        n += s->bucket[i];
        (void)buf_printf(to, "%s_bucket{" STR_FMT ",le=\"%s\"} %llu\n", name, STR_ARG(labels),
                         bounds[i].le, (unsigned long long)n);
    }
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
    metrics_head(to, "apiserver_request_total", "counter",
                 "Requests by verb, resource, scope and HTTP status.");
    map_each (e, &m->series) {
        const struct metrics_series *s = e->value;
        for (size_t i = 0; i < METRICS_CODES_MAX && s->codes[i].code; i++)
            (void)buf_printf(to, "apiserver_request_total{" STR_FMT ",code=\"%u\"} %u\n",
                             STR_ARG(e->key), s->codes[i].code, s->codes[i].n);
    }
    metrics_head(to, "apiserver_request_duration_seconds", "histogram",
                 "Time from the head of a request to the head of its answer.");
    map_each (e, &m->series)
        write_histogram(to, e->key, e->value);
    metrics_head(to, "apiserver_watch_events_total", "counter", "Events sent to watchers.");
    (void)buf_printf(to, "apiserver_watch_events_total %llu\n",
                     (unsigned long long)m->watch_events);
}
