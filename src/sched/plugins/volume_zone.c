/* SPDX-License-Identifier: Apache-2.0 */
/*
 * VolumeZone: a node with a zone or region label must be in the zones and regions of the pod's
 * bound volumes.
 */
#include "sched/plugins/registry.h"
#include "sched/plugins/volumes.h"

SCHED_STATUS_CONST(zone_conflict, SCHED_UNRESOLVABLE, "node(s) had no available volume zone");
SCHED_STATUS_CONST(no_claim_name, SCHED_UNRESOLVABLE, "PersistentVolumeClaim had no name");
SCHED_STATUS_CONST(no_volume_name, SCHED_UNRESOLVABLE, "PersistentVolume had no name");
SCHED_STATUS_CONST(no_names, SCHED_UNRESOLVABLE,
                   "PersistentVolumeClaim had no pv name and storageClass name");
SCHED_STATUS_CONST(skip, SCHED_SKIP, "");

enum { ZONE_LABELS = 4 };

struct volume_zone {
    struct sched_plugin p;
    struct intern *labels[ZONE_LABELS];
};

/* What one label of one volume requires of a node. */
struct volume_zone_topology {
    const struct intern *key, *other_key; /* other_key: the current label for a deprecated one */
    const struct intern **values;         /* values that occur in any object */
    uint32_t n_values;
};
struct zone_state {
    struct volume_zone_topology *topologies;
    uint32_t n;
};

static int create(const struct sched_plugin_env *env, struct sched_plugin **ret, struct err *err)
{
    struct volume_zone *z = xnew(struct volume_zone);
    struct intern_table *w = env->framework->words;
    /* Each beta label is two positions before its replacement. */
    z->labels[0] = intern_get(w, STR("failure-domain.beta.kubernetes.io/zone"));
    z->labels[1] = intern_get(w, STR("failure-domain.beta.kubernetes.io/region"));
    z->labels[2] = intern_get(w, STR("topology.kubernetes.io/zone"));
    z->labels[3] = intern_get(w, STR("topology.kubernetes.io/region"));
    *ret = &z->p;
    return 0;
}

static void destroy(struct sched_plugin *p)
{
    struct volume_zone *z = (struct volume_zone *)p;
    for (size_t i = 0; i < ZONE_LABELS; i++)
        intern_unref(p->framework->words, z->labels[i]);
    free(z);
}

/* Cuts the next zone off "a__b"; returns false after the last. */
static bool next_zone(struct str *text, struct str *ret)
{
    ptrdiff_t at = str_find(*text, STR("__"));
    *ret = str_trim(at < 0 ? *text : str_slice(*text, 0, (size_t)at));
    *text = at < 0 ? STR("") : str_slice(*text, (size_t)at + 2, text->n);
    return at >= 0;
}

/* 0: a zone is empty, so the label does not count. */
static uint32_t count_zones(struct str text)
{
    uint32_t n = 0;
    struct str zone;
    bool has_more = true;
    while (has_more) {
        has_more = next_zone(&text, &zone);
        if (zone.n == 0)
            return 0;
        n++;
    }
    return n;
}

static void add_topologies(struct volume_zone *z, struct arena *a, struct zone_state *s,
                           const struct sched_pv *pv)
{
    for (size_t i = 0; i < ZONE_LABELS; i++) {
        const struct intern *label = sched_label_get(&pv->labels, z->labels[i]);
        struct str text = intern_str(label), zone;
        uint32_t n = label ? count_zones(text) : 0;
        if (n == 0)
            continue;
        struct volume_zone_topology *t = &s->topologies[s->n++];
        t->key = z->labels[i];
        t->other_key = i < 2 ? z->labels[i + 2] : NULL;
        t->values = arena_new_n(a, const struct intern *, n);
        for (uint32_t j = 0; j < n; j++) {
            (void)next_zone(&text, &zone);
            const struct intern *value = intern_find(z->p.framework->words, zone);
            if (value)
                t->values[t->n_values++] = value;
        }
    }
}

/* A claim without a volume is accepted if its class waits for the pod. */
static const struct sched_status *check_unbound(struct volume_zone *z, struct arena *a,
                                                const struct sched_pvc *pvc)
{
    if (pvc->class->n == 0)
        return &no_names;
    const struct sched_storage_class *class =
        sched_find_class(z->p.framework, intern_str(pvc->class));
    if (!class)
        return sched_status(a, SCHED_UNRESOLVABLE, "storageclass.storage.k8s.io \"%s\" not found",
                            pvc->class->text);
    if (class->mode == SCHED_BINDING_UNSET)
        return sched_status(a, SCHED_UNRESOLVABLE,
                            "VolumeBindingMode not set for StorageClass \"%s\"", pvc->class->text);
    return class->mode == SCHED_BINDING_WAITS ? NULL : &no_volume_name;
}

