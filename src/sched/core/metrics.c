/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figures, with upstream's names and buckets. Durations are of the machine's clock, not of the time
 * that the caller gives: they are for people and decide nothing.
 */
#include "sched/core/internal.h"

#include "base/clock.h"

/* first, factor, number of bounds */
struct scale {
    double first, factor;
    unsigned n;
};
static const struct scale attempt_scale = { 0.001, 2, 15 }, point_scale = { 0.0001, 2, 12 },
                          sli_scale = { 0.01, 2, 20 }, victims_scale = { 1, 2, 7 },
                          tries_scale = { 1, 2, 5 };

static void observe(struct histogram *h, const struct scale *scale, double value)
{
    double bound = scale->first;
    unsigned i = 0;
    while (i < scale->n && value > bound) {
        bound *= scale->factor;
        i++;
    }
    h->counts[i]++;
    h->sum += value;
}

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

void sched_metrics_point(struct attempt *a, unsigned point, enum sched_code code)
{
    if (!a->metrics)
        return;
    struct histogram **h = &a->metrics->points[point][code];
    if (!*h)
        *h = xnew(struct histogram);
    uint64_t now = clock_mono_ns();
    observe(*h, &point_scale, (double)(now - a->point_ns) / 1e9);
    a->point_ns = now;
}

static double since(uint64_t start_ns)
{
    return (double)(clock_mono_ns() - start_ns) / 1e9;
}

void sched_metrics_attempt(struct attempt *a, unsigned result)
{
    if (!a->metrics)
        return;
    a->metrics->attempts[result]++;
    observe(&a->metrics->latency[result], &attempt_scale, since(a->started_ns));
}

void sched_metrics_algorithm(struct attempt *a)
{
    observe(&a->s->algorithm, &attempt_scale, since(a->started_ns));
}

void sched_metrics_bound(struct attempt *a)
{
    struct sched *s = a->s;
    sched_metrics_attempt(a, RESULT_SCHEDULED);
    observe(&s->pod_attempts, &tries_scale, a->attempts);
    struct histogram **h = &s->sli[MIN(a->attempts, (unsigned)ARRAY_LEN(s->sli) - 1)];
    if (!*h)
        *h = xnew(struct histogram);
    observe(*h, &sli_scale, (double)(s->now_ms - MIN(s->now_ms, a->first_ms)) / 1e3);
}

void sched_metrics_permit(struct attempt *a, enum sched_code code)
{
    observe(&a->s->permit_wait[code], &attempt_scale, since(a->permit_began_ns));
}

void sched_metrics_victims(struct sched *s, size_t n)
{
    observe(&s->victims, &victims_scale, (double)n);
}

/* ---- writing ---- */

static void head(struct buf *out, const char *name, const char *type, const char *help)
{
    (void)buf_printf(out, "# HELP scheduler_%s %s\n# TYPE scheduler_%s %s\n", name, help, name,
                     type);
}

/* labels: "a=\"b\"" or "" */
static void put(struct buf *out, const char *name, const char *labels, const struct scale *scale,
                const struct histogram *h)
{
    const char *comma = *labels ? "," : "";
    uint64_t n = 0;
    double bound = scale->first;
    for (unsigned i = 0; i < scale->n; i++, bound *= scale->factor) {
        n += h->counts[i];
        (void)buf_printf(out, "scheduler_%s_bucket{%s%sle=\"%g\"} %llu\n", name, labels, comma,
                         bound, (unsigned long long)n);
    }
    n += h->counts[scale->n];
    (void)buf_printf(out, "scheduler_%s_bucket{%s%sle=\"+Inf\"} %llu\n", name, labels, comma,
                     (unsigned long long)n);
    const char *open = *labels ? "{" : "", *close = *labels ? "}" : "";
    (void)buf_printf(out, "scheduler_%s_sum%s%s%s %g\nscheduler_%s_count%s%s%s %llu\n", name, open,
                     labels, close, h->sum, name, open, labels, close, (unsigned long long)n);
}

static const char *const result_names[RESULT_COUNT] = { "scheduled", "unschedulable", "error" };

