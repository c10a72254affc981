/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics, with upstream's names and buckets. Durations use the machine's clock, not the time that
 * the caller passes: they are for people and decide nothing.
 */
#include "sched/core/internal.h"

#include "base/clock.h"

#define DOUBLING_5(x)  (x), 2 * (x), 4 * (x), 8 * (x), 16 * (x)
#define DOUBLING_10(x) DOUBLING_5(x), DOUBLING_5(32 * (x))
static const double attempt_bounds[] = { DOUBLING_10(0.001), DOUBLING_5(1024 * 0.001) };
static const double point_bounds[] = { DOUBLING_10(0.0001), 1024 * 0.0001, 2048 * 0.0001 };
static const double sli_bounds[] = { DOUBLING_10(0.01), DOUBLING_10(1024 * 0.01) };
static const double victims_bounds[] = { DOUBLING_5(1), 32, 64 };
static const double tries_bounds[] = { DOUBLING_5(1) };

#define KIND(bounds)                                                                               \
    {                                                                                              \
        bounds, ARRAY_LEN(bounds), 1, -1, NULL                                                     \
    }
static const struct histogram_kind attempt_kind = KIND(attempt_bounds),
                                   point_kind = KIND(point_bounds), sli_kind = KIND(sli_bounds),
                                   victims_kind = KIND(victims_bounds),
                                   tries_kind = KIND(tries_bounds);
_Static_assert(ARRAY_LEN(sli_bounds) == METRIC_BOUNDS_MAX, "the longest of them");

struct profile_metrics *sched_metrics_of(struct sched *s, struct str scheduler_name)
{
    for (size_t i = 0; i < s->profile_metrics.n; i++)
        if (str_is(scheduler_name, s->profile_metrics.p[i]->name))
            return s->profile_metrics.p[i];
    struct profile_metrics *m = xnew(struct profile_metrics);
    m->name = str_dup(scheduler_name);
    vec_push(&s->profile_metrics, m);
    return m;
}

void sched_metrics_fini(struct sched *s)
{
    for (size_t i = 0; i < s->profile_metrics.n; i++) {
        struct profile_metrics *m = s->profile_metrics.p[i];
        for (unsigned p = 0; p < METRIC_POINT_COUNT; p++)
            for (unsigned c = 0; c < CODE_COUNT; c++)
                free(m->points[p][c]);
        free(m->name);
        free(m);
    }
    vec_fini(&s->profile_metrics);
    for (size_t i = 0; i < ARRAY_LEN(s->sli); i++)
        free(s->sli[i]);
}

void sched_metrics_point(struct sched_attempt *a, unsigned point, enum sched_code code)
{
    if (!a->metrics)
        return;
    struct metric_times **h = &a->metrics->points[point][code];
    if (!*h)
        *h = xnew(struct metric_times);
    uint64_t now = clock_mono_ns();
    histogram_add(&point_kind, *h, (double)(now - a->point_ns) / 1e9);
    a->point_ns = now;
}

static double since(uint64_t start_ns)
{
    return (double)(clock_mono_ns() - start_ns) / 1e9;
}

void sched_metrics_attempt(struct sched_attempt *a, unsigned result)
{
    if (!a->metrics)
        return;
    a->metrics->attempts[result]++;
    histogram_add(&attempt_kind, &a->metrics->latency[result], since(a->started_ns));
}

void sched_metrics_algorithm(struct sched_attempt *a)
{
    histogram_add(&attempt_kind, &a->s->algorithm, since(a->started_ns));
}

void sched_metrics_bound(struct sched_attempt *a)
{
    struct sched *s = a->s;
    sched_metrics_attempt(a, RESULT_SCHEDULED);
    histogram_add(&tries_kind, &s->pod_attempts, a->attempts);
    struct metric_times **h = &s->sli[MIN(a->attempts, (unsigned)ARRAY_LEN(s->sli) - 1)];
    if (!*h)
        *h = xnew(struct metric_times);
    histogram_add(&sli_kind, *h, (double)(s->now_ms - MIN(s->now_ms, a->first_ms)) / 1e3);
}

void sched_metrics_permit(struct sched_attempt *a, enum sched_code code)
{
    histogram_add(&attempt_kind, &a->s->permit_wait[code], since(a->permit_began_ns));
}

void sched_metrics_victims(struct sched *s, size_t n)
{
    histogram_add(&victims_kind, &s->victims, (double)n);
}

/* ---- writing ---- */

static void put(struct buf *out, const char *name, const char *labels,
                const struct histogram_kind *kind, const struct metric_times *h)
{
    histogram_write(out, kind,
                    &(struct histogram_text){ .name = str_of(name), .labels = str_of(labels) },
                    histogram_view(h));
}

static const char *const result_names[RESULT_COUNT] = { "scheduled", "unschedulable", "error" };

