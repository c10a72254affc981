/* SPDX-License-Identifier: Apache-2.0 */
/*
 * VolumeRestrictions: disks that only one pod of a node may use, and claims that only one pod of
 * the cluster may use (ReadWriteOncePod).
 */
#include "sched/plugins/registry.h"
#include "sched/plugins/volumes.h"

SCHED_STATUS_CONST(disk_conflict, SCHED_UNSCHEDULABLE, "node(s) had no available disk");
SCHED_STATUS_CONST(claim_conflict, SCHED_UNSCHEDULABLE,
                   "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access "
                   "mode already in-use by another pod");
SCHED_STATUS_CONST(skip, SCHED_SKIP, "");

struct restrictions_state {
    const struct str *claims; /* names of those with ReadWriteOncePod */
    uint32_t n_claims;
    int64_t in_use; /* uses of these by pods that have a node */
};

static bool is_restricted(const struct sched_volume *v)
{
    return v->source == SCHED_VOLUME_GCE_DISK || v->source == SCHED_VOLUME_AWS_DISK ||
           v->source == SCHED_VOLUME_ISCSI || v->source == SCHED_VOLUME_RBD;
}

static bool have_common_monitor(const struct sched_volume *a, const struct sched_volume *b)
{
    for (uint32_t i = 0; i < a->n_monitors; i++) {
        for (uint32_t j = 0; j < b->n_monitors; j++) {
            if (str_eq(a->monitors[i], b->monitors[j]))
                return true;
        }
    }
    return false;
}

static bool is_conflict(const struct sched_volume *a, const struct sched_volume *b)
{
    if (a->source != b->source || !str_eq(a->id, b->id))
        return false;
    bool only_read = a->read_only && b->read_only;
    switch (a->source) {
    case SCHED_VOLUME_AWS_DISK:
        return true;
    case SCHED_VOLUME_GCE_DISK:
    case SCHED_VOLUME_ISCSI:
        return !only_read;
    case SCHED_VOLUME_RBD:
        return !only_read && str_eq(a->id2, b->id2) && have_common_monitor(a, b);
    case SCHED_VOLUME_OTHER:
    case SCHED_VOLUME_CLAIM:
    case SCHED_VOLUME_EPHEMERAL:
    case SCHED_VOLUME_AZURE_DISK:
    case SCHED_VOLUME_CINDER:
    case SCHED_VOLUME_PORTWORX:
        break;
    }
    return false;
}

static bool conflicts_with(const struct sched_pod *pod, const struct sched_pod *other)
{
    for (uint32_t i = 0; i < pod->n_volumes; i++) {
        if (!is_restricted(&pod->volumes[i]))
            continue;
        for (uint32_t j = 0; j < other->n_volumes; j++) {
            if (is_conflict(&pod->volumes[i], &other->volumes[j]))
                return true;
        }
    }
    return false;
}

static const struct sched_status *pre_filter(struct sched_plugin *p, struct sched_cycle *cycle,
                                             struct sched_node_set *ret)
{
    const struct sched_pod *pod = cycle->pod;
    struct str *claims = NULL;
    uint32_t n_claims = 0;
    int64_t in_use = 0;
    bool has_restricted = false;
    for (uint32_t i = 0; i < pod->n_volumes; i++) {
        const struct sched_volume *v = &pod->volumes[i];
        has_restricted = has_restricted || is_restricted(v);
        if (v->source != SCHED_VOLUME_CLAIM)
            continue;
        const struct sched_pvc *pvc = sched_find_pvc(p->framework, pod->o.namespace, v->claim);
        if (!pvc)
            return sched_status(cycle->arena, SCHED_UNRESOLVABLE,
                                "persistentvolumeclaim \"" STR_FMT "\" not found",
                                STR_ARG(v->claim));
        bool is_known = (pvc->access_modes & SCHED_READ_WRITE_ONCE_POD) == 0;
        for (uint32_t j = 0; j < n_claims && !is_known; j++)
            is_known = str_eq(claims[j], v->claim);
        if (is_known)
            continue;
        if (!claims)
            claims = arena_new_n(cycle->arena, struct str, pod->n_volumes);
        claims[n_claims++] = v->claim;
        const char *key = arena_printf(cycle->arena, STR_FMT "/" STR_FMT, STR_ARG(pod->o.namespace),
                                       STR_ARG(v->claim));
        if (sched_cache_claim_pods(p->framework->cache, str_of(key)) > 0)
            in_use++;
    }
    if (!has_restricted && in_use == 0)
        return &skip;
    struct restrictions_state *s = arena_new(cycle->arena, struct restrictions_state);
    *s = (struct restrictions_state){ claims, n_claims, in_use };
    sched_cycle_set_state(cycle, p, s);
    return NULL;
}

