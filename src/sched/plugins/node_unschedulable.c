/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NodeUnschedulable: cordoned nodes accept only pods that tolerate
 * node.kubernetes.io/unschedulable:NoSchedule, whether or not the node already has that taint.
 */
#include "sched/plugins/native.h"

#define NAME "NodeUnschedulable"

SCHED_REFUSAL(unschedulable, NAME, SCHED_UNRESOLVABLE, "node(s) were unschedulable");

struct node_unschedulable {
    struct sched_plugin plugin;
    struct intern *key;
};

static bool tolerates(struct sched_plugin *p, const struct sched_pod *pod)
{
    const struct node_unschedulable *u = container_of(p, struct node_unschedulable, plugin);
    struct sched_taint taint = { .key = u->key, .effect = SCHED_NO_SCHEDULE };
    return sched_tolerates(pod->tolerations, pod->n_tolerations, &taint);
}

static const struct sched_status *filter(struct sched_plugin *p, struct sched_cycle *cycle,
                                         const struct sched_node_info *node)
{
    return !node->node->is_unschedulable || tolerates(p, cycle->pod) ? NULL : &unschedulable;
}

static enum sched_hint on_node(struct sched_plugin *p, const struct sched_pod *pod,
                               const struct sched_event *event)
{
    const struct sched_node *before = sched_event_node(event->before);
    const struct sched_node *after = sched_event_node(event->after);
    bool opened = after && !after->is_unschedulable && (!before || before->is_unschedulable);
    return opened || !after ? SCHED_HINT_QUEUE : SCHED_HINT_SKIP;
}

static enum sched_hint on_toleration(struct sched_plugin *p, const struct sched_pod *pod,
                                     const struct sched_event *event)
{
    const struct sched_pod *after = sched_event_pod(event->after);
    if (!after)
        return SCHED_HINT_QUEUE;
    return sched_is_same_pod(pod, after) && tolerates(p, after) ? SCHED_HINT_QUEUE
                                                                : SCHED_HINT_SKIP;
}

SCHED_EVENTS(events, { SCHED_ON_NODE, SCHED_ADD | SCHED_UPDATE_NODE_TAINT, on_node },
             { SCHED_ON_POD, SCHED_UPDATE_POD_TOLERATION, on_toleration })

static int create(const struct sched_plugin_env *env, struct sched_plugin **ret, struct err *err)
{
    struct node_unschedulable *u = xnew(struct node_unschedulable);
    u->plugin.framework = env->framework;
    u->key = intern_get(env->framework->words, STR("node.kubernetes.io/unschedulable"));
    *ret = &u->plugin;
    return 0;
}

static void destroy(struct sched_plugin *p)
{
    struct node_unschedulable *u = container_of(p, struct node_unschedulable, plugin);
    intern_unref(p->framework->words, u->key);
    free(u);
}

const struct sched_plugin_ops sched_node_unschedulable_ops = {
    .name = NAME,
    .create = create,
    .destroy = destroy,
    .events = events,
    .filter = filter,
};
