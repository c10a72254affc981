/* SPDX-License-Identifier: Apache-2.0 */
/* NodePorts: the host ports of a pod must be free on the node. */
#include "sched/plugins/native.h"

#define NAME "NodePorts"

SCHED_REFUSAL(taken, NAME, SCHED_UNSCHEDULABLE,
              "node(s) didn't have free ports for the requested pod ports");

static const struct sched_status *pre_filter(struct sched_plugin *p, struct sched_cycle *cycle,
                                             struct sched_node_set *ret)
{
    return cycle->pod->n_ports == 0 ? &sched_skip : NULL;
}

static const struct sched_status *filter(struct sched_plugin *p, struct sched_cycle *cycle,
                                         const struct sched_node_info *node)
{
    if (node->n_ports == 0)
        return NULL;
    for (uint32_t i = 0; i < cycle->pod->n_ports; i++)
        if (sched_node_info_port_is_used(node, &cycle->pod->ports[i]))
            return &taken;
    return NULL;
}

static bool conflicts(const struct sched_port *a, const struct sched_port *b)
{
    static const char *const all = "0.0.0.0";
    return a->port == b->port && a->protocol == b->protocol &&
           (a->ip == b->ip || str_is(intern_str(a->ip), all) || str_is(intern_str(b->ip), all));
}

static enum sched_hint on_deleted(struct sched_plugin *p, const struct sched_pod *pod,
                                  const struct sched_event *event)
{
    const struct sched_pod *gone = sched_event_pod(event->before);
    if (!gone)
        return SCHED_HINT_QUEUE;
    if (!gone->node_name && str_is_empty(gone->nominated_node))
        return SCHED_HINT_SKIP; /* it held no port */
    for (uint32_t i = 0; i < gone->n_ports; i++)
        for (uint32_t j = 0; j < pod->n_ports; j++)
            if (conflicts(&gone->ports[i], &pod->ports[j]))
                return SCHED_HINT_QUEUE;
    return SCHED_HINT_SKIP;
}

SCHED_EVENTS(events, { SCHED_ON_POD, SCHED_DELETE, on_deleted }, { SCHED_ON_NODE, SCHED_ADD, NULL })

const struct sched_plugin_ops sched_node_ports_ops = {
    .name = NAME,
    .events = events,
    .pre_filter = pre_filter,
    .filter = filter,
};
