/* SPDX-License-Identifier: Apache-2.0 */
/* PrioritySort: pending pods by descending priority, then by time in the queue. */
#include "sched/plugins/registry.h"

static int compare(struct sched_plugin *p, const struct sched_pod *a, uint64_t a_queued_ms,
                   const struct sched_pod *b, uint64_t b_queued_ms)
{
    if (a->priority != b->priority)
        return a->priority > b->priority ? -1 : 1;
    return a_queued_ms < b_queued_ms ? -1 : a_queued_ms > b_queued_ms;
}

const struct sched_plugin_ops sched_priority_sort_ops = {
    .name = "PrioritySort",
    .compare = compare,
};
