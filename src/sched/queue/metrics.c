/* SPDX-License-Identifier: Apache-2.0 */
/* The queue's metrics, in Prometheus' text format. */
#include "base/histogram.h"
#include "sched/queue/internal.h"

#include <inttypes.h>

static const char *const into_names[INTO_COUNT] = { "active", "backoff", "unschedulable" };
static const char *const kind_names[CAUSE_COUNT] = { NULL,
#define CAUSE_NAME(id, label) label,
                                                     CAUSES(CAUSE_NAME)
#undef CAUSE_NAME
};

void queue_count_incoming(struct sched_queue *q, unsigned into, const struct cause *why)
{
    if (why->kind != BY_EVENT)
        q->counters.by_kind[into][why->kind]++;
    else
        q->counters.by_event[into][why->resource][__builtin_ctz(why->actions)]++;
}

static void print_pending(const struct sched_queue *q, struct buf *out)
{
    struct sched_queue_count n;
    sched_queue_count(q, &n);
    metric_head(out, "scheduler_pending_pods", "gauge", "Pods that wait, by where.");
    (void)buf_printf(out,
                     "scheduler_pending_pods{queue=\"active\"} %zu\n"
                     "scheduler_pending_pods{queue=\"backoff\"} %zu\n"
                     "scheduler_pending_pods{queue=\"gated\"} %zu\n"
                     "scheduler_pending_pods{queue=\"unschedulable\"} %zu\n",
                     n.active, n.backoff, n.gated, n.unschedulable);
}

static void print_incoming(const struct sched_queue *q, struct buf *out)
{
    metric_head(out, "scheduler_queue_incoming_pods_total", "counter",
                "Pods put into a queue, by what brought them.");
    for (unsigned i = 0; i < INTO_COUNT; i++) {
        for (unsigned k = BY_EVENT + 1; k < CAUSE_COUNT; k++)
            if (q->counters.by_kind[i][k])
                (void)buf_printf(
                    out,
                    "scheduler_queue_incoming_pods_total{event=\"%s\",queue=\"%s\"} %" PRIu64 "\n",
                    kind_names[k], into_names[i], q->counters.by_kind[i][k]);
        for (unsigned r = 0; r < SCHED_RESOURCE_COUNT; r++)
            for (unsigned a = 0; a < ACTION_COUNT; a++)
                if (q->counters.by_event[i][r][a])
                    (void)buf_printf(out,
                                     "scheduler_queue_incoming_pods_total{event=\"%s%s\","
                                     "queue=\"%s\"} %" PRIu64 "\n",
                                     sched_resource_name((enum sched_resource)r),
                                     sched_action_name(1U << a), into_names[i],
                                     q->counters.by_event[i][r][a]);
    }
}

static void print_unschedulable(const struct sched_queue *q, struct buf *out)
{
    metric_head(out, "scheduler_unschedulable_pods", "gauge",
                "Waiting pods that a plugin refused.");
    for (size_t at = 0; at < q->profiles.n; at++) {
        const struct profile_index *x = q->profiles.p[at];
        const struct sched_profile *profile = x->profile;
        size_t counts[SCHED_PLUGINS_MAX] = { 0 };
        map_each (e, &q->pods) {
            const struct queued *p = e->value;
            if (p->profile != x || p->place == IN_FLIGHT)
                continue;
            for (uint64_t bits = p->pub.rejected_by | p->pub.pending_by; bits; bits &= bits - 1)
                counts[__builtin_ctzll(bits)]++;
        }
        for (unsigned i = 0; i < profile->n_plugins; i++)
            if (counts[profile->plugins[i]->position])
                (void)buf_printf(out,
                                 "scheduler_unschedulable_pods{plugin=\"" STR_FMT
                                 "\",profile=\"" STR_FMT "\"} %zu\n",
                                 STR_ARG(profile->plugins[i]->name),
                                 STR_ARG(profile->scheduler_name),
                                 counts[profile->plugins[i]->position]);
    }
}

struct kept_events {
    size_t n[SCHED_RESOURCE_COUNT][ACTION_COUNT], of_everything;
};
static void count_kept(void *arg, const struct sched_event *event)
{
    struct kept_events *kept = arg;
    if (event_is_wildcard(event))
        kept->of_everything++;
    else
        for (unsigned bits = event->actions; bits; bits &= bits - 1)
            kept->n[event->resource][__builtin_ctz(bits)]++;
}

static void print_in_flight(const struct sched_queue *q, struct buf *out)
{
    struct kept_events kept = { 0 };
    in_flight_each(q, count_kept, &kept);
    metric_head(out, "scheduler_inflight_events", "gauge",
                "Pods that are tried, and events kept for them.");
    (void)buf_printf(out,
                     "scheduler_inflight_events{event=\"PodPopped\"} %zu\n"
                     "scheduler_inflight_events{event=\"ForceActivate\"} %zu\n",
                     q->n_in_flight, kept.of_everything);
    for (unsigned r = 0; r < SCHED_RESOURCE_COUNT; r++)
        for (unsigned a = 0; a < ACTION_COUNT; a++)
            if (kept.n[r][a])
                (void)buf_printf(out, "scheduler_inflight_events{event=\"%s%s\"} %zu\n",
                                 sched_resource_name((enum sched_resource)r),
                                 sched_action_name(1U << a), kept.n[r][a]);
    metric_head(out, "scheduler_pod_scheduled_after_flush_total", "counter",
                "Pods placed after they had waited in vain for an event.");
    (void)buf_printf(out, "scheduler_pod_scheduled_after_flush_total %" PRIu64 "\n",
                     q->counters.placed_after_flush);
}

void sched_queue_metrics(const struct sched_queue *q, struct buf *out)
{
    print_pending(q, out);
    print_incoming(q, out);
    print_unschedulable(q, out);
    print_in_flight(q, out);
}
