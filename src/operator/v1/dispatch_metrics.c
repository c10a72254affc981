/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics of work queues and controllers under the names of client-go and controller-runtime, so
 * that their dashboards and alerts can be used.
 *
 * One array of bounds serves both histograms of a duration: client-go's powers of ten are a subset
 * of controller-runtime's bounds.
 */
#include "operator/v1/dispatch_impl.h"

#include <inttypes.h>

#define BOUNDS(X)                                                                                  \
    X(10, 1)                                                                                       \
    X(100, 1)                                                                                      \
    X(250, 0)                                                                                      \
    X(500, 0)                                                                                      \
    X(1e3, 1)                                                                                      \
    X(2500, 0)                                                                                     \
    X(5e3, 0)                                                                                      \
    X(10e3, 1)                                                                                     \
    X(25e3, 0)                                                                                     \
    X(50e3, 0)                                                                                     \
    X(100e3, 1)                                                                                    \
    X(250e3, 0)                                                                                    \
    X(500e3, 0)                                                                                    \
    X(1e6, 1)                                                                                      \
    X(2.5e6, 0)                                                                                    \
    X(5e6, 0)                                                                                      \
    X(10e6, 1)                                                                                     \
    X(30e6, 0)                                                                                     \
    X(60e6, 0)                                                                                     \
    X(100e6, 1)                                                                                    \
    X(1000e6, 1)
#define US(us, is_client_gos)            us,
#define IS_CLIENT_GOS(us, is_client_gos) is_client_gos,
static const double bounds_us[DISPATCH_BOUNDS] = { BOUNDS(US) };
static const bool are_client_gos[DISPATCH_BOUNDS] = { BOUNDS(IS_CLIENT_GOS) };
const struct histogram_kind dispatch_times_kind = { bounds_us, DISPATCH_BOUNDS, 1e6, 6, NULL };

/* ---- text ---- */

struct dispatch_metrics_series {
    struct buf *to;
    const char *metric;
    const struct dispatch_operator *o;
    const struct dispatch_controller *c;
    const struct work_queue_stats *stats;
    bool is_brief; /* histograms without buckets */
};

/* client-go's metrics also have the queue's name. more: further labels, with their comma. */
static char *labels(const struct dispatch_metrics_series *s, const char *more)
{
    if (strncmp(s->metric, "workqueue", 9) == 0)
        return xasprintf("name=\"%s\",controller=\"%s\",operator=\"%s\"%s", s->c->name, s->c->name,
                         s->o->name, more);
    return xasprintf("controller=\"%s\",operator=\"%s\"%s", s->c->name, s->o->name, more);
}

static void number(const struct dispatch_metrics_series *s, const char *more, uint64_t value)
{
    scoped(free_scoped) char *of = labels(s, more);
    (void)buf_printf(s->to, "%s{%s} %" PRIu64 "\n", s->metric, of, value);
}

static void duration(const struct dispatch_metrics_series *s, uint64_t us)
{
    scoped(free_scoped) char *of = labels(s, "");
    (void)buf_printf(s->to, "%s{%s} %" PRIu64 ".%06" PRIu64 "\n", s->metric, of, us / 1000000,
                     us % 1000000);
}

static void histogram(const struct dispatch_metrics_series *s, const struct dispatch_times *t,
                      bool is_client_gos)
{
    scoped(free_scoped) char *of = labels(s, "");
    const struct histogram_text text = { .name = str_of(s->metric),
                                         .labels = str_of(of),
                                         .lines = s->is_brief ? HISTOGRAM_TOTAL : HISTOGRAM_ALL,
                                         .is_shown = is_client_gos ? are_client_gos : NULL };
    histogram_write(s->to, &dispatch_times_kind, &text, histogram_view(t));
}

/* controller-runtime's numbers for the priorities. */
static void write_depth(const struct dispatch_metrics_series *s)
{
    static const char *const names[WORK_PRIORITY_COUNT] = { "-100", "0", "100" };
    size_t above = 0;
    for (size_t p = WORK_PRIORITY_COUNT; p-- > 0;) {
        size_t n = work_queue_depth_of(s->c->queue, (enum work_priority)p);
        char more[32];
        (void)snprintf(more, sizeof more, ",priority=\"%s\"", names[p]);
        number(s, more, n - above);
        above = n;
    }
}

static void write_adds(const struct dispatch_metrics_series *s)
{
    number(s, "", s->stats->adds);
}

static void write_retries(const struct dispatch_metrics_series *s)
{
    number(s, "", s->stats->retries);
}

