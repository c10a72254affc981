/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics of work queues and controllers under the names that client-go and controller-runtime gave
 * them, so that their dashboards and alerts serve here.
 *
 * One array of bounds serves both histograms of a duration: client-go's powers of ten are among
 * controller-runtime's.
 */
#include "operator/v1/dispatch_impl.h"

#include <inttypes.h>

static const struct {
    uint32_t us;
    bool is_client_gos;
    const char *le;
} bounds[DISPATCH_BUCKETS] = {
    { 10, true, "1e-05" },     { 100, true, "0.0001" },    { 250, false, "0.00025" },
    { 500, false, "0.0005" },  { 1000, true, "0.001" },    { 2500, false, "0.0025" },
    { 5000, false, "0.005" },  { 10000, true, "0.01" },    { 25000, false, "0.025" },
    { 50000, false, "0.05" },  { 100000, true, "0.1" },    { 250000, false, "0.25" },
    { 500000, false, "0.5" },  { 1000000, true, "1" },     { 2500000, false, "2.5" },
    { 5000000, false, "5" },   { 10000000, true, "10" },   { 30000000, false, "30" },
    { 60000000, false, "60" }, { 100000000, true, "100" }, { 1000000000, true, "1000" },
};

void dispatch_times_add(struct dispatch_times *t, uint64_t us)
{
    size_t i = 0;
    while (i < DISPATCH_BUCKETS && us > bounds[i].us)
        i++;
    t->buckets[i]++;
    t->sum_us += us;
}

/* ---- text ---- */

struct series {
    struct buf *to;
    const char *metric;
    const struct dispatch_operator *o;
    const struct dispatch_controller *c;
    const struct work_queue_stats *stats;
    bool is_brief; /* histograms without buckets */
};

static void seconds(struct buf *to, uint64_t us)
{
    (void)buf_printf(to, "%" PRIu64 ".%06" PRIu64 "\n", us / 1000000, us % 1000000);
}

/* client-go's metrics have the queue's name as well. */
static void labels(const struct series *s, const char *suffix, const char *more)
{
    bool is_queue = strncmp(s->metric, "workqueue", 9) == 0;
    (void)buf_printf(s->to, "%s%s{", s->metric, suffix);
    if (is_queue)
        (void)buf_printf(s->to, "name=\"%s\",", s->c->name);
    (void)buf_printf(s->to, "controller=\"%s\",operator=\"%s\"%s} ", s->c->name, s->o->name, more);
}

static void number(const struct series *s, const char *more, uint64_t value)
{
    labels(s, "", more);
    (void)buf_printf(s->to, "%" PRIu64 "\n", value);
}

static void duration(const struct series *s, uint64_t us)
{
    labels(s, "", "");
    seconds(s->to, us);
}

static void histogram(const struct series *s, const struct dispatch_times *t, bool is_client_gos)
{
    uint64_t n = 0;
    for (size_t i = 0; i < DISPATCH_BUCKETS; i++) {
        n += t->buckets[i];
        if (s->is_brief || (is_client_gos && !bounds[i].is_client_gos))
            continue;
        char le[32];
        (void)snprintf(le, sizeof le, ",le=\"%s\"", bounds[i].le);
        labels(s, "_bucket", le);
        (void)buf_printf(s->to, "%" PRIu64 "\n", n);
    }
    n += t->buckets[DISPATCH_BUCKETS];
    labels(s, "_bucket", ",le=\"+Inf\"");
    (void)buf_printf(s->to, "%" PRIu64 "\n", n);
    labels(s, "_sum", "");
    seconds(s->to, t->sum_us);
    labels(s, "_count", "");
    (void)buf_printf(s->to, "%" PRIu64 "\n", n);
}

/* controller-runtime's numbers for the priorities. */
static void write_depth(const struct series *s)
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

static void write_adds(const struct series *s)
{
    number(s, "", s->stats->adds);
}

static void write_retries(const struct series *s)
{
    number(s, "", s->stats->retries);
}

static void write_queued(const struct series *s)
{
    if (s->c->counts)
        histogram(s, &s->c->counts->queued, true);
}

static void write_worked(const struct series *s)
{
    if (s->c->counts)
        histogram(s, &s->c->counts->worked, true);
}

static void write_reconcile(const struct series *s)
{
    if (s->c->counts)
        histogram(s, &s->c->counts->worked, false);
}

static void write_unfinished(const struct series *s)
{
    duration(s, s->stats->unfinished_us);
}

static void write_longest(const struct series *s)
{
    duration(s, s->stats->longest_running_us);
}

static void write_total(const struct series *s)
{
    static const struct dispatch_counts none;
    const struct dispatch_counts *c = s->c->counts ? s->c->counts : &none;
    number(s, ",result=\"success\"", c->success);
    number(s, ",result=\"requeue_after\"", c->again);
    number(s, ",result=\"error\"", c->failed + c->refused);
}

static void write_errors(const struct series *s)
{
    number(s, "", s->c->counts ? s->c->counts->failed + s->c->counts->refused : 0);
}

static void write_terminal(const struct series *s)
{
    number(s, "", s->c->counts ? s->c->counts->refused : 0);
}

static void write_panics(const struct series *s)
{
    number(s, "", s->c->counts ? s->c->counts->trapped : 0);
}

static void write_active(const struct series *s)
{
    number(s, "", s->stats->running);
}

static void write_max(const struct series *s)
{
    number(s, "", s->c->concurrency);
}

static const struct {
    const char *name, *type, *help;
    void (*write)(const struct series *s);
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
        (void)buf_printf(to, "# HELP %s %s\n# TYPE %s %s\n", metrics[m].name, metrics[m].help,
                         metrics[m].name, metrics[m].type);
        list_each (node, &d->operators) {
            const struct dispatch_operator *o = list_entry(node, struct dispatch_operator, node);
            for (size_t i = 0; i < o->n_controllers; i++) {
                const struct dispatch_controller *c = &o->controllers[i];
                struct work_queue_stats stats;
                work_queue_get_stats(c->queue, now_us, &stats);
                metrics[m].write(&(struct series){ to, metrics[m].name, o, c, &stats, is_brief });
            }
        }
    }
}
