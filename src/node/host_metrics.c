/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prometheus text about the operator host. Controllers' metrics have controller-runtime's names and
 * come from v1_host_metrics(); metrics of dormouse alone begin with dormouse_.
 */
#include "node/host_impl.h"

#include "client/watch_hub.h"
#include "wasm/confine.h"

#include <inttypes.h>

static void gauge(struct buf *to, const char *name, const char *type, const char *help,
                  uint64_t value)
{
    metric_head(to, name, type, help);
    (void)buf_printf(to, "%s %" PRIu64 "\n", name, value);
}

/* ---- totals of all guests ---- */

struct sums {
    uint64_t resident, swap, restarts, queued;
};

static void add_sums(struct guest *g, void *arg)
{
    struct sums *sums = arg;
    struct guest_stats s;
    guest_get_stats(g, &s);
    sums->resident += s.resident_bytes;
    sums->swap += s.swap_bytes;
    sums->restarts += s.restarts;
    sums->queued += s.queued;
}

static void wake_histogram(struct buf *to, const struct guest_host_stats *g)
{
    metric_head(to, "dormouse_guest_wake_seconds", "histogram",
                "From the decision to wake a guest until it has handled what it was woken for.");
    histogram_write(to, &guest_wake_kind,
                    &(struct histogram_text){ .name = STR("dormouse_guest_wake_seconds") },
                    histogram_view(&g->wake_us));
}

/* ---- per operator ---- */

struct host_metrics_column {
    const char *name, *type, *help;
    uint64_t (*value)(const struct guest_stats *s);
};

#define COLUMN(field)                                                                              \
    static uint64_t get_##field(const struct guest_stats *s)                                       \
    {                                                                                              \
        return s->field;                                                                           \
    }
COLUMN(activations)
COLUMN(wakes)
COLUMN(suspends)
COLUMN(restarts)
COLUMN(resident_bytes)
COLUMN(swap_bytes)

static const struct host_metrics_column columns[] = {
    { "dormouse_operator_activations_total", "counter", "Entries into its guest.",
      get_activations },
    { "dormouse_operator_loads_total", "counter", "Wakes from its swap file.", get_wakes },
    { "dormouse_operator_suspends_total", "counter", "Times it was written to its swap file.",
      get_suspends },
    { "dormouse_operator_restarts_total", "counter", "Restarts after failures.", get_restarts },
    { "dormouse_operator_resident_bytes", "gauge", "Memory while awake, 0 asleep.",
      get_resident_bytes },
    { "dormouse_operator_swap_bytes", "gauge", "Blocks of its swap file.", get_swap_bytes },
};

struct rows {
    struct buf *to;
    const struct host_metrics_column *column;
};

static void add_label(struct buf *to, const struct guest_stats *s)
{
    (void)buf_printf(to, "{operator=\"%s/%s\"", s->namespace, s->name);
}

static void add_row(struct guest *g, void *arg)
{
    const struct rows *rows = arg;
    struct guest_stats s;
    guest_get_stats(g, &s);
    (void)buf_add_cstr(rows->to, rows->column->name);
    add_label(rows->to, &s);
    (void)buf_printf(rows->to, "} %" PRIu64 "\n", rows->column->value(&s));
}

static void add_wake_rows(struct guest *g, void *arg)
{
    struct buf *to = arg;
    struct guest_stats s;
    guest_get_stats(g, &s);
    if (s.wakes == 0)
        return;
    const struct {
        const char *quantile;
        uint64_t us;
    } rows[] = { { "0.5", s.wake_us_p50 }, { "0.99", s.wake_us_p99 } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        (void)buf_add_cstr(to, "dormouse_operator_wake_seconds");
        add_label(to, &s);
        (void)buf_printf(to, ",quantile=\"%s\"} %.6f\n", rows[i].quantile,
                         (double)rows[i].us / 1e6);
    }
}

/* client-go's metric, but with codes grouped by class; 429 of our own limit is separate. */
static void add_requests(struct operator* o, void *arg)
{
    static const char *const codes[] = { "limited", "1xx", "2xx", "3xx", "4xx", "5xx" };
    struct buf *to = arg;
    struct operator_view v;
    struct operator_client_stats s;
    operator_view(o, &v);
    if (!v.client)
        return;
    operator_client_get_stats(v.client, &s);
    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        if (s.by_class[i])
            (void)buf_printf(
                to, "rest_client_requests_total{operator=\"%s/%s\",code=\"%s\"} %" PRIu64 "\n",
                v.namespace, v.name, codes[i], s.by_class[i]);
    if (s.failed)
        (void)buf_printf(
            to, "rest_client_requests_total{operator=\"%s/%s\",code=\"<error>\"} %" PRIu64 "\n",
            v.namespace, v.name, s.failed);
}

static void each_operator(const struct host *h, struct buf *to)
{
    metric_head(to, "rest_client_requests_total", "counter",
                "Requests of an operator to the API, since its guest was made.");
    operators_each(h->operators, add_requests, to);
    for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
        metric_head(to, columns[i].name, columns[i].type, columns[i].help);
        guest_host_each(h->guests, add_row, &(struct rows){ to, &columns[i] });
    }
    metric_head(to, "dormouse_operator_wake_seconds", "gauge", "Of its latest wakes.");
    guest_host_each(h->guests, add_wake_rows, to);
}

/* ---- of the shared cache ---- */