static void put_attempts(const struct sched *s, struct buf *out)
{
    head(out, "schedule_attempts_total", "counter", "Attempts to place pods, by their result.");
    for (size_t i = 0; i < s->profile_metrics.n; i++) {
        const struct profile_metrics *m = s->profile_metrics.p[i];
        for (unsigned r = 0; r < RESULT_COUNT; r++)
            if (m->attempts[r])
                (void)buf_printf(
                    out, "scheduler_schedule_attempts_total{profile=\"%s\",result=\"%s\"} %llu\n",
                    m->name, result_names[r], (unsigned long long)m->attempts[r]);
    }
    head(out, "scheduling_attempt_duration_seconds", "histogram",
         "Attempts, with binding, by their result.");
    for (size_t i = 0; i < s->profile_metrics.n; i++) {
        const struct profile_metrics *m = s->profile_metrics.p[i];
        for (unsigned r = 0; r < RESULT_COUNT; r++) {
            if (!m->attempts[r])
                continue;
            char *labels = xasprintf("profile=\"%s\",result=\"%s\"", m->name, result_names[r]);
            put(out, "scheduling_attempt_duration_seconds", labels, &attempt_scale, &m->latency[r]);
            free(labels);
        }
    }
}

static void put_points(const struct sched *s, struct buf *out)
{
    head(out, "framework_extension_point_duration_seconds", "histogram",
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
                put(out, "framework_extension_point_duration_seconds", labels, &point_scale,
                    m->points[p][c]);
                free(labels);
            }
        }
    }
}

static void put_pods(const struct sched *s, struct buf *out)
{
    head(out, "pod_scheduling_attempts", "histogram", "Attempts that pods took to be placed.");
    put(out, "pod_scheduling_attempts", "", &tries_scale, &s->pod_attempts);
    head(out, "pod_scheduling_sli_duration_seconds", "histogram",
         "Pods, from entering the queue to being bound, by attempts.");
    for (size_t i = 0; i < ARRAY_LEN(s->sli); i++) {
        if (!s->sli[i])
            continue;
        char *labels = xasprintf("attempts=\"%zu%s\"", i, i + 1 == ARRAY_LEN(s->sli) ? "+" : "");
        put(out, "pod_scheduling_sli_duration_seconds", labels, &sli_scale, s->sli[i]);
        free(labels);
    }
    head(out, "permit_wait_duration_seconds", "histogram", "Waiting in Permit.");
    for (unsigned c = 0; c < CODE_COUNT; c++) {
        char *labels = xasprintf("result=\"%s\"", sched_code_name((enum sched_code)c));
        const struct histogram *h = &s->permit_wait[c];
        bool used = false;
        for (unsigned i = 0; i <= attempt_scale.n; i++)
            used |= h->counts[i] > 0;
        if (used)
            put(out, "permit_wait_duration_seconds", labels, &attempt_scale, h);
        free(labels);
    }
}

void sched_metrics(const struct sched *s, struct buf *out)
{
    struct sched_stats stats;
    sched_stats(s, &stats);
    sched_queue_metrics(s->queue, out);
    put_attempts(s, out);
    head(out, "scheduling_algorithm_duration_seconds", "histogram",
         "Filtering, scoring and preemption of an attempt.");
    put(out, "scheduling_algorithm_duration_seconds", "", &attempt_scale, &s->algorithm);
    put_points(s, out);
    put_pods(s, out);
    head(out, "preemption_attempts_total", "counter", "Attempts to make room by preemption.");
    (void)buf_printf(out, "scheduler_preemption_attempts_total %llu\n",
                     (unsigned long long)s->preemption_attempts);
    head(out, "preemption_victims", "histogram", "Pods that made room, by preemption.");
    put(out, "preemption_victims", "", &victims_scale, &s->victims);
    head(out, "cache_size", "gauge", "Nodes, pods and assumed pods that are known.");
    (void)buf_printf(out,
                     "scheduler_cache_size{type=\"nodes\"} %zu\n"
                     "scheduler_cache_size{type=\"pods\"} %zu\n"
                     "scheduler_cache_size{type=\"assumed_pods\"} %zu\n",
                     stats.nodes, stats.pods, stats.assumed);
    head(out, "goroutines", "gauge", "Binding cycles under way.");
    (void)buf_printf(out, "scheduler_goroutines{operation=\"binding\"} %zu\n", stats.binding);
    head(out, "dropped_events_total", "counter", "Events that the API could not take in time.");
    (void)buf_printf(out, "scheduler_dropped_events_total %llu\n",
                     (unsigned long long)s->recorder.dropped);
}