static void put_attempts(const struct sched *s, struct buf *out)
{
    metric_head(out, "scheduler_schedule_attempts_total", "counter",
                "Attempts to place pods, by their result.");
    for (size_t i = 0; i < s->profile_metrics.n; i++) {
        const struct profile_metrics *m = s->profile_metrics.p[i];
        for (unsigned r = 0; r < RESULT_COUNT; r++)
            if (m->attempts[r])
                (void)buf_printf(
                    out, "scheduler_schedule_attempts_total{profile=\"%s\",result=\"%s\"} %llu\n",
                    m->name, result_names[r], (unsigned long long)m->attempts[r]);
    }
    metric_head(out, "scheduler_scheduling_attempt_duration_seconds", "histogram",
                "Attempts, with binding, by their result.");
    for (size_t i = 0; i < s->profile_metrics.n; i++) {
        const struct profile_metrics *m = s->profile_metrics.p[i];
        for (unsigned r = 0; r < RESULT_COUNT; r++) {
            if (!m->attempts[r])
                continue;
            char *labels = xasprintf("profile=\"%s\",result=\"%s\"", m->name, result_names[r]);
            put(out, "scheduler_scheduling_attempt_duration_seconds", labels, &attempt_kind,
                &m->latency[r]);
            free(labels);
        }
    }
}

static void put_points(const struct sched *s, struct buf *out)
{
    metric_head(out, "scheduler_framework_extension_point_duration_seconds", "histogram",
                "All plugins of an extension point in one attempt.");
    for (size_t i = 0; i < s->profile_metrics.n; i++) {
        const struct profile_metrics *m = s->profile_metrics.p[i];
        for (unsigned p = 0; p < METRIC_POINT_COUNT; p++) {
            for (unsigned c = 0; c < CODE_COUNT; c++) {
                if (!m->points[p][c])
                    continue;
                char *labels = xasprintf(
                    "extension_point=\"%s\",profile=\"%s\",status=\"%s\"",
                    p == POINT_UNRESERVE ? "Unreserve" : sched_point_name((enum sched_point)p),
                    m->name, sched_code_name((enum sched_code)c));
                put(out, "scheduler_framework_extension_point_duration_seconds", labels,
                    &point_kind, m->points[p][c]);
                free(labels);
            }
        }
    }
}

static void put_pods(const struct sched *s, struct buf *out)
{
    metric_head(out, "scheduler_pod_scheduling_attempts", "histogram",
                "Attempts that pods took to be placed.");
    put(out, "scheduler_pod_scheduling_attempts", "", &tries_kind, &s->pod_attempts);
    metric_head(out, "scheduler_pod_scheduling_sli_duration_seconds", "histogram",
                "Pods, from entering the queue to being bound, by attempts.");
    for (size_t i = 0; i < ARRAY_LEN(s->sli); i++) {
        if (!s->sli[i])
            continue;
        char *labels = xasprintf("attempts=\"%zu%s\"", i, i + 1 == ARRAY_LEN(s->sli) ? "+" : "");
        put(out, "scheduler_pod_scheduling_sli_duration_seconds", labels, &sli_kind, s->sli[i]);
        free(labels);
    }
    metric_head(out, "scheduler_permit_wait_duration_seconds", "histogram", "Waiting in Permit.");
    for (unsigned c = 0; c < CODE_COUNT; c++) {
        char *labels = xasprintf("result=\"%s\"", sched_code_name((enum sched_code)c));
        const struct metric_times *h = &s->permit_wait[c];
        if (h->n)
            put(out, "scheduler_permit_wait_duration_seconds", labels, &attempt_kind, h);
        free(labels);
    }
}

void sched_metrics(const struct sched *s, struct buf *out)
{
    struct sched_stats stats;
    sched_stats(s, &stats);
    sched_queue_metrics(s->queue, out);
    put_attempts(s, out);
    metric_head(out, "scheduler_scheduling_algorithm_duration_seconds", "histogram",
                "Filtering, scoring and preemption of an attempt.");
    put(out, "scheduler_scheduling_algorithm_duration_seconds", "", &attempt_kind, &s->algorithm);
    put_points(s, out);
    put_pods(s, out);
    metric_head(out, "scheduler_preemption_attempts_total", "counter",
                "Attempts to make room by preemption.");
    (void)buf_printf(out, "scheduler_preemption_attempts_total %llu\n",
                     (unsigned long long)s->preemption_attempts);
    metric_head(out, "scheduler_preemption_victims", "histogram",
                "Pods that made room, by preemption.");
    put(out, "scheduler_preemption_victims", "", &victims_kind, &s->victims);
    metric_head(out, "scheduler_cache_size", "gauge",
                "Nodes, pods and assumed pods that are known.");
    (void)buf_printf(out,
                     "scheduler_cache_size{type=\"nodes\"} %zu\n"
                     "scheduler_cache_size{type=\"pods\"} %zu\n"
                     "scheduler_cache_size{type=\"assumed_pods\"} %zu\n",
                     stats.nodes, stats.pods, stats.assumed);
    metric_head(out, "scheduler_goroutines", "gauge", "Binding cycles under way.");
    (void)buf_printf(out, "scheduler_goroutines{operation=\"binding\"} %zu\n", stats.binding);
    metric_head(out, "scheduler_dropped_events_total", "counter",
                "Events that the API could not take in time.");
    (void)buf_printf(out, "scheduler_dropped_events_total %llu\n",
                     (unsigned long long)s->recorder.dropped);
}
