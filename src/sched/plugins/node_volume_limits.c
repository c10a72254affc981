/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NodeVolumeLimits: how many volumes of a CSI driver may be attached to a node, as its CSINode
 * says. A volume counts once for a node, by the driver's handle, however many pods use it; so do
 * volumes that are attached without a pod.
 */
#include "sched/object/csi_node.h"
#include "sched/object/volume_attachment.h"
#include "sched/plugins/registry.h"
#include "sched/plugins/volumes.h"

#include "base/vec.h"

SCHED_STATUS_CONST(too_many, SCHED_UNSCHEDULABLE, "node(s) exceed max volume count");
SCHED_STATUS_CONST(no_claim_name, SCHED_ERROR, "PersistentVolumeClaim had no name");
SCHED_STATUS_CONST(skip, SCHED_SKIP, "");

enum { PREFIX_BYTES = 32, HANDLE_MAX_BYTES = 8 << 10 };

/* A volume as the driver knows it. */
struct attached {
    const struct word *driver;
    uint64_t hash; /* of driver and handle; equal ones are the same volume */
};
struct attachments { /* of one node */
    VEC(const struct sched_volume_attachment *) list;
};

struct node_volume_limits {
    struct sched_plugin p;
    /* Of handles that are made up for volumes that do not exist yet: no driver gives such. */
    char prefix[PREFIX_BYTES + 1];
    uint64_t seed;
    struct map attachments; /* by the name of the node */
    bool has_attachments;
    uint64_t attachments_generation;
    VEC(struct attached) scratch; /* of one call of filter() */
};

struct limits_state {
    struct attached *volumes; /* of the pod, each once */
    uint32_t n;
    const struct sched_status *failed;    /* a claim is not as it should be */
    const struct sched_status *not_moved; /* a volume of the pod cannot be a driver's */
};

static int create(const struct sched_plugin_env *env, struct sched_plugin **ret, struct err *err)
{
    static const char alphabet[] = "bcdfghjklmnpqrstvwxz2456789";
    struct node_volume_limits *l = xnew(struct node_volume_limits);
    struct sched_framework *f = env->framework;
    for (size_t i = 0; i < PREFIX_BYTES; i++)
        l->prefix[i] = alphabet[f->random(f->arg) % (sizeof(alphabet) - 1)];
    l->seed = f->random(f->arg);
    *ret = &l->p;
    return 0;
}

static void drop_attachments(struct node_volume_limits *l)
{
    map_each (e, &l->attachments) {
        struct attachments *a = e->value;
        vec_fini(&a->list);
        free(a);
    }
    map_fini(&l->attachments);
    l->has_attachments = false;
}

static void destroy(struct sched_plugin *p)
{
    struct node_volume_limits *l = (struct node_volume_limits *)p;
    drop_attachments(l);
    vec_fini(&l->scratch);
    free(l);
}

/* ---- which volume is it? ---- */

static struct attached attached_of(const struct node_volume_limits *l, const struct word *driver,
                                   struct str handle)
{
    return (struct attached){ driver, str_hash(handle, l->seed ^ driver->hash) };
}

/* The driver that counts for a volume of this class that is not there yet; NULL: none does. */
static const struct word *driver_of_class(const struct node_volume_limits *l,
                                          const struct sched_storage_class *class)
{
    enum sched_in_tree tree = sched_in_tree_of(word_str(class->provisioner));
    if (tree == SCHED_IN_TREE_NONE)
        return class->provisioner->n > 0 ? class->provisioner : NULL;
    return sched_in_tree_kinds[tree].is_migrated
               ? words_find(l->p.framework->words, str_of(sched_in_tree_kinds[tree].driver))
               : NULL;
}

/* false: it is no volume of a driver. */
static bool volume_of_claim(const struct node_volume_limits *l, const struct sched_pvc *pvc,
                            struct attached *ret)
{
    const struct sched_framework *f = l->p.framework;
    const struct sched_pv *pv = pvc->volume_name.n > 0 ? sched_find_pv(f, pvc->volume_name) : NULL;
    if (pv) {
        if (!pv->driver || pv->driver->n == 0 || pv->handle.n == 0)
            return false;
        *ret = attached_of(l, pv->driver, pv->handle);
        return true;
    }
    const struct sched_storage_class *class =
        pvc->class->n > 0 ? sched_find_class(f, word_str(pvc->class)) : NULL;
    const struct word *driver = class ? driver_of_class(l, class) : NULL;
    if (!driver)
        return false;
    *ret = (struct attached){
        driver,
        str_hash(pvc->o.name, str_hash(pvc->o.namespace, str_hash(str_n(l->prefix, PREFIX_BYTES),
                                                                  l->seed ^ driver->hash)))
    };
    return true;
}

