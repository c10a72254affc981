/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NodeVolumeLimits: the limit of attached volumes of a CSI driver on a node, from its CSINode. A
 * volume counts once for a node, by the driver's handle, however many pods use it; volumes that are
 * attached without a pod count too.
 */
#include "sched/object/csi_node.h"
#include "sched/object/volume_attachment.h"
#include "sched/plugins/registry.h"
#include "sched/plugins/volume_counts.h"

SCHED_STATUS_CONST(too_many, SCHED_UNSCHEDULABLE, "node(s) exceed max volume count");
SCHED_STATUS_CONST(no_claim_name, SCHED_ERROR, "PersistentVolumeClaim had no name");
SCHED_STATUS_CONST(skip, SCHED_SKIP, "");

struct node_volume_limits {
    struct sched_plugin p;
    struct volume_counts *counts;
};

/* A volume of the pod that a driver counts. */
struct new_volume {
    const struct intern *driver;
    struct counted_volume volume;
};
struct limits_state {
    struct new_volume *volumes; /* without duplicates */
    uint32_t n;
    const struct sched_status *failed; /* a claim is invalid */
    /* a volume of the pod cannot be converted to a CSI volume */
    const struct sched_status *not_moved;
};

static int create(const struct sched_plugin_env *env, struct sched_plugin **ret, struct err *err)
{
    struct node_volume_limits *l = xnew(struct node_volume_limits);
    l->counts = volume_counts_new(env->framework);
    *ret = &l->p;
    return 0;
}

static void destroy(struct sched_plugin *p)
{
    struct node_volume_limits *l = (struct node_volume_limits *)p;
    volume_counts_free(l->counts);
    free(l);
}

static void changed(struct sched_plugin *p, const struct sched_event *event)
{
    volume_counts_changed(((struct node_volume_limits *)p)->counts, event);
}

/* ---- the pod ---- */

/* A driver whose name occurs in no object has no limit. */
static void add_volume(struct limits_state *s, struct counted_volume volume,
                       const struct intern *driver)
{
    if (volume.hash == 0 || !driver)
        return;
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->volumes[i].volume.hash == volume.hash)
            return;
    }
    s->volumes[s->n++] = (struct new_volume){ driver, volume };
}

static const struct sched_status *read_claim(const struct node_volume_limits *l,
                                             struct sched_cycle *cycle, struct limits_state *s,
                                             const struct sched_volume *v)
{
    const struct sched_pod *pod = cycle->pod;
    if (v->claim.n == 0)
        return &no_claim_name;
    const struct sched_pvc *pvc = sched_find_pvc(l->p.framework, pod->o.namespace, v->claim);
    if (!pvc)
        return sched_status(cycle->arena, SCHED_UNRESOLVABLE,
                            "looking up PVC " STR_FMT "/" STR_FMT
                            ": persistentvolumeclaim \"" STR_FMT "\" not found",
                            STR_ARG(pod->o.namespace), STR_ARG(v->claim), STR_ARG(v->claim));
    if (v->source == SCHED_VOLUME_EPHEMERAL) {
        const struct sched_status *status =
            sched_check_ephemeral(cycle->arena, SCHED_ERROR, pod, pvc);
        if (status)
            return status;
    }
    const struct intern *driver;
    struct counted_volume volume = volume_counts_claim(l->counts, pvc, &driver);
    add_volume(s, volume, driver);
    return NULL;
}

static const struct sched_status *pre_filter(struct sched_plugin *p, struct sched_cycle *cycle,
                                             struct sched_node_set *ret)
{
    const struct node_volume_limits *l = (struct node_volume_limits *)p;
    const struct sched_pod *pod = cycle->pod;
    struct limits_state *s = NULL;
    for (uint32_t i = 0; i < pod->n_volumes; i++) {
        const struct sched_volume *v = &pod->volumes[i];
        bool has_claim = sched_volume_has_claim(v);
        if (!has_claim && !sched_volume_in_tree(v))
            continue;
        if (!s) {
            s = arena_new(cycle->arena, struct limits_state);
            s->volumes = arena_new_n(cycle->arena, struct new_volume, pod->n_volumes);
        }
        if (has_claim) {
            if (!s->failed)
                s->failed = read_claim(l, cycle, s, v);
            continue;
        }
        const struct intern *driver;
        struct counted_volume volume =
            volume_counts_inline(l->counts, cycle->arena, v, &driver, &s->not_moved);
        add_volume(s, volume, driver);
    }
    if (!s)
        return &skip;
    sched_cycle_set_state(cycle, p, s);
    return NULL;
}

/* ---- the node ---- */

static bool is_limited(const struct limits_state *s, const struct sched_csi_node *csi_node)
{
    for (uint32_t i = 0; i < s->n; i++) {
        const struct sched_csi_node_driver *d =
            sched_csi_node_driver(csi_node, s->volumes[i].driver);
        if (d && d->has_limit)
            return true;
    }
    return false;
}

/* Counts the distinct volumes of a driver on a node. */
static int64_t count_driver(const struct volume_list *list, uint32_t driver)
{
    int64_t n = 0;
    uint64_t last = 0;
    for (size_t i = 0; i < list->n; i++) {
        const struct counted_volume *v = &list->p[i];
        if (v->hash != last && v->driver == driver)
            n++;
        last = v->hash;
    }
    return n;
}