/* The number of the pod's claims that another pod also has. */
static int64_t shared_claims(const struct restrictions_state *s, const struct sched_pod *pod,
                             const struct sched_pod *other)
{
    int64_t n = 0;
    if (s->n_claims == 0 || pod->namespace_word != other->namespace_word)
        return 0;
    for (uint32_t i = 0; i < other->n_volumes; i++) {
        if (other->volumes[i].source != SCHED_VOLUME_CLAIM)
            continue;
        for (uint32_t j = 0; j < s->n_claims; j++) {
            if (str_eq(s->claims[j], other->volumes[i].claim))
                n++;
        }
    }
    return n;
}

static const struct sched_status *add_pod(struct sched_plugin *p, struct sched_cycle *cycle,
                                          const struct sched_pod *other,
                                          const struct sched_node_info *node)
{
    struct restrictions_state *s = sched_cycle_state(cycle, p);
    s->in_use += shared_claims(s, cycle->pod, other);
    return NULL;
}

static const struct sched_status *remove_pod(struct sched_plugin *p, struct sched_cycle *cycle,
                                             const struct sched_pod *other,
                                             const struct sched_node_info *node)
{
    struct restrictions_state *s = sched_cycle_state(cycle, p);
    s->in_use -= shared_claims(s, cycle->pod, other);
    return NULL;
}

static void *clone_state(struct sched_plugin *p, struct sched_cycle *cycle,
                         struct sched_cycle *copy)
{
    const struct restrictions_state *s = sched_cycle_state(cycle, p);
    if (!s)
        return NULL;
    struct restrictions_state *c = arena_new(copy->arena, struct restrictions_state);
    *c = *s;
    return c;
}

static const struct sched_status *filter(struct sched_plugin *p, struct sched_cycle *cycle,
                                         const struct sched_node_info *node)
{
    const struct restrictions_state *s = sched_cycle_state(cycle, p);
    for (uint32_t i = 0; i < node->n_pods; i++) {
        if (node->pods[i]->n_volumes > 0 && conflicts_with(cycle->pod, node->pods[i]))
            return &disk_conflict;
    }
    return s->in_use > 0 ? &claim_conflict : NULL;
}

static enum sched_hint after_pod_deleted(struct sched_plugin *p, const struct sched_pod *pod,
                                         const struct sched_event *event)
{
    const struct sched_pod *gone = sched_pod_of(event->before);
    if (gone->namespace_word != pod->namespace_word)
        return SCHED_HINT_SKIP;
    if (conflicts_with(pod, gone))
        return SCHED_HINT_QUEUE;
    for (uint32_t i = 0; i < gone->n_volumes; i++) {
        if (gone->volumes[i].source != SCHED_VOLUME_CLAIM)
            continue;
        for (uint32_t j = 0; j < pod->n_volumes; j++) {
            if (pod->volumes[j].source == SCHED_VOLUME_CLAIM &&
                str_eq(pod->volumes[j].claim, gone->volumes[i].claim))
                return SCHED_HINT_QUEUE;
        }
    }
    return SCHED_HINT_SKIP;
}

static enum sched_hint after_claim_added(struct sched_plugin *p, const struct sched_pod *pod,
                                         const struct sched_event *event)
{
    return sched_pod_uses_claim(pod, event->after, false) ? SCHED_HINT_QUEUE : SCHED_HINT_SKIP;
}

static const struct sched_event_reg *events(struct sched_plugin *p, size_t *ret_n)
{
    static const struct sched_event_reg regs[] = {
        { SCHED_ON_POD, SCHED_DELETE, after_pod_deleted },
        { SCHED_ON_NODE, SCHED_ADD, NULL },
        { SCHED_ON_PERSISTENT_VOLUME_CLAIM, SCHED_ADD, after_claim_added },
    };
    *ret_n = ARRAY_LEN(regs);
    return regs;
}

const struct sched_plugin_ops sched_volume_restrictions_ops = {
    .name = "VolumeRestrictions",
    .events = events,
    .pre_filter = pre_filter,
    .add_pod = add_pod,
    .remove_pod = remove_pod,
    .clone_state = clone_state,
    .filter = filter,
};
