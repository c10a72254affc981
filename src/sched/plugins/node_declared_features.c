/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NodeDeclaredFeatures: the node has to declare the kubelet features that a pod's spec needs and
 * not every kubelet has. The needs are read with the pod (SCHED_NODE_FEATURES).
 */
#include "sched/plugins/native.h"

#define NAME "NodeDeclaredFeatures"

SCHED_REFUSAL(not_declared, NAME, SCHED_UNRESOLVABLE,
              "node(s) didn't match Pod's required features");

static const struct sched_status *pre_filter(struct sched_plugin *p, struct sched_cycle *cycle,
                                             struct sched_node_set *ret)
{
    return cycle->pod->needs_features ? NULL : &sched_skip;
}

static const struct sched_status *filter(struct sched_plugin *p, struct sched_cycle *cycle,
                                         const struct sched_node_info *node)
{
    return cycle->pod->needs_features & ~node->node->declared_features ? &not_declared : NULL;
}

static enum sched_hint on_node(struct sched_plugin *p, const struct sched_pod *pod,
                               const struct sched_event *event)
{
    const struct sched_node *before = sched_event_node(event->before);
    const struct sched_node *after = sched_event_node(event->after);
    bool is_same = before && after && before->features_hash == after->features_hash;
    return is_same ? SCHED_HINT_SKIP : SCHED_HINT_QUEUE;
}

static enum sched_hint on_pod(struct sched_plugin *p, const struct sched_pod *pod,
                              const struct sched_event *event)
{
    const struct sched_pod *before = sched_event_pod(event->before);
    const struct sched_pod *after = sched_event_pod(event->after);
    if (!before || !after)
        return SCHED_HINT_QUEUE;
    return sched_is_same_pod(pod, after) && before->needs_features != after->needs_features
               ? SCHED_HINT_QUEUE
               : SCHED_HINT_SKIP;
}

SCHED_EVENTS(events, { SCHED_ON_NODE, SCHED_ADD | SCHED_UPDATE_NODE_DECLARED_FEATURE, on_node },
             { SCHED_ON_POD, SCHED_UPDATE, on_pod })

const struct sched_plugin_ops sched_node_declared_features_ops = {
    .name = NAME,
    .events = events,
    .pre_filter = pre_filter,
    .filter = filter,
};
