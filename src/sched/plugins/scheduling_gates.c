/* SPDX-License-Identifier: Apache-2.0 */
/* SchedulingGates: a pod with spec.schedulingGates stays out of the queue. */
#include "sched/plugins/registry.h"

enum { GATES_TEXT_MAX_BYTES = 16 << 10 };

static const struct sched_status *pre_enqueue(struct sched_plugin *p, struct arena *a,
                                              const struct sched_pod *pod)
{
    if (pod->n_gates == 0)
        return NULL;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(GATES_TEXT_MAX_BYTES);
    for (uint32_t i = 0; i < pod->n_gates; i++) {
        (void)buf_add_cstr(&text, i > 0 ? " " : "");
        (void)buf_add_str(&text, pod->gates[i]);
    }
    return sched_status(a, SCHED_UNRESOLVABLE, "waiting for scheduling gates: [%s]",
                        buf_cstr(&text));
}

/* Only the pod's own gates matter. */
static enum sched_hint after_gates_gone(struct sched_plugin *p, const struct sched_pod *pod,
                                        const struct sched_event *event)
{
    return event->after && str_eq(event->after->uid, pod->o.uid) ? SCHED_HINT_QUEUE
                                                                 : SCHED_HINT_SKIP;
}

static const struct sched_event_reg regs[] = {
    { SCHED_ON_POD, SCHED_UPDATE_POD_GATES_ELIMINATED, after_gates_gone },
};

static const struct sched_event_reg *events(struct sched_plugin *p, size_t *ret_n)
{
    *ret_n = ARRAY_LEN(regs);
    return regs;
}

const struct sched_plugin_ops sched_scheduling_gates_ops = {
    .name = "SchedulingGates",
    .events = events,
    .pre_enqueue = pre_enqueue,
};
