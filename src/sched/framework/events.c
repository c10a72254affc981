/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has changed between two versions of a node or pod, and which registrations an event matches.
 */
#include "sched/framework/events.h"

#include "sched/object/node.h"

enum { UPDATES = SCHED_ALL_ACTIONS & ~(SCHED_ADD | SCHED_DELETE) };

static bool resource_matches(enum sched_resource registered, enum sched_resource happened)
{
    return registered == happened || registered == SCHED_ON_WILDCARD ||
           (registered == SCHED_ON_POD &&
            (happened == SCHED_ON_ASSIGNED_POD || happened == SCHED_ON_UNSCHEDULED_POD));
}

/* A general update matches no finer action: plugins that registered only those do not get it. */
static bool actions_match(unsigned registered, unsigned happened)
{
    if (registered & SCHED_UPDATE)
        registered |= UPDATES;
    return (registered & happened) != 0;
}

unsigned sched_actions_of_upstream(unsigned mask)
{
    bool all = (mask & SCHED_UPSTREAM_UPDATE) == SCHED_UPSTREAM_UPDATE;
    return (mask & SCHED_UPSTREAM_ALL) | (all ? SCHED_UPDATE : 0u);
}

/* A wildcard event matches only registrations of the wildcard. */
bool sched_event_matches(const struct sched_event_reg *reg, const struct sched_event *event)
{
    if (reg->resource == SCHED_ON_WILDCARD && reg->actions == SCHED_ALL_ACTIONS)
        return true;
    if (event->resource == SCHED_ON_WILDCARD && event->actions == SCHED_ALL_ACTIONS)
        return false;
    return resource_matches(reg->resource, event->resource) &&
           actions_match(reg->actions, event->actions);
}

static bool has_scalar(const struct sched_amounts *a, const struct intern *name)
{
    for (uint32_t i = 0; i < a->n_scalars; i++)
        if (a->scalars[i].name == name)
            return true;
    return false;
}

static bool amounts_equal(const struct sched_amounts *a, const struct sched_amounts *b)
{
    if (a->milli_cpu != b->milli_cpu || a->memory != b->memory || a->ephemeral != b->ephemeral ||
        a->n_scalars != b->n_scalars)
        return false;
    for (uint32_t i = 0; i < a->n_scalars; i++) /* both are sorted */
        if (a->scalars[i].name != b->scalars[i].name || a->scalars[i].value != b->scalars[i].value)
            return false;
    return true;
}

static bool taints_equal(const struct sched_node *a, const struct sched_node *b)
{
    if (a->n_taints != b->n_taints)
        return false;
    for (uint32_t i = 0; i < a->n_taints; i++)
        if (a->taints[i].key != b->taints[i].key || a->taints[i].value != b->taints[i].value ||
            a->taints[i].effect != b->taints[i].effect)
            return false;
    return true;
}

/*
 * A node that becomes unschedulable makes no pod schedulable; the taint that follows is reported
 * anyway.
 */
unsigned sched_node_changes(const struct sched_object *before, const struct sched_object *after)
{
    const struct sched_node *a = sched_node_of(before), *b = sched_node_of(after);
    unsigned changes = 0;
    if (a->allowed_pods != b->allowed_pods || !amounts_equal(&a->allocatable, &b->allocatable))
        changes |= SCHED_UPDATE_NODE_ALLOCATABLE;
    if (!sched_labels_equal(&a->labels, &b->labels))
        changes |= SCHED_UPDATE_NODE_LABEL;
    if ((a->is_unschedulable && !b->is_unschedulable) || !taints_equal(a, b))
        changes |= SCHED_UPDATE_NODE_TAINT;
    if (a->conditions_hash != b->conditions_hash)
        changes |= SCHED_UPDATE_NODE_CONDITION;
    if (a->annotations_hash != b->annotations_hash)
        changes |= SCHED_UPDATE_NODE_ANNOTATION;
    if (a->features_hash != b->features_hash)
        changes |= SCHED_UPDATE_NODE_DECLARED_FEATURE;
    return changes;
}

/* A request shrank or was removed (removing a request of 0 counts too). */
static bool is_scaled_down(const struct sched_pod *before, const struct sched_pod *after)
{
    const struct sched_amounts *a = &before->requests, *b = &after->requests;
    if (before->names_requests & ~after->names_requests)
        return true;
    if (a->milli_cpu > b->milli_cpu || a->memory > b->memory || a->ephemeral > b->ephemeral)
        return true;
    for (uint32_t i = 0; i < a->n_scalars; i++)
        if (!has_scalar(b, a->scalars[i].name) ||
            a->scalars[i].value > sched_amounts_scalar(b, a->scalars[i].name))
            return true;
    return false;
}

/* Tolerations can only be added, so comparing their number is enough. */
unsigned sched_pod_changes(const struct sched_object *before, const struct sched_object *after)
{
    const struct sched_pod *a = sched_pod_of(before), *b = sched_pod_of(after);
    unsigned changes = 0;
    if (!sched_labels_equal(&a->labels, &b->labels))
        changes |= SCHED_UPDATE_POD_LABEL;
    if (is_scaled_down(a, b))
        changes |= SCHED_UPDATE_POD_SCALE_DOWN;
    if (a->n_gates && !b->n_gates)
        changes |= SCHED_UPDATE_POD_GATES_ELIMINATED;
    if (a->n_tolerations != b->n_tolerations)
        changes |= SCHED_UPDATE_POD_TOLERATION;
    return changes ? changes : SCHED_UPDATE;
}

const char *sched_resource_name(enum sched_resource resource)
{
    static const char *const names[SCHED_RESOURCE_COUNT] = {
#define SCHED_RESOURCE_NAME(id, name) name,
        SCHED_RESOURCES(SCHED_RESOURCE_NAME)
#undef SCHED_RESOURCE_NAME
    };
    return names[resource];
}

const char *sched_action_name(unsigned action)
{
    switch (action) {
#define SCHED_ACTION_CASE(id, bit, name)                                                           \
    case SCHED_##id:                                                                               \
        return name;
        SCHED_ACTIONS(SCHED_ACTION_CASE)
#undef SCHED_ACTION_CASE
    case SCHED_ALL_ACTIONS:
        return "All";
    default:
        return "";
    }
}