/*
 * Does a pod of the node have it? A volume attached without a pod counts in addition to a new one,
 * as upstream: it may be about to be detached.
 */
static bool is_there(const struct volume_list *list, uint64_t hash)
{
    for (size_t i = 0; i < list->n && list->p[i].hash <= hash; i++) {
        if (list->p[i].hash == hash)
            return list->p[i].of_pod;
    }
    return false;
}

static bool is_too_much(const struct limits_state *s, const struct volume_list *list,
                        const struct sched_csi_node_driver *d)
{
    int64_t n_new = 0;
    uint32_t driver = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct new_volume *v = &s->volumes[i];
        if (v->driver != d->name || is_there(list, v->volume.hash))
            continue;
        driver = v->volume.driver;
        n_new++;
    }
    return n_new > 0 && count_driver(list, driver) + n_new > d->limit;
}

static const struct sched_status *filter(struct sched_plugin *p, struct sched_cycle *cycle,
                                         const struct sched_node_info *node)
{
    struct node_volume_limits *l = (struct node_volume_limits *)p;
    const struct limits_state *s = sched_cycle_state(cycle, p);
    if (s->failed)
        return s->failed;
    const struct sched_csi_node *csi_node = volume_counts_csi_node(l->counts, node);
    if (csi_node && s->not_moved)
        return s->not_moved;
    if (!csi_node || !csi_node->has_limits || !is_limited(s, csi_node))
        return NULL;
    const struct volume_list *list;
    const struct sched_status *failed = volume_counts_of(l->counts, cycle->arena, node, &list);
    if (failed)
        return failed;
    for (uint32_t i = 0; i < csi_node->n_drivers; i++) {
        if (csi_node->drivers[i].has_limit && is_too_much(s, list, &csi_node->drivers[i]))
            return &too_many;
    }
    return NULL;
}

/* ---- events ---- */

static enum sched_hint after_csi_node(struct sched_plugin *p, const struct sched_pod *pod,
                                      const struct sched_event *event)
{
    const struct sched_csi_node *before = sched_csi_node_of(event->before),
                                *after = sched_csi_node_of(event->after);
    for (uint32_t i = 0; i < after->n_drivers; i++) {
        const struct sched_csi_node_driver *d =
            sched_csi_node_driver(before, after->drivers[i].name);
        if (after->drivers[i].limit > (d ? d->limit : 0))
            return SCHED_HINT_QUEUE;
    }
    return SCHED_HINT_SKIP;
}

static enum sched_hint after_pod_deleted(struct sched_plugin *p, const struct sched_pod *pod,
                                         const struct sched_event *event)
{
    const struct sched_pod *gone = sched_pod_of(event->before);
    if (!gone->node_name && gone->nominated_node.n == 0)
        return SCHED_HINT_SKIP;
    for (uint32_t i = 0; i < gone->n_volumes; i++) {
        if (sched_volume_has_claim(&gone->volumes[i]) || sched_volume_in_tree(&gone->volumes[i]))
            return SCHED_HINT_QUEUE;
    }
    return SCHED_HINT_SKIP;
}

static enum sched_hint after_claim_added(struct sched_plugin *p, const struct sched_pod *pod,
                                         const struct sched_event *event)
{
    return sched_pod_uses_claim(pod, event->after, true) ? SCHED_HINT_QUEUE : SCHED_HINT_SKIP;
}

static enum sched_hint after_detached(struct sched_plugin *p, const struct sched_pod *pod,
                                      const struct sched_event *event)
{
    struct str attacher = intern_str(sched_volume_attachment_of(event->before)->attacher);
    for (uint32_t i = 0; i < pod->n_volumes; i++) {
        enum sched_in_tree tree = sched_volume_in_tree(&pod->volumes[i]);
        if (pod->volumes[i].source == SCHED_VOLUME_CLAIM ||
            (tree && str_is(attacher, sched_in_tree_kinds[tree].driver)))
            return SCHED_HINT_QUEUE;
    }
    return SCHED_HINT_SKIP;
}

static const struct sched_event_reg *events(struct sched_plugin *p, size_t *ret_n)
{
    static const struct sched_event_reg regs[] = {
        { SCHED_ON_CSI_NODE, SCHED_ADD, NULL },
        { SCHED_ON_CSI_NODE, SCHED_UPDATE, after_csi_node },
        { SCHED_ON_POD, SCHED_DELETE, after_pod_deleted },
        { SCHED_ON_PERSISTENT_VOLUME_CLAIM, SCHED_ADD, after_claim_added },
        { SCHED_ON_VOLUME_ATTACHMENT, SCHED_DELETE, after_detached },
    };
    *ret_n = ARRAY_LEN(regs);
    return regs;
}

const struct sched_plugin_ops sched_node_volume_limits_ops = {
    .name = "NodeVolumeLimits",
    .create = create,
    .destroy = destroy,
    .changed = changed,
    .events = events,
    .pre_filter = pre_filter,
    .filter = filter,
};
