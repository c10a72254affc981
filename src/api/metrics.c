/* SPDX-License-Identifier: Apache-2.0 */
/* Counters; see metrics.h. */
#include "api/metrics.h"

#include "base/mem.h"

/*
 * In us: upstream's bounds, and finer ones below, since most answers here take less than its first
 * bound.
 */
static const double bounds[METRICS_BUCKETS] = {
    250,    500,    1000,   2500,    5000,    25000,   50000,   100000,  200000,
    400000, 600000, 800000, 1000000, 1250000, 1500000, 2000000, 3000000, 4000000,
    5e6,    6e6,    8e6,    10e6,    15e6,    20e6,    30e6,    45e6,    60e6,
};
static const struct histogram_kind durations = { bounds, METRICS_BUCKETS, 1e6, 6, NULL };

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
    histogram_add(&durations, &s->us, us);
    count_code(s, (uint32_t)code);
}

void metrics_write(const struct metrics *m, struct buf *to)
{
    metric_head(to, "apiserver_request_total", "counter",
                "Requests by verb, resource, scope and HTTP status.");
    map_each (e, &m->series) {
        const struct metrics_series *s = e->value;
        for (size_t i = 0; i < METRICS_CODES_MAX && s->codes[i].code; i++)
            (void)buf_printf(to, "apiserver_request_total{" STR_FMT ",code=\"%u\"} %u\n",
                             STR_ARG(e->key), s->codes[i].code, s->codes[i].n);
    }
    metric_head(to, "apiserver_request_duration_seconds", "histogram",
                "Time from the head of a request to the head of its answer.");
    map_each (e, &m->series)
        histogram_write(to, &durations,
                        &(struct histogram_text){ .name = STR("apiserver_request_duration_seconds"),
                                                  .labels = e->key },
                        histogram_view(&((const struct metrics_series *)e->value)->us));
    metric_head(to, "apiserver_watch_events_total", "counter", "Events sent to watchers.");
    (void)buf_printf(to, "apiserver_watch_events_total %llu\n",
                     (unsigned long long)m->watch_events);
}