static void write_queued(const struct dispatch_metrics_series *s)
{
    if (s->c->counts)
        histogram(s, &s->c->counts->queued, true);
}

static void write_worked(const struct dispatch_metrics_series *s)
{
    if (s->c->counts)
        histogram(s, &s->c->counts->worked, true);
}

static void write_reconcile(const struct dispatch_metrics_series *s)
{
    if (s->c->counts)
        histogram(s, &s->c->counts->worked, false);
}

static void write_unfinished(const struct dispatch_metrics_series *s)
{
    duration(s, s->stats->unfinished_us);
}

static void write_longest(const struct dispatch_metrics_series *s)
{
    duration(s, s->stats->longest_running_us);
}

static void write_total(const struct dispatch_metrics_series *s)
{
    static const struct dispatch_counts none;
    const struct dispatch_counts *c = s->c->counts ? s->c->counts : &none;
    number(s, ",result=\"success\"", c->success);
    number(s, ",result=\"requeue_after\"", c->again);
    number(s, ",result=\"error\"", c->failed + c->refused);
}

static void write_errors(const struct dispatch_metrics_series *s)
{
    number(s, "", s->c->counts ? s->c->counts->failed + s->c->counts->refused : 0);
}

static void write_terminal(const struct dispatch_metrics_series *s)
{
    number(s, "", s->c->counts ? s->c->counts->refused : 0);
}

static void write_panics(const struct dispatch_metrics_series *s)
{
    number(s, "", s->c->counts ? s->c->counts->trapped : 0);
}

static void write_active(const struct dispatch_metrics_series *s)
{
    number(s, "", s->stats->running);
}

static void write_max(const struct dispatch_metrics_series *s)
{
    number(s, "", s->c->concurrency);
}

static const struct {
    const char *name, *type, *help;
    void (*write)(const struct dispatch_metrics_series *s);
} metrics[] = {
    { "workqueue_depth", "gauge", "Keys that are ready, by priority.", write_depth },
    { "workqueue_adds_total", "counter", "Keys added, those that were merged left out.",
      write_adds },
    { "workqueue_queue_duration_seconds", "histogram", "From ready to taken.", write_queued },
    { "workqueue_work_duration_seconds", "histogram", "From taken to finished.", write_worked },
    { "workqueue_unfinished_work_seconds", "gauge", "Time that running keys have taken so far.",
      write_unfinished },
    { "workqueue_longest_running_processor_seconds", "gauge", "The longest of these.",
      write_longest },
    { "workqueue_retries_total", "counter", "Keys added with a delay.", write_retries },
    { "controller_runtime_reconcile_total", "counter", "Activations by result.", write_total },
    { "controller_runtime_reconcile_errors_total", "counter", "Activations that failed.",
      write_errors },
    { "controller_runtime_terminal_reconcile_errors_total", "counter",
      "Activations that failed for good.", write_terminal },
    { "controller_runtime_reconcile_panics_total", "counter",
      "Activations that ended in a trap or with their process.", write_panics },
    { "controller_runtime_reconcile_time_seconds", "histogram", "Length of activations.",
      write_reconcile },
    { "controller_runtime_active_workers", "gauge", "Keys being worked on.", write_active },
    { "controller_runtime_max_concurrent_reconciles", "gauge", "Keys at once at most.", write_max },
};

static size_t count_active(const struct dispatch *d)
{
    size_t n = 0;
    list_each (node, &d->operators) {
        const struct dispatch_operator *o = list_entry(node, struct dispatch_operator, node);
        for (size_t i = 0; i < o->n_controllers; i++)
            n += o->controllers[i].counts != NULL;
    }
    return n;
}

void dispatch_metrics(const struct dispatch *d, struct buf *to)
{
    bool is_brief = count_active(d) > DISPATCH_METRICS_DETAILED;
    uint64_t now_us = d->now_us();
    for (size_t m = 0; m < ARRAY_LEN(metrics); m++) {
        metric_head(to, metrics[m].name, metrics[m].type, metrics[m].help);
        list_each (node, &d->operators) {
            const struct dispatch_operator *o = list_entry(node, struct dispatch_operator, node);
            for (size_t i = 0; i < o->n_controllers; i++) {
                const struct dispatch_controller *c = &o->controllers[i];
                struct work_queue_stats stats;
                work_queue_get_stats(c->queue, now_us, &stats);
                metrics[m].write(&(struct dispatch_metrics_series){ to, metrics[m].name, o, c,
                                                                    &stats, is_brief });
            }
        }
    }
}