/* A volume in the pod's spec that a driver has taken over; false: it is none. */
static bool volume_of_spec(const struct node_volume_limits *l, struct arena *a,
                           const struct sched_volume *v, struct attached *ret,
                           const struct sched_status **ret_failed)
{
    enum sched_in_tree tree = sched_volume_in_tree(v);
    if (tree == SCHED_IN_TREE_NONE || !sched_in_tree_kinds[tree].is_migrated)
        return false;
    const struct word *driver =
        words_find(l->p.framework->words, str_of(sched_in_tree_kinds[tree].driver));
    struct buf handle = BUF_INIT(HANDLE_MAX_BYTES);
    struct err err = { 0 };
    int r = sched_in_tree_handle(tree, v->id, STR(""), v->id2, &handle, &err);
    if (r < 0)
        *ret_failed =
            sched_status(a, SCHED_ERROR, "converting volume(" STR_FMT ") from inline to csi: %s",
                         STR_ARG(v->name), err_text(&err));
    else if (driver)
        *ret = attached_of(l, driver, buf_str(&handle));
    buf_fini(&handle);
    return r >= 0 && driver;
}

/* ---- the pod ---- */

static void add_volume(struct limits_state *s, struct attached volume)
{
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->volumes[i].hash == volume.hash)
            return;
    }
    s->volumes[s->n++] = volume;
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
    struct attached volume;
    if (volume_of_claim(l, pvc, &volume))
        add_volume(s, volume);
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
            s->volumes = arena_new_n(cycle->arena, struct attached, pod->n_volumes);
        }
        struct attached volume;
        if (has_claim && !s->failed)
            s->failed = read_claim(l, cycle, s, v);
        else if (!has_claim && volume_of_spec(l, cycle->arena, v, &volume, &s->not_moved))
            add_volume(s, volume);
    }
    if (!s)
        return &skip;
    sched_cycle_set_state(cycle, p, s);
    return NULL;
}

/* ---- the node ---- */

static const struct attachments *attachments_of(struct node_volume_limits *l,
                                                const struct word *node)
{
    struct sched_cache *cache = l->p.framework->cache;
    uint64_t now = sched_cache_kind_generation(cache, SCHED_VOLUME_ATTACHMENT);
    if (l->has_attachments && l->attachments_generation == now)
        return map_get(&l->attachments, word_str(node));
    drop_attachments(l);
    const struct map *all = sched_cache_all(cache, SCHED_VOLUME_ATTACHMENT);
    map_each (e, all) {
        const struct sched_volume_attachment *va = e->value;
        if (va->attacher->n == 0 || va->volume.n == 0)
            continue;
        struct attachments *a = map_get(&l->attachments, word_str(va->node));
        if (!a) {
            a = xnew(struct attachments);
            map_put(&l->attachments, word_str(va->node), a);
        }
        vec_push(&a->list, va);
    }
    l->has_attachments = true;
    l->attachments_generation = now;
    return map_get(&l->attachments, word_str(node));
}

static bool counts(const struct limits_state *s, const struct sched_csi_node *csi_node)
{
    for (uint32_t i = 0; i < s->n; i++) {
        const struct sched_csi_node_driver *d =
            sched_csi_node_driver(csi_node, s->volumes[i].driver);
        if (d && d->has_limit)
            return true;
    }
    return false;
}