static const struct sched_status *pre_filter(struct sched_plugin *p, struct sched_cycle *cycle,
                                             struct sched_node_set *ret)
{
    struct volume_zone *z = (struct volume_zone *)p;
    const struct sched_pod *pod = cycle->pod;
    struct zone_state *s = NULL;
    for (uint32_t i = 0; i < pod->n_volumes; i++) {
        const struct sched_volume *v = &pod->volumes[i];
        if (v->source != SCHED_VOLUME_CLAIM)
            continue;
        if (v->claim.n == 0)
            return &no_claim_name;
        const struct sched_pvc *pvc = sched_find_pvc(p->framework, pod->o.namespace, v->claim);
        if (!pvc)
            return sched_status(cycle->arena, SCHED_UNRESOLVABLE,
                                "persistentvolumeclaim \"" STR_FMT "\" not found",
                                STR_ARG(v->claim));
        if (pvc->volume_name.n == 0) {
            const struct sched_status *status = check_unbound(z, cycle->arena, pvc);
            if (status)
                return status;
            continue;
        }
        const struct sched_pv *pv = sched_find_pv(p->framework, pvc->volume_name);
        if (!pv)
            return sched_status(cycle->arena, SCHED_UNRESOLVABLE,
                                "persistentvolume \"" STR_FMT "\" not found",
                                STR_ARG(pvc->volume_name));
        if (pv->labels.n == 0)
            continue;
        if (!s) {
            s = arena_new(cycle->arena, struct zone_state);
            s->topologies = arena_new_n(cycle->arena, struct volume_zone_topology,
                                        (size_t)ZONE_LABELS * pod->n_volumes);
        }
        add_topologies(z, cycle->arena, s, pv);
    }
    if (!s || s->n == 0)
        return &skip;
    sched_cycle_set_state(cycle, p, s);
    return NULL;
}

static bool has_value(const struct volume_zone_topology *t, const struct intern *value)
{
    for (uint32_t i = 0; i < t->n_values; i++) {
        if (t->values[i] == value)
            return true;
    }
    return false;
}

static const struct sched_status *filter(struct sched_plugin *p, struct sched_cycle *cycle,
                                         const struct sched_node_info *node)
{
    const struct volume_zone *z = (struct volume_zone *)p;
    const struct zone_state *s = sched_cycle_state(cycle, p);
    const struct sched_labels *labels = &node->node->labels;
    bool has_zone = false;
    for (size_t i = 0; i < ZONE_LABELS && !has_zone; i++)
        has_zone = sched_label_get(labels, z->labels[i]) != NULL;
    for (uint32_t i = 0; has_zone && i < s->n; i++) {
        const struct volume_zone_topology *t = &s->topologies[i];
        const struct intern *value = sched_label_get(labels, t->key);
        if (!value && t->other_key)
            value = sched_label_get(labels, t->other_key);
        if (!value || !has_value(t, value))
            return &zone_conflict;
    }
    return NULL;
}

static enum sched_hint after_class_added(struct sched_plugin *p, const struct sched_pod *pod,
                                         const struct sched_event *event)
{
    return sched_storage_class_of(event->after)->mode == SCHED_BINDING_WAITS ? SCHED_HINT_QUEUE
                                                                             : SCHED_HINT_SKIP;
}

static enum sched_hint after_claim_changed(struct sched_plugin *p, const struct sched_pod *pod,
                                           const struct sched_event *event)
{
    return sched_pod_uses_claim(pod, event->after, false) ? SCHED_HINT_QUEUE : SCHED_HINT_SKIP;
}

/* Labels whose text does not parse are ignored. */
static const struct intern *zone_label(const struct volume_zone *z, const struct sched_pv *pv,
                                       size_t i)
{
    const struct intern *label = sched_label_get(&pv->labels, z->labels[i]);
    return label && count_zones(intern_str(label)) > 0 ? label : NULL;
}

static enum sched_hint after_volume_changed(struct sched_plugin *p, const struct sched_pod *pod,
                                            const struct sched_event *event)
{
    const struct volume_zone *z = (struct volume_zone *)p;
    if (!event->before)
        return SCHED_HINT_QUEUE;
    for (size_t i = 0; i < ZONE_LABELS; i++) {
        if (zone_label(z, sched_pv_of(event->before), i) !=
            zone_label(z, sched_pv_of(event->after), i))
            return SCHED_HINT_QUEUE;
    }
    return SCHED_HINT_SKIP;
}

static const struct sched_event_reg *events(struct sched_plugin *p, size_t *ret_n)
{
    static const struct sched_event_reg regs[] = {
        { SCHED_ON_STORAGE_CLASS, SCHED_ADD, after_class_added },
        { SCHED_ON_NODE, SCHED_ADD | SCHED_UPDATE_NODE_LABEL, NULL },
        { SCHED_ON_PERSISTENT_VOLUME_CLAIM, SCHED_ADD | SCHED_UPDATE, after_claim_changed },
        { SCHED_ON_PERSISTENT_VOLUME, SCHED_ADD | SCHED_UPDATE, after_volume_changed },
    };
    *ret_n = ARRAY_LEN(regs);
    return regs;
}

const struct sched_plugin_ops sched_volume_zone_ops = {
    .name = "VolumeZone",
    .create = create,
    .destroy = destroy,
    .events = events,
    .pre_filter = pre_filter,
    .filter = filter,
};
