/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TaintToleration: NoSchedule and NoExecute taints exclude pods that do not tolerate them; each
 * PreferNoSchedule taint that is not tolerated lowers the score.
 */
#include "sched/plugins/native.h"

#define NAME "TaintToleration"

SCHED_REFUSAL(untolerated, NAME, SCHED_UNRESOLVABLE, "node(s) had untolerated taint(s)");

static bool keeps_away(const struct sched_node *node, const struct sched_pod *pod)
{
    for (uint32_t i = 0; i < node->n_taints; i++)
        if (node->taints[i].effect != SCHED_PREFER_NO_SCHEDULE &&
            !sched_tolerates(pod->tolerations, pod->n_tolerations, &node->taints[i]))
            return true;
    return false;
}

static const struct sched_status *filter(struct sched_plugin *p, struct sched_cycle *cycle,
                                         const struct sched_node_info *node)
{
    return node->node->n_taints > 0 && keeps_away(node->node, cycle->pod) ? &untolerated : NULL;
}

/* Upstream collects tolerations here; ours are compared directly. */
static const struct sched_status *pre_score(struct sched_plugin *p, struct sched_cycle *cycle,
                                            const struct sched_node_info *const *nodes, size_t n)
{
    return NULL;
}

static int64_t unwelcome(const struct sched_node *node, const struct sched_pod *pod)
{
    int64_t n = 0;
    for (uint32_t i = 0; i < node->n_taints; i++)
        n += node->taints[i].effect == SCHED_PREFER_NO_SCHEDULE &&
             !sched_tolerates(pod->tolerations, pod->n_tolerations, &node->taints[i]);
    return n;
}

static const struct sched_status *score(struct sched_plugin *p, struct sched_cycle *cycle,
                                        const struct sched_node_info *const *nodes, size_t n,
                                        int64_t *ret)
{
    for (size_t i = 0; i < n; i++)
        ret[i] = unwelcome(nodes[i]->node, cycle->pod);
    return NULL;
}

static const struct sched_status *normalize(struct sched_plugin *p, struct sched_cycle *cycle,
                                            const struct sched_node_info *const *nodes, size_t n,
                                            int64_t *scores)
{
    sched_normalize(scores, n, true);
    return NULL;
}

static enum sched_hint on_node(struct sched_plugin *p, const struct sched_pod *pod,
                               const struct sched_event *event)
{
    const struct sched_node *before = sched_event_node(event->before);
    const struct sched_node *after = sched_event_node(event->after);
    if (!after)
        return SCHED_HINT_QUEUE;
    bool opened = (!before || keeps_away(before, pod)) && !keeps_away(after, pod);
    return opened ? SCHED_HINT_QUEUE : SCHED_HINT_SKIP;
}

static enum sched_hint on_toleration(struct sched_plugin *p, const struct sched_pod *pod,
                                     const struct sched_event *event)
{
    const struct sched_pod *after = sched_event_pod(event->after);
    return !after || sched_is_same_pod(pod, after) ? SCHED_HINT_QUEUE : SCHED_HINT_SKIP;
}

SCHED_EVENTS(events, { SCHED_ON_NODE, SCHED_ADD | SCHED_UPDATE_NODE_TAINT, on_node },
             { SCHED_ON_POD, SCHED_UPDATE_POD_TOLERATION, on_toleration })

const struct sched_plugin_ops sched_taint_toleration_ops = {
    .name = NAME,
    .events = events,
    .filter = filter,
    .pre_score = pre_score,
    .score = score,
    .normalize = normalize,
};