/* Adds the volumes of a pod that has its node. */
static const struct sched_status *add_pod(struct node_volume_limits *l, struct arena *a,
                                          const struct sched_pod *pod)
{
    for (uint32_t i = 0; i < pod->n_volumes; i++) {
        const struct sched_volume *v = &pod->volumes[i];
        struct attached volume;
        const struct sched_status *failed = NULL;
        bool is_one;
        if (!sched_volume_has_claim(v)) {
            is_one = volume_of_spec(l, a, v, &volume, &failed);
        } else {
            const struct sched_pvc *pvc =
                sched_find_pvc(l->p.framework, pod->o.namespace, v->claim);
            if (v->claim.n == 0)
                failed = &no_claim_name;
            else if (pvc && v->source == SCHED_VOLUME_EPHEMERAL)
                failed = sched_check_ephemeral(a, SCHED_ERROR, pod, pvc);
            is_one = pvc && !failed && volume_of_claim(l, pvc, &volume);
        }
        if (failed)
            return failed;
        if (is_one)
            vec_push(&l->scratch, volume);
    }
    return NULL;
}

static void add_attachments(struct node_volume_limits *l, const struct word *node)
{
    const struct attachments *a = attachments_of(l, node);
    for (size_t i = 0; a && i < a->list.n; i++) {
        const struct sched_volume_attachment *va = a->list.p[i];
        const struct sched_pv *pv = sched_find_pv(l->p.framework, va->volume);
        if (pv && pv->driver && pv->in_tree == SCHED_IN_TREE_NONE)
            vec_push(&l->scratch, attached_of(l, va->attacher, pv->handle));
    }
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = ((const struct attached *)a)->hash, y = ((const struct attached *)b)->hash;
    return x < y ? -1 : x > y;
}

/* Sorts what was collected from `from` on, each once; what pods have (before `from`) is left out.
 */
static void sort_once(struct node_volume_limits *l, size_t from)
{
    struct attached *p = l->scratch.p;
    size_t n = from;
    if (l->scratch.n > from + 1)
        qsort(p + from, l->scratch.n - from, sizeof(*p), compare_hashes);
    for (size_t i = from; i < l->scratch.n; i++) {
        bool is_known = n > from && p[n - 1].hash == p[i].hash;
        if (!is_known && from > 0)
            is_known = bsearch(&p[i], p, from, sizeof(*p), compare_hashes) != NULL;
        if (!is_known)
            p[n++] = p[i];
    }
    l->scratch.n = n;
}

static bool has_hash(const struct node_volume_limits *l, size_t n, const struct attached *volume)
{
    return n > 0 && bsearch(volume, l->scratch.p, n, sizeof(*volume), compare_hashes) != NULL;
}

static const struct sched_status *filter(struct sched_plugin *p, struct sched_cycle *cycle,
                                         const struct sched_node_info *node)
{
    struct node_volume_limits *l = (struct node_volume_limits *)p;
    const struct limits_state *s = sched_cycle_state(cycle, p);
    if (s->failed)
        return s->failed;
    const struct sched_csi_node *csi_node =
        sched_cache_get(p->framework->cache, SCHED_CSI_NODE, STR(""), node->node->o.name);
    if (csi_node && s->not_moved)
        return s->not_moved;
    if (!csi_node || !csi_node->has_limits || !counts(s, csi_node))
        return NULL;
    l->scratch.n = 0;
    for (uint32_t i = 0; i < node->n_pods; i++) {
        const struct sched_status *failed =
            node->pods[i]->n_volumes > 0 ? add_pod(l, cycle->arena, node->pods[i]) : NULL;
        if (failed)
            return failed;
    }
    sort_once(l, 0);
    size_t n_of_pods = l->scratch.n;
    add_attachments(l, node->node->name);
    sort_once(l, n_of_pods);

    for (uint32_t i = 0; i < csi_node->n_drivers; i++) {
        const struct sched_csi_node_driver *d = &csi_node->drivers[i];
        int64_t n_new = 0, n = 0;
        for (uint32_t j = 0; j < s->n && d->has_limit; j++) {
            if (s->volumes[j].driver == d->name && !has_hash(l, n_of_pods, &s->volumes[j]))
                n_new++;
        }
        if (n_new == 0)
            continue;
        for (size_t j = 0; j < l->scratch.n; j++) {
            if (l->scratch.p[j].driver == d->name)
                n++;
        }
        if (n + n_new > d->limit)
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
    struct str attacher = word_str(sched_volume_attachment_of(event->before)->attacher);
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
    .events = events,
    .pre_filter = pre_filter,
    .filter = filter,
};
