/* SPDX-License-Identifier: Apache-2.0 */
/* NodeName: a pod that names its node fits only there. */
#include "sched/plugins/native.h"

#define NAME "NodeName"

SCHED_REFUSAL(other_node, NAME, SCHED_UNRESOLVABLE, "node(s) didn't match the requested node name");

SCHED_EVENTS(events, { SCHED_ON_NODE, SCHED_ADD, NULL })

static const struct sched_status *filter(struct sched_plugin *p, struct sched_cycle *cycle,
                                         const struct sched_node_info *node)
{
    const struct intern *wanted = cycle->pod->node_name;
    return !wanted || wanted == node->node->name ? NULL : &other_node;
}

const struct sched_plugin_ops sched_node_name_ops = {
    .name = NAME,
    .events = events,
    .filter = filter,
};