static void cache_metrics(const struct object_cache *c, struct buf *to)
{
    struct object_cache_stats s;
    object_cache_get_stats(c, &s);
    gauge(to, "dormouse_cache_feeds", "gauge", "Collections that are watched.", s.informers);
    gauge(to, "dormouse_cache_subscriptions", "gauge", "Subscriptions served by them.",
          s.subscriptions);
    gauge(to, "dormouse_cache_objects", "gauge", "Objects known.", s.objects);
    gauge(to, "dormouse_cache_fact_bytes", "gauge", "Memory for what is known of each object.",
          s.fact_bytes);
    gauge(to, "dormouse_cache_body_bytes", "gauge", "Memory for objects, compressed.",
          s.body_bytes);
    gauge(to, "dormouse_cache_plain_bytes", "gauge", "The same objects as JSON.", s.plain_bytes);
    gauge(to, "dormouse_cache_events_total", "counter", "Changes seen.", s.events);
    gauge(to, "dormouse_cache_delivered_total", "counter", "Changes told to subscribers.",
          s.delivered);
    gauge(to, "dormouse_cache_lists_total", "counter", "Lists of collections.", s.lists);
    gauge(to, "dormouse_cache_relists_total", "counter", "Of these after a gap.", s.relists);
    gauge(to, "dormouse_cache_denied_total", "counter", "Subscriptions that were not allowed.",
          s.denied);
}

static void confinement(struct buf *to, const struct guest_host_stats *g)
{
    static const char name[] = "dormouse_runner_confinement";
    if (g->runner_starts == 0)
        return;
    metric_head(to, name, "gauge",
                "What confines runners beside the filter of system calls: 1 in force.");
    for (unsigned i = 0; i < CONFINE_PART_COUNT; i++)
        (void)buf_printf(to, "%s{part=\"%s\"} %u\n", name, confine_word((enum confine_part)i),
                         g->confined >> i & 1);
}

void host_metrics(const struct host *h, struct buf *to)
{
    struct guest_host_stats g;
    struct watch_hub_stats w;
    struct sums sums = { 0 };
    guest_host_get_stats(h->guests, &g);
    watch_hub_get_stats(h->opts.hub, &w);
    guest_host_each(h->guests, add_sums, &sums);
    gauge(to, "dormouse_operators", "gauge", "Operators known.", operators_count(h->operators));
    gauge(to, "dormouse_guests", "gauge", "Guests of any state.", g.guests);
    gauge(to, "dormouse_guests_awake", "gauge", "Guests with an instance in a runner.", g.awake);
    gauge(to, "dormouse_guests_asleep", "gauge", "Hibernated guests.", g.asleep);
    gauge(to, "dormouse_guests_failed", "gauge", "Guests in back-off.", g.failed);
    gauge(to, "dormouse_guest_activations_total", "counter", "Entries into guests.", g.activations);
    gauge(to, "dormouse_guest_wakes_total", "counter", "Guests resumed from their swap file.",
          g.wakes);
    gauge(to, "dormouse_guest_suspends_total", "counter", "Guests written to their swap file.",
          g.suspends);
    gauge(to, "dormouse_guest_restarts_total", "counter", "Restarts of guests that exist now.",
          sums.restarts);
    gauge(to, "dormouse_guest_resident_bytes", "gauge",
          "Dirty pages and bookkeeping of awake guests.", sums.resident);
    gauge(to, "dormouse_guest_swap_bytes", "gauge", "Blocks of swap files.", sums.swap);
    gauge(to, "dormouse_guest_deliveries", "gauge", "Deliveries that wait for guests.",
          sums.queued);
    gauge(to, "dormouse_runners", "gauge", "Runner processes.", g.runners);
    gauge(to, "dormouse_runner_starts_total", "counter", "Runner processes started.",
          g.runner_starts);
    gauge(to, "dormouse_runner_losses_total", "counter",
          "Runner processes that ended on their own.", g.runner_losses);
    confinement(to, &g);
    gauge(to, "dormouse_watches", "gauge", "Upstream watches.", w.upstreams);
    gauge(to, "dormouse_watch_subscribers", "gauge", "Subscriptions served by them.",
          w.subscribers);
    gauge(to, "dormouse_watch_events_total", "counter", "Events received.", w.events);
    gauge(to, "dormouse_watch_reconnects_total", "counter", "Upstream watches opened again.",
          w.reconnects);
    gauge(to, "dormouse_watch_expired_total", "counter", "Subscribers told to list again (410).",
          w.expired);
    gauge(to, "dormouse_watch_history_bytes", "gauge", "Events kept for late subscribers.",
          w.history_bytes);
    wake_histogram(to, &g);
    cache_metrics(h->cache, to);
    each_operator(h, to);
    v1_host_metrics(h->v1, to);
}

void host_modules_metrics(const struct module_cache *modules, struct buf *to)
{
    struct module_cache_stats m;
    module_cache_stats(modules, &m);
    gauge(to, "dormouse_modules_compiled_total", "counter", "Modules compiled.", m.compiled);
    gauge(to, "dormouse_modules_compiled_quickly_total", "counter",
          "Modules of which quick code was made.", m.quick);
    gauge(to, "dormouse_modules_unoptimized_total", "counter",
          "Modules that the optimizing compiler gave up on.", m.unoptimized);
    gauge(to, "dormouse_modules_to_optimize", "gauge", "Modules that wait for optimized code.",
          m.background);
    gauge(to, "dormouse_modules_waiting", "gauge", "Requests that wait for a compilation.",
          m.waiting);
    gauge(to, "dormouse_modules_refused_total", "counter", "Modules refused.", m.refused);
    gauge(to, "dormouse_module_cache_bytes", "gauge", "Compiled code on disk.", m.bytes);
}
